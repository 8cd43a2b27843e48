"""What is decided without a regular expression comes out as the expression would have it."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodeattrs.bindings import Inventory, layer_references
from nodeattrs.dialects.hiera.keys import _Pattern
from nodeattrs.formats.patterns import BadPattern
from nodeattrs.puppet.regex import translated
from tests.effort import examples

SIGNS = ["a", "b", "::", ".*", "(.*)", "(", "|", ")", "?", "+", "$", "[ab]", "\\w", "^", "."]
keys = st.lists(st.sampled_from(["a", "b", ":", "::", "\n"]), max_size=6).map("".join)


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(SIGNS), max_size=6).map("".join), st.lists(keys, min_size=1, max_size=4))
def test_a_key_that_an_expression_of_options_passes_over_is_one_that_it_does_not_find(spelled, roots):
    try:
        whole = translated(f"^{spelled}")
    except BadPattern:
        assume(False)
    pattern = _Pattern(f"^{spelled}")

    assert [whole.search(root) for root in roots] == [pattern.search(root) for root in roots]


@pytest.mark.parametrize(
    ("spelled", "key"),
    [("^ab$", "b"), ("^a(.*)b$", "a"), ("^a(.*)b$", "ab"), ("^(?i)a$", "A"), ("^a?b$", "b"), ("^a$", "x\na")],
)
def test_an_expression_of_options_finds_the_keys_that_begin_and_end_as_it_does(spelled, key):
    assert translated(spelled).search(key) == _Pattern(spelled).search(key)


names = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4).map("::".join)


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=4), st.sets(names, max_size=8))
def test_a_segment_that_may_be_any_one_is_as_an_expression_has_it(wanted, there):
    assume("*" in wanted)
    pattern = re.compile("::".join("[^:]+" if one == "*" else one for one in wanted))
    layer = {"name": "modules", "include": f"module:/{'::'.join(wanted)}"}
    ((_, found),) = layer_references([layer], Inventory({"a": sorted(there)}))

    assert found == sorted(f"module:/{name}" for name in there if pattern.fullmatch(name))
