"""Words that several commands share, and what they come to.

Nothing is decided here: which store is meant and what a machine is called is known to
`runs.session`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.terminal import FORMATS, Terminal
from nodeattrs.errors import BadArgument, MissingExtra, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from nodeattrs.core.tree import Path
    from nodeattrs.keep import Store
    from nodeattrs.node.node import Node
    from nodeattrs.runs import Repository
    from nodeattrs.runs.facts import Facts
    from nodeattrs.runs.run import Run
    from nodeattrs.texts.documents import Document

__all__ = [
    "actions_of",
    "add_at",
    "add_output",
    "add_run_options",
    "add_settings_from",
    "add_store",
    "add_strict",
    "check_facts",
    "facts_from",
    "is_directory",
    "json_attributes",
    "kept_in",
    "moment",
    "named_node",
    "path_of",
    "repository_of",
    "run_list",
    "sensitive_here",
    "store_of",
]

_STORE_HELP = (
    "where nodes are kept: a directory, a file that ends in .db, file://, sqlite:// or postgresql:// (default: "
    "`store` in nodeattrs.toml of the repository, else .nodeattrs/nodes.db in the current directory)"
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
    """The store that is meant, and the sensitive paths: of `add_settings_from`, else of the repository here."""
    repository = _named(options)
    return store_of(options, repository), _sensitive(repository)


def add_settings_from(parser: argparse.ArgumentParser) -> None:
    """Whose settings count for a command that runs nothing."""
    parser.add_argument(
        "--repo",
        metavar="DIR",
        help="the repository whose nodeattrs.toml says where nodes are kept and which paths are sensitive "
        "(default: the current directory)",
    )


def _named(options: argparse.Namespace) -> Repository | None:
    from nodeattrs.runs import Repository

    place = getattr(options, "repo", None)
    return _here() if place is None else Repository(place)


def repository_of(options: argparse.Namespace) -> Repository | None:
    """The repository that --repo names, else the one in the current directory, if there is one."""
    return _named(options)


def sensitive_here() -> Any:
    """The sensitive paths of the repository in the current directory, if there is one."""
    return _sensitive(_here())


def store_of(options: argparse.Namespace, repository: Repository | None) -> Store:
    """The store that is meant. raises: StoreError, DocumentError"""
    from nodeattrs.keep import open_store
    from nodeattrs.runs.session import store_place

    return open_store(store_place(options.store, repository))


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
    import os

    return place is not None and os.path.isdir(place)


def check_facts(place: str) -> None:
    """Look whether --facts is there at all. raises: NotFound"""
    import os

    if not os.path.lexists(place):
        raise NotFound(
            f"{place}: cannot be read: no such file or directory",
            hint="name what ohai or facter --json wrote, or a directory of NODE.json",
        )


def facts_from(place: str | None, node: str | None = None, repository: Repository | None = None) -> Facts:
    """The facts at *place*: a file, or a directory that has one for *node*; None is this machine.

    repository: files in it are named as seen from there
    raises:     NotFound, DocumentError, MissingExtra, BadArgument, BadName
    """
    import pathlib

    from nodeattrs.keep import checked_name
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
    from nodeattrs.runs import Repository
    from nodeattrs.runs.session import perform, required

    if options.repo is None:
        for word in ("run_list", "environment", "facts", "json_attributes"):
            if getattr(options, word) is not None:
                options.refuse(f"--{word.replace('_', '-')} is about a run, so it needs --repo")
        store, sensitive = kept_in(options)
        found = required(store, options.node, sensitive, moment(getattr(options, "at", None)))
        terminal.warn(filter(None, [found.note]), "saved-note", "StoreError")
        return found.node, found.saved.revision.number if found.saved.revision else None, None
    if getattr(options, "at", None) is not None:
        options.refuse("--at is about what was saved, and --repo about a run made now")
    repository = Repository(options.repo)
    session = perform(
        repository,
        store_of(options, repository),
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


def _sensitive(repository: Repository | None) -> Any:
    return repository.config.sensitive if repository else ()


def _here() -> Repository | None:
    """The repository in the current directory: one that has settings."""
    import os

    from nodeattrs.runs import Repository
    from nodeattrs.runs.config import FILE

    return Repository(os.curdir) if os.path.lexists(FILE) else None
