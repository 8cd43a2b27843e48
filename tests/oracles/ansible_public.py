"""python -m tests.oracles.ansible_public FOLDER -i SOURCE [--playbook FILE...] [--ask N] [--venv DIR]

Asks the real ansible-core and us about a repository as it is, with its own ansible.cfg: what ansible-inventory prints
for it in all forms, byte for byte, and with playbooks every variable of some hosts in every task, as it is compiled.
Where Ansible wants a password, or a role from elsewhere, a sentence says so. Prints `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.ansible import MAGIC, AnsibleError, Inventory, Playbook, graph, printed_inventory
from nodeattrs.errors import BadValue
from tests.oracles.ansible import Peer, plain

_FORMS = ("--list", "--list --export", "--list -y", "--list --toml", "--graph", "--graph --vars")


def _printed(inventory: Inventory, words: list[str]) -> str:
    if "--graph" in words:
        return graph(inventory, with_variables="--vars" in words)
    form = "yaml" if "-y" in words else "toml" if "--toml" in words else "json"
    try:
        return printed_inventory(inventory, form, export="--export" in words)
    except BadValue as error:
        return f"TypeError: {error}"


def _prints(peer: Peer, asked: argparse.Namespace, folder: Path) -> Iterator[str | None]:
    question = {"folder": str(folder), "sources": asked.inventory, "extra": [], "hosts": ["no such host"]}
    theirs = peer.ask({**question, "printed": [one.split() for one in _FORMS]})
    for form, wanted in zip(_FORMS, theirs.get("printed", ()), strict=False):
        got = _printed(Inventory(*asked.inventory, folder=folder), form.split())
        refused = wanted.split(":")[0] in ("TypeError", "AnsibleVaultError", "AnsibleError", "AnsibleParserError")
        if refused:
            print(f"  {form}: Ansible refuses: {wanted[:100]}")
        yield None if got == wanted or refused else f"{form} differs"


def _contexts(peer: Peer, asked: argparse.Namespace, folder: Path, playbook: str) -> Iterator[str | None]:
    inventory = Inventory(*asked.inventory, folder=folder, environment={})
    hosts = list(inventory.hosts)[:: max(len(inventory.hosts) // asked.ask, 1)][: asked.ask]
    question = {"folder": str(folder), "sources": asked.inventory, "extra": [], "hosts": hosts, "printed": []}
    theirs = _with_stubs(peer, {**question, "playbook": playbook, "magic": sorted(MAGIC)})
    if "error" in theirs:
        print(f"  {playbook}: Ansible refuses: {theirs['error'][:160]}")
        return
    try:
        ours = Playbook(inventory, playbook)
    except AnsibleError as error:
        yield f"{playbook}: we refuse: {error}"
        return
    values = unknown = 0
    for host, entries in theirs["hosts"].items():
        left = [(task.name, task) for task in ours.tasks(host)]
        for name, expected, _ in entries:
            at = next((index for index, (its, _) in enumerate(left) if its == name), None)
            if at is None:
                continue  # a task that a condition, or a name that only a run knows, keeps from us
            answer = ours.within(left[at][1], host)
            left = left[at + 1 :]
            got = {str(key): plain(value) for key, value in answer.vars.items() if str(key) not in MAGIC}
            for key in got.keys() | {key for key in expected if not key.startswith("_ansible")}:
                wanted = expected.get(key, ["nothing"])[0]
                if json.dumps(got.get(key, "nothing"), sort_keys=True) == json.dumps(wanted, sort_keys=True):
                    values += 1
                elif answer.trace((key,)).unknown:
                    unknown += 1
                else:
                    yield f"{playbook}: {host} in {name!r}: {key} is {wanted!r} there and {got.get(key)!r} here"
    print(f"  {playbook}: {values} values of {len(theirs['hosts'])} hosts, {unknown} that a run may set")
    yield None


def _with_stubs(peer: Peer, question: dict[str, Any]) -> dict[str, Any]:
    """What Ansible has, with an empty module for each that it does not find: no task runs."""
    for _ in range(200):
        theirs = peer.ask(question)
        missing = re.search(r"couldn't resolve module/action '([\w.]+)'", theirs.get("error", ""))
        if missing is None:
            return theirs
        *collection, name = missing[1].split(".")
        home = peer.home / "collections" / "ansible_collections" / "/".join(collection[:2]) / "plugins" / "modules"
        file = (home if len(collection) > 1 else peer.home / "library") / f"{name}.py"
        if file.exists():
            return theirs
        is_new = not file.parent.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# nothing\n", encoding="utf-8")
        if is_new:  # which collections there are is remembered
            peer.restart()
    return theirs


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ansible_public")
    parser.add_argument("folder", type=Path)
    parser.add_argument("-i", "--inventory", action="append", default=[])
    parser.add_argument("--playbook", action="append", default=[])
    parser.add_argument("--ask", type=int, default=4, help="how many hosts of each playbook (default: 4)")
    parser.add_argument("--venv", default=os.environ.get("ANSIBLE_VENV", ""), help="with ansible-core in it")
    asked = parser.parse_args(arguments)
    folder = asked.folder.resolve()
    config = folder / "ansible.cfg"
    with tempfile.TemporaryDirectory() as home:
        environment = {"ANSIBLE_CONFIG": str(config)} if config.is_file() else {}
        environment["ANSIBLE_LIBRARY"] = f"{home}/library"
        environment["ANSIBLE_COLLECTIONS_PATH"] = f"{home}/collections"
        peer = Peer(Path(asked.venv), Path(home), environment)
        print(folder.name, *asked.inventory)
        found = list(_prints(peer, asked, folder))
        for playbook in asked.playbook:
            found += _contexts(peer, asked, folder, playbook)
        peer.close()
    faults = [one for one in found if one is not None]
    for fault in faults[:20]:
        print(f"  {fault[:300]}")
    print(f"{len(found) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
