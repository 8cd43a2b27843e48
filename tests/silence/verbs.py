"""The questions that a case is asked, and what of each answer has to be the same.

A verb is a line of words; `{key}`, `{subject}`, `{file}` and `{files}` stand for what the case has. Of each command a
function takes the values from its JSON: what the readable trees have to give as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.silence.case import Case, Files

EDITED = 55
"""The value that the edit of a readable file gives the key."""

EVERYWHERE = (
    "why {key} {on} --dialect {dialect}",
    "blame {subject} --dialect {dialect}",
    "where --key {key} --dialect {dialect}",
    "impact . ../edited --exit-code --dialect {dialect} --jobs 1",
    "what-if --set {key}=55 --exit-code --dialect {dialect} --jobs 1",
    "what-if --without {file} --exit-code --dialect {dialect} --jobs 1",
    "check",
)

OWN: Mapping[str, tuple[str, ...]] = {
    "folds": ("fold --name {subject}", "fold --name {subject} --explain {key}", "fold --name {subject} --blame"),
    "hiera": (
        "hiera lookup {key} --hiera . {node}",
        "hiera explain {key} --hiera . {node}",
        "hiera list --hiera . {node}",
        "hiera matrix {key} --hiera . {node}",
        "hiera lookup {key} --merge unique --hiera . {node}",
        "hiera who-has {key} --hiera .",
        "hiera unused --hiera . {node}",
    ),
    "nodes": (
        "explain {subject} {key} --repo .",
        "matrix {key} --repo . --facts facts",
        "run --node {subject} ; show {subject} {key}",
        "run --node {subject} ; explain {subject} {key}",
        "run --node {subject} ; matrix {key}",
        "run --node {subject} ; search {key}:*",
    ),
    "ansible": (
        "ansible vars {subject} {options}",
        "ansible vars {subject} --render {options}",
        "ansible explain {subject} {key} {options}",
        "ansible explain {subject} {key} --render {options}",
        "ansible matrix {key}",
        "ansible who-has {key}",
        "ansible diff {subject} db1",
    ),
    "cloud-init": (
        "cloud-config merge {files}",
        "cloud-config explain {files} --path {key}",
        "cloud-config check {files}",
    ),
    "bindings": (
        "bindings explain {key} --site . {options}",
        "bindings inject {key} --site . {options}",
        "bindings matrix {key} --site . {options}",
        "bindings list --site . {options}",
        "bindings check --site . {options}",
    ),
}
"""Further questions of a dialect; what stands before `;` is asked first, and its answer does not count."""

ONE_KEY = ("why", "where", "impact", "lookup", "explain", "matrix", "inject", "show")
"""Words of the questions about one key: where the place cannot set it, most of the answers have to be certain."""


def lines_of(case: Case) -> list[str]:
    """All questions of a case."""
    lines = [one for one in (*EVERYWHERE, *OWN[case.dialect]) if "{file}" not in one or edited_file(case)]
    return [one for one in lines if not case.only or one.startswith(case.only)]


def words_of(line: str, case: Case) -> list[list[str]]:
    """The commands of a question, in their order."""
    given = {
        "key": case.key,
        "subject": case.subject,
        "dialect": case.dialect,
        "on": f"--on={case.subject}" if case.subject else "",
        "node": f"--node {case.subject} --facts facts" if case.subject else "",
        "options": case.options,
        "file": edited_file(case),
        "files": " ".join(sorted(one for one in case.hidden if one.endswith(".yaml"))),
    }
    return [part.format(**given).split() for part in line.split(";")]


def edited_file(case: Case) -> str:
    """A readable file that sets the key, and is the same in all trees; "" for none."""
    same = (file for file, text in case.hidden.items() if all(one.get(file) == text for one in case.shown))
    return next((file for file in sorted(same) if _edited(case.hidden[file], case.key) is not None), "")


def edited(files: Files, case: Case) -> Files:
    """A tree in which one readable file gives the key another value."""
    file = edited_file(case)
    return {**files, file: _edited(files[file], case.key) or ""} if file else files


def _edited(text: str, key: str) -> str | None:
    """A file in which *key* has another value; None where it does not set the key in the usual way."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        for start, end in ((f"{key}: ", "\n"), (f"  bind '{key}' to ", "\n")):
            if line.startswith(start):
                return "".join([*lines[:at], f"{start}{EDITED}{end}", *lines[at + 1 :]])
    if text.startswith("{") and key in json.loads(text).get("default_attributes", {}):
        role = json.loads(text)
        role["default_attributes"][key] = EDITED
        return json.dumps(role)
    return None


