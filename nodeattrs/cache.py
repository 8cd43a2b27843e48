"""The cache of a process: values that are parsed or merged once, and used again for other nodes.

Hiera, bindings, Ansible, Puppet's facts, lines of values in Python, entry points of packages, and Chef's `kitchen.yml`
and files in Ruby use it. The key of a value has everything that decides the value, so no value becomes stale. A parsed
file has its content, or a hash of the content, as key, and an answer has its sources.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar, cast

_Value = TypeVar("_Value")


class Cache:
    """A cache of limited size that threads may share. If it is full, the entry that was used longest ago is dropped.

    most: the largest number of entries

    `get(key, make)` returns the entry of a key, and calls *make* to add it if it is missing. Entries are added in no
    other way. `len(cache)` is the number of entries, and `clear` drops all.

    >>> cache = Cache(most=2)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()  # a value that is dropped may use the cache while it is deleted

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """The value under a key. If the cache has none, *make* is called, and its value is stored; None is stored, too.

        make:   called without arguments, outside of the lock. It may use the cache itself. If several threads make a
                value at once, all get the value that is stored first
        raises: the errors of *make*; then nothing is stored
        """
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return cast(_Value, self._entries[key])
        value = make()
        with self._lock:
            value = self._entries.setdefault(key, value)
            while len(self._entries) > self.most:
                self._entries.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()


CACHE = Cache(most=8_192)
"""The one cache of this process."""
