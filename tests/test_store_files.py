"""The directory of node documents: the common exam, and what only files can suffer."""

import contextlib
import errno
import json
import os
import pathlib
import resource
import signal

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

    def test_one_node_is_two_files_that_only_their_owner_may_read(self, store, nodes):
        for mark in range(3):
            store.save(pair(mark))

        files = sorted(nodes.iterdir())
        assert [True, True] == [file.name.startswith("web1") for file in files]
        assert [0o600, 0o600] == [file.stat().st_mode & 0o777 for file in files]

    def test_files_that_are_no_nodes_are_left_alone(self, store, nodes):
        store.save(pair(1))
        for name in ("README.md", ".hidden.json", "a b.json", "web1@.json"):
            (nodes / name).write_text("{}")

        assert ["web1"] == store.names()

    def test_deleting_removes_every_trace(self, store, nodes):
        store.save(pair(1))
        (nodes / "web1@1.tmp").write_text("half")
        store.delete("web1")

        assert [] == list(nodes.iterdir())

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
    @pytest.mark.parametrize("damage", ["a digit", "half", "empty", "another file", "another version", "a list"])
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
                "another version": content.replace(b'"version": 1', b'"version": 2'),
                "a list": b"[]\n[]\n",
            }[damage]
        )

        loaded = store.load("web1")
        assert (pair(1).document, None) == (loaded.document, loaded.snapshot)
        assert loaded.note.startswith(f"saved, origin unknown: {snapshot.name} ")

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


CALLS = ("open", "write", "fsync", "close", "replace", "unlink", "listdir", "makedirs")
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
}


def content_of(store):
    loaded = store.load("web1")
    return loaded.document, loaded.snapshot


@pytest.mark.parametrize("new", NEW.values(), ids=NEW)
class TestEachCallOfASaveFails:
    """With the disk full, with a read-only directory, or with the process killed."""

    # One save makes fewer calls than this; the first test sees to it.
    MOST = 40

    def prepared(self, place):
        """An old pair, and what a save leaves that was killed just before its last step."""
        store = open_store(place)
        store.save(OLD)
        for rest in ("web1@0.tmp", "web1@1.tmp", f"web1@{'0' * 32}.snapshot"):
            (pathlib.Path(place.removeprefix("file://")) / rest).write_text("half")
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
            listed = {*os.listdir(nodes)}
            with Faults(at, fails_with(number)).among_us(monkeypatch) as faults:
                try:
                    store.save(new)
                except StoreError as error:
                    failed = str(error)
                else:
                    failed = None

            if failed is None:
                # What may fail unheard is removing leftovers, and closing what was only read.
                assert (new.document, new.snapshot) == content_of(store)
                assert at >= len(faults.seen) or faults.seen[at] in ("unlink", "close")
            elif failed.startswith("saved the node 'web1'"):
                assert (new.document, new.snapshot) == content_of(store)
                assert "fsync" == faults.seen[at]
            else:
                assert f"cannot save the node 'web1' in {store.describe()[9:]}: {os.strerror(number)}" in failed
                assert (OLD.document, OLD.snapshot) == content_of(store)
                assert {*os.listdir(nodes)} <= listed

    def test_a_kill_at_any_call_leaves_the_old_pair_or_the_new_one(self, place, monkeypatch, new):
        found = []
        for at in range(self.MOST):
            store = self.prepared(place)
            child = os.fork()
            if child == 0:
                try:
                    with Faults(at, lambda *call: os.kill(os.getpid(), signal.SIGKILL)).among_us(monkeypatch):
                        store.save(new)
                finally:
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            found.append(content_of(store) == (new.document, new.snapshot))
            if not found[-1]:
                assert (OLD.document, OLD.snapshot) == content_of(store)
            if not os.WIFSIGNALED(status):
                break
        assert not os.WIFSIGNALED(status), "the last of them lives: every call was tried"
        assert sorted(found) == found, "once the new pair is there, it stays"
        assert {True, False} == {*found}


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


class TestLeftovers:
    def test_what_a_killed_save_left_is_ignored_and_then_cleaned_away(self, store, nodes):
        store.save(pair(1))
        for rest in ("web1@1.tmp", "web1@0.tmp", f"web1@{'0' * 32}.snapshot"):
            (nodes / rest).write_text("half")

        assert 1 == mark_of(store.load("web1"))
        assert ["web1"] == store.names()
        store.save(pair(2))
        assert 2 == len(os.listdir(nodes))

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

    assert all(b"clear text" not in file.read_bytes() for file in nodes.iterdir())
    assert 5432 == Node.restore(store.load("web1").snapshot)["db"]["port"]


def test_a_snapshot_reads_as_json_lines(store, nodes):
    """The head says what it belongs to; the rest is the snapshot."""
    store.save(pair(1))
    [snapshot] = nodes.glob("*.snapshot")

    head, body = map(json.loads, snapshot.read_text().splitlines())
    assert "web1" == head["node"]
    assert 1 == body["mark"]
