"""Find the policies of a repository, and read a Policyfile.rb that has no lock file.

Used by `repository.Repository`, which finds a policy by its name. Only literals of a Policyfile.rb are read. An
expression is unread, and may set anything. Which versions `chef install` would choose is not known here. Lock files are
read by `roles.read_policy`.

source: chef-cli's `Policyfile::DSL` and `PolicyfileCompiler`
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.chef.repository.cookbook_paths import Lock
from nodeattrs.dialects.chef.repository.cookbooks import RUBY
from nodeattrs.dialects.chef.repository.roles import Policy, merged_maps
from nodeattrs.errors import DocumentError
from nodeattrs.formats import documents
from nodeattrs.kinds import REPEATED_KEY
from nodeattrs.node.run_list import qualified
from nodeattrs.project.fields import Fields

_LOCK = ".lock.json"
_FOLDERS = ("policies", "policyfiles")
_DEEPEST = 3
_NAME = re.compile(r"""^[ \t]*name[ \t(]{1,8}["']([^"'\n]+)["']""", re.MULTILINE)

_Item = TypeVar("_Item")


def policy_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the lock files and Policyfiles of a repository: at its root, then in policies/ and policyfiles/.

    Folders below these are listed to a depth of three. In policies/ itself each `*.json` is a lock. A Policyfile is
    yielded beside its lock, too. No file is read.
    """
    names = sorted(os.listdir(root))
    yield from (root / one for one in names if one.endswith(_LOCK) or one == "Policyfile.rb")
    for folder in _FOLDERS:
        for here, folders, files in os.walk(root / folder):
            depth = len(pathlib.Path(here).relative_to(root).parts)
            folders[:] = sorted(folders) if depth <= _DEEPEST else []
            is_export = here == str(root / "policies")
            ends = (".json", RUBY) if is_export else (_LOCK, RUBY)
            yield from (pathlib.Path(here, one) for one in sorted(files) if one.endswith(ends))


def declared_name(path: pathlib.Path, shown: str) -> str:
    """The name that a lock file or a Policyfile gives itself; "" if it has none.

    path:   the file; a file that ends in `.rb` is a Policyfile
    shown:  the file in messages
    raises: DocumentError, for a file that cannot be read
    """
    if path.suffix == RUBY:
        found = _NAME.search(documents.text_of(path, shown))
        return found[1] if found else ""
    name = dig(documents.read(path, shown).tree, ("name",))
    return name if isinstance(name, str) else ""


def read_policyfile(name: str, document: documents.Document, fields: Fields, include: Callable[..., Policy]) -> Policy:
    """The policy that the literals of a Policyfile.rb describe.

    Policies that it includes are merged below its own values.

    name:    the name of the policy if the Policyfile has none
    document: its parsed literals, whose warnings become `Policy.unread`
    fields:  the fields of the same document
    include: a function from the name, path and line of an included policy to that policy. The path is "" if the
             policy has another source
    raises:  DocumentError, with all faults
    """
    policy = Policy(
        fields.text("name") or name,
        run_list=_normalised(fields.run_list("run_list")),
        named_run_lists={
            str(one): _normalised(fields.run_list("named_run_lists", one)) for one in fields.map("named_run_lists")
        },
        default_attributes=fields.map("default_attributes"),
        override_attributes=fields.map("override_attributes"),
        locks={str(one): _asked_lock(fields, str(one)) for one in fields.map("cookbooks")},
        locator=fields.locator,
        constraints={str(one): fields.text("cookbooks", one, "constraint") for one in fields.map("cookbooks")},
        is_locked=False,
        unread=unread_of(document),
    )
    fields.finish()
    for one in fields.map("included_policies"):
        path = fields.text("included_policies", one, "path")
        policy = _with_included(policy, include(str(one), path, fields.locator.at(("included_policies", one))))
    return policy


def unread_of(document: documents.Document) -> tuple[DocumentError, ...]:
    """An error, with its line, for each expression of a Policyfile that is not a literal; () for none."""
    return tuple(one for one in document.warnings if one.kind != REPEATED_KEY)


def _normalised(items: list[str]) -> list[str]:
    """The items of a run-list as a lock has them: `recipe[app::default]`."""
    bare = [one.removeprefix("recipe[").removesuffix("]") if not one.startswith("role[") else one for one in items]
    return [one if one.startswith("role[") else f"recipe[{qualified(one)}]" for one in bare]


def _asked_lock(fields: Fields, cookbook: str) -> Lock:
    path = fields.text("cookbooks", cookbook, "path")
    folder = os.path.dirname(fields.locator.at(()).file or "")
    return Lock("", "", os.path.normpath(os.path.join(folder, path)) if path else "")


def _with_included(policy: Policy, included: Policy) -> Policy:
    """A policy merged with one that it includes: the included run-list comes first, the own attributes win.

    An item that both run-lists have counts once.
    """
    lists = {name: [*included.named_run_lists.get(name, ())] for name in included.named_run_lists}
    for name, items in policy.named_run_lists.items():
        lists[name] = _joined(lists.get(name, ()), items)
    return replace(
        policy,
        run_list=_joined(included.run_list, policy.run_list),
        named_run_lists=lists,
        default_attributes=merged_maps(included.default_attributes, policy.default_attributes),
        override_attributes=merged_maps(included.override_attributes, policy.override_attributes),
        locks={**included.locks, **policy.locks},
        constraints={**included.constraints, **policy.constraints},
        locator=_IncludedPolicyLocator(policy, included),
        unread=tuple(_joined(policy.unread, included.unread)),
    )


def _joined(first: Iterable[_Item], second: Iterable[_Item]) -> list[_Item]:
    """The items of both, each once."""
    return [*dict.fromkeys((*first, *second))]


@dataclass(frozen=True)
class _IncludedPolicyLocator:
    """A locator: gives the place in a policy, or the place in the included policy for paths that the policy lacks."""

    policy: Policy
    included: Policy

    def at(self, path: Path) -> Origin:
        level, rest = path[:1], path[1:]
        tree = getattr(self.policy, str(level[0]), {}) if level else {}
        is_own = not rest or (isinstance(tree, Mapping) and dig(tree, rest) is not ABSENT)
        locator: Locator = self.policy.locator if is_own else self.included.locator
        return locator.at(path)


def unread_policy(name: str, message: str, origin: Origin) -> Policy:
    """A stand-in for a policy that was not read: without run-list and attributes, and with one unread part.

    message: why it was not read
    origin:  the place of the unread part
    """
    return Policy(name, is_locked=False, unread=(DocumentError(message, file=origin.file, line=origin.line),))
