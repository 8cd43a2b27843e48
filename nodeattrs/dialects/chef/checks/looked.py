"""The check of a repository as the contract has it: findings, what was looked at, and corrected files."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from nodeattrs.contract.dialect import Looked
from nodeattrs.contract.fixes import Fix
from nodeattrs.core.code import may_run
from nodeattrs.dialects.chef.checks.checking import NOTES, checked
from nodeattrs.dialects.chef.checks.fixes import SAFE, fixes
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.reports.findings import Finding, finding_of


def looked(folder: Path) -> Iterator[Looked]:
    """What each kind of file has; the first has all findings, since one may be about several."""
    repository = Repository(folder)
    came = checked(repository, may_run())
    found = [finding_of(one, "note" if one.kind in NOTES else "warning") for one in came.warnings]
    found += [finding_of(one, "note" if one.kind in NOTES else "error") for one in came.faults]

    def fixed(wanted: Container[Finding]) -> Sequence[Fix]:
        safe = (one for one in came.warnings if one.kind in SAFE)
        chosen = [one for one in safe if finding_of(one, "warning") in wanted]
        return fixes(repository.root, chosen, repository.config.sensitive)

    (first, total), *others = came.looked.items()
    yield Looked(first, total, found, fixed)
    yield from (Looked(what, total, ()) for what, total in others)
