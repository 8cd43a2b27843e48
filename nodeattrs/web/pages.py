"""Each page: the questions it asks, and the data for its template. It knows questions, and no server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from nodeattrs.web.asking import CommandAnswer, ShownProject, answer
from nodeattrs.web.drawing import drawn
from nodeattrs.web.rendering import url

PAGE = 20
"""Nodes on one page."""

_FEW = 60
"""Nodes that are all asked; of more a page counts, or looks at some."""

_SOME = 10
_FIRST_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^.]*')
_FEW_VALUES = 300
"""Values of a subject that are all shown; of more those below one key are folded together."""

_NAMED = 300
"""Names that a form completes."""

_LONGEST = 2_000
"""Characters of an address that every server takes."""

_HAVING = {"role": "roles", "environment": "chef_environment"}
"""Kind -> the field of search that says who has one."""

_ATTRIBUTES = ("platform", "roles", "chef_environment")


class Page(NamedTuple):
    """A page to render.

    template: the file of its template
    data:     the variables of the template
    title:    the title of the page
    api:      the URL of the same data as JSON; "" for none
    error:    the error to show; None for none
    commit:   the commit of the repository, for links; None: the current one
    moved:    the URL to redirect to; "" shows the page itself
    """

    template: str
    data: Mapping[str, Any]
    title: str = ""
    api: str = ""
    error: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()
    commit: str | None = None
    moved: str = ""


Given = Mapping[str, str]


def failed(error: Mapping[str, Any], title: str = "") -> Page:
    """The page that shows an error."""
    return Page("error.html", {}, title or "Not found", error=error)


def _made(
    template: str, title: str, found: CommandAnswer, question: str, asked: Mapping[str, Any], **data: Any
) -> Page:
    """The page of one question."""
    values = {name: value for name, value in asked.items() if value}
    query = urlencode(values, doseq=True)
    api = f"/api/{question}?{query}".rstrip("?") if len(query) < _LONGEST else ""
    return Page(template, {"found": found.data, "given": values, **data}, title, api, found.error, found.warnings)


def nodes(site: ShownProject, given: Given) -> Page:
    """The page with saved nodes: all, those that the query `q` finds, or with `failed=1` those with a failed last
    run."""
    query, offset = given.get("q", "").strip() or "*:*", _number(given.get("offset"))
    status = answer(site, "status")
    rows = {one["name"]: one for one in (status.data or {}).get("nodes", ())}
    bad = [name for name, one in rows.items() if one["last"] is not None and not one["last"]["ok"]]
    only_bad = given.get("failed") == "1"
    asked: dict[str, Any] = {"query": query, "attribute": list(_ATTRIBUTES), "limit": str(PAGE), "offset": str(offset)}
    if only_bad:
        asked["node"] = bad or ["/"]  # no node is called so
    found = answer(site, "search", **asked) if status.error is None else status
    total = (found.data or {}).get("total", 0)
    return _made(
        "nodes.html", "Nodes", found, "search", asked, rows=rows, bad=len(bad), only_bad=only_bad, total=total,
        query="" if query == "*:*" else query, offset=offset, page=PAGE,
    )  # fmt: skip


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


def node(site: ShownProject, given: Given) -> Page:
    """The page with the attributes of a node, and marks where they differ from the revision before."""
    name, at = given["name"], given.get("at")
    found = answer(site, "show", node=name, at=at)
    revisions = _revisions(site, name)
    changed = _changed(site, name, found.data, revisions)
    made = _made("node.html", name, found, "show", {"node": name, "at": at}, changed=changed, at=at)
    return made._replace(commit=_commit(found.data, revisions))


def _revisions(site: ShownProject, name: str) -> list[Mapping[str, Any]]:
    revisions: list[Mapping[str, Any]] = (answer(site, "history", node=name).data or {}).get("revisions", [])
    return revisions


def _commit(shown: Mapping[str, Any] | None, revisions: Sequence[Mapping[str, Any]]) -> str | None:
    number = (shown or {}).get("revision")
    return next((one["repository"] for one in revisions if one["number"] == number), None)


def _changed(
    site: ShownProject, name: str, shown: Mapping[str, Any] | None, revisions: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The paths that differ from the revision before."""
    number = (shown or {}).get("revision")
    earlier = [one["number"] for one in revisions if number is not None and one["number"] < number]
    if not earlier:
        return []
    found = answer(site, "diff", before=f"{name}@{earlier[0]}", after=f"{name}@{number}").data or {"changes": ()}
    return [one["path"] for one in found["changes"]]


