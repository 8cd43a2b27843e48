"""python -m tests.oracles.ansible [--count N] [--seed S] [--hosts N] [--ask N] [--venv DIR]

Asks the real ansible-core and us about the same random trees: every variable of some hosts, in the inventory and in
every task; file and line of each variable as Ansible has them, and of each leaf as the text of the tree has it; what
Ansible sets itself; and what ansible-inventory prints. Prints how many trees had which construct, and at the end
`N passed, M failed`; exit code 1 on a difference.

Ansible runs in an environment of its own: --venv, or ANSIBLE_VENV, a folder with bin/python and `ansible-core==2.19.*`
in it. Without one nothing is asked, and a sentence says so. Nothing of it is imported here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.ansible import AnsibleError, Inventory, Playbook, Variables, Vault, as_json, graph, printed_inventory
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.printing import printed_variables
from nodeattrs.dialects.ansible.writing import as_json_text
from nodeattrs.errors import BadValue
from tests.oracles.ansible_trees import tree
from tests.oracles.ansible_values import TOKEN, Tree

_LINES_OF = 9
"""Of so many answers the origins of whole variables are compared; those of leaves always are."""
_MAGIC_TEXT = """inventory_hostname inventory_hostname_short group_names inventory_file inventory_dir playbook_dir
    role_name role_path ansible_play_name"""
MAGIC = _MAGIC_TEXT.split()
_MAY_RUN = re.compile("set_fact$|include_vars$|group_by$|add_host$|debug$|handler of ")
"""Tasks without a name, and those that are run where somebody wants them."""
_REGROUPED = title(7), title(8)
"""Where what group_by and add_host may change is unknown."""
_KEYS = {
    "hash_behaviour": "ANSIBLE_HASH_BEHAVIOUR",
    "private_role_vars": "ANSIBLE_PRIVATE_ROLE_VARS",
    "precedence": "ANSIBLE_PRECEDENCE",
    "force_valid_group_names": "ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS",
    "vars_plugins_enabled": "ANSIBLE_VARS_ENABLED",
    "yaml_valid_extensions": "ANSIBLE_YAML_FILENAME_EXT",
    "inject_facts_as_vars": "ANSIBLE_INJECT_FACT_VARS",
    "run_vars_plugins": "ANSIBLE_RUN_VARS_PLUGINS",
    "inventory_ignore_patterns": "ANSIBLE_INVENTORY_IGNORE_REGEX",
    "inventory_ignore_extensions": "ANSIBLE_INVENTORY_IGNORE",
    "enable_plugins": "ANSIBLE_INVENTORY_ENABLED",
    "roles_path": "ANSIBLE_ROLES_PATH",
}


class Peer:
    """The real program in its own process."""

    def __init__(self, venv: Path, home: Path, environment: dict[str, str]) -> None:
        self.home = home
        script = Path(__file__).with_name("ansible_peer.py")
        config = home / "none.cfg"
        config.write_text("[defaults]\n", encoding="utf-8")
        quiet = {"ANSIBLE_CONFIG": str(config), "ANSIBLE_NOCOLOR": "1", "HOME": str(home), "LC_ALL": "C.UTF-8"}
        quiet["ANSIBLE_COLLECTIONS_PATH"] = str(home / "tree" / "collections")
        known = {"PATH": f"{venv / 'bin'}:{os.environ['PATH']}", "ANSIBLE_LOCALHOST_WARNING": "false", **quiet}
        self._start = partial(
            subprocess.Popen[str],
            [str(venv / "bin" / "python"), "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**known, **environment},
            text=True,
        )
        collections = home / "tree" / "collections" / "ansible_collections"
        collections.mkdir(parents=True, exist_ok=True)  # only what is there at the start counts
        self.process = self._start()
        self.version: str = self._answer()

    def restart(self) -> None:
        """Begin anew."""
        self.close()
        self.process = self._start()
        self.version = self._answer()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """What Ansible has."""
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
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:  # a busy machine
            self.process.kill()


def environment_of(made: Tree, folder: Path) -> dict[str, str]:
    """The variables of the environment that say what the ansible.cfg of a tree would."""
    found = {_KEYS[key]: text for key, text in made.settings.items()}
    if "roles_path" in made.settings:
        found["ANSIBLE_ROLES_PATH"] = str(folder / made.settings["roles_path"])
    if made.facts:
        found |= {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(folder / "facts")}
    return found


def question_of(made: Tree, folder: Path) -> dict[str, Any]:
    """What the peer is asked about a tree."""
    return {
        "folder": str(folder),
        "sources": made.sources,
        "extra": made.extra,
        "playbook": made.playbook,
        "hosts": made.asked,
        "run": made.run,
        "printed": made.printed,
        "pattern": "v",
        "magic": MAGIC,
    }


def written(folder: Path, made: Tree) -> None:
    """Write a tree into a folder that is empty afterwards but for it."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in made.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    for name in made.scripts:
        (folder / name).chmod(0o755)


