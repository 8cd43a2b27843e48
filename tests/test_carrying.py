"""Whole histories, out of one store and into another: what was kept is the judge."""

import io
import json
import os
import re
import sqlite3
import sys
from itertools import permutations

import pytest

from nodeattrs import Node
from nodeattrs.cli import main
from nodeattrs.errors import DocumentError, StoreError
from nodeattrs.store import Noted, Saved, open_store, saved_document
from nodeattrs.store.carrying import copy_store, export_lines
from nodeattrs.store.search import parse_query
from tests import postgresql_server
from tests.store_exam import imported
from tests.store_writers import pair

ENGINES = ("sqlite", "postgresql")


@pytest.fixture
def place(tmp_path):
    """Places for new stores, by their engine."""
    count = iter(range(100))

    def place(engine):
        if engine == "postgresql":
            if reason := postgresql_server.why_not():
                (pytest.fail if os.environ.get(postgresql_server.VARIABLE) == "required" else pytest.skip)(reason)
            return postgresql_server.fresh()
        return str(tmp_path / f"{engine}{next(count)}{'.db' if engine == 'sqlite' else ''}")

    return place


def filled(place):
    """A store with all that a history can have."""
    store = open_store(place)
    report = {"counts": {"changed": 3, "failed": 1}, "seconds": 1.25, "resources": []}
    for name in ("web1", "web2"):
        node = Node(name, sensitive=["key"])
        node.normal["key"], node.default["é"] = "s3cret", {"list": [1, 1.0, None, "\u2028"], "b": {"a": 2**70}}
        store.save(
            Saved(name, saved_document(node), node.snapshot(), noted=Noted(repository="c0ffee", version="0.1.0"))
        )
        store.save(Saved(name, saved_document(node), node.snapshot(), noted=Noted(ok=False, report=report)))
        store.save(Saved(name, saved_document(node), node.snapshot(), noted=Noted(ok=False, error="RecipeFailed")))
        store.save(Saved(name, {"name": name, "z": 1, "a": {"of": "Chef"}}))
        node.normal["tier"] = "gold"
        store.save(Saved(name, saved_document(node), node.snapshot(), noted=Noted(by="node set")))
    node = Node("db1")
    for mark in range(70):
        node.normal["mark"] = mark // 3
        store.save(Saved("db1", saved_document(node), node.snapshot()))
    return store


def all_of(store):
    """Every revision, to the byte of its documents."""
    assert [] == store.check()
    return {
        (name, revision.number): (revision, json.dumps(saved.document), json.dumps(saved.snapshot), saved.revision)
        for name in store.names()
        for revision in store.history(name)
        for saved in [store.load(name, revision.number)]
    }


@pytest.mark.parametrize("engines", list(permutations(ENGINES)), ids="-".join)
def test_what_is_copied_between_engines_and_back_is_as_it_was(place, engines):
    """Numbers, times, authors, reports and failures too; pruned ones stay away, and search knows the latest."""
    store = filled(place(engines[0]))
    store.prune(68)
    was = all_of(store)
    for engine in (*engines[1:], engines[0]):
        target = open_store(place(engine))
        assert (3, 78) == copy_store(store, target)
        assert was == all_of(target)
        store.close()
        store = target

    assert ["web1", "web2"] == store.search(parse_query("tier:gold"))
    assert [71, 6] == [store.save(pair(1, name)).number for name in ("db1", "web1")]
    assert [] == store.check()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_export_brings_the_same(place, engine):
    store, target = filled(place("sqlite")), open_store(place(engine))
    lines = list(export_lines(store, store.names(), snapshots=True, history=True))

    assert 80 == len(lines)
    assert ["db1", "web1", "web2"] == imported(target, lines, "nodes.jsonl")
    assert all_of(store) == all_of(target)
    assert not any("s3cret" in line for line in lines)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_interrupted_is_done_by_doing_it_again(place, engine):
    store, target = filled(place("sqlite")), open_store(place(engine))
    lines = list(export_lines(store, store.names(), history=True))
    imported(target, lines[:61], "nodes.jsonl")
    imported(target, lines, "nodes.jsonl")
    copy_store(store, target)

    assert all_of(store) == all_of(target)


@pytest.mark.parametrize("engine", ENGINES)
def test_another_history_is_not_mixed_with_ours(place, engine):
    store, target = filled(place("sqlite")), open_store(place(engine))
    target.save(pair(9, "web2"))
    was = all_of(target)

    with pytest.raises(StoreError, match=r"revision 1 of the node 'web2' cannot be kept in .*another history there"):
        copy_store(store, target)
    assert was.items() <= all_of(target).items()
    target.delete("web2")
    copy_store(store, target)
    assert all_of(store) == all_of(target)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_that_was_given_is_not_given_again(place, engine):
    """Neither one that came along, nor one of before the node was forgotten here."""
    store, target = filled(place("sqlite")), open_store(place(engine))
    loaded = [store.load("web1", number) for number in (1, 2, 3)]
    for _ in range(4):
        target.save(loaded[0])
    target.delete("web1")
    target.add_history("web1", loaded[:2])

    assert 5 == target.save(loaded[0]).number
    target.delete("web1")
    empty = open_store(place("sqlite"))
    empty.add_history("web1", loaded)
    assert 4 == empty.save(loaded[0]).number


