"""The policies "git" and "systemd", for files whose keys may be repeated.

The first element of a list is None where an empty text makes the earlier entries void.
source: git-config(1), "Values"; systemd.syntax(7), systemd.unit(5)
"""

from __future__ import annotations

from collections.abc import Iterable

from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, concat, listed, made
from nodeattrs.core.policy import ABSENT_KIND, ANY, LIST, MAP, MEET, PRESENT, TAKE, Line, Policy
from nodeattrs.formats.flat_text import voided_together
from nodeattrs.policies.named import MovedKeys, NamedPolicy


def _first(lower: Part, upper: Part) -> Part:
    return listed(list(upper.elements())[1:], upper) if upper.value[:1] == [None] else upper


def _following(lower: Part, upper: Part) -> Part:
    return _first(lower, upper) if upper.value[:1] == [None] else concat(lower, upper)


def _opened(lower: Part, upper: Part) -> Part:
    return meet(_REPEATED, made({}, upper), upper)


_REPEATED = Policy(
    "repeated",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ABSENT_KIND, MAP, _opened, "the first file that has it"),
    Line(ABSENT_KIND, LIST, _first, "the first file that has it"),
    Line(LIST, LIST, _following, "the later list follows, or an empty text makes the earlier one void"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


def _with_voids(layers: Iterable[Layer]) -> list[Layer]:
    """The layers with an empty text for each key that they make void.

    In systemd an empty text of one key may make other keys void, too, such as all timers of a section.
    """
    known: dict[str, set[str]] = {}
    return [_voided(one, known) for one in layers]


def _voided(one: Layer, known: dict[str, set[str]]) -> Layer:
    """known: group -> its keys in the layers before; the keys of this layer are added"""
    if not isinstance(one.value, dict):
        return one
    tree, places = dict(one.value), {}
    for section, entries in one.value.items():
        groups = {key: voided_together(section, key) for key in entries} if isinstance(entries, dict) else {}
        for key, group in groups.items():
            is_void = isinstance(entries[key], list) and entries[key][:1] == [None]
            for other in sorted(known.get(group, set()) - entries.keys()) if group and is_void else ():
                tree[section] = {**tree[section], other: [None]}
                places[section, other] = (section, key)
        for key, group in groups.items():
            known.setdefault(group, set()).add(key)
    return Layer(tree, MovedKeys(one.origin, places), one.title, one.policy)


POLICIES = tuple(
    NamedPolicy(
        name,
        f"keys that {name} takes as lists follow each other, others are replaced",
        source,
        _REPEATED,
        opening=_REPEATED,
        prepare=prepare,
    )
    for name, source, prepare in (
        ("git", "git-config(1), Values", None),
        ("systemd", "systemd.syntax(7), systemd.unit(5)", _with_voids),
    )
)
