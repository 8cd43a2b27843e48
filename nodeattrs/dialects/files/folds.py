"""Find which files are merged, in which order and under which policy, from the settings `[fold]`.

    [fold.site]
    files = ["values.yaml", "conf.d", "env/*.yaml"]
    policy = "helm"

    [fold.site.merge]
    "ingress.hosts" = "append"

A folder means its files, a pattern the files that match, both sorted by name. Under Helm's rules a folder with a
Chart.yaml is a chart. `policies` has the rules for merging values; `formats` parses files.
"""

from __future__ import annotations

import glob
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.contract.folder import Folder
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.rules import PathRule
from nodeattrs.core.sensitive import Sensitive, withheld, without_password
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.files.charts import CHART, charts_at
from nodeattrs.dialects.files.compose import layers_of_project
from nodeattrs.dialects.files.doubts import (
    is_of_npm,
    policy_of_repeated,
    profiles_of,
    read_otherwise,
    unread_profiles,
    with_unknown,
)
from nodeattrs.dialects.files.extends import (
    STANDARD_INPUT,
    as_eslint_reads,
    is_followed,
    with_bases,
    with_included,
    with_named_files,
)
from nodeattrs.errors import BadArgument, FoldNotFound, NoFileFits
from nodeattrs.formats import go_scalars
from nodeattrs.formats.documents import Document, Syntax, standard_input, syntax_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import COMPOSE, ESLINT, GIT, NAMES, NETPLAN, SPRING, SYSTEMD, known_policies
from nodeattrs.policies.helm import HELM, HELM_4_1, ChartValues, HelmPolicy
from nodeattrs.policies.named import NamedPolicy
from nodeattrs.project.config import PlainFold
from nodeattrs.project.fields import known_or_near

_NUMBERED = re.compile(r"(.+)#(\d{1,9})")
_SCALARS = {
    COMPOSE: go_scalars.COMPOSE,
    NETPLAN: go_scalars.GO,
    **dict.fromkeys((HELM.name, HELM_4_1.name), go_scalars.HELM),
}
"""The policy of a program that reads scalars of YAML in another way than PyYAML -> how it reads them."""


def check_policy(document: Document, one: PlainFold, *under: str) -> None:
    """Refuse a fold whose policy does not exist. raises: DocumentError, at the line of the policy

    under: the path of the fold in the document
    """
    if one.policy not in NAMES:
        what = f"there is no policy {one.policy!r}"
        raise document.error(what, (*under, "policy"), hint=known_policies(one.policy))


def layers_of(
    words: Iterable[str],
    reader: LayerReader,
    folder: pathlib.Path,
    shown: Callable[[pathlib.Path], str] = os.fspath,
    policy: str = "",
) -> Iterator[Layer]:
    """Read files, folders and patterns, one after the other, and yield their layers. Nothing is read before the
    first layer is taken.

    A file that names other files may give unknown layers for them.
    words:  names of files and folders, and patterns. `FILE#2` is the second document of FILE, and "-" is standard input
            for a reader of pipes. No words: no layers
    reader: reads the files
    folder: the folder to which words are relative
    shown:  called with a path, it returns the name of the file in places and messages
    policy: the name of the fold's policy. Under netplan's policy a folder is the root of a machine. Under TypeScript's,
            Ruff's and ESLint's, the files that a file extends come before it. Under Git's and systemd's, files are read
            in their own syntax. Under Spring's, profiles in the names of files decide which documents count. Under
            Helm's, Compose's and netplan's, scalars of YAML are read as by the program
    raises: NoFileFits, for a pattern that matches no file; DocumentError
    """
    words = [*words]
    reader = as_eslint_reads(reader) if policy == ESLINT else reader
    reader = replace(reader, tags={**_SCALARS.get(policy, {}), **reader.tags})
    profiles = profiles_of(words) if policy == SPRING else set()
    seen: list[Layer] = []
    for word in words:
        numbered = None if os.path.lexists(folder / word) else _NUMBERED.fullmatch(word)
        one = replace(reader, document=int(numbered[2])) if numbered else reader
        for own, layers in _read(numbered[1] if numbered else word, one, folder, shown, policy):
            named = with_named_files(layers, policy)
            for layer in with_unknown(named, one.document is not None, own is not one, profiles):
                yield layer
                seen.append(layer)
    if policy == SPRING:
        yield from unread_profiles(seen, profiles)


