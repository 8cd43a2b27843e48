"""Documents: parsed data files that give the line of each value.

JSON, YAML, TOML, .env, .ini and .properties all become a `Document`. It has a tree of dicts, lists and JSON scalars,
and also gives the line of any path. Lines are looked for only when they are needed. Nothing in a file runs.

The limits of `core.budget` hold for each document: 10 MB of UTF-8 text and 500 levels. YAML may have a million values;
a value that an alias repeats counts each time. A fault in a file is a `DocumentError` with the file, the line and the
column.

    >>> document = parse('{"name": "web",\\n "port": 80}', "roles/web.json", "json")
    >>> document.tree
    {'name': 'web', 'port': 80}
    >>> print(document.locator("role", "web").at(("port",)))
    roles/web.json:2 (role web)
"""

from __future__ import annotations

import os
import pathlib
import re
import stat
import sys
from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats.blobs import blob_name
from nodeattrs.formats.places import HALF_PAIR, Mark, ParsedText, Text
from nodeattrs.formats.tags import Tags

Syntax = Literal["json", "yaml", "toml", "env", "ini", "properties", "git", "systemd", "npm", "hcl"]
SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)

_SYNTAX_OF: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
_LAYER_SYNTAX_OF: dict[str, Syntax] = {
    **_SYNTAX_OF,
    ".env": "env",
    ".ini": "ini",
    ".properties": "properties",
    ".jsonc": "json",
    ".code-workspace": "json",
    ".tfvars": "hcl",
}
_PARSERS: dict[Syntax, str] = {
    "json": "json_text",
    "yaml": "yaml_text",
    "toml": "toml_text",
    "env": "flat_text",
    "ini": "flat_text",
    "properties": "flat_text",
    "git": "flat_text",
    "systemd": "flat_text",
    "npm": "flat_text",
    "hcl": "hcl_text",
}
"""Syntax -> the module of this package that parses it, imported when the first text in that syntax is read."""
_OF_SEVERAL = "flat_text"
"""The module that parses several syntaxes; its `read` takes the syntax, too."""


_Error = TypeVar("_Error", bound=DocumentError)


class Document:
    """A parsed data file. `read` and `parse` make it; do not call the constructor.

    file:     its name in messages
    tree:     its value as plain data; an empty file is {} or null. The caller may change it
    warnings: faults that do not stop reading, such as a key written twice
    levels:   the depth of *tree* is at most this many maps and lists

    `place` gives the line and column of a path, or of the nearest path above. `locator` returns an object that makes
    origins with lines. `error` returns an error with a line, and does not raise it. `text` is the text, and `digest`
    its id as a Git blob.
    """

    def __init__(self, text: Text, reading: ParsedText) -> None:
        self.file = text.file
        self.tree: Any = reading.tree
        self.warnings = reading.warnings
        self.levels = reading.levels
        self._text = text
        self._reading = reading

    @property
    def text(self) -> str:
        """The text of the file."""
        return self._text.text

    @cached_property
    def digest(self) -> str:
        """The id of the Git blob with its text in UTF-8."""
        return blob_name(self._text.content)

    @cached_property
    def _marks(self) -> Mark:
        return self._reading.marks()

    def place(self, path: Path) -> tuple[int, int]:
        """The line and column of *path*, from 1. A path that is not written has those of the nearest path above.

        A scalar has the place of its key, or its own if it is on a later line. A value that a YAML alias or merge key
        repeats has the place where it is written.

        cost: one scan of the text the first time, then one step a level
        """
        root = self._reading.root
        return self._text.place(root if not path and root is not None else self._marks.nearest(path).offset)

    def locator(self, kind: str, name: str, under: Path = ()) -> Locator:
        """A locator for this document. Its origins have *kind* and *name*; its paths count from *under*."""
        return DocumentLocator(self, kind, name, tuple(under))

    def error(
        self,
        message: str,
        path: Path = (),
        *,
        hint: str | None = None,
        details: Iterable[str] = (),
        kind: type[_Error] | type[DocumentError] = DocumentError,
    ) -> DocumentError:
        """Make, not raise, the error about the value at *path*, with its line.

        kind: the class of the error

        >>> print(parse('a: 1\\nb: x', "c.yaml", "yaml").error("b must be a number", ("b",)))
        c.yaml:2:1: b must be a number
        """
        line, column = self.place(path)
        return kind(message, file=self.file, line=line, column=column, path=tuple(path), hint=hint, details=details)

    def __repr__(self) -> str:
        return f"<Document {self.file}>"


