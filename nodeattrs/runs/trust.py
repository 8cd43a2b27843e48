"""What a repository's nodeattrs.toml may set, and which repositories the caller trusts to set all of it.

A repository is a stranger until the caller says `nodeattrs trust DIR`, or names it in NODEATTRS_TRUST. The table below
is the one of SECURITY.md. It counts for commands; a program that uses the library decides for itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from nodeattrs import border
from nodeattrs.core.budget import Limits
from nodeattrs.errors import DocumentError, NotFound
from nodeattrs.runs.fields import Fields
from nodeattrs.typed import Any

VARIABLE = "NODEATTRS_TRUST"

FREE = "free"
INSIDE = "a path inside the repository is free; one outside, or a URL, only by the caller"
TIGHTER = "only tighter than the default"

RIGHTS: Mapping[tuple[str, ...], str] = {
    ("store",): INSIDE,
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
    ("cloud-init", "*"): INSIDE,
    ("ansible", "*", "inventory"): INSIDE,
    ("ansible", "groups"): FREE,
    ("web", "source_url"): FREE,
}
"""Path of a setting -> what a repository may set there. "*" is any name."""

_LATER = (("store",),)
"""Settings that are judged when they are used, since an option of the caller may take their place."""


def is_trusted(folder: str | os.PathLike[str]) -> bool:
    """Whether the caller trusts the repository at a folder: by NODEATTRS_TRUST, or by path and owner."""
    real = os.path.realpath(folder)
    if real in map(os.path.realpath, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))):
        return True
    return any(one["path"] == real and one["owner"] == _owner(real) for one in trusted())


def trusted() -> list[dict[str, Any]]:
    """The repositories that `nodeattrs trust` has noted, each with "path" and "owner". raises: DocumentError"""
    file = _file()
    if file is None or not file.is_file():
        return []
    try:
        found = json.loads(file.read_text("utf-8"))["trusted"]
        return [{"path": str(one["path"]), "owner": int(one["owner"])} for one in found]
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = "remove it, then trust the repositories anew"
        raise DocumentError("does not hold a list of trusted repositories", file=str(file), hint=hint) from error


def trust(folder: str, *, remove: bool = False) -> str:
    """Note that a repository is trusted, or no longer; its real path.

    raises: NotFound, where there is no such folder, no home to keep the list in, or nothing to remove
    """
    real, file = os.path.realpath(folder), _file()
    if not os.path.isdir(real) and not remove:
        raise NotFound(f"there is no folder {folder}")
    if file is None:
        raise NotFound("there is no home folder to keep the list in", hint=f"set {VARIABLE}={real}")
    known = trusted()
    left = [one for one in known if one["path"] != real]
    if remove and len(left) == len(known):
        raise NotFound(f"{real} is not trusted", hint="nodeattrs trust --list prints those that are")
    if not remove:
        left.append({"path": real, "owner": _owner(real)})
    from nodeattrs.disk import write_whole

    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, (json.dumps({"trusted": left}, indent=2) + "\n").encode("utf-8", "surrogateescape"), 0o600)
    return real


def _file() -> Path | None:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home, "nodeattrs", "trusted.json") if os.path.isabs(home) else None


def _owner(folder: str) -> int:
    try:
        return os.stat(folder).st_uid
    except OSError:
        return -1


# --- settings -----------------------------------------------------------------------


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
    """Whether a setting names a URL, or a path beyond the border that is in force."""
    return "://" in text or border.is_outside(root / os.path.expanduser(text))


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
            fields.warn(("limits", name), message, f"--budget {name}={most}, or {way_out(root)}", "not-trusted")
            most = usual[name]
        found[name] = most
    return found


def _texts(value: Any, rule: tuple[str, ...], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The texts at the paths that a rule names; of lists and maps there each one."""
    if rule and isinstance(value, dict):
        for key in value if rule[0] == "*" else {rule[0]} & value.keys():
            yield from _texts(value[key], rule[1:], (*path, key))
    elif not rule and isinstance(value, (list, dict)):
        for key, one in enumerate(value) if isinstance(value, list) else value.items():
            yield from _texts(one, (), (*path, key))
    elif not rule and isinstance(value, str):
        yield path, value
