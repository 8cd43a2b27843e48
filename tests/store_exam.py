"""One exam for every store.

A test module makes a class of `StoreExam` and gives it the fixture `place`: where a
store that nobody used yet can be opened.
"""

import json
import sys
import threading
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import BadArgument, BadName, BadValue, DocumentError, MissingExtra, NodeNotFound, StoreError
from nodeattrs.store import NewerRevision, Noted, Saved, open_store, saved_document
from nodeattrs.store.carrying import copy_store, export_lines, read_nodes, save_nodes
from nodeattrs.store.engines import index, postgresql
from nodeattrs.store.engines import store as stores
from nodeattrs.store.engines.index import VERSION
from nodeattrs.store.saved_nodes import restore
from nodeattrs.store.search import parse_query
from tests.effort import examples
from tests.store_writers import mark_of, one_more, other_process, pair, write


def imported(store, lines, file, sensitive=()):
    """Save the nodes of a file, as `nodeattrs store import` does; their names."""
    return save_nodes(store, read_nodes(store, lines, file, sensitive))


def rows_of(store, query):
    """What a query in SQL finds in the tables of a store."""
    with store._reading("look") as transaction:
        return transaction.all(query)


names = st.sampled_from(["a", "b", "a.b", "a.json", "A-1", "a:b"])
scalars = st.sampled_from([None, True, 1, 1.0, -0.5, "", "1", "é\n\u2028\U0001f40d", 2**70])
trees = st.recursive(scalars, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("yxé"), part))
maps = st.dictionaries(st.sampled_from("yxé"), trees, max_size=3)
few = st.sampled_from([{}, {"x": 1}, {"x": True}, {"x": 1, "y": [None]}]) | maps
# The same few again and again: what does not change, and what comes back, are the rule.
steps = st.tuples(names, few, st.none() | few) | names | st.integers(1, 3) | st.just("open again")


class Judge:
    """What a store should have: of each node the revisions that are kept, and the last number that was given."""

    def __init__(self):
        self.kept, self.last = {}, {}

    def save(self, saved):
        self.last[saved.name] = number = self.last.get(saved.name, 0) + 1
        self.kept.setdefault(saved.name, {})[number] = saved
        return number

    def delete(self, name):
        return self.kept.pop(name, None) is not None

    def prune(self, keep):
        gone = [(name, number) for name, kept in self.kept.items() for number in sorted(kept)[:-keep]]
        for name, number in gone:
            del self.kept[name][number]
        return len(gone)

    def compare(self, store):
        assert sorted(self.kept) == store.names()
        for name, kept in self.kept.items():
            history = store.history(name)
            assert sorted(kept, reverse=True) == [revision.number for revision in history]
            for revision in history:
                for at in (revision.number, revision.at):
                    assert texts_of(kept[revision.number]) == texts_of(store.load(name, at))
            assert texts_of(kept[max(kept)]) == texts_of(store.load(name))
            assert store.load(name).revision == history[0]


def texts_of(saved):
    """As text, in which 1, 1.0 and true are three things, and keys have an order."""
    return json.dumps([saved.document, saved.snapshot])


