"""conf.d folders and the layers of a running system, strongest first.

Each source joins the stronger ones already there by its own definition, or by
`list()+dict()+str()`. User-data and vendor-data come in merged, and have lost their
definitions by then. A source with broken YAML counts as empty; a broken definition stops
everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.mergers import CONFIG_DEFAULT, Definition, Mode, lay, policy_of, take_definition
from nodeattrs.adapters.cloudinit.parts import CloudPart, Repeated, independent, load_config
from nodeattrs.adapters.cloudinit.steps import Joining, PartReport, Row, Status, moved
from nodeattrs.adapters.cloudinit.unpacking import read_bytes
from nodeattrs.adapters.cloudinit.userdata import Merged
from nodeattrs.core.borders import taking
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import sources as numbers_in
from nodeattrs.core.part import Part, kept
from nodeattrs.core.policy import ABSENT_KIND, ANY, KEEP, MAP, MEET, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.unknown import Unknown

Source = str | Mapping[Any, Any] | Merged | CloudPart | Layer
"""A YAML text, a loaded config, a merged one, a text that knows its file; or an unknown layer (`Layer.unknown`)."""

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
_ANY_DEFINITION = Policy(
    "a definition that is not known",
    Line(MAP, MAP, MEET, "two mappings may meet key by key"),
    Line(ANY, PRESENT, TAKE, "it may ask for any mergers"),
)
"""How an unknown layer joins: with a definition of its own, as likely as not."""

_MERGED = ("user-data", "vendor-data 2", "vendor-data")
"""What comes in merged, and has lost its definitions."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What a source says, and for one that was merged itself how: its row.

    unknown: whether it may say something that cannot be read
    """

    part: Part
    row: Row | None = None
    unknown: bool = False

    @property
    def counts(self) -> bool:
        """Whether it says something, or may."""
        return self.unknown or (isinstance(self.part.value, dict) and bool(self.part.value))


_SILENT = _Read(Part({}, 0))


class _Fold:
    """Sources joined one after the other, the strongest first."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self.reports: list[PartReport] = []
        self.rows: list[Row] = []
        self.unknown: dict[int, Layer] = {}
        self.merged_before: set[int] = set()

    def read(self, name: str, source: Any) -> _Read:
        """What a source says: an empty mapping where it says nothing that can be used."""
        if isinstance(source, Merged):
            return self._merged(source)
        number = len(self.reports) + 1
        part = source if isinstance(source, CloudPart) else CloudPart("", filename=name, type="", line=None)
        if isinstance(source, Layer):
            self.reports.append(PartReport(number, part, source.title or name, "unknown"))
            self.unknown[number] = source
            if name in _MERGED:
                self.merged_before.add(number)
            return _Read(Part(source.value, number), unknown=True)
        if isinstance(source, str):
            part = CloudPart(source, filename=name)
        repeated: list[Repeated] = []
        if isinstance(source, (str, CloudPart)):
            try:
                value: Any = load_config(part.text, repeated=repeated)
            except CloudConfigError as error:
                self.reports.append(
                    PartReport(number, part, part.filename or name, "rejected", error=error.located(part.file or name))
                )
                return _Read(Part({}, number))
        else:
            value = independent(source) if isinstance(source, dict) else source
        status: Status = "merged" if value else "empty"
        self.reports.append(PartReport(number, part, part.filename or name, status, repeated=repeated))
        return _Read(Part(value, number))

    def _merged(self, source: Merged) -> _Read:
        offset = len(self.reports)
        rows = moved(source.rows, offset)
        self.reports += [replace(report, number=report.number + offset) for report in source.parts]
        self.rows += rows
        self.unknown |= {number + offset: layer for number, layer in source.unknown.items()}
        return _Read(rows[-1].folding.result, rows[-1], bool(source.unknown)) if rows else _SILENT

    def joined(self, sources: Iterable[_Read], last: Policy | None = None) -> _Read:
        """Fold what was read; *last* is how the weakest joins, instead of its own definition."""
        rows = [source for source in sources if source.counts]
        folding, joinings = Folding(start=Part({}, 0)), []
        for index, source in enumerate(rows):
            number, name = self._who(source)
            try:
                definition, rest, key = _definition_in(source.part.value)
                used = definition or CONFIG_DEFAULT
                policy = policy_of(used, self.mode)
                if rest is None and number not in self.merged_before:
                    policy = _ANY_DEFINITION
            except CloudConfigError as error:
                raise error.located(name) from error
            if last is not None and index == len(rows) - 1:
                policy = last
            laid = kept(source.part, rest) if rest is not None else source.part
            if source.row is not None and rest is not None and len(rest) < len(source.part.value):
                source.row.folding.change(partial(_kept, rest))
                again = replace(source.row.joinings[-1], steps=1)
                self.rows[self.rows.index(source.row)] = Row(source.row.folding, (*source.row.joinings, again))
            lay(folding, laid if source.row is None else source.row.folding, policy)
            if number and rest is not None:
                report = self.reports[number - 1]
                why = f"body {key}" if definition else "default"
                self.reports[number - 1] = replace(report, status="merged", definition=used, source=why)
            part = self.reports[number - 1].part if number else CloudPart("", filename=name, type="", line=None)
            joinings.append(Joining(number, part, name, policy, laid if rest is not None else None, folded=True))
        row = Row(folding, tuple(joinings))
        if joinings:
            self.rows.append(row)
        return _Read(folding.result, row if joinings else None, any(source.unknown for source in rows))

    def _who(self, source: _Read) -> tuple[int, str]:
        """The number and name of a plain source; 0 where several have set it."""
        if source.row is None:
            (number,) = numbers_in(source.part.origins)
            return number, self.reports[number - 1].filename
        return 0, "several sources"

    def merged(self, result: _Read) -> Merged:
        return Merged(result.part, tuple(self.reports), tuple(self.rows), self.unknown)


