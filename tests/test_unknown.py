"""Layers that cannot be read: told where they might decide a value, and nowhere else."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import ACROSS, INSIDE, Fold, Layer, Line, Origin, Policy, fold
from nodeattrs.core.policy import ANY, KEEP, PRESENT, TAKE
from nodeattrs.core.trace import Outcome
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.errors import UnknownLayer
from nodeattrs.testing import trees

VAULT = Layer.unknown("vault", Origin("level", "vault", "hiera.yaml", 7), "needs a server")
FIRST = Policy("first", Line("absent", PRESENT, TAKE), Line(ANY, PRESENT, KEEP, "the first one stays"))


def is_told(layers: list[Any], path: str, policy: Policy = INSIDE) -> bool:
    """Whether the trace of a path names the unknown layer."""
    return bool(fold(layers, policy).trace(path).unknown)


class TestWhereItMatters:
    @pytest.mark.parametrize(
        ("value", "inside", "across"),
        [(80, False, False), (None, False, False), ([1], True, False), ({"x": 1}, True, True), (ABSENT, True, True)],
    )
    def test_below_the_value_that_is_read(self, value, inside, across):
        """
        Scalars replace whatever lies below; lists only between groups; maps never do.
        """
        above = {"k": value} if value is not ABSENT else {"other": 1}

        assert inside == is_told([VAULT, above], "k")
        assert across == is_told([VAULT, above], "k", ACROSS)

    @pytest.mark.parametrize("policy", [INSIDE, ACROSS])
    @pytest.mark.parametrize("value", [80, None, [1], {"x": 1}])
    def test_above_the_value_that_is_read_it_always_does(self, value, policy):
        """
        It may set anything.
        """
        assert is_told([{"k": value}, VAULT], "k", policy)

    def test_where_the_first_one_stays_a_later_one_does_not(self):
        """
        And one that was not asked first does.
        """
        assert not is_told([{"k": 1}, VAULT], "", FIRST)
        assert is_told([VAULT, {"k": 1}], "", FIRST)

    def test_an_unknown_layer_matters_path_by_path(self):
        """
        What is decided inside a map is asked inside of it.
        """
        layers = [VAULT, {"m": {"port": 80}}]

        assert is_told(layers, "m")
        assert not is_told(layers, "m.port")
        assert is_told(layers, "m.host")

    def test_a_layer_above_hides_it(self):
        """
        Whatever it sets there is replaced.
        """
        assert not is_told([{"k": 1}, VAULT, {"k": 2}], "k")

    def test_an_unknown_layer_may_be_in_an_inner_fold(self):
        """
        Whose result is laid over others.
        """
        inner = Fold((Layer({"k": [1]}), VAULT), INSIDE)

        assert is_told([{"k": [0]}, inner], "k", ACROSS)
        assert not is_told([inner, {"k": 5}], "k", ACROSS)

    def test_an_unknown_first_layer_matters_in_a_fold_from_the_top(self):
        """
        The first layer is the strongest there.
        """
        layers = [Layer({"k": 1}), VAULT, Layer({"k": 2})]

        assert not fold(layers, ACROSS, from_top=True).trace("k").unknown
        assert fold(layers[1:], ACROSS, from_top=True).trace("k").unknown

    @given(st.lists(trees(), min_size=1, max_size=3), st.integers(0, 3), trees(), st.sampled_from([INSIDE, ACROSS]))
    def test_where_nothing_is_said_nothing_could_have_changed(self, said, at, secret, policy):
        """
        Whatever the layer had set: the law that makes silence safe.
        """
        at = min(at, len(said))
        folded = fold([*said[:at], VAULT, *said[at:]], policy)
        known = fold([*said[:at], secret, *said[at:]], policy).value

        for path in itertools.chain([()], ((key,) for key in "ab"), itertools.product("ab", "ab")):
            if not folded.trace(path).unknown:
                assert repr(dig(folded.value, path)) == repr(dig(known, path)), path


class TestWhatIsTold:
    def test_the_value_is_that_of_the_others(self):
        """
        It sets nothing.
        """
        assert {"k": 1} == fold([VAULT, {"k": 1}, VAULT]).value
        assert {} == fold([VAULT]).value

    def test_the_text_of_a_trace_names_an_unknown_layer_and_its_reason(self):
        """
        Its name, where it is named, and why it is unknown.
        """
        assert fold([{"k": 1}, VAULT]).explain("k").splitlines()[2] == (
            "  unknown  2 vault  (unknown)  hiera.yaml:7 (level vault)  may override it: needs a server"
        )

    def test_an_unknown_layer_is_a_claim_without_a_value_as_data(self):
        """
        A claim like any other, without a value.
        """
        data = json.loads(json.dumps(fold([{"k": 1}, VAULT]).trace("k").to_dict()))

        assert ("unknown", None, "needs a server", "hiera.yaml") == tuple(
            data["claims"][1][key] for key in ("outcome", "value", "why", "file")
        )

    def test_the_winner_is_who_is_read(self):
        """
        Nobody, where only unknown layers are left.
        """
        trace = fold([{"a": 1}, VAULT]).trace("k")

        assert trace.winner is None
        assert [Outcome.UNKNOWN] == [one.outcome for one in trace.claims]


class TestStrict:
    def test_a_fold_refuses_it(self):
        """
        With its name, its reason, and where it is named.
        """
        with pytest.raises(UnknownLayer, match="'vault' is unknown: needs a server") as caught:
            fold([{"k": 1}, VAULT], strict=True)

        assert "hiera.yaml:7" in str(caught.value)

    def test_a_trace_refuses_it_where_it_might_decide(self):
        """
        And nowhere else.
        """
        folded = fold([VAULT, {"k": 1}])

        folded.trace("k").require_known()
        with pytest.raises(UnknownLayer):
            folded.trace("other").require_known()
