"""Warnings about user-data: traps that users fall into, each with a name, a sentence and a way out.

They are looked for after the merge, in the parts, their merge definitions, the merge steps and the merged config. The
merge itself does not know them. docs/cloudinit.md, "Warnings", has a section for each name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.dialects.cloudinit.codes import NO_DICT_MERGER, REPEATED_MERGER, SETTINGS_TEXT, UNKNOWN_OPTION
from nodeattrs.dialects.cloudinit.lints.meetings import about_joinings
from nodeattrs.dialects.cloudinit.lints.texts import about_part
from nodeattrs.dialects.cloudinit.lints.values import about_config
from nodeattrs.dialects.cloudinit.lints.warned import WARNINGS, Warned
from nodeattrs.dialects.cloudinit.mergers import Definition
from nodeattrs.dialects.cloudinit.parts import PART_HANDLER
from nodeattrs.dialects.cloudinit.steps import PartReport, Row
from nodeattrs.errors import BadArgument

__all__ = ["WARNINGS", "Warned", "refuse_unknown_options", "warnings_of"]


def warnings_of(reports: Sequence[PartReport], rows: Sequence[Row], config: Any) -> Iterator[Warned]:
    """Yield all warnings: for each part, in order, then about the merged config.

    reports, rows: the parts, and the steps of their merge; the steps are computed again
    config:        the merged config; anything but a map has no warnings
    cost:          about half of the merge
    """
    met = about_joinings(reports, rows)
    has_handler = any(report.part.type == PART_HANDLER for report in reports)
    for report in reports:
        yield from about_part(report, has_handler)
        if report.definition is not None:
            yield from _about_definition(report)
        yield from met.get(report.number, ())
    yield from about_config(config)


# --- merge definitions ------------------------------------------------------------------


_OPTIONS = {
    "dict": {"replace", "no_replace", "allow_delete", "recurse_list", "recurse_array", "recurse_str"},
    "list": {
        "append", "prepend", "replace", "no_replace", "recurse_dict", "recurse_list", "recurse_array", "recurse_str",
    },
    "str": {"append"},
}  # fmt: skip


def refuse_unknown_options(definition: Definition) -> None:
    """Do nothing for a definition whose options all have an effect. raises: BadArgument, for the first other option"""
    for _, message, hint in _about_options(definition):
        raise BadArgument(message, hint=hint)


def _about_definition(report: PartReport) -> Iterator[Warned]:
    """Yield the warnings about the definition that a part was merged with. The report must have a definition."""
    definition = report.definition
    assert definition is not None

    def warned(name: Kind, message: str, hint: str) -> Warned:
        return Warned(name, message, report.number, report.title, None, hint)

    names = definition.names()
    if definition and "dict" not in names and report.status == "merged":
        yield warned(
            NO_DICT_MERGER,
            f"{definition} names no dict merger, so the whole part is dropped",
            f"write {definition}+dict(recurse_list)",
        )
    for index, name in enumerate(names):
        if name in names[:index] and name in _OPTIONS:
            yield warned(REPEATED_MERGER, f"the second {name} merger is not used", "name each merger once")
    for fault in _about_options(definition):
        yield warned(*fault)


def _about_options(definition: Definition) -> Iterator[tuple[Kind, str, str]]:
    """Yield (name of the warning, message, hint) for each option without effect, and for options as a text."""
    for name, spec in zip(definition.names(), definition.mergers, strict=True):
        if name not in _OPTIONS:
            continue
        if isinstance(spec.options, str):
            yield (
                SETTINGS_TEXT,
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
                yield UNKNOWN_OPTION, f"{name} does not know the option {option!r}", hint
            elif deaf is not None and (option.startswith("recurse") or (name, option) == ("list", "no_replace")):
                message = f"{option} has no effect beside {deaf} in {name}"
                yield UNKNOWN_OPTION, message, "leave one of them out"
