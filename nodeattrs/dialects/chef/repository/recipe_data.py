"""Recipes in YAML and JSON: the resources that they declare, and the recipes that they include.

Used by `cookbooks.Cookbook`. Such a recipe sets no attribute itself. Whether its resources do is not known here.

source: Chef's `Chef::Recipe#from_yaml`, `#from_json` and `#from_hash`
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodeattrs.errors import DocumentError
from nodeattrs.formats import documents
from nodeattrs.project.fields import shape_of

YAML, JSON = (".yml", ".yaml"), (".json",)
SUFFIXES = (*YAML, *JSON)
"""The endings of recipes that are data."""

_PARTS = ("resources", "include_recipes")


@dataclass(frozen=True)
class RecipeData:
    """What a recipe in YAML or JSON names, with lines; either map may be empty.

    types:    type of a resource -> the first line that declares a resource of that type
    includes: recipe -> the line that includes it, in the order of the file
    warnings: about the document, such as a key written twice
    """

    types: Mapping[str, int]
    includes: Mapping[str, int]
    warnings: Sequence[DocumentError] = ()


def read_recipe(path: pathlib.Path, file: str) -> RecipeData:
    """Read a recipe in YAML or JSON: the types of its resources and the recipes it includes, each with its first line.

    path:   the file
    file:   its name in messages
    raises: DocumentError, with the line, if Chef would refuse it, or if it has neither `resources` nor
            `include_recipes`
    """
    document = documents.read(path, file)
    tree = document.tree
    if not isinstance(tree, dict) or not any(part in tree for part in _PARTS):
        raise document.error("a recipe needs the key resources or include_recipes", hint="write resources: []")
    types: dict[str, int] = {}
    includes: dict[str, int] = {}
    for part in _PARTS:
        if not isinstance(tree.get(part, []), list | None):
            raise document.error(f"{part} must be a list, found {shape_of(tree[part])}", (part,))
        for index, one in enumerate(tree.get(part) or ()):
            at = (part, index)
            found = one.get("type") if part == "resources" and isinstance(one, dict) else one
            if not isinstance(found, str):
                what = "a map with a type" if part == "resources" else "the name of a recipe"
                raise document.error(f"an entry of {part} must be {what}, found {shape_of(one)}", at)
            (types if part == "resources" else includes).setdefault(found, document.place(at)[0])
    return RecipeData(types, includes, document.warnings)
