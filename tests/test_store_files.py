"""The directory of node documents: the common exam, and what only files can suffer."""

import contextlib
import errno
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import threading
import zlib
from datetime import UTC, datetime
from fnmatch import fnmatch

import pytest

from nodeattrs import Node, Sensitive
from nodeattrs.errors import BadName, DocumentError, StoreError
from nodeattrs.keep import Saved, open_store, saved_document
from tests.store_exam import StoreExam, TwoAtOnceExam, mark_of, pair


@pytest.fixture
def place(tmp_path):
    return f"file://{tmp_path}/nodes"


@pytest.fixture
def nodes(tmp_path):
    return tmp_path / "nodes"


@pytest.fixture
def store(place):
    return open_store(place)


class TestExam(StoreExam):
    @pytest.fixture
    def place(self, tmp_path):
        return f"file://{tmp_path}/nodes"

    def fresh(self, tmp_path_factory):
        return f"file://{tmp_path_factory.mktemp('many')}/nodes"


class TestTwoAtOnce(TwoAtOnceExam):
    @pytest.fixture
    def place(self, tmp_path):
        return f"file://{tmp_path}/nodes"


class TestOpening:
    def test_a_path_and_a_url_open_the_same_store(self, tmp_path):
        open_store(tmp_path / "my nodes").save(pair(1))

        assert 1 == mark_of(open_store(f"file://{tmp_path}/my%20nodes").load("web1"))

    def test_a_relative_path_stays_where_it_was_when_the_working_directory_changes(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        store = open_store("nodes")
        monkeypatch.chdir("/")
        store.save(pair(1))

        assert (tmp_path / "nodes" / "web1.json").is_file()

    def test_postgres_is_postgresql_too(self):
        pytest.importorskip("psycopg")

        assert open_store("postgres://me@db/nodes").describe() == open_store("postgresql://me@db/nodes").describe()

    def test_an_unknown_scheme_names_the_known_ones_and_shows_no_password(self):
        with pytest.raises(StoreError, match="file://") as caught:
            open_store("mysql://ann:s3cret@db/nodes")
        assert "s3cret" not in str(caught.value)

    @pytest.mark.parametrize("place", ["", "file://nodes", "a\0b"])
    def test_a_place_that_is_no_directory_is_refused(self, place):
        with pytest.raises(StoreError):
            open_store(place)

    def test_a_file_is_no_store(self, tmp_path):
        (tmp_path / "nodes").write_text("")
        with pytest.raises(StoreError, match="is no directory"):
            open_store(tmp_path / "nodes")


class TestTheFiles:
    def test_the_document_is_chefs_and_can_be_compared_line_by_line(self, store, nodes):
        store.save(Saved("web1", {"name": "web1", "normal": {"b": "é", "a": []}}))

        lines = ["{", '  "name": "web1",', '  "normal": {', '    "b": "é",', '    "a": []', "  }", "}", ""]
        assert "\n".join(lines) == (nodes / "web1.json").read_text("utf-8")

    def test_one_node_is_a_pair_and_its_history_that_only_their_owner_may_read(self, store, nodes):
        for mark in range(3):
            store.save(pair(mark))

        names = [".history", "web1.json", "web1@*.snapshot"]
        assert all(fnmatch(*both) for both in zip(sorted(os.listdir(nodes)), names, strict=True))
        assert {0o700} == {folder.stat().st_mode & 0o777 for folder in (nodes, nodes / ".history")}
        assert {0o600} == {file.stat().st_mode & 0o777 for file in nodes.rglob("*") if file.is_file()}

    def test_files_that_are_no_nodes_are_left_alone(self, store, nodes):
        store.save(pair(1))
        for name in ("README.md", ".hidden.json", "a b.json", "web1@.json"):
            (nodes / name).write_text("{}")

        assert ["web1"] == store.names()

    def test_deleting_removes_every_trace_but_the_number(self, store, nodes):
        for mark in range(7):
            store.save(pair(mark))
        (nodes / "web1@1.tmp").write_text("half")
        store.delete("web1")

        assert [nodes / ".history" / "web1.log"] == [path for path in nodes.rglob("*") if path.is_file()]
        [line] = (nodes / ".history" / "web1.log").read_text().splitlines()
        assert {
            "format": "nodeattrs-history",
            "version": 1,
            "node": "web1",
            "last": 7,
            "end": "0000000000",
        } == json.loads(line[9:])

    def test_a_document_of_chefs_own_has_an_unknown_origin(self, store, nodes):
        nodes.mkdir()
        (nodes / "db1.json").write_text('{"name":"db1","normal":{"a":1}}')

        loaded = store.load("db1")
        assert ({"name": "db1", "normal": {"a": 1}}, None) == (loaded.document, loaded.snapshot)
        assert "saved, origin unknown: no snapshot stands beside it" == loaded.note

    def test_a_document_edited_by_hand_leaves_its_snapshot(self, store, nodes):
        store.save(pair(1))
        file = nodes / "web1.json"
        file.write_text(file.read_text().replace('"mark": 1', '"mark": 2'))

        loaded = store.load("web1")
        assert (2, None) == (loaded.document["normal"]["mark"], loaded.snapshot)
        assert "saved, origin unknown: web1.json was changed after it was saved" == loaded.note

    def test_an_edit_undone_finds_the_snapshot_again(self, store, nodes):
        store.save(pair(1))
        before = (nodes / "web1.json").read_bytes()
        (nodes / "web1.json").write_text('{"name": "web1"}')
        (nodes / "web1.json").write_bytes(before)

        assert 1 == mark_of(store.load("web1"))

    def test_a_key_written_twice_is_said(self, store, nodes):
        nodes.mkdir()
        (nodes / "web1.json").write_text('{"name": "web1",\n "normal": {"a": 1, "a": 2}}')

        assert "web1.json:2" in store.load("web1").note


class TestDamage:
    @pytest.mark.parametrize(
        "damage", ["a digit", "half", "empty", "another file", "another version", "a list", "a number", "a time"]
    )
    def test_a_damaged_snapshot_is_noticed_and_said(self, store, nodes, damage):
        store.save(pair(1))
        store.save(pair(2, "web2"))
        snapshot, other = sorted(nodes.glob("*.snapshot"))
        content = snapshot.read_bytes()
        snapshot.write_bytes(
            {
                "a digit": content.replace(b'"mark":1', b'"mark":7'),
                "half": content[: len(content) // 2],
                "empty": b"",
                "another file": other.read_bytes(),
                "another version": content.replace(b'"version": 1', b'"version": 0'),
                "a list": b"[]\n[]\n",
                "a number": content.replace(b'"revision": 1', b'"revision": 1e400'),
                "a time": content.replace(b'"at": "20', b'"at": "0001-01-01T00:00:00+14:00", "was": "20'),
            }[damage]
        )

        loaded = store.load("web1")
        assert (pair(1).document, None) == (loaded.document, loaded.snapshot)
        assert loaded.note.startswith(f"saved, origin unknown: {snapshot.name} ")

    def test_what_a_newer_program_saved_is_refused_and_left_alone(self, store, nodes):
        store.save(pair(1))
        [snapshot] = nodes.glob("*.snapshot")
        snapshot.write_bytes(snapshot.read_bytes().replace(b'"version": 1', b'"version": 2'))
        was = {file: file.read_bytes() for file in nodes.rglob("*") if file.is_file()}

        for task in (
            lambda: store.load("web1"),
            lambda: store.save(pair(2)),
            lambda: store.history("web1"),
            lambda: store.prune(1),
            lambda: store.delete("web1"),
        ):
            with pytest.raises(StoreError, match=r"newer nodeattrs: its version is 2, ours 1\n.*upgrade nodeattrs"):
                task()
        assert ["the node 'web1' was saved by a newer nodeattrs: its version is 2, ours 1"] == store.check()
        assert was == {file: file.read_bytes() for file in nodes.rglob("*") if file.is_file()}

    @pytest.mark.parametrize(
        ("content", "line"),
        [
            (b'{"name": "web1",\n "normal": }', 2),
            (b'{"name": "web1",\n\n "normal": {"a": "\xff"}}', 3),
            (b'["web1"]', 1),
            (b'{"normal": {}}', 1),
            (b'{\n "name": "db1"}', 2),
            (b"", 1),
            (b"[" * 100_000, 1),
        ],
    )
    def test_a_damaged_document_is_an_error_with_its_place(self, store, nodes, content, line):
        nodes.mkdir()
        (nodes / "web1.json").write_bytes(content)

        with pytest.raises(DocumentError) as caught:
            store.load("web1")
        assert (f"{nodes}/web1.json", line) == (caught.value.file, caught.value.line)

    @pytest.mark.parametrize("make", [pathlib.Path.mkdir, os.mkfifo])
    def test_something_that_is_no_file_stands_in_the_way(self, store, nodes, make):
        nodes.mkdir()
        make(nodes / "db1.json")

        with pytest.raises(StoreError, match=r"db1\.json is not a file"):
            store.load("db1")

    def test_a_directory_in_the_place_of_a_document_stops_the_save(self, store, nodes):
        (nodes / "web1.json").mkdir(parents=True)

        with pytest.raises(StoreError, match=r"web1\.json is not a file"):
            store.save(pair(1))
        assert ["web1.json"] == os.listdir(nodes)

    def test_what_stands_in_the_way_of_one_node_hides_no_other(self, store, nodes):
        store.save(pair(1))
        (nodes / "db1.json").mkdir()

        assert [("db1", None), ("web1", 1)] == [(name, last and last.number) for name, last in store.latest()]


class TestCapitals:
    """Where a file system takes `Web1.json` and `web1.json` for one file."""

    @pytest.fixture
    def _folding(self, nodes, monkeypatch):
        """Another spelling of a name that is there is found, though it is not listed."""
        exists = os.path.lexists

        def lexists(path):
            near = os.listdir(nodes) if exists(nodes) else []
            return exists(path) or os.path.basename(path).lower() in map(str.lower, near)

        monkeypatch.setattr(os.path, "lexists", lexists)

    @pytest.mark.usefixtures("_folding")
    def test_the_second_spelling_is_refused(self, store):
        store.save(pair(1))

        with pytest.raises(BadName, match=r"beside web1\.json"):
            store.save(pair(2, "Web1"))
        assert 1 == mark_of(store.load("web1"))

    def test_elsewhere_they_are_two_nodes(self, store, nodes):
        if not tells_capitals_apart(nodes.parent):
            pytest.skip("this file system takes them for one")
        store.save(pair(1))
        store.save(pair(2, "Web1"))

        assert (1, 2) == (mark_of(store.load("web1")), mark_of(store.load("Web1")))


def tells_capitals_apart(directory):
    (directory / "capitals").write_text("")
    return not (directory / "CAPITALS").exists()


CALLS = ("open", "write", "fsync", "close", "replace", "unlink", "listdir", "makedirs", "ftruncate", "lseek", "pwrite")
"""What a save asks of the system."""


class Faults:
    """Counts the calls that a save makes, and does something at one of them."""

    def __init__(self, at, happening):
        self.at, self.happening, self.count, self.seen = at, happening, -1, []

    def call(self, name, real):
        def called(*arguments, **options):
            self.count += 1
            self.seen.append(name)
            if self.count == self.at:
                if name == "close":  # which may complain, but always closes
                    real(*arguments)
                self.happening(name, arguments)
            return real(*arguments, **options)

        return called

    @contextlib.contextmanager
    def among_us(self, monkeypatch):
        with monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self.call(name, getattr(os, name)))
            yield self


def fails_with(number):
    def happening(name, arguments):
        raise OSError(number, os.strerror(number))

    return happening


OLD = pair("old")
NEW = {
    "another document": pair("new"),
    "another document, no snapshot": Saved("web1", pair("new").document),
    "the same document, another snapshot": Saved("web1", OLD.document, pair("new").snapshot),
    "the same document, no snapshot": Saved("web1", OLD.document),
    "nothing new": OLD,
}


def seen(store):
    """Every revision as it is loaded, and the latest one as it is found without a number."""
    assert [] == store.check()
    found = {one.number: store.load("web1", one.number) for one in store.history("web1")}
    told = {number: (saved.document, saved.snapshot) for number, saved in found.items()}
    latest = store.load("web1")
    if latest is not None:
        assert told[max(told)] == (latest.document, latest.snapshot)
        assert max(told) == latest.revision.number
    return told


def killed_at_each_call(monkeypatch, prepared, task):
    """What each kill left, the last time without one: what `seen` tells before and after."""
    for at in itertools.count():
        store = prepared()
        before = seen(store)
        child = os.fork()
        if child == 0:
            try:
                with Faults(at, lambda *call: os.kill(os.getpid(), signal.SIGKILL)).among_us(monkeypatch):
                    task(store)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        yield before, seen(store), store
        if not os.WIFSIGNALED(status):
            break


@pytest.mark.parametrize("new", NEW.values(), ids=NEW)
class TestEachCallOfASaveFails:
    """With the disk full, with a read-only directory, or with the process killed."""

    # One save makes fewer calls than this; the first test sees to it.
    MOST = 50

    def prepared(self, place):
        """An old pair, and what a save leaves that was killed just before its last step."""
        store = open_store(place)
        store.save(OLD)
        nodes = pathlib.Path(place.removeprefix("file://"))
        for rest in ("web1@0.tmp", "web1@1.tmp", f"web1@{'0' * 32}.snapshot"):
            (nodes / rest).write_text("half")
        with (nodes / ".history" / "web1.log").open("a") as log:
            log.write("half")
        return store

    def test_what_is_written_is_on_disk_before_it_takes_its_place(self, place, monkeypatch, new):
        store = self.prepared(place)
        with Faults(-1, None).among_us(monkeypatch) as faults:
            store.save(new)

        assert len(faults.seen) < self.MOST
        order = [name for name in faults.seen if name in ("write", "fsync", "replace", "unlink")]
        for before, call, after in zip(order, order[1:], order[2:], strict=False):
            assert "write" != call or "fsync" == after
            assert "replace" != call or "fsync" == before
        assert "fsync" == [name for name in order if name != "unlink"][-1]

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
    def test_the_error_is_true_and_a_whole_pair_is_left(self, place, nodes, monkeypatch, new, number):
        for at in range(self.MOST):
            store = self.prepared(place)
            before, listed = seen(store), {*os.listdir(nodes)}
            after = {**before, max(before) + 1: (new.document, new.snapshot)}
            with Faults(at, fails_with(number)).among_us(monkeypatch) as faults:
                try:
                    store.save(new)
                except StoreError as error:
                    failed = str(error)
                else:
                    failed = None

            if failed is None:
                # What may fail unheard is removing leftovers, closing what was only read, and what comes last of all:
                # noting in the history that the revision was promised.
                assert after == seen(store)
                assert (
                    at >= len(faults.seen) or faults.seen[at] in ("unlink", "close") or "fsync" not in faults.seen[at:]
                )
            elif failed.startswith("saved the node 'web1'"):
                assert after == seen(store)
                assert faults.seen[at] in ("open", "fsync")
            else:
                assert f"cannot save the node 'web1' in {store.describe()[9:]}: {os.strerror(number)}" in failed
                assert before == seen(store)
                assert {*os.listdir(nodes)} <= listed
            # Every so often from the start, since the revisions are all looked at each time.
            if at % 10 == 9:
                store.prune(1)

    def test_a_kill_at_any_call_leaves_the_old_pair_or_the_new_one(self, place, monkeypatch, new):
        found = []
        for before, after, store in killed_at_each_call(
            monkeypatch, lambda: self.prepared(place), lambda store: store.save(new)
        ):
            last = max(before) + 1
            found.append(last in after)
            assert ({**before, last: (new.document, new.snapshot)} if found[-1] else before) == after
            store.prune(2)
        assert sorted(found) == found, "once the new revision is there, it stays"
        assert {True, False} == {*found}


class TestEachCallOfWhatForgetsFails:
    def prepared(self, place, nodes):
        """Five revisions, each with something of those before; and a node of which there was nothing."""
        shutil.rmtree(nodes, ignore_errors=True)
        store = open_store(place)
        for mark in (1, 2, 2, 3, 4):
            store.save(pair(mark))
        return store

    def test_a_kill_while_pruning_leaves_what_was_there_or_what_was_asked_for(self, place, nodes, monkeypatch):
        left = []
        for before, after, store in killed_at_each_call(
            monkeypatch, lambda: self.prepared(place, nodes), lambda store: store.prune(2)
        ):
            left.append(len(after))
            assert {number: before[number] for number in sorted(before)[-left[-1] :]} == after
            assert 6 == store.save(pair(5)).number
        assert [5, 2] == sorted({*left}, reverse=True)

    def test_a_kill_while_deleting_gives_no_number_twice_and_brings_nothing_back(self, place, nodes, monkeypatch):
        """
        First the older revisions go, then the latest one.
        """
        left = []
        for before, after, store in killed_at_each_call(
            monkeypatch, lambda: self.prepared(place, nodes), lambda store: store.delete("web1")
        ):
            left.append(len(after))
            assert {number: before[number] for number in sorted(before, reverse=True)[: left[-1]]} == after
            assert 6 == store.save(pair(5)).number
            assert {6: (pair(5).document, pair(5).snapshot), **after} == seen(store)
        assert [5, 1, 0] == sorted({*left}, reverse=True)

    def test_a_node_that_was_forgotten_is_gone_from_the_disk_before_anything_else_goes(self, place, nodes, monkeypatch):
        """
        Its folder is on disk again after the document was removed, and before the call is over.
        """
        store, done = self.prepared(place, nodes), []
        sync, unlink = os.fsync, os.unlink
        monkeypatch.setattr(
            os, "fsync", lambda handle: (done.append(os.readlink(f"/proc/self/fd/{handle}")), sync(handle))
        )
        monkeypatch.setattr(
            os, "unlink", lambda name, **how: (done.append(os.path.basename(name)), unlink(name, **how))
        )
        assert store.delete("web1")

        after = done[done.index("web1.json") + 1 :]
        assert [str(nodes)] == after[:1]

    def test_deleting_waits_for_whoever_is_reading(self, place, nodes):
        """
        And reading does not wait for reading.
        """
        store, other, done = self.prepared(place, nodes), open_store(place), []
        deleting = threading.Thread(target=lambda: done.append(other.delete("web1")))
        with store._folder.locked(exclusive=False):
            assert 4 == mark_of(open_store(place).load("web1"))
            deleting.start()
            deleting.join(0.2)
            assert [] == done
        deleting.join()
        assert [True] == done

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS], ids=errno.errorcode.get)
    def test_where_pruning_fails_nothing_is_lost(self, place, nodes, monkeypatch, number):
        for at in range(20):
            store = self.prepared(place, nodes)
            before, listed = seen(store), sorted(nodes.rglob("*"))
            with Faults(at, fails_with(number)).among_us(monkeypatch) as faults, contextlib.suppress(StoreError):
                assert 3 == store.prune(2)
            after = seen(store)
            assert after in (before, {4: before[4], 5: before[5]})
            assert listed == sorted(nodes.rglob("*"))
        assert len(faults.seen) <= at, "the last one succeeds: every call was tried"


