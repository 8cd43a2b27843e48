"""Every error, warning and finding has one code, every code one entry, and the page is made of them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import nodeattrs
from nodeattrs import errors
from nodeattrs.adapters.bindings import BindingError, BindingErrors, Injector, parse_sets
from nodeattrs.adapters.cloudinit import WARNINGS
from nodeattrs.cli import main
from nodeattrs.codes import Code, code_named, code_of, codes, known_kinds, rooms
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.reports.codes import page

ROOT = Path(__file__).parents[1]
FAMILY = {"hiera": "HieraError", "bindings": "BindingError", "cloudinit": "CloudConfigError", "ansible": "AnsibleError"}
NOT_KINDS = {
    *("data_hash", "lookup_key", "data_dig", "yaml_data", "json_data", "hocon_data", "eyaml_lookup_key"),
}
"""Words of the dialects that stand where a kind may stand."""


def family() -> list[type[NodeattrsError]]:
    """Every error class of ours, wherever it is defined."""
    for module in pkgutil.walk_packages(nodeattrs.__path__, "nodeattrs."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = [NodeattrsError]
    for one in found:
        found += [other for other in one.__subclasses__() if other not in found]
    return [one for one in found if one.__module__.startswith("nodeattrs.")]


def raised(folder: str, calls: set[str]) -> set[str]:
    """The words that stand as a kind in a call of one of these names: first, second or as `kind=`."""
    found = set()
    for file in (ROOT / "nodeattrs" / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in calls:
                given = [*node.args[:3], *(word.value for word in node.keywords if word.arg == "kind")]
                words = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                found |= {word for word in words if re.fullmatch(r"[a-z]+([-_][a-z]+)+|missing|conflict|syntax", word)}
    return found - NOT_KINDS


def spelled_kinds() -> Iterator[tuple[str, str]]:
    """Each text that is given as `kind=`, set as `.kind`, or handed to a function of `check`; and its place."""
    for file in (ROOT / "nodeattrs").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            values: list[ast.expr] = []
            if isinstance(node, ast.Call):
                values = [word.value for word in node.keywords if word.arg == "kind"]
                if ast.unparse(node.func).split(".")[-1] in {"located", "_finding", "known_kinds"}:
                    values += node.args
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    targets = target.elts if isinstance(target, ast.Tuple) else [target]
                    given = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                    pairs = zip(targets, given, strict=False)
                    values += [value for one, value in pairs if re.search(r"(?<!^self)\.kind$", ast.unparse(one))]
            for value in values:
                either = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                words = [one.value for one in either if isinstance(one, ast.Constant)]
                for word in words:
                    if re.fullmatch(r"[a-z_-]+", str(word)):
                        yield str(word), f"{file.relative_to(ROOT)}:{node.lineno}"


class TestTheTable:
    def test_each_kind_that_is_spelled_in_the_code_has_an_entry(self):
        """With the place of each that has none."""
        names = {name for _, name in known()}
        found = list(spelled_kinds())

        assert len({word for word, _ in found}) > 60
        assert [] == [f"{place}: {word}" for word, place in found if word not in names]

    def test_a_kind_without_an_entry_is_refused_by_its_name_wherever_a_code_is_asked_for(self):
        """When a module lists it, when an error is asked, and when a command looks a warning up."""
        for ask in (
            lambda: known_kinds(DocumentError, "repeated-key", "no-such-kind"),
            lambda: DocumentError("x", kind="no-such-kind").code,
            lambda: code_named("no-such-kind", "CloudConfigError"),
        ):
            with pytest.raises(LookupError, match=r"codes\.txt has no entry for no-such-kind of \w+Error$"):
                ask()
        assert known_kinds(DocumentError, "repeated-key") == {"repeated-key"}

    def test_each_class_has_a_code_of_its_own(self):
        """
        None missing, none shared; a class of somebody else's has that of ours above it.
        """
        named = {one: code_of(one) for one in family()}

        assert [] == [one.__name__ for one in named if ("", one.__name__) not in known()]
        assert [] == [code for code, count in Counter(named.values()).items() if count > 1]

        class Theirs(DocumentError):
            pass

        assert "NA0301" == Theirs("no").code

    @pytest.mark.parametrize(
        ("folder", "calls"),
        [
            (
                "adapters/hiera",
                {"HieraError", "BadLookup", "BadData", "CannotMerge", "CannotDig", "bad_data", "fault", "_Wrong"}
                | {"_refuse", "_check_texts", "warn", "error"},
            ),
            (
                "adapters/bindings",
                {
                    "BindingError",
                    "TypeMismatch",
                    "NotBound",
                    "LookupLoop",
                    "_fault",
                    "fault",
                    "about",
                    "_note",
                    "error",
                },
            ),
            ("adapters/cloudinit", {"CloudConfigError", "warned", "Warned"}),
            ("adapters/ansible", {"AnsibleError", "error", "warn", "warned", "_warn", "_unparsed"}),
        ],
    )
    def test_each_kind_that_is_raised_has_one(self, folder: str, calls: set[str]):
        """
        Read from the source: the word in the call.
        """
        words = raised(folder, calls)

        assert len(words) > 14
        owners = ("NodeattrsError", "DocumentError", FAMILY[folder.rpartition("/")[2]])
        assert [] == sorted(word for word in words if not any((owner, word) in known() for owner in owners))

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

    def test_each_warning_of_the_command_line_that_is_a_bare_sentence_has_one(self):
        """
        `Terminal.warn` is given the name.
        """
        for name in ("saved-note", "damaged"):
            assert code_named(name, "StoreError").code.startswith("NA05")
        assert "NA0204" == code_named("unknown-layer").code

    def test_none_is_given_twice_and_rooms_keep_to_their_numbers(self):
        """
        In rising order; the first two figures are the room's.
        """
        heads = re.findall(
            r"^(NA\d{4}) (.+)$", "\n".join(entry for *_, entries in rooms() for entry in entries), re.MULTILINE
        )
        numbers = [code for code, _ in heads]
        names = [(owner, name) for owner, name in known()]

        assert numbers == sorted(set(numbers)) == list(codes())
        assert len(names) == len(set(names)) == sum(len(one.names) for one in codes().values())
        assert len(list(rooms())) == len({code[:4] for code in numbers})

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
        found += [warning.code for warning in injector.warnings]
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
    def test_the_page_is_made_of_them(self):
        """
        `python -m nodeattrs.reports.codes > docs/codes.md`.
        """
        assert page() == (ROOT / "docs/codes.md").read_text("utf-8")

    def test_an_error_knows_its_code(self):
        """
        By its class, or by its kind.
        """
        assert "NA0102" == errors.NoSuchAttribute("no").code
        assert "NA0303" == DocumentError("twice", kind="repeated-key").code

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
