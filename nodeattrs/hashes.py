"""The two hashes that are taken of what is kept, of which a command that reads one node loads no more than it needs.

`hashlib` loads OpenSSL, a quarter of what a bare interpreter takes; beside it stand modules of the interpreter's own,
which come to the same, sha256 four times as slowly.
"""

from __future__ import annotations

import sys

from nodeattrs.typed import Any

__all__ = ["blake2b", "sha256"]


def _from(names: tuple[str, ...], hash: str) -> Any:
    """A hash, from the first module that is there."""
    for name in names:
        try:
            return getattr(__import__(name), hash)
        except ImportError:
            continue
    raise ImportError(f"no {hash} in {', '.join(names)}")


blake2b = _from(("_blake2", "hashlib"), "blake2b")
"""As hashlib has it."""


SMALL = 1_000_000
"""Bytes that are hashed before OpenSSL is worth its time."""


class _Sha256:
    """Digests: by the interpreter's own module, until `SMALL` bytes were hashed or somebody else has loaded OpenSSL."""

    def __init__(self) -> None:
        self._hash, self._left = _from(("_sha2", "_sha256", "hashlib"), "sha256"), SMALL

    def __call__(self, content: bytes) -> bytes:
        if self._left > 0:
            self._left -= len(content)
            if self._left <= 0 or "hashlib" in sys.modules:
                from hashlib import sha256

                self._hash, self._left = sha256, 0
        digest: bytes = self._hash(content).digest()
        return digest


sha256 = _Sha256()
"""The digest of some bytes."""