def _kept(keys: dict[Any, Any], result: Part, _: Part) -> Part:
    return kept(result, keys)


def _definition_in(value: Any) -> tuple[Definition | None, dict[Any, Any] | None, str | None]:
    """What a source asks for, and what is left of it; nothing of one that is unknown."""
    return (None, None, "") if type(value) is Unknown else take_definition(value)


@taking(files=Mapping | None, mode=("current", "documented"))
def merge_confd(
    main: str | CloudPart | None, files: Mapping[str, str | CloudPart] | None = None, *, mode: Mode = "current"
) -> Merged:
    """Merge the main configuration file and the files of its conf.d folder.

    main:   the text of the main file; None where there is none
    files:  name -> text of everything in the folder; None where there is no folder. Only names
            ending in `.cfg` count, the last name is the strongest, and all override the main file
    raises: CloudConfigError, for a malformed definition in one file
    source: docs/cloudinit.md, "conf.d"

    >>> merge_confd("a: 1\\nb: 1", {"10.cfg": "a: 2", "notes.txt": "a: 3"}).config
    {'a': 2, 'b': 1}
    """
    fold = _Fold(mode)
    return fold.merged(_confd(fold, main, files))


def _confd(fold: _Fold, main: str | CloudPart | None, files: Mapping[str, str | CloudPart] | None) -> _Read:
    top = fold.read("main file", main) if main is not None else _SILENT
    folder = top.part.value.get("conf_d", True) if isinstance(top.part.value, dict) else True
    if folder and not isinstance(folder, (str, bool)):
        raise CloudConfigError("definition", "conf_d names a folder, as text", file="main file")
    rows = []
    if files is not None and folder:
        names = sorted((name for name in files if name.endswith(".cfg")), reverse=True)
        rows = [fold.read(name, files[name]) for name in names]
    return fold.joined([fold.joined(rows), top])


@taking(main=Path, mode=("current", "documented"))
def read_confd(main: Path, *, mode: Mode = "current") -> Merged:
    """Read a main configuration file and the folder beside it: its name with `.d`, or what its `conf_d` says.

    main:   a file such as cloud.cfg, or a folder of `*.cfg` files alone
    raises: CloudConfigError, for a file that cannot be read, or a malformed definition
    """
    fold = _Fold(mode)
    return fold.merged(_confd(fold, *confd_texts(main)))


