"""Questions about a whole tree: the view of a node, in what two differ, what no node reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.hiera.census import differences, unused, view
from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.hiera import Hiera, Sensitive
from tests import hiera_trees
from tests.hiera_trees import Site, written

site = hiera_trees.site


class TestView:
    def test_each_key_with_its_value_or_its_error(self, site: Site):
        """
        Keys with dots and quotes in them are asked for as they are written.
        """
        scope = site(
            {
                "data/nodes/web1.yaml": "k: 1\n",
                "data/common.yaml": 'k: 2\na.b: 3\n"it\'s": 4\n\'say "x"\': 5\nloop: "%{lookup(\'loop\')}"\nnull: ~\n',
            }
        )
        found = view(scope)

        assert "recursive_lookup" == found.pop("loop").kind
        assert {"k": 1, "a.b": 3, "it's": 4, 'say "x"': 5} == {key: value for key, value in found.items() if value}


class TestDifferences:
    @pytest.mark.parametrize(
        ("one", "other", "differ"),
        [
            (1, 1, False),
            (1, True, True),
            (1, 1.0, True),
            ([1], [1], False),
            (ABSENT, ABSENT, False),
            (ABSENT, None, True),
            (NotFound("a"), NotFound("a"), False),
            (NotFound("a"), NotFound("b"), True),
            (NotFound("a"), BadArgument("a"), True),
            (NotFound("a"), "a", True),
            (Sensitive("s"), Sensitive("s"), False),
            (Sensitive("s"), Sensitive("t"), True),
            (Sensitive("s"), "s", True),
        ],
    )
    def test_two_values_by_kind_and_content(self, one, other, differ):
        left, right = ({} if value is ABSENT else {"k": value} for value in (one, other))

        assert differ == ("k" in differences(left, right))

    def test_both_are_given_by_key(self):
        assert [("a", (1, ABSENT)), ("b", (1, 2)), ("d", (ABSENT, None))] == list(
            differences({"b": 1, "a": 1, "c": 0}, {"d": None, "c": 0, "b": 2}).items()
        )


MODULE = {"modules/m/hiera.yaml": "version: 5\n", "modules/m/data/common.yaml": "m::own: 1\nk: 9\n"}


def asked(root: Path, files: dict[str, str], *nodes: str) -> tuple[tuple[str, ...], list[str]]:
    """The files that no node reads, and the keys that are hidden from all, with their places."""
    hiera = Hiera(written(root, files), root=root)
    found = unused(hiera, [hiera.scope(node=node) for node in nodes])
    return found.files, [f"{key} {origin.place}" for key, origin in found.shadowed]


class TestUnused:
    def test_a_file_that_no_node_reads(self, tmp_path: Path):
        """
        Every kind of data file counts; others are no data.
        """
        files = {f"data/old.{kind}": "{}" for kind in ("yaml", "yml", "json", "txt")}

        assert (("data/old.json", "data/old.yaml", "data/old.yml"), []) == asked(
            tmp_path, {"data/common.yaml": "k: 1\n", **files}, "web1"
        )

    def test_a_key_that_is_hidden_from_every_node(self, tmp_path: Path):
        """
        Web2 has no file of its own and reads `c`; where both have one, nobody does.
        """
        files = {"data/nodes/web1.yaml": "b: 1\nc: 1\n", "data/common.yaml": "a: 1\nc: 2\nb: 2\n"}

        assert ((), ["c data/common.yaml:2", "b data/common.yaml:3"]) == asked(tmp_path, files, "web1")
        assert ((), []) == asked(tmp_path, files, "web1", "web2")
        assert ((), ["c data/common.yaml:2"]) == asked(
            tmp_path, {**files, "data/nodes/web2.yaml": "c: 3\n"}, "web1", "web2"
        )

    @pytest.mark.parametrize(
        ("options", "shadowed"),
        [("k: {merge: first}", True), ("k: {merge: unique}", False), ("other: {merge: unique}", True)],
    )
    def test_a_key_that_is_merged_is_not_hidden(self, tmp_path: Path, options: str, shadowed: bool):
        """
        Nor are the options themselves.
        """
        files = {
            "data/nodes/web1.yaml": f"lookup_options: {{{options}}}\nk: [1]\n",
            "data/common.yaml": "lookup_options: {}\nk: [2]\n",
        }

        assert shadowed == (["k data/common.yaml:2"] == asked(tmp_path, files, "web1")[1])

    def test_a_module_reads_only_what_is_its_own(self, tmp_path: Path):
        """
        Of its data the keys below its name; what is not text is no key.
        """
        files = {"data/common.yaml": "m::own: 0\n1: 1\n", **MODULE}

        shadowed = ["m::own modules/m/data/common.yaml:1"]

        assert ((), shadowed) == asked(tmp_path, files, "web1")
        assert shadowed == asked(tmp_path, {**files, "data/nodes/web1.yaml": "1: 2\nk: 1\n"}, "web1")[1]
