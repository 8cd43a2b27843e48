"""Check a repository with its Hiera trees: faults, warnings, and the number of checked files.

Used by `dialect.Chef.check`. This module reads all files. It finds what is missing, what no node reaches, and values
that a rule of the settings forbids. The modules beside it have the other checks. Nothing is printed, and no attribute
file or recipe runs.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.contract.fixes import Fix
from nodeattrs.contract.peers import Lookup, doubts_of, lookup_of
from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Locator
from nodeattrs.core.code import may_run
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.chef.checks.fixes import SAFE, fixes
from nodeattrs.dialects.chef.checks.overrides import overrides, type_changes
from nodeattrs.dialects.chef.checks.schema import against_schema
from nodeattrs.dialects.chef.checks.spelling import (
    CodeWords,
    data_files,
    layers_of_data,
    misspelt_facts,
    misspelt_keys,
    shadowed_maps,
)
from nodeattrs.dialects.chef.checks.stacks import KnownNodes, known_nodes, leaves_of, role_stacks
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.cookbooks import NOT_RUN, RUBY, Cookbook, check_versions
from nodeattrs.dialects.chef.repository.repository import Repository, attribute_maps, readable
from nodeattrs.dialects.chef.repository.roles import DEFAULT_ENVIRONMENT, Role
from nodeattrs.dialects.chef.run.ruby_files import may_set
from nodeattrs.errors import CookbookNotFound, DocumentError, NodeattrsError, RecipeNotFound, RoleNotFound
from nodeattrs.formats.documents import text_of
from nodeattrs.formats.nearest import absent_submodules
from nodeattrs.kinds import (
    AGAINST_RULE,
    DEPENDENCY_RING,
    FETCHED_COOKBOOK,
    FOLDER_NAME,
    MISSING_COOKBOOK,
    MISSING_ENVIRONMENT,
    MISSING_RECIPE,
    MISSING_ROLE,
    NOT_LITERAL,
    UNREAD_ATTRIBUTES,
    UNUSED_ATTRIBUTE,
    UNUSED_ROLE,
)
from nodeattrs.kinds import NOT_RUN as CODE_NOT_RUN
from nodeattrs.kinds import RUBY as RUBY_NOT_READ
from nodeattrs.node.run_list import RunListItem, cookbook_of
from nodeattrs.project.config import CheckRule
from nodeattrs.project.fields import fault, known_or_near
from nodeattrs.reports.findings import Finding, finding_of

_Thing = TypeVar("_Thing")

NOTES: frozenset[str] = frozenset(
    {DEPENDENCY_RING, FETCHED_COOKBOOK, FOLDER_NAME, NOT_LITERAL, CODE_NOT_RUN, RUBY_NOT_READ, UNUSED_ATTRIBUTE}
)
"""The kinds of findings that are shown as notes. Most of them name what was not read. None of them is in `SAFE`."""

_FETCH = ("Berksfile", "Cheffile", "Policyfile.rb", "policyfiles", "policies")
"""Files and folders, at the root of a repository or of a cookbook, that name cookbooks to be fetched."""

_CODE = ("attributes", "attributes.rb", "definitions", "libraries", "providers", "recipe.rb", "recipes", "resources")
"""The folders and files of a cookbook whose code Chef runs."""

_FETCHES = re.compile(r"\b(?:cookbook site install|supermarket install|berks (?:install|vendor)|librarian-chef)\b")
_NO_TREES = {"node_modules", "vendor", "modules", "cookbooks", "spec", "test", "tests", "examples", "fixtures"}
_DEEPEST_TREE = 3
_PAGES = ("README.md", "README", "Rakefile", "Vagrantfile", "Makefile")


@dataclass(frozen=True, slots=True)
class RepositoryCheck:
    """The result of `checked`.

    faults:   errors, each once
    warnings: values that are probably not meant. In both lists the kinds in `NOTES` are only notes
    looked:   kind ("role", "data file") -> the number that was checked
    """

    faults: list[NodeattrsError]
    warnings: list[NodeattrsError]
    looked: dict[str, int]


def checked_files(folder: pathlib.Path) -> Iterator[CheckedFiles]:
    """Check a repository; yields a CheckedFiles for each kind of document.

    The first has all findings, and the function that makes fixes. The others have only a number of documents. Roles and
    environments in Python run if code may run. raises: NotFound, for a missing folder
    """
    repository = Repository(folder)
    came = checked(repository, may_run())
    found = [finding_of(one, "note" if one.kind in NOTES else "warning") for one in came.warnings]
    found += [finding_of(one, "note" if one.kind in NOTES else "error") for one in came.faults]

    def fixed(wanted: Container[Finding]) -> Sequence[Fix]:
        chosen = [one for one in came.warnings if one.kind in SAFE and finding_of(one, "warning") in wanted]
        return fixes(repository.root, chosen, repository.config.sensitive)

    (first, total), *others = came.looked.items()
    yield CheckedFiles(first, total, found, fixed)
    yield from (CheckedFiles(what, total, ()) for what, total in others)


@checked_args(repository=Repository, run_code=bool)
def checked(repository: Repository, run_code: bool = False) -> RepositoryCheck:
    """Read all files of a repository and its Hiera trees; returns faults, warnings and counts. Raises no DocumentError.

    Faults are files that cannot be read, missing roles, recipes and cookbooks, versions that do not fit, and cycles of
    dependencies.
    run_code: True: also run roles and environments in Python. False: each gives a note, and is not checked
    """
    faults, noticed = _read_all(repository, run_code)
    warnings: list[NodeattrsError] = [*(one for one in repository.warnings if one not in faults), *noticed]
    looked = {
        "cookbook": len(repository.cookbooks()),
        "role": len(repository.roles()),
        "environment": len(repository.environments()),
        "node": len(repository.nodes()),
    }
    looked |= {"suite": len(repository.kitchen.instances)} if repository.kitchen.instances else {}
    _tried(faults, lambda: warnings.extend(_doubtful(repository, run_code)))
    try:
        trees = [tree for tree in (repository.hiera, *_further_trees(repository)) if tree is not None]
        for tree in trees:
            _take_tree(tree, [one for one in trees if one is not tree], faults, warnings, looked)
    except NodeattrsError as error:
        faults.append(error)
    once = {str(one): one for one in faults}  # a fault of the settings is found by several checks
    return RepositoryCheck([*once.values()], warnings, looked)


def _take_tree(
    tree: Lookup,
    beside: list[Lookup],
    faults: list[NodeattrsError],
    warnings: list[NodeattrsError],
    looked: dict[str, int],
) -> None:
    """Read a Hiera tree, and add its findings to the lists. beside: further trees, which may share files with it"""
    count, wrong = tree.check()
    looked["data file"] = looked.get("data file", 0) + count
    faults += wrong
    found: list[NodeattrsError] = [*tree.warnings]
    for environment in tree.environments() or ["production"]:
        with suppress(NodeattrsError):  # `tree.check` has reported it
            found += doubts_of(tree, environment, beside)
    known = {str(one) for one in warnings}
    warnings += [one for one in found if str(one) not in known]


def _further_trees(repository: Repository) -> Iterator[Lookup]:
    """Yield the Hiera trees in folders of a repository, down to a depth of three, without the tree of the settings.

    The hiera.yaml of a module or an environment belongs to another tree, and is left out.
    """
    named = repository.root / (repository.config.hiera or "")
    for folder, folders, names in os.walk(repository.root):
        here = pathlib.Path(folder)
        steps = here.relative_to(repository.root).parts
        is_module = bool(steps) and ("metadata.json" in names or "manifests" in folders)
        is_named = named in (here, here / "hiera.yaml")
        if steps and not is_module and not is_named and "hiera.yaml" in names:
            config = repository.config
            yield lookup_of(here / "hiera.yaml", repository.root, config.puppet_version, config.sensitive)
        passed = _NO_TREES if steps else {*_NO_TREES, "environments"}
        is_end = len(steps) == _DEEPEST_TREE
        folders[:] = [] if is_end else sorted(one for one in folders if one[0] != "." and one not in passed)


def _doubtful(repository: Repository, run_code: bool) -> Iterator[NodeattrsError]:
    """Yield the warnings about values in nodes, roles, environments and attribute files that are data."""
    unrun = set() if run_code else repository.names_in_python("roles")
    known = known_nodes(repository, unrun)
    stacks = known.stacks or list(role_stacks(repository, unrun))
    layers = {(layer.kind, layer.name): layer for stack in stacks for layer in stack.layers}.values()
    if not repository.config.merge:  # the checks do not know rules for paths
        yield from overrides(known.stacks)
        yield from type_changes(stacks)
    data = data_files(repository)
    words = CodeWords(repository)
    yield from misspelt_keys(layers_of_data(data), words)  # before `add_layers`, which makes their keys known
    yield from misspelt_facts(repository, data)
    words.add_layers(layers_of_data(data))
    yield from misspelt_keys(layers, words)
    yield from shadowed_maps(layers, words)
    yield from _unused(repository, known, unrun)
    yield from _against_rules(repository, unrun)
    yield from against_schema(repository, known.stacks)


def _read_all(repository: Repository, run_code: bool) -> tuple[list[NodeattrsError], list[NodeattrsError]]:
    """Read all files; returns (faults, warnings). `repository.warnings` has further warnings."""
    faults: list[NodeattrsError] = []
    warnings: list[NodeattrsError] = []
    config = _tried(faults, lambda: repository.config)
    is_missing_reported = config is None or config.chef.missing_cookbooks not in ("warn", "own")
    cookbooks = _all(faults, repository.cookbooks(), repository.cookbook)
    for one in cookbooks:
        files = _tried(faults, partial(_code_of, one)) or []
        warnings += _unread([one.shown(file) for file in one.files if _is_unrun(one, file)])
        warnings += [warning for file in files for warning in _warnings_of(faults, one, file)]
    unrun = {folder: set() if run_code else repository.names_in_python(folder) for folder in ("roles", "environments")}
    for folder, names in unrun.items():
        message, hint = "is Python, and was not run", "--run-code runs it"
        files = [f"{folder}/{name}.py" for name in sorted(names)]
        warnings += [DocumentError(message, file=file, hint=hint, kind=CODE_NOT_RUN) for file in files]
    roles = _all(faults, (name for name in repository.roles() if name not in unrun["roles"]), repository.role)
    there = repository.environments()
    named = (name for name in there if name not in unrun["environments"])
    environments = _all(faults, named, repository.environment)
    nodes = _all(faults, repository.nodes(), repository.node_document)
    _all(faults, _tried(faults, repository.suites) or [], repository.node_document)
    for bag in repository.data_bags():
        _all(faults, _tried(faults, partial(repository.data_bag, bag)) or [], partial(repository.item_as_written, bag))

    fetched = _MissingCookbooks(repository, warnings)
    dangling = partial(_dangling, fetched, unrun["roles"])
    for role in roles:
        for path, texts in _lists_of(role):
            faults += dangling(role.locator, path, texts)
    for node in nodes:
        faults += dangling(node.locator, ("run_list",), node.run_list)
        if node.environment not in (None, DEFAULT_ENVIRONMENT, *there):
            message = f"there is no environment {node.environment}"
            hint = known_or_near(node.environment, there)
            faults.append(fault(node.locator, ("chef_environment",), message, hint=hint, kind=MISSING_ENVIRONMENT))
    known = {cookbook.name: cookbook for cookbook in cookbooks}
    for one in cookbooks if is_missing_reported else ():
        for needed in one.depends:
            faults += fetched.missing(one.locator, (one.depends_field, needed), needed, one)
    faults += _rings(known)
    pins = [pin for environment in environments for pin in environment.pins()]
    _tried(faults, lambda: check_versions(known, known, pins))
    return faults, warnings


def _unread(files: list[str]) -> Iterator[DocumentError]:
    """Yield one warning for all files in Ruby of a cookbook; nothing for []."""
    if files:
        details = [f"and {len(files) - 1} more in its cookbook"] if len(files) > 1 else []
        yield DocumentError(NOT_RUN, file=files[0], details=details, kind=RUBY_NOT_READ)


class _MissingCookbooks:
    """Finds missing cookbooks. If a file says that cookbooks are fetched, a missing one is a warning and no fault.

    warnings: gets such a warning for each missing cookbook, once
    """

    def __init__(self, repository: Repository, warnings: list[NodeattrsError]) -> None:
        self.repository, self.warnings = repository, warnings
        self._there = repository.cookbooks()
        self._noted: set[str] = set()

    def missing(self, at: Locator, path: Path, name: str, of: Cookbook | None = None) -> Iterator[NodeattrsError]:
        """Yield a fault, or add a warning, if a cookbook is missing. of: the cookbook that needs it, or None"""
        if name in self._there:
            return
        found = fault(at, path, f"there is no cookbook {name}", hint=self.repository.cookbook_paths.hint(name))
        found.kind = MISSING_COOKBOOK
        by = self._file_that_fetches(at.at(path).file, of)
        if by is None:
            yield found
        elif name not in self._noted:
            self._noted.add(name)
            found.kind, found.hint = FETCHED_COOKBOOK, f"{self.repository.shown(by)} says what is fetched"
            self.warnings.append(found)

    def _file_that_fetches(self, file: str | None, of: Cookbook | None) -> pathlib.Path | None:
        """The file that says how cookbooks are fetched, or None for none.

        It is a Berksfile or the like, else *file* or a README, else a .gitmodules with a submodule that is not checked
        out.
        """
        roots = [self.repository.root, *([of.root] if of is not None and of.root is not None else [])]
        pages = [self.repository.root / one for one in (file, *_PAGES) if one]
        found = (root / one for root in roots for one in _FETCH if (root / one).exists())
        submodules = [self.repository.root / ".gitmodules"] if absent_submodules(self.repository.root) else []
        return next(itertools.chain(found, filter(_says_how, pages), submodules), None)


def _says_how(page: pathlib.Path) -> bool:
    try:
        return _FETCHES.search(text_of(page, page.name)) is not None
    except DocumentError:
        return False


def _dangling(
    fetched: _MissingCookbooks, unrun: set[str], locator: Locator, under: Path, items: Iterable[str]
) -> Iterator[NodeattrsError]:
    repository = fetched.repository
    for index, text in enumerate(items):
        item = RunListItem.parse(text)
        try:
            if item.type == "role":
                if item.name not in unrun:
                    repository.role(item.name)
            else:
                cookbook = repository.cookbook(cookbook_of(item.name))
                if not cookbook.is_missing:
                    cookbook.recipe_file(item.name)
        except DocumentError:
            pass  # reported already, by reading it
        except CookbookNotFound:
            yield from fetched.missing(locator, (*under, index), cookbook_of(item.name))
        except (RoleNotFound, RecipeNotFound) as error:
            kind = MISSING_ROLE if isinstance(error, RoleNotFound) else MISSING_RECIPE
            yield fault(locator, (*under, index), error.message, hint=error.hint, kind=kind)
        except NodeattrsError as error:
            yield fault(locator, (*under, index), error.message, hint=error.hint)


def _is_unrun(cookbook: Cookbook, file: str) -> bool:
    """Whether a file of a cookbook is code in Ruby that may set attributes."""
    return file.endswith(RUBY) and file.partition("/")[0] in _CODE and may_set(cookbook, file)


def _code_of(cookbook: Cookbook) -> list[str]:
    return [*cookbook.attribute_paths, *cookbook.recipes.values()]


def _warnings_of(faults: list[NodeattrsError], cookbook: Cookbook, file: str) -> Iterable[DocumentError]:
    if file.endswith(RUBY):
        return ()
    is_recipe = file in cookbook.recipes.values()
    of_data: Callable[[str], Any] = cookbook.recipe_data if is_recipe else cookbook.attribute_data
    read: Callable[[str], Any] = of_data if file.endswith(DATA) else cookbook.program
    found = _tried(faults, partial(read, file))
    return () if found is None else found.warnings


def _lists_of(role: Role) -> Iterator[tuple[tuple[Any, ...], Iterable[str]]]:
    yield (role.run_list_field,), role.run_list
    for environment, items in role.env_run_lists.items():
        yield ("env_run_lists", environment), items or ()


def _tried(faults: list[NodeattrsError], read: Callable[[], _Thing]) -> _Thing | None:
    try:
        return read()
    except NodeattrsError as error:
        faults.append(error)
        return None


def _all(faults: list[NodeattrsError], names: Iterable[str], read: Callable[[str], _Thing | None]) -> list[_Thing]:
    found = (_tried(faults, partial(read, name)) for name in names)
    return [thing for thing in found if thing is not None]


def _rings(cookbooks: dict[str, Cookbook]) -> Iterator[DocumentError]:
    """Yield a fault for each cycle of dependencies, at the line that closes it."""
    done: set[str] = set()
    for start in cookbooks:
        # Each cookbook on the way from *start*, with the dependencies of it that are still to be followed.
        way: dict[str, list[str]] = {start: sorted(cookbooks[start].depends)} if start not in done else {}
        while way:
            here = next(reversed(way))
            if not way[here]:
                done.add(here)
                del way[here]
                continue
            needed = way[here].pop(0)
            if needed in way:
                ring = [*list(way)[list(way).index(needed) :], needed]
                message = f"cookbooks depend on each other in a ring: {' -> '.join(ring)}"
                cookbook = cookbooks[here]
                found = fault(cookbook.locator, (cookbook.depends_field, needed), message, hint="a run cuts it here")
                found.kind = DEPENDENCY_RING
                yield found
            elif needed in cookbooks and needed not in done:
                way[needed] = sorted(cookbooks[needed].depends)


# Roles and cookbooks that no node reaches by its run-list

_ITEM = re.compile(r"""(?<![a-z])(role|recipe)(?:\[|\W{1,3})([\w.-]+)""")
_SKIPPED = frozenset((".git", "cookbooks", "vendor", "node_modules"))
_MOST_BYTES = 200_000
_MOST_FILES = 2_000


def _texts(root: pathlib.Path) -> Iterator[str]:
    """Yield the first 200,000 characters of up to 2,000 files. Cookbooks, roles and nodes are left out."""
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = sorted(set(folders) - _SKIPPED - ({"roles", "nodes"} if inside == "." else set()))
        for path in (os.path.join(folder, name) for name in sorted(names)):
            if left and os.path.isfile(path):
                left -= 1
                with suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
                    yield stream.read(_MOST_BYTES)


def _unused(repository: Repository, known: KnownNodes, unrun: Iterable[str]) -> Iterator[DocumentError]:
    """Yield a warning for each unused role, and each unused cookbook with attribute files.

    It is unused if no run-list of the known nodes leads to it, and no other text of the repository names it.
    Yields nothing if not all nodes are known. A role or cookbook that cannot be read is not reported.
    unrun: names of roles in Python that did not run; they are not reported
    """
    if not known.complete:
        return
    # ("role" or "recipe", name) of each item in other texts, such as scripts and pages.
    items = {(found[1], found[2]) for text in _texts(repository.root) for found in _ITEM.finditer(text)}
    used_roles = {*known.roles, *unrun, *(name for kind, name in items if kind == "role")}
    for role in readable((name for name in repository.roles() if name not in used_roles), repository.role):
        message = f"role {role.name} is on no run-list of a node, or of a role that a node has"
        at = role.locator.at(())
        yield DocumentError(message, file=at.file, line=at.line, column=at.column, kind=UNUSED_ROLE)
    reached = known.cookbooks | {name.partition("::")[0] for kind, name in items if kind == "recipe"}
    unused = (name for name in repository.cookbooks() if name not in reached)
    for cookbook, files in readable(unused, partial(_attribute_files, repository)):
        if not cookbook.unread and files:
            message = f"no run-list reaches cookbook {spell((cookbook.name,))}, and nothing reads its attributes"
            more = [f"and {len(files) - 1} more of its files"] if len(files) > 1 else []
            yield DocumentError(message, file=cookbook.shown(files[0]), details=more, kind=UNREAD_ATTRIBUTES)


def _attribute_files(repository: Repository, name: str) -> tuple[Cookbook, tuple[str, ...]]:
    cookbook = repository.cookbook(name)
    return cookbook, cookbook.attribute_paths


# Places where values are set, and the rules of nodeattrs.toml: `[[check.rules]]`

_Written = tuple[str, str, Any, Locator]
"""(Place such as "roles" or "data_bags", level or "", tree, locator of its lines)."""


def _against_rules(repository: Repository, unrun: Iterable[str]) -> Iterator[DocumentError]:
    """Yield a warning for each value that is set where a rule of `[[check.rules]]` forbids it.

    Yields nothing without rules. Documents that cannot be read, and environments in Python, are not checked.
    unrun: names of roles in Python that did not run, and are not checked
    """
    rules = repository.config.check_rules
    for place, level, tree, locator in _written(repository, frozenset(unrun)) if rules else ():
        for path in leaves_of(tree):
            for rule in rules:
                if place not in rule.only and rule.is_about(path, level):
                    yield _rule_warning(rule, place, path, level, locator)


def _rule_warning(rule: CheckRule, place: str, path: Path, level: str, locator: Locator) -> DocumentError:
    at = locator.at(path)
    message = f"{spell(path)} is set {f'at the level {level} ' if rule.level else ''}in {place}, against a rule"
    wanted = f"only in {', '.join(rule.only)}" if rule.only else "nowhere"
    details = [f"{rule.place}: {wanted}{f', because {rule.because}' if rule.because else ''}"]
    return DocumentError(message, file=at.file, line=at.line, column=at.column, details=details, kind=AGAINST_RULE)


def _written(repository: Repository, unrun: frozenset[str]) -> Iterator[_Written]:
    roles = [name for name in repository.roles() if name not in unrun]
    environments = sorted({*repository.environments()} - repository.names_in_python("environments"))
    yield from attribute_maps(repository, roles, environments)
    for bag in repository.data_bags():
        for tree, locator in readable(repository.data_bag(bag), partial(repository.item_as_written, bag)):
            yield "data_bags", "", tree, locator
    hiera = repository.hiera
    if hiera is None:
        return
    for environment in hiera.environments() or ["production"]:
        for file in hiera.data_files(environment):
            yield "hiera", "", dict(file.tree), file.document.locator("hiera", "")
