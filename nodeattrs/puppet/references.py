"""References to resources, and the chains that are made of them.

A reference is its text, `File[/etc/ntp.conf]`. References, lists of them and collectors are put in order with `>>`
(Puppet's `->`) and `>> ~` (Puppet's `~>`); `<<` and `<< ~` are the reversed forms. The module knows no catalog: each
new link is passed to the function `on_link`, and a chain can be given to a catalog as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from operator import itemgetter
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.errors import BadArgument

_ESCAPED = re.compile(r"\\(['\"\\/])")

Arrow = str
"""One of "->", "~>", "<-", "<~", as Puppet spells them."""

Query = tuple[Any, ...]
"""("==", name, value), ("!=", name, value), ("and", query, query) or ("or", query, query)."""


class _ChainOperand:
    """What can stand in a chain: `a >> b`, `a >> ~b`, `a << b`, `a << ~b`."""

    def __rshift__(self, right: Any) -> Chain:
        return _joined(self, right, "->", "~>")

    def __rrshift__(self, left: Any) -> Chain:
        return _joined(left, self, "->", "~>")

    def __lshift__(self, right: Any) -> Chain:
        return _joined(self, right, "<-", "<~")

    def __rlshift__(self, left: Any) -> Chain:
        return _joined(left, self, "<-", "<~")

    def __invert__(self) -> _NotifyingOperand:
        return _NotifyingOperand(self)


class Reference(str):
    """A reference to a class, a resource or an instance: text such as `Sql[one]`. Any text is accepted. For chains with
    `>>`, use the subclass `Ref`.

    type: the text before the bracket; for a text without a bracket all of it
    id:   the text in the bracket without quotes; "" without a bracket

    >>> Reference("Sql[one]").type, Reference("Sql['one']").id
    ('Sql', 'one')
    """

    __slots__ = ()

    @property
    def type(self) -> str:
        """The part before the bracket."""
        return self.partition("[")[0]

    @property
    def id(self) -> str:
        """The text in the bracket, without quotes; "" without a bracket."""
        return unquoted(self.partition("[")[2].removesuffix("]"))


class Ref(_ChainOperand, Reference):
    """A reference, `Type[title]`, that can be part of a chain.

    on_link: called with each link that uses this reference; None for none
    name:    the title: the text in the bracket, with its quotes

    >>> Ref("Package[ntp]") >> Ref("File[/etc/ntp.conf]") >> ~Ref("Service[ntpd]")
    <Chain Package[ntp] -> File[/etc/ntp.conf] ~> Service[ntpd]>
    """

    on_link: Callable[[Link], None] | None = None

    @property
    def name(self) -> str:
        """The title: the part between the brackets. (`title` is taken: every text has one.)"""
        return self.partition("[")[2][:-1]

    def __repr__(self) -> str:
        return f"{self.type}[{self.name!r}]"


class Refs(_ChainOperand, tuple[Ref, ...]):
    """Several references as one operand of a chain, as a tuple. `refs` makes it from texts and lists.

    An arrow to it or from it relates each of its references. `on_link` is the function of the first reference that has
    one; None if none has.
    """

    @property
    def on_link(self) -> Callable[[Link], None] | None:
        """The function of the first reference that has one; None where none has."""
        return next((ref.on_link for ref in self if ref.on_link), None)

    def __repr__(self) -> str:
        return f"refs({', '.join(map(repr, self))})"


@dataclass(frozen=True, eq=False)
class Collector(_ChainOperand):
    """A collector in a chain: all resources of a type that fit a query. Here it is not resolved to resources.

    type:    the type, such as "Package"
    query:   the query; None: all resources of the type
    before:  (operand at its left, arrow between the two), for a collector that finds nothing: a plan then links this
             operand to the next one. None at the beginning of a chain
    on_link: called with each link that uses this collector; None for none
    """

    type: str
    query: Query | None = None
    before: tuple[Operand, Arrow] | None = None
    on_link: Callable[[Link], None] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class _NotifyingOperand(_ChainOperand):
    """An operand with `~` in front of it: the right side of a notifying arrow. It cannot begin a chain.

    operand: what the `~` is in front of
    """

    operand: Any

    def __rshift__(self, right: Any) -> Chain:
        raise BadArgument("a chain cannot begin with ~", hint="write a >> ~b: the ~ is before the one that refreshes")

    __lshift__ = __rshift__


Operand = Refs | Collector


@dataclass(frozen=True, eq=False)
class Link:
    """Two operands of a chain, `left` and `right`, and the arrow between them: "->", "~>", "<-" or "<~"."""

    left: Operand
    arrow: Arrow
    right: Operand


@dataclass(frozen=True, eq=False)
class Chain(_ChainOperand):
    """A chain of operands, as `a >> b >> ~c` makes it. It may go on with a further operator.

    value:   the operand at the left of the next arrow: the last one, or the one before it if the last is an empty list
    links:   the links of the chain, in order
    on_link: called with each link that is added; None for none
    """

    value: Operand
    links: tuple[Link, ...]
    on_link: Callable[[Link], None] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        first = self.links[0]
        return f"<Chain {_text(first.left)}{''.join(f' {link.arrow} {_text(link.right)}' for link in self.links)}>"


def linked(left: Operand, arrow: Arrow, right: Operand) -> tuple[Link, Operand]:
    """Returns (the link between two operands, the operand at the left of the next arrow).

    The second is the right operand. If the right one is an empty Refs, it is the left one. A collector on the right is
    copied, with the left operand and the arrow in its `before`.
    """
    if isinstance(right, Collector):
        right = Collector(right.type, right.query, (left, arrow), right.on_link)
        return Link(left, arrow, right), right
    return Link(left, arrow, right), right or left


def _joined(left: Any, right: Any, plain: Arrow, notifying: Arrow) -> Chain:
    arrow = plain
    if isinstance(right, _NotifyingOperand):
        arrow, right = notifying, right.operand
    if isinstance(right, Chain):
        raise BadArgument("a chain cannot stand right of an arrow", hint="leave the parentheses out: a >> b >> c")
    earlier = left.links if isinstance(left, Chain) else ()
    left_operand = left.value if isinstance(left, Chain) else _operand(left)
    link, value = linked(left_operand, arrow, _operand(right))
    on_link = left.on_link if isinstance(left, Chain) else left_operand.on_link
    on_link = on_link or link.right.on_link
    if on_link is not None:
        on_link(link)
    return Chain(value, (*earlier, link), on_link)


def _operand(given: Any) -> Operand:
    return given if isinstance(given, Collector) else refs(given)


def refs(*given: Any) -> Refs:
    """A Refs of references, texts and lists of them, each reference once.

    A text is read by `ref_of`. Without arguments the result is empty.
    raises: BadArgument, for another value or a text that is no reference

    >>> refs("Service[a]", ["Service[b]", "Service[a]"])
    refs(Service['a'], Service['b'])
    """
    found: dict[Ref, None] = {}
    for one in given:
        if isinstance(one, Ref):
            found.setdefault(one)
        elif isinstance(one, str):
            found.setdefault(ref_of(one))
        elif isinstance(one, (list, tuple, set, frozenset)):
            found.update(dict.fromkeys(refs(*one)))
        elif isinstance(one, Collector):
            raise BadArgument("a collector cannot stand in a list", hint="give it an arrow of its own")
        else:
            raise BadArgument(f"{one!r} is no reference", hint="such as File['/etc/motd']")
    return Refs(found)


@checked_args(text=str)
def ref_of(text: str) -> Ref:
    """The reference that a text spells; the names of types and classes are capitalised as in Puppet.

    raises: BadArgument

    >>> ref_of("service[ntpd]"), ref_of("class[apache::ssl]")
    (Service['ntpd'], Class['Apache::Ssl'])
    """
    kind, bracket, rest = text.strip().partition("[")
    if not bracket or not rest.endswith("]") or not kind or not rest[:-1]:
        raise BadArgument(f"{text!r} is no reference", hint="write Type[title], such as File[/etc/motd]")
    return made(kind, rest[:-1])


def made(kind: str, title: str) -> Ref:
    """The reference of a type and a title; the names of types and classes are capitalised."""
    type_name = capitalised(kind)
    return Ref(f"{type_name}[{capitalised(title) if type_name == 'Class' else title}]")


def unquoted(text: str) -> str:
    """A title without surrounding spaces, and without the quotes around it: a pair of single quotes, double quotes or
    slashes.

    Escaped quotes, slashes and backslashes inside lose their backslash. A text without quotes only loses its spaces.

    >>> unquoted("'a \\\\'b\\\\''"), unquoted("plain")
    ("a 'b'", 'plain')
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"/":
        return str(_ESCAPED.sub(itemgetter(1), text[1:-1]))
    return text


