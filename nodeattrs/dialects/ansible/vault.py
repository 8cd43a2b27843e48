"""Decrypt values and files of Ansible Vault with the given passwords; the decrypted values are secrets.

The formats are 1.1 and 1.2 with AES256. The package `cryptography` decrypts, or else an installed `ansible-vault`.
Without passwords everything stays encrypted. The module knows no levels and no files of variables.

source: Ansible's documentation, "Format of files encrypted with Ansible Vault"
"""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
from binascii import Error, unhexlify
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import children
from nodeattrs.core.budget import in_force
from nodeattrs.core.code import require_may_run
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.ansible.faults import VAULT, AnsibleError
from nodeattrs.dialects.ansible.values import VAULT_HEADER, Decrypted, Vault, with_leaves
from nodeattrs.errors import TooMuch, missing_extra

_ROUNDS, _SIZE = 10_000, 32
_HINT = "is it the password that it was encrypted with?"


class _Envelope(NamedTuple):
    """The parts of an encrypted text: the id of its vault, and the salt, the checksum and the encrypted body."""

    identity: str
    salt: bytes
    code: bytes
    body: bytes


_SECONDS = 60


class _Password:
    """A password in a file, or printed by a program. identity: the vault id that it is for"""

    def __init__(self, file: Path, identity: str = "default") -> None:
        self.file, self.identity = file, identity

    @cached_property
    def secret(self) -> bytes:
        """The password, read or printed at the first use. raises: AnsibleError, where it is empty or cannot be read"""
        is_program = os.access(self.file, os.X_OK) and self.file.is_file()
        if is_program:
            require_may_run(f"the password program {self.file}")
        try:
            found = (_printed([str(self.file)]) or b"") if is_program else self.file.read_bytes()
        except (OSError, TooMuch) as error:
            raise AnsibleError(VAULT, f"this password cannot be read: {error}", file=str(self.file)) from None
        found = found.strip()
        if not found:
            raise AnsibleError(VAULT, "this password is empty", file=str(self.file))
        return found

    def opened(self, envelope: _Envelope) -> bytes | None:
        """The clear text; None for a wrong password. raises: ImportError, without `cryptography`; AnsibleError"""
        derived = hashlib.pbkdf2_hmac("sha256", self.secret, envelope.salt, _ROUNDS, 2 * _SIZE + 16)
        key, signing, start = derived[:_SIZE], derived[_SIZE : 2 * _SIZE], derived[2 * _SIZE :]
        if not hmac.compare_digest(hmac.digest(signing, envelope.body, "sha256"), envelope.code):
            return None
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.padding import PKCS7

        opening = Cipher(algorithms.AES(key), modes.CTR(start)).decryptor()
        padded = opening.update(envelope.body) + opening.finalize()
        unpadding = PKCS7(128).unpadder()
        return unpadding.update(padded) + unpadding.finalize()


def _printed(words: list[str], given: bytes = b"") -> bytes | None:
    """The output of a program; None where it fails. given: its input; raises: OSError, TooMuch"""
    env, most = children.callers_environment(), in_force().bytes
    done = children.run(words, env=env, given=given, seconds=_SECONDS, most_bytes=most)
    return None if done.code else done.output


class Passwords:
    """The passwords of a call, in the order in which they are tried. The object is false if *given* is empty.

    given:  each `FILE` or `ID@FILE`, relative to *folder*
    folder: the working folder
    raises: AnsibleError from the constructor, which reads all passwords and runs programs that print one

    `opened(text, file, line)` decrypts a text. It raises AnsibleError of kind "vault" if no password fits.
    """

    def __init__(self, given: Iterable[str], folder: Path) -> None:
        named = (one.rpartition("@") for one in given)
        self._passwords = [_Password(folder / file, identity or "default") for identity, _, file in named]
        for one in self._passwords:
            one.secret  # noqa: B018  # whatever is wrong with one is raised before a password is read

    def __bool__(self) -> bool:
        return bool(self._passwords)

    def opened(self, text: str, file: str | None, line: int | None) -> str:
        """The decrypted text of an encrypted text. Passwords with its vault id are tried first, then the others.

        text:       the encrypted text, with its header
        file, line: the place for errors
        raises:     AnsibleError of kind "vault", if no password fits or the format is unknown; MissingExtra
        """
        envelope = _envelope(text)
        if envelope is None:
            raise AnsibleError(VAULT, "it is no vault of format 1.1 or 1.2 with AES256", file=file, line=line)
        ordered = sorted(self._passwords, key=lambda one: one.identity != envelope.identity)
        for password in ordered:
            try:
                found = password.opened(envelope)
            except ImportError:
                found = _by_program(text, password)
            except ValueError:
                found = None
            if found is not None:
                return found.decode("utf-8", "surrogateescape")
        of = f" (vault id {envelope.identity})" if envelope.identity != "default" else ""
        raise AnsibleError(VAULT, f"no password opens this vault{of}", file=file, line=line, hint=_HINT)


def _envelope(text: str) -> _Envelope | None:
    head, _, rest = text.strip().partition("\n")
    words = [word.strip() for word in head.split(";")]
    if words[0] != VAULT_HEADER or words[1:3] not in (["1.1", "AES256"], ["1.2", "AES256"]):
        return None
    try:
        parts = unhexlify("".join(rest.split())).split(b"\n")
        salt, code, body = map(unhexlify, parts)
    except (Error, ValueError):
        return None
    return _Envelope(words[3] if len(words) > 3 else "default", salt, code, body)


def _by_program(text: str, password: _Password) -> bytes | None:
    program = shutil.which("ansible-vault")
    if program is None:
        raise missing_extra("cryptography", "ansible", "opening a vault of Ansible")
    words = [program, "decrypt", "--vault-id", f"{password.identity}@{password.file}", "--output", "-", "-"]
    return _printed(words, text.encode())


def decrypted(value: Any, passwords: Passwords, refused: Any) -> Any:
    """A copy of a tree in which each `Vault` that a password decrypts is replaced by a `Decrypted`.

    value:     the tree; it is not changed
    passwords: the passwords to try
    refused:   called with (a `Vault` that no password decrypts, the AnsibleError). The `Vault` stays in the copy
    raises:    MissingExtra, if nothing is installed that decrypts
    """

    def leaf(one: Any) -> Any:
        try:
            return Decrypted(passwords.opened(one.text, None, None), one.text) if isinstance(one, Vault) else one
        except AnsibleError as error:
            refused(one, error)
            return one

    return with_leaves(value, leaf)


def sealed(value: Any) -> Any:
    """A copy of a tree in which each leaf is a secret."""
    return with_leaves(value, lambda one: one if isinstance(one, Sensitive) else Sensitive(one))
