"""The parameters of classes and resources, and the classes of a run-list, as an injector has them.

Each parameter comes from the bindings first, then from whatever look-up the caller hands in, then from its own default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.model.types import Asked, parameter_key

_NOTHING = object()


@dataclass(frozen=True)
class Filled:
    """A parameter and where its value comes from: "bindings", "lookup" or "default"; "nothing" where nobody has one."""

    name: str
    value: Any
    source: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.value!r} from {self.source}" + (f": {self.place}" if self.place else "")


@taking(injector="inject", names=Listed | Mapping)
def fill_parameters(
    injector: Injector,
    target: str,
    names: Iterable[str],
    *,
    lookup: Callable[[str, Any], Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> dict[str, Filled]:
    """The values of a class's parameters, implicitly injected.

    target: "ntp", "class ntp", "Web[one]"
    lookup: asked for "target::name" where nothing is bound, with what to give when it finds nothing
    raises: as `Injector.inject`
    """
    filled: dict[str, Filled] = {}
    prefix = target.removeprefix("class ").removeprefix("Class[").removesuffix("]")
    for name in names:
        asked = Asked(None, parameter_key(target, name))
        value = injector.get(asked)
        declared = injector.declaration(asked)
        if value is not None and declared is not None:
            filled[name] = Filled(name, value, "bindings", injector.resolution.described(declared))
            continue
        found = _NOTHING if lookup is None else lookup(f"{prefix}::{name}", _NOTHING)
        if found is not _NOTHING:
            filled[name] = Filled(name, found, "lookup", f"{prefix}::{name}")
        elif name in (defaults or {}):
            filled[name] = Filled(name, (defaults or {})[name], "default")
        else:
            filled[name] = Filled(name, None, "nothing")
    return filled


@taking(injector="inclusions", run_list=Listed)
def extended_run_list(injector: Injector, run_list: Iterable[str]) -> list[str]:
    """A run-list with the included classes behind it, as recipes; what is on it already stays once.

    The class `apache::vhost` is the recipe `apache::vhost`.
    """
    listed = list(run_list)
    known = {item.removeprefix("recipe[").removesuffix("]").removesuffix("::default") for item in listed}
    more = [f"recipe[{name}]" for name in injector.classes() if name.removesuffix("::default") not in known]
    return [*listed, *more]
