"""hiera.yaml, version 5: what it says, checked, each fault with its line.

It knows which files a hierarchy names only as templates; filling them in is the
business of `locations`, reading them that of `data`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from nodeattrs.adapters.hiera.data import read_document
from nodeattrs.adapters.hiera.errors import BadData, bad_data
from nodeattrs.core.tree import NO_ENTRIES, Path, meant
from nodeattrs.lazily import regexp
from nodeattrs.records import NamedTuple
from nodeattrs.texts.documents import Document
from nodeattrs.typed import Any

NOT_INSTALLED = "module"
"""The kind of the one level of a module that is named and not there."""
FILE_FUNCTIONS = ("yaml_data", "json_data", "eyaml_lookup_key")
FUNCTION_KINDS = ("data_hash", "lookup_key", "data_dig", "hiera3_backend", "v4_data_hash")
URIS = ("uri", "uris")
LOCATION_KINDS = ("path", "paths", "glob", "globs", "mapped_paths", *URIS)
_ENTRY_KEYS = ("name", "options", "datadir", *FUNCTION_KINDS[:3], *LOCATION_KINDS, *FUNCTION_KINDS[3:])
_DEFAULTS_KEYS = ("datadir", "options", *FUNCTION_KINDS[:3])
_TOP_KEYS = ("version", "defaults", "hierarchy", "plan_hierarchy", "default_hierarchy")
_OPTION_NAME = regexp(r"[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?")
_CONVERT = (
    "write `version: 5`; each line of the old hierarchy becomes an entry: "
    "`- name: common` with `path: common.yaml` (the ending is no longer added)"
)


def _as_version_5(tree: Mapping[Any, Any], hierarchy: list[str]) -> str | None:
    """What to write in place of a version 3 file: YAML that gives the same; None where only Ruby can say."""
    backends = tree.get("backends", "yaml")
    backend = backends[0] if isinstance(backends, list) and len(backends) == 1 else backends
    names = [name for name in dict.fromkeys(hierarchy) if name]
    if backend not in ("yaml", "json", "eyaml") or not names:
        return None
    settings = tree.get(backend)
    options = dict(settings) if isinstance(settings, dict) else {}
    function = {"lookup_key": "eyaml_lookup_key"} if backend == "eyaml" else {"data_hash": f"{backend}_data"}
    defaults = {"datadir": options.pop("datadir", "data"), **function}
    ending = options.pop("extension", backend)
    if options and backend == "eyaml":
        defaults["options"] = options
    entries = [{"name": name, "path": f"{name}.{ending}"} for name in names]
    import json

    return f"write {json.dumps({'version': 5, 'defaults': defaults, 'hierarchy': entries})}"


class Entry(NamedTuple):
    """One level of a hierarchy.

    kind, function: how its data is had: ("data_hash", "yaml_data"), ...
    location:       "path", "paths", "glob", "globs", "mapped_paths", "uri", "uris", or None
    declared:       the templates of its locations; for mapped_paths the three texts
    datadir:        the template of its folder
    options:        for the data function
    line:           where it stands
    """

    name: str
    kind: str
    function: str
    location: str | None
    declared: tuple[str, ...]
    datadir: str
    options: Mapping[str, Any] = NO_ENTRIES
    line: int | None = None


class Config(NamedTuple):
    """A hiera.yaml.

    file:     its name in messages; None for the built-in one
    folder:   where its datadirs are counted from
    defaults: the entries of `default_hierarchy`; None where there is none
    """

    file: str | None
    folder: pathlib.Path
    entries: tuple[Entry, ...]
    defaults: tuple[Entry, ...] | None = None
    built_in: bool = False


BUILT_IN = (Entry("Common", "data_hash", "yaml_data", "path", ("common.yaml",), "data"),)
"""The hierarchy where hiera.yaml has none, and that of a global layer without a file."""


def read_config(path: pathlib.Path, name: str, layer: str) -> Config | BadData:
    """Read a hiera.yaml for a layer.

    layer:  "global", "environment" or "module"
    return: the configuration; or, for an empty file, and for version 3 in an environment or
            module, which Puppet ignores, the warning that says so
    raises: BadData with file and line
    """
    document = read_document(path, name, "yaml").document
    return _Reader(document, path.parent, layer).config()


class _Reader:
    def __init__(self, document: Document, folder: pathlib.Path, layer: str) -> None:
        self.document = document
        self.folder = folder
        self.layer = layer

    def fault(self, kind: str, message: str, path: Path = (), hint: str | None = None) -> BadData:
        return bad_data(self.document, kind, message, path, hint)

    def invalid(self, message: str, path: Path = (), hint: str | None = None) -> BadData:
        return self.fault("config_invalid", message, path, hint)

    def config(self) -> Config | BadData:
        tree = self.document.tree
        if not isinstance(tree, dict):
            message, hint = "hiera.yaml must be a map", "write `version: 5` and a hierarchy"
            if tree is None:
                return self.invalid(
                    f"hiera.yaml is empty: the {self.layer} layer has no hierarchy of its own", hint=hint
                )
            raise self.invalid(message, hint=hint)
        version = tree.get("version")
        if version is None or version == 3:
            return self._version_3(tree)
        if type(version) is not int or version != 5:
            hint = _CONVERT if version == 4 else "write the number 5"
            raise self.fault("unsupported_version", f"version {version!r} is not read here", ("version",), hint)
        self._known(tree, _TOP_KEYS, ())
        defaults = self._defaults(tree)
        default_entries = None
        if tree.get("default_hierarchy") is not None:
            if self.layer != "module":
                raise self.fault(
                    "default_hierarchy_not_in_module",
                    f"default_hierarchy is for modules, and this is the {self.layer} layer",
                    ("default_hierarchy",),
                    "move its entries to the end of hierarchy",
                )
            default_entries = self._hierarchy(tree["default_hierarchy"], "default_hierarchy", defaults)
        entries: tuple[Entry, ...] = BUILT_IN
        if tree.get("hierarchy") is not None:
            entries = self._hierarchy(tree["hierarchy"], "hierarchy", defaults)
        elif tree.get("defaults") is not None:
            entries = (self._entry({"name": "Common", "path": "common.yaml"}, (), defaults),)
        return Config(self.document.file, self.folder, entries, default_entries)

    def _version_3(self, tree: dict[Any, Any]) -> BadData:
        hierarchy = tree.get("hierarchy")
        texts = hierarchy if isinstance(hierarchy, list) else [hierarchy or ""]
        if not all(isinstance(entry, str) for entry in texts):
            raise self.invalid("hiera.yaml says no version, and is none of version 3", hint="write `version: 5`")
        found = "version 3 is not read here"
        if self.layer == "global":
            raise self.fault("unsupported_version", found, ("version",), _CONVERT)
        hint = _as_version_5(tree, texts) or _CONVERT
        return self.fault("unsupported_version", f"{found}: the {self.layer} layer has no data", ("version",), hint)

    def _known(self, tree: Mapping[Any, Any], known: tuple[str, ...], path: Path) -> None:
        for key in tree:
            if key not in known:
                hint = meant(key, known) or f"known are {', '.join(known[:8])}"
                raise self.invalid(f"nobody knows the key {key!r}", (*path, key), hint)

    def _text(self, value: Any, path: Path) -> str:
        if not isinstance(value, str) or not value:
            raise self.invalid(f"{path[-1]} must be a text", path)
        return value

    def _texts(self, value: Any, path: Path) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise self.invalid(f"{path[-1]} must be a list of at least one text", path)
        return tuple(self._text(entry, (*path, at)) for at, entry in enumerate(value))

    def _options(self, tree: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
        options = tree.get("options", {})
        if not isinstance(options, dict):
            raise self.invalid("options must be a map", (*path, "options"))
        for name in options:
            if not isinstance(name, str) or not _OPTION_NAME.fullmatch(name):
                raise self.invalid(f"{name!r} is no name of an option", (*path, "options", name))
            if name in ("path", "uri"):
                raise self.fault(
                    "reserved_option", f"the option {name} is reserved", (*path, "options", name), "use another name"
                )
        return options

    def _function(self, tree: Mapping[str, Any], path: Path) -> tuple[str, str] | None:
        kinds = [kind for kind in FUNCTION_KINDS if kind in tree]
        if len(kinds) > 1:
            raise self.fault(
                "multiple_data_functions",
                f"{' and '.join(kinds)} in one place",
                (*path, kinds[1]),
                "one entry has one data function",
            )
        return (kinds[0], self._text(tree[kinds[0]], (*path, kinds[0]))) if kinds else None

    def _defaults(self, tree: dict[str, Any]) -> dict[str, Any]:
        if tree.get("defaults") is None:
            return {"function": ("data_hash", "yaml_data"), "datadir": "data", "options": {}}
        given = tree["defaults"]
        if not isinstance(given, dict):
            raise self.invalid("defaults must be a map", ("defaults",))
        self._known(given, _DEFAULTS_KEYS, ("defaults",))
        datadir = given.get("datadir", "data")
        return {
            "function": self._function(given, ("defaults",)),
            "datadir": self._text(datadir, ("defaults", "datadir")),
            "options": self._options(given, ("defaults",)),
        }

    def _hierarchy(self, hierarchy: Any, key: str, defaults: dict[str, Any]) -> tuple[Entry, ...]:
        if not isinstance(hierarchy, list):
            raise self.invalid(f"{key} must be a list", (key,))
        entries: dict[str, Entry] = {}
        for at, given in enumerate(hierarchy):
            entry = self._entry(given, (key, at), defaults)
            if entry.name in entries:
                raise self.fault(
                    "duplicate_hierarchy_name",
                    f"two entries are called {entry.name!r}, the first in line {entries[entry.name].line}",
                    (key, at, "name"),
                    "rename one of them",
                )
            entries[entry.name] = entry
        return tuple(entries.values())

    def _entry(self, given: Any, path: Path, defaults: dict[str, Any]) -> Entry:
        if not isinstance(given, dict):
            raise self.invalid("an entry of a hierarchy must be a map", path, "write `- name: ...` and a path")
        self._known(given, _ENTRY_KEYS, path)
        if "name" not in given:
            raise self.invalid("an entry without a name", path, "add `name: ...`")
        name = self._text(given["name"], (*path, "name"))
        function = self._function(given, path)
        options = self._options(given, path) or defaults["options"]
        function = function or defaults["function"]
        if function is None:
            raise self.fault(
                "missing_data_function",
                f"the entry {name!r} has no data function, and neither have the defaults",
                path,
                "add `data_hash: yaml_data` to defaults",
            )
        kinds = [kind for kind in LOCATION_KINDS if kind in given]
        if len(kinds) > 1:
            raise self.fault(
                "multiple_locations",
                f"the entry {name!r} has both {' and '.join(kinds)}",
                (*path, kinds[1]),
                "one entry has one kind of location",
            )
        declared: tuple[str, ...] = ()
        location = kinds[0] if kinds else None
        if location is not None:
            value, place = given[location], (*path, location)
            declared = self._texts(value, place) if location.endswith("s") else (self._text(value, place),)
            if location == "mapped_paths" and len(declared) != 3:
                raise self.invalid("mapped_paths takes a variable, a name and a template", place)
        if options and function[1] in FILE_FUNCTIONS[:2]:
            raise self.fault(
                "data_function_needs_path",
                f"{function[1]} takes no options, and Puppet refuses every lookup here",
                (*path, "options") if "options" in given else ("defaults", "options"),
                "remove them, or name the function that they are for",
            )
        if (location is None or location in URIS) and function[1] in FILE_FUNCTIONS:
            raise self.fault(
                "data_function_needs_path", f"{function[1]} needs to know a file", path, "add `path: common.yaml`"
            )
        datadir = self._text(given["datadir"], (*path, "datadir")) if "datadir" in given else defaults["datadir"]
        line = self.document.place(path)[0] if path else None
        kind, called = function
        return Entry(name, kind, called, location, declared, datadir, options, line)
