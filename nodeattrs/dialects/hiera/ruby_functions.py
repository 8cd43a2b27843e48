"""Run data functions in Ruby of a control repository, by the Ruby of this machine.

Used by `hierarchies` with `Hiera(ruby=True)`. The Ruby process has stand-ins for the part of Puppet that data functions
use. A function that needs more makes its level unreadable: its values are `Unknown`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nodeattrs.contract.peers import RubyProcess, ruby_process
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.code import held_back
from nodeattrs.core.sensitive import plain, withheld
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera.config import HierarchyEntry
from nodeattrs.dialects.hiera.data import DataSource
from nodeattrs.dialects.hiera.errors import BadData, BadLookup
from nodeattrs.dialects.hiera.expressions import Resolver, value_plan
from nodeattrs.dialects.hiera.types import parse_type
from nodeattrs.errors import NodeattrsError, RecipeFailed

_SCRIPT = Path(__file__).with_name("ruby") / "functions.rb"


class RubyFunctions:
    """The Ruby process for all data functions of a tree. It starts at the first `ask`, and again if it has ended.

    root:   the folder of the tree
    strict: the value of `Puppet[:strict]`: "error" or "warning"

    `ask` calls a function and returns its result: ABSENT for a key that it does not have, `Unknown` if it needs more of
    Puppet. It holds a lock, so one function runs at a time and threads wait for each other.
    """

    def __init__(self, root: Path, strict: str) -> None:
        self._root, self._strict = root, strict
        self._process: RubyProcess | None = None
        self._nodes: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._numbers = count()

    def ask(self, message: Sequence[Any], arguments: Sequence[Any], resolver: Resolver) -> Any:
        """Call a function and return its result. The process is started if it does not run.

        ABSENT for a key that the function does not have. `Unknown` if it needs more of Puppet, or works on a secret.
        message:   the place of the level, and the name, file and environment of the function
        arguments: the arguments of the function, as JSON can hold them
        resolver:  fills in texts that the function interpolates
        raises:    RecipeFailed, if the function fails; NotFound, without a Ruby; the errors of filling in; TooMuch
        """
        process = self._started()
        node = self._nodes.setdefault(resolver.node, next(self._numbers))
        stopped: NodeattrsError | RecursionError | Unknown | None = None
        with process.lock:
            until = time.monotonic() + process.seconds
            process.send("ask", node, *message, self._strict, arguments, until=until)
            while True:
                word, *given = process.receive(resolver.budget, until)
                if word == "dispatches":
                    process.send("use", _fitting(given[0], arguments), until=until)
                elif word == "interpolate":
                    filled = _filled(given[0], resolver)
                    if isinstance(filled, (NodeattrsError, RecursionError, Unknown)):
                        stopped, filled = filled, None
                    process.send("filled" if stopped is None else "stop", filled, until=until)
                elif isinstance(stopped, Unknown):
                    return stopped
                elif stopped is not None:
                    raise stopped
                elif word == "value":
                    return given[0]
                elif word == "absent":
                    return ABSENT
                elif word == "lacks":
                    return Unknown(message[1], f"it needs more of Puppet than there is here: {given[0]}")
                else:
                    raise RecipeFailed(given[0])

    def _started(self) -> RubyProcess:
        if self._process is None or not self._process.alive:
            with held_back(False):  # the caller asks for it
                self._process = ruby_process(self._root, _SCRIPT)
        return self._process


def _filled(value: Any, resolver: Resolver) -> Any:
    """A value with its texts filled in, or the error of that; `Unknown` for a secret, which Ruby does not get."""
    try:
        plan = value_plan(value)
        filled = value if plan is None else plan(resolver)
    except (NodeattrsError, RecursionError) as error:
        return error
    return filled if plain(filled) == filled else Unknown("secret", "its function works on a secret")


def _fitting(dispatches: Iterable[Sequence[str]], arguments: Sequence[Any]) -> int | str | None:
    """The index of the first dispatch that takes the arguments and a context.

    None for none; a message for a type that is not known.
    """
    for at, types in enumerate(dispatches):
        try:
            wanted = [parse_type(text) for text in types[:-1]]
        except BadLookup as error:
            return error.message
        if [one.holds(given) for one, given in zip(wanted, arguments, strict=False)] == [True] * len(types[1:]):
            return at
    return None


class RubyData(DataSource):
    """The data source for a location of a level whose data function is in Ruby. Each `value` calls the function.

    functions:   the process
    entry:       the level
    file:        as an argument, the file of the function; the attribute is "function NAME"
    environment: the name of the environment
    given:       the options of the function
    failed:      called with (message, key=...), it returns the error for a failed call
    sensitive:   paths whose values become secrets; the first step is the key
    """

    def __init__(
        self,
        functions: RubyFunctions,
        entry: HierarchyEntry,
        file: Path,
        environment: str,
        given: Mapping[str, Any],
        failed: Callable[..., BadData],
        sensitive: Iterable[TreePath],
    ) -> None:
        self.file = f"function {entry.function}"
        self._functions, self._given, self._failed = functions, given, failed
        self._name, self._kind = entry.function, entry.kind
        place = f"{entry.name} {given.get('path') or given.get('uri')}"
        self._message = [place, entry.function, str(file.absolute()), environment]
        self._sensitive = sensitive

    def value(self, key: str, resolver: Resolver) -> Any:
        """The value of a key, ABSENT, or `Unknown` where the function cannot be run here.

        Expressions are filled in for a data_hash only, as in Puppet; other kinds of functions do that themselves.
        raises: BadData, where the function fails
        """
        asked: dict[str, list[Any]] = {"data_hash": [], "lookup_key": [key], "data_dig": [[key]]}
        arguments = [*asked[self._kind], dict(self._given)]
        is_whole = self._kind == "data_hash"
        try:
            value = self._functions.ask(self._message, arguments, resolver)
        except RecipeFailed as error:
            raise self._failed(error.message, key=None if is_whole else key) from error
        if type(value) is Unknown or value is ABSENT:
            return value
        if is_whole:
            if not isinstance(value, dict):
                raise self._failed("it gives no map")
            plan = value_plan(value.get(key, ABSENT))
            value = value.get(key, ABSENT) if plan is None else plan(resolver)
        return value if value is ABSENT else withheld(value, self._sensitive, (key,))

    def locator(self, key: str, entry: str) -> Locator:
        """The function as the origin of a value, without a line."""
        return Origin("data function", self._name)
