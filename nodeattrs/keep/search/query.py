"""A query: Chef's language, and our own terms, read into what is asked. Knows no index.

    query:   or
    or:      and (["OR" | "||"] and)*         two side by side mean OR
    and:     not (("AND" | "&&") not)*
    not:     ("NOT" | "-" | "!") not | boosted
    boosted: one ["^" number]                 read, and ignored
    one:     "(" or ")" | (WORD | PHRASE) ":" value | OWN | plain
    value:   plain | "(" values ")" | ("NOT" | "-" | "!") value
    plain:   WORD | PHRASE | range

`f:(a OR NOT b)` is `f:a OR NOT f:b`. What has no field looks at the field "text".
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from nodeattrs.core.tree import parse as parsed_path
from nodeattrs.errors import BadArgument, NodeattrsError, missing_extra
from nodeattrs.keep.search.fields import NO_NUL, scalar_text
from nodeattrs.keep.search.terms import All, And, Asked, Not, Or, Own, Pattern, Range, Term
from nodeattrs.lazily import dataclass, regexp
from nodeattrs.texts.patterns import BadPattern, expression

LONGEST_QUERY = 10_000
"""Characters of a query."""
DEEPEST_QUERY = 100
"""Parentheses and negations inside each other."""


class QueryNotUnderstood(BadArgument):
    """A query that breaks the rules of the language."""


class QueryNotSupported(BadArgument):
    """A query with something that the language has and search does not: "+", "~", a second colon."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for."""

    text: str
    asked: Asked


# A word ends where one of these begins; a backslash takes the next character as it is. A minus
# negates only where it stands first.
_SPACES = r" \t\n\r\f\v"
_ENDS = rf"""{_SPACES}"+!(){{}}\[\]^:"""
_SIGN = rf"(?:\\.|\\\Z|(?!&&|\|\|)[^{_ENDS}\\])"
_ALONE = rf"(?![^{_ENDS}])"
_OWN = rf"""(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}=<>~\\-])(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}=<>~\\])*"""

_GRAMMAR = rf"""
start: either
?either: both | either (_OR both | both) -> either
?both: negated | both _AND negated -> both
?negated: (_NOT | _MINUS | _BANG) negated -> negated | _PLUS negated -> plus | boosted
?boosted: one | boosted "^" WORD -> boosted
?one: "(" either ")" -> group
    | (word | phrase) ":" value -> field
    | OWN -> own
    | plain
?plain: word | phrase | span
?value: plain | "(" values ")" -> group | (_NOT | _MINUS | _BANG) value -> negated
    | _PLUS value -> plus | WORD ":" value -> nested
?values: all_values | values (_OR all_values | all_values) -> either
?all_values: value_boosted | all_values _AND value_boosted -> both
?value_boosted: value | value_boosted "^" WORD -> boosted
word: WORD
phrase: PHRASE
span: OPENING END _TO END CLOSING

_AND.3: /AND{_ALONE}|&&/
_OR.3: /OR{_ALONE}|\|\|/
_NOT.3: /NOT{_ALONE}/
_TO.3: /TO{_ALONE}/
_MINUS: "-"
_BANG: "!"
_PLUS: "+"
OPENING: "[" | "{{"
CLOSING: "]" | "}}"
END: /(?!-){_SIGN}+/s
PHRASE: /"(?:[^"\\]|\\.)*"/s
OWN.2: /{_OWN}[{_SPACES}]*(?:>=|<=|=|<|>|~(?=[{_SPACES}]*"))[{_SPACES}]*(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}]+)/s
WORD: /(?!-|(?:AND|OR|NOT){_ALONE}){_SIGN}+/s
%ignore /[{_SPACES}]+/
"""


def parse_query(text: str) -> Query:
    """What *text* asks for.

    raises: QueryNotUnderstood, QueryNotSupported, MissingExtra (search needs lark)
    source: docs/search.md

    >>> parse_query("role:db AND NOT chef_environment:prod").text
    'role:db AND NOT chef_environment:prod'
    """
    if not isinstance(text, str):
        raise QueryNotUnderstood(f"a query is text, not {type(text).__name__}", hint='parse_query("role:web")')
    if len(text) > LONGEST_QUERY:
        raise QueryNotUnderstood(f"the query has {len(text)} characters, {LONGEST_QUERY} is the most")
    parser, errors = _parser()
    try:
        built = parser.parse(_as_kept(text))
    except errors.UnexpectedInput as error:
        raise _not_understood(text, error) from None
    except errors.VisitError as error:
        if isinstance(error.orig_exc, NodeattrsError):
            raise error.orig_exc from None
        raise
    if built.depth > DEEPEST_QUERY:
        raise QueryNotUnderstood(f"the query is nested {built.depth} deep, {DEEPEST_QUERY} is the most")
    return Query(text, built.about(_NO_FIELD))


