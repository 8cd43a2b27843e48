"""python -m tests.oracles.eslint [--count N] [--seed S] [--eslint FOLDER]

Random chains of files of ESLint 8 that extend each other: paths, packages, JSON with comments, and YAML.
`eslint --print-config` prints what it makes of them, and the fold must be the same: rules with their options, maps,
plugins and patterns. A rule that only `eslint:recommended` sets must be unknown in the fold. For each leaf of the fold,
the line of its origin is looked at: it names the key, or the element of a list. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.core.fold import Folded
from nodeattrs.dialects.files.extends import as_eslint_reads
from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.dialects.files.text import text_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named

ESLINT = os.environ.get("ESLINT", "")
"""The folder of the package eslint."""
TOPS = (".eslintrc", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml")
BASES = {
    "./base": "base.json",
    "./sub/more.yml": "sub/more.yml",
    "./folder": "folder/index.json",
    "./main": "main/lib/own.json",
    "k": "node_modules/eslint-config-k/index.json",
    "eslint-config-l": "node_modules/eslint-config-l/index.json",
    "@s": "node_modules/@s/eslint-config/index.json",
    "@s/t": "node_modules/@s/eslint-config-t/index.json",
    "k/strict": "node_modules/eslint-config-k/strict.json",
    "whole": "node_modules/eslint-config-whole/x/rules.json",
}
"""An entry of `extends` in the first file -> the file that it means."""
PACKAGES: dict[str, dict[str, Any]] = {
    "main": {"main": "./lib/own"},
    "node_modules/eslint-config-whole": {"exports": {".": "./x/rules.json"}},
}
OPTIONS: dict[str, list[Any]] = {
    "quotes": [["double"], ["single", {"avoidEscape": True}]],
    "indent": [[2], [4], ["tab"]],
    "eqeqeq": [["always", {"null": "ignore"}], ["smart"]],
    "complexity": [[7], [{"max": 9}]],
    "no-unused-vars": [[{"args": "none"}], ["local"]],
    "no-debugger": [[]],
}
RECOMMENDED = "eslint:recommended"


def drawn(chance: random.Random) -> dict[str, Any]:
    """Settings of ESLint."""
    tree: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for name in chance.sample([*OPTIONS], chance.randint(0, len(OPTIONS))):
        severity = chance.choice(("off", "warn", "error", 0, 1, 2))
        options = chance.choice(OPTIONS[name])
        rules[name] = chance.choice((severity, [severity], [severity, *options]))
    if rules or chance.random() < 0.2:
        tree["rules"] = rules
    groups: dict[str, dict[str, Sequence[Any]]] = {
        "env": {"node": (True, False), "browser": (True, False), "es2021": (True, False)},
        "globals": {"alpha": ("off", "readonly", True, False, "writable"), "beta": ("off", "readonly")},
        "parserOptions": {
            "ecmaVersion": (6, 2020),
            "ecmaFeatures": ({"jsx": True}, {"jsx": False, "globalReturn": True}, {}),
            "project": (["./a.json"], ["./b.json", "./c.json"], "./d.json", None),
        },
        "settings": {
            "resolver": (
                {"deep": {"one": [1, [2, 3]]}},
                {"deep": {"one": [4], "two": "t"}},
                {"deep": {"one": [5, [6]]}},
            ),
            "list": ([{"left": 1}], [{"right": 2}, {"more": 3}], [], "text"),
        },
    }
    for name, values in groups.items():
        if chance.random() < 0.5:
            keys = chance.sample([*values], chance.randint(1, len(values)))
            tree[name] = {key: chance.choice(values[key]) for key in keys}
    if chance.random() < 0.4:
        tree["plugins"] = chance.sample(("pone", "ptwo", "pthree"), chance.randint(0, 3))
    if chance.random() < 0.4:
        tree["ignorePatterns"] = chance.choice(("dist", ["build", "lib/"], ["!out"], []))
    if chance.random() < 0.3:
        tree["parser"] = chance.choice(("parser-a", "parser-b", None))
    for name in ("noInlineConfig", "reportUnusedDisableDirectives"):
        if chance.random() < 0.2:
            tree[name] = chance.choice((True, False))
    if chance.random() < 0.3:
        tree["overrides"] = [{"files": f"*.{chance.choice(('ts', 'vue'))}", "rules": {"quotes": "off"}}]
    return tree


def written(folder: Path, chance: random.Random) -> Path:
    """The files of a chain; the path of the first one."""
    for name in ("eslint-plugin-pone", "eslint-plugin-ptwo", "eslint-plugin-pthree", "parser-a", "parser-b"):
        put(folder / f"node_modules/{name}/index.js", "module.exports = {parse() {}};\n")
    for place, described in PACKAGES.items():
        put(folder / place / "package.json", json.dumps(described))
    words = chance.sample([*BASES], chance.randint(1, 4))
    top = chance.choice(TOPS)
    has_recommended = chance.random() < 0.3
    for number, word in enumerate(words):
        tree = drawn(chance)
        below = words[number + 1 :]
        inner = [one for one in below if not one.startswith(".")][: chance.randint(0, 2)]
        if inner and chance.random() < 0.6:
            tree["extends"] = inner if chance.random() < 0.7 else inner[0]
        put(folder / BASES[word], spelled(tree, BASES[word], chance))
    first = chance.sample(words, chance.randint(1, len(words)))
    if has_recommended:
        first.insert(chance.randint(0, len(first)), RECOMMENDED)
    extends = first[0] if len(first) == 1 else first
    put(folder / top, spelled({"root": True, "extends": extends, **drawn(chance)}, top, chance))
    return folder / top


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def spelled(tree: dict[str, Any], file: str, chance: random.Random) -> str:
    """A tree as the text of a file: JSON, sometimes with comments, or YAML, in which `off` needs no quotes."""
    if file.endswith(("yml", "yaml")) or (file == ".eslintrc" and chance.random() < 0.5):
        return text_of(tree, "yaml").replace("'off'", "off").replace('"off"', "off")
    text = json.dumps(tree, indent=1)
    return f"// ours\n{text} /* end */\n" if chance.random() < 0.5 else text


def fold_of(file: Path) -> Folded:
    """The file with what it extends."""
    layers = [*layers_of([str(file)], LayerReader(), Path(), policy="eslint")]
    return folded(layers, policy_named("eslint"))


def misplaced(tree: Folded) -> list[str]:
    """The leaves whose line names neither the key nor the element of a list; a severity may be such an element."""
    found = []
    for path, value, origins in tree.leaves():
        element = json.dumps(value).strip('"')
        words = [element] if isinstance(path[-1], int) else [path[-1], *([element] if path[0] == "rules" else [])]
        for one in origins:
            line = Path(str(one.file)).read_text("utf-8").splitlines()[(one.line or 1) - 1]
            if not any(word in line for word in words):
                found.append(f"{one}: {path} is not in {line!r}")
    return found if any(tree.leaves()) else ["nothing was read"]


def printed(eslint: str, folder: Path) -> dict[str, Any]:
    """What ESLint makes of the files for x.js."""
    command = ["node", f"{eslint}/bin/eslint.js", "--print-config", "x.js"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(result.stderr)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def differences(tree: Folded, theirs: dict[str, Any], own: Collection[str]) -> list[str]:
    """The settings that are not ESLint's. own: the rules that the first file sets itself; these must be certain"""
    ours = dict(tree.value)
    rules = {name: rule if isinstance(rule, list) else [rule] for name, rule in ours.get("rules", {}).items()}
    found = [
        f"{name}: {ours.get(name, {})} and {theirs[name]}"
        for name in ("env", "globals", "parserOptions", "settings")
        if ours.get(name, {}) != theirs[name]
    ]
    for name, rule in theirs["rules"].items():
        is_unknown = bool(tree.trace(("rules", name)).unknown)
        if rules.get(name) != rule and not is_unknown:
            found.append(f"rule {name}: {rules.get(name)} and {rule}")
        if is_unknown and (name in own or RECOMMENDED not in ours["extends"]):
            found.append(f"rule {name} is not certain")
    found += [f"rule {name} is too much" for name in rules.keys() - theirs["rules"].keys()]
    if sorted(ours.get("plugins", [])) != sorted(theirs["plugins"]):
        found.append(f"plugins: {ours.get('plugins')} and {theirs['plugins']}")
    if ours.get("ignorePatterns", []) != theirs["ignorePatterns"]:
        found.append(f"ignorePatterns: {ours.get('ignorePatterns')} and {theirs['ignorePatterns']}")
    if (ours.get("parser") or "") not in (theirs["parser"] or "") or bool(ours.get("parser")) != bool(theirs["parser"]):
        found.append(f"parser: {ours.get('parser')} and {theirs['parser']}")
    for name in ("noInlineConfig", "reportUnusedDisableDirectives"):
        if ours.get(name) != theirs.get(name):
            found.append(f"{name}: {ours.get(name)} and {theirs.get(name)}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.eslint", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=60, help="how many chains (default: 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eslint", default=ESLINT, help="the folder of the package eslint (default: $ESLINT)")
    options = parser.parse_args(argv)
    failed = 0
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as place:
            file = written(Path(place), random.Random(f"{options.seed} {number}"))
            tree = fold_of(file)
            (first,) = as_eslint_reads(LayerReader()).read(file)
            own = first.value.get("rules", {})
            faults = [*misplaced(tree), *differences(tree, printed(options.eslint, Path(place)), own)]
            if faults:
                failed += 1
                print(f"seed {options.seed}, chain {number}: {faults[:6]}")
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed or not options.count else 0


if __name__ == "__main__":
    sys.exit(main())
