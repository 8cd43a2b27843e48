"""Find the releases of Helm that Flux's HelmReleases describe, as their manifests are written.

Kustomize's patches are not applied, and values with a variable that Flux fills in (`${NAME}`) are unknown.

source: Flux, "Helm Releases", Values references
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.files.git_sources import GitSources, is_named
from nodeattrs.dialects.files.releases import (
    NOT_HERE,
    Release,
    SetValue,
    Values,
    all_withheld,
    chart_at,
    elements,
    inline_layers,
    origin_at,
    parse_documents,
    unread_values,
)
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, content_of, decoded

_FILLED = "${"
"""The beginning of a variable that Flux fills in."""
_MOST = 1_000
"""The most files beside a release in which a ConfigMap or Secret is looked for."""
_KIND = re.compile(r"\b(?:ConfigMap|Secret)\b", re.ASCII)
_SIGNS = re.compile(r"[\\,\[\]{}]")
"""The signs before which Flux writes a backslash in a value that is taken literally."""

_QUOTES = "'\""


class Manifests:
    """The manifests of ConfigMaps and Secrets in the folders of a repository.

    The constructor reads nothing. `in_folder` reads a folder at its first call and keeps the result.

    sources: the GitRepository manifests of the repository, and its root
    root:    the folder of the repository
    """

    def __init__(self, sources: GitSources) -> None:
        self.sources, self.root = sources, sources.root
        self._read: dict[str, Sequence[Document]] = {}

    def in_folder(self, folder: str) -> Sequence[Document]:
        """The ConfigMaps and Secrets in a folder, from its first 1,000 YAML files. Folders in it are not searched.

        Files that cannot be read are left out.
        folder: below the root; raises: OSError, where it cannot be listed
        """
        if folder not in self._read:
            names = sorted(one for one in os.listdir(self.root / folder) if one.endswith((".yaml", ".yml")))
            paths = [f"{folder}/{one}".lstrip("/") for one in names[:_MOST]]
            self._read[folder] = [document for path in paths for document in self._of_file(path)]
        return self._read[folder]

    def _of_file(self, path: str) -> Iterator[Document]:
        if border.is_layer_outside(self.root / path) or not os.path.isfile(self.root / path):
            return
        try:
            text = decoded(content_of(self.root / path, path), path)
            documents = parse_documents(text, path) if _KIND.search(text) else []
        except DocumentError:  # it may be a template of another program
            return
        for one in documents:
            if isinstance(one.tree, dict) and one.tree.get("kind") in ("ConfigMap", "Secret"):
                yield one


def releases(document: Document, manifests: Manifests) -> Iterator[tuple[str, Release]]:
    """Yield (metadata.name, release) of a HelmRelease; nothing for another manifest, or one without a name or `spec`.

    manifests: the ConfigMaps and Secrets that the release may take values from
    """
    tree = document.tree
    if not isinstance(tree, dict) or tree.get("kind") != "HelmRelease":
        return
    name = dig(tree, ("metadata", "name"))
    spec = tree.get("spec")
    if isinstance(name, str) and isinstance(spec, dict):
        yield name, _release(document, name, spec, manifests)


def _release(document: Document, name: str, spec: dict[Any, Any], manifests: Manifests) -> Release:
    """The release that a `spec` describes. Its chart is here only if its source in Git is this repository."""
    values = [*_values(document, name, spec, manifests)]
    of_chart, reference = dig(spec, ("chart", "spec")), dig(spec, ("chartRef", "name"))
    if isinstance(reference, str):
        return Release("", origin_at(document, ("spec", "chartRef"), "chart", reference), values)
    chart = of_chart.get("chart") if isinstance(of_chart, dict) else None
    if not isinstance(of_chart, dict) or not isinstance(chart, str):
        reason = "names no chart: it patches another manifest, which was not read"
        return Release("", origin_at(document, ("spec",), "patch", name), values, reason)
    origin = origin_at(document, ("spec", "chart", "spec", "chart"), "chart", chart)
    source, reason = of_chart.get("sourceRef"), NOT_HERE
    folder = chart_at(manifests.root, "", chart)
    if of_chart.get("valuesFiles") or of_chart.get("valuesFile"):
        reason = "has other values files than values.yaml (valuesFiles), which were not read"
    elif folder and dig(source, ("kind",)) == "GitRepository":
        namespace = dig(source, ("namespace",))
        own = dig(document.tree, ("metadata", "namespace"))
        reason = manifests.sources.reason(str(dig(source, ("name",))), own if namespace is ABSENT else namespace)
        if not reason:
            return Release(folder, origin, values)
    return Release("", origin, values, reason)


def _values(document: Document, name: str, spec: dict[Any, Any], manifests: Manifests) -> Iterator[Values]:
    references = [
        (("spec", "valuesFrom", number), one) for number, one in elements(spec, "valuesFrom") if isinstance(one, dict)
    ]
    for at, one in references:
        yield from _of_reference(document, at, one, manifests)
    yield from inline_layers(document, spec.get("values"), ("spec", "values"), name, _FILLED)
    for at, one in references:
        target = str(one.get("targetPath") or "")
        is_below = "." in target or "[" in target  # of a single top key, the value of the release always wins
        if is_below and isinstance(spec.get("values"), dict) and _meets(spec["values"], _steps(target)):
            origin = origin_at(document, at, str(one.get("kind")), str(one.get("name")))
            why = f"has the targetPath {target}, which the values of the release have, too; either may win"
            yield unread_values(origin, why, {_steps(target): origin.line or 1})


def _steps(target: str) -> Path:
    """The steps of a `targetPath`, up to a list."""
    return tuple(target.partition("[")[0].split("."))


def _meets(values: Any, steps: Path) -> bool:
    """Whether values have something at a path, or instead of a map above it."""
    for step in steps:
        if not isinstance(values, dict):
            return True
        if step not in values:
            return False
        values = values[step]
    return True


def _of_reference(document: Document, at: Path, one: dict[Any, Any], manifests: Manifests) -> Iterator[Values]:
    """The values that a ConfigMap or Secret has, if it lies beside the release. All values of a Secret are secrets."""
    kind, name = str(one.get("kind")), str(one.get("name"))
    key, target = str(one.get("valuesKey") or "values.yaml"), str(one.get("targetPath") or "")
    origin = origin_at(document, at, kind, name)
    space = dig(document.tree, ("metadata", "namespace"))
    found = [
        each
        for manifest in manifests.in_folder(os.path.dirname(document.file))
        if manifest.tree["kind"] == kind and is_named(manifest.tree, name, space)
        for each in _texts(manifest, kind, key)
    ]
    if len(found) != 1 or (target and _FILLED in found[0][1]):
        where = "is not beside the release" if not found else "cannot be read beyond doubt"
        yield unread_values(origin, where, {_steps(target): origin.line or 1} if target else None)
        return
    source, text, path = found[0]
    is_secret = kind == "Secret"
    if target:
        origin = origin_at(source, path, kind, name)
        yield _value_at_target(target, text, one.get("literal") is True, origin)._replace(is_secret=is_secret)
    else:
        for layer in inline_layers(source, text, path, name, _FILLED):
            yield all_withheld(layer) if is_secret else layer


def _value_at_target(target: str, text: str, is_literal: bool, origin: Origin) -> SetValue:
    """A value at a `targetPath`, which Flux hands to the reader of `--set` as it is; a text in quotes is a text."""
    if is_literal:
        plain = _SIGNS.sub(lambda match: f"\\{match[0]}", text)
        return SetValue(f"{target}={plain}", origin, is_text=True)
    is_quoted = any(text.startswith(sign) and text.endswith(sign) for sign in ("'", '"'))
    return SetValue(f"{target}={text.strip(_QUOTES) if is_quoted else text}", origin, is_quoted)


def _texts(manifest: Document, kind: str, key: str) -> Iterator[tuple[Document, str, Path]]:
    """The texts that a manifest has under a key, each with its place."""
    for table in ("data", "stringData"):
        text = dig(manifest.tree, (table, key))
        if not isinstance(text, str):
            continue
        is_packed = kind == "Secret" and table == "data"
        try:
            text = base64.b64decode(text, validate=True).decode() if is_packed else text
        except (binascii.Error, ValueError):  # encrypted, or broken
            continue
        yield manifest, text, (table, key)
