"""Python files of a repository: programs of cookbooks (`Program`), and roles and environments (`Script`).

Both are compiled, and run with names ("words") as their globals. The caller gives the words of a program. A role or an
environment gets the words of Chef's role DSL here. Its result is a tree of fields and a locator, as of a data file.
Nothing runs where code may not run: commands need --run-code.
"""

from __future__ import annotations

import ast
import linecache
import pathlib
import re
from collections.abc import Callable
from functools import cached_property
from traceback import extract_tb
from types import CodeType
from typing import Any

from nodeattrs.causes.plain_texts import with_waiting_messages
from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.frames import frame_above
from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import BadKey, BadValue, DocumentError
from nodeattrs.formats import documents
from nodeattrs.formats.python import PythonText
from nodeattrs.kinds import RUBY_LEFT
from nodeattrs.node.causes import CauseFinder, causes_of_line
from nodeattrs.node.values import taken_in


class Program:
    """An attribute file or recipe in Python. The constructor reads and compiles it; each call of `run` executes it.

    `run` takes the globals of the program. It raises the errors of the code, and UnknownLayer if no code may run.

    path:     the file, as tracebacks name it
    file:     its name in messages, relative to the repository
    code:     the compiled code
    warnings: about Ruby syntax, such as `#{node['a']}`, in texts of the program
    raises:   DocumentError, for a file that cannot be read or compiled
    """

    def __init__(self, path: pathlib.Path, file: str) -> None:
        source = _source_of(path, file)
        self.path, self._file = str(path), file
        self.code: CodeType = compile_python(source, self.path, file)
        self.warnings = _ruby_left(source, file)
        self._lines = (len(source), None, source.splitlines(keepends=True), self.path)

    def run(self, namespace: dict[str, Any], *, messages_wait: bool = False) -> None:
        """Execute the code with *namespace* as its globals. The code may change *namespace*.

        messages_wait: True: an argument of `log` that is a text with attributes is computed later: `log` gets a
                       function in place of the text
        raises: the errors of the code; UnknownLayer, if no code may run
        """
        require_may_run(self._file)
        # Tracebacks and explanations read the text that ran, even if the file changes.
        linecache.cache[self.path] = self._lines
        exec(self._code_with_waiting_messages if messages_wait else self.code, namespace)

    @cached_property
    def _code_with_waiting_messages(self) -> CodeType:
        waiting = with_waiting_messages("".join(self._lines[2]))
        return self.code if waiting is None else compile(waiting, self.path, "exec", dont_inherit=True)


def _source_of(path: pathlib.Path, file: str) -> str:
    """The text of a Python file, without a byte order mark. raises: DocumentError; TooMuch"""
    content = documents.content_of(path, file)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        raise DocumentError(f"byte {error.start} is not UTF-8 text", file=file, hint=hint) from error


def compile_python(source: str, path: str, file: str) -> Any:
    """The code object of a Python source, for `exec`. path: the file in tracebacks; file: its name in messages

    raises: DocumentError with line and column, for a syntax error
    """
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        column = error.offset or None
        details, text = _with_caret(error), f"Python syntax error: {error.msg}"
        raise DocumentError(text, file=file, line=error.lineno, column=column, details=details) from error
    except (ValueError, RecursionError, MemoryError) as error:
        # Null characters in the source; nesting that the compiler gives up on.
        raise DocumentError(f"Python syntax error: {error or 'it is nested too deeply'}", file=file) from error


_LONG_LINE = 200


def _with_caret(error: SyntaxError) -> list[str]:
    """The line of a syntax error, and a line with `^` below the fault; [] without a place, and for a long line."""
    line = (error.text or "").rstrip()
    text = line.lstrip()
    if not text or not error.offset or len(line) > _LONG_LINE:
        return []
    return [text, f"{' ' * (error.offset - 1 - len(line) + len(text))}^"]


_RUBY = re.compile(r"#\{[^{}]*\b(?:node|cookbook_name|recipe_name|new_resource)\b[^{}]*\}")


