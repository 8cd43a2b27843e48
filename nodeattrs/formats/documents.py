"""Documents: data files that know on which line they say what.

JSON, YAML and TOML come out as the same thing: a tree of exact dicts, exact lists
and JSON scalars, and a locator that gives the line of any path when asked, not
while reading. It knows nothing of roles or nodes, and never runs what it reads.

One document is held to limits (`core.budget`): 10 MB of UTF-8 text, 500 levels, and for
YAML a million values once its aliases are written out. Whatever is wrong with a file, the
error is a `DocumentError` with the file, the line and the column.

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
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from nodeattrs.core.budget import Budget, Limits
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats import flat_text, json_text, toml_text, yaml_text
from nodeattrs.formats.blobs import blob_name
from nodeattrs.formats.places import HALF_PAIR, Mark, ParsedText, Text
from nodeattrs.formats.yaml_text import Tags

MAX_BYTES = Limits().bytes
"""The default limit of a document's size."""

Syntax = Literal["json", "yaml", "toml", "env", "ini", "properties"]
SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)

_SYNTAX_OF: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
_LAYER_SYNTAX_OF: dict[str, Syntax] = {
    **_SYNTAX_OF,
    ".env": "env",
    ".ini": "ini",
    ".properties": "properties",
    ".jsonc": "json",
    ".code-workspace": "json",
}


_Error = TypeVar("_Error", bound=DocumentError)


class Document:
    """A data file that was read.

    file:     its name as messages show it
    tree:     what it says, as plain data; belongs to the caller
    warnings: what was read but is probably not meant: keys written twice
    levels:   how many maps and lists stand in one another at most
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
        """What it was read from."""
        return self._text.text

    @property
    def content(self) -> bytes:
        """The same in UTF-8."""
        return self._text.content

    @cached_property
    def digest(self) -> str:
        """The name that Git gives to its content."""
        return blob_name(self.content)

    @cached_property
    def _marks(self) -> Mark:
        return self._reading.marks()

    def place(self, path: Path) -> tuple[int, int]:
        """The line and column where *path* is written, or else its nearest parent.

        A leaf stands where its key stands, because that is the line to edit; where
        its value stands on a later line, the value's. What a YAML alias or merge key
        brings in stands where it is really written.

        cost: one scan of the text the first time, then one step a level
        """
        root = self._reading.root
        return self._text.place(root if not path and root is not None else self._marks.nearest(path).offset)

    def locator(self, kind: str, name: str, under: Path = ()) -> Locator:
        """This document as a locator, its paths counted from *under*."""
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
        """The error for what stands at *path*: for those who know what the document should say.

        >>> print(parse('a: 1\\nb: x', "c.yaml", "yaml").error("b must be a number", ("b",)))
        c.yaml:2:1: b must be a number
        """
        line, column = self.place(path)
        return kind(message, file=self.file, line=line, column=column, path=tuple(path), hint=hint, details=details)

    def __repr__(self) -> str:
        return f"<Document {self.file}>"


class DocumentLocator(NamedTuple):
    """The places of a document, counted from *under*."""

    document: Document
    kind: str
    name: str
    under: Path

    def at(self, path: Path) -> Origin:
        line, column = self.document.place((*self.under, *path))
        return Origin(self.kind, self.name, self.document.file, line, column)

    @property
    def unplaced(self) -> Origin:
        """The document, without a line: its text is not looked at for that."""
        return Origin(self.kind, self.name, self.document.file)


def read(
    path: pathlib.Path,
    file: str | None = None,
    budget: Budget | None = None,
    *,
    by_caller: bool = False,
) -> Document:
    """Read the data file at *path*; its suffix says which syntax.

    file:   its name in messages; *path* itself unless given
    budget: what is drawn on; one of its own unless given
    by_caller: the command line names the file: it may be a pipe, and without a known suffix its content is judged
    raises: DocumentError, also where there is no such file; TooMuch
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
    """The text of a regular file, up to the limit. raises: DocumentError"""
    return decoded(content_of(path, file), file)