class Comparison:
    """One tree, both answers.

    values, lines, unknown: how many were compared, and how many Ansible knows since it has run tasks
    """

    def __init__(self, folder: Path, asked: Tree, theirs: dict[str, Any], *, by_environment: bool) -> None:
        self.folder, self.tree, self.theirs = folder, asked, theirs
        self.by_environment = by_environment
        self.values = self.lines = self.answers = self.unknown = self.printed = 0
        self.places = dict(_places(asked))

    def faults(self) -> Iterator[str]:
        """What differs, in words."""
        if self.theirs.get("error", "").startswith("AnsibleVaultError"):  # roles whose entries it compares, say
            self.tree.used["it asks for a password: not compared"] += 1
            return
        if "error" in self.theirs:
            yield f"Ansible refuses: {self.theirs['error']}"
            return
        try:
            inventory = self._inventory()
            if inventory.not_run:  # which is said
                self.tree.used["a source that is not evaluated: not compared"] += 1
                return
            playbook = Playbook(inventory, self.tree.playbook) if self.tree.playbook else None
            for host, entries in self.theirs["hosts"].items():
                if self.tree.run and playbook is not None:
                    yield from self._in_run(host, entries, playbook)
                else:
                    yield from self._host(host, entries, inventory, playbook)
            for words, text in zip(self.tree.printed, self.theirs["printed"], strict=True):
                yield from self._print(inventory, words, text)
        except AnsibleError as error:
            yield f"we refuse: {error}"

    def _inventory(self) -> Inventory:
        environment = environment_of(self.tree, self.folder) if self.by_environment else {}
        passed_over = re.compile(self.tree.settings.get("inventory_ignore_patterns", "(?!)"))
        scripts = [name for name in self.tree.scripts if not passed_over.search(name)]  # to run another one is refused
        how: dict[str, Any] = {"environment": environment, "run_inventory": scripts}
        return Inventory(*self.tree.sources, folder=self.folder, extra_vars=self.tree.extra, **how)

    def _host(self, host: str, entries: list[Any], inventory: Inventory, playbook: Playbook | None) -> Iterator[str]:
        if playbook is None:
            ours: list[tuple[str, Variables]] = [("", inventory.host(host))]
        else:
            ours = [(task.name, playbook.within(task, host)) for task in playbook.tasks(host)]
        left = list(entries)
        for name, answer in ours:
            # A role that is there a second time is compiled twice, and runs once: so the next one that fits counts.
            places = [index for index, entry in enumerate(left) if entry[0] == name]
            if not places:
                yield f"{host}: {name!r} is not where Ansible has it"
                return
            fits = (at for at in places if not self._differs(answer, *left[at][1:]))
            chosen = next(fits, places[0])
            yield from self._answer(f"{host} in {name!r}", answer, *left[chosen][1:])
            left = left[chosen + 1 :]
        known = {name for name, _ in ours}
        yield from (f"{host}: {name!r} is missing" for name, *_ in left if name not in known)

    @staticmethod
    def _differs(answer: Variables, expected: dict[str, Any], magic: dict[str, Any]) -> bool:
        got = {name: plain(value) for name, value in answer.vars.items() if len(str(name)) == 2 and str(name)[0] == "v"}
        is_other = magic.get("role_name") != answer.magic.get("role_name")
        return is_other or not _same(got, {name: value for name, (value, _) in expected.items()})

    def _in_run(self, host: str, entries: list[Any], playbook: Playbook) -> Iterator[str]:
        if host not in playbook.inventory.hosts:
            return
        theirs = {name: rest for name, *rest in entries}
        ours = {task.name: task for task in reversed(playbook.tasks(host))}
        for name, (expected, magic) in theirs.items():
            if name in ours:
                yield from self._answer(f"{host} in {name!r}", playbook.within(ours[name], host), expected, magic)
        yield from (f"{host}: {name!r} runs here" for name in ours if name not in theirs and not _MAY_RUN.match(name))
        if not any(layer.title in _REGROUPED for layer in playbook.unknown(host)):  # which plays it is in, too
            there = [name for name in self.theirs["ran"].get(host, ()) if name and not _MAY_RUN.match(name)]
            here = [task.name for task in playbook.tasks(host) if not _MAY_RUN.match(task.name)]
            self.tree.used["order of tasks"] += 1
            if here != there:
                yield f"{host} runs {there} there and {here} here"

    def _print(self, inventory: Inventory, words: list[str], wanted: str) -> Iterator[str]:
        how: dict[str, Any] = {"export": "--export" in words, "limit": words[-1] if "--limit" in words else None}
        if "--host" in words:
            got = as_json_text(printed_variables(inventory.host(words[-1])), marked=False) + "\n"
        elif "--graph" in words:
            got = graph(inventory, with_variables="--vars" in words)
        else:
            form = "yaml" if "-y" in words else "toml" if "--toml" in words else "json"
            try:
                got = printed_inventory(inventory, form, **how)
            except BadValue:  # a null, which TOML has not
                got = wanted if wanted.startswith("TypeError: ") else "refused"
        if wanted.startswith("AnsibleVaultError"):  # it wants the password, and we say that it is a vault
            return
        self.printed += 1
        is_merging = self.tree.settings.get("hash_behaviour") == "merge"
        if got != wanted and "-y" in words and is_merging and _without_aliases(got) == _without_aliases(wanted):
            self.tree.used["one alias less: the data were compared"] += 1
        elif got != wanted:
            yield f"{words}: {_first_difference(got, wanted)}"

    # --- one answer

    def _answer(self, where: str, answer: Variables, expected: dict[str, Any], magic: dict[str, Any]) -> Iterator[str]:
        got = {name: plain(value) for name, value in answer.vars.items() if len(str(name)) == 2 and str(name)[0] == "v"}
        for name in sorted(expected.keys() | got.keys()):
            wanted = expected[name][0] if name in expected else "nothing"
            if name in got and name in expected and _same(wanted, got[name]):
                self.values += 1
            elif self.tree.run and answer.trace((name,)).unknown:
                self.unknown += 1
                expected.pop(name, None)
            else:
                yield f"{where}: {name} is {wanted!r} there and {got.get(name, 'nothing')!r} here"
        ours = {name: plain(answer.magic.get(name, magic[name] if self.tree.run else None)) for name in magic}
        yield from (f"{where}: {one} is {magic[one]!r}, not {ours[one]!r}" for one in magic if ours[one] != magic[one])
        self.answers += 1
        yield from self._leaves(where, answer, expected)
        if self.answers % _LINES_OF == 0:
            yield from self._variables(where, answer, expected)

    def _leaves(self, where: str, answer: Variables, expected: dict[str, Any]) -> Iterator[str]:
        for path, value, origins in answer.folded().leaves():
            if not path or path[0] not in expected:
                continue
            place = self._place(path, value)
            found = [(one.file or one.kind, one.line) for one in origins]
            if place is not None:
                self.lines += 1
                if found != [place]:
                    yield f"{where}: {path} stands at {place} and at {found} here"
            elif not isinstance(value, (dict, list)):
                self.lines += 1
                if not all(self._holds(file, line, path) for file, line in found):
                    yield f"{where}: {path} does not stand at {found}"
            origin = expected[path[0]][1]
            if origin is not None and len(path) == 1:
                self.lines += 1
                if not any(file == origin[0] and self._near(file, line, origin[1]) for file, line in found):
                    yield f"{where}: {path[0]} stands at {origin} there and at {found} here"

    def _variables(self, where: str, answer: Variables, expected: dict[str, Any]) -> Iterator[str]:
        """The origins of maps and lists, where Ansible has one that says something."""
        folded = answer.folded()
        is_merging = self.tree.settings.get("hash_behaviour") == "merge" or self.tree.used["include_vars that merges"]
        for name, (value, origin) in expected.items():
            if origin is None or not isinstance(value, (dict, list)) or not value:
                continue
            if isinstance(value, dict) and is_merging:
                continue  # that of the weakest
            self.lines += 1
            found = [(one.file or one.kind, one.line) for one in folded.origins((name,))]
            if not any(file == origin[0] and self._near(file, line, origin[1]) for file, line in found):
                yield f"{where}: {name} stands at {origin} there and at {found} here"

    def _place(self, path: tuple[Any, ...], value: Any) -> tuple[str, int | None] | None:
        """Where a leaf stands: its text, or the key of a boolean or a null, is once in the tree."""
        texts = (
            [str(value)] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else [str(path[-1])]
        )
        known = [self.places[token] for text in texts for token in TOKEN.findall(text) if token in self.places]
        return known[0] if len(known) == 1 else None

    def _holds(self, file: str, line: int | None, path: tuple[Any, ...]) -> bool:
        """Whether a line has the key of a leaf, or no line can be known."""
        text = self.tree.files.get(file)
        if text is None or line is None or isinstance(path[-1], int):
            return True
        keys = [str(step) for step in path if not isinstance(step, int)]
        return any(key in one for key in keys[-1:] for one in text.split("\n")[line - 1 : line + 1]) or "vault" in text

    def _near(self, file: str, line: int | None, wanted: int | None) -> bool:
        """The same line, or that of the key above it: nothing between them but blank lines and comments."""
        text = self.tree.files.get(file)
        if line is None or wanted is None or text is None:
            return True
        between = text.split("\n")[line : wanted - 1]
        return line <= wanted and all(not one.strip() or one.lstrip().startswith("#") for one in between)


