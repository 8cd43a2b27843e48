"""The kind of vectors that Docker Compose answered: projects with variables, includes, extended services, profiles.

`files` has the content of each file, `merged` the files that are named with -f, `judged_by` the versions that were
asked. `expect` is {"refused": true}, or some fields of the services; lists of variables and labels are maps in it. A
project that Docker Compose refuses is an error for us, or has a layer that we did not read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.errors import NodeattrsError
from tests.oracles import compose as oracle
from tests.vectors.cases import Case, Judge

FIELDS = ("image", "hostname", "command", "environment", "labels", "cap_add")


def compose(case: Case) -> Iterator[str]:
    """What differs between our answer about a project and the recorded one."""
    is_refused = "refused" in case["expect"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        oracle.write(folder, case["files"])
        try:
            found = fields_of(oracle.ours(folder, case["merged"], strict=is_refused).value)
        except NodeattrsError:
            if not is_refused:
                raise
            return
    if is_refused:
        yield "Docker Compose refuses the project, and we do not"
    elif found != case["expect"]["services"]:  # Docker Compose sorts the services
        yield f"expected {case['expect']['services']}, got {found}"


def fields_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Some fields of the services of a merged tree: the empty ones left out, pairs as maps, capabilities sorted."""
    found: dict[str, Any] = {}
    for name, service in (tree.get("services") or {}).items():
        found[name] = {}
        for field in FIELDS:
            value = service.get(field)
            if field in ("environment", "labels") and isinstance(value, list):
                value = dict(one.split("=", 1) for one in value)
            if value not in (None, [], {}):
                found[name][field] = sorted(value) if field == "cap_add" else value
    return found


KINDS: dict[str, dict[str, Judge]] = {"compose": {"whole": compose}}
