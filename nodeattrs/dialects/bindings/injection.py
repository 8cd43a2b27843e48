"""Bindings in a run of a node: functions for recipes, classes for the run-list, and dependencies for the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from nodeattrs.catalog import Catalog, ref_of
from nodeattrs.contract.folder import Folder
from nodeattrs.contract.peers import HieraParameters
from nodeattrs.core.trace import Trace
from nodeattrs.dialects.bindings.injector import Injector, extended_run_list, fill_parameters
from nodeattrs.dialects.bindings.model.types import Type, parameter_key
from nodeattrs.dialects.bindings.site import facts_of_run, site_of
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.node.watched import looks_of, name_of


class Injection(HieraParameters):
    """The bindings of one run of a node. The site is read, and its injector is built, when the first value is needed.

    `inject` and `parameters` are functions of recipes. `bound` and `relate` are used for the catalog: parameters of a
    resource, and dependencies between resources. `run_list` returns a run-list with the included classes behind it.
    `trace` gives the trace of a value that a recipe got from bindings, or None.
    folder: the repository
    place:  the folder of the site of bindings, relative to *folder*
    node:   the node that runs; its name, facts, environment and run-list are the request, and reads of facts are noted
    lookup: a function (key, otherwise=...) that looks up in Hiera the parameters that have no binding; None: no look-up
    search: the function `search` of recipes, for queries and `nodes:`; None without a store
    """

    def __init__(
        self,
        folder: Folder,
        place: str,
        node: Node,
        lookup: Callable[..., Any] | None = None,
        search: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(lookup)
        self._folder = folder
        self._place = place
        self._node = node
        self._search = search

    @cached_property
    def injector(self) -> Injector:
        """The injector of the site for this node; built once. raises: BindingErrors, with all faults of the site"""
        node = self._node
        site = site_of(
            self._folder,
            self._folder.root / self._place,
            node=name_of(node),
            facts=facts_of_run(node),
            looks=looks_of(node),
            environment=None if node.environment == DEFAULT_ENVIRONMENT else node.environment,
            search=self._search,
            shown_from=self._folder.root,
        )
        return site.injector()

    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The word `inject` of recipes: the value of a key for this node. Arguments and errors: `Injector.inject`."""
        return self.injector.inject(key, type, **args)

    def parameters(self, target: str, /, **defaults: Any) -> dict[str, Any]:
        """The word `parameters` of recipes: name -> value, from the bindings, from Hiera or from *defaults*.

        The first of these three that has a value counts.
        """
        filled = fill_parameters(self.injector, target, defaults, lookup=self._asked, defaults=defaults)
        return {name: one.value for name, one in filled.items()}

    def bound(self, kind: str, title: str, defaults: Mapping[str, Any] | None) -> dict[str, Any]:
        """The values that bindings or Hiera have for the parameters of a resource: name -> value; {} for none. Those
        that are None are left out. The caller uses a value only for a parameter that is not written.

        A binding for the resource (`Web[one]`) comes first, then a binding for its type (`Web`), then Hiera.
        kind:     the type of the resource
        title:    the title of the resource
        defaults: the parameters of a defined type; only their names are used. None, for other resources: all bound
                  parameters, and Hiera is not asked
        raises:   TypeMismatch, LookupLoop, BindingError
        """
        found: dict[str, Any] = {}
        for target in (kind, f"{kind}[{title}]"):
            for name in self._targets.get(_prefix(target), ()):
                value = self.injector.get(_prefix(target) + name) if defaults is None or name in defaults else None
                if value is not None:
                    found[name] = value
        left = {name: value for name, value in (defaults or {}).items() if name not in found}
        return {**found, **super().bound(kind, title, left)}

    @cached_property
    def _targets(self) -> Mapping[str, list[str]]:
        """Beginning of a key, such as "/param/Web/" -> the names of the parameters that are bound below it."""
        found: dict[str, list[str]] = {}
        for _, name in sorted(self.injector.resolution.winners):
            if name.startswith("/param/"):
                target, slash, parameter = name.rpartition("/")
                found.setdefault(target + slash, []).append(parameter)
        return found

    def trace(self, word: str, key: str) -> Trace | None:
        """The trace of a value that a recipe gets from bindings; None where no declaration wins, and for other words.

        word:   "inject" or "parameters"
        key:    the key of `inject`; for `parameters` "target::name"
        """
        if word not in ("inject", "parameters"):
            return None
        target, _, name = key.rpartition("::")
        kind = target.partition("[")[0]
        asked = [key] if word == "inject" else [parameter_key(target, name), parameter_key(kind, name)]
        traces = (self.injector.explain(one).trace() for one in asked)
        return next((trace for trace in traces if trace.winner is not None), None)

    def run_list(self, items: list[str]) -> list[str]:
        """A new run-list: *items*, then each included class as a recipe. A recipe of *items* is not added again."""
        return extended_run_list(self.injector, items)

    def relate(self, catalog: Catalog) -> None:
        """Add each dependency in effect to the catalog, with its line, if the catalog has both resources."""
        for (left, arrow, right), origin in self.injector.resolution.pairs().items():
            if _ref(left) in catalog and _ref(right) in catalog:
                catalog.relate(f"{left} {arrow} {right}", origin)


def _prefix(target: str) -> str:
    """The beginning of the keys of a target's parameters: "/param/Web/"."""
    kind, bracket, title = target.partition("[")
    return parameter_key(Type(kind, (title[:-1],)) if bracket else target, "")


def _ref(text: str) -> str:
    """A reference as the catalog spells it: without the quotes that the language of bindings puts around titles."""
    return ref_of(text.replace("['", "[").replace("']", "]"))
