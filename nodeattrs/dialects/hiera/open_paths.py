"""What facts that are not given may decide: files of a path with an unset variable, and variables in values.

Used by the dialect, and by `nodeattrs hiera` where the caller gives no facts.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.census import as_asked
from nodeattrs.dialects.hiera.scope import Scope
from nodeattrs.dialects.hiera.variables import NAMES, needed
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import read


def open_paths(
    scope: Scope, shown: Callable[[Path], str], wanted: Collection[str] | None = None, *, is_node: bool = True
) -> Iterator[Unread]:
    """The files that may count for a scope.

    shown:   the name of a file in messages
    wanted:  the first steps of keys that matter; None for all keys
    is_node: whether the scope is that of a node; without one, files of nodes do not count
    cost:    a look at each file that fits, and an explanation for each of its keys
    """
    config = scope.tree.environment_layer(scope.environment)
    for one in needed(scope):
        if config is None or one.is_set or one.layer not in ("environment", "global"):
            continue
        if not is_node and one.variable.removeprefix("::").removeprefix("facts.") in NAMES:
            continue
        reason = f"may count as {one.template}: the variable {one.variable} is not set"
        if os.path.isabs(one.template) or ".." in one.template.split("/"):
            yield Unread(one.template, f"{reason}, and files outside of the folder were not looked for")
            continue
        for file in sorted(Path(config.folder).glob(_as_pattern(one.template))):
            keys = _keys_in(file, shown(file))
            if keys is None:
                yield Unread(shown(file), f"{reason}, and it cannot be read")
                continue
            asked = [key for key in keys if wanted is None or key in wanted]
            if may_set := [key for key in asked if _may_set(scope, key, one.origin.name)]:
                yield Unread(shown(file), reason, tuple((key,) for key in may_set))


def unset_in_values(unset: Mapping[str, str]) -> Iterator[Unread]:
    """The variables that values name and that are not set, each with the key; for a scope without facts."""
    for name, key in unset.items():
        yield Unread(name, "is not set, and no facts are given (--facts)", ((key,),), "variable")


def _as_pattern(template: str) -> str:
    """A path with variables as a pattern of files: each variable is any text in one step."""
    return "*".join(glob.escape(text) for text in re.split(r"%\{[^}]*\}", template))


def _keys_in(file: Path, shown: str) -> list[str] | None:
    """The keys of a data file; None where it cannot be read."""
    try:
        tree = read(file, shown).tree
    except NodeattrsError:
        return None
    return [str(key) for key in tree] if isinstance(tree, dict) else []


def _may_set(scope: Scope, key: str, level: str) -> bool:
    """Whether a level can change a key: under `first` not one below the level that has it."""
    found = scope.explain(as_asked(key))
    if found.strategy != "first" or not found.found:
        return True
    levels = [one.place.entry for one in found.searched]
    winner = next((at for at, one in enumerate(found.searched) if one.outcome == "found"), len(levels))
    return level in levels[:winner]
