r"""Every code: of errors, of warnings, and of what checks find; with its cause, an example and the way out.

    NA00xx  everywhere        NA03xx  documents       NA06xx  catalog
    NA01xx  trees and paths   NA04xx  repositories    NA10xx  Hiera
    NA02xx  merging           NA05xx  stores          NA11xx  cloud-init       NA12xx  bindings
    NA13xx  Ansible           NA14xx  attribute files as data

The entries stand in codes.txt, room by room. An entry is a line with the code and its names, then a cause, an example
and a way out. A name in capitals is a class of `nodeattrs.errors` or of a room's own errors; any other is a `kind` of
the class that leads the room. A code is given once: what goes away leaves a gap. Imports nothing of ours; docs/codes.md
is made of it.

>>> code_named("missing", "BindingError").code
'NA1205'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Code(NamedTuple):
    """One entry.

    names: the class, or the kinds, that have it
    owner: the class whose kinds they are; "" where there is none
    """

    code: str
    names: tuple[str, ...]
    owner: str
    room: str
    cause: str
    example: str
    way_out: str

    @property
    def name(self) -> str:
        """What people call it: its last name, which is the kind where there is one."""
        return self.names[-1]

    @property
    def page(self) -> str:
        """Where it is described."""
        return f"docs/codes.md#{self.code.lower()}"


def rooms() -> Iterator[tuple[str, str, list[str]]]:
    """Each room, the class whose kinds its names are ("" where there is none), and the texts of its entries."""
    text = Path(__file__).with_name("codes.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^== (.+) ==\n", text, flags=re.MULTILINE)
    for head, entries in zip(parts[::2], parts[1::2], strict=True):
        room, _, owner = head.partition(": ")
        yield room, owner, entries.strip().split("\n\n")


def _entries() -> Iterator[Code]:
    for room, owner, entries in rooms():
        for entry in entries:
            head, cause, example, way_out = entry.split("\n")
            code, *names = head.split()
            yield Code(code, tuple(names), owner, room, cause, example, way_out)


@cache
def codes() -> dict[str, Code]:
    """Every code and its entry, in order."""
    return {one.code: one for one in _entries()}


@cache
def _by_name() -> dict[tuple[str, str], Code]:
    return {("" if name[0].isupper() else one.owner, name): one for one in codes().values() for name in one.names}


def code_named(name: str, owner: str = "") -> Code:
    """The entry of a class, or of a kind of the class *owner*. raises: LookupError"""
    found = _by_name().get((owner, name))
    if found is None:
        raise _no_entry([name], owner)
    return found


def known_kinds(family: type, *kinds: str) -> frozenset[str]:
    """The kinds that a module lists, of a class of errors: one without an entry is found when the module loads.

    raises: LookupError, with the kinds that have no entry
    """
    if missing := [kind for kind in kinds if _of_kind(family, kind) is None]:
        raise _no_entry(missing, family.__name__)
    return frozenset(kinds)


def _no_entry(names: list[str], owner: str) -> LookupError:
    return LookupError(f"nodeattrs/codes.txt has no entry for {', '.join(names)}" + (f" of {owner}" if owner else ""))


def _of_kind(family: type, kind: str) -> Code | None:
    found = (_by_name().get((one.__name__, kind)) for one in family.__mro__)
    return next(filter(None, found), None)


def code_of(family: type, kind: str = "") -> str:
    """The code of an error of a class with a kind: of the nearest class that has one.

    raises: LookupError, where no entry has the kind

    >>> code_of(LookupError)
    'NA0003'
    """
    if kind:
        found = _of_kind(family, kind)
        if found is None:
            raise _no_entry([kind], family.__name__)
        return found.code
    classes = (_by_name().get(("", one.__name__)) for one in family.__mro__)
    return next(filter(None, classes), code_named("InternalError")).code
