"""Read the fields of one document, each with its kind.

The caller names the kind of each field. Faults are collected with their lines, and raised together when the document
is read. Run-lists, versions and maps of attributes are known kinds; the fields of a role, and the syntax of the
document, are not known here.
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
"""What Chef's documents call the groups of attributes."""


def fault(
    locator: Locator,
    path: Path,
    message: str,
    *,
    hint: str | None = None,
    kind: Kind | NoKind = "",
    of: type[DocumentError] = DocumentError,
) -> DocumentError:
    """The error for the value at *path* of a document, with the line that the locator knows.

    of: the class of the error
    """
    at = locator.at(path)
    text = message if at.file else f"{at.who}: {message}"
    return of(text, file=at.file, line=at.line, column=at.column, path=path, hint=hint, kind=kind)


def known_or_near(name: object, known: Iterable[str]) -> str:
    """The hint for an unknown name: similar names, else the first known names by name; "there are none" without any."""
    names = sorted(known)
    if close := near(name, names):
        return f"did you mean {' or '.join(close)}?"
    if not names:
        return "there are none"
    shown = ", ".join(names[:8])
    return f"known are {shown}, …" if len(names) > 8 else f"known are {shown}"


class Fields:
    """Reads and validates the fields of one document. Faults are collected, and `finish` raises them.

    A field that is null counts as missing.
    tree:     the data of the document; DocumentError unless it is a map
    locator:  gives the line of each path
    what:     the subject of messages: "role web"
    warnings: warnings so far
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
        """Note a fault at *path*, for `finish`; the same fault is noted once."""
        if not any(known.path == path and known.reason.endswith(message) for known in self._faults):
            self._faults.append(fault(self.locator, path, message, hint=hint))

    def warn(self, path: Path, message: str, hint: str | None, kind: Kind) -> None:
        """Note a warning at *path*."""
        self.warnings.append(fault(self.locator, path, message, hint=hint, kind=kind))

    def finish(self) -> None:
        """Do nothing where no fault was noted. raises: DocumentError, with all faults"""
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
        """Note a warning for each field that is not in *known* or *ignore*.

        under: the path of the map with the fields; the root of the document unless given
        above: fields of the root; one that is found in this map gets a hint to move it
        """
        names = list(known)
        for key in self.map(*under):
            if key not in names and key not in ignore:
                message = f"unknown field {_spelled((*under, key))} in {self.what}; it is ignored"
                hint = f"write {key} above the first [table]" if key in above else known_or_near(key, names)
                self.warnings.append(fault(self.locator, (*under, key), message, hint=hint, of=UnknownField))

    def constant(self, key: str, expected: str) -> None:
        """Note a fault where a field has another value than *expected*; it may be missing."""
        if (value := self.tree.get(key)) not in (None, expected):
            self.wrong((key,), f"{key} of {self.what} must be {expected!r}, not {value!r}")

    def named(self, name: str, key: str = "name") -> None:
        """Note a warning where the name inside the document differs from *name*, the name of its file."""
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
        """A map of cookbook names to version constraints; "" allows any version. A list of names allows any version of
        each.

        lenient: replace a bad constraint by "" and note a warning, instead of a fault
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
        """The run-list items of a field; a fault is noted for each bad item, which is left out."""
        items = self.items(*path)
        return [item for index, item in enumerate(items) if self.parsed((*path, index), item, RunListItem.parse)]

    def parsed(self, path: Path, value: Any, parse: Callable[[Any], object]) -> bool:
        """Whether *parse* accepts *value*; where it raises, a fault at *path* is noted."""
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
    """What a message calls a value: "a map", "a list", else the value itself. Nothing inside a map or list is shown."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return f"{value!r}"
