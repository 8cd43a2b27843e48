"""How the last write came to its map, so that the next one beside it need not come there again.

A write walks down its slot and the view at once, and looks at each step who holds a view (docs/decisions/0004).
Programs set one key of a map after another, and may take all steps to it in one subscript. Nobody can have come to
hold a view in between who did not ask the ledger for it: what a write leaves to be found at once is no view. So the
next one finds map and view where they were.
"""

from __future__ import annotations

from nodeattrs.core.claim import Verb
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path
from nodeattrs.node.component_tree import ComponentTree
from nodeattrs.node.ledger import Way
from nodeattrs.node.values import TAKEN
from nodeattrs.node.view import MapView
from nodeattrs.typed import Any

_SET = Verb.SET
_PLAIN = TAKEN & SCALARS
_NO_CONTAINER = SCALARS | {Absent}


def put_beside(tree: ComponentTree, way: Way, path: Path, value: Any) -> bool:
    """Store a value of our own in the map into which the last write went; False where that takes more, or another way.

    The serial stays: maps and lists are where they were, and so are those who write to them.
    """
    serial, slot, _, held, file, answers = way
    ledger, key, kind = tree.ledger, path[-1], type(value)
    ledger.lock.acquire()  # as `with` does, in half the time
    try:
        if way is not ledger.way or serial != ledger.serial or slot != tree.slot or ledger.trees[slot].shared:
            return False
        standing = held.get(key, ABSENT)
        if type(standing) not in _NO_CONTAINER or (kind is dict and not ledger.early):
            return False
        if file is not ABSENT and type(file.get(key, ABSENT)) not in _NO_CONTAINER:
            return False
        mark = ledger.marks.here(len(path), _SET, 3) if ledger.provenance else 0  # its frame, ours, and a writer's
        if answers is not None:
            if type(answers.get(key)) is MapView:
                return False
            if standing is ABSENT:
                answers.order = None
            if kind in _PLAIN and answers.part is held:  # nobody else says anything there
                ledger[path] = answers[key] = value
                ledger.leaves.add(path)
            else:
                answers.pop(key, None)
                ledger.pop(path, None)
        if mark:
            origins = held.origins
            if standing is not ABSENT:
                ledger._remember(slot, path, ("overwritten", standing, origins.get(key, held.origin), mark))
            origins[key] = mark
        held[key] = value
        return True
    finally:
        ledger.lock.release()
