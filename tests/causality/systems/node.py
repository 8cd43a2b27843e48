"""Runs of one node: two cookbooks with attribute files and recipes, roles, an environment, its own file, facts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path as Folder

from nodeattrs import NodeattrsError
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.reports.explain import explained
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.formats import documents
from tests.causality.maker import Maker, Tree
from tests.causality.notations import json_text, python_text, ruby_text, toml_text, yaml_text
from tests.causality.scanning import scanned
from tests.causality.system import Answer, Input, Refused
from tests.causality.systems.plain import EXAMPLES, texts_of

__all__ = ["LEVELS", "Making", "NodeRuns", "indexed"]

KEYS = "delmtn"
KINDS = {"d": "map", "e": "map", "l": "list", "m": "list", "t": "text", "n": "scalar"}
LEVELS = ("default", "default", "default", "force_default", "normal", "override", "override", "force_override")
QUESTION = "question.json"
"""Which node is asked about, and its facts; n1 without it."""

ROOMS = ("cookbooks", "roles", "environments", "nodes", "hiera")
OWN = {"name", "chef_environment", "recipes", "expanded_run_list", "roles", "cookbooks"}
"""What the run itself says of a node."""

DECIDING = re.compile(
    r"""^\s*(from|import|if|else|include_\w+|run_list|name|return|\#)\b
        |\b(rm|rm_default|rm_normal|rm_override|delete|data_bag|data_bag_item|lookup|removesuffix)\(
        |^\s*"?(name|run_list|chef_environment|platform(_family|_version)?|f)"?\s*[:(]|\b(role|recipe)\[|canary|json_class|chef_type|^\s*merge:
        |["'](~>|[<>]?=)\s|\bwhen"?\s*[:=]|^\s*-?\s*"?(blocks|default|normal|override|force_\w+)(_unless)?"?:\s*[{\[]?$""",
    re.VERBOSE,
)


class NodeRuns:
    """The node n1 of a repository, run anew."""

    name = "node"

    def __init__(self) -> None:
        self._known: tuple[str, Facts] | None = None

    def make(self, random: random.Random) -> Input:
        """A repository in which everybody speaks of the same few keys."""
        return Making(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """The nodes of the example."""
        texts = texts_of(EXAMPLES, (".py", ".json", ".yaml", ".toml"))
        for name in ("web1", "web2", "db1"):
            asked = json.dumps({"node": name, "facts": f"facts/{name}.json"})
            yield name, Input({**texts, QUESTION: asked}, scanned(self._sets))

    def _sets(self, file: str, before: str) -> bool:
        """Whether the scalars of a line set values: in roles, environments, nodes' files, Hiera's data, code."""
        room = file.partition("/")[0]
        return room in ROOMS

    def ask(self, folder: Folder) -> Answer:
        """The whole node but for what the run itself says."""
        repository = self.repository(folder)
        given, question = folder / "attributes.json", folder / QUESTION
        asked = json.loads(question.read_text()) if question.exists() else {"node": "n1", "facts": "facts.json"}
        try:
            facts = self._facts(folder, asked["facts"])
            attributes = documents.read(given, given.name) if given.exists() else None
            node = run_node(repository, asked["node"], facts=facts, json_attributes=attributes).node
            known = KEYS if asked["node"] == "n1" else set(node.to_dict()) - OWN - set(facts.tree)
            value = {key: entry for key, entry in node.to_dict().items() if key in known}
        except NodeattrsError as error:
            raise Refused(str(error)) from error
        return Answer(value, lambda path: explained(node, path, repository).to_dict())

    def repository(self, folder: Folder) -> Repository:
        """What runs in it, read anew."""
        return Repository(folder)

    def _facts(self, folder: Folder, file: str) -> Facts:
        """The facts, read anew only where their text is another one: they are long."""
        text = (folder / file).read_text(encoding="utf-8")
        if self._known is None or self._known[0] != text:
            self._known = text, load_facts(folder / file, file)
        return self._known[1]

    def decides(self, file: str, line: str) -> bool:
        """Run-lists, includes, conditions, removals, metadata."""
        return (
            "metadata" in file
            or file == QUESTION
            or file.endswith(("nodeattrs.toml", "hiera.yaml"))
            or bool(DECIDING.search(line))
        )


class Making:
    """One repository."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.make = Maker(random, KEYS, kinds=KINDS)
        self.lists: list[tuple[str, str]] = []
        """Where attribute files have put a list: level, and the steps as they are written."""

    def made(self) -> Input:
        roles = ["one", "two"][: self.random.randint(0, 2)]
        files = {
            "facts.json": self.facts(),
            "nodes/n1.json": self.node([*(f"role[{role}]" for role in roles), "recipe[y]"]),
            **self.cookbook("x", {}),
            **self.cookbook("y", {"x": ">= 0.0.0"}),
        }
        for role in roles:
            files |= self.described("roles", role, "run_list")
        files |= self.described("environments", "prod", "")
        if self.make.chance(0.2):
            files["attributes.json"] = json_text(self.make.map(2, 2), self.random)
        return Input(files)

    # --- documents

    def facts(self) -> str:
        tree = {} if self.make.chance(0.6) else self.make.map(2, 2, 0)
        head = '{\n"platform": "ubuntu",\n"f": "on"'
        return f"{head},{json_text(tree, self.random).strip()[1:]}" if tree else f"{head}\n}}"

    def node(self, run_list: list[str]) -> str:
        normal = json_text(self.make.map(2, 2), self.random) if self.make.chance(0.6) else "{}"
        lines = ['"name": "n1",', '"chef_environment": "prod",', f'"run_list": {json.dumps(run_list)},']
        return "\n".join(["{", *lines, f'"normal": {normal}', "}"])

    def described(self, folder: str, name: str, run_list: str) -> dict[str, str]:
        """A role or an environment, in one of four notations."""
        trees = {
            f"{level}_attributes": self.make.map(3, 3) for level in ("default", "override") if self.make.chance(0.7)
        }
        form = self.random.choice(["json", "yaml", "py", "rb"])
        if form == "json":
            attributes = "".join(f',\n"{key}": {json_text(tree, self.random).strip()}' for key, tree in trees.items())
            listed = ',\n"run_list": []' if run_list else ""
            return {f"{folder}/{name}.json": f'{{\n"name": "{name}"{listed}{attributes}\n}}\n'}
        if form == "yaml":
            attributes = "".join(f"{key}:\n{yaml_text(tree, self.random, 2)}" for key, tree in trees.items())
            return {f"{folder}/{name}.yaml": f"name: {name}\n{'run_list: []' if run_list else ''}\n{attributes}"}
        text = ruby_text if form == "rb" else python_text
        attributes = "".join(f"{key}({text(tree, self.random)})\n" for key, tree in trees.items())
        return {f"{folder}/{name}.{form}": f'name("{name}")\n{attributes}'}

    # --- code

    def cookbook(self, name: str, depends: dict[str, str]) -> dict[str, str]:
        files = {"metadata.json": json.dumps({"name": name, "version": "1.0.0", "depends": depends})}
        files["attributes/default.py"] = self.attribute_file(f'include_attribute("{name}::more")')
        files["attributes/more.py"] = self.code("", 2)
        for part in ("default", "more"):
            if self.make.chance(0.3):
                suffix = self.random.choice(("yaml", "json", "toml"))
                files[f"attributes/{part}.{suffix}"] = getattr(self, suffix)()
        files["recipes/default.py"] = self.code("node.", 4, 'include_recipe("x")' if name == "y" else "")
        return {f"cookbooks/{name}/{file}": text for file, text in files.items()}

    def levels(self) -> dict[str, Tree]:
        """What stands at the top of an attribute file that is data."""
        words = self.random.sample((*LEVELS[2:], "default_unless", "override_unless"), self.random.randint(1, 3))
        return {word: self.make.map(2, 3) for word in words}

    def toml(self) -> str:
        return toml_text(self.levels(), self.random)

    def yaml(self) -> str:
        blocks = "".join(
            f"  - when: {{f: '{self.random.choice(('on', 'off'))}'}}\n{yaml_text(self.levels(), self.random, 4)}"
            for _ in range(self.random.randint(0, 2))
        )
        return yaml_text(self.levels(), self.random) + (f"blocks:\n{blocks}" if blocks else "")

    def json(self) -> str:
        blocks = [
            f'{{"when": {{"f": "{self.random.choice(("on", "off"))}"}},\n{self.opened()}'
            for _ in range(self.random.randint(0, 2))
        ]
        top = json_text(self.levels(), self.random).strip()[:-1]
        return top + (',\n"blocks": [\n' + ",\n".join(blocks) + "\n]" if blocks else "") + "\n}\n"

    def opened(self) -> str:
        """The levels of a block, after its condition."""
        return json_text(self.levels(), self.random).strip()[1:]

    def attribute_file(self, include: str) -> str:
        return self.code("", 4, include if self.make.chance(0.3) else "")

    def code(self, who: str, most: int, include: str = "") -> str:
        statements = [self.statement(who) for _ in range(self.random.randint(0, most))]
        if include:
            statements.insert(self.random.randint(0, len(statements)), include)
        return "".join(f"{one}\n" for one in statements)

    def statement(self, who: str) -> str:
        forms: list[tuple[int, Callable[[str, str], str]]] = [
            (8, self.assignment),
            (2, self.unless),
            (1, self.full),
            (1, self.written),
            (4 if self.lists else 0, self.in_place),
            (1, self.update),
            (1, self.side_by_side),
            (1, self.removal),
            (2, self.reading),
        ]
        (form,) = self.random.choices([form for _, form in forms], [weight for weight, _ in forms])
        made = form(who, who + self.random.choice(LEVELS))
        if self.make.chance(0.08):
            return 'if node.read("f") == "on":\n' + "\n".join(f"    {line}" for line in made.split("\n"))
        return made

    def steps(self) -> list[str]:
        """A path: through a map, now and then."""
        key = self.random.choice(KEYS)
        if KINDS[key] != "map" or self.make.chance(0.25):
            return [key]
        return [key, self.random.choice(KEYS)]

    def value(self, key: str, depth: int = 1) -> str:
        return self.marked(python_text(self.make.under(key, depth), self.random))

    @staticmethod
    def marked(text: str) -> str:
        """With the comment, where the value is no token."""
        return f"{text}  # set" if text in ("None", "True", "False", "{}", "[]") else text

    def assignment(self, who: str, level: str) -> str:
        steps = self.steps()
        if KINDS[steps[-1]] == "list" and not who:
            self.lists.append((level, indexed(steps)))
        return f"{level}{indexed(steps)} = {self.value(steps[-1], 2)}"

    def unless(self, who: str, level: str) -> str:
        steps = self.steps()
        return f"{level.replace('force_', '')}_unless{indexed(steps)} = {self.value(steps[-1])}"

    def full(self, who: str, level: str) -> str:
        steps = self.steps()
        return f"{level}_full{indexed(steps)} = {self.value(steps[-1])}"

    def written(self, who: str, level: str) -> str:
        steps = self.steps()
        words = [*map(json.dumps, steps), python_text(self.make.scalar(), self.random)]
        return f"{level}.write({', '.join(words)})"

    def in_place(self, who: str, level: str) -> str:
        level, steps = self.random.choice(self.lists)
        words = [python_text(self.make.element(), self.random) for _ in range(2)]
        known = self.make.elements()
        forms = [
            f"append({words[0]})",
            f"push({words[0]}, {words[1]})",
            f"concat([{words[0]}, {words[1]}])",
            f"insert({self.random.randint(0, 1)}, {words[0]})",
            f"unshift({words[0]})",
            f"delete({python_text(self.random.choice(known), self.random)})",
        ]
        return f"{who if not level.startswith('node.') else ''}{level}{steps}.{self.random.choice(forms)}"

    def update(self, who: str, level: str) -> str:
        key = self.random.choice("de")
        tree = {one: self.make.scalar() for one in self.random.sample("tn", self.random.randint(1, 2))}
        if self.make.chance(0.5):
            return f'{level}["{key}"].update({python_text(tree, self.random)})'
        return (
            f'{level}["{key}"].update({", ".join(f"{one}={python_text(v, self.random)}" for one, v in tree.items())})'
        )

    def side_by_side(self, who: str, level: str) -> str:
        """Two literals in one statement, on one line or on several."""
        other = who + self.random.choice(LEVELS)
        one, two = self.make.under("n", 1, 0), self.make.under("d", 1, 0)
        values = f"{python_text(one, self.random)}, {python_text(two, self.random)}"
        return f'{level}["n"], {other}["d"]["d"] = {values}'

    def removal(self, who: str, level: str) -> str:
        word = self.random.choice(["rm", "rm_default", "rm_normal", "rm_override"])
        return f"node.{word}({', '.join(json.dumps(step) for step in self.steps())})"

    def reading(self, who: str, level: str) -> str:
        """A value made of another one: as it is, in a text, or deferred."""
        read = f"node.read('{self.random.choice('de')}', '{self.random.choice('tn')}')"
        made = self.random.choice([read, f'f"{{{read}}}-x"', f"lazy(lambda: {read})"])
        return f'{level}["{self.random.choice("tn")}"] = {made}'


def indexed(steps: list[str]) -> str:
    return "".join(f'["{step}"]' for step in steps)
