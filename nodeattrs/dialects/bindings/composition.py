"""The layers of a site for one node: read from a folder, from a classifier, and from providers of further schemes.

    <root>/environments.pp              the environments (may be absent)
    <envdir>/manifests/site.pp          the categories and the layers (may be absent)
    <envdir>/bindings/windows/x.pp      the set windows::x, `confdir:/windows::x`
    <modulepath>/ssh/bindings/default.pp the set ssh::default, `module:/ssh::default`

Each file may be text (.pp, .bindings) or data (.yaml, .yml, .json). A *classifier* is Puppet's external node
classifier: it names the classes, parameters and variables of a node. A *provider* makes the sets of a scheme. Files are
found by walking the folders; no name from outside becomes a path. No value is made here.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from nodeattrs import border, children, packages
from nodeattrs.cache import CACHE
from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.budget import in_force
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.code import NOT_RUN, may_run
from nodeattrs.core.looks import Looks
from nodeattrs.core.tree import hint_for
from nodeattrs.dialects.bindings.codes import (
    BAD_PATH,
    CLASSIFIER_FAILED,
    FORMAT,
    NO_SUCH_DIRECTORY,
    NO_SUCH_SET,
    PROVIDER_FAILED,
    SET_NAME,
    TWO_FILES,
)
from nodeattrs.dialects.bindings.forms.builder import Bindings
from nodeattrs.dialects.bindings.forms.data.kinds import sets_from_document, site_from_document
from nodeattrs.dialects.bindings.forms.language.reading import parse_sets, parse_site
from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.dialects.bindings.model.items import BindingSet, BoundVariables, Inclusion, Item, Parameters, WhenItem
from nodeattrs.dialects.bindings.model.producers import Constant, ProducerBase
from nodeattrs.dialects.bindings.model.sites import (
    Environment,
    Inventory,
    Site,
    environment_of,
    layer_references,
    unknown_scheme,
)
from nodeattrs.dialects.bindings.model.state import NodeVariables, Objects, State, effective_categories
from nodeattrs.dialects.bindings.model.types import Classes, target_of
from nodeattrs.dialects.bindings.model.values import own_copy
from nodeattrs.dialects.bindings.resolution import BOUND_PROVIDERS, Layer
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import Document, parse, read, text_of
from nodeattrs.formats.encrypted import encrypted_whole

PROVIDERS = "nodeattrs.bindings_providers"
"""The entry points that provide further schemes: the name is the scheme, the object a `Provider`."""
CLASSES = "nodeattrs.bindings_classes"
"""The entry points of classes that `Type[X]` may name, in every folder."""

TEXTS = (".pp", ".bindings")
ENDINGS = (*TEXTS, ".yaml", ".yml", ".json")
_Content = TypeVar("_Content")


def _sets_below(directory: pathlib.Path, module: str) -> Iterator[tuple[str, pathlib.Path]]:
    """(name of the set, file) for each file of bindings below a folder; nothing where the folder does not exist."""
    first = (module,) if module else ()
    for folder, inner, names in os.walk(directory):
        inner.sort()
        for path in (pathlib.Path(folder, name) for name in sorted(names) if not name.startswith(".")):
            if path.suffix in ENDINGS:
                yield "::".join((*first, *path.relative_to(directory).with_suffix("").parts)), path


def _directories(path: pathlib.Path) -> list[str]:
    """The names of the folders in a folder, in order; [] where the folder cannot be read."""
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []


_CLASSIFIER_SECONDS = 60


@dataclass(frozen=True)
class Request:
    """The request that a provider is called with.

    node:        the name of the node
    environment: the name of its environment
    categories:  its (category, value) pairs, the highest first; the value is None for a category without a value
    facts:       the facts of the node
    """

    node: str
    environment: str
    categories: tuple[tuple[str, str | None], ...]
    facts: Mapping[str, Any]


Provider = Callable[[list[str], Request], Iterable["BindingSet | Bindings"]]
"""A function from references of one scheme that stand together in a layer to the sets that they name."""

Classifier = Mapping[str, Any] | str | os.PathLike[str] | Sequence[str] | Callable[[str], Any]
"""An external node classifier: its data, a YAML file of it, a command that is given the node, or a callable."""


@checked_args(path=A_PATH)
def read_sets(path: str | os.PathLike[str], file: str | None = None) -> list[BindingSet]:
    """The sets of one file: text (.pp, .bindings) or data (.yaml, .yml, .json).

    file:   the name of the file in messages; None: *path*
    raises: BindingError or DocumentError, for a file that is broken; DocumentError, for a file that does not exist
    """
    where = pathlib.Path(path)
    name = where.as_posix() if file is None else file
    if where.suffix in TEXTS:
        return parse_sets(text_of(where, name), name)
    return sets_from_document(read(where, name))


def provided_by_code(
    name: str, origin: Origin, load: Callable[[], Any], looks: Looks, references: list[str], request: Request
) -> Iterable[BindingSet | Bindings]:
    """Load a provider, call it, and return its sets. If no code may run, return one set that could not be read.

    name:       the name of the set that could not be read
    origin:     the place of that set
    load:       a function that returns the provider, or a class; an object of the class is then the provider
    looks:      `refuse` is called, since a provider may look at anything and so the answer cannot be shared
    references: the references of the layer with the scheme of this provider
    request:    the node that the sets are for
    raises:     what *load* and the provider raise
    """
    if not may_run():
        return [BindingSet.unknown(name, origin, f"its provider {NOT_RUN}")]
    looks.refuse(_LOOKS_AT_ANYTHING)
    provider = load()
    sets: Iterable[BindingSet | Bindings] = (provider() if isinstance(provider, type) else provider)(
        references, request
    )
    return sets


_LOOKS_AT_ANYTHING = "a provider of bindings may look at anything"
FAULTY = ("there is no such set", "cannot be read")
"""Reasons of unknown sets that are reported as errors already."""


def _sets_in(text: str, file: str, name: str) -> list[BindingSet]:
    """The sets in the text of a file; one unknown set, if the file is encrypted as a whole. name: of that set"""
    reason = encrypted_whole(text)
    if reason is not None:
        return [BindingSet.unknown(name, Origin("bindings", name, file, 1), f"is encrypted: {reason}")]
    return parse_sets(text, file) if file.endswith(TEXTS) else sets_from_document(_document_in(text, file))


class Composition:
    """The environment, the categories and the layers of one node, read from the folder of a site.

    The constructor reads all files, and raises nothing for what they contain: errors of reading are added to `faults`.
    `injector()` then makes an `Injector` over the layers. `refresh()` reads changed files again, and returns whether
    something differs. `files` is the number of files that were read.
    root:        the folder of the site
    node:        the name of the node; "": the fact `fqdn`
    facts:       the facts of the node; providers get a copy
    environment: the name of the environment; None: the site selects it, and if it selects none, the classifier
    classifier:  the node classifier; None: no classes, parameters and variables from outside
    providers:   scheme -> provider, in addition to the providers of installed packages
    mode:        how a condition with several categories is ranked, as for `State`
    shown_from:  file names in messages are relative to this folder; None: the root
    classes:     the classes that `Type[X]` may name
    objects:     the instances that parameters and queries read
    without:     names of layers to leave out
    looks:       where reads of facts are noted; None: they are not kept
    layers:      the layers, the highest first
    state:       the categories and variables of the node
    faults:      the errors of reading; `injector()` raises them together with its own
    """

    @checked_args(root=A_PATH)
    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        node: str = "",
        facts: Mapping[str, Any] | None = None,
        environment: str | None = None,
        classifier: Classifier | None = None,
        providers: Mapping[str, Provider] | None = None,
        mode: str = "tuple",
        shown_from: str | os.PathLike[str] | None = None,
        classes: Classes | Mapping[str, type] | None = None,
        objects: Objects | None = None,
        without: Iterable[str] = (),
        looks: Looks | None = None,
    ) -> None:
        self.root = pathlib.Path(root)
        self._shown_from = self.root if shown_from is None else pathlib.Path(shown_from)
        self.facts = dict(facts or {})
        self.node = node or str(self.facts.get("fqdn", ""))
        self._wanted = environment
        self._classifier = classifier
        self._providers = dict(providers or {})
        self._mode = mode
        self._classes = classes if isinstance(classes, Classes) else Classes(classes)
        self._objects = objects
        self._without = frozenset(without)
        self.files = 0
        self._looks = looks or Looks()
        self.layers: tuple[Layer, ...] = ()
        self.faults: list[BindingError] = []
        self.environment: Environment | None = None
        self.state = State(mode=mode)
        self.refresh()

    def refresh(self) -> bool:
        """Compose again, with changed files read again; returns whether a layer, an error or a category differs.

        Injectors that were built before do not change.
        """
        before = (self.layers, [str(fault) for fault in self.faults], self.state.categories)
        self.faults = []
        self.layers = ()
        self.files = 0
        try:
            self._compose()
        except (BindingError, DocumentError) as error:
            self._note(error)
        return before != (self.layers, [str(fault) for fault in self.faults], self.state.categories)

    def injector(self, **options: Any) -> Injector:
        """An injector over the layers. options: of `Injector`. raises: BindingErrors, with the errors of reading"""
        options = {"classes": self._classes, "objects": self._objects, "faults": self.faults, **options}
        return Injector(self.layers, self.state, **options)

    # --- reading ---------------------------------------------------------------------------------

    def _compose(self) -> None:
        """Read environment, categories and layers into the attributes. raises: BindingError, DocumentError"""
        if not self.root.is_dir():
            raise BindingError(NO_SUCH_DIRECTORY, f"{self.root.name or self.root} is not a directory")
        classified = self._classified()
        facts = NodeVariables(self.facts, self.node, {}, looks=self._looks)
        given = {**classified.variables, "confdir": "/", "agent_environment": facts.get("environment")}
        given.pop("environment", None)
        if classified.environment:
            given["environment"] = classified.environment
        variables = facts.with_given(given, ["environment"])
        site, selected = self._site(self.root, "environments").evaluated(variables)
        # Paths of a site are seen from its root: nothing outside of it is read.
        self.environment = environment_of(
            site, self._wanted or selected, confdir="/", is_directory=lambda path: self._inside(path).is_dir()
        )
        name = self.environment.name
        manifest = self._inside(self.environment.manifest)
        described = self._site(manifest.parent, manifest.stem)
        variables = facts.with_given({**given, "environment": name}, ())
        of_categories = described.variables_of_categories()
        for variable in of_categories.values():
            variables.compare(variable, "")
        listed = described.listed_categories(variables, variables.unnoted())
        categories = effective_categories(listed, fqdn=self.node, environment=name)
        hidden = ("confdir", "agent_environment")
        known = {key: value for key, value in classified.variables.items() if key not in hidden}
        bound = facts.with_given({**known, "environment": name}, hidden)
        looked_at = partial(_look_at, variables, of_categories)
        self.state = State(categories, bound, mode=self._mode, listed_at=described.listed_at, looked_at=looked_at)
        request = Request(self.node, name, self.state.categories, self.facts)
        kept = [(layer, at) for layer, at in described.layers() if layer["name"] not in self._without]
        self._read_layers(kept, classified, request)

    def _inside(self, path: str) -> pathlib.Path:
        """The path below the root of the site. raises: BindingError ("bad-path"), for a path with `..`"""
        inner = self.root / path.lstrip("/")
        if ".." in pathlib.PurePosixPath(path).parts:
            raise BindingError(BAD_PATH, f"the path {path!r} leaves the site", hint="write paths without ..")
        return inner

    def _read_layers(
        self, layers: Sequence[tuple[Mapping[str, Any], Origin | None]], classified: _ClassifierAnswer, request: Request
    ) -> None:
        """Read the sets of all layers into `layers`; schemes without a provider wait for the bound providers.

        layers: each with the line that lists it
        """
        files = self._set_files()
        inventory = Inventory({"": list(files["module"])}, list(files["confdir"]), None)
        names = layer_references((layer for layer, _ in layers), inventory)
        parts = [
            _Part(number, scheme, list(several))
            for number, (_, references) in enumerate(names)
            for scheme, several in groupby(references, lambda one: one.partition(":")[0])
        ]
        for part in parts:
            if part.scheme in files:
                part.sets = list(self._named_sets(part.references, files[part.scheme]))
            elif part.scheme == "enc":
                part.sets = classified.sets(part.references, self.state.value("node"))
            elif (provider := self._provider(part.scheme)) is not None:
                part.sets = self._provided(provider, part, request)
        self.layers = _layers(layers, parts)
        waiting = [part for part in parts if part.sets is None]
        if waiting:
            bound = self._bound_providers()
            for part in waiting:
                part.sets = self._from_bound_provider(bound, part, request)
            self.layers = _layers(layers, parts)

    def _set_files(self) -> dict[str, dict[str, pathlib.Path]]:
        """The files of the sets: "confdir" and "module" -> the name of a set -> its file."""
        assert self.environment is not None
        modules: dict[str, dict[str, pathlib.Path]] = {}
        for directory in map(self._inside, self.environment.modulepath):
            for name in _directories(directory):
                modules.setdefault(name, self._files(directory / name / "bindings", name))
        in_modules = {name: file for files in modules.values() for name, file in files.items()}
        return {"confdir": self._files(self._inside(self.environment.bindingsdir), ""), "module": in_modules}

    def _provider(self, scheme: str) -> Provider | None:
        """The provider of a scheme that is given or installed; None where neither has the scheme."""
        if scheme in self._providers:
            return self._providers[scheme]
        point = packages.named_entry_points(PROVIDERS).get(scheme)
        if point is None:
            return None
        return partial(provided_by_code, scheme, Origin("provider", scheme), point.load, self._looks)

    def _bound_providers(self) -> Mapping[str, Any]:
        """The fragments of `bindings_providers` by name, in the layers that were read so far."""
        own = Bindings(BOUND_PROVIDERS)
        own.multibind(BOUND_PROVIDERS, "Hash[Any]")
        layers = [Layer("providers", (own.to_set(),)), *self.layers]
        injector = Injector(layers, self.state, classes=self._classes, objects=self._objects, lenient=True)
        found: Mapping[str, Any] = injector.inject(BOUND_PROVIDERS, "Hash[Any]")
        return found

    def _from_bound_provider(self, bound: Mapping[str, Any], part: _Part, request: Request) -> list[BindingSet]:
        """The sets of a provider that is bound; [] and a fault where none is bound, or where it is no function."""
        scheme = part.scheme
        if callable(bound.get(scheme)):
            self._looks.refuse(_LOOKS_AT_ANYTHING)
            return self._provided(bound[scheme], part, request)
        if scheme in bound:
            self._note(BindingError(PROVIDER_FAILED, f"what is bound as the provider of {scheme}: is no function"))
        else:
            known = ["confdir", "module", "enc", *self._providers, *packages.named_entry_points(PROVIDERS), *bound]
            self._note(unknown_scheme(part.references[0], scheme, known))
        return []

    def _files(self, directory: pathlib.Path, module: str) -> dict[str, pathlib.Path]:
        """The name of a set -> its file, below a folder; two files of one set are a fault, and the first counts."""
        files: dict[str, pathlib.Path] = {}
        for called, path in _sets_below(directory, module):
            if called in files:
                message = f"the set {called} has two files: {files[called].name} and {path.name}"
                self._note(BindingError(TWO_FILES, message, origins=(Origin("bindings", "", self._shown(path)),)))
            files.setdefault(called, path)
        return files

    def _named_sets(self, references: list[str], files: Mapping[str, pathlib.Path]) -> Iterator[BindingSet]:
        """The sets that references name; one that is missing or cannot be read is an unknown set and a fault."""
        for reference in references:
            name = reference.partition(":/")[2]
            if name not in files:
                hint = hint_for(name, files) or "?optional allows that it is not there"
                self._note(BindingError(NO_SUCH_SET, f"{reference}: there is no such set", hint=hint))
                yield BindingSet.unknown(name, Origin("bindings", reference), FAULTY[0])
                continue
            place, reason = Origin("bindings", name, self._shown(files[name])), FAULTY[1]
            if border.is_layer_outside(files[name]):
                sets, reason = None, border.REASON
            else:
                sets = self._read(files[name], _sets_in, name)
            for one in [BindingSet.unknown(name, place, reason)] if sets is None else sets:
                if one.name.removeprefix("::") == name:
                    yield one
                else:
                    message = f"the set {one.name} is in the file of {name}: no reference finds it there"
                    self._note(BindingError(SET_NAME, message, origins=(one.origin,), details=(f"at {one.origin}",)))

    def _provided(self, provider: Provider, part: _Part, request: Request) -> list[BindingSet]:
        """The sets that a provider gives for a copy of the facts; [] and a fault where the provider fails."""
        try:
            given = list(provider(part.references, replace(request, facts=own_copy(request.facts))))
        except BindingError as error:
            self._note(error)
            return []
        except Exception as error:
            message = f"the provider of {part.scheme}: has failed: {type(error).__name__}: {error}"
            self._note(BindingError(PROVIDER_FAILED, str(error) if isinstance(error, NodeattrsError) else message))
            return []
        return [one.to_set() if hasattr(one, "to_set") else one for one in given]

    def _site(self, directory: pathlib.Path, stem: str) -> Site:
        """The site that a folder describes in a file of that stem; an empty site where there is no such file."""
        for ending in ENDINGS:
            path = directory / f"{stem}{ending}"
            if path.is_file():
                return self._read(path, _site_in) or Site()
        return Site()

    def _read(self, path: pathlib.Path, parser: Callable[..., _Content], *more: str) -> _Content | None:
        """The result of `parser(text, shown name, *more)` for a file; None, and a fault, where it fails.

        A process parses a text once.
        """
        self.files += 1
        shown = self._shown(path)
        try:
            given = (text_of(path, shown), shown, *more)
            return CACHE.get((parser, *given, in_force()), partial(parser, *given))
        except (BindingError, DocumentError) as error:
            self._note(error)
            return None

    def _classified(self) -> _ClassifierAnswer:
        """The answer of the classifier; an empty one where none is given. raises: BindingError, DocumentError"""
        given = self._classifier
        if given is None:
            return _ClassifierAnswer({}, None)
        if callable(given):
            try:
                given = given(self.node)
            except Exception as error:
                message = f"the classifier has failed: {type(error).__name__}: {error}"
                raise BindingError(CLASSIFIER_FAILED, message) from error
            return _ClassifierAnswer(given, None)
        if isinstance(given, Mapping):
            return _ClassifierAnswer(dict(given), None)
        if isinstance(given, (str, os.PathLike)):
            document = read(pathlib.Path(given), pathlib.Path(given).name)
        else:
            document = _command_answer(list(given), self.node)
        return _ClassifierAnswer(document.tree or {}, document)

    def _note(self, error: BindingError | DocumentError) -> None:
        """Add an error to `faults`; a `DocumentError` becomes a `BindingError` with its place."""
        if isinstance(error, DocumentError):
            origin = Origin("bindings", "", error.file, error.line, error.column)
            error = BindingError(FORMAT, error.message, origins=(origin,), details=error.details, hint=error.hint)
        self.faults.extend(error.errors if isinstance(error, BindingErrors) else [error])

    def _shown(self, path: pathlib.Path) -> str:
        return pathlib.Path(os.path.relpath(path, self._shown_from)).as_posix()


def _look_at(variables: NodeVariables, of_categories: Mapping[str, str], category: str, text: str | None) -> None:
    """Note a read of a category's value. text: the text that it is compared with; None: the value itself is read"""
    if category in of_categories:
        variables.compare(of_categories[category], text)
    elif category == "node":
        variables.compare_name(text)


