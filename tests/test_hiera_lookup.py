"""Lookups in trees on disk: what the vectors cannot say, and what goes wrong with its place and way out."""

from __future__ import annotations

import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.errors import BadArgument, BadName, EnvironmentNotFound, NotFound, TooDeep
from nodeattrs.hiera import (
    REQUIRED,
    BadData,
    BadLookup,
    CannotDig,
    CannotMerge,
    Hiera,
    HieraError,
    KeyNotFound,
    Sensitive,
)
from tests import hiera_trees
from tests.hiera_trees import Site, written

site = hiera_trees.site
ONE = "version: 5\nhierarchy:\n- name: one\n  path: "


class TestTheAnswer:
    def test_a_looked_up_value_belongs_to_the_caller(self, site: Site):
        """
        Changing it changes no later answer, merged or not.
        """
        scope = site({"data/common.yaml": "l: [1]\nh: {a: [1]}\n"})
        for merge in (None, "deep", "unique"):
            scope.lookup("l", merge=merge).append(2)
        scope.lookup("h")["a"].append(2)

        assert [1] == scope.lookup("l")
        assert {"a": [1]} == scope.lookup("h", merge="hash")

    def test_defaults_and_overrides_are_copied_too(self, site: Site):
        """
        The caller's own values stay as they are.
        """
        scope = site({})
        given = {"k": [1]}
        scope.lookup("k", override=given).append(2)
        scope.lookup("k", default_values_hash=given).append(2)
        scope.lookup("k", default_value=given["k"]).append(2)

        assert {"k": [1]} == given

    def test_the_keys_are_those_of_all_files_and_modules(self, site: Site):
        """
        Text only, without the options, sorted.
        """
        scope = site(
            {
                "data/nodes/web1.yaml": "z: 1\n2: 1\nlookup_options: {}\n",
                "data/common.yaml": "b: 1\nz: 1\n",
                "modules/m/hiera.yaml": "version: 5\n",
                "modules/m/data/common.yaml": "m::a: 1\n",
            }
        )

        assert ["b", "m::a", "z"] == scope.known_keys()

    def test_a_dig_goes_all_steps_down_wherever_the_value_is(self, site: Site):
        """
        In files, and in a module's default hierarchy.
        """
        scope = site(
            {
                "data/common.yaml": "a: {b: [{c: 1}]}\n",
                "modules/m/hiera.yaml": "version: 5\ndefault_hierarchy:\n- {name: d, path: d.yaml}\n",
                "modules/m/data/d.yaml": "m::a: {b: [{c: 2}]}\n",
            }
        )

        assert [1, {"c": 1}, [{"c": 1}]] == [scope.lookup(key) for key in ("a.b.0.c", "a.b.0", "a.b")]
        assert [2, {"c": 2}, [{"c": 2}]] == [scope.lookup(f"m::{key}") for key in ("a.b.0.c", "a.b.0", "a.b")]
        assert 2 == scope.explain("m::a.b.0.c").value

    def test_null_is_an_answer(self, site: Site):
        """
        It hides what lies below, and no default replaces it.
        """
        scope = site({"data/nodes/web1.yaml": "k: ~\n", "data/common.yaml": "k: 1\n"})

        assert scope.lookup("k", default_value=2) is None

    def test_the_locked_forms_ignore_lookup_options(self, site: Site):
        """
        hiera, hiera_array and hiera_hash are first, unique and hash, whatever is configured.
        """
        scope = site(
            {
                "data/nodes/web1.yaml": "k: [n]\nh: {a: {n: 1}}\n",
                "data/common.yaml": "k: [c]\nh: {a: {c: 1}}\nlookup_options:\n  k: {merge: deep}\n  h: {merge: deep}\n",
            }
        )

        assert (["n"], ["n", "c"]) == (scope.hiera("k"), scope.hiera_array("k"))
        assert {"a": {"n": 1}} == scope.hiera_hash("h")
        assert {"a": {"c": 1, "n": 1}} == scope.lookup("h")
        assert 7 == scope.hiera("nope", 7)

    def test_the_parameters_of_a_class(self, site: Site):
        """
        Null counts as not given; one without value and default is an error that names the key.
        """
        scope = site({"data/common.yaml": "ntp::servers: [a]\nntp::port: ~\n"})
        declared = {"servers": REQUIRED, "port": 123, "driftfile": None}

        assert {"servers": ["a"], "port": 123} == scope.parameters("ntp", declared)
        with pytest.raises(BadLookup, match="write ntp::tinker into the data"):
            scope.parameters("ntp", {"tinker": REQUIRED})

    @pytest.mark.parametrize(
        ("wanted", "key", "kind"),
        [("String", "m", "map"), ("Hash", "t", "text"), ("Array", "t", "text"), ("String", "nobody", "null")],
    )
    def test_an_answer_of_another_type_is_refused(self, site: Site, wanted: str, key: str, kind: str):
        """
        A default, too; one that fits is given.
        """
        scope = site({"data/common.yaml": "t: x\nm: {a: 1}\n"})

        assert ("x", {"a": 1}) == (scope.lookup("t", value_type="String"), scope.lookup("m", value_type="Hash"))
        with pytest.raises(BadLookup, match=f"the value of '{key}' is a {kind}, and no {wanted}") as caught:
            scope.lookup(key, value_type=wanted, default_value=None)
        assert "value_type_mismatch" == caught.value.kind

    def test_a_scope_says_whose_it_is(self, site: Site):
        assert "<Scope web1 in production>" == repr(site({}))
        assert "<Scope without a name in production>" == repr(site({}, node=""))


