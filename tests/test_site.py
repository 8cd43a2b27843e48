"""What the site is made of; `make docs` builds it, and a warning fails that."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest
import yaml

from nodeattrs.codes import codes

_LIMIT = sys.getrecursionlimit()
pytest.importorskip("mkdocs")
pytest.importorskip("griffe")

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("site_of_docs", ROOT / "docs/site.py")
assert _spec is not None
assert _spec.loader is not None
site = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(site)
sys.setrecursionlimit(_LIMIT)


@pytest.fixture(autouse=True)
def limit_of_recursion():
    """As it was: mkdocstrings raises it for the whole process."""
    yield
    sys.setrecursionlimit(_LIMIT)


def test_every_public_name_has_its_section():
    for module in site.MODULES:
        text = "".join(site.api(module))
        named = set(re.findall(r"^(?:::: [\w.]+\.|## )(\w+)$", text, re.MULTILINE))
        assert set(site.public(importlib.import_module(module))) == named, module


def test_every_module_that_is_promised_is_there():
    promised = re.findall(
        r"`(nodeattrs\.[\w.]+)`", (ROOT / "docs/stability.md").read_text().partition("| parts of a policy")[0]
    )
    assert set(promised) <= set(site.MODULES)


def test_the_page_of_codes_has_a_row_with_an_anchor_for_each_code():
    page = "".join(site.codes_page())
    rows = dict(re.findall(r'^\|<a id="(\w+)"></a>(NA\d+)<br>.+\|.+\|.+\|$', page, re.MULTILINE))
    assert {code.lower(): code for code in codes()} == rows


def test_the_address_of_a_code_is_its_row_on_the_site():
    address = yaml.safe_load(re.sub(r"!!python\S*", "", (ROOT / "mkdocs.yml").read_text()))["site_url"]
    assert {f"{address}codes.html#{code.lower()}" for code in codes()} == {one.page for one in codes().values()}


def test_every_code_that_a_page_links_to_exists():
    named = {
        found for path in (ROOT / "docs").rglob("*.md") for found in re.findall(r"codes\.md#(na\d+)", path.read_text())
    }
    assert named
    assert named <= {code.lower() for code in codes()}


def test_every_page_is_in_the_navigation():
    text = re.sub(r"!!python\S*", "", (ROOT / "mkdocs.yml").read_text())
    named = set(re.findall(r"[\w/-]+\.md", text.partition("\nnav:")[2]))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} <= named
    assert yaml.safe_load(text)["theme"]["font"] is False


@pytest.mark.parametrize(
    ("link", "page", "led"),
    [
        ("docs/cli.md#run", "index.md", "cli.md#run"),
        ("../README.md", "hiera.md", "index.md"),
        ("../../CONTRIBUTING.md#licence", "how-to/own-store.md", "../contributing.md#licence"),
        ("../in-ci.md", "tutorials/chef.md", "../in-ci.md"),
        ("index.md#decisions", "architecture.md", "decisions.md"),
        ("../cookbooks_example", "cli.md", "https://forge/tree/main/cookbooks_example"),
        ("LICENSE", "index.md", "https://forge/blob/main/LICENSE"),
    ],
)
def test_links_lead_where_they_did(link: str, page: str, led: str):
    assert led == site.led(link, page, "https://forge")


def test_docstrings_become_markdown():
    text = "Do it.\n\nhow, why: a way\n  and on\nmost: a number\n\n>>> x[1][2]\n3\n\nAnd [a][b]."
    assert (
        "Do it.\n\n\n- **how, why**: a way\n  and on\n- **most**: a number\n\n\n```pycon\n>>> x[1][2]\n3\n```\n\n"
        "And [a]\\[b]." == site.as_markdown(text)
    )
