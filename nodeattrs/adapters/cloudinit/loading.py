"""YAML as cloud-init reads and writes it: PyYAML's safe loader, YAML 1.1, one document.

Dates, bytes, sets and keys of any scalar type stay what they are, and what an alias repeats
is one object, since the merged file shows it as an alias again. The reader of `texts` is
stricter, and the core's copying refuses such keys: both are for documents that a node keeps.

The C loader reads a plain text some ten times faster; texts with one of the few constructs
that it reads differently go to the pure loader, which is the one cloud-init uses.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import yaml

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import BadValue, TooDeep

__all__ = ["MAX_BYTES", "MAX_VALUES", "dumped", "independent", "load_config", "load_yaml", "measured", "same"]

MAX_BYTES = 10_000_000
"""The size of the largest text that is read, and of all that one call unpacks."""

# Tabs, byte order marks, "?" and "x:," in flow collections, lone tags, directives.
_READ_DIFFERENTLY = re.compile(r"[\t\ufeff?]|:[,\[\]{}]|(?:^|[\s,\[{])!(?=[\s,\[\]{}]|$)|^%", re.MULTILINE)


class _PureLoader(yaml.SafeLoader):
    """The loader that cloud-init uses."""


_FastLoader: Any = type("_FastLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})


def _text(loader: Any, node: yaml.ScalarNode) -> Any:
    return loader.construct_scalar(node)


for _loader in (_PureLoader, _FastLoader):
    # A tag that Python 2 wrote, and that cloud-init still reads.
    _loader.add_constructor("tag:yaml.org,2002:python/unicode", _text)


def loader_for(text: str) -> Any:
    """The loader that reads *text* as cloud-init does, the fastest there is."""
    return _PureLoader if _READ_DIFFERENTLY.search(text) else _FastLoader


_TAG = "tag:yaml.org,2002:"
_STR, _SEQ, _MAP, _MERGE = f"{_TAG}str", f"{_TAG}seq", f"{_TAG}map", f"{_TAG}merge"


class _Unusual(Exception):
    """A document that only the loader's own constructor can make: merge keys, sets, loops."""


def _tree_of(text: str) -> Any:
    """The tree of a text: plain maps, lists and texts are made here, all else by the loader's constructor."""
    loader = loader_for(text)(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        try:
            return _plain(loader, node, {})
        except _Unusual:
            return loader.construct_document(node)
    finally:
        loader.dispose()


def _plain(loader: Any, node: Any, known: dict[Any, Any]) -> Any:
    tag = node.tag
    if tag == _STR and type(node.value) is str:
        return node.value
    if node in known:
        if known[node] is _Unusual:
            raise _Unusual
        return known[node]
    known[node] = _Unusual  # a collection inside itself
    made: Any
    if tag == _SEQ and type(node) is yaml.SequenceNode:
        made = []
        for entry in node.value:
            made.append(_plain(loader, entry, known))
    elif tag == _MAP and type(node) is yaml.MappingNode:
        made = {}
        for key, entry in node.value:
            if type(key) is not yaml.ScalarNode or key.tag == _MERGE:
                raise _Unusual
            made[_plain(loader, key, known)] = _plain(loader, entry, known)
    elif type(node) is yaml.ScalarNode:
        made = loader.construct_object(node, deep=True)
    else:
        raise _Unusual
    known[node] = made
    return made


def load_yaml(text: str) -> Any:
    """What a text says; what an alias repeats is one object.

    raises: CloudConfigError of kind "empty" for broken YAML, with its line; "too-large" or
            "too-deep" past the limits
    """
    if len(text) > MAX_BYTES:
        raise too_large("the text")
    try:
        tree = _tree_of(text)
        size = measured(tree)
    except yaml.YAMLError as error:
        raise _broken(error) from error
    except (ValueError, OverflowError) as error:
        raise CloudConfigError("empty", f"broken YAML: {error}") from error
    except (RecursionError, TooDeep):
        raise CloudConfigError("too-deep", "nested deeper than 500 levels, or inside itself") from None
    if size > MAX_VALUES:
        raise CloudConfigError(
            "too-large",
            f"holds more than {MAX_VALUES:,} values",
            hint="aliases are counted as often as they are used",
        )
    return tree


def load_config(text: str) -> dict[Any, Any]:
    """The mapping that a cloud-config says.

    raises: CloudConfigError, of kind "empty" too where the text says nothing or no mapping
    """
    tree = load_yaml(text)
    if isinstance(tree, dict):
        return tree
    if tree is None:
        raise CloudConfigError("empty", "the part says nothing", hint="write key: value, or leave the part out")
    kinds: dict[type, str] = {list: "a list", str: "plain text"}
    raise CloudConfigError(
        "empty",
        f"a cloud-config is a mapping, and this is {kinds.get(type(tree), f'a {type(tree).__name__}')}",
        hint="write key: value",
    )


def _broken(error: yaml.YAMLError) -> CloudConfigError:
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).partition("\n")[0]
    if isinstance(error, yaml.constructor.ConstructorError) and "python/" in problem:
        problem = "a tag that asks for a Python object"
    where = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    return CloudConfigError("empty", f"broken YAML: {problem}", line=where[0], column=where[1])


