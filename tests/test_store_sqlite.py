"""The SQLite store: the common exam, and what only it can suffer."""

import contextlib
import os
import random
import resource
import signal
import sqlite3
import stat
import threading
from functools import partial

import pytest

from nodeattrs import Node
from nodeattrs.errors import StoreError
from nodeattrs.store import Saved, open_store
from nodeattrs.store.engines import sqlite
from nodeattrs.store.engines.store import result_or_error
from tests.store_exam import DatabaseExam, StoreExam, TwoAtOnceExam
from tests.store_writers import mark_of, other_process, pair


@pytest.fixture
def file(tmp_path):
    return tmp_path / "nodes.db"


@pytest.fixture
def place(file):
    return f"sqlite://{file}"


class TestExam(StoreExam):
    @pytest.fixture
    def place(self, tmp_path):
        return f"sqlite://{tmp_path}/nodes.db"

    def fresh(self, tmp_path_factory):
        return f"sqlite://{tmp_path_factory.mktemp('many')}/nodes.db"


class TestHistory(DatabaseExam):
    VERSION = "PRAGMA user_version = {}"

    @pytest.fixture
    def place(self, tmp_path):
        return f"sqlite://{tmp_path}/nodes.db"

    def damage(self, place, statement, *values):
        change(place.removeprefix("sqlite://"), statement, *values)


class TestTwoAtOnce(TwoAtOnceExam):
    @pytest.fixture
    def place(self, tmp_path):
        return f"sqlite://{tmp_path}/nodes.db"

    def test_a_first_save_waits_for_who_is_making_the_store(self, place, file, monkeypatch):
        """
        Not for ever, and then it says so.
        """
        other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        with monkeypatch.context() as hasty:
            hasty.setattr(sqlite, "PATIENCE_SECONDS", 0.05)
            with pytest.raises(StoreError, match=r"database is locked\n.*\n.*; try again"):
                open_store(place).save(pair(1))
        done = threading.Timer(0.2, other.rollback)
        done.start()

        assert 1 == open_store(place).save(pair(2)).number
        done.join()
        other.close()

    def test_who_makes_the_file_takes_no_lock_from_another_thread(self, place, file, monkeypatch):
        """
        Closing a file lets go of every lock of the process on it. Another process would then think that it is
        alone, and remove the log to which this one goes on writing.
        """
        made, saved, close = threading.Event(), threading.Event(), os.close

        def close_late(handle):
            made.set()
            saved.wait(0.5)
            close(handle)

        store = open_store(place)
        with monkeypatch.context() as late:
            late.setattr(os, "close", close_late)
            maker = threading.Thread(target=open_store(place).save, args=(pair(1),))
            maker.start()
            made.wait()
            store.save(pair(2))
            saved.set()
            maker.join()
        other = other_process("writer", place, "ann", 1)
        _, complaint = other.communicate()

        assert 0 == other.returncode, complaint
        assert file.with_name("nodes.db-wal").exists()
        assert 4 == store.save(pair(3)).number
        assert [] == store.check()


def change(file, statement, *values):
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(statement, values)
    connection.close()


class TestSeveralAtOnce:
    def test_they_leave_the_rows_that_one_after_the_other_leaves(self, tmp_path):
        """
        Some are refused, some have been there before.
        """
        chance, rounds = random.Random(1), []
        for _ in range(4):
            some = chance.sample(range(40), 30)
            rounds.append([(node_like(number, chance), chance.choice([None, None, None, 0, 1])) for number in some])

        came, rows = [], []
        for name in ("at_once.db", "one_by_one.db"):
            store, file = open_store(tmp_path / name), tmp_path / name
            store.make()
            change(file, "UPDATE secret SET value = zeroblob(32)")
            for given in rounds:
                at_once = name == "at_once.db"
                each = store.save_all(given) if at_once else [result_or_error(store.save, *one) for one in given]
                came.append([getattr(one, "number", type(one).__name__) for one in each])
            assert [] == store.check()
            rows.append(rows_of(file))

        assert came[:4] == came[4:]
        assert {"BadValue", "NewerRevision", 1, 2, 3} == {one for each in came for one in each}
        assert rows[0] == rows[1]
        assert len(rows[0]["part_entry"]) > 1_000


