"""The questions of the pages, and the command that answers each.

`/api/NAME` returns what the command prints with `--format json`, and each page shows the same data. A name from a URL
is put behind `--` or into an option, so it is never read as an option of the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.reports import Report
from nodeattrs.web.rendering import SourceLinks


class CommandAnswer(NamedTuple):
    """The answer of one command.

    data:     the data of `--format json`; None if the command printed no report
    error:    the error, in the form of `Finding.to_dict`; None if nothing was raised. *data* may be set as well, if the
              report came before the error
    warnings: the warnings, each as one sentence
    code:     the exit code
    report:   the report that gave the data; None if the command printed no report
    """

    data: Any
    error: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()
    code: int = 0
    report: Report | None = None


class Ask(Protocol):
    """A function that runs a command line, given as words, and returns its `CommandAnswer`. It raises no errors."""

    def __call__(self, *words: str) -> CommandAnswer: ...


class ShownProject(NamedTuple):
    """The store and the repository that pages show.

    ask:        a function (words of a command line) -> `CommandAnswer`, which runs the command on this project
    source:     makes links to lines of files
    store:      the name of the store, for people
    repository: the folder of the repository; None without one
    facts:      the folder of facts of the repository; None without one
    kept:       the file or address of the store; None if there is no store
    catalogs:   name of a node -> the file with its catalog, where the catalog was compiled elsewhere
    runs_code:  whether pages may run code of the repository
    kinds:      which lists the repository has: "roles", "environments"
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


class _AnsweringCommand(NamedTuple):
    """The command that answers a question; texts list names separated by blanks.

    words:   the first words of the command
    places:  parameters that become arguments, in order; one with "?" may be missing
    options: parameters that become options; all may be missing
    needs:   field of `ShownProject` -> the option that takes its value; for a field with "?" the value may be missing
    """

    words: str
    places: str = ""
    options: str = ""
    needs: Mapping[str, str] = {}


_REPO = {"repository": "--repo"}
_RUN = {**_REPO, "facts": "--facts"}
_SEEN = {**_REPO, "facts?": "--facts"}

QUESTIONS: Mapping[str, _AnsweringCommand] = {
    "status": _AnsweringCommand("status"),
    "show": _AnsweringCommand("show --winners", "node path?", "at"),
    "explain": _AnsweringCommand("explain", "node path", "at"),
    "history": _AnsweringCommand("history", "node", "limit"),
    "search": _AnsweringCommand("search", "query", "attribute node sort limit offset"),
    "diff": _AnsweringCommand("diff", "before after?", "path slots"),
    "matrix": _AnsweringCommand("matrix", "path", "query count"),
    "list": _AnsweringCommand("list", "kind", "", _REPO),
    "role-show": _AnsweringCommand("role show --origins", "name", "", _REPO),
    "environment-show": _AnsweringCommand("environment show --origins", "name", "", _REPO),
    "catalog-graph": _AnsweringCommand("catalog graph", "", "node", _RUN),
    "catalog-why": _AnsweringCommand("catalog why", "first then", "node", _RUN),
    "why": _AnsweringCommand("why", "key", "dialect on", _SEEN),
    "where": _AnsweringCommand("where", "file", "dialect on", {**_SEEN, "kept?": "--from-store"}),
    "check": _AnsweringCommand("check", "", "", _REPO),
    "blame": _AnsweringCommand("blame", "subject?", "dialect", _SEEN),
    "impact": _AnsweringCommand("impact", "range", "sample", _REPO),
}
"""Name of a question, which its schema has, too -> the command that answers it."""

_FLAGS = ("slots", "count")
_MISSING = {
    "repository": "there is no repository here: nodeattrs web --repo DIR",
    "facts": "the repository has no folder of facts",
}


def words_of(site: ShownProject, name: str, given: Mapping[str, Sequence[str]]) -> list[str]:
    """The command line for a question, as words. Nothing is run.

    name:   of the question
    given:  parameter -> its values; an empty value counts as missing
    raises: NotFound, for an unknown question, and where the project lacks a folder that it needs; BadArgument, for an
            unknown or missing parameter, and for a range without ".."

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
    site: ShownProject, name: str, question: _AnsweringCommand, given: Mapping[str, Sequence[str]]
) -> list[str]:
    """The options from the project and the parameters; for a catalog compiled elsewhere only the one for its file."""
    compiled = site.catalogs.get(next(iter(given.get("node", ())), "")) if name.startswith("catalog-") else None
    if compiled is not None:
        return [f"--from={compiled}"]
    found = []
    for field, option in question.needs.items():
        value = getattr(site, field.rstrip("?"))
        if value:
            found.append(f"{option}={value}")
        elif not field.endswith("?"):
            raise NotFound(_MISSING[field])
    for one in question.options.split():
        found += [f"--{one}" if one in _FLAGS else f"--{one}={value}" for value in given.get(one, ()) if value]
    return found


def _places(question: _AnsweringCommand, given: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The arguments from the parameters, in order. raises: BadArgument, where one is missing"""
    found: list[str] = []
    for one in question.places.split():
        values = [value for value in given.get(one.rstrip("?"), ())[:1] if value]
        if not values and not one.endswith("?"):
            raise BadArgument(f"the parameter {one} is missing")
        found += values
    return found


def answer(site: ShownProject, name: str, /, **given: str | Sequence[str] | None) -> CommandAnswer:
    """Run the command of a question, and return its answer.

    Nothing is raised: an error, also of the parameters, is in the answer, with exit code 1.
    name:  the name of the question; an unknown one is an error in the answer
    given: parameter -> its value or values; empty ones and None count as missing
    """
    values = {one: [value] if isinstance(value, str) else value for one, value in given.items() if value}
    try:
        words = words_of(site, name, values)
    except (BadArgument, NotFound) as error:
        known = {"code": error.code, "name": type(error).__name__, "message": error.message, "hint": error.hint}
        return CommandAnswer(None, {**known, "details": []}, code=1)
    return site.ask(*words)
