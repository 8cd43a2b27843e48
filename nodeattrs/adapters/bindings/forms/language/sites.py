"""The site of a text: environments, categories and layers, not evaluated yet."""

from __future__ import annotations

from nodeattrs.adapters.bindings.forms.language.expressions import Expressions
from nodeattrs.adapters.bindings.forms.language.text import Text, Tree
from nodeattrs.adapters.bindings.model.expressions import Node
from nodeattrs.adapters.bindings.model.sites import Site, SiteLayer


class SiteReader:
    """Reads the site that one text describes."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._expressions = Expressions(text)

    def site(self, tree: Tree) -> Site:
        """The site of a whole text, and the statements beside it."""
        found = Site(file=self._text.file)
        for child in tree.children:
            if child.data != "site":
                found.statements.append(self._expressions.node(child))
                continue
            found.is_said = True
            for part in child.children:
                self._part(part, found)
        return found

    def _part(self, tree: Tree, site: Site) -> None:
        match tree.data:
            case "defaults":
                site.defaults = self._attributes(tree.children[0])
            case "environment":
                self._environment(tree, site)
            case "dynamic":
                site.dynamic = (self._expressions.node(tree.children[0]), self._attributes(tree.children[1]))
            case "categories":
                if site.categories is not None:
                    raise self._text.error(tree, "there is a second categories expression", "categories-twice")
                site.categories = list(self._pairs(tree.children[0]))
            case "layers":
                site.layers = [*(site.layers or ()), *map(self._layer, tree.children)]

    def _environment(self, tree: Tree, site: Site) -> None:
        name = self._expressions.name(tree.children[0])
        if name in (site.environments or {}):
            raise self._text.error(tree, f"the environment {name!r} is declared twice", "environment-twice")
        site.environments = {**(site.environments or {}), name: self._attributes(tree.children[1])}

    def _attributes(self, tree: Tree) -> dict[str, Node]:
        return dict(self._pairs(tree))

    def _pairs(self, tree: Tree) -> list[tuple[str, Node]]:
        return [(str(one.children[0]), self._expressions.node(one.children[1])) for one in tree.children]

    def _layer(self, tree: Tree) -> SiteLayer:
        name, *lists = tree.children
        layer = SiteLayer(self._expressions.name(name), origin=self._text.origin(tree))
        for one in lists:
            strings = [child for child in one.children if child.data == "string"]
            side = "exclude" if len(strings) < len(one.children) else "include"
            known = getattr(layer, side) or []
            setattr(layer, side, [*known, *map(self._expressions.name, strings)])
        return layer
