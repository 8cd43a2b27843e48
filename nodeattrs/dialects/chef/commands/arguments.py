"""Options that several commands of nodes share, as tuples of `Argument`."""

from __future__ import annotations

from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import RUBY


def facts_of(what: str, default: str) -> tuple[Argument, Argument]:
    """The options --facts and --platform. what, default: words for the help of --facts"""
    return (
        Argument(("--facts",), f"{what} (default: {default})", {"metavar": "PLACE"}, choice="facts"),
        Argument(
            ("--platform",),
            "facts of a platform instead, such as debian-12",
            {"metavar": "NAME"},
            choice="facts",
        ),
    )


APPLYING = (
    Argument(("--noop",), "change nothing, say what would be changed", {"action": "store_true"}, group="applying"),
    Argument(("--root",), "the folder to use as / (default: /)", {"metavar": "DIR", "default": "/"}, group="applying"),
    Argument(("--backups",), "a folder for the old content of replaced files", {"metavar": "DIR"}, group="applying"),
    Argument(("--report",), "the report (default: in .nodeattrs/reports)", {"metavar": "FILE"}, group="applying"),
    Argument(("--no-diff",), "do not show how files differ", {"action": "store_true"}, group="applying"),
    Argument(
        ("--documented",),
        "follow Puppet's documentation, not the program",
        {"action": "store_true"},
        group="applying",
    ),
)
"""Options for applying a catalog."""


COOKBOOK_PATH = Argument(
    ("--cookbook-path",),
    "a further folder with cookbooks, such as ~/.berkshelf/cookbooks; may be repeated",
    {"metavar": "DIR", "action": "append"},
)


RUN = (
    Argument(
        ("--run-list",),
        'such as "role[web],recipe[app::db]"; repeatable',
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(
        ("--override-run-list", "-o"),
        "run these items once, and save nothing",
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(("--environment", "-E"), "the node's environment from now on", {"metavar": "NAME"}),
    *facts_of("from ohai or facter --json, or a folder of NODE.json", "ask this machine"),
    Argument(("--json-attributes", "-j"), "attributes, and a run_list, for this node", {"metavar": "FILE"}),
    Argument(
        ("--policy-name",),
        "a policy of the repository, or its lock file",
        {"dest": "policy", "metavar": "NAME"},
    ),
    Argument(("--policy-group",), "its group, whose attributes also count on top", {"metavar": "NAME"}),
    Argument(("--named-run-list",), "one of the policy's other run-lists", {"metavar": "NAME"}),
    Argument(("--secret-file",), "with the secret of encrypted data bags", {"metavar": "FILE"}),
    Argument(
        ("--roles-only",),
        "read no cookbook, only roles and environments",
        {"action": "store_true"},
    ),
    COOKBOOK_PATH,
    *RUBY,
)
"""Options for the inputs of a run, except its repository and node."""
