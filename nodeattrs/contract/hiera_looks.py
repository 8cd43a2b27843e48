"""Where Hiera looks at a node on behalf of another dialect, and what another node has there (`core.looks`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nodeattrs.contract.peers import Lookup, LookupScope
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NotFound

HIERA = "hiera"
"""The kind of looks at Hiera: (HIERA, environment, what a run has put into the facts as JSON, look of the scope)."""


class LooksOfScope(Looks):
    """Notes the looks of a Hiera scope at a node, each with what the run itself has put into the facts so far."""

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
    """The Hiera scopes of the node of the last look."""

    def __init__(self) -> None:
        self._name = ""
        self._scopes: dict[tuple[str, str], LookupScope] = {}

    def look(self, hiera: Lookup | None, name: str, facts: Mapping[str, Any], look: Look) -> Any:
        """What Hiera has for a node where another one looked.

        look:   of the kind `HIERA`
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
