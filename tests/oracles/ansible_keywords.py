"""python -m tests.oracles.ansible_keywords [--only TEXT] [--settings] [--venv DIR]

Each documented keyword of plays, blocks, tasks, handlers and roles, each argument of includes and imports, and with
--settings each setting of ansible.cfg, in a small tree of its own that the real ansible-core runs. What every task says
of some variables is what we have, or we say that it is unknown. The program itself names what is documented, so that a
keyword without a value here is reported, too. Prints what is unknown, and at the end `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.ansible import AnsibleError, Inventory, Playbook, printed_inventory
from nodeattrs.dialects.ansible.reports import rendering_of
from tests.oracles.ansible import Peer, written
from tests.oracles.ansible_values import Tree

_TEXTS = {f"v{letter}": f"{{{{ v{letter} | default('-') }}}}" for letter in "abcdefgh"}
"""What each task says."""


def _show(name: str) -> dict[str, Any]:
    return {"name": f"show {name}", "debug": {"msg": dict(_TEXTS)}}


def _fact(**values: Any) -> dict[str, Any]:
    return {"name": "set", "set_fact": values}


_ROLE = {
    "defaults/main.yml": {"vc": "default", "ve": "default"},
    "defaults/other.yml": {"vc": "other default"},
    "vars/main.yml": {"vd": "role"},
    "vars/other.yml": {"vd": "other role"},
    "tasks/main.yml": [_fact(vf="in r"), _show("in r")],
    "tasks/other.yml": [_show("other of r")],
    "handlers/main.yml": [{**_fact(vh="handler of r"), "name": "handle", "listen": "told"}],
    "handlers/other.yml": [{**_fact(ve="other handler of r"), "name": "other handler", "listen": "told"}],
}
_FILES: dict[str, Any] = {
    "group_vars/all.yml": {
        **{"va": "all", "vb": "all", "vc": "all", "stem": "other", "yes": True, "no": False, "some": ["one", "two"]},
        **{"which": "r", "ansible_connection": "local"},
    },
    "group_vars/late.yml": {"ve": "late"},
    "group_vars/host2.yml": {"ve": "host2"},
    **{f"roles/r/{name}": data for name, data in _ROLE.items()},
    "roles/q/vars/main.yml": {"ve": "q"},
    "roles/q/tasks/main.yml": [_show("in q")],
    "more.yml": [_fact(vf="in more"), _show("in more")],
    "iv.yml": {"vb": "iv", "vg": {"a": 1}},
    "ivd/a.yml": {"vb": "ivd a"},
    "ivd/sub/b.yml": {"vc": "ivd b"},
    "ivd/c.txt": {"vd": "ivd c"},
    "sub.yml": [{"hosts": "all", "gather_facts": False, "vars": {"vb": "sub"}, "tasks": [_show("in sub")]}],
}
_HOSTS = "h1 va=inv\nh2\n[web]\nh1\nh2\n"

_CONDITIONS: tuple[Any, ...] = (
    True,
    False,
    "va == 'inv'",
    "va == 'x'",
    "no",
    ["yes", "va == 'inv'"],
    "nosuch is defined",
)
_CONDITIONS += ("'web' in group_names", "inventory_hostname == 'h1'", "vb is defined and vb", "1 == 1")
_HANDLER = {**_fact(vh="handled"), "name": "handle"}
VALUES: dict[str, tuple[Any, ...]] = {
    "accelerate": (),
    "accelerate_ipv6": (),
    "accelerate_port": (),  # gone
    "action": (),
    "args": ({}, {"vd": "args"}),
    "async": (0, 5),
    "block": (),
    "local_action": (),
    "always": ([_fact(ve="always"), _show("always")],),
    "any_errors_fatal": (True,),
    "become": (False,),
    "become_exe": ("sudo",),
    "become_flags": ("-H",),
    "become_method": ("sudo",),
    "become_user": ("root",),
    "changed_when": (True, False, "yes"),
    "check_mode": (True, False, "{{ yes }}"),
    "collections": (["my.own"],),
    "connection": ("ssh", "local"),
    "debugger": ("never",),
    "delay": (1,),
    "delegate_facts": (True,),
    "delegate_to": ("h2", "{{ 'h2' }}", "localhost", "{{ inventory_hostname }}", {"h2": "delegate_facts"}),
    "diff": (True,),
    "environment": ({"va": "env"},),
    "fact_path": ("/x",),
    "failed_when": (True, False, "no", "yes"),
    "force_handlers": (True,),
    "gather_facts": (True,),
    "gather_subset": (["min"],),
    "gather_timeout": (5,),
    "handlers": ([_HANDLER],),
    "hosts": ("web", "h1", "h*", "{{ 'web' }}", "{{ groups['web'] }}", ["h1", "h2"], "all:!h2", "~h[12]", "web[0]"),
    "ignore_errors": (True,),
    "ignore_unreachable": (True,),
    "loop": (["one", "two"], [], "{{ some }}", "{{ nosuch | default([]) }}", "{{ some | map('upper') }}"),
    "loop_control": tuple(
        {"loop": ["one", "two"], **one}
        for one in (
            {"loop_var": "va"},
            {"label": "x"},
            {"index_var": "va"},
            {"extended": True},
            {"pause": 0},
            {"break_when": "item == 'one'"},
            {"loop_var": "vh", "index_var": "vg"},
            {"extended_allitems": False},
        )
    ),
    "max_fail_percentage": (50,),
    "module_defaults": (
        {"set_fact": {"vd": "md"}},
        {"include_vars": {"name": "vd"}},
        {"debug": {"verbosity": 0}},
        {"group_by": {"parents": "late"}},
        {"ansible.builtin.set_fact": {"vd": "md"}},
        {"group/all": {"vd": "md"}},
        {"include_role": {"vars_from": "other"}},
    ),
    "name": ("named", "{{ va }}"),
    "no_log": (True,),
    "notify": ("handle", ["handle"], "told", "{{ 'handle' }}"),
    "order": ("sorted", "reverse_inventory", "shuffle"),
    "poll": (0,),
    "port": (22,),
    "post_tasks": ([_fact(ve="post"), _show("post")],),
    "pre_tasks": ([_fact(ve="pre"), _show("pre")],),
    "register": ("vb", "va"),
    "remote_user": ("root",),
    "rescue": ([_fact(ve="rescue"), _show("rescue")],),
    "retries": (1,),
    "roles": (["r"], [{"role": "r", "vd": "param"}], [{"role": "r", "vars": {"vd": "entry"}}], ["r", "q", "r"]),
    "run_once": (True, "{{ yes }}"),
    "serial": (1, "50%", [1, 1]),
    "strategy": ("free", "host_pinned", "linear"),
    "tags": (["never"], "never,blue", ["always"], ["blue"], ["{{ 'never' }}"], ["never", "always"]),
    "tasks": (),
    "throttle": (1,),
    "timeout": (60,),
    "until": (True, "1 == 1", "va is defined"),
    "user": ("root",),
    "validate_argspec": (),
    "vars": ({"va": "vars", "vb": "vars", "vd": "vars", "ve": "vars"}, {"vb": "{{ va }}", "va": "{{ vc }}"}),
    "vars_files": (["iv.yml"], "iv.yml", ["nosuch.yml"], [["nosuch.yml", "iv.yml"]], ["{{ stem }}.yml"]),
    "vars_prompt": (
        [{"name": "vb", "default": "prompt"}],
        [{"name": "vb"}],
        [{"name": "vb", "default": "prompt", "private": False, "unsafe": True}],
    ),
    "when": _CONDITIONS,
    "listen": ("told",),
    "role": (),
    "include": (),
    **{
        f"with_{kind}": (given,)
        for kind, given in {
            "items": ["one", ["two"]],
            "list": ["one", ["two"]],
            "dict": {"a": 1},
            "sequence": "start=1 end=2",
            "together": [["a"], ["b"]],
            "nested": [["a"], ["b"]],
            "indexed_items": ["a", "b"],
            "flattened": [["a"]],
            "random_choice": ["a"],
            "first_found": ["nosuch", "iv.yml"],
            "lines": "echo one",
            "fileglob": "iv*.yml",
            "inventory_hostnames": "all",
            "vars": ["va"],
        }.items()
    },
}
"""Keyword -> its values; a map with `loop`, or with the keyword itself as a key, goes with more keywords."""
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "allow_duplicates": (True, False, "{{ no }}"),
    "apply": tuple(
        {key: value}
        for key, values in {
            "vars": ({"va": "apply", "vd": "apply"},),
            "when": _CONDITIONS,
            "tags": ("never", "blue"),
            "run_once": (True,),
            "delegate_to": ("h2",),
            "check_mode": (True,),
            "ignore_errors": (True,),
            "module_defaults": ({"set_fact": {"vd": "md"}},),
            "become": (False,),
        }.items()
        for value in values
    ),
    "defaults_from": ("other", "{{ stem }}", "other.yml"),
    "handlers_from": ("other", "{{ stem }}", "main"),
    "name": ("r", "{{ which }}", "q"),
    "public": (True, False, "{{ yes }}"),
    "rescuable": (False,),  # since 2.21
    "rolespec_validate": (False,),
    "tasks_from": ("other", "{{ stem }}", "other.yml"),
    "vars_from": ("other", "{{ stem }}", "other.yml"),
    "file": (),
    "free-form": (),
    "free_form": (),
    "key_value": (),
    "depth": (1,),
    "dir": (),
    "extensions": (["txt"],),
    "files_matching": ("a.*",),
    "hash_behaviour": ("merge",),
    "ignore_files": (["a.yml"],),
    "ignore_unknown_extensions": (True,),
    "cacheable": (True, False),
    "key": ("late", "{{ 'late' }}", "late-{{ va }}"),
    "parents": (["late"], "late"),
    "groups": ("late", ["late", "web"]),
}
_BASES: dict[str, Any] = {
    "include_role": {"name": "r"},
    "import_role": {"name": "r"},
    "include_tasks": {"file": "more.yml"},
    "import_tasks": {"file": "more.yml"},
    "include_vars": {"file": "iv.yml"},
    "set_fact": {"vb": "fact"},
    "group_by": {"key": "host2"},
    "add_host": {"name": "h2", "vd": "added"},
}
"""Modules, with arguments."""
_OF_FOLDER = ("depth", "extensions", "files_matching", "ignore_files", "ignore_unknown_extensions")
_WHERE = {"Play": "play", "Block": "block", "Task": "task", "Handler": "handler", "Role": "role"}


class Case:
    """A tree with one keyword. name: where it stands"""

    def __init__(self, name: str, plays: list[Any], files: dict[str, Any] | None = None) -> None:
        self.name, self.plays = name, plays
        self.files = {**_FILES, **(files or {})}

    def tree(self) -> Tree:
        """The tree as files, with no text twice by an anchor of YAML."""
        texts = {name: data if isinstance(data, str) else _text(data) for name, data in self.files.items()}
        files = {**texts, "site.yml": _text(self.plays), "hosts": _HOSTS}
        return Tree(files=files, sources=["hosts"], playbook="site.yml", run=True)


def _text(data: Any) -> str:
    return yaml.safe_dump(copy.deepcopy(json.loads(json.dumps(data))), sort_keys=False)


def _play(tasks: list[Any], **more: Any) -> dict[str, Any]:
    base = {"hosts": "all", "gather_facts": False, "vars": {"vc": "play"}, "handlers": [_HANDLER]}
    return {**base, "tasks": tasks, **more}


def _given(keyword: str, value: Any) -> dict[str, Any]:
    """The keywords of a value."""
    if keyword == "loop_control":
        return {"loop": value["loop"], keyword: {key: one for key, one in value.items() if key != "loop"}}
    if keyword == "delegate_to" and isinstance(value, dict):
        return {keyword: "h2", "delegate_facts": True}
    return {keyword: value, **({"until": "1 == 1"} if keyword == "retries" else {})}


def cases(documented: dict[str, list[str]], arguments: dict[str, list[str]]) -> Iterator[Case]:
    """Each keyword at each place. documented: keyword -> where it applies; arguments: module -> its arguments"""
    for keyword, places in documented.items():
        for number, value in enumerate(VALUES.get(keyword, ())):
            for place in places:
                for what, plays, files in _placed(_WHERE.get(place, ""), _given(keyword, value)):
                    yield Case(f"{keyword} {number} of {what}", plays, files)
    for module, names in arguments.items():
        for name in names:
            for number, value in enumerate(ARGUMENTS.get(name, ())):
                base = {"dir": "ivd"} if name in _OF_FOLDER else _BASES[module]
                task = {"name": "it", module: {**base, name: value}}
                tasks = [_show("a"), task, {**_fact(vg="told"), "changed_when": True, "notify": "told"}, _show("b")]
                yield Case(f"{name} {number} in {module}", [_play(tasks), _play([_show("c")])])


def _placed(place: str, given: dict[str, Any]) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    tasks = [_show("a"), {**_fact(vb="fact"), "changed_when": True, "notify": "handle"}, {"include_vars": "iv.yml"}]
    tasks.append(_show("b"))
    after = _play([_show("c")])
    if place == "play":
        yield place, [{**_play(tasks), **given}, after], {}
    elif place == "block":
        yield place, [_play([{"block": tasks, **given}, _show("d")]), after], {}
        if "rescue" in given or "always" in given:
            failing = [*tasks, {"fail": {"msg": "x"}}]
            yield "block that fails", [_play([{"block": failing, **given}, _show("d")]), after], {}
    elif place == "role":
        roles = [{"role": "r", **given}, "q"]
        yield place, [_play([_show("a")], roles=roles), after], {}
        needs = {"roles/q/meta/main.yml": {"dependencies": [{"role": "r", **given}]}}
        yield "dependency", [_play([_show("a")], roles=["q"]), after], needs
    elif place == "handler":
        handler = {**_HANDLER, **given}
        call = {**_fact(vb="fact"), "changed_when": True, "notify": ["handle", "told"]}
        yield place, [_play([_show("a"), call], handlers=[handler, _show("told")], post_tasks=[_show("b")]), after], {}
    elif place == "task":
        for module, own in _BASES.items():
            task = {"name": "it", module: own, **given}
            yield module, [_play([_show("a"), task, _show("b")]), after], {}
        yield "debug", [_play([_show("a"), {**_show("it"), **given}, _show("b")]), after], {}


class Comparison:
    """One tree, both answers: what tasks say. unknown: how often we say that a value is not known"""

    def __init__(self, folder: Path, case: Case, theirs: dict[str, Any]) -> None:
        self.folder, self.case, self.theirs = folder, case, theirs
        self.values = self.unknown = self.unmet = 0

    def faults(self) -> Iterator[str]:
        """What differs, in words."""
        try:
            inventory = Inventory("hosts", folder=self.folder)
            playbook = Playbook(inventory, "site.yml")
            if self.theirs.get("printed") and printed_inventory(inventory, "json") != self.theirs["printed"][0]:
                yield "ansible-inventory --list prints something else"
            for host, said in self.theirs["said"].items():
                if host in inventory.hosts:
                    yield from self._host(host, said, inventory, playbook)
        except AnsibleError as error:
            if self.theirs["said"]:
                yield f"we refuse: {error}"

    def _host(self, host: str, said: list[Any], inventory: Inventory, playbook: Playbook) -> Iterator[str]:
        left = list(playbook.tasks(host))
        for name, message in said:
            if not isinstance(message, dict):
                continue
            places = [index for index, task in enumerate(left) if task.name == name]
            if not places:
                self.unmet += 1
                if not playbook.unknown(host):
                    yield f"{host}: {name!r} is not met"
                continue
            answers = {at: playbook.within(left[at], host) for at in places}
            found = {at: [*self._differing(answer, message, inventory)] for at, answer in answers.items()}
            chosen = min(places, key=lambda at: bool(found[at]))
            left = left[chosen + 1 :]
            yield from (f"{host} in {name!r}: {one}" for one in found[chosen])

    def _differing(self, answer: Any, message: dict[str, Any], inventory: Inventory) -> Iterator[str]:
        rendered = rendering_of(inventory, answer, None).rendered(dict(_TEXTS))
        left = {path[0] for path in rendered.left}
        for name, wanted in message.items():
            got = rendered.value[name]
            if name in left:
                self.unknown += 1
            elif json.loads(json.dumps(got)) != wanted:
                yield f"{name} is {wanted!r} there and {got!r} here"
            else:
                self.values += 1


def documented(venv: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The keywords with the places where they apply, and the arguments of modules, as the real program names them."""
    keywords = list(_asked(venv, "ansible-doc", "-t", "keyword", "-l", "-j"))
    found = _asked(venv, "ansible-doc", "-t", "keyword", "-j", *keywords)
    places = {name: one["applies_to"] for name, one in found.items()}
    places |= {name: ["Task"] for name in VALUES if name.startswith("with_")}
    modules = _asked(venv, "ansible-doc", "-t", "module", "-j", *_BASES)
    names = {name.rpartition(".")[2]: list(one["doc"]["options"]) for name, one in modules.items()}
    return places, names


