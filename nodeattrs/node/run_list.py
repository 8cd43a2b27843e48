"""The items of a run-list: parsing `recipe[name@version]` and `role[name]`. Roles and cookbooks are not looked up."""

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
    """One item of a run-list. `str(item)` is the long form: `recipe[name@version]`, `recipe[name]` or `role[name]`.

    type:    "recipe" or "role"
    name:    as written, spaces included; not empty
    version: of a recipe, as written, with one or two dots; None where none was given

    `parse` reads a text, or raises InvalidRunListItem. A bare name is a recipe.
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
    # Cached, since the nodes of a fleet have the same few items.
    if text.startswith("role[") and (found := _ROLE.fullmatch(text)):
        return RunListItem("role", found[1])
    if found := _RECIPE.fullmatch(text) or _BARE_PINNED.fullmatch(text):
        return RunListItem("recipe", found[1], found[2])
    return RunListItem("recipe", text) if _BARE.fullmatch(text) else None


def normalised(run_list: Iterable[object]) -> list[RunListItem]:
    """The items of a run-list as a list of RunListItem, in order. Equal items are kept once. [] for an empty list.

    raises: InvalidRunListItem, for an item that cannot be parsed, for one text instead of a list, and for a map

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
    """The full name of a recipe: `apache2` is `apache2::default`; `apache2::ssl` stays as it is."""
    return recipe if "::" in recipe else f"{recipe}::default"


@lru_cache(maxsize=4096)
def cookbook_of(recipe: str) -> str:
    """The name of the cookbook of a recipe or attribute file: the text before the last "::", all of it without one."""
    return qualified(recipe).rpartition("::")[0]
