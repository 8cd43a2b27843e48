"""Draws a tree: valid parts of each dialect, and parts that are hostile. It writes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.hostile import hostile
from tests.hostile.draw import Draw
from tests.hostile.entries import File, Store, Tree

__all__ = ["DIALECTS", "drawn", "valid"]

HIERA = """\
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
- {name: nodes, path: "nodes/%{trusted.certname}.yaml"}
- {name: more, glob: "more/*.yaml"}
- {name: common, paths: [common.yaml, other.yaml]}
"""
SITE = """\
- hosts: web
  vars_files: [vars/site.yml]
  roles: [app]
  tasks:
  - include_vars: vars/more.yml
  - name: restart
    debug: {msg: "{{ k }}"}
    vars: {k: task}
"""
CLOUD = "#cloud-config\nhostname: web1\nk: 1\na: [1, 2]\nwrite_files: [{path: /etc/x, content: y}]\n"
NODES = ("web1", "web2")
FACTS = {
    "platform": "debian",
    "platform_family": "debian",
    "platform_version": "12",
    "fqdn": "web1.example.org",
    "os": {"family": "Debian"},
}


def _chef(draw: Draw) -> None:
    put = draw.tree.put
    for name in NODES:
        put(f"nodes/{name}.json", {"name": name, "chef_environment": "production", "run_list": ["role[web]"]})
    levels = {"default_attributes": {"k": 1, "a": {"b": [1, 2]}, "app": {"workers": 4}}}
    put("roles/web.json", {"name": "web", **levels, "run_list": ["recipe[app]"]}, "role")
    put("roles/db.json", {"name": "db", "override_attributes": {"k": 3}, "run_list": []}, "role")
    draw.tree.base["roles/web.json"] = File('{"name": "web", "default_attributes": {"k": 0}, "run_list": []}')
    put("environments/production.json", {"name": "production", "override_attributes": {"k": 2}}, "environment")
    put("other/nodes/web1.json", {"name": "web1", "run_list": ["role[web]"]})
    put("other/roles/web.json", {"name": "web", "default_attributes": {"k": 7}})
    put("data_bags/users/alice.json", {"id": "alice", "uid": 1})
    put("cookbooks/app/metadata.json", {"name": "app", "version": "1.0.0"})
    put("cookbooks/app/attributes/default.yaml", "default: {app: {workers: 8}, k: 5}\n")
    put("facts/web1.json", FACTS)


def _hiera(draw: Draw) -> None:
    put = draw.tree.put
    put("hiera.yaml", HIERA, "hiera")
    put("data/common.yaml", "k: 1\na: {b: \"%{lookup('k')}\"}\nusers: [root]\nprofile::port: 80\n")
    put("data/nodes/web1.yaml", "k: 2\nusers: [ann]\nlookup_options: {users: {merge: unique}}\n")
    put("data/more/x.yaml", "a: {c: 3}\n")
    draw.tree.base["data/common.yaml"] = File("k: 0\n")
    put("facts/web1.json", FACTS)
    put("other/hiera.yaml", HIERA)
    put("other/data/common.yaml", "k: 3\nusers: [eve]\n")
    put("puppet/environments/production/hiera.yaml", HIERA)
    put("puppet/environments/production/data/common.yaml", "k: 4\nusers: [ops]\n")
    put("puppet/environments/production/environment.conf", "modulepath = modules\n")
    put("puppet/environments/production/modules/profile/hiera.yaml", HIERA)
    put("puppet/environments/production/modules/profile/data/common.yaml", "profile::port: 443\n")
    put("puppet/puppet.conf", "[main]\nenvironmentpath = $confdir/environments\n", "puppet")


def _ansible(draw: Draw) -> None:
    put = draw.tree.put
    put("ansible.cfg", "[defaults]\ninventory = hosts.ini\nroles_path = roles\n")
    put("hosts.ini", "[web]\nweb1 k=1\nweb2\n[web:vars]\na=2\n", "inventory")
    put("hosts.yaml", "all: {children: {web: {hosts: {web1: {k: 1}, web2: {}}}}}\n", "inventory")
    put("group_vars/all.yml", "k: all\nusers: ['{{ k }}']\n")
    put("group_vars/web/main.yml", "a: web\n")
    put("host_vars/web1.yml", "k: host\n")
    put("roles/app/defaults/main.yml", "k: default\nprofile: 1\n")
    put("roles/app/tasks/main.yml", "- name: t\n  debug: {msg: '{{ k }}'}\n")
    put("vars/site.yml", "k: site\n")
    put("vars/more.yml", "k: more\n")
    put("site.yml", SITE, "playbook")
    draw.tree.base["group_vars/all.yml"] = File("k: before\n")


def _cloud(draw: Draw) -> None:
    put = draw.tree.put
    put("user-data", CLOUD, "user-data")
    put("cloud/web.yaml", f"{CLOUD}merge_how: 'dict(replace)+list(append)'\nruncmd: [ls]\n", "user-data")
    put("cloud/vendor.yaml", "#cloud-config\nk: vendor\npackages: [x]\n", "vendor")
    put("cloud/cloud.cfg.d/10-a.cfg", "k: confd\n")
    put("cloud/instance.json", {"v1": {"distro": "debian", "region": "x"}, "ds": {"meta_data": {"k": 1}}}, "instance")
    put("cloud/t.yaml", "## template: jinja\n#cloud-config\nk: '{{ v1.region }}'\n", "user-data")


def _bindings(draw: Draw) -> None:
    put = draw.tree.put
    layers = "[{name: site, include: ['confdir:/low']}, {name: modules, include: ['module:/*::default']}]"
    put("manifests/site.yaml", f"site: {{categories: [[node, $fqdn], [environment, true]], layers: {layers}}}\n")
    items = "{kind: bind, name: k, to: {value: 1}}, {kind: bind, name: app.workers, type: Integer, to: {value: 2}}"
    put("bindings/low.yaml", f"name: low\nitems: [{items}]\n")
    put("modules/ntp/bindings/default.pp", "bindings ntp::default {\n  bind 'ntp::drift' to '/var/lib'\n}\n")
    put("facts/web1.json", FACTS)


def _fold(draw: Draw) -> None:
    put = draw.tree.put
    put("fold/base.yaml", "k: 1\na: {b: [1], c: x}\napp: {workers: 1}\n", "fold")
    put("fold/prod.json", {"k": 2, "a": {"b": [2]}}, "fold")
    put("fold/x.env", "K=1\nA_B=2\n", "env")
    put("fold/x.toml", 'k = 3\n[app]\nworkers = "x"\n', "fold")
    put("fold/x.ini", "[app]\nworkers=3\n", "fold")
    draw.tree.base["fold/base.yaml"] = File("k: 0\n")


def _catalog(draw: Draw) -> None:
    put = draw.tree.put
    file = {"type": "File", "title": "/etc/x", "parameters": {"content": "x", "ensure": "present"}}
    service = {"type": "Service", "title": "x", "parameters": {"subscribe": "File[/etc/x]"}}
    put("catalogs/web1.json", {"name": "web1", "resources": [file, service]}, "catalog")
    put("catalogs/web2.json", {"name": "web2", "resources": [file]}, "catalog")
    put("compiled/web1.json", {"name": "web1", "version": 1, "resources": [file, service], "edges": []}, "compiled")


def _store(draw: Draw) -> None:
    draw.tree.put("saved.db", Store("sqlite"), "store")
    draw.tree.put("saved", Store("folder"), "export")
    draw.tree.put("saved.jsonl", '{"name": "web3", "normal": {"k": 1}}\n', "export")


DIALECTS: dict[str, Callable[[Draw], None]] = {
    "chef": _chef,
    "hiera": _hiera,
    "ansible": _ansible,
    "cloud": _cloud,
    "bindings": _bindings,
    "fold": _fold,
    "catalog": _catalog,
    "store": _store,
}
"""The valid parts of each dialect."""


_SETTINGS_BEFORE = """\
hiera = "."
bindings = "."
[fold.outer]
files = ["fold/base.yaml"]
[cloud-init.outer]
files = ["user-data"]
[ansible.outer]
inventory = "hosts.ini"
"""


def _settings(draw: Draw, dialects: Sequence[str]) -> None:
    lines = ['store = "saved.db"'] if "store" in dialects else []
    lines += ['sensitive = ["password"]']
    if "hiera" in dialects:
        lines.insert(0, 'hiera = "."')
    if "fold" in dialects:
        lines += ["[fold.shop]", 'files = ["fold/base.yaml", "fold/prod.json"]']
    if "cloud" in dialects:
        lines += ["[cloud-init.web]", 'files = ["user-data", "cloud/web.yaml"]', 'vendor = "cloud/vendor.yaml"']
    if "ansible" in dialects:
        lines += ["[ansible.site]", 'inventory = "hosts.ini"', "[ansible.groups]", 'web = "k:1"']
    draw.tree.put("nodeattrs.toml", "\n".join([*lines, ""]))
    draw.tree.base["nodeattrs.toml"] = File(_SETTINGS_BEFORE)


def valid(dialects: Sequence[str], nodes: int = 0) -> Tree:
    """A tree that is not hostile. nodes: how many more it has"""
    draw = Draw(random.Random(0), Tree())
    for name in dialects:
        DIALECTS[name](draw)
    for number in range(nodes):
        draw.tree.put(f"nodes/n{number}.json", {"name": f"n{number}", "run_list": ["role[web]"]})
    _settings(draw, dialects)
    return draw.tree


def drawn(chance: random.Random, wanted: Sequence[str]) -> Tree:
    """A tree with the dialects that are wanted, perhaps others, and two to nine hostile parts, most of them theirs."""
    draw = Draw(chance, Tree())
    dialects = [name for name in DIALECTS if name in wanted or chance.random() < 0.3]
    for name in dialects:
        DIALECTS[name](draw)
    _settings(draw, dialects)
    anywhere = [part for parts in hostile.PARTS.values() for part in parts]
    near = [part for name in wanted for part in hostile.PARTS.get(name, ())]
    for _ in range(chance.randint(2, 9)):
        part = chance.choice(near if near and chance.random() < 0.65 else anywhere)
        part(draw)
    if chance.random() < 0.3:
        draw.tree.quirks.add("uncommitted")
    return draw.tree
