"""The protocols through which one dialect asks another: lookups of Hiera, bindings, and a process of Ruby.

No dialect imports another one. `peers.peer` finds a dialect by its name; the functions here give the types of the
objects that it offers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, cast

from nodeattrs.core.answer import LookupExplanation
from nodeattrs.core.budget import Budget
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.peers import peer


class LookupScope(Protocol):
    """A Hiera tree for one node: lookups with its facts and environment. A file is read when a key needs it.

    `lookup` gives the value of a key, and raises NotFound (a LookupError) for a key that is not set. `explain` gives
    the explanation of a value. `look` repeats a lookup that another node's run made (see `contract.sharing`).
    `known_keys` are the top-level keys in the data files.
    """

    def lookup(self, name: Any, **options: Any) -> Any:
        """The value of a key, or of the first of several keys that is set. raises: NotFound, LookupError

        options: as of Puppet's `lookup`: merge, default_value, ...
        """

    def explain(self, name: str, **options: Any) -> LookupExplanation:
        """The explanation of a key's value, level by level. options: as for `lookup`"""

    def look(self, look: Look) -> Any:
        """Repeat for this node a lookup that the run of another node noted (a look); returns the value of this node.

        raises: NodeattrsError
        """

    def known_keys(self) -> Iterable[str]:
        """The top-level keys in the data files of this node, in any order."""


class Lookup(Protocol):
    """A Hiera tree, which serves any node. `scope` returns the tree for one node, and that makes the lookups.

    warnings:    what was read so far and is probably not meant
    skip_levels: names of levels that lookups leave out

    `check` reads all data files, and returns (their number, errors). `data_files` gives the files of an environment,
    and `environments` the names of all; empty if the tree has none.
    """

    warnings: list[NodeattrsError]
    skip_levels: frozenset[str]

    def scope(
        self, facts: Mapping[str, Any], *, node: str, environment: str = "production", looks: Looks | None = None
    ) -> LookupScope:
        """The tree for one node. Nothing is read yet.

        facts: the facts of the node, which hiera.yaml and data name as variables
        node:  the name of the node
        looks: notes what lookups read of the node; None: nothing is noted
        """

    def check(self) -> tuple[int, list[NodeattrsError]]:
        """Read all data files; returns their number, and an error for each fault."""

    def data_files(self, environment: str) -> Iterable[Any]:
        """The data files of an environment, each with `tree` and `document`. raises: NodeattrsError"""

    def environments(self) -> Sequence[str]:
        """The environments that the tree has; empty where it has none of its own."""


class RubyProcess(Protocol):
    """A running process of Ruby that reads and writes lines of JSON.

    One exchange is a `send` and the `receive` after it. Hold `lock` during the exchange, so that answers are not mixed.
    `send` returns None. `receive` returns the next message, counts its bytes against *budget*, and raises TooMuch by
    it. Both raise RecipeFailed if the process has ended, or at *until*, a moment of `time.monotonic`. `alive` is True
    until `close` is called, even if the process has died.
    seconds: the time limit of one exchange
    lock:    a context manager for one exchange
    """

    seconds: float
    lock: AbstractContextManager[Any]

    @property
    def alive(self) -> bool:
        """Whether `close` was not called. A process that died is noticed at the next message."""

    def send(self, *message: Any, until: float) -> None:
        """Send a message as one line of JSON. until: the latest moment, by `time.monotonic`. raises: RecipeFailed"""

    def receive(self, budget: Budget, until: float) -> list[Any]:
        """Wait for the next message, at most until a moment of `time.monotonic`.

        budget: counts the bytes that were received
        raises: RecipeFailed, if the time is over or the process has ended; TooMuch, by *budget*
        """


