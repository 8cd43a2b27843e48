"""Check where values are set, by the rules of a repository in nodeattrs.toml: `[[check.rules]]`.

A rule names paths, and the places (roles, environments, nodes, data bags, Hiera) that may set them. Attribute files and
recipes are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from nodeattrs.core.claim import Locator
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.chef.checks.stacks import leaves_of
from nodeattrs.dialects.chef.repository.repository import Repository, attribute_maps, readable
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import AGAINST_RULE
from nodeattrs.project.config import CheckRule

Written = tuple[str, str, Any, Locator]
"""The place ("roles", "data_bags", ...), the level or "", the tree, and a locator of its lines."""


def against_rules(repository: Repository, unrun: Iterable[str] = ()) -> Iterator[DocumentError]:
    """Yield a warning for each value that a rule of `[[check.rules]]` does not allow where it is set.

    Yields nothing without rules. Documents that cannot be read, and environments in Python, are not checked.
    unrun: names of roles in Python that did not run, and are not checked
    """
    rules = repository.config.check_rules
    for place, level, tree, locator in _written(repository, frozenset(unrun)) if rules else ():
        for path in leaves_of(tree):
            for rule in rules:
                if place not in rule.only and rule.is_about(path, level):
                    yield _finding(rule, place, path, level, locator)


def _finding(rule: CheckRule, place: str, path: Path, level: str, locator: Locator) -> DocumentError:
    at = locator.at(path)
    message = f"{spell(path)} is set {f'at the level {level} ' if rule.level else ''}in {place}, against a rule"
    wanted = f"only in {', '.join(rule.only)}" if rule.only else "nowhere"
    details = [f"{rule.place}: {wanted}{f', because {rule.because}' if rule.because else ''}"]
    return DocumentError(message, file=at.file, line=at.line, column=at.column, details=details, kind=AGAINST_RULE)


def _written(repository: Repository, unrun: frozenset[str]) -> Iterator[Written]:
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
