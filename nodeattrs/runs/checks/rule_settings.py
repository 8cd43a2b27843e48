"""Rules of a repository about who may set what: `[[check.rules]]` in nodeattrs.toml.

    [[check.rules]]
    path = "**.password"          # a step `*` is any one, `**` any number of them, `*_key` any that ends so
    only = ["data_bags"]
    because = "they are encrypted there"

    [[check.rules]]
    level = "override"
    only = ["environments"]

It reads them and matches paths; whose values are looked at is known to `rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nodeattrs.core.tree import Path, parse
from nodeattrs.runs.fields import Fields

PLACES = ("roles", "environments", "nodes", "data_bags", "hiera")
"""Where something may be set."""

LEVELS = ("default", "normal", "override")


@dataclass(frozen=True)
class CheckRule:
    """One rule.

    path:    steps that it is about; none means every path
    level:   that it is about, or ""
    only:    where it may be set
    because: why, for whoever reads the finding
    place:   file and line of the rule
    """

    path: Path
    level: str
    only: tuple[str, ...]
    because: str
    place: str

    def is_about(self, path: Path, level: str) -> bool:
        """Whether it is about a path that is set at a level; "" where there are none.

        >>> rule = CheckRule(("**", "*password"), "", ("data_bags",), "", "")
        >>> rule.is_about(("app", "db", "password"), "default"), rule.is_about(("app", "port"), "default")
        (True, False)
        """
        return self.level in ("", level) and (not self.path or _fits(self.path, path))


def _fits(pattern: Path, path: Path) -> bool:
    """cost: the length of one by that of the other"""
    reached = {0}
    for step in path:
        reached = {
            at + (pattern[at] != "**")
            for at in _skipped(pattern, reached)
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(str(step), str(pattern[at])))
        }
    return len(pattern) in _skipped(pattern, reached)


def _skipped(pattern: Path, reached: set[int]) -> set[int]:
    """The places that `**` leads to where it stands for nothing more."""
    found, left = set(reached), [*reached]
    while left:
        at = left.pop()
        if pattern[at : at + 1] == ("**",) and at + 1 not in found:
            found.add(at + 1)
            left.append(at + 1)
    return found


def read_check_rules(fields: Fields) -> Iterator[CheckRule]:
    """The rules under `[check]`; what is wrong with one is noted in *fields*."""
    for index in range(len(fields.items("check", "rules"))):
        at = ("check", "rules", index)
        fields.only(("path", "level", "only", "because"), *at)
        written, level = fields.text(*at, "path"), fields.text(*at, "level")
        only = tuple(fields.text(*at, "only", one) for one in range(len(fields.items(*at, "only"))))
        if not written and not level:
            fields.wrong(at, "a rule is about a path or a level", 'write path = "**.password", or level = "override"')
        if level and level not in LEVELS:
            fields.wrong((*at, "level"), f"{level!r} is no level", f"levels are {', '.join(LEVELS)}")
        for unknown in [one for one in only if one not in PLACES]:
            fields.wrong((*at, "only"), f"{unknown!r} is no place", f"places are {', '.join(PLACES)}")
        if not written or fields.parsed((*at, "path"), written, parse):
            place = fields.locator.at(at).place or ""
            yield CheckRule(parse(written) if written else (), level, only, fields.text(*at, "because"), place)
