"""A release of Helm that a file of Argo CD, Flux or helmfile describes: a chart, and values over it.

`argo`, `flux` and `helmfile` make a `Release`, which names files and has no layers of them. `layers_of_release` reads
the files. Values that are not in the repository, and values that another program fills in, become unknown layers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.contract.answers import Setting
from nodeattrs.contract.folder import Folder
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.sensitive import Sensitive, withheld, without_password
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import leaves
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.files.charts import CHART
from nodeattrs.dialects.files.folds import FoldLayers, layers_over_chart
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats.documents import Document, content_of, decoded, parse_all
from nodeattrs.formats.encrypted import marked, may_be_encrypted
from nodeattrs.formats.go_scalars import HELM as OF_HELM
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies.helm import HELM, ChartValues
from nodeattrs.policies.helm_set import set_layers

_DEPTH = 100
"""Maps and lists inside one another, in a file that describes releases."""
_MOST_SET = 200
"""The most values of `--set` of one release that are read."""
_INDEX = re.compile(r"\[\s*\+?\d{4,}\s*\]", re.ASCII)
"""An index of 1,000 or more, which would make a list as long."""
TEMPLATE_MARK = "{{"
"""The beginning of a Go template."""
_BLOCK = re.compile(r"[|>][-+\d]*\s*(?:#.*)?$")
"""The end of a line behind which a text of several lines begins."""


NOT_HERE = "is not in this repository"
"""The reason for a chart or file of a release that does not exist."""


class ValuesFile(NamedTuple):
    """A values file that a release names. The file may not exist.

    path:        below the root of the repository; "" where it leads out
    origin:      the line that names it
    is_optional: whether the program goes on without the file
    is_secret:   whether all its values are withheld in every output
    """

    path: str
    origin: Origin
    is_optional: bool = False
    is_secret: bool = False


class SetValue(NamedTuple):
    """One value that a release sets as `helm --set` does.

    word:    the text after `--set`, not yet checked: a.b=1
    origin:  the line that sets the value
    is_text: whether the value stays a text, as with `--set-string`
    is_secret: whether the value is withheld in every output
    """

    word: str
    origin: Origin
    is_text: bool = False
    is_secret: bool = False


Values = ValuesFile | SetValue | Layer


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Helm as a file describes it. The files that it names were not read.

    chart:  the folder of the chart, relative to the root of the repository; "": its files are not here
    origin: the line that names the chart
    values: the values that the release adds to the chart's own, the weakest first
    reason: why the files of the chart are not here; without meaning if *chart* is given

    `inline` yields the maps of values that the file of the release has itself.
    """

    chart: str
    origin: Origin
    values: Sequence[Values]
    reason: str = NOT_HERE

    @property
    def inline(self) -> Iterator[Layer]:
        """The maps of values in the file of the release itself, the weakest first; unknown values are left out."""
        return (one for one in self.values if isinstance(one, Layer) and isinstance(one.value, dict))


def layers_of_release(repository: Folder, release: Release) -> FoldLayers:
    """Read the chart and the values files of a release: its layers, the weakest first.

    A missing chart, a missing values file, and each `--set` after the first 200 are unknown layers.
    repository: the folder to which the names in *release* are relative; warnings are added to its warnings
    raises:     DocumentError, for a file that cannot be parsed; MergeConflict
    """
    reader = LayerReader(tags=OF_HELM, warnings=repository.warnings)
    files: list[Layer] = []
    number_set = 0
    for one in release.values:
        if isinstance(one, ValuesFile):
            files += _read(one, reader, repository.root)
        elif isinstance(one, SetValue):
            number_set += 1
            if number_set <= _MOST_SET:
                files.append(_set(one, files))
            elif number_set == _MOST_SET + 1:
                files.append(unread_values(one.origin, _TOO_MANY))
        else:
            files.append(one)
    if release.chart:
        return layers_over_chart(repository.root / release.chart, files, reader, HELM, repository.shown)
    chart = ChartValues((), unread_values(release.origin, release.reason))
    return FoldLayers([chart.laid, *files], [chart])


