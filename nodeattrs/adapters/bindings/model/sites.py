"""What a site says, before it is evaluated: environments, categories and layers.

A site is written in the text language or as data; what comes of it for a request is
worked out here, from variables. It reads no file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.adapters.bindings.codes import (
    DYNAMIC_NOT_ABSOLUTE,
    ENVDIR_NOT_ALLOWED,
    ENVIRONMENT_ATTRIBUTE,
    UNKNOWN_ENVIRONMENT,
    UNKNOWN_VARIABLE,
)
from nodeattrs.adapters.bindings.model.expressions import Assign, Node
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.values import FUNCTIONS
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin

_ATTRIBUTES = ("envdir", "modulepath", "manifestdir", "manifest", "templatedir", "bindingsdir")
_FACTORY = {
    "modulepath": "modules", "manifestdir": "manifests", "manifest": "site.pp", "templatedir": "templates",
    "bindingsdir": "bindings",
}  # fmt: skip


@dataclass
class SiteLayer:
    """A layer by name, with the references that it includes and excludes."""

    name: str
    include: list[str] | None = None
    exclude: list[str] | None = None
    origin: Origin | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Its data form."""
        sides = {side: getattr(self, side) for side in ("include", "exclude") if getattr(self, side) is not None}
        return {"name": self.name, **sides}


DEFAULT_LAYERS = (
    SiteLayer("site", ["confdir:/default?optional"]),
    SiteLayer("modules", ["module:/*::default"]),
)
"""Where a site lists no layers."""


