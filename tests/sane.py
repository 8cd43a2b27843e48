"""Every contradiction inside of a node: in its trees and history, and between its trees and its cached answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, strict_key
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.joined import plain
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import Joined
from nodeattrs.node.restoring import contradictions
from nodeattrs.node.slots import PLAN
from nodeattrs.node.values import steps_in
from nodeattrs.node.view import MapView
from tests.ledgers import cache_of, ledger_of, view_of


def contradictions_in(node: Attributes) -> list[str]:
    """A sentence for each; [] for a node that is sane."""
    return [*contradictions(ledger_of(node)), *_in_view(ledger_of(node))]


def _in_view(ledger: Ledger) -> Iterator[str]:
    view = view_of(ledger)
    for key, known in ledger.items():
        if type(key) is tuple:
            yield from _stale(ledger, {key: known}, ())
        elif view is None or cache_of(view).get(key) is not known:
            yield f"the node reads another answer at {key!r} than the view has"
    if view is not None:
        yield from _stale_view(ledger, view, ())


def _stale_view(ledger: Ledger, view: MapView, path: Path) -> Iterator[str]:
    yield from _stale(ledger, cache_of(view), path)
    if cache_of(view).order is not None and cache_of(view).order != tuple(plain(ledger.part_at(PLAN, path), False)):
        yield f"stale keys at {path}"


def _stale(ledger: Ledger, answers: dict[Any, Any], path: Path) -> Iterator[str]:
    for key, cached in answers.items():
        at = (*path, *steps_in(key))
        fresh = ledger.part_at(PLAN, at)
        if fresh is ABSENT:
            yield f"a cached answer for nothing at {at}"
            continue
        kept = cached.to_plain() if hasattr(cached, "to_plain") else cached
        now = plain(fresh, False)
        if strict_key(kept) != strict_key(now):
            yield f"a stale answer at {at}: {kept!r}, now {now!r}"
        if isinstance(cached, MapView):
            if not _same_maps(cache_of(cached).part, fresh):
                yield f"a cached view looks at other maps than the trees have at {at}"
            yield from _stale_view(ledger, cached, at)


def _same_maps(one: Any, two: Any) -> bool:
    if type(one) is Joined and type(two) is Joined:
        return len(one.members) == len(two.members) and all(map(_same_maps, one.members, two.members))
    return one is two
