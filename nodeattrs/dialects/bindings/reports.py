"""Reports of the commands `inject`, `explain` and `list`: an answer of an injector as data and as lines.

The data is for JSON, and the lines are for a screen. Neither has secrets; the lines have no control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.contract.command import PlainReport
from nodeattrs.core.trace import Trace, shown
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.dialects.bindings.explain import Explanation
from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.tracing import data_of
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.reports.explain import NodeExplanation as Explained
from nodeattrs.reports.explain import because, way_to
from nodeattrs.reports.screen import Screen, cut, in_columns, printable


def explained_binding(explanation: Explanation, path: Path = (), with_causes: bool = False) -> ExplainedBinding:
    """The report about the value of a key, or about a path of the value.

    with_causes: whether it has the conditions and lists because of which the claims are in effect
    raises:      NoSuchAttribute, for a path that is not set
    """
    trace = explanation.trace(path)
    if path and not (trace.found or trace.claims):
        value = explanation.trace().value
        hint = None if value is ABSENT else (way_to(value, path) or "").replace("the node has", "the value has", 1)
        raise NoSuchAttribute(f"{spell(trace.path)} is not set", path=trace.path, hint=hint or None)
    return ExplainedBinding(explanation, path, with_causes)


_TIES = "tie below the winner: without it they would be a conflict"


def injected_value(key: str, value: Any) -> PlainReport:
    """The report of `inject`. Its lines are the value: a text line by line, any other value as one line of JSON.

    Its data has the key in words and the value. Secrets are withheld. A value that is no plain data is shown as its
    `str`. The empty text is one empty line.
    """
    data = data_of(value)
    text = data if isinstance(data, str) else shown(data, 100_000)
    return PlainReport(
        [printable(line) for line in text.splitlines() or [""]], {"version": 1, "key": key, "value": data}
    )


@dataclass(frozen=True, slots=True)
class ExplainedBinding:
    """A report: why a key has its value, or why the value has an entry at a path. `explained_binding` makes it.

    explanation: the explanation of the key
    path:        a path in the value; () for the whole value
    with_causes: True: the report also has the conditions that put the claims in effect

    `trace` is the trace of the path. `to_dict` returns the report as data, and `lines` yields the text.
    """

    explanation: Explanation
    path: Path = ()
    with_causes: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The explanation as data, with the trace of the path as "trace", and the causes as "because_of" if wanted."""
        causes = [cause.to_dict() for cause in self.explanation.causes(self.path)] if self.with_causes else None
        more = {} if causes is None else {"because_of": causes}
        return {**self.explanation.to_dict(), "trace": self.trace.to_dict(), **more}

    @property
    def trace(self) -> Trace:
        """The trace of the path."""
        return self.explanation.trace(self.path)

    def lines(self, screen: Screen) -> Iterator[str]:
        """The table of the trace; if the injection failed, the error is its first line.

        For the whole value, ties, named fragments and look-ups follow; then the causes, if they are wanted.
        """
        found, problem = self.trace, self.explanation.problem
        table = Explained(found).lines(screen)
        if problem is not None:
            next(table)
            yield screen.paint(cut(printable(f"{spell(found.path)}: {problem}"), max(screen.width, 40)), "strong")
        yield from table
        if not self.path:
            yield from self._lines_below_table(screen)
        if self.with_causes and (causes := self.explanation.causes(self.path)):
            yield ""
            yield from because(causes, screen)

    def _lines_below_table(self, screen: Screen) -> Iterator[str]:
        """The lines below the table: ties, named fragments, and look-ups."""
        explained = self.explanation
        is_known = explained.problem is None
        groups = {tuple(sorted((rank, *others))) for rank, others in explained.ties.items()}
        asides: Mapping[str, Iterable[str]] = {
            _TIES if is_known else "neither is above the other": [
                " and ".join(map(str, ranks)) for ranks in sorted(groups)
            ],
            "set by": self._set_by(),
            "looks up": [f"{'  ' * (one.depth - 1)}{one.asked}: {one.by}" for one in explained.looked],
        }
        for title, rows in asides.items():
            lines = [line for row in rows for line in screen.wrapped(printable(row), "        ", "    ")]
            if lines:
                yield ""
                yield f"  {title}"
                yield from lines

    def _set_by(self) -> Iterator[str]:
        """Name by name; the elements of a list are in the table."""
        for one in self.explanation.set_by:
            if isinstance(one.step, str):
                counts = "" if one.counts else "  (does not count)"
                yield f"{one.step} = {shown(one.value, 40)}  {one.place}{counts}"


@dataclass(frozen=True, slots=True)
class ListedBindings:
    """A report: every bound key whose name begins with *prefix*, with its value or producer and its line.

    `to_dict` gives the keys as rows, and the included classes; `lines` yields the text. Both compute it anew. Keys with
    a fault are left out.
    injector: the injector whose keys are listed
    prefix:   the beginning of the names; "": all keys. With a prefix, `lines` leaves out the included classes
    """

    injector: Injector
    prefix: str = ""

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One row of data for each key that begins with the prefix, in order."""
        resolution = self.injector.resolution
        for key in sorted(resolution.winners):
            if not key[1].startswith(self.prefix):
                continue
            winner = resolution.winners[key]
            yield {
                "kind": key[0],
                "name": key[1],
                "gives": shown(data_of(winner.constant.value), 200) if winner.constant else winner.describe(),
                "layer": winner.place.layer,
                "when": resolution.when(winner),
                "place": winner.origin.place or "",
                "shadows": len(resolution.declared[key]) - 1,
            }

    def to_dict(self) -> dict[str, Any]:
        """The keys as rows, and the included classes."""
        return {"version": 1, "classes": self.injector.classes(), "keys": list(self._rows())}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One row for each key: its name, its layer and condition, its place, and what it gives.

        Without a prefix, a last line names the included classes. Nothing for no keys and no classes.

        Only the last column is cut at the width of the screen, and never below 20 characters.
        """
        rows = [
            [
                printable(f"{row['kind']}, {row['name']}" if row["name"] else row["kind"]),
                printable(f"{row['layer']}, {row['when']}"),
                printable(row["place"]),
                printable(row["gives"]),
            ]
            for row in self._rows()
        ]
        for *head, gives in in_columns(rows) if rows else ():
            start = "  ".join(head)
            yield f"{start}  {cut(gives, max(screen.width - len(start) - 2, 20))}"
        classes = self.injector.classes()
        if classes and not self.prefix:
            yield f"classes: {', '.join(map(printable, classes))}"
