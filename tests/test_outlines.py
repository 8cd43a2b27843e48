"""The outline of a node: where it is the same, and the files are as they were, so is the snapshot that nobody made."""

import itertools
import json
import os
import shutil
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.errors import DeferredCycle
from nodeattrs.keep import Noted, Saved, open_store
from nodeattrs.keep.revisions import Unchanged
from nodeattrs.runs import content, made_of
from nodeattrs.runs.facts import load_facts
from nodeattrs.runs.fleet import Fleet, resolve
from nodeattrs.runs.made_of import outlined, stamps_before
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.session import perform
from tests.effort import examples
from tests.on_disk import repository

LOOKS = (
    "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), 'libraries'))\n"
    "for name in ('sizes', 'both'): sys.modules.pop(name, None)\n"
)
FILES = {
    "cookbooks/app/metadata.json": {"name": "app"},
    "cookbooks/app/attributes/default.py": "default['a'] = {'x': 1}\ndefault['most'] = 5\n",
    "cookbooks/app/attributes/more.yaml": "default:\n  more: 1\n",
    "cookbooks/app/libraries/sizes.py": "def size():\n    return 7\n",
    "cookbooks/app/files/limits.json": '{"most":\n 5}',
    "cookbooks/app/recipes/default.py": (
        f"{LOOKS}from sizes import size\n"
        "secrets = data_bag_item('keys', 'app')\n"
        "node.default['most'] = read_json('files/limits.json')['most']\n"
        "node.default['size'] = size()\n"
        "node.default['copy'] = node['a']['x']\n"
        "node.default['key'] = Sensitive(secrets['key'])\n"
    ),
    "data_bags/keys/app.json": {"id": "app", "key": "s3cret", "other": "s3cret2"},
    "roles/web.yaml": "name: web\ndefault_attributes:\n  role: 1\nrun_list: ['recipe[app]']\n",
    "nodes/web1.json": {"name": "web1", "run_list": ["role[web]"], "normal": {"tier": "gold"}},
    "facts.json": {"platform": "ubuntu", "os": {"a": 1}, "fqdn": "web1"},
}


@pytest.fixture(autouse=True)
def places(monkeypatch):
    """Where Python looks for modules, as it was."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in ("sizes", "both"):
        sys.modules.pop(name, None)


@pytest.fixture
def quiet(monkeypatch):
    """As if nothing had been changed for a while."""
    monkeypatch.setattr(made_of, "_QUIET", -60.0)


@pytest.fixture
def fleet(tmp_path):
    repository(tmp_path / "repository", FILES)
    place = tmp_path / "repository"
    return Fleet(str(place), str(tmp_path / "nodes.db"), str(place / "facts.json"))


def run(fleet, times=1):
    """As `nodeattrs run` does it: the last one's revision, and whether it had to make a snapshot."""
    for _ in range(times):
        (outcome,) = resolve(fleet, ["web1"], jobs=1, collect=lambda name, came, log: came)
        assert not outcome.error, outcome.error
    session = outcome.collected
    return session.revision.number, session.taking.cache_info().misses == 1


def kept(fleet):
    """The text of the latest snapshot."""
    return json.dumps(open_store(fleet.store).load("web1").snapshot)


