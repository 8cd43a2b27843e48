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
_TRACES = "adapters.bindings.explain core.tracing node.node_trace reports.findings"
_HELP = "adapters catalog changes core.fold keep node.node runs"
ROWS: dict[str, tuple[str, int, int, str]] = {
    # command        line                                             ours  others  without
    "run": (LINES["run"], 209, 63, f"catalog.plan catalog.transaction keep.maintenance {_TRACES}"),
    "show": (LINES["show"], 80, 30, f"{_STORED} reports.explain"),
    "explain": (LINES["explain"], 87, 30, _STORED),
    "facts": ("facts --help", 16, 20, _HELP),
    "shell": ("shell --help", 16, 20, _HELP),
    "list": ("list roles --repo repository", 81, 40, "catalog runs.run keep.search"),
    "role": ("role show web --repo repository", 85, 40, "catalog runs.run keep"),
    "environment": ("environment show production --repo repository", 87, 65, "catalog runs.run keep"),
    "hiera": (LINES["lookup"], 52, 45, "keep node runs adapters.hiera.census adapters.hiera.recorder"),
    "ansible": ("ansible --help", 18, 20, _HELP),
    "bindings": ("bindings --help", 20, 20, _HELP),
    "catalog": ("catalog --help", 17, 20, _HELP),
    "cloud-config": (LINES["cloud-config"], 54, 45, "keep node runs adapters.hiera"),
    "fold": ("fold 0.yaml 1.yaml", 50, 45, "keep node.node adapters.hiera runs.repository"),
    "history": (LINES["history"], 40, 30, f"{_STORED} core.fold node.node"),
    "diff": (LINES["diff"], 88, 30, _STORED),
    "matrix": ("matrix --help", 16, 20, _HELP),
    "search": (LINES["search"], 57, 30, "catalog runs.repository adapters node.node keep.search.memory"),
    "status": ("status --store nodes.db", 41, 30, "catalog runs.repository adapters keep.search"),
    "node": ("node --help", 16, 20, _HELP),
    "store": ("store --help", 17, 20, _HELP),
    "impact": ("impact --help", 18, 20, _HELP),
    "what-if": ("what-if --help", 18, 20, _HELP),
    "check": ("check --help", 19, 20, _HELP),
    "codes": ("codes NA0001", 43, 20, "adapters catalog keep node.node"),
    "config": ("config --repo repository", 87, 40, "catalog runs.run keep.search"),
    "fleet": ("fleet --help", 17, 20, _HELP),
    "schema": ("schema --help", 16, 20, _HELP),
    "lsp": ("lsp --help", 19, 20, _HELP),
    "mcp": ("mcp --help", 16, 28, _HELP),
    "report": ("report --help", 16, 20, _HELP),
    "web": ("web --help", 16, 20, _HELP),
    "completion": ("completion bash", 64, 30, _HELP),
}
"""Command -> a line of it, the most modules of ours and of others that it may load, and what of ours it does without.

A ceiling that is too low for a good reason is raised here; it is no target.
"""

MAY = {"run": "typing", "mcp": "subprocess typing", "completion": "subprocess typing"}
"""What costs much, and which command needs which of it; argparse wraps its help with `textwrap`."""

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
    assert "dataclasses" not in loaded or "lark" in loaded or sys.version_info >= (3, 14)  # its argparse has some
    assert "typing" not in loaded or "tomllib" in loaded or "typing" in MAY.get(command, "")
    if command != "run" or not sys.dont_write_bytecode:  # else bindings are read with lark each time
        may = f"{MAY.get(command)} {'textwrap' if '--help' in line else ''}".split()
        assert {"lark", "email", "inspect", "subprocess", "textwrap"} & {*loaded} <= {*may}
        more = 10 if sys.version_info >= (3, 12) else 0  # whose argparse and datetime load more
        assert len(loaded) - len(own) <= others + more, [name for name in loaded if not name.startswith("nodeattrs")]
    assert len(own) <= ours, own
