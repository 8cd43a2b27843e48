"""The traps that users fall into, each with a name, a sentence and a way out.

Looked for after the merge, in its meetings; the merge itself does not know them. What each
name means, with an example and the remedy: docs/cloudinit.md, "Warnings".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from nodeattrs.adapters.cloudinit.mergers import Definition
from nodeattrs.adapters.cloudinit.parts import CLOUD_CONFIG, CloudPart, same
from nodeattrs.adapters.cloudinit.steps import PartReport, Row, Step, steps_of
from nodeattrs.core.folding import Encounter, encounters
from nodeattrs.core.part import Part
from nodeattrs.core.policy import TAKE, Policy
from nodeattrs.core.tree import ABSENT, Path, dig, spell, strict_key
from nodeattrs.errors import BadArgument

_Fault = TypeVar("_Fault")

WARNINGS: dict[str, str] = {
    "no-dict-merger": "a definition without a dict merger drops the whole part",
    "definition-too-early": "an earlier part's definition does not rule later parts",
    "default-replaces": "the default replaces a list or mapping of an earlier part",
    "position-loses": "a list merged by position loses items",
    "spread": "a text or mapping is spread into a list",
    "unknown-option": "an option that has no effect",
    "repeated-merger": "a second merger for one type is not used",
    "both-keys": "merge_how and merge_type in one part: one of them stays as data",
    "header-case": "a merge header in the wrong case is not seen",
    "header-on-gzip": "a gzip part loses its merge header",
    "confd-append-order": "append in conf.d files gives the reverse order of the files",
    "settings-text": "settings given as text are searched for option names",
    "duplicates": "items are in the list twice after append or prepend",
    "include-not-followed": "an include is listed, and not followed",
    "unknown-type": "a part of a type that nobody here handles",
}
"""Every name a warning can have, and what it says in general."""

_OPTIONS = {
    "dict": {"replace", "no_replace", "allow_delete", "recurse_list", "recurse_array", "recurse_str"},
    "list": {
        "append", "prepend", "replace", "no_replace", "recurse_dict", "recurse_list", "recurse_array", "recurse_str",
    },
    "str": {"append"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about one part.

    name:   one of `WARNINGS`; a section of docs/cloudinit.md has the same name
    number: of the part
    title:  what people call the part
    path:   the place in the config, where there is one
    """

    name: str
    message: str
    number: int
    title: str
    path: Path | None = None
    hint: str = ""

    def __str__(self) -> str:
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.title}: {self.message} [{self.name}]{hint}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "message": self.message,
            "number": self.number,
            "title": self.title,
            "path": None if self.path is None else spell(self.path),
            "hint": self.hint,
        }


def warnings_of(reports: Sequence[PartReport], rows: Sequence[Row]) -> Iterator[Warned]:
    """All warnings, in the order of the parts. cost: that of the merge; no result between two parts is kept"""
    joins = {one.number: one for row in rows for one in row.joinings if one.laid is not None}
    defined: dict[int, str] = {}  # a part -> the nearest one before it that has a definition
    last = ""
    for report in reports:
        defined[report.number] = last
        joining = joins.get(report.number)
        is_explicit = report.definition is not None and report.source not in ("default", "asked")
        if is_explicit and joining is not None and joining.policy is not None:
            last = report.title
    met: dict[int, list[Warned]] = {}
    lists = _Lists()
    for step in steps_of(rows):
        if step.number and step.laid is not None and step.policy is not None:
            report = reports[step.number - 1]
            about = _about_meetings(report, step, defined[step.number], lists)
            met[step.number] = [*_about_body(report, step), *about]
    for report in reports:
        yield from _about_part(report)
        if report.definition is not None:
            yield from _about_definition(report)
        yield from met.get(report.number, ())


