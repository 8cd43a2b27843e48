"""`nodeattrs check`: everything that is wrong, or probably not meant, in a repository."""

from __future__ import annotations

import argparse

from nodeattrs.cli.checks import add_checking, finish
from nodeattrs.cli.options import add_run_code
from nodeattrs.cli.terminal import Terminal

SUMMARY = "find what is wrong, or probably not meant, in a repository"
DESCRIPTION = """\
Read the settings, roles, environments, nodes, data bags, cookbooks and Hiera data of a repository, and say
what cannot be read, names what is not there, or is probably not meant. No code of the repository runs.
A finding is passed over by --ignore, by nodeattrs.toml, by a baseline, or by a comment on its line or alone on
the line before: `# nodeattrs: ignore[NA0303]`; for a whole file: `# nodeattrs: ignore-file[NA0303]`."""
EXAMPLES = """\
examples:
  nodeattrs check --repo cookbooks_example
  nodeattrs check --ignore NA0305,repeated-key
  nodeattrs check --write-baseline && nodeattrs check --baseline nodeattrs-baseline.json
  nodeattrs check --format sarif > nodeattrs.sarif
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("--repo", metavar="DIR", default=".", help="the repository (default: the current directory)")
    add_run_code(parser)
    add_checking(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Look at all of it."""
    from nodeattrs.reports.findings import finding_of
    from nodeattrs.runs import Repository
    from nodeattrs.runs.checking import checked

    repository = Repository(options.repo)
    came = checked(repository, options.run_code)
    found = [finding_of(one, "note" if one.kind == "not-run" else "warning") for one in came.warnings]
    found += map(finding_of, came.faults)
    judge = repository if came.settings_are_sound else None
    return finish(options, terminal, found, came.looked, judge, options.repo)
