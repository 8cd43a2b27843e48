"""Pages that are followed as they stand: files with a title are written, lines after `$` are typed.

`python -m tests.tutorials PAGE...` writes what the commands print into the pages: read the change before it is kept.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from nodeattrs.cli import main

ROOT = Path(__file__).parents[1]
_CHANGED = """\
set -e; cp -rL cookbooks_example shop; cd shop; git init -q; git config user.name a; git config user.email a@example.com
rm -rf .nodeattrs; git add -A; git commit -qm a
sed -i 's/8080/8081/; s/"workers": 8/"workers": 9/; s/"keepalive": false/"keepalive": true/' roles/web.json
git commit -qam b
"""
"""A repository of git in which a role has got three other values."""

_RELEASE = """\
set -e; cp cookbooks_example/fold/* .; mkdir -p apps charts/shop
printf 'name: shop\\nversion: 1.0.0\\n' > charts/shop/Chart.yaml
printf 'image:\\n  tag: "1.0"\\n' > charts/shop/values.yaml
printf '# production\\nimage:\\n  tag: "2.0"\\n' > charts/shop/values-prod.yaml
cat > apps/shop.yaml <<'END'
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec:
  source:
    repoURL: https://git.example.org/shop.git
    path: charts/shop
    helm:
      valueFiles: [values-prod.yaml]
      valuesObject:
        image:
          tag: "2.1"
END
"""
"""The files of the example, and a chart that an Application of Argo CD installs."""

BESIDE_THE_EXAMPLE = {
    ROOT / "docs/cli.md": "",
    ROOT / "docs/fold.md": _RELEASE,
    ROOT / "docs/check.md": "",
    ROOT / "docs/attribute-data.md": "",
    ROOT / "docs/in-ci.md": "",
    ROOT / "README.md": "nodeattrs run --all --quiet --repo cookbooks_example --facts cookbooks_example/facts",
    ROOT / "docs/impact.md": _CHANGED,
}
"""Pages whose commands are typed where the example lies, and what is typed before them."""

PAGES = (
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
    *BESIDE_THE_EXAMPLE,
)
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def followed(page: Path, folder: Path, programs: Path | None = None) -> str:
    """A page with what its commands print now, typed one after the other with 80 columns.

    folder:   an empty one, for the desk at which they are typed, and a home
    programs: a folder with nodeattrs and python, which stands first on the path; unless given, those of this checkout
    """
    desk, home, programs = folder / "desk", folder / "home", programs or programs_in(folder / "bin")
    desk.mkdir()
    home.mkdir()
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(home),
        "COLUMNS": "80",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONUNBUFFERED": "1",  # what is said comes in the order in which it is said, as on a terminal
        **{name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "TMPDIR")},
    }

    def block(found: re.Match[str]) -> str:
        language, title, body = found.groups()
        if title:
            place = desk / title
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(body)
        if language != "console":
            return found[0]
        return f"```console\n{''.join(_typed(body, desk, environment))}```"

    if page in BESIDE_THE_EXAMPLE:
        shutil.copytree(ROOT / "cookbooks_example", desk / "cookbooks_example")
        _printed(BESIDE_THE_EXAMPLE[page], desk, environment)
    return _BLOCK.sub(block, page.read_text("utf-8"))


def _typed(body: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    for line in body.splitlines():
        if line.startswith("$ "):
            yield f"{line}\n{_printed(line[2:], folder, environment)}"


_OF_A_SHELL = re.compile(r"[|;&<>$`*?(){}\[\]\\]|\s[~#]")
"""The signs for which a command needs a shell."""


def _printed(command: str, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints; a line of `nodeattrs` alone runs in this process, where the program is this checkout's."""
    is_ours = environment["PATH"].startswith(f"{folder.parent / 'bin'}:")
    if is_ours and command.startswith("nodeattrs ") and not _OF_A_SHELL.search(command):
        return _printed_here(shlex.split(command)[1:], folder, environment)
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, "text": True}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, check=False, **both).stdout


def _printed_here(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    printed = io.StringIO()
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        main(words)
    return printed.getvalue()


def programs_in(folder: Path) -> Path:
    """A folder with programs that run this checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in {"nodeattrs": "-m nodeattrs ", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        (folder / name).chmod(0o755)
    return folder


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as place:
            page.write_text(followed(page, Path(place)), "utf-8")
