"""Chains and queries in Puppet's language: `Yumrepo <| |> -> Package <| provider == yum |> ~> Service['x']`.

It parses references (with several titles, too), lists, quoted references, and collectors with their queries.
Declarations, variables and exported collectors are errors that say what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

from nodeattrs.core.borders import checked_args
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.puppet.references import (
    Chain,
    Collector,
    Link,
    Operand,
    Query,
    Ref,
    Refs,
    capitalised,
    linked,
    made,
    ref_of,
)

_INTERPOLATED, _ESCAPED = re.compile(r"(?<!\\)\$[{\w]"), re.compile(r"\\(.)", re.DOTALL)
_MARKS = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<mark><<\||\|>>|<\||\|>|->|~>|<-|<~|==|!=|=>|[\[\](),{}:;])
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d+(?:\.\d+)?(?![\w:]))
      | (?P<variable>\$[\w:]*)
      | (?P<word>(?:::)?\w[\w-]*(?:::\w[\w-]*)*)""",
    re.VERBOSE | re.DOTALL,
)
_ARROWS = ("->", "~>", "<-", "<~")
_MOST = 100
_VALUES = {"true": True, "false": False, "undef": None}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


@checked_args(text=str)
def parsed_chain(text: str) -> Chain:
    """The chain in a text of Puppet's language.

    raises: DocumentError, with line and column, also for a text without an arrow

    >>> parsed_chain("Package['a', 'b'] -> File <| tag == 'web' |> ~> Service['x']")
    <Chain [Package[a], Package[b]] -> File <| tag == 'web' |> ~> Service[x]>
    """
    reader = _Reader(text)
    left = reader.operand()
    links: list[Link] = []
    while reader.now.text in _ARROWS and reader.now.kind == "mark":
        arrow = reader.take().text
        link, left = linked(left, arrow, reader.operand())
        links.append(link)
    if reader.now.kind != "end" or not links:
        reader.refuse("an arrow was expected: ->, ~>, <- or <~")
    return Chain(left, tuple(links))


@checked_args(text=str)
def parsed_query(text: str) -> Query:
    """The query of a collector: the text between `<|` and `|>`. raises: DocumentError, also for an empty text

    >>> parsed_query("provider == yum and title != 'a'")
    ('and', ('==', 'provider', 'yum'), ('!=', 'title', 'a'))
    """
    reader = _Reader(text)
    query = reader.query()
    if reader.now.kind != "end":
        reader.refuse("the query should end here")
    return query


