"""Shared code of `run` and `fleet resolve`, which run many nodes: options, --export, and the command line to continue.

The command line to continue, after Ctrl-C or failures, has --since, which skips the nodes that succeeded.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.contract.command import Argument, Question
from nodeattrs.core.sensitive import without_password
from nodeattrs.errors import BadUsage
from nodeattrs.store import export_nodes, open_store
from nodeattrs.store.folders import make_folder

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def jobs_and_since(jobs: str = "", since: str = "") -> tuple[Argument, Argument]:
    """The options --jobs and --since. The arguments are words for their help, such as " of --all"."""
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
    """Make the folder of --export before any node runs; does nothing without --export.

    saves:  whether the command saves nodes
    raises: BadUsage, if *saves* is False; StoreError, if the folder cannot be made
    """
    folder = question.arguments["export"]
    if folder is None:
        return
    if not saves:
        raise BadUsage("--export writes nodes that were saved, and this command saves nothing")
    make_folder(folder)


def export_saved(question: Question, place: str, names: list[str]) -> None:
    """Write files of the named nodes to the folder of --export, and give `question.caller` their number.

    Without --export or without names, nothing is written.
    place: the store, as for `open_store`
    """
    folder = question.arguments["export"]
    if folder is None or not names:
        return
    done = export_nodes(open_store(place), folder, names)
    question.caller.remark([f"{done.written} file{'' if done.written == 1 else 's'} written to {folder}"])


def since_of(question: Question) -> datetime | None:
    """The time of --since; None without it. It also checks --jobs.

    raises: BadUsage, if --since is not a time, and for --jobs below 1
    """
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
    """Give `question.caller` the command line that runs the nodes that have not succeeded. Does nothing with --why-run.

    began:       the time of the start, for --since
    interrupted: True after Ctrl-C, False if all nodes ran and some failed; decides the words before the line
    """
    if question.arguments["why_run"]:
        return  # nothing was saved
    what = "interrupted; go on with" if interrupted else "to run only those again that failed"
    question.caller.remark([f"{what}:", f"  {this_command(question.arguments, began)}"])


def this_command(asked: Mapping[str, Any], began: str) -> str:
    """The command line of a call, with --since: its own, else *began*. Passwords in it are left out."""
    words = [without_password(word) for word in asked.get("words") or sys.argv[1:]]
    # An earlier --since stays, so the nodes of that call are skipped, too.
    return shlex.join(["nodeattrs", *words, *([] if asked["since"] else ["--since", began])])
