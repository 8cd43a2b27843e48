"""Reserve standard input and output for a protocol, so that no other code of the process reads or writes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A context manager that gives (standard input, standard output) as binary files, for a protocol alone.

    Within the block, other output of this process and its children goes to standard error, and other reads of standard
    input get nothing. Afterwards both are as before.
    """
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        with open(kept[0], "rb", closefd=False) as source, open(kept[1], "wb", closefd=False) as target:
            yield source, target
    finally:
        for fd, number in zip(kept, (0, 1), strict=True):
            os.dup2(fd, number)
            os.close(fd)
        os.close(nothing)
