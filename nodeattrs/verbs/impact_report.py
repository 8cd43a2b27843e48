"""What a change changes: as text, as data, as Markdown for a pull request, and as findings.

Equal changes stand together, in an order that depends on nothing but the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from nodeattrs.core.tree import Path, parse
from nodeattrs.core.unread import Unread
from nodeattrs.dialects import named
from nodeattrs.errors import NodeattrsError
from nodeattrs.kinds import CHANGES_NOTHING, IMPACT_NOT_KNOWN, NO_LONGER_ANSWERS, VALUE_CHANGES
from nodeattrs.reports.findings import Finding
from nodeattrs.reports.markdown import in_code, plain
from nodeattrs.reports.screen import Screen, cut, first_of, printable
from nodeattrs.reports.values import on_one_line
from nodeattrs.verbs.comparing import NO_ANSWER, SECRET, Value
from nodeattrs.verbs.hunks import Line
from nodeattrs.verbs.impact import NOT_READ, ChangeGroup, DialectAnswers, Impact, Silent

_SHOWN, _LISTED = 6, 40
_WIDEST = 70
_OPEN = 20
"""Changes of a comment that stand beside each other; the others are behind one fold."""
_PAGES = (".md", ".rst", ".adoc", ".txt")
"""Endings of files that set no value anywhere."""
MOST = 60_000
"""Characters of Markdown: a comment on a pull request holds a few more."""


class Pattern:
    """A pattern of paths: `apache2.**`, `*.port`; of resources `File[/etc/*].content`.

    Any other text is compared as it is.

    >>> Pattern("apache2.**").fits(("apache2", "tls", "port")), Pattern("*.port").fits(("app", "x", "port"))
    (True, False)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._steps: Path | None = parse(text)
        except NodeattrsError:
            self._steps = None  # as a resource is spelled

    def fits(self, path: Path) -> bool:
        """Whether the pattern means a path. `**` fits no step as well; in a pattern with "[", `*` goes across dots."""
        whole = ".".join(map(str, path))
        plainly = self.text.replace("[", "[[]")
        if (fnmatchcase(whole, plainly) and "*" not in self.text) or ("[" in self.text and fnmatchcase(whole, plainly)):
            return True
        return self._steps is not None and _fits(self._steps, path)


def _fits(steps: Sequence[Any], path: Sequence[Any]) -> bool:
    if not steps:
        return not path
    if steps[0] == "**":
        return any(_fits(steps[1:], path[at:]) for at in range(len(path) + 1))
    return bool(path) and fnmatchcase(str(path[0]), str(steps[0])) and _fits(steps[1:], path[1:])


