"""`nodeattrs facts`: the facts that a run begins with, of this machine, a platform or a file."""

from __future__ import annotations

from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.arguments import output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.chef.commands.arguments import facts_of
from nodeattrs.dialects.chef.commands.inputs import facts_from, found_repository
from nodeattrs.errors import NotFound
from nodeattrs.node.values import Secrets
from nodeattrs.reports.show import ShownTree, part_of

_DESCRIPTION = """\
Show the automatic attributes that a run would begin with: facts of this machine under Ohai's
names, of a platform (--platform), or of a file that ohai or facter wrote (--facts)."""
_EXAMPLES = (
    "facts",
    "facts network.interfaces --format yaml",
    "facts platform_version --platform debian-12",
    "facts platform_version --facts cookbooks_example/facts/web1.json --origins",
)


_ARGUMENTS = (
    Argument(("path",), "only this path (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "beside each fact, who set it and where", {"action": "store_true"}),
    *output(),
    *facts_of("what ohai or facter --json wrote", "ask this machine"),
)


def _perform(question: Question) -> Output:
    """The facts of a file, a platform or this machine. raises: NotFound, if there are none"""
    asked, repository = question.arguments, found_repository(question)
    path = path_of(asked["path"])
    facts = facts_from(question, None, repository)
    if not facts.tree:
        raise NotFound(f"there are no facts in {asked['facts']}", hint="name what ohai or facter --json wrote")
    question.caller.warn(facts.warnings)
    sensitive = repository.config.sensitive if repository is not None else ()
    value = Secrets(sensitive).wrapped(path, part_of(facts.tree, path))
    return Output(ShownTree(path, value, facts.locator.at if asked["origins"] else None))


COMMANDS = {"facts": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}