@pytest.mark.usefixtures("quiet")
class TestARunThatChangesNothing:
    def test_makes_no_snapshot(self, fleet):
        """
        The second run begins with what the first one left as normal, and the third one with that as it was saved.
        """
        assert [(1, True), (2, True), (3, True), (4, False), (5, False)] == [run(fleet) for _ in range(5)]
        assert [] == open_store(fleet.store).check()

    def test_leaves_what_the_long_way_leaves(self, fleet, monkeypatch, tmp_path):
        run(fleet, 4)
        short, fleet = kept(fleet), Fleet(fleet.repository, str(tmp_path / "long.db"), fleet.facts)
        monkeypatch.setattr(content, "MOST", 0)
        assert (4, True) == run(fleet, 4)
        assert short == kept(fleet)

    def test_is_found_where_the_store_lies_in_the_repository(self, fleet):
        fleet = Fleet(fleet.repository, f"{fleet.repository}/nodes.db", fleet.facts)
        assert (4, False) == run(fleet, 4)

    def test_is_found_again_once_the_long_way_was_gone(self, fleet):
        """
        After a change that changed nothing, what is known by the new files stands beside the same texts.
        """
        run(fleet, 3)
        before = kept(fleet)
        Path(fleet.repository, "README").write_text("more", "utf-8")
        assert [(4, True), (5, False)] == [run(fleet) for _ in range(2)]
        assert before == kept(fleet)

    def test_a_save_that_came_between_is_not_taken_for_its_own(self, fleet):
        run(fleet, 3)
        store = open_store(fleet.store)
        last, third = store.load("web1", brief=True), store.load("web1", 3)
        store.save(Saved("web1", {"name": "web1", "normal": {"other": 1}}, Node("web1").snapshot()))
        store.save(Unchanged("web1", Noted(), last.made_of, lambda: third, last.outlined))
        assert third.snapshot == store.load("web1").snapshot
        assert b"" == store.load("web1", brief=True).outlined
        assert [] == store.check()

    def test_in_a_fleet_it_is_known_by_its_texts_alone(self, fleet):
        resolve_all = [outcome.error for _ in range(3) for outcome in resolve(fleet, ["web1"], jobs=1)]
        assert ["", "", ""] == resolve_all
        assert b"" == open_store(fleet.store).load("web1", brief=True).outlined


LINES = {
    "an attribute file": "cookbooks/app/attributes/default.py",
    "a recipe": "cookbooks/app/recipes/default.py",
    "attributes that are data": "cookbooks/app/attributes/more.yaml",
    "a module that a recipe imports": "cookbooks/app/libraries/sizes.py",
    "a document that was read": "cookbooks/app/files/limits.json",
    "a data bag": "data_bags/keys/app.json",
    "a role": "roles/web.yaml",
    "the node's own file": "nodes/web1.json",
}


@pytest.mark.usefixtures("quiet")
class TestWhatHasMoved:
    @pytest.mark.parametrize("which", LINES)
    def test_a_line_that_moved_is_where_it_is_now(self, fleet, which):
        """
        Though each value is as it was.
        """
        run(fleet, 3)
        before, place = kept(fleet), Path(fleet.repository, LINES[which])
        place.write_text("\n" + place.read_text("utf-8"), "utf-8")
        number, is_long = run(fleet)
        assert (4, True, True) == (number, is_long, before != kept(fleet))

    def test_so_is_one_whose_file_has_its_time_and_size(self, fleet):
        """
        The system knows when it was changed.
        """
        run(fleet, 3)
        before, place = kept(fleet), Path(fleet.repository, LINES["a recipe"])
        was, text = place.stat(), place.read_text("utf-8")
        place.write_text("\n" + text[:-1], "utf-8")
        os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert (was.st_size, was.st_mtime_ns) == (place.stat().st_size, place.stat().st_mtime_ns)
        assert (4, True) == run(fleet)
        assert before != kept(fleet)

    def test_facts_that_were_gathered_again_are_looked_at(self, fleet):
        run(fleet, 3)
        place = Path(fleet.facts)
        place.write_text(place.read_text("utf-8").replace("1", "2"), "utf-8")
        assert (4, True) == run(fleet)
        assert {"a": 2} == open_store(fleet.store).load("web1").document["automatic"]["os"]


