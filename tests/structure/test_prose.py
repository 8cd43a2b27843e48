"""The old voice only goes: no phrase of `prose.toml` is written more often than its budget says."""

from __future__ import annotations

import pytest

from tests.structure.prose import (
    AREAS,
    BUDGETS,
    LONG,
    Text,
    budgets,
    counts,
    differences,
    long_sentences,
    places,
    texts,
    texts_in,
    written,
)

SOURCE = '''"""Whoever reads this."""

def f() -> str:
    # a comment, and what it is that
    # somebody may write
    return "nobody" + f"that of {whoever}"  # of which

x = """
whoever"""
'''


def test_every_phrase_is_as_rare_as_its_budget_says():
    """A message has the newest places of an excess; where a count is lower, the number to write."""
    budget = budgets()

    assert [] == list(differences(budget, counts(budget, texts())))


def test_the_budgets_are_in_the_form_that_the_command_writes():
    budget = budgets()

    assert all(tuple(areas) == AREAS for areas in budget.values())
    assert written(budget) == BUDGETS.read_text("utf-8")


@pytest.mark.parametrize(
    ("phrase", "comments", "messages"),
    [
        ("whoever", 1, 2),
        ("nobody", 0, 1),
        ("that of", 0, 1),
        ("of which", 1, 0),
        ("somebody", 1, 0),
        ("some", 0, 0),
        ("return", 0, 0),
    ],
)
def test_words_are_counted_in_docstrings_comments_and_messages_and_not_in_code(
    phrase: str, comments: int, messages: int
):
    found = counts([phrase], texts_in(SOURCE, "a.py"))[phrase]

    assert {"readme": 0, "tutorials": 0, "docs": 0, "comments": comments, "messages": messages} == found


def test_a_phrase_may_cross_the_end_of_a_line_and_a_sign_ends_it():
    among = [Text("docs", "a.md", 3, "First.\nIt is\nthat one, and it is, that")]

    assert 1 == counts(["it is that"], among)["it is that"]["docs"]
    assert [("a.md", 4)] == list(places("it is that", "docs", among))


def test_a_place_has_the_line_of_the_phrase():
    found = list(places("whoever", "messages", texts_in(SOURCE, "a.py")))

    assert [("a.py", 6), ("a.py", 9)] == found


def test_a_lower_count_asks_for_a_lower_budget_and_a_higher_one_for_other_words():
    budget = {"stands": dict.fromkeys(AREAS, 2)}
    found = {"stands": {"readme": 2, "docs": 1, "comments": 3, "messages": 2}}
    lower, higher = differences(budget, found)

    assert '"stands" in docs: lower the budget to 1 (python -m tests.structure.prose --lower)' == lower
    assert higher.startswith('"stands" in comments: 3 times, and the budget is 2; write it plainly: nodeattrs/')


@pytest.mark.parametrize("phrase", ["whoever", "somebody", "nobody", "of no", "it as data", LONG])
def test_the_first_pages_of_a_reader_have_none_of_the_old_voice(phrase: str):
    first = ("readme", "tutorials", "messages")

    assert dict.fromkeys(first, 0) == {area: budgets()[phrase][area] for area in first}


def test_a_long_sentence_is_found_and_code_tables_and_links_do_not_count():
    words = " ".join(["word"] * 31)
    page = f"# {words}\n\n| {words} |\n\n```\n{words}\n```\n\nShort. [a]({'x' * 99}) b.\n\n- {words}.\n- Short.\n"

    assert [f"- {words}."] == list(long_sentences(page))
