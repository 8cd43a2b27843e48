"""Facts of machines in the shape of Ohai's, which become the automatic attributes of a node.

`gather` collects the facts of this machine, with our own functions and those that packages offer under the entry point
group `nodeattrs.facts`. `load_facts` reads a file that Ohai or Facter wrote. Each fact has an origin. A run sets the
facts on its node, and adds `recipes`, `roles`, `expanded_run_list` and `cookbooks` itself.

    >>> facts = gather({"rack": lambda known: {"rack": f"r7 of {known['os']}"}})
    >>> facts.tree["rack"] == "r7 of " + facts.tree["os"]
    True
    >>> print(facts.locator.at(("rack",)), "/", facts.locator.at(("os",)))
    facts rack / facts this machine
"""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs import packages
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.tree import ABSENT, Path, copied, dig
from nodeattrs.dialects.chef.facts import facter
from nodeattrs.errors import BadValue, NodeattrsError, missing_extra
from nodeattrs.formats import documents
from nodeattrs.kinds import FACT_FUNCTION_FAILED
from nodeattrs.node.values import ROOM, taken_in

ENTRY_POINTS = "nodeattrs.facts"
"""The entry point group under which a package offers its fact functions."""

FactFunction = Callable[[dict[str, Any]], Mapping[str, Any]]
"""A function from a copy of the facts so far to more facts, which are deep merged over them."""

_MADE_BY_RUNS = ("cookbooks", "expanded_run_list", "recipes", "roles")
"""Automatic attributes that a run makes itself."""

_OF_CHEF = ("json_class", "chef_type", "run_list", "default_attributes", "override_attributes")
"""Fields of roles, environments and nodes. No fact has such a name."""

_SHIPPED = os.path.join(os.path.dirname(__file__), "known")
"""The folder with the facts of platforms."""

_WRITTEN = "write them with: ohai > facts.json"


@dataclass(frozen=True)
class Facts:
    """The facts of one machine, from a file or from `gather`. `place` names in words where they are from.

    tree:     the facts, by Ohai's names
    locator:  gives the origin of each fact
    warnings: about the file that was read; from `gather`, one for each function that failed
    settled:  True: the tree is JSON data and is never changed later, so a run uses it without copying it
    unread:   the reason why other facts of the machine are missing; "" if none are missing
    """

    tree: dict[str, Any]
    locator: Locator
    warnings: tuple[NodeattrsError, ...] = ()
    settled: bool = False
    unread: str = ""

    @property
    def place(self) -> str:
        """Where the facts are from: a file, "platform debian-12" for a file of this package, or "this machine"."""
        # `unplaced` is an origin without a line: counting lines takes longer than parsing the facts.
        origin: Origin = getattr(self.locator, "unplaced", None) or self.locator.at(())
        folder, name = os.path.split(origin.file or "")
        return f"platform {os.path.splitext(name)[0]}" if folder == _SHIPPED else origin.file or origin.name


@dataclass(frozen=True)
class _GatheredFactsLocator:
    """A locator of gathered facts. It gives the name of the function that set a fact, or "this machine".

    folding: the merged results of the functions
    names:   number of a source in *folding* -> the name of the function
    """

    folding: Folding
    names: list[str]

    def at(self, path: Path) -> Origin:
        origins = self.folding.result.origins
        for step in path:
            origins = origins_at(origins, step)
        return Origin("facts", self.names[min(sources(origins), default=0)])  # for a map: the source that made it


def gather(functions: Mapping[str, FactFunction] | None = None, now: float | None = None) -> Facts:
    """The facts of this machine. Facts that this system does not have are missing.

    A function that fails adds a warning, and its facts are missing.

    functions: name -> function, called in this order after our own. None: the functions of installed packages
    now:       the `ohai_time`, in seconds since 1970; None: the current time
    cost:      one copy of the facts for each function; mounts and host names may be slow
    raises:    MissingExtra, if psutil or distro is not installed
    """
    try:
        from nodeattrs.dialects.chef.facts import machine
    except ModuleNotFoundError as error:
        if error.name not in ("psutil", "distro"):
            raise
        raise missing_extra(error.name, "facts", "gathering facts of this machine") from error
    warnings: list[NodeattrsError] = []
    names = ["this machine"]
    folding = Folding(start=Part({}, 0))
    for name, own in machine.FUNCTIONS.items():
        _add(folding, 0, name, own, "facts", warnings)
    folding.lay(Part({"ohai_time": time.time() if now is None else now}, 0), ACROSS)
    for name, function in _installed(warnings) if functions is None else functions.items():
        names.append(name)
        _add(folding, len(names) - 1, name, function, "fact function", warnings)
    return Facts(copied(folding.result.value), _GatheredFactsLocator(folding, names), tuple(warnings))


