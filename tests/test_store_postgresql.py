"""The PostgreSQL store: the common exam on a real server, and what only it can suffer."""

import os
import uuid

import pytest

from nodeattrs.errors import StoreError
from nodeattrs.store import Saved, open_store
from nodeattrs.store.search import parse_query
from tests import postgresql_server
from tests.store_exam import DatabaseExam, StoreExam, TwoAtOnceExam
from tests.store_writers import mark_of, pair


@pytest.fixture(scope="module", autouse=True)
def server():
    if reason := postgresql_server.why_not():
        if os.environ.get(postgresql_server.VARIABLE) == "required":
            pytest.fail(f"PostgreSQL is required here, but {reason}")
        pytest.skip(reason)


class TestExam(StoreExam):
    @pytest.fixture
    def place(self):
        return postgresql_server.emptied()

    def fresh(self, _):
        return postgresql_server.fresh()

    def test_a_store_names_its_place(self, store, place):
        database = place.partition("?")[0].rpartition("/")[2]

        assert store.describe().startswith("postgresql://nodeattrs@")
        assert store.describe().endswith(f"/{database}")


class TestHistory(DatabaseExam):
    VERSION = "UPDATE version SET number = {}"

    @pytest.fixture
    def place(self):
        return postgresql_server.emptied()

    def damage(self, place, statement, *values):
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute("SET search_path = nodeattrs")
            connection.execute(statement.replace("?", "%s"), values)


class TestTwoAtOnce(TwoAtOnceExam):
    @pytest.fixture
    def place(self):
        return postgresql_server.emptied()


class TestOpening:
    def test_a_password_is_never_printed(self):
        """
        Not where the store says where it is, not in the error of a server that is not there, not for a bad URL.
        """
        store = open_store("postgresql://ann:s3cret@127.0.0.1:1/nodes?connect_timeout=2")
        with pytest.raises(StoreError, match=r"cannot list the nodes in postgresql://ann@127.0.0.1:1/nodes") as caught:
            store.names()
        with pytest.raises(StoreError) as refused:
            open_store("postgresql://ann:s3cret@db/nodes?nosuch=s3cret")

        assert "s3cret" not in f"{caught.value} {refused.value} {store!r} {store.describe()}"

    @pytest.mark.parametrize("password", ["s3@cret", "s3/cret", "s3/@cret", "s3:@/cret"])
    def test_nor_a_part_of_one_that_is_spelled_wrong(self, password):
        """
        What stands behind an @ or a / would else be taken for a host or a database.
        """
        with pytest.raises(StoreError, match="write %40 for @") as refused:
            open_store(f"postgresql://ann:{password}@db/nodes")

        assert "s3" not in str(refused.value)
        assert "cret" not in str(refused.value)

    @pytest.mark.parametrize(("table", "rows"), [("version", 0), ("version", 2), ("secret", 0)])
    def test_a_table_that_lost_its_row_is_damage(self, table, rows):
        place = postgresql_server.fresh()
        open_store(place).save(pair(1))
        damage = TestHistory().damage
        damage(place, f"INSERT INTO {table} SELECT * FROM {table}" if rows else f"DELETE FROM {table}")

        with pytest.raises(StoreError, match=f"the store is damaged: its table '{table}' has {rows} rows"):
            open_store(place).save(pair(2))

    def test_who_may_not_use_the_schema_is_told_so(self):
        """
        What is there is not taken for an empty place.
        """
        place, guest = postgresql_server.fresh(), f"guest{uuid.uuid4().hex}"
        open_store(place).save(pair(1))
        damage = TestHistory().damage
        damage(place, f"CREATE ROLE {guest} LOGIN")
        try:
            for task in (lambda store: store.names(), lambda store: store.save(pair(2))):
                with pytest.raises(StoreError, match=r"permission denied for schema nodeattrs\n.*let the owner"):
                    task(open_store(place.replace("//nodeattrs@", f"//{guest}@")))
        finally:
            damage(place, f"DROP ROLE {guest}")

    def test_a_store_that_takes_the_place_of_another_is_used_as_it_is(self):
        """
        Its numbers are made with another secret.
        """
        place = postgresql_server.fresh()
        store = open_store(place)
        store.save(pair(1))
        TestHistory().damage(place, "DROP SCHEMA nodeattrs CASCADE")
        open_store(place).save(pair(2))

        assert 2 == mark_of(store.load("web1"))
        store.save(pair(3))
        assert ["web1"] == store.search(parse_query("mark:3"))
        assert [] == store.check()

    def test_a_nul_in_a_value_is_kept_and_found(self):
        """
        PostgreSQL's own texts hold none.
        """
        store = open_store(postgresql_server.fresh())
        store.save(Saved("web1", {"name": "web1", "normal": {"k\0": "a\0b"}}))

        assert {"k\0": "a\0b"} == store.load("web1").document["normal"]
        assert ["web1"] == store.search(parse_query("*:a"))


class TestAServerThatGoesAway:
    @pytest.fixture
    def own(self):
        with postgresql_server.server() as url:
            yield url

    def test_each_who_comes_is_told_at_once_and_nobody_waits(self, own, capfd):
        """
        Once the server is back, all goes on.
        """
        store = open_store(own)
        store.save(pair(1))
        with postgresql_server.away(own):
            for _ in range(3):
                with pytest.raises(StoreError, match="cannot read the node 'web1' in postgresql://nodeattrs@"):
                    store.load("web1")

        assert 1 == store.load("web1").revision.number
        assert "" == capfd.readouterr().err
