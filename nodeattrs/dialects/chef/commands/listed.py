"""List the names of one kind in a repository or a store, for `nodeattrs list` and for completion in shells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.common import saved_nodes_of, store_of
from nodeattrs.project.settings import Settings
from nodeattrs.store.search.doubts import known_paths

_FIELDS = ("chef_environment", "name", "recipe", "recipes", "role", "roles", "run_list")


def known_names(kind: str, arguments: Mapping[str, Any]) -> Iterable[str]:
    """The names of one kind, in any order.

    kind:   a kind of `Chef.kinds`, or "NODE" for the files in nodes/. "nodes" also has saved nodes and suites;
            "fields" has the fields that a search can use, from the saved nodes
    raises: NotFound, for "fields" without saved nodes; DocumentError
    """
    settings = Settings(arguments, os.environ)
    if kind == "fields":
        return {*_FIELDS, *known_paths(saved_nodes_of(settings)[0])}
    found = settings.repository
    repository = Repository(os.curdir) if found is None else Repository(found.root, settings=found)
    if kind == "NODE":
        return repository.nodes()
    if kind == "nodes":
        store, _ = store_of(settings)
        return {*repository.nodes(), *repository.suites(), *(store.names() if store.is_there() else ())}
    names: list[str] = getattr(repository, kind.replace("-", "_"))()
    return names
