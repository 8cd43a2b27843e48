"""The automatic relations of Puppet's own types: a file requires its directory and owner, a command the files it names.

The relations are candidates. The graph leaves out those whose resource is not in the catalog, or is related already.
They were learned from the edges that Puppet 7.23 gives compiled catalogs (`tests/oracles/catalog_modules.py`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nodeattrs.catalog.resources import FirstOf

Parameters = Mapping[str, Any]
Candidate = str | FirstOf

PLACED = ("File", "Directory", "Link")
"""Our types of resources that stand at a path; Puppet has the first one only."""

_PATH = re.compile(r"^(/[\w.\-]+)+", re.MULTILINE)
_QUOTED = re.compile(r'^"([^"]+)"', re.MULTILINE)


def automatic(kind: str, title: str, parameters: Parameters) -> tuple[Candidate, ...]:
    """The references that a resource requires automatically, if the catalog has them.

    Of the references in a `FirstOf`, the first one that the catalog has counts.

    () for a type without automatic relations, and for a type that is not one of Puppet's own.
    kind: the type; upper and lower case are the same
    """
    found = _TYPES.get(kind.lower())
    return tuple(found(title, parameters)) if found else ()


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]


def _lines(value: Any) -> list[str]:
    """The texts in a list of command lines; of a line that is a list of words, the first word."""
    values = value if isinstance(value, list) else [value]
    return [text for one in values for text in _texts(one)[:1]]


def _user_references(kind: str, value: Any) -> Iterator[str]:
    """Yield a reference for each user or group in *value*; numbers are left out."""
    for name in _texts(value):
        if not name.isdigit():
            yield f"{kind}[{name}]"


def nearest_first(path: str, *kinds: str) -> FirstOf:
    """References of the directories above *path*, as resources of each of *kinds*, the nearest directory first.

    Empty for "/" and for a name without a directory.

    >>> nearest_first("/etc/ntp/keys", "File")
    ('File[/etc/ntp]', 'File[/etc]', 'File[/]')
    """
    references: list[str] = []
    directory = posixpath.dirname(path.rstrip("/"))
    while directory not in ("", path):
        references.extend(f"{kind}[{directory}]" for kind in kinds)
        path, directory = directory, posixpath.dirname(directory)
    return FirstOf(references)


def _file(title: str, parameters: Parameters) -> Iterator[Candidate]:
    path = parameters.get("path")
    yield nearest_first(path if isinstance(path, str) else title, "File")
    for target in _texts(parameters.get("target")):
        yield f"File[{target}]"
    for kind, who in (("User", "owner"), ("Group", "group")):
        if who in parameters:
            yield from _user_references(kind, parameters[who])


def _exec(title: str, parameters: Parameters) -> Iterator[Candidate]:
    named = _texts(parameters.get("cwd"))
    for text in _texts(parameters.get("command", title))[:1]:
        named += [found.group() for found in _PATH.finditer(text)]
        named += [found.group(1) for found in _QUOTED.finditer(text)]
    for text in _lines(parameters.get("onlyif")) + _lines(parameters.get("unless")):
        named += [found.group() for found in _PATH.finditer(text)]
    yield from (f"File[{path}]" for path in named)
    yield from _user_references("User", parameters.get("user"))


def _package(title: str, parameters: Parameters) -> Iterator[Candidate]:
    for name in ("responsefile", "adminfile", "source"):
        yield from (f"File[{path}]" for path in _texts(parameters.get(name)) if path.startswith("/"))


def _user(title: str, parameters: Parameters) -> Iterator[Candidate]:
    yield from _user_references("Group", parameters.get("gid"))
    yield from _user_references("Group", parameters.get("groups"))


def _key(title: str, parameters: Parameters) -> Iterator[Candidate]:
    yield from _user_references("User", parameters.get("user"))


def _cron(title: str, parameters: Parameters) -> Iterator[Candidate]:
    yield from _user_references("User", parameters.get("user", "root"))


def _mount(title: str, parameters: Parameters) -> Iterator[Candidate]:
    yield from nearest_first(str(parameters.get("name", title)), "Mount")


def files_below(mount: str, paths: Iterable[str]) -> list[str]:
    """The references `File[path]` of the paths below a directory, at any depth, in the order of *paths*.

    mount: the directory where something is mounted; for "/" the result is []
    paths: the paths of all files
    """
    if mount == "/":
        return []
    inside = f"{mount.rstrip('/')}/"
    return [f"File[{path}]" for path in paths if path.startswith(inside) and path != inside]


def is_known(kind: str) -> bool:
    """Whether this module knows all automatic relations of a type; True for the types that every Puppet agent has."""
    return kind.lower() in _TYPES or kind.lower() in _NONE


def can_refresh(kind: str) -> bool:
    """Whether a type reacts to a refresh; False for a type that not every Puppet agent has."""
    return kind.lower() in ("exec", "mount", "package", "service")


_NONE = frozenset({
    "augeas", "component", "filebucket", "group", "host", "notify", "resources", "schedule", "scheduled_task",
    "selboolean", "service", "sshkey", "stage", "tidy", "whit", "yumrepo", "zpool",
})  # fmt: skip
"""Types that every agent has, and that relate nothing by themselves."""
_TYPES: dict[str, Callable[[str, Parameters], Iterator[Candidate]]] = {
    "file": _file,
    "exec": _exec,
    "package": _package,
    "user": _user,
    "cron": _cron,
    "ssh_authorized_key": _key,
    "mount": _mount,
}
