"""The error of the dialect, `AnsibleError`: raised for what Ansible refuses, collected for what Ansible warns of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.codes import Kind, declared
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

Warn = Callable[[Kind, str, str | None, int | None], None]
"""A function that notes a warning: its kind, the sentence, and its file and line or None."""


class AnsibleError(DocumentError):
    """An error in files or options of Ansible, with file and line. It is also used for warnings.

    An error of a kind in `WARNINGS` is a warning: it is put into lists of warnings and not raised.

    kind:    one of the constants of `ansible.codes`, which has the code that is printed
    message: what is wrong, without the file and line
    facts:   keyword arguments of `DocumentError`, such as *file* and *line*
    """

    entry = declared(
        "NA1301",
        "AnsibleError",
        cause="A file or option of Ansible is wrong; no other code describes the reason.",
        example="nodeattrs ansible list",
        way_out="The message says what.",
    )

    kind: Kind

    def __init__(self, kind: Kind, message: str, **facts: Any) -> None:
        super().__init__(message, kind=kind, **facts)


def error_at(document: Document, path: Path, kind: Kind, message: str, hint: str | None = None) -> AnsibleError:
    """The error for the value at a path of a document, with its file and line; the caller raises it."""
    return AnsibleError(kind, message, file=document.file, line=document.place(path)[0], hint=hint)


def new_warning(kind: Kind, message: str, file: str | None, line: int | None) -> AnsibleError:
    """The warning of a kind with its place, to be listed by the caller. Nothing is raised or printed."""
    return AnsibleError(kind, message, file=file, line=line)