class Injection(Protocol):
    """The bindings for the run of one node: values, parameters, classes and relations.

    `inject` gives the value that is bound to a key, or raises NotFound. `parameters` gives a value for each default,
    and `bound` the values that are bound for a resource. `trace` explains a bound value; None if nothing is bound.
    `run_list` adds the classes that the bindings include, and `relate` adds bound relations to a catalog.
    Files are read at the first call of a method. Faults in them raise a NodeattrsError there.
    """

    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The value that is bound to a key for the node. args: for its constructor. raises: NotFound, for no binding"""

    def parameters(self, target: str, /, **defaults: Any) -> dict[str, Any]:
        """Parameter -> value for each of *defaults*: from the bindings, else from Hiera, else the default.

        target: the class or defined type
        """

    def bound(self, kind: str, title: str, defaults: Mapping[str, Any] | None) -> dict[str, Any]:
        """Parameter -> value for the bound parameters of a resource or of a use of a defined type; {} for none.

        kind:     the type, such as "File"
        title:    the title
        defaults: the parameters of a defined type; Hiera may have them, too. None for a resource
        """

    def trace(self, word: str, key: str) -> Trace | None:
        """The trace of a bound value; None if nothing is bound.

        word: "inject" or "parameters"; for any other word the result is None
        key:  the key, or the class and parameter
        """

    def run_list(self, items: list[str]) -> list[str]:
        """A run-list with the classes that the bindings include at its end."""

    def relate(self, catalog: Any) -> None:
        """Add the relations that are bound to a `Catalog`."""


class HieraParameters:
    """The `Injection` of a run in a repository without bindings. Nothing is bound; Hiera alone gives parameters.

    lookup: called with (key, otherwise=function) for each parameter. The function takes the key and returns the
            default. None: there is no Hiera tree, and each parameter has its default

    `inject` always raises NotFound. `trace` returns None, `run_list` its argument, and `relate` does nothing.
    """

    def __init__(self, lookup: Callable[..., Any] | None = None) -> None:
        self._lookup = lookup

    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """Never returns, since nothing is bound. raises: NotFound"""
        hint = 'write bindings = "FOLDER" in nodeattrs.toml'
        raise NotFound("this repository has no site of bindings to inject from", hint=hint)

    def parameters(self, target: str, /, **defaults: Any) -> dict[str, Any]:
        """Parameter -> value for each of *defaults*: from Hiera (`target::name`), else the default."""
        return {name: self._asked(f"{target}::{name}", value) for name, value in defaults.items()}

    def bound(self, kind: str, title: str, defaults: Mapping[str, Any] | None) -> dict[str, Any]:
        """Parameter -> value, for the parameters of a defined type that Hiera has.

        defaults: the parameters of the defined type, of which only the names are used; None for a resource, which gives
                  {}
        """
        names = () if self._lookup is None else defaults or ()
        found = {name: self._asked(f"{kind.lower()}::{name}", _ABSENT) for name in names}
        return {name: value for name, value in found.items() if value is not _ABSENT}

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
    """The Hiera tree of a hiera.yaml, or of a folder with one. raises: BadArgument, where it does not exist

    root:           the folder of the repository
    puppet_version: whose rules are followed; None: the default version
    sensitive:      paths whose values are wrapped as secrets; the first step is the key
    """
    return cast(Lookup, peer("hiera").lookup_of(place, root, puppet_version, sensitive))


def ruby_process(root: Path, script: Path) -> RubyProcess:
    """Start a Ruby script in a folder. raises: NotFound, where Ruby is not installed; UnknownLayer, where no code
    may run
    """
    return cast(RubyProcess, peer("chef").ruby_process(root, script))


def doubts_of(tree: Lookup, environment: str, beside: Iterable[Lookup] = ()) -> Iterator[NodeattrsError]:
    """Yield a warning for each part of an environment's data that is probably not meant, such as an unused file.

    beside: further trees, whose hierarchies may read files of this one
    raises: NodeattrsError
    """
    return cast("Iterator[NodeattrsError]", peer("hiera").doubts_of(tree, environment, beside))


def undecided(scope: LookupScope) -> Mapping[str, Sequence[Any]]:
    """Key -> the levels that could not be read and may decide the key; {} for none.

    Each level has `name`, `origin` and `unread`.
    """
    return cast("Mapping[str, Sequence[Any]]", peer("hiera").undecided(scope))


def literal_key(name: str) -> str:
    """A key quoted for a lookup, so that no dot in it is a step."""
    return cast(str, peer("hiera").as_asked(name))
