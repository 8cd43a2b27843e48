"""What a warning is, and the names that one can have.

What each name means, with an example and the remedy: docs/cloudinit.md, "Warnings".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.codes import known_kinds
from nodeattrs.core.tree import Path, spell

WARNINGS: dict[str, str] = {
    "no-dict-merger": "a definition without a dict merger drops the whole part",
    "definition-too-early": "an earlier part's definition does not rule later parts",
    "default-replaces": "the default replaces a list or mapping of an earlier part",
    "position-loses": "a list merged by position loses items",
    "spread": "a text or mapping is spread into a list",
    "unknown-option": "an option that has no effect",
    "repeated-merger": "a second merger for one type is not used",
    "both-keys": "merge_how and merge_type in one part: one of them stays as data",
    "header-case": "a merge header in the wrong case is not seen",
    "header-on-gzip": "a gzip part loses its merge header",
    "confd-append-order": "append in conf.d files gives the reverse order of the files",
    "settings-text": "settings given as text are searched for option names",
    "duplicates": "items are in the list twice after append or prepend",
    "include-not-followed": "an include is listed, and not followed",
    "unknown-type": "a part of a type that nobody here handles",
    "repeated-key": "a key is written twice in one mapping",
    "users-without-default": "users without default: the image's own user is not created",
    "list-hidden": "the list of a weaker layer is not used",
    "commands-no-list": "runcmd or bootcmd is no list",
    "command-no-text": "a command is neither a text nor a list",
    "permissions-number": "permissions are a number",
    "misspelt-key": "a key that nobody knows, and that looks like one",
    "byte-order-mark": "a byte order mark hides the first line",
    "first-line": "the first line is nearly the one that is needed",
    "blank-lines-first": "blank lines before the first line",
    "over-size": "more than a cloud takes",
    "unexpanded": "a template that has not been filled in",
    "undefined-variable": "a template asks for a variable that is not there",
    "crlf-script": "a script that a carriage return breaks",
    "schema": "the schema of cloud-init does not allow it",
    "schema-deprecated": "the schema of cloud-init calls it deprecated",
}
"""Every name a warning can have, and what it says in general."""

known_kinds(CloudConfigError, *WARNINGS)

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about one part, or about what came of all of them.

    name:   one of `WARNINGS`; a section of docs/cloudinit.md has the same name
    number: of the part; 0 for the merged config: who set what stands at the path is asked then
    title:  what people call the part
    path:   the place in the config, where there is one
    place:  line and column in the text of the part, where they are known already
    """

    name: str
    message: str
    number: int
    title: str
    path: Path | None = None
    hint: str = ""
    severity: Severity = "warning"
    place: tuple[int, int] | None = None

    def __str__(self) -> str:
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.title}{': ' if self.title else ''}{self.message} [{self.name}]{hint}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "number": self.number,
            "title": self.title,
            "path": None if self.path is None else spell(self.path),
            "hint": self.hint,
        }
