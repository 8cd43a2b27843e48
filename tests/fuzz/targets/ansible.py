"""Ansible: inventories, files of variables, playbooks, extra variables, patterns of hosts, ansible.cfg."""

from __future__ import annotations

import random
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.ansible import Inventory, Playbook, as_json_text, graph, listing, mentions, reasons
from nodeattrs.dialects.ansible.ini import expanded_ranges, literal
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_yaml
from tests.fuzz.target import Refused, Target, from_grammar, from_shape, seeds_in, tried
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_INI = Grammar(
    r"""
    start: line+
    line: header "\n" | host "\n" | variable "\n" | _COMMENT "\n"
    header: "[" _GROUP ["all:vars" | ":vars" | ":children" | ":x"] "]"
    host: _HOST [":" _NUMBER] (" " _NAME "=" _VALUE)*
    variable: _NAME _EQUALS _VALUE
    """,
    {
        "_GROUP": ("web", "db", "all", "ungrouped", "a-b", "web:vars", "site:children", "web:vars"),
        "_HOST": ("h1", "h[1:3]", "h[a:c]x", "h[01:03]", "[2001:db8::1]", "web", "h[1:9:4]", "h[3:1]", "h[::]"),
        "_NAME": ("va", "vb", "ansible_group_priority", "ansible_port", "a-b", "hosts"),
        "_VALUE": ("1", "'x y'", "[1, 2]", "{'a': {'b': 1}}", "True",
            "{{ va }}", "0x1f", "\"a # b\"", "# c", "(1,", ""),
        "_EQUALS": ("=", " = ", " "),
        "_NUMBER": ("22", "0", "x"),
        "_COMMENT": ("# c", "; d", "", " "),
    },
    glue="",
)  # fmt: skip
_HOSTS: Any = {"h1": (None, {"va": TREE}), "h[1:2]": None}
_GROUP: Any = {"hosts": (_HOSTS, "h1", None), "vars": {"va": TREE, "ansible_group_priority": (1, "2", "x")},
    "children": {"db": (None, {"hosts": _HOSTS})}}  # fmt: skip
_INVENTORY: Any = {"all": _GROUP, "web": (_GROUP, None, "x"), "plugin": ("x", 1)}
_VARS: Any = {"va": TREE, "vb": ("{{ va }}", "{{ va.b[0] | default('x') }}", "{% if va %}"), "a-b": 1}
_OWN: Any = {"va": TREE, "vb": ("{{ va }}", "{{ va.b[0] }}")}
_TASK: Any = {
    "name": ("t", "u"), "debug": {"msg": "x"}, "set_fact": ({"va": TREE}, "va=1", None), "vars": (_OWN, _OWN, None, 1),
    "include_vars": ("x.yml", {"dir": "d"}, {"file": "x.yml", "name": "box", "hash_behaviour": "merge"}),
    "import_tasks": ("t.yml", {"file": "t.yml"}), "include_tasks": ("{{ va }}.yml", "t.yml"),
    "import_role": {"name": ("ra", "rb", "{{ va }}"), "vars_from": ("x", "../x")},
    "include_role": {"name": ("ra", "{{ va }}"), "public": (True, False)},
    "block": [{"debug": None, "name": "t", "vars": _OWN}], "when": (False, True, ["x", False]), "register": ("va", 1),
    "add_host": {"name": "h9"}, "loop": [1], "action": ("debug msg=x", {"module": "debug"}),
}  # fmt: skip
_PLAY: Any = {
    "hosts": ("all", "web:!h1", "h*", "~h[1", "web[0]", ["web", "db"], None, "localhost"),
    "vars": (_OWN, _OWN, _OWN, "x"),
    "vars_files": (["x.yml", ["no.yml", "{{ vb }}.yml"]], "x"), "vars_prompt": [{"name": "vp", "default": 1}],
    "roles": [("ra", {"role": "rb", "va": TREE, "vars": _OWN}, {"role": 1})], "tasks": ([_TASK], None, {}),
    "gather_facts": (False, True), "pre_tasks": [_TASK], "handlers": [_TASK],
}  # fmt: skip
_EXTRA = Grammar(
    r"""
    start: word (" " word)*
    word: _NAME "=" _VALUE | _VALUE
    """,
    {"_NAME": ("va", "a-b", "", "v b"), "_VALUE": ("1", "'x y'", "\"a\\nb\"", "{{ va }}", "\\x41", "'", "@x.yml")},
    glue="",
)  # fmt: skip
_PATTERNS = Grammar(
    r"""
    start: part (_BETWEEN part)*
    part: ["!" | "&"] _NAME ["[" _INDEX "]"]
    """,
    {
        "_NAME": ("web", "h1", "h*", "~h[12]$", "~(", "all", "*", "nosuch", "h[12]"),
        "_INDEX": ("0", "-1", "0:1", "1:", ":", "9", "x"),
        "_BETWEEN": (":", ",", ":&", ":!"),
    },
    glue="",
)  # fmt: skip
_CONFIG = Grammar(
    r"""
    start: "[" _SECTION "]\n" line*
    line: _KEY " = " _VALUE "\n"
    """,
    {
        "_SECTION": ("defaults", "inventory", "x"),
        "_KEY": ("hash_behaviour", "precedence", "inventory", "roles_path", "private_role_vars", "enable_plugins",
            "inventory_ignore_patterns", "fact_caching", "fact_caching_connection", "yaml_valid_extensions"),
        "_VALUE": ("merge", "all_inventory, groups_inventory", "hosts", "roles:x", "true", "perhaps", "(", ".yml",
            "ini", "jsonfile", "", "%(x)s"),
    },
    glue="",
)  # fmt: skip
_ROLES = {
    "roles/ra/defaults/main.yml": "va: {b: [1]}\n",
    "roles/ra/meta/main.yml": "dependencies: [rb]\n",
    "roles/ra/tasks/main.yml": "- name: in ra\n  debug:\n",
    "roles/rb/vars/main.yml": "vb: 2\n",
    "x.yml": "va: 3\n",
    "t.yml": "- name: t\n  debug:\n",
    "d/a.yml": "vc: 1\n",
}
_PLAIN = "[web]\nh1 va=1\nh2\n[db]\nh2\n[web:vars]\nvb={'a': 1}\n"


