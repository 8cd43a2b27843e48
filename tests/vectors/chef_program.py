"""One program of the chef-attributes vectors, performed on a node.

Each operation of the table in `chef-attributes.jsonl.md` is one public call, or the chain
of index steps that its row describes; the spelling is DESIGN's table of Ruby in Python. Nothing is
computed here that the node should compute.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from nodeattrs import Node, Symbol, lazy
from nodeattrs.chef import (
    Environment,
    Role,
    apply_expansion,
    consume_external,
    consume_facts,
    expand_node,
    reset_defaults_and_overrides,
    setting_as,
    walk,
)
from nodeattrs.errors import (
    AmbiguousRunList,
    AttributeFileNotFound,
    AttributeIsReadOnly,
    BadArgument,
    CookbookNotFound,
    CookbookVersionConflict,
    EnvironmentNotFound,
    InvalidRunListItem,
    NoSuchAttribute,
    NullInTheWay,
    RoleNotFound,
    TypeConflict,
    UnknownName,
)
from nodeattrs.store import saved_document
from tests.vectors.values import decoded, encoded

COMPONENTS = (
    "default", "env_default", "role_default", "force_default", "normal",
    "override", "role_override", "env_override", "force_override", "automatic",
)  # fmt: skip

Path = Sequence[Any]

Deferred = type(lazy(lambda: None))

ERROR_CLASSES: tuple[tuple[type[Exception], str], ...] = (
    (AttributeIsReadOnly, "immutable"),
    (NoSuchAttribute, "no_such_attribute"),
    (NullInTheWay, "nil_access"),
    (TypeConflict, "type_conflict"),
    (UnknownName, "unknown_name"),
    (BadArgument, "bad_argument"),
    (RoleNotFound, "missing_role"),
    (EnvironmentNotFound, "environment_not_found"),
    (AmbiguousRunList, "ambiguous_run_list"),
    (InvalidRunListItem, "invalid_item"),
    (CookbookVersionConflict, "cookbook_version_conflict"),
    (CookbookNotFound, "cookbook_not_found"),
    (AttributeFileNotFound, "attribute_file_not_found"),
)


def error_class(error: Exception) -> str:
    """What the vectors call this error.

    A chain of index steps that reaches null or a scalar is Python's to refuse: `None["b"]` and
    `5["b"]` are its TypeError, `None.append` its AttributeError. It counts only where the chain itself
    stands, in this file; the same error out of the library is a fault of the library.

    raises: the error itself, where it is none of these
    """
    for kind, name in ERROR_CLASSES:
        if isinstance(error, kind):
            return name
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if isinstance(error, TypeError | AttributeError) and frame.f_code.co_filename == error_class.__code__.co_filename:
        return "nil_access" if "'NoneType' object" in str(error) else "type_conflict"
    raise error


def plain(value: Any) -> Any:
    """Plain data out of whatever the node hands out; deferred values stay as they are."""
    if hasattr(value, "to_dict"):
        return value.to_dict(evaluate=False)
    if hasattr(value, "to_list"):
        return value.to_list(evaluate=False)
    return value


def stepped(thing: Any, path: Path) -> Any:
    for key in path:
        thing = thing[key]
    return thing


class Program:
    """A node and what a program holds of it."""

    def __init__(self) -> None:
        self.node = Node("node1")
        self.held: dict[str, Any] = {}

    def answer(self, operation: dict[str, Any], speaker: str) -> dict[str, Any]:
        """Perform one operation set by *speaker*; its result or error class as the vectors write it."""
        call, arguments = self._call(self._decoded(operation))
        try:
            with setting_as(self.node, speaker, "cookbook"):
                result = plain(call(**arguments))
        except Exception as error:
            return {"error": error_class(error)}
        return {"ok": self._encoded(result)}

    def state(self) -> dict[str, Any]:
        """The four things that a case compares after its last operation."""
        components = {name: plain(getattr(self.node, name)) for name in COMPONENTS}
        return {
            "merged": self._encoded(plain(self.node)),
            "combined_default": self._encoded(plain(self.node.combined_default)),
            "combined_override": self._encoded(plain(self.node.combined_override)),
            "slots": {name: self._encoded(tree) for name, tree in components.items() if tree},
        }

    def _call(self, operation: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        name = "do_" + operation["op"].replace("!", "_strict").replace("?", "")
        if not hasattr(self, name):
            raise NotImplementedError(f"{operation['op']} has no counterpart in Python")
        return getattr(self, name), {key: value for key, value in operation.items() if key != "op"}

    def _decoded(self, value: Any) -> Any:
        # A deferred value asks the node that the program has by then, also after a reload.
        return decoded(value, Symbol, lambda path: lazy(lambda: walk(self.node, *path)))

    def _encoded(self, value: Any) -> Any:
        return encoded(value, Symbol, Deferred)

    # reading the merged tree

    def do_get(self, path: Path) -> Any:
        return walk(self.node, *path)

    def do_read(self, path: Path) -> Any:
        return self.node.read(*path)

    def do_dig(self, path: Path) -> Any:
        return self.node.dig(*path)

    def do_read_strict(self, path: Path) -> Any:
        return self.node.read_strict(*path)

    def do_exist(self, path: Path) -> Any:
        return self.node.exist(*path)

    def do_attribute(self, key: Any) -> Any:
        return self.node.has_attribute(key)

    def do_attribute_at(self, path: Path, key: Any) -> Any:
        return key in walk(self.node, *path)

    def do_keys(self) -> Any:
        return list(self.node.keys())

    def do_merged(self, path: Path) -> Any:
        return self.node.merged(*path)

    def do_combined_default(self, path: Path) -> Any:
        return self.node.combined_default(*path)

    def do_combined_override(self, path: Path) -> Any:
        return self.node.combined_override(*path)

    def do_debug_value(self, path: Path) -> Any:
        pairs = self.node.debug_value(*path)
        return [[name] if value == "not_present" else [name, plain(value)] for name, value in pairs]

    # one component

    def _component(self, name: str) -> Any:
        return getattr(self.node, name)

    def do_set(self, slot: str, path: Path, value: Any) -> None:
        stepped(self._component(slot), path[:-1])[path[-1]] = value

    def do_level_get(self, slot: str, path: Path) -> Any:
        return stepped(self._component(slot), path)

    def do_level_read(self, slot: str, path: Path) -> Any:
        return self._component(slot).read(*path)

    def do_level_read_strict(self, slot: str, path: Path) -> Any:
        return self._component(slot).read_strict(*path)

    def do_level_exist(self, slot: str, path: Path) -> Any:
        return self._component(slot).exist(*path)

    def do_delete(self, slot: str, path: Path) -> Any:
        return stepped(self._component(slot), path[:-1]).delete(path[-1])

    def do_array(self, slot: str, path: Path, method: str, args: list[Any]) -> Any:
        return in_place(stepped(self._component(slot), path), method, args)

    def do_hash(self, slot: str, path: Path, method: str, args: list[Any]) -> Any:
        writer = stepped(self._component(slot), path)
        if hasattr(writer, "to_list"):  # some names are methods of lists too, and the operation asks for a map
            raise TypeConflict("a list, where a map was to be changed")
        getattr(writer, method)(*args)
        return writer

    def do_replace_slot(self, slot: str, value: Any) -> None:
        setattr(self.node, slot, value)

    def do_set_unless(self, level: str, path: Path, value: Any) -> Any:
        return getattr(self.node, f"{level}_unless")(*path, value)

    def do_unless_chain(self, level: str, path: Path, value: Any) -> None:
        stepped(getattr(self.node, f"{level}_unless"), path[:-1])[path[-1]] = value

    def do_assign(self, level: str, path: Path, value: Any) -> Any:
        return getattr(self.node, f"{level}_full")(*path, value)

    def do_assign_chain(self, level: str, path: Path, value: Any) -> None:
        stepped(getattr(self.node, f"{level}_full"), path[:-1])[path[-1]] = value

    def do_write(self, level: str, path: Path, value: Any) -> Any:
        return self.node.write(level, *path, value)

    def do_write_strict(self, level: str, path: Path, value: Any) -> Any:
        return self.node.write_strict(level, *path, value)

    # removing

    def do_unlink(self, level: str, path: Path) -> Any:
        return self.node.unlink(level, *path)

    def do_unlink_strict(self, level: str, path: Path) -> Any:
        return self.node.unlink_strict(level, *path)

    def do_rm(self, path: Path) -> Any:
        return self.node.rm(*path)

    def do_rm_default(self, path: Path) -> Any:
        return self.node.rm_default(*path)

    def do_rm_normal(self, path: Path) -> Any:
        return self.node.rm_normal(*path)

    def do_rm_override(self, path: Path) -> Any:
        return self.node.rm_override(*path)

    # writing through the merged view

    def _view(self, path: Path) -> Any:
        return walk(self.node, *path) if path else self.node

    def do_set_merged(self, path: Path, value: Any) -> None:
        self._view(path[:-1])[path[-1]] = value

    def do_delete_merged(self, path: Path) -> None:
        del self._view(path[:-1])[path[-1]]

    def do_array_merged(self, path: Path, method: str, args: list[Any]) -> Any:
        return in_place(self._view(path), method, args)

    def do_hash_merged(self, path: Path, method: str, args: list[Any]) -> Any:
        return getattr(self._view(path), method)(*args)

    # references and the caller's own data

    def do_copy(self, slot: str, path: Path, from_slot: str, **origin: Path) -> None:
        source = origin["from"]
        value = walk(self.node, *source) if from_slot == "merged" else stepped(self._component(from_slot), source)
        self.do_set(slot, path, value)

    def do_hold(self, name: str, slot: str, path: Path) -> None:
        self.held[name] = self._view(path) if slot == "merged" else stepped(self._component(slot), path)

    def do_hold_value(self, name: str, value: Any) -> None:
        self.held[name] = value

    def do_set_held(self, slot: str, path: Path, name: str) -> None:
        self.do_set(slot, path, self.held[name])

    def do_held_get(self, name: str, path: Path) -> Any:
        return stepped(self.held[name], path)

    def do_held_set(self, name: str, path: Path, value: Any) -> None:
        stepped(self.held[name], path[:-1])[path[-1]] = value

    def do_held_array(self, name: str, path: Path, method: str, args: list[Any]) -> Any:
        return in_place(stepped(self.held[name], path), method, args)

    # runs

    def do_reset_defaults_and_overrides(self) -> None:
        reset_defaults_and_overrides(self.node)

    def do_apply_expansion(self, role_default: Any, role_override: Any, environment: Any = None) -> None:
        apply_expansion(self.node, role_default, role_override, environment and Environment(**environment))

    def do_expand(self, roles: Any, run_list: Any = None, environment: Any = None) -> Any:
        expansion = expand_node(
            self.node,
            {name: Role(name=name, **role) for name, role in roles.items()},
            {environment["name"]: Environment(**environment)} if environment else {},
            run_list=run_list,
            environment=environment and environment["name"],
        )
        return {"recipes": list(expansion.recipes), "roles": list(expansion.roles)}

    def do_consume_external(self, ohai: Any, json: Any) -> None:
        consume_external(self.node, ohai, json, guid="guid-1")

    def do_consume_ohai(self, ohai: Any) -> None:
        consume_facts(self.node, ohai, guid="guid-1")

    def do_tags(self) -> Any:
        return self.node.tags

    def do_tag(self, args: list[str]) -> Any:
        return self.node.tag(*args)

    def do_untag(self, args: list[str]) -> Any:
        return self.node.untag(*args)

    def do_run_list(self, items: list[str]) -> Any:
        self.node.run_list = items
        return list(self.node.run_list)

    def do_environment(self, value: str) -> Any:
        self.node.environment = value
        return self.node.environment

    def do_for_json(self) -> Any:
        return self.node.to_chef()

    def do_json_text(self) -> Any:
        return json.loads(self.node.to_chef_json())

    def do_to_hash(self) -> Any:
        return self.node.to_hash()

    def do_save(self, allow: Any = None, block: Any = None, whitelist: Any = None) -> Any:
        return saved_document(self.node, allow={**(allow or {}), **(whitelist or {})}, block=block or {})

    def do_reload(self) -> None:
        self.node = Node.from_chef(self.node.to_chef())

    def do_next_run(self, ohai: Any = None, json: Any = None) -> None:
        self.do_reload()
        reset_defaults_and_overrides(self.node)
        if ohai is not None or json is not None:
            self.do_consume_external(ohai or {}, json or {})

    def do_peer_api(self, name: str, path: Path) -> Any:
        return getattr(self.node, name)


IN_PLACE_RESULT = ("pop", "shift", "delete", "delete_at", "uniq")
"""List methods whose own result counts; after the others it is the list as it then is."""


def in_place(elements: Any, method: str, args: list[Any]) -> Any:
    """One in-place change of a list writer, of a merged list, or of the caller's own list."""
    if hasattr(elements, "to_dict"):  # some names are methods of maps too, and the operation asks for a list
        raise TypeConflict("a map, where a list was to be changed")
    if method == "set_at":
        index, elements[index] = args
        return elements
    result = getattr(elements, method)(*args)
    return result if method in IN_PLACE_RESULT else elements