def node_like(number, chance):
    """A node that has much in common with others; one in eight cannot be kept."""
    values = [1, 1.0, True, None, "1", "", "a b", "ä" * 300, [], {}, [1, [1.0, {"x": "y"}], {}], -0.0, 0.0, 10**30]
    normal = {f"k{chance.randrange(30)}": chance.choice(values) for _ in range(20)}
    normal |= {"deep": {f"d{chance.randrange(3)}": {"e": chance.choice(values)} for _ in range(2)}}
    if chance.random() < 1 / 8:
        normal["k1"] = {1}
    facts = {f"fact{at}": {f"f{one}": chance.randrange(2) for one in range(90)} for at in range(2)}
    document = {"name": f"n{number}", "normal": normal, "override": {"k2": chance.choice(values)}, "automatic": facts}
    snapshot = {**Node(f"n{number}").snapshot(), "facts": facts, "run": chance.randrange(3)}
    return Saved(f"n{number}", document, snapshot)


def rows_of(file):
    """All rows of all tables, but for the times of revisions."""
    connection = sqlite3.connect(file)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = {name: sorted(map(repr, connection.execute(f"SELECT * FROM {name}"))) for name in tables}
    rows["revision"] = sorted(
        map(repr, connection.execute("SELECT node, number, noted, document, snapshot FROM revision"))
    )
    connection.close()
    return rows


class TestOpening:
    @pytest.mark.parametrize("content", [b"", None])
    def test_none_is_made_where_a_link_leads(self, tmp_path, content):
        """
        A store that is there may be reached by one.
        """
        if content is not None:
            (tmp_path / "victim").write_bytes(content)
        (tmp_path / "nodes.db").symlink_to("victim")
        with pytest.raises(StoreError, match="is a symbolic link to no store"):
            open_store(tmp_path / "nodes.db").save(pair(1))

        assert content == ((tmp_path / "victim").read_bytes() if content is not None else None)
        assert content is not None or not (tmp_path / "victim").exists()
        (tmp_path / "nodes.db").unlink()
        open_store(tmp_path / "there.db").save(pair(1))
        (tmp_path / "nodes.db").symlink_to("there.db")
        assert 2 == open_store(tmp_path / "nodes.db").save(pair(2)).number

    @pytest.mark.parametrize("was", [b"sqlite_autoindex_text_1", b"tablerevision", b"CREATE TABLE text (hash"])
    def test_damage_in_a_name_of_sqlites_own_is_told_as_such(self, place, file, was):
        """
        Where it is not text at all, SQLite cannot even say what it is.
        """
        open_store(place).save(pair(1))
        content = file.read_bytes()
        for at in range(len(was)):
            file.write_bytes(content.replace(was, was[:at] + b"\xf4" + was[at + 1 :]))
            store = open_store(place)
            for task in (partial(store.load, "web1"), store.check, partial(store.history, "web1")):
                with contextlib.suppress(StoreError):
                    task()
            store.close()

    def test_a_value_that_is_no_text_any_more_is_reported(self, place, file):
        open_store(place).save(pair(1))
        change(file, "UPDATE entry SET text = CAST(text AS BLOB), folded = NULL")

        assert "search does not know all words" in "".join(open_store(place).check())

    def test_nothing_is_made_before_the_first_save(self, place, file):
        assert [] == open_store(place).names()
        assert [] == open_store(place).check()
        assert not file.exists()

    def test_a_path_that_ends_in_db_is_one(self, place, file):
        open_store(file).save(pair(1))

        assert 1 == mark_of(open_store(place).load("web1"))

    def test_four_slashes_are_as_good_as_three(self, file):
        """
        Other programs write absolute paths so.
        """
        open_store(f"sqlite:///{file}").save(pair(1))

        assert 1 == mark_of(open_store(file).load("web1"))

    def test_files_of_a_sqlite_store_are_for_their_owner_only(self, place, file):
        was = os.umask(0)
        try:
            store = open_store(place)
            store.save(pair(1))
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()}
        finally:
            os.umask(was)

        assert {"nodes.db": 0o600, "nodes.db-shm": 0o600, "nodes.db-wal": 0o600} == modes

    def test_a_file_that_is_no_sqlite_is_left_alone(self, place, file):
        file.write_text("a diary\n" * 100)
        for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
            with pytest.raises(StoreError, match="file is not a database"):
                task(open_store(place))
        assert "a diary\n" * 100 == file.read_text()

    def test_the_sqlite_file_of_another_program_is_left_alone(self, place, file):
        change(file, "CREATE TABLE diary (day TEXT)")
        content = file.read_bytes()
        for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
            with pytest.raises(StoreError, match="is a SQLite file of another program"):
                task(open_store(place))
        assert content == file.read_bytes()

    @pytest.mark.parametrize(
        "statement", ["PRAGMA user_version = 3", "PRAGMA user_version = -1", "PRAGMA application_id = 7"]
    )
    def test_a_database_that_another_program_has_only_begun_is_refused(self, place, file, statement):
        change(file, statement)
        content = file.read_bytes()
        for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
            with pytest.raises(StoreError, match="file of another program\n  name another place"):
                task(open_store(place))
        assert content == file.read_bytes()

    def test_a_store_that_lost_its_version_is_damaged_and_not_empty(self, place, file):
        open_store(place).save(pair(1))
        change(file, "PRAGMA user_version = 0")
        for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
            with pytest.raises(
                StoreError, match="has lost the number of its version\n  bring a copy of the store back"
            ):
                task(open_store(place))

    def test_one_that_was_only_begun_is_as_good_as_none(self, place, file):
        """
        Whoever made it was killed before the first save. Nothing is there to migrate, and anybody may save.
        """
        change(file, "PRAGMA journal_mode = WAL")
        assert file.stat().st_size
        store = open_store(place)
        assert [] == store.names()

        assert 1 == store.save(pair(1)).number
        assert [] == store.check()

    def test_triggers_put_into_a_sqlite_store_are_not_run(self, place, file):
        """
        Whoever can write to a store can write anything into it; it stays data.
        """
        open_store(place).save(pair(1))
        change(file, "CREATE TRIGGER t AFTER INSERT ON revision BEGIN DELETE FROM node; END")
        for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
            with pytest.raises(StoreError, match="nothing in a store is run"):
                task(open_store(place))
        change(file, "DROP TRIGGER t")

        assert 1 == mark_of(open_store(place).load("web1"))

    def test_a_directory_is_no_sqlite_store(self, tmp_path):
        with pytest.raises(StoreError, match="is a directory"):
            open_store(f"sqlite://{tmp_path}")