def _folder(files: dict[str, str]) -> Path:
    """A folder of its own with an inventory, two roles and these files."""
    shutil.rmtree("ansible", ignore_errors=True)
    for name, text in {"hosts": _PLAIN, **_ROLES, **files}.items():
        written(f"ansible/{name}", text)
    return Path("ansible").resolve()


def _read(text: str, file: str = "hosts", **more: str) -> Inventory:
    """The inventory of a folder in which the text is one of the files. raises: Refused"""
    folder = _folder({**more, file: text})
    inventory = Inventory(file if file.startswith("hosts") else "hosts", folder=folder)
    if any(one.kind == "nothing-parsed" for one in inventory.warnings):
        _use(inventory)
        raise Refused(str(inventory.warnings[0]))
    return inventory


def _use(inventory: Inventory) -> None:
    """All that is asked of an inventory."""
    for name in [*list(inventory.hosts)[:4], "localhost"]:
        tried(partial(_look, inventory, name))
    tried(lambda: as_json_text(listing(inventory)), lambda: graph(inventory, with_variables=True))


def _look(inventory: Inventory, name: str) -> None:
    host = inventory.host(name)
    for variable in list(host.vars)[:6]:
        trace = host.trace((variable,))
        str(trace)
        reasons(inventory, trace)
        list(mentions(host, host.vars[variable]))
    host.to_dict()


def _playbook(text: str) -> Playbook:
    return Playbook(_read(text, "site.yml"), "site.yml")


def _play(playbook: Playbook) -> None:
    for host in ("h1", "h2", "localhost"):
        tried(partial(_tasks, playbook, host))


def _tasks(playbook: Playbook, host: str) -> None:
    for task in playbook.tasks(host)[:8]:
        answer = playbook.within(task, host)
        str(answer.trace("va"))
        dict(answer.magic)


def _extra(text: str) -> Inventory:
    return Inventory("hosts", folder=_folder({}), extra_vars=[text])


def _matched(text: str) -> list[str]:
    return _read(_PLAIN).matching(text)


def _literals(text: str) -> None:
    literal(text)
    list(expanded_ranges(text))


def _yaml(shape: Any, chance: random.Random) -> str:
    return from_shape(shape, written=as_yaml)(chance)


TARGETS = [
    Target("ansible-ini", from_grammar(_INI, seeds_in("ansible", lambda text: "[web" in text)), _read, _use),
    Target("ansible-yaml", partial(_yaml, _INVENTORY), partial(_read, file="hosts.yml"), _use),
    Target("ansible-vars", partial(_yaml, _VARS), partial(_read, file="group_vars/all.yml"), _use),
    Target(
        "ansible-playbook", partial(_yaml, [(_PLAY, _PLAY, _PLAY, {"import_playbook": "sub.yml"})]), _playbook, _play
    ),
    Target("ansible-extra", from_grammar(_EXTRA), _extra, _use),
    Target("ansible-pattern", from_grammar(_PATTERNS), _matched),
    Target("ansible-literal", from_grammar(_INI), _literals),
    Target("ansible-cfg", from_grammar(_CONFIG), partial(_read, file="ansible.cfg"), _use),
]
