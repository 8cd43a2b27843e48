"""python -m tests.silence [DIALECT...] [--count N] [--seed S]

Makes N trees of each dialect with one place that cannot be read, and asks every verb. Prints each verb that gave a
certain answer which the place could change, or that did not name the place; then how many answers about a place that
cannot matter were certain. The last line is `N passed, M failed`; exit code 0 only if none failed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.cli import main as nodeattrs
from tests.silence.trees import MAKERS, Case, Files

ALSO = {"chef": "nodes", "files": "folds", "cloudinit": "cloud-init"}
"""Further names of dialects."""

CERTAIN = 0.9
"""The least share of answers about a place that cannot matter which are certain."""


class Answer(NamedTuple):
    """What a verb gives: its exit code, its values where it has any, and all that it printed."""

    code: int
    values: Any
    text: str


def asked(files: Files, words: list[str]) -> Answer:
    """Write a tree and ask a command in it."""
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), files)
        out, errors = io.StringIO(), io.StringIO()
        before = os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                code = nodeattrs([*words, "--format", "json"])
        finally:
            os.chdir(before)
    data = json.loads(out.getvalue()) if out.getvalue().strip() else {}
    return Answer(code, _values(data), out.getvalue() + errors.getvalue())


def written(folder: Path, files: Files) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _values(data: dict[str, Any]) -> Any:
    """The values in an answer of `why` or `blame`, without places."""
    if "answers" not in data:
        return None
    return [one.get("value", [(row["path"], row["value"]) for row in one.get("values", ())]) for one in data["answers"]]


def faults(case: Case) -> Iterator[tuple[bool, str]]:
    """For each verb whether its answer was certain, and what is wrong about it; "" for nothing."""
    subject = [f"--on={case.subject}"] if case.subject else []
    for words in (["why", case.key, *subject], ["blame", *([case.subject] if case.subject else [])]):
        words = [*words, "--dialect", case.dialect, *case.options]
        found = asked(case.hidden, words)
        if found.code == 5:
            fault = "" if case.place in found.text else f"does not name {case.place}"
            yield False, fault and f"{' '.join(words)}: {fault}"
            continue
        readable = [asked(files, [*words, "--run-code"]) for files in case.shown]
        same = all(one.values == found.values for one in readable)
        yield (
            True,
            ""
            if same
            else f"{' '.join(words)}: exit {found.code} with {found.values}, and not "
            + " or ".join(str(one.values) for one in readable),
        )


def main(argv: list[str] | None = None) -> int:
    """Ask them all."""
    parser = argparse.ArgumentParser(prog="python -m tests.silence", description="Does an answer say what it lacks?")
    parser.add_argument("dialects", metavar="DIALECT", nargs="*", help=f"of {', '.join(MAKERS)} (default: all)")
    parser.add_argument("--count", type=int, default=50, help="trees of each dialect (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    passed = failed = 0
    for dialect in [ALSO.get(one, one) for one in options.dialects] or MAKERS:
        if dialect not in MAKERS:
            parser.error(f"there is no dialect {dialect}: {', '.join(MAKERS)}")
        harmless = certain = 0
        for number in range(options.count):
            case = MAKERS[dialect](random.Random(f"{dialect} {options.seed} {number}"))
            first = True
            for is_certain, fault in faults(case):
                passed, failed = passed + (not fault), failed + bool(fault)
                if fault:
                    print(f"{dialect} --seed {options.seed}, case {number}: {fault}")
                if first and not case.can_set:  # `why` alone asks one key
                    harmless, certain = harmless + 1, certain + is_certain
                first = False
        if harmless:
            print(f"{dialect}: {certain} of {harmless} answers about a place that cannot matter are certain")
            if certain < CERTAIN * harmless:
                failed += 1
                print(f"{dialect} --seed {options.seed}: fewer than {CERTAIN:.0%} of them")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
