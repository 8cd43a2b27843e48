"""`nodeattrs check`: everything that is wrong, or probably not meant, in a repository."""

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
from nodeattrs.contract.command import Checked
from nodeattrs.errors import NodeattrsError

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.project.config import RepositorySettings
    from nodeattrs.reports.findings import Finding

_NAMED = 4

DESCRIPTION = """\
Read the settings, roles, environments, nodes, data bags, cookbooks and the files of all other dialects of a
repository, and say what cannot be read, names what is not there, or is probably not meant: what nothing
reads, what is always overridden, misspelt keys, values of two shapes. No code of the repository runs.
A finding is passed over by --ignore, by nodeattrs.toml, by a baseline, or by a comment on its line or alone on
the line before: `# nodeattrs: ignore[NA0303]`; for a whole file: `# nodeattrs: ignore-file[NA0303]`."""
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
    """Check the repository, correct what --fix asks for, and print the findings; returns the exit code."""
    from nodeattrs.dialects.chef.repository.repository import Repository

    repository = Repository(options.repo)
    with terminal.counting(what="file") as count:
        came = check_repository(repository, options.run_code, count)
    judge = repository.settings if came.is_sound else None
    mended = _mended(options, terminal, repository, came.warnings, judge) if options.fix or options.diff else ()
    found = [one for one in came.found if one not in mended]
    ways_on = [] if any(came.looked.values()) else [*_ways_on(options.repo)]
    return finish(options, terminal, Checked(found, came.looked, options.repo, ways_on), judge)


def _ways_on(folder: str) -> Iterator[str]:
    """What to do where there was nothing to look at."""
    from nodeattrs.dialects import every
    from nodeattrs.dialects.folders import repositories_below
    from nodeattrs.reports.screen import first_of

    below = [os.path.normpath(os.path.join(folder, one)) for one in repositories_below(pathlib.Path(folder))]
    if below:
        yield f"repositories lie in {first_of(below, _NAMED)}: name one"
    for dialect in every().values():
        yield from dialect.ways_on(pathlib.Path(folder))


class CheckResult(NamedTuple):
    """The result of `check_repository`.

    found:    all findings
    looked:   what was checked -> its number
    warnings: the warnings behind findings; --fix can correct some
    is_sound: whether the settings can be read
    """

    found: list[Finding]
    looked: dict[str, int]
    warnings: list[NodeattrsError]
    is_sound: bool


def check_repository(repository: Repository, run_code: bool, count: Callable[[str], object] = str) -> CheckResult:
    """Run every check on a repository: of nodes first, and then of other dialects.

    Without readable settings only the checks of nodes run. A check whose extra is not installed becomes a note.
    run_code: whether code of the repository may run
    count:    called with the name of each checked file, for a progress bar
    """
    from nodeattrs.dialects import every, foreign
    from nodeattrs.dialects.chef.checks.checking import NOTES, checked
    from nodeattrs.errors import MissingExtra
    from nodeattrs.kinds import NOT_RUN
    from nodeattrs.reports.findings import finding_of

    came = checked(repository, run_code)
    found = [finding_of(one, "note" if one.kind in NOTES else "warning") for one in came.warnings]
    found += [finding_of(one, "note" if one.kind in NOTES else "error") for one in came.faults]
    looked = dict(came.looked)
    found += [finding_of(one, "warning") for one in foreign().faults]
    for dialect in every().values() if came.settings_are_sound else ():
        try:
            for one in dialect.check(repository.root, count):
                looked[one.what] = one.total
                found += one.found
        except MissingExtra as error:
            error.kind = NOT_RUN
            found.append(finding_of(error, "note"))
    return CheckResult(found, looked, came.warnings, came.settings_are_sound)


def _mended(
    options: argparse.Namespace,
    terminal: Terminal,
    repository: Repository,
    found: list[NodeattrsError],
    judge: RepositorySettings | None,
) -> set[Finding]:
    """Show what can be mended, and with --fix mend it; which findings are gone then."""
    from nodeattrs.dialects.chef.checks.fixes import SAFE, apply, fixes
    from nodeattrs.reports.findings import finding_of

    selection, _ = selection_of(options, judge, options.repo)
    wanted = [one for one in found if one.kind in SAFE and selection.reported([finding_of(one, "warning")])[0]]
    made = fixes(repository.root, wanted)
    lines = [line for one in made for line in one.diff()]
    if options.format == "text":
        terminal.text("".join(f"{line}\n" for line in lines))
    else:
        terminal.remark(lines)
    if not options.fix:
        return set()
    apply(repository.root, made)
    files, count = len(made), sum(len(one.mended) for one in made)
    terminal.remark([f"{count} finding{'s' * (count != 1)} mended in {files} file{'s' * (files != 1)}"])
    return {finding_of(error, "warning") for one in made for error in one.mended}
