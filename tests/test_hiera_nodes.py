"""Who asks a Hiera tree: facts, node variables, trusted facts; what its paths need of them, and many nodes at once."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.dialects.hiera.possible_files import with_needed_keys
from nodeattrs.hiera import KeyNotFound, needed
from nodeattrs.reports.matrix import Cell, Matrix
from nodeattrs.reports.screen import Screen
from tests import hiera_trees
from tests.hiera_trees import Site, written

site = hiera_trees.site

CONFIG = """\
version: 5
hierarchy:
- {name: node, path: "nodes/%{trusted.certname}.yaml"}
- {name: roles, mapped_paths: [roles, one, "role/%{one}-%{::dc}.yaml"]}
- {name: os, paths: ["os/%{facts.os.family}.yaml", "os/%{facts.os.family}/%{dc}.yaml"]}
- {name: server, lookup_key: ask, uri: "http://%{dc}/", options: {to: ["%{trusted.extensions.pp_role}"]}}
- {name: common, path: common.yaml}
"""
TREE = {
    "hiera.yaml": CONFIG,
    "data/nodes/web1.yaml": "k: web1\n",
    "data/role/web-ber.yaml": "r: web\n",
    "data/os/Debian.yaml": "o: debian\nk: debian\n",
    "data/common.yaml": "k: common\nwho: '%{trusted.certname} %{trusted.extensions.pp_role} %{role} %{environment}'\n",
}


@pytest.fixture
def said(tmp_path: Path, monkeypatch, capsys):
    """Runs `nodeattrs hiera` in the tree without its server: exit code, what was printed, what was complained of."""
    written(tmp_path, TREE)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, **files: str) -> tuple[int, str, str]:
        for name, text in files.items():
            Path(name.replace("_", ".")).write_text(text)
        code = main(["hiera", *words, "--skip-level", "server"])
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


class TestWhoAsks:
    def test_facts_come_from_stdin(self, said, monkeypatch):
        """
        JSON, or YAML.
        """
        for text in ('{"os": {"family": "Debian"}}', "os: {family: Debian}\n"):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            assert (5, "debian\n") == said("lookup", "o", "--facts", "-")[:2]

    def test_variables_of_the_node_are_set_one_by_one(self, said):
        """
        As JSON, or as text; over those of a classifier.
        """
        words = ["lookup", "r", "--set", 'roles=["web"]', "--set", "dc=ber"]

        assert (5, "web\n") == said(*words)[:2]
        assert 2 == said("lookup", "r", "--set", "roles")[0]

    def test_trusted_facts_go_over_those_of_the_name(self, said):
        """
        One extension is enough.
        """
        words = ["lookup", "who", "--node", "web1", "--trusted", "t.yaml"]

        assert (5, "web1 db  production\n") == said(*words, t_yaml="extensions: {pp_role: db}\n")[:2]
        assert "trusted facts are a map" in said(*words, t_yaml="- 1\n")[2]

    def test_the_answer_of_a_classifier(self, said):
        """
        Parameters are variables, and the environment is the node's unless another one was named.
        """
        words = ["lookup", "who", "--node", "n", "--enc", "enc.yaml"]
        answer = "classes: {ntp: ~}\nenvironment: dev\nparameters: {role: web}\n"

        assert (5, "n  web dev\n") == said(*words, enc_yaml=answer)[:2]
        assert (5, "n  db test\n") == said(*words, "--set", "role=db", "--environment", "test")[:2]
        assert (5, "n   production\n") == said(*words, enc_yaml="classes: [ntp]\n")[:2]
        assert "parameters are a map" in said(*words, enc_yaml="parameters: [1]\n")[2]

    def test_a_classifier_is_asked_only_where_code_may_run(self, said):
        """
        With the name of the node.
        """
        Path("enc").write_text('#!/bin/sh\necho "parameters: {role: $1-role}"\n')
        Path("enc").chmod(0o755)
        words = ["lookup", "who", "--node", "n", "--enc", "enc"]

        code, out, err = said(*words)
        assert (1, "", True) == (code, out, "the classifier enc is code, which was not run" in err)
        assert (5, "n  n-role production\n") == said(*words, "--run-code")[:2]
        Path("enc").write_text("#!/bin/sh\necho no such node >&2\nexit 3\n")
        assert "ended with 3 for 'n' and wrote: no such node" in said(*words, "--run-code")[2]
        Path("enc").chmod(0o644)
        assert "cannot be asked" in said(*words, "--run-code")[2]


class TestVariables:
    def test_variables_that_a_hierarchy_needs_have_their_lines(self, site: Site):
        """
        In paths, in what they are mapped over, in URIs and options; each with its level.
        """
        scope = site(TREE, facts={"dc": "ber", "os": {}}, skip_levels=["server"])

        assert [
            ("trusted.certname", "data/nodes/%{trusted.certname}.yaml", 3, True),
            ("roles", "data/role/%{one}-%{::dc}.yaml", 4, False),
            ("::dc", "data/role/%{one}-%{::dc}.yaml", 4, True),
            ("facts.os.family", "data/os/%{facts.os.family}.yaml", 5, False),
            ("facts.os.family", "data/os/%{facts.os.family}/%{dc}.yaml", 5, False),
            ("dc", "data/os/%{facts.os.family}/%{dc}.yaml", 5, True),
            ("dc", "http://%{dc}/", 6, True),
            ("trusted.extensions.pp_role", "%{trusted.extensions.pp_role}", 6, False),
        ] == [(one.variable, one.template, one.origin.line, one.is_set) for one in needed(scope)]

    def test_a_module_has_its_own(self, site: Site):
        """
        Its default hierarchy, too.
        """
        config = "version: 5\nhierarchy: [{name: a, path: '%{x}'}]\ndefault_hierarchy: [{name: b, path: '%{y}'}]\n"
        scope = site({"hiera.yaml": "version: 5\n", "modules/m/hiera.yaml": config})

        found = [(one.layer, one.variable) for one in needed(scope, "m")]
        assert [("module", "x"), ("default_hierarchy", "y")] == found

    def test_what_is_not_set_is_named_where_nothing_is_found(self, site: Site):
        """
        With the shortest path that needs it.
        """
        scope = site(TREE, skip_levels=["server"])

        with pytest.raises(KeyNotFound) as caught:
            scope.lookup("nope")
        assert "data/os/%{facts.os.family}.yaml (and 1 more): facts.os.family is not set" in caught.value.details

    def test_an_explanation_has_the_path_as_it_is_written_and_as_it_was_found(self, said):
        """
        And says what is not set.
        """
        out = said("explain", "k", "--node", "a")[1]

        assert "data/nodes/a.yaml" in out
        assert "from nodes/%{trusted.certname}.yaml" in out
        assert "data/os/%{facts.os.family}.yaml (and 1 more): facts.os.family is not set" in out

    def test_on_the_command_line(self, said, monkeypatch):
        """
        A line for each variable, with the nodes that have none.
        """
        monkeypatch.setenv("COLUMNS", "120")
        Path("facts").mkdir()
        for name, facts in (("a", {"dc": "x", "os": {"family": "D"}}), ("b", {"dc": "y"}), ("c", {})):
            Path(f"facts/{name}.json").write_text(json.dumps(facts))

        code, out, _ = said("variables", "--facts", "facts")
        rows = [[cell.strip() for cell in line.split("  ")] for line in out.splitlines()]
        found = {row[0]: next(cell for cell in row[1:] if cell) for row in rows}

        assert 0 == code
        assert {"trusted.certname": "set", "dc": "not set for c", "facts.os.family": "not set for b, c",
                "roles": "not set"}.items() <= found.items()  # fmt: skip
        assert "hiera.yaml:6" in out


class TestWhatIsNotThere:
    CONFIG = "version: 5\nhierarchy: [{name: c, path: 'x/%{nope}.yaml', datadir: 'nowhere/%{environment}'}]\n"

    def test_a_hierarchy_without_one_file_is_a_warning(self, site: Site):
        """
        With the folders that are not there.
        """
        scope = site({"hiera.yaml": self.CONFIG})

        with pytest.raises(KeyNotFound, match=r"there is no folder nowhere/production, which hiera\.yaml:2"):
            scope.lookup("k")
        (warning,) = scope.tree.warnings
        assert ("no_data_files", ("there is no folder nowhere",)) == (warning.kind, tuple(warning.details))

    @pytest.mark.parametrize(("below", "file"), [("/data", "data/c.yaml"), ("", "c.yaml")])
    def test_a_datadir_on_the_server_is_a_folder_of_the_environment(self, site: Site, below: str, file: str):
        """The server has the repository below `environments`. This machine does not."""
        datadir = f"/nowhere/environments/%{{::environment}}{below}"
        config = f"version: 5\nhierarchy: [{{name: c, path: c.yaml, datadir: '{datadir}'}}]\n"

        assert 1 == site({"hiera.yaml": config, file: "k: 1\n"}).lookup("k")

    def test_an_explanation_says_that_the_folder_is_missing(self, site: Site):
        """
        Rather than the file.
        """
        scope = site({"hiera.yaml": self.CONFIG})

        assert ["no_folder"] == [one.outcome for one in scope.explain("k").searched]

    def test_a_hierarchy_without_levels_is_none(self, site: Site):
        """
        Nothing is missing.
        """
        scope = site({"hiera.yaml": "version: 5\nhierarchy: []\n"})

        assert 1 == scope.lookup("k", default_value=1)
        assert [] == scope.tree.warnings


class TestManyNodes:
    def test_equal_values_stand_together_with_their_lines(self, said):
        """
        The largest group first; a value from two places has both.
        """
        Path("facts").mkdir()
        for name in ("web1", "a", "b", "c"):
            Path(f"facts/{name}.json").write_text('{"os": {"family": "Debian"}}' if name == "c" else "{}")

        code, out, _ = said("matrix", "k", "--facts", "facts")

        assert (5, [  # the level of a server may have lookup_options
            "k: 3 values on 4 nodes", '  "common"', "    data/common.yaml:1", "      a, b",
            '  "debian"', "    data/os/Debian.yaml:2", "      c",
            '  "web1"', "    data/nodes/web1.yaml:1", "      web1",
        ]) == (code, out.splitlines())  # fmt: skip
        assert 5 == said("matrix", "nope", "--facts", "facts")[0]

    def test_values_of_two_types_are_two_values(self):
        """
        One is not true, and a secret shows nothing.
        """
        report = Matrix("q", [("a", Cell(1)), ("b", Cell(True)), ("c", Cell(1.0)), ("d", Cell(1, notes=("n",)))])

        assert [["a", "d"], ["b"], ["c"]] == [[node for node, _ in group] for group in report.groups()]
        assert ["q: 3 values on 4 nodes", "  1", "      a, d", "    n"] == list(report.lines(Screen(80)))[:4]


def test_a_named_key_keeps_its_merge_though_another_named_key_needs_it(site: Site):
    """The strategy of a call is for the keys of the call; the keys that their values need have their own."""
    levels = {
        "data/nodes/web1.yaml": "a: [1]\n",
        "data/common.yaml": "a: [\"%{lookup('c')}\"]\nb: [\"%{alias('a')}\"]\nc: 3\n",
    }
    scope = site(levels)

    assert {"a", "b", "c"} == with_needed_keys(scope, ["a", "b"], "unique")
    assert {"a", "b", "c"} == with_needed_keys(scope, ["b", "a", ""], "unique")
    assert {"a", "b"} == with_needed_keys(scope, ["b"], "unique")
    assert set() == with_needed_keys(scope, [], "unique")
