"""Options that several commands share, and the values of these options.

Nothing is decided here: which store is meant and what a machine is called is known to
the run of a node.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.terminal import FORMATS, Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.errors import BadArgument, MissingExtra, NodeattrsError, NotFound
from nodeattrs.formats.nearest import SETTINGS_FILE, is_ours, nearest
from nodeattrs.kinds import SAVED_NOTE

if TYPE_CHECKING:
    from nodeattrs.core.tree import Path
    from nodeattrs.dialects.chef.facts import Facts
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.repository.roles import Asked
    from nodeattrs.dialects.chef.run.run import Run
    from nodeattrs.formats.documents import Document
    from nodeattrs.node.node import Node
    from nodeattrs.project.settings import Settings
    from nodeattrs.store import Store

_NUMBER = re.compile(r"(?a)\d{1,18}(?:\.\d{1,9})?")
_STORE_HELP = (
    "where nodes are kept: a file that ends in .db, or a URL such as postgresql:// (default: "
    "NODEATTRS_STORE, else `store` in nodeattrs.toml of the repository, else .nodeattrs/nodes.db here, or beside the "
    "nodeattrs.toml that was found above)"
)


_ASKED = ("policy", "policy_group", "named_run_list", "secret_file", "roles_only", "ruby", "cookbook_path")

REPO_HELP = (
    "the repository (default: NODEATTRS_REPO, else that of the nearest nodeattrs.toml here or above, else the current "
    "directory)"
)


def actions_of(
    parser: argparse.ArgumentParser, summaries: Mapping[str, str], epilogs: Mapping[str, str] | None = None
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield (name, parser) for each action of a command.

    Where `parser.asked` names one of the actions, only that one is made, so that help starts fast.

    summaries: action -> its summary, for the help of command and action
    epilogs:   action -> the end of its help, printed line by line
    """
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    asked = getattr(parser, "asked", None)
    for name, summary in summaries.items():
        if asked in summaries and name != asked:
            continue
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


def facts_of(what: str, default: str) -> tuple[Argument, Argument]:
    """Which facts are meant: of a file, or of a platform."""
    return (
        Argument(("--facts",), f"{what} (default: {default})", {"metavar": "PLACE"}, choice="facts"),
        Argument(
            ("--platform",),
            "the facts of a platform instead: debian-12, or what `[facts] fauxhai` in nodeattrs.toml has",
            {"metavar": "NAME"},
            choice="facts",
        ),
    )


ALLOWED_PATHS = (
    Argument(
        ("--allow-path",),
        "files below DIR may be read where the repository names them; may be repeated (default: only files of "
        "the repository, or of the Git work tree around it)",
        {"metavar": "DIR", "action": "append"},
    ),
)
"""Folders outside of the repository that it may name."""


BUDGET = (
    Argument(
        ("--budget",),
        "what one document, lookup, merge or query may take at most: steps, values, bytes, depth or seconds; "
        "may be repeated (default: [limits] in nodeattrs.toml)",
        {"metavar": "LIMIT=N", "action": "append"},
    ),
    *ALLOWED_PATHS,
)
"""What one document, lookup, merge or query may take."""


UNREAD = (
    Argument(
        ("--allow-unknown",),
        "no exit code 5 where something that was not read may change the answer; it is named all the same",
        {"action": "store_true"},
    ),
    Argument(
        ("--unread",), "a line for each place that was not read (default: for each kind)", {"action": "store_true"}
    ),
)
"""How what was not read, and may change the answer, counts."""


TEXT = (
    Argument(("--traceback",), "on an error, show the whole way to it", {"action": "store_true"}),
    *UNREAD,
    *BUDGET,
)
"""The options of every output, also of a command that has a format of its own."""


STORE = (Argument(("--store",), _STORE_HELP, {"metavar": "PLACE"}),)
"""Where nodes are kept."""


STRICT = (Argument(("--strict",), "fail where a layer that cannot be read may decide", {"action": "store_true"}),)
"""Whether an answer that an unknown layer might change is one."""


AT = (
    Argument(
        ("--at",),
        "a revision by its number, or the one at a time: 7, 2030-01-31, 2030-01-31T12:00Z",
        {"metavar": "WHEN"},
    ),
)
"""Which revision is meant."""


RUBY = (
    Argument(
        ("--ruby",),
        "run attribute files in Ruby too, by the ruby of this machine (default: each is an unknown layer)",
        {"action": "store_true"},
    ),
)
"""Whether attribute files in Ruby are run."""


