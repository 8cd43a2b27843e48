"""Data sources: data files, each parsed once in a process, and data functions.

A source gives the value of a key with its expressions filled in, and the lines of the value. It knows no hierarchy and
merges nothing.
"""

from __future__ import annotations

import errno
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.codes import Kind
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.sensitive import withheld
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera import ruby_yaml
from nodeattrs.dialects.hiera.codes import (
    BAD_DATA_VALUE,
    DATA_NOT_A_HASH,
    DATA_PARSE_ERROR,
    NEVER_DECRYPTED,
    UNREADABLE_FILE,
)
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, HieraError, UnsetVariable, bad_data
from nodeattrs.dialects.hiera.expressions import Plan, Resolver, text_plan, value_plan, variables_in
from nodeattrs.dialects.hiera.eyaml import never_decrypted_paths
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, split_key
from nodeattrs.dialects.hiera.values import texts_in
from nodeattrs.errors import DocumentError, TooMuch
from nodeattrs.formats import json_text
from nodeattrs.formats.documents import Document, content_of, decoded
from nodeattrs.formats.encrypted import encrypted_whole
from nodeattrs.formats.places import HALF_PAIR, Mark, Text

_NEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*+\n?|/\*', re.DOTALL)
_INK = re.compile(r"[^\n]")


def _without_comments(text: str) -> str:
    """A JSON text with its comments replaced by blanks, so that offsets and lines stay. cost: one scan

    A comment that does not end stays, and is an error of the parser.

    >>> _without_comments('{"a": "/*x*/" /* y */} // no line break, no comment')
    '{"a": "/*x*/"        } // no line break, no comment'
    """
    out: list[str] = []
    at = 0
    while found := _NEXT.search(text, at):
        end = found.end()
        if found[0] == "/*":
            end = text.find("*/", end) + 2
            if end < 2:
                break
        elif found[0][0] == "/" and found[0][-1] != "\n":
            break
        whole = text[found.start() : end]
        out += (text[at : found.start()], whole if whole.startswith('"') else _INK.sub(" ", whole))
        at = end
    return "".join(out) + text[at:]


class _ReadDocument(NamedTuple):
    """A parsed data file.

    document: its tree, with the line of each value
    unfit:    key -> (words for a part of its value that data may not hold, the offset of the part in the text)
    text:     the text of the file
    twice:    the keys of the root that are written more than once
    """

    document: Document
    unfit: dict[str, tuple[str, int]]
    text: Text
    twice: frozenset[str] = frozenset()


_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}
"""The errors of the operating system for which Puppet, too, says that there is no file."""


def read_document(
    path: pathlib.Path, name: str, syntax: Literal["yaml", "json"], *, marks: bool = False
) -> _ReadDocument:
    """Read a file as Puppet reads it. Its tree may be any value: the caller checks for a map.

    An empty YAML file has the tree None; an empty JSON file raises BadData. A file with the same name and content is
    parsed once in a process: callers must not change the tree, since they share it.
    name:   the name in messages
    marks:  True: the line of each value is noted while YAML is parsed. False: the first question for a line parses the
            text again
    raises: FileNotFoundError; BadData with file and line, for a file that cannot be read or parsed
    cost:   one read of the file
    """
    try:
        content = content_of(path, name)
    except DocumentError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _NOT_THERE:
            raise FileNotFoundError(str(error)) from None
        raise _bad(DATA_PARSE_ERROR if isinstance(error, TooMuch) else UNREADABLE_FILE, error) from error
    try:
        return CACHE.get(
            (name, syntax, in_force(), sha256(content).digest()), partial(_parsed, content, name, syntax, marks)
        )
    except DocumentError as error:
        raise _bad(DATA_PARSE_ERROR, error) from error


def _bad(kind: Kind, error: DocumentError) -> BadData:
    place = {"file": error.file, "line": error.line, "column": error.column}
    return BadData(error.reason, kind=kind, hint=error.hint, details=error.details, **place)


