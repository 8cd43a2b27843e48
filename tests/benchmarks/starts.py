"""The figures of the processes that people start all day, beside a bare interpreter of the same minute.

Each runs as an installed program does: in an environment of its own, with bytecode, started by its script.
`tests/test_starts.py` counts what the same lines load.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nodeattrs.cli import main
from tests.benchmarks.clock import seconds_of_python
from tests.benchmarks.figures import Figure

ROOT = Path(__file__).parents[2]

LINES = {
    "lookup": "hiera lookup k1 --merge deep --hiera-config hiera/hiera.yaml",
    "show": "show web1 --store nodes.db",
    "explain": "explain web1 app.workers --store nodes.db",
    "search": "search role:web --store nodes.db",
    "history": "history web1 --store nodes.db",
    "diff": "diff web1@1 web1 --store nodes.db",
    "run": "run --repo repository --node web1 --facts repository/facts/web1.json --store nodes.db",
    "cloud-config": "cloud-config merge 0.yaml 1.yaml 2.yaml",
    "help": "--help",
}
"""What is typed, in a folder that `desk` has made."""

BARS = {"lookup": 8, "show": 8, "explain": 8, "search": 8, "history": 8, "diff": 8, "run": 26, "help": 5}
"""How often a bare interpreter's time each may take. For cloud-config, cloud-init itself is the measure."""

PARTS = ("packages: [vim]\n", "merge_how: list(append)+dict(recurse_list)\npackages: [git]\n", "hostname: a\n")


def desk(folder: Path) -> Path:
    """A folder with what the lines name: the example, a store with two revisions of a node of it, Hiera, user-data."""
    shutil.copytree(ROOT / "cookbooks_example", folder / "repository")
    names = {"repo": "repository", "facts": "repository/facts/web1.json", "store": "nodes.db"}
    words = [word for name, place in names.items() for word in (f"--{name}", str(folder / place))]
    for environment in ("production", "staging"):
        with contextlib.redirect_stdout(io.StringIO()):
            assert 0 == main(["run", "--node", "web1", "--quiet", "--environment", environment, *words])
    data = folder / "hiera" / "data"
    data.mkdir(parents=True)
    levels = "".join(f"  - {{name: l{level}, path: l{level}.yaml}}\n" for level in range(5))
    head = "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\nhierarchy:\n"
    (folder / "hiera" / "hiera.yaml").write_text(head + levels, encoding="utf-8")
    for level in range(5):
        text = "".join(f"k{key}: {{a{level}: {key}}}\n" for key in range(100))
        (data / f"l{level}.yaml").write_text(text, encoding="utf-8")
    for number, part in enumerate(PARTS):
        (folder / f"{number}.yaml").write_text(f"#cloud-config\n{part}", encoding="utf-8")
    return folder


def installed(folder: Path) -> tuple[str, str]:
    """An environment with nodeattrs and all we have, without what a checkout adds to a start: its python and script.

    raises: CalledProcessError, where there is no venv
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    found = subprocess.run(
        [folder / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    paths = [str(ROOT), *(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))]
    Path(found.stdout.strip(), "nodeattrs.pth").write_text("\n".join([*paths, ""]), encoding="utf-8")
    script = folder / "bin" / "nodeattrs"
    script.write_text("import sys\nfrom nodeattrs.cli import main\nsys.exit(main())\n", encoding="utf-8")
    return str(folder / "bin" / "python"), str(script)


def start_figures(rounds: int) -> Iterator[Figure]:
    """Each process in relation to a bare interpreter: the least of many, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        place = desk(Path(folder) / "desk")
        python, script = installed(Path(folder) / "installed")
        programs = [["-c", "pass"], *([script, *line.split()] for line in LINES.values())]
        bare, *each = seconds_of_python(*programs, rounds=max(rounds, 20), python=python, folder=place)
    yield Figure("a bare interpreter", bare * 1000, "ms")
    for name, seconds in zip(LINES, each, strict=True):
        yield Figure(name, seconds / bare, "times", BARS.get(name), f"a bare interpreter: {seconds * 1000:.0f} ms")
