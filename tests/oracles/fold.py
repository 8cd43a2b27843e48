"""python -m tests.oracles.fold [KIND...] [--count N] [--seed S]

Random files folded by us and by the originals, the answers compared: `compose` by docker-compose 1.29 (what its
rules and those of the Compose Specification have in common), `podman` by podman-compose (!reset and !override),
`json-merge-patch` by the package of that name, `hiera-deep` by our Hiera and by the public vectors, `inside`, `across`
and `replace` by a few lines that know no policy; and texts of `env`, `ini` and `properties` by python-dotenv,
configparser and javaproperties. The last line is `N passed, M failed`; exit code 1 if any failed or none was asked.

The originals are fetched into a temporary folder: Debian's packages unpacked, wheels unzipped. Nothing is installed.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nodeattrs import hiera
from nodeattrs.core.budget import Budget
from nodeattrs.core.fold import Layer
from nodeattrs.dialects.files.folds import folded
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import parse, parse_all
from nodeattrs.formats.yaml_writing import written
from nodeattrs.policies import policy_named
from nodeattrs.policies.compose import port_key
from tests import model
from tests.vectors.cases import HERE, cases_of
from tests.vectors.values import spelled

PACKAGES = (
    "docker-compose", "python3-docker", "python3-dockerpty", "python3-docopt", "python3-texttable", "python3-six",
    "python3-websocket", "python3-distro", "python3-requests", "python3-urllib3", "python3-certifi", "python3-idna",
    "python3-charset-normalizer", "python3-chardet", "python3-jsonschema", "python3-pyrsistent", "python3-attr",
    "python3-pkg-resources",
)  # fmt: skip
WHEELS = ("podman-compose", "json-merge-patch", "python-dotenv", "javaproperties")


def fetched(folder: Path) -> list[Path]:
    """The originals unpacked below *folder*; the folders to import from. raises: CalledProcessError, OSError"""
    subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True, capture_output=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "root"], cwd=folder, check=True)
    get = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", *WHEELS]
    subprocess.run(get, cwd=folder, check=True, capture_output=True)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder / "wheels")
    return [folder / "wheels", folder / "root/usr/lib/python3/dist-packages"]


class Peer:
    """The originals in their own process."""

    def __init__(self, folders: Sequence[Path]) -> None:
        script = Path(__file__).with_name("fold_peer.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), *map(str, folders)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, op: str, *arguments: Any) -> tuple[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump((op, arguments), self.process.stdin)
        self.process.stdin.flush()
        answer: tuple[str, Any] = pickle.load(self.process.stdout)
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


class Difference(AssertionError):
    pass


def same(asked: Any, theirs: Any, ours: Any) -> None:
    if spelled(theirs) != spelled(ours):
        raise Difference(f"\n  asked:  {asked!r}\n  theirs: {theirs!r}\n  ours:   {ours!r}")


def by(policy: str, trees: Sequence[Any]) -> Any:
    return folded([Layer(tree) for tree in trees], policy_named(policy)).value


# --- trees of few keys, so that they collide

SCALARS = ("x", "y", "", 0, 1, 1.0, True, False, None)


def tree(chance: random.Random, depth: int = 3, keys: str = "abc") -> Any:
    kind = chance.random()
    if depth and kind < 0.55:
        return {key: tree(chance, depth - 1, keys) for key in chance.sample(keys, chance.randint(0, 3))}
    if depth and kind < 0.7:
        return [tree(chance, depth - 1, keys) for _ in range(chance.randint(0, 3))]
    return chance.choice(SCALARS)


def maps(chance: random.Random, depth: int = 3) -> list[dict[str, Any]]:
    """Two to four maps."""
    return [
        {key: tree(chance, depth) for key in chance.sample("abcd", chance.randint(1, 4))}
        for _ in range(chance.randint(2, 4))
    ]


# --- policies without an original: a slow model, which knows no policy


def _plain(policy: str, join: Callable[[Any, Any], Any]) -> Callable[[random.Random, Peer], None]:
    def ask(chance: random.Random, peer: Peer) -> None:
        trees = maps(chance)
        expected = trees[0]
        for one in trees[1:]:
            expected = join(expected, one)
        same(trees, expected, by(policy, trees))

    return ask


def merge_patch(chance: random.Random, peer: Peer) -> None:
    target, *patches = (tree(chance) for _ in range(chance.randint(2, 4)))
    status, theirs = peer.ask("patch", target, patches)
    assert status == "ok", theirs
    ours = target
    for patch in patches:  # one at a time: a document that is null is one, and lies under the next patch
        ours = by("json-merge-patch", [ours, patch])
    same((target, patches), theirs, ours)


def hiera_deep(chance: random.Random, peer: Peer) -> None:
    trees = maps(chance)
    keys = dict.fromkeys(key for one in trees for key in one)
    expected = {key: hiera.merge([one[key] for one in reversed(trees) if key in one], "deep") for key in keys}
    same(trees, expected, {key: by("hiera-deep", trees)[key] for key in keys})


# --- Compose

IMAGES, KEYS = ("a:1", "b:2"), ("A", "B", "C")
PORTS = (
    "80",
    "81:80",
    "127.0.0.1:82:80",
    "443/udp",
    {"target": 80, "published": 83},
    {"target": 80, "protocol": "udp"},
)
VOLUMES = ("/x", "./s:/x", "vol:/y:ro", "/t:/y", {"type": "bind", "source": "/s", "target": "/w"},
           {"type": "volume", "source": "vol", "target": "/w"})  # fmt: skip


def some(chance: random.Random, of: Sequence[Any], most: int = 3) -> list[Any]:
    return chance.sample(list(of), chance.randint(1, min(most, len(of))))


def apart(key: Callable[[Any], Any], *of: Any) -> Callable[[random.Random], Any]:
    """Some elements that one file may have beside each other."""

    def drawn(chance: random.Random) -> list[Any]:
        return list({spelled(key(one)): one for one in some(chance, of)}.values())

    return drawn


def target(mount: Any) -> Any:
    return mount["target"] if isinstance(mount, dict) else (mount.split(":") * 2)[1]


def pairs(chance: random.Random) -> Any:
    """A map of texts, or a list of its entries."""
    found = {key: chance.choice(("1", "x y", "")) for key in some(chance, KEYS)}
    return found if chance.random() < 0.5 else [f"{key}={value}" for key, value in found.items()]


def words(*of: Any) -> Callable[[random.Random], Any]:
    return lambda chance: some(chance, of)


def text_or(*of: str) -> Callable[[random.Random], Any]:
    return lambda chance: chance.choice(of) if chance.random() < 0.4 else some(chance, of)


def logging(chance: random.Random) -> Any:
    options = {"options": dict.fromkeys(some(chance, ("o", "p")), "1")}
    return {**({"driver": chance.choice(("json-file", "syslog"))} if chance.random() < 0.7 else {}), **options}


def build(chance: random.Random) -> Any:
    if chance.random() < 0.3:
        return "https://h.example/ctx.git"
    return {
        "context": chance.choice(("https://h.example/c.git", "https://h.example/d.git")),
        "args": pairs(chance),
        "labels": pairs(chance),
    }


def depends(chance: random.Random) -> Any:
    names = some(chance, ("db", "cache"))
    return names if chance.random() < 0.6 else {name: {"condition": "service_healthy"} for name in names}


def attached(chance: random.Random) -> Any:
    names = some(chance, ("n1", "n2"))
    return names if chance.random() < 0.5 else {name: {"aliases": some(chance, "pqr")} for name in names}


def health(chance: random.Random) -> Any:
    return {key: value for key, value in {"test": ["CMD", chance.choice("ab")], "interval": "5s", "retries":
            chance.randint(1, 3)}.items() if chance.random() < 0.7}  # fmt: skip


def limits(chance: random.Random) -> Any:
    return {key: chance.choice((10, {"soft": 1, "hard": 2})) for key in some(chance, ("nofile", "nproc"))}


FIELDS: dict[str, Callable[[random.Random], Any]] = {
    "environment": pairs,
    "labels": pairs,
    "sysctls": pairs,
    "command": text_or("run", "serve -v"),
    "entrypoint": text_or("sh", "bash"),
    "ports": apart(port_key, *PORTS),
    "volumes": apart(target, *VOLUMES),
    "devices": apart(target, "/dev/a:/dev/x", "/dev/b:/dev/x", "/dev/c:/dev/y:r"),
    "dns": text_or("1.1.1.1", "9.9.9.9"),
    "dns_search": text_or("a.example", "b.example"),
    "tmpfs": text_or("/run", "/tmp"),
    "expose": words("80", "90", "100"),
    "cap_add": words("ALL", "NET_ADMIN", "SYS_TIME"),
    "cap_drop": words("ALL", "NET_ADMIN"),
    "external_links": words("a:b", "c"),
    "profiles": words("p", "q"),
    "depends_on": depends,
    "networks": attached,
    "logging": logging,
    "build": build,
    "healthcheck": health,
    "ulimits": limits,
    "deploy": lambda chance: {"labels": pairs(chance), "replicas": chance.randint(1, 3)},
    "restart": lambda chance: chance.choice(("always", "no")),
    "hostname": lambda chance: chance.choice("ab"),
    "privileged": lambda chance: chance.random() < 0.5,
}
SETS = {"ports", "volumes", "devices", "dns", "dns_search", "tmpfs", "expose", "cap_add", "cap_drop", "external_links",
        "profiles", "aliases", "depends_on"}  # fmt: skip
"""Lists of which docker-compose 1.29 sorts some when two meet, and leaves doubles in others."""
PAIRED = {"labels": "="}
"""What it leaves as a list, where only one file has it."""


def service(chance: random.Random) -> dict[str, Any]:
    return {"image": chance.choice(IMAGES), **{name: FIELDS[name](chance) for name in some(chance, list(FIELDS), 8)}}


def compose(chance: random.Random, peer: Peer) -> None:
    trees: list[dict[str, Any]] = [{"services": {"web": service(chance)}} for _ in range(chance.randint(2, 3))]
    trees[0]["networks"] = {"n1": {}, "n2": {"driver": "bridge"}}
    trees[0]["volumes"] = {"vol": {}}
    trees[0]["services"] |= {"db": {"image": "d"}, "cache": {"image": "c"}}
    ours = by("compose", trees)
    theirs, of_ours = peer.ask("compose", trees), peer.ask("compose", [ours])
    assert theirs[0] == "ok", (trees, theirs)
    same(trees, *map(_unordered, (theirs, of_ours)))


def _unordered(value: Any, key: Any = None) -> Any:
    """An answer without what has no meaning: the order of some lists, doubles in them, and which of two spellings."""
    if key in PAIRED and isinstance(value, list):
        value = dict(one.split(PAIRED[key], 1) for one in value)
    if isinstance(value, dict):
        found = {name: _unordered(value[name], name) for name in sorted(value, key=str)}
        return {name: one or {} for name, one in found.items()} if key == "networks" else found
    if isinstance(value, (list, tuple)):
        listed = [_unordered(one) for one in value]
        return [one for _, one in sorted({spelled(one): one for one in listed}.items())] if key in SETS else listed
    return value


TAGGED = {"ports": [["80:80", "81:81"], ["82:82"], ["83:83"]], "cap_add": [["ALL"], ["SYS_TIME"], ["NET_ADMIN"]],
          "dns": [["1.1.1.1"], ["9.9.9.9"], ["8.8.8.8"]], "labels": [{"a": "1"}, {"b": "2"}, {"a": "3"}],
          "image": ["a", "b", "c"], "command": [["x"], ["y"], ["z"]],
          "environment": [{"A": "1"}, {"A": "2", "B": "1"}, {"C": "3"}]}  # fmt: skip


def podman(chance: random.Random, peer: Peer) -> None:
    """Files of which the later ones reset and override; a tag stands where something is below it."""
    names = some(chance, list(TAGGED), 5)
    texts, there = [], set(names)
    for number in range(chance.randint(2, 3)):
        lines = ["services:\n", "  web:\n    hostname: h\n"]
        here = names if number == 0 else some(chance, names, 4)
        for name in here:
            value = json.dumps(TAGGED[name][number])
            tag = chance.choice(("", "", "!override", "!reset")) if number and name in there else ""
            if name in ("image", "environment", "labels") and tag == "!override":
                tag = ""  # podman-compose overrides lists and services,
            if name in ("environment", "labels") and tag == "!reset":
                tag = ""  # and cannot reset what it first makes a map of
            there = there - {name} if tag == "!reset" else there | {name}
            lines.append(f"    {name}: {tag} {'null' if tag == '!reset' else value}\n")
        if number and chance.random() < 0.15:
            lines = ["services:\n", "  web: !override {image: z, hostname: k}\n"]
            there = set()
        texts.append("".join(lines))
    layers = [parse_all(text, "c.yaml", "yaml", Budget("c"), {})[0].tree for text in texts]
    theirs, of_ours = peer.ask("podman", texts), peer.ask("podman", [written(by("compose", layers))])
    assert theirs[0] == "ok", (texts, theirs)
    same(texts, *map(_unordered, (theirs, of_ours)))


# --- texts

ENV = ("A=1", "B=2", "export S=2", "C", "D = x y # c", "E='a b' # c", 'F="a\\nb"', "# c", "", "G=", "H='it\\'s'",
       'I="x\ny"', "J=a#b", "K=$HOME", "A=2", "L= #c", "M=\"q\\\"q\"",
       "'N'=1", "  O=1", "P='a\\nb'", "Q=#x", "R=\u00e9")  # fmt: skip
INI = ("a = 1", "b: 2", "c", "d =", "# c", "; c", "", "  more", "e = x ; y", "[t]", "a = 2", "\tmore", "f = 1 = 2",
       "[s]", "g:h = i", "  # c", "h = [x]", "A = 1")  # fmt: skip
PROPERTIES = ("a=1", "b: 2", "c 3", "d", "# c", "! c", "", "e=\\u00e9", "f=a\\", "  g", "h\\=i=1", "j = x ", "k\\ l=1",
              "m=\\t\\n\\q", "a=2", "\tn\t=\to", "p==q", "r=\\\\", "s=\\ t", "\\", "t\\:u:v")  # fmt: skip


def _text(op: str, lines: Sequence[str], head: str = "") -> Callable[[random.Random, Peer], None]:
    def ask(chance: random.Random, peer: Peer) -> None:
        text = head + "\n".join(chance.choices(lines, k=chance.randint(1, 8))) + chance.choice(("", "\n"))
        status, theirs = peer.ask(op, text)
        if status == "error" and theirs.startswith("AttributeError"):
            return  # configparser's own fault: a key without a value, and an indented line below it
        try:
            ours = parse(text, f"x.{op}", op, Budget(op)).tree  # type: ignore[arg-type]
        except NodeattrsError as error:
            if status != "error":
                raise Difference(f"\n  asked:  {text!r}\n  theirs: {theirs!r}\n  ours:   {error}") from error
            return
        same(text, theirs if status == "ok" else f"refused: {theirs}", ours)

    return ask


KINDS: dict[str, Callable[[random.Random, Peer], None]] = {
    "across": _plain("across", model.across),
    "inside": _plain("inside", model.inside),
    "replace": _plain("replace", lambda lower, upper: {**lower, **upper}),
    "json-merge-patch": merge_patch,
    "hiera-deep": hiera_deep,
    "compose": compose,
    "podman": podman,
    "env": _text("env", ENV),
    "ini": _text("ini", INI, "[s]\n"),
    "properties": _text("properties", PROPERTIES),
}


def vectors() -> int:
    """The public vectors of deep merges, each below a key of its own, and of roles side by side. raises: Difference"""
    asked = 0
    for case in cases_of(HERE / "hiera-merge.jsonl"):
        values = case.get("values") or []
        if case.get("merge") != "deep" or "value" not in case["expect"] or case.get("documented"):
            continue
        trees = [{} if value == {"$absent": True} else {"key": value} for value in reversed(values)]
        same(case["id"], case["expect"]["value"], by("hiera-deep", trees)["key"])
        asked += 1
    for case in cases_of(HERE / "chef-expansion.jsonl"):
        roles, expected = case["roles"], case["expect"]
        if any("role[" in str(one.get("run_list")) for one in roles.values()):
            continue  # who comes first there is no matter of a merge
        for level in ("default_attributes", "override_attributes"):
            trees = [tree for name in expected.get("roles", ()) if (tree := roles.get(name, {}).get(level))]
            if trees and expected.get(level):
                same(case["id"], expected[level], by("inside", trees))
                asked += 1
    return asked


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.fold", description=__doc__.partition("\n\n")[2])
    parser.add_argument("kinds", metavar="KIND", nargs="*", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--count", type=int, default=200, help="of each kind (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    failed, passed = 0, vectors()
    print(f"vectors of hiera-deep and inside: {passed}")
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(fetched(Path(folder)))
        for kind in options.kinds or KINDS:
            differ = 0
            for number in range(options.count):
                chance = random.Random(f"{options.seed} {kind} {number}")
                try:
                    KINDS[kind](chance, peer)
                except (AssertionError, NodeattrsError) as error:
                    differ += 1
                    if differ <= 3:
                        print(f"{kind} {number}: {type(error).__name__}: {error}")
            print(f"{kind}: {options.count - differ} equal, {differ} differ", flush=True)
            failed, passed = failed + differ, passed + options.count - differ
        peer.close()
    print(f"{passed} passed, {failed} failed")
    return int(bool(failed) or not passed)


if __name__ == "__main__":
    sys.exit(main())
