"""Policies by name, beside what those say whose rules they are.

What originals that can be had answer is compared by `python -m tests.oracles.fold`; here stand the tables of a
standard, and cases of which each names the section of the documentation that asks for it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodeattrs import Layer, Origin, fold
from nodeattrs.core.fold import Folded
from nodeattrs.core.rules import read_rules
from nodeattrs.dialects.files.folds import folded
from nodeattrs.errors import BadArgument, DocumentError, MergeConflict
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import NAMES, policy_named
from nodeattrs.policies.helm_set import set_layers
from tests.effort import examples


def of(policy: str, *texts: str) -> Folded:
    """YAML texts folded, each as a file by its number."""
    layers = [layer for number, text in enumerate(texts, 1) for layer in read(text, f"{number}.yaml")]
    return folded(layers, policy_named(policy))


def read(text: str, file: str) -> list[Layer]:
    return LayerReader().layers(text.encode(), file, file)


RFC_7396 = """
{"a":"b"} | {"a":"c"} | {"a":"c"}
{"a":"b"} | {"b":"c"} | {"a":"b","b":"c"}
{"a":"b"} | {"a":null} | {}
{"a":"b","b":"c"} | {"a":null} | {"b":"c"}
{"a":["b"]} | {"a":"c"} | {"a":"c"}
{"a":"c"} | {"a":["b"]} | {"a":["b"]}
{"a":{"b":"c"}} | {"a":{"b":"d","c":null}} | {"a":{"b":"d"}}
{"a":[{"b":"c"}]} | {"a":[1]} | {"a":[1]}
["a","b"] | ["c","d"] | ["c","d"]
{"a":"b"} | ["c"] | ["c"]
{"a":"foo"} | null | null
{"a":"foo"} | "bar" | "bar"
{"e":null} | {"a":1} | {"e":null,"a":1}
[1,2] | {"a":"b","c":null} | {"a":"b"}
{} | {"a":{"bb":{"ccc":null}}} | {"a":{"bb":{}}}
"""
"""Appendix A, as facts: target, patch, result."""

HELM = "Helm, Chart Template Guide, Values Files"
INSTALL = "Helm, helm install"
CASES: list[tuple[str, str, tuple[str, ...], str]] = [
    ("helm", f"{HELM}: Deleting a default key", ("probe: {path: /, port: 80}", "probe: {path: null}"),
     "probe: {port: 80}"),
    ("helm", f"{HELM}: Deleting a default key", ("probe: {httpGet: {path: /}, delay: 1}",
     "probe: {exec: {command: [x]}, httpGet: null}"), "probe: {delay: 1, exec: {command: [x]}}"),
    ("helm", f"{HELM}: the values of a parent", ("a: {x: 1, y: 1}", "a: {y: 2}"), "a: {x: 1, y: 2}"),
    ("helm", f"{INSTALL}: the last file specified counts", ("a: 0", "a: 1", "a: 2"), "a: 2"),
    ("helm", f"{INSTALL}: the last file specified counts", ("a: {x: 1}", "a: null", "a: {y: 2}"), "a: {x: 1, y: 2}"),
    ("helm", "Helm, Chart Best Practices, Values: lists are replaced", ("l: [1, 2]", "l: [3]"), "l: [3]"),
    ("helm", f"{HELM}: null for no default", ("a: 1", "b: null"), "{a: 1, b: null}"),
    ("compose", "Merge, Mapping", ("services: {w: {x-a: {k: 1}}}", "services: {w: {x-a: {l: 2}}}"),
     "services: {w: {x-a: {k: 1, l: 2}}}"),
    ("compose", "Merge, Sequence", ("services: {w: {group_add: [a]}}", "services: {w: {group_add: [b]}}"),
     "services: {w: {group_add: [a, b]}}"),
    ("compose", "Docker Compose 5.6: an element that is there is not added",
     ("services: {w: {post_start: [{command: a}, {command: a}]}}",
      "services: {w: {post_start: [{command: a}, {command: b}, {command: b}]}}"),
     "services: {w: {post_start: [{command: a}, {command: a}, {command: b}]}}"),
    ("compose", "Docker Compose 5.6: 1 and '1' are two elements", ("services: {w: {group_add: [1]}}",
     "services: {w: {group_add: ['1', 1]}}"), "services: {w: {group_add: [1, '1']}}"),
    ("compose", "Services, gpus: the text all is a list", ("services: {w: {gpus: all}}",
     "services: {w: {gpus: [{count: all}, {driver: d}]}}"), "services: {w: {gpus: [{count: all}, {driver: d}]}}"),
    ("compose", "Services, build.ssh", ("services: {w: {build: {ssh: [a=b]}}}",
     "services: {w: {build: {ssh: {e: f}}}}"), "services: {w: {build: {ssh: {a: b, e: f}}}}"),
    ("compose", "Merge, Shell commands", ("services: {w: {command: [a, b]}}", "services: {w: {command: [c]}}"),
     "services: {w: {command: [c]}}"),
    ("compose", "Merge, Shell commands", ("services: {w: {healthcheck: {test: [CMD, a], retries: 1}}}",
     "services: {w: {healthcheck: {test: [CMD, b]}}}"), "services: {w: {healthcheck: {test: [CMD, b], retries: 1}}}"),
    ("compose", "Merge, Unique resources: ports", ('services: {w: {ports: ["8080:80", "9:9"]}}',
     'services: {w: {ports: [{target: 80, published: "8080", name: web}]}}'),
     'services: {w: {ports: [{target: 80, published: "8080", name: web}, "9:9"]}}'),
    ("compose", "Merge, Unique resources: volumes", ("services: {w: {volumes: ['a:/x', 'b:/y']}}",
     "services: {w: {volumes: ['c:/x:ro']}}"), "services: {w: {volumes: ['c:/x:ro', 'b:/y']}}"),
    ("compose", "Merge, Unique resources: secrets", ("services: {w: {secrets: [s, {source: t, target: u}]}}",
     "services: {w: {secrets: [{source: v, target: u}]}}"),
     "services: {w: {secrets: [s, {source: v, target: u}]}}"),
    ("compose", "Services, environment", ("services: {w: {environment: [A=1, B=2]}}",
     "services: {w: {environment: {B: 3}}}"), 'services: {w: {environment: {A: "1", B: 3}}}'),
    ("compose", "Services, environment", ("services: {w: {environment: [A=1, B=2]}}",
     "services: {w: {environment: [A=2, C]}}"), "services: {w: {environment: [A=2, B=2, C]}}"),
    ("compose", "Services, extra_hosts", ("services: {w: {extra_hosts: ['h=1.1.1.1', 'i=1.1.1.2']}}",
     "services: {w: {extra_hosts: {h: 1.1.1.3, i: [1.1.1.2, 1.1.1.4]}}}"),
     "services: {w: {extra_hosts: [h=1.1.1.1, i=1.1.1.2, h=1.1.1.3, i=1.1.1.4]}}"),
    ("compose", "Services, networks", ("services: {w: {networks: [a]}}",
     "services: {w: {networks: {b: {priority: 1}}}}"),
     "services: {w: {networks: {a: null, b: {priority: 1}}}}"),
    ("compose", "Services, depends_on", ("services: {w: {depends_on: [a]}}",
     "services: {w: {depends_on: {b: {condition: service_healthy}}}}"),
     "services: {w: {depends_on: {a: {condition: service_started}, b: {condition: service_healthy}}}}"),
    ("compose", "Services, build", ("services: {w: {build: .}}", "services: {w: {build: {target: t}}}"),
     "services: {w: {build: {context: ., target: t}}}"),
    ("compose", "Services, logging", ("services: {w: {logging: {driver: a, options: {x: 1}}}}",
     "services: {w: {logging: {driver: b, options: {y: 1}}}}"),
     "services: {w: {logging: {driver: b, options: {y: 1}}}}"),
    ("compose", "Networks, ipam", ("networks: {n: {ipam: {config: [{subnet: a, gateway: g}]}}}",
     "networks: {n: {ipam: {config: [{subnet: a, ip_range: r}, {subnet: b}]}}}"),
     "networks: {n: {ipam: {config: [{subnet: a, gateway: g, ip_range: r}, {subnet: b}]}}}"),
    ("compose", "Merge, Reset value", ("services: {w: {image: i, ports: ['1:1'], environment: {A: 1}}}",
     "services: {w: {ports: !reset [], environment: {A: !reset null}}}"), "services: {w: {image: i, environment: {}}}"),
    ("compose", "Merge, Replace value", ("services: {w: {ports: ['1:1'], command: [a]}}",
     "services: {w: {ports: !override ['2:2'], command: !override [b]}}"),
     "services: {w: {ports: ['2:2'], command: [b]}}"),
    ("compose", "Merge, Replace value, in a list", ("x-l: [!reset 1, {k: !override [2, !override {l: 3}]}]",),
     "x-l: [{k: [2, {l: 3}]}]"),
    ("compose", "Services, ports: what is none stays apart", ("services: {w: {ports: ['a:b:c:d']}}",
     "services: {w: {ports: ['e:f:g:h', 'a:b:c:d']}}"), "services: {w: {ports: ['a:b:c:d', 'e:f:g:h']}}"),
    ("compose", "Merge, Replace value", ("services: {w: !override {image: i}, v: {ports: !reset ['1:1']}}",),
     "services: {w: {image: i}, v: {}}"),
    ("replace", "dict.update", ("a: {x: 1}\nb: 1", "a: {y: 1}"), "{a: {y: 1}, b: 1}"),
    ("hiera-deep", "Hiera, merge behaviors: deep", ("l: [1, 2]\nm: {a: 1}", "l: [2, 3]\nm: {a: 2, b: 1}"),
     "{l: [1, 2, 3], m: {a: 2, b: 1}}"),
    ("appsettings", ".NET: keys without case", ("Logging: {Level: Info}", "logging: {LEVEL: Debug, x: 1}"),
     "Logging: {Level: Debug, x: 1}"),
    ("appsettings", ".NET: elements by index", ("l: [{A: 1}, b, c]", "L: [{a: 2}, d]"), "l: [{A: 2}, d, c]"),
    ("appsettings", ".NET: empty and null", ("l: [a]\nm: {k: 1}\nt: x", "l: []\nm: null\nt: null"),
     "{l: [a], m: {k: 1}, t: null}"),
    ("appsettings", ".NET: maps of one file", ("M: {X: 1}\nm: {Y: 2}",), "M: {X: 1, Y: 2}"),
    ("appsettings", ".NET: a colon is a level", ("Log:Level: a\nLog: {k: 1}", "log: {level: b}"),
     "Log: {Level: b, k: 1}"),
    ("appsettings", ".NET: indexes of variables", ("L: [a, b]", "l: {'1': c, '3': d}"), "L: [a, c, d]"),
    ("inside", "docs/merging.md, rule 1", ("l: [1, 2]", "l: [2, 3]"), "l: [1, 2, 3]"),
    ("across", "docs/merging.md, rule 3", ("l: [1, 2]", "l: [2, 3]"), "l: [2, 3]"),
]  # fmt: skip
"""Policy, the section that asks for it, the files, and what they come to."""


class TestDocumentedCases:
    @pytest.mark.parametrize("row", RFC_7396.strip().splitlines())
    def test_the_table_of_rfc_7396(self, row: str):
        target, patch, result = map(json.loads, row.split(" | "))

        assert result == folded([Layer(target), Layer(patch)], policy_named("json-merge-patch")).value

    @pytest.mark.parametrize(("policy", "section", "texts", "result"), CASES)
    def test_the_section_holds(self, policy: str, section: str, texts: tuple[str, ...], result: str):
        assert yaml.safe_load(result) == of(policy, *texts).value, section

    def test_a_list_over_a_map_of_a_compose_file_is_refused_with_both_places(self):
        with pytest.raises(MergeConflict) as refused:
            of("compose", "services:\n  w:\n    x-a: {b: 1}\n", "services:\n  w:\n    x-a: [1]\n")

        assert "services.w.x-a" in str(refused.value)
        assert ["2.yaml:3", "1.yaml:3"] == [origin.place for origin in refused.value.origins]

    @pytest.mark.parametrize(("lower", "upper"), [("{b: 1}", "x"), ("x", "{b: 1}"), ("[1]", "{b: 1}"), ("[1]", "x")])
    def test_a_value_that_meets_a_map_of_an_appsettings_file_is_refused(self, lower: str, upper: str):
        with pytest.raises(MergeConflict, match="keeps both"):
            of("appsettings", f"a: {lower}", f"A: {upper}")

    @pytest.mark.parametrize("text", ["A: 1\na: 2", "A: {b: 1}\na: 2", "a: 2\nA: {b: 1}", "A:b: 1\nA: {B: 2}"])
    def test_two_keys_of_a_file_that_are_one_for_dotnet_are_an_error(self, text: str):
        with pytest.raises(DocumentError, match=r"1.yaml:2: .* are one key for \.NET"):
            of("appsettings", text)


class TestWhy:
    """A policy with a name explains itself as the core's do."""

    def test_a_key_in_other_capitals_has_its_own_line(self):
        merged = of("appsettings", "a:\n  b: [x, {c: 1}]", "x: 1\nA:\n  B:\n  - y\n  - C: 2")
        assert [str(one) for path in (("a", "b", 0), ("a", "b", 1, "c")) for one in merged.origins(path)] == [
            "2.yaml:4 (file 2.yaml)",
            "2.yaml:5 (file 2.yaml)",
        ]

    def test_each_part_of_a_list_that_became_a_map_names_its_own_line(self):
        site = of(
            "compose",
            "services:\n  w:\n    environment:\n      - A=1\n      - B=2\n",
            "services:\n  w:\n    environment: {A: 3}\n",
        )

        found = {path[-1]: [one.place for one in origins] for path, _, origins in site.leaves()}
        assert {"A": ["2.yaml:3"], "B": ["1.yaml:5"]} == found

    def test_what_is_tagged_override_is_named_by_the_line_of_each_part(self):
        """
        And it does not lose against itself.
        """
        site = of(
            "compose", "services:\n  w:\n    labels: {a: 1}\n", "services:\n  w:\n    labels: !override\n      b: 2\n"
        )

        def claims(path: str) -> list[tuple[str, str | None]]:
            return [(one.outcome.value, one.origin.place) for one in site.trace(path).claims]

        assert [("wins", "2.yaml:4")] == claims("services.w.labels.b")
        assert [("wins", "2.yaml:3"), ("loses", "1.yaml:3")] == claims("services.w.labels")

    def test_who_lost_its_place_in_a_list_is_named(self):
        site = of("compose", "services: {w: {ports: ['8080:80', '1:1']}}", "services: {w: {ports: ['8080:80/tcp']}}")

        assert "loses" in site.explain("services.w.ports.0")
        assert "1.yaml:1" in site.explain("services.w.ports.0")

    def test_the_explanation_of_a_removed_key_names_the_null(self):
        site = of("helm", "a: {x: 1}", "a: {x: null}")

        assert "null removes the default (helm)" in site.explain("a.x")

    def test_rules_for_paths_hold_under_every_policy(self):
        """
        Through tables that other tables ask, too.
        """
        rules = read_rules({"a.l": "append"})
        for name in NAMES:
            if name in ("replace", "tsconfig"):  # there is nothing below its keys
                continue
            layers = [Layer({"a": {"l": [1]}}, Origin("x")), Layer({"a": {"l": [1]}}, Origin("y"))]
            assert [1, 1] == folded(layers, policy_named(name), rules)["a"]["l"], name


