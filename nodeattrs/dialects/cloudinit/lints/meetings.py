"""Warnings about merge steps: what a later part replaces, loses or adds twice, and lists without effect.

At a *meeting*, the merge had an old value and a new one for a path, and followed a rule. The steps of the merge are
computed again. The texts of parts are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.folding import Decision, decisions
from nodeattrs.core.origins import sources
from nodeattrs.core.part import Part
from nodeattrs.core.policy import KEEP, TAKE, Policy, Verdict
from nodeattrs.core.tree import ABSENT, Path, dig, spell, strict_key
from nodeattrs.dialects.cloudinit.codes import (
    BOTH_KEYS,
    CONFD_APPEND_ORDER,
    DEFAULT_REPLACES,
    DEFINITION_TOO_EARLY,
    DUPLICATES,
    LIST_HIDDEN,
    POSITION_LOSES,
    SPREAD,
)
from nodeattrs.dialects.cloudinit.lints.values import about_user_data
from nodeattrs.dialects.cloudinit.lints.warned import Warned
from nodeattrs.dialects.cloudinit.mergers import Verb
from nodeattrs.dialects.cloudinit.parts import strictly_equal
from nodeattrs.dialects.cloudinit.steps import MergedPart, PartReport, Row, merged_parts_with_results

_Met = tuple[str, Part, Part, Path]
"""A meeting: what was done ("take", "keep", "append" ...), the old part, the new one, and the path."""


def about_joinings(reports: Sequence[PartReport], rows: Sequence[Row]) -> dict[int, list[Warned]]:
    """The warnings about the steps of a merge: number of a part -> its warnings. A part without warnings may be
    missing.

    reports: the reports of all parts, in order
    rows:    the foldings of the merge
    cost:    grows with the size of the parts, and not with the result
    """
    earlier = _defined_before(reports, rows)
    user = {one.number for row in rows for one in row.merged_parts if not one.folded}
    lists, found = _Lists(), {}
    for merged_part, before in merged_parts_with_results(rows):
        lists.settle(before.value)
        if merged_part.laid is None or merged_part.policy is None:
            continue
        met = list(_meetings(merged_part.policy, before, merged_part.laid))
        report = reports[merged_part.number - 1]
        if merged_part.number:
            found[merged_part.number] = [*_about_body(report, merged_part)]
            found[merged_part.number] += _about_meetings(report, merged_part, met, earlier[merged_part.number], lists)
        if merged_part.folded:
            for one in _hidden(met, reports, user):
                found.setdefault(one.number, []).append(one)
    return found


def _defined_before(reports: Sequence[PartReport], rows: Sequence[Row]) -> dict[int, str]:
    """Number of a part -> the title of the last part before it that has its own definition; "" for none."""
    joined = {one.number for row in rows for one in row.merged_parts if one.policy is not None and one.laid is not None}
    defined, last = {}, ""
    for report in reports:
        defined[report.number] = last
        is_explicit = report.definition is not None and report.source not in ("default", "asked")
        if is_explicit and report.number in joined:
            last = report.title
    return defined


def _hidden(met: Sequence[_Met], reports: Sequence[PartReport], user: set[int]) -> Iterator[Warned]:
    """Yield a warning for each list of a weaker layer that is not used: user-data or vendor-data has the same path."""
    for verb, below, above, path in met:
        stronger = [number for number in sources(below.origins) if number in user]
        kept = set(_keys(below.value)) if verb == "keep" and stronger else set()
        lost = [key for key in _keys(above.value) if key not in kept] if verb == "keep" else []
        if not stronger or not lost or (path == ("users",) and lost == ["default"]):
            continue
        number = next(iter(sources(above.origins)), 0)
        if number:
            yield Warned(
                LIST_HIDDEN,
                f"the list {spell(path)} is not used: {reports[stronger[0] - 1].title} has one, and is stronger",
                number,
                reports[number - 1].title,
                path,
                "layers are not joined list by list: write all items into the stronger one",
            )


class _Lists:
    """The elements of each list that grows step by step. With them, a step looks only at the elements that it adds."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Any, set[Any]]] = {}
        self._coming: dict[Path, set[Any]] = {}

    def keys(self, path: Path, items: Any) -> set[Any]:
        """The elements of the list at a path as hashable keys. They are kept if the last step gave this list."""
        known, keys = self._known.get(path, (None, set()))
        return keys if known is items else set(_keys(items))

    def grows(self, path: Path, keys: set[Any]) -> None:
        """Note the elements that the list at a path has after this step."""
        self._coming[path] = keys

    def settle(self, config: Any) -> None:
        """Begin a step: the lists that grew in the step before are those in *config*."""
        self._known |= {path: (dig(config, path), keys) for path, keys in self._coming.items()}
        self._coming = {}


def _about_body(report: PartReport, merged_part: MergedPart) -> Iterator[Warned]:
    assert merged_part.laid is not None
    if isinstance(merged_part.laid.value, dict) and "merge_type" in merged_part.laid.value:
        yield Warned(
            BOTH_KEYS,
            "has merge_how and merge_type: merge_type was not read and stays in the config",
            report.number,
            report.title,
            ("merge_type",),
            "write one of the two",
        )
    for name, path, message, hint in () if merged_part.folded else about_user_data(merged_part.laid.value):
        yield Warned(name, message, report.number, report.title, path, hint)


