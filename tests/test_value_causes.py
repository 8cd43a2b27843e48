"""Where a value comes from: calls, literals, documents and attributes, one line each."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nodeattrs import Node, Sensitive
from nodeattrs.cli import main
from nodeattrs.core.claim import CALLED, READ, UNAVAILABLE, WRITTEN, Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.dialects.chef.run.session import NodeRequest
from nodeattrs.errors import RecipeFailed
from nodeattrs.node.running import setting_as
from nodeattrs.store import open_store
from nodeattrs.store.saved_nodes import RepositoryVersions
from tests.causality.causes import examined, made
from tests.causality.written import FIRST, SECOND, THIRD
from tests.on_disk import perform, repository

FACTS = Facts({"platform": "x"}, Origin("facts"))
RECIPE, FILE = "cookbooks/app/recipes/default.py", "cookbooks/app/attributes/default.py"
USERS = {"id": "users", "ann": {"uid": 7, "shells": ["/bin/sh"]}, "bob": {"uid": 8}}
FILES: dict[str, Any] = {
    "nodes/n1.json": {"name": "n1", "run_list": ["app"]},
    "data_bags/people/users.json": USERS,
    "cookbooks/app/files/users.json": USERS,
    "cookbooks/app/files/users.yaml": "# one\nann:\n  uid: 7\n",
    "cookbooks/app/files/users.toml": "[ann]\nuid = 7\n",
}


@pytest.fixture
def ran(tmp_path: Path) -> Any:
    """The node after a recipe, or with another file."""
    return lambda text, file=RECIPE, **more: (
        run_node(repository(tmp_path, {**FILES, RECIPE: "", file: text, **more}), "n1", facts=FACTS).node
    )


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)


def ways(node: Node, path: str) -> list[str]:
    """In words, as an explanation has them, without the cookbook's folder."""
    winner = node.trace(path).winner
    assert winner is not None
    return [one.replace("cookbooks/app/", "") for one in winner.claim.cause_lines()]


class TestRepositories:
    @pytest.mark.parametrize("files", [FIRST, SECOND, THIRD, made(901)])
    def test_a_value_changes_with_the_line_that_is_named(self, files):
        """
        Of every value of repositories in three styles, and of random ones.
        """
        found = examined(files)

        assert found.asked > 20
        assert () == found.wrong


