"""The content of a site: its environments, its categories, and its layers with references to sets.

A *site* is written in the text language or as data, with expressions that are evaluated here for the variables of a
request. An *environment* is a name with its paths. A *reference* such as `confdir:/windows::default`,
`module:/*::default` or `enc:/classes` names sets of a layer; the part before the colon is its *scheme*. No file is read
here: `composition` loads the sets that references name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import hint_for
from nodeattrs.dialects.bindings.codes import (
    BAD_LAYER,
    BAD_URI,
    DYNAMIC_NOT_ABSOLUTE,
    ENVDIR_NOT_ALLOWED,
    ENVIRONMENT_ATTRIBUTE,
    UNKNOWN_ENVIRONMENT,
    UNKNOWN_SCHEME,
    UNKNOWN_VARIABLE,
)
from nodeattrs.dialects.bindings.model.expressions import Assign, Node, Variable
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.values import FUNCTIONS, as_data

_ATTRIBUTES = ("envdir", "modulepath", "manifestdir", "manifest", "templatedir", "bindingsdir")
_FACTORY = {
    "modulepath": "modules", "manifestdir": "manifests", "manifest": "site.pp", "templatedir": "templates",
    "bindingsdir": "bindings",
}  # fmt: skip


_DEFAULT_LAYERS: list[Any] = [
    {"name": "site", "include": ["confdir:/default?optional"]},
    {"name": "modules", "include": ["module:/*::default"]},
]
"""The layers of a site that lists none."""


@dataclass
class Site:
    """A site as it is written. A reader fills the fields; nothing is evaluated before a method is called.

    Two methods evaluate expressions with the variables of one request, and raise BindingError if an expression fails:
    `evaluated` returns (environments, name of the selected environment), each None if the site does not have it.
    `listed_categories` returns the categories with their values, or None.
    `layers` returns each layer with its line; by default these are the layers "site" and "modules", without lines.
    `listed` returns the part "categories" or "layers" as it is written, or None. `variables_of_categories` maps a
    category to the variable whose value it has. `to_dict` returns the data form of the site.
    parts:      name -> content of each part of `site { }`, with values that are expressions; None if there is no
                `site { }`. "defaults" and "environments" are maps: attribute -> value, name -> attributes. "dynamic" is
                a map with "dir" and "attrs". "categories" is a list of [name, value], the highest first. "layers" is a
                list of maps with "name", "include" and "exclude"
    statements: the assignments outside of `site { }`; the assignment to `$environment` selects the environment
    listed_at:  category -> the line that lists it
    layers_at:  the line of each layer, in the order of the layers
    """

    parts: dict[str, Any] | None = None
    statements: list[Node] = field(default_factory=list)
    listed_at: dict[str, Origin] = field(default_factory=dict, compare=False)
    layers_at: list[Origin] = field(default_factory=list, compare=False)

    def listed(self, part: str) -> list[Any] | None:
        """The entries of the part "categories" or "layers"; None where the site does not have the part."""
        return None if self.parts is None else self.parts.get(part)

    def layers(self) -> list[tuple[dict[str, Any], Origin | None]]:
        """(layer as data, the line that lists it) for each layer, the highest first.

        A site without the part "layers" has the layers "site" and "modules", each with the line None.
        """
        listed = self.listed("layers")
        return list(zip_longest(_DEFAULT_LAYERS if listed is None else listed, self.layers_at))

    def to_dict(self) -> dict[str, Any]:
        """The data form of the site: "site" and "assign", each where it is written. Expressions are not evaluated."""
        site = {} if self.parts is None else {"site": as_data(self.parts)}
        assigned = {one.name: one.value.to_data() for one in self.statements if isinstance(one, Assign)}
        return {**site, **({"assign": assigned} if assigned else {})}

    def evaluated(self, variables: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
        """Evaluate the site, and return (environments, name of the selected environment).

        The environments are a map for `environment_of`; None if there is no `site { }`. It has the keys "defaults" and
        "environments", and "dynamic" if the site has it. The name is None if no environment is selected.
        variables: facts and settings such as `confdir`. Their `environment` is the name, unless the site assigns
                   `$environment`
        raises:    BindingError, also for a variable that is not set
        """
        assigned: dict[str, Any] = {}
        outer = _variable_reader(variables)

        def ask(name: str) -> Any:
            plain = name.removeprefix("::")
            return assigned[plain] if plain in assigned else outer(name)

        for statement in self.statements:
            value = statement.evaluate(ask, FUNCTIONS)
            if isinstance(statement, Assign):
                assigned[statement.name.removeprefix("::")] = value
        named = assigned["environment"] if "environment" in assigned else variables.get("environment")
        selected = None if named is None else str(named)
        if self.parts is None:
            return None, selected
        environments = {name: part for name, part in self.parts.items() if name not in ("categories", "layers")}
        return {"defaults": {}, "environments": {}, **_worked(environments, ask)}, selected

    def listed_categories(
        self, variables: Mapping[str, Any], compared: Mapping[str, Any] | None = None
    ) -> list[tuple[str, Any]] | None:
        """(category, value) for each listed category, the highest first; None where the site lists no categories.

        A variable that is not set has the value None: its category does not hold.
        variables: the variables for categories that are computed
        compared:  the variables for categories of `variables_of_categories`; None: *variables*
        raises:    BindingError, if an expression fails
        """
        categories = self.listed("categories")
        if categories is None:
            return None
        ask = _variable_reader(variables, missing_is_nothing=True)
        plain = _variable_reader(variables if compared is None else compared, missing_is_nothing=True)
        alone = self.variables_of_categories()
        return [(name, value.evaluate(plain if name in alone else ask, FUNCTIONS)) for name, value in categories]

    def variables_of_categories(self) -> dict[str, str]:
        """Category -> the variable whose value it has; categories that are computed, and environment, are left out."""
        listed = [(name, value) for name, value in self.listed("categories") or () if isinstance(value, Variable)]
        return {name: value.name.removeprefix("::") for name, value in listed if name != "environment"}


def _variable_reader(variables: Mapping[str, Any], missing_is_nothing: bool = False) -> Callable[[str], Any]:
    """A function from the name of a variable to its value. Without a value it raises BindingError, or gives None."""

    def ask(name: str) -> Any:
        plain = name.removeprefix("::")
        if plain in variables or missing_is_nothing:
            return variables.get(plain)
        raise BindingError(UNKNOWN_VARIABLE, f"the variable ${name} is not set")

    return ask


def _worked(part: Any, ask: Callable[[str], Any]) -> Any:
    """A part of a site in which each expression is replaced by its value."""
    if isinstance(part, Node):
        return part.evaluate(ask, FUNCTIONS)
    if isinstance(part, dict):
        return {name: _worked(entry, ask) for name, entry in part.items()}
    return [_worked(entry, ask) for entry in part] if isinstance(part, (list, tuple)) else part


@dataclass(frozen=True)
class Environment:
    """An environment and its paths: absolute, and without a slash at the end. `environment_of` makes it.

    envdir:      the folder of the environment
    modulepath:  the folders that have the modules
    manifestdir: the folder of the manifests
    manifest:    the file that has the categories and the layers
    templatedir: the folder of the templates
    bindingsdir: the folder of the sets that `confdir:` references name
    """

    name: str
    envdir: str
    modulepath: tuple[str, ...]
    manifestdir: str
    manifest: str
    templatedir: str
    bindingsdir: str


@checked_args(site=Mapping | None)
def environment_of(
    site: Mapping[str, Any] | None,
    selected: str | None = None,
    *,
    confdir: str,
    is_directory: Callable[[str], bool] = os.path.isdir,
) -> Environment:
    """The selected environment with its paths, from the attributes of a site and the usual folders of Puppet.

    site:         "defaults", "environments" (name -> attributes), "dynamic" ("dir", "attrs"); None: it declares none
    selected:     the name of the environment; None is production, which needs no declaration
    confdir:      the folder that relative paths begin at
    is_directory: a function (absolute path) -> bool; called only if an environment may be in the "dynamic" folder
    raises:       BindingError: "unknown-environment", "envdir-not-allowed", "dynamic-not-absolute",
                  "environment-attribute"

    >>> environment_of(None, confdir="/etc/puppet").manifest
    '/etc/puppet/manifests/site.pp'
    """
    given = site or {}
    name = selected or "production"
    dynamic = given.get("dynamic")
    if dynamic is not None:
        _check_dynamic(dynamic)
    declared = given.get("environments") or {}
    if name in declared:
        own, envdir = dict(declared[name] or {}), None
    elif dynamic is not None and _is_name(name) and is_directory(posixpath.join(dynamic["dir"], name)):
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
    """Check `dynamic_environments`. raises: BindingError, for a relative folder, or an envdir"""
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


# --- references to sets ---------------------------------------------------------------------------

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*")
_SEGMENT = re.compile(r"\w[\w.-]*")
_ANY = ("*", "**")
_ENC_PARTS = ("classes", "parameters", "variables")


@dataclass(frozen=True)
class Inventory:
    """The names of the sets that exist; wildcards of references are matched against them.

    modules: the name of a module -> the names of its sets
    confdir: the names of the sets of the configuration directory
    schemes: further schemes that have a provider; None allows any scheme

    `names` lists all sets of the scheme "confdir" or "module".
    """

    modules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    confdir: Sequence[str] = ()
    schemes: Sequence[str] | None = ()

    def names(self, scheme: str) -> list[str]:
        """The names of the sets that "confdir" or "module" has, in the order of the fields."""
        if scheme == "confdir":
            return list(self.confdir)
        return [name for names in self.modules.values() for name in names]


def _parse_reference(text: Any, schemes: Iterable[str] | None) -> tuple[str, str, bool]:
    """(scheme, name, whether it ends in `?optional`) of a reference. The name of `enc:` alone is "*".

    text:    the reference; a value that is not a text raises "bad-uri"
    schemes: schemes that are allowed in addition to confdir and module; None allows any scheme
    raises:  BindingError ("bad-uri", "unknown-scheme")

    >>> _parse_reference("module:/::apache::default?optional", [])
    ('module', 'apache::default', True)
    """
    scheme, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon or not _SCHEME.fullmatch(scheme):
        raise BindingError(BAD_URI, f"{text!r} is no reference", hint="write module:/name::default")
    known = ("confdir", "module", *(schemes or ()))
    if schemes is not None and scheme not in known:
        raise unknown_scheme(text, scheme, known)
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
    return scheme, name, bool(mark)


def unknown_scheme(text: str, scheme: str, known: Sequence[str]) -> BindingError:
    """The error for a reference to a scheme without a provider. known: the schemes that have one"""
    hint = hint_for(scheme, known) or f"known are {', '.join(known)}"
    return BindingError(UNKNOWN_SCHEME, f"{text!r}: the scheme {scheme} has no provider", hint=hint)


@checked_args(config=ListLike)
def layer_references(config: Iterable[Mapping[str, Any]], inventory: Inventory) -> list[tuple[str, list[str]]]:
    """(name of the layer, sorted references) for each layer: its included references minus the excluded ones.

    A reference with a wildcard becomes a reference to each set of the inventory that fits. An `?optional` reference to
    a set that the inventory lacks is left out. Any other reference stays, even if its set does not exist.
    config: layers as data: "name", and optionally "include" and "exclude", each a reference or a list of references
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
        included = set(_expanded(layer.get("include"), inventory, drops_missing=True))
        excluded = set(_expanded(layer.get("exclude"), inventory, drops_missing=False))
        layers.append((layer["name"], sorted(included - excluded)))
    return layers


