"""Remove an entry from a JSON or YAML text, and leave every other character as it is; hide secrets in a text.

Lines that only the entry has are removed as a whole; inside brackets the entry is removed with its comma. The new text
is parsed again. It is returned only if its value is the old value without the entry. No file is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, dig, left_without, strict_key
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Syntax, parse
from nodeattrs.formats.encrypted import may_be_encrypted

WITHHELD = str(Sensitive(""))
"""What is shown instead of a secret."""


class _Entry(NamedTuple):
    """The place of an entry of a map: from the start of its key to the end of its value."""

    path: tuple[str, ...]
    start: int
    end: int
    in_brackets: bool


def without(text: str, path: Path, syntax: Syntax, *, earlier: bool = False) -> str | None:
    """The text without the entry at *path*; None if it is not set, or cannot be removed without other changes.

    earlier: True: the key is written several times; remove all of its entries but the last one, which counts
    cost:    parses the text three times

    >>> without('{"a": 1, "b": 2}', ("a",), "json")
    '{"b": 2}'
    >>> without("a: 1\\nb: 2\\na: 3\\n", ("a",), "yaml", earlier=True)
    'b: 2\\na: 3\\n'
    """
    try:
        before = parse(text, "", syntax).tree
        if dig(before, path) is ABSENT:
            return None
        found = [one for one in _entries(text) if one.path == tuple(map(str, path))]
        for one in reversed(found[:-1] if earlier else found[-1:]):
            text = _cut(text, one)
        after = parse(text, "", syntax)
    except (DocumentError, _UnsupportedYaml):
        return None
    wanted = before if earlier else left_without(before, path)
    is_done = not earlier or (len(found) > 1 and all(one.path != path for one in after.warnings))
    return text if is_done and strict_key(after.tree) == strict_key(wanted) else None


def veiled(text: str, sensitive: Iterable[Path]) -> str:
    """The text with `Sensitive(withheld)` in place of each secret and each encrypted value; it may have fewer lines.

    A text that cannot be parsed, or has an alias, is `Sensitive(withheld)` as a whole.

    sensitive: paths of secrets; a path also counts below other keys, such as `default_attributes`

    >>> veiled("default:\\n  db: {password: x, port: 1}\\n", [("db", "password")])
    'default:\\n  db: {password: Sensitive(withheld), port: 1}\\n'
    """
    wanted = [tuple(map(str, path)) for path in sensitive]
    hidden: list[_Entry] = []
    try:
        for one in _entries(text):
            is_encrypted = may_be_encrypted(text[one.start : one.end]) and not (hidden and hidden[-1].start > one.start)
            if is_encrypted or any(_leads_into(one.path, path) for path in wanted):
                hidden = [*(other for other in hidden if other.end <= one.start), one]
    except _UnsupportedYaml:
        return WITHHELD
    for one in reversed(hidden):
        text = f"{text[: one.start]}{one.path[-1]}: {WITHHELD}{text[one.end :]}"
    return text


def _leads_into(path: tuple[str, ...], secret: tuple[str, ...]) -> bool:
    """Whether an entry is at or in a secret, or is the list whose elements are secrets."""
    end = len(secret)
    while end > 1 and (secret[end - 1] == "*" or secret[end - 1].isdigit()):
        end -= 1
    starts = range(len(path) - end + 1)
    return any(all(want in ("*", step) for want, step in zip(secret[:end], path[at:], strict=False)) for at in starts)


class _UnsupportedYaml(Exception):
    """Raised for YAML that is not taken apart here: a key that is no scalar, an alias, a merge."""


@dataclass(slots=True)
class _OpenCollection:
    """A map or list whose end was not read yet: its path, and the last key, or the number of its elements so far."""

    is_map: bool
    in_brackets: bool
    steps: tuple[str, ...]
    key: str | None = None
    start: int = 0
    count: int = 0

    @property
    def inside(self) -> tuple[str, ...]:
        return (*self.steps, self.key if self.is_map and self.key is not None else str(self.count))


def _entries(text: str) -> Iterator[_Entry]:
    """Every entry of every map, in the order of their ends. raises: _UnsupportedYaml"""
    open_: list[_OpenCollection] = []
    end = 0
    try:
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            one: Any = event
            if isinstance(one, yaml.AliasEvent) or (isinstance(one, yaml.CollectionStartEvent) and _is_key(open_)):
                raise _UnsupportedYaml
            if isinstance(one, yaml.CollectionStartEvent):
                steps = open_[-1].inside if open_ else ()
                open_.append(_OpenCollection(isinstance(one, yaml.MappingStartEvent), bool(one.flow_style), steps))
            elif isinstance(one, yaml.ScalarEvent) and _is_key(open_):
                open_[-1].key, open_[-1].start = one.value, _index(one.start_mark)
            elif isinstance(one, (yaml.ScalarEvent, yaml.CollectionEndEvent)):
                # What is written in lines ends where the last thing in it does.
                written = isinstance(one, yaml.ScalarEvent) or open_.pop().in_brackets
                end = _index(one.end_mark) if written else end
                yield from _closed(open_, end)
    except yaml.YAMLError as error:
        raise _UnsupportedYaml from error


def _index(mark: Any) -> int:
    return int(mark.index)


def _is_key(open_: list[_OpenCollection]) -> bool:
    """Whether the next event is a key of the innermost map."""
    return bool(open_) and open_[-1].is_map and open_[-1].key is None


def _closed(open_: list[_OpenCollection], end: int) -> Iterator[_Entry]:
    """The entry that ends here, if a map is open."""
    if open_:
        here = open_[-1]
        if here.is_map:
            yield _Entry(here.inside, here.start, end, here.in_brackets)
            here.key = None
        here.count += 1


def _cut(text: str, one: _Entry) -> str:
    if one.in_brackets:
        return _cut_in_brackets(text, one.start, one.end)
    start = text.rfind("\n", 0, one.start) + 1
    if text[start : one.start].strip(" "):
        raise _UnsupportedYaml  # the first key of an element: the dash is on its line
    end = text.find("\n", max(one.start, one.end - 1)) + 1
    return text[:start] + text[end or len(text) :]


def _cut_in_brackets(text: str, start: int, end: int) -> str:
    after = len(text) - len(text[end:].lstrip())
    if text[after : after + 1] == ",":
        return text[:start] + text[after + 1 :].lstrip()
    before = text[:start].rstrip()
    return (before[:-1] if before.endswith(",") else before) + text[end:]
