"""Secrets: a value that shows itself nowhere. Nodes, lookups and injectors share this one wrapper."""

from __future__ import annotations

from collections.abc import Callable

from nodeattrs.errors import BadValue, TooDeep
from nodeattrs.typed import Any, NoReturn


def _own(value: Any) -> Any:
    if isinstance(value, (str, bytes, int, float)):
        return value
    try:
        from copy import deepcopy

        return deepcopy(value)
    except RecursionError:
        raise TooDeep("a secret is nested too deep, or inside itself") from None


class Sensitive:
    """A secret. It is never printed, logged, stored or hashed in clear; `unwrap()` gives the value.

    >>> Sensitive("s3cret"), f"{Sensitive('s3cret')}", Sensitive("s3cret").unwrap()
    (Sensitive(withheld), 'Sensitive(withheld)', 's3cret')
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value: Any = value._value if isinstance(value, Sensitive) else _own(value)

    def unwrap(self) -> Any:
        """The secret itself; containers are copied, a deferred value is computed."""
        evaluate = getattr(self._value, "evaluate", None)
        return _own(self._value) if evaluate is None else evaluate()

    def map(self, change: Callable[[Any], Any]) -> Sensitive:
        """The secret that *change* makes of this one."""
        return Sensitive(change(self._value))

    def __repr__(self) -> str:
        return "Sensitive(withheld)"

    def __eq__(self, other: object) -> bool:
        return bool(self._value == other._value) if isinstance(other, Sensitive) else NotImplemented

    def __hash__(self) -> int:
        return hash(Sensitive)  # the same for all: a hash of the content would give it away

    def __copy__(self) -> Sensitive:
        return self

    def __deepcopy__(self, memo: object) -> Sensitive:
        return self

    def __reduce__(self) -> NoReturn:
        raise BadValue("a Sensitive value cannot be pickled: it would be stored in clear", hint="unwrap() it yourself")


class Encrypted(Sensitive):
    """A text of a file that nobody decrypted: a secret, which `unwrap()` gives as the file has it.

    reason: why it is not decrypted
    """

    __slots__ = ("reason",)

    def __init__(self, value: Any, reason: str) -> None:
        super().__init__(value)
        self.reason = reason

    def __repr__(self) -> str:
        return "Sensitive(encrypted)"
