"""Parses a query, in Chef's language with terms of our own, into a `Query`: a tree of terms, AND, OR and NOT.

    query:   or
    or:      and (["OR" | "||"] and)*         two side by side mean OR
    and:     not (("AND" | "&&") not)*
    not:     ("NOT" | "-" | "!") not | boosted
    boosted: one ["^" number]                 read, and ignored
    one:     "(" or ")" | (WORD | PHRASE) ":" value | OWN | plain
    value:   plain | "(" values ")" | ("NOT" | "-" | "!") value
    plain:   WORD | PHRASE | range

`f:(a OR NOT b)` is `f:a OR NOT f:b`. A word without a field is looked for in the field "text". Case does not count:
both sides are casefolded. An index answers a query; this module knows no index.
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
    """Words of a query with wildcards, to be found in a value (`in_text`) or to name a field (`is_name`).

    `in_text` takes a casefolded text, and looks for whole words. `is_name` compares the case of letters, unless the
    pattern has a wildcard or is a phrase.

    phrase:  whether the words were in quotation marks; then they are not the exact name of a field
    parts:   plain texts, `Pattern.ANY` for "*", `Pattern.ONE` for "?", `Pattern.GAP` between the words of a phrase
    plain:   the text as it is written; None for a phrase, and with wildcards
    longest: the longest casefolded text in the pattern, which an index can look for first; "" for none
    word:    *longest*, if each text that matches has it as a whole word; "" if it may be a part of a word
    """

    ANY, ONE, GAP = object(), object(), object()
    _SPELLED: ClassVar = {ONE: _WORD_SIGN, GAP: f"{_NO_WORD}+"}

    def __init__(self, parts: tuple[Any, ...], phrase: bool = False) -> None:
        self.parts = parts
        self.plain = "".join(parts) if not phrase and all(isinstance(part, str) for part in parts) else None
        folded = [part.casefold() if isinstance(part, str) else part for part in parts]
        self.longest = max((part for part in folded if isinstance(part, str)), key=len, default="")
        whole = all(part is Pattern.GAP or isinstance(part, str) for part in parts)
        self.word = self.longest if whole and _WHOLE_WORDS.fullmatch(self.longest) else ""
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
        # A text between two stars matches where it first comes, without backtracking: many stars are not slow.
        first, *between, last = runs
        return first + "".join(f"(?>{_WORD_SIGN}*?{run})" for run in between) + f"{_WORD_SIGN}*{last}"

    def in_text(self, folded: str) -> bool:
        """Whether a casefolded text contains the pattern as whole words."""
        return self.longest in folded and self._run.search(folded) is not None

    def is_name(self, name: str) -> bool:
        """Whether the pattern names a field: by the same text, case included; with a wildcard or a phrase, by
        `in_text`.
        """
        return name == self.plain if self.plain is not None else self.in_text(name.casefold())

    @property
    def _is_anything(self) -> bool:
        """Whether the pattern is "*" alone."""
        return self.parts == (Pattern.ANY,)


class Range(NamedTuple):
    """The value of a field term `[a TO b]`: the texts between two ends, by code points.

    `holds` says whether a text is in it.

    low, high: the ends; None: the range has no end there
    with_low, with_high: whether the end itself belongs to the range
    exact:     the only text in the range, if both ends are equal and belong to it; else None
    """

    low: str | None
    high: str | None
    with_low: bool = True
    with_high: bool = True

    @property
    def exact(self) -> str | None:
        """The one text in the range, where both ends are the same and belong to it; else None."""
        return self.low if self.low == self.high and self.with_low and self.with_high else None

    def holds(self, text: str) -> bool:
        """Whether *text* is in the range."""
        if self.low is not None and (text < self.low or (text == self.low and not self.with_low)):
            return False
        return self.high is None or text < self.high or (text == self.high and self.with_high)


class FieldTerm(NamedTuple):
    """The term `field:value` of Chef's language: finds the nodes that have such a value in such a field."""

    field: Pattern
    value: Pattern | Range


class PathTerm(NamedTuple):
    """A term of our own, `path=80`, `path>"a"`, `path~"x"`: finds the nodes by the value that they read at a path.

    Texts and numbers differ.
    path:  the steps as text, without indexes of lists
    holds: (kind, text) of a `fields.SearchEntry` -> whether the value fits
    exact: the texts of all values that fit, where they can be listed; else ()
    """

    path: tuple[str, ...]
    holds: Callable[[str, str], bool]
    exact: tuple[str, ...] = ()


