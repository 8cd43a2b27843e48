"""Parsers of texts with one entry a line: .env, .ini and Java's .properties. All values are text.

A key without a value is null. If a key is written twice, the last value counts, and there is a warning. `${HOME}` stays
as it is written, and a dot in a key is part of its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.formats.places import HALF_PAIR, Mark, ParsedText, Text


class _Entry(NamedTuple):
    """A key with its value. value: a text, None, or {} for a section; offset: of its key"""

    path: Path
    value: Any
    offset: int


def read(text: Text, budget: Budget, syntax: str) -> ParsedText:
    """Parse a text with one entry a line; an empty text is {}.

    syntax: "env": `KEY=value`, `export KEY='as it is'`, `KEY="with \\n" # and a comment`
            "ini": a map for each section, parsed as by Python's configparser. Keys keep their case; keys before the
            first section are beside the sections
            "properties": as Java reads them
    raises: DocumentError, also for a section and a key of one name; TooMuch
    """
    tree: dict[str, Any] = {}
    root, warnings = Mark(0), []
    for path, value, offset in _ENTRIES[syntax](text):
        budget.values(1)
        *above, key = path
        holder: Any = tree[above[0]] if above else tree
        mark = root.parts[above[0]] if above else root
        before = mark.parts.get(key)
        if before is not None and isinstance(value, dict) != isinstance(holder[key], dict):
            hint = "give one of the two another name"
            raise text.error(f"{key} is a section and a key", offset, path=path, hint=hint)
        if before is None:
            holder[key], mark.parts[key] = value, Mark(offset)
        elif not isinstance(value, dict):  # a section that comes again goes on
            warnings.append(text.repeated(path, before.offset, offset))
            mark.parts[key] = Mark(offset, before=(holder[key], before))
            holder[key] = value
    return ParsedText(tree, lambda: root, tuple(warnings), 2)


# --- .env

_ENV = re.compile(
    r"""[^\S\n]*(?:export[^\S\n]+)?(?:'([^'\n]+)'|([^=\#\s'"][^=\#\s]*))[^\S\n]*   # 1, 2: the key
        (?:(=)(?:[^\S\n]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|([^\n]*)))?""",  # 3: there is a value, 4, 5, 6
    re.VERBOSE | re.DOTALL,
)
_ENV_BLANK = re.compile(r"\s*(?:#[^\n]*\s*)*")
_REST = re.compile(r"[^\S\n]*(?:#[^\n]*)?(?:\n|$)")
_ENV_COMMENT = re.compile(r"(?<!\s)\s+#.*")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "b": "\b", "v": "\v"}


def _env(text: Text) -> Iterator[_Entry]:
    offset = 0
    while (offset := text.after(_ENV_BLANK, offset)) < len(text.text):
        found = _ENV.match(text.text, offset)
        if found is None:
            raise _no_entry(text, offset, "KEY=value")
        end = _REST.match(text.text, found.end())
        if end is None:
            open_quote = found[6] is None and found[3] is not None
            what = "there is text after the closing quote" if open_quote else "a key is followed by ="
            raise text.error(what, found.end(), hint="put a # before a comment")
        key = found[1] or found[2]
        yield _Entry((key,), _env_value(text, found), found.start(1 if found[1] else 2))
        offset = end.end()


def _env_value(text: Text, found: re.Match[str]) -> str | None:
    _, _, equals, plain, escaped, bare = found.groups()
    if equals is None:
        return None
    if plain is not None:
        return re.sub(r"\\([\\'])", r"\1", plain)
    if escaped is not None:
        return re.sub(r"""\\([\\'"abfnrtv])""", lambda sign: _SIGNS.get(sign[1], sign[1]), escaped)
    if bare.lstrip()[:1] in ("'", '"'):
        raise text.error("a quote is opened here and never closed", found.start(6))
    return _ENV_COMMENT.sub("", bare).strip()


def _no_entry(text: Text, offset: int, wanted: str) -> DocumentError:
    return text.error("a line that says nothing", offset, hint=f"write {wanted}, or a # before a comment")


# --- .ini

_SECTION = re.compile(r"\s*\[(.+)\]")
_DELIMITER = re.compile(r"[=:]")


def _ini(text: Text) -> Iterator[_Entry]:
    section: Path = ()
    held: _Entry | None = None
    more: list[str] = []  # the lines that go on with its value
    indent = 0
    for offset, line in _lines(text):
        bare = line.strip()
        here = len(line) - len(line.lstrip())
        if not bare or bare[0] in "#;":
            if not bare and held is not None and held.value is not None:
                more.append("")
            continue
        if held is not None and here > indent and held.value is not None:
            more.append(bare)
            continue
        indent = here
        if held is not None:
            yield _kept(held, more)
            held, more = None, []
        header = _SECTION.match(line)
        if header is not None:
            section = (header[1],)
            yield _Entry(section, {}, offset + header.start(1) - 1)
            continue
        held = _option(text, section, offset, line)
    if held is not None:
        yield _kept(held, more)


def _option(text: Text, section: Path, offset: int, line: str) -> _Entry:
    found = _DELIMITER.search(line)
    key = (line[: found.start()] if found else line).strip()
    if not key:
        raise _no_entry(text, offset, "key = value")
    indent = len(line) - len(line.lstrip())
    return _Entry((*section, key), line[found.end() :].strip() if found else None, offset + indent)


def _kept(entry: _Entry, more: list[str]) -> _Entry:
    """An entry with the further lines of its value."""
    return entry if entry.value is None else entry._replace(value="\n".join([entry.value, *more]).rstrip())


def _lines(text: Text) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.text.split("\n"):
        yield offset, line.removesuffix("\r")
        offset += len(line) + 1


# --- .properties

_PROPERTY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)


def _properties(text: Text) -> Iterator[_Entry]:
    held: list[str] = []
    begin = 0
    for offset, line in _lines(text):
        bare = line.lstrip(" \t\f")
        if not held:
            if not bare or bare[0] in "#!":
                continue
            begin = offset + len(line) - len(bare)
        goes_on = (len(bare) - len(bare.rstrip("\\"))) % 2
        held.append(bare[:-1] if goes_on else bare)
        if not goes_on:
            yield from _property(text, "".join(held), begin)
            held = []
    if held:
        yield from _property(text, "".join(held), begin)


def _property(text: Text, line: str, offset: int) -> Iterator[_Entry]:
    if not line:
        return
    found = _PROPERTY.match(line)
    assert found is not None
    key, value = (_ESCAPE.sub(lambda sign: _unescaped(text, sign[1], offset), part) for part in found.groups())
    try:
        key, value = map(_paired, (key, value))
    except UnicodeDecodeError:
        raise text.error("half of a surrogate pair, which no file can hold", offset) from None
    yield _Entry((key,), value, offset)


def _paired(text: str) -> str:
    """The text with each escaped surrogate pair as one character. raises: UnicodeDecodeError, for half of a pair"""
    return text.encode("utf-16", "surrogatepass").decode("utf-16") if HALF_PAIR.search(text) else text


def _unescaped(text: Text, sign: str, offset: int) -> str:
    if sign == "u":
        raise text.error("a \\u escape without four hexadecimal digits", offset)
    return chr(int(sign[1:], 16)) if sign[0] == "u" else {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(sign, sign)


_ENTRIES: dict[str, Callable[[Text], Iterator[_Entry]]] = {"env": _env, "ini": _ini, "properties": _properties}
