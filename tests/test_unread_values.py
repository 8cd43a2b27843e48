"""`check` of charts: values that no template reads, and keys that look like a misspelt one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

InFolder = Callable[..., tuple[int, str, str]]

META = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"


def chart(template: str, values: str, **files: str) -> dict[str, str]:
    """The files of a chart in chart/. files: further ones by name, with _ for a slash"""
    more = {f"chart/{name.replace('__', '/')}.yaml": text for name, text in files.items()}
    return {"chart/Chart.yaml": META, "chart/templates/a.yaml": template, "chart/values.yaml": values, **more}


def findings(in_folder: InFolder, files: dict[str, str]) -> list[dict[str, Any]]:
    _, out, _ = in_folder(files, "check", "--format", "json")
    return [*json.loads(out)["findings"]]


def unread(in_folder: InFolder, files: dict[str, str]) -> list[str]:
    """The paths that no template reads, as the findings name them."""
    found = [one for one in findings(in_folder, files) if one["name"] in ("unread-value", "misspelt")]
    return [one["message"].partition(" reads ")[2].partition(";")[0] for one in found]


USES: list[tuple[str, str, str, list[str]]] = [
    ("a field", "{{ .Values.a.b }}", "a: {b: 1, c: 1}", ["a.c"]),
    ("a field of the top context", "{{ $.Values.a }}", "{a: 1, b: 1}", ["b"]),
    ("a whole map", "{{ toYaml .Values.a | nindent 2 }}", "{a: {b: 1}, c: {d: 1}}", ["c"]),
    ("with", "{{ with .Values.a }}{{ .b }}{{ end }}", "{a: {b: 1}, c: 1}", ["c"]),
    ("range", "{{ range $k, $v := .Values.a }}{{ $k }}{{ end }}", "{a: {b: 1}, c: 1}", ["c"]),
    ("index with names", '{{ index .Values "a-b" "c" }}', "{a-b: {c: 1, d: 1}}", ["a-b.d"]),
    ("index with a name and a field", '{{ (index .Values "a-b").c }}', "{a-b: {c: 1}, d: 1}", ["d"]),
    ("get and hasKey", '{{ get .Values "a" }}{{ hasKey .Values.b "c" }}', "{a: 1, b: {c: 1, d: 1}}", ["b.d"]),
    ("dig", '{{ dig "a" "b" "x" .Values }}', "{a: {b: 1, c: 1}}", ["a.c"]),
    ("a comment is no use", "{{/* .Values.a */}}{{ .Values.b }}", "{a: 1, b: 1}", ["a"]),
    ("a template of values that is filled in", "{{ tpl .Values.a . }}", "a: '{{ .Values.b }}'\nb: 1\nc: 1", ["c"]),
    (
        "values that are handed on",
        '{{ include "x" (dict "Values" .Values) }}{{ define "x" }}{{ end }}',
        "{a: 1}",
        ["a"],
    ),
    ("an option of kubectl is no template", """--template "{{"{{.x}}"}}" {{ .Values.a }}""", "{a: 1, b: 1}", ["b"]),
    ("a map that a template reads deeper", "{{ .Values.a.b.c }}", "{a: {}, d: {}}", ["d"]),
    ("globals and tags", "{{ .Values.a }}", "{a: 1, global: {x: 1}, tags: {t: true}}", []),
    ("anchors and keys for them", "{{ .Values.a }}", "x-all: {b: 1}\nc: &c {d: 1}\na: *c", []),
]


@pytest.mark.parametrize(("template", "values", "expected"), [one[1:] for one in USES], ids=[one[0] for one in USES])
def test_the_values_that_no_template_reads_are_found(
    in_folder: InFolder, template: str, values: str, expected: list[str]
) -> None:
    assert unread(in_folder, chart(template, values)) == expected


def test_a_default_is_a_note_and_a_value_over_it_a_warning(in_folder: InFolder) -> None:
    files = chart("{{ .Values.a }}", "a: 1\nold: 1\n", **{"values-prod": "a: 2\nmore: 1\n"})
    found = {one["file"]: (one["severity"], one["line"]) for one in findings(in_folder, files)}
    assert found == {"chart/values.yaml": ("note", 2), "chart/values-prod.yaml": ("warning", 2)}


def test_a_misspelt_key_has_the_name_that_is_meant(in_folder: InFolder) -> None:
    files = chart("{{ .Values.image.pullPolicy }}", "image: {}\n", **{"values-prod": "image: {pullpolicy: x}\n"})
    (one,) = findings(in_folder, files)
    assert (one["name"], one["hint"], one["line"]) == ("misspelt", "did you mean pullPolicy?", 1)


def test_the_values_of_a_release_are_looked_at(in_folder: InFolder) -> None:
    text = "releases:\n- name: shop\n  chart: ./chart\n  values:\n  - a: 1\n    replicas: 2\n"
    files = {**chart("{{ .Values.a }}", "a: 1\n"), "helmfile.yaml": text}
    assert [(one["file"], one["line"]) for one in findings(in_folder, files)] == [("helmfile.yaml", 6)]


def test_a_values_file_that_cannot_be_read_is_named(in_folder: InFolder) -> None:
    files = {**chart("{{ .Values.a }}", "a: 1"), "chart/values-prod.yaml": "a: [\n"}
    (one,) = findings(in_folder, files)
    assert (one["severity"], one["file"]) == ("note", "chart/values-prod.yaml")
    assert in_folder({}, "check")[0] == 5


def test_a_file_with_the_values_of_another_chart_is_passed_over(in_folder: InFolder) -> None:
    files = chart("{{ .Values.a }}", "a: 1\n", **{"tempo-values": "ingester: 1\ntraces: 2\n"})
    assert findings(in_folder, files) == []


@pytest.mark.parametrize(
    ("template", "values", "expected", "note"),
    [
        (
            "{{ index .Values.a $x }}{{ .Values.c }}",
            "{a: {b: 1}, d: 1}",
            ["d"],
            "reads values below a by a computed name",
        ),
        ("{{ index .Values $x }}", "{a: 1}", [], "are read as a whole, or by a computed name"),
        ("{{ toYaml .Values }}", "{a: 1}", [], "are read as a whole, or by a computed name"),
        ("{{ $v := .Values }}{{ $v.a }}", "{a: 1}", [], "are read as a whole, or by a computed name"),
        ('{{ include "common.labels" . }}', "{a: 1}", [], "the template common.labels is included, and is not here"),
    ],
    ids=["a prefix", "all", "as YAML", "in a variable", "a template of another chart"],
)
def test_what_cannot_be_known_keeps_findings_back_and_says_so(
    in_folder: InFolder, template: str, values: str, expected: list[str], note: str
) -> None:
    files = chart(template, values)
    notes = [one for one in findings(in_folder, files) if one["name"] == "computed-name"]
    assert [(one["severity"], one["file"], note in one["message"]) for one in notes] == [
        ("note", "chart/templates/a.yaml", True)
    ]
    assert unread(in_folder, {}) == expected


def test_values_of_subcharts_and_their_conditions_are_passed_over(in_folder: InFolder) -> None:
    needs = 'dependencies:\n- {name: redis, alias: cache, version: 1.0.0, condition: "cache.on,uses.cache"}\n'
    files = chart("{{ .Values.a }}", "{a: 1, cache: {size: 1}, uses: {cache: true, db: true}}")
    files["chart/Chart.yaml"] = META + needs
    assert unread(in_folder, files) == ["uses.db"]


def test_the_templates_of_unpacked_subcharts_count_as_uses(in_folder: InFolder) -> None:
    files = chart('{{ include "common.name" . }}', "{nameOverride: x, other: 1}")
    files["chart/charts/common/Chart.yaml"] = "name: common\ntype: library\n"
    files["chart/charts/common/templates/_a.tpl"] = '{{ define "common.name" }}{{ .Values.nameOverride }}{{ end }}'
    assert unread(in_folder, files) == ["other"]


def test_a_library_and_a_folder_without_charts_have_no_findings(in_folder: InFolder) -> None:
    files = {**chart("", "{a: 1}"), "chart/Chart.yaml": f"{META}type: library\n"}
    assert findings(in_folder, files) == []


def test_a_template_that_lies_outside_keeps_findings_back(in_folder: InFolder, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("{{ .Values.b }}")
    in_folder(chart("{{ .Values.a }}", "{a: 1, b: 1, c: 1}"), "list", "subjects")
    (tmp_path / "chart/templates/link.yaml").symlink_to(outside)
    (one,) = findings(in_folder, {})
    assert (one["severity"], one["file"]) == ("note", "chart/templates/link.yaml")