def why(site: ShownProject, given: Given) -> Page:
    """The page that explains one value by the fifteen slots; with `part` only the picture of the slots."""
    asked = {"node": given["name"], "path": given.get("path"), "at": given.get("at")}
    found = answer(site, "explain", **asked)
    template = "picture.html" if given.get("part") else "why.html"
    made = _made(template, f"{given.get('path', '')} on {given['name']}", found, "explain", asked)
    return made._replace(commit=_commit(found.data, _revisions(site, given["name"])))


def history(site: ShownProject, given: Given) -> Page:
    """The page with the revisions of a node."""
    asked = {"node": given["name"]}
    return _made("history.html", f"History of {given['name']}", answer(site, "history", **asked), "history", asked)


def catalog(site: ShownProject, given: Given) -> Page:
    """The page with a drawing of a node's catalog; with `first` and `then` also why one resource comes before the
    other."""
    name, first, then = given["name"], given.get("first"), given.get("then")
    asked = {"node": name}
    found = answer(site, "catalog-graph", **asked)
    reason = answer(site, "catalog-why", node=name, first=first, then=then) if first and then else None
    drawing = drawn(found.data) if found.data else None
    return _made("catalog.html", f"Catalog of {name}", found, "catalog-graph", asked, drawing=drawing, reason=reason,
                 first=first or "", then=then or "", name=name)  # fmt: skip


def diff(site: ShownProject, given: Given) -> Page:
    """The page that compares two nodes or revisions; a form, where `before` is not given."""
    asked = {"before": given.get("before"), "after": given.get("after"), "path": given.get("path")}
    if given.get("slots") == "1":
        asked["slots"] = "1"
    found = answer(site, "diff", **asked) if asked["before"] else CommandAnswer(None)
    return (
        _made("diff.html", "Compare", found, "diff", asked, sides=asked, names=_some_names(site))
        if asked["before"]
        else Page("diff.html", {"found": None, "given": {}, "sides": asked, "names": _some_names(site)}, "Compare")
    )


def _some_names(site: ShownProject) -> list[str]:
    """Names that can be compared: of saved nodes, or where there is no store of subjects."""
    if site.kept is None:
        return [name for _, names in _by_dialect(answer(site, "list", kind="subjects")) for name in names][:_NAMED]
    found = answer(site, "search", query="*:*", limit=str(_NAMED)).data or {"nodes": ()}
    return [one["name"] for one in found["nodes"]]


def attribute(site: ShownProject, given: Given) -> Page:
    """The page with the values of one path on all nodes, in groups; a form, where `path` is not given."""
    path, query = given.get("path", "").strip(), given.get("q", "").strip()
    if not path:
        return Page("attribute.html", {"found": None, "given": {}, "path": "", "query": query}, "One attribute")
    many = (answer(site, "search", query="*:*", limit="1").data or {"total": 0})["total"] > _FEW
    asked = {"path": path, "query": query, "count": "1" if many and given.get("all") != "1" else None}
    found = answer(site, "matrix", **asked)
    return _made("attribute.html", path, found, "matrix", asked, path=path, query=query)


def _names_page(kind: str) -> Callable[[ShownProject, Given], Page]:
    """A function that makes the page with the names of all roles or environments. kind: "role" or "environment" """

    def made(site: ShownProject, given: Given) -> Page:
        asked = {"kind": f"{kind}s"}
        return _made("things.html", f"{kind.title()}s", answer(site, "list", **asked), "list", asked, kind=kind)

    return made


def _named_page(kind: str) -> Callable[[ShownProject, Given], Page]:
    """A function that makes the page of one role or environment: its values, and the nodes that read them."""

    def made(site: ShownProject, given: Given) -> Page:
        name = given["name"]
        shown = answer(site, f"{kind}-show", name=name)
        made = _made("thing.html", f"{kind} {name}", shown, f"{kind}-show", {"name": name}, kind=kind, where=None)
        file = next((one["file"] for one in (shown.data or {}).get("origins", ()) if one["file"]), None)
        if file is None:
            return made
        limit = None if given.get("all") == "1" else str(_SOME)
        having = answer(site, "search", query=f"{_HAVING[kind]}:{name}", limit=limit).data or {"nodes": (), "total": 0}
        on = [one["name"] for one in having["nodes"]]
        found = answer(site, "where", file=file, dialect="nodes", on=on)
        left = having["total"] - len(on)
        faults = [found.error["message"]] if found.error else []
        data = {**made.data, "where": found.data, "left": left, "asked": len(on)}
        return made._replace(data=data, warnings=[*made.warnings, *faults])

    return made


