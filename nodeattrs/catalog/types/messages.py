"""The type `Log`: a message that every run says, when its turn comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.catalog.transaction import Change
from nodeattrs.catalog.types.acting import ResourceType, Site, is_secret


@dataclass(repr=False)
class Log(ResourceType):
    """A message; saying it counts as a change, so it can notify.

    message: what is said; the title unless given
    """

    title: str
    message: Any = None

    def check(self, site: Site) -> Sequence[Change]:
        """It always has something to say."""
        message = self.title if self.message is None else self.message
        return [Change("message", "(withheld)" if is_secret(message) else str(message))]

    def apply(self, change: Change, site: Site) -> None:
        """Said by being reported."""
