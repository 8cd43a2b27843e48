"""Compositions: layers read from a directory, a classifier and providers, and the command line over them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nodeattrs.bindings import (
    PROVIDERS,
    BindingError,
    BindingErrors,
    Bindings,
    Composition,
    Inventory,
    Request,
    effective_categories,
    environment_of,
    layer_references,
)
from nodeattrs.cli import main
from tests.bound_names import parameters_of, variables_of

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example" / "bindings"
WEB1 = {"fqdn": "web1.example.com", "role": "web", "is_virtual": True}


def site(root: Path, **files: str) -> Path:
    """A site on disk: `a__b` in a name is a directory, `_dot_` the ending's dot."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def layered(root: Path, *layers: dict[str, Any]) -> Path:
    """A site whose description lists these layers."""
    return site(root, manifests__site_dot_json=json.dumps({"site": {"layers": layers}}))


class TestTheExample:
    def test_the_composition_example_gives_its_node_the_documented_values(self):
        """Text, data, categories, layers, a resolution, classes and parameters."""
        injector = Composition(EXAMPLE, facts=WEB1).injector()

        assert injector.inject("ssh::port", int) == 2222
        assert injector.inject("ssh::banner") == "web1.example.com: authorised users only"
        assert injector.inject("ssh::users")["anna"] == {"shell": "zsh", "groups": ["ops"]}
        assert injector.inject("ntp::drift") == "/srv/ntp/drift"
        assert injector.inject("shop::workers") == 8
        assert parameters_of(injector, "ntp")["enable"] is True
        assert injector.classes() == ["ntp", "shop", "ssh"]
        assert injector.check() == []

    def test_the_composition_example_differs_for_another_node(self):
        """Nothing of the first one's categories holds."""
        injector = Composition(EXAMPLE, node="db1.example.com", facts={"role": "db"}).injector()

        assert injector.inject("ssh::port") == 22
        assert injector.classes() == ["ssh"]


