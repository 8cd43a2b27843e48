"""Random attribute files in Ruby: statements over the same few keys, each of which notes what it gave.

Left out is what Chef itself calls a quirk, and its users do not mean: one map of two places, keys 1 and "1" at the top,
what only a stale cache of its own gives.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.ruby_programs import PRELUDE, literal, printed, steps

__all__ = ["COMPONENTS", "program"]

COMPONENTS = (
    *("default", "env_default", "role_default", "force_default", "normal"),
    *("override", "role_override", "env_override", "force_override", "automatic"),
)
_LEVELS = ("default", "normal", "override")
_KEYS = "abcd"


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.held: dict[str, bool] = {}

    def key(self, top: bool = False) -> Any:
        return self.random.choice(_KEYS) if top or self.random.random() < 0.93 else self.random.randint(0, 2)

    def path(self, least: int = 1, most: int = 3) -> list[Any]:
        return [self.key(top=not depth) for depth in range(self.random.randint(least, most))]

    def scalar(self) -> Any:
        return self.random.choice([0, 1, 2, 3, "v0", "v1", "v2", "", True, False, None, 1.0, 2.5, {"$sym": "v1"}])

    def value(self, depth: int = 0) -> Any:
        drawn = self.random.random()
        if depth > 2 or drawn < 0.45:
            return self.scalar()
        if drawn < 0.75:
            return {self.random.choice(_KEYS): self.value(depth + 1) for _ in range(self.random.randint(0, 3))}
        if drawn < 0.78:
            return {"$map": [[self.random.randint(0, 2), self.value(depth + 1)], ["k", self.scalar()]]}
        if drawn < 0.80 and not depth:
            return {"$lazy": [self.random.choice(["x", "y"])]}
        return [self.value(depth + 1) for _ in range(self.random.randint(0, 3))]

    def operation(self) -> dict[str, Any]:
        slot, level = self.random.choice(COMPONENTS), self.random.choice(_LEVELS)
        full = self.random.choice((*_LEVELS, "force_default", "force_override"))
        name = self.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        match name:
            case "set":
                return {"op": name, "slot": slot, "path": self.path(), "value": self.value()}
            case "level_get" | "level_read" | "level_read!" | "level_exist?" | "delete":
                return {"op": name, "slot": slot, "path": self.path()}
            case "array":
                return {"op": name, "slot": slot, "path": self.path(), **self.work()}
            case "hash":
                method, args = self.random.choice([("update", [{self.key(True): self.value(1)}]), ("clear", [])])
                return {"op": name, "slot": slot, "path": self.path(), "method": method, "args": args}
            case "replace_slot":
                return {"op": name, "slot": slot, "value": {self.key(True): self.value(1) for _ in range(2)}}
            case "set_unless" | "unless_chain":
                return {"op": name, "level": level, "path": self.path(), "value": self.value()}
            case "assign" | "assign_chain":
                return {"op": name, "level": full, "path": self.path(), "value": self.value()}
            case "write" | "write!":
                return {"op": name, "level": slot, "path": self.path(), "value": self.value()}
            case "unlink" | "unlink!":
                return {"op": name, "level": slot, "path": self.path()}
            case "read!" | "exist?":
                return {"op": name, "path": self.path(2)}
            case "set_merged":
                return {"op": name, "path": self.path(), "value": self.scalar()}
            case "delete_merged":
                return {"op": name, "path": self.path(2)}
            case "array_merged":
                return {"op": name, "path": self.path(), **self.work()}
            case "attribute?":
                return {"op": name, "key": self.key(True)}
            case "keys":
                return {"op": name}
            case "copy":
                place = {"path": self.path(), "from": self.path()}
                return {"op": name, "slot": slot, "from_slot": "merged", **place}
            case "hold":
                held = self.random.choice("hi")
                self.held[held] = True
                return {"op": name, "name": held, "slot": self.random.choice([slot, "merged"]), "path": self.path()}
            case "held_get" | "held_set" | "held_array" if self.held:
                held = self.random.choice(list(self.held))
                more = {"held_set": {"value": self.value()}, "held_array": self.work()}.get(name, {})
                return {"op": name, "name": held, "path": self.path(1, 2), **more}
            case "combined_default" | "combined_override" | "merged":
                return {"op": name, "path": self.path(1, 1)}
        return {"op": name if not name.startswith("held") else "get", "path": self.path()}

    def work(self) -> dict[str, Any]:
        method = self.random.choice(list(_WORK))
        value, index = self.value(2), self.random.randint(-2, 3)
        args = {
            "one": [value],
            "some": [self.value(2) for _ in range(self.random.randint(1, 2))],
            "list": [[self.scalar() for _ in range(self.random.randint(0, 3))]],
            "index": [index],
            "at": [abs(index), value],
            "none": [],
        }
        return {"method": method, "args": args[_WORK[method]]}

    def idiom(self) -> str:
        """What cookbooks write and the vectors have no operation for."""
        random = self.random
        node = f"node.{random.choice(_LEVELS)}"
        here, there = f"{node}{steps(self.path(1, 2))}", f"node{steps(self.path(1, 2))}"
        key, value = literal(random.choice(_KEYS)), literal(self.value(1))
        return random.choice(
            [
                f"{here}[:{random.choice(_KEYS)}] ||= {value}",
                f"map!({here}).merge!({literal({random.choice(_KEYS): self.value(1)})}).keys",
                f"map!({here}).delete_if {{ |key, _| key == {key} }}.keys",
                f"map!({here}).select! {{ |key, _| key != {key} }}",
                f"map!({here}).reject! {{ |_, one| one.nil? }}",
                f"map!({here}).compact!",
                f"map!({here}).each {{ |key, one| one[{key}] = {value} if one.is_a?(Hash) }}.size",
                f"map!({here}).to_hash.keys",
                f"map!({here}).store({key}, {literal(self.scalar())})",
                f"map!({here}).fetch({key}, 5)",
                f"list!({here}).map! {{ |one| one.is_a?(Integer) ? one + 1 : one }}",
                f"list!({here}).select! {{ |one| one }}",
                f"list!({here}).reject! {{ |one| one.nil? }}",
                f"list!({here}).pop(2)",
                f"list!({here}).rotate!",
                f"{here}[{key}] = map!({there}).to_hash.merge({key} => {value}); nil",
                f"{here}[{key}] = list!({there}) + [1]; nil",
                f"{here}[{key}] = list!({there}).map {{ |one| one }}.compact; nil",
                f"map!({there}).to_hash",
                f"map!({there}).dup.merge!({key} => 1)",
                f"map!({there}).reject {{ |_, one| one.is_a?(Hash) }}.keys",
                f"map!({there}).any? {{ |key, _| key == {key} }}",
                f"map!({there}).merge!({key} => 1)",
                f"node.read({key}, {key})",
                f"node.attribute?({key}) && node[{key}].to_s.size.zero?",
                f"Array({there}).size",
            ]
        )


_WEIGHTS = {
    **{"set": 24, "level_get": 3, "level_read": 1, "level_read!": 1, "level_exist?": 1, "delete": 4, "array": 9},
    **{"hash": 3, "replace_slot": 1, "set_unless": 4, "unless_chain": 2, "assign": 5, "assign_chain": 3},
    **{"write": 3, "write!": 2, "unlink": 2, "unlink!": 2, "rm": 3, "rm_default": 2, "rm_normal": 1, "rm_override": 2},
    **{"read": 4, "dig": 2, "read!": 2, "exist?": 3, "get": 10, "attribute?": 2, "set_merged": 1, "delete_merged": 1},
    **{"array_merged": 1, "keys": 1, "copy": 2, "hold": 2, "held_get": 1, "held_set": 2, "held_array": 1},
    **{"combined_default": 2, "combined_override": 1, "merged": 1, "debug_value": 2},
}
_WORK = {
    **{"append": "one", "push": "some", "concat": "list", "unshift": "one", "insert": "at", "set_at": "at"},
    **{"pop": "none", "shift": "none", "delete": "one", "delete_at": "index", "uniq": "none", "reverse": "none"},
    **{"clear": "none", "sort": "none", "replace": "list"},
}


def program(seed: int, answers: str) -> str:
    """A file of random statements. answers: where it writes what they gave, as JSON"""
    random = Random(seed)
    maker = _Maker(random)
    lines = []
    for _ in range(random.randint(5, 25)):
        if random.random() < 0.2:
            lines.append(f"note {{ {maker.idiom()} }}")
        else:
            lines.append(printed(maker.operation()) or "")
    return f"{PRELUDE}{chr(10).join(lines)}\nFile.write({json.dumps(answers)}, JSON.generate($told))\n"
