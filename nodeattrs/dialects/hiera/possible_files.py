"""Find what might change an answer if more facts were known, and return it as unread places.

The places are the data files that a path with an unset variable may name, and the unset variables in values. Used by
the dialect and by the commands of `nodeattrs hiera`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from nodeattrs.core.looks import VARIABLE
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.census import as_asked
from nodeattrs.dialects.hiera.expressions import variable_value
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, module_of, split_key
from nodeattrs.dialects.hiera.locations import DataLocation, templates_of
from nodeattrs.dialects.hiera.scope import Scope
from nodeattrs.dialects.hiera.search import IN_LEVELS, Hierarchy, LookupCall, Merge
from nodeattrs.dialects.hiera.strategies import FIRST, Strategy
from nodeattrs.dialects.hiera.variables import NAMES, Needed, needed
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import read

_VARIABLE = re.compile(r"%\{([^}]*)\}")
_BRACES = re.compile(r"\{[^{}]*\}")
_STARS = re.compile(r"\*+")


class FileCache:
    """Three functions whose results are kept. One instance serves all scopes of a command.

    The constructor takes *shown*, a function from a file to its name in messages.
    shown(file):               the name of a file in messages
    keys(file):                (the keys of a data file, the keys of its lookup_options); (None, []) if unreadable
    matching(folder, pattern): the files below a folder that fit a glob of Python, sorted
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


def possible_files(
    scope: Scope,
    file_cache: FileCache,
    wanted: Collection[str] | None = None,
    *,
    is_node: bool = True,
    merge: Merge = None,
) -> Iterator[Unread]:
    """Find the files that a path in hiera.yaml might name if an unset variable were set.

    Yields an Unread for each file, with the keys that it may set; an Unread without keys means any key. For a path that
    may lead out of the folder, the Unread names the path as it is written. A file is left out if it cannot change any
    wanted key, for example since stronger levels set all of its keys.
    wanted:  the first steps of the keys that matter; None: all keys. Empty: nothing is yielded, and no file is read
    is_node: False leaves out paths with the name of a node
    merge:   the strategy that a call names; None for none
    cost:    a look at each file that fits, and an explanation for each of its keys
    """
    if wanted is not None and not wanted:
        return
    deciding = cache(partial(_deciding_templates, scope, merge=merge))
    for one, module, file in _open_files(scope, file_cache, is_node, _modules(scope, wanted)):
        reason = _reason(one)
        if file is None:
            yield Unread(one.template, f"{reason}, and files outside of the folder were not looked for")
            continue
        keys, options = file_cache.keys(file)
        if keys is None:
            yield Unread(file_cache.shown(file), f"{reason}, and it cannot be read")
            continue
        if any(name.startswith("^") for name in options):  # a pattern may fit any key; of a module, any of its own
            if module is None:
                yield Unread(file_cache.shown(file), f"{reason}, and its lookup_options have patterns")
                continue
            options = [*options, *(scope.known_keys() if wanted is None else wanted)]
        may_set = []
        for key in dict.fromkeys((*keys, *options)):
            if (wanted is None or key in wanted) and (module is None or module_of(key) == module):
                templates = None if key in options else deciding(key)
                if templates is None or (one.layer, one.origin.name, one.template) in templates:
                    may_set.append(key)
        if may_set:
            yield Unread(file_cache.shown(file), reason, tuple((key,) for key in may_set))


def with_needed_keys(scope: Scope, keys: Iterable[str], merge: Merge = None) -> set[str]:
    """The first steps of *keys*, and of all keys that their values look up, directly or through other keys.

    keys:  as `lookup` takes them, with dots; an empty text is left out
    merge: the strategy that a call names, for *keys* alone; None for none
    cost:  an explanation for each key
    """
    found: set[str] = set()
    asked = [(key, merge) for key in keys if key]
    for key, how in asked:  # grows; *keys* come first, so that a key among them that another one needs has *merge*
        if key not in found:
            found.add(key)
            asked += [(one, None) for one in scope.explain(key, merge=how).needed]
    return {str(split_key(key)[0]) for key in found}


def all_possible_files(scope: Scope, file_cache: FileCache, *, is_node: bool = True) -> Iterator[Unread]:
    """Yield an Unread for each file that an unset variable in a path may name, whatever keys it sets.

    A path that leads out of the folder gives one Unread, with the path. is_node: as in `possible_files`
    """
    for one, _, file in _open_files(scope, file_cache, is_node, _modules(scope, None)):
        yield Unread(one.template if file is None else file_cache.shown(file), _reason(one))


def _modules(scope: Scope, wanted: Iterable[str] | None) -> Iterable[str | None]:
    """None for the environment, then the modules with data that the wanted keys belong to. wanted: None: all modules"""
    keys = (f"{one}::" for one in scope.tree.modules(scope.environment)) if wanted is None else wanted
    return dict.fromkeys((None, *map(scope.module_with_data, keys)))


