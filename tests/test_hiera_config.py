"""Locations: globs as Ruby's, mapped paths, datadirs."""

from __future__ import annotations

import pytest

from nodeattrs.hiera import BadLookup
from tests import hiera_trees
from tests.hiera_trees import Site

site = hiera_trees.site
FILES = ("b.yaml", "a.yaml", "a/z.yaml", "a/b/c.yaml", ".hidden.yaml", ".dir/x.yaml", "c.json", "x-1.yaml", "x-2.yaml")


@pytest.fixture
def found(site: Site):
    """Which of the files a glob finds, in order."""

    def ask(glob: str, **facts) -> list[str]:
        config = f"version: 5\nhierarchy:\n- name: g\n  glob: '{glob}'\n"
        scope = site({"hiera.yaml": config, **{f"data/{file}": "k: 1\n" for file in FILES}}, facts=facts)
        return [place.file.removeprefix("data/") for place in scope.places()]

    return ask


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*.yaml", ["a.yaml", "b.yaml", "x-1.yaml", "x-2.yaml"]),
        ("**/*.yaml", ["a/b/c.yaml", "a/z.yaml", "a.yaml", "b.yaml", "x-1.yaml", "x-2.yaml"]),
        ("a/**/*.yaml", ["a/b/c.yaml", "a/z.yaml"]),
        ("x-?.yaml", ["x-1.yaml", "x-2.yaml"]),
        ("x-[12].yaml", ["x-1.yaml", "x-2.yaml"]),
        ("x-[^1].yaml", ["x-2.yaml"]),
        ("{b,a}.yaml", ["b.yaml", "a.yaml"]),
        ("{x-2,{a,b}}.yaml", ["x-2.yaml", "a.yaml", "b.yaml"]),
        (".*.yaml", [".hidden.yaml"]),
        ("*", ["a.yaml", "b.yaml", "c.json", "x-1.yaml", "x-2.yaml"]),
        ("nope/*.yaml", []),
        ("%{which}.yaml", ["x-1.yaml", "x-2.yaml"]),
    ],
)
def test_a_glob_finds_what_rubys_finds(found, glob, files):
    """No hidden files, no folders, each folder in the order of its names."""
    assert files == found(glob, which="x-*")


def test_braces_in_a_fact_do_not_multiply_without_end(found):
    """Forty pairs would be a million million names."""
    with pytest.raises(BadLookup, match="more than 1,000 alternatives"):
        found("%{which}.yaml", which="{a,b}" * 40)


def test_a_map_among_facts_makes_a_path_of_each_pair(site: Site):
    """As Puppet does: key and value in Ruby's notation."""
    config = "version: 5\nhierarchy:\n- name: m\n  mapped_paths: [facts.sites, one, '%{one}.yaml']\n"

    scope = site({"hiera.yaml": config}, facts={"sites": {"a": 1}})

    assert ['data/["a", 1].yaml'] == [place.file for place in scope.places()]


def test_a_path_from_the_root_is_taken_as_it_is(site: Site, tmp_path):
    """Where the author of hiera.yaml wrote it."""
    (tmp_path / "else.yaml").write_text("k: 1\n")

    assert 1 == site({"hiera.yaml": f"version: 5\nhierarchy:\n- name: a\n  path: {tmp_path}/else.yaml\n"}).lookup("k")


def test_a_call_in_hiera_yaml_is_told_with_its_entry(site: Site):
    """Only variables may stand there."""
    with pytest.raises(BadLookup, match=r"(?s)lookup\(..\) cannot be called.*hiera.yaml:3"):
        site({"hiera.yaml": "version: 5\nhierarchy:\n- name: a\n  path: \"%{lookup('x')}.yaml\"\n"}).lookup("k")
