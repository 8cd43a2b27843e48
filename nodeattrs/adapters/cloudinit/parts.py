"""What user-data is made of: parts, each with a type, a name and headers; and what became of each.

Plain values. Unpacking makes parts, merging makes reports of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nodeattrs.adapters.cloudinit.definitions import Definition
from nodeattrs.adapters.cloudinit.faults import REJECTED, kind_of
from nodeattrs.codes import code_named
from nodeattrs.errors import NodeattrsError

CLOUD_CONFIG = "text/cloud-config"
JSONP = "text/cloud-config-jsonp"
ARCHIVE = "text/cloud-config-archive"
INCLUDES = ("text/x-include-url", "text/x-include-once-url")
SCRIPTS = (
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
    "text/cloud-boothook",
)

_FIRST_LINES = {
    "#include": "text/x-include-url",
    "#include-once": "text/x-include-once-url",
    "#!": "text/x-shellscript",
    "#cloud-config": CLOUD_CONFIG,
    "#part-handler": "text/part-handler",
    "#cloud-boothook": "text/cloud-boothook",
    "#cloud-config-archive": ARCHIVE,
    "#cloud-config-jsonp": JSONP,
    "## template: jinja": "text/jinja2",
}
_NUMBERED = re.compile(r"part-\d{3,}")
_LONGEST_FIRST = sorted(_FIRST_LINES, key=len, reverse=True)


def type_of_text(text: str | bytes, default: str | None = None) -> str | None:
    """The type that the beginning of a text tells, in any case and after leading white space.

    >>> type_of_text("#Cloud-Config-JSONP")
    'text/cloud-config-jsonp'
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            return default
    start = text.lstrip()[:40].lower()
    return next((_FIRST_LINES[mark] for mark in _LONGEST_FIRST if start.startswith(mark)), default)


@dataclass(frozen=True, slots=True)
class CloudPart:
    """One part of user-data.

    body:     the text (or the bytes) after unpacking
    type:     its content type
    filename: its name; parts without one are called part-001, part-002, ... by position
    headers:  as written; the merge headers are `Merge-Type` and `X-Merge-Type`, in exactly this case
    file:     the file it came from, as messages show it
    line:     the line of that file on which the body begins; None where it was packed in some way
    indent:   how far it is indented there, as the text of an archive's entry is
    packed:   how it was packed: "", "gzip"
    lost:     the merge headers that it lost when it was unpacked
    """

    body: str | bytes
    type: str = CLOUD_CONFIG
    filename: str = ""
    headers: Mapping[str, Any] = field(default_factory=dict)
    file: str | None = None
    line: int | None = 1
    packed: str = ""
    lost: tuple[str, ...] = ()
    indent: int = 0

    @property
    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 are kept as lone surrogates."""
        return self.body if isinstance(self.body, str) else self.body.decode("utf-8", "surrogateescape")


Status = Literal["merged", "rejected", "failed", "script", "include", "ignored", "empty", "unknown"]


@dataclass(frozen=True, slots=True)
class PartReport:
    """What became of one part.

    number:     its place among all parts, from 1
    status:     merged; rejected (cloud-init notes it in the merged file) or failed (it only logs it):
                either way the result is as before the part; script; include: not followed; ignored: a
                type nobody handles; empty: the same with nothing in it; unknown: it cannot be read
    definition: the mergers that were used; None for a patch and for what is not merged
    source:     where they come from: "body merge_how", "header Merge-Type", both, "default",
                "asked" (a what-if), "part N" (documented mode: the part whose definition was on the stack)
    error:      why it was rejected or failed
    """

    number: int
    part: CloudPart
    filename: str
    status: Status
    definition: Definition | None = None
    source: str = ""
    error: NodeattrsError | None = None

    @property
    def title(self) -> str:
        """What people call the part: its name; the file where it has no name of its own and is all of the file."""
        file = self.part.file
        if file is None or _NUMBERED.fullmatch(self.filename) is None:
            return self.filename
        return file if self.part.line == 1 else f"{file} {self.filename}"

    @property
    def kind(self) -> str | None:
        """The kind of the error."""
        return None if self.error is None else kind_of(self.error)

    @property
    def ok(self) -> bool:
        """Whether the part was neither rejected nor failed."""
        return self.error is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "number": self.number,
            "filename": self.filename,
            "type": self.part.type,
            "file": self.part.file,
            "line": self.part.line,
            "status": self.status,
            "mergers": None if self.definition is None else self.definition.to_list(),
            "definition": None if self.definition is None else str(self.definition),
            "source": self.source or None,
            "kind": self.kind,
            "code": self.kind and code_named(self.kind, "CloudConfigError").code,
            "error": None if self.error is None else str(self.error),
        }


def status_of(error: NodeattrsError) -> Status:
    """What cloud-init makes of a part with this error."""
    return "rejected" if kind_of(error) in REJECTED else "failed"
