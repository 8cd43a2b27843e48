"""A store for several nodes that are run one after the other: what they leave is saved at once, in few transactions.

Nothing is saved before `settle` has returned, and of no node is that reported. It does not know what a run is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from nodeattrs.errors import NodeattrsError, StoreError
from nodeattrs.keep import Revision, Saved, Store


class Together:
    """A store whose saves wait. Whoever asks it for anything but another node finds them saved."""

    def __init__(self) -> None:
        self._store: Any = None
        self._waiting: dict[str, tuple[Saved, int | None]] = {}
        self._came: dict[str, Revision | NodeattrsError] = {}

    def over(self, store: Store) -> Any:
        """This, in the place of a store."""
        self._store = store
        return self

    def settle(self) -> None:
        """Save what waits."""
        waiting, self._waiting = self._waiting, {}
        if waiting:
            try:
                came = self._store.save_all([*waiting.values()])
            except StoreError as error:
                came = [error] * len(waiting)
            self._came |= dict(zip(waiting, came, strict=True))

    def came(self) -> dict[str, Revision | NodeattrsError]:
        """What came of the nodes that were saved since it was asked last."""
        came, self._came = self._came, {}
        return came

    def save(self, saved: Saved, after: int | None = None) -> None:
        """What is saved is known later."""
        self._waiting[saved.name] = saved, after

    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        if name in self._waiting:
            self.settle()
        found: Saved | None = self._store.load(name, at)
        return found

    def describe(self) -> str:
        return str(self._store.describe())

    def __getattr__(self, name: str) -> Any:
        self.settle()
        return getattr(self._store, name)
