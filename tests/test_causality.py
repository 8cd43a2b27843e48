"""The place that an explanation names is the truth: edit it, run again, and the node follows.

For the leaves and list elements of the three example nodes that are no facts, and for some facts: `make test` edits
a tenth of them, `make slow` all. What random inputs of all five systems add to that: tests/test_causality_random.py.
The test reads what `explain --format json` prints and edits the files it names, nothing else;
`tests.causality.editor` knows lines and brackets, and none of our readers.

What is promised (docs/merging.md, "Provenance: what is promised"), by class of value:

a literal       stands on the line named; another one there is what is read then
`# computed`    the line that wrote it: a literal in its place is what is read then
a list element  each by its own line, also where a recipe worked on the list in place
a loser         may be changed at will; only what was worked on in place is raw material
                of the result, and then the new value is explained by the line that was edited
the run itself  says `recipes`, `roles` and the like; no file does

When the line goes, the next in the explanation is read: what the same slot said before or kept
silent about, then the losers, the strongest first. Nothing, where there is no other; and where
a file cannot do without, the run fails and says which attribute it misses.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nodeattrs import Node, Sensitive
from nodeattrs.core.tree import parse, spell
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import NodeattrsError
from tests.causality.editor import NotThere, changed, is_computed, other, removed, settled
from tests.edits import leaves
from tests.effort import EFFORT, examples

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
NODES = ("web1", "web2", "db1")
FACTS = 15
SAMPLE = examples(40, fewest=5)
"""Facts of each node."""
SHARE = min(1.0, EFFORT)
"""The part of the other leaves whose lines are edited."""
WITHHELD = "Sensitive(withheld)"
ABSENT = object()

Steps = tuple[Any, ...]


class Place(NamedTuple):
    """Where an explanation says that something was said."""

    file: str
    line: int
    column: int | None

    @classmethod
    def of(cls, claim: dict[str, Any]) -> Place:
        return cls(claim["file"], claim["line"], claim["column"])

    @property
    def suffix(self) -> str:
        return Path(self.file).suffix

    @property
    def entry(self) -> tuple[str, int]:
        """The line, in a form that two claims may share."""
        return self.file, self.line


@dataclass
class Machine:
    """One example node in a copy of the repository that may be edited."""

    root: Path
    name: str
    _runs: dict[tuple[str, str], Node] = field(default_factory=dict)
    """Many leaves share a line: one edit is one run."""

    @cached_property
    def facts(self) -> Facts:
        return self._load_facts()

    @cached_property
    def node(self) -> Node:
        """As the files say it without any edit."""
        return self.run()

    def run(self, facts: Facts | None = None) -> Node:
        return run_node(Repository(self.root), self.name, facts=facts or self.facts).node

    def text(self, place: Place) -> str:
        return (self.root / place.file).read_text(encoding="utf-8")

    def rerun(self, place: Place, text: str) -> Node:
        """The node of a run in which that one file says *text*. raises: what the run raises"""
        if place.file.startswith("facts/"):
            return self._rerun(place, text)
        if (place.file, text) not in self._runs:
            self._runs[place.file, text] = self._rerun(place, text)
        return self._runs[place.file, text]

    def _rerun(self, place: Place, text: str) -> Node:
        before = self.text(place)
        try:
            (self.root / place.file).write_text(text, encoding="utf-8")
            return self.run(self._load_facts() if place.file.startswith("facts/") else None)
        finally:
            (self.root / place.file).write_text(before, encoding="utf-8")

    def computes(self, place: Place) -> bool:
        return place.suffix == ".py" and is_computed(self.text(place), place.line)

    def change(self, place: Place, old: Any, new: Any) -> Node:
        """The node after somebody wrote *new* for *old* on that line."""
        text = self.text(place)
        if self.computes(place):
            return self.rerun(place, settled(text, place.line, new))
        return self.rerun(place, changed(text, place.suffix, place.line, place.column, old, new))

    def remove(self, place: Place) -> Node:
        """The node after somebody took that line away."""
        return self.rerun(place, removed(self.text(place), place.suffix, place.line))

    def explained(self, path: Steps) -> dict[str, Any]:
        """What `explain --format json` prints."""
        return self.node.trace(path).to_dict()

    def _load_facts(self) -> Facts:
        return load_facts(self.root / "facts" / f"{self.name}.json", f"facts/{self.name}.json")

    @cached_property
    def winners(self) -> dict[Steps, dict[str, Any]]:
        """Every leaf that the file of facts does not have, and some of the others; and the claim that is read there."""
        every = [path for path, _ in leaves(self.node.to_dict())]
        facts = {path for path, _ in leaves(self.facts.tree)}
        some = set(random.Random(self.name).sample([path for path in every if path in facts], 2 * SAMPLE))
        return {path: self.explained(path)["claims"][0] for path in every if path not in facts or path in some}

    @cached_property
    def attributes(self) -> list[Steps]:
        """The leaves that are no facts."""
        return [path for path, winner in self.winners.items() if winner["rank"] != FACTS]

    @cached_property
    def edited(self) -> list[Steps]:
        """Some of these, the same each time: their lines are edited."""
        return random.Random(self.name).sample(self.attributes, round(len(self.attributes) * SHARE))

    @cached_property
    def sampled_facts(self) -> list[Steps]:
        """Some of the leaves that the facts file says, the same each time.

        Not the version of a cookbook: it has its line in metadata, and is 0.0.0 without.
        """
        facts = [path for path, winner in self.winners.items() if winner["rank"] == FACTS and winner["file"]]
        said = [path for path in facts if path[0] != "cookbooks"]
        return random.Random(self.name).sample(said, SAMPLE)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Machine]:
    """Shared by all tests: every edit is undone. What nodes have from the same lines is asked of the first of them."""
    found, asked = {}, set()
    for name in NODES:
        root = tmp_path_factory.mktemp(name) / "repository"
        shutil.copytree(EXAMPLE, root)
        machine = found[name] = Machine(root, name)
        said = {path: (path, *map(Place.of, machine.explained(path)["claims"])) for path in machine.attributes}
        machine.attributes = [path for path, lines in said.items() if lines not in asked]
        asked.update(said.values())
    return found


@pytest.fixture(params=NODES)
def machine(request: pytest.FixtureRequest, machines: dict[str, Machine]) -> Machine:
    return machines[request.param]


def read(node: Node, path: Steps) -> Any:
    """What a reader gets, plain; secrets unwrapped, since a test may look."""
    value = node.read(*path) if node.exist(*path) else ABSENT
    for to_plain in ("to_dict", "to_list"):
        if hasattr(value, to_plain):
            value = getattr(value, to_plain)()
    return value.unwrap() if isinstance(value, Sensitive) else value


def erasures(node: Node) -> dict[Steps, dict[str, Any]]:
    """What was erased, as the explanations of the maps above it tell; the newest of each path."""
    maps = {path[:depth] for path, _ in leaves(node.to_dict()) for depth in range(1, len(path))}
    told = [past for path in sorted(maps, key=repr) for past in node.trace(path).to_dict()["history"]]
    return {parse(past["path"]): past for past in reversed(told) if past["event"] == "erased"}


def same(one: Any, two: Any) -> bool:
    """Equal, and of the same type all the way down."""
    return repr(one) == repr(two)


def in_a_list(path: Steps) -> bool:
    return any(isinstance(step, int) for step in path)


def edit_of(value: Any, taken: Any = ()) -> Any:
    return "edited" if value == WITHHELD else other(value, taken)


def siblings(machine: Machine, path: Steps) -> list[Any]:
    return read(machine.node, path[:-1]) if path and isinstance(path[-1], int) else []


def place_at(node: Node, path: Steps) -> tuple[str, int] | None:
    claims = node.trace(path).to_dict()["claims"]
    return Place.of(claims[0]).entry if claims else None


def faults_of_a_changed_winner(machine: Machine, path: Steps) -> Iterator[str]:
    """Law (a) at one path: another value at the place of the winner is what is read then."""
    winner = machine.winners[path]
    place, new = Place.of(winner), edit_of(winner["value"], siblings(machine, path))
    if new is None:
        return  # null is alone of its kind
    try:
        after = machine.change(place, winner["value"], new)
    except (NotThere, NodeattrsError) as error:
        yield f"{spell(path)}: {error}"
        return
    at = path
    if machine.computes(place):
        # What was computed may have been the map or list around the leaf: the literal stands in its place.
        while not after.exist(*at):
            at = at[:-1]
    if not same(read(after, at), new):
        yield f"{spell(path)}: {place} said {new!r}, and {spell(at)} is {read(after, at)!r}"
    if place_at(after, at) != place.entry:
        yield f"{spell(path)}: edited at {place}, and then explained by {place_at(after, at)}"


def faults_of_changed_losers(machine: Machine, path: Steps) -> Iterator[str]:
    """Law (b) at one path: whoever lost, was overwritten, erased or silent may say anything else."""
    explained = machine.explained(path)
    winner, *others = explained["claims"]
    before = read(machine.node, path)
    lost = [claim for claim in others if claim["outcome"] == "loses"]
    for claim in unique([*lost, *explained["history"]], but=winner):
        place, new = Place.of(claim), edit_of(claim["value"])
        if new is None or isinstance(claim["value"], (dict, list)):
            continue  # a map or list is changed at the lines of its entries, and each of those has a path
        try:
            after = machine.change(place, claim["value"], new)
        except (NotThere, NodeattrsError) as error:
            yield f"{spell(path)}: loser {claim['value']!r}: {error}"
            continue
        raw_material = in_a_list(path) and worked_in_place(machine, path)
        if not same(read(after, path), before) and not (raw_material and place_at(after, path) == place.entry):
            yield f"{spell(path)}: the loser at {place} said {new!r}, and it is {read(after, path)!r}"


def worked_in_place(machine: Machine, path: Steps) -> bool:
    """Whether a recipe changed the list around *path*, which it then had read."""
    depth = next(depth for depth, step in enumerate(path) if isinstance(step, int))
    claims = machine.explained(path[:depth])["claims"]
    return any(claim["continued_by"] or claim["verb"] == "append" for claim in claims)


def unique(claims: list[dict[str, Any]], but: dict[str, Any]) -> list[dict[str, Any]]:
    """The claims that have a line of their own."""
    found = {Place.of(claim).entry: claim for claim in reversed(claims) if claim["file"]}
    found.pop(Place.of(but).entry, None)
    return list(found.values())


def faults_of_a_removed_winner(machine: Machine, path: Steps) -> Iterator[str]:
    """Law (c) at one path: without the winner's line the next in the explanation is read."""
    winner = machine.winners[path]
    place = Place.of(winner)
    try:
        after = machine.remove(place)
    except NodeattrsError as error:
        if not misses(error, path):
            yield f"{spell(path)}: without {place}: {error}"
        return
    if path and isinstance(path[-1], int):
        at, expected = path[:-1], without(siblings(machine, path), machine, path)
        if machine.computes(place) and not after.exist(*at):
            return  # the line had said more than the list
    else:
        at, expected = path, next_in(machine.explained(path), path)
    if not same(read(after, at), expected):
        yield f"{spell(path)}: without {place}, {spell(at)} is {read(after, at)!r} and not {expected!r}"


