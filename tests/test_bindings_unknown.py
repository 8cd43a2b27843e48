"""Sets of bindings that cannot be read: told where they might decide a value, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from nodeattrs.bindings import (
    BindingError,
    BindingErrors,
    Bindings,
    BindingSet,
    Injector,
    Layer,
    Producer,
    sets_from_data,
    to_data,
)
from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.errors import UnknownLayer
from tests.effort import examples

WHERE = Origin("provider", "vault", "providers.yaml", 7)
VAULT = Layer.unknown("vault", WHERE, "needs a server")


class One(Producer):
    """Produces 1."""

    def produce(self) -> int:
        return 1


STATE = [("node", "n"), ("rack", "r")]


def bound(**values: Any) -> Bindings:
    """A set that binds names to values."""
    return Bindings.of_values("values", values)


def told(layers: list[Any], key: str, path: str = "") -> list[str]:
    """What the explanation names as unknown."""
    rows = Injector(layers, STATE).explain(key).trace(path).unknown
    return [f"{'.'.join(map(str, one.claim.path))}: {one.why}" for one in rows]


class TestWhereItMatters:
    def test_above_the_winner_or_beside_it(self):
        """It might bind the key again; below the winner it cannot be stated."""
        beside = Layer("both", (bound(a=1).to_set(), BindingSet.unknown("locked", WHERE, "is encrypted")))

        assert told([VAULT, [bound(a=1)]], "a") == ["a: needs a server"]
        assert told([beside], "a") == ["a: is encrypted"]
        assert told([[bound(a=1)], VAULT], "a") == []

    def test_an_unread_set_has_a_number_in_its_own_account_alone(self):
        """`rank_of` raises KeyError for the set of another account."""
        first, second = (Injector([VAULT, [bound(a=1)]], STATE).explain("a").account for _ in range(2))
        (unread,) = first.unknown()

        assert first.sources[first.rank_of(unread)].of is unread
        with pytest.raises(KeyError):
            second.rank_of(unread)

    def test_where_nothing_is_bound_it_might_be(self):
        """The key is missing all the same."""
        injector = Injector([VAULT])

        assert told([VAULT], "a") == ["a: needs a server"]
        assert injector.get("a", default=1) == 1

    def test_what_is_final_is_bound_in_no_higher_layer(self):
        """It would be refused there; in a better category of its own layer it might be."""
        one = Bindings("x")
        one.bind("a").final().to(1)
        locked = BindingSet.unknown("locked", WHERE, "is encrypted")

        assert told([VAULT, [one]], "a") == []
        assert told([Layer("both", (one.to_set(), locked))], "a") == ["a: is encrypted"]

    def test_below_an_optional_one_that_gave_nothing_it_does(self):
        """Whoever speaks instead stands below."""
        maybe = Bindings("maybe")
        maybe.bind("a").optional().lookup("nobody")

        assert told([[maybe], VAULT, [bound(a=1)]], "a") == ["a: needs a server"]
        assert told([[maybe], [bound(a=1)], [bound(nobody=2)], VAULT], "a") == []

    def test_an_unread_set_matters_for_keys_that_a_value_looks_up(self):
        """And says for which key."""
        top, low = Bindings("top"), Bindings("low")
        top.bind("a").lookup("b")
        low.bind("b").to(1)

        assert told([[top], VAULT, [low]], "a") == ["b: needs a server"]
        assert told([[top], [low], VAULT], "a") == []

    def test_the_source_of_an_alias_counts(self):
        """What lies between the two might be what it sees."""
        top = Bindings("top")
        top.alias("a", as_="b")

        assert told([[top], VAULT, [bound(a=1)]], "b") == ["a: needs a server"]
        assert told([[top], [bound(a=1)], VAULT], "b") == []

    def test_fragments_may_come_from_everywhere(self):
        """Of a list; of a hash below a name that has its own only where they would count."""
        one = Bindings("x")
        one.multibind("l", list)
        one.fragment("l").to(1)
        one.multibind("h", dict)
        one.fragment("h", "n").to(1)

        assert told([[one], VAULT], "l") == ["l: needs a server"]
        assert told([[one], VAULT], "l", "0") == ["l.0: needs a server"]
        assert told([[one], VAULT], "h") == ["h: needs a server"]
        assert told([[one], VAULT], "h", "n") == []
        assert told([[one], VAULT], "h", "m") == ["h.m: needs a server"]
        assert told([VAULT, [one]], "h", "n") == ["h.n: needs a server"]

    def test_classes_may_be_included_or_excluded_there(self):
        """Wherever it stands."""
        one = Bindings("x")
        one.include("ntp")

        assert told([[one], VAULT], "/classes") == told([VAULT, [one]], "/classes") == ["/classes: needs a server"]

    def test_text_and_data_say_it_as_those_of_every_system_do(self):
        """With the place, the layer and the reason."""
        explanation = Injector([VAULT, Layer("site", (bound(a=1).to_set(),))]).explain("a")

        assert str(explanation).splitlines()[2] == (
            "  unknown  2 vault         (unknown)  providers.yaml:7 (provider vault)"
            f"{' ' * (len(str(explanation.origins()[0])) - 33)}  may override it: needs a server"
        )
        assert [one["outcome"] for one in explanation.to_dict()["declarations"]] == ["wins", "unknown"]

    def test_a_fault_that_it_might_mend_says_so(self):
        """It is a fault all the same: nobody can look."""
        one = Bindings("x")
        one.bind("a").abstract()

        with pytest.raises(BindingErrors, match="it may be bound in what cannot be read: vault"):
            Injector([VAULT, [one]])

    def test_an_unread_set_is_not_written_as_an_empty_set(self):
        """That would bind nothing for sure."""
        with pytest.raises(BindingError, match="what the set vault binds is not known"):
            to_data(VAULT.sets[0])


class TestStrict:
    def test_a_strict_injector_refuses_keys_that_an_unread_set_might_decide(self):
        """Everything else is."""
        one = bound(a=1)
        one.include("ntp")
        one.bind("each", int).to_producer(One, each=True)
        injector = Injector([[bound(b=1)], VAULT, [one]], strict=True)

        assert injector.inject("b") == injector.inject("b") == 1
        for ask in (lambda: injector.inject("a"), lambda: injector.get("c", default=1), injector.classes,
                    injector.producer("a").produce, injector.producer("each", int).produce,
                    injector.dependencies, lambda: injector.inject("/classes")):  # fmt: skip
            with pytest.raises(UnknownLayer, match="the layer 'vault' is unknown: needs a server"):
                ask()
        assert injector.explain("a").value == 1
        with pytest.raises(UnknownLayer):
            injector.override({"b": 2}).inject("a")

    def test_an_injector_that_is_not_strict_answers_from_the_other_layers(self):
        """As if it were not there."""
        injector = Injector([VAULT, [bound(a=1)]])

        assert injector.inject("a") == 1
        assert [one.claim.origin for one in injector.unknown_layers("a")] == [WHERE]


class TestTheCommand:
    @pytest.fixture
    def site(self, tmp_path, monkeypatch):
        """A site whose second layer comes from a provider that cannot be asked."""

        class Point:
            name = "vault"

            def load(self) -> Any:
                return lambda references, request: [BindingSet.unknown("vault", WHERE, "needs a server")]

        monkeypatch.setattr("nodeattrs.packages.entry_points", lambda group: [Point()])
        (tmp_path / "manifests").mkdir()
        (tmp_path / "bindings").mkdir()
        (tmp_path / "manifests/site.yaml").write_text(
            "site: {layers: [{name: top, include: ['confdir:/top']}, {name: v, include: ['vault:/all']},"
            " {name: low, include: ['confdir:/low']}]}\n"
        )
        for name in ("top", "low"):
            (tmp_path / f"bindings/{name}.yaml").write_text(
                f"name: {name}\nitems: [{{kind: bind, name: {name}, to: {{value: 1}}}}]\n"
            )
        return tmp_path

    def ask(self, capsys, site, *words: str) -> tuple[int, str, str]:
        """The exit code, and what was written."""
        code = main(["bindings", *words, "--site", str(site), "--run-code"])
        out = capsys.readouterr()
        return code, out.out, out.err

    def test_exit_code_5_says_that_there_is_an_answer_which_may_be_overridden(self, site, capsys):
        """Where it may; for a key above nothing is said."""
        code, out, err = self.ask(capsys, site, "inject", "low")
        assert (code, out) == (5, "1\n")
        assert "providers.yaml:7 (provider vault) needs a server, and may set anything" in err
        assert self.ask(capsys, site, "inject", "top") == (0, "1\n", "")
        code, _, err = self.ask(capsys, site, "explain", "low")
        assert (code, "providers.yaml:7 (provider vault) needs a server" in err) == (5, True)
        code, out, _ = self.ask(capsys, site, "inject", "low", "--format", "json")
        assert json.loads(out)["unread"] == [
            {"place": "providers.yaml:7", "layer": "provider vault", "reason": "needs a server", "paths": []}
        ]

    def test_strict_makes_it_an_error(self, site, capsys):
        """For inject and explain."""
        for word in ("inject", "explain"):
            code, out, err = self.ask(capsys, site, word, "low", "--strict")
            assert (code, out) == (1, "")
            assert "the layer 'vault' is unknown: needs a server" in err
            assert self.ask(capsys, site, word, "top", "--strict")[0] == 0

    def test_a_key_that_only_it_might_bind_can_be_explained(self, site, capsys):
        """Its injection prints the error, and is not known."""
        assert self.ask(capsys, site, "explain", "other")[0] == 5
        assert self.ask(capsys, site, "inject", "other")[0] == 5


# --- silence is safe ------------------------------------------------------------------------------

KEYS = ("a", "b", "c", "l", "h", "/classes")
values = st.sampled_from([1, 2, [1], {"n": 1}])
items = st.one_of(
    st.builds(lambda name, to, flag: {"kind": "bind", "name": name, "to": {"value": to}, **flag},
              st.sampled_from("ab"), values, st.sampled_from([{}, {}, {"final": True}, {"override": True}])),
    st.builds(lambda name, key, more: {"kind": "bind", "name": name, "to": {"lookup": {"name": key}}, **more},
              st.sampled_from("ab"), st.sampled_from("abc"), st.sampled_from([{}, {"optional": True}])),
    st.builds(lambda key: {"kind": "alias", "key": key, "as": "c"}, st.sampled_from("ab")),
    st.builds(lambda into, to: {"kind": "bind", **into, "to": to},
              st.sampled_from([{"in": "h", "name": "n"}, {"in": "h", "name": "m"}, {"in": "l"}]),
              st.sampled_from([{"value": 1}, {"value": [2]}, {"value": {"x": 1}}, {"lookup": {"name": "a"}}])),
    st.builds(lambda kind: {"kind": kind, "names": ["k"]}, st.sampled_from(["include", "exclude"])),
)  # fmt: skip
guarded = st.builds(
    lambda condition, item: {"kind": "when", "if": condition, "items": [item]} if condition else item,
    st.sampled_from([[], [], [[["node", "n"]]], [[["rack", "r"]]], [[["node", "n"], ["rack", "r"]]]]),
    items,
)
sets = st.lists(guarded, max_size=4)
hashes = st.sampled_from(["priority", "ignore", "append", "concat", "flatten", "merge", "deep", "unite"])
lists = st.sampled_from(["concat", "append", "flatten", "uniq"])


def built(layers: list[Any]) -> Injector | None:
    """An injector; None where that is refused."""
    made = [
        one if isinstance(one, Layer) else Layer("x", (sets_from_data({"name": "x", "items": one})[0],))
        for one in layers
    ]
    try:
        return Injector(made, STATE)
    except BindingErrors:
        return None


def answer(injector: Injector, key: str) -> Any:
    """What is injected, or that it cannot be."""
    try:
        return injector.inject(key)
    except BindingError as error:
        return error.kind


@settings(max_examples=examples(400))
@given(st.lists(sets, min_size=1, max_size=3), st.integers(0, 3), sets, hashes, lists)
def test_what_is_not_told_to_be_unknown_is_not_changed_by_it(layers, index, hidden, of_hash, of_list):
    """
    Whatever the layer that cannot be read holds.
    """
    collections = [
        {"kind": "multibind", "type": "Hash[Data]", "name": "h", "options": {"combinator": of_hash}},
        {"kind": "multibind", "type": "Array[Data]", "name": "l", "options": {"combinator": of_list}},
    ]
    layers = [*layers[:index], None, *layers[index:], collections]
    without, unread, read = (
        built([other if one is None else one for one in layers]) for other in ([], VAULT, hidden)
    )  # fmt: skip
    if unread is None or read is None or without is None:
        return
    for key in KEYS:
        value = answer(unread, key)
        assert value == answer(without, key)
        explanation = unread.explain(key)
        if value != answer(read, key):
            assert explanation.unknown, key
        if isinstance(value, dict) and isinstance(now := answer(read, key), dict):
            for name in {*value, *now}:
                if value.get(name) != now.get(name):
                    assert explanation.trace((name,)).unknown, (key, name)


def test_a_file_of_a_site_that_cannot_be_read_may_bind_what_lies_below(tmp_path, capsys):
    """What a higher layer binds stays certain; a set that is not there counts as one that cannot be read."""
    layers = "".join(f"layer {{ '{one}': include => 'confdir:/{one}' }}, " for one in ("top", "mid", "gone"))
    (tmp_path / "manifests").mkdir()
    (tmp_path / "bindings").mkdir()
    (tmp_path / "manifests/site.pp").write_text(f"site {{ bindings => [ {layers} ] }}\n")
    (tmp_path / "bindings/top.pp").write_text("bindings top { bind 'high' to 1 }\n")
    (tmp_path / "bindings/mid.pp").write_text("bindings mid {\n")

    assert main(["bindings", "explain", "high", "--site", str(tmp_path)]) == 0
    assert main(["bindings", "list", "--site", str(tmp_path)]) == 5
    told = capsys.readouterr().err
    assert "bindings/mid.pp" in told
    assert "confdir:/gone" in told
