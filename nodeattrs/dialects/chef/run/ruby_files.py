"""The Ruby files of cookbooks: `RubyFiles` runs them, and `Unrun` finds what files that do not run may set.

Used by `run.recipes` while a node runs, and by `dialects.chef.causes`. The process that runs Ruby is in `chef.ruby`; it
is started for the first file. Code that does not run *reaches* the libraries, resources and definitions whose names it
uses. What these may set counts, too.
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
from nodeattrs.core.code import may_run
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
    from nodeattrs.catalog import Catalog
    from nodeattrs.dialects.chef.ruby.helper import Helper
    from nodeattrs.dialects.chef.ruby.session import RubySession
    from nodeattrs.dialects.chef.ruby.unrun import UnrunCode
    from nodeattrs.dialects.chef.run.ruby_recipes import CompiledRecipes


NOT_READ = f"{NOT_RUN}, nor read"

_KINDS = {"definitions": "definition", "libraries": "library", "providers": "provider", "resources": "resource"}
"""Folder of a cookbook -> what an origin calls a file in it."""

Reached = tuple[Cookbook, Origin, "UnrunCode"]
"""The cookbook of some code, its place, and what it may do."""


def note_anything(node: Attributes, origin: Origin, reason: str, only: Iterable[Path] = ()) -> None:
    """Note on a node that a source may set any attribute: an unknown layer on each level.

    origin: the source
    reason: why it is not known what the source sets, as the end of a sentence
    only:   the paths that the source may set at most; empty for any
    """
    for level in LEVELS:
        node.unknown(level, origin.name, origin, reason, dict.fromkeys(only, 1) or None)


def note_code(node: Attributes, origin: Origin, code: UnrunCode) -> None:
    """Note on a node the attributes that unrun code may set: an unknown layer for each level with its constant paths.

    If the code may set any attribute (`hidden`), an unknown layer for any path is added.
    origin: the file of the code
    """
    for level, lines in code.lines.items():
        node.unknown(level, origin.name, origin, NOT_RUN, lines)
    if code.hidden is not None:
        line, shown = code.hidden
        note_anything(node, origin.moved(line), f"{NOT_RUN}: {f'`{shown}`' if shown else 'it'} may set anything")


class Unrun:
    """Finds the Ruby code that may run because files of one node, which are not run here, call it by name.

    Such code is in libraries, resources and definitions of cookbooks. `reached` begins with a file, follows calls
    through other code, and yields no code twice.
    The constructor reads nothing. Each file is parsed once in a process.

    cookbooks: those whose libraries, resources and definitions Chef loads
    """

    def __init__(self, cookbooks: Iterable[Cookbook]) -> None:
        self._cookbooks = tuple(cookbooks)
        self._seen: dict[str, set[int]] = {}

    def reached(self, cookbook: Cookbook, file: str, origin: Origin) -> Iterator[Reached]:
        """Yield the code of a file, then all code that it may call by name. Code that an earlier call yielded is left
        out.

        origin: the origin of the file; what was yielded is remembered for each kind of origin
        raises: MissingExtra, without tree-sitter
        """
        code = _code(cookbook, file)
        yield cookbook, origin, code
        yield from self._called(code, self._seen.setdefault(origin.kind, set()))

    def _called(self, code: UnrunCode, seen: set[int]) -> Iterator[Reached]:
        """Yield all code that *code* may call by name, directly or through other code.

        Code that Chef may call without a name is yielded first.
        seen: the ids of code that is skipped; the id of each yielded code is added
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
        """Name -> the code that it reaches; "" reaches what Chef may call without a name."""
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
    """Whether a file in Ruby, YAML or JSON may set an attribute, by its text. Only the file itself is read.

    True for a file that cannot be read, and without tree-sitter. file: the path in the cookbook
    """
    try:
        code = _code(cookbook, file)
    except (DocumentError, MissingExtra):
        return True
    return bool(code.lines or code.hidden)