@dataclass
class _Part:
    """References of one scheme that stand together in a layer. sets: what they name; None before that is known"""

    layer: int
    scheme: str
    references: list[str]
    sets: list[BindingSet] | None = None


def _layers(layers: Sequence[tuple[Mapping[str, Any], Origin | None]], parts: Sequence[_Part]) -> tuple[Layer, ...]:
    """The layers, each with the sets of its parts in order; a part whose sets are not known adds none."""
    found: list[list[BindingSet]] = [[] for _ in layers]
    for part in parts:
        found[part.layer].extend(part.sets or ())
    return tuple(Layer(layer["name"], tuple(sets), at) for (layer, at), sets in zip(layers, found, strict=True))


def _site_in(text: str, file: str) -> Site:
    return parse_site(text, file) if file.endswith(TEXTS) else site_from_document(_document_in(text, file))


def _document_in(text: str, file: str) -> Document:
    return parse(text, file, "json" if file.endswith(".json") else "yaml")


def _command_answer(command: list[str], node: str) -> Document:
    """The document that a classifier command prints for a node. raises: BindingError, where the command fails"""
    if not command or node.startswith("-"):
        raise BindingError(CLASSIFIER_FAILED, "the classifier is no command, or the node's name is no word")
    name = os.path.basename(command[0])
    env, most = children.callers_environment(), in_force().bytes
    try:
        done = children.run([*command, node], env=env, seconds=_CLASSIFIER_SECONDS, most_bytes=most)
    except (OSError, ValueError) as error:
        raise BindingError(CLASSIFIER_FAILED, f"the classifier {name} cannot be asked: {error}") from error
    if done.code:
        last = done.errors.strip().splitlines()[-1:] or [""]
        raise BindingError(CLASSIFIER_FAILED, f"the classifier {name} ended with {done.code}: {last[0]}")
    return parse(done.output.decode("utf-8", "replace"), name, "yaml")


