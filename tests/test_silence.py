"""No certain answer without what may change it; `python -m tests.silence` asks more of the same."""

from __future__ import annotations

import random

import pytest

from tests.effort import examples
from tests.silence import __main__ as silence
from tests.silence.trees import MAKERS, Case
from tests.silence.verbs import lines_of, words_of


@pytest.mark.parametrize("dialect", MAKERS)
def test_each_verb_names_the_place_or_answers_as_both_readable_trees_do(
    dialect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert silence.main([dialect, "--count", str(examples(8)), "--seed", "3"]) == 0, capsys.readouterr().out


_WHY = "why {key} {on} --dialect {dialect}"


def _case() -> Case:
    return next(case for seed in range(99) if (case := MAKERS["folds"](random.Random(seed))).can_set)


def test_a_certain_answer_that_the_place_can_change_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda *given: real(*given)._replace(code=0))

    assert any("and not" in one.fault for one in silence.faults(case, [_WHY]))


def test_an_answer_that_does_not_name_the_place_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda *given: real(*given)._replace(text=""))

    assert any("does not name" in one.fault for one in silence.faults(case, [_WHY]))


def test_questions_of_all_commands_are_asked() -> None:
    """Each verb of every dialect is among them."""
    for maker in MAKERS.values():
        case = maker(random.Random(1))
        words = {words[0] for line in lines_of(case) for words in words_of(line, case)}

        assert {"why", "blame", "where", "impact", "what-if", "check"} <= words
