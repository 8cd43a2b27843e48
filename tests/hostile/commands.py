"""The command lines: a row for each command that runs no code of a repository. It starts nothing."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from nodeattrs.cli.program import parser
from tests.hostile.draw import Draw
from tests.hostile.entries import Tree

__all__ = ["NOT_DRAWN", "ROWS", "Command", "Row", "filled", "leaves", "order", "schedule"]


@dataclass(frozen=True)
class Row:
    """What is drawn for a command.

    lines:    the words after its name; `{kind}` is a place or a name of that kind, as `_NAMES` and `Tree.named` have it
    dialects: what the tree has in any case
    git:      whether the tree has its commits in any case
    weight:   how often it is drawn, of the others' one
    talk:     how it is spoken to, if its answers are not all that it prints: "lsp", "mcp" or "web"
    plain:    nothing is added to the lines
    may_run:  files of the repository that the command runs by its definition
    """

    lines: tuple[str, ...]
    dialects: tuple[str, ...] = ()
    git: bool = False
    weight: int = 1
    talk: str = ""
    plain: bool = False
    may_run: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """A command line, and how its program is spoken to. asked: for "mcp" the tool and its arguments"""

    words: tuple[str, ...]
    talk: str = ""
    asked: tuple[str, str] = ("check", "{}")
    may_run: tuple[str, ...] = ()


NOT_DRAWN = {
    "run": "runs code",
    "fleet": "runs code",
    "shell": "runs code",
    "catalog apply": "changes the machine",
    "trust": "says that a repository is no stranger",
}
"""Commands without a row, and why."""

_HIERA = (
    " --hiera {hiera} --node web1 --facts {facts}",
    " --hiera {hiera} --node {node} --facts {facts} --set place=x",
    " --puppet-conf {puppet} --node web1",
    " --hiera .",
)
_ANSIBLE = (" -i {inventory}", "", " -i {inventory} --lenient", " -i {inventory} --facts facts")
_TASK = (*_ANSIBLE, " -i {inventory} --playbook {playbook}", " -i {inventory} --playbook {playbook} --task restart")
_SITE = (" --site . --node web1 --facts {facts}", " --site . --facts {facts} -E production")
_FROM = (" --from {catalog}", " --puppet {compiled}", " --puppet {compiled} --modulepath modules")
_WHAT_IF = (
    "",
    " --jobs 1",
    " --facts facts",
    " --facts facts --jobs 1",
    " --dialect {dialect}",
    " --hiera . --facts facts",
    " --inventory {inventory}",
)


def _each(start: str, *ends: str) -> tuple[str, ...]:
    return tuple(f"{start}{end}".strip() for end in ends)


ROWS: dict[str, Row] = {
    "show": Row(("{node} --store {store}", "{node} {key} --store {store}", "{node}"), ("store",)),
    "explain": Row(
        (
            "web1 k --git --repo {repo} --roles-only --platform debian-12",
            "web1 a --git --repo . --roles-only --facts facts",
            "{node} {key} --store {store}",
        ),
        ("chef", "git"),
        git=True,
        weight=3,
        may_run=("evil.py", "roles/base.py", "environments/staging.py"),  # what --repo asks for
    ),
    "facts": Row(("--facts {facts}", "--facts {facts} {key}", "--platform debian-12", "--platform x-1"), ("chef",)),
    "list": Row(_each("{things} --repo {repo}", "", " --store {store}"), ("chef", "store")),
    "role show": Row(("{role-name} --repo {repo}", "{role-name} {key} --repo {repo}"), ("chef",)),
    "environment show": Row(("{environment-name} --repo {repo}",), ("chef",)),
    "hiera lookup": Row(_each("{key}", *_HIERA, f"{_HIERA[0]} --decrypt", f"{_HIERA[0]} --merge deep"), ("hiera",)),
    "hiera explain": Row(_each("{key}", *_HIERA), ("hiera",)),
    "hiera list": Row(_each("", *_HIERA, f"{_HIERA[0]} --decrypt"), ("hiera",)),
    "hiera diff": Row(("web1 web2 --hiera {hiera}", "web1 --hiera {hiera} --against-tree other"), ("hiera",)),
    "hiera who-has": Row(("{key} --hiera {hiera}", "{key} --puppet-conf {puppet}"), ("hiera",)),
    "hiera unused": Row(_each("", *_HIERA), ("hiera",)),
    "hiera matrix": Row(("{key} --hiera {hiera} --node web1 --node web2 --facts facts",), ("hiera",)),
    "hiera ready-for-8": Row(_each("", *_HIERA), ("hiera",)),
    "hiera variables": Row(_each("", *_HIERA), ("hiera",)),
    "ansible vars": Row(
        _each("{node}", *_TASK, f"{_TASK[0]} --render", f"{_TASK[-1]} --render"), ("ansible",), weight=2
    ),
    "ansible list": Row(
        _each("", *_ANSIBLE, " -i {inventory} --export", " -i {inventory} --yaml"), ("ansible",), plain=True
    ),
    "ansible graph": Row(_each("", *_ANSIBLE, " -i {inventory} --vars"), ("ansible",)),
    "ansible explain": Row(_each("{node} {key}", *_TASK, f"{_TASK[0]} --render"), ("ansible",)),
    "ansible who-has": Row(_each("{key}", *_ANSIBLE), ("ansible",)),
    "ansible matrix": Row(_each("{key}", *_ANSIBLE), ("ansible",)),
    "ansible diff": Row(_each("web1 web2", *_TASK), ("ansible",)),
    "ansible config": Row(("", "--environ"), ("ansible",)),
    "ansible save": Row(_each("--store new.db", *_ANSIBLE), ("ansible",)),
    "ansible inventory": Row(
        ("--list --store {store}", "--host {node} --store {store}", "--list --prefix x"), ("store",)
    ),
    "bindings check": Row(_each("", *_SITE), ("bindings",)),
    "bindings inject": Row(_each("{key}", *_SITE), ("bindings",)),
    "bindings explain": Row(_each("{key}", *_SITE), ("bindings",)),
    "bindings list": Row(_each("", *_SITE), ("bindings",)),
    "bindings graph": Row(_each("", *_SITE), ("bindings",)),
    "bindings matrix": Row(_each("{key}", *_SITE), ("bindings",)),
    "catalog check": Row(_each("", *_FROM), ("catalog",)),
    "catalog list": Row(_each("", *_FROM, f"{_FROM[0]} --read-path {{key}}"), ("catalog",)),
    "catalog order": Row(_each("", *_FROM, f"{_FROM[0]} --shuffle 3"), ("catalog",)),
    "catalog graph": Row(_each("", *_FROM, f"{_FROM[0]} --as mermaid"), ("catalog",)),
    "catalog why": Row(_each("File[/etc/x] Service[x]", *_FROM), ("catalog",)),
    "catalog explain": Row(_each("{resource}", *_FROM), ("catalog",)),
    "catalog impact": Row(_each("{resource}", *_FROM), ("catalog",)),
    "catalog diff": Row(("{catalog} catalogs/web2.json", "{compiled} {compiled} --compiled"), ("catalog",)),
    "cloud-config merge": Row(
        ("{user-data} {user-data}", "{user-data} --include-root .", "{user-data} --instance-data {instance}"),
        ("cloud",),
    ),
    "cloud-config explain": Row(
        (
            "{user-data} {user-data} --because",
            "{user-data} --path {key} --vendor {vendor}",
            "{user-data} --instance-data {instance} --confd cloud/cloud.cfg.d --because",
        ),
        ("cloud",),
    ),
    "cloud-config check": Row(
        ("{user-data} {user-data}", "{user-data} --include-root cloud", "{user-data} --vendor {vendor}"), ("cloud",)
    ),
    "cloud-config pack": Row(("{user-data} {user-data}", "{user-data} --include-root ."), ("cloud",), plain=True),
    "fold": Row(
        (
            "{fold} {fold}",
            "{fold} {fold} --blame",
            "fold --origins",
            "--name shop",
            "--name outer",
            "--name outer --blame",
            "{env} --syntax env",
            "{fold} --explain {key}",
        ),
        ("fold", "settings"),
        weight=2,
    ),
    "history": Row(("{node} --store {store}", "{node}"), ("store",)),
    "diff": Row(("web1 web2 --store {store}", "web1@1 --store {store}"), ("store",)),
    "matrix": Row(("{key} --store {store}", "{key} --query {query} --store {store}"), ("store",)),
    "search": Row(("{query} --store {store}", "{query} -a {key} --store {store}", "{query}"), ("store",)),
    "report": Row(
        ("{node} --store {store} --output {output}", "web1 web2 --repo {repo} --output {output}"), ("store", "chef")
    ),
    "web": Row(
        ("--port 0 --repo {repo} --store {store}", "--port 0"),
        ("store", "chef", "settings"),
        git=True,
        talk="web",
        plain=True,
    ),
    "status": Row(("--store {store}", ""), ("store",)),
    "node": Row(
        (
            "set {node} {key} 5 --store {store}",
            "rm {node} {key} --store {store}",
            "restore web1 1 --store {store}",
            "delete web2",
        ),
        ("store",),
    ),
    "store": Row(
        (
            "check --store {store}",
            "prune --keep 1 --store {store}",
            "export --store {store}",
            "export --snapshots --store {store}",
            "export --to saved --history --store {store}",
            "import {export} --store {store}",
            "import {export} --store new.db",
            "copy --store {store} --to copy.db",
        ),
        ("store",),
    ),
    "impact": Row(
        _each("base..HEAD --no-run-code", *_WHAT_IF)
        + _each("HEAD --no-run-code", *_WHAT_IF)
        + ("other . --no-run-code",),
        ("chef", "hiera", "fold", "ansible", "settings", "git"),
        git=True,
        weight=5,
    ),
    "what-if": Row(
        (*_each("--set k=5 --no-run-code", *_WHAT_IF), "HEAD --without roles/web.json --no-run-code --jobs 1"),
        ("chef", "hiera"),
        git=True,
        weight=2,
    ),
    "why": Row(
        ("k", "k --on n1", "k --dialect hiera", "a.b --dialect ansible"), ("chef", "hiera", "fold", "ansible"), git=True
    ),
    "where": Row(("roles/web.json", "roles/web.json:1", "--key k", "data/common.yaml"), ("chef", "hiera"), git=True),
    "overview": Row(("",), ("chef", "hiera", "fold", "ansible"), git=True),
    "blame": Row(("", "n1", "--dialect folds", "--dialect ansible"), ("chef", "hiera", "fold", "ansible"), git=True),
    "check": Row(
        ("", "{repo}", "--repo .", ". --fix", ". --diff", ". --baseline {baseline}"),
        ("chef", "settings"),
        git=True,
        weight=4,
    ),
    "lsp": Row(
        ("--repo {repo}", "", "--inventory {inventory}"), ("chef", "settings"), git=True, talk="lsp", plain=True
    ),
    "mcp": Row(
        ("--repo {repo} --store {store}", "--repo ."),
        ("store", "chef", "settings", "files"),
        git=True,
        talk="mcp",
        plain=True,
    ),
    "codes": Row(("", "NA0002", "yaml"), ()),
    "config": Row(("", "--repo {repo}", "--store {store}"), ("settings", "fold", "store")),
    "schema": Row(("", "explain"), (), plain=True),
    "completion": Row(("bash", "zsh", "fish"), (), plain=True),
    "complete": Row(
        ("explain ", "show web1 a", "hiera lookup --hiera . ", "explain --repo {repo} {node} ", "run --node "),
        ("store", "hiera"),
        weight=2,
        plain=True,
    ),
    "--version": Row(("", "-v"), (), plain=True),
}
"""Command -> its row. The last two are in no help: shells ask the first."""

_NAMES: dict[str, tuple[str, ...]] = {
    "node": (*["web1"] * 5, "web2", "web2", "../../outer/folder/web1", "nowhere"),
    "repo": (".", ".", "."),
    "store": ("saved.db", "saved.db", "saved/", ".nodeattrs/nodes.db"),
    "hiera": (".", "hiera.yaml"),
    "facts": ("facts/web1.json", "facts"),
    "puppet": ("puppet", "puppet/puppet.conf"),
    "inventory": ("hosts.ini",),
    "role-name": ("web", "web", "db", "base", "ruby", "more", "../../outer/roles/web"),
    "environment-name": ("production", "production", "staging", "_default", "../roles/web"),
    "things": ("nodes", "roles", "environments", "cookbooks", "policies", "data-bags", "fields"),
    "resource": ("File[/etc/x]", "Service[x]", "File[/a]"),
    "dialect": ("nodes", "hiera", "ansible", "bindings", "folds", "cloud-init", "catalogs"),
    "query": ("k:*", "role:web", "app.workers>=4", "k~(a+)+$"),
    "output": ("report.html", "new.html"),
    "baseline": ("baseline.json",),
    "other": ("other",),
}
"""Kind -> names that a command is given, beside the places that a tree names."""

_NEVER = ("--run-code", "--ruby", "--traceback", "--install", "--help", "--apply", "--git", "--options", "--policies")
_TOOLS = (
    ("explain", {"node": "web1", "path": "k"}),
    ("search", {"query": "k:*"}),
    ("diff", {"before": "web1"}),
    ("impact", {"change": "HEAD"}),
    ("impact", {"change": "base..HEAD"}),
    ("check", {}),
)


@cache
def leaves() -> dict[str, argparse.ArgumentParser]:
    """Every command, an action with its command before it -> its parser."""
    return dict(_leaves(parser(), ""))


def _leaves(one: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    inner = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for word, below in action.choices.items():
            yield from _leaves(below, f"{name} {word}".strip())
    if not inner:
        yield name, one


def schedule(only: str = "") -> list[str]:
    """Commands in the order in which seeds get them, each as often as its weight. only: those whose name begins so"""
    names = [name for name, row in ROWS.items() for _ in range(row.weight) if name.startswith(only)]
    random.Random(0).shuffle(names)
    return names


def order(name: str, chance: random.Random, tree: Tree) -> Command:
    """A command line for a tree."""
    row = ROWS[name]
    draw = Draw(chance, tree)
    line = chance.choice(row.lines)
    words = [*name.split(), *filled(line, draw)]
    if not row.plain and name in leaves():
        words += _more(leaves()[name], words, chance)
    tool, given = chance.choice(_TOOLS)
    return Command(tuple(words), row.talk, (tool, json.dumps(given)), row.may_run)


def filled(line: str, draw: Draw) -> list[str]:
    """The words of a line of a row, each `{kind}` with a name; after a space at its end comes an empty word."""
    return [_filled(word, draw) for word in line.split(" ")] if line else []


def _filled(word: str, draw: Draw) -> str:
    if not word.startswith("{"):
        return word
    kind = word[1:-1]
    if kind == "key":
        return draw.key()
    names = [*_NAMES.get(kind, ()), *draw.tree.paths(kind)]
    if kind == "repo":
        names += [path.rpartition("/")[0] for path in draw.tree.paths("bare")] * 2
    return draw.chance.choice(names or ["nowhere"])


def _more(one: argparse.ArgumentParser, words: list[str], chance: random.Random) -> list[str]:
    """A format and perhaps an option without a value, of those that the command has."""
    found: list[str] = []
    formats = [action.choices for action in one._actions if "--format" in action.option_strings]
    if formats and formats[0] and chance.random() < 0.6:
        found += ["--format", chance.choice(list(formats[0]))]
    flags = [
        action.option_strings[0]
        for action in one._actions
        if action.option_strings and action.nargs == 0 and not {*action.option_strings} & {*_NEVER, *words}
    ]
    if flags and chance.random() < 0.25:
        found.append(chance.choice(flags))
    return found