class TestAFullDisk:
    def test_a_save_that_does_not_fit_leaves_what_was_there(self, store, nodes):
        """A real one, as far as the kernel is concerned: no file may grow beyond 8,000 bytes."""
        store.save(pair("old"))
        listed = sorted(os.listdir(nodes))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, hard))
        try:
            with pytest.raises(StoreError, match="cannot save the node 'web1'"):
                store.save(pair("new", size=20_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        assert "old" == mark_of(store.load("web1"))
        assert listed == sorted(os.listdir(nodes))


class TestCost:
    def test_what_does_not_change_costs_a_line(self, store, nodes):
        """
        200 saves of a node of 250,000 bytes: each is a note of what run it was.
        """
        saved = pair(1, size=125_000)
        store.save(saved)
        first = size_of(nodes)
        for _ in range(200):
            store.save(saved)

        assert 201 == len(store.history("web1"))
        assert size_of(nodes) - first < 200 * 400
        assert [] == store.check()

    def test_a_change_costs_what_changed(self, store, nodes):
        facts = {str(number): {"value": f"{number} " * 50, "list": [number]} for number in range(2_000)}
        node = Saved("web1", {"name": "web1", "automatic": facts}, {"slots": facts})
        store.save(node)
        log = nodes / ".history" / "web1.log"
        first = log.stat().st_size
        for count in range(10):
            facts[str(37 * count)]["value"] = f"another {count}"
            store.save(node)

        assert log.stat().st_size - first < first
        assert [] == store.check()

    def test_what_comes_back_costs_a_line(self, store, nodes):
        for mark in ("one", "two"):
            store.save(pair(mark, size=50_000))
        first = (nodes / ".history" / "web1.log").stat().st_size
        store.save(pair("one", size=50_000))

        assert (nodes / ".history" / "web1.log").stat().st_size - first < 400

    def test_pruning_gives_room_back(self, store, nodes):
        for mark in range(20):
            store.save(pair(mark, size=5_000))
        log = nodes / ".history" / "web1.log"
        whole = log.stat().st_size
        store.prune(2)

        assert log.stat().st_size < whole / 4


def size_of(nodes):
    return sum(file.stat().st_size for file in nodes.rglob("*") if file.is_file())


def made_older(nodes):
    """As a program leaves a directory that knows no history."""
    shutil.rmtree(nodes / ".history")
    for snapshot in nodes.glob("*.snapshot"):
        snapshot.write_bytes(snapshot.read_bytes().replace(b', "history": true}\n', b"}\n", 1))


class TestEdits:
    """What becomes of the history when people, Chef or an older program write."""

    def test_an_edit_is_no_revision_and_the_next_save_counts_on(self, store, nodes):
        for mark in (1, 2):
            store.save(pair(mark))
        (nodes / "web1.json").write_text('{"name": "web1"}')

        assert (None, {"name": "web1"}) == (store.load("web1").revision, store.load("web1").document)
        assert [2, 1] == [revision.number for revision in store.history("web1")]
        assert [1, 2] == [mark_of(store.load("web1", number)) for number in (1, 2)]
        assert 2 == mark_of(store.load("web1", datetime.now(UTC)))
        assert 3 == store.save(pair(3), after=0).number
        assert [3, 2, 1] == list(seen(store))

    def test_an_edit_after_runs_that_changed_nothing_counts_on(self, store, nodes):
        for _ in range(5):
            store.save(pair(1))
        (nodes / "web1.json").write_text('{"name": "web1"}')

        assert 5 == len(store.history("web1"))
        assert 6 == store.save(pair(1)).number

    def test_an_edit_that_repeats_an_older_document_is_an_edit(self, store, nodes):
        """
        Nobody knows that it is what revision 1 was; only a restore says so.
        """
        store.save(pair(1))
        before = (nodes / "web1.json").read_bytes()
        store.save(pair(2))
        (nodes / "web1.json").write_bytes(before)

        assert store.load("web1").revision is None
        assert [2, 1] == [revision.number for revision in store.history("web1")]
        assert 3 == store.save(pair(1)).number

    def test_the_snapshot_may_be_lost_and_the_history_knows_on(self, store, nodes):
        for mark in (1, 2):
            store.save(pair(mark))
        [snapshot] = nodes.glob("*.snapshot")
        snapshot.unlink()

        assert "saved, origin unknown: no snapshot stands beside it" == store.load("web1").note
        assert 2 == mark_of(store.load("web1", 2))
        assert 3 == store.save(pair(3)).number

    def test_a_document_that_somebody_removed_is_no_node_until_it_is_saved_again(self, store, nodes):
        for mark in (1, 2):
            store.save(pair(mark))
        (nodes / "web1.json").unlink()

        assert [None, [], []] == [store.load("web1", 1), store.history("web1"), store.names()]
        assert 3 == store.save(pair(3), after=0).number
        assert [3, 2, 1] == list(seen(store))

    def test_a_document_that_somebody_removed_can_still_be_forgotten(self, store, nodes):
        for mark in (1, 2):
            store.save(pair(mark))
        (nodes / "web1.json").unlink()
        store.delete("web1")

        assert 3 == store.save(pair(3)).number
        assert [3] == list(seen(store))

    def test_an_older_store_has_one_revision_and_goes_on_from_there(self, store, nodes):
        for mark in (1, 2, 3):
            store.save(pair(mark))
        made_older(nodes)

        assert 3 == mark_of(store.load("web1"))
        assert [3] == list(seen(store))
        assert 0 == store.prune(1)
        assert 4 == store.save(pair(3), after=3).number
        assert [4, 3] == list(seen(store))
        assert 3 == mark_of(store.load("web1", 3))

    def test_an_older_store_forgets_no_number(self, store, nodes):
        for mark in (1, 2, 3):
            store.save(pair(mark))
        made_older(nodes)
        store.delete("web1")

        assert 4 == store.save(pair(4)).number

    @pytest.mark.parametrize(("number", "becomes"), [(4, 4), (6, 6), (1, 4), (3, 4)])
    def test_what_an_older_program_saved_is_a_revision(self, store, nodes, tmp_path, number, becomes):
        """
        It knows no history, and may give a number for the second time: then it has the next one.
        """
        for mark in (1, 2, 2):
            store.save(pair(mark))
        older = open_store(tmp_path / "older")
        for _ in range(number):
            older.save(pair("older"))
        # It writes the number into each snapshot.
        [snapshot] = (tmp_path / "older").glob("*.snapshot")
        snapshot.write_bytes(snapshot.read_bytes().replace(b'"revision": 1', b'"revision": %d' % number))
        made_older(tmp_path / "older")
        [was] = nodes.glob("*.snapshot")
        was.unlink()
        for file in (tmp_path / "older").iterdir():
            file.replace(nodes / file.name)

        assert [becomes, 3, 2, 1] == list(seen(store))
        assert "older" == mark_of(store.load("web1"))
        assert becomes + 1 == store.save(pair(5)).number
        assert [becomes + 1, becomes, 3, 2, 1] == list(seen(store))


class TestAHistoryWithoutItsEnd:
    """What was promised is missed, wherever the file ends too early."""

    @pytest.fixture
    def log(self, store, nodes):
        for mark in (1, 2, 2, 3, 3):
            store.save(pair(mark, size=50))
        return nodes / ".history" / "web1.log"

    def cut(self, log, lines):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:lines]))

    @pytest.mark.parametrize(("lines", "gone"), [(0, "1 to 5 are"), (1, "1 to 5 are"), (2, "2 to 5 are"), (5, "5 is")])
    def test_the_revisions_that_are_gone_are_told(self, store, log, lines, gone):
        """
        Where only the last is gone, in which nothing changed, the first line alone knows of it.
        """
        self.cut(log, lines)
        told = f"the history of web1 is damaged: revision{'s' * (' to ' in gone)} {gone} gone from {log}"

        if lines == 0:
            told = told.replace("1 to 5", "1 to 4")  # nothing that is left has stated of the fifth
        assert told in store.check()
        assert [told] == store.unreadable("web1")
        assert told == store.load("web1").note

    def test_a_cut_within_a_line_is_one(self, store, log):
        os.truncate(log, log.stat().st_size - 10)

        assert [f"the history of web1 is damaged: revision 5 is gone from {log}"] == store.check()

    def test_a_file_that_is_gone_is_missed(self, store, log):
        log.unlink()

        assert [f"the history of web1 is damaged: revisions 1 to 4 are gone from {log}"] == store.check()

    def test_what_is_gone_is_no_revision_that_never_was(self, store, log):
        times = {one.number: one.at for one in store.history("web1")}
        self.cut(log, 2)

        for at in (2, 3, 5, times[1], times[3]):
            with pytest.raises(DocumentError, match=r"is damaged in .*, and .* may have been there"):
                store.load("web1", at)
        assert store.load("web1", 6) is None
        assert 1 == mark_of_damaged(store.load("web1", 1))
        assert 3 == mark_of_damaged(store.load("web1")) == mark_of_damaged(store.load("web1", 4))

    def test_it_is_told_until_it_is_pruned_and_no_number_is_given_twice(self, store, log):
        self.cut(log, 3)

        assert 6 == store.save(pair(6)).number
        gone = [f"the history of web1 is damaged: revision {number} is gone from {log}" for number in (3, 5)]
        assert gone == store.check() == open_store(str(log.parent.parent)).check()
        assert [6, 4, 2, 1] == [one.number for one in store.history("web1")]
        store.prune(1)
        assert [6] == list(seen(store))

    @pytest.mark.parametrize("line", [1, 2, 3])
    def test_a_line_that_somebody_took_out_is_missed(self, store, log, line):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:line] + lines[line + 1 :]))

        assert f"the history of web1 is damaged: revision {line} is gone from {log}" in store.check()
        with pytest.raises(DocumentError, match="may have been there"):
            store.load("web1", line)

    def test_what_was_pruned_or_forgotten_is_not_missed(self, store, log):
        store.prune(2)
        assert [5, 4] == list(seen(store))
        store.delete("web1")
        store.save(pair(1))
        assert [6] == list(seen(store))

    def test_a_pair_that_was_put_back_takes_nothing_from_the_history(self, store, nodes, log):
        before = {file: file.read_bytes() for file in nodes.glob("web1*")}
        store.save(pair(6))
        for file in nodes.glob("web1*"):
            file.unlink()
        for file, content in before.items():
            file.write_bytes(content)

        assert (3, 5) == (mark_of(store.load("web1")), store.load("web1").revision.number)
        assert 7 == store.save(pair(7)).number
        assert [7, 6, 5, 4, 3, 2, 1] == list(seen(store))


