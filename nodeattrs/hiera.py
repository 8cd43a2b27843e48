"""Hiera 5: look a key up in layers of data files, and say where each part of the answer came from.

>>> from nodeattrs.hiera import merge
>>> merge([["a"], ["b", "a"]], "unique")
['a', 'b']
"""

from nodeattrs.core.sensitive import Encrypted, Sensitive, encrypted_in
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera.answers import trusted_facts
from nodeattrs.dialects.hiera.census import (
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
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, CannotDig, CannotMerge, HieraError, KeyNotFound
from nodeattrs.dialects.hiera.explain import Explanation, UnknownLevel
from nodeattrs.dialects.hiera.eyaml import Pkcs7
from nodeattrs.dialects.hiera.hierarchies import has_environments
from nodeattrs.dialects.hiera.scope import REQUIRED, Hiera, Scope
from nodeattrs.dialects.hiera.strategies import merge
from nodeattrs.dialects.hiera.variables import Needed, needed

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
