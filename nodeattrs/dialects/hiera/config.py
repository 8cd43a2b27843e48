"""Read hiera.yaml into a `HieraConfig` and check it; each fault has its line.

A configuration has entries, also called levels, whose locations are templates. `locations` fills these in, and `data`
reads the files. A hiera.yaml of version 3 or 4 is converted into entries of version 5, as Puppet reads it. Version 3
counts in the global layer: one level for each backend, in which every line of its hierarchy is a path. Version 4 counts
in environments and modules: each entry is a level, and names its backend.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.tree import NO_ENTRIES, Path, hint_for
from nodeattrs.dialects.hiera.codes import (
    CONFIG_INVALID,
    DATA_FUNCTION_NEEDS_PATH,
    DEFAULT_HIERARCHY_NOT_IN_MODULE,
    DUPLICATE_HIERARCHY_NAME,
    MISSING_DATA_FUNCTION,
    MULTIPLE_DATA_FUNCTIONS,
    MULTIPLE_LOCATIONS,
    OLD_VERSION,
    RESERVED_OPTION,
    UNSUPPORTED_VERSION,
)
from nodeattrs.dialects.hiera.data import read_document
from nodeattrs.dialects.hiera.errors import BadData, bad_data
from nodeattrs.formats.documents import Document

_ConvertedEntry = tuple[dict[str, Any], Path, str]
"""(an entry of version 5 with paths as they are written, the path of its source in the document, its files' ending)"""

_KEYS_3 = ("version", "backends", "hierarchy", "logger", "merge_behavior", "deep_merge_options")
_BACKENDS_3 = ("yaml",)
_HIERARCHY_3 = ("nodes/%{::trusted.certname}", "common")
_DATADIR_3 = "environments/%{::environment}/hieradata"
_OF_ENVIRONMENT = re.compile(r"^(.*environments)/%\{(?:::)?environment\}(?:/|$)")
"""The beginning of a datadir that names the folder to which Puppet's server copies the environment."""
_MERGES_3 = ("native", "deep", "deeper")

_KEYS_4 = ("version", "datadir", "hierarchy")
_ENTRY_KEYS_4 = ("name", "backend", "datadir", "path", "paths")
_HIERARCHY_4 = [{"name": "common", "backend": "yaml"}]
_BACKENDS_4 = ("yaml", "json", "hocon")


@dataclass
class _Checks:
    """The checks of a hiera.yaml of any version. A check raises BadData with the line of a path in the document.

    document: the parsed hiera.yaml

    `fault` and `invalid` return an error and raise nothing. `map`, `text` and `texts` return the checked value: a map,
    a text that is not empty, a list of at least one such text. `known` checks the keys of a map. `once` checks that a
    name is new, and notes it.
    """

    document: Document

    def fault(self, kind: Kind, message: str, path: Path = (), hint: str | None = None) -> BadData:
        """The error of a kind, with the line of *path* in the document; the caller raises it."""
        return bad_data(self.document, kind, message, path, hint)

    def invalid(self, message: str, path: Path = (), hint: str | None = None) -> BadData:
        """The error for a configuration that is not valid, as `fault` gives it."""
        return self.fault(CONFIG_INVALID, message, path, hint)

    def known(self, tree: Mapping[Any, Any], known: tuple[str, ...], path: Path) -> None:
        """Check that all keys of a map are in *known*. raises: BadData, for the first other key, with a similar key

        path: the path of the map in the document, for the line of the error
        """
        for key in tree:
            if key not in known:
                hint = hint_for(key, known) or f"known are {', '.join(known[:8])}"
                raise self.invalid(f"unknown key {key!r}", (*path, key), hint)

    def map(self, value: Any, path: Path, what: str = "", hint: str | None = None) -> dict[Any, Any]:
        """The value, which must be a map. what: its name in the message; "": the last step of *path*"""
        if not isinstance(value, dict):
            raise self.invalid(f"{what or path[-1]} must be a map", path, hint)
        return value

    def text(self, value: Any, path: Path, what: str = "") -> str:
        """The value, which must be a text that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.invalid(f"{what or path[-1]} must be a text", path)
        return value

    def texts(self, value: Any, path: Path) -> tuple[str, ...]:
        """The value as a tuple. It must be a list of at least one text, none of them empty."""
        if not isinstance(value, list) or not value:
            raise self.invalid(f"{path[-1]} must be a list of at least one text", path)
        return tuple(self.text(entry, (*path, at), f"each of {path[-1]}") for at, entry in enumerate(value))

    def once(self, name: str, path: Path, named: dict[str, Path]) -> None:
        """Check that no earlier entry has the name, and add it to *named*. raises: BadData

        named: name -> path of the earlier entries
        """
        if name in named:
            raise self.fault(
                DUPLICATE_HIERARCHY_NAME,
                f"two entries are called {name!r}, the first in line {self.document.place(named[name])[0]}",
                (*path, "name"),
                "rename one of them",
            )
        named[name] = path


def _check_version_3(tree: Mapping[Any, Any], checks: _Checks) -> None:
    """Check the keys and types of a hiera.yaml of version 3, also if that layer does not use it. raises: BadData

    tree:   the map of the document
    checks: the checks for the document
    """
    backends = _texts(tree, "backends", _BACKENDS_3, checks)
    _texts(tree, "hierarchy", _HIERARCHY_3, checks)
    checks.known(tree, (*_KEYS_3, *backends), ())
    if "logger" in tree:
        checks.text(tree["logger"], ("logger",))
    if tree.get("merge_behavior") not in (None, *_MERGES_3):
        raise checks.invalid("unknown merge_behavior", ("merge_behavior",), f"there are {', '.join(_MERGES_3)}")
    for key in ("deep_merge_options", *backends):
        if key in tree:
            checks.map(tree[key], (key,))


def _entries_of_version_3(
    tree: Mapping[Any, Any], checks: _Checks, codedir: str | None = None
) -> Iterator[_ConvertedEntry]:
    """Yield an entry for each backend of a hiera.yaml of version 3; nothing for an empty hierarchy.

    tree:    has passed `_check_version_3`
    codedir: the folder of all code, for the default datadir; None makes datadirs relative to the environment
    raises:  BadData, for a backend that is named twice, or a datadir or ending of a wrong type
    """
    backends = _texts(tree, "backends", _BACKENDS_3, checks)
    names = _texts(tree, "hierarchy", _HIERARCHY_3, checks)
    for at, backend in enumerate(backends):
        if backend in backends[:at]:
            raise checks.invalid(f"the backend {backend!r} is named twice", ("backends", at), "remove one of them")
        settings = dict(tree.get(backend) or {})
        datadir, ending = settings.pop("datadir", None), settings.pop("extension", None)
        if datadir is None:
            datadir = os.path.join(codedir or "", _DATADIR_3)
        if codedir is None and isinstance(datadir, str):
            datadir = _OF_ENVIRONMENT.sub("", datadir, count=1) or "."
        entry = {"name": backend, "datadir": datadir, **_function(backend, settings), "paths": [*names]}
        if names:
            path = (backend,) if backend in tree else ("backends", at)
            yield entry, path, _ending(backend) if ending is None else f".{ending}"


def _entries_of_version_4(tree: Mapping[Any, Any], checks: _Checks) -> Iterator[_ConvertedEntry]:
    """Yield an entry for each level of a hiera.yaml of version 4; a level with an empty list of paths gives none.

    tree:   the map of the document
    checks: the checks for the document
    raises: BadData, for a fault of the document, while entries are taken
    """
    checks.known(tree, _KEYS_4, ())
    folder = "data" if tree.get("datadir") is None else checks.text(tree["datadir"], ("datadir",))
    hierarchy = _HIERARCHY_4 if tree.get("hierarchy") is None else tree["hierarchy"]
    if not isinstance(hierarchy, list):
        raise checks.invalid("hierarchy must be a list", ("hierarchy",))
    named: dict[str, Path] = {}
    for at, given in enumerate(hierarchy):
        path = ("hierarchy", at)
        checks.known(checks.map(given, path, "an entry of a hierarchy"), _ENTRY_KEYS_4, path)
        name, backend = (checks.text(given.get(key), (*path, key)) for key in ("name", "backend"))
        if backend not in _BACKENDS_4:
            message, hint = f"the backend {backend!r} does not exist here", f"there are {', '.join(_BACKENDS_4)}"
            raise checks.invalid(message, (*path, "backend"), hint)
        checks.once(name, path, named)  # also for an entry without paths, which is no level
        one = checks.text(given.get("path", name), (*path, "path"))
        names = _texts(given, "paths", (one,), checks, path)
        datadir = checks.text(given.get("datadir", folder), (*path, "datadir"))
        if names:
            entry = {"name": name, "datadir": datadir, **_function(backend, {}), "paths": [*names]}
            yield entry, path, _ending(backend)


def _version_5_hint(made: Iterable[_ConvertedEntry]) -> str:
    """A hint with the same hierarchy in version 5, as JSON. If it has no entry or a fault, the hint is general advice.

    made: the entries from version 3 or 4; a BadData while they are taken is not raised
    """
    try:
        entries = [
            {**entry, "paths": [with_ending(name, ending) for name in entry["paths"]]} for entry, _, ending in made
        ]
    except BadData:
        entries = []
    if not entries:
        return "write `version: 5` and a hierarchy, each entry with a name and a path (no ending is added to it)"
    return f"write {json.dumps({'version': 5, 'hierarchy': entries})}"


def _function(backend: str, settings: dict[str, Any]) -> dict[str, Any]:
    if backend in _BACKENDS_4:
        return {"data_hash": f"{backend}_data"}
    function = {"lookup_key": "eyaml_lookup_key"} if backend == "eyaml" else {"hiera3_backend": backend}
    return {**function, "options": settings} if settings else function


def _ending(backend: str) -> str:
    return ".conf" if backend == "hocon" else f".{backend}"


def with_ending(name: str, ending: str) -> str:
    """A file name with its ending, which is added where the name does not end in it.

    >>> with_ending("common", ".yaml"), with_ending("common.yaml", ".yaml"), with_ending("common", "")
    ('common.yaml', 'common.yaml', 'common')
    """
    return name if name.endswith(ending) else name + ending


def _texts(
    tree: Mapping[Any, Any], key: str, default: tuple[str, ...], checks: _Checks, path: Path = ()
) -> tuple[str, ...]:
    """The texts under a key that has one text or a list of texts; *default* where it is absent or null."""
    given = tree.get(key)
    if not isinstance(given, list):
        return default if given is None else (checks.text(given, (*path, key)),)
    return checks.texts(given, (*path, key)) if given else ()


NOT_INSTALLED = "module"
"""The kind of the only level of a module that is not installed."""
FILE_FUNCTIONS = ("yaml_data", "json_data", "eyaml_lookup_key")
FUNCTION_KINDS = ("data_hash", "lookup_key", "data_dig", "hiera3_backend", "v4_data_hash")
URIS = ("uri", "uris")
LOCATION_KINDS = ("path", "paths", "glob", "globs", "mapped_paths", *URIS)
_ENTRY_KEYS = ("name", "options", "datadir", *FUNCTION_KINDS[:3], *LOCATION_KINDS, *FUNCTION_KINDS[3:])
_DEFAULTS_KEYS = ("datadir", "options", *FUNCTION_KINDS[:3])
_TOP_KEYS = ("version", "defaults", "hierarchy", "plan_hierarchy", "default_hierarchy")
_OPTION_NAME = re.compile(r"[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?")
_CODEDIR = "/etc/puppetlabs/code"


class HierarchyEntry(NamedTuple):
    """One level of a hierarchy. What hiera.yaml does not set at the level is taken from its `defaults`.

    name:      the name of the level
    kind:      the kind of its data function: "data_hash", "lookup_key", "data_dig", ...
    function:  the name of its data function: "yaml_data"
    location:  "path", "paths", "glob", "globs", "mapped_paths", "uri", "uris", or None for no location
    declared:  the templates of its locations; for mapped_paths its three texts: variable, local variable, template
    datadir:   the template of its folder
    options:   the options for the data function
    line:      its line in hiera.yaml; None for a built-in entry
    ending:    for versions 3 and 4, the ending that is added to a filled-in file name, such as ".yaml"
    templates: `declared`, each with the ending
    """

    name: str
    kind: str
    function: str
    location: str | None
    declared: tuple[str, ...]
    datadir: str
    options: Mapping[str, Any] = NO_ENTRIES
    line: int | None = None
    ending: str = ""

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates of its locations, each with its ending."""
        return tuple(with_ending(one, self.ending) for one in self.declared) if self.ending else self.declared


class HieraConfig(NamedTuple):
    """The checked content of a hiera.yaml.

    file:     its name in messages; None for the built-in configuration
    folder:   the folder that its datadirs are relative to
    entries:  its levels, the strongest first
    defaults: the entries of `default_hierarchy`; None if it has none
    built_in: whether it takes the place of a global hiera.yaml that does not exist
    """

    file: str | None
    folder: pathlib.Path
    entries: tuple[HierarchyEntry, ...]
    defaults: tuple[HierarchyEntry, ...] | None = None
    built_in: bool = False


BUILT_IN = (HierarchyEntry("Common", "data_hash", "yaml_data", "path", ("common.yaml",), "data"),)
"""The hierarchy of a hiera.yaml that has none, and of a global hiera.yaml that does not exist."""


def read_config(
    path: pathlib.Path,
    name: str,
    layer: str,
    warn: Callable[[BadData], None],
    refuse: Callable[[BadData], None],
    codedir: str | None = None,
) -> HieraConfig | None:
    """Read a hiera.yaml for a layer; None if it gives the layer no hierarchy.

    For an environment or a module, that is a file of version 3 or without a version, and a file without a map. The
    global layer reads each of these as version 3.
    layer:   "global", "environment" or "module"
    warn:    called with the warnings of Puppet: versions 3 and 4 where they count
    refuse:  called with a fault that Puppet 8 refuses and Puppet 7 warns of, before None is returned
    codedir: the folder of all code, as Puppet has it; version 3 looks for data there
    raises:  FileNotFoundError; BadData with file and line
    """
    document = read_document(path, name, "yaml", marks=True).document  # each entry notes its line
    return _Reader(document, path.parent, layer, warn, refuse, codedir or _CODEDIR).config()


@dataclass
class _Reader(_Checks):
    folder: pathlib.Path
    layer: str
    warn: Callable[[BadData], None]
    refuse: Callable[[BadData], None]
    codedir: str

    def config(self) -> HieraConfig | None:
        tree = self.document.tree
        if not isinstance(tree, dict):
            return self._no_map()
        version = tree.get("version")
        if version is None or (version == 3 and type(version) is int):
            return self._version_3(tree)
        if type(version) is not int or version != 5:
            if type(version) is int and version == 4:
                return self._version_4(tree)
            message = f"version {version!r} is not read here"
            raise self.fault(UNSUPPORTED_VERSION, message, ("version",), "write the number 5")
        self.known(tree, _TOP_KEYS, ())
        defaults = self._defaults(tree)
        default_entries = None
        if tree.get("default_hierarchy") is not None:
            if self.layer != "module":
                raise self.fault(
                    DEFAULT_HIERARCHY_NOT_IN_MODULE,
                    f"default_hierarchy is for modules, and this is the {self.layer} layer",
                    ("default_hierarchy",),
                    "move its entries to the end of hierarchy",
                )
            default_entries = self._hierarchy(tree["default_hierarchy"], "default_hierarchy", defaults)
        entries: tuple[HierarchyEntry, ...] = BUILT_IN
        if tree.get("hierarchy") is not None:
            entries = self._hierarchy(tree["hierarchy"], "hierarchy", defaults)
        elif tree.get("defaults") is not None:
            entries = (self._entry({"name": "Common", "path": "common.yaml"}, (), defaults),)
        return HieraConfig(self.document.file, self.folder, entries, default_entries)

    def _no_map(self) -> HieraConfig | None:
        found = f"hiera.yaml {'is empty' if self.document.tree is None else 'is not a map'}"
        if self.layer == "global":
            return self._version_3({}, CONFIG_INVALID, f"{found}: it counts as version 3")
        message = f"{found}: the {self.layer} layer has no hierarchy of its own"
        self.refuse(self.invalid(message, hint="write `version: 5` and a hierarchy"))
        return None

    def _version_3(
        self, tree: Mapping[Any, Any], kind: Kind = OLD_VERSION, message: str = "version 3 is deprecated"
    ) -> HieraConfig | None:
        _check_version_3(tree, self)
        if self.layer == "global":
            return self._old(_entries_of_version_3(tree, self, self.codedir), pathlib.Path(), kind, message)
        message = f"version 3 counts in the global layer alone: the {self.layer} layer has no data"
        self.refuse(
            self.fault(UNSUPPORTED_VERSION, message, ("version",), _version_5_hint(_entries_of_version_3(tree, self)))
        )
        return None

    def _version_4(self, tree: Mapping[Any, Any]) -> HieraConfig:
        made = _entries_of_version_4(tree, self)
        if self.layer == "global":
            message = "version 4 is not read in the global layer"
            raise self.fault(UNSUPPORTED_VERSION, message, ("version",), _version_5_hint(made))
        return self._old(made, self.folder, OLD_VERSION, "version 4 is deprecated")

    def _old(self, made: Iterable[_ConvertedEntry], folder: pathlib.Path, kind: Kind, message: str) -> HieraConfig:
        """The configuration of an old version, and a warning that shows it as version 5.

        folder: the folder that its datadirs are relative to
        """
        old = [*made]
        self.warn(self.fault(kind, message, ("version",), _version_5_hint(old)))
        entries = self._entries(((entry, path) for entry, path, _ in old), self._defaults({}))
        endings = (ending for _, _, ending in old)
        entries = tuple(one._replace(ending=ending) for one, ending in zip(entries, endings, strict=True))
        return HieraConfig(self.document.file, folder, entries)

    def _options(self, tree: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
        options = self.map(tree.get("options", {}), (*path, "options"))
        for name in options:
            if not isinstance(name, str) or not _OPTION_NAME.fullmatch(name):
                raise self.invalid(f"{name!r} is not a name of an option", (*path, "options", name))
            if name in ("path", "uri"):
                raise self.fault(
                    RESERVED_OPTION, f"the option {name} is reserved", (*path, "options", name), "use another name"
                )
        return options

    def _function(self, tree: Mapping[str, Any], path: Path) -> tuple[str, str] | None:
        kinds = [kind for kind in FUNCTION_KINDS if kind in tree]
        if len(kinds) > 1:
            raise self.fault(
                MULTIPLE_DATA_FUNCTIONS,
                f"{' and '.join(kinds)} in one place",
                (*path, kinds[1]),
                "one entry has one data function",
            )
        return (kinds[0], self.text(tree[kinds[0]], (*path, kinds[0]))) if kinds else None

    def _defaults(self, tree: Mapping[str, Any]) -> dict[str, Any]:
        if tree.get("defaults") is None:
            return {"function": ("data_hash", "yaml_data"), "datadir": "data", "options": {}}
        given = self.map(tree["defaults"], ("defaults",))
        self.known(given, _DEFAULTS_KEYS, ("defaults",))
        datadir = given.get("datadir", "data")
        return {
            "function": self._function(given, ("defaults",)),
            "datadir": self.text(datadir, ("defaults", "datadir")),
            "options": self._options(given, ("defaults",)),
        }

    def _hierarchy(self, hierarchy: Any, key: str, defaults: dict[str, Any]) -> tuple[HierarchyEntry, ...]:
        if not isinstance(hierarchy, list):
            raise self.invalid(f"{key} must be a list", (key,))
        return self._entries(((given, (key, at)) for at, given in enumerate(hierarchy)), defaults)

    def _entries(self, written: Iterable[tuple[Any, Path]], defaults: dict[str, Any]) -> tuple[HierarchyEntry, ...]:
        """The entries of a hierarchy. written: each entry with its path in the document, for messages"""
        entries: list[HierarchyEntry] = []
        named: dict[str, Path] = {}
        for given, path in written:
            entry = self._entry(given, path, defaults)
            self.once(entry.name, path, named)
            entries.append(entry)
        return tuple(entries)

    def _entry(self, given: Any, path: Path, defaults: dict[str, Any]) -> HierarchyEntry:
        self.map(given, path, "an entry of a hierarchy", "write `- name: ...` and a path")
        self.known(given, _ENTRY_KEYS, path)
        if "name" not in given:
            raise self.invalid("an entry without a name", path, "add `name: ...`")
        name = self.text(given["name"], (*path, "name"))
        function = self._function(given, path)
        options = self._options(given, path) or defaults["options"]
        function = function or defaults["function"]
        if function is None:
            raise self.fault(
                MISSING_DATA_FUNCTION,
                f"the entry {name!r} has no data function, and neither have the defaults",
                path,
                "add `data_hash: yaml_data` to defaults",
            )
        kinds = [kind for kind in LOCATION_KINDS if kind in given]
        if len(kinds) > 1:
            raise self.fault(
                MULTIPLE_LOCATIONS,
                f"the entry {name!r} has both {' and '.join(kinds)}",
                (*path, kinds[1]),
                "one entry has one kind of location",
            )
        declared: tuple[str, ...] = ()
        location = kinds[0] if kinds else None
        if location is not None:
            value, place = given[location], (*path, location)
            declared = self.texts(value, place) if location.endswith("s") else (self.text(value, place),)
            if location == "mapped_paths" and len(declared) != 3:
                raise self.invalid("mapped_paths takes a variable, a name and a template", place)
        if options and function[1] in FILE_FUNCTIONS[:2]:
            raise self.fault(
                DATA_FUNCTION_NEEDS_PATH,
                f"{function[1]} takes no options, and Puppet refuses every lookup here",
                (*path, "options") if "options" in given else ("defaults", "options"),
                "remove them, or name the function that they are for",
            )
        if (location is None or location in URIS) and function[1] in FILE_FUNCTIONS:
            raise self.fault(
                DATA_FUNCTION_NEEDS_PATH, f"{function[1]} needs to know a file", path, "add `path: common.yaml`"
            )
        datadir = self.text(given["datadir"], (*path, "datadir")) if "datadir" in given else defaults["datadir"]
        copied = _OF_ENVIRONMENT.match(datadir) if self.layer == "environment" and os.path.isabs(datadir) else None
        if copied is not None and not os.path.isdir(copied[1]):
            datadir = datadir[copied.end() :] or "."
        line = self.document.place(path)[0] if path else None
        kind, called = function
        return HierarchyEntry(name, kind, called, location, declared, datadir, options, line)