class TestCalls:
    def test_the_calls_that_led_to_a_write_are_named_from_the_inside_outwards(self, ran):
        """
        The write stays the line that is named first.
        """
        text = "def inner(n, v):\n    node.default['a'][n] = v\ndef outer(n, v):\n    inner(n, v)\n"
        node = ran(f"{text}outer('x', 1)\nouter('y', 2)\n")

        assert ways(node, "a.x") == [
            "recipes/default.py:2, called from recipes/default.py:4, called from recipes/default.py:5",
            "recipes/default.py:5",
        ]
        assert ways(node, "a.y")[1:] == ["recipes/default.py:6"]

    def test_a_library_is_named_with_the_recipe_that_calls_it(self, ran):
        """
        Another file of the repository, however it was loaded.
        """
        recipe = (
            "import runpy\nfrom pathlib import Path\n"
            "lib = runpy.run_path(str(Path(__file__).parents[1] / 'libraries' / 'vhosts.py'))\n"
            "lib['vhost'](node, 'a', port=80)\n"
        )
        library = "def vhost(node, name, **options):\n    node.default['vhosts'][name] = options\n"
        node = ran(recipe, **{"cookbooks/app/libraries/vhosts.py": library})

        assert ways(node, "vhosts.a.port") == [
            "libraries/vhosts.py:2, called from recipes/default.py:4",
            "recipes/default.py:4",
        ]

    def test_calls_end_at_the_file_that_runs(self, ran):
        """
        Who runs it is a cause of that file, and of none of its values.
        """
        recipe = (
            "import runpy\nfrom pathlib import Path\ndef go():\n"
            "    runpy.run_path(str(Path(__file__).parents[1] / 'libraries' / 'vhosts.py'), {'node': node})\ngo()\n"
        )
        library = "def vhost(name):\n    node.default['vhosts'][name] = 1\nvhost('a')\n"
        node = ran(recipe, **{"cookbooks/app/libraries/vhosts.py": library})

        assert ways(node, "vhosts.a") == ["libraries/vhosts.py:2, called from libraries/vhosts.py:3"]

    @pytest.mark.parametrize("first", [True, False])
    def test_a_line_that_another_node_has_run_has_the_calls_of_this_one(self, first):
        """
        What is known of a line is for all nodes; a function that begins a block itself is called by nobody in it.
        """

        def put(node: Node, begin: bool) -> None:
            with setting_as(node, "recipe", "app") if begin else contextlib.nullcontext():
                node.default["a"] = 1

        def through(node: Node, begin: bool) -> None:
            put(node, begin)

        nodes: dict[bool, Node] = {}
        for begin in (first, not first, first):
            nodes[begin] = Node("n1")
            with setting_as(nodes[begin], "recipe", "app"):
                through(nodes[begin], begin)
        called = {begin: "called from" in " ".join(ways(node, "a")) for begin, node in nodes.items()}

        assert called == {True: False, False: True}

    def test_of_two_things_that_it_may_be_one_that_has_changed_since_is_not_named(self, ran):
        """
        An attribute that has another value by now was not copied; the literal beside it was.
        """
        text = "node.default['a'] = 5\nvalue = 5\nif node['a']:\n    value = node['a']\nnode.default['z'] = value\n"

        assert ways(ran(f"{text}node.default['a'] = 2\n"), "z") == ["recipes/default.py:2"]
        assert ways(ran(text), "z")[0] == "a, set at recipes/default.py:1, read at recipes/default.py:4"

    @pytest.mark.parametrize(("many", "followed"), [(1, 1), (6, 6), (7, 7), (8, 7), (12, 7)])
    def test_copies_of_copies_are_followed_seven_times(self, ran, many, followed):
        """
        The nearest first.
        """
        copies = "".join(f"node.default['a{number + 1}'] = node['a{number}']\n" for number in range(many))
        found = ways(ran(f"node.default['a0'] = 5\n{copies}"), f"a{many}")

        assert [one.partition(",")[0] for one in found] == [f"a{many - 1 - number}" for number in range(followed)]

    def test_what_calls_from_outside_of_the_repository_is_not_named(self, tmp_path):
        """
        Nor is the program that opens the block in which a recipe speaks.
        """
        node = Node("n1", root=tmp_path)

        def write() -> None:
            node.default["a"] = 1

        with setting_as(node, "recipe", "app"):
            write()

        assert node.trace("a").winner.claim.causes == ()

    def test_a_line_that_is_written_at_the_top_of_a_file_has_no_causes(self, ran):
        """
        It is the line to edit itself.
        """
        node = ran("node.default['a'] = {'b': 1, 'c': [2]}\n")

        assert ways(node, "a.b") == ways(node, "a.c.0") == []


