"""Expressions of the text language, as trees of immutable nodes.

They are the subset that the examples of ARM-8 need. The readers of the language and of the data form make them;
`evaluate` gives the value of one. The caller of `evaluate` says what variables and functions mean. A *constant* is an
expression without variables and operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from nodeattrs.core.claim import Locator
from nodeattrs.dialects.bindings.codes import EXPRESSION
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.producers import ComputedProducer, Constant, ProducerBase
from nodeattrs.dialects.bindings.model.values import as_data, compared, hash_as_data, text_in_language
from nodeattrs.errors import NodeattrsError

Variables = Callable[[str], Any]
"""A function from the name of a variable, as it is written behind the `$`, to its value; it may raise."""
Functions = Mapping[str, Callable[..., Any]]

_VARIABLE = re.compile(
    r"\\(?P<escaped>.)|\$(?:\{\s*((?:::)?\w+(?:::\w+)*)\s*\}|((?:::)?[A-Za-z_]\w*(?:::\w+)*))", re.DOTALL
)


@dataclass(frozen=True)
class Node:
    """The base class of expressions. A subclass has `evaluate`; the one of this class raises NotImplementedError.

    `str(node)` is the expression in the language: the source text, or for some classes an equal text. `to_data` gives
    the data form.
    """

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The value of the expression, with the meaning of its variables and functions. raises: BindingError"""
        raise NotImplementedError

    def to_data(self) -> Any:
        """The expression as plain data; an expression without a data form as its source text."""
        return {"expression": str(self)}


@dataclass(frozen=True)
class Literal(Node):
    """A value that is written out: a text, a number, a boolean, null, or a pattern. `evaluate` returns that same
    object.

    value: the value; a pattern is a compiled `re.Pattern`
    """

    value: Any

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return self.value

    def to_data(self) -> Any:
        return as_data(self.value)

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class InterpolatedText(Node):
    """A text with variables in it: `http://$host:${port}/`. Escapes are replaced when it is evaluated.

    `\\$` is a dollar, `\\n` a new line, `\\t` a tab; null becomes the empty text, a boolean "true" or "false".
    """

    text: str

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The text with its variables and escapes replaced. raises: the errors of *variable*"""

        def replaced(found: re.Match[str]) -> str:
            if found["escaped"]:
                return {"n": "\n", "t": "\t"}.get(found["escaped"], found["escaped"])
            return text_in_language(variable(found[2] or found[3]))

        return _VARIABLE.sub(replaced, self.text)

    def to_data(self) -> Any:
        return {"interpolate": self.text}

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True)
class Variable(Node):
    """A variable: `$::fqdn`. The caller of `evaluate` decides what happens if the variable is not set.

    name: the name without the `$`
    """

    name: str

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return variable(self.name)

    def to_data(self) -> Any:
        return {"variable": self.name}

    def __str__(self) -> str:
        return f"${self.name}"


@dataclass(frozen=True)
class ListOf(Node):
    """A list of expressions; each evaluation makes a new list.

    items: the expressions of the elements
    """

    items: tuple[Node, ...]

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return [item.evaluate(variable, functions) for item in self.items]

    def to_data(self) -> Any:
        return [item.to_data() for item in self.items]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True)
class HashOf(Node):
    """A hash of expressions. If two keys are equal, the last one counts.

    `evaluate` raises BindingError if a key is a list or a hash.
    pairs: the expressions of each key and its value
    """

    pairs: tuple[tuple[Node, Node], ...]

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return {
            _key(key.evaluate(variable, functions)): value.evaluate(variable, functions) for key, value in self.pairs
        }

    def to_data(self) -> Any:
        return hash_as_data((key.to_data(), value.to_data()) for key, value in self.pairs)

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key} => {value}' for key, value in self.pairs)}}}"


def _key(key: Any) -> Any:
    if isinstance(key, (list, dict)):
        raise BindingError(EXPRESSION, f"{key!r} cannot be the key of a hash", hint="keys are no collections")
    return key


@dataclass(frozen=True)
class _NodeWithSource(Node):
    """The base class of expressions that keep their source text; the text does not count for equality."""

    source: str = field(compare=False)

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True)
class Call(_NodeWithSource):
    """A call of a function by name. `evaluate` raises BindingError for an unknown function, and for wrong arguments.

    name: the name of the function
    args: the expressions of the arguments, which are evaluated first
    """

    name: str
    args: tuple[Node, ...]

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The result of the function. Its errors of type, value or look-up become a BindingError; others stay.

        raises: BindingError, also for an unknown function
        """
        found = functions.get(self.name)
        if found is None:
            raise BindingError(EXPRESSION, f"no function is called {self.name}", hint="pass functions={...}")
        args = [arg.evaluate(variable, functions) for arg in self.args]
        try:
            return found(*args)
        except NodeattrsError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            raise BindingError(EXPRESSION, f"{self.source}: {error}") from error