@dataclass(frozen=True)
class ImpactReport:
    """The report of an impact, and the conditions under which the command fails.

    ignored: how many groups --ignore-path left out
    failing: patterns of paths that must not change
    most:    how many nodes may have a change, or None
    """

    found: Impact
    ignored: int = 0
    failing: Sequence[Pattern] = ()
    most: int | None = None

    @property
    def is_refused(self) -> bool:
        """Whether a forbidden path changes, a subject cannot be resolved any more, or too many subjects change."""
        return any(map(self._fails, self.found.groups)) or (
            self.most is not None and len(self.found.subjects) > self.most
        )

    def _fails(self, group: ChangeGroup) -> bool:
        return group.sign == "broken" or any(one.fits(group.path) for one in self.failing)

    # --- as data

    def to_dict(self) -> dict[str, Any]:
        """All of it as data; a secret is null, and that it is another one is noted."""
        found = self.found
        return {
            "version": 1,
            "before": found.before,
            "after": found.after,
            "files": list(found.files),
            "refused": self.is_refused,
            "ignored": self.ignored,
            "asked": list(map(_asked_data, found.asked)),
            "changes": [_group_data(one, self._fails(one)) for one in found.groups],
            "changes_nothing": [
                {
                    **_line_data(one.line),
                    "dialect": one.dialect,
                    "path": _spelled(one.path),
                    "overridden_by": list(one.by),
                    "subjects": one.subjects,
                }
                for one in found.silent
            ],
            "certain": found.is_certain,
            "unread": [
                Unread(place, reason, kind="file").to_dict()
                for places, reason in (
                    (found.not_run, "was not run, or not read"),
                    (found.unseen, "is read by no subject"),
                )
                for place in places
            ]
            + [
                Unread(place, "was not read, and may set what changes", (one.path,)).to_dict()
                for one in found.doubtful
                for place in one.unread
            ],
            "outcomes": [
                {"file": shown, "outcome": found.outcome(file)}
                for shown, file in zip(found.files, found.changed, strict=True)
            ],
            "notes": list(found.notes),
        }

    # --- as text

    def lines(self, screen: Screen) -> Iterator[str]:
        """What changes, group by group; then what changes nothing, and what was done."""
        yield screen.paint(printable(self._head()), "strong")
        for group in self.found.groups:
            yield ""
            yield from self._group(group, screen)
        if self.found.silent:
            yield ""
            yield "lines that change nothing"
            for one in self.found.silent:
                yield from screen.wrapped(printable(_silence(one)), "      ", "  ")
        yield ""
        for text in (*self._done(), *self.found.notes):
            yield from screen.wrapped(printable(text), "  ", "")

    def _group(self, group: ChangeGroup, screen: Screen) -> Iterator[str]:
        places = screen.paint(printable(_because(group)), "faint")
        yield f"{screen.paint(_sign(group), _style(group))} {printable(_title(group))}  {places}"
        if group.kind == NO_ANSWER:
            yield from screen.wrapped(printable(_failure(group)), "      ", "    ")
        else:
            yield from screen.wrapped(_change(group, 500), "      ", "    ")
        yield from screen.wrapped(printable(_names(group.subjects, _SHOWN)), "      ", "    ")

    def _head(self) -> str:
        found = self.found
        files = (
            f"{len(found.files)} file{'s' * (len(found.files) != 1)} {'differ' if len(found.files) != 1 else 'differs'}"
        )
        return f"{found.before} -> {found.after}: {files}, {self._counted()}"

    def _counted(self) -> str:
        if not self.found.groups and not self.found.subjects:
            return self._no_change()
        parts = []
        for one in self.found.asked:
            changed = {name for group in self.found.groups if group.dialect == one.dialect for name in group.subjects}
            if changed:
                verb = "changes" if len(changed) == 1 else "change"
                parts.append(f"{len(changed)} of {_many(one.known, one.dialect)} {verb} ({one.dialect})")
            parts += [
                f"{_many(len(names), one.dialect)} {word}"
                for word, names in (("added", one.added), ("removed", one.removed))
                if names
            ]
        return ", ".join(parts) + ("" if self.found.is_certain else f"; {self._not_known()}")

    def _no_change(self) -> str:
        """That nothing changes, only where every changed file was read; pages of text do not count."""
        if not self.found.is_certain:
            return f"no change was found; {self._not_known()}"
        files = self.found.changed
        passed = sum(self.found.outcome(file) == NOT_READ and not file.endswith(_PAGES) for file in files)
        if not passed:
            return "nothing changes"
        some = f"{passed} of them" if passed < len(files) else "it" if passed == 1 else "them"
        return f"no change was found; no dialect reads {some}"

    def _not_known(self) -> str:
        """What may change beside the changes that were found, in words."""
        found = self.found
        parts = [
            f"{len(one.not_known)} of {_many(one.known, one.dialect)} ({one.dialect})"
            for one in found.asked
            if one.not_known
        ]
        for files, why in (
            (found.not_run, "not run, or not read"),
            (found.unseen, "read by no subject"),
            (found.unread, "outside of the two sides"),
        ):
            if files:
                parts.append(f"{len(files)} file{'s' * (len(files) != 1)} {why}")
        if found.doubtful:
            places = dict.fromkeys(place for one in found.doubtful for place in one.unread)
            parts.append(f"the values of {_changes(len(found.doubtful))}: {first_of([*places], 3)} may set them")
        return f"not known: {', '.join(parts)}"

    def _done(self) -> Iterator[str]:
        if self.ignored:
            yield f"{_changes(self.ignored)} passed over by --ignore-path"
        for one in self.found.asked:
            yield _work(one)
            yield from (
                f"{one.dialect}: {word}: {_names(names, _SHOWN)}"
                for word, names in (("added", one.added), ("removed", one.removed))
                if names
            )
            if one.bare:
                yield f"{one.dialect}: no facts are known of {_many(one.bare, one.dialect)}: --facts or --platform"
            if one.unanswered:
                name, why = next(iter(sorted(one.unanswered.items())))
                who, first = _many(len(one.unanswered), one.dialect), why.splitlines()[0]
                yield f"{one.dialect}: {who} cannot be resolved on either side: {name}: {first}"
        for shown, file in zip(self.found.files, self.found.changed, strict=True):
            outcome = self.found.outcome(file)
            if file in (*self.found.not_run, *self.found.unseen):
                yield f"{shown} {outcome}"

    # --- for a pull request

    def markdown(self) -> str:
        """The same for a pull request: a fold for each group, and no more than a comment holds."""
        parts = [f"**{in_code(self.found.before)} → {in_code(self.found.after)}**: {self._counted()}", ""]
        blocks = [*self._blocks(MOST - sum(map(len, parts)) - 2_000)]
        parts += blocks[:_OPEN]
        if more := blocks[_OPEN:]:
            parts += [f"<details><summary>{_changes(len(more))} more</summary>", "", *more, "</details>", ""]
        if left := len(self.found.groups) - len(blocks):
            parts += [f"... and {_changes(left)} more, too many for a comment", ""]
        if self.found.silent:
            rows = [f"- {in_code(_silence(one))}" for one in self.found.silent]
            parts += [
                "<details><summary>lines that change nothing</summary>",
                "",
                *rows[:_LISTED],
                "",
                "</details>",
                "",
            ]
        notes = [text for text in (*self._done(), *self.found.notes) if text]
        return "\n".join([*parts, *(f"<sub>{plain(cut(text, 400))}</sub>  " for text in notes[:_LISTED]), ""])

    def _blocks(self, room: int) -> Iterator[str]:
        """The fold of each change, as long as all of them fit into *room* characters."""
        for group in self.found.groups:
            block = "\n".join(self._folded(group))
            room -= len(block) + 1
            if room < 0:
                return
            yield block

    def _folded(self, group: ChangeGroup) -> Iterator[str]:
        sign = "❗ " if self._fails(group) else ""
        yield f"<details><summary>{sign}{plain(_title(group))}: {plain(self._short(group))}</summary>"
        yield ""
        yield f"because of {in_code(_because(group))}" if group.lines else f"{plain(_because(group))}"
        yield ""
        if group.kind != NO_ANSWER:
            yield in_code(_change(group, 2_000))
            yield ""
        yield plain(_names(group.subjects, _LISTED))
        yield ""
        yield "</details>"
        yield ""

    def _short(self, group: ChangeGroup) -> str:
        if group.kind == NO_ANSWER:
            return cut(_failure(group), 200)
        return _change(group, _WIDEST, "→")

    # --- as findings

    def findings(self) -> Iterator[Finding]:
        """One for each line that changes something, each change of a group, and each line that changes nothing."""
        for group in self.found.groups:
            fails = self._fails(group)
            code = (NO_LONGER_ANSWERS if group.sign == "broken" else VALUE_CHANGES).entry.code
            text = _failure(group) if group.kind == NO_ANSWER else _change(group, 200)
            message = f"{_title(group)}: {text}"
            for line in group.lines[:1] or (None,):
                file, number = (line.file, line.line) if line is not None else (None, None)
                more = tuple(f"and {one}" for one in group.lines[1:])
                details = (*more, _names(group.subjects, _SHOWN))
                yield Finding(code, "error" if fails else "note", message, file, number, details=details)
        if not self.found.is_certain:
            yield Finding(IMPACT_NOT_KNOWN.entry.code, "warning", self._not_known(), details=tuple(self._done()))
        for one in self.found.silent:
            yield Finding(CHANGES_NOTHING.entry.code, "note", _silence(one, place=False), one.line.file, one.line.line)


