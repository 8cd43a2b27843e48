"""The kinds of vectors that cloud-init answered: merging of values, and parts, whole user-data, conf.d and layers."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from nodeattrs.cloudinit import (
    CloudPart,
    definition_of,
    kind_of,
    merge,
    merge_confd,
    merge_layers,
    merge_many,
    merge_values,
    take_definition,
)
from nodeattrs.errors import NodeattrsError
from tests.vectors.cases import Case, Judge
from tests.vectors.values import difference

# --- the escapes of these files -------------------------------------------------------


def decoded(value: Any) -> Any:
    """What an escaped value stands for; always a new one."""
    if isinstance(value, list):
        return [decoded(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$map": pairs}:
            return {decoded(key): decoded(entry) for key, entry in pairs}
        case {"$tuple": items}:
            return tuple(decoded(items))
        case {"$set": items}:
            return set(decoded(items))
        case {"$date": text}:
            return date.fromisoformat(text)
        case {"$datetime": text}:
            return datetime.fromisoformat(text)
        case {"$bytes": text}:
            return base64.b64decode(text)
        case {"$float": text}:
            return float(text)
    return {key: decoded(entry) for key, entry in value.items()}


def encoded(value: Any) -> Any:
    """The escaped form of a value, types kept apart."""
    kind = type(value)
    if kind is dict:
        entries = [[encoded(key), encoded(entry)] for key, entry in value.items()]
        return dict(entries) if all(type(key) is str for key in value) else {"$map": entries}
    if kind is list:
        return [encoded(entry) for entry in value]
    if kind is tuple:
        return {"$tuple": [encoded(entry) for entry in value]}
    if kind in (set, frozenset):
        return {"$set": sorted(map(encoded, value), key=str)}
    if kind is datetime:
        return {"$datetime": value.isoformat()}
    if kind is date:
        return {"$date": value.isoformat()}
    if kind is bytes:
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if kind is float and not math.isfinite(value):
        return {"$float": str(value)}
    if value is None or kind in (str, int, float, bool):
        return value
    raise TypeError(f"{value!r} ({kind.__name__}) is no plain value")


# --- merging of values ------------------------------------------------------------------


def values(case: Case) -> Iterator[str]:
    """One question to the merge of values, and whether its inputs are as they were."""
    question = {name: decoded(case[name]) for name in ("how", "config", "base", "update", "sources") if name in case}
    try:
        got = _answer(case, question)
    except NodeattrsError as error:
        got = {"error": {"kind": kind_of(error)}}
    if fault := difference(_expected(case), got):
        yield fault
    for name, value in question.items():
        if fault := difference(case[name], encoded(value)):
            yield f"merging changed its input {name}: {fault}"


def _answer(case: Case, question: dict[str, Any]) -> dict[str, Any]:
    match case["op"]:
        case "parse":
            return {"mergers": encoded(definition_of(question["how"]).to_list())}
        case "extract":
            definition, rest, _ = take_definition(question["config"])
            return {"mergers": encoded(definition.to_list()), "rest": encoded(rest)}
        case "merge":
            return {"value": encoded(merge_values(question["base"], question["update"], question["how"]))}
        case "many":
            return {"value": encoded(merge_many(question["sources"], reverse=case.get("reverse", False)))}
    raise ValueError(f"no such op: {case['op']}")


def _expected(case: Case) -> Any:
    expected = case["expect"]
    return {"error": {"kind": expected["error"]["kind"]}} if "error" in expected else expected


# --- parts, blobs, conf.d, layers -----------------------------------------------------


def parts(case: Case) -> Iterator[str]:
    """One question to the parts, the whole user-data, conf.d or the layers."""
    try:
        got = _PARTS[case["op"]](case)
    except NodeattrsError as error:
        got = {"error": {"kind": kind_of(error)}}
    if fault := difference(_expected(case), got):
        yield fault


def _parts(case: Case) -> dict[str, Any]:
    listed = [CloudPart(**part) for part in case["parts"]]
    return _merged(merge(listed), case, ("filename", "status", "mergers", "kind"))


def _blob(case: Case) -> dict[str, Any]:
    blobs = [_bytes(blob) for blob in case.get("blobs", [case.get("blob")])]
    merged = merge(blobs, launch_index=case.get("launch_index"))
    return _merged(merged, case, ("filename", "type", "status", "mergers", "kind"))


def _bytes(blob: Any) -> str | bytes:
    return base64.b64decode(blob["b64"]) if isinstance(blob, dict) else blob


def _merged(merged: Any, case: Case, facts: tuple[str, ...]) -> dict[str, Any]:
    got = {"config": encoded(merged.config), "parts": []}
    for report in merged.parts:
        told = report.to_dict()
        got["parts"].append({fact: encoded(told[fact]) for fact in facts if told.get(fact) is not None})
    if "text" in case["expect"]:
        got["text"] = merged.text
    return got


def _confd(case: Case) -> dict[str, Any]:
    return {"value": encoded(merge_confd(case["main"], case.get("files")).config)}


def _layers(case: Case) -> dict[str, Any]:
    asked = ("extra", "env", "user", "vendor2", "vendor", "datasource", "base", "include_vendor")
    return {"value": encoded(merge_layers(**{name: decoded(case[name]) for name in asked if name in case}).config)}


_PARTS = {"parts": _parts, "blob": _blob, "confd": _confd, "layers": _layers}

KINDS: dict[str, dict[str, Judge]] = {
    "cloudinit-merge": {"whole": values},
    "cloudinit-parts": {"whole": parts},
}


def canonical(value: Any) -> str:
    """One text for one value, types and key order told apart: for comparing with the real program."""
    return json.dumps(encoded(value), ensure_ascii=False)
