"""By which rules we differ from cloud-init on purpose: each has a row in docs/differences.md, and a test with its
smallest input in tests/test_oracle_cloudinit.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A question with two answers that differ."""

    sort: str
    asked: dict[str, Any]
    theirs: tuple[str, Any]
    mine: tuple[str, Any]
    release: str
    kinds: frozenset[str]

    def __str__(self) -> str:
        return f"{self.sort}\n  asked      {self.asked!r}\n  cloud-init {self.theirs!r}\n  ours       {self.mine!r}\n"


def _plain(value: Any) -> Any:
    """The same with lists in the place of tuples."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _is_ok(one: Asked) -> bool:
    return one.theirs[0] == one.mine[0] == "ok"


def _in_lines(rows: list[tuple[str, str, str]]) -> bool:
    return any("\n" in name or "\r" in name for name, _, status in rows if status == "rejected")


RULES: dict[str, Callable[[Asked], bool]] = {
    "a value inside itself": lambda one: (
        "too-deep" in one.kinds or one.mine == ("error", "too-deep") or "{...}" in repr(one.theirs)
    ),
    "templates leave the sandbox": lambda one: one.release != "26.2" and "<class '" in repr(one.theirs),
    "a conf.d template waits for data": lambda one: (
        one.sort in ("confd", "machine") and not one.asked["data"] and "template" in one.kinds
    ),
    "a name stays in its line": lambda one: (
        one.sort == "userdata" and _is_ok(one) and one.theirs[1][1] == one.mine[1][1] and _in_lines(one.mine[1][1])
    ),
    "an include is listed": lambda one: one.theirs == ("error", "UnicodeEncodeError") and "include" in one.kinds,
    "a broken archive stops vendor-data that is off": lambda one: (
        one.sort == "machine" and one.theirs[0] == "ok" and one.mine == ("error", "archive")
    ),
    "pairs are lists once written": lambda one: (
        one.sort == "machine"
        and _is_ok(one)
        and repr(_plain(one.mine[1])) != repr(one.mine[1])
        and _plain(one.theirs[1]) == _plain(one.mine[1])
    ),
}
"""The name of each rule, and whether it explains a difference."""


def explained(one: Asked) -> str | None:
    """The rule that explains a difference."""
    return next((name for name, holds in RULES.items() if holds(one)), None)