# --- words


def _many(count: int, dialect: str) -> str:
    return f"{count} {named(dialect).noun}{'s' * (count != 1)}"


def _changes(count: int) -> str:
    return f"{count} change{'s' * (count != 1)}"


def _title(group: ChangeGroup) -> str:
    who = _many(len(group.subjects), group.dialect)
    if group.kind != NO_ANSWER:
        return f"{who}: {group.spelled}"
    words = {"broken": "can no longer be resolved", "mended": "can be resolved now"}
    return f"{who}: {words.get(group.sign, 'cannot be resolved for another reason')}"


def _failure(group: ChangeGroup) -> str:
    shown = group.after if group.after.is_there else group.before
    return " ".join(str(shown.data).split("\n")[0].split())


def _because(group: ChangeGroup) -> str:
    if group.unsteady:
        return "(another answer each time it is asked)"
    return ", ".join(map(str, group.lines)) or "(no single line)"


def _sign(group: ChangeGroup) -> str:
    return {"added": "+", "removed": "-", "broken": "!", "mended": "+"}.get(group.sign, "~")


def _style(group: ChangeGroup) -> str:
    return {"broken": "error", "mended": "added"}.get(group.sign, group.sign)


def _change(group: ChangeGroup, width: int, arrow: str = "->") -> str:
    """From what to what; of lists that differ alike the elements."""
    if group.elements is None:
        return f"{_shown(group.before, width)} {arrow} {_shown(group.after, width)}"
    parts = (("without", group.elements[0]), ("with", group.elements[1]))
    texts = (f"{word} {', '.join(map(on_one_line, some))}" for word, some in parts if some)
    return f"lists {', '.join(cut(printable(text), width) for text in texts)}"


