"""What a repository's nodeattrs.toml may set before the caller trusts it: the table of SECURITY.md.

Used by `runs.config`. It counts where a border is in force, as it is in commands; a program that uses the library
decides for itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.budget import Limits
from nodeattrs.kinds import NOT_TRUSTED
from nodeattrs.runs.fields import Fields

FREE = "free"
INSIDE = "a path inside the repository is free; one outside, or a URL, only by the caller"
TIGHTER = "only tighter than the default"

RIGHTS: Mapping[tuple[str, ...], str] = {
    ("store",): INSIDE,
    ("store", "place"): INSIDE,
    ("store", "causes"): FREE,
    ("environment",): FREE,
    ("hiera",): INSIDE,
    ("bindings",): INSIDE,
    ("bindings", "site"): INSIDE,
    ("bindings", "classes"): FREE,
    ("bindings", "providers"): FREE,
    ("sensitive",): FREE,
    ("allowed",): FREE,
    ("blocked",): FREE,
    ("merge",): FREE,
    ("fold", "*", "files"): INSIDE,
    ("fold", "*", "policy"): FREE,
    ("fold", "*", "merge"): FREE,
    ("fold", "*", "syntax"): FREE,
    ("limits",): TIGHTER,
    ("check", "baseline"): INSIDE,
    ("check", "select"): FREE,
    ("check", "ignore"): FREE,
    ("check", "rules"): FREE,
    ("schema", "attributes"): INSIDE,
    ("chef", "cookbook_paths"): INSIDE,
    ("chef", "secret_file"): INSIDE,
    ("chef", "config"): INSIDE,
    ("chef", "ruby_seconds"): TIGHTER,
    ("chef", "missing_cookbooks"): FREE,
    ("chef", "policy"): FREE,
    ("chef", "policy_group"): FREE,
    ("chef", "node_name"): FREE,
    ("chef", "ruby"): FREE,  # it runs nothing in a command that runs no code
    ("facts", "fauxhai"): INSIDE,
    ("cloud-init", "*", "files"): INSIDE,
    ("cloud-init", "*", "vendor"): INSIDE,
    ("cloud-init", "*", "confd"): INSIDE,
    ("ansible", "*", "inventory"): INSIDE,
    ("ansible", "groups"): FREE,
    ("web", "source_url"): FREE,
}
"""Path of a setting -> what a repository may set there. "*" is any name."""

_LATER = (("store",), ("store", "place"))
"""Settings that are judged when they are used, since an option of the caller may take their place."""


def note_beyond(fields: Fields, root: Path) -> None:
    """Note the settings of a stranger that do not count as faults: paths that lead out of the repository."""
    if border.in_force() is None:
        return
    for rule, right in RIGHTS.items():
        if right == INSIDE and rule not in _LATER:
            for path, text in _texts(fields.tree, rule):
                if leads_out(root, text):
                    name = ".".join(map(str, rule if "*" not in rule else path))
                    fields.wrong(path, f"{name} leads out of the repository: {text}", way_out(root))


def leads_out(root: Path, text: str) -> bool:
    """Whether a setting names a URL, or a path outside of its repository and of the border that is in force."""
    path = root / os.path.expanduser(text)
    is_inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    return "://" in text or (not is_inside and border.is_outside(path))


def way_out(root: Path) -> str:
    """The line to type where a setting does not count."""
    return f"if this repository is your own: nodeattrs trust {root}"


def tightened(given: Mapping[str, float], fields: Fields, root: Path) -> dict[str, float]:
    """The limits that a repository sets; one above the default does not count, with a warning."""
    usual = Limits()._asdict()
    found = {}
    for name, most in given.items():
        if border.in_force() is not None and most > usual[name]:
            message = f"limits.{name} is above the default, {usual[name]:,}, which counts instead"
            fields.warn(("limits", name), message, f"--budget {name}={most}, or {way_out(root)}", NOT_TRUSTED)
            most = usual[name]
        found[name] = most
    return found


def _texts(value: Any, rule: tuple[str, ...], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The texts at the paths that a rule names; of a list there each one."""
    if rule and isinstance(value, dict):
        for key in value if rule[0] == "*" else {rule[0]} & value.keys():
            yield from _texts(value[key], rule[1:], (*path, key))
    elif not rule and isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, (), (*path, index))
    elif not rule and isinstance(value, str):
        yield path, value
