"""Find the releases of Helm that Argo CD's Application and ApplicationSet describe.

A source is read if its path is in this repository. It is not read if it asks for a version or commit, or if its URL
names another repository. Of an ApplicationSet the generators `list` and `git` with directories are followed. Values
that another generator fills in are unknown.

source: Argo CD, "Helm", "Multiple Sources for an Application", "Generators"
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.git_sources import GitSources
from nodeattrs.dialects.files.releases import (
    NOT_HERE,
    TEMPLATE_MARK,
    Release,
    SetValue,
    Values,
    ValuesFile,
    chart_at,
    elements,
    has_mark,
    inline_layers,
    origin_at,
    path_below,
    texts_by_path,
    unread_values,
    with_texts,
)
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

_KINDS = ("Application", "ApplicationSet")
_PARAMETER = re.compile(r"\{\{-?\s{0,9}\.?([A-Za-z_][\w.\-\[\]]{0,200})\s{0,9}-?\}\}", re.ASCII)
_MOST = 1_000
"""The most applications of one ApplicationSet."""
_MOST_PATTERNS = 50
"""The most generators of an ApplicationSet, and patterns of one, that are followed."""
_LARGEST = 20_000_000
"""The most characters of all applications that one template makes."""
_PASSED = "node_modules"
_MOST_STEPS = 20
"""The most steps of a pattern of folders that is followed."""
_PINNED = re.compile(r"[0-9a-f]{7,40}|v?\d+(?:\.\d++)++\S*|refs/tags/.*")
"""A revision that names a commit or a version; a branch or HEAD is taken to be the files that are here."""


class _Application(NamedTuple):
    """An Application as a document has it.

    name:  of the application
    spec:  its `spec`, filled in
    path:  where the document has it
    mark:  "{{" for an application that a template makes; "" for a plain Application, in which "{{" is a plain text
    """

    document: Document
    name: str
    spec: Mapping[Any, Any]
    path: TreePath
    mark: str
    repository: GitSources

    @property
    def root(self) -> Path:
        """The root of the repository."""
        return self.repository.root

    def origin(self, path: TreePath, kind: str, name: object) -> Origin:
        """The line that has a path below `spec`."""
        return origin_at(self.document, (*self.path, *path), kind, name)

    @property
    def sources(self) -> Iterator[tuple[TreePath, Mapping[Any, Any]]]:
        """The sources, each with its path below `spec`."""
        for number, one in elements(self.spec, "sources"):
            if isinstance(one, dict):
                yield ("sources", number), one
        source = self.spec.get("source")
        if not self.spec.get("sources") and isinstance(source, dict):
            yield ("source",), source


def releases(document: Document, repository: GitSources) -> Iterator[tuple[str, Release]]:
    """Yield (name, release) for each Helm source of an Application or ApplicationSet; nothing for another manifest.

    The second Helm source of an application has the name NAME/2. If a generator of an ApplicationSet cannot be
    followed, there is one more application: the template as it is written. A source whose chart is not here also gives
    a Release: its `chart` is "", and its `reason` says why, such as another repository.
    repository: for the folders of charts and of generators
    raises: DocumentError, if the applications of one ApplicationSet have more than 20 million characters
    """
    tree = document.tree
    kind = tree.get("kind") if isinstance(tree, dict) else None
    name = dig(tree, ("metadata", "name"))
    if kind not in _KINDS or not isinstance(name, str):
        return
    if kind == "Application":
        yield from _of_application(name, document, tree.get("spec"), ("spec",), "", repository)
        return
    template = dig(tree, ("spec", "template"))
    size = 0
    for parameters in _parameters(dig(tree, ("spec", "generators")), repository):
        size += _size(template, parameters)
        if size > _LARGEST:
            raise DocumentError(f"makes applications of more than {_LARGEST:,} characters", file=document.file)
        one = _filled(template, parameters)
        own = dig(one, ("metadata", "name"))
        named = own if isinstance(own, str) and parameters else name
        spec = one.get("spec") if isinstance(one, dict) else None
        yield from _of_application(named, document, spec, ("spec", "template", "spec"), TEMPLATE_MARK, repository)


def _of_application(
    name: str, document: Document, spec: Any, path: TreePath, mark: str, repository: GitSources
) -> Iterator[tuple[str, Release]]:
    application = _Application(document, name, spec if isinstance(spec, dict) else {}, path, mark, repository)
    sources = [(at, one) for at, one in application.sources if _is_helm(one, repository.root)]
    for number, (at, source) in enumerate(sources):
        chart, origin, reason = _chart(application, at, source)
        values = [*_values(application, at, source, chart), *_overrides(application, chart)]
        yield name if not number else f"{name}/{number + 1}", Release(chart, origin, values, reason)


def _is_helm(source: Mapping[Any, Any], root: Path) -> bool:
    path = source.get("path")
    return bool(source.get("chart") or source.get("helm") or (isinstance(path, str) and chart_at(root, "", path)))


def _chart(application: _Application, at: TreePath, source: Mapping[Any, Any]) -> tuple[str, Origin, str]:
    """The folder of the chart, "" where it is not here; the line that names it; why it is not here."""
    key = "chart" if source.get("chart") else "path"
    named = source.get(key)
    origin = application.origin((*at, key), "chart", named)
    reason = _why_not_here(application.repository, source.get("repoURL"), source.get("targetRevision"))
    folder = chart_at(application.root, "", named) if isinstance(named, str) and key == "path" and not reason else ""
    return folder, origin, reason or NOT_HERE


def _why_not_here(repository: GitSources, url: Any, revision: Any) -> str:
    """Why the files of a repository at a revision are not those that are here; "" where they may be."""
    if isinstance(url, str) and (another := repository.reason_of_url(url)):
        return another
    is_pinned = isinstance(revision, (str, int, float)) and _PINNED.fullmatch(str(revision))
    return f"comes from revision {revision}, where it may have other values" if is_pinned else ""


def _values(application: _Application, at: TreePath, source: Mapping[Any, Any], chart: str) -> Iterator[Values]:
    """The values of a source, the weakest first: files, then inline values, then parameters."""
    helm = source.get("helm")
    if not isinstance(helm, dict):
        return
    at = (*at, "helm")
    is_optional = helm.get("ignoreMissingValueFiles") is True
    for number, one in elements(helm, "valueFiles"):
        yield _file(application, (*at, "valueFiles", number), str(one), chart, is_optional)
    key = "valuesObject" if helm.get("valuesObject") else "values"
    yield from inline_layers(
        application.document, helm.get(key), (*application.path, *at, key), application.name, application.mark
    )
    for is_text in (False, True):  # Helm reads --set-string after --set
        for number, one in elements(helm, "parameters"):
            if isinstance(one, dict) and (one.get("forceString") is True) == is_text:
                yield _parameter(application, (*at, "parameters", number), one)
    if helm.get("fileParameters"):
        yield unread_values(application.origin((*at, "fileParameters"), "values", "fileParameters"), "was not read")


def _overrides(application: _Application, chart: str) -> Iterator[Values]:
    """Files beside a chart that change the source of an application, or of each one; they are not read.

    source: Argo CD, "Parameter Overrides", Store Overrides In Git
    """
    names = (".argocd-source.yaml", f".argocd-source-{application.name}.yaml") if chart else ()
    for name in names:
        file = path_below(application.root, chart, name)
        if file and os.path.isfile(application.root / file):
            yield unread_values(Origin("values", name, file, 1), "changes the source, and was not read")


def _file(application: _Application, at: TreePath, text: str, chart: str, is_optional: bool) -> Values:
    origin = application.origin(at, "file", text)
    if application.mark and application.mark in text:
        return unread_values(origin, f"has {TEMPLATE_MARK} in its name, which was not filled in")
    if "://" in text or any(sign in text for sign in "*?["):
        return unread_values(origin, "is no path of one file")
    if not text.startswith("$"):
        if not chart:
            return unread_values(origin, "lies in a chart that is not here")
        return ValuesFile(
            path_below(application.root, "" if text[0:1] == "/" else chart, text.lstrip("/")),
            origin,
            is_optional,
        )
    # A file of another source. It is not read if the repository or the revision is known to be another one.
    ref, _, path = text[1:].partition("/")
    source = next((one for _, one in application.sources if one.get("ref") == ref), None)
    reason = (
        "names no source"
        if source is None
        else _why_not_here(application.repository, source.get("repoURL"), source.get("targetRevision"))
    )
    return unread_values(origin, reason) if reason else ValuesFile(path_below(application.root, "", path), origin)


def _parameter(application: _Application, at: TreePath, one: Mapping[Any, Any]) -> Values:
    name, value = str(one.get("name")), str(one.get("value", ""))
    origin = application.origin((*at, "value") if "value" in one else at, "parameter", name)
    if application.mark and has_mark([name, value], application.mark):
        steps = tuple(name.partition("[")[0].split("."))
        lines = None if application.mark in name else {steps: origin.line or 1}
        return unread_values(origin, f"has {TEMPLATE_MARK} in it, which was not filled in", lines)
    is_list = value.startswith("{") and value.endswith("}")
    text = value if is_list else re.sub(r"(?<!\\),", r"\\,", value)
    return SetValue(f"{name}={text}", origin, one.get("forceString") is True)


# --- generators


def _parameters(generators: Any, repository: GitSources) -> Iterator[Mapping[str, str]]:
    """The parameters of each application that generators make; {} once for those that were not followed."""
    several = generators if isinstance(generators, list) else []
    made = [_of_generator(one, repository) if len(several) <= _MOST_PATTERNS else None for one in several]
    found = [parameters for one in made for parameters in one or ()]
    yield from found[:_MOST]
    if None in made or not found or len(found) > _MOST:
        yield {}


def _of_generator(generator: Any, repository: GitSources) -> list[Mapping[str, str]] | None:
    """The parameters of each application that a generator makes; None where it is not followed."""
    if not isinstance(generator, dict) or len(generator) != 1 or has_mark(generator, TEMPLATE_MARK):
        return None
    listed, directories = dig(generator, ("list", "elements")), dig(generator, ("git", "directories"))
    if isinstance(listed, list):
        return [dict(texts_by_path(element)) for element in listed]
    if not isinstance(directories, list) or len(directories) > _MOST_PATTERNS:
        return None
    if _why_not_here(repository, dig(generator, ("git", "repoURL")), dig(generator, ("git", "revision"))):
        return None
    prefix = dig(generator, ("git", "pathParamPrefix"))
    try:
        return [*_of_directories(directories, prefix if isinstance(prefix, str) else "", repository.root)]
    except _TooManyMatches:
        return None


class _TooManyMatches(Exception):
    """More folders, or steps of a pattern, than are followed."""


def _of_directories(directories: Sequence[Any], prefix: str, root: Path) -> Iterator[Mapping[str, str]]:
    """The parameters for each folder that the patterns fit; a star fits one step.

    prefix: the `pathParamPrefix` of the generator, which begins the name of each parameter; "" for none
    raises: _TooManyMatches
    """
    known = [one for one in directories if isinstance(one, dict) and isinstance(one.get("path"), str)]
    without = [one["path"] for one in known if one.get("exclude") is True]
    wanted = dict.fromkeys(
        path for one in known if one.get("exclude") is not True for path in _fitting(one["path"], root)
    )
    for path in wanted:
        if any(_fits(path, pattern) for pattern in without):
            continue
        name = os.path.basename(path)
        plain = re.sub(r"[^a-z0-9.-]", "-", name.lower()).strip("-.")
        steps = {f"path[{number}]": step for number, step in enumerate(path.split("/"))}
        segments = {key.replace("path", "path.segments", 1): step for key, step in steps.items()}
        named = {"path": path, "path.path": path, "path.basename": name, "path.basenameNormalized": plain}
        named = {**named, **steps, **segments}
        yield {f"{prefix}.{key}": text for key, text in named.items()} if prefix else named


def _fits(path: str, pattern: str) -> bool:
    steps, wanted = path.split("/"), pattern.strip("/").split("/")
    return len(steps) == len(wanted) and all(map(fnmatch.fnmatchcase, steps, wanted))


def _fitting(pattern: str, root: Path) -> list[str]:
    """The folders of a repository that a pattern fits, sorted. Folders whose name begins with a dot are left out, as in
    Argo CD. `**` and links that lead out of the repository are not followed. raises: _TooManyMatches
    """
    found = [""]
    steps = pattern.strip("/").split("/")
    for step in steps:
        if len(found) > _MOST or len(steps) > _MOST_STEPS:
            raise _TooManyMatches
        found = [path for folder in found for path in _one_below(folder, step, root)]
    return sorted(found)


def _one_below(folder: str, step: str, root: Path) -> Iterator[str]:
    place = root / folder
    if border.is_layer_outside(place) or not place.is_dir():
        return
    for name in os.listdir(place):
        path = f"{folder}/{name}".lstrip("/")
        if (
            name[0] != "."
            and name != _PASSED
            and fnmatch.fnmatchcase(name, step)
            and path_below(root, "", path)
            and (root / path).is_dir()
        ):
            yield path


def _size(value: Any, parameters: Mapping[str, str]) -> int:
    """The characters that a template has with its parameters; each key and value counts one more."""
    if isinstance(value, dict):
        return sum(1 + _size(key, parameters) + _size(one, parameters) for key, one in value.items())
    if isinstance(value, list):
        return sum(_size(one, parameters) for one in value)
    if not isinstance(value, str):
        return 1
    return len(value) + sum(len(parameters.get(match[1], "")) for match in _PARAMETER.finditer(value))


def _filled(value: Any, parameters: Mapping[str, str]) -> Any:
    """A template with its parameters; what is not known stays as it is written."""
    return with_texts(value, partial(_PARAMETER.sub, lambda match: parameters.get(match[1], match[0])))
