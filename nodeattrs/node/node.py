"""`Node`, the class that users work with: attributes with a run-list, tags, Chef's JSON and snapshots.

Files are not read here: a repository, a store or a run gives plain data and locators. What a run does with a node is in
`node.intake`, `node.running` and `dialects.chef.run`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.node.attributes import WORDS, Attributes
from nodeattrs.node.documents import chef_document
from nodeattrs.node.intake import ensured_tags, replace_slot
from nodeattrs.node.restoring import NodeIdentity, chef_levels, identity_in, identity_in_snapshot, restore_ledger
from nodeattrs.node.run_list import normalised
from nodeattrs.node.sites import Versions
from nodeattrs.node.slots import DEFAULT_ENVIRONMENT, rules_in
from nodeattrs.node.snapshots import snapshot_document
from nodeattrs.node.writers import WholeComponentWriter

__all__ = ["DEFAULT_ENVIRONMENT", "WORDS", "Node", "words_of"]

_SAVED = Origin("saved", "origin unknown")


class Node(Attributes):
    """A node: fifteen slots, written level by level, and read as one merged tree that knows where each value came from.

    name:        of the node
    environment: the name of its environment
    provenance:  False keeps no origins and no history
    sensitive:   paths whose values are secrets: "db.password", or steps; the step "*" stands for any
    root:        the folder to which the files in origins are relative; None is the current one
    rules:       path or pattern -> rule that replaces Chef's there; see `core.rules.read_rules`

    Reading is as from an immutable mapping: an absent key raises NoSuchAttribute (a KeyError). One thread may write
    while others read; several writers take turns. A value that was read never changes, deferred values excepted.
    snapshot, restore:  the whole state with origins as data; the node from such data
    to_chef, from_chef: Chef's node JSON as data, without origins; the node from such data. `to_chef_json` is text
    to_hash:            a copy of the merged attributes, with name, environment and run-list
    run_list:           a copy of the list; assigning a list replaces it
    tags, tag, untag:   a copy of normal `tags`; add or remove names, and return all tags

    `restore` and `from_chef` raise DocumentError for damaged data.
    source: docs/merging.md

    >>> node = Node("web1")
    >>> node.default["apache"]["port"] = 80
    >>> node.override["apache"]["port"] = 8080
    >>> node["apache"]["port"]
    8080
    """

    _run_list: Sequence[str] = ()

    @property
    def run_list(self) -> list[str]:
        """A copy of the items as texts. Assigning stores the long form of each item once: a bare name is recipe[name].

        raises: InvalidRunListItem, when it is assigned
        """
        return list(self._run_list)

    @run_list.setter
    def run_list(self, items: Iterable[object]) -> None:
        self._run_list = [str(item) for item in normalised(items)]

    # Tags

    @property
    def tags(self) -> list[Any]:
        """A copy of the list in normal `tags`. Reading it stores [] where `tags` is not set, and [tag] for a scalar."""
        tags: list[Any] = self._ledger.plain_copy(ensured_tags(self), False, ("tags",))
        return tags

    def tag(self, *names: str) -> list[Any]:
        """Add names to normal `tags`, and return all tags as a new list.

        Names that are there already are not added again.
        """
        known = self.tags
        missing = [name for name in dict.fromkeys(map(str, names)) if name not in known]
        if missing:
            self.normal["tags"].push(*missing)
        return [*known, *missing]

    def untag(self, *names: str) -> list[Any]:
        """Remove names from normal `tags`, and return the tags that are left as a new list. Unknown names are
        ignored.
        """
        known = self.tags
        gone = set(map(str, names)) & set(known)
        for name in gone:
            self.normal["tags"].delete(name)
        return self.tags if gone else known

    # Documents

    def to_chef(self, *, shared: bool = False) -> dict[str, Any]:
        """Chef's node JSON as data: the four levels, each merged, without origins. Secrets are replaced by a marker.

        Deferred values are computed; one that fails becomes {"$deferred": reason}.
        shared: True: facts in it may be the node's own objects, so that nothing in it may be changed
        raises: DeferredCycle
        """
        return chef_document(self._ledger, self.name, self.environment, self._run_list, shared)

    def to_chef_json(self) -> str:
        """`to_chef()` as JSON text, on one line."""
        return json.dumps(self.to_chef(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    to_json = to_chef_json  # Chef's name

    def to_hash(self) -> dict[str, Any]:
        """A plain copy of the merged attributes, with the node's fields in place of attributes of the same names.

        The fields are chef_type, name, chef_environment and run_list; also `recipe` and `role`, lists of names from the
        run-list, where it has recipes or roles.
        source: Chef's `to_hash`
        """
        merged = self.to_dict()
        merged.update(chef_type="node", name=self.name, chef_environment=self.environment)
        for kind in ("recipe", "role"):
            named = [item.name for item in normalised(self._run_list) if item.type == kind]
            if named:
                merged[kind] = named
        merged["run_list"] = self.run_list
        return merged

    @classmethod
    def from_chef(cls, document: Mapping[str, Any], *, locator: Locator = _SAVED, **options: Any) -> Self:
        """A node from Chef's node JSON: its levels become the components default, normal, override and automatic.

        document: is copied
        locator:  gives the origins of the values; by default they say "saved, origin unknown"
        options:  as for `Node`
        raises:   DocumentError, where the document is damaged
        """
        node = cls._with_identity(identity_in(document, "chef_environment"), {"rules": rules_in(document), **options})
        for level, tree in chef_levels(document):
            replace_slot(node._trees[level], tree, locator)
        return node

    def snapshot(self, *, shared: bool = False, causes: bool = False) -> dict[str, Any]:
        """The whole state of the node as data for JSON: fifteen slots, origins and history. `restore` reads it.

        Deferred values are computed, and secrets left out.
        shared: True: facts in it may be the node's own objects, so that nothing in it may be changed
        causes: True includes the causes of all values. False names the source files instead, in which a restored node
                finds causes later
        """
        return snapshot_document(self._ledger, self.name, self.environment, self._run_list, shared, causes)

    @classmethod
    def restore(cls, snapshot: Mapping[str, Any], *, versions: Versions | None = None, **options: Any) -> Self:
        """The node that `snapshot` described. A secret that was left out raises ValueWithheld when it is read.

        versions: gives the files of its repository, to find the causes of values; None: only causes in the snapshot
        options:  as for `Node`
        raises:   DocumentError, for a snapshot that is damaged or too new
        """
        node = cls._with_identity(identity_in_snapshot(snapshot), {"rules": rules_in(snapshot), **options})
        restore_ledger(snapshot, node._ledger, versions)
        return node

    @classmethod
    def _with_identity(cls, identity: NodeIdentity, options: Mapping[str, Any]) -> Self:
        node = cls(identity.name, identity.environment, **options)
        node.run_list = identity.run_list
        return node


def words_of(node: Attributes) -> dict[str, Any]:
    """The words that an attribute file may use without an import: each name in WORDS -> a writer or method of *node*.

    A writer of a whole component here still writes to the node after the component was replaced. The writer that
    `node.default` returns does not.
    """
    words = {}
    for name in WORDS:
        words[name] = WholeComponentWriter(node._trees[name]) if name in node._trees else getattr(node, name)
    return words
