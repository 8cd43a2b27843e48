"""Merge plain values by merge definitions, without texts, parts and reports.

`merge_values` merges two values. `merge_many` merges several configs, as conf.d files and layers are merged. Arguments
are never changed, and results share no map or list with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nodeattrs.core.borders import ListLike, taking
from nodeattrs.core.folding import Folding
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ANY, MAP, MEET, PRESENT, TAKE, Line, Policy
from nodeattrs.dialects.cloudinit.mergers import (
    CONFIG_DEFAULT,
    PART_DEFAULT,
    Definition,
    Mode,
    definition_of,
    lay,
    parse_definition,
    policy_of,
    take_definition,
)
from nodeattrs.dialects.cloudinit.parts import independent
from nodeattrs.errors import TooDeep

WORDS: dict[str, Definition] = {
    "append": parse_definition("dict(no_replace,recurse_list)+list(append)+str()"),
    "prepend": parse_definition("dict(no_replace,recurse_list)+list(prepend)+str()"),
    "replace": PART_DEFAULT,
    "deep": parse_definition("dict(no_replace,recurse_list,recurse_str)+list(append)+str()"),
}
"""Words for common definitions, as --how and --merge-type take them."""


ANY_DEFINITION = Policy(
    "a definition that is not known",
    Line(MAP, MAP, MEET, "two mappings may meet key by key"),
    Line(ANY, PRESENT, TAKE, "it may ask for any mergers"),
)
"""The policy for an unknown layer, which may have any definition."""


@taking(text=str)
def word_or_definition(text: str) -> Definition:
    """The definition of a word in `WORDS`, or else the text read as a definition. raises: CloudConfigError

    >>> print(word_or_definition("append"))
    dict(no_replace,recurse_list)+list(append)+str()
    """
    return WORDS.get(text.strip().lower()) or parse_definition(text)


def as_definition(how: Any) -> Definition:
    """*how* itself if it is a Definition, else what `definition_of` reads from it. raises: CloudConfigError"""
    return how if isinstance(how, Definition) else definition_of(how)


@taking(mode=("current", "documented"))
def merge_values(base: Any, update: Any, how: Any, *, mode: Mode = "current") -> Any:
    """*base* with *update* merged into it by a definition. Neither is changed; the result shares no map or list.

    how:    a `Definition`, or a value that `merge_how` may have; without mergers the result is *base*
    mode:   "current" is what cloud-init does, "documented" what its older manual says
    cost:   a copy of both values and of the result
    raises: CloudConfigError, for *how*; MergeConflict, for values that cannot be combined; TooDeep
    source: docs/cloudinit.md, "The three mergers"

    >>> merge_values({"runcmd": ["a"]}, {"runcmd": ["b"]}, "list(append)+dict(recurse_list)")
    {'runcmd': ['a', 'b']}
    """
    folding = Folding(start=Part(independent(base), None))
    try:
        lay(folding, Part(independent(update), None), policy_of(as_definition(how), mode))
        return independent(folding.result.value)
    except RecursionError:
        raise TooDeep("a value is nested too deep, or inside itself") from None


@taking(sources=ListLike, mode=("current", "documented"))
def merge_many(
    sources: Iterable[Mapping[Any, Any] | None], *, reverse: bool = False, mode: Mode = "current"
) -> dict[Any, Any]:
    """Merge configs into a new one. The first config is the strongest; with *reverse* the last one is.

    Each is merged by its own definition (`merge_how`), or by `list()+dict()+str()`. The definitions are not in the
    result. None and empty configs are skipped. Without any config the result is {}. The configs are not changed.

    mode:   "current" is what cloud-init does, "documented" what its older manual says
    raises: CloudConfigError or MergeConflict, for an error in any of them

    >>> merge_many([{"a": 1, "s": {"x": 1}}, {"a": 2, "s": {"y": 2}}])
    {'a': 1, 's': {'x': 1, 'y': 2}}
    """
    rows = list(sources)
    folding = Folding(start=Part({}, None))
    for source in reversed(rows) if reverse else rows:
        if not source:
            continue
        definition, rest, _ = take_definition(source)
        lay(folding, Part(independent(rest), None), policy_of(definition or CONFIG_DEFAULT, mode))
    merged = independent(folding.result.value)
    return merged if isinstance(merged, dict) else {}
