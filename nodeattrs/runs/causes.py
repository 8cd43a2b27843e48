"""Why somebody had a say at all: the lines that decide who sets values on a node, and set nothing themselves.

The run-list that names a role or recipe, the role that names another, the recipe that includes
one, the metadata that asks for a cookbook, the line that chooses the environment, the condition of an attribute file
that is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.trace import Trace
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.run_list import RunListItem, cookbook_of, qualified
from nodeattrs.runs.attribute_data import SUFFIXES as DATA
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import Run


def causes(repository: Repository, run: Run, origins: Iterable[Origin]) -> list[Cause]:
    """The lines because of which those who set something were asked, each once, from the setting outwards.

    cost: the chain of inclusions of each
    """
    found: dict[Cause, None] = {}
    for origin in origins:
        found.update(dict.fromkeys(_conditions(repository, origin)))
        found.update(dict.fromkeys(_Causes(repository, run).of(origin.kind.removeprefix("saved "), origin.name)))
    return list(found)


def of_trace(repository: Repository, run: Run) -> Callable[[Trace], list[Cause]]:
    """What asks `causes` for everyone in a trace, the winner first."""
    return lambda trace: causes(repository, run, (stated.origin for stated in trace.claims))


def _conditions(repository: Repository, origin: Origin) -> Iterator[Cause]:
    """What lets a place in an attribute file that is data count."""
    if origin.kind != "attribute file" or not str(origin.file).endswith(DATA):
        return
    with suppress(NodeattrsError):  # it may be another one by now
        cookbook = repository.cookbook(cookbook_of(origin.name))
        file = str(origin.file).removeprefix(cookbook.shown(""))
        if file in cookbook.files:
            yield from cookbook.data(file).causes(origin.line or 1, origin.column or 1)


class _Causes:
    def __init__(self, repository: Repository, run: Run) -> None:
        self.repository = repository
        self.run = run
        self.seen: set[tuple[str, str]] = set()

    def of(self, kind: str, name: str) -> Iterator[Cause]:
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
        """Where the policy, else the node's own file, names an item; command lines and earlier runs have none."""
        policy, described = self.run.policy, self.repository.node_document(self.run.node.name)
        own = (("run_list",), described.run_list if described is not None else ())
        under, items = own if policy is None else policy.items(self.repository.asked.named_run_list)
        says = policy or described
        for index, item in enumerate(items):
            parsed = RunListItem.parse(item)
            if says is not None and (parsed.type, _full(parsed)) == (kind, name):
                return says.locator.at((*under, index))
        return Origin("run list", "of the node")

    def _cookbook(self, cookbook: str) -> Iterator[Cause]:
        """Its first recipe that ran, else the cookbook that depends on it."""
        recipe = next((name for name in self.run.recipes if cookbook_of(name) == cookbook), None)
        if recipe is not None:
            yield from self.of("recipe", recipe)
            return
        for other in dict.fromkeys(file.partition("/")[0] for file in self.run.attribute_files):
            if other != cookbook and cookbook in self._depends(other):
                yield Cause(
                    f"cookbook {other} depends on {cookbook}", self.repository.cookbook(other).named_at(cookbook)
                )
                yield from self.of("attribute file", other)
                return

    def _depends(self, cookbook: str) -> Iterable[str]:
        try:
            return self.repository.cookbook(cookbook).depends
        except NodeattrsError:
            return ()

    def _environment(self, name: str) -> Iterator[Cause]:
        described = self.repository.node_document(self.run.node.name)
        if described is not None and described.environment == name:
            yield Cause(f"the node is in environment {name}", described.locator.at(("chef_environment",)))
        else:
            yield Cause(f"the node is in environment {name}", Origin("settings, arguments or an earlier run"))


def _full(item: RunListItem) -> str:
    return qualified(item.name) if item.type == "recipe" else item.name
