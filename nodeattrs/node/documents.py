"""A node as Chef's node JSON, and its values as JSON data.

Chef's form has four levels, each merged from several slots, so origins are lost; a snapshot (`node.snapshots`) keeps
them. Secrets are replaced by a marker. Only data is made here; files and stores belong to other modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nodeattrs.core.tree import ABSENT, NO_ENTRIES, SCALARS, Path
from nodeattrs.errors import DeferredCycle, ValueWithheld
from nodeattrs.node.joined import joined_roots, plain
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.slot_names import CHEF_RULES
from nodeattrs.node.slots import DEFAULT_GROUP, NORMAL_GROUP, OVERRIDE_GROUP
from nodeattrs.node.values import MARKER, Deferred, Sensitive, Symbol, Withheld

LEVELS = ("automatic", "normal", "default", "override")
"""The levels of Chef's node JSON, in its order."""

FORMAT = "nodeattrs-snapshot"
VERSION = 3
"""Of snapshots. Version 1 had no plain maps ("j"), version 2 not who worked on a list ("of"); both are still read."""


def json_ready(value: Any, path: Path = ()) -> Any:
    """A copy of a slot's value for JSON: deferred values are computed, secrets become MARKER, keys and symbols become
    text.

    A deferred value that fails becomes {"$deferred": reason}. If a map has the keys 1 and "1", the last one is kept, as
    in Chef; `running.double_keys` finds such keys. Values of other types stay as they are.
    path:   where the value is in the node, for messages
    raises: DeferredCycle
    """
    # Loops, here and below: a comprehension takes a second frame a level on CPython 3.11.
    if isinstance(value, dict):
        document = {}
        for key, inner in value.items():
            document[str(key)] = inner if type(inner) in SCALARS else json_ready(inner, (*path, key))
        return document
    if isinstance(value, list):
        items = []
        for index, inner in enumerate(value):
            items.append(inner if type(inner) in SCALARS else json_ready(inner, (*path, index)))
        return items
    if isinstance(value, Deferred):
        return json_ready(computed_or_failure(value, path), path)
    if isinstance(value, (Sensitive, Withheld)) or hasattr(value, "not_decrypted"):
        return dict(MARKER)
    return str(value) if type(value) is Symbol else value


FAILED = "$deferred"
"""The one key of the map that replaces a deferred value that failed: {"$deferred": reason}."""


def computed_or_failure(value: Deferred, path: Path) -> Any:
    """The result of a deferred value. If its function raises an error, {"$deferred": reason} instead.

    raises: DeferredCycle, which is not caught
    """
    try:
        return value.evaluate(path)
    except DeferredCycle:
        raise
    except ValueWithheld as error:
        return {FAILED: "; ".join(error.details) or error.message}
    except Exception as error:
        return {FAILED: f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")}


def failures_in(
    value: Any, path: Path = (), is_left_out: Callable[[Deferred], bool] = lambda _: False
) -> Iterator[tuple[Path, str]]:
    """Yield (path, reason) of each deferred value in *value* that cannot be computed now, or could not when it was
    saved. Deferred values are computed, except those for which *is_left_out* returns True.

    path: the path of *value*, put in front of each path
    """
    if isinstance(value, Deferred):
        if is_left_out(value):
            return
        try:
            value = computed_or_failure(value, path)
        except DeferredCycle as error:
            yield path, error.message
            return
    if isinstance(value, dict) and value.keys() == {FAILED}:
        yield path, str(value[FAILED])
    elif isinstance(value, (dict, list)):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from failures_in(inner, (*path, step), is_left_out)


def json_default(value: Any) -> Any:
    """The `default` of `json.dumps`: nodes, views, writers, deferred values and secrets as JSON data.

    Deferred values are computed, secrets become a marker, and keys become text.
    raises: TypeError, for any other object

    >>> import json
    >>> from nodeattrs import Node
    >>> node = Node("web1")
    >>> node.default["ports"] = [80, 443]
    >>> json.dumps(node, default=json_default)
    '{"ports": [80, 443]}'
    """
    to_plain = getattr(value, "to_plain", None)
    if to_plain is not None:
        return json_ready(to_plain())
    if isinstance(value, (Deferred, Sensitive, Withheld)):
        return json_ready(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def chef_document(ledger: Ledger, name: str, environment: str, run_list: Sequence[str], shared: bool) -> dict[str, Any]:
    """Chef's node JSON as data; `Node.to_chef` documents it.

    shared: True: facts in it may be the node's own objects, so that nothing in it may be changed
    """
    levels = _chef_levels(ledger, shared)
    rules = [rule.to_dict() for rule in ledger.rules]
    return {
        "name": name,
        "chef_environment": environment,
        "json_class": "Chef::Node",
        "automatic": levels["automatic"],
        "normal": levels["normal"],
        "chef_type": "node",
        "default": levels["default"],
        "override": levels["override"],
        "run_list": list(run_list),
        **({CHEF_RULES: rules} if rules else {}),
    }


_GROUPS = {"normal": NORMAL_GROUP, "default": DEFAULT_GROUP, "override": OVERRIDE_GROUP}


def _chef_levels(ledger: Ledger, shared: bool) -> dict[str, dict[str, Any]]:
    with ledger.lock:
        facts = dict(ledger.trees[15])
        settled = ledger.settled if shared and all(type(key) is str for key in facts) else NO_ENTRIES
        kept = {key: value for key, value in facts.items() if value is settled.get(key, ABSENT)}
        rest = plain({key: value for key, value in facts.items() if key not in kept}, False)
        groups = {level: ledger.plan(group) for level, group in _GROUPS.items()} if ledger.rules else _GROUPS
        trees = {level: plain(joined_roots(ledger.trees, group), False) for level, group in groups.items()}
    whole = {**json_ready(rest), **kept}
    return {
        "automatic": {str(key): whole[str(key)] for key in facts},
        **{level: json_ready(tree) for level, tree in trees.items()},
    }
