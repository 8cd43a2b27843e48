"""Apply a catalog for `run --apply` and `catalog apply`, and turn the result into a report and an exit code."""

from __future__ import annotations

from pathlib import Path

from nodeattrs.catalog import Catalog, Outcome
from nodeattrs.catalog.types import Site
from nodeattrs.contract.command import Question
from nodeattrs.dialects.chef.commands.many import INTERRUPTED
from nodeattrs.dialects.chef.reports.catalog import AppliedCatalog
from nodeattrs.dialects.chef.run.applying import apply_catalog, report_place


def applied(catalog: Catalog, name: str, question: Question) -> AppliedCatalog:
    """Apply a catalog with the options of `APPLYING` (--noop, --root, --report, ...); returns the report.

    With --noop, `catalog.noop` is set to True. Progress and the warnings of the plan are given to `question.caller`. A
    resource that fails raises no error.
    name:   the name of the node, for the default file of the journal; "": a journal only with --report
    raises: ReferenceNotFound, DependencyCycle, before any change; StoreError, if the journal cannot be written
    """
    asked = question.arguments
    catalog.noop = catalog.noop or asked["noop"]
    kept = Path(asked["report"]) if asked["report"] else report_place(name) if name else None
    count, done = sum(not one.is_container for one in catalog), 0

    def progress(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        question.caller.progress(f"{done} of {count}  {outcome.ref}"[:100])

    site = Site(Path(asked["root"]), Path(asked["backups"]) if asked["backups"] else None)
    question.caller.warn(catalog.plan(documented=asked["documented"]).warnings())
    plan, report = apply_catalog(
        catalog, site, node=name, documented=asked["documented"], journal=kept, on_outcome=progress
    )
    shown = name or str(asked["source"])
    return AppliedCatalog(plan, report, shown, str(kept) if kept else None, not asked["no_diff"])


def exit_code(one: AppliedCatalog) -> int:
    """The exit code for an applied catalog: 0, 1 if a resource failed or was skipped, 130 after an interruption."""
    return INTERRUPTED if one.report.interrupted else int(not one.report.ok)
