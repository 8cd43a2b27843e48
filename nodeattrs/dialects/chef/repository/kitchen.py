"""Read the settings of Test Kitchen, and describe each *instance*, a suite on a platform, as a node.

Used by `repository.Repository`. `read_kitchen` parses kitchen.yml or .kitchen.yml, and the local file beside it. The
settings of the provisioner (attributes, run-list, folders) are merged for each instance. ERB is read if it is a
literal; other ERB is unread. No Ruby runs.

source: Test Kitchen's `DataMunger`, `Config#filter_instances` and `Loader::YAML`; kitchen-chef's `prepare_json`
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.chef.repository.roles import NodeFile, UnreadPart, merged_maps
from nodeattrs.errors import DocumentError, InvalidRunListItem
from nodeattrs.formats import documents
from nodeattrs.kinds import KITCHEN_NAME
from nodeattrs.node.run_list import RunListItem
from nodeattrs.project.fields import shape_of

FILES = ("kitchen.yml", ".kitchen.yml")
LOCAL_FILES = (".kitchen.local.yml", "kitchen.local.yml")
_TESTS = "test/integration"
_FOLDERS = ("data_bags", "environments", "roles")
_PATHS = tuple(f"{folder}_path" for folder in _FOLDERS)
_MOVED = ("attributes", "run_list", "named_run_list", "policy_group")
_OF_CHEF = ("chef", "cinc", "dokken", "policyfile")
"""How the names of Chef's provisioners begin. The first one counts for a provisioner without a name."""

_HIDDEN = "\ue000"
"""The placeholder of an ERB expression that was not run."""

_LITERAL = re.compile(r"""'([^'\\]*)'|"([^"\\#]*)"|(\d{1,18})""")

_UNQUOTED = re.compile(r"(?<=[\[, ])((?:recipe|role)\[[\w:.@-]{1,200}\])(?=[,\] ])")
"""An item of a run-list in a flow list, such as `[recipe[app]]`; without quotes that is not YAML."""

Entry = tuple[documents.Document, Path]
"""A kitchen file, and the path of a suite or platform in it."""


class _ProvisionerSettings(NamedTuple):
    """A map in a kitchen file with settings of the provisioner: the map `provisioner`, or a suite or a platform itself.

    document:     the kitchen file
    path:         the path of the map in the document; a path that is not set counts as an empty map
    counted_keys: the keys of the map that are settings; other keys are ignored. (): all keys are settings
    """

    document: documents.Document
    path: Path
    counted_keys: tuple[str, ...] = ()

    def get(self, keys: Path) -> Any:
        """The value at a path in the map; ABSENT where it is not set, or its first key does not count."""
        if self.counted_keys and keys[:1] and keys[0] not in self.counted_keys:
            return ABSENT
        return dig(self.document.tree, (*self.path, *keys))


@dataclass(frozen=True)
class KitchenInstance:
    """A suite on a platform, and the settings of the provisioner for it.

    `get` looks up a setting by its keys, and returns None if it is not set; `text` returns "". `at` gives the place of
    a setting, and `error` returns an error about it.

    suite:    the name of the suite
    platform: the name of the platform; "" if kitchen.yml has no platforms
    sources:  the maps that may have a setting, the strongest first. The first is the suite itself.
    """

    suite: str
    platform: str
    sources: tuple[_ProvisionerSettings, ...]

    @property
    def name(self) -> str:
        """The name that Test Kitchen gives the instance, and that the node has.

        >>> KitchenInstance("my_suite", "ubuntu-22.04", ()).name
        'my-suite-ubuntu-2204'
        """
        text = f"{self.suite}-{self.platform}" if self.platform else self.suite
        return re.sub(r"[_,/]", "-", text).replace(".", "")

    def get(self, *keys: str) -> Any:
        """The value of a setting; None if it is not set. Null counts as not set.

        If several sources have maps for it, the maps are merged. Of other values the strongest is taken.
        keys: the keys of the setting, as in `get("client_rb", "environment")`
        """
        value: Any = None
        for source in reversed(self.sources):
            found = source.get(keys)
            value = value if found is ABSENT or found is None else merged_maps(value, found)
        return value

    def text(self, *keys: str) -> str:
        """A setting as text; "" if it is not set, is not text, or has ERB that was not run."""
        found = self.get(*keys)
        return found if isinstance(found, str) and _HIDDEN not in found else ""

    def error(self, path: Path, message: str) -> DocumentError:
        """Returns a DocumentError about a setting, with its line."""
        place = self.at(path)
        return DocumentError(message, file=place.file, line=place.line)

    def at(self, path: Path) -> Origin:
        """The place of a setting in its strongest source; the place of the suite where it is not set."""
        setting = next((source for source in self.sources if source.get(path) is not ABSENT), None)
        document, under, _ = setting or self.sources[0]
        return document.locator("kitchen", self.name).at((*under, *path) if setting is not None else under)


