"""Arguments that several commands of nodes share."""

from __future__ import annotations

from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import RUBY


def facts_of(what: str, default: str) -> tuple[Argument, Argument]:
    """Which facts are meant: of a file, or of a platform."""
    return (
        Argument(("--facts",), f"{what} (default: {default})", {"metavar": "PLACE"}, choice="facts"),
        Argument(
            ("--platform",),
            "the facts of a platform instead: debian-12, or what `[facts] fauxhai` in nodeattrs.toml has",
            {"metavar": "NAME"},
            choice="facts",
        ),
    )


APPLYING = (
    Argument(("--noop",), "change nothing, say what would be changed", {"action": "store_true"}, group="applying"),
    Argument(
        ("--root",), "the folder that stands for / (default: /)", {"metavar": "DIR", "default": "/"}, group="applying"
    ),
    Argument(("--backups",), "keep what files held before they were replaced", {"metavar": "DIR"}, group="applying"),
    Argument(
        ("--report",), "the report (default: .nodeattrs/reports/NODE.jsonl)", {"metavar": "FILE"}, group="applying"
    ),
    Argument(("--no-diff",), "do not show how files differ", {"action": "store_true"}, group="applying"),
    Argument(
        ("--documented",),
        "by the letter of the language page, where Puppet differs from it",
        {"action": "store_true"},
        group="applying",
    ),
)
"""How a catalog is applied."""


COOKBOOK_PATH = Argument(
    ("--cookbook-path",),
    "a further folder with cookbooks, such as ~/.berkshelf/cookbooks; may be repeated",
    {"metavar": "DIR", "action": "append"},
)


RUN = (
    Argument(
        ("--run-list",),
        'such as "role[web],recipe[app::db]"; may be repeated (default: what the node has)',
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(
        ("--override-run-list", "-o"),
        "run these items instead, this once: the node keeps its run list, and nothing is saved",
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(("--environment", "-E"), "the node's environment from now on", {"metavar": "NAME"}),
    *facts_of("what ohai or facter --json wrote, or a directory with NODE.json in it", "ask this machine"),
    Argument(("--json-attributes", "-j"), "attributes, and a run_list, for this node", {"metavar": "FILE"}),
    Argument(
        ("--policy-name",),
        "a policy of the repository, or the file that locks it",
        {"dest": "policy", "metavar": "NAME"},
    ),
    Argument(("--policy-group",), "of the policy: whose attributes are hoisted", {"metavar": "NAME"}),
    Argument(("--named-run-list",), "one of the policy's other run-lists", {"metavar": "NAME"}),
    Argument(("--secret-file",), "with the secret of encrypted data bags", {"metavar": "FILE"}),
    Argument(
        ("--roles-only",),
        "roles and environments alone: no cookbook is read or has to be there",
        {"action": "store_true"},
    ),
    COOKBOOK_PATH,
    *RUBY,
)
"""What a run starts from, beside its repository and node."""
