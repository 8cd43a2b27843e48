"""Words that several commands share, and what they come to.

Nothing is decided here: which store is meant and what a machine is called is known to
`runs.session`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.terminal import FORMATS, Terminal
from nodeattrs.errors import BadArgument, MissingExtra, NotFound
from nodeattrs.texts.nearest import SETTINGS_FILE, is_ours, nearest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from nodeattrs.core.tree import Path
    from nodeattrs.keep import Store
    from nodeattrs.node.node import Node
    from nodeattrs.runs import Repository
    from nodeattrs.runs.facts import Facts
    from nodeattrs.runs.run import Run
    from nodeattrs.runs.settings import Settings
    from nodeattrs.texts.documents import Document

__all__ = [
    "MARKED",
    "MAY_BE_DASHES",
    "REPO_HELP",
    "actions_of",
    "add_at",
    "add_budget",
    "add_output",
    "add_run_code",
    "add_run_options",
    "add_settings_from",
    "add_store",
    "add_strict",
    "asked_to_run",
    "check_facts",
    "facts_from",
    "is_directory",
    "json_attributes",
    "json_or_text",
    "judge",
    "kept_in",
    "limits_of",
    "moment",
    "named_node",
    "path_of",
    "repository_of",
    "run_list",
    "saved_in",
    "sensitive_of",
    "settings_of",
    "store_of",
    "unmarked",
]

_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_STORE_HELP = (
    "where nodes are kept: a directory, a file that ends in .db, file://, sqlite:// or postgresql:// (default: "
    "NODEATTRS_STORE, else `store` in nodeattrs.toml of the repository, else .nodeattrs/nodes.db here, or beside the "
    "nodeattrs.toml that was found above)"
)


REPO_HELP = (
    "the repository (default: NODEATTRS_REPO, else that of the nearest nodeattrs.toml here or above, else the current "
    "directory)"
)


def actions_of(
    parser: argparse.ArgumentParser, summaries: Mapping[str, str], epilogs: Mapping[str, str] | None = None
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The actions of a command, one after the other, each with its parser.

    summaries: action -> what it does, for the lists of both
    epilogs:   action -> what its own help ends with, line by line as it is written
    """
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for name, summary in summaries.items():
        epilog = (epilogs or {}).get(name)
        yield (
            name,
            actions.add_parser(
                name,
                help=summary,
                description=f"{summary[0].upper()}{summary[1:]}.",
                epilog=epilog,
                formatter_class=argparse.HelpFormatter if epilog is None else argparse.RawDescriptionHelpFormatter,
                allow_abbrev=False,
            ),
        )


def add_output(parser: argparse.ArgumentParser, also: Sequence[str] = ()) -> None:
    """How to write: format, colour, tracebacks. also: further formats"""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=(*FORMATS, *also), default="text", help="for people, or as data (default: text)"
    )
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto: on a terminal, unless NO_COLOR is set (default)",
    )
    group.add_argument("--traceback", action="store_true", help="on an error, show the whole way to it")
    add_budget(group)


def add_budget(parser: argparse._ActionsContainer) -> None:
    """What one document, lookup, merge or query may take."""
    parser.add_argument(
        "--budget",
        metavar="LIMIT=N",
        action="append",
        help="what one document, lookup, merge or query may take at most: steps, values, bytes, depth or seconds; "
        "may be repeated (default: [limits] in nodeattrs.toml)",
    )


def limits_of(options: argparse.Namespace, settled: Mapping[str, float]) -> AbstractContextManager[object]:
    """While it lasts the limits of a command are in force: those of --budget, else of the settings.

    raises: BadArgument
    """
    given = [one.partition("=") for one in getattr(options, "budget", None) or ()]
    if not (given or settled):
        return contextlib.nullcontext()
    from nodeattrs.core.budget import in_force, limited

    numbers = {name: float(most) if "." in most else int(most) for name, _, most in given if _NUMBER.fullmatch(most)}
    for name, _, most in given:
        if name not in numbers:
            raise BadArgument(f"--budget {name}={most} is no limit", hint="write --budget values=2000000")
    return limited(in_force().but(**settled).but(**numbers))


def add_store(parser: argparse.ArgumentParser) -> None:
    """Where nodes are kept."""
    parser.add_argument("--store", metavar="PLACE", help=_STORE_HELP)


def add_strict(parser: argparse.ArgumentParser) -> None:
    """Whether an answer that an unknown layer might change is one."""
    parser.add_argument("--strict", action="store_true", help="fail where a layer that cannot be read may decide")


