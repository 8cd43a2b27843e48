"""Plain folds: which files, in which order, under which policy.

    [fold.site]
    files = ["values.yaml", "conf.d", "env/*.yaml"]
    policy = "helm"

    [fold.site.merge]
    "ingress.hosts" = "append"

A folder stands for its files by name, a pattern for what it fits, sorted alike. What a policy
does is the adapters'; what a file says, `texts` reads.
"""

from __future__ import annotations

import glob
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from nodeattrs import border
from nodeattrs.contract.folder import Folder
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.rules import PathRule
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, FoldNotFound, NoFileFits
from nodeattrs.formats.documents import Document, Syntax, read, syntax_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.node.secrets import Secrets
from nodeattrs.policies import NAMES, known_policies, policy_named
from nodeattrs.policies.named import NamedPolicy
from nodeattrs.project.config import PlainFold
from nodeattrs.project.fields import known_or_near

_NUMBERED = re.compile(r"(.+)#(\d{1,9})")


def check_policy(document: Document, one: PlainFold, *under: str) -> None:
    """Refuse a fold under a policy that is not there. under: where the fold is written. raises: DocumentError"""
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
    """The layers of files, folders and patterns, in their order; `FILE#2` is the second document of one.

    folder: what they count from
    shown:  what messages call a file
    policy: its name, which says how a folder is read: helm reads a chart, netplan the root of a machine
    raises: NoFileFits; DocumentError
    """
    for word in words:
        numbered = None if os.path.lexists(folder / word) else _NUMBERED.fullmatch(word)
        one = replace(reader, document=int(numbered[2])) if numbered else reader
        if policy == "helm" and (folder / word / "Chart.yaml").is_file():
            yield from _of_chart(folder / word, one, shown)
            continue
        is_netplan = policy == "netplan" and (folder / word).is_dir()
        for path in _netplan(folder / word) if is_netplan else _files(numbered[1] if numbered else word, folder):
            yield from one.read(path, shown(path).replace(os.sep, "/"))


def _of_chart(chart: pathlib.Path, reader: LayerReader, shown: Callable[[pathlib.Path], str]) -> Iterator[Layer]:
    """The values of a chart; {} where it has none. That subcharts are not read is a warning."""
    name = shown(chart / "Chart.yaml").replace(os.sep, "/")
    described = read(chart / "Chart.yaml", name).tree
    if (chart / "charts").is_dir() or (isinstance(described, dict) and described.get("dependencies")):
        message, hint = "has subcharts, whose values were not read", "lay their values.yaml below, under their names"
        reader.warnings.append(DocumentError(message, file=name, hint=hint, kind=LAYER_IS_UNKNOWN))
    values = chart / "values.yaml"
    if values.is_file():
        yield from reader.read(values, shown(values).replace(os.sep, "/"))
    else:
        yield Layer({}, Origin("file", "values.yaml", name))


def _files(word: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """The files that a word means, sorted by name where they are several."""
    path = folder / word
    if os.path.isdir(path) and not border.is_outside(path):
        names = sorted(name for name in os.listdir(path) if name[0] != "." and syntax_of(name) is not None)
        return [path / name for name in names if os.path.isfile(path / name)]
    if os.path.lexists(path) or not glob.has_magic(word):
        return [path]
    found = sorted(glob.glob(word, root_dir=folder, recursive=True))
    files = [folder / name for name in found if os.path.isfile(folder / name)]
    if not files:
        raise NoFileFits(f"no file fits {word}", hint="a pattern that stands for no file is probably not meant")
    return files


_NETPLAN = ("lib/netplan", "etc/netplan", "run/netplan")
"""Where netplan has its files below the root of a machine; a file of a later folder hides its namesake."""


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
) -> Folded:
    """The fold of some layers, the weakest first.

    rules:     for paths, instead of what the policy says
    sensitive: paths whose values are secrets
    strict:    refuse layers that are unknown
    raises:    MergeConflict; UnknownLayer with *strict*; BadArgument, where there is no layer
    """
    if paths := list(sensitive):
        secrets = Secrets(paths)
        for layer in layers:
            if isinstance(layer.value, dict):
                secrets.wrapped((), layer.value)
    plan = policy.plan(layers, rules)
    return fold([plan] if layers else [], plan.policy, strict=strict)


def fold_named(repository: Folder, name: str) -> PlainFold:
    """The fold of that name in the settings of a repository. raises: FoldNotFound, DocumentError"""
    folds = repository.config.folds
    if name not in folds:
        hint = known_or_near(name, folds) if folds else f"write [fold.{name}] with files = [...] into nodeattrs.toml"
        raise FoldNotFound(f"there is no fold {name}", hint=hint)
    if repository.settings.document is not None:
        check_policy(repository.settings.document, folds[name], "fold", name)
    return folds[name]


def named_fold(repository: Folder, name: str) -> Folded:
    """What a fold of a repository comes to.

    raises: FoldNotFound, NoFileFits, DocumentError, MergeConflict
    """
    one = fold_named(repository, name)
    return folded(named_layers(repository, one), policy_named(one.policy), one.rules, repository.config.sensitive)


def named_layers(repository: Folder, one: PlainFold) -> list[Layer]:
    """The layers of a fold of a repository, the weakest first. raises: FoldNotFound, DocumentError"""
    syntax: Syntax | None = one.syntax or None  # type: ignore[assignment]  # `read_fold` has looked it up
    reader = LayerReader(syntax, warnings=repository.warnings)
    return list(layers_of(one.files, reader, repository.root, repository.shown, one.policy))
