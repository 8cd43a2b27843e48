"""Standard input and output: what the caller gives, and the streams of a process that serves a protocol."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from nodeattrs.core.budget import Budget
from nodeattrs.errors import DocumentError


def standard_input() -> bytes:
    """What standard input holds, up to the limit. raises: DocumentError; TooMuch"""
    budget = Budget("standard input")
    try:
        content: bytes = sys.stdin.buffer.read(budget.left("bytes") + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file="standard input") from error
    budget.bytes(len(content))
    return content


@contextmanager
def own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output for the protocol alone.

    While it lasts, whatever else this process or a program that it starts writes to standard output goes to
    standard error, and whoever reads standard input finds its end.
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
