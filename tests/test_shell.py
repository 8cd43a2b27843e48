"""What looks around: the prompt, the lists, and single roles and environments."""

from __future__ import annotations

import io
import json
import sys
import types
from pathlib import Path

import pytest

from nodeattrs.cli import main

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
REPO = ["--repo", str(EXAMPLE)]
WEB1 = ["web1", *REPO, "--facts", str(EXAMPLE / "facts")]


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.usefixtures("there")
class TestShell:
    def test_it_has_the_node_of_a_run_the_writers_and_explain(self, monkeypatch, capsys):
        typed(
            monkeypatch,
            'node["app"]["workers"]',
            'force_override["app"]["workers"] = 99',
            'explain("app.workers")',
            "run.recipes[0]",
        )
        assert main(["shell", *WEB1]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith("30\nweb1 in production: app.workers = 99\n")
        assert "12 override / environment" in printed
        assert printed.endswith("'base::default'\n")

    def test_it_has_a_node_as_it_was_saved_and_saves_nothing(self, monkeypatch, capsys):
        assert main(["run", "--node", "web1", *REPO, "--facts", WEB1[-1], "--store", "s.db", "-q"]) == 0
        typed(monkeypatch, 'node.override["app"]["workers"] = 1', "'run' in globals()")
        capsys.readouterr()
        assert main(["shell", "web1", "--store", "s.db"]) == 0
        assert capsys.readouterr().out == "False\n"
        assert main(["show", "web1", "app.workers", "--store", "s.db", "-F", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["value"] == 30

    def test_an_error_of_ours_is_a_sentence_and_one_of_the_person_a_traceback(self, monkeypatch, capsys):
        typed(monkeypatch, 'explain("a..b")', "1 / 0")
        assert main(["shell", *WEB1]) == 0
        told = capsys.readouterr().err
        assert told.startswith("error: cannot read the path 'a..b'")
        assert told.count("Traceback") == 1

    def test_on_a_terminal_ipython_is_taken_where_it_is_installed(self, monkeypatch):
        opened = []
        fake = types.ModuleType("IPython")
        fake.start_ipython = lambda argv, user_ns: opened.append(user_ns)
        monkeypatch.setitem(sys.modules, "IPython", fake)
        typed(monkeypatch)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        assert main(["shell", *WEB1]) == 0
        assert {"node", "explain", "run", "default"} <= opened[0].keys()

    def test_a_node_that_is_not_there_is_refused(self, capsys):
        assert main(["shell", "wbe1", "--store", "s.db"]) == 1
        assert "wbe1" in capsys.readouterr().err


@pytest.mark.usefixtures("there")
class TestLists:
    @pytest.mark.parametrize(
        ("kind", "names"),
        [
            ("nodes", ["db1", "web1", "web2"]),
            ("roles", ["base", "db", "web"]),
            ("environments", ["production", "staging"]),
            ("cookbooks", ["apache2", "app", "base", "ntp", "postgresql", "shop", "ssh"]),
            ("data-bags", ["apps", "users"]),
        ],
    )
    def test_each_kind_is_listed_by_name(self, capsys, kind: str, names: list[str]):
        assert main(["list", kind, *REPO]) == 0
        assert capsys.readouterr().out.splitlines() == names
        assert main(["list", kind, *REPO, "-F", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["names"] == names

    def test_nodes_are_those_of_the_store_too(self, capsys):
        assert main(["run", "--node", "other", *REPO, "--platform", "debian-12", "--store", "s.db", "--new"]) == 0
        capsys.readouterr()
        assert main(["list", "nodes", *REPO, "--store", "s.db"]) == 0
        assert capsys.readouterr().out.splitlines() == ["db1", "other", "web1", "web2"]

    def test_policies_are_named_by_their_locks(self, there: Path, capsys):
        files = {"Policyfile.lock.json": "base", "policyfiles/web.lock.json": "web", "policies/db-12ab.json": "db"}
        for file, name in files.items():
            (there / file).parent.mkdir(exist_ok=True)
            (there / file).write_text(json.dumps({"name": name, "run_list": []}), encoding="utf-8")
        (there / "policies" / "notes.txt").write_text("x", encoding="utf-8")
        assert main(["list", "policies", "--repo", "."]) == 0
        assert capsys.readouterr().out.splitlines() == ["base", "db", "web"]

    def test_a_kind_that_is_none_is_refused_with_what_is_near(self, capsys):
        assert main(["list", "rolls"]) == 2
        assert "did you mean roles" in capsys.readouterr().err


@pytest.mark.usefixtures("there")
class TestRoles:
    def test_a_role_is_shown_with_the_line_of_each_leaf(self, capsys):
        assert main(["role", "show", "web", "override_attributes", "--origins", *REPO]) == 0
        assert "workers: 8  # roles/web.json:38" in capsys.readouterr().out

    def test_one_in_python_is_read_only_where_that_is_asked(self, capsys):
        assert main(["role", "show", "db", *REPO]) == 1
        assert "--run-code" in capsys.readouterr().err
        assert main(["role", "show", "db", "name", *REPO, "--run-code", "-F", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["value"] == "db"

    def test_an_environment_is_shown_alike(self, capsys):
        assert main(["environment", "show", "production", "override_attributes.app.workers", "--origins", *REPO]) == 0
        assert "environments/production.yaml:29" in capsys.readouterr().out

    def test_one_that_is_not_there_has_near_misses(self, capsys):
        assert main(["role", "show", "wbe", *REPO]) == 1
        assert "web" in capsys.readouterr().err

    def test_a_sensitive_attribute_is_withheld(self, there: Path, capsys):
        (there / "roles").mkdir()
        (there / "nodeattrs.toml").write_text('sensitive = ["db.password"]\n', encoding="utf-8")
        (there / "roles" / "r.json").write_text(
            '{"default_attributes": {"db": {"password": "s3cret"}}}', encoding="utf-8"
        )
        for options in ([], ["-F", "json"], ["--origins"]):
            assert main(["role", "show", "r", *options]) == 0
            assert "s3cret" not in capsys.readouterr().out
