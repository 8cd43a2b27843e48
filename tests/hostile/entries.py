"""What a tree consists of, as data: files, links and special files by path. It writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["TOP", "Entry", "File", "Link", "Special", "Store", "Tree", "program", "python"]

TOP = "@TOP@"
"""Stands in texts and targets of links for the folder that holds the repository, `outer` and `home`."""


@dataclass(frozen=True)
class File:
    """A text; one that is no UTF-8 has surrogates."""

    text: str
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Special:
    """A fifo, a socket, or a device with the numbers of /dev/null or /dev/zero, which only root can make."""

    kind: str


@dataclass(frozen=True)
class Store:
    """Two nodes of the repository, saved in a store ("sqlite") or exported to a folder ("folder")."""

    kind: str


Entry = File | Link | Special | Store


def python(name: str) -> str:
    """A Python file that notes that it ran."""
    return f"with open({f'{TOP}/ran'!r}, 'a') as ran:\n    ran.write({name!r} + '\\n')\n"


def program(name: str) -> File:
    """An executable that notes that it ran."""
    return File(f"#!/bin/sh\necho '{name}' >>'{TOP}/ran'\necho '{{}}'\n", 0o755)


@dataclass
class Tree:
    """A repository.

    entries: path -> what is there, in the second commit where git can have it, and in the work tree
    base:    path -> what the first commit has instead
    late:    path -> what is written after the commits; `.git/config` and `.git/info/attributes` are appended to
    quirks:  "uncommitted", where there is no second commit; what git's objects have: "bomb", "missing", "submodule"
    named:   kind of place -> paths of it that a command may be given
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    base: dict[str, Entry] = field(default_factory=dict)
    late: dict[str, Entry] = field(default_factory=dict)
    quirks: set[str] = field(default_factory=set)
    named: dict[str, list[str]] = field(default_factory=dict)

    def put(self, path: str, entry: Entry | str | dict[str, Any] | list[Any], name: str = "") -> None:
        """Add an entry. One that was there goes, and all below it; below a file or a link nothing is added.

        entry: a text is a file, and so are a map and a list, as JSON
        name:  the kind of place that it is, for commands
        """
        steps = path.split("/")
        if any("/".join(steps[:count]) in self.entries for count in range(1, len(steps))):
            return
        for below in [one for one in self.entries if one.startswith(f"{path}/")]:
            del self.entries[below]
        if isinstance(entry, dict | list):
            entry = json.dumps(entry, indent=1)
        self.entries[path] = File(entry) if isinstance(entry, str) else entry
        if name:
            self.named.setdefault(name, []).append(path)

    def add(self, path: str, text: str) -> None:
        """Append to a file, which is made where there is none."""
        old = self.entries.get(path)
        self.put(path, (old.text if isinstance(old, File) else "") + text)

    def paths(self, kind: str) -> list[str]:
        """The places of a kind that are there."""
        return [path for path in self.named.get(kind, []) if path in self.entries]

    def smaller(self) -> Iterator[Tree]:
        """The tree without some of its parts, in turns: halves of each map, single entries, quirks."""
        for kind in ("late", "entries", "base"):
            names = [*getattr(self, kind)]
            size = len(names)
            while size:
                for at in range(0, len(names), size):
                    gone = set(names[at : at + size])
                    left = {name: one for name, one in getattr(self, kind).items() if name not in gone}
                    if len(left) < len(getattr(self, kind)):
                        yield replace(self, **{kind: left})
                size //= 2
        for quirk in sorted(self.quirks):
            yield replace(self, quirks=self.quirks - {quirk})
        for kind in ("entries", "late"):
            for path, entry in getattr(self, kind).items():
                if isinstance(entry, File) and entry.text.count("\n") > 1:
                    lines = entry.text.splitlines(keepends=True)
                    for at in range(len(lines)):
                        text = "".join(lines[:at] + lines[at + 1 :])
                        yield replace(self, **{kind: {**getattr(self, kind), path: replace(entry, text=text)}})
