"""What people type into the search box of the site leads to the page that answers them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / ".run/site"
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
def site() -> Path:
    """The site as `make docs` built it last."""
    index = SITE / "search/search_index.json"
    if shutil.which("node") is None:
        pytest.skip("no node here")
    if not index.exists() or any(page.stat().st_mtime > index.stat().st_mtime for page in ROOT.glob("docs/**/*.md")):
        pytest.skip("make docs builds the site, and a page is newer")
    return SITE


def test_a_query_finds_the_page_that_answers_it_first(site: Path):
    asked = subprocess.run(
        ["node", str(ROOT / "tests/search_of_site.js"), str(site), *QUERIES], capture_output=True, text=True, check=True
    )

    first = [json.loads(line)[0].partition("#")[0] for line in asked.stdout.splitlines()]
    assert dict(zip(QUERIES, first, strict=True)) == QUERIES


def test_decisions_are_not_in_the_search(site: Path):
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))

    places = [one["location"] for one in index["docs"]]
    assert [] == [place for place in places if place.startswith("decisions")]
    assert "hiera.html" in places
