"""Scalars of YAML as the libraries of Go read them: for files of Helm, Docker Compose, Argo CD, Flux and helmfile.

They differ from PyYAML: `22:22` is a text, `1e3` and `0o17` are numbers. For Docker Compose `yes` and `off` are texts.
For Helm `y` and `n` are booleans, also as keys, and each scalar except null may be a key.

source: go-yaml 2 and 4, resolve.go; sigs.k8s.io/yaml, yaml.go
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

from nodeattrs.formats.tags import KEY, Tags
from nodeattrs.formats.yaml_events import YAML

_INTEGER = re.compile(r"[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", re.ASCII)
_OCTAL = re.compile(r"^([-+]?)0[oO]?(?=[0-7])")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)_(?=\d)", re.ASCII)
_LONGEST = 40
"""Characters of a number that is read here; a longer one is read as in any YAML."""


def true_or_false(text: str) -> Any:
    """The value of a plain `true` or `false`; any other text is returned unchanged."""
    return {"true": True, "false": False}.get(text.lower(), text)


def _number(text: str) -> Any:
    """The number that a plain scalar is in Go; any other text is returned unchanged.

    None for `.inf` and `.nan`, and for a very long text: these are read as in any YAML.
    """
    if len(text) > _LONGEST or text.lstrip("+-").lower() in (".inf", ".nan"):
        return None
    plain = _BETWEEN_DIGITS.sub("", text) if text.startswith((".", "_")) else text.replace("_", "")
    if _INTEGER.fullmatch(plain):
        return int(_OCTAL.sub(r"\g<1>0o", plain), 0)
    number = float(plain) if _FLOAT.fullmatch(plain) else math.nan
    return number if math.isfinite(number) else text


def _helm_scalar(text: str) -> Any:
    return {"y": True, "n": False}[text.lower()] if text in ("y", "Y", "n", "N") else _number(text)


def _helm_key(value: Any) -> str | None:
    """The text that a key is in Helm; None for null, which Helm refuses.

    >>> [_helm_key(value) for value in (True, 80, 0.5, 1000000.0, 0.1234567890123, None)]
    ['true', '80', '0.5', '1e+06', '0.12345679', None]
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, (int, float)):
        return _single(value)
    return value if isinstance(value, str) else None


def _single(number: float) -> str:
    """The shortest text of the number in single precision, as Go writes it."""
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return ".inf" if number > 0 else "-.inf"
    texts = (f"{rounded:.{digits}e}" for digits in range(9))
    shortest = next(text for text in texts if struct.pack("<f", float(text)) == struct.pack("<f", rounded))
    return f"{float(shortest):.15g}" if -4 <= int(shortest.partition("e")[2]) < 6 else shortest


GO: Tags = {f"{YAML}{name}": _number for name in ("int", "float", "str")}
"""For netplan, which has numbers as Go has them: tag -> a function from the text of a scalar to its value."""
HELM: Tags = {**GO, f"{YAML}str": _helm_scalar, KEY: _helm_key}
"""For Helm, and for manifests of Kubernetes."""
COMPOSE: Tags = {**GO, f"{YAML}bool": true_or_false}
"""For Docker Compose."""
