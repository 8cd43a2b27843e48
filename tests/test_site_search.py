"""What people type into the search box of the site leads to the page that answers them."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUERIES = {
    "where does a value come from": "how-to/find-the-line.html",
    "exit code": "cli.html",
    "override": "how-to/find-the-line.html",
    "review a pull request": "impact.html",
    "ansible vault": "ansible.html",
    "helm": "fold.html",
    "secrets": "how-to/secrets.html",
    "compose": "fold.html",
    "hiera lookup": "hiera.html",
    "cloud-init": "cloudinit.html",
    "install": "tutorials/index.html",
    "search": "search.html",
}
"""A query -> the page that has to be the first one."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the pages that are made of docstrings: their weight in the search is next to nothing."""
    commands = pytest.importorskip("mkdocs.commands.build")
    config = pytest.importorskip("mkdocs.config")
    pytest.importorskip("griffe")
    if shutil.which("node") is None:
        pytest.skip("no node here")
    limit = sys.getrecursionlimit()
    place = tmp_path_factory.mktemp("site")
    logging.getLogger("mkdocs").setLevel(logging.CRITICAL)
    loaded = config.load_config(str(ROOT / "mkdocs.yml"), site_dir=str(place), strict=False)
    hook = next(event for event in loaded.plugins.events["files"] if "site" in event.__module__)
    hook.__globals__["MODULES"] = ()
    commands.build(loaded)
    sys.setrecursionlimit(limit)
    return place


def test_a_query_finds_the_page_that_answers_it_first(site: Path):
    asked = subprocess.run(
        ["node", str(ROOT / "tests/search_of_site.js"), str(site), *QUERIES], capture_output=True, text=True, check=True
    )

    first = [json.loads(line)[0].partition("#")[0] for line in asked.stdout.splitlines()]
    assert dict(zip(QUERIES, first, strict=True)) == QUERIES


def test_decisions_are_not_in_the_search(site: Path):
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))

    assert [] == [one["location"] for one in index["docs"] if one["location"].startswith("decisions")]
