"""The words of Chef's roles, environments and metadata, and what each says.

A file in Ruby becomes the document that its JSON would be, each leaf with its line. It knows which
word sets which field, and neither whether the fields make sense nor where files lie.

source: Chef's `Chef::Role`, `Chef::Environment`, `Chef::Cookbook::Metadata`
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.errors import DocumentError
from nodeattrs.texts.documents import Document, text_of
from nodeattrs.texts.places import Mark, Reading, Text
from nodeattrs.texts.ruby_text import Call, Ruby, Said

__all__ = ["KINDS", "ruby_document"]


class _Fields:
    """The fields that calls of words set, one after the other."""

    def __init__(self, text: Text, kind: str) -> None:
        self.tree: dict[str, Any] = {}
        self.mark = Mark(0)
        self.kind = KINDS[kind]
        self.ruby = Ruby(text, self._said)
        for call in self.ruby.calls(self.kind.words, self.kind.every):
            said = call.arguments()
            if said:
                self._perform(call, said)

    def _perform(self, call: Call, said: list[Said]) -> None:
        field, form = self.kind.words[call.word]
        try:
            form(self, field, call.offset, said)
        except (_Wrong, TypeError, IndexError) as error:
            message = str(error) if isinstance(error, _Wrong) else "is not called like this"
            raise self.ruby.text.error(f"{call.word} {message}", call.offset, path=(field,)) from None

    def _said(self, word: str) -> Said | None:
        """What a word without arguments gives: the field as it stands."""
        field = self.kind.words.get(word, (None,))[0]
        return Said(self.tree[field], self.mark.parts[field]) if field in self.tree else None

    def put(self, field: str, value: Any, offset: int, parts: dict[Any, Mark]) -> None:
        """Set a field anew; its place is that of the word."""
        self.tree[field] = value
        self.mark.parts[field] = Mark(offset, parts)


class _Wrong(Exception):
    """A word that is called as Chef would not take it."""


_Form = Callable[[_Fields, str, int, list[Said]], None]


def _one(fields: _Fields, field: str, offset: int, said: list[Said]) -> None:
    (value, mark), *more = said
    if more:
        raise _Wrong("takes one value")
    if value is not None:
        fields.put(field, value, offset, mark.parts)


def _items(fields: _Fields, field: str, offset: int, said: list[Said]) -> None:
    """A run-list: its items one by one, or lists of them."""
    found = list(_flat(said))
    fields.put(field, [value for value, _ in found], offset, {index: mark for index, (_, mark) in enumerate(found)})
    fields.tree.get("env_run_lists", {}).pop("_default", None)


def _flat(said: list[Said]) -> Any:
    for value, mark in said:
        if isinstance(value, list):
            yield from _flat([Said(inner, mark.parts[index]) for index, inner in enumerate(value)])
        else:
            yield Said(value, mark)


def _lists(fields: _Fields, field: str, offset: int, said: list[Said]) -> None:
    """Run-lists by environment, `_default` among them."""
    value = said[0].value
    if not isinstance(value, dict) or "_default" not in value:
        raise _Wrong('needs a list for "_default", as in Chef')
    fields.put(field, {}, offset, {})
    _more_lists(fields, field, offset, said)


def _more_lists(fields: _Fields, field: str, offset: int, said: list[Said]) -> None:
    (value, mark), *_ = said
    if field not in fields.tree:
        fields.put(field, {}, offset, {})
    for name, items in value.items():
        found = [] if items is None else list(_flat([Said(items, mark.parts[name])]))
        fields.tree[field][name] = [item for item, _ in found]
        parts = {index: one for index, (_, one) in enumerate(found)}
        fields.mark.parts[field].parts[name] = Mark(mark.parts[name].offset, parts)


def _entry(fields: _Fields, field: str, offset: int, said: list[Said]) -> None:
    """A name with a version constraint, for the map of a field."""
    (name, _), *asked = said
    if len(asked) > 1:
        raise _Wrong("takes one version constraint, as in Chef")
    if not isinstance(fields.tree.setdefault(field, {}), dict):
        raise _Wrong("adds to what is no map")
    fields.tree[field][str(name)] = asked[0].value if asked else ""
    holder = fields.mark.parts.setdefault(field, Mark(offset))
    holder.parts[str(name)] = Mark(offset)


_COMMON: dict[str, tuple[str, _Form]] = {word: (word, _one) for word in ("name", "description")}
_ATTRIBUTES: dict[str, tuple[str, _Form]] = {
    word: (word, _one) for word in ("default_attributes", "override_attributes")
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of file.

    words: word -> the field that it sets, and how
    every: anything else is refused; else it does not matter
    """

    words: Mapping[str, tuple[str, _Form]]
    every: bool = True


KINDS: Mapping[str, _Kind] = {
    "role": _Kind(
        {
            **_COMMON,
            **_ATTRIBUTES,
            **dict.fromkeys(("run_list", "recipes"), ("run_list", _items)),
            **dict.fromkeys(("env_run_lists", "env_run_list"), ("env_run_lists", _lists)),
            **dict.fromkeys(("env_run_lists_add", "env_run_list_add"), ("env_run_lists", _more_lists)),
        }
    ),
    "environment": _Kind(
        {
            **_COMMON,
            **_ATTRIBUTES,
            "cookbook_versions": ("cookbook_versions", _one),
            "cookbook": ("cookbook_versions", _entry),
        }
    ),
    # What else metadata says is for people and other tools, and may be any Ruby.
    "cookbook": _Kind(
        {**{word: (word, _one) for word in ("name", "version")}, "depends": ("dependencies", _entry)}, False
    ),
}
"""By what a file describes."""


def ruby_document(path: pathlib.Path, file: str, kind: str) -> Document:
    """What a file in Ruby says: the fields that its JSON would have.

    file:   its name in messages
    kind:   one of KINDS
    raises: DocumentError, naming the line of what is no literal; MissingExtra
    """
    text = Text(file, text_of(path, file).removeprefix("\ufeff"))
    fields = _Fields(text, kind)
    warnings: tuple[DocumentError, ...] = tuple(fields.ruby.warnings)
    return Document(text, Reading(fields.tree, lambda: fields.mark, warnings))
