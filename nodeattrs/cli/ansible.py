"""`nodeattrs ansible`: what a host has in an inventory or in a task, and which file and line set it."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from nodeattrs.cli import ansible_inventory, ansible_save
from nodeattrs.cli.exits import DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER, described
from nodeattrs.cli.options import actions_of, add_output, add_strict, path_of, sensitive_paths
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.adapters.ansible import Inventory, Rendered, Variables

SUMMARY = "say which file and line set a variable of an Ansible inventory"
DESCRIPTION = """\
Read inventories, group_vars, host_vars, playbooks and roles of Ansible as they are, without running anything: what a
host has, at which of the 22 precedence levels each value was set, and why the others lost. docs/ansible.md says what
is read, and what cannot be known."""
EXAMPLES = """\
examples:
  nodeattrs ansible explain web1 http_port -i inventory
  nodeattrs ansible explain web1 http_port -i inventory --playbook site.yml --task restart
  nodeattrs ansible who-has http_port -i inventory
  nodeattrs ansible list -i inventory
  nodeattrs ansible inventory --list
"""

_SUMMARIES = {
    "vars": "print the variables of a host",
    "list": "print hosts and groups with their variables, as ansible-inventory --list does",
    "graph": "print the tree of groups, as ansible-inventory --graph does",
    "explain": "say who set a variable of a host, whom that overrides, and by which rule",
    "who-has": "print every place that sets a variable, and on how many hosts it counts",
    "matrix": "print what each host has, equal ones together",
    "diff": "print the variables that two hosts have not alike",
    "save": "keep the hosts as nodes, so that search, show, history and diff know them",
    "inventory": "print the kept nodes as a dynamic inventory, as Ansible asks of a script",
}
_ANSWERS = ("vars", "list", "graph", "explain", "who-has", "matrix", "diff", "save")
_CODES = dict.fromkeys(_ANSWERS, described(DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: eight that read Ansible's files, and one for Ansible to read."""
    for name, one in actions_of(parser, _SUMMARIES, _CODES):
        if name == "inventory":
            ansible_inventory.add_options(one)
            continue
        if name in ("vars", "explain", "diff"):
            one.add_argument("host", metavar="HOST", help="a host of the inventory")
        if name == "diff":
            one.add_argument("other", metavar="HOST", help="another one")
        if name in ("explain", "who-has", "matrix"):
            one.add_argument("path", metavar="VAR", help="a variable, or a path in one: users.0.name")
        if name == "graph":
            one.add_argument("group", metavar="GROUP", nargs="?", default="all", help="where to begin (default: all)")
            one.add_argument("--vars", action="store_true", help="variables, too")
        if name == "matrix":
            one.add_argument("--limit", metavar="PATTERN", help="only hosts that it names, such as web:!web3")
        if name == "explain":
            add_strict(one)
        if name in ("vars", "explain"):
            one.add_argument("--render", action="store_true", help="evaluate templates; what cannot be is named")
        _add_inventory(one)
        if name == "save":
            ansible_save.add_options(one)
        if name in ("vars", "explain", "diff"):
            _add_task(one)
        _add_printing(one, name)


