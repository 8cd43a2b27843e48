"""Git repositories as a stranger may leave them: nothing that they configure is started, and nothing else is read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.budget import Limits, limited
from nodeattrs.dialects.chef.blame import blame
from nodeattrs.dialects.chef.repository.repository import commit_of
from nodeattrs.errors import NotFound, TooMuch
from nodeattrs.git import Git

USER = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "a@example.com"}
USER |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in USER.items()}


def git(folder: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, input=given, text=True, check=True, capture_output=True, env={**os.environ, **USER}
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A Chef repository in Git: a node with a role that changes in the work tree."""
    folder = tmp_path / "repo"
    for name, text in {
        "roles/web.json": '{"name": "web",\n "default_attributes": {"a": 1}}\n',
        "nodes/n1.json": NODE,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


FACTS = str(Path(__file__).parents[1] / "cookbooks_example" / "facts" / "web1.json")
NODE = '{"name": "n1", "run_list": ["role[web]"]}\n'

PROGRAMS = {
    "a clean filter": {"filter.x.clean": "{mark}; cat"},
    "a process filter": {"filter.x.process": "{mark}; false", "filter.x.required": "true"},
    "a smudge filter": {"filter.x.smudge": "{mark}; cat"},
    "a monitor of the file system": {"core.fsmonitor": "{mark}"},
    "a text conversion": {"diff.x.textconv": "{mark}; cat"},
    "an external diff": {"diff.external": "{mark}", "diff.x.command": "{mark}"},
    "a pager": {"core.pager": "{mark}", "pager.blame": "{mark}"},
    "a folder of hooks": {"core.hooksPath": "{hooks}"},
    "an alias": {"alias.blame": "!{mark}", "alias.ls-tree": "!{mark}"},
    "a program for signatures": {"gpg.program": "{mark}", "log.showSignature": "true"},
    "a helper for passwords": {"credential.helper": "!{mark}", "core.askPass": "{mark}"},
}


class TestAHostileConfiguration:
    @pytest.mark.parametrize("settings", PROGRAMS.values(), ids=PROGRAMS)
    def test_no_program_that_a_repository_configures_is_started(
        self, repo: Path, settings: dict[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        proof = repo.parent / "proof"
        hooks = repo / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {proof}\n")
            (hooks / name).chmod(0o755)
        for name, value in settings.items():
            git(repo, "config", name, value.format(mark=f"touch {proof}", hooks=hooks))
        (repo / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
        (repo / "roles" / "web.json").write_text('{"name": "web",\n "default_attributes": {"a": 2}}\n')

        assert main(["explain", "n1", "a", "--repo", str(repo), "--roles-only", "--git", "--facts", FACTS]) == 0
        assert "changed and not committed" in capsys.readouterr().out
        assert main(["impact", "HEAD", "--repo", str(repo), "--no-run-code"]) == 0
        assert "1 -> 2" in capsys.readouterr().out
        assert not proof.exists()

    @pytest.mark.parametrize("url", ["ext::sh -c touch% PROOF", "ssh://host/x", "REPO"])
    def test_nothing_is_fetched_for_an_object_that_a_partial_clone_does_not_have(self, repo: Path, url: str) -> None:
        proof = repo.parent / "proof"
        blob = git(repo, "rev-parse", "HEAD:roles/web.json")
        (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        for name, value in {
            "core.repositoryformatversion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": url.replace("PROOF", str(proof)).replace("REPO", str(repo)),
            "remote.origin.uploadpack": f"touch {proof}",
            "core.sshCommand": f"touch {proof}",
            "protocol.allow": "always",
            "protocol.ext.allow": "always",
            "protocol.file.allow": "always",
        }.items():
            git(repo, "config", name, value)

        contents = dict(Git(repo).contents(Git(repo).files("HEAD")))

        assert blob not in contents
        assert len(contents) == 1
        assert not proof.exists()

    def test_the_work_tree_is_the_folder_that_is_asked_and_not_the_one_that_the_repository_names(
        self, repo: Path
    ) -> None:
        outer = repo.parent / "outer"
        outer.mkdir()
        git(repo, "config", "core.worktree", str(outer))

        assert Git(repo).top == repo
        assert Git(repo / "roles").prefix == "roles/"

    def test_a_tracked_folder_that_looks_like_a_repository_is_none(self, repo: Path) -> None:
        inner = repo / "bare"
        git(repo, "init", "-q", "--bare", str(inner))
        git(inner, "config", "core.fsmonitor", f"touch {repo.parent / 'proof'}")

        assert Git(inner).top == repo
        assert Git(inner).prefix == "bare/"
        assert not (repo.parent / "proof").exists()

    def test_a_tree_of_few_objects_and_endless_names_ends_with_an_error(self, repo: Path) -> None:
        blob = git(repo, "hash-object", "-w", "--stdin", given="x")
        tree = git(repo, "mktree", given="".join(f"100644 blob {blob}\tf{n}\n" for n in range(10)))
        for _ in range(9):
            tree = git(repo, "mktree", given="".join(f"040000 tree {tree}\t{'d' * 200}{n}\n" for n in range(10)))
        commit = git(repo, "commit-tree", "-m", "bomb", tree)

        with pytest.raises(TooMuch, match="git ls-tree printed more than 64,000,000 bytes"):
            Git(repo).files(commit)

    def test_a_blob_that_no_reader_would_read_is_left_out(self, repo: Path) -> None:
        (repo / "large.json").write_bytes(b" " * 10_000_001)
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "large")
        files = Git(repo).files("HEAD")

        found = dict(Git(repo).contents(files))

        assert [one.path for one in files if one.id not in found] == ["large.json"]

    def test_a_blob_of_more_bytes_than_a_batch_is_read_where_the_budget_allows_it(self, repo: Path) -> None:
        size = 65_000_000
        (repo / "large.yaml").write_bytes(b"#" * size)
        git(repo, "add", "large.yaml")
        git(repo, "commit", "-qm", "large")
        with limited(Limits(bytes=2 * size)):
            content = Git(repo).content("HEAD", "large.yaml")
        assert content is not None
        assert len(content) == size


class TestWhereDotGitLeads:
    def test_a_work_tree_that_git_added_is_read(self, repo: Path) -> None:
        git(repo, "worktree", "add", "-q", "--detach", "../other")

        assert [one.path for one in Git(repo.parent / "other").files("HEAD")] == ["nodes/n1.json", "roles/web.json"]

    def test_a_submodule_is_read(self, repo: Path) -> None:
        git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "sub")

        assert Git(repo / "sub").top == repo / "sub"
        assert len(Git(repo / "sub").files("HEAD")) == 2

    @pytest.mark.parametrize("way", ["file", "link", "common folder"])
    def test_the_repository_of_another_folder_is_refused(self, repo: Path, way: str) -> None:
        stranger = repo.parent / "stranger"
        stranger.mkdir()
        if way == "file":
            (stranger / ".git").write_text(f"gitdir: {repo}/.git\n")
        elif way == "link":
            (stranger / ".git").symlink_to(repo / ".git")
        else:
            (stranger / ".git").mkdir()
            (stranger / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            (stranger / ".git" / "commondir").write_text(f"{repo}/.git\n")
            (stranger / ".git" / "gitdir").write_text(f"{stranger}/.git\n")

        with pytest.raises(NotFound, match="leads to the repository of another folder"):
            Git(stranger)


class TestBlame:
    def test_lines_keep_their_commit_when_others_come_above_them(self, repo: Path) -> None:
        file = repo / "roles" / "web.json"
        file.write_bytes(b'{"name": "web",\r\n "description": "new",\r\n "default_attributes": {"a": 1}}\r\n')

        first, new, moved, gone = blame(repo, [("roles/web.json", line) for line in (1, 2, 3, 9)])

        assert (first.line, first.author, first.summary, first.note) == (1, "Ada", "one", "")
        assert (moved.line, moved.author, moved.summary, moved.note) == (3, "Ada", "one", "")
        assert (new.commit, new.note) == ("", "changed and not committed")
        assert gone.note == "the file is shorter now"

    def test_a_file_that_git_does_not_know_and_one_outside_are_not_committed(self, repo: Path) -> None:
        (repo / "new.json").write_text("{}\n")
        (repo.parent / "outer.json").write_text("{}\n")

        found = blame(repo, [("new.json", 1), ("../outer.json", 1)])

        assert [one.note for one in found] == ["not committed"] * 2


def test_the_commit_of_a_linked_work_tree_is_its_own_and_not_that_of_the_repository_around_it(repo: Path) -> None:
    linked = repo / "linked"
    git(repo, "worktree", "add", "-q", "-b", "other", str(linked))
    git(linked, "commit", "-q", "--allow-empty", "-m", "two")

    assert commit_of(linked / "roles") == git(linked, "rev-parse", "HEAD") != git(repo, "rev-parse", "HEAD")
    assert commit_of(repo / "roles") == git(repo, "rev-parse", "HEAD")


def test_a_file_that_leads_to_the_repository_of_another_folder_gives_no_commit(tmp_path: Path, repo: Path) -> None:
    for name, text in (("other", f"gitdir: {repo / '.git'}\n"), ("repo/bad", "nonsense\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_text(text)

        assert commit_of(tmp_path / name) == ""
