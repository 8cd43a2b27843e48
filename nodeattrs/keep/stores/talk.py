"""A conversation with a database, and the little SQL that all who take part in it share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from nodeattrs.errors import StoreError

Question = tuple[Any, ...]
"""A query, and its values."""
Statement = tuple[str, Iterable[Sequence[Any]]]
"""A statement, and the rows for each of which it is carried out."""


class Talk(ABC):
    """A conversation with the database, inside of one transaction."""

    @cached_property
    def secret(self) -> bytes:
        """The key of the store's numbers."""
        return bytes(only(self, "value", "secret"))

    @cached_property
    def packing(self) -> str:
        """How the store compresses texts."""
        return str(only(self, "packing", "secret"))

    @abstractmethod
    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; none of a statement that gives none."""

    @abstractmethod
    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one after the other. cost: memory for some of them"""

    @abstractmethod
    def answers(self, *questions: Question, last: bool = False) -> list[list[tuple[Any, ...]]]:
        """The rows of several queries; where the database is far away, they go there together.

        last: nothing else is asked, so that a look may end with it
        """

    @abstractmethod
    def each(self, *statements: Statement) -> None:
        """Statements in their order, each for each of its rows."""

    @abstractmethod
    def among(self, column: str, numbers: Collection[Any]) -> tuple[str, Any]:
        """A condition that a column is one of these, and its value."""

    @abstractmethod
    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        """Those of the numbers that no row has in a column. cost: that of finding one row for each"""

    @abstractmethod
    def found(self, sql: str, hashes: Collection[bytes], last: bool = False) -> list[tuple[Any, ...]]:
        """The rows of a query that ends in "hash = ?", for each of the hashes. last: as in `answers`"""

    @abstractmethod
    def raised(self, names: Sequence[str], *questions: Question) -> list[list[tuple[Any, ...]]]:
        """The name of each node, which is made unless it is there, its number, and its next revision's. Of two who ask
        for one at once one waits.

        questions: what is asked then; their rows follow
        """


def only(talk: Talk, column: str, table: str) -> Any:
    """The value of a table that has one row. raises: StoreError, where it has another number of them"""
    rows = talk.all(f"SELECT {column} FROM {table}")
    if len(rows) != 1:
        raise StoreError(
            f"the store is damaged: its table {table.rpartition('.')[2]!r} has {len(rows)} rows, and should have one",
            hint="bring a copy of the store back",
        )
    return rows[0][0]


def without(table: str, column: str, *others: str) -> str:
    """SQL for the values of a column that none of the *others* has."""
    # Not with NOT IN: PostgreSQL would go through all of the others for each row, once they are many.
    return " EXCEPT ".join([f"SELECT {column} FROM {table}", *others])


def nodes_in(talk: Talk) -> Iterator[tuple[str, int]]:
    """The nodes that have a revision, by name, each with its number in this store."""
    there = "EXISTS (SELECT 1 FROM revision r WHERE r.node = n.id)"
    yield from talk.rows(f"SELECT n.name, n.id FROM node n WHERE {there} ORDER BY n.name")


AT_ONCE = 1_000
"""Rows, or numbers that are asked about, at a time."""


def some_of(items: Iterable[Any]) -> Iterator[list[Any]]:
    """So many at a time."""
    waiting = iter(items)
    while some := list(islice(waiting, AT_ONCE)):
        yield some
