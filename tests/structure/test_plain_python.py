"""The standard library is used as it is: no stand-ins, no private names of others, imports at the top."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from tests.structure.sources import ROOT, trees
from tests.structure.statements import statements

ALLOWED = {
    ("core/frames.py", "sys._getframe"): "the line that set a value is a frame; this is the one place",
    ("verbs/comparing.py", "del sys.modules[...]"): "the two sides of a comparison import each its own files",
    ("cli/complete.py", "argparse._AppendAction"): "argparse has no public name for the kinds of its options",
    ("cli/complete.py", "argparse._SubParsersAction"): "",
    ("cli/completion.py", "argparse._SubParsersAction"): "",
    ("cli/help.py", "argparse._MutuallyExclusiveGroup"): "",
    ("cli/manual.py", "argparse._SubParsersAction"): "",
    ("cli/options.py", "argparse._ActionsContainer"): "",
    ("cli/program.py", "argparse._SubParsersAction"): "",
    ("cli/complete.py", "._actions"): "argparse has no public list of a parser's options, groups and commands",
    ("cli/completion.py", "._actions"): "",
    ("cli/completion.py", "._choices_actions"): "",
    ("cli/help.py", "._group_actions"): "",
    ("cli/manual.py", "._action_groups"): "",
    ("cli/manual.py", "._choices_actions"): "",
    ("cli/manual.py", "._group_actions"): "",
    ("cli/program.py", "._actions"): "",
    ("cli/program.py", "._option_string_actions"): "",
    ("cli/help.py", "._action_max_length"): "argparse forgets that the commands are indented",
    (
        "cli/help.py",
        "._format_args",
    ): "argparse spells the value of an option nowhere else",
    ("cli/help.py", "._get_default_metavar_for_optional"): "",
    ("dialects/ansible/rendering.py", "._undefined_exception"): "the API page of Jinja documents this attribute",
    ("dialects/ansible/rendering.py", "._undefined_name"): "the same page",
    ("dialects/cloudinit/templates.py", "._undefined_name"): "",
    ("dialects/ansible/rendering.py", "._undefined_message"): "Jinja has no public way to a message but to raise it",
    ("cli/program.py", "_typeshed.SupportsWrite"): "typeshed documents this module for type checkers",
}
"""File and use -> the reason. An empty reason is that of the line above it."""


Nodes = list[ast.AST]
"""All nodes of a syntax tree."""


def nodes_of(text: str) -> Nodes:
    return [*ast.walk(ast.parse(text))]


def is_private(name: str) -> bool:
    return any(step.startswith("_") and not step.startswith("__") for step in name.split("."))


def private_uses(nodes: Nodes) -> Iterator[str]:
    """The private modules, and private names of modules, of the standard library and of other libraries.

    Of other objects: all private attributes, as `._name`. `uses` leaves out those that the package defines.
    """
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            modules |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if not name.startswith("nodeattrs") and is_private(name))
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in OF_NAMED_TUPLES:
            owner = modules.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
            used = f"{owner}.{node.attr}"
            if not used.startswith("nodeattrs") and used != "os._exit":  # which is public, in spite of its name
                yield used


OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
"""Public, in spite of their names: a field of a NamedTuple cannot begin with "_"."""


def defined_names(nodes: Nodes) -> Iterator[str]:
    """The names of the functions, classes, variables and attributes that a file defines, each as `._name`.

    An attribute that a file only changes, with `+=`, is not among them.
    """
    changed = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield f".{node.name}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield f".{node.id}"
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and id(node) not in changed:
            yield f".{node.attr}"


def changes_of_modules(nodes: Nodes) -> Iterator[str]:
    """The statements that change `sys.modules`, what stands in it, or how modules are found."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from (f"{ast.unparse(one)} = ..." for one in node.targets if names_modules(one))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            yield from ([ast.unparse(node)] if names_modules(node.target) else [])
        elif isinstance(node, ast.Delete):
            yield from ("del sys.modules[...]" for one in node.targets if names_modules(one))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            yield from ([ast.unparse(node)] if names_modules(node.func.value) else [])