class TestReading:
    def test_every_fault_of_every_file_is_in_one_report(self, tmp_path):
        """Syntax, shape, names and what the injector finds."""
        root = site(
            tmp_path,
            bindings__default_dot_pp="bindings default {\n  bind 'a' too 1\n}",
            modules__x__bindings__default_dot_yaml="name: x::default\nitems: [{kind: bnd}]\n",
            modules__y__bindings__default_dot_pp="bindings z::default { }",
            modules__w__bindings__default_dot_pp="bindings w::default { bind abstract 'open' }",
        )

        with pytest.raises(BindingErrors) as caught:
            Composition(root, node="n").injector()
        assert caught.value.kinds == {"syntax", "format", "set-name", "abstract-not-overridden"}
        assert [error.place for error in caught.value.errors] == [
            "bindings/default.pp:2",
            "modules/w/bindings/default.pp:1",
            "modules/x/bindings/default.yaml:2",
            "modules/y/bindings/default.pp:1",
        ]

    def test_a_set_with_two_files_names_the_later_one(self, tmp_path):
        """Whatever the two say."""
        text = "bindings x::more { }"
        root = site(
            tmp_path, modules__x__bindings__more_dot_pp=text, modules__x__bindings__more_dot_yaml="name: x::more"
        )

        with pytest.raises(BindingErrors, match=r"the set x::more has two files: more\.pp and more\.yaml") as caught:
            Composition(root, node="n").injector()
        assert "modules/x/bindings/more.yaml" in [error.place for error in caught.value.errors]

    def test_refresh_reads_again_what_has_changed(self, tmp_path):
        """And says whether anything has."""
        root = site(tmp_path, bindings__default_dot_pp="bindings default { bind 'a' to 1 }")
        composition = Composition(root, node="n")

        assert not composition.refresh()
        assert composition.injector().inject("a") == 1
        file = root / "bindings/default.pp"
        file.write_text("bindings default { bind 'a' to 2 }")
        os.utime(file, ns=(1, 1))
        assert composition.refresh()
        assert composition.injector().inject("a") == 2

    def test_environments_choose_directories(self, tmp_path):
        """Static, dynamic, wished, unknown."""
        root = site(
            tmp_path,
            environments_dot_pp='site { dynamic_environments { "$confdir/envs": } }',
            bindings__default_dot_pp="bindings default { bind 'a' to 'production' }",
            envs__test__bindings__default_dot_pp="bindings default { bind 'a' to \"$environment\" }",
        )

        assert Composition(root, node="n").injector().inject("a") == "production"
        assert Composition(root, node="n", environment="test").injector().inject("a") == "test"
        with pytest.raises(BindingErrors, match="unknown environment"):
            Composition(root, node="n", environment="tset").injector()

    def test_the_site_may_be_data(self, tmp_path):
        """Categories, layers and assignments."""
        root = site(
            tmp_path,
            manifests__site_dot_yaml=(
                "site:\n  categories: [[rack, {variable: rack}]]\n  layers: [{name: own, include: ['confdir:/**']}]\n"
            ),
            bindings__deep__er__x_dot_pp="bindings deep::er::x { when rack r1 { bind 'a' to 1 } }",
        )

        assert Composition(root, node="n", facts={"rack": "R1"}).injector().inject("a") == 1

    @pytest.mark.parametrize(
        ("file", "text", "lines"),
        [
            (
                "manifests__site_dot_yaml",
                "site:\n  categories:\n  - [rack, {variable: rack}]\n  - [floor, {variable: floor}]\n",
                [3, 4],
            ),
            ("manifests__site_dot_pp", "site {\n  categories {\n    rack => $rack,\n    floor => $floor } }", [3, 4]),
        ],
    )
    def test_the_lines_that_list_categories_are_causes(self, tmp_path, file, text, lines):
        """Of what stands in conditions on them, and of nothing else."""
        said = "bindings default { bind 'b' to 1 when rack r1 and floor 2 { bind 'a' to 1 } }"
        root = site(tmp_path, bindings__default_dot_pp=said, **{file: text})
        injector = Composition(root, node="n", facts={"rack": "R1", "floor": 2}).injector()
        listed = [cause for cause in injector.explain("a").causes() if cause.what.startswith("category")]

        assert [(cause.what, cause.origin.line) for cause in listed] == [
            ("category rack is listed", lines[0]),
            ("category floor is listed", lines[1]),
        ]
        assert listed[0].origin.file == f"manifests/site.{file.rpartition('_')[2]}"
        assert not [cause for cause in injector.explain("b").causes() if cause.what.startswith("category")]

    @pytest.mark.parametrize(
        ("reference", "kind"),
        [
            ("confdir:/none", "no-such-set"),
            ("ldap:/none", "unknown-scheme"),
            ("module:/../../etc/passwd", "bad-uri"),
            ("3", "bad-uri"),
        ],
    )
    def test_references_that_lead_nowhere(self, tmp_path, reference, kind):
        """Names never become paths."""
        with pytest.raises(BindingErrors) as caught:
            Composition(layered(tmp_path, {"name": "x", "include": reference}), node="n").injector()
        assert kind in caught.value.kinds

    @pytest.mark.parametrize(
        ("layer", "kind"), [({"name": "x", "include": 3}, "bad-uri"), ({"include": "confdir:/x"}, "bad-layer")]
    )
    def test_malformed_layers_of_a_composition_are_refused(self, layer, kind):
        with pytest.raises(BindingError) as caught:
            layer_references([layer], Inventory())
        assert caught.value.kind == kind

    def test_a_site_cannot_leave_its_root(self, tmp_path):
        """Nothing outside of it is read."""
        site(tmp_path / "x", bindings__default_dot_pp="bindings default { bind 'a' to 1 }")
        root = site(tmp_path / "s", environments_dot_pp="site { Environment { bindingsdir => '../../x/bindings' } }")

        with pytest.raises(BindingErrors, match="leaves the site"):
            Composition(root, node="n").injector()

    @pytest.mark.parametrize("content", [b"\xff\xfe", b"bindings default { bind 'a' to 'x", b"\x00", b"}" * 10])
    def test_a_file_that_is_no_text_is_an_error_with_its_name(self, tmp_path, content):
        """Never a traceback."""
        root = site(tmp_path, bindings__default_dot_pp="")
        (root / "bindings/default.pp").write_bytes(content)

        with pytest.raises(BindingErrors, match=r"bindings/default\.pp"):
            Composition(root, node="n").injector()


