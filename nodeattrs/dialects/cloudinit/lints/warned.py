"""The class of a warning about user-data, and the table of all warnings with a sentence for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nodeattrs.codes import Kind
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.cloudinit.codes import (
    BLANK_LINES_FIRST,
    BOTH_KEYS,
    BYTE_ORDER_MARK,
    COMMAND_NO_TEXT,
    COMMAND_WORDS,
    COMMANDS_NO_LIST,
    CONFD_APPEND_ORDER,
    CRLF_SCRIPT,
    DEFAULT_REPLACES,
    DEFINITION_TOO_EARLY,
    DUPLICATES,
    FIRST_LINE,
    HEADER_CASE,
    HEADER_ON_GZIP,
    INCLUDE_NOT_FOLLOWED,
    LIST_HIDDEN,
    MISSPELT_KEY,
    NO_DICT_MERGER,
    NOT_IN_USER_DATA,
    OVER_SIZE,
    OWNER_TOO_EARLY,
    PASSWD_NO_HASH,
    PERMISSIONS_NUMBER,
    POSITION_LOSES,
    REPEATED_KEY,
    REPEATED_MERGER,
    SCHEMA,
    SCHEMA_DEPRECATED,
    SETTINGS_TEXT,
    SPREAD,
    UNDEFINED_VARIABLE,
    UNEXPANDED,
    UNKNOWN_OPTION,
    UNKNOWN_TYPE,
    USERS_WITHOUT_DEFAULT,
)

WARNINGS: dict[Kind, str] = {
    NO_DICT_MERGER: "a definition without a dict merger drops the whole part",
    DEFINITION_TOO_EARLY: "an earlier part's definition does not rule later parts",
    DEFAULT_REPLACES: "the default replaces a list or mapping of an earlier part",
    POSITION_LOSES: "a list merged by position loses items",
    SPREAD: "a text or mapping is spread into a list",
    UNKNOWN_OPTION: "an option that has no effect",
    REPEATED_MERGER: "a second merger for one type is not used",
    BOTH_KEYS: "merge_how and merge_type in one part: one of them stays as data",
    HEADER_CASE: "a merge header in the wrong case is not seen",
    HEADER_ON_GZIP: "a gzip part loses its merge header",
    CONFD_APPEND_ORDER: "append in conf.d files gives the reverse order of the files",
    SETTINGS_TEXT: "settings given as text are searched for option names",
    DUPLICATES: "items are in the list twice after append or prepend",
    INCLUDE_NOT_FOLLOWED: "an include is listed, and not followed",
    UNKNOWN_TYPE: "a part of a type that is not handled",
    REPEATED_KEY: "a key is written twice in one mapping",
    USERS_WITHOUT_DEFAULT: "users without default: the image's own user is not created",
    LIST_HIDDEN: "the list of a weaker layer is not used",
    COMMANDS_NO_LIST: "runcmd or bootcmd is not a list",
    COMMAND_NO_TEXT: "a command is neither a text nor a list",
    COMMAND_WORDS: "the words of one command are items of their own",
    NOT_IN_USER_DATA: "a key that is read before there is user-data",
    OWNER_TOO_EARLY: "a file belongs to a user that is made later",
    PASSWD_NO_HASH: "a password in plain text where a hash is read",
    PERMISSIONS_NUMBER: "permissions are a number",
    MISSPELT_KEY: "an unknown key that looks like a known one",
    BYTE_ORDER_MARK: "a byte order mark hides the first line",
    FIRST_LINE: "the first line is nearly the one that is needed",
    BLANK_LINES_FIRST: "blank lines before the first line",
    OVER_SIZE: "more than a cloud takes",
    UNEXPANDED: "a template that has not been filled in",
    UNDEFINED_VARIABLE: "a template asks for a variable that is not there",
    CRLF_SCRIPT: "a script that a carriage return breaks",
    SCHEMA: "the schema of cloud-init does not allow it",
    SCHEMA_DEPRECATED: "the schema of cloud-init calls it deprecated",
}
"""Every name a warning can have, and what it says in general."""

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about one part of user-data, or about the merged config.

    name:         one of `WARNINGS`; a section of docs/cloudinit.md has the same name
    message:      the text of the warning, without its place
    number:       the number of the part, from 1; 0 for the merged config
    title:        the name of the part for people; "" for the merged config
    path:         the path in the config; None for a warning about a text or a definition
    hint:         what the user can do; "" for nothing
    severity:     "error", "warning" or "note"
    place:        line and column in the text of the part; None: `Merged.place_of` finds the place by *path*
    is_about_key: True: the warning is true for any value of the key
    """

    name: Kind
    message: str
    number: int
    title: str
    path: Path | None = None
    hint: str = ""
    severity: Severity = "warning"
    place: tuple[int, int] | None = None
    is_about_key: bool = False

    def __str__(self) -> str:
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.title}{': ' if self.title else ''}{self.message} [{self.name}]{hint}"

    def to_dict(self) -> dict[str, Any]:
        """The warning as plain data for JSON."""
        return {
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "number": self.number,
            "title": self.title,
            "path": None if self.path is None else spell(self.path),
            "hint": self.hint,
        }
