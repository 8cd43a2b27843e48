"""Where changed code may run: changed, it may kill every process it finds and write wherever its user may.

So the whole program goes on in a world of its own: it sees no processes but those it has started, and may write to
its own folder and to a `/tmp` of its own, and nowhere else. A checkout, or a Python, that is below `/tmp` is there too,
and cannot be written to. Needs Linux with `unshare`; without it nothing is run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

INSIDE = "NODEATTRS_MUTANTS_CAGE"
TMP = Path("/tmp")
_READ_ONLY = """
findmnt -rno TARGET | grep -vE '^/(proc|sys|dev|tmp)(/|$)' | grep -vxF {place} | while read -r mounted; do
    mount -o remount,bind,ro "$mounted"
done
"""


def command(place: Path, checkout: Path, program: list[str]) -> list[str]:
    """How to run a program inside, in *checkout* and with *place* to write to."""
    tmp = place / "slash-tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    tmp.chmod(0o1777)
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words.append("--map-root-user")
    lines = ["set -e", "mount --make-rprivate /", f"mount --bind {quote(str(place))} {quote(str(place))}"]
    # The new /tmp has what it needs of the old one before it is laid over it.
    lines += [f"mount --bind {quote(str(tmp))} {quote(str(tmp))}"]
    for kept in _kept([checkout, Path(sys.prefix), Path(sys.base_prefix)]):
        lines += _bound(kept, tmp / kept.relative_to(TMP))
        lines.append(f"mount -o remount,bind,ro {quote(str(tmp / kept.relative_to(TMP)))}")
    if place.is_relative_to(TMP):
        lines += _bound(place, tmp / place.relative_to(TMP))
    lines.append(f"mount --rbind {quote(str(tmp))} /tmp")
    lines.append(_READ_ONLY.format(place=quote(str(place))))
    lines += [f"cd {quote(str(checkout))}", f"exec {' '.join(map(quote, program))}"]
    return [*words, "sh", "-c", "\n".join(lines)]


def _kept(folders: list[Path]) -> list[Path]:
    """Those of the folders that are below /tmp, and in none of the others."""
    inside = sorted({folder for folder in folders if folder.is_relative_to(TMP) and folder != TMP})
    return [one for one in inside if not any(one != other and one.is_relative_to(other) for other in inside)]


def _bound(folder: Path, target: Path) -> list[str]:
    return [f"mkdir -p {quote(str(target))}", f"mount --bind {quote(str(folder))} {quote(str(target))}"]


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