class TestLiterals:
    @pytest.mark.parametrize(
        ("text", "path", "lines"),
        [
            ("PORT = 80\nnode.default['a'] = PORT\n", "a", [1]),
            ("B = {'x': 1,\n 'y': 2}\nnode.default['a'] = {**B, 'z': 3}\n", "a.y", [2]),
            ("for k, v in [('x', 1),\n ('y', 2)]:\n    node.default['a'][k] = v\n", "a.y", [2]),
            ("rows = []\nfor n in (1,\n 2):\n    rows.append({'n': n})\nnode.default['a'] = rows\n", "a.1.n", [3]),
            ("def f():\n    return {'x': 1}\nnode.default['a'] = f()\n", "a.x", [2]),
            ("def f(a, /, b, *c):\n    return c\nnode.default['a'] = f(\n 1,\n 2,\n 3)\n", "a.0", [6]),
            ("a = 1\nb = 2\nnode.default['a'] = a + b\n", "a", [1, 2]),
            ("a = 1\nif a:\n    b = 5\nelse:\n    b = 6\nnode.default['a'] = b\n", "a", [3]),
            ("class C:\n    x = 1\nnode.default['a'] = C.x\n", "a", [2]),
            ("node.default['a'] = lazy(lambda: X)\nX = 3\n", "a", [2]),
            ("import time\nnode.default['a'] = time.time()\n", "a", []),
        ],
    )
    def test_the_literal_is_named_where_it_is_written(self, ran, text, path, lines):
        """
        Of a computed value all that went into it; of what nobody wrote nothing.
        """
        assert ways(ran(text), path) == [f"recipes/default.py:{line}" for line in lines]

    def test_a_name_that_is_made_of_itself_ends(self, ran):
        """
        Each round is one step further down, and nobody knows how many there were.
        """
        text = "here = {'x': {'y': 5}}\nfor step in 'x.y'.split('.'):\n    here = here.get(step, {})\n"

        assert ways(ran(f"{text}node.default['a'] = here or 6\n"), "a") == ["recipes/default.py:1"]

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(1, 2)\n", "p.y"),
            ("from typing import NamedTuple\nclass P(NamedTuple):\n    y: int\np = P(2)\n", "list(p)[0]"),
            ("class P:\n    def __init__(self, **k):\n        self.k = k\n\np = P(y=2)\n", "p.k['y']"),
            ("def p():\n\n    return 2\n", "lazy(p)"),
        ],
    )
    def test_an_object_is_followed_to_what_it_was_made_of(self, ran, text, line):
        """
        Its fields by name or by place.
        """
        node = ran(f"{text}node.default['a'] = {line}\n")

        assert [one for one in ways(node, "a") if text.splitlines()[int(one.rpartition(":")[2]) - 1].count("2")]

    def test_a_role_in_python_is_followed_too(self, ran):
        """
        It has run by itself.
        """
        role = "X = 1\nname('r')\nrun_list('app')\ndefault_attributes({'a': X})\n"
        node = ran("", **{"roles/r.py": role, "nodes/n1.json": {"name": "n1", "run_list": ["role[r]"]}})

        assert ways(node, "a") == ["roles/r.py:1"]

    def test_a_file_that_ran_again_with_another_text_is_explained_by_the_text_of_then(self, ran):
        """
        Lines of calls and of literals are those that ran.
        """
        text = "def put(v):\n    node.default['a'] = v\nput(1)\n"
        before = ran(text)
        after = ran(f"# moved\n{text}")

        assert ways(before, "a") == ["recipes/default.py:2, called from recipes/default.py:3", "recipes/default.py:3"]
        assert ways(after, "a")[1:] == ["recipes/default.py:4"]


class TestDocuments:
    @pytest.mark.parametrize(
        ("read", "place"),
        [
            ("data_bag_item('people', 'users')", "data_bags/people/users.json:4"),
            ("read_json('files/users.json')", "files/users.json:4"),
            ("read_yaml('files/users.yaml')", "files/users.yaml:3"),
            ("read_toml('files/users.toml')", "files/users.toml:2"),
            (
                "json.loads(Path(__file__).parent.parent.joinpath('files', 'users.json').read_text())",
                "files/users.json:4",
            ),
        ],
    )
    def test_the_line_of_the_document_is_named_through_copies(self, ran, read, place):
        """
        And where it was read.
        """
        text = f"import json\nfrom pathlib import Path\ndata = {read}\nann = data['ann']\nnode.default['a'] = ann\n"
        node = ran(text)
        (cause,) = node.trace("a.uid").winner.claim.causes

        assert ways(node, "a.uid") == [f"{place}, read at recipes/default.py:3"]
        assert (cause.what, cause.at.place) == (READ, f"{RECIPE}:3")

    def test_of_several_documents_the_one_with_the_value_is_named(self, ran):
        """
        One line of a function reads them all.
        """
        text = "def load(n):\n    return read_json(f'files/{n}.json')\n"
        text += "for n in 'ab':\n    node.default[n] = load(n)['v']\n"
        node = ran(text, **{"cookbooks/app/files/a.json": {"v": 1}, "cookbooks/app/files/b.json": {"v": 2}})

        assert ways(node, "a") == ["files/a.json:2, read at recipes/default.py:2"]
        assert ways(node, "b") == ["files/b.json:2, read at recipes/default.py:2"]

    def test_attribute_files_read_documents_too(self, ran):
        """
        The name counts from their cookbook.
        """
        assert ways(ran("default['a'] = read_json('files/users.json')\n", FILE), "a.bob.uid") == [
            "files/users.json:10, read at attributes/default.py:1"
        ]

    @pytest.mark.parametrize("name", ["../../../outside.json", "/etc/passwd.json", "files/link.json", "a\\0.json"])
    def test_a_name_never_leads_out_of_the_repository(self, ran, tmp_path, name):
        """
        Neither by its steps nor by a link.
        """
        (tmp_path.parent / "outside.json").write_text("{}")
        (tmp_path / "cookbooks/app/files").mkdir(parents=True)
        (tmp_path / "cookbooks/app/files/link.json").symlink_to(tmp_path.parent / "outside.json")

        with pytest.raises(RecipeFailed, match="leads out of the repository"):
            ran(f"read_json('{name}')\n")

    def test_a_reader_reads_its_own_sort_of_file(self, ran):
        """
        The error has the word to write.
        """
        with pytest.raises(RecipeFailed, match="read_yaml does not read") as caught:
            ran("read_yaml('files/users.json')\n")

        assert "read_json('files/users.json')" in str(caught.value)

    def test_what_was_read_belongs_to_the_recipe(self, ran):
        """
        Whoever reads it again gets what the file says.
        """
        node = ran("read_json('files/users.json').clear()\nnode.default['a'] = len(read_json('files/users.json'))\n")

        assert node["a"] == 3


