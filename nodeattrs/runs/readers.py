"""The words by which cookbook files read documents: data bags, and JSON, YAML and TOML files of the repository.

What is read is noted on the node with its lines, so that an explanation can name them. It decides
which files may be read, and knows nothing of what they say.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

from nodeattrs.core.tree import copied
from nodeattrs.errors import BadArgument, BadName
from nodeattrs.node.node import Node
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.node.running import note_read, origin_here
from nodeattrs.runs.repository import LEAVES, Repository

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
