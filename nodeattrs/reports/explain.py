"""The report of `nodeattrs explain` and `why`: a trace in columns for a screen.

    app.workers = 30

      wins   12 override        30  environments/production.yaml:29
      loses  11 override         8  roles/web.json:38
      loses   6 force_default   24  cookbooks/app/recipes/default.py:11

      12 over 11: the later component replaces the earlier one (inside the level)
      11 over 6: the stronger level replaces the weaker one (across levels)

The core computes the trace; this module formats it. `str(trace)` is the plain form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodeattrs.core.answer import LookupExplanation
from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.trace import EarlierValue, Element, Outcome, Row, Trace, columns_of, rows
from nodeattrs.core.tree import Path, near, spell
from nodeattrs.node.node import Node
from nodeattrs.reports.screen import Screen, cut, in_columns, printable
from nodeattrs.reports.values import claimed, on_one_line

_HEAD_LINES = 4
_VALUE_LINES = 3
_MOST_ELEMENTS = 12
_MOST_PAST = 8
_SHORT = 40
_BESIDE = 24
_BELOW = " " * 12
_ASIDE = " " * 17


class LineChange(NamedTuple):
    """The last change of one line, by `git blame`.

    file, line: the file, and the number of the line, from 1
    commit:     the full hash; "" if the line has no commit. Author, date and summary are then "" as well
    author:     the name of the author
    date:       the author's date, as 2024-05-02
    summary:    the first line of the commit's message
    note:       why there is no commit: the change is not committed, or Git does not track the file; "" with a commit

    `to_dict` returns the fields as JSON-able data, with null for an empty one.
    """

    file: str
    line: int
    commit: str = ""
    author: str = ""
    date: str = ""
    summary: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able data; null for an empty one."""
        return {name: value or None for name, value in self._asdict().items()}


class OtherSetter(NamedTuple):
    """A source, such as a role, that sets an attribute, but does not count for the node that is explained.

    origin: the source and its line
    reason: the reason why it does not count for this node, as a sentence
    nodes:  the names of saved nodes for which it counts; () where only the repository was searched
    """

    origin: Origin
    reason: str
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        on = f" on {', '.join(self.nodes)}" if self.nodes else ""
        return f"{self.origin.who} sets it{on} ({self.origin.place or 'no line'}): {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The origin's fields, the nodes and the reason (as "lacks") as JSON-able data."""
        named = self.origin._asdict()
        return {**named, "nodes": list(self.nodes), "lacks": self.reason}


class ReadValue(NamedTuple):
    """A value that the winning line read, with its explanation.

    what:  the expression in the source: a path, or "lookup(key)"
    trace: the explanation of the value that was read; None where it is not known
    """

    what: str
    trace: Trace | LookupExplanation | None


