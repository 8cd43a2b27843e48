"""Render the templates of pages, with their filters and functions: values, links to sources, the picture of slots.

The data of commands is given. The module knows no server, so that `report` can render pages without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

from nodeattrs.errors import missing_extra
from nodeattrs.node.slot_names import SLOTS

_HERE = __name__.rpartition(".")[0]
_WITHHELD = {"$sensitive"}
_SIGNS = {"\t": "→", "\n": "↵"}
_LINKS = (
    "https://", "http://", "file:///", "vscode://file/", "vscodium://file/", "idea://open?", "subl://open?",
    "txmt://open?",
)  # fmt: skip
"""Allowed beginnings of links: a web page, or a file that an editor opens."""


def group_of(rank: int) -> str:
    """The colour group of a slot number: default, normal, override or automatic; "other" for another number."""
    if not 1 <= rank <= len(SLOTS):
        return "other"
    return SLOTS[rank - 1].level.removeprefix("force_")


def static(name: str) -> str:
    """The text of a file in static/, such as "style.css". raises: FileNotFoundError, for an unknown name"""
    return (files(_HERE) / "static" / name).read_text(encoding="utf-8")


@cache
def environment() -> Any:
    """The Jinja2 environment with the templates, filters and functions of pages; made once. It escapes all values.

    raises: MissingExtra, without Jinja2
    """
    try:
        import jinja2
    except ImportError as error:
        raise missing_extra("jinja2", "web", "a page") from error
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (files(_HERE) / "templates" / name).read_text(encoding="utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (bare, breaks, when, words)
    made.filters |= {"value": value_text, "kind": kind_of, "group": group_of} | {one.__name__: one for one in filters}
    made.globals |= {"layers": layers, "slots": SLOTS, "url": url, "several": _several_setters, "tree": _tree_html}
    return made


def page(template: str, source: SourceLinks, **data: Any) -> str:
    """The HTML of a template, a whole page or a part of one.

    source: makes links to lines of files
    data:   the other variables of the template
    raises: MissingExtra, without Jinja2
    """
    text: str = environment().get_template(template).render({**data, "source": source})
    return text


def url(*steps: object, **query: object) -> str:
    """A URL path of the explorer, with quoted steps; query parameters that are None or "" are left out.

    >>> url("nodes", "a/b", path="x.y")
    '/nodes/a%2Fb?path=x.y'
    """
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return "/" + "/".join(quote(str(step), safe="") for step in steps) + (f"?{urlencode(given)}" if given else "")


class SourceLinks:
    """Makes links to lines of files, by the setting `[web] source_url`. Without a pattern places are plain text.

    `link` gives the URL of a line, or "". `place` gives the HTML of an origin, with a link if there is one. `shown`
    gives the path of a file in the repository. `at` returns a copy for another commit.

    pattern: a URL with {file}, {line}, {root} and {commit}; "" for none
    root:    the folder of the repository; "" if files are relative already
    commit:  "" means HEAD

    >>> SourceLinks("https://forge.example/shop/blob/{commit}/{file}#L{line}", commit="4f1c").link("roles/web.json", 38)
    'https://forge.example/shop/blob/4f1c/roles/web.json#L38'
    """

    def __init__(self, pattern: str = "", root: str = "", commit: str = "") -> None:
        self._pattern = pattern
        self._known = {"root": root.rstrip("/"), "commit": commit or "HEAD"}

    def at(self, commit: str | None) -> SourceLinks:
        """A copy that links to another commit; None means HEAD."""
        return SourceLinks(self._pattern, self._known["root"], commit or "")

    def shown(self, file: str) -> str:
        """The path of a file relative to the repository; unchanged for a file outside."""
        return file.removeprefix(f"{self._known['root']}/") if self._known["root"] else file

    def link(self, file: str | None, line: int | None) -> str:
        """The URL of a line; of line 1 where *line* is None.

        "" without a file or a pattern, and for a file outside of the repository. Also "" for a URL that does not begin
        like the address of a web page or of a file for an editor.
        """
        file = self.shown(file) if file else None
        if not (self._pattern and file) or file.startswith("/") or ".." in file.split("/"):
            return ""
        known = {**self._known, "file": file, "line": str(line or 1)}
        link = re.sub(r"\{(root|commit|file|line)\}", lambda found: quote(known[found[1]], safe="/"), self._pattern)
        return link if link.lower().startswith(_LINKS) else ""

    def place(self, who: Mapping[str, Any]) -> Any:
        """The place of a value as HTML: "file:line", as a link where `link` returns one.

        Without a file: its kind and name.

        who: data of an origin, with "file", "line", "kind" and "name"
        """
        if not who["file"]:
            text = " ".join(filter(None, (who.get("kind"), who.get("name"))))
            return _safe(f'<span class="at">{escape(bare(text))}</span>')
        text = breaks(self.shown(who["file"]) + (f":{who['line']}" if who["line"] else ""))
        link = self.link(who["file"], who["line"])
        begin = f'<a class="at" href="{escape(link)}" rel="noreferrer">' if link else '<span class="at">'
        return _safe(f"{begin}{text}</{'a' if link else 'span'}>")


def _safe(text: str) -> Any:
    return environment().filters["safe"](text)


def kind_of(value: Any) -> str:
    """The CSS class of a value of JSON: "secret", "bool", "number", "text", "null", or "nested" for maps and lists.

    A secret is a map whose only key is `$sensitive`.
    """
    if isinstance(value, dict) and value.keys() == _WITHHELD:
        return "secret"
    names = {bool: "bool", int: "number", float: "number", str: "text", type(None): "null"}
    return names.get(type(value), "nested")


def value_text(value: Any) -> str:
    """A value as JSON on one line; "withheld" for the marker of a secret.

    >>> value_text({"$sensitive": "withheld"}), value_text([1, "a"])
    ('withheld', '[1, "a"]')
    """
    if kind_of(value) == "secret":
        return "withheld"
    return json.dumps(value, ensure_ascii=False)


def bare(text: Any) -> str:
    """*text* with escapes for signs that do not print, such as signs that change the direction of text."""
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(one if one.isprintable() else _SIGNS.get(one, f"\\u{ord(one):04x}") for one in shown)


def breaks(text: str) -> Any:
    """A path as HTML that may be wrapped after each slash, and nowhere else."""
    return _safe(escape(bare(text)).replace("/", "/<wbr>"))


def when(text: str | None) -> str:
    """An ISO time as "2030-01-31 12:00" in UTC; "" for None."""
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M") if text else ""


def words(name: str) -> str:
    """A name of data as words: "order_only" is "order only"."""
    return name.replace("_", " ")


def layers(explanation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the picture of slots, the strongest first.

    Each slot with claims has a row. Neighbouring slots of one group without claims share a row.

    A row has "group", "first" and "last" (the highest and the lowest slot number), "count", "slot" and "claims". In a
    row without claims "slot" is None and "claims" is [].

    explanation: the data of `explain`
    """
    claims: dict[int, list[Any]] = {}
    for claim in explanation["claims"]:
        claims.setdefault(claim["rank"], []).append(claim)

    def run_of(slot: Any) -> tuple[str, int]:
        return group_of(slot.number), slot.number if slot.number in claims else 0

    rows = []
    for (group, number), run in groupby(reversed(SLOTS), run_of):
        found = list(run)
        rows.append(
            {
                "group": group,
                "last": found[-1].number,
                "first": found[0].number,
                "count": len(found),
                "slot": found[0] if number else None,
                "claims": claims.get(number, []),
            }
        )
    return rows


