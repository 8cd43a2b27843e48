"""A query: Chef's language, and our own terms, read into terms and how they are joined. Knows no index.

    query:   or
    or:      and (["OR" | "||"] and)*         two side by side mean OR
    and:     not (("AND" | "&&") not)*
    not:     ("NOT" | "-" | "!") not | boosted
    boosted: one ["^" number]                 read, and ignored
    one:     "(" or ")" | (WORD | PHRASE) ":" value | OWN | plain
    value:   plain | "(" values ")" | ("NOT" | "-" | "!") value
    plain:   WORD | PHRASE | range

`f:(a OR NOT b)` is `f:a OR NOT f:b`. What has no field looks at the field "text".

Texts are compared without regard to case by casefolding both sides, so that an index may keep the folded text and look
for a part of it first.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

from nodeattrs.codes import declared
from nodeattrs.core.tree import is_word
from nodeattrs.core.tree import parse as parsed_path
from nodeattrs.errors import BadArgument
from nodeattrs.formats.patterns import BadPattern, expression
from nodeattrs.store.search.fields import NO_NUL, scalar_text

_WORD_SIGN = r"[A-Za-z0-9@._':-]"  # Chef's own: letters, digits and @ . _ ' : -
_NO_WORD = r"[^A-Za-z0-9@._':-]"
_WHOLE_WORDS = re.compile(f"{_WORD_SIGN}+")


class Pattern:
    """Text of a query, with wildcards: words to find in a value, or the name of a field.

    parts:   plain texts, with `Pattern.ANY` for "*" and `Pattern.ONE` for "?"; `Pattern.GAP` separates
             the words of a phrase
    phrase:  whether it was in quotation marks; then it is not the exact name of a field
    plain:   the text as it is written; None for a phrase, and with wildcards
    longest: the longest casefolded text in the pattern, which an index can look for first; "" for none
    word:    the same, where it is a whole word of every match; else ""
    """

    ANY, ONE, GAP = object(), object(), object()
    _SPELLED: ClassVar = {ONE: _WORD_SIGN, GAP: f"{_NO_WORD}+"}

    def __init__(self, parts: tuple[Any, ...], phrase: bool = False) -> None:
        self.parts = parts
        self.plain = "".join(parts) if not phrase and all(isinstance(part, str) for part in parts) else None
        folded = [part.casefold() if isinstance(part, str) else part for part in parts]
        self.longest = max((part for part in folded if isinstance(part, str)), key=len, default="")
        """A part of every folded text that matches, for an index to look for first."""
        whole = all(part is Pattern.GAP or isinstance(part, str) for part in parts)
        self.word = self.longest if whole and _WHOLE_WORDS.fullmatch(self.longest) else ""
        """As much as that, where it is a whole word of each of them."""
        self._folded = folded

    @cached_property
    def _run(self) -> re.Pattern[str]:
        return re.compile(f"(?:^|{_NO_WORD}){self._spelled(self._folded)}(?:$|{_NO_WORD})")

    def _spelled(self, parts: list[Any]) -> str:
        runs = [""]
        for part in parts:
            if part is Pattern.ANY:
                runs.append("")
            else:
                runs[-1] += re.escape(part) if isinstance(part, str) else self._SPELLED[part]
        if len(runs) == 1:
            return runs[0]
        # What stands between two stars is taken where it comes first, and that is final: no
        # number of stars makes a search slow.
        first, *between, last = runs
        return first + "".join(f"(?>{_WORD_SIGN}*?{run})" for run in between) + f"{_WORD_SIGN}*{last}"

    def in_text(self, folded: str) -> bool:
        """Whether the casefolded text is equal to the pattern, or contains it as whole words."""
        return self.longest in folded and self._run.search(folded) is not None

    def is_name(self, name: str) -> bool:
        """Whether a field has this name: equal with case; with a wildcard or a phrase, as `in_text`."""
        return name == self.plain if self.plain is not None else self.in_text(name.casefold())

    @property
    def is_anything(self) -> bool:
        """Whether the pattern is "*" alone."""
        return self.parts == (Pattern.ANY,)


class Range(NamedTuple):
    """The texts between two ends, in the order of texts; None is an open end.

    with_low, with_high: whether the end itself belongs to the range
    """

    low: str | None
    high: str | None
    with_low: bool = True
    with_high: bool = True

    @property
    def exact(self) -> str | None:
        """The end, where both ends are the same and belong to the range; else None."""
        return self.low if self.low == self.high and self.with_low and self.with_high else None

    def holds(self, text: str) -> bool:
        """Whether *text* is in the range."""
        if self.low is not None and (text < self.low or (text == self.low and not self.with_low)):
            return False
        return self.high is None or text < self.high or (text == self.high and self.with_high)


class Term(NamedTuple):
    """Chef's `field:value`: finds nodes with such a field."""

    field: Pattern
    value: Pattern | Range


