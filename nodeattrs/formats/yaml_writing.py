"""The writer of YAML: plain data as a text. Keys keep their order; invisible characters are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import yaml

from nodeattrs.core.budget import Budget
from nodeattrs.errors import BadValue
from nodeattrs.formats.hidden import ESCAPES, HIDDEN
from nodeattrs.formats.tags import Tagged

_OTHER_ELSEWHERE = re.compile(r"[yYnN]|0o[0-7]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", re.ASCII)
"""Texts that PyYAML writes without quotes, and that a reader in Go, Ruby or JavaScript may take for another value."""


class _AliasDumper(yaml.SafeDumper):
    """Writes an object that occurs twice as an alias the second time."""


class _Blocks(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _QuickBlocks(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # PyYAML's build decides
    """As `_Blocks`, by libyaml where PyYAML has it: it folds a long quoted text at another place."""

    ignore_aliases = _Blocks.ignore_aliases


def style_of(value: str, otherwise: str | None = None) -> str | None:
    """PyYAML's style for a text: '"' where it has a character that must be escaped, else *otherwise*."""
    return '"' if not value.isascii() and HIDDEN.search(value) else otherwise


def text(dumper: Any, value: str) -> Any:
    """Represent a text for a dumper of PyYAML: its node. For `add_representer`."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style_of(value))


def _block(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value else None
    if _OTHER_ELSEWHERE.fullmatch(value):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style_of(value, style))


def _tagged(dumper: Any, value: Tagged) -> Any:
    node = dumper.represent_data(value.value)
    node.tag = value.tag
    return node


def _plain_text(dumper: Any, value: str) -> Any:
    return dumper.represent_data(str.__str__(value))  # a text of a kind of its own, such as a reference


_AliasDumper.add_multi_representer(str, _plain_text)
_AliasDumper.add_representer(str, text)
for _dumper in (_Blocks, _QuickBlocks):
    _dumper.add_multi_representer(str, _plain_text)
    _dumper.add_representer(str, _block)
    _dumper.add_representer(Tagged, _tagged)


_PER_VALUE = 25
"""How many steps it takes to write a value, as near as one can say."""


_ROWS = 50
"""How many rows of a list are written at once, where not all of them are there."""


def _draw(value: Any) -> None:
    """Draw steps for objects that occur again: PyYAML writes them each time, which may take minutes.

    raises: TooMuch
    """
    budget = Budget("what is written as YAML")
    been: set[int] = set()
    level = [value]
    while level:
        below: list[Any] = []
        for part in level:
            if isinstance(part, (dict, list, tuple)):
                if id(part) in been:
                    budget.steps(1 + _PER_VALUE * len(part))
                been.add(id(part))
                below += part.values() if isinstance(part, dict) else part
        level = below


def written(value: Any, *, blocks: bool = False, **layout: Any) -> str:
    """Write a value as YAML: keys in their order, letters as they are, without the dots that end a scalar.

    blocks: True: texts of several lines are written as blocks, and an object that occurs twice is written twice. False:
            the second occurrence of an object is written as an alias
    layout: further arguments of `yaml.dump`
    raises: BadValue, if it is nested deeper than PyYAML can write; TooMuch, if repeated objects would take minutes to
            write; yaml.YAMLError, for an object that YAML does not have

    >>> written({"b": 1, "a": "é"})
    'b: 1\\na: é\\n'
    """
    if blocks:
        _draw(value)
    layout = {"sort_keys": False, "allow_unicode": True, **layout}
    try:
        try:
            made = str(yaml.dump(value, Dumper=_QuickBlocks if blocks else _AliasDumper, **layout))
        except UnicodeEncodeError:  # half of a surrogate pair, which libyaml cannot write
            made = str(yaml.dump(value, Dumper=_Blocks, **layout))
    except RecursionError as error:
        raise BadValue("this is nested too deeply to be written as YAML", hint="ask for a part of it") from error
    made = made.translate(ESCAPES)
    return made if layout.get("explicit_end") else made.removesuffix("...\n")


def pieces(data: dict[str, Any]) -> Iterator[str]:
    """Yield a map as YAML, entry by entry; an empty map yields nothing. A value that is an iterator becomes a list.

    The elements of an iterator are taken and written fifty at a time.

    >>> "".join(pieces({"a": 1, "b": iter([1, {"c": 2}]), "d": iter([])}))
    'a: 1\\nb:\\n- 1\\n- c: 2\\nd: []\\n'
    """
    for key, value in data.items():
        rows = value if isinstance(value, Iterator) else iter(())
        if rows is value and (some := list(islice(rows, _ROWS))):
            yield written({key: []}).replace(" []", "")
            while some:
                yield written(some)
                some = list(islice(rows, _ROWS))
        else:
            yield written({key: [] if rows is value else value})
