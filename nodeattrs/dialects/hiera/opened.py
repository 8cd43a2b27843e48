"""One version of a Hiera tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.adapters.hiera import Hiera, as_asked, has_environments, view
from nodeattrs.contract.answers import Answered
from nodeattrs.dialects.common import WithFacts, part_of_keys
from nodeattrs.errors import NotFound

_NAME_IN = re.compile(
    r"%\{(?:::)?(?:trusted\.(?:certname|hostname)|facts\.(?:fqdn|networking\.fqdn|hostname)|fqdn|clientcert|certname)\}"
)


def _named(folder: Path, template: str) -> Iterator[str]:
    """The names for which a folder has the file of a template that asks for nothing but the name."""
    parts = _NAME_IN.split(template)
    if len(parts) != 2 or "%" in "".join(parts):
        return
    place = folder / os.path.dirname(parts[0])
    pattern = re.compile(re.escape(os.path.basename(parts[0])) + "(.+)" + re.escape(parts[1]))
    for path in place.iterdir() if place.is_dir() else ():
        if found := pattern.fullmatch(path.name):
            yield found[1]


class HieraKeys(WithFacts):
    """Every key of a Hiera tree, as each node sees it."""

    @cached_property
    def place(self) -> Path | None:
        """The hiera.yaml, or its folder, or None. raises: DocumentError"""
        named = self.request.named(self.side, "hiera", self.repository.config.hiera)
        if named is not None:
            return named if named.exists() else None
        return self.side.root if (self.side.root / "hiera.yaml").is_file() else None

    @property
    def is_there(self) -> bool:
        """A hiera.yaml, or one that the settings name."""
        return self.place is not None

    def subjects(self) -> Iterable[str]:
        """The nodes that are known; else those with data of their own; else one without a name."""
        return self.known() or self._with_data() or {""}

    def _with_data(self) -> set[str]:
        """Nodes after which a file is called that the hierarchy names by the node's name."""
        config = self.hiera.environment_layer(self.request.environment or "production")
        entries = [one for one in config.entries if one.location in ("path", "paths")] if config is not None else []
        return {
            name for entry in entries for text in entry.declared for name in _named(config.folder / entry.datadir, text)
        }

    @cached_property
    def hiera(self) -> Any:
        """The tree. raises: NodeattrsError"""
        place = self.place
        if place is None:
            raise NotFound("there is no hiera.yaml", hint="name one: --hiera PLACE")
        if place.is_dir() and not has_environments(place):
            place = place / "hiera.yaml" if (place / "hiera.yaml").is_file() else place
        paths = self.repository.config.sensitive
        return Hiera(place, root=self.side.root, skip_levels=self.request.what_if.levels, sensitive_paths=paths)

    def answer(self, name: str) -> Answered:
        """Its keys."""
        facts, given = self.plain_facts(name), self.enc.get(name, {}).get("parameters")
        trusted = facts.get("trusted") if isinstance(facts.get("trusted"), dict) else None
        scope = self.hiera.scope(
            facts,
            node=name or str(facts.get("clientcert") or facts.get("fqdn") or ""),
            environment=self.environment_of(name) or "production",
            trusted=trusted,
            variables=given if isinstance(given, dict) else {},
        )
        return {"key": part_of_keys(view(scope), lambda key: scope.explain(as_asked(key)), self)}

    def levels(self) -> Iterable[str]:
        """The names of the levels, of the environment and of its modules."""
        if not self.is_there:
            return ()
        environment = self.request.environment or "production"
        modules = (self.hiera.module_layer(environment, name) for name in self.hiera.modules(environment))
        layers = (self.hiera.environment_layer(environment), *modules)
        return dict.fromkeys(entry.name for layer in layers if layer is not None for entry in layer.entries)
