"""Find why a run used a source, and which sources would set an attribute but were not used.

A *source* is a role, an environment, an attribute file or a recipe. `causes` gives the lines that caused its use: items
of run-lists, includes, dependencies of cookbooks, the choice of the environment, conditions of attribute files.
`setters_on_other_nodes` and `setters_in_repository` give sources that set an attribute elsewhere, each with the reason
why it does not set it on the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from nodeattrs.causes.writes import writes_of
from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.cookbooks import NOT_RUN, RUBY, Cookbook
from nodeattrs.dialects.chef.repository.repository import Repository, attribute_maps, readable
from nodeattrs.dialects.chef.repository.roles import DEFAULT_ENVIRONMENT
from nodeattrs.dialects.chef.run.ruby_files import lines_that_set
from nodeattrs.dialects.chef.run.run import Run
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.node import Node
from nodeattrs.node.run_list import RunListItem, cookbook_of, qualified
from nodeattrs.node.watched import name_of
from nodeattrs.reports.explain import OtherSetter
from nodeattrs.store import Store
from nodeattrs.store.saved_nodes import load_saved


def causes(repository: Repository, run: Run, origins: Iterable[Origin]) -> list[Cause]:
    """The lines that caused a run to use the sources in *origins*, each once; [] for other origins, such as facts.

    They are run-list items, includes, dependencies of cookbooks, and conditions. For each source the nearest line comes
    first, and the node's run-list last.
    origins: of values of the run; a source is an attribute file, recipe, role or environment
    """
    found: dict[Cause, None] = {}
    for origin in origins:
        found.update(dict.fromkeys(_conditions(repository, origin)))
        found.update(dict.fromkeys(_Causes(repository, run).of(origin.kind.removeprefix("saved "), origin.name)))
    return list(found)


def _conditions(repository: Repository, origin: Origin) -> Iterator[Cause]:
    """Yield the conditions of the block of a data file at an origin; nothing for another kind of file."""
    if origin.kind != "attribute file" or not str(origin.file).endswith(DATA):
        return
    with suppress(NodeattrsError):  # the cookbook may have changed
        cookbook = repository.cookbook(cookbook_of(origin.name))
        file = str(origin.file).removeprefix(cookbook.shown(""))
        if file in cookbook.files:
            yield from cookbook.attribute_data(file).causes(origin.line or 1, origin.column or 1)


class _Causes:
    """Follows what included a source on a node, up to its run-list; each source once."""

    def __init__(self, repository: Repository, run: Run) -> None:
        self.repository = repository
        self.run = run
        self.seen: set[tuple[str, str]] = set()

    def of(self, kind: str, name: str) -> Iterator[Cause]:
        """Yield the causes of an environment, role, recipe or attribute file, the nearest first."""
        if (kind, name) in self.seen:
            return
        self.seen.add((kind, name))
        if kind == "environment":
            yield from self._environment(name)
        elif kind == "role":
            yield from self._on_a_list("role", name)
        elif kind == "recipe":
            yield from self._recipe(name)
        elif kind == "attribute file":
            yield from self._cookbook(cookbook_of(name))

    def _recipe(self, name: str) -> Iterator[Cause]:
        by = self.run.included.get(name)
        if by is None:
            yield from self._on_a_list("recipe", name)
            return
        origin = by()
        yield Cause(f"recipe {name} is included", origin)
        yield from self.of(origin.kind, origin.name)

    def _on_a_list(self, kind: str, name: str) -> Iterator[Cause]:
        found = self.run.expansion.named_by(kind, name)
        if found is None:
            return
        role, locator, path = found
        if role is None:
            yield Cause(f"{kind}[{name}] is on the run-list", self._run_list(kind, name))
        else:
            yield Cause(f"{kind}[{name}] is on the run-list of role {role}", locator.at(path))
            yield from self.of("role", role)

    def _run_list(self, kind: str, name: str) -> Origin:
        """The line of the policy, else of the node's file, that has an item; an origin without a file for neither."""
        policy, described = self.run.policy, self.repository.node_document(name_of(self.run.node))
        own = (("run_list",), described.run_list if described is not None else ())
        under, items = own if policy is None else policy.run_list_named(self.repository.options.named_run_list)
        says = policy or described
        for index, item in enumerate(items):
            parsed = RunListItem.parse(item)
            full = qualified(parsed.name) if parsed.type == "recipe" else parsed.name
            if says is not None and (parsed.type, full) == (kind, name):
                return says.locator.at((*under, index))
        return Origin("run list", "of the node")

    def _cookbook(self, cookbook: str) -> Iterator[Cause]:
        """Yield the causes of the first recipe of a cookbook that ran, else of the cookbook that depends on it."""
        recipe = next((name for name in self.run.recipes if cookbook_of(name) == cookbook), None)
        if recipe is not None:
            yield from self.of("recipe", recipe)
            return
        for other in dict.fromkeys(file.partition("/")[0] for file in self.run.attribute_files):
            if other != cookbook and cookbook in self._depends(other):
                yield Cause(
                    f"cookbook {other} depends on {cookbook}",
                    self.repository.cookbook(other).origin_of_dependency(cookbook),
                )
                yield from self.of("attribute file", other)
                return

    def _depends(self, cookbook: str) -> Iterable[str]:
        try:
            return self.repository.cookbook(cookbook).depends
        except NodeattrsError:
            return ()

    def _environment(self, name: str) -> Iterator[Cause]:
        described = self.repository.node_document(name_of(self.run.node))
        if described is not None and described.environment == name:
            yield Cause(f"the node is in environment {name}", described.locator.at(("chef_environment",)))
        else:
            yield Cause(f"the node is in environment {name}", Origin("settings, arguments or an earlier run"))


