"""Rows of a search: the columns that are asked for, their values, and the page."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NotFound
from nodeattrs.reports.search import ALL, SearchPage, search
from nodeattrs.store import Saved, Store, open_store
from nodeattrs.store.search import parse_query

NODES = {
    "web1": {"run_list": ["role[web]"], "default": {"port": 80, "values": "mine", "node": "a"}},
    "web2": {"chef_environment": "production", "default": {"port": 8080, "name": "set", "chef_environment": "set"}},
    "db1": {"default": {"port": "80"}},
}
EVERY = parse_query("*:*")


@pytest.fixture
def place(tmp_path: Path) -> str:
    place = str(tmp_path / "nodes.db")
    with closing(open_store(place)) as store:
        for name, document in NODES.items():
            store.save(Saved(name, {"name": name, **document}))
    return place


@pytest.fixture
def store(place: str):
    with closing(open_store(place)) as store:
        yield store


@pytest.fixture
def say(place, capsys):
    """Runs `nodeattrs search`: its exit code, and what it wrote."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["search", *words, "--store", place])
        return code, *capsys.readouterr()

    return run


def rows(store: Store, *paths: str, page: SearchPage = ALL) -> list[tuple[str, dict]]:
    found = search(store, EVERY, {path: (path,) for path in paths}, page)
    return [(one.name, one.values) for one in found.page]


class TestRows:
    def test_a_row_has_the_values_of_the_attributes(self, store):
        assert [("db1", {"node": ABSENT}), ("web1", {"node": "a"}), ("web2", {"node": ABSENT})] == rows(store, "node")

    @pytest.mark.parametrize(
        ("field", "values"),
        [
            ("name", ["db1", "web1", "set"]),
            ("chef_environment", ["_default", "_default", "set"]),
            ("run_list", [[], ["role[web]"], []]),
        ],
    )
    def test_an_attribute_comes_before_a_field_of_the_node_with_its_name(self, store, field, values):
        """As `knife search -a` has it; the name of the row stays that of the node."""
        assert list(zip(["db1", "web1", "web2"], values, strict=True)) == [
            (name, found[field]) for name, found in rows(store, field)
        ]

    @pytest.mark.parametrize(
        ("page", "names"),
        [
            (SearchPage(), ["db1", "web1", "web2"]),
            (SearchPage(reverse=True), ["web2", "web1", "db1"]),
            (SearchPage(sort=("port",)), ["web1", "web2", "db1"]),
            (SearchPage(sort=("chef_environment",)), ["db1", "web1", "web2"]),
            (SearchPage(sort=("port",), reverse=True, limit=1), ["db1"]),
            (SearchPage(only=["web2", "nobody"]), ["web2"]),
            (SearchPage(offset=1), ["web1", "web2"]),
            (SearchPage(offset=5), []),
            (SearchPage(limit=0), []),
        ],
    )
    def test_a_page_has_its_part_of_the_nodes_in_its_order(self, store, page, names):
        assert names == [name for name, _ in rows(store, page=page)]

    def test_sorting_by_an_attribute_that_no_node_has_names_those_that_are_near(self, store):
        with pytest.raises(NotFound, match="did you mean port"):
            search(store, EVERY, {}, SearchPage(sort=("prot",)))

    def test_a_field_of_the_query_that_no_node_has_is_a_doubt(self, store):
        found = search(store, parse_query("prot:80"))
        assert (0, ["no node has the field prot"]) == (found.total, [one.message for one in found.doubts])


class TestColumns:
    def test_the_columns_of_a_row_and_attributes_of_their_names_stand_apart(self, say):
        words = ["name:web1", "-a", "name", "-a", "node", "-a", "values"]
        table, lines = say(*words)[1], say(*words, "--json-lines")[1]

        assert ["node", "name", "node", "values"] == table.splitlines()[0].split()
        assert ["web1", '"web1"', '"a"', '"mine"'] == table.splitlines()[1].split()
        assert {"name": "web1", "values": {"name": "web1", "node": "a", "values": "mine"}} == json.loads(lines)

    def test_two_columns_with_one_title_are_refused(self, say):
        code, out, err = say("*:*", "-a", "x=port", "-a", "x=name")
        assert (2, "") == (code, out)
        assert "two columns are called x" in err

    def test_one_path_that_is_named_twice_is_one_column(self, say):
        assert ["node", "port"] == say("*:*", "-a", "port", "-a", "port")[1].splitlines()[0].split()