class StoreExam:
    """What `nodeattrs.store.Store` promises, one sentence a test."""

    @pytest.fixture
    def place(self, tmp_path):
        raise NotImplementedError("say where a fresh store can be opened")

    @pytest.fixture
    def store(self, place):
        return open_store(place)

    def test_a_fresh_store_is_empty(self, store):
        assert [] == store.names()
        assert store.load("web1") is None
        assert store.delete("web1") is False

    def test_what_was_saved_comes_back_to_another_reader(self, store, place):
        saved = pair(1)
        store.save(saved)

        assert saved == open_store(place).load("web1")

    def test_key_order_and_types_come_back_too(self, store):
        document = {"name": "web1", "normal": {"z": 1, "a": 1.0, "m": [True, None, "1", {"y": {}, "b": []}]}}
        store.save(Saved("web1", document, {"z": 0, "a": False}))

        loaded = store.load("web1")
        assert json.dumps(document) == json.dumps(loaded.document)
        assert '{"z": 0, "a": false}' == json.dumps(loaded.snapshot)

    def test_a_save_replaces_both_halves(self, store):
        store.save(pair(1))
        store.save(pair(2))

        assert 2 == mark_of(store.load("web1"))
        assert ["web1"] == store.names()

    def test_the_same_document_may_get_another_snapshot(self, store):
        first = pair(1)
        store.save(first)
        store.save(Saved("web1", first.document, {"other": True}))

        assert {"other": True} == store.load("web1").snapshot

    @pytest.mark.parametrize("document_changes", [True, False])
    def test_without_a_snapshot_the_origin_is_unknown_and_that_is_said(self, store, document_changes):
        store.save(pair(1))
        document = pair(2 if document_changes else 1).document
        store.save(Saved("web1", document))

        loaded = store.load("web1")
        assert (document, None) == (loaded.document, loaded.snapshot)
        assert loaded.note.startswith("saved, origin unknown: ")

    def test_a_snapshot_left_behind_does_not_come_back_to_life(self, store):
        """First with a snapshot, then without, then the first document again without."""
        store.save(pair(1))
        store.save(Saved("web1", pair(2).document))
        store.save(Saved("web1", pair(1).document))

        assert store.load("web1").snapshot is None

    def test_names_are_sorted_and_stand_apart(self, store):
        wanted = ["b", "a", "a.b", "a.json", "a.snapshot", "a:b", "a" * 200]
        for name in wanted:
            store.save(pair(name, name))

        assert sorted(wanted) == store.names()
        assert {name: name for name in wanted} == {name: mark_of(store.load(name)) for name in wanted}

    def test_deleting_one_node_leaves_the_others(self, store):
        for name in ("a", "a.b", "b"):
            store.save(pair(name, name))

        assert store.delete("a") is True
        assert store.delete("a") is False
        assert store.load("a") is None
        assert ["a.b", "b"] == store.names()
        assert "a.b" == mark_of(store.load("a.b"))

    @pytest.mark.parametrize(
        "name",
        [
            "",
            ".",
            "..",
            ".a",
            "../a",
            "/a",
            "a/b",
            "a\\b",
            "a\0",
            "a\n",
            "a b",
            "a'; --",
            "é",
            "a@b",
            "a" * 201,
            None,
            1,
        ],
    )
    def test_a_name_that_no_node_can_have_is_refused(self, store, name):
        for refusing in (store.load, store.delete, lambda name: store.save(Saved(name, {"name": name}))):
            with pytest.raises(BadName, match="no node can be called"):
                refusing(name)
        assert [] == store.names()

    @pytest.mark.parametrize(
        "document",
        [
            {"name": "web1", "normal": {"a": {1, 2}}},
            {"name": "web1", "normal": {"a": float("nan")}},
            {"name": "web1", "normal": {"a": float("inf")}},
            {"name": "web1", "normal": {"a": "\ud800"}},
            {"name": "web1", "normal": {1: "a"}},
            {"name": "web1", "normal": {"a": (1, 2)}},
            {"name": "db1"},
            {},
            ["web1"],
        ],
    )
    def test_what_could_not_be_loaded_again_is_not_saved(self, store, document):
        store.save(pair(1))

        with pytest.raises(BadValue, match="of the node 'web1'"):
            store.save(Saved("web1", document))
        assert 1 == mark_of(store.load("web1"))

    @pytest.mark.parametrize("run_list", [5, "role[web]", {"role[web]": 1}])
    def test_a_document_whose_run_list_is_no_list_is_not_saved(self, store, run_list):
        with pytest.raises(
            BadValue, match=r"the run-list of the node 'web1' is .*, and no list\n.*\[\"role\[web\]\"\]"
        ):
            store.save(Saved("web1", {"name": "web1", "run_list": run_list}))
        assert not store.is_there()

    @pytest.mark.parametrize("snapshot", [{"a": {1, 2}}, {"a": float("nan")}, {1: "a"}, {"a": (1,)}])
    def test_a_snapshot_that_could_not_be_loaded_again_is_not_saved(self, store, snapshot):
        store.save(pair(1))

        with pytest.raises(BadValue, match="the snapshot of the node 'web1'"):
            store.save(Saved("web1", pair(2).document, snapshot))
        assert 1 == mark_of(store.load("web1"))

    def test_endless_depth_is_an_error_and_no_crash(self, store):
        tree = loop = {}
        loop["a"] = loop
        doubled = {}
        doubled["a"] = [doubled, doubled]
        for bad in (tree, doubled, deep(2_000)):
            for saved in (Saved("web1", {"name": "web1", "normal": bad}), Saved("web1", {"name": "web1"}, bad)):
                with pytest.raises(BadValue):
                    store.save(saved)
        assert [] == store.names()

    def test_what_was_loaded_belongs_to_the_reader(self, store):
        store.save(pair(1))
        loaded = store.load("web1")
        loaded.document["normal"]["mark"] = loaded.snapshot["mark"] = 2

        assert 1 == mark_of(store.load("web1"))

    def test_a_store_names_its_place(self, store, place):
        assert place.rpartition("://")[2] in store.describe()

    # Every store has a class of its own for this exam, and none of them minds the others.
    @settings(max_examples=examples(25, fewest=8), suppress_health_check=[HealthCheck.differing_executors])
    @given(data=st.data())
    def test_it_behaves_like_lists_of_revisions(self, tmp_path_factory, data):
        """Random saves, deletes and prunes; plain lists are the judge."""
        place = self.fresh(tmp_path_factory)
        store, judge = open_store(place), Judge()
        for step in data.draw(st.lists(steps, max_size=8)):
            match step:
                case "open again":
                    store.close()
                    store = open_store(place)
                case int(keep):
                    assert judge.prune(keep) == store.prune(keep)
                case str(name):
                    assert judge.delete(name) == store.delete(name)
                case name, tree, snapshot:
                    saved = Saved(name, {"name": name, "normal": tree}, snapshot)
                    assert judge.save(saved) == store.save(saved).number
            judge.compare(store)
        assert [] == store.check()

    def fresh(self, tmp_path_factory):
        """A place for tests that need many."""
        raise NotImplementedError("say where a fresh store can be opened")

    def test_each_save_has_a_number_of_its_own(self, store):
        numbers = [store.save(pair(mark)).number for mark in (1, 1, 2)]

        assert [1, 2, 3] == numbers
        assert 3 == store.load("web1").revision.number
        assert 3 == store.history("web1")[0].number
        assert [("web1", 3)] == [(name, revision.number) for name, revision in store.latest()]

    def test_a_revision_tells_what_was_noted_of_the_run(self, store, place):
        noted = Noted(False, "RecipeFailed", "4f1c09e", "0.1", {"resources": 7})
        before = datetime.now(UTC)
        given = store.save(pair(1)._replace(noted=noted))

        kept = open_store(place).load("web1")
        assert noted == kept.noted == kept.revision.noted
        assert given == kept.revision
        assert before <= kept.revision.at <= datetime.now(UTC)

    def test_saving_over_somebody_elses_revision_is_refused_and_shows_both(self, store, place):
        store.save(pair(1))
        ours = store.load("web1").revision.number
        open_store(place).save(pair("theirs"))

        with pytest.raises(NewerRevision, match=r"there is revision 2, saved .*\n.* began with revision 1") as caught:
            store.save(pair("ours"), after=ours)
        assert (1, 2) == (caught.value.expected, caught.value.found.number)
        assert "theirs" == mark_of(store.load("web1"))
        assert 3 == store.save(pair("ours"), after=2).number
        assert "ours" == mark_of(store.load("web1"))

    def test_of_several_that_are_saved_at_once_each_has_its_own_answer(self, store):
        store.save(pair("theirs", "b"))
        bad = Saved("c", {"name": "c", "normal": {"a": {1, 2}}})
        given = [(pair(1, "b"), 0), (pair(1, "a"), 0), (bad, None), (pair(1, "d"), None)]

        refused, first, wrong, last = store.save_all(given)  # who comes later has most of what is refused

        assert (1, 1) == (first.number, last.number)
        assert isinstance(refused, NewerRevision)
        assert isinstance(wrong, BadValue)
        assert ["a", "b", "d"] == store.names()
        assert [1, "theirs", 1] == [mark_of(store.load(name)) for name in "abd"]
        assert 2 == store.save(pair(2, "b"), after=1).number
        assert [] == store.check()
        assert ["a", "b", "d"] == store.search(parse_query("name:*"))

    def test_of_several_of_which_none_can_be_kept_no_store_is_made(self, store):
        (wrong,) = store.save_all([(Saved("c", {"name": "c", "normal": {"a": {1}}}), None)])

        assert isinstance(wrong, BadValue)
        assert not store.is_there()

    def test_maps_that_look_like_places_of_facts_come_back(self, store):
        node = Node("web1")
        facts = {
            "cpu": {f"core{number}": {"mhz": number * 1.5, "flags": ["a", "b"]} for number in range(90)},
            "os": "x",
        }
        node.automatic = facts
        node.normal["kept"] = {"whole": {"j": facts["cpu"]}}
        node.default["mine"] = {"j": {"a": [1]}}
        snapshot = node.snapshot()
        document = saved_document(node)
        document["automatic"]["cpu"] = facts["cpu"]
        for entry in snapshot["slots"]["15"]["m"]:
            if entry[0] == "cpu":
                entry[1] = {"j": facts["cpu"]}
        whole = Saved("web1", document, snapshot)
        store.save(whole)

        assert whole == store.load("web1")

    def test_a_first_revision_is_first_only_once(self, store):
        store.save(pair(1), after=0)

        with pytest.raises(NewerRevision):
            store.save(pair(2), after=0)
        assert 1 == mark_of(store.load("web1"))

    def test_of_first_saves_at_once_all_are_kept(self, tmp_path_factory):
        """
        One process makes the store, the others wait until it is there; see `first`.
        """
        places = [self.fresh(tmp_path_factory) for _ in range(examples(16, fewest=4))]
        process = other_process("first", *places)
        told, complaint = process.communicate()
        assert (0, f"{len(places)} begun, none lost") == (process.returncode, told.strip()), complaint

    def test_the_latest_revision_can_be_had_by_number_and_by_time(self, store):
        before = datetime.now(UTC)
        store.save(pair(1))

        assert 1 == mark_of(store.load("web1", 1))
        assert 1 == mark_of(store.load("web1", datetime.now(UTC)))
        assert store.load("web1", before) is None
        assert store.load("web1", 7) is None

    def test_the_latest_revision_is_found(self, store):
        store.save(Saved("web1", {"name": "web1", "default": {"nginx": {"port": 80}}}))
        store.save(Saved("web2", {"name": "web2", "default": {"nginx": {"port": 443}}}))
        store.save(Saved("web1", {"name": "web1", "default": {"nginx": {"port": 8080}}}))

        found = {query: store.search(parse_query(query)) for query in ("port:80", "nginx_port:8080", "nginx.port>=443")}
        assert {"port:80": [], "nginx_port:8080": ["web1"], "nginx.port>=443": ["web1", "web2"]} == found
        store.delete("web1")
        assert ["web2"] == store.search(parse_query("*:*"))
        assert [] == store.check()

    def test_the_values_of_found_nodes_are_those_of_their_latest_revisions(self, store):
        for name, port in (("web2", 80), ("web1", 443), ("db1", 5432)):
            store.save(Saved(name, {"name": name, "normal": {"port": port}, "automatic": {"fqdn": f"{name}.example"}}))
        web = parse_query("name:web*"), (("port",), ("fqdn",), ("nothing",))
        before = store.values(*web)
        store.save(Saved("web2", {"name": "web2", "normal": {"port": 8080}}))

        assert [(443, "web1.example", ABSENT), (80, "web2.example", ABSENT)] == before
        assert [(443, "web1.example", ABSENT), (8080, ABSENT, ABSENT)] == store.values(*web)
        assert [] == store.values(parse_query("name:nobody"), (("port",),))

    def test_pruning_leaves_the_latest(self, store):
        for mark in (1, 2, 3):
            store.save(pair(mark))
        store.prune(1)

        assert [3] == [revision.number for revision in store.history("web1")]
        assert 3 == mark_of(store.load("web1"))
        assert ["web1"] == store.search(parse_query("mark:3"))
        assert [] == store.check()
        with pytest.raises(BadArgument):
            store.prune(0)

    def test_every_revision_comes_back(self, store):
        for mark in (1, 2, 3):
            store.save(pair(mark))

        assert [3, 2, 1] == [revision.number for revision in store.history("web1")]
        assert [1, 2, 3] == [mark_of(store.load("web1", number)) for number in (1, 2, 3)]
        times = {revision.number: revision.at for revision in store.history("web1")}
        assert 2 == mark_of(store.load("web1", times[2]))
        assert times[1] < times[2] < times[3]

    def test_search_can_look_back(self, store):
        store.save(pair(1))
        then = store.history("web1")[0].at
        store.save(pair(2))

        assert (["web1"], []) == (store.search(parse_query("mark:1"), then), store.search(parse_query("mark:1")))

    def test_a_number_is_never_given_twice(self, store):
        """
        So that whoever loaded a node before it was deleted does not take the new one for it.
        """
        store.save(pair(1))
        store.delete("web1")

        assert [] == store.history("web1")
        assert 2 == store.save(pair(1)).number
        with pytest.raises(NewerRevision):
            store.save(pair(2), after=1)

    def test_a_revision_that_never_was_is_none(self, store):
        store.save(pair(1))
        store.delete("web1")
        store.save(pair(2))

        assert [None, None, None] == [store.load("web1", at) for at in (0, 1, 3)]
        assert [] == store.history("web2")

    def test_a_revision_without_a_snapshot_is_a_revision(self, store):
        store.save(Saved("web1", pair(1).document))
        store.save(pair(2))

        assert [2, 1] == [revision.number for revision in store.history("web1")]
        assert (pair(1).document, None) == (store.load("web1", 1).document, store.load("web1", 1).snapshot)
        assert store.load("web1", 1).note.startswith("saved, origin unknown: ")

    def test_a_run_in_which_nothing_changed_is_a_revision_too(self, store, place):
        for number in range(1, 4):
            store.save(pair(1)._replace(noted=Noted(report={"run": number})), after=number - 1)

        history = open_store(place).history("web1")
        assert [3, 2, 1] == [revision.number for revision in history]
        assert [3, 2, 1] == [revision.noted.report["run"] for revision in history]
        assert [1, 1, 1] == [mark_of(store.load("web1", number)) for number in (1, 2, 3)]
        assert {"run": 3} == store.load("web1").noted.report == store.load("web1").revision.noted.report

    def test_all_of_them_are_named_found_and_looked_at(self, store, monkeypatch):
        """
        More than fit into one look, two of which have been changed since.
        """
        for module in (index, stores, postgresql):
            monkeypatch.setattr(module, "AT_ONCE", 3)
        known = [f"n{number}" for number in range(10)]
        for name in known:
            store.save(pair(name, name, 10))
        store.save(pair("again", "n3", 10), after=1)

        assert known == store.names() == store.search(parse_query("*:*")) == store.search(parse_query("name:n*"))
        assert [name for name in known if name != "n3"] == store.search(parse_query("NOT mark=again"))
        assert [(name, 1 + (name == "n3")) for name in known] == [(name, one.number) for name, one in store.latest()]
        assert [] == store.check()

    def test_who_takes_them_one_by_one_may_look_elsewhere_meanwhile(self, store):
        """
        And may change what comes next.
        """
        for name in "abc":
            store.save(pair("m", name, 10))

        seen = [(name, len(store.history(name)), store.delete(name)) for name, _ in store.latest()]

        assert [("a", 1, True), ("b", 1, True), ("c", 1, True)] == seen

    def test_an_older_revision_becomes_the_latest_again(self, store):
        for mark in (1, 2, 3):
            store.save(pair(mark))

        assert 4 == restore(store, "web1", 2).number
        assert [1, 2, 3, 2] == [mark_of(store.load("web1", number)) for number in (1, 2, 3, 4)]
        assert 2 == mark_of(store.load("web1"))
        assert [] == store.check()

    def test_what_was_there_at_a_time_can_be_taken_elsewhere(self, store, tmp_path_factory):
        node = Node("web1")
        node.normal["mark"] = 1
        then = store.save(Saved("web1", saved_document(node), node.snapshot())).at
        node.normal["mark"] = 2
        store.save(Saved("web1", saved_document(node), node.snapshot()))
        other = open_store(self.fresh(tmp_path_factory))
        imported(other, export_lines(store, ["web1"], then, snapshots=True), "nodes.jsonl")

        assert store.load("web1", 1) == other.load("web1")
        assert {"mark": 1} == other.load("web1").document["normal"]

    def test_pruning_leaves_those_that_were_asked_for(self, store):
        for mark in range(1, 8):
            store.save(pair(mark // 2))
            store.save(pair(mark, "web2"))

        assert 8 == store.prune(3)
        for name, marks in (("web1", [2, 3, 3]), ("web2", [5, 6, 7])):
            assert [7, 6, 5] == [revision.number for revision in store.history(name)]
            assert marks == [mark_of(store.load(name, number)) for number in (5, 6, 7)]
        assert store.load("web1", 4) is None
        assert 8 == store.save(pair(1)).number
        assert [] == store.check()

    def test_it_can_be_used_after_it_was_closed(self, store):
        store.save(pair(1))
        store.close()

        assert 1 == mark_of(store.load("web1"))


class DatabaseExam:
    """How a store in a database keeps its revisions."""

    @pytest.fixture
    def store(self, place):
        return open_store(place)

    def damage(self, place, statement, *values):
        raise NotImplementedError("say how a statement is carried out behind the store's back")

    def test_what_did_not_change_is_kept_once(self, store):
        """
        A thousand revisions have the size of one and a thousand short notes.
        """
        facts = {str(number): {"value": f"{number} " * 50} for number in range(200)}
        saved = Saved("web1", {"name": "web1", "automatic": facts}, {"slots": facts})
        store.save(saved)
        first = self.counted(store)
        for _ in range(20):
            store.save(saved)
        assert first == self.counted(store)

        facts["7"]["value"] = "another"
        store.save(Saved("web1", {"name": "web1", "automatic": facts}, {"slots": facts}))
        assert 2 == self.counted(store)[0] - first[0]

    def test_facts_are_a_text_that_document_and_snapshot_have_in_common(self, store):
        node = Node("web1")
        node.automatic = {"cpu": {"total": 4}, "os": "x", "disk": {"a": [1, 1.0]}, "empty": {}}
        save = lambda: store.save(Saved("web1", saved_document(node), node.snapshot()))  # noqa: E731
        save()
        node.default["a"] = 1
        save()
        counted = self.counted(store)[0]
        facts = {row[0] and bytes(row[0]) for row in rows_of(store, "SELECT facts FROM revision")}

        assert (5, 1) == (counted, len(facts))
        saved = store.load("web1")
        assert json.dumps([saved_document(node), node.snapshot()]) == json.dumps([saved.document, saved.snapshot])

    @settings(
        max_examples=examples(60),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
        deadline=None,
    )
    @given(
        facts=st.dictionaries(st.sampled_from("xyz"), trees, max_size=3) | scalars,
        pairs=st.lists(
            st.tuples(st.sampled_from("xyz"), trees | st.builds(lambda tree: {"j": tree}, trees)).map(list)
            | st.just(["x", {"j": None}, 1])
        )
        | trees,
    )
    def test_any_facts_and_any_snapshot_come_back_as_they_were(self, store, facts, pairs):
        saved = Saved(
            "web1", {"a": 1, "name": "web1", "automatic": facts, "z": 1}, {"slots": {"15": {"m": pairs}}, "z": 1}
        )
        number = store.save(saved).number

        assert texts_of(saved) == texts_of(store.load("web1", number))
        if isinstance(facts, dict) and isinstance(pairs, list):
            pairs = [[key, {"j": fact}] for key, fact in facts.items()]
            saved = saved._replace(snapshot={"slots": {"15": {"m": pairs}}})
            assert texts_of(saved) == texts_of(store.load("web1", store.save(saved).number))

    def counted(self, store):
        tables = (
            "text",
            "part",
            "entry",
            "node_part",
            "path",
            "field",
            "word",
            "part_entry",
            "former",
        )
        return [rows_of(store, f"SELECT count(*) FROM {table}")[0][0] for table in tables]

    def test_what_nobody_needs_any_more_is_gone_after_pruning(self, store):
        for mark in range(5):
            store.save(pair(mark))
        assert 4 == store.prune(1)
        pruned = self.counted(store)
        store.delete("web1")

        assert 2 == pruned[0]
        assert not any(self.counted(store))

    @pytest.mark.parametrize(
        ("statement", "fault"),
        [
            ("DELETE FROM text", "its text is gone"),
            ("UPDATE text SET body = hash", "its text is damaged"),
            ("UPDATE text SET body = (SELECT body FROM text ORDER BY hash LIMIT 1)", "its checksum does not fit"),
        ],
    )
    def test_damage_is_found_and_never_handed_out(self, store, place, statement, fault):
        saved = pair(1)
        saved.document["automatic"] = {"a": {"b": 1}}
        store.save(saved)
        store.close()
        self.damage(place, statement)

        faults = open_store(place).check()
        assert {f"the {kind} of web1, revision 1: {fault}" for kind in ("document", "snapshot", "facts")} >= {*faults}
        assert len(faults) == (2 if "checksum" in fault else 3)
        with pytest.raises(DocumentError, match=r"of the node 'web1' (is|are) damaged"):
            open_store(place).load("web1")

    def test_a_text_that_was_lost_is_written_again_by_the_save_of_the_same_node(self, store, place):
        store.save(pair(1))
        store.close()
        self.damage(place, "DELETE FROM text")
        store.save(pair(1))

        assert [1, 1] == [mark_of(store.load("web1", number)) for number in (1, 2)]
        assert [] == store.check()

    @pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "yesterday", "9" * 400])
    def test_a_time_that_cannot_be_is_damage(self, store, place, at):
        """
        One that says no zone is in ours.
        """
        store.save(pair(1))
        store.close()
        self.damage(place, "UPDATE revision SET at = ?", at)
        with pytest.raises(DocumentError, match="has a damaged note"):
            open_store(place).history("web1")
        self.damage(place, "UPDATE revision SET at = ?", "2030-01-31T00:00:00")

        assert open_store(place).history("web1")[0].at.tzinfo is UTC

    @pytest.mark.parametrize(
        ("table", "fault"),
        [
            ("node_part", "search does not know web1 as it is"),
            ("part", "parts that search should know are gone"),
            ("part_entry", "parts have lost what search should find"),
            ("entry", "values that search should find are gone"),
            ("word", "search does not know all words"),
            ("path", "paths that search needs are gone"),
            ("field", "paths have lost the field that search needs"),
        ],
    )
    def test_an_index_that_lost_rows_is_reported_and_a_copy_of_the_store_is_sound(
        self, store, place, table, fault, tmp_path
    ):
        store.save(pair(1))
        store.close()
        self.damage(place, f"DELETE FROM {table}")

        assert fault in "".join(open_store(place).check())
        sound = open_store(tmp_path / "sound.db")
        assert (1, 1) == copy_store(open_store(place), sound)
        assert [] == sound.check()
        assert ["web1"] == sound.search(parse_query("mark:1"))

    @pytest.mark.parametrize("version", [5, 99])
    def test_a_store_of_another_version_is_refused_and_the_error_says_how_to_export_it(self, store, place, version):
        store.save(pair(1))
        store.close()
        self.damage(place, self.VERSION.format(version))
        for task in (lambda store: store.load("web1"), lambda store: store.save(pair(2)), lambda store: store.make()):
            with pytest.raises(
                StoreError,
                match=f"has the store version {version}; this nodeattrs reads version {VERSION}\n.*commit e2dc3421",
            ):
                task(open_store(place))
        self.damage(place, self.VERSION.format(VERSION))

        assert (1, [1]) == (mark_of(store.load("web1")), [one.number for one in store.history("web1")])

    @pytest.mark.parametrize("saved", [pair(1), pair(1)._replace(snapshot={"mark": 2}), pair(3)])
    @pytest.mark.parametrize(
        "done",
        [
            lambda other: other.save(pair(1)),
            lambda other: other.save(pair(3)),
            lambda other: other.save(pair(3)._replace(snapshot=None)),
            lambda other: other.delete("web1"),
            lambda other: (other.delete("web1"), other.save(pair(3, "web2"))),
        ],
    )
    @pytest.mark.parametrize("is_one_of_two", [False, True])
    def test_what_others_do_while_a_save_is_made_spoils_nothing(
        self, store, place, monkeypatch, saved, done, is_one_of_two
    ):
        """
        What was there may be gone, and what was not there may have come.
        """
        store.save(pair(1))
        real = store._writing

        def overtaken(*words, **more):
            monkeypatch.undo()
            done(open_store(place))
            return real(*words, **more)

        monkeypatch.setattr(store, "_writing", overtaken)
        if is_one_of_two:
            assert 1 == store.save_all([(saved, None), (pair(4, "web0"), None)])[1].number
        else:
            store.save(saved)

        assert texts_of(saved) == texts_of(store.load("web1"))
        mark = saved.document["normal"]["mark"]
        others = [name for name in store.names() if name == "web2"]
        assert (["web1", *others] if mark == 3 else ["web1"]) == store.search(parse_query(f"mark:{mark}"))
        assert [] == store.check()

    def test_of_several_saves_one_that_is_refused_does_not_hold_up_the_others(self, store):
        store.save(pair(1, "a"))
        bad = Saved("b", {"name": "b", "normal": {"a": {1}}})

        made, refused, last = store.save_all([(pair(2, "a"), 1), (bad, None), (pair(3, "c"), 0)])

        assert (2, 1) == (made.number, last.number)
        assert isinstance(refused, BadValue)
        assert ["a", "c"] == store.names()
        assert [2, 3] == [mark_of(store.load(name)) for name in "ac"]
        assert [] == store.check()

    def test_what_is_unchanged_is_one_row(self, store):
        """
        Of a node whose document and snapshot are those of its latest revision.
        """
        saved = pair(1)
        store.save(saved)
        counted = self.counted(store)

        numbers = [one.number for one in store.save_all([(saved, 1)])] + [store.save(saved, 2).number]

        assert [2, 3] == numbers
        assert counted == self.counted(store)
        assert saved == store.load("web1", 3)
        assert [] == store.check()

    def test_a_store_that_is_made_with_zstd_compresses_with_it(self, place, monkeypatch):
        """A process without the library is told the extra."""
        pytest.importorskip("zstandard")
        store = open_store(place)
        store.make("zstd")
        assert ([], True) == (store.names(), store.is_there())
        for mark in (1, 2):
            open_store(place).save(pair(mark))
        assert [2, 1] == [mark_of(store.load("web1", at)) for at in (None, 1)]
        assert [] == store.check()
        assert {b"\x28\xb5\x2f\xfd"} == {body[:4] for body in self.bodies(store)}
        monkeypatch.setitem(sys.modules, "zstandard", None)
        for task in (
            lambda: store.load("web1"),
            lambda: store.save(pair(3)),
            lambda: store.make("zstd"),
        ):
            with pytest.raises(MissingExtra, match=r"pip install 'nodeattrs\[fast\]'"):
                task()

    def test_a_store_that_exists_keeps_its_compression(self, store):
        pytest.importorskip("zstandard")
        store.save(pair(1))
        store.make("zlib")
        with pytest.raises(StoreError, match=r"is compressed with zlib, not with zstd\n.*no store yet"):
            store.make("zstd")
        with pytest.raises(BadArgument, match="nothing is packed with gzip"):
            store.make("gzip")

        assert 1 == mark_of(store.load("web1"))

    def bodies(self, store):
        return [bytes(body) for (body,) in rows_of(store, "SELECT body FROM text")]

    def test_what_another_node_needs_stays_when_a_node_is_forgotten(self, store):
        """
        Nothing but what the node had is looked at.
        """
        facts = {str(number): {"value": f"{number} " * 50} for number in range(100)}
        only_web2 = []
        for name in ("web2", "web1", "web3"):
            store.save(Saved(name, {"name": name, "automatic": facts}, {"slots": facts}))
            only_web2 = only_web2 or self.counted(store)
        assert store.delete("web1")
        facts["7"]["value"] = "another"
        store.save(Saved("web3", {"name": "web3", "automatic": facts}, {"slots": {}}))
        assert store.delete("web3")

        assert only_web2 == self.counted(store)
        assert [] == store.check()
        assert ["web2"] == store.search(parse_query("value:7"))

    def test_queries_and_values_never_become_sql(self, store):
        nasty = "x'; DROP TABLE node; -- \" ? %s {0} :name"
        store.save(Saved("web1", {"name": "web1", "normal": {nasty: {"inner": nasty}, "p" * 10_000: 1}}))

        assert ["web1"] == store.search(parse_query('inner:"DROP TABLE node"'))
        assert ["web1"] == store.search(parse_query(f"{'p' * 9_000}*:1"))
        for query in ("inner:'\\;\\ DROP*", "x'*:*", "name:'\\ OR\\ 1=1", "*\\;*:a"):
            store.search(parse_query(query))
        assert ["web1"] == store.names()
        assert nasty in store.load("web1").document["normal"]