def _installed(warnings: list[NodeattrsError]) -> Iterator[tuple[str, FactFunction]]:
    for point in packages.entry_points(ENTRY_POINTS):
        try:
            require_may_run(f"the fact function {point.name}")
            function = point.load()
        except Exception as error:
            warnings.append(_failed(f"fact function {point.name} ({point.value}) cannot be imported", error))
        else:
            yield point.name, function


def _add(
    folding: Folding, number: int, name: str, function: FactFunction, kind: str, warnings: list[NodeattrsError]
) -> None:
    """Merge the facts of *function* over the facts so far. If it fails, nothing is merged, and a warning is added."""
    try:
        given = function(copied(folding.result.value))
        if not isinstance(given, Mapping):
            raise BadValue(f"facts are a map, not {type(given).__name__}")
        more = taken_in(given)
    except Exception as error:  # a function of another package must not lose the other facts
        warnings.append(_failed(f"{kind} {name} failed", error))
    else:
        folding.lay(Part(more, number), ACROSS)


def _failed(message: str, cause: Exception) -> NodeattrsError:
    warning = NodeattrsError(message, details=[f"{type(cause).__name__}: {cause}"])
    warning.kind = FACT_FUNCTION_FAILED
    warning.__cause__ = cause
    return warning


def merged_over(facts: Facts, more: Mapping[str, Any], origin: Origin) -> Facts:
    """New Facts: *more* deep merged over *facts*. origin: of all values in *more*"""
    folded = fold([Layer(facts.tree, facts.locator), Layer(more, origin)], ACROSS)
    return Facts(folded.to_dict(), _FirstOriginLocator(folded), facts.warnings)


@dataclass(frozen=True)
class _FirstOriginLocator:
    """A locator of merged facts: gives the first origin of a path."""

    folded: Folded

    def at(self, path: Path) -> Origin:
        return self.folded.origins(path)[0]


def load_facts(path: pathlib.Path, file: str | None = None, *, by_caller: bool = False) -> Facts:
    """Read the facts in a file that `ohai` or `facter --json` wrote. Facter's facts are repeated under Ohai's names.

    The tree must not be changed: a run may use it without copying it (`Facts.settled`).
    file:      its name in messages; None: *path*
    by_caller: True: the caller named the file, so it may be a pipe or lie anywhere
    raises:    DocumentError, also for a document that is not a map, and for a role, an environment or a node
    """
    document = documents.read(path, file, by_caller=by_caller)
    if not isinstance(document.tree, dict):
        raise document.error("facts are a map of names", hint=_WRITTEN)
    if of_chef := next((name for name in _OF_CHEF if name in document.tree), None):
        raise document.error(f"these are no facts but a document of Chef: it has {of_chef}", hint=_WRITTEN)
    locator = document.locator("facts", path.name)
    if not _is_facter(document.tree):
        return Facts(document.tree, locator, document.warnings, document.levels <= ROOM)
    tree, locator = facter.with_ohai_names(document, locator)
    return Facts(copied(tree), locator, document.warnings)  # facts of other machines may share maps


def _is_facter(tree: dict[Any, Any]) -> bool:
    """Whether *tree* is from Facter: it has a map that only Facter writes, and no `platform`, which Ohai always has.

    >>> _is_facter({"os": {"family": "Debian"}}), _is_facter({"os": "linux", "platform": "debian"})
    (True, False)
    """
    own = (("os", "family"), ("networking", "interfaces"), ("networking", "hostname"), ("processors", "count"))
    return "platform" not in tree and any(dig(tree, path) is not ABSENT for path in own)


def facts_of_last_run(automatic: Mapping[str, Any]) -> Facts:
    """The facts among the automatic attributes of a saved node, without the attributes that a run makes itself."""
    tree = {key: value for key, value in automatic.items() if key not in _MADE_BY_RUNS}
    return Facts(tree, Origin("facts", "last run"))
