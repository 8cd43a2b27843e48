"""Apply the catalog of a run, and write a report that is true even if the run is cut off.

The *journal* is a file of JSON objects, one a line. The journal has a first line, a line for each resource as soon as
it is visited, and a last line. If the last line is missing, the run was cut off. The revision of the node gets a short
form of the report, `noted_report`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from nodeattrs.catalog import Catalog, Outcome, Plan, Report, apply_plan
from nodeattrs.catalog.types import Site
from nodeattrs.core.tree import checked_name
from nodeattrs.disk import FolderEntry, folder_below, write_all
from nodeattrs.errors import StoreError

VERSION = 1
"""The version of the form of the journal."""

DEFAULT_REPORTS = os.path.join(".nodeattrs", "reports")
"""Where reports are kept, below the current directory, by default."""


def report_place(name: str) -> Path:
    """The default file for the report of a node, relative to the current directory; writes nothing. raises: BadName"""
    return Path(DEFAULT_REPORTS) / f"{checked_name(name, 'node')}.jsonl"


def apply_catalog(
    catalog: Catalog,
    site: Site,
    *,
    node: str = "",
    documented: bool = False,
    journal: Path | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> tuple[Plan, Report]:
    """Apply a catalog, or with `catalog.noop` only report the changes; returns plan and report.

    A resource that fails raises no error: its outcome in the report has the error.
    site:       gives resources access to the machine
    node:       the name of the node, for the journal
    documented: follow Puppet's documentation of order and refresh where the program Puppet differs from it
    journal:    the file of the report, which is replaced and written line by line; None for no file
    on_outcome: called with the result of each resource, as soon as it is visited
    raises:     ReferenceNotFound, DependencyCycle, before any visit; StoreError, if the journal cannot be written
    """
    plan = catalog.plan(documented=documented)
    plan.visit_order()
    if journal is None:
        return plan, apply_plan(plan, site, on_outcome=on_outcome)
    with Journal(journal, node, catalog.noop) as kept:

        def note(outcome: Outcome) -> None:
            kept.note(outcome)
            if on_outcome is not None:
                on_outcome(outcome)

        report = apply_plan(plan, site, on_outcome=note)
        kept.end(report)
    return plan, report


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """The result of a resource as data for JSON: reference, status, changes, errors, reasons, seconds.

    The status is a sorted list of words, [] for a resource in order. Failed changes are left out. The texts may contain
    names of files and output of commands.
    """
    return {
        "resource": str(outcome.ref),
        "status": sorted(outcome.status),
        "changes": [change.summary or change.what for change in outcome.changes],
        "errors": list(outcome.errors),
        "skipped_because": list(outcome.because),
        "refreshed_for": list(outcome.from_refs),
        "seconds": round(outcome.seconds, 6),
    }


def resource_counts(report: Report) -> dict[str, int]:
    """Status -> the number of resources: changed, refreshed, failed, skipped, would_change, and all visited; 0 too."""
    names = {"changed": "changed", "refreshed": "restarted", "failed": "failed", "skipped": "skipped"}
    counts = {name: len(report.with_status(status)) for name, status in names.items()}
    return {**counts, "would_change": len(report.with_status("noop")), "visited": len(report.outcomes)}


def noted_report(report: Report, *, noop: bool = False) -> dict[str, Any]:
    """A short report as data for the notes of a revision. No text in it can quote a secret.

    `counts` has the counts above 0, and `seconds` the time. `resources` has a map for each resource with a status:
    `resource`, `status` (a sorted list of words) and `changes`: the names of changes that were made, would be made, or
    failed. Without such a resource there is no key `resources`. An interrupted report also has `interrupted` and
    `not_visited`, the number of resources left.
    noop: whether resources were only compared; the report then has `noop`
    """
    noted: dict[str, Any] = {
        "counts": {name: count for name, count in resource_counts(report).items() if count},
        "seconds": round(report.seconds, 3),
    }
    if noop:
        noted["noop"] = True
    if report.interrupted:
        noted |= {"interrupted": True, "not_visited": len(report.left)}
    changed = [
        {
            "resource": str(one.ref).encode("utf-8", "backslashreplace").decode("utf-8"),
            "status": sorted(one.status),
            "changes": [it.what for it in (*one.changes, *one.unmade)],
        }
        for one in report.outcomes.values()
        if one.status
    ]
    return noted | ({"resources": changed} if changed else {})


class Journal:
    """The file of a report while resources are applied; a context manager, which closes the file.

    The constructor replaces the file, readable for its owner only, makes its folder, and writes the first line. Call
    `note` with the outcome of each resource as soon as it is visited, then `end` once with the whole report. Without
    `end` the file shows that the run was cut off. Each line is flushed. StoreError if the file is a symbolic link.

    file:   the path of the file
    node:   the name of the node, for the first line
    noop:   whether resources are only compared; for the first line
    raises: StoreError, from the constructor and each method, if the file cannot be written
    """

    def __init__(self, file: Path, node: str, noop: bool) -> None:
        head = _line({"version": VERSION, "node": node, "noop": noop, "began": _now()})
        try:
            os.makedirs(file.parent, mode=0o700, exist_ok=True)
            handle = _begin_report(file, head.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise _unwritable(file, error) from error
        self._place = file
        # A lone surrogate, which UTF-8 cannot encode, is written as an escape of JSON.
        self._file: TextIO = os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace")

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def note(self, outcome: Outcome) -> None:
        """Append the result of a resource."""
        self._write(outcome_data(outcome))

    def end(self, report: Report) -> None:
        """Append the last line, after all resources or an interruption; `__exit__` closes the file."""
        self._write(
            {
                "ended": _now(),
                "interrupted": report.interrupted,
                "not_visited": [str(ref) for ref in report.left],
                "seconds": round(report.seconds, 6),
            }
        )

    def _write(self, data: dict[str, Any]) -> None:
        try:
            self._file.write(_line(data))
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):  # closing tries to write again
                self._file.close()
            raise _unwritable(self._place, error) from error


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _begin_report(file: Path, head: bytes) -> int:
    """Replace a report by a new file with this first line; returns the file descriptor.

    Only the owner may read the file, since it may have output of commands. Other hard links of the old file keep the
    old content. A device or a pipe is written to. raises: OSError, also for a symbolic link
    """
    with folder_below(file.parent, ()) as folder:
        entry = FolderEntry(folder, file.name)
        handle = entry.special()
        if handle is None:
            found = entry.status()
            if found is not None and stat.S_ISLNK(found.st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            entry.sweep()
            return entry.begin(head, 0o600)
        write_all(handle, head)
        return handle


def _unwritable(file: Path, error: OSError) -> StoreError:
    if error.errno == errno.ELOOP:
        return StoreError(
            f"the report {file} is a symbolic link, and nothing is written to where it leads",
            hint="take it away, or name another place: --report FILE",
        )
    return StoreError(f"the report {file} cannot be written: {error.strerror}")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
