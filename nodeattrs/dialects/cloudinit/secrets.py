"""Decide which values of a cloud-config are secret, and mask them.

A value is secret by its path, where cloud-init has passwords and keys, or by the name of its key. A value is also
secret by its text: private keys, hashes of passwords, addresses with a password. The merge keeps secrets; code that
prints asks this module.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

from nodeattrs.core.sensitive import Sensitive, withheld
from nodeattrs.core.tree import Path

_NAMED = re.compile(
    r"(?i)(?:^|[_\W])(?:passw(?:or)?d|passphrase|secret|token|psk"
    r"|(?:private|api|secret|access|activation|registration|encryption|auth|pre[_-]?shared)[_-]?key)$|_private$",
)
"""Names of keys whose values are secret."""

_PLACES = (
    ("chpasswd", "list"),
    ("random_seed", "data"),
    ("chef", "validation_cert"),  # the text of the key
    ("chef", "validation_key"),  # its path by the module's page, where many write the text
    ("wireguard", "interfaces", "*", "content"),  # wg-quick's file, with PrivateKey and PresharedKey
    ("puppet", "csr_attributes", "custom_attributes"),  # the challenge password of the request, under an OID
    ("mcollective", "conf", "private-cert"),  # the key beside public-cert
    ("write_files", "*", "source", "headers"),  # of the request that gets the content: Authorization
    ("apt", "debconf_selections"),  # answers to questions of packages, passwords of databases among them
)
"""Paths of secrets that the modules of cloud-init document; values below them are secret, too."""

_FILES = re.compile(
    r"(?i)\.key$|/id_(?:rsa|dsa|ecdsa|ed25519)$|/shadow$|passw(?:or)?d|secret|token|credential|\.netrc$|\.pgpass$|kubeconfig",
)
"""Paths of files whose content is secret."""

_LOOKS = re.compile(
    r"(?m)-----BEGIN [A-Z ]*PRIVATE KEY|^[^\S\n]*PrivateKey\s*=|\$(?:1|2[aby]|5|6|7|y)\$[^\s$]*\$\S|\w://[^/\s:@]*:[^/\s@]+@",
)
_ENDS = ("passwd", "password", "passphrase", "secret", "token", "psk", "key", "_private")
_SIGNS = ("$", "://", "-----BEGIN ", "PrivateKey")
"""_ENDS: the ends of secret keys. _SIGNS: a piece of each secret text. Most keys and texts have none of these, and are
not matched further."""

WITHHELD = str(Sensitive(""))
"""The text that replaces a secret."""


def veiled(text: str) -> str:
    """*text* itself, or `WITHHELD` if it looks like a secret."""
    return WITHHELD if _looks(text) else text


def guarded(
    path: Path, value: Any, hide: Callable[[Any], Any] = lambda _: WITHHELD, sensitive: Iterable[Path] = ()
) -> Any:
    """The value at *path* with each secret replaced by `WITHHELD`; the same object if it has no secret.

    hide:      called with a secret, returns its replacement instead of `WITHHELD`
    sensitive: further paths of the config that are secret
    cost:      one look at each value

    >>> guarded(("users", 0), {"name": "a", "passwd": "x"})
    {'name': 'a', 'passwd': 'Sensitive(withheld)'}
    """
    return withheld(_guarded(path, value, _is_place(path), hide), sensitive, path, hide)


def _guarded(path: Path, value: Any, is_place: bool, hide: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        is_file = path[:1] == ("write_files",) and _FILES.search(str(value.get("path", "")))
        changed = {}
        for key, entry in value.items():
            below = (*path, key)
            new = _guarded(below, entry, _is_place(below) or bool(is_file and key == "content"), hide)
            if new is not entry:
                changed[key] = new
        return value | changed if changed else value
    if isinstance(value, list):
        entries = []
        for index, entry in enumerate(value):  # no comprehension: it would take a second frame a level
            entries.append(_guarded((*path, index), entry, is_place, hide))
        return value if all(map(operator.is_, entries, value)) else entries
    if isinstance(value, (str, bytes)):
        return hide(value) if value and (is_place or _looks(value)) else value
    return hide(value) if is_place and isinstance(value, (int, float, date)) and not isinstance(value, bool) else value


def _looks(value: str | bytes) -> bool:
    text = value if isinstance(value, str) else value.decode("latin-1")
    return any(sign in text for sign in _SIGNS) and _LOOKS.search(text) is not None


def _is_place(path: Path) -> bool:
    """Whether the value at a path is secret by its path or by the name of its key."""
    named = next((str(step) for step in reversed(path) if not isinstance(step, int)), "")
    may_be = not named.isascii() or named.lower().rstrip("\n").endswith(_ENDS)
    return (may_be and _NAMED.search(named) is not None) or any(
        len(path) >= len(place) and all(want in ("*", step) for want, step in zip(place, path, strict=False))
        for place in _PLACES
    )
