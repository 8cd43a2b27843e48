"""Snapshots of nodes that run the same lines: what is remembered of one changes nothing of the next."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from nodeattrs import Node, NodeattrsError, Sensitive, lazy
from nodeattrs.core.claim import Origin
from nodeattrs.core.origins import At
from nodeattrs.keep import filtered_snapshot
from nodeattrs.node import causes, packing
from nodeattrs.node.alike import Alike, texts_in
from nodeattrs.node.kept_causes import Kept
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.packed_maps import Maps
from nodeattrs.runs.facts import Facts, load_facts
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import run_node
from nodeattrs.texts.json_choice import encoded
from tests.causality.systems.node import Making
from tests.on_disk import repository

ATTRIBUTES, RECIPE = "cookbooks/kiln/attributes/default.py", "cookbooks/kiln/recipes/default.py"
FILES: dict[str, object] = {
    "roles/web.json": {"name": "web", "run_list": ["kiln"], "default_attributes": {"kiln": {"port": 80}}},
    "data_bags/ovens/a.json": {"id": "a", "heat": 900, "door": "left"},
    "data_bags/ovens/b.json": {"id": "b", "heat": 901, "door": "left"},
    RECIPE: 'node.normal["kiln"]["done"] = node["platform"]\n',
}

FACTS: list[dict[str, Any]] = [
    {"platform": "pottery", "site": "a", "size": 1},
    {"platform": "pottery", "site": "b", "size": 1},
    {"platform": "pottery", "site": "b", "size": True},
    {"platform": "pottery", "site": "c", "size": 1.0},
    {"platform": "pottery", "site": "a", "size": [1]},
    {"platform": "pottery", "site": "a", "size": [1, {}]},
    {"platform": "pottery", "site": "a", "size": [1, []]},
    {"platform": "pottery", "site": "b", "size": None, "kiln": {"host": "far"}},
    {"platform": "pottery", "site": "b", "size": "1", "oven": "near"},
    {"platform": "pottery", "site": "b", "size": "1", "oven": "cold"},
]
"""What the machines are: pairs of them come out alike, or nearly, or not."""

PROGRAMS = {
    "a value of a fact, and what is made of it": 'default["kiln"]["host"] = node["site"]\n'
    'default["kiln"]["url"] = "http://" + node["kiln"]["host"]\ndefault["kiln"]["size"] = node["size"]\n'
    'default["kiln"]["door"] = "left"\n',
    "one of two literals": 'sites = {"a": "north", "b": "south"}\n'
    'default["kiln"]["where"] = sites.get(node["site"], "north")\nfirst = "north"\n'
    'default["kiln"]["near"] = first if node["kiln"]["where"] == first else "far"\n',
    "a copy of what may be the same": 'default["kiln"]["one"] = node["site"]\ndefault["kiln"]["two"] = "b"\n'
    'pair = [node["kiln"]["one"], node["kiln"]["two"]]\ndefault["kiln"]["last"] = pair[1]\n',
    "a branch": 'if node["site"] == "a":\n    default["kiln"]["door"] = "left"\n'
    'default["kiln"]["lid"] = node["size"]\n',
    "a deferred value": 'default["kiln"]["host"] = node["site"]\n'
    'default["kiln"]["late"] = lazy(lambda: node["kiln"]["host"] + "!")\n'
    'default["kiln"]["later"] = lazy(lambda: node["kiln"]["late"])\n',
    "what might have been": 'default["kiln"]["one"] = {"a": "x", "b": "y"}.get(node["site"], "z")\n'
    'default["kiln"]["two"] = node["kiln"]["one"] if node["platform"] == "" else "y"\n'
    'default["kiln"]["site"] = node["site"] if node["platform"] == "" else "b"\n',
    "what is equal": 'one = 1\nyes = True\nis_far = node["site"] == "b"\n'
    'default["kiln"]["n"] = yes if is_far else one\n',
    "a secret that is one of two": 'default["kiln"]["key"] = Sensitive({"a": "x"}.get(node["site"], "y"))\n',
    "what is set again": 'default["kiln"]["heat"] = node["site"]\ndefault["kiln"]["seen"] = node["kiln"]["heat"]\n'
    'default["kiln"]["heat"] = 3\noverride["kiln"]["heat"] = node["kiln"]["heat"]\n',
    "what a fact may hide": 'default["oven"] = "cold"\ndefault["kiln"]["oven"] = node["oven"]\n'
    'default["kiln"]["door"] = node["kiln"].get("host", "none")\n',
    "lists": 'default["kiln"]["racks"] = ["a", "b"]\ndefault["kiln"]["racks"].append(node["site"])\n'
    'default["kiln"]["first"] = node["kiln"]["racks"][0]\ndefault["kiln"]["last"] = node["kiln"]["racks"][-1]\n',
    "a secret": 'default["kiln"]["key"] = Sensitive(node["site"])\ndefault["kiln"]["a"] = "a"\n'
    'for key in ("key", "a"):\n    default["kiln"]["got"] = node["kiln"][key]\n',
    "a data bag": 'oven = data_bag_item("ovens", "a" if node["site"] == "a" else "b")\n'
    'default["kiln"]["heat"] = oven["heat"]\ndefault["kiln"]["most"] = node["kiln"]["heat"]\n'
    'default["kiln"]["door"] = oven["door"]\n',
    "calls": 'def put(key, value):\n    default["kiln"][key] = value\n\n\nput("x", node["site"])\nput("y", "b")\n'
    'put("z", node["kiln"]["x"])\n',
    "who asks who set it": 'default["kiln"]["door"] = node["site"]\ndefault["kiln"]["lid"] = "on"\n'
    'if node["size"] == 1:\n    node.explain(("kiln", "lid"))\n',
    "a component for each": 'for name in ("kiln", "hob"):\n    default[name]["site"] = node["site"]\n'
    'default["shed"]["all"] = [node["kiln"]["site"], node["hob"]["site"]]\n',
    "facts that a deferred value reads": 'default["kiln"]["url"] = lazy(lambda: [node["site"], node.get("size")])\n'
    'default["kiln"]["far"] = lazy(lambda: node.read("kiln", "host"))\n'
    'default["kiln"]["oven"] = lazy(lambda: node.read("oven"))\n',
    "facts that are written to": 'node.automatic["size"] = 7\nnode.automatic["shelf"]["site"] = node["site"]\n'
    'default["kiln"]["size"] = node["size"]\ndefault["kiln"]["shelf"] = node["shelf"]["site"]\n',
}


def snapshot(place: Path, known: Repository, number: int, settled: bool) -> str:
    """What a node's run leaves; each other one has normal attributes of a last run."""
    file = place / "machines" / f"n{number}.json"
    facts = load_facts(file, file.name, settled=True) if settled else Facts(FACTS[number], Origin("facts", file.name))
    saved = None
    if number % 2:
        saved = Node(f"n{number}")
        with saved.setting_as("recipe", f"kiln::old{number}"):
            saved.normal["kiln"] = {"host": "b", "kept": number}
    run = run_node(known, f"n{number}", facts=facts, run_list=["role[web]"], saved=saved)
    return json.dumps(run.node.snapshot(shared=True))


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "given"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_snapshot_says_what_it_says_where_nothing_is_remembered(tmp_path, program, settled):
    machines = {f"machines/n{number}.json": facts for number, facts in enumerate(FACTS)}
    repository(tmp_path, {**FILES, **machines, ATTRIBUTES: PROGRAMS[program]})
    for first in (0, 2, 7):  # who is remembered first
        known, other = Repository(tmp_path), Repository(tmp_path)
        for number in (first, *range(len(FACTS))):
            with patch.object(Alike, "marks", return_value=None):
                alone = snapshot(tmp_path, other, number, settled)
            assert snapshot(tmp_path, known, number, settled) == alone, (first, number)


