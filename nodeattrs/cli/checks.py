"""Shared code of all commands that check: the selection of findings, the baseline, and the output.

A *baseline* is a file with known findings, which do not count. This module makes no finding itself.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.cli.exits import DONE, FAILED, UNKNOWN_LAYER
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import output
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports.screen import counted

if TYPE_CHECKING:
    from nodeattrs.contract.command import CheckFindings
    from nodeattrs.project.config import RepositorySettings
    from nodeattrs.reports.findings import Finding
    from nodeattrs.reports.selection import Selection

FORM_NAMES = ("sarif", "github", "gitlab", "junit")
"""The formats of findings beside text and JSON; `reports.finding_forms.FORMS` writes them."""
_BASELINE = "nodeattrs-baseline.json"


_MANY: dict[str, Any] = {"metavar": "CODE", "action": "append", "default": []}
_HOW_BAD: dict[str, Any] = {"choices": ("error", "warning", "note"), "default": "warning"}
CHECKING = (
    Argument(("--select",), "count only this code, its beginning, or a name", _MANY, "findings"),
    Argument(("--ignore",), "pass over it; both are repeatable", _MANY, "findings"),
    Argument(("--baseline",), "pass over the findings of this file", {"metavar": "FILE"}, "findings"),
    Argument(
        ("--write-baseline",),
        "write today's findings to the file of --baseline",
        {"action": "store_true"},
        "findings",
    ),
    Argument(("--fail-on",), "what gives exit code 1 (default: warning)", _HOW_BAD, "findings"),
    *output(also=FORM_NAMES),
)
"""The arguments of every check: the findings that count, and the form of the output."""


def selection_of(
    options: argparse.Namespace, repository: RepositorySettings | None, root: str
) -> tuple[Selection, str | None]:
    """Returns (selection of findings from options and settings, file of the baseline or None). Reads the baseline.

    --select replaces the codes of the settings, --ignore adds to them. With --write-baseline the old one is not read.
    repository: the settings; None for the options alone
    root:       the folder that the files of findings are relative to
    raises:     BadUsage, for an unknown code; DocumentError, for a file that is no baseline
    """
    from nodeattrs.project.config import Config, listed_codes
    from nodeattrs.reports.selection import Selection

    settings = repository.config if repository else Config()
    place = options.baseline
    if place is None and repository and settings.check_baseline:
        place = os.path.relpath(repository.root / settings.check_baseline)
    select = listed_codes("select", options.select) or settings.check_select
    ignore = [*listed_codes("ignore", options.ignore), *settings.check_ignore]
    known = _known(place) if place and not options.write_baseline else {}
    return Selection(select, ignore, known, root), place


def finish(
    options: argparse.Namespace, terminal: Terminal, checked: CheckFindings, repository: RepositorySettings | None
) -> int:
    """Print the selected findings of a check, or write them as a baseline; returns the exit code.

    The code is 0 if a baseline is written. It is 1 if a finding counts, or if there was nothing to check and no file
    was left unread. Otherwise it is 5 if a file was not read, and 0 if every file was read.
    repository: the repository whose settings count, too; None for the options alone
    raises:     BadUsage, for an unknown code; DocumentError, for a file that is no baseline
    """
    from nodeattrs.reports.selection import Findings

    selection, place = selection_of(options, repository, checked.root)
    selected, passed_over = selection.reported(map(_as_unread, checked.found))
    if options.write_baseline:
        return _write(place or _BASELINE, selected, terminal)
    findings = Findings(selected, dict(checked.looked), passed_over, options.fail_on)
    if options.format in FORM_NAMES:
        from nodeattrs.reports.finding_forms import FORMS

        terminal.text(FORMS[options.format](findings, VERSION))
    else:
        terminal.report(findings, ())
    if checked.looked and not any(checked.looked.values()) and not findings.unread:
        terminal.remark(["there was nothing to look at", *checked.ways_on])
        return FAILED
    if not findings.is_clean:
        return FAILED
    return UNKNOWN_LAYER if findings.unread else DONE


def _as_unread(found: Finding) -> Finding:
    """A finding about a file that nodeattrs refused to read, as a note that it was not looked at."""
    is_refused = border.REASON in found.message
    return found._replace(code=LAYER_IS_UNKNOWN.entry.code, severity="note") if is_refused else found


def _write(place: str, found: list[Finding], terminal: Terminal) -> int:
    from nodeattrs.disk import write_whole
    from nodeattrs.reports.selection import baseline_data

    text = json.dumps(baseline_data(found), indent=2, ensure_ascii=False) + "\n"
    write_whole(place, text.encode("utf-8", "backslashreplace"))
    terminal.remark([f"{counted(len(found), 'finding')} written to {place}"])
    return DONE


def _known(place: str) -> dict[str, int]:
    """Fingerprint -> the number of such findings in a baseline. raises: DocumentError"""
    from nodeattrs.formats.documents import read

    document = read(pathlib.Path(place))
    try:
        rows = document.tree["findings"]
        return {str(row["fingerprint"]): int(row["count"]) for row in rows}
    except (TypeError, KeyError, ValueError) as error:
        raise document.error("this is no baseline", hint="write one with --write-baseline") from error
