"""Which values of a tree belong to fields of a class that hold secrets.

`models` hides these values. A field holds a secret if its type has `get_secret_value`, as SecretStr of pydantic
has, or if it is declared with `repr=False`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from nodeattrs.core.tree import Path


class _Field(NamedTuple):
    """A field of a class.

    paths:     where its value may be in the data of an object: under its name, and under each alias
    kind:      its type
    is_hidden: whether it is declared with repr=False
    """

    paths: list[Path]
    kind: Any
    is_hidden: bool


def secret_paths(model: type[Any], tree: Any) -> list[Path]:
    """The paths in *tree* whose values are secrets, since *model* declares them so; [] where there are none.

    A list or map of secrets is secret as a whole. So is a value that is no map where the model wants a map with
    a secret. What a validator of the model moves to another key is not followed.
    """
    return [*dict.fromkeys(_secrets(model, tree, (), set()))]


def _secrets(kind: Any, value: Any, path: Path, seen: set[tuple[int, Path]]) -> Iterator[Path]:
    """seen: types by their id, with the paths at which they were compared: types may contain themselves"""
    if (id(kind), path) in seen:
        return
    seen.add((id(kind), path))
    if hasattr(get_origin(kind) or kind, "get_secret_value"):
        yield path
        return
    for field in _fields(kind):
        for below in field.paths if isinstance(value, dict) else [()]:
            found = _entry(value, below)
            if found is not None and field.is_hidden:
                yield (*path, *below)
            elif found is not None:
                yield from _secrets(field.kind, found, (*path, *below), seen)
    for inner in (*get_args(kind), *_named_kinds(kind)):
        yield from _secrets(inner, value, path, seen)
        for step, entry in _entries(value):
            yield from _secrets(inner, entry, (*path, step), seen)


def _entries(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [*value.items()]
    return [*enumerate(value)] if isinstance(value, list) else []


def _entry(value: Any, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for step in path:
        value = dict(_entries(value)).get(step)
    return value


def _named_kinds(kind: Any) -> list[Any]:
    """The type behind a NewType or an alias of a type; [] for any other type."""
    return [getattr(kind, name) for name in ("__supertype__", "__value__") if hasattr(kind, name)]


def _fields(kind: Any) -> Iterator[_Field]:
    """The fields of a class; nothing for a type that is no class."""
    if not isinstance(kind, type):
        return
    described = getattr(kind, "__pydantic_fields__", {})
    declared = getattr(kind, "__dataclass_fields__", {})
    of_attrs = {one.name: one for one in getattr(kind, "__attrs_attrs__", ())}
    hints = _hints(kind)
    for name in dict.fromkeys((*(hints or {}), *described, *declared, *of_attrs)):
        own = declared.get(name)
        notes = [own, getattr(own, "default", None), of_attrs.get(name), described.get(name)]
        hint = (hints or {}).get(name)
        notes += get_args(hint)[1:]
        is_hidden = any(getattr(note, "repr", True) is False for note in notes)
        annotation = getattr(described.get(name), "annotation", None)
        aliases = [path for note in notes for path in _aliases(note)]
        is_untold = annotation is None and hints is None
        yield _Field([(name,), *aliases], annotation or hint, is_hidden or is_untold)


def _hints(kind: type[Any]) -> dict[str, Any] | None:
    """The types of the fields by name; None where a name in them is not defined, and each of them may be a secret."""
    try:
        return get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):
        return None


def _aliases(note: Any) -> Iterator[Path]:
    """The paths of the aliases that pydantic's description of a field has."""
    for name in ("alias", "validation_alias"):
        alias = getattr(note, name, None)
        if isinstance(alias, str):
            yield (alias,)
        elif alias is not None and hasattr(alias, "convert_to_aliases"):
            found = alias.convert_to_aliases()
            yield from (tuple(one) for one in (found if isinstance(found[0], list) else [found]))
