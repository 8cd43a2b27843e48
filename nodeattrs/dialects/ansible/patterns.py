"""Evaluate patterns of hosts: names, groups, wildcards, `~` and a regular expression, `a:b`, `a:&b`, `a:!b`, `g[0]`.

The caller gives the hosts and groups.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from fnmatch import translate
from typing import Any, NamedTuple

from nodeattrs.core.budget import MAX_DIGITS
from nodeattrs.dialects.ansible.faults import INVENTORY, NO_MATCH, AnsibleError, Warn
from nodeattrs.dialects.ansible.groups import Group
from nodeattrs.formats.patterns import BadPattern, expression


class Known(NamedTuple):
    """The hosts and groups by name that patterns select from; warn is called where a part of a pattern selects none."""

    hosts: Mapping[str, Any]
    groups: Mapping[str, Group]
    warn: Warn


_PARTS = re.compile(r"(?:\[[^\]]*\]|[^,:\[])+")
_ADDRESS = re.compile(r"\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+\]?")
_INDEX = re.compile(r"(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]")


def matching(pattern: Iterable[str], known: Known) -> list[str]:
    """The names of the hosts that patterns select together, each once. [] if they select none.

    The hosts of plain parts come first, in the order of the parts. Then each `&` part keeps only its hosts, and each
    `!` part removes its hosts. Without a plain part, all hosts are selected first. A part that selects no host gives a
    warning.

    pattern: texts such as "web:!h2"; each may have several parts
    known:   the hosts and groups, and the function that takes warnings
    raises:  AnsibleError, for a regular expression that cannot be read
    source:  Ansible's documentation, "Patterns: targeting hosts and groups"
    """
    parts = [part for one in pattern for part in _split(one)]
    plain = [part for part in parts if part[0] not in "&!"] or ["all"]
    found: dict[str, None] = {}
    for part in plain:
        found |= dict.fromkeys([part] if part in known.hosts else _one(part, known))  # also where a group is named so
    for part in parts:
        if part[0] == "&":
            both = set(_one(part[1:], known))
            found = {name: None for name in found if name in both}
    for part in parts:
        if part[0] == "!":
            for name in _one(part[1:], known):
                found.pop(name, None)
    return list(found)


def _split(pattern: str) -> list[str]:
    if "," in pattern:
        return [part.strip() for part in pattern.split(",") if part.strip()]
    if pattern.startswith("~") or _ADDRESS.fullmatch(pattern):
        return [pattern]
    return [part.strip() for part in _PARTS.findall(pattern) if part.strip()]


def _one(part: str, known: Known) -> list[str]:
    is_whole = part in known.hosts or part.startswith("~")  # brackets of a regular expression are its own
    found = None if is_whole else _INDEX.fullmatch(part)
    names = _named(found[1] if found else part, known)
    if not found:
        return names
    _, place, first, last = found.groups()
    begin = _place(place or first)
    if place or (last and _place(last) == 0):  # an end of 0 is none, there
        return names[begin : begin + 1 or None] if -len(names) <= begin else []
    return names[begin : _place(last) + 1 if last else None]


def _place(digits: str) -> int:
    """An index as an integer; one with too many digits is beyond the end of each list."""
    if len(digits) <= MAX_DIGITS:
        return int(digits)
    return -sys.maxsize if digits.startswith("-") else sys.maxsize - 1


def _named(part: str, known: Known) -> list[str]:
    tree, hosts = known.groups, known.hosts
    if part in ("all", "*"):
        return list(hosts)
    if part in tree:
        return list(tree[part].all_hosts())
    if part in hosts:
        return [part]
    try:
        fits = expression(part[1:]).match if part.startswith("~") else re.compile(translate(part)).match
    except (BadPattern, re.error, RecursionError, OverflowError) as error:
        shown = repr(part if len(part) <= 80 else f"{part[:80]}…")
        raise AnsibleError(INVENTORY, f"the pattern {shown} is no regular expression: {error}") from None
    found: dict[str, None] = {}
    for name, group in tree.items():
        if fits(name):
            found |= dict.fromkeys(group.all_hosts())
    found |= dict.fromkeys(name for name in hosts if fits(name))
    if not found and part == "localhost":
        return ["localhost"]
    if not found:
        known.warn(NO_MATCH, f"no host matches {part!r}", None, None)
    return list(found)
