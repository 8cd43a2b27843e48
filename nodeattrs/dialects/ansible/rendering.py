"""Evaluate templates in Jinja's sandbox with the variables of one host, if they need no Ansible.

Any other template stays as it is, with a reason. It has a lookup, or a filter that is not in `filters`. Or its variable
is not set, is encrypted, or may be set by an unknown layer.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from types import GeneratorType
from typing import Any, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import Budget
from nodeattrs.core.sensitive import MarkedSecret, Sensitive
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.filters import FILTERS, PLAIN, TESTS
from nodeattrs.dialects.ansible.keywords import conditions, is_true
from nodeattrs.dialects.ansible.levels import MAGIC
from nodeattrs.dialects.ansible.templates import is_template
from nodeattrs.dialects.ansible.values import Unsafe, Vault, with_leaves
from nodeattrs.errors import MissingExtra, TooMuch
from nodeattrs.formats.jinja import module, rendering, sandboxed

_MOST_NESTED = 40
"""The longest chain of variables whose templates need each other."""
Lookups = Mapping[str, Callable[[tuple[Any, ...], Mapping[str, Any]], list[Any]]]
Hosts = tuple[Iterable[str], Callable[[str], Variables]]
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

    value: the evaluated value; a template that could not be evaluated stays a text in it
    left:  path of a template that could not be evaluated -> the reason
    """

    value: Any
    left: dict[Path, str]


class _VariableText(str):
    """A text that comes from a variable. If a template returns it unchanged, it does not become `Unsafe`."""

    __slots__ = ()


class _NeedsAnsible(Exception):
    """Raised inside a template by something that needs Ansible; the template then stays unevaluated."""


