"""The exit codes of all commands, and the rules for the code of a call that left something unread."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from nodeattrs.border import HINT, REASON, Border
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import ENCRYPTED, LAYER_IS_UNKNOWN, NOT_LITERAL, OUTSIDE

if TYPE_CHECKING:
    from nodeattrs.cli.terminal import Terminal

EXITS = {
    0: ("done", "the command did its work; a check found nothing"),
    1: ("failed", "it could not be done, and stderr says why; or a check found something, or a resource failed"),
    2: ("usage", "the command line is not understood"),
    3: ("no such key", "`lookup`: the key is not set"),
    4: ("wrong type", "`lookup`: the value is not of the --type"),
    5: (
        "unknown layer",
        "a layer that cannot be read may change the answer, or part of it is encrypted",
    ),
    130: ("interrupted", "Ctrl-C; of many nodes, what was done is reported and kept"),
    141: ("reader gone", "the reader of the output closed it: nodeattrs show web1 | head -1"),
}
"""Exit code -> its name, and what it means; docs/cli.md has the same."""

DONE, FAILED, NOT_UNDERSTOOD, NO_SUCH_KEY, WRONG_TYPE, UNKNOWN_LAYER, INTERRUPTED, READER_GONE = EXITS


_SETTINGS = "nodeattrs.toml"

_RUNS = ("run", "fleet", "store")
"""Commands that keep their exit codes, whatever was not read: their work is done."""


def final_code(code: int, options: argparse.Namespace, terminal: Terminal, border: Border | None) -> int:
    """Print warnings about sources that were not read; returns the exit code of the command.

    With such sources the codes 0, 3 and 4 become 5; other codes stay, and so do all codes of run, fleet and store. With
    --allow-unknown a 5 becomes 0. Sources that a warning has named already count, and are not printed again.
    border: the border of the command, which knows the refused files; None: no file was refused
    """
    from nodeattrs.core.unread import Unread, sentences

    terminal.note_unread(Unread(path, REASON) for path in (border.refused if border is not None else ()))
    whole = getattr(options, "unread", False)
    unnamed = [one for one in terminal.unread if not one.is_warned]
    inside = [one for one in unnamed if REASON not in one.reason and not one.is_encrypted]
    encrypted = [one for one in unnamed if one.is_encrypted]
    outside = [one for one in unnamed if REASON in one.reason]
    terminal.warn(sentences(inside, whole), LAYER_IS_UNKNOWN.entry)
    terminal.warn(sentences(encrypted, whole), ENCRYPTED.entry)
    terminal.warn(DocumentError(text, hint=HINT, kind=OUTSIDE) for text in sentences(outside, whole))
    if getattr(options, "allow_unknown", False):
        return DONE if code == UNKNOWN_LAYER else code
    may_change = terminal.unread and options.command not in _RUNS and code in (DONE, NO_SUCH_KEY, WRONG_TYPE)
    return UNKNOWN_LAYER if may_change else code


def failed(error: Exception, options: argparse.Namespace, terminal: Terminal, border: Border | None) -> int:
    """Print warnings about sources that were not read; returns the exit code of a command that ended with *error*.

    The code is 5 if a file beyond the border was refused, and the error is not in nodeattrs.toml. It is also 5 if the
    value of an expression is not known, since only literals are read. Otherwise the code is 1. It is always 1 for run,
    fleet and store, and with --allow-unknown.
    border: the border of the command, which knows the refused files; None: no file was refused
    """
    final_code(FAILED, options, terminal, border)
    is_of_settings = os.path.basename(getattr(error, "file", None) or "") == _SETTINGS
    was_refused = border is not None and border.refused and not is_of_settings
    is_unknown = was_refused or getattr(error, "kind", "") == NOT_LITERAL
    counts = getattr(options, "command", "") not in _RUNS and not getattr(options, "allow_unknown", False)
    return UNKNOWN_LAYER if is_unknown and counts else FAILED
