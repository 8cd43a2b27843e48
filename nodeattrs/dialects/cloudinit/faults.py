"""The error of user-data, and its kinds.

A part with an error of a kind in `REJECTED` is *rejected*: cloud-init notes it in the merged file. A part with an error
of any other kind *failed*: cloud-init only logs the error. In both cases the other parts are merged.
"""

from __future__ import annotations

from nodeattrs.codes import Kind, declared
from nodeattrs.dialects.cloudinit.codes import (
    EMPTY,
    EXTRA,
    FORMAT,
    PATCH_SYNTAX,
    TOO_DEEP,
    TOO_LARGE,
    TYPE,
)
from nodeattrs.errors import DocumentError, MissingExtra, NodeattrsError, TooDeep, TooMuch

REJECTED: frozenset[Kind] = frozenset({FORMAT, EMPTY, PATCH_SYNTAX})
"""The kinds of errors that cloud-init notes in the merged file: those of the text itself."""


class CloudConfigError(DocumentError):
    """User-data, or a part of it, that cannot be read or merged.

    kind:               one of the constants of `cloudinit.codes`, such as FORMAT; it has the code that is printed
    message:            what is wrong, without the place
    file, line, column: the place; None if it is not known
    hint:               what the user can do; None for nothing

    `located` gives a copy with a place, for an error that has no file.
    """

    entry = declared(
        "NA1101",
        "CloudConfigError",
        cause="User-data cannot be read or merged; no other code describes the reason.",
        example="nodeattrs cloud-config merge user-data",
        way_out="The message says what.",
    )

    kind: Kind

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, file=file, line=line, column=column, hint=hint)
        self.kind = kind

    def located(self, file: str | None, line: int | None = None, column: int | None = None) -> CloudConfigError:
        """A copy of the error with a place. If the error has a file, the error itself is returned.

        A line or column that the error has already is kept.
        """
        if self.file is not None:
            return self
        where = line if self.line is None else self.line, column if self.column is None else self.column
        return CloudConfigError(self.kind, self.reason, file=file, line=where[0], column=where[1], hint=self.hint)


def past_a_limit(error: TooMuch, what: str = "it") -> CloudConfigError:
    """A passed limit as a CloudConfigError of kind TOO_DEEP or TOO_LARGE. what: the subject of the message"""
    kind: Kind = TOO_DEEP if error.limit == "depth" else TOO_LARGE
    return CloudConfigError(kind, f"{what} {error.reason}", line=error.line, column=error.column, hint=error.hint)


def kind_of(error: NodeattrsError) -> Kind:
    """The kind of an error that merging user-data raised; "type" for an error that is no CloudConfigError.

    TooDeep has the kind TOO_DEEP, and MissingExtra the kind EXTRA.

    >>> from nodeattrs.errors import MergeConflict
    >>> kind_of(MergeConflict("no"))
    'type'
    """
    if isinstance(error, CloudConfigError):
        return error.kind
    if isinstance(error, TooDeep):
        return TOO_DEEP
    return EXTRA if isinstance(error, MissingExtra) else TYPE
