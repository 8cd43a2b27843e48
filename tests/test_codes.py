"""Every error, warning and finding has one code, every code one entry, and the page is made of them."""

from __future__ import annotations

import ast
import importlib
import pickle
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import nodeattrs
from nodeattrs import errors
from nodeattrs.bindings import BindingError, BindingErrors, Injector, parse_sets
from nodeattrs.cli import main
from nodeattrs.cloudinit import WARNINGS
from nodeattrs.codes import Code, codes, kind, other_kind
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.kinds import REPEATED_KEY
from tests.structure.sources import trees
from tests.structure.statements import statements

ROOT = Path(__file__).parents[1]
FAMILY = {"hiera": "HieraError", "bindings": "BindingError"}


def family() -> list[type[NodeattrsError]]:
    """Every error class of ours, wherever it is defined."""
    for module in pkgutil.walk_packages(nodeattrs.__path__, "nodeattrs."):
        is_old_name = module.name.startswith("nodeattrs.adapters.") or module.name in (
            "nodeattrs.keep",
            "nodeattrs.runs",
        )
        if not module.name.endswith("__main__") and not is_old_name:
            importlib.import_module(module.name)
    found = [NodeattrsError]
    for one in found:
        found += [other for other in one.__subclasses__() if other not in found]
    return [one for one in found if one.__module__.startswith("nodeattrs.")]


def modules_with(word: str) -> Iterator[tuple[Path, ast.Module]]:
    """Each module of the package in which a word stands, and its syntax tree."""
    for file, tree in trees().items():
        if word in file.read_text("utf-8"):
            yield file, tree


def spelled_kinds() -> Iterator[str]:
    """The place of each text that an error takes as its kind, where a declared constant belongs."""
    classes = {one.__name__ for one in family()}
    for file, tree in modules_with("kind"):
        for node in ast.walk(tree):
            values: list[ast.expr] = []
            if isinstance(node, ast.Call) and called(node) in classes:
                values = [word.value for word in node.keywords if word.arg == "kind"]
            elif isinstance(node, ast.Assign):
                values = [node.value for one in node.targets if is_kind_of_another(one)]
            for value in values:
                either = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                if any(isinstance(one, ast.Constant) and one.value != "" for one in either):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}"


