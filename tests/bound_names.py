"""What an injector has under the names of the library: the parameters of a target, the variables."""

from __future__ import annotations

from typing import Any

from nodeattrs.bindings import Injector, parameter_key, variable_key


def _below(injector: Injector, prefix: str) -> dict[str, Any]:
    names = [name for _, name in injector.resolution.winners if name.startswith(prefix)]
    values = {name.removeprefix(prefix): injector.get(name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def parameters_of(injector: Injector, target: str) -> dict[str, Any]:
    """The parameters that are bound for a class, a type or an instance, by name; {} for none."""
    return _below(injector, parameter_key(target, ""))


def variables_of(injector: Injector) -> dict[str, Any]:
    """The top scope variables that are bound, by name; {} for none."""
    return _below(injector, variable_key(""))