class Own(NamedTuple):
    """The term `path=80` or the like: finds nodes by the value that they read at a path. Texts and numbers differ.

    path:  the steps as text, without indexes of lists
    holds: a function from the kind (see `fields.Entry`) and the text of a value to whether it fits
    exact: the texts of all values that fit, where they can be listed; else ()
    """

    path: tuple[str, ...]
    holds: Callable[[str, str], bool]
    exact: tuple[str, ...] = ()


class All:
    """The query `*:*`, which finds every node."""


class Not(NamedTuple):
    """Finds every node that *inner* does not find."""

    inner: Asked


class And(NamedTuple):
    """Finds the nodes that all parts of *inner* find."""

    inner: tuple[Asked, ...]


class Or(NamedTuple):
    """Finds the nodes that a part of *inner* finds."""

    inner: tuple[Asked, ...]


Asked = Term | Own | All | Not | And | Or


LONGEST_QUERY = 10_000
"""Characters of a query."""
DEEPEST_QUERY = 100
"""Parentheses and negations inside each other."""


class QueryNotUnderstood(BadArgument):
    """A query that breaks the rules of the language."""

    entry = declared(
        "NA0506",
        "QueryNotUnderstood",
        cause="A query that cannot be read.",
        example='nodeattrs search "role:"',
        way_out="docs/search.md has the language; the message says where reading stopped.",
    )


class QueryNotSupported(BadArgument):
    """A query with something that the language has and search does not: "+", "~", a second colon."""

    entry = declared(
        "NA0507",
        "QueryNotSupported",
        cause="A query with something that the language has and search does not.",
        example='nodeattrs search "+role:web"',
        way_out="The hint shows how to write it.",
    )


class Query(NamedTuple):
    """A parsed query.

    text:  as it was written
    asked: the tree of its terms
    """

    text: str
    asked: Asked


# A word ends where one of these begins; a backslash takes the next character as it is. A minus
# negates only where it stands first.
_SPACES = r" \t\n\r\f\v"
_ENDS = rf"""{_SPACES}"+!(){{}}\[\]^:"""
_SIGN = rf"(?:\\.|\\\Z|(?!&&|\|\|)[^{_ENDS}\\])"
_ALONE = rf"(?![^{_ENDS}])"
_OWN = rf"""(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}=<>~\\-])(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}=<>~\\])*"""

_WORD = rf"(?!-|(?:AND|OR|NOT){_ALONE}){_SIGN}+"
_NEGATED = rf"(?P<negated>NOT{_ALONE}|[-!])"
_COMPARES = rf"""(?:>=|<=|=|<|>|~(?=[{_SPACES}]*"))"""
_OURS = rf"""(?P<own>{_OWN}[{_SPACES}]*{_COMPARES}[{_SPACES}]*(?:"(?:[^"\\]|\\.)*"|[^{_ENDS}]+))"""
_PLAIN = rf"""(?P<plus>\+)|(?P<group>\()|(?P<span>[\[{{])|(?P<phrase>"(?:[^"\\]|\\.)*")|(?P<word>{_WORD})"""

