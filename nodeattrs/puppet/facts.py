"""Maps that Puppet's users keep in JSON or YAML files: facts, trusted facts, the answer of a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of, decoded, parse, standard_input

_OF_A_SERVER = "--- !ruby/object:Puppet::Node::Facts"
"""The first line of a file in which a Puppet server keeps the facts of a node."""


def facts_at(path: Path, file: str | None = None) -> dict[str, Any]:
    """The facts in a file; for a file of a Puppet server its `values`. {} for an empty file.

    path:   `-` is standard input
    file:   its name in messages; *path* itself unless given
    raises: DocumentError; TooMuch
    """
    found = map_at(path, "facts are a map", "write what `facter --json` prints", file)
    is_of_a_server = isinstance(found.get("values"), dict) and isinstance(found.get("name"), str)
    return found["values"] if is_of_a_server else found


def map_at(path: Path, message: str, hint: str | None = None, file: str | None = None) -> dict[str, Any]:
    """The map in a JSON or YAML file; {} for an empty file.

    path:    `-` is standard input
    message: the error where the file contains another value
    hint:    the way out for that error
    file:    its name in messages; *path* itself unless given
    raises:  DocumentError; TooMuch
    """
    name = path.as_posix() if file is None else file
    if name == "-":
        return map_in(decoded(standard_input(), "standard input"), "standard input", message, hint)
    return map_in(decoded(content_of(path, name), name).removeprefix(_OF_A_SERVER), name, message, hint)


def map_in(text: str, file: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """The map in a text; {} for an empty text.

    A text that begins with a brace is JSON, unless *file* ends in .yaml or .yml; any other text is YAML.
    message: the error where the text contains another value
    hint:    the way out for that error
    raises:  DocumentError; TooMuch
    """
    is_json = not file.endswith((".yaml", ".yml")) and text.lstrip().startswith("{")
    tree = parse(text, file, "json" if is_json else "yaml").tree
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise DocumentError(message, file=file, hint=hint)
    return tree
