"""Collect the results of recipes in Ruby: resources for the catalog, and code that runs only when they converge.

`RubyFiles` runs the recipes, and the session (`chef.ruby.session`) reports to `CompiledRecipes`. Code that Chef runs
later is not run here. Its text is read, to find the paths that it may set.
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
from nodeattrs.puppet.references import capitalised

Later = tuple[Origin, UnrunCode]
"""(The place of a block or resource, what it may set when it converges)."""


@dataclass(frozen=True, slots=True)
class _RubyResource:
    """The subject of a catalog resource that a recipe in Ruby declares. It cannot be applied: `check` raises an error.

    refreshable: always False, since notifications in Ruby are not read
    """

    refreshable: bool = False

    def check(self, site: Any) -> NoReturn:
        """Always raise BadArgument: the actions of Chef's resources are not known here."""
        raise BadArgument("it is declared by a recipe in Ruby, whose actions are not run", hint="apply it with Chef")


@dataclass
class CompiledRecipes(RecipeNotes):
    """Collects the resources that the Ruby recipes of one node declare, and the places of code that does not run.

    The session calls the methods of `RecipeNotes`, such as `add_resource`, while recipes run. After the last recipe,
    `fill` adds the resources to a catalog. `code_for_later` yields the code that runs when resources converge.
    `hidden_places` gives the places after which any attribute may be set. If no recipe ran, these three give nothing.

    node:    gets an unknown layer for a hidden place outside of recipes
    root:    the folder that origins are relative to
    warn:    called with a message and its line
    note:    called with the node, a place and a reason; adds an unknown layer to the node
    reaches: a function from code to all code that it may call by name, without itself
    vouched: whether resources of unknown types are taken for harmless: the settings say what a missing cookbook sets
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
        """Keep a resource. A resource with the same number is replaced, and keeps its place in the order."""
        self._resources[number] = resource

    def remove_resource(self, number: int | str) -> None:
        """Forget a resource that a recipe has deleted; an unknown number does nothing."""
        self._resources.pop(number, None)

    def fill(self, catalog: Catalog, enter: Callable[[str], None]) -> None:
        """Add the resources to a catalog, each inside its recipe and without relationships.

        Chef allows a title twice: the second resource `x` becomes `x (2)`.
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

        A place in a recipe is kept for `hidden_places`. For another file the node gets an unknown layer at once.
        """
        self.warn(reason, origin)
        if origin.kind == RECIPE:
            self._hidden.setdefault(origin, reason)
        else:
            self.note(self.node, origin, reason)

    def add_undefined_resource(self, kind: str, origin: Origin) -> None:
        """Add a hidden place for a resource of an unknown type, which may set anything; nothing with `vouched`."""
        if not self.vouched:
            self.add_hidden_place(f"no cookbook here defines the resource {kind}, which may set anything", origin)

    def is_harmless(self, kind: str, origin: Origin | None) -> bool:
        """Whether neither the text of a resource's type nor its block at *origin* can set an attribute.

        False if a text cannot be read. origin: None for a resource without a block
        """
        codes = [resource_code({kind: 1})]
        codes += [self._of_block(origin)] if origin is not None else []
        return not any(one.lines or one.hidden for code in codes for one in (code, *self.reaches(code)))

    def hidden_places(self) -> list[tuple[Origin, str]]:
        """The places of recipes after which any attribute may be set, each with the reason; [] for none."""
        return [*self._hidden.items()]

    def code_for_later(self) -> Iterator[Later]:
        """Yield (place, code) for the code that runs when the resources converge.

        First comes the code of each resource type, at its first resource, then the code of each block.
        """
        first_of_kind: dict[str, Origin] = {}
        for resource in self._resources.values():
            first_of_kind.setdefault(resource.kind, resource.origin)
        for kind, origin in first_of_kind.items():
            yield origin, resource_code({kind: origin.line or 1})
        for origin in self._blocks:
            yield origin, self._of_block(origin)

    def _of_block(self, origin: Origin) -> UnrunCode:
        if origin.file is None or origin.line is None:
            return UnrunCode()
        try:
            return later_code(self.root / origin.file, origin.file, origin.line)
        except MissingExtra as error:
            self.warn(f"blocks that run later were not read: {error.message}", origin)
            return UnrunCode(hidden=(origin.line, ""))
