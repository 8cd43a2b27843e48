"""Invisible characters that change what a terminal shows: C1 controls, and marks for the direction of text.

The writers of JSON, TOML and YAML escape them; a program that reads the text gets the same value.
"""

from __future__ import annotations

import re

_RANGES = ((0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x206F))

ESCAPES = {sign: f"\\u{sign:04x}" for first, last in _RANGES for sign in range(first, last + 1)}
"""For `str.translate`: code of a character -> its escape in a string in double quotes."""

HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]")
