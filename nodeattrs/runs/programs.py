"""Python files of a repository: read, compiled, and run with the words that they may use.

What the words mean is for those who run them to say; what such a file sets is judged elsewhere.
"""

from __future__ import annotations

import ast
import linecache
import pathlib
import re
from collections.abc import Iterator
from types import CodeType, TracebackType
from typing import Any

from nodeattrs.core.code import may_run, require_may_run
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import RUBY_LEFT
from nodeattrs.texts import documents


class Program:
    """A Python file, read and compiled once however often it runs.

    path:     where it lies, as tracebacks name it
    code:     what runs
    warnings: what is probably not meant
    is_empty: it has nothing but remarks: it need not run
    names:    all that its code mentions, but for its own variables

    file:   its name in messages, relative to the repository
    raises: DocumentError
    """

    __slots__ = ("_lines", "code", "is_empty", "names", "path", "warnings")

    def __init__(self, path: pathlib.Path, file: str) -> None:
        source = source_of(path, file)
        self.path = str(path)
        self.code: CodeType = compiled(source, self.path, file)
        self.names = frozenset(_names(self.code))
        self.warnings = ruby_left(source, file)
        self.is_empty = all(line.lstrip()[:1] in ("", "#") for line in source.splitlines())
        self._lines = (len(source), None, source.splitlines(keepends=True), self.path)

    def run(self, namespace: dict[str, Any]) -> None:
        """Run it. raises: whatever it raises"""
        if not may_run():
            require_may_run(self.path)
        # Tracebacks and explanations read the text that really ran, not what the file says later.
        linecache.cache[self.path] = self._lines
        exec(self.code, namespace)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)


def source_of(path: pathlib.Path, file: str) -> str:
    """The text of a Python file. raises: DocumentError; TooMuch"""
    content = documents.content_of(path, file)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        raise DocumentError(f"byte {error.start} is not UTF-8 text", file=file, hint=hint) from error


def compiled(source: str, path: str, file: str) -> Any:
    """The code of a Python source, its tracebacks pointing into *path*.

    raises: DocumentError with line and column
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
    """The line of a syntax error, and below it where it is."""
    line = (error.text or "").rstrip()
    text = line.lstrip()
    if not text or not error.offset or len(line) > _LONG_LINE:
        return []
    return [text, f"{' ' * (error.offset - 1 - len(line) + len(text))}^"]


_RUBY = re.compile(r"#\{[^{}]*\b(?:node|cookbook_name|recipe_name|new_resource)\b[^{}]*\}")


def ruby_left(source: str, file: str) -> list[DocumentError]:
    """A warning for each text of a Python source in which Ruby's `#{node[...]}` was left: it is stored as it stands."""
    if "#{" not in source:
        return []
    nodes = list(ast.walk(ast.parse(source)))
    prose = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = [node for node in nodes if isinstance(node, ast.Constant) and node not in prose]
    found = ((text, _RUBY.search(text.value)) for text in texts if isinstance(text.value, str))
    return [
        DocumentError(
            f"{ruby[0]} is Ruby, and stored as it stands",
            file=file,
            line=text.lineno,
            column=text.col_offset + 1,
            kind=RUBY_LEFT,
            hint=f'write an f-string: f"{{{ruby[0][2:-1]}}}", and lazy(lambda: ...) around it where it may change',
        )
        for text, ruby in found
        if ruby
    ]


def line_in(traceback: TracebackType | None, path: str) -> int | None:
    """The innermost line of *path* that a traceback went through."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