class TestAttributes:
    def test_a_copy_names_the_line_that_set_the_original(self, ran):
        """
        Also where another function read it.
        """
        text = "def base():\n    return node['a']['x']\nnode.default['b'] = base()\n"
        text += "node.default['c'] = f\"{node['b']}!\"\n"
        node = ran(text, **{FILE: "X = 4\ndefault['a'] = {\n  'x': X}\n"})

        assert ways(node, "b") == [
            "a.x, set at attributes/default.py:3, read at recipes/default.py:2",
            "attributes/default.py:1",
        ]
        assert ways(node, "c")[0] == "b, set at recipes/default.py:3, read at recipes/default.py:4"

    def test_a_cause_shows_an_attribute_as_it_was_read(self, ran):
        """
        Also where what was read has read this since.
        """
        node = ran("node.default['a'] = 1\nnode.default['b'] = node['a']\nnode.default['a'] = node['b']\n")

        assert ways(node, "b") == ["a, set at recipes/default.py:1, read at recipes/default.py:2"]

    def test_in_a_loop_it_is_as_it_was_the_last_time(self, ran):
        """
        The line that reads runs again after the other one.
        """
        text = (
            "node.default['a'] = 1\nfor key in 'bc':\n    node.default[key] = node['a']\n    node.default['a'] = key\n"
        )

        assert ways(ran(text), "c")[0] == "a, set at recipes/default.py:4, read at recipes/default.py:3"


