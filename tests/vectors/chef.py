"""The kinds of vectors that Chef answered: attributes, allow lists, run lists, attribute files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nodeattrs import Node
from nodeattrs.chef import (
    AttributeFileOrder,
    Cookbook,
    Environment,
    Role,
    cookbook_order,
    expand_node,
    expand_run_list,
)
from nodeattrs.errors import InvalidRunListItem, NodeattrsError, RoleNotFound
from nodeattrs.store import saved_document
from tests.vectors.cases import Case, Judge
from tests.vectors.chef_program import Program, error_class, plain
from tests.vectors.values import difference

FILE, RECIPE = "attribute file", "recipe"


# --- attributes ---------------------------------------------------------------------


def attributes(case: Case) -> Iterator[str]:
    """The whole program said by an attribute file, and the whole program said by a recipe."""
    for cut in (0, len(case["ops"])):
        yield from _program(case, cut)


def attributes_split(case: Case) -> Iterator[str]:
    """The program once for each point at which the attribute file may hand over to the recipe.

    A source that is held across the cut is covered by no law, so programs that hold one are
    cut at both ends only.
    """
    holds = any(operation["op"] == "hold" and operation["slot"] != "merged" for operation in case["ops"])
    last = len(case["ops"])
    for cut in (0, last) if holds else range(last + 1):
        yield from _program(case, cut)


def _program(case: Case, cut: int) -> Iterator[str]:
    program = Program()
    where = f"attribute file up to operation {cut}, then recipe"
    for number, operation in enumerate(case["ops"]):
        expected = _without_peer(case["expect"]["results"][number])
        got = program.answer(operation, FILE if number < cut else RECIPE)
        if operation["op"] == "json_text" and "ok" in expected:
            expected = {"ok": json.loads(expected["ok"])}
        if fault := difference(expected, got):
            yield f"{where}: operation {number} ({operation['op']}): {fault}"
            return
    state = program.state()
    expected = {name: case["expect"][name] for name in state}
    if fault := difference(expected, state):
        yield f"{where}: at the end: {fault}"


def _without_peer(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "peer"}


# --- allow and block lists ----------------------------------------------------------


def allowlist(case: Case) -> Iterator[str]:
    """The data as a node's default level, saved under the lists."""
    node = Node("node1")
    node.default = case["data"]
    lists = {name: {} if case[name] is None else {"default": case[name]} for name in ("allow", "block")}
    try:
        got = {"saved": saved_document(node, **lists)["default"]}
    except NodeattrsError as error:
        got = {"error": error_class(error)}
    if fault := difference(_without_peer(case["expect"]), got):
        yield fault
    if fault := difference(case["data"], plain(node.default)):
        yield f"saving changed the node: {fault}"


# --- run lists ----------------------------------------------------------------------

EXPANDED = (
    "recipes", "recipes_with_versions", "qualified", "with_duplicates", "roles",
    "default_attributes", "override_attributes", "missing_roles", "trace", "tree",
)  # fmt: skip
"""What an expansion tells of itself, as the vectors name it."""


def expansion(case: Case) -> Iterator[str]:
    """The run list expanded on its own, and then at a node, with what the node has of it."""
    got: dict[str, Any] = {}
    try:
        got.update(_expanded(case))
    except NodeattrsError as error:
        got.update(_normalised(case), error=error_class(error))
    yield from _differences(case, got)


def _differences(case: Case, got: dict[str, Any]) -> Iterator[str]:
    """What differs part by part: in which order a page lists the parts of an answer means nothing."""
    expected = _without_peer(case["expect"])
    for name in {**expected, **got}:
        said, answered = ({name: answer[name]} if name in answer else {} for answer in (expected, got))
        if fault := difference(said, answered):
            yield fault


def _normalised(case: Case) -> dict[str, Any]:
    node = Node("node1")
    try:
        node.run_list = case["run_list"]
    except InvalidRunListItem:
        return {}
    return {"run_list": list(node.run_list)}


def _expanded(case: Case) -> Iterator[tuple[str, Any]]:
    roles = _roles(case)
    environment = Environment(**case.get("environment", {"name": "_default"}))
    expanded = expand_run_list(case["run_list"], roles, environment.name)
    yield "run_list", expanded.run_list
    for name in EXPANDED:
        yield name, getattr(expanded, name)
    node = Node("node1")
    try:
        expand_node(node, roles, {environment.name: environment}, case["run_list"], environment.name)
    except RoleNotFound as error:
        yield "expand_error", error_class(error)
        return
    yield "node_default", plain(node.combined_default)
    yield "node_override", plain(node.combined_override)
    yield "node_automatic", plain(node.automatic)


def _roles(case: Case) -> dict[str, Role]:
    return {name: Role(name=name, **role) for name, role in case.get("roles", {}).items()}


# --- attribute files ----------------------------------------------------------------


def attribute_files(case: Case) -> Iterator[str]:
    """The cookbooks in order, and their attribute files as they load, each making its includes."""
    cookbooks = {
        name: Cookbook(name, depends=dict.fromkeys(said["depends"], ""), files=tuple(said["attribute_files"]))
        for name, said in case["cookbooks"].items()
    }

    def load(cookbook: Cookbook, file: str) -> None:
        for included in case["cookbooks"][cookbook.name]["attribute_files"][file]:
            loader.include(included, here=cookbook.name)

    loader = AttributeFileOrder(cookbooks, load)
    got: dict[str, Any] = {}
    try:
        got["cookbook_order"] = cookbook_order(expand_run_list(case["run_list"], _roles(case)).recipes, cookbooks)
        loader.load(got["cookbook_order"])
    except NodeattrsError as error:
        got["error"] = error_class(error)
    got["loaded"] = loader.loaded
    yield from _differences(case, got)


KINDS: dict[str, dict[str, Judge]] = {
    "chef-attributes": {"whole": attributes, "split": attributes_split},
    "chef-allowlist": {"whole": allowlist},
    "chef-expansion": {"whole": expansion},
    "chef-attribute-files": {"whole": attribute_files},
}
