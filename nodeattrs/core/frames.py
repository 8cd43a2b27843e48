"""The stack frames of callers: the line that sets a value is the line of such a frame.

Only this module uses `sys._getframe`, which CPython documents although its name is private. Every write of an attribute
needs it. `inspect.currentframe` does the same at a greater cost.
"""

from __future__ import annotations

import sys
from types import FrameType

__all__ = ["frame_above", "frame_outside"]

frame_above = sys._getframe
"""The frame of the function that calls this (0), of its caller (1), and so on. raises: ValueError, beyond the last"""


def frame_outside(file: str, start: FrameType) -> FrameType:
    """The first frame, from *start* outwards, whose code is not in *file*. If all are in it, the outermost frame."""
    frame = start
    while frame.f_code.co_filename == file and frame.f_back is not None:
        frame = frame.f_back
    return frame