class DocumentLocator(NamedTuple):
    """Finds the line of a path in a document; `Document.locator` makes it.

    document: the document
    kind:     the `kind` of the origins that `at` returns
    name:     the `name` of these origins
    under:    a path in the document. The paths that `at` takes begin there

    `at` never fails: for a path that the document does not have, it returns the line of the nearest path above.
    `unplaced` is an origin without a line.
    """

    document: Document
    kind: str
    name: str
    under: Path

    def at(self, path: Path) -> Origin:
        line, column = self.document.place((*self.under, *path))
        return Origin(self.kind, self.name, self.document.file, line, column)

    @property
    def unplaced(self) -> Origin:
        """An origin of the document without a line; the text is not scanned."""
        return Origin(self.kind, self.name, self.document.file)


def read(
    path: pathlib.Path,
    file: str | None = None,
    budget: Budget | None = None,
    *,
    by_caller: bool = False,
) -> Document:
    """Read and parse the file at *path*: JSON, YAML or TOML, by its suffix. It is read again at each call.

    file:      its name in messages; None: *path*
    budget:    the limits, which other files may count against as well; None: limits for this file alone
    by_caller: True: the caller named the file, and not a repository. Then it may be a pipe, and the content of a file
               with an unknown suffix decides its syntax
    raises:    DocumentError, also for a file that does not exist, and for another suffix without *by_caller*; TooMuch
    """
    name = path.as_posix() if file is None else file
    syntax = _SYNTAX_OF.get(path.suffix.lower())
    if syntax is None and not by_caller:
        raise DocumentError("this kind of file is not known", file=name, hint=f"known are {', '.join(_SYNTAX_OF)}")
    budget = budget or Budget(name)
    content = content_of(path, name, budget, by_caller)
    text = decoded(content, name)
    return _parsed(text, name, syntax or syntax_in(text, name), budget)


def text_of(path: pathlib.Path, file: str) -> str:
    """The text of a regular file in UTF-8; a byte order mark stays. raises: DocumentError; TooMuch, over the limit"""
    return decoded(content_of(path, file), file)


def content_of(path: pathlib.Path, file: str, budget: Budget | None = None, pipes: bool = False) -> bytes:
    """The content of a regular file.

    file:   its name in messages
    budget: the limits, which other files may count against as well; None: limits for this file alone
    pipes:  True: the path may also be a pipe, a terminal or a socket
    raises: DocumentError, for a file that cannot be read; its cause is a FileNotFoundError if the file does not exist.
            TooMuch, for a file over the limit
    """
    budget = budget or Budget(file)
    most = budget.remaining("bytes")
    try:
        mode = os.stat(path).st_mode
        is_pipe = pipes and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode))
        if not (stat.S_ISREG(mode) or is_pipe):
            raise DocumentError("is not a regular file", file=file)
        with open(path, "rb", buffering=0) as stream:  # unbuffered it is asked less about itself
            size = min(os.fstat(stream.fileno()).st_size, most)  # asked for more, Python makes room for all of it first
            content = stream.read(size + 1)
            if len(content) != size:
                while more := stream.read(most + 1 - len(content)):
                    content += more
    except DocumentError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"cannot be read: {reason}", file=file) from error
    budget.bytes(len(content))
    return content


def standard_input() -> bytes:
    """Read standard input to its end. raises: DocumentError; TooMuch, for more than the limit"""
    budget = Budget("standard input")
    try:
        content: bytes = sys.stdin.buffer.read(budget.remaining("bytes") + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file="standard input") from error
    budget.bytes(len(content))
    return content


