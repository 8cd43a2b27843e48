"""Characters that a reader does not see, but a terminal obeys: C1 controls, and those that turn the direction of text.

Used by the writers of JSON, TOML and YAML. Escaped, they are the same value to a program that reads it.
"""

from __future__ import annotations

import re

_RANGES = ((0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x206F))

ESCAPES = {sign: f"\\u{sign:04x}" for first, last in _RANGES for sign in range(first, last + 1)}
"""What `str.translate` takes: each as a string in double quotes has it."""

HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]")
