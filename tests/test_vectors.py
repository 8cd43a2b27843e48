"""The vectors, the runner that asks them, and what the runner may know."""

from __future__ import annotations

import ast
import importlib
import json

import pytest

from tests.effort import EFFORT
from tests.structure.test_one_fold import counted
from tests.test_glossary import MODULES
from tests.vectors.__main__ import KINDS, main
from tests.vectors.cases import HERE, run
from tests.vectors.values import decoded, difference, encoded

MERGING = ("chef-attributes", "chef-search", "cloudinit-merge", "hiera-merge", "bindings")
"""Kinds that merge; where none of them is seen merging, nothing is counted."""
QUESTIONS = [(kind, mode) for kind, modes in KINDS.items() for mode in modes]
LONG = {("ansible", "whole"), ("chef-attributes", "split"), ("hiera-lookup", "whole")}
"""What takes seconds: `make test` tries each fourth case of it, `make slow` all; `.ci/run` all that are whole."""


@pytest.mark.parametrize(("kind", "mode"), QUESTIONS, ids=[f"{kind} {mode}" for kind, mode in QUESTIONS])
def test_we_answer_as_the_originals_do(kind, mode):
    """Every case of every public file passes, in each way in which it can be run; no merge goes beside the one fold."""
    every = 4 if (kind, mode) in LONG and EFFORT < 1 else 1
    with counted() as seen:
        passed, failures = run(KINDS[kind][mode], HERE / f"{kind}.jsonl", every)

    assert failures == []
    assert passed > 0
    assert {} == {name: count for name, count in seen.items() if name != "on the road"}
    assert seen["on the road"] > 10 or kind not in MERGING or mode != "whole"


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("ansible", 496),
        ("chef-attributes", 378),
        ("chef-allowlist", 70),
        ("chef-expansion", 63),
        ("chef-attribute-files", 41),
        ("chef-search", 147),
        ("cloudinit-merge", 345),
        ("cloudinit-parts", 187),
        ("hiera-lookup", 222),
        ("hiera-merge", 415),
        ("ordering", 238),
    ],
)
def test_no_case_was_lost_on_the_way_here(kind, count):
    """The files under tests/ hold all the cases that their pages announce."""
    assert len((HERE / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()) == count


class TestTheCommand:
    def test_the_vectors_command_counts_passed_cases(self, capsys):
        """A file without failures ends with the count and exit code 0."""
        assert main(["chef-allowlist", str(HERE / "chef-allowlist.jsonl")]) == 0
        assert capsys.readouterr().out == "70 passed, 0 failed\n"

    def test_the_vectors_command_names_failed_cases_and_differences(self, tmp_path, capsys):
        """One line a failing case: its id, and where the answer left the expectation."""
        case = {"id": "wrong", "data": {"a": 1}, "allow": None, "block": None, "expect": {"saved": {"a": 1.0}}}
        right = {**case, "id": "right", "expect": {"saved": {"a": 1}}}
        file = tmp_path / "some.jsonl"
        file.write_text(json.dumps(case) + "\n" + json.dumps(right) + "\n")

        assert main(["chef-allowlist", str(file)]) == 1
        assert capsys.readouterr().out == "wrong: .saved.a: expected 1.0, got 1\n1 passed, 1 failed\n"

    def test_a_case_that_raises_does_not_hide_the_others(self, tmp_path, capsys):
        """A case nobody can read is a failure of its own."""
        file = tmp_path / "some.jsonl"
        file.write_text('{"id": "broken"}\n')

        assert main(["chef-allowlist", str(file)]) == 1
        assert "broken: raised KeyError" in capsys.readouterr().out

    def test_the_documents_are_those_beside_the_cases(self, tmp_path, capsys):
        """Other nodes than ours may lie there; without any, ours are asked."""
        case = {"id": "a", "docs": "few", "q": "k:1", "expect": {"names": ["n1"]}}
        ours = {"id": "b", "docs": "fleet", "q": "name:web1", "expect": {"names": ["web1"]}}
        alone = tmp_path / "alone"
        alone.mkdir()
        (tmp_path / "some.jsonl").write_text(json.dumps(case) + "\n")
        (tmp_path / "chef-search-docs.json").write_text('{"few": [{"name": "n1", "default": {"k": 1}}]}')
        (alone / "some.jsonl").write_text(json.dumps(ours) + "\n")

        assert main(["chef-search", str(tmp_path / "some.jsonl")]) == 0
        assert main(["chef-search", str(alone / "some.jsonl")]) == 0
        assert capsys.readouterr().out == "1 passed, 0 failed\n" * 2

    def test_where_the_peer_broke_a_query_is_refused(self, tmp_path, capsys):
        """An internal error of the peer is no answer that could be given; an answer would be wrong."""
        case = {"id": "a", "docs": "fleet", "q": 'name:""', "expect": {"error": "internal_error", "peer": "X"}}
        (tmp_path / "some.jsonl").write_text(json.dumps(case) + "\n" + json.dumps({**case, "q": "name:x"}) + "\n")

        assert main(["chef-search", str(tmp_path / "some.jsonl")]) == 1
        assert "1 passed, 1 failed" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "question", [["chef-weather", "x.jsonl"], ["chef-attributes", "no-such-file.jsonl"], ["chef-allowlist", "."]]
    )
    def test_a_question_that_cannot_be_asked_is_exit_2(self, question, capsys):
        """Unknown kinds are answered with the known ones."""
        with pytest.raises(SystemExit) as left:
            main(question)

        assert left.value.code == 2
        message = capsys.readouterr().err
        assert "no file" in message or all(kind in message for kind in KINDS)

    def test_only_attribute_programs_can_be_split(self):
        """Other kinds have no locator that could change."""
        with pytest.raises(SystemExit) as left:
            main(["chef-allowlist", str(HERE / "chef-allowlist.jsonl"), "--split"])

        assert left.value.code == 2


