"""Policies: named tables that say what happens where two values meet in a merge.

A policy is an ordered list of lines *(kinds of the lower value, kinds of the upper value, rule)*; the first line that
fits has the rule. "lower" and "upper" are the two sides that a fold merges. Most rules are verbs: KEEP, TAKE, DROP,
MEET. The rule for two exact types is the *verdict* for these types; it is looked up once and kept. The fold, the trace
and the lazy view all read the same table. The module knows no layers, no dialect and no order of precedence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import product
from typing import Any, Final, Literal, final

from nodeattrs.core.part import Handler, Join, unite
from nodeattrs.core.tree import Absent, hint_for
from nodeattrs.errors import BadArgument, PolicyError, wrong_argument

Kind = str
"""The kind of a value, by its exact type. A policy may add kinds of its own to these six."""

ABSENT_KIND: Kind = "absent"
NULL: Kind = "null"
MAP: Kind = "map"
LIST: Kind = "list"
TEXT: Kind = "text"
SCALAR: Kind = "scalar"

ANY_KEY: Any = object()
"""In `Policy.by_key`: every other key."""

ANY: tuple[Kind, ...] = ("any",)
"""Every kind, absent included."""
PRESENT: tuple[Kind, ...] = ("present",)
"""Every kind but absent."""

_KINDS: dict[type, Kind] = {Absent: ABSENT_KIND, type(None): NULL, dict: MAP, list: LIST, str: TEXT}
_PLAIN = (str, int, float, bool, type(None))
_CATCH_ALL = "the last line is for all that is left: Line(ANY, PRESENT, TAKE)"


class Rule(Enum):
    """The four verbs of a policy: rules that need no function. The names are also names of this module.

    KEEP  the lower value stays
    TAKE  the upper value replaces the lower one
    DROP  the key is removed, with both values
    MEET  two maps are merged key by key, under the policy that has the line
    """

    KEEP = "keep"
    TAKE = "take"
    DROP = "drop"
    MEET = "meet"


KEEP: Final = Rule.KEEP
TAKE: Final = Rule.TAKE
DROP: Final = Rule.DROP
MEET: Final = Rule.MEET


@final
class Meet:
    """A rule: two maps are merged key by key, and another policy decides about their entries and everything below.

    The constructor takes the policy, or a function () -> policy, so that two policies can name each other. It raises
    BadArgument for anything else. `Policy.verdict` calls `resolved`, which calls the function and returns a new Meet.
    policy: the policy; if a function was given, this attribute does not exist, and reading it raises AttributeError
    later:  the function; None if a policy was given
    """

    __slots__ = ("later", "policy")
    policy: Policy

    def __init__(self, policy: Policy | Callable[[], Policy]) -> None:
        self.later: Callable[[], Policy] | None = None
        if isinstance(policy, Policy):
            self.policy = policy
        elif callable(policy):
            self.later = policy
        else:
            raise wrong_argument("what maps Meet under", "a policy, or a function that gives one", policy)

    def resolved(self) -> Meet:
        """A Meet with a policy: a new one with the result of `later`, or this Meet if it has no `later`."""
        return self if self.later is None else Meet(self.later())


Verdict = Literal[Rule.KEEP, Rule.TAKE, Rule.DROP] | Meet | Handler


class Line:
    """One line of a policy: the rule for some kinds of values. Printed, it is a row of the table.

    The `Policy` that gets the line checks that the kinds exist and that the rule fits them.
    lower, upper: a kind, or a tuple of kinds; ANY is every kind, PRESENT every kind but absent
    rule:         a verb, `Meet(policy)`, another policy (its table decides), or a handler; a plain function
                  (lower part, upper part) -> part becomes a handler without promises
    why:          the reason in words, for the trace
    raises:       BadArgument, for a wrong rule or a kind of another type than text
    """

    __slots__ = ("lower", "rule", "upper", "why")

    def __init__(
        self,
        lower: Kind | tuple[Kind, ...],
        upper: Kind | tuple[Kind, ...],
        rule: Rule | Meet | Policy | Handler | Join,
        why: str = "",
    ) -> None:
        if callable(rule) and not isinstance(rule, (Handler, type)):
            rule = Handler(rule, getattr(rule, "__name__", "a function").strip("_"))
        if not isinstance(rule, (Rule, Meet, Policy, Handler)):
            verbs = ", ".join(Rule.__members__)
            hint = f"from nodeattrs import {verbs}; without quotes, they are no text"
            raise wrong_argument("the rule of a line", f"{verbs}, Meet(policy), a policy or a function", rule, hint)
        for kinds in (lower, upper):
            named = (kinds,) if isinstance(kinds, str) else kinds
            if not (isinstance(named, tuple) and all(isinstance(kind, str) for kind in named)):
                raise wrong_argument("a side of a line", "a kind, or a tuple of kinds", kinds, _KNOWN_KINDS)
        self.lower, self.upper, self.why = lower, upper, why
        self.rule: Rule | Meet | Policy | Handler = rule

    def __str__(self) -> str:
        rule = self.rule
        if isinstance(rule, Rule):
            does = rule.name
        elif isinstance(rule, Meet):
            does = "MEET under another policy"
        else:
            does = f"as {rule.name}" if isinstance(rule, Policy) else rule.name
        sides = (kinds if isinstance(kinds, str) else ", ".join(kinds) for kinds in (self.lower, self.upper))
        return "  {:<8} {:<8} {:<8} {}".format(*sides, does, self.why).rstrip()


_KNOWN_KINDS = f"the kinds are {', '.join((*dict.fromkeys(_KINDS.values()), SCALAR))}; ANY and PRESENT stand for all"


class Policy:
    """A named table of rules for two values that meet. Printed, it shows its lines. `verdict` gives the rule.

    The constructor checks the whole table. `verdict` caches its results in `cells`. `kind` gives the kind of a type,
    and `line` the line for two types. `at` gives the policy for the entries under a key; without `by_key`, this policy.
    `may_change(lower)` is False if a value of this type stays under any upper value. `shines_through(upper)` is False
    if a value of this type hides any lower value. `is_lazy` says whether one path can be read without a whole merge.
    name:   the name of the policy in messages and explanations
    lines:  the first line that fits both kinds has the rule
    kinds:  the kinds of further exact types: `{bool: "bool"}`
    cells:  (lower type, upper type) -> verdict; only the pairs that were looked up before
    by_key: key -> policy for the entries of two maps, ANY_KEY for all other keys; None: this policy for all keys
    always: the exact types whose values replace any lower value, also an absent one
    raises: PolicyError, if a pair of kinds has no line. PolicyError, for MEET or Meet with other kinds than maps, and
            for DROP with an absent lower value. BadArgument, for an unknown kind, or a line that is not a Line

    >>> INSIDE.verdict(list, list).name, INSIDE.verdict(dict, str)
    ('unite', <Rule.TAKE: 'take'>)
    >>> print(INSIDE)
    inside (lower, upper, rule)
      map      map      MEET     two maps meet key by key
      list     list     unite    two lists unite
      any      present  TAKE     the later one replaces the earlier one
    """

    def __init__(self, name: str, *lines: Line, kinds: Mapping[type, Kind] | None = None) -> None:
        if not isinstance(name, str) or not isinstance(kinds or {}, Mapping):
            wrong = kinds if isinstance(name, str) else name
            raise wrong_argument("what makes a policy", "a name, lines, and kinds as a map", wrong, _CATCH_ALL)
        self.name = name
        self.lines = lines
        self.kinds: dict[type, Kind] = {**_KINDS, **(kinds or {})}
        every = dict.fromkeys((ABSENT_KIND, NULL, MAP, LIST, TEXT, SCALAR, *self.kinds.values()))
        present = _spread(PRESENT, every)
        self._lines: dict[tuple[Kind, Kind], Line] = {}
        for line in lines:
            if not isinstance(line, Line):
                raise wrong_argument(f"each line of policy {name!r}", "a Line", line, _CATCH_ALL)
            for kind in (*_spread(line.lower, ()), *_spread(line.upper, ())):
                if kind not in every:
                    hint = hint_for(kind, every) or _KNOWN_KINDS
                    raise BadArgument(f"policy {name!r} has a line for {kind!r}, which is no kind", hint=hint)
        for line in reversed(lines):  # so that the first one that fits stays
            self._lines |= dict.fromkeys(product(_spread(line.lower, every), _spread(line.upper, every)), line)
        for pair in product(every, present):
            rule = self._lines[pair].rule if pair in self._lines else None
            if rule is None or rule is DROP or rule is MEET or isinstance(rule, Meet):  # of others nothing can be wrong
                self._check(*pair, rule)
        self.cells: dict[tuple[type, type], Verdict] = {}
        self.by_key: dict[Any, Policy] | None = None
        taken = {upper for upper in present if all(self._lines[lower, upper].rule is TAKE for lower in every)}
        types: list[type] = [*_PLAIN, *self.kinds]
        self.always: frozenset[type] = frozenset(kind for kind in types if self.kind(kind) in taken)

    def _check(self, lower: Kind, upper: Kind, rule: Any) -> None:
        if rule is None:
            raise PolicyError(f"policy {self.name!r} has no line for {upper} over {lower}", hint=_CATCH_ALL)
        if rule is DROP and lower == ABSENT_KIND:
            raise PolicyError(f"policy {self.name!r}: drop makes no sense where nothing lies below")
        if rule is not DROP and not (self._holds_maps(lower) and self._holds_maps(upper)):
            raise PolicyError(f"policy {self.name!r}: {upper} over {lower} cannot meet, only two maps can")

    def _holds_maps(self, kind: Kind) -> bool:
        return kind == MAP or any(known == kind and issubclass(of, dict) for of, known in self.kinds.items())

    def kind(self, of: type) -> Kind:
        """The kind of a type. Without one in `kinds`: MAP for a subclass of dict, LIST for one of list, else SCALAR."""
        if of in self.kinds:
            return self.kinds[of]
        if issubclass(of, dict):
            return MAP
        return LIST if issubclass(of, list) else SCALAR

    def line(self, lower: type, upper: type) -> Line:
        """The line that decides about two exact types. If its rule is another policy, a line of that policy."""
        line = self._lines[self.kind(lower), self.kind(upper)]
        return line.rule.line(lower, upper) if isinstance(line.rule, Policy) else line

    def verdict(self, lower: type, upper: type) -> Verdict:
        """The rule for two exact types: a verb, a Meet with its policy, or a handler. A line MEET gives a Meet with
        this policy.

        A rule that is another policy gives that policy's verdict.
        cost: one look-up after the first time; inner loops look into `cells` themselves
        """
        try:
            return self.cells[lower, upper]
        except KeyError:
            return self.cells.setdefault((lower, upper), self._resolved(lower, upper))

    def _resolved(self, lower: type, upper: type) -> Verdict:
        rule = self._lines[self.kind(lower), self.kind(upper)].rule
        if rule is MEET:
            return Meet(self)
        if isinstance(rule, Policy):
            return rule.verdict(lower, upper)
        return rule.resolved() if isinstance(rule, Meet) else rule

    def at(self, key: Any) -> Policy:
        """The policy for the entries under *key* of two maps that are merged.

        This policy if `by_key` is None; otherwise the policy that `by_key` has for *key*, or for ANY_KEY.
        """
        known = self.by_key
        if known is None:
            return self
        return known[key] if key in known else known[ANY_KEY]

    def may_change(self, lower: type) -> bool:
        """Whether any possible upper value changes a lower value of that type."""
        return any(self.verdict(lower, upper) is not KEEP for upper in self._possible())

    def shines_through(self, upper: type) -> bool:
        """Whether the result may depend on the lower value where the upper value has that type."""
        verdicts = (self.verdict(lower, upper) for lower in self._possible())
        return not all(one is TAKE or (isinstance(one, Handler) and one.hides) for one in verdicts)

    def _possible(self) -> list[type]:
        types: list[type] = [*_PLAIN, *self.kinds]
        return [kind for kind in types if kind is not Absent]

    @property
    def is_lazy(self) -> bool:
        """Whether one path can be read without merging the rest of the trees.

        True where every handler is `total`, no Meet has a function, and an upper value over nothing is always taken.
        """
        return all(
            (line.rule is TAKE) if lower == ABSENT_KIND else (isinstance(line.rule, Rule) or _total(line.rule))
            for (lower, upper), line in self._lines.items()
            if upper != ABSENT_KIND
        )

    def __str__(self) -> str:
        return "\n".join([f"{self.name} (lower, upper, rule)", *map(str, self.lines)])

    def __repr__(self) -> str:
        return f"<Policy {self.name}>"


def _spread(kinds: Kind | tuple[Kind, ...], every: Iterable[Kind]) -> Iterable[Kind]:
    if kinds == ANY:
        return every
    if kinds == PRESENT:
        return [kind for kind in every if kind != ABSENT_KIND]
    return (kinds,) if isinstance(kinds, str) else kinds


def _total(rule: object) -> bool:
    if isinstance(rule, Meet):
        return rule.later is None and rule.policy.is_lazy
    if isinstance(rule, Policy):
        return rule.is_lazy
    return isinstance(rule, Handler) and rule.total


INSIDE = Policy(
    "inside",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, unite, "two lists unite"),
    Line(ANY, PRESENT, TAKE, "the later one replaces the earlier one"),
)
"""Maps meet, lists unite, anything else is replaced: Chef's merge inside one level."""

ACROSS = Policy(
    "across",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "the stronger one replaces the weaker one"),
)
"""Maps meet, anything else is replaced, lists too: Chef's merge across levels."""
