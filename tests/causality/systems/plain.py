"""Plain folds of YAML, JSON and TOML files under every policy with a name, flat or as a tree of folds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as Folder
from typing import Any

from nodeattrs import ACROSS, INSIDE, Fold, Folded, Layer, NodeattrsError, Origin, Policy, fold, read_layer
from nodeattrs.policies import NAMES, policy_named
from tests.causality.maker import Maker, Raw
from tests.causality.notations import json_text, shared_text, toml_text, yaml_text
from tests.causality.system import Answer, Input, Refused
from tests.causality.values import Path

__all__ = ["EXAMPLES", "PLAN", "POLICIES", "PlainFolds", "below", "texts_of"]

EXAMPLES = Folder(__file__).parents[3] / "cookbooks_example"

POLICIES = {"inside": INSIDE, "across": ACROSS}
"""Those of an inner fold; a flat one may have any that has a name."""
PLAN = "plan.txt"


class PlainFolds:
    """`fold([read_layer(...), ...])`; the plan says which files, and how."""

    name = "fold"
    policies: Mapping[str, Policy] = POLICIES

    def make(self, random: random.Random) -> Input:
        """Two to four files in a fold, sometimes one inside another."""
        make = Maker(random)
        files = {}
        if random.random() < 0.15:
            return self._compose(random)
        for number in range(1, random.randint(2, 4) + 1):
            suffix, written = random.choice([("yaml", yaml_text), ("json", json_text), ("toml", toml_text)])
            files[f"{number}.{suffix}"] = written(make.map(3), random)
            if suffix == "yaml" and make.chance(0.1):
                files[f"{number}.yaml"] += shared_text(make)
        return Input({**files, PLAN: json.dumps(self._plan(list(files), random), indent=1)})

    def _compose(self, random: random.Random) -> Input:
        """Files of one service, whose fields have rules of their own; all spell a field alike.

        Where they do not, what one file has is spelled otherwise once the other file goes.
        """
        make, in_lists = Maker(random), random.random() < 0.5
        trees = [{"services": {"web": _service(make, in_lists)}} for _ in range(random.randint(2, 3))]
        files = {f"{number}.yaml": yaml_text(tree, random) for number, tree in enumerate(trees, 1)}
        plan = {"policy": "compose", "named": True, "layers": list(files)}
        return Input({**files, PLAN: json.dumps(plan, indent=1)})

    def _plan(self, files: list[str], random: random.Random) -> dict[str, Any]:
        children: list[Any] = list(files)
        if random.random() < 0.4:
            return {"policy": random.choice(NAMES), "named": True, "layers": children}
        if len(files) > 2 and random.random() < 0.5:
            at = random.randrange(len(files) - 1)
            children[at : at + 2] = [self._fold(files[at : at + 2], random)]
        return self._fold(children, random)

    def _fold(self, children: list[Any], random: random.Random) -> dict[str, Any]:
        return {"policy": random.choice(list(self.policies)), "from_top": random.random() < 0.3, "layers": children}

    def examples(self) -> Iterator[tuple[str, Input]]:
        """None of people's own."""
        return iter(())

    def ask(self, folder: Folder) -> Answer:
        """The fold of the plan."""
        try:
            asked = json.loads((folder / PLAN).read_text(encoding="utf-8"))
            plan = self._read(folder, asked)
            folded = fold([plan], rules=asked.get("rules"))
        except (NodeattrsError, ValueError, KeyError) as error:
            raise Refused(str(error)) from error
        return Answer(folded.value, lambda path: self._explained(folded, folder, path))

    def _read(self, folder: Folder, plan: Mapping[str, Any]) -> Fold:
        children = [found for one in plan["layers"] if (found := self._child(folder, one)) is not None]
        if plan.get("named"):
            return policy_named(plan["policy"]).plan(children)
        return Fold(tuple(children), self.policies[plan["policy"]], plan["from_top"])

    def _child(self, folder: Folder, one: Any) -> Fold | Layer | None:
        """A file, maybe with a policy of its own; a layer that cannot be read; a fold. None without the file."""
        if isinstance(one, dict) and "layers" in one:
            return self._read(folder, one)
        if isinstance(one, dict) and "unknown" in one:
            return Layer.unknown(one["unknown"], Origin("level", one["unknown"]), "needs a server")
        file, policy = (one["file"], self.policies[one["policy"]]) if isinstance(one, dict) else (one, None)
        layer = read_layer(folder / file) if (folder / file).exists() else None
        return layer and Layer(layer.value, layer.origin, layer.title, policy)

    def _explained(self, folded: Folded, folder: Folder, path: Path) -> dict[str, Any]:
        return below(folded.trace(path).to_dict(), folder)

    def decides(self, file: str, line: str) -> bool:
        """The plan, all of it."""
        return file == PLAN


def _service(make: Maker, in_lists: bool) -> dict[str, Any]:
    """Some fields."""
    fields: dict[str, Callable[[], Any]] = {
        "environment": lambda: _pairs(make, in_lists),
        "labels": lambda: _pairs(make, in_lists),
        "command": lambda: [make.word(), make.word()],
        "dns": lambda: [make.word() for _ in range(2)],
        "volumes": lambda: [Raw(f"{make.word()}:/{target}") for target in make.random.sample("xyz", 2)],
        "build": lambda: {"context": make.word(), "args": _pairs(make, in_lists)},
        "healthcheck": lambda: {"test": [make.word()], "interval": make.word()},
        "group_add": lambda: [make.number()],
        "hostname": make.word,
    }
    return {name: fields[name]() for name in make.random.sample(list(fields), make.random.randint(2, 5))}


def _pairs(make: Maker, in_lists: bool) -> Any:
    found = {key: make.word() for key in make.random.sample(["wa", "wb", "wc"], make.random.randint(1, 3))}
    return [Raw(f"{key}={word}") for key, word in found.items()] if in_lists else found


def texts_of(folder: Folder, suffixes: tuple[str, ...]) -> dict[str, str]:
    """The files of an example, by their names below the folder."""
    found = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in suffixes)
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in found}


def below(explained: Any, folder: Folder) -> Any:
    """The same with the names of files as they are below the folder."""
    if isinstance(explained, dict):
        return {
            key: entry.removeprefix(f"{folder.as_posix()}/") if key == "file" and entry else below(entry, folder)
            for key, entry in explained.items()
        }
    return [below(entry, folder) for entry in explained] if isinstance(explained, list) else explained