def _read(
    word: str, reader: LayerReader, folder: pathlib.Path, shown: Callable[[pathlib.Path], str], policy: str
) -> Iterator[tuple[LayerReader, list[Layer]]]:
    """Yield (the reader of a file, its layers with those of the files that it names) for each file of a word."""
    if word == STANDARD_INPUT and reader.pipes:
        own = in_own_syntax(reader, policy, word)
        layers = own.layers(standard_input(), word, "stdin")
        yield own, with_bases(layers, folder / word, own, shown) if is_followed(word, policy) else layers
        return
    is_netplan = policy == NETPLAN and (folder / word).is_dir()
    for path in _netplan(folder / word) if is_netplan else _files(word, folder):
        own = in_own_syntax(reader, policy, path.absolute().as_posix())
        layers = own.read(path, shown(path).replace(os.sep, "/"))
        if own.syntax == "git":
            layers = with_included(layers, path, own, shown)
        elif is_followed(path.name, policy):
            layers = with_bases(layers, path, reader, shown)
        elif own.syntax == "npm":
            layers = [*map(_with_secrets_of_npm, layers)]
        yield own, layers


_SECRET_OF_NPM = re.compile(r"(?:.*:)?(?:_auth|_authToken|_password|key)")
"""A key of .npmrc with a secret, alone or behind the address of a registry. source: npm, "npmrc", Auth related"""


def _with_secrets_of_npm(layer: Layer) -> Layer:
    """A layer of .npmrc with its tokens, passwords and URLs with a password as secrets; a variable in place of a value
    is none.
    """
    if not isinstance(layer.value, dict):
        return layer
    secrets = {
        key: Sensitive(value)
        for key, value in layer.value.items()
        if isinstance(value, str)
        and "${" not in value
        and (_SECRET_OF_NPM.fullmatch(key) or without_password(value) != value)
    }
    return Layer({**layer.value, **secrets}, layer.origin, layer.title, layer.policy)


def in_own_syntax(reader: LayerReader, policy: str, file: str) -> LayerReader:
    """A copy of the reader with the syntax "git", "systemd" or "npm", if the file has that syntax; else *reader*.

    A .npmrc has npm's syntax, unless the reader names one. Under the policy of Git or systemd, a file has its syntax if
    the name of the file says so. A file without a syntax in its name or in the reader has it, too.
    raises: BadArgument, for a document by its number under Git's policy
    """
    if is_of_npm(file) and not reader.syntax:
        return replace(reader, syntax="npm")
    named = policy_of_repeated(file)
    if policy == GIT and reader.document is not None:
        raise BadArgument(f"a config of Git has no documents, and {file} has a number", hint="leave out the number")
    is_own = policy in (GIT, SYSTEMD) and (named == policy or not (named or reader.syntax or syntax_of(file)))
    return replace(reader, syntax="git" if policy == GIT else "systemd") if is_own else reader


