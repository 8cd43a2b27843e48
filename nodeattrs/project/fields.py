"""Reads the fields of one document, each as the kind that the caller names.

Faults are collected with their lines, and raised together when the document is read. Kinds are texts, booleans, maps,
lists, versions, version constraints and run-lists. The module knows neither the fields of a role nor the document's
syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nodeattrs.codes import Kind, NoKind
from nodeattrs.core.claim import Locator
from nodeattrs.core.tree import ABSENT, Path, dig, near
from nodeattrs.errors import BadArgument, DocumentError, InvalidRunListItem, UnknownField
from nodeattrs.kinds import NO_CONSTRAINT, OTHER_NAME
from nodeattrs.node.run_list import RunListItem
from nodeattrs.project.versions import Constraint, Version

LEVELS = ("automatic", "default", "normal", "override")
"""The names of attribute levels in Chef's documents."""


def fault(
    locator: Locator,
    path: Path,
    message: str,
    *,
    hint: str | None = None,
    kind: Kind | NoKind = "",
    of: type[DocumentError] = DocumentError,
) -> DocumentError:
    """The error for the value at *path* of a document, with its line; the caller raises or lists it.

    locator: gives file and line; if it gives no file, its subject is put before the message
    of:      the class of the error
    """
    at = locator.at(path)
    text = message if at.file else f"{at.who}: {message}"
    return of(text, file=at.file, line=at.line, column=at.column, path=path, hint=hint, kind=kind)


def known_or_near(name: object, known: Iterable[str]) -> str:
    """A hint for an unknown name: the known names that are similar to it.

    Without a similar one it has the first eight known names; without any known name it says "there are none".
    """
    names = sorted(known)
    if close := near(name, names):
        return f"did you mean {' or '.join(close)}?"
    if not names:
        return "there are none"
    shown = ", ".join(names[:8])
    return f"known are {shown}, …" if len(names) > 8 else f"known are {shown}"


