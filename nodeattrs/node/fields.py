"""The fields of a node beside its attributes: checks of a name, an environment, a folder. It knows no node."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from nodeattrs.core.tree import checked_name
from nodeattrs.errors import wrong_argument
from nodeattrs.node.slots import DEFAULT_ENVIRONMENT


def checked_environment(name: object) -> str:
    """*name* itself, where it may name an environment: any text but "". raises: BadArgument"""
    if not isinstance(name, str) or not name:
        raise wrong_argument("the environment of a node", "the name of one", name, f'as in "{DEFAULT_ENVIRONMENT}"')
    return name


def checked_folder(root: str | os.PathLike[str]) -> str:
    """A path as text. Whether the folder exists is not checked. raises: BadArgument, where it is no path"""
    try:
        return os.fspath(root)
    except TypeError:
        raise wrong_argument("the root of a node", "a folder", root, "the current one where it is None") from None


FIELDS: dict[str, Callable[[Any], str]] = {
    "name": partial(checked_name, what="node"),
    "environment": checked_environment,
}
"""What can be assigned besides levels, each with what refuses a wrong value."""
