"""Collect the results of recipes in Ruby: resources for the catalog, and code that runs only when they converge.

`RubyFiles` runs the recipes, and the session (`chef.ruby.session`) reports to `CompiledRecipes`. Code that runs later
is not run here: it counts for the paths that its text may set.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nodeattrs.catalog import Catalog, Ref, Resource
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.ruby.later import later_code, reads_by_line
from nodeattrs.dialects.chef.ruby.seen import RECIPE, DeclaredResource, RecipeNotes
from nodeattrs.dialects.chef.ruby.unrun import UnrunCode, resource_code
from nodeattrs.errors import BadArgument, MissingExtra
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as
from nodeattrs.puppet.references import capitalised

Later = tuple[Origin, UnrunCode]
"""The place of a block or resource, and what it may set when it converges."""


@dataclass(frozen=True, slots=True)
class _RubyResource:
    """The subject of a catalog resource that a recipe in Ruby declares: `check` refuses, so it cannot be applied.

    refreshable: always False, since no notification is known
    """

    refreshable: bool = False

    def check(self, site: Any) -> NoReturn:
        """Raises BadArgument always: the actions of Chef's resources are not known here."""
        raise BadArgument("it is declared by a recipe in Ruby, whose actions are not run", hint="apply it with Chef")


@dataclass
class CompiledRecipes(RecipeNotes):
    """Collects what the recipes of one node declare and leave open, in the order of their declaration.

    The session calls the methods of `RecipeNotes` while recipes run. After the last recipe, `fill` adds the resources
    to a catalog. `code_for_later` yields the code that runs when resources converge. `hidden_places` gives the places
    after which any attribute may be set, and `note_hidden` makes an unknown layer of each. If no recipe ran, these
    methods give nothing.

    node:    gets unknown layers, from `add_hidden_place` and `note_hidden`
    root:    the folder that origins are relative to
    warn:    called with a message and its line
    note:    called with the node, a place and a reason; adds an unknown layer to the node
    reaches: a function from code to all code that it may call by name, without itself
    vouched: whether a resource of an unknown type is taken for harmless. It is True if a cookbook is missing, and the
        settings say that this cookbook sets only certain paths
    """

    node: Node
    root: pathlib.Path
    warn: Callable[[str, Origin], None]
    note: Callable[[Node, Origin, str], None]
    reaches: Callable[[UnrunCode], Iterator[UnrunCode]]
    vouched: bool = False
    _resources: dict[int | str, DeclaredResource] = field(default_factory=dict)
    _blocks: dict[Origin, None] = field(default_factory=dict)
    _hidden: dict[Origin, str] = field(default_factory=dict)

    def add_resource(self, number: int | str, resource: DeclaredResource) -> None:
        """Keep a resource; a resource with the same number is replaced, and keeps its place. number: of the session"""
        self._resources[number] = resource

    def remove_resource(self, number: int | str) -> None:
        """Forget a resource that a recipe has deleted; an unknown number does nothing."""
        self._resources.pop(number, None)

    def fill(self, catalog: Catalog, enter: Callable[[str], None]) -> None:
        """Add the resources to a catalog, each inside its recipe and without relationships.

        A title that the catalog has gets a number, `x (2)`, since Chef allows it twice.
        enter: called with the recipe of each resource, before it is added
        """
        for kind, title, properties, origin in self._resources.values():
            name, count = capitalised(kind), 1
            ref = Ref(f"{name}[{title}]")
            while ref in catalog:
                count += 1
                ref = Ref(f"{name}[{title} ({count})]")
            enter(origin.name)
            reads: tuple[str, ...] = ()
            if origin.file is not None and origin.line is not None:
                reads = reads_by_line(self.root / origin.file, origin.file).get(origin.line, ())
            within, subject = (f"Recipe[{origin.name}]",), _RubyResource()
            catalog.add(
                Resource(ref, within=within, parameters=properties, origin=origin, subject=subject, reads=reads)
            )

    def add_later_block(self, origin: Origin) -> None:
        """Keep the place of a block that runs when resources converge."""
        self._blocks[origin] = None

    def add_hidden_place(self, reason: str, origin: Origin) -> None:
        """Warn that code after a place may set any attribute.

        If the place is in a recipe, it is kept for `note_hidden`. In another file the unknown layer is noted at once.
        """
        self.warn(reason, origin)
        if origin.kind == RECIPE:
            self._hidden.setdefault(origin, reason)
        else:
            self.note(self.node, origin, reason)

    def add_undefined_resource(self, kind: str, origin: Origin) -> None:
        """Keep the place of a resource of unknown type, which may set anything; not where a cookbook is vouched for."""
        if not self.vouched:
            self.add_hidden_place(f"no cookbook here defines the resource {kind}, which may set anything", origin)

    def is_harmless(self, kind: str, origin: Origin | None) -> bool:
        """Whether neither the text of the resource type nor the block at *origin* can set an attribute.

        False where the text cannot be read.
        """
        codes = [self._of_kind(kind, Origin("recipe"))]
        codes += [self._of_block(origin)] if origin is not None else []
        return not any(one.lines or one.hidden for code in codes for one in (code, *self.reaches(code)))

    def hidden_places(self) -> list[tuple[Origin, str]]:
        """The places of recipes after which any attribute may be set, each with the reason; [] for none."""
        return [*self._hidden.items()]

    def note_hidden(self) -> None:
        """Note an unknown layer on the node for each of `hidden_places`."""
        for origin, reason in self._hidden.items():
            with setting_as(self.node, RECIPE, origin.name):
                self.note(self.node, origin, reason)

    def code_for_later(self) -> Iterator[Later]:
        """Yield (place, code) for the code that runs when the resources converge.

        First comes the code of each resource type, at its first resource, then the code of each block.
        """
        first_of_kind: dict[str, Origin] = {}
        for resource in self._resources.values():
            first_of_kind.setdefault(resource.kind, resource.origin)
        for kind, origin in first_of_kind.items():
            yield origin, self._of_kind(kind, origin)
        for origin in self._blocks:
            yield origin, self._of_block(origin)

    def _of_kind(self, kind: str, origin: Origin) -> UnrunCode:
        return resource_code({kind: origin.line or 1})

    def _of_block(self, origin: Origin) -> UnrunCode:
        if origin.file is None or origin.line is None:
            return UnrunCode()
        try:
            return later_code(self.root / origin.file, origin.file, origin.line)
        except MissingExtra as error:
            self.warn(f"blocks that run later were not read: {error.message}", origin)
            return UnrunCode(hidden=(origin.line, ""))
