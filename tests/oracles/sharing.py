"""python -m tests.oracles.sharing [--count N] [--seed S] [--nodes N] [--unnoted | --hosts]

Random repositories of nodes that share answers, and random edits of them: `impact`, `matrix` and `where` beside
themselves with sharing off. Both must say the same. Facts differ in what recipes read, and in what they do not. Recipes
have conditions, loops over facts, deferred values, searches in data bags, Hiera lookups, names, and some use the time.
With --unnoted each repository has a program that uses the time, random numbers or the like, and no node may share.
Two of three have a site of bindings: categories of facts, of computed values and of names, values from facts and Hiera.
With --hosts the subjects are hosts of Ansible, in groups and with variables of their own.
The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.errors import NodeattrsError
from nodeattrs.verbs.impact import Impact, ImpactOptions, impact
from nodeattrs.verbs.values import matrix
from nodeattrs.verbs.where import where

Files = dict[str, str]

_DIALECTS = ["nodes", "hiera", "bindings"]

_SITES = ("main", "spare")
_READS = (
    "node['platform']",
    "node['cpu']['total']",
    "node['net']['mtu']",
    "node['site']",
    "node.get('rack')",
    "node.read('disks', 'sda', 'size')",
    "sorted(node['disks'])",
    "[disk['size'] for disk in node['disks'].values()]",
    "len(node['net'])",
    "node['flags']",
    "'gpu' in node",
    "'gpu' in node['flags']",
    "node.exist('disks', 'sdb')",
    "node['fqdn']",
    "node.name",
    "node['name']",
    "node['net'].to_dict()",
    "node['net', 'mtu']",
    "node.automatic['site']",
    "node.dig('cpu', 'total')",
    "value_for_platform({('debian', 'ubuntu'): {'default': 'd'}, 'default': 'x'})",
    "bool(debian)",
    "lookup('app::port')",
    "lookup('app::motd')",
    "lookup('app::users')",
    "data_bag_item('people', 'ann')['shell']",
    "len(search('people', 'shell:' + node['site']))",
    "[one['id'] for one in search('people', 'shell:zsh')]",
    "has_role('web')",
    "has_attribute('gpu')",
    "node['app']['port']",
    "dict(node['app'])",
    "node.debug_value('site')",
    "node.to_dict()['platform']",
    "json.dumps(node['net'].to_dict())",
    "str(node.trace('site').value)",
)
"""What recipes and attribute files read; some only in one kind of file."""

_BOUND = (
    "inject('b::port')",
    "inject('b::motd')",
    "inject('b::list')",
    "inject('b::checks', 'Array[Type[Check]]')[0].line()",
    "inject('app::port')",
    "parameters('b', port=3, motd='none', size=1)['port']",
    "parameters('app', port=4)['port']",
)
"""What recipes of a repository with bindings read, too."""

_UNNOTED = (
    ("import time", "time.time() < {}"),
    ("import random", "random.random() < {}"),
    ("from random import choice", "choice([1]) < {}"),
    ("from datetime import datetime", "datetime.now().year < {}"),
    ("import uuid", "uuid.uuid4().int < {}"),
    ("import os", "len(os.environ) < {}"),
    ("import secrets as other", "other.randbelow(9) < {}"),
    ("", "hash('a') < {}"),
    ("", "len(open('/etc/hostname').read()) < {}"),
    ("", "__import__('time').time() < {}"),
)
"""Programs that use what no look names: (import, value). The values are the same each time."""

_RECIPES_ONLY = ("lookup(", "inject(", "parameters(", "has_attribute")
_ATTRIBUTES_ONLY = "has_attribute"

_CATEGORIES = {
    "site": ("$site", ("main", "spare", "MAIN")),
    "platform": ("$platform", ("debian", "redhat")),
    "role": ("$role", ("web", "db")),
    "rack": ("$::rack", ("r1", "r2")),
    "gpu": ("$gpu", ("true", "1")),
    "kind": ('"$platform-$site"', ("debian-main", "redhat-spare")),
    "size": ("$cpu['total']", ("2", "4")),
}
"""Categories of sites of bindings: the value that a site lists, and values that conditions name."""

_TEXTS = ("hello", "$platform", "at $site", "$fqdn", "${b::port}", "$role", "$rack", "$uptime", "${app::port}")
"""Texts that are bound, with variables in them."""


_KEYS = (
    "app.port",
    "app.x",
    "app.y",
    "app.disk_sda",
    "site",
    "net.extra",
    "z",
    "rack",
    "gpu",
    "name",
    "'app::motd'",
    "'b::motd'",
)


def _facts(name: str, rand: random.Random) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "platform": rand.choice(["debian", "debian", "redhat"]),
        "platform_family": "debian",
        "platform_version": "12",
        "fqdn": f"{name}.example.com",
        "uptime": rand.randrange(10**6),
        "site": rand.choice(_SITES),
        "cpu": {"total": rand.choice([2, 4]), "mhz": rand.random()},
        "net": {"mtu": rand.choice([1500, 9000]), "mac": f"02:{rand.randrange(256):02x}"},
        "disks": {one: {"size": rand.choice([1, 2])} for one in rand.choice([["sda"], ["sda"], ["sda", "sdb"]])},
        "flags": rand.choice([["a"], ["a", "gpu"], ["gpu", "a"]]),
    }
    if rand.random() < 0.3:
        facts["rack"] = rand.choice(["r1", "r2"])
    if rand.random() < 0.2:
        facts["gpu"] = rand.choice([True, 1, None])
    if rand.random() < 0.1:
        facts["app"] = {"port": rand.choice([1, 2])}
    return facts


def _value(rand: random.Random, reads: Callable[[], str], is_deep: bool = True) -> str:
    kind = rand.randrange(8 if is_deep else 3)
    return {
        0: lambda: str(rand.randrange(9)),
        1: lambda: repr(rand.choice(["a", "b"])),
        2: reads,
        3: lambda: f'f"{{{reads()}}}: {rand.randrange(3)}"'.replace("'", "'"),
        4: lambda: f"[{rand.randrange(3)}, {reads()}]",
        5: lambda: f"({rand.randrange(3)} if {reads()} == {_value(rand, reads, False)} else {reads()})",
        6: lambda: f"lazy(lambda: {reads()})",
        7: lambda: f"lazy(lambda: f\"{{node['fqdn']}} {{node['site']}} {rand.randrange(3)}\")",
    }[kind]()


def _program(rand: random.Random, writer: str, known: list[str], is_recipe: bool, is_unnoted: bool) -> str:
    def reads() -> str:
        left = _ATTRIBUTES_ONLY if is_recipe else _RECIPES_ONLY[:-1]
        return rand.choice([one for one in (*known, "node['platform']") if not one.startswith(left)])

    needed, value = rand.choice(_UNNOTED) if is_unnoted else ("", "")
    lines = ["import json", needed]
    for _ in range(rand.randint(1, 5)):
        path = rand.choice(["['app']['port']", "['app']['x']", "['app']['y']", "['site']", "['net']['extra']", "['z']"])
        match rand.randrange(6):
            case 0:
                lines.append(f"if {reads()} == {_value(rand, reads, False)}:")
                lines.append(f"    {writer}{path} = {_value(rand, reads)}")
            case 1:
                lines.append("for disk in node['disks']:")
                lines.append(f"    {writer}['app']['disk_' + disk] = {_value(rand, reads)}")
            case 2 if is_recipe:
                lines.append("log(f\"{node['fqdn']} has {len(node['flags'])}\")")
            case 3 if is_recipe:
                lines.append(f"file('/etc/{rand.choice('ab')}', content=str({_value(rand, reads)}))")
            case _:
                lines.append(f"{writer}{path} = {_value(rand, reads)}")
    if is_unnoted:
        lines.append(f"{writer}['when'] = {value.format(rand.choice([-(10**30), 10**50]))}")
    return "\n".join(lines) + "\n"


def repository(rand: random.Random, count: int, is_unnoted: bool = False) -> Files:
    """The files of a repository: roles, an environment, a cookbook, a Hiera tree, data bags, nodes and their facts.

    is_unnoted: True: a program uses what no look names; False: a program in one of twenty repositories does
    """
    is_unnoted, known = is_unnoted or rand.random() < 0.05, rand.sample(_READS, rand.randint(2, 9))
    is_in_recipe = rand.random() < 0.5
    files: Files = {"nodeattrs.toml": 'hiera = "hiera"\n'}
    if rand.random() < 0.67:
        files |= _site(rand, count)
        known += rand.sample(_BOUND, rand.randint(1, 4))
    for role in ("web", "db"):
        tree = {"name": role, "run_list": ["recipe[app]"], "default_attributes": {"app": {"port": rand.randrange(3)}}}
        files[f"roles/{role}.json"] = json.dumps(tree, indent=1)
    files["environments/prod.json"] = json.dumps(
        {"name": "prod", "override_attributes": {"app": {"w": 1}, "site": "x"}}, indent=1
    )
    files["cookbooks/app/metadata.json"] = '{"name": "app", "version": "1.0.0"}\n'
    files["cookbooks/app/attributes/default.py"] = _program(
        rand, "default", known, False, is_unnoted and not is_in_recipe
    )
    files["cookbooks/app/attributes/more.yaml"] = (
        "default:\n  app: {w: 2}\nblocks:\n"
        f"- when: {{{rand.choice(['site: main', 'platform: redhat', 'cpu.total: 4'])}}}\n"
        f"  default:\n    app: {{when: {rand.randrange(3)}}}\n"
    )
    files["cookbooks/app/recipes/default.py"] = _program(rand, "node.default", known, True, is_unnoted and is_in_recipe)
    files["data_bags/people/ann.json"] = '{"id": "ann",\n "shell": "zsh"}\n'
    files["data_bags/people/bob.json"] = '{"id": "bob",\n "shell": "main"}\n'
    files["hiera/hiera.yaml"] = (
        "version: 5\nhierarchy:\n- {name: n, path: 'nodes/%{trusted.certname}.yaml'}\n"
        "- {name: s, path: 'site/%{facts.site}.yaml'}\n"
        "- {name: r, path: '%{chef_environment}/%{facts.platform}.yaml'}\n"
        "- {name: c, path: c.yaml}\n"
    )
    motd = rand.choice(["hi", "%{facts.platform}", "%{facts.fqdn} %{lookup('app::port')}"])
    files["hiera/data/c.yaml"] = f'app::port: 1\napp::motd: "{motd}"\napp::users:\n  ann: 1\n'
    files["hiera/data/site/main.yaml"] = f"app::port: {rand.randrange(3)}\n"
    for number in range(count):
        name = f"node-{number:03d}"
        node: dict[str, Any] = {"name": name, "chef_environment": rand.choice(["prod", "_default"])}
        node["run_list"] = [f"role[{rand.choice(['web', 'db'])}]"]
        if rand.random() < 0.05:
            node["normal"] = {"app": {"port": rand.randrange(3)}}
        files[f"nodes/{name}.json"] = json.dumps(node, indent=1)
        if rand.random() < 0.97:
            files[f"facts/{name}.json"] = json.dumps(_facts(name, rand), indent=1)
    if rand.random() < 0.3:
        files[f"hiera/data/nodes/node-{rand.randrange(count):03d}.yaml"] = "app::port: 7\n"
    return files


def _site(rand: random.Random, count: int) -> Files:
    """The files of a site of bindings, with the settings that name it."""
    categories = rand.sample([*_CATEGORIES], rand.randint(1, 3))
    listed = "".join(f"    {name} => {_CATEGORIES[name][0]},\n" for name in categories)
    node = rand.choice(["", "    node => $fqdn,\n", "    node => $hostname,\n"])
    hiera = rand.choice(["", "    layer { 'hiera': include => 'hiera:/app::*' },\n"])
    provider = "    layer { 'own': include => 'own:/x' },\n" if rand.random() < 0.1 else ""
    ran = "import time\n" if rand.random() < 0.05 else ""
    made = {
        "nodeattrs.toml": 'hiera = "hiera"\n[bindings]\nsite = "site"\nclasses = ["site/checks.py:Check"]\n'
        + ('[bindings.providers]\nown = "site/own.py:own"\n' if provider else ""),
        "site/environments.pp": "site {\n  environment { 'production': }\n  environment { 'prod': }\n}\n",
        "site/manifests/site.pp": f"site {{\n  categories {{\n{node}    environment => true,\n{listed}  }}\n"
        f"  bindings => [\n    layer {{ 'site': include => 'confdir:/default' }},\n{provider}{hiera}"
        "    layer { 'modules': include => 'module:/*::default' },\n  ]\n}\n",
        "site/checks.py": f"{ran}\n\nclass Check:\n    def line(self) -> str:\n        return 'check 1'\n",
        "site/own.py": "from nodeattrs.bindings import Bindings\n\n\ndef own(references, request):\n"
        "    made = Bindings('own')\n    made.bind('b::uptime').to(request.facts.get('uptime'))\n    return [made]\n",
        "site/modules/b/bindings/default.pp": "bindings b::default {\n"
        f"  bind 'b::port' to {rand.randrange(9)}\n  bind 'b::motd' to \"{rand.choice(_TEXTS)}\"\n"
        f"  bind 'b::list' to [1, {rand.randrange(9)}]\n  bind 'app::port' to 5\n"
        "  multibind Array[Type[Check]], 'b::checks'\n  bind to Type[Check] in 'b::checks'\n"
        "  bind parameters b to { port => 6 }\n}\n",
    }
    conditions = [(name, repr(rand.choice(_CATEGORIES[name][1]))) for name in categories]
    conditions.append(("node", repr(f"node-{rand.randrange(count):03d}{rand.choice(['', '.example.com'])}")))
    blocks = []
    for name, value in rand.sample(conditions, rand.randint(1, len(conditions))):
        other, its = rand.choice(conditions)
        both = f" and {other} {its}" if other != name and rand.random() < 0.3 else ""
        what = rand.choice(["port", "motd", "list"])
        to = rand.choice([f'"{rand.choice(_TEXTS)} {rand.randrange(9)}"', str(rand.randrange(9)), '"$uptime"'])
        blocks.append(f"  when {name} {value}{both} {{\n    bind override 'b::{what}' to {to}\n  }}\n")
    made["site/bindings/default.pp"] = f"bindings default {{\n{''.join(blocks)}}}\n"
    return made


_VARIABLES = ("port", "group_names", "inventory_hostname", "inventory_dir", "m", "name", "hosts")
"""Names of variables of hosts; Ansible sets some of them itself."""


def inventory(rand: random.Random, count: int) -> Files:
    """The files of an inventory: hosts in groups and groups below these, some with variables of their own."""

    def variables() -> str:
        chosen = rand.sample(_VARIABLES, rand.randint(0, 3))
        values = ["{a: 1}", "{b: [1, 2]}", "5", "'{{ port }}'", "'{{ inventory_hostname }}'", "!vault x", "yes"]
        return "".join(f"{name}: {rand.choice(values)}\n" for name in chosen) or rand.choice(["", "# none\n"])

    merging = rand.choice(["", "hash_behaviour = merge\n", "inject_facts_as_vars = no\n", "vars_plugins = plugins\n"])
    files: Files = {"ansible.cfg": f"[defaults]\ninventory = hosts.ini\n{merging}", "group_vars/all.yml": variables()}
    groups = [f"g{number}" for number in range(rand.randint(2, 6))]
    lines = rand.sample(["alone", "h[0:3]", "web.example.com ansible_port=2"], rand.randint(0, 3))
    for group in groups:
        own = [*[""] * 9, " m=1"]
        lines += [f"[{group}]", *(f"h{rand.randrange(count)}{rand.choice(own)}" for _ in range(count // 2))]
        if rand.random() < 0.7:
            files[f"group_vars/{group}{rand.choice(['', '.yml', '/x.yml'])}"] = variables()
        if rand.random() < 0.2:
            lines += [f"[{group}:vars]", f"port={rand.randrange(9)}", f"ansible_group_priority={rand.randrange(9)}"]
    for name in ("above", "top"):
        lines += [f"[{name}:children]", *rand.sample(groups, 2)]
        files[f"group_vars/{name}.yml"] = variables()
    for number in rand.sample(range(count), rand.randint(0, count // 8)):
        files[f"host_vars/h{number}{rand.choice(['', '.yml', '.json', '/x.yml', '.txt'])}"] = variables()
    if rand.random() < 0.2:
        files["plugins/own.py"] = "class VarsModule:\n    def get_vars(self):\n        return {'port': 1}\n"
    return {**files, "hosts.ini": "\n".join(lines) + "\n"}


def edited(files: Files, rand: random.Random) -> Files:
    """The files with one or two of them edited: a number, a word, a line that goes; a file that comes or goes."""
    after = dict(files)
    for _ in range(rand.randint(1, 2)):
        shared = [one for one in sorted(after) if not one.startswith(("nodes/", "facts/"))]
        name = rand.choice(shared if rand.random() < 0.9 else sorted(after))
        lines = after[name].split("\n")
        at = rand.randrange(len(lines))
        match rand.randrange(7):
            case 0:
                lines = lines[:at] + lines[at + 1 :]
            case 1:
                after[f"hiera/data/nodes/node-{rand.randrange(9):03d}.yaml"] = f"app::port: {rand.randrange(9)}\n"
            case 2:
                after[f"hiera/data/site/{rand.choice(_SITES)}.yaml"] = f"app::port: {rand.randrange(9)}\n"
            case _:
                number = rand.randrange(10)
                lines = ["".join(str((int(c) + number) % 10) if c.isdigit() else c for c in line) if n == at else line
                         for n, line in enumerate(lines)]  # fmt: skip
        after[name] = "\n".join(lines)
    return after


def said(found: Impact) -> Any:
    """All that an impact says, but for how it was found."""
    asked = [replace(one, shared=0, checked=0, seed=0, one_by_one=0) for one in found.dialects]
    return replace(found, dialects=asked)


def _written(files: Files, folder: Path) -> Side:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder_side(folder)


def case(rand: random.Random, count: int, is_unnoted: bool = False) -> tuple[list[str], int, int]:
    """What is wrong in one case; how many subjects share an answer, and how many there are."""
    return _compared(rand, repository(rand, count, is_unnoted), _DIALECTS, _KEYS, is_unnoted)


def case_of_hosts(rand: random.Random, count: int) -> tuple[list[str], int, int]:
    """As `case`, for an inventory of Ansible."""
    return _compared(rand, inventory(rand, count), ["ansible"], _VARIABLES)


def _compared(
    rand: random.Random, before: Files, dialects: list[str], keys: Sequence[str], is_unnoted: bool = False
) -> tuple[list[str], int, int]:
    after = edited(before, rand)
    with tempfile.TemporaryDirectory() as place:
        top = Path(place).resolve()
        sides = _written(before, top / "old"), _written(after, top / "new")
        found = []
        for sharing in (True, False):
            (private := top / f"private{sharing}").mkdir()
            found.append(impact(*sides, Request(), ImpactOptions(private, dialects, sharing=sharing, jobs=1)))
        wrong = [] if said(found[0]) == said(found[1]) else [f"impact: {_first_difference(*found)}"]
        if is_unnoted and any(one.shared for one in found[0].dialects if one.dialect == "nodes"):
            wrong.append("impact: nodes share answers of a program that may compute anything")
        # One question a case: each is asked of every subject, twice, and takes as long as half an impact.
        key, (verb, said_by) = rand.choice(keys), rand.choice((("matrix", _values), ("where", _lines)))
        asked = [
            Question(sides[1], Request(), {"place": None, "key": key, "no_sharing": one}, dialects)
            for one in (False, True)
        ]
        answers = [_answer_or_error(said_by, one) for one in asked]
        wrong += [] if answers[0] == answers[1] else [f"{verb}: {key}"]
    return wrong, sum(one.shared for one in found[0].dialects), sum(one.known for one in found[0].dialects)


def _answer_or_error(said_by: Callable[[Question], Any], question: Question) -> Any:
    """What a verb says, or the text of its error: an edit may break a file that every answer needs."""
    try:
        return said_by(question)
    except NodeattrsError as error:
        return str(error)


def _lines(question: Question) -> Any:
    """What `where` says of the lines that set a key, and what was not read."""
    output = where(question)
    return output.report.to_dict(), output.code, [*map(str, output.unread)], [*map(str, output.warnings)]


def _values(question: Question) -> Any:
    """What a matrix says of each subject, and what was not read."""
    output = matrix(question)
    cells = [(name, cell.key, str(cell.value), cell.origins, cell.unread) for name, cell in output.report.cells]
    return cells, [*dict.fromkeys(map(str, output.unread))]


def _first_difference(one: Impact, other: Impact) -> str:
    for name in ("groups", "silent", "notes", "dialects", "files", "unread"):
        its = getattr(said(one), name), getattr(said(other), name)
        if its[0] != its[1]:
            lost = [str(a)[:400] for a in its[0] if a not in its[1]], [str(a)[:400] for a in its[1] if a not in its[0]]
            return f"{name}: {lost}"
    return "?"


def main() -> int:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--unnoted", action="store_true")
    parser.add_argument("--hosts", action="store_true", help="inventories of Ansible")
    options = parser.parse_args()
    failed = shared = known = 0
    began = time.process_time()
    for number in range(options.seed, options.seed + options.count):
        rand = random.Random(number)
        wrong, its, of = (
            case_of_hosts(rand, options.nodes) if options.hosts else case(rand, options.nodes, options.unnoted)
        )
        shared, known, failed = shared + its, known + of, failed + bool(wrong)
        if number % 20 == 19:
            spent = time.process_time() - began
            print(f"{number - options.seed + 1} cases, {spent:.0f} s", file=sys.stderr, flush=True)
        for one in wrong:
            print(f"seed {number}: {one}", flush=True)
    print(f"{shared} of {known} subjects shared an answer")
    print(f"{options.count - failed} passed, {failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
