"""Looks for Hiera: notes of what its lookups read of a node during a run of another dialect.

Nodes share answers by their looks (`core.looks`). A look for Hiera has the environment, and the facts that the run
itself has set, since Hiera's answer depends on both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nodeattrs.contract.peers import Lookup, LookupScope
from nodeattrs.core.looks import IS_SET, LEVELS, VARIABLE, Look, Looks
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NotFound

HIERA = frozenset((LEVELS, VARIABLE, IS_SET))
"""The kinds of these looks: (kind, environment, facts that the run has set as JSON, *rest of the look of the scope)."""


class LooksOfScope(Looks):
    """The `Looks` for one Hiera scope of a run. It adds each look to the looks of the run, with a kind in HIERA.

    looks:       the looks of the run; they get all looks and refusals
    facts:       the facts of the scope. Those that differ from the facts of `looks` were set by the run
    environment: the environment of the scope

    `note` and `refuse` call the methods of *looks*; `made` stays empty. The constructor calls `looks.refuse` if the run
    has set facts that cannot be written as JSON.
    """

    def __init__(self, looks: Looks, facts: Mapping[str, Any], environment: str) -> None:
        super().__init__()
        self._looks = looks
        made = {key: value for key, value in facts.items() if repr(value) != repr(looks.facts.get(key, ABSENT))}
        made.pop("name", None)
        try:
            self._start = (environment, json.dumps(made))
        except (TypeError, ValueError):
            looks.refuse("a cookbook sets automatic attributes that are no plain data")
            self._start = (environment, "{}")

    def note(self, *look: Any) -> None:
        self._looks.note(look[0], *self._start, *look[1:])

    def refuse(self, why: str) -> None:
        self._looks.refuse(why)


class LookedScopes:
    """Repeats lookups of Hiera for one node, to find out whether it may share the answer of another node.

    The run of the other node has noted each of its lookups as a *look*, a tuple whose kind is in HIERA. `look(look)`
    repeats such a lookup for this node, and returns the value of this node. Without a Hiera tree it raises NotFound.
    The constructor reads nothing.
    hiera: the Hiera tree; None: the repository has none
    name:  the name of this node
    facts: the facts of this node, as its file has them. Facts in a look, which the other run has set, replace them
    """

    def __init__(self, hiera: Lookup | None, name: str, facts: Mapping[str, Any]) -> None:
        self._hiera, self._name, self._facts = hiera, name, facts
        self._scopes: dict[tuple[str, str], LookupScope] = {}

    def look(self, look: Look) -> Any:
        """Repeat, for this node, a lookup that the run of another node made, and return the value of this node.

        look:   a look in the form that HIERA describes
        raises: NotFound, without a Hiera tree; NodeattrsError, if Hiera cannot answer
        """
        if self._hiera is None:
            raise NotFound("this repository has no Hiera tree")
        kind, environment, made, *rest = look
        if (environment, made) not in self._scopes:
            known = {**self._facts, **json.loads(made)}
            self._scopes[environment, made] = self._hiera.scope(known, node=self._name, environment=environment)
        return self._scopes[environment, made].look((kind, *rest))
