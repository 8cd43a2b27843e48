"""Findings of `check` about a Hiera tree that hold for every node: found without facts.

A level whose path has no variable is there for every node: it is *fixed*. Any other level may be there. So a key of a
file is compared only with fixed files, and only if no file between may set it. A key is not compared if
`lookup_options` or a line of code asks for a merge, or if a level between is no plain file. Unused keys are found only
for modules that are there. No code runs: manifests are searched as texts.

`readiness` uses the search for legacy facts, which agents of Puppet 8 no longer send.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, hint_for, is_near, spell, strict_key
from nodeattrs.dialects.hiera.codes import (
    BAD_PATTERN,
    LEGACY_FACT,
    NEVER_DECRYPTED,
    REDACTED_TEXT,
    UNKNOWN_TYPE,
    USELESS_OPTION,
)
from nodeattrs.dialects.hiera.config import FILE_FUNCTIONS, NOT_INSTALLED, HieraConfig, HierarchyEntry
from nodeattrs.dialects.hiera.data import DataFile
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, bad_data
from nodeattrs.dialects.hiera.expressions import variables_in
from nodeattrs.dialects.hiera.eyaml import encrypted_paths
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION, LoadedTree, fixed_folder
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, checked_options
from nodeattrs.dialects.hiera.locations import templates_of
from nodeattrs.dialects.hiera.strategies import DEEP_OPTIONS, strategy_of
from nodeattrs.dialects.hiera.types import makes_secret, named_type
from nodeattrs.dialects.hiera.values import texts_in
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.patterns import BadPattern, fits
from nodeattrs.kinds import ALWAYS_OVERRIDDEN, EQUAL_TO_OVERRIDDEN, MISSPELT, TYPE_CHANGE, UNREAD_DATA_FILE, UNUSED_KEY
from nodeattrs.puppet.legacy_facts import modern_fact
from nodeattrs.puppet.manifests import PuppetClass, classes_in, computed_keys_in, lookups_in
from nodeattrs.puppet.regex import translated


class LegacyUse(NamedTuple):
    """A line that names a legacy fact.

    file:     the name of the file
    line:     the number of the line, counted from 1
    what:     where in the file: "the level NAME", the path in the data, or "code"
    variable: the legacy fact, as it is written
    instead:  the fact to write, without "facts."
    """

    file: str
    line: int
    what: str
    variable: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what} names {self.variable}"


def legacy_uses_in_tree(tree: LoadedTree, environment: str) -> Iterator[LegacyUse]:
    """Yield the uses of legacy facts in an environment, its modules and the global layer; code is not searched.

    First those in paths, URIs and options of each hiera.yaml, then those in the values and keys of all data files.
    cost:   one visit of each file
    raises: NodeattrsError, where a file cannot be read
    """
    for config in tree.configs(environment):
        for entry in (*config.entries, *(config.defaults or ())):
            for name in dict.fromkeys(name for _, names in templates_of(entry) for name in names):
                new = modern_fact(name)
                if new is not None:
                    yield LegacyUse(config.file or "", entry.line or 1, f"the level {entry.name}", name, new)
    for file in tree.data_files(environment):
        for path, text in _texts(file.tree):
            for name in variables_in(text) if "%{" in text else ():
                new = modern_fact(name)
                if new is not None:
                    yield LegacyUse(file.file, file.document.place(path)[0], spell(path), name, new)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts of a value and of its keys, each with its path."""
    if type(value) is str:
        yield path, value
    entries = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for step, one in entries:
        if type(step) is str:
            yield (*path, step), step
        yield from _texts(one, (*path, step))


_CODE = (".pp", ".epp", ".erb", ".rb", ".sh", ".py", ".conf")
_DATA = (".yaml", ".yml", ".eyaml", ".json")
_MOST_BYTES, _MOST_FILES = 300_000, 20_000
_WORD = re.compile(r"[\w:.-]+")
_NO_KEY = re.compile(r"(?<![\w:.-])[\w:.-]++(?!['\"]?\s*:)")
_SHAPES: dict[type, str] = {dict: "a map", list: "a list"}
_OF_MODULE = re.compile(r"\^?(\w+)::")
_LOOKED_UP = re.compile(r"""%\{\s*(?:lookup|hiera)\(\s*['"]([^'"]+)['"]\s*\)\s*\}""")
_VARIABLE, _GLOB = r"%\{[^}]{0,999}+\}", r"\*+/?|\?|\[[^\]]{0,999}+\]|\{[^}]{0,999}+\}"


