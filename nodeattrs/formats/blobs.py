"""The hash that Git has for the content of a file."""

from __future__ import annotations

from hashlib import sha1


def blob_name(content: bytes) -> str:
    """The id of the Git blob with this content, as 40 hexadecimal digits.

    >>> blob_name(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
