"""Judge the cases of compose.jsonl: projects of Compose files, and what Docker Compose makes of them.

`files` has the content of each file, `merged` the files that are named with -f, `judged_by` the versions that were
asked. `expect` is {"refused": true}, or some fields of the services; lists of variables and labels are maps in it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.contract.folder import Folder
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.files.folds import folded, layers_of_fold
from nodeattrs.errors import NodeattrsError
from nodeattrs.policies import policy_named
from nodeattrs.project.config import PlainFold
from tests.vectors.cases import Case, Judge

FIELDS = ("image", "hostname", "command", "environment", "labels", "cap_add")


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


def judge(case: Case) -> Iterator[str]:
    """A refused project is an error for us, or has a layer that we did not read."""
    with tempfile.TemporaryDirectory() as place:
        for name, content in case["files"].items():
            path = Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        policy = policy_named("compose")
        try:
            layers = layers_of_fold(Folder(place), PlainFold(tuple(case["merged"]), "compose"), policy).layers
            ours = fields_of(folded(layers, policy).value)
        except NodeattrsError as error:
            if "refused" not in case["expect"]:
                yield f"refused: {error}"
            return
        is_uncertain = any(type(one.value) is Unknown for one in layers)
    if "refused" in case["expect"]:
        if not is_uncertain:
            yield f"taken: {ours}"
    elif ours != case["expect"]["services"]:
        yield f"expected {case['expect']['services']}, and got {ours}"


KINDS: dict[str, dict[str, Judge]] = {"compose": {"whole": judge}}
