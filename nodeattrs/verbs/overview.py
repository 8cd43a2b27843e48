"""`overview`: what lies in a folder, and which commands to type next; what `nodeattrs` prints without arguments."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
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
from nodeattrs.dialects import every, named
from nodeattrs.dialects.folders import repositories_below
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.verbs.asking import Subjects

_OF_FILES = ("nodeattrs why KEY base.yaml prod.yaml", "nodeattrs fold base.yaml prod.yaml --blame")
"""What can be typed anywhere, with files of the reader's own."""
_NAMED = 3
_MOST_DIALECTS = 3
"""Dialects that get an example."""
_DEEPEST = 12
"""Steps of a key that serves as an example."""
_LEAVES = 200
"""Values that are looked at for one that a file of the folder sets."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What lies in a folder.

    title:    the folder
    subjects: dialect -> the names of its subjects
    unlisted: dialect -> why its subjects cannot be listed
    commands: commands that work here
    below:    folders below it that look like repositories, where it has no subjects itself
    there:    what lies in it, where it has no subjects
    """

    title: str
    subjects: Mapping[str, Sequence[str]]
    unlisted: Mapping[str, NodeattrsError]
    commands: Sequence[str]
    below: Sequence[str] = ()
    there: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """The subjects, commands and folders."""
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
        """A line for each dialect, then the commands."""
        yield screen.paint("Which file and line set this value, and what did it override?", "strong")
        yield ""
        for name, some in self.subjects.items():
            count = f"{len(some):,} {named(name).noun}{'s' if len(some) != 1 else ''}"
            names = first_of([one for one in some if one], _NAMED)
            yield printable(f"  {count} ({name}){': ' if names else ''}{names}")
        for name, error in self.unlisted.items():
            yield printable(f"  {name}: {error.message} [{error.code}]")
        yield from (printable(f"  {one}") for one in self.there)
        if not (self.subjects or self.unlisted or self.there):
            yield printable(f"  {self.title} has no nodes, hosts, charts or user-data that nodeattrs finds by itself")
        yield from self._further(screen)

    def _further(self, screen: Screen) -> Iterator[str]:
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
    """What lies in the folder of a question. cost: the values of three subjects, for three dialects at most"""
    asked = Subjects(question._replace(request=question.request.asking(("",))))  # their unread places are not shown
    root = question.side.root
    try:
        found = {name: some for name, some in asked.names.items() if some}
    except NotFound:
        return Output(_without_subjects(question, asked.unlisted), unread=[])
    except NodeattrsError:
        found = {}
    return Output(Overview(str(root), found, asked.unlisted, _typed(asked, found)), unread=asked.unread)


def _given(question: Question) -> str:
    """The options that name what is asked, as they follow a command: " --repo site"; "" for the current folder."""
    repo = question.arguments.get("repo")
    words = [] if repo in (None, ".") else ["--repo", repo]
    for name, place in question.request.places:
        option = named(name).option
        words += [] if option is None else [option.name, place]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _without_subjects(question: Question, unlisted: Mapping[str, NodeattrsError]) -> Overview:
    """What can be typed in a folder that has no subjects: about the first folder below it that has some, or first
    steps."""
    root, repo = question.side.root, question.arguments.get("repo")
    below = [one for one in repositories_below(root) if one != "."]
    for one in below[:_NAMED]:
        arguments = {**question.arguments, "repo": one if repo in (None, ".") else os.path.join(repo, one)}
        inner = Subjects(question._replace(side=folder_side(root / one, later=True), arguments=arguments))
        with suppress(NodeattrsError):
            subjects = {name: some for name, some in inner.names.items() if some}
            if subjects:
                return Overview(str(root), {}, unlisted, _typed(inner, subjects), below)
    for one in ("", *below[:_NAMED]):
        steps = [*_first_steps(root / one)]
        if steps:
            folder = os.path.normpath(os.path.join(repo or ".", one))
            first = [] if folder == "." else [f"cd {shlex.quote(folder)}"]
            first += [line for step in steps for line in step.commands]
            found = [f"{one}: {step.found}" if one else step.found for step in steps]
            return Overview(str(root), {}, unlisted, first, below, found)
    return Overview(str(root), {}, unlisted, [] if below else _OF_FILES, below)


def _first_steps(folder: FilePath) -> Iterator[FirstSteps]:
    for dialect in every().values():
        steps = dialect.first_steps(folder)
        if steps is not None:
            yield steps


def _typed(asked: Subjects, found: Mapping[str, Sequence[str]]) -> list[str]:
    """Commands about the first subjects of some dialects: three of one dialect, else one of each and a line of the
    first."""
    examples = [_first_examples(asked, name, some) for name, some in [*found.items()][:_MOST_DIALECTS]]
    typed = [one for some in examples for one in (some if len(examples) == 1 else some[:1])]
    if len(examples) > 1 and examples[0][1:]:
        typed.append(examples[0][-1])
    there = _given(asked.question)
    return [f"{one}{there}" for one in typed]


def _first_examples(asked: Subjects, dialect: str, subjects: Sequence[str]) -> list[str]:
    """Commands about the first of some subjects that has a value; about the first one where none of three has any."""
    tried: list[list[str]] = []
    for subject in subjects[:_NAMED]:
        tried.append(_examples(asked, dialect, subject))
        if len(tried[-1]) > 1:
            return tried[-1]
    return tried[0]


def _examples(asked: Subjects, dialect: str, subject: str) -> list[str]:
    """Commands about the first value of a subject: why, blame, where."""
    on = f" --on {shlex.quote(subject)}" if subject else ""
    commands = []
    for reply in asked.replies([subject] if subject else ()):
        if reply.dialect.name != dialect:
            continue
        for part in reply.parts.values():
            leaves = [*islice(_leaves(part), _LEAVES)]
            if not leaves:
                continue
            places = ((path, _place(part, path, asked.question.side)) for path in leaves)
            path, place = next((one for one in places if one[1] is not None), (leaves[0], None))
            commands.append(f"nodeattrs why {shlex.quote(spell(path))}{on}")
            if place is not None:
                commands.append(f"nodeattrs where {shlex.quote(place)}")
            break
        break
    blame = f"nodeattrs blame {shlex.quote(subject)}" if subject else "nodeattrs blame"
    return [*commands[:1], blame, *commands[1:]]


def _leaves(part: Part) -> Iterator[Path]:
    """The paths of leaves, the first one of each key; a key whose value cannot be had is passed over."""
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