INTERPOLATED = {
    "text": ("%{facts.os.family} %{lookup('host')}", "Debian web1"),
    "functions": ("%{scope('facts.os.family')} %{hiera('host')} %{} %{::} %{''}|", "Debian web1   |"),
    "escaped": ("%{literal('%')}{lookup('host')}", "%{lookup('host')}"),
    "nobody": ("[%{trusted.nobody}] [%{facts.nobody.deeper}]", "[] []"),
    "whole": ("%{alias('given')}", ["a", {"b": "Debian"}]),
    "numbers": ("%{facts.float} %{facts.large} %{facts.small} %{facts.endless}", "1.5 1.0e+20 1.0e-07 Infinity"),
    "containers": ("%{facts.map}", '{"a"=>"x", "b"=>[1, nil, true]}'),
    "quoted": ("%{facts.texts}", r"""["q\"uo\\te", "\#{x} #y", "line\nend\u0001"]"""),
    "map": (
        {"%{lookup('host')}": 1, "%{facts.seven}": 2, "plain": "%{facts.os.family}", "x": "x"},
        {"web1": 1, "7": 2, "plain": "Debian", "x": "x"},
    ),
    "list": (["a", "%{facts.os.family}", ["b", "%{lookup('host')}"]], ["a", "Debian", ["b", "web1"]]),
}
FACTS = {
    "os": {"family": "Debian"}, "seven": 7, "float": 1.5, "large": 1e20, "small": 1e-7, "endless": float("inf"),
    "map": {"a": "x", "b": [1, None, True]}, "texts": ['q"uo\\te', "#{x} #y", "line\nend\x01"],
}  # fmt: skip


class TestExpressions:
    @pytest.mark.parametrize("key", INTERPOLATED)
    def test_what_stands_in_a_value_is_filled_in(self, site: Site, key: str):
        """
        In keys, values and elements; numbers and containers in Ruby's notation.
        """
        data = {"host": "web1", "given": ["a", {"b": "%{facts.os.family}"}], "k": INTERPOLATED[key][0]}
        scope = site({"data/common.yaml": json.dumps(data)}, facts=FACTS)

        assert INTERPOLATED[key][1] == scope.lookup("k")

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("x%{alias('given')}", "alias_not_entire_string"),
            ("%{whatever('x')}", "unknown_interpolation_method"),
        ],
    )
    def test_what_means_nothing_is_refused_where_it_is_needed(self, site: Site, text: str, kind: str):
        with pytest.raises(BadLookup) as caught:
            site({"data/common.yaml": json.dumps({"k": text})}).lookup("k")

        assert kind == caught.value.kind


class TestAWholeTree:
    def test_every_file_that_says_a_key_is_named(self, site: Site):
        """
        Whoever reads it.
        """
        tree = site({"data/common.yaml": "a: 1\nk: 1\n", "data/old/stale.yaml": "k: ~\n", "data/x.yaml": "b: 1\n"}).tree

        assert ["data/common.yaml:2", "data/old/stale.yaml:1"] == [one.place for one in tree.who_has("k")]
        assert [] == tree.who_has("nobody")

    def test_checking_reads_every_file_and_goes_on_after_a_fault(self, site: Site):
        """
        It counts the files that there are.
        """
        tree = site({"data/a.yaml": "a: [", "data/b.yaml": "b: 1\n", "data/c.yaml": "c: }\n"}).tree
        count, faults = tree.check()

        assert 3 == count
        assert ["data/a.yaml", "data/c.yaml"] == [fault.file for fault in faults if isinstance(fault, BadData)]
        assert 2 == len(faults)

    def test_checking_counts_a_file_that_two_environments_share_once(self, tmp_path: Path):
        level = "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n"
        for name in ("global", "environments/one", "environments/two"):
            (tmp_path / name / "data").mkdir(parents=True)
            (tmp_path / name / "hiera.yaml").write_text(level)
            (tmp_path / name / "data/c.yaml").write_text("a: [" if name == "global" else "a: 1\n")
        tree = Hiera(environmentpath=tmp_path / "environments", global_config=tmp_path / "global/hiera.yaml")

        count, faults = tree.check()

        assert (3, 1) == (count, len(faults))