class Everything:
    """The term `*:*`, which finds every node."""


class Not(NamedTuple):
    """Finds every node that *inner* does not find."""

    inner: Condition


class And(NamedTuple):
    """Finds the nodes that all parts of *inner* find."""

    inner: tuple[Condition, ...]


class Or(NamedTuple):
    """Finds the nodes that a part of *inner* finds."""

    inner: tuple[Condition, ...]


Condition = FieldTerm | PathTerm | Everything | Not | And | Or


_LONGEST = 10_000
"""The most characters of a query."""
_DEEPEST = 100
"""The most parentheses and negations inside each other."""


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
    """A query with a part of the language that search does not have: "+", "~", a second colon."""

    entry = declared(
        "NA0507",
        "QueryNotSupported",
        cause="A query with something that the language has and search does not.",
        example='nodeattrs search "+role:web"',
        way_out="The hint shows how to write it.",
    )


class Query(NamedTuple):
    """A parsed query, for `Store.search`.

    text:      as it was written
    condition: a term, or a tree of terms with And, Or and Not
    """

    text: str
    condition: Condition


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
"""Patterns, compiled when a query needs them. Most queries are `field:value`, which needs none."""


def parse_query(text: str) -> Query:
    """Parse a query. It is not checked whether its fields exist.

    raises: QueryNotUnderstood, also for an empty query, and for one that is too long or too deep; QueryNotSupported
    source: docs/search.md

    >>> parse_query("role:db AND NOT chef_environment:prod").text
    'role:db AND NOT chef_environment:prod'
    """
    if not isinstance(text, str):
        raise QueryNotUnderstood(f"a query is text, not {type(text).__name__}", hint='parse_query("role:web")')
    if len(text) > _LONGEST:
        raise QueryNotUnderstood(f"the query has {len(text)} characters, {_LONGEST} is the most")
    field, _, value = text.partition(":")
    if _is_name(field) and _is_name(value):
        return Query(text, FieldTerm(Pattern((field,)), Pattern((value,))))
    built = _Parser(_as_indexed(text)).query()
    if built.depth > _DEEPEST:
        raise QueryNotUnderstood(f"the query is nested {built.depth} deep, {_DEEPEST} is the most")
    return Query(text, built.for_field(_NO_FIELD))


def _is_name(text: str) -> bool:
    """Whether a text is a word without special signs, and not AND, OR or NOT."""
    return is_word(text) and text not in ("AND", "OR", "NOT")


def _as_indexed(text: str) -> str:
    """*text* as an index has it. raises: QueryNotUnderstood, for a text that no index can have"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryNotUnderstood(
            f"sign {error.start + 1} of {text!r} is no character, so nothing has it", hint="write the query in UTF-8"
        ) from None
    return text.replace("\0", NO_NUL)


class _Built:
    """A part of a query whose field is not known yet. for_field: field -> the condition"""

    __slots__ = ("chain", "depth", "for_field", "kind")

    def __init__(self, for_field: Callable[[Pattern], Condition], depth: int = 0) -> None:
        self.for_field, self.depth = for_field, depth
        self.chain: list[_Built] = []
        self.kind: type | None = None


class _Level:
    """The content of one pair of parentheses, as far as it is parsed.

    is_value: whether the next operand belongs to a field, so that neither a field nor a term of our own may come
    before:   changes of the next operand: negations and fields before it
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
        """The whole content so far; the next operand is joined to it by OR."""
        assert self._both
        self._either, self._both = self._both if self._either is None else _joined(Or, self._either, self._both), None
        return self._either


