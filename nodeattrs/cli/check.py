"""`nodeattrs check`: the findings of every dialect in a repository, and their corrections."""

from __future__ import annotations

import argparse
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from nodeattrs.cli.checks import CHECKING, finish, selection_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import RUN_CODE
from nodeattrs.contract.command import CheckFindings
from nodeattrs.errors import MissingExtra, NodeattrsError
from nodeattrs.kinds import NOT_RUN
from nodeattrs.reports.screen import counted, first_of

if TYPE_CHECKING:
    from nodeattrs.contract.dialect import CheckedFiles
    from nodeattrs.project.config import RepositorySettings
    from nodeattrs.reports.findings import Finding

_NAMED = 4

DESCRIPTION = """\
Read a repository in all dialects, and report what cannot be read, what is missing, and what has no effect.
No code of the repository runs without --run-code. docs/check.md has each finding. A finding is passed over by
--ignore, by nodeattrs.toml, by a baseline, or by a comment on its line: `# nodeattrs: ignore[NA0303]`."""
EXAMPLES = """\
examples:
  nodeattrs check cookbooks_example
  nodeattrs check --ignore NA0305,repeated-key
  nodeattrs check --write-baseline && nodeattrs check --baseline nodeattrs-baseline.json
  nodeattrs check --format sarif > nodeattrs.sarif
  nodeattrs check --diff
  nodeattrs check --fix
"""


ARGUMENTS = (
    Argument(
        ("repo",),
        "the repository (default: the current directory)",
        {"metavar": "DIR", "nargs": "?", "default": argparse.SUPPRESS},
        choice="place",
    ),
    Argument(("--repo",), "the same, as other commands take it", {"metavar": "DIR", "default": "."}, choice="place"),
    Argument(
        ("--fix",),
        "take out what changes no value: duplicate keys, values equal to overridden ones",
        {"action": "store_true"},
        choice="fixing",
    ),
    Argument(("--diff",), "show what --fix would change, and write nothing", {"action": "store_true"}, choice="fixing"),
    *RUN_CODE,
    *CHECKING,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Check the repository, write corrections with --fix, and print the findings that are left; returns the exit code.

    Corrected findings are taken off the list; nothing is checked again. With --diff corrections are printed, and not
    written. Settings that cannot be read are findings; the check then runs without them.
    """
    from nodeattrs.project.config import RepositorySettings

    settings = RepositorySettings(options.repo)
    with terminal.counting(what="file") as count:
        result = check_folder(settings, count)
    readable = settings if result.has_readable_settings else None
    corrected = _corrected(options, terminal, settings, result, readable) if options.fix or options.diff else ()
    found = [one for one in result.found if one not in corrected]
    looked = {one.what: one.total for one in result.looked}
    ways_on = [] if any(looked.values()) else [*_ways_on(options.repo)]
    return finish(options, terminal, CheckFindings(found, looked, options.repo, ways_on), readable)


def _ways_on(folder: str) -> Iterator[str]:
    """Yield sentences that say what to do where the folder has no files to check."""
    from nodeattrs.dialects import all_dialects
    from nodeattrs.dialects.folders import repositories_below

    below = [os.path.normpath(os.path.join(folder, one)) for one in repositories_below(pathlib.Path(folder))]
    if below:
        yield f"repositories lie in {first_of(below, _NAMED)}: name one"
    for dialect in all_dialects().values():
        yield from dialect.ways_on(pathlib.Path(folder))


class CheckResult(NamedTuple):
    """The result of `check_folder`.

    found:  all findings, before any selection
    looked: for each sort of files that was checked, their number and findings
    has_readable_settings: False if the settings of the folder could not be read
    """

    found: list[Finding]
    looked: list[CheckedFiles]
    has_readable_settings: bool


def check_folder(settings: RepositorySettings, count: Callable[[str], object] = str) -> CheckResult:
    """Run the check of every dialect on the folder of the settings. Nothing is corrected.

    A dialect whose extra is not installed becomes a note. If the settings cannot be read, only the dialects run that
    report their faults. Code of the folder runs where `core.code.may_run` says so.
    count: called with the name of each checked file, for a progress bar
    """
    from nodeattrs.dialects import all_dialects, foreign
    from nodeattrs.reports.findings import finding_of

    try:
        is_readable = settings.config is not None
    except NodeattrsError:
        is_readable = False
    found = [finding_of(one, "warning") for one in foreign().faults]
    looked: list[CheckedFiles] = []
    for dialect in (one for one in all_dialects().values() if is_readable or one.checks_settings):
        try:
            for one in dialect.check(settings.root, count):
                looked.append(one)
                found += one.found
        except MissingExtra as error:
            error.kind = NOT_RUN
            found.append(finding_of(error, "note"))
    return CheckResult(found, looked, is_readable)


def _corrected(
    options: argparse.Namespace,
    terminal: Terminal,
    settings: RepositorySettings,
    result: CheckResult,
    readable: RepositorySettings | None,
) -> set[Finding]:
    """Print the corrections, and with --fix write them; returns the findings that are corrected then.

    readable: the settings, where they can be read; else None
    """
    from nodeattrs.contract.fixes import apply

    selection, _ = selection_of(options, readable, options.repo)
    wanted = {one for one in result.found if selection.reported([one])[0]}
    fixes = [fix for one in result.looked for fix in one.fixes(wanted)]
    lines = [line for one in fixes for line in one.diff()]
    if options.format == "text":
        terminal.text("".join(f"{line}\n" for line in lines))
    else:
        terminal.remark(lines)
    if not options.fix:
        return set()
    apply(settings.root, fixes)
    count = sum(len(one.mended) for one in fixes)
    terminal.remark([f"{counted(count, 'finding')} corrected in {counted(len(fixes), 'file')}"])
    return {finding for one in fixes for finding in one.mended}
