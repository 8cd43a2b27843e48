"""python -m tests.oracles.chef attributes DIR [FACTS...] | programs [--count N] [--seed S] | read DIR...

The attribute files of each cookbook in DIR (DIR/NAME/attributes, DIR/NAME/libraries), and of those it depends on, are
loaded by our helper into our node and by the real Chef::Node into its own, with each of the facts (two releases of
Debian unless files are named). What they wrote is compared: levels, types, the order of keys; every leaf of ours has
to name a file and a line. Only cookbooks that write something count. Exit code 0 where 96 of 100 of those that Chef
loads are equal, 1 otherwise.

programs: random attribute files in Ruby (tests/oracles/chef_programs.py), each run by both: what each of its statements
gave, and what then stands in the ten components, has to be equal.

read: roles, environments and metadata in Ruby, as we read them and as a real Ruby runs them
(tests/oracles/chef_read.py).

CHEF_SRC names a checkout of chef/chef, MIXLIB_AUTH the lib of its gem mixlib-authentication; DIR is fetched by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import Node, Origin, Symbol
from nodeattrs.dialects.chef.facts.known import platforms
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook, attribute_files_in, cookbook_order
from nodeattrs.dialects.chef.ruby.helper import Helper
from nodeattrs.dialects.chef.ruby.messages import RunServices
from nodeattrs.dialects.chef.ruby.session import RubySession
from nodeattrs.errors import NodeattrsError
from tests.oracles import chef_read
from tests.oracles.chef_programs import COMPONENTS, program
from tests.oracles.peer import Peer

LEVELS = ("default", "force_default", "normal", "override", "force_override")
NEEDED = 0.96


class Book(NamedTuple):
    """A cookbook with all that it depends on, as far as that is in the folder.

    libraries: of all of them
    files:     attribute files in order: cookbook, name, file
    own:       those of the cookbook itself
    """

    name: str
    libraries: list[str]
    files: list[tuple[str, str, str]]
    own: set[str]


class Came(NamedTuple):
    """What came of a cookbook: levels, and file -> what went wrong."""

    levels: dict[str, Any]
    failed: dict[str, str]


def books(folder: Path) -> Iterator[Book]:
    found = {one.name: one for one in sorted(folder.iterdir()) if one.is_dir()}
    depends = {
        name: Cookbook(name, depends=dict.fromkeys(set(_depends(one)) & set(found), "")) for name, one in found.items()
    }
    for name in found:
        parts = {one: _parts(found[one]) for one in cookbook_order([name], depends)}
        files = [(one, short, file) for one, (_, files) in parts.items() for short, file in files.items()]
        libraries = [file for there, _ in parts.values() for file in there]
        yield Book(name, libraries, files, {file for one, _, file in files if one == name})


def _depends(folder: Path) -> list[str]:
    file = folder / "metadata.rb"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    return re.findall(r"^\s*depends\s*\(?\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)


def _parts(folder: Path) -> tuple[list[str], dict[str, str]]:
    """The libraries of a cookbook, and its attribute files in order, by name."""
    inside = [file.relative_to(folder).as_posix() for file in folder.rglob("*.rb")]
    libraries = sorted(str(folder / file) for file in inside if file.startswith("libraries/"))
    return libraries, {name: str(folder / file) for name, file in attribute_files_in(inside, ".rb").items()}


class Chef:
    """The real one: a process for each cookbook, all of one that has loaded Chef."""

    def __init__(self) -> None:
        self._peer = Peer("ruby", "-W0", str(Path(__file__).with_name("chef_attributes.rb")), LC_ALL="C.UTF-8")

    def load(self, book: Book, facts: Path | None, levels: Sequence[str] = LEVELS) -> Came:
        asked = {"facts": facts and str(facts), "libraries": book.libraries, "files": book.files, "levels": levels}
        answer = self._peer.ask(asked)
        return Came(answer.get("levels", {}), answer.get("failed", {"all of it": "Chef ended"}))


class Ours:
    """Ours: one helper for all."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._helper: Helper | None = None
        self.leaves = self.placed = 0

    def load(self, book: Book, facts: Path | None, levels: Sequence[str] = LEVELS) -> Came:
        if self._helper is None or not self._helper.alive:
            self._helper = Helper(self._root)
        node = Node("n1", root=self._root)
        if facts is not None:
            node.automatic = json.loads(facts.read_text(encoding="utf-8"))
        failed: dict[str, str] = {}
        loaded: set[str] = set()

        def load(cookbook: str, name: str, file: str) -> None:
            if file not in loaded:
                loaded.add(file)
                session.run(file, f"{cookbook}::{name}", str(Path(file).relative_to(self._root)), cookbook)

        def include(spelled: str, here: str, by: Callable[[], Origin]) -> None:
            cookbook, _, part = spelled.partition("::")
            found = [one for one in book.files if one[0] == cookbook]
            load(*next(one for one in found if one[1] == (part or "default"))) if found else None

        session = RubySession(node, self._helper, RunServices(include), self._root)
        steps: list[tuple[str, Callable[[], object]]] = [
            *((one, partial(session.load, "library", one, one, "")) for one in book.libraries),
            *((one[2], partial(load, *one)) for one in book.files),
        ]
        for file, step in steps:
            try:
                problem = step()
            except NodeattrsError as error:
                problem = error
            if problem is not None:
                failed[file] = str(problem)
        trees = {level: getattr(node, level).to_dict() for level in levels}
        self._count(node, trees)
        return Came({level: plain(tree) for level, tree in trees.items() if tree}, failed)

    def _count(self, node: Node, levels: dict[str, Any]) -> None:
        for tree in levels.values():
            for path in leaves(tree):
                self.leaves += 1
                self.placed += any(one.origin.file and one.origin.line for one in node.trace(path).claims)


