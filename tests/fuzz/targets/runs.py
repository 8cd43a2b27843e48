"""Repositories: settings, roles, environments, nodes, data bags, cookbooks, facts, run-lists and versions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs import Node
from nodeattrs.chef import Repository, Role, expand_run_list
from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.core.rules import WORDS
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.repository.attribute_data import AttributeData, set_data
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook, check_versions, cookbook_order
from nodeattrs.project.versions import Constraint, Version
from nodeattrs.store import saved_document
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_json, as_yaml
from tests.fuzz.target import Refused, Target, from_grammar, from_shape, json_of, texts_of, tried, vectors
from tests.fuzz.targets.texts import TOML_VALUES

__all__ = ["ITEMS", "NODE", "TARGETS", "written"]

ITEMS = (
    "recipe[a]", "recipe[a::b]", "recipe[a@1.2.3]", "recipe[a::b@0.1]", "role[web]", "role[base]", "a", "a::b",
    "a@1.0.0",
    "role[a-b_c]", "recipe[::b]",
)  # fmt: skip
_NAMES = ("web", "web", "web", "base")
_CONSTRAINTS = ("~> 1.2", ">= 1.0.0", "= 1.2.3", "< 2", "1.0", "", "> 0.0.1", "<= 9.9.9")
_DEPENDS = {"a": _CONSTRAINTS, "b": _CONSTRAINTS, "web": _CONSTRAINTS, "c-d": _CONSTRAINTS}
NODE = {
    "name": "web1", "chef_environment": ("_default", "prod"), "json_class": "Chef::Node", "chef_type": "node",
    "run_list": [ITEMS], "automatic": {"a": TREE, "recipes": [ITEMS], "os": "linux"},
    "normal": {"a": TREE, "tags": ["x"]},
    "default": {"a": TREE, "b": {"c": TREE}}, "override": {"a": TREE},
}  # fmt: skip
_ROLE = {
    "name": _NAMES, "description": "d", "json_class": "Chef::Role", "chef_type": "role", "run_list": [ITEMS],
    "default_attributes": {"a": TREE, "b": TREE}, "override_attributes": {"a": TREE},
    "env_run_lists": {"prod": [ITEMS], "_default": [ITEMS]},
}  # fmt: skip
_ENVIRONMENT = {
    "name": _NAMES, "description": "d", "json_class": "Chef::Environment", "chef_type": "environment",
    "default_attributes": {"a": TREE}, "override_attributes": {"b": TREE}, "cookbook_versions": _DEPENDS,
}  # fmt: skip
_METADATA = {
    "name": _NAMES, "version": ("1.2.3", "0.1", "10.0.0"), "description": "d", "depends": _DEPENDS, "maintainer": "x",
    "chef_version": ">= 12", "supports": {"ubuntu": ">= 1"}, "license": "x",
}  # fmt: skip


def _test(chance: random.Random, depth: int = 2) -> Any:
    """What a fact may have to be."""
    match chance.randrange(6 if depth else 3):
        case 3:
            return {"not": _test(chance, depth - 1)}
        case 4:
            return {"version": chance.choice((">= 1, < 2.0", "~> 1.2", 12))}
        case 5:
            return {"has": chance.choice(("web", 1, None))}
    return chance.choice((1, "ubuntu", None, True, 1.5, ["a", 1, None]))


def _when(chance: random.Random, depth: int = 2) -> Any:
    facts = chance.sample(("a", "platform", "kernel.name", '"a.b".0', "roles"), chance.choice((1, 1, 2)))
    found = {fact: _test(chance) for fact in facts}
    more = {"not": _when(chance, depth - 1)} if depth and chance.random() < 0.2 else {}
    return [found | more, found] if chance.random() < 0.2 else found | more


_LEVELS = {
    "when": _when,
    "default": {"a": TREE, "b": TREE},
    "override": {"a": TREE},
    "normal_unless": {"a": TREE},
}
_ATTRIBUTES = {**_LEVELS, "default_unless": {"a": TREE, "b": {"c": TREE}}, "blocks": [_LEVELS]}
_ITEM = (
    {"id": _NAMES, "a": TREE, "b": TREE},
    {"json_class": "Chef::DataBagItem", "raw_data": {"id": _NAMES, "a": TREE}},
)

_OHAI = {
    "platform": "ubuntu", "platform_version": ("22.04", 12), "fqdn": "a.example", "hostname": "a",
    "ipaddress": "10.0.0.1",
    "kernel": {"name": "Linux", "modules": {"x": TREE}},
    "network": {"interfaces": {"eth0": {"addresses": {"10.0.0.1": TREE}}}},
    "cpu": {"total": 2}, "a": TREE,
}  # fmt: skip
_FACTER = {
    "os": {"name": "Debian", "family": "Debian", "release": {"full": "12.1", "major": ("12", 12)},
        "distro": {"codename": "b"}},
    "networking": {
        "hostname": "a", "fqdn": "a.b", "ip": ("1.2.3.4", "::1", "x"), "mac": "00:11:22:33:44:55", "primary": "eth0",
        "interfaces": {"eth0": {"ip": "1.2.3.4", "mtu": 1500,
                "bindings": [{"address": "1.2.3.4", "netmask": ("255.0.255.0", "255.255.255.0")}],
                                "bindings6": [{"address": ("::1", "fe80::1%eth0"), "netmask": ("ffff::", "::/129")}]}},
    },
    "processors": {"count": (4, "4"), "physicalcount": 1, "models": ["x"], "speed": "2.4 GHz"},
    "memory": {"system": {"total_bytes": (1234567, "1 GiB"), "available": "x"}, "swap": {"total_bytes": 1}},
    "mountpoints": {"/": {"device": "/dev/a", "size_bytes": 1, "options": ["rw"], "filesystem": "ext4"}},
    "disks": {"sda": {"size_bytes": 1, "model": "m"}}, "kernel": "Linux", "kernelversion": "6.1", "virtual": "kvm",
    "is_virtual": (True, "true"),
    "system_uptime": {"seconds": 5}, "timezone": "UTC", "facterversion": "4",
}  # fmt: skip
_SETTINGS = Grammar(
    r"""
    start: top* table*
    top: "sensitive = [" [path (", " path)*] "]\n" | _TEXT " = " text "\n" | _CHEF " = " list "\n"
       | "store = " text "\n"
    table: "[" _TABLE "]\n" level* | "[merge]\n" rule* | "[limits]\n" limit*
    limit: _LIMIT " = " (_VALUE | _NUMBER) "\n"
    level: _LEVEL " = " list "\n"
    rule: path " = " (_RULE | "{merge_by = \"name\"}" | "{policy = " _RULE ", at = \"inside\"}") "\n"
    list: "[" [entry (", " entry)*] "]" | _VALUE
    entry: path | "[" path (", " path)* "]"
    path: _PATH
    text: _VALUE | path
    """,
    {
        "_TEXT": ("environment", "hiera", "bindings", "limits", "x"),
        "_CHEF": ("allowed_automatic_attributes", "blocked_normal_attributes", "automatic_attribute_whitelist",
            "default_attribute_blacklist"),
        "_TABLE": ("allowed", "blocked"),
        "_LEVEL": ("automatic", "default", "normal", "override"),
        "_RULE": tuple(f'"{word}"' for word in WORDS),
        "_LIMIT": ("steps", "values", "bytes", "depth", "seconds"),
        "_NUMBER": ("1000", "500", "0.5", "0"),
        "_PATH": ('"a.b"', '"a"', '"network/interfaces"', '"users.*.token"', '"/"', "'a.\"b c\".0'", '"*"', '"a..b"'),
        "_VALUE": ('"x"', '"nodes"', *TOML_VALUES),
    },
    glue="",
)  # fmt: skip
_VERSIONS = Grammar(
    r"""
    start: [_OPERATOR] " " number "." number ["." number]
    number: _NUMBER
    """,
    {"_OPERATOR": ("", "~>", ">=", "<=", "<", ">", "="), "_NUMBER": ("0", "1", "12", "999999999", "007")},
    glue="",
)
_MOMENTS = Grammar(
    r"""
    start: number | date | date "T" time [zone]
    date: _YEAR "-" _TWO "-" _TWO
    time: _TWO ":" _TWO [":" _TWO ["." number]]
    zone: "Z" | "+" _TWO ":" _TWO | "-" _TWO
    number: _TWO | _YEAR
    """,
    {"_YEAR": ("2030", "0001", "9999", "1970"), "_TWO": ("01", "12", "28", "23", "00", "59", "31")},
    glue="",
)


def written(place: str, text: str) -> Path:
    """A file that holds a text; half a sign stays half a sign."""
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def _in_repository(place: str, asked: Callable[[Repository], Any], text: str) -> tuple[Repository, Any]:
    written(f"repository/{place}", text)
    repository = Repository("repository")
    return repository, asked(repository)


def _read_file(
    name: str, place: str, shape: Any, asked: Callable[[Repository], Any], use: Callable[[Any], object]
) -> Target:
    """A target for a document of a repository."""
    seeds = [json.loads(text) for text in texts_of(f"{Path(place).parts[0]}/*.json")]
    form = as_json if place.endswith("json") else as_yaml
    return Target(name, from_shape(shape, seeds, form), partial(_in_repository, place, asked), use)


def _expanded(found: tuple[Repository, Role]) -> None:
    role = found[1]
    roles = {"web": role, "base": Role("base", ["recipe[z]", "role[web]"], {"a": {"b": 1}})}
    for environment in ("_default", "prod"):
        expansion = expand_run_list(["role[web]", "role[base]"], roles, environment)
        tried(
            lambda: (expansion.default_attributes, expansion.override_attributes, list(expansion.pins())),  # noqa: B023
            expansion.require_roles,
            lambda: role.locator.at(("run_list", 0)),
        )


def _ordered(found: tuple[Repository, Cookbook]) -> None:
    cookbook = found[1]
    cookbooks = {"web": cookbook, "a": Cookbook("a", "1.2.3"), "b": Cookbook("b", depends={"web": "~> 1.0"})}
    tried(
        lambda: check_versions(cookbook_order(["web", "b"], cookbooks), cookbooks, cookbook.pins()),
        lambda: [cookbook.origin_of_dependency(name) for name in cookbook.depends],
        lambda: checked(found[0]),
    )


def _set(found: tuple[Repository, AttributeData]) -> None:
    repository, data = found
    facts = {"a": 1, "platform": "ubuntu", "kernel": {"name": "1.4"}, "roles": ["web"]}
    node, late = Node("web1"), Node("web1", sensitive=["a.b"])
    late.default.write("a", {"b": 1})
    for one in (node, late):
        tried(lambda: set_data(one, data, facts), one.to_dict, one.snapshot, lambda: str(one.trace("a")))  # noqa: B023
    tried(lambda: list(data.causes(3, 1)), lambda: checked(repository), lambda: list(map(str, data.warnings)))


def _configured(found: tuple[Repository, Any]) -> None:
    repository, config = found
    for warning in repository.warnings:
        str(warning)
    node = Node("web1", rules=config.merge)
    node.default.write("a", {"b": [1], "network": {"interfaces": {}}})
    node.automatic.write("network", {"interfaces": {"eth0": 1}})
    node.override.write("a", {"b": [2]})
    tried(node.to_dict, lambda: saved_document(node, config.allowed, config.blocked), lambda: repository.hiera)


def _known(facts: Facts) -> None:
    json.dumps(facts.tree)
    for key in facts.tree:
        facts.locator.at((key,))
    node = Node("web1")
    node.automatic.write("x", facts.tree)
    tried(node.to_dict, node.snapshot)


def _run_list(text: str) -> Any:
    said = json_of(text)
    items = said["run_list"] if isinstance(said, dict) and "run_list" in said else said
    if not isinstance(items, list):
        raise Refused("no list")
    roles = {name: Role(name, ["recipe[z]", "role[web]", "role[gone]"]) for name in ("web", "base")}
    return expand_run_list(items, roles)


def _listed(expansion: Any) -> None:
    tried(lambda: (expansion.with_duplicates, expansion.qualified, list(expansion.pins())), expansion.require_roles)
    node = Node("web1")
    node.run_list = expansion.run_list
    tried(node.to_dict, node.to_chef, lambda: Node.from_chef(node.to_chef()))


TARGETS = (
    Target(
        "settings",
        from_grammar(_SETTINGS, texts_of("nodeattrs.toml")),
        partial(_in_repository, "nodeattrs.toml", lambda repository: repository.config),
        _configured,
    ),
    _read_file("role", "roles/web.json", _ROLE, lambda repository: repository.role("web"), _expanded),
    _read_file(
        "environment", "environments/web.yaml", _ENVIRONMENT, lambda repository: repository.environment("web"),
        lambda found: checked(found[0]),
    ),
    _read_file(
        "node-file", "nodes/web.json", NODE | {"name": _NAMES}, lambda repository: repository.node_document("web"),
        lambda found: checked(found[0]),
    ),
    _read_file(
        "data-bag", "data_bags/users/web.yaml", _ITEM, lambda repository: repository.data_bag_item("users", "web"),
        lambda found: found[0].data_bag("users"),
    ),
    _read_file(
        "metadata", "cookbooks/web/metadata.json", _METADATA, lambda repository: repository.cookbook("web"), _ordered
    ),
    _read_file(
        "attribute-data", "cookbooks/web/attributes/default.yaml", _ATTRIBUTES,
        lambda repository: repository.cookbook("web").attribute_data("attributes/default.yaml"), _set,
    ),
    _read_file(
        "attribute-data-json", "cookbooks/web/attributes/default.json", _ATTRIBUTES,
        lambda repository: repository.cookbook("web").attribute_data("attributes/default.json"), _set,
    ),
    Target("ohai", from_shape(_OHAI), lambda text: load_facts(written("facts.json", text)), _known),
    Target("facter", from_shape(_FACTER), lambda text: load_facts(written("facts.json", text)), _known),
    Target(
        "run-list",
        from_shape([ITEMS], [one["run_list"] for one in vectors("chef-expansion")]),
        _run_list,
        _listed,
    ),
    Target(
        "version",
        from_grammar(_VERSIONS),
        Constraint.parse,
        lambda asked: (asked.allows(Version(1, 2, 3)), Constraint.parse(str(asked))),
    ),
    Target("moment", from_grammar(_MOMENTS), revision_or_time, str),
)  # fmt: skip
