"""Tables of Ansible's plain filters and tests: small functions that give the same result without Ansible.

A filter that is not in the tables is refused by name. The module knows no variables and no templates.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import itertools
import json
import ntpath
import operator
import os.path
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.dialects.ansible.values import as_json
from nodeattrs.dialects.ansible.writing import as_yaml_text
from nodeattrs.errors import TooMuch
from nodeattrs.formats.patterns import Expression, expression
from nodeattrs.formats.places import Text
from nodeattrs.formats.yaml_events import Safe

_PLAIN_TEXT = """abs batch capitalize center count dictsort first float format groupby indent int items join last length
    list lower map max min reject rejectattr replace reverse round select selectattr slice sort string sum title trim
    truncate upper wordcount"""
PLAIN = frozenset(_PLAIN_TEXT.split())
"""The filters of Jinja that Ansible does not replace by its own."""


# --- values


def _bool(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in ("yes", "on", "1", "true")
    return bool(value == 1)


def _ternary(value: Any, true: Any, false: Any, none: Any = None) -> Any:
    return none if value is None and none is not None else true if value else false


# --- lists


def _unique(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    found.extend(one for one in values if one not in found)
    return found


def _without_case(values: Iterable[Any], case_sensitive: bool = False) -> list[Any]:
    found: dict[Any, Any] = {}
    values = list(values)
    try:
        for one in values:
            found.setdefault(one.lower() if isinstance(one, str) and not case_sensitive else one, one)
    except TypeError:
        return _unique(values)
    return list(found.values())


def _flatten(values: Iterable[Any], levels: int | None = None, skip_nulls: bool = True) -> list[Any]:
    found: list[Any] = []
    for one in values:
        if isinstance(one, (list, tuple)) and levels != 0:
            found += _flatten(one, None if levels is None else levels - 1, skip_nulls)
        elif not (skip_nulls and one in (None, "None", "null")):
            found.append(one)
    return found


def _members(one: Iterable[Any], other: Iterable[Any], meet: Callable[[bool, bool], bool]) -> list[Any]:
    """The members of two lists, each once, for which meet(is in *one*, is in *other*) is true.

    Numbers come in the order of Python's sets, as in Ansible; texts in their order in the lists, since Ansible's order
    differs in each run.
    """
    one, other = list(one), list(other)
    found = _unique(entry for entry in [*one, *other] if meet(entry in one, entry in other))
    return list(set(found)) if all(isinstance(entry, (int, float)) for entry in found) else found


# --- maps

_MEETINGS: dict[str, Callable[[list[Any], list[Any]], list[Any]]] = {
    "replace": lambda weak, strong: strong,
    "keep": lambda weak, strong: weak,
    "append": lambda weak, strong: weak + strong,
    "prepend": lambda weak, strong: strong + weak,
    "append_rp": lambda weak, strong: [one for one in weak if one not in strong] + strong,
    "prepend_rp": lambda weak, strong: strong + [one for one in weak if one not in strong],
}


def _combine(*maps: Any, recursive: bool = False, list_merge: str = "replace") -> dict[Any, Any]:
    meeting = _MEETINGS[list_merge]

    def met(weak: Mapping[Any, Any], strong: Mapping[Any, Any]) -> dict[Any, Any]:
        found = dict(weak)
        for key, value in strong.items():
            old = found.get(key)
            if recursive and isinstance(old, dict) and isinstance(value, dict):
                value = met(old, value)
            elif isinstance(old, list) and isinstance(value, list):
                value = meeting(old, value)
            found[key] = value
        return found

    result: dict[Any, Any] = {}
    for one in _flatten(maps):
        if not isinstance(one, dict):
            raise TypeError(f"combine takes maps, not {type(one).__name__}")
        result = met(result, one) if result else dict(one)
    return result


def _to_items(value: dict[Any, Any], key_name: str = "key", value_name: str = "value") -> list[dict[str, Any]]:
    return [{key_name: key, value_name: entry} for key, entry in value.items()]


def _from_items(items: Any, key_name: str = "key", value_name: str = "value") -> dict[Any, Any]:
    return {one[key_name]: one[value_name] for one in items}


# --- texts


_MOST_PATTERN = 10_000
_GROUP = re.compile(r"\\g<(\S+)>|\\(\d+)")


@contextmanager
def _expression(pattern: str, ignorecase: bool = False, multiline: bool = False) -> Iterator[Expression]:
    """A regular expression. raises: BadPattern; ValueError where its compilation or a search takes too long"""
    if len(pattern) > _MOST_PATTERN:
        raise ValueError(f"an expression of more than {_MOST_PATTERN} characters might take too long")
    try:
        yield expression(pattern, (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0))
    except TooMuch as error:
        raise ValueError(str(error.message)) from None


def _replaced(value: Any, pattern: str, by: str, *, count: int = 0, **how: bool) -> str:
    text = str(value)
    Budget("regex_replace").bytes(_most_replaced(text, pattern, by))
    with _expression(pattern, **how) as found:
        return found.replaced(text, by, count)


def _most_replaced(text: str, pattern: str, by: str) -> int:
    """The most characters that a text can have after replacing; with a lookaround each group may match all of the
    text.
    """
    groups = by.count("\\") * len(text) * (len(text) if "(?=" in pattern or "(?<" in pattern else 1)
    return len(text) + (len(text) + 1) * len(by) + groups


def _searched(value: Any, pattern: str, *groups: str, **how: bool) -> Any:
    with _expression(pattern, **how) as sought:
        found = sought.groups(str(value))
    names = [_GROUP.fullmatch(one) for one in groups]
    if None in names:
        raise ValueError(f"regex_search takes groups as \\1 or \\g<name>, not {' '.join(groups)}")
    if found is None:
        return None
    by_number, by_name = found
    return [by_number[int(one[2])] if one[2] else by_name[one[1]] for one in names if one] if names else by_number[0]


def _all_found(value: Any, pattern: str, multiline: bool = False, ignorecase: bool = False) -> list[Any]:
    with _expression(pattern, ignorecase, multiline) as found:
        return found.all_matches(str(value))


def _is_match(value: Any, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    with _expression(pattern, ignorecase, multiline) as found:
        return found.match(str(value))


def _is_found(value: Any, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    with _expression(pattern, ignorecase, multiline) as found:
        return found.search(str(value))


def _hashed(value: Any, kind: str = "sha1") -> str:
    return hashlib.new(kind, str(value).encode()).hexdigest()


def _dumped(value: Any) -> Any:
    """A copy of a value as JSON data. raises: the error of an undefined value in it"""
    return json.loads(json.dumps(as_json(value), default=str))


def _to_json(value: Any, **how: Any) -> str:
    return json.dumps(_dumped(value), **how)


def _to_nice_json(value: Any, indent: int = 4, sort_keys: bool = True, **how: Any) -> str:
    return _to_json(value, **how | {"indent": indent, "sort_keys": sort_keys, "separators": (",", ": ")})


def _from_yaml(value: Any) -> Any:
    """The data of a text in YAML; an alias counts as often as it is used. raises: DocumentError, TooMuch"""
    return None if value is None else Safe(Text("from_yaml", value), marks=False, budget=Budget("from_yaml")).run()


def _to_yaml(value: Any, default_flow_style: bool | None = None, **how: Any) -> str:
    return as_yaml_text(value, default_flow_style=default_flow_style, **how).removesuffix("...\n")


def _to_nice_yaml(value: Any, indent: int = 4, **how: Any) -> str:
    return _to_yaml(value, False, indent=indent, **how)


def _to_datetime(value: str, format: str = "%Y-%m-%d %H:%M:%S") -> datetime.datetime:
    return datetime.datetime.strptime(value, format)


FILTERS: dict[str, Callable[..., Any]] = {
    "b64decode": lambda value: base64.b64decode(value).decode(),
    "b64encode": lambda value: base64.b64encode(str(value).encode()).decode(),
    "basename": os.path.basename,
    "bool": _bool,
    "checksum": _hashed,
    "combine": _combine,
    "dict2items": _to_items,
    "difference": lambda one, other: _members(one, other, lambda here, there: here and not there),
    "dirname": os.path.dirname,
    "flatten": _flatten,
    "from_json": json.loads,
    "from_yaml": _from_yaml,
    "hash": _hashed,
    "intersect": lambda one, other: _members(one, other, lambda here, there: here and there),
    "items2dict": _from_items,
    "md5": lambda value: _hashed(value, "md5"),
    "path_join": lambda value: os.path.join(*([value] if isinstance(value, str) else value)),
    "product": itertools.product,
    "quote": lambda value: shlex.quote("" if value is None else str(value)),
    "realpath": os.path.realpath,
    "regex_escape": re.escape,
    "regex_findall": _all_found,
    "regex_replace": _replaced,
    "regex_search": _searched,
    "sha1": _hashed,
    "split": lambda value, by=None: value.split(by),
    "splitext": os.path.splitext,
    "symmetric_difference": lambda one, other: _members(one, other, operator.xor),
    "ternary": _ternary,
    "to_datetime": _to_datetime,
    "to_json": _to_json,
    "to_nice_json": _to_nice_json,
    "to_nice_yaml": _to_nice_yaml,
    "to_yaml": _to_yaml,
    "union": lambda one, other: _members(one, other, operator.or_),
    "unique": _without_case,
    "win_basename": ntpath.basename,
    "win_dirname": ntpath.dirname,
    "zip": zip,
}
"""Name of a filter -> its function. Any exception makes the template unevaluated."""

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("==", "=", "eq"), operator.eq),
    **dict.fromkeys(("!=", "<>", "ne"), operator.ne),
    **dict.fromkeys(("<", "lt"), operator.lt),
    **dict.fromkeys(("<=", "le"), operator.le),
    **dict.fromkeys((">", "gt"), operator.gt),
    **dict.fromkeys((">=", "ge"), operator.ge),
}
_COMPONENT = re.compile(r"(\d+|[a-z]+|\.)")


def _is_version(
    value: Any, other: Any, by: str = "eq", strict: bool | None = None, version_type: str | None = None
) -> bool:
    """Whether two versions compare as an operator says: number by number, loosely."""
    if strict or version_type not in (None, "loose"):
        raise ValueError("versions that are strict or of a type need Ansible")
    if "" in (str(value), str(other)):
        raise ValueError("a version is empty")
    one, two = ([int(part) if part.isdigit() else part for part in _parts(text)] for text in (value, other))
    return _COMPARED[by](one, two)


def _parts(version: Any) -> list[str]:
    return [part for part in _COMPONENT.split(str(version)) if part and part != "."]


TESTS: dict[str, Callable[..., bool]] = {
    "contains": lambda values, one: one in values,
    "match": _is_match,
    "regex": _is_found,
    "search": _is_found,
    "subset": lambda one, other: all(entry in other for entry in one),
    "superset": lambda one, other: all(entry in one for entry in other),
    "version": _is_version,
    "version_compare": _is_version,
}
"""The tests that Ansible adds to those of Jinja."""