def mark_of_damaged(saved):
    assert "is damaged" in saved.note
    return saved.document["normal"]["mark"]


class TestADamagedHistory:
    @pytest.fixture
    def log(self, store, nodes):
        for mark in (1, 2, 2, 3):
            store.save(pair(mark, size=50))
        return nodes / ".history" / "web1.log"

    def change(self, log, change):
        lines = log.read_bytes().splitlines()
        change(lines)
        log.write_bytes(b"".join(line + b"\n" for line in lines))

    @pytest.mark.parametrize("line", range(1, 4))
    @pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"[]", b"00000000 " * 3, b"\xff"])
    def test_a_line_that_cannot_be_read_takes_its_revision_and_no_other(self, store, log, line, damage):
        """
        It is told, never handed out as another one, and the latest stands in its own files.
        """
        self.change(log, lambda lines: lines.__setitem__(line, damage))

        assert [number for number in (4, 3, 2, 1) if number != line] == [one.number for one in store.history("web1")]
        with pytest.raises(DocumentError, match=r"is damaged in .*, and \d may have been there"):
            store.load("web1", line)
        assert 3 == mark_of(store.load("web1")) == mark_of(store.load("web1", 4))
        assert any("cannot be read" in fault for fault in store.check())
        assert 5 == store.save(pair(5)).number
        store.prune(1)
        assert [5] == list(seen(store))

    def test_pruning_throws_nothing_away_that_cannot_be_read(self, store, log):
        """
        Somebody may mend it; it goes with all that is as old.
        """
        self.change(log, lambda lines: lines.__setitem__(3, b"?"))
        content = log.read_bytes()
        with pytest.raises(DocumentError, match=r"cannot be made shorter .* lines that cannot be read\n.*keep fewer"):
            store.prune(2)

        assert content == log.read_bytes()
        assert 2 == store.prune(1)
        assert [4] == list(seen(store))

    def test_a_time_of_which_the_revision_may_be_lost_is_an_error(self, store, log):
        times = {one.number: one.at for one in store.history("web1")}
        self.change(log, lambda lines: lines.__setitem__(2, b"?"))

        assert 1 == mark_of(store.load("web1", 1))
        with pytest.raises(DocumentError, match="may have been there"):
            store.load("web1", times[1])

    @pytest.mark.parametrize("body", [b"", b"AAAA", b"?", b"eJwDAAAAAAE="])
    def test_what_a_revision_brought_is_missed_by_those_that_need_it_until_it_is_written_again(self, store, log, body):
        self.change(log, lambda lines: lines.__setitem__(2, lines[2].partition(b"\t")[0] + b"\t" + body))

        faults = store.check()
        assert {"the document of web1, revision 2", "the snapshot of web1, revision 3"} <= {
            fault.partition(":")[0] for fault in faults
        }
        with pytest.raises(DocumentError, match=r"the document of .*, revision 2, is damaged in .*web1\.log"):
            store.load("web1", 2)
        assert [1, 3] == [mark_of(store.load("web1", number)) for number in (1, 4)]
        store.save(pair(2, size=50))
        assert [1, 2, 2, 3, 2] == [mark_of(store.load("web1", number)) for number in range(1, 6)]
        assert [] == store.check()

    def test_numbers_go_on_after_an_end_that_cannot_be_read(self, store, nodes, log):
        """
        Nobody knows how many were given there; none is given twice.
        """
        for _ in range(5):
            store.save(pair(3, size=50))
        self.change(log, lambda lines: lines.__setitem__(slice(5, None), [b"?" * 1_000]))

        assert store.save(pair(4)).number > 9

    def test_a_first_line_that_cannot_be_read_is_told(self, store, log):
        self.change(log, lambda lines: lines.__setitem__(0, b"?"))

        assert [f"the history of web1 is damaged: line 1 of {log} cannot be read"] == store.check()
        assert 5 == store.save(pair(5)).number

    @pytest.mark.parametrize(
        ("was", "becomes", "said"),
        [
            ('"version": 1', '"version": 2', "was written by a newer nodeattrs: it is nodeattrs-history 2"),
            ('"node": "web1"', '"node": "Web1"', "is the history of the node 'Web1', not of 'web1'"),
        ],
    )
    def test_what_is_not_ours_is_refused_and_left_alone(self, store, log, was, becomes, said):
        def change(lines):
            text = lines[0][9:].replace(was.encode(), becomes.encode())
            lines[0] = b"%08x %s" % (zlib.crc32(text), text)

        self.change(log, change)
        content = log.read_bytes()
        for task in (
            lambda: store.load("web1"),
            lambda: store.save(pair(5)),
            lambda: store.prune(1),
            lambda: store.delete("web1"),
        ):
            with pytest.raises(StoreError, match=said):
                task()
        assert content == log.read_bytes()

    @pytest.mark.parametrize("make", [pathlib.Path.mkdir, os.mkfifo])
    def test_something_that_is_no_file_stands_in_its_place(self, store, log, make):
        log.unlink()
        make(log)
        for task in (lambda: store.load("web1"), lambda: store.save(pair(5))):
            with pytest.raises(StoreError, match=r"\.history/web1\.log is not a file"):
                task()

    @pytest.mark.parametrize(
        ("line", "was", "becomes"),
        [
            (0, b'"last": 0', b'"last": 1e400'),
            (1, b'{"at": "20', b'{"at": "0001-01-01T00:00:00+14:00", "was": "20'),
            (1, b'"spans": {', b'"spans": {"": [[1, 2, 1e400]], "x": [[1, 2, 3]], '),
        ],
    )
    def test_numbers_and_times_that_cannot_be_are_damage(self, store, log, line, was, becomes):
        """
        With a checksum that fits: somebody wrote them on purpose.
        """

        def forge(lines):
            said, tab, body = lines[line].partition(b" ")[2].replace(was, becomes).partition(b"\t")
            lines[line] = b"%08x %s%s%s" % (zlib.crc32(said), said, tab, body)

        self.change(log, forge)

        assert 3 == mark_of(store.load("web1"))
        assert 5 == store.save(pair(5)).number

    def test_nor_is_one_in_the_place_of_all_histories(self, store, nodes, log, tmp_path):
        log.parent.rename(tmp_path / "elsewhere")
        log.parent.symlink_to(tmp_path / "elsewhere")
        before = (tmp_path / "elsewhere" / "web1.log").read_bytes()

        for task in (lambda: store.save(pair(5)), lambda: store.prune(1), lambda: store.delete("web1")):
            with pytest.raises(StoreError, match=r"\.history is a symbolic link"):
                task()
        assert before == (tmp_path / "elsewhere" / "web1.log").read_bytes()
        assert 3 == mark_of(store.load("web1"))

    def test_a_link_is_not_written_through(self, store, nodes, log, tmp_path):
        (tmp_path / "elsewhere").write_bytes(log.read_bytes())
        before = (tmp_path / "elsewhere").read_bytes()
        log.unlink()
        log.symlink_to(tmp_path / "elsewhere")

        with pytest.raises(StoreError, match="cannot save"):
            store.save(pair(5))
        assert before == (tmp_path / "elsewhere").read_bytes()