class TestLayers:
    def test_without_a_global_file_common_yaml_beside_it_counts(self, tmp_path: Path):
        """
        And a file that is there replaces that.
        """
        written(tmp_path, {"global/data/common.yaml": "k: g\n", "global/data/own.yaml": "k: own\n"})
        (tmp_path / "hiera.yaml").unlink()
        place = tmp_path / "global" / "hiera.yaml"

        assert "g" == Hiera(global_config=place).scope().lookup("k")
        place.write_text(ONE + "own.yaml\n")
        assert "own" == Hiera(global_config=place).scope().lookup("k")

    def test_a_tree_serves_many_environments(self, tmp_path: Path):
        """
        One loaded tree, a scope for each.
        """
        for name in ("production", "staging"):
            written(tmp_path / name, {"data/common.yaml": f"k: {name}\n"})
        hiera = Hiera(environmentpath=tmp_path)

        assert ["production", "staging"] == [hiera.scope(environment=name).lookup("k") for name in hiera.environments()]

    def test_an_environment_that_is_not_there_is_told(self, tmp_path: Path):
        """
        With what may have been meant; a name that would be a path is refused.
        """
        written(tmp_path / "production", {})
        hiera = Hiera(environmentpath=tmp_path)

        with pytest.raises(EnvironmentNotFound, match="did you mean production"):
            hiera.scope(environment="producton").lookup("k")
        with pytest.raises(BadName):
            hiera.scope(environment="../production").lookup("k")

    def test_modules_come_from_the_modulepath_too(self, site: Site, tmp_path: Path):
        """
        After those of the environment.
        """
        more = tmp_path / "more"
        written(more / "ntp", {"data/common.yaml": "ntp::k: shared\n"})
        scope = site({}, modulepath=[more])

        assert "shared" == scope.lookup("ntp::k")

    def test_a_name_too_long_for_a_disk_is_of_nothing_there(self, site: Site, tmp_path: Path):
        """Of a module in a key, and of an environment."""
        long = "a" * 5_000

        assert 1 == site({}).lookup(f"{long}::k", default_value=1)
        with pytest.raises(EnvironmentNotFound):
            Hiera(environmentpath=tmp_path).scope(environment=long).lookup("k")

    def test_a_key_whose_module_would_be_a_path_has_no_module(self, site: Site):
        """
        No file is looked for.
        """
        with pytest.raises(KeyNotFound):
            site({}).lookup("'../../etc::passwd'")

    def test_no_hiera_yaml_at_all_is_told(self, tmp_path: Path):
        """
        Where it was looked for; and two ways at once are refused.
        """
        with pytest.raises(BadArgument, match="there is no"):
            Hiera(tmp_path / "nope")
        with pytest.raises(BadArgument, match=r"no hiera.yaml is named"):
            Hiera()
        with pytest.raises(BadArgument, match="both config and environmentpath"):
            Hiera(tmp_path, environmentpath=tmp_path)


