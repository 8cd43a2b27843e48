"""Resource types that change a machine. Applied a second time, they change nothing.

A type is a dataclass whose first field is the title and whose other fields are the parameters.
It says what differs (`check`), makes one change (`apply`), and may react to changes
elsewhere (`refresh`). Other packages add types by the entry point `nodeattrs.resource_types`: a
name such as `Service`, and a class with the methods of `ResourceType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nodeattrs import packages
from nodeattrs._lazy import imported
from nodeattrs.core.code import require_may_run
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import BadArgument, NodeattrsError

if TYPE_CHECKING:
    from nodeattrs.catalog.types.acting import ResourceType, Site, is_secret, revealed

__all__ = [
    "OURS",
    "ResourceType",
    "Site",
    "is_secret",
    "parameters_of",
    "revealed",
    "subject_of",
    "type_named",
]

_GROUP = "nodeattrs.resource_types"

# A run that only declares acts on nothing.
__getattr__ = imported(__name__, dict.fromkeys(["ResourceType", "Site", "is_secret", "revealed"], "acting"))

OURS = {"File": "files", "Directory": "files", "Link": "files", "Execute": "commands", "Log": "commands"}
"""Our types, and the module of each: loaded when one is declared."""


def type_named(name: str) -> Any:
    """The class of a resource type: a built-in one, or one of an installed package, which is imported then.

    raises: BadArgument, if there is no such type; NodeattrsError, if code of the package may not run, or cannot be
            loaded
    """
    if name in OURS:
        return getattr(import_module(f"{__name__}.{OURS[name]}"), name)
    others = {point.name: point for point in packages.entry_points(_GROUP)}
    if name not in others:
        known = ", ".join(sorted([*OURS, *others]))
        raise BadArgument(f"there is no resource type {name}", hint=f"there are {known}; packages can add more")
    return _loaded(others[name])


def _loaded(point: Any) -> Any:
    require_may_run(f"the resource type {point.name} ({point.value})")
    try:
        return point.load()
    except Exception as error:
        raise NodeattrsError(f"the resource type {point.name} of {point.value} cannot be loaded: {error}") from error


def parameters_of(kind: Any) -> list[str]:
    """The names of a type's parameters, without the title."""
    return [one.name for one in fields(kind) if one.init][1:]


def subject_of(name: str, title: str, parameters: Mapping[str, Any]) -> Any:
    """Make a resource of a type, which can then be checked and applied. Nothing is read or changed.

    name:       the type, such as "File"
    title:      the first argument of the type
    parameters: the other arguments of the type
    raises:     BadArgument, for an unknown type or parameter, with similar names; the error of the type, for a bad
                value
    """
    kind = type_named(name)
    known = parameters_of(kind)
    for parameter in parameters:
        if parameter not in known:
            raise BadArgument(
                f"{name}[{title}] has no parameter {parameter!r}",
                hint=hint_for(parameter, known) or f"it has {', '.join(known)}",
            )
    return kind(title, **parameters)
