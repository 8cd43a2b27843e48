"""Files that name another file as the layer below them.

A tsconfig.json is followed to the files that it extends. Of other tools a table says where their files name others;
these others are not read, and an answer says so.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded, Layer
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import dig, spell
from nodeattrs.core.unread import Unread
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of, decoded
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import COMPOSE, TSCONFIG

_TSCONFIG = re.compile(r"(?:tsconfig|jsconfig)(?:\.[^/]+)?\.json")
_OWN = ("extends", "references", "typeAcquisition")
"""Keys that a tsconfig.json does not take from the files below it."""
_MOST = 100
"""The most files that one tsconfig.json may lead to, with those that are not there."""
_LONGEST = 1_000
"""Characters of a path that is followed."""


class _Named(NamedTuple):
    """Where files of a tool name other files or presets.

    file:     a pattern of the names of such files
    path:     the path in a file under which it names others, in small letters
    is_above: whether what it names overrides the file; else the file overrides what it names
    """

    file: str
    path: TreePath
    is_above: bool = False


_NAMED = (
    _Named(r"(?:tsconfig|jsconfig)(?:\..+)?\.json", ("extends",)),
    _Named(r"\.?ruff\.toml", ("extend",)),
    _Named(r"pyproject\.toml", ("tool", "ruff", "extend")),
    _Named(r"\.eslintrc(?:\.json|\.ya?ml)?|\.stylelintrc(?:\.json|\.ya?ml)?", ("extends",)),
    _Named(r"renovate\.json|\.renovaterc(?:\.json)?", ("extends",)),
    _Named(r"biome\.jsonc?|tslint\.json|nx\.json|turbo\.json|\.babelrc(?:\.json)?", ("extends",)),
    _Named(r"mkdocs\.ya?ml", ("inherit",)),
    _Named(r"\.gitlab-ci\.ya?ml", ("include",)),
    _Named(r"\.?gitconfig", ("include", "path"), True),
    _Named(r"\.?gitconfig", ("includeif", "path"), True),
    _Named(r"application(?:-.+)?\.(?:ya?ml|properties)", ("spring", "config", "import"), True),
    _Named(r"(?:docker-)?compose(?:\..+)?\.ya?ml", ("include",), True),
)


def is_tsconfig(file: str) -> bool:
    """Whether a file is called as TypeScript calls its settings.

    >>> [is_tsconfig(one) for one in ("web/tsconfig.json", "tsconfig.build.json", "config.json")]
    [True, True, False]
    """
    return _TSCONFIG.fullmatch(os.path.basename(file)) is not None


def with_named(layers: Iterable[Layer], policy: str = "") -> Iterator[Layer]:
    """The layers, each with an unknown layer for the files that it names and that are not read.

    policy: the name of the policy; under tsconfig's the files that a tsconfig.json extends are read
    """
    for layer in layers:
        found = [*_named_in(layer, policy)] if isinstance(layer.value, dict) else []
        yield from (_unread(layer, path) for one, path in found if not one.is_above)
        yield layer
        yield from (_unread(layer, path) for one, path in found if one.is_above)


def _named_in(layer: Layer, policy: str) -> Iterator[tuple[_Named, TreePath]]:
    """Where a file names others, with the path in it."""
    file = os.path.basename(layer.origin.at(()).file or "")
    for one in _NAMED:
        is_read = policy == TSCONFIG and is_tsconfig(file)
        if not is_read and re.fullmatch(one.file, file):
            found = (path for path in _paths(layer.value, one.path) if dig(layer.value, path) not in (None, "", [], {}))
            yield from ((one, path) for path in found)


def _paths(tree: object, steps: TreePath) -> Iterator[TreePath]:
    """The paths in a tree that steps mean.

    A key of Spring may have several steps and a number: "spring.config.import[0]". A section of Git may have a
    condition: `includeIf "gitdir:~/x"`.
    """
    for key, value in tree.items() if isinstance(tree, dict) else ():
        words = tuple(str(key).partition(" ")[0].partition("[")[0].lower().split("."))
        if words == steps:
            yield (key,)
        elif words == steps[: len(words)]:
            yield from ((key, *rest) for rest in _paths(value, steps[len(words) :]))


def _unread(layer: Layer, path: TreePath) -> Layer:
    at = layer.origin.at(path)
    name = spell(path)
    return Layer.unknown(name, Origin("file", name, at.file, at.line), "names other files, which were not read")


def left_out(tree: Folded, policy: str) -> Iterator[Unread]:
    """The services of Compose that extend another service; nothing under other policies."""
    services = tree.value.get("services") if policy == COMPOSE and isinstance(tree.value, dict) else None
    for name, service in services.items() if isinstance(services, dict) else ():
        if isinstance(service, dict) and "extends" in service:
            at = ("services", name)
            place = str(tree.origins((*at, "extends"))[0].place)
            yield Unread(place, "extends another service, whose values were not read", (at,))


def with_bases(
    layers: Sequence[Layer], path: Path, reader: LayerReader, shown: Callable[[Path], str] = os.fspath
) -> list[Layer]:
    """The layers of a tsconfig.json behind the layers that it extends, the weakest first.

    A base that is not there, or lies outside of the repository, is an unknown layer.
    raises: DocumentError, for files that extend each other, and more than 100 files
    source: TypeScript, "TSConfig Reference", extends
    """
    found: list[Layer] = []
    for layer in layers:
        _follow(layer, path, (Path(os.path.realpath(path)),), (reader, shown), found)
        found.append(layer)
    return found


def _follow(
    layer: Layer,
    path: Path,
    above: tuple[Path, ...],
    how: tuple[LayerReader, Callable[[Path], str]],
    found: list[Layer],
) -> None:
    """Add the layers below *layer*, the weakest first. above: the files on the way to it, *path* the last one"""
    reader, shown = how
    for word, at in _words(layer):
        target = _target(path.parent, word) if isinstance(word, str) else None
        real = None if target is None else Path(os.path.realpath(target))
        name = word[:_LONGEST] if isinstance(word, str) else "extends"
        if real in above or len(found) >= _MOST:
            what = "extends itself" if real in above else f"leads to more than {_MOST} files"
            raise DocumentError(f"{what}, by {name}", file=at.file, line=at.line, column=at.column)
        if target is None or real is None or border.is_layer_outside(target):
            found.append(Layer.unknown(name, Origin("file", name, at.file, at.line), _reason(word, target)))
            continue
        for base in reader.read(target, shown(target).replace(os.sep, "/")):
            _follow(base, target, (*above, real), how, found)
            found.append(_inherited(base))


def _words(layer: Layer) -> list[tuple[Any, Origin]]:
    """The entries of `extends`, of any type, each with its place; none for null."""
    words = layer.value.get("extends") if isinstance(layer.value, dict) else None
    if isinstance(words, list):
        return [(word, layer.origin.at(("extends", number))) for number, word in enumerate(words)]
    return [] if words is None else [(words, layer.origin.at(("extends",)))]


def _reason(word: Any, target: Path | None) -> str:
    """Why a file that is extended was not read."""
    if target is not None:
        return border.REASON
    is_path = isinstance(word, str) and word != ""
    return f"{word[:_LONGEST]} is extended, and was not found" if is_path else "extends something that is no path"


def _inherited(base: Layer) -> Layer:
    """What of a base counts in the files that extend it."""
    if not isinstance(base.value, dict):
        return base
    return Layer({key: one for key, one in base.value.items() if key not in _OWN}, base.origin, base.title)


def _target(folder: Path, word: str) -> Path | None:
    """The file that an entry of `extends` means; None where it was not found.

    A path that begins with a dot or a slash is a file, with or without .json; any other is looked up in node_modules
    of the folder and of the folders above it, by the exports of its package where it has some.
    """
    if "\0" in word or word == "" or len(word) > _LONGEST:
        return None
    if word.startswith(("./", "../", "/")) or word in (".", ".."):
        return _file(folder / word)
    name, rest = _package_and_rest(word)
    for above in (folder, *folder.parents):
        place = above / "node_modules" / word
        if border.is_layer_outside(above):
            return None
        if border.is_layer_outside(place):
            return place
        described = _described(above / "node_modules" / name)
        if described is None:
            return None
        if (exports := described.get("exports")) not in (None, False, "", 0):
            return _exported(above / "node_modules" / name, exports, rest)
        if (target := _file(place) or _of_package(place)) is not None:
            return target
    return None


def _file(path: Path) -> Path | None:
    if os.path.isfile(path):
        return path
    other = Path(f"{path}.json")
    return other if path.suffix != ".json" and os.path.isfile(other) else None


def _package_and_rest(word: str) -> tuple[str, str]:
    """The name of a package, which has two steps behind an @, and the path in it."""
    steps = word.split("/")
    size = 2 if word.startswith("@") else 1
    return "/".join(steps[:size]), "/".join(steps[size:])


def _exported(package: Path, exports: object, rest: str) -> Path | None:
    """The file that the exports of a package name for a path in it; None for none, and for one under conditions.

    source: Node.js, "Modules: Packages", Subpath patterns
    """
    table = exports if isinstance(exports, dict) else {".": exports}
    path = f"./{rest}" if rest else "."
    target, between = table.get(path), ""
    if path not in table:
        patterns = [(begin, end) for begin, star, end in (key.partition("*") for key in table) if star]
        fitting = [one for one in patterns if path.startswith(one[0]) and path[len(one[0]) :].endswith(one[1])]
        begin, end = max(fitting, key=lambda one: (len(one[0]), len(one[1])), default=("", ""))
        target, between = table.get(f"{begin}*{end}"), path[len(begin) : len(path) - len(end)]
    if not isinstance(target, str) or not target.startswith("./"):
        return None
    file = package / target.replace("*", between)
    return file if os.path.isfile(file) else None


def _of_package(place: Path) -> Path | None:
    """The settings of a package: the file that package.json names under `tsconfig`, else tsconfig.json."""
    described = _described(place)
    if described is None:
        return None
    named = described.get("tsconfig")
    return _file(place / (named if isinstance(named, str) else "tsconfig.json"))


def _described(place: Path) -> dict[str, Any] | None:
    """The package.json of a folder; empty without such a file, None for a file that cannot be read."""
    package = place / "package.json"
    if not os.path.isfile(package):
        return {}
    if border.is_layer_outside(package):
        return None
    try:
        described = json.loads(decoded(content_of(package, package.as_posix()), package.as_posix()))
    except (ValueError, RecursionError, DocumentError):
        return None
    return described if isinstance(described, dict) else None
