"""Plain folds of YAML, JSON and TOML files under the two policies of the core, flat or as a tree of folds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path as Folder
from typing import Any

from nodeattrs import ACROSS, INSIDE, Fold, Folded, Layer, NodeattrsError, Origin, fold, read_layer
from tests.causality.maker import Maker
from tests.causality.notations import json_text, shared_text, toml_text, yaml_text
from tests.causality.system import Answer, Input, Refused
from tests.causality.values import Path

__all__ = ["EXAMPLES", "PlainFolds", "below", "texts_of"]

EXAMPLES = Folder(__file__).parents[3] / "cookbooks_example"

POLICIES = {"inside": INSIDE, "across": ACROSS}
PLAN = "plan.txt"


class PlainFolds:
    """`fold([read_layer(...), ...])`; the plan says which files, and how."""

    name = "fold"

    def make(self, random: random.Random) -> Input:
        """Two to four files in a fold, sometimes one inside another."""
        make = Maker(random)
        files = {}
        for number in range(1, random.randint(2, 4) + 1):
            suffix, written = random.choice([("yaml", yaml_text), ("json", json_text), ("toml", toml_text)])
            files[f"{number}.{suffix}"] = written(make.map(3), random)
            if suffix == "yaml" and make.chance(0.1):
                files[f"{number}.yaml"] += shared_text(make)
        return Input({**files, PLAN: json.dumps(self._plan(list(files), random), indent=1)})

    def _plan(self, files: list[str], random: random.Random) -> dict[str, Any]:
        children: list[Any] = list(files)
        if len(files) > 2 and random.random() < 0.5:
            at = random.randrange(len(files) - 1)
            children[at : at + 2] = [self._fold(files[at : at + 2], random)]
        return self._fold(children, random)

    def _fold(self, children: list[Any], random: random.Random) -> dict[str, Any]:
        return {"policy": random.choice(list(POLICIES)), "from_top": random.random() < 0.3, "layers": children}

    def examples(self) -> Iterator[tuple[str, Input]]:
        """None of people's own."""
        return iter(())

    def ask(self, folder: Folder) -> Answer:
        """The fold of the plan."""
        try:
            asked = json.loads((folder / PLAN).read_text(encoding="utf-8"))
            plan = self._read(folder, asked)
            folded = fold(plan.children, plan.policy, from_top=plan.from_top, rules=asked.get("rules"))
        except (NodeattrsError, ValueError, KeyError) as error:
            raise Refused(str(error)) from error
        return Answer(folded.value, lambda path: self._explained(folded, folder, path))

    def _read(self, folder: Folder, plan: Mapping[str, Any]) -> Fold:
        children = [found for one in plan["layers"] if (found := self._child(folder, one)) is not None]
        return Fold(tuple(children), POLICIES[plan["policy"]], plan["from_top"])

    def _child(self, folder: Folder, one: Any) -> Fold | Layer | None:
        """A file, maybe with a policy of its own; a layer that cannot be read; a fold. None without the file."""
        if isinstance(one, dict) and "layers" in one:
            return self._read(folder, one)
        if isinstance(one, dict) and "unknown" in one:
            return Layer.unknown(one["unknown"], Origin("level", one["unknown"]), "needs a server")
        file, policy = (one["file"], POLICIES[one["policy"]]) if isinstance(one, dict) else (one, None)
        return replace(read_layer(folder / file), policy=policy) if (folder / file).exists() else None

    def _explained(self, folded: Folded, folder: Folder, path: Path) -> dict[str, Any]:
        return below(folded.trace(path).to_dict(), folder)

    def decides(self, file: str, line: str) -> bool:
        """The plan, all of it."""
        return file == PLAN


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