class TestPlaces:
    """Where a value is written over several lines, each entry of it has its own."""

    def lines(self, root, key: str, *paths: str) -> list[int | None]:
        explanation = Composition(root, node="n").injector().explain(key)
        return [explanation.origins(path)[0].line for path in paths]

    def test_of_the_text_language(self, tmp_path):
        """Hashes and lists in one another; of one key twice the last."""
        text = "bindings default {\n  bind 'a'\n    to {\n      x => [1,\n 2], 'y' => {\n z => 3 },\n x => 4 }\n}\n"
        root = site(tmp_path, bindings__default_dot_pp=text)

        assert self.lines(root, "a", "", "x", "y", "y.z") == [3, 7, 5, 6]

    def test_each_entry_of_a_value_in_data_has_its_own_line(self, tmp_path):
        """Whatever the form of the producer."""
        text = "name: default\nitems:\n- kind: bind\n  name: a\n  to:\n    value:\n      x:\n      - 1\n      - 2\n"
        root = site(tmp_path, bindings__default_dot_yaml=text)

        assert self.lines(root, "a", "x.0", "x.1") == [8, 9]

    def test_of_parameters_and_variables(self, tmp_path):
        """Each is a key of its own."""
        text = (
            "bindings default {\n bind parameters ntp to {\n a => 1,\n b => [\n 2] }\n bind variables to {\n c => 3 }}"
        )
        root = site(tmp_path, bindings__default_dot_pp=text)

        assert self.lines(root, "/param/Class[ntp]/b", "", "0") == [4, 5]
        assert self.lines(root, "/var/c", "") == [7]

    def test_a_value_of_a_classifier_has_the_line_of_its_file(self, tmp_path):
        """The line of its file."""
        file = tmp_path / "enc.yaml"
        file.write_text("classes:\n  ntp:\n    servers: [a]\nparameters:\n  dc: ber\n")
        root = layered(tmp_path, {"name": "enc", "include": "enc:"})
        injector = Composition(root, node="n", classifier=str(file)).injector()

        assert injector.explain("/param/Class[ntp]/servers").origins()[0].line == 3
        assert injector.explain("/var/dc").origins()[0].line == 5

    def test_a_fragment_has_the_line_of_its_element(self, tmp_path):
        """The element's own line."""
        text = "bindings default {\n multibind Array[Data], 'l'\n bind to [1,\n 2] in 'l'\n bind to 3 in 'l'\n}\n"
        root = site(tmp_path, bindings__default_dot_pp=text)

        assert self.lines(root, "l", "0", "1", "2") == [3, 4, 5]


