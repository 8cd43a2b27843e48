"""What was not read: the lines for people, the data, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs import Origin
from nodeattrs.cli import main
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.unread import Unread, certainty, sentences, unread_below
from tests.hiera_trees import written

RUBY = "is Ruby, which was not run"


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        ([], []),
        ([Unread("a.rb:3", RUBY, (), "recipe", "app::x")], [f"a.rb:3 (recipe app::x) {RUBY}, and may set anything"]),
        ([Unread("a.rb", RUBY), Unread("a.rb", RUBY)], [f"a.rb {RUBY}, and may set anything"]),
        (
            [Unread(f"{name}.rb", RUBY, (), "library") for name in "abcd"],
            ["4 libraries are Ruby, which was not run, and may set anything: a.rb, b.rb, c.rb and 1 more"],
        ),
        (
            [Unread("a.rb:1", RUBY, (("k",),), "recipe"), Unread("a.rb:2", RUBY, (("l", "m"),), "recipe")],
            [f"a.rb:1 (recipe) {RUBY}, and may set k, l.m"],
        ),
        (
            [Unread("a.rb", RUBY, (), "recipe"), Unread("b.rb", RUBY, (("k",),), "recipe")],
            [f"a.rb (recipe) {RUBY}, and may set anything", f"b.rb (recipe) {RUBY}, and may set k"],
        ),
        (
            [Unread(f"{name}.yml", f"set_fact sets it to {name}", ((name,),), "facts (19 of 22)") for name in "ab"],
            ["2 places of facts (19 of 22) may set a, b: a.yml, b.yml"],
        ),
        ([Unread("web1", "cannot be resolved, and may have any value: no role web")],
         ["web1 cannot be resolved, and may have any value: no role web"]),
    ],
)  # fmt: skip
def test_places_of_one_kind_are_one_line(found: list[Unread], lines: list[str]) -> None:
    assert [*sentences(found)] == lines


def test_each_place_has_a_line_where_the_caller_wants_all() -> None:
    found = [Unread(f"{name}.rb", f"{RUBY}: {name}", (), "recipe") for name in "ab"]

    assert len([*sentences(found)]) == 1
    assert [*sentences(found, whole=True)] == [f"{n}.rb (recipe) {RUBY}: {n}, and may set anything" for n in "ab"]


def test_data_have_each_place_once() -> None:
    one = Unread("a.rb", RUBY, (("k", "l"),), "recipe", "x")

    row = {"place": "a.rb", "layer": "recipe x", "reason": RUBY, "paths": [["k", "l"]]}
    assert certainty([one, one]) == {"certain": False, "unread": [row]}
    assert certainty([]) == {"certain": True, "unread": []}


def test_a_layer_counts_for_the_paths_that_it_may_decide() -> None:
    """Of two known paths the one below the winner is left out; of none nothing is said."""
    ruby = Layer.unknown("x", Origin("recipe", "x", "x.rb"), RUBY, {("low",): 1, ("free",): 2})
    folded = fold([ruby, {"low": 1, "other": 2}], ACROSS)

    assert [one.paths for one in unread_below(folded.trace, ())] == [(("free",),)]
    assert unread_below(folded.trace, ("low",)) == []


TREE = {
    "hiera.yaml": 'version: 5\nhierarchy:\n- {name: r, path: "role/%{facts.role}.yaml"}\n- {name: c, path: c.yaml}\n',
    "data/c.yaml": "port: 1\nother: 2\n",
    "data/role/web.yaml": "port: 2\n",
}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lookup", "port"], 5),
        (["lookup", "port", "--allow-unknown"], 0),
        (["lookup", "other"], 0),
        (["lookup", "port", "--set", 'facts={"role": "web"}'], 0),
        (["lookup", "port", "--set", "dc=ber"], 5),
        (["explain", "port"], 5),
        (["list"], 5),
        (["lookup", "nope"], 3),
    ],
)
def test_a_file_that_a_missing_fact_chooses_may_change_a_lookup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    written(tmp_path, TREE)
    monkeypatch.chdir(tmp_path)

    got = main(["hiera", *words, "--format", "json"])
    out, err = capsys.readouterr()

    assert (words, got) == (words, code), err
    if code == 5:
        assert json.loads(out)["certain"] is False
        assert "the variable facts.role is not set, and may set port" in err


def test_a_run_takes_the_facts_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Facts of another machine are named."""
    facts = '{{"fqdn": "{}", "platform": "debian", "platform_version": "12"}}'
    written(tmp_path, {"nodes/web1.json": '{"run_list": []}', "facts/web1.json": facts.format("web1.example.com")})
    monkeypatch.chdir(tmp_path)

    assert main(["run", "--all", "--quiet"]) == 0
    assert main(["show", "web1", "fqdn"]) == 0
    assert "web1.example.com" in capsys.readouterr().out
    assert main(["explain", "web1", "fqdn", "--repo", "."]) == 0
    assert capsys.readouterr().err == ""
    Path("facts/web1.json").write_text(facts.format("db1.example.com"))
    assert main(["explain", "web1", "fqdn", "--repo", "."]) == 0
    assert "these are the facts of db1.example.com (facts/web1.json)" in " ".join(capsys.readouterr().err.split())
