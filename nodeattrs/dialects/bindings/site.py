"""The site of bindings of a repository: its composition for a node, with classes, providers and saved nodes.

Settings or installed packages name classes and providers. A class or provider is code: it is loaded when a binding
needs it, and only where code may run. Queries find saved nodes, as the word `search` of recipes does.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from nodeattrs import packages
from nodeattrs.causes.unnoted import unnoted
from nodeattrs.contract.folder import Folder
from nodeattrs.contract.hiera_looks import LooksOfScope
from nodeattrs.contract.peers import literal_key, undecided
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.looks import Looks
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.bindings.composition import CLASSES, Composition, Provider, Request, provided_by_code
from nodeattrs.dialects.bindings.model.items import Bind, BindingSet
from nodeattrs.dialects.bindings.model.producers import Constant, Factory
from nodeattrs.dialects.bindings.model.state import Objects
from nodeattrs.dialects.bindings.model.types import Classes
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.node.intake import facts_of
from nodeattrs.node.node import Node
from nodeattrs.project.config import FILE

Search = Callable[..., list[dict[str, Any]]]
"""The word `search` of recipes."""


def site_of(
    folder: Folder,
    place: str | Path,
    *,
    node: str,
    facts: Mapping[str, Any],
    environment: str | None = None,
    search: Search | None = None,
    looks: Looks | None = None,
    **more: Any,
) -> Composition:
    """The composition of a site of bindings for one node of a repository. It reads the files of the site.

    Errors in the files are in `Composition.faults`, and are not raised.
    folder: the repository, whose settings name providers and classes
    place:  the folder of the site
    node:   the name of the node; "" for none
    facts:  the facts of the node
    environment: the name of the environment; None: as the site or the classifier selects
    search: a function that finds saved nodes; None if there is no store
    looks:  notes which facts are read, so that nodes with equal facts can share an answer. With *search* no answer is
            shared, since a search finds other nodes. None: nothing is noted
    more:   further arguments of `Composition`
    """
    providers: dict[str, Provider] = {"nodes": partial(_from_nodes, search)}
    if folder.hiera is not None:
        providers["hiera"] = partial(_from_hiera, folder, facts, looks)
    looks = looks or Looks()
    if search is not None:
        looks.refuse("a search finds other nodes")
    for scheme, text in folder.config.binding_providers.items():
        load = partial(_loaded, folder.root, text)
        providers[scheme] = partial(provided_by_code, text, Origin("provider", text, FILE), load, looks)
    return Composition(
        place,
        node=node,
        facts=facts,
        environment=environment,
        classes=_classes_of(folder, looks),
        looks=looks,
        objects=_KeptNodes(search),
        providers=providers,
        **more,
    )


def facts_of_run(node: Node) -> dict[str, Any]:
    """The facts of a node, with `role`: the first role of the run-list, unless there is a fact of that name."""
    role = next((item[5:-1] for item in node.run_list if item.startswith("role[")), None)
    return {**({} if role is None else {"role": role}), **facts_of(node)}


# --- classes and providers --------------------------------------------------------------------


def _classes_of(folder: Folder, looks: Looks) -> Classes:
    """The classes that bindings of a repository may name. Each is loaded when it is needed, and each file once at most.

    looks: `refuse` is called if a class is loaded that may depend on more than the facts that are noted
    """
    classes, modules = Classes(), dict[str, Any]()
    for name, point in packages.named_entry_points(CLASSES).items():
        classes.offer(name, partial(_of_package, point, looks))
    for text in folder.config.binding_classes:
        name = text.rpartition(":")[2].rpartition(".")[2]
        classes.offer(name, partial(_class_of, folder.root, text, modules, looks))
    return classes


def _class_of(root: Path, text: str, modules: dict[str, Any], looks: Looks) -> Any:
    home = text.partition(":")[0]
    looks.refuse(unnoted(root / home) if home.endswith(".py") else f"{home} is no program of the repository")
    return _loaded(root, text, modules)


def _of_package(point: Any, looks: Looks) -> Any:
    require_may_run(f"the class {point.name}")
    looks.refuse(f"the class {point.name} is of a package")
    return point.load()


def _loaded(root: Path, text: str, modules: dict[str, Any] | None = None) -> Any:
    """The object that a text names: "package.module:name", or "file.py:name". Its module is run.

    root:    the folder that "file.py" is relative to
    modules: file -> its module, for files that were run before; they are not run again, and this call adds its file.
             None: the file is run
    raises:  UnknownLayer, where no code may run; DocumentError, where the object cannot be loaded
    """
    modules = {} if modules is None else modules
    require_may_run(text)
    home, _, name = text.partition(":")
    try:
        if not home.endswith(".py"):
            return resolve_name(text)
        if home not in modules:
            file = root / home
            spec = importlib.util.spec_from_file_location(f"{file.stem}_of_{root.name}", file)
            if spec is None or spec.loader is None:
                raise ImportError(f"{home} is no module")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            modules[home] = module
        return getattr(modules[home], name)
    except NodeattrsError:
        raise
    except Exception as error:
        hint = "write package.module:Name, or folder/file.py:Name"
        raise DocumentError(f"{text} cannot be loaded: {error}", file=FILE, hint=hint) from error


# --- Hiera and the kept nodes as layers ---------------------------------------------------------


def _matching(references: Iterable[str], names: Iterable[str]) -> list[str]:
    patterns = [reference.partition(":")[2].lstrip("/") or "*" for reference in references]
    return [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def _from_hiera(
    folder: Folder, facts: Mapping[str, Any], looks: Looks | None, references: list[str], request: Request
) -> Iterator[BindingSet]:
    """`hiera:/shop::*`: each key that has a value for the node, and the levels that cannot be read."""
    assert folder.hiera is not None
    noted = None if looks is None else LooksOfScope(looks, facts, request.environment)
    scope = folder.hiera.scope(facts, node=request.node, environment=request.environment, looks=noted)
    items = []
    for key in _matching(references, scope.known_keys()):
        value = scope.lookup(literal_key(key), default_value=ABSENT)
        if value is not ABSENT and value is not None:
            places = _HieraKeyLocator(partial(scope.explain, literal_key(key)), key)
            items.append(Bind(origin=Origin("hiera", key), name=key, to=Constant(value, places=places)))
    yield BindingSet("hiera", tuple(items), Origin("hiera"))
    for levels in undecided(scope).values():
        for level in dict.fromkeys(levels):
            yield BindingSet.unknown(f"hiera {level.name}", level.origin, level.unread.reason)


class _HieraKeyLocator:
    """A locator for the value of a Hiera key. The key is explained when a place is needed."""

    def __init__(self, explain: Callable[[], Any], key: str) -> None:
        self._explain, self._key = explain, key

    def at(self, path: TreePath) -> Origin:
        """The place of a path of the value."""
        return next(iter(self._explain().origins(path)), Origin("hiera", self._key))


def _from_nodes(search: Search | None, references: list[str], request: Request) -> Iterator[BindingSet]:
    """`nodes:/db*`: each saved node as a hash of its attributes, under nodes::NAME."""
    if search is None:
        yield BindingSet.unknown("nodes", Origin("provider", "nodes"), "needs a store")
        return
    names = [row["name"] for row in search("node", "*:*", {"name": "name"}) if isinstance(row["name"], str)]
    items = [
        Bind(origin=Origin("node", name), name=f"nodes::{name}", to=Factory(partial(_tree, search, name)))
        for name in _matching(references, names)
    ]
    yield BindingSet("nodes", tuple(items), Origin("nodes"))


def _tree(search: Search, name: str) -> Any:
    """The attributes of the saved node with this name; None if there is no such node."""
    return next((tree for tree in search("node", f'name:"{name}"') if tree.get("name") == name), None)


_SHARED = {"role": "roles", "recipe": "recipes", "tag": "tags", "environment": "chef_environment"}
"""Further name of an attribute of an instance -> the attribute of the saved node that has its value."""
_OF_NODE = ("name", "chef_environment", "roles", "recipes", "tags", "fqdn", "hostname", "ipaddress", "platform")
_INDEXED = {"role": "roles", "roles": "roles", "recipe": "recipes", "recipes": "recipes", "name": "name"}
_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class _KeptNodes(Objects):
    """The saved nodes as instances.

    `Node[web1]` has the attributes of the node. `Sql[db1]` is each node with a map `sql`, and its entries; conditions
    about the node (role, recipe, environment, tag, name, fqdn, ipaddress, ...) work for both.
    cost: one search a question, which reads the attributes that its conditions name. Another attribute of an instance
          reads its whole node. The same question is asked once
    """

    def __init__(self, search: Search | None) -> None:
        super().__init__()
        self._search = search
        self.is_there = search is not None
        self._found: dict[tuple[str, ...], list[dict[str, Any]]] = {}

    def instance(self, reference: str) -> Mapping[str, Any] | None:
        """The parameters of an instance, or None where there is none."""
        of, _, name = reference.rstrip("]").partition("[")
        wanted = [("name", "==", name)]
        return next((found for title, found in self._instances_of(of, wanted) if title == name), None)

    def of_type(self, name: str, where: Iterable[Any] = ()) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(reference, parameters) of the instances of a type; the search applies conditions on role, recipe, name."""
        for title, parameters in self._instances_of(name, tuple(where)):
            yield f"{name}[{title}]", parameters

    def _instances_of(self, type_name: str, where: Collection[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(title, parameters) of the instances of a type: nodes, or entries of a map of nodes."""
        steps = () if type_name == "Node" else tuple(map(_snake, type_name.split("::")))
        places = {name: _places(name, steps) for name in _names_in(where) if _PLAIN.fullmatch(name)}
        own = [".".join(steps)] if steps else []
        for values in self._values(where, {"name", *own, *chain(*places.values())}):
            title = values["name"]
            if isinstance(title, str) and all(isinstance(values[path], Mapping) for path in own):
                known = {name: _first(values[path] for path in paths) for name, paths in places.items()}
                yield title, _Parameters(known, partial(self._all_parameters, title, steps))

    def _values(self, where: Iterable[Any], paths: Iterable[str]) -> list[dict[str, Any]]:
        """The values at some paths of the saved nodes for which the searchable conditions hold: path -> value or None.

        Equal questions are asked once.
        """
        terms = [
            f"{_INDEXED[one[0]]}:{one[2]}"
            for one in where
            if len(one) == 3 and one[0] in _INDEXED and one[1] == "==" and _PLAIN.fullmatch(str(one[2]))
        ]
        question = (" AND ".join(terms) or "*:*", *sorted(paths))
        if question not in self._found:
            query, *wanted = question
            found = [] if self._search is None else self._search("node", query, {path: path for path in wanted})
            self._found[question] = list(found)
        return self._found[question]

    def _all_parameters(self, name: str, steps: TreePath) -> Mapping[str, Any]:
        """The set parameters of the instance that a saved node has at these steps; {} if it was deleted meanwhile."""
        tree = None if self._search is None else _tree(self._search, name)
        own = dig(tree, steps)
        if tree is None or not isinstance(own, Mapping):
            return {}
        of_node = {key: tree[key] for key in _OF_NODE if key in tree}
        also = {key: tree[long] for key, long in _SHARED.items() if long in tree}
        return {**also, **of_node, **{key: value for key, value in own.items() if value is not None}}


class _Parameters(Mapping[str, Any]):
    """The parameters of an instance. One that is not known is read with all others.

    known: name -> value; None for a parameter that is not set
    read:  a function that returns all parameters
    """

    def __init__(self, known: Mapping[str, Any], read: Callable[[], Mapping[str, Any]]) -> None:
        self._known, self._read = known, read

    @cached_property
    def _all(self) -> Mapping[str, Any]:
        return self._read()

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            return self._all[name]
        if self._known[name] is None:
            raise KeyError(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _places(parameter: str, steps: TreePath) -> list[str]:
    """The paths of a saved node where a parameter of its instance may be; the first that is set counts.

    steps: where the node has the map of the instance; () for the node itself
    """
    of_node = [parameter] if parameter in _OF_NODE else []
    shared = [_SHARED[parameter]] if parameter in _SHARED else []
    return [".".join((*map(str, steps), parameter)), *of_node, *shared]


def _first(values: Iterable[Any]) -> Any:
    """The first value that is not None; None for none."""
    return next((value for value in values if value is not None), None)


def _names_in(where: Iterable[Any]) -> Iterator[str]:
    """The attributes that the conditions of a query name."""
    for one in where:
        if one[0] in ("or", "not") and not isinstance(one[1], str):
            for side in one[1:]:
                yield from _names_in(side)
        else:
            yield one[0]


def _snake(name: str) -> str:
    return str(_HUMP.sub("_", name)).lower()
