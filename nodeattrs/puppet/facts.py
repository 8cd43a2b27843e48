"""Facts, trusted facts and answers of a node classifier, as JSON or YAML in files and on standard input.

A classifier (ENC) names the environment and the variables of one node. PuppetDB answers with rows, each with a
certname. Nothing is asked over the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import NO_ENTRIES
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of, decoded, parse, standard_input

_OF_A_SERVER = "--- !ruby/object:Puppet::Node::Facts"
"""The first line of a file in which a Puppet server keeps the facts of a node."""


_OF_A_CLASSIFIER = {"classes", "parameters", "environment"}
"""What the answer of a classifier may have."""

_ANSWERS = "write what /inventory, /factsets, /facts or /nodes of PuppetDB answers"


class NodeFacts(NamedTuple):
    """The facts of a node, and what a classifier or PuppetDB says of it.

    facts:       trusted facts included, as "trusted"
    environment: None where it is not known
    variables:   the variables that a classifier sets for the node
    """

    facts: dict[str, Any]
    environment: str | None = None
    variables: Mapping[str, Any] = NO_ENTRIES


def nodes_at(path: Path, file: str | None = None) -> dict[str, NodeFacts]:
    """The nodes in a file of facts: name -> NodeFacts; the facts of a single node without a name are under "".

    The file is an answer of PuppetDB to /inventory, /factsets, /facts or /nodes, or the answer of a classifier for one
    node. Or it has the facts of one node, as `facter` prints them, or as a Puppet server keeps them.
    An empty file gives {"": no facts}, an empty list of PuppetDB gives {}.
    path:   `-` is standard input
    file:   its name in messages; *path* itself unless given
    raises: DocumentError; TooMuch
    cost:   one read of the file; equal content is parsed once in a process, and callers must not change the result
    """
    content, name = _read(path, file)
    return CACHE.get((nodes_at, name, in_force(), sha256(content).digest()), partial(_nodes_in, content, name))


def _read(path: Path, file: str | None = None) -> tuple[bytes, str]:
    """Returns (content of the file, its name in messages); `-` is standard input."""
    name = path.as_posix() if file is None else file
    return (standard_input(), "standard input") if name == "-" else (content_of(path, name), name)


def _nodes_in(content: bytes, name: str) -> dict[str, NodeFacts]:
    tree = _tree_in(decoded(content, name).removeprefix(_OF_A_SERVER), name)
    if isinstance(tree, dict) and "certname" in tree and isinstance(tree.get("facts"), dict):
        tree = [tree]
    if isinstance(tree, list):
        return _of_puppetdb(tree, name)
    found = _map(tree, name, "facts are a map, or an answer of PuppetDB", "write what `facter --json` prints")
    if _OF_A_CLASSIFIER.issuperset(found) and ("classes" in found or "parameters" in found):
        return {"": classified(found, name)}
    is_of_a_server = isinstance(found.get("values"), dict) and isinstance(found.get("name"), str)
    return {"": NodeFacts(found["values"] if is_of_a_server else found)}


def classified(answer: Mapping[str, Any], file: str) -> NodeFacts:
    """The environment and the variables ("parameters") in the answer of a classifier, without facts.

    Its classes set no variables and are left out.
    raises: DocumentError, where the environment is not a text or the parameters are not a map
    """
    environment, variables = answer.get("environment"), answer.get("parameters") or {}
    if not isinstance(environment or "", str) or not isinstance(variables, dict):
        raise DocumentError("an environment is a text, and parameters are a map", file=file)
    return NodeFacts({}, environment or None, variables)


def _of_puppetdb(rows: list[Any], file: str) -> dict[str, NodeFacts]:
    """The nodes in rows of /inventory, of /factsets, of /facts, or of /nodes, which has no facts.

    raises: DocumentError
    """
    nodes: dict[str, NodeFacts] = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("certname"), str) or not row["certname"]:
            raise DocumentError("an answer of PuppetDB is a list of maps, each with a certname", file=file,
                                hint=_ANSWERS)  # fmt: skip
        given = _facts_in(row, file)
        given |= {"trusted": row["trusted"]} if isinstance(row.get("trusted"), dict) else {}
        environment = row.get("environment") or row.get("facts_environment")
        known = nodes.setdefault(row["certname"], NodeFacts({}, environment if isinstance(environment, str) else None))
        known.facts.update(given)
    return nodes


def _facts_in(row: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The facts in one row: a map, the list of /factsets, or one fact. raises: DocumentError"""
    facts = row.get("facts")
    if isinstance(facts, dict) and "href" in facts and facts.keys() <= {"href", "data"}:
        facts = facts.get("data")
        if not isinstance(facts, list) or not all(isinstance(one, dict) and "name" in one for one in facts):
            raise DocumentError(f"has no facts of {row['certname']}, only where PuppetDB has them", file=file,
                                hint=_ANSWERS)  # fmt: skip
        return {str(one["name"]): one.get("value") for one in facts}
    if isinstance(row.get("path"), list):
        raise DocumentError("has parts of facts, as /fact-contents answers", file=file, hint=_ANSWERS)
    if isinstance(row.get("name"), str):
        return {row["name"]: row.get("value")}
    return dict(facts) if isinstance(facts, dict) else {}


def node_at(path: Path, file: str | None = None) -> NodeFacts:
    """The facts of the only node in a file; a NodeFacts without facts for an empty file.

    path:   `-` is standard input
    file:   its name in messages; *path* itself unless given
    raises: DocumentError, also where the file has the facts of several nodes; TooMuch
    """
    nodes = nodes_at(path, file)
    if len(nodes) > 1:
        name = path.as_posix() if file is None else file
        raise DocumentError(f"has the facts of {len(nodes)} nodes, and one node is wanted", file=name,
                            hint="name a file with the facts of one node")  # fmt: skip
    return next(iter(nodes.values())) if nodes else NodeFacts({})


def _tree_in(text: str, file: str) -> Any:
    is_json = not file.endswith((".yaml", ".yml")) and text.lstrip().startswith(("{", "["))
    return parse(text, file, "json" if is_json else "yaml").tree


def _map(tree: Any, file: str, message: str, hint: str | None) -> dict[str, Any]:
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise DocumentError(message, file=file, hint=hint)
    return tree


def map_at(path: Path, message: str, hint: str | None = None) -> dict[str, Any]:
    """The map in a JSON or YAML file; {} for an empty file.

    path:    `-` is standard input
    message: the error where the file contains another value
    hint:    the way out for that error
    raises:  DocumentError; TooMuch
    """
    content, name = _read(path)
    return map_in(decoded(content, name).removeprefix(_OF_A_SERVER), name, message, hint)


def map_in(text: str, file: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """The map in a text; {} for an empty text.

    A text that begins with a brace or bracket is JSON, unless *file* ends in .yaml or .yml; any other text is YAML.
    message: the error where the text contains another value
    hint:    the way out for that error
    raises:  DocumentError; TooMuch
    """
    return _map(_tree_in(text, file), file, message, hint)
