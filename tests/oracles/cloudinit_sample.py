"""python -m tests.oracles.cloudinit_sample --schema DIR --repository DIR [--repository DIR ...] [--seed N] [--count N]

Draws a sample of what `cloud-config check --each` finds in public repositories: one row a finding, to be judged by
somebody who looks at the file. `tests/samples/cloud_config.tsv` is one that was.

A repository is a bare one, `owner+name/repo` or such; of it are read the files that begin like user-data or are a
message, and in its documentation and manifests the blocks that begin like a cloud-config.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nodeattrs.cloudinit import Schema, merge, schema_file
from nodeattrs.dialects.cloudinit.reports import findings_of
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.findings import finding_of
from tests.oracles.cloudinit_schema import blocks_in

_BEGINS = re.compile(
    r"\s*(?:#\s?cloud-(?:config|boothook)|## template: jinja\s*#cloud|(?:MIME-Version|Content-Type): )", re.I
)
_READ = ("md", "rst", "yaml", "yml", "txt", "mdx")
_MARKS = "#cloud-config|#cloud-boothook|# cloud-config|^MIME-Version: 1.0|## template: jinja"


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", f"--git-dir={repository}", *words], check=False, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def texts(repository: Path) -> Iterator[tuple[str, int, str]]:
    """The path, the line on which it begins, and the text."""
    for row in _git(repository, "grep", "-lIE", _MARKS, "HEAD").splitlines():
        path = row.removeprefix("HEAD:")
        text = _git(repository, "show", f"HEAD:{path}")
        if _BEGINS.match(text):
            yield path, 1, text
        elif path.rpartition(".")[2] in _READ:
            yield from ((path, line, block) for line, block in blocks_in(text, only_whole=True))


def found_in(repository: Path, schema: Schema) -> Iterator[tuple[str, str, str, str, str]]:
    """The repository, its commit, file and line, the code, and the sentence."""
    name = (repository.parent if repository.name == "repo" else repository).name.replace("+", "/")
    commit = _git(repository, "rev-parse", "HEAD").strip()
    for path, first, text in texts(repository):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "user-data")
            file.write_text(text, "utf-8", "surrogateescape")
            try:
                found = list(findings_of(merge([file]), schema))
            except NodeattrsError as error:
                found = [finding_of(error)]
        for one in found:
            line = (one.line or 1) + first - 1
            yield name, commit, f"{path}:{line}", one.code, f"{one.severity}: {one.message}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit_sample", description=__doc__)
    parser.add_argument("--schema", required=True, help="a folder of cloud-init's source")
    parser.add_argument("--repository", type=Path, action="append", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args(arguments)
    schema = Schema(schema_file(asked.schema))
    rows = [row for repository in asked.repository for row in found_in(repository, schema)]
    drawn = random.Random(asked.seed).sample(rows, min(asked.count, len(rows)))
    print("repository\tcommit\tplace\tcode\tfinding\tverdict\twhy")
    for row in sorted(drawn):
        print("\t".join([*(cell.replace("\t", " ").replace("\n", " ") for cell in row), "", ""]))
    print(f"{len(drawn)} of {len(rows)} findings", file=sys.stderr)
    return 0 if drawn else 1


if __name__ == "__main__":
    sys.exit(main())