SETTINGS_FROM = (
    Argument(
        ("--repo",),
        "the repository whose nodeattrs.toml says where nodes are kept and which paths are sensitive "
        "(default: NODEATTRS_REPO, else the nearest nodeattrs.toml here or above)",
        {"metavar": "DIR"},
    ),
)
"""Whose settings count for a command that runs nothing."""


RUN_CODE = (
    Argument(
        ("--run-code",),
        "run code of installed packages that documents name (default: such a layer is unknown)",
        {"action": "store_true"},
    ),
)
"""Whether a command that only looks may run what documents name."""


SOURCES = (
    Argument(
        ("--sources",),
        "the repository in which to look for the lines that saved values come from (default: the one that was run)",
        {"metavar": "DIR"},
    ),
)
"""The folder in which the sources of saved values are looked for."""


APPLYING = (
    Argument(("--noop",), "change nothing, say what would be changed", {"action": "store_true"}, group="applying"),
    Argument(
        ("--root",), "the folder that stands for / (default: /)", {"metavar": "DIR", "default": "/"}, group="applying"
    ),
    Argument(("--backups",), "keep what files held before they were replaced", {"metavar": "DIR"}, group="applying"),
    Argument(
        ("--report",), "the report (default: .nodeattrs/reports/NODE.jsonl)", {"metavar": "FILE"}, group="applying"
    ),
    Argument(("--no-diff",), "do not show how files differ", {"action": "store_true"}, group="applying"),
    Argument(
        ("--documented",),
        "by the letter of the language page, where Puppet differs from it",
        {"action": "store_true"},
        group="applying",
    ),
)
"""How a catalog is applied."""