def is_true(value: Any) -> bool:
    """Whether a value counts as true in a condition: False for null, false and the empty text alone.

    So 0 and empty lists and hashes are true. source: Puppet 3, whose language ARM-8 extends; in Puppet 4 and later the
    empty text is true.

    >>> [is_true(value) for value in (None, False, "", 0, [])]
    [False, False, False, True, True]
    """
    return value is not None and value is not False and value != ""


@dataclass(frozen=True)
class Operation(_NodeWithSource):
    """Two expressions and an operator between them.

    `and` and `or` give booleans. They evaluate the right side only if the left side does not decide. `+` also joins two
    lists, adds an element to a list, and merges two hashes. Other arithmetic needs numbers. `evaluate` raises
    BindingError for values that do not fit, and for a division by zero.
    sign: `and`, `or`, one of `+ - * / %`, or a comparison such as `==`, `<` or `=~`
    """

    sign: str
    left: Node
    right: Node

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The value of the operation. `and` and `or` take their sides as `is_true` does.

        raises: BindingError, for values that the operator cannot take, and for a division by zero
        """
        left = self.left.evaluate(variable, functions)
        if self.sign in ("and", "or") and is_true(left) == (self.sign == "or"):
            return self.sign == "or"
        right = self.right.evaluate(variable, functions)
        if self.sign in ("and", "or"):
            return is_true(right)
        if self.sign in _ARITHMETIC:
            return self._computed(left, right)
        return compared(left, self.sign, right)

    def _computed(self, left: Any, right: Any) -> Any:
        """The result of an arithmetic operator.

        raises: BindingError, for other values, for a division by zero, and for numbers that are too large
        """
        if self.sign == "+" and isinstance(left, list):
            return [*left, *(right if isinstance(right, list) else [right])]
        if self.sign == "+" and isinstance(left, dict) and isinstance(right, dict):
            return {**left, **right}
        if any(isinstance(side, bool) or not isinstance(side, (int, float)) for side in (left, right)):
            raise BindingError(EXPRESSION, f"{self.source}: {left!r} {self.sign} {right!r} means nothing")
        if self.sign in "/%" and not right:
            raise BindingError(EXPRESSION, f"{self.source}: division by zero")
        try:
            return _ARITHMETIC[self.sign](left, right)
        except OverflowError as error:
            raise BindingError(EXPRESSION, f"{self.source}: {error}") from None


def _divided(left: Any, right: Any) -> Any:
    return left // right if isinstance(left, int) and isinstance(right, int) else left / right


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left % right,
}


@dataclass(frozen=True)
class Not(_NodeWithSource):
    """The opposite of a condition, `!`: True for null, false and the empty text (`is_true`)."""

    of: Node

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return not is_true(self.of.evaluate(variable, functions))


@dataclass(frozen=True)
class Index(_NodeWithSource):
    """An entry of a list or hash; its value is null if the entry is missing. A negative number counts from the end of a
    list.

    `evaluate` raises BindingError for any other value, and for a step into a list that is not a whole number.
    of: the expression of the list or hash
    at: the expression of the index or key
    """

    of: Node
    at: Node

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The entry; null if it is missing. raises: BindingError, for an index that the value cannot have"""
        holder, step = self.of.evaluate(variable, functions), self.at.evaluate(variable, functions)
        if isinstance(holder, dict) and isinstance(step, Hashable):
            return holder.get(step)
        if isinstance(holder, list) and type(step) is int:
            return holder[step] if -len(holder) <= step < len(holder) else None
        raise BindingError(EXPRESSION, f"{self.source}: {holder!r} has no entry {step!r}")


@dataclass(frozen=True)
class Assign(_NodeWithSource):
    """The assignment of a local variable of a block, or of a variable of a site. Its value is the assigned value.

    `evaluate` stores nothing: the block or the site around it does.
    name:  the name, without the `$`
    value: the expression of the value
    """

    name: str
    value: Node

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        return self.value.evaluate(variable, functions)