def misses(error: NodeattrsError, path: Steps) -> bool:
    """Whether a run failed for want of *path*, or of something above it."""
    return f" no {path[-1]}" in str(error) if error.path is None else path[: len(error.path)] == error.path


def without(elements: list[Any], machine: Machine, path: Steps) -> list[Any]:
    """The list without the elements that one line said, and nobody else."""
    gone = Place.of(machine.winners[path]).entry
    told = machine.node.trace(path[:-1]).elements
    setters = [{(claim.origin.file, claim.origin.line) for claim in one.claims} for one in told]
    return [element for element, said in zip(elements, setters, strict=True) if said != {gone}]


def next_in(explained: dict[str, Any], path: Steps) -> Any:
    """Whose word is read once the winner is gone: the same slot's earlier one, else the strongest loser's."""
    winner, *others = explained["claims"]
    if in_a_list(path):
        return ABSENT  # a key of an element: elements are whole
    earlier = [
        past
        for past in explained["history"]
        if past["rank"] == winner["rank"] and past["event"] in ("overwritten", "silent")
    ]
    for claim in [*earlier, *others]:
        if claim["path"] == explained["path"] and Place.of(claim).entry != Place.of(winner).entry:
            return claim["value"]
    return ABSENT


class TestAttributes:
    """Leaves and list elements of the example nodes that are no facts."""

    def test_another_value_at_the_place_of_the_winner_is_read(self, machine: Machine):
        """
        A literal becomes another one of its kind; what is computed becomes a literal.
        """
        faults = [fault for path in machine.edited for fault in faults_of_a_changed_winner(machine, path)]

        assert not faults, "\n".join(faults)

    def test_another_value_at_the_place_of_a_loser_changes_nothing(self, machine: Machine):
        """
        Beaten, overwritten, erased or silent.
        """
        faults = [fault for path in machine.edited for fault in faults_of_changed_losers(machine, path)]

        assert not faults, "\n".join(faults)

    def test_without_the_line_of_the_winner_the_next_is_read(self, machine: Machine):
        """
        The explanation has said who that would be.
        """
        faults = [fault for path in machine.edited for fault in faults_of_a_removed_winner(machine, path)]

        assert not faults, "\n".join(faults)


