"""A small repository on disk for a test: paths and texts."""

import json
from dataclasses import replace
from pathlib import Path

from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.session import NodeRequest, Session, last_saved_node, run_session, save_failed
from nodeattrs.errors import NodeattrsError
from nodeattrs.store import Store


def repository(root: Path, files: dict[str, object]) -> Repository:
    """A repository that holds *files*: text as it is, anything else as JSON, indented by one."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
    return Repository(root)


def perform(repository: Repository, store: Store, name: str, wanted: NodeRequest, force: bool = False) -> Session:
    """Run a node, starting from what the last run saved, and save the result, or that the run failed."""
    last = last_saved_node(repository, store, name)
    try:
        session = run_session(repository, store, name, wanted, last)
    except NodeattrsError as error:
        save_failed(repository, store, name, wanted, last, error)
        raise
    revision = store.save(session.saved, None if force else session.previous_number)
    return replace(session, place=store.describe(), revision=revision)
