"""Docstrings that say too little, point at private names, or explain a parameter that is not there."""

import ast
import re
from collections.abc import Iterator

from tests.structure.sources import trees

BUDGETS = {"four words or fewer": 6, "begins with a pronoun": 1, "private name": 2, "parameter that is not there": 2}
"""How many public docstrings may be so. A lower count asks for a lower budget."""
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def public(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in body:
        if isinstance(node, DEFINITIONS) and not re.match("_(?!_)", node.name):
            yield node
            yield from public(node.body if isinstance(node, ast.ClassDef) else [])


def faults_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    """A class may explain each name that stands in it, and any name where it inherits."""
    text = ast.get_docstring(node) or "A docstring is not needed."
    rows = re.findall(r"^(\w+(?:, \w+)*):\s", text.partition(">>>")[0], re.MULTILINE)
    inside = ast.walk(node if isinstance(node, ast.ClassDef) else node.args)
    known = {getattr(one, field, "") for one in inside for field in ("arg", "id", "attr", "name")}
    named = {name for row in rows for name in row.split(", ")} - known - {"raises", "cost", "source"}
    private, pronoun = re.search(r"`_[a-z]\w*`", text), re.match(r"(It|Its|This|These|Such|Those)\b", text)
    found = (len(text.split()) <= 4, pronoun, private, named and not getattr(node, "bases", ()))
    yield from (fault for fault, is_there in zip(BUDGETS, found, strict=True) if is_there)


def test_every_budget_of_docstrings_is_the_number_of_places():
    places: dict[str, list[str]] = {fault: [] for fault in BUDGETS}
    for file, tree in trees().items():
        for one in public(tree.body):
            for fault in faults_of(one):
                places[fault].append(f"{file}:{one.lineno}")
    for fault, budget in BUDGETS.items():
        found = places[fault]
        assert len(found) == budget, f"{fault}: {len(found)}, and the budget is {budget}: {', '.join(found)}"
