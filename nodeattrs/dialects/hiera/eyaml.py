"""Find and decrypt texts that hiera-eyaml encrypted: `ENC[PKCS7,...]`.

Without keys a text becomes `Encrypted`, a secret with the reason. The package `cryptography` decrypts PKCS7; texts of
other schemes stay encrypted.
"""

from __future__ import annotations

import base64
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from nodeattrs.core.sensitive import Encrypted
from nodeattrs.core.tree import Path, dig
from nodeattrs.dialects.hiera.codes import CANNOT_DECRYPT
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.values import texts_in
from nodeattrs.errors import missing_extra

Decrypt = Callable[[str], str]
"""Returns the clear text of one `ENC[SCHEME,...]`; raises `NoKey` where the text stays encrypted."""

_MARK = re.compile(r"^(?>.*?ENC\[).*\]", re.MULTILINE)
_TOKEN = re.compile(r"ENC\[(?:(\w+),)?([a-zA-Z0-9+/ =\n]+?)\]")
_BLANKS = re.compile(r"\s")


class NoKey(Exception):
    """A text stays encrypted; the message is the reason."""


def decrypted(value: Any, decrypt: Decrypt) -> Any:
    """A copy of a value with its texts decrypted. A text becomes `Encrypted` if *decrypt* raises NoKey for it.

    Keys of maps, and texts without `ENC[..]`, stay as they are, as in Puppet.
    decrypt: called with one `ENC[..]`, it returns the clear text
    raises:  the other errors of *decrypt*: BadLookup, if a key does not fit the text
    """
    if type(value) is str:
        return _text(value, decrypt) if _MARK.search(value) else value
    if type(value) is list:
        return [decrypted(entry, decrypt) for entry in value]
    if type(value) is dict:
        return {key: decrypted(entry, decrypt) for key, entry in value.items()}
    return value


def _text(text: str, decrypt: Decrypt) -> str | Encrypted:
    def clear(found: re.Match[str]) -> str:
        return decrypt(f"ENC[{found[1] or 'PKCS7'},{_BLANKS.sub('', found[2])}]")

    try:
        return re.sub(r"\r?\n\Z|\r\Z", "", _TOKEN.sub(clear, text))
    except NoKey as error:
        return Encrypted(text, str(error))


def encrypted_paths(value: Any) -> Iterator[Path]:
    """Yield the path of each text of a value that has an `ENC[..]` in it."""
    return (path for path, text in texts_in(value) if _TOKEN.search(text))


def never_decrypted_paths(value: Any) -> Iterator[Path]:
    """Yield the path of each text that has line breaks inside of every `ENC[..]`; hiera-eyaml never decrypts it."""
    for path in encrypted_paths(value):
        if not _MARK.search(dig(value, path)):
            yield path


def keep_encrypted(text: str) -> str:
    """A `Decrypt` that decrypts nothing: it always raises NoKey."""
    raise NoKey("decryption was not asked for")


class Pkcs7:
    """A function that decrypts one text `ENC[PKCS7,...]` with a pair of keys; call it with the text.

    private_key: the file with the private key, as `eyaml createkeys` writes it
    public_key:  the file with the public key

    The constructor reads nothing. The first call reads both files and keeps the keys. If a file cannot be read, each
    call raises NoKey; lookups then keep the text, as `Encrypted`.

    >>> Pkcs7("private_key.pkcs7.pem", "public_key.pkcs7.pem")
    <Pkcs7 private_key.pkcs7.pem>
    """

    def __init__(self, private_key: str | os.PathLike[str], public_key: str | os.PathLike[str]) -> None:
        self.private_key = pathlib.Path(private_key)
        self.public_key = pathlib.Path(public_key)

    def __call__(self, text: str) -> str:
        """The clear text of one `ENC[SCHEME,...]`.

        raises: NoKey, for another scheme or a key file that cannot be read; BadLookup "cannot_decrypt", which shows
                nothing of the text; MissingExtra
        """
        scheme, _, body = text[4:-1].partition(",")
        if scheme != "PKCS7":
            raise NoKey(f"{scheme} is not decrypted here")
        certificate, key = self._keys
        from cryptography.hazmat.primitives.serialization import pkcs7

        try:
            return pkcs7.pkcs7_decrypt_der(base64.b64decode(body), certificate, key, []).decode("utf-8")
        except Exception:
            hint = "was it encrypted for another one, or damaged?"
            fault = BadLookup(f"{self.private_key} does not decrypt it", kind=CANNOT_DECRYPT, hint=hint)
        raise fault  # outside of `except`: the cause could show the text

    @cached_property
    def _keys(self) -> tuple[Any, Any]:
        try:
            from cryptography import x509
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise missing_extra("cryptography", "eyaml", "decrypting what hiera-eyaml encrypted") from None
        contents = []
        for file in (self.public_key, self.private_key):
            try:
                contents.append(file.read_bytes())
            except OSError as error:
                raise NoKey(f"{file} cannot be read: {error.strerror}") from None
        try:
            return x509.load_pem_x509_certificate(contents[0]), load_pem_private_key(contents[1], None)
        except (ValueError, TypeError):
            hint = "name what `eyaml createkeys` wrote; a key with a password cannot be used"
            raise BadLookup(f"{self.private_key} and {self.public_key} are no keys in PEM", kind=CANNOT_DECRYPT,
                            hint=hint) from None  # fmt: skip

    def __repr__(self) -> str:
        return f"<Pkcs7 {self.private_key}>"


def pkcs7_of(options: Mapping[str, Any], folder: pathlib.Path) -> Pkcs7:
    """The decryption with the keys that the options of a level name, by default keys/*.pkcs7.pem. Reads no key.

    options: the options of the level: pkcs7_private_key, pkcs7_public_key
    folder:  the folder of the hiera.yaml. A relative file is taken from the working directory if it exists there, as in
             Puppet; if not, from this folder
    """
    places = []
    for name in ("private_key", "public_key"):
        place = pathlib.Path(str(options.get(f"pkcs7_{name}") or f"keys/{name}.pkcs7.pem"))
        places.append(place if place.exists() else folder / place)
    return Pkcs7(*places)
