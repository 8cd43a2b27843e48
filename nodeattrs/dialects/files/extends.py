"""Find files that name other files as layers, such as `extends` of a tsconfig.json.

The files that a file of TypeScript, Ruff or ESLint extends (its bases) are read under the policies of these tools. For
other tools a table says where their files name other files; those are not read, and become unknown layers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.tree import ABSENT, dig, spell, tree_with
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of, decoded
from nodeattrs.formats.flat_text import INCLUDE, INCLUDE_IF
from nodeattrs.formats.go_scalars import true_or_false
from nodeattrs.formats.layers import LayerReader
from nodeattrs.formats.yaml_events import YAML
from nodeattrs.policies import COMPOSE, ESLINT, GIT, RUFF, TSCONFIG
from nodeattrs.policies.helm import MovedLocator

_TSCONFIG = re.compile(r"(?:tsconfig|jsconfig)(?:\.[^/]+)?\.json")
_OWN = ("extends", "references", "typeAcquisition")
"""Keys that a tsconfig.json does not take from the files below it."""
_RUFF = re.compile(r"\.?ruff\.toml|pyproject\.toml")
_ESLINT = r"\.eslintrc(?:\.json|\.ya?ml)?"
_FILES_OF_ESLINT = tuple(f".eslintrc{end}" for end in (".js", ".cjs", ".yaml", ".yml", ".json", ""))
_PROGRAMS = (".js", ".cjs", ".mjs", ".node")
_RULES_ALONE = ("eslint:recommended", "eslint:all")
"""Configs of ESLint itself; they set severities of rules, and nothing else."""
_RESETS = {
    "select": ("ignore", "extend-select", "extend-ignore"),
    "fixable": ("unfixable", "extend-fixable"),
}
"""Options of Ruff -> the options of extended files that they make void."""
_MOST = 100
"""The most files that one file may lead to, with those that are not there."""
_LONGEST = 1_000
"""Characters of a path that is followed."""

_GITCONFIG = r"\.?gitconfig"
STANDARD_INPUT = "-"
"""The name of standard input in places."""
_DEEPEST = 10
"""Levels of files that Git includes."""


class _Named(NamedTuple):
    """The path under which files of a tool name other files or presets.

    file:     a pattern of the names of such files
    path:     the path in a file under which it names others, in small letters
    is_above: True: the named file overrides the file; False: the file overrides the named one
    """

    file: str
    path: TreePath
    is_above: bool = False


_NAMED = (
    _Named(r"(?:tsconfig|jsconfig)(?:\..+)?\.json", ("extends",)),
    _Named(r"\.?ruff\.toml", ("extend",)),
    _Named(r"pyproject\.toml", ("tool", "ruff", "extend")),
    _Named(rf"{_ESLINT}|\.stylelintrc(?:\.json|\.ya?ml)?", ("extends",)),
    _Named(r"renovate\.json|\.renovaterc(?:\.json)?", ("extends",)),
    _Named(r"biome\.jsonc?|tslint\.json|nx\.json|turbo\.json|\.babelrc(?:\.json)?", ("extends",)),
    _Named(r"mkdocs\.ya?ml", ("inherit",)),
    _Named(r"\.gitlab-ci\.ya?ml", ("include",)),
    _Named(_GITCONFIG, ("include", "path"), True),
    _Named(_GITCONFIG, ("includeif", "path"), True),
    _Named(r"application(?:-.+)?\.(?:ya?ml|properties)", ("spring", "config", "import"), True),
    _Named(r"(?:docker-)?compose(?:\..+)?\.ya?ml", ("include",), True),
)


def is_tsconfig(file: str) -> bool:
    """Whether a file is called as TypeScript calls its settings.

    >>> [is_tsconfig(one) for one in ("web/tsconfig.json", "tsconfig.build.json", "config.json")]
    [True, True, False]
    """
    return _TSCONFIG.fullmatch(os.path.basename(file)) is not None


def is_of_ruff(file: str) -> bool:
    """Whether a file is called as Ruff calls its settings.

    >>> [is_of_ruff(one) for one in ("a/ruff.toml", ".ruff.toml", "pyproject.toml", "base.toml")]
    [True, True, True, False]
    """
    return _RUFF.fullmatch(os.path.basename(file)) is not None


def is_of_eslint(file: str) -> bool:
    """Whether a file is called as ESLint calls its settings, and is no program.

    >>> [is_of_eslint(one) for one in ("a/.eslintrc", ".eslintrc.yml", ".eslintrc.js", "eslint.config.js")]
    [True, True, False, False]
    """
    return re.fullmatch(_ESLINT, os.path.basename(file)) is not None


def as_eslint_reads(reader: LayerReader) -> LayerReader:
    """A copy of a reader for ESLint: JSON may have comments, and `off` and `yes` in YAML are texts."""
    return replace(reader, comments=True, tags={**reader.tags, f"{YAML}bool": true_or_false})


def with_named_files(layers: Iterable[Layer], policy: str = "") -> Iterator[Layer]:
    """Yield each layer, and an unknown layer for each place in its file that names another file.

    The unknown layer comes before the layer. If the named file overrides the layer, it comes after the layer.

    policy: the name of the fold's policy. Under the policies of TypeScript, Ruff, ESLint, Compose and Git, named files
            are read and get no unknown layer. A config of Git on standard input still gets unknown layers
    """
    for layer in layers:
        found = [*_named_in(layer, policy)] if isinstance(layer.value, dict) else []
        yield from (_unread(layer, path) for one, path in found if not one.is_above)
        yield layer
        yield from (_unread(layer, path) for one, path in found if one.is_above)
        yield from _unread_overrides(layer, policy)


def _named_in(layer: Layer, policy: str) -> Iterator[tuple[_Named, TreePath]]:
    """Yield (entry of `_NAMED`, path in the file) for each place in a file that names another, unread file."""
    file = os.path.basename(layer.origin.at(()).file or "")
    for one in _NAMED:
        if policy == GIT and one.file == _GITCONFIG:
            is_unread = file == STANDARD_INPUT  # `with_included` has read what any other config of Git names
        else:
            is_read = policy == COMPOSE or is_followed(file, policy)
            is_unread = not is_read and re.fullmatch(one.file, file) is not None
        if is_unread:
            found = (
                path
                for path in spelled_paths(layer.value, one.path)
                if dig(layer.value, path) not in (None, "", [], {})
            )
            yield from ((one, path) for path in found)


def spelled_paths(tree: object, steps: TreePath) -> Iterator[TreePath]:
    """Yield the paths in a tree whose keys are *steps* in any spelling; nothing if *tree* is not a map.

    Capitals, dashes and underscores make no difference. One key may be several steps ("spring.config.import[0]"). An
    index or a condition at its end is ignored (`includeIf "gitdir:~/x"`).

    steps: in lower case, without dashes and underscores
    """
    for key, value in tree.items() if isinstance(tree, dict) else ():
        name = str(key).partition(" ")[0].partition("[")[0]
        words = tuple(name.lower().replace("-", "").replace("_", "").split("."))
        if words == steps:
            yield (key,)
        elif words == steps[: len(words)]:
            yield from ((key, *rest) for rest in spelled_paths(value, steps[len(words) :]))


def _unread(layer: Layer, path: TreePath, may_set: TreePath = ()) -> Layer:
    """The unknown layer of what a file names at a path. may_set: the path that it may set; () for any"""
    at = layer.origin.at(path)
    name = spell(path)
    lines = {may_set: at.line or 1} if may_set else None
    return Layer.unknown(name, Origin("file", name, at.file, at.line), "names other files, which were not read", lines)


def _unread_overrides(layer: Layer, policy: str) -> Iterator[Layer]:
    """An unknown layer for each of ESLint's overrides that extends others; it may set what is below the override.

    Under ESLint's policy it may set any override: overrides of other files may go before it, so its index is not known.
    """
    file = os.path.basename(layer.origin.at(()).file or "")
    overrides = layer.value.get("overrides") if isinstance(layer.value, dict) else None
    if (policy == ESLINT or is_of_eslint(file)) and isinstance(overrides, list):
        for number, one in enumerate(overrides):
            if isinstance(one, dict) and one.get("extends") not in (None, "", []):
                may_set = ("overrides",) if policy == ESLINT else ("overrides", number)
                yield _unread(layer, ("overrides", number, "extends"), may_set)


def is_followed(file: str, policy: str) -> bool:
    """Whether files that this file extends are read: by its name it is TypeScript's or Ruff's, as *policy* is.

    True for any name under ESLint's policy: its files may have any name.
    """
    return policy == ESLINT or (policy == TSCONFIG and is_tsconfig(file)) or (policy == RUFF and is_of_ruff(file))


def with_bases(
    layers: Sequence[Layer], path: Path, reader: LayerReader, shown: Callable[[Path], str] = os.fspath
) -> list[Layer]:
    """Read the files that a file of TypeScript, Ruff or ESLint extends. Returns their layers and then *layers*, the
    weakest first.

    A base that does not exist, is outside of the repository, or is a program is an unknown layer. So is a file of
    ESLint in a folder above, unless `root` is true.

    layers: the layers of the file at *path*, already read. If they extend nothing, the result has only these
    path:   the file; it is read as TypeScript's or Ruff's by its name, and by any other name as ESLint's
    reader: reads the bases
    shown:  called with a path, it returns the name of the file in places and messages
    raises: DocumentError, for files that extend each other, and more than 100 files
    source: TypeScript, "TSConfig Reference", extends; Ruff, "Settings", extend; ESLint 8, "Configuration Files"
    """
    if is_of_ruff(path.name):
        return [one for layer in layers for one in _with_bases_of_ruff(layer, path, reader, shown)]
    found: list[Layer] = []
    how = _ExtendsRules(replace(reader, comments=True), shown, _target if is_tsconfig(path.name) else _config_of_eslint)
    for layer in layers:
        _follow(layer, path, (Path(os.path.realpath(path)),), how, found)
        found.append(layer)
    return [*_of_folders_above(found, path), *found] if is_of_eslint(path.name) else found


class _ExtendsRules(NamedTuple):
    """How to find and read the files that a file extends.

    reader: reads them
    shown:  called with a path, it returns the name of the file in places and messages
    find:   called with a folder and an entry of `extends`, it returns the file that is meant, or None
    """

    reader: LayerReader
    shown: Callable[[Path], str]
    find: Callable[[Path, str], Path | None]


def _follow(
    layer: Layer,
    path: Path,
    above: tuple[Path, ...],
    how: _ExtendsRules,
    found: list[Layer],
) -> None:
    """Add the layers below *layer*, the weakest first. above: the files on the way to it, *path* the last one"""
    for word, at in _words(layer):
        target = how.find(path.parent, word) if isinstance(word, str) else None
        real = None if target is None else Path(os.path.realpath(target))
        name = word[:_LONGEST] if isinstance(word, str) else "extends"
        if real in above or len(found) >= _MOST:
            what = "extends itself" if real in above else f"leads to more than {_MOST} files"
            raise DocumentError(f"{what}, by {name}", file=at.file, line=at.line, column=at.column)
        reason = _reason(word, target)
        if target is None or real is None or reason:
            found.append(_unread_base(name, Origin("file", name, at.file, at.line), reason))
            continue
        for base in how.reader.read(target, how.shown(target).replace(os.sep, "/")):
            _follow(base, target, (*above, real), how, found)
            found.append(_inherited(base))


def _with_bases_of_ruff(layer: Layer, path: Path, reader: LayerReader, shown: Callable[[Path], str]) -> list[Layer]:
    """A layer of Ruff behind the layers that it extends. Keys of a base are where the layer has Ruff's settings."""
    reader = replace(reader, syntax="toml", document=None)
    home = _home_of_ruff(path)
    found, seen, void = [layer], [Path(os.path.realpath(path))], set[str]()
    read = layer
    while True:
        at = (*_home_of_ruff(path), "extend")
        word = dig(read.value, at)
        if word is ABSENT:
            return found[::-1]
        place = read.origin.at(at)
        void |= _made_void(dig(read.value, _home_of_ruff(path)))
        reason, target = named_file(path.parent, word)
        if reason:
            name = word[:_LONGEST] if isinstance(word, str) else "extend"
            lines = {home: place.line or 1} if home else None
            return [Layer.unknown(name, Origin("file", name, place.file, place.line), reason, lines), *found[::-1]]
        path = target
        real = Path(os.path.realpath(path))
        if real in seen or len(seen) >= _MOST:
            what = "extends itself" if real in seen else f"leads to more than {_MOST} files"
            raise DocumentError(f"{what}, by {word}", file=place.file, line=place.line, column=place.column)
        seen.append(real)
        (read,) = reader.read(path, shown(path).replace(os.sep, "/"))
        found.append(_base_of_ruff(read, _home_of_ruff(path), home, void))