_OPERAND, _VALUE, _SPACE = f"{_NEGATED}|{_OURS}|{_PLAIN}", f"{_NEGATED}|{_PLAIN}", f"[{_SPACES}]*"
_BOOST, _END, _TO, _CLOSING = _WORD, rf"(?!-){_SIGN}+", f"TO{_ALONE}", r"[\]}]"
_AND, _OR, _CIRCUMFLEX, _COLON, _CLOSED = rf"AND{_ALONE}|&&", rf"OR{_ALONE}|\|\|", r"\^", ":", r"\)"
"""Patterns, compiled when a query first needs them: most queries are `field:value`, which needs none."""


def parse_query(text: str) -> Query:
    """The parsed query.

    raises: QueryNotUnderstood, also for an empty query, and for one that is too long or too deep; QueryNotSupported
    source: docs/search.md

    >>> parse_query("role:db AND NOT chef_environment:prod").text
    'role:db AND NOT chef_environment:prod'
    """
    if not isinstance(text, str):
        raise QueryNotUnderstood(f"a query is text, not {type(text).__name__}", hint='parse_query("role:web")')
    if len(text) > LONGEST_QUERY:
        raise QueryNotUnderstood(f"the query has {len(text)} characters, {LONGEST_QUERY} is the most")
    field, _, value = text.partition(":")
    if _is_name(field) and _is_name(value):  # as most are: no expression is needed
        return Query(text, Term(Pattern((field,)), Pattern((value,))))
    built = _Reading(_as_kept(text)).query()
    if built.depth > DEEPEST_QUERY:
        raise QueryNotUnderstood(f"the query is nested {built.depth} deep, {DEEPEST_QUERY} is the most")
    return Query(text, built.about(_NO_FIELD))


def _is_name(text: str) -> bool:
    """Whether a word is itself and no word of the language."""
    return is_word(text) and text not in ("AND", "OR", "NOT")


def _as_kept(text: str) -> str:
    """*text* as an index has it. raises: QueryNotUnderstood, for what no index can have"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryNotUnderstood(
            f"sign {error.start + 1} of {text!r} is no character, so nothing has it", hint="write the query in UTF-8"
        ) from None
    return text.replace("\0", NO_NUL)


class _Built:
    """A part of a query that does not know its field yet. about: gives what is asked, of a field"""

    __slots__ = ("about", "chain", "depth", "kind")

    def __init__(self, about: Callable[[Pattern], Asked], depth: int = 0) -> None:
        self.about, self.depth = about, depth
        self.chain: list[_Built] = []
        self.kind: type | None = None


class _Level:
    """What stands between two parentheses, as far as it is read.

    is_value: whether what comes next belongs to a field: no other field then, and no term of our own
    before:   what stands before the next operand and changes it
    """

    def __init__(self, is_value: bool = False) -> None:
        self.is_value = self._is_inside = is_value
        self.before: list[Callable[[_Built], _Built]] = []
        self._either: _Built | None = None
        self._both: _Built | None = None

    def add(self, operand: _Built) -> None:
        for change in reversed(self.before):
            operand = change(operand)
        self.before.clear()
        self.is_value = self._is_inside
        self._both = operand if self._both is None else _joined(And, self._both, operand)

    def all(self) -> _Built:
        """Everything so far; what comes next is joined to it by OR."""
        assert self._both
        self._either, self._both = self._both if self._either is None else _joined(Or, self._either, self._both), None
        return self._either


class _Reading:
    """A query as it is read, from left to right, with what is open in a list: however deep it is."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def query(self) -> _Built:
        """All of it. raises: QueryNotUnderstood"""
        levels = [_Level()]
        while True:
            if (operand := self._operand(levels)) is None:
                continue
            self._add(operand, levels)
            if self._has(_AND):
                continue
            built = levels[-1].all()
            if not self._has(_OR) and self._at == len(self._text) and len(levels) == 1:
                return built

    def _add(self, operand: _Built, levels: list[_Level]) -> None:
        """With it the parentheses that close behind it."""
        while True:
            while self._has(_CIRCUMFLEX):
                _boost(self._take(_BOOST)[0])
            levels[-1].add(operand)
            if len(levels) == 1 or not self._has(_CLOSED):
                return
            inner = levels.pop().all()
            operand = _Built(inner.about, inner.depth + 1)

    def _has(self, what: str) -> re.Match[str] | None:
        """What comes next, if it matches the pattern *what*; it is read then."""
        for pattern in (_SPACE, what):
            if found := re.compile(pattern, re.DOTALL).match(self._text, self._at):
                self._at = found.end()
        return found

    def _take(self, what: str) -> re.Match[str]:
        """raises: QueryNotUnderstood, where something else comes next"""
        if found := self._has(what):
            return found
        if self._at == len(self._text):
            raise QueryNotUnderstood(
                f"the query ends too early: {self._text!r}" if self._text.strip() else "the query is empty",
                hint="write field:value, or *:* for every node; a backslash takes the next sign as it is",
            )
        raise QueryNotUnderstood(
            f"the query cannot be read at sign {self._at + 1}, {self._text[self._at]!r}: {self._text!r}",
            hint="a backslash takes a sign as it is: recipe:nginx\\:\\:ssl",
        )

    def _operand(self, levels: list[_Level]) -> _Built | None:
        """The next operand; None for what stands before one."""
        level = levels[-1]
        found = self._take(_VALUE if level.is_value else _OPERAND)
        kind, text = found.lastgroup, found[0]
        if kind == "group":
            levels.append(_Level(level.is_value))
        elif kind in ("negated", "plus"):
            level.before.append(_negated if kind == "negated" else _plus)
        elif kind == "span":
            low, _, high, closing = (self._take(one)[0] for one in (_END, _TO, _END, _CLOSING))
            value = Range(_end(low), _end(high), text == "[", closing == "]")
            return _Built(lambda field: _term(field, value))
        elif kind == "own":
            asked = _own(text)
            return _Built(lambda _: asked)
        else:
            pattern = _phrase(text) if kind == "phrase" else Pattern(tuple(_pieces(text)))
            if (kind == "phrase" and level.is_value) or not self._has(_COLON):
                return _Built(lambda field: _term(field, pattern))
            level.before.append(partial(_nested, text) if level.is_value else partial(_field, pattern))
            level.is_value = True
        return None


