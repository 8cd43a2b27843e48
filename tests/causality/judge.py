"""Is what an explanation says true? Edit lines, ask anew, and look at every leaf.

For every leaf and list element:

(a) another value at the line that is named as the winner's changes it
(b) another value at an overridden one's changes nothing; at one that was continued or read it does
(c) nothing is left out: any other line that sets a value may be edited or removed, and nothing changes
(d) without the winner's line the one that the explanation calls next is read

An element of a list goes with its line; one that several lines set stays as long as one of them does. What is
left where a map lost its only entry is an empty map; so in (d), where nothing is read then, what held the
entry goes too, and so on outwards: the first thing that a reader of the path meets is the next in line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as Folder
from typing import Any

from tests.causality import words
from tests.causality.case import Case, lines_of
from tests.causality.editor import NotThere, settled
from tests.causality.system import MARKER, TOKEN, Answer, Files, Input, Setting, System, shown
from tests.causality.told import Told
from tests.causality.values import ABSENT, Changes, Path, changes, dig, follow, leaves, same, texts

__all__ = ["Failure", "Findings", "examine"]

LITERAL = 987_654
"""What a line that computes something is to say instead."""


@dataclass(frozen=True)
class Failure:
    """One question that did not hold.

    law:   a, b, c, d; x where an explanation could not be had
    cause: a few words that failures of one cause share
    """

    law: str
    cause: str
    path: Path
    edit: str
    expected: str
    got: str

    @property
    def kind(self) -> tuple[str, str]:
        """What a smaller input has to keep."""
        return self.law, self.cause

    def __str__(self) -> str:
        head = f"({self.law}) {self.cause}: {_spelled(self.path)}: {self.edit}"
        return " ".join(f"{head}: expected {self.expected}, got {self.got}".split())


@dataclass
class Findings:
    """What was asked of one input, and what came of it.

    passed:  law -> questions that held
    figures: inputs, leaves, edits, lines
    aside:   the settings of which something could not be asked
    """

    passed: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)
    aside: set[Setting] = field(default_factory=set)


def examine(system: System, input: Input, folder: Folder, only: tuple[str, str] | None = None) -> Findings:
    """Ask everything about an input whose files are written into an empty folder.

    only:   the kind of failure that is looked for; what cannot lead to it is not asked
    raises: Refused
    """
    return _Judge(Case(system, input, folder)).examined(only)


class _Judge:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.found = Findings()
        self.told: dict[Path, Told] = {}

    def examined(self, only: tuple[str, str] | None) -> Findings:
        for _ in self.questions("" if only is None else only[0]):
            if only is not None and any(one.kind == only for one in self.found.failures):
                break
        self.count()
        return self.found

    def questions(self, law: str) -> Iterator[None]:
        """All of them, or those of one law; a breath after each."""
        self.listen()
        yield
        for one in self.case.settings if law not in ("x", "d") else ():
            self.ask_edit(one)
            yield
            self.ask_removal(one)
            yield
        for told in self.told.values() if law not in ("x", "b", "c") else ():
            self.ask_together(told)
            self.ask_computed(told)
            self.ask_next(told)
            yield

    def note(self, law: str, cause: str, path: Path, edit: str, expected: object, got: object, held: bool) -> None:
        """One question and its answer."""
        if held:
            self.found.passed[law] += 1
        else:
            self.found.failures.append(Failure(law, cause, path, edit, str(expected), str(got)))

    def count(self) -> None:
        figures, case = self.found.figures, self.case
        lines = list(lines_of(case.input.files))
        figures["leaves"] += len(case.leaves)
        figures["edits"] += case.edits
        figures["lines"] += len(lines)
        figures["settings"] += len(case.settings)
        figures["lines that decide"] += sum(case.system.decides(file, line) for file, line in lines)

    # --- what is told

    def listen(self) -> None:
        """Hear the explanation of every leaf; those whose winner has no line are asked nothing more."""
        told = [found for path in self.case.leaves if (found := self.tell(path)) is not None]
        for one in told:
            self.ask_who(one)
        placed = {one.path: one for one in told if one.is_placed}
        for one in placed.values():
            self.follow_readings(one, placed)
        self.told = placed

    def tell(self, path: Path) -> Told | None:
        try:
            return Told(self.case, path, words.rows_of(self.case.base.explain(path)))
        except Exception as error:
            self.note("x", "no explanation", path, "explain", "rows", f"{type(error).__name__}: {error}", False)
            return None

    def ask_who(self, told: Told) -> None:
        """(a) Somebody is named, and the line sets something; it is not overridden at the same time.

        What is read may be a key: that of a map which was added to a list. Its line may hold nothing else.
        """
        if not told.winners:
            self.note("a", "nobody is named", told.path, "explain", "a winner", [row.word for row in told.rows], False)
        for row in told.winners:
            named = row.file is not None and row.line is not None
            sets = row not in told.bare or told.is_empty or self.case.is_computed(row) or self.case.is_decided(row)
            sets |= self.case.has_key(row, told.value)
            told.is_placed &= sets
            # A marker that is read as it is had nothing to mark: what decides that is not told.
            told.is_placed &= not (self.case.is_decided(row) and str(told.value).startswith(MARKER))
            if not named:
                self.note("a", "no line is named", told.path, "explain", "file and line", row, False)
            else:
                got = repr(self.case.line(row))
                self.note("a", "the line sets nothing", told.path, row.place, repr(row.value), got, sets)
        for one in told.wins & told.overridden:
            self.note("b", "one line is winner and overridden", told.path, str(one), "one of them", "both", False)

    def follow_readings(self, told: Told, all: dict[Path, Told]) -> None:
        """Whatever sets what was read on the way, and what was read on the way to that, may be a part of the value."""
        ahead, seen = told.readings, set()
        while ahead:
            read = ahead.pop()
            if read in seen:
                continue
            seen.add(read)
            for path in self.case.leaves:
                if path[: len(read)] != read and read[: len(path)] != path:
                    continue
                other = all.get(path)
                if other is None:
                    told.is_vague = True
                    continue
                copied = path == read and not told.is_element and str(other.value) in str(told.value)
                (told.part if copied else told.perhaps).update(other.known - told.wins)
                ahead += other.readings

    # --- (a), (b), (c): other values

    def ask_edit(self, one: Setting) -> None:
        """What another value on one line changes, and what it does not."""
        if one.new is None:
            return
        answer = self.case.ask(self.case.edited([one]))
        if answer is None:
            self.found.aside.add(one)
            return
        what = changes(self.case.value, answer.value)
        edit = f"{one} becomes {one.new}"
        for told in self.told.values():
            if not told.in_group(what):
                self.ask_leaf(told, one, edit, what, answer)
        self.ask_groups({one}, edit, what)

    def ask_leaf(self, told: Told, one: Setting, edit: str, what: Changes, answer: Answer) -> None:
        path, changed = told.path, told.path in what.paths
        now = follow(self.case.value, answer.value, path)
        if one in told.wins and told.equal:
            self.note("a", "an element that another line sets, too", path, edit, "it stays", now, not changed)
        elif one in told.wins:
            # Some systems take false for nothing: another one is read then.
            shows = one.new == "false" or one.shown not in texts(told.value) or shown(str(one.new)) in texts(now)
            # true may be in a list already that has each value once: then the element is gone, and its value is not.
            among = dig(answer.value, path[:-1]) if told.is_element and now is ABSENT else ABSENT
            shows |= isinstance(among, list) and shown(str(one.new)) in texts(among)
            there = changed and shows
            self.note("a", "the winner's edit is not read", path, edit, one.new, now, there)
        elif one in told.part:
            self.note("b", "what was continued or read changes nothing", path, edit, "a change", now, changed)
        elif one in told.overridden and changed and told.is_element and self.case.is_removed_by_value(one):
            self.found.aside.add(one)  # what took it out meets it no more
        elif one in told.overridden:
            self.note("b", "an overridden line matters", path, edit, told.value, now, not changed)
        elif one not in told.known and not told.is_vague:
            self.note("c", "a line that is not named matters", path, edit, told.value, now, not changed)

    def ask_groups(self, gone: set[Setting], edit: str, what: Changes) -> None:
        """Equal elements of one list: as many go as have lost every line that sets them."""
        for members, lost in what.groups.items():
            told = [self.told[path] for path in members if path in self.told]
            if len(told) < len(members) or any(one.is_unclear or (one.part | one.perhaps) & gone for one in told):
                continue
            if any(one.beats_others(gone) for one in told):
                continue  # those unite with these now
            expected = sum(bool(one.wins | one.beside) and one.wins | one.beside <= gone for one in told)
            if not expected and lost < len(told) and len({said.file for one in told for said in one.wins}) == 1:
                continue  # one source says it several times: how often that is read is not told
            law = "a" if any(one.wins & gone for one in told) else "c"
            cause = "of equal elements the wrong number goes"
            self.note(law, cause, members[0], edit, f"{expected} go", f"{lost} went", lost == expected)

    def ask_together(self, told: Told) -> None:
        """(a) where several lines set one element: all of them edited."""
        if not told.equal or any(one.new is None for one in told.wins):
            return
        answer = self.case.ask(self.case.edited(told.wins))
        if answer is None:
            self.found.aside |= told.wins
            return
        what = changes(self.case.value, answer.value)
        if not told.in_group(what):
            edit, held = f"{_listed(told.wins)} become another", told.path in what.paths
            self.note("a", "all winners' edits are not read", told.path, edit, "a change", told.value, held)

    def ask_computed(self, told: Told) -> None:
        """(a) where a line of code computes the value: a literal instead."""
        for row in () if told.is_empty else told.bare:
            if not self.case.is_computed(row):
                continue
            assert row.file is not None
            assert row.line is not None
            try:
                text = settled(self.case.input.files[row.file], row.line, LITERAL)
            except NotThere as error:
                self.note("a", "the line computes nothing", told.path, row.place, "a right side", error, False)
                continue
            answer = self.case.ask({**self.case.input.files, row.file: text})
            if answer is not None:
                held = told.path in changes(self.case.value, answer.value).paths
                edit = f"{row.place} becomes a literal"
                self.note("a", "the computing line's edit is not read", told.path, edit, "a change", told.value, held)

    # --- (c): lines that go

    def ask_removal(self, one: Setting) -> None:
        """What a line takes along when it goes, and what it does not."""
        if one.old == "{}" or (self.case.input.by_position and self.is_in_list(one)):
            return  # an empty map keeps a place open for others; an element that goes moves others
        files, answer = self.without(one)
        if files is None or answer is None:
            self.found.aside.add(one)
            return
        gone = self.case.gone(files, {one})
        what = changes(self.case.value, answer.value)
        edit = f"{one} goes"
        for told in self.told.values():
            only_brackets = not told.wins and any(self.case.touches(row, files) for row in told.winners)
            if not (told.in_group(what) or told.is_vague or only_brackets or gone & told.known):
                self.ask_left(told, gone, files, edit, what, answer)
        self.ask_groups(gone, edit, what)

    def without(self, one: Setting) -> tuple[Files | None, Answer | None]:
        """The files without an entry, or without the smallest one around it that may go; and their answer."""
        for up in range(4):
            files = self.case.cut([one], up)
            if files is None:
                break
            if not self.case.changes_decisions(files) and (answer := self.case.ask(files)) is not None:
                return files, answer
        return None, None

    def ask_left(self, told: Told, gone: set[Setting], files: Files, edit: str, what: Changes, answer: Answer) -> None:
        now = follow(self.case.value, answer.value, told.path)
        held = told.path not in what.paths or told.is_held(gone, files) or is_reordered(told.value, now)
        # Who is freed may be read, or override others, so that a third one is.
        freed = [] if held else told.holds_down(gone)
        may_be_read = [*freed, *(told.rows if any(row.word != "silent" for row in freed) else ())]
        held = held or any(self.is_let_go(row, told, now, answer) for row in may_be_read)
        held = held or self.is_united(told, gone, answer) or is_key(answer.value, told.path, told.value)
        held = held or (told.is_element and self.is_told_of_list(told, gone, now, answer))
        law, cause = "c", "a line that is not named is missed"
        if gone & told.overridden:
            law, cause = "b", "an overridden line is missed"
        self.note(law, cause, told.path, edit, told.value, now, held)

    def is_told_of_list(self, told: Told, gone: set[Setting], now: Any, answer: Answer) -> bool:
        """Whether the explanation of the list says it: a list that what is gone overrides may hold a knock-out."""
        around = self.tell(told.path[:-1])
        return around is not None and any(self.is_let_go(row, told, now, answer) for row in around.holds_down(gone))

    def is_united(self, told: Told, gone: set[Setting], answer: Answer) -> bool:
        """Whether the list around an element has become equal to another one, and is united with it."""
        around, others = dig(self.case.value, told.path[:-1]), dig(answer.value, told.path[:-2])
        if not isinstance(around, list) or not isinstance(others, list):
            return False
        lost = {one.shown for one in gone}
        return [entry for entry in around if str(entry) not in lost] in others

    def is_let_go(self, row: words.Row, told: Told, now: Any, answer: Answer) -> bool:
        """Whether what a row sets is read, or has hidden or cut what lies below it."""
        is_above = row.word != "silent" and len(row.path) < len(told.path) and not isinstance(row.value, dict)
        return (is_above and now is ABSENT) or says(now, row) or says(dig(answer.value, row.path), row)

    def is_in_list(self, one: Setting) -> bool:
        """Whether a setting stands in a list, as its line shows."""
        text = self.case.input.files[one.file]
        before = text[text.rfind("\n", 0, one.start) + 1 : one.start]
        return "- " in before or "[" in before

    # --- (d): without the winner

    def ask_next(self, told: Told) -> None:
        """Who is read once the winner is gone."""
        lines = told.wins | told.statements
        if not lines or any(not self.case.is_computed(row) for row in told.bare):
            return
        if told.is_element:
            if not self.case.input.by_position:
                self.ask_gone(told, lines)
            return
        edit, last, at_last, is_clear = f"{_listed(lines)} goes", None, self.case.input.files, True
        for files in self.case.cuts(lines):
            if files is None or self.takes_next(told, files):
                is_clear = False
                break
            answer = self.case.ask(files)
            if answer is None:
                is_clear = False
                continue
            at, now = standing(answer.value, told.path)
            if now is not ABSENT:
                self.ask_read(told, files, edit, at, now, answer)
                return
            if self.is_above(told, files, answer):
                return
            last, at_last = answer, files
        self.ask_nothing(told, edit, last, at_last, is_clear)

    def is_above(self, told: Told, files: Files, answer: Answer) -> bool:
        """Whether what is called next is read further up: a map that a line computes, with nothing at the path."""
        coming = told.next(files)
        held = coming is not None and len(coming.path) < len(told.path) and stands(answer.value, coming)
        if held:
            self.note("d", "another one is next", told.path, "it goes", _row(coming), "a map above", True)
        return held

    def ask_nothing(self, told: Told, edit: str, last: Answer | None, at_last: Files, is_clear: bool) -> None:
        """Nothing is read without the winner, and what holds it: nobody was called next."""
        coming = told.next(at_last)
        hidden = coming is not None and last is not None and leads(last.value, coming.path)
        if coming is not None and (not is_clear or last is None or (hidden and self.has_company(told, coming.path))):
            self.found.aside |= told.wins
            return
        if hidden and coming is not None and coming.earlier and self.has_others(told, coming.path):
            self.found.aside |= told.wins  # it stands in its source again, and the map of another one hides it there
            return
        if hidden and last is not None and any(self.is_back(row, at_last, last.value) for row in told.rows):
            self.note("d", "a map that is back", told.path, edit, _row(coming), "it hides what is next", True)
            return
        if hidden and coming is not None and self.case.is_stepped_through(coming.path):
            self.found.aside |= told.wins  # it makes the map anew
            return
        cause = "the next in line is hidden by a map, too" if hidden else "the next in line is never read"
        self.note("d", cause, told.path, edit, _row(coming), "nothing", coming is None)

    def ask_read(self, told: Told, files: Files, edit: str, at: Path, now: Any, answer: Answer) -> None:
        """Something is read instead of the winner: called next, or back since nothing takes it away any more."""
        coming = told.next(files)
        if coming is not None and isinstance(coming.value, list) and coming.value and not self.settings_of(coming):
            self.found.aside |= told.wins  # markers only: they are read, and nothing of them can be seen
            return
        cause = "whom nobody named is next" if coming is None else "another one is next"
        back = any(self.is_back(row, files, answer.value) for row in told.rows)
        # Whether an `unless` that looked further up speaks depends on all that stands there.
        hidden = coming is not None and coming.earlier and isinstance(dig(answer.value, coming.path), dict)
        possible = [one for one in (coming, told.next(files, True), told.next(files, False, hidden)) if one is not None]
        is_coming = any(self.is_read(one, told, at, now, answer) for one in possible)
        if not (back or is_coming) and coming is not None and self.case.is_removed_below(coming.path):
            self.found.aside |= told.wins  # what the winner stood in the way of removes a part of what is next
            return
        if not (back or is_coming) and now == {} and self.case.is_stepped_through(at):
            self.found.aside |= told.wins  # a line that had worked on the winner's list finds none, and makes a map
            return
        self.note("d", cause, told.path, edit, _row(coming), f"{now!r} at {_spelled(at)}", back or is_coming)

    def is_read(self, row: words.Row, told: Told, at: Path, now: Any, answer: Answer) -> bool:
        """Whether what a row sets is what is read, and rows say all of that.

        An empty map shows nothing of itself where it has met another one: then that one's row says all.
        """
        entry = dig(answer.value, row.path)  # further up, or an entry of what is read
        said = now if entry is ABSENT and len(row.path) > len(at) else entry
        if row.value == {} and isinstance(said, dict) and at == told.path:
            return is_told(said, told.rows)
        return says(said, row) and (at != told.path or is_told(said, told.rows))

    def takes_next(self, told: Told, files: Files) -> bool:
        """Whether what goes takes the next in line along."""
        coming = told.next(files)
        if coming is None:
            return False
        mine = self.settings_of(coming) | set(self.case.named(coming))
        return bool(self.case.gone(files, set(told.wins)) & mine)

    def settings_of(self, row: words.Row) -> set[Setting]:
        """The settings in a row's file that can be seen in its value."""
        return {one for one in self.case.settings if one.file == row.file and one.shown in texts(row.value)}

    def has_others(self, told: Told, at: Path) -> bool:
        """Whether another source sets something there."""
        ranks = {row.rank for row in told.winners}
        beside = (other for path, other in self.told.items() if path[: len(at)] == at)
        return any(row.rank not in ranks for other in beside for row in other.winners)

    def has_company(self, told: Told, at: Path) -> bool:
        """Whether other lines of the winner's source set something there: more than its own would have to go.

        That may be a line which the winner's own overrides, since its text sets the key twice.
        """
        ranks = {row.rank for row in told.winners}
        beside = (other for path, other in self.told.items() if path[: len(at)] == at and path != told.path)
        above = (words.rows_of(self.case.base.explain(at[:depth])) for depth in range(1, len(at) + 1))
        twice = (row for rows in above for row in rows if row.means == words.OVERRIDDEN)
        return any(row.rank in ranks for row in (*(row for other in beside for row in other.winners), *twice))

    def is_back(self, row: words.Row, files: Files, after: Any) -> bool:
        """Whether something was taken away by a line that is gone, and is read again."""
        if row.means != words.ERASED or row.eraser is None:
            return False
        return self.case.touches(row.eraser, files) and says(dig(after, row.path), row)

    def ask_gone(self, told: Told, lines: set[Setting]) -> None:
        """An element goes with its lines."""
        files = self.case.cut(lines)
        answer = None if files is None or self.case.changes_decisions(files) else self.case.ask(files)
        if answer is None:
            return
        what = changes(self.case.value, answer.value)
        if not told.in_group(what):
            now, edit = follow(self.case.value, answer.value, told.path), f"{_listed(lines)} goes"
            held = told.path in what.paths
            self.note("d", "the element stays without its lines", told.path, edit, "it goes", now, held)