class TestFacts:
    """Some facts of each node, in a file of thousands of lines."""

    def test_another_fact_is_read(self, machine: Machine):
        """
        Nobody stands above a fact.
        """
        faults = [fault for path in machine.sampled_facts for fault in faults_of_a_changed_winner(machine, path)]

        assert not faults, "\n".join(faults)

    def test_a_fact_that_is_removed_is_gone(self, machine: Machine):
        """
        Or a weaker attribute is stated.
        """
        faults = [fault for path in machine.sampled_facts for fault in faults_of_a_removed_winner(machine, path)]

        assert not faults, "\n".join(faults)

    def test_what_no_file_says_is_the_runs_own(self, machine: Machine):
        """
        The name, the environment, and what the run list came to.
        """
        own = {path[0] for path, winner in machine.winners.items() if not winner["file"]}

        assert {"name", "chef_environment", "recipes", "expanded_run_list", "roles"} == own
        assert {"run"} == {machine.winners[path]["kind"] for path in machine.winners if path[0] in own}


class TestLists:
    """An element is required by its index, or found in the explanation of its list."""

    def test_both_ways_name_the_same_line(self, machine: Machine):
        """
        For the elements of every list that is no fact; every one of them has a locator.
        """
        lists = {path[: path.index(step)] for path in machine.attributes for step in path if type(step) is int}

        assert lists
        for path in lists:
            for index, element in enumerate(machine.node.trace(path).elements):
                first = element.claims[0].origin
                assert (first.file, first.line) == place_at(machine.node, (*path, index)), (path, index)


