"""A file as a layer of a fold, each of its values with its line."""

from __future__ import annotations

import os
import pathlib
import warnings

from nodeattrs.core.fold import Layer
from nodeattrs.errors import DocumentError, wrong_argument
from nodeattrs.texts.documents import read

__all__ = ["read_layer"]


def read_layer(path: str | pathlib.Path, name: str = "", kind: str = "file") -> Layer:
    """The layer that a JSON, YAML or TOML file says; an empty file says nothing.

    name:   what explanations call it; the file's name without its ending when empty
    raises: DocumentError, with file and line
    warns:  UserWarning, for a key that one map has twice
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_argument("the file of a layer", "a path", path, 'read_layer("web1.yaml")')
    where = pathlib.Path(path)
    document = read(where, where.as_posix())
    for warning in document.warnings:
        warnings.warn(str(warning), stacklevel=2)
    tree = {} if document.tree is None else document.tree
    if not isinstance(tree, dict):
        raise DocumentError(f"a layer is a map, and this is a {type(tree).__name__}", file=document.file)
    return Layer(tree, document.locator(kind, name or where.stem))
