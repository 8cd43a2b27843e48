"""Path rules: another policy for the values at a path or pattern.

    {"apache2.modules": "replace", "users.*.keys": "append", "sites": {"merge_by": "name"}}

`read_rules` reads such a map into `PathRule`s, and `ruled` makes a policy of a policy and rules. The result is a policy
like any other, so folds, lazy reads and traces need to know nothing of rules. The module knows no file: its callers say
where each rule is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from nodeattrs.core.folding import meet
from nodeattrs.core.part import Handler, Part, by_field, concat, handler, unite
from nodeattrs.core.policy import ABSENT_KIND, ANY, ANY_KEY, KEEP, LIST, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import Path, as_path, hint_for, spell
from nodeattrs.errors import BadArgument, wrong_argument

_FIELDS = {"policy", "merge_by", "at"}
_AT = ("both", "inside")


class PathRule(NamedTuple):
    """The rule for the values at a path, which replaces the rule of the policy there. `read_rules` makes and checks it.

    The constructor checks nothing. `from_dict` reads what `to_dict` wrote.
    path:        the steps of the path; "*" is any key
    policy:      one of six words. For two lists: "append", "prepend", "unite", or "merge_by", which merges two maps
                 that have the same value in *field*. For all values: "replace" (the upper value) or "keep" (the lower
                 value)
    field:       the field for "merge_by"; "" for all other policies
    inside_only: True: the rule is used in the merge within each group of levels, but not in the merge of the groups
    place:       where the rule is written, for explanations
    """

    path: Path
    policy: str
    field: str = ""
    inside_only: bool = False
    place: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The rule as data for JSON; `from_dict` reads it."""
        at = "inside" if self.inside_only else "both"
        return {"path": list(self.path), "policy": self.policy, "field": self.field, "at": at, "place": self.place}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PathRule:
        """The rule that `to_dict` has written; other keys of *data* are ignored.

        raises: KeyError, for a missing key; TypeError, for a value of the wrong type; BadArgument, for an unknown
                policy
        """
        rule = cls(tuple(data["path"]), data["policy"], data["field"], data["at"] == "inside", data["place"])
        texts, steps = (rule.policy, rule.field, rule.place), {type(step) for step in rule.path}
        if {type(text) for text in texts} != {str} or not steps <= {str, int}:
            raise TypeError("the words of a rule are texts")
        if rule.policy not in (*WORDS, "merge_by"):
            raise _wrong(rule.path, f"cannot be {rule.policy!r}", f"it is one of {', '.join(WORDS)}")
        return rule


def read_rules(
    rules: Mapping[Any, Any], place: Callable[[Any], str] = lambda key: f"the rule {_shown(key)}"
) -> tuple[PathRule, ...]:
    """The rules that a map describes, in its order; () for {}.

    rules:  path (spelled, or a tuple of steps) -> a word, or a map. The map has `policy` or `merge_by`, and perhaps
            `at`: "both" groups (the default) or "inside" a group only
    place:  a function from a key of *rules* to the text where the rule is written
    raises: BadArgument, with near misses, for an unknown word or field

    >>> read_rules({"users.*.keys": "append"})[0].path
    ('users', '*', 'keys')
    """
    if not isinstance(rules, Mapping):
        raise wrong_argument("the rules for paths", "a map", rules, 'rules={"users.*.keys": "append"}')
    return tuple(_rule(key, written, place(key)) for key, written in rules.items())


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else spell(as_path(key))


def _rule(key: Any, written: Any, place: str) -> PathRule:
    path = as_path(key)
    fields = written if isinstance(written, Mapping) else {"policy": written}
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        raise _wrong(key, f"has no field {unknown[0]!r}", f"it has {', '.join(sorted(_FIELDS))}")
    if fields.get("at", "both") not in _AT:
        raise _wrong(key, f"cannot hold at {fields['at']!r}", 'write at = "inside", or leave it out')
    inside_only = fields.get("at") == "inside"
    if "merge_by" in fields:
        if "policy" in fields or not isinstance(fields["merge_by"], str):
            raise _wrong(key, "names one field to merge by, and no policy", 'write {merge_by = "name"}')
        return PathRule(path, "merge_by", fields["merge_by"], inside_only, place)
    word = fields.get("policy")
    if word not in WORDS:
        every = f'it is one of {", ".join(WORDS)}, or {{merge_by = "name"}}'
        raise _wrong(key, f"cannot be {word!r}", hint_for(word, WORDS) or every)
    return PathRule(path, word, "", inside_only, place)


