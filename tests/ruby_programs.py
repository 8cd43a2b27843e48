"""The programs of the chef-attributes vectors as attribute files in Ruby.

What an attribute file in Ruby can say is printed as one; runs of such operations become a file each, and what only a
run does, such as an expansion, is done to the node between two of them. Each statement notes what it gave.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nodeattrs.dialects.chef.ruby.helper import Helper
from nodeattrs.dialects.chef.ruby.messages import RunServices
from nodeattrs.dialects.chef.ruby.session import RubySession
from tests.vectors.cases import Case
from tests.vectors.chef_program import Program
from tests.vectors.values import difference

__all__ = ["PRELUDE", "Programs", "judged", "printed"]

PRELUDE = """\
require "json"
$held ||= {}
$told = []

def told(value)
  case value
  when Chef::DelayedEvaluator then { "$lazy" => true }
  when Symbol then { "$sym" => value.to_s }
  when Hash
    pairs = value.map { |key, one| [key, told(one)] }
    pairs.all? { |key, _| key.is_a?(String) && !key.start_with?("$") } ? pairs.to_h : { "$map" => pairs }
  when Array then value.map { |one| told(one) }
  else value
  end
end

def note
  $told << { "ok" => told(yield) }
rescue SystemStackError, StandardError => error
  $told << { "error" => error.class.name, "message" => error.message[0, 200] }
end

def list!(value)
  value.is_a?(Array) ? value : raise(value.nil? ? NoMethodError : TypeError, "nil or no list: #{value.class}")
end

def map!(value)
  value.is_a?(Hash) ? value : raise(value.nil? ? NoMethodError : TypeError, "nil or no map: #{value.class}")
