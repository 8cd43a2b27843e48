"""Where changed code may run: changed, it may kill every process it finds and write wherever its user may.

So the whole program goes on in a world of its own: it sees no processes but those it has started, and may write to
its own folder and to a `/tmp` of its own, and nowhere else. Needs Linux with `unshare`; without it nothing is run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

INSIDE = "NODEATTRS_MUTANTS_CAGE"
_SET_UP = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$1/slash-tmp" /tmp
findmnt -rno TARGET | grep -vE '^/(proc|sys|dev|tmp)(/|$)' | grep -vxF "$1" | while read -r place; do
    mount -o remount,bind,ro "$place"
done
cd "$2"
shift 2
exec "$@"
"""


def command(place: Path, checkout: Path, program: list[str]) -> list[str]:
    """How to run a program inside, in *checkout* and with *place* to write to."""
    (place / "slash-tmp").mkdir(parents=True, exist_ok=True)
    (place / "slash-tmp").chmod(0o1777)
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words.append("--map-root-user")
    return [*words, "sh", "-c", _SET_UP, "sh", str(place), str(checkout), *program]


def enter(place: Path, checkout: Path, words: list[str]) -> int:
    """Run the mutants inside; the exit code. raises: SystemExit, where there is no inside"""
    program = command(place, checkout, [sys.executable, "-m", "tests.mutants", *words])
    try:
        return subprocess.run(program, env={**os.environ, INSIDE: "1", "TMPDIR": "/tmp"}).returncode
    except FileNotFoundError as error:
        raise SystemExit("changed code runs in a world of its own only, and there is no `unshare` here") from error


def is_closed(checkout: Path) -> bool:
    """Whether this program is the first of its own world, and may not write to the checkout."""
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) < os.getpid()]
    return INSIDE in os.environ and os.getpid() == 1 and not others and not os.access(checkout, os.W_OK)
