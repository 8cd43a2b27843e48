"""What each command loads before it answers: modules, counted in a fresh interpreter. No clock runs here."""

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
_HELP = "adapters catalog changes core.fold keep node.node runs"
ROWS: dict[str, tuple[str, int, int, str]] = {
    # command        line                                             ours  others  without
    "run": (LINES["run"], 217, 165, "catalog.plan catalog.transaction keep.maintenance"),
    "show": (LINES["show"], 78, 50, f"{_STORED} reports.explain"),
    "explain": (LINES["explain"], 84, 52, _STORED),
    "facts": ("facts --help", 18, 58, _HELP),
    "shell": ("shell --help", 18, 58, _HELP),
    "list": ("list roles --repo repository", 80, 110, "catalog runs.run keep.search"),
    "role": ("role show web --repo repository", 90, 120, "catalog runs.run keep"),
    "environment": ("environment show production --repo repository", 90, 120, "catalog runs.run keep"),
    "hiera": (LINES["lookup"], 51, 64, "keep node runs adapters.hiera.census adapters.hiera.recorder"),
    "ansible": ("ansible --help", 18, 58, _HELP),
    "bindings": ("bindings --help", 20, 58, _HELP),
    "catalog": ("catalog --help", 20, 58, _HELP),
    "cloud-config": (LINES["cloud-config"], 53, 64, "keep node runs adapters.hiera"),
    "fold": ("fold 0.yaml 1.yaml", 52, 100, "keep node.node adapters.hiera runs.repository"),
    "history": (LINES["history"], 38, 50, f"{_STORED} core.fold node.node"),
    "diff": (LINES["diff"], 84, 50, _STORED),
    "matrix": ("matrix --help", 18, 58, _HELP),
    "search": (LINES["search"], 55, 50, "catalog runs.repository adapters node.node keep.search.memory"),
    "status": ("status --store nodes.db", 38, 88, "catalog runs.repository adapters keep.search"),
    "node": ("node --help", 18, 58, _HELP),
    "store": ("store --help", 18, 58, _HELP),
    "impact": ("impact --help", 18, 58, _HELP),
    "what-if": ("what-if --help", 18, 58, _HELP),
    "check": ("check --help", 18, 58, _HELP),
    "codes": ("codes NA0001", 45, 80, "adapters catalog keep node.node"),
    "config": ("config --repo repository", 88, 110, "catalog runs.run keep.search"),
    "fleet": ("fleet --help", 18, 58, _HELP),
    "schema": ("schema --help", 18, 58, _HELP),
    "lsp": ("lsp --help", 20, 58, _HELP),
    "mcp": ("mcp --help", 18, 58, _HELP),
    "report": ("report --help", 18, 58, _HELP),
    "web": ("web --help", 18, 58, _HELP),
    "completion": ("completion bash", 63, 60, _HELP),
}
"""Command -> a line of it, the most modules of ours and of others that it may load, and what of ours it does without.

A ceiling that is too low for a good reason is raised here; it is no target.
"""

PLAIN = ("show", "explain", "hiera", "cloud-config", "history", "diff", "search")
"""Commands that define no data class: each costs half a millisecond, and the first one ten."""

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
def test_a_command_loads_what_it_needs(command: str, place: Path):
    """
    No more modules than its row says, and none of the rooms that have nothing to do with it.
    """
    line, ours, others, without = ROWS[command]
    words, around = [sys.executable, "-c", _COUNTED, *line.split()], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=place, env=around, capture_output=True, text=True)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    own = [name.partition(".")[2] for name in loaded if name.partition(".")[0] == "nodeattrs"]

    assert 0 == code, done.stderr
    assert [] == [name for name in own for room in without.split() if f"{name}.".startswith(f"{room}.")]
    assert command not in PLAIN or "dataclasses" not in loaded or sys.version_info >= (3, 14)  # its argparse has some
    assert len(own) <= ours, own
    assert len(loaded) - len(own) <= others, [name for name in loaded if not name.startswith("nodeattrs")]
