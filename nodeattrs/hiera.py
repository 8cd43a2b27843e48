"""Hiera 5: look a key up in layers of data files, and say where each part of the answer came from.

>>> from nodeattrs.hiera import merge
>>> merge([["a"], ["b", "a"]], "unique")
['a', 'b']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.core.sensitive import Encrypted, Sensitive, encrypted_in
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown

if TYPE_CHECKING:
    from nodeattrs.dialects.hiera.census import (
        Kept,
        Unused,
        as_asked,
        differences,
        still_encrypted,
        undecided,
        unused,
        view,
    )
    from nodeattrs.dialects.hiera.errors import BadData, BadLookup, CannotDig, CannotMerge, HieraError, KeyNotFound
    from nodeattrs.dialects.hiera.explain import Explanation, UnknownLevel
    from nodeattrs.dialects.hiera.eyaml import Pkcs7
    from nodeattrs.dialects.hiera.hierarchies import has_environments
    from nodeattrs.dialects.hiera.scope import REQUIRED, Hiera, Scope
    from nodeattrs.dialects.hiera.search import trusted_facts
    from nodeattrs.dialects.hiera.strategies import merge
    from nodeattrs.dialects.hiera.variables import Needed, needed

_HOMES = {
    "BadData": "errors",
    "BadLookup": "errors",
    "CannotDig": "errors",
    "CannotMerge": "errors",
    "Explanation": "explain",
    "Hiera": "scope",
    "HieraError": "errors",
    "Kept": "census",
    "KeyNotFound": "errors",
    "Needed": "variables",
    "Pkcs7": "eyaml",
    "REQUIRED": "scope",
    "Scope": "scope",
    "UnknownLevel": "explain",
    "Unused": "census",
    "as_asked": "census",
    "differences": "census",
    "has_environments": "hierarchies",
    "merge": "strategies",
    "needed": "variables",
    "still_encrypted": "census",
    "trusted_facts": "search",
    "undecided": "census",
    "unused": "census",
    "view": "census",
}

__all__ = [
    "ABSENT",
    "REQUIRED",
    "BadData",
    "BadLookup",
    "CannotDig",
    "CannotMerge",
    "Encrypted",
    "Explanation",
    "Hiera",
    "HieraError",
    "Kept",
    "KeyNotFound",
    "Needed",
    "Pkcs7",
    "Scope",
    "Sensitive",
    "Unknown",
    "UnknownLevel",
    "Unused",
    "as_asked",
    "differences",
    "encrypted_in",
    "has_environments",
    "merge",
    "needed",
    "still_encrypted",
    "trusted_facts",
    "undecided",
    "unused",
    "view",
]

__getattr__ = imported(__name__, _HOMES, below="nodeattrs.dialects.hiera")


def __dir__() -> list[str]:
    return sorted(__all__)
