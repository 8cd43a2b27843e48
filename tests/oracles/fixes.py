"""python -m tests.oracles.fixes [--count N] [--seed S]: what `check --fix` takes out changes no value that is read.

Random repositories from a tiny alphabet, so that layers collide: roles and environments in JSON and YAML, written
in lines and in brackets, with keys twice; nodes; cookbooks in Python that set, remove and ask at every level; and a
Hiera tree with fixed and variable levels, `lookup_options`, and manifests that look up with and without a merge.
Each is run for every node, and every key looked up for every node, before and after; the runs are whole ones, so
what cookbooks make of it counts, too. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import yaml

from nodeattrs.contract.fixes import apply
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import strict_key
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.checks.fixes import fixes
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera

KEYS = ("a", "b", "c")
LEVELS = ("default", "force_default", "normal", "override", "force_override")
STATEMENTS = (
    *(f"node.{level}{{path}} = {{value}}" for level in LEVELS),
    *(f"node.{level}_unless{{path}} = {{value}}" for level in ("default", "normal")),
    "node.rm({words})",
    "node.rm_default({words})",
    "node.rm_override({words})",
)


class RandomRepository:
    """One random repository."""

    def __init__(self, root: pathlib.Path, seed: int) -> None:
        self.root = root
        self._random = random.Random(seed)
        self.roles = ["r1", "r2", "r3"]
        self.environments = ["e1", "e2"]
        self._pool = self._random.choice(
            ((1,), (1, 1, 2, [1, 2]), (1, 1, 1, 2, True, None, "x", [1], [1, 2], [1, 1], {}))
        )
        self._lines = self._random.choice(((0,), (0, 0, 1), (0, 1, 2)))
        self.nodes = [f"n{number}" for number in range(self._random.randint(1, 4))]

    def write(self) -> None:
        """All of it."""
        for name in self.roles:
            items = ["recipe[app]"] if self._chance(0.5) else []
            items += [f"role[{other}]" for other in self.roles if other > name and self._chance(0.4)]
            self._document(f"roles/{name}", {"name": name, "run_list": items, **self._levels()})
        for name in self.environments:
            self._document(f"environments/{name}", {"name": name, **self._levels()})
        for name in self.nodes:
            items = [f"role[{role}]" for role in self._random.sample(self.roles, self._random.randint(0, 2))]
            more = {"run_list": items, "chef_environment": self._random.choice(self.environments)}
            normal = {"normal": self._tree(2)} if self._chance(0.6) else {}
            self._document(f"nodes/{name}", {"name": name, **more, **normal})
        self._file("cookbooks/app/metadata.json", '{"name": "app", "version": "1.0.0"}')
        self._file("cookbooks/app/attributes/default.py", self._program(self._random.choice(self._lines)))
        self._file("cookbooks/app/recipes/default.py", self._program(self._random.choice(self._lines)))
        self._hiera()

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _levels(self) -> dict[str, Any]:
        return {f"{level}_attributes": self._tree(2) for level in ("default", "override") if self._chance(0.7)}

    def _tree(self, depth: int) -> dict[str, Any]:
        return {key: self._value(depth) for key in self._random.sample(KEYS, self._random.randint(1, 3))}

    def _value(self, depth: int) -> Any:
        if depth and self._chance(0.5):
            return self._tree(depth - 1)
        return self._random.choice(self._pool)

    def _program(self, lines: int) -> str:
        texts = ["from nodeattrs.recipe import node"]
        for _ in range(lines):
            path = self._random.sample(KEYS, self._random.randint(1, 2))
            values = {"path": "".join(f'["{key}"]' for key in path), "words": ", ".join(f'"{key}"' for key in path)}
            texts.append(self._random.choice(STATEMENTS).format(value=self._random.choice((1, 2, [1])), **values))
        return "\n".join(["try:", *(f"    {line}" for line in texts), "except TypeError:", "    pass\n"])

    # --- texts

    def _document(self, name: str, tree: dict[str, Any]) -> None:
        if self._chance(0.5):
            self._file(f"{name}.json", self._json(tree, 0 if self._chance(0.5) else None))
        else:
            flow = self._random.choice((False, False, None))
            self._file(f"{name}.yaml", self._doubled(yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False)))

    def _json(self, value: Any, indent: int | None) -> str:
        """JSON by hand: some keys stand twice."""
        if not isinstance(value, dict):
            return json.dumps(value)
        inner = None if indent is None else indent + 2
        entries = []
        for key, one in value.items():
            if self._chance(0.08):
                entries.append(f'"{key}": {json.dumps(self._random.choice((1, {"z": 1})))}')
            entries.append(f'"{key}": {self._json(one, inner)}')
        if inner is None:
            return "{" + ", ".join(entries) + "}"
        return (
            "{"
            + ",".join(f"\n{' ' * inner}{one}" for one in entries)
            + (f"\n{' ' * (inner - 2)}" if entries else "")
            + "}"
        )

    def _doubled(self, text: str) -> str:
        """YAML with some lines written twice, where that is no other document."""
        lines = text.splitlines(keepends=True)
        found: list[str] = []
        for line in lines:
            if (
                self._chance(0.06)
                and not line.lstrip().startswith("-")
                and line.rstrip()[-1:] not in (":", "-", ",", "[")
            ):
                found.append(line)
            found.append(line)
            if self._chance(0.05):
                found.append("# a remark\n")
        doubled = "".join(found)
        try:
            return doubled if yaml.safe_load(doubled) == yaml.safe_load(text) else text
        except yaml.YAMLError:
            return text

    def _file(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    # --- Hiera

    HIERA_KEYS = ("m::a", "m::b", "m::c", "m::d", "k")

    def _hiera(self) -> None:
        templates = ["nodes/%{trusted.certname}.yaml", "env/%{role}.yaml", "%{role}/x.yaml", "site.yaml", "common.yaml"]
        chosen = [one for one in templates if self._chance(0.75)] or templates[-1:]
        if self._chance(0.3):
            self._random.shuffle(chosen)
        levels = "".join(f"- {{name: l{number}, path: '{one}'}}\n" for number, one in enumerate(chosen))
        if self._chance(0.15):
            levels += "- {name: g, glob: 'g/*.yaml'}\n- {name: last, path: last.yaml}\n"
        self._file("hiera.yaml", f"version: 5\ndefaults: {{datadir: data, data_hash: yaml_data}}\nhierarchy:\n{levels}")
        files = [f"nodes/{name}.yaml" for name in self.nodes] + ["env/web.yaml", "web/x.yaml", "db/x.yaml"]
        for name in (*files, "site.yaml", "common.yaml", "g/one.yaml", "last.yaml"):
            if self._chance(0.8):
                tree: dict[str, Any] = {key: self._value(1) for key in self.HIERA_KEYS if self._chance(0.6)}
                if self._chance(0.1):
                    tree["lookup_options"] = {self._random.choice(("m::a", "^m::[ab]$", "k")): {"merge": "deep"}}
                text = yaml.safe_dump(tree, sort_keys=False, default_flow_style=self._random.choice((False, None)))
                self._file(f"data/{name}", self._doubled(text))
        asked = self._random.choice(("lookup('k')", "lookup('k', Hash, 'hash')", "hiera_array('k')", "lookup('m::d')"))
        manifest = f"class m(\n  $a = 1,\n  $b = ')',\n  Hash $c = {{}},\n) {{\n  $x = {asked}\n}}\n"
        self._file("modules/m/manifests/init.pp", manifest)

    def seen(self) -> Iterator[Any]:
        """Every value that anybody reads."""
        repository = Repository(self.root)
        for name in self.nodes:
            facts = Facts({"platform": "debian", "platform_version": "12"}, Origin("facts"))
            try:
                node = run_node(repository, name, facts=facts).node
            except NodeattrsError as error:
                yield name, type(error).__name__
                continue
            yield name, {key: value for key, value in node.to_dict().items() if key in KEYS}
        hiera = Hiera(self.root / "hiera.yaml", root=self.root)
        for name in self.nodes:
            for role in ("web", "db", "none"):
                scope = hiera.scope({"role": role}, node=name)
                yield from ((name, role, key, self._looked_up(scope, key)) for key in self.HIERA_KEYS)

    def _looked_up(self, scope: Any, key: str) -> Any:
        try:
            return scope.lookup(key, default_value="nothing")
        except NodeattrsError as error:
            return type(error).__name__


def _key(value: Any) -> Any:
    """What is equal for equal values, whatever the order of their keys."""
    if isinstance(value, dict):
        return "map", tuple(sorted((str(key), _key(one)) for key, one in value.items()))
    if isinstance(value, (list, tuple)):
        return "list", tuple(map(_key, value))
    return "one", strict_key(value)


def try_one(root: pathlib.Path, seed: int) -> tuple[int, str]:
    """How many findings were mended in one repository, and what changed by it; "" where nothing did."""
    made = RandomRepository(root, seed)
    made.write()
    before = [_key(one) for one in made.seen()]
    came = checked(Repository(root))
    mended = fixes(root, came.warnings)
    apply(root, mended)
    count = sum(len(one.mended) for one in mended)
    changed = [(one, other) for one, other in zip(before, map(_key, made.seen()), strict=True) if one != other]
    left = [
        one for one in fixes(root, checked(Repository(root)).warnings) if one.shown[0] != one.shown[1] and not mended
    ]
    text = "\n".join(line for one in mended for line in one.diff())
    return count, f"{changed[0]}\n{text}" if changed else "more was left than was there" if left else ""


def main(words: list[str] | None = None) -> int:
    """Try many."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.fixes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    passed = failed = mended = 0
    for number in range(options.count):
        root = pathlib.Path(tempfile.mkdtemp(prefix="fixes-"))
        try:
            count, wrong = try_one(root, options.seed * 1_000_000 + number)
        finally:
            shutil.rmtree(root)
        mended += count
        if wrong:
            print(f"seed {options.seed}, number {number}: {wrong}\n")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{mended} findings were mended")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not mended else 0


if __name__ == "__main__":
    sys.exit(main())
