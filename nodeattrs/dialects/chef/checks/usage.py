"""Find roles and cookbooks that no node reaches by its run-list.

Unused ones are reported only if every node of the repository is known. A role or cookbook that another text names, such
as a Vagrantfile, a script or a page, counts as used.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from nodeattrs.core.tree import spell
from nodeattrs.dialects.chef.checks.stacks import KnownNodes
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.kinds import UNREAD_ATTRIBUTES, UNUSED_ROLE

_ITEM = re.compile(r"""(?<![a-z])(role|recipe)(?:\[|\W{1,3})([\w.-]+)""")
_SKIPPED = frozenset((".git", "cookbooks", "vendor", "node_modules"))
_MOST_BYTES = 200_000
_MOST_FILES = 2_000


def _mentioned(repository: Repository) -> frozenset[tuple[str, str]]:
    """The roles and recipes that other texts of a repository name, such as scripts and pages: ("role", "web")."""
    return frozenset((found[1], found[2]) for text in _texts(repository.root) for found in _ITEM.finditer(text))


def _texts(root: pathlib.Path) -> Iterator[str]:
    """Yield the beginnings of up to 2,000 files below a folder. Cookbooks, roles and nodes are left out."""
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = sorted(set(folders) - _SKIPPED - ({"roles", "nodes"} if inside == "." else set()))
        for path in (os.path.join(folder, name) for name in sorted(names)):
            if left and os.path.isfile(path):
                left -= 1
                with suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
                    yield stream.read(_MOST_BYTES)


def unused(repository: Repository, known: KnownNodes, unrun: Iterable[str] = ()) -> Iterator[DocumentError]:
    """Yield a warning for each unused role, and each unused cookbook with attribute files.

    Unused means: no run-list of the known nodes leads to it, and no other text of the repository names it.
    Yields nothing if not all nodes are known. A role or cookbook that cannot be read is not reported.
    unrun: names of roles in Python that did not run; they are not reported
    """
    if not known.complete:
        return
    items = _mentioned(repository)
    for name in repository.roles():
        if name not in known.roles and name not in unrun and ("role", name) not in items:
            yield from _role(repository, name)
    reached = known.cookbooks | {name.partition("::")[0] for kind, name in items if kind == "recipe"}
    for name in repository.cookbooks():
        if name not in reached:
            yield from _cookbook(repository, name)


def _role(repository: Repository, name: str) -> Iterator[DocumentError]:
    try:
        at = repository.role(name).locator.at(())
    except NodeattrsError:
        return
    message = f"role {name} is on no run-list of a node, or of a role that a node has"
    yield DocumentError(message, file=at.file, line=at.line, column=at.column, kind=UNUSED_ROLE)


def _cookbook(repository: Repository, name: str) -> Iterator[DocumentError]:
    try:
        cookbook = repository.cookbook(name)
        files = cookbook.attribute_paths
    except NodeattrsError:
        return
    if not cookbook.unread and files:
        message = f"no run-list reaches cookbook {spell((name,))}, and nothing reads its attributes"
        more = [f"and {len(files) - 1} more of its files"] if len(files) > 1 else []
        yield DocumentError(message, file=cookbook.shown(files[0]), details=more, kind=UNREAD_ATTRIBUTES)
