"""What a repository may set before the caller trusts it, and how the caller does."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.project.config import FREE, INSIDE, RIGHTS, SETTINGS, TIGHTER, ChefConfig
from nodeattrs.trust import is_trusted, trust
from tests.on_disk import repository

ROOT = Path(__file__).parents[1]
Say = Callable[..., tuple[int, str]]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one node, which is the current folder; the caller trusts nothing."""
    folder = tmp_path / "repo"
    repository(folder, {"nodes/n.json": {"name": "n"}, "roles/web.json": {"name": "web"}})
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "NODEATTRS_TRUST", "NODEATTRS_REPO", "NODEATTRS_STORE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def run(*words: str) -> tuple[int, str]:
        code = main(list(words))
        return code, "".join(capsys.readouterr())

    return run


class TestTheTable:
    def test_each_setting_has_a_row(self) -> None:
        named = {path[0] for path in RIGHTS}
        assert named == set(SETTINGS) - {"repo"}
        assert {path[1] for path in RIGHTS if path[0] == "chef"} == set(ChefConfig.__match_args__)

    def test_security_md_has_the_same_table(self) -> None:
        text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        for path, right in RIGHTS.items():
            name = ".".join(path).replace("*", "NAME")
            row = next((line for line in text.splitlines() if line.startswith(f"| `{name}` ")), "")
            assert right in row, f"{name}: {right}"
        assert {FREE, INSIDE, TIGHTER} == set(RIGHTS.values())

    def test_each_test_that_security_md_names_is_there(self) -> None:
        text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        named = re.findall(r"`(tests/\w+\.py)`", text)
        assert len(named) > 10
        assert [] == [name for name in named if not (ROOT / name).exists()]


