"""The items of a run-list: what their text means. Knows no roles and no cookbooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from nodeattrs.errors import InvalidRunListItem

_PINNED = r"(?:@([0-9]+(?:\.[0-9]+){1,2}))"
_RECIPE = re.compile(rf"recipe\[([^\]@\n]+){_PINNED}?\]")
_ROLE = re.compile(r"role\[([^\]\n]+)\]")
_BARE_PINNED = re.compile(rf"([^@\[\]\n]+){_PINNED}")
_BARE = re.compile(r"[^\[\]\n]+")


class RunListItem(NamedTuple):
    """One item of a run-list. Its text is the long form, `recipe[name@version]`.

    type:    "recipe" or "role"
    name:    as written, spaces included
    version: of a recipe, as written; None where none was given
    """

    type: str
    name: str
    version: str | None = None

    @classmethod
    def parse(cls, text: object) -> RunListItem:
        """The item that *text* spells: `recipe[n]`, `recipe[n@1.2.3]`, `role[n]`, `n` or `n@1.2.3`.

        raises: InvalidRunListItem

        >>> print(RunListItem.parse("apache2::ssl@1.2"))
        recipe[apache2::ssl@1.2]
        """
        if isinstance(text, str) and (item := _parsed(text)) is not None:
            return item
        raise InvalidRunListItem(
            f"{text!r} is no run-list item",
            hint="write recipe[name], recipe[name@1.2.3], role[name] or the bare name of a recipe",
        )

    def __str__(self) -> str:
        return f"{self.type}[{self.name}@{self.version}]" if self.version else f"{self.type}[{self.name}]"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> RunListItem | None:
    """The nodes of a fleet have the same few."""
    if text.startswith("role[") and (found := _ROLE.fullmatch(text)):
        return RunListItem("role", found[1])
    if found := _RECIPE.fullmatch(text) or _BARE_PINNED.fullmatch(text):
        return RunListItem("recipe", found[1], found[2])
    return RunListItem("recipe", text) if _BARE.fullmatch(text) else None


def normalised(run_list: Iterable[object]) -> list[RunListItem]:
    """The items of a run-list, in order, identical ones once; [] for an empty list.

    raises: InvalidRunListItem, also for a lone text or a map

    >>> [str(item) for item in normalised(["a", "role[web]", "recipe[a]"])]
    ['recipe[a]', 'role[web]']
    """
    if isinstance(run_list, str):
        raise InvalidRunListItem(f"{run_list!r} is one text, not a list of items", hint=f"write [{run_list!r}]")
    if isinstance(run_list, Mapping) or not isinstance(run_list, Iterable):
        raise InvalidRunListItem(f"{run_list!r} is not a list of items", hint='write ["role[web]"]')
    return list(dict.fromkeys(RunListItem.parse(text) for text in run_list))


@lru_cache(maxsize=4096)
def qualified(recipe: str) -> str:
    """The name of a recipe with its part: `apache2` is `apache2::default`."""
    return recipe if "::" in recipe else f"{recipe}::default"


@lru_cache(maxsize=4096)
def cookbook_of(recipe: str) -> str:
    """The cookbook that a recipe, or an attribute file, belongs to."""
    return qualified(recipe).rpartition("::")[0]