class TestTroubles:
    def test_on_a_full_disk_the_old_revision_stays(self, place):
        """
        In a process that may write no more than a little.
        """
        store = open_store(place)
        store.save(pair(1))
        store.close()
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
            try:
                open_store(place).save(pair(2, size=3_000_000))
            except StoreError as error:
                os._exit(0 if "what was saved before is still there" in str(error) else 2)
            except BaseException:
                os._exit(3)
            # The padding is one letter many times: it may have been packed small enough.
            try:
                saved = pair(3)
                saved.document["normal"]["noise"] = os.urandom(400_000).hex()
                open_store(place).save(saved)
            except StoreError as error:
                os._exit(0 if "what was saved before is still there" in str(error) else 4)
            os._exit(1)
        _, status = os.waitpid(child, 0)

        assert 0 == os.waitstatus_to_exitcode(status)
        assert mark_of(open_store(place).load("web1")) in (1, 2)
        assert [] == open_store(place).check()

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
    def test_a_store_that_cannot_be_written_can_be_read(self, place, file):
        store = open_store(place)
        store.save(pair(1))
        store.close()
        file.chmod(0o400)
        file.parent.chmod(0o500)

        assert 1 == mark_of(open_store(place).load("web1"))
        with pytest.raises(StoreError, match="readonly"):
            open_store(place).save(pair(2))

    def test_who_may_only_read_sees_what_others_have_just_saved(self, place, monkeypatch):
        """
        Also what is not in the main file yet, since somebody still has the store open.
        """
        writer, reader = open_store(place), open_store(place)
        writer.save(pair(1))
        with monkeypatch.context() as reading:
            reading.setattr(os, "access", lambda path, mode: mode != os.W_OK)
            before = mark_of(reader.load("web1"))
        writer.save(pair(2))
        writer.close()
        with monkeypatch.context() as reading:
            reading.setattr(os, "access", lambda path, mode: mode != os.W_OK)

            assert (1, 2) == (before, mark_of(reader.load("web1")))

    def test_a_store_can_be_used_on_both_sides_of_a_fork(self, place):
        store = open_store(place)
        store.save(pair(1))
        child = os.fork()
        if child == 0:
            try:
                store.save(pair(2))
            finally:
                os._exit(0 if mark_of(store.load("web1")) == 2 else 1)
        _, status = os.waitpid(child, 0)

        assert 0 == os.waitstatus_to_exitcode(status)
        store.save(pair(3))
        assert [3, 2, 1] == [revision.number for revision in store.history("web1")]
