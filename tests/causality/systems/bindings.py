"""Bindings: a site of three layers with conditions, flags, multibinds, aliases, and texts that look keys up."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path as Folder
from typing import Any, NamedTuple

from nodeattrs import NodeattrsError
from nodeattrs.bindings import Composition, Injector, NotBound
from nodeattrs.formats.documents import read
from tests.causality.maker import Maker, Raw
from tests.causality.scanning import scanned
from tests.causality.system import Answer, Input, Refused
from tests.causality.systems.plain import EXAMPLES, below, texts_of
from tests.causality.values import Path

__all__ = ["BindingSites"]

QUESTION = "web1.yaml"
"""The facts of who asks, in the example."""

FACTS = {"fqdn": "n1.example.com", "role": "web", "rack": "r7"}
SITE = """\
site {
  categories { node => $fqdn, role => $role, rack => $rack }
  bindings => [
    layer { 'site': include => 'confdir:/default' },
    layer { 'middle': include => 'module:/x::middle' },
    layer { 'modules': include => 'module:/*::default' },
  ]
}
"""
FILES = {
    "default": "bindings/default",
    "x::middle": "modules/x/bindings/middle",
    "x::default": "modules/x/bindings/default",
    "y::default": "modules/y/bindings/default",
}
LAYERS = (("x::default", "y::default"), ("x::middle",), ("default",))
"""The sets of each layer, the lowest first."""
CONDITIONS = (
    (),
    (("rack", "r7"),),
    (("role", "web"),),
    (("role", "web"), ("rack", "r7")),
    (("node", "n1.example.com"),),
)
"""The categories, the lowest first."""
SCALARS, LISTS, MAPS, NUMBERS = "scalar", "list", "map", "number"
ARRAYS = {"": LISTS, "concat": LISTS, "append": LISTS, "flatten": LISTS, "uniq": LISTS}
HASHES = {
    "": SCALARS, "priority": SCALARS, "ignore": SCALARS, "append": LISTS, "concat": LISTS, "flatten": LISTS,
    "uniq": LISTS, "unite": LISTS, "sum": NUMBERS, "merge": MAPS, "deep": MAPS,
}  # fmt: skip
"""Combinator -> what its fragments are."""

DECIDING = re.compile(
    r"""^\s*(\#|bindings\b|when\b|\}|\]|site\b|categories|layer|include|exclude|conflict_resolution)
        |^\s*(multibind|bind\s+(abstract|alias|dependency))
        |^\s*(version|sets|items|target|-\s*name|-?\s*if|-\s*kind:\s*(when|parameters)\s*$)
        |^\s*-\s*\{kind:\s*(multibind|alias)
        |"[^"]*\$|optional\b|abstract:\s*true""",
    re.VERBOSE,
)
NAMING = re.compile(r"\b(kind|name|type|in|version):\s*$|\bparameters\s+\w+\[\s*$")
"""What stands before a word of the data form that sets no value."""


class BindingSites:
    """Every data key of one node."""

    name = "bindings"

    def make(self, random: random.Random) -> Input:
        """A site in which few keys are bound at many positions."""
        return _Making(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """The shop's site, for a web server."""
        texts = texts_of(EXAMPLES / "bindings", (".pp", ".yaml"))
        yield "bindings web1", Input(texts, scanned(lambda file, before: not NAMING.search(before)))

    def ask(self, folder: Folder) -> Answer:
        """All keys, injected."""
        value: dict[str, Any] = {}
        faults: dict[str, str] = {}
        try:
            question = folder / QUESTION
            facts = read(question).tree if question.exists() else FACTS
            injector = Composition(folder, facts=facts).injector()
        except NodeattrsError as error:
            raise Refused(str(error)) from error
        for kind, name in list(injector.keys()):
            if kind != "Data":
                continue
            try:
                value[name] = injector.inject(name)
            except NotBound:
                continue
            except NodeattrsError as error:
                faults[name] = type(error).__name__
        return Answer(value, lambda path: self._explained(injector, folder, path), faults)

    def _explained(self, injector: Injector, folder: Folder, path: Path) -> Any:
        explanation = injector.explain(path[0])
        told = below(explanation.trace(path[1:]).to_dict(), folder)
        read = [{"steps": [_name(one.asked)]} for one in explanation.looked if one.depth == 1]
        return {**told, "steps": list(path), "read": read}

    def decides(self, file: str, line: str) -> bool:
        """Conditions, layers, multibinds, what is abstract, and texts that only read."""
        return file.endswith("site.pp") or file == QUESTION or bool(DECIDING.search(line))


def _name(asked: str) -> str:
    found = re.search(r"'(.+)'$", asked)
    return found[1] if found else asked


class _Item(NamedTuple):
    """One item of a set, in both notations."""

    pp: str
    yaml: str


class _Making:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.make = Maker(random, "stu", kinds={"s": "scalar", "t": "text", "u": "list"})
        self.items: dict[tuple[str, int], list[_Item]] = {}
        """Set and condition -> items."""

    def made(self) -> Input:
        for key in "abc":
            self.key(key)
        if self.make.chance(0.7):
            self.multibind("l", self.random.choice(list(ARRAYS)), False)
        if self.make.chance(0.7):
            self.multibind("h", self.random.choice(list(HASHES)), True)
        if self.make.chance(0.3):
            self.put(
                "default",
                0,
                _Item("bind 'r' to \"${a}-x\"", '{kind: bind, name: r, to: {value: {interpolate: "${a}-x"}}}'),
            )
        if self.make.chance(0.12):
            self.put("default", 0, _Item("bind alias 'b' as 'z'", "{kind: alias, key: b, as: z}"))
        if self.make.chance(0.3):
            self.named()
        return Input({"manifests/site.pp": SITE, **dict(self.written(name) for name in FILES)})

    def put(self, name: str, condition: int, item: _Item) -> None:
        self.items.setdefault((name, condition), []).append(item)

    def positions(self, most: int) -> list[tuple[int, int]]:
        """Layer and condition, the lowest first."""
        all = [(layer, condition) for layer in range(len(LAYERS)) for condition in range(len(CONDITIONS))]
        return sorted(self.random.sample(all, self.random.randint(1, most)))

    def key(self, key: str) -> None:
        """A key at several positions, now and then twice at one below the winner's."""
        places = self.positions(4)
        kind = self.random.choice([SCALARS, SCALARS, SCALARS, LISTS, MAPS])
        for number, (layer, condition) in enumerate(places):
            sets = LAYERS[layer]
            top = number == len(places) - 1
            twice = not top and len(sets) > 1 and self.make.chance(0.12)
            for name in sets if twice else [self.random.choice(sets)]:
                if not top and number == 0 and not twice and self.make.chance(0.05):
                    self.put(
                        name, condition, _Item(f"bind abstract '{key}'", f"{{kind: bind, name: {key}, abstract: true}}")
                    )
                    continue
                flag = (
                    "override"
                    if number and self.make.chance(0.08)
                    else "final"
                    if top and self.make.chance(0.1)
                    else ""
                )
                self.put(name, condition, self.bound(flag, key, self.value(kind)))

    def value(self, kind: str) -> Any:
        if kind == NUMBERS:
            return self.make.number()
        if kind == LISTS:
            return self.make.list(0) if self.make.chance(0.7) else self.make.scalar()
        return self.make.map(2, 2, 0) if kind == MAPS else self.make.scalar()

    def bound(self, flag: str, key: str, value: Any, into: str = "") -> _Item:
        """`bind KEY to VALUE in ID`."""
        named = f" '{key}'" if key else ""
        pp = f"bind{f' {flag}' if flag else ''}{named} to {_pp(value, self.random)}{f' in {into!r}' if into else ''}"
        fields = [f"name: {key}"] * bool(key) + [f"{flag}: true"] * bool(flag) + [f"in: {into}"] * bool(into)
        return _Item(pp, f"{{{', '.join(['kind: bind', *fields])}, to: {{value: {_yaml(value)}}}}}")

    def multibind(self, key: str, combinator: str, is_hash: bool) -> None:
        of = "Hash[Data]" if is_hash else "Array[Data]"
        options = f" {{ combinator => {combinator} }}" if combinator else ""
        fields = f", options: {{combinator: {combinator}}}" if combinator else ""
        self.put(
            "x::default",
            0,
            _Item(f"multibind {of}, '{key}'{options}", f'{{kind: multibind, type: "{of}", name: {key}{fields}}}'),
        )
        kind = (HASHES if is_hash else ARRAYS)[combinator]
        taken: set[tuple[Any, ...]] = set()
        for layer, condition in self.positions(5):
            name = self.random.choice("st") if is_hash else ""
            if (name, layer, condition) in taken:
                continue
            taken.add((name, layer, condition))
            self.put(self.random.choice(LAYERS[layer]), condition, self.bound("", name, self.value(kind), key))

    def named(self) -> None:
        """Parameters of a class and variables, at two positions."""
        for layer in (0, 2):
            tree = {one: self.make.scalar() for one in self.random.sample("pq", self.random.randint(1, 2))}
            word, field = self.random.choice(
                [("parameters ntp", "parameters, target: ntp"), ("variables", "variables")]
            )
            item = _Item(f"bind {word} to {_pp(tree, self.random)}", f"{{kind: {field}, to: {{value: {_yaml(tree)}}}}}")
            self.put(LAYERS[layer][0], 0, item)

    # --- texts

    def written(self, name: str) -> tuple[str, str]:
        """A file with one set, in one of two notations."""
        mine = {condition: items for (of, condition), items in self.items.items() if of == name}
        if self.make.chance(0.6):
            return f"{FILES[name]}.pp", "\n".join([f"bindings {name} {{", *self.pp_lines(mine), "}", ""])
        return f"{FILES[name]}.yaml", "\n".join(
            ["version: 1", "sets:", f'- name: "{name}"', *self.yaml_lines(mine), ""]
        )

    def pp_lines(self, mine: dict[int, list[_Item]]) -> Iterator[str]:
        for condition, items in sorted(mine.items()):
            if CONDITIONS[condition]:
                yield f"  when {' and '.join(f'{key} {value!r}' for key, value in CONDITIONS[condition])} {{"
            yield from (f"    {line}" for item in items for line in item.pp.split("\n"))
            if CONDITIONS[condition]:
                yield "  }"

    def yaml_lines(self, mine: dict[int, list[_Item]]) -> Iterator[str]:
        yield "  items:" if mine else "  items: []"
        for condition, items in sorted(mine.items()):
            indent = "  "
            if CONDITIONS[condition]:
                pairs = ", ".join(f"[{key}, {value}]" for key, value in CONDITIONS[condition])
                yield "  - kind: when"
                yield f"    if: [[{pairs}]]"
                yield "    items:"
                indent = "    "
            yield from (f"{indent}- {item.yaml}" for item in items)


def _pp(value: Any, random: random.Random) -> str:
    if isinstance(value, dict):
        entries = [f"{key} => {_pp(entry, random)}" for key, entry in value.items()]
        if entries and random.random() < 0.3:
            return "{\n" + "".join(f"  {entry},\n" for entry in entries) + "}"
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_pp(entry, random) for entry in value)}]"
    return f"'{value}'" if value.is_text else str(value)


def _yaml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    assert isinstance(value, Raw)
    return str(value)
