"""A level that cannot be read: the others answer, and whoever explains says where it might decide."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.dialects.hiera import scope as scopes
from nodeattrs.dialects.hiera.possible_files import FileCache, possible_files
from nodeattrs.errors import UnknownLayer
from nodeattrs.hiera import CannotMerge, Hiera, KeyNotFound, Scope, Unknown, merge
from nodeattrs.hiera import undecided as undecided_keys
from tests import test_hiera_laws as laws
from tests.hiera_trees import written

LEVELS = """\
version: 5
hierarchy:
- name: node
  path: node.yaml
- name: Vault
  lookup_key: vault
- name: common
  path: common.yaml
"""
SERVER = Unknown("vault", "needs a server")
WHERE = "hiera.yaml:5"


def vault(key, options):
    """A server for keys that begin with `v`, which is away; it has none of the others."""
    if key.startswith("v"):
        return SERVER
    raise KeyError(key)


@pytest.fixture
def site(tmp_path: Path):
    """A node's file over Vault over a common one."""

    def made(node: str, common: str = "", function=vault, config: str = LEVELS, **options) -> Scope:
        files = {"hiera.yaml": config, "data/node.yaml": node or "{}", "data/common.yaml": common or "{}"}
        return Hiera(written(tmp_path, files), root=tmp_path, functions={"vault": function}, **options).scope()

    return made


def rows(explanation, path: str = "") -> list[tuple[str, str]]:
    """What became of whom, by place."""
    return [(stated.outcome.value, str(stated.claim.origin.place)) for stated in explanation.trace(path).claims]


class TestTheAnswer:
    def test_the_other_levels_give_it(self, site):
        """
        First found or merged.
        """
        scope = site("", "v: 1\nvl: [a]\n")

        assert (1, ["a"]) == (scope.lookup("v"), scope.lookup("vl", merge="unique"))

    def test_where_no_other_level_has_the_key_it_may_be_there(self, site):
        """
        Nothing is found, and the error says who may have it.
        """
        with pytest.raises(
            KeyNotFound, match=rf"v is not set\n(.|\n)*v may be in level 'Vault' \({WHERE}\): needs a server"
        ):
            site("").lookup("v")
        assert 7 == site("").lookup("v", default_value=7)

    def test_who_may_have_a_missing_key_is_asked_when_the_message_is_read(self, site, monkeypatch):
        """
        Whoever asks many keys that are missing pays for no message.
        """
        scope, asked = site(""), []
        real = scopes.undecided_levels
        monkeypatch.setattr(scopes, "undecided_levels", lambda *given: asked.append(given) or real(*given))
        with pytest.raises(KeyNotFound) as caught:
            scope.lookup("v")

        assert asked == []
        assert "may be in level 'Vault'" in str(caught.value)
        assert ("may be in level 'Vault'" in str(caught.value), len(asked)) == (True, 1)

    @pytest.mark.parametrize("kind", ["data_hash", "lookup_key", "data_dig"])
    def test_each_kind_of_data_function_may_say_so(self, site, kind: str):
        """
        For all it has, or, if it has a map, for an entry of it.
        """
        config = LEVELS.replace("lookup_key", kind)
        whole = site("", "v: 1\nw: 2\n", lambda *asked: SERVER, config)
        assert (1, 2, True) == (whole.lookup("v"), whole.lookup("w"), whole.has_unknown)
        if kind == "data_hash":
            part = site("", "v: 1\n", lambda options: {"v": SERVER, "w": [3]}, config)
            assert (1, [3]) == (part.lookup("v"), part.lookup("w"))

    def test_plain_values_may_be_unknown_too(self):
        """
        To the strategies it is a source that has nothing.
        """
        assert ["a", "b"] == merge([["a"], SERVER, ["b"]], "unique")
        with pytest.raises(KeyNotFound):
            merge([SERVER], "deep")


