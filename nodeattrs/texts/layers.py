"""A file as a layer of a fold, each of its values with its line."""

from __future__ import annotations

import pathlib
import warnings

from nodeattrs.core.borders import A_PATH, taking
from nodeattrs.core.budget import Budget
from nodeattrs.core.fold import Layer
from nodeattrs.errors import DocumentError
from nodeattrs.texts.documents import read


@taking(path=A_PATH, name=str, kind=str, budget=Budget | None)
def read_layer(path: str | pathlib.Path, name: str = "", kind: str = "file", *, budget: Budget | None = None) -> Layer:
    """The layer that a JSON, YAML or TOML file says; an empty file says nothing.

    name:   what explanations call it; the file's name without its ending when empty
    budget: what is drawn on; one of its own unless given
    raises: DocumentError, with file and line
    warns:  UserWarning, for a key that one map has twice
    """
    where = pathlib.Path(path)
    document = read(where, where.as_posix(), budget)
    for warning in document.warnings:
        warnings.warn(str(warning), stacklevel=3)
    tree = {} if document.tree is None else document.tree
    if not isinstance(tree, dict):
        raise DocumentError(f"a layer is a map, and this is a {type(tree).__name__}", file=document.file)
    return Layer(tree, document.locator(kind, name or where.stem))
