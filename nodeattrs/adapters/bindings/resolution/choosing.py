"""Who speaks for each key, by which rule one position stands above another, and what is odd about ids of multibinds."""

from __future__ import annotations

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.keys import Key, spelled_key
from nodeattrs.adapters.bindings.model.types import ANY
from nodeattrs.adapters.bindings.resolution.applying import Applied
from nodeattrs.adapters.bindings.resolution.declarations import (
    CLASS_IDS,
    Declaration,
    Position,
    Why,
    standing,
)
from nodeattrs.core.tree import near

__all__ = ["check_ids", "choose", "why_above"]


def choose(applied: Applied) -> None:
    """Pick the winner of each key, and find what is wrong with it."""
    resolution = applied.resolution
    for key, several in applied.declared.items():
        if not several:
            continue
        resolution.declared[key] = several
        winner = several[0] if len(several) == 1 else _best(applied, key, several)
        if winner is None:
            continue
        if (winner.abstract or winner.override) and not _may_speak(applied, key, winner, several):
            continue
        resolution.winners[key] = winner


def _best(applied: Applied, key: Key, several: list[Declaration]) -> Declaration | None:
    """The one of the best position; None where several are in conflict there."""
    several.sort(key=_position, reverse=True)
    _check_finals(applied, key, several)
    best = standing(several)
    if len(best) > 1:
        what = "demanded" if best[0].abstract else "bound"
        applied.fault(
            "conflict", f"{spelled_key(key)} is {what} {len(best)} times at one precedence", best,
            hint="bind it once more in a higher layer, or in a category of its own",
        )  # fmt: skip
        return None
    winner = best[0]
    if key[1].startswith("/var/"):
        winner.demands = tuple(one.type for one in several if one.abstract and one.type is not ANY)
    return winner


def _position(one: Declaration) -> Position:
    return one.position


def why_above(upper: Declaration, lower: Declaration) -> Why:
    """Why a better position is better.

    More categories win only where they begin as the fewer do: what is more ranks below all of those.
    """
    if upper.position[0] != lower.position[0]:
        return Why.LAYER
    above, below = upper.position[1], lower.position[1]
    lowest = below & -below
    return Why.CATEGORIES if below and above - below < lowest and above & below == below else Why.CATEGORY


def _check_finals(applied: Applied, key: Key, several: list[Declaration]) -> None:
    top = several[0]
    for one in several:
        if one.final and top.position[0] > one.position[0]:
            applied.fault("final-overridden", f"{spelled_key(key)} is final, and bound again above", [top, one])
            return


def _may_speak(applied: Applied, key: Key, winner: Declaration, several: list[Declaration]) -> bool:
    if winner.abstract:
        hint = applied.near_misses(key) or _unread(applied) or f"bind {spelled_key(key)} in a higher layer or category"
        applied.fault("abstract-not-overridden", f"{spelled_key(key)} must be bound", several, hint=hint)
    elif winner.override and several[-1].position == winner.position:
        message = f"{spelled_key(key)} overrides nothing"
        applied.fault("override-without-base", message, [winner], hint=applied.near_misses(key) or _unread(applied))
    return not winner.abstract


def _unread(applied: Applied) -> str | None:
    """The hint that it may be bound where nobody can look."""
    names = ", ".join(one.content.name for one in applied.resolution.unknown)
    return f"it may be bound in what cannot be read: {names}" if names else None


def check_ids(applied: Applied) -> None:
    """Warn of ids that nobody has, and of ids that several keys share."""
    warnings = applied.resolution.warnings
    for name, fragments in applied.resolution.fragments.items():
        if name not in applied.ids and name not in (*CLASS_IDS, "bindings_providers"):
            close = near(name, applied.ids)
            hint = f"; did you mean {', '.join(close)}?" if close else ""
            message = f"no multibind has the id {name!r}: the fragment is not used{hint}"
            warnings.extend(BindingError("unknown-id", message, origins=[one.origin]) for one in fragments)
    effective = {id(one.root) for one in applied.resolution.winners.values()}
    for name, several in applied.ids.items():
        keys = {one.key for one in several if id(one) in effective and one.key is not None}
        if len(keys) > 1:
            listed = " and ".join(sorted(map(spelled_key, keys)))
            message = f"the id {name!r} is shared by {listed}: both get its fragments"
            warnings.append(BindingError("shared-id", message, origins=[several[0].origin]))
