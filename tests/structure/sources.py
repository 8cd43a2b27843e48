"""The modules of the package as syntax trees, for the tests that look through all of them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import nodeattrs

ROOT = Path(nodeattrs.__file__).parent


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Each module of the package, in the order of the paths, with its tree. A process parses them once."""
    found = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(ROOT.rglob("*.py"))}
    gc.freeze()  # they stay until the process ends: no collection looks through a million nodes
    return MappingProxyType(found)
