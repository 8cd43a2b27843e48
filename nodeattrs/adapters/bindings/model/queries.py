"""Queries: producers that read the instances of the objects, whole or one attribute of one.

What they find they note in their `Scope`, so that a graph can show it. A comparison is here too;
the expressions of the text language compare in the same way.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.bindings.codes import BAD_OPTION, NOTHING_PRODUCED, QUERY_RESULT_COUNT
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.producers import Producing, Ref, Scope, called, none_given
from nodeattrs.adapters.bindings.model.types import Asked, Type
from nodeattrs.puppet.references import Reference
from nodeattrs.texts.patterns import expression

Condition = tuple[Any, ...]
"""(attribute, operator, value), ("or", conditions, conditions, ...) or ("not", conditions)."""

PATTERN_SIGNS = ("=~", "!~", "~=", "~!")
SIGNS = ("==", "!=", "<", "<=", ">", ">=", *PATTERN_SIGNS)
"""The operators of comparisons; those with a pattern on the right are the last four."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ALIKE: tuple[tuple[type, ...], ...] = ((int, float), (str,))


@dataclass(frozen=True)
class Query(Producing):
    """The instances of a type for which all conditions hold; the value is the list of their references."""

    type: Type
    where: tuple[Condition, ...] = ()

    def found(self, scope: Scope) -> list[Reference]:
        """The references that match, in the order of the objects; the reading is recorded."""
        matches = [
            Reference(reference)
            for reference, parameters in scope.objects.of_type(self.type.name, self.where)
            if self._holds(self.where, Reference(reference), parameters)
        ]
        scope.record(self, matches)
        return matches

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a query")
        return self.found(scope) if scope.objects.is_there else None

    def _holds(self, where: tuple[Condition, ...], reference: Reference, has: Mapping[str, Any]) -> bool:
        return all(self._one(condition, reference, has) for condition in where)

    def _one(self, condition: Condition, reference: Reference, has: Mapping[str, Any]) -> bool:
        if condition[0] == "or" and not isinstance(condition[1], str):
            return any(self._holds(side, reference, has) for side in condition[1:])
        if condition[0] == "not" and not isinstance(condition[1], str):
            return not self._holds(condition[1], reference, has)
        attribute, sign, wanted = condition
        actual = has.get(attribute, reference.id if attribute in ("name", "title") else None)
        if isinstance(actual, (list, tuple)) and not isinstance(wanted, list):  # one of several, such as roles
            within = (compared(one, sign, wanted) for one in actual)
            return all(within) if sign in ("!=", "!~", "~!") else any(within)
        return compared(actual, sign, wanted)

    def describe(self) -> str:
        return f"query {self.type.name} where {' and '.join(map(_condition_text, self.where)) or 'anything'}"


def compared(actual: Any, sign: str, wanted: Any) -> bool:
    """Whether a comparison holds: texts with texts, numbers with numbers; others are never ordered.

    >>> compared(5432, ">", 80), compared("5432", ">", 80), compared("db1", "=~", "^db")
    (True, False, True)
    """
    if sign in ("==", "!="):
        same = type(actual) is type(wanted) or _alike(actual, wanted)
        return (same and actual == wanted) == (sign == "==")
    if sign in PATTERN_SIGNS:
        one, flags = (wanted.pattern, wanted.flags) if isinstance(wanted, re.Pattern) else (str(wanted), 0)
        found = isinstance(actual, str) and expression(one, flags).search(actual)
        return found == (sign in ("=~", "~="))
    return _alike(actual, wanted) and _COMPARE[sign](actual, wanted)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return any(isinstance(one, kinds) and isinstance(other, kinds) for kinds in _ALIKE)


def _condition_text(condition: Condition) -> str:
    return " ".join(str(part) for part in condition)


@dataclass(frozen=True)
class Attribute(Producing):
    """One attribute of what another producer gives: how parameters come from an instance or a query.

    select: picks one of several instances that a query found
    """

    of: Producing
    name: str
    select: Any = None
    optional: bool = False

    @property
    def keeps(self) -> bool:
        return self.of.keeps

    def asks(self) -> Iterator[Asked]:
        return self.of.asks()

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a parameter")
        holder = self._holder(scope)
        if holder is None:
            if self.optional:
                return None
            raise BindingError(NOTHING_PRODUCED, f"{self.of.describe()} does not exist", hint="is `optional` meant?")
        value = holder.get(self.name) if isinstance(holder, Mapping) else getattr(holder, self.name, None)
        if value is None and not self.optional:
            raise BindingError(NOTHING_PRODUCED, f"{self.of.describe()} has no {self.name!r}")
        return value

    def _holder(self, scope: Scope) -> Any:
        if isinstance(self.of, Query):
            reference = self._selected(self.of.found(scope), scope)
            return None if reference is None else scope.objects.instance(reference)
        if isinstance(self.of, Ref) and self.of.type.name not in ("Type", "Pattern"):
            found = scope.objects.instance(self.of.reference)
            return found if found is not None or self.of.is_instance else scope.ask(Asked(self.of.type))
        return self.of.produce(scope, {})

    def _selected(self, found: list[Reference], scope: Scope) -> Reference | None:
        if not found and self.optional:
            return None
        if len(found) > 1 and self.select is not None:
            select = called(self.select, scope)
            if select is None:
                raise BindingError(BAD_OPTION, f"select_result names {self.select!r}, which nobody knows")
            return _picked(select(found), found)
        if len(found) != 1:
            raise BindingError(
                QUERY_RESULT_COUNT,
                f"{self.of.describe()} found {', '.join(found) or 'nothing'}; it must find one",
                hint="select_result can pick one of several; `optional` allows none",
            )
        return found[0]

    def describe(self) -> str:
        return f"{self.name} of {self.of.describe()}"


def _picked(picked: Any, found: list[Reference]) -> Reference:
    if picked in found:
        return Reference(picked)
    raise BindingError(QUERY_RESULT_COUNT, f"select_result gave {picked!r}, which is none of {', '.join(found)}")
