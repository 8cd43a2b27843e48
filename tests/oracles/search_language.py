"""The language of queries as a grammar, beside the reader by hand: what is asked, as one line of text.

Lark reads it with a table of states that forgets where it stands: after a word between parentheses it takes a term of
our own for one, and refuses the query. Of such texts it says nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import lark

from nodeattrs.store.search import query
from nodeattrs.store.search.query import And, Condition, Everything, FieldTerm, Not, Or, PathTerm, Pattern, Range

__all__ = ["GRAMMAR", "asked", "spelled"]

# What a query is spelled with, written down for a second time: the reader's own expressions are what is judged.
_SPACES = r" \t\n\r\f\v"
_ENDS = rf"""{_SPACES}"+!(){{}}\[\]^:"""
_SIGN = rf"(?:\\.|\\\Z|(?!&&|\|\|)[^{_ENDS}\\])"
_ALONE = rf"(?![^{_ENDS}])"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PATH_SIGN = rf"[^{_ENDS}=<>~\\]"
_PATH = rf"(?!-)(?:{_QUOTED}|{_PATH_SIGN})+"
_COMPARED = rf"""(?:>=|<=|=|<|>|~(?=[{_SPACES}]*"))"""
_OURS = rf"{_PATH}[{_SPACES}]*{_COMPARED}[{_SPACES}]*(?:{_QUOTED}|[^{_ENDS}]+)"

GRAMMAR = rf"""
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
OWN.2: /{_OURS}/s
WORD: /(?!-|(?:AND|OR|NOT){_ALONE}){_SIGN}+/s
%ignore /[{_SPACES}]+/
"""


class _Reader(lark.Transformer):
    """Each rule gives a function from a field to a line."""

    def start(self, parts: list[Any]) -> str:
        return parts[0]("'text'")

    def either(self, parts: list[Any]) -> Any:
        return lambda field: f"({parts[0](field)} or {parts[1](field)})"

    def both(self, parts: list[Any]) -> Any:
        return lambda field: f"({parts[0](field)} and {parts[1](field)})"

    def negated(self, parts: list[Any]) -> Any:
        return lambda field: f"not {parts[0](field)}"

    def group(self, parts: list[Any]) -> Any:
        return parts[0]

    def boosted(self, parts: list[Any]) -> Any:
        query._boost(str(parts[1]))
        return parts[0]

    def plus(self, parts: list[Any]) -> Any:
        return lambda field: "refused"

    def nested(self, parts: list[Any]) -> Any:
        return lambda field: "refused"

    def field(self, parts: list[Any]) -> Any:
        return lambda _: parts[1](parts[0](None))

    def own(self, parts: list[Any]) -> Any:
        return lambda _: _own(query._path_term(str(parts[0])))

    def word(self, parts: list[Any]) -> Any:
        return _leaf(Pattern(tuple(query._pieces(str(parts[0])))))

    def phrase(self, parts: list[Any]) -> Any:
        return _leaf(query._phrase(str(parts[0])))

    def span(self, parts: list[Any]) -> Any:
        opening, low, high, closing = map(str, parts)
        return _leaf(Range(query._end(low), query._end(high), opening == "[", closing == "]"))


def _own(one: PathTerm) -> str:
    return f"{one.path} {one.exact}"


def _text(value: Pattern | Range) -> str:
    if isinstance(value, Range):
        return repr(value)
    signs = {Pattern.ANY: "*", Pattern.ONE: "?", Pattern.GAP: " "}
    return "".join(repr(one) if isinstance(one, str) else signs[one] for one in value.parts)


def _leaf(value: Pattern | Range) -> Any:
    def about(field: str | None) -> str:
        text = _text(value)
        return text if field is None else "all" if field == text == "*" else f"{field}:{text}"

    return about


@cache
def _lark() -> lark.Lark:
    return lark.Lark(GRAMMAR, parser="lalr", lexer="contextual")


def asked(text: str) -> str:
    """What the grammar makes of it: what is asked, the sign that it cannot read, or "error" for an impossible value."""
    try:
        found = str(_Reader().transform(_lark().parse(text)))
    except lark.exceptions.UnexpectedInput as error:
        at_end = getattr(getattr(error, "token", None), "type", "") == "$END" or error.pos_in_stream is None
        return "end" if at_end or error.pos_in_stream >= len(text) else f"sign {error.pos_in_stream + 1}"
    except lark.exceptions.VisitError:
        return "error"
    return "error" if "refused" in found else found


def spelled(one: Condition) -> str:
    """What our reader made of a query, in the same words."""
    if isinstance(one, And | Or):
        first, *rest = map(spelled, one.inner)
        word = "and" if isinstance(one, And) else "or"
        for part in rest:
            first = f"({first} {word} {part})"
        return first
    if isinstance(one, Not):
        return f"not {spelled(one.inner)}"
    if isinstance(one, FieldTerm):
        return f"{_text(one.field)}:{_text(one.value)}"
    return "all" if isinstance(one, Everything) else _own(one)
