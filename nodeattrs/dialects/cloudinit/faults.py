"""What can be wrong with user-data: one error, with a kind that programs can ask for.

The kinds of a part that is *rejected* (cloud-init notes it in the merged file) and of one
that *failed* (cloud-init only logs it) are kept apart in `REJECTED`.
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
"""The kinds that cloud-init takes for an error of the text, and notes in the merged file."""


class CloudConfigError(DocumentError):
    """Something of user-data that cannot be read or merged.

    kind: one of `cloudinit.codes`
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
        """The same error, with a place; a place it already has stays."""
        if self.file is not None:
            return self
        where = line if self.line is None else self.line, column if self.column is None else self.column
        return CloudConfigError(self.kind, self.reason, file=file, line=where[0], column=where[1], hint=self.hint)


def past_a_limit(error: TooMuch, what: str = "it") -> CloudConfigError:
    """The error of user-data for a limit that *what* passes."""
    kind: Kind = TOO_DEEP if error.limit == "depth" else TOO_LARGE
    return CloudConfigError(kind, f"{what} {error.reason}", line=error.line, column=error.column, hint=error.hint)


def kind_of(error: NodeattrsError) -> Kind:
    """The kind of an error that merging user-data raised.

    >>> from nodeattrs.errors import MergeConflict
    >>> kind_of(MergeConflict("no"))
    'type'
    """
    if isinstance(error, CloudConfigError):
        return error.kind
    if isinstance(error, TooDeep):
        return TOO_DEEP
    return EXTRA if isinstance(error, MissingExtra) else TYPE