class TestErasures:
    @pytest.mark.parametrize(
        ("name", "erased"),
        [("web1", {"app.legacy_queue", "apache2.status"}), ("web2", {"apache2.tls"}), ("db1", set())],
    )
    def test_the_example_erases(self, machines: dict[str, Machine], name: str, erased: set[str]):
        """
        So that the next test has something to look at.
        """
        assert erased == {spell(path) for path in erasures(machines[name].node)}

    def test_without_the_line_that_erased_it_is_read_again(self, machine: Machine):
        """
        The explanation of a path that is gone names who took it away, and what it was.
        """
        for path, past in erasures(machine.node).items():
            after = machine.remove(Place.of(past["by"]))

            for inside, value in leaves(past["value"]):
                assert same(read(after, (*path, *inside)), value), spell((*path, *inside))


class TestExemptions:
    """The laws above bend for some lines; only the files say for which, and they are few."""

    def test_most_values_are_literals(self, machines: dict[str, Machine]):
        """
        Those that are computed are tested too, with a literal in the place of the line.
        """
        total = sum(len(machine.attributes) for machine in machines.values())
        computed = sum(
            machine.computes(Place.of(machine.winners[path]))
            for machine in machines.values()
            for path in machine.attributes
        )

        assert total > 150
        assert 0 < computed < total / 3, f"{computed} of {total}"

    def test_every_deferred_value_is_marked(self, machine: Machine):
        """
        A lazy value without the marker would be a literal that its line does not say.
        """
        lazy = [winner for winner in machine.winners.values() if str(winner["value"]).startswith("lazy(")]

        assert lazy
        assert all(machine.computes(Place.of(winner)) for winner in lazy)