class Fields:
    """Reads and checks the fields of one document. It collects faults and warnings; `finish` raises the faults.

    Read each field by its kind with `text`, `flag`, `map`, `items`, `run_list`, ...; call `only` with the names of all
    known fields, and `finish` at the end. A field that is missing, null or of a wrong kind gives an empty value: "",
    False, {} or []; "0.0.0" as a `version`. A wrong kind is a fault. A path is one step or several from the root.

    wrong, warn:     add a fault, or a warning
    constant, named: check the value of a field
    only:            warns of unknown fields
    parsed:          whether a function accepts a value; if not, a fault is added

    tree:     the data of the document
    locator:  gives the line of each path
    what:     the subject of messages: "role web"
    warnings: the warnings so far
    raises:   DocumentError from the constructor, if *tree* is not a map
    """

    def __init__(self, tree: Any, locator: Locator, what: str) -> None:
        self.locator = locator
        self.what = what
        self.warnings: list[DocumentError] = []
        self._faults: list[DocumentError] = []
        if not isinstance(tree, dict):
            raise fault(locator, (), f"{what} must be a map of fields, not {shape_of(tree)}")
        self.tree: dict[Any, Any] = tree

    def wrong(self, path: Path, message: str, hint: str | None = None) -> None:
        """Note a fault at *path*, which `finish` raises. The same fault is noted once."""
        if not any(known.path == path and known.reason.endswith(message) for known in self._faults):
            self._faults.append(fault(self.locator, path, message, hint=hint))

    def warn(self, path: Path, message: str, hint: str | None, kind: Kind) -> None:
        """Add a warning at *path* to `warnings`."""
        self.warnings.append(fault(self.locator, path, message, hint=hint, kind=kind))

    def finish(self) -> None:
        """Raise all noted faults as one error; without a fault do nothing.

        raises: DocumentError: the first fault, with all further faults as its details
        """
        if not self._faults:
            return
        first, *others = self._faults
        if not others:
            raise first
        raise DocumentError(
            first.reason,
            file=first.file,
            line=first.line,
            column=first.column,
            path=first.path,
            details=[
                *([first.hint] if first.hint else []),
                *(f"and {other}".replace("\n", "\n  ") for other in others),
            ],
        )

    def only(self, known: Iterable[str], *under: Any, ignore: Iterable[str] = (), above: Iterable[str] = ()) -> None:
        """Add a warning for each unknown field of a map, with similar known names as a hint.

        known:  the names of the known fields
        under:  the path of the map; without it, the root of the document. A missing map has no fields
        ignore: names of further fields that get no warning
        above:  fields of the root; the hint for one of these is to move it up
        """
        names = list(known)
        for key in self.map(*under):
            if key not in names and key not in ignore:
                message = f"unknown field {_spelled((*under, key))} in {self.what}; it is ignored"
                hint = f"write {key} above the first [table]" if key in above else known_or_near(key, names)
                self.warnings.append(fault(self.locator, (*under, key), message, hint=hint, of=UnknownField))

    def constant(self, key: str, expected: str) -> None:
        """Note a fault where a field has another value than *expected*; a missing field is fine."""
        if (value := self.tree.get(key)) not in (None, expected):
            self.wrong((key,), f"{key} of {self.what} must be {expected!r}, not {value!r}")

    def named(self, name: str, key: str = "name") -> None:
        """Add a warning where the name inside the document differs from *name*, which the file has.

        A missing name is fine.
        """
        if (inside := self.text(key) or name) != name:
            message = f"{key} says {inside!r}, but this is {self.what}"
            self.warn((key,), message, f"the file's own name counts: write {name!r}", OTHER_NAME)

    def text(self, *path: Any) -> str:
        """The text of a field; "" where it is missing, or a fault is noted."""
        return str(self._of(path, str, "text", ""))

    def flag(self, *path: Any) -> bool:
        """The boolean of a field; False where it is missing, or a fault is noted."""
        return bool(self._of(path, bool, "true or false", False))

    def map(self, *path: Any) -> dict[Any, Any]:
        """The map of a field; {} where it is missing, or a fault is noted."""
        found: dict[Any, Any] = self._of(path, dict, "a map", {})
        return found

    def items(self, *path: Any) -> list[Any]:
        """The list of a field; [] where it is missing, or a fault is noted."""
        found: list[Any] = self._of(path, list, "a list", [])
        return found

    def version(self, key: str) -> str:
        """The cookbook version of a field as text; "0.0.0" where it is missing, or a fault is noted."""
        text = self.text(key) or "0.0.0"
        return text if self.parsed((key,), text, Version.parse) else "0.0.0"

    def constraints(self, key: str, lenient: bool = False) -> dict[str, str]:
        """The field *key*, a map, as cookbook name -> version constraint; "" allows any version. {} where it is
        missing.

        A list of names allows any version of each. A fault is noted for a bad constraint, which becomes "".

        lenient: add a warning instead of the fault, as Chef does for old metadata
        """
        if isinstance(self.tree.get(key), list):
            return {self.text(key, index): "" for index in range(len(self.items(key)))}
        found: dict[str, str] = {}
        for name, asked in self.map(key).items():
            # Older tools wrote a list of one constraint.
            path = (key, name, 0) if isinstance(asked, list) and len(asked) == 1 else (key, name)
            if lenient and isinstance(asked, list) and len(asked) != 1:
                if asked:
                    hint = "write one constraint; several count as none, as in Chef"
                    self.warn(path, f"several constraints for {name}", hint, NO_CONSTRAINT)
                found[str(name)] = ""
                continue
            text = self.text(*path)
            found[str(name)] = text if self._is_constraint(path, text, lenient) else ""
        return found

    def _is_constraint(self, path: Path, text: str, lenient: bool) -> bool:
        if not lenient:
            return self.parsed(path, text, Constraint.parse)
        try:
            Constraint.parse(text)
        except BadArgument as error:
            self.warn(path, f"{error.message}; it counts as none", error.hint, NO_CONSTRAINT)
            return False
        return True

    def run_list(self, *path: Any) -> list[str]:
        """The run-list items of a field; a fault is noted for each bad item, which is left out. [] where it is
        missing.
        """
        items = self.items(*path)
        return [item for index, item in enumerate(items) if self.parsed((*path, index), item, RunListItem.parse)]

    def parsed(self, path: Path, value: Any, parse: Callable[[Any], object]) -> bool:
        """Whether *parse* accepts *value*. If it does not, a fault at *path* is noted.

        parse: called with *value*; it raises BadArgument or InvalidRunListItem for a wrong one. Its result is not used
        """
        try:
            parse(value)
        except (BadArgument, InvalidRunListItem) as error:
            self.wrong(path, error.message, error.hint)
            return False
        return True

    def _of(self, path: Path, kind: type, words: str, default: Any) -> Any:
        value = dig(self.tree, path)
        if value is ABSENT or value is None:
            return default
        if not isinstance(value, kind):
            self.wrong(path, f"{_spelled(path)} of {self.what} must be {words}, not {shape_of(value)}")
            return default
        return value


def _spelled(path: Path) -> str:
    first, *rest = path
    return str(first) + "".join(f"[{step!r}]" for step in rest)


def shape_of(value: object) -> str:
    """The words for a value in a message: "a map", "a list", else the value itself as Python writes it.

    Values inside a map or list may be secrets, and are not shown.
    """
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return f"{value!r}"
