"""Looks (`core.looks`) that Hiera makes at a node during a run of another dialect, for nodes that share answers.

Such a look has the environment and the facts that the run itself has set, since Hiera's answer depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nodeattrs.contract.peers import Lookup, LookupScope
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NotFound

HIERA = "hiera"
"""The kind of these looks: (HIERA, environment, facts that the run has set as JSON, *look of the Hiera scope)."""


class LooksOfScope(Looks):
    """The `Looks` for one Hiera scope of a run: passes each look on to the run's own looks, as a look of the kind
    HIERA.

    looks:       of the run; it gets all looks and refusals
    facts:       the facts that the scope has; those that differ from the node's file were set by the run
    environment: of the node
    """

    def __init__(self, looks: Looks, facts: Mapping[str, Any], environment: str) -> None:
        super().__init__()
        self._looks = looks
        made = {key: value for key, value in facts.items() if repr(value) != repr(looks.facts.get(key, ABSENT))}
        made.pop("name", None)
        try:
            self._start = (HIERA, environment, json.dumps(made))
        except (TypeError, ValueError):
            looks.refuse("a cookbook sets automatic attributes that are no plain data")
            self._start = (HIERA, environment, "{}")

    def note(self, *look: Any) -> None:
        self._looks.note(*self._start, *look)

    def refuse(self, why: str) -> None:
        self._looks.refuse(why)


class LookedScopes:
    """Answers looks of the kind HIERA for one node after another. It keeps the scopes of the last node alone."""

    def __init__(self) -> None:
        self._name = ""
        self._scopes: dict[tuple[str, str], LookupScope] = {}

    def look(self, hiera: Lookup | None, name: str, facts: Mapping[str, Any], look: Look) -> Any:
        """The value that Hiera has for a node at a look of another node's run.

        hiera:  the tree; None where there is none
        facts:  of the node, as its file has them
        look:   of the kind HIERA
        raises: NodeattrsError; NotFound, without a Hiera tree
        """
        if hiera is None:
            raise NotFound("this repository has no Hiera tree")
        if self._name != name:
            self._name, self._scopes = name, {}
        _, environment, made, *its = look
        if (environment, made) not in self._scopes:
            known = {**facts, **json.loads(made)}
            self._scopes[environment, made] = hiera.scope(known, node=name, environment=environment)
        return self._scopes[environment, made].look(tuple(its))