class TestAnswers:
    TEXT = "X = 8\nnode.default['a'] = X\n"

    def test_json_has_them(self, ran):
        """
        Claim by claim, with file and line.
        """
        (cause,) = ran(self.TEXT).trace("a").to_dict()["claims"][0]["causes"]

        assert {"what": WRITTEN, "file": RECIPE, "line": 1, "column": 5, "path": None, "read_at": None} == {
            key: cause[key] for key in ("what", "file", "line", "column", "path", "read_at")
        }

    def test_the_command_prints_them(self, ran, tmp_path, capsys, monkeypatch):
        """
        Below the claims and rules.
        """
        ran("def put(v):\n    node.default['a'] = v\nput(1)\n")
        (tmp_path / "facts.json").write_text('{"platform": "x"}')

        monkeypatch.delenv("COLUMNS", raising=False)
        assert 0 == main(["explain", "n1", "a", "--repo", str(tmp_path), "--facts", str(tmp_path / "facts.json")])
        text = capsys.readouterr().out
        lines = f"cookbooks/app/recipes/default.py:2, {CALLED} cookbooks/app/recipes/default.py:3"
        assert f"where the value comes from\n    {lines}\n" in text

    def test_the_node_of_a_snapshot_says_the_same(self, ran, tmp_path):
        """
        Through JSON, and through a snapshot of it.
        """
        versions = RepositoryVersions(tmp_path)
        text = "data = read_json('files/users.json')\nnode.normal['a'] = data\n"
        node = ran(f"{text}for k in 'xy':\n    node.default[k] = data['bob']\n")
        back = Node.restore(json.loads(json.dumps(node.snapshot())), versions=versions)
        again = Node.restore(json.loads(json.dumps(back.snapshot())), versions=versions)

        for path in ("a.ann.uid", "a.ann.shells.0", "x.uid", "y.uid"):
            assert ways(node, path) == ways(back, path) == ways(again, path) != []

    def test_each_node_has_the_document_that_it_has_read(self, tmp_path):
        """
        Although what the sources say of the same line is remembered for all of them, in turns too.
        """
        files = {
            **{
                f"cookbooks/app/files/{name}.json": "{" + "\n" * lines + '"a": 1}'
                for name, lines in (("n1", 1), ("n2", 4))
            },
            **{f"nodes/{name}.json": {"name": name, "run_list": ["app"]} for name in ("n1", "n2")},
            RECIPE: "data = read_json(f'files/{node.name}.json')\nnode.default['a'] = data['a']\n",
        }
        known = repository(tmp_path, files)

        kept = [
            ways(
                Node.restore(run_node(known, name, facts=FACTS).node.snapshot(), versions=RepositoryVersions(tmp_path)),
                "a",
            )
            for name in ("n1", "n2", "n1", "n2")
        ]

        assert kept == 2 * [[f"files/{one}, read at recipes/default.py:1"] for one in ("n1.json:2", "n2.json:5")]

    def test_a_saved_value_says_where_it_came_from_then(self, ran, tmp_path):
        """
        Although no recipe of the next run wrote it.
        """
        node = ran("X = 8\nnode.normal['a'] = X\n")
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        saved = Node.restore(node.snapshot(), versions=RepositoryVersions(tmp_path))
        after = run_node(repository(tmp_path, {RECIPE: ""}), "n1", facts=FACTS, saved=saved).node

        assert ways(after, "a") == ["recipes/default.py:1"]

    @pytest.mark.parametrize("known", [True, False])
    def test_of_a_source_that_has_changed_the_version_that_ran_counts(self, ran, tmp_path, known):
        """
        Git has it where it was added. Elsewhere the answer says that it is not available.
        """
        node = ran("X = 8\nnode.default['a'] = X\n")
        snapshot = node.snapshot()
        if known:
            git(tmp_path, "init", "-q")
            git(tmp_path, "add", "-A")
        (tmp_path / RECIPE).write_text("# another\n# one\nY = 8\nnode.default['a'] = Y\n")

        back = Node.restore(snapshot, versions=RepositoryVersions(tmp_path))

        gone = f"recipes/default.py:2: {UNAVAILABLE}"
        assert ways(back, "a") == (["recipes/default.py:1"] if known else [gone])

    @pytest.mark.parametrize("known", [True, False])
    def test_of_a_module_that_was_imported_the_version_that_ran_counts_too(self, ran, tmp_path, monkeypatch, known):
        """
        A line of another version is never named, and that the version is missing is said.
        """
        name = f"limits_{known}".lower()
        file = f"cookbooks/app/libraries/{name}.py"
        monkeypatch.syspath_prepend(tmp_path / "cookbooks/app/libraries")
        monkeypatch.delitem(sys.modules, name, raising=False)
        node = ran(f"from {name} import MOST\nnode.default['a'] = MOST\n", **{file: "MOST = 8\n"})
        snapshot = node.snapshot()
        assert ways(node, "a") == [f"libraries/{name}.py:1"]
        if known:
            git(tmp_path, "init", "-q")
            git(tmp_path, "add", "-A")
        (tmp_path / file).write_text("# another one\nOTHER = 7\nMOST = 8\n")

        back = Node.restore(snapshot, versions=RepositoryVersions(tmp_path))

        gone = f"libraries/{name}.py: {UNAVAILABLE}"
        assert ways(back, "a") == ([f"libraries/{name}.py:1"] if known else [gone])

    def test_a_snapshot_may_keep_them(self, ran):
        """
        Then no source is looked at.
        """
        node = ran("X = 8\nnode.default['a'] = X\nnode.default['b'] = {'c': [X]}\n")
        back = Node.restore(json.loads(json.dumps(node.snapshot(causes=True))))

        for path in ("a", "b", "b.c", "b.c.0"):
            assert ways(node, path) == ways(back, path)

    @pytest.mark.parametrize(("settings", "has_causes"), [("[store]\ncauses = true\n", True), ("", False)])
    def test_a_run_saves_them_in_the_snapshot_only_with_the_setting(self, tmp_path, settings, has_causes):
        text = "X = 8\nnode.default['a'] = X\n"
        repo = repository(tmp_path / "repo", {**FILES, RECIPE: text, "nodeattrs.toml": settings})
        store = open_store(str(tmp_path / "nodes.db"))
        perform(repo, store, "n1", NodeRequest(FACTS))
        snapshot = store.load("n1").snapshot

        assert has_causes == any("causes" in mark for mark in snapshot["marks"])
        assert (["recipes/default.py:1"] if has_causes else []) == ways(Node.restore(snapshot), "a")

    def test_a_value_that_is_computed_late_reads_what_is_set_later(self, ran, tmp_path):
        """
        Also where it was saved: its recipe has ended, so what stood there at the end counts.
        """
        text = "node.default['a'] = 1\nnode.default['b'] = lazy(lambda: node['a'])\n"
        node = ran(f"{text}node.override['a'] = 2\n")
        back = Node.restore(node.snapshot(), versions=RepositoryVersions(tmp_path))

        assert ways(node, "b") == ways(back, "b") == ["a, set at recipes/default.py:3, read at recipes/default.py:2"]

    def test_a_secret_is_never_shown(self, ran):
        """
        Its line is.
        """
        node = ran("S = 'hunter2'\nnode.default['a'] = Sensitive(S)\n")

        assert isinstance(node["a"], Sensitive)
        assert ways(node, "a") == ["recipes/default.py:1"]
        assert "hunter2" not in json.dumps([node.snapshot(), node.trace("a").to_dict()])