@lru_cache(maxsize=4096)
def capitalised(name: str) -> str:
    """`apache::ssl` as references spell it: `Apache::Ssl`."""
    return "::".join(part.capitalize() for part in name.split("::"))


def _text(operand: Operand) -> str:
    if isinstance(operand, Collector):
        return f"{operand.type} <| {query_text(operand.query) if operand.query else ''} |>"
    return str(operand[0]) if len(operand) == 1 else f"[{', '.join(operand)}]"


def query_text(query: Query) -> str:
    """The condition of a collector in Puppet's language, without `<|` and `|>`; each `and` and `or` is in brackets.

    `parsed_query` returns the same query for it.
    """
    word, left, right = query
    if word in ("and", "or"):
        return f"({query_text(left)} {word} {query_text(right)})"
    return f"{left} {word} {_value(right)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")  # the language of chains has no exponents
    return "undef" if value is None else str(value).lower()


def near_hint(missing: str, known: Iterable[str]) -> str | None:
    """The hint "did you mean ...?" with up to three similar references; None where none is similar."""
    close = get_close_matches(missing, list(known), 3, 0.7)
    return f"did you mean {' or '.join(close)}?" if close else None


def link_text(link: Link) -> str:
    """A link as a chain of two operands, in Puppet's language."""
    return f"{_text(link.left)} {link.arrow} {_text(link.right)}"
