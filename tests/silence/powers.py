"""What root may do that others may not: read a file whose permissions close it. Here it is given up for a while."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

_VERSION = 0x20080522
_OVERRIDE = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of capabilities(7)."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Powers(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def given_up() -> Iterator[None]:
    """While it lasts, permissions of files count for root, too. On other systems than Linux nothing happens."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        yield
        return
    system = ctypes.CDLL(None, use_errno=True)
    header, powers = _Header(_VERSION, 0), (_Powers * 2)()
    system.capget(ctypes.byref(header), powers)
    before = powers[0].effective
    try:
        powers[0].effective = before & ~_OVERRIDE
        system.capset(ctypes.byref(header), powers)
        yield
    finally:
        powers[0].effective = before
        system.capset(ctypes.byref(header), powers)
