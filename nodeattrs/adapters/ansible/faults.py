"""What Ansible refuses, and what it warns of: one error, with a kind that programs can ask for."""

from __future__ import annotations

from typing import Any, Literal, cast

from nodeattrs.errors import DocumentError

FaultKind = Literal[
    "yaml",  # a file that does not parse, or holds two documents
    "wrong-shape",  # a map was needed, or a list
    "extra-vars",  # what -e gives is no map
    "no-file",  # a file that is named and not there
    "no-role",  # a role that is nowhere
    "cycle",  # roles that depend on each other
    "unknown-key",  # a key that a play does not have
    "missing-key",  # a key that a play needs
    "variable-name",  # no name of a variable
    "undefined",  # a name that cannot be filled in
    "unparsed",  # a source that cannot be read, where the configuration makes it an error
    "no-group",  # no such group
    "no-host",  # no such host, or no such task for it
    "inventory",  # a line or an entry of an inventory that Ansible refuses: the source is given up
    "vault",  # what no password opens
    "setting",  # a value of ansible.cfg that cannot be read
]

WARNINGS = (
    "unparsed",
    "nothing-parsed",
    "duplicate-key",
    "group-name",
    "group-is-host",
    "reserved-name",
    "skipped",
    "vars-file-skipped",
    "no-match",
    "not-prompted",
    "precedence-entry",
    "missing",
    "broken",
    "not-evaluated",
    "vault",
    "unused-variable",
    "misspelt-variable",
    "undefined-variable",
    "shadowed-variable",
    "group-search",
)
"""The kinds of what is listed among warnings, and not raised."""


class AnsibleError(DocumentError):
    """Something that Ansible refuses; or warns of, then it is listed and not raised.

    kind: one of `FaultKind`, or of `WARNINGS`
    """

    def __init__(self, kind: FaultKind, message: str, **facts: Any) -> None:
        super().__init__(message, kind=kind, **facts)


def warned(kind: str, message: str, file: str | None, line: int | None) -> AnsibleError:
    """What is listed as a warning."""
    return AnsibleError(cast(FaultKind, kind), message, file=file, line=line)
