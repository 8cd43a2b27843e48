"""The pages of the explorer. Each asks some questions, and gives the data for its template.

A page is a function of the project and the parameters of its address. If a question fails, the page shows the error;
nothing is raised. Parameters that are part of the path in `PAGES`, such as `name`, are always given; any other may be
missing. The module knows no server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from nodeattrs.web.asking import CommandAnswer, ShownProject, answer
from nodeattrs.web.drawing import drawn

_PAGE = 20
"""The number of nodes on one page."""

_FEW = 60
"""With more nodes, the page of an attribute shows counts only, until the reader asks for all."""

_SOME = 10
_FIRST_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^.]*')
_FEW_VALUES = 300
"""The most values of a subject that are all shown; of more, those below one key are folded."""

_NAMED = 300
"""The most names that a form completes."""

_LONGEST = 2_000
"""The most characters of an address that every server accepts."""

_HAVING = {"role": "roles", "environment": "chef_environment"}
"""Kind -> the field of search that finds the nodes with a role or environment."""

_ATTRIBUTES = ("platform", "roles", "chef_environment")


class Page(NamedTuple):
    """A page before it is rendered.

    template: the file of its template
    data:     the variables of the template
    title:    the title of the page
    api:      the URL of the same data as JSON; "" for none
    error:    the error to show; None for none
    warnings: sentences to show
    commit:   the commit of the repository that links lead to; None: the current one
    """

    template: str
    data: Mapping[str, Any]
    title: str = ""
    api: str = ""
    error: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()
    commit: str | None = None


Given = Mapping[str, str]
"""Parameter of an address -> its value."""


def failed(error: Mapping[str, Any], title: str = "") -> Page:
    """The page that shows an error. error: data with "code", "message", "hint" and "details" """
    return Page("error.html", {}, title or "Not found", error=error)


def _made(
    template: str, title: str, found: CommandAnswer, question: str, asked: Mapping[str, Any], **data: Any
) -> Page:
    """The page for the answer of one question, with a link to the same data. asked: the parameters of the question"""
    values = {name: value for name, value in asked.items() if value}
    query = urlencode(values, doseq=True)
    api = f"/api/{question}?{query}".rstrip("?") if len(query) < _LONGEST else ""
    return Page(template, {"found": found.data, "given": values, **data}, title, api, found.error, found.warnings)


def nodes(site: ShownProject, given: Given) -> Page:
    """The page with saved nodes, twenty at a time from `offset`, which is 0 unless it is a number.

    All nodes; with `q` those that the query finds; with `failed=1` those whose last run failed.
    """
    query, offset = given.get("q", "").strip() or "*:*", _number(given.get("offset"))
    status = answer(site, "status")
    rows = {one["name"]: one for one in (status.data or {}).get("nodes", ())}
    bad = [name for name, one in rows.items() if one["last"] is not None and not one["last"]["ok"]]
    only_bad = given.get("failed") == "1"
    asked: dict[str, Any] = {"query": query, "attribute": list(_ATTRIBUTES), "limit": str(_PAGE), "offset": str(offset)}
    if only_bad:
        asked["node"] = bad or ["/"]  # no node is called so
    found = answer(site, "search", **asked) if status.error is None else status
    total = (found.data or {}).get("total", 0)
    return _made(
        "nodes.html", "Nodes", found, "search", asked, rows=rows, bad=len(bad), only_bad=only_bad, total=total,
        query="" if query == "*:*" else query, offset=offset, page=_PAGE,
    )  # fmt: skip


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


def node(site: ShownProject, given: Given) -> Page:
    """The page with the attributes of a node, at the revision `at` or the last one.

    Attributes that differ from the revision before are marked; at the first revision none.
    """
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
    """The paths that differ from the revision before; [] for the first revision."""
    number = (shown or {}).get("revision")
    earlier = [one["number"] for one in revisions if number is not None and one["number"] < number]
    if not earlier:
        return []
    found = answer(site, "diff", before=f"{name}@{earlier[0]}", after=f"{name}@{number}").data or {"changes": ()}
    return [one["path"] for one in found["changes"]]


def why(site: ShownProject, given: Given) -> Page:
    """The page that explains the value at `path` of a node by its slots; without `path` it shows an error.

    The revision is `at`, or the last one. With `part` it is only the picture of the slots.
    """
    asked = {"node": given["name"], "path": given.get("path"), "at": given.get("at")}
    found = answer(site, "explain", **asked)
    template = "picture.html" if given.get("part") else "why.html"
    made = _made(template, f"{given.get('path', '')} on {given['name']}", found, "explain", asked)
    return made._replace(commit=_commit(found.data, _revisions(site, given["name"])))


def history(site: ShownProject, given: Given) -> Page:
    """The page with the revisions of a node; for an unknown node it shows an error."""
    asked = {"node": given["name"]}
    return _made("history.html", f"History of {given['name']}", answer(site, "history", **asked), "history", asked)


def catalog(site: ShownProject, given: Given) -> Page:
    """The page with a drawing of the catalog of a node; without a catalog it shows the error, and no drawing.

    With both `first` and `then`, which name resources, it also explains why *first* comes before *then*, or shows the
    error of that question. With only one of them it explains nothing.
    """
    name, first, then = given["name"], given.get("first"), given.get("then")
    asked = {"node": name}
    found = answer(site, "catalog-graph", **asked)
    reason = answer(site, "catalog-why", node=name, first=first, then=then) if first and then else None
    drawing = drawn(found.data) if found.data else None
    return _made("catalog.html", f"Catalog of {name}", found, "catalog-graph", asked, drawing=drawing, reason=reason,
                 first=first or "", then=then or "", name=name)  # fmt: skip


def diff(site: ShownProject, given: Given) -> Page:
    """The page that compares two nodes or revisions; without `before` a form.

    With `slots=1` slots are compared, too.
    """
    asked = {"before": given.get("before"), "after": given.get("after"), "path": given.get("path")}
    if given.get("slots") == "1":
        asked["slots"] = "1"
    names = _some_names(site)
    if not asked["before"]:
        return Page("diff.html", {"found": None, "given": {}, "sides": asked, "names": names}, "Compare")
    return _made("diff.html", "Compare", answer(site, "diff", **asked), "diff", asked, sides=asked, names=names)


def _some_names(site: ShownProject) -> list[str]:
    """At most 300 names for a form: of saved nodes; without a store, of subjects in the repository."""
    if site.kept is None:
        return [name for _, names in _by_dialect(answer(site, "list", kind="subjects")) for name in names][:_NAMED]
    found = answer(site, "search", query="*:*", limit=str(_NAMED)).data or {"nodes": ()}
    return [one["name"] for one in found["nodes"]]


def attribute(site: ShownProject, given: Given) -> Page:
    """The page with the values of one path on all nodes, in groups; without `path` a form.

    With `q` only the nodes that the query finds. If the store has more than sixty nodes, only counts are shown, unless
    `all=1`.
    """
    path, query = given.get("path", "").strip(), given.get("q", "").strip()
    if not path:
        return Page("attribute.html", {"found": None, "given": {}, "path": "", "query": query}, "One attribute")
    many = (answer(site, "search", query="*:*", limit="1").data or {"total": 0})["total"] > _FEW
    asked = {"path": path, "query": query, "count": "1" if many and given.get("all") != "1" else None}
    found = answer(site, "matrix", **asked)
    return _made("attribute.html", path, found, "matrix", asked, path=path, query=query)


def _names_page(kind: str, site: ShownProject, given: Given) -> Page:
    """The page with the names of all roles or environments. kind: "role" or "environment" """
    asked = {"kind": f"{kind}s"}
    return _made("things.html", f"{kind.title()}s", answer(site, "list", **asked), "list", asked, kind=kind)


def _named_page(kind: str, site: ShownProject, given: Given) -> Page:
    """The page of one role or environment: its values, and the nodes that read them, ten unless `all=1`.

    Without a file that sets its values, no nodes are listed. kind: as for `_names_page`
    """
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


def values(site: ShownProject, given: Given) -> Page:
    """The page that explains a key in every dialect of the repository; with `dialect` in this dialect alone.

    Without `key` it is a form with the names of the subjects; a repository without subjects is no error there.
    """
    key = given.get("key", "").strip()
    if not key:
        found = answer(site, "list", kind="subjects")
        data: Mapping[str, Any] = {"found": None, "given": {}, "key": "", "by": _by_dialect(found)}
        is_empty = found.error is not None and found.error["name"] == "NotFound"
        return Page("values.html", data, "One value", error=None if is_empty else found.error, warnings=found.warnings)
    asked = {"key": key, "dialect": given.get("dialect")}
    return _made("values.html", key, answer(site, "why", **asked), "why", asked, key=key)


def subjects(site: ShownProject, given: Given) -> Page:
    """The page with the names of the subjects of all dialects; without subjects it shows the error of `list`."""
    found = answer(site, "list", kind="subjects")
    return _made("subjects.html", "Subjects", found, "list", {"kind": "subjects"}, by=_by_dialect(found))


def _by_dialect(found: CommandAnswer) -> list[tuple[str, list[str]]]:
    """(dialect, names of its subjects) in the order of the list; [] where the command failed."""
    names = (found.data or {"names": ()})["names"]
    some = groupby((one.partition(" ") for one in names), lambda one: one[0])
    return [(dialect, [name for _, _, name in pairs]) for dialect, pairs in some]


def subject(site: ShownProject, given: Given) -> Page:
    """The page with the values of the subject `on`, each with the line that set it.

    Without `on`, of all subjects of the dialect.
    """
    asked = {"subject": given.get("on"), "dialect": given["dialect"]}
    title = given.get("on") or given["dialect"]
    found = answer(site, "blame", **asked)
    answers = (found.data or {"answers": ()})["answers"]
    by = [[(step, [*some]) for step, some in groupby(one["values"], _first_step)] for one in answers]
    return _made("subject.html", title, found, "blame", asked, dialect=given["dialect"], by=by, few=_FEW_VALUES)


def _first_step(value: Mapping[str, Any]) -> str:
    """The first step of a value's path, with its quotes."""
    found = _FIRST_STEP.match(value["path"])
    return found[0] if found else ""