class TestAsData:
    def test_each_is_data_that_json_can_hold(self):
        for name in NAMES:
            shown = policy_named(name).to_dict()
            assert shown == json.loads(json.dumps(shown))
            assert {"name", "summary", "source", "lines", "at"} == shown.keys()
            assert shown["lines"]


KEYS = st.sampled_from("abc")
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([0, 1, "x", None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
TREES = st.dictionaries(KEYS, VALUES, max_size=3)


class TestLaws:
    @settings(deadline=None, max_examples=examples(60))
    @given(st.sampled_from([name for name in NAMES if name not in ("compose", "hiera-deep", "netplan")]), TREES)
    def test_one_file_is_itself(self, name: str, tree: dict[str, Any]):
        assume(name not in ("git", "systemd") or "null" not in json.dumps(tree))  # it marks a list that is made void
        wanted = _without_null(tree) if name == "helm" else tree  # Helm 4.2 leaves nulls of a chart out
        assert wanted == folded([Layer(tree)], policy_named(name)).value

    @settings(deadline=None, max_examples=examples(60))
    @given(TREES, TREES)
    def test_a_patch_leads_from_any_document_to_any_other_without_null(self, one: dict[str, Any], two: dict[str, Any]):
        """
        RFC 7396: null is what a patch cannot set.
        """
        wanted = _without_null(two)
        assert wanted == folded([Layer(one), Layer(_difference(one, wanted))], policy_named("json-merge-patch")).value

    @settings(deadline=None, max_examples=examples(60))
    @given(st.sampled_from(NAMES), st.lists(TREES, min_size=2, max_size=4))
    def test_every_leaf_has_an_origin_and_no_input_changes(self, name: str, trees: list[dict[str, Any]]):
        before = json.dumps(trees)
        try:
            site = folded([Layer(tree, Origin("file", str(n))) for n, tree in enumerate(trees)], policy_named(name))
        except MergeConflict:
            return

        assert all(origins for path, _, origins in site.leaves() if path)
        assert before == json.dumps(trees)


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(one) for key, one in value.items() if one is not None}
    return value


def _difference(one: Any, two: Any) -> Any:
    if not (isinstance(one, dict) and isinstance(two, dict)):
        return two
    gone = {key: None for key in one if key not in two}
    return gone | {key: _difference(one.get(key), two[key]) for key in two}


class TestHelmsSet:
    """`--set` as Helm reads it."""

    @pytest.mark.parametrize(
        ("word", "before", "value"),
        [
            ("a=1,b.c=x", {}, {"a": 1, "b": {"c": "x"}}),
            ("l[1]=x", {"l": ["a", "b", "c"]}, {"l": ["a", "x", "c"]}),
            ("l[2]=x", {}, {"l": [None, None, "x"]}),
            ("l[0].port=8080", {"l": [{"name": "http", "port": 80}]}, {"l": [{"name": "http", "port": 8080}]}),
            ("l[0][1]=x", {}, {"l": [[None, "x"]]}),
            ("l={a,1},m={}", {}, {"l": ["a", 1], "m": [""]}),
            (r"a=x\,y,b\.c=1", {}, {"a": "x,y", "b.c": 1}),
            ("a=1.10,b=1e3,c=007,d=0,e=-5,f=,g=yes", {},
             {"a": "1.10", "b": "1e3", "c": "007", "d": 0, "e": -5, "f": "", "g": "yes"}),
            ("a=True,b=FALSE,c=null", {}, {"a": True, "b": False, "c": None}),
            ("a=99999999999999999999", {}, {"a": "99999999999999999999"}),
            ("a.x=1,a.y=2", {"a": {"x": 0, "z": 3}}, {"a": {"x": 1, "y": 2}}),
        ],
    )  # fmt: skip
    def test_a_word_sets_these_values(self, word: str, before: Any, value: Any):
        (layer,) = set_layers([word], before)
        assert layer.value == value

    @pytest.mark.parametrize(
        "word",
        ["a", "a.b", "=1", "a,b=1", "a.=1", "l[x]=1", "l[-1]=1", "l[70000]=1", "l[0]", "l[0]x=1", "l[0=1", "a={x",
         "t[0]=1", "t.u=1", "t=1,t.u=2", "", ".".join("a" * 40) + "=1"],
    )  # fmt: skip
    def test_malformed_values_of_helm_set_are_refused(self, word: str):
        with pytest.raises(BadArgument, match="--set"):
            set_layers([word], {"t": "text"})

    def test_later_words_see_what_earlier_ones_have_set(self):
        assert [one.value for one in set_layers(["l[0]=a", "l[1]=b"], {})] == [{"l": ["a"]}, {"l": ["a", "b"]}]

    def test_a_list_of_the_chart_is_replaced_and_one_of_a_values_file_is_changed(self):
        chart, file = {"l": [1, 2], "m": {"x": 1}}, {"l": [3, 4]}
        assert fold([chart, *set_layers(["l[0]=9"], {})], "helm").value == {"l": [9], "m": {"x": 1}}
        site = fold([chart, Layer(file, Origin("file", "", "f.yaml", 1)), *set_layers(["l[0]=9"], file)], "helm")
        assert site.value["l"] == [9, 4]
        assert [str(site.origins(f"l.{at}")[0]) for at in (0, 1)] == ["option --set l[0]", "f.yaml:1 (file)"]

    def test_null_removes_what_the_chart_has(self):
        assert fold([{"a": 1, "b": 2}, *set_layers(["a=null"], {})], "helm").value == {"b": 2}
