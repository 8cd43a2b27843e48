"""Releases of Helm that Flux's HelmRelease describes, one by one, as their manifests are written.

Kustomize's patches are not applied, and what Flux fills in (`${NAME}`) is unknown.
source: Flux, "Helm Releases", Values references
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.releases import (
    Release,
    SetValue,
    Values,
    chart_at,
    documents_of,
    escaped,
    inline_layers,
    origin_at,
    unread,
)
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

KIND = "HelmRelease"
_FILLED = "${"
"""How a text begins that Flux fills in."""
_MOST = 1_000
"""The most files beside a release in which a ConfigMap or Secret is looked for."""


def releases(document: Document, root: Path) -> Iterator[tuple[str, Release]]:
    """The release of a manifest, by its name; none where it is no HelmRelease."""
    tree = document.tree
    if not isinstance(tree, dict) or tree.get("kind") != KIND:
        return
    name = dig(tree, ("metadata", "name"))
    spec = tree.get("spec")
    if isinstance(name, str) and isinstance(spec, dict):
        yield name, _release(document, name, spec, root)


def _release(document: Document, name: str, spec: dict[Any, Any], root: Path) -> Release:
    """The release that a `spec` describes. A source in Git is this repository if it has the chart."""
    values = [*_values(document, name, spec, root)]
    of_chart, reference = dig(spec, ("chart", "spec")), dig(spec, ("chartRef", "name"))
    if isinstance(reference, str):
        return Release("", origin_at(document, ("spec", "chartRef"), "chart", reference), values)
    chart = of_chart.get("chart") if isinstance(of_chart, dict) else None
    if not isinstance(of_chart, dict) or not isinstance(chart, str):
        reason = "names no chart: it patches another manifest, which was not read"
        return Release("", origin_at(document, ("spec",), "patch", name), values, reason)
    origin = origin_at(document, ("spec", "chart", "spec", "chart"), "chart", chart)
    is_in_git = dig(of_chart, ("sourceRef", "kind")) == "GitRepository" and not of_chart.get("valuesFiles")
    return Release(chart_at(root, "", chart) if is_in_git else "", origin, values)


def _values(document: Document, name: str, spec: dict[Any, Any], root: Path) -> Iterator[Values]:
    named = spec.get("valuesFrom")
    for number, one in enumerate(named if isinstance(named, list) else ()):
        if isinstance(one, dict):
            yield from _of_reference(document, ("spec", "valuesFrom", number), one, root)
    yield from inline_layers(document, spec.get("values"), ("spec", "values"), name, _FILLED)


def _of_reference(document: Document, at: Any, one: dict[Any, Any], root: Path) -> Iterator[Values]:
    """The values that a ConfigMap or Secret has, if it lies beside the release."""
    kind, name = str(one.get("kind")), str(one.get("name"))
    key, target = str(one.get("valuesKey") or "values.yaml"), one.get("targetPath")
    origin = origin_at(document, at, kind, name)
    found = [*_data(document.file, kind, name, key, root)]
    steps = tuple(str(target).partition("[")[0].split(".")) if target else ()
    if len(found) != 1 or (target and _FILLED in found[0][1]):
        where = "is not beside the release" if not found else "cannot be read beyond doubt"
        yield unread(origin, where, {steps: origin.line or 1} if steps else None)
        return
    source, text, path = found[0]
    if target:
        yield SetValue(f"{target}={escaped(text)}", origin_at(source, path, kind, name))
    else:
        yield from inline_layers(source, text, path, name, _FILLED)


def _data(file: str, kind: str, name: str, key: str, root: Path) -> Iterator[tuple[Document, str, Any]]:
    """The texts under a key of a ConfigMap or Secret, in the manifests of the release's folder."""
    folder = os.path.dirname(file)
    names = sorted(one for one in os.listdir(root / folder) if one.endswith((".yaml", ".yml")))
    for one in names[:_MOST]:
        path = f"{folder}/{one}".lstrip("/")
        if border.is_layer_outside(root / path) or not os.path.isfile(root / path):
            continue
        try:
            documents = documents_of(root, path)
        except DocumentError:  # another program reads it, and it may be a template
            continue
        for document in documents:
            yield from _of_manifest(document, kind, name, key)


def _of_manifest(document: Document, kind: str, name: str, key: str) -> Iterator[tuple[Document, str, Any]]:
    tree = document.tree
    if not isinstance(tree, dict) or (tree.get("kind"), dig(tree, ("metadata", "name"))) != (kind, name):
        return
    for table in ("data", "stringData"):
        text = dig(tree, (table, key))
        if not isinstance(text, str):
            continue
        is_packed = kind == "Secret" and table == "data"
        try:
            text = base64.b64decode(text, validate=True).decode() if is_packed else text
        except (binascii.Error, ValueError):  # encrypted, or broken
            continue
        yield document, text, (table, key)