class TestWhatIsNotCertain:
    def test_a_file_that_was_changed_just_now(self, fleet):
        """
        A second change could have the same time.
        """
        assert (4, True) == run(fleet, 4)

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("nodeattrs.toml", '[blocked]\ndefault = ["a/x"]\n'),
            ("nodeattrs.toml", '[allowed]\ndefault = ["a"]\n'),
            ("cookbooks/app/attributes/own.py", "import os\ndefault['own'] = Sensitive(os.environ.get('X', 'no'))\n"),
            ("cookbooks/app/attributes/own.py", "default['own'] = Sensitive({'key': 's3cret'})\n"),
            ("cookbooks/app/attributes/own.py", "exec(\"default['own'] = 1\")\n"),
        ],
    )
    @pytest.mark.usefixtures("quiet")
    def test_goes_the_long_way(self, fleet, file, text):
        """
        What a list cuts, a secret that stands in nothing that was read, and code that is in no file.
        """
        Path(fleet.repository, file).write_text(text, "utf-8")
        assert (4, True) == run(fleet, 4)
        assert b"" == open_store(fleet.store).load("web1", brief=True).outlined

    @pytest.mark.usefixtures("quiet")
    def test_a_list_that_cuts_facts_alone_is_no_reason(self, fleet):
        """
        They are known by their file.
        """
        Path(fleet.repository, "nodeattrs.toml").write_text(
            '[allowed]\nautomatic = ["platform", "recipes", "roles", "expanded_run_list", "name", "chef_environment"]\n'
        )
        assert (4, False) == run(fleet, 4)

    @pytest.mark.usefixtures("quiet")
    def test_facts_that_a_list_cuts_are_one_where_they_are_not_as_they_were_read(self, fleet):
        """
        Of a key that stands there twice, say.
        """
        Path(fleet.repository, "nodeattrs.toml").write_text('[allowed]\nautomatic = ["name"]\n')
        place = Path(fleet.facts)
        place.write_text('{"fqdn": "other",' + place.read_text("utf-8").lstrip("{\n "))
        assert (4, True) == run(fleet, 4)

    @pytest.mark.usefixtures("quiet")
    def test_too_many_files_are(self, fleet, monkeypatch):
        monkeypatch.setattr(content, "MOST", 3)
        assert (4, True) == run(fleet, 4)

    @pytest.mark.usefixtures("quiet")
    def test_a_damaged_row_counts_for_nothing(self, fleet):
        run(fleet, 3)
        with sqlite3.connect(fleet.store) as connection:
            connection.execute("UPDATE begun SET made_of = CAST(made_of || zeroblob(32) AS BLOB)")
        connection.close()
        assert (4, True) == run(fleet)
        assert [] == open_store(fleet.store).check()


# What hangs on something that no file says: bits of a number in the environment.

HEAD = f"""{LOOKS}bits = int(os.environ['BITS'])
docs = [read_json('files/one.json'), read_json('files/two.json')]
node.default['h'] = []
"""
STATEMENTS = [
    "node.default['a'] = 1 if {p} else 1",
    "node.default['a'] = (1\n if {p} else\n 1)",
    "node.default['a'] = 2 if {p} else 1",
    "[lambda: node.default.update(b=1), lambda: node.default.update(b=1)][{p}]()",
    "(one if {p} else two)(node)",
    "if {p}:\n one(node)\nelse:\n one(node)",
    "node.default['r'] = read_json('files/one.json' if {p} else 'files/two.json')['same']",
    "def put(): node.default['u'] = node['os']['same']\nput()\nnode.default['v'] = node['u']\nif {p}: put()",
    "node.default['c'] = docs[{p}]['k']",
    "node.default['c'] = docs[{p}]['same']",
    "node.default['s'] = Sensitive(docs[{p}]['k'])",
    "node.default['s'] = Sensitive(docs[{p}]['same'])",
    "node.default['s'] = Sensitive('same' if {p} else docs[0]['k'])",
    "node.default['d'] = (node['os'] if {p} else node['cpu'])['same']",
    "node.default['d'] = node['os']['same'] + (0 if {p} else 0)",
    "node.default['e'] = lazy(lambda: node['os']['a'] if {p} else 1)",
    "for key in ('x', 'y') if {p} else ('y', 'x'): node.default[key] = 1",
    "if {p}: node.default['f'] = 1\nnode.default['f'] = 1",
    "if {p}:\n node.default['g'] = 1\nelse:\n node.default['g'] = 1",
    "if {p}: node.override['a'] = 3",
    "if {p}: read_json('files/one.json')",
    "node.default['h'] = [docs[{p}]['same'], docs[0]['k']]",
    "node.default['h'].append(1 if {p} else 2)",
    "node.normal['n'] = {p}",
]
LIBRARY = "def one(node): node.default['l'] = 1\n\ndef two(node): node.default['l'] = 1\n"
AROUND = {
    "cookbooks/app/metadata.json": {"name": "app"},
    "cookbooks/app/libraries/both.py": LIBRARY,
    "cookbooks/app/files/one.json": {"k": "one", "same": "same"},
    "cookbooks/app/files/two.json": {"k": "two", "same": "same", "again": "same"},
    "nodes/web1.json": {"name": "web1", "run_list": ["recipe[app]"]},
    "facts.json": {"platform": "ubuntu", "os": {"a": 1, "same": 4}, "cpu": {"same": 4}},
}


