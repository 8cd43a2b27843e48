"""Note the resources that recipes in Ruby declare, and the code that does not run, as a session reports them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin

RECIPE = "recipe"
"""What an origin calls a recipe."""


class DeclaredResource(NamedTuple):
    """A resource that a recipe in Ruby declared.

    kind:       its type, such as "package"
    title:      its title
    properties: name -> value
    origin:     the line of the declaration
    """

    kind: str
    title: str
    properties: Mapping[str, Any]
    origin: Origin


class RecipeNotes:
    """Takes the resources that recipes in Ruby declare, and the places of code that does not run, from a session.

    The methods `add_...` take note of a resource or a place, and `remove_resource` of a deleted resource; they return
    nothing. `is_harmless` says whether a type can set no attribute. This base class keeps nothing, and its
    `is_harmless` returns False: it is for sessions without recipes. `run.ruby_recipes.CompiledRecipes` overrides each
    method.
    """

    def add_resource(self, number: int | str, resource: DeclaredResource) -> None:
        """Take note of a declared resource; the same number again replaces it."""

    def remove_resource(self, number: int | str) -> None:
        """Take note that the resource of a number was deleted."""

    def add_later_block(self, origin: Origin) -> None:
        """Take note of the place of a block that runs when resources converge."""

    def add_hidden_place(self, reason: str, origin: Origin) -> None:
        """Take note of a place after which any attribute may be set."""

    def add_undefined_resource(self, kind: str, origin: Origin) -> None:
        """Take note of a resource of a type that no cookbook here defines."""

    def is_harmless(self, kind: str, origin: Origin | None) -> bool:
        """Whether an action of a resource, and its block at *origin*, can set no attribute; False if unknown."""
        return False