_MOST_NODES, _MOST = 200, 6


def setters_on_other_nodes(store: Store, node: Node, path: Path, sensitive: Iterable[Path] = ()) -> list[OtherSetter]:
    """The sources that set a path on other saved nodes, at most six, each with the reason why it does not on *node*.

    Nodes that cannot be read are skipped; [] if no other node has the path.
    node:      a node on which the path is not set
    sensitive: paths whose values are not shown
    cost: reads up to 200 nodes of the store
    """
    found: dict[Origin, list[str]] = {}
    for name in [one for one in store.names() if one != node.name][:_MOST_NODES]:
        try:
            other = load_saved(store, name, sensitive)
            origins = other.node.origins(path) if other is not None else ()
        except NodeattrsError:
            continue
        for origin in origins:
            found.setdefault(origin, []).append(name)
    return [OtherSetter(origin, _lacks(node, origin), tuple(names)) for origin, names in found.items()][:_MOST]


def setters_in_repository(repository: Repository, node: Node, path: Path) -> list[OtherSetter]:
    """The sources in a repository that set a path, at most six, each with the reason why it sets nothing on *node*.

    First come roles, environments and files of nodes, then lines of cookbooks that write the path with constant keys.
    Documents that cannot be read are skipped. [] if nothing sets the path.
    node: a node on which the path is not set
    """
    maps = attribute_maps(repository, repository.roles(), repository.environments())
    origins = (locator.at(path) for _, _, tree, locator in maps if dig(tree, path) is not ABSENT)
    found = [OtherSetter(origin, _lacks(node, origin)) for origin in origins]
    return [*found, *_lines_that_write(repository, node, path)][:_MOST]


def _lines_that_write(repository: Repository, node: Node, path: Path) -> Iterator[OtherSetter]:
    for cookbook in readable(repository.cookbooks(), repository.cookbook):
        attributes = [(cookbook.attribute_name(file), file) for file in cookbook.attribute_paths]
        recipes = [(f"{cookbook.name}::{part}", file) for part, file in cookbook.recipes.items()]
        kinds = (("attribute file", attributes), ("recipe", recipes))
        for kind, full, file in ((kind, full, file) for kind, files in kinds for full, file in files):
            text = (cookbook.root / file).read_text("utf-8", "replace") if cookbook.root is not None else ""
            if file.endswith(DATA):
                yield from _in_data(cookbook, file, node, path)
                continue
            if file.endswith(RUBY):
                for line in lines_that_set(cookbook, file, path):
                    yield OtherSetter(Origin(kind, full, cookbook.shown(file), line), f"it {NOT_RUN}")
                continue
            for write in writes_of(text, path) if _last_key(path) in text else ():
                origin = Origin(kind, full, cookbook.shown(file), write.line)
                decides = "" if write.under is None else f"{cookbook.shown(file)}:{write.under}"
                yield OtherSetter(origin, _lacks(node, origin, decides))


def _in_data(cookbook: Cookbook, file: str, node: Node, path: Path) -> Iterator[OtherSetter]:
    with suppress(NodeattrsError):
        data = cookbook.attribute_data(file)
        for block in data.blocks:
            asked = [data.document.place(at) for when in block.when for _, at in when.facts]
            decides = f"{data.document.file}:{asked[0][0]}" if asked else ""
            for level in block.levels:
                if dig(level.tree, path) is not ABSENT:
                    origin = level.locator.at(path)
                    yield OtherSetter(origin, _lacks(node, origin, decides))


def _last_key(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _lacks(node: Node, origin: Origin, decides: str = "") -> str:
    """The reason why a source sets nothing on a node, as a sentence. decides: the line of its condition, or ""."""
    kind, name = origin.kind.removeprefix("saved "), origin.name
    recipes = node.read("recipes") or ()
    if kind == "role":
        return f"role {name} is not on its run-list" if name not in (node.read("roles") or ()) else _CONDITION_DECIDES
    if kind == "environment":
        if node.environment != name:
            return f"it is in environment {node.environment or DEFAULT_ENVIRONMENT}"
    elif kind == "recipe":
        if name not in recipes:
            return f"recipe {name} does not run here"
    elif kind == "attribute file":
        if cookbook_of(name) not in map(cookbook_of, recipes):
            return f"no recipe of cookbook {cookbook_of(name)} runs here"
    elif kind in ("node", "facts", "JSON attributes", "caller"):
        return "that is about another node"
    return f"it runs here, too, and the line at {decides} decides" if decides else _CONDITION_DECIDES


_CONDITION_DECIDES = "this node has it, too: a condition there, or what was removed later, decides"
