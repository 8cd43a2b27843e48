"""The report of an `Impact`: as text, as data, as Markdown for a pull request, and as findings.

Nothing is computed here. Equal impacts give the same text, in the same order.
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
from nodeattrs.reports.findings import Finding, Severity
from nodeattrs.reports.markdown import in_code, plain
from nodeattrs.reports.screen import Screen, counted, cut, first_of, printable
from nodeattrs.reports.values import on_one_line
from nodeattrs.verbs.comparing import NO_ANSWER, SECRET, Value
from nodeattrs.verbs.hunks import Line
from nodeattrs.verbs.impact import NOT_READ, NOT_RUN, ChangeGroup, DialectAnswers, Impact, LineWithoutEffect

_SHOWN, _LISTED = 6, 40
"""The most names of subjects in text, and in Markdown."""
_WIDEST = 70
_LONGEST = 400
"""The most characters of one line without effect, and of one note, in Markdown."""
_OPEN = 20
"""The number of changes in a comment that are not behind the fold "... more"."""
_PAGES = (".md", ".rst", ".adoc")
"""Endings of files that set no value anywhere. Not .txt: templates and programs read such files."""
MOST = 60_000
"""The most characters of Markdown: a comment on a pull request holds a few more."""


class Pattern:
    """A pattern of paths: `apache2.**`, `*.port`; of resources `File[/etc/*].content`. `fits` matches a path.

    A text without `*` matches only the path that it spells. The constructor accepts every text.

    >>> Pattern("apache2.**").fits(("apache2", "tls", "port")), Pattern("*.port").fits(("app", "x", "port"))
    (True, False)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._steps: Path | None = parse(text)
        except NodeattrsError:  # the text names a resource
            self._steps = None

    def fits(self, path: Path) -> bool:
        """Whether the pattern matches the whole path.

        `*` stands for a part of one step, `**` for any number of steps, also none. In a pattern with "[", `*` also
        fits text with dots.
        """
        is_resource, has_star = "[" in self.text, "*" in self.text
        if is_resource or not has_star:
            spelled = ".".join(map(str, path))
            if fnmatchcase(spelled, self.text.replace("[", "[[]")):
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
    """The report of an impact, with the conditions under which the command fails.

    `is_refused` says whether the command fails: because of *forbidden* or *most*, or because a subject that can be
    resolved before the change cannot be resolved after it. The report has four forms, all without secrets. `to_dict`
    returns data for JSON, and `lines` yields the text. `markdown` returns a comment for a pull request, and `findings`
    yields Findings.
    found:     the impact, without the groups that --ignore-path leaves out
    ignored:   the number of groups that --ignore-path leaves out
    forbidden: patterns of paths that must not change
    most:      the most subjects that may have a change; None: any number
    """

    found: Impact
    ignored: int = 0
    forbidden: Sequence[Pattern] = ()
    most: int | None = None

    @property
    def is_refused(self) -> bool:
        """Whether a forbidden path changes, a subject can no longer be resolved, or too many subjects change."""
        is_over = self.most is not None and len(self.found.subjects) > self.most
        return is_over or any(map(self._fails, self.found.groups))

    def _fails(self, group: ChangeGroup) -> bool:
        return group.sign == "broken" or any(one.fits(group.path) for one in self.forbidden)

    # --- as data

    def to_dict(self) -> dict[str, Any]:
        """The impact as data for JSON; `nodeattrs schema impact` describes all keys.

        "changes" has a dict for each group, "changes_nothing" one for each line without effect, "asked" one for each
        dialect, and "outcomes" one for each changed file. "refused" says whether the command fails, and "certain"
        whether "changes" has all changes. A list without entries is []. A secret is withheld on both sides, but its
        change is listed.
        """
        found = self.found
        unread = [Unread(file, NOT_RUN, kind="file") for file in found.not_run]
        unread += [Unread(file, "is read by no subject", kind="file") for file in found.unseen]
        for group in found.doubtful:
            reason = "was not read, and may set what changes"
            unread += [Unread(place, reason, (group.path,)) for place in group.unread]
        return {
            "version": 1,
            "before": found.before,
            "after": found.after,
            "files": list(found.files),
            "refused": self.is_refused,
            "ignored": self.ignored,
            "asked": list(map(_dialect_data, found.dialects)),
            "changes": [_group_data(one, self._fails(one)) for one in found.groups],
            "changes_nothing": [
                {
                    **_line_data(one.line),
                    "dialect": one.dialect,
                    "path": _spelled(one.path),
                    "overridden_by": list(one.overridden_by),
                    "subjects": one.subject_count,
                }
                for one in found.silent
            ],
            "certain": found.is_certain,
            "unread": [one.to_dict() for one in unread],
            "outcomes": [
                {"file": shown, "outcome": found.outcome(file)}
                for shown, file in zip(found.files, found.changed, strict=True)
            ],
            "notes": list(found.notes),
        }

    # --- as text

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of the text: a head, the groups, the lines without effect, what was computed, and notes.

        If no change was found, the head says so, and what may change nevertheless.
        """
        yield screen.paint(printable(self._head()), "strong")
        for group in self.found.groups:
            yield ""
            yield from self._group(group, screen)
        if self.found.silent:
            yield ""
            yield "lines that change nothing"
            for one in self.found.silent:
                yield from screen.wrapped(printable(_without_effect(one)), "      ", "  ")
        yield ""
        for text in (*self._done(), *self.found.notes):
            yield from screen.wrapped(printable(text), "  ", "")

    def _group(self, group: ChangeGroup, screen: Screen) -> Iterator[str]:
        places = screen.paint(printable(_because(group)), "faint")
        sign = screen.paint(_SIGNS[group.sign], _STYLES.get(group.sign, group.sign))
        yield f"{sign} {printable(_title(group))}  {places}"
        if group.kind == NO_ANSWER:
            yield from screen.wrapped(printable(_failure(group)), "      ", "    ")
        else:
            yield from screen.wrapped(_change(group, 500), "      ", "    ")
        yield from screen.wrapped(printable(_names(group.subjects, _SHOWN)), "      ", "    ")
        if group.unread:
            yield f"    {_NOT_CERTAIN}"

    def _head(self) -> str:
        found = self.found
        verb = "differs" if len(found.files) == 1 else "differ"
        return f"{found.before} -> {found.after}: {counted(len(found.files), 'file')} {verb}, {self._counted()}"

    def _counted(self) -> str:
        if not self.found.groups and not self.found.subjects:
            return self._no_change()
        parts = []
        for one in self.found.dialects:
            changed = {name for group in self.found.groups if group.dialect == one.dialect for name in group.subjects}
            if changed:
                verb = "changes" if len(changed) == 1 else "change"
                parts.append(f"{len(changed)} of {_many(one.known, one.dialect)} {verb} ({one.dialect})")
            for word, names in (("added", one.added), ("removed", one.removed)):
                if names:
                    parts.append(f"{_many(len(names), one.dialect)} {word}")
        return ", ".join(parts) + ("" if self.found.is_certain else f"; {self._not_known()}")

    def _no_change(self) -> str:
        """The sentence that nothing changes; a weaker one unless every changed file but pages of text was read."""
        if not self.found.is_certain:
            return f"no change was found; {self._not_known()}"
        if any(one.sampled is not None for one in self.found.dialects):
            return "no change was found in the sample"
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
            for one in found.dialects
            if one.not_known
        ]
        for files, why in (
            (found.not_run, "not run, or naming what was not read"),
            (found.unseen, "read by no subject"),
            (found.unread, "outside of the two sides"),
        ):
            if files:
                parts.append(f"{counted(len(files), 'file')} {why}")
        if found.left:
            parts.append(f"{counted(found.left, 'subject')} not computed")
        if found.doubtful:
            places = dict.fromkeys(place for one in found.doubtful for place in one.unread)
            changes = counted(len(found.doubtful), "change")
            parts.append(f"the values of {changes}: {first_of([*places], 3)} may set them")
        return f"not known: {', '.join(parts)}"

    def _done(self) -> Iterator[str]:
        """Yield sentences about what was computed, and what was not."""
        if self.ignored:
            yield f"{counted(self.ignored, 'change')} passed over by --ignore-path"
        for one in self.found.dialects:
            yield _work(one)
            for word, names in (("added", one.added), ("removed", one.removed)):
                if names:
                    yield f"{one.dialect}: {word}: {_names(names, _SHOWN)}"
            if one.bare:
                yield f"{one.dialect}: no facts are known of {_many(one.bare, one.dialect)}: --facts or --platform"
            if one.unanswered:
                name, why = next(iter(sorted(one.unanswered.items())))
                who, first = _many(len(one.unanswered), one.dialect), why.splitlines()[0]
                yield f"{one.dialect}: {who} cannot be resolved on either side: {name}: {first}"
        for shown, file in zip(self.found.files, self.found.changed, strict=True):
            if file in (*self.found.not_run, *self.found.unseen):
                yield f"{shown} {NOT_RUN if file in self.found.not_run else self.found.outcome(file)}"

    # --- for a pull request

    def markdown(self) -> str:
        """The impact as Markdown for a comment on a pull request: a fold for each group.

        Groups that would exceed 60,000 characters are only counted, and so are lines without effect and notes after the
        first 40. A line or note of more than 400 characters ends with "…".
        """
        parts = [f"**{in_code(self.found.before)} → {in_code(self.found.after)}**: {self._counted()}", ""]
        end = [*self._silent_lines(), *self._notes(), ""]
        blocks = [*self._blocks(MOST - sum(len(one) + 1 for one in (*parts, *end)) - 200)]
        parts += blocks[:_OPEN]
        if len(blocks) > _OPEN:
            more = blocks[_OPEN:]
            parts += [f"<details><summary>{counted(len(more), 'change')} more</summary>", "", *more, "</details>", ""]
        left = len(self.found.groups) - len(blocks)
        if left:
            parts += [f"... and {counted(left, 'change')} more, too many for a comment", ""]
        return "\n".join([*parts, *end])

    def _silent_lines(self) -> Iterator[str]:
        """Yield the fold of the lines without effect; nothing without such lines."""
        silent = self.found.silent
        if silent:
            yield from ("<details><summary>lines that change nothing</summary>", "")
            yield from (f"- {in_code(cut(_without_effect(one), _LONGEST))}" for one in silent[:_LISTED])
            if len(silent) > _LISTED:
                yield f"- and {counted(len(silent) - _LISTED, 'line')} more"
            yield from ("", "</details>", "")

    def _notes(self) -> Iterator[str]:
        notes = [text for text in (*self._done(), *self.found.notes) if text]
        yield from (f"<sub>{plain(cut(text, _LONGEST))}</sub>  " for text in notes[:_LISTED])
        if len(notes) > _LISTED:
            yield f"<sub>and {counted(len(notes) - _LISTED, 'note')} more</sub>  "

    def _blocks(self, room: int) -> Iterator[str]:
        """Yield the fold of each change, until they exceed *room* characters."""
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
        if group.unread:
            yield from ("", _NOT_CERTAIN)
        yield ""
        yield "</details>"
        yield ""

    def _short(self, group: ChangeGroup) -> str:
        if group.kind == NO_ANSWER:
            return cut(_failure(group), 200)
        return _change(group, _WIDEST, "→")

    # --- as findings

    def findings(self) -> Iterator[Finding]:
        """Yield a Finding for each group, at the first of its lines; then a note for each line without effect.

        Between them is a warning, if not everything is known.
        A group is an error if it makes the command fail; otherwise it is a note.
        """
        for group in self.found.groups:
            severity: Severity = "error" if self._fails(group) else "note"
            code = (NO_LONGER_ANSWERS if group.sign == "broken" else VALUE_CHANGES).entry.code
            text = _failure(group) if group.kind == NO_ANSWER else _change(group, 200)
            file, number = (group.lines[0].file, group.lines[0].line) if group.lines else (None, None)
            details = (*(f"and {one}" for one in group.lines[1:]), _names(group.subjects, _SHOWN))
            yield Finding(code, severity, f"{_title(group)}: {text}", file, number, details=details)
        if not self.found.is_certain:
            yield Finding(IMPACT_NOT_KNOWN.entry.code, "warning", self._not_known(), details=tuple(self._done()))
        for one in self.found.silent:
            yield Finding(CHANGES_NOTHING.entry.code, "note", _overridden(one), one.line.file, one.line.line)


# --- words


def _many(count: int, dialect: str) -> str:
    return counted(count, named(dialect).noun)


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


_NOT_CERTAIN = "not certain: what was not read may set it"
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "broken": "!", "mended": "+"}
_STYLES = {"broken": "error", "mended": "added"}
"""Signs that are not the name of a style themselves -> their style."""


def _change(group: ChangeGroup, width: int, arrow: str = "->") -> str:
    """The values before and after; of lists that change in the same way the removed and added elements."""
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


def _without_effect(one: LineWithoutEffect) -> str:
    return f"{one.line} {_overridden(one)}"


def _overridden(one: LineWithoutEffect) -> str:
    if one.subject_count == 1:
        subjects = f"the {named(one.dialect).noun} that reads it"
    else:
        subjects = f"all {_many(one.subject_count, one.dialect)} that read it"
    by = f"{', '.join(one.overridden_by[:3])}{' and others' if len(one.overridden_by) > 3 else ''}"
    return f"{_spelled(one.path)}: overridden on {subjects} by {by}"


def _work(one: DialectAnswers) -> str:
    many = f"{one.dialect}: {_many(one.known, one.dialect)}"
    if one.sampled is not None:
        many += f", a sample of {one.sampled}"
    if one.left:
        many += f"; interrupted: {one.left} not computed"
    return f"{many}{_sharing(one)}"


def _sharing(one: DialectAnswers) -> str:
    """How many subjects share answers, and how many of these were checked; "" where none was."""
    if not one.checked:
        return ""
    alone = f"; {one.one_by_one} one by one, since members of their group differ" if one.one_by_one else ""
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
            side: {"value": value.data, "secret": value.is_secret, "failed": value.is_failed}
            for side, value in (("before", group.before), ("after", group.after))
            if value.is_there and group.elements is None
        },
        "because": [_line_data(line) for line in group.lines],
        "tried": group.tried,
        "unsteady": group.unsteady,
        "refused": fails,
        "subjects": list(group.subjects),
    }


def _dialect_data(one: DialectAnswers) -> dict[str, Any]:
    return {
        "dialect": one.dialect,
        "subjects": one.known,
        "sample_of": one.sampled,
        "shared": one.shared,
        "checked": one.checked,
        "seed": one.seed,
        "one_by_one": one.one_by_one,
        "not_asked": one.left,
        "without_facts": one.bare,
        "added": list(one.added),
        "removed": list(one.removed),
        "unanswered": [{"subject": name, "error": why} for name, why in sorted(one.unanswered.items())],
    }