def _parsed(content: bytes, name: str, syntax: Literal["yaml", "json"], marks: bool) -> _ReadDocument:
    text = Text(name, decoded(content, name).removeprefix("\ufeff"))
    half = None if text.text.isascii() else HALF_PAIR.search(text.text)
    if half:
        raise text.error("half of a surrogate pair, which no file can hold", half.start())
    if syntax == "json":  # as Ruby reads it: comments are allowed, and a number that is too large is infinite
        source = Text(name, _without_comments(text.text)) if "/" in text.text else text
        return _ReadDocument(Document(source, json_text.read(source, Budget(name), number=float)), {}, text)
    read = ruby_yaml.read(text, marks=marks)
    return _ReadDocument(Document(text, read.reading), read.unfit, text, read.twice)


def _roots(text: str) -> Iterator[str]:
    """The variables that a text names, without the steps below them."""
    for name in variables_in(text):
        with suppress(BadLookup):
            yield str(split_key(name)[0])


class DataSource:
    """The data of one level at one location. The base of DataFile, FunctionData and RubyData.

    tree: key -> value as it is written; None if the keys are not known, as for a data function

    `value` gives the value of a key: ABSENT if the key is not set, `Unknown` if it cannot be read. `locator` gives its
    lines, and `overwritten` earlier values of the same key.
    """

    tree: dict[str, Any] | None = None

    def value(self, key: str, resolver: Resolver) -> Any:
        """The value of a key with its expressions filled in. ABSENT: the key is not set. `Unknown`: it cannot be read.

        Callers must not change the value.
        resolver: fills in the variables and lookups in expressions
        """
        raise NotImplementedError

    def locator(self, key: str, entry: str) -> Locator:
        """A locator of the lines of the key, and of each path in its value. entry: the name of the level"""
        raise NotImplementedError

    def overwritten(self, key: str) -> Sequence[DataSource]:
        """The earlier values of a key that a file has more than once, the last one first; () for none."""
        return ()


@dataclass(frozen=True, slots=True)
class _OverwrittenValue(DataSource):
    """A value that does not count, because the same file sets its key again further down.

    data:  the value, with expressions as they are written
    mark:  the place of the value in the text
    text:  the text of the file
    entry: the name of the level; `locator` sets it

    `at` gives the line of a path in the value, as every locator does.
    """

    data: Any
    mark: Mark
    text: Text
    entry: str = ""

    def value(self, key: str, resolver: Resolver) -> Any:
        return self.data

    def locator(self, key: str, entry: str) -> Locator:
        return replace(self, entry=entry)

    def at(self, path: Path) -> Origin:
        """The line of a path in the value."""
        line, column = self.text.place(self.mark.nearest(path).offset)
        return Origin("hiera", self.entry, self.text.file, line, column)


