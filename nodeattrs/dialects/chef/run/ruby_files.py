"""The Ruby files of cookbooks. `RubyFiles` runs them.

`UnrunCodeFinder` finds the code that a file may call if the file does not run.
Used by `run.recipes` while a node runs, by `causes` and by the checks. The Ruby process of `chef.ruby` starts with the
first file. Code that does not run *reaches* the libraries, resources and definitions whose names it uses, since it may
call them. What these may set counts, too.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from threading import local
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository.cookbooks import NOT_RUN, Cookbook
from nodeattrs.dialects.chef.repository.cookbooks import RUBY as SUFFIX
from nodeattrs.dialects.chef.repository.recipe_data import SUFFIXES as RECIPES
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.ruby.seen import RECIPE
from nodeattrs.errors import DocumentError, MissingExtra, NotFound, RecipeFailed
from nodeattrs.kinds import RUBY_HELPER
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.node import Node
from nodeattrs.node.slot_names import LEVELS

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.ruby.helper import Helper
    from nodeattrs.dialects.chef.ruby.session import RubySession
    from nodeattrs.dialects.chef.ruby.unrun import UnrunCode
    from nodeattrs.dialects.chef.run.ruby_recipes import CompiledRecipes


NOT_READ = f"{NOT_RUN}, nor read"

_KINDS = {"definitions": "definition", "libraries": "library", "providers": "provider", "resources": "resource"}
"""Folder of a cookbook -> what an origin calls a file in it."""

Reached = tuple[Cookbook, Origin, "UnrunCode"]
"""(The cookbook of some code, its place, what the code may do)."""


def note_anything(node: Attributes, origin: Origin, reason: str, only: Iterable[Path] = ()) -> None:
    """Add an unknown layer to each level of a node, since a source may set any attribute.

    origin: the source
    reason: why it is not known what the source sets, as the end of a sentence
    only:   the paths that the source may set at most; empty for any
    """
    for level in LEVELS:
        node.unknown(level, origin.name, origin, reason, dict.fromkeys(only, 1) or None)


def note_code(node: Attributes, origin: Origin, code: UnrunCode) -> None:
    """Add unknown layers to a node for the attributes that unrun code may set: one for each level, with its paths.

    If the code may set any attribute (`hidden`), each level also gets an unknown layer for any path.
    origin: the file of the code
    """
    for level, lines in code.lines.items():
        node.unknown(level, origin.name, origin, NOT_RUN, lines)
    if code.hidden is not None:
        line, shown = code.hidden
        note_anything(node, origin.moved(line), f"{NOT_RUN}: {f'`{shown}`' if shown else 'it'} may set anything")


class UnrunCodeFinder:
    """Finds the Ruby code that a file may call by name: libraries, resources and definitions of cookbooks.

    `reached` is for a file that is not run here. It yields the code of the file, then code that Chef itself may call,
    then code that the file calls, also through other code. After the file, it leaves out what an earlier call yielded.
    The constructor reads nothing. Each file is parsed once in a process.

    cookbooks: the cookbooks whose libraries, resources and definitions Chef loads
    """

    def __init__(self, cookbooks: Iterable[Cookbook]) -> None:
        self._cookbooks = tuple(cookbooks)
        self._seen: dict[str, set[int]] = {}

    def reached(self, cookbook: Cookbook, file: str, origin: Origin) -> Iterator[Reached]:
        """Yield (cookbook, origin, code) of a file, then of code that Chef itself or the file may call.

        After the file, code that an earlier call yielded is left out.

        origin: the origin of the file. Earlier calls with another kind of origin do not count
        raises: MissingExtra, without tree-sitter
        """
        code = _code(cookbook, file)
        yield cookbook, origin, code
        yield from self._called(code, self._seen.setdefault(origin.kind, set()))

    def _called(self, code: UnrunCode, seen: set[int]) -> Iterator[Reached]:
        """Yield all code that *code* may call, directly or through other code. First comes what Chef may call itself.

        seen: the ids of code to skip; the id of each yielded code is added
        """
        left = [*self._named.get("", ()), *self._by(code)]
        while left:
            one = left.pop(0)
            if id(one) not in seen:
                seen.add(id(one))
                yield one
                left += self._by(one[2])

    def _by(self, code: UnrunCode) -> Iterator[Reached]:
        for word in sorted(code.words & self._named.keys()):
            yield from (one for one in self._named[word] if one[2] not in code.givers)

    @cached_property
    def _named(self) -> dict[str, list[Reached]]:
        """Name -> the code that can be called by it; "" -> the code that Chef may call itself."""
        found: dict[str, list[Reached]] = {}
        for cookbook in self._cookbooks:
            for file in cookbook.files:
                kind = _KINDS.get(file.partition("/")[0])
                if kind is not None and file.endswith(SUFFIX):
                    whole = _code(cookbook, file)
                    for code in (whole, *whole.givers):
                        one = cookbook, Origin(kind, cookbook.name, cookbook.shown(file)), code
                        for name in ("", *code.names) if code.is_reached else code.names:
                            found.setdefault(name, []).append(one)
        return found


def _code(cookbook: Cookbook, file: str) -> UnrunCode:
    from nodeattrs.dialects.chef.ruby.unrun import resource_code, unrun_code

    if file.endswith(RECIPES):
        return resource_code(cookbook.recipe_data(file).types)
    part, _, name = file.removesuffix(SUFFIX).rpartition("/")
    part = part.partition("/")[0] or name
    prefix = cookbook.name.replace("-", "_")
    names: tuple[str, ...] = ()
    if part in ("providers", "resources"):
        names = (prefix if name == "default" else f"{prefix}_{name}",)
        names += (name, name.removeprefix("_")) if name.startswith("_") else ()  # a partial, for `use`
    return unrun_code(pathlib.Path(cookbook.root or "", file), cookbook.shown(file), _PARTS.get(part, part), names)


_PARTS = {"attributes": "attributes", "recipe": "recipes"}


def may_set(cookbook: Cookbook, file: str) -> bool:
    """Whether a file in Ruby, YAML or JSON may set an attribute, by its own text. Code that it calls is not read.

    True for a file that cannot be read, and without tree-sitter. file: the path in the cookbook
    """
    try:
        code = _code(cookbook, file)
    except (DocumentError, MissingExtra):
        return True
    return bool(code.lines or code.hidden)


def lines_that_set(cookbook: Cookbook, file: str, path: Path) -> Iterator[int]:
    """Yield the lines of a Ruby file that may set *path*, a map above it, or a key below it. Lines may repeat.

    Only writes with constant keys are found. Yields nothing for a file that cannot be read, and without tree-sitter.
    file: the path in the cookbook
    """
    try:
        code = _code(cookbook, file)
    except (DocumentError, MissingExtra):
        return
    for lines in code.lines.values():
        yield from (line for at, line in lines.items() if at and at[: len(path)] == path[: len(at)])


class RubyFiles:
    """Runs the attribute files and recipes in Ruby of one node, which set attributes on it.

    Call `set_callbacks` and `use_cookbooks` first. `run` runs an attribute file. `run_recipe` compiles a recipe: no
    resource converges. The first file starts the Ruby process and loads all libraries; the first recipe loads all
    resources and definitions. Call `note_recipe` as each recipe starts, in any language. Code in another language that
    changes the node runs inside `with other_code_runs():`, so that Ruby reads the node again. After the last recipe,
    `code_for_later` yields the code that Chef would run when resources converge.

    repository: gives the data bags and settings
    node:       is read and changed
    words:      the functions `data_bag`, `data_bag_item` and `search`, by name
    run_list:   the items of this run
    warnings:   grows while files run
    compiled:   the resources that recipes declared, and the places after which any attribute may be set
    """

    def __init__(
        self, repository: Repository, node: Node, words: Mapping[str, Callable[..., Any]], run_list: Sequence[str]
    ) -> None:
        self.warnings: list[DocumentError] = []
        self._repository = repository
        self._node = node
        searched = partial(_searched, repository, words.get("search"))
        self._words: dict[str, Callable[..., Any]] = {
            **words,
            "search": searched,
            "data_bags": repository.data_bags,
        }
        self._run_list = run_list
        self._cookbooks: list[Cookbook] = []
        self._unrun = UnrunCodeFinder(())
        self._vouched = False
        self._has_resources = False
        self._depth_of_other_code = 0
        self._started: list[str] = []
        self._include: Callable[..., None] = _do_nothing
        self._recipe: Callable[..., bool] = _do_nothing
        self._log: Callable[[str, str, Origin], None] = _do_nothing

    def set_callbacks(
        self, include: Callable[..., None], recipe: Callable[..., bool], log: Callable[[str, str, Origin], None]
    ) -> None:
        """Set the functions that a file in Ruby calls by `include_attribute`, `include_recipe` and `log`.

        include, recipe: called with (name, cookbook of the caller, function that returns the line of the include).
                         *recipe* returns whether the recipe was run now
        log:             called with (message, level, line)
        """
        self._include, self._recipe, self._log = include, recipe, log

    def use_cookbooks(self, cookbooks: Sequence[Cookbook]) -> None:
        """Set the cookbooks of the run, in order; their libraries are loaded later, before the first file runs."""
        self._cookbooks = [one for one in cookbooks if not one.is_missing]
        self._vouched = any(one.sets_only for one in cookbooks)
        self._unrun = UnrunCodeFinder(self._cookbooks)

    def run(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Run an attribute file.

        file:   the path in the cookbook
        name:   the name of the file in origins, "app::default"
        raises: RecipeFailed, TooMuch; NotFound, without Ruby
        """
        if self._depth_of_other_code:
            self._forget()
        self._session.run(_path(cookbook, file), name, cookbook.shown(file), cookbook.name)

    def run_recipe(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Compile a recipe: its code runs, and its resources are kept. No error is raised if the recipe fails.

        The place where it failed is then added to `compiled`, since the rest of the recipe may set any attribute.
        file:   the path in the cookbook
        name:   "cookbook::recipe"
        raises: TooMuch; NotFound, without Ruby
        """
        if self._depth_of_other_code:
            self._forget()
        try:
            self._load_resources()
            self._session.recipe(_path(cookbook, file), name, cookbook.shown(file), cookbook.name, self._started)
        except RecipeFailed as error:
            place = next((one for one in error.origins if isinstance(one, Origin)), None)
            reason = error.message.partition(" failed: ")[2] or error.message
            place = place or Origin(RECIPE, name, cookbook.shown(file))
            self.compiled.add_hidden_place(f"failed, and its rest was not run: {reason}", place)

    def note_recipe(self, name: str) -> None:
        """Note that a recipe starts, in any language, and add it to the node's automatic attribute `recipes`, once.

        name: "cookbook::recipe"
        """
        self._started.append(name)
        if name not in (self._node.read("recipes") or ()):
            with self.other_code_runs():
                self._node.automatic["recipes"].append(name)

    def code_for_later(self) -> Iterator[tuple[Origin, UnrunCode, Iterable[Reached]]]:
        """Yield (place, code, further code that it may call) for the code that runs when resources converge.

        Further code is (cookbook, origin, code), as `UnrunCodeFinder.reached` yields it. Code that was yielded before
        is left out. Yields nothing if no recipe ran.
        """
        seen: set[int] = set()
        for origin, code in self.compiled.code_for_later():
            yield origin, code, self._unrun._called(code, seen)

    @contextlib.contextmanager
    def other_code_runs(self) -> Iterator[None]:
        """A context manager for code that is not Ruby and may change the node.

        Ruby reads the node anew inside and after the block.
        """
        self._depth_of_other_code += 1
        try:
            yield
        finally:
            self._depth_of_other_code -= 1
            self._forget()

    def _forget(self) -> None:
        if "_session" in self.__dict__:
            self._session.forget()

    @cached_property
    def _session(self) -> RubySession:
        from nodeattrs.dialects.chef.ruby.messages import RunServices
        from nodeattrs.dialects.chef.ruby.session import RubySession

        versions = {cookbook.name: cookbook.version for cookbook in self._cookbooks}
        services = RunServices(
            include=self._include,
            words=self._words,
            log=self._log,
            warn=self._warn,
            recipe=self._recipe,
            cookbooks=versions,
            run_list=self._run_list,
            seen=self.compiled,
        )
        session = RubySession(self._node, _helper(self._repository), services, self._repository.root)
        self._load(session, "library", "libraries")
        return session

    def _load_resources(self) -> None:
        """Load the declarations of resources, then the definitions, once."""
        if not self._has_resources:
            for kind in ("resources", "definitions"):
                self._load(self._session, kind, kind)
            self._has_resources = True

    @cached_property
    def compiled(self) -> CompiledRecipes:
        """The notes about all recipes in Ruby that ran; empty if none did."""
        from nodeattrs.dialects.chef.run.ruby_recipes import CompiledRecipes

        def reaches(code: UnrunCode) -> Iterator[UnrunCode]:
            return (one for _, _, one in self._unrun._called(code, set()))

        return CompiledRecipes(self._node, self._repository.root, self._warn, note_anything, reaches, self._vouched)

    def _load(self, session: RubySession, kind: str, folder: str) -> None:
        for cookbook in self._cookbooks:
            for file in sorted(cookbook.files):
                is_partial = kind == "resources" and file.rpartition("/")[2].startswith("_")
                if file.partition("/")[0] != folder or not file.endswith(SUFFIX) or is_partial:
                    continue
                problem = session.load(kind, _path(cookbook, file), cookbook.shown(file), cookbook.name)
                if problem is not None:
                    self._warn(f"was not loaded: {problem.message}", Origin(kind, file=cookbook.shown(file)))

    def _warn(self, message: str, origin: Origin) -> None:
        self.warnings.append(DocumentError(message, file=origin.file, line=origin.line, kind=RUBY_HELPER))


class _Helpers(local):
    """The Ruby processes of a thread. Repositories of one folder share a process, which ends with the last of them.

    So a run in the folder ends the deferred values of the run before, even of another Repository object.
    of_folder:     (folder, time limit) -> the process
    of_repository: repository -> its process, which lives as long as the repository
    """

    def __init__(self) -> None:
        self.of_folder: WeakValueDictionary[tuple[pathlib.Path, float], Helper] = WeakValueDictionary()
        self.of_repository: WeakKeyDictionary[Repository, Helper] = WeakKeyDictionary()


HELPERS = _Helpers()


def _helper(repository: Repository) -> Helper:
    from nodeattrs.dialects.chef.ruby.helper import Helper

    key = repository.root, repository.config.chef.ruby_seconds
    found = HELPERS.of_folder.get(key)
    if found is None or not found.alive:
        found = HELPERS.of_folder[key] = Helper(*key)
    HELPERS.of_repository[repository] = found
    return found


def _path(cookbook: Cookbook, file: str) -> str:
    return os.path.realpath(os.path.join(cookbook.root or "", file))


def _searched(repository: Repository, store: Callable[..., Any] | None, index: str, query: str) -> Any:
    """The result of a search: items of the data bag *index*, else nodes of the store. raises: NotFound, BadArgument"""
    if index in repository.data_bags():
        from nodeattrs.dialects.chef.run.lookups import search_data_bag

        return search_data_bag(repository, index, query)
    if store is None or index != "node":
        raise NotFound(f"there is no data bag {index} to search in, and no index of a server")
    return store(index, query)


def _do_nothing(*_: Any) -> Any:
    """A placeholder for a callback that is not set yet."""
