"""Policies with names, for files of any kind: their class, and the policies that need no module of their own.

Each policy is data: the table of rules for two values that meet, other tables at some paths, and the order of merging.
No files are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, handler, made
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ACROSS,
    ANY,
    DROP,
    INSIDE,
    KEEP,
    MAP,
    MEET,
    NULL,
    PRESENT,
    TAKE,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.rules import PathRule, Table, at_paths, read_rules, ruled
from nodeattrs.core.tree import Path


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy with a name, such as "compose". Its method `plan` makes a `Fold` of layers; `core.fold.fold` merges it.

    `plan` takes layers, the weakest first, and rules for paths that the caller wants to merge in another way. Without
    layers it returns a fold without children. `to_dict` returns the texts and tables as data.

    name:     the name in settings and commands
    summary:  one sentence, for people
    source:   the tool or standard that has these rules, and the place in its documentation
    policy:   the table that says what two values become
    paths:    (path, other table) pairs; a step "*" of a path means any key
    opening:  the policy that merges the first layer over nothing; None: the layer is taken as it is
    among:    the policy that merges all layers but the first with each other; the result is then merged over the first
              layer. None: each layer is merged over the result so far
    from_top: True: merging begins with the strongest layer, and each weaker layer is merged below the result
    prepare:  a function from all layers to the layers that are merged instead, such as layers with other keys.
              Inner folds are not passed to it. None: the layers are merged as they are
    uniform:  a function from a key to its uniform spelling, such as one in lower case. Keys with the same uniform
              spelling are one key to the policy. None: keys are compared as they are written
    """

    name: str
    summary: str
    source: str
    policy: Policy
    paths: Sequence[tuple[Path, Table]] = ()
    opening: Policy | None = None
    among: Policy | None = None
    from_top: bool = False
    prepare: Callable[[Sequence[Layer]], Iterable[Layer]] | None = None
    uniform: Callable[[str], str] | None = None

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """The fold of some layers, the weakest first; nothing is merged yet. No layers: a fold without children.

        rules:  for some paths another way to merge; the rule decides there instead of the policy. () for none
        raises: DocumentError and TooMuch, where `prepare` refuses a layer
        """
        children = tuple(layers)
        if self.prepare is not None:
            prepared = iter(self.prepare([one for one in children if isinstance(one, Layer)]))
            children = tuple([next(prepared) if isinstance(one, Layer) else one for one in children])
        has_own = any(one.policy is not None for one in children[1:])
        if self.among is not None and (len(children) > 2 or has_own):
            children = (children[0], Fold(children[1:], ruled(self.among, rules)))
        table = ruled(at_paths(self.policy, self.paths), rules)
        return Fold(children[::-1] if self.from_top else children, table, self.from_top, self.opening)

    def to_dict(self) -> dict[str, Any]:
        """The policy as data: name, summary, source, "lines" as texts, and "at": path -> the lines that hold there."""
        tables = {".".join(path): table(self.policy) for path, table in self.paths}
        return {
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "lines": _lines(self.policy),
            "at": {path: _lines(table) for path, table in tables.items()},
        }


def by_tree(change: Callable[[Any], Any]) -> Callable[[Sequence[Layer]], list[Layer]]:
    """A function for `NamedPolicy.prepare`: its layers have the trees that *change* returns for their trees."""
    return lambda layers: [Layer(change(one.value), one.origin, one.title, one.policy) for one in layers]


def _lines(policy: Policy) -> list[str]:
    return [" ".join(str(line).split()) for line in policy.lines]


@handler(hides=True)
def _without_nulls(lower: Part, upper: Part) -> Part:
    return meet(_PATCH_BELOW, made({}, upper), upper)


