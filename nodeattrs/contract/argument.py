"""A word or an option as data: from it come parsers, `--help`, completion and the pages of `man`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """A word or an option of a command.

    names:    ("key",) for a word; ("--on",) or ("--format", "-F") for an option
    help:     one line; "" hides it from --help
    keywords: further arguments of `argparse.ArgumentParser.add_argument`
    group:    the title below which `--help` lists it; "" for none
    choice:   of the arguments with the same word here one at most may be given; "!" at its end: exactly one
    """

    names: tuple[str, ...]
    help: str
    keywords: Mapping[str, Any] = {}
    group: str = ""
    choice: str = ""

    @property
    def name(self) -> str:
        """The name in `Question.arguments`: the first long name, with _ for -, unless `keywords` have a "dest"."""
        first = next((one for one in self.names if one.startswith("--")), self.names[0])
        return str(self.keywords.get("dest") or first.lstrip("-").replace("-", "_"))
