"""The text language: texts become the model, each item with its line and column.

A text that cannot be read says where, shows the line with a caret, and guesses what was
meant. docs/bindings.md, "The language", shows every form.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.dialects.bindings.forms.language.reading import ExpressionReader, SetReader, SiteReader
from nodeattrs.dialects.bindings.forms.language.text import Text
from nodeattrs.dialects.bindings.model.expressions import Node, plain
from nodeattrs.dialects.bindings.model.items import BindingSet
from nodeattrs.dialects.bindings.model.sites import Site


def parse_sets(text: str, file: str | None = None) -> list[BindingSet]:
    """The sets of a text: `bindings NAME { ... }`, any number of them.

    file:   its name in messages and origins
    raises: BindingError ("syntax", "bad-type"), MissingExtra

    >>> [one.name for one in parse_sets("bindings ssh::default { bind 'ssh::port' to 22 }")]
    ['ssh::default']
    """
    read = Text(text, file)
    return read.guarded(lambda: list(map(SetReader(read).set, read.parsed("bindings_file").children)))


def parse_items(text: str, name: str = "", file: str | None = None) -> BindingSet:
    """A set of loose items, without the words around them. raises: as `parse_sets`"""
    read = Text(text, file, name)
    return read.guarded(lambda: BindingSet(name, tuple(map(SetReader(read).item, read.parsed("items").children))))


def parse_site(text: str, file: str | None = None) -> Site:
    """What a site says: categories, layers and environments, not evaluated yet.

    raises: as `parse_sets`; BindingError ("categories-twice"), for a second categories expression

    >>> parse_site("site { categories { rack => $rack } }").to_dict()
    {'site': {'categories': [['rack', {'variable': 'rack'}]]}}
    """
    read = Text(text, file)
    return read.guarded(lambda: SiteReader(read).site(read.parsed("site_file")))


def parse_inject_call(text: str) -> dict[str, Any]:
    """The key and arguments of a call: `inject(String, 'main url', { size => 3 })`.

    >>> parse_inject_call("inject('x')")
    {'inject': {'name': 'x'}}
    """
    read = Text(text)
    return read.guarded(lambda: _inject_call(read))


def _inject_call(read: Text) -> dict[str, Any]:
    key, *args = read.parsed("inject_call").children
    asked = SetReader(read).asked(key)
    typed = {"type": str(asked.type)} if asked.type is not None else {}
    named = {"name": asked.name} if asked.name is not None else {}
    given = {"args": plain(ExpressionReader(read).node(args[0]))} if args else {}
    return {"inject": {**typed, **named}, **given}


def parse_expression(text: str) -> Node:
    """One expression. raises: as `parse_sets`"""
    read = Text(text)
    return read.guarded(lambda: ExpressionReader(read).node(read.parsed("expression").children[0]))
