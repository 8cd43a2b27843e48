"""One version of a Chef repository for the verbs (why, where, impact, ...): each answer runs a node and saves nothing.

`Nodes` implements `contract.dialect.Opened`. A *look* is a record of something that a run read of its node: a fact, the
name, its file. Nodes with equal looks have equal answers, so `impact` runs one of them and uses its answer for all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from nodeattrs.causes.plain_texts import plain_text
from nodeattrs.causes.unnoted import unnoted
from nodeattrs.contract import reading
from nodeattrs.contract.answers import Answered, Part, Unread, lines_of
from nodeattrs.contract.hiera_looks import HIERA, LookedScopes
from nodeattrs.contract.reading import EVERYTHING, note_read
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.looks import FILE, Look, Looks, quietly, value_at
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import spell, tree_with
from nodeattrs.core.unread import uncomputed, unread_layer
from nodeattrs.dialects.chef.causes import causes
from nodeattrs.dialects.chef.facts import Facts, facts_of_last_run, load_facts
from nodeattrs.dialects.chef.facts.suites import facts_of_suite
from nodeattrs.dialects.chef.reads import UnreadInputs
from nodeattrs.dialects.chef.repository.cookbooks import RUBY
from nodeattrs.dialects.chef.repository.kitchen import FILES as KITCHEN
from nodeattrs.dialects.chef.repository.kitchen import LOCAL_FILES as KITCHEN_LOCAL
from nodeattrs.dialects.chef.repository.repository import NOT_THERE, Repository
from nodeattrs.dialects.chef.repository.roles import NodeFile, RepositoryOptions
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.dialects.common import WithFacts
from nodeattrs.dialects.resources import part_of_resources
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.formats.documents import parse
from nodeattrs.node.documents import failures_in
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.node.running import merged_shared
from nodeattrs.node.values import Deferred
from nodeattrs.node.watched import note_overlaps
from nodeattrs.reports.values import uncomputed_in, unread_at
from nodeattrs.store.saved_nodes import load_saved
from nodeattrs.store.search.word import search_word

NO_FACTS = {"platform": "unknown", "platform_family": "unknown", "platform_version": "0"}
"""The facts of a node without facts: a run needs a platform."""

_BY_METADATA = ("cookbooks",)
_BY_SUITE = (*_BY_METADATA, "platform", "platform_family", "platform_version", "os")
"""Keys of the automatic level that files of the repository set: metadata of cookbooks, and kitchen.yml."""

_DESCRIBING = frozenset(("nodes", "roles", "environments", "data_bags", "policies", "policyfiles", "policy_groups"))
_FETCHING = ("Berksfile", "Berksfile.lock", "Cheffile", "Cheffile.lock", "Policyfile.rb", ".lock.json")
_OF_COOKBOOKS = frozenset(("attributes", "recipes", "libraries", "resources", "providers", "definitions"))

_CALLED = _OF_COOKBOOKS - {"attributes"}
"""Folders of a cookbook whose files in Ruby do not run without --ruby."""


def _unread(layer: Layer) -> Unread:
    origin = layer.origin.at(())
    return unread_layer(layer.value, origin)._replace(place=origin.file or origin.who)


class Nodes(WithFacts):
    """The nodes of one version of a repository, for the verbs. Made by `Chef.open`; the constructor reads no file.

    `is_there` says whether the folder looks like a repository of Chef. `subjects` gives the names of the nodes, or of
    roles if there is no node. `answer` runs a node for the verbs, and `run` returns the run itself; each call runs the
    node again. Both raise the errors of the run, such as RecipeFailed, NotFound and DocumentError.
    A node has the facts that the request names, else the facts of its last run, else an unknown platform. `facts`
    ignores the last run.
    After `answer`, the attribute `unread` lists the layers that could not be read for it; after `read_all` of its
    parts, also the deferred values that cannot be computed.
    `covers` says whether a changed file may change an answer. `may_run` says whether a file is Ruby code that a recipe
    may call. `own`, `values_of` and `notes_looks` serve `impact`: it compares nodes by their looks, to run fewer.
    """

    @cached_property
    def repository(self) -> Repository:
        """The repository of the side. raises: DocumentError, for settings that cannot be read"""
        found = Repository(self.side.root)
        found.also_sensitive = self.request.sensitive
        return found

    @property
    def is_there(self) -> bool:
        """Whether the folder has nodes/, cookbooks/, site-cookbooks/, policies/, a kitchen.yml, or a file of a role.

        A folder roles/ alone may be one of Ansible, whose roles are folders.
        """
        return self.has("nodes", "cookbooks", "policies", "site-cookbooks", *KITCHEN) or bool(self.repository.roles())

    def subjects(self) -> Iterable[str]:
        """The names of the nodes in nodes/, the store, the facts and the classifier, and of the suites of Test Kitchen.

        Without any node there is "role[NAME]" for each role, beside the suites.
        """
        named = {*self.repository.nodes(), *self.known()} or {f"role[{name}]" for name in self.repository.roles()}
        return {*named, *self.repository.suites()}

    def covers(self, file: str) -> bool:
        """Whether a change of *file* may change an answer, by its name alone. The file need not exist.

        True for files in nodes/, roles/, environments/, data_bags/, policies/, policyfiles/ or policy_groups/, except a
        README. True for files in the code folders of any cookbook, for metadata, nodeattrs.toml, Policyfile.rb and
        kitchen.yml.
        """
        steps = self.side.named(file).split("/")
        if _OF_COOKBOOKS.intersection(steps[:-1]) or steps[-1].startswith("metadata."):
            return True  # cookbooks may lie in any folder
        is_page = steps[-1].partition(".")[0] == "README"
        others = ("nodeattrs.toml", "Policyfile.rb", *KITCHEN, *KITCHEN_LOCAL)
        return (steps[0] in _DESCRIBING and not is_page) or steps[-1] in others

    def leaves_out(self, file: str) -> bool:
        """Whether a file may set attributes of nodes that are not here: roles stand for nodes, since none is known.

        These nodes may be in any environment, and use any cookbook. False where a node is known.
        """
        return self.covers(file) and not (self.repository.nodes() or self.known())

    def fetches(self, file: str) -> bool:
        """Whether a cookbook was not there in the last answer, and *file* is a Berksfile, a Policyfile, a lock or a
        submodule of Git.
        """
        is_fetched = file.endswith(_FETCHING) or self.side.files.get(file, "").startswith("module:")
        return is_fetched and any(one.reason == NOT_THERE for one in self.unread)

    def may_run(self, file: str) -> bool:
        """Whether a file is Ruby code that a recipe may include or call by a computed name: recipes, libraries, ..."""
        return file.endswith(RUBY) and bool(_CALLED.intersection(self.side.named(file).split("/")[:-1]))

    def answer(self, name: str) -> Answered:
        """Run a node; returns its attributes as the Part "attribute", and its catalog as the Part "resource".

        Sets `self.unread` to the layers of the node that could not be read; [] if all were read. Traces, causes and
        lines are computed when the caller calls a function of the Part.
        raises: the errors of `run_node`, such as RecipeFailed, NotFound, DocumentError
        """
        looks, run = self.looks, self.run(name)
        unknown = [layer for slot in run.node.slots.values() for layer in slot.unknown]
        self.unread = [_unread(layer) for layer in unknown if layer.value.lines != {}]

        def deciding(path: TreePath) -> Iterator[Origin]:
            found = causes(self.repository, run, lines_of(run.node.trace(path)))
            return (cause.origin for cause in found)

        node, behind = run.node, UnreadInputs(self.repository, run)

        def written() -> Iterator[dict[Any, Any]]:
            keys = _BY_SUITE if name in self.repository.kitchen.instances else _BY_METADATA
            yield {key: tree[key] for key in keys if key in tree}
            yield from (slot.to_dict() for slot in node.slots.values() if slot.level != "automatic")

        def unread(path: TreePath) -> list[Unread]:
            with quietly(None if path else looks):
                return [*unread_at(node, path), *behind.of(path)]

        def trace(path: TreePath) -> Trace:
            with quietly(None if path else looks):  # of the whole tree the verbs want the unknown layers alone
                return node.trace(path)

        with quietly(looks):
            tree = merged_shared(node)

        def lines(path: TreePath) -> Iterator[Origin]:
            return lines_of(trace(path))

        def compute_deferred() -> None:
            failures = failures_in(tree, is_left_out=_reads_attributes)
            self.unread = [*self.unread, *uncomputed_in(node, failures)]

        attributes = Part(
            tree, lines, trace, deciding, written,
            unread=unread, is_known=not unknown, read_all=compute_deferred,
        )  # fmt: skip
        resources = part_of_resources(run.catalog)

        def compute_parameters() -> None:
            failures = failures_in(resources.tree, is_left_out=_reads_attributes)
            self.unread = [*self.unread, *(uncomputed(*one, _place_of(resources, one[0])) for one in failures)]

        return {"attribute": attributes, "resource": resources._replace(read_all=compute_parameters)}

    @cached_property
    def _has_no_programs(self) -> bool:
        """Whether no cookbook has a file in Python, so that reading all of them runs no code."""
        folders = ("cookbooks", "site-cookbooks")
        return not any(next(self.side.root.glob(f"{one}/*/*/*.py"), None) for one in folders)

    def run(self, name: str) -> Run:
        """Run a node, or the role in "role[NAME]" alone; returns the run. `looks` gets the attributes that it read.

        raises: the errors of `run_node`, such as RecipeFailed, NotFound, DocumentError
        """
        looks = self.looks
        if looks is None:
            return self._run(name)
        looks.note(*FILE)
        try:
            run = self._run(name)
        except NodeattrsError:
            if self.request.run_code:
                self._refuse_programs(name, None, looks)
            raise
        note_overlaps(run.node)
        self._refuse(name, run, looks)
        return run

    def facts(self, name: str) -> Facts:
        """The facts that the request or a suite has for a node; an unknown platform for any other node.

        The last run is ignored. raises: DocumentError
        """
        return self._facts(name, None)

    def _run(self, name: str) -> Run:
        request = self.request
        roles_only = request.roles_only or not (request.run_code or self._has_no_programs)
        self.repository.options = RepositoryOptions(
            roles_only=roles_only,
            ruby=request.ruby,
            without=request.what_if.without,
            cookbook_path=tuple(str(request.place(self.side, one)) for one in request.given("nodes")),
        )
        if self.request.what_if.levels and self.repository.hiera is not None:
            self.repository.hiera.skip_levels = frozenset(self.request.what_if.levels)
        last = None if self.store is None else load_saved(self.store, name, self.repository.config.sensitive)
        run_list = self.enc.get(name, {}).get("run_list")
        if name.startswith("role["):
            name, run_list = name[5:-1], [name]
        return run_node(
            self.repository,
            name,
            facts=self._facts(name, last),
            run_list=run_list if isinstance(run_list, list) else None,
            environment=self.environment_of(name),
            json_attributes=self._given(),
            saved=None if last is None else last.normal,
            words=None if self.store is None else {"search": self._search},
            looks=self.looks,
        )

    # --- what answers look at

    @property
    def notes_looks(self) -> bool:
        """Whether looks are collected. False with a store, with one file for the facts of all nodes, and with Ruby."""
        request = self.request
        return not (request.store or request.ruby or self._fleet)

    def own(self, name: str) -> Any:
        """A tuple to compare between sides: the marks of a node's file in nodes/, and what decides its facts."""
        place = os.path.join(self.side.root, "nodes", name)
        return self.side.marks_of(place, (".json", ".yaml", ".yml")), super().own(name)

    def values_of(self, name: str) -> Callable[[Look], Any]:
        """A function that returns the value of a node for a look. Nodes with equal values have equal answers.

        The value is the node's name, a fact, or a value of Hiera. For the look FILE it is what describes this node
        and no other: the node's file without the name, its classifier entry, and its environment.
        raises: NotFound, for a role or a suite, which has no file of its own; DocumentError
        """
        if name.startswith("role[") or name in self.repository.suites():
            raise NotFound(f"{name} is no node with a file of its own")
        facts = {**self._facts(name, None).tree, "name": name}
        scopes = LookedScopes(self.repository.hiera, name, facts)

        def value(look: Look) -> Any:
            if look == FILE:
                document = _as_text(self.repository.node_document(name))
                return document, repr(self.enc.get(name)), self.environment_of(name)
            return scopes.look(look) if look[0] in HIERA else value_at(name, facts, look)

        return value

    def _refuse(self, name: str, run: Run, looks: Looks) -> None:
        """Have *looks* refuse to share the answer of a run that depends on more than looks."""
        described = None if name.startswith("role[") else self.repository.node_document(name)
        if (described is not None and described.unread) or self._facts(name, None).unread:
            looks.refuse("something of its own was not read")
        ran = {file.partition("/")[0] for file in run.attribute_files} | {cookbook_of(one) for one in run.recipes}
        self._refuse_programs(name, ran, looks)

    def _refuse_programs(self, name: str, cookbooks: Iterable[str] | None, looks: Looks) -> None:
        """Have *looks* refuse to share an answer if a program of cookbooks, roles or environments may look at anything.

        The answer of the node does not depend on files that are read here alone, so these reads are not noted.
        cookbooks: the names of the cookbooks that ran; None: all cookbooks of the repository
        """
        with reading.unnoted():
            for cookbook in sorted(self.repository.cookbooks() if cookbooks is None else cookbooks):
                try:
                    root = self.repository.for_node(name).cookbook(cookbook).root
                except NodeattrsError:
                    looks.refuse(f"{cookbook} cannot be read")
                else:
                    looks.refuse("" if root is None else self._unnoted(root))
            looks.refuse(self._unnoted(self.side.root / "roles") or self._unnoted(self.side.root / "environments"))

    @cached_property
    def _unnoted(self) -> Callable[[Path], str]:
        """The function `unnoted`, computed once for each folder."""
        return cache(unnoted)

    def _given(self) -> Any:
        if not self.request.what_if.set:
            return None
        tree = fold([tree_with(path, value) for path, value in self.request.what_if.set], ACROSS).value
        return parse(json.dumps(tree), "--set", "json")

    def _search(self, *words: Any, **named: Any) -> Any:
        note_read(EVERYTHING)  # other nodes decide, too
        assert self.store is not None
        return search_word(self.store)(*words, **named)

    def _facts(self, name: str, last: Any) -> Facts:
        file = self.facts_file(name)
        if file is not None:
            return self.read_once(file, load_facts)
        suite = self.repository.kitchen.instances.get(name)
        if last is None and suite is not None:
            return facts_of_suite(suite.platform, suite.at(()), self.repository.platforms_folder)
        return facts_of_last_run(NO_FACTS if last is None else last.node.automatic.to_dict())


def _place_of(part: Part, path: TreePath) -> str:
    """The place of a path of a part, as file and line; the path itself where no line sets it."""
    return next((str(one.place or one.who) for one in part.places(path)), spell(path))


def _reads_attributes(value: Deferred) -> bool:
    """Whether a deferred value only puts attributes into a text, so that it reads no file."""
    return value.code is not None and plain_text(value.code) is not None


def _as_text(node: NodeFile | None) -> str:
    """The content of a node's file without its name, as text to compare; "" for a node without a file."""
    own = ("name", "locator")
    return "" if node is None else repr([value for field, value in vars(node).items() if field not in own])
