"""Answer questions about all keys: all values of a node, the differences of two nodes, and the data that no node reads.

Each value comes from a lookup of a `Scope`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import encrypted_in
from nodeattrs.core.tree import ABSENT, parse, spell, strict_key
from nodeattrs.core.unread import Unread, encrypted
from nodeattrs.dialects.hiera.data import DataFile
from nodeattrs.dialects.hiera.explain import UnknownLevel
from nodeattrs.dialects.hiera.hierarchies import LoadedTree
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS
from nodeattrs.dialects.hiera.scope import Scope
from nodeattrs.errors import NodeattrsError


@dataclass(frozen=True, slots=True)
class Unused:
    """The data files that no node reads, and the keys whose value counts for no node; `unused` finds them.

    files:    data files that are in no node's hierarchy
    shadowed: (key, its line) for each key of a file that a stronger file overrides on every node
    """

    files: tuple[str, ...]
    shadowed: tuple[tuple[str, Origin], ...]


@checked_args(scope=Scope)
def view(scope: Scope) -> dict[str, Any]:
    """Every key of a scope -> its value; a key that cannot be looked up has its error as value.

    cost: one lookup a key
    """
    found = values_or_errors(scope, scope.known_keys(), default_value=ABSENT)
    return {key: value for key, value in found.items() if value is not ABSENT}


def values_or_errors(scope: Scope, keys: Iterable[str], **how: Any) -> dict[str, Any]:
    """Look up several keys: key -> its value, or the error of its lookup. No error of a lookup is raised.

    how: further arguments of `Scope.lookup`, such as default_value
    """
    found: dict[str, Any] = {}
    for key in keys:
        try:
            found[key] = scope.lookup(as_asked(key), **how)
        except NodeattrsError as error:
            found[key] = error
    return found


@checked_args(scope=Scope)
def undecided(scope: Scope) -> dict[str, tuple[UnknownLevel, ...]]:
    """Key -> the levels that cannot be read and might change its value; {} if every level can be read.

    A key whose value no unread level might change is left out. The key "" has the levels that may set further keys.
    cost: one explanation for each key, if a level cannot be read
    """
    found: dict[str, tuple[UnknownLevel, ...]] = {}
    levels = scope.unknown_levels("no_such_key")  # searches all levels
    for key in scope.known_keys() if scope.has_unknown else ():
        with suppress(NodeattrsError):
            found[key] = scope.unknown_levels(as_asked(key))
    found[""] = tuple(level._replace(key="any key") for level in levels)
    return {key: levels for key, levels in found.items() if levels}


class Kept(NamedTuple):
    """A part of a value that was not decrypted. `unread` gives an `Unread` of the part, for reports of what is unknown.

    key:     the key, then the path of the part in its value, as one dotted text: "db.password"
    reason:  why the part stays encrypted
    origins: the lines that set the part, the strongest first; () if they are not known
    """

    key: str
    reason: str
    origins: tuple[Origin, ...]

    @property
    def unread(self) -> Unread:
        """An `Unread` with the path of the part, the reason, and all lines that set the part."""
        return encrypted(parse(self.key), self.reason, ", ".join(str(one.place) for one in self.origins))


@checked_args(scope=Scope, values=Mapping)
def still_encrypted(scope: Scope, values: Mapping[str, Any], merge: Any = None) -> list[Kept]:
    """The encrypted parts of some values of a scope, each with its key; [] for none.

    values: key, as `lookup` takes it -> its value
    merge:  the strategy that the lookups named
    cost:   an explanation for each value with such a part
    """
    found = []
    for key, value in values.items():
        for path, reason, origins in scope.explain(key, merge=merge).encrypted if encrypted_in(value) else ():
            found.append(Kept(f"{key}.{spell(path)}" if path else key, reason, origins))
    return found


def as_asked(key: str) -> str:
    """A key of a file as `lookup` takes it: quoted where it has dots or quotes, which would divide it."""
    if "." not in key and "'" not in key and '"' not in key:
        return key
    return f'"{key}"' if '"' not in key else f"'{key}'"


@checked_args(one=Mapping, other=Mapping)
def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Key -> (value in *one*, value in *other*) for the keys that differ, sorted; ABSENT where a side has none.

    Numbers of different types differ; errors are compared by class and message.
    """
    keys = sorted({**one, **other})
    pairs = {key: (one.get(key, ABSENT), other.get(key, ABSENT)) for key in keys}
    return {key: pair for key, pair in pairs.items() if _compared(pair[0]) != _compared(pair[1])}


def _compared(value: Any) -> Any:
    if value is ABSENT:
        return ABSENT
    if isinstance(value, NodeattrsError):
        return type(value), value.message
    return (True, value) if hasattr(value, "unwrap") else (False, strict_key(value))


@checked_args(hiera=LoadedTree, scopes=ListLike)
def unused(hiera: LoadedTree, scopes: Iterable[Scope]) -> Unused:
    """Find the data files that no scope reads, and the keys of files that a stronger file overrides in each scope.

    hiera:  the tree that the scopes belong to
    scopes: the nodes; only data files of their environments are looked at
    cost:   one look at each key of each file, for each scope
    """
    read: set[str] = set()
    used: set[tuple[str, str]] = set()
    hidden: dict[tuple[str, str], Origin] = {}
    environments = set()
    for scope in scopes:
        environments.add(scope.environment)
        for module in (None, *hiera.modules(scope.environment)):
            _take(scope, module, read, used, hidden)
    files = {file.file for environment in sorted(environments) for file in hiera.data_files(environment)}
    shadowed = [(key, origin) for (file, key), origin in hidden.items() if (file, key) not in used]
    return Unused(
        tuple(sorted(files - read)), tuple(sorted(shadowed, key=lambda one: (str(one[1].file), one[1].line or 0)))
    )


def _take(
    scope: Scope,
    module: str | None,
    read: set[str],
    used: set[tuple[str, str]],
    hidden: dict[tuple[str, str], Origin],
) -> None:
    seen: set[str] = set()
    for place in scope.places(module):
        if not isinstance(place.source, DataFile):
            continue
        read.add(place.file)
        for key in place.source.tree:
            if type(key) is not str or (module is not None and not key.startswith(f"{module}::")):
                continue
            if key in seen and key != LOOKUP_OPTIONS and not scope.merges(key):
                hidden.setdefault((place.file, key), place.source.locator(key, place.entry).at(()))
            else:
                used.add((place.file, key))
            seen.add(key)
