"""References to binding sets: `confdir:/windows::default`, `module:/*::default`, `enc:/classes`.

Which sets a layer is made of is a matter of names alone: what is included, minus what is
excluded, each once. Loading what a reference names is for the composition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.borders import ListLike, taking
from nodeattrs.core.tree import meant
from nodeattrs.dialects.bindings.codes import BAD_LAYER, BAD_URI, UNKNOWN_SCHEME
from nodeattrs.dialects.bindings.model.faults import BindingError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*")
_SEGMENT = re.compile(r"\w[\w.-]*")
_ANY = ("*", "**")
_ENC_PARTS = ("classes", "parameters", "variables")


@dataclass(frozen=True)
class Inventory:
    """Which sets exist.

    modules: the name of a module -> the names of the sets it ships
    confdir: the names of the sets of the configuration directory
    schemes: further schemes that have a provider; None allows any scheme
    """

    modules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    confdir: Sequence[str] = ()
    schemes: Sequence[str] | None = ()

    def names(self, scheme: str) -> Iterator[str]:
        """The sets that a scheme reaches."""
        if scheme == "confdir":
            yield from self.confdir
        for names in self.modules.values() if scheme == "module" else ():
            yield from names


@dataclass(frozen=True)
class _Reference:
    """A reference in its parts: `scheme:/name?optional`."""

    scheme: str
    name: str
    optional: bool

    def __str__(self) -> str:
        return f"{self.scheme}:/{self.name}" if self.name else f"{self.scheme}:"


def parse_reference(text: Any, schemes: Iterable[str] | None) -> _Reference:
    """The parts of a reference.

    schemes: those with a provider, beside confdir and module; None allows any scheme
    raises:  BindingError ("bad-uri", "unknown-scheme")

    >>> parse_reference("module:/::apache::default?optional", [])
    _Reference(scheme='module', name='apache::default', optional=True)
    """
    scheme, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon or not _SCHEME.fullmatch(scheme):
        raise BindingError(BAD_URI, f"{text!r} is no reference", hint="write module:/name::default")
    known = ("confdir", "module", *(schemes or ()))
    if schemes is not None and scheme not in known:
        hint = meant(scheme, known) or f"known are {', '.join(known)}"
        raise BindingError(UNKNOWN_SCHEME, f"{text!r}: the scheme {scheme} has no provider", hint=hint)
    path, mark, query = rest.partition("?")
    if mark and query not in ("", "optional"):
        raise BindingError(BAD_URI, f"{text!r}: the query {query!r} means nothing", hint="known is ?optional")
    name = path.strip("/").removeprefix("::")
    if scheme in ("confdir", "module"):
        segments = name.split("::")
        if not name or not all(one in _ANY or _SEGMENT.fullmatch(one) for one in segments):
            raise BindingError(BAD_URI, f"{text!r} names no set", hint=f"write {scheme}:/name::default")
    elif scheme == "enc":
        name = name or "*"
        if name not in ("*", *_ENC_PARTS):
            raise BindingError(BAD_URI, f"{text!r}: a classifier has no part {name!r}")
    return _Reference(scheme, name, bool(mark))


@taking(config=ListLike)
def layer_references(config: Iterable[Mapping[str, Any]], inventory: Inventory) -> list[tuple[str, list[str]]]:
    """(layer, sorted references) for each layer: its included references minus the excluded ones.

    config: layers as data: {"name", "include"?, "exclude"?}, a reference or a list of them
    raises: BindingError ("bad-uri", "unknown-scheme", "bad-layer")

    >>> layer_references([{"name": "modules", "include": "module:/*::default"}], Inventory({"a": ["a::default"]}))
    [('modules', ['module:/a::default'])]
    """
    layers = []
    for layer in config:
        if not isinstance(layer, Mapping) or not isinstance(layer.get("name"), str):
            raise BindingError(BAD_LAYER, f"a layer is a map with a name, and this is {layer!r}")
        if unknown := set(layer) - {"name", "include", "exclude"}:
            raise BindingError(BAD_LAYER, f"layer {layer['name']!r} has no field {sorted(unknown)[0]!r}")
        included = dict.fromkeys(_expanded(layer.get("include"), inventory, keeps=True))
        excluded = set(_expanded(layer.get("exclude"), inventory, keeps=False))
        layers.append((layer["name"], sorted(one for one in included if one not in excluded)))
    return layers


def _expanded(given: Any, inventory: Inventory, keeps: bool) -> Iterator[str]:
    """The named references, wildcards expanded. keeps: whether missing optional ones are left out"""
    for text in given if isinstance(given, (list, tuple)) else () if given is None else (given,):
        reference = parse_reference(text, inventory.schemes)
        if reference.scheme not in ("confdir", "module"):
            yield str(reference)
        elif "*" in reference.name:
            is_meant = _matching(reference.name.split("::"))
            names = sorted(inventory.names(reference.scheme))
            yield from (f"{reference.scheme}:/{name}" for name in names if is_meant(name))
        elif not (keeps and reference.optional) or reference.name in set(inventory.names(reference.scheme)):
            yield str(reference)


def _matching(wanted: list[str]) -> Callable[[str], object]:
    """A function that tests whether a name matches segments: `*` is one segment, `**` one or more.

    Each row takes as few as it can, and that is final.
    """
    rows: list[list[str]] = [[]]
    for one in wanted:
        if one == "**":
            rows.append([])
        else:
            rows[-1].append("[^:]+" if one == "*" else re.escape(one))
    first, *others = rows
    parts = ["::".join(first)] if first else []
    for row in others[:-1]:
        parts.append("(?>[^:]+(?:::[^:]+)*?" + "".join(f"::{one}" for one in row) + ")")
    for row in others[-1:]:
        parts.append("[^:]+(?:::[^:]+)*" + "".join(f"::{one}" for one in row))
    return re.compile("::".join(parts)).fullmatch
