"""The parser of the language, which lark makes from `grammar.lark`."""

from __future__ import annotations

import functools
import sys
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from nodeattrs.errors import missing_extra

__all__ = ["parser"]

_STARTS = ["bindings_file", "site_file", "items", "inject_call", "expression"]


@functools.cache
def parser() -> Any:
    """Lark's parser, an LALR one whose trees know their places.

    cost:   0.2 s the first time. lark keeps the tables in a file beside the bytecode, which is trusted as bytecode is
            and made again if it is damaged, from another grammar, or from another version of lark.
    raises: MissingExtra
    """
    try:
        import lark
    except ImportError:
        raise missing_extra("lark", "bindings", "reading the text language of bindings") from None
    tables = Path(cache_from_source(__file__)).with_suffix(".tables")
    return lark.Lark(
        files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=False,
        start=_STARTS,
        cache=False if sys.dont_write_bytecode or not tables.parent.is_dir() else str(tables),
    )