class TestClassifiersAndProviders:
    DATA: ClassVar[dict[str, Any]] = {
        "classes": {"ntp": {"servers": ["a"]}, "ssh": None},
        "parameters": {"dc": "ber"},
        "environment": "production",
    }

    def test_what_a_classifier_says_lands_in_the_category_of_the_node(self, tmp_path):
        """Classes, their parameters and top scope variables; in parts, too."""
        root = layered(tmp_path, {"name": "enc", "include": "enc:"})
        injector = Composition(root, node="n", classifier=self.DATA).injector()

        assert injector.classes() == ["ntp", "ssh"]
        assert parameters_of(injector, "ntp") == {"servers": ["a"]}
        assert variables_of(injector) == {"dc": "ber"}
        only = layered(tmp_path, {"name": "enc", "include": "enc:/classes"})
        assert variables_of(Composition(only, node="n", classifier=self.DATA).injector()) == {}

    def test_a_classifier_is_a_file_a_command_or_a_callable(self, tmp_path):
        """A command is given the node's name."""
        file = tmp_path / "enc.yaml"
        file.write_text(json.dumps(self.DATA))
        script = tmp_path / "enc.sh"
        script.write_text('#!/bin/sh\necho "classes: [$1]"\n')
        script.chmod(0o755)
        root = layered(tmp_path, {"name": "enc", "include": "enc:"})

        for classifier, classes in [
            (str(file), ["ntp", "ssh"]),
            ([str(script)], ["n"]),
            (lambda node: {"classes": [node]}, ["n"]),
        ]:
            composition = Composition(root, node="n", classifier=classifier)
            assert composition.injector().classes() == classes

    @pytest.mark.parametrize(
        "classifier",
        [
            ["/no/such/program"],
            ["false"],
            {"classes": 3},
            {"parameters": "a"},
            {"variables": [1]},
            lambda node: 3,
            lambda node: 1 / 0,
        ],
    )
    def test_a_classifier_that_fails_is_a_fault_of_the_composition(self, tmp_path, classifier):
        """Not a traceback."""
        with pytest.raises(BindingErrors) as caught:
            Composition(tmp_path, node="n", classifier=classifier).injector()
        assert caught.value.kinds == {"classifier-failed"}

    def test_a_provider_is_called_once_a_layer(self, tmp_path):
        """With all references of its scheme, and the request."""
        calls = []

        def people(references: list[str], request: Request) -> list[Bindings]:
            calls.append((references, request.node, request.environment))
            return [Bindings.of_values("people", {"boss": "Ada"})]

        both = {"name": "a", "include": ["ldap:/x", "ldap:/y"]}
        root = layered(tmp_path, both, {"name": "b", "include": "confdir:/none?optional"})
        composition = Composition(root, node="n", providers={"ldap": people})

        assert composition.injector().inject("boss") == "Ada"
        assert calls == [(["ldap:/x", "ldap:/y"], "n", "production")]

    def test_a_provider_may_be_an_entry_point(self, tmp_path, monkeypatch):
        """It is loaded when its scheme is used, and not before."""
        loaded = []

        class Point:
            name = "crm"

            def load(self) -> Any:
                loaded.append(self.name)
                return lambda references, request: [Bindings.of_values("crm", {"at": references})]

        monkeypatch.setattr("nodeattrs.packages.entry_points", lambda group: [Point()] if group == PROVIDERS else [])

        assert Composition(layered(tmp_path), node="n").injector().get("at") is None
        assert loaded == []
        root = layered(tmp_path, {"name": "a", "include": "crm:/x"})
        assert Composition(root, node="n").injector().inject("at") == ["crm:/x"]

    def test_a_provider_that_raises_is_a_fault_with_its_scheme(self, tmp_path):
        """The others are still read."""

        def broken(references: list[str], request: Request) -> list[Bindings]:
            raise OSError("no line")

        root = layered(tmp_path, {"name": "a", "include": "ldap:/x"})
        with pytest.raises(BindingErrors, match="the provider of ldap: has failed: OSError: no line"):
            Composition(root, node="n", providers={"ldap": broken}).injector()

    def test_a_provider_of_a_package_that_cannot_be_loaded_is_a_fault_with_its_scheme(self, tmp_path, monkeypatch):
        class Point:
            name = "crm"

            def load(self) -> Any:
                raise ImportError("no module")

        monkeypatch.setattr("nodeattrs.packages.entry_points", lambda group: [Point()] if group == PROVIDERS else [])
        root = layered(tmp_path, {"name": "a", "include": "crm:/x"})

        with pytest.raises(BindingErrors, match="the provider of crm: has failed: ImportError: no module"):
            Composition(root, node="n").injector()


class TestTheCommand:
    def ask(self, capsys, *words: str) -> tuple[int, str, str]:
        """The exit code, and what was written."""
        code = main(["bindings", *words, "--site", str(EXAMPLE), "--facts", str(EXAMPLE / "web1.yaml")])
        out = capsys.readouterr()
        return code, out.out, out.err

    def test_check_inject_explain_list_graph(self, capsys):
        """Each says its thing."""
        assert self.ask(capsys, "check") == (0, "13 keys, 5 fragments, 0 errors, 0 warnings\n", "")
        assert self.ask(capsys, "inject", "shop::url")[1] == "https://shop.example.com/\n"
        assert "a higher layer hides what lies below" in " ".join(self.ask(capsys, "explain", "ssh::port")[1].split())
        assert "classes: ntp, shop, ssh" in self.ask(capsys, "list")[1]
        assert self.ask(capsys, "graph")[1].startswith("digraph bindings {")

    def test_explain_follows_a_path_into_the_value(self, capsys):
        """To the line of the fragment; a path that is not there has a hint."""
        assert (
            "modules/ssh/bindings/default.pp:10"
            in self.ask(capsys, "explain", "ssh::users", "--path", "anna.groups.0")[1]
        )
        code, _, err = self.ask(capsys, "explain", "ssh::users", "--path", "ana")
        assert (code, "did you mean anna?" in err) == (1, True)

    def test_reports_are_data_too(self, capsys):
        """JSON with a version."""
        for words in (["check"], ["inject", "ssh::users"], ["explain", "/classes"], ["list"], ["graph"]):
            assert json.loads(self.ask(capsys, *words, "--format", "json")[1])["version"] == 1

    def test_what_is_missing_or_wrong_is_exit_1(self, capsys, tmp_path):
        """With a near miss; and every error at once."""
        code, _, err = self.ask(capsys, "inject", "ssh::prot")
        assert (code, "did you mean ssh::port?" in err) == (1, True)
        root = site(tmp_path, bindings__default_dot_pp="bindings default { bind abstract 'a' bind override 'b' to 1 }")
        code = main(["bindings", "check", "--site", str(root)])
        assert (code, "2 errors" in capsys.readouterr().out) == (1, True)


