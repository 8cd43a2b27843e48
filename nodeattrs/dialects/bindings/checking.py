"""Find errors in a site of bindings: for one node, or for every combination of categories that conditions name.

With all combinations, a conflict is found before any node has it. Beyond 5,000 combinations the rest is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from math import prod
from pathlib import Path

from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.contract.folder import Folder
from nodeattrs.dialects.bindings.composition import FAULTY
from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.model.items import WhenItem
from nodeattrs.dialects.bindings.model.state import State
from nodeattrs.dialects.bindings.resolution import Layer
from nodeattrs.dialects.bindings.site import site_of
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports.findings import Finding, finding_of

MOST = 5_000


def _named_values(layers: Sequence[Layer], state: State) -> dict[str, list[str | None]]:
    """Category -> the values that conditions name for it, and None; categories without a condition are left out."""
    found: dict[str, dict[str | None, None]] = {}
    for layer in layers:
        for one in layer.sets:
            for item in one.every():
                for alternative in item.alternatives if isinstance(item, WhenItem) else ():
                    for name, value in alternative:
                        if name in state.names():
                            found.setdefault(name, {None: None})[str(value).lower()] = None
    return {name: list(found[name]) for name in state.names() if name in found}


def count_of(layers: Sequence[Layer], state: State) -> int:
    """The number of combinations of the categories that conditions name; 1 where no condition names a category."""
    return prod(len(values) for values in _named_values(layers, state).values())


def states_of(layers: Sequence[Layer], state: State) -> Iterator[State]:
    """Yield a state for each combination of the values that conditions name for categories, at most 5,000.

    In some of the states such a category has no value. A category that no condition names has a value in none.
    layers: the layers with the conditions
    state:  gives the listed categories, the variables and the mode of all states
    """
    values = _named_values(layers, state)
    for chosen in islice(product(*values.values()), MOST):
        given = dict(zip(values, chosen, strict=True))
        listed = [(name, given.get(name)) for name in state.names()]
        yield State(listed, state.variables, mode=state.mode, listed_at=state.listed_at)


def findings_of(asked: Iterable[tuple[str, Injector]]) -> Iterator[Finding]:
    """Yield the errors and warnings of injectors, and a note for each set of declarations that could not be read.

    A finding that several injectors have is yielded once, with the words of the first of these injectors.
    asked: pairs (words for the node or the categories, injector). "" adds no words to a finding
    """
    first: dict[Finding, str] = {}
    for who, injector in asked:
        for error in (*injector.faults, *injector.check()):
            first.setdefault(finding_of(error, "error"), who)
        for warning in injector.resolution.warnings:
            first.setdefault(finding_of(warning, "warning"), who)
        for place in injector.resolution.unknown:
            if place.value.reason not in FAULTY:  # the others are errors already
                at = place.origin
                note = Finding(
                    LAYER_IS_UNKNOWN.entry.code,
                    "note",
                    f"{place.value.name} was not read: {place.value.reason}",
                    at.file,
                    at.line,
                )
                first.setdefault(note, who)
    for found, who in first.items():
        yield found._replace(details=(*found.details, f"for {who}")) if who else found


def title_of(state: State) -> str:
    """The categories of a state in words: "role web + rack r7"; "common" if no category has a value."""
    return " + ".join(f"{name} {value}" for name, value in state.categories if value is not None) or "common"


def checked_site(root: Path) -> Iterator[CheckedFiles]:
    """Yield one CheckedFiles for the site of a repository: its findings without a node, and the number of its keys.

    Nothing if the settings name no site, and the folder `bindings` has no file of the text language.
    """
    repository = Folder(root)
    named = repository.config.bindings
    if named is None and not [*(root / "bindings").glob("*.pp"), *(root / "bindings").glob("*.bindings")]:
        return
    site = root / (named or ".")
    injector = site_of(repository, site, node="", facts={}).injector(lenient=True)
    found = [_seen_from(root, site, one) for one in findings_of([("", injector)])]
    yield CheckedFiles("binding", len(injector.keys()), found)


def _seen_from(root: Path, site: Path, one: Finding) -> Finding:
    return one._replace(file=os.path.relpath(site / one.file, root).replace(os.sep, "/")) if one.file else one
