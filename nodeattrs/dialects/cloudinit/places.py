"""Find the lines of values in the YAML text of a part, and the values of keys that a text writes twice.

A later value of a key in the same map replaces the value before; `EarlierValueStep` names such a value. Only
explanations and warnings need this module. The module parses the text again. For an alias or a merge key (`<<`), the
line is the line of the value itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.folding import Folding, Step, meet
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.part import Part, listed
from nodeattrs.core.policy import ANY, ANY_KEY, LIST, MAP, MEET, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.cloudinit.parts import marks_of
from nodeattrs.errors import DocumentError
from nodeattrs.formats.places import Mark, Text


class EarlierValueStep(NamedTuple):
    """The first step of a path to an earlier value of a key that the text writes twice.

    depth: the index of the repeated key in the path after this step
    turn:  the number of the earlier value, from 0 for the first in the text
    """

    depth: int
    turn: int


class YamlLocator:
    """Finds the lines of values in a YAML text. The text is parsed at the first question, and kept.

    text:   the text of the part
    origin: the origin of the part. Results are copies of this origin with another line
    line:   called with a line of the text, returns the line of the file: `CloudPart.at`
    column: called with a column of the text, returns the column of the file, or None: `CloudPart.column`

    `at(path)` gives the place of a value or of its nearest parent. `earlier(path)` lists values of keys that are
    written twice on the way to the path. Nothing is raised for broken YAML: `at` gives the origin.
    """

    def __init__(
        self,
        text: str,
        origin: Origin,
        line: Callable[[int], int] = int,
        column: Callable[[int], int | None] = int,
    ) -> None:
        self._text = Text("", text)
        self._origin = origin
        self._line = line
        self._column = column

    @cached_property
    def _root(self) -> Mark | None:
        try:
            return marks_of(self._text.text)
        except DocumentError:
            return None

    def at(self, path: Path) -> Origin:
        """The place of the value at *path*, or of its nearest parent. For broken YAML it is the origin of the part.

        path: for an earlier value of a repeated key, its first step is an `EarlierValueStep` that `earlier` returned
        """
        mark = self._root
        if mark is None:
            return self._origin
        earlier, steps = (path[0], path[1:]) if path and type(path[0]) is EarlierValueStep else (None, path)
        for depth, step in enumerate(steps):
            part = mark.parts.get(step)
            if part is None:
                break
            mark = part.again[earlier.turn][1] if earlier is not None and depth == earlier.depth else part
        line, column = self._text.place(mark.offset)
        return self._origin.moved(self._line(line), self._column(column))

    def earlier(self, path: Path) -> list[tuple[EarlierValueStep, Any]]:
        """The earlier values of keys on the way to *path* that the text writes twice; [] for none.

        Each is (EarlierValueStep, value), in the order of the text. The EarlierValueStep can be the first step of a
        path for `at`.
        """
        found: list[tuple[EarlierValueStep, Any]] = []
        mark = self._root
        for depth, step in enumerate(path):
            mark = mark and mark.parts.get(step)
            if mark is None:
                break
            found += [(EarlierValueStep(depth, turn), value) for turn, (value, _) in enumerate(mark.again)]
        return found


_AGAIN = Policy("one text", Line(ANY, PRESENT, TAKE, "a later line of the same text sets the key again"))
_REST = Policy("one text", Line(ANY, PRESENT, TAKE))


def with_earlier(folding: Folding, path: Path, locator: Callable[[int], Locator]) -> Folding:
    """A copy of a folding in which a trace of *path* also finds the earlier values of keys that a text has twice.

    The last value of such a key counts; the copy adds each earlier value to the part of its text. Only keys on *path*
    are looked at. If none of them is written twice, the folding itself is returned. The result stays the same.

    locator: called with the number of a part, returns its locator
    cost:    one look at each part, and one parse of each text that sets something at the first step of *path*
    """
    steps = [step._replace(part=_earlier(step, path, locator)) for step in folding.steps]
    if all(new.part is old.part for new, old in zip(steps, folding.steps, strict=True)):
        return folding
    more = Folding(from_top=folding.from_top, opening=folding.opening, start=folding.start)
    more.steps, more.result = steps, folding.result
    return more


def _earlier(step: Step, path: Path, locator: Callable[[int], Locator]) -> Part | Folding:
    part = step.part
    if isinstance(part, Folding):
        return with_earlier(part, path, locator)
    if type(part.origins) is not int or not part.origins or dig(part.value, path[:1]) is ABSENT:
        return part
    who = locator(part.origins)
    found = who.earlier(path) if isinstance(who, YamlLocator) else []
    if not found:
        return part
    both, over = Folding(), _AGAIN
    for place, value in found:
        above = path[: place.depth + 1]
        both.lay(Part(_under(above, value), SourcePath(part.origins, (place,))), over)
        over = _over(above)
    both.lay(part, over)
    return both


def _under(path: Path, value: Any) -> Any:
    """A tree with only a value at a path; the elements before it in lists are null."""
    for step in reversed(path):
        value = [*[None] * step, value] if type(step) is int else {step: value}
    return value


def _over(path: Path) -> Policy:
    """The policy that replaces the value at a path."""
    if not path:
        return _AGAIN
    step, *rest = path
    inner = _over(tuple(rest))
    if type(step) is int:
        return Policy("one text", Line(LIST, LIST, partial(_at_index, step, inner)), Line(ANY, PRESENT, TAKE))
    policy = Policy("one text", Line(MAP, MAP, MEET), Line(ANY, PRESENT, TAKE))
    policy.by_key = {step: inner, ANY_KEY: _REST}
    return policy


def _at_index(index: int, policy: Policy, lower: Part, upper: Part) -> Part:
    elements = list(upper.elements())
    elements[index] = meet(policy, lower.at(index), elements[index])
    return listed(elements)
