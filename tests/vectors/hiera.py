"""The kinds of vectors that Puppet answered: merges of plain values, and whole lookups."""

from __future__ import annotations

import os.path
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import ABSENT, REQUIRED, Explanation, Hiera, Scope, Sensitive, merge
from tests.vectors.cases import Case, Judge
from tests.vectors.values import difference


def merges(case: Case) -> Iterator[str]:
    """The values of one key, merged."""
    values = [ABSENT if value == {"$absent": True} else value for value in case["values"]]
    try:
        got: dict[str, Any] = {"value": merge(values, case["merge"])}
    except NodeattrsError as error:
        got = {"error": _kind(error)}
    if fault := difference(case["expect"], got):
        yield fault


def lookups(case: Case) -> Iterator[str]:
    """Each call twice: by a scope of its own, and by one that has answered all calls before; then explained."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in case["files"].items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        (root / "environments" / case["environment"]).mkdir(parents=True, exist_ok=True)
        shared = _scope(case, root)
        for number, call in enumerate(case["lookups"]):
            for scope in (_scope(case, root), shared):
                if fault := difference(call["expect"], _answered(scope, case, call)):
                    yield f"call {number}: {fault}"
            if "class" not in call and isinstance(call["name"], str):
                yield from _explained(call, number, shared.explain(call["name"], **_arguments(call)))


def _scope(case: Case, root: Path) -> Scope:
    hiera = Hiera(
        environmentpath=root / "environments",
        global_config=root / "global" / "hiera.yaml",
        root=root,
        puppet_version=7,  # which answered
    )
    trusted = case.get("trusted")
    return hiera.scope(case["facts"], node=case["node"], environment=case["environment"], trusted=trusted)


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    arguments = {
        name: call[name]
        for name in ("merge", "value_type", "default_value", "default_values_hash", "override")
        if name in call
    }
    if "block" in call:
        arguments["otherwise"] = (lambda name: name) if call["block"] == "$name" else lambda name: call["block"]
    return arguments


def _answered(scope: Scope, case: Case, call: dict[str, Any]) -> dict[str, Any]:
    try:
        if "class" in call:
            declared = {name: given.get("default", REQUIRED) for name, given in case["classes"][call["class"]].items()}
            return {"value": dict(sorted(scope.parameters(call["class"], declared).items()))}
        return {"value": _masked(scope.lookup(call["name"], **_arguments(call)))}
    except NodeattrsError as error:
        return {"error": _kind(error)}


def _explained(call: dict[str, Any], number: int, explanation: Explanation) -> Iterator[str]:
    """The explanation has the same answer, the places in the right order, and an origin for each leaf from data."""
    got = {"error": _kind(explanation.error)} if explanation.error else {"value": _masked(explanation.value)}
    if fault := difference(call["expect"], got):
        yield f"call {number}, explained: {fault}"
    if "trace" in call:
        searched = [[one.place.file, one.outcome] for one in explanation.searched]
        expected = [[os.path.normpath(file), outcome] for file, outcome in call["trace"]]
        if fault := difference(expected, searched):
            yield f"call {number}, searched: {fault}"
    if explanation.found_in == "data" and not explanation.error:
        for path, _, origins in explanation.leaves():
            if not origins or any(origin.line is None for origin in origins):
                yield f"call {number}: nobody said what stands at {path}"
        if not explanation.trace().claims:
            yield f"call {number}: the trace is empty"
    if explanation.to_dict()["found"] != explanation.found or not str(explanation):
        yield f"call {number}: the explanation contradicts itself"


def _masked(value: Any) -> Any:
    return {"$sensitive": value.unwrap()} if isinstance(value, Sensitive) else value


def _kind(error: NodeattrsError) -> str:
    return error.kind or f"{type(error).__name__}: {error}"


KINDS: dict[str, dict[str, Judge]] = {
    "hiera-merge": {"whole": merges},
    "hiera-lookup": {"whole": lookups},
}