_MAPS = Line(MAP, MAP, MEET, "two maps meet key by key")
_BARE = Line(ANY, MAP, _without_nulls, "a map replaces what is none, without its nulls")
_PATCH_BELOW = Policy(
    "json-merge-patch",
    _MAPS,
    Line(ABSENT_KIND, NULL, KEEP, "null sets nothing"),
    Line(PRESENT, NULL, DROP, "null removes the key"),
    _BARE,
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)
_PATCH = Policy(
    "json-merge-patch",
    Line(MAP, MAP, Meet(_PATCH_BELOW), "two maps meet key by key"),
    _BARE,
    Line(ANY, PRESENT, TAKE, "the later document replaces the earlier one"),
)
_WHOLE = Policy("replace, below the top", Line(ANY, PRESENT, TAKE, "the later file has the key"))
_REPLACE = Policy(
    "replace",
    Line(MAP, MAP, Meet(_WHOLE), "the keys of both"),
    Line(ANY, PRESENT, TAKE, "the later file replaces the earlier one"),
)
_OPTION = Policy(
    "tsconfig, an option",
    Line(PRESENT, NULL, DROP, "null removes the option"),
    Line(ANY, PRESENT, TAKE, "the file that extends has the option"),
)
_OPTIONS = Policy(
    "tsconfig, options",
    Line(MAP, MAP, Meet(_OPTION), "the options of both"),
    Line(ANY, PRESENT, TAKE, "the file that extends has the key"),
)


_JOINED_BY_RUFF = (
    "extend-exclude",
    "extend-include",
    "extend-select",
    "extend-ignore",
    "ignore",
    "extend-fixable",
    "unfixable",
    "extend-safe-fixes",
    "extend-unsafe-fixes",
    "extend-per-file-ignores.*",
)
"""Lists that Ruff joins where a file extends another one."""
_REPLACED_BY_RUFF = ("per-file-ignores", "*.*")
"""Maps among the options of linting that Ruff replaces; the last one is each option of a plugin."""


def _rules_of_ruff() -> Iterator[tuple[str, str]]:
    """Rules for ruff.toml, and for pyproject.toml: a path -> "append" or "replace"."""
    for home in ("", "tool.ruff."):
        yield from ((f"{home}lint.{one}", "replace") for one in _REPLACED_BY_RUFF)
        yield from ((f"{home}{above}{one}", "append") for above in ("", "lint.") for one in _JOINED_BY_RUFF)


INDEX = re.compile(r"[0-9]{1,4}", re.ASCII)
"""A key that may be the index of a list."""


class MovedKeys(NamedTuple):
    """Finds the lines of a file whose keys a policy has moved.

    inner:  the locator of the file
    places: path of a moved value -> its path in the file. Paths below it go with it
    """

    inner: Locator
    places: Mapping[Path, Path]

    def at(self, path: Path) -> Origin:
        """The place of a path; a path that was not moved is taken as it is."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.inner.at((*self.places[path[:end]], *path[end:]))
        return self.inner.at(path)


POLICIES = (
    NamedPolicy("across", "maps merge, anything else is replaced, lists too", "Chef, between levels", ACROSS),
    NamedPolicy("inside", "maps merge, lists unite, anything else is replaced", "Chef, inside a level", INSIDE),
    NamedPolicy(
        "json-merge-patch", "maps merge, null removes, anything else is replaced", "RFC 7396, section 2", _PATCH
    ),
    NamedPolicy("replace", "a key of a later file replaces all that an earlier one has there", "dict.update", _REPLACE),
    NamedPolicy(
        "tsconfig",
        "options of a file replace options of the files that it extends; any other key is replaced whole",
        "TypeScript, TSConfig Reference, extends",
        _REPLACE,
        tuple(((key,), lambda _: _OPTIONS) for key in ("compilerOptions", "watchOptions")),
    ),
    NamedPolicy(
        "ruff",
        "options of a file replace options of the files that it extends; lists of extend-* and of ignore are joined",
        "Ruff, Settings, extend",
        ruled(ACROSS, read_rules(dict(_rules_of_ruff()))),
    ),
)
"""Those that need no module of their own."""
