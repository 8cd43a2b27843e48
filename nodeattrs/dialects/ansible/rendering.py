"""Templates evaluated in Jinja's sandbox with a host's own variables, as far as that needs no Ansible.

What cannot be evaluated stays the text that it is, and is named with the reason: a lookup, a filter that is not in the
table of `filters`, a variable that nobody sets or that may be set otherwise, what is encrypted. Nothing is guessed.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GeneratorType
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.sensitive import Marked, Sensitive
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.filters import FILTERS, PLAIN, TESTS
from nodeattrs.dialects.ansible.levels import MAGIC
from nodeattrs.dialects.ansible.templates import is_template
from nodeattrs.dialects.ansible.values import Unsafe, Vault, with_leaves
from nodeattrs.dialects.ansible.words import conditions, is_true
from nodeattrs.errors import MissingExtra, TooMuch
from nodeattrs.formats.jinja import module, rendering, sandboxed

MOST_NESTED = 40
"""How many variables may need one another in a row."""
Lookups = Mapping[str, Callable[..., Any]]
_CALLS = frozenset(("lookup", "query", "q", "now", "undef"))
_UNASKED = frozenset(("filter", "test"))
"""Jinja's tests that ask about the environment, which has less than Ansible's."""
_LISTS: Any = (
    list,
    tuple,
    GeneratorType,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    zip,
    map,
    Iterator,
)
_SCALARS = (str, int, float, type(None), datetime.date)


class Rendered(NamedTuple):
    """A value with its templates evaluated.

    left: path -> why what stands there stayed as it is
    """

    value: Any
    left: dict[Path, str]


class _NeedsAnsible(Exception):  # no error of anybody: an answer
    """Something that needs Ansible."""


class Rendering:
    """Evaluates the templates of one answer.

    lookups: further names that templates may call, such as `lookup`
    cost:   each variable that is mentioned is evaluated once; all together draw on one budget
    raises: MissingExtra
    """

    def __init__(self, answer: Variables, lookups: Lookups | None = None) -> None:
        self._answer = answer
        self._lookups = lookups or {}
        self._active: list[str] = []
        self._known: dict[str, Any] = {}
        self._budget = Budget(f"templates of {answer.host}")
        self._undefined: Any = _undefined()
        self._environment = self._made()

    def rendered(self, value: Any, path: Path = ()) -> Rendered:
        """A value of the answer with its templates evaluated. path: where it stands. raises: TooMuch"""
        left: dict[Path, str] = {}
        return Rendered(self._settled(value, self._filled(value), path, left), left)

    def variables(self) -> Rendered:
        """All variables of the answer. raises: TooMuch"""
        return self.rendered(self._answer.vars)

    # --- from undefined leaves to reasons

    def _settled(self, value: Any, filled: Any, path: Path, left: dict[Path, str]) -> Any:
        is_map = isinstance(value, dict) and isinstance(filled, dict)
        if is_map or (isinstance(value, list) and isinstance(filled, list)):
            settled: Any = dict(value) if is_map else list(value)
            for step, entry in value.items() if is_map else enumerate(value):
                settled[step] = self._settled(entry, filled[step], (*path, step), left)
            return settled
        if type(value) is Marked:  # it is withheld, whether evaluated or not
            return value
        missing = self._missing(filled)
        if missing is None:
            return filled
        left[path] = missing
        return value

    def _missing(self, value: Any) -> str | None:
        ahead = [value]
        while ahead:
            one = ahead.pop()
            if isinstance(one, self._undefined):
                return str(one._undefined_message)
            if isinstance(one, (dict, list)):
                ahead += reversed([*one.values()] if isinstance(one, dict) else one)
        return None

    # --- evaluation

    def _filled(self, value: Any) -> Any:
        """A value with its templates evaluated; what cannot be evaluated is undefined, with the reason."""

        def leaf(one: Any) -> Any:
            if isinstance(one, (Vault, Sensitive)):
                return self._unknown("it is encrypted" if isinstance(one, Vault) else "it is a secret")
            return self._evaluated(one) if is_template(one) else one

        return with_leaves(value, leaf)

    def _evaluated(self, text: str) -> Any:
        try:
            with rendering(self._budget):
                environment = self._environment
                template = environment.from_string(_with_backslashes(environment, text))
                found = self._stored(environment.concat(template.root_render_func(template.new_context())))
            self._budget.tree(found)
        except TooMuch as passed:
            if passed.limit != "depth":
                raise
            return self._unknown(passed.reason)
        except Exception as error:  # a template may raise anything
            return self._unknown(str(error) or type(error).__name__)
        return found

    def _stored(self, value: Any) -> Any:
        """What a template gives, as a variable holds it."""
        if isinstance(value, self._undefined):
            return value
        is_map = isinstance(value, dict)
        if is_map or isinstance(value, _LISTS):
            stored: Any = dict(value) if is_map else list(value)
            for step, entry in [*(stored.items() if is_map else enumerate(stored))]:
                stored[step] = self._stored(entry)
            return stored
        if not isinstance(value, _SCALARS):
            raise _NeedsAnsible(f"it gives a {type(value).__name__}, which is no value of a variable")
        return Unsafe(value) if isinstance(value, str) else value

    def _named(self, name: str) -> Any:
        """The value of a name in a template; ABSENT where nobody sets it."""
        answer = self._answer
        if name in answer.magic:
            return answer.magic[name]
        if name in MAGIC and name not in answer.vars:
            return self._unknown(f"{name} is a variable that Ansible sets when it runs")
        unknown = answer.unknown(name)
        if unknown:
            origin = unknown[-1].origin.at(())
            return self._unknown(f"{name} may be set at {origin.place or origin.who}")
        if name in self._lookups:
            return self._lookups[name]
        if name not in answer.vars:
            return self._unknown(f"{name} needs Ansible") if name in _CALLS else ABSENT
        return self._own(name)

    def _own(self, name: str) -> Any:
        """The value of a variable that is set. raises: _NeedsAnsible"""
        if name in self._active:
            return self._unknown(f"{name} needs itself")
        if len(self._active) == MOST_NESTED:
            raise _NeedsAnsible(f"more than {MOST_NESTED} variables need one another")
        if name not in self._known:
            self._active.append(name)
            try:
                self._known[name] = self._filled(self._answer.vars[name])
            finally:
                self._active.pop()
        return self._known[name]

    def _unknown(self, reason: str) -> Any:
        return self._undefined(hint=reason, exc=_NeedsAnsible)

    # --- the environment

    def _made(self) -> Any:
        jinja2 = module()
        plain = {name: function for name, function in jinja2.defaults.DEFAULT_FILTERS.items() if name in PLAIN}
        own = {"default": _default, "d": _default, "mandatory": _mandatory}
        all_tests = {**jinja2.defaults.DEFAULT_TESTS, **TESTS}
        tests = {name: _of_defined(test) for name, test in all_tests.items() if name not in _UNASKED}
        environment = sandboxed(
            self._budget,
            filters={**plain, **FILTERS, **own},
            tests={**tests, "defined": _is_defined, "undefined": lambda value: not _is_defined(value)},
            joined=_joined,
            native=True,
            undefined=self._undefined,
            trim_blocks=True,
            keep_trailing_newline=True,
        )
        environment.context_class = _context(self._named)
        environment.globals = {name: environment.globals[name] for name in ("range", "dict", "namespace")}
        return environment


def evaluated(value: Any, answer: Variables, lookups: Lookups | None = None) -> Any:
    """A value with its templates evaluated; ABSENT where one cannot be, or Jinja2 is not installed."""
    return _each([value], answer, lookups)[0]


def weighed(whens: Iterable[Any], answer: Variables, lookups: Lookups | None = None) -> bool | None:
    """Whether conditions are all true; None where that is not known."""
    given = [one for when in whens for one in conditions(when) if not is_true(one)]
    texts = [one if isinstance(one, bool) or is_template(one) else f"{{{{ {one} }}}}" for one in given]
    found = _each(texts, answer, lookups)
    if any(one is False for one in found):
        return False
    return all(one is True for one in found) or None


def _each(values: list[Any], answer: Variables, lookups: Lookups | None) -> list[Any]:
    """Values with their templates evaluated; ABSENT for each that cannot be."""
    if not is_template(str(values)):
        return values
    try:
        found = Rendering(answer, lookups).rendered(values)
    except (MissingExtra, TooMuch):
        return [ABSENT] * len(values)
    left = {path[0] for path in found.left}
    return [ABSENT if index in left else value for index, value in enumerate(found.value)]


def _undefined() -> Any:
    jinja2 = module()

    class Undefined(jinja2.ChainableUndefined, jinja2.StrictUndefined):  # type: ignore[misc, name-defined]  # loaded on use
        __slots__ = ()
        __repr__ = jinja2.StrictUndefined.__str__

    return Undefined


def _context(named: Callable[[str], Any]) -> Any:
    class Context(module().runtime.Context):  # type: ignore[misc]  # loaded on use
        def resolve_or_missing(self, key: str) -> Any:
            found = ABSENT if key in self.vars else named(key)
            return super().resolve_or_missing(key) if found is ABSENT else found

    return Context


def _joined(parts: Iterable[Any]) -> Any:
    """What the parts of a template give: one alone keeps its type, none is null."""
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else None
    return "".join(map(str, found))


def _with_backslashes(environment: Any, text: str) -> str:
    """A template whose quoted texts within `{{ }}` have their backslashes as they are written, as in Ansible."""
    if "\\" not in text:
        return text
    parts, inside = [], False
    for _, kind, value in environment.lex(text):
        inside = kind == "variable_begin" or (inside and kind != "variable_end")
        parts.append(_quoted(value[1:-1], value[0]) if inside and kind == "string" else value)
    return "".join(parts)


def _quoted(text: str, sign: str) -> str:
    return sign + text.replace("\\", "\\\\").replace(sign, f"\\{sign}") + sign


def _is_defined(value: Any) -> bool:
    """Whether a value is there. raises: _NeedsAnsible, where only Ansible knows"""
    if not isinstance(value, module().Undefined):
        return True
    if value._undefined_exception is _NeedsAnsible:
        raise _NeedsAnsible(value._undefined_message)
    return False


def _of_defined(test: Callable[..., bool]) -> Callable[..., bool]:
    """A test that an undefined value fails with its own error."""

    def tested(value: Any, *others: Any, **how: Any) -> bool:
        if isinstance(value, module().Undefined):
            str(value)
        return test(value, *others, **how)

    return tested


def _default(value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return value if _is_defined(value) and (value or not boolean) else default_value


def _mandatory(value: Any, msg: str | None = None) -> Any:
    if not _is_defined(value):
        raise ValueError(msg or f"mandatory variable {value._undefined_name!r} is not defined")
    return value
