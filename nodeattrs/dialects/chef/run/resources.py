"""The words of recipes in Python that declare resources, and the catalog that they fill.

A recipe is a class in Puppet's sense: its resources are in the container `Recipe[cookbook::name]`. `include_recipe`
orders nothing. `require_recipe` orders the other recipe first, and `contain_recipe` makes it a part of this one.
`@define` makes a defined type. Its bodies run after all recipes, in rounds, as in Puppet. Nothing on the machine is
changed here: `run.applying` applies a catalog.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial, update_wrapper
from inspect import Parameter, signature
from typing import Any

from nodeattrs.catalog import Catalog, Link, Ref, RefMaker, RefreshComesLater, Refs, Resource, refs
from nodeattrs.catalog.types import OURS, subject_of
from nodeattrs.causes.program_reads import reads_of
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook
from nodeattrs.errors import BadArgument, BadName, NodeattrsError, RecipeFailed
from nodeattrs.node.node import Node
from nodeattrs.node.run_list import qualified
from nodeattrs.node.running import origin_here, setting_as
from nodeattrs.puppet.references import capitalised

_RELATIONS = ("before", "require", "notify", "subscribe")
_CHEFS = {"notifies": "notify", "subscribes": "subscribe"}
_COMMON = ("virtual", "noop", "tags")
_MOST_ROUNDS = 500

_TYPE_WORDS = {"file": "File", "directory": "Directory", "link": "Link", "execute": "Execute", "message": "Log"}
RESOURCE_WORDS = (
    *_TYPE_WORDS,
    *(*_TYPE_WORDS.values(), "Recipe", "Class"),
    *("resource", "reference", "refs", "chain", "define", "require_recipe", "contain_recipe"),
)
"""The words that recipes get. For types of installed packages recipes use `resource` and `reference`."""


class Resources:
    """Builds the catalog of one run. Recipes declare resources by functions in `words`; `finish` returns the catalog.

    Set the attribute `include` before recipes run, and call `enter` with each recipe before it runs. Call `finish`
    after all recipes: it runs the bodies of defined types. A recipe calls the method `declare` as `resource`, and the
    method `reference` under its own name.

    node:    gives the line of a declaration
    root:    the folder that origins are relative to
    include: a function that runs a recipe: (name, cookbook of the caller, function that returns the line)
    bound:   a function (type, title, wanted) -> parameters from bindings. *wanted* maps each wanted parameter to its
        default; None: all parameters that bindings have
    find:    a function that returns the path of a cookbook file: (cookbook, "templates" or "files", name)
    catalog: the resources declared so far
    """

    def __init__(
        self,
        node: Node,
        *,
        root: str | os.PathLike[str],
        find: Callable[[str, str, str], str],
        bound: Callable[[str, str, Mapping[str, Any] | None], Mapping[str, Any]],
    ) -> None:
        self.catalog = Catalog()
        self.include: Callable[[str, str, Callable[[], Origin]], bool]
        self.bound = bound
        self._node = node
        self._find = find
        self._root = os.fspath(root)
        self._instances: list[Ref] = []
        self._waiting: list[tuple[Ref, Origin, Callable[[], None]]] = []

    def words(self) -> dict[str, Any]:
        """Name in recipes -> a function, or a maker of references: `RESOURCE_WORDS`, and all types of nodeattrs."""
        makers = {name: RefMaker(name, self._on_link) for name in OURS}
        recipe = RefMaker("Recipe", self._on_link, qualified)
        return {
            **makers,
            **{word: self._declaring(name) for word, name in _TYPE_WORDS.items()},
            "Recipe": recipe,
            "Class": recipe,
            "resource": self.declare,
            "reference": self.reference,
            "refs": self._refs,
            "chain": self._chain,
            "define": partial(DefinedType, resources=self),
            "require_recipe": self._require_recipe,
            "contain_recipe": self._contain_recipe,
        }

    def enter(self, recipe: str) -> None:
        """Add the container of a recipe at the end of the catalog; does nothing if the catalog has it."""
        ref = Ref(f"Recipe[{qualified(recipe)}]")
        if ref not in self.catalog:
            self.catalog.add(Resource(ref, "class", origin=Origin("recipe", qualified(recipe))))

    def declare(self, kind: str, titles: str | Iterable[str], **parameters: Any) -> Any:
        """Declare a resource at the line that runs; returns its reference, a Ref. A list of titles gives Refs.

        Parameters that are not given come from bindings. A relative `template` or `source` of a file is looked for in
        the cookbook.
        kind:   the type, with or without a capital letter: "package"
        raises: BadArgument, for a parameter or file that does not exist; DuplicateResource
        """
        if not isinstance(titles, str):
            return Refs([self.declare(kind, title, **parameters) for title in titles])
        name = capitalised(kind)
        origin = origin_here(self._node)
        filled = {key: value for key, value in self.bound(name, titles, None).items() if key not in parameters}
        own, common = self._sorted_out({**parameters, **filled}, origin)
        for place, folder in (("template", "templates"), ("source", "files")):
            if name == "File" and own.get(place) is not None:
                own[place] = self._located(own[place], folder, origin)
        subject = subject_of(name, titles, own)
        hidden = getattr(subject, "HIDDEN", ())
        seen = {key: value for key, value in own.items() if key not in hidden}
        return self._added(
            Resource(
                self._linked(f"{name}[{titles}]"),
                parameters={**seen, **{key: common[key] for key in _RELATIONS if key in common}},
                auto=subject.automatic(),
                manages=subject.manages,
                subject=subject,
                **self._common(common, name, titles, origin, filled),
            )
        )

    def reference(self, kind: str) -> RefMaker:
        """A maker of references to resources of a type: `reference("Service")["apache2"]`. They need not exist."""
        return RefMaker(kind, self._on_link)

    def _chain(self, text: str) -> None:
        """Relate resources by a chain in Puppet's language. raises: DocumentError"""
        self.catalog.relate(text, origin_here(self._node))

    def _require_recipe(self, *names: str) -> None:
        """Include recipes, and order them before all resources of the current one."""
        for ref, here, origin in self._included(names):
            self.catalog.depend(here, ref, origin)

    def _contain_recipe(self, *names: str) -> None:
        """Include recipes as contents of the current one, so that its relationships apply to them, too."""
        for ref, here, _ in self._included(names):
            self.catalog.contain(here, ref)

    def finish(self) -> Catalog:
        """Run the waiting bodies of defined types in rounds, until none is left; returns the catalog.

        A body may declare further instances, whose bodies run in the next round.
        raises: RecipeFailed, DuplicateResource; BadArgument, after 500 rounds, if types declare each other without end
        """
        for _ in range(_MOST_ROUNDS):
            if not self._waiting:
                return self.catalog
            waiting, self._waiting = self._waiting, []
            for instance, origin, body in waiting:
                self._run_body(instance, origin, body)
        raise BadArgument(f"defined types declare each other without end: {self._waiting[0][0]}")

    def _declaring(self, name: str) -> Callable[..., Any]:
        def word(titles: str | Iterable[str], **parameters: Any) -> Any:
            return self.declare(name, titles, **parameters)

        word.__name__ = word.__qualname__ = name.lower()
        return word

    def _run_body(self, instance: Ref, origin: Origin, body: Callable[[], None]) -> None:
        speaking: AbstractContextManager[Any] = (
            setting_as(self._node, origin.kind, origin.name) if origin.kind != "caller" else nullcontext()
        )
        self._instances.append(instance)
        try:
            with speaking:
                body()
        except NodeattrsError:
            raise
        except Exception as error:
            raise RecipeFailed(
                f"{instance}, declared at {origin}, failed: {type(error).__name__}: {error}", origins=[origin]
            ) from error
        finally:
            self._instances.pop()

    def _declare_instance(
        self, kind: str, title: str, body: Callable[[], None], parameters: dict[str, Any], filled: Iterable[str] = ()
    ) -> Ref:
        """Declare an instance of a defined type, whose body `finish` runs; returns its reference.

        filled: names of the parameters that come from bindings
        raises: BadArgument, DuplicateResource
        """
        origin = origin_here(self._node)
        own, common = self._sorted_out(parameters, origin)
        ref = self._linked(f"{kind}[{title}]")
        resource = Resource(ref, "define", parameters=own, **self._common(common, kind, title, origin, filled))
        self._waiting.append((ref, origin, body))
        return self._added(resource)

    def _added(self, resource: Resource) -> Ref:
        self.catalog.add(resource)
        return resource.ref

    def _common(
        self, common: Mapping[str, Any], kind: str, title: str, origin: Origin, filled: Iterable[str] = ()
    ) -> dict[str, Any]:
        container = self._container(origin)
        tags = {kind.lower(), *_tag_words(container), *(str(tag).lower() for tag in common.get("tags", ()))}
        return {
            **{name: common[name] for name in (*_RELATIONS, "noop", "virtual") if name in common},
            "within": (container,),
            "tags": frozenset(tags),
            "origin": origin,
            "reads": (*self._reads(origin), *(f"parameters({kind}[{title}]::{name})" for name in filled)),
        }

    def _container(self, origin: Origin) -> str:
        if self._instances:
            return self._instances[-1]
        if origin.kind == "recipe" and origin.name:
            self.enter(origin.name)
            return f"Recipe[{qualified(origin.name)}]"
        return "Class[Main]"

    def _included(self, names: Iterable[str]) -> list[tuple[Ref, str, Origin]]:
        origin = origin_here(self._node)
        here = self._container(origin)
        found = []
        for name in names:
            cookbook = origin.name.partition("::")[0]
            full = full_name(name, cookbook)
            self.include(name, cookbook, lambda: origin)
            self.enter(full)
            found.append((Ref(f"Recipe[{full}]"), here, origin))
        return found

    def _sorted_out(self, parameters: Mapping[str, Any], origin: Origin) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns (the parameters of the type, the parameters that every resource has)."""
        own: dict[str, Any] = {}
        common: dict[str, Any] = {}
        for name, value in parameters.items():
            if name in _CHEFS:
                relation = _CHEFS[name]
                common[relation] = (*common.get(relation, ()), *self._in_chefs_words(name, value, origin))
            elif name in _RELATIONS:
                common[name] = (*common.get(name, ()), *(() if value is None else refs(value)))
            elif name in _COMMON:
                common[name] = [value] if name == "tags" and isinstance(value, str) else value
            else:
                own[name] = value
        if not isinstance(common.get("noop"), (bool, type(None))):
            raise BadArgument(f"noop is True or False, not {common['noop']!r}")
        return own, common

    def _in_chefs_words(self, word: str, value: Any, origin: Origin) -> Refs:
        """The references in a relation as Chef writes it, `("reload", "service[apache2]", ":immediately")`.

        Action and timing may be missing. A timing adds a warning, since it has no effect.
        """
        if isinstance(value, list):
            return refs(*(self._in_chefs_words(word, one, origin) for one in value))
        if not isinstance(value, tuple) or isinstance(value, Refs):
            return refs(value)
        targets = [one for one in value if isinstance(one, (Ref, Refs)) or "[" in str(one)]
        if len(targets) != 1 or len(value) > 3:
            raise BadArgument(f"{word}={value!r} is not understood", hint=f'{word}=("restart", Service["apache2"])')
        timing = str(value[-1]).lstrip(":") if value[-1] is not targets[0] else ""
        if timing:
            if timing not in ("delayed", "immediately", "immediate", "before"):
                raise BadArgument(f"{word}: {timing!r} is no timing", hint="leave it out, or use `before=`")
            self.catalog.warnings.append(
                RefreshComesLater(
                    f"{word} with {timing!r}: a refresh happens once, when the turn of "
                    f"{targets[0] if word == 'notifies' else 'the subscriber'} comes, after all who notify it",
                    details=[f"written at {origin}"],
                    origins=[origin],
                    hint="leave the timing out",
                )
            )
        return refs(targets[0])

    def _located(self, name: str, folder: str, origin: Origin) -> str:
        name = os.fspath(name)
        if os.path.isabs(name):
            return name
        cookbook, colons, inside = name.partition("::")
        return self._find(cookbook if colons else origin.name.partition("::")[0], folder, inside if colons else name)

    def _reads(self, origin: Origin) -> tuple[str, ...]:
        if origin.file is None or origin.line is None:
            return ()
        # The text that ran, even if the file has changed.
        lines = linecache.getlines(os.path.join(self._root, origin.file))
        return reads_of("".join(lines), origin.line)

    def _on_link(self, link: Link) -> None:
        self.catalog.relate(link, origin_here(self._node))

    def _linked(self, text: str) -> Ref:
        ref = Ref(text)
        ref.on_link = self._on_link
        return ref

    def _refs(self, *given: Any) -> Refs:
        return Refs(self._linked(ref) for ref in refs(*given))


class DefinedType:
    """A defined type, which `@define` makes of a function: `vhost("a", port=80)` declares the instance `Vhost[a]`.

    Write `@define` above `def vhost(title, port=80): ...`. A call returns a reference to the instance, or references
    for a list of titles. The body runs later, in `Resources.finish`. A parameter that a call leaves out comes from
    bindings, else from Hiera, else from the default of the function. `vhost["a"]` is a reference to an instance and
    declares nothing.

    body:      a function of the title and the parameters. Its name, with a capital letter, is the name of the type
    resources: the resources of the run, to which instances are added
    """

    def __init__(self, body: Callable[..., Any], resources: Resources) -> None:
        self._body = body
        self._resources = resources
        self._kind = capitalised(body.__name__)
        named = list(signature(body).parameters.values())[1:]  # the first one is the title
        variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        self._defaults = {one.name: one.default for one in named if one.kind not in variadic}
        update_wrapper(self, body)

    def __call__(self, titles: str | Iterable[str], **parameters: Any) -> Any:
        """Declare an instance; returns its reference. Several titles declare an instance each, and return Refs."""
        if not isinstance(titles, str):
            return Refs([self(title, **parameters) for title in titles])
        body, known = self._body, (*_RELATIONS, *_CHEFS, *_COMMON)
        open_ = {name: default for name, default in self._defaults.items() if name not in parameters}
        filled = {} if not open_ else self._resources.bound(self._kind, titles, open_)
        parameters = {**parameters, **filled}
        own = {name: value for name, value in parameters.items() if name not in known}

        def run() -> None:
            body(titles, **own)

        return self._resources._declare_instance(self._kind, titles, run, parameters, filled)

    def __getitem__(self, titles: str | Iterable[str]) -> Any:
        return self._resources.reference(self._kind)[titles]


def cookbook_file_finder(cookbook: Callable[[str], Cookbook]) -> Callable[[str, str, str], str]:
    """Returns a function (cookbook, folder, file) -> the path of a template or file of a cookbook.

    The folder is "templates" or "files"; the file may also be in `default/` there. The function raises
    CookbookNotFound; BadName, for an absolute path or `..`; BadArgument, for a missing file.
    cookbook: a function from a name to its cookbook
    """

    def find(name: str, folder: str, file: str) -> str:
        if file.startswith("/") or ".." in file.split("/") or "\0" in file:
            raise BadName(f"{file!r} cannot be a file of a cookbook", hint="write a relative path without ..")
        root = cookbook(name).root
        for place in (folder, f"{folder}/default"):
            if root is not None and os.path.isfile(os.path.join(root, place, file)):
                return str(root / place / file)
        raise BadArgument(f"cookbook {name} has no {folder}/{file}")

    return find


def full_name(recipe: str, here: str) -> str:
    """The name "cookbook::recipe" of a recipe as a file writes it; `::recipe` is a recipe of the cookbook *here*."""
    full = qualified(recipe)
    return here + full if full.startswith("::") else full


def _tag_words(ref: str) -> Iterable[str]:
    kind, _, title = ref.partition("[")
    name = title.rstrip("]").lower()
    return (kind.lower(), name, *name.split("::"))