@dataclass(frozen=True)
class _Attributes:
    """A locator of an instance's normal attributes, as a node's file has them."""

    instance: KitchenInstance

    def at(self, path: Path) -> Origin:
        return self.instance.at(("attributes", *path[1:]) if path[:1] == ("normal",) else path)


@dataclass(frozen=True)
class Kitchen:
    """The instances that the kitchen.yml of a repository describes. Each is a node; `node` gives its description.

    `folders` gives the folders of roles, environments and data bags that an instance uses. For an unknown name `node`
    gives None, and `folders` {}.

    root:      the folder of the repository
    instances: name -> instance, in the order of the file; {} without kitchen.yml
    unread:    pieces of ERB that were not run and may change any instance
    warnings:  about the kitchen files
    fault:     the error in reading kitchen.yml; None without an error, and without kitchen.yml
    """

    root: pathlib.Path
    instances: Mapping[str, KitchenInstance] = field(default_factory=dict)
    unread: tuple[UnreadPart, ...] = ()
    warnings: tuple[DocumentError, ...] = ()
    fault: DocumentError | None = None

    def node(self, name: str) -> NodeFile | None:
        """The run-list, attributes, environment and policy of an instance; None for an unknown name.

        raises: DocumentError, for attributes that are not a map; InvalidRunListItem
        """
        one = self.instances.get(name)
        if one is None:
            return None
        attributes, hidden = _attributes_of(one)
        # Without a run-list of suite and platform, the provisioner's own counts.
        items = [*_run_list_of(one, "platform"), *_run_list_of(one, "suite")] or _items(one, one.get("run_list"))
        policyfile = self._policyfile(one)
        named = [item for item in items if _HIDDEN not in item]
        unread = [*self.unread]
        unread += [UnreadPart(("normal", *path), one.at(("attributes", *path)), _NOT_RUN) for path in hidden]
        unread += [UnreadPart(None, one.at(keys), _NOT_RUN) for keys in _DECIDING if _is_hidden(one.get(*keys))]
        unread += [UnreadPart(None, one.at((path,)), _OUTSIDE) for path in _PATHS if self._is_outside(one.text(path))]
        if len(named) < len(items):
            unread.append(UnreadPart(None, one.at(("run_list",)), _NOT_RUN))
        environment = one.text("client_rb", "environment") or one.text("solo_rb", "environment")
        return NodeFile(
            name,
            environment or None,
            () if policyfile else tuple(_checked_item(item, one) for item in named),
            normal=attributes,
            locator=_Attributes(one),
            policy_name=policyfile,
            policy_group=(one.text("policy_group") or "local") if policyfile else "",
            named_run_list=one.text("named_run_list"),
            unread=tuple(unread),
        )

    def _policyfile(self, one: KitchenInstance) -> str:
        named = one.text("policyfile_path") or one.text("policyfile")
        path = os.path.normpath(named or "Policyfile.rb")
        return path if named or (self.root / path).is_file() else ""

    def folders(self, name: str) -> dict[str, str]:
        """Folder ("roles", "environments", "data_bags") -> the folder that an instance uses, relative to the root.

        The first of these counts: the folder in the settings (`roles_path`), an existing folder beside the tests of the
        suite, an existing folder beside all tests, the folder of the repository. A folder outside of the repository is
        left out. {} for an unknown name.
        """
        one = self.instances.get(name)
        if one is None:
            return {}
        found = {}
        for folder in _FOLDERS:
            named = one.text(f"{folder}_path")
            usual = (f"{_TESTS}/{one.suite}/{folder}", f"{_TESTS}/{folder}")
            place = named or next((place for place in usual if (self.root / place).is_dir()), folder)
            found[folder] = os.path.normpath(place)
        return {folder: place for folder, place in found.items() if not self._is_outside(place)}

    def _is_outside(self, place: str) -> bool:
        """Whether a folder lies outside of the repository, also behind a link."""
        real = pathlib.Path(os.path.realpath(self.root / place))
        return not real.is_relative_to(os.path.realpath(self.root))


