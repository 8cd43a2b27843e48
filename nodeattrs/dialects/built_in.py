"""The built-in dialects, and the look-up of a dialect by its name. A new dialect has its line here."""

from __future__ import annotations

from nodeattrs import dialects
from nodeattrs.contract.dialect import Dialect
from nodeattrs.core.tree import meant
from nodeattrs.dialects.ansible.dialect import Ansible
from nodeattrs.dialects.bindings.dialect import Bindings
from nodeattrs.dialects.catalogs.dialect import CompiledCatalogs
from nodeattrs.dialects.chef.dialect import Chef
from nodeattrs.dialects.cloudinit.dialect import CloudInit
from nodeattrs.dialects.files.dialect import Files
from nodeattrs.dialects.hiera.dialect import Hiera
from nodeattrs.errors import BadArgument

BUILT_IN: tuple[Dialect, ...] = (
    Chef(),
    Hiera(),
    CloudInit(),
    Files(),
    Bindings(),
    Ansible(),
    CompiledCatalogs(),
)
"""In the order of reports."""


def named(name: str) -> Dialect:
    """The dialect of a name; packages are looked into only where no built-in one has it. raises: BadArgument"""
    found = next((one for one in BUILT_IN if one.name == name), None) or dialects.every().get(name)
    if found is None:
        hint = meant(name, dialects.every()) or f"known are {', '.join(dialects.every())}"
        raise BadArgument(f"there is no dialect {name!r}", hint=hint)
    return found