CHANGING = {"append", "clear", "insert", "pop", "popitem", "setdefault", "update"}


def names_modules(tree: ast.AST) -> bool:
    """Whether an expression says sys.modules, sys.meta_path or sys.path_hooks."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in {"modules", "meta_path", "path_hooks"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
        for node in ast.walk(tree)
    )


def code_objects(nodes: Nodes) -> Iterator[str]:
    """Where code objects or functions are made by hand. Code of recipes is compiled and run as Python does it."""
    made = {"FunctionType", "CodeType", "CellType"}
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in made:
            yield ast.unparse(node)


def own_constants(nodes: Nodes) -> Iterator[str]:
    """Where `TYPE_CHECKING` is set: it comes from `typing`."""
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == "TYPE_CHECKING" and isinstance(node.ctx, ast.Store):
            yield node.id


NOT_EVERYWHERE = {"fcntl", "grp", "pwd"}
"""Modules of the standard library that Windows does not have."""


def late_imports(nodes: Nodes) -> Iterator[str]:
    """The modules of the standard library that are imported within a function."""
    for function in nodes:
        if isinstance(function, ast.FunctionDef):
            for statement in statements(function):
                for module in imported_modules(statement):
                    if module.partition(".")[0] in sys.stdlib_module_names - NOT_EVERYWHERE:
                        yield module


Check = Callable[[Nodes], Iterator[str]]
WITH_EXCEPTIONS: tuple[Check, ...] = (private_uses, changes_of_modules, code_objects)


@cache
def uses() -> dict[Check, set[tuple[str, str]]]:
    """What each check finds in the package: file and use.

    A private attribute of a library is not found if the package defines the same name somewhere.
    """
    own: set[str] = set()
    found: dict[Check, set[tuple[str, str]]] = {
        check: set() for check in (*WITH_EXCEPTIONS, own_constants, late_imports)
    }
    for file, tree in trees().items():
        nodes = [*ast.walk(tree)]
        own.update(defined_names(nodes))
        for check, places in found.items():
            places.update((file.relative_to(ROOT).as_posix(), use) for use in check(nodes))
    found[private_uses] = {(file, use) for file, use in found[private_uses] if use not in own}
    return found


@pytest.mark.parametrize("check", WITH_EXCEPTIONS)
def test_the_package_uses_no_private_name_of_others_and_changes_no_import(check: Check) -> None:
    assert uses()[check] - ALLOWED.keys() == set()


def test_each_exception_is_still_needed() -> None:
    assert ALLOWED.keys() - set().union(*(uses()[check] for check in WITH_EXCEPTIONS)) == set()


def test_no_module_stands_in_for_one_of_the_standard_library() -> None:
    former = {"records", "typed", "locks", "hashes", "lazily", "starts", "sparing"}

    assert [file for file in ROOT.rglob("*.py") if file.stem in former] == []


def test_type_checkers_and_interpreters_read_the_same_constant() -> None:
    assert uses()[own_constants] == set()


def test_the_standard_library_is_imported_at_the_top_of_a_module() -> None:
    assert uses()[late_imports] == set()


def imported_modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("import re\nre._parser", "re._parser"),
        ("import _sre", "_sre"),
        ("from _thread import RLock", "_thread.RLock"),
        ("from re import _compiler", "re._compiler"),
        ("import sys as s\ns._xoptions", "sys._xoptions"),
        ("parser._actions", "._actions"),
        ("made().protocol._shutdown", "._shutdown"),
    ],
)
def test_a_private_use_is_found(text: str, use: str) -> None:
    assert [*private_uses(nodes_of(text))] == [use]


@pytest.mark.parametrize(
    "text",
    [
        "sys.modules['re'] = x",
        "sys.modules.setdefault('re', x)",
        "del sys.modules['re']",
        "sys.meta_path.insert(0, x)",
        "sys.modules['a'].b = 1",
        "sys.modules['a'].b += 1",
        "sys.modules['re']: object = x",
        "sys.meta_path += [x]",
    ],
)
def test_a_change_of_how_modules_are_found_is_found(text: str) -> None:
    assert len([*changes_of_modules(nodes_of(text))]) == 1
