"""What the other generators do not draw: rules for paths, layers that cannot be read, rarer words of cookbooks.

Apart from them, so that an input keeps its seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodeattrs.core.part import concat
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    DROP,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    SCALAR,
    TAKE,
    Line,
    Policy,
)
from tests.causality.maker import Maker, Raw, Tree
from tests.causality.notations import json_text, python_text, toml_text, yaml_text
from tests.causality.system import Input
from tests.causality.systems.node import LEVELS, Making, NodeRuns, indexed
from tests.causality.systems.plain import PLAN, POLICIES, PlainFolds

__all__ = ["RuledFolds", "WideRuns"]

WORDS = ("append", "append", "prepend", "unite", "replace", "keep")
RARE = ("role_default", "env_default", "role_override", "env_override", "automatic")
FIELD = "id"
NAMING = re.compile(rf"\b{FIELD}\b")
"""By which elements meet; and a line that says it: it decides."""


def rules(make: Maker, random: random.Random) -> dict[str, Any]:
    """One to three, of keys and patterns."""
    paths = [*make.keys, "*", "d.*", "*.l", f"e.{random.choice(make.keys)}", f"*.{random.choice(make.keys)}"]
    chosen = random.sample(paths, random.randint(1, 3))
    return {path: _rule(make, random) for path in chosen} | ({"s": {"merge_by": FIELD}} if make.chance(0.4) else {})


def _rule(make: Maker, random: random.Random) -> Any:
    word = random.choice(WORDS)
    return {"policy": word, "at": "inside"} if make.chance(0.25) else word


def named(make: Maker, random: random.Random) -> list[Tree]:
    """Maps with a name for a list that is merged by it."""
    names = random.sample(range(1, 4), random.randint(1, 2))
    return [{FIELD: Raw(f"%{name}"), **make.map(1, 2, 0)} for name in names]


def own(name: str, *lines: Line) -> Policy:
    """A policy as users write theirs: maps meet, the later one of anything else is taken, but for some lines."""
    return Policy(name, Line(MAP, MAP, MEET), *lines, Line(ANY, PRESENT, TAKE))


class RuledFolds(PlainFolds):
    """Folds under rules and policies of people's own, with layers that cannot be read, and files laid twice."""

    name = "rules"
    policies: Mapping[str, Policy] = {
        **POLICIES,
        "yielding": own("null yields", Line(PRESENT, NULL, KEEP)),
        "removing": own("null removes", Line(PRESENT, NULL, DROP), Line(ABSENT_KIND, NULL, KEEP)),
        "joining": own("lists follow", Line(LIST, LIST, concat), Line(SCALAR, LIST, KEEP)),
        "first": own("the first stays", Line(PRESENT, PRESENT, KEEP)),
    }

    def make(self, random: random.Random) -> Input:
        """As plain folds, and a plan that says more."""
        make = Maker(random)
        files = {}
        for number in range(1, random.randint(3, 5)):
            suffix, written = random.choice([("yaml", yaml_text), ("json", json_text), ("toml", toml_text)])
            tree = make.map(3, fixed=random.choice((0.06, 0.3))) | (
                {"s": named(make, random)} if make.chance(0.5) else {}
            )
            files[f"{number}.{suffix}"] = written(tree, random)
        plan = self._plan([*files], random)
        if make.chance(0.3):
            plan["layers"].insert(random.randint(0, len(plan["layers"])), {"unknown": "vault"})
        for place, child in enumerate(plan["layers"]):
            if isinstance(child, str) and make.chance(0.2):
                plan["layers"][place] = {"file": child, "policy": random.choice(list(self.policies))}
        if make.chance(0.1):
            plan["layers"].append(random.choice(list(files)))
        return Input({**files, PLAN: json.dumps({**plan, "rules": rules(make, random)}, indent=1)})

    def decides(self, file: str, line: str) -> bool:
        """The plan, and the names by which elements meet."""
        return file == PLAN or bool(NAMING.search(line))


