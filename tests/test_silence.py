"""No certain answer without what may change it; `python -m tests.silence` asks more of the same."""

from __future__ import annotations

import random

import pytest

from tests.effort import examples
from tests.silence import __main__ as silence
from tests.silence.trees import MAKERS, Case


@pytest.mark.parametrize("dialect", MAKERS)
def test_each_verb_names_the_place_or_answers_as_both_readable_trees_do(
    dialect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert silence.main([dialect, "--count", str(examples(8)), "--seed", "3"]) == 0, capsys.readouterr().out


def _case() -> Case:
    return next(case for seed in range(99) if (case := MAKERS["folds"](random.Random(seed))).can_set)


def test_a_certain_answer_that_the_place_can_change_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda files, words: real(files, words)._replace(code=0))

    assert any("and not" in fault for _, fault in silence.faults(case))


def test_an_answer_that_does_not_name_the_place_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda files, words: real(files, words)._replace(text=""))

    assert any("does not name" in fault for _, fault in silence.faults(case))
