"""python -m tests.oracles.files: our `File` beside Puppet's, over what can stand at a path and what can be asked.

Each case is a path of its own in two folders that begin alike; Puppet applies one, we the other, and what stands
there then is compared: kind, mode, content, where a link leads. What a link led to must be as it was.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from nodeattrs.catalog import Catalog, Resource, apply_plan, ref_of
from nodeattrs.catalog.types import Site
from nodeattrs.catalog.types.files import File
from tests.oracles.puppet import ruby_with_puppet

THERE = ("nothing", "a file", "an empty file", "a link", "a dangling link", "a pipe")
ASKED: tuple[dict[str, str], ...] = tuple(
    {**ensure, **content, **mode}
    for ensure, content, mode in product(
        ({}, {"ensure": "present"}, {"ensure": "absent"}),
        ({}, {"content": ""}, {"content": "new"}),
        ({}, {"mode": "0640"}),
    )
)
CASES = {f"case{number}": case for number, case in enumerate(product(THERE, ASKED))}

FOLDERS = ("confdir", "vardir", "ssldir", "publicdir", "rundir", "logdir")
RUN = "require 'puppet/util/command_line'; Puppet::Util::CommandLine.new('puppet', ARGV).execute"


def prepare(folder: Path) -> None:
    """What stands there before."""
    folder.mkdir()
    (folder / "target").write_text("theirs")
    (folder / "target").chmod(0o600)
    for name, (there, _) in CASES.items():
        path = folder / name
        if there in ("a file", "an empty file"):
            path.write_text("old" if there == "a file" else "")
            path.chmod(0o604)
        elif there != "nothing":
            os.mkfifo(path, 0o604) if there == "a pipe" else path.symlink_to("target" if there == "a link" else "none")


def found(path: Path) -> Any:
    """What stands there now."""
    if path.is_symlink():
        return f"a link to {os.readlink(path)}"
    if not path.exists():
        return "nothing"
    mode = path.stat().st_mode
    return ("a pipe" if stat.S_ISFIFO(mode) else f"a file with {path.read_text()!r}") + f" {stat.S_IMODE(mode):04o}"


def puppets(folder: Path, work: Path) -> None:
    """Let Puppet do it."""
    ruby, environment = ruby_with_puppet(work / "puppet")
    manifest = work / "site.pp"
    manifest.write_text("".join(_declared(folder / name, asked) for name, (_, asked) in CASES.items()))
    # Debian's Puppet has folders of its own in /var, which exist only where it is installed.
    places = [word for name in FOLDERS for word in (f"--{name}", str(work / name))]
    words = [ruby, "-e", RUN, "apply", *places, str(manifest)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=85, check=False)
    if "Applied catalog" not in done.stdout:
        raise RuntimeError(f"Puppet applied nothing, exit code {done.returncode}: {done.stderr.strip()[-600:]}")


def _declared(path: Path, asked: dict[str, str]) -> str:
    attributes = "".join(f"{name} => '{value}', " for name, value in asked.items())
    return f"file {{ '{path}': {attributes}backup => false }}\n"


def ours(folder: Path) -> None:
    """Do it ourselves."""
    catalog = Catalog()
    for name, (_, asked) in CASES.items():
        catalog.add(Resource(ref_of(f"File[/{name}]"), subject=File(f"/{name}", **asked)))
    apply_plan(catalog.plan(), Site(folder))


def main() -> int:
    """Compare; 1 where something is different, or Puppet did nothing."""
    work = Path(tempfile.mkdtemp(prefix="files-"))
    os.umask(0o022)
    try:
        for folder, do in ((work / "theirs", lambda at: puppets(at, work)), (work / "ours", ours)):
            prepare(folder)
            do(folder)
        different = changed = 0
        for name, (there, asked) in {**CASES, "target": ("the target", {})}.items():
            wanted, got = found(work / "theirs" / name), found(work / "ours" / name)
            changed += (there == "nothing") != (wanted == "nothing")
            if wanted != got:
                different += 1
                print(f"--- different: {there}, asked for {asked}\nPuppet: {wanted}\nours:   {got}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"files: {len(CASES)} comparisons with Puppet, {different} different")
    return 1 if different or not changed else 0


if __name__ == "__main__":
    sys.exit(main())
