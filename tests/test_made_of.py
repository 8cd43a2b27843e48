"""A hash of what is saved of a node: the same where both texts are, and never where one is another."""

import json
import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node, NodeattrsError, Sensitive, lazy
from nodeattrs.keep import NewerRevision, Noted, Saved, filtered_snapshot, open_store, saved_document
from nodeattrs.keep.maintenance import set_normal
from nodeattrs.keep.revisions import Unchanged
from nodeattrs.keep.stores import saving, sql
from nodeattrs.keep.stores.texts import texts_of
from nodeattrs.node.intake import Intake
from nodeattrs.runs.config import Config
from nodeattrs.runs.facts import load_facts, parse_facts
from nodeattrs.runs.fleet import Fleet, resolve
from nodeattrs.runs.made_of import made_of
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import run_node
from nodeattrs.runs.session import perform
from tests.causality.systems.node import NodeRuns
from tests.effort import examples
from tests.on_disk import repository

FACTS = {"platform": "ubuntu", "os": {"a": 1, "b": [1, 2]}, "cpu": {"total": 2}}
SETS = 'default["a"] = {"x": 1, "y": 0.0}\n'
DEEP = "[" * 90 + "0.00003" + "]" * 90
FILES = {
    "cookbooks/app/metadata.json": {"name": "app"},
    "cookbooks/app/attributes/default.py": SETS,
    "cookbooks/app/files/limits.json": '{"most":\n 5}',
    "cookbooks/app/recipes/default.py": 'node.default["most"] = read_json("files/limits.json")["most"]\n',
    "nodes/web1.json": {"name": "web1", "run_list": ["recipe[app]"], "normal": {"tier": "gold"}},
}


def texts(saved):
    return [text and text.hash for text in texts_of(saved.name, saved)]


def left(folder, facts=None, **files):
    """The hash of what a run leaves, and the texts. files: what is another one in the repository"""
    repo = repository(folder, FILES | files)
    its = parse_facts((facts or json.dumps(FACTS)).encode(), "facts/web1.json", settled=True)
    session = perform(repo, open_store(folder / "none.db"), "web1", facts=its, save=False, brief=True)
    config = repo.config
    document = saved_document(session.run.node, config.allowed, config.blocked)
    return made_of(session.snapshot, its, config), texts(Saved("web1", document, session.snapshot))


def app(kind, text):
    return {f"cookbooks/app/{kind}/default.py": text}


CHANGES = {
    "a value": app("attributes", SETS.replace("1", "2")),
    "true for 1": app("attributes", SETS.replace("1", "True")),
    "1.0 for 1": app("attributes", SETS.replace("1", "1.0")),
    "a text for a number": app("attributes", SETS.replace("1", "'1'")),
    "another zero": app("attributes", SETS.replace("0.0", "-0.0")),
    "the order of keys": app("attributes", 'default["a"] = {"y": 0.0, "x": 1}\n'),
    "a number as a key": app("attributes", 'default["a"] = {1: 1, "y": 0.0}\n'),
    "a text as that key": app("attributes", 'default["a"] = {"1": 1, "y": 0.0}\n'),
    "the line of an origin": app("attributes", "\n" + SETS),
    "another level": app("attributes", SETS.replace("default", "override")),
    "a full assignment": app("attributes", 'default_full["a"] = {"x": 1, "y": 0.0}\n'),
    "what was overwritten": app("attributes", 'default["a"]["x"] = 0; ' + SETS),
    "a secret": app("attributes", SETS.replace("1", "Sensitive(1)")),
    "what is computed": app("attributes", SETS.replace("1", "lazy(lambda: 1)")),
    "computed otherwise": app("attributes", SETS.replace("1", "lazy(lambda: 1.0)")),
    "a cause": {"cookbooks/app/files/limits.json": '{\n"most": 5}'},
    "a fact": None,
    "another setting": {"nodeattrs.toml": 'sensitive = ["a.x"]\n'},
    "an allow list": {"nodeattrs.toml": '[allowed]\nautomatic = ["platform", "os"]\n'},
    "a block list": {"nodeattrs.toml": '[blocked]\ndefault = ["most"]\n'},
    "a rule": {"nodeattrs.toml": '[merge]\n"a.*" = "replace"\n'},
    "a run-list": {"nodes/web1.json": FILES["nodes/web1.json"] | {"run_list": ["app::default"]}},
    "a normal attribute": {"nodes/web1.json": FILES["nodes/web1.json"] | {"normal": {"tier": "lead"}}},
}


