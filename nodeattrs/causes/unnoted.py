"""Find Python programs that may depend on more than the node: the time, random numbers, files, the network.

Only imports and names in the sources are looked at; nothing runs. Reasons are imports of modules that are not in a list
of harmless ones, functions such as `open`, attributes that begin with an underscore, `global`, `nonlocal` and `async`.
A program without a reason computes the same from the same attributes, so its results may be used for several nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from nodeattrs.causes.scopes import parsed

_KNOWN = frozenset(
    (
        *("__future__", "base64", "binascii", "bisect", "collections", "copy", "dataclasses", "decimal", "enum"),
        *("fractions", "functools", "hashlib", "heapq", "html", "ipaddress", "itertools", "json", "math", "operator"),
        *("re", "shlex", "string", "textwrap", "typing", "nodeattrs.recipe", "urllib.parse", "zlib"),
        *("nodeattrs.bindings.named", "nodeattrs.inject.named"),
    )
)
"""Modules whose functions give the same for the same arguments."""

_OPEN = frozenset(
    (
        *("__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "hash", "id"),
        *("input", "locals", "open", "setattr", "vars"),
    )
)
"""Names of functions that may read anything, or return another value each time."""


def unnoted(place: Path) -> str:
    """Why programs may depend on more than the attributes of their node, in words; "" without a reason.

    The words are "a.py uses time", or "a.py cannot be read" for a file that is missing, or that is no UTF-8 text.
    Text that is not Python gives no reason, since it cannot run. Nothing is raised. Each content is parsed once.

    place: a path that ends in .py is one program. Any other path is a folder; the programs below it are looked at in
           the order of their paths, up to the first reason. A folder that does not exist has no programs
    """
    for file in [place] if place.suffix == ".py" else sorted(place.rglob("*.py")):
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return f"{file.name} cannot be read"
        if (why := _why(text)) is not None:
            return f"{file.name} uses {why}"
    return ""


@lru_cache(maxsize=4096)
def _why(text: str) -> str | None:
    return next(_open(parsed(text)), None)  # a text that is not Python does not run, which is the same for all


def _open(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name not in _KNOWN)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or "."
            names = [f"{module}.{one.name}" for one in node.names]
            if node.level or not (module in _KNOWN or _KNOWN.issuperset(names)):
                yield module
        elif isinstance(node, ast.Name) and node.id in _OPEN:
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            yield node.attr
        elif isinstance(node, (ast.Global, ast.Nonlocal, ast.AsyncFunctionDef)):
            yield type(node).__name__.lower()
