"""The verb `overview`: what lies in a folder, and which commands to type next.

`nodeattrs` without a command runs it, too.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

from nodeattrs.contract.answers import Part
from nodeattrs.contract.command import Output, Question
from nodeattrs.contract.dialect import FirstSteps
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects import all_dialects, named
from nodeattrs.dialects.folders import repositories_below
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.verbs.asking import Subjects

_OF_FILES = ("nodeattrs why KEY base.yaml prod.yaml", "nodeattrs fold base.yaml prod.yaml --blame")
"""Commands that work anywhere, with the user's own files."""
_NAMED = 3
"""The most names in a line, and the most subjects that are tried for an example."""
_MOST_DIALECTS = 3
"""The most dialects that get an example."""
_DEEPEST = 12
"""The most steps of a key that serves as an example."""
_LEAVES = 200
"""The most values of a subject that are tried: the first one that a file of the folder sets is the example."""


@dataclass(frozen=True, slots=True)
class _Overview:
    """The report of `overview`: what lies in a folder, with commands to type next. `overview` fills it.

    title:    the folder
    subjects: dialect -> the names of its subjects; {} where there are none
    unlisted: dialect -> why its subjects cannot be listed
    commands: commands that work here; if the folder has no subjects, commands about files
    below:    folders below it that look like repositories; only where it has no subjects itself
    there:    sentences about files that need a first step
    """

    title: str
    subjects: Mapping[str, Sequence[str]]
    unlisted: Mapping[str, NodeattrsError]
    commands: Sequence[str]
    below: Sequence[str] = ()
    there: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """All fields as data for JSON; errors as their messages."""
        return {
            "version": 1,
            "folder": self.title,
            "subjects": {name: [*some] for name, some in self.subjects.items()},
            "not_known": {name: error.message for name, error in self.unlisted.items()},
            "commands": [*self.commands],
            "below": [*self.below],
            "there": [*self.there],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a head, a line for each dialect with number and first names, folders below, then commands."""
        yield screen.paint("Which file and line set this value, and what did it override?", "strong")
        yield ""
        for name, some in self.subjects.items():
            count = f"{len(some):,} {named(name).noun}{'s' if len(some) != 1 else ''}"
            names = first_of([one for one in some if one], _NAMED)
            yield printable(f"  {count} ({name}){': ' if names else ''}{names}")
        for name, error in self.unlisted.items():
            yield printable(f"  {name}: {error.message} [{error.code}]")
            if error.hint:
                yield printable(f"    {error.hint}")
        yield from (printable(f"  {one}") for one in self.there)
        if not (self.subjects or self.unlisted or self.there):
            yield printable(f"  {self.title} has no nodes, hosts, charts or user-data that nodeattrs finds by itself")
        yield from self._next_steps(screen)

    def _next_steps(self, screen: Screen) -> Iterator[str]:
        if self.below:
            yield ""
            yield "these folders look like repositories:"
            yield from (printable(f"  nodeattrs --repo {shlex.quote(one)}") for one in self.below[:_NAMED])
        if self.commands:
            yield ""
            yield "with files of your own, the weakest first:" if self.commands == _OF_FILES else "try:"
            yield from (printable(f"  {one}") for one in self.commands)
        yield ""
        yield screen.paint("nodeattrs --help lists all commands", "faint")


def overview(question: Question) -> Output:
    """The subjects in the folder of a question, and commands about them; never raises for a folder without subjects.

    cost: listing the subjects, and the values of three subjects for three dialects at most
    """
    subjects = Subjects(question._replace(request=question.request.asking(("",))))  # unread places are not shown
    root = question.side.root
    try:
        found = {name: some for name, some in subjects.names.items() if some}
    except NotFound:
        return Output(_without_subjects(question, subjects.unlisted), unread=[])
    except NodeattrsError:
        found = {}
    steps = [*_first_steps(root, {*found, *subjects.unlisted})] if found else []
    commands = [*_example_commands(subjects, found), *(step.commands[0] for step in steps)]
    report = _Overview(str(root), found, subjects.unlisted, commands, there=[step.found for step in steps])
    return Output(report, unread=subjects.unread)


def _place_options(question: Question) -> str:
    """The options that name the folder and the files of a question: " --repo site"; "" for the current folder."""
    repo = question.arguments.get("repo")
    words = [] if repo in (None, ".") else ["--repo", repo]
    for name, place in question.request.places:
        option = named(name).option
        words += [] if option is None else [option.name, place]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _without_subjects(question: Question, unlisted: Mapping[str, NodeattrsError]) -> _Overview:
    """The overview of a folder without subjects: commands about the first folder below with some; else first steps."""
    root, repo = question.side.root, question.arguments.get("repo")
    below = [one for one in repositories_below(root) if one != "."]
    for one in below[:_NAMED]:
        arguments = {**question.arguments, "repo": one if repo in (None, ".") else os.path.join(repo, one)}
        inner = Subjects(question._replace(side=folder_side(root / one, later=True), arguments=arguments))
        with suppress(NodeattrsError):
            subjects = {name: some for name, some in inner.names.items() if some}
            if subjects:
                return _Overview(str(root), {}, unlisted, _example_commands(inner, subjects), below)
    for one in ("", *below[:_NAMED]):
        steps = [*_first_steps(root / one)]
        if steps:
            folder = os.path.normpath(os.path.join(repo or ".", one))
            first = [] if folder == "." else [f"cd {shlex.quote(folder)}"]
            first += [line for step in steps for line in step.commands]
            found = [f"{one}: {step.found}" if one else step.found for step in steps]
            return _Overview(str(root), {}, unlisted, first, below, found)
    return _Overview(str(root), {}, unlisted, [] if below else _OF_FILES, below)


def _first_steps(folder: FilePath, known: Collection[str] = ()) -> Iterator[FirstSteps]:
    """What to type for the files of each dialect that has no subject. known: the dialects that have some"""
    for name, dialect in all_dialects().items():
        steps = None if name in known else dialect.first_steps(folder)
        if steps is not None:
            yield steps


def _example_commands(subjects: Subjects, found: Mapping[str, Sequence[str]]) -> list[str]:
    """Commands about first subjects: all three of one dialect; of several dialects one each, and the first `where`."""
    examples = [_first_examples(subjects, name, some) for name, some in [*found.items()][:_MOST_DIALECTS]]
    commands = [one for some in examples for one in (some if len(examples) == 1 else some[:1])]
    if len(examples) > 1 and examples[0][1:]:
        commands.append(examples[0][-1])
    options = _place_options(subjects.question)
    return [f"{one}{options}" for one in commands]


def _first_examples(subjects: Subjects, dialect: str, names: Sequence[str]) -> list[str]:
    """Commands about the first subject with a value; about the first one where none of the first three has any."""
    tried: list[list[str]] = []
    for name in names[:_NAMED]:
        tried.append(_examples(subjects, dialect, name))
        if len(tried[-1]) > 1:
            return tried[-1]
    return tried[0]


def _examples(subjects: Subjects, dialect: str, name: str) -> list[str]:
    """Commands about a value of a subject: why, blame, and where if a file sets it; only blame without a value."""
    blame = f"nodeattrs blame {shlex.quote(name)}" if name else "nodeattrs blame"
    found = _example(subjects, dialect, name)
    if found is None:
        return [blame]
    path, place = found
    on = f" --on {shlex.quote(name)}" if name else ""
    why = f"nodeattrs why {shlex.quote(spell(path))}{on}"
    return [why, blame] if place is None else [why, blame, f"nodeattrs where {shlex.quote(place)}"]


def _example(subjects: Subjects, dialect: str, name: str) -> tuple[Path, str | None] | None:
    """The path of a value of a subject, and the line that sets it; None where it has no value."""
    replies = (one for one in subjects.replies([name] if name else ()) if one.dialect.name == dialect)
    reply = next(replies, None)
    for part in reply.parts.values() if reply is not None else ():
        leaves = [*islice(_leaves(part), _LEAVES)]
        if leaves:
            places = ((path, _place(part, path, subjects.question.side)) for path in leaves)
            return next((one for one in places if one[1] is not None), (leaves[0], None))
    return None


def _leaves(part: Part) -> Iterator[Path]:
    """Yield the path of the first leaf below each key; a key whose value cannot be computed has none."""
    for key in part.tree:
        try:
            value = part.tree[key]
        except NodeattrsError:
            continue
        path: Path = (key,)
        while isinstance(value, dict) and value and len(path) < _DEEPEST:
            step = next(iter(value))
            path, value = (*path, step), value[step]
        if not isinstance(value, (dict, NodeattrsError)):
            yield path


def _place(part: Part, path: Path, side: Side) -> str | None:
    """The line that set the value; None where no file of the side did."""
    try:
        origin = next(iter(part.places(path)), None)
    except NodeattrsError:
        return None
    if origin is None or not origin.file or not origin.line:
        return None
    inside = side.shown(origin.file)
    return None if inside is None else f"{side.named(inside)}:{origin.line}"
