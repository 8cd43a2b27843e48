"""Warnings about the size of user-data, by the limits that the clouds' pages name."""

from __future__ import annotations

from nodeattrs.dialects.cloudinit.codes import OVER_SIZE
from nodeattrs.dialects.cloudinit.lints.warned import Warned

LIMITS: dict[str, tuple[int, bool]] = {
    "aws": (16_384, False),
    "azure": (65_535, False),
    "digitalocean": (65_536, False),
    "gcp": (262_144, False),
    "hetzner": (32_768, False),
    "openstack": (65_535, True),
    "oracle": (32_000, True),
}
"""The cloud -> how many bytes it takes, and whether they are counted as base64."""

SMALLEST = "aws"


def about_size(size: int, title: str, cloud: str | None) -> Warned | None:
    """The warning about user-data that is larger than a cloud takes; None if it is not larger.

    size:  in bytes, before base64
    title: the name of the user-data, for the warning
    cloud: a key of LIMITS. None: the smallest limit counts, and the warning is a note; otherwise it is an error
    """
    name = cloud or SMALLEST
    most, of_base64 = LIMITS[name]
    sent = -(-size // 3) * 4 if of_base64 else size
    if sent <= most:
        return None
    message = f"{sent:,} bytes{' as base64' if of_base64 else ''} are more than the {most:,} that {name} takes"
    hint = "pack it with gzip, or fetch what is large; --cloud names another cloud"
    return Warned(OVER_SIZE, message, 0, title, None, hint, "error" if cloud else "note", (1, 1))
