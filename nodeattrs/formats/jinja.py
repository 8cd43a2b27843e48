"""Jinja2's sandbox with limits, for templates that come from outside.

It knows no system's names and filters: those who render put them in. Jinja2 is an extra, imported when first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.errors import missing_extra


def module() -> Any:
    """Jinja2 itself. raises: MissingExtra"""
    try:
        import jinja2.nativetypes
        import jinja2.sandbox
    except ImportError as error:
        raise missing_extra("jinja2", "templates", "a template") from error
    return jinja2


def sandboxed(budget: Budget, **options: Any) -> Any:
    """An environment whose templates reach nothing outside of it and draw on a budget.

    options: those of `CountedEnvironment`
    raises:  MissingExtra
    """
    module()
    from nodeattrs.formats.template_limits import CountedEnvironment, Meter

    return CountedEnvironment(Meter(budget), **options)


@contextmanager
def rendering(budget: Budget) -> Iterator[None]:
    """Compile and render within a block; an error of Python's own limits becomes the one of the budget.

    raises: TooMuch
    """
    try:
        yield
    except RecursionError:
        raise budget.exceeded("depth") from None
    except SyntaxError as error:  # of the code that a template is compiled to
        if "too many" not in str(error):
            raise
        raise budget.exceeded("depth") from None
    except MemoryError:
        raise budget.exceeded("bytes") from None


def line_of(error: BaseException) -> int | None:
    """The line of a template without a name in which an error was raised while Jinja's `render` ran."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else None
