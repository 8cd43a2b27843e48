"""Jinja2's sandbox with limits, for templates that come from outside.

The caller adds filters and names, such as those of Ansible. Jinja2 is an extra, imported when first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.errors import missing_extra


def module() -> Any:
    """Import Jinja2 with its sandbox: the module `jinja2`. raises: MissingExtra, where it is not installed"""
    try:
        import jinja2.nativetypes
        import jinja2.sandbox
    except ImportError as error:
        raise missing_extra("jinja2", "templates", "a template") from error
    return jinja2


def sandboxed(budget: Budget, **options: Any) -> Any:
    """Make an environment of Jinja2 whose templates reach nothing outside of it and draw on a budget.

    options: as for `CountedEnvironment`
    raises:  MissingExtra
    """
    module()
    from nodeattrs.formats.template_limits import CountedEnvironment

    return CountedEnvironment(budget, **options)


@contextmanager
def rendering(budget: Budget) -> Iterator[None]:
    """A context manager for code that compiles or renders a template.

    In its block, an error of Python's own limits (recursion, memory, too many blocks) becomes TooMuch. Other errors are
    not changed.
    budget: gives TooMuch the name of the template
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
    """The line of the innermost template without a name in the traceback of an error; None where none is in it."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else None
