"""Shared code of `impact` and `what-if`: their options, the comparison of both sides, and the output.

`asking` and `request_of` also serve other commands with options that choose subjects and facts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.cli.checks import FORM_NAMES
from nodeattrs.cli.exits import DONE, FAILED, INTERRUPTED, UNKNOWN_LAYER
from nodeattrs.cli.many import go_through
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import NO_SHARING, RUBY, output
from nodeattrs.contract.dialect import Dialect
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects import BUILT_IN
from nodeattrs.errors import NodeattrsError


def _place_of(dialect: Dialect) -> str:
    """The name of a dialect's option among the parsed ones."""
    return f"place_{dialect.name}"


_DIALECTS = ", ".join(one.name for one in BUILT_IN)
_MANY: dict[str, Any] = {"action": "append", "default": []}
_FLAG: dict[str, Any] = {"action": "store_true"}
_COUNT: dict[str, Any] = {"type": int, "metavar": "N"}
_SHORT = {"--inventory": ("-i",)}

_ASKED = "which nodes"
_WHO = (
    Argument(("--node",), "only this node; may be repeated", {"metavar": "NAME", **_MANY}, _ASKED),
    Argument(
        ("--facts",),
        "one file for all nodes, or a folder of NODE.json (default: facts/ of each side)",
        {"metavar": "PLACE"},
        _ASKED,
    ),
    Argument(
        ("--platform",),
        "facts of a platform for all, such as debian-12",
        {"metavar": "NAME"},
        _ASKED,
    ),
    Argument(
        ("--from-store",),
        "nodes start from their last run in this store",
        {"metavar": "PLACE"},
        _ASKED,
    ),
    Argument(
        ("--enc",),
        "output of an external node classifier, by node",
        {"metavar": "FILE"},
        _ASKED,
    ),
    Argument(("--environment", "-E"), "the environment of all nodes", {"metavar": "NAME"}, _ASKED),
    Argument(
        ("--dialect",),
        f"only this: {_DIALECTS}; repeatable",
        {"metavar": "NAME", **_MANY},
        _ASKED,
    ),
    *(
        Argument(
            (one.option.name, *_SHORT.get(one.option.name, ())),
            one.option.help,
            {"metavar": one.option.metavar, "dest": _place_of(one), **_MANY},
            _ASKED,
        )
        for one in BUILT_IN
        if one.option is not None
    ),
    Argument(("--sample",), "a fixed sample of N of each dialect", _COUNT, _ASKED),
)


def asking(without: Container[str] = ()) -> Iterator[Argument]:
    """Yield the arguments that choose subjects and their facts. without: options to leave out, such as "--sample" """
    return (one for one in _WHO if one.names[0] not in without)


CHANGING = (
    Argument(("--repo",), "the folder to ask (default: this one)", {"metavar": "DIR", "default": "."}),
    *asking(),
    Argument(("--no-run-code",), "run no code of the repository", _FLAG, "how"),
    Argument(("--roles-only",), "read no cookbook, only roles and environments", _FLAG, "how"),
    Argument(("--jobs",), "how many processes (default: as for a fleet)", _COUNT, "how"),
    NO_SHARING._replace(group="how"),
    Argument(
        ("--ignore-path",),
        "pass over changes there, such as 'apache2.**'",
        {"metavar": "PATH", **_MANY},
        "what fails the check",
    ),
    Argument(
        ("--forbid",), "exit code 1 if anything changes there", {"metavar": "PATH", **_MANY}, "what fails the check"
    ),
    Argument(("--max-nodes",), "exit code 1 if more than N nodes change", _COUNT, "what fails the check"),
    Argument(("--exit-code",), "exit code 1 if anything changes at all", _FLAG, "what fails the check"),
    *RUBY,
    *output(also=("markdown", *FORM_NAMES)),
)
"""The arguments of `impact` and `what-if`."""


def request_of(options: argparse.Namespace, home: str, run_code: bool | None = None) -> Request:
    """The Request that the options describe: subjects, facts, places and code. The facts of a platform are looked up.

    Options that exclude each other, and numbers below 1, end the program with exit code 2.
    home:     the folder of the repository
    run_code: whether code of the repository runs; None: as --no-run-code says
    """
    for name in ("sample", "jobs"):
        if getattr(options, name, None) is not None and getattr(options, name) < 1:
            options.refuse(f"--{name} is at least 1")
    if options.facts is not None and options.platform is not None:
        options.refuse("--facts and --platform are two ways to name facts")
    return Request(
        home,
        tuple(options.node),
        _facts(options),
        options.from_store or "",
        options.enc or "",
        options.environment or "",
        tuple((one.name, place) for one in BUILT_IN for place in getattr(options, _place_of(one), ())),
        not options.no_run_code if run_code is None else run_code,
        options.ruby,
        getattr(options, "roles_only", False),
    )


def _facts(options: argparse.Namespace) -> str:
    """The place of the facts: of --facts, or the file of --platform; "" without both. raises: NotFound"""
    if options.platform is None:
        return options.facts or ""
    return str(next(filter(None, (one.platform(options.platform) for one in BUILT_IN)), ""))


def _sensitive(side: Side) -> tuple[TreePath, ...]:
    """The sensitive paths in the settings of a side; () where these cannot be read."""
    from nodeattrs.project.config import RepositorySettings

    with suppress(NodeattrsError):  # settings that cannot be read are reported when they are asked
        return RepositorySettings(side.root).config.sensitive
    return ()


def answer(options: argparse.Namespace, terminal: Terminal, sides: Callable[[Path], tuple[Side, Side, Request]]) -> int:
    """Compare the subjects of two sides, print the differences, and return the exit code.

    The code is 130 after Ctrl-C, 1 for a refused change, and 5 if unread places may matter. With --exit-code it is 1
    for any change. Otherwise it is 0.
    sides:  called with a private folder, it returns (side before, side after, request for both). The folder is removed
            at the end
    raises: the errors of `verbs.impact.impact`
    """
    from nodeattrs.contract.written_sides import private_folder
    from nodeattrs.reports.finding_forms import FORMS
    from nodeattrs.reports.selection import Findings
    from nodeattrs.verbs.impact import ImpactOptions, impact
    from nodeattrs.verbs.impact_report import ImpactReport, Pattern

    through = partial(go_through, terminal, jobs=options.jobs)
    with private_folder() as private:
        before, after, request = sides(private)
        how = ImpactOptions(private, options.dialect, options.sample, not options.no_sharing, options.jobs, through)
        with border.narrowed(before.top, after.top, private, *(options.allow_path or ())):
            request = request._replace(sensitive=(*_sensitive(before), *_sensitive(after)))
            found = impact(before, after, request, how)
            found.unread = border.refused()
    ignored = list(map(Pattern, options.ignore_path))
    left = [one for one in found.groups if not any(pattern.fits(one.path) for pattern in ignored)]
    passed, found = len(found.groups) - len(left), replace(found, groups=left)
    report = ImpactReport(found, passed, [*map(Pattern, options.forbid)], options.max_nodes)
    if options.format in FORM_NAMES:
        looked = {one.dialect: one.known for one in found.dialects}
        terminal.text(FORMS[options.format](Findings([*report.findings()], looked), VERSION))
    elif options.format == "markdown":
        terminal.text(report.markdown())
    else:
        terminal.report(report, ())
    if found.left:
        return INTERRUPTED
    if report.is_refused:
        return FAILED
    if not found.is_certain and not options.allow_unknown:
        return UNKNOWN_LAYER
    return FAILED if options.exit_code and found.subjects else DONE
