"""Write findings in forms for other programs: SARIF 2.1.0, annotations of GitHub, code quality of GitLab, JUnit.

`FORMS` has a function for each form, from the findings of a check and the version of nodeattrs to a text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from nodeattrs.codes import entry_of
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.reports.findings import Finding
from nodeattrs.reports.screen import printable
from nodeattrs.reports.selection import Findings

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
_GITLAB = {"error": "major", "warning": "minor", "note": "info"}


def _sarif(findings: Findings, version: str) -> str:
    """The findings as a SARIF 2.1.0 document with one run; each code that occurs is a rule.

    A finding without a file has no location. version: the version of nodeattrs, which is the tool of the run
    """
    rules = sorted({one.code for one in findings.found})
    driver = {"name": "nodeattrs", "version": version, "rules": [_rule(code) for code in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, mark, rules.index(one.code)) for one, mark in _marked(findings)],
    }
    return _json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _marked(findings: Findings) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with a unique mark: its fingerprint, and its number among those with that fingerprint."""
    seen: Counter[str] = Counter()
    for one in findings.found:
        seen[one.fingerprint] += 1
        yield one, f"{one.fingerprint}:{seen[one.fingerprint]}"


def _rule(code: str) -> dict[str, Any]:
    entry = entry_of(code)
    body = f"{entry.cause}\nFor example: {entry.example}\n{entry.way_out}"
    return {"id": code, "name": entry.name, "shortDescription": {"text": entry.cause}, "help": {"text": body}}


def _result(one: Finding, mark: str, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": one.severity,
        "message": {"text": "\n".join([one.message, *one.more()])},
        "partialFingerprints": {"nodeattrs/v1": mark},
    }
    if one.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(one.file, errors="surrogateescape")}}
        if one.line:
            place["region"] = {"startLine": one.line} | ({"startColumn": one.column} if one.column else {})
        result["locations"] = [{"physicalLocation": place}]
    return result


def _github(findings: Findings, version: str) -> str:
    """A workflow command for each finding, which GitHub shows beside the line; "" without findings."""
    return "".join(f"{_annotation(one)}\n" for one in findings.found)


def _annotation(one: Finding) -> str:
    given = {"file": one.file, "line": one.line, "col": one.column, "title": f"{one.code} {one.name}"}
    facts = ",".join(f"{name}={_escaped(printable(str(value)), ':,')}" for name, value in given.items() if value)
    body = "\n".join(map(printable, [*one.message.splitlines(), *one.more()]))
    return f"::{_GITHUB[one.severity]} {facts}::{_escaped(body)}"


def _escaped(text: str, also: str = "") -> str:
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{also}" else sign for sign in text)


def _gitlab(findings: Findings, version: str) -> str:
    """The findings as a JSON report of GitLab's code quality; a finding without a line is put on line 1."""
    return _json(
        [
            {
                "description": one.message,
                "check_name": one.code,
                "fingerprint": mark,
                "severity": _GITLAB[one.severity],
                "location": {"path": one.file or "", "lines": {"begin": one.line or 1}},
            }
            for one, mark in _marked(findings)
        ]
    )


def _junit(findings: Findings, version: str) -> str:
    """The findings as a JUnit suite: an error or a warning is a failed case, a note a passed one.

    Without findings the suite has one passed case.
    """
    cases = [_case(one) for one in findings.found] or ['  <testcase classname="nodeattrs" name="check"/>\n']
    counts = f'tests="{len(cases)}" failures="{sum(one.severity != "note" for one in findings.found)}" errors="0"'
    suite = f'<testsuite name="nodeattrs" {counts}>\n{"".join(cases)}</testsuite>\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suite}</testsuites>\n'


def _case(one: Finding) -> str:
    # What XML cannot hold at all is written out.
    message, name, file = (
        quoteattr(printable(text))
        for text in (one.message, f"{one.code} {one.name} {one.place}".strip(), one.file or "")
    )
    body = escape("\n".join(map(printable, [f"{one.place}: {one.severity}", *one.more()])))
    failure = f'<failure type="{one.severity}" message={message}>{body}</failure>'
    inner = f"<system-out>{escape(printable(one.message))}</system-out>" if one.severity == "note" else failure
    return f'  <testcase classname="nodeattrs" name={name} file={file}>{inner}</testcase>\n'


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False).translate(ESCAPES) + "\n"


FORMS: Mapping[str, Callable[[Findings, str], str]] = {
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
}
"""The name of a form -> the function that writes it."""
