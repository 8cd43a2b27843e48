"""Find the releases of Helm that a helmfile describes, for each of its environments.

A Go template is filled in if it names the environment, the release, or a literal value of the environment. No template
runs: values that another template gives are unknown layers.

source: helmfile, "Configuration", "Environment", "Templates"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.files.releases import (
    TEMPLATE_MARK,
    Release,
    SetValue,
    Values,
    ValuesFile,
    chart_at,
    elements,
    has_mark,
    inline_layers,
    origin_at,
    parse_documents,
    path_below,
    read_documents,
    texts_by_path,
    unread_values,
    with_texts,
)
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, content_of, decoded

_DEFAULT = "default"
"""The environment of a helmfile that names none."""
_TEMPLATE = re.compile(r"\{\{(?:`[^`]*`|[^`{}]|\{(?!\{)|\}(?!\}))*\}\}")
_BLOCK = re.compile(r"\{\{-?\s*(if|range|with|define|block|end)\b")
"""A template that begins or ends a block. Helmfile may leave out or repeat the lines of a block."""
_ALONE = re.compile(r"\{\{-?\s*(?:(?:if|range|with|define|block|end|else|template)\b|/\*|\$)")
"""A template that writes nothing if it is alone on a line."""
_INSERTED = re.compile(r"\bn?indent\s+\d", re.ASCII)
"""A function in templates that write several lines of YAML."""
_RAW = re.compile(r"\{\{-?\s*`([^`]*)`\s*-?\}\}")
_FIELD = re.compile(r"\{\{-?\s*\.([A-Za-z_][\w.]*)\s*-?\}\}", re.ASCII)
_HELD = re.compile(r"⟦(\d{1,6})⟧")
"""A template that was left, by its number."""
_NOT_DONE = "is filled in by helmfile, which was not done"
_LONGEST = 1_000
"""The most characters of a text that is filled in."""
_LARGEST = 5_000_000
"""The most characters of a helmfile that is filled in."""
_SIGNS = re.compile(r"[{},]")
"""The signs before which helmfile writes a backslash in a value of `--set`."""
_VALUES = ("Values", "StateValues", "Environment.Values")
"""The names for the values of the environment in templates."""


def releases(root: Path, file: str, environment: str | None = None) -> Iterator[tuple[str, Release]]:
    """Yield (name, release) for each release of a helmfile, except for those with `installed: false`.

    The name is ENVIRONMENT/NAME; in a helmfile without environments it is NAME. An environment that the helmfile does
    not declare gives the same releases.
    root:        the root of the repository
    file:        the name of the helmfile, relative to *root*
    environment: yield the releases of this environment alone, and fill its values into templates. None: yield the
                 releases of all environments, and fill in nothing
    raises:      DocumentError
    """
    text = decoded(content_of(root / file, file), file)
    plain = _Helmfile.of(root, file, text, {})
    if environment is not None:
        helmfile = _Helmfile.of(root, file, text, plain.scope(environment or _DEFAULT))
        environments, found = [environment], [*helmfile.releases()]
    else:
        environments, found = plain.environments, [*plain.releases()]
    for one in environments:
        yield from ((f"{one}/{name}" if one else name, release) for name, release in found)


@dataclass(frozen=True)
class _Helmfile:
    """A helmfile for one environment.

    documents: its parts, and the files that it names as its bases before them
    held:      the templates that were left, by their number in the documents
    blocks:    the line of the first template that decides whether other lines count; 0 without any
    known:     what the templates may name: ".Environment.Name" -> its value
    """

    root: Path
    file: str
    documents: Sequence[Document]
    held: Sequence[str]
    blocks: int
    known: Mapping[str, str]

    @classmethod
    def of(cls, root: Path, file: str, text: str, known: Mapping[str, str]) -> _Helmfile:
        """Parse the text of a helmfile. raises: DocumentError"""
        held: list[str] = []
        lines = [*_on_lines(text)]
        blocks = next((number for number, one in enumerate(lines, 1) if _opens_block(one)), 0)
        masked = "\n".join(_masked(one, known, held) for one in lines)
        if len(masked) > _LARGEST:
            raise DocumentError(f"has more than {_LARGEST:,} characters where it is filled in", file=file)
        return cls(root, file, parse_documents(masked, file), held, blocks, known)

    @property
    def folder(self) -> str:
        """The folder of the helmfile, below the root."""
        return os.path.dirname(self.file)

    def tree(self, value: Any) -> Any:
        """A copy of a value of the documents, in which the numbers of `held` are replaced by their templates."""
        return with_texts(value, partial(_HELD.sub, self._left))

    def _left(self, match: re.Match[str]) -> str:
        number = int(match[1])
        return self.held[number] if number < len(self.held) else match[0]

    def _tops(self) -> Iterator[tuple[str, dict[Any, Any] | None]]:
        """The parts of the helmfile and of its bases, each with its folder; None for a base that was not read."""
        for one in self.documents:
            if isinstance(one.tree, dict):
                for _, base in elements(one.tree, "bases"):
                    yield from self._base(str(base))
                yield self.folder, one.tree

    def _base(self, text: str) -> Iterator[tuple[str, dict[Any, Any] | None]]:
        path = path_below(self.root, self.folder, text)
        if not path or not os.path.isfile(self.root / path) or _HELD.search(text):
            yield "", None
            return
        try:
            documents = read_documents(self.root, path)
        except DocumentError:  # a template, whose values are unknown
            yield "", None
            return
        yield from ((os.path.dirname(path), one.tree) for one in documents if isinstance(one.tree, dict))

    @property
    def environments(self) -> list[str]:
        """The names of the environments; [""] where only the default one is there."""
        named = [str(name) for _, top in self._tops() for name in _map(_map(top).get("environments"))]
        return [*dict.fromkeys(named)] if named and named != [_DEFAULT] else [""]

    def scope(self, environment: str) -> dict[str, str]:
        """Name in a template -> text: the name of an environment, and its literal values.

        Values of an environment lie over the values of each part of the helmfile. Secrets of an environment lie over
        both, and are not read: with them no value is known.
        """
        tops = [*self._tops()]
        of_helmfile = [(folder, _map(top)) for folder, top in tops]
        of_environment = [(folder, _map(_map(top.get("environments")).get(environment))) for folder, top in of_helmfile]
        is_known = not any(top is None for _, top in tops)
        is_known = is_known and not any(table.get("secrets") for _, table in of_environment)
        layers: list[Layer] = []
        for folder, table in (*of_helmfile, *of_environment):
            for _, one in elements(table, "values"):
                found = self._state_values(folder, one)
                is_known = is_known and found is not None
                layers += found or []
        values = fold(layers, ACROSS).value if layers and is_known else {}
        known = {
            f"{name}.{path}": text for path, text in texts_by_path(values) if len(text) <= _LONGEST for name in _VALUES
        }
        return {**known, "Environment.Name": environment}

    def _state_values(self, folder: str, one: Any) -> list[Layer] | None:
        """The layers of an entry of `values` of an environment; None where it is not known."""
        if isinstance(one, dict):
            return None if has_mark(self.tree(one), TEMPLATE_MARK) else [Layer(one)]
        path = path_below(self.root, folder, one) if isinstance(one, str) and not _HELD.search(one) else ""
        if not path.endswith((".yaml", ".yml")) or not os.path.isfile(self.root / path):
            return None
        try:
            return [Layer(each.tree) for each in read_documents(self.root, path) if isinstance(each.tree, dict)]
        except DocumentError:
            return None

    def releases(self) -> Iterator[tuple[str, Release]]:
        """Yield (name, release) in the order of the file. A base with own releases is yielded as an unread release."""
        for document in self.documents:
            for number, base in elements(document.tree, "bases"):
                if any(_map(top).get("releases") for _, top in self._base(str(base))):
                    origin = origin_at(document, ("bases", number), "base", base)
                    yield str(base), Release("", origin, (), "is a base whose releases were not read")
            for number, one in elements(document.tree, "releases"):
                if isinstance(one, dict) and one.get("installed") is not False:
                    name = str(self.tree(one.get("name", number)))
                    yield (name if TEMPLATE_MARK not in name else str(number)), self._release(document, number, one)

    def _release(self, document: Document, number: int, one: dict[Any, Any]) -> Release:
        at: TreePath = ("releases", number)
        one = self.tree(one)
        name = str(one.get("name", number))
        fields = [(key, str(one[key])) for key in ("name", "namespace", "chart") if key in one]
        known = {f"Release.{key.capitalize()}": text for key, text in fields if len(text) <= _LONGEST}
        values: list[Values] = []
        if "inherit" in one:
            origin = origin_at(document, (*at, "inherit"), "template", name)
            values.append(unread_values(origin, "takes values of a template, which were not read"))
        values += self._values(document, at, one, {**self.known, **known})
        if self.blocks:
            origin = origin_at(document, at, "helmfile", name).moved(self.blocks)
            values.append(unread_values(origin, "is a Go template, which was not run"))
        chart = str(one.get("chart", ""))
        origin = origin_at(document, (*at, "chart"), "chart", chart)
        return Release("" if TEMPLATE_MARK in chart else chart_at(self.root, self.folder, chart), origin, values)

    def _values(
        self, document: Document, at: TreePath, one: Mapping[Any, Any], known: Mapping[str, str]
    ) -> Iterator[Values]:
        is_optional = one.get("missingFileHandler", "Error") != "Error"
        for key in ("values", "secrets"):
            for number, entry in elements(one, key):
                path = (*at, key, number)
                if isinstance(entry, str):
                    yield self._file(document, path, _filled(entry, known), is_optional, key == "secrets")
                else:
                    yield from inline_layers(document, entry, path, str(one.get("name", "")), TEMPLATE_MARK)
        for key in ("set", "setString"):
            for number, entry in elements(one, key):
                yield self._set(document, (*at, key, number), _map(entry), key == "setString")
        for key in ("valuesTemplate", "setTemplate", "valuesPathPrefix"):
            if key in one:
                yield unread_values(origin_at(document, (*at, key), "values", key), _NOT_DONE)

    def _file(self, document: Document, at: TreePath, text: str, is_optional: bool, is_secret: bool) -> Values:
        origin = origin_at(document, at, "file", text)
        if TEMPLATE_MARK in text or text.endswith(".gotmpl"):
            return unread_values(origin, "is a Go template, which was not run")
        return ValuesFile(path_below(self.root, self.folder, text), origin, is_optional, is_secret)

    def _set(self, document: Document, at: TreePath, entry: Mapping[Any, Any], is_text: bool) -> Values:
        name, value = str(entry.get("name")), entry.get("value")
        origin = origin_at(document, at, "set", name)
        if value is None or has_mark([name, value], TEMPLATE_MARK) or isinstance(value, (dict, list)):
            return unread_values(origin, _NOT_DONE)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        plain = _SIGNS.sub(lambda match: f"\\{match[0]}", text)
        return SetValue(f"{name}={plain}", origin, is_text)


def _map(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _filled(text: str, known: Mapping[str, str]) -> str:
    """A text with what its templates name; what is not known stays."""
    text = _RAW.sub(lambda match: match[1], text)
    return _FIELD.sub(lambda match: known.get(match[1], match[0]), text)


def _on_lines(text: str) -> Iterator[str]:
    """The lines of a text, where a template of several lines is on one and empty lines follow it."""
    one_line = _TEMPLATE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), text)
    yield from one_line.split("\n")


def _opens_block(line: str) -> bool:
    """Whether a template on a line decides about other lines: it opens or closes a block, or writes several lines."""
    words = [match[1] for match in _BLOCK.finditer(_RAW.sub("", line))] if TEMPLATE_MARK in line else []
    return 2 * words.count("end") != len(words) or _writes_lines(line)


def _writes_lines(line: str) -> bool:
    return bool(_INSERTED.search(line)) and TEMPLATE_MARK in line and not _TEMPLATE.sub("", line).strip()


def _masked(line: str, known: Mapping[str, str], held: list[str]) -> str:
    """A line whose templates are filled in, or replaced by a number that YAML can read.

    held: takes the templates that were left. A line of blocks or comments alone becomes empty.
    """
    if TEMPLATE_MARK not in line:
        return line
    if line.lstrip().startswith("#"):
        return ""
    if not _TEMPLATE.sub("", line).strip() and (_ALONE.match(line.lstrip()) or _writes_lines(line)):
        return ""

    def one(match: re.Match[str]) -> str:
        field = _FIELD.fullmatch(match[0])
        if field is not None and field[1] in known:
            return known[field[1]]
        raw = _RAW.fullmatch(match[0])
        held.append(raw[1] if raw is not None else match[0])
        return f"⟦{len(held) - 1}⟧"

    return _TEMPLATE.sub(one, line)
