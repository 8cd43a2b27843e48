"""What facts that are not given may decide: files of a path with an unset variable, and variables in values.

Used by the dialect, and by `nodeattrs hiera` where the caller gives no facts.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.census import as_asked
from nodeattrs.dialects.hiera.expressions import variable_value
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, split_key
from nodeattrs.dialects.hiera.locations import templates_of
from nodeattrs.dialects.hiera.scope import Scope
from nodeattrs.dialects.hiera.search import IN_LEVELS, Merge
from nodeattrs.dialects.hiera.variables import NAMES, Needed, needed
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import read

_VARIABLE = re.compile(r"%\{([^}]*)\}")
_BRACES = re.compile(r"\{[^{}]*\}")
_STARS = re.compile(r"\*+")


class FileCache:
    """Looks at files, each once for all scopes that share the object.

    shown:    gives the name of a file in messages
    keys:     gives the keys of a data file, None where it cannot be read; and the keys of its lookup_options
    matching: gives the files below a folder that fit a pattern, sorted
    """

    def __init__(self, shown: Callable[[Path], str]) -> None:
        self.shown = cache(shown)
        self.keys = cache(self._keys)
        self.matching = cache(_matching)

    def _keys(self, file: Path) -> tuple[list[str] | None, list[str]]:
        try:
            tree = read(file, self.shown(file)).tree
        except NodeattrsError:
            return None, []
        if not isinstance(tree, dict):
            return [], []
        options = tree.get(LOOKUP_OPTIONS)
        return [*map(str, tree)], [*map(str, options)] if isinstance(options, dict) else []


def _matching(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def open_paths(
    scope: Scope,
    looks: FileCache,
    wanted: Collection[str] | None = None,
    *,
    is_node: bool = True,
    merge: Merge = None,
) -> Iterator[Unread]:
    """The files that may count for a scope.

    looks:   looks at files
    wanted:  the first steps of keys that matter; None for all keys
    is_node: whether the scope is that of a node; without one, files of nodes do not count
    merge:   the strategy that a call names
    cost:    a look at each file that fits, and an explanation for each key
    """
    known: dict[str, Collection[tuple[str, str]] | None] = {}
    for one, file in _open_files(scope, looks, is_node):
        reason = _reason(one)
        if file is None:
            yield Unread(one.template, f"{reason}, and files outside of the folder were not looked for")
            continue
        keys, options = looks.keys(file)
        if keys is None:
            yield Unread(looks.shown(file), f"{reason}, and it cannot be read")
            continue
        if any(name.startswith("^") for name in options):  # a pattern may be about any key
            yield Unread(looks.shown(file), f"{reason}, and its lookup_options have patterns")
            continue
        asked = [key for key in dict.fromkeys((*keys, *options)) if wanted is None or key in wanted]
        for key in asked:
            if key not in known:
                known[key] = _deciding_templates(scope, key, merge)
        at = one.origin.name, one.template
        if may_set := [key for key in asked if key in options or (those := known[key]) is None or at in those]:
            yield Unread(looks.shown(file), reason, tuple((key,) for key in may_set))


def with_needed_keys(scope: Scope, keys: Iterable[str], merge: Merge = None) -> set[str]:
    """The first steps of keys, and of all keys that their values look up, directly or by way of others.

    keys:  as they are asked for, with dots; an empty text is left out
    merge: the strategy that a call names for *keys*
    cost:  an explanation for each of them
    """
    found: dict[str, None] = {}
    left = [(key, merge) for key in keys if key]
    while left:
        key, how = left.pop()
        if key not in found:
            found[key] = None
            left += [(one, None) for one in scope.explain(key, merge=how).needed]
    return {str(split_key(key)[0]) for key in found}


def all_possible_files(scope: Scope, looks: FileCache, *, is_node: bool = True) -> Iterator[Unread]:
    """The files that may count for a scope, also those below a level that has all of their keys."""
    for one, file in _open_files(scope, looks, is_node):
        yield Unread(one.template if file is None else looks.shown(file), _reason(one))


def _open_files(scope: Scope, looks: FileCache, is_node: bool) -> Iterator[tuple[Needed, Path | None]]:
    """What a path with an unset variable may mean; None where files outside of the folder were not looked for."""
    config = scope.tree.environment_layer(scope.environment)
    globs = {
        template
        for _, _, entry in scope.entries()
        if entry.location in ("glob", "globs")
        for template, _ in templates_of(entry)
    }
    for one in needed(scope):
        if config is None or one.is_set or one.layer not in ("environment", "global"):
            continue
        if not is_node and one.variable.removeprefix("::").removeprefix("facts.") in NAMES:
            continue
        if os.path.isabs(one.template) or ".." in one.template.split("/"):
            yield one, None
            continue
        is_glob = one.template in globs
        files = looks.matching(config.folder, _as_pattern(scope, one.template, is_glob))
        yield from ((one, file) for file in files if not (is_glob and file.is_dir()))


def _reason(one: Needed) -> str:
    return f"may count as {one.template}: the variable {one.variable} is not set"


def unset_variables(unset: Mapping[str, Iterable[str]], knows_facts: bool) -> Iterator[Unread]:
    """The variables that values name and that are not set, as unread places.

    unset:       variable -> the keys whose values need it
    knows_facts: whether facts are given, which may be a part of the node's
    """
    reason = "is not set" if knows_facts else "is not set, and no facts are given (--facts)"
    for name, keys in unset.items():
        paths = tuple((key,) for key in keys if key not in (LOOKUP_OPTIONS, IN_LEVELS))
        yield Unread(name, reason, paths, "variable")


def _as_pattern(scope: Scope, template: str, is_glob: bool) -> str:
    """A path with variables as a pattern of files: a variable that is not set is any text in one step.

    is_glob: whether the path is a pattern itself; what its braces have is any text
    """
    filled = _VARIABLE.sub(lambda found: f"\0{_text_of(scope, found[1].strip())}\0", template).split("\0")
    for at, text in enumerate(filled):
        if at % 2 == 0 and is_glob:
            filled[at] = _BRACES.sub("*", text)
        elif at % 2 == 0 or text != "*":
            filled[at] = glob.escape(text)
    steps = [step if is_glob and step == "**" else _STARS.sub("*", step) for step in "".join(filled).split("/")]
    if steps.count("**") > 1:  # one of them fits all that several fit, in the time of one
        steps = [*steps[: steps.index("**")], *steps[len(steps) - 1 - steps[::-1].index("**") :]]
    return "/".join(steps)


def _text_of(scope: Scope, name: str) -> str:
    """The text of a variable; "*" where it is not set, or leads to another folder."""
    if scope.looks is not None:
        scope.looks.note("variable", split_key(name))
    try:
        value = variable_value(name, name, scope.in_hierarchies())
    except NodeattrsError:
        return "*"
    return "*" if value in (None, "") or isinstance(value, (dict, list)) or "/" in str(value) else str(value)


def _deciding_templates(scope: Scope, key: str, merge: Merge) -> Collection[tuple[str, str]] | None:
    """The templates that can change a key, each with its level; None for all.

    Under `first` these are the ones before the one that has it, and that one, which may name other files.
    """
    found = scope.explain(as_asked(key), merge=merge)
    winner = next((one.place for one in found.searched if one.outcome == "found"), None)
    if found.strategy != "first" or not found.found or winner is None:
        return None
    before: list[tuple[str, str]] = []
    for layer, _, entry in scope.entries():
        is_its_level = (layer, entry.name) == (winner.layer, winner.entry)
        for template, _ in templates_of(entry):
            before.append((entry.name, template))
            if is_its_level and template.endswith(winner.declared):
                return before
        if is_its_level:
            return before
    return before
