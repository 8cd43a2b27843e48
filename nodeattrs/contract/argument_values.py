"""Parse what is given for arguments that several commands share: a path, a revision or time, the text between keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from nodeattrs.core.tree import Path, parse
from nodeattrs.errors import BadArgument, BadUsage


def nested_of(arguments: Mapping[str, Any]) -> str:
    """The text between keys in the name of a variable. raises: BadUsage, for --nested without --env-prefix"""
    nested: str | None = arguments["nested"]
    if nested is not None and not arguments["env_prefix"]:
        raise BadUsage("--nested is the text between keys in names of variables: add --env-prefix PREFIX")
    return "__" if nested is None else nested


def path_of(text: str | None) -> Path:
    """The steps of a path that an argument spells; () for None and "". raises: BadArgument, for a wrong spelling"""
    return parse(text) if text else ()


def revision_or_time(text: str | None) -> int | datetime | None:
    """The text of --at as the number of a revision, or as a time in UTC; None for None.

    A date without a time means the end of that day; a time without a zone is UTC. Numbers have at most seven digits.
    raises: BadArgument, where the text is neither

    >>> revision_or_time("7"), revision_or_time("2030-01-31T12:00+01:00").isoformat()
    (7, '2030-01-31T11:00:00+00:00')
    """
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 8:
        return int(text)
    try:
        if len(text) == len("2030-01-31"):
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadArgument(
            f"{text!r} is neither the number of a revision nor a time", hint="write 7, 2030-01-31 or 2030-01-31T12:00Z"
        ) from None
