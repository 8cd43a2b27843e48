"""The policy "eslint", for the legacy configs of ESLint.

source: ESLint 8, "Configuration Files"; what ESLint 8 prints with --print-config
"""

from __future__ import annotations

from functools import partial

from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, by_position, listed
from nodeattrs.core.policy import ANY, LIST, MAP, MEET, PRESENT, SCALAR, TAKE, TEXT, Line, Policy
from nodeattrs.core.rules import read_rules, ruled
from nodeattrs.core.tree import Path
from nodeattrs.errors import MergeConflict
from nodeattrs.policies.named import MovedKeys, NamedPolicy


def _with_missing(lower: Part, upper: Part) -> Part:
    return by_position(lower, upper, partial(meet, _ESLINT))


def _not_mixed(lower: Part, upper: Part) -> Part:
    raise MergeConflict("ESLint mixes a map and a list here", hint="write the same kind in both files")


def _with_severity(lower: Part, upper: Part) -> Part:
    return listed([upper, *list(lower.elements())[1:]], lower, upper)


_ESLINT = Policy(
    "eslint",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, _with_missing, "the later list takes from the earlier one the elements that it lacks"),
    Line(MAP, LIST, _not_mixed, "a map or list meets its like only"),
    Line(LIST, MAP, _not_mixed, "a map or list meets its like only"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)
_RULE_OF_ESLINT = Policy(
    "eslint, a rule",
    Line(LIST, (TEXT, SCALAR), _with_severity, "a severity alone keeps the earlier options"),
    Line(ANY, PRESENT, TAKE, "the later rule replaces the earlier one"),
)


def _laid_out(one: Layer) -> Layer:
    """A layer with the severity in place of a list of it alone, and a list in place of a single pattern.

    A parser or processor that is null or empty is left out, since it sets nothing.
    """
    if not isinstance(one.value, dict):
        return one
    tree = {key: value for key, value in one.value.items() if value or key not in ("parser", "processor")}
    if isinstance(tree.get("ignorePatterns"), str):
        tree["ignorePatterns"] = [tree["ignorePatterns"]]
    places: dict[Path, Path] = {}
    if isinstance(tree.get("rules"), dict):
        alone = [name for name, rule in tree["rules"].items() if isinstance(rule, list) and len(rule) == 1]
        tree["rules"] = tree["rules"] | {name: tree["rules"][name][0] for name in alone}
        places = {("rules", name): ("rules", name, 0) for name in alone}
    return Layer(tree, MovedKeys(one.origin, places), one.title, one.policy)


POLICIES = (
    NamedPolicy(
        "eslint",
        "maps merge; a severity alone keeps the options of the rule; plugins unite, patterns and overrides are joined",
        "ESLint 8, Configuration Files, Extending Configuration Files",
        ruled(_ESLINT, read_rules({"plugins": "unite", "ignorePatterns": "append", "overrides": "append"})),
        ((("rules", "*"), lambda _: _RULE_OF_ESLINT),),
        from_top=True,
        prepare=partial(map, _laid_out),
    ),
)
