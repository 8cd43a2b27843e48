"""Jinja2's sandbox with limits, for templates that come from outside.

It knows no system's names and filters: those who render put them in. Jinja2 is an extra, imported when first needed.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.errors import missing_extra

_PER_SIGN = 10


def module() -> Any:
    """Jinja2 itself. raises: MissingExtra"""
    try:
        import jinja2.nativetypes
        import jinja2.sandbox
    except ImportError as error:
        raise missing_extra("jinja2", "templates", "a template") from error
    return jinja2


def sandboxed(budget: Budget, **options: Any) -> Any:
    """An environment that reaches nothing outside of it, and whose ranges, products and powers draw on a budget.

    options: those of Jinja2's `Environment`
    raises:  MissingExtra
    """
    sandbox = module().sandbox

    class Environment(sandbox.SandboxedEnvironment):  # type: ignore[misc, name-defined]
        intercepted_binops = frozenset(["*", "**"])

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            budget.steps(_size_of(operator, left, right) // _PER_SIGN)
            return super().call_binop(context, operator, left, right)

    def limited(*bounds: int) -> range:
        found: range = sandbox.safe_range(*bounds)
        budget.steps(len(found))
        return found

    environment = Environment(**options)
    environment.globals["range"] = limited
    return environment


def _size_of(operator: str, left: Any, right: Any) -> int:
    """About how many signs a product or a power has."""
    if operator == "**" and isinstance(left, int) and isinstance(right, int):
        return left.bit_length() * max(right, 0)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int) and isinstance(other, (str, list, tuple, bytes)):
            return max(one, 0) * len(other)
    return 0