def confd_texts(main: Path) -> tuple[CloudPart | None, dict[str, str | CloudPart] | None]:
    """The main file and the folder's files, as `merge_confd` takes them."""
    if main.is_dir():
        return None, _folder(main)
    top = _file(main)
    try:
        named = load_config(top.text).get("conf_d", ...)
    except CloudConfigError:
        named = ...
    folder = (
        Path(f"{main}.d") if named is ... else main.parent / named.strip() if isinstance(named, str) and named else None
    )
    return top, _folder(folder) if folder is not None and folder.is_dir() else None


def _folder(folder: Path) -> dict[str, str | CloudPart]:
    return {
        path.name: _file(path) for path in sorted(folder.iterdir()) if path.name.endswith(".cfg") and path.is_file()
    }


def _file(path: Path) -> CloudPart:
    content = read_bytes(path)
    return CloudPart(content.decode("utf-8", "surrogateescape"), filename=path.name, file=path.as_posix())


@taking(mode=("current", "documented"))
def merge_layers(
    *,
    extra: Iterable[Source] = (),
    env: Source | None = None,
    user: Source | None = None,
    vendor2: Source | None = None,
    vendor: Source | None = None,
    datasource: Any = None,
    cmdline: Source | None = None,
    runtime: Source | None = None,
    confd: Source | None = None,
    builtin: Source | None = None,
    base: Source | None = None,
    include_vendor: bool = True,
    mode: Mode = "current",
) -> Merged:
    """Merge the layers of a running system. They are listed here from strongest to weakest.

    extra:   further files, the first one strongest
    env:     the file that the environment names
    user, vendor2, vendor: merged user-data and vendor-data, as `Merged` or as the text of the merged file
    datasource: the config of the data source; what is no mapping is skipped
    cmdline, runtime, confd, builtin: what the base is made of: kernel command line, runtime file,
             configuration folder, built-in values; or all of it as *base*
    raises:  CloudConfigError, MergeConflict: an error in one source stops everything
    source:  docs/cloudinit.md, "Layers"

    >>> merge_layers(user="ntp: {enabled: true}", vendor="ntp: {enabled: false, pools: [p]}").config
    {'ntp': {'enabled': True, 'pools': ['p']}}
    """
    fold = _Fold(mode)
    named: list[tuple[str, Any]] = [(f"extra file {number}", source) for number, source in enumerate(extra, 1)]
    named += [("environment file", env), ("user-data", user)]
    if include_vendor:
        named += [("vendor-data 2", vendor2), ("vendor-data", vendor)]
    named.append(("data source", datasource))
    rows = [fold.read(name, source) for name, source in named if source is not None]
    pieces = [("kernel command line", cmdline), ("runtime file", runtime), ("conf.d", confd), ("built-in", builtin)]
    below = [fold.read(name, source) for name, source in pieces if source is not None]
    bottom = fold.joined(below) if below else _SILENT
    if base is not None:
        bottom = fold.joined([bottom, fold.read("base", base)]) if bottom.counts else fold.read("base", base)
    last = _BELOW_USER_DATA if mode == "documented" and bottom.counts else None
    return fold.merged(fold.joined([*rows, bottom], last))


@taking(cmdline=str)
def config_of_cmdline(cmdline: str) -> str:
    """The YAML text that a kernel command line carries between `cc:` and `end_cc`.

    >>> config_of_cmdline("root=/dev/sda cc: runcmd: [ls] end_cc quiet cc:a:%201")
    'runcmd: [ls] \\na: 1'
    """
    from urllib.parse import unquote

    texts = []
    rest = cmdline
    while "cc:" in rest:
        text, _, rest = rest.partition("cc:")[2].partition("end_cc")
        texts.append(unquote(text.lstrip()).replace("\\n", "\n"))
    return "\n".join(texts)