class TestAStrangersSettings:
    @pytest.mark.parametrize(
        "setting",
        [
            'hiera = "OUTER"',
            'hiera = "~/tree"',
            'bindings = "../outer"',
            '[bindings]\nsite = "OUTER"',
            '[schema]\nattributes = "OUTER/a.json"',
            '[check]\nbaseline = "/proc/self/environ"',
            '[facts]\nfauxhai = "../outer"',
            '[chef]\ncookbook_paths = ["cookbooks", "~/.berkshelf/cookbooks"]',
            '[chef]\nsecret_file = "/etc/chef/secret"',
            '[chef]\nconfig = "~/.chef/config.rb"',
            '[fold.a]\nfiles = ["a.yaml", "../outer/a.yaml"]',
            '[cloud-init.a]\nfiles = "OUTER/ud"',
            '[cloud-init.a]\nvendor = ["OUTER/ud"]',
            '[ansible.a]\ninventory = "/etc/ansible/hosts"',
        ],
    )
    def test_a_path_that_leads_out_is_an_error_with_the_line_to_type(self, repo: Path, say: Say, setting: str) -> None:
        (repo / "nodeattrs.toml").write_text(setting.replace("OUTER", str(repo.parent / "outer")) + "\n")

        code, text = say("list", "roles")

        assert code == 1
        assert "leads out of the repository" in text
        assert f"nodeattrs trust {repo}" in text
        assert "nodeattrs.toml:" in text

    def test_settings_beside_a_tree_elsewhere_name_their_own_repository(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text('bindings = "site"\n[fold.a]\nfiles = ["a.yaml"]\n')
        other = repo.parent / "other"
        repository(other, {"hiera.yaml": "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n", "data/c.yaml": "k: 1\n"})

        assert say("hiera", "lookup", "k", "--hiera", str(other)) == (0, "1\n")

    def test_a_link_of_the_repository_that_leads_out_is_no_way_around(self, repo: Path, say: Say) -> None:
        (repo.parent / "outer").mkdir()
        (repo / "inner").symlink_to(repo.parent / "outer")
        (repo / "nodeattrs.toml").write_text('hiera = "inner"\n')

        assert "hiera leads out of the repository: inner" in say("list", "roles")[1]

    @pytest.mark.parametrize("place", ["postgresql://v@127.0.0.1:1/x", "/outer/nodes.db", "../nodes.db", "~/nodes.db"])
    def test_a_store_elsewhere_is_refused_and_an_option_of_the_caller_counts(
        self, repo: Path, say: Say, place: str
    ) -> None:
        (repo / "nodeattrs.toml").write_text(f'store = "{place}"\n')

        code, text = say("show", "n")
        assert code == 1
        assert "nodeattrs.toml:1" in text
        assert "a repository may name a store inside itself only" in text
        assert f"nodeattrs trust {repo}" in text
        assert "no saved node n in mine.db" in say("show", "n", "--store", "mine.db")[1]
        assert say("list", "roles") == (0, "web\n")

    @pytest.mark.parametrize(
        "words", [["show", "n"], ["complete", "show", ""], ["search", "*:*"], ["status"], ["config"]]
    )
    def test_no_server_that_a_repository_names_is_asked(self, repo: Path, say: Say, words: list[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            port = server.getsockname()[1]
            (repo / "nodeattrs.toml").write_text(f'store = "postgresql://v@127.0.0.1:{port}/x?connect_timeout=2"\n')

            say(*words)

            with pytest.raises(BlockingIOError):
                server.accept()

    def test_a_store_inside_is_free(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text('store = "kept/nodes.db"\n')

        assert "no saved node n in ./kept/nodes.db" in say("show", "n")[1]

    def test_a_password_in_the_url_of_a_store_is_not_printed(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text('store = "postgresql://v:s3cret@127.0.0.1:1/x"\n')

        assert "s3cret" not in say("show", "n")[1]

    def test_limits_get_tighter_and_not_wider(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text("[limits]\nsteps = 99\nbytes = 100000000000000\n")

        code, text = say("list", "roles")

        assert code == 0
        assert "limits.bytes is above the default, 10,000,000, which counts instead" in text
        assert "limits.steps" not in text

    def test_a_ruby_file_may_not_take_longer_than_the_default(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text("[chef]\nruby_seconds = 61\n")

        assert "ruby_seconds is a number up to 60" in say("list", "roles")[1]

    def test_a_store_that_git_tracks_is_not_read(self, repo: Path, say: Say) -> None:
        (repo / ".nodeattrs").mkdir()
        (repo / ".nodeattrs" / "nodes.db").write_bytes(b"")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)
        assert "is tracked by Git" not in say("show", "n")[1]
        subprocess.run([*git, "add", "-f", "."], check=True)

        code, text = say("show", "n")

        assert code == 1
        assert ".nodeattrs/nodes.db: is tracked by Git, so it came with the repository and is not read" in text
        assert "is tracked" not in say("show", "n", "--store", ".nodeattrs/nodes.db")[1]

    def test_a_link_of_the_repository_moves_the_usual_store_nowhere(self, repo: Path, say: Say) -> None:
        outer = repo.parent / "outer"
        outer.mkdir()
        (repo / ".nodeattrs").symlink_to(outer)

        code, text = say("run", "--node", "n", "--new", "--platform", "debian-12")

        assert code == 1
        assert ".nodeattrs/nodes.db: a link leads out of the repository, so no store is used there" in text
        assert [*outer.iterdir()] == []
        assert say("run", "--node", "n", "--new", "--platform", "debian-12", "--store", str(outer / "n.db"))[0] == 0

    def test_git_ignores_a_new_store(self, repo: Path, say: Say) -> None:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)

        for _ in range(2):
            assert say("run", "--node", "n", "--new", "--platform", "debian-12")[0] == 0
            subprocess.run([*git, "add", "."], check=True)

        assert (repo / ".nodeattrs" / "nodes.db").exists()


def test_a_change_that_takes_a_path_out_of_sensitive_shows_no_secret(repo: Path, say: Say) -> None:
    old = repo.parent / "old"
    hiera = "version: 5\nhierarchy:\n- {name: c, path: common.yaml}\n"
    repository(
        old, {"hiera.yaml": hiera, "nodeattrs.toml": 'sensitive = ["pw"]\n', "data/common.yaml": "pw: one\nk: 1\n"}
    )
    repository(repo, {"hiera.yaml": hiera, "nodeattrs.toml": "", "data/common.yaml": "pw: twelve\nk: 2\n"})

    _, text = say("impact", str(old), str(repo), "--no-run-code")

    assert "1 -> 2" in text
    assert "(a secret) -> (a secret)" in text
    assert "twelve" not in text


class TestTrust:
    def test_a_repository_is_trusted_until_it_is_removed(self, repo: Path, say: Say) -> None:
        (repo / "nodeattrs.toml").write_text('hiera = "../outer"\n[limits]\nbytes = 20000000\n')

        assert say("list", "roles")[0] == 1
        assert say("trust", ".") == (0, f"trusted: {repo}\n")
        assert say("trust", "--list") == (0, f"{repo}\n")
        assert say("list", "roles") == (0, "web\n")
        assert say("trust", "--remove", ".") == (0, f"no longer trusted: {repo}\n")
        assert say("list", "roles")[0] == 1

    def test_the_variable_names_repositories_as_path_does(
        self, repo: Path, say: Say, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (repo / "nodeattrs.toml").write_text('hiera = "../outer"\n')
        monkeypatch.setenv("NODEATTRS_TRUST", os.pathsep.join(["/elsewhere", str(repo)]))

        assert say("list", "roles") == (0, "web\n")

    def test_trust_is_of_the_owner_too(self, repo: Path) -> None:
        trust(str(repo))
        assert is_trusted(repo)

        file = repo.parent / "home" / ".config" / "nodeattrs" / "trusted.json"
        noted = json.loads(file.read_text())
        noted["trusted"][0]["owner"] += 1
        file.write_text(json.dumps(noted))
        assert not is_trusted(repo)

    def test_the_list_is_readable_by_the_user_alone(self, repo: Path) -> None:
        trust(str(repo))

        file = repo.parent / "home" / ".config" / "nodeattrs" / "trusted.json"
        assert file.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("text", ["", "[]", '{"trusted": [1]}', '{"trusted": [{"path": "/"}]}', "{"])
    def test_a_list_that_is_damaged_is_an_error_with_the_way_out(self, repo: Path, say: Say, text: str) -> None:
        file = repo.parent / "home" / ".config" / "nodeattrs" / "trusted.json"
        file.parent.mkdir(parents=True)
        file.write_text(text)

        code, said = say("list", "roles")

        assert code == 1
        assert "does not hold a list of trusted repositories" in said
        assert "remove it" in said

    def test_trust_refuses_missing_and_untrusted_folders(self, repo: Path, say: Say) -> None:
        assert "there is no folder nowhere" in say("trust", "nowhere")[1]
        assert "is not trusted" in say("trust", "--remove", ".")[1]
        assert say("trust")[0] == 2
