"""The errors of bindings. A *fault* is an error that is noted first, and raised together with others.

Building an injector raises all faults of its layers in one `BindingErrors`; injecting a key raises its own error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nodeattrs.codes import Kind, declared
from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.bindings.codes import LOOKUP_LOOP, MISSING, SEVERAL, TYPE_MISMATCH
from nodeattrs.errors import NodeattrsError, NotFound


class BindingError(NodeattrsError, ValueError):
    """One error in bindings. `place` is the file and line of the first origin.

    kind:    a word for programs: "conflict", "type-mismatch", "syntax", ... (`nodeattrs codes NA12` lists them)
    message: the error in words
    origins: the lines of the declarations that are in error, the strongest first; () if there is no line
    details: lines that are printed below the message
    hint:    what the user can do; None for nothing
    key:     (type, name) of the key whose declarations are in error; None until the resolution sets it
    """

    entry = declared(
        "NA1201",
        "BindingError",
        cause="Bindings are wrong; no other code describes the reason.",
        example="nodeattrs bindings check",
        way_out="The message says what.",
    )

    kind: Kind

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        origins: Sequence[Origin] = (),
        details: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message, origins=origins, details=details, hint=hint)
        self.kind = kind
        self.key: tuple[str, str] | None = None

    @property
    def place(self) -> str:
        """The place of the first origin that has one: "site.bindings:3"; "" where none has."""
        return next((origin.place for origin in self.origins if isinstance(origin, Origin) and origin.place), "")


class TypeMismatch(BindingError, TypeError):
    """Raised for a value that does not conform to the type that was declared or asked for."""

    entry = TYPE_MISMATCH.entry


class LookupLoop(BindingError, RecursionError):
    """Raised for a key that needs itself; the message shows the chain of keys."""

    entry = LOOKUP_LOOP.entry


class NotBound(BindingError, NotFound, KeyError):
    """Raised for a key that nothing is bound to, or whose producer gave nothing."""

    entry = MISSING.entry

    __str__ = NodeattrsError.__str__


class BindingErrors(BindingError):
    """All faults of some bindings as one error. Its message contains the messages of all of them.

    errors: the faults, sorted by place; there must be at least one. If there is exactly one, this error has the kind of
            that fault; otherwise its kind is "several". `kinds` has the kinds of all
    """

    entry = SEVERAL.entry

    def __init__(self, errors: Iterable[BindingError]) -> None:
        self.errors = tuple(sorted(errors, key=_by_place))
        count = len(self.errors)
        lines = "\n".join(str(error) for error in self.errors)
        head = lines if count == 1 else f"{count} things are wrong with the bindings\n{lines}"
        origins = [origin for error in self.errors for origin in error.origins if isinstance(origin, Origin)]
        super().__init__(self.errors[0].kind if count == 1 else SEVERAL, head, origins=origins)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all errors."""
        return frozenset(error.kind for error in self.errors)


@checked_args(error=BindingError)
def kinds_of(error: BindingError) -> frozenset[str]:
    """The kind of an error in a set; of a `BindingErrors` the kinds of all of its errors.

    >>> from nodeattrs.dialects.bindings.codes import CONFLICT, SYNTAX
    >>> sorted(kinds_of(BindingErrors([BindingError(CONFLICT, "a"), BindingError(SYNTAX, "b")])))
    ['conflict', 'syntax']
    """
    return error.kinds if isinstance(error, BindingErrors) else frozenset({error.kind})


def _by_place(error: BindingError) -> tuple[str, int, int, str]:
    first = next((origin for origin in error.origins if isinstance(origin, Origin)), Origin(""))
    return first.file or "", first.line or 0, first.column or 0, error.message


def value_in_words(value: object) -> str:
    """A value for a message, the same in each run: an object without a text of its own is named by its class."""
    is_plain_object = type(value).__repr__ is object.__repr__
    return f"an object of {type(value).__qualname__}" if is_plain_object else repr(value)