class TwoAtOnceExam:
    """What happens when others save, or die while they do."""

    @pytest.fixture
    def store(self, place):
        return open_store(place)

    def test_of_two_writers_each_wins_whole_or_not_at_all(self, place):
        store = open_store(place)
        store.save(pair(["nobody", 0]))
        times = examples(80)
        writers = [other_process("writer", place, who, times) for who in ("ann", "bob")]
        while any(writer.poll() is None for writer in writers):
            mark_of(store.load("web1"))
        for writer in writers:
            _, complaint = writer.communicate()
            assert 0 == writer.returncode, complaint

        who, count = mark_of(store.load("web1"))
        assert who in ("ann", "bob")
        assert times - 1 == count

    def test_two_writers_who_heed_each_other_lose_no_update(self, place):
        """
        Each adds one to a counter again and again, in one transaction each.
        """
        store = open_store(place)
        store.save(Saved("web1", {"name": "web1", "normal": {"count": 0}}, {}))
        store.close()
        times = examples(150)
        writers = [other_process("counter", place, times) for _ in range(2)]
        for writer in writers:
            _, complaint = writer.communicate()
            assert 0 == writer.returncode, complaint

        assert 2 * times == store.load("web1").document["normal"]["count"]
        assert [] == store.check()

    def test_a_change_may_not_use_the_store_itself(self, store):
        """
        It is within the transaction of the change; nothing is saved then.
        """
        store.save(Saved("web1", {"name": "web1", "normal": {"count": 0}}, {}))

        with pytest.raises(StoreError):
            store.change("web1", lambda saved: store.change("web1", one_more) and saved)
        assert 1 == len(store.history("web1"))
        assert 2 == store.change("web1", one_more).number

    @pytest.mark.parametrize("after", [None, Saved("web2", {"name": "web2"}, {})])
    def test_a_change_gives_the_same_node(self, store, after):
        store.save(Saved("web1", {"name": "web1"}, {}))

        with pytest.raises(BadArgument, match="no Saved of this node"):
            store.change("web1", lambda _: after)
        assert ["web1"] == store.names()

    def test_a_change_of_a_node_that_is_not_saved_makes_no_store(self, store):
        with pytest.raises(NodeNotFound):
            store.change("web1", one_more)
        assert not store.is_there()

    def test_two_threads_may_save_one_node(self, place):
        store = open_store(place)
        store.save(pair(["nobody", 0]))
        threads = [threading.Thread(target=write, args=(store, who, 20)) for who in ("ann", "bob")]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            mark_of(store.load("web1"))
        for thread in threads:
            thread.join()
        assert 19 == mark_of(store.load("web1"))[1]

    def test_a_kill_leaves_the_last_pair_or_the_next_one(self, place):
        """At random moments; see `victim`, which judges after each. More: `python -m tests.strain kill`."""
        times = examples(40, fewest=10)
        process = other_process("victim", place, times)
        told, complaint = process.communicate()
        assert (0, f"{times} killed, none lost") == (process.returncode, told.strip()), complaint


def deep(levels):
    tree = {}
    for _ in range(levels):
        tree = {"a": tree}
    return tree
