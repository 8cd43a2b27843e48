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
        import argparse
        import gc

        # Beside ours argparse's own words stay English: to look for a translation of each takes a twentieth of a start.
        argparse._ = str  # type: ignore[attr-defined]
        sys.meta_path.insert(0, LateExpressions("yaml"))
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


class LateExpressions:
    """Loads one library so that each of its regular expressions is compiled when it is first used.

    PyYAML's C loader needs none of the pure one's: they take half of what a bare interpreter does. For a process that
    is ours alone: `re.compile` is another one meanwhile.
    """

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """As those that find modules have it: where the library is, with a loader that compiles nothing."""
        if name != self._library:
            return None
        from importlib.machinery import SourceFileLoader
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):  # one of this module's own
            spec.loader.exec_module = _compiling_nothing(spec.loader.exec_module)  # type: ignore[method-assign]
        return spec


def _compiling_nothing(load: Any) -> Any:
    def loaded(module: ModuleType) -> None:
        import re

        from nodeattrs.lazily import regexp

        before = re.compile
        re.compile = regexp
        try:
            load(module)
        finally:
            re.compile = before

    return loaded
