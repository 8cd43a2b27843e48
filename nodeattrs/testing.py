"""Hypothesis strategies for trees, paths, layers and node programs.

There are few keys and few values on purpose, so that two layers meet at nearly every path. With many keys, a wrong law
would pass for hours. The strategies make plain data, and import no node.

The module imports without Hypothesis. A call of a strategy without it raises MissingExtra, which names the extra `dev`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nodeattrs.errors import Path, missing_extra

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class _Missing:
    """Replaces `hypothesis.strategies` where Hypothesis is not installed; raises MissingExtra on any use."""

    def __getattr__(self, name: str) -> NoReturn:
        raise missing_extra("hypothesis", "dev", "making random trees and programs")


try:
    from hypothesis import strategies as st
except ImportError:
    st = _Missing()  # type: ignore[assignment]  # used in place of the module

__all__ = ["COMPONENTS", "KEYS", "SCALARS", "layers", "paths", "programs", "trees", "values"]

KEYS: tuple[str | int, ...] = ("a", "b", "c", 0)
"""Keys of maps. The number is a key like any other, and the first index of a list."""

SCALARS: tuple[Any, ...] = (None, False, True, 1, 1.0, "1", "x")
"""Values that are easily taken for one another."""

COMPONENTS: tuple[str, ...] = (
    "default",
    "env_default",
    "role_default",
    "force_default",
    "normal",
    "override",
    "role_override",
    "env_override",
    "force_override",
    "automatic",
)
"""The ten components of a node, weakest first."""

Step = dict[str, Any]

_WRITTEN = ["default", "normal", "override"]
_FULL = ["default", "force_default", "normal", "override", "force_override"]


def values(
    keys: Sequence[str | int] = KEYS, scalars: Sequence[Any] = SCALARS, max_leaves: int = 5
) -> SearchStrategy[Any]:
    """A strategy for values of an attribute: a scalar, or a list or map of values, with about *max_leaves* scalars."""
    return st.recursive(
        st.sampled_from(list(scalars)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(keys)), inner, max_size=3),
        max_leaves=max_leaves,
    )


def trees(
    keys: Sequence[str | int] = KEYS, scalars: Sequence[Any] = SCALARS, max_leaves: int = 5
) -> SearchStrategy[dict[str | int, Any]]:
    """A strategy for trees of attributes: maps of at most three keys, empty ones too.

    >>> tree = trees(keys=("a", "b")).example()  # doctest: +SKIP
    >>> tree  # doctest: +SKIP
    {'b': {'a': None}}
    """
    return st.dictionaries(st.sampled_from(list(keys)), values(keys, scalars, max_leaves), max_size=3)


def paths(keys: Sequence[str | int] = KEYS, min_size: int = 1, max_size: int = 3) -> SearchStrategy[Path]:
    """A strategy for paths: tuples of steps from *keys*."""
    return st.lists(st.sampled_from(list(keys)), min_size=min_size, max_size=max_size).map(tuple)


def layers(
    ranks: Sequence[int] = range(1, 16), keys: Sequence[str | int] = KEYS, scalars: Sequence[Any] = SCALARS
) -> SearchStrategy[dict[int, dict[str | int, Any]]]:
    """A strategy for maps rank -> tree, weakest first and perhaps empty: for a fold, or the fifteen slots of a node."""
    drawn = st.dictionaries(st.sampled_from(list(ranks)), trees(keys, scalars), max_size=len(ranks))
    return drawn.map(lambda drawn_steps: {rank: drawn_steps[rank] for rank in sorted(drawn_steps)})


def programs(
    max_size: int = 12,
    keys: Sequence[str | int] = KEYS,
    scalars: Sequence[Any] = SCALARS,
    verbs: Sequence[str] = (),
    interleaved: bool = False,
    min_size: int = 1,
    components: Sequence[str] = COMPONENTS,
) -> SearchStrategy[list[Step]]:
    """A strategy for programs: lists of steps that attribute files and recipes may do to a node, as data.

    Each step is a map with `op` and the arguments of the op. A further key says "attribute file" or "recipe".
    Attribute files come before recipes, unless *interleaved*.

    op            arguments                   the line that a cookbook would hold
    set           slot, path, value           node.SLOT[a][b] = value
    level_get     slot, path                  node.SLOT[a][b]
    delete        slot, path                  node.SLOT[a].delete(b)
    array         slot, path, method, args    node.SLOT[a][b].METHOD(*args), METHOD one that changes a list
    hash          slot, path, method, args    node.SLOT[a].update(map) or .clear()
    replace_slot  slot, value                 node.SLOT = value
    set_unless    level, path, value          node.LEVEL_unless(a, b, value)
    assign        level, path, value          node.LEVEL_full(a, b, value)
    write         level, path, value          node.write(level, a, b, value); write! is write_strict
    unlink        level, path                 node.unlink(level, a, b); unlink! is unlink_strict
    rm            path                        node.rm(a, b); so rm_default, rm_normal, rm_override
    copy          slot, path, from_slot, from node.SLOT[a] = node[b]; from_slot is "merged" or a component
    get           path                        walk(node, a, b)
    read          path                        node.read(a, b); read! is read_strict, exist? is exist
    merged        path                        node.merged(a, b); so combined_default, combined_override

    max_size, min_size: the largest and smallest number of steps
    keys:               the keys and indexes of which paths are made
    scalars:            the values that are no maps or lists
    verbs:              only these ops; empty for all. With `set` among them, half of all steps are `set`
    interleaved:        whether recipes may come before attribute files
    components:         the components that are written, if the op has them (`default_unless` has no `role_default`)
    """
    steps = _steps(keys, scalars, verbs, components)
    setters = st.sampled_from(["attribute file", "recipe"])

    def spelled(drawn_steps: list[tuple[str, Step]]) -> list[Step]:
        written = drawn_steps if interleaved else sorted(drawn_steps, key=lambda pair: pair[0])
        return [{"speaker": locator, **step} for locator, step in written]

    return st.lists(st.tuples(setters, steps), min_size=min_size, max_size=max_size).map(spelled)


def _steps(
    keys: Sequence[str | int], scalars: Sequence[Any], verbs: Sequence[str], components: Sequence[str]
) -> SearchStrategy[Step]:
    value, scalar, path = values(keys, scalars), st.sampled_from(list(scalars)), paths(keys).map(list)
    slot = st.sampled_from(list(components))
    written = st.sampled_from([name for name in _WRITTEN if name in components] or _WRITTEN)
    full = st.sampled_from([name for name in _FULL if name in components] or _FULL)
    index = st.sampled_from([0, 1, 2])
    calls: SearchStrategy[tuple[str, list[Any]]] = st.one_of(
        st.tuples(st.sampled_from(["append", "push", "unshift"]), st.tuples(value).map(list)),
        st.tuples(st.sampled_from(["concat", "replace"]), st.tuples(st.lists(value, max_size=2)).map(list)),
        st.tuples(st.just("insert"), st.tuples(index, value).map(list)),
        st.tuples(st.sampled_from(["reverse", "clear", "pop", "shift", "uniq", "sort"]), st.builds(list)),
        st.tuples(st.just("delete"), st.tuples(scalar).map(list)),
        st.tuples(st.just("delete_at"), st.tuples(index).map(list)),
    )
    changes: SearchStrategy[tuple[str, list[Any]]] = st.one_of(
        st.tuples(st.just("update"), st.tuples(trees(keys, scalars)).map(list)),
        st.tuples(st.just("clear"), st.builds(list)),
    )

    def step(op: str, **arguments: SearchStrategy[Any]) -> SearchStrategy[Step]:
        return st.fixed_dictionaries({"op": st.just(op), **arguments})

    def called(op: str, some: SearchStrategy[tuple[str, list[Any]]]) -> SearchStrategy[Step]:
        drawn = st.fixed_dictionaries({"op": st.just(op), "slot": slot, "path": path, "call": some})
        return drawn.map(_with_call)

    known = {
        "set": step("set", slot=slot, path=path, value=value),
        "level_get": step("level_get", slot=slot, path=path),
        "delete": step("delete", slot=slot, path=path),
        "array": called("array", calls),
        "hash": called("hash", changes),
        "replace_slot": step("replace_slot", slot=slot, value=trees(keys, scalars)),
        "set_unless": step("set_unless", level=written, path=path, value=value),
        "assign": step("assign", level=full, path=path, value=value),
        "write": step("write", level=slot, path=path, value=value),
        "write!": step("write!", level=slot, path=path, value=value),
        "unlink": step("unlink", level=slot, path=path),
        "unlink!": step("unlink!", level=slot, path=path),
        "rm": step("rm", path=path),
        "rm_default": step("rm_default", path=path),
        "rm_normal": step("rm_normal", path=path),
        "rm_override": step("rm_override", path=path),
        "copy": step("copy", slot=slot, path=path, from_slot=st.just("merged") | slot, **{"from": path}),
        "get": step("get", path=path),
        "read": step("read", path=path),
        "read!": step("read!", path=path),
        "exist?": step("exist?", path=path),
        "merged": step("merged", path=path),
        "combined_default": step("combined_default", path=path),
        "combined_override": step("combined_override", path=path),
    }
    chosen = [known[verb] for verb in verbs or known]
    # Half of all steps store something: a program that only removes finds nothing to remove.
    return st.one_of(known["set"], st.one_of(chosen)) if "set" in (verbs or known) else st.one_of(chosen)


def _with_call(drawn: Step) -> Step:
    method, arguments = drawn["call"]
    return {**{name: value for name, value in drawn.items() if name != "call"}, "method": method, "args": arguments}
