"""The command line: words in, words out. It decides nothing.

One file a command: it says which words it takes, asks the rooms below and hands a report
to the terminal. Rooms are entered when a command runs, so that `--help` is there at once.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code, as `cli.exits` has them.

    argv: the words after the program's name. Unless given, those of the process, which this is then all of: an
          interrupt while it starts or ends finishes it at once
    """
    try:
        if argv is not None:
            return _run(argv)
        from nodeattrs.cli.interrupts import at_once

        at_once()
        import gc

        sys.meta_path.insert(0, Sparing())
        if sys.version_info < (3, 12):  # where datetime makes all its classes in Python before it takes those of C
            sys.modules.setdefault("datetime", __import__("_datetime"))
        # What a command loads stays: to look through it again and again takes a tenth, and at the end another one.
        gc.set_threshold(100_000)
        code = _run(argv)
        gc.freeze()
        return code
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str] | None) -> int:
    from nodeattrs.cli.program import run

    return run(argv)


class Sparing:
    """Loads some libraries, each while something stands in for what it would load or make and few commands use.

    Together that is a sixth of a start. For a process that is ours alone: what stands in is there for all meanwhile.
    """

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """As those that find modules have it: where a library is, with a loader that spares something."""
        if name not in _SPARED:
            return None
        found = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((spec for spec in found if spec is not None), None)
        ours: Any = __spec__.loader
        loader: Any = spec and spec.loader
        if type(loader) is type(ours):  # which is the module's alone
            loader.exec_module = _sparing(loader.exec_module, *_SPARED[name]())
        return spec


def _sparing(load: Any, among: dict[str, Any], name: str, stand_in: Any) -> Any:
    def loaded(module: ModuleType) -> None:
        before = among.get(name)
        among[name] = stand_in
        try:
            load(module)
        finally:
            if before is None:
                del among[name]
            else:
                among[name] = before

    return loaded


def _expressions() -> tuple[dict[str, Any], str, Any]:
    """Where C does the work the pure modules' regular expressions are not needed: each is compiled at its first use."""
    import re

    from nodeattrs.lazily import regexp

    return vars(re), "compile", regexp


def _translations() -> tuple[dict[str, Any], str, Any]:
    """Beside ours argparse's own words stay English."""
    stand_in: Any = type(sys)("gettext")
    stand_in.gettext, stand_in.ngettext = str, lambda one, more, count: one if count == 1 else more
    return sys.modules, "gettext", stand_in


def _addresses() -> tuple[dict[str, Any], str, Any]:
    """A path is rarely made a URL; what makes one knows addresses of networks, too."""

    def quote_from_bytes(text: bytes) -> str:
        from urllib.parse import quote_from_bytes

        return quote_from_bytes(text)

    stand_in: Any = type(sys)("urllib.parse")
    stand_in.quote_from_bytes = quote_from_bytes
    return sys.modules, "urllib.parse", stand_in


def _words() -> tuple[dict[str, Any], str, Any]:
    """What the reader of TOML says of its types nobody asks."""
    from nodeattrs.records import NamedTuple

    class Kind:
        __class_getitem__ = classmethod(lambda cls, _: cls)

    stand_in: Any = type(sys)("typing")
    stand_in.NamedTuple, stand_in.__getattr__ = NamedTuple, lambda name: Kind
    return sys.modules, "typing", stand_in


_SPARED = {
    "yaml": _expressions,
    "tomllib": _expressions,
    "tomllib._parser": _words,
    "json.scanner": _expressions,
    "json.encoder": _expressions,
    "argparse": _translations,
    "pathlib": _addresses,
}
