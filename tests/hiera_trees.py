"""Small Hiera trees on disk, for the tests of lookups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.hiera import Hiera, Scope

COMMON = """\
version: 5
hierarchy:
- name: node
  path: nodes/%{trusted.certname}.yaml
- name: common
  path: common.yaml
"""

Site = Callable[..., Scope]


def written(root: Path, files: dict[str, str]) -> Path:
    """The files below *root*; `hiera.yaml` with a level for the node and a common one unless given."""
    for name, text in {"hiera.yaml": COMMON, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Writes a tree and gives a scope of the node web1: `site({"data/common.yaml": "k: 1"}, facts={...})`."""

    def made(files: dict[str, str], facts: dict[str, Any] | None = None, node: str = "web1", **options: Any) -> Scope:
        return Hiera(written(tmp_path, files), root=tmp_path, **options).scope(facts, node=node)

    return made