def _expanded(given: Any, inventory: Inventory, drops_missing: bool) -> Iterator[str]:
    """The references of a list or of one text, without `?optional`; a wildcard becomes the sets that fit it.

    drops_missing: True: an optional reference to a set that the inventory lacks is left out
    """
    if given is None:
        return
    for text in given if isinstance(given, (list, tuple)) else [given]:
        scheme, name, is_optional = _parse_reference(text, inventory.schemes)
        if scheme not in ("confdir", "module"):
            yield f"{scheme}:/{name}" if name else f"{scheme}:"
            continue
        known = inventory.names(scheme)
        if "*" in name:
            wanted = name.split("::")
            yield from (f"{scheme}:/{one}" for one in known if _matches(one, wanted))
        elif not (drops_missing and is_optional) or name in known:
            yield f"{scheme}:/{name}"


def _matches(name: str, wanted: list[str]) -> bool:
    """Whether the name of a set matches the segments of a reference: `*` is one segment, `**` one or more."""
    segments = name.split("::")
    if any(":" in segment for segment in segments):
        return False  # no reference can name such a set
    reached = {0}  # the numbers of segments that the part of *wanted* compared so far may match
    for one in wanted:
        if one == "**":
            reached = set(range(min(reached) + 1, len(segments) + 1)) if reached else set()
        else:
            reached = {end + 1 for end in reached if end < len(segments) and one in ("*", segments[end])}
    return len(segments) in reached