def decoded(content: bytes, file: str) -> str:
    """The content of a file as text, of any size. A byte order mark stays: the text then begins with U+FEFF.

    file:   its name in messages
    raises: DocumentError, with the line, for a byte that is not UTF-8
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        hint = "save the file as UTF-8"
        raise Text(file, before).error("this byte is not UTF-8 text", len(before), hint=hint) from error


def parse(text: str, file: str, syntax: Syntax, budget: Budget | None = None) -> Document:
    """Parse a text with one document. A byte order mark is dropped. An empty text is {} or null, but in JSON an error.

    file:   its name in messages
    budget: limits that other texts may share (default: its own)
    raises: DocumentError, also for a second YAML document; TooMuch
    """
    budget = budget or Budget(file)
    budget.bytes(len(text))
    return _parsed(text, file, syntax, budget)


def syntax_of(path: str | os.PathLike[str]) -> Syntax | None:
    """The syntax of a file by its name: by a suffix, or as `.env` or `.env.local`; None for any other name.

    >>> syntax_of("conf.d/site.ini"), syntax_of(".env.production"), syntax_of("group_vars/all")
    ('ini', 'env', None)
    """
    name = os.path.basename(os.fspath(path)).lower()
    if name == ".env" or name.startswith(".env."):
        return "env"
    return _LAYER_SYNTAX_OF.get(os.path.splitext(name)[1])


def syntax_in(text: str, file: str) -> Syntax:
    """The syntax of a text by its content. The first line that is no comment decides which syntaxes are tried.

    For `[name]` these are JSON, TOML, INI and YAML; for `name = value` TOML, env and INI. A text that begins like an
    object of JSON is JSON; another bracket may be JSON or YAML. The result is the first syntax that can
    parse the whole text; if none can, the first one that was tried. For any other line the result is YAML.

    file: the name in messages; it does not decide

    >>> syntax_in("[core]\\n  editor = vi -f", ".gitconfig"), syntax_in('{"a": 1}', "/dev/stdin")
    ('ini', 'json')
    """
    lines = map(str.strip, text.removeprefix("\ufeff").splitlines())
    first = next((line for line in lines if line and line[0] not in "#;"), "")
    likely: tuple[Syntax, ...] = ("yaml",)
    if re.match(_ENTRY, first):
        likely = ("toml", "env", "ini")
    elif first[:1] in ("{", "["):
        likely = ("json", "toml", "ini", "yaml") if re.match(_SECTION, first) else ("json", "yaml")
        likely = ("json",) if re.match(_OBJECT, text) else likely  # broken JSON may be YAML
    return next((one for one in likely if _can_read(one, text, file)), likely[0])


_OBJECT = r'\ufeff?\s*\{\s*"'
_SECTION = r"\[\[?[^\[\]{},:]+\]\]?\s*(?:[#;].*)?$"
_ENTRY = r"(?:export\s+)?[^\s:={}\[\]][^:={}]*="


def _can_read(syntax: Syntax, text: str, file: str) -> bool:
    try:
        parse_all(text, file, syntax, Budget(file), {})
    except DocumentError:
        return False
    return True


def parse_all(text: str, file: str, syntax: Syntax, budget: Budget, tags: Tags) -> list[Document]:
    """Parse all documents of a text: exactly one, or for YAML at least one. YAML tags that are not its own are allowed.

    text:   the text
    file:   the name in messages
    budget: the limits; other texts may count against them as well
    tags:   tag, such as "!Ref" -> a function of the value under it; a value under another tag becomes a `Tagged`
    raises: DocumentError; TooMuch
    """
    source = _source(text, file)
    if syntax != "yaml":
        return [Document(source, _reading(source, syntax, budget))]
    return [Document(source, reading) for reading in _parser("yaml").read_all(source, budget, tags)]


def git_parts(text: str, file: str, budget: Budget) -> list[Document]:
    """Split a config of Git behind each line that includes a file; returns the parts as documents, at least one.

    raises: DocumentError, TooMuch
    """
    source = _source(text, file)
    return [Document(source, reading) for reading in _parser("git").git_parts(source, budget)]


def _parsed(text: str, file: str, syntax: Syntax, budget: Budget) -> Document:
    source = _source(text, file)
    return Document(source, _reading(source, syntax, budget))


def _source(text: str, file: str) -> Text:
    source = Text(file, text.removeprefix("\ufeff"))
    half = None if text.isascii() else HALF_PAIR.search(source.text)
    if half:
        raise source.error("half of a surrogate pair, which no file can hold", half.start())
    return source


def _reading(source: Text, syntax: Syntax, budget: Budget) -> ParsedText:
    if syntax not in _PARSERS:
        raise BadArgument(f"no such syntax: {syntax!r}", hint=f"write {', '.join(SYNTAXES[:-1])} or {SYNTAXES[-1]}")
    limits = (budget, syntax) if _PARSERS[syntax] == _OF_SEVERAL else (budget,)
    reading: ParsedText = _parser(syntax).read(source, *limits)
    return reading


def _parser(syntax: Syntax) -> Any:
    """The module that parses a syntax."""
    return import_module(f"nodeattrs.formats.{_PARSERS[syntax]}")
