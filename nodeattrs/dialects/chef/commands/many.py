"""What the commands share that run many nodes: their options, the export, and how to continue after Ctrl-C."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nodeattrs.contract.arguments import revision_or_time
from nodeattrs.contract.command import Argument, Question
from nodeattrs.errors import BadUsage
from nodeattrs.project.settings import without_password
from nodeattrs.store import export_nodes, open_store
from nodeattrs.store.folders import make_folder

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def going_on(jobs: str = "", since: str = "") -> tuple[Argument, Argument]:
    """How many at a time, and with which nodes to go on. The two texts say what is peculiar to a command."""
    return (
        Argument(
            ("--jobs",),
            f"how many processes{jobs} (default: one for each processor; none for a few nodes)",
            {"metavar": "N", "type": int},
        ),
        Argument(
            ("--since",),
            f"skip nodes{since} whose last run was good and at TIME (UTC) or later",
            {"metavar": "TIME"},
        ),
    )


NEW = Argument(("--new",), "save a node of --node whose name is not known", {"action": "store_true"})
EXPORT = Argument(
    ("--export",),
    "also write files of changed nodes to this folder",
    {"metavar": "DIR"},
)


def check_export(question: Question, *, saves: bool) -> None:
    """Refuse a bad --export before any node runs. raises: StoreError, where DIR cannot be a folder

    saves: whether the command saves nodes; without saving --export ends the program with exit code 2
    """
    folder = question.arguments["export"]
    if folder is None:
        return
    if not saves:
        raise BadUsage("--export writes nodes that were saved, and this command saves nothing")
    make_folder(folder)


def export_saved(question: Question, place: str, names: list[str]) -> None:
    """Write the files of the named nodes from the store at *place* to the folder of --export.

    Does nothing without --export, and without names.
    """
    folder = question.arguments["export"]
    if folder is None or not names:
        return
    done = export_nodes(open_store(place), folder, names)
    question.caller.remark([f"{done.written} file{'' if done.written == 1 else 's'} written to {folder}"])


def since_of(question: Question) -> datetime | None:
    """The time of --since; None without --since. Ends the program where --since is no time, or --jobs is less than
    1."""
    asked = question.arguments
    if asked["jobs"] is not None and asked["jobs"] < 1:
        raise BadUsage("--jobs is at least 1")
    since = revision_or_time(asked["since"])
    if isinstance(since, int):
        raise BadUsage("--since is a time")
    return since


def began_now() -> str:
    """The current time in the form that --since takes."""
    return f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def hint_to_resume(question: Question, began: str, *, interrupted: bool) -> None:
    """Print the command line that runs the nodes of a fleet that have not succeeded; nothing with --why-run.

    began:       the time of the start, for --since
    interrupted: chooses the words before the line
    """
    if question.arguments["why_run"]:
        return  # nothing was saved
    what = "interrupted; go on with" if interrupted else "to run only those again that failed"
    question.caller.remark([f"{what}:", f"  {this_command(question.arguments, began)}"])


def this_command(asked: Mapping[str, Any], began: str) -> str:
    """The command line of a call, with --since: the earlier time, else *began*. Passwords in it are left out."""
    words = [without_password(word) for word in asked.get("words") or sys.argv[1:]]
    # What an earlier part of the fleet has done is still to be skipped.
    return shlex.join(["nodeattrs", *words, *([] if asked["since"] else ["--since", began])])
