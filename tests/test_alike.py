"""Snapshots of nodes that run the same lines: what is remembered of one changes nothing of the next."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from nodeattrs import Node, NodeattrsError
from nodeattrs.core.claim import Origin
from nodeattrs.node.alike import Alike
from nodeattrs.node.kept_causes import Kept
from nodeattrs.runs.facts import Facts, load_facts
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import run_node
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
