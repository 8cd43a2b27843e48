"""What a helper that runs attribute files in Ruby may say: nothing of it is trusted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from nodeattrs import Node
from nodeattrs.dialects.chef.ruby.helper import Helper
from nodeattrs.dialects.chef.ruby.messages import RunServices
from nodeattrs.dialects.chef.ruby.session import RubySession
from tests.fuzz.mutation import mutated
from tests.fuzz.shapes import TREE, grown, spoiled
from tests.fuzz.target import Target, tried
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_LEVEL = ("default", "role_default", "force_default", "override", "automatic", "normal", "x")
_FULL = ("default", "normal", "override")
_PATHS = (["a"], ["a"], ["a", "b"], ["a", "b", "c"], ["a", 0], ["l"], ["l", 0], [], ["l", -1], ["a", "$x"])


def _STEPS(chance: random.Random) -> list[Any]:
    return list(chance.choice(_PATHS))


def _MAPS(chance: random.Random) -> list[Any]:
    return list(chance.choice((["m"], ["m"], ["o"])))


def _LIST(chance: random.Random) -> list[Any]:
    return ["l"]


def _NONE(chance: random.Random) -> list[Any]:
    return []


_ODD = (
    {"$map": [[1, 2], ["a", 3]]}, {"$map": [[[], 1]]}, {"$map": []}, {"$sym": "x"}, {"$sym": 1}, {"$lazy": 0},
    {"$lazy": -1}, {"$later": ["a"]}, {"$x": 1},
)  # fmt: skip


def _VALUE(chance: random.Random) -> Any:
    return json.loads(json.dumps(chance.choice(_ODD))) if chance.random() < 0.3 else TREE(chance)


_WORK = ("push", "concat", "unshift", "insert", "delete", "delete_at", "clear", "pop", "shift", "replace", "sort")
_FILE = ("a.rb", None, "/etc/passwd", "../x.rb")
_LINE = (1, 2, None, 0, -1)
_ASKED = ("get", "has", "level", "merged", "rm", "rm_default", "include", "data_bag", "read", "x")
_WORDS = ('"ask"', '{"$lazy": 0}', "\n", "null")
_ENTRY = [("a", 1), (1, 2), (3, "x")]
_WRITTEN = ("default", "force_default", "normal", "override")
_USUAL: tuple[list[Any], ...] = (
    *(["set", _WRITTEN, _MAPS, TREE, "a.rb", _LINE], ["update", _WRITTEN, _MAPS, {"b": TREE, "c": TREE}, "a.rb", 1]),
    *(["set", "default", _MAPS, _VALUE, "a.rb", 2], ["step", _WRITTEN, _MAPS, "a.rb", _LINE]),
    *(["delete", _WRITTEN, _MAPS, "a.rb", 3], ["full", _FULL, _STEPS, TREE, "a.rb", 3]),
    *(["list", "default", _LIST, ("push", "unshift", "delete"), [_VALUE], "a.rb", 4], ["log", "warn", "x", "a.rb", 1]),
    *(["list", "default", _LIST, ("clear", "pop", "shift"), _NONE, "a.rb", 4], ["unless", _FULL, _MAPS, 1, "a.rb", 1]),
    *(["ask", ("get", "has"), ("a", "l"), None, None], ["ask", "level", _WRITTEN, None, None]),
    *(["ask", ("rm", "merged", "read"), _MAPS, None, None], ["ask", "include", "b::c", "a.rb", 1]),
)
"""Messages of which most fit to what was said before."""
_MESSAGES: tuple[list[Any], ...] = (
    *(["set", _LEVEL, _STEPS, _VALUE, _FILE, _LINE], ["set", "default", _STEPS, _VALUE, "a.rb", 1]) * 2,
    ["set", "default", ["l"], [_VALUE, _VALUE], "a.rb", 2],
    ["update", _LEVEL, _STEPS, _VALUE, _FILE, _LINE],
    ["step", _LEVEL, _STEPS, _FILE, _LINE],
    ["delete", _LEVEL, _STEPS, _FILE, _LINE],
    *(["list", _LEVEL, _STEPS, _WORK, [_VALUE], _FILE, _LINE], ["list", "default", ["l"], _WORK, [_VALUE], "a.rb", 1]),
    ["full", _FULL, _STEPS, _VALUE, _FILE, _LINE],
    ["unless", _FULL, _STEPS, _VALUE, _FILE, _LINE],
    ["replace", _LEVEL, _VALUE, _FILE, _LINE],
    ["log", ("warn", "x"), ("a", 1), _FILE, _LINE],
    ["odd", "Regexp", _FILE, _LINE],
    ["lines", "a.rb", [[1, 2, 1, [["a"], 1, 2]]]],
    ["lines", "a.rb", _ENTRY],
    ["ask", _ASKED, _STEPS, _FILE, _LINE],
    *(["ask", ("get", "has"), "a", None, None], ["ask", "level", _LEVEL, None, None]),
    ["ask", "force", ("force_default", "x"), _STEPS, _VALUE, _FILE, _LINE],
    ["ask", "search", "node", "*:*", ({"a": ["b"]}, None, {"a": 1}), None, None],
    ["failed", ("NameError", 1), "no such thing", _FILE, _LINE, (None, 0, 99)],
    ["ended", 0],
    [],
)


def _grown(chance: random.Random) -> str:
    kinds = [_MESSAGES if chance.random() < 0.1 else _USUAL for _ in range(chance.randrange(8))]
    messages = [_whole(chance.choice(kind), chance) for kind in kinds]
    messages = [["ready"], ["set", "default", ["l"], [1, "a"], "a.rb", 1], *messages, ["done", None]]
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        messages = spoiled(messages, chance)
    text = "\n".join(json.dumps(one) for one in messages) if isinstance(messages, list) else json.dumps(messages)
    spoilt = mutated(text, chance, _WORDS) if chance.random() < 0.2 else text
    return f"{spoilt}\n"


def _whole(message: list[Any], chance: random.Random) -> list[Any]:
    """A message with all of its parts, each grown; what is known of lines as it is."""
    if message[:1] == ["lines"]:
        return list(json.loads(json.dumps(message)))
    return [grown(part, chance, 1) for part in message]


def _said(text: str) -> Node:
    said, folder = written("said.txt", text).absolute(), Path.cwd()
    node = Node("web1", root=folder)
    helper = Helper(folder, seconds=2, command=["cat", str(said)])
    try:
        RubySession(node, helper, RunServices(lambda *_: None), folder).run(
            str(folder / "a.rb"), "a::default", "a.rb", "a"
        )
    finally:
        helper.close()
    return node


def _used(node: Node) -> None:
    tried(node.to_dict, node.snapshot, lambda: node.explain("a"), lambda: node.explain("l.0"), node.to_chef_json)


TARGETS = (Target("ruby-helper", _grown, _said, _used),)
