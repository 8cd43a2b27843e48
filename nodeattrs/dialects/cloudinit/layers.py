"""Merge conf.d folders and the layers of a machine; sources are joined from the strongest to the weakest.

A *source* is one config: a file, a text or a map. Each source joins the stronger ones by its own merge definition, or
by `list()+dict()+str()`. User-data and vendor-data are merged before, and have no definitions here. A source with
broken YAML counts as empty. A broken definition raises an error, and nothing is merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nodeattrs.core.borders import checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import sources as numbers_in
from nodeattrs.core.part import Part, kept
from nodeattrs.core.policy import ABSENT_KIND, ANY, KEEP, MAP, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.cloudinit.codes import ENCODING, TEMPLATE, TYPE, VALUE, VENDOR_SWITCH
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.merged import Merged
from nodeattrs.dialects.cloudinit.mergers import ANY_DEFINITION, CONFIG_DEFAULT, Mode, lay, policy_of, take_definition
from nodeattrs.dialects.cloudinit.parts import CloudPart, independent, load_config, load_yaml
from nodeattrs.dialects.cloudinit.releases import NEWEST, Release, release_of
from nodeattrs.dialects.cloudinit.steps import MergedPart, PartReport, Row, Status, renumbered_rows, status_of
from nodeattrs.dialects.cloudinit.templates import InstanceData, template_in, unrendered
from nodeattrs.dialects.cloudinit.unpacking import read_bytes
from nodeattrs.dialects.cloudinit.userdata import without_types
from nodeattrs.formats.yaml_events import RepeatedKey

Source = str | Mapping[Any, Any] | Merged | CloudPart | Layer
"""A YAML text, a loaded config, a merged config, a part with its file, or an unknown layer (`Layer.unknown`)."""

_UNMERGED = Policy(
    "keys that are not there yet",
    Line(ABSENT_KIND, PRESENT, TAKE, "nothing was there"),
    Line(ANY, PRESENT, KEEP, "documented: user-data overwrites conf.d without merging"),
)
_BELOW_USER_DATA = Policy(
    "user-data over conf.d",
    Line(MAP, MAP, Meet(_UNMERGED), "key by key, at the top only"),
    Line(ANY, PRESENT, KEEP, "user-data stays"),
)
_NO_TEMPLATES = ("kernel command line", "runtime file")
_MERGED = ("user-data", "vendor-data 2", "vendor-data")
"""The names of the sources that come in merged, without definitions."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A source that was read.

    part:    its config, with the number of its report; {} for an empty or broken source
    row:     the merge that gave the source; None for a source that is a single config
    unknown: whether a part of it could not be read
    title:   the name of a source with a row
    """

    part: Part
    row: Row | None = None
    unknown: bool = False
    title: str = "several sources"

    @property
    def counts(self) -> bool:
        """Whether the source takes part in the merge: it sets something, or a part of it is unknown."""
        return self.unknown or (isinstance(self.part.value, dict) and bool(self.part.value))


_SILENT = _Read(Part({}, 0))


_STOPS = frozenset({VALUE, ENCODING, TEMPLATE})
"""The kinds of errors in a file of the base configuration that stop cloud-init; other broken files count as empty."""


class _Fold:
    """One merge of layers: `read` each source, `joined` to merge them, then `merged` for the result.

    It collects a report for each source, and a row for each merge, in the order of the calls.
    data: instance data for conf.d files that are templates
    """

    def __init__(self, mode: Mode, cloud_init: str = NEWEST, data: InstanceData | None = None) -> None:
        self.mode = mode
        self.release = release_of(cloud_init)
        self.data = data
        self.reports: list[PartReport] = []
        self.rows: list[Row] = []
        self.unknown: dict[int, Layer] = {}
        self.merged_before: set[int] = set()

    def read(self, name: str, source: Any, in_base: bool = False) -> _Read:
        """Read a source and append its report; a broken source counts as empty.

        in_base: whether it belongs to the base configuration, where files may be templates and some errors stop all
        raises:  CloudConfigError, for an error that stops everything
        """
        if isinstance(source, Merged):
            return self._merged(name, source)
        if isinstance(source, _DisabledUserData):
            self.reports += [
                one._replace(number=len(self.reports) + index) for index, one in enumerate(source.parts, 1)
            ]
            return _SILENT
        number = len(self.reports) + 1
        part = source if isinstance(source, CloudPart) else CloudPart("", filename=name, type="", line=None)
        if isinstance(source, Layer):
            return self._unknown(part, source, source.title or name, "unknown", name in _MERGED)
        if isinstance(source, str):
            part = CloudPart(source, filename=name)
        value: Any = independent(source) if isinstance(source, dict) else source
        repeated: list[RepeatedKey] = []
        if isinstance(source, (str, CloudPart)):
            title = part.filename or name
            try:
                if in_base and name not in _NO_TEMPLATES:
                    template = template_in(part.text, self.data is not None)
                    origin = Origin("file", "", part.file or title, part.line)
                    if template is not None and (layer := unrendered(self.data, template, title, origin)):
                        return self._unknown(part, layer, title, "template")
                    part = part if template is None else self._rendered(part, template)
                value = _config_in(part.text, self.release, repeated)
            except CloudConfigError as error:
                located = error.located(part.file or name, None if error.line is None else part.at(error.line))
                if in_base and error.kind in _STOPS:
                    raise located from error
                self.reports.append(PartReport(number, part, title, status_of(error), error=located))
                return _Read(Part({}, number))
        status: Status = "merged" if value else "empty"
        self.reports.append(PartReport(number, part, part.filename or name, status, repeated=repeated))
        return _Read(Part(value, number))

    def _unknown(self, part: CloudPart, layer: Layer, title: str, status: Status, was_merged: bool = False) -> _Read:
        number = len(self.reports) + 1
        self.reports.append(PartReport(number, part, title, status))
        self.unknown[number] = layer
        if was_merged:
            self.merged_before.add(number)
        return _Read(Part(layer.value, number), unknown=True)

    def _rendered(self, part: CloudPart, template: str) -> CloudPart:
        """A conf.d file with its template rendered. raises: CloudConfigError, where the template stops cloud-init"""
        assert self.data is not None
        budget = Budget(part.file)
        try:
            text = self.data.render(template, budget)
        except CloudConfigError as error:
            text, kind = "", type(error.__cause__).__name__
            if kind in ("TemplateSyntaxError", "TemplateAssertionError") and self.release.raw_template:
                return part
            if kind not in ("TypeError", "UndefinedError", "SecurityError"):
                raise
        if not text and self.release.empty_stops:
            raise CloudConfigError(TEMPLATE, "the template gives nothing, which makes cloud-init stop", line=1)
        return part._replace(body=text, lines=self.data.lines(template, text, budget) if text else ())

    def _merged(self, title: str, source: Merged) -> _Read:
        offset = len(self.reports)
        rows = renumbered_rows(source.rows, offset)
        self.reports += [report._replace(number=report.number + offset) for report in source.parts]
        self.rows += rows
        self.unknown |= {number + offset: layer for number, layer in source.unknown.items()}
        return _Read(rows[-1].folding.result, rows[-1], bool(source.unknown), title) if rows else _SILENT

    def joined(self, sources: Iterable[_Read], last: Policy | None = None) -> _Read:
        """Merge sources, the strongest first. last: the policy for the weakest source; None: by its own definition"""
        rows = [source for source in sources if source.counts]
        folding, merged_parts = Folding(start=Part({}, 0)), []
        for index, source in enumerate(rows):
            number, name = self._who(source)
            try:
                is_unknown = type(source.part.value) is Unknown
                definition, rest, key = (None, None, "") if is_unknown else take_definition(source.part.value)
                used = definition or CONFIG_DEFAULT
                policy = policy_of(used, self.mode)
                if rest is None and number not in self.merged_before:
                    policy = ANY_DEFINITION
            except CloudConfigError as error:
                raise error.located(name) from error
            if last is not None and index == len(rows) - 1:
                policy = last
            laid = kept(source.part, rest) if rest is not None else source.part
            if source.row is not None and rest is not None and len(rest) < len(source.part.value):
                source.row.folding.change(partial(_kept, rest))
                again = source.row.merged_parts[-1]._replace(steps=1)
                self.rows[self.rows.index(source.row)] = Row(source.row.folding, (*source.row.merged_parts, again))
            lay(folding, laid if source.row is None else source.row.folding, policy)
            if number and rest is not None:
                report = self.reports[number - 1]
                why = f"body {key}" if definition else "default"
                self.reports[number - 1] = report._replace(status="merged", definition=used, source=why)
            part = self.reports[number - 1].part if number else CloudPart("", filename=name, type="", line=None)
            merged_parts.append(MergedPart(number, part, name, policy, laid if rest is not None else None, folded=True))
        row = Row(folding, tuple(merged_parts))
        if merged_parts:
            self.rows.append(row)
        return _Read(folding.result, row if merged_parts else None, any(source.unknown for source in rows))

    def _who(self, source: _Read) -> tuple[int, str]:
        """The number and name of a source; the number is 0 for one that was merged before."""
        if source.row is None:
            (number,) = numbers_in(source.part.origins)
            return number, self.reports[number - 1].filename
        return 0, source.title

    def merged(self, result: _Read) -> Merged:
        return Merged(result.part, tuple(self.reports), tuple(self.rows), self.unknown)


def _config_in(text: str, release: Release, repeated: list[RepeatedKey]) -> dict[Any, Any]:
    """The map in a file of configuration; {} for comments alone. repeated: keys written twice are appended

    raises: CloudConfigError
    """
    tree = load_yaml(text, None, release, repeated)
    return tree if isinstance(tree, dict) else {} if tree is None else load_config(text, None, release)


def _kept(keys: dict[Any, Any], result: Part, _: Part) -> Part:
    return kept(result, keys)


@checked_args(files=Mapping | None, mode=("current", "documented"), instance_data=InstanceData | None)
def merge_confd(
    main: str | CloudPart | None,
    files: Mapping[str, str | CloudPart] | None = None,
    *,
    mode: Mode = "current",
    cloud_init: str = NEWEST,
    instance_data: InstanceData | None = None,
) -> Merged:
    """Merge the main configuration file and the files of its conf.d folder, given as texts; reads no files.

    main:          the text of the main file; None for no main file. Its `conf_d: ""` turns the folder off
    files:         file name -> text; None without a folder. Only names that end in `.cfg` count. The last name is the
                   strongest, and all override the main file
    mode:          "current" is what cloud-init does, "documented" what its older manual says
    cloud_init:    the release whose behaviour is followed
    instance_data: variables for templates; None: a template is an unknown layer
    raises:        CloudConfigError, for a malformed definition, and for a broken template that stops cloud-init
    source:        docs/cloudinit.md, "conf.d"

    >>> merge_confd("a: 1\\nb: 1", {"10.cfg": "a: 2", "notes.txt": "a: 3"}).config
    {'a': 2, 'b': 1}
    """
    fold = _Fold(mode, cloud_init, instance_data)
    top = fold.read("main file", main, True) if main is not None else _SILENT
    is_off = _folder_named_by(fold, top) == ""
    return _merged_confd(fold, top, {} if is_off or files is None else files)


def _merged_confd(fold: _Fold, top: _Read, files: Mapping[str, str | CloudPart]) -> Merged:
    names = sorted((name for name in files if name.endswith(".cfg")), reverse=True)
    rows = [fold.read(name, files[name], True) for name in names]
    return fold.merged(fold.joined([fold.joined(rows), top]))


def _folder_named_by(fold: _Fold, top: _Read) -> str | None:
    """The folder that `conf_d` of a main file names; "" where it turns the folder off, None where it is not set.

    fold: has read *top* first; the text of a template that was not rendered is looked at as it is
    """
    config = top.part.value
    if top.unknown:
        with suppress(CloudConfigError):
            config = load_config(fold.reports[0].part.text)
    if not isinstance(config, dict) or "conf_d" not in config:
        return None
    folder = config["conf_d"] or ""
    if not isinstance(folder, str):
        raise CloudConfigError(TYPE, "conf_d names a folder, as text", file="main file")
    return folder.strip()


@checked_args(main=Path, mode=("current", "documented"), instance_data=InstanceData | None)
def read_confd(
    main: Path, *, mode: Mode = "current", cloud_init: str = NEWEST, instance_data: InstanceData | None = None
) -> Merged:
    """Read and merge a main configuration file and the `*.cfg` files of its folder, sorted by name.

    The folder is the one that the file names, or else NAME.d. If the file names "", no folder is read.

    main:          a file such as cloud.cfg, or a folder alone. The file may be missing if its folder NAME.d exists
    mode:          "current" is what cloud-init does, "documented" what its older manual says
    cloud_init:    the release whose behaviour is followed
    instance_data: variables for templates; None: a template is an unknown layer
    raises:        CloudConfigError, for a file that cannot be read or is not UTF-8, for a malformed definition, and for
                   a broken template that stops cloud-init
    """
    fold = _Fold(mode, cloud_init, instance_data)
    folder = Path(f"{main}.d")
    if main.is_dir() or (not main.exists() and folder.is_dir()):
        return _merged_confd(fold, _SILENT, _files_in(main if main.is_dir() else folder))
    top = fold.read("main file", _file(main), True)
    named = _folder_named_by(fold, top)
    if named is not None:
        folder = main.parent / named
    return _merged_confd(fold, top, {} if named == "" else _files_in(folder))


def _files_in(folder: Path) -> dict[str, CloudPart]:
    """The `*.cfg` files of a folder by name; {} where the folder is missing."""
    if not folder.is_dir():
        return {}
    return {path.name: _file(path) for path in folder.iterdir() if path.name.endswith(".cfg") and path.is_file()}


def _file(path: Path) -> CloudPart:
    content = read_bytes(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CloudConfigError(ENCODING, "the file is not UTF-8 text", file=path.as_posix(), line=line) from error
    return CloudPart(text, filename=path.name, file=path.as_posix())


@checked_args(mode=("current", "documented"), instance_data=InstanceData | None)
def merge_layers(
    *,
    extra: Iterable[Source] = (),
    env: Source | None = None,
    user: Source | None = None,
    vendor2: Source | None = None,
    vendor: Source | None = None,
    datasource: Any = None,
    cmdline: Source | None = None,
    config_url: str | None = None,
    runtime: Source | None = None,
    confd: Source | None = None,
    builtin: Source | None = None,
    base: Source | None = None,
    include_vendor: bool = True,
    mode: Mode = "current",
    cloud_init: str = NEWEST,
    instance_data: InstanceData | None = None,
) -> Merged:
    """Merge the layers of a machine. The parameters are in order from the strongest to the weakest. No files are read.

    A layer that is None is left out. A layer may be a YAML text, a map, a `Merged`, a `CloudPart` or an unknown layer.

    extra:          further files, the first one strongest; their switches do nothing
    env:            the file that the environment names
    user, vendor2, vendor: merged user-data and vendor-data, or the text of the merged file
    datasource:     the config of the data source; any value but a map is skipped
    cmdline:        the config of the kernel command line
    config_url:     the address of a file that cloud-init fetches. If *confd* lacks the file, it is an unknown layer
    runtime, confd, builtin: the base configuration: the runtime file, conf.d and the built-in configuration
    base:           all of the base configuration, if it is merged already; the weakest layer
    include_vendor: False: *vendor* and *vendor2* are left out
    mode:           "current" is what cloud-init does, "documented" what its older manual says
    cloud_init:     the release whose behaviour is followed
    instance_data:  variables for templates; None: a template is an unknown layer

    `allow_userdata` turns user-data off; `vendor_data` and `vendor_data2` turn vendor-data off. Parts of a layer that
    is off are not merged, and are reported as *disabled*. A switch counts in *env* and in the layers below vendor-data.
    User-data may also turn vendor-data off. A switch that no layer sets has the release's built-in value.

    raises: CloudConfigError or MergeConflict, for an error that stops cloud-init
    source: docs/cloudinit.md, "Layers"

    >>> merge_layers(user="ntp: {enabled: true}", vendor="ntp: {enabled: false, pools: [p]}").config
    {'ntp': {'enabled': True, 'pools': ['p']}}
    """
    given: dict[str, Any] = {"user-data": user}
    if include_vendor:
        given |= {"vendor-data 2": vendor2, "vendor-data": vendor}
    strong: list[tuple[str, Any]] = [(f"extra file {number}", source) for number, source in enumerate(extra, 1)]
    strong.append(("environment file", env))
    weak = [("data source", datasource), ("kernel command line", cmdline), ("runtime file", runtime)]
    weak += [(_URL_FILE, _fetched(config_url, confd)), ("conf.d", confd), ("built-in", builtin), ("base", base)]

    def fold() -> _Fold:
        return _Fold(mode, cloud_init, instance_data)

    given = _switched(given, strong[-1:], weak, fold)
    return _layered(fold(), [*strong, *given.items()], weak)


_URL_FILE = "91_kernel_cmdline_url.cfg"


def _fetched(url: str | None, confd: Any) -> Layer | None:
    """The unknown layer of the file that cloud-init fetches; None without an address, or if the folder has the file."""
    is_there = isinstance(confd, Merged) and any(part.filename == _URL_FILE for part in confd.parts)
    if url is None or is_there:
        return None
    return Layer.unknown(_URL_FILE, Origin("layer", "kernel command line"), f"it is fetched from {url}")


def _layered(fold: _Fold, named: Iterable[tuple[str, Any]], weak: Iterable[tuple[str, Any]]) -> Merged:
    """The layers merged; the base is merged first, the data source lies over it."""
    (_, datasource), *pieces, (_, base) = weak
    rows = [fold.read(name, source) for name, source in (*named, ("data source", datasource)) if source is not None]
    below = [fold.read(name, source, True) for name, source in pieces if source is not None]
    bottom = fold.joined(below) if below else _SILENT
    if base is not None:
        bottom = fold.joined([bottom, fold.read("base", base)]) if bottom.counts else fold.read("base", base)
    last = _BELOW_USER_DATA if fold.mode == "documented" and bottom.counts else None
    return fold.merged(fold.joined([*rows, bottom], last))


# --- switches ---------------------------------------------------------------------------

_SWITCHES = {"vendor-data": "vendor_data", "vendor-data 2": "vendor_data2"}
_TRUE = ("true", "1", "on", "yes")


@dataclass(frozen=True, slots=True)
class _DisabledUserData:
    """User-data or vendor-data that is switched off: its parts are reported, and not merged."""

    parts: tuple[PartReport, ...]


def _switched(
    given: dict[str, Any], env: list[tuple[str, Any]], weak: list[tuple[str, Any]], fold: Callable[[], _Fold]
) -> dict[str, Any]:
    """User-data and vendor-data by name. If another layer switches one of them off, a `_DisabledUserData` replaces it.

    raises: CloudConfigError of kind "vendor-switch", for a setting at which cloud-init stops
    """
    found = dict(given)
    if all(source is None or isinstance(source, Layer) for source in given.values()):
        return found
    below = _layered(fold(), env, weak)
    if found["user-data"] is not None and not _is_on(below.value.get("allow_userdata", True)):
        found["user-data"] = _disabled("user-data", found["user-data"])
    vendors = {name: key for name, key in _SWITCHES.items() if found.get(name) is not None}
    if vendors:  # cloud-init merges the same layers once more, with user-data between them
        again = [(name, {"data source": source, "base": below}.get(name)) for name, source in weak]
        settings = _layered(fold(), [*env, ("user-data", found["user-data"])], again).value
        for name, key in vendors.items():
            setting = settings.get(key, {})
            if isinstance(setting, dict) and not _names(dict(weak)["built-in"], key):
                setting = fold().release.builtin[key] | setting  # also if *builtin* is another map
            found[name] = _vendor(name, found[name], setting)
    return found


def _names(source: Any, key: str) -> bool:
    """Whether a map has a key, or a text the word."""
    if isinstance(source, dict):
        return key in source
    return re.search(rf"\b{key}\b", str(getattr(source, "text", source))) is not None


def _is_on(value: Any) -> bool:
    return value is True or (value is not False and str(value).lower().strip() in _TRUE)


def _vendor(name: str, source: Any, setting: Any) -> Any:
    """Vendor-data, or what its switch leaves of it: a `_DisabledUserData`, or the merge without some types of parts."""
    if isinstance(source, Layer):
        return source
    if not isinstance(setting, dict) or not _is_on(setting.get("enabled")):
        return _disabled(name, source)
    excluded = setting.get("disabled_handlers")
    if excluded is None or not isinstance(source, Merged) or source.rules is None:
        return source
    try:
        # An include is followed before any handler is asked, and what it leads to is not known.
        types = {report.part.type for report in source.parts if report.status != "include"}
        off = {kind for kind in types if kind in excluded}
    except TypeError as error:
        raise CloudConfigError(
            VENDOR_SWITCH,
            f"disabled_handlers of {name} are a {type(excluded).__name__}, which makes cloud-init stop",
            hint="write a list of types, such as [text/cloud-config]",
        ) from error
    return without_types(source, off) if off else source


def _disabled(name: str, source: Any) -> _DisabledUserData:
    if isinstance(source, Merged):
        return _DisabledUserData(tuple(report._replace(status="disabled", error=None) for report in source.parts))
    part = source if isinstance(source, CloudPart) else CloudPart("", filename=name, type="", line=None)
    return _DisabledUserData((PartReport(1, part, part.filename or name, "disabled"),))


# --- the kernel command line


@checked_args(cmdline=str)
def config_of_cmdline(cmdline: str, cloud_init: str = NEWEST) -> str:
    """The YAML text of a kernel command line: it follows a `cc:` that begins a word, up to `end_cc` or the end.

    "" without `cc:`. Several texts are joined by line feeds. `%20` and the like are decoded, and `\\n` in the text
    becomes a line feed.

    cloud_init: the release; until 23.1 `cc:` counts inside of a word, too

    >>> config_of_cmdline("root=/dev/sda cc: runcmd: [ls] end_cc quiet cc:a:%201")
    'runcmd: [ls] \\na: 1'
    >>> config_of_cmdline("ifname=net0:52:54:00:cc:ab:cd"), config_of_cmdline("ifname=net0:cc:ab:cd", "22.4")
    ('', 'ab:cd')
    """
    begin = "cc:"
    if release_of(cloud_init).cc_is_word:
        begin, cmdline = " cc:", f" {cmdline}"
    texts = []
    rest = cmdline
    while begin in rest:
        text, _, rest = rest.partition(begin)[2].partition("end_cc")
        texts.append(unquote(text.lstrip()).replace("\\n", "\n"))
    return "\n".join(texts)


@checked_args(cmdline=str)
def url_of_cmdline(cmdline: str) -> str | None:
    """The value of `cloud-config-url=`, from where cloud-init fetches a config; None for a line without it.

    >>> url_of_cmdline("ro cloud-config-url=http://10.0.0.1/config")
    'http://10.0.0.1/config'
    """
    words = dict(word.partition("=")[::2] for word in cmdline.split())
    return words.get("cloud-config-url") or None


def cmdline_layers(text: str, cloud_init: str, file: str | None) -> dict[str, Any]:
    """The arguments `cmdline` and `config_url` of `merge_layers`, as a map, from the text of /proc/cmdline.

    cloud_init: the release whose rules apply
    file:       the path of the text, for origins; None for none
    """
    cmdline = text.replace("\0", " ").strip()  # /proc/1/cmdline of a container has zeros
    config = config_of_cmdline(cmdline, cloud_init)
    part = CloudPart(config, filename="kernel command line", file=file, line=None)
    return {"cmdline": part, "config_url": url_of_cmdline(cmdline)}
