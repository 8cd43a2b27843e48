"""Read Compose files as Docker Compose does: with variables, included files, extended services and profiles.

`layers_of_project` takes the layers of the files as they are written. In its result the included files and extended
services come before the file that names them, each value with its own file and line. The policy "compose" merges them.

source: Compose Specification, "Include", "Extends", "Profiles"; compose-go 2, package loader
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.tree import ABSENT, dig, tree_with
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.files.compose_variables import (
    FilledLocator,
    FilledText,
    Variables,
    filled,
    of_environment,
    with_environment,
)
from nodeattrs.dialects.files.extends import named_file
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of, decoded
from nodeattrs.formats.go_scalars import COMPOSE as OF_COMPOSE
from nodeattrs.formats.layers import LayerReader
from nodeattrs.formats.tags import Tagged
from nodeattrs.policies import COMPOSE, policy_named
from nodeattrs.policies.compose import PROFILES

_SECTIONS = ("services", "volumes", "networks", "secrets", "configs", "models")
"""The sections that are taken from an included file."""
_ACTIVE = "COMPOSE_PROFILES"
"""The variable that names the active profiles."""
_MOST = 500
"""The most files that one project may lead to."""
_LONGEST = 100
"""The most services in a row that extend the next one, and files in a row that include it."""


class _File(NamedTuple):
    """A file of a project: its path, and the layers of its documents with their variables filled in."""

    path: Path
    layers: Sequence[Layer]


class _Place(NamedTuple):
    """The folder and the variables for reading some files of a project.

    home:      the folder to which the paths in them are relative
    variables: the variables that count in them
    above:     the files that include them, as real paths
    """

    home: Path
    variables: Variables
    above: tuple[str, ...] = ()


def layers_of_project(
    layers: Iterable[Layer], reader: LayerReader, folder: Path, shown: Callable[[Path], str] = os.fspath
) -> list[Layer]:
    """The layers of Compose files, the weakest first, with all that the files lead to. [] for no layers.

    Files that cannot be read, and variables that no file sets, become unknown layers. The last layers remove services
    whose profiles are not active.

    layers: the layers of the Compose files, as they are written. The folder of the first file has the `.env` file
    reader: reads further files
    folder: the folder to which the names of files are relative
    shown:  a function from a path to its name in messages
    raises: DocumentError: a file or service leads to itself, a service does not exist, `${` without a name, or more
            than 500 files; MergeConflict
    """
    written = [(folder / (layer.origin.at(()).file or "-"), layer) for layer in layers]
    home = written[0][0].parent if written else folder
    project = _Project(replace(reader, document=None, syntax="yaml", tags=OF_COMPOSE), shown, home)
    variables = project.own_variables
    files = [_File(path, [filled(layer, variables, variables)]) for path, layer in written]
    found = project.model(files, _Place(home, variables))
    if border.is_layer_outside(home / ".env"):  # it may name active profiles, too
        found.append(Layer.unknown(".env", Origin("file", ".env", shown(home / ".env")), border.REASON))
    return [*(one for layer in found for one in with_environment(layer)), *_inactive(found, variables)]


class _Project:
    """Reads the files of one project. A file is read once for the same variables.

    `model` gives the layers of files, and of the files that these lead to. `variables` reads `.env` files;
    `own_variables` is what the `.env` file in *home* sets.
    """

    def __init__(self, reader: LayerReader, shown: Callable[[Path], str], home: Path) -> None:
        self._reader, self._shown = reader, shown
        self._files: dict[tuple[str, Variables], _File] = {}
        self.own_variables = self.variables(Variables({}), [home / ".env"])

    def variables(self, known: Variables, files: Sequence[Path]) -> Variables:
        """New `Variables`: the known ones, and below them what `.env` files set.

        A file that does not exist, or lies outside, sets nothing.
        """
        there = [path for path in files if os.path.isfile(path) and not border.is_layer_outside(path)]
        contents = [(content_of(path, self._name(path)), self._name(path)) for path in there]
        reader = replace(self._reader, syntax="env")
        layers = [layer for content, name in contents for layer in reader.layers(content, name, ".env")]
        return known.with_files(layers, [decoded(*one) for one in contents])

    def model(self, files: Sequence[_File], place: _Place) -> list[Layer]:
        """The layers of files, the weakest first. Layers that a file leads to come before its own."""
        found: list[Layer] = []
        for path, layers in files:
            real = os.path.realpath(path)
            for layer in layers:
                if not isinstance(layer.value, dict):
                    found.append(layer)
                    continue
                below = self._included(layer, place._replace(above=(*place.above, real)))
                whole = [*below, layer]
                found += [*self._bases(whole, path, place), *map(_own_values, whole), *_under_tags(layer)]
        return found

    def _included(self, layer: Layer, place: _Place) -> list[Layer]:
        """The layers of the files that a file includes. Of two of them the first one wins."""
        entries = layer.value.get("include")
        if not isinstance(entries, list | None):
            raise _error("include is a list of files in Docker Compose", layer.origin.at(("include",)))
        found: list[Layer] = []
        for number, entry in enumerate(entries or ()):
            at, unset = layer.origin.at(("include", number)), _unset(layer, ("include", number))
            found[:0] = self._of_entry(entry if isinstance(entry, dict) else {"path": entry}, at, unset, place)
        return found

    def _of_entry(self, entry: dict[str, Any], at: Origin, unset: Sequence[str], place: _Place) -> list[Layer]:
        """The layers of one entry of `include`; an unknown one where a file of it was not read.

        raises: DocumentError, as `layers_of_project`
        """
        targets = [named_file(place.home, word, "included") for word in _words(entry.get("path"))]
        words = [word for word in _words(entry.get("env_file")) if word != os.devnull]
        settings = [named_file(place.home, word, "named") for word in words]
        reasons = [reason for reason, _ in (*targets, *settings) if reason]
        if unset or reasons or not targets:
            reason = _of_environment(unset) if unset else next(iter(reasons), "includes something that is no path")
            name = str(next(iter(_words(entry.get("path"))), "include"))
            lines = {(section,): at.line or 1 for section in _SECTIONS}
            return [Layer.unknown(name, Origin("include", name, at.file, at.line), reason, lines)]
        paths = [path for _, path in targets]
        if os.path.realpath(paths[0]) in place.above:
            raise _error(f"includes itself, by {entry.get('path')}", at)
        if len(place.above) > _LONGEST:
            raise _error(f"leads to more than {_LONGEST} levels of files", at)
        named = entry.get("project_directory")
        home = place.home / named if isinstance(named, str) and named else paths[0].parent
        env_files = [path for _, path in settings] if entry.get("env_file") else [home / ".env"]
        variables = self.variables(place.variables, env_files)
        files = [self._file(path, variables, at) for path in paths]
        layers = self.model(files, _Place(home, variables, place.above))
        return [_of_sections(one) for one in _with_keys_alone(layers, variables)]

    def _file(self, path: Path, variables: Variables, at: Origin) -> _File:
        key = os.path.realpath(path), variables
        if key not in self._files:
            if len(self._files) >= _MOST:
                raise _error(f"leads to more than {_MOST} files", at)
            layers = self._reader.read(path, self._name(path))
            self._files[key] = _File(path, [filled(layer, variables, self.own_variables) for layer in layers])
        return self._files[key]

    def _name(self, path: Path) -> str:
        return self._shown(path).replace(os.sep, "/")

    def _bases(self, whole: Sequence[Layer], path: Path, place: _Place) -> Iterator[Layer]:
        """The layers of all services that services of a file extend, the weakest first for each."""
        for name in dict.fromkeys(name for one in whole for name in _services(one)):
            yield from self._extended(name, _File(path, whole), place, ("services", name), ())

    def _extended(
        self, name: str, file: _File, place: _Place, target: TreePath, seen: tuple[tuple[str, str], ...]
    ) -> Iterator[Layer]:
        """Yield the layers that a service extends, the weakest first, moved to the path *target*; none if it extends
        nothing.

        seen: file and name of each service on the way
        """
        steps = ("services", name, "extends")
        layer = next((one for one in reversed(file.layers) if dig(one.value, steps) is not ABSENT), None)
        if layer is None:
            return
        extends, at = dig(layer.value, steps), layer.origin.at(steps)
        entry = extends if isinstance(extends, dict) else {"service": extends}
        reason, seen = _of_environment(_unset(layer, steps)), (*seen, (os.path.realpath(file.path), name))
        if entry.get("file") is not None and not reason:
            reason, path = named_file(place.home, entry["file"], "extended")
            file = self._file(path, place.variables, at) if not reason else file
            place = place._replace(home=path.parent)
        base = entry.get("service")
        if reason or not isinstance(base, str):
            yield _unread_service(reason or "extends something that is no service", at, target)
            return
        if (os.path.realpath(file.path), base) in seen or len(seen) >= _LONGEST:
            raise _error(f"extends itself, by {base}" if len(seen) < _LONGEST else "extends too many services", at)
        if not any(base in _services(one) or type(one.value) is Unknown for one in file.layers):
            raise _error(f"extends {base}, and {self._name(file.path)} has no such service", at)
        yield from self._extended(base, file, place, target, seen)
        for one in file.layers:
            if type(one.value) is Unknown and one.value.lines is None:
                yield _unread_service(one.value.reason, at, target)
            elif base in _services(one):
                yield _moved_service(one, ("services", base), target)


def _words(value: Any) -> list[Any]:
    """The entries of a value that may be a list; [] for null."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _services(layer: Layer) -> dict[Any, Any]:
    found = dig(layer.value, ("services",))
    return found if isinstance(found, dict) else {}


