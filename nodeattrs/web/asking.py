"""The questions of pages: a table with the command that answers each.

What `/api/NAME` gives is what that command gives with `--format json`, and each page shows the same. A name from
outside stands behind `--` or is the value of an option, so it is never another word; and it names no file but one of
the repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.reports import Report
from nodeattrs.web.rendering import SourceLinks


class CommandAnswer(NamedTuple):
    """The answer of a command.

    data:     the data of `--format json`; None where the command prints none
    error:    the error as data of a Finding, where the command failed; it may have data all the same
    warnings: a sentence each
    code:     the exit code
    report:   the report that gave the data; None where the command printed none
    """

    data: Any
    error: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()
    code: int = 0
    report: Report | None = None


class Ask(Protocol):
    """A function that runs a command line, given as words, and returns its Answer."""

    def __call__(self, *words: str) -> CommandAnswer: ...


class ShownProject(NamedTuple):
    """What is shown.

    ask:        asks a command of the store, or of the repository, that the site is about
    store:      what the store is called
    repository: its folder, or None
    facts:      its folder of facts; None where there is none
    kept:       the place of the store, where there is one
    catalogs:   name of a node -> the file with its catalog, where it was compiled elsewhere
    runs_code:  whether pages may run code of the repository
    kinds:      what the repository has beside subjects: "roles", "environments"
    """

    ask: Ask
    source: SourceLinks
    store: str
    repository: str | None = None
    facts: str | None = None
    kept: str | None = None
    catalogs: Mapping[str, str] = {}
    runs_code: bool = False
    kinds: Sequence[str] = ()


class AnsweringCommand(NamedTuple):
    """The command that answers a question.

    words:   the first words of the command
    places:  parameters that become arguments, in order; one with "?" may be missing
    options: parameters that become options
    needs:   field of the Site -> the option that takes its value; one with "?" may be missing
    """

    words: str
    places: str = ""
    options: str = ""
    needs: Mapping[str, str] = {}


_REPO = {"repository": "--repo"}
_RUN = {**_REPO, "facts": "--facts"}
_SEEN = {**_REPO, "facts?": "--facts"}

QUESTIONS: Mapping[str, AnsweringCommand] = {
    "status": AnsweringCommand("status"),
    "show": AnsweringCommand("show --winners", "node path?", "at"),
    "explain": AnsweringCommand("explain", "node path", "at"),
    "history": AnsweringCommand("history", "node", "limit"),
    "search": AnsweringCommand("search", "query", "attribute node sort limit offset"),
    "diff": AnsweringCommand("diff", "before after?", "path slots"),
    "matrix": AnsweringCommand("matrix", "path", "query count"),
    "list": AnsweringCommand("list", "kind", "", _REPO),
    "role-show": AnsweringCommand("role show --origins", "name", "", _REPO),
    "environment-show": AnsweringCommand("environment show --origins", "name", "", _REPO),
    "catalog-graph": AnsweringCommand("catalog graph", "", "node", _RUN),
    "catalog-why": AnsweringCommand("catalog why", "first then", "node", _RUN),
    "why": AnsweringCommand("why", "key", "dialect on", _SEEN),
    "where": AnsweringCommand("where", "file", "dialect on", {**_SEEN, "kept?": "--from-store"}),
    "check": AnsweringCommand("check", "", "", _REPO),
    "blame": AnsweringCommand("blame", "subject?", "dialect", _SEEN),
    "impact": AnsweringCommand("impact", "range", "sample", _REPO),
}
"""Name of a question, which is that of its schema, and the command that answers it."""

FLAGS = ("slots", "count")
MISSING = {
    "repository": "there is no repository here: nodeattrs web --repo DIR",
    "facts": "the repository has no folder of facts",
}


def words_of(site: ShownProject, name: str, given: Mapping[str, Sequence[str]]) -> list[str]:
    """The words of the command that answers a question.

    name:   of the question
    given:  parameter -> its values
    raises: NotFound, for an unknown question, and for places that the site does not have; BadArgument, for parameters

    >>> shop = ShownProject(None, SourceLinks(), "")
    >>> words_of(shop, "explain", {"node": ["--web1"], "path": ["app.workers"], "at": ["3"]})
    ['explain', '--at=3', '--', '--web1', 'app.workers']
    """
    if name not in QUESTIONS:
        raise NotFound(f"there is no question {name}", hint=f"there are {', '.join(QUESTIONS)}")
    question = QUESTIONS[name]
    known = {one.rstrip("?") for one in question.places.split()} | set(question.options.split())
    if odd := [one for one in given if one not in known]:
        raise BadArgument(f"{name} knows no parameter {odd[0]}", hint=f"it knows {', '.join(sorted(known)) or 'none'}")
    found = [*question.words.split(), *_options(site, name, question, given)]
    places = _places(question, given)
    if name in ("why", "where", "blame") and site.runs_code:
        found.append("--run-code")
    if name == "impact":
        found += ["--jobs=1"] if site.runs_code else ["--jobs=1", "--no-run-code"]
        if ".." not in places[0]:
            raise BadArgument("a change is a range of commits", hint="write BASE..HEAD")
    return [*found, *(["--", *places] if places else [])]


def _options(
    site: ShownProject, name: str, question: AnsweringCommand, given: Mapping[str, Sequence[str]]
) -> list[str]:
    """The options that the site and the parameters give. A catalog compiled elsewhere is read from its file."""
    compiled = site.catalogs.get(next(iter(given.get("node", ())), "")) if name.startswith("catalog-") else None
    if compiled is not None:
        return [f"--from={compiled}"]
    found = []
    for field, option in question.needs.items():
        value = getattr(site, field.rstrip("?"))
        if value:
            found.append(f"{option}={value}")
        elif not field.endswith("?"):
            raise NotFound(MISSING[field])
    for one in question.options.split():
        found += [f"--{one}" if one in FLAGS else f"--{one}={value}" for value in given.get(one, ()) if value]
    return found


def _places(question: AnsweringCommand, given: Mapping[str, Sequence[str]]) -> Sequence[str]:
    found: list[str] = []
    for one in question.places.split():
        values = [value for value in given.get(one.rstrip("?"), ())[:1] if value]
        if not values and not one.endswith("?"):
            raise BadArgument(f"the parameter {one} is missing")
        found += values
    return found


def answer(site: ShownProject, name: str, /, **given: str | Sequence[str] | None) -> CommandAnswer:
    """The answer to a question; errors are in the Answer and are not raised.

    given: parameter -> its value or values; empty ones and None are left out
    """
    values = {one: [value] if isinstance(value, str) else value for one, value in given.items() if value}
    try:
        words = words_of(site, name, values)
    except (BadArgument, NotFound) as error:
        known = {"code": error.code, "name": type(error).__name__, "message": error.message, "hint": error.hint}
        return CommandAnswer(None, {**known, "details": []})
    return site.ask(*words)
