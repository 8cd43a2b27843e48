"""Looks: notes of the facts that were read for an answer about one subject, such as a node.

Subjects with equal values at all noted places share one answer (`contract.sharing`). Readers note places and no values;
`contract.dialect.Opened.look` gives the value of any subject at a place. A dialect may note places of its own kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from typing import Any

from nodeattrs.core.tree import ABSENT, dig

Look = tuple[Any, ...]
"""A place where an answer looked: (kind, path) for facts; other kinds have their own fields behind the kind."""

ENTRY, KEYS, TREE, SORT, IS = "entry", "keys", "tree", "sort", "is"
"""Kinds of looks at facts.

ENTRY: one value; of a map only that it is a map
KEYS:  the keys of a map, in order
TREE:  the whole value
SORT:  only the type of the value
IS:    whether the value equals a text in any case; the third field of the look is the text in lower case
"""

NAME: Look = ("name",)
"""The look at the name of the subject."""

NAMED = "named"
"""The kind of looks that compare the name of the subject with a text, in lower case: ("named", "web1")."""

FILE: Look = ("file",)
"""The look at the content of the subject's own file, without the name of the subject."""

LEVELS, VARIABLE, IS_SET = "levels", "variable", "set"
"""Kinds of looks that Hiera makes.

LEVELS:   the data files that a layer searches for the subject
VARIABLE: whether there is a variable, and its value
IS_SET:   whether a variable has a value
"""

OWN = frozenset((ENTRY, KEYS, TREE, SORT, IS, NAMED, *NAME, *FILE, VARIABLE, IS_SET))
"""The kinds of looks whose values depend on the files of the subject alone."""

_SHORT = 64
"""`fact_at` returns longer texts as their hash."""


class Looks:
    """The facts that the computation of one answer looks at, noted by path. It is empty at first.

    Code that reads facts calls `note`. `insist` notes even inside a `quiet` block. `refuse` says that the answer
    depends on more than facts, and cannot be shared. Inside a `with quiet()` block nothing is noted; inside
    `brief()` only the type of each fact. One object serves one answer at a time; `contract.sharing` makes it, and
    compares subjects by it.
    made:     each look, once, in order, as the keys of a dict. A look is a tuple that begins with its kind: (TREE,
              path)
    facts:    the facts of the subject, as its file has them; the maker sets them
    unshared: the first reason given to `refuse`; "" if the answer depends only on the looks in `made`
    """

    def __init__(self) -> None:
        self.made: dict[Look, None] = {}
        self.facts: Mapping[Any, Any] = {}
        self.unshared = ""
        self._is_quiet = self._is_brief = False

    def note(self, *look: Any) -> None:
        """Add a look to `made`. Within `quiet` nothing is added; within `brief` a look at facts has the kind SORT."""
        if not self._is_quiet:
            self.made.setdefault((SORT, look[1]) if self._is_brief and look[0] in (ENTRY, KEYS, TREE) else look)

    def insist(self, *look: Any) -> None:
        """Add a look to `made`, also within `quiet` and `brief`. For a value that is cached for later reads."""
        self.made.setdefault(look)

    def refuse(self, why: str) -> None:
        """Set `unshared`: the answer depends on something that is no look. This also works within `quiet`.

        why: the reason in words; the first reason stays. "" changes nothing
        """
        self.unshared = self.unshared or why

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """A context manager: within the block `note` does nothing. It can be nested.

        For reads that do not matter, or that the caller notes more exactly.
        """
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before

    @contextmanager
    def brief(self, is_brief: bool = True) -> Iterator[None]:
        """A context manager: within the block only the type of each fact is noted. For reads whose value no answer has.

        is_brief: False notes whole values again, inside an outer block
        """
        before, self._is_brief = self._is_brief, is_brief
        try:
            yield
        finally:
            self._is_brief = before


def quietly(looks: Looks | None) -> AbstractContextManager[object]:
    """A context manager in which *looks* notes nothing; for None a context that does nothing."""
    return nullcontext() if looks is None else looks.quiet()


def value_at(name: str, facts: Mapping[Any, Any], look: Look) -> Any:
    """The value of a subject for a look: its name for NAME, a bool for NAMED, else what `fact_at` returns.

    name:  the name of the subject
    facts: its facts
    """
    if look == NAME:
        return name
    return name.lower() == look[1] if look[0] == NAMED else fact_at(facts, look)


def fact_at(facts: Mapping[Any, Any], look: Look) -> str:
    """The value of facts at the place of a look, as a text that is equal for equal values; "" where it is not set.

    A text of 64 characters or more is returned as its hash.

    look: a place, and what is read there. (TREE, path): the whole value. (ENTRY, path): of a map only that a map is
          there. (KEYS, path): of a map only its keys. (SORT, path): the type of the value. (IS, path, text): "True" if
          the value is *text* in any case
    """
    kind, path = look[:2]
    value = dig(facts, path)
    if value is ABSENT:
        return ""
    if kind == SORT:
        return type(value).__name__
    if kind == IS:
        return str(str(value).lower() == look[2])
    if isinstance(value, Mapping) and kind != TREE:
        value = dict if kind == ENTRY else [*value]
    text = repr(value)
    return text if len(text) < _SHORT else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
