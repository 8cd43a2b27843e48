"""Find the variables that the hierarchies of a scope name, and which of them are not set there.

Templates of hiera.yaml are searched, and no data. The scope gives the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import IS_SET
from nodeattrs.dialects.hiera.locations import templates_of
from nodeattrs.dialects.hiera.search import BaseScope

NAMES = frozenset(
    (
        "certname",
        "clientcert",
        "fqdn",
        "hostname",
        "networking.fqdn",
        "networking.hostname",
        "trusted.certname",
        "trusted.hostname",
    )
)
"""The variables that hold the name of a node; each may begin with `facts.`"""


@dataclass(frozen=True, slots=True)
class Needed:
    """A variable that a level of a hierarchy names.

    variable: the variable with the steps after it, as it is written: "facts.os.family"
    layer:    "global", "environment", "module" or "default_hierarchy"
    template: the text that names it: a path with its datadir, a URI, or an option
    origin:   the level, and its line in hiera.yaml
    is_set:   whether its value is neither null nor an empty text
    """

    variable: str
    layer: str
    template: str
    origin: Origin
    is_set: bool

    def to_dict(self) -> dict[str, Any]:
        """The variable as data for JSON."""
        return {
            "variable": self.variable,
            "layer": self.layer,
            "entry": self.origin.name,
            "template": self.template,
            "file": self.origin.file,
            "line": self.origin.line,
            "is_set": self.is_set,
        }


def needed(scope: BaseScope, module: str | None = None) -> list[Needed]:
    """The variables of all levels that are searched for a key of a module, in order; one for each naming text.

    module: None: for keys without a module
    cost:   one look at each template; no data file is read
    """
    found: dict[Needed, None] = {}
    for layer, config, entry in scope.entries(module):
        origin = Origin("level", entry.name, config.file, entry.line)
        for template, names in templates_of(entry):
            for name in names:
                found[Needed(name, layer, template, origin, _is_set(scope, name))] = None
    return [*found]


def unset_sentences(scope: BaseScope, module: str | None = None) -> Iterator[str]:
    """Yield a sentence for each variable that the hierarchies name and that is not set; nothing for none.

    It has the shortest text that names the variable, and the number of other texts.
    module: also the hierarchy of this module; None: only the global layer and the environment
    """
    paths: dict[str, list[str]] = {}
    for one in needed(scope, module):
        if not one.is_set:
            paths.setdefault(one.variable, []).append(one.template)
    for name, templates in paths.items():
        more = f" (and {len(templates) - 1} more)" if len(templates) > 1 else ""
        yield f"{min(templates, key=len)}{more}: {name} is not set"


def _is_set(scope: BaseScope, name: str) -> bool:
    if scope.looks is not None:
        scope.looks.note(IS_SET, name)
    return scope.is_set(name)