class TestTheTrace:
    def test_above_the_first_found_it_may_decide(self, site):
        """
        With the line of hiera.yaml that has the level.
        """
        explanation = site("", "v: 1\n").explain("v")

        assert [("wins", "data/common.yaml:1"), ("unknown", WHERE)] == rows(explanation)
        assert (f"level 'Vault' ({WHERE}): needs a server",) == tuple(map(str, explanation.unknown))
        assert ["no_key", "unknown", "found"] == [one.outcome for one in explanation.searched]

    def test_below_it_nothing_is_said(self, site):
        """
        It could not change the answer.
        """
        explanation = site("v: 1\n", "v: 2\n").explain("v")

        assert [("wins", "data/node.yaml:1"), ("loses", "data/common.yaml:1")] == rows(explanation)
        assert () == explanation.unknown

    def test_in_a_merge_it_may_join_wherever_it_stands(self, site):
        """
        But not at a key that a stronger level has settled.
        """
        explanation = site("v: {a: 1}\n", "v: {a: 2, b: 3}\n").explain("v", merge="hash")

        assert "unknown" in dict(rows(explanation))
        assert [("wins", "data/node.yaml:1"), ("loses", "data/common.yaml:1")] == rows(explanation, "a")
        assert [("wins", "data/common.yaml:1"), ("unknown", WHERE)] == rows(explanation, "b")

    @pytest.mark.parametrize("prefix", [None, "--"])
    def test_a_text_hides_it_and_a_list_does_not(self, site, prefix):
        """
        Under deep, with knock-outs or without.
        """
        deep = {"strategy": "deep", **({"knockout_prefix": prefix} if prefix else {})}
        scope = site("v: {t: text, l: [1], n: ~}\n")

        told = {path: bool(scope.explain(f"v.{path}", merge=deep).unknown) for path in "tln"}

        assert {"t": False, "l": True, "n": True} == told

    def test_what_the_value_needed_counts_as_well(self, site):
        """
        Another key, asked for by an expression.
        """
        explanation = site("k: \"<%{lookup('v')}>\"\n", "v: 1\n").explain("k")

        assert [("v", "Vault")] == [(level.key, level.name) for level in explanation.unknown]

    def test_what_a_default_hierarchy_gives_may_be_overridden(self, site, tmp_path: Path):
        """
        By a level of the search before it.
        """
        written(
            tmp_path / "modules/v",
            {
                "hiera.yaml": "version: 5\ndefault_hierarchy:\n- {name: d, path: d.yaml}\n",
                "data/d.yaml": "v::k: 1\nv::m: [2, 3, 2]\nlookup_options:\n  v::m: {merge: unique}\n",
            },
        )
        scope = site("")

        for key, value in (("v::k", 1), ("v::m", [2, 3])):
            assert value == scope.lookup(key) == scope.explain(key).value
            assert [("wins", "unknown")] == [tuple(outcome for outcome, _ in rows(scope.explain(key)))]
            assert ("Vault",) == tuple(level.name for level in scope.explain(key).unknown)

    def test_nothing_is_said_where_the_call_answered_before(self, site):
        """
        By an override; a default is no such thing.
        """
        scope = site("")

        assert () == scope.explain("v", override={"v": 1}).unknown
        assert 1 == len(scope.explain("v", default_value=1).unknown)

    def test_lookup_options_that_a_level_may_have_are_told_there_only(self, site):
        """
        A level that cannot be read is taken to have none.
        """
        scope = site("k: 1\nlookup_options: {k: {merge: first}}\n", "", lambda key, options: SERVER)

        assert () == scope.explain("k").unknown
        assert ("Vault",) == tuple(level.name for level in scope.explain_options("k").unknown)

    def test_the_claim_of_an_unread_level_has_no_value_as_data(self, site):
        """
        And the claim has no value.
        """
        explanation = site("", "v: 1\n").explain("v")
        data, trace = explanation.to_dict(), explanation.trace().to_dict()

        assert [{"key": "v", "layer": "environment", "entry": "Vault", "file": "hiera.yaml", "line": 5,
                 "reason": "needs a server"}] == json.loads(json.dumps(data))["unknown"]  # fmt: skip
        assert ("unknown", None) == (trace["claims"][1]["outcome"], trace["claims"][1]["value"])