class TestATreeAndItsScopes:
    def test_files_are_read_once_until_forgotten(self, site: Site, tmp_path: Path):
        """
        Also that one is not there.
        """
        scope = site({"data/common.yaml": "k: 1\n"})
        assert 1 == scope.lookup("k")
        written(tmp_path, {"data/common.yaml": "k: 2\n", "data/nodes/web1.yaml": "l: 3\n"})

        assert 1 == scope.tree.scope(node="web1").lookup("k")
        scope.tree.forget()
        assert (2, 3) == (scope.tree.scope(node="web1").lookup("k"), scope.tree.scope(node="web1").lookup("l"))

    def test_nodes_look_where_their_own_variables_say(self, site: Site):
        text = (
            "version: 5\nhierarchy:\n- {name: own, path: 'nodes/%{trusted.certname}.yaml'}\n"
            "- {name: dc, paths: ['%{facts.dc}.yaml', '%{facts.dc}%{facts.more}.yaml']}\n"
            "- {name: some, glob: 'some/*.yaml'}\n"
        )
        files = {"data/ber.yaml": "k: ber\n", "data/ham.yaml": "k: ham\n", "data/nodes/b.yaml": "k: b\n"}
        tree = site({"hiera.yaml": text, **files}).tree

        def ask(name: str, dc: str) -> Any:
            return tree.scope({"dc": dc}, node=name).lookup("k", default_value=None)

        nodes = [("a", "ber"), ("b", "ber"), ("c", "ham"), ("a", "ham"), ("a", "x" * 500)]
        assert ["ber", "b", "ham", "ham", None] == [ask(name, dc) for name, dc in nodes]

    def test_threads_share_a_tree(self, site: Site):
        """
        Each node gets its own answer, whoever loads the files.
        """
        scope = site(
            {f"data/nodes/n{at}.yaml": f"k: [{at}]\n" for at in range(8)}
            | {"data/common.yaml": "k: [c]\nv: '%{facts.at}'\nlookup_options: {k: {merge: unique}}\n"}
        )
        answers: dict[int, list] = {at: [] for at in range(8)}
        gate = threading.Barrier(8)

        def ask(at: int) -> None:
            gate.wait()
            for _ in range(50):
                one = scope.tree.scope({"at": at}, node=f"n{at}")
                answers[at].append((one.lookup("k"), one.lookup("v")))

        threads = [threading.Thread(target=ask, args=(at,)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert {at: [([at, "c"], str(at))] * 50 for at in range(8)} == answers

    def test_warnings_come_once_and_are_errors_where_one_is_strict(self, site: Site):
        """
        A data file without keys, a key written twice, a version 3 file.
        """
        files = {
            "data/common.yaml": "k: 1\nk: 2\n",
            "data/nodes/web1.yaml": "- 1\n",
            "modules/m/hiera.yaml": ":backends: [yaml]\n",
        }
        scope = site(files, puppet_version=7)
        for _ in range(2):
            scope.lookup("k")
            scope.lookup("m::k", default_value=None)

        assert ["data/nodes/web1.yaml:1", "modules/m/hiera.yaml:1", "data/common.yaml:2"] == [
            f"{warning.file}:{warning.line}" for warning in scope.tree.warnings
        ]
        with pytest.raises(BadData, match="is not a map"):
            site(files, strict=True, puppet_version=7).lookup("k")


class TestFactsAreFromTheNode:
    @pytest.mark.parametrize("role", ["../../secret", "/secret", "../..", "web/../../../secret", "a\0b"])
    def test_a_fact_never_leads_out_of_the_datadir(self, site: Site, role: str):
        """
        Neither by climbing nor from the root; the message shows the template.
        """
        scope = site({"hiera.yaml": ONE + "'%{facts.role}.yaml'\n", "secret.yaml": "k: stolen\n"}, facts={"role": role})

        with pytest.raises(BadLookup, match=r"%\{facts.role\}.yaml") as caught:
            scope.lookup("k")

        assert "path_outside" == caught.value.kind

    @pytest.mark.parametrize("facts", [{}, {"loc": ""}, {"loc": None}])
    @pytest.mark.parametrize(
        "entry",
        [
            "path: '%{facts.loc}/common.yaml'",
            "path: common.yaml\n  datadir: '%{loc}/data'",
            "glob: '%{facts.loc}/*.yaml'",
        ],
    )
    def test_a_level_whose_path_begins_with_an_unset_variable_has_no_file(self, site: Site, entry: str, facts):
        """
        Puppet takes the rest as an absolute path; the other levels answer.
        """
        text = f"version: 5\nhierarchy:\n- name: one\n  {entry}\n- {{name: two, path: common.yaml}}\n"
        scope = site({"hiera.yaml": text, "data/common.yaml": "k: 1\n"}, facts=facts)
        explanation = scope.explain("k")

        assert (1, 1) == (scope.lookup("k"), explanation.value)
        assert ("glob" in entry) != any("loc is not set" in sentence for sentence in explanation.unset)

    def test_a_fact_that_begins_with_a_slash_is_refused_where_the_template_does_too(self, site: Site):
        """
        The slash is the fact's own.
        """
        scope = site({"hiera.yaml": ONE + "'%{facts.loc}/common.yaml'\n"}, facts={"loc": "/etc"})

        with pytest.raises(BadLookup, match="leads out"):
            scope.lookup("k")

    def test_two_facts_do_not_climb_together(self, site: Site):
        """
        A dot from each.
        """
        scope = site(
            {"hiera.yaml": ONE + "'%{a}%{b}/secret.yaml'\n", "secret.yaml": "k: 1\n"}, facts={"a": ".", "b": "."}
        )

        with pytest.raises(BadLookup, match="leads out"):
            scope.lookup("k")

    def test_neither_does_one_in_a_glob_a_datadir_or_a_mapped_path(self, site: Site):
        """
        Wherever a variable may stand.
        """
        entries = (
            "glob: '%{facts.x}/*.yaml'",
            "mapped_paths: [facts.list, x, '%{x}/s.yaml']",
            "path: s.yaml\n  datadir: 'data/%{facts.x}/..'",
        )
        for entry in entries:
            text = f"version: 5\nhierarchy:\n- name: one\n  {entry}\n"
            scope = site({"hiera.yaml": text}, facts={"x": "../..", "list": ["../.."]})
            with pytest.raises(BadLookup, match="leads out"):
                scope.lookup("k")

    def test_a_name_that_no_disk_has_is_of_nothing_there(self, site: Site):
        """
        As in Puppet.
        """
        text = ONE + "'%{facts.x}.yaml'\n- {name: two, path: common.yaml}\n"
        scope = site({"hiera.yaml": text, "data/common.yaml": "k: 1\n"}, facts={"x": "x" * 300})

        assert 1 == scope.lookup("k")

    def test_a_path_in_hiera_yaml_may_leave_the_data_folder(self, site: Site):
        """
        And a fact may still choose below that.
        """
        scope = site(
            {"hiera.yaml": ONE + "'../shared/%{facts.x}.yaml'\n", "shared/a.yaml": "k: shared\n"}, facts={"x": "a"}
        )

        assert "shared" == scope.lookup("k")

    def test_an_expression_in_a_fact_is_not_run(self, site: Site):
        """
        Not directly, not through another key, not put together from pieces.
        """
        scope = site(
            {
                "data/common.yaml": "secret: s3cret\na: '%{facts.evil}'\nb: \"<%{lookup('a')}>\"\n"
                "c: \"%{alias('a')}\"\nd: \"%{lookup('e')}\"\ne: \"%{facts.half}lookup('secret')}\"\n"
            },
            facts={"evil": "%{lookup('secret')}", "half": "%{"},
        )

        answers = [scope.lookup(key) for key in "abcd"]

        assert not [answer for answer in answers if "s3cret" in answer]
        assert ["%{lookup('secret')}", "<%{lookup('secret')}>"] == answers[:2]


class TestDataFunctions:
    def test_a_callable_gives_maps_or_single_keys(self, site: Site):
        """
        With options filled in, and the path where there is one; its answers are filled in too.
        """
        asked = []

        def whole(options):
            asked.append(options)
            return {"k": "of %{trusted.certname}", "path": os.path.basename(options["path"])}

        def single(key, options):
            return {"l": options["dc"]}[key]

        text = (
            "version: 5\nhierarchy:\n- name: a\n  data_hash: whole\n  path: common.yaml\n"
            "- name: b\n  lookup_key: single\n  options: {dc: '%{facts.dc}'}\n"
        )
        scope = site(
            {"hiera.yaml": text, "data/common.yaml": "x: 1\n"},
            facts={"dc": "ber"},
            functions={"whole": whole, "single": single},
        )

        assert ["of web1", "common.yaml", "ber"] == [scope.lookup(key) for key in ("k", "path", "l")]
        assert ["of web1"] == scope.lookup("k", merge="unique")
        with pytest.raises(KeyNotFound):
            scope.lookup("nope")
        assert 1 == len(asked)

    def test_the_environment_is_asked_once_for_the_lookup_options_of_all_modules(self, site: Site):
        asked = []

        def noted(key, options):
            asked.append(key)
            return {"lookup_options": {"m::k": {"merge": "unique"}}}[key]

        files = {"hiera.yaml": "version: 5\nhierarchy:\n- {name: ours, lookup_key: noted}\n"}
        for module in ("m", "n"):
            files[f"modules/{module}/hiera.yaml"] = "version: 5\n"
            files[f"modules/{module}/data/common.yaml"] = f"{module}::k: 1\n"
        scope = site(files, functions={"noted": noted})

        assert [[1], 1] == [scope.lookup("m::k"), scope.lookup("n::k")]
        assert ["lookup_options", "m::k", "n::k"] == sorted(asked)

    def test_each_entry_asks_in_its_own_way(self, site: Site):
        """
        One function behind two kinds of entries.
        """
        text = "version: 5\nhierarchy:\n- name: a\n  lookup_key: odd\n- name: b\n  data_hash: odd\n"

        def odd(*given):
            return {"k": "whole"} if len(given) == 1 else {"l": "single"}[given[0]]

        scope = site({"hiera.yaml": text}, functions={"odd": odd})

        assert ["whole", "single"] == [scope.lookup("k"), scope.lookup("l")]

    def test_installed_ones_are_found_by_their_entry_points(self, site: Site, tmp_path, monkeypatch):
        """
        Of the group nodeattrs.hiera; one that was passed goes before.
        """
        installed(tmp_path / "site-packages", monkeypatch, "cmdb = cmdb_of_tests:owner")
        text = "version: 5\nhierarchy:\n- name: cmdb\n  lookup_key: cmdb\n  options: {host: '%{trusted.certname}'}\n"

        assert "team of web1" == site({"hiera.yaml": text}).lookup("owner")
        assert "me" == site({"hiera.yaml": text}, functions={"cmdb": lambda key, options: {"owner": "me"}[key]}).lookup(
            "owner"
        )

    @pytest.mark.parametrize("target", ["cmdb_of_tests:nobody", "no_such_module_of_tests:owner"])
    def test_an_installed_one_that_cannot_be_loaded_is_named(self, site: Site, tmp_path, monkeypatch, target):
        """
        With the line of its entry.
        """
        installed(tmp_path / "site-packages", monkeypatch, f"cmdb = {target}")
        scope = site({"hiera.yaml": "version: 5\nhierarchy:\n- name: ours\n  lookup_key: cmdb\n"})

        with pytest.raises(
            BadData, match=r"hiera.yaml:3.*'cmdb' of the entry 'ours' cannot be loaded: \w+Error"
        ) as caught:
            scope.lookup("owner")

        assert "data_function_failed" == caught.value.kind

    @pytest.mark.parametrize(
        ("kind", "broken"),
        [
            ("data_hash", lambda options: 1 / 0),
            ("data_hash", lambda options: options["x"]),
            ("data_hash", lambda options: None),
            ("lookup_key", lambda key, options: 1 / 0),
            ("data_dig", lambda keys, options: 1 / 0),
        ],
    )
    def test_one_that_fails_is_named(self, site: Site, kind, broken):
        """
        With the line of its entry, and what such a function gets and gives.
        """
        scope = site(
            {"hiera.yaml": f"version: 5\nhierarchy:\n- name: ours\n  {kind}: broken\n"}, functions={"broken": broken}
        )

        words = rf"hiera.yaml:3.*'broken' of the entry 'ours' has failed.*: \w+Error: [^\n]*\n +a {kind} gets"
        with pytest.raises(BadData, match=words) as caught:
            scope.lookup("k", default_value="none")

        assert "data_function_failed" == caught.value.kind


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """A package in *folder*, as pip would leave it, with an entry point for a data function."""
    about = folder / "cmdb_of_tests-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cmdb-of-tests\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[nodeattrs.hiera]\n{point}\n", encoding="utf-8")
    code = "def owner(key, options):\n    return {'owner': f\"team of {options['host']}\"}[key]\n"
    (folder / "cmdb_of_tests.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "kind", "words"),
        [
            ("version: 6\n", "unsupported_version", "hiera.yaml:1:1.*\n.*write the number 5"),
            ("version: '5'\n", "unsupported_version", "write the number 5"),
            ("version: 5\nhierarchy:\n- {name: a, path: a, options: ~}\n", "config_invalid", "options must be a map"),
            (ONE + "x\n  options: {a: 1}\n", "data_function_needs_path", "hiera.yaml:5.*yaml_data takes no options"),
            (
                "version: 5\ndefaults: {data_hash: json_data, options: {a: 1}}\nhierarchy:\n- {name: a, path: a}\n",
                "data_function_needs_path",
                "hiera.yaml:2.*json_data takes no options",
            ),
            ("version: 5\nhierachy: []\n", "config_invalid", "hiera.yaml:2:1.*\n.*did you mean hierarchy"),
            ("version: 5\nhierarchy:\n- a\n", "config_invalid", "hiera.yaml:3:3"),
            ("version: 5\nhierarchy:\n- name: a\n  uri: http://x\n", "data_function_needs_path", "to know a file"),
            ("version: 5\nhierarchy:\n- name: a\n", "data_function_needs_path", "hiera.yaml:3"),
            ("version: 5\nhierarchy:\n- name: a\n  mapped_paths: [a, b]\n", "config_invalid", "a variable, a name"),
            ("version: 5\ndefaults: 7\n", "config_invalid", "hiera.yaml:2:1: defaults must be a map"),
            ("version: 5\nhierarchy: [\n", "data_parse_error", "hiera.yaml:"),
            (ONE + "x\n  data_hash: yml_data\n", "unknown_data_function", "did you mean yaml_data"),
            (ONE + "x\n- name: one\n  path: y\n", "duplicate_hierarchy_name", "hiera.yaml:5.*the first in line 3"),
        ],
    )
    def test_a_faulty_hiera_yaml_is_told_with_its_line(self, site: Site, text: str, kind: str, words: str):
        """
        At the first lookup, with the way out.
        """
        with pytest.raises(BadData, match=r"(?s)" + words) as caught:
            site({"hiera.yaml": text}).lookup("k")

        assert kind == caught.value.kind

    def test_an_unreadable_data_file_is_told(self, site: Site, tmp_path: Path):
        """
        A folder in its place, a byte that is no UTF-8, one that is too large.
        """
        scope = site({"data/nodes/web1.yaml/x": ""})
        with pytest.raises(BadData, match=r"data/nodes/web1.yaml: is not a regular file") as caught:
            scope.lookup("k")
        assert "unreadable_file" == caught.value.kind
        (tmp_path / "data/nodes/n.yaml").write_bytes(b"a: 1\nb: \xff\n")
        with pytest.raises(BadData, match=r"data/nodes/n.yaml:2:4: this byte is not UTF-8"):
            scope.tree.scope(node="n").lookup("k")
        (tmp_path / "data/nodes/l.yaml").write_bytes(b"#" * 10_000_001)
        with pytest.raises(BadData, match="larger than 10 MB"):
            scope.tree.scope(node="l").lookup("k")

    def test_json_has_to_be_an_object(self, site: Site):
        """
        A list is no data file, and a broken one has a line.
        """
        text = "version: 5\nhierarchy:\n- name: j\n  path: d.json\n  data_hash: json_data\n"

        with pytest.raises(BadData, match="must be an object"):
            site({"hiera.yaml": text, "data/d.json": "[]"}).lookup("k")
        with pytest.raises(BadData, match=r"d.json:1:8"):
            site({"hiera.yaml": text, "data/d.json": '{"a": 1,\n}'}).lookup("k")

    def test_a_last_line_of_many_remarks_is_read_to_its_end(self, site: Site):
        """
        Without a line break behind it, it is no remark.
        """
        text = "version: 5\nhierarchy:\n- name: j\n  path: d.json\n  data_hash: json_data\n"

        with pytest.raises(BadData, match=r"d.json:2:1"):
            site({"hiera.yaml": text, "data/d.json": '{"a": 1}\n' + "//" * 200_000}).lookup("k")

    def test_a_symbol_fails_its_own_key_only(self, site: Site):
        """
        With its line.
        """
        scope = site({"data/common.yaml": "good: 1\nbad:\n  - :sym\n"})

        assert 1 == scope.lookup("good")
        with pytest.raises(BadData, match=r"data/common.yaml:3:5: 'bad' holds the symbol :sym"):
            scope.lookup("bad")

    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            ("%{lookup('k')}", "recursive_lookup"),
            ("x %{alias('l')}", "alias_not_entire_string"),
            ("%{loop('l')}", "unknown_interpolation_method"),
            ("%{facts.'a}", "key_syntax"),
            ("%{facts.n.m}", "dig_type_mismatch"),
        ],
    )
    def test_a_faulty_expression_says_who_needs_it(self, site: Site, value: str, kind: str):
        """
        The key, and the line of its file.
        """
        scope = site({"data/common.yaml": "a: 1\nk: " + json.dumps(value) + "\n"}, facts={"n": 1})

        with pytest.raises(HieraError, match=r"needed by 'k' in data/common.yaml:2") as caught:
            scope.lookup("k")

        assert kind == caught.value.kind

    def test_a_long_chain_of_keys_is_a_clear_error(self, site: Site):
        """
        A thousand keys, each needing the next.
        """
        lines = [f"k{at}: \"%{{lookup('k{at + 1}')}}\"" for at in range(1000)]

        with pytest.raises(TooDeep):
            site({"data/common.yaml": "\n".join(lines)}).lookup("k0")

    def test_a_refused_merge_says_who_said_what(self, site: Site):
        """
        Both files, with their lines.
        """
        scope = site({"data/nodes/web1.yaml": "k:\n  a: 1\n", "data/common.yaml": "x: 1\nk: [1]\n"})

        with pytest.raises(CannotMerge) as caught:
            scope.lookup("k", merge="hash")

        assert "data/nodes/web1.yaml:1" in str(caught.value)
        assert "data/common.yaml:2" in str(caught.value)

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ("7", "lookup_options_not_a_hash", "must be a map"),
            ("{'^k(': {merge: deep}}", "bad_pattern", r"\^k\("),
            ("{'^m|(': {merge: deep}}", "bad_pattern", r"\^m\|\("),
            ("{'^kx*(': {merge: deep}}", "bad_pattern", r"\^kx"),
            (r"{'^(?z)': {merge: deep}}", "bad_pattern", "cannot be translated"),
            ("{k: {merge: deap}}", "unknown_strategy", "(?s)did you mean deep"),
            ("{k: {convert_to: Integr}}", "convert_failed", "did you mean Integer"),
        ],
    )
    def test_faulty_lookup_options(self, site: Site, options: str, kind: str, words: str):
        """
        Told at the lookup that needs them.
        """
        with pytest.raises(HieraError, match=words) as caught:
            site({"data/common.yaml": f"k: 1\nlookup_options: {options}\n"}).lookup("k")

        assert kind == caught.value.kind

    def test_a_missing_key_names_a_near_one(self, site: Site):
        """
        And is an error that those who know only NotFound catch.
        """
        with pytest.raises(NotFound, match="did you mean ntp::servers"):
            site({"data/common.yaml": "ntp::servers: 1\n"}).lookup("ntp::server")

    def test_digging_into_a_text_is_no_matter_of_defaults(self, site: Site):
        """
        It is a hard error.
        """
        with pytest.raises(CannotDig, match="inside a text"):
            site({"data/common.yaml": "k: text\n"}).lookup("k.a", default_value=1)