def too_large(what: str) -> CloudConfigError:
    """The error for what is past `MAX_BYTES`."""
    return CloudConfigError(
        "too-large", f"{what} is larger than {MAX_BYTES // 1_000_000} MB", hint="split it into several"
    )


def dumped(tree: Any) -> str:
    """A tree as cloud-init writes it: keys sorted where they can be, indented by four, `---` and `...`."""
    return str(
        yaml.dump(
            tree,
            line_break="\n",
            indent=4,
            explicit_start=True,
            explicit_end=True,
            default_flow_style=False,
            Dumper=yaml.SafeDumper,
        )
    )


# --- the trees that it makes ------------------------------------------------------------

MAX_VALUES = 1_000_000
"""The maps, lists and scalars that one tree may hold, its aliases written out."""

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None), date, datetime, bytes})


def independent(value: Any) -> Any:
    """A copy that shares no mutable part with *value*: exact dicts and lists; tuples and sets stay what they are.

    cost:   one visit a map and list, one look a scalar
    raises: TooDeep, past 500 levels; BadValue, for what no YAML document says

    >>> independent({None: [1, (2, [3])]})
    {None: [1, (2, [3])]}
    """
    kind = type(value)
    if kind is dict:
        return _copied_map(value, MAX_DEPTH)
    return value if kind in _SCALARS else _copied(value, MAX_DEPTH)


def _copied_map(value: dict[Any, Any], room: int) -> dict[Any, Any]:
    # Written out for dicts: this copy is half of what a merge costs.
    if not room:
        raise _too_deep()
    scalars = _SCALARS
    out = value.copy()
    for key, entry in value.items():
        kind = type(entry)
        if kind in scalars:
            continue
        out[key] = _copied_map(entry, room - 1) if kind is dict else _copied(entry, room - 1)
    return out


def _copied(value: Any, room: int) -> Any:
    if not room:
        raise _too_deep()
    scalars = _SCALARS
    if type(value) is list:
        out = value.copy()
        for index, entry in enumerate(value):
            if type(entry) not in scalars:
                out[index] = _copied(entry, room - 1)
        return out
    if isinstance(value, dict):
        return _copied_map(dict(value), room)
    if isinstance(value, (list, tuple)):
        items = _copied(list(value), room)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(value)
    for plain in (str, bool, int, float, bytes, datetime, date):
        if isinstance(value, plain):
            return value
    raise BadValue(f"a cloud-config cannot hold a {type(value).__name__}", path=())


def _too_deep() -> TooDeep:
    return TooDeep(f"nested deeper than {MAX_DEPTH} levels, or inside itself", path=())


def measured(value: Any) -> int:
    """How many values a tree holds once everything shared is written out.

    cost:   one visit for each object, however often it is shared
    raises: TooDeep, past 500 levels, or where a tree holds itself
    """
    return _sized(value, {}, set(), MAX_DEPTH)[0]


def _sized(value: Any, known: dict[int, tuple[int, int]], open_: set[int], room: int) -> tuple[int, int]:
    """The number of values, and the height."""
    if not isinstance(value, (dict, list, tuple)):
        return 1, 0
    identity = id(value)
    size = known.get(identity)
    if size is None:
        if identity in open_ or not room:
            raise _too_deep()
        open_.add(identity)
        total, height = 1, 0
        for entry in value.values() if isinstance(value, dict) else value:
            if isinstance(entry, (dict, list, tuple)):
                more, below = _sized(entry, known, open_, room - 1)
                total, height = total + more, max(height, below)
            else:
                total += 1
        open_.discard(identity)
        size = known[identity] = total, height + 1
    if size[1] > room:
        raise _too_deep()
    return size


def same(left: Any, right: Any) -> bool:
    """Whether two trees are equal, types and all; the order of keys does not count."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(entry, right[key]) for key, entry in left.items())
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