class TestStrict:
    def test_an_unread_level_is_an_error_with_strict(self, site):
        """
        Where the level is asked: above the first found, and in merges.
        """
        scope = site("x: 1\n", "v: 1\n", strict=True)

        for arguments in ({}, {"merge": "unique"}):
            with pytest.raises(UnknownLayer, match=rf"'Vault' is unknown: needs a server\n(.|\n)*{WHERE}"):
                scope.lookup("v", **arguments)
        assert isinstance(scope.explain("v").error, UnknownLayer)
        assert 1 == scope.lookup("x")

    def test_below_the_first_found_it_is_not_asked(self, site):
        """
        An explanation does not ask more than the lookup.
        """
        scope = site("v: 1\n", "v: 2\n", strict=True)

        assert 1 == scope.lookup("v") == scope.explain("v").value

    def test_every_key_of_a_tree_can_be_asked_about(self, site):
        """
        Which of them a level might decide.
        """
        scope = site("v1: 1\nk: 1\n", "v1: 2\nv2: 2\n")
        for key in scope.known_keys():
            scope.lookup(key)

        assert ["v2"] == list(undecided_keys(scope))


class TestOnTheCommandLine:
    @pytest.fixture
    def said(self, tmp_path: Path, monkeypatch, capsys):
        """Runs `nodeattrs hiera` in a tree whose Vault is a data function that is installed."""
        about = tmp_path / "site/vault_of_tests-1.0.dist-info"
        point = "[nodeattrs.hiera]\nvault = vault_of_tests:ask\n"
        code = (
            "from nodeattrs.core.unknown import Unknown\n\n"
            "def ask(key, options):\n"
            "    if key.startswith('v'):\n        return Unknown('vault', 'needs a server')\n"
            "    raise KeyError(key)\n"
        )
        files = {
            "hiera.yaml": LEVELS,
            "data/node.yaml": "w: 1\n",
            "data/common.yaml": "v: 1\nv2: 2\nk: \"%{lookup('v')}\"\n",
            "site/vault_of_tests.py": code,
            about.relative_to(tmp_path).as_posix() + "/METADATA": "Metadata-Version: 2.1\nName: vault-of-tests\n",
            about.relative_to(tmp_path).as_posix() + "/entry_points.txt": point,
        }
        written(tmp_path, files)
        monkeypatch.syspath_prepend(tmp_path / "site")
        monkeypatch.chdir(tmp_path)

        def run(*words: str) -> tuple[int, str, str]:
            code = main(["hiera", *words, "--run-code"])
            out, err = capsys.readouterr()
            return code, out, " ".join(err.split())

        return run

    TOLD = f"warning: {WHERE} (level Vault) needs a server, and may set"

    def test_the_answer_is_printed_with_a_code_of_its_own(self, said):
        """
        And a line that says which level.
        """
        assert (5, "1\n", f"{self.TOLD} v [NA0204]") == said("lookup", "v")
        assert (5, "1\n", f"{self.TOLD} v [NA0204]") == said("lookup", "nope", "v", "--render-as", "json")
        assert (5, "'1'\n", f"{self.TOLD} v [NA0204]") == said("lookup", "k")
        assert (5, "x\n", f"{self.TOLD} vx [NA0204]") == said("lookup", "vx", "--default", "x")

    def test_where_it_cannot_matter_nothing_is_said(self, said):
        """
        Exit code 0.
        """
        assert (0, "1\n", "") == said("lookup", "w")

    def test_of_several_keys_the_earlier_ones_count(self, said):
        """
        Vault might have the first one.
        """
        assert (5, "1\n", f"{self.TOLD} vx [NA0204]") == said("lookup", "vx", "w")

    def test_what_is_not_found_is_not_known_where_a_level_was_not_read(self, said):
        """
        Exit code 5, and who may have it; 3 where the caller allows it.
        """
        code, out, err = said("lookup", "vx")

        assert (5, "") == (code, out)
        assert 3 == said("lookup", "vx", "--allow-unknown")[0]
        assert f"vx may be in level 'Vault' ({WHERE}): needs a server" in err

    def test_hiera_explain_names_unread_levels_as_text_and_data(self, said):
        """
        In the text, and as data.
        """
        code, out, err = said("explain", "v")
        assert (5, f"{self.TOLD} v [NA0204]") == (code, err)
        assert "cannot be read" in out
        code, out, _ = said("explain", "k", "--render-as", "json")
        assert (5, ["v"]) == (code, [level["key"] for level in json.loads(out)["unknown"]])

    def test_commands_about_all_keys_name_the_unread_levels(self, said):
        """
        Which, and how many.
        """
        code, out, err = said("list", "--format", "json")

        assert (5, f"{self.TOLD} v, v2 [NA0204]") == (code, err)
        found = json.loads(out)
        assert (2, False) == (found["nodes"][""]["value"]["v2"], found["certain"])
        assert [[["v"]], [["v2"]]] == [one["paths"] for one in found["unread"]]

    def test_option_strict_makes_an_unread_level_an_error(self, said):
        """
        An error, as all that is a warning otherwise.
        """
        code, out, err = said("lookup", "v", "--strict")

        assert (1, "") == (code, out)
        assert "the layer 'Vault' is unknown: needs a server" in err


