"""Charts of Helm with subcharts: the values of the release. The answers are those of Helm 4.2.3.

`tests.oracles.helm` asks Helm itself about random charts.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.core.fold import Folded
from nodeattrs.dialects.files.folds import chart_folder, folded, layers_over_chart
from nodeattrs.errors import BadArgument, DocumentError, MergeConflict, TooMuch
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named

Chart = dict[str, Any]
"""The values of a chart, with "charts" (name -> subchart) and "needs" (dependencies of Chart.yaml) beside them."""


def write(folder: Path, chart: Chart, name: str = "p") -> Path:
    folder.mkdir(parents=True)
    described = {"apiVersion": "v2", "name": name, "version": "1.0.0", "dependencies": chart.get("needs", [])}
    (folder / "Chart.yaml").write_text(json.dumps(described))
    (folder / "values.yaml").write_text(json.dumps(chart.get("values", {})))
    for child, below in chart.get("charts", {}).items():
        write(folder / "charts" / child, below, child)
    return folder


def release(folder: Path, *files: Any, policy: str = "helm") -> Folded:
    named, reader = policy_named(policy), LayerReader()
    layers = []
    for number, tree in enumerate(files):
        file = folder.parent / f"values-{number}.yaml"
        file.write_text(json.dumps(tree))
        layers += reader.read(file)
    chart = chart_folder([str(folder)], Path(), named)
    assert chart is not None
    laid = layers_over_chart(chart, layers, reader, named)
    return folded(laid.layers, named, charts=laid.charts)


def sub(**values: Any) -> dict[str, Chart]:
    return {"s": {"values": values}}


def need(name: str = "s", **rest: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "repository": "", **rest}


CASES: list[tuple[str, Chart, Any, Any]] = [
    ("values of the chart above win", {"values": {"s": {"a": 1}}, "charts": sub(a=2, b=2)}, {}, {"a": 1, "b": 2}),
    ("a values file wins over both", {"values": {"s": {"a": 1}}, "charts": sub(a=2)}, {"s": {"a": 3}}, {"a": 3}),
    ("a null of the chart above removes nothing", {"values": {"s": {"a": None}}, "charts": sub(a=1)}, {}, {"a": 1}),
    (
        "it does where a values file sets the subchart",
        {"values": {"s": {"a": None}}, "charts": sub(a=1)},
        {"s": {"b": 1}},
        {"b": 1},
    ),
    ("a null of a values file removes the default", {"charts": sub(a={"x": 1})}, {"s": {"a": None}}, {}),
    (
        "a null stays where the subchart has no default",
        {"values": {"s": {"a": 3}}, "charts": sub()},
        {"s": {"a": None}},
        {"a": None},
    ),
    ("a null in both leaves nothing", {"charts": sub(a=None)}, {"s": {"a": None}}, {}),
    (
        "maps of all three meet, though the chart above has null",
        {"values": {"s": {"m": None}}, "charts": sub(m={"x": 1})},
        {"s": {"m": {"y": 1}}},
        {"m": {"x": 1, "y": 1}},
    ),
    (
        "the globals of the chart above win",
        {"values": {"global": {"a": 1, "m": {"x": 1}}}, "charts": sub(**{"global": {"a": 2, "m": {"x": 2, "y": 2}}})},
        {"global": {"m": {"u": 1}}},
        {"global": {"a": 1, "m": {"x": 1, "y": 2, "u": 1}}},
    ),
    (
        "globals win over what the chart above sets for the subchart",
        {
            "values": {"global": {"a": 1}, "s": {"global": {"a": 5, "b": 5}}},
            "charts": sub(**{"global": {"a": 2, "c": 2}}),
        },
        {"s": {"global": {"d": 4, "a": 9}}},
        {"global": {"a": 1, "b": 5, "c": 2, "d": 4}},
    ),
    (
        "a global map and what is none do not meet",
        {"values": {"global": {"a": {"b": 1}}}, "charts": sub()},
        {"s": {"global": {"a": 2}}},
        {"global": {"a": 2}},
    ),
]


CASES += [
    (
        f"a null of a subchart that is a dependency {how}",
        {"values": {"s": {"a": above}}, "charts": sub(a={"x": None, "y": 1}), "needs": [need()]},
        {"s": {"a": {"b": 1}}},
        {"a": expected},
    )
    for how, above, expected in (
        ("stays below a map of the chart above", {}, {"x": None, "y": 1, "b": 1}),
        ("is lost below a list of the chart above", ["l"], {"y": 1, "b": 1}),
        ("is lost below a null of the chart above", None, {"y": 1, "b": 1}),
    )
]

CASES += [
    (
        f"as a dependency, {label}",
        {"values": {"global": above}, "charts": sub(**{"global": own}), "needs": [need()]},
        values,
        {"global": expected},
    )
    for label, above, own, values, expected in (
        ("a null global of the chart above alone removes nothing", {"a": None}, {"a": 1}, {}, {"a": 1}),
        ("it does where a values file sets the subchart", {"a": None}, {"a": 1}, {"s": {}}, {}),
        ("a null global of the subchart alone is left out", {}, {"a": None}, {}, {}),
        ("it stays where a values file sets the subchart", {}, {"a": None}, {"s": {}}, {"a": None}),
        ("a global replaces it", {"a": 1}, {"a": None}, {"s": {}}, {"a": 1}),
        ("a map of a values file does not", {}, {"a": None}, {"s": {}, "global": {"a": {"x": 1}}}, {"a": None}),
        ("a null global of a values file leaves the chart's", {"a": 2}, {"a": 1}, {"global": {"a": None}}, {"a": 2}),
        ("a null inside a global map does, too", {"a": {"x": 1}}, {}, {"global": {"a": {"x": None}}}, {"a": {"x": 1}}),
        ("a value and a map of a values file", {"a": 1}, {}, {"global": {"a": {"x": 1}}}, {"a": 1}),
        ("a map and a value of a values file", {"a": {"x": 1}}, {}, {"global": {"a": 1}}, {"a": {"x": 1}}),
    )
]


@pytest.mark.parametrize(("chart", "values", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_values_of_a_subchart_are_those_of_helm(tmp_path: Path, chart: Chart, values: Any, expected: Any) -> None:
    found = release(write(tmp_path / "chart", chart), values)["s"]
    assert found == {"global": {}, **expected}


def test_a_null_is_lost_below_a_value_of_the_chart_that_names_the_dependency_alone(tmp_path: Path) -> None:
    inner = {"values": {"a": {"x": None, "y": 1}}}
    for number, (top, middle, expected) in enumerate(
        [
            ({"s": {"t": {"a": ["l"]}}}, {}, {"b": 1, "x": None, "y": 1}),
            ({"s": {"t": {"a": None}}}, {}, {"b": 1, "x": None, "y": 1}),
            ({}, {"t": {"a": ["l"]}}, {"b": 1, "y": 1}),
        ]
    ):
        chart = {"values": top, "charts": {"s": {"values": middle, "charts": {"t": inner}, "needs": [need("t")]}}}
        found = release(write(tmp_path / str(number) / "chart", chart), {"s": {"t": {"a": {"b": 1}}}})
        assert found["s"]["t"]["a"] == expected


def test_a_null_global_two_charts_above_hides_a_global_that_is_handed_down(tmp_path: Path) -> None:
    inner = {"values": {"global": {"a": ""}}, "charts": {"t": {}}, "needs": [need("t")]}
    chart = {"values": {"global": {"a": None}}, "charts": {"s": inner}, "needs": [need()]}
    found = release(write(tmp_path / "chart", chart), {"s": {}})
    assert found["s"] == {"global": {}, "t": {"global": {"a": None}}}
    assert [one.file for one in found.origins("s.t.global.a")] == [f"{tmp_path}/chart/values.yaml"]


def test_a_subchart_that_a_condition_turns_off_sets_nothing(tmp_path: Path) -> None:
    needs = [need(condition="s.enabled")]
    chart = write(tmp_path / "chart", {"values": {"s": {"enabled": False}}, "charts": sub(a=1), "needs": needs})
    assert release(chart).value == {"s": {"enabled": False}}
    assert release(chart, {"s": {"enabled": True}}).value == {"s": {"enabled": True, "a": 1, "global": {}}}


def test_tags_count_where_no_condition_does(tmp_path: Path) -> None:
    needs = [need(tags=["back"], condition="nosuch.path")]
    chart = write(tmp_path / "chart", {"values": {"tags": {"back": False}}, "charts": sub(a=1), "needs": needs})
    assert "s" not in release(chart).value
    assert release(chart, {"tags": {"back": True}})["s"] == {"a": 1, "global": {}}


def test_an_alias_is_the_key_of_the_values(tmp_path: Path) -> None:
    needs = [need(alias="cache"), need(alias="queue")]
    chart = write(tmp_path / "chart", {"values": {"queue": {"a": 2}}, "charts": sub(a=1), "needs": needs})
    assert release(chart).value == {"queue": {"a": 2, "global": {}}, "cache": {"a": 1, "global": {}}}


def test_a_packed_subchart_is_read_with_its_lines(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {"charts": {}})
    inner = write(tmp_path / "s", {"values": {"a": 1}, "charts": {"t": {"values": {"b": 2}}}}, "s")
    (chart / "charts").mkdir()
    with tarfile.open(chart / "charts/s-1.0.0.tgz", "w:gz") as archive:
        archive.add(inner, "s")
    found = release(chart)
    assert found["s"] == {"global": {}, "t": {"global": {}, "b": 2}, "a": 1}
    assert found.origins("s.t.b")[0].file == f"{chart}/charts/s-1.0.0.tgz/s/charts/t/values.yaml"


def test_a_subchart_that_is_not_there_may_set_values_below_its_key_alone(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {"values": {"a": 1, "s": {"b": 1}}, "needs": [need()]})
    found = release(chart)
    (unread,) = found.trace("s").unknown
    assert unread.claim.origin.line == 1
    assert [bool(found.trace(path).unknown) for path in ("s.c", "s.b", "a")] == [True, False, False]


def test_a_missing_subchart_that_is_turned_off_is_not_unread(tmp_path: Path) -> None:
    needs = [need(condition="s.enabled")]
    chart = write(tmp_path / "chart", {"values": {"s": {"enabled": False, "b": 1}}, "needs": needs})
    assert not release(chart).trace("s.b").unknown


def test_a_value_of_a_subchart_has_the_line_that_set_it(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {"charts": sub()})
    (chart / "values.yaml").write_text("a: 1\ns:\n  b: 1\nglobal:\n  g: 1\n")
    (chart / "charts/s/values.yaml").write_text("# the default\n\nc: 1\n")
    found = release(chart)
    lines = {path: str(found.origins(path)[0].place).removeprefix(f"{chart}/") for path in ("s.b", "s.c", "s.global.g")}
    assert lines == {"s.b": "values.yaml:3", "s.c": "charts/s/values.yaml:3", "s.global.g": "values.yaml:5"}


def test_helm_4_1_keeps_the_nulls_of_the_chart(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {"values": {"a": None, "m": {"b": None}}})
    assert release(chart).value == {"m": {}}
    assert release(chart, policy="helm-4.1").value == {"a": None, "m": {"b": None}}


@pytest.mark.parametrize("value", [None, 3, ["x"]])
def test_values_of_a_subchart_that_are_no_map_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(MergeConflict, match="the values of a subchart are a map"):
        release(write(tmp_path / "chart", {"charts": sub(a=1)}), {"s": value})


def test_a_file_that_is_no_package_is_named(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {})
    (chart / "charts").mkdir()
    (chart / "charts/s.tgz").write_text("no package")
    with pytest.raises(DocumentError, match=r"charts/s\.tgz: is no package of a chart"):
        release(chart)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param([("values.yaml", b"a: 1")], "it has no Chart.yaml", id="no chart"),
        pytest.param(
            [("s/Chart.yaml", {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})], "is no package of a chart", id="pax"
        ),
        pytest.param([("s/" + "x" * 11_000_000, b"")], "larger than 10 MB", id="a long name"),
        pytest.param([("s/Chart.yaml", b""), ("s/values.yaml", b" " * 11_000_000)], "larger than 10 MB", id="a bomb"),
    ],
)
def test_an_odd_package_is_an_error_of_its_file(
    tmp_path: Path, members: list[tuple[str, bytes | dict[str, str]]], message: str
) -> None:
    chart = write(tmp_path / "chart", {"charts": {}})
    (chart / "charts").mkdir()
    with tarfile.open(chart / "charts/s.tgz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, held in members:
            content = held if isinstance(held, bytes) else b"name: s"
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = len(content), {} if isinstance(held, bytes) else held
            archive.addfile(member, io.BytesIO(content))
    with pytest.raises(DocumentError, match=message):
        release(chart)


def test_aliases_inside_aliases_end(tmp_path: Path) -> None:
    """
    Thirty in each of five charts make 24 million subcharts out of a few lines.
    """
    needs = [need(alias=f"a{number}") for number in range(30)]
    chart: Chart = {}
    for _ in range(5):
        chart = {"charts": {"s": chart}, "needs": needs}
    with pytest.raises(TooMuch, match="steps"):
        release(write(tmp_path / "chart", chart))


def test_the_documents_of_a_chart_s_values_are_merged(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {})
    (chart / "values.yaml").write_text("a: 1\nm:\n  x: 1\n---\nm:\n  z: 2\na: 3\n")
    found = release(chart)
    assert found.value == {"a": 3, "m": {"x": 1, "z": 2}}
    assert [found.origins(path)[0].line for path in ("a", "m.x", "m.z")] == [7, 3, 6]


def test_a_chart_that_has_no_map_for_its_subchart_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MergeConflict, match="this is a int, at s"):
        release(write(tmp_path / "chart", {"values": {"s": 5}, "charts": sub(a=1)}))


def test_links_that_lead_back_end(tmp_path: Path) -> None:
    chart = write(tmp_path / "chart", {"charts": sub(a=1)})
    (chart / "charts/s/charts").mkdir()
    (chart / "charts/s/charts/again").symlink_to(chart)
    with pytest.raises(DocumentError, match="charts inside one another"):
        release(chart)


def test_only_the_first_layer_may_be_a_chart(tmp_path: Path) -> None:
    write(tmp_path / "one", {})
    write(tmp_path / "two", {})
    with pytest.raises(BadArgument, match="only the first layer can be one"):
        chart_folder(["one", "two"], tmp_path, policy_named("helm"))


def importing(*entries: Any, **values: Any) -> Chart:
    """A chart that imports values of the subchart s, which has two exports."""
    below = {"exports": {"a": {"x": 1}}, "db": {"port": 5432, "in": {"y": 1}}, "name": "s"}
    return {"values": values, "charts": sub(**below), "needs": [need(**{"import-values": [*entries]})]}


IMPORTS: list[tuple[str, Chart, dict[str, Any]]] = [
    ("an export comes to the top", importing("a"), {"x": 1}),
    ("the values of the chart are stronger", importing("a", x=2), {"x": 2}),
    (
        "a child comes to its parent",
        importing({"child": "db", "parent": "sql"}),
        {"sql": {"port": 5432, "in": {"y": 1}}},
    ),
    ("a child may be a path", importing({"child": "db.in", "parent": "a.b"}), {"a": {"b": {"y": 1}}}),
    ("a parent may be the top", importing({"child": "db.in", "parent": "."}), {"y": 1}),
    ("maps meet", importing({"child": "db", "parent": "sql"}, sql={"port": 1}), {"sql": {"port": 1, "in": {"y": 1}}}),
    ("what is no map is not imported", importing({"child": "name", "parent": "n"}), {}),
    ("what is not there is not imported", importing("nosuch", {"child": "x.y", "parent": "n"}), {}),
    (
        "values of the chart for the subchart are imported",
        importing({"child": "db.in", "parent": "n"}, s={"db": {"in": {"z": 2}}}),
        {"n": {"y": 1, "z": 2}},
    ),
    ("of several the first one wins", importing("a", {"child": "db.in", "parent": "."}, "a"), {"x": 1, "y": 1}),
]


@pytest.mark.parametrize(("chart", "expected"), [case[1:] for case in IMPORTS], ids=[case[0] for case in IMPORTS])
def test_values_are_imported_from_a_subchart_as_by_helm(tmp_path: Path, chart: Chart, expected: dict[str, Any]) -> None:
    found = release(write(tmp_path / "p", chart)).value
    assert {key: value for key, value in found.items() if key not in ("s", "global")} == expected


def test_a_values_file_changes_no_imported_value_of_the_subchart(tmp_path: Path) -> None:
    found = release(write(tmp_path / "p", importing("a")), {"s": {"exports": {"a": {"x": 3}}}}).value
    assert (found["x"], found["s"]["exports"]) == (1, {"a": {"x": 3}})


def test_imported_values_are_imported_again_by_the_chart_above(tmp_path: Path) -> None:
    below = {"values": {"db": {"port": 1}}}
    middle = {
        "charts": {"t": below},
        "needs": [need("t", **{"import-values": [{"child": "db", "parent": "exports.up"}]})],
    }
    chart = {"charts": {"s": middle}, "needs": [need(**{"import-values": ["up"]})]}
    assert release(write(tmp_path / "p", chart))["port"] == 1


def test_an_imported_value_has_the_line_of_the_subchart(tmp_path: Path) -> None:
    found = release(write(tmp_path / "p", importing("a")))
    assert [one.file for one in found.origins("x")] == [f"{tmp_path}/p/charts/s/values.yaml"]


def test_values_are_not_imported_from_a_subchart_that_is_turned_off(tmp_path: Path) -> None:
    chart = importing("a", s={"enabled": False})
    chart["needs"][0]["condition"] = "s.enabled"
    assert "x" not in release(write(tmp_path / "p", chart)).value


def test_imports_of_a_subchart_that_is_not_there_may_set_their_path_alone(tmp_path: Path) -> None:
    chart = importing({"child": "db", "parent": "sql"}, port=1)
    del chart["charts"]
    found = release(write(tmp_path / "p", chart))
    assert [bool(found.trace(path).unknown) for path in ("sql.port", "port", "other")] == [True, False, False]
