"""Checks a site of bindings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nodeattrs.contract.dialect import Looked
from nodeattrs.dialects.bindings.reports import findings_of
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.bindings import site_of
from nodeattrs.reports.findings import Finding


def looked(root: Path) -> Iterator[Looked]:
    """The findings of the site that the settings name, or of a repository with bindings."""
    repository = Repository(root)
    named = repository.config.bindings
    if named is None and not [*(root / "bindings").glob("*.pp"), *(root / "bindings").glob("*.bindings")]:
        return
    site = root / (named or ".")
    injector = site_of(repository, site, node="", facts={}).injector(lenient=True)
    found = [_seen_from(root, site, one) for one in findings_of([("", injector)])]
    yield Looked("binding", len(injector.keys()), found)


def _seen_from(root: Path, site: Path, one: Finding) -> Finding:
    return replace(one, file=os.path.relpath(site / one.file, root).replace(os.sep, "/")) if one.file else one