end
"""

Steps = Sequence[Any]
_SELF = {"append": "<<", "sort": "sort!", "reverse": "reverse!", "uniq": "uniq!"}
_RESULT = ("pop", "shift", "delete", "delete_at", "uniq")


def literal(value: Any) -> str:
    """A value of a vector as Ruby writes it."""
    if isinstance(value, str):
        return json.dumps(value).replace("#", "\\#")
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if not isinstance(value, dict):
        return repr(value)
    match value:
        case {"$map": pairs}:
            return "{" + ", ".join(f"{literal(key)} => {literal(one)}" for key, one in pairs) + "}"
        case {"$sym": text}:
            return f":{json.dumps(text)}"
        case {"$lazy": path}:
            return f"lazy {{ node{steps(path)} }}"
    return "{" + ", ".join(f"{literal(key)} => {literal(one)}" for key, one in value.items()) + "}"


def steps(path: Steps) -> str:
    return "".join(f"[{literal(one)}]" for one in path)


def words(*values: Any) -> str:
    return "(" + ", ".join(map(literal, values)) + ")"


def _worked(what: str, method: str, args: list[Any]) -> str:
    if method == "set_at":
        return f"one = list!({what}); one[{literal(args[0])}] = {literal(args[1])}; one"
    call = f"{_SELF.get(method, method)}{words(*args) if args else ''}"
    call = f" << {literal(args[0])}" if method == "append" else f".{call}"
    return f"one = list!({what}); answer = one{call}; {'answer' if method in _RESULT else 'one'}"


def _level(slot: str) -> str:
    return f"node.attributes.{slot}"


_PRINTED: dict[str, Callable[..., str]] = {
    "set": lambda slot, path, value: f"{_level(slot)}{steps(path)} = {literal(value)}; nil",
    "level_get": lambda slot, path: f"{_level(slot)}{steps(path)}",
    **{
        f"level_{name}": lambda slot, path, name=name: f"{_level(slot)}.{name}{words(*path)}"
        for name in ("read", "read!", "exist?")
    },
    "delete": lambda slot, path: f"{_level(slot)}{steps(path[:-1])}.delete({literal(path[-1])})",
    "array": lambda slot, path, method, args: _worked(f"{_level(slot)}{steps(path)}", method, args),
    "hash": lambda slot, path, method, args: (
        f"map!({_level(slot)}{steps(path)}).{method}{words(*args) if args else ''}"
    ),
    "replace_slot": lambda slot, value: f"{_level(slot)} = {literal(value)}; nil",
    "set_unless": lambda level, path, value: f"node.{level}_unless{words(*path, value)}",
    "unless_chain": lambda level, path, value: f"node.{level}_unless{steps(path)} = {literal(value)}; nil",
    "assign": lambda level, path, value: f"node.{level}!{words(*path, value)}",
    "assign_chain": lambda level, path, value: f"node.{level}!{steps(path)} = {literal(value)}; nil",
    **{
        name: lambda level, path, value, name=name: f"node.{name}{words(_sym(level), *path, value)}"
        for name in ("write", "write!")
    },
    **{
        name: lambda level, path, name=name: f"node.{name}{words(_sym(level), *path)}" for name in ("unlink", "unlink!")
    },
    **{
        name: lambda path, name=name: f"node.{name}{words(*path)}"
        for name in ("read", "dig", "read!", "exist?", "rm", "rm_default", "rm_normal", "rm_override", "debug_value")
    },
    **{
        name: lambda path, name=name: f"node.attributes.{name}{words(*path)}"
        for name in ("combined_default", "combined_override")
    },
    "merged": lambda path: f"node.attributes.merged_attributes{words(*path)}",
    "get": lambda path: f"node{steps(path)}",
    "attribute?": lambda key: f"node.attribute?({literal(key)})",
    "attribute?_at": lambda path, key: f"node{steps(path)}.attribute?({literal(key)})",
    "set_merged": lambda path, value: f"node.attributes{steps(path)} = {literal(value)}; nil",
    "delete_merged": lambda path: f"node.attributes{steps(path[:-1])}.delete({literal(path[-1])})",
    "array_merged": lambda path, method, args: _worked(f"node{steps(path)}", method, args),
    "hash_merged": lambda path, method, args: f"node{steps(path)}.{method}{words(*args)}",
    "keys": lambda: "node.attributes.keys",
    "copy": lambda slot, path, from_slot, source: (
        f"one = {'node' if from_slot == 'merged' else _level(from_slot)}{steps(source)}; "
        f"{_level(slot)}{steps(path)} = one; nil"
    ),
    "hold": lambda name, slot, path: (
        f"$held[{literal(name)}] = {'node' if slot == 'merged' else _level(slot)}{steps(path)}; nil"
    ),
    "hold_value": lambda name, value: f"$held[{literal(name)}] = {literal(value)}; nil",
    "set_held": lambda slot, path, name: f"{_level(slot)}{steps(path)} = $held[{literal(name)}]; nil",
    "held_get": lambda name, path: f"$held[{literal(name)}]{steps(path)}",
    "held_set": lambda name, path, value: f"$held[{literal(name)}]{steps(path)} = {literal(value)}; nil",
    "held_array": lambda name, path, method, args: _worked(f"$held[{literal(name)}]{steps(path)}", method, args),
    "tags": lambda: "node.tags",
    "tag": lambda args: f"node.tag{words(*args)}",
    "untag": lambda args: f"node.untag{words(*args)}",
}
_NEEDS_A_PATH = ("read", "dig", "read!", "rm", "rm_default", "rm_normal", "rm_override")


def _sym(level: str) -> dict[str, str]:
    return {"$sym": level}


def printed(operation: dict[str, Any]) -> str | None:
    """An operation as a statement; None for one that no attribute file does."""
    said = {("source" if key == "from" else key): value for key, value in operation.items() if key != "op"}
    name = operation["op"]
    if name not in _PRINTED or (name in _NEEDS_A_PATH and not said["path"]):
        return None
    return f"note {{ {_PRINTED[name](**said)} }}"


def error_class(name: str, message: str) -> str:
    """What the vectors call an error of Ruby."""
    short = name.rpartition("::")[2]
    if short in ("ImmutableAttributeModification", "NoSuchAttribute"):
        return {"NoSuchAttribute": "no_such_attribute"}.get(short, "immutable")
    if short == "NoMethodError" and "Chef::Node " in message:
        return "unknown_name"
    if short == "ArgumentError":
        return "bad_argument"
    return "nil_access" if "nil" in message and short == "NoMethodError" else "type_conflict"


class Programs:
    """Runs programs as Ruby in a folder, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._helper = Helper(folder)

    def results(self, program: Program, operations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """What each operation gave, as the vectors have it; those that no attribute file does are done by *program*."""
        session, node = None, None
        for is_ruby, some in groupby(operations, key=lambda one: printed(one) is not None):
            if not is_ruby:
                yield from (program.answer(one, "attribute file") for one in some)
                continue
            if session is None or node is not program.node:
                node = program.node
                session = RubySession(node, self._helper, RunServices(lambda *_: None), self._folder)
            session.forget()
            file, answers = self._folder / "program.rb", self._folder / "answers.json"
            text = "\n".join(filter(None, map(printed, some)))
            file.write_text(f"{PRELUDE}{text}\nFile.write({str(answers)!r}, JSON.generate($told))\n", encoding="utf-8")
            session.run(str(file), "cookbook::default", "program.rb", "cookbook")
            for one in json.loads(answers.read_text(encoding="utf-8")):
                yield {"error": error_class(one["error"], one["message"])} if "error" in one else one


def judged(programs: Programs, case: Case) -> str | None:
    """The first thing that is not as expected."""
    program = Program()
    for number, got in enumerate(programs.results(program, case["ops"])):
        expected = {name: value for name, value in case["expect"]["results"][number].items() if name != "peer"}
        name = case["ops"][number]["op"]
        if name == "json_text" and "ok" in expected:
            expected = {"ok": json.loads(expected["ok"])}
        if name == "debug_value":
            got = {"ok": [[one] if value == {"$sym": "not_present"} else [one, value] for one, value in got["ok"]]}
        if fault := difference(expected, got):
            return f"operation {number} ({name}): {fault}"
    state = program.state()
    expected = {name: case["expect"][name] for name in state}
    return difference(expected, state)