class TestGit:
    """`explain --git` names who changed the lines last."""

    @pytest.fixture
    def asked(self, tmp_path, capsys) -> Any:
        def ask(*words: str, code: int = 0) -> str:
            (tmp_path / "facts.json").write_text('{"platform": "x"}')
            assert code == main(
                [
                    "explain",
                    "n1",
                    "a",
                    "--repo",
                    str(tmp_path),
                    "--facts",
                    str(tmp_path / "facts.json"),
                    "--git",
                    *words,
                ]
            )
            out, err = capsys.readouterr()
            return out + err

        return ask

    @pytest.fixture
    def git(self, tmp_path) -> Any:
        def run(*words: str) -> None:
            names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")]
            given = dict(zip(names, ["Ada", "a@example.org", "2024-05-02T10:00:00Z"] * 2, strict=True))
            subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, env={**os.environ, **given})

        return run

    def test_winner_and_overridden_have_their_commit(self, ran, git, asked):
        """
        With author and date; the line that the value comes from, too.
        """
        ran("X = 1\nnode.override['a'] = X\n", **{FILE: "default['a'] = 2\n"})
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "All of it")
        data = json.loads(asked("--format", "json"))["git"]

        assert [f"{RECIPE}:2", f"{RECIPE}:1", f"{FILE}:1"] == [f"{one['file']}:{one['line']}" for one in data]
        assert {("Ada", "2024-05-02", "All of it")} == {(one["author"], one["date"], one["summary"]) for one in data}
        assert "Ada, 2024-05-02" in asked()

    def test_option_git_of_explain_marks_lines_that_are_not_committed(self, ran, git, asked):
        """
        A changed line, and a file that git does not know.
        """
        text = "# one\nnode.default['a'] = 1\n"
        ran(text)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "x")
        ran(text.replace("1", "2"), **{FILE: "default['a'] = 0\n"})

        lines = asked().splitlines()
        assert [f"    {RECIPE}:2     changed and not committed", f"    {FILE}:1  not committed"] == lines[-2:]

    def test_without_git_there_is_a_clear_message(self, ran, asked, monkeypatch):
        """
        No repository, or no program.
        """
        ran("node.default['a'] = 1\n")
        assert "git knows no repository at" in asked(code=1)
        monkeypatch.setenv("PATH", "")
        assert "git is not installed here" in asked(code=1)

    def test_option_git_of_explain_needs_a_repository(self, capsys):
        """
        Exit code 2.
        """
        assert 2 == main(["explain", "n1", "a", "--git"])
        assert "--git names who changed the lines of a run, so it needs --repo" in capsys.readouterr().err