@pytest.mark.parametrize(
    ("listed", "kind"),
    [
        ([("common", None)], "category-common"),
        ([("environment", "test")], "category-environment-value"),
        ([("environment", False)], "category-environment-value"),
        ([("rack", 1), ("rack", 2)], "category-twice"),
        ([("node", None), ("rack", 1), ("node", None)], "category-twice"),
        ([("environment", True), ("node", "n")], "category-order"),
    ],
)
def test_categories_that_cannot_be_are_refused(listed, kind):
    """Each with its word."""
    with pytest.raises(BindingError) as caught:
        effective_categories(listed, fqdn="n", environment="test")

    assert caught.value.kind == kind


def test_a_site_chooses_where_the_environment_stands():
    """The node is first, and what is not listed comes last."""
    listed = [("rack", 12), ("environment", True), ("role", "web")]

    assert effective_categories(listed, fqdn="N.x", environment="test") == [
        ("node", "n.x"), ("rack", "12"), ("environment", "test"), ("role", "web"),
    ]  # fmt: skip


def test_an_environment_refuses_what_is_no_attribute():
    """Left open: an environment without envdir takes the default."""
    assert environment_of({"environments": {"e": {}}}, "e", confdir="/c").envdir == "/c"
    with pytest.raises(BindingError, match="no attribute 'colour'"):
        environment_of({"environments": {"e": {"colour": "red"}}}, "e", confdir="/c")


DYNAMIC = {"dynamic": {"dir": "/envs", "attrs": {"modulepath": "m:/x/:"}}, "defaults": {"manifest": "all.pp"}}


@pytest.mark.parametrize(
    ("site", "selected", "paths"),
    [
        (None, None, ("/c", ("/c/modules",), "/c/manifests", "/c/manifests/site.pp")),
        ({"environments": {"production": None}}, None, ("/c", ("/c/modules",), "/c/manifests", "/c/manifests/site.pp")),
        (
            {"environments": {"e": {"envdir": "sub/", "manifestdir": "/m"}}},
            "e",
            ("/c/sub", ("/c/sub/modules",), "/m", "/m/site.pp"),
        ),
        (
            DYNAMIC,
            "there",
            ("/envs/there", ("/envs/there/m", "/x"), "/envs/there/manifests", "/envs/there/manifests/all.pp"),
        ),
        (DYNAMIC, "production", ("/c", ("/c/modules",), "/c/manifests", "/c/manifests/all.pp")),
        (
            {**DYNAMIC, "environments": {"there": {}}},
            "there",
            ("/c", ("/c/modules",), "/c/manifests", "/c/manifests/all.pp"),
        ),
    ],
)
def test_an_environment_has_its_paths(site, selected, paths):
    """A static one before a dynamic one, a dynamic one where its directory is; production always."""
    found = environment_of(site, selected, confdir="/c", is_directory={"/envs/there"}.__contains__)

    assert (selected or "production") == found.name
    assert paths == (found.envdir, found.modulepath, found.manifestdir, found.manifest)


@pytest.mark.parametrize(
    ("site", "selected", "kind"),
    [
        (DYNAMIC, "gone", "unknown-environment"),
        (DYNAMIC, "..", "unknown-environment"),
        (DYNAMIC, ".", "unknown-environment"),
        (DYNAMIC, "there/x", "unknown-environment"),
        (None, "there", "unknown-environment"),
        ({"dynamic": {"dir": "envs"}}, "there", "dynamic-not-absolute"),
        ({"dynamic": {"dir": None}}, "there", "dynamic-not-absolute"),
        ({"dynamic": {"dir": "/envs", "attrs": {"envdir": "x"}}}, "there", "envdir-not-allowed"),
        ({"environments": {"e": {"manifest": 1}}}, "e", "environment-attribute"),
        ({"defaults": {"colour": "red"}}, None, "environment-attribute"),
    ],
)
def test_an_environment_that_cannot_be_is_refused(site, selected, kind):
    with pytest.raises(BindingError) as caught:
        environment_of(
            site, selected, confdir="/c", is_directory=lambda path: True if kind[0] != "u" else path == "/envs/there"
        )
    assert kind == caught.value.kind