def _wrong(key: Any, what: str, hint: str) -> BadArgument:
    return BadArgument(f"the rule for {_shown(key)} {what}", hint=hint)


Table = Callable[[Policy], Policy]
"""(policy that a path has without rules) -> policy with the rule."""


def ruled(policy: Policy, rules: Iterable[PathRule]) -> Policy:
    """A policy that decides as *policy*, except at the paths of the rules; *policy* itself where no rule applies.

    Of two rules for one path the last one counts. A rule with *inside_only* is left out where the policy does not unite
    lists.
    """
    inside = policy.verdict(list, list) is unite
    return at_paths(policy, [(rule.path, partial(_table, rule)) for rule in rules if inside or not rule.inside_only])


def at_paths(policy: Policy, tables: Sequence[tuple[Path, Table]]) -> Policy:
    """A policy that decides as *policy*, except at the paths of the tables; *policy* itself without tables.

    tables: (path, function policy -> policy) for each; "*" in a path stands for any key. Of several tables for one path
            the last one counts
    """
    here = [table for path, table in tables if not path]
    below = _below(policy, [(path, table) for path, table in tables if path])
    return here[-1](below) if here else below


def _below(policy: Policy, tables: Sequence[tuple[Path, Table]]) -> Policy:
    """The policy with the same lines, whose `by_key` has other policies where a path leads through a key."""
    if not tables:
        return policy
    lines = [Line(line.lower, line.upper, _with_tables(line.rule, tables), line.why) for line in policy.lines]
    under = Policy(policy.name, *lines, kinds=policy.kinds)
    named = policy.by_key or {}
    keys = dict.fromkeys((*named, *(path[0] for path, _ in tables if path[0] != "*"), ANY_KEY))
    under.by_key = {}
    for key in keys:  # what names the key goes before what means any
        found = [(path[1:], table) for name in ("*", key) for path, table in tables if path[0] == name]
        under.by_key[key] = at_paths(named.get(key, named.get(ANY_KEY, policy)), found)
    return under


def _with_tables(rule: Any, tables: Sequence[tuple[Path, Table]]) -> Any:
    """The rule of a line; in a policy or Meet that is the rule, the tables apply, too."""
    if isinstance(rule, Meet):
        return Meet(lambda: _below(rule.resolved().policy, tables))
    return _below(rule, tables) if isinstance(rule, Policy) else rule


def _table(rule: PathRule, policy: Policy) -> Policy:
    lines = _LINES.get(rule.policy)
    if lines is None:
        lines = (Line(LIST, LIST, _merge_by_field(rule.field, policy), f"maps with an equal {rule.field} meet"),)
    return Policy(f"by {rule.place}", *lines, Line(ANY, PRESENT, policy), kinds=policy.kinds)


@handler(total=True)
def _prepended(lower: Part, upper: Part) -> Part:
    return concat(upper, lower)


def _merge_by_field(field: str, policy: Policy) -> Handler:
    join = partial(by_field, field=field, join=partial(meet, policy))
    return Handler(join, f"merge_by {field}", total=policy.is_lazy)


_LINES: dict[str, tuple[Line, ...]] = {
    "append": (Line(LIST, LIST, concat, "two lists are joined"),),
    "prepend": (Line(LIST, LIST, _prepended, "two lists are joined, the stronger one first"),),
    "unite": (Line(LIST, LIST, unite, "two lists unite"),),
    "replace": (Line(ANY, PRESENT, TAKE, "the stronger one replaces the weaker one"),),
    "keep": (
        Line(ABSENT_KIND, PRESENT, TAKE, "nothing was there"),
        Line(PRESENT, PRESENT, KEEP, "the weaker one stays"),
    ),
}
"""Word -> the lines that go before those of the policy."""

WORDS = tuple(_LINES)
"""The words for the policy of a rule, without "merge_by"."""
