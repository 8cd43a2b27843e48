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
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from nodeattrs.codes import declared
from nodeattrs.core.tree import parse as parsed_path
from nodeattrs.errors import BadArgument
from nodeattrs.formats.patterns import BadPattern, expression
from nodeattrs.store.search.fields import NO_NUL, scalar_text

_WORD_SIGN = r"[A-Za-z0-9@._':-]"  # Chef's own: letters, digits and @ . _ ' : -
_NO_WORD = r"[^A-Za-z0-9@._':-]"
_WHOLE_WORDS = re.compile(f"{_WORD_SIGN}+")


class Pattern:
    """Words of a query with wildcards, to be found in a value (`in_text`) or to name a field (`is_name`).

    `in_text` takes a casefolded text, and looks for whole words. `is_name` ignores the case of letters only for a
    phrase and for a pattern with a wildcard.

    phrase:  whether the words were in quotation marks; then they are not the exact name of a field
    parts:   plain texts, `Pattern.ANY` for "*", `Pattern.ONE` for "?", `Pattern.GAP` between the words of a phrase
    plain:   the text as it is written; None for a phrase, and with wildcards
    longest: the longest casefolded text in the pattern, which an index can look for first; "" for none
    word:    *longest*, if it is a whole word in each text that matches; "" if it may be a part of a word
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
        """Whether the pattern names the field *name*. Plain text must be equal, case included; others match as in
        `in_text`.
        """
        return name == self.plain if self.plain is not None else self.in_text(name.casefold())


class Range(NamedTuple):
    """The value of a field term `[a TO b]`: the texts between two ends, by code points.

    `holds` says whether a text is in it.

    low, high: the ends; None: the range has no end there
    with_low, with_high: whether the end itself belongs to the range
    """

    low: str | None
    high: str | None
    with_low: bool = True
    with_high: bool = True

    def holds(self, text: str) -> bool:
        """Whether *text* is in the range."""
        if self.low is not None and (text < self.low or (text == self.low and not self.with_low)):
            return False
        return self.high is None or text < self.high or (text == self.high and self.with_high)


class FieldTerm(NamedTuple):
    """The term `field:value` of Chef's language: finds the nodes that have a value of the term in a field of that name.

    field: the name of the field, perhaps with wildcards
    value: the pattern or the range that the value must match
    """

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
"""Patterns, compiled when a query needs them."""


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
    return Query(text, _Parser(_as_indexed(text)).query())


def _as_indexed(text: str) -> str:
    """*text* as an index has it. raises: QueryNotUnderstood, for a text that no index can have"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryNotUnderstood(
            f"sign {error.start + 1} of {text!r} is no character, so nothing has it", hint="write the query in UTF-8"
        ) from None
    return text.replace("\0", NO_NUL)


class _Parser:
    """Parses a query from left to right.

    `_refused` collects unsupported parts. The first one is raised at the end, after any error of the language.
    """

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._refused: list[QueryNotSupported] = []

    def query(self) -> Condition:
        """The condition of the whole query. raises: QueryNotUnderstood, QueryNotSupported"""
        found = self._either(_NO_FIELD, False, 0)
        if self._refused:
            raise self._refused[0]
        return found

    def _either(self, field: Pattern, is_value: bool, depth: int) -> Condition:
        """The operands up to the end of the query, or for a *depth* above 0 to the closing parenthesis, joined."""
        either: list[Condition] = []
        while True:
            both = [self._operand(field, is_value, depth)]
            while self._has(_AND):
                both.append(self._operand(field, is_value, depth))
            either.append(And(tuple(both)) if len(both) > 1 else both[0])
            if depth and self._has(_CLOSED):
                break
            if not self._has(_OR) and not depth and self._at == len(self._text):
                break
        return Or(tuple(either)) if len(either) > 1 else either[0]

    def _operand(self, field: Pattern, is_value: bool, depth: int) -> Condition:
        """The next operand, with the negations and the field before it.

        field:    the field to search, unless the operand names another one
        is_value: True: it is a value after `field:`, so it names no field and is no term of our own
        depth:    the parentheses and negations around it
        """
        if depth > _DEEPEST:
            raise QueryNotUnderstood(f"the query is nested more than {_DEEPEST} deep")
        found = self._take(_VALUE if is_value else _OPERAND)
        kind, text = found.lastgroup, found[0]
        if kind == "negated":
            return Not(self._operand(field, is_value, depth + 1))
        if kind == "plus":
            self._refused.append(QueryNotSupported('"+" is not supported', hint="join with AND what must be there"))
            return self._operand(field, is_value, depth + 1)
        if kind == "group":
            operand = self._either(field, is_value, depth + 1)
        elif kind == "span":
            low, _, high, closing = (self._take(one)[0] for one in (_END, _TO, _END, _CLOSING))
            operand = FieldTerm(field, Range(_end(low), _end(high), text == "[", closing == "]"))
        elif kind == "own":
            operand = _path_term(text)
        else:
            operand = self._word(text, kind == "phrase", field, is_value, depth)
        while self._has(_CIRCUMFLEX):
            boost = self._take(_BOOST)[0]
            if not re.fullmatch(r"\d+\.?\d*|\.\d+", boost):
                raise QueryNotUnderstood(f"a boost is a number, not {boost!r}")
        return operand

    def _word(self, text: str, is_phrase: bool, field: Pattern, is_value: bool, depth: int) -> Condition:
        """The term of a word or a phrase; or, where it names a field, the operand behind its colon."""
        pattern = _phrase(text) if is_phrase else Pattern(tuple(_pieces(text)))
        if (is_phrase and is_value) or not self._has(_COLON):
            is_every = field.parts == pattern.parts == (Pattern.ANY,)
            return Everything() if is_every else FieldTerm(field, pattern)
        if not is_value:
            return self._operand(pattern, True, depth)
        message = f"there is a second colon, before {text!r} a first"
        self._refused.append(QueryNotSupported(message, hint="a colon in a value is written \\:"))
        return self._operand(field, True, depth + 1)

    def _has(self, what: str) -> re.Match[str] | None:
        """Match the pattern *what* after spaces, and go behind it; returns the match, None for no match."""
        for pattern in (_SPACE, what):
            found = re.compile(pattern, re.DOTALL).match(self._text, self._at)
            if found is not None:
                self._at = found.end()
        return found

    def _take(self, what: str) -> re.Match[str]:
        """Match the pattern *what* after spaces, and go behind it; returns the match. raises: QueryNotUnderstood"""
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


def _phrase(text: str) -> Pattern:
    words: list[Any] = []
    for word in re.findall(rf"(?:\\.|[^{_SPACES}])+", text[1:-1], re.DOTALL):
        words += [*([Pattern.GAP] if words else []), *_pieces(word)]
    if not words:
        raise QueryNotUnderstood("a phrase has no words", hint="field:* finds the nodes that have the field")
    return Pattern(tuple(words), phrase=True)


_NO_FIELD = Pattern(("text",))


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
