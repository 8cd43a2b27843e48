"""Get the answer of each subject of one folder, in every dialect, for `why`, `blame`, `matrix` and `diff`.

A *subject* is a node, a host, a release or a set of files. A `Reply` is its answer, or the error in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from nodeattrs.contract.answers import Answered, Part, Unread
from nodeattrs.contract.argument_values import nested_of
from nodeattrs.contract.command import Question
from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.sharing import shared_answers
from nodeattrs.core.code import held_back
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT, Path, dig, hint_for, parse
from nodeattrs.core.unread import encrypted_at, unread_below, unresolved
from nodeattrs.dialects import all_dialects, named
from nodeattrs.errors import BadArgument, BadUsage, NodeattrsError, NotFound
from nodeattrs.verbs.comparing import NO_ANSWER, NO_SUCH_KEY, answered

_Answer = TypeVar("_Answer")


class Reply(NamedTuple):
    """The answer of one subject: its values, or the error instead of them. `Subjects.replies` makes it.

    `name` is the subject, or "here" for "".
    dialect: the dialect of the subject
    subject: its name; "" for a subject without a name, and for a dialect that cannot list its subjects
    parts:   kind of value -> the values; some are computed only when they are read. {} if there is an error
    unread:  what was not read for the subject; `unread_at` selects what may change a path
    error:   why the subject cannot be resolved, or why the dialect cannot list its subjects; None: there are values
    facts:   the file with its facts, or "none", or "of its last run"; "" if the dialect has no facts
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

    def unread_at(self, path: Path = ()) -> list[Unread]:
        """The places that were not read and may change the value at *path*, or below; [] where the value is certain.

        Encrypted values are included. A subject that cannot be resolved gives one place. An unknown layer is included
        if the trace of the path names it.
        cost: a trace of the path; for the empty path one for each key, where keys are looked up one by one
        """
        if self.error is not None:
            why = f"{self.error.message} [{self.error.code}]"
            return [unresolved(self.subject or self.dialect.name, why, self.dialect.noun)]
        found: list[Unread] = []
        traced: set[str | None] = set()
        for part in self.parts.values():
            if part.trace is None:
                continue
            paths: Iterable[Path] = [path]
            if part.is_keyed and not path:
                paths = [(step,) for step in (*part.tree, NO_SUCH_KEY)]
            for at in paths:
                with suppress(NotFound):
                    found += unread_below(part.trace, at) if part.unread is None else part.unread(at)
            with suppress(NodeattrsError):
                found += encrypted_at(_value(part, path), path, part.places)
            if not part.is_keyed:
                traced |= {one.claim.origin.file for one in part.trace(()).unknown}
        found = [one._replace(paths=()) if one.paths == ((NO_SUCH_KEY,),) else one for one in found]
        others = [one for one in self.unread if one.may_set(path) and one.place not in traced]
        return [*dict.fromkeys([*others, *found])]


def _value(part: Part, path: Path) -> Any:
    """The value of a part at a path; ABSENT where it is not set. A part of keys may look a key up now."""
    if not part.is_keyed:
        return dig(part.tree, path)
    return dig(part.tree.get(path[0], ABSENT), path[1:]) if path else dict(part.tree)