class TestAsPuppetHasIt:
    def test_an_expression_that_cannot_be_used_is_no_concern_of_other_keys(self, site: Site):
        """
        Those that cannot begin as it does, and those that an entry before it holds for.
        """
        options = "lookup_options: {l: {merge: first}, '^l': {merge: first}, '^m::k(?~x)': {merge: deep}}\n"
        scope = site({"data/common.yaml": f"k: 1\nl: 2\nlx: 3\nm::k1: 4\n{options}"})

        assert [1, 2, 3] == [scope.lookup(key) for key in ("k", "l", "lx")]
        with pytest.raises(BadLookup, match="cannot be used"):
            scope.lookup("m::k1")

    def test_json_has_comments_and_infinity(self, site: Site):
        """
        As for Ruby's parser; lines and columns stay.
        """
        config = "version: 5\nhierarchy:\n- {name: j, path: j.json, data_hash: json_data}\n"
        text = '// one\n{"k": /* two\nlines */ "//x/*y*/", "n": -1e400, // three\n "m": 1 /**/}'
        scope = site({"hiera.yaml": config, "data/j.json": text})

        assert ["//x/*y*/", float("-inf"), 1] == [scope.lookup(key) for key in "knm"]
        assert "data/j.json:4" == str(scope.explain("m").origins()[0].place)
        for wrong in ('{"k": 1} // no line break', '{"k": 1 /* }', '{"k": "x /* ', '{"k": NaN}', "// c\n"):
            with pytest.raises(BadData):
                site({"hiera.yaml": config, "data/j.json": wrong}).lookup("k")

    def test_an_integer_key_stays_one_beside_an_expression(self, site: Site):
        """
        Only the key with the expression becomes text.
        """
        scope = site({"data/common.yaml": "h: {0: a, '%{n}': b}\n"}, facts={"n": 5})

        assert {0: "a", "5": "b"} == scope.lookup("h")

    def test_what_a_server_says_of_itself_is_an_empty_map(self, site: Site):
        """
        Unless somebody gives it.
        """
        scope = site({"data/common.yaml": "k: '<%{server_facts}%{server_facts.serverversion}>'\n"})

        assert "<{}>" == scope.lookup("k")

    def test_a_secret_inside_a_text_is_redacted_in_puppets_words(self, site: Site):
        """
        Nothing of it is shown.
        """
        options = "lookup_options: {s: {convert_to: Sensitive}}\n"

        assert "<Sensitive [value redacted]>" == site(
            {"data/common.yaml": f"s: x\nk: \"<%{{lookup('s')}}>\"\n{options}"}
        ).lookup("k")

    @pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
    def test_an_empty_hiera_yaml_is_a_warning_of_puppet_7_and_no_layer(self, site: Site, text: str):
        """
        In an environment or a module; others answer.
        """
        files = {"hiera.yaml": text, "modules/m/hiera.yaml": "version: 5\n", "modules/m/data/common.yaml": "m::k: 1\n"}
        files |= {"modules/n/hiera.yaml": text, "data/common.yaml": "k: 1\n"}
        scope = site(files, puppet_version=7)

        assert 1 == scope.lookup("m::k")
        for key in ("k", "n::k"):
            with pytest.raises(KeyNotFound):
                scope.lookup(key)
        assert ["environment", "module"] == [str(one).split("the ")[1].split()[0] for one in scope.tree.warnings]


