"""Cookbook versions and constraints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.errors import BadArgument
from nodeattrs.project.versions import Constraint, Version

numbers = st.integers(0, 2)
# Few numbers: equal versions and neighbours are the rule, not the accident.
versions = st.builds(Version, numbers, numbers, numbers)


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused"),
    [
        ("1.2", ["1.2", "1.2.0"], ["1.2.1", "1.1.9"]),
        ("= 1.2.3", ["1.2.3"], ["1.2.4", "1.2"]),
        ("> 1.2", ["1.2.1", "2.0"], ["1.2", "1.1"]),
        (">= 1.2", ["1.2", "10.0"], ["1.1.99"]),
        ("< 1.10", ["1.9", "0.0"], ["1.10", "2.0"]),
        ("<= 1.2", ["1.2", "1.1"], ["1.2.1"]),
        ("~> 1.2", ["1.2", "1.9.9"], ["1.1", "2.0"]),
        ("~> 1.2.3", ["1.2.3", "1.2.9"], ["1.2.2", "1.3"]),
        ("~>1.2", ["1.3"], ["2.0"]),
        ("", ["0.0", "9.9"], []),
    ],
)
def test_version_constraints_at_their_edges(constraint, allowed, refused):
    """Every operator, at its edges."""
    asked = Constraint.parse(constraint)

    assert [version for version in allowed + refused if asked.allows(Version.parse(version))] == allowed


@pytest.mark.parametrize("text", ["", "1", "1.", "1.2.3.4", "a.b", "1.2-rc1", " 1.2", "1.-2", "1.2\n", "9" * 20 + ".0"])
def test_a_version_is_two_or_three_numbers(text):
    """Anything else is refused, with the way out."""
    with pytest.raises(BadArgument, match="two or three numbers"):
        Version.parse(text)


@pytest.mark.parametrize("text", ["~> 1", "=> 1.0", "1.2, 1.3", "latest", ">=", "!= 1.2", "~> 1.2.3.4"])
def test_a_constraint_is_an_operator_and_a_version(text):
    """Anything else is refused, and what was written is in the message."""
    with pytest.raises(BadArgument) as caught:
        Constraint.parse(text)

    assert repr(text) in str(caught.value)


@given(versions, versions)
def test_each_operator_says_what_the_order_says(asked, found):
    """The six operators are one order, read in different ways."""

    def allows(operator: str) -> bool:
        return Constraint.parse(f"{operator} {asked}").allows(found)

    assert allows(">=") == (allows(">") or allows("="))
    assert allows("<=") == (not allows(">"))
    assert allows("<") == (not allows(">="))
    assert allows("~>") == (allows(">=") and (found.major, found.minor) == (asked.major, asked.minor))


@given(versions)
def test_a_version_and_its_text_are_the_same(version):
    """Printing and parsing are each other's reverse."""
    assert Version.parse(str(version)) == version
    assert str(Constraint.parse(f"~> {version}")) == f"~> {version}"