class TestLeftovers:
    def test_what_a_killed_save_left_is_ignored_and_then_cleaned_away(self, store, nodes):
        store.save(pair(1))
        for rest in ("web1@1.tmp", "web1@0.tmp", f"web1@{'0' * 32}.snapshot"):
            (nodes / rest).write_text("half")

        assert 1 == mark_of(store.load("web1"))
        assert ["web1"] == store.names()
        with (nodes / ".history" / "web1.log").open("a") as log:
            log.write("half")
        store.save(pair(2))
        assert 3 == len(os.listdir(nodes))
        assert [2, 1] == list(seen(store))

    def test_nothing_of_another_node_is_cleaned_away(self, store, nodes):
        store.save(pair(1, "web1.example.com"))
        store.save(pair(2))

        assert 1 == mark_of(store.load("web1.example.com"))


def test_no_secret_of_a_node_is_in_any_file(store, nodes):
    node = Node("web1", sensitive=["db.password"])
    node.default["db"] = {"password": "clear text", "port": 5432}
    node.default["db"]["password"] = "clear text"
    node.normal["key"] = Sensitive("clear text")
    store.save(Saved("web1", saved_document(node), node.snapshot()))

    assert all(b"clear text" not in file.read_bytes() for file in nodes.rglob("*") if file.is_file())
    assert "clear text" not in repr(store.load("web1", 1))
    assert 5432 == Node.restore(store.load("web1").snapshot)["db"]["port"]


def test_a_snapshot_reads_as_json_lines(store, nodes):
    """The head says what it belongs to; the rest is the snapshot."""
    store.save(pair(1))
    [snapshot] = nodes.glob("*.snapshot")

    head, body = map(json.loads, snapshot.read_text().splitlines())
    assert "web1" == head["node"]
    assert 1 == body["mark"]
