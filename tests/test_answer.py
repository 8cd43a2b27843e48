"""The adapter's contract: what every system answers, asked in one way for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nodeattrs import Layer, Node, Origin, fold
from nodeattrs.bindings import Bindings, Injector
from nodeattrs.bindings import Layer as BindingLayer
from nodeattrs.cloudinit import merge_layers
from nodeattrs.core.answer import Answer
from nodeattrs.core.trace import Outcome, rows
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import UnknownLayer
from nodeattrs.hiera import Hiera, Unknown
from tests.hiera_trees import written

WEAK = {"s": 1, "m": {"x": "weak"}, "l": ["weak"]}
STRONG = {"s": 2, "m": {"y": "strong"}, "l": ["strong"]}
UNKNOWN = object()
VAULT = Layer.unknown("vault", Origin("level", "vault"), "needs a server")
VAULT_SET = BindingLayer.unknown("vault", Origin("level", "vault"), "needs a server")
Ask = Callable[..., Answer]


def of_node(folder: Any, *trees: Any) -> Answer:
    """Each tree in a level of its own."""
    node = Node()
    for level, tree in zip(("default", "normal", "override"), trees, strict=False):
        if tree is UNKNOWN:
            node.unknown(level, "vault", VAULT.origin.at(()), "needs a server")
        for key, value in tree.items() if tree is not UNKNOWN else ():
            node.write(level, key, value)
    return node


def of_fold(folder: Any, *trees: Any) -> Answer:
    """Each tree a layer."""
    return fold([VAULT if tree is UNKNOWN else tree for tree in trees])


def of_hiera(folder: Any, *trees: Any) -> Answer:
    """Each tree a file, merged deeply."""
    levels = [
        {"name": "Vault", "lookup_key": "vault"}
        if tree is UNKNOWN
        else {"name": str(number), "path": f"level{number}.json", "data_hash": "json_data"}
        for number, tree in enumerate(trees)
    ]
    config = {"version": 5, "hierarchy": levels[::-1]}
    known = ((number, tree) for number, tree in enumerate(trees) if tree is not UNKNOWN)
    data = {f"data/level{number}.json": json.dumps({"k": tree}) for number, tree in known}
    written(folder, {"hiera.yaml": json.dumps(config), **data})
    scope = Hiera(folder, functions={"vault": lambda key, options: Unknown("vault", "needs a server")}).scope()
    return scope.explain("k", merge="deep")


def of_cloud_config(folder: Any, *trees: Any) -> Answer:
    """Each tree a layer: vendor-data below user-data."""
    texts = [VAULT if tree is UNKNOWN else f"#cloud-config\n{json.dumps(tree)}" for tree in trees]
    return merge_layers(**dict(zip(("vendor", "vendor2", "user"), texts, strict=False)))


def of_bindings(folder: Any, *trees: Any) -> Answer:
    """Each tree a layer that binds one key."""
    layers = [VAULT_SET if tree is UNKNOWN else [Bindings.of_values("values", {"k": tree})] for tree in trees]
    return Injector(layers[::-1]).explain("k")


def paths(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a tree."""
    yield path
    for key, entry in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from paths(entry, (*path, key))


class AnswerExam:
    """What an adapter promises. Its own test file makes a class of this one, and gives it `ask`."""

    @pytest.fixture
    def ask(self) -> Ask:
        """Asks for an answer, given a folder to write to and trees, the weakest first; some may be UNKNOWN."""
        raise NotImplementedError("say how to ask")

    def test_it_is_an_answer_and_its_value_what_traces_read(self, ask: Ask, tmp_path):
        """At every place of the value; and that is all plain data."""
        answer = ask(tmp_path, WEAK, STRONG)

        assert isinstance(answer, Answer)
        assert answer.value["s"] == 2
        for path in paths(answer.value):
            trace = answer.trace(path)
            assert (trace.found, trace.value) == (True, dig(answer.value, path))
        assert json.loads(json.dumps(answer.to_dict()))

    def test_origins_are_those_who_stand_in_the_trace(self, ask: Ask, tmp_path):
        """The same ones; where nothing is, nobody set it."""
        answer = ask(tmp_path, WEAK, STRONG)

        for path in paths(answer.value):
            origins = answer.origins(path)
            assert origins
            assert set(origins) == set(answer.trace(path).origins)
        for path in ("nobody", "s.nobody", "l.7"):
            assert (answer.origins(path), answer.trace(path).found) == ((), False)
            assert answer.trace(path).value is ABSENT

    def test_a_scalar_has_one_winner_and_says_whom_it_overrides(self, ask: Ask, tmp_path):
        """The strong one, and the weak one below it."""
        trace = ask(tmp_path, WEAK, STRONG).trace("s")

        assert [(stated.outcome, stated.claim.value) for stated in trace.claims] == [
            (Outcome.WINS, 2),
            (Outcome.LOSES, 1),
        ]
        assert trace.losers[0].by == (trace.claims[0].claim.rank,)

    def test_who_cannot_be_read_is_named_where_it_might_decide(self, ask: Ask, tmp_path):
        """A strong one everywhere, a weak one where it may add; in one spelling."""
        above, below = (ask(tmp_path / str(len(trees)), *trees) for trees in ((WEAK, UNKNOWN), (WEAK, UNKNOWN, STRONG)))

        assert [stated.why for stated in above.trace("s").unknown] == ["needs a server"]
        assert (above.value["s"], below.value["s"], below.trace("s").unknown) == (1, 2, ())
        with pytest.raises(UnknownLayer, match="'vault' is unknown: needs a server"):
            above.trace("s").require_known()
        below.trace("s").require_known()
        row = next(row for row in rows(above.trace("s")) if row.outcome == "unknown")
        assert (row.rule, str(row.value)) == ("may override it: needs a server", "(unknown)")
        assert row.origin.name in ("vault", "Vault")

    def test_words_come_from_the_one_table(self, ask: Ask, tmp_path):
        """As data and as text: outcome, number, value and rule of each row."""
        answer = ask(tmp_path, WEAK, STRONG)

        for path in (*paths(answer.value), ("nobody",)):
            trace = answer.trace(path)
            table, text = list(rows(trace)), str(trace)
            assert [(claim["outcome"], claim["rank"], claim["slot"]) for claim in trace.to_dict()["claims"]] == [
                (row.outcome, row.rank, row.title) for row in table
            ]
            assert all(row.outcome in text and row.note in text for row in table)


class TestOurs(AnswerExam):
    """The node, the core's own fold, and the three dialects."""

    @pytest.fixture(params=[of_node, of_fold, of_hiera, of_cloud_config, of_bindings])
    def ask(self, request: pytest.FixtureRequest) -> Ask:
        return request.param