def test_of_a_node_that_came_out_alike_little_is_looked_for(tmp_path):
    machines = {f"machines/n{number}.json": facts for number, facts in enumerate(FACTS)}
    known = repository(
        tmp_path, {**FILES, **machines, ATTRIBUTES: PROGRAMS["a value of a fact, and what is made of it"]}
    )
    looked = []
    with patch.object(Kept, "note", autospec=True, side_effect=lambda kept, path, *_: looked.append(path)):
        for number in (0, 8):
            looked.append(number)
            snapshot(tmp_path, known, number, settled=True)
    first, second = looked[: looked.index(8)], looked[looked.index(8) + 1 :]
    assert ("kiln", "door") in first
    assert ("kiln", "door") not in second


def test_a_line_has_one_mark_however_often_its_file_has_run(tmp_path):
    # CPython counts a call that it has inlined, after some, from elsewhere.
    text = PROGRAMS["a component for each"]
    known = repository(tmp_path, {**FILES, "machines/n0.json": FACTS[0], ATTRIBUTES: text})
    assert len({snapshot(tmp_path, known, 0, settled=True) for _ in range(20)}) == 1


READING = (
    'default["t"] = node["site"]', 'default["n"] = node.read("t")', 'default["m"] = [node["site"], "x"]',
    'override["e"]["n"] = node.read("d", "e")', 'default["d"]["t"] = node["pick"]', 'default["l"] = node.read("m")',
    'if node["pick"] == "a":\n    default["e"]["d"] = "left"', 'normal_unless["n"] = node["site"]',
    'default["t"] = {"a": "x", "b": "y"}.get(node["pick"], "x")', 'force_default["d"]["n"] = node.read("e", "n")',
    'default["late"] = lazy(lambda: node.read("t"))', 'override["n"] = node["size"]', 'node.rm("d", "n")',
    'for key in ("n", "t"):\n    default["d"][key] = node["pick"]', 'default_unless["t"] = node["pick"]',
    'def put(key, value):\n    default["e"][key] = value\n\nput("t", node["site"])\nput("n", "b")',
    'default["m"] = ["q"]\ndefault["m"].append(node["pick"])', 'node.automatic["t"] = node["pick"]',
    'default["d"] = {"t": node["pick"], "n": {"e": node["size"]}}',
    'some = [node["pick"], "b"]\ndefault["t"] = some[0]\ndefault["n"] = some[1]',
    'default["t"] = {"a": "x", "b": "y"}.get(node["pick"], "z")\n'
    'default["n"] = node.read("t") if node["platform"] == "" else "y"',
    'default["d"]["t"] = node["pick"] if node["platform"] == "" else "b"',
    'default["e"]["n"] = node.read("d", "t") if node["platform"] == "" else "a"',
    'picks = {"a": "north", "b": "south"}\ndefault["t"] = picks.get(node["pick"], "north")\nfirst = "north"\n'
    'default["n"] = first if node.read("t") == first else "far"',
    'default["n"] = node.read("t") if node.read("t") == "b" else "b"',
    'pair = [node.read("t"), node.read("n")]\ndefault["d"]["t"] = pair[1]\ndefault["e"]["t"] = pair[0]',
)  # fmt: skip
"""What lines of attribute files make of a machine."""