class TestTheLaw:
    @settings(max_examples=examples(60), deadline=None)
    @given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4))
    def test_what_has_one_outline_has_one_snapshot(self, tmp_path_factory, statements):
        """
        Whatever the program hangs on beside its files; and the same run has the same outline.
        """
        folder = tmp_path_factory.mktemp("law")
        lines = [text.format(p=f"(bits >> {number} & 1)") for number, text in enumerate(statements)]
        text = "\n".join([HEAD, "from both import one, two", *lines, ""])
        repository(folder, AROUND | {"cookbooks/app/recipes/default.py": text})
        found: dict[bytes, str] = {}
        for bits in itertools.chain(range(2 ** len(statements)), (0, 1)):
            outline, snapshot = self.ran(folder, bits)
            if outline:
                assert snapshot == found.setdefault(outline, snapshot), bits
        shutil.rmtree(folder)

    def ran(self, folder, bits):
        was = os.environ.get("BITS")
        os.environ["BITS"] = str(bits)
        try:
            repo = Repository(folder)
            repo.opened = time.time() + 60
            facts = load_facts(folder / "facts.json", "facts.json", settled=True, stamped=True)
            session = perform(repo, open_store(folder / "none.db"), "web1", facts=facts, save=False)
            stamps = stamps_before(repo, str(folder / "none.db"))
            before = outlined(session.run.node, None, facts, repo, stamps)
            snapshot = json.dumps(session.snapshot)
            assert before == outlined(session.run.node, None, facts, repo, stamps)
            return before, snapshot
        finally:
            os.environ.pop("BITS") if was is None else os.environ.update(BITS=was)

    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_a_run_has_the_outline_that_it_had(self, tmp_path, statement):
        text = "\n".join([HEAD, "from both import one, two", statement.format(p="bits"), ""])
        repository(tmp_path, AROUND | {"cookbooks/app/recipes/default.py": text})
        first, again = self.ran(tmp_path, 0), self.ran(tmp_path, 0)
        assert first == again
        assert first[0] != b""


@pytest.mark.parametrize("save", [True, False])
def test_a_value_that_needs_itself_is_an_error_of_the_run_saved_or_not(fleet, save):
    """
    And not of whoever looks at its snapshot.
    """
    text = "default['p'] = lazy(lambda: node['q'])\ndefault['q'] = lazy(lambda: node['p'])\n"
    Path(fleet.repository, "cookbooks/app/attributes/own.py").write_text(text, "utf-8")
    facts = load_facts(Path(fleet.facts), settled=True)
    with pytest.raises(DeferredCycle):
        perform(Repository(fleet.repository), open_store(fleet.store), "web1", facts=facts, save=save)
