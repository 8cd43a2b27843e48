"""What a case is, where the files lie, and how a file of them is run.

A case is one JSON object a line, with an `id`. A judge is asked about one case and
says in words what was wrong, once for each way of running it; an empty answer is a pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class Case(dict[str, Any]):
    """What is asked, and what is expected.

    file: where it stands; what it names by a file name lies beside
    """

    file: Path


Judge = Callable[[Case], Iterable[str]]


def cases_of(file: Path) -> Iterator[Case]:
    """The cases of a file, in its order. Key order inside a case is kept: results are judged by it."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            case = Case(json.loads(line))
            case.file = file
            yield case


def run(judge: Judge, file: Path, every: int = 1) -> tuple[int, list[str]]:
    """How many cases of *file* passed, and a line for each that did not. every: 4 runs each fourth case only"""
    passed, failures = 0, []
    for case in islice(cases_of(file), 0, None, every):
        faults = list(_faults(judge, case))
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            failures.append(f"{case['id']}: {faults[0]}{more}")
        else:
            passed += 1
    return passed, failures


def _faults(judge: Judge, case: Case) -> Iterator[str]:
    try:
        yield from judge(case)
    except Exception as error:  # one broken case must not hide the others
        yield f"raised {type(error).__name__}: {error}".replace("\n", " ")