class Rendering:
    """Evaluates templates with the variables of one answer.

    answer:  the variables of a host
    lookups: name of a lookup plugin -> a function that takes terms and options and returns a list. The lookups `vars`
             and `items` are always known
    hosts:   the names of all hosts, and a function from a name to its answer; they give `hostvars`. None: a template
             with `hostvars` is not evaluated
    budget:  limits the work of all templates together. None: a new budget

    `rendered(value)` evaluates the templates in a value and keeps those that fail as text. `outcome(text)` evaluates
    one text and returns (value, reason or "", needs_ansible). `variables()` renders all variables. `value_of_name` is
    for Jinja. The constructor builds the Jinja environment and evaluates nothing. The value of each variable is
    computed once and kept. The methods raise TooMuch.

    raises: MissingExtra, without Jinja2
    """

    def __init__(
        self,
        answer: Variables,
        lookups: Lookups | None = None,
        hosts: Hosts | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._answer = answer
        self._lookups = lookups or {}
        self._hosts = None if hosts is None else _HostVars(hosts, self)
        self._active: list[str] = []
        self._known: dict[str, Any] = {}
        self._budget = budget or Budget(f"templates of {answer.host}")
        self._undefined: Any = _undefined()
        self._environment = self._new_environment()

    def rendered(self, value: Any, path: Path = ()) -> Rendered:
        """A value with its templates evaluated, also those in maps and lists; keys are not evaluated. raises: TooMuch

        path: prefix of the paths in `Rendered.left`
        """
        left: dict[Path, str] = {}
        return Rendered(self._with_reasons(value, self._evaluated(value), path, left), left)

    def outcome(self, text: str) -> tuple[Any, str, bool]:
        """Evaluate one text. Returns (value, "", False).

        If it fails, the result is (an undefined value, the reason, needs_ansible). The last is True if only Ansible can
        evaluate the text. raises: TooMuch
        """
        found = self._evaluated_text(text)
        missing = self._first_missing(found)
        if missing is None:
            return found, "", False
        return found, str(missing._undefined_message), missing._undefined_exception is _NeedsAnsible

    def variables(self) -> Rendered:
        """All variables of the answer with their templates evaluated. raises: TooMuch"""
        return self.rendered(self._answer.vars)

    # --- from undefined leaves to reasons

    def _with_reasons(self, value: Any, filled: Any, path: Path, left: dict[Path, str]) -> Any:
        is_map = isinstance(value, dict) and isinstance(filled, dict)
        if is_map or (isinstance(value, list) and isinstance(filled, list)):
            settled: Any = dict(value) if is_map else list(value)
            for step, entry in value.items() if is_map else enumerate(value):
                settled[step] = self._with_reasons(entry, filled[step], (*path, step), left)
            return settled
        if type(value) is MarkedSecret:  # it is withheld, whether evaluated or not
            return value
        missing = self._first_missing(filled)
        if missing is None:
            return filled
        left[path] = str(missing._undefined_message)
        return value

    def _first_missing(self, value: Any) -> Any:
        """The first undefined value inside a value; None where there is none.

        Of an entry whose key is undefined, it is the key.
        """
        ahead = [value]
        while ahead:
            one = ahead.pop()
            if isinstance(one, self._undefined):
                while isinstance(one._undefined_name, self._undefined):
                    one = one._undefined_name
                return one
            if isinstance(one, (dict, list)):
                ahead += reversed([*one.values()] if isinstance(one, dict) else one)
        return None

    # --- evaluation

    def _evaluated(self, value: Any) -> Any:
        """A value with its templates evaluated. A leaf that cannot be evaluated becomes an undefined value with the
        reason.
        """

        def leaf(one: Any) -> Any:
            if isinstance(one, (Vault, Sensitive)):
                return self._unknown("it is encrypted" if isinstance(one, Vault) else "it is a secret")
            return self._evaluated_text(one) if is_template(one) else one

        return with_leaves(value, leaf)

    def _evaluated_text(self, text: str) -> Any:
        try:
            with rendering(self._budget):
                template = self._template(text)
                parts = template.root_render_func(template.new_context())
                found = self._as_variable(self._environment.concat(parts))
            self._budget.tree(found)
        except TooMuch as passed:
            if passed.limit != "depth":
                raise
            return self._unknown(passed.reason)
        except Exception as error:  # a template may raise anything
            return self._failed(error)
        return found

    def _failed(self, error: Exception) -> Any:
        """The undefined value of a template that raised an error. An undefined value in the error gives the reason."""
        if isinstance(error, module().UndefinedError):
            return self._undefined(hint=str(error))
        try:
            return self._unknown(str(error) or type(error).__name__)
        except Exception as inner:  # the text of an undefined value cannot be had
            return self._failed(inner)

    def _template(self, text: str) -> Any:
        """The compiled template of a text. Its code is kept for other hosts and tasks: it does not depend on them.

        `explain --playbook` has most texts in dozens of tasks; compiling each anew takes twice as long.
        """
        environment = self._environment
        key = "template of Ansible", text
        code = CACHE.get(key, lambda: environment.compile(_with_backslashes(environment, text)))
        environment.meter.restart()
        return environment.template_class.from_code(environment, code, environment.make_globals(None))

    def _as_variable(self, value: Any) -> Any:
        """The result of a template as a variable has it: lists and maps are copied, texts are `Unsafe`."""
        if isinstance(value, self._undefined):
            return value
        is_map = isinstance(value, dict)
        if is_map or isinstance(value, _LISTS):
            stored: Any = dict(value) if is_map else list(value)
            for step, entry in [*(stored.items() if is_map else enumerate(stored))]:
                stored[step] = self._as_variable(entry)
            return stored
        if not isinstance(value, _SCALARS):
            raise _NeedsAnsible(f"it gives a {type(value).__name__}, which is no value of a variable")
        if isinstance(value, _VariableText):
            return str(value)
        return Unsafe(value) if isinstance(value, str) else value

    def value_of_name(self, name: str) -> Any:
        """The value of a name in a template, with its own templates evaluated.

        ABSENT for a name that is neither a set variable nor a function. If the value is not known here, the result is
        one of Jinja's undefined values; a template that uses it fails with the reason. raises: TooMuch
        """
        answer = self._answer
        if name in answer.magic:
            return answer.magic[name]
        if name == "hostvars" and self._hosts is not None:
            return self._hosts
        if name in MAGIC and name not in answer.vars:
            return self._unknown(f"{name} is a variable that Ansible sets when it runs")
        unknown = answer.unknown(name)
        if unknown:
            origin = unknown[-1].origin.at(())
            return self._unknown(f"{name} may be set at {origin.place or origin.who}")
        if name not in answer.vars:
            return self._function(name)
        return self._variable(name)

    def _function(self, name: str) -> Any:
        """The function that a template calls by a name; an undefined value for one that needs Ansible, ABSENT for
        other names.
        """
        if name not in ("lookup", "query", "q"):
            return self._unknown(f"{name} needs Ansible") if name in _CALLS else ABSENT

        def query(plugin: str, *terms: Any, **how: Any) -> list[Any]:
            plain = plugin.removeprefix("ansible.builtin.")
            if plain == "items":
                return [one for term in terms for one in (term if isinstance(term, list) else [term])]
            if plain in self._lookups:
                return self._lookups[plain](terms, how)
            if plain != "vars":
                raise _NeedsAnsible(f"the lookup {plugin} needs Ansible")
            found = [self.value_of_name(str(term)) for term in terms]
            absent = how.get("default", ABSENT)
            if absent is ABSENT and ABSENT in found:
                raise _NeedsAnsible(f"no variable {terms[found.index(ABSENT)]}")
            return [absent if one is ABSENT else one for one in found]

        def lookup(plugin: str, *terms: Any, **how: Any) -> Any:
            found = query(plugin, *terms, **how)
            return found[0] if len(found) == 1 else found

        return lookup if name == "lookup" else query

    def _for_host(self, answer: Variables) -> Rendering:
        """A rendering for another host's answer, with the same lookups, `hostvars` and budget."""
        other = Rendering(answer, self._lookups, budget=self._budget)
        other._hosts = self._hosts
        return other

    def _variable(self, name: str) -> Any:
        """The evaluated value of a variable that is set; undefined where it needs itself. raises: _NeedsAnsible"""
        if name in self._active:
            return self._unknown(f"{name} needs itself")
        if len(self._active) == _MOST_NESTED:
            raise _NeedsAnsible(f"more than {_MOST_NESTED} variables need one another")
        if name not in self._known:
            self._active.append(name)
            try:
                filled = self._evaluated(self._answer.vars[name])
                self._known[name] = with_leaves(filled, lambda one: _VariableText(one) if type(one) is str else one)
            finally:
                self._active.pop()
        return self._known[name]

    def _unknown(self, reason: str) -> Any:
        return self._undefined(hint=reason, exc=_NeedsAnsible)

    # --- the environment

    def _new_environment(self) -> Any:
        jinja2 = module()
        plain = {name: function for name, function in jinja2.defaults.DEFAULT_FILTERS.items() if name in PLAIN}
        filters = {**plain, **FILTERS, "extract": jinja2.pass_environment(_extract)}
        own = {"default": _default, "d": _default, "mandatory": _mandatory}
        all_tests = {**jinja2.defaults.DEFAULT_TESTS, **TESTS}
        tests = {name: _failing_on_undefined(test) for name, test in all_tests.items() if name not in _UNASKED}
        environment = sandboxed(
            self._budget,
            filters={**{name: _passing_undefined(function) for name, function in filters.items()}, **own},
            tests={**tests, "defined": _is_defined, "undefined": lambda value: not _is_defined(value)},
            joined=_result_of_parts,
            native=True,
            undefined=self._undefined,
            trim_blocks=True,
            keep_trailing_newline=True,
        )
        environment.context_class = _context(self.value_of_name)
        environment.globals = {name: environment.globals[name] for name in ("range", "dict", "namespace")}
        return environment


class _HostVars(Mapping[str, "_HostTemplates"]):
    """The value of `hostvars`: name of a host -> its variables, opened at the first use of each host."""

    def __init__(self, hosts: Hosts, own: Rendering) -> None:
        names, self._answer = hosts
        self._names, self._variable = list(names), own
        self._known: dict[str, _HostTemplates] = {}

    def __getitem__(self, name: str) -> _HostTemplates:
        if name not in self._known:
            try:
                answer = self._answer(name)
            except AnsibleError:
                raise KeyError(name) from None
            self._known[name] = _HostTemplates(self._variable._for_host(answer), answer)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _HostTemplates(Mapping[str, Any]):
    """The variables of one host in `hostvars`; each is evaluated when a template reads it."""

    def __init__(self, rendering: Rendering, answer: Variables) -> None:
        self._rendering, self._answer = rendering, answer

    def __getitem__(self, name: str) -> Any:
        found = self._rendering.value_of_name(name)
        if found is ABSENT:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({**self._answer.vars, **self._answer.magic})

    def __len__(self) -> int:
        return sum(1 for _ in self)


def evaluate(value: Any, answer: Variables, lookups: Lookups | None = None) -> Any:
    """A value with its templates evaluated. ABSENT if one of them cannot be evaluated, or Jinja2 is not installed.

    answer:  the variables of the host
    lookups: the lookup plugins that templates may call, as for `Rendering`; None: only those that are always known
    """
    return _evaluated_values([value], answer, lookups)[0]


def all_true(whens: Iterable[Any], answer: Variables, lookups: Lookups | None = None) -> bool | None:
    """True if all conditions are true, False if one is false, else None: it is not known. True without conditions.

    whens:   values of `when`, each a condition or a list of conditions; null is true
    answer:  the variables of the host
    lookups: the lookup plugins that conditions may call, as for `Rendering`; None: only those that are always known
    """
    given = [one for when in whens for one in conditions(when) if not is_true(one)]
    texts = [one if isinstance(one, bool) or is_template(one) else f"{{{{ {one} }}}}" for one in given]
    found = _evaluated_values(texts, answer, lookups)
    if any(one is False for one in found):
        return False
    return all(one is True for one in found) or None


def _evaluated_values(values: list[Any], answer: Variables, lookups: Lookups | None) -> list[Any]:
    """Values with their templates evaluated; ABSENT for each with a template that cannot be."""
    if not is_template(str(values)):
        return values
    try:
        found = Rendering(answer, lookups).rendered(values)
    except (MissingExtra, TooMuch):
        return [ABSENT] * len(values)
    left = {path[0] for path in found.left}
    return [ABSENT if index in left else value for index, value in enumerate(found.value)]


@cache
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


def _result_of_parts(parts: Iterable[Any]) -> Any:
    """The value of a template's parts. A single part keeps its type; several are joined as text. None for none."""
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else None
    return "".join(map(str, found))


def _with_backslashes(environment: Any, text: str) -> str:
    """A template in which backslashes of quoted texts within `{{ }}` are literal, as in Ansible."""
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
    """Whether a value is defined. raises: _NeedsAnsible, where only Ansible knows the value"""
    if not isinstance(value, module().Undefined):
        return True
    if value._undefined_exception is _NeedsAnsible:
        raise _NeedsAnsible(value._undefined_message)
    return False


def _failing_on_undefined(test: Callable[..., bool]) -> Callable[..., bool]:
    """A test that raises the error of an undefined value instead of testing it."""

    def tested(value: Any, *others: Any, **how: Any) -> bool:
        if isinstance(value, module().Undefined):
            str(value)
        return test(value, *others, **how)

    return tested


def _passing_undefined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that returns an undefined value unchanged."""
    at = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def filtered(*given: Any, **how: Any) -> Any:
        value = given[at] if len(given) > at else None
        return value if isinstance(value, module().Undefined) else function(*given, **how)

    return filtered


def _extract(environment: Any, item: Any, container: Any, morekeys: Any = None) -> Any:
    value = container
    if morekeys is None:
        morekeys = []
    for step in (item, *(morekeys if isinstance(morekeys, list) else [morekeys])):
        value = environment.getitem(value, step)
    return value


def _default(value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return value if _is_defined(value) and (value or not boolean) else default_value


def _mandatory(value: Any, msg: str | None = None) -> Any:
    if not _is_defined(value):
        raise ValueError(msg or f"mandatory variable {value._undefined_name!r} is not defined")
    return value
