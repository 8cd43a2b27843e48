"""Warnings about user-data: traps that users fall into, each with a name, a sentence and a way out.

They are looked for after the merge, in the parts, their merge definitions, the merge steps and the merged config. The
merge itself does not know them. docs/cloudinit.md, "Warnings", has a section for each name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nodeattrs.dialects.cloudinit.lints.definitions import about_definition, refuse_unknown_options
from nodeattrs.dialects.cloudinit.lints.meetings import about_joinings
from nodeattrs.dialects.cloudinit.lints.texts import about_part
from nodeattrs.dialects.cloudinit.lints.values import about_config
from nodeattrs.dialects.cloudinit.lints.warned import WARNINGS, Warned
from nodeattrs.dialects.cloudinit.parts import PART_HANDLER
from nodeattrs.dialects.cloudinit.steps import PartReport, Row

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
            yield from about_definition(report)
        yield from met.get(report.number, ())
    yield from about_config(config)