def _shown(value: Value, width: int) -> str:
    if not value.is_there:
        return "(not set)"
    if value.is_secret and value.data == {SECRET: "withheld"}:
        return "(a secret)"
    text = str(value.data).split("\n")[0] if value.is_failed else on_one_line(value.data)
    return cut(printable(text), width)


def _names(names: Sequence[str], most: int) -> str:
    return first_of([name or "(no node)" for name in names], most)


def _silence(one: Silent, place: bool = True) -> str:
    who = (
        f"the {named(one.dialect).noun} that reads it"
        if one.subjects == 1
        else f"all {_many(one.subjects, one.dialect)} that read it"
    )
    where = f"{one.line} " if place else ""
    by = f"{', '.join(one.by[:3])}{' and others' if len(one.by) > 3 else ''}"
    return f"{where}{_spelled(one.path)}: overridden on {who} by {by}"


def _work(one: DialectAnswers) -> str:
    many = f"{one.dialect}: {_many(one.known, one.dialect)}"
    if one.sampled is not None:
        many += f", a sample of {one.sampled}"
    if one.left:
        many += f"; interrupted: {one.left} not computed"
    spared = max(one.passed - one.both, 0)
    unchanged = f", {spared} {'reads' if spared == 1 else 'read'} no changed file" if spared else ""
    return f"{many}; {one.both} computed on both sides{unchanged}{_sharing(one)}"


def _sharing(one: DialectAnswers) -> str:
    """How many share answers, where a sample of them was computed in full; "" where all were."""
    alone = f"; {one.one_by_one} one by one, since members of their group differ" if one.one_by_one else ""
    if not one.checked:
        return ""
    return f"; {one.shared} share the answers of others, {one.checked} of them checked (seed {one.seed}){alone}"


def _spelled(path: Path) -> str:
    return ".".join(map(str, path))


# --- data


def _line_data(line: Line) -> dict[str, Any]:
    return {"file": line.file, "line": line.line, "gone": line.is_gone}


def _group_data(group: ChangeGroup, fails: bool) -> dict[str, Any]:
    return {
        "dialect": group.dialect,
        "kind": group.kind,
        "path": "" if group.kind == NO_ANSWER else group.spelled,
        "steps": [] if group.kind == NO_ANSWER else list(group.path),
        "change": group.sign,
        **({} if group.elements is None else dict(zip(("removed", "added"), group.elements, strict=True))),
        **{
            side: _value_data(value)
            for side, value in (("before", group.before), ("after", group.after))
            if value.is_there and group.elements is None
        },
        "because": [_line_data(line) for line in group.lines],
        "tried": group.tried,
        "unsteady": group.unsteady,
        "refused": fails,
        "subjects": list(group.subjects),
    }


def _value_data(value: Value) -> dict[str, Any]:
    return {"value": value.data, "secret": value.is_secret, "failed": value.is_failed}


def _asked_data(one: DialectAnswers) -> dict[str, Any]:
    return {
        "dialect": one.dialect,
        "subjects": one.known,
        "sample_of": one.sampled,
        "passed_over_before": one.passed,
        "shared": one.shared,
        "checked": one.checked,
        "seed": one.seed,
        "one_by_one": one.one_by_one,
        "asked_on_both_sides": one.both,
        "not_asked": one.left,
        "without_facts": one.bare,
        "added": list(one.added),
        "removed": list(one.removed),
        "unanswered": [{"subject": name, "error": why} for name, why in sorted(one.unanswered.items())],
    }
