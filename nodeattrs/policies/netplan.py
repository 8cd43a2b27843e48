"""The policy "netplan": how libnetplan merges its files, one after the other.

It has one table of rules for all paths, and others for some keys of a device, whose values do not simply replace each
other. No files are read here; `dialects/files/folds.py` finds the files that netplan reads.

source: netplan.io 0.106, what `netplan get` prints; tests/oracles/netplan.py compares
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from nodeattrs.core.folding import meet
from nodeattrs.core.part import Join, Part, concat, entries, listed, made, unite, without
from nodeattrs.core.policy import ABSENT_KIND, ANY, DROP, KEEP, LIST, MAP, MEET, NULL, PRESENT, TAKE, Line, Policy
from nodeattrs.core.rules import Table, at_paths
from nodeattrs.core.tree import Path
from nodeattrs.errors import MergeConflict
from nodeattrs.policies.named import NamedPolicy, by_tree

_NULLS = (
    Line(ABSENT_KIND, NULL, KEEP, "null sets nothing"),
    Line(PRESENT, NULL, DROP, "null removes, as for `netplan set`"),
)
_NETPLAN = Policy(
    "netplan",
    *_NULLS,
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


def _table(name: str, *lines: Line) -> Table:
    return lambda policy: Policy(f"netplan: {name}", *_NULLS, *lines, Line(ANY, PRESENT, policy))


def _opened(policy: Policy) -> Policy:
    """The table of a map: one that meets nothing is looked through, too, since lists in it may be put in order."""

    def opened(lower: Part, upper: Part) -> Part:
        return meet(policy, made({}, upper), upper)

    line = Line(ABSENT_KIND, MAP, opened, "the first file that has it")
    return Policy(policy.name, *_NULLS, line, Line(ANY, PRESENT, policy))


# --- lists


def _joined(name: str, join: Join, why: str) -> Table:
    """A list that grows; the first one meets an empty list."""

    def first(lower: Part, upper: Part) -> Part:
        return join(made([], upper), upper)

    lines = Line(ABSENT_KIND, LIST, first, "the first file that has it"), Line(LIST, LIST, join, why)
    return _table(name, *lines)


def _by_family(parts: Iterable[Part], lower: Part, upper: Part) -> Part:
    """Addresses in netplan's order: IPv4 before IPv6."""
    return listed(sorted(parts, key=lambda part: ":" in str(part.value)), lower, upper)


def _name_servers(lower: Part, upper: Part) -> Part:
    return _by_family(concat(lower, upper).elements(), lower, upper)


def _addresses(lower: Part, upper: Part) -> Part:
    """Addresses with options come first, and each address once. One whose options are known ends its list."""
    found = {_address(part.value): part for part in lower.elements()}
    for part in upper.elements():
        known = _address(part.value)
        if known in found and known[0]:
            break
        found.setdefault(known, part)
    with_options = [part for (has_options, _), part in found.items() if has_options]
    plain = listed(part for (has_options, _), part in found.items() if not has_options)
    return listed([*with_options, *_by_family(plain.elements(), lower, upper).elements()], lower, upper)


def _address(entry: Any) -> tuple[bool, str]:
    """Whether an address has options, and the address itself."""
    return (True, str(next(iter(entry), ""))) if isinstance(entry, dict) else (False, str(entry))


_ANY_ADDRESS = {"0.0.0.0/0": "default", "::/0": "default"}


def _route(route: Any) -> Any:
    """What a route is known by: family, table, metric, from, to and via."""
    if not isinstance(route, dict):
        return repr(route)
    words = [str(route[key]) if key in route else None for key in ("table", "metric", "from", "to", "via")]
    is_ipv6 = any(word is not None and ":" in word for word in words[2:])
    words[3] = _ANY_ADDRESS.get(words[3] or "", words[3])
    return is_ipv6, *words


def _routes(lower: Part, upper: Part) -> Part:
    found: dict[Any, Part] = {}
    for part in (*lower.elements(), *upper.elements()):
        found.setdefault(_route(part.value), part)
    return listed(found.values(), lower, upper)


def _unless_as_long(lower: Part, upper: Part) -> Part:
    """A list as long as the one before it is taken for the same, and adds nothing."""
    return lower if len(lower.value) == len(upper.value) else concat(lower, upper)


# --- what is set once


def _refused(what: str, lower: Part, upper: Part) -> Part:
    raise MergeConflict(f"netplan refuses {what} that an earlier file has", hint="write it into one file")


def _refused_unless_equal(what: str, lower: Part, upper: Part) -> Part:
    return lower if str(lower.value) == str(upper.value) else _refused(what, lower, upper)


def _once(what: str) -> Table:
    return _table(f"{what}, once", Line(PRESENT, PRESENT, partial(_refused, what), "an earlier file has it"))


def _equal(what: str) -> Table:
    join = partial(_refused_unless_equal, what)
    return _table(f"{what}, once", Line(PRESENT, PRESENT, join, "an earlier file has it, and it has to be equal"))


_first = _table("the first one", Line(PRESENT, PRESENT, KEEP, "the first file that has it counts"))

# --- maps that a later file resets in part


