"""A sandbox of Jinja2 whose templates draw on a budget while they run.

`formats.jinja` makes the sandbox. Importing this module requires Jinja2. The module knows the names of the filters of
Jinja and Ansible.

A template takes steps from the budget for each token, each pass of a loop, and each call, filter and test. Large
arguments and results take more steps. The cost of a call that makes a large value from small ones is estimated before
the call. A step stands for half a microsecond or more, so the ten million of a budget end within about five seconds.
Each template also has the seconds of the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, update_wrapper
from math import prod
from string import Formatter
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.compiler import CodeGenerator
from jinja2.environment import Environment
from jinja2.ext import Extension
from jinja2.nativetypes import NativeCodeGenerator
from jinja2.nodes import EvalContext
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import SandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter, safe_range
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from nodeattrs.core.budget import MAX_DIGITS, Budget
from nodeattrs.errors import TooMuch
from nodeattrs.formats.patterns import processor_time

_SIGNS = 4
"""Characters of text that count as one step."""
_PER_VALUE = 2
_PER_CALL = 5
_PER_MACRO = 100
"""A call of a macro, a block or a recursive loop takes some twenty microseconds, with its context and its text."""
_PER_TOKEN, _TOKENS_PER_STEP = 20, 50
"""A token takes some ten microseconds until it is Python's code; in a long template more, as tables are copied."""
_FEW = 10
"""The values of a list in a template that are not drawn for."""
_PER_SIGN_OF_CODE = 4
_GATHERED = 1000
"""How many steps are gathered; a look at the clock takes as long as two."""

_QUICK_TEXT = """boolean callable count d default defined false first float integer iterable last length mandatory
    mapping none number random sameas sequence ternary true undefined"""
_QUICK = frozenset(_QUICK_TEXT.split())
"""Filters and tests that do not look into their arguments, and make nothing."""
_SEARCHING = frozenset(["count", "index", "isdisjoint", "remove", "sort"])
"""Methods of lists and maps that look at each value; others do not."""
_PARTS = frozenset(["get", "pop", "popitem", "setdefault"])
"""Methods whose result is there already."""
_WIDE = frozenset(["batch", "center", "ljust", "product", "rjust", "slice", "to_bytes", "zfill"])
"""Functions whose result is as large as a number in their arguments."""
_MULTIPLYING = frozenset(
    ["expandtabs", "indent", "join", "regex_findall", "replace", "translate", "urlize", "wordwrap"]
)
"""Functions that may put an argument beside each character or value of another one."""
_JSON = frozenset(["to_json", "to_nice_json", "tojson"])
_EACH_WITH_EACH = frozenset(
    ["difference", "intersect", "subset", "superset", "symmetric_difference", "union", "unique"]
)
"""They compare each value with each other."""
_COPYING = frozenset(["striptags", "urlize", "wordwrap"])
"""They copy the rest of a text for each of its words or tags."""
_SLOW = {
    "combine": 4,
    "dictsort": 8,
    "flatten": 2,
    "from_json": 4,
    "from_yaml": 40,
    "groupby": 8,
    "max": 4,
    "min": 4,
    "pprint": 20,
    "sort": 16,
    "title": 10,
    "to_nice_yaml": 40,
    "to_yaml": 40,
    "wordcount": 4,
    "xmlattr": 4,
}
"""Function -> how many times longer it takes than one look at its arguments."""

_PLAIN = frozenset([bool, float, type(None)])
_WHOLE = frozenset([*_MULTIPLYING, *_JSON, *_EACH_WITH_EACH, *_COPYING, *_SLOW, "sum"])
"""Functions that look at all of their arguments before they return anything."""
_ESTIMATED = frozenset([*_WIDE, *_WHOLE, "format", "generate_lorem_ipsum", "round"])

_CONTAINERS: Any = (list, tuple, set, frozenset, range, type({}.keys()), type({}.values()), type({}.items()))
_SIZED = (str, bytes, dict, *_CONTAINERS)
_PASSED = (Context, EvalContext, Environment)
"""Types of the arguments that Jinja passes to a filter before the value."""
_FIELD = re.compile(r"%[-+ #0]*\d*\.?\d*")
_NUMBER = re.compile(r"\d+")
_MOST_BITS = (10**MAX_DIGITS).bit_length()


