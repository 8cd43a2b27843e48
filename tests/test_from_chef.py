"""The page for people from Chef: the members that its table of methods names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nodeattrs.chef
import nodeattrs.recipe
from nodeattrs import Node

PAGE = (Path(__file__).parents[1] / "docs" / "from-chef.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Every public method of Chef::Node")[2].partition("\n## ")[0]
OURS = [row.split(" | ")[1] for row in TABLE.splitlines() if row.startswith("| `")]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`node\.(\w+)", "".join(OURS)))))
def test_a_member_that_the_table_names_is_one(name: str):
    assert hasattr(Node("n"), name)


@pytest.mark.parametrize("name", ["has_role", "has_recipe", "run_state", "include_attribute", "lazy", "log", "tagged"])
def test_a_word_that_the_table_names_is_one(name: str):
    assert any(f"`{name}`" in row for row in OURS)
    assert name in nodeattrs.recipe.__all__


def test_the_steps_of_a_run_that_it_names_are_public():
    row = next(row for row in OURS if "expand_node" in row)
    assert set(re.findall(r"`(\w+)`", row)) <= set(nodeattrs.chef.__all__)
