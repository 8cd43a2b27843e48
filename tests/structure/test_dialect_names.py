"""User interfaces and verbs name no dialect: what one of them needs stands in the contract."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from nodeattrs.dialects import BUILT_IN

PACKAGE = Path(__file__).parents[2] / "nodeattrs"
FOLDERS = ("cli", "web", "verbs")

WORDS = {"nodes", "node", "catalogs", "catalog", "files", "folds", "fold"}
"""Names of dialects that are words of their own: the product is about nodes, catalogs and files, and rows fold."""


def _names() -> set[str]:
    """Each dialect by its name, its command and its folder, with every joint that a name may have."""
    found = {
        name
        for one in BUILT_IN
        for name in (one.name, one.command, type(one).__module__.split(".")[-2])
        if name and name not in WORDS
    }
    return found | {name.replace("-", joint) for name in found for joint in ("", "_")}


def test_no_interface_and_no_verb_names_a_dialect() -> None:
    found: Counter[tuple[str, str]] = Counter()
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, _names()))})\b", re.IGNORECASE)
    for folder in FOLDERS:
        assert (PACKAGE / folder).is_dir()
        for file in (PACKAGE / folder).rglob("*"):
            if file.suffix in (".py", ".html", ".js", ".css"):
                for name in pattern.findall(file.read_text(encoding="utf-8")):
                    found[file.relative_to(PACKAGE).as_posix(), name.lower()] += 1
    assert dict(found) == {}


def test_the_names_that_are_looked_for_are_those_of_all_dialects() -> None:
    assert {"hiera", "ansible", "bindings", "chef", "cloudinit", "cloud-init", "cloud_init", "cloud-config"} <= _names()
