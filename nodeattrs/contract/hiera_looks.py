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

    A look of a kind in HIERA is one lookup that the run of the other node made. `look` makes it for this node, and
    returns the value, or raises NotFound without a Hiera tree.
    hiera: the Hiera tree; None: the repository has none
    name:  the node
    facts: the facts of the node, as its file has them. Facts that the run of the other node has set are added
    """

    def __init__(self, hiera: Lookup | None, name: str, facts: Mapping[str, Any]) -> None:
        self._hiera, self._name, self._facts = hiera, name, facts
        self._scopes: dict[tuple[str, str], LookupScope] = {}

    def look(self, look: Look) -> Any:
        """Repeat, for this node, a lookup that the run of another node made, and return the value of Hiera.

        look:   a look of a kind in HIERA
        raises: NodeattrsError; NotFound, without a Hiera tree
        """
        if self._hiera is None:
            raise NotFound("this repository has no Hiera tree")
        kind, environment, made, *rest = look
        if (environment, made) not in self._scopes:
            known = {**self._facts, **json.loads(made)}
            self._scopes[environment, made] = self._hiera.scope(known, node=self._name, environment=environment)
        return self._scopes[environment, made].look((kind, *rest))
