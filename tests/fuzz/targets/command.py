"""Command lines, grown from the parser of each command, with a store, a repository and a few files to name."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import shlex
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nodeattrs.cli import main, program
from nodeattrs.cli.complete import answers
from nodeattrs.errors import NodeattrsError
from nodeattrs.store import Saved, open_store
from tests.fuzz.mutation import mutated
from tests.fuzz.target import Refused, Target
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_NOT_UNDERSTOOD = 2

_OF_METAVAR = {
    "NODE": ("web1", "web1", "web1", "web1@1", "web1@2030-01-01", "web2", "../x", "", "web1@x", "é"),
    "PATH": ("a.b", "a", "a.l.0", '"x.y".z', "(root)", "a..b", "", "a. b", "runcmd.0", "a.9", "٣"),
    "QUERY": ("*:*", "a_b:1", "a.b>0", "name:web* AND NOT x:y", 'a.b~"^1"', "(", ""),
    "VALUE": ("1", "[1, 2]", '{"a": 1}', "gold", "null", "1e400", "99999999999999999999", '"x"', "NaN", ""),
    "N": ("1", "0", "-1", "3", "99999999999999999999", "٣", "x"),
    "WHEN": (
        "1",
        "2",
        "2030-01-01",
        "2030-01-31T12:00Z",
        "99",
        "-1",
        "x",
        "0001-01-01",
        "9999-12-31T23:59-14:00",
        "9" * 20,
    ),
    "FILE": (
        "a.yaml",
        "b.yaml",
        "facts.json",
        "nodes.jsonl",
        "catalog.json",
        "broken.json",
        "gone",
        ".",
        "odd.mime",
        "q.db",
        "",
    ),
    "KEY": ("k", "k.b", "x", "ssh::port", "", "k.a", "k.'", "/classes", "lookup_options"),
    "RESOURCE": ("File[/a]", "Service[x]", "File", "", "Nowhere[y]", "file[/a]", "Class[a"),
    "PLACE": ("q.db", "q.db", "nodes", "gone.db", "file://q", "sqlite://x", "a.yaml", "", "postgresql://[::1", "tree"),
    "DIR": ("repo", "site", ".", "gone", "a.yaml", ""),
    "NAME": ("web1", "production", "prod", "x", "", "../y", "all"),
    "ITEMS": ("recipe[app]", "role[web],recipe[app::db]", "role[", "", "recipe[gone]", "app@1.0"),
    "DEFINITION": ("append", "list(append)", "list(", "deep", "", "dict(recurse_list)+list(append)"),
    "TYPE": ("Integer", "Array[String]", "", "Integer[", "class a", "Variant[x]"),
    "STRATEGY": ("deep", "hash", "unique", "first", "x", ""),
    "PREFIX": ("--", "", "ssh", "x["),
    "LIMIT=N": (
        "steps=5",
        "values=10",
        "bytes=1",
        "depth=2",
        "depth=501",
        "seconds=0.1",
        "seconds=0",
        "x=1",
        "steps",
        "=",
        "",
    ),
    "1..15": ("1", "15", "16", "x"),
    "POLICY": ("helm", "compose", "inside", "hiera-deep", "netplan", "x", "p.toml", "gone.toml", ""),
    "BASE..HEAD": ("repo", "repo", "HEAD", "HEAD~1..HEAD", "x...y", "tree", "..", "", "-x"),
    "FOLDER": ("tree", "repo", "site", "gone", "a.yaml", ""),
    "REVISION": ("HEAD", "", "-x", "é"),
    "WHAT": ("roles/web.json", "roles/web.json:1", "role[web]", "recipe[app]", "c", "gone", "a:0", ""),
    "PATH=VALUE": ("a.b=1", "a=[1]", "=1", "a", "a..b=1", "k=x", "a.0=1", "a=NaN"),
}
_OF_METAVAR |= {
    "OTHER": _OF_METAVAR["NODE"], "A": _OF_METAVAR["RESOURCE"], "B": _OF_METAVAR["RESOURCE"],
    "TIME": _OF_METAVAR["WHEN"],
    "[NAME=]PATH": (*_OF_METAVAR["PATH"], "x=a.b", "=a", "x="), "PATH|WHICH": (*_OF_METAVAR["PATH"], "1", "2030-01-01"),
    "TEXT": _OF_METAVAR["VALUE"],
}  # fmt: skip
"""What arguments are called in the help -> words for them."""
_GIVEN = {"facts": "facts.json", "store": "q.db", "hiera": "tree", "site": "site", "source": "catalog.json"}
"""Arguments that a command is given more often than not: without them it looks around here."""
_STAYS = {"fleet", "apply", "lsp", "mcp", "web", "install"}
"""Commands that change this machine, start processes, or serve until somebody leaves."""
_NEVER = {"apply", "install", "jobs", "help", "report", "backups", "root"}
"""Options that change this machine, start processes, or write where they are told."""


@lru_cache(maxsize=1)
def _leaves() -> dict[tuple[str, ...], argparse.ArgumentParser]:
    """Every command and action with its parser, but those of `_STAYS`."""
    found: dict[tuple[str, ...], argparse.ArgumentParser] = {}
    ahead: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = [((), program.parser())]
    while ahead:
        name, parser = ahead.pop()
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        ahead += [((*name, word), one) for action in below for word, one in action.choices.items()]
        if not below and not _STAYS.intersection(name):
            found[name] = parser
    return dict(sorted(found.items()))


def _line(chance: random.Random) -> str:
    """A command with all its arguments and some of its options, as the parser has them."""
    leaves = _leaves()
    name = chance.choice(list(leaves))
    words = list(name)
    for action in leaves[name]._actions:
        if action.dest in _NEVER:
            continue
        if not action.option_strings:
            count = chance.randrange(2) if action.nargs == "?" else chance.choice((1, 2)) if action.nargs == "+" else 1
            words += [_value(action, chance) for _ in range(count)]
        elif action.dest in _GIVEN and chance.random() < 0.9:
            words += [action.option_strings[0], _GIVEN[action.dest]]
        elif chance.random() < 0.1:
            words += [chance.choice(action.option_strings), *([_value(action, chance)] if action.nargs != 0 else [])]
    return shlex.join(words)


def _value(action: argparse.Action, chance: random.Random) -> str:
    if action.choices:
        return str(chance.choice(list(action.choices)))
    return chance.choice(_OF_METAVAR.get(str(action.metavar), _OF_METAVAR["VALUE"]))


def _grown(chance: random.Random) -> str:
    line = _line(chance)
    return line if chance.random() < 0.7 else mutated(line, chance, _ODD)


_ODD = (
    "--at",
    "=",
    "''",
    "@",
    "-1",
    "--format=json",
    "'\x1b[31m'",
    "..",
    "--store=",
    "'",
    '"',
    "\\",
    "é",
    "--node=",
    "--limit",
)
_FILES = {
    "a.yaml": "#cloud-config\nmerge_how: list(append)+dict()\nruncmd: [a]\n",
    "b.yaml": "#cloud-config\nruncmd: [b]\na: {b: 1}\n",
    "facts.json": '{"platform": "ubuntu", "fqdn": "web1.example", "a": {"b": 1}}',
    "nodes.jsonl": '{"name": "web3", "chef_environment": "_default", "normal": {"a": 1}, "run_list": []}\n',
    "catalog.json": '{"resources": [{"type": "File", "title": "/a"},'
    '{"type": "Service", "title": "x", "require": ["File[/a]"]}]}',
    "broken.json": '{"a": [1,',
    "p.toml": 'policy = "helm"\n[merge]\na = "append"\n',
    "odd.mime": 'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/cloud-config\n\na: 1\n--b--\n',
    "tree/hiera.yaml": "version: 5\nhierarchy:\n- name: c\n  path: c.yaml\n",
    "tree/data/c.yaml": "k: {a: 1, b: \"%{lookup('x')}\"}\nx: y\n",
    "site/bindings/default.pp": "bindings default { bind 'ssh::port' to 22 bind Integer 'x' to 1 }\n",
    "repo/roles/web.json": '{"name": "web", "default_attributes": {"a": {"b": 2}}, "run_list": ["recipe[app]"]}',
    "repo/cookbooks/app/recipes/default.py": "node.normal['x'] = node['a']\n",
    "repo/cookbooks/app/attributes/default.py": "default['a']['l'] = [1, 2]\n",
    "repo/nodes/web1.json": '{"name": "web1", "run_list": ["role[web]"]}',
}


@lru_cache(maxsize=1)
def _made(folder: Path) -> Path:
    """A folder with all that command lines name; each input has a copy."""
    for name, text in _FILES.items():
        written(f"{folder}/{name}", text)
    store = open_store(str(folder / "q.db"))
    for number in (1, 2):
        normal = {"a": {"b": number, "l": [number, "x"]}, "x.y": {"z": None}}
        store.save(Saved("web1", {"name": "web1", "chef_environment": "_default", "normal": normal}, None))
    store.close()
    return folder


@contextlib.contextmanager
def _desk() -> Any:
    """A fresh folder to stand in, and nobody to hear what is said."""
    here, there = Path.cwd(), Path("desk").absolute()
    made = _made(here / "made")
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(made, there)
    with contextlib.chdir(there), contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        yield out


def _raised(error: Exception, *_: object) -> int:
    """What the program makes a sentence of; a fault of ours is raised as it is."""
    if isinstance(error, NodeattrsError | OSError):
        str(error)
        return 1
    raise error


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _run(text: str) -> None:
    words = _words(text)
    if _NEVER & {word.lstrip("-").partition("=")[0] for word in words} - {"help"} or "fleet" in words:
        raise Refused("not for chance")
    with _desk() as out, patch.object(program, "_failed", _raised):
        code = main(words)
    assert 0 <= code <= 5, f"exit code {code}"
    assert "Traceback" not in out.getvalue() or "--traceback" in words, out.getvalue()
    if code == _NOT_UNDERSTOOD:
        raise Refused("not understood")


def _completed(text: str) -> list[str]:
    with _desk():
        return answers(_words(text), program.parser)


TARGETS = (
    Target("command-line", _grown, _run),
    Target("completion", _grown, _completed),
)
