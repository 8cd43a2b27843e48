"""`nodeattrs shell`: open a Python prompt with a node."""

from __future__ import annotations

from typing import Any

from nodeattrs.contract.arguments import STORE
from nodeattrs.contract.command import Argument, Command, Output, Prompt, Question
from nodeattrs.core.tree import parse
from nodeattrs.dialects.chef.commands.arguments import RUN
from nodeattrs.dialects.chef.commands.inputs import named_node
from nodeattrs.node.public import words_of
from nodeattrs.reports.explain import explained

_DESCRIPTION = """\
Open a prompt of Python (IPython, where it is installed) with a node: as it was saved, or with --repo as a run would
make it now. There are `node`, the writers of attribute files (`default`, `override`, ...), `explain("a.b")`, which
prints who set a path, and with --repo `run`. What is written there is not saved."""
_EXAMPLES = (
    "shell web1",
    "shell web1 --repo cookbooks_example --facts cookbooks_example/facts",
    "echo 'explain(\"app.workers\")' | nodeattrs shell web1",
)


_ARGUMENTS = (
    Argument(("node",), "the node's name", {"metavar": "NODE"}),
    Argument(("--repo",), "run the node of this repository, and save nothing", {"metavar": "DIR"}),
    Argument(("--traceback",), "print the traceback of an error", {"action": "store_true"}),
    Argument(("--color",), "", {"choices": ("auto", "always", "never"), "default": "auto"}),
    *RUN,
    *STORE,
)


def _perform(question: Question) -> Output:
    """A Python prompt with the node, its writers, `explain` and perhaps `run` as variables."""
    node, _, run = named_node(question)

    def explain(path: str = "(root)") -> None:
        """Print the line that set a path, and what it overrode."""
        question.caller.report(explained(node, parse(path)))

    names: dict[str, Any] = {**words_of(node), "node": node, "explain": explain}
    names |= {} if run is None else {"run": run}
    banner = f"{node.name} in {node.environment}: node, default, override, explain('a.b'), ..."
    return Output(prompt=Prompt(names, banner))


COMMANDS = {"shell": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}