def _about_meetings(
    report: PartReport, merged_part: MergedPart, met: Sequence[_Met], defined: str, lists: _Lists
) -> Iterator[Warned]:
    default = report.source == "default"
    early = False

    def warned(name: Kind, message: str, path: Path, hint: str) -> Warned:
        return Warned(name, message, report.number, report.title, path, hint)

    for verb, old, new, path in met:
        below, above, where = old.value, new.value, spell(path)
        if verb == "take" and default and not merged_part.folded and (gone := _gone(below, above)):
            kind = "list" if isinstance(below, list) else "mapping"
            yield warned(
                DEFAULT_REPLACES,
                f"replaces the {kind} {where} of the parts before it: {gone} of {len(below)} entries go",
                path,
                "to keep both, write merge_how: dict(recurse_list)+list(append) into this part",
            )
            if defined and not early:
                early = True
                yield warned(
                    DEFINITION_TOO_EARLY,
                    f"the merge definition of {defined} says nothing about this part",
                    path,
                    "a part joins by its own definition: repeat it in this part",
                )
        elif verb == "position":
            common, lost = min(len(below), len(above)), max(0, len(above) - len(below))
            if common or lost:
                yield warned(
                    POSITION_LOSES,
                    f"merges the list {where} by position: {common} old items meet new ones, {lost} new items are lost",
                    path,
                    "write list(append) to keep all items",
                )
        elif verb in ("append", "prepend"):
            yield from _about_adding(below, above, path, lists, warned)
            if verb == "append" and merged_part.folded and isinstance(below, list):
                yield warned(
                    CONFD_APPEND_ORDER,
                    f"appends to {where}, whose items so far are from the files that sort later",
                    path,
                    "write list(prepend) in each file to get the order of the files",
                )


def _about_adding(below: Any, above: Any, path: Path, lists: _Lists, warned: Any) -> Iterator[Warned]:
    if not isinstance(below, (list, tuple)):
        return
    if isinstance(above, (str, bytes, dict, set)):
        what = "keys of a mapping" if isinstance(above, dict) else "characters of a text"
        if above:
            yield warned(
                SPREAD, f"adds the {what} to the list {spell(path)}, one by one", path, "write a list with one item"
            )
    elif isinstance(above, (list, tuple)):
        old, new = lists.keys(path, below), _keys(above)
        twice = 0 if old.isdisjoint(new) else sum(key in old for key in new)
        old.update(new)
        lists.grows(path, old)
        if twice:
            yield warned(
                DUPLICATES,
                f"adds {twice} of the items that the list {spell(path)} has already",
                path,
                "remove one of each",
            )


def _keys(items: Iterable[Any]) -> list[Any]:
    return [entry if type(entry) is str else _key(entry) for entry in items]


def _key(entry: Any) -> Any:
    try:
        key = strict_key(entry)
        hash(key)
    except TypeError:
        return repr(entry)
    return key


def _gone(below: Any, above: Any) -> int:
    """The number of entries of a list or mapping that its replacement does not have; 0 for another old value."""
    if isinstance(below, dict):
        kept = above if isinstance(above, dict) else {}
        return sum(key not in kept for key in below)
    if isinstance(below, list):
        kept_items = set(_keys(above)) if isinstance(above, list) else set()
        return sum(key not in kept_items for key in _keys(below))
    return 0


def _meetings(policy: Policy, below: Part, above: Part, path: Path = ()) -> Iterator[_Met]:
    """Yield the meetings for warnings: a value was replaced or merged, or a list stayed and another one was dropped."""
    for one in decisions(policy, below, above, path):
        old, new = one.lower.value, one.upper.value
        verb = _verb(one.verdict)
        if old is ABSENT or verb is None or (verb == "take" and strictly_equal(old, new)):
            continue
        if verb == "keep" and not (isinstance(old, list) and isinstance(new, list)):
            continue
        inner = one.verdict.inner if isinstance(one.verdict, Verb) else None
        table = inner() if inner is not None else None
        if table is None:
            yield verb, one.lower, one.upper, one.path
        elif isinstance(new, (list, tuple)):
            yield from _by_position(verb, one, table)


def _verb(verdict: Verdict) -> str | None:
    if verdict is TAKE or verdict is KEEP:
        return "take" if verdict is TAKE else "keep"
    return verdict.name if isinstance(verdict, Verb) else None


def _by_position(verb: str, one: Decision, inner: Policy) -> Iterator[_Met]:
    pairs = list(zip(one.lower.elements(), one.upper.elements(), strict=False))
    handed = [inner.verdict(type(lower.value), type(upper.value)) is not TAKE for lower, upper in pairs]
    if not all(handed) or len(one.upper.value) > len(one.lower.value):
        yield verb, one.lower, one.upper, one.path
    for index, (lower, upper) in enumerate(pairs):
        if handed[index]:
            yield from _meetings(inner, lower, upper, (*one.path, index))