class TestWherePuppetDiffers:
    """The rows of docs/differences.md about odd input, each with its smallest one."""

    def test_a_byte_order_mark_is_skipped(self, site: Site):
        """
        In YAML and in JSON.
        """
        config = hiera_trees.COMMON + "- {name: j, path: j.json, data_hash: json_data}\n"
        scope = site({"hiera.yaml": config, "data/common.yaml": "\ufeffk: 1\nl: 2\n", "data/j.json": '\ufeff{"j": 3}'})

        assert [1, 2, 3] == [scope.lookup(key) for key in "klj"]

    def test_a_file_is_read_by_each_function_for_itself(self, site: Site):
        """
        What one of them takes the other may refuse.
        """
        config = hiera_trees.COMMON + "- {name: y, path: j.json}\n- {name: j, path: j.json, data_hash: json_data}\n"
        files = {"hiera.yaml": config, "data/j.json": '{"k": 1,}'}

        with pytest.raises(BadData, match="a comma with nothing after it"):
            site(files).lookup("k")

    @pytest.mark.parametrize(
        ("text", "merge", "value"),
        [
            ("k: .nan\n", {"strategy": "deep", "knockout_prefix": "--"}, "nan"),
            ("k: [{0: a}]\n", "unique", "[{0: 'a'}]"),
        ],
    )
    def test_values_that_it_drops_or_refuses_stay(self, site: Site, text: str, merge: Any, value: str):
        """
        A number that is none, and a map with an integer key in a list.
        """
        assert value == str(site({"data/common.yaml": text}).lookup("k", merge=merge))

    @pytest.mark.parametrize(
        ("text", "words"), [("k: !!binary /w==\n", "no text"), ("k: !ruby/object:Foo {}\n", "a tag")]
    )
    def test_a_data_file_with_objects_is_refused(self, site: Site, text: str, words: str):
        """
        A map of Ruby is one of ours.
        """
        with pytest.raises(BadData, match=words):
            site({"data/common.yaml": text}).lookup("k")
        assert 1 == site({"data/common.yaml": "--- !ruby/object:Hash\nk: 1\n"}).lookup("k")


