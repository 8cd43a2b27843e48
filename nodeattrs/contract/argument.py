"""A positional word or an option of a command as data, for parsers, `--help`, completion and the pages of `man`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """A positional word or an option of a command. It is data: the command line makes a parser of it.

    names:    ("key",) for a positional word; ("--on",) or ("--format", "-F") for an option
    help:     one line; "" hides it from --help
    keywords: further arguments of `argparse.ArgumentParser.add_argument`
    group:    the title below which `--help` lists it; "" for none
    choice:   arguments of a command with an equal text here exclude each other. If the text ends in "!", one of them
              must be given. "": the argument excludes nothing
    name:     the key of its value in `Question.arguments`: "on" for "--on", unless *keywords* has a "dest"
    """

    names: tuple[str, ...]
    help: str
    keywords: Mapping[str, Any] = {}
    group: str = ""
    choice: str = ""

    @property
    def name(self) -> str:
        """The key in `Question.arguments`: "dest" of `keywords`, if it is there.

        Without it: the first long name, without "--" and with "_" for "-". Without a long name: the first name.
        """
        first = next((one for one in self.names if one.startswith("--")), self.names[0])
        return str(self.keywords.get("dest") or first.lstrip("-").replace("-", "_"))
