"""Codes such as NA0102: how the code of an error, a warning or a finding is declared and found.

    NA00xx  everywhere        NA03xx  documents       NA06xx  catalog
    NA01xx  trees and paths   NA04xx  repositories    NA10xx  Hiera
    NA02xx  merging           NA05xx  stores          NA11xx  cloud-init       NA12xx  bindings
    NA13xx  Ansible           NA14xx  attribute files as data

An error class declares its code in its body: `entry = declared("NA0102", "NoSuchAttribute", ...)`. A `Kind` is a word
for one of the reasons that a class is raised for, with a code of its own. Kinds are constants of `nodeattrs/kinds.py`,
and of `codes.py` in the folder of a dialect. A code is given once; the number of a deleted one is not used again. This
module imports nothing of ours. `nodeattrs codes` prints the declarations, and the site has a page of them.

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
    """The declaration of one code, with its texts for `nodeattrs codes`.

    code:    the code itself, such as "NA0102"
    names:   the name of the error class, the name of the kind, or both in this order
    owner:   the name of the error class that has the kinds of the section; "" if the section has no such class
    room:    the section of the page of codes that lists it, such as "Merging"
    cause:   what leads to the error, as a sentence
    example: a command or input that leads to it
    way_out: what the user can do, as a sentence
    name:    the last of *names*: the kind, or without one the class
    page:    the URL of its row on the site
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
        """The last of *names*: the kind where there is one, else the class."""
        return self.names[-1]

    @property
    def page(self) -> str:
        """The URL of its row on the site."""
        return f"{SITE}codes.html#{self.code.lower()}"


class Kind(str):
    """A word for one reason that an error class is raised for, such as "repeated-key". Made by `kind`.

    It is a text that also has a code. entry: the declaration of its code
    """

    entry: Code


NoKind = Literal[""]
"""The kind of an error whose class says everything."""

_declared: dict[str, Code] = {}


def declared(code: str, *names: str, cause: str, example: str, way_out: str) -> Code:
    """Declare a code, with its texts for `nodeattrs codes`. Returns its entry, as a `Code`.

    code:   such as "NA0102"; its first four characters choose the section
    names:  the name of the class, the names of kinds, or both in this order
    cause, example, way_out: texts of the entry; see `Code`
    raises: ValueError, for a code that was declared with other texts; KeyError, for a code with an unknown beginning
    """
    title, owner = _ROOMS[code[:4]]
    entry = Code(code, names, owner, title, cause, example, way_out)
    if _declared.setdefault(code, entry) != entry:
        raise ValueError(f"{code} is declared twice: {', '.join((*_declared[code].names, *names))}")
    return entry


def kind(code: str, *names: str, cause: str, example: str, way_out: str) -> Kind:
    """Declare a code, and return the kind with the last of *names*. A class or kinds before it share the code.

    cause, example, way_out: texts of the entry; see `Code`
    raises: ValueError, for a code that another entry has; KeyError, for a code with an unknown beginning
    """
    return other_kind(names[-1], declared(code, *names, cause=cause, example=example, way_out=way_out))


def other_kind(name: str, entry: Code) -> Kind:
    """A new `Kind` for a further name of an entry; it has the code of *entry*.

    raises: ValueError, if *name* is not one of the entry's names
    """
    if name not in entry.names:
        raise ValueError(f"{entry.code} does not name {name}")
    found = Kind(name)
    found.entry = entry
    return found


def codes() -> dict[str, Code]:
    """Code -> entry of all codes, in their order. Imports every dialect that declares codes."""
    for module in _DECLARING:
        import_module(module)
    return dict(sorted(_declared.items()))


def known_codes() -> dict[str, Code]:
    """Code -> entry of the modules that are imported already."""
    return dict(_declared)


def entry_of(code: str) -> Code:
    """The entry of a code; imports the dialects only where no imported module declares it. raises: KeyError

    >>> entry_of("NA0003").name
    'InternalError'
    """
    return _declared[code] if code in _declared else codes()[code]