class _Level(NamedTuple):
    """One path of a hierarchy, and the files that it may name.

    fixed:  whether the path is there for every node
    opaque: whether it may name other sources, too, such as a data function or the files of a glob
    """

    files: tuple[DataFile, ...]
    fixed: bool
    opaque: bool = False


class _Code:
    """The classes in the texts of an environment, and every word in the texts that might look a key up."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.classes: dict[str, tuple[PuppetClass, str]] = {}
        self.modules: set[str] = set()
        self.words: set[str] = set()
        self.merged: set[str] = set()
        self.computed: list[list[str]] = []
        self.texts: list[str] = []
        for path in code_files(roots):
            with suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
                self._take(path, stream.read(_MOST_BYTES))

    def _take(self, path: str, text: str) -> None:
        # The keys of a data file are no uses of keys.
        words = _NO_KEY.findall(text) if path.endswith(_DATA) else _WORD.findall(text)
        self.words.update(word for word in words if not word.endswith(":"))
        for found in lookups_in(text):
            self.merged |= {found.key} if found.merged else set()
        self.computed += computed_keys_in(text)
        if path.endswith(".pp"):
            self.classes.update((one.name, (one, path)) for one in classes_in(text))

    def names(self, key: str) -> bool:
        """Whether a text has a key, or may compute it."""
        return key in self.words or any(fits(one, key) for one in self.computed)


def code_files(roots: Iterable[str]) -> Iterator[str]:
    """Yield the files below some folders that may look keys up: code, data, and files without an ending.

    Hidden files and folders, and node_modules, are left out. It ends after 20,000 files.
    """
    left = _MOST_FILES
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
            for name in sorted(names):
                path = os.path.join(folder, name)
                if left and (name.endswith((*_CODE, *_DATA)) or "." not in name) and os.path.isfile(path):
                    left -= 1
                    yield path


def doubts_of(tree: LoadedTree, environment: str, beside: Iterable[LoadedTree] = ()) -> Iterator[BadData]:
    """Yield the findings about an environment: `unread-data-file`, `unused-key`, `misspelt`, `always-overridden`,
    `equal-to-overridden`, `type-change`, and those about lookup_options, secrets and legacy facts.

    Nothing where the environment has no hiera.yaml.
    beside: further trees, whose hierarchies may read files of this one
    cost:   reads every data file and the texts of the environment once
    raises: HieraError, where the environment or its configuration cannot be read
    """
    layer = tree.environment_layer(environment)
    if layer is not None and not layer.built_in:
        yield from _Judge(tree, environment, layer, [*beside]).all()


class _Judge:
    """One environment under its own hiera.yaml."""

    def __init__(
        self, tree: LoadedTree, environment: str, config: HieraConfig, beside: Iterable[LoadedTree] = ()
    ) -> None:
        self._tree = tree
        self._beside = beside
        self._environment = environment
        self._config = config
        self._all_read = True
        self._paths: dict[str, str] = {}
        self._modules: dict[str, bool] = {}
        self._files = {source.file: source for source in self._sources()}

    def _sources(self) -> Iterator[DataFile]:
        folders = {fixed_folder(self._config, entry) for entry in self._config.entries} - {str(self._config.folder)}
        for entry, file in self._data:
            if any(entry.name.startswith(folder + os.sep) for folder in folders):
                self._paths[file.file] = entry.name
                yield file

    @cached_property
    def _code(self) -> _Code:
        return _Code([str(self._config.folder), *map(str, self._tree.modulepath(self._environment))])

    @cached_property
    def _levels(self) -> list[_Level]:
        return [level for entry in self._config.entries for level in self._levels_of(self._config, entry)]

    def _levels_of(self, config: HieraConfig, entry: HierarchyEntry) -> Iterator[_Level]:
        if entry.function not in FILE_FUNCTIONS or entry.location not in ("path", "paths", "glob", "globs"):
            yield _Level((), False, True)
            return
        for declared in entry.templates:
            parts = _around(os.path.join(config.folder, entry.datadir, declared), entry.location)
            files = tuple(file for name, file in self._files.items() if fits(parts, self._paths[name]))
            varies = "%{" in entry.datadir + declared
            yield _Level(files, not varies and entry.location in ("path", "paths"), "glob" in (entry.location or ""))

    # --- findings

    def all(self) -> Iterator[BadData]:
        yield from self._unread()
        yield from self._options()
        yield from self._sealed()
        yield from self._redacted()
        if self._tree.puppet_version >= DEFAULT_VERSION and self._all_read:
            yield from self._legacy()
        if self._files:
            yield from self._keys()
            yield from self._against_others()

    def _unread(self) -> Iterator[BadData]:
        if any(level.opaque and not level.files for level in self._levels) or not self._files:
            return
        read = {file.file for level in self._levels for file in level.files}
        read |= {file.file for files in self._others() for file in files}
        for name in sorted(self._files.keys() - read):
            if os.path.basename(name) not in self._code.words:
                near = self._near(name)
                yield BadData("no level of the hierarchy reads this file", kind=UNREAD_DATA_FILE, file=name,
                              hint=near)  # fmt: skip

    def _others(self) -> Iterator[tuple[DataFile, ...]]:
        """The files of each level of other hierarchies: of modules, of further trees, and default hierarchies."""
        for config in (config for tree in (self._tree, *self._beside) for config in _configs(tree, self._environment)):
            for entry in (*config.entries, *(config.defaults or ())):
                yield from (level.files for level in self._levels_of(config, entry))

    def _near(self, name: str) -> str | None:
        stem = os.path.splitext(self._paths[name])[0]
        for entry in self._config.entries:
            for declared in entry.templates if entry.location in ("path", "paths") else ():
                path = os.path.join(self._config.folder, entry.datadir, declared)
                if fits(_around(os.path.splitext(path)[0], "path"), stem):
                    return f"{self._config.file}:{entry.line} looks for {declared}"
        return None

    def _keys(self) -> Iterator[BadData]:
        """Keys that no code looks up."""
        for file in self._files.values():
            for key in file.tree:
                if isinstance(key, str) and key != LOOKUP_OPTIONS and "::" in key and self._is_unused(key):
                    name, _, parameter = key.rpartition("::")
                    known = self._code.classes.get(name)
                    near = self._similar_parameter(key)
                    hint = f"did you mean {near}?" if near else hint_for(key, self._parameters)
                    message = f"class {name} has no parameter {parameter}" if known else f"there is no class {name}"
                    details = [f"the class is in {self._tree.shown(known[1])}:{known[0].line}"] if known else []
                    yield self._finding(MISSPELT if near else UNUSED_KEY, file, key,
                                        f"nothing looks {key} up: {message}", hint, details)  # fmt: skip

    @cached_property
    def _parameters(self) -> list[str]:
        """The keys of all parameters, of all classes."""
        return [f"{name}::{one}" for name, (known, _) in self._code.classes.items() for one in known.parameters]

    def _similar_parameter(self, key: str) -> str | None:
        """A parameter whose key differs in one part alone, and has a similar name there; None for none."""
        steps = key.split("::")
        for other in self._parameters:
            theirs = other.split("::")
            if len(theirs) == len(steps):
                apart = [pair for pair in zip(steps, theirs, strict=True) if pair[0] != pair[1]]
                if len(apart) == 1 and is_near(*apart[0]):
                    return other
        return None

    def _is_unused(self, key: str) -> bool:
        name, _, parameter = key.rpartition("::")
        known = self._code.classes.get(name)
        is_parameter = known is not None and parameter in known[0].parameters
        return self._has_module(key) and not is_parameter and not self._code.names(key)

    def _has_module(self, key: str) -> bool:
        """Whether the module of a key exists and has a folder `manifests`."""
        module = key.partition("::")[0]
        if module not in self._modules:
            folder = self._tree.module_folder(self._environment, module)
            self._modules[module] = folder is not None and os.path.isdir(folder / "manifests")
        return self._modules[module]

    # --- lookup_options, and what stays encrypted

    def _options(self) -> Iterator[BadData]:
        for entry, file in self._data:
            if LOOKUP_OPTIONS in file.tree:
                yield from _doubtful_options(file, self._module_of(entry.name), self._is_key)

    @cached_property
    def _data(self) -> list[tuple[HierarchyEntry, DataFile]]:
        """(entry, file) for each data file of the environment that can be read."""
        found = []
        for entry in self._tree.data_entries(self._environment):
            try:
                source = self._tree.source(entry, entry.name, {}, None)
            except NodeattrsError:  # reported when it is read
                self._all_read = False
                continue
            if isinstance(source, DataFile):
                found.append((entry, source))
            else:
                self._all_read = False
        return found

    def _module_of(self, path: str) -> str | None:
        """The module that a file belongs to; None for a file of the environment."""
        for folder in self._tree.modulepath(self._environment):
            if path.startswith(os.path.normpath(folder) + os.sep):
                return os.path.relpath(path, folder).split(os.sep)[0]
        return None

    def _is_key(self, name: str) -> bool | None:
        """Whether data or code has a key that a name or an expression of lookup_options fits; None: not known."""
        module = _OF_MODULE.match(name)
        layer = None if module is None else self._tree.module_layer(self._environment, module[1])
        is_fetched = layer is not None and any(entry.kind == NOT_INSTALLED for entry in layer.entries)
        if "::" in name and (module is None or is_fetched):
            return None
        if not self._all_read or any(level.opaque and not level.files for level in self._levels):
            return None
        fits_name = _named_by(name)
        keys = chain((key for _, file in self._data for key in file.tree), self._parameters, self._code.words)
        return any(isinstance(key, str) and fits_name(key) for key in keys)

    def _sealed(self) -> Iterator[BadData]:
        """Encrypted texts in files that are read only by levels that do not decrypt."""
        opening, others = set[str](), set[str]()
        for config in self._tree.configs(self._environment):
            for entry in (*config.entries, *(config.defaults or ())):
                files = {file.file for level in self._levels_of(config, entry) for file in level.files}
                (others if entry.function in FILE_FUNCTIONS[:2] else opening).update(files)
        for _, file in self._data:
            if file.file in others - opening:
                for path in encrypted_paths(file.tree):
                    message = f"{spell(path)} is encrypted, and no level that reads it decrypts"
                    hint = "give the level lookup_key: eyaml_lookup_key"
                    yield bad_data(file.document, NEVER_DECRYPTED, message, path, hint)

    def _redacted(self) -> Iterator[BadData]:
        """Texts with a key in them that `lookup_options` makes a Sensitive."""
        options = (file.tree.get(LOOKUP_OPTIONS) for _, file in self._data)
        entries = (pair for one in options if isinstance(one, dict) for pair in one.items())
        settings = ((name, entry) for name, entry in entries if isinstance(entry, dict))
        secret = [_named_by(str(name)) for name, entry in settings if makes_secret(entry.get("convert_to"))]
        for _, file in self._data if secret else ():
            for path, text in texts_in(file.tree):
                roots = [found[1].partition(".")[0] for found in _LOOKED_UP.finditer(text) if path[0] != LOOKUP_OPTIONS]
                for root in (root for root in roots if any(names(root) for names in secret)):
                    message = f"{spell(path)} has {root} inside a text, where a Sensitive is redacted"
                    hint = "convert the whole text to Sensitive, and not what is in it"
                    yield bad_data(file.document, REDACTED_TEXT, message, path, hint)

    def _legacy(self) -> Iterator[BadData]:
        """Legacy facts in levels and values, each once in a file."""
        uses = [*legacy_uses_in_tree(self._tree, self._environment)]
        for one in {(use.file, use.variable): use for use in reversed(uses)}.values():
            yield BadData(f"{one}, a legacy fact that Puppet 8 does not have", kind=LEGACY_FACT, file=one.file,
                          line=one.line, hint=f"write facts.{one.instead}")  # fmt: skip

    # --- one level compared with others

    def _against_others(self) -> Iterator[BadData]:
        for index, level in enumerate(self._levels):
            for file in level.files:
                for key, value in file.tree.items():
                    if isinstance(key, str) and key != LOOKUP_OPTIONS and value is not None:
                        yield from self._compared(index, file, key, value)

    def _compared(self, index: int, file: DataFile, key: str, value: Any) -> Iterator[BadData]:
        below = [other for level in self._levels[index + 1 :] if level.fixed for other in level.files]
        changed = next((other for other in below if _differs(value, other.tree.get(key))), None)
        if changed is not None:
            yield self._finding(TYPE_CHANGE, file, key, f"{key} is {_shape(value)} here, and "
                                f"{_shape(changed.tree[key])} in a level below that every node has", None,
                                [self._place(changed, key)])  # fmt: skip
        if not self._is_first(key):
            return
        same = self._same_below(index, file, key, value)
        if same is not None:
            yield self._finding(EQUAL_TO_OVERRIDDEN, file, key, f"{key} is equal to what it overrides", None,
                                [f"the same value: {self._place(same, key)}"])  # fmt: skip
        above = [level for level in self._levels[:index] if level.fixed and any(key in one.tree for one in level.files)]
        if above and not any(level.fixed and file in level.files for level in above):
            other = next(one for one in above[0].files if key in one.tree)
            if strict_key(other.tree[key]) != strict_key(value):
                yield self._finding(ALWAYS_OVERRIDDEN, file, key, f"{key} is overridden on every node", None,
                                    [f"by {self._place(other, key)}"])  # fmt: skip

    def _same_below(self, index: int, file: DataFile, key: str, value: Any) -> DataFile | None:
        """The first fixed file below with an equal value, if no file between may have another value; else None."""
        if sum(file in level.files for level in self._levels) > 1:
            return None
        for level in self._levels[index + 1 :]:
            if level.opaque:
                return None
            for other in level.files:
                if other.tree.get(key, ABSENT) is ABSENT or other is file:
                    continue
                if strict_key(other.tree[key]) != strict_key(value):
                    return None
                if level.fixed:
                    return other
        return None

    def _is_first(self, key: str) -> bool:
        """Whether a lookup certainly takes the first value: its module is there, and nothing asks for a merge."""
        if key in self._code.merged or any(fits(one, key) for one in self._code.computed):
            return False
        known = self._has_module(key) if "::" in key else key in self._code.words
        return known and not any(one(key) for one in self._merging)

    @cached_property
    def _merging(self) -> list[Callable[[str], bool]]:
        """Tests of a key, one for each name in any `lookup_options`. If a file cannot be read: one that is true."""
        try:
            trees = [file.tree for file in self._tree.data_files(self._environment)]
        except NodeattrsError:
            return [bool]
        options = (tree.get(LOOKUP_OPTIONS) for tree in trees if isinstance(tree, dict))
        named = {key for one in options if isinstance(one, dict) for key in one if isinstance(key, str)}
        return [_named_by(key) for key in sorted(named)]

    def _place(self, file: DataFile, key: str) -> str:
        line, _ = file.document.place((key,))
        return f"{file.file}:{line}"

    def _finding(
        self, kind: Kind, file: DataFile, key: str, message: str, hint: str | None, details: Iterable[str]
    ) -> BadData:
        at: Origin = file.locator(key, "").at(())
        return BadData(message, kind=kind, file=file.file, line=at.line, column=at.column, path=(key,), hint=hint,
                       details=details)  # fmt: skip


def _configs(tree: LoadedTree, environment: str) -> list[HieraConfig]:
    """The layers of an environment; [] if a hiera.yaml cannot be read, since that is another finding."""
    try:
        return tree.configs(environment)
    except NodeattrsError:
        return []


def _around(template: str, location: str | None) -> list[str]:
    """The texts between the variables of a path in hiera.yaml; for a glob also those between its wildcards."""
    pattern = f"{_VARIABLE}|{_GLOB}" if "glob" in (location or "") else _VARIABLE
    return re.split(pattern, os.path.normpath(template))


def _named_by(key: str) -> Callable[[str], bool]:
    if not key.startswith("^"):
        return key.__eq__
    try:
        found = translated(key)
    except NodeattrsError:
        return bool
    return found.search


def _shape(value: Any) -> str:
    return _SHAPES.get(type(value), "text" if isinstance(value, str) else "a number, or true or false")


def _differs(value: Any, below: Any) -> bool:
    """Whether one is a map and the other is not; a text with an expression in it may be anything."""
    computed = any(isinstance(one, str) and ("%{" in one or "ENC[" in one) for one in (value, below))
    return below is not None and not computed and (type(value) is dict) != (type(below) is dict)


_OPTIONS = ("merge", "convert_to")
_OF_MERGE = ("strategy", *DEEP_OPTIONS)
_FAILS = "every lookup of its keys fails"


def _doubtful_options(file: DataFile, module: str | None, is_key: Callable[[str], bool | None]) -> Iterator[BadData]:
    """Yield a finding with its line for each fault in the `lookup_options` of a data file; nothing without any.

    module: the module whose file it is; None for a file of the environment
    is_key: a function of a name or expression: whether it fits a key of some data; None where that is not known
    """
    written = file.tree.get(LOOKUP_OPTIONS)
    try:
        entries = checked_options(written, module) or {}
    except BadLookup as error:
        yield bad_data(file.document, error.kind, f"every lookup fails: {error.message}", (LOOKUP_OPTIONS,), error.hint)
        return
    for name, entry in entries.items():
        path = (LOOKUP_OPTIONS, name)
        if isinstance(entry, Mapping):
            yield from _of_entry(file, path, entry)
        elif entry is not None:
            yield bad_data(
                file.document, USELESS_OPTION, "says nothing: it has to be a map", path, "write `merge:` below the key"
            )
        yield from _of_name(file, path, str(name), is_key)


def _of_name(file: DataFile, path: Path, name: str, is_key: Callable[[str], bool | None]) -> Iterator[BadData]:
    try:
        if name.startswith("^"):
            translated(name)
    except BadPattern as error:
        message = f"lookups may fail: the expression cannot be used: {error.message}"
        yield bad_data(file.document, BAD_PATTERN, message, path, error.hint)
        return
    if is_key(name) is not False:
        return
    hint = None
    if not name.startswith("^") and any(sign in name for sign in "*+(|[\\$"):
        hint = "an expression begins with ^"
    elif "." in name and not name.startswith("^"):
        hint = f"it holds for whole keys: write {name.partition('.')[0]}"
    yield bad_data(
        file.document, USELESS_OPTION, f"no data has a key for {name!r}: the entry counts for nothing", path, hint
    )


def _of_entry(file: DataFile, path: Path, entry: Mapping[Any, Any]) -> Iterator[BadData]:
    for option in entry:
        if option not in _OPTIONS:
            hint = hint_for(str(option), _OPTIONS) or f"there are {' and '.join(_OPTIONS)}"
            if option in _OF_MERGE:
                hint = f"it counts inside merge: {_moved(entry)}"
            yield bad_data(
                file.document, USELESS_OPTION, f"the option {option} counts for nothing", (*path, option), hint
            )
    try:
        strategy_of(entry.get("merge"))
    except BadLookup as error:
        yield bad_data(file.document, error.kind, f"{error.message}: {_FAILS}", (*path, "merge"), error.hint)
    yield from _of_type(file, path, entry.get("convert_to"))


def _of_type(file: DataFile, path: Path, wanted: Any) -> Iterator[BadData]:
    try:
        if wanted is not None:
            named_type(wanted)
    except BadLookup as error:
        if error.kind == UNKNOWN_TYPE and "::" in str(wanted):  # a module may have it
            return
        yield bad_data(file.document, error.kind, f"{error.message}: {_FAILS}", (*path, "convert_to"), error.hint)


def _moved(entry: Mapping[Any, Any]) -> str:
    """The `merge:` of an entry in YAML, with the options that the entry has at its top moved into it."""
    merge = entry.get("merge")
    given = {**merge} if isinstance(merge, Mapping) else {"strategy": merge or "deep"}
    given |= {option: value for option, value in entry.items() if option in _OF_MERGE}
    return f"merge: {{{', '.join(f'{key}: {_shown(value)}' for key, value in given.items())}}}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else value if str(value).isalpha() else repr(value)