class NodeExplanation(NamedTuple):
    """The report about one path of a node: its trace, and further answers that a command has computed.

    `has_claims` is False for a path that was never set. `title` names node, environment and revision. `to_dict` returns
    all fields as JSON-able data, and `lines` yields the text; both mask secrets.
    trace:             the trace of the path
    node, environment: the name of the node, and its environment; "" if the trace is not about a node
    hint:              a sentence about similar paths, if the path was never set; None for no hint
    readings:          the values that the winning line reads, if it is a line of a cookbook; () for none
    revision:          the number of the save that was read; None for a node that is not from a store
    is_run:            True: the node was run for this question
    causes:            lines that decided that the setters ran, such as a condition; None if they were not computed
    changes:           the last change of each line of the report; None if Git was not used
    elsewhere:         sources that set the path on other nodes; None if they were not searched. Only `to_dict` has them
    facts:             the file that the facts of a run come from, or "this machine"; "" if not known
    """

    trace: Trace
    node: str = ""
    environment: str = ""
    hint: str | None = None
    readings: tuple[ReadValue, ...] = ()
    revision: int | None = None
    is_run: bool = False
    causes: tuple[Cause, ...] | None = None
    changes: tuple[LineChange, ...] | None = None
    elsewhere: tuple[OtherSetter, ...] | None = None
    facts: str = ""

    @property
    def has_claims(self) -> bool:
        """Whether the path has a value, or a claim now or earlier."""
        return bool(self.trace.found or self.trace.claims or self.trace.history)

    @property
    def title(self) -> str:
        """The node, its environment and its revision: "web1 in production, revision 2"."""
        when = f", revision {self.revision}" if self.revision else ", run now" if self.is_run else ""
        return f"{self.node} in {self.environment}{when}"

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-able data, with the fields of this explanation; secrets are masked.

        "because_of", "elsewhere" and "git" are left out where they were not computed.
        """
        trace = self.trace
        data = trace.to_dict()
        data["value"] = claimed(trace.value, trace.path)
        for entry, stated in zip(data["claims"], trace.claims, strict=True):
            entry["value"] = claimed(stated.value)
        for entry, past in zip(data["history"], trace.history, strict=True):
            entry["value"] = claimed(past.claim.value)
        for entry, element in zip(data["elements"], trace.elements, strict=True):
            entry["value"] = claimed(element.value)
            entry["claims"] = [columns_of(claim) for claim in element.claims]
        return {
            "version": data.pop("version"),
            "node": self.node,
            "environment": self.environment,
            "revision": self.revision,
            **data,
            "hint": self.hint,
            **({"facts": self.facts} if self.facts else {}),
            **({} if self.causes is None else {"because_of": [one.to_dict() for one in self.causes]}),
            **({} if self.elsewhere is None else {"elsewhere": [one.to_dict() for one in self.elsewhere]}),
            **({} if self.changes is None else {"git": [one.to_dict() for one in self.changes]}),
            "read": [
                {"what": reading.what, "trace": None if reading.trace is None else _reading_dict(reading.trace)}
                for reading in self.readings
            ],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """The value, the file of the facts, then blocks after empty lines, and the hint as the last line.

        The blocks are in this order: claims, rules, the lines that the value comes from, elements with several
        setters, earlier values, readings, causes, changes. A block without rows is left out.
        """
        trace = self.trace
        yield from _head(trace, screen, printable(f"{self.title}: ") if self.node else "")
        if self.facts:
            yield screen.paint(printable(f"  facts: {self.facts}"), "faint")
        ways = dict.fromkeys(way for one in trace.standing for way in one.claim.cause_lines())
        blocks = (
            _claims(trace, screen) if trace.claims else (),
            _rules(trace, screen),
            _ways(ways, screen) if ways else (),
            _elements(trace.elements, screen) if _has_several_setters(trace.elements) else (),
            _earlier(trace, screen) if trace.history else (),
            _read(self.readings, screen) if self.readings else (),
            because(self.causes, screen) if self.causes else (),
            _changed(self.changes, screen) if self.changes else (),
        )
        for block in map(list, blocks):
            yield from ["", *block] if block else []
        if self.hint:
            yield f"  {self.hint}"


def explained(node: Node, path: Path, revision: int | None = None) -> NodeExplanation:
    """Compute the explanation of a path of a node; for a path that was never set it has the hint of `way_to`.

    revision: the number of the save that the node was read from; None for another node
    """
    trace = node.trace(path)
    hint = None if trace.found or trace.claims or trace.history else way_to(node.to_dict(False), path)
    return NodeExplanation(trace, node.name, node.environment, hint, revision=revision)


def _reading_dict(trace: Any) -> dict[str, Any]:
    return NodeExplanation(trace).to_dict() if isinstance(trace, Trace) else trace.to_dict()


def _read(found: Sequence[ReadValue], screen: Screen) -> Iterator[str]:
    """Each thing that was read: its value, and the place that set it, below where there is no room beside."""
    yield "  the line that set it read"
    rows = [[reading.what, *_answer(reading.trace)] for reading in found]
    for row, cells in zip(rows, in_columns([[what, cut(value, _SHORT)] for what, value, _ in rows]), strict=True):
        line = f"  {_joined(cells)}".rstrip()
        if len(line) + 2 + len(row[2]) <= screen.width:
            yield f"{line}  {row[2]}".rstrip()
        else:
            yield cut(line, screen.width)
            yield f"        {row[2]}"


def _answer(trace: Any) -> tuple[str, str]:
    if trace is None:
        return "", ""
    if isinstance(trace, Trace):
        place = trace.winner.claim.origin.place if trace.winner is not None else None
        return (on_one_line(trace.value) if trace.found else "not set"), place or ""
    places = dict.fromkeys(place for place in (origin.place for origin in trace.origins(())) if place)
    return (on_one_line(trace.value) if trace.error is None else trace.error.message), ", ".join(places)


def way_to(tree: Any, path: Path) -> str | None:
    """A hint at the right path, for a *path* that is not in *tree*; None for one that is, and for a map without keys.

    The sentence names missing or superfluous quotes, similar keys, the length of a list, or the keys of the map.

    >>> way_to({"ports": {"80": "http"}}, ("ports", 80))
    'quote what is text and not a number: ports."80"'
    """
    here = tree
    for depth, step in enumerate(path):
        before, after = path[:depth], path[depth + 1 :]
        if isinstance(here, Mapping):
            if step in here:
                here = here[step]
                continue
            if isinstance(step, int) and str(step) in here:
                return f"quote what is text and not a number: {spell((*before, str(step), *after))}"
            number = next((key for key in here if type(key) is int and str(key) == step), None)
            if number is not None:
                return f"do not quote what is a number: {spell((*before, number, *after))}"
            joined = _dotted(here, path[depth:])
            if joined is not None:
                return f"quote a step that holds dots: {spell((*before, *joined))}"
            close = [spell(before) + "." + name if before else name for name in near(step, here)]
            return f"did you mean {' or '.join(close)}?" if close else _known(before, here)
        if isinstance(here, Sequence) and not isinstance(here, str):
            if type(step) is int and -len(here) <= step < len(here):
                here = here[step]
                continue
            count = f"{len(here)} elements" if len(here) != 1 else "1 element"
            return f"{spell(before)} is a list of {count}, counted from 0"
        return f"{spell(before)} is not a map: nothing can lie below it"
    return None


def _dotted(here: Mapping[Any, Any], steps: Path) -> Path | None:
    """*steps* with the first few of them joined to one key that *here* has: "a.b" for a and b."""
    for length in range(len(steps), 1, -1):
        key = ".".join(map(str, steps[:length]))
        if key in here:
            return (key, *steps[length:])
    return None


def _known(path: Path, here: Mapping[Any, Any]) -> str | None:
    if not here:
        return None
    names = [spell((key,)) for key in list(here)[:8]]
    more = ", …" if len(here) > len(names) else ""
    return f"{spell(path) if path else 'the node'} has {', '.join(names)}{more}"


def _ways(ways: Iterable[str], screen: Screen) -> Iterator[str]:
    """The lines that a value comes from; one that is too long is broken before a word that says how."""
    yield "  where the value comes from"
    for way in ways:
        whole = (
            printable(way).replace(", called from ", ", called\xa0from\xa0").replace(", read at ", ", read\xa0at\xa0")
        )
        yield from (line.replace("\xa0", " ") for line in screen.wrapped(whole, " " * 8, " " * 4))


def because(causes: Sequence[Cause], screen: Screen) -> Iterator[str]:
    """Yield the heading "because of", then one line for each cause: its text and its place.

    On a narrow screen a cause has more lines: its text, then its place. Without causes only the heading comes.
    """
    yield "  because of"
    whats = in_columns([[printable(one.what)] for one in causes])
    for (what,), one in zip(whats, causes, strict=True):
        yield from _side_by_side(what, _place(one.origin, False), screen)


def _side_by_side(left: str, right: str, screen: Screen) -> Iterator[str]:
    """Two texts on one line, or the right one on lines below where the screen is too narrow."""
    if len(left) + len(right) + 6 <= screen.width or not right:
        yield f"    {left}  {right}".rstrip()
    else:
        yield from screen.wrapped(left.rstrip(), "      ", "    ")
        yield from screen.wrapped(right, " " * 8)


def _changed(changes: Sequence[LineChange], screen: Screen) -> Iterator[str]:
    """A line for each: the commit, who and when; below where there is no room beside."""
    yield "  last changed by"
    rows = [[f"{one.file}:{one.line}", one.note or f"{one.commit[:10]}  {one.author}, {one.date}"] for one in changes]
    for place, who in in_columns([[printable(cell) for cell in row] for row in rows]):
        yield from _side_by_side(place, who, screen)


def _head(trace: Trace, screen: Screen, title: str) -> Iterator[str]:
    path = printable(spell(trace.path))
    text = f" = {on_one_line(trace.value)}" if trace.found else " is not set"
    first, *rest = screen.wrapped(title + path + text, "    ", " ", _HEAD_LINES)
    first = first.removeprefix(" ")
    # A long path may be broken itself; then it stays plain.
    begin = title + path
    yield title + screen.paint(path, "strong") + first.removeprefix(begin) if first.startswith(begin) else first
    yield from rest
    if trace.cover is not None and trace.cover != trace.path:
        yield f"  {printable(spell(trace.cover))} is not a map: nothing can lie below it"


def _claims(trace: Trace, screen: Screen) -> Iterator[str]:
    """One line a claim, in as much detail as the width has room for; long values below their claims."""
    table = [*_one_unread_row_each(rows(trace))]
    right = (1, 3) if all(type(row.value) in (int, float) for row in table) else (1,)
    for titled, named in ((True, True), (True, False), (False, False)):
        titles = [printable(row.title if titled else row.title.partition(" / ")[0]) for row in table]
        cells = [
            [row.outcome, str(row.rank), title, on_one_line(row.value), _placed(row, named)]
            for row, title in zip(table, titles, strict=True)
        ]
        texts = [_joined(one) for one in in_columns(cells, right)]
        if max(map(len, texts)) <= screen.width:
            yield from (_painted(text, row, screen) for row, text in zip(table, texts, strict=True))
            return
    yield from _in_blocks(table, cells, right, screen)


def _one_unread_row_each(table: Iterable[Row]) -> Iterator[Row]:
    """The rows, of those about layers that cannot be read one of each slot or level."""
    named: set[str] = set()
    for row in table:
        if row.outcome != Outcome.UNKNOWN.value or row.title not in named:
            yield row
        if row.outcome == Outcome.UNKNOWN.value:
            named.add(row.title)


def _in_blocks(table: Sequence[Row], cells: list[list[str]], right: tuple[int, ...], screen: Screen) -> Iterator[str]:
    heads = [_joined(one[:-1]) for one in in_columns(cells, right)]
    beside = max(map(len, heads)) <= screen.width and max(len(value) for *_, value, _ in cells) <= _BESIDE
    if not beside:
        heads = [_joined(one[:-2]) for one in in_columns(cells, right)]
    for row, head in zip(table, heads, strict=True):
        place = _placed(row, False)
        if len(head) + 2 + len(place) <= screen.width:
            yield _painted(f"{head}  {place}", row, screen)
        else:
            yield _painted(head, row, screen)
            yield from screen.wrapped(place, _BELOW)
        if not beside:
            yield from screen.wrapped(on_one_line(row.value), _BELOW, most=_VALUE_LINES)


def _placed(row: Row, named: bool) -> str:
    place, how = _place(row.origin, named), printable(row.how)
    return f"{place}  ({how})" if how else place


def _joined(cells: Sequence[str]) -> str:
    outcome, rank, *rest = cells
    return f"  {outcome}  {rank} {'  '.join(rest)}".rstrip()


def _painted(text: str, row: Row, screen: Screen) -> str:
    word = row.outcome
    at = text.index(word)
    return text[:at] + screen.paint(word, word) + text[at + len(word) :]


def _place(origin: Origin, named: bool) -> str:
    """Where it was set; who set it is left out where the file's name says so already."""
    place = origin.place
    if place is None:
        return printable(origin.who)
    return printable(str(origin) if named or not _file_is_enough(origin) else place)


