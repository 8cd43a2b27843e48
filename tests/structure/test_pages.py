"""Pages stay short, and each begins with what its reader can do afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.structure.prose import ROOT, blocks, sentences

PAGES = sorted(ROOT.glob("docs/**/*.md"))
DECISIONS = [page for page in PAGES if page.parent.name == "decisions"]
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]
OTHERS = [page for page in PAGES if page not in DECISIONS and page.name != "index.md"]


def words(*pages: Path) -> int:
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def test_all_pages_together_have_at_most_55_000_words():
    assert words(*PAGES) <= 55_000


@pytest.mark.parametrize(("page", "most"), [("README.md", 900), ("CHANGELOG.md", 1_200)])
def test_the_first_pages_of_the_repository_are_short(page: str, most: int):
    assert words(ROOT / page) <= most


def test_at_most_14_decisions_stand():
    assert len(DECISIONS) <= 14


def test_no_paragraph_has_more_than_80_words():
    def long_ones() -> Iterator[str]:
        for page in PAGES:
            for block in blocks(page.read_text("utf-8")):
                if len(block.split()) > 80:
                    yield f"{page.relative_to(ROOT)}: {block[:60]}"

    assert [] == list(long_ones())


def test_a_sentence_of_what_is_read_first_has_at_most_16_words_in_the_middle():
    first = [ROOT / "README.md", *TUTORIALS]
    middles = {page.name: median(len(one.split()) for one in sentences(page.read_text("utf-8"))) for page in first}

    assert {name: middle for name, middle in middles.items() if middle > 16} == {}


def test_every_section_that_code_names_is_on_its_page():
    """
    As `docs/stores.md, Maintenance` or `docs/stores.md, "Maintenance"`; docstrings also write it in lower case.
    """
    named = re.compile(r'docs/([\w/-]+\.md), ("[^"]+"|[A-Z]\w*(?: [a-z]\w*)*)')

    def headings(page: str) -> set[str]:
        lines = (ROOT / "docs" / page).read_text("utf-8").splitlines()
        return {line.lstrip("# ").lower() for line in lines if line.startswith("#")}

    texts = [file.read_text("utf-8") for file in sorted((ROOT / "nodeattrs").rglob("*.py"))]
    found = [(page, section.strip('"')) for text in texts for page, section in named.findall(text)]

    assert ("stores.md", "Other versions") in found
    assert [] == [one for one in found if one[1].lower() not in headings(one[0])]


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_a_page_begins_with_what_its_reader_can_do_after_it(page: Path):
    paragraphs = [block for block in blocks(page.read_text("utf-8")) if block.strip()]

    assert re.search(r"\b[Aa]fter (?:this page|a tutorial)\b", paragraphs[0])