@dataclass
class Site:
    """What one site description says; None is what it does not mention.

    dynamic:    the directory and the attributes
    listed_at:  where each category is listed
    statements: what stands beside `site { }`; the value of `$environment` is picked from there
    """

    file: str | None = None
    is_written: bool = False
    defaults: dict[str, Node] | None = None
    environments: dict[str, dict[str, Node]] | None = None
    dynamic: tuple[Node, dict[str, Node]] | None = None
    categories: list[tuple[str, Node]] | None = None
    listed_at: dict[str, Origin] = field(default_factory=dict, compare=False)
    layers: list[SiteLayer] | None = None
    statements: list[Node] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Its data form, nothing evaluated."""
        site: dict[str, Any] = {}
        if self.defaults is not None:
            site["defaults"] = _shown(self.defaults)
        if self.environments is not None:
            site["environments"] = {name: _shown(one) for name, one in self.environments.items()}
        if self.dynamic is not None:
            directory, attributes = self.dynamic
            site["dynamic"] = {"dir": directory.to_data(), "attrs": _shown(attributes)}
        if self.categories is not None:
            site["categories"] = [[name, value.to_data()] for name, value in self.categories]
        if self.layers is not None:
            site["layers"] = [layer.to_dict() for layer in self.layers]
        assigned = {one.name: one.value.to_data() for one in self.statements if isinstance(one, Assign)}
        return {**({"site": site} if self.is_written else {}), **({"assign": assigned} if assigned else {})}

    def evaluated(self, variables: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
        """The environments as plain values for `environment_of`, and the environment that is selected.

        variables: facts and settings such as `confdir`; a variable that is missing is an error
        raises:    BindingError
        """
        known = dict(variables)
        ask = _asker(known)
        for statement in self.statements:
            value = statement.evaluate(ask, FUNCTIONS)
            if isinstance(statement, Assign):
                known[statement.name.removeprefix("::")] = value
        selected = known.get("environment")
        if not self.is_written:
            return None, None if selected is None else str(selected)
        site: dict[str, Any] = {"defaults": _worked(self.defaults or {}, ask), "environments": {}}
        for name, attributes in (self.environments or {}).items():
            site["environments"][name] = _worked(attributes, ask)
        if self.dynamic is not None:
            directory, attributes = self.dynamic
            site["dynamic"] = {"dir": directory.evaluate(ask, FUNCTIONS), "attrs": _worked(attributes, ask)}
        return site, None if selected is None else str(selected)

    def listed_categories(self, variables: Mapping[str, Any]) -> list[tuple[str, Any]] | None:
        """The categories that are listed, with their values for these variables; None where none is listed.

        A variable that is not set is nothing: its category does not apply.
        """
        if self.categories is None:
            return None
        ask = _asker(variables, missing_is_nothing=True)
        return [(name, value.evaluate(ask, FUNCTIONS)) for name, value in self.categories]


def _asker(variables: Mapping[str, Any], missing_is_nothing: bool = False) -> Callable[[str], Any]:
    def ask(name: str) -> Any:
        plain = name.removeprefix("::")
        if plain in variables or missing_is_nothing:
            return variables.get(plain)
        raise BindingError(UNKNOWN_VARIABLE, f"nobody knows the variable ${name}")

    return ask


def _worked(attributes: Mapping[str, Node], ask: Callable[[str], Any]) -> dict[str, Any]:
    return {name: node.evaluate(ask, FUNCTIONS) for name, node in attributes.items()}


def _shown(attributes: Mapping[str, Node]) -> dict[str, Any]:
    return {name: node.to_data() for name, node in attributes.items()}


@dataclass(frozen=True)
class Environment:
    """An environment with all its paths, absolute and without trailing slash."""

    name: str
    envdir: str
    modulepath: tuple[str, ...]
    manifestdir: str
    manifest: str
    templatedir: str
    bindingsdir: str

    def to_dict(self) -> dict[str, Any]:
        """It as data."""
        return {
            "name": self.name,
            **{name: getattr(self, name) for name in _ATTRIBUTES},
            "modulepath": list(self.modulepath),
        }


@taking(site=Mapping | None)
def environment_of(
    site: Mapping[str, Any] | None,
    selected: str | None = None,
    *,
    confdir: str,
    directories: Iterable[str] | Callable[[str], bool] = (),
) -> Environment:
    """The environment that is selected, with its paths.

    site:        "defaults", "environments" (name -> attributes), "dynamic" ("dir", "attrs"); None without any
    selected:    its name; production unless given
    directories: those that exist, or a function that knows
    raises:      BindingError: "unknown-environment", "envdir-not-allowed", "dynamic-not-absolute",
                 "environment-attribute"

    >>> environment_of(None, confdir="/etc/puppet").manifest
    '/etc/puppet/manifests/site.pp'
    """
    given = site or {}
    exists = directories if callable(directories) else _listed(directories)
    name = selected or "production"
    dynamic = given.get("dynamic")
    if dynamic is not None:
        _check_dynamic(dynamic)
    declared = given.get("environments") or {}
    if name in declared:
        own, envdir = dict(declared[name] or {}), None
    elif dynamic is not None and _is_name(name) and exists(posixpath.join(dynamic["dir"], name)):
        own, envdir = dict(dynamic.get("attrs") or {}), posixpath.join(dynamic["dir"], name)
    elif name == "production":
        own, envdir = {}, None
    else:
        known = ", ".join([*declared, *(["production"] if "production" not in declared else [])])
        raise BindingError(UNKNOWN_ENVIRONMENT, f"unknown environment {name!r}", hint=f"known are {known}")
    defaults = dict(given.get("defaults") or {})
    for attributes in (own, defaults):
        for attribute, value in attributes.items():
            if attribute not in _ATTRIBUTES or not isinstance(value, str):
                raise BindingError(
                    ENVIRONMENT_ATTRIBUTE, f"an environment has no attribute {attribute!r} of {value!r}",
                    hint=f"attributes are {', '.join(_ATTRIBUTES)}; each is a text",
                )  # fmt: skip
    values = {**_FACTORY, **defaults, **own}
    root = _tidy(posixpath.join(confdir, envdir or values.get("envdir", confdir)))
    paths = {attribute: _tidy(posixpath.join(root, values[attribute])) for attribute in ("templatedir", "bindingsdir")}
    manifestdir = _tidy(posixpath.join(root, values["manifestdir"]))
    return Environment(
        name=name,
        envdir=root,
        modulepath=tuple(_tidy(posixpath.join(root, one)) for one in values["modulepath"].split(":") if one),
        manifestdir=manifestdir,
        manifest=_tidy(posixpath.join(manifestdir, values["manifest"])),
        **paths,
    )


def _check_dynamic(dynamic: Mapping[str, Any]) -> None:
    if not isinstance(dynamic.get("dir"), str) or not posixpath.isabs(dynamic["dir"]):
        raise BindingError(
            DYNAMIC_NOT_ABSOLUTE,
            f"dynamic environments live below an absolute directory, not {dynamic.get('dir')!r}",
        )
    if "envdir" in (dynamic.get("attrs") or {}):
        raise BindingError(
            ENVDIR_NOT_ALLOWED, "a dynamic environment has its own directory: envdir cannot be set",
            hint="leave envdir out",
        )  # fmt: skip


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and name not in (".", "..")


def _tidy(path: str) -> str:
    return path.rstrip("/") or "/"


def _listed(directories: Iterable[str]) -> Callable[[str], bool]:
    known = {_tidy(one) for one in directories}
    return lambda path: _tidy(path) in known
