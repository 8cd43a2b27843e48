"""Files of Chef in Ruby: roles, environments, metadata, Policyfiles and configuration.

A file becomes the same document as its form in JSON, each leaf with its line. A word is a method that these files call,
such as `run_list`; tables below say which field each word sets. The values are not checked, and no Ruby runs.

source: Chef's `Chef::Role`, `Chef::Environment`, `Chef::Cookbook::Metadata`
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import copied
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, text_of
from nodeattrs.formats.places import Mark, ParsedText, Text
from nodeattrs.formats.ruby_text import Call, Literal, Ruby


class _Fields:
    """The fields that a file sets. The constructor reads the whole file, one call of a word after the other."""

    def __init__(self, text: Text, kind: str) -> None:
        self.tree: dict[str, Any] = {}
        self.mark = Mark(0)
        self.kind = _KINDS[kind]
        self.ruby = Ruby(text, self._current)
        self.unread: list[DocumentError] = []
        try:
            for call in self.ruby.calls(self.kind.words, self.kind.every):
                self._take(call)
        except DocumentError as error:
            if not self.kind.is_partial:
                raise
            self.unread.append(error)
        self.unread += self.ruby.skipped if self.kind.is_partial else ()

    def _take(self, call: Call) -> None:
        """Perform a call. A value that is no literal becomes unread, a warning, or an error, by the kind of file."""
        try:
            given = call.arguments()
            if given:
                self._perform(call, given)
        except DocumentError as error:
            if self.kind.is_partial:
                self.unread += [error] if call.word not in _HARMLESS else []
            elif self.kind.lenient:
                self.ruby.warnings.append(error)
            else:
                raise

    def _perform(self, call: Call, given: list[Literal]) -> None:
        field, form = self.kind.words[call.word]
        try:
            form(self, field, call.offset, given)
        except (_BadCall, TypeError, IndexError) as error:
            message = str(error) if isinstance(error, _BadCall) else "is not called like this"
            raise self.ruby.text.error(f"{call.word} {message}", call.offset, path=(field,)) from None

    def _current(self, word: str) -> Literal | None:
        """The present value of the field of a word that has no arguments; None if it is not set."""
        field = self.kind.words.get(word, (None,))[0]
        return Literal(self.tree[field], self.mark.parts[field]) if field in self.tree else None

    def put(self, field: str, value: Any, offset: int, parts: dict[Any, Mark]) -> None:
        """Set or replace a field. offset: of the word; parts: the marks of the parts of *value*"""
        self.tree[field] = value
        self.mark.parts[field] = Mark(offset, parts)


class _BadCall(Exception):
    """Raised for a call of a word that Chef would refuse."""


_Form = Callable[[_Fields, str, int, list[Literal]], None]


def _one(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    (value, mark), *more = given
    if more:
        raise _BadCall("takes one value")
    if value is not None:
        fields.put(field, value, offset, mark.parts)


def _items(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Set a run-list, given as items or lists of items."""
    items, parts = _run_list(given)
    fields.put(field, items, offset, parts)
    fields.tree.get("env_run_lists", {}).pop("_default", None)


def _run_list(given: list[Literal]) -> tuple[list[Any], dict[Any, Mark]]:
    """The items of a run-list, which may stand in lists, and their marks by index."""
    found = list(_flat(given))
    return [value for value, _ in found], {index: mark for index, (_, mark) in enumerate(found)}


def _flat(given: list[Literal]) -> Iterator[Literal]:
    for value, mark in given:
        if isinstance(value, list):
            yield from _flat([Literal(inner, mark.parts[index]) for index, inner in enumerate(value)])
        else:
            yield Literal(value, mark)