class _Reader:
    """The text, word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0
        self._tokens = self._split()
        self._next = 0

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        while at < len(self._text):
            found = _MARKS.match(self._text, at)
            if found is None:
                self._fail(at, f"{self._text[at]!r} means nothing here")
            if found.lastgroup != "space":
                tokens.append(_Token(str(found.lastgroup), found[0], at))
            at = found.end()
        return [*tokens, _Token("end", "", len(self._text))]

    @property
    def now(self) -> _Token:
        return self._tokens[self._next]

    def take(self) -> _Token:
        token = self.now
        self._next += token.kind != "end"
        return token

    def follows(self, text: str, kind: str = "mark") -> bool:
        """Whether the next token is a mark or a word; if so, the reader goes on behind it."""
        is_next = self.now.kind == kind and self.now.text == text
        self._next += is_next
        return is_next

    def expect(self, mark: str) -> None:
        if not self.follows(mark):
            self.refuse(f"{mark!r} was expected")

    def refuse(self, reason: str) -> NoReturn:
        token = self.now
        if token.kind == "variable":
            self._fail(token.at, f"variables such as {token.text} are not known here", "use an f-string of Python")
        if "{" in (token.text, self._tokens[min(self._next + 1, len(self._tokens) - 1)].text):
            self._fail(token.at, "a resource is not declared in a chain", "declare it in Python and name it here")
        if token.text in ("<<|", "|>>"):
            self._fail(token.at, "there are no exported resources here", "write <| |>")
        self._fail(token.at, f"{reason}, not {token.text!r}" if token.text else f"{reason}, and the text ends")

    def _fail(self, at: int, message: str, hint: str | None = None) -> NoReturn:
        before = self._text[:at]
        raise DocumentError(
            message,
            file="chain",
            line=before.count("\n") + 1,
            column=at - (before.rfind("\n") + 1) + 1,
            hint=hint,
            details=(f"in: {' '.join(self._text.split())}",),
        )

    def operand(self) -> Operand:
        if self.follows("["):
            self._deeper()
            found: list[Ref] = []
            while not self.follows("]"):
                inner = self.operand()
                if isinstance(inner, Collector):
                    self.refuse("a collector cannot stand in a list; references can")
                found.extend(inner)
                if not self.follows(","):
                    self.expect("]")
                    break
            self._depth -= 1
            return Refs(dict.fromkeys(found))
        if self.now.kind == "text":
            at = self.now.at
            try:
                return Refs((ref_of(self._unquoted(self.take())),))
            except BadArgument as error:
                self._fail(at, error.message, error.hint)
        return self._named()

    def _deeper(self) -> None:
        """Count the bracket that was just taken; of too many, it is the token of the message."""
        self._depth += 1
        if self._depth > _MOST:
            self._next -= 1
            self.refuse(f"more than {_MOST} levels of brackets")

    def _named(self) -> Operand:
        if self.now.kind != "word" or not self.now.text.removeprefix("::")[0].isupper():
            self.refuse("a reference, a list or a collector was expected")
        kind = capitalised(self.take().text.removeprefix("::"))
        if self.follows("<|"):
            query = None if self.now.text == "|>" else self.query()
            self.expect("|>")
            return Collector(kind, query)
        self.expect("[")
        found = []
        while True:
            if self.now.kind not in ("text", "word", "number"):
                self.refuse("a title was expected")
            title = self._unquoted(self.take())
            if not title:
                self.refuse("a title cannot be empty; what follows is")
            found.append(made(kind, title))
            if not self.follows(","):
                break
        self.expect("]")
        return Refs(dict.fromkeys(found))

    def query(self) -> Query:
        query = self._conjunction()
        while self.follows("or", "word"):
            query = ("or", query, self._conjunction())
        return query

    def _conjunction(self) -> Query:
        query = self._comparison()
        while self.follows("and", "word"):
            query = ("and", query, self._comparison())
        return query

    def _comparison(self) -> Query:
        if self.follows("("):
            self._deeper()
            query = self.query()
            self.expect(")")
            self._depth -= 1
            return query
        if self.now.kind != "word":
            self.refuse("the name of an attribute was expected")
        name = self.take().text
        if self.now.text not in ("==", "!="):
            self.refuse("== or != was expected")
        word = self.take().text
        return (word, name, self._value())

    def _value(self) -> Any:
        if self.now.kind not in ("text", "word", "number"):
            self.refuse("a value was expected")
        token = self.now
        if token.kind == "word" and "[" in self._tokens[self._next + 1].text and token.text[0].isupper():
            named = self._named()
            if not isinstance(named, Refs) or len(named) != 1:
                self._fail(token.at, "a value is a reference to one resource at most", "join comparisons with `or`")
            return str(*named)
        self.take()
        if token.kind == "number":
            if len(token.text) > _MOST:
                self._fail(token.at, f"a number of more than {_MOST} signs")
            return float(token.text) if "." in token.text else int(token.text)
        if token.kind == "word":
            return _VALUES.get(token.text, token.text)
        return self._unquoted(token)

    def _unquoted(self, token: _Token) -> str:
        if token.kind != "text":
            return token.text
        quote, inside = token.text[0], token.text[1:-1]
        if quote == '"' and _INTERPOLATED.search(inside):
            self._fail(token.at, "variables are not known here", "use an f-string of Python")
        signs = {"\\": "\\", quote: quote} | ({"n": "\n", "t": "\t", "$": "$"} if quote == '"' else {})
        return str(_ESCAPED.sub(lambda found: signs.get(found[1], found[0]), inside))


class RefMaker:
    """Makes references of one type: `Package['ntp']`, `Package['a', 'b']`, and collectors with `Package.where(...)`.

    kind:    the type
    on_link: called with each link that uses one of its references; None for none
    title:   called with each title, it returns the title to use; by default the same

    `where` makes a collector of the resources that fit a query in Puppet's language, and have the named parameters.
    Without arguments, it collects all resources of this type.

    >>> RefMaker("Package")["ntp"], RefMaker("Package").where(provider="yum").query
    (Package['ntp'], ('==', 'provider', 'yum'))
    """

    @checked_args(kind=str)
    def __init__(
        self, kind: str, on_link: Callable[[Link], None] | None = None, title: Callable[[str], str] = lambda text: text
    ) -> None:
        self._kind = capitalised(kind)
        self._on_link = on_link
        self._title = title

    def __getitem__(self, titles: str | Iterable[str]) -> Any:
        if isinstance(titles, str):
            ref = made(self._kind, self._title(titles))
            ref.on_link = self._on_link
            return ref
        return Refs(self[title] for title in titles)

    def where(self, text: str | None = None, **values: Any) -> Collector:
        """A collector of all resources of this type that fit a query in Puppet's language, and have these parameters.

        text:   the query, as between `<|` and `|>`
        values: parameter -> the value that it must have; without *text* and *values*, all resources of the type fit
        raises: DocumentError, for a text that is no query
        """
        query = parsed_query(text) if text else None
        for name, value in values.items():
            one: Query = ("==", name, value)
            query = one if query is None else ("and", query, one)
        return Collector(self._kind, query, None, self._on_link)