class DataFile(DataSource):
    """One data file, already parsed. Use `file_source` to make one; a lookup calls `value`.

    read:      the parsed file
    tree:      key -> value, with expressions as they are written
    decrypt:   a function that returns the decrypted value; None: values are not decrypted
    sensitive: paths whose values become secrets; the first step is the key
    file:      its name in messages
    document:  the parsed document, with the line of each value
    warnings:  keys written twice, keys that no lookup finds, and encrypted texts that are never decrypted

    The instance keeps decrypted values, and how to fill in the expressions of each value. It reads no file. The value
    of a key that is not set is ABSENT. `locator` gives the lines of a value, `overwritten` the earlier values of a key
    that is written twice; () for none. `is_constant` says whether a value is the same for every node.
    """

    tree: dict[str, Any]

    def __init__(
        self,
        read: _ReadDocument,
        tree: dict[str, Any],
        decrypt: Callable[[Any], Any] | None = None,
        sensitive: Iterable[Path] = (),
    ) -> None:
        self.file = read.document.file
        self.tree = tree
        self.document = read.document
        self.warnings = [*read.document.warnings, *self._never_decrypted(read)]
        self._unfit = read.unfit
        self._text = read.text
        self._twice = read.twice
        self._overwritten: dict[str, tuple[_OverwrittenValue, ...]] = {}
        self._plans: dict[str, Plan | None] = {}
        self._decrypt = decrypt
        self._sensitive = sensitive
        self._clear: dict[str, Any] = {}

    def _never_decrypted(self, read: _ReadDocument) -> Iterator[BadData]:
        for path in never_decrypted_paths(self.tree) if "ENC[" in read.text.text else ():
            message = f"{spell(path)} is encrypted with line breaks inside, and never decrypted, by Puppet either"
            yield bad_data(self.document, NEVER_DECRYPTED, message, path, "write > (a folded block) in place of |")

    def value(self, key: str, resolver: Resolver) -> Any:
        """The value of a key, decrypted and with its expressions filled in, or ABSENT. Callers must not change it.

        cost:   one look at the map, and one visit for each part that has expressions
        raises: BadData, for a value that data may not hold, or that cannot be decrypted; the errors of expressions
        """
        value = self.tree.get(key, ABSENT)
        if self._decrypt is not None and value is not ABSENT:
            value = self._decrypted(key, value, self._decrypt)
        if self._unfit and key in self._unfit:
            what, offset = self._unfit[key]
            line, column = self._text.place(offset)
            raise BadData(
                f"{key!r} holds {'a value' if self._has_secrets(key) else what}, which data may not hold",
                kind=BAD_DATA_VALUE,
                file=self.file,
                line=line,
                column=column,
                hint="put it in quotes",
            )
        plan = self._plan(key, value)
        if plan is not None:
            try:
                value = plan(resolver)
            except UnsetVariable as error:
                raise self._unset(key, error) from None
            except HieraError as error:
                if self._has_secrets(key) and not isinstance(error, BadData):  # its message quotes the text
                    error.message, error.details, error.hint = f"an expression in {key!r} fails", (), None
                place = f"needed by {key!r} in {self.file}:{self.document.place((key,))[0]}"
                if place not in error.details:
                    error.details = (*error.details, place)
                raise
        return self._withheld(key, value)

    def _unset(self, key: str, error: UnsetVariable) -> BadData:
        """The error with the place of the text that names the variable. For a secret it does not name the variable."""
        texts = texts_in(self.tree[key], (key,))
        path = next((path for path, text in texts if error.variable in _roots(text)), (key,))
        message = f"{error.message}, and {spell(path)} needs it"
        if self._has_secrets(key):
            message = f"a variable is not set, and {key} needs it"
        return bad_data(self.document, error.kind, message, path, error.hint)

    def _withheld(self, key: str, value: Any) -> Any:
        """The value of a key with its sensitive parts as secrets, also where an expression gave them."""
        if not self._sensitive or value is ABSENT or key == LOOKUP_OPTIONS:
            return value
        return withheld(value, self._sensitive, (key,))

    def _has_secrets(self, key: str) -> bool:
        """Whether the value of a key, or a part of it, is sensitive."""
        return any(path[:1] in ((), ("*",), (key,)) for path in self._sensitive)

    def is_constant(self, key: str) -> bool:
        """Whether the value of a key is the same for every node: it has no expression and is not decrypted."""
        value = self.tree.get(key, ABSENT)
        return value is ABSENT or (self._decrypt is None and self._plan(key, value) is None)

    def _plan(self, key: str, value: Any) -> Plan | None:
        """The plan that fills in the expressions of a value, made once; None where it has none."""
        kind = type(value)
        if kind is str:
            return text_plan(value) if "%{" in value else None
        if kind is not dict and kind is not list:
            return None
        if key not in self._plans:
            self._plans[key] = value_plan(value)
        return self._plans[key]

    def _decrypted(self, key: str, value: Any, decrypt: Callable[[Any], Any]) -> Any:
        """The decrypted value of a key, kept; its expressions are filled in after that, as in Puppet."""
        if key not in self._clear:
            try:
                self._clear[key] = decrypt(value)
            except BadLookup as error:
                line, column = self.document.place((key,))
                raise BadData(f"{key!r} cannot be decrypted: {error.message}", kind=error.kind, file=self.file,
                              line=line, column=column, hint=error.hint) from None  # fmt: skip
        return self._clear[key]

    def locator(self, key: str, entry: str) -> Locator:
        """A locator of the lines of the key, and of each path in its value."""
        return self.document.locator("hiera", entry, (key,))

    def overwritten(self, key: str) -> Sequence[DataSource]:
        """The earlier values of a key that the file has more than once, the last one first; () for another key.

        cost: for a key with earlier values, one more parse of the file
        """
        if key not in self._twice:
            return ()
        if key not in self._overwritten:
            others = ruby_yaml.overwritten(self._text, key)
            made = tuple(_OverwrittenValue(self._withheld(key, value), mark, self._text) for value, mark in others)
            self._overwritten.setdefault(key, made)
        return self._overwritten[key]