def _asked(venv: Path, *words: str) -> Any:
    done = subprocess.run([venv / "bin" / words[0], *words[1:]], capture_output=True, check=True)
    return json.loads(done.stdout)


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.ansible_keywords")
    parser.add_argument("--only", default="", help="a regular expression for names of cases")
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    parser.add_argument("--settings", action="store_true", help="the settings of ansible.cfg instead")
    parser.add_argument("--venv", default=os.environ.get("ANSIBLE_VENV", ""), help="with ansible-core in it")
    asked = parser.parse_args(arguments)
    venv = Path(asked.venv or "nowhere").absolute()
    if not (venv / "bin" / "python").is_file():
        print("ansible: no environment with ansible-core is named (--venv, ANSIBLE_VENV): nothing was compared")
        print("0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as home:
        run = _Settings(venv, Path(home).resolve()) if asked.settings else _Keywords(venv, Path(home).resolve())
        done = failed = 0
        for name, faults in run.compared(asked.only, asked.every):
            done += 1
            failed += bool(faults)
            for fault in faults[:3]:
                print(f"{name}: {fault[:300]}", flush=True)
        print(f"{done - failed} passed, {failed} failed")
    return 1 if failed else 0


class _Keywords:
    def __init__(self, venv: Path, home: Path) -> None:
        self.venv, self.home = venv, home

    def compared(self, only: str, every: int) -> Iterator[tuple[str, list[str]]]:
        """Each case with what differs."""
        keywords, arguments = documented(self.venv)
        for name in [*(keywords.keys() - VALUES.keys()), *(_names(arguments) - ARGUMENTS.keys())]:
            yield name, ["it is documented, and has no value here"]
        peer = Peer(self.venv, self.home, {"ANSIBLE_FORKS": "2"})
        values = unknown = refused = 0
        chosen = [one for one in cases(keywords, arguments) if re.search(only, one.name)][::every]
        for number, case in enumerate(chosen):
            found = _compare(peer, self.home / "tree", case, is_printed=number == 0)  # all have one inventory
            yield case.name, [*found.faults()]
            values, unknown = values + found.values, unknown + found.unknown
            refused += "error" in found.theirs
            if found.unknown or found.unmet:
                print(f"  {case.name}: {found.unknown} unknown, {found.values} equal, {found.unmet} tasks not met")
        peer.close()
        if refused and not values:
            yield "all", ["the real program refuses each of them"]
        print(f"ansible-core {peer.version}: {values} values equal, {unknown} unknown; {refused} cases are refused")


def _names(arguments: dict[str, list[str]]) -> set[str]:
    return {name for names in arguments.values() for name in names}


def _compare(peer: Peer, folder: Path, case: Case, *, is_printed: bool = True) -> Comparison:
    tree = case.tree()
    written(folder, tree)
    question = {"folder": str(folder), "sources": tree.sources, "extra": [], "playbook": tree.playbook, "run": True}
    printed = [["--list"]] if is_printed else []
    theirs = peer.ask({**question, "printed": printed, "hosts": [], "pattern": "v", "magic": []})
    theirs.setdefault("said", {})
    return Comparison(folder, case, theirs)


class _Settings:
    """The settings of ansible.cfg, many of them in one file; where something differs, each half of them."""

    def __init__(self, venv: Path, home: Path) -> None:
        self.venv, self.home = venv, home

    def compared(self, only: str, every: int) -> Iterator[tuple[str, list[str]]]:
        """Each setting with what differs."""
        listed = _asked(self.venv, "ansible-config", "list", "--format", "json")
        found = [row for name, one in listed.items() if re.search(only, name) for row in _rows(name, one)][::every]
        for begin in range(0, len(found), _BATCH):
            yield from self._halved(found[begin : begin + _BATCH])

    def _halved(self, rows: list[tuple[str, str, str]]) -> Iterator[tuple[str, list[str]]]:
        faults = self._faults(rows)
        if not faults or len(rows) == 1:
            yield from ((f"[{section}] {key} = {text}", faults) for section, key, text in rows)
            return
        middle = len(rows) // 2
        yield from self._halved(rows[:middle])
        yield from self._halved(rows[middle:])

    def _faults(self, rows: list[tuple[str, str, str]]) -> list[str]:
        """What differs under some settings; of several at once also that Ansible refuses them."""
        sections: dict[str, list[str]] = {}
        for section, key, text in rows:
            sections.setdefault(section, []).append(f"{key} = {text}")
        config = "".join(f"[{name}]\n" + "\n".join(lines) + "\n" for name, lines in sections.items())
        folder = self.home / "tree"
        environment = {"ANSIBLE_CONFIG": str(folder / "ansible.cfg"), "ANSIBLE_FORKS": "2"}
        case = Case("settings", _SETTLED, {"ansible.cfg": config})
        written(folder, case.tree())
        try:
            peer = Peer(self.venv, self.home, environment)
        except ValueError:  # it does not start
            return ["refused there"] if len(rows) > 1 else []
        found = _compare(peer, folder, case)
        peer.close()
        if "error" in found.theirs:
            if len(rows) == 1:
                print(f"  {config.strip()!r}: refused there: {found.theirs['error'][:100]}")
            return ["refused there"] if len(rows) > 1 else []
        if found.unknown:
            print(f"  {config.strip()!r}: {found.unknown} unknown" if len(rows) == 1 else "  unknown")
        return [*found.faults()]


_BATCH = 24
_NOT_ASKED_TEXT = """DEFAULT_ASK_PASS DEFAULT_DEBUG DEFAULT_VERBOSITY DEFAULT_ASK_VAULT_PASS
    DEFAULT_BECOME_ASK_PASS DEFAULT_STDOUT_CALLBACK COLLECTIONS_PATHS
    DEFAULT_LOCAL_TMP DEFAULT_FORKS DEFAULT_TIMEOUT"""
_NOT_ASKED = _NOT_ASKED_TEXT.split()
"""Settings that wait for a person, or for which `Peer` has a value."""
_TEXTS_OF = {
    "TAGS_RUN": ["blue"],
    "TAGS_SKIP": ["blue"],
    "VARIABLE_PRECEDENCE": ["groups_inventory, all_inventory"],
    "INVENTORY_IGNORE_PATTERNS": ["hosts"],
    "INVENTORY_IGNORE_EXTS": ["osts"],
    "YAML_FILENAME_EXTENSIONS": [".json"],
    "DEFAULT_JINJA2_EXTENSIONS": ["jinja2.ext.do"],
    "DEFAULT_ROLES_PATH": ["elsewhere"],
    "DEFAULT_VARS_PLUGIN_PATH": ["plugs"],
    "PLAYBOOK_DIR": ["below"],
    "INVENTORY_ENABLED": ["ini", "yaml"],
    "VARIABLE_PLUGINS_ENABLED": ["", "nosuch"],
    "CACHE_PLUGIN": ["jsonfile"],
    "INTERPRETER_PYTHON": ["/usr/bin/python3"],
}
_SETTLED = [
    _play(
        [
            _show("a"),
            {**_show("blue"), "tags": "blue"},
            {"include_role": {"name": "r"}},
            {"import_role": {"name": "q"}},
            {"include_vars": "iv.yml"},
            {**_fact(vg="fact"), "changed_when": True, "notify": "handle"},
            _show("b"),
        ]
    ),
    _play([_show("c")], roles=["r"]),
]


def _rows(name: str, one: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A setting with each value that is not its default: section, key, text."""
    places = [] if name in _NOT_ASKED else one.get("ini") or []
    default, kind = one.get("default"), str(one.get("type"))
    if kind.startswith("bool"):
        texts = [str(str(default).lower() != "true").lower()]
    elif one.get("choices"):
        texts = [str(choice) for choice in one["choices"] if choice != default]
    else:
        texts = _TEXTS_OF.get(name, ["3" if kind in ("int", "integer", "float") else "nowhere"])
    yield from ((place["section"], place["key"], text) for place in places for text in texts)


if __name__ == "__main__":
    sys.exit(main())
