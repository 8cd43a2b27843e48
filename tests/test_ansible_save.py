"""Hosts of an inventory as kept nodes: searched, explained with their places, and without what is secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.cli import main
from tests.test_ansible import VAULTED, Tree, tree

__all__ = ["tree"]

FILES = {
    "group_vars/web.yml": "app:\n  workers: 4\n  hosts: [a, b]\ndoor: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\n",
    "host_vars/web1.yml": "note: of web1\n",
}


@pytest.fixture
def run(tree: Tree, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    tree(FILES)

    def asked(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--store", str(tmp_path / "nodes.db")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return asked


def test_hosts_are_found_by_groups_and_variables(run):
    """With Chef's query language, and by path."""
    assert run("ansible", "save", "-i", "hosts")[2].startswith("3 hosts saved in ")
    assert run("search", "group_names:web AND only:1")[1].split() == ["web1", "web2"]
    assert run("search", "app.workers>=4")[1].split() == ["web1", "web2"]


def test_a_kept_value_has_its_file_and_line(run):
    """Also within a map and of a line of an inventory."""
    run("ansible", "save", "-i", "hosts", "--limit", "web1")
    places = {"app.workers": "group_vars/web.yml:2", "note": "host_vars/web1.yml:1", "only": "hosts:13"}
    for path, place in places.items():
        assert place in run("explain", "web1", path)[1]


def test_saved_hosts_have_no_encrypted_text(run):
    """Nothing of the cipher text is kept."""
    run("ansible", "save", "-i", "hosts")
    assert "6162" not in run("show", "web1")[1]
    assert "Sensitive(not stored)" in run("show", "web1")[1]


def test_a_host_that_is_as_it_was_gets_no_new_revision(run):
    """Its history says what has changed."""
    for _ in range(2):
        run("ansible", "save", "-i", "hosts")
    assert len(run("history", "web1")[1].splitlines()) == 1


def test_a_host_whose_lines_alone_moved_is_saved_with_the_new_lines(run):
    """Otherwise `explain` would name a line that sets something else."""
    run("ansible", "save", "-i", "hosts", "--limit", "web1")
    file = Path("group_vars/web.yml")
    file.write_text("# a comment\n" + file.read_text())
    run("ansible", "save", "-i", "hosts", "--limit", "web1")
    assert "group_vars/web.yml:3" in run("explain", "web1", "app.workers")[1]


def test_a_value_of_another_type_is_another_value(run):
    """Although `1 == True` in Python."""
    for text in ("x: 1\n", "x: true\n"):
        Path("group_vars/all.yml").write_text(text)
        run("ansible", "save", "-i", "hosts", "--limit", "web1")
    assert run("search", "x:true")[1] == "web1\n"


def test_a_layer_that_cannot_be_read_is_named_and_with_strict_an_error(run):
    """What it may set would be missing."""
    Path("group_vars/all.yml").write_text(VAULTED)
    code, _, err = run("ansible", "save", "-i", "hosts", "--limit", "web1")
    assert code == 5
    assert "group_vars/all.yml" in err
    assert run("ansible", "save", "-i", "hosts", "--strict")[0] == 1


@pytest.mark.parametrize("words", [("-i", "broken.yml"), ("-i", "script.sh"), ("-i", "hosts", "--limit", "nosuch")])
def test_without_a_host_nothing_is_saved_and_the_error_names_the_reason(run, tmp_path: Path, words: tuple[str, ...]):
    """No store is made. Ansible refuses a pattern without hosts, too."""
    (tmp_path / "broken.yml").write_text("all:\n  hosts: [a")
    (tmp_path / "script.sh").write_text("#!/bin/sh\necho {}\n")
    (tmp_path / "script.sh").chmod(0o755)
    code, _, errors = run("ansible", "save", *words)
    assert (code, "no host to save" in errors, words[-1] in errors, "-i INVENTORY" in errors) == (1, True, True, True)
    assert not (tmp_path / "nodes.db").exists()