def lines_that_set(cookbook: Cookbook, file: str, path: Path) -> Iterator[int]:
    """Yield the lines of a Ruby file that may set *path*, a map above it, or a key below it; lines may repeat.

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
    """Runs the attribute files and recipes in Ruby of one node, which set attributes on it. `where_wanted` makes it.

    Call `set_callbacks` and `use_cookbooks` first. The process starts with the first file that runs; then libraries
    are loaded, and before the first recipe resources and definitions. Recipes are compiled, and no resource converges.
    Call `note_recipe` as each recipe starts, in any language. Code in another language that changes the node runs
    inside `with other_code_runs():`, so that Ruby reads the node again. After the last recipe, `fill` adds the
    resources that Ruby declared to a catalog. `code_for_later` yields the code that Chef would run when resources
    converge. `hidden_places` gives the places after which any attribute may be set. All three give nothing if no recipe
    ran.

    repository: gives the data bags and settings
    node:     is read and changed
    words:    the functions `data_bag`, `data_bag_item` and `search`, by name
    run_list: the items of this run
    warnings: grows while files run
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
        self._unrun = Unrun(())
        self._vouched = False
        self._has_resources = False
        self._depth_of_other_code = 0
        self._started: list[str] = []
        self._include: Callable[..., None] = _do_nothing
        self._recipe: Callable[..., bool] = _do_nothing
        self._log: Callable[[str, str, Origin], None] = _do_nothing

    @classmethod
    def where_wanted(
        cls, repository: Repository, node: Node, words: Mapping[str, Callable[..., Any]], run_list: Sequence[str]
    ) -> RubyFiles | None:
        """A RubyFiles where options or settings ask for Ruby and code may run; else None. raises: DocumentError"""
        is_wanted = repository.options.ruby or repository.config.chef.ruby
        return cls(repository, node, words, run_list) if is_wanted and may_run() else None

    def set_callbacks(
        self, include: Callable[..., None], recipe: Callable[..., bool], log: Callable[[str, str, Origin], None]
    ) -> None:
        """Set the functions that load an included attribute file, run an included recipe, and take a logged message.

        include, recipe: called with (name, cookbook of the caller, function that returns the line of the include)
        log: called with (message, level, line)
        """
        self._include, self._recipe, self._log = include, recipe, log

    def fill(self, catalog: Catalog, enter: Callable[[str], None]) -> None:
        """Add the resources that recipes have declared to a catalog. enter: called first with the recipe of each"""
        self._compiled.fill(catalog, enter)

    def use_cookbooks(self, cookbooks: Sequence[Cookbook]) -> None:
        """Set the cookbooks of the run, in order; their libraries are loaded later, before the first file runs."""
        self._cookbooks = [one for one in cookbooks if not one.is_missing]
        self._vouched = any(one.sets_only for one in cookbooks)
        self._unrun = Unrun(self._cookbooks)

    def run(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Run an attribute file. name: of the file in origins, "app::default"

        raises: RecipeFailed, TooMuch; NotFound, where there is no Ruby
        """
        if self._depth_of_other_code:
            self._forget()
        self._session.run(_path(cookbook, file), name, cookbook.shown(file), cookbook.name)

    def run_recipe(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Compile a recipe: its code runs, and its resources are kept. No error is raised if the recipe fails.

        The rest of a recipe that failed is then noted as a place after which any attribute may be set
        (`hidden_places`).
        file:   the path in the cookbook
        name:   "cookbook::recipe"
        raises: TooMuch; NotFound, if there is no Ruby
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
            self._compiled.add_hidden_place(f"failed, and its rest was not run: {reason}", place)

    def note_recipe(self, name: str) -> None:
        """Note that a recipe starts, in any language.

        Its name is added to the node's automatic attribute `recipes`, once.

        name: "cookbook::recipe"
        """
        self._started.append(name)
        if name not in (self._node.read("recipes") or ()):
            with self.other_code_runs():
                self._node.automatic["recipes"].append(name)

    def hidden_places(self) -> list[tuple[Origin, str]]:
        """The places of recipes after which any attribute may be set, each with the reason; [] for none."""
        return self._compiled.hidden_places()

    def code_for_later(self) -> Iterator[tuple[Origin, UnrunCode, Iterable[Reached]]]:
        """Yield the code that runs when resources converge, as (its place, the code, the further code that it may
        call).

        Read the iterator to its end: only then it notes on the node an unknown layer for each of `hidden_places`.
        """
        seen: set[int] = set()
        for origin, code in self._compiled.code_for_later():
            yield origin, code, self._unrun._called(code, seen)
        self._compiled.note_hidden()

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
            seen=self._compiled,
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
    def _compiled(self) -> CompiledRecipes:
        from nodeattrs.dialects.chef.run.ruby_recipes import CompiledRecipes

        def reaches(code: UnrunCode) -> Iterator[UnrunCode]:
            return (one for _, _, one in self._unrun._called(code, set()))

        return CompiledRecipes(self._node, self._repository.root, self._warn, note_anything, reaches, self._vouched)

    def _load(self, session: RubySession, kind: str, folder: str) -> None:
        for cookbook in self._cookbooks:
            for file in sorted(cookbook.files):
                part, _, name = file.partition("/")
                if part != folder or not file.endswith(SUFFIX) or (kind == "resources" and name.startswith("_")):
                    continue
                problem = session.load(kind, _path(cookbook, file), cookbook.shown(file), cookbook.name)
                if problem is not None:
                    self._warn(f"was not loaded: {problem.message}", Origin(kind, file=cookbook.shown(file)))

    def _warn(self, message: str, origin: Origin) -> None:
        self.warnings.append(DocumentError(message, file=origin.file, line=origin.line, kind=RUBY_HELPER))


class _Helpers(local):
    """The Ruby processes of a thread. Repositories of one folder share a process, which ends with the last of them.

    So a run in the folder ends the deferred values of the run before, also where that was of another Repository.
    of_folder:     folder and time limit -> the process
    of_repository: keeps the process of a repository
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