class TestTheComparison:
    @pytest.mark.parametrize("left", [1, 1.0, True, "1", None, [], {}, [1], {"a": 1}])
    @pytest.mark.parametrize("right", [1, 1.0, True, "1", None, [], {}, [1], {"a": 1}])
    def test_vectors_compare_types_too(self, left, right):
        """1, 1.0, true and "1" are four values."""
        same = type(left) is type(right) and left == right

        assert (difference({"v": left}, {"v": right}) is None) == same

    def test_vectors_compare_the_order_of_keys(self):
        """Lower source first, new keys appended: an answer in another order is another answer."""
        assert difference({"m": {"a": 1, "b": 2}}, {"m": {"b": 2, "a": 1}}) == (
            ".m: expected the keys in order ['a', 'b'], got ['b', 'a']"
        )

    def test_vectors_tell_absent_values_from_null(self):
        """Absent and null are two answers."""
        assert difference({"a": None}, {}) == ".a: expected null, got nothing"
        assert difference({}, {"a": None}) == ".a: expected nothing, got null"


def test_escapes_survive_a_round_trip():
    """Maps with odd keys and symbols read and written give the same text."""
    written = {"$map": [[1, {"$sym": "x"}], ["1", [{"$map": [["$a", None]]}]]]}

    assert encoded(decoded(written, _Symbol, list), _Symbol, bytes) == written


class _Symbol(str):
    pass


def public_names(module: str) -> set[str]:
    """What `__all__` offers; every error is public."""
    room = importlib.import_module(module)
    if module == "nodeattrs.errors":
        return {name for name in vars(room) if not name.startswith("_")}
    return set(room.__all__)


@pytest.mark.parametrize("file", sorted(HERE.glob("*.py")), ids=lambda file: file.name)
def test_the_runner_knows_public_names_only(file):
    """
    It imports from the library what `__all__` offers, nothing else, and asks nobody for a
    private attribute.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = [
        (node.module, alias.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    whole = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = [(module, name) for module, name in imported if module.split(".")[0] == "nodeattrs"]

    assert not [module for module in whole if module.split(".")[0] in ("nodeattrs", "importlib")]
    assert {module for module, _ in ours} <= set(MODULES)
    assert [pair for pair in ours if pair[1] not in public_names(pair[0])] == []

    private = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__")
    ]
    assert [name for name in private if f"def {name}(" not in file.read_text(encoding="utf-8")] == []
