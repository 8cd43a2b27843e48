"""What in layers is probably meant for a program that reads files otherwise than a fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import CONDITIONAL_DOCUMENT, DOTTED_KEY

_PROFILES: tuple[Path, ...] = (
    ("spring", "config", "activate", "on-profile"),
    ("spring.config.activate.on-profile",),
    ("spring", "profiles"),
    ("spring.profiles",),
)
"""Where Spring says under which profile a document counts; the last two up to version 2.3."""


def doubts(layers: Sequence[Layer]) -> Iterator[DocumentError]:
    """Documents that count under a condition, and keys with dots that some layer has as a path."""
    for layer in layers:
        if isinstance(layer.value, dict):
            yield from _of_profile(layer)
            yield from (_dotted(layer, key) for key in layer.value if _is_path_of(key, layers))


def _of_profile(layer: Layer) -> Iterator[DocumentError]:
    for path in _PROFILES:
        profile = dig(layer.value, path)
        if isinstance(profile, str):
            message = f"Spring takes this document under the profile {profile} alone, and here it counts always"
            yield _warning(layer, path, CONDITIONAL_DOCUMENT, message, "name the documents that count: FILE#1")


def _is_path_of(key: Any, layers: Sequence[Layer]) -> bool:
    steps = tuple(key.split(".")) if isinstance(key, str) else ()
    return len(steps) > 1 and any(dig(one.value, steps) is not ABSENT for one in layers)


def _dotted(layer: Layer, key: str) -> DocumentError:
    message = f"{spell((key,))} is a key of its own, and not the path {key} that is set, too"
    return _warning(layer, (key,), DOTTED_KEY, message, "write both in one way; for Spring they are one")


def _warning(layer: Layer, path: Path, kind: Kind, message: str, hint: str) -> DocumentError:
    at = layer.origin.at(path)
    return DocumentError(message, file=at.file, line=at.line, column=at.column, kind=kind, hint=hint)
