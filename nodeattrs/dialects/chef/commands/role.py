"""`nodeattrs role` and `nodeattrs environment`: the attributes and other fields of a role or an environment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.arguments import REPO_HELP, RUN_CODE, output
from nodeattrs.contract.command import Argument, Command, CommandGroup, Output, Question
from nodeattrs.dialects.chef.commands.inputs import repository_of
from nodeattrs.node.values import Secrets
from nodeattrs.reports.show import ShownTree, part_of

_ROLE = """\
Show a role as a run would read it: its run list and its attributes. One that is written in Python is code
of the repository, and is read with --run-code only. `nodeattrs where FILE` says on which nodes its lines win."""
_ROLE_EXAMPLES = (
    "role show web --repo cookbooks_example",
    "role show web override_attributes --origins",
    "role show web -F json",
)

_ENVIRONMENT = """\
Show an environment as a run would read it: the versions it asks for and its attributes. One that is written in
Python is code of the repository, and is read with --run-code only."""
_ENVIRONMENT_EXAMPLES = ("environment show production --repo cookbooks_example --origins",)

_SHOWING = (
    Argument(("name",), "the name of the role or environment", {"metavar": "NAME"}),
    Argument(("path",), "only this path (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "beside each leaf, the line that sets it", {"action": "store_true"}),
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    *RUN_CODE,
    *output(),
)


def _show(kind: str, fields: tuple[str, ...], question: Question) -> Output:
    """Show a role or an environment. kind: "role" or "environment"; fields: the fields that only this kind has"""
    asked = question.arguments
    repository = repository_of(question)
    thing: Any = getattr(repository, kind)(asked["name"])
    names = ("name", "description", *fields, "default_attributes", "override_attributes")
    tree = {name: getattr(thing, name) for name in names}
    path = path_of(asked["path"])
    guarded = {
        name: Secrets(repository.config.sensitive).wrapped((), value) if name.endswith("_attributes") else value
        for name, value in tree.items()
    }
    question.caller.warn(repository.warnings)
    value = part_of(guarded, path)
    return Output(ShownTree(path, value, thing.locator.at if asked["origins"] else None))


def _group(kind: str, description: str, examples: Sequence[str], fields: tuple[str, ...]) -> CommandGroup:
    show = Command(
        f"show one {kind}", "", _SHOWING, (examples[0].partition(" ")[2],), {}, partial(_show, kind, fields), ()
    )
    return CommandGroup("", description, examples, {"show": show})


COMMANDS = {
    "role": _group("role", _ROLE, _ROLE_EXAMPLES, ("run_list", "env_run_lists")),
    "environment": _group("environment", _ENVIRONMENT, _ENVIRONMENT_EXAMPLES, ("cookbook_versions",)),
}
