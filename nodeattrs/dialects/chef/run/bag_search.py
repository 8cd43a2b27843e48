"""Search the items of a data bag, as Chef's server does it for `search(:BAG, QUERY)`."""

from __future__ import annotations

from typing import Any

from nodeattrs.core.tree import copied
from nodeattrs.dialects.chef.repository.repository import LEAVES, Repository
from nodeattrs.store.search import fields_of, parse_query
from nodeattrs.store.search.query import All, And, Asked, Not, Or, Own, QueryNotSupported, Range

Fields = dict[str, list[str]]


def bag_search(repository: Repository, bag: str, query: str) -> list[dict[str, Any]]:
    """The items that a query finds, as copies, by name; [] for none.

    raises: DataBagItemNotFound, DocumentError, QueryNotUnderstood, QueryNotSupported
    """
    asked = parse_query(query).asked
    items = [repository.written_item(bag, name)[0] for name in repository.data_bag(bag)]
    return [copied(item, LEAVES) for item in items if _fits(fields_of({"automatic": item}), asked)]


def _fits(fields: Fields, asked: Asked) -> bool:
    if isinstance(asked, All):
        return True
    if isinstance(asked, Not):
        return not _fits(fields, asked.inner)
    if isinstance(asked, And):
        return all(_fits(fields, one) for one in asked.inner)
    if isinstance(asked, Or):
        return any(_fits(fields, one) for one in asked.inner)
    if isinstance(asked, Own):
        raise QueryNotSupported("data bags are searched in Chef's language only", hint="write FIELD:VALUE")
    texts = [text for name, values in fields.items() if asked.field.is_name(name) for text in values]
    value = asked.value
    if isinstance(value, Range):
        return any(value.holds(text) for text in texts)
    return any(value.in_text(text.casefold()) for text in texts)
