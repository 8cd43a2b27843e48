"""`overview`: what lies in a folder, and which commands to type next; what `nodeattrs` prints without arguments."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.contract.answers import Part
from nodeattrs.contract.command import Output, Question
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects import every, named
from nodeattrs.dialects.folders import repositories_below
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.verbs.asking import Subjects

_OF_FILES = ("nodeattrs why KEY base.yaml prod.yaml", "nodeattrs fold base.yaml prod.yaml --blame")
_NAMED = 3
_MOST_DIALECTS = 3
"""Dialects that get an example."""
_DEEPEST = 12
"""Steps of a key that serves as an example."""


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
            yield "try:"
            yield from (printable(f"  {one}") for one in self.commands)
        yield ""
        yield screen.paint("nodeattrs --help lists all commands", "faint")


def overview(question: Question) -> Output:
    """What lies in the folder of a question. cost: the values of three subjects, for three dialects at most"""
    asked = Subjects(question._replace(request=question.request.asking(("",))))  # their unread places are not shown
    root, repo = question.side.root, question.arguments.get("repo")
    repo = None if repo == "." else repo
    try:
        found = {name: some for name, some in asked.names.items() if some}
    except NotFound:
        below = [one for one in repositories_below(root) if one != "."]
        steps = [one for dialect in every().values() if (one := dialect.first_steps(root)) is not None]
        first = [line for one in steps for line in one.commands] or _OF_FILES
        commands = [f"cd {shlex.quote(repo)}", *first] if steps and repo else first
        lying = [one.found for one in steps]
        return Output(Overview(str(root), {}, asked.unlisted, commands, below, lying), unread=[])
    except NodeattrsError:
        found = {}
    examples = [_first_examples(asked, name, some) for name, some in [*found.items()][:_MOST_DIALECTS]]
    typed = [one for some in examples for one in (some if len(examples) == 1 else some[:1])]
    if len(examples) > 1 and examples[0][1:]:
        typed.append(examples[0][-1])
    there = f" --repo {shlex.quote(repo)}" if repo else ""
    return Output(Overview(str(root), found, asked.unlisted, [f"{one}{there}" for one in typed]), unread=asked.unread)


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
            path = _first_leaf(part)
            if path is None:
                continue
            commands.append(f"nodeattrs why {shlex.quote(spell(path))}{on}")
            place = _place(part, path)
            if place is not None:
                commands.append(f"nodeattrs where {shlex.quote(place)}")
            break
        break
    blame = f"nodeattrs blame {shlex.quote(subject)}" if subject else "nodeattrs blame"
    return [*commands[:1], blame, *commands[1:]]


def _first_leaf(part: Part) -> Path | None:
    """The path of the first leaf; None if no value can be had."""
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
            return path
    return None


def _place(part: Part, path: Path) -> str | None:
    """The line that set the value; None where no file did."""
    try:
        return next((one.place for one in part.places(path) if one.file and one.line), None)
    except NodeattrsError:
        return None