@pytest.mark.parametrize("seed", range(30))
def test_so_does_one_of_a_random_repository(seed, tmp_path):
    """
    Whatever its nodes set and read, and in which order they come.
    """
    random = Random(seed)
    files = dict(Making(random).made().files)
    for file in [file for file in files if file.endswith(".py") and "/attributes/" in file]:
        files[file] += "\n" + "\n".join(random.sample(READING, random.randint(2, 6))) + "\n"
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    machines = []
    for number in range(6):
        facts = json.loads(files["facts.json"]) | {
            "site": random.choice(["s1", "s2"]),
            "pick": random.choice(["a", "b", "x", "left"]),
            "size": random.choice([1, True, 1.0, "1", None, [1], {"a": 1}]),
        }
        if random.random() < 0.25:
            facts[random.choice("delmtn")] = random.choice(["a", {"n": 1, "t": "a"}, ["x", "a"], 7])
        machines.append(tmp_path / f"machine{number}.json")
        machines[-1].write_text(json.dumps(facts), "utf-8")

    known, other = Repository(tmp_path), Repository(tmp_path)
    for machine in (*machines, *random.choices(machines, k=6)):
        with patch.object(Alike, "marks", return_value=None):
            alone = left_by(other, machine)
        assert left_by(known, machine) == alone


def left_by(known: Repository, machine: Path) -> str:
    """The snapshot of a run, or what is wrong with it."""
    try:
        run = run_node(known, "n1", facts=load_facts(machine, machine.name, settled=True))
    except NodeattrsError as error:
        return str(error)
    return json.dumps(run.node.snapshot(shared=True))


def left(place: Path, known: Repository, facts: dict[str, Any], **options: Any) -> Any:
    """The snapshot of a node of these facts."""
    file = place / "machine.json"
    file.write_text(json.dumps(facts), "utf-8")
    run = run_node(known, "n1", facts=load_facts(file, file.name, settled=True), run_list=["role[web]"])
    return run.node.snapshot(**{"shared": True, **options})


