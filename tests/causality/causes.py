"""Does the named cause decide? Every value of a repository is edited at the lines that it is said to come from.

Of repositories written by hand, and of random ones made of the same forms. A line that is named as the
cause of a value, or that set it where no other is named, is edited; the value has to change. Where what
stands there is the value itself, and not a part of what it was computed from, that line holds it.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import Any

from nodeattrs import Node
from nodeattrs.core.claim import CALLED, Claim, Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from tests.causality.system import Files
from tests.causality.values import Path
from tests.causality.written import FIRST, FORMS, SECOND, THIRD

__all__ = ["Causes", "examined", "made", "main"]

SIGN, NUMBER = "§", re.compile(r"(?<!\d)7\d{5}(?!\d)")
FACTS = Facts({"platform": "ubuntu", "platform_version": "22.04", "platform_family": "debian"}, Origin("facts"))


@dataclass(frozen=True)
class Causes:
    """What became of the values of a repository.

    asked: how many values
    wrong: those whose causes did not hold, in words
    """

    asked: int
    wrong: tuple[str, ...]


class _Case:
    def __init__(self, root: Folder, files: Files) -> None:
        self.root = root
        number = itertools.count(700_001, 7)
        self.seconds = itertools.count(1_700_000_000)
        self.texts = {name: re.sub(SIGN, lambda _: str(next(number)), text) for name, text in files.items()}
        for name, text in self.texts.items():
            self.write(name, text)
        self.node = self.run()
        self.nodes: dict[tuple[str, int], Node | None] = {}

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, "utf-8")
        # Python takes bytecode for that of a source of the same size and second.
        os.utime(self.root / name, (second := next(self.seconds), second))

    def run(self) -> Node:
        return run_node(Repository(self.root), "n1", facts=FACTS).node

    def edited(self, file: str, line: int) -> Node | None:
        """The node after every number of a line became another one; None where there is none. A line is edited once."""
        if (file, line) not in self.nodes:
            self.nodes[file, line] = self._edited(file, line)
        return self.nodes[file, line]

    def _edited(self, file: str, line: int) -> Node | None:
        lines = self.texts[file].split("\n")
        if not NUMBER.search(lines[line - 1]):
            return None
        lines[line - 1] = NUMBER.sub(lambda found: "9" + found[0][1:], lines[line - 1])
        self.write(file, "\n".join(lines))
        try:
            return self.run()
        finally:
            self.write(file, self.texts[file])

    def fault(self, path: Path, value: Any) -> str | None:
        """What is wrong with the causes of a value."""
        trace = self.node.trace(path)
        claims = [one.claim for one in trace.standing]
        places = dict.fromkeys(place for claim in claims for place in _named(claim))
        nodes = {place: self.edited(*place) for place in places if place[0] in self.texts}
        changed = [place for place, node in nodes.items() if node is not None and _read(node, path) != value]
        same = [place for place, node in nodes.items() if node is not None and _read(node, path) == value]
        if changed and not same:
            return None
        return f"{'.'.join(map(str, path))} = {value!r}: changed by {changed}, and not by {same} of {list(places)}"


def _named(claim: Claim) -> Iterator[tuple[str, int]]:
    """Where one would edit: the lines that the value comes from, else the one that set it."""
    causes = [one.origin for one in claim.causes if one.what != CALLED] or [claim.origin]
    yield from ((one.file, one.line) for one in causes if one.file is not None and one.line is not None)


def _read(node: Node, path: Path) -> Any:
    return node.read(*path) if node.exist(*path) else None


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not steps:
        yield path, value
    for step, inner in steps:
        yield from _leaves(inner, (*path, step))


def examined(files: Files) -> Causes:
    """Ask about every value of a repository that holds a number."""
    with tempfile.TemporaryDirectory(prefix="causes") as folder:
        case = _Case(Folder(folder), files)
        asked = [(path, value) for path, value in _leaves(case.node.to_dict()) if re.search(r"7\d{5}", str(value))]
        faults = (case.fault(path, value) for path, value in asked)
        return Causes(len(asked), tuple(one for one in faults if one is not None))


def made(seed: int) -> Files:
    """A repository of random forms in two attribute files and a recipe."""
    chance = random.Random(f"causes {seed}")
    chosen = [form.replace("KEY", f"k{at}") for at, form in enumerate(chance.choices(FORMS, k=12))]
    data = {f"k{at}_data": {"x": SIGN, "y": {"z": SIGN}} for at in range(12)}
    recipe = "\n".join(chosen[8:]).replace("default[", "node.default[")
    return {
        "cookbooks/a/metadata.json": '{"name": "a", "version": "1.0.0"}',
        "cookbooks/a/attributes/default.py": "\n".join(chosen[:4]) + "\n",
        "cookbooks/a/attributes/other.py": "\n".join(chosen[4:8]) + "\n",
        "cookbooks/a/recipes/default.py": recipe + "\n",
        "cookbooks/a/files/data.json": json.dumps(data, indent=1, ensure_ascii=False).replace(f'"{SIGN}"', SIGN),
        "nodes/n1.json": '{"name": "n1", "run_list": ["a"]}',
    }


def main(seeds: Sequence[int]) -> int:
    """Examine the repositories of people and one for each seed. return: 0 if everything held"""
    passed = failed = 0
    named = {"the first repository": FIRST, "the second repository": SECOND, "the third repository": THIRD}
    for name, files in itertools.chain(named.items(), ((f"seed {one}", made(one)) for one in seeds)):
        found = examined(files)
        passed += found.asked - len(found.wrong)
        failed += len(found.wrong)
        if name in named or found.wrong:
            print(f"{name}: {found.asked - len(found.wrong)} of {found.asked} values follow their causes", flush=True)
        for one in found.wrong:
            print(f"FAILED {name}: {one}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1
