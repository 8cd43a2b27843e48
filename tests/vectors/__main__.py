"""python -m tests.vectors KIND FILE [--split]

Prints one line for each case that fails and then "N passed, M failed".
Exit code 0 if none failed, 1 if some did, 2 if the question could not be asked.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from pathlib import Path

from tests.vectors.cases import HERE, Judge, run

KINDS: dict[str, dict[str, Judge]] = {
    kind: judges
    for module in pkgutil.iter_modules([str(HERE)])
    if module.name != "__main__"
    for kind, judges in getattr(pkgutil.resolve_name(f"tests.vectors.{module.name}"), "KINDS", {}).items()
}
"""Of every module here that has kinds."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.vectors", description="Run the vectors of one file.")
    parser.add_argument("kind", metavar="KIND", help=", ".join(sorted(KINDS)))
    parser.add_argument("file", metavar="FILE", type=Path, help="a file of cases, one JSON object a line")
    parser.add_argument(
        "--split", action="store_true", help="chef-attributes: once for each point where the speaker may change"
    )
    asked = parser.parse_args(arguments)
    if asked.kind not in KINDS:
        parser.error(f"unknown kind {asked.kind!r}; known: {', '.join(sorted(KINDS))}")
    if asked.split and "split" not in KINDS[asked.kind]:
        parser.error(f"{asked.kind} cannot be split")
    if not asked.file.is_file():
        parser.error(f"no file {asked.file}")

    passed, failures = run(KINDS[asked.kind]["split" if asked.split else "whole"], asked.file)
    for failure in failures:
        print(failure)
    if "log" in KINDS[asked.kind]:
        agreeing, others = run(KINDS[asked.kind]["log"], asked.file)
        print(f"log: {agreeing} of {agreeing + len(others)} agree")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