def impact(site: ShownProject, given: Given) -> Page:
    """The page with the values that a range of commits changes, by dialect and subjects; without `range` a form."""
    change = given.get("range", "").strip()
    if not change:
        return Page("impact.html", {"found": None, "given": {}, "range": "", "by": []}, "Impact")
    found = answer(site, "impact", range=change)
    rows = sorted((found.data or {}).get("changes", ()), key=lambda one: (one["dialect"], one["subjects"], one["path"]))
    by = [(key, list(some)) for key, some in groupby(rows, lambda one: (one["dialect"], tuple(one["subjects"])))]
    return _made("impact.html", change, found, "impact", {"range": change}, range=change, by=by)


def where(site: ShownProject, given: Given) -> Page:
    """The page about a file or one line: the values that it sets, and the subjects that read them.

    Without `file` it is a form.
    """
    file = given.get("file", "").strip()
    if not file:
        return Page("where.html", {"found": None, "given": {}, "file": ""}, "One file")
    asked = {"file": file, "dialect": given.get("dialect")}
    return _made("where.html", file, answer(site, "where", **asked), "where", asked, file=file)


def check(site: ShownProject, given: Given) -> Page:
    """The page with the findings of `check`, sorted by file and line; those without a file come first."""
    found = answer(site, "check")
    rows = sorted((found.data or {}).get("findings", ()), key=lambda one: (one["file"] or "", one["line"] or 0))
    by = [(file, list(some)) for file, some in groupby(rows, lambda one: one["file"] or "")]
    return _made("check.html", "Findings", found, "check", {}, by=by)


def start(site: ShownProject, given: Given) -> Page:
    """The first page: the page of nodes, if nodes are saved; else the page of values."""
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
    "/roles": partial(_names_page, "role"),
    "/roles/{name}": partial(_named_page, "role"),
    "/environments": partial(_names_page, "environment"),
    "/environments/{name}": partial(_named_page, "environment"),
    "/where": where,
    "/check": check,
    "/subjects": subjects,
    "/subjects/{dialect}": subject,
    "/impact": impact,
}
