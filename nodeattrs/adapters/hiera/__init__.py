"""Hiera 5: look a key up in layers of data files, and say where each part of the answer came from.

>>> from nodeattrs.adapters.hiera import merge
>>> merge([["a"], ["b", "a"]], "unique")
['a', 'b']
"""

from nodeattrs.adapters.hiera.answers import trusted_facts
from nodeattrs.adapters.hiera.census import (
    Kept,
    Seen,
    Unused,
    across,
    as_asked,
    differences,
    still_encrypted,
    undecided,
    unused,
    view,
)
from nodeattrs.adapters.hiera.errors import BadData, BadLookup, CannotDig, CannotMerge, HieraError, KeyNotFound
from nodeattrs.adapters.hiera.explain import Explanation, UnknownLevel
from nodeattrs.adapters.hiera.eyaml import Pkcs7
from nodeattrs.adapters.hiera.hierarchies import has_environments
from nodeattrs.adapters.hiera.scope import REQUIRED, Hiera, Scope
from nodeattrs.adapters.hiera.strategies import merge
from nodeattrs.adapters.hiera.values import encrypted_in
from nodeattrs.adapters.hiera.variables import Needed, needed
from nodeattrs.core.sensitive import Encrypted, Sensitive
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown

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
    "Seen",
    "Sensitive",
    "Unknown",
    "UnknownLevel",
    "Unused",
    "across",
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
