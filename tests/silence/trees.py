"""All makers of cases: by the dialect, then by what cannot be read or is not known.

A maker knows how its dialect merges: whether the place can set the asked key is decided here, and not by nodeattrs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.silence import of_ansible, of_bindings, of_chef, of_cloudinit, of_files, of_hiera
from tests.silence.case import Case, Maker

MAKERS: Mapping[str, Mapping[str, Maker]] = {
    "folds": of_files.MAKERS,
    "hiera": of_hiera.MAKERS,
    "nodes": of_chef.MAKERS,
    "ansible": of_ansible.MAKERS,
    "cloud-init": of_cloudinit.MAKERS,
    "bindings": of_bindings.MAKERS,
}


def drawn(dialect: str, rand: random.Random) -> tuple[str, Case]:
    """A kind of place of a dialect, and a case of it."""
    kind = rand.choice([*MAKERS[dialect]])
    return kind, MAKERS[dialect][kind](rand)
