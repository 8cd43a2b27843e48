"""Turn the options of a command about nodes into its repository, facts, run-list, JSON attributes and node.

A `Question` has the parsed arguments, the settings, and the caller, which prints warnings. Options that cannot be
combined, or have a wrong value, raise BadUsage, which ends the program with exit code 2.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.contract.command import Question
from nodeattrs.core.tree import checked_name
from nodeattrs.dialects.common import sources_of, store_of
from nodeattrs.errors import BadArgument, BadUsage, MissingExtra, NotFound
from nodeattrs.formats.documents import Document, read
from nodeattrs.kinds import SAVED_NOTE
from nodeattrs.node.node import Node
from nodeattrs.node.running import double_keys
from nodeattrs.store.saved_nodes import load_saved_or_raise

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.facts import Facts
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
    from nodeattrs.dialects.chef.run.run import Run

_KITCHEN = ("kitchen.yml", ".kitchen.yml")
"""The files of Test Kitchen. Without them the module that reads them is not loaded."""

_ASKED = ("policy", "policy_group", "named_run_list", "secret_file", "roles_only", "ruby", "cookbook_path")


def run_options(question: Question) -> RepositoryOptions:
    """The options that concern the repository, such as --policy and --ruby. Missing options have their defaults."""
    from nodeattrs.dialects.chef.repository.roles import RepositoryOptions

    given = {name: question.arguments.get(name) for name in RepositoryOptions._fields}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return RepositoryOptions(**{name: value for name, value in given.items() if value is not None})


def run_list(question: Question, option: str = "--run-list") -> list[str] | None:
    """The items of a run-list option, split at commas and not parsed; None if the option is not given.

    option: an option that may be repeated
    raises: BadArgument, for an option without any item
    """
    given = question.arguments[option[2:].replace("-", "_")]
    if given is None:
        return None
    items = [item.strip() for text in given for item in text.split(",") if item.strip()]
    if not items:
        raise BadArgument(f"{option} names no item", hint=f'write {option} "role[web],recipe[app::db]"')
    return items


def repository_of(question: Question) -> Repository:
    """The repository in --repo. Without --repo it is the one whose settings apply here, or the current folder.

    The options of the command are set in it (`run_options`). No file of it is read.
    raises: NotFound, if --repo does not exist
    """
    from nodeattrs.dialects.chef.repository.repository import Repository

    repository = found_repository(question) or Repository(os.curdir)
    repository.options = run_options(question)
    return repository


def found_repository(question: Question) -> Repository | None:
    """The repository whose settings apply; None if there are no settings. raises: NotFound"""
    from nodeattrs.dialects.chef.repository.repository import Repository

    settings = question.settings.repository
    return None if settings is None else Repository(settings.root, settings=settings)


def json_attributes(question: Question, repository: Repository) -> Document | None:
    """The parsed document of --json-attributes, of any shape; None without the option. raises: DocumentError"""
    file = question.arguments["json_attributes"]
    if file is None:
        return None
    path = pathlib.Path(file)
    return read(path, repository.shown(path), by_caller=True)


def is_directory(place: str | None) -> bool:
    """Whether the place of --facts is a folder, with one file for each node; False for None."""
    return place is not None and os.path.isdir(place)


def facts_place(question: Question, repository: Repository | None) -> str | None:
    """The file or folder of the facts: the file of --platform, or the place of --facts; None without both options.

    If both are given, --platform counts.
    repository: may have a folder with further platforms; None: only the platforms that nodeattrs brings
    raises:     NotFound, for an unknown platform, and if the place of --facts does not exist
    """
    platform, place = question.arguments["platform"], question.arguments["facts"]
    if platform is not None:
        from nodeattrs.dialects.chef.facts.known import platform_file

        return str(platform_file(platform, repository.platforms_folder if repository is not None else None))
    if place is not None and not os.path.lexists(place):
        raise NotFound(
            f"{place}: cannot be read: no such file or directory",
            hint="name what ohai or facter --json wrote, or a directory of NODE.json",
        )
    return None if place is None else str(place)


def own_facts(question: Question, repository: Repository, names: Iterable[str]) -> str | None:
    """The folder `facts/` of the repository if it has a file for one of the nodes; else None.

    None too with --facts or --platform.
    """
    folder = repository.root / "facts"
    if question.arguments["facts"] is not None or question.arguments["platform"] is not None:
        return None
    return str(folder) if any((folder / f"{name}.json").is_file() for name in names) else None


def facts_from(question: Question, node: str | None = None, repository: Repository | None = None) -> Facts:
    """The facts for a run, from the first of these: --platform, --facts, the repository, this machine.

    In a folder of --facts it is the file NODE.json. The repository may have facts/NODE.json, or a suite of Test Kitchen
    with that name.
    node:       the node's name; None: --facts must be a file, and facts of the repository are not used
    repository: None: only options and this machine are used
    raises:     NotFound, DocumentError, MissingExtra, BadName; BadArgument, for a folder if *node* is None
    """
    from nodeattrs.dialects.chef.facts import gather, load_facts
    from nodeattrs.dialects.chef.facts.suites import facts_of_suite

    place = facts_place(question, repository)
    if place is None and node is not None and repository is not None:
        own = repository.root / "facts" / f"{checked_name(node, 'node')}.json"
        place = str(own) if own.is_file() else None
        if place is None and (suite := repository.kitchen.instances.get(node)) is not None:
            return facts_of_suite(suite.platform, suite.at(()), repository.platforms_folder)
    if place is None:
        try:
            return gather()
        except MissingExtra as error:
            error.hint = f"{error.hint}; or name a file: --facts FILE"
            raise
    path, is_one = pathlib.Path(place), not is_directory(place)
    if not is_one:
        if node is None:
            raise BadArgument(f"--facts {place} is a directory", hint="say which node is meant, or name one file in it")
        path /= f"{checked_name(node, 'node')}.json"
    return load_facts(path, repository.shown(path) if repository else None, by_caller=is_one)


def with_suite(question: Question) -> Question:
    """The question, with `--repo .` added if NODE is a suite of Test Kitchen in the current folder that is not saved.

    The same object is returned if NODE is not such a suite, or if --repo or --ruby is given: code of the repository
    runs only where the caller writes --repo.
    """
    given = question.arguments
    if given["repo"] is not None or given["ruby"] or not any(map(os.path.isfile, _KITCHEN)):
        return question
    from nodeattrs.dialects.chef.repository.repository import Repository

    node = question.arguments["node"]
    if node in Repository(os.curdir).kitchen.instances:
        store, _ = store_of(question.settings)
        if not store.is_there() or store.load(node) is None:
            return question._replace(arguments={**question.arguments, "repo": os.curdir})
    return question


def named_node(question: Question) -> tuple[Node, int | None, Run | None]:
    """Returns (node, number of its revision, its run) for the argument NODE.

    With --repo the node is run now, and nothing is saved: the number is None. Without --repo the saved node is loaded:
    the run is None. Warnings are given to `question.caller`.
    raises: NodeNotFound, and the errors of a run; BadUsage, if --repo is given together with an option for saved nodes,
            or an option for runs is given without --repo
    """
    asked = question.arguments
    if asked["repo"] is None:
        return _saved_node(question)
    for word in ("at", "sources"):
        if asked.get(word) is not None:
            raise BadUsage(f"--{word} is about what was saved, and --repo about a run made now")
    from nodeattrs.dialects.chef.run.session import NodeRequest, last_saved_node, run_session, wrong_machine_warnings

    repository, (store, _) = repository_of(question), store_of(question.settings)
    last = last_saved_node(repository, store, asked["node"])
    wanted = NodeRequest(
        facts_from(question, asked["node"], repository),
        run_list(question),
        run_list(question, "--override-run-list"),
        asked["environment"],
        json_attributes(question, repository),
    )
    session = run_session(repository, store, asked["node"], wanted, last)
    question.caller.warn(session.run.warnings)
    question.caller.warn(wrong_machine_warnings(session.run))
    question.caller.warn(filter(None, [session.note]), SAVED_NOTE.entry)
    return session.run.node, None, session.run


def _saved_node(question: Question) -> tuple[Node, int | None, None]:
    asked = question.arguments
    for word in ("run_list", "override_run_list", "environment", "facts", "platform", "json_attributes", *_ASKED):
        if asked[word] not in (None, False):
            raise BadUsage(f"--{word.replace('_', '-')} is about a run, so it needs --repo")
    store, sensitive = store_of(question.settings)
    sources = sources_of(question.settings, asked.get("sources"))
    found = load_saved_or_raise(store, asked["node"], sensitive, revision_or_time(asked.get("at")), sources)
    question.caller.warn(filter(None, [found.note]), SAVED_NOTE.entry)
    question.caller.warn(double_keys(found.node))
    return found.node, found.saved.revision.number if found.saved.revision else None, None
