"""What a query asks for: terms, and how they are joined. Knows no syntax and no index.

Texts are compared without regard to case by casefolding both sides, so that an index may keep
the folded text and look for a part of it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

_WORD = r"[A-Za-z0-9@._':-]"  # Chef's own: letters, digits and @ . _ ' : -
_NO_WORD = r"[^A-Za-z0-9@._':-]"
_WORDS = re.compile(f"{_WORD}+")


class Pattern:
    """Text with wildcards: a run of whole words to look for, or the name of a field.

    parts:  plain text, or "*" and "?" as themselves in `Pattern.ANY` and `Pattern.ONE`; between
            the words of a phrase stands `Pattern.GAP`
    phrase: it stood in quotation marks, so it is no name as it is
    """

    ANY, ONE, GAP = object(), object(), object()
    _SPELLED: ClassVar = {ONE: _WORD, GAP: f"{_NO_WORD}+"}

    def __init__(self, parts: tuple[Any, ...], phrase: bool = False) -> None:
        self.parts = parts
        self.plain = "".join(parts) if not phrase and all(isinstance(part, str) for part in parts) else None
        folded = [part.casefold() if isinstance(part, str) else part for part in parts]
        self.longest = max((part for part in folded if isinstance(part, str)), key=len, default="")
        """A part of every folded text that matches, for an index to look for first."""
        whole = all(part is Pattern.GAP or isinstance(part, str) for part in parts)
        self.word = self.longest if whole and _WORDS.fullmatch(self.longest) else ""
        """As much as that, where it is a whole word of each of them."""
        self._folded = folded

    @cached_property
    def _run(self) -> re.Pattern[str]:
        return re.compile(f"(?:^|{_NO_WORD}){self._spelled(self._folded)}(?:$|{_NO_WORD})")

    def _spelled(self, parts: list[Any]) -> str:
        runs = [""]
        for part in parts:
            if part is Pattern.ANY:
                runs.append("")
            else:
                runs[-1] += re.escape(part) if isinstance(part, str) else self._SPELLED[part]
        if len(runs) == 1:
            return runs[0]
        # What stands between two stars is taken where it comes first, and that is final: no
        # number of stars makes a search slow.
        first, *between, last = runs
        return first + "".join(f"(?>{_WORD}*?{run})" for run in between) + f"{_WORD}*{last}"

    def in_text(self, folded: str) -> bool:
        """Whether the casefolded text is this, or has it as a run of whole words."""
        return self.longest in folded and self._run.search(folded) is not None

    def is_name(self, name: str) -> bool:
        """Whether a field is meant: case and all, or as a value is where there is a wildcard."""
        return name == self.plain if self.plain is not None else self.in_text(name.casefold())

    @property
    def is_anything(self) -> bool:
        """A star and nothing else."""
        return self.parts == (Pattern.ANY,)


class Range(NamedTuple):
    """Texts between two ends, compared as texts; None is an open end."""

    low: str | None
    high: str | None
    with_low: bool = True
    with_high: bool = True

    @property
    def exact(self) -> str | None:
        """The only text that lies between, where there is just one."""
        return self.low if self.low == self.high and self.with_low and self.with_high else None

    def holds(self, text: str) -> bool:
        """Whether *text* lies between."""
        if self.low is not None and (text < self.low or (text == self.low and not self.with_low)):
            return False
        return self.high is None or text < self.high or (text == self.high and self.with_high)


class Term(NamedTuple):
    """A field has a value: Chef's `field:value`."""

    field: Pattern
    value: Pattern | Range


class Own(NamedTuple):
    """A path has a value: our `path=80`. Texts are texts here and numbers numbers.

    path:  the steps as text; places in lists are no steps
    holds: judges a value, given its kind (see `fields.Entry`) and its text
    exact: the texts that a value may have, where they can be listed
    """

    path: tuple[str, ...]
    holds: Callable[[str, str], bool]
    exact: tuple[str, ...] = ()


class All:
    """`*:*`: every node."""


class Not(NamedTuple):
    """Every node but these."""

    inner: Asked


class And(NamedTuple):
    """The nodes that all of these give."""

    inner: tuple[Asked, ...]


class Or(NamedTuple):
    """The nodes that any of these gives."""

    inner: tuple[Asked, ...]


Asked = Term | Own | All | Not | And | Or
