"""Hiera, data bags and documents in a run: what recipes look up for their node.

What is read from a document is noted on the node with its lines. `readings` follows what a line of a recipe read, for
explanations. What a lookup of Hiera answers is the adapter's.
"""

from __future__ import annotations

import linecache
import os
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path, copied, parse
from nodeattrs.dialects.chef.repository.programs import reads_of
from nodeattrs.dialects.chef.repository.repository import LEAVES, Repository
from nodeattrs.dialects.chef.run.bindings import Injection
from nodeattrs.errors import BadArgument, BadName, NodeattrsError, NotFound
from nodeattrs.node.intake import facts_of
from nodeattrs.node.node import Node
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.node.running import note_read, origin_here

if TYPE_CHECKING:
    from nodeattrs.dialects.hiera.explain import Explanation
    from nodeattrs.dialects.hiera.scope import Scope


def scope_of(repository: Repository, node: Node) -> Scope:
    """The node as Hiera sees it: its automatic attributes are the facts.

    raises: NotFound, where the repository has no Hiera tree
    """
    hiera = repository.hiera
    if hiera is None:
        raise NotFound(
            "this repository has no Hiera tree to look keys up in",
            hint='write hiera = "FOLDER" in nodeattrs.toml, or put a hiera.yaml beside it',
        )
    return hiera.scope(facts_of(node), node=node.name, environment=node.environment)


def lookup_word(repository: Repository, node: Node) -> Callable[..., Any]:
    """The word `lookup` of recipes: a key of Hiera for the node that runs, with the options of `Scope.lookup`."""
    scopes: list[Scope] = []

    def lookup(name: str | list[str], **options: Any) -> Any:
        if not scopes:
            scopes.append(scope_of(repository, node))  # facts stand still while recipes run
        return scopes[0].lookup(name, **options)

    return lookup


@dataclass(frozen=True)
class Reading:
    """Something that a line of a recipe read.

    what:  as it is written: a path, or "lookup(key)"
    trace: why it is what it is: of the node, of Hiera, of bindings; None where nobody can say
    """

    what: str
    trace: Trace | Explanation | None


def readings(
    repository: Repository,
    node: Node,
    origin: Origin,
    then: Callable[[Path], Trace] | None = None,
    search: Callable[..., Any] | None = None,
) -> Iterator[Reading]:
    """What the line of a cookbook file that set a value read, each with its own trace, as far as it is written out.

    What a value of Hiera needed follows it: keys that its expressions looked up, as lookups of their own.

    then: explains an attribute as it was when the line read it; without, as it is now
    search: the word `search` of the run, which queries of bindings ask
    """
    if origin.file is None or origin.line is None or not origin.file.endswith(".py"):
        return
    text = "".join(linecache.getlines(str(repository.root / origin.file)))
    seen = dict.fromkeys(reads_of(text, origin.line))
    ahead = list(seen)[::-1]
    while ahead:
        reading = Reading(what := ahead.pop(), _traced(repository, node, what, then or node.trace, search))
        yield reading
        needed = [f"lookup({key})" for key in getattr(reading.trace, "needed", ())]
        ahead += [key for key in reversed(needed) if key not in seen]
        seen |= dict.fromkeys(needed)


def _traced(
    repository: Repository,
    node: Node,
    what: str,
    attribute: Callable[[Path], Trace],
    search: Callable[..., Any] | None,
) -> Trace | Explanation | None:
    word, found, rest = what.partition("(")
    if not found:
        return attribute(parse(what))
    key = rest.removesuffix(")")
    if not key:
        return None
    try:
        if word == "lookup":
            return scope_of(repository, node).explain(key)
        bound = Injection(repository, node, search=search).trace(word, key)
        if bound is not None or word != "parameters" or repository.hiera is None:
            return bound
        looked_up = scope_of(repository, node).explain(key)
        return looked_up if looked_up.error is None else None
    except NodeattrsError:
        return None


READERS = {"read_json": (".json",), "read_yaml": (".yaml", ".yml"), "read_toml": (".toml",)}
"""The words that read a file, and what its name ends in."""


def reader_words(repository: Repository, node: Node) -> dict[str, Callable[..., Any]]:
    """`read_json`, `read_yaml`, `read_toml` and `data_bag_item` for the node that runs.

    Each gives plain data that belongs to the caller.
    """

    def data_bag_item(bag: str, item: str, secret: str | None = None) -> dict[str, Any]:
        """One item of a data bag; see `Repository.data_bag_item`."""
        tree, locator = repository.bag_item(bag, item, secret)
        note_read(node, tree, locator)
        copy: dict[str, Any] = copied(tree, LEAVES)
        return copy

    def read(word: str, file: str | os.PathLike[str]) -> Any:
        """What a file of the repository says; a relative name counts from the cookbook whose file runs.

        raises: BadName, where it leads out of the repository; BadArgument; DocumentError
        """
        cookbook = repository.cookbook(cookbook_of(origin_here(node, column=False).name))
        path = _inside(repository.root, pathlib.Path(cookbook.root or repository.root), os.fspath(file))
        if path.suffix.lower() not in READERS[word]:
            other = next((one for one, ends in READERS.items() if path.suffix.lower() in ends), None)
            hint = f"write {other}({os.fspath(file)!r})" if other else f"it reads {' and '.join(READERS[word])}"
            raise BadArgument(f"{word} does not read {os.fspath(file)}", hint=hint)
        document = repository.document(path)
        note_read(node, document.tree, document.locator("file", ""))
        return copied(document.tree)

    return {"data_bag_item": data_bag_item, **{word: partial(read, word) for word in READERS}}


def _inside(root: pathlib.Path, folder: pathlib.Path, file: str) -> pathlib.Path:
    """The file of that name, links followed. raises: BadName, where it lies outside of the repository"""
    within = os.path.realpath(root)
    path = "" if "\0" in file else os.path.realpath(folder / file)
    if not path.startswith(within + os.sep):
        raise BadName(f"{file!r} leads out of the repository", hint="name a file of the cookbook, as files/users.json")
    return pathlib.Path(within, os.path.relpath(path, within))