class TestTheEditor:
    """The judge, judged on small texts."""

    @pytest.mark.parametrize(
        ("suffix", "text", "old", "new", "expected"),
        [
            (".json", '{\n "80": 80,\n}', 80, 81, '{\n "80": 81,\n}'),
            (".json", '{\n "a": "a",\n}', "a", "b", '{\n "a": "b",\n}'),
            (".py", 'x\ndefault["a"]["b"] = "b"  # not "b"', "b", "c", 'x\ndefault["a"]["b"] = "c"  # not "b"'),
            (".py", 'f(\n    "a": False,\n)', False, True, 'f(\n    "a": True,\n)'),
            (".py", 'x\ntag("web")', "web", "db", 'x\ntag("db")'),
            (".yaml", "a:\n  hour: 3  # 3 am", 3, 4, "a:\n  hour: 4  # 3 am"),
            (".yaml", "a:\n  - 10.0.0.0/24", "10.0.0.0/24", "10.0.0.0/25", "a:\n  - 10.0.0.0/25"),
        ],
    )
    def test_a_value_is_changed_and_nothing_else(self, suffix, text, old, new, expected):
        """
        Not the key that spells the same, not the comment.
        """
        assert expected == changed(text, suffix, 2, None, old, new)

    @pytest.mark.parametrize("line", ['    "a": 80,', "port = base + 8"])
    def test_a_line_that_does_not_say_the_value_is_refused(self, line):
        """
        A wrong line is noticed before anything runs.
        """
        with pytest.raises(NotThere):
            changed(line, ".py", 1, None, 8080, 1)

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ('default["a"] = f"{x}"  # computed', 'default["a"] = 1'),
            ('    "a": Sensitive(x),  # computed', '    "a": 1,'),
            ('default["a"].append(f(x))  # computed', 'default["a"].append(1)'),
        ],
    )
    def test_the_editor_replaces_a_computed_value_by_a_literal(self, line, expected):
        """
        The right side of an assignment, an entry, an argument.
        """
        assert expected == settled(line, 1, 1)

    @pytest.mark.parametrize(
        ("suffix", "text", "expected"),
        [
            (".json", '{\n "a": 1,\n "b": 2\n}', '{\n\n "b": 2\n}'),
            (".json", '{\n "a": {\n  "b": 1\n },\n "c": 2\n}', '{\n\n\n\n "c": 2\n}'),
            (".json", "[\n 1\n]", "[\n\n]"),
            (".yaml", "a:\n  b: 1\nc: 2", "a: {}\n\nc: 2"),
            (".yaml", "a:\n  - 1\n  - 2", "a:\n\n  - 2"),
            (".py", "if x:\n    f(1)", "if x:\n    pass"),
            (".py", 'f({\n    "a": 1,\n})', "f({\n\n})"),
            (".py", "\nold = node.rm(1)", "\nold = None"),
            (".py", "\ndefault[1] = {\n    2: 3,\n}", "\npass\n\n"),
        ],
    )
    def test_what_is_removed_leaves_a_file_that_can_be_read(self, suffix, text, expected):
        """
        The lines that follow keep their numbers.
        """
        assert expected == removed(text, suffix, 2)

    def test_a_last_entry_takes_the_comma_before_it_along(self):
        """
        JSON has no trailing commas.
        """
        assert '{\n "a": 1\n\n}' == removed('{\n "a": 1,\n "b": 2\n}', ".json", 3)
