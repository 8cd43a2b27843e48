"""Find the paths of secrets in settings, as the fields of their class declare them.

A field is secret if its type has `get_secret_value`, as pydantic's SecretStr does, or if it is declared with
`repr=False`. If a type hint cannot be resolved, all fields of the class count as secret. `models` hides the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from nodeattrs.core.tree import ABSENT, Path, dig


class _Field(NamedTuple):
    """A field of a class.

    paths:     where its value may be in the data of an object: under its name, and under each alias
    kind:      its type
    is_hidden: whether it is declared with repr=False, or its type has a name that is not defined
    """

    paths: list[Path]
    kind: Any
    is_hidden: bool


def secret_paths(model: type[Any], tree: Any) -> list[Path]:
    """The paths in *tree* whose values are secrets by the fields of *model*; [] where there are none.

    A list or map of secrets is secret as a whole. So is a text instead of a map, if the map may have a secret. A value
    that a validator of the model moves to another key is not followed.

    model: a dataclass, an attrs class or a pydantic model
    """
    return [*dict.fromkeys(_secrets(model, tree, (), set()))]


def _secrets(kind: Any, value: Any, path: Path, seen: set[tuple[int, Path]]) -> Iterator[Path]:
    """seen: types by their id, with the paths where they were compared: a type may contain itself"""
    if (id(kind), path) in seen or value is ABSENT:
        return
    seen.add((id(kind), path))
    if hasattr(get_origin(kind) or kind, "get_secret_value"):
        yield path
        return
    for field in _fields(kind):
        for below in field.paths if isinstance(value, dict) else [()]:
            found = dig(value, below)
            if not field.is_hidden:
                yield from _secrets(field.kind, found, (*path, *below), seen)
            elif found is not ABSENT:
                yield (*path, *below)
    aliased = (getattr(kind, name, None) for name in ("__supertype__", "__value__"))  # of a NewType, of `type X = Y`
    for inner in (*get_args(kind), *aliased):
        yield from _secrets(inner, value, path, seen)
        for step in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from _secrets(inner, value[step], (*path, step), seen)


def _fields(kind: Any) -> Iterator[_Field]:
    """The fields of a class; nothing for a type that is no class."""
    if not isinstance(kind, type):
        return
    described = getattr(kind, "__pydantic_fields__", {})
    declared = getattr(kind, "__dataclass_fields__", {})
    of_attrs = {one.name: one for one in getattr(kind, "__attrs_attrs__", ())}
    hints: dict[str, Any] = dict.fromkeys((*declared, *of_attrs))
    try:
        hints |= get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):  # a type has an undefined name; pydantic may know it
        is_hidden = not described
    else:
        is_hidden = False
    for name in dict.fromkeys((*hints, *described)):
        hint, own, about = hints.get(name), declared.get(name), described.get(name)
        notes = [own, getattr(own, "default", None), of_attrs.get(name), about, *get_args(hint)[1:]]
        paths = [(name,), *(path for note in notes for path in _aliases(note))]
        is_quiet = any(getattr(note, "repr", True) is False for note in notes)
        yield _Field(paths, getattr(about, "annotation", hint), is_hidden or is_quiet)


def _aliases(note: Any) -> Iterator[Path]:
    """The paths of the aliases that pydantic's description of a field has."""
    for name in ("alias", "validation_alias"):
        alias = getattr(note, name, None)
        if isinstance(alias, str):
            yield (alias,)
        elif alias is not None and hasattr(alias, "convert_to_aliases"):
            found = alias.convert_to_aliases()
            yield from map(tuple, found if isinstance(found[0], list) else [found])