def test_a_secret_shows_itself_nowhere(site: Site):
    """Not in its text, not in an explanation, not in the trace."""
    scope = site({"data/common.yaml": "pw: s3cret\nlookup_options: {pw: {convert_to: Sensitive}}\n"})

    secret = scope.lookup("pw")
    explanation = scope.explain("pw")
    shown = f"{secret!r} {secret} {explanation} {json.dumps(explanation.to_dict())} {explanation.trace()}"

    assert Sensitive("s3cret") == secret
    assert "s3cret" == secret.unwrap()
    assert "s3cret" not in shown


def test_keys_that_are_spelled_nearly_so_are_looked_for_when_the_hint_is_read(tmp_path: Path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/common.yaml").write_text("servers: 1\n")
    (tmp_path / "hiera.yaml").write_text("version: 5\n")
    asked: list[str] = []

    def near(name: str, keys: list[str]) -> list[str]:
        asked.append(name)
        return [key for key in keys if key == "servers"]

    monkeypatch.setattr("nodeattrs.dialects.hiera.scope.near", near)
    with pytest.raises(KeyNotFound) as caught:
        Hiera(tmp_path).scope().lookup("sevrers")
    assert asked == []
    assert "did you mean servers?" in str(pickle.loads(pickle.dumps(caught.value)))
    assert caught.value.hint == "did you mean servers?"
    assert asked == ["sevrers"]
