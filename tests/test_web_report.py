"""A report in one file: what it says, what it may load, and what is not in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs import Node
from nodeattrs.cli import main
from nodeattrs.reports.attributes import attributes
from nodeattrs.store import open_store
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import Saved
from nodeattrs.store.saved_nodes import load_saved_or_raise
from nodeattrs.web.rendering import SourceLinks, bare, layers, tree_rows, value_text

pytest.importorskip("jinja2")
EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
SECRET = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The example, run for its three nodes."""
    place = tmp_path_factory.mktemp("site") / "example"
    shutil.copytree(EXAMPLE, place)
    facts = place / "facts" / "web1.json"
    for line in ("run --all", "run --node web1"):
        assert 0 == main([*line.split(), "--quiet", "--repo", str(place), "--facts", str(place / "facts"),
                          "--store", str(place / "nodes.db")])  # fmt: skip
        facts.write_text(json.dumps(json.loads(facts.read_text()) | {"ohai_time": 1.5}))
    return place


def report(site: Path, *words: str) -> str:
    out = site / "report.html"
    assert 0 == main(["report", *words, "--repo", str(site), "--store", str(site / "nodes.db"), "--output", str(out)])
    return out.read_text("utf-8")


class TestRows:
    def test_each_says_what_a_trace_says(self, site):
        """For every attribute of every node of the example."""
        store = open_store(str(site / "nodes.db"))
        for name in store.names():
            node = load_saved_or_raise(store, name).node
            for row in attributes(node):
                trace = node.trace(row.path)
                assert (trace.winner.rank, trace.winner.origin) == (row.rank, row.origin), row.path
                assert {one.rank for one in trace.losers} == set(row.overrides), row.path

    def test_what_lies_under_a_scalar_of_another_slot_overrides_it(self):
        node = Node("web1")
        node.default["a"] = 1
        node.override["a"]["b"] = None

        (row,) = attributes(node)

        assert (("a", "b"), None, (2,)) == (row.path, row.value, row.overrides)

    def test_a_node_without_attributes_has_no_rows(self):
        assert [] == [row for row in attributes(Node("web1")) if row.path[:1] == ("nosuch",)]

    def test_a_tree_enters_each_map_once(self):
        rows = [{"steps": steps} for steps in (["a", "b", "c"], ["a", "b", "d"], ["a", "e"], ["f"])]
        found = [(row["depth"], row["key"], row["leaf"] is not None) for row in tree_rows(rows)]

        assert [
            (0, "a", False),
            (1, "b", False),
            (2, "c", True),
            (2, "d", True),
            (1, "e", True),
            (0, "f", True),
        ] == found


class TestLayers:
    def test_all_fifteen_are_there_the_strongest_first(self):
        rows = layers({"claims": [{"rank": 12}, {"rank": 4}, {"rank": 4}]})

        assert [15, 14, 12, 11, 8, 6, 4, 3] == [row["first"] for row in rows]
        assert 15 == sum(row["count"] for row in rows)
        assert [12, 4, 4] == [claim["rank"] for row in rows for claim in row["claims"]]

    def test_each_group_has_its_colour(self):
        assert ["automatic", "override", "normal", "default"] == [row["group"] for row in layers({"claims": []})]


