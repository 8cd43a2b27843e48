"""Run the attribute files and recipes of one node, in order, each with its *words*: the names that it may use.

While a file runs, the node notes its cookbook and line for each value that it sets. Python files run here, Ruby files
run through `ruby_files.RubyFiles`, and data files are read. A file that is not run becomes an unknown layer. The caller
gives the words that read other data, such as `lookup` and `search`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from types import FunctionType
from typing import Any, NoReturn

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.attribute_data import set_data
from nodeattrs.dialects.chef.repository.cookbooks import NOT_RUN, RUBY, AttributeFileOrder, Cookbook, not_run
from nodeattrs.dialects.chef.repository.programs import line_in
from nodeattrs.dialects.chef.repository.recipe_data import SUFFIXES as RECIPES
from nodeattrs.dialects.chef.run.platform_words import PLATFORM_WORDS, platform_questions, platform_words
from nodeattrs.dialects.chef.run.resources import RESOURCE_WORDS, full_name
from nodeattrs.dialects.chef.run.ruby_files import (
    NOT_READ,
    Reached,
    RubyFiles,
    UnrunCodeFinder,
    note_anything,
    note_code,
)
from nodeattrs.errors import (
    CookbookNotFound,
    DocumentError,
    MissingExtra,
    NodeattrsError,
    NotFound,
    RecipeFailed,
    RecipeNotFound,
    UnknownName,
)
from nodeattrs.node.node import WORDS, Node, words_of
from nodeattrs.node.run_list import cookbook_of, qualified
from nodeattrs.node.running import SetterBlock, noted_here, origin_here, setting_as
from nodeattrs.node.setters import Setter
from nodeattrs.node.values import Sensitive, Symbol, lazy
from nodeattrs.node.watched import looks_of

ATTRIBUTE_FILE, RECIPE = "attribute file", "recipe"


_Words = tuple[Mapping[str, Any], Mapping[str, Any]]
_words: ContextVar[_Words | None] = ContextVar("nodeattrs_words", default=None)

words_now = _words.get
"""The words of the file that runs now: (its own, those of all files of its kind); None outside of a run."""


@dataclass(frozen=True)
class LogLine:
    """A message that a cookbook file wrote with `log`. level: "info" unless the file gives another; origin: its line"""

    message: str
    level: str
    origin: Origin

    def __str__(self) -> str:
        return f"{self.level}: {self.message}  ({self.origin.place})"


_IN_THE_WAY = ("does not support item assignment", "is not subscriptable")
_WAY_OUT = "a scalar or null is in the way: node.default_full[...] replaces it, node.explain(...) says whose it is"


class _UnavailableWord:
    """A word that this kind of file does not have. Each use raises UnknownName, with what to write instead."""

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead

    def _raise(self, *_: Any, **__: Any) -> NoReturn:
        raise UnknownName(f"{self._name!r} is not known here", hint=f"write {self._instead}")

    __call__ = __getitem__ = __setitem__ = _raise


FILES_ONLY = WORDS
"""Words that attribute files have and recipes do not."""
RECIPES_ONLY = (
    *("include_recipe", "inject", "lookup", "parameters", "tag", "untag"),
    *RESOURCE_WORDS,
)
"""Words that recipes have and attribute files do not."""

BOTH = ("data_bag", "data_bag_item", "search", "tagged", "has_recipe", "has_role", "run_state", *PLATFORM_WORDS)
"""Words that attribute files and recipes have to read data, besides the questions of `platform_words`."""

_ELSEWHERE: dict[str, dict[str, Any]] = {
    RECIPE: {name: _UnavailableWord(name, f"node.{name} in a recipe") for name in FILES_ONLY},
    ATTRIBUTE_FILE: {
        name: _UnavailableWord(name, f"{name} in a recipe; attribute files only set") for name in RECIPES_ONLY
    },
}
"""Kind of file -> the words of the other kind, which raise an error that says where they belong."""

_MODULE = {ATTRIBUTE_FILE: "attribute_file", RECIPE: "recipe"}
"""Kind of file -> the end of its `__name__`, after the cookbook."""

_GONE = {
    "set": _UnavailableWord("set", "normal[...] = ... (a Python set can be spelled {1, 2})"),
    "set_unless": _UnavailableWord("set_unless", "normal_unless[...] = ..."),
}
"""Words of attribute files that Chef has removed."""


class RecipeRunner:
    """Runs the attribute files and recipes of one node, which set attributes on it.

    Call `load_attribute_files` once, then `run_recipe` for each recipe of the run-list, then `finish`. An error in a
    file becomes RecipeFailed. `attribute_files` lists the attribute files that ran.

    node:      the node, changed by each file
    cookbook:  a function from a name to its cookbook; raises CookbookNotFound
    words:     further words of recipes, such as `lookup`; names in `BOTH` are for attribute files, too
    on_log:    called with each logged line
    on_recipe: called with the full name of each recipe before it runs
    shared:    further words of recipes and attribute files, such as `read_json`
    ruby:      runs files in Ruby; None: they are not run, and become unknown layers
    facts:     the facts for conditions of attribute files

    They grow while files run:
    recipes:    the recipes that started, in order, as "cookbook::recipe"
    log, warnings: in order
    included:   recipe -> a function that returns the line that included it first; recipes of the run-list are not here
    undeclared: the recipes that may declare resources which the catalog lacks, in order, as the keys of a dict
    """

    def __init__(
        self,
        node: Node,
        cookbook: Callable[[str], Cookbook],
        words: Mapping[str, Any],
        on_log: Callable[[LogLine], None] | None = None,
        on_recipe: Callable[[str], None] | None = None,
        shared: Mapping[str, Any] | None = None,
        ruby: RubyFiles | None = None,
        facts: Mapping[Any, Any] | None = None,
    ) -> None:
        self.node = node
        self.recipes: list[str] = []
        self.log: list[LogLine] = []
        self.warnings: list[DocumentError] = []
        self.included: dict[str, Callable[[], Origin]] = {}
        self.undeclared: dict[Unread, None] = {}
        self._cookbook = cookbook
        self._order = AttributeFileOrder(cookbook, self._run_attribute_file)
        self._words_of_recipes, self._shared = words, shared or {}
        self._on_log = on_log
        self._on_recipe = on_recipe
        self._ruby = ruby
        self._unrun = UnrunCodeFinder(())
        self._facts = facts or {}
        if ruby is not None:
            ruby.set_callbacks(
                lambda name, here, by: self._order.include(name, here=here, by=by),
                lambda name, here, by: self.run_recipe(name, here=here, by=by),
                self._note,
            )

    @cached_property
    def _words(self) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
        """Kind of file -> (its words, its globals). The globals also have the words of the other kind, as errors."""
        node, words = self.node, self._words_of_recipes
        shared = {
            **platform_questions(node),
            **platform_words(node),
            **{"node": node, "lazy": lazy, "Sensitive": Sensitive, "Symbol": Symbol, "log": self._log},
            **{"tagged": self._tagged, "has_recipe": self._has_recipe, "has_role": self._has_role, "run_state": {}},
            **{name: words[name] for name in BOTH if name in words},
            **self._shared,
        }
        known = {
            ATTRIBUTE_FILE: {**shared, **words_of(node), **_GONE},
            RECIPE: {**shared, **words, "tag": node.tag, "untag": node.untag},
        }
        return {kind: (names, _ELSEWHERE[kind] | names) for kind, names in known.items()}

    @property
    def attribute_files(self) -> list[str]:
        """The attribute files that ran, in order, as "cookbook/path". Files in Ruby are here only if Ruby runs."""
        return [file for file in self._order.loaded if self._ruby is not None or not file.endswith(RUBY)]

    def load_attribute_files(self, order: list[str]) -> None:
        """Run all attribute files of the named cookbooks. An unread cookbook becomes an unknown layer.

        order:  the names of the cookbooks, in the order in which their files run
        raises: RecipeFailed, NotFound, DocumentError
        """
        cookbooks = [self._cookbook(name) for name in order]
        self._unrun = UnrunCodeFinder(cookbooks)
        for cookbook in cookbooks:
            if cookbook.unread:
                self._note_unread(Origin(ATTRIBUTE_FILE, cookbook.name, cookbook.locator.at(()).file), cookbook)
        if self._ruby is not None:
            self._ruby.use_cookbooks(cookbooks)
        self._order.load(order)

    def run_recipe(self, name: str, here: str = "", by: Callable[[], Origin] | None = None) -> bool:
        """Run a recipe, unless it has run or runs already; returns whether it was run now.

        A recipe of a missing cookbook, and a Ruby recipe without --ruby, becomes an unknown layer, and counts as run.
        name: `cookbook` or `cookbook::recipe`; `::recipe` is a recipe of the cookbook *here*
        by:   a function that returns the line of the include, for messages; None for an item of the run-list
        raises: CookbookNotFound, RecipeNotFound, RecipeFailed, DocumentError
        """
        full = full_name(name, here)
        if full in self.recipes:
            return False
        try:
            cookbook = self._cookbook(cookbook_of(full))
            file = "" if cookbook.is_missing else cookbook.recipe_file(full)
        except (CookbookNotFound, RecipeNotFound) as error:
            error.details = (f"it is included by {by()}",) if by else ("it is on the run-list",)
            raise
        self.recipes.append(full)
        if by is not None:
            self.included[full] = noted_here(self.node)
        if cookbook.is_missing:
            self._note_unread(Origin(RECIPE, full), cookbook)
            return True
        if self._on_recipe is not None:
            self._on_recipe(full)
        if self._ruby is not None:
            self._ruby.note_recipe(full)
        self._run(cookbook, file, RECIPE, full)
        return True

    def finish(self) -> None:
        """Add unknown layers to the node for what resources of recipes in Ruby may set when they converge.

        Call it once, after the last recipe. Does nothing if no Ruby ran.
        """
        ruby, self._ruby = self._ruby, None  # a file that is included then is read, and not run
        if ruby is None:
            return
        hidden = ruby.compiled.hidden_places()
        try:
            for origin, reason in hidden:
                self._note_undeclared(origin, reason, is_warned=True)
            for origin, code, called in ruby.code_for_later():
                its = self._cookbook(cookbook_of(origin.name))
                self._note_reached(RECIPE, origin.name, [(its, origin, code), *called])
        finally:
            self._ruby = ruby
        for origin, reason in hidden:
            with setting_as(self.node, RECIPE, origin.name):
                note_anything(self.node, origin, reason)

    def _run_attribute_file(self, cookbook: Cookbook, file: str) -> None:
        if cookbook.is_missing:
            self._note_unread(Origin(ATTRIBUTE_FILE, cookbook.name), cookbook)
            return
        if not file.endswith(DATA):
            self._run(cookbook, file, ATTRIBUTE_FILE, cookbook.attribute_name(file))
            return
        data = cookbook.attribute_data(file)
        self.warnings += data.warnings
        with self._other_code_runs():
            set_data(self.node, data, self._facts)

    def _other_code_runs(self) -> AbstractContextManager[None]:
        """A context for code that is not Ruby; afterwards Ruby reads the node anew."""
        return nullcontext() if self._ruby is None else self._ruby.other_code_runs()

    def _pass_over(self, cookbook: Cookbook, file: str, kind: str, name: str) -> None:
        """Note what a Ruby file that is not run may set, itself and by the code that it calls or includes."""
        shown = cookbook.shown(file)
        origin = Origin(kind, name, shown)
        reached, hint = self._reached(cookbook, file, origin)
        self.warnings.append(not_run(shown, hint or "--ruby runs it"))
        if kind == RECIPE:
            self._note_undeclared(origin, NOT_RUN, is_warned=True)
        self._note_reached(kind, name, reached)

    def _declare(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Note what the resources of a recipe in YAML or JSON may set, and run the recipes that it includes."""
        recipe, origin = cookbook.recipe_data(file), Origin(RECIPE, name, cookbook.shown(file))
        self.warnings += recipe.warnings
        if recipe.types:
            self._note_undeclared(
                origin.moved(min(recipe.types.values())), "is data, whose resources are not in the catalog"
            )
        self._note_reached(RECIPE, name, self._reached(cookbook, file, origin)[0])
        for other, line in recipe.includes.items():
            self.run_recipe(other, here=cookbook.name, by=partial(origin.moved, line))

    def _reached(self, cookbook: Cookbook, file: str, origin: Origin) -> tuple[list[Reached], str | None]:
        """Returns (code that a file may call, None), or ([], hint) if the file cannot be read without an extra."""
        try:
            return [*self._unrun.reached(cookbook, file, origin)], None
        except MissingExtra as error:
            self._note_anything(origin, f"{NOT_READ}: {error.message}")
            return [], error.hint

    def _note_reached(self, kind: str, name: str, reached: Iterable[Reached]) -> None:
        """Note what some code may set, and go on with the files that it includes."""
        for its, place, code in reached:
            with setting_as(self.node, kind, name):
                note_code(self.node, place, code)
            for other in code.attribute_files:
                with contextlib.suppress(NotFound):
                    self._order.include(other, here=its.name)
            for other, line in code.recipes.items():
                self._follow(other, its.name, place.moved(line))

    def _follow(self, recipe: str, here: str, by: Origin) -> None:
        """Go on with a recipe that unrun code includes. A recipe in Python, or a missing one, may set anything."""
        full = full_name(recipe, here)
        try:
            cookbook = self._cookbook(cookbook_of(full))
            is_followed = cookbook.is_missing or cookbook.recipe_file(full).endswith((RUBY, *RECIPES))
        except NotFound:
            self._note_anything(by, f"it includes recipe {full}, which is not there")
            return
        if is_followed:
            self.run_recipe(full)
        elif full not in self.recipes:
            self._note_anything(by, f"it may include recipe {full}, which was not run")

    def _note_undeclared(self, origin: Origin, reason: str, is_warned: bool = False) -> None:
        place = origin.place or origin.who
        self.undeclared[Unread(place, reason, (), origin.kind, origin.name, is_warned)] = None

    def _note_unread(self, origin: Origin, cookbook: Cookbook) -> None:
        self._note_anything(origin, cookbook.unread, cookbook.sets_only)

    def _note_anything(self, origin: Origin, reason: str, only: Iterable[Path] = ()) -> None:
        if origin.kind == RECIPE:
            self._note_undeclared(origin, reason)
        with setting_as(self.node, origin.kind, origin.name):
            note_anything(self.node, origin, reason, only)

    def _run(self, cookbook: Cookbook, file: str, kind: str, name: str) -> None:
        if file.endswith(RUBY):
            if self._ruby is not None:
                run = self._ruby.run if kind == ATTRIBUTE_FILE else self._ruby.run_recipe
                run(cookbook, file, name)
            else:
                self._pass_over(cookbook, file, kind, name)
            return
        if file.endswith(RECIPES):
            self._declare(cookbook, file, name)
            return
        program = cookbook.program(file)
        self.warnings += program.warnings
        own: dict[str, Any] = {"include_attribute": partial(self._include_attribute, cookbook.name)}
        if kind == RECIPE:
            own["include_recipe"] = partial(self._include_recipe, cookbook.name)
        words, shared = self._words[kind]
        names = {"__name__": f"{cookbook.name}.{_MODULE[kind]}", "__file__": program.path}
        namespace = {**shared, **own, **names}
        token = _words.set((own, words))
        try:
            with SetterBlock(self.node, Setter(kind, name)), self._other_code_runs():
                program.run(namespace, messages_wait=self._ruby is None and looks_of(self.node) is not None)
        except RecipeFailed:
            raise
        except (Exception, SystemExit) as error:
            raise self._failed(error, kind, name, cookbook.shown(file), program.path) from error
        finally:
            _words.reset(token)

    def _failed(self, error: BaseException, kind: str, name: str, shown: str, path: str) -> RecipeFailed:
        origin = Origin(kind, name, shown, line_in(error, path))
        first, *rest = str(error).splitlines() or [""]
        sort = "" if isinstance(error, NodeattrsError) else f"{type(error).__name__}: "
        in_the_way = type(error) is TypeError and any(words in first for words in _IN_THE_WAY)
        return RecipeFailed(
            f"{origin.place}: {kind} {name} failed: {sort}{first}",
            path=getattr(error, "path", None) if isinstance(error, NodeattrsError) else None,
            origins=[origin],
            details=[text.strip() for text in rest],
            hint=_WAY_OUT if in_the_way else None,
        )

    # Words

    def _tagged(self, *names: str) -> bool:
        return all(name in self.node.tags for name in names)

    def _has_recipe(self, name: str) -> bool:
        """Whether the expanded run-list has a recipe, or the recipe was included so far."""
        return qualified(name) in {*self.recipes, *map(qualified, self.node.read("recipes") or ())}

    def _has_role(self, name: str) -> bool:
        """Whether the expanded run-list has a role, also inside another role."""
        return name in (self.node.read("roles") or ())

    def _include_attribute(self, here: str, *names: str) -> None:
        for name in names:
            self._order.include(name, here=here, by=self._caller)

    def _include_recipe(self, here: str, *names: str) -> None:
        for name in names:
            self.run_recipe(name, here=here, by=self._caller)

    def _log(self, message: object, level: str = "info") -> None:
        looks = looks_of(self.node)
        if looks is not None and isinstance(message, FunctionType):
            with looks.brief():
                message = message()
        self._note(str(message), level, origin_here(self.node, column=False))

    def _note(self, message: str, level: str, origin: Origin) -> None:
        line = LogLine(message, level, origin)
        self.log.append(line)
        if self._on_log is not None:
            self._on_log(line)

    def _caller(self) -> Origin:
        return origin_here(self.node)
