"""The policy "compose": how several Compose files become one.

It has one table of rules for all paths, and others for some fields of a service. Short and long spellings are left as
they are written, unless one meets the other. No variables are filled in.

source: Compose Specification, "Merge and override"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from nodeattrs.core.folding import meet, record_decision
from nodeattrs.core.part import Handler, Join, Part, by_field, entries, handler, listed, made
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    DROP,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    TAKE,
    TEXT,
    Line,
    Policy,
)
from nodeattrs.core.rules import Table
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, strict_key
from nodeattrs.errors import MergeConflict
from nodeattrs.formats.tags import Tagged
from nodeattrs.policies.named import NamedPolicy, by_tree

# --- tags


class _Map(dict[Any, Any]):
    """A map under `!override`, as steps lead into it."""


class _List(list[Any]):
    """A list under `!override`."""


_TAG = "tag"
_KINDS: dict[type, str] = {Tagged: _TAG, _Map: _TAG, _List: _TAG}
_NOTHING = Part(ABSENT, ())


def _prepared(value: Any) -> Any:
    """The tree of a file with `_Map` and `_List` in place of maps and lists under `!override`."""
    if not _has_tags(value):
        return value
    if type(value) is Tagged:
        if value.tag != "!override" or type(value.value) not in (dict, list):
            return value
        inner = _settled(_NOTHING, Part(_prepared(value.value), ())).value
        return _Map(inner) if type(inner) is dict else _List(inner)
    if type(value) is dict:
        return {key: _prepared(entry) for key, entry in value.items()}
    return [_prepared(entry) for entry in value]


def _has_tags(value: Any) -> bool:
    if type(value) is dict or type(value) is list:
        return any(map(_has_tags, value.values() if type(value) is dict else value))
    return type(value) in _KINDS


@handler(hides=True)
def _by_tag(lower: Part, upper: Part) -> Part:
    """`!reset` removes, `!override` replaces; any other tag is a value."""
    value = upper.value
    if type(value) is not Tagged:
        return Part(dict(value) if isinstance(value, dict) else list(value), upper.origins)
    if value.tag == "!reset":
        return _NOTHING
    return Part(value.value, upper.origins) if value.tag == "!override" else upper


@handler(hides=True)
def _settled(lower: Part, upper: Part) -> Part:
    """What meets nothing: what its tags ask for is done, at any depth."""
    value = upper.value
    if type(value) in _KINDS:
        return _by_tag(lower, upper)
    if not _has_tags(value):
        return upper
    if type(value) is dict:
        found = {key: _settled(_NOTHING, upper.at(key)) for key in value}
        return entries({key: part for key, part in found.items() if part.value is not ABSENT}, upper)
    return listed(part for part in map(partial(_settled, _NOTHING), upper.elements()) if part.value is not ABSENT)


@handler(hides=True)
def _refused(lower: Part, upper: Part) -> Part:
    raise MergeConflict("a map and a list of a Compose file have one kind in all files", hint="or write !override")


@handler(hides=True)
def _appended(lower: Part, upper: Part) -> Part:
    """The elements of the first list, then each of the second one that is not there yet."""
    found = [*lower.elements()]
    known = {strict_key(_unwrapped(part.value)) for part in found}
    for part in upper.elements():
        name = strict_key(_unwrapped(part.value))
        if name not in known:
            known.add(name)
            found.append(part)
    return listed(found, lower, upper)


_TAGS = (
    Line(ANY, _TAG, _by_tag, "!reset removes, !override replaces"),
    Line(ABSENT_KIND, (MAP, LIST), _settled, "nothing was there"),
    Line(PRESENT, NULL, KEEP, "null sets nothing"),
)
_REST = (
    Line((MAP, LIST), PRESENT, _refused, "a map or list is replaced by its like only"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)
_COMPOSE = Policy(
    "compose",
    *_TAGS,
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, _appended, "two lists follow each other, equal elements once"),
    *_REST,
    kinds=_KINDS,
)
_FIRST = Policy(
    "compose, the first file",
    Line(ANY, (_TAG, MAP, LIST), _settled, "its tags are settled"),
    Line(ANY, PRESENT, TAKE),
    kinds=_KINDS,
)

PROFILES = Policy(
    "compose: profiles",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(PRESENT, NULL, DROP, "none of its profiles is active"),
    Line(ANY, ANY, KEEP),
)
"""The policy of a layer that has null for each service that does not count."""

# --- tables for some fields


def _table(name: str, *lines: Line) -> Table:
    return lambda policy: Policy(f"compose: {name}", *_TAGS, *lines, Line(ANY, PRESENT, policy), kinds=_KINDS)


_replaced: Table = lambda policy: Policy(  # noqa: E731
    "compose: replaced",
    _TAGS[0],
    Line(ANY, (MAP, LIST), _settled, "the later value replaces the earlier one"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
    kinds=_KINDS,
)


def _distinct(key: Callable[[Any], Any]) -> Join:
    """Two lists, of which a later element takes the place of an earlier one with the same key."""

    def distinct(lower: Part, upper: Part) -> Part:
        found: dict[Any, Part] = {}
        for part in (*_list(lower).elements(), *_list(upper).elements()):
            name = strict_key(key(_unwrapped(part.value)))
            if name in found:
                record_decision(_COMPOSE, found[name], part)
            found[name] = part
        return listed(found.values(), lower, upper)

    return distinct


def _unwrapped(value: Any) -> Any:
    return value.unwrap() if isinstance(value, Sensitive) else value


def _list(part: Part) -> Part:
    """A text alone, as the list it stands for."""
    return part if type(part.value) is list else listed([part])


def _lists(name: str, key: Callable[[Any], Any]) -> Table:
    why = f"two lists follow each other, once for each {name}"
    return _table(f"a list by {name}", Line((LIST, TEXT), (LIST, TEXT), _distinct(key), why))


def _maps(name: str, sign: str, value: Any = None) -> Table:
    """A field that may be a map or a list of its entries: `A: 1`, or `- A=1`."""
    known = _distinct(lambda entry: _pair(entry, sign, value)[0])

    def table(policy: Policy) -> Policy:
        def both(lower: Part, upper: Part) -> Part:
            return meet(policy, _map(lower, sign, value), _map(upper, sign, value))

        either = (MAP, LIST, TEXT)
        return _table(
            f"a map, or a list of {name}",
            Line((LIST, TEXT), (LIST, TEXT), known, f"two lists follow each other, once for each {name}"),
            Line(either, either, both, f"maps, and lists of {name}, meet key by key"),
        )(policy)

    return table


def _map(part: Part, sign: str, value: Any) -> Part:
    if type(part.value) is dict:
        return part
    pairs = ((_pair(one.value, sign, value), one) for one in _list(part).elements())
    return entries({name: made(given, one) for (name, given), one in pairs}, part)


def _pair(entry: Any, sign: str, value: Any) -> tuple[str, Any]:
    """The key of an entry, and what it says; *value* where it is a key alone. What a secret entry says is secret."""
    text = str(_unwrapped(entry))
    name, *rest = text.split(sign, 1) if sign else [text]
    written = rest[0] if rest else value
    return name, Sensitive(written) if rest and isinstance(entry, Sensitive) else written


def _hosts(policy: Policy) -> Policy:
    """The table of `extra_hosts`: a host has the addresses of all files."""

    def both(lower: Part, upper: Part) -> Part:
        return _distinct(str)(_addresses(lower), _addresses(upper))

    either = (MAP, LIST, TEXT)
    return _table("hosts", Line(either, either, both, "lists of HOST=ADDRESS follow each other, each once"))(policy)


def _addresses(part: Part) -> Part:
    """A list of HOST=ADDRESS, also of a map. What a secret address says is secret."""
    if type(part.value) is not dict:
        return _list(part)
    pairs = ((host, one) for host in part.value for one in _list(part.at(host)).elements())
    return listed((made(_address(host, one.value), one) for host, one in pairs), part)


def _address(host: Any, address: Any) -> Any:
    text = f"{host}={_unwrapped(address)}"
    return Sensitive(text) if isinstance(address, Sensitive) else text


def _build(policy: Policy) -> Policy:
    def build(lower: Part, upper: Part) -> Part:
        sides = (part if type(part.value) is dict else entries({"context": part}) for part in (lower, upper))
        return meet(policy, *sides)

    line = Line((MAP, TEXT), (MAP, TEXT), build, "a text is the context, and two maps meet key by key")
    return _table("build", line)(policy)


def _gpus(policy: Policy) -> Policy:
    """The table of `gpus`: the text "all" is a list where a list comes after it, and no list before it takes a text."""

    def gpus(lower: Part, upper: Part) -> Part:
        return _appended(listed([entries({"count": lower})]), upper)

    return _table("gpus", Line(TEXT, LIST, gpus, 'the text "all" is a list, and two lists follow each other'))(policy)


def _logging(policy: Policy) -> Policy:
    def logging(lower: Part, upper: Part) -> Part:
        drivers = [part.value["driver"] for part in (lower, upper) if "driver" in part.value]
        return upper if len(drivers) == 2 and drivers[0] != drivers[1] else meet(policy, lower, upper)

    why = "two maps meet key by key; of another driver, the later one replaces the earlier one"
    return _table("logging", Line(MAP, MAP, logging, why))(policy)


def _subnets(policy: Policy) -> Policy:
    joined = Handler(partial(by_field, field="subnet", join=partial(meet, policy)), "by_field subnet")
    return _table("by subnet", Line(LIST, LIST, joined, "maps with an equal subnet meet"))(policy)


_PORT = re.compile(r"(?:(?:(\[[^\]]*\]|[^:]*):)?([^:]*):)?([^:/]*)(?:/(\w+))?")


def port_key(port: Any) -> tuple[str, ...]:
    """The key by which two ports are the same: address, published port, target and protocol, as texts.

    port: in the short or the long spelling; a short one that cannot be read is its own key, alone

    >>> port_key("127.0.0.1:8080:80"), port_key({"target": 80, "published": "8080"})
    (('127.0.0.1', '8080', '80', 'tcp'), ('', '8080', '80', 'tcp'))
    """
    if type(port) is dict:
        host, *others = (str(port.get(name, "")) for name in ("host_ip", "published", "target"))
        return host, *others, str(port.get("protocol", "tcp"))
    found = _PORT.fullmatch(str(port))
    if found is None:
        return (str(port),)
    host, published, target, protocol = found.groups()
    return host or "", published or "", target, protocol or "tcp"


def _mount(mount: Any) -> Any:
    """The place in the container: `SOURCE:TARGET:MODE`, or `TARGET`."""
    if type(mount) is dict:
        return mount.get("target", mount.get("source"))
    parts = str(mount).split(":")
    return parts[1] if len(parts) > 1 else parts[0]


def _given(entry: Any) -> Any:
    """What a secret, a config or a file with variables is known by."""
    return entry.get("target", entry.get("source", entry.get("path"))) if type(entry) is dict else entry


_PAIRS = _maps("KEY=VALUE", "=")
_FIELDS: dict[Table, str] = {
    _replaced: "command entrypoint healthcheck.test ulimits.* annotations.* environment.* labels.* sysctls.* "
    "deploy.labels.* build.args.* build.labels.* build.additional_contexts.*",
    _PAIRS: "annotations environment labels sysctls storage_opt deploy.labels build.args build.labels "
    "build.additional_contexts build.ssh",
    _hosts: "extra_hosts build.extra_hosts",
    _maps("service", "", {"condition": "service_started"}): "depends_on",
    _maps("network", ""): "networks models",
    _lists("element", str): "cap_add cap_drop dns dns_opt dns_search expose links profiles tmpfs build.tags "
    "networks.*.aliases networks.*.link_local_ips external_links volumes_from device_cgroup_rules label_file",
    _lists("port", port_key): "ports",
    _lists("target", _mount): "volumes devices",
    _lists("name", _given): "secrets configs env_file",
    _build: "build",
    _gpus: "gpus",
    _logging: "logging",
}
_PATHS: list[tuple[Path, Table]] = [
    *((("services", "*", *name.split(".")), table) for table, names in _FIELDS.items() for name in names.split()),
    *(((of, "*", "labels"), _PAIRS) for of in ("networks", "volumes", "secrets", "configs")),
    *(((of, "*", "labels", "*"), _replaced) for of in ("networks", "volumes")),
    (("networks", "*", "ipam", "config"), _subnets),
]
"""Path -> the table that holds there, "*" for any key."""

POLICIES = (
    NamedPolicy(
        "compose",
        "maps merge, lists follow each other, each field of a service by its own rule; !reset and !override",
        "Compose Specification, Merge and override",
        _COMPOSE,
        _PATHS,
        _FIRST,
        prepare=by_tree(_prepared),
        uniform=str,
    ),
)
