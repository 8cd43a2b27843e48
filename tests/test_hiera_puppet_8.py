"""What Puppet 8 ends a lookup at, and Puppet 7 does not: each answer was asked of OpenVox 8.28.1 and 9.0.0-beta2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import BadArgument
from nodeattrs.hiera import Hiera, HieraError
from tests.hiera_trees import written

FACTS = {"os": {"family": "Debian"}, "none": None, "text": "x"}
ONE, LEVELS = "version: 5\n", "version: 5\nhierarchy:\n- {name: a, paths: [a.yaml, common.yaml]}\n"
K = "k: 1\n"


def answer(place: Path, version: int, files: dict[str, str], key: str = "k", **how: Any) -> Any:
    """The value, or the kind and the place of the error."""
    tree = Hiera(written(place, {"hiera.yaml": ONE, **files}), root=place, puppet_version=version)
    try:
        return tree.scope(FACTS, node="web1").lookup(key, **how)
    except HieraError as error:
        return str(error.kind), f"{getattr(error, 'file', None)}:{getattr(error, 'line', None)}"


def level(entry: str, version: int = 5) -> dict[str, str]:
    return {"hiera.yaml": f"version: {version}\nhierarchy:\n- {{name: a, {entry}}}\n", "data/common.yaml": K}


ENDS = {
    "a value": ({"data/common.yaml": "k: 'x%{nope}y'\n"}, "xy", "data/common.yaml:1"),
    "a legacy fact": ({"data/common.yaml": "k: '%{::osfamily}'\n"}, "", "data/common.yaml:1"),
    "a variable of a class": ({"data/common.yaml": "k: '%{a::b}'\n"}, "", "data/common.yaml:1"),
    "a list": ({"data/common.yaml": "k:\n- 1\n- '%{nope}'\n"}, [1, ""], "data/common.yaml:3"),
    "a key of a map": ({"data/common.yaml": "k: {'x%{nope}': 1}\n"}, {"x": 1}, "data/common.yaml:1"),
    "another key": ({"data/common.yaml": "l: '%{nope}'\nk: \"%{lookup('l')}\"\n"}, "", "data/common.yaml:1"),
    "lookup_options": (
        {"data/common.yaml": "k: 1\nlookup_options: {l: {merge: '%{nope}first'}}\n"}, 1, "data/common.yaml:2",
    ),
    "a datadir": (level("path: common.yaml, datadir: 'data%{nope}'"), 1, "hiera.yaml:3"),
    "options": (
        level("path: common.yaml, lookup_key: eyaml_lookup_key, options: {x: '%{nope}'}"), 1, "hiera.yaml:3",
    ),
    "a path of version 4": (level("backend: yaml, path: 'common%{nope}'", 4), 1, "hiera.yaml:3"),
    "a data file that is a list": (
        {"hiera.yaml": LEVELS, "data/a.yaml": "- x\n", "data/common.yaml": K}, 1, "data/a.yaml:1",
    ),
    "a data file below": (
        {"hiera.yaml": LEVELS.replace("a.yaml, common", "common.yaml, a"), "data/a.yaml": "x\n", "data/common.yaml": K},
        1, "data/a.yaml:1",
    ),
    "version 3 in an environment": (
        {"hiera.yaml": ":backends: [yaml]\n", "data/common.yaml": K}, ("not_found", "None:None"), "hiera.yaml:1",
    ),
    "an empty hiera.yaml": ({"hiera.yaml": "", "data/common.yaml": K}, ("not_found", "None:None"), "hiera.yaml:1"),
}  # fmt: skip
"""What ends it -> the files, the answer of Puppet 7, and the place that Puppet 8 ends at."""


@pytest.mark.parametrize("what", ENDS)
def test_puppet_8_ends_at_a_place_where_puppet_7_goes_on(tmp_path: Path, what: str):
    files, seven, place = ENDS[what]
    eight = answer(tmp_path, 8, files)

    assert (answer(tmp_path, 7, files), eight[1]) == (seven, place)


GOES_ON = {
    "a step below a set variable": ({"data/common.yaml": "k: 'x%{facts.nope.z}y%{trusted.z}'\n"}, "xy"),
    "a variable without a value": ({"data/common.yaml": "k: 'x%{none}y%{::none}'\n"}, "xy"),
    "variables that are always there": ({"data/common.yaml": "k: 'x%{module_name}%{0}y'\n"}, "xy"),
    "a path of version 5": (level("paths: ['%{nope}/a.yaml', 'common%{nope}.yaml']"), 1),
    "a glob": (level("glob: 'c%{nope}*.yaml'"), 1),
    "mapped_paths over nothing": (
        {"hiera.yaml": LEVELS + "- {name: m, mapped_paths: [nope, n, '%{n}.yaml']}\n", "data/common.yaml": K}, 1,
    ),
    "a value that is not taken": (
        {"hiera.yaml": LEVELS, "data/a.yaml": K, "data/common.yaml": "k: '%{nope}'\n"}, 1,
    ),
    "files that say nothing": ({"hiera.yaml": LEVELS, "data/a.yaml": "false\n", "data/common.yaml": K}, 1),
    "version 3 in a module of other keys": (
        {"modules/m/hiera.yaml": ":backends: [yaml]\n", "data/common.yaml": K}, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GOES_ON)
@pytest.mark.parametrize("version", [7, 8])
def test_both_versions_go_on(tmp_path: Path, version: int, what: str):
    files, value = GOES_ON[what]

    assert answer(tmp_path, version, files) == value


@pytest.mark.parametrize("how", [{"override": {"nope": "o"}}, {"default_values_hash": {"nope": "o"}}])
def test_a_variable_that_the_call_gives_is_set(tmp_path: Path, how: dict[str, Any]):
    assert answer(tmp_path, 8, {"data/common.yaml": "k: 'x%{nope}'\n"}, **how) == "xo"


def test_an_error_names_the_fact_that_takes_the_place_of_a_legacy_one(tmp_path: Path):
    tree = Hiera(written(tmp_path, {"data/common.yaml": "k: '%{ipaddress_eth0}'\n"}), root=tmp_path)
    with pytest.raises(HieraError) as error:
        tree.scope(FACTS).lookup("k")

    assert error.value.hint == "agents of Puppet 8 send no legacy facts: write facts.networking.interfaces.eth0.ip"


def test_an_error_in_a_sensitive_value_names_no_variable(tmp_path: Path):
    tree = Hiera(written(tmp_path, {"data/common.yaml": "k: 'a%{s3cret}'\n"}), root=tmp_path, sensitive_paths=[("k",)])
    found = tree.scope(FACTS).explain("k")

    assert "s3cret" not in str(found) + json.dumps(found.to_dict())
    assert "data/common.yaml:1" in str(found.error)


def test_an_unknown_version_of_puppet_is_refused(tmp_path: Path):
    with pytest.raises(BadArgument, match="6 is no version of Puppet"):
        Hiera(tmp_path, puppet_version=6)


class TestTheCommands:
    @pytest.fixture
    def say(self, tmp_path: Path, monkeypatch, capsys):
        """Runs a command in a tree of one node: its exit code, and all that it says."""
        data = "a: 'x%{nope}y'\nb: 'x%{facts.nope.z}y'\nc: ['%{::osfamily}']\nd: 1\n"
        written(tmp_path, {"hiera.yaml": ONE, "data/common.yaml": data, "facts/n.json": json.dumps(FACTS)})
        monkeypatch.chdir(tmp_path)

        def run(words: str) -> tuple[int, str]:
            code = main(words.split())
            return code, "".join(capsys.readouterr())

        return run

    @pytest.mark.parametrize("verb", ["lookup", "explain", "matrix"])
    def test_facts_that_are_given_make_an_unset_variable_an_error(self, say, verb: str):
        code, said = say(f"hiera {verb} a --facts facts")

        assert (code, "nope is not set" in said) == (1, True)

    @pytest.mark.parametrize("verb", ["lookup", "explain", "matrix"])
    def test_without_facts_the_answer_is_not_known(self, say, verb: str):
        code, said = say(f"hiera {verb} a")

        assert (code, "nope (variable) is not set, and no facts are given" in said) == (5, True)

    def test_the_place_of_the_text_comes_first(self, say):
        place = "error: data/common.yaml:3:5: the variable ::osfamily is not set, and c.0 needs it [NA1047]"

        assert say("hiera lookup c --facts facts/n.json")[1].splitlines()[0] == place

    @pytest.mark.parametrize("words", ["--puppet-version 7", "--set nope=1"])
    def test_version_7_and_a_value_go_on(self, say, words: str):
        assert say(f"hiera lookup a --facts facts/n.json {words}")[1].splitlines()[0] in ("xy", "x1y")

    def test_nodeattrs_toml_names_the_version(self, say, tmp_path: Path):
        (tmp_path / "nodeattrs.toml").write_text("puppet_version = 7\n")

        assert say("hiera lookup a --facts facts/n.json")[1].splitlines()[0] == "xy"
        assert 'a = "xy"' in say("why a --on n")[1]
        assert say("hiera lookup a --facts facts/n.json --puppet-version 8")[0] == 1
        (tmp_path / "nodeattrs.toml").write_text("puppet_version = 6\n")
        assert "nodeattrs.toml:1:1: 6 is no version of Puppet" in say("hiera lookup a")[1]

    def test_check_names_a_data_file_that_is_no_map_as_an_error(self, say, tmp_path: Path):
        (tmp_path / "data/list.yaml").write_text("- 1\n")

        assert "data/list.yaml:1:1: error: is not a map" in say("check")[1]
        assert say("check")[0] == 1
