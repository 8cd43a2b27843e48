"""Jinja2's sandbox with limits, for templates that come from outside.

It knows no system's names and filters: those who render put them in. Jinja2 is an extra, imported when first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import update_wrapper

from nodeattrs.core.budget import Budget
from nodeattrs.errors import missing_extra
from nodeattrs.lazily import regexp
from nodeattrs.typed import Any

_PER_SIGN = 10
_GROWING = ("center", "format", "indent", "replace")
"""Filters that make much of little."""

_WIDTH = regexp(r"\d{4,}")


def module() -> Any:
    """Jinja2 itself. raises: MissingExtra"""
    try:
        import jinja2.nativetypes
        import jinja2.sandbox
    except ImportError as error:
        raise missing_extra("jinja2", "templates", "a template") from error
    return jinja2


def sandboxed(budget: Budget, **options: Any) -> Any:
    """An environment that reaches nothing outside of it; ranges, and what makes texts longer, draw on a budget.

    options: those of Jinja2's `Environment`
    raises:  MissingExtra
    """
    sandbox = module().sandbox

    class Environment(sandbox.SandboxedEnvironment):  # type: ignore[misc, name-defined]
        intercepted_binops = frozenset(["+", "*", "**", "%"])

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            budget.steps(_size_of(operator, left, right) // _PER_SIGN)
            return super().call_binop(context, operator, left, right)

        def call(self, context: Any, called: Any, *args: Any, **named: Any) -> Any:
            owner = getattr(getattr(called, "__wrapped__", called), "__self__", None)  # the sandbox wraps `format`
            if isinstance(owner, (str, bytes)):
                budget.steps(_size_made(getattr(called, "__name__", ""), (owner, *args)) // _PER_SIGN)
            return super().call(context, called, *args, **named)

        def joined(self, parts: Sequence[Any]) -> str:
            """What `~` gives."""
            texts = [one if isinstance(one, str) else str(one) for one in parts]
            budget.steps(sum(map(len, texts)) // _PER_SIGN)
            return "".join(texts)

    class Counted(Environment.code_generator_class):  # type: ignore[misc, name-defined]
        def visit_Concat(self, node: Any, frame: Any) -> None:
            self.write("environment.joined((")
            for part in node.nodes:
                self.visit(part, frame)
                self.write(", ")
            self.write("))")

    Environment.code_generator_class = Counted

    def limited(*bounds: int) -> range:
        asked = range(*bounds)
        budget.steps(abs(asked.stop - asked.start) // abs(asked.step))
        found: range = sandbox.safe_range(*bounds)
        return found

    environment = Environment(**options)
    environment.globals["range"] = limited
    for name in _GROWING:
        environment.filters[name] = _counted(name, environment.filters[name], budget)
    return environment


def _counted(name: str, made: Any, budget: Budget) -> Any:
    def counted(*args: Any, **named: Any) -> Any:
        budget.steps(_size_made(name, (*args, *named.values())) // _PER_SIGN)
        return made(*args, **named)

    return update_wrapper(counted, made)


def _size_made(name: str, args: Sequence[Any]) -> int:
    """About how many signs a method or a filter of texts gives at most."""
    texts = [one for one in args if isinstance(one, (str, bytes))]
    numbers = [one for one in args if isinstance(one, int)]
    if "replace" in name and len(texts) > 2:
        return (len(texts[0]) + 1) * len(texts[2])
    if "format" in name:
        numbers += [int(width) for one in texts if isinstance(one, str) for width in _WIDTH.findall(one)]
    return max((sum(map(len, texts)), *numbers), default=0)


def _size_of(operator: str, left: Any, right: Any) -> int:
    """About how many signs the result of an operator has."""
    if operator == "%":
        return _size_made("format", (left,)) if isinstance(left, str) else 0
    if operator == "+":
        return len(left) + len(right) if isinstance(left, (str, list, tuple)) and isinstance(right, type(left)) else 0
    if operator == "**" and isinstance(left, int) and isinstance(right, int):
        return left.bit_length() * max(right, 0)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int) and isinstance(other, (str, list, tuple, bytes)):
            return max(one, 0) * len(other)
    return 0