def plain(value: Any) -> Any:
    """A value as the peer writes it."""
    if isinstance(value, Vault):
        return {"$vault": True}
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return as_json(value)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _without_aliases(text: str) -> Any:
    """The data of a text in YAML; all scalars are texts."""
    return yaml.load(text, Loader=yaml.BaseLoader)


def _first_difference(got: str, wanted: str) -> str:
    pairs = zip(got.split("\n"), wanted.split("\n"), strict=False)
    found = next(((number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (0, ("", "")))
    return f"line {found[0]} is {found[1][1]!r} there and {found[1][0]!r} here ({len(wanted)} and {len(got)} signs)"


def _places(asked: Tree) -> Iterator[tuple[str, tuple[str, int | None]]]:
    """What is once in a tree, and where; what is there twice is left out."""
    found = Counter[str]()
    places: dict[str, tuple[str, int | None]] = {}
    for file, text in asked.files.items():
        for number, line in enumerate(text.split("\n"), 1):
            for token in TOKEN.findall(line):
                found[token] += 1
                places[token] = file, None if file.startswith("facts/") or file in asked.scripts else number
    for text in asked.extra:
        for token in TOKEN.findall(text):
            found[token] += 1
            places[token] = "-e", None
    return ((token, place) for token, place in places.items() if found[token] == 1)


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ansible", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=50, help="how many trees (default: 50)")
    parser.add_argument("--seed", default="1", help="of the first tree (default: 1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first tree (default: 0)")
    parser.add_argument("--hosts", type=int, default=50, help="of each tree (default: 50)")
    parser.add_argument("--ask", type=int, default=8, help="how many hosts of each are asked for (default: 8)")
    parser.add_argument("--run", type=float, default=0.1, help="the share of playbooks that are run (default: 0.1)")
    parser.add_argument("--seconds", type=float, default=0, help="stop after that (default: never)")
    parser.add_argument("--venv", default=os.environ.get("ANSIBLE_VENV", ""), help="with ansible-core in it")
    asked = parser.parse_args(arguments)
    venv = Path(asked.venv or "nowhere")
    if not (venv / "bin" / "python").is_file():
        print("ansible: no environment with ansible-core is named (--venv, ANSIBLE_VENV): nothing was compared")
        print("0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as home:
        return _Run(asked, venv, Path(home).resolve()).run()


class _Run:
    def __init__(self, asked: argparse.Namespace, venv: Path, home: Path) -> None:
        self.asked, self.venv, self.home = asked, venv, home
        self.peer = Peer(venv, home, {})
        self.used: Counter[str] = Counter()
        self.sums: Counter[str] = Counter()

    def run(self) -> int:
        begun = time.monotonic()
        done = failed = 0
        for number in range(self.asked.first, self.asked.first + self.asked.count):
            if self.asked.seconds and time.monotonic() - begun > self.asked.seconds:
                break
            faults = self._faults(number)
            done += 1
            if faults:
                failed += 1
                print(f"tree {self.asked.seed}-{number}: {faults[0][:400]} (and {len(faults) - 1} more)", flush=True)
            if done % 250 == 0:
                print(f"{done} trees, {self.sums['values']} values, {time.monotonic() - begun:.0f} s", flush=True)
        self._end(done, time.monotonic() - begun)
        print(f"{done - failed} passed, {failed} failed")
        return 1 if failed else 0

    def _faults(self, number: int) -> list[str]:
        """What differs in a tree, asked again in a process of its own before it counts."""
        one = tree(f"{self.asked.seed}-{number}", self.asked.hosts, self.asked.ask, self.asked.run)
        environment = environment_of(one, self.home / "tree")
        found, faults = self._compared(number, one, self.peer, environment)
        if faults:
            own = Peer(self.venv, self.home, environment)
            one = tree(f"{self.asked.seed}-{number}", self.asked.hosts, self.asked.ask, self.asked.run)
            found, faults = self._compared(number, one, own, {})
            own.close()
            self.used["asked again in a process of its own"] += 1
        self.used.update(one.used.keys())
        for what in ("values", "lines", "unknown", "printed"):
            self.sums[what] += getattr(found, what)
        return faults

    def _compared(
        self, number: int, one: Tree, peer: Peer, environment: dict[str, str]
    ) -> tuple[Comparison, list[str]]:
        folder = self.home / "tree"
        written(folder, one)
        theirs = peer.ask({**question_of(one, folder), "environment": environment})
        by_environment = number % 2 == 0
        if not by_environment:
            (folder / "ansible.cfg").write_text("\n".join(_config(one)), encoding="utf-8")
        found = Comparison(folder, one, theirs, by_environment=by_environment)
        return found, list(found.faults())

    def _end(self, done: int, seconds: float) -> None:
        self.peer.close()
        for what, count in sorted(self.used.items()):
            print(f"{count:6}  {what}")
        sums = self.sums
        counts = f"{sums['values']} values, {sums['lines']} origins, {sums['printed']} prints in {done} trees"
        print(f"ansible-core {self.peer.version}: {counts}; {sums['unknown']} set by tasks; {seconds:.0f} s")


def _config(made: Tree) -> Iterable[str]:
    yield "[defaults]"
    yield from (f"{key} = {text}" for key, text in made.settings.items() if key != "enable_plugins")
    if made.facts:
        yield from ("fact_caching = jsonfile", "fact_caching_connection = facts")
    if "enable_plugins" in made.settings:
        yield from ("[inventory]", f"enable_plugins = {made.settings['enable_plugins']}")
    yield ""


if __name__ == "__main__":
    sys.exit(main())