def called(node: ast.Call) -> str:
    """The last name of what is called; "" where that has none."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def is_kind_of_another(target: ast.expr) -> bool:
    """Whether `x.kind` is set, and x is not `self`."""
    return isinstance(target, ast.Attribute) and target.attr == "kind" and getattr(target.value, "id", "") != "self"


def constants() -> dict[str, str]:
    """module and name of each constant that is a kind -> its word."""
    found = {}
    for file, tree in modules_with("kind("):
        for node in tree.body:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if called(node.value) in ("kind", "other_kind"):
                module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
                name = ast.unparse(node.targets[0])
                found[f"{module}.{name}"] = str(getattr(importlib.import_module(module), name))
    return found


def imported_names() -> set[str]:
    """module and name of what the modules of the package import by name, at the top or inside of a function."""
    return {
        f"{node.module}.{alias.name}"
        for _, tree in modules_with("import")
        for node in statements(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


class TestDeclarations:
    def test_no_error_takes_a_text_as_its_kind(self):
        """A misspelt constant fails when the module is imported; a misspelt text would fail when it is printed."""
        assert [] == list(spelled_kinds())

    def test_each_constant_is_named_after_its_kind_and_imported_somewhere(self):
        found = constants()
        imported = imported_names()

        assert len(found) > 200
        unlike = {name.split(".")[-1] for name, word in found.items() if name.split(".")[-1] != constant(word)}
        assert {"LAYER_IS_UNKNOWN"} == unlike
        assert set() == {name.split(".")[-1] for name in found if name not in imported}

    def test_a_code_that_is_given_twice_is_refused_when_the_module_is_imported(self):
        with pytest.raises(ValueError, match=r"NA0303 is declared twice: repeated-key, again$"):
            kind("NA0303", "again", cause="A cause.", example="an example", way_out="A way out.")

    def test_a_further_kind_has_to_be_named_by_its_entry(self):
        with pytest.raises(ValueError, match=r"NA0303 does not name again$"):
            other_kind("again", REPEATED_KEY.entry)

    def test_a_kind_of_foreign_code_has_the_code_of_its_class(self):
        assert "NA0301" == DocumentError("x", kind="theirs").code  # type: ignore[arg-type]

    def test_an_error_that_was_pickled_keeps_its_kind_and_its_code(self):
        found = pickle.loads(pickle.dumps(DocumentError("x", kind=REPEATED_KEY)))

        assert ("repeated-key", "NA0303") == (found.kind, found.code)

    def test_an_error_knows_its_code_without_the_dialects(self):
        """In a new process: only `codes()` imports what it does not have."""
        asked = "from nodeattrs.errors import NotFound; print(NotFound('x').code)"
        loaded = "import sys; print(*[one for one in sys.modules if 'dialects' in one])"
        done = subprocess.run([sys.executable, "-c", f"{asked}; {loaded}"], capture_output=True, text=True, cwd=ROOT)

        assert "NA0405\n\n" == done.stdout


def constant(word: str) -> str:
    return word.upper().replace("-", "_")


class TestTheTable:
    def test_each_class_has_a_code_of_its_own(self):
        """
        None missing, none shared; a class of somebody else's has that of ours above it.
        """
        named = {one: one.entry.code for one in family()}

        assert [] == [one.__name__ for one in named if ("", one.__name__) not in known()]
        assert [] == [code for code, count in Counter(named.values()).items() if count > 1]

        class Theirs(DocumentError):
            pass

        assert "NA0301" == Theirs("no").code

    def test_each_kind_that_the_pages_list_has_one(self):
        """
        docs/hiera.md, docs/bindings.md and the warnings of cloud-init.
        """
        for name, heading in (("hiera", "## Kinds of errors"), ("bindings", "## Kinds of faults")):
            section = (ROOT / f"docs/{name}.md").read_text("utf-8").partition(heading)[2].partition("\n## ")[0]
            words = set(re.findall(r"`([a-z]+(?:[-_][a-z]+)+)`", section))
            assert words
            assert [] == sorted(word for word in words if (FAMILY[name], word) not in known())
        assert set() == {word for word in WARNINGS if ("CloudConfigError", word) not in known()}

    def test_none_is_given_twice_and_rooms_keep_to_their_numbers(self):
        """
        In rising order; the first two figures are the room's.
        """
        names = [(owner, name) for owner, name in known()]
        rooms = {(code[:4], one.room, one.owner) for code, one in codes().items()}

        assert sorted(codes()) == list(codes())
        assert len(names) == sum(len(one.names) for one in codes().values())
        assert len(rooms) == len({code[:4] for code in codes()})

    def test_each_entry_has_cause_example_and_way_out(self):
        """
        A sentence, something to look at, and what to do.
        """
        for one in codes().values():
            assert one.cause.endswith("."), one.code
            assert one.example, one.code
            assert one.way_out, one.code


EXAMPLES = [one for one in codes().values() if re.match(r"(bind|multibind|rebind)\b", one.example)]


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.code)
def test_the_examples_in_the_language_of_bindings_give_their_codes(one: Code):
    """
    When an injector is built, or a key is injected.
    """
    found = []
    try:
        injector = Injector([parse_sets(f"bindings x {{ {one.example} }}")])
        found += [warning.code for warning in injector.resolution.warnings]
        keys = injector.keys()
        for _, name in keys:
            try:
                injector.inject(name)
            except BindingError as error:
                found.append(error.code)
    except BindingErrors as error:
        found += [each.code for each in error.errors]
    except BindingError as error:
        found.append(error.code)
    assert one.code in found


def known() -> set[tuple[str, str]]:
    return {("" if name[0].isupper() else one.owner, name) for one in codes().values() for name in one.names}


class TestWhereTheyAreSeen:
    def test_an_error_knows_its_code(self):
        """
        By its class, or by its kind.
        """
        assert "NA0102" == errors.NoSuchAttribute("no").code
        assert "NA0303" == DocumentError("twice", kind=REPEATED_KEY).code

    def test_the_command_tells_one_or_lists_several(self, capsys: pytest.CaptureFixture[str]):
        """
        By code, beginning or name; a slip has a hint.
        """
        assert 0 == main(["codes", "NA1203"])
        assert "NA1203 conflict\n  cause    Two declarations" in capsys.readouterr().out
        assert 0 == main(["codes", "default-replaces"])
        assert "NA1153" in capsys.readouterr().out
        assert 0 == main(["codes", "NA06"])
        assert 8 == capsys.readouterr().out.count("NA06")
        assert 1 == main(["codes", "defautl-replaces"])
        assert "[NA0004]\n  did you mean default-replaces?" in capsys.readouterr().err
