"""Bad input at the command line: a clear error with file and line, exit code 1 or 2, nothing half-written.

Whatever is wrong, there is no traceback, and what was saved before is still there.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.store import Saved, open_store
from tests.on_disk import repository

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

FILES: dict[str, object] = {
    "cookbooks/app/metadata.json": {"name": "app", "version": "1.0.0"},
    "cookbooks/app/attributes/default.py": 'default["app"]["workers"] = 2\n',
    "cookbooks/app/recipes/default.py": 'node.normal["ran"] = True\n',
    "roles/web.json": {"name": "web", "run_list": ["recipe[app]"]},
    "nodes/web1.json": {"name": "web1", "run_list": ["role[web]"]},
    "facts.json": {"platform": "ubuntu", "fqdn": "web1.example.com"},
}
RUN = ("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json", "--store", "store.db")

Refuse = Callable[..., str]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository and a store with one saved node; we stand beside them."""
    repository(tmp_path / "repo", FILES)
    monkeypatch.chdir(tmp_path)
    assert 0 == main(RUN)
    return tmp_path


@pytest.fixture
def refuse(desk: Path, capsys: pytest.CaptureFixture[str]) -> Refuse:
    """Runs a line that must fail: what stderr says. Nothing else may have happened."""

    def refused(*words: str, code: int = 1) -> str:
        before = _content(desk)
        capsys.readouterr()

        ended = main(words)

        said = capsys.readouterr()
        assert (code, "") == (ended, said.out)
        assert before == _content(desk)
        assert "Traceback" not in said.err
        assert "fault in nodeattrs" not in said.err
        assert str(desk) not in said.err, "a message holds paths as people gave them"
        return said.err

    return refused