def file_source(
    path: pathlib.Path,
    name: str,
    syntax: Literal["yaml", "json"],
    decrypt: Callable[[Any], Any] | None = None,
    refuse: Callable[[DocumentError], None] | None = None,
    sensitive: tuple[Path, ...] = (),
) -> DataFile | FunctionData | None:
    """The data source for the file at *path*; None where there is no file.

    A file that is encrypted as a whole gives `Unknown` for each key. A YAML file whose root is not a map has no keys.
    name:      its name in messages
    decrypt:   a function that decrypts a value of the file; None: values are not decrypted
    refuse:    called with the error for a YAML file whose root is not a map; null and false are allowed
    sensitive: paths whose values become secrets; the first step is the key
    raises:    BadData, for a file that cannot be parsed, or JSON that is not an object
    cost:      one read; without *decrypt*, scopes share the result for equal content
    """
    try:
        read = read_document(path, name, syntax)
    except FileNotFoundError:
        return None
    tree = read.document.tree
    reason = encrypted_whole(read.text.text)
    if reason is not None:
        return unread_source(name, f"{name} is encrypted: {reason}")
    if not isinstance(tree, dict):
        if syntax == "json":
            raise bad_data(read.document, DATA_NOT_A_HASH, "a JSON data file must be an object")
        if refuse is not None and tree is not None and tree is not False:
            refuse(bad_data(read.document, DATA_NOT_A_HASH, "is not a map, and so has no keys"))
        tree = {}
    if decrypt is not None:  # the clear text is only for the caller that has the keys
        return DataFile(read, tree, decrypt, sensitive)
    return CACHE.get((read.document, sensitive), lambda: DataFile(read, tree, None, sensitive))


class FunctionData(DataSource):
    """The source for a data function in Python, which is called for each key.

    It is also the source for a level that is left out or cannot be read: its *ask* then always returns `Unknown`.
    name:      the name of the function
    ask:       called with a key. It raises KeyError for a key without a value, which `value` turns into ABSENT. It
               returns `Unknown` for a key that cannot be read
    sensitive: paths whose values become secrets; the first step is the key
    file:      "function NAME", in place of a file name

    `value` fills in the expressions of each value. Nothing is kept: each `value` calls the function. `locator` names
    the function, without a line.
    """

    def __init__(self, name: str, ask: Callable[[str], Any], sensitive: Iterable[Path] = ()) -> None:
        self.file = f"function {name}"
        self._name = name
        self._ask = ask
        self._sensitive = sensitive

    def value(self, key: str, resolver: Resolver) -> Any:
        """The value of a key with its expressions filled in, ABSENT, or `Unknown`. raises: the function's errors"""
        try:
            value = self._ask(key)
        except KeyError:
            return ABSENT
        if type(value) is Unknown:
            return value
        plan = value_plan(value)
        return withheld(value if plan is None else plan(resolver), self._sensitive, (key,))

    def locator(self, key: str, entry: str) -> Locator:
        """The function as the origin of a value, without a line."""
        return Origin("data function", self._name)


SKIPPED = FunctionData("skipped", dict[str, Any]().__getitem__)
"""A placeholder for a level that an option leaves out."""


def unread_source(name: str, reason: str) -> FunctionData:
    """The source for a level that cannot be read: it gives `Unknown` with the reason for each key."""
    unknown = Unknown(name, reason)
    return FunctionData(name, lambda key: unknown)
