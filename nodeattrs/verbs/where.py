"""The verb `where`: what a line or a file sets, on which subjects it wins, and what overrides it there.

`lines.FolderLines` has the effects of lines; this module adds the lines that no subject reads, and the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.contract.answers import Setting
from nodeattrs.contract.command import Output, Question
from nodeattrs.contract.dialect import Opened
from nodeattrs.core.tree import Path, spell
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.dialects import all_dialects, named
from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.verbs import hover
from nodeattrs.verbs.asking import key_of, of_files
from nodeattrs.verbs.blocks import lines_below
from nodeattrs.verbs.hunks import file_and_line, text_of
from nodeattrs.verbs.lines import FileLine, FolderLines, LineEffect

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class _WhereReport:
    """The report of `where`. It prints a block for each effect, then a line for each setting without effect.

    effects: one for each path that a line of the question sets and a subject has
    asked:   dialect -> (number of subjects that were computed, number of all)
    unused:  (file, Setting) for each line that sets a path for no subject
    failed:  subject -> why it cannot be resolved
    path:    the key of the question; () for a line or a file
    """

    effects: Sequence[LineEffect]
    asked: Mapping[str, tuple[int, int]]
    unused: Sequence[tuple[str, Setting]]
    failed: Mapping[str, str]
    path: Path = ()

    def to_dict(self) -> dict[str, Any]:
        """The effects, unused settings and unresolved subjects, as data for JSON."""
        return {
            "version": 1,
            "lines": [_effect_data(one) for one in self.effects],
            "unused": [
                {"file": file, "line": one.line, "path": spell(one.path), "note": one.note or None}
                for file, one in self.unused
            ],
            "not_known": [{"subject": name, "message": why} for name, why in self.failed.items()],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a block of text for each effect, then a line for each unused setting.

        Where both are empty: one sentence for a key, nothing for a file or line.
        """
        for number, effect in enumerate(self.effects):
            if number:
                yield ""
            first, *rest = hover.sentences(effect, self.asked)
            yield f"{screen.paint(printable(str(effect.place)), 'faint')}  {screen.paint(printable(first), 'strong')}"
            for text in rest:
                yield from screen.wrapped(printable(text), "    ", "  ")
        if self.path and not (self.effects or self.unused):
            yield printable(f"{spell(self.path)}: no line that was read sets it")
        for file, setting in self.unused:
            note = setting.note or "sets no value of any subject"
            yield printable(f"{file}:{setting.line}  {spell(setting.path)}: {note}")


def _effect_data(effect: LineEffect) -> dict[str, Any]:
    first = next(iter(effect.accounts))
    return {
        "file": effect.place.file,
        "line": effect.place.line,
        "dialect": effect.dialect,
        "path": spell(effect.path),
        "value": effect.setter(first).value,
        "wins_on": list(effect.wins),
        "accounts": [
            {
                "subjects": list(names),
                "outcome": effect.setter(account).outcome.value,
                "value": account.value,
                "setters": [
                    {
                        "outcome": one.outcome.value,
                        "layer": one.title,
                        "value": one.value,
                        "place": str(one.place or one.who),
                    }
                    for one in account.setters
                ],
            }
            for account, names in effect.accounts.items()
        ],
    }


def where(question: Question) -> Output:
    """The effects of a line, of all lines of a file, or of all lines that set a key.

    If a line sets nothing itself, the lines below it are used, or else the key that it is inside of.

    Exit code 1 where a key is set nowhere and everything was read.
    raises: BadArgument, if the question has both a place and a key, or neither; NotFound, for an unknown file, for a
            file or line without effects, and for unknown subjects. If no dialect has subjects, the error of a dialect
            that cannot list its subjects
    """
    question = of_files(question)
    place, key = question.arguments.get("place"), question.arguments["key"]
    if (place is None) == (key is None):
        raise BadArgument("name one thing: FILE, FILE:LINE, or --key KEY")
    return _of_key(question, key_of(question)) if place is None else _of_place(question, place)


def _of_key(question: Question, path: Path) -> Output:
    lines = _looked(question, path)
    effects = lines.all()
    used = {(effect.place.file, effect.place.line) for effect in effects}
    others = other_lines(question, path)
    unused = [one for one in others.lines if (one[0], one[1].line) not in used]
    unread = lines.unread_of(effects, [] if effects else [path])
    is_unset = not (effects or unused)
    unread += others.unread if is_unset else ()
    more = () if is_unset else sentences(others.unread)
    found = _output(lines, effects, unused, unread, path)
    return found._replace(warnings=[*found.warnings, *more])


