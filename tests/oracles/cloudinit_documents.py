"""python -m tests.oracles.cloudinit_documents --repositories DIR

Reads the public documents of `tests/samples/cloudinit_documents.tsv` again: each machine has to have the same user-data
on the same line. DIR has a bare or plain repository for each row, called owner+name. Repositories that are not there
are passed over, and counted. Ends with `N passed, M failed`.

The table says for each document who judged its user-data when the row was written.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from nodeattrs.cloudinit import given_in
from nodeattrs.dialects.cloudinit.unpacking import Blob

TABLE = Path(__file__).parent.parent / "samples" / "cloudinit_documents.tsv"


class Row(NamedTuple):
    """A public document: where it is, what is read of it, and who says so."""

    form: str
    repository: str
    commit: str
    path: str
    machines: str
    judge: str


def rows() -> list[Row]:
    """The rows of the table, in its order."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def read(text: str, path: str) -> str:
    """Each machine with user-data: its name, the line, and the beginning of the SHA-256 of the text."""
    found = []
    for one in given_in(Blob(text, path)):
        texts = [blob.content for blob in one.user]
        data = b"".join(one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass") for one in texts)
        digest = hashlib.sha256(data).hexdigest()
        found.append(f"{one.address}:{one.origin.line}:{digest[:12] if one.user else 'not read'}")
    return " ".join(found)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit_documents", description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True)
    folder = parser.parse_args(arguments).repositories
    passed = failed = missing = 0
    for row in rows():
        name = folder / row.repository.replace("/", "+")
        places = [name / inner for inner in ("repo", "repo/.git", ".git", "") if (name / inner / "HEAD").is_file()]
        done = places and subprocess.run(
            ["git", f"--git-dir={places[0]}", "show", f"{row.commit}:{row.path}"], check=False, capture_output=True
        )
        if not done or done.returncode:
            missing += 1
            continue
        now = read(done.stdout.decode("utf-8", "replace"), row.path)
        passed, failed = passed + (now == row.machines), failed + (now != row.machines)
        if now != row.machines:
            print(f"{row.repository} {row.path}: {now}, and the table has {row.machines}")
    print(f"{missing} documents are not there", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