def _add_inventory(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("inventory")
    group.add_argument(
        "-i",
        "--inventory",
        metavar="SOURCE",
        action="append",
        default=[],
        help="a file, a folder, or a list of hosts such as web1,web2, ; may be repeated (default: that of ansible.cfg)",
    )
    group.add_argument(
        "-e",
        "--extra-vars",
        metavar="VARS",
        action="append",
        default=[],
        help="name=value words, a map in YAML or JSON, or @FILE; may be repeated",
    )
    group.add_argument(
        "--folder", metavar="DIR", help="ansible.cfg lies there, and files are named from there (default: here)"
    )
    group.add_argument("--playbook-dir", metavar="DIR", help="beside it lie the playbook's group_vars and host_vars")
    group.add_argument("--facts", metavar="DIR", help="cached facts, a JSON file for each host")
    group.add_argument(
        "--environment", action="store_true", help="let variables such as ANSIBLE_HASH_BEHAVIOUR override ansible.cfg"
    )
    group.add_argument(
        "--vault-password-file",
        "--vault-id",
        metavar="[ID@]FILE",
        action="append",
        default=[],
        help="a file with the password of vaults, or a program that prints it; may be repeated. "
        "What it opens is a secret",
    )
    group.add_argument(
        "--run-inventory",
        metavar="SOURCE[=FILE]",
        action="append",
        default=[],
        help="run this script or plugin among the sources, or take FILE as what it prints; may be repeated",
    )
    group.add_argument("--lenient", action="store_true", help="let a broken file cost its own variables only")


def _add_task(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("task", "with a playbook, what the host has in one of its tasks")
    group.add_argument("--playbook", metavar="FILE", action="append", default=[], help="may be repeated")
    group.add_argument("--play", metavar="N", type=int, help="the number of the play, from 1")
    group.add_argument("--role", metavar="NAME", help="the role that the task belongs to")
    group.add_argument("--task", metavar="NAME", help="the task (default: the last one)")


def _add_printing(parser: argparse.ArgumentParser, name: str) -> None:
    if name != "list":
        add_output(parser)
    group = parser.add_argument_group("as Ansible prints it")
    if name == "list":
        group.add_argument("--traceback", action="store_true", help="on an error, show the whole way to it")
        group.add_argument("--export", action="store_true", help="variables of groups stay with the groups")
        group.add_argument("--limit", metavar="PATTERN", help="only hosts that it names, such as web:!web3")
        form = group.add_mutually_exclusive_group()
        form.add_argument("--toml", action="store_true", help="TOML instead of JSON")
        form.add_argument("--yaml", "-y", action="store_true", help="YAML instead of JSON")
    if name == "vars":
        group.add_argument("--yaml", "-y", action="store_true", help="YAML instead of JSON")
        group.add_argument("--origins", action="store_true", help="instead, each variable with who set it")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of them."""
    if options.action == "inventory":
        return ansible_inventory.perform(options, terminal)
    inventory = _inventory(options)
    code = _PERFORM[options.action](options, terminal, inventory)
    terminal.warn(inventory.warnings)
    return code


def _inventory(options: argparse.Namespace) -> Inventory:
    from nodeattrs.adapters.ansible import Inventory
    from nodeattrs.core.code import held_back

    places = [*options.inventory, options.folder, options.playbook_dir, *getattr(options, "playbook", ())]
    with held_back(False):  # what is run was named, one by one
        return Inventory(
            *options.inventory,
            folder=options.folder,
            playbook_dir=options.playbook_dir,
            extra_vars=options.extra_vars,
            environment=dict(os.environ) if options.environment else None,
            facts=options.facts,
            lenient=options.lenient,
            run_inventory=options.run_inventory,
            vault_passwords=options.vault_password_file,
            sensitive_paths=sensitive_paths(options, *places),
        )


def _answer(options: argparse.Namespace, inventory: Inventory, host: str) -> Variables:
    """What a host has: in the inventory, or in the task that the options name."""
    if not options.playbook:
        if options.task or options.role or options.play:
            options.refuse("--play, --role and --task need a --playbook")
        return inventory.host(host)
    from nodeattrs.adapters.ansible import AnsibleError, Playbook
    from nodeattrs.adapters.ansible.codes import NO_HOST
    from nodeattrs.reports.ansible import unread

    inventory.found(host)
    playbook = Playbook(inventory, *options.playbook)
    met = [
        task
        for task in playbook.tasks(host)
        if options.play in (None, task.where.play.number)
        and options.role in (None, task.where.role and task.where.role.name)
        and options.task in (None, task.name)
    ]
    if not met:
        names = ", ".join(dict.fromkeys(task.name for task in playbook.tasks(host))) or "none"
        unknown = [one for one in unread(playbook.unknown(host)) if not one.paths]
        also = "".join(f"; {one.place}: {one.reason}" for one in unknown)
        raise AnsibleError(NO_HOST, f"{host} meets no such task", hint=f"it meets: {names}{also}")
    return playbook.within(met[0] if options.task else met[-1], host)


def _vars(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.adapters.ansible import Rendering, as_json_text, as_yaml_text, printed_variables
    from nodeattrs.reports.ansible import unread

    answer = _answer(options, inventory, options.host)
    if options.origins:
        from nodeattrs.reports.ansible import set_variables

        terminal.report(set_variables(answer), unread(answer.unread()))
        return DONE
    rendered = Rendering(answer).variables() if options.render else None
    found = printed_variables(answer, rendered and rendered.value)
    terminal.text(
        as_yaml_text(found) if options.yaml or options.format == "yaml" else as_json_text(found, marked=False) + "\n"
    )
    terminal.note_unread(unread(answer.unread()))
    return _warned(terminal, answer, rendered)


def _warned(terminal: Terminal, answer: Variables, rendered: Rendered | None) -> int:
    """Name what is not evaluated."""
    from nodeattrs.reports.ansible import not_evaluated

    if rendered is None or not rendered.left:
        return DONE
    terminal.warn(not_evaluated(answer, rendered))
    return UNKNOWN_LAYER


def _list(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.adapters.ansible import printed_inventory
    from nodeattrs.reports.ansible import unread

    form = "yaml" if options.yaml else "toml" if options.toml else "json"
    terminal.text(printed_inventory(inventory, form, export=options.export, limit=options.limit))
    terminal.note_unread(unread(inventory.unread(_hosts(options, inventory))))
    return DONE


def _hosts(options: argparse.Namespace, inventory: Inventory) -> list[str]:
    """The hosts that --limit names; all of them without it."""
    return list(inventory.hosts) if options.limit is None else inventory.matching(options.limit)


def _graph(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.adapters.ansible import graph
    from nodeattrs.reports.ansible import Groups, unread

    text = graph(inventory, options.group, with_variables=options.vars)
    open_layers = unread(inventory.unread(inventory.hosts if options.vars else ()))
    if options.format == "text":
        from nodeattrs.reports.screen import printable

        terminal.text("".join(f"{printable(line)}\n" for line in text.splitlines()))
    else:
        terminal.report(Groups(inventory, options.group, text), open_layers)
    terminal.note_unread(open_layers)
    return DONE


def _explain(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.reports.ansible import explained_variable, layers_of, unread

    answer = _answer(options, inventory, options.host)
    report = explained_variable(inventory, answer, path_of(options.path), render=options.render)
    trace = report.explanation.trace
    if options.strict:
        trace.require_known()
    terminal.report(report, unread(layers_of(trace)))
    if report.rendered and report.rendered.left:
        return UNKNOWN_LAYER
    return DONE if trace.found or trace.unknown else FAILED


def _who_has(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.reports.ansible import places

    found = places(inventory, path_of(options.path))
    terminal.report(found, found.unread)
    return DONE if found.found or found.unread else FAILED


def _matrix(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.reports.ansible import matrix

    found, unread = matrix(inventory, _hosts(options, inventory), path_of(options.path), options.path)
    terminal.report(found, unread)
    return DONE if found.is_set or unread else FAILED


def _diff(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    from nodeattrs.reports.ansible import differences, unread
    from nodeattrs.reports.lookup import Compared

    one, other = (_answer(options, inventory, name) for name in (options.host, options.other))
    compared = Compared((options.host, options.other), differences(one, other))
    terminal.report(compared, unread([*one.unread(), *other.unread()]))
    return DONE


_PERFORM = {
    "vars": _vars,
    "list": _list,
    "graph": _graph,
    "explain": _explain,
    "who-has": _who_has,
    "matrix": _matrix,
    "diff": _diff,
    "save": ansible_save.perform,
}
