"""The commands of `nodeattrs ansible`: the variables of a host, in an inventory or a task, and the line of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.contract.arguments import ALL_NAMES
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.tree import parse
from nodeattrs.core.unread import Unread, encrypted_at, sentences
from nodeattrs.dialects.ansible import saved_nodes
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.arguments import (
    FLAG,
    HOST,
    INVENTORY,
    KEY,
    LIMIT,
    OF_FOLDER,
    RENDER,
    TASK,
    VARIABLE,
    answer_of,
    inventory_of,
    open_inventory,
)
from nodeattrs.dialects.ansible.config import config_of
from nodeattrs.dialects.ansible.printing import graph, printed_inventory, printed_variables
from nodeattrs.dialects.ansible.rendering import Rendered
from nodeattrs.dialects.ansible.reports import (
    Groups,
    SettingsReport,
    explained_variable,
    layers_of,
    not_evaluated,
    rendering_of,
    set_variables,
    unread,
)
from nodeattrs.dialects.ansible.writing import as_json_text, as_yaml_text
from nodeattrs.errors import NotFound

_EXITS = {0: "done", 1: "failed", 2: "usage", 5: "unknown layer"}
_YAML = (("--yaml", "-y"), "YAML instead of JSON", FLAG, "as Ansible prints it")
_LISTING = (
    Argument(("--keep-groups", "--export"), "variables of groups stay with the groups", FLAG, "as Ansible prints it"),
    LIMIT._replace(group="as Ansible prints it"),
    Argument(("--toml",), "TOML instead of JSON", FLAG, "as Ansible prints it", "form"),
    Argument(*_YAML, "form"),
)


def known_names(noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
    """Names for shell completion.

    noun:      "HOST": all hosts. Any other noun counts as "VAR": the variables of the named host; without one, of all
               hosts
    arguments: the values of the options, and `host` for the named host
    raises:    AnsibleError; UnknownLayer, if a source would have to run
    """
    inventory = open_inventory(arguments)
    if noun == "HOST":
        return inventory.hosts
    hosts = [arguments["host"]] if arguments.get("host") else inventory.hosts
    return {str(name) for host in hosts for name in inventory.host(host).vars}


def _unevaluated(question: Question, answer: Variables, rendered: Rendered | None) -> list[Unread]:
    """The places whose templates were not evaluated; [] if *rendered* is None. The caller is warned of each."""
    found = [] if rendered is None else [*not_evaluated(answer, rendered)]
    question.caller.warn(warning for warning, _ in found)
    return [place for _, place in found]


def _environment(question: Question) -> Mapping[str, str] | None:
    """The environment that templates may see."""
    return os.environ if question.arguments["environ"] else None


def _config(question: Question) -> Output:
    asked = question.arguments
    folder = Path(asked["folder"] or ".").resolve()
    config = config_of(folder, dict(os.environ) if asked["environ"] else {})
    return Output(SettingsReport(config))


def _vars(question: Question) -> Output:
    asked = question.arguments
    inventory = inventory_of(asked)
    answer = answer_of(asked, inventory, asked["host"])
    open_places = unread(answer.unread())
    if not asked["render"]:  # with --render, `_unevaluated` lists the encrypted values
        open_places += encrypted_at(answer.vars, (), answer.folded().origins)
    if asked["origins"]:
        return Output(set_variables(answer), warnings=inventory.warnings, unread=open_places)
    rendered = rendering_of(inventory, answer, _environment(question)).variables() if asked["render"] else None
    found = printed_variables(answer, rendered and rendered.value)
    is_yaml = asked["yaml"] or asked["format"] == "yaml"
    text = as_yaml_text(found) if is_yaml else as_json_text(found, marked=False) + "\n"
    return Output(text, warnings=inventory.warnings, unread=[*open_places, *_unevaluated(question, answer, rendered)])


def _list(question: Question) -> Output:
    asked = question.arguments
    inventory = inventory_of(asked)
    form = "yaml" if asked["yaml"] else "toml" if asked["toml"] else "json"
    text = printed_inventory(inventory, form, export=asked["keep_groups"], limit=asked["hosts"])
    open_places = unread(inventory.unread(inventory.matching(asked["hosts"] or "all")))
    return Output(text, warnings=inventory.warnings, unread=open_places)


def _graph(question: Question) -> Output:
    asked = question.arguments
    inventory = inventory_of(asked)
    text = graph(inventory, asked["group"], with_variables=asked["vars"])
    open_places = unread(inventory.unread(inventory.hosts if asked["vars"] else ()))
    return Output(Groups(inventory, asked["group"], text), warnings=inventory.warnings, unread=open_places)


def _explain(question: Question) -> Output:
    asked = question.arguments
    inventory = inventory_of(asked)
    answer, path = answer_of(asked, inventory, asked["host"]), parse(asked["path"])
    if path[:1] == ("hostvars",) and len(path) > 2 and not asked["playbook"]:  # in a task, `hostvars` also has facts
        answer, path = inventory.host(str(path[1])), path[2:]
    render = rendering_of(inventory, answer, _environment(question)) if asked["render"] else None
    report = explained_variable(inventory, answer, path, render=render)
    trace = report.explanation.trace
    if asked["strict"]:
        trace.require_known()
    in_plays = report.in_plays
    is_unset = not (trace.found or trace.unknown)
    code = int(is_unset and not (in_plays.found or in_plays.unread))
    kept = encrypted_at(trace.value, trace.path, answer.folded().origins) if report.rendered is None else ()
    open_places = [*unread(layers_of(trace)), *kept, *_unevaluated(question, answer, report.rendered)]
    open_places += in_plays.unread if is_unset and not in_plays.found else ()
    more = sentences(in_plays.unread) if is_unset and in_plays.found else ()
    return Output(report, code, [*inventory.warnings, *more], unread=open_places)


def _save(question: Question) -> Output:
    inventory = inventory_of(question.arguments)
    hosts = inventory.matching(question.arguments["hosts"] or "all")
    if not hosts:
        why = [one.message for one in inventory.warnings]
        raise NotFound("there is no host to save", details=why, hint="name an inventory that has hosts: -i INVENTORY")
    output = saved_nodes.save(question, inventory, hosts)
    return output._replace(warnings=[*output.warnings, *inventory.warnings])


def _verb(summary: str, verb: str, arguments: Sequence[Argument], *, example: str) -> Command:
    return Command(summary, "", arguments, (example,), _EXITS, verb, ("output",))


COMMANDS: Mapping[str, Command] = {
    "vars": Command(
        "print the variables of a host",
        "",
        [
            HOST,
            RENDER,
            *INVENTORY,
            *TASK,
            Argument(*_YAML),
            Argument(("--origins",), "instead, each variable with the line that sets it", FLAG, "as Ansible prints it"),
        ],
        ("vars web1 --origins -i cookbooks_example/ansible",),
        _EXITS,
        _vars,
        ("output",),
    ),
    "list": Command(
        "print hosts and groups with their variables, as ansible-inventory --list does",
        "",
        [*INVENTORY, *_LISTING],
        ("list -i cookbooks_example/ansible",),
        _EXITS,
        _list,
        ("text",),
    ),
    "graph": Command(
        "print the tree of groups, as ansible-inventory --graph does",
        "",
        [
            Argument(("group",), "where to begin (default: all)", {"metavar": "GROUP", "nargs": "?", "default": "all"}),
            Argument(("--vars",), "variables, too", FLAG),
            *INVENTORY,
        ],
        ("graph -i cookbooks_example/ansible",),
        _EXITS,
        _graph,
        ("output",),
    ),
    "explain": Command(
        "print the line that sets a variable of a host, what it overrides, and the rule",
        "",
        [HOST, VARIABLE, RENDER, *INVENTORY, *TASK],
        ("explain web1 http_port -i cookbooks_example/ansible",),
        _EXITS,
        _explain,
        ("strict", "output"),
    ),
    "who-has": _verb(
        "print every line that sets a variable: where it wins, and which line overrides it",
        "where",
        [KEY, *OF_FOLDER],
        example="who-has http_port -i cookbooks_example/ansible",
    ),
    "matrix": _verb(
        "print the values that a variable has, each with its hosts",
        "matrix",
        [KEY, LIMIT, ALL_NAMES, *OF_FOLDER],
        example="matrix http_port -i cookbooks_example/ansible",
    ),
    "diff": _verb(
        "print the variables that differ between two hosts",
        "diff",
        [HOST._replace(names=("before",)), HOST._replace(names=("after",), help="another one"), *OF_FOLDER, *TASK],
        example="diff web1 web2 -i cookbooks_example/ansible",
    ),
    "config": Command(
        "print the settings of ansible.cfg and the environment that count, each with its place",
        "",
        [one for one in INVENTORY if one.names[0] in ("--folder", "--environ")],
        ("config --folder cookbooks_example/ansible",),
        {0: "done", 1: "failed", 2: "usage"},
        _config,
        ("output",),
    ),
    "save": Command(
        "save the hosts as nodes, for search, show, history and diff",
        "",
        [*INVENTORY, LIMIT],
        ("save --store nodes.db -i cookbooks_example/ansible",),
        _EXITS,
        _save,
        ("strict", "settings", "store", "output"),
    ),
    "inventory": Command(
        "print the saved nodes as a dynamic inventory, as a script for Ansible does",
        "",
        saved_nodes.INVENTORY_ARGUMENTS,
        ("inventory --list --store nodes.db",),
        {},
        saved_nodes.print_inventory,
        ("strict", "settings", "store", "output"),
        ("json", "text", "yaml"),
    ),
}