_TOO_MANY = f"comes after {_MOST_SET} values of --set; it and the next ones were not read"


def _read(one: ValuesFile, reader: LayerReader, root: Path) -> list[Layer]:
    """The layers of a values file. [] if an optional file is missing; an unknown layer for any other unread file."""
    if not one.path:
        return [unread_values(one.origin, border.REASON)]
    if os.path.isfile(root / one.path):
        layers = reader.read(root / one.path, one.path)
        return [*map(all_withheld, layers)] if one.is_secret else layers
    return [] if one.is_optional else [unread_values(one.origin, NOT_HERE)]


def _set(one: SetValue, before: Sequence[Layer]) -> Layer:
    """The layer of one value of `--set`; an unknown one where Helm would refuse it."""
    if _INDEX.search(one.word.partition("=")[0]):
        return unread_values(one.origin, "has an index of 1,000 or more, which was not followed")
    known = [layer for layer in before if type(layer.value) is not Unknown]
    try:
        (layer,) = set_layers([one.word], fold(known, ACROSS).value if known else {}, one.is_text)
    except BadArgument:
        return unread_values(one.origin, "cannot be read as a value of --set")
    found = Layer(layer.value, one.origin, policy=layer.policy)
    return all_withheld(found) if one.is_secret else found


def all_withheld(layer: Layer) -> Layer:
    """A layer with a `Sensitive` in place of each text, number and boolean. An unknown layer is returned unchanged."""
    if type(layer.value) is Unknown:
        return layer
    return Layer(withheld(layer.value, [()], hide=Sensitive), layer.origin, layer.title, layer.policy)


def unread_values(origin: Origin, reason: str, lines: Mapping[TreePath, int] | None = None) -> Layer:
    """The unknown layer for values that were not read.

    reason: why they were not read, for messages
    lines:  path -> line, for each path that the layer may set; None: it may set any path
    """
    return Layer.unknown(origin.name, origin, reason, lines)


def path_below(root: Path, folder: str, text: str) -> str:
    """The path of *text*, which is relative to *folder*, as a path relative to the root. It need not exist.

    "" if the path, or a link on the way, leads out of the root.
    """
    if "\0" in text:
        return ""
    path = os.path.normpath(os.path.join(folder, text))
    real = os.path.realpath(root / path)
    return path.replace(os.sep, "/") if Path(real).is_relative_to(os.path.realpath(root)) else ""


def chart_at(root: Path, folder: str, text: str) -> str:
    """The path of *text* below the root, as `path_below` finds it; "" where no Chart.yaml is in that folder."""
    path = path_below(root, folder, text)
    return path if path and os.path.isfile(root / path / CHART) else ""


def elements(tree: Any, key: str) -> Iterator[tuple[int, Any]]:
    """Yield (index, element) of the list under a key of a map; nothing where there is no such list."""
    found = tree.get(key) if isinstance(tree, dict) else None
    yield from enumerate(found if isinstance(found, list) else ())