def _of_place(question: Question, place: str) -> Output:
    side = question.side
    found = file_and_line(side, question.request, place)
    if found is None:
        raise NotFound(f"there is no file {place} in {side.root}", hint="name FILE or FILE:LINE, as seen from --repo")
    file, line = side.named(found[0]), found[1]
    noted = {(one.path, one.line): one.note for opened in _opened(question) for one in opened.settings(found[0])}
    written = set(noted)
    settings = written if line is None else _at_or_below(text_of(side, found[0]) or (), line, written)
    near = [] if line is None else [path for path, _ in settings] or _paths_near(written, line)
    lines = _looked(question, None, near)
    effects = _effects(lines, file, line)
    if near and not (effects and {one for _, one in settings} <= {effect.place.line for effect in effects}):
        lines = _looked(question, None)  # a subject may have a value under another name
        effects = _effects(lines, file, line)
    used = {effect.place.line for effect in effects}
    unused = sorted((one for one in settings if one[1] not in used), key=lambda one: (one[1], str(one[0])))
    notes = {} if line is None else _notes(question, file, [one[0] for one in unused if not noted[one]])
    unread = lines.unread_of(effects, [path for path, _ in unused])
    if not (effects or unused or unread):
        raise NotFound(f"{place} sets nothing on any subject", hint="`nodeattrs list subjects` names who is asked")
    return _output(lines, effects, [(file, Setting(*one, notes.get(one) or noted[one])) for one in unused], unread)


def _at_or_below(text: Sequence[str], line: int, written: Iterable[tuple[Path, int]]) -> set[tuple[Path, int]]:
    """The (path, line) of *written* on a line; of the lines below it, where it sets nothing itself."""
    on_line = {one for one in written if one[1] == line}
    below = lines_below(text, line)
    return on_line or {one for one in written if one[1] in below}


def _effects(lines: FolderLines, file: str, line: int | None) -> list[LineEffect]:
    """The effects of a line, or of all lines of a file; the numbers of the lines ascend."""
    return lines.in_file(file) if line is None else lines.around(FileLine(file, line))


def _notes(question: Question, file: str, paths: Iterable[Path]) -> dict[tuple[Path, int], str]:
    """Where lines of a file count that set no value of a subject: (path, line) -> "in site.yml play 2", or ""."""
    return {
        (path, one.line): one.note for path in paths for name, one in other_lines(question, path).lines if name == file
    }


def _paths_near(written: Iterable[tuple[Path, int]], line: int) -> list[Path]:
    """The paths that a file sets on a line, or on the nearest line above, where the list or text of the line begins."""
    nearest = max((one for _, one in written if one <= line), default=0)
    return [path for path, one in written if one == nearest]


def _looked(question: Question, only: Path | None, near: Sequence[Path] = ()) -> FolderLines:
    """The effects of all lines, looked up for the subjects of the question.

    only:   trace this path alone; None: all paths
    near:   trace only paths that share a step with one of these; empty: all paths
    raises: NotFound, for unknown subjects; the error of a dialect that cannot list its subjects, if no other has any
    """
    on = question.arguments.get("on") or ()
    request = question.request._replace(nodes=tuple(on)) if on else question.request
    request = request._replace(about=tuple(sorted({str(step) for path in near for step in path})))
    sharing = not question.arguments.get("no_sharing")
    lines = FolderLines(question.side.root, request, _ALL, question.dialects, only, question.side, near, sharing)
    lines.look(question.progress)
    if lines.unlisted and not any(of for _, of in lines.count.values()):
        raise next(iter(lines.unlisted.values()))
    if on and not any(asked for asked, _ in lines.count.values()):
        raise NotFound(f"there is no subject {' or '.join(on)}", hint="`nodeattrs list subjects`")
    return lines


def _output(
    lines: FolderLines,
    effects: Sequence[LineEffect],
    unused: Sequence[tuple[str, Setting]],
    unread: Sequence[Unread],
    path: Path = (),
) -> Output:
    report = _WhereReport(effects, lines.count, unused, dict(lines.failed()), path)
    return Output(
        report, int(not (effects or unused or unread or border.refused())), warnings=lines.warnings, unread=unread
    )


class OtherLines(NamedTuple):
    """The lines that set a path in files that perhaps no subject reads, such as vars of a play.

    lines:  (file, Setting) of each; the note of the Setting says where the line counts
    unread: places that were not read, and may have more such lines
    """

    lines: Sequence[tuple[str, Setting]]
    unread: Sequence[Unread]


def other_lines(question: Question, path: Path) -> OtherLines:
    """All lines of the folder that set *path*, in the dialects of the question, also in files that no subject reads.

    The result also has what was not read and may set the path.

    raises: the error of a dialect that cannot be opened
    """
    side = question.side
    lines: list[tuple[str, Setting]] = []
    unread: list[Unread] = []
    for opened in _opened(question):
        for origin, note in opened.lines_of(path):
            shown = side.shown(origin.file) if origin.file else None
            if origin.file and origin.line is not None:
                name = origin.file if shown is None else side.named(shown)
                lines.append((name, Setting(path, origin.line, note)))
        unread += opened.unread_lines(path)
    return OtherLines(lines, unread)


def _opened(question: Question) -> Iterator[Opened]:
    for dialect in [named(name) for name in question.dialects] or all_dialects().values():
        opened = dialect.open(question.side, question.request)
        if opened.is_there:
            yield opened