def _home_of_ruff(path: Path) -> TreePath:
    """The path of Ruff's settings in a file."""
    return ("tool", "ruff") if path.name == "pyproject.toml" else ()


def named_file(folder: Path, word: Any, verb: str = "extended") -> tuple[str, Path]:
    """Returns (reason, path) for a file that another file names. The reason says why it is not read; "" if it can be.

    These are not read: a path that begins with `~`, has a `$` or is an address; a file outside of the border; and
    anything but a regular file.
    folder: the folder to which the path is relative. It is returned as the path for `~`, `$` and addresses, and if
            *word* is not a path
    word:   the path as it is written, of any type
    verb:   a participle for the reason: "extended", "included"
    """
    if not isinstance(word, str) or word == "" or "\0" in word or len(word) > _LONGEST:
        return f"what is {verb} is no path", folder
    if word.startswith("~") or "$" in word:
        return f"{word} is {verb}, and depends on the user or the environment", folder
    if "://" in word or word.startswith("git@"):
        return f"{word} is {verb}, and is on another machine", folder
    target = Path(os.path.normpath(folder / word))
    if border.is_layer_outside(target):
        return border.REASON, target
    return "" if os.path.isfile(target) else f"{word} is {verb}, and was not found", target


def _made_void(settings: dict[str, Any]) -> set[str]:
    """The options of extended files that do not count, since these settings have options of `_RESETS`."""
    lint = settings.get("lint")
    options = {*settings, *(lint if isinstance(lint, dict) else ())}
    return {one for option, voided in _RESETS.items() if option in options for one in voided}


