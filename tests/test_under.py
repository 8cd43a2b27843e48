"""Many parts that are laid under a result come to what they come to one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.core import folding
from nodeattrs.core.folding import Folding
from nodeattrs.core.part import Part, unite
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ACROSS,
    ANY,
    DROP,
    INSIDE,
    KEEP,
    MAP,
    MEET,
    NULL,
    PRESENT,
    TAKE,
    Line,
    Policy,
)
from nodeattrs.dialects.hiera.strategies import HASH, UNIQUE, strategy_of
from nodeattrs.errors import MergeConflict
from tests.effort import examples


def _refuse(lower: Part, upper: Part) -> Part:
    raise MergeConflict(f"{upper.value!r} over {lower.value!r}")


def _longer(lower: Part, upper: Part) -> Part:
    """What meets nothing grows each time: it is not settled."""
    return Part([*upper.value, 0], 99)


POLICIES = {
    "inside": INSIDE,
    "across": ACROSS,
    "drops": Policy(
        "drops", Line(MAP, MAP, MEET), Line(PRESENT, NULL, DROP), Line(NULL, PRESENT, DROP), Line(ANY, PRESENT, TAKE)
    ),
    "keeps": Policy("keeps", Line(MAP, MAP, MEET), Line(ANY, NULL, KEEP), Line(ANY, PRESENT, TAKE)),
    "refuses": Policy(
        "refuses",
        Line(MAP, MAP, MEET),
        Line("list", "list", unite),
        Line("list", PRESENT, _refuse),
        Line(ANY, ANY, TAKE),
    ),
    "grows": Policy("grows", Line(MAP, MAP, MEET), Line(ABSENT_KIND, "list", _longer), Line(ANY, PRESENT, TAKE)),
    "hash": HASH.policy,
    "unique": UNIQUE.policy,
    **{
        f"deep {options}": strategy_of({"strategy": "deep", **options}).policy
        for options in ({}, {"knockout_prefix": "-"}, {"merge_hash_arrays": True}, {"sort_merged_arrays": True})
    },
}

_SCALARS = st.sampled_from(["a", "-a", 1, True, False, None])
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc-"), inner, max_size=3),
    max_leaves=6,
)
_PARTS = st.lists(st.dictionaries(st.sampled_from("abc"), _TREES, max_size=3) | _TREES, min_size=1, max_size=7)


def _came(policy: Policy, parts: list[Any]) -> list[object]:
    laid = Folding(from_top=True)
    outcomes: list[object] = []
    for number, value in enumerate(parts, 1):
        try:
            laid.lay(Part(value, number), policy)
        except MergeConflict as error:
            outcomes += [str(error), error.path, repr(laid.result)]
    return [*outcomes, repr(laid.result)]


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=examples(40))
@given(parts=_PARTS)
def test_parts_laid_under_a_result_come_to_what_they_come_to_one_by_one(name: str, parts: list[Any]):
    """
    Values, the order of keys, who set what, and what is refused where.
    """
    one_by_one = _came(POLICIES[name], parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "MANY_STEPS", 1)
        assert one_by_one == _came(POLICIES[name], parts)
