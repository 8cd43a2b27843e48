"""Put text into Markdown for comments on pull requests, so that it stays text, links nowhere and mentions no person.

GitHub and GitLab look for mentions and links after they have rendered Markdown and entities, but not in code. So an
invisible character is put into each text that would become a mention or a link. The module knows no report.
"""

from __future__ import annotations

import re

from nodeattrs.reports.screen import printable

_NO_WIDTH = "&#8203;"
_REFERS = re.compile(r"[@#!$%~&](?=\w)|:(?=//)|(?i:www)(?=\.)|\bGH(?=-\d)")
"""What begins a mention of a person, a reference to an issue or to another thing of the forge, or a link."""


def in_code(text: str) -> str:
    """A text as inline code of Markdown, on one line; a backquote and a bar become similar signs.

    >>> in_code("a@b")
    '`a@b`'
    """
    return f"`{printable(text).replace('`', chr(0x2019)).replace('|', chr(0x2223))}`"


def plain(text: str) -> str:
    """A text for Markdown without effect: HTML is escaped, and a mention or a link of the forge is broken up.

    >>> plain("@root <b>")
    '@&#8203;root &lt;b&gt;'
    """
    return "".join(_sign(sign) for sign in _REFERS.sub("\\g<0>\u200b", printable(text)))


def _sign(sign: str) -> str:
    if sign in _ENTITIES:
        return _ENTITIES[sign]
    return f"\\{sign}" if sign in "\\`*_[]|~#" else sign


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u200b": _NO_WIDTH}