_NOT_RUN = "is ERB, which was not run"
_OUTSIDE = "names a folder outside of the repository, which is not read,"
_DECIDING = (
    *(("policyfile_path",), ("policyfile",), ("policy_group",), ("named_run_list",)),
    *(("client_rb", "environment"), ("solo_rb", "environment"), *((path,) for path in _PATHS)),
)
"""Settings that decide what a node has. ERB in one of them makes any attribute unknown."""


def _checked_item(item: str, one: KitchenInstance) -> str:
    try:
        return str(RunListItem.parse(item))
    except InvalidRunListItem as error:
        error.details = (f"it is named by {one.at(('run_list',))}",)
        raise


def read_kitchen(root: pathlib.Path) -> Kitchen:
    """Read the kitchen.yml of a repository, with its local file; a Kitchen without instances where it does not exist.

    raises: DocumentError, for a file that cannot be parsed, and for kitchen.yml beside .kitchen.yml
    """
    found = [name for name in FILES if os.path.lexists(root / name)]
    if not found:
        return Kitchen(root)
    if len(found) == 2:
        raise DocumentError("is beside .kitchen.yml, which Test Kitchen refuses", file=FILES[0], hint="keep one")
    found += [name for name in LOCAL_FILES if os.path.isfile(root / name)][:1]
    texts = tuple((name, documents.text_of(root / name, name)) for name in found)
    return Kitchen(root, *CACHE.get(("kitchen", in_force(), texts), lambda: _parsed(texts)))


_Parsed = tuple[dict[str, KitchenInstance], tuple[UnreadPart, ...], tuple[DocumentError, ...]]


def _parsed(texts: Iterable[tuple[str, str]]) -> _Parsed:
    """The instances, the unread pieces of ERB and the warnings of kitchen files. texts: (name, text) of each

    raises: DocumentError
    """
    unread: list[UnreadPart] = []
    files = [_document(name, text, unread) for name, text in texts]
    layers = [one for one in files if isinstance(one.tree, dict)]
    warnings = tuple(warning for one in layers for warning in (*one.warnings, *_nameless(one)))
    instances: dict[str, KitchenInstance] = {}
    for one in _instances(layers):
        instances.setdefault(one.name, one)
    return instances, tuple(unread), warnings


def _nameless(document: documents.Document) -> Iterator[DocumentError]:
    """Yield a warning for each suite and platform whose name is ERB: it gives no node."""
    for key in ("suites", "platforms"):
        for one, path in _entries([document], key):
            if _HIDDEN in _name_of((one, path)):
                warning = document.error(f"the name of one of the {key} {_NOT_RUN}", (*path, "name"))
                warning.kind = KITCHEN_NAME
                yield warning


def _document(name: str, text: str, unread: list[UnreadPart]) -> documents.Document:
    """The document of a kitchen file, with ERB replaced as by `_of_erb`; adds code that was not run to *unread*."""
    pieces: list[str] = []
    at, line = 0, 1
    while (begin := text.find("<%", at)) >= 0 and (end := text.find("%>", begin)) >= 0:
        inside = text[begin + 2 : end]
        line += text.count("\n", at, begin)
        pieces += [text[at:begin], _of_erb(inside, Origin("kitchen", name, name, line), unread)]
        line += inside.count("\n")
        at = end + 2
    text = "".join((*pieces, text[at:]))
    try:
        return documents.parse(text, name, "yaml")
    except DocumentError:
        quoted = _UNQUOTED.sub(r'"\1"', text)
        if quoted == text:
            raise
        return documents.parse(quoted, name, "yaml")


def _of_erb(inside: str, origin: Origin, unread: list[UnreadPart]) -> str:
    """The text that replaces a piece of ERB: the value of a literal, a mark for another expression, else nothing.

    The text has as many lines as the piece. A statement is added to *unread*.
    """
    lines = "\n" * inside.count("\n")
    if inside.startswith("#"):
        return lines
    if not inside.startswith("="):
        code = " ".join(inside.split())[:60]
        if code.strip("-") not in ("", "end"):
            unread.append(UnreadPart(None, origin, f"`<% {code} %>` {_NOT_RUN}"))
        return lines
    literal = _LITERAL.fullmatch(inside[1:].rstrip("-").strip())
    return f"{_HIDDEN if literal is None else next(one for one in literal.groups() if one is not None)}{lines}"


