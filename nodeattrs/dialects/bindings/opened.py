"""A site of bindings for the verbs (`why`, `blame`, `diff`, `matrix`, ...): the keys of each node, and their traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nodeattrs.contract.answers import Answered
from nodeattrs.contract.hiera_looks import HIERA, LookedScopes
from nodeattrs.core.looks import Look, Looks, value_at
from nodeattrs.dialects.bindings.composition import Composition
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.site import facts_of_run, site_of
from nodeattrs.dialects.bindings.tracing import plain
from nodeattrs.dialects.common import WithFacts, part_of_keys
from nodeattrs.store.saved_nodes import load_saved
from nodeattrs.store.search.word import search_word

_ASKED: Look = ("asked",)
"""A look at two things: the row of the node in a classifier's answer, and its environment."""


class BindingKeys(WithFacts):
    """One version of the site of bindings of a repository, and the keys that each node gets from it.

    `is_there` says whether there is a site, and `place` is its folder. `subjects` returns the names of the nodes,
    `answer` the keys of one node, and `levels` the names of the layers. The constructor reads nothing. `site` returns
    the composition for a node, and `answer` uses it; a file that did not change is read once.
    If `notes_looks` is true, all facts that an answer reads are noted, and nodes with equal facts there share the
    answer (`core.looks`). `values_of` gives the values that a node has at the noted places.
    """

    @property
    def place(self) -> Path:
        """The folder of the site: that of the request, of the settings, or the repository. raises: DocumentError"""
        return self.request.named(self.side, "bindings", self.repository.config.bindings or ".") or self.side.root

    @property
    def is_there(self) -> bool:
        """Whether the request or the settings name a site, or a module has a folder `bindings`."""
        named = self.request.named(self.side, "bindings", self.repository.config.bindings)
        return named is not None or any(self.place.glob("modules/*/bindings"))

    def subjects(self) -> Iterable[str]:
        """The names of the nodes of the repository, its store and its facts; {""} where none is known."""
        return {*self.known(), *self.described()} or {""}

    def site(
        self, name: str, mode: str = "tuple", classifier: str | None = None, looks: Looks | None = None
    ) -> Composition:
        """The site composed for a node, with its facts. A node without facts has the facts of its last run.

        mode:       as of `State`
        classifier: a file with the classifier's answer for this node; None: the answer that the request has for it
        looks:      where the facts that are read are noted; None: nowhere
        raises:     NodeattrsError
        """
        facts = self.node_facts(name).facts
        if not facts and name and self.store is not None and self.facts_file(name) is None:
            last = load_saved(self.store, name, self.repository.config.sensitive)
            facts = {} if last is None else facts_of_run(last.node)
        return site_of(
            self.repository,
            self.place,
            node=name,
            facts=facts,
            environment=self.environment_of(name),
            search=None if self.store is None else search_word(self.store),
            classifier=classifier or self.enc.get(name) or None,
            shown_from=self.side.root,
            without=self.request.what_if.levels,
            mode=mode,
            looks=looks,
        )

    def answer(self, name: str) -> Answered:
        """Returns {"key": part}: the part maps each key of data to its value, or to the error of its injection.

        Also sets `unread` to the blocks with a condition on a category that has no value.
        raises: BindingErrors, for faults of the site. If the request leaves out layers, nothing is raised: the fault of
                a key is then its value
        """
        if self.looks is not None:
            self.looks.note(*_ASKED)
            self.looks.facts = self.node_facts(name).facts
        injector = self.site(name, looks=self.looks).injector(lenient=bool(self.request.what_if.levels))
        self.unread = [*injector.resolution.unread_blocks()]
        values: dict[str, Any] = {error.key[1]: error for error in injector.faults if error.key is not None}
        for key in (name for kind, name in sorted(injector.resolution.winners) if kind == "Data"):
            try:
                values[key] = plain(injector.inject(key))
            except BindingError as error:
                values[key] = error
        return {"key": part_of_keys(values, injector.explain, self)}

    # --- what answers look at

    @property
    def notes_looks(self) -> bool:
        """Whether everything that an answer reads of a node is noted. False with a store, which may give facts, too."""
        return not self.request.store

    def values_of(self, name: str) -> Callable[[Look], Any]:
        """A function that returns the value of a node for a look. Nodes with equal values have equal answers.

        A look is at the classifier's answer for the node, its name, a fact, or a value of Hiera.
        """
        facts = self.node_facts(name).facts
        scopes = LookedScopes(self.repository.hiera, name, facts)

        def value(look: Look) -> Any:
            if look == _ASKED:
                return repr(self.enc.get(name)), self.environment_of(name)
            if look[0] in HIERA:
                return scopes.look(look)
            return value_at(name, facts, look)

        return value

    def levels(self) -> Iterable[str]:
        """The names of the layers of the site, the highest first, composed without a node; [] without a site."""
        return [layer.name for layer in self.site("").layers] if self.is_there else []