def texts_by_path(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted path, text) for each text and whole number in nested maps. Lists and booleans are left out.

    path: the path of *value*, which begins each of these paths; "" for the root
    """
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts_by_path(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (str, int)) and not isinstance(value, bool):
        yield path, str(value)


def read_documents(root: Path, file: str) -> list[Document]:
    """The documents of a YAML file below the root. raises: DocumentError, also for a file that cannot be read"""
    return parse_documents(decoded(content_of(root / file, file), file), file)


def parse_documents(text: str, file: str) -> list[Document]:
    """The documents of a text in YAML. raises: DocumentError; TooMuch, also for more than 100 nested levels"""
    return parse_all(text, file, "yaml", _budget(file), OF_HELM)


def _budget(file: str) -> Budget:
    return Budget(file, in_force().replaced(depth=min(_DEPTH, in_force().depth)))


def origin_at(document: Document, path: TreePath, kind: str, name: object) -> Origin:
    """The place of a path in a document, as an origin with this kind and name; a URL is named without its password."""
    line, column = document.place(path)
    return Origin(kind, without_password(str(name)), document.file, line, column)


def inline_layers(document: Document, value: Any, path: TreePath, name: str, mark: str = "") -> list[Layer]:
    """The layers of values that the file of a release has itself, as a map or as a text in YAML.

    [] for any other value, such as null. A text that is no YAML is one unknown layer. Encrypted values become secrets,
    in *value* itself if it is a map.

    path: the path of *value* in the document
    name: the name of the release, in explanations
    mark: the beginning of a template, such as "{{". If texts or keys in the values contain it, an unknown layer that
          may set their paths comes after the layer of the values. "": nothing is a template
    """
    if isinstance(value, str):
        return _of_text(document, value, path, name, mark)
    if not isinstance(value, dict):
        return []
    value = marked(value) if may_be_encrypted(document.text) else value
    layer = Layer(value, document.locator("release", name, path))
    return [layer, *_filled_in_later(layer, mark)]


def _filled_in_later(layer: Layer, mark: str) -> Iterator[Layer]:
    """The unknown layer for the values of a layer that another program fills in; none without such values."""
    paths = dict.fromkeys(_paths_with_mark(layer.value, mark, ())) if mark else {}
    if paths:
        lines = {path: layer.origin.at(path).line or 1 for path in paths}
        yield unread_values(layer.origin.at(next(iter(paths))), f"has {mark} in a text, which was not filled in", lines)


def _paths_with_mark(value: Any, mark: str, path: TreePath) -> Iterator[TreePath]:
    """The paths of the texts that have a mark; a list is one value."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from [path] if isinstance(key, str) and mark in key else _paths_with_mark(one, mark, (*path, key))
    elif has_mark(value, mark):
        yield path


def has_mark(value: Any, mark: str) -> bool:
    """Whether any text in a value has a mark, at any depth of maps and lists; keys count, too. False without texts."""
    if isinstance(value, dict):
        return any(has_mark(one, mark) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(has_mark(one, mark) for one in value)
    return isinstance(value, str) and mark in value


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a value with change(text) in place of each text, at any depth of maps and lists; keys change, too."""
    if isinstance(value, dict):
        return {with_texts(key, change): with_texts(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [with_texts(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


class _EmbeddedTextLocator(NamedTuple):
    """Finds the lines of a YAML text that is a value in another document.

    inner:    the locator of the text, whose lines count from 1
    line:     of the key that has the text, in the other document
    is_block: whether the text begins on the next line; else all of it is on *line*
    """

    inner: Locator
    line: int
    is_block: bool

    def at(self, path: TreePath) -> Origin:
        """The place in the other document."""
        found = self.inner.at(path)
        return found.moved(self.line + (found.line or 0) if self.is_block else self.line)


def _of_text(document: Document, text: str, path: TreePath, name: str, mark: str) -> list[Layer]:
    line = document.place(path)[0]
    written = document.text.split("\n")[line - 1 : line]
    is_block = bool(written and _BLOCK.search(written[0]))
    try:
        reader = LayerReader("yaml", OF_HELM, kind="release")
        layers = reader.layers(text.encode(), document.file, name, _budget(document.file))
    except DocumentError:
        return [unread_values(origin_at(document, path, "release", name), "is no YAML")]
    found = [Layer(one.value, _EmbeddedTextLocator(one.origin, line, is_block)) for one in layers]
    return [each for one in found for each in (one, *_filled_in_later(one, mark))]


def settings_of(release: Release) -> Iterator[Setting]:
    """Yield the paths that the file of a release sets itself, with their lines. A list is one value.

    Paths of `--set` with an index or a backslash are left out.
    """
    for layer in release.inline:
        for path in (path for path, _ in leaves(layer.value) if path):
            yield Setting(path, layer.origin.at(path).line or 1)
    for one in release.values:
        if isinstance(one, SetValue) and re.fullmatch(r"[^\\\[=]+=.*", one.word, re.DOTALL):
            yield Setting(tuple(one.word.partition("=")[0].split(".")), one.origin.line or 1)
