"""python -m tests.silence [DIALECT...] [--count N] [--seed S] [--verbs V]

Makes N trees of each dialect with one place that cannot be read, and asks V questions about each. Prints each question
that got a certain answer which the place could change, or that did not name the place; then how many answers about a
place that cannot matter were certain. The last line is `N passed, M failed`; exit code 0 only if none failed.
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.cli import main as nodeattrs
from tests.silence.trees import MAKERS, Case, Files
from tests.silence.verbs import edited, is_about_one_key, lines_of, values_of, words_of

ALSO = {"chef": "nodes", "files": "folds", "cloudinit": "cloud-init"}
"""Further names of dialects."""

CERTAIN = 0.9
"""The least share of answers about a place that cannot matter which are certain."""


NO_ANSWER = (1, 2)
"""Exit codes of a command that could not answer."""


class Answer(NamedTuple):
    """What a verb gives: its exit code, its values where it has any, and all that it printed."""

    code: int
    values: Any
    text: str


class Asked(NamedTuple):
    """A question that was asked, whether the answer was certain, and what is wrong about it; "" for nothing."""

    line: str
    is_certain: bool
    fault: str


def asked(files: Files, case: Case, line: str, *more: str) -> Answer:
    """Write a tree and ask a question in it. A folder beside it has the tree with the edit."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder, "here")
        written(here, files)
        if "../edited" in line:
            written(Path(folder, "edited"), edited(files, case))
        answer = Answer(0, None, "")
        before = os.getcwd()
        os.chdir(here)
        try:
            for words in words_of(line, case):
                answer = _told([*words, *(more if words[0] in _MAY_RUN else ()), "--format", "json"])
        finally:
            os.chdir(before)
    data = json.loads(answer.values) if answer.values.strip() else None
    return answer._replace(values=values_of(line, data, case))


_MAY_RUN = ("why", "blame", "where", "check")
"""Commands that run code of the repository only with --run-code."""


def _told(words: list[str]) -> Answer:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = nodeattrs(words)
    return Answer(code, out.getvalue(), out.getvalue() + errors.getvalue())


def written(folder: Path, files: Files) -> None:
    """Write a tree."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def faults(case: Case, lines: Sequence[str]) -> Iterator[Asked]:
    """Ask a case some questions."""
    for line in lines:
        found = asked(case.hidden, case, line)
        if found.code == 5:
            yield Asked(line, False, "" if case.place in found.text else f"exit 5 does not name {case.place}")
            continue
        is_error = found.code in NO_ANSWER and found.values is None
        if case.place in found.text and ("check" in line or is_error):
            yield Asked(line, False, "")  # an error, or a finding, that names the place
            continue
        readable = [asked(files, case, line, "--run-code") for files in case.shown]
        same = all((one.values, one.code) == (found.values, found.code) for one in readable)
        told = " or ".join(f"exit {one.code} with {one.values}" for one in readable)
        yield Asked(line, True, "" if same else f"exit {found.code} with {found.values}, and not {told}")


def main(argv: list[str] | None = None) -> int:
    """Ask them all."""
    parser = argparse.ArgumentParser(prog="python -m tests.silence", description="Does an answer say what it lacks?")
    parser.add_argument("dialects", metavar="DIALECT", nargs="*", help=f"of {', '.join(MAKERS)} (default: all)")
    parser.add_argument("--count", type=int, default=50, help="trees of each dialect (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbs", type=int, default=3, help="questions for each tree, drawn of all (default: 3)")
    options = parser.parse_args(argv)
    passed = failed = 0
    for dialect in [ALSO.get(one, one) for one in options.dialects] or MAKERS:
        if dialect not in MAKERS:
            parser.error(f"there is no dialect {dialect}: {', '.join(MAKERS)}")
        harmless = certain = 0
        for number in range(options.count):
            rand = random.Random(f"{dialect} {options.seed} {number}")
            case = MAKERS[dialect](rand)
            lines = lines_of(case)
            for one in faults(case, rand.sample(lines, min(options.verbs, len(lines)))):
                passed, failed = passed + (not one.fault), failed + bool(one.fault)
                if one.fault:
                    print(f"{dialect} --seed {options.seed}, case {number}: {one.line}: {one.fault}")
                if not case.can_set and is_about_one_key(one.line, case):
                    harmless, certain = harmless + 1, certain + one.is_certain
        if harmless:
            print(f"{dialect}: {certain} of {harmless} answers about a place that cannot matter are certain")
            if certain < CERTAIN * harmless:
                failed += 1
                print(f"{dialect} --seed {options.seed}: fewer than {CERTAIN:.0%} of them")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
