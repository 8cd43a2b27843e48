"""The name of a class says its subject: no name stands for classes in three modules or more."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import nodeattrs

ROOT = Path(nodeattrs.__file__).parent


def test_a_public_class_name_is_in_two_modules_at_most() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for file in sorted(ROOT.rglob("*.py")):
        for name in re.findall(r"^class ([^\W_]\w*)", file.read_text("utf-8"), re.MULTILINE):
            modules[name].append(file.relative_to(ROOT).as_posix())
    assert {name: found for name, found in modules.items() if len(found) > 2} == {}