def _base_of_ruff(base: Layer, source: TreePath, target: TreePath, void: set[str]) -> Layer:
    """The layer of a base of Ruff for the file that extends it: its settings without *void*, at the path *target*."""
    settings = dig(base.value, source)
    kept = _without({"extend", *void}, settings) if isinstance(settings, dict) else {}
    if isinstance(kept.get("lint"), dict):
        kept["lint"] = _without(void, kept["lint"])
    return Layer(tree_with(target, kept), MovedLocator(base.origin, target, source), base.title)


def _without(keys: Iterable[str], tree: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in tree.items() if key not in keys}


def with_included(
    layers: Iterable[Layer], path: Path, reader: LayerReader, shown: Callable[[Path], str] = os.fspath
) -> list[Layer]:
    """Read the files that a config of Git includes. Returns *layers* with the layers of each file after its line.

    A file that is not read has an unknown layer: it is outside of the repository, included under a condition, or its
    path depends on the user. A file that does not exist here has one, too: it may exist where Git runs. A .gitmodules
    includes nothing.

    layers: the parts of the file at *path*, already read
    reader: reads the files as Git does
    shown:  called with a path, it returns the name of the file in places and messages
    raises: DocumentError, for more than ten levels, and more than 100 files
    source: git-config(1), "Includes" and "Conditional includes"
    """
    found: list[Layer] = []
    if path.name == ".gitmodules":
        return [*layers]
    _include(layers, path, 0, (reader, shown), found)
    return found