def _content(root: Path) -> dict[str, bytes]:
    """Every file but those of the store: there a run that failed may be noted as such."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("store.db")
    }


class TestRepositoryFiles:
    @pytest.mark.parametrize(
        ("file", "text", "said"),
        [
            ("roles/web.json", '{\n "name": "web",\n "run_list": [}\n', "roles/web.json:3:15: "),
            ("roles/web.json", "[1]", "roles/web.json:1:1: "),
            ("roles/web.json", '{"name": "web", "run_list": 5}', "roles/web.json:1:17: "),
            ("roles/web.json", '{"name": "web",\n "default_attributes": []}', "roles/web.json:2:2: "),
            ("roles/web.json", '{"name": "web",\n "normal_attributes": {"a": 1}}', "roles/web.json:2:2: "),
            ("roles/web.json", '{"name": "web",\n "run_list": ["role[nosuch]"]}', "roles/web.json:2 (role web)"),
            ("roles/web.json", '{"name": "web",\n "run_list": ["role[../web]"]}', "../web"),
            ("roles/web.json", '{"name": "web",\n "run_list": ["recipe[nosuch]"]}', "nosuch"),
            ("roles/web.json", '{"name": "web",\n "run_list": ["rolle[web"]}', "roles/web.json:2:"),
            ("nodes/web1.json", '{"name": "web1", "chef_environment": 5}', "nodes/web1.json:1:"),
            ("nodes/web1.json", '{"name": "web1", "chef_environment": "../production"}', "../production"),
            ("nodes/web1.json", '{"name": "web1", "chef_environment": "nosuch"}', "there is no environment"),
            ("environments/_default.json", '{"name": "_default"}', "environments/_default.json:1:1: "),
            ("environments/prod.yaml", "name: prod\n\tbad: 1\n", "environments/prod.yaml:2:1: "),
            ("environments/prod.yaml", BOMB, "environments/prod.yaml:"),
            ("environments/prod.yaml", "a: !!python/object/apply:os.system [ls]\n", "environments/prod.yaml:1:"),
            ("environments/prod.py", 'name("prod")\ndefault_attributes({\n', "environments/prod.py:"),
            ("environments/prod.py", 'name("prod")\nnosuch("x")\n', "environments/prod.py:2: NameError"),
            ("environments/prod.py", 'name("prod")\ndefault_attributes(5)\n', "environments/prod.py:2"),
            ("nodeattrs.toml", 'store = "x"\nallowed = [\n', "nodeattrs.toml:"),
            ("nodeattrs.toml", 'sensitive = "app.key"\n', "nodeattrs.toml:1:"),
            ("nodeattrs.toml", "[allowed]\nautomatic = [5]\n", "nodeattrs.toml:2:"),
            ("cookbooks/app/metadata.json", '{"name": "app",\n "version": "one"}', "cookbooks/app/metadata.json:2:"),
            ("cookbooks/app/metadata.json", '{"depends": {\n "nosuch": ""}}', "cookbooks/app/metadata.json:2 "),
            ("cookbooks/app/metadata.json", '{"depends": {\n "app": "> 7"}}', "cookbooks/app/metadata.json:2:"),
            ("cookbooks/app/attributes/default.py", "default[\n", "cookbooks/app/attributes/default.py:"),
            ("cookbooks/app/attributes/default.py", "x = 1\nset['a'] = 1\n", "cookbooks/app/attributes/default.py:2: "),
            ("cookbooks/app/attributes/default.py", "include_attribute('app::nosuch')\n", "attributes/default.py:1"),
            ("cookbooks/app/recipes/default.py", "\nnode['nosuch']['a']\n", "cookbooks/app/recipes/default.py:2: "),
            (
                "cookbooks/app/recipes/default.py",
                "node.default['a'] = {1, 2}\n",
                "cookbooks/app/recipes/default.py:1: ",
            ),
            ("cookbooks/app/recipes/default.py", "node.default[2.5] = 1\n", "cookbooks/app/recipes/default.py:1: "),
            (
                "cookbooks/app/recipes/default.py",
                "a = []\na.append(a)\nnode.default['a'] = a\n",
                "recipes/default.py:3: ",
            ),
            ("cookbooks/app/recipes/default.py", "def f():\n    f()\nf()\n", "cookbooks/app/recipes/default.py:2: "),
            ("cookbooks/app/recipes/default.py", "import sys\nsys.exit(0)\n", "cookbooks/app/recipes/default.py:2: "),
            ("cookbooks/app/recipes/default.py", "data_bag_item('../roles', 'web')\n", "../roles"),
            ("cookbooks/app/recipes/default.py", "include_recipe('app::nosuch')\n", "recipes/default.py:1"),
            ("cookbooks/app/recipes/default.py", "\xff\xfe not python\n", "cookbooks/app/recipes/default.py:1:"),
        ],
    )
    def test_a_file_that_is_wrong(self, desk: Path, refuse: Refuse, file: str, text: str, said: str):
        """
        The message names the file, and the line where there is one.
        """
        if file.startswith("environments/prod"):
            node = {"name": "web1", "chef_environment": "prod", "run_list": ["role[web]"]}
            (desk / "repo/nodes/web1.json").write_text(json.dumps(node))
        if "_default" in file:
            (desk / "repo/nodes/web1.json").write_text(json.dumps({"name": "web1", "chef_environment": "_default"}))
        (desk / "repo" / file).parent.mkdir(exist_ok=True)
        (desk / "repo" / file).write_text(text, "utf-8")
        gc.collect()  # what is collected inside a recursion without an end cannot be finalised, and pytest reports it

        assert said in refuse(*RUN, "--strict")

    def test_all_that_is_wrong_with_a_file_is_said_at_once(self, desk: Path, refuse: Refuse):
        """
        One error, each fault with its line.
        """
        (desk / "repo/roles/web.json").write_text('{"name": "web",\n "run_list": 5,\n "default_attributes": []}')

        said = refuse(*RUN)

        assert "roles/web.json:2:" in said
        assert "roles/web.json:3:" in said

    def test_cookbooks_that_depend_on_each_other_in_a_ring_still_run(self, desk: Path):
        """
        A run cuts the ring, as Chef does; `Repository.check` reports it.
        """
        repository(
            desk / "repo",
            {
                "cookbooks/app/metadata.json": {"name": "app", "depends": {"lib": ""}},
                "cookbooks/lib/metadata.json": {"name": "lib", "depends": {"app": ""}},
            },
        )

        assert 0 == main(RUN)

    def test_a_file_that_may_not_be_read(self, desk: Path, refuse: Refuse):
        """
        A directory in the place of a file will do; tests may run as root.
        """
        (desk / "repo/roles/web.json").unlink()
        (desk / "repo/roles/web.json").mkdir()

        assert "roles/web.json: is not a regular file" in refuse(*RUN)

    def test_roles_that_include_each_other_in_a_ring_still_run(self, desk: Path):
        """
        Each role counts the first time it is met.
        """
        (desk / "repo/roles/web.json").write_text('{"name": "web", "run_list": ["role[web]", "app"]}')

        assert 0 == main(RUN)


class TestNames:
    @pytest.mark.parametrize("name", ["../web1", "/etc/passwd", "a/b", "", ".", "..", "web1\n", "x" * 300, "a\0b"])
    @pytest.mark.parametrize("command", ["run", "show", "explain"])
    def test_a_node_cannot_be_called_so(self, refuse: Refuse, command: str, name: str):
        """
        Nothing outside of the store is read or written for it.
        """
        words = {
            "run": ("run", "--repo", "repo", "--facts", "repo/facts.json", "--node", name),
            "show": ("show", name),
            "explain": ("explain", name, "a"),
        }

        said = refuse(*words[command], "--store", "store.db")

        assert said.startswith("error: no node can be called ")

    def test_an_environment_and_a_role_cannot_lead_outside(self, desk: Path, refuse: Refuse):
        """
        From the command line as from a file.
        """
        (desk / "secret.json").write_text('{"name": "secret"}')

        assert "no environment can be called '../../secret'" in refuse(*RUN, "-E", "../../secret")
        assert "../../secret" in refuse(*RUN, "--run-list", "role[../../secret]")
        assert "../../secret" in refuse(*RUN, "--run-list", "recipe[../../secret]")

    def test_a_run_list_that_is_none(self, refuse: Refuse):
        """
        Brackets that do not close, roles that are not there, and nothing at all.
        """
        assert "role[web" in refuse(*RUN, "--run-list", "role[web")
        assert "there is no role wbe [NA0406]\n" in refuse(*RUN, "--run-list", "role[wbe]")
        assert "--run-list names no item" in refuse(*RUN, "--run-list", " , ")

    def test_the_facts_of_a_directory_stay_in_it(self, desk: Path, refuse: Refuse):
        """
        A node's name becomes a file name there, too.
        """
        said = refuse("run", "--repo", "repo", "--node", "../repo/facts", "--facts", "repo", "--store", "store.db")

        assert said.startswith("error: no node can be called '../repo/facts'")


class TestFilesOnTheCommandLine:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"platform": \n', "given.json:2:1: "),
            ("[]", "given.json:1:1: facts are a map"),
            ("{}", "these facts name no platform"),
            ('{"platform": "x", "a": ' + '{"a": ' * 600 + "1" + "}" * 601, "given.json:1:"),
            ("\x00", "given.json:1:1: "),
        ],
        ids=["cut off", "a list", "empty", "deep", "null"],
    )
    def test_a_broken_file_of_facts_is_an_error_with_file_and_line(
        self, desk: Path, refuse: Refuse, text: str, said: str
    ):
        """
        File and line.
        """
        (desk / "given.json").write_text(text)

        assert said in refuse("run", "--repo", "repo", "--node", "web1", "--facts", "given.json", "--store", "store.db")

    @pytest.mark.parametrize(
        ("file", "text", "said"),
        [
            ("given.json", '{"a": 1,\n}', "given.json:1:8: "),
            ("given.yaml", BOMB, "given.yaml:"),
            ("given.toml", "a = = 1\n", "given.toml:1:"),
            ("given.json", "[1]", "JSON attributes must be a map"),
            ("given.json", '{"run_list": ["app"], "recipes": ["app"]}', "both run_list and recipes"),
            ("given.txt", "a", "JSON attributes must be a map"),
            ("given", '{"a": 1,\n}', "given:1:8: "),
        ],
    )
    def test_broken_files_of_json_attributes_are_refused(
        self, desk: Path, refuse: Refuse, file: str, text: str, said: str
    ):
        """
        -j takes JSON, YAML and TOML, and none of them broken.
        """
        (desk / file).write_text(text)

        assert said in refuse(*RUN, "-j", file)

    def test_files_that_are_not_there(self, refuse: Refuse):
        """
        Each named as it was given.
        """
        assert "error: nosuch.json: cannot be read: No such file or directory [NA0301]\n" == refuse(
            *RUN, "-j", "nosuch.json"
        )
        assert "nosuch.json: cannot be read" in refuse("facts", "--facts", "nosuch.json")
        assert "there is no repository at nosuch" in refuse("run", "--repo", "nosuch", "--node", "web1")
        assert "there is no saved node web1 in nosuch.db" in refuse("show", "web1", "--store", "nosuch.db")

    @pytest.mark.parametrize("path", ['a."b', "a..b", '"a"b'])
    def test_a_path_that_cannot_be_read(self, refuse: Refuse, path: str):
        """
        The character is named, and how to quote.
        """
        assert f"cannot read the path {path!r} at character" in refuse("explain", "web1", path, "--store", "store.db")


class TestStore:
    @pytest.mark.parametrize(
        ("place", "said"),
        [
            (
                "repo/facts.json",
                "'repo/facts.json' is no store: nodes are kept in a SQLite file whose name ends in .db",
            ),
            ("kept", "`nodeattrs store export --to DIR`, and `nodeattrs store import DIR`"),
            ("kept", "a directory of an older version: docs/stores.md, Other versions"),
            ("gopher://x", "there is no store of the kind gopher://"),
            ("file:///srv/nodes", "'file:///srv/nodes' is no store"),
            ("sqlite://host/x.db", "names no file"),
            ("sqlite:x.db", "names no file"),
            ("", "'' is no store"),
        ],
    )
    def test_a_place_that_is_no_store(self, refuse: Refuse, place: str, said: str):
        """
        Before anything runs.
        """
        assert said in refuse(*RUN[:-1], place)

    def test_a_saved_document_with_wrong_types(self, desk: Path, refuse: Refuse):
        """
        Someone else may have written it.
        """
        open_store("store.db").save(Saved("web1", {"name": "web1", "normal": 5}))

        assert "normal" in refuse("show", "web1", "--store", "store.db")

    def test_a_snapshot_of_a_later_version_is_refused(self, refuse: Refuse):
        """
        It is never half understood, and never overwritten.
        """
        store = open_store("store.db")
        saved = store.load("web1")
        store.save(saved._replace(snapshot={**saved.snapshot, "version": 99}))

        assert "this snapshot has version 99" in refuse("show", "web1", "--store", "store.db")
        assert "it was read from the node 'web1' in store.db" in refuse(*RUN)
