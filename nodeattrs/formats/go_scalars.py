"""Scalars of YAML as the libraries of Go read them: for files of Helm, Docker Compose, Argo CD, Flux and helmfile.

They differ from PyYAML: `22:22` is a text, `1e3` and `0o17` are numbers. For Docker Compose `yes` and `off` are texts.

source: go-yaml 2 and 4, resolve.go
"""

from __future__ import annotations

import math
import re
from typing import Any

from nodeattrs.formats.tags import Tags
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


HELM: Tags = {f"{YAML}{name}": _number for name in ("int", "float", "str")}
"""For Helm, and for manifests of Kubernetes: tag -> a function from the text of a scalar to its value."""
COMPOSE: Tags = {**HELM, f"{YAML}bool": true_or_false}
"""For Docker Compose."""
