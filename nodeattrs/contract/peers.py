"""What one dialect may ask of another: lookups of Hiera, the injector of bindings, and a process of Ruby."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, cast

from nodeattrs.core.budget import Budget
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.peers import peer
from nodeattrs.reports.explain import LookupExplanation


class LookupScope(Protocol):
    """One node, as it looks keys up."""

    def lookup(self, name: Any, **options: Any) -> Any:
        """The value of a key, or of the first of several keys. raises: NotFound, LookupError"""

    def explain(self, name: str, **options: Any) -> LookupExplanation:
        """Why a key has its value."""

    def look(self, look: Look) -> Any:
        """What this scope has where another one looked."""

    def known_keys(self) -> Iterable[str]:
        """The keys that the data of the node has."""


class Lookup(Protocol):
    """A tree of layers in which nodes look keys up."""

    warnings: list[NodeattrsError]
    skip_levels: frozenset[str]

    def scope(
        self, facts: Mapping[str, Any], *, node: str, environment: str = "production", looks: Looks | None = None
    ) -> LookupScope:
        """The tree as one node sees it. looks: where it notes what it looks at of the node"""

    def check(self) -> tuple[int, list[NodeattrsError]]:
        """How many data files were read, and what is wrong in them."""

    def data_files(self, environment: str) -> Iterable[Any]:
        """The data files of an environment, each with `tree` and `document`. raises: NodeattrsError"""

    def environments(self) -> Sequence[str]:
        """The environments that the tree has; empty where it has none of its own."""


class RubyProcess(Protocol):
    """A process of Ruby that reads and writes lines of JSON. Hold the lock from a request to its answer."""

    seconds: float
    lock: AbstractContextManager[Any]

    @property
    def alive(self) -> bool:
        """Whether the process has not been ended."""

    def send(self, *message: Any, until: float) -> None:
        """Send a message. until: the time limit, by `time.monotonic`. raises: RecipeFailed"""

    def receive(self, budget: Budget, until: float) -> list[Any]:
        """Wait for the next message. raises: RecipeFailed, TooMuch"""


class Injection(Protocol):
    """What one run takes from a site of bindings. Nothing is read before the first question."""

    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The value bound to a key for the node. raises: NotFound"""

    def parameters(self, target: str, /, **defaults: Any) -> dict[str, Any]:
        """Each parameter from the bindings, else from Hiera, else as it is given."""

    def bound(self, kind: str, title: str, defaults: Mapping[str, Any] | None) -> dict[str, Any]:
        """The parameters of a resource that are bound, and that the recipe does not give."""

    def trace(self, word: str, key: str) -> Trace | None:
        """The trace of `inject(key)`, or of a parameter; None where nothing is bound."""

    def run_list(self, items: list[str]) -> list[str]:
        """A run-list with the included classes behind it."""

    def relate(self, catalog: Any) -> None:
        """Give a `Catalog` the dependencies that are bound."""


class HieraParameters:
    """The `Injection` of a run without a site of bindings: parameters come from Hiera alone, and nothing is bound.

    lookup: asked for each parameter: (key, otherwise=...); None where there is no Hiera tree
    """

    def __init__(self, lookup: Callable[..., Any] | None = None) -> None:
        self._lookup = lookup

    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """Nothing is bound. raises: NotFound"""
        hint = 'write bindings = "FOLDER" in nodeattrs.toml'
        raise NotFound("this repository has no site of bindings to inject from", hint=hint)

    def parameters(self, target: str, /, **defaults: Any) -> dict[str, Any]:
        """Each parameter from Hiera, else as it is given."""
        return {name: self._asked(f"{target}::{name}", value) for name, value in defaults.items()}

    def bound(self, kind: str, title: str, defaults: Mapping[str, Any] | None) -> dict[str, Any]:
        """The parameters of a defined type that Hiera has; {} for a resource, whose *defaults* are None."""
        names = () if self._lookup is None else defaults or ()
        asked = {name: self._asked(f"{kind.lower()}::{name}", _ABSENT) for name in names}
        return {name: value for name, value in asked.items() if value is not _ABSENT}

    def trace(self, word: str, key: str) -> Trace | None:
        """Always None: nothing is bound."""
        return None

    def run_list(self, items: list[str]) -> list[str]:
        """The run-list as it is: no class is included."""
        return items

    def relate(self, catalog: Any) -> None:
        """Do nothing: no dependency is bound."""

    def _asked(self, key: str, otherwise: Any) -> Any:
        return otherwise if self._lookup is None else self._lookup(key, otherwise=lambda _: otherwise)


_ABSENT = object()


def lookup_of(place: Path, root: Path, puppet_version: int | None = None, sensitive: Iterable[TreePath] = ()) -> Lookup:
    """The Hiera tree at a place of a repository. raises: BadArgument, where it is not there

    puppet_version: the one whose rules hold; None: the usual one
    sensitive:      paths whose values are given as secrets; the first step is the key
    """
    return cast(Lookup, peer("hiera").lookup_of(place, root, puppet_version, sensitive))


def ruby_process(root: Path, script: Path) -> RubyProcess:
    """Start a Ruby script in a folder. raises: NotFound, without a Ruby; UnknownLayer, where no code may run"""
    return cast(RubyProcess, peer("chef").ruby_process(root, script))


def doubts_of(tree: Lookup, environment: str, beside: Iterable[Lookup] = ()) -> Iterator[NodeattrsError]:
    """What the data of an environment sets and probably does not mean.

    beside: further trees, whose hierarchies may read files of this one
    raises: NodeattrsError
    """
    return cast("Iterator[NodeattrsError]", peer("hiera").doubts_of(tree, environment, beside))


def undecided(scope: LookupScope) -> Mapping[str, Sequence[Any]]:
    """Key -> the levels that may decide it and cannot be read, each with `name`, `origin` and `unread`."""
    return cast("Mapping[str, Sequence[Any]]", peer("hiera").undecided(scope))


def literal_key(name: str) -> str:
    """A key as a lookup takes it, if no dot in it is a step."""
    return cast(str, peer("hiera").as_asked(name))


def files_of_bindings() -> Any:
    """An empty memory for the files of a site of bindings, for all nodes of a repository."""
    return peer("bindings").SiteFiles()
