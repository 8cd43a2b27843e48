"""Check the attributes of nodes against a JSON Schema, and report each misfit at the line that set the value.

The schema is the file that `[schema] attributes` in nodeattrs.toml names, else schema/attributes.json or .yaml. The
attributes come from roles, environment and the node's file; cookbooks do not run. So a missing key is reported only for
a node without cookbooks, and a value only if no cookbook may override it. Values may be secret, so they are not shown.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from nodeattrs.core.budget import in_force
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.chef.checks.stacks import Stack
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.expansion import environment_named, expand_run_list, set_layers
from nodeattrs.errors import DocumentError, NodeattrsError, TooMuch, missing_extra
from nodeattrs.formats.documents import Document
from nodeattrs.formats.patterns import BadPattern, expression
from nodeattrs.kinds import AGAINST_SCHEMA
from nodeattrs.node.intake import Intake
from nodeattrs.node.node import Node

_USUAL = ("schema/attributes.json", "schema/attributes.yaml")
_OF_WHAT_IS_MISSING = ("required", "minProperties", "dependentRequired", "minItems", "contains", "not", "oneOf", "if")
"""Keywords of a schema whose result may depend on attributes that only a cookbook sets."""


def _schema_of(repository: Repository) -> Document | None:
    """The JSON Schema of a repository; None for no schema. raises: DocumentError"""
    named = repository.config.schema
    paths = [named] if named else [one for one in _USUAL if (repository.root / one).is_file()]
    return repository.document(pathlib.Path(repository.root / paths[0])) if paths else None


def against_schema(repository: Repository, stacks: list[Stack]) -> Iterator[NodeattrsError]:
    """Yield an error for each attribute that the schema of the repository does not allow, each place once.

    Yields nothing without a schema, and one error for a schema that cannot be used.
    stacks: of the nodes to check
    raises: MissingExtra, without jsonschema; DocumentError, for a schema that cannot be read
    """
    schema = _schema_of(repository)
    if schema is None:
        return
    validator = _validator(schema)
    if isinstance(validator, DocumentError):
        yield validator
        return
    seen: set[tuple[object, ...]] = set()
    for stack in stacks:
        node = _node(repository, stack)
        for fault in _faults(validator, node, schema):
            for found in [fault] if isinstance(fault, DocumentError) else _findings(fault, stack, node, schema):
                place = (found.file, found.line, found.column, found.details)
                if place not in seen:  # one line serves many nodes
                    seen.add(place)
                    yield found


def _validator(schema: Document) -> Any:
    """A validator of jsonschema, with our search for patterns; for a bad schema a DocumentError is returned.

    raises: MissingExtra
    """
    try:
        import jsonschema
        from referencing import Registry
    except ImportError as error:
        raise missing_extra("jsonschema", "schema", "checking a schema") from error
    if not isinstance(schema.tree, (dict, bool)):
        return schema.error("is no JSON Schema: it is a map")
    validator_of = jsonschema.validators.validator_for(schema.tree, default=jsonschema.Draft202012Validator)
    try:
        validator_of.check_schema(schema.tree)
    except jsonschema.SchemaError as error:
        return schema.error(f"is no JSON Schema: {error.message[:200]}", tuple(error.absolute_path))
    at_once = _is_out_of_reach(schema.tree)
    for path, pattern in _patterns(schema.tree):
        try:
            cheap = expression(pattern).is_cheap(in_force().bytes)
        except BadPattern as error:
            return schema.error(f"a pattern that cannot be used: {error.message}", path)
        if at_once and not cheap:
            return schema.error("a pattern that may take too long", path)
    words = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }
    known = {word: function for word, function in words.items() if word in validator_of.VALIDATORS}
    limited = jsonschema.validators.extend(validator_of, known)
    # The registry is empty, so a reference to another schema is an error, and nothing is fetched.
    return limited(schema.tree, registry=Registry())


def _faults(validator: Any, node: Node, schema: Document) -> Iterator[Any]:
    """Yield the errors of jsonschema for a node; a DocumentError if the schema itself fails."""
    from referencing.exceptions import Unresolvable

    try:
        yield from validator.iter_errors(node.to_dict())
    except Unresolvable as error:
        yield schema.error(f"a reference leads nowhere: {error.ref}")
    except RecursionError:
        yield schema.error("the schema leads back to itself")
    except TooMuch as passed:
        yield schema.error(f"a pattern that takes too long: {passed.reason}")


def _patterns(tree: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        if key == "pattern" and isinstance(value, str):
            yield (*path, key), value
        elif key == "patternProperties" and isinstance(value, dict):
            yield from (((*path, key, pattern), pattern) for pattern in value)
        yield from _patterns(value, (*path, key))


def _is_out_of_reach(tree: Any, is_top: bool = True) -> bool:
    """Whether jsonschema may use its own search for patterns: below a nested `$schema`, and unevaluatedProperties."""
    if isinstance(tree, dict):
        if "unevaluatedProperties" in tree or ("$schema" in tree and not is_top):
            return True
        tree = list(tree.values())
    return isinstance(tree, list) and any(_is_out_of_reach(one, False) for one in tree)


# Keywords of JSON Schema that use patterns. They replace the ones of jsonschema, whose search has no limit.


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not expression(pattern).search(instance):
        yield _misfit("does not match a pattern")


def _pattern_properties(validator: Any, patterns: dict[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, inner in patterns.items():
            for key, value in instance.items():
                if expression(pattern).search(str(key)):
                    yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        others = _additional(instance, schema)
        if validator.is_type(inner, "object"):
            for key in others:
                yield from validator.descend(instance[key], inner, path=key)
        elif not inner and others:
            yield _misfit("has keys that the schema does not name")


def _additional(instance: Any, schema: Any) -> list[Any]:
    """The keys of a map that neither `properties` nor a pattern of the schema has."""
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [
        key
        for key in instance
        if key not in named and not any(expression(pattern).search(str(key)) for pattern in patterns)
    ]


def _misfit(message: str) -> Exception:
    import jsonschema

    error: Exception = jsonschema.ValidationError(message)
    return error


def _node(repository: Repository, stack: Stack) -> Node:
    """A node with the attributes of its environment, its roles and its file; without a file an empty node."""
    file = repository.node_document(stack.node)
    if file is None:
        return Node(stack.node)
    config = repository.config
    node = Node(stack.node, environment=file.environment or config.environment or "_default", rules=config.merge)
    node.run_list = file.run_list
    expansion = expand_run_list(node.run_list, repository.role, node.environment)
    expansion.require_roles()
    set_layers(node, expansion, environment_named(node.environment, repository.environment))
    Intake(node).merge_normal(file.normal, file.locator_of("normal"))
    return node


def _findings(fault: Any, stack: Stack, node: Node, schema: Document) -> Iterator[DocumentError]:
    if fault.validator in _OF_WHAT_IS_MISSING and stack.cookbooks:
        return
    line, _ = schema.place(tuple(fault.absolute_schema_path))
    wanted = f"{fault.validator}: {fault.validator_value!r}"
    details = [f"{schema.file}:{line} wants {wanted if len(wanted) <= 120 else fault.validator}"]
    for path in _paths(fault):
        claim = node.trace(path).winner if path else None
        if claim is not None and not stack.is_unknown_above(claim.rank):
            at, who = claim.origin, f" on {stack.node}"
        elif not path:
            at, who = Origin("node", stack.node, f"nodes/{stack.node}.json"), ""
        else:
            continue
        message = f"{spell(path) if path else f'node {stack.node}'} does not fit the schema{who}"
        yield DocumentError(message, file=at.file, line=at.line, column=at.column, details=details, kind=AGAINST_SCHEMA)


def _paths(fault: Any) -> Iterator[Path]:
    """Yield the path of a value that the schema does not allow; for additional properties the path of each."""
    path: Path = tuple(fault.absolute_path)
    if fault.validator != "additionalProperties" or not isinstance(fault.instance, dict):
        yield path
        return
    for key in _additional(fault.instance, fault.schema):
        yield (*path, key)
