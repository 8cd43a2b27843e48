"""What lies around a repository: files with markers that no command may print, and a home folder with more of them."""

from __future__ import annotations

import hashlib

from tests.hostile.entries import python

__all__ = ["PLACES", "VARIABLE", "home", "marker", "names", "outer"]

VARIABLE = "HOSTILE_SECRET"
"""A variable of the environment that holds a marker."""


def marker(seed: int, name: str) -> str:
    """The value that only one place holds.

    >>> marker(1, "outer/data.yaml") == marker(1, "outer/data.yaml") != marker(2, "outer/data.yaml")
    True
    """
    return "MK" + hashlib.sha256(f"{seed} {name}".encode()).hexdigest()[:16]


_ROLE = (
    '{"name": "web", "default_attributes": {"k": "MARK", "a": "MARK", "secret": "MARK", "app": {"workers": "MARK"}}, '
    '"run_list": []}'
)
_DATA = "k: MARK\na: MARK\nsecret: MARK\nusers: [MARK]\nprofile::port: MARK\napp: {workers: MARK}\nMARK: 1\n"
_JSON = '{"k": "MARK", "a": "MARK", "secret": "MARK", "profile::port": "MARK", "app": {"workers": "MARK"}, "MARK": 1}'
_HIERA = "version: 5\nhierarchy: [{name: outer MARK, path: common.yaml}]\n"
_OUTER = {
    "data.yaml": _DATA,
    "data.json": _JSON,
    "data.toml": 'k = "MARK"\na = "MARK"\nsecret = "MARK"\n',
    "x.env": "K=MARK\nk=MARK\nsecret=MARK\nMARK=1\n",
    "x.ini": "[app]\nworkers=MARK\nk=MARK\nMARK=1\n",
    "x.properties": "k=MARK\nsecret: MARK\n",
    "hosts.ini": "[web]\nweb1 k=MARK secret=MARK\nMARK k=MARK\n",
    "hosts.yaml": "all: {hosts: {web1: {k: MARK, secret: MARK}, MARK: {}}}\n",
    "hosts/one": "web1 k=MARK\n",
    "hosts/group_vars/all.yml": "k: MARK\nsecret: MARK\n",
    "ansible.cfg": "[defaults]\ninventory = hosts.ini\n",
    "hiera/hiera.yaml": _HIERA,
    "hiera/data/common.yaml": _DATA,
    "hiera/data/nodes/web1.yaml": _DATA,
    "roles/web.json": _ROLE,
    "roles/app/defaults/main.yml": _DATA,
    "roles/app/vars/main.yml": _DATA,
    "roles/app/tasks/main.yml": "- name: t\n  debug: {msg: MARK}\n  vars: {k: MARK, secret: MARK}\n",
    "nodes/web1.json": '{"name": "web1", "normal": {"k": "MARK", "MARK": 1}, "run_list": []}',
    "nodes/MARK.json": '{"name": "MARK", "run_list": []}',
    "cookbooks/app/metadata.json": '{"name": "app", "version": "1.0.0", "description": "MARK"}',
    "cookbooks/app/attributes/default.yaml": "default: {k: MARK, secret: MARK}\n",
    "cookbooks/MARK/metadata.json": '{"name": "MARK", "version": "1.0.0"}',
    "facts/web1.json": '{"k": "MARK", "platform": "MARK", "fqdn": "MARK"}',
    "fauxhai/debian/12.json": '{"platform": "debian", "platform_version": "12", "k": "MARK"}',
    "user-data": "#cloud-config\nhostname: MARK\nk: MARK\nusers: [{name: MARK}]\n",
    "site/manifests/site.yaml": "site: {layers: [{name: MARK, include: ['confdir:/low']}]}\n",
    "site/bindings/low.yaml": "name: low\nitems: [{kind: bind, name: k, to: {value: MARK}}]\n",
    "catalog.json": '{"resources": [{"type": "File", "title": "/MARK", "parameters": {"content": "MARK"}}]}',
    "schema.json": '{"properties": {"k": {"enum": ["MARK"]}}}',
    "baseline.json": '{"findings": [{"code": "MARK"}]}',
    "private_key.pem": "-----BEGIN PRIVATE KEY-----\nMARK\n-----END PRIVATE KEY-----\n",
    "password.txt": "MARK\n",
    "tasks.yml": "- name: t\n  debug: {msg: MARK}\n  vars: {k: MARK}\n",
    "template.j2": "MARK {{ k }}\n",
    "gitdir/HEAD": "MARK\n",
    "gitdir/config": "[user]\nname = MARK\n",
    "folder/MARK.yaml": _DATA,
    "folder/web1.yaml": _DATA,
    "folder/web1.json": _JSON,
}
_HOME = {
    ".gitconfig": "[user]\nname = MARK\nemail = MARK@example.org\n",
    ".config/git/config": "[core]\nabbrev = 12\n",
    ".config/git/attributes": "*.MARK text\n",
    ".config/nodeattrs/config.toml": "# MARK\n",
    ".ansible.cfg": "[defaults]\ninventory = ~/.ansible/hosts\n# MARK\n",
    ".ansible/hosts": "web1 k=MARK\nMARK\n",
    ".ansible/roles/app/defaults/main.yml": _DATA,
    ".ansible/vault.txt": "MARK\n",
    ".chef/knife.rb": 'node_name "MARK"\n',
    ".chef/credentials": '[default]\nclient_name = "MARK"\n',
    ".chef/encrypted_data_bag_secret": "MARK\n",
    ".eyaml/config.yaml": "---\npkcs7_private_key: MARK\n",
    ".eyaml/private_key.pkcs7.pem": "MARK\n",
    ".puppetlabs/etc/puppet/puppet.conf": "[main]\ncertname = MARK\n",
    ".puppetlabs/etc/puppet/hiera.yaml": _HIERA,
    ".puppetlabs/etc/puppet/data/common.yaml": _DATA,
    ".puppetlabs/etc/code/environments/production/data/common.yaml": _DATA,
    ".ssh/id_rsa": "MARK\n",
    ".pgpass": "127.0.0.1:*:*:*:MARK\n",
    ".netrc": "machine example.org login MARK\n",
    "data.yaml": _DATA,
    "outer.yaml": _DATA,
}