@dataclass(frozen=True)
class StatementBlock(_NodeWithSource):
    """Statements in order, with local variables; the value is the value of the last one, null for no statements."""

    statements: tuple[Node, ...]

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        """The value of the last statement; null for none. Each sees the variables that earlier ones assigned."""
        local: dict[str, Any] = {}

        def known(name: str) -> Any:
            return local[name] if name in local else variable(name)

        value = None
        for statement in self.statements:
            value = statement.evaluate(known, functions)
            if isinstance(statement, Assign):
                local[statement.name] = value
        return value


@dataclass(frozen=True)
class Branch(_NodeWithSource):
    """An `if`; its value is the value of the chosen side. An `unless` is read as a Branch, too.

    condition: decides which side is evaluated (`is_true`)
    then:      the expression for a true condition
    otherwise: the expression for a false condition; None: the value is null
    """

    condition: Node
    then: Node
    otherwise: Node | None

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        if is_true(self.condition.evaluate(variable, functions)):
            return self.then.evaluate(variable, functions)
        return self.otherwise.evaluate(variable, functions) if self.otherwise else None


@dataclass(frozen=True)
class Lambda(_NodeWithSource):
    """A function, `|$memo, $x| { $memo + $x }`. `evaluate` returns a Python function that takes them by position.

    That function returns the value of the body. It raises BindingError for another number of arguments.
    parameters: the names of the parameters, without the `$`
    body:       the expression that gives the result; it may use variables from outside, too
    """

    parameters: tuple[str, ...]
    body: Node

    def evaluate(self, variable: Variables, functions: Functions) -> Any:
        def call(*args: Any) -> Any:
            if len(args) != len(self.parameters):
                raise BindingError(
                    EXPRESSION, f"{self.source}: takes {len(self.parameters)} arguments, and {len(args)} were given"
                )
            local = dict(zip(self.parameters, args, strict=True))
            return self.body.evaluate(lambda name: local[name] if name in local else variable(name), functions)

        return call

    def to_data(self) -> Any:
        return {"lambda": list(self.parameters), "source": self.source}


def variables_of(node: Node) -> Iterator[str]:
    """Yield the name of each variable that an expression mentions, without `::`; a name may come twice.

    Names in texts, and in lambdas and blocks of the expression, count as well.
    """
    for one in _every(node):
        if isinstance(one, Variable):
            yield one.name.removeprefix("::")
        elif isinstance(one, InterpolatedText):
            for found in _VARIABLE.finditer(one.text):
                if not found["escaped"]:
                    yield (found[2] or found[3]).removeprefix("::")


def injected_names(node: Node) -> Iterator[str]:
    """Yield each name that the calls of `inject` in an expression ask for, where the name is a literal."""
    for one in _every(node):
        if isinstance(one, Call) and one.name == "inject":
            last = next((arg for arg in reversed(one.args) if not isinstance(arg, HashOf)), None)
            if isinstance(last, Literal) and type(last.value) is str:
                yield last.value


def _every(value: Any) -> Iterator[Node]:
    """A node and all nodes inside of it, the outermost first."""
    if isinstance(value, Node):
        yield value
        value = tuple(getattr(value, one.name) for one in fields(value))
    for entry in value if isinstance(value, tuple) else ():
        yield from _every(entry)


def is_constant(node: Node) -> bool:
    """Whether an expression is a literal, or a list or hash of literals at any depth."""
    return all(isinstance(one, (Literal, ListOf, HashOf)) for one in _every(node))


def _no_variable(name: str) -> Any:
    raise BindingError(EXPRESSION, f"${name} is not known here")


def constant_value(node: Node) -> Any:
    """The value of an expression without variables and calls. raises: BindingError, for any other expression"""
    return node.evaluate(_no_variable, {})


def value_or_expression(node: Node) -> Any:
    """The value of a constant; any other expression itself."""
    return constant_value(node) if is_constant(node) else node


def producer_of(expression: Node, places: Locator | None = None) -> ProducerBase:
    """A producer of the value of an expression. places: finds the line of an entry of the value"""
    if is_constant(expression):
        return Constant(constant_value(expression), places=places)
    return ComputedProducer(expression, places=places)