def _ruby_left(source: str, file: str) -> list[DocumentError]:
    """A warning for each text of a Python source with Ruby syntax, such as `#{node['a']}`; [] for none."""
    if "#{" not in source:
        return []
    nodes = list(ast.walk(ast.parse(source)))
    prose = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = [node for node in nodes if isinstance(node, ast.Constant) and node not in prose]
    found = ((text, _RUBY.search(text.value)) for text in texts if isinstance(text.value, str))
    return [
        DocumentError(
            f"{ruby[0]} is Ruby, and stored unchanged",
            file=file,
            line=text.lineno,
            column=text.col_offset + 1,
            kind=RUBY_LEFT,
            hint=f'write an f-string: f"{{{ruby[0][2:-1]}}}", and lazy(lambda: ...) around it where it may change',
        )
        for text, ruby in found
        if ruby
    ]


def line_in(error: BaseException, path: str) -> int | None:
    """The innermost line of a file in the traceback of an error; None if the traceback has no line of it.

    path: the file, as tracebacks name it
    """
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None


_SHARED_WORDS = ("name", "description", "default_attributes", "override_attributes", "normal_attributes")
_WORDS = {"role": (*_SHARED_WORDS, "env_run_lists"), "environment": (*_SHARED_WORDS, "cookbook_versions")}


class Script:
    """A role or an environment in Python: its fields, and a locator of their lines. The constructor runs the file once.

    `at` gives the place of a path, and `line_of` the line of the call that sets it, or None. `placed` makes an origin
    in a file, and `causes` explains a value.

    path:   the file, absolute
    file:   its name in messages, relative to the repository
    kind:   "role" or "environment"
    name:   the name of the role or environment
    tree:   field -> value, as the file set them; the last call of a field counts; {} for an empty file
    text:   its parsed source
    warnings: about Ruby syntax, such as `#{node['a']}`, in texts
    raises: DocumentError with the line, for any error of the script; the error itself is the `__cause__`.
            UnknownLayer, if no code may run
    """

    def __init__(self, path: pathlib.Path, file: str, kind: str, name: str) -> None:
        self.file = file
        self.kind = kind
        self.name = name
        self.tree: dict[str, Any] = {}
        self._path = str(path)
        self._lines: dict[Path, int] = {}
        source = _source_of(path, file)
        self.text = PythonText(file, source)
        self._run(source)
        self.warnings = _ruby_left(source, file)

    def at(self, path: Path) -> Origin:
        """The place that sets *path*: in the argument of the call if that is a literal, else the line of the call.

        Line 1 for a path that is not set.
        """
        line, rest = self._set_at(path)
        return self.placed(self.file, *((1, None) if line is None else self.text.place(line, rest)))

    def placed(self, file: str, line: int, column: int | None = None) -> Origin:
        """An origin at a line of *file*, with the kind and name of this role or environment."""
        return Origin(self.kind, self.name, file, line, column)

    def causes(self, path: Path, value: Any, finder: CauseFinder) -> tuple[Cause, ...]:
        """The causes of the value at *path*, from the data flow of the source; () if the path is not set.

        value:  the value at *path*
        finder: finds the causes of attributes that the value was computed from
        """
        line, rest = self._set_at(path)
        return () if line is None else causes_of_line(self, self.text, line, rest, value, finder)

    def line_of(self, path: Path) -> int | None:
        """The line of the call that set *path*, or a map above it; None for a path that is not set."""
        return self._set_at(path)[0]

    def _set_at(self, path: Path) -> tuple[int | None, Path]:
        """Returns (line of the call that set *path* or a map above it, or None; the rest of *path* below that map)."""
        known = (length for length in range(len(path), 0, -1) if path[:length] in self._lines)
        length = next(known, 0)
        return self._lines.get(path[:length]), path[length:]

    def _run(self, source: str) -> None:
        require_may_run(f"the {self.kind} {self.name} ({self.file})")
        code = compile_python(source, self._path, self.file)
        namespace = {"__name__": f"{self.kind}s.{self.name}", "__file__": self._path, **self._words()}
        try:
            exec(code, namespace)
        except DocumentError:
            raise
        except (Exception, SystemExit) as error:
            line = line_in(error, self._path)
            raise DocumentError(f"{type(error).__name__}: {error}", file=self.file, line=line) from error

    def _words(self) -> dict[str, Callable[..., None]]:
        words: dict[str, Callable[..., None]] = {word: self._word(word) for word in _WORDS[self.kind]}
        return {**words, **({"run_list": self._run_list} if self.kind == "role" else {"cookbook": self._cookbook})}

    def _word(self, word: str) -> Callable[[Any], None]:
        def put(value: Any, /) -> None:
            # The new map replaces all entries, so their lines go.
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
