"""Tutorials and how-tos, followed in a bare folder as a stranger would: what is typed prints what they say."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.tutorials import PAGES, ROOT, followed, programs_in


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_what_is_typed_prints_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text("utf-8")
    if "--ruby" in text and shutil.which("ruby") is None:
        pytest.skip("no ruby here")
    if "git " in text and shutil.which("git") is None:
        pytest.skip("no git here")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    (tmp_path / "desk").mkdir()
    assert followed(text, tmp_path / "desk", programs_in(tmp_path / "bin")) == text
