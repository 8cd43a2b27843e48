"""`nodeattrs report`: saved nodes as one HTML file."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.contract.arguments import AT, BUDGET, SETTINGS_FROM, SOURCES, STORE, UNREAD
from nodeattrs.core.tree import Path
from nodeattrs.core.unread import sentences
from nodeattrs.dialects.common import sources_of, store_of
from nodeattrs.disk import write_whole
from nodeattrs.kinds import SAVED_NOTE
from nodeattrs.project.config import RepositorySettings
from nodeattrs.store import Store

if TYPE_CHECKING:
    from nodeattrs.web.rendering import SourceLinks
    from nodeattrs.web.report import NodeData

DESCRIPTION = """\
Write one file that a browser opens from disk: the tree of each node, every value with the slot and line that set it,
and behind it the fifteen slots: what was overridden, the rule, and the line of each list element. The file loads
nothing, and secrets are not in it. `[web] source_url` in nodeattrs.toml makes links of places."""
EXAMPLES = """\
examples:
  nodeattrs report web1 --output report.html
  nodeattrs report web1 web2 db1 --output report.html
  nodeattrs report web1 --at 3 --output before.html
"""


ARGUMENTS = (
    Argument(("nodes",), "the names of nodes", {"metavar": "NODE", "nargs": "+"}),
    Argument(("--output",), "where to write it, whole or not at all", {"metavar": "FILE", "required": True}),
    Argument(("--traceback",), "print the traceback of an error", {"action": "store_true"}),
    *SETTINGS_FROM,
    *STORE,
    *AT,
    *SOURCES,
    *UNREAD,
    *BUDGET,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Write one HTML file with the saved attributes of the named nodes, and note its size on stderr; returns 0.

    raises: NodeNotFound, and then no file is written; OSError
    """
    from nodeattrs.web.report import report

    store, sensitive = store_of(settings_of(options))
    pages = [_page(options, store, sensitive, name, terminal) for name in dict.fromkeys(options.nodes)]
    content = report(pages).encode("utf-8", "backslashreplace")
    write_whole(options.output, content)
    terminal.remark([f"{options.output}: {len(content) / 1e6:.2f} MB"])
    return 0


def _page(
    options: argparse.Namespace, store: Store, sensitive: Iterable[Path], name: str, terminal: Terminal
) -> NodeData:
    from nodeattrs.reports.attributes import shown_attributes
    from nodeattrs.reports.explain import explained
    from nodeattrs.reports.history import History
    from nodeattrs.reports.values import unread_at
    from nodeattrs.store.saved_nodes import load_saved_or_raise
    from nodeattrs.web.report import NodeData

    sources = sources_of(settings_of(options), options.sources)
    found = load_saved_or_raise(store, name, sensitive, revision_or_time(options.at), sources)
    terminal.warn(filter(None, [found.note]), SAVED_NOTE.entry)
    node, revision = found.node, found.saved.revision
    number = revision.number if revision else None

    def explain(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
        explanation = explained(node, tuple(row["steps"]), revision=number)
        trace = explanation.trace
        has_more = len(trace.claims) > 1 or trace.history or any(one.claim.causes for one in trace.claims)
        return explanation.to_dict() if has_more or len({one.ranks for one in trace.elements}) > 1 else None

    unread = unread_at(node, ())
    terminal.note_unread(unread)
    return NodeData(
        {**shown_attributes(node, revision=number).to_dict(), "notes": [*sentences(unread)]},
        History(name, store.history(name)).to_dict(),
        [str(item) for item in node.run_list],
        explain,
        _changed(store, sensitive, name, number),
        source_of(settings_of(options).repository).at(revision.noted.repository if revision else None),
    )


def source_of(repository: RepositorySettings | None) -> SourceLinks:
    """The links from places in files to the pages of `[web] source_url`; without this setting places have no links."""
    from nodeattrs.web.rendering import SourceLinks

    pattern = repository.config.source_url if repository else None
    return SourceLinks(pattern or "", str(repository.root.absolute()) if repository else "")


def _changed(store: Store, sensitive: Iterable[Path], name: str, number: int | None) -> list[str]:
    """The paths that differ from the revision before; [] where there is none."""
    from nodeattrs.reports.diff import Difference, DiffSide
    from nodeattrs.store.saved_nodes import load_saved_or_raise

    numbers = [one.number for one in store.history(name)]
    earlier = [one for one in numbers if number is not None and one < number]
    if not earlier:
        return []
    before, now = (
        DiffSide(str(at), load_saved_or_raise(store, name, sensitive, at).node) for at in (earlier[0], number)
    )
    return [one["path"] for one in Difference(before, now).to_dict()["changes"]]
