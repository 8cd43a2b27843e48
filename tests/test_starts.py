"""Which dialects a command loads: those that it uses. No clock runs here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from nodeattrs.cli.program import summaries
from tests.benchmarks.starts import LINES, ROOT, desk

DIALECTS = ("ansible", "bindings", "chef", "cloudinit", "hiera", "files", "catalog", "verbs", "web")
"""Packages that only some commands use: folders in `dialects`, and three beside them."""

ROWS: dict[str, tuple[str, str]] = {
    # command: a line of it, and the packages of `DIALECTS` that this line uses
    "run": (LINES["run"], "bindings catalog chef hiera verbs"),
    "show": (LINES["show"], "chef verbs"),
    "explain": (LINES["explain"], "chef verbs"),
    "why": ("why --help", "verbs"),
    "where": ("where --help", "verbs"),
    "overview": ("overview --help", "verbs"),
    "blame": ("blame --help", "verbs"),
    "facts": ("facts --help", "chef verbs"),
    "shell": ("shell --help", "chef verbs"),
    "list": ("list roles --repo repository", "chef"),
    "role": ("role show web --repo repository", "chef verbs"),
    "environment": ("environment show production --repo repository", "chef verbs"),
    "hiera": (LINES["lookup"], "hiera verbs"),
    "ansible": ("ansible --help", "ansible verbs"),
    "bindings": ("bindings --help", "bindings verbs"),
    "catalog": ("catalog --help", "catalog chef verbs"),
    "cloud-config": (LINES["cloud-config"], "cloudinit verbs"),
    "fold": ("fold 0.yaml 1.yaml", "files verbs"),
    "history": (LINES["history"], "chef verbs"),
    "diff": (LINES["diff"], "chef verbs"),
    "matrix": ("matrix --help", "catalog chef verbs"),
    "search": (LINES["search"], "chef verbs"),
    "status": ("status --store nodes.db", "chef verbs"),
    "node": ("node --help", "chef verbs"),
    "store": ("store --help", "chef verbs"),
    "impact": ("impact --help", ""),
    "what-if": ("what-if --help", ""),
    "check": ("check --help", ""),
    "codes": ("codes NA0001", "ansible bindings catalog cloudinit hiera"),
    "config": ("config --repo repository", ""),
    "fleet": ("fleet --help", "catalog chef verbs"),
    "trust": ("trust --list", ""),
    "schema": ("schema --help", ""),
    "lsp": ("lsp --help", ""),
    "mcp": ("mcp --help", ""),
    "report": ("report --help", ""),
    "web": ("web --help", ""),
    "completion": ("completion bash", "ansible bindings catalog chef cloudinit files hiera verbs"),
}

_COUNTED = """
import json, sys
before = set(sys.modules)
from nodeattrs.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
sys.stdout.flush()
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return desk(tmp_path_factory.mktemp("starts") / "desk")


@cache
def counted(line: str, folder: Path) -> tuple[int, list[str], str]:
    """The exit code of a command, the modules that it loads, and its errors."""
    words, around = [sys.executable, "-c", _COUNTED, *line.split()], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=folder, env=around, capture_output=True, text=True)
    return (*json.loads(done.stderr.splitlines()[-1]), done.stderr)


def is_light(module: str) -> bool:
    """Whether a module is the object that a list of dialects loads, and no part of what reads files."""
    return module.startswith("nodeattrs.dialects.") and module.endswith(".dialect")


def test_every_command_has_a_row():
    assert set(summaries()) == set(ROWS)


@pytest.mark.parametrize("command", ROWS)
def test_a_command_loads_no_dialect_and_no_optional_library_that_it_does_not_use(command: str, place: Path):
    line, used = ROWS[command]
    code, loaded, errors = counted(line, place)
    modules = {name.removeprefix("nodeattrs.") for name in loaded if not is_light(name)}
    modules = {name.removeprefix("dialects.") for name in modules}
    dialects = {name.partition(".")[0] for name in modules if "." in name} & {*DIALECTS}  # of a package, not itself
    optional = {
        "jinja2",
        "lark",
        "tree_sitter",
        "psycopg",
        "starlette",
        "pygls",
        "mcp",
        "cryptography",
        "psutil",
        "dask",
    }

    assert (code, dialects) == (0, {*used.split()}), errors
    assert optional.intersection(loaded) == ({"lark"} if command == "run" else set())


def test_a_run_loads_no_dialect_that_its_repository_does_not_name(tmp_path: Path):
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "web.json").write_text('{"default_attributes": {"a": 1}}', encoding="utf-8")
    (tmp_path / "facts.json").write_text(
        '{"fqdn": "n", "platform": "debian", "platform_version": "12"}', encoding="utf-8"
    )
    code, loaded, errors = counted("run --new --node n --run-list role[web] --facts facts.json --store n.db", tmp_path)

    assert code == 0, errors
    others = ("nodeattrs.dialects.bindings.", "nodeattrs.dialects.hiera.")
    assert [] == [name for name in loaded if name.startswith(others) and not name.endswith(".dialect")]


PARSERS = {f"nodeattrs.formats.{name}" for name in ("flat_text", "hcl_text", "repeated", "toml_text", "yaml_text")}
"""Modules that read files of one kind; no such file lies where the lines run."""


@pytest.mark.parametrize("command", ["explain", "search", "history", "show", "diff", "help"])
def test_a_look_at_a_store_reads_no_metadata_of_packages_and_loads_no_parser(command: str, place: Path):
    code, loaded, errors = counted(LINES[command], place)
    needless = {"importlib.metadata", "nodeattrs.dialects.registry", *PARSERS}
    needless |= set() if command == "show" else {"yaml"}  # `show` writes YAML

    assert (code, needless.intersection(loaded)) == (0, set()), errors


def test_a_lookup_in_hiera_loads_no_node(place: Path):
    code, loaded, errors = counted(LINES["lookup"], place)

    assert (code, "nodeattrs.node.node" in loaded) == (0, False), errors


@pytest.mark.parametrize("command", ["explain", "search", "history", "show", "diff"])
def test_a_look_at_a_store_reads_the_settings_of_a_repository_and_loads_no_repository(command: str, place: Path):
    code, loaded, errors = counted(LINES[command].replace("nodes.db", "../nodes.db"), place / "repository")

    assert (code, "nodeattrs.project.config" in loaded, "nodeattrs.dialects.chef.repository.repository" in loaded) == (
        0,
        True,
        False,
    ), errors


def test_the_help_of_the_program_opens_no_command(place: Path):
    code, loaded, errors = counted(LINES["help"], place)
    opened = {f"nodeattrs.cli.{command.replace('-', '_')}" for command in summaries()} | {"nodeattrs.cli.declared"}

    assert (code, opened.intersection(loaded)) == (0, set()), errors
