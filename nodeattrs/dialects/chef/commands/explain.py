"""`nodeattrs explain`: the line that set a value on a node, what it overrode, and the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.arguments import AT, SOURCES, STORE, STRICT, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.code import may_run
from nodeattrs.core.tree import Path, spell
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.commands.arguments import RUN
from nodeattrs.dialects.chef.commands.inputs import named_node, repository_of, with_suite
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import BadUsage, NodeattrsError, NoSuchAttribute, UnknownLayer
from nodeattrs.node.node import Node
from nodeattrs.reports.explain import NodeExplanation, OtherSetter, explained
from nodeattrs.reports.values import unread_at

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.run import Run

_DESCRIPTION = """\
Name the file and line that set a value, what it overrode, the rule, and what was set before.
Also name the line to edit, where the value comes from another line. Saved nodes are read; with --repo
the node is run. For a path that is not set: the lines that set it on other nodes, and what this node lacks."""
_EXAMPLES = (
    "explain web1 app.workers",
    "explain web1 apache2.listen_ports --format json",
    "explain web1 app.workers --repo cookbooks_example --facts cookbooks_example/facts",
    "explain web1 app.workers --repo . --git",
)
_EXITS = {
    0: "explained",
    1: "not set, or an error",
    2: "not understood",
    5: "explained, and an unknown layer may override it",
}


_ARGUMENTS = (
    Argument(("node",), "the node's name", {"metavar": "NODE"}),
    Argument(("path",), 'such as apache2.listen_ports.0; "(root)" is all of it', {"metavar": "PATH"}),
    Argument(("--repo",), "run the node of this repository, and save nothing", {"metavar": "DIR"}),
    Argument(("--because",), "with --repo: also the lines that chose the layers", {"action": "store_true"}),
    Argument(("--git",), "with --repo: also the last commit of each line", {"action": "store_true"}),
    *RUN,
    *STORE,
    *AT,
    *SOURCES,
    *STRICT,
    *output(),
)


def _perform(question: Question) -> Output:
    """Explain why a path of a node has its value.

    raises: NoSuchAttribute, if the path is not set; its details name other sources that set it
    """
    question = with_suite(question)
    asked = question.arguments
    path = path_of(asked["path"])
    repository = None if asked["repo"] is None else repository_of(question)
    if repository is None and (asked["because"] or asked["git"]):
        word, what = (
            ("--because", "what decided in a run") if asked["because"] else ("--git", "who changed the lines of a run")
        )
        raise BadUsage(f"{word} names {what}, so it needs --repo")
    try:
        node, revision, run = named_node(question)
    except NodeattrsError as error:
        if not may_run() and isinstance(error.__cause__ or error, UnknownLayer):  # a suite with code in Python
            error.details, error.hint = (), f"--repo {asked['repo']} runs it"
        raise
    behind: list[Unread] = []
    if repository is None or run is None:
        explanation = explained(node, path, revision)
    else:
        explanation, behind = _of_run(question, repository, run, path)
    if not explanation.has_claims and not behind:
        found = _other_setters(question, node, path, repository)
        if asked["format"] != "text":
            question.caller.report(explanation._replace(elsewhere=tuple(found)), ())
        details = map(str, found)
        raise NoSuchAttribute(f"{spell(path)} is not set", path=path, details=details, hint=explanation.hint)
    if asked["strict"]:
        explanation.trace.require_known()
    return Output(explanation, unread=[*dict.fromkeys((*unread_at(node, path), *behind))])


def _of_run(question: Question, repository: Repository, run: Run, path: Path) -> tuple[NodeExplanation, list[Unread]]:
    """Returns (the explanation of a path of the run, the unread sources that may change it indirectly)."""
    from nodeattrs.dialects.chef.blame import blame, lines_in
    from nodeattrs.dialects.chef.causes import causes
    from nodeattrs.dialects.chef.reads import UnreadInputs
    from nodeattrs.dialects.chef.reports.explain import explained as explained_run

    explanation = explained_run(run.node, path, repository, run.search)._replace(facts=run.facts)
    trace = explanation.trace
    if question.arguments["because"]:
        origins = (stated.origin for stated in trace.claims)
        explanation = explanation._replace(causes=tuple(causes(repository, run, origins)))
    if question.arguments["git"]:
        explanation = explanation._replace(changes=blame(repository.root, lines_in(trace)))
    return explanation, UnreadInputs(repository, run).of(path)


def _other_setters(question: Question, node: Node, path: Path, repository: Repository | None) -> list[OtherSetter]:
    """The sources that set a path on other saved nodes, or else in the repository; [] for none."""
    from nodeattrs.dialects.chef.causes import setters_in_repository, setters_on_other_nodes

    store, sensitive = store_of(question.settings)
    found = setters_on_other_nodes(store, node, path, sensitive)
    return found if found or repository is None else setters_in_repository(repository, node, path)


COMMANDS = {"explain": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, _EXITS, _perform, ())}