def _as_kept(text: str) -> str:
    """*text* as an index has it. raises: QueryNotUnderstood, for what no index can have"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryNotUnderstood(
            f"sign {error.start + 1} of {text!r} is no character, so nothing has it", hint="write the query in UTF-8"
        ) from None
    return text.replace("\0", NO_NUL)


def _not_understood(text: str, error: Any) -> QueryNotUnderstood:
    place = error.pos_in_stream
    if getattr(getattr(error, "token", None), "type", "") == "$END" or place is None or place >= len(text):
        return QueryNotUnderstood(
            f"the query ends too early: {text!r}" if text.strip() else "the query is empty",
            hint="write field:value, or *:* for every node; a backslash takes the next sign as it is",
        )
    return QueryNotUnderstood(
        f"the query cannot be read at sign {place + 1}, {text[place]!r}: {text!r}",
        hint="a backslash takes a sign as it is: recipe:nginx\\:\\:ssl",
    )


@lru_cache(maxsize=1)
def _parser() -> tuple[Any, Any]:
    try:
        import lark
    except ImportError as error:
        raise missing_extra("lark", "search", "search") from error
    kind = type("Reader", (_Reader, lark.Transformer), {})
    return lark.Lark(_GRAMMAR, parser="lalr", lexer="contextual", transformer=kind()), lark.exceptions


class _Built:
    """A part of a query that does not know its field yet.

    about:   gives what is asked, of a field
    pattern: what a word or a phrase looks for, were it a field
    """

    __slots__ = ("about", "chain", "depth", "kind", "pattern")

    def __init__(self, about: Callable[[Pattern], Asked], depth: int = 0, pattern: Pattern | None = None) -> None:
        self.about, self.depth, self.pattern = about, depth, pattern
        self.chain: list[_Built] = []
        self.kind: type | None = None


class _Reader:
    """Makes what is asked out of a query, bottom up, as the parser goes."""

    def start(self, parts: list[_Built]) -> _Built:
        return parts[0]

    def either(self, parts: list[_Built]) -> _Built:
        return _joined(Or, parts)

    def both(self, parts: list[_Built]) -> _Built:
        return _joined(And, parts)

    def negated(self, parts: list[_Built]) -> _Built:
        inner = parts[0]
        return _Built(lambda field: Not(inner.about(field)), inner.depth + 1)

    def group(self, parts: list[_Built]) -> _Built:
        return _Built(parts[0].about, parts[0].depth + 1)

    def boosted(self, parts: list[Any]) -> Any:
        if not re.fullmatch(r"\d+\.?\d*|\.\d+", str(parts[1])):
            raise QueryNotUnderstood(f"a boost is a number, not {str(parts[1])!r}")
        return parts[0]

    def plus(self, parts: list[Any]) -> _Built:
        return _refused(QueryNotSupported('"+" is not supported', hint="join with AND what must be there"))

    def nested(self, parts: list[Any]) -> _Built:
        return _refused(
            QueryNotSupported(
                f"there is a second colon, before {str(parts[0])!r} a first", hint="a colon in a value is written \\:"
            )
        )

    def field(self, parts: list[_Built]) -> _Built:
        field, value = parts[0].pattern, parts[1]
        assert field
        return _Built(lambda _: value.about(field), value.depth)

    def own(self, parts: list[Any]) -> _Built:
        asked = _own(str(parts[0]))
        return _Built(lambda _: asked)

    def word(self, parts: list[Any]) -> _Built:
        value = Pattern(tuple(_pieces(str(parts[0]))))
        return _Built(lambda field: _term(field, value), pattern=value)

    def phrase(self, parts: list[Any]) -> _Built:
        words: list[Any] = []
        for word in re.findall(rf"(?:\\.|[^{_SPACES}])+", str(parts[0])[1:-1], re.DOTALL):
            words += [*([Pattern.GAP] if words else []), *_pieces(word)]
        if not words:
            raise QueryNotUnderstood("a phrase has no words", hint="field:* finds the nodes that have the field")
        value = Pattern(tuple(words), phrase=True)
        return _Built(lambda field: _term(field, value), pattern=value)

    def span(self, parts: list[Any]) -> _Built:
        opening, low, high, closing = map(str, parts)
        value = Range(_end(low), _end(high), opening == "[", closing == "]")
        return _Built(lambda field: _term(field, value))


def _refused(error: QueryNotSupported) -> _Built:
    # Raised once the whole query is read: if it breaks the rules elsewhere, that comes first.
    def about(field: Pattern) -> Asked:
        raise error

    return _Built(about)


def _joined(kind: type[And] | type[Or], parts: list[_Built]) -> _Built:
    # A long chain grows in place: a query of thousands of words is neither deep nor slow.
    first, last = parts
    if first.kind is not kind:
        chain = [first]
        first = _Built(lambda field: kind(tuple(one.about(field) for one in chain)))
        first.chain, first.kind = chain, kind
        first.depth = chain[0].depth
    first.chain.append(last)
    first.depth = max(first.depth, last.depth)
    return first


_NO_FIELD = Pattern(("text",))


def _term(field: Pattern, value: Pattern | Range) -> Asked:
    if field.is_anything and isinstance(value, Pattern) and value.is_anything:
        return All()
    return Term(field, value)


def _end(text: str) -> str | None:
    return None if text == "*" else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _pieces(word: str) -> list[Any]:
    pieces: list[Any] = []
    signs = iter(word)
    for sign in signs:
        piece: Any = {"*": Pattern.ANY, "?": Pattern.ONE}.get(sign, sign)
        if sign == "\\":
            piece = next(signs, None)
            if piece is None:
                raise QueryNotSupported("the query ends with a backslash", hint="a backslash itself is written \\\\")
        elif sign == "~":
            raise QueryNotSupported('"~" is not supported after a colon', hint='write path~"regex", or \\~')
        if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += piece
        elif piece is not Pattern.ANY or not pieces or pieces[-1] is not Pattern.ANY:
            pieces.append(piece)
    return pieces


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SPLIT = regexp(rf"({_OWN})[{_SPACES}]*(>=|<=|=|<|>|~)[{_SPACES}]*(.*)", re.DOTALL)


def _own(text: str) -> Own:
    match = _SPLIT.fullmatch(text)
    assert match, text
    spelled, sign, given = match.groups()
    try:
        path = tuple(map(str, parsed_path(spelled)))
    except BadArgument as error:
        raise QueryNotUnderstood(error.message, hint=error.hint) from None
    if sign == "~":
        return Own(path, _by_regex(given[1:-1].replace('\\"', '"')))
    kind, value = _literal(given)
    if sign == "=":
        if kind == "n":
            return Own(path, lambda its, text: its == "n" and float(text) == value, _spellings(value))
        return Own(path, lambda its, text: its == kind and text == value, (value,))
    if kind not in "ns":
        raise QueryNotUnderstood(f"{given} is neither a number nor text, so nothing is {sign} it")
    compare = _COMPARED[sign]
    if kind == "n":
        return Own(path, lambda its, text: its == "n" and compare(float(text), value))
    return Own(path, lambda its, text: its == "s" and compare(text, value))


def _spellings(value: float) -> tuple[str, ...]:
    """How a number may stand in the index; nothing for those that several whole numbers come to."""
    if abs(value) >= 2**53:
        return ()
    whole = (str(int(value)),) if value.is_integer() else ()
    return (*whole, *dict.fromkeys(scalar_text(one)[1] for one in (value, -value) if one == value))


def _literal(given: str) -> tuple[str, Any]:
    """The kind of a value (see `fields.Entry`), and the value: a number, else its text."""
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        if given.startswith('"'):
            raise QueryNotUnderstood(f"{given} is no text as JSON writes it") from None
        return "s", given
    if value is None:
        return "z", ""
    if isinstance(value, bool):
        return "b", given
    if isinstance(value, str):
        return "s", _as_kept(value)
    return "n", float(given)  # an integer may be too big for `float(value)`


def _by_regex(pattern: str) -> Callable[[str, str], bool]:
    try:
        search = expression(pattern).search
    except BadPattern as error:
        raise QueryNotUnderstood(
            f"the expression {pattern!r} cannot be used: {error.message}", hint=error.hint
        ) from None
    return lambda kind, text: kind in "snb" and search(text)