class TestOneChange:
    def test_each_kind_of_change_has_a_hash_of_its_own(self, tmp_path):
        """
        So have its texts, and a second look has the same.
        """
        found = {"nothing": left(tmp_path / "same"), "again": left(tmp_path / "again")}
        for number, (title, files) in enumerate(CHANGES.items()):
            facts = None if files is not None else json.dumps(FACTS | {"cpu": {"total": 2.0}})
            found[title] = left(tmp_path / str(number), facts, **(files or {}))
        assert all(made for made, _ in found.values())
        assert found.pop("again") == found["nothing"]
        assert len(found) == len({made for made, _ in found.values()})
        assert len(found) == len({tuple(its) for _, its in found.values()})

    @pytest.mark.parametrize("facts", [{"os": {"b": [1, 2], "a": 1}}, {"os": {"a": True, "b": [1, 2]}}, {"more": 1}])
    def test_so_has_each_change_of_the_facts(self, tmp_path, facts):
        there = left(tmp_path / "a")
        assert not {there[0]} & {left(tmp_path / "b", json.dumps(FACTS | facts))[0]}

    @pytest.mark.parametrize(
        "settings",
        [
            '[blocked]\nautomatic = ["cpu"]\n',
            'sensitive = ["cpu"]\n',
            'sensitive = ["cpu.total"]\n',
            'sensitive = ["*.total"]\n',
        ],
    )
    @pytest.mark.parametrize("others", [FACTS, {"platform": "x"}])
    def test_it_is_of_nothing_that_is_not_kept(self, tmp_path, settings, others):
        """
        Who has the store could try what a fact was that is withheld, or that a list has cut.
        """
        one, two = (
            left(tmp_path / f"{number}", json.dumps(others | {"cpu": cpu}), **{"nodeattrs.toml": settings})
            for number, cpu in enumerate(({"total": 3}, {"total": 4}) if "total" in settings else (3, 4))
        )
        assert one == two

    def test_nor_of_what_stood_under_a_key_that_is_there_twice(self, tmp_path):
        texts = [f'{{"cpu": {{"total": {number}}}, {json.dumps(FACTS)[1:]}' for number in (3, 4)]
        one, two = (left(tmp_path / str(number), text) for number, text in enumerate(texts))
        assert one == two


values = st.sampled_from([0, 1, True, 1.0, -0.0, 0.0, None, "", "1", {}, [], {"a": 1}, {1: 1}, {"1": 1}, [1], [True]])
computed = st.sampled_from([Sensitive("a"), Sensitive("b"), lazy(lambda: 1), lazy(lambda: 1.0)])
writes = st.lists(
    st.tuples(st.sampled_from(["default", "normal", "automatic"]), st.sampled_from("xf"), values | computed)
)
texts_of_facts = st.sampled_from(
    ['{"f": {"a": 1}}', '{"f": {"a": 1.0}}', '{"f": {"a": 1}, "g": 1}', '{"g": 1, "f": {"a": 1}}']
)
lists = st.sampled_from([{}, {"automatic": ["f"]}, {"default": ["x"]}])


def kept(writes, text, allowed, blocked):
    """The hash and the texts of a node with these writes, facts and lists."""
    facts = parse_facts(f'{{"platform": "x", {text[1:]}'.encode(), "f.json", settled=True)
    node, config = Node("web1"), Config(allowed=allowed, blocked=blocked)
    Intake(node).facts(facts.tree, facts.locator, settled=True)
    for level, key, value in writes:
        getattr(node, level)[key] = value
    snapshot = filtered_snapshot(node.snapshot(shared=True), allowed, blocked)
    document = saved_document(node, allowed, blocked, shared=True)
    return made_of(snapshot, facts, config), texts(Saved("web1", document, snapshot))


class TestTheLaw:
    @settings(max_examples=examples(40), deadline=None)
    @given(st.lists(st.tuples(writes, texts_of_facts, lists, lists), min_size=2, max_size=6))
    def test_what_has_one_hash_has_one_text(self, runs):
        """
        And what has the same texts and settings has one hash.
        """
        found = {}
        for run in runs:
            of, its = kept(*run)
            assert its == found.setdefault(of, its)
            assert (of, its) == kept(*run)