def _lists(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Set a map of environment -> run-list, which must have `_default`."""
    value = given[0].value
    if not isinstance(value, dict) or "_default" not in value:
        raise _BadCall('needs a list for "_default", as in Chef')
    fields.put(field, {}, offset, {})
    _more_lists(fields, field, offset, given)


def _more_lists(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    (value, mark), *_ = given
    if not isinstance(value, dict):
        raise _BadCall("takes a map")
    if field not in fields.tree:
        fields.put(field, {}, offset, {})
    for name, items in value.items():
        fields.tree[field][name], parts = _run_list([] if items is None else [Literal(items, mark.parts[name])])
        fields.mark.parts[field].parts[name] = Mark(mark.parts[name].offset, parts)


def _entry(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Add a name with its version constraint to the map of a field; "" for none."""
    (name, _), *asked = given
    if len(asked) > 1:
        raise _BadCall("takes one version constraint, as in Chef")
    if not isinstance(fields.tree.setdefault(field, {}), dict):
        raise _BadCall("adds to what is not a map")
    fields.tree[field][str(name)] = asked[0].value if asked else ""
    holder = fields.mark.parts.setdefault(field, Mark(offset))
    holder.parts[str(name)] = Mark(offset)


def _named_list(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Add a named run-list to the map of a field: a name, then items or lists of items."""
    name, *items = given
    fields.tree.setdefault(field, {})[str(name.value)], parts = _run_list(items)
    fields.mark.parts.setdefault(field, Mark(offset)).parts[str(name.value)] = Mark(offset, parts)


def _leaf(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Set a value below keys: `default['a']['b'] = 1`."""
    *keys, value = given
    if not keys or not all(isinstance(key.value, str | int) for key in keys):
        raise _BadCall("needs keys that are text")
    here: Any = fields.tree.setdefault(field, {})
    mark = fields.mark.parts.setdefault(field, Mark(offset))
    *above, last = [str(key.value) for key in keys]
    for key in above:
        here = here.setdefault(key, {})
        mark = mark.parts.setdefault(key, Mark(offset))
        if not isinstance(here, dict):
            raise _BadCall("goes below a value that is not a map")
    here[last], mark.parts[last] = value.value, Mark(offset, value.mark.parts)


def _source(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Add a cookbook or an included policy: name -> its version constraint and its path, "" for none."""
    name, *more = (one.value for one in given)
    asked = next((one for one in more if isinstance(one, str)), "")
    options = next((one for one in more if isinstance(one, dict)), {})
    path = options.get("path", "") if isinstance(options.get("path", ""), str) else ""
    fields.tree.setdefault(field, {})[str(name)] = {"constraint": asked, "path": path}
    fields.mark.parts.setdefault(field, Mark(offset)).parts[str(name)] = Mark(offset)


def _nothing(fields: _Fields, field: str, offset: int, given: list[Literal]) -> None:
    """Do nothing, for a word without meaning for nodes."""


_HARMLESS = ("cookbook", "default_source")
"""Words of a Policyfile that set no attribute and no run-list."""

_COMMON: dict[str, tuple[str, _Form]] = {word: (word, _one) for word in ("name", "description")}
_ATTRIBUTES: dict[str, tuple[str, _Form]] = {
    word: (word, _one) for word in ("default_attributes", "override_attributes")
}


class _Kind(NamedTuple):
    """A kind of file.

    words:      word -> (the field that it sets, the function that sets it)
    every:      True: any other statement is an error; False: it is skipped
    lenient:    True: a value that is no literal is skipped with a warning
    is_partial: True: a word or statement that cannot be read is noted as unread
    """

    words: Mapping[str, tuple[str, _Form]]
    every: bool = True
    lenient: bool = False
    is_partial: bool = False


_LEVELS = ("automatic", "default", "normal", "override")
_SETTINGS = (
    *("node_name", "environment", "cookbook_path", "policy_name", "policy_group", "encrypted_data_bag_secret"),
    *(f"{which}_{level}_attributes" for which in ("allowed", "blocked") for level in _LEVELS),
    *(f"{level}_attribute_{which}list" for which in ("white", "black") for level in _LEVELS),
)

_KINDS: Mapping[str, _Kind] = {
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
    "policy": _Kind(
        {
            "name": ("name", _one),
            "run_list": ("run_list", _items),
            "named_run_list": ("named_run_lists", _named_list),
            "default": ("default_attributes", _leaf),
            "override": ("override_attributes", _leaf),
            "cookbook": ("cookbooks", _source),
            "include_policy": ("included_policies", _source),
            "default_source": ("", _nothing),
        },
        every=False,
        is_partial=True,
    ),
    "settings": _Kind({word: (word, _one) for word in _SETTINGS}, False, True),
    # The name in there is that of a person.
    "knife": _Kind({word: (word, _one) for word in _SETTINGS[1:]}, False, True),
}
"""By what a file describes."""


def ruby_document(path: pathlib.Path, file: str, kind: str) -> Document:
    """Read a file of Chef in Ruby; the document has the fields that the same file in JSON would have.

    Some kinds of files may have values that are no literals; the document has a warning for each.
    The file is read at each call, and parsed once for each content. Each document has its own tree.
    file:   its name in messages
    kind:   "role", "environment", "cookbook", "policy", "settings" or "knife"
    raises: DocumentError, at the line of a value that is no literal, where the kind needs one; MissingExtra
    """
    text = Text(file, text_of(path, file).removeprefix("\ufeff"))
    key = ("document of Ruby", kind, file, in_force(), sha256(text.content).digest())
    parsed = CACHE.get(key, lambda: _parsed(text, kind))
    return Document(text, parsed._replace(tree=copied(parsed.tree)))


def _parsed(text: Text, kind: str) -> ParsedText:
    fields = _Fields(text, kind)
    mark = fields.mark
    # a traceback would keep the whole syntax tree in the cache
    warnings = [one.with_traceback(None) for one in (*fields.ruby.warnings, *fields.unread)]
    return ParsedText(fields.tree, lambda: mark, tuple(warnings))
