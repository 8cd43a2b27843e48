"""Find which values the templates of a chart read: the paths behind `.Values` in their text.

No template is parsed or run. `.Values.a` counts as a use of every value below a, so a value may count as read though no
template reads it. A value that counts as unread is really not in the text. Access by a computed name counts as a use of
every value below the last literal name.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nodeattrs import border
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.files.charts import CHART

_ACCESS = re.compile(r"\.Values(?!\w)((?:\.[A-Za-z_]\w*)*)", re.ASCII)
_BY_NAME = re.compile(r"\b(?:index|get|hasKey)\s+\(?\$?[\w.]*$", re.ASCII)
_NAMES = re.compile(r'((?:\s+"[^"\n]{0,200}")*)(\s+[^\s"|})\d-])?')
_HANDED_ON = re.compile(r'"Values"\s+\$?[\w.]*$', re.ASCII)
_DIG = re.compile(r'\bdig((?:\s+"[^"\n]{0,80}")+)\s+\S{1,40}\s+\$?[\w.]*$', re.ASCII)
_LITERAL = re.compile(r'"([^"\n]*)"')
_DEFINED = re.compile(r'\{\{-?\s*(?:define|block)\s+"([^"\n]{0,200})"')
_INCLUDED = re.compile(r'(?<![-\w])(?:include|template)\s+(?:"([^"\n]{0,200})"|[^\s"])')
_COMMENT = re.compile(r"\{\{-?\s*/\*")
_BEFORE = 300
"""Characters before `.Values` that are looked at."""
_LARGEST, _ALL, _MOST = 1_000_000, 20_000_000, 5_000
"""Bytes of a file of a chart that are read, of all its files, and their number."""


@dataclass(slots=True)
class ChartUses:
    """The values and templates that the files of a chart use. `uses_of` makes one and fills it.

    paths:    the paths of values that are read; each includes all paths below it
    computed: path -> the place (FILE:LINE) that reads a value below it by a computed name
    defined:  the names of templates that the files define
    included: the name of a template that the files include -> the first place; the key "" is for a computed name
    unread:   files that could not be read, or were too large or too many

    `covers` says whether a path is read, `names_below` names the keys below a path that are read. `foreign` yields
    (name, place) of each template that is included and not defined.
    """

    paths: set[TreePath] = field(default_factory=set)
    computed: dict[TreePath, str] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    included: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def covers(self, path: TreePath) -> bool:
        """Whether *paths* has the path or a path above it. Reads by a computed name do not count."""
        return any(path[:depth] in self.paths for depth in range(len(path) + 1))

    def names_below(self, path: TreePath) -> set[str]:
        """The keys just below *path* on the way to paths that are read; empty where none is below it."""
        depth = len(path)
        return {str(one[depth]) for one in self.paths if len(one) > depth and one[:depth] == path}

    @property
    def foreign(self) -> Iterator[tuple[str, str]]:
        """Yield (name, first place) of each template that the files include and do not define."""
        return ((name, place) for name, place in self.included.items() if name and name not in self.defined)


def uses_of(folder: Path, shown: str) -> ChartUses:
    """Read all files of a chart, also of unpacked subcharts, and note their uses of values.

    Files that cannot be read are noted in `unread`; nothing is raised.

    shown: the name of the folder in places and messages
    """
    found, left = ChartUses(), _ALL
    for number, (path, name) in enumerate(_files(folder, shown)):
        try:
            size = os.path.getsize(path)
            left -= size
            if number >= _MOST or size > _LARGEST or left < 0 or border.is_layer_outside(path):
                found.unread.append(name)
                continue
            with open(path, encoding="utf-8", errors="replace") as stream:
                text = stream.read(_LARGEST)
        except OSError:
            found.unread.append(name)
            continue
        if ".Values" in text or "{{" in text:
            _read(_without_comments(text), name, found)
    return found


def _files(folder: Path, shown: str) -> Iterator[tuple[Path, str]]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one[0] != ".")
        for name in sorted(names):
            path = Path(place, name)
            if not name.endswith((".md", ".tgz", ".png", CHART)) and path.is_file():
                yield path, f"{shown}/{path.relative_to(folder).as_posix()}"


def _without_comments(text: str) -> str:
    """A template without its comments; their line breaks stay."""
    kept, end = [], 0
    while (found := _COMMENT.search(text, end)) is not None:
        close = text.find("*/", found.end())
        if close < 0:
            break
        kept += [text[end : found.start()], "\n" * text.count("\n", found.start(), close)]
        end = close + 2
    return "".join([*kept, text[end:]])


def _read(text: str, name: str, found: ChartUses) -> None:
    """Note what a text reads, defines and includes."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    found.defined |= {match[1] for match in _DEFINED.finditer(text)}
    for match in _INCLUDED.finditer(text):
        found.included.setdefault(match[1] or "", _place(name, breaks, match))
    for match in _ACCESS.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        path = tuple(match[1].split(".")[1:])
        if _BY_NAME.search(before):
            names = _NAMES.match(text, match.end())
            path = (*path, *_LITERAL.findall(names[1] if names is not None else ""))
            if names is not None and names[2]:
                found.computed.setdefault(path, _place(name, breaks, match))
        elif not path and _HANDED_ON.search(before):
            continue
        elif not path and (dug := _DIG.search(before)) is not None:
            path = tuple(_LITERAL.findall(dug[1]))
        elif not path:
            found.computed.setdefault(path, _place(name, breaks, match))
        found.paths.add(path)


def _place(name: str, breaks: list[int], match: re.Match[str]) -> str:
    return f"{name}:{bisect_left(breaks, match.start()) + 1}"
