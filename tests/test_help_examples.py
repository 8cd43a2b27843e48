"""The examples in the help of every command: typed in a folder with the files that they name, they work."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.cli.manual import HelpPage, entries
from nodeattrs.cli.program import parser
from nodeattrs.dialects.built_in import BUILT_IN

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
COMMANDS = {
    f"{dialect.command} {name}".strip(): command
    for dialect in BUILT_IN
    if dialect.command
    for name, command in dialect.commands().items()
}
PAGES = {page.name: page for page in entries(parser())}

NOT_RUN = {
    r"nodeattrs (web|lsp|mcp|shell)\b": "runs until its user stops it",
    r"postgresql://": "needs a server",
    r" --jobs\b": "starts processes",
    r" --ruby\b": "needs Ruby",
    r" /(etc|var)/": "reads the machine",
    r"^(?!nodeattrs )|[|<>&\\]": "needs a shell, or is no whole line",
}
"""A pattern of examples that are not run, and why. What stands in quotes is not looked at."""

HIERA = "version: 5\nhierarchy:\n  - {name: Common, path: common.yaml}\n"
CATALOG = json.dumps(
    {
        "resources": [
            {"type": "Service", "title": "ntpd", "refreshable": True},
            {"type": "File", "title": "/etc/ntp.conf", "notify": ["Service[ntpd]"]},
        ]
    }
)
COMPILED = json.dumps(
    {
        "name": "web1",
        "version": 1,
        "resources": [
            {"type": "Stage", "title": "main", "kind": "compilable_type", "exported": False, "parameters": {}},
            {"type": "Class", "title": "main", "kind": "unknown", "exported": False, "parameters": {}},
        ],
        "edges": [{"source": "Stage[main]", "target": "Class[main]"}],
    }
)
FILES = {
    "base.yaml": "#cloud-config\nhttp: {port: 80}\nruncmd: [one]\n",
    "web.yaml": "#cloud-config\nruncmd: [two]\n",
    "team.yaml": "http: {tls: false}\n",
    "prod.yaml": "http: {port: 8080}\n",
    "values.yaml": "image: {tag: v1}\n",
    "user-data.mime": "#cloud-config\nruncmd: [one]\n",
    "catalog.json": CATALOG,
    "before.json": CATALOG,
    "after.json": CATALOG,
    "web1.json": COMPILED,
    "environments/production/hiera.yaml": HIERA,
    "environments/production/data/common.yaml": "ntp::servers: [c]\n",
    "facts/web1.yaml": "hostname: web1\n",
    "inventory": "[web]\nweb1 http_port=80\n",
    "site.yml": "- hosts: all\n  tasks:\n    - name: restart\n      debug: {msg: '{{ http_port }}'}\n",
    "cookbooks/app/recipes/db.py": "",
    "old/hiera.yaml": HIERA,
    "old/data/common.yaml": "users: {}\n",
    "new/hiera.yaml": HIERA,
    "new/data/common.yaml": "users: {root: {}}\n",
}
"""What the examples name, beside the files of the example repository: file -> content."""


CHANGES = (
    ("nodeattrs.toml", "[fold.shop]", '[fold.site]\nfiles = ["base.yaml", "prod.yaml"]\n\n[fold.shop]'),
    ("nodeattrs.toml", 'hiera = "hiera"', 'hiera = "."'),
    ("hiera.yaml", "name: node", "name: Per-node data"),
    ("data/common.yaml", "profile::packages: curl", "users: {root: {}}\nprofile::packages: curl"),
)
"""(file, what it says, what it says instead), for names that the examples have."""


def examples_of(page: HelpPage) -> list[str]:
    section = page.more.partition("examples:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in section.splitlines() if line.startswith("  ")]


def reason_not_run(example: str) -> str:
    bare = re.sub(r"'[^']*'", "''", example)
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, bare)), "")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Git repository with the files of the example and those of its reader; web1 is saved five times.

    The folder above it has a copy of cookbooks_example.
    """
    folder = tmp_path_factory.mktemp("above") / "checkout"
    shutil.copytree(EXAMPLE, folder.parent / "cookbooks_example")
    for source in (EXAMPLE, EXAMPLE / "hiera"):
        shutil.copytree(source, folder, dirs_exist_ok=True)
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for name, old, new in CHANGES:
        (folder / name).write_text((folder / name).read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (folder / "bin").mkdir()
    os.symlink(str(shutil.which("git")), folder / "bin" / "git")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*author, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "--repo", ".", "--all", "--facts", "facts", "--quiet"]) == 0
        for tier in "abcd":
            assert main(["node", "set", "web1", "app.tier", tier]) == 0
        for more in ([], ["--store", "nodes.db"]):
            assert main(["ansible", "save", "-i", "inventory", *more]) == 0
    return folder


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_of_a_dialect_has_an_example(words: str):
    assert COMMANDS[words].examples


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if examples_of(page)])
def test_the_examples_of_a_command_work(
    name: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Exit code 5 is an answer, too, and so is 1 without an error: `check` found something. No `ohai` is asked.

    An example that names cookbooks_example is typed in the folder above it, and any other one in the checkout.
    """
    monkeypatch.setenv("PATH", str(checkout / "bin"))
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("SHELL", "bash")
    faults = {}
    for example in examples_of(PAGES[name]):
        if not reason_not_run(example):
            capsys.readouterr()
            monkeypatch.chdir(checkout.parent if "cookbooks_example" in example else checkout)
            code = main(shlex.split(example, comments=True)[1:])
            errors = re.findall("^error: .*", capsys.readouterr().err, re.MULTILINE)
            if code not in (0, 1, 5) or errors:
                faults[example] = (code, errors)

    assert {} == faults


def test_no_help_is_longer_than_60_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """On a terminal of 80 columns; what needs more words has a page. A default that is not set is not printed."""
    monkeypatch.setenv("COLUMNS", "80")
    helps = {}
    for entry in entries(parser()):
        assert 0 == main([*entry.words, "--help"])
        helps[entry.name] = capsys.readouterr().out

    assert {} == {name: len(text.splitlines()) for name, text in helps.items() if len(text.splitlines()) > 60}
    assert [] == [name for name, text in helps.items() if "None" in text]
    assert [] == [name for name, text in helps.items() if name not in text.partition("\nexamples:\n")[2]]