class TestRandomRepositories:
    @pytest.mark.parametrize("seed", range(2))
    def test_hashes_and_texts_go_together(self, tmp_path, seed):
        """
        Whichever line is another one, or stands a line further down.
        """
        given = NodeRuns().make(random.Random(f"made of {seed}"))
        variants = [dict(given.files), dict(given.files)]
        for one in given.settings[:: max(1, len(given.settings) // 8)]:
            text = given.files[one.file]
            variants.append({**given.files, one.file: text[: one.start] + (one.new or "") + text[one.end :]})
            variants.append({**given.files, one.file: f"\n{text}"})
        found = [left_by(tmp_path / str(number), files) for number, files in enumerate(variants)]
        assert found[0] == found[1]
        pairs = {pair for pair in found if pair is not None}
        assert 1 < len(pairs) == len({made for made, _ in pairs})
        assert len(pairs) - len({its for _, its in pairs}) <= 1  # the lines of facts are in neither


def left_by(folder, files):
    """The hash and the texts of what a run of n1 leaves; None where it fails."""
    repo = repository(folder, files)
    facts = load_facts(folder / "facts.json", "facts.json", settled=True)
    try:
        node = run_node(repo, "n1", facts=facts).node
        snapshot = filtered_snapshot(node.snapshot(shared=True), repo.config.allowed, repo.config.blocked)
        document = saved_document(node, repo.config.allowed, repo.config.blocked, shared=True)
    except NodeattrsError:
        return None
    return made_of(snapshot, facts, repo.config), tuple(texts(Saved("n1", document, snapshot)))


def revisions(store, name="web1"):
    return [(one.number, texts(store.load(name, one.number))) for one in store.history(name)]


def changed_in(session):
    """Whether a session changed what is read."""
    return not session.is_as_before and session.before != session.after


class TestInAFleet:
    @pytest.fixture
    def fleet(self, tmp_path):
        repository(tmp_path / "repo", FILES | {"facts/web1.json": FACTS})
        return Fleet(str(tmp_path / "repo"), str(tmp_path / "nodes.db"), str(tmp_path / "repo" / "facts"))

    def run(self, fleet, times=1):
        for _ in range(times):
            (outcome,) = resolve(fleet, ["web1"], jobs=1)
            assert not outcome.error
        return open_store(fleet.store)

    def test_a_node_that_does_not_change_is_neither_read_nor_written(self, fleet, monkeypatch):
        store = self.run(fleet, 2)
        before = revisions(store)
        with monkeypatch.context() as patch:
            for module, gone in ((saving, "texts_of"), (sql, "Stored")):
                patch.setattr(module, gone, None)
            self.run(fleet)

        assert [(3, before[0][1]), *before] == revisions(store)
        assert [] == store.check()

    @pytest.mark.parametrize("value", ["1", "0.00001", "float('nan')", "10**30", DEEP])
    @pytest.mark.parametrize("fact", ["1", "0.00001", "[1e-7]", "123456789012345678901234567890"])
    def test_what_libraries_write_otherwise_is_saved_as_by_the_long_way(self, fleet, tmp_path, value, fact):
        """
        What is hashed is looked through, and then not a second time.
        """
        place = Path(fleet.repository)
        (place / "cookbooks/app/attributes/default.py").write_text(f'default["a"] = {value}\n', "utf-8")
        (place / "facts/web1.json").write_text(f'{json.dumps(FACTS)[:-1]}, "load": {{"b": {fact}}}}}', "utf-8")
        came = []
        for number, how in enumerate(({"brief": True}, {"late": True}, {})):
            there, error = str(tmp_path / f"{number}.db"), ""
            facts = load_facts(place / "facts/web1.json", settled=True)
            try:
                perform(Repository(place), open_store(there), "web1", facts=facts, **how)
            except NodeattrsError as problem:
                error = str(problem)
            with sqlite3.connect(there) as rows:
                came.append((error, sorted(rows.execute("SELECT hash FROM text"))))
            rows.close()
        assert came[0] == came[1] == came[2]

    def test_who_looks_at_a_run_is_told_that_nothing_changed_without_what_the_last_one_left(self, fleet, monkeypatch):
        store = self.looked_at(fleet, 2)
        before = revisions(store)
        with monkeypatch.context() as patch:
            for module, gone in ((saving, "texts_of"), (sql, "Stored")):
                patch.setattr(module, gone, None)
            self.looked_at(fleet, changed=False)

        assert [(3, before[0][1]), *before] == revisions(store)
        assert [] == store.check()

    def test_who_looks_at_a_run_is_told_what_it_changed(self, fleet):
        store = self.looked_at(fleet, 2)
        attributes = Path(fleet.repository, "cookbooks/app/attributes/default.py")
        attributes.write_text(SETS.replace("1", "2"), "utf-8")
        self.looked_at(fleet, changed=True)
        self.looked_at(fleet, changed=False)
        assert [] == store.check()

    def test_where_the_last_run_cannot_be_read_nothing_is_saved_over_it(self, fleet):
        """
        By who would look at it; a run that leaves the same need not read it.
        """
        store = self.looked_at(fleet, 2)
        store.close()
        with sqlite3.connect(fleet.store) as connection:
            connection.execute("UPDATE text SET body = zeroblob(9)")
        connection.close()
        self.looked_at(fleet, changed=False)
        attributes = Path(fleet.repository, "cookbooks/app/attributes/default.py")
        attributes.write_text(SETS.replace("1", "2"), "utf-8")

        (outcome,) = resolve(fleet, ["web1"], jobs=1, collect=lambda name, came, log: came)
        assert "is damaged in" in outcome.error
        assert 3 == open_store(fleet.store).history("web1")[0].number

    def looked_at(self, fleet, times=1, changed=None):
        """The store. changed: whether each of the runs is one that changed something"""
        for _ in range(times):
            (outcome,) = resolve(fleet, ["web1"], jobs=1, collect=lambda name, came, log: changed_in(came))
            assert not outcome.error
            assert changed in (None, outcome.collected)
        return open_store(fleet.store)

    def test_it_comes_to_what_the_long_way_comes_to(self, fleet, tmp_path):
        store, other = self.run(fleet, 3), replace(fleet, store=str(tmp_path / "kept.db"))
        assert revisions(store) == revisions(self.run(other, 3))

    def test_who_changes_it_meanwhile_is_seen(self, fleet):
        """
        A command has no such hash, and takes the one of the run away.
        """
        store = self.run(fleet, 2)
        set_normal(store, "web1", ("tier",), "lead")
        assert '"name": "node set"' in json.dumps(store.load("web1", brief=True).snapshot)
        self.run(fleet)
        assert "gold" == store.load("web1").document["normal"]["tier"]
        assert [] == store.check()

    def test_a_save_that_came_between_is_not_taken_for_its_own(self, fleet):
        store = self.run(fleet, 2)
        last = store.load("web1", brief=True)
        other = Saved("web1", {"name": "web1", "normal": {"other": 1}}, Node("web1").snapshot())
        store.save(other)
        second = store.load("web1", 2)
        unchanged = Unchanged("web1", Noted(), last.made_of, lambda: second)
        with pytest.raises(NewerRevision):
            store.save(unchanged, after=2)

        (came,) = store.save_all([(unchanged, None)])
        assert texts(store.load("web1", 2)) == texts(store.load("web1", came.number))
        assert [] == store.check()

    @pytest.mark.parametrize("column", ["made_of", "seal", "begins"])
    def test_one_that_is_damaged_is_found_and_counts_for_nothing(self, fleet, column):
        store = self.run(fleet, 2)
        before = revisions(store)
        store.close()
        with sqlite3.connect(fleet.store) as connection:
            connection.execute(f"UPDATE begun SET {column} = zeroblob(32)")
        connection.close()
        assert ["what the next run of web1 begins with is not what its latest revision has"] == [
            fault.partition(";")[0] for fault in store.check()
        ]
        assert [(3, before[0][1]), *before] == revisions(self.run(fleet))
        assert [] == store.check()

    def test_a_node_that_is_forgotten_leaves_none(self, fleet):
        store = self.run(fleet)
        store.delete("web1")
        store.close()
        with sqlite3.connect(fleet.store) as connection:
            assert [] == connection.execute("SELECT * FROM begun").fetchall()
        connection.close()