class TestTheFile:
    def test_a_report_is_small_and_names_the_line_of_the_puzzle(self, site):
        text = report(site, "web1", "web2", "db1")

        assert len(text) < 500_000
        assert 'data-p="app.workers"' in text
        assert "environments/<wbr>production.yaml:29" in text
        assert "overridden by 12" in text

    def test_its_policy_names_its_own_style_and_script_and_nothing_else(self, site):
        text = report(site, "web1")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for tag in ("style", "script"):
            (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
            assert f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'" in html.unescape(
                policy
            )
        assert [] == re.findall(r"""(?:\son\w+=|\sstyle=|src=|@import|url\()""", text)

    def test_what_changed_since_the_revision_before_is_marked(self, site):
        """The second run of web1 had another clock and nothing else."""
        assert "only changed" in report(site, "web1")
        assert "only changed" not in report(site, "web2")

    def test_a_report_has_no_secret(self, tmp_path, monkeypatch):
        """Neither in what is read, nor in what is overridden or was set before."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "nodeattrs.toml").write_text('sensitive = ["db.password", "list"]\n')
        node = Node("web1")
        for value in (f"{SECRET}1", f"{SECRET}2"):
            node.default["db"]["password"] = value
        node.override["db"]["password"] = f"{SECRET}3"
        node.default["list"] = [f"{SECRET}4", {"a": f"{SECRET}5"}]
        open_store("nodes.db").save(Saved("web1", saved_document(node), node.snapshot()))

        assert 0 == main(["report", "web1", "--store", "nodes.db", "--output", "r.html"])

        text = Path("r.html").read_text("utf-8")
        assert SECRET not in text
        assert "withheld" in text

    def test_names_and_values_are_text_and_no_markup(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        node = Node("web1")
        node.default["<script>alert(1)</script>"] = '"><img src=x onerror=alert(2)>\u202eabc'
        open_store("nodes.db").save(Saved("web1", saved_document(node), node.snapshot()))

        assert 0 == main(["report", "web1", "--store", "nodes.db", "--output", "r.html"])

        text = Path("r.html").read_text("utf-8")
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "\u202e" not in text

    def test_a_report_is_written_whole_or_not_at_all(self, site, tmp_path, capsys):
        """What stood there before a node was not found is still there."""
        out = tmp_path / "r.html"
        out.write_text("before")

        assert 1 == main(["report", "web1", "nosuch", "--store", str(site / "nodes.db"), "--output", str(out)])
        assert "before" == out.read_text()
        assert 1 == main(
            ["report", "web1", "--store", str(site / "nodes.db"), "--output", str(tmp_path / "no" / "r.html")]
        )
        assert ["r.html"] == [one.name for one in tmp_path.iterdir()]
        capsys.readouterr()

    def test_a_report_needs_no_web_server(self, site):
        """The environment of `make run` has jinja2 and no Starlette."""
        program = (
            "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None\n"
            f"from nodeattrs.cli import main; sys.exit(main({['report', 'web1', '--output', 'x.html']}))"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=site, capture_output=True, text=True, check=False,
                              env={"NODEATTRS_STORE": "nodes.db", "PYTHONPATH": str(EXAMPLE.parent)})  # fmt: skip

        assert 0 == done.returncode, done.stderr


class TestPlaces:
    @pytest.mark.parametrize(
        ("pattern", "file", "link"),
        [
            ("https://f/{commit}/{file}#L{line}", "a b/c.py", "https://f/HEAD/a%20b/c.py#L3"),
            ("vscode://file{root}/{file}:{line}", "x.py", "vscode://file/repo/x.py:3"),
            ("file://{root}/{file}", "x.py", "file:///repo/x.py"),
            ("idea://open?file={root}/{file}&line={line}", "x.py", "idea://open?file=/repo/x.py&line=3"),
            ("javascript:alert('{file}')", "x.py", ""),
            ("java\nscript:alert(1)//{file}", "x.py", ""),
            (" https://f/{file}", "x.py", ""),
            ("data:text/html,{file}", "x.py", ""),
            ("//f/{file}", "x.py", ""),
            ("{file}", "javascript:alert(1)", ""),
            ("file://server/share/{file}", "x.py", ""),
            ("vscode://vscode.git/clone?url=ssh://evil.example/{file}", "x.py", ""),
            ("vscode://publisher.extension/{file}", "x.py", ""),
            ("https://f/{file}", 'a"><script>', "https://f/a%22%3E%3Cscript%3E"),
            ("https://f/{file}", "../x.py", ""),
            ("https://f/{file}", "/etc/passwd", ""),
            ("https://f/{file}", None, ""),
            ("", "x.py", ""),
        ],
    )
    def test_a_line_becomes_a_link(self, pattern, file, link):
        assert link == SourceLinks(pattern, "/repo").link(file, 3)


def test_signs_that_move_others_are_written_out():
    assert "a\\u202eb↵" == bare("a\u202eb\n")
    assert '"\\\\n"' == value_text("\\n")
