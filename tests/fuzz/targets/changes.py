"""Both sides of a change."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.reports.screen import Screen
from nodeattrs.verbs.impact import ImpactOptions, impact
from nodeattrs.verbs.impact_report import ImpactReport
from tests.fuzz.mutation import mutated
from tests.fuzz.shapes import as_yaml
from tests.fuzz.target import Target, from_shape, json_of
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_TREE = {"a": [{"b": 1, "c": "x"}, 1], "b": ["x", [1, 2]], "c": [None, True]}
_TABLE = '[fold.one]\nfiles = ["a.yaml", "b.yaml"]\n[fold.two]\nfiles = ["b.yaml"]\n'
_WORDS = ("\n", "a: 1\n", "- ", "'", "&x ", "*x", "\0", "\r\n", "<<: ", "!t ")


def _grown(chance: random.Random) -> str:
    grow = from_shape(_TREE, [{"a": {"b": 1}, "c": [1]}], as_yaml)
    texts = [grow(chance) for _ in range(2)]
    after = [mutated(text, chance, _WORDS) if chance.random() < 0.7 else text for text in texts]
    return json.dumps([texts, after])


def _side(name: str, texts: list[str]) -> Side:
    shutil.rmtree(name, ignore_errors=True)
    written(f"{name}/nodeattrs.toml", _TABLE)
    for file, text in zip(("a.yaml", "b.yaml"), texts, strict=False):
        written(f"{name}/{file}", text)
    return folder_side(Path(name))


def _compared(text: str) -> ImpactReport:
    before, after = json_of(text)
    shutil.rmtree("private", ignore_errors=True)
    Path("private").mkdir()
    return ImpactReport(
        impact(_side("b", before), _side("a", after), Request(), ImpactOptions(Path("private"), jobs=1))
    )


def _shown(report: ImpactReport) -> None:
    assert all(group.lines or group.unsteady or not group.tried for group in report.found.groups)
    json.dumps(report.to_dict())
    "\n".join([*report.lines(Screen()), report.markdown(), *(one.text() for one in report.findings())])


TARGETS = (Target("change", _grown, _compared, _shown),)
