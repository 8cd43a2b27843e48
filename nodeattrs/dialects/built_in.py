"""The list of the built-in dialects. A new dialect is added here."""

from __future__ import annotations

from nodeattrs.contract.dialect import Dialect
from nodeattrs.dialects.ansible.dialect import Ansible
from nodeattrs.dialects.bindings.dialect import Bindings
from nodeattrs.dialects.catalogs.dialect import CompiledCatalogs
from nodeattrs.dialects.chef.dialect import Chef
from nodeattrs.dialects.cloudinit.dialect import CloudInit
from nodeattrs.dialects.files.dialect import Files
from nodeattrs.dialects.hiera.dialect import Hiera

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