RUN = (
    Argument(
        ("--run-list",),
        'such as "role[web],recipe[app::db]"; may be repeated (default: what the node has)',
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(
        ("--override-run-list", "-o"),
        "run these items instead, this once: the node keeps its run list, and nothing is saved",
        {"metavar": "ITEMS", "action": "append"},
    ),
    Argument(("--environment", "-E"), "the node's environment from now on", {"metavar": "NAME"}),
    *facts_of("what ohai or facter --json wrote, or a directory with NODE.json in it", "ask this machine"),
    Argument(("--json-attributes", "-j"), "attributes, and a run_list, for this node", {"metavar": "FILE"}),
    Argument(
        ("--policy-name",),
        "a policy of the repository, or the file that locks it",
        {"dest": "policy", "metavar": "NAME"},
    ),
    Argument(("--policy-group",), "of the policy: whose attributes are hoisted", {"metavar": "NAME"}),
    Argument(("--named-run-list",), "one of the policy's other run-lists", {"metavar": "NAME"}),
    Argument(("--secret-file",), "with the secret of encrypted data bags", {"metavar": "FILE"}),
    Argument(
        ("--roles-only",),
        "roles and environments alone: no cookbook is read or has to be there",
        {"action": "store_true"},
    ),
    Argument(
        ("--cookbook-path",),
        "a further folder with cookbooks, such as ~/.berkshelf/cookbooks; may be repeated",
        {"metavar": "DIR", "action": "append"},
    ),
    *RUBY,
)
"""What a run starts from, beside its repository and node."""


def output(forms: Sequence[str] = FORMATS, also: Sequence[str] = ()) -> tuple[Argument, ...]:
    """How to write: format, colour, tracebacks. forms: the formats, the default first; also: further ones"""
    form = {"choices": (*forms, *also), "default": forms[0]}
    color = {"choices": ("auto", "always", "never"), "default": "auto"}
    return (
        Argument(("--format", "-F"), f"for people, or as data (default: {forms[0]})", form, "output"),
        Argument(("--color",), "auto: on a terminal, unless NO_COLOR is set (default)", color, "output"),
        *(one._replace(group="output") for one in TEXT),
    )


def limits_of(options: argparse.Namespace, settled: Mapping[str, float]) -> AbstractContextManager[object]:
    """A context in which the limits of --budget are in force, else the limits of the settings.

    raises: BadArgument, where --budget is no limit
    """
    given = [one.partition("=") for one in getattr(options, "budget", None) or ()]
    if not (given or settled):
        return contextlib.nullcontext()
    from nodeattrs.core.budget import in_force, limited

    numbers = {name: float(most) if "." in most else int(most) for name, _, most in given if _NUMBER.fullmatch(most)}
    for name, _, most in given:
        if name not in numbers:
            raise BadArgument(f"--budget {name}={most} is no limit", hint="write --budget values=2000000")
    return limited(in_force().replaced(**settled).replaced(**numbers))


def run_options(options: argparse.Namespace) -> Asked:
    """The options of a run that are not about its node: policy, secret file, --roles-only, --ruby."""
    from nodeattrs.dialects.chef.repository.roles import Asked

    given = {name: getattr(options, name, None) for name in Asked._fields}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Asked(**{name: value for name, value in given.items() if value is not None})


def path_of(text: str | None) -> Path:
    """The path that an argument spells; () for None and "". raises: BadArgument"""
    from nodeattrs.core.tree import parse

    return parse(text) if text else ()


def run_list(options: argparse.Namespace, option: str = "--run-list") -> list[str] | None:
    """The items of an option that may be repeated, split at commas; None where the option is not given.

    raises: BadArgument, where it holds no item
    """
    given = getattr(options, option[2:].replace("-", "_"))
    if given is None:
        return None
    items = [item.strip() for text in given for item in text.split(",") if item.strip()]
    if not items:
        raise BadArgument(f"{option} names no item", hint=f'write {option} "role[web],recipe[app::db]"')
    return items


def override_run_list(options: argparse.Namespace) -> list[str] | None:
    """The items of --override-run-list; None where it is not given. raises: BadArgument"""
    return run_list(options, "--override-run-list")


def revision_or_time(text: str | None) -> int | datetime | None:
    """A revision from --at, by its number or as a time in UTC; None for None. A day means its end.

    raises: BadArgument, where the text is neither

    >>> revision_or_time("7"), revision_or_time("2030-01-31T12:00+01:00").isoformat()
    (7, '2030-01-31T11:00:00+00:00')
    """
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


def store_and_sensitive(options: argparse.Namespace) -> tuple[Store, Any]:
    """Returns the store of the options or settings, and the sensitive paths of the settings."""
    return store_of(options), sensitive_of(options)


def existing_store(options: argparse.Namespace) -> tuple[Store, Any]:
    """Returns store and sensitive paths as `store_and_sensitive`, for a command that only reads.

    raises: NotFound, where the store has not been made
    """
    store, sensitive = store_and_sensitive(options)
    if not store.is_there():
        raise NotFound(
            f"there is no store at {store.describe()}",
            hint="name the place with --store, or save a node first: nodeattrs run",
        )
    return store, sensitive


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings of this call, found and validated at the first use. raises: NotFound, DocumentError"""
    from nodeattrs.project.settings import Settings

    if not isinstance(found := getattr(options, "settings", None), Settings):
        found = options.settings = Settings(vars(options), os.environ)
    return found


_RUNNING: dict[str, Callable[[argparse.Namespace], bool]] = {
    "run": lambda options: True,
    "fleet": lambda options: True,
    "impact": lambda options: not options.no_run_code,
    "what-if": lambda options: not options.no_run_code,
    "facts": lambda options: True,  # of this machine; no document says which
    "explain": lambda options: options.repo is not None,
    "matrix": lambda options: options.repo is not None,
    "show": lambda options: options.repo is not None,
    "shell": lambda options: options.repo is not None,
    "catalog": lambda options: getattr(options, "repo", None) is not None or options.action == "apply",
}
"""Command -> whether code runs as it was called; SECURITY.md has the table. All others hold it back."""


def may_run_code(options: argparse.Namespace) -> bool:
    """Whether somebody asked for code to run: by the command, or by --run-code. No setting does."""
    runs = _RUNNING.get(options.command)
    return getattr(options, "run_code", False) or (runs is not None and runs(options))


def settings_limits(options: argparse.Namespace, terminal: Terminal) -> Mapping[str, float]:
    """Print warnings about the nodeattrs.toml that counts; returns the limits that it sets, {} for none.

    raises: NotFound, DocumentError; `check` reports bad settings as findings instead
    """
    if options.command == "check":
        from nodeattrs.project.config import RepositorySettings

        with contextlib.suppress(NodeattrsError):
            return RepositorySettings(options.repo).config.limits
        return {}  # to which settings that cannot be read are findings
    if hasattr(options, "store"):
        settings = settings_of(options)
        limits = settings.repository.config.limits if settings.repository is not None else {}
        terminal.warn(settings.warnings)
        return limits
    named = getattr(options, "repo", None) or os.environ.get("NODEATTRS_REPO")
    folder = named or nearest(SETTINGS_FILE)
    file = os.path.join(folder or "", SETTINGS_FILE)
    if folder is None or not hasattr(options, "budget") or not os.path.lexists(file) or not (named or is_ours(file)):
        return {}
    from nodeattrs.project.settings import settings_in

    config, warnings = settings_in(file, SETTINGS_FILE)
    terminal.warn(warnings)
    return config.limits


def sensitive_paths(options: argparse.Namespace, *places: str | None) -> list[Path]:
    """The sensitive paths of the repository in the options or the environment, and of settings beside *places*.

    raises: DocumentError
    """
    from nodeattrs.project.settings import sensitive_beside

    return sensitive_beside(getattr(options, "repo", None), *places)


def repository_of(options: argparse.Namespace) -> Repository:
    """The repository to run: the one whose settings count, else the current folder. Sets `options.repo` to its
    folder."""
    from nodeattrs.dialects.chef.repository.repository import Repository

    repository = found_repository(options) or Repository(os.curdir)
    repository.asked = run_options(options)
    options.repo = os.path.relpath(repository.root)
    return repository


def found_repository(options: argparse.Namespace) -> Repository | None:
    """The repository whose settings count; None where there are no settings. raises: NotFound"""
    from nodeattrs.dialects.chef.repository.repository import Repository

    settings = settings_of(options).repository
    return None if settings is None else Repository(settings.root, settings=settings)


def sensitive_of(options: argparse.Namespace) -> Any:
    """The sensitive paths of the settings; () where there are none."""
    repository = settings_of(options).repository
    return repository.config.sensitive if repository else ()


def root_of(options: argparse.Namespace) -> pathlib.Path | None:
    """The folder with the sources of saved values: from --sources, or from the settings where the store is a URL.

    None stands for the folder that the saved revision names.
    """
    if getattr(options, "sources", None) is not None:
        return pathlib.Path(options.sources)
    settings = settings_of(options)
    return settings.repository.root if settings.repository and "://" in settings.store else None


def store_of(options: argparse.Namespace) -> Store:
    """The store of the options or settings; no file is made before the first save. raises: StoreError, DocumentError"""
    from nodeattrs.store import open_store

    return open_store(settings_of(options).store)


def json_attributes(options: argparse.Namespace, repository: Repository) -> Document | None:
    """The document of --json-attributes; None where it is not given. raises: DocumentError"""
    if options.json_attributes is None:
        return None
    from nodeattrs.formats.documents import read

    path = pathlib.Path(options.json_attributes)
    return read(path, repository.shown(path), by_caller=True)


def is_directory(place: str | None) -> bool:
    """Whether the place of --facts is a folder, with one file for each node; False for None."""
    return place is not None and os.path.isdir(place)


def check_facts(place: str) -> None:
    """Do nothing where the file or folder of --facts exists. raises: NotFound, where it does not"""
    if not os.path.lexists(place):
        raise NotFound(
            f"{place}: cannot be read: no such file or directory",
            hint="name what ohai or facter --json wrote, or a directory of NODE.json",
        )


MAY_BE_DASHES = frozenset({"--knock-out-prefix"})
"""Options whose value may be `--` alone, as Puppet's users write it: a word of its own, or behind `=`."""
MARKED = "\0"


def unmarked(value: str) -> str:
    """The value of an option without the mark that protects dashes from argparse."""
    return value.removeprefix(MARKED)


def add_arguments_of(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """The arguments of a command."""
    places: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in arguments:
        if one.group not in places:
            places[one.group] = parser.add_argument_group(one.group)
        place = places[one.group]
        if one.choice:
            if one.choice not in places:
                places[one.choice] = place.add_mutually_exclusive_group(required=one.choice.endswith("!"))
            place = places[one.choice]
        keywords = one.keywords if MAY_BE_DASHES.isdisjoint(one.names) else {**one.keywords, "type": unmarked}
        place.add_argument(*one.names, help=one.help or argparse.SUPPRESS, **keywords)


def facts_place(options: argparse.Namespace, repository: Repository | None) -> str | None:
    """The file or folder of the facts: from --facts or --platform; None where neither is given.

    raises: NotFound, for an unknown platform
    """
    if options.platform is None:
        place: str | None = options.facts
        return place
    from nodeattrs.dialects.chef.facts.known import platform_file

    return str(platform_file(options.platform, repository.platforms if repository is not None else None))


def own_facts(options: argparse.Namespace, repository: Repository, names: Iterable[str]) -> str | None:
    """The folder `facts/` of the repository, where no facts are given and it has a file for one of the nodes; else
    None."""
    folder = repository.root / "facts"
    if options.facts is not None or options.platform is not None:
        return None
    return str(folder) if any((folder / f"{name}.json").is_file() for name in names) else None


def facts_from(options: argparse.Namespace, node: str | None = None, repository: Repository | None = None) -> Facts:
    """The facts for a run: of a platform, of a file, of the file of *node* in a folder, or of this machine.

    repository: its facts/NODE.json counts where no facts are given; names of its files are relative to it
    raises:     NotFound, DocumentError, MissingExtra, BadName; BadArgument, for a folder without *node*
    """
    from nodeattrs.core.tree import checked_name
    from nodeattrs.dialects.chef.facts import gather, load_facts
    from nodeattrs.dialects.chef.facts.suites import facts_of_suite

    place = facts_place(options, repository)
    if place is None and node is not None and repository is not None:
        own = repository.root / "facts" / f"{checked_name(node, 'node')}.json"
        place = str(own) if own.is_file() else None
        if place is None and (suite := repository.kitchen.instances.get(node)) is not None:
            return facts_of_suite(suite.platform, suite.at(()), repository.platforms)
    if place is None:
        try:
            return gather()
        except MissingExtra as error:
            error.hint = f"{error.hint}; or name a file: --facts FILE"
            raise
    check_facts(place)
    path, is_one = pathlib.Path(place), not is_directory(place)
    if not is_one:
        if node is None:
            raise BadArgument(f"--facts {place} is a directory", hint="say which node is meant, or name one file in it")
        path /= f"{checked_name(node, 'node')}.json"
    # Whoever is given them shows or runs them, and changes none: a run copies nothing of them.
    shown = repository.shown(path) if repository else None
    return load_facts(path, shown, settled=True, by_caller=is_one)


def run_suite(options: argparse.Namespace) -> None:
    """Set `options.repo` where NODE is not saved and is a suite of Test Kitchen in the current folder."""
    from nodeattrs.dialects.chef.repository.repository import Repository

    if options.repo is None and options.node in Repository(os.curdir).kitchen.instances:
        store = store_of(options)
        if not store.is_there() or store.load(options.node) is None:
            options.repo = os.curdir


def named_node(options: argparse.Namespace, terminal: Terminal) -> tuple[Node, int | None, Run | None]:
    """Returns the node of NODE: saved, with its revision and None; with --repo run now, with None and the run.

    raises: NodeNotFound, and the errors of a run; an option of the other kind ends the program with exit code 2
    """
    from nodeattrs.node.json_keys import double_keys

    if options.repo is None:
        from nodeattrs.store.remembered import remembered_or_raise

        of_runs = ("run_list", "override_run_list", "environment", "facts", "platform", "json_attributes", *_ASKED)
        for word in of_runs:
            if getattr(options, word) not in (None, False):
                options.refuse(f"--{word.replace('_', '-')} is about a run, so it needs --repo")
        store, sensitive = store_and_sensitive(options)
        found = remembered_or_raise(
            store, options.node, sensitive, revision_or_time(getattr(options, "at", None)), root_of(options)
        )
        terminal.warn(filter(None, [found.note]), SAVED_NOTE.entry)
        terminal.warn(double_keys(found.node))
        return found.node, found.saved.revision.number if found.saved.revision else None, None
    for word in ("at", "sources"):
        if getattr(options, word, None) is not None:
            options.refuse(f"--{word} is about what was saved, and --repo about a run made now")
    from nodeattrs.dialects.chef.run.session import Wanted, facts_of_another, last_of, run

    repository, store = repository_of(options), store_of(options)
    last = last_of(repository, store, options.node)
    wanted = Wanted(
        facts_from(options, options.node, repository),
        run_list(options),
        override_run_list(options),
        options.environment,
        json_attributes(options, repository),
    )
    session = run(repository, store, options.node, wanted, last)
    terminal.warn(session.run.warnings)
    terminal.warn(facts_of_another(session.run))
    terminal.warn(filter(None, [session.note]), SAVED_NOTE.entry)
    return session.run.node, None, session.run
