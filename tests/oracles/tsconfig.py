"""python -m tests.oracles.tsconfig [--count N] [--seed S]

Random folders of tsconfig.json files that extend each other, by path, without .json, in lists and from packages. The
options and the keys include and exclude are compared with what TypeScript reads. The variable TYPESCRIPT names the
folder of its package (npm install typescript); node runs it. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named
from tests.oracles.peer import Peer

FLAGS = ("noUnusedLocals", "noUnusedParameters", "skipLibCheck", "removeComments", "noImplicitReturns")
WORDS = ("jsxFactory", "jsxImportSource")
FILES = ("tsconfig.json", "a/tsconfig.json", "tsconfig.base.json", "node_modules/kit/tsconfig.json",
         "node_modules/kit/strict.json", "node_modules/@org/kit/base.json")  # fmt: skip
NAMES = {
    "tsconfig.json": ("./a/tsconfig", "./a/tsconfig.json", "./tsconfig.base", "kit", "kit/strict", "@org/kit"),
    "a/tsconfig.json": ("../tsconfig.base.json", "kit/tsconfig.json", "kit/strict.json", "@org/kit/base.json"),
    "tsconfig.base.json": ("kit", "@org/kit"),
    "node_modules/kit/tsconfig.json": ("./strict.json", "@org/kit"),
    "node_modules/kit/strict.json": ("@org/kit/base",),
    "node_modules/@org/kit/base.json": (),
}


def drawn(chance: random.Random, file: str) -> dict[str, Any]:
    """A tsconfig.json with few options, which may extend others."""
    options: dict[str, Any] = {name: chance.choice((True, False, None)) for name in FLAGS if chance.random() < 0.4}
    options |= {name: chance.choice(("h", "k", None)) for name in WORDS if chance.random() < 0.3}
    if chance.random() < 0.3:
        options["types"] = chance.sample(("x", "y", "z"), chance.randint(0, 2))
    if chance.random() < 0.3:
        options["paths"] = {chance.choice("ab"): ["./c"]}
    tree: dict[str, Any] = {"compilerOptions": options} if chance.random() < 0.9 else {}
    for key in ("include", "exclude"):
        if chance.random() < 0.3:
            tree[key] = chance.sample(("src", "lib"), 1)
    if NAMES[file] and chance.random() < 0.8:
        several = chance.sample(NAMES[file], chance.randint(1, min(2, len(NAMES[file]))))
        tree["extends"] = several if len(several) > 1 or chance.random() < 0.3 else several[0]
    return tree


def written(folder: Path, chance: random.Random) -> None:
    """The files of a question."""
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(json.dumps(drawn(chance, file)), "utf-8")
    (folder / "node_modules/@org/kit/package.json").write_text('{"name": "@org/kit", "tsconfig": "base.json"}', "utf-8")
    (folder / "index.ts").write_text("", "utf-8")


def ours(folder: Path) -> dict[str, Any]:
    """The options as we fold them, without nulls; paths of include and exclude as they are written."""
    layers = [*layers_of([str(folder / "tsconfig.json")], LayerReader(), Path(), policy="tsconfig")]
    value = folded(layers, policy_named("tsconfig")).value
    options = {key: one for key, one in value.get("compilerOptions", {}).items() if one is not None}
    return {"options": options, "include": value.get("include"), "exclude": value.get("exclude")}


def theirs(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of TypeScript, without what it adds, and with the last step of paths."""
    named = (*FLAGS, *WORDS, "types", "paths")
    options = {key: one for key, one in answer["options"].items() if key in named}

    def bare(paths: Any) -> Any:
        return None if paths is None else [os.path.basename(one) for one in paths]

    return {"options": options, "include": bare(answer.get("include")), "exclude": bare(answer.get("exclude"))}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.tsconfig", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=300, help="how many folders (default: 300)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    if not os.environ.get("TYPESCRIPT"):
        parser.error("TYPESCRIPT names no folder of the package")
    peer, failed = Peer("node", str(Path(__file__).with_name("tsconfig_peer.js"))), 0
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            written(folder, random.Random(f"{options.seed} {number}"))
            answer = peer.ask(place)
            if ours(folder) != theirs(answer):
                failed += 1
                print(f"seed {options.seed}, folder {number}: ours {ours(folder)}, TypeScript's {theirs(answer)}")
                print(f"  {answer['errors']}")
    peer.close()
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed or not options.count else 0


if __name__ == "__main__":
    sys.exit(main())
