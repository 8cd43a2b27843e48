"""Attribute files that are data, as checks see them: layers, whose keys are judged, and conditions on facts.

A fact is judged by the facts that are at hand: those shipped, and some of the repository's own. One that none of them
has, where one beside it is spelled nearly so, is misspelt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, dig, is_near, spell
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.kinds import MISSPELT
from nodeattrs.runs.attribute_data import SUFFIXES, AttributeData
from nodeattrs.runs.checks.stacks import Layer, leaves_of
from nodeattrs.runs.facts.known import platforms
from nodeattrs.runs.repository import Repository
from nodeattrs.texts import documents

_MOST_FACTS = 8
_NOTED = ("name", "chef_environment", "roles", "recipes", "expanded_run_list")
_OF_POLICY = ("policy_name", "policy_group", "policy_revision")


def data_files(repository: Repository) -> list[AttributeData]:
    """All of them that can be read."""
    found = []
    for name in repository.cookbooks():
        with suppress(NodeattrsError):
            cookbook = repository.cookbook(name)
            for file in [file for files in cookbook.attribute_files.values() for file in files]:
                with suppress(NodeattrsError):
                    found += [cookbook.data(file)] if file.endswith(SUFFIXES) else []
    return found


def layers_in(files: Iterable[AttributeData]) -> Iterator[Layer]:
    """What each says at each level."""
    for data in files:
        for block in data.blocks:
            for one in block.levels:
                yield Layer(f"attributes {one.level}", data.name, one.tree, one.locator, leaves_of(one.tree))


def misspelt_facts(repository: Repository, files: Iterable[AttributeData]) -> Iterator[DocumentError]:
    """Conditions on facts that nothing has and that are spelled nearly like one that is there.

    cost: nothing where there is no condition, else some documents of facts are read
    """
    asked = [(data, *one) for data in files for block in data.blocks for when in block.when for one in when.asks]
    known = list(_facts(repository)) if asked else []
    seen: set[tuple[str, Path]] = set()  # the condition of a file is that of each of its blocks, too
    for data, fact, at in asked:
        near = _near(fact, known)
        if near is not None and (data.name, at) not in seen:
            seen.add((data.name, at))
            error = data.document.error(f"no facts have {spell(fact)}; did you mean {spell(near)}?", at)
            error.kind = MISSPELT
            yield error


def _near(fact: Path, known: list[Any]) -> Path | None:
    """What is probably meant by a fact that none of these documents has."""
    if any(dig(facts, fact) is not ABSENT for facts in known):
        return None
    for depth in range(len(fact)):
        key, maps = fact[depth], [dig(facts, fact[:depth]) for facts in known]
        beside = {one for facts in maps if isinstance(facts, dict) for one in facts}
        if key not in beside:
            found = sorted(one for one in beside if isinstance(key, str) and is_near(key, str(one)))
            return (*fact[:depth], found[0], *fact[depth + 1 :]) if found else None
    return None


def _facts(repository: Repository) -> Iterator[Any]:
    own = repository.root / "facts"
    files = sorted(file for file in own.iterdir() if file.suffix in SUFFIXES) if own.is_dir() else []
    yield dict.fromkeys((*_NOTED, *_OF_POLICY))
    for file in (*platforms().values(), *islice(files, _MOST_FACTS)):
        with suppress(NodeattrsError):
            yield documents.read(file).tree