class TestNotSet:
    """`explain` of a path that nobody sets here names who sets it elsewhere, and what this node lacks."""

    FILES: ClassVar[dict[str, Any]] = {
        "roles/web.json": {"name": "web", "run_list": ["app"], "default_attributes": {"site": {"role": 1}}},
        "environments/prod.yaml": "name: prod\ndefault_attributes: {site: {env: 1}}\n",
        "nodes/n1.json": {"name": "n1", "run_list": ["app"]},
        "nodes/n2.json": {"name": "n2", "chef_environment": "prod", "run_list": ["role[web]", "other::more"]},
        RECIPE: "if node['fqdn'] == 'n2':\n    node.default['site']['only'] = 1\n",
        "cookbooks/other/recipes/more.py": "node.default['site'].update({'recipe': 1})\n",
        "cookbooks/other/attributes/default.py": "default['site']['file'] = 1\n",
    }
    CASES: ClassVar[list[tuple[str, str, str]]] = [
        ("role", "roles/web.json:", "role web is not on its run-list"),
        ("env", "environments/prod.yaml:2", "it is in environment _default"),
        ("recipe", "cookbooks/other/recipes/more.py:1", "recipe other::more does not run here"),
        ("file", "cookbooks/other/attributes/default.py:1", "no recipe of cookbook other runs here"),
    ]

    @pytest.fixture
    def asked(self, tmp_path, monkeypatch, capsys) -> Any:
        repository(tmp_path, self.FILES)
        monkeypatch.chdir(tmp_path)
        for name in ("n1", "n2"):
            (tmp_path / f"{name}.json").write_text(json.dumps({"platform": "x", "fqdn": name}))

        def ask(path: str, *words: str) -> Any:
            assert 1 == main(["explain", "n1", path, *words])
            return capsys.readouterr()

        return ask

    def saved(self, capsys) -> None:
        for name in ("n1", "n2"):
            assert 0 == main(["run", "--repo", ".", "--node", name, "--facts", f"{name}.json"])
        capsys.readouterr()

    @pytest.mark.parametrize(("key", "place", "lacks"), CASES)
    def test_a_path_that_is_not_set_names_setters_in_the_repository(self, asked, key, place, lacks):
        """
        As far as its texts say it.
        """
        said = asked(f"site.{key}", "--repo", ".", "--facts", "n1.json").err

        assert f"error: site.{key} is not set [NA0102]\n" in said
        assert f"sets it ({place}" in said
        assert said.rstrip().endswith(lacks) or f"{lacks}\n" in said

    @pytest.mark.parametrize(("key", "place", "lacks"), CASES)
    def test_a_path_that_is_not_set_names_saved_nodes_that_have_it(self, asked, capsys, key, place, lacks):
        """
        With their names.
        """
        self.saved(capsys)
        said = asked(f"site.{key}").err

        assert f"sets it on n2 ({place}" in said
        assert f"{lacks}\n" in said

    def test_a_condition_is_named_with_its_line(self, asked):
        """
        Where the recipe runs here, too.
        """
        said = asked("site.only", "--repo", ".", "--facts", "n1.json").err

        assert (
            f"recipe app::default sets it ({RECIPE}:2): it runs here, too, and the line at {RECIPE}:1 decides" in said
        )

    def test_json_has_it(self, asked):
        """
        The exit code stays that of an error.
        """
        out = asked("site.role", "--repo", ".", "--facts", "n1.json", "--format", "json").out
        (one,) = json.loads(out)["elsewhere"]

        assert ("role", "web", "role web is not on its run-list") == (one["kind"], one["name"], one["lacks"])

    def test_a_path_that_no_source_sets_names_no_setter(self, asked):
        """
        As before.
        """
        assert "sets it" not in asked("sitee", "--repo", ".", "--facts", "n1.json").err


def test_a_snapshot_names_no_library_of_an_environment_that_lies_in_the_repository(tmp_path, monkeypatch):
    """
    A program that sets attributes imports its own module and an installed one: the first one is a source.
    """
    program = "import installed_for_test\nimport own_for_test\n\ndef set_all(node):\n    node.default['a'] = 1\n"
    files = {
        "program_for_test.py": program,
        "own_for_test.py": "",
        ".venv/lib/python3/site-packages/installed_for_test.py": "import own_for_test\n",
    }
    repository(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / ".venv/lib/python3/site-packages"):
        monkeypatch.syspath_prepend(folder)
    node = Node("web1")
    with setting_as(node, "recipe", "x"):
        importlib.import_module("program_for_test").set_all(node)

    assert ["program_for_test.py", "own_for_test.py"] == [file for file, _ in node.snapshot()["sources"]]
