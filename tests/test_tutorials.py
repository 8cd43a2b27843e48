"""Tutorials, how-tos and pages with commands, followed as a stranger would: what is typed prints what they say."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.tutorials import PAGES, ROOT, followed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_what_is_typed_prints_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text("utf-8")
    for word, program in {"--ruby": "ruby", "git ": "git"}.items():
        if re.search(rf"^\$ .*{word}", text, re.MULTILINE) and shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    if "from pydantic import" in text:
        pytest.importorskip("pydantic")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    assert followed(page, tmp_path) == text
