"""Locks, and what each thread has of its own, without `threading`, which takes a millisecond of a start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes them for those of the standard library, which they are
    from threading import Lock, RLock, get_ident, local
else:
    from _thread import RLock, get_ident
    from _thread import _local as local
    from _thread import allocate_lock as Lock

__all__ = ["Lock", "RLock", "get_ident", "local"]