def _with_keys_alone(layers: Sequence[Layer], variables: Variables) -> Iterator[Layer]:
    """Yield the layers of included files, with values for keys alone in maps of `environment` that meet.

    If several layers set the environment of a service, Docker Compose makes a list of it, and fills in its keys with
    the variables of the included files. A map of one layer gets the variables of the project.
    """
    count = Counter(name for layer in layers for name, one in _services(layer).items() if _has_environment(one))
    for layer in layers:
        services, fills = dict(_services(layer)), dict[TreePath, FilledText]()
        for name, service in services.items():
            environment = service["environment"] if _has_environment(service) and count[name] > 1 else None
            if isinstance(environment, dict):
                alone = {key for key, value in environment.items() if value is None and key in variables.known}
                fills |= {("services", name, "environment", key): variables.known[key] for key in alone}
                known = {key: variables.known[key].text for key in alone}
                services[name] = {**service, "environment": {**environment, **known}}
        if fills and isinstance(layer.origin, FilledLocator):
            layer = Layer({**layer.value, "services": services}, layer.origin.filling(fills), layer.title, layer.policy)
        yield layer


def _has_environment(service: Any) -> bool:
    return isinstance(service, dict) and "environment" in service


def _unset(layer: Layer, path: TreePath) -> Sequence[str]:
    return layer.origin.unset(path) if isinstance(layer.origin, FilledLocator) else ()