def plain(value: Any) -> Any:
    """A tree as the driver gives it."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, Symbol):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float)) else {"$lazy": True}


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict) and tree:
        for key, one in tree.items():
            yield from leaves(one, (*path, key))
    elif path:
        yield path


def settled(tree: Any, one: Any, other: Any) -> Any:
    """A tree without the values that Chef itself gives anew each time."""
    if isinstance(one, dict) and isinstance(other, dict) and isinstance(tree, dict):
        return {key: settled(value, one.get(key), other.get(key)) for key, value in tree.items()}
    return tree if one == other else "random"


def difference(ours: Any, theirs: Any, path: str = "") -> str:
    """The first thing that is not the same; "" where all is."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**ours, **theirs}:
            if key not in ours or key not in theirs:
                return f"{path}.{key}: only {'ours' if key in ours else 'theirs'}"
            if found := difference(ours[key], theirs[key], f"{path}.{key}"):
                return found
        return "" if list(ours) == list(theirs) else f"{path}: another order of keys"
    return "" if json.dumps(ours) == json.dumps(theirs) else f"{path}: {str(ours)[:60]!r} for {str(theirs)[:60]!r}"


def compare(folder: Path, facts: list[Path], only: str | None) -> int:
    """Print what is not the same; the exit code."""
    chef, ours = Chef(), Ours(folder)
    count: Counter[str] = Counter()
    for book in books(folder):
        if only and only != book.name:
            continue
        for file in facts:
            theirs, here = chef.load(book, file), ours.load(book, file)
            if difference(here.levels, theirs.levels):
                again = chef.load(book, file)
                here, theirs = (
                    Came(settled(one.levels, theirs.levels, again.levels), one.failed) for one in (here, theirs)
                )
            count[sort := _sort(book, here, theirs)] += 1
            if sort == "equal":
                continue
            print(f"{book.name} on {file.stem}: {sort}: {difference(here.levels, theirs.levels) or 'nothing differs'}")
            for name in {**here.failed, **theirs.failed}:
                said = [came.failed.get(name, "loads") for came in (here, theirs)]
                print(f"  {Path(name).name}: ours {said[0]}; Chef {said[1]}")
    judged = count["equal"] + count["different"]
    print(dict(count), f"{ours.placed} of {ours.leaves} leaves have a file and a line")
    good = judged and count["equal"] / judged >= NEEDED and ours.placed == ours.leaves
    print(f"{count['equal']} of {judged} that Chef loads are equal")
    return 0 if good else 1


def _sort(book: Book, ours: Came, theirs: Came) -> str:
    same = not difference(ours.levels, theirs.levels)
    if set(theirs.failed) & book.own:
        return "neither loads, equal so far" if same and set(ours.failed) & book.own else "Chef does not load it"
    if not theirs.levels and not ours.levels and not ours.failed:
        return "writes nothing"
    return "equal" if same and not set(ours.failed) & book.own else "different"


def run_programs(count: int, seed: int) -> int:
    """The same for random programs; the exit code."""
    equal = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        chef, ours, answers = Chef(), Ours(folder), folder / "answers.json"
        for number in range(seed, seed + count):
            file = folder / "program.rb"
            file.write_text(program(number, str(answers)), encoding="utf-8")
            book = Book("program", [], [("program", "default", str(file))], {str(file)})
            came, told = [], []
            for one in (chef, ours):
                answers.write_text("", encoding="utf-8")
                came.append(one.load(book, None, COMPONENTS))
                told.append(json.loads(answers.read_text(encoding="utf-8") or "[]"))
            found = program_difference(came, told)
            equal += not found
            if found:
                lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("note {")]
                print(f"program {number}: {found}", *lines, sep="\n  ")
    print(f"{equal} of {count} programs are equal")
    return 0 if equal == count else 1


def program_difference(came: list[Came], told: list[list[dict[str, Any]]]) -> str:
    theirs, ours = came
    if failed := {**theirs.failed, **ours.failed}:
        return f"failed: {failed}"
    for number, (one, other) in enumerate(zip(*told, strict=True)):
        if said := difference(*(_without_text(each) for each in (other, one))):
            return f"statement {number}: {said}"
    return difference(ours.levels, theirs.levels)


def _without_text(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "message"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.chef", description=__doc__.partition("\n\n")[0])
    actions = parser.add_subparsers(dest="what", required=True)
    one = actions.add_parser("attributes")
    one.add_argument("folder", type=lambda text: Path(text).resolve())
    one.add_argument(
        "facts", nargs="*", type=Path, default=[*platforms().values()], help="(default: those that are shipped)"
    )
    one.add_argument("--only", help="one cookbook")
    other = actions.add_parser("programs")
    other.add_argument("--count", type=int, default=200)
    other.add_argument("--seed", type=int, default=1)
    actions.add_parser("read").add_argument("folders", nargs="+")
    options = parser.parse_args()
    if options.what == "read":
        return chef_read.main(options.folders)
    if missing := [name for name in ("CHEF_SRC", "MIXLIB_AUTH") if name not in os.environ]:
        parser.error(f"{' and '.join(missing)} must say where Chef's source lies, see the top of this file")
    if options.what == "programs":
        return run_programs(options.count, options.seed)
    return compare(options.folder, [file.resolve() for file in options.facts], options.only)


if __name__ == "__main__":
    sys.exit(main())
