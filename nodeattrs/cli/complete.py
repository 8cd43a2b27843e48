"""`nodeattrs complete WORDS`: what the last word may become. Only shells call it.

It offers what only a store, a repository or a dialect knows: names of nodes, paths of their
attributes; keys, hosts and variables. It opens what the words before name, runs no code of repositories, and
answers nothing rather than an error: a fault is reported by the command itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from nodeattrs.border import held
from nodeattrs.cli.border import border_of
from nodeattrs.cli.options import settings_of
from nodeattrs.core.tree import dig, parse, spell
from nodeattrs.dialects import BUILT_IN, named
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import NodeattrsError

ASKED = ("NODE", "OTHER", "PATH", "KEY", "HOST", "VAR")
"""The words, as --help has them, that are asked for here; and the NAME of --node."""


def value_kind(action: argparse.Action) -> str:
    """The kind of value that an option or argument takes, one of `ASKED`: "NODE", "PATH", ...; "" for another kind."""
    if "--node" in action.option_strings:
        return "NODE"
    return action.metavar if isinstance(action.metavar, str) and action.metavar in ASKED else ""


def answers(words: Sequence[str], parser: Callable[[str], argparse.ArgumentParser]) -> list[str]:
    """The completions of the last word; [] where there are none, and also where an error occurs.

    words:  the words after "nodeattrs"
    parser: a function from the name of a command to its parser

    A shell that takes "profile::users" for three words gets only the part after the last colon.
    """
    *before, word = _joined(words) or [""]
    if not before:
        return []
    cut = len(word) - len(words[-1].strip(":")) if words and word != words[-1] else 0
    found: list[str] = []
    with suppress(NodeattrsError, OSError, SystemExit, ValueError):
        asked = _Asked(before, parser(before[0]))
        with held(border_of(asked.options, is_closed=True)):
            found = [one[cut:] for one in asked.offered(word) if one.startswith(word)]
    return found


def _joined(words: Sequence[str]) -> list[str]:
    """The words, those put together that were taken apart at colons."""
    found: list[str] = []
    glue = False
    for word in words:
        colons = bool(word) and not word.strip(":")
        if found and (colons or glue):
            found[-1] += word
        else:
            found.append(word)
        glue = colons
    return found


class _Asked:
    """The words before the one in question, understood as far as they go."""

    def __init__(self, before: Sequence[str], parser: argparse.ArgumentParser) -> None:
        self.options = argparse.Namespace()
        self._dialect = ""
        self._actions: list[argparse.Action] = []
        self._places: list[argparse.Action] = []
        self._waiting: argparse.Action | None = None
        self._enter(parser)
        for word in before:
            self._take(word)

    def _enter(self, parser: argparse.ArgumentParser) -> None:
        self._dialect = "".join(parser.get_default("dialect") or ())
        self._actions = list(parser._actions)
        self._places = [one for one in parser._actions if not one.option_strings]
        for action in self._actions:
            if action.dest != argparse.SUPPRESS and not hasattr(self.options, action.dest):
                setattr(self.options, action.dest, action.default)

    def _take(self, word: str) -> None:
        if self._waiting is not None:
            many = isinstance(self._waiting, argparse._AppendAction)
            setattr(self.options, self._waiting.dest, [word] if many else word)
            self._waiting = None
        elif word.startswith("-"):
            name, joint, value = word.partition("=")
            option = next((one for one in self._actions if name in one.option_strings), None)
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
        """What may stand next, of what only data know."""
        action = self._waiting or next(iter(self._places), None)
        asked = "" if action is None else value_kind(action)
        if asked in ("NODE", "OTHER"):
            yield from self._nodes()
        elif asked == "PATH":
            yield from self._paths(word)
        elif asked:
            yield from self._of_dialect(asked)

    # --- what is known

    def _nodes(self) -> list[str]:
        found: list[str] = []
        with suppress(NodeattrsError, OSError):
            found += store_of(settings_of(self.options))[0].names()
        for one in BUILT_IN:
            with suppress(NodeattrsError, OSError):
                found += one.complete("NODE", vars(self.options))
        return sorted(set(found))

    def _paths(self, word: str) -> Iterator[str]:
        """The next step of the paths that begin so, with a dot where more lies below."""
        from nodeattrs.store.saved_nodes import load_saved_or_raise

        above = word.rpartition(".")[0]
        node = getattr(self.options, "node", None) or getattr(self.options, "before", None)
        store, _ = store_of(settings_of(self.options))
        tree = load_saved_or_raise(store, str(node).partition("@")[0]).node.to_dict(evaluate=False)
        path = parse(above) if above else ()
        inner = dig(tree, path)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            yield spell((*path, key)) + ("." if isinstance(value, dict) and value else "")

    def _of_dialect(self, noun: str) -> list[str]:
        """What the dialect of the command offers; nothing for a command that names none, or several."""
        return sorted(named(self._dialect).complete(noun, vars(self.options))) if self._dialect else []
