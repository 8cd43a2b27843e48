"""What can be wrong with user-data: one error, with a kind that programs can ask for.

The kinds of a part that is *rejected* (cloud-init notes it in the merged file) and of one
that *failed* (cloud-init only logs it) are kept apart in `REJECTED`.
"""

from __future__ import annotations

from typing import Literal

from nodeattrs.errors import DocumentError, MissingExtra, NodeattrsError, TooDeep, TooMuch

FaultKind = Literal[
    "format",  # a merge string is malformed
    "unknown-merger",  # a merger of that name does not exist
    "definition",  # a structured definition is malformed, or a custom merger refuses its options
    "type",  # two values cannot be combined under these mergers; or conf_d is no text
    "empty",  # broken YAML, several documents, nothing, or a root that is no mapping
    "patch-syntax",  # the JSON patch is no JSON
    "patch-conflict",  # an operation does not apply, or a test is false
    "patch-invalid",  # no well-formed patch, or a pointer into something that is not there
    "decompress",  # a part that says it is gzip and is not
    "archive",  # an archive entry that cannot be made a part
    "encoding",  # a message that is not UTF-8 text
    "too-large",  # past a stated limit of size
    "too-deep",  # past 500 levels, or inside itself
    "value",  # a scalar at which PyYAML itself fails, and not only the text: `!!bool maybe`
    "template",  # a template that cannot be rendered
    "instance-data",  # instance data that is no map
    "vendor-switch",  # a setting of vendor-data at which cloud-init stops
    "input",  # a file or folder in which there is no user-data
    "extra",  # needs a library that is not installed
]

REJECTED: frozenset[str] = frozenset({"format", "empty", "patch-syntax"})
"""The kinds that cloud-init takes for an error of the text, and notes in the merged file."""


class CloudConfigError(DocumentError):
    """Something of user-data that cannot be read or merged.

    kind: one of `FaultKind`
    """

    kind: FaultKind

    def __init__(
        self,
        kind: FaultKind,
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
    kind: FaultKind = "too-deep" if error.limit == "depth" else "too-large"
    return CloudConfigError(kind, f"{what} {error.reason}", line=error.line, column=error.column, hint=error.hint)


def kind_of(error: NodeattrsError) -> str:
    """The kind of an error that merging user-data raised.

    >>> from nodeattrs.errors import MergeConflict
    >>> kind_of(MergeConflict("no"))
    'type'
    """
    if isinstance(error, CloudConfigError):
        return error.kind
    if isinstance(error, TooDeep):
        return "too-deep"
    return "extra" if isinstance(error, MissingExtra) else "type"
