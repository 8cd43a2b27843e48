"""What facts that are not given may decide: files of a path with an unset variable, and variables in values.

Used by the dialect, and by `nodeattrs hiera` where the caller gives no facts.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.answers import IN_LEVELS, Merge
from nodeattrs.dialects.hiera.census import as_asked
from nodeattrs.dialects.hiera.keys import NAME
from nodeattrs.dialects.hiera.scope import Scope
from nodeattrs.dialects.hiera.variables import NAMES, Needed, needed
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import read


def open_paths(
    scope: Scope,
    shown: Callable[[Path], str],
    wanted: Collection[str] | None = None,
    *,
    is_node: bool = True,
    merge: Merge = None,
) -> Iterator[Unread]:
    """The files that may count for a scope.

    shown:   the name of a file in messages
    wanted:  the first steps of keys that matter; None for all keys
    is_node: whether the scope is that of a node; without one, files of nodes do not count
    merge:   the strategy that a call names
    cost:    a look at each file that fits, and an explanation for each of its keys
    """
    for one, file in _open_files(scope, is_node):
        reason = _reason(one)
        if file is None:
            yield Unread(one.template, f"{reason}, and files outside of the folder were not looked for")
            continue
        keys, options = _keys_in(file, shown(file))
        if keys is None:
            yield Unread(shown(file), f"{reason}, and it cannot be read")
            continue
        if any(name.startswith("^") for name in options):  # a pattern may be about any key
            yield Unread(shown(file), f"{reason}, and its lookup_options have patterns")
            continue
        asked = [key for key in dict.fromkeys((*keys, *options)) if wanted is None or key in wanted]
        if may_set := [key for key in asked if key in options or _may_set(scope, key, one.origin.name, merge)]:
            yield Unread(shown(file), reason, tuple((key,) for key in may_set))


def open_files(scope: Scope, shown: Callable[[Path], str], *, is_node: bool = True) -> Iterator[Unread]:
    """The files that may count for a scope, also those below a level that has all of their keys."""
    for one, file in _open_files(scope, is_node):
        yield Unread(one.template if file is None else shown(file), _reason(one))


def _open_files(scope: Scope, is_node: bool) -> Iterator[tuple[Needed, Path | None]]:
    """What a path with an unset variable may mean; None where files outside of the folder were not looked for."""
    config = scope.tree.environment_layer(scope.environment)
    for one in needed(scope):
        if config is None or one.is_set or one.layer not in ("environment", "global"):
            continue
        if not is_node and one.variable.removeprefix("::").removeprefix("facts.") in NAMES:
            continue
        if os.path.isabs(one.template) or ".." in one.template.split("/"):
            yield one, None
            continue
        yield from ((one, file) for file in sorted(Path(config.folder).glob(_as_pattern(one.template))))


def _reason(one: Needed) -> str:
    return f"may count as {one.template}: the variable {one.variable} is not set"


def unset_variables(unset: Mapping[str, Iterable[str]], knows_facts: bool) -> Iterator[Unread]:
    """The variables that values name and that are not set, as unread places.

    unset:       variable -> the keys whose values need it
    knows_facts: whether facts are given, which may be a part of the node's
    """
    reason = "is not set" if knows_facts else "is not set, and no facts are given (--facts)"
    for name, keys in unset.items():
        paths = tuple((key,) for key in keys if key not in (NAME, IN_LEVELS))
        yield Unread(name, reason, paths, "variable")


def _as_pattern(template: str) -> str:
    """A path with variables as a pattern of files: each variable is any text in one step."""
    return "*".join(glob.escape(text) for text in re.split(r"%\{[^}]*\}", template))


def _keys_in(file: Path, shown: str) -> tuple[list[str] | None, list[str]]:
    """The keys of a data file, None where it cannot be read; and the keys that its lookup_options are about."""
    try:
        tree = read(file, shown).tree
    except NodeattrsError:
        return None, []
    if not isinstance(tree, dict):
        return [], []
    options = tree.get(NAME)
    return [*map(str, tree)], [*map(str, options)] if isinstance(options, dict) else []


def _may_set(scope: Scope, key: str, level: str, merge: Merge) -> bool:
    """Whether a level can change a key: under `first` not one below the level that has it."""
    found = scope.explain(as_asked(key), merge=merge)
    if found.strategy != "first" or not found.found:
        return True
    levels = [one.place.entry for one in found.searched]
    winner = next((at for at, one in enumerate(found.searched) if one.outcome == "found"), len(levels))
    return level in levels[:winner]