class _Lists:
    """What each list that grows holds so far: looked at when an element comes, and not all over again for each part."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Any, set[Any]]] = {}

    def keys(self, path: Path, items: Any) -> set[Any]:
        """The items of a list as they are compared."""
        known, keys = self._known.get(path, (None, set()))
        return keys if known is items else {_key(entry) for entry in items}

    def grown(self, path: Path, items: Any, keys: set[Any]) -> None:
        """The list is *items* now, and has these."""
        self._known[path] = items, keys


def _about_part(report: PartReport) -> Iterator[Warned]:
    part = report.part

    def warned(name: str, message: str, hint: str) -> Warned:
        return Warned(name, message, report.number, report.title, None, hint)

    if report.status == "include":
        yield warned(
            "include-not-followed",
            f"the include {part.text.strip()!r} was not followed",
            "nothing is fetched; put a copy into a folder and name it with --include-root",
        )
    elif report.status == "ignored":
        yield warned(
            "unknown-type",
            f"nothing is done with a part of type {part.type}",
            _way_to_cloud_config(part),
        )
    if part.type != CLOUD_CONFIG:
        return
    for header in part.headers:
        if header.lower() in ("merge-type", "x-merge-type") and header not in ("Merge-Type", "X-Merge-Type"):
            yield warned(
                "header-case", f"the header {header} is not seen", f"write {header.title()}, in exactly this case"
            )
    for header in part.lost:
        yield warned(
            "header-on-gzip",
            f"the header {header} was lost when the part was unpacked",
            "write merge_how into the body of the part",
        )


def _way_to_cloud_config(part: CloudPart) -> str:
    if part.type == "text/jinja2":
        return "it is rendered on the machine first: check what it is rendered to"
    if part.text.startswith("\ufeff"):
        return "remove the byte order mark before the first line"
    return "begin it with #cloud-config, or give it the type text/cloud-config"


def refuse_unknown_options(definition: Definition) -> None:
    """For a definition that somebody has just written. raises: BadArgument, for the first option without effect"""
    for fault in _about_options(definition, lambda name, message, hint: BadArgument(message, hint=hint)):
        raise fault


def _about_definition(report: PartReport) -> Iterator[Warned]:
    definition = report.definition
    assert definition is not None

    def warned(name: str, message: str, hint: str) -> Warned:
        return Warned(name, message, report.number, report.title, None, hint)

    names = definition.names()
    if definition and "dict" not in names and report.status == "merged":
        yield warned(
            "no-dict-merger",
            f"{definition} names no dict merger, so the whole part is dropped",
            f"write {definition}+dict(recurse_list)",
        )
    for index, name in enumerate(names):
        if name in names[:index] and name in _OPTIONS:
            yield warned("repeated-merger", f"the second {name} merger is not used", "name each merger once")
    yield from _about_options(definition, warned)


def _about_options(definition: Definition, warned: Callable[[str, str, str], _Fault]) -> Iterator[_Fault]:
    for name, spec in zip(definition.names(), definition.mergers, strict=True):
        if name not in _OPTIONS:
            continue
        if isinstance(spec.options, str):
            yield warned(
                "settings-text",
                f"the settings of {name} are the text {spec.options!r}, in which option names are searched",
                f"write settings: [{spec.options}]",
            )
            continue
        options = [option for option in spec.options if isinstance(option, str)]
        modes = {"dict": ("replace",), "list": ("append", "prepend"), "str": ()}[name]
        deaf = next((mode for mode in modes if mode in options), None)
        for option in options:
            if option not in _OPTIONS[name]:
                always = (name, option) == ("dict", "recurse_dict")
                hint = "mappings are always merged" if always else f"known are {', '.join(sorted(_OPTIONS[name]))}"
                yield warned("unknown-option", f"{name} does not know the option {option!r}", hint)
            elif deaf is not None and option.startswith("recurse"):
                message = f"{option} has no effect beside {deaf} in {name}"
                yield warned("unknown-option", message, "leave one of them out")


def _about_body(report: PartReport, step: Step) -> Iterator[Warned]:
    assert step.laid is not None
    if isinstance(step.laid.value, dict) and "merge_type" in step.laid.value:
        yield Warned(
            "both-keys",
            "has merge_how and merge_type: merge_type was not read and stays in the config",
            report.number,
            report.title,
            ("merge_type",),
            "write one of the two",
        )


def _about_meetings(report: PartReport, step: Step, defined: str, lists: _Lists) -> Iterator[Warned]:
    assert step.laid is not None
    assert step.policy is not None
    default = report.source == "default"
    early = False

    def warned(name: str, message: str, path: Path, hint: str) -> Warned:
        return Warned(name, message, report.number, report.title, path, hint)

    for verb, below, above, path in _meetings(step.policy, step.before, step.laid):
        where = spell(path)
        if verb == "take" and default and not step.folded and (gone := _gone(below, above)):
            kind = "list" if isinstance(below, list) else "mapping"
            yield warned(
                "default-replaces",
                f"replaces the {kind} {where} of the parts before it: {gone} of {len(below)} entries go",
                path,
                "to keep both, write merge_how: dict(recurse_list)+list(append) into this part",
            )
            if defined and not early:
                early = True
                yield warned(
                    "definition-too-early",
                    f"the merge definition of {defined} says nothing about this part",
                    path,
                    "a part joins by its own definition: repeat it in this part",
                )
        elif verb == "position":
            common, lost = min(len(below), len(above)), max(0, len(above) - len(below))
            if common or lost:
                yield warned(
                    "position-loses",
                    f"merges the list {where} by position: {common} old items meet new ones, {lost} new items are lost",
                    path,
                    "write list(append) to keep all items",
                )
        elif verb in ("append", "prepend"):
            yield from _about_adding(below, above, path, dig(step.after.value, path), lists, warned)
            if verb == "append" and step.folded and isinstance(below, list):
                yield warned(
                    "confd-append-order",
                    f"appends to {where}, whose items so far are those of the files that sort later",
                    path,
                    "write list(prepend) in each file to get the order of the files",
                )


def _about_adding(below: Any, above: Any, path: Path, after: Any, lists: _Lists, warned: Any) -> Iterator[Warned]:
    if not isinstance(below, (list, tuple)):
        return
    if isinstance(above, (str, bytes, dict, set)):
        what = "keys of a mapping" if isinstance(above, dict) else "characters of a text"
        if above:
            yield warned(
                "spread", f"adds the {what} to the list {spell(path)}, one by one", path, "write a list with one item"
            )
    elif isinstance(above, (list, tuple)):
        old, new = lists.keys(path, below), [_key(entry) for entry in above]
        twice = sum(key in old for key in new)
        old.update(new)
        lists.grown(path, after, old)
        if twice:
            yield warned(
                "duplicates",
                f"adds {twice} of the items that the list {spell(path)} has already",
                path,
                "remove one of each",
            )


def _key(entry: Any) -> Any:
    try:
        key = strict_key(entry)
        hash(key)
    except TypeError:
        return repr(entry)
    return key


def _gone(below: Any, above: Any) -> int:
    """How many entries of a list or mapping a replacement does not have."""
    if isinstance(below, dict):
        kept = above if isinstance(above, dict) else {}
        return sum(key not in kept for key in below)
    if isinstance(below, list):
        kept_items = {_key(entry) for entry in above} if isinstance(above, list) else set()
        return sum(_key(entry) not in kept_items for entry in below)
    return 0


def _meetings(policy: Policy, below: Part, above: Part, path: Path = ()) -> Iterator[tuple[str, Any, Any, Path]]:
    """Where two values really met: what was done, the old value, the new one, and the path."""
    for one in encounters(policy, below, above, path):
        old, new = one.lower.value, one.upper.value
        verb = "take" if one.verdict is TAKE else getattr(one.verdict, "verb", None)
        if old is ABSENT or verb is None or (one.verdict is TAKE and same(old, new)):
            continue
        inner = getattr(one.verdict, "inner", None)
        if inner is None:
            yield verb, old, new, one.path
        elif isinstance(new, (list, tuple)):
            yield from _by_position(verb, one, inner())


def _by_position(verb: str, one: Encounter, inner: Policy) -> Iterator[tuple[str, Any, Any, Path]]:
    old, new = one.lower.value, one.upper.value
    pairs = list(zip(one.lower.elements(), one.upper.elements(), strict=False))
    handed = [inner.verdict(type(lower.value), type(upper.value)) is not TAKE for lower, upper in pairs]
    if not all(handed) or len(new) > len(old):
        yield verb, old, new, one.path
    for index, (lower, upper) in enumerate(pairs):
        if handed[index]:
            yield from _meetings(inner, lower, upper, (*one.path, index))
