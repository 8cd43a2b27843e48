"""No certain answer without what may change it; `python -m tests.silence` asks more of the same."""

from __future__ import annotations

import random

import pytest

from tests.effort import examples
from tests.silence import __main__ as silence
from tests.silence.case import Case
from tests.silence.trees import MAKERS, drawn
from tests.silence.verbs import lines_of, words_of


@pytest.mark.parametrize("dialect", MAKERS)
def test_each_verb_names_the_place_or_answers_as_both_readable_trees_do(
    dialect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert silence.main([dialect, "--count", str(examples(8, fewest=3)), "--seed", "3"]) == 0, capsys.readouterr().out


_WHY = "why {key} {on} --dialect {dialect}"


def _case(dialect: str = "folds", kind: str = "encrypted") -> Case:
    made = (MAKERS[dialect][kind](random.Random(seed)) for seed in range(99))
    return next(case for case in made if case.can_set)


def test_a_certain_answer_that_the_place_can_change_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    monkeypatch.setattr(silence, "asked", lambda *given: real(*given)._replace(code=0))

    assert any("and not" in one.fault for one in silence.faults(_case(), [_WHY]))


def test_an_answer_that_does_not_name_the_place_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = silence.asked
    monkeypatch.setattr(silence, "asked", lambda *given: real(*given)._replace(text=""))

    assert any("does not name" in one.fault for one in silence.faults(_case(), [_WHY]))


def test_an_error_that_names_the_place_is_a_fault_where_the_original_does_not_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda *given: silence.Answer(1, None, case.place))

    assert [one.fault for one in silence.faults(case._replace(fails=True), [_WHY])] == [""]
    monkeypatch.setattr(silence, "asked", lambda files, *_: silence.Answer(int(files is case.hidden), None, case.place))
    assert all(one.fault for one in silence.faults(case, [_WHY]))


def test_a_finding_that_a_readable_tree_does_not_have_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    case, found = _case(), [("warning", "NA0422", "a", "1", "x")]
    monkeypatch.setattr(
        silence, "asked", lambda files, *_: silence.Answer(1, found if files is case.hidden else [], case.place)
    )

    assert all("not certain" in one.fault for one in silence.faults(case, ["check"]))


def test_certain_in_json_has_to_agree_with_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    case = _case()
    monkeypatch.setattr(silence, "asked", lambda *given: silence.Answer(5, None, case.place, certain=True))

    assert all("certain is true" in one.fault for one in silence.faults(case, [_WHY]))


@pytest.mark.parametrize("dialect", MAKERS)
def test_a_case_of_each_kind_is_made_and_questions_of_all_commands_are_asked(dialect: str) -> None:
    """Each kind of place can set the key in some case, or cannot in some."""
    for kind, maker in MAKERS[dialect].items():
        cases = [maker(random.Random(seed)) for seed in range(30)]
        words = {words[0] for case in cases for line in lines_of(case) for words in words_of(line, case)}

        assert any(case.can_set for case in cases), kind
        assert words, kind
    drawn_kinds = {drawn(dialect, random.Random(seed))[0] for seed in range(200)}
    assert drawn_kinds == {*MAKERS[dialect]}