def _marked(seed: int, place: str, files: dict[str, str]) -> dict[str, str]:
    return {
        name.replace("MARK", mark): text.replace("MARK", mark)
        for name, text in files.items()
        for mark in [marker(seed, f"{place}/{name}")]
    }


def outer(seed: int) -> dict[str, str]:
    """The files beside the repository."""
    return {**_marked(seed, "outer", _OUTER), "outside.py": python("outer/outside.py")}


def home(seed: int) -> dict[str, str]:
    """The files of the home folder."""
    return _marked(seed, "home", _HOME)


def names(seed: int) -> dict[str, str]:
    """Marker -> the place that holds it."""
    places = {"outer": _OUTER, "home": _HOME}
    found = {marker(seed, f"{place}/{name}"): f"{place}/{name}" for place, files in places.items() for name in files}
    return {**found, marker(seed, VARIABLE): "the environment", marker(seed, "PGPASSWORD"): "PGPASSWORD"}


PLACES = {
    "yaml": ("data.yaml", "folder/web1.yaml", "user-data", "hosts.yaml"),
    "json": ("data.json", "roles/web.json", "nodes/web1.json"),
    "plain": ("data.yaml", "data.json", "data.toml", "x.env", "x.ini", "x.properties"),
    "inventory": ("hosts.ini", "hosts.yaml", "hosts"),
    "folder": ("folder", "hiera/data", "hosts", ""),
    "hiera": ("hiera", "hiera/hiera.yaml"),
    "roles": ("roles",),
    "nodes": ("nodes",),
    "cookbooks": ("cookbooks",),
    "facts": ("facts", "facts/web1.json"),
    "fauxhai": ("fauxhai",),
    "user-data": ("user-data",),
    "site": ("site",),
    "catalog": ("catalog.json",),
    "schema": ("schema.json", "data.yaml"),
    "baseline": ("baseline.json",),
    "key": ("private_key.pem", "password.txt"),
    "tasks": ("tasks.yml",),
    "template": ("template.j2", "data.yaml"),
}
"""Kind of place -> the files and folders of `outer` that are of it."""