def is_about_one_key(line: str, case: Case) -> bool:
    """Whether a question asks one key alone, and no host but that of the case."""
    if "--merge" in line:  # each level counts
        return False
    is_alone = case.dialect != "ansible" or any(word in line for word in ("{on}", "{subject}"))
    return is_alone and "{key}" in line and any(word in line.split(";")[-1].split() for word in ONE_KEY)


# --- what has to be the same


def values_of(line: str, data: Any, case: Case) -> Any:
    """What an answer says, without places."""
    words = line.split(";")[-1].split()
    one = next((word for word in (" ".join(words[:2]), words[0]) if word in _TAKERS), None)
    return data if one is None or data is None else _TAKERS[one](data, case)


def _answers(data: dict[str, Any], case: Case) -> Any:
    return [one.get("value", [(row["path"], row["value"]) for row in one.get("values", ())]) for one in data["answers"]]


def _lines(data: dict[str, Any], case: Case) -> Any:
    """Who wins where, of the files that are the same in all trees."""
    return [(one["file"], one["line"], one["wins_on"]) for one in data["lines"] if _is_shared(one["file"], case)]


def _is_shared(file: str, case: Case) -> bool:
    return all(one.get(file) == case.hidden.get(file) for one in case.shown)


def _changes(data: dict[str, Any], case: Case) -> Any:
    """What changes on whom. The value of a secret is withheld, so of those the paths alone count."""
    values = ("before", "after") if not case.is_secret else ()
    return sorted(
        (str(one["path"]), *(str(one.get(side)) for side in values), *one["subjects"]) for one in data["changes"]
    )


def _findings(data: dict[str, Any], case: Case) -> Any:
    rows = (
        (one["severity"], one["code"], str(one["file"]), str(one["line"]), one["message"]) for one in data["findings"]
    )
    return sorted(rows)


def _lookups(data: dict[str, Any], case: Case) -> Any:
    """The value of each node; None where nobody has any."""
    found = {name: one.get("value") for name, one in data["nodes"].items()}
    return found if any(one is not None for one in found.values()) else None


def _groups(data: dict[str, Any], case: Case) -> Any:
    return [(one.get("value"), [node for place in one["places"] for node in place["nodes"]]) for one in data["groups"]]


def _value(data: dict[str, Any], case: Case) -> Any:
    return data.get("value")


def _traces(data: dict[str, Any], case: Case) -> Any:
    """Of `fold` without --explain the tree itself."""
    return [(one["path"], one["value"]) for one in data["traces"]] if "traces" in data else data


def _found(data: dict[str, Any], case: Case) -> Any:
    return data["total"]


def _keys(data: dict[str, Any], case: Case) -> Any:
    return [(one["name"], one["gives"]) for one in data["keys"]]


_TAKERS: Mapping[str, Callable[[dict[str, Any], Case], Any]] = {
    "why": _answers,
    "blame": _answers,
    "where": _lines,
    "impact": _changes,
    "what-if": _changes,
    "check": _findings,
    "hiera lookup": _lookups,
    "hiera explain": _lookups,
    "hiera list": _lookups,
    "hiera matrix": _groups,
    "hiera who-has": _lines,
    "explain": _value,
    "matrix": _groups,
    "show": _value,
    "search": _found,
    "ansible explain": _value,
    "ansible matrix": _groups,
    "ansible who-has": _lines,
    "fold": _traces,
    "cloud-config explain": _traces,
    "bindings explain": _value,
    "bindings inject": _value,
    "bindings matrix": _groups,
    "bindings list": _keys,
    "bindings check": _findings,
}
