"""One folder, asked through the contract: who can be asked, and what each answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from nodeattrs.contract.answers import Answered, Part, Unread
from nodeattrs.contract.command import Question
from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.sharing import shared_answers
from nodeattrs.core.code import held_back
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT, Path, dig, meant, parse
from nodeattrs.core.unread import encrypted_at, unread_below, unresolved
from nodeattrs.dialects import every, named
from nodeattrs.errors import BadArgument, NodeattrsError, NotFound
from nodeattrs.verbs.comparing import NO_ANSWER, NO_SUCH_KEY, answered

_Answer = TypeVar("_Answer")


class Reply(NamedTuple):
    """What one subject answers.

    unread: what was not read for it
    facts:  the file with its facts; "none", "of its last run", or "" where the dialect has no facts
    error:  why it cannot be resolved, or None; without a subject, why a dialect cannot list its subjects
    """

    dialect: Dialect
    subject: str
    parts: Answered
    unread: tuple[Unread, ...] = ()
    error: NodeattrsError | None = None
    facts: str = ""

    @property
    def name(self) -> str:
        """The subject; "here" for one without a name."""
        return self.subject or "here"

    def doubts(self, path: Path = ()) -> list[Unread]:
        """What may change its value at a path: all that was not read, unknown layers, and that it cannot be resolved.

        An unknown layer counts where the trace of the path names it. cost: a trace for each key of a part of keys
        """
        if self.error is not None:
            why = f"{self.error.message} [{self.error.code}]"
            return [unresolved(self.subject or self.dialect.name, why, self.dialect.noun)]
        found: list[Unread] = []
        traced: set[str | None] = set()
        for part in self.parts.values():
            if part.trace is None:
                continue
            at_all = path or not part.is_keyed
            paths: Iterable[Path] = [path] if at_all else ((step,) for step in (*part.tree, NO_SUCH_KEY))
            for at in paths:
                with suppress(NotFound):
                    found += unread_below(part.trace, at) if part.unread is None else part.unread(at)
            with suppress(NodeattrsError):
                found += encrypted_at(_value(part, path), path, part.places)
            if not part.is_keyed:
                traced |= {one.claim.origin.file for one in part.trace(()).unknown}
        others = [one for one in self.unread if one.may_set(path) and one.place not in traced]
        return [*dict.fromkeys([*others, *found])]


def _value(part: Part, path: Path) -> Any:
    """The value of a part at a path; ABSENT if it has no value. A part of keys may look a key up now."""
    if not part.is_keyed:
        return dig(part.tree, path)
    return dig(part.tree.get(path[0], ABSENT), path[1:]) if path else dict(part.tree)


class Subjects:
    """The subjects of a folder, of the dialects that are there."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._dialects = [named(name) for name in question.dialects] or every().values()
        self._opened: dict[str, Opened] = {}
        self._notes: list[str] = []
        self.unlisted: dict[str, NodeattrsError] = {}
        self.unread: list[Unread] = []
        """What was not read, of the dialects that have no subject without it; known after `names`."""

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Dialect -> its subjects, sorted. `unlisted` then has the dialects that cannot list theirs.

        raises: NotFound, where no dialect has any and all was read; the error of a dialect, where no other has any
        """
        side, request = self.question.side, self.question.request
        found = {}
        for dialect in self._dialects:
            self._opened[dialect.name] = opened = dialect.open(side, request)
            try:
                if opened.is_there:
                    found[dialect.name] = sorted(opened.subjects())
            except NodeattrsError as error:
                self.unlisted[dialect.name] = error
        self.unread = [one for name, names in found.items() if not names for one in self._opened[name].unread]
        if not any(found.values()) and not self.unread:
            if self.unlisted:
                raise next(iter(self.unlisted.values()))
            hint = "name the folder that has their files: --repo DIR"
            raise NotFound(f"{side.title or side.root} has no subjects of any dialect", hint=hint)
        return found

    def replies(self, wanted: Sequence[str] = ()) -> Iterator[Reply]:
        """The answer of each subject, one after the other.

        wanted: these subjects; empty: all
        raises: NotFound, for a name that no dialect has
        """
        known = {name for names in self.names.values() for name in names}
        for name in wanted:
            if name not in known and "" not in known:  # a subject without a name answers to any
                raise NotFound(f"there is no subject {name}", hint=meant(name, known) or "`nodeattrs list subjects`")
        asked = [
            (dialect, name)
            for dialect, names in self.names.items()
            for name in (wanted if names == [""] and wanted else names)
            if not wanted or name in wanted
        ]
        for done, (dialect, name) in enumerate(asked):
            self.question.progress(name, done, len(asked))
            yield self._reply(named(dialect), name)
        for dialect, error in self.unlisted.items():
            yield Reply(named(dialect), "", {}, (), error)

    def answers(
        self, ask: Callable[[Reply], _Answer], says: Callable[[_Answer], object]
    ) -> Iterator[tuple[str, _Answer]]:
        """What a function makes of each reply, by the name of the subject.

        Subjects that have the same wherever the function looked share the result (`contract.sharing`), unless the
        question says --no-sharing.
        says: gives all that a result says: equal for equal results
        """
        for dialect, names in self.names.items():
            yield from self._answers(named(dialect), names, ask, says)
        for dialect, error in self.unlisted.items():
            yield "here", ask(Reply(named(dialect), "", {}, (), error))

    def _answers(
        self,
        dialect: Dialect,
        names: Sequence[str],
        ask: Callable[[Reply], _Answer],
        says: Callable[[_Answer], object],
    ) -> Iterator[tuple[str, _Answer]]:
        def compute(name: str) -> _Answer:
            return ask(self._reply(dialect, name))

        if self.question.arguments.get("no_sharing"):
            yield from ((name or "here", compute(name)) for name in self._counted(names))
            return
        found = shared_answers(self._opened[dialect.name], self._counted(names), compute, says)
        if found.one_by_one:
            self._notes.append(found.note)
        yield from ((name or "here", found.answers[name]) for name in names)

    def _counted(self, names: Sequence[str]) -> Iterator[str]:
        """The names, each with a step of the progress bar."""
        for done, name in enumerate(names):
            self.question.progress(name, done, len(names))
            yield name

    @property
    def warnings(self) -> list[object]:
        """What was read, and is probably not meant."""
        return [*(one for opened in self._opened.values() for one in opened.warnings), *self._notes]

    def _reply(self, dialect: Dialect, name: str) -> Reply:
        opened = self._opened[dialect.name]
        with held_back(not self.question.request.run_code):
            parts = answered(opened, name, later=True)
        if NO_ANSWER in parts:
            return Reply(dialect, name, {}, tuple(opened.unread), parts[NO_ANSWER].tree[NO_ANSWER])
        return Reply(dialect, name, parts, tuple(opened.unread), facts=self._facts(opened, dialect, name))

    def _facts(self, opened: Opened, dialect: Dialect, name: str) -> str:
        """The place of the facts that were used; "none", or "of its last run"."""
        if not dialect.needs_facts:
            return ""
        file = opened.facts_file(name)
        if file is None:
            return "of its last run" if opened.revisions().get(name) else "none"
        side = self.question.side
        shown = side.shown(str(file))
        return str(file) if shown is None else side.named(shown)


def key_of(question: Question) -> Path:
    """The key that the caller names. raises: BadArgument, for the root of all"""
    path = parse(question.arguments["key"])
    if not path:
        raise BadArgument("name a key: the whole tree has too many reasons", hint="`nodeattrs blame` prints all values")
    return path


def trace_at(part: Part, path: Path) -> Trace | None:
    """The trace of a path; None where the part has no traces, or nothing sets the path."""
    try:
        trace = None if part.trace is None else part.trace(path)
    except NotFound:
        return None
    return trace if trace is not None and (trace.found or trace.claims) else None


def failed_data(replies: Sequence[Reply]) -> list[dict[str, Any]]:
    """The field `not_known` of reports: the subjects that cannot be resolved."""
    return [
        {"dialect": one.dialect.name, "subject": one.subject, "message": one.error.message, "code": one.error.code}
        for one in replies
        if one.error is not None
    ]
