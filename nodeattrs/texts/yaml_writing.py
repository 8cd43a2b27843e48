"""The one writer of YAML: plain data as a text, for people and for programs."""

from __future__ import annotations

from typing import Any

import yaml

from nodeattrs.errors import BadValue

__all__ = ["written"]


class _Spread(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Blocks(_Spread):
    """Long texts as blocks, too."""


def _text(dumper: Any, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Blocks.add_representer(str, _text)


def written(value: Any, *, aliases: bool = True, blocks: bool = False, **layout: Any) -> str:
    """A value as YAML: keys in their order, letters as they are, without the dots that end a scalar.

    aliases: what occurs twice is an alias the second time
    blocks:  texts of several lines are blocks; nothing is an alias
    layout:  what else PyYAML shall do
    raises:  BadValue, where it is nested deeper than PyYAML can go

    >>> written({"b": 1, "a": "é"})
    'b: 1\\na: é\\n'
    """
    dumper = _Blocks if blocks else yaml.SafeDumper if aliases else _Spread
    try:
        text = str(yaml.dump(value, Dumper=dumper, **{"sort_keys": False, "allow_unicode": True, **layout}))
    except RecursionError as error:
        raise BadValue("this is nested too deeply to be written as YAML", hint="ask for a part of it") from error
    return text if layout.get("explicit_end") else text.removesuffix("...\n")
