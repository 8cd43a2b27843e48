"""What people do with kept nodes: go back, change a stored attribute, take nodes out and bring them in.

It knows stores and nodes, and no repository.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.errors import BadArgument, DocumentError, NodeattrsError, NodeNotFound
from nodeattrs.keep.filters import LEVELS, saved_document
from nodeattrs.keep.revisions import JsonMap, Noted, Revision, Saved, Store, checked_name, retried
from nodeattrs.keep.stores.pieces import written
from nodeattrs.node.node import Node
from nodeattrs.node.values import MARKER, Sensitive, Withheld

__all__ = [
    "exported",
    "import_nodes",
    "last_runs",
    "node_of",
    "remove_normal",
    "restore",
    "set_normal",
    "withheld_in",
    "withheld_of",
]


def node_of(saved: Saved, sensitive: Iterable[Path] = ()) -> Node:
    """The node as it was saved: from its snapshot, else from Chef's document.

    sensitive: paths whose values are never shown or stored
    raises:    DocumentError
    """
    if saved.snapshot is None:
        return Node.from_chef(saved.document, sensitive=sensitive)
    return Node.restore(saved.snapshot, sensitive=sensitive)


def withheld_in(saved: Saved) -> frozenset[Path]:
    """Where a saved node, or what was saved beside it, holds a marker in the place of a secret.

    raises: DocumentError
    """
    slots = node_of(saved).slots.values() if saved.snapshot is not None else ()
    trees = [*(slot.to_dict() for slot in slots), *(saved.document.get(level) for level in LEVELS)]
    return frozenset(path for tree in trees for path in _markers(tree, ()))


def _markers(tree: Any, path: Path) -> Iterator[Path]:
    if isinstance(tree, Withheld) or tree == MARKER:
        yield path
    elif isinstance(tree, dict | list):
        for step, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _markers(inner, (*path, step))


def withheld_of(store: Store, name: str) -> frozenset[Path]:
    """Where a node held a secret when it was last saved, and when it was last run, for who knows of no list.

    raises: DocumentError, where one of the two cannot be read
    """
    latest = store.load(name)
    if latest is None:
        return frozenset()
    paths = withheld_in(latest)
    if latest.revision is not None and not latest.noted.is_run:
        run = next((one for one in store.history(name) if one.noted.is_run), None)
        saved = store.load(name, run.number) if run else None
        paths |= withheld_in(saved) if saved else frozenset()
    return paths


def _any_element(path: Path) -> Path:
    """The path with "*" for each index: in another list the secret may stand elsewhere."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def restore(store: Store, name: str, at: int | datetime) -> Revision:
    """Make an older revision the latest again, as a new one.

    raises: NodeNotFound, where there is no such revision
    """
    old = store.load(name, at)
    if old is None:
        raise NodeNotFound(
            f"there is no revision {at} of the node {name} in {store.describe()}",
            hint=f"nodeattrs history {name} shows what there is",
        )
    return retried(store, name, lambda _: Saved(name, old.document, old.snapshot, noted=Noted(by="restore")))


def last_runs(store: Store) -> Iterator[tuple[str, Revision | None, Revision | None]]:
    """Each node by name: its latest revision, and the latest one that a run made.

    The two are one unless somebody has changed what is stored since. None stands for what is not known.
    """
    for name, latest in store.latest():
        run = latest
        if latest is not None and not latest.noted.is_run:
            run = None
            with contextlib.suppress(DocumentError):
                run = next((one for one in store.history(name) if one.noted.is_run), None)
        yield name, latest, run


def set_normal(store: Store, name: str, path: Path, value: Any, sensitive: Iterable[Path] = ()) -> Revision:
    """Store a normal attribute of a node, as `knife node` does. Maps on the way are made.

    sensitive: paths whose values are never stored; so are those at which the store holds a marker
    raises:    NodeNotFound; TypeConflict, where something that is no map stands in the way;
               BadArgument, where the value, or a part of it, is not to be stored
    """
    if not path:
        raise BadArgument("a normal attribute has a path", hint="nodeattrs node set NODE tier gold")

    sensitive = (*sensitive, *map(_any_element, withheld_of(store, name)))

    def change(node: Node) -> None:
        node.normal.write_strict(*path, value)
        if _has_secret(dig(node.normal.to_dict(), path)):
            raise BadArgument(
                f"{spell(path)} is sensitive, and what is sensitive is not stored",
                path=path,
                hint="let a cookbook fetch it in each run",
            )

    return _changed(store, name, "node set", change, sensitive)


def _has_secret(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_secret, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Sensitive)


def remove_normal(store: Store, name: str, path: Path, sensitive: Iterable[Path] = ()) -> Revision:
    """Remove a stored normal attribute.

    raises: NodeNotFound; BadArgument, where there is none at that path
    """

    def change(node: Node) -> None:
        if not path or dig(node.normal.to_dict(), path) is ABSENT:
            raise BadArgument(f"the node {name} has no normal attribute {spell(path)}", path=path)
        node.normal.unlink_strict(*path)

    return _changed(store, name, "node rm", change, sensitive)