class Subjects:
    """The subjects of one folder, in each dialect that a question names, or in all dialects.

    The constructor reads nothing. `names` opens the dialects and lists the subjects, once. If there is no subject and
    nothing was left unread, `names` raises NotFound, or the error of a dialect in `unlisted`.
    `replies` yields a `Reply` for each subject, and one with the error of each dialect in `unlisted`. `answers` yields
    the result of a function for each subject, and computes equal subjects only once. Read `warnings` last.
    question: the question: its folder, options and dialects
    unlisted: dialect -> why its subjects cannot be listed; filled by `names`
    unread:   what was not read in dialects that have no subjects; filled by `names`
    unread_sources: what was not read while subjects were listed, in all dialects; filled by `names`
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self._dialects = [named(name) for name in question.dialects] or all_dialects().values()
        self._opened: dict[str, Opened] = {}
        self._notes: list[str] = []
        self.unlisted: dict[str, NodeattrsError] = {}
        self.unread: list[Unread] = []
        self.unread_sources: list[Unread] = []

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Dialect -> its subjects, sorted, for the dialects whose files are there; listed once. A list may be empty.

        raises: the error of a dialect that cannot list its subjects, or else NotFound; only if no dialect has a subject
                and everything was read
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
        self.unread_sources = [one for name in found for one in self._opened[name].unread]
        if not any(found.values()) and not self.unread:
            if self.unlisted:
                raise next(iter(self.unlisted.values()))
            hint = "name their folder, --repo DIR, or an inventory, -i SOURCE; `nodeattrs` alone says what lies here"
            raise NotFound(f"{side.title or side.root} has no subjects of any dialect", hint=hint)
        return found

    def replies(self, wanted: Sequence[str] = ()) -> Iterator[Reply]:
        """Yield the answer of each subject, computed when it is taken; then a Reply for each dialect in `unlisted`.

        wanted: the names of the subjects to answer, in every dialect that has them; empty: all subjects. A dialect
                whose only subject has no name answers for any name
        raises: NotFound, before the first answer, for a name that no dialect has
        """
        known = {name for names in self.names.values() for name in names}
        for name in wanted:
            if name not in known and "" not in known:  # a subject without a name answers to any
                raise NotFound(f"there is no subject {name}", hint=hint_for(name, known) or "`nodeattrs list subjects`")
        chosen = []
        for dialect, names in self.names.items():
            if wanted:
                names = [*wanted] if names == [""] else [name for name in names if name in wanted]
            chosen += [(dialect, name) for name in names]
        for done, (dialect, name) in enumerate(chosen):
            self.question.progress(name, done, len(chosen))
            yield self._reply(named(dialect), name)
        yield from self._unlisted()

    def _unlisted(self) -> Iterator[Reply]:
        for dialect, error in self.unlisted.items():
            yield Reply(named(dialect), "", {}, (), error)

    def answers(
        self, ask: Callable[[Reply], _Answer], says: Callable[[_Answer], object]
    ) -> Iterator[tuple[str, _Answer]]:
        """Yield (name of the subject, ask(its reply)) for each subject, then ("here", ...) for each unlisted dialect.

        Subjects share a result if they have the same facts wherever *ask* looked (`contract.sharing`); some of these
        are computed as well, to check. With --no-sharing all are computed.
        says: a function from a result to plain data: equal for equal results
        """
        for dialect, names in self.names.items():
            yield from self._answers(named(dialect), names, ask, says)
        yield from (("here", ask(reply)) for reply in self._unlisted())

    def _answers(
        self,
        dialect: Dialect,
        names: Sequence[str],
        ask: Callable[[Reply], _Answer],
        says: Callable[[_Answer], object],
    ) -> Iterator[tuple[str, _Answer]]:
        found = shared_answers(
            self._opened[dialect.name],
            self._counted(names),
            lambda name: ask(self._reply(dialect, name)),
            says,
            is_off=bool(self.question.arguments.get("no_sharing")),
        )
        self._notes += filter(None, [found.note])
        yield from ((name or "here", answer) for name, answer in found.answers.items())

    def _counted(self, names: Sequence[str]) -> Iterator[str]:
        """The names, each with a step of the progress bar."""
        for done, name in enumerate(names):
            self.question.progress(name, done, len(names))
            yield name

    @property
    def warnings(self) -> list[object]:
        """What the dialects warn of, and notes about shared answers; complete after the answers were taken."""
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
    """The path that the argument `key` of a question spells. The question must have this argument.

    raises: BadArgument, for an empty key, and for one that is not spelled right
    """
    path = parse(question.arguments["key"])
    if not path:
        raise BadArgument("name a key: the whole tree has too many reasons", hint="`nodeattrs blame` prints all values")
    return path


def of_files(question: Question) -> Question:
    """The question, about the files and variables in its arguments; *question* itself if the arguments name none.

    raises: BadUsage, for --policy without files, and for --nested without --env-prefix
    """
    options = {name: question.arguments.get(name) for name in ("files", "policy", "env_prefix", "nested")}
    if options["policy"] and not options["files"]:
        raise BadUsage("--policy says how files are merged, and no files are named")
    nested_of(options)
    if not (options["files"] or options["env_prefix"]):
        return question
    request = question.request._replace(options={**question.request.options, "folds": options})
    return question._replace(request=request, dialects=("folds",))


def trace_at(part: Part, path: Path) -> Trace | None:
    """The trace of a path; None if the part has no traces, the path is not found, or the trace has no value and no
    claims.

    raises: the error of a value that cannot be computed. A NotFound gives None
    """
    try:
        trace = None if part.trace is None else part.trace(path)
    except NotFound:
        return None
    return trace if trace is not None and (trace.found or trace.claims) else None


def failed_data(replies: Sequence[Reply]) -> list[dict[str, Any]]:
    """The field `not_known` of reports: a dict for each reply with an error; [] without any."""
    return [
        {"dialect": one.dialect.name, "subject": one.subject, "message": one.error.message, "code": one.error.code}
        for one in replies
        if one.error is not None
    ]
