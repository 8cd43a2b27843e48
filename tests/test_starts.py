"""What a command does not load: the packages that have nothing to do with it. No clock runs here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs.cli.program import COMMANDS
from tests.benchmarks.starts import LINES, ROOT, desk

_STORED = "catalog runs.repository runs.run runs.fleet runs.injection adapters keep.search keep.maintenance"
_TRACES = "adapters.bindings.explain core.tracing node.node_trace reports.findings"
_HELP = "adapters catalog changes core.fold keep node.node runs"
ROWS: dict[str, tuple[str, str]] = {
    # command: line, without
    "run": (LINES["run"], f"catalog.plan catalog.transaction keep.maintenance {_TRACES}"),
    "show": (LINES["show"], f"{_STORED} reports.explain"),
    "explain": (LINES["explain"], _STORED),
    "facts": ("facts --help", _HELP),
    "shell": ("shell --help", _HELP),
    "list": ("list roles --repo repository", "catalog runs.run keep.search"),
    "role": ("role show web --repo repository", "catalog runs.run keep"),
    "environment": ("environment show production --repo repository", "catalog runs.run keep"),
    "hiera": (LINES["lookup"], "keep node runs adapters.hiera.census adapters.hiera.recorder"),
    "ansible": ("ansible --help", _HELP),
    "bindings": ("bindings --help", _HELP),
    "catalog": ("catalog --help", _HELP),
    "cloud-config": (LINES["cloud-config"], "keep node runs adapters.hiera"),
    "fold": ("fold 0.yaml 1.yaml", "keep node.node adapters.hiera runs.repository"),
    "history": (LINES["history"], f"{_STORED} core.fold node.node"),
    "diff": (LINES["diff"], _STORED),
    "matrix": ("matrix --help", _HELP),
    "search": (LINES["search"], "catalog runs.repository adapters node.node keep.search.memory"),
    "status": ("status --store nodes.db", "catalog runs.repository adapters keep.search"),
    "node": ("node --help", _HELP),
    "store": ("store --help", _HELP),
    "impact": ("impact --help", _HELP),
    "what-if": ("what-if --help", _HELP),
    "check": ("check --help", _HELP),
    "codes": ("codes NA0001", "adapters catalog keep node.node"),
    "config": ("config --repo repository", "catalog runs.run keep.search"),
    "fleet": ("fleet --help", _HELP),
    "trust": ("trust --list", _HELP.replace(" runs", "")),
    "schema": ("schema --help", _HELP),
    "lsp": ("lsp --help", _HELP),
    "mcp": ("mcp --help", _HELP),
    "report": ("report --help", _HELP),
    "web": ("web --help", _HELP),
    "completion": ("completion bash", _HELP),
}
"""Command -> a line of it, and packages and modules of ours that it does not load."""

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


def test_every_command_has_a_row():
    assert set(COMMANDS) == set(ROWS)


@pytest.mark.parametrize("command", ROWS)
def test_a_command_loads_no_package_that_has_nothing_to_do_with_it(command: str, place: Path):
    line, without = ROWS[command]
    words, around = [sys.executable, "-c", _COUNTED, *line.split()], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=place, env=around, capture_output=True, text=True)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    own = [name.partition(".")[2] for name in loaded if name.partition(".")[0] == "nodeattrs"]

    assert 0 == code, done.stderr
    assert [] == [name for name in own for room in without.split() if f"{name}.".startswith(f"{room}.")]
