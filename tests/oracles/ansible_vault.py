"""python -m tests.oracles.ansible_vault [--count N] [--seed S] [--venv DIR]

Random values that the real ansible-vault encrypts: whole files and inline texts, formats 1.1 and 1.2, several passwords
and vault ids. What Ansible has for each host with the passwords is what we have, every value a secret; with the wrong
ones we say so where Ansible does. Prints `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from nodeattrs import Sensitive
from nodeattrs.ansible import AnsibleError, Inventory

_LETTERS = "abc \n\t'\"{}:#éß漢\\$%!|>-1"
_PASSWORDS = {"default": "first", "dev": " second word ", "prod": "dritte ß"}
_PLAY = """- hosts: all
  gather_facts: false
  connection: local
  tasks: [{copy: {content: "{{ asked | to_json }}", dest: "{{ playbook_dir }}/answers/{{ inventory_hostname }}"}}]
"""


def _text(chance: random.Random) -> str:
    return "".join(chance.choices(_LETTERS, k=chance.choice((0, 1, 7, 15, 16, 17, 200)))).replace("{{", "{")


def _value(chance: random.Random, depth: int = 0) -> Any:
    share = chance.random()
    if depth < 2 and share < 0.3:
        return {f"k{number}": _value(chance, depth + 1) for number in range(chance.randrange(1, 4))}
    if depth < 2 and share < 0.45:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(1, 4))]
    return chance.choice((_text(chance), _text(chance), chance.randrange(1000), True, None, 1.5))


class _Tree:
    """A tree of hosts, each with a file that is encrypted as a whole, and with texts that are where they stand."""

    def __init__(self, folder: Path, chance: random.Random, count: int, venv: Path) -> None:
        self.folder, self.chance, self.venv = folder, chance, venv
        self.hosts = [f"h{number}" for number in range(count)]
        self.values: dict[str, dict[str, Any]] = {}

    def write(self) -> None:
        """Encrypt with the real program, each id in one call."""
        for name in ("host_vars", "texts", "answers", "passwords"):
            (self.folder / name).mkdir()
        for identity, password in _PASSWORDS.items():
            (self.folder / "passwords" / identity).write_text(password + "\n", encoding="utf-8")
        (self.folder / "hosts").write_text("\n".join(self.hosts), encoding="utf-8")
        whole: dict[str, list[str]] = {one: [] for one in _PASSWORDS}
        for host in self.hosts:
            own = {"whole": _value(self.chance), "inline": _text(self.chance)}
            self.values[host] = own
            (self.folder / "host_vars" / host).mkdir()
            secret, text = f"host_vars/{host}/secret.yml", f"texts/{host}"
            (self.folder / secret).write_text(yaml.safe_dump({"whole": own["whole"]}), encoding="utf-8")
            (self.folder / text).write_bytes(own["inline"].encode())
            whole[self.chance.choice(list(_PASSWORDS))] += [secret, text]
        for identity, files in whole.items():
            how = ["--encrypt-vault-id", identity] if identity != "default" else ["--encrypt-vault-id", "default"]
            self._run("ansible-vault", "encrypt", *self.passwords(), *how, *files)
        for host in self.hosts:
            cipher = (self.folder / "texts" / host).read_text(encoding="utf-8")
            lines = "".join(f"    {line}\n" for line in cipher.splitlines())
            file = self.folder / "host_vars" / host / "plain.yml"
            file.write_text(
                f"inline: !vault |\n{lines}asked: {{inline: '{{{{ inline }}}}', whole: '{{{{ whole }}}}'}}\n",
                encoding="utf-8",
            )
        (self.folder / "site.yml").write_text(_PLAY, encoding="utf-8")

    def passwords(self) -> list[str]:
        """The options that name them."""
        return [word for one in _PASSWORDS for word in ("--vault-id", f"{one}@passwords/{one}")]

    def answers(self) -> dict[str, Any]:
        """What Ansible has."""
        python = f"ansible_python_interpreter={sys.executable}"
        self._run("ansible-playbook", "-i", "hosts", "-e", python, *self.passwords(), "site.yml")
        return {host: json.loads((self.folder / "answers" / host).read_text()) for host in self.hosts}

    def _run(self, program: str, *words: str) -> None:
        bare = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "ANSIBLE_FORKS": "2"}
        done = subprocess.run([self.venv / "bin" / program, *words], cwd=self.folder, env=bare, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stdout.decode() + done.stderr.decode())


def _clear(value: Any) -> Any:
    """A value whose leaves are secrets, in clear."""
    if isinstance(value, dict):
        return {key: _clear(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_clear(entry) for entry in value]
    return value.unwrap() if isinstance(value, Sensitive) else "no secret"


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ansible_vault")
    parser.add_argument("--count", type=int, default=20, help="how many hosts (default: 20)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--venv", default=os.environ.get("ANSIBLE_VENV", ""), help="with ansible-core in it")
    asked = parser.parse_args(arguments)
    if not (Path(asked.venv or "nowhere") / "bin" / "ansible-vault").is_file():
        print("ansible-vault: no environment with ansible-core is named (--venv, ANSIBLE_VENV): nothing was compared")
        print("0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as name:
        tree = _Tree(Path(name).resolve(), random.Random(asked.seed), asked.count, Path(asked.venv).resolve())
        tree.write()
        faults = list(_compared(tree))
    for fault in faults:
        print(fault)
    print(f"{2 * asked.count + len(_PASSWORDS) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


def _compared(tree: _Tree) -> Any:
    theirs = tree.answers()
    given = [f"{one}@passwords/{one}" for one in reversed(_PASSWORDS)]
    inventory = Inventory("hosts", folder=tree.folder, vault_passwords=given)
    for host, expected in theirs.items():
        got = inventory.host(host).vars
        for name, value in expected.items():
            if _clear(got[name]) != value or value != tree.values[host][name]:
                yield f"{host}: {name} is {value!r} there and {_clear(got[name])!r} here"
    for wrong in _PASSWORDS:  # each opens its own vaults, and no others
        left = Inventory("hosts", folder=tree.folder, vault_passwords=[f"passwords/{wrong}"], lenient=True)
        opened = {host for host in tree.hosts if isinstance(left.host(host).vars["inline"], Sensitive)}
        whole = {host for host in tree.hosts if "whole" in left.host(host).vars}
        files = {warning.file for warning in left.warnings if isinstance(warning, AnsibleError)}
        closed = set(tree.hosts) - opened
        if opened != whole or not all(f"host_vars/{host}/secret.yml" in files for host in closed):
            yield f"{wrong}: opens {opened} and {whole}, and warns of {files}"


if __name__ == "__main__":
    sys.exit(main())
