"""python -m tests.oracles.ruff [--count N] [--seed S] [--ruff FILE]

Random chains of files of Ruff that extend each other, in ruff.toml, .ruff.toml, pyproject.toml and files of any name.
What they are folded to is written as one file without `extend`. `ruff check --show-settings` prints all settings for
both, and the lines of each part are compared. For each option of the folded tree, the line of its origin is looked at:
it names the option, or the element of a list. The last line is `N passed, M failed`.

Where several files have lists that enable and disable rules, Ruff takes one file after the other, and one file by the
length of its selectors. The rules that come of it may differ, and such chains are counted apart.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nodeattrs.core.fold import Folded
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.dialects.files.text import text_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named

RUFF = str(Path(sys.executable).with_name("ruff"))
TOPS = ("ruff.toml", ".ruff.toml", "pyproject.toml")
BASES = ("base.toml", "sub/ruff.toml", "sub/pyproject.toml", "sub/deep/any.toml")
RULES = ("F401", "F", "E5", "W", "I001", "B006")
LISTS = ("select", "extend-select", "ignore", "extend-ignore", "fixable", "unfixable", "extend-fixable",
         "extend-safe-fixes", "extend-unsafe-fixes")  # fmt: skip


def lint_drawn(chance: random.Random) -> dict[str, Any]:
    """Options of linting."""
    tree: dict[str, Any] = {}
    for name in LISTS:
        if chance.random() < 0.2:
            tree[name] = chance.sample(RULES, chance.randint(0, 2))
    for name in ("per-file-ignores", "extend-per-file-ignores"):
        if chance.random() < 0.3:
            tree[name] = {one: chance.sample(RULES, 1) for one in chance.sample(("a.py", "b.py"), chance.randint(0, 2))}
    plugins: dict[str, dict[str, Any]] = {
        "isort": {
            "known-first-party": ["a"],
            "known-third-party": ["b"],
            "sections": {"s": ["c"]},
            "lines-after-imports": 1,
        },
        "pydocstyle": {"convention": "google", "property-decorators": ["p"]},
        "flake8-import-conventions": {"aliases": {"a.b": "c"}, "extend-aliases": {"d.e": "f"}},
        "pylint": {"max-args": 3, "max-branches": 4},
    }
    for name, options in plugins.items():
        if chance.random() < 0.4:
            tree[name] = {key: varied(chance, options[key]) for key in chance.sample([*options], chance.randint(1, 2))}
    if chance.random() < 0.3:
        tree["task-tags"] = chance.sample(("A", "B", "C"), 2)
    return tree


def varied(chance: random.Random, value: Any) -> Any:
    """A value of the same type."""
    if isinstance(value, int):
        return chance.randint(1, 9)
    if isinstance(value, list):
        return [f"{value[0]}{chance.randint(1, 3)}"]
    if isinstance(value, dict):
        return {f"{key}{chance.randint(1, 2)}": one for key, one in value.items()}
    return value


def drawn(chance: random.Random, has_paths: bool) -> dict[str, Any]:
    """Settings of Ruff. has_paths: whether they may have patterns of paths"""
    tree: dict[str, Any] = {}
    for name, values in (("line-length", (80, 90)), ("indent-width", (2, 8)), ("target-version", ("py39", "py312")),
                         ("preview", (True, False)), ("fix", (True, False))):  # fmt: skip
        if chance.random() < 0.4:
            tree[name] = chance.choice(values)
    for name in ("exclude", "extend-exclude", "extend-include", "include"):
        if has_paths and chance.random() < 0.3:
            tree[name] = chance.sample(("a", "b", "c"), chance.randint(0, 2))
    if chance.random() < 0.8:
        tree["lint"] = lint_drawn(chance)
    if not has_paths:
        for name in ("per-file-ignores", "extend-per-file-ignores"):
            tree.get("lint", {}).pop(name, None)
    if chance.random() < 0.3:
        tree["format"] = chance.choice(
            ({"quote-style": "single"}, {"line-ending": "lf"}, {"docstring-code-format": True})
        )
    return tree


def written(folder: Path, chance: random.Random) -> Path:
    """The files of a chain; the path of the first one."""
    files = [chance.choice(TOPS), *chance.sample(BASES, chance.randint(1, 3))]
    for number, file in enumerate(files):
        tree = drawn(chance, has_paths="/" not in file)
        if number + 1 < len(files):
            up = "../" * file.count("/")
            tree = {"extend": up + files[number + 1], **tree}
        if file.endswith("pyproject.toml"):
            tree = {"project": {"name": "x", "version": "1"}, "tool": {"ruff": tree}}
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text_of(tree, "toml"), "utf-8")
    return folder / files[0]


def fold_of(file: Path) -> Folded:
    """The file with what it extends."""
    layers = [*layers_of([str(file)], LayerReader(), Path(), policy="ruff")]
    return folded(layers, policy_named("ruff"))


def misplaced(tree: Folded) -> list[str]:
    """The leaves whose line does not name the option, or the element of a list."""
    found = []
    for path, value, origins in tree.leaves():
        word = str(value) if isinstance(path[-1], int) else path[-1]
        for one in origins:
            line = Path(str(one.file)).read_text("utf-8").splitlines()[(one.line or 1) - 1]
            if word not in line:
                found.append(f"{one}: {path} is not in {line!r}")
    return found


def in_parts(text: str) -> set[tuple[str, str, str]]:
    """The lines that Ruff prints, each with the pattern of files and the list that it belongs to."""
    found, pattern, part = set(), "", ""
    for line in text.splitlines():
        if line.startswith("basename_matcher"):
            pattern = line
        elif line.endswith("= ["):
            part = line
            pattern = pattern if line == "data = [" else ""
        elif line.startswith("\t") and "absolute_matcher" not in line:
            found.add((pattern, part, line))
        elif "matcher" not in line and not line.endswith("= []"):
            found.add(("", "", line))
    return found


def enables_and_disables(tree: Folded, home: tuple[str, ...]) -> bool:
    """Whether rules are enabled and disabled, by lists of several files."""
    lists = [name for name in LISTS if tree.origins((*home, "lint", name))]
    files = {one.file for name in lists for one in tree.origins((*home, "lint", name))}
    disables = {name for name in lists if "ignore" in name or name in ("unfixable", "extend-unsafe-fixes")}
    return len(files) > 1 and 0 < len(disables) < len(lists)


def settings(ruff: str, folder: Path) -> str:
    """What Ruff prints for a file in the folder."""
    command = [ruff, "check", "--no-cache", "--show-settings", "x.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ruff", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=100, help="how many chains (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ruff", default=RUFF, help="the program")
    options = parser.parse_args(argv)
    failed = apart = 0
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "x.py").touch()
            file = written(folder, random.Random(f"{options.seed} {number}"))
            theirs = in_parts(settings(options.ruff, folder))
            tree = fold_of(file)
            faults: list[object] = [*misplaced(tree)]
            home = ("tool", "ruff") if file.name == "pyproject.toml" else ()
            may_differ = enables_and_disables(tree, home)
            dig(tree.value, home).pop("extend", None)
            file.write_text(text_of(tree.value, "toml"), "utf-8")
            differences = theirs ^ in_parts(settings(options.ruff, folder))
            of_rules = {one for one in differences if one[1].startswith("linter.rules.")}
            apart += bool(of_rules and may_differ)
            faults += sorted(differences - of_rules if may_differ else differences)
            if faults:
                failed += 1
                print(f"seed {options.seed}, chain {number}: {faults[:6]}")
    print(f"{apart} chains enable and disable rules in several files, and have other rules as one file")
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed or not options.count else 0


if __name__ == "__main__":
    sys.exit(main())