class _ClassifierAnswer:
    """The answer of a classifier for the node: classes with their parameters, and top scope variables.

    variables: the top scope variables
    """

    def __init__(self, data: Any, document: Document | None) -> None:
        self._document = document
        if not isinstance(data, dict):
            raise BindingError(CLASSIFIER_FAILED, "what the classifier gave is not a map")
        self._classes = data.get("classes") or {}
        # What a classifier calls parameters are top scope variables; those of classes stand below the classes.
        self._given: dict[str, dict[Any, Any]] = {word: data.get(word) or {} for word in ("parameters", "variables")}
        for word, given in self._given.items():
            if not isinstance(given, dict):
                raise BindingError(CLASSIFIER_FAILED, f"the {word} of the classifier are no map")
        self.variables = {str(name): value for given in self._given.values() for name, value in given.items()}
        self.environment = data.get("environment")
        if not isinstance(self._classes, (dict, list)):
            raise BindingError(CLASSIFIER_FAILED, "the classes of the classifier are neither a list nor a map")

    def sets(self, references: list[str], node: str | None) -> list[BindingSet]:
        """One set with the parts that the references name, in the category of the node; [] for no parts or no node."""
        parts = {reference.partition(":/")[2] for reference in references}
        items: list[Item] = []
        names = [str(name) for name in self._classes]
        if parts & {"*", "classes"} and names:
            items.append(Inclusion(origin=self._at("classes"), names=tuple(names)))
        if parts & {"*", "parameters"} and isinstance(self._classes, dict):
            for name, values in self._classes.items():
                if isinstance(values, dict) and values:
                    at, to = self._at("classes", name), Constant(values, places=self._locator("classes", name))
                    items.append(Parameters(origin=at, target=target_of(str(name).lower()), to=to))
        if parts & {"*", "variables"} and self.variables:
            variables: dict[str, ProducerBase | None] = {
                str(name): Constant(value, places=self._locator(word, name))
                for word, given in self._given.items()
                for name, value in given.items()
            }
            items.append(BoundVariables(origin=self._at("parameters"), values=variables))
        if node is None or not items:
            return []
        when = WhenItem(origin=self._at(), alternatives=((("node", node),),), items=tuple(items))
        return [BindingSet("enc", (when,), self._at())]

    def _at(self, *path: str) -> Origin:
        return self._locator(*path).at(())

    def _locator(self, *path: str) -> Locator:
        if self._document is None:
            return Origin("classifier", "enc")
        return self._document.locator("classifier", "enc", path)
