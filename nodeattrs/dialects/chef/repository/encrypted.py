"""Decrypt items of data bags in Chef's formats 1 to 3; the decrypted values are secrets.

Each value is encrypted on its own. The error for a wrong secret or a changed value says nothing about its content. The
caller gives the item and the secret; no file is read.

source: Chef's `EncryptedDataBagItem`
"""

from __future__ import annotations

import hmac
from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.errors import CannotDecrypt, DocumentError, missing_extra
from nodeattrs.formats.documents import parse

_ID = "id"
_FIELDS = {"encrypted_data", "iv", "version", "cipher"}
_VERSIONS = {
    1: (_FIELDS, "aes-256-cbc"),
    2: (_FIELDS | {"hmac"}, "aes-256-cbc"),
    3: (_FIELDS | {"auth_tag"}, "aes-256-gcm"),
}
"""Version -> (the fields of an encrypted value, its cipher)."""


def is_encrypted(item: Mapping[Any, Any]) -> bool:
    """Whether all values of an item, except the ID, have the fields of an encrypted value. False without values."""
    values = [value for key, value in item.items() if key != _ID]
    return bool(values) and all(_version(value) for value in values)


def _version(value: Any) -> int:
    """The version of an encrypted value, 1 to 3; 0 for another value."""
    version = value.get("version") if isinstance(value, dict) else None
    return version if type(version) is int and version in _VERSIONS and set(value) == _VERSIONS[version][0] else 0


def decrypted(item: Mapping[Any, Any], secret: bytes, what: str) -> dict[Any, Any]:
    """A decrypted copy of an item: each value is a Sensitive, except the ID.

    item:   an item for which `is_encrypted` is True
    what:   the item in messages
    raises: CannotDecrypt, MissingExtra
    """
    opened = {key: _opened(value, secret, f"{key} of {what}") for key, value in item.items() if key != _ID}
    return {key: Sensitive(opened[key]) if key in opened else value for key, value in item.items()}


def _opened(value: Mapping[str, Any], secret: bytes, what: str) -> Any:
    try:
        text = _in_clear(value, secret).decode("utf-8")
        return parse(text, what, "json").tree["json_wrapper"]
    except (ValueError, TypeError, KeyError, DocumentError, AttributeError):
        pass  # the error may quote decrypted bytes, so it is not chained
    raise CannotDecrypt(f"{what} cannot be decrypted", hint="is it the secret that it was encrypted with?")


def _in_clear(value: Mapping[str, Any], secret: bytes) -> bytes:
    """The decrypted bytes of a value. raises: ValueError; TypeError, KeyError, AttributeError for wrong fields"""
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.padding import PKCS7
    except ImportError as error:
        raise missing_extra(error.name or "cryptography", "chef", "an encrypted data bag") from None
    version = _version(value)
    if value["cipher"] != _VERSIONS[version][1]:
        raise ValueError
    if version == 2:
        made = hmac.digest(secret, value["encrypted_data"].encode("ascii"), "sha256")
        if not hmac.compare_digest(made, b64decode(value["hmac"])):
            raise ValueError
    data, start = b64decode(value["encrypted_data"]), b64decode(value["iv"])
    mode = modes.GCM(start, b64decode(value["auth_tag"])) if version == 3 else modes.CBC(start)
    opening = Cipher(algorithms.AES256(sha256(secret).digest()), mode).decryptor()
    try:
        clear = opening.update(data) + opening.finalize()
    except InvalidTag:
        raise ValueError from None
    if version == 3:
        return clear
    padding = PKCS7(128).unpadder()
    return padding.update(clear) + padding.finalize()