def _open_files(
    scope: Scope, file_cache: FileCache, is_node: bool, modules: Iterable[str | None]
) -> Iterator[tuple[Needed, str | None, Path | None]]:
    """Yield (unset variable, module, a file that its path may name); no file for a path that leads out of the folder.

    The module is None for a level of the environment or of the global layer.
    """
    for module in modules:
        entries = [*scope.entries(module)]
        globs = {
            template
            for _, _, entry in entries
            if entry.location in ("glob", "globs")
            for template, _ in templates_of(entry)
        }
        folders = {config.file: config.folder for _, config, _ in entries}
        for one in needed(scope, module):
            if one.is_set or (one.layer in ("environment", "global")) != (module is None):
                continue
            if not is_node and one.variable.removeprefix("::").removeprefix("facts.") in NAMES:
                continue
            if os.path.isabs(one.template) or ".." in one.template.split("/"):
                yield one, module, None
                continue
            is_glob = one.template in globs
            files = file_cache.matching(folders[one.origin.file], _as_pattern(scope, one.template, is_glob))
            yield from ((one, module, file) for file in files if not (is_glob and file.is_dir()))


def _reason(one: Needed) -> str:
    return f"may count as {one.template}: the variable {one.variable} is not set"


def unset_variables(unset: Mapping[str, Iterable[str]], knows_facts: bool) -> Iterator[Unread]:
    """Yield an Unread for each unset variable that values name, with the keys that need it.

    unset:       variable -> the keys whose values need it
    knows_facts: whether any facts of the node are given; it changes the reason only
    """
    reason = "is not set" if knows_facts else "is not set, and no facts are given (--facts)"
    for name, keys in unset.items():
        paths = tuple((key,) for key in keys if key not in (LOOKUP_OPTIONS, IN_LEVELS))
        yield Unread(name, reason, paths, "variable")


def _as_pattern(scope: Scope, template: str, is_glob: bool) -> str:
    """A path with variables as a pattern of files: a variable that is not set is any text in one step.

    is_glob: whether the path is a pattern itself; what its braces have is any text
    """
    closed = template.rfind("}") + 1  # behind it no expression ends, and each beginning would be searched to the end
    filled = _VARIABLE.sub(lambda found: f"\0{_text_of(scope, found[1].strip())}\0", template[:closed]).split("\0")
    filled[-1] += template[closed:]
    for at, text in enumerate(filled):
        if at % 2 == 0 and is_glob:
            filled[at] = _BRACES.sub("*", text)
        elif at % 2 == 0 or text != "*":
            filled[at] = glob.escape(text)
    steps = [step if is_glob and step == "**" else _STARS.sub("*", step) for step in "".join(filled).split("/")]
    if steps.count("**") > 1:  # one ** matches the same files in less time
        steps = [*steps[: steps.index("**")], *steps[len(steps) - 1 - steps[::-1].index("**") :]]
    return "/".join(steps)


def _text_of(scope: Scope, name: str) -> str:
    """The text of a variable; "*" where it is not set, or leads to another folder."""
    if scope.looks is not None:
        scope.looks.note(VARIABLE, split_key(name))
    try:
        value = variable_value(name, name, scope.in_hierarchies())
    except NodeattrsError:
        return "*"
    return "*" if value in (None, "") or isinstance(value, (dict, list)) or "/" in str(value) else str(value)


class _FirstPlace(LookupCall):
    """A lookup that notes its strategy, and the first place with a readable value; None without such a place."""

    how: Strategy = FIRST
    first: DataLocation | None = None

    def value_in(self, root: str, how: Strategy, hierarchy: Hierarchy, is_cached: bool = False) -> Any:
        self.how = how
        return super().value_in(root, how, hierarchy, is_cached)

    def value_at(self, place: DataLocation, root: str) -> Any:
        value = super().value_at(place, root)
        if self.first is None and value is not ABSENT and type(value) is not Unknown:
            self.first = place
        return value


def _deciding_templates(scope: Scope, key: str, merge: Merge) -> Collection[tuple[str, str, str]] | None:
    """The (layer, level, template) of files that can change the value of a key; None if all files can.

    With the strategy `first`, they are the template whose file has the value, and all templates above it. None for
    another strategy, and for a key without a value.
    """
    call = _FirstPlace(scope, None, None, (as_asked(key),))
    try:
        value = scope.answer(as_asked(key), merge, call)
    except (NodeattrsError, RecursionError):
        return None
    winner = call.first
    if value is ABSENT or winner is None or call.how is not FIRST:
        return None
    before: list[tuple[str, str, str]] = []
    for layer, _, entry in scope.entries(scope.module_with_data(key)):
        is_its_level = (layer, entry.name) == (winner.layer, winner.entry)
        for template, _ in templates_of(entry):
            before.append((layer, entry.name, template))
            if is_its_level and template.endswith(winner.declared):
                return before
        if is_its_level:
            return before
    return before
