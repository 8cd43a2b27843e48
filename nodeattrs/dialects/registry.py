"""Find the dialects of installed packages, through the entry point group `nodeattrs.dialects`.

A package cannot take the name of a built-in dialect. The metadata of packages takes time to read. So this module is
loaded only for questions about all dialects, or about an unknown name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import NamedTuple

from nodeattrs import packages
from nodeattrs.contract.dialect import Dialect
from nodeattrs.dialects.built_in import BUILT_IN

GROUP = "nodeattrs.dialects"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


class ForeignDialects(NamedTuple):
    """The dialects of installed packages.

    dialects: the dialects
    faults:   a sentence for each entry point that gives no dialect
    """

    dialects: tuple[Dialect, ...]
    faults: tuple[str, ...]


@cache
def foreign() -> ForeignDialects:
    """The dialects that the entry points name; the same object at each call.

    An entry point that fails, or whose dialect has a name that is taken, is a fault.

    cost: some 30 ms at the first call, for the metadata of all packages
    """
    dialects: list[Dialect] = []
    faults: list[str] = []
    taken = {one.name for one in BUILT_IN}
    for point in packages.entry_points(GROUP):
        try:
            found = _loaded(point)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            faults.append(f"the dialect {point.name} ({_package(point)}) is skipped: {reason}")
            continue
        if found.name in taken:
            faults.append(f"the dialect {found.name} ({_package(point)}) is skipped: the name is taken")
            continue
        taken.add(found.name)
        dialects.append(found)
    return ForeignDialects(tuple(dialects), tuple(faults))


def _loaded(point: EntryPoint) -> Dialect:
    """raises: TypeError, for an object of another class; any error of the package"""
    found = point.load()()
    if not isinstance(found, Dialect) or not _NAME.fullmatch(str(getattr(found, "name", ""))):
        raise TypeError(f"{point.value} is no Dialect with a name of small letters, digits and dashes")
    return found


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


def all_dialects() -> Mapping[str, Dialect]:
    """Name -> dialect, the built-in ones first."""
    return {one.name: one for one in (*BUILT_IN, *foreign().dialects)}