OF_TWO = (
    'default["kiln"]["host"] = node["site"]\ndefault["hob"]["fuel"]["kind"] = "gas"\n'
    'default["shed"]["late"] = lazy(lambda: node["pick"])\ndefault["shed"]["key"] = Sensitive(node["secret"])\n'
    'override["hob"]["size"] = node["size"]\nif node["site"] == "far":\n    default["far"] = True\n'
    'if node["pick"] == "r":\n    override["hob"]["lid"] = "on"\nelse:\n    override["hob"]["lid"] = "on"\n'
)
FIRST = {"platform": "pottery", "site": "a", "pick": "p", "secret": "s", "size": 1}
DIFFERING = {
    "nothing": ({}, {1, 2, 7, 8, 9, 10}),
    "a fact that nobody reads": ({"idle": 3}, {1, 2, 7, 8, 9, 10}),
    "a scalar": ({"site": "b"}, {2, 7, 8, 9, 10}),
    "what a deferred value comes to": ({"pick": "q"}, {2, 7, 8, 9, 10}),
    "a secret": ({"secret": "t"}, {1, 2, 7, 8, 9, 10}),
    "an equal one of another type": ({"size": True}, set()),
    "a list in the place of a scalar": ({"size": [1]}, set()),
    "a map in the place of one": ({"size": {"a": 1}}, set()),
    "a line that has run": ({"site": "far"}, set()),
    "another line that sets the same": ({"pick": "r"}, set()),
}
"""What of a node is another than that of the first one: the slots that it shares with that all the same."""


@pytest.mark.parametrize("what", DIFFERING)
def test_slots_are_shared_where_nothing_in_them_differs(tmp_path, what):
    repository(tmp_path, {**FILES, ATTRIBUTES: OF_TWO})
    known, (differing, expected) = Repository(tmp_path), DIFFERING[what]
    one, two = left(tmp_path, known, FIRST), left(tmp_path, known, {**FIRST, **differing})
    shared = {int(number) for number, tree in one["slots"].items() if two["slots"][number] is tree}
    assert shared >= expected
    assert shared.isdisjoint({1, 2, 7, 8, 9, 10} - expected)


def test_who_may_change_a_snapshot_has_one_of_its_own(tmp_path):
    repository(tmp_path, {**FILES, ATTRIBUTES: OF_TWO})
    known = Repository(tmp_path)
    one = left(tmp_path, known, FIRST)
    before = json.dumps(one)
    two = left(tmp_path, known, FIRST, shared=False)
    assert json.dumps(two) == before
    for tree in two["slots"].values():
        tree["m"].clear()
    for mark in two["marks"]:
        mark.clear()
    assert json.dumps(one) == before == json.dumps(left(tmp_path, known, FIRST))


MARKS = {
    "nothing": ({}, set()),
    "the value of its line": ({"site": "b"}, {"host"}),
    "what a deferred value comes to": ({"pick": "q"}, set()),
    "no scalar where it was read": ({"pick": ["q"]}, {"late"}),
    "null where it was read": ({"pick": None}, {"late"}),
    "a secret": ({"secret": "t"}, {"key"}),
}
"""What differs: the values whose causes are looked for again, but for those that nobody compares."""


@pytest.mark.parametrize("what", MARKS)
def test_causes_are_looked_for_again_where_they_may_be_others(tmp_path, what):
    repository(tmp_path, {**FILES, ATTRIBUTES: OF_TWO})
    known, (differing, expected) = Repository(tmp_path), MARKS[what]
    left(tmp_path, known, FIRST)
    looked = set()
    note = Kept.note

    def noted(kept: Kept, path: Any, *others: Any) -> None:
        looked.update(path[-1:])
        note(kept, path, *others)

    with patch.object(Kept, "note", noted):
        left(tmp_path, known, {**FIRST, **differing})
    assert looked >= expected
    assert looked.isdisjoint({"late", "kind"} - expected)


def test_what_was_found_of_a_secret_is_kept_without_it(tmp_path):
    repository(
        tmp_path, {**FILES, ATTRIBUTES: 'default["shed"]["key"] = Sensitive(data_bag_item("ovens", "a")["door"])\n'}
    )
    known = Repository(tmp_path)
    bag = tmp_path / "data_bags/ovens/a.json"
    bag.write_text(json.dumps({"id": "a", "door": "Zw1ebel-Fisch"}), "utf-8")
    one = left(tmp_path, known, FIRST)
    with patch.object(causes, "_followed", side_effect=AssertionError):
        assert left(tmp_path, known, FIRST) == one
    assert "data_bags/ovens/a.json" in json.dumps(one["marks"])
    assert "Zw1ebel-Fisch" not in repr((*causes._kept, [(one.causes, one.found) for one in causes._kept.values()]))


