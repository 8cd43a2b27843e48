"""Automatic attributes: what a machine is, as facts in Ohai's shape.

Facts are gathered from this machine, by our own functions first and then by those
that other packages offer under the entry point group `nodeattrs.facts`, or they are
read from a file that Ohai or Facter wrote. Either way each of them knows who said it.
This module knows no node: a run hands the tree to one. `recipes` and `roles` are not
here, since the run itself makes them.

    >>> facts = gather({"rack": lambda known: {"rack": f"r7 of {known['os']}"}})
    >>> facts.tree["rack"] == "r7 of " + facts.tree["os"]
    True
    >>> print(facts.speaker.at(("rack",)), "/", facts.speaker.at(("os",)))
    facts rack / facts this machine
"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.core.tree import Path, copied
from nodeattrs.errors import BadValue, NodeattrsError, missing_extra
from nodeattrs.node.values import ROOM, taken_in
from nodeattrs.texts import documents

__all__ = ["ENTRY_POINTS", "FactFunction", "Facts", "gather", "load_facts"]

ENTRY_POINTS = "nodeattrs.facts"
"""The entry point group under which a package offers its fact functions."""

FactFunction = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Given a copy of the facts so far, more of them; maps meet key by key, anything else replaces."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a machine.

    tree:     the facts, by Ohai's names; belongs to the caller
    speaker:  who said each of them
    warnings: which functions failed, and how; what they would have said is absent
    settled:  the tree is JSON data that nobody changes any more, not even whoever has it: a run
              keeps it as it is and copies nothing
    """

    tree: dict[str, Any]
    speaker: Speaker
    warnings: tuple[NodeattrsError, ...] = ()
    settled: bool = False


@dataclass(frozen=True, slots=True)
class _Gathered:
    """A speaker: this machine, but for the places where a fact function put something.

    Whole paths and not just top-level keys: who adds one interface did not say the others.
    """

    functions: dict[Path, tuple[int, str]] = field(default_factory=dict)

    def at(self, path: Path) -> Origin:
        said = (self.functions.get(path[:length]) for length in range(1, len(path) + 1))
        _, name = max(filter(None, said), default=(0, "this machine"))  # the last to speak, here or above
        return Origin("facts", name)


def gather(functions: Mapping[str, FactFunction] | None = None, now: float | None = None) -> Facts:
    """The facts of this machine.

    A function that fails costs its own facts only, and a warning says which one it was.
    What this system cannot tell is absent.

    functions: name -> function, called in this order; those of the installed packages,
               by name, unless given
    now:       the `ohai_time`, in seconds since 1970; the clock's unless given
    cost:      one copy of the facts for each function; mounts and names are asked for and may be slow
    raises:    MissingExtra, where psutil or distro is not installed
    """
    try:
        from nodeattrs.runs.facts import machine
    except ModuleNotFoundError as error:
        if error.name not in ("psutil", "distro"):
            raise
        raise missing_extra(error.name, "facts", "gathering facts of this machine") from error
    tree: dict[str, Any] = {}
    warnings: list[NodeattrsError] = []
    said_by: dict[Path, tuple[int, str]] = {}
    for name, own in machine.FUNCTIONS.items():
        _add(tree, name, own, "facts", warnings)
    tree["ohai_time"] = time.time() if now is None else now
    others = _installed(warnings) if functions is None else functions.items()
    for order, (name, function) in enumerate(others):
        for place in _add(tree, name, function, "fact function", warnings):
            said_by[place] = (order, name)
    return Facts(tree, _Gathered(said_by), tuple(warnings))


def _installed(warnings: list[NodeattrsError]) -> Iterator[tuple[str, FactFunction]]:
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=ENTRY_POINTS)):
        try:
            function = point.load()
        except Exception as error:
            warnings.append(_failed(f"fact function {point.name} ({point.value}) cannot be imported", error))
        else:
            yield point.name, function


def _add(
    tree: dict[str, Any], name: str, function: FactFunction, kind: str, warnings: list[NodeattrsError]
) -> list[Path]:
    """Lay what *function* says over *tree*, whole or not at all; where it put something."""
    try:
        said = function(copied(tree))
        if not isinstance(said, Mapping):
            raise BadValue(f"facts are a map, not {type(said).__name__}")
        more = taken_in(said)
    except Exception as error:  # whatever a stranger's function does, the other facts are still facts
        warnings.append(_failed(f"{kind} {name} failed", error))
        return []
    return list(_laid(more, tree))


def _failed(message: str, cause: Exception) -> NodeattrsError:
    warning = NodeattrsError(message, said=[f"{type(cause).__name__}: {cause}"])
    warning.__cause__ = cause
    return warning


def _laid(upper: dict[Any, Any], lower: dict[Any, Any], at: Path = ()) -> Iterator[Path]:
    """Lay *upper* over *lower*, changing *lower*; the paths at which *upper* now stands."""
    for key, value in upper.items():
        below = lower.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            yield from _laid(value, below, (*at, key))
        else:
            lower[key] = value
            yield (*at, key)


def load_facts(path: pathlib.Path, file: str | None = None, *, settled: bool = False) -> Facts:
    """The facts in a file that `ohai` or `facter --json` wrote.

    Facter's facts are said again by Ohai's names; see `facts.facter`.

    file:    its name in messages; *path* itself unless given
    settled: nobody is going to change them; see `Facts`
    raises:  DocumentError, also for a document that is no map
    """
    document = documents.read(path, file)
    if not isinstance(document.tree, dict):
        raise document.error("facts are a map of names", hint="write them with: ohai > facts.json")
    speaker = document.speaker("facts", path.name)

    from nodeattrs.runs.facts import facter

    if not facter.is_facter(document.tree):
        return Facts(document.tree, speaker, document.warnings, settled and document.levels <= ROOM)
    spoken = facter.translated(document)
    return Facts(spoken.tree, facter.Translator(speaker, spoken.sources), document.warnings)
