"""One version of a folder of compiled catalogs, for the verbs: the resources of each catalog."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nodeattrs.catalog.compiled import compiled_catalog, without_notices
from nodeattrs.contract.answers import Answered
from nodeattrs.dialects.common import InRepository
from nodeattrs.dialects.resources import part_of_resources
from nodeattrs.formats.documents import parse, text_of


class Catalogs(InRepository):
    """One version of a folder of catalogs that Puppet compiled. The subjects are the names of the files without .json.

    `answer(name)` gives the resources of one catalog, each with its parameters. `place` is the folder, and `is_there`
    says whether it has a catalog.
    """

    @property
    def place(self) -> Path:
        """The folder that --catalogs names, else `catalogs/` below the top of the side; it may not exist."""
        return self.request.named(self.side, "catalogs", "catalogs") or self.side.root

    @property
    def is_there(self) -> bool:
        """Whether the folder has a file `*.json`."""
        return self.place.is_dir() and any(self.subjects())

    def subjects(self) -> Iterable[str]:
        """The names of the files `*.json`, sorted, without the suffix; [] for none."""
        return sorted(path.stem for path in self.place.glob("*.json"))

    def answer(self, name: str) -> Answered:
        """Read a catalog; returns its resources as the Part "resource", each with its parameters.

        raises: DocumentError, for a file that cannot be read or is no catalog; DuplicateResource
        """
        file = self.place / f"{name}.json"
        shown = self.repository.shown(file)
        document = parse(without_notices(text_of(file, shown)), shown, "json")
        return {"resource": part_of_resources(compiled_catalog(document.tree, document.locator("catalog", ""), shown))}
