"""python -m tests.oracles.repeated [--count N] [--seed S]

Random chains of Git's three config files, and of a unit of systemd with drop-ins. Of Git's, each value and the file of
each origin is compared with `git config --list --show-origin --includes`. What units fold to is compared with a few
lines that follow systemd.unit(5), and `systemd-analyze verify` has to accept the units, where it is installed. The line
of each origin has to name the key. With NPM_INI=DIR of npm's package `ini`, random files `.npmrc` are compared with
what it reads. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.core.fold import Folded
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.errors import DocumentError
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named

GIT = {
    "user": {"name": False, "Email": False},
    "core": {"bare": False, "editor": False, "autoCRLF": False},
    "credential": {"helper": True},
    "safe": {"directory": True},
    'remote "Origin"': {"url": True, "fetch": True, "mirror": False},
    'branch "a.b \\"c"': {"merge": True, "rebase": False},
}
"""Section -> key -> whether Git takes it as a list."""
VALUES = ("a", "A b", '"x ; y" # note', "a\\\\b", '"q\\"q"', "c ; note", "one\\\n two", '  spaced  "  in  "', "t\\tt")
RESETS = ("credential", "safe")
UNIT = {
    "Unit": {"After": "a.target b.target c.target", "Documentation": "man:a(1) man:b(1)", "Description": "one two"},
    "Service": {"Environment": "A=1 B=2 C=3", "ExecStartPre": "/bin/true /bin/false", "User": "root daemon",
                "ReadWritePaths": "/a /b", "Nice": "1 2"},
}  # fmt: skip
LISTS = ("After", "Documentation", "Environment", "ExecStartPre", "ReadWritePaths")


def git_text(chance: random.Random, included: Sequence[str] = ()) -> str:
    """A config file of Git. included: the paths of files that it may include"""
    lines = ["# first"]
    for section in chance.sample([*GIT], chance.randint(0, 4)):
        lines.append(f"[{chance.choice((section, section[0].upper() + section[1:]))}] ; of a section")
        for _ in range(chance.randint(0, 4)):
            key = chance.choice([*GIT[section]])
            written = chance.choice((key, key.lower(), key.upper()))
            if key == "bare" and chance.random() < 0.5:
                lines.append(f"\t{written}")
            elif section in RESETS and chance.random() < 0.2:
                lines.append(f"\t{written} =")
            else:
                indent, equals = chance.choice(("", "  ")), chance.choice(("=", " = "))
                lines.append(f"{indent}{written}{equals}{chance.choice(VALUES)}")
        if included and chance.random() < 0.5:
            lines += ["[Include]", f"\tpath = {chance.choice(included)} ; of a file"]
    return "\n".join(lines) + "\n"


def of_git(folder: Path, chance: random.Random) -> bool:
    """Compare one chain; returns whether all is equal."""
    files = [folder / "etc" / "gitconfig", folder / "home" / ".gitconfig", folder / "local" / "gitconfig"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(git_text(chance, ("inc/1", "inc/2", "inc/missing")))
        (file.parent / "inc").mkdir()
        (file.parent / "inc" / "1").write_text(git_text(chance, ("2", "missing")))
        (file.parent / "inc" / "2").write_text(git_text(chance))
    theirs: dict[tuple[str, ...], list[tuple[str | None, str]]] = {}
    for file in files:
        words = ["git", "config", "--file", str(file), "--list", "--show-origin", "--includes", "-z"]
        fields = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\0")
        for origin, entry in zip(fields[::2], fields[1::2], strict=False):
            name, is_set, value = entry.partition("\n")
            section, _, rest = name.partition(".")
            part, _, key = rest.rpartition(".")
            path = (section, part, key) if part else (section, key)
            found = theirs.setdefault(path, [])
            if value == "" and is_set and section in RESETS:
                found.clear()
            else:
                found.append((value if is_set else None, origin.removeprefix("file:")))
    tree = folded_files([str(file) for file in files], "git")
    for path, values in theirs.items():
        is_list = {key.lower(): one for keys in GIT.values() for key, one in keys.items()}.get(path[-1], True)
        expected = [value for value, _ in values] if is_list else values[-1][0]
        if dig(tree.value, path) != expected:
            print(f"{path}: ours {dig(tree.value, path)!r}, Git's {expected!r}")
            return False
        for index, (_, file) in enumerate(values) if is_list else [(None, values[-1])]:
            at = tree.origins((*path, index) if index is not None else path)[0]
            if at.file != file or not names(at.file, at.line, path[-1]):
                print(f"{path}: ours {at}, Git's {file}")
                return False
    return count_of(tree.value) == len(theirs)


def count_of(tree: Mapping[str, Any]) -> int:
    """How many keys have a value."""
    return sum(count_of(one) if isinstance(one, dict) else 1 for one in tree.values())


def names(file: str | None, line: int | None, key: str) -> bool:
    """Whether a line begins with a key."""
    text = Path(str(file)).read_text().splitlines()[(line or 1) - 1]
    return text.strip().lower().startswith(key.lower())


def folded_files(files: Sequence[str], policy: str) -> Folded:
    """Our fold of files."""
    return folded([*layers_of(files, LayerReader(), Path(), policy=policy)], policy_named(policy))


def unit_text(chance: random.Random) -> str:
    """A unit of systemd, or a drop-in."""
    lines = ["# first"]
    for section in chance.sample([*UNIT], 2):
        lines.append(f"[{section}]")
        for _ in range(chance.randint(0, 5)):
            key = chance.choice([*UNIT[section]])
            value = "" if chance.random() < 0.2 else chance.choice(UNIT[section][key].split())
            lines.append(f"{key}{chance.choice(('=', ' = '))}{value}")
    return "\n".join(lines) + "\n"


def of_systemd(folder: Path, chance: random.Random, number: int) -> bool:
    """Compare a unit with drop-ins; returns whether all is equal."""
    unit = folder / f"shop{number}.service"
    drop_ins = folder / f"{unit.name}.d"
    drop_ins.mkdir()
    files = [unit, *(drop_ins / f"{place}.conf" for place in ("10", "20"))]
    expected: dict[str, dict[str, Any]] = {}
    for file in files:
        text = unit_text(chance)
        file.write_text(text if file != unit else f"{text}[Service]\nExecStart=/bin/true\n")
        section = ""
        for line in file.read_text().splitlines():
            key, equals, value = (part.strip() for part in line.partition("="))
            if not equals:
                section = line[1:-1]
            elif key not in (*LISTS, "ExecStart"):
                expected.setdefault(section, {})[key] = value
            elif value:
                expected.setdefault(section, {}).setdefault(key, []).append(value)
            elif key != "After":
                expected.setdefault(section, {})[key] = []
    tree = folded_files([str(unit), str(drop_ins)], "systemd")
    found = {name: section for name, section in tree.value.items() if section}
    if found != expected:
        print(f"{unit}: ours {found}, expected {expected}")
        return False
    paths = [(section, key) for section, keys in found.items() for key, value in keys.items() if value]
    return all(names(at.file, at.line, key) for section, key in paths for at in tree.origins((section, key)))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.repeated", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=100, help="how many of each kind (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    passed = failed = refused = 0
    ini = os.environ.get("NPM_INI")
    with tempfile.TemporaryDirectory() as place:
        units = Path(place) / "units"
        units.mkdir()
        for number in range(options.count):
            chance = random.Random(f"{options.seed} {number}")
            results: tuple[bool | None, ...]
            results = of_git(Path(place) / str(number), chance), of_systemd(units, chance, number)
            if ini:
                results += (of_npm(Path(place) / f"npm{number}", chance, ini),)
            refused += results.count(None)
            failed += results.count(False)
            passed += results.count(True)
        failed += not is_accepted(units)
    print(f"{refused} files of npm were refused")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not options.count else 0


NPM_KEYS = ("a", "b[]", "a[]", "b", '"b[]"', " c ; x", "'d'", "a.b", "//x.org/:d", "[]", "\\;e", "")
NPM_VALUES = ("", "1", " x y ", "true", "'true'", "null", '"null"', "'1'", '"1"', "'a'", '"a', "'", '"a\\n"', "a;b",
              "a\\;b # c", "a\\\\;b", "a\\b", "'NaN'", "=", "'x' y")  # fmt: skip
NPM_LINES = ("[s]", "[ t ]  ", " [s]", "; c", "# c", "", "=x", "b[]", "a", "'d'")


def npm_text(chance: random.Random) -> str:
    """A file .npmrc."""
    lines = []
    for _ in range(chance.randint(0, 12)):
        entry = f"{chance.choice(NPM_KEYS)}{chance.choice(('=', ' = '))}{chance.choice(NPM_VALUES)}"
        lines.append(chance.choice((entry, entry, chance.choice(NPM_LINES))))
    return "\n".join(lines) + "\n"


def of_npm(folder: Path, chance: random.Random, ini: str) -> bool | None:
    """Compare one file; returns whether all is equal, and None for a file that we refuse."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ".npmrc"
    file.write_text(npm_text(chance))
    text = "require('fs').readFileSync(0, 'utf8')"
    program = f"console.log(JSON.stringify(require(process.argv[1]).parse({text})))"
    words = ["node", "-e", program, os.path.abspath(ini)]
    done = subprocess.run(words, input=file.read_text(), capture_output=True, text=True, check=True)
    try:
        tree = folded_files([str(file)], "replace")
    except DocumentError:
        return None
    expected = {key: value for key, value in json.loads(done.stdout).items() if value != {}}
    if tree.value != expected:
        print(f"{file.read_text()}: ours {tree.value}, expected {expected}")
        return False
    lines = file.read_text().splitlines()
    keys = [(next(step for step in path[::-1] if isinstance(step, str)), at) for path, _, at in tree.leaves() if path]
    return all(key in lines[(at[0].line or 0) - 1].replace("\\;", ";") for key, at in keys)


def is_accepted(units: Path) -> bool:
    """Whether `systemd-analyze verify` has nothing to say about the syntax of the units."""
    program = shutil.which("systemd-analyze")
    if program is None:
        print("systemd-analyze is not installed: nothing was verified")
        return True
    words = [program, "verify", "--man=no", *(str(one) for one in units.glob("*.service"))]
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    said = [line for line in done.stderr.splitlines() if str(units) in line]
    print("\n".join(said[:5]))
    return not said


if __name__ == "__main__":
    sys.exit(main())
