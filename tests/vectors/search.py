"""The kind of vectors that chef-zero answered: queries over nodes, and what of a node can be found.

Each query is asked of all engines: files (in memory), SQLite, and PostgreSQL where there is a
server (`tests/postgresql_server.py`).
"""

from __future__ import annotations

import atexit
import json
import tempfile
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from nodeattrs.store import Saved, Store, open_store
from nodeattrs.store.search import QueryNotSupported, QueryNotUnderstood, fields_of, parse_query
from tests import postgresql_server
from tests.vectors.cases import HERE, Case, Judge
from tests.vectors.values import difference

Documents = list[dict[str, Any]]

_DOCUMENTS = "chef-search-docs.json"


@cache
def _documents(folder: Path) -> dict[str, Documents]:
    """The documents that lie beside a file of cases, else ours."""
    beside = folder / _DOCUMENTS
    text = (beside if beside.is_file() else HERE / _DOCUMENTS).read_text(encoding="utf-8")
    documents: dict[str, Documents] = json.loads(text)
    return documents


def _list_of(case: Case) -> Documents:
    return _documents(case.file.absolute().parent)[case["docs"]]


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder


@lru_cache(maxsize=1)
def engines() -> tuple[str, ...]:
    """The engines that there are here."""
    return ("sqlite",) if postgresql_server.why_not() else ("sqlite", "postgresql")


@cache
def _store(engine: str, documents: str) -> Store:
    """A store with these documents, given as text."""
    folder = tempfile.mkdtemp(dir=_folder().name)
    place = {
        "sqlite": lambda: f"sqlite://{folder}/nodes.db",
        "postgresql": postgresql_server.fresh,
    }[engine]()
    store = open_store(place)
    atexit.register(store.close)
    for document in json.loads(documents):
        store.save(Saved(document["name"], document))
    return store


def search(case: Case) -> Iterator[str]:
    """The nodes found, in the order of the list; or the fields of one node, and what each holds."""
    expected = _expected(case)
    if "fields_of" in case:
        document = next(node for node in _list_of(case) if node["name"] == case["fields_of"])
        if fault := difference(expected, {"fields": fields_of(document)}):
            yield fault
        return
    for engine in engines():
        if fault := difference(expected, _found(engine, case)):
            yield f"{engine}: {fault}"


def _expected(case: Case) -> dict[str, Any]:
    """What is to be met. Where the peer broke, or has a defect that nothing corrects, a query cannot be read."""
    if "expect_corrected" in case:
        corrected: dict[str, Any] = case["expect_corrected"]
        return corrected
    if "peer_defect" in case or case["expect"].get("error") == "internal_error":
        return {"error": "parse_error"}
    return {name: value for name, value in case["expect"].items() if name != "peer"}


def _found(engine: str, case: Case) -> dict[str, Any]:
    documents = _list_of(case)
    try:
        found = _store(engine, json.dumps(documents)).search(parse_query(case["q"]))
    except QueryNotSupported:
        return {"error": "unsupported"}
    except QueryNotUnderstood:
        return {"error": "parse_error"}
    return {"names": [node["name"] for node in documents if node["name"] in found]}


KINDS: dict[str, dict[str, Judge]] = {"chef-search": {"whole": search}}