TEXTS = {
    "the latest that came out alike": (lambda snapshot: snapshot, True),
    "the same, as a map of one's own": (lambda snapshot: dict(snapshot), True),
    "one with other marks": (lambda snapshot: {**snapshot, "marks": [*snapshot["marks"]]}, False),
    "one that was cut down": (lambda snapshot: filtered_snapshot(snapshot, {"default": ["kiln"]}), False),
}


@pytest.mark.parametrize("which", TEXTS)
def test_texts_that_are_remembered_are_those_of_what_stands_there(tmp_path, which):
    repository(tmp_path, {**FILES, ATTRIBUTES: OF_TWO})
    known, (of, _) = Repository(tmp_path), TEXTS[which]
    left(tmp_path, known, FIRST)
    snapshot = of(left(tmp_path, known, {**FIRST, "site": "b"}))
    texts = texts_in(snapshot)
    assert all(text == encoded(snapshot["slots"][number]) for number, text in texts.slots.items())
    pairs = [*zip(texts.marks, snapshot["marks"], strict=True)]
    assert all(text in (None, encoded(mark)) for text, mark in pairs)
    assert "1" not in texts.slots


def test_texts_are_those_of_the_latest_snapshot_alone(tmp_path):
    repository(tmp_path, {**FILES, ATTRIBUTES: OF_TWO})
    known = Repository(tmp_path)
    _, two, _ = (left(tmp_path, known, {**FIRST, "site": site}) for site in "abc")
    assert texts_in(two).slots == {}
    assert {*texts_in(two).marks} == {None}


def owned(entries: dict[Any, Any], origin: int = 1, kind: type[OwnedMap] = OwnedMap, **origins: Any) -> OwnedMap:
    """A map of a slot. origins: the marks of entries"""
    made = kind(entries, origin)
    made.origins = origins
    return made


OTHERS: dict[str, tuple[Any, Any]] = {
    "the same": (owned({"a": 1, "b": owned({"c": 2})}), {}),
    "another value": (owned({"a": "x", "b": owned({"c": 2})}), [(("a",), False)]),
    "another one below": (owned({"a": 1, "b": owned({"c": None})}), [(("b", "c"), False)]),
    "both": (owned({"a": 0, "b": owned({"c": 3})}), [(("a",), False), (("b", "c"), False)]),
    "an equal one of another type": (owned({"a": True, "b": owned({"c": 2})}), None),
    "another order": (owned({"b": owned({"c": 2}), "a": 1}), None),
    "another key": (owned({"a": 1, "b": owned({"d": 2})}), None),
    "one more": (owned({"a": 1, "b": owned({"c": 2}), "d": 3}), None),
    "one more below": (owned({"a": 1, "b": owned({"c": 2, "d": 3})}), None),
    "one less": (owned({"a": 1}), None),
    "another mark": (owned({"a": 1, "b": owned({"c": 2})}, a=2), None),
    "another mark below": (owned({"a": 1, "b": owned({"c": 2}, c=2)}), None),
    "a map of another mark": (owned({"a": 1, "b": owned({"c": 2}, origin=2)}), None),
    "a list of several": (owned({"a": [1], "b": owned({"c": 2})}, a=[At(1, ())]), None),
    "an assigned map": (owned({"a": 1, "b": owned({"c": 2}, kind=AssignedMap)}), None),
    "a map that is no writer's": (owned({"a": 1, "b": {"c": 2}}), None),
    "a scalar in its place": (owned({"a": 1, "b": 2}), None),
    "a map in the place of a scalar": (owned({"a": owned({}), "b": owned({"c": 2})}), None),
    "a list there": (owned({"a": [1], "b": owned({"c": 2})}), None),
    "a deferred value": (owned({"a": lazy(lambda: 1), "b": owned({"c": 2})}), [(("a",), False)]),
    "a secret": (owned({"a": Sensitive(1), "b": owned({"c": 2})}), [(("a",), False)]),
}
"""A map beside one with a scalar and a map: where another scalar is all that differs, or None."""


@pytest.mark.parametrize("which", OTHERS)
def test_maps_are_alike_where_other_scalars_are_all_that_differs(which):
    other, expected = OTHERS[which]
    first, found = owned({"a": 1, "b": owned({"c": 2})}), []
    packed = packing.packed_map(first)
    before, pack = json.dumps(packed), (packing.packed, packing.packed_whose)
    came = Maps([OwnedMap(), first], {1: packed}).again([OwnedMap(), other], found, pack)
    assert (came is None) == (expected is None)
    if expected is not None:
        assert sorted((path, is_deferred) for _, path, is_deferred in found) == [*expected]
        assert came == ({1: packing.packed_map(other)} if expected else {})
    assert json.dumps(packed) == before
