"""`nodeattrs ansible`: what a host has in an inventory or in a task, and which file and line set it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.code import held_back
from nodeattrs.core.tree import parse
from nodeattrs.dialects.ansible import saved_inventory, saving
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.codes import NO_FILE, NO_HOST, NOTHING_PARSED
from nodeattrs.dialects.ansible.config import Config, config_of
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.playbook import Playbook
from nodeattrs.dialects.ansible.printing import graph, printed_inventory, printed_variables
from nodeattrs.dialects.ansible.rendering import Rendered
from nodeattrs.dialects.ansible.reports import (
    Groups,
    Settings,
    differences,
    explained_variable,
    layers_of,
    matrix,
    not_evaluated,
    places,
    rendering_of,
    set_variables,
    unread,
)
from nodeattrs.dialects.ansible.writing import as_json_text, as_yaml_text
from nodeattrs.errors import BadUsage
from nodeattrs.project.settings import sensitive_beside
from nodeattrs.reports.compared import Compared
from nodeattrs.reports.screen import printable

_EXITS = {0: "done", 1: "failed", 2: "usage", 5: "unknown layer"}
_MANY: Mapping[str, Any] = {"action": "append", "default": []}
_FLAG: Mapping[str, Any] = {"action": "store_true"}

_HOST = Argument(("host",), "a host of the inventory", {"metavar": "HOST"})
_VARIABLE = Argument(("path",), "a variable, or a path in one: users.0.name", {"metavar": "VAR"})
_LIMIT = Argument(("--hosts", "--limit"), "only hosts that it names, such as web:!web3", {"metavar": "PATTERN"})
_RENDER = Argument(("--render",), "evaluate templates; what cannot be is named", _FLAG)
_INVENTORY = (
    Argument(
        ("-i", "--inventory"),
        "a file, a folder, or a list of hosts such as web1,web2, ; may be repeated (default: that of ansible.cfg)",
        {"metavar": "SOURCE", **_MANY},
        "inventory",
    ),
    Argument(
        ("-e", "--extra-vars"),
        "name=value words, a map in YAML or JSON, or @FILE; may be repeated",
        {"metavar": "VARS", **_MANY},
        "inventory",
    ),
    Argument(
        ("--folder",),
        "ansible.cfg lies there, and files are named from there (default: here)",
        {"metavar": "DIR"},
        "inventory",
    ),
    Argument(
        ("--playbook-dir",),
        "beside it lie the playbook's group_vars and host_vars",
        {"metavar": "DIR"},
        "inventory",
    ),
    Argument(("--facts",), "cached facts, a JSON file for each host", {"metavar": "PLACE"}, "inventory"),
    Argument(
        ("--environ",),
        "let variables such as ANSIBLE_HASH_BEHAVIOUR override ansible.cfg",
        _FLAG,
        "inventory",
    ),
    Argument(
        ("--vault-password-file", "--vault-id"),
        "a file with the password of vaults, or a program that prints it; may be repeated. What it opens is a secret",
        {"metavar": "[ID@]FILE", **_MANY},
        "inventory",
    ),
    Argument(
        ("--run-inventory",),
        "run this script or plugin among the sources, or take FILE as what it prints; may be repeated",
        {"metavar": "SOURCE[=FILE]", **_MANY},
        "inventory",
    ),
    Argument(("--lenient",), "let a broken file cost its own variables only", _FLAG, "inventory"),
)
_TASK = (
    Argument(
        ("--playbook",),
        "a playbook in which the host has a task; may be repeated",
        {"metavar": "FILE", **_MANY},
        "task",
    ),
    Argument(("--play",), "the number of the play, from 1", {"metavar": "N", "type": int}, "task"),
    Argument(("--role",), "the role that the task belongs to", {"metavar": "NAME"}, "task"),
    Argument(("--task",), "the task (default: the last one)", {"metavar": "NAME"}, "task"),
)
_YAML = (("--yaml", "-y"), "YAML instead of JSON", _FLAG, "as Ansible prints it")
_LISTING = (
    Argument(("--keep-groups", "--export"), "variables of groups stay with the groups", _FLAG, "as Ansible prints it"),
    _LIMIT._replace(group="as Ansible prints it"),
    Argument(("--toml",), "TOML instead of JSON", _FLAG, "as Ansible prints it", "form"),
    Argument(*_YAML, "form"),
)


def _inventory(question: Question) -> Inventory:
    """The inventory that the arguments name. Its sources run, if --run-inventory names them."""
    with held_back(False):  # what is run was named, one by one
        return _opened(question.arguments)


def _opened(asked: Mapping[str, Any]) -> Inventory:
    named = [*asked["inventory"], asked["folder"], asked["playbook_dir"], *asked.get("playbook", ())]
    inventory = Inventory(
        *asked["inventory"],
        folder=asked["folder"],
        playbook_dir=asked["playbook_dir"],
        extra_vars=asked["extra_vars"],
        environment=dict(os.environ) if asked["environ"] else None,
        facts=asked["facts"],
        lenient=asked["lenient"],
        run_inventory=asked["run_inventory"],
        vault_passwords=asked["vault_password_file"],
        sensitive_paths=sensitive_beside(asked.get("repo"), *named),
    )
    _require_sources(inventory, asked["inventory"])
    return inventory


def _require_sources(inventory: Inventory, named: Iterable[str]) -> None:
    """Some source is there, where any is named. raises: AnsibleError"""
    if not any(one.kind == NOTHING_PARSED for one in inventory.warnings):
        return
    is_default = not named and inventory.config.inventory == Config().inventory
    absent = [one for one in named or inventory.config.inventory if not (inventory.folder / one).exists()]
    for source in () if is_default else absent:
        file = inventory.files.shown(inventory.folder / source)
        raise AnsibleError(NO_FILE, "this inventory is not there", file=file, hint="-i names a file, a folder, or a,b,")


def known_names(noun: str, asked: Mapping[str, Any]) -> Iterable[str]:
    """The hosts of the inventory; or the variables of the host that is named, else of all hosts.

    noun:   "HOST" or "VAR"
    raises: AnsibleError; UnknownLayer, where a source would have to run
    """
    inventory = _opened(asked)
    if noun == "HOST":
        return inventory.hosts
    hosts = [asked["host"]] if asked.get("host") else inventory.hosts
    return {str(name) for host in hosts for name in inventory.host(host).vars}


def _answer(question: Question, inventory: Inventory, host: str) -> Variables:
    """What a host has: in the inventory, or in the task that the arguments name."""
    asked = question.arguments
    if not asked["playbook"]:
        if asked["task"] or asked["role"] or asked["play"]:
            raise BadUsage("--play, --role and --task need a --playbook")
        return inventory.host(host)
    inventory.found(host)
    playbook = Playbook(inventory, *asked["playbook"])
    met = [
        task
        for task in playbook.tasks(host)
        if asked["play"] in (None, task.where.play.number)
        and asked["role"] in (None, task.where.role and task.where.role.name)
        and asked["task"] in (None, task.name)
    ]
    if not met:
        names = ", ".join(dict.fromkeys(task.name for task in playbook.tasks(host))) or "none"
        unknown = [one for one in unread(playbook.unknown(host)) if not one.paths]
        also = "".join(f"; {one.place}: {one.reason}" for one in unknown)
        raise AnsibleError(NO_HOST, f"{host} meets no such task", hint=f"it meets: {names}{also}")
    usual = [task for task in met if not task.where.is_rescue] or met
    return playbook.within(met[0] if asked["task"] else usual[-1], host)


def _hosts(question: Question, inventory: Inventory) -> list[str]:
    """The hosts that --limit names; all of them without it."""
    limit = question.arguments["hosts"]
    return list(inventory.hosts) if limit is None else inventory.matching(limit)


def _environment(question: Question) -> Mapping[str, str] | None:
    """The environment that templates may see."""
    return os.environ if question.arguments["environ"] else None


def _warned(question: Question, answer: Variables, rendered: Rendered | None) -> int:
    """Name what is not evaluated."""
    if rendered is None or not rendered.left:
        return 0
    question.caller.warn(not_evaluated(answer, rendered))
    return 5


def _config(question: Question) -> Output:
    asked = question.arguments
    folder = Path(asked["folder"] or ".").resolve()
    config = config_of(folder, dict(os.environ) if asked["environ"] else {})
    return Output(Settings(config))


def _vars(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    answer = _answer(question, inventory, asked["host"])
    open_places = unread(answer.unread())
    if asked["origins"]:
        return Output(set_variables(answer), warnings=inventory.warnings, unread=open_places)
    rendered = rendering_of(inventory, answer, _environment(question)).variables() if asked["render"] else None
    found = printed_variables(answer, rendered and rendered.value)
    is_yaml = asked["yaml"] or asked["format"] == "yaml"
    text = as_yaml_text(found) if is_yaml else as_json_text(found, marked=False) + "\n"
    return Output(text, _warned(question, answer, rendered), inventory.warnings, unread=open_places)


def _list(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    form = "yaml" if asked["yaml"] else "toml" if asked["toml"] else "json"
    text = printed_inventory(inventory, form, export=asked["keep_groups"], limit=asked["hosts"])
    open_places = unread(inventory.unread(_hosts(question, inventory)))
    return Output(text, warnings=inventory.warnings, unread=open_places)


def _graph(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    text = graph(inventory, asked["group"], with_variables=asked["vars"])
    open_places = unread(inventory.unread(inventory.hosts if asked["vars"] else ()))
    report: Groups | str = Groups(inventory, asked["group"], text)
    if asked["format"] == "text":
        report = "".join(f"{printable(line)}\n" for line in text.splitlines())
    return Output(report, warnings=inventory.warnings, unread=open_places)


def _explain(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    answer, path = _answer(question, inventory, asked["host"]), parse(asked["path"])
    if path[0] == "hostvars" and len(path) > 2 and not asked["playbook"]:  # in a task they have facts, too
        answer, path = inventory.host(str(path[1])), path[2:]
    render = rendering_of(inventory, answer, _environment(question)) if asked["render"] else None
    report = explained_variable(inventory, answer, path, render=render)
    trace = report.explanation.trace
    if asked["strict"]:
        trace.require_known()
    code = 0 if trace.found or trace.unknown or report.in_plays else 1
    if report.rendered and report.rendered.left:
        code = 5
    return Output(report, code, inventory.warnings, unread=unread(layers_of(trace)))


def _who_has(question: Question) -> Output:
    inventory = _inventory(question)
    found = places(inventory, parse(question.arguments["path"]))
    code = 0 if found.found or found.unread or found.in_plays else 1
    return Output(found, code, inventory.warnings, unread=found.unread)


def _matrix(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    found, open_places = matrix(inventory, _hosts(question, inventory), parse(asked["path"]), asked["path"])
    return Output(found, 0 if found.is_set or open_places else 1, inventory.warnings, unread=open_places)


def _diff(question: Question) -> Output:
    asked, inventory = question.arguments, _inventory(question)
    one, other = (_answer(question, inventory, asked[name]) for name in ("host", "other"))
    report = Compared((asked["host"], asked["other"]), differences(one, other))
    return Output(report, warnings=inventory.warnings, unread=unread([*one.unread(), *other.unread()]))


def _save(question: Question) -> Output:
    inventory = _inventory(question)
    output = saving.save(question, inventory, _hosts(question, inventory))
    return output._replace(warnings=[*output.warnings, *inventory.warnings])


COMMANDS: Mapping[str, Command] = {
    "vars": Command(
        "print the variables of a host",
        "",
        [
            _HOST,
            _RENDER,
            *_INVENTORY,
            *_TASK,
            Argument(*_YAML),
            Argument(("--origins",), "instead, each variable with who set it", _FLAG, "as Ansible prints it"),
        ],
        (),
        _EXITS,
        _vars,
        ("output",),
    ),
    "list": Command(
        "print hosts and groups with their variables, as ansible-inventory --list does",
        "",
        [*_INVENTORY, *_LISTING],
        (),
        _EXITS,
        _list,
        ("text",),
    ),
    "graph": Command(
        "print the tree of groups, as ansible-inventory --graph does",
        "",
        [
            Argument(("group",), "where to begin (default: all)", {"metavar": "GROUP", "nargs": "?", "default": "all"}),
            Argument(("--vars",), "variables, too", _FLAG),
            *_INVENTORY,
        ],
        (),
        _EXITS,
        _graph,
        ("output",),
    ),
    "explain": Command(
        "say who set a variable of a host, whom that overrides, and by which rule",
        "",
        [_HOST, _VARIABLE, _RENDER, *_INVENTORY, *_TASK],
        (),
        _EXITS,
        _explain,
        ("strict", "output"),
    ),
    "who-has": Command(
        "print every place that sets a variable, and on how many hosts it counts",
        "",
        [_VARIABLE, *_INVENTORY],
        (),
        _EXITS,
        _who_has,
        ("output",),
    ),
    "matrix": Command(
        "print what each host has, equal ones together",
        "",
        [_VARIABLE, _LIMIT, *_INVENTORY],
        (),
        _EXITS,
        _matrix,
        ("output",),
    ),
    "diff": Command(
        "print the variables that two hosts have not alike",
        "",
        [_HOST, Argument(("other",), "another one", {"metavar": "HOST"}), *_INVENTORY, *_TASK],
        (),
        _EXITS,
        _diff,
        ("output",),
    ),
    "config": Command(
        "print the settings of ansible.cfg and the environment that count, each with its place",
        "",
        [one for one in _INVENTORY if one.names[0] in ("--folder", "--environ")],
        (),
        {0: "done", 1: "failed", 2: "usage"},
        _config,
        ("output",),
    ),
    "save": Command(
        "keep the hosts as nodes, so that search, show, history and diff know them",
        "",
        [*_INVENTORY, _LIMIT],
        (),
        _EXITS,
        _save,
        ("strict", "settings", "store", "output"),
    ),
    "inventory": Command(
        "print the kept nodes as a dynamic inventory, as Ansible asks of a script",
        "",
        saved_inventory.ARGUMENTS,
        (),
        {},
        saved_inventory.printed,
        ("strict", "settings", "store", "output"),
        ("json", "text", "yaml"),
    ),
}
