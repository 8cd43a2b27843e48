"""What watches the shop: where it is, each check that a module contributes, and the database servers that are kept."""

from nodeattrs.recipe import inject, node

node.default["shop"]["url"] = inject("shop::url")  # computed
node.default["shop"]["checks"] = [check.line() for check in inject("shop::checks", "Array[Type[Check]]")]  # computed
node.default["shop"]["databases"] = [reference.id for reference in inject("shop::databases")]  # computed
