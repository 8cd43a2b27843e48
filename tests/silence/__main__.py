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
from tests.silence.case import LOCKED, OUTSIDE, Case, Files
from tests.silence.powers import given_up
from tests.silence.trees import MAKERS, drawn
from tests.silence.verbs import edited, is_about_one_key, lines_of, values_of, words_of

ALSO = {"chef": "nodes", "files": "folds", "cloudinit": "cloud-init"}
"""Further names of dialects."""

CERTAIN = 0.9
"""The least share of answers about a place that cannot matter which are certain."""


FAILED, UNKNOWN = 1, 5
"""Exit codes of a command that could not answer, or not with certainty."""


class Answer(NamedTuple):
    """What a verb gives: its exit code, its values where it has any, and all that it printed.

    certain: the field of its JSON; None where it has none
    is_of_run: whether the run before the question failed
    """

    code: int
    values: Any
    text: str
    certain: bool | None = None
    is_of_run: bool = False


class Asked(NamedTuple):
    """A question that was asked, whether the answer was certain, and what is wrong about it; "" for nothing."""

    line: str
    is_certain: bool
    fault: str


def asked(files: Files, case: Case, line: str, *more: str) -> Answer:
    """Write a tree and ask a question in it. A folder beside it has the tree with the edit."""
    with tempfile.TemporaryDirectory() as folder, given_up():
        here = Path(folder, "here")
        written(here, files)
        if "../edited" in line:
            written(Path(folder, "edited"), edited(files, case))
        answer = Answer(0, "", "")
        before = os.getcwd()
        os.chdir(here)
        try:
            for words in words_of(line, case):
                if answer.code == FAILED:  # nothing was saved that could be asked; a run keeps its exit codes
                    return answer._replace(values=None, is_of_run=True)
                answer = _told([*words, *(more if words[0] in _MAY_RUN else ()), "--format", "json"])
        finally:
            os.chdir(before)
    data = json.loads(answer.values) if answer.values.strip() else None
    certain = data.get("certain") if isinstance(data, dict) else None
    return answer._replace(values=values_of(line, data, case), certain=certain)


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
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith(OUTSIDE):
            target = folder.parent / "outside" / folder.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text.removeprefix(OUTSIDE))
            file.symlink_to(target)
            continue
        file.write_text(text)
        if text == LOCKED:
            file.chmod(0)


def faults(case: Case, lines: Sequence[str]) -> Iterator[Asked]:
    """Ask a case some questions."""
    for line in lines:
        found = asked(case.hidden, case, line)
        if found.code == UNKNOWN:
            yield Asked(line, False, _of_unknown(case, found))
            continue
        if (case.fails or found.is_of_run) and found.code == FAILED and case.place in found.text:
            yield Asked(line, False, "")  # so does the original
            continue
        readable = [asked(files, case, line, "--run-code") for files in case.shown]
        fault = _of_certain(case, line, found, readable)
        yield Asked(line, True, fault)


def _of_unknown(case: Case, found: Answer) -> str:
    if case.place not in found.text:
        return f"exit 5 does not name {case.place}: {found.text[-300:]}"
    return "exit 5, and certain is true" if found.certain else ""


def _of_certain(case: Case, line: str, found: Answer, readable: Sequence[Answer]) -> str:
    """What is wrong about an answer without exit code 5: it has to be the one of both readable trees."""
    if _is_check(line) and found.code == FAILED and found.values is not None:
        return _of_findings(case, found, readable)
    if any((one.values, one.code) != (found.values, found.code) for one in readable):
        told = " or ".join(f"exit {one.code} with {one.values}" for one in readable)
        said = f": {found.text[-300:]}" if found.code == FAILED else ""
        return f"exit {found.code} with {found.values}, and not {told}{said}"
    return "exit 0, and certain is false" if found.code == 0 and found.certain is False else ""


def _of_findings(case: Case, found: Answer, readable: Sequence[Answer]) -> str:
    """What is wrong about findings that fail a check: each has to be one of both readable trees."""
    alike = [one for one in found.values if all(one in (other.values or ()) for other in readable)]
    doubtful = [one for one in found.values if one not in alike and one[0] != "note"]
    return f"exit 1, and not certain: {doubtful}" if doubtful else ""


def _is_check(line: str) -> bool:
    return "check" in line.split()


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
            kind, case = drawn(dialect, rand)
            lines = lines_of(case)
            for one in faults(case, rand.sample(lines, min(options.verbs, len(lines)))):
                passed, failed = passed + (not one.fault), failed + bool(one.fault)
                if one.fault:
                    print(f"{dialect} --seed {options.seed}, case {number}, {kind}: {one.line}: {one.fault}")
                if not (case.can_set or case.fails) and is_about_one_key(one.line, case):
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