def _several_setters(explanation: Mapping[str, Any]) -> bool:
    """Whether the elements of a list or map were set by more than one slot."""
    elements = explanation["elements"]
    return len({tuple(one["ranks"]) for one in elements}) > 1 or any(len(one["ranks"]) > 1 for one in elements)


def tree_rows(attributes: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a tree of attributes as {"depth", "key", "leaf"}; nothing without attributes.

    Each attribute is the "leaf" of a row. Before it comes a row for each map that contains it, with None as "leaf". A
    map that also contains the attribute before has its row already. The row of the path () has the key "(root)". The
    depth is the number of maps above, from 0; -1 for the path ().

    attributes: sorted by path; each has "steps"
    """
    above: list[Any] = []
    for leaf in attributes:
        steps = leaf["steps"]
        same = next((at for at, (one, other) in enumerate(zip(above, steps, strict=False)) if one != other), len(above))
        for depth in range(min(same, len(steps) - 1), len(steps) - 1):
            yield {"depth": depth, "key": steps[depth], "leaf": None}
        above = steps[:-1]
        yield {"depth": len(steps) - 1, "key": steps[-1] if steps else "(root)", "leaf": leaf}


_LONGEST = 160
_DEEPEST = 12


def _tree_html(
    attributes: Sequence[Mapping[str, Any]],
    source: SourceLinks,
    changed: Collection[str] = (),
    link: str = "",
    picture: Callable[[Mapping[str, Any]], str] | None = None,
) -> Any:
    """The HTML of an attribute tree, one element for each row of `tree_rows`.

    It is made in Python, since macros of Jinja2 take ten times as long for thousands of rows.

    attributes: the rows of `show --winners`
    changed:    spelled paths that are marked as changed
    link:       the URL of an explanation, to which the path is added; "" for no links
    picture:    a function from a row to HTML that is shown when the row is opened, "" for none; not used with *link*
    """
    rows, known = [], frozenset(changed)
    for row in tree_rows(attributes):
        deep, leaf = f"d{min(row['depth'], _DEEPEST)}", row["leaf"]
        if leaf is None:
            rows.append(f'<div class="branch {deep}" tabindex="0">{escape(bare(row["key"]))}</div>')
            continue
        path = escape(leaf["path"])
        marks = f"leaf{' over' * bool(leaf['overrides'])}{' chg' * (leaf['path'] in known)} {deep}"
        inside = picture(leaf) if picture else ""
        if link:
            of = escape(bare(leaf["path"]))
            more = f'<a class="more" href="{escape(link + quote(leaf["path"]))}">the fifteen slots of {of}</a>'
            inside = f'<p class="note">{more}</p>'
        shown = _cells(leaf, row["key"], source)
        rows.append(
            f'<details class="{marks}" data-p="{path}"><summary>{shown}</summary>{inside}</details>'
            if inside
            else f'<div class="{marks}" data-p="{path}" tabindex="0">{shown}</div>'
        )
    return _safe("\n".join(rows))


def _cells(leaf: Mapping[str, Any], key: Any, source: SourceLinks) -> str:
    """The HTML of one attribute: key, value, marks of its slots, the winning slot and the place."""
    rank, joins, lost = leaf["rank"], leaf["joins"], leaf["overrides"]
    text = bare(value_text(leaf["value"]))
    marks = [f'<i class="k{one} {group_of(one)} lost"></i>' for one in lost if one != rank and one not in joins]
    marks += [f'<i class="k{one} {group_of(one)}"></i>' for one in (rank, *joins)]
    titled = f"set by {', '.join(map(str, (rank, *joins)))}" + (
        f"; overridden {', '.join(map(str, lost))}" if lost else ""
    )
    slot = SLOTS[rank - 1].title if 0 < rank <= len(SLOTS) else leaf["kind"]
    return (
        f'<span class="key">{escape(bare(key))}</span>'
        f'<code class="v {kind_of(leaf["value"])}">{escape(text[:_LONGEST])}{"…" * (len(text) > _LONGEST)}</code>'
        f'<span class="strip" title="{titled}">{"".join(marks)}</span>'
        f'<span class="who"><b class="num {group_of(rank)}">{rank}</b> {escape(slot)}</span>{source.place(leaf)}'
    )