def standing(after: Any, path: Path) -> tuple[Path, Any]:
    """What a reader of the path meets: the value, or what stands in its way above."""
    for depth in range(1, len(path)):
        here = dig(after, path[:depth])
        if here is ABSENT:
            return path, ABSENT
        if not isinstance(here, dict if isinstance(path[depth], str) else list):
            return path[:depth], here
    return path, dig(after, path)


def stands(after: Any, row: words.Row) -> bool:
    """Whether a row's value stands at its own path, which may be above the one that was asked."""
    return says(dig(after, row.path), row)


def is_key(after: Any, path: Path, value: Any) -> bool:
    """Whether an element of a list is a key there now: its map was added to an empty list, which is gone."""
    return isinstance(value, str) and isinstance(path[-1], int) and value in keys_of(dig(after, path[:-1]))


def keys_of(value: Any) -> list[Any]:
    """The keys of a map; none of anything else."""
    return list(value) if isinstance(value, dict) else []


def leads(value: Any, path: Path) -> bool:
    """Whether a map or list is left at the path or above."""
    return any(isinstance(dig(value, path[:depth]), (dict, list)) for depth in range(1, len(path) + 1))


def says(now: Any, row: words.Row) -> bool:
    """Whether a row's value is read: as it is, converted to text, or as a part of what is joined.

    Of a map or list that is joined with others some entries may lose to theirs, or are knocked out: one of them is
    read at least; `is_told` asks who has set the others. To a list a scalar was added, or a map, whole or its keys.
    """
    if same(now, row.value) or str(now) == str(row.value):
        return True
    if isinstance(now, str) and isinstance(row.value, str):
        return row.value in now
    if isinstance(now, list) and not isinstance(row.value, list):
        return _was_added(row.value, now)
    if type(now) is type(row.value) and isinstance(now, (dict, list)):
        said = list(leaves(row.value))
        if any(path and same(dig(now, path), value) for path, value in said):
            return True
        some = any if isinstance(now, list) or any(value for _, value in said) else all
        return some((value if isinstance(value, str) else texts(value)) in texts(now) for _, value in said)
    return False


def _was_added(value: Any, now: list[Any]) -> bool:
    keys = keys_of(value)
    return any(same(one, value) for one in now) or (bool(keys) and all(key in now for key in keys))


def is_reordered(before: Any, now: Any) -> bool:
    """Whether the text of a map has become another one by the order of its keys alone."""
    return isinstance(before, str) and isinstance(now, str) and "{" in now and sorted(before) == sorted(now)


def is_told(now: Any, rows: list[words.Row]) -> bool:
    """Whether rows say every token that is read."""
    said = texts([row.value for row in rows])
    return all(token in said for token in TOKEN.findall(texts(now)))


def _row(row: words.Row | None) -> str:
    return "nothing" if row is None else f"{row.value!r} ({row.place})"


def _spelled(path: Path) -> str:
    return ".".join(map(str, path))


def _listed(settings: set[Setting]) -> str:
    return ", ".join(map(str, sorted(settings)))
