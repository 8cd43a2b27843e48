"""Encrypted values and files of SOPS, hiera-eyaml and Ansible Vault. Nothing is decrypted here.

An encrypted value becomes a secret (`Encrypted`), and the notes that SOPS writes into a file are removed. A file that
is encrypted as a whole cannot be read.
"""

from __future__ import annotations

import re
from typing import Any

from nodeattrs.core.sensitive import Encrypted
from nodeattrs.formats.tags import Tagged

_SIGNS = ("ENC[", "$ANSIBLE_VAULT;", "!vault", "sops")
"""Each file with encrypted values has one of these texts."""
_SECRET = re.compile(r"ENC\[(\w+),|(?m:^[^\S\n]*\$ANSIBLE_VAULT;)")
_NOTES = {"mac", "version", "lastmodified"}
_SOPS, _VAULT = "SOPS is not decrypted here", "Ansible Vault is not decrypted here"


def encrypted_whole(text: str) -> str | None:
    """A reason in words, if Ansible Vault encrypted a text as a whole, so that it cannot be read; else None."""
    return _VAULT if text.startswith("$ANSIBLE_VAULT;") else None


def may_be_encrypted(text: str) -> bool:
    """Whether a text may have values that SOPS, hiera-eyaml or Ansible Vault encrypted. False is certain."""
    return any(sign in text for sign in _SIGNS)


def marked(tree: Any) -> Any:
    """Replace encrypted values in the tree of a document by `Encrypted`, and remove the notes of SOPS.

    Maps and lists are changed in place; the tree comes back, or an `Encrypted` where *tree* is itself a secret text.
    """
    if isinstance(tree, dict):
        _drop_notes(tree)
    return _marked(tree)


def _drop_notes(tree: dict[Any, Any]) -> None:
    notes = tree.get("sops")
    if isinstance(notes, dict) and _NOTES & notes.keys():
        del tree["sops"]
    if {"sops_mac", "sops_version"} & tree.keys():
        for key in [key for key in tree if str(key).startswith("sops_")]:
            del tree[key]


def _marked(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        for step in value if isinstance(value, dict) else range(len(value)):
            value[step] = _marked(value[step])
        return value
    reason = _reason(value)
    return value if reason is None else Encrypted(getattr(value, "value", value), reason)


def _reason(value: Any) -> str | None:
    if type(value) is Tagged:
        return _VAULT if value.tag in ("!vault", "!vault-encrypted") else _reason(value.value)
    found = _SECRET.search(value) if isinstance(value, str) else None
    if found is None:
        return None
    if found[1] is None:
        return _VAULT
    return _SOPS if found[1] == "AES256_GCM" else f"hiera-eyaml ({found[1]}) is not decrypted here"