def _changed(
    store: Store, name: str, command: str, change: Callable[[Node], None], sensitive: Iterable[Path]
) -> Revision:
    sensitive = tuple(sensitive)

    def changed(saved: Saved) -> Saved:
        node = node_of(saved, sensitive)
        with node.speaking("command", command, Origin("command", command)):
            change(node)
        # Filtered lists were filtered when the node was saved; nothing comes back here.
        return Saved(name, saved_document(node), node.snapshot(), noted=Noted(by=command))

    return retried(store, name, changed)


def exported(
    store: Store, names: Iterable[str], at: int | datetime | None = None, *, snapshots: bool = False
) -> Iterator[str]:
    """The nodes as JSON Lines: Chef's node JSON, or with *snapshots* all that is kept of them.

    raises: NodeNotFound
    """
    for name in names:
        saved = store.load(name, at)
        if saved is None:
            if at is None:
                raise NodeNotFound(f"there is no saved node {name} in {store.describe()}")
            continue  # it was not there yet
        told: JsonMap = saved.document
        if snapshots:
            told = {"document": saved.document, "snapshot": saved.snapshot, "noted": saved.noted.to_dict()}
        yield json.dumps(told, ensure_ascii=False) + "\n"


def import_nodes(
    store: Store,
    lines: Iterable[str],
    file: str,
    sensitive: Iterable[Path] = (),
    on_saved: Callable[[str], None] | None = None,
) -> list[str]:
    """Save the nodes of JSON Lines, or of one JSON document; the names, in their order.

    Everything is read, and understood, before the first one is saved. What is noted of a run comes along,
    but the revision is the import's: nothing ran at that time.

    sensitive: paths whose values are not stored: a marker takes their place, and that of what the store, or
               another part of the same node, has a marker for
    on_saved:  called with the name of each node that is saved
    raises:    DocumentError with file and line; as `Store.save`
    """
    nodes = list(_read(store, lines, file, tuple(sensitive)))
    for saved in nodes:
        store.save(replace(saved, noted=replace(saved.noted, by="import")))
        if on_saved is not None:
            on_saved(saved.name)
    return [saved.name for saved in nodes]


def _read(store: Store, lines: Iterable[str], file: str, sensitive: tuple[Path, ...]) -> Iterator[Saved]:
    for number, line in _documents(list(lines)):
        try:
            told = json.loads(line)
            if not isinstance(told, dict):
                raise DocumentError("a node is a map")
            if isinstance(told.get("document"), dict):
                noted = Noted.from_dict(told.get("noted") or {})
                saved = Saved(told["document"].get("name"), told["document"], told.get("snapshot"), noted=noted)
            else:
                saved = Saved(told.get("name", ""), told)
            node = node_of(saved)
            Node.from_chef(saved.document)
            # What a store would refuse is refused before anything is saved.
            written(saved.document, f"the document of the node {checked_name(saved.name, 'node')!r}")
            written(saved.snapshot, f"the snapshot of the node {saved.name!r}")
            written(saved.noted.to_dict(), f"what is noted of the node {saved.name!r}")
            if node.name != saved.name:
                raise DocumentError(f"the snapshot is of the node {node.name!r}, the document of {saved.name!r}")
            saved = _withheld(saved, (*sensitive, *withheld_in(saved), *_known_secrets(store, saved.name)))
        except NodeattrsError as error:
            raise DocumentError(error.message, file=file, line=number, hint=error.hint) from error
        except json.JSONDecodeError as error:
            raise DocumentError(
                f"this is no node: {error.msg}", file=file, line=number + error.lineno - 1, column=error.colno
            ) from None
        except (ValueError, TypeError, RecursionError) as error:
            raise DocumentError(f"this is no node: {error}", file=file, line=number) from None
        yield saved


def _known_secrets(store: Store, name: str) -> frozenset[Path]:
    with contextlib.suppress(DocumentError):  # an import may be what mends it
        return withheld_of(store, name)
    return frozenset()


def _withheld(saved: Saved, sensitive: tuple[Path, ...]) -> Saved:
    """*saved* with markers in the place of secrets; each part as it is where there was nothing to hide."""
    if not sensitive:
        return saved
    document, snapshot = saved.document, saved.snapshot
    shown, hidden = (saved_document(Node.from_chef(document, sensitive=paths)) for paths in ((), sensitive))
    document = document if shown == hidden else hidden
    if snapshot is not None:
        shown, hidden = (Node.restore(snapshot, sensitive=paths).snapshot() for paths in ((), sensitive))
        snapshot = snapshot if shown == hidden else hidden
    return replace(saved, document=document, snapshot=snapshot)


def _documents(lines: list[str]) -> Iterator[tuple[int, str]]:
    lines[:1] = [first.removeprefix("\ufeff") for first in lines[:1]]
    whole = "".join(lines)
    try:
        json.loads(whole)
    except (ValueError, RecursionError):
        yield from ((number, line.rstrip()) for number, line in enumerate(lines, 1) if line.strip())
    else:
        yield 1, whole  # one document, which may have lines of its own