class _Parser:
    """Parses a query from left to right, without recursion, so that its depth does not matter."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def query(self) -> _Built:
        """The whole query. raises: QueryNotUnderstood"""
        levels = [_Level()]
        while True:
            operand = self._operand(levels)
            if operand is None:
                continue
            self._add(operand, levels)
            if self._has(_AND):
                continue
            built = levels[-1].all()
            if not self._has(_OR) and self._at == len(self._text) and len(levels) == 1:
                return built

    def _add(self, operand: _Built, levels: list[_Level]) -> None:
        """Add an operand to the innermost level, and close the parentheses that end behind it."""
        while True:
            while self._has(_CIRCUMFLEX):
                _boost(self._take(_BOOST)[0])
            levels[-1].add(operand)
            if len(levels) == 1 or not self._has(_CLOSED):
                return
            inner = levels.pop().all()
            operand = _Built(inner.for_field, inner.depth + 1)

    def _has(self, what: str) -> re.Match[str] | None:
        """The match of the pattern *what* at the next place, which is passed then; None where it does not match."""
        for pattern in (_SPACE, what):
            found = re.compile(pattern, re.DOTALL).match(self._text, self._at)
            if found is not None:
                self._at = found.end()
        return found

    def _take(self, what: str) -> re.Match[str]:
        """The match of the pattern *what* at the next place. raises: QueryNotUnderstood, where it does not match"""
        found = self._has(what)
        if found is not None:
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
        """The next operand; None for a parenthesis, a negation, or a field before one."""
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
            term = _path_term(text)
            return _Built(lambda _: term)
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
    return _Built(lambda field: Not(inner.for_field(field)), inner.depth + 1)


def _field(field: Pattern, value: _Built) -> _Built:
    return _Built(lambda _: value.for_field(field), value.depth)


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
    # Raised once the whole query is parsed: an error of the language elsewhere comes first.
    def fail(field: Pattern) -> Condition:
        raise error

    return _Built(fail)


def _joined(kind: type[And] | type[Or], first: _Built, last: _Built) -> _Built:
    # A long chain grows in place: a query of thousands of words is neither deep nor slow.
    if first.kind is not kind:
        chain = [first]
        first = _Built(lambda field: kind(tuple(one.for_field(field) for one in chain)))
        first.chain, first.kind = chain, kind
        first.depth = chain[0].depth
    first.chain.append(last)
    first.depth = max(first.depth, last.depth)
    return first


_NO_FIELD = Pattern(("text",))


def _term(field: Pattern, value: Pattern | Range) -> Condition:
    if field._is_anything and isinstance(value, Pattern) and value._is_anything:
        return Everything()
    return FieldTerm(field, value)


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


def _path_term(text: str) -> PathTerm:
    match = re.fullmatch(rf"({_OWN})[{_SPACES}]*(>=|<=|=|<|>|~)[{_SPACES}]*(.*)", text, re.DOTALL)
    assert match, text
    spelled, sign, given = match.groups()
    try:
        path = tuple(map(str, parsed_path(spelled)))
    except BadArgument as error:
        raise QueryNotUnderstood(error.message, hint=error.hint) from None
    if sign == "~":
        return PathTerm(path, _by_regex(given[1:-1].replace('\\"', '"')))
    kind, value = _literal(given)
    if sign == "=":
        if kind == "n":
            return PathTerm(path, lambda its, text: its == "n" and float(text) == value, _spellings(value))
        return PathTerm(path, lambda its, text: its == kind and text == value, (value,))
    if kind not in "ns":
        raise QueryNotUnderstood(f"{given} is neither a number nor text, so nothing is {sign} it")
    compare = _COMPARED[sign]
    if kind == "n":
        return PathTerm(path, lambda its, text: its == "n" and compare(float(text), value))
    return PathTerm(path, lambda its, text: its == "s" and compare(text, value))


def _spellings(value: float) -> tuple[str, ...]:
    """The texts that an index may have for a number; () for one so big that several integers are the same float."""
    if abs(value) >= 2**53:
        return ()
    whole = (str(int(value)),) if value.is_integer() else ()
    return (*whole, *dict.fromkeys(scalar_text(one)[1] for one in (value, -value) if one == value))


def _literal(given: str) -> tuple[str, Any]:
    """Returns (kind, value): the kind of a `fields.SearchEntry`, and the number, or the text for other kinds."""
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
        return "s", _as_indexed(value)
    return "n", float(given)  # an integer may be too big for `float(value)`


def _by_regex(pattern: str) -> Callable[[str, str], bool]:
    try:
        search = expression(pattern).search
    except BadPattern as error:
        raise QueryNotUnderstood(
            f"the expression {pattern!r} cannot be used: {error.message}", hint=error.hint
        ) from None
    return lambda kind, text: kind in "snb" and search(text)