def _instances(layers: list[documents.Document]) -> Iterator[KitchenInstance]:
    common = [_ProvisionerSettings(one, ("provisioner",)) for one in reversed(layers)]
    suites, platforms = (_entries(layers, key) for key in ("suites", "platforms"))
    no_platform: list[Entry | None] = [None]
    for suite_at in suites:
        suite = _name_of(suite_at)
        for platform_at in platforms or no_platform:
            platform = "" if platform_at is None else _name_of(platform_at)
            if not _is_included(suite_at, platform) or _HIDDEN in suite + platform:
                continue
            own = [
                *_settings_of(*suite_at, (*_MOVED, *_PATHS)),
                *(_settings_of(*platform_at, _MOVED) if platform_at else ()),
            ]
            one = KitchenInstance(suite, platform, (*own, *common))
            if one.name and _provisioner_of(one).startswith(_OF_CHEF):
                yield one


def _settings_of(
    document: documents.Document, path: Path, moved: tuple[str, ...]
) -> tuple[_ProvisionerSettings, _ProvisionerSettings]:
    """The settings of a suite or a platform, the strongest first. moved: keys that count outside of `provisioner`"""
    return _ProvisionerSettings(document, path, moved), _ProvisionerSettings(document, (*path, "provisioner"))


def _provisioner_of(one: KitchenInstance) -> str:
    """The name of the provisioner, from a map or a text; "chef" where it has no name, or a name by ERB."""
    whole = [source.get(()) for source in one.sources if source.path[-1:] == ("provisioner",)]
    names = (found.get("name") if isinstance(found, dict) else found for found in whole)
    name = next((name for name in names if isinstance(name, str) and name), _OF_CHEF[0])
    return _OF_CHEF[0] if _HIDDEN in name else name


def _entries(layers: list[documents.Document], key: str) -> list[Entry]:
    """The entries of a list with a name. The last file that has the list counts, since kitchen merges no lists."""
    having = [one for one in layers if isinstance(one.tree.get(key), list)]
    entries = enumerate(having[-1].tree[key]) if having else ()
    return [(having[-1], (key, index)) for index, one in entries if isinstance(one, dict) and one.get("name")]


def _name_of(entry: Entry) -> str:
    document, path = entry
    return str(dig(document.tree, (*path, "name")))


def _is_included(suite: Entry, platform: str) -> bool:
    document, path = suite
    includes, excludes = (dig(document.tree, (*path, key)) for key in ("includes", "excludes"))
    if not platform:
        return True
    if isinstance(includes, list) and includes:
        return platform in includes
    return not (isinstance(excludes, list) and platform in excludes)


def _attributes_of(one: KitchenInstance) -> tuple[dict[Any, Any], list[Path]]:
    """Returns (attributes without the values of ERB, paths of those values). raises: DocumentError, if no map is set"""
    found = one.get("attributes")
    if _is_hidden(found) and not isinstance(found, Mapping):
        return {}, [()]
    if not isinstance(found, Mapping | None):
        raise one.error(("attributes",), f"attributes must be a map, found {shape_of(found)}")
    return _without_erb(found or {}, ())


def _run_list_of(one: KitchenInstance, of: str) -> list[str]:
    """The run-list of a suite or a platform; [] for none. of: "suite" or "platform". raises: DocumentError"""
    found = (source.get(("run_list",)) for source in one.sources if source.path[0] == f"{of}s")
    return _items(one, next((one for one in found if one is not ABSENT and one is not None), None))


def _items(one: KitchenInstance, found: Any) -> list[str]:
    """The items of a run-list: lists in it are opened, and a text is one item; [] for None. raises: DocumentError"""
    if isinstance(found, list):
        return [item for inner in found for item in _items(one, inner)]
    if found is None or isinstance(found, str):
        return [] if found is None else [found]
    if _is_hidden(found):
        return [_HIDDEN]
    raise one.error(("run_list",), f"an item of a run-list must be a text, found {shape_of(found)}")


def _without_erb(tree: Any, at: Path) -> tuple[Any, list[Path]]:
    """Returns (a tree without the values of ERB, paths of those values). A list with ERB is left out as a whole."""
    if not isinstance(tree, dict):
        return tree, []
    shown: dict[Any, Any] = {}
    hidden: list[Path] = []
    for key, value in tree.items():
        if _HIDDEN in str(key):
            hidden.append(at)
        elif isinstance(value, dict):
            shown[str(key)], inner = _without_erb(value, (*at, str(key)))
            hidden += inner
        elif _is_hidden(value):
            hidden.append((*at, str(key)))
        else:
            shown[str(key)] = value
    return shown, hidden


def _is_hidden(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_hidden, value))
    if isinstance(value, dict):
        return any(_is_hidden(one) for pair in value.items() for one in pair)
    return isinstance(value, str) and _HIDDEN in value