def _files(word: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """The files that a word means, sorted by name where they are several."""
    path = folder / word
    if os.path.isdir(path) and not border.is_outside(path):
        names = sorted(name for name in os.listdir(path) if name[0] != "." and _is_layer(path.name, name))
        return [path / name for name in names if os.path.isfile(path / name)]
    if os.path.lexists(path) or not glob.has_magic(word):
        return [path]
    found = sorted(glob.glob(word, root_dir=folder, recursive=True))
    files = [folder / name for name in found if os.path.isfile(folder / name)]
    if not files:
        raise NoFileFits(f"no file matches {word}", hint="correct the pattern, or leave it out")
    return files


def _is_layer(folder: str, name: str) -> bool:
    """Whether a file counts when its folder is named: it has a known ending, or is a drop-in of systemd."""
    is_drop_in = name.endswith(".conf") and read_otherwise(f"{folder}/{name}") != ""
    return is_drop_in or syntax_of(name) is not None


_NETPLAN = ("lib/netplan", "etc/netplan", "run/netplan")
"""Netplan's folders below the root of a machine; a file of a later folder hides a file of the same name."""


def _netplan(root: pathlib.Path) -> list[pathlib.Path]:
    """The files that netplan reads, by name: below the root of a machine, or in the one folder."""
    folders = [root / name for name in _NETPLAN if (root / name).is_dir()] or [root]
    found = {
        path.name: path
        for one in folders
        if not border.is_outside(one)
        for path in one.iterdir()
        if path.suffix == ".yaml" and path.name[0] != "." and path.is_file()
    }
    if not found:
        hint = f"netplan reads *.yaml in {', '.join(reversed(_NETPLAN))} below a root"
        raise NoFileFits(f"no file of netplan is in {root.as_posix()}", hint=hint)
    return [found[name] for name in sorted(found, key=os.fsencode)]


def folded(
    layers: Sequence[Layer],
    policy: NamedPolicy,
    rules: Sequence[PathRule] = (),
    sensitive: Iterable[Path] = (),
    strict: bool = False,
    charts: Sequence[ChartValues] = (),
) -> Folded:
    """Merge layers, the weakest first, under a named policy.

    rules:     paths with another way to merge than the policy's
    sensitive: paths of secrets. Their values become `Sensitive` objects, and so do the values of a Secret of
               Kubernetes; null stays null. This changes the values of *layers* and *charts*
    strict:    True: an unknown layer is an error
    charts:    the charts whose values are the first layers; policies other than Helm's ignore them
    raises:    MergeConflict; UnknownLayer with *strict*; BadArgument, if there is no layer
    """
    paths = list(sensitive)
    if charts and isinstance(policy, HelmPolicy):
        files = layers[len(charts) :]
        _withhold([*((one.path, one.layer) for one in charts), *(((), one) for one in files)], paths)
        plan = policy.plan_of(charts, files, rules)
    else:
        _withhold([((), one) for one in layers], paths)
        plan = policy.plan(layers, rules)
    if policy.uniform is not None:
        for layer in plan.layers():
            found = [one for path in paths for one in _spelled(layer.value, path, policy.uniform)]
            layer.value = withheld(layer.value, found, hide=Sensitive)
    return fold([plan] if layers else [], plan.policy, strict=strict)


_IN_SECRET = (
    ("data",),
    ("stringData",),
    ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
)
"""The values of a Secret of Kubernetes, and the annotation in which kubectl repeats them."""


def _withhold(layers: Iterable[tuple[Path, Layer]], sensitive: Sequence[Path]) -> None:
    """Replace the secrets in layers by `Sensitive` objects: the sensitive paths, and the values of a Secret.

    A layer without a `kind` may change a Secret of another layer, so its values at that place are secrets, too.

    layers: each with the path of its values in the merged tree
    """
    known = [(at, layer) for at, layer in layers if isinstance(layer.value, dict)]
    secrets = {path for at, layer in known for path in _manifests(layer.value, at)}
    for at, layer in known:
        own = [
            (*path, *inner)
            for path in secrets
            if path[: len(at)] == at and dig(layer.value, (*path[len(at) :], "kind")) in (ABSENT, "Secret")
            for inner in _IN_SECRET
        ]
        layer.value = withheld(layer.value, [*sensitive, *own], at, Sensitive)


def _manifests(value: Any, path: Path) -> Iterator[Path]:
    """The paths of the Secrets of Kubernetes in a value, which may have manifests at any depth.

    The items of a SecretList, as the API server lists them, have no kind of their own.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "Secret":
        yield path
    if kind == "SecretList" and isinstance(items := value.get("items"), list):
        yield from ((*path, "items", index) for index, one in enumerate(items) if isinstance(one, dict))
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inside:
        yield from _manifests(one, (*path, step))


def _spelled(tree: Any, path: Path, uniform: Callable[[str], str]) -> Iterator[Path]:
    """Yield the paths in a tree that equal *path* after *uniform* on each key. An element "A=1" has the key A, too."""
    if not path:
        yield ()
        return
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        name = value.partition("=")[0] if isinstance(tree, list) and isinstance(value, str) else key
        if path[0] in ("*", key) or uniform(str(path[0])) in (uniform(str(key)), uniform(str(name))):
            yield from ((key, *rest) for rest in _spelled(value, path[1:], uniform))


def fold_named(repository: Folder, name: str) -> PlainFold:
    """The fold with a name in the settings of a repository; no file of it is read.

    raises: FoldNotFound, with a near name; DocumentError, for broken settings and a policy that does not exist
    """
    folds = repository.config.folds
    if name not in folds:
        hint = known_or_near(name, folds) if folds else f"write [fold.{name}] with files = [...] into nodeattrs.toml"
        raise FoldNotFound(f"there is no fold {name}", hint=hint)
    if repository.settings.document is not None:
        check_policy(repository.settings.document, folds[name], "fold", name)
    return folds[name]


class FoldLayers(NamedTuple):
    """The layers of a fold, the weakest first, as `folded` takes them.

    charts: the charts of Helm in it: the first layers are their values, one layer a chart; () without a chart
    """

    layers: Sequence[Layer]
    charts: Sequence[ChartValues] = ()


def layers_of_fold(repository: Folder, one: PlainFold, policy: NamedPolicy, over: Sequence[Layer] = ()) -> FoldLayers:
    """Read the files of a fold: its layers, the weakest first. Warnings are added to `repository.warnings`.

    repository: the folder to which relative names in the fold are relative
    policy:     under Helm's policy, a chart as the first file is read with its subcharts
    over:       layers of further files, over those of the fold
    raises:     NoFileFits, DocumentError; BadArgument, for a second chart; MergeConflict, as `layers_over_chart`
    """
    syntax: Syntax | None = one.syntax or None  # type: ignore[assignment]  # `read_fold` has looked it up
    reader = LayerReader(syntax, warnings=repository.warnings)
    chart = chart_folder(one.files, repository.root, policy)
    words = one.files if chart is None else one.files[1:]
    files = [*layers_of(words, reader, repository.root, repository.shown, policy.name), *over]
    if policy.name == COMPOSE:
        files = layers_of_project(files, reader, repository.root, repository.shown)
    return FoldLayers(files) if chart is None else layers_over_chart(chart, files, reader, policy, repository.shown)


def chart_folder(words: Sequence[str], folder: pathlib.Path, policy: NamedPolicy) -> pathlib.Path | None:
    """The path of the first word, if it is a folder with a Chart.yaml and the policy is Helm's; else None.

    words:  names of files, folders and patterns, relative to *folder*
    raises: BadArgument, if another word than the first is a chart
    """
    if not isinstance(policy, HelmPolicy):
        return None
    is_chart = [(folder / word / CHART).is_file() for word in words]
    if any(is_chart[1:]):
        word = words[is_chart.index(True, 1)]
        raise BadArgument(f"{word} is a chart, and only the first layer can be one", hint=f"name {word}/values.yaml")
    return folder / words[0] if any(is_chart) else None


def layers_over_chart(
    chart: pathlib.Path,
    files: Sequence[Layer],
    reader: LayerReader,
    policy: NamedPolicy,
    shown: Callable[[pathlib.Path], str] = os.fspath,
) -> FoldLayers:
    """Read a chart and its enabled subcharts, and put the layers of values files over their values.

    chart:  the folder of the chart
    files:  the layers of the values files, the weakest first
    reader: reads the files of the chart
    policy: one of Helm's policies
    shown:  a function from a file to its name in messages
    raises: DocumentError; MergeConflict, if the values of a subchart are not a map
    """
    assert isinstance(policy, HelmPolicy)
    charts = charts_at(chart, reader, shown(chart).replace(os.sep, "/"), policy, files)
    return FoldLayers([*(one.laid for one in charts), *files], charts)
