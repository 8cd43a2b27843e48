"""The words that people read: each has one meaning, and public names and help keep to them."""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nodeattrs.cli.program import parser
from tests.structure.sources import trees

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
USERS = DOCS / "glossary.md"
PAGES = [ROOT / "README.md", *DOCS.rglob("*.md")]
PUBLIC = re.search(r"\| names to import \|(.*)\|", (DOCS / "stability.md").read_text(encoding="utf-8"))
assert PUBLIC is not None
MODULES = re.findall(r"`(nodeattrs[\w.]*)`", PUBLIC[1])

_REPLACED = (
    r"\b(voices?|hear|hears|heard|hearing|tells?|told|fates?|sinks?|sunk|adopts?|unfolds?|unfolding|desks?"
    r"|workshops?|worlds?|speaks?|spoke|spoken|speakers?|handfuls?|beats?|beaten)\b|what (it|they) came to"
)
UNWANTED = re.compile(_REPLACED + r"|\bpsych\b|said by|lays? over|nobody has said", re.IGNORECASE)
"""Words that set, report, source and merge have replaced."""
IN_CODE = re.compile(_REPLACED + r"|\bsaid\b", re.IGNORECASE)
"""In code others too: a manual has said something, a program has set it."""
OF_A_FORMAT = {"speaker"}
"""A key of the vectors, which others write too."""


def rows(page: Path) -> list[str]:
    """The words that a page explains, as its tables have them."""
    found = re.findall(r"^\| ([^|]+) \| [^|]", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [word.strip() for row in found for word in row.split(",") if row not in ("word", "---")]


def words_of(name: str) -> str:
    """A name as words: `merge_layers` and `MergeLayers` are "merge layers"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Names and values of what a module gives; errors are named by what they say."""
    if module.__name__ == "nodeattrs.recipe":
        return  # its names are Chef's, and known only while a recipe runs
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    for name in names:
        value = getattr(module, name)
        is_error = inspect.isclass(value) and issubclass(value, Exception)
        home = getattr(value, "__module__", "nodeattrs")
        if not is_error and home.startswith("nodeattrs"):
            yield name, value


def members(module: ModuleType) -> Iterator[str]:
    """The public names of a module, of its classes' members, and of their parameters."""
    for name, value in public(module):
        yield name
        inside = vars(value) if inspect.isclass(value) else {}
        for one, member in [(name, value), *inside.items()]:
            if one.startswith("_"):
                continue
            yield one
            if inspect.isfunction(member):
                yield from inspect.signature(member).parameters


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that a source gives or asks for: of modules, classes, functions, parameters, attributes, variables."""
    for node in nodes:
        for field in ("name", "id", "attr", "arg", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every text of a source: docstrings, messages, words of forms."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def helps(command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each command with its help, those below it as well."""
    yield command.prog, command.format_help()
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from helps(inner)


HELPS = dict(helps(parser()))


class TestGlossary:
    def test_a_word_has_one_meaning(self):
        twice = [word for word, count in Counter(rows(USERS)).items() if count > 1]

        assert [] == twice

    def test_the_glossary_has_sixty_entries_at_most(self):
        assert 60 >= len(rows(USERS))

    @pytest.mark.parametrize("word", ["set", "overrides", "source", "origin", "provenance", "layer", "level", "slot"])
    def test_the_words_of_the_field_are_there(self, word: str):
        assert word in rows(USERS)

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
    def test_pages_use_them(self, page: Path):
        """
        And none of those that they have replaced; code aside, which quotes others.
        """
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)

        assert [] == [found[0] for found in UNWANTED.finditer(text)]

    @pytest.mark.parametrize("module", MODULES)
    def test_public_names_use_them(self, module: str):
        names = set(members(importlib.import_module(module)))

        assert [] == sorted(name for name in names if UNWANTED.search(words_of(name)))

    def test_code_uses_them(self):
        """
        In all names, public or not, in docstrings and in messages.
        """
        found = []
        for source, tree in trees().items():
            nodes = [*ast.walk(tree)]
            written = [*map(words_of, dict.fromkeys(identifiers(nodes))), *texts(nodes)]
            unwanted = [text for text in written if IN_CODE.search(text) and text not in OF_A_FORMAT]
            found += [(str(source.relative_to(ROOT)), text) for text in unwanted]

        assert [] == found

    @pytest.mark.parametrize("command", HELPS)
    def test_help_uses_them(self, command: str):
        assert [] == [found[0] for found in UNWANTED.finditer(HELPS[command])]