def _bridge(policy: Policy) -> Policy:
    """The parameters of a bridge: where a later file has some, and not stp, stp is on again."""
    inner = _opened(policy)

    def parameters(lower: Part, upper: Part) -> Part:
        if "stp" not in lower.value or "stp" in upper.value:
            return meet(policy, lower, upper)
        return meet(policy, lower, entries({"stp": made(True, upper), **{key: upper.at(key) for key in upper.value}}))

    line = Line(MAP, MAP, parameters, "two maps meet key by key; stp is on unless the later one has it")
    return Policy("netplan: parameters", *_NULLS, line, Line(ANY, PRESENT, inner))


_VXLAN = (
    "id", "link", "port-range", "flow-label", "limit", "type-of-service", "ageing", "aging", "mac-learning",
    "arp-proxy", "short-circuit", "do-not-fragment", "notifications", "checksums", "extensions",
)  # fmt: skip


def _tunnel(policy: Policy) -> Policy:
    """A tunnel: the keys of VXLAN are taken from the last file that names the tunnel."""
    inner = _opened(policy)

    def tunnel(lower: Part, upper: Part) -> Part:
        return meet(policy, without(lower, _VXLAN), upper)

    line = Line(MAP, MAP, tunnel, "two maps meet key by key; the keys of VXLAN come from the later one")
    return Policy("netplan: tunnel", *_NULLS, line, Line(ANY, PRESENT, inner))


def _physical(policy: Policy) -> Policy:
    """Devices that are there: one without match is matched by its name, and a later match says what else has to fit."""
    inner = _opened(policy)

    def devices(lower: Part, upper: Part) -> Part:
        return meet(policy, lower, entries({name: _named(name, lower, upper.at(name)) for name in upper.value}, upper))

    line = Line(MAP, MAP, devices, "two maps meet key by key; a device without match is matched by its name")
    return Policy("netplan: devices", *_NULLS, line, Line(ANY, PRESENT, inner))


def _named(name: str, devices: Part, upper: Part) -> Part:
    """The device *name* of a later file, with the name that its match has where *devices* have it without match."""
    lower = devices.value.get(name)
    if not isinstance(lower, dict) or "match" in lower or not isinstance(upper.value, dict):
        return upper
    match = upper.at("match")
    if not isinstance(match.value, dict) or "name" in match.value:
        return upper
    named = entries({"name": made(name, match), **{key: match.at(key) for key in match.value}})
    return entries({**{key: upper.at(key) for key in upper.value}, "match": named})


# --- which table holds where

_appended = _joined("a list that follows", concat, "two lists follow each other")
_FIELDS: dict[str, Table] = {
    "addresses": _joined("addresses", _addresses, "two lists follow each other, each address once"),
    "nameservers.addresses": _joined("name servers", _name_servers, "two lists follow each other"),
    "nameservers.search": _appended,
    "routes": _joined("routes", _routes, "two lists follow each other, each route once"),
    "routing-policy": _appended,
    "openvswitch.protocols": _appended,
    "openvswitch.controller.addresses": _appended,
    **dict.fromkeys(
        ("interfaces", "optional-addresses", "wakeonwlan"), _joined("a list without repeats", unite, "two lists unite")
    ),
    **dict.fromkeys(
        ("parameters.arp-ip-targets", "peers"),
        _joined("a list that follows", _unless_as_long, "two lists follow each other, unless they are as long"),
    ),
    "gateway4": _first,
    "gateway6": _first,
    "parameters.primary": _equal("another primary"),
    "parameters.path-cost.*": _once("a path cost"),
    "parameters.port-priority.*": _once("a port priority"),
    "access-points.*": _once("an access point"),
    "openvswitch.external-ids.*": _equal("another value"),
    "openvswitch.other-config.*": _equal("another value"),
}
_DEVICE: Path = ("network", "*", "*")


def _tables() -> list[tuple[Path, Table]]:
    """Path -> the table that holds there, "*" for any key; the map above each is looked through."""
    lists = [((*_DEVICE, *name.split(".")), table) for name, table in _FIELDS.items()]
    above = dict.fromkeys(path[:length] for path, _ in lists for length in range(len(path)))
    resets: list[tuple[Path, Table]] = [
        (("network", "bridges", "*", "parameters"), _bridge),
        (("network", "tunnels", "*"), _tunnel),
        *((("network", kind), _physical) for kind in ("ethernets", "wifis", "modems")),
    ]
    return [*((path, _opened) for path in above), *lists, *resets]


_MAC_PAIRS = 6


def _prepared(value: Any) -> Any:
    """The tree of a file with hardware addresses as text: YAML 1.1 takes 52:54:00:12:34:56 for a number."""
    if not isinstance(value, dict):
        return value
    return {key: _mac(one) if key == "macaddress" else _prepared(one) for key, one in value.items()}


def _mac(value: Any) -> Any:
    if type(value) is not int:
        return value
    pairs = [value // 60**power % 60 for power in reversed(range(_MAC_PAIRS))]
    return ":".join(f"{pair:02}" for pair in pairs)


_PATHS = _tables()
POLICIES = (
    NamedPolicy(
        "netplan",
        "maps merge, values are replaced; lists grow, each key of a device by its own rule; null removes",
        "netplan.io 0.106, as `netplan get` reads /etc/netplan",
        _NETPLAN,
        _PATHS,
        at_paths(_NETPLAN, _PATHS),
        prepare=by_tree(_prepared),
    ),
)
