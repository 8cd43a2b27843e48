"""Note the resources that recipes in Ruby declare, and the code that does not run, as a session reports them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin

RECIPE = "recipe"
"""What an origin calls a recipe."""


class DeclaredResource(NamedTuple):
    """A resource that a recipe in Ruby declared. kind: its type, "package"; properties: as plain data"""

    kind: str
    title: str
    properties: Mapping[str, Any]
    origin: Origin


class RecipeNotes:
    """What a session calls with the resources that recipes in Ruby declare, and with the code that it does not run.

    `add_resource` takes a declared resource, and `remove_resource` one that the recipe deleted. `add_later_block`,
    `add_hidden_place` and `add_undefined_resource` take places whose effect is not known. All five return None.
    `is_harmless` returns whether a resource can set no attribute.
    This base class ignores all calls, and `is_harmless` returns False. It is for sessions that run no recipe.
    `run.ruby_recipes.CompiledRecipes` overrides each method and keeps what it gets.
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
        """Whether an action of a resource, and its block at *origin*, can set no attribute; False where unknown."""
        return False
