"""The base classes of the built-in dialects: the settings of a repository, and facts and stored states of its nodes.

A *subject* is something that a dialect gives values for, such as a node. A *side* is one version of the files; a verb
that compares reads two sides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from nodeattrs.contract.answers import Part, lines_of
from nodeattrs.contract.dialect import Opened
from nodeattrs.contract.folder import Folder
from nodeattrs.core.answer import Answer
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.sensitive import Sensitive, withheld
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import checked_name, dig, tree_with
from nodeattrs.errors import NotFound
from nodeattrs.formats.documents import read
from nodeattrs.project.settings import Settings
from nodeattrs.puppet.facts import NodeFacts, node_at, nodes_at
from nodeattrs.store import Store, open_store
from nodeattrs.store.engines.store import last_runs

_DATA = (".json", ".yaml", ".yml")
_Facts = TypeVar("_Facts")

_LAST_READ: dict[str, Any] = {}
"""The file of facts that was read last, and what was found in it. Sides are asked for one node after the other."""


def store_of(settings: Settings) -> tuple[Store, Sequence[TreePath]]:
    """The store that the settings name, and the sensitive paths. raises: StoreError, DocumentError"""
    repository = settings.repository
    return open_store(settings.store), repository.config.sensitive if repository is not None else ()


def saved_nodes_of(settings: Settings) -> tuple[Store, Sequence[TreePath]]:
    """The store that the settings name, and the sensitive paths, for a command that only reads.

    raises: NotFound, if nothing was ever saved; StoreError, DocumentError
    """
    store, sensitive = store_of(settings)
    if not store.is_there():
        raise NotFound(
            f"there is no store at {store.describe()}",
            hint="name the place with --store, or save a node first: nodeattrs run",
        )
    return store, sensitive


def sources_of(settings: Settings, given: str | None) -> Path | None:
    """The folder with the sources of saved values, or None: it is then the folder that a saved revision names.

    given:  the folder that the caller names; it is returned as it is. None: the repository, if the store is a URL
    raises: DocumentError
    """
    if given is not None:
        return Path(given)
    repository = settings.repository
    return repository.root if repository is not None and "://" in settings.store else None


class InRepository(Opened):
    """The base class of `Opened` for dialects whose places and sensitive paths are set in nodeattrs.toml.

    side, request: one version of the files, and the question, as for `Opened`

    `repository` is read at its first use. `with_set` puts the values of `what-if --set` over an answer, and
    `set_trees` yields them. `has` says whether the top of the side has one of some files or folders.
    """

    @cached_property
    def repository(self) -> Folder:
        """The repository of the side. raises: DocumentError, for settings that cannot be read"""
        found = Folder(self.side.root)
        found.also_sensitive = self.request.sensitive
        return found

    def has(self, *names: str) -> bool:
        """Whether the top folder of the side has one of these files or folders. A name may be a path below it."""
        return any((self.side.root / name).exists() for name in names)

    def with_set(self, answer: Answer) -> Answer:
        """The answer merged with the values of `what-if --set`, which win. Without any, the answer itself."""
        given = [Layer(tree, Origin("what-if", "--set")) for _, tree in self.set_trees(answer.value)]
        return fold([Layer(answer.value, Origin("answer")), *given], ACROSS) if given else answer

    def set_trees(self, values: Any) -> Iterator[tuple[TreePath, dict[str, Any]]]:
        """Yield (path, a map with only the value at this path) for each value of `what-if --set`.

        A value for a sensitive path of the settings, or over a secret in *values*, is a secret.
        """
        for path, value in self.request.what_if.set:
            is_secret = isinstance(dig(values, path), Sensitive)
            paths = [path] if is_secret else self.repository.config.sensitive
            yield path, withheld(tree_with(path, value), paths, hide=Sensitive)


class WithFacts(InRepository):
    """The base class of `Opened` for dialects whose subjects are nodes with facts.

    side, request: one version of the files, and the question, as for `Opened`

    `enc` maps each node to its entry in the classifier's file, which an option names. `store` has the saved nodes, or
    is None. Both are read at their first use and kept. `known` gives the names of all nodes in a file of facts, the
    classifier's file or the store; `described` gives the nodes with a file in nodes/. `node_facts` gives the facts of
    one node, and `facts_file` the file that has them. `environment_of` gives its environment. `own` gives the
    data that decides the facts of a node, to compare two sides. `revisions` maps each saved node to the number of its
    last run. `read_once` keeps the last file of facts for all objects.
    """

    @cached_property
    def _facts_place(self) -> Path | None:
        place = self.request.place(self.side, self.request.facts) if self.request.facts else self.side.root / "facts"
        return place if self.request.facts or place.is_dir() else None

    @cached_property
    def enc(self) -> Mapping[str, Any]:
        """Node -> its entry in the classifier's file, with keys such as `environment`; {} if no option names a file.

        A list of names gives each node an empty map, and so does null as an entry.
        raises: DocumentError, for a file that cannot be read, for another value than a map or a list, and for an entry
                of another type
        """
        if not self.request.enc:
            return {}
        document = read(self.request.place(self.side, self.request.enc), self.request.enc)
        tree = {str(name): {} for name in document.tree} if isinstance(document.tree, list) else document.tree
        if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
            raise document.error("what a classifier says is a map of nodes", hint="web1: {environment: production}")
        for name, one in tree.items():
            if not isinstance(one, dict | None):
                raise document.error(
                    f"the classifier's entry for {name} is a map", path=(name,), hint="web1: {environment: production}"
                )
        return {name: one or {} for name, one in tree.items()}

    @cached_property
    def store(self) -> Store | None:
        """The store that the request names: runs start with its saved nodes. None if the request names no store."""
        return open_store(self.request.store) if self.request.store else None

    @cached_property
    def _fleet(self) -> Mapping[str, NodeFacts]:
        """The nodes in a file of facts that names its nodes; {} without one. raises: DocumentError"""
        place = self._facts_place
        if place is None or not place.is_file():
            return {}
        found = nodes_at(place, self.repository.shown(place))
        return {} if "" in found else found

    def known(self) -> set[str]:
        """The names of all nodes that the classifier, the facts or the store have. raises: NodeattrsError"""
        names = {*self.enc, *self._fleet, *(self.store.names() if self.store is not None else ())}
        place = self._facts_place
        if place is not None and place.is_dir():
            names |= {path.stem for path in place.iterdir() if path.suffix in _DATA and not path.name.startswith(".")}
        return names

    def described(self) -> set[str]:
        """The nodes that have a file in nodes/."""
        files = (self.side.root / "nodes").glob("[!.]*")
        return {file.stem for file in files if file.suffix in _DATA}

    def facts_file(self, name: str) -> Path | None:
        """The file that has the facts of a node, perhaps also of other nodes; None without one.

        raises: BadName, DocumentError
        """
        place = self._facts_place
        if self._fleet:
            return place if name in self._fleet and self._fleet[name].facts else None
        if place is None or not self._is_folder_of_facts:
            return place
        if not name or name.startswith("role[") or "=" in name:  # "role=web" is one of Hiera's subjects
            return None
        files = (f"{place}/{checked_name(name, 'node')}{suffix}" for suffix in _DATA)
        return next((Path(file) for file in files if os.path.exists(file)), None)

    @cached_property
    def _is_folder_of_facts(self) -> bool:
        return self._facts_place is not None and self._facts_place.is_dir()

    def node_facts(self, name: str) -> NodeFacts:
        """The facts of a node, with environment and variables as far as its file has them; none for an unknown node.

        raises: DocumentError, BadName
        """
        if name in self._fleet:
            return self._fleet[name]
        file = self.facts_file(name)
        return NodeFacts({}) if file is None else self.read_once(file, node_at)

    def own(self, name: str) -> Any:
        """Returns (marks, facts, entry): the data that decides the facts of one node. Compare it between two sides.

        *marks* is a list with a mark of each file that may have the facts of this node alone; equal marks mean equal
        content. *facts* are the node's facts in a file that has the facts of all nodes, or None. *entry* is the node's
        entry in the classifier's file, or None. Facts of the store do not count.
        """
        place, marks = self._facts_place, []
        if self._is_folder_of_facts:
            marks = self.side.marks_of(os.path.join(place or "", name), _DATA)
        elif place is not None and not self._fleet:  # the facts of one node, which all have
            marks = self.side.marks_of(str(place))
        return marks, self._fleet.get(name), self.enc.get(name)

    def read_once(self, file: Path, read: Callable[[Path, str], _Facts]) -> _Facts:
        """The result of *read* for a file of facts.

        One result, the last, is kept for the whole process. It is used again for the same *read*, name and content, so
        a file that both sides of a comparison have is read once.

        read:   called with (path, name for messages)
        raises: the errors of *read*
        """
        shown, mark = self.repository.shown(file), self.side.content_mark(file)
        if not mark:
            return read(file, shown)
        if _LAST_READ.get("of") != (read, shown, mark):
            _LAST_READ.update(found=read(file, shown), of=(read, shown, mark))
        found: _Facts = _LAST_READ["found"]
        return found

    def environment_of(self, name: str) -> str | None:
        """The environment of a node: of the request, else of the classifier's file, else of its facts; else None.

        In the classifier's file it counts only if it is a text.
        """
        given = self.enc.get(name, {}).get("environment")
        last = self._fleet[name].environment if name in self._fleet else None
        return self.request.environment or (given if isinstance(given, str) else last)

    def revisions(self) -> Mapping[str, int]:
        """Node -> the number of the revision of its last run; 0 for a node without a run. {} without a store."""
        if self.store is None:
            return {}
        return {name: run.number if run is not None else 0 for name, _, run in last_runs(self.store)}


def part_of_keys(values: Mapping[str, Any], explain: Callable[[str], Any], opened: InRepository) -> Part:
    """One `Part` for many keys with separate answers. The first step of a path is the key.

    values:  key -> its value
    explain: called with a key, returns its answer, which has `trace` and `causes`. Called again for each question
    opened:  its request may have values of `what-if --set`, which are merged over *values*
    """
    changed = dict(values) if opened.request.what_if.set else {}
    for path, tree in opened.set_trees(values):
        kept, over = changed.get(path[0]), tree[path[0]]
        changed[str(path[0])] = fold([kept, over], ACROSS).value if len(path) > 1 and isinstance(kept, dict) else over

    return Part(
        changed or values,
        lambda path: lines_of(explain(str(path[0])).trace(path[1:])) if path else (),
        lambda path: explain(str(path[0])).trace(path[1:]),
        lambda path: (cause.origin for cause in explain(str(path[0])).causes(path[1:])),
        is_keyed=True,
    )
