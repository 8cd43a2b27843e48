"""Expressions in texts: `%{facts.os.family}`, `%{lookup('key')}`, `%{alias('key')}`.

A text or a tree of data is parsed once into a `Plan`, a function that fills in its expressions. The plan does not visit
parts without expressions again. A `Resolver` gives the values of variables and keys. A fact is plain text: an
expression inside a fact is never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Protocol

from nodeattrs.codes import Kind
from nodeattrs.core.budget import Budget
from nodeattrs.core.sensitive import Encrypted, MarkedSecret, Sensitive, encrypted_in, revealed
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.hiera.codes import (
    ALIAS_NOT_ENTIRE_STRING,
    BAD_DATA_VALUE,
    METHOD_NOT_ALLOWED_HERE,
    UNKNOWN_INTERPOLATION_METHOD,
)
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.keys import split_key, value_below
from nodeattrs.dialects.hiera.values import written


class Resolver(Protocol):
    """What filling in the expressions of a text needs: the values of variables and keys. `LookupCall` is one.

    untrusted: the plan of a text sets it to True if the value of a variable has a `%` or `{`. The result must then not
               be read as an expression again

    `variable` returns None for a variable that is not set, and `note_unset` notes such a variable. `lookup` returns
    (value or ABSENT, whether its texts may be read as expressions). `node` is the same object in each call for one
    node. `with_variable` returns a copy. `budget` limits the call.
    """

    untrusted: bool

    @property
    def budget(self) -> Budget:
        """The limits of the current call, which large texts and values count against."""

    @property
    def node(self) -> object:
        """An object for the node: all calls for one node have the same object."""

    def variable(self, name: Any, below: Path = ()) -> Any:
        """The value of a variable; None if it is not set.

        below: the steps that the expression reads in the value; they are only noted
        """

    def with_variable(self, name: str, value: Any) -> Resolver:
        """A copy of the resolver with one more variable, which hides others of its name."""

    def note_unset(self, name: str) -> None:
        """Note that a text names a variable that is not set. raises: BadLookup, where that is an error"""

    def lookup(self, key: str) -> tuple[Any, bool]:
        """Returns (the value of a key or ABSENT, whether its texts may be read as expressions again)."""


Plan = Callable[[Resolver], Any]
"""Fills in one text or tree for a resolver and returns it; parts without expressions are shared with the source."""

_EXPRESSION = re.compile(r"%\{([^}]*)\}")
_CALL = re.compile(r"(?am)^(\w+)\((?:\"([^\"]+)\"|'([^']+)')\)$")
_EMPTY = frozenset(["", "::", '""', "''", '"::"', "'::'"])
_SHORT = 256
"""The text of a variable counts against the budget only if it is longer than this."""
_BLANKS = " \t\n\v\f\r\0"


def value_plan(value: Any) -> Plan | None:
    """The function that fills in the expressions of a value and of its keys; None where it has none.

    The plan returns a new list or map, in which parts without expressions are shared with *value*.
    cost: one visit of the whole tree
    """
    if type(value) is str:
        return text_plan(value) if "%{" in value else None
    if type(value) is list:
        return _filled(value, [(at, plan) for at, entry in enumerate(value) if (plan := value_plan(entry)) is not None])
    if type(value) is dict:
        return _map_plan(value)
    return None


def _filled(value: Any, inner: list[tuple[Any, Plan]]) -> Plan | None:
    """The plan for a list or map in which some entries have plans; None where none has."""

    def fill(resolver: Resolver) -> Any:
        out = value.copy()
        for at, plan in inner:
            out[at] = plan(resolver)
        return out

    return fill if inner else None


def _map_plan(value: dict[Any, Any]) -> Plan | None:
    inner = [(key, plan) for key, entry in value.items() if (plan := value_plan(entry)) is not None]
    keys = {key: text_plan(key) for key in value if type(key) is str and "%{" in key}
    if keys:
        plans = dict(inner)

        def rebuild(resolver: Resolver) -> Any:
            out = {}
            for key, entry in value.items():
                name = keys[key](resolver) if key in keys else key
                filled = plans[key](resolver) if key in plans else entry
                if isinstance(name, Encrypted):
                    filled = Encrypted(filled, name.reason)
                elif isinstance(name, Sensitive):
                    filled = MarkedSecret(filled)
                out[_as_key(name, key)] = filled
            return out

        return rebuild
    return _filled(value, inner)


def _as_key(name: Any, key: Any) -> Any:
    """A filled-in key of a map; *key* is its text in the file. raises: BadLookup, for other types"""
    name = written(name) if isinstance(name, Sensitive) else name
    if type(name) in (str, int):
        return name
    kind = {list: "a list", dict: "a map", type(None): "null"}.get(type(name), repr(name))
    raise BadLookup(f"the key {key!r} of a map was filled in with {kind}", kind=BAD_DATA_VALUE,
                    hint="a key is a text or an integer")  # fmt: skip


@lru_cache(maxsize=65536)
def text_plan(text: str, calls: bool = True) -> Plan:
    """Parse a text into the function that fills it in. The function takes a Resolver; it is cached for each text.

    It returns a text, a secret if a part is secret, or any value for a text that is only `alias(..)`. For a call of an
    unknown or forbidden function, it raises BadLookup.
    calls: whether `lookup(..)` and `alias(..)` are allowed; False for texts of hiera.yaml
    """
    pieces: list[str | Plan] = []
    at = 0
    for found in _expressions(text):
        pieces.append(text[at : found.start()])
        expression = found[1].strip(_BLANKS)
        if expression not in _EMPTY:
            plan = _expression_plan(expression, text, found[0] == text, calls)
            if plan.func is _alias_value:  # the whole text is this expression
                return plan
            pieces.append(plan)
        at = found.end()
    pieces.append(text[at:])

    def fill(resolver: Resolver) -> str | Sensitive:
        texts = [piece if isinstance(piece, str) else piece(resolver) for piece in pieces]
        secrets = [one for one in texts if isinstance(one, Sensitive)]
        if not secrets:
            return "".join(map(str, texts))
        whole = "".join([one.unwrap() if isinstance(one, Sensitive) else one for one in texts])
        encrypted = next((one for one in secrets if isinstance(one, Encrypted)), None)
        return MarkedSecret(whole) if encrypted is None else Encrypted(whole, encrypted.reason)

    return fill


def _expressions(text: str) -> Iterator[re.Match[str]]:
    # No expression ends after the last brace. Without this bound, each %{ there would search the rest of the text.
    return _EXPRESSION.finditer(text, 0, text.rfind("}") + 1)


def _expression_plan(expression: str, text: str, is_all: bool, calls: bool) -> partial[Any]:
    """The function that gives the text of one expression; a secret where that comes from a secret or encrypted value.

    text:   the whole text, for messages
    is_all: whether the expression is the whole text
    """
    call = _CALL.search(expression)
    if call is None:
        return partial(_variable_text, expression, text)
    word, data = call[1], call[2] or call[3]
    if not calls:
        return partial(_refuse, METHOD_NOT_ALLOWED_HERE, f"{word}(..) cannot be called in hiera.yaml", text)
    if word in ("lookup", "hiera"):
        return partial(_looked_up_text, data)
    if word == "alias" and is_all:
        return partial(_alias_value, data)
    if word == "alias":
        return partial(_refuse, ALIAS_NOT_ENTIRE_STRING, "alias(..) must be the whole text", text)
    if word == "literal":
        return partial(_literal_text, data)
    if word == "scope":
        return partial(_variable_text, data, text)
    return partial(_refuse, UNKNOWN_INTERPOLATION_METHOD, f"there is no function {word}", text)


def variables_in(text: str) -> list[str]:
    """The variables that the expressions of a text name, in order; keys that it looks up are left out.

    >>> variables_in("os/%{facts.os.family}-%{scope('dc')}%{}.yaml")
    ['facts.os.family', 'dc']
    """
    expressions = (found[1].strip(_BLANKS) for found in _expressions(text))
    calls = ((one, _CALL.search(one)) for one in expressions if one not in _EMPTY)
    return [one if call is None else call[2] or call[3] for one, call in calls if call is None or call[1] == "scope"]


def variable_value(name: str, text: str, resolver: Resolver) -> Any:
    """The value of a variable, which may have steps after dots; None where it or a step is not there.

    text:   the whole text, for messages
    raises: BadLookup "key_syntax", for a malformed name; CannotDig, for a step into a text or number
    """
    try:
        steps = split_key(name)
    except BadLookup as error:
        raise BadLookup(error.message, kind=error.kind, details=[f"in {text!r}"], hint=error.hint) from None
    found = resolver.variable(steps[0], steps[1:])
    if found is None or len(steps) == 1:
        return found
    found = value_below(found, steps[1:], name)
    return None if found is ABSENT else found


def _variable_text(name: str, subject: str, resolver: Resolver) -> str:
    value = variable_value(name, subject, resolver)
    if value is None:
        resolver.note_unset(name)
    text = written(value)
    if "%" in text or "{" in text:
        resolver.untrusted = True
    if len(text) > _SHORT:
        resolver.budget.bytes(len(text))
    return text


def _looked_up_text(key: str, resolver: Resolver) -> str | Sensitive:
    value, trusted = resolver.lookup(key)
    if value is ABSENT:
        return ""
    if trusted:
        plan = value_plan(value)
        value = value if plan is None else plan(resolver)
    else:
        resolver.untrusted = True
    clear, kept = revealed(value), encrypted_in(value)
    text = written(clear.unwrap() if type(clear) is Encrypted else clear)
    resolver.budget.bytes(len(text))
    if kept:
        return Encrypted(text, kept[0][1])
    return text if clear is value else MarkedSecret(text)


def _alias_value(key: str, resolver: Resolver) -> Any:
    """The value of `alias(..)`, which is the whole text, so that it need not be a text."""
    value, trusted = resolver.lookup(key)
    resolver.untrusted = resolver.untrusted or not trusted
    if value is ABSENT:
        return ""
    resolver.budget.tree(value)
    return value


def _literal_text(text: str, resolver: Resolver) -> str:
    return written(text_plan(text)(resolver)) if "%{" in text else text


def _refuse(kind: Kind, message: str, subject: str, resolver: Resolver) -> Any:
    raise BadLookup(message, kind=kind, details=[f"in {subject!r}"], hint=_WAYS_OUT.get(kind))


_WAYS_OUT = {
    METHOD_NOT_ALLOWED_HERE: "use variables only, such as %{facts.os.family}",
    ALIAS_NOT_ENTIRE_STRING: "write the expression alone, or use lookup(..) inside a text",
    UNKNOWN_INTERPOLATION_METHOD: "the functions are lookup, hiera, alias, literal and scope",
}