def _of_environment(names: Sequence[str]) -> str:
    """Why a file is not read: its path depends on these variables. "" without variables."""
    return f"depends on {', '.join(names)}, which may come from the environment" if names else ""


def _unread_service(reason: str, at: Origin, target: TreePath) -> Layer:
    """The unknown layer for a service that another one extends. target: the path of that other service"""
    name = str(target[-1])
    return Layer.unknown(name, Origin("service", name, at.file, at.line), reason, {target: at.line or 1})


def _under_tags(layer: Layer) -> Iterator[Layer]:
    """Yield an unknown layer for each service under a tag that extends another one or has profiles."""
    services = dig(layer.value, ("services",))
    inside = services.value if type(services) is Tagged else services
    for name, one in inside.items() if isinstance(inside, dict) else ():
        service = one.value if type(one) is Tagged else one
        is_tagged = inside is not services or service is not one
        if is_tagged and isinstance(service, dict) and ("extends" in service or "profiles" in service):
            reason = "has extends or profiles under a tag, which were not read"
            yield _unread_service(reason, layer.origin.at(("services", name)), ("services", name))


def _error(what: str, at: Origin) -> DocumentError:
    return DocumentError(what, file=at.file, line=at.line, column=at.column)


def _with_value(layer: Layer, value: Any) -> Layer:
    return Layer(value, layer.origin, layer.title, layer.policy)


def _of_sections(layer: Layer) -> Layer:
    if not isinstance(layer.value, dict):
        return layer
    return _with_value(layer, {key: one for key, one in layer.value.items() if key in _SECTIONS})


def _own_values(layer: Layer) -> Layer:
    """A layer without `include`, and without `extends` of its services."""
    if not isinstance(layer.value, dict):
        return layer
    value = {key: one for key, one in layer.value.items() if key != "include"}
    if services := _services(layer):
        value["services"] = {name: _own_fields(one) for name, one in services.items()}
    return _with_value(layer, value)


def _own_fields(service: Any) -> Any:
    return {key: one for key, one in service.items() if key != "extends"} if isinstance(service, dict) else service


def _moved_service(layer: Layer, source: TreePath, target: TreePath) -> Layer:
    """The layer of one service of a layer, moved from the path *source* to the path *target*."""
    origin = layer.origin.moved(source, target) if isinstance(layer.origin, FilledLocator) else layer.origin
    return Layer(tree_with(target, _own_fields(dig(layer.value, source))), origin, layer.title, layer.policy)


def _inactive(layers: Sequence[Layer], variables: Variables) -> Iterator[Layer]:
    """Yield a layer for each service whose profiles are not active. It removes the service.

    Its place is the line of the profiles. The variable COMPOSE_PROFILES of `.env` names active profiles. Where no file
    sets it, one more layer says that the environment may activate them.
    """
    if not any("profiles" in one for layer in layers for one in _services(layer).values() if isinstance(one, dict)):
        return
    named = variables.known.get(_ACTIVE)
    active = set() if named is None else {one.strip() for one in named.text.split(",")}
    tree = fold([policy_named(COMPOSE).plan(layers)], policy_named(COMPOSE).policy)
    services = tree.value.get("services")
    lines: dict[TreePath, int] = {}
    for name, service in services.items() if isinstance(services, dict) else ():
        profiles = _words(service.get("profiles")) if isinstance(service, dict) else []
        if profiles and "*" not in active and active.isdisjoint(map(str, profiles)):
            steps = ("services", name)
            origin = tree.origins((*steps, "profiles"))[0]
            yield Layer(tree_with(steps, None), origin, "profiles", PROFILES)
            lines[steps] = origin.line or 1
    if lines and named is None:
        yield of_environment(_ACTIVE, layers[0].origin.at(()).file, lines)