def _include(
    layers: Iterable[Layer],
    path: Path,
    level: int,
    how: tuple[LayerReader, Callable[[Path], str]],
    found: list[Layer],
) -> None:
    reader, shown = how
    for layer in layers:
        found.append(layer)
        for steps in _includes(layer):
            at, name = layer.origin.at(steps), spell(steps)
            word = dig(layer.value, steps)
            reason = _not_included(path.parent, steps, word)
            if reason:
                found.append(Layer.unknown(name, Origin("file", name, at.file, at.line), reason))
                continue
            if level == _DEEPEST or len(found) >= _MOST:
                what = f"leads to more than {_DEEPEST} levels or {_MOST} files"
                raise DocumentError(what, file=at.file, line=at.line, column=at.column)
            target = path.parent / word
            inner = reader.read(target, shown(target).replace(os.sep, "/"))
            _include(inner, target, level + 1, how, found)


def _includes(layer: Layer) -> list[TreePath]:
    """The path of the line at the end of a part of a config that includes a file; none in a last part."""
    tree = layer.value if isinstance(layer.value, dict) else {}
    plain = [(*INCLUDE, 0)] if dig(tree, INCLUDE) is not ABSENT else []
    return [*plain, *((key, "path") for key in tree if key.startswith(INCLUDE_IF) and "path" in tree[key])]


def _not_included(folder: Path, steps: TreePath, word: Any) -> str:
    """Why a file that a config of Git includes is not read; "" for one that is read."""
    if steps[0] != INCLUDE[0]:
        return "is included under a condition, which was not decided"
    if not isinstance(word, str) or word == "" or "\0" in word or len(word) > _LONGEST:
        return "includes something that is no path"
    if word.startswith(("~", "%(prefix)/")):
        return f"{word} is included, and depends on the user or the machine"
    held = border.in_force()
    if held is not None and not held.has(folder / word):
        return f"{word} is included, and {border.REASON}"
    if (folder / word).is_file():
        return ""
    return f"{word} is included, and {'is no file' if (folder / word).exists() else 'was not found'}"


def _words(layer: Layer) -> list[tuple[Any, Origin]]:
    """The entries of `extends`, of any type, each with its place; none for null."""
    words = layer.value.get("extends") if isinstance(layer.value, dict) else None
    if isinstance(words, list):
        return [(word, layer.origin.at(("extends", number))) for number, word in enumerate(words)]
    return [] if words is None else [(words, layer.origin.at(("extends",)))]


