"""The words of recipes that read data: `lookup` (Hiera), `data_bag_item`, `read_json`, `read_yaml`, `read_toml`.

A node notes each document that is read, with its lines, so that values can be explained. After a run, `readings` finds
what a line of a recipe read. `search_data_bag` is for the word `search`. Hiera is found through `contract.peers`.
"""

from __future__ import annotations

import linecache
import os
import pathlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from nodeattrs.causes.program_reads import reads_of
from nodeattrs.contract.hiera_looks import LooksOfScope
from nodeattrs.contract.peers import LookupScope
from nodeattrs.core.answer import LookupExplanation
from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import quietly
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path, copied, parse
from nodeattrs.dialects.chef.repository.repository import LEAVES, Repository
from nodeattrs.errors import BadArgument, BadName, NodeattrsError, NotFound
from nodeattrs.node.intake import facts_of
from nodeattrs.node.node import Node
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.node.running import note_read, origin_here
from nodeattrs.node.watched import looks_of
from nodeattrs.reports.explain import ReadValue
from nodeattrs.store.search import fields_of, parse_query
from nodeattrs.store.search.query import And, Condition, Everything, Not, Or, PathTerm, QueryNotSupported, Range


def _hiera_scope(repository: Repository, node: Node) -> LookupScope:
    """The Hiera scope of a node, with its automatic attributes as facts.

    raises: NotFound, where the repository has no Hiera tree
    """
    hiera = repository.hiera
    if hiera is None:
        raise NotFound(
            "this repository has no Hiera tree to look keys up in",
            hint='write hiera = "FOLDER" in nodeattrs.toml, or put a hiera.yaml beside it',
        )
    looks = looks_of(node)
    with quietly(looks):
        facts, name = facts_of(node), node.name
    noted = None if looks is None else LooksOfScope(looks, facts, node.environment)
    return hiera.scope(facts, node=name, environment=node.environment, looks=noted)


def lookup_word(repository: Repository, node: Node) -> Callable[..., Any]:
    """The function `lookup` for the recipes of a node. It has the options of `LookupScope.lookup`.

    The Hiera scope is made at the first call of `lookup`, with the facts at that time, and kept.
    raises, at a call of `lookup`: NotFound, if the repository has no Hiera tree; the errors of `LookupScope.lookup`
    """
    scope = cache(partial(_hiera_scope, repository, node))

    def lookup(name: str | list[str], **options: Any) -> Any:
        return scope().lookup(name, **options)

    return lookup


def readings(
    repository: Repository,
    node: Node,
    origin: Origin,
    then: Callable[[Path], Trace] | None = None,
    search: Callable[..., Any] | None = None,
) -> Iterator[ReadValue]:
    """Yield each value that a line of Python reads with constant keys: its name and its trace.

    The trace is None if the value cannot be explained. A value of Hiera is followed by the keys that its expressions
    look up. Yields nothing for an origin without a line, or in a file that is not Python.
    origin: the line
    then:   a function from a path to the trace of that attribute at the time of the line; None: the trace as of now
    search: the function `search` of the run, for queries of bindings
    """
    if origin.line is None:
        return
    seen = dict.fromkeys(reads_of(python_at(repository.root, origin), origin.line))
    ahead = list(seen)[::-1]
    while ahead:
        reading = ReadValue(what := ahead.pop(), _traced(repository, node, what, then or node.trace, search))
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
) -> Trace | LookupExplanation | None:
    word, found, rest = what.partition("(")
    if not found:
        return attribute(parse(what))
    key = rest.removesuffix(")")
    if not key:
        return None
    try:
        if word == "lookup":
            return _hiera_scope(repository, node).explain(key)
        bound = repository.injection(node, search=search).trace(word, key)
        if bound is not None or word != "parameters" or repository.hiera is None:
            return bound
        looked_up = _hiera_scope(repository, node).explain(key)
        return looked_up if looked_up.error is None else None
    except NodeattrsError:
        return None


READERS = {"read_json": (".json",), "read_yaml": (".yaml", ".yml"), "read_toml": (".toml",)}
"""Word that reads a file -> the suffixes of such files."""


def reader_words(repository: Repository, node: Node) -> dict[str, Callable[..., Any]]:
    """Name -> function for the recipes of a node: `read_json`, `read_yaml`, `read_toml` and `data_bag_item`.

    The first three take the name of a file, relative to the cookbook that is running. Each function returns a copy that
    a recipe may change, and notes on the node where the data comes from.
    raises, at a call: BadName, DocumentError; BadArgument, for a file of another format; the errors of `data_bag_item`
    """

    def data_bag_item(bag: str, item: str, secret: str | None = None) -> dict[str, Any]:
        tree, locator = repository.decrypted_item(bag, item, secret)
        note_read(node, tree, locator)
        copy: dict[str, Any] = copied(tree, LEAVES)
        return copy

    def read(word: str, file: str | os.PathLike[str]) -> Any:
        """The content of a file of the repository; a relative name is relative to the cookbook whose file runs.

        raises: BadName, if it lies outside of the repository; BadArgument; DocumentError
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
    """The path of a file, with links followed. raises: BadName, if it lies outside of the repository"""
    within = os.path.realpath(root)
    path = "" if "\0" in file else os.path.realpath(folder / file)
    if not path.startswith(within + os.sep):
        raise BadName(f"{file!r} leads out of the repository", hint="name a file of the cookbook, as files/users.json")
    return pathlib.Path(within, os.path.relpath(path, within))


def python_at(root: pathlib.Path, origin: Origin) -> str:
    """The text of the Python file of an origin, as it ran or else as it is now; "" without a Python file."""
    if origin.file is None or not origin.file.endswith(".py"):
        return ""
    return "".join(linecache.getlines(str(root / origin.file)))


# --- search in data bags ------------------------------------------------------------


Fields = dict[str, list[str]]


def search_data_bag(repository: Repository, bag: str, query: str) -> list[dict[str, Any]]:
    """The items of a data bag that a query in Chef's language finds: copies, sorted by name; [] for none.

    raises: DataBagItemNotFound, DocumentError, QueryNotUnderstood, QueryNotSupported
    """
    condition = parse_query(query).condition
    items = [repository.item_as_written(bag, name)[0] for name in repository.data_bag(bag)]
    return [copied(item, LEAVES) for item in items if _fits(fields_of({"automatic": item}), condition)]


def _fits(fields: Fields, condition: Condition) -> bool:
    if isinstance(condition, Everything):
        return True
    if isinstance(condition, Not):
        return not _fits(fields, condition.inner)
    if isinstance(condition, And):
        return all(_fits(fields, one) for one in condition.inner)
    if isinstance(condition, Or):
        return any(_fits(fields, one) for one in condition.inner)
    if isinstance(condition, PathTerm):
        raise QueryNotSupported("data bags are searched in Chef's language only", hint="write FIELD:VALUE")
    texts = [text for name, values in fields.items() if condition.field.is_name(name) for text in values]
    value = condition.value
    if isinstance(value, Range):
        return any(value.holds(text) for text in texts)
    return any(value.in_text(text.casefold()) for text in texts)