def _boost(text: str) -> None:
    if not re.fullmatch(r"\d+\.?\d*|\.\d+", text):
        raise QueryNotUnderstood(f"a boost is a number, not {text!r}")


def _negated(inner: _Built) -> _Built:
    return _Built(lambda field: Not(inner.about(field)), inner.depth + 1)


def _field(field: Pattern, value: _Built) -> _Built:
    return _Built(lambda _: value.about(field), value.depth)


def _plus(_: _Built) -> _Built:
    return _refused(QueryNotSupported('"+" is not supported', hint="join with AND what must be there"))


def _nested(field: str, _: _Built) -> _Built:
    return _refused(
        QueryNotSupported(
            f"there is a second colon, before {field!r} a first", hint="a colon in a value is written \\:"
        )
    )


def _phrase(text: str) -> Pattern:
    words: list[Any] = []
    for word in re.findall(rf"(?:\\.|[^{_SPACES}])+", text[1:-1], re.DOTALL):
        words += [*([Pattern.GAP] if words else []), *_pieces(word)]
    if not words:
        raise QueryNotUnderstood("a phrase has no words", hint="field:* finds the nodes that have the field")
    return Pattern(tuple(words), phrase=True)


def _refused(error: QueryNotSupported) -> _Built:
    # Raised once the whole query is read: if it breaks the rules elsewhere, that comes first.
    def about(field: Pattern) -> Asked:
        raise error

    return _Built(about)


def _joined(kind: type[And] | type[Or], first: _Built, last: _Built) -> _Built:
    # A long chain grows in place: a query of thousands of words is neither deep nor slow.
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
    return None if text == "*" else re.sub(r"\\(.)", operator.itemgetter(1), text, flags=re.DOTALL)


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


def _own(text: str) -> Own:
    match = re.fullmatch(rf"({_OWN})[{_SPACES}]*(>=|<=|=|<|>|~)[{_SPACES}]*(.*)", text, re.DOTALL)
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
            raise QueryNotUnderstood(f"{given} is not text as JSON writes it") from None
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