class WideRuns(NodeRuns):
    """Runs under `[merge]`, with sources in Ruby that nobody reads, other nodes, and rarer words."""

    name = "wide"

    def make(self, random: random.Random) -> Input:
        """A repository as any, and what is beside it."""
        return _WideMaking(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """None of people's own."""
        return iter(())

    def decides(self, file: str, line: str) -> bool:
        """What decides in any run, and the names by which elements meet."""
        return super().decides(file, line) or bool(NAMING.search(line))


class _WideMaking(Making):
    def made(self) -> Input:
        self.by_position = False
        made = super().made()
        files = dict(made.files)
        if self.make.chance(0.6):
            files["nodeattrs.toml"] = self.merge()
        if self.make.chance(0.2):
            files["cookbooks/x/attributes/zz.rb"] = "default['d']['t'] = node['x']\noverride['n'] = 1 + 1\n"
        if self.make.chance(0.3):
            files["nodes/n2.json"] = self.node(["recipe[x]"]).replace('"n1"', '"n2"')
            files |= self.described("environments", "dev", "")
        return Input(files, by_position=self.by_position)

    def merge(self) -> str:
        drawn = rules(self.make, self.random)
        return "[merge]\n" + "".join(f"{json.dumps(path)} = {_toml(rule)}\n" for path, rule in drawn.items())

    def statement(self, who: str) -> str:
        if self.make.chance(0.6):
            return super().statement(who)
        forms = [self.rare_level, self.taken, self.nested, self.whole, self.named_list, self.set_default, self.step_in]
        level = who + self.random.choice(LEVELS)
        return self.random.choice(forms)(who, level)

    def rare_level(self, who: str, level: str) -> str:
        """A recipe may set what is a role's, or the machine's."""
        return self.assignment(who, who + self.random.choice(RARE)) if who else self.assignment(who, level)

    def taken(self, who: str, level: str) -> str:
        """Words that take something away."""
        steps = self.steps()
        forms = [
            f"node.unlink({json.dumps(level.removeprefix('node.'))}, {', '.join(map(json.dumps, steps))})",
            f"{level}{indexed(steps[:-1])}.delete({json.dumps(steps[-1])})",
            f"{level}{indexed(steps[:-1])}.pop({json.dumps(steps[-1])}, None)",
            f'{level}["d"].clear()',
        ]
        return self.random.choice(forms)

    def nested(self, who: str, level: str) -> str:
        """A list of known shape, and work inside of it: by index, so that an element that goes moves others."""
        self.by_position = True
        tokens = [python_text(self.make.scalar(), self.random) for _ in range(6)]
        at = f'{level}["{self.random.choice("lm")}"]'
        head = f'{at} = [{{"t": {tokens[0]}, "n": {tokens[1]}}}, {tokens[2]}, [{tokens[3]}]]'
        forms = [
            f'{at}[0]["t"] = {tokens[4]}',
            f'{at}[0].update({{"n": {tokens[4]}, "d": {tokens[5]}}})',
            f"{at}[0].update(\n    n={tokens[4]},\n)",
            f"{at}[2].append({tokens[4]})",
            f"{at}[2].insert(0, {tokens[4]})",
            f"{at}[1] = {tokens[4]}",
            f"del {at}[1]",
            f"{at}.pop(1)",
            f"{at}.shift()",
            f"{at}.delete_at(0)",
            f"{at}.reverse()",
            f"{at} += [{tokens[4]}, {tokens[2]}]",
            f"{at}.uniq()",
            f"{at}.replace([{tokens[4]}, {tokens[5]}])",
            f"{at}.clear()",
        ]
        return "\n".join([head, *self.random.sample(forms[:5], self.random.randint(0, 2)), self.random.choice(forms)])

    def whole(self, who: str, level: str) -> str:
        """A map assigned over several lines, stepped into below; or a path written as a whole."""
        steps = self.steps()
        value = python_text(self.make.map(2, 2), self.random)
        words = ", ".join(map(json.dumps, steps))
        return self.random.choice(
            [f'{level}["e"] = {value}', f"{level}_full({words}, {value})", f"{level}.write({words}, {value})"]
        )

    def named_list(self, who: str, level: str) -> str:
        """A list that may be merged by a field."""
        return f'{level}["d"]["s"] = {python_text(named(self.make, self.random), self.random)}'

    def set_default(self, who: str, level: str) -> str:
        """Only where nothing is."""
        steps = self.steps()
        return f"{level}{indexed(steps[:-1])}.setdefault({json.dumps(steps[-1])}, {self.value(steps[-1])})"

    def step_in(self, who: str, level: str) -> str:
        """A writer that is held while what it writes to is replaced."""
        one, two = (python_text(self.make.scalar(), self.random) for _ in range(2))
        return f'held = {level}["d"]\nheld["t"] = {one}\n{level}["d"] = {{"n": {two}}}\nheld["m"] = {one}'


def _toml(rule: Any) -> str:
    if isinstance(rule, str):
        return json.dumps(rule)
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in rule.items()) + " }"
