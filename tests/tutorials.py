"""Pages that are followed as they stand: files with a title are written, lines after `$` are typed.

`python -m tests.tutorials PAGE...` writes what the commands print into the pages: read the change before it is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (*sorted((ROOT / "docs/tutorials").glob("*.md")), *sorted((ROOT / "docs/how-to").glob("*.md")))
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def followed(text: str, folder: Path, programs: Path) -> str:
    """A page with what its commands print now, typed one after the other in a folder.

    programs: a folder with nodeattrs and python, which stands first on the path
    """
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(home),
        "COLUMNS": "80",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "TMPDIR")},
    }

    def block(found: re.Match[str]) -> str:
        language, title, body = found.groups()
        if title:
            place = folder / title
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(body)
        if language != "console":
            return found[0]
        return f"```console\n{''.join(_typed(body, folder, environment))}```"

    return _BLOCK.sub(block, text)


def _typed(body: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    for line in body.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(
                line[2:],
                shell=True,
                cwd=folder,
                env=environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            yield f"{line}\n{done.stdout}"


def programs_in(folder: Path) -> Path:
    """A folder with programs that run this checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in {"nodeattrs": "-m nodeattrs ", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        (folder / name).chmod(0o755)
    return folder


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "desk").mkdir()
            page.write_text(followed(page.read_text(), Path(place) / "desk", programs_in(Path(place) / "bin")))
