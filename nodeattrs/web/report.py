"""A report: the pages of some nodes in one HTML file, which loads nothing and runs only the script in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nodeattrs.web.rendering import SourceLinks, environment, page, static


class NodeData(NamedTuple):
    """The data of one node in a report.

    shown:    the data of `show --winners`
    history:  the data of `history`
    run_list: the items of the node's run-list
    explain:  a function (row of `shown`) -> the data of `explain`; it returns None for a row that needs no explanation
    changed:  spelled paths that differ from the revision before
    source:   makes links to lines of files
    """

    shown: Mapping[str, Any]
    history: Mapping[str, Any]
    run_list: Sequence[str]
    explain: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    changed: Sequence[str]
    source: SourceLinks


def report(nodes: Sequence[NodeData]) -> str:
    """The HTML of a report on some nodes, in their order, with the current time; without nodes it has no sections.

    raises: MissingExtra, without Jinja2
    """
    safe = environment().filters["safe"]
    style, script = static("style.css"), static("app.js")
    sections = (
        page("section.html", number=at, picture=_picture(one), **one._asdict()) for at, one in enumerate(nodes, 1)
    )
    return page(
        "report.html",
        SourceLinks(),
        nodes=nodes,
        sections=list(map(safe, sections)),
        made=datetime.now(UTC).isoformat(),
        style=safe(style),
        script=safe(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _picture(one: NodeData) -> Callable[[Mapping[str, Any]], str]:
    """A function from a row of a node to the picture of its slots; "" for a row without an explanation."""

    def picture(row: Mapping[str, Any]) -> str:
        explanation = one.explain(row)
        return "" if explanation is None else page("layers.html", one.source, found=explanation)

    return picture


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
