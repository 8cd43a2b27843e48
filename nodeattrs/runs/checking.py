"""A look at all that a repository says: what is wrong, what is probably not meant, and how much was looked at.

It knows a repository and its Hiera tree, and neither findings nor command lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Locator
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.node.run_list import RunListItem, cookbook_of
from nodeattrs.runs.cookbooks import RUBY, Cookbook, check_versions
from nodeattrs.runs.defaults import FILE
from nodeattrs.runs.fields import fault, known_or_near
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.roles import DEFAULT_ENVIRONMENT, Role
from nodeattrs.runs.unread import not_run

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a look at a repository found.

    faults:   what cannot be right
    warnings: what is probably not meant; of kind "not-run": what was not looked at
    looked:   what -> how many
    """

    faults: list[NodeattrsError]
    warnings: list[NodeattrsError]
    looked: dict[str, int]

    @property
    def settings_are_sound(self) -> bool:
        """Whether nodeattrs.toml can be read, where there is one."""
        return all(getattr(fault, "file", None) != FILE for fault in self.faults)


@taking(repository=Repository, run_code=bool)
def checked(repository: Repository, run_code: bool = False) -> Checked:
    """Read everything, the Hiera tree too.

    run_code: also roles and environments that are Python
    """
    faults = faults_of(repository, run_code)
    warnings: list[NodeattrsError] = [*repository.warnings]
    looked = {
        "cookbook": len(repository.cookbooks()),
        "role": len(repository.roles()),
        "environment": len(repository.environments()),
        "node": len(repository.nodes()),
    }
    try:
        if (hiera := repository.hiera) is not None:
            looked["data file"], wrong = hiera.check()
            faults += wrong
            warnings += hiera.warnings
    except NodeattrsError as error:  # of the settings it is reported already
        faults.append(error)
    return Checked(faults, warnings, looked)


@taking(repository=Repository, run_code=bool)
def faults_of(repository: Repository, run_code: bool = True) -> list[NodeattrsError]:
    """Read everything that a repository describes, and give every fault there is; warnings are in its `warnings`.

    run_code: also roles and environments that are Python; else each is a warning

    Beyond what reading finds: roles, recipes and cookbooks that are asked for and are not
    there, versions that do not fit, and cookbooks that depend on each other in a ring.
    """
    faults: list[NodeattrsError] = []
    _tried(faults, lambda: repository.config)
    cookbooks = _all(faults, repository.cookbooks(), repository.cookbook)
    for one in cookbooks:
        files = _tried(faults, partial(_code_of, one)) or []
        repository.warnings += [not_run(one.shown(file)) for file in files if file.endswith(RUBY)]
        programs = _all(faults, (file for file in files if not file.endswith(RUBY)), one.program)
        repository.warnings += [warning for program in programs for warning in program.warnings]
    unrun = {folder: set() if run_code else repository.scripted(folder) for folder in ("roles", "environments")}
    for folder, names in unrun.items():
        repository.warnings += [_script(f"{folder}/{name}.py") for name in sorted(names)]
    roles = _all(faults, (name for name in repository.roles() if name not in unrun["roles"]), repository.role)
    there = repository.environments()
    named = (name for name in there if name not in unrun["environments"])
    environments = _all(faults, named, repository.environment)
    nodes = _all(faults, repository.nodes(), repository.node_document)
    for bag in repository.data_bags():
        _all(faults, _tried(faults, partial(repository.data_bag, bag)) or [], partial(repository.written_item, bag))

    dangling = partial(_dangling, repository, unrun["roles"])
    for role in roles:
        for path, texts in _lists_of(role):
            faults += dangling(role.locator, path, texts)
    for node in nodes:
        faults += dangling(node.locator, ("run_list",), node.run_list)
        if node.environment not in (None, DEFAULT_ENVIRONMENT, *there):
            message = f"there is no environment {node.environment}"
            hint = known_or_near(node.environment, there)
            faults.append(fault(node.locator, ("chef_environment",), message, hint=hint))
    known = {cookbook.name: cookbook for cookbook in cookbooks}
    if repository.misses_cookbooks:
        faults += _missing(cookbooks, repository.cookbooks())
    faults += _rings(known)
    pins = [pin for environment in environments for pin in environment.pins()]
    _tried(faults, lambda: check_versions(known, known, pins))
    return faults


def _script(file: str) -> DocumentError:
    return DocumentError("is Python, and was not run", file=file, hint="--run-code runs it", kind="not-run")


def _missing(cookbooks: Iterable[Cookbook], there: list[str]) -> Iterator[NodeattrsError]:
    """The dependencies that are not there."""
    for cookbook in cookbooks:
        for needed in cookbook.depends:
            if needed not in there:
                path = (cookbook.depends_field, needed)
                yield fault(cookbook.locator, path, f"there is no cookbook {needed}", hint=known_or_near(needed, there))


def _dangling(
    repository: Repository, unrun: set[str], locator: Locator, under: Path, items: Iterable[str]
) -> Iterator[NodeattrsError]:
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
        except NodeattrsError as error:
            yield fault(locator, (*under, index), error.message, hint=error.hint)


def _code_of(cookbook: Cookbook) -> list[str]:
    return [*cookbook.attribute_files.values(), *cookbook.recipes.values()]


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
    """Every ring of dependencies once, at the line that closes it."""
    done: set[str] = set()
    for start in cookbooks:
        # The way down to where we stand, and at each step what is still to be asked there.
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
                yield fault(cookbook.locator, (cookbook.depends_field, needed), message, hint="a run cuts it here")
            elif needed in cookbooks and needed not in done:
                way[needed] = sorted(cookbooks[needed].depends)