class _TemplateBudget:
    """The budget of the templates of one environment. Its methods raise TooMuch where the budget is used up.

    budget: its steps are drawn; each template may take its seconds after it is compiled
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._gathered = 0
        self.restart()

    def restart(self) -> None:
        """Begin to measure the time of a template."""
        self._end = processor_time() + self.budget.limits.seconds

    def draw(self, steps: int) -> None:
        """Draw steps; small ones are gathered before the budget and the clock are asked. raises: TooMuch"""
        self._gathered += steps
        if self._gathered > _GATHERED:
            self.budget.steps(self._gathered)
            self._gathered = 0
            if processor_time() > self._end:
                raise self.budget.exceeded("seconds")

    def expect(self, signs: int) -> None:
        """Check that a text of this length may be made; draws nothing. raises: TooMuch"""
        if signs // _SIGNS > self.budget.remaining("steps"):
            raise self.budget.exceeded("steps")

    def weigh(self, values: Sequence[Any]) -> int:
        """Draw steps for values and everything in them; returns their number. A repeated object counts each time.

        raises: TooMuch
        """
        total, depth, level = 0, 0, [values]
        while level:
            below: list[Any] = []
            steps = 0
            for part in level:
                steps += _PER_VALUE * len(part)
                for one in part:
                    kind = type(one)
                    if kind is str:
                        steps += len(one) // _SIGNS
                    elif kind is int:
                        self.number(one)
                    elif kind not in _PLAIN:
                        steps += _opened(one, below)
                if steps > _GATHERED:
                    self.draw(steps)
                    total, steps = total + steps, 0
            self.draw(steps)
            total, level, depth = total + steps, below, depth + 1
            if below:
                self.budget.depth(depth)
        return total

    def look(self, value: Any) -> None:
        """Draw steps for a value and everything in it; none for a short text or a number. raises: TooMuch"""
        kind = type(value)
        if kind is str:
            self.draw(len(value) // _SIGNS)
        elif kind is not int and kind not in _PLAIN:
            self.weigh([value])

    def made(self, value: Any) -> None:
        """Draw steps for a new value, but not for the values in it, which existed before. raises: TooMuch"""
        if isinstance(value, (str, bytes)):
            self.draw(len(value) // _SIGNS)
        elif isinstance(value, _SIZED):
            self.draw(len(value))
        elif isinstance(value, int):
            self.number(value)

    def number(self, value: int) -> None:
        """Let a number be used. raises: TooMuch, where it is too long to be shown"""
        if value.bit_length() > _MOST_BITS:
            raise self.long_number()

    def long_number(self) -> TooMuch:
        """The error for a number that is too long."""
        reason = f"makes a number of more than {MAX_DIGITS} digits"
        return TooMuch(reason, limit="bytes", file=self.budget.file, hint="use smaller numbers")

    def tokens(self, tokens: Iterable[Any]) -> Iterator[Any]:
        """The tokens of a template, each drawn before it is parsed."""
        for number, one in enumerate(tokens):
            self.draw(_PER_TOKEN + number // _TOKENS_PER_STEP)
            yield one

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """The same values, each drawn before it is used; for a list its length, too."""
        for one in values:
            self.draw(1 + len(one) if isinstance(one, (list, tuple)) else 1)
            yield one

    def parts(self, texts: Iterable[Any]) -> Iterator[Any]:
        """The parts of a text that is about to be joined, drawn for."""
        for one in texts:
            self.draw(1 + len(one) // _SIGNS if isinstance(one, str) else 1)
            yield one

    def run(
        self, name: str, function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], owner: Any = None
    ) -> Any:
        """Call a filter, test, function or method, and draw steps for its arguments and result; returns the result.

        owner:  the object of a method; None for a function
        raises: TooMuch; errors of the function
        """
        self.draw(_PER_CALL)
        if owner is None and name in _QUICK:
            return function(*args, **named)
        if name in _WHOLE:
            args = [list(one) if isinstance(one, Iterator) else one for one in args]
        given = [one for one in (*args, *named.values()) if not isinstance(one, _PASSED)]
        subject, *others = (given or [None]) if owner is None else [owner, *given]
        is_looked_at = owner is None or not isinstance(owner, (dict, *_CONTAINERS)) or name in _SEARCHING
        weight = self.weigh([subject, *others] if is_looked_at else others)
        if name in _ESTIMATED:
            self.draw(_time_for(name, subject, others, weight))
            self.expect(self._most_made(name, subject, others, weight))
        found = function(*args, **named)
        if isinstance(found, Iterator):
            return self.each(found)
        if name not in _PARTS:
            self.made(found)
        return found

    def _most_made(self, name: str, subject: Any, others: Sequence[Any], weight: int) -> int:
        """About how many signs a function gives at most, if that is more than it is given."""
        numbers = [abs(one) for one in others if isinstance(one, int)]
        widest = max(numbers, default=0)
        if name in _WIDE:
            return 8 * widest
        if name in _MULTIPLYING:
            return (_length(subject) + 1) * max(widest, *map(_length, others), 0)
        if name in _JSON:  # which indent by depth
            separators = [part for one in others if isinstance(one, (list, tuple)) for part in one]
            return 100 * weight * max(widest, *map(_length, [*others, *separators]), 4)
        if name == "format":
            return _percent(subject, others, weight)
        if name == "generate_lorem_ipsum":
            return 4000 * prod(max(one, 1) for one in (subject, *numbers) if isinstance(one, int))
        if name == "round" and widest > MAX_DIGITS:
            raise self.long_number()
        return 0


def _opened(value: Any, below: list[Any]) -> int:
    """The steps of a value that is no plain scalar; what it holds is added to *below*."""
    if isinstance(value, dict):
        below += value.keys(), value.values()
    elif isinstance(value, range):
        return len(value)
    elif isinstance(value, _CONTAINERS):
        below.append(value)
    elif isinstance(value, (str, bytes)):
        return len(value) // _SIGNS
    elif isinstance(value, Namespace):
        below.append(object.__getattribute__(value, "__dict__").values())
    return 0


def _time_for(name: str, subject: Any, others: Sequence[Any], weight: int) -> int:
    """About how many steps a function takes, if that is more than one for each value."""
    if name in _COPYING:
        return _length(subject) ** 2 // 500
    if name == "sum" and any(isinstance(one, (list, tuple)) for one in others):
        return _length(subject) * weight // 100
    if name == "unique" and not any(isinstance(one, (list, dict)) for one in subject):
        return 0
    compares = name in _EACH_WITH_EACH or (name == "combine" and any(str(one).endswith("_rp") for one in others))
    if compares:
        return weight * sum(map(_length, (subject, *others))) // 16
    return weight * _SLOW.get(name, 0)


def _length(value: Any) -> int:
    """The length of a text or list; for a map, the largest of its own and those of its values; else 0."""
    if isinstance(value, dict):
        return max(len(value), *map(_length, value.values()), 0)
    return len(value) if isinstance(value, _SIZED) else 0


def _percent(text: Any, values: Any, weight: int) -> int:
    """About how many signs `%` gives at most. weight: the steps of text and values"""
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    if not isinstance(text, str):
        return 0
    fields = text if "%(" in text else " ".join(_FIELD.findall(text))
    widths = [int(one) for one in _NUMBER.findall(fields)]
    if "*" in text:
        widths += [abs(one) for one in (values if isinstance(values, (list, tuple)) else [values]) if type(one) is int]
    return len(text) + text.count("%") * max(_SIGNS * weight, *widths, 0)


class _Fields(Formatter):
    """A formatter that draws steps for each field. It sees the width of a field after inner fields are filled in."""

    meter: _TemplateBudget

    def format_field(self, value: Any, format_spec: str) -> Any:
        self.meter.expect(max(map(int, _NUMBER.findall(format_spec)), default=0))
        found = super().format_field(value, format_spec)
        self.meter.made(found)
        return found


class _Formatter(_Fields, SandboxedFormatter):
    pass


class _EscapingFormatter(_Fields, SandboxedEscapeFormatter):
    pass


class _Tokens(Extension):
    """Draws for each token of a template before it is parsed."""

    environment: CountedEnvironment

    def filter_stream(self, stream: Any) -> Any:
        return self.environment.meter.tokens(stream)


_PASS, _WEIGHED, _SEARCHED, _MADE = "(pass)", "(weighed)", "(searched)", "(made)"
"""Filters that return their argument, and draw steps for it. No template can name them."""


class _BudgetTransformer(NodeTransformer):
    """Puts the filters above into the tree of a template: operators and loops make no calls that could be counted."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def _through(self, name: str, node: Any) -> Any:
        """The node with a filter that draws steps for its value; a constant is returned unchanged."""
        return node if isinstance(node, nodes.Const) else self._filter(name, node)

    def _filter(self, name: str, node: Any) -> Any:
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=self._environment)

    def visit_For(self, node: Any) -> Any:
        self.generic_visit(node)
        passed = self._filter(_PASS, nodes.Const(True, lineno=node.lineno))
        node.body.insert(0, nodes.ExprStmt(passed, lineno=node.lineno))
        if node.test is not None:
            node.test = nodes.And(passed, node.test, lineno=node.lineno)
        return node

    def visit_Concat(self, node: Any) -> Any:
        self.generic_visit(node)
        node.nodes = [self._through(_WEIGHED, one) for one in node.nodes]
        return self._through(_MADE, node)

    def visit_Compare(self, node: Any) -> Any:
        self.generic_visit(node)
        node.expr = self._through(_WEIGHED, node.expr)
        for operand in node.ops:
            operand.expr = self._through(_SEARCHED if operand.op in ("in", "notin") else _WEIGHED, operand.expr)
        return node

    def visit_Getitem(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            return self._through(_MADE, node)
        node.arg = self._through(_WEIGHED, node.arg)
        return node

    def visit_Pair(self, node: Any) -> Any:
        self.generic_visit(node)
        node.key = self._through(_WEIGHED, node.key)
        return node

    def visit_List(self, node: Any) -> Any:
        self.generic_visit(node)
        return self._through(_MADE, node) if len(node.items) > _FEW else node

    visit_Dict = visit_List

    def visit_Tuple(self, node: Any) -> Any:
        return self.visit_List(node) if node.ctx == "load" else node


class _Code(CodeGenerator):
    """Draws steps for the variables that a block gets. If each gets all, code grows with the square of the template."""

    environment: CountedEnvironment

    def dump_local_context(self, frame: Any) -> str:
        text = super().dump_local_context(frame)
        self.environment.meter.draw(_PER_SIGN_OF_CODE * len(text))
        return text


class _NativeCode(_Code, NativeCodeGenerator):
    pass


@pass_context
def _printed(context: Any, value: Any) -> Any:
    """Return a value that is printed, and draw steps for it. Those for a text are drawn when it is joined."""
    if not isinstance(value, str):
        context.environment.meter.look(value)
    return value


class CountedEnvironment(SandboxedEnvironment):
    """A sandboxed environment of Jinja2 whose templates take their steps from a budget. Use it as Jinja's
    `Environment`.

    budget:     the budget; all templates of the environment share it, also as `meter.budget`
    filters:    name -> filter of the templates; None: Jinja's own
    tests:      name -> test of the templates; None: Jinja's own
    joined:     called with the parts of a rendered template, it returns the result; by default they are joined to a
                text
    native:     whether parts keep their types, as in Jinja's native environment
    extensions: extensions of Jinja
    options:    further arguments of Jinja's environment, except `finalize` and `optimized`

    Compiling and rendering a template raise TooMuch if the budget is used up. All methods override Jinja's; Jinja calls
    them.
    """

    intercepted_binops = frozenset(["+", "-", "*", "**", "%"])

    def __init__(
        self,
        budget: Budget,
        filters: Mapping[str, Callable[..., Any]] | None = None,
        tests: Mapping[str, Callable[..., Any]] | None = None,
        joined: Callable[[Iterable[Any]], Any] = "".join,
        native: bool = False,
        extensions: Sequence[str] = (),
        **options: Any,
    ) -> None:
        # Jinja's optimizer takes the cube of how deep an expression is.
        super().__init__(finalize=_printed, optimized=False, extensions=[*extensions, _Tokens], **options)
        self.meter = _TemplateBudget(budget)
        self.code_generator_class = _NativeCode if native else _Code
        self.concat = lambda parts: joined(self.meter.parts(parts))  # type: ignore[method-assign]  # as Jinja's native one does
        hidden = {_PASS: self._pass, _WEIGHED: self._weighed, _SEARCHED: self._searched, _MADE: self._made}
        self.filters = self._counted(self.filters if filters is None else filters) | hidden
        self.tests = self._counted(self.tests if tests is None else tests)
        self.globals["range"] = self._range

    def _counted(self, functions: Mapping[str, Any]) -> dict[str, Any]:
        def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **named: Any) -> Any:
                return self.meter.run(name, function, args, named)

            return update_wrapper(run, function)

        return {name: counted(name, function) for name, function in functions.items()}

    def _pass(self, value: Any) -> Any:
        self.meter.draw(1)
        return value

    def _weighed(self, value: Any) -> Any:
        self.meter.look(value)
        return value

    def _searched(self, value: Any) -> Any:
        if not isinstance(value, dict):
            self.meter.look(value)
        return value

    def _made(self, value: Any) -> Any:
        self.meter.made(value)
        return value

    def _range(self, *bounds: int) -> range:
        asked = range(*bounds)
        self.meter.draw(abs(asked.stop - asked.start) // abs(asked.step))
        return safe_range(*bounds)

    def compile(self, source: Any, *args: Any, **named: Any) -> Any:
        """Compile a template; returns its code, in which calls draw on the budget.

        The seconds of the template begin when this returns. raises: TooMuch; TemplateSyntaxError
        """
        self.meter.restart()
        tree = _BudgetTransformer(self).visit(self.parse(source) if isinstance(source, str) else source)
        code = super().compile(tree, *args, **named)
        self.meter.restart()
        return code

    def lex(self, *args: Any, **named: Any) -> Iterator[tuple[int, str, str]]:
        """Yield the tokens of a template as Jinja does; each takes steps from the budget. raises: TooMuch"""
        self.meter.restart()
        return self.meter.tokens(super().lex(*args, **named))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute `left operator right`, after an estimate of its size, and draw steps for it. raises: TooMuch"""
        self.meter.draw(1)
        if isinstance(left, int) and isinstance(right, int):
            if _bits(operator, left, right) > _MOST_BITS:
                raise self.meter.long_number()
        elif operator == "%" and isinstance(left, (str, bytes)):
            self.meter.expect(_percent(left, right, self.meter.weigh([left, right])))
        elif operator == "*":
            times = max(one for one in (left, right, 0) if isinstance(one, int))
            self.meter.expect(times * max(_length(left), _length(right)))
        elif operator == "+":
            self.meter.expect(_length(left) + _length(right))
        elif operator == "-":  # of the keys of maps
            self.meter.weigh([left, right])
        found = super().call_binop(context, operator, left, right)
        self.meter.made(found)
        return found

    def call(self, context: Any, called: Any, *args: Any, **named: Any) -> Any:
        """Jinja's hook for each call in a template. It takes steps for the arguments and the result, and returns the
        result.

        raises: TooMuch, if the budget is used up; the errors of the call
        """
        if isinstance(called, (Macro, LoopContext, BlockReference)):
            self.meter.draw(_PER_MACRO)
            return super().call(context, called, *args, **named)
        method = getattr(called, "__wrapped__", called)  # the sandbox wraps `format`
        owner, name = getattr(method, "__self__", None), str(getattr(method, "__name__", ""))
        own = {key: named.pop(key) for key in ("_loop_vars", "_block_vars") if key in named}
        if isinstance(owner, list) and "key" in named:
            named["key"] = partial(self.call, context, named["key"])
        if isinstance(owner, str) and name in ("format", "format_map"):
            return self.meter.run("", partial(self._filled, owner, name), args, named, owner)
        return self.meter.run(name, partial(super().call, context, called, **own), args, named, owner)

    def _filled(self, text: str, name: str, *args: Any, **named: Any) -> str:
        """What `str.format` and `str.format_map` give."""
        formatter: Any = _Formatter(self)
        if isinstance(text, Markup):
            formatter = _EscapingFormatter(self, escape=text.escape)
        formatter.meter = self.meter
        if name == "format_map":
            (named,), args = args, ()
        return type(text)(formatter.vformat(text, args, named))


def _bits(operator: str, left: int, right: int) -> int:
    if operator == "**" and abs(left) > 1:
        return left.bit_length() * max(right, 0)
    return left.bit_length() + right.bit_length() if operator == "*" else 0
