"""The variables of a site for one node: settings and facts, read one by one.

Nodes whose sites read the same may share their answers (`core.looks`), so each fact that is read is noted alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodeattrs.core.looks import IS, NAME, NAMED, SORT, TREE, Looks


class NodeVariables(Mapping[str, Any]):
    """Name -> value: what is set here, else a fact, else for `fqdn` the name of the node.

    node:   the name of the node
    given:  variables that are no facts of the node; they count before its facts
    hidden: names that no fact may give
    looks:  where reads are noted; None: nowhere
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        node: str,
        given: Mapping[str, Any],
        hidden: Iterable[str] = (),
        looks: Looks | None = None,
    ) -> None:
        self._facts, self._node, self._looks = facts, node, looks
        self._given = dict(given)
        self._hidden = frozenset(hidden)

    def __getitem__(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        if name in self._hidden:
            raise KeyError(name)
        if self._looks is not None:
            self._looks.insist(TREE, (name,))
        if name in self._facts:
            return self._facts[name]
        if name != "fqdn":
            raise KeyError(name)
        if self._looks is not None:
            self._looks.insist(*NAME)
        return self._node

    def __iter__(self) -> Iterator[str]:
        if self._looks is not None:
            self._looks.insist(TREE, ())
        names = [name for name in self._facts if name not in self._hidden]
        return iter(dict.fromkeys([*self._given, *names, "fqdn"]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def with_given(self, given: Mapping[str, Any], hidden: Iterable[str]) -> NodeVariables:
        """The same facts below other variables. given, hidden: as of the class"""
        return NodeVariables(self._facts, self._node, given, hidden, self._looks)

    def unnoted(self) -> NodeVariables:
        """The same variables; reading them is no look. The caller notes what it compares with `compare`."""
        return NodeVariables(self._facts, self._node, self._given, self._hidden)

    def compare(self, name: str, text: str | None) -> None:
        """Note that it matters whether a variable is a text, and of what sort it is.

        text: in lower case; None: all of the variable matters
        """
        if self._looks is None or name in self._given:
            return
        if text is None:
            self.get(name)
            return
        self._looks.insist(SORT, (name,))
        self._looks.insist(IS, (name,), text)
        if name == "fqdn" and name not in self._facts:
            self.compare_name(text)

    def compare_name(self, text: str | None) -> None:
        """Note that it matters whether the name of the node is a text. text: in lower case; None: all of it matters"""
        if self._looks is not None:
            self._looks.insist(*NAME if text is None else (NAMED, text))