def _reason(word: Any, target: Path | None) -> str:
    """Why a file that is extended is not read; "" for one that is read."""
    if target is not None and border.is_layer_outside(target):
        return border.REASON
    if target is not None:
        is_read = target.suffix not in _PROGRAMS and target.name != "package.json"
        return "" if is_read else f"{word} is extended, and is {target.name}, which is not read"
    is_path = isinstance(word, str) and word != ""
    if is_path and word.startswith(("eslint:", "plugin:")):
        return f"{word[:_LONGEST]} is extended, and is JavaScript, which is not run"
    return f"{word[:_LONGEST]} is extended, and was not found" if is_path else "extends something that is no path"


def _unread_base(name: str, origin: Origin, reason: str) -> Layer:
    """The unknown layer of a file that is extended; for ESLint's own configs one that may set severities alone."""
    if name not in _RULES_ALONE:
        return Layer.unknown(name, origin, reason)
    unknown = Layer.unknown(name, origin, reason, {("rules",): origin.line or 1})
    return Layer(unknown.value, origin, name, ACROSS)


def _inherited(base: Layer) -> Layer:
    """The layer of a base without the keys of `_OWN`."""
    if not isinstance(base.value, dict):
        return base
    return Layer(_without(_OWN, base.value), base.origin, base.title)


def _target(folder: Path, word: str) -> Path | None:
    """The file that an entry of `extends` means; None where it was not found.

    A word that begins with a dot or a slash is a path, with or without .json. Any other word is looked up in
    node_modules of the folder and of the folders above it. The exports of its package count, if it has some.
    """
    if "\0" in word or word == "" or len(word) > _LONGEST:
        return None
    if word.startswith(("./", "../", "/")) or word in (".", ".."):
        return _file(folder / word)
    return _in_node_modules(folder, word, _of_package)


def _in_node_modules(folder: Path, word: str, in_package: Callable[[Path], Path | None]) -> Path | None:
    """The file of a package in node_modules of the folder, or of a folder above it; None where it was not found.

    in_package: called with a path in a package without exports, it returns the file that is meant
    """
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
        if (target := in_package(place)) is not None:
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
    """The settings at a path in a package: the file, what package.json names under `tsconfig`, or tsconfig.json."""
    if (file := _file(place)) is not None:
        return file
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


def _config_of_eslint(folder: Path, word: str) -> Path | None:
    """The file that an entry of ESLint's `extends` means; None for ESLint's own, a plugin's, and one that is not there.

    A word that begins with a dot or slash is a path, any other a package: "airbnb" means eslint-config-airbnb.
    """
    if "\0" in word or word == "" or len(word) > _LONGEST or word.startswith(("eslint:", "plugin:")):
        return None
    if word.startswith((".", "/")):
        return _module(folder / word)
    scope, _, name = word.partition("/")
    if not word.startswith("@"):
        package = word if word.startswith("eslint-config-") else f"eslint-config-{word}"
    elif name == "":
        package = f"{scope}/eslint-config"
    else:
        package = word if re.match(r"eslint-config(?:[-/]|$)", name) else f"{scope}/eslint-config-{name}"
    return _in_node_modules(folder, package, _module)


def _module(path: Path) -> Path | None:
    """The file that Node.js takes for a path: with one of its endings; for a folder, the main file or the index."""
    described = _described(path)
    if described is None:
        return None
    main = described.get("main")
    inner = path / main if isinstance(main, str) else path
    for place in (path, inner, inner / "index", path / "index"):
        for end in ("", ".js", ".json", ".node"):
            if os.path.isfile(f"{place}{end}"):
                return Path(f"{place}{end}")
    return None


def _of_folders_above(layers: Sequence[Layer], path: Path) -> Iterator[Layer]:
    """An unknown layer for the nearest config of ESLint in a folder above a file; none where `root` is true.

    layers: the file with what it extends, the weakest first
    """
    roots = [one.value.get("root") for one in layers if isinstance(one.value, dict)]
    if [one for one in roots if isinstance(one, bool)][-1:] == [True]:
        return
    for folder in Path(os.path.abspath(path)).parent.parents:
        if border.is_layer_outside(folder):
            return
        names = [name for name in _FILES_OF_ESLINT if os.path.isfile(folder / name)]
        if not names and "eslintConfig" in (_described(folder) or {}):
            names = ["package.json"]
        if names:
            name = os.path.relpath(folder / names[0], path.parent).replace(os.sep, "/")
            yield Layer.unknown(name, Origin("file", name), "is in a folder above, and was not read")
            return