def values(site: ShownProject, given: Given) -> Page:
    """The page that explains a key in every dialect of the repository; where `key` is not given, a form and the
    subjects."""
    key = given.get("key", "").strip()
    if not key:
        found = answer(site, "list", kind="subjects")
        data: Mapping[str, Any] = {"found": None, "given": {}, "key": "", "by": _by_dialect(found)}
        is_empty = found.error is not None and found.error["name"] == "NotFound"
        return Page("values.html", data, "One value", error=None if is_empty else found.error, warnings=found.warnings)
    asked = {"key": key, "dialect": given.get("dialect")}
    return _made("values.html", key, answer(site, "why", **asked), "why", asked, key=key)


def subjects(site: ShownProject, given: Given) -> Page:
    """All who can be asked, by dialect."""
    found = answer(site, "list", kind="subjects")
    return _made("subjects.html", "Subjects", found, "list", {"kind": "subjects"}, by=_by_dialect(found))


def _by_dialect(found: CommandAnswer) -> list[tuple[str, list[str]]]:
    """The names of subjects behind the name of their dialect."""
    names = (found.data or {"names": ()})["names"]
    some = groupby((one.partition(" ") for one in names), lambda one: one[0])
    return [(dialect, [name for _, _, name in pairs]) for dialect, pairs in some]


def subject(site: ShownProject, given: Given) -> Page:
    """The values of a subject, each with the line that set it."""
    asked = {"subject": given.get("on"), "dialect": given["dialect"]}
    title = given.get("on") or given["dialect"]
    found = answer(site, "blame", **asked)
    by = [_by_first_step(one["values"]) for one in (found.data or {"answers": ()})["answers"]]
    return _made("subject.html", title, found, "blame", asked, dialect=given["dialect"], by=by, few=_FEW_VALUES)


def _by_first_step(values: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Values behind the first step of their paths; those that follow each other stand together."""
    return [(step, [*some]) for step, some in groupby(values, _first_step)]


def _first_step(value: Mapping[str, Any]) -> str:
    """The first step of the path, as it is spelled."""
    found = _FIRST_STEP.match(value["path"])
    return found[0] if found else ""


def impact(site: ShownProject, given: Given) -> Page:
    """The page with the changes of values in a range of commits; a form, where `range` is not given."""
    change = given.get("range", "").strip()
    if not change:
        return Page("impact.html", {"found": None, "given": {}, "range": "", "by": []}, "Impact")
    found = answer(site, "impact", range=change)
    rows = sorted((found.data or {}).get("changes", ()), key=lambda one: (one["dialect"], one["subjects"], one["path"]))
    by = [(key, list(some)) for key, some in groupby(rows, lambda one: (one["dialect"], tuple(one["subjects"])))]
    return _made("impact.html", change, found, "impact", {"range": change}, range=change, by=by)


def where(site: ShownProject, given: Given) -> Page:
    """The page with what a file, or one line of it, sets and where that wins; a form, where `file` is not given."""
    file = given.get("file", "").strip()
    if not file:
        return Page("where.html", {"found": None, "given": {}, "file": ""}, "One file")
    asked = {"file": file, "dialect": given.get("dialect")}
    return _made("where.html", file, answer(site, "where", **asked), "where", asked, file=file)


def check(site: ShownProject, given: Given) -> Page:
    """The page with the findings of `check`, by file."""
    found = answer(site, "check")
    rows = sorted((found.data or {}).get("findings", ()), key=lambda one: (one["file"] or "", one["line"] or 0))
    by = [(file, list(some)) for file, some in groupby(rows, lambda one: one["file"] or "")]
    return _made("check.html", "Findings", found, "check", {}, by=by)


def start(site: ShownProject, given: Given) -> Page:
    """The first page: the saved nodes; where none is saved, a form for a key, and what can be asked about."""
    saved = answer(site, "search", query="*:*", limit="1").data or {"total": 0}
    return nodes(site, given) if saved["total"] else values(site, given)


PAGES: Mapping[str, Callable[[ShownProject, Given], Page]] = {
    "/": start,
    "/nodes": nodes,
    "/nodes/{name}": node,
    "/nodes/{name}/why": why,
    "/nodes/{name}/history": history,
    "/nodes/{name}/catalog": catalog,
    "/diff": diff,
    "/attribute": attribute,
    "/values": values,
    "/roles": _names_page("role"),
    "/roles/{name}": _named_page("role"),
    "/environments": _names_page("environment"),
    "/environments/{name}": _named_page("environment"),
    "/where": where,
    "/check": check,
    "/subjects": subjects,
    "/subjects/{dialect}": subject,
    "/impact": impact,
}

__all__ = ["PAGES", "Page", "failed", "url"]
