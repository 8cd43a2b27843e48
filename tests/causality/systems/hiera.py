"""Hiera: three layers of levels of YAML and JSON, under every strategy that lookup_options can ask for."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path as Folder
from typing import Any

from nodeattrs import NodeattrsError
from nodeattrs.hiera import Hiera, Scope, view
from tests.causality.maker import Maker, Raw
from tests.causality.notations import json_text, shared_text, yaml_text
from tests.causality.scanning import scanned
from tests.causality.system import Answer, Input, Refused
from tests.causality.systems.plain import EXAMPLES, below, texts_of
from tests.causality.values import Path

__all__ = ["HieraTrees"]

KINDS = {"d": "map", "e": "map", "l": "list", "m": "list", "t": "text", "n": "scalar"}
DEEP = {
    "knockout_prefix": ("'--'", 0.6),
    "sort_merged_arrays": ("true", 0.15),
    "merge_hash_arrays": ("true", 0.1),
    "knockout_through": ("true", 0.1),
}
DECIDING = re.compile(r"^\s*(lookup_options:|'.*': \{.*(merge|convert_to):|(merge|strategy|knockout_prefix):|#)|--|%\{")


QUESTION = "question.json"
"""Who asks: node and facts. Without it web1 does, on Debian."""


def _steps(key: str) -> list[Any]:
    return [int(step) if step.isdigit() else step for step in key.split(".")]


class HieraTrees:
    """Every key that the node sees: the environment layer in `hiera`, the global one in `global`, one module."""

    name = "hiera"

    def make(self, random: random.Random) -> Input:
        """One to three layers of one to three levels."""
        return _Making(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """The example's tree, as two of its nodes see it."""
        texts = {f"hiera/{file}": text for file, text in texts_of(EXAMPLES / "hiera", (".yaml",)).items()}
        for node, version in (("web1", "22.04"), ("web2", "20.04")):
            facts = {"platform": "ubuntu", "platform_version": version, "platform_family": "debian"}
            asked = {QUESTION: json.dumps({"node": node, "facts": facts})}
            yield f"hiera {node}", Input({**texts, **asked}, scanned(lambda file, before: True))

    def ask(self, folder: Folder) -> Answer:
        """All keys, looked up."""
        try:
            config = folder / "global" / "hiera.yaml"
            hiera = Hiera(folder / "hiera", global_config=config if config.exists() else None, root=folder)
            question = folder / QUESTION
            asked = (
                json.loads(question.read_text()) if question.exists() else {"facts": {"os": "debian"}, "node": "web1"}
            )
            scope = hiera.scope(asked["facts"], node=asked["node"])
            found = view(scope)
        except NodeattrsError as error:
            raise Refused(str(error)) from error
        faults = {key: type(value).__name__ for key, value in found.items() if isinstance(value, NodeattrsError)}
        value = {key: value for key, value in found.items() if key not in faults}
        return Answer(value, lambda path: self._explained(scope, folder, path), faults)

    def _explained(self, scope: Scope, folder: Folder, path: Path) -> Any:
        explanation = scope.explain(path[0])
        explained = below(explanation.trace(path[1:]).to_dict(), folder)
        return {**explained, "read": [{"steps": _steps(key)} for key in explanation.needed]}

    def decides(self, file: str, line: str) -> bool:
        """Hierarchies, options, knock-outs, and expressions, which only read."""
        return file.endswith("hiera.yaml") or file == QUESTION or bool(DECIDING.search(line))


class _Making:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.make = Maker(random, "delmtn", 0.12, 0.12, kinds=KINDS)
        self.by_position = False
        self.files: dict[str, str] = {}

    def made(self) -> Input:
        if self.make.chance(0.4):
            self.layer("global", "")
        self.layer("hiera", "")
        if self.make.chance(0.4):
            self.layer("hiera/modules/x", "x::")
        return Input(self.files, by_position=self.by_position)

    def layer(self, folder: str, prefix: str) -> None:
        """A hiera.yaml with its levels and their files."""
        levels = ["nodes/%{trusted.certname}.yaml", "os/%{facts.os}.json", "common.yaml"]
        levels = [one for one in levels if self.make.chance(0.8)] or levels[2:]
        lines = ["version: 5", "hierarchy:"]
        for number, level in enumerate(levels):
            lines.append(f"- name: level {number}")
            if self.make.chance(0.25):
                more = f"more{number}.{level.rpartition('.')[2]}"
                lines.append(f"  paths: ['{level}', {more}]")
                self.data(f"{folder}/data/{more}", prefix)
            else:
                lines.append(f"  path: {level}")
            self.data(
                f"{folder}/data/{level.replace('%{trusted.certname}', 'web1').replace('%{facts.os}', 'debian')}", prefix
            )
            if level.endswith("json"):
                lines.append("  data_hash: json_data")
        self.files[f"{folder}/hiera.yaml"] = "\n".join([*lines, ""])

    def data(self, file: str, prefix: str) -> None:
        tree = self.make.map(3, 4)
        named = {f"{prefix or self.random.choice(['', '', 'x::'])}{key}": entry for key, entry in tree.items()}
        if self.make.chance(0.3):
            named["s"] = self.make.scalar()
        if file.endswith(".json"):
            self.files[file] = json_text(named, self.random)
            return
        if self.make.chance(0.12):
            aliased = f"%{{alias('{self.random.choice(self.make.keys)}')}}"
            named["r"] = Raw(self.random.choice([aliased, "%{lookup('s')} and more"]))
        text = yaml_text(named, self.random)
        if self.make.chance(0.05):
            text += yaml_text(self.make.map(2, 1), self.random)
        if self.make.chance(0.05):
            text += shared_text(self.make)
        self.files[file] = self.options(prefix) + text if self.make.chance(0.6) else text

    def options(self, prefix: str) -> str:
        """lookup_options for some keys, a key a line."""
        keys = self.random.sample(self.make.keys, self.random.randint(1, 4))
        lines = []
        for key in keys:
            name = prefix + key if prefix or self.make.chance(0.7) else f"^(x::)?{key}$"
            lines.append(f"  '{name}': {{{', '.join(self.option())}}}\n")
        return "lookup_options:\n" + "".join(lines)

    def option(self) -> Iterator[str]:
        strategy = self.random.choice(["first", "unique", "hash", "deep", "deep", "deep"])
        chosen = {
            name: value for name, (value, share) in DEEP.items() if strategy == "deep" and self.make.chance(share)
        }
        self.by_position |= "merge_hash_arrays" in chosen
        settings = "".join(f", {name}: {value}" for name, value in chosen.items())
        yield f"merge: {{strategy: {strategy}{settings}}}" if chosen or self.make.chance(0.5) else f"merge: {strategy}"