def _file_is_enough(origin: Origin) -> bool:
    steps = (origin.file or "").replace(".", "/").split("/")
    return bool(origin.name) and all(part in steps for part in origin.name.replace("::", ".").split("."))


_EVENTS = {"silent": "by unless"}


def _rules(trace: Trace, screen: Screen) -> Iterator[str]:
    """What decided: who overrides whom by which rule, one paragraph a rule; and what might decide besides."""
    pairs: dict[str, list[str]] = {}
    for row in rows(trace):
        if row.outcome == Outcome.UNKNOWN.value:
            continue  # who prints the explanation names what was not read
        if row.by:
            pairs.setdefault(row.rule, []).append(f"{' and '.join(map(str, row.by))} over {row.rank}")
        elif row.rule:
            pairs.setdefault(row.rule, []).append(str(row.rank))
    for rule, who in pairs.items():
        yield from screen.wrapped(f"{', '.join(dict.fromkeys(who))}: {rule}", "    ", "  ")


def _has_several_setters(elements: Sequence[Element]) -> bool:
    return len({element.ranks for element in elements}) > 1 or any(len(element.ranks) > 1 for element in elements)


def _elements(elements: Sequence[Element], screen: Screen) -> Iterator[str]:
    yield "  elements, and who set them"
    rows = []
    for element in elements[:_MOST_ELEMENTS]:
        setters = [(str(claim.rank), _place(claim.origin, False)) for claim in reversed(element.claims)]
        value = cut(on_one_line(element.value), min(_SHORT, screen.width // 2))
        for rank, place in setters or [(" and ".join(map(str, element.ranks)), "")]:
            rows.append([value, rank, place])
            value = ""
    for value, rank, place in in_columns(rows, right=(1,)):
        yield from _side_by_side(f"{value}  {rank}", place, screen)
    if len(elements) > _MOST_ELEMENTS:
        yield f"    … and {len(elements) - _MOST_ELEMENTS} more; --format json has all"


def _earlier(trace: Trace, screen: Screen) -> Iterator[str]:
    yield "  earlier values"
    for past in trace.history[:_MOST_PAST]:
        yield from _earlier_value_lines(past, trace, screen)
    if len(trace.history) > _MOST_PAST:
        yield f"    … and {len(trace.history) - _MOST_PAST} more; --format json has all"


def _earlier_value_lines(past: EarlierValue, trace: Trace, screen: Screen) -> Iterator[str]:
    claim = past.claim
    level = trace.title(claim.rank).partition(" / ")[0]
    if past.event == "forgotten":
        yield f"    {past.times} more in {level} that are not kept"
        return
    at = f" at {printable(spell(claim.path))}" if claim.path != trace.path else ""
    event = _EVENTS.get(past.event, past.event)
    text = f"    {event:11}  {level}{at}"
    place = _place(claim.origin, False)
    value = cut(on_one_line(claim.value), _SHORT)
    if len(f"{text}  {value}  {place}") <= screen.width:
        yield f"{text}  {value}  {place}"
    else:
        yield from screen.wrapped(f"{text.lstrip()}  {value}", _ASIDE, "    ", 2)
        yield from screen.wrapped(place, _ASIDE)
    if past.by is not None:
        rule = f": {past.rule}" if past.rule else ""
        yield from screen.wrapped(f"by {_place(past.by.origin, False)}{rule}", _ASIDE)