def test_silence_is_safe():
    """Law: where no trace names the unknown source, no value that it could have changes the answer there."""
    chance, asked, silent = random.Random(5), 0, 0
    for _ in range(400):
        case = laws.drawn(chance)
        number = chance.choice(sorted(case.values))
        try:
            folding = laws.folded(case, {**case.values, number: SERVER})
        except CannotMerge:
            continue
        value = folding.result.value
        for path in laws.paths_of(value) if value is not ABSENT else ():
            unknown = laws.walk(folding, path).unknown
            asked += 1
            if unknown:
                assert (number,) == unknown
                continue
            if str(dig(value, path))[:2] in ("--", ""):
                continue  # a marker stays where it met nothing, and is empty otherwise, whatever it met
            silent += 1
            for other in [ABSENT, *(laws.value_of(chance, 3) for _ in range(6))]:
                try:
                    after = laws.folded(case, {**case.values, number: other}).result.value
                except CannotMerge:
                    continue
                assert laws.same(dig(after, path), dig(value, path)), (case, number, other, path)
    assert asked > silent > asked / 10


class TestFilesThatAFactChooses:
    """Without facts, a file that may count for the node is an unread place, also within the level that has the key."""

    @pytest.mark.parametrize(
        ("level", "file", "code"),
        [
            ('glob: "g/%{facts.role}*.yaml"', "g/web-1.yaml", 5),
            ('glob: "g/%{facts.role}/**/*.{yaml,yml}"', "g/web/a/b.yaml", 5),
            ('glob: "g/%{facts.role}/**/**/x/**/*.yaml"', "g/web/a/x/b.yaml", 5),
            ('glob: "g/%{facts.role}*.yaml"', "other/web.yaml", 0),
            ('glob: "g/%{facts.role}*.yaml"', "g/web.yaml/folder.yaml", 0),
            ('mapped_paths: [facts.roles, role, "g/%{role}.yaml"]', "g/web.yaml", 5),
            ('paths: ["g/%{facts.role}.yaml", common.yaml]', "g/web.yaml", 5),
            ('paths: [common.yaml, "g/%{facts.role}.yaml"]', "g/web.yaml", 0),
        ],
    )
    def test_files_that_a_missing_fact_chooses_may_set_the_key(self, in_folder, level: str, file: str, code: int):
        hiera = f"version: 5\nhierarchy:\n- {{name: one, {level}}}\n- {{name: two, path: common.yaml}}\n"
        files = {"hiera.yaml": hiera, "data/common.yaml": "k: common\n", f"data/{file}": "k: own\n"}
        ended, _, errors = in_folder(files, "hiera", "lookup", "k")
        assert (ended, f"data/{file} may count as" in errors) == (code, code == 5)

    def test_all_keys_of_such_files_are_found_without_an_explanation_of_each(self, tmp_path: Path, monkeypatch):
        """An explanation looks at each path of the hierarchy, and a fleet has many nodes and keys."""
        hiera = (
            "version: 5\nhierarchy:\n- {name: one, paths: ['role/%{role}.yaml', common.yaml, 'last/%{role}.yaml']}\n"
        )
        keys = "".join(f"k{number}: 1\n" for number in range(5))
        files = {
            "hiera.yaml": hiera,
            "data/common.yaml": keys,
            "data/role/web.yaml": keys,
            "data/last/web.yaml": "k9: 1",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(Scope, "explain", lambda *_, **__: pytest.fail("explained"))
        scope = Hiera(tmp_path).scope()
        found = {one.place: sorted(path[0] for path in one.paths) for one in possible_files(scope, FileCache(str))}
        assert {Path(place).parent.name: keys for place, keys in found.items()} == {
            "role": [f"k{number}" for number in range(5)],
            "last": ["k9"],
        }
