"""Functions whose arguments an injector fills: by annotation, or by name in `Annotated`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.keys import Asked
from nodeattrs.adapters.bindings.model.types import Classes, type_of_hint

_PLAIN = (int, float, str, bool, list, dict, bytes, tuple, set, object)


def wired(
    call: Callable[..., Any], register: Classes, inject: Callable[[Asked], Any], get: Callable[[Asked], Any]
) -> Any:
    """*call* with its missing arguments filled: `Annotated[T, "name"]` by name and type, a class by its type.

    An argument that the caller gives is left alone; one with a default keeps it where nothing is
    bound. Plain annotations such as `int` say no key: the caller gives them.
    inject: gives a value or raises
    get:    gives a value, or None where nothing is bound
    raises: BindingError, where an annotation cannot be read; later what `inject` raises
    """
    signature = inspect.signature(call)
    wanted = {
        name: (asked, signature.parameters[name].default) for name, asked in _asked_by(call, register).items()
        if name in signature.parameters
    }  # fmt: skip

    @functools.wraps(call)
    def filled(*args: Any, **given: Any) -> Any:
        bound = signature.bind_partial(*args, **given)
        for name, (asked, default) in wanted.items():
            if name in bound.arguments:
                continue
            if default is inspect.Parameter.empty:
                given[name] = inject(asked)
            elif (value := get(asked)) is not None:
                given[name] = value
        return call(*args, **given)

    return filled


def _asked_by(call: Callable[..., Any], register: Classes) -> dict[str, Asked]:
    target: Any = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise BindingError("bad-type", f"the annotations of {call!r} cannot be read: {error}") from error
    hints.pop("return", None)
    found: dict[str, Asked] = {}
    for name, hint in hints.items():
        if get_origin(hint) is Annotated:
            of, *notes = get_args(hint)
            key = next((note for note in notes if isinstance(note, (str, Asked))), None)
            if isinstance(key, Asked):
                found[name] = key
            elif key is not None:
                found[name] = Asked(type_of_hint(of, register), key)
        elif isinstance(hint, type) and hint not in _PLAIN:
            found[name] = Asked(type_of_hint(hint, register), None)
    return found
