"""How a code is declared: the code of an error, of a warning, or of what a check finds.

    NA00xx  everywhere        NA03xx  documents       NA06xx  catalog
    NA01xx  trees and paths   NA04xx  repositories    NA10xx  Hiera
    NA02xx  merging           NA05xx  stores          NA11xx  cloud-init       NA12xx  bindings
    NA13xx  Ansible           NA14xx  attribute files as data

An error class declares its code in its body: `entry = declared("NA0102", "NoSuchAttribute", ...)`. A `Kind` is a word
for one of the things that a class is raised for. Kinds are constants of `nodeattrs/kinds.py`, and of `codes.py` in the
folder of a dialect. A module imports the kinds that it uses, so a misspelt one fails when the module is imported.
A code is given once: what goes away leaves a gap. This module imports nothing of ours. `nodeattrs codes` prints the
declarations, and the site has a page of them.

>>> codes()["NA1205"].name
'missing'
"""

from __future__ import annotations

from importlib import import_module
from typing import Literal, NamedTuple

_DECLARING = (
    "nodeattrs.errors",
    "nodeattrs.kinds",
    "nodeattrs.formats.patterns",
    "nodeattrs.store.revisions",
    "nodeattrs.store.search.query",
    "nodeattrs.catalog.errors",
    "nodeattrs.dialects.hiera.errors",
    "nodeattrs.dialects.cloudinit.faults",
    "nodeattrs.dialects.bindings.model.faults",
    "nodeattrs.dialects.ansible.faults",
)
"""The modules that declare codes, or import the module that does."""

_ROOMS = {
    "NA00": ("Everywhere", ""),
    "NA01": ("Trees and paths", ""),
    "NA02": ("Merging", ""),
    "NA03": ("Documents", "DocumentError"),
    "NA04": ("Repositories and runs", "NodeattrsError"),
    "NA05": ("Stores", "StoreError"),
    "NA06": ("Catalog", ""),
    "NA10": ("Hiera", "HieraError"),
    "NA11": ("cloud-init", "CloudConfigError"),
    "NA12": ("Bindings", "BindingError"),
    "NA13": ("Ansible", "AnsibleError"),
    "NA14": ("Fleets", "FleetError"),
}
"""The beginning of a code: the title on the page, and the class whose kinds it has."""

SITE = "https://nodeattrs.github.io/nodeattrs/"
"""The documentation of this project; the page codes.html has an anchor for each code."""


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
        """The address of its row on the site."""
        return f"{SITE}codes.html#{self.code.lower()}"


class Kind(str):
    """A word for one of the things that an error class is raised for, such as "repeated-key"; it knows its code."""

    entry: Code


NoKind = Literal[""]
"""The kind of an error whose class says everything."""

_declared: dict[str, Code] = {}


def declared(code: str, *names: str, cause: str, example: str, way_out: str) -> Code:
    """The entry of a class, with its texts for `nodeattrs codes`. raises: ValueError, for a code that is given twice"""
    title, owner = _ROOMS[code[:4]]
    entry = Code(code, names, owner, title, cause, example, way_out)
    if _declared.setdefault(code, entry) != entry:
        raise ValueError(f"{code} is declared twice: {', '.join((*_declared[code].names, *names))}")
    return entry


def kind(code: str, *names: str, cause: str, example: str, way_out: str) -> Kind:
    """The kind that *names* ends with; the class, or the kinds, before it share the code. raises: as `declared`"""
    return other_kind(names[-1], declared(code, *names, cause=cause, example=example, way_out=way_out))


def other_kind(name: str, entry: Code) -> Kind:
    """A further kind with the same entry. raises: ValueError, where the entry does not name it"""
    if name not in entry.names:
        raise ValueError(f"{entry.code} does not name {name}")
    found = Kind(name)
    found.entry = entry
    return found


def codes() -> dict[str, Code]:
    """Every code and its entry, in order. Imports every dialect that declares codes."""
    for module in _DECLARING:
        import_module(module)
    return dict(sorted(_declared.items()))


def known_codes() -> dict[str, Code]:
    """The codes of the modules that are imported already."""
    return dict(_declared)


def entry_of(code: str) -> Code:
    """The entry of a code. raises: KeyError

    >>> entry_of("NA0003").name
    'InternalError'
    """
    return _declared[code] if code in _declared else codes()[code]