def add_at(parser: argparse.ArgumentParser) -> None:
    """Which revision is meant."""
    parser.add_argument(
        "--at", metavar="WHEN", help="a revision by its number, or the one at a time: 7, 2030-01-31, 2030-01-31T12:00Z"
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What a run starts from, beside its repository and node."""
    parser.add_argument(
        "--run-list",
        metavar="ITEMS",
        action="append",
        help='such as "role[web],recipe[app::db]"; may be repeated (default: what the node has)',
    )
    parser.add_argument("--environment", "-E", metavar="NAME", help="the node's environment from now on")
    parser.add_argument(
        "--facts",
        metavar="FILE",
        help="what ohai or facter --json wrote, or a directory with NODE.json in it (default: ask this machine)",
    )
    parser.add_argument("--json-attributes", "-j", metavar="FILE", help="attributes, and a run_list, for this node")


def path_of(text: str | None) -> Path:
    """The path that a word spells; none is the root. raises: BadArgument"""
    from nodeattrs.core.tree import parse

    return parse(text) if text else ()


def run_list(options: argparse.Namespace) -> list[str] | None:
    """The items of all --run-list, split at commas; None where there are none.

    raises: BadArgument for one that holds no item
    """
    if options.run_list is None:
        return None
    items = [item.strip() for text in options.run_list for item in text.split(",") if item.strip()]
    if not items:
        raise BadArgument("--run-list names no item", hint='write --run-list "role[web],recipe[app::db]"')
    return items


def moment(text: str | None) -> int | datetime | None:
    """What --at says: the number of a revision, or a time (a day is its end; in UTC, unless it says otherwise).

    raises: BadArgument

    >>> moment("7"), moment("2030-01-31T12:00+01:00").isoformat()
    (7, '2030-01-31T11:00:00+00:00')
    """
    from datetime import UTC, date, datetime, time

    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 8:
        return int(text)
    try:
        if len(text) == len("2030-01-31"):
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadArgument(
            f"{text!r} is neither the number of a revision nor a time", hint="write 7, 2030-01-31 or 2030-01-31T12:00Z"
        ) from None


def kept_in(options: argparse.Namespace) -> tuple[Store, Any]:
    """The store that is meant, and the sensitive paths."""
    return store_of(options), sensitive_of(options)


def saved_in(options: argparse.Namespace) -> tuple[Store, Any]:
    """As `kept_in`, for who only looks at what is there. raises: NotFound, where nothing was ever saved"""
    store, sensitive = kept_in(options)
    if not store.is_there():
        raise NotFound(
            f"there is no store at {store.describe()}",
            hint="name the place with --store, or save a node first: nodeattrs run",
        )
    return store, sensitive


def add_settings_from(parser: argparse.ArgumentParser) -> None:
    """Whose settings count for a command that runs nothing."""
    parser.add_argument(
        "--repo",
        metavar="DIR",
        help="the repository whose nodeattrs.toml says where nodes are kept and which paths are sensitive "
        "(default: NODEATTRS_REPO, else the nearest nodeattrs.toml here or above)",
    )


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings of this call: found once, and judged whole. raises: NotFound, DocumentError"""
    from nodeattrs.runs.settings import Settings

    if not isinstance(found := getattr(options, "settings", None), Settings):
        found = options.settings = Settings(vars(options), os.environ)
    return found


_RUNNING: dict[str, Callable[[argparse.Namespace], bool]] = {
    "run": lambda options: True,
    "fleet": lambda options: True,
    "facts": lambda options: True,  # of this machine; no document says which
    "explain": lambda options: options.repo is not None,
    "show": lambda options: options.repo is not None,
    "catalog": lambda options: options.repo is not None or options.action == "apply",
}
"""Command -> whether code runs as it was called; SECURITY.md has the table. All others hold it back."""


def add_run_code(parser: argparse.ArgumentParser) -> None:
    """Whether a command that only looks may run what documents name."""
    parser.add_argument(
        "--run-code",
        action="store_true",
        help="run code of installed packages that documents name (default: such a layer is unknown)",
    )


def asked_to_run(options: argparse.Namespace) -> bool:
    """Whether somebody asked for code to run: by the command, or by --run-code. No setting does."""
    runs = _RUNNING.get(options.command)
    return getattr(options, "run_code", False) or (runs is not None and runs(options))


def judge(options: argparse.Namespace, terminal: Terminal) -> Mapping[str, float]:
    """Say what is doubtful in the nodeattrs.toml that counts, whatever the command; the limits that it sets.

    raises: NotFound, DocumentError
    """
    if options.command == "check":
        return {}  # to which doubtful settings are findings
    if hasattr(options, "store"):
        settings = settings_of(options)
        limits = settings.repository.config.limits if settings.repository is not None else {}
        terminal.warn(settings.warnings)
        return limits
    named = getattr(options, "repo", None) or os.environ.get("NODEATTRS_REPO")
    folder = named or nearest(SETTINGS_FILE)
    file = os.path.join(folder or "", SETTINGS_FILE)
    if folder is None or not hasattr(options, "format") or not os.path.lexists(file) or not (named or is_ours(file)):
        return {}
    # Who uses no settings is kept waiting for no more than their judgement.
    from pathlib import Path

    from nodeattrs.runs.config import judged
    from nodeattrs.texts.documents import read

    config, warnings = judged(read(Path(file), SETTINGS_FILE))
    terminal.warn(warnings)
    return config.limits


def repository_of(options: argparse.Namespace) -> Repository:
    """The repository that a command runs: the one whose settings count, else the current directory."""
    from nodeattrs.runs import Repository

    repository = settings_of(options).repository or Repository(os.curdir)
    options.repo = os.path.relpath(repository.root)
    return repository


def sensitive_of(options: argparse.Namespace) -> Any:
    """The sensitive paths of the repository whose settings count, if there is one."""
    repository = settings_of(options).repository
    return repository.config.sensitive if repository else ()


def store_of(options: argparse.Namespace) -> Store:
    """The store that is meant. raises: StoreError, DocumentError"""
    from nodeattrs.keep import open_store

    return open_store(settings_of(options).store)


def json_attributes(options: argparse.Namespace, repository: Repository) -> Document | None:
    """The document of -j. raises: DocumentError"""
    if options.json_attributes is None:
        return None
    import pathlib

    from nodeattrs.runs.session import shown_in
    from nodeattrs.texts.documents import read

    path = pathlib.Path(options.json_attributes)
    return read(path, shown_in(repository, path))


def is_directory(place: str | None) -> bool:
    """Whether --facts names a directory, which has one file a node."""
    return place is not None and os.path.isdir(place)


def check_facts(place: str) -> None:
    """Look whether --facts is there at all. raises: NotFound"""
    if not os.path.lexists(place):
        raise NotFound(
            f"{place}: cannot be read: no such file or directory",
            hint="name what ohai or facter --json wrote, or a directory of NODE.json",
        )


MAY_BE_DASHES = ("--knock-out-prefix",)
"""Options whose value may be `--` alone, as Puppet's users write it: a word of its own, or behind `=`."""
MARKED = "\0"


def unmarked(value: str) -> str:
    """The value of an option that may be dashes alone."""
    return value.removeprefix(MARKED)


def json_or_text(value: str) -> Any:
    """What somebody wrote on a command line: JSON, and what is no JSON is text."""
    import json

    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def facts_from(place: str | None, node: str | None = None, repository: Repository | None = None) -> Facts:
    """The facts at *place*: a file, or a directory that has one for *node*; None is this machine.

    repository: files in it are named as seen from there
    raises:     NotFound, DocumentError, MissingExtra, BadArgument, BadName
    """
    import pathlib

    from nodeattrs.core.tree import checked_name
    from nodeattrs.runs.facts import gather, load_facts
    from nodeattrs.runs.session import shown_in

    if place is None:
        try:
            return gather()
        except MissingExtra as error:
            error.hint = f"{error.hint}; or name a file: --facts FILE"
            raise
    check_facts(place)
    path = pathlib.Path(place)
    if is_directory(place):
        if node is None:
            raise BadArgument(f"--facts {place} is a directory", hint="say which node is meant, or name one file in it")
        path /= f"{checked_name(node, 'node')}.json"
    return load_facts(path, shown_in(repository, path) if repository else None)


def named_node(options: argparse.Namespace, terminal: Terminal) -> tuple[Node, int | None, Run | None]:
    """The node that NODE names, with its revision as it was saved, or with --repo and the run that makes it now.

    raises: NodeNotFound, and whatever a run raises
    """
    from nodeattrs.node.json_keys import double_keys
    from nodeattrs.runs.session import perform, required

    if options.repo is None:
        for word in ("run_list", "environment", "facts", "json_attributes"):
            if getattr(options, word) is not None:
                options.refuse(f"--{word.replace('_', '-')} is about a run, so it needs --repo")
        store, sensitive = kept_in(options)
        found = required(store, options.node, sensitive, moment(getattr(options, "at", None)))
        terminal.warn(filter(None, [found.note]), "saved-note", "StoreError")
        terminal.warn(double_keys(found.node))
        return found.node, found.saved.revision.number if found.saved.revision else None, None
    if getattr(options, "at", None) is not None:
        options.refuse("--at is about what was saved, and --repo about a run made now")
    repository = repository_of(options)
    session = perform(
        repository,
        store_of(options),
        options.node,
        facts=facts_from(options.facts, options.node, repository),
        run_list=run_list(options),
        environment=options.environment,
        json_attributes=json_attributes(options, repository),
        save=False,
    )
    terminal.warn(session.run.warnings)
    terminal.warn(filter(None, [session.note]), "saved-note", "StoreError")
    return session.run.node, None, session.run