@pytest.mark.parametrize("engine", ENGINES)
def test_of_two_who_bring_the_same_one_is_told(place, engine):
    """The second is late, and nothing is there twice."""
    store, target = filled(place("sqlite")), open_store(place(engine))
    loaded = [store.load("web1", number) for number in (1, 2, 3)]
    target.add_history("web1", loaded[:2])

    with pytest.raises(StoreError, match="revision 2 of the node 'web1' cannot be kept"):
        target.add_history("web1", loaded[1:])
    assert [2, 1] == [revision.number for revision in target.history("web1")]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"revision": 0, "at": "2030-01-01T00:00:00+00:00"}, "a revision has a number"),
        ({"revision": True, "at": "2030-01-01T00:00:00+00:00"}, "a revision has a number"),
        ({"revision": 2**40, "at": "2030-01-01T00:00:00+00:00"}, "a revision has a number"),
        ({"revision": 2, "at": "2030-01-01T00:00:00"}, "and a time with its zone"),
        ({"revision": 2, "at": None}, "this is no node"),
        ({"revision": 2, "at": "0001-01-01T00:00:00+14:00"}, "this is no node"),
        ({"revision": 1, "at": "2030-01-01T00:00:00+00:00"}, "revision 1 of the node 'web1' comes too late"),
    ],
)
def test_a_revision_that_cannot_be_is_refused_with_its_line(place, told, said):
    store = open_store(place("sqlite"))
    good = {"document": {"name": "web1"}, "revision": 1, "at": "2030-01-01T00:00:00+00:00"}

    with pytest.raises(DocumentError, match=f"nodes.jsonl:2: .*{said}"):
        imported(store, [json.dumps(good) + "\n", json.dumps({**good, **told})], "nodes.jsonl")
    assert [] == store.names()


class TestTheCommands:
    @pytest.fixture
    def say(self, capsys, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("NO_COLOR", "1")

        def said(*words):
            code = main(words)
            return code, *capsys.readouterr()

        return said

    def test_a_store_moves_with_all_it_has(self, say, place):
        a, b = filled("a.db"), place("sqlite")
        code, out, err = say("store", "copy", "--store", "a.db", "--to", b)

        assert (0, "") == (code, err)
        assert f"3 nodes with 80 revisions of a.db copied to {b}\n" == out
        assert all_of(a) == all_of(open_store(b))
        ages = re.compile(r"\b\d+ s\b")
        here, there = (ages.sub("now", say("status", "--store", store)[1]) for store in ("a.db", b))
        assert here == there
        assert 1 == say("store", "copy", "--store", "a.db", "--to", "a.db")[0]

    def test_an_export_has_it_all_or_the_latest(self, say, place, monkeypatch):
        a = filled("a.db")
        whole = say("store", "export", "--snapshots", "--store", "a.db")[1]
        latest = say("store", "export", "--snapshots", "--latest", "--store", "a.db")[1]
        monkeypatch.setattr(sys, "stdin", io.StringIO(whole))
        code, out, _ = say("store", "import", "-", "--store", "b.db")

        assert [80, 3] == [text.count("\n") for text in (whole, latest)]
        assert (0, "3 nodes with 80 revisions saved in b.db\n") == (code, out)
        assert all_of(a) == all_of(open_store("b.db"))
        monkeypatch.setattr(sys, "stdin", io.StringIO(latest))
        say("store", "import", "-", "--store", "c.db")
        assert ["import"] == [revision.noted.by for revision in open_store("c.db").history("web1")]

    def test_a_revision_that_cannot_be_read_stops_a_copy(self, say, place):
        filled("a.db").close()
        connection = sqlite3.connect("a.db")
        with connection:
            connection.execute("UPDATE revision SET noted = '{' WHERE number = 3")
        connection.close()
        code, _, err = say("store", "copy", "--store", "a.db", "--to", "b.db")

        assert 1 == code
        assert "revision 3 of the node 'db1' has a damaged note" in err


def test_what_is_noted_elsewhere_of_a_save_counts_for_nothing(place):
    """The revision itself says it."""
    store = open_store(place("sqlite"))
    saved = filled(place("sqlite")).load("web1", 2)
    store.add_history("web1", [saved._replace(noted=Noted(by="somebody"))])

    assert saved.revision == store.history("web1")[0]
