"""`nodeattrs complete WORDS`: the completions of the last word, for the scripts of `cli.completion`.

The command offers what only a store, a repository or a dialect knows: names of nodes, their revisions, paths of
attributes, keys, hosts, variables and codes. The command opens the store or folder that the other words name, and runs
no code of repositories. If that fails, it prints nothing, and no error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from nodeattrs.border import held
from nodeattrs.cli.border import border_of
from nodeattrs.cli.options import settings_of
from nodeattrs.codes import codes
from nodeattrs.core.tree import dig, parse, spell
from nodeattrs.dialects import BUILT_IN, named
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import NodeattrsError

_KINDS = ("NODE", "OTHER", "PATH", "KEY", "HOST", "VAR", "CODE", "WHEN")
"""The metavars of values that are completed here; the option --node is completed, too."""

_SPLITTING = ":@"
"""Bash splits words at these signs."""

_REVISIONS = ("before", "after")
"""The arguments of `diff` that take NODE@REVISION."""


def value_kind(action: argparse.Action) -> str:
    """The kind of value that an option or argument takes, such as "NODE"; "" for a kind that is not completed."""
    if "--node" in action.option_strings:
        return "NODE"
    return action.metavar if isinstance(action.metavar, str) and action.metavar in _KINDS else ""


def answers(words: Sequence[str], parser: Callable[[str], argparse.ArgumentParser]) -> list[str]:
    """The completions of the last word; [] for none, and for a single word, which would be a command.

    [] also if the command is unknown, or a store or folder cannot be read: after a NodeattrsError, an OSError, a
    ValueError or the SystemExit of a parser. Other errors are passed on.

    The words "profile", "::" and "users" are joined, since bash splits at colons and at "@". The completions then begin
    after the last of these signs.
    words:  the words after "nodeattrs", the incomplete one last
    parser: a function from the name of a command to its parser
    """
    *before, word = _joined(words) or [""]
    if not before:
        return []
    cut = len(word) - len(words[-1].strip(_SPLITTING)) if words and word != words[-1] else 0
    found: list[str] = []
    with suppress(NodeattrsError, OSError, SystemExit, ValueError):
        line = _CommandLine(before, parser(before[0]))
        with held(border_of(line.options, is_closed=True)):
            found = [one[cut:] for one in line.offered(word) if one.startswith(word)]
    return found


def _joined(words: Sequence[str]) -> list[str]:
    """The words; those that a shell has split at colons and "@" are put together again."""
    found: list[str] = []
    glue = False
    for word in words:
        is_sign = bool(word) and not word.strip(_SPLITTING)
        if found and (is_sign or glue):
            found[-1] += word
        else:
            found.append(word)
        glue = is_sign
    return found


class _CommandLine:
    """The complete words of a command line, parsed as far as they go. options: what they say, with defaults"""

    def __init__(self, before: Sequence[str], parser: argparse.ArgumentParser) -> None:
        self.options = argparse.Namespace()
        self._dialect = ""
        self._options: list[argparse.Action] = []
        self._places: list[argparse.Action] = []
        self._waiting: argparse.Action | None = None
        self._enter(parser)
        for word in before:
            self._take(word)

    def _enter(self, parser: argparse.ArgumentParser) -> None:
        self._dialect = "".join(parser.get_default("dialect") or ())
        self._options = list(parser._actions)
        self._places = [one for one in self._options if not one.option_strings]
        for action in self._options:
            if action.dest != argparse.SUPPRESS and not hasattr(self.options, action.dest):
                setattr(self.options, action.dest, action.default)

    def _take(self, word: str) -> None:
        if self._waiting is not None:
            many = isinstance(self._waiting, argparse._AppendAction)
            setattr(self.options, self._waiting.dest, [word] if many else word)
            self._waiting = None
        elif word.startswith("-"):
            name, joint, value = word.partition("=")
            option = next((one for one in self._options if name in one.option_strings), None)
            if option is not None and option.nargs != 0:
                self._waiting = option
                if joint and value:
                    self._take(value)
        elif self._places:
            place = self._places[0]
            if isinstance(place, argparse._SubParsersAction):
                if word in place.choices:
                    self._enter(place.choices[word])
                return
            setattr(self.options, place.dest, word)
            if place.nargs not in ("*", "+"):
                del self._places[0]

    def offered(self, word: str) -> Iterator[str]:
        """Yield the values that may stand next, for the kinds of `value_kind`. word: the beginning of the value"""
        action = self._waiting or next(iter(self._places), None)
        kind = "" if action is None else value_kind(action)
        if action is not None and action.dest in _REVISIONS and self._dialect == "nodes" and "@" in word:
            name = word.partition("@")[0]
            yield from (f"{name}@{number}" for number in self._revisions(name))
        elif kind in ("NODE", "OTHER"):
            yield from self._nodes()
        elif kind == "WHEN":
            yield from self._revisions(str(getattr(self.options, "node", "")))
        elif kind == "CODE":
            yield from (name for code, one in codes().items() for name in (code, *one.names))
        elif kind == "PATH":
            yield from self._paths(word)
        elif kind and self._dialect:  # no values for a command of several dialects
            yield from sorted(named(self._dialect).complete(kind, vars(self.options)))

    def _nodes(self) -> list[str]:
        found: list[str] = []
        with suppress(NodeattrsError, OSError):
            found += store_of(settings_of(self.options))[0].names()
        for one in BUILT_IN:
            with suppress(NodeattrsError, OSError):
                found += one.complete("NODE", vars(self.options))
        return sorted(set(found))

    def _revisions(self, name: str) -> list[str]:
        """The numbers of the saved revisions of a node, the latest first. raises: NodeattrsError"""
        return [str(one.number) for one in store_of(settings_of(self.options))[0].history(name)]

    def _paths(self, word: str) -> Iterator[str]:
        """Yield the paths one step below the part of *word* before its last dot; a map's path ends in a dot."""
        from nodeattrs.store.saved_nodes import load_saved_or_raise

        above = word.rpartition(".")[0]
        node = getattr(self.options, "node", None) or getattr(self.options, "before", None)
        store, _ = store_of(settings_of(self.options))
        tree = load_saved_or_raise(store, str(node).partition("@")[0]).node.to_dict(evaluate=False)
        path = parse(above) if above else ()
        inner = dig(tree, path)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            yield spell((*path, key)) + ("." if isinstance(value, dict) and value else "")
