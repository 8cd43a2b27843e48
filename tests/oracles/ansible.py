"""python -m tests.oracles.ansible [--count N] [--seed S] [--hosts N] [--venv DIR]

Asks the real ansible-core and us about the same random trees: every variable of every host, in the inventory and in
every task; file and line of each variable as Ansible has them, and of each leaf as the text of the tree has it. Prints
how many trees had which construct, and at the end `N passed, M failed`; exit code 1 on a difference.

Ansible runs in an environment of its own: --venv, or ANSIBLE_VENV, a folder with bin/python and `ansible-core==2.19.*`
in it. Without one nothing is asked, and a sentence says so. Nothing of it is imported here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.adapters.ansible import AnsibleError, Inventory, Playbook, Variables, as_json
from tests.oracles.ansible_trees import Tree, tree

_TOKEN = re.compile(r"\bs\d{4}\b|\b1\d{4}\b")
_ASKED = re.compile(r"v[a-z]")
_LINES_OF = 7
"""Of so many answers the origins of one are compared."""


class Peer:
    """The real program in its own process."""

    def __init__(self, venv: Path, environment: dict[str, str]) -> None:
        script = Path(__file__).with_name("ansible_peer.py")
        self.home = tempfile.TemporaryDirectory()
        config = Path(self.home.name) / "none.cfg"
        config.write_text("[defaults]\n", encoding="utf-8")
        quiet = {"ANSIBLE_CONFIG": str(config), "ANSIBLE_NOCOLOR": "1", "HOME": self.home.name, "LC_ALL": "C.UTF-8"}
        known = {"PATH": os.environ["PATH"], **quiet, **environment}
        self.process = subprocess.Popen(
            [str(venv / "bin" / "python"), "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=known,
            text=True,
        )
        self.version: str = self._answer()

    def ask(self, folder: Path, asked: Tree) -> dict[str, Any]:
        """What Ansible has for a tree that stands in a folder."""
        question = {"folder": str(folder), "sources": asked.sources, "extra": asked.extra, "playbook": asked.playbook}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self._answer()  # type: ignore[no-any-return]

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)
        self.home.cleanup()


class Comparison:
    """One tree, both answers. values, lines: how many were compared"""

    def __init__(self, folder: Path, asked: Tree, theirs: dict[str, Any]) -> None:
        self.folder, self.tree, self.theirs = folder, asked, theirs
        self.values = self.lines = self.answers = 0
        self.places = dict(_places(asked))

    def faults(self) -> Iterator[str]:
        """What differs, in words."""
        environment = self.tree.environment
        try:
            inventory = Inventory(
                *self.tree.sources, folder=self.folder, extra_vars=self.tree.extra, environment=environment
            )
            playbook = Playbook(inventory, self.tree.playbook) if self.tree.playbook else None
            for host, entries in self.theirs["hosts"].items():
                yield from self._host(host, entries, inventory, playbook)
        except AnsibleError as error:
            yield f"we refuse: {error}"

    def _host(self, host: str, entries: list[Any], inventory: Inventory, playbook: Playbook | None) -> Iterator[str]:
        if playbook is None:
            ours: list[tuple[str, Variables]] = [("", inventory.host(host))]
        else:
            ours = [(task.name, playbook.within(task, host)) for task in playbook.tasks(host)]
        left = list(entries)
        for name, answer in ours:
            while left and left[0][0] != name:
                left.pop(0)  # a role that is there a second time is compiled twice, and runs once
            if not left:
                yield f"{host}: {name!r} is not where Ansible has it"
                return
            yield from self._answer(f"{host} in {name!r}", answer, left.pop(0)[1])
        known = {name for name, _ in ours}
        yield from (f"{host}: {name!r} is missing" for name, _ in left if name not in known)

    def _answer(self, where: str, answer: Variables, expected: dict[str, Any]) -> Iterator[str]:
        got = {name: as_json(value) for name, value in answer.vars.items() if _ASKED.fullmatch(str(name))}
        self.values += len(expected)
        for name in expected.keys() | got.keys():
            wanted = expected.get(name, [None])[0]
            if (
                name not in got
                or name not in expected
                or json.dumps(wanted, sort_keys=True) != json.dumps(got[name], sort_keys=True)
            ):
                yield f"{where}: {name} is {wanted!r} there and {got.get(name)!r} here"
        self.answers += 1
        if self.answers % _LINES_OF == 0:
            yield from self._origins(where, answer, expected)

    def _origins(self, where: str, answer: Variables, expected: dict[str, Any]) -> Iterator[str]:
        folded = answer.folded()
        is_merged = bool(self.tree.environment)
        for name, (value, origin) in expected.items():
            if origin is not None and not (is_merged and isinstance(value, dict)):
                found = [(one.file or one.kind, one.line) for one in folded.origins((name,))]
                self.lines += 1
                if not any(
                    file == origin[0] and _near(line, origin[1], self.tree.files.get(file)) for file, line in found
                ):
                    yield f"{where}: {name} stands at {origin} there and at {found} here"
            for path, leaf in _leaves(value, (name,)):
                if str(leaf) in self.places:
                    self.lines += 1
                    found = [(one.file or one.kind, one.line) for one in folded.origins(path)]
                    if found != [self.places[str(leaf)]]:
                        yield f"{where}: {path} stands at {self.places[str(leaf)]} and at {found} here"


def _near(line: int | None, wanted: int | None, text: str | None) -> bool:
    """The same line, or that of the key above it: nothing between them but blank lines and comments."""
    if line is None or wanted is None or text is None:
        return True
    between = text.split("\n")[line : wanted - 1]
    return line <= wanted and all(not one.strip() or one.lstrip().startswith("#") for one in between)


def _places(asked: Tree) -> Iterator[tuple[str, tuple[str, int | None]]]:
    """Each value that a tree has, and where."""
    for file, text in asked.files.items():
        for number, line in enumerate(text.split("\n"), 1):
            yield from ((token, (file, number)) for token in _TOKEN.findall(line))
    for text in asked.extra:
        yield from ((token, ("-e", None)) for token in _TOKEN.findall(text))


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _leaves(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _leaves(entry, (*path, index))
    else:
        yield path, value


def _written(folder: Path, asked: Tree) -> None:
    for name, text in asked.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ansible", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=50, help="how many trees (default: 50)")
    parser.add_argument("--seed", default="1", help="of the first tree (default: 1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first tree (default: 0)")
    parser.add_argument("--hosts", type=int, default=50, help="of each tree (default: 50)")
    parser.add_argument("--venv", default=os.environ.get("ANSIBLE_VENV", ""), help="with ansible-core in it")
    asked = parser.parse_args(arguments)
    venv = Path(asked.venv or "nowhere")
    if not (venv / "bin" / "python").is_file():
        print("ansible: no environment with ansible-core is named (--venv, ANSIBLE_VENV): nothing was compared")
        print("0 passed, 0 failed")
        return 0
    return _compared(asked, venv)


def _compared(asked: argparse.Namespace, venv: Path) -> int:
    peers: dict[str, Peer] = {}
    used: Counter[str] = Counter()
    values = lines = failed = 0
    for number in range(asked.first, asked.first + asked.count):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            one = tree(f"{asked.seed}-{number}", asked.hosts)
            _written(folder, one)
            key = json.dumps(one.environment)
            peer = peers.get(key) or peers.setdefault(key, Peer(venv, one.environment))
            theirs = peer.ask(folder, one)
            used.update(one.used.keys())
            found = Comparison(folder, one, theirs)
            faults = [theirs["error"]] if "error" in theirs else list(found.faults())
            values, lines = values + found.values, lines + found.lines
            if faults:
                failed += 1
                print(f"tree {asked.seed}-{number}: {faults[0][:400]} (and {len(faults) - 1} more)", flush=True)
    version = next((peer.version for peer in peers.values()), "none")
    for peer in peers.values():
        peer.close()
    for what, count in sorted(used.items()):
        print(f"{count:6}  {what}")
    print(f"ansible-core {version}: {values} values, {lines} origins in {asked.count} trees")
    print(f"{asked.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
