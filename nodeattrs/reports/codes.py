"""The report of `nodeattrs codes`: the meaning of codes of errors and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.codes import Code, codes
from nodeattrs.project.config import known_code
from nodeattrs.reports.screen import Screen, in_columns


@dataclass(frozen=True, slots=True)
class CodeList:
    """The report about some codes. As text a single code is shown in full, and several as a list of causes.

    entries: the codes, in the order of the report
    """

    entries: Sequence[Code]

    def to_dict(self) -> dict[str, Any]:
        """All fields of each code, with its name and page, as JSON-able data."""
        return {"version": 1, "codes": [one._asdict() | {"name": one.name, "page": one.page} for one in self.entries]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """For one code its names, cause, example and way out; for several a line with the cause of each."""
        if len(self.entries) > 1:
            for code, name, cause in in_columns([[one.code, one.name, one.cause] for one in self.entries]):
                yield from screen.wrapped(cause, " " * 8, f"{code}  {name}  ")
            return
        for one in self.entries:
            yield screen.paint(f"{one.code} {' '.join(one.names)}", "strong")
            for title, text in (("cause", one.cause), ("example", one.example), ("way out", one.way_out)):
                yield from screen.wrapped(text, " " * 11, f"  {title:7}  ")


def matching(word: str) -> list[Code]:
    """The codes that *word* selects: a code, the beginning of codes, a name, or "all".

    raises: BadArgument, where no code is selected
    """
    known_code(word)
    return [one for one in codes().values() if one.code.startswith(word) or word in one.names or word == "all"]
