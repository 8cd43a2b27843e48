"""Roles and environments written in Python: Chef's role DSL.

A script is ordinary Python that calls `name(...)`, `run_list(...)`,
`default_attributes({...})` and so on. Running it gives what reading a data file
gives, a tree of fields and a locator that knows where each was set, so nothing
after this module need know the difference. Whether the fields make sense is not
judged here.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.frames import frame_above
from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import BadKey, BadValue, DocumentError
from nodeattrs.node.causes import of_line
from nodeattrs.node.values import taken_in
from nodeattrs.runs.programs import compiled, line_in, ruby_left, source_of
from nodeattrs.texts.python import PythonText

_SHARED_WORDS = ("name", "description", "default_attributes", "override_attributes", "normal_attributes")
_WORDS = {"role": (*_SHARED_WORDS, "env_run_lists"), "environment": (*_SHARED_WORDS, "cookbook_versions")}


class Script:
    """A role or an environment that was written in Python, and has run.

    tree: the fields it gave; a repeated call replaces what the first one gave

    path: the file, absolute, so that tracebacks show its lines
    file: its name in messages, relative to the repository
    kind: "role" or "environment"
    name: the name it is filed under

    raises: DocumentError with the line; whatever the script raised is its cause
    """

    def __init__(self, path: pathlib.Path, file: str, kind: str, name: str) -> None:
        self.file = file
        self.kind = kind
        self.name = name
        self.tree: dict[str, Any] = {}
        self._path = str(path)
        self._lines: dict[Path, int] = {}
        source = source_of(path, file)
        self._text = PythonText(file, source)
        self._run(source)
        self.warnings = ruby_left(source, file)

    def at(self, path: Path) -> Origin:
        """Where *path* was set: the line inside the call, as far as it is written out there."""
        line, rest = self._set_at(path)
        return self.placed(self.file, *((1, None) if line is None else self._text.place(line, rest)))

    def placed(self, file: str, line: int, column: int | None = None) -> Origin:
        """A line of the script."""
        return Origin(self.kind, self.name, file, line, column)

    def causes(self, path: Path, value: Any, asked: Any) -> tuple[Cause, ...]:
        """Where a value that is set at *path* comes from."""
        line, rest = self._set_at(path)
        return () if line is None else of_line(self, self._text, line, rest, value, asked)

    def line_of(self, path: Path) -> int | None:
        """The line of the call that set *path* or what holds it."""
        return self._set_at(path)[0]

    @property
    def text(self) -> PythonText:
        """The source."""
        return self._text

    def _set_at(self, path: Path) -> tuple[int | None, Path]:
        """The line of the call that set *path* or what holds it, None for none; and the rest of the path."""
        known = (length for length in range(len(path), 0, -1) if path[:length] in self._lines)
        length = next(known, 0)
        return self._lines.get(path[:length]), path[length:]

    def _run(self, source: str) -> None:
        require_may_run(f"the {self.kind} {self.name} ({self.file})")
        code = compiled(source, self._path, self.file)
        namespace = {"__name__": f"{self.kind}s.{self.name}", "__file__": self._path, **self._words()}
        try:
            exec(code, namespace)
        except DocumentError:
            raise
        except (Exception, SystemExit) as error:
            line = line_in(error.__traceback__, self._path)
            raise DocumentError(f"{type(error).__name__}: {error}", file=self.file, line=line) from error

    def _words(self) -> dict[str, Callable[..., None]]:
        words: dict[str, Callable[..., None]] = {word: self._word(word) for word in _WORDS[self.kind]}
        return {**words, **({"run_list": self._run_list} if self.kind == "role" else {"cookbook": self._cookbook})}

    def _word(self, word: str) -> Callable[[Any], None]:
        def put(value: Any, /) -> None:
            # A replaced map takes the lines of single entries along.
            self._lines = {path: line for path, line in self._lines.items() if path[0] != word}
            self._put((word,), value)

        put.__name__ = put.__qualname__ = word
        return put

    def _run_list(self, *items: Any) -> None:
        self._put(("run_list",), items[0] if len(items) == 1 and isinstance(items[0], (list, tuple)) else items)

    def _cookbook(self, name: str, constraint: str = "") -> None:
        if not isinstance(self.tree.setdefault("cookbook_versions", {}), dict):
            self.tree["cookbook_versions"] = {}
        self._put(("cookbook_versions", name), constraint)

    def _put(self, path: Path, value: Any) -> None:
        self._lines[path] = self._line()
        *above, last = path
        place = self.tree
        for step in above:
            place = place[step]
        try:
            place[last] = taken_in(value)
        except (BadKey, BadValue) as error:
            inside = (*path, *(error.path or ()))
            at = self.at(inside)
            raise DocumentError(
                f"{error.message} at {spell(inside)}",
                file=self.file,
                line=at.line,
                column=at.column,
                path=inside,
                hint=error.hint,
            ) from error

    def _line(self) -> int:
        frame = frame_above(2)
        while frame.f_code.co_filename != self._path and frame.f_back is not None:
            frame = frame.f_back
        return frame.f_lineno