def content_of(path: pathlib.Path, file: str, budget: Budget | None = None, pipes: bool = False) -> bytes:
    """What a regular file holds, which may grow meanwhile.

    budget: what is drawn on; one of its own unless given
    pipes:  it may also be a pipe, a terminal or a socket, such as /dev/stdin; it is read to its end, up to the limit
    raises: DocumentError, which comes from a FileNotFoundError where there is none; TooMuch
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
    """What standard input holds, up to the limit. raises: DocumentError; TooMuch"""
    budget = Budget("standard input")
    try:
        content: bytes = sys.stdin.buffer.read(budget.remaining("bytes") + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file="standard input") from error
    budget.bytes(len(content))
    return content


def decoded(content: bytes, file: str) -> str:
    """The text that a file holds. raises: DocumentError, where it is no UTF-8"""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        hint = "save the file as UTF-8"
        raise Text(file, before).error("this byte is not UTF-8 text", len(before), hint=hint) from error


def parse(text: str, file: str, syntax: Syntax, budget: Budget | None = None) -> Document:
    """Read a document from *text*.

    file:   its name in messages
    budget: what is drawn on; one of its own unless given
    raises: DocumentError; TooMuch
    """
    budget = budget or Budget(file)
    budget.bytes(len(text))
    return _parsed(text, file, syntax, budget)


def syntax_of(path: str | os.PathLike[str]) -> Syntax | None:
    """The syntax of a layer's file by its name: a suffix, `.env` or `.env.local`; None where the name says nothing.

    >>> syntax_of("conf.d/site.ini"), syntax_of(".env.production"), syntax_of("group_vars/all")
    ('ini', 'env', None)
    """
    name = os.path.basename(os.fspath(path)).lower()
    if name == ".env" or name.startswith(".env."):
        return "env"
    return _LAYER_SYNTAX_OF.get(os.path.splitext(name)[1])


def syntax_in(text: str, file: str) -> Syntax:
    """The syntax of a text whose name does not say it, by its first line that is no comment.

    After `[name]` or `name = value` it is JSON, TOML, env or INI, after any other bracket JSON or YAML: the first
    of these that can read all of it, and the first where none can. Anything else is YAML.

    >>> syntax_in("[core]\\n  editor = vi -f", ".gitconfig"), syntax_in('{"a": 1}', "/dev/stdin")
    ('ini', 'json')
    """
    lines = map(str.strip, text.removeprefix("\ufeff").splitlines())
    first = next((line for line in lines if line and line[0] not in "#;"), "")
    likely: tuple[Syntax, ...] = ("yaml",)
    if _ENTRY.match(first):
        likely = ("toml", "env", "ini")
    elif first[:1] in ("{", "["):
        likely = ("json", "toml", "ini", "yaml") if _SECTION.match(first) else ("json", "yaml")
        likely = ("json",) if _OBJECT.match(text) else likely  # broken JSON may be YAML
    return next((one for one in likely if _can_read(one, text, file)), likely[0])


_OBJECT = re.compile(r'\ufeff?\s*\{\s*"')
_SECTION = re.compile(r"\[\[?[^\[\]{},:]+\]\]?\s*(?:[#;].*)?$")
_ENTRY = re.compile(r"(?:export\s+)?[^\s:={}\[\]][^:={}]*=")


def _can_read(syntax: Syntax, text: str, file: str) -> bool:
    try:
        parse_all(text, file, syntax, Budget(file), {})
    except DocumentError:
        return False
    return True


def parse_all(text: str, file: str, syntax: Syntax, budget: Budget, tags: Tags) -> list[Document]:
    """Read each document of a text that is to be a layer: YAML may hold several, and other tags than its own.

    tags:   see `yaml_text.read_all`
    raises: DocumentError; TooMuch
    """
    source = _source(text, file)
    if syntax != "yaml":
        return [Document(source, _reading(source, syntax, budget))]
    return [Document(source, reading) for reading in yaml_text.read_all(source, budget, tags)]


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
    match syntax:
        case "json":
            return json_text.read(source, budget)
        case "yaml":
            return yaml_text.read(source, budget)
        case "toml":
            return toml_text.read(source, budget)
        case "env" | "ini" | "properties":
            return flat_text.read(source, budget, syntax)
    raise BadArgument(f"no such syntax: {syntax!r}", hint=f"write {', '.join(SYNTAXES[:-1])} or {SYNTAXES[-1]}")
