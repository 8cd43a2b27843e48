"""What checks find: passed over by comment, name, setting and baseline, and told in seven forms."""

from __future__ import annotations

import json
import re
import sqlite3
import xml.etree.ElementTree
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.errors import DocumentError, MergeConflict
from nodeattrs.reports.finding_forms import FORMS
from nodeattrs.reports.findings import Finding, finding_of
from nodeattrs.reports.selection import Findings, Selection
from nodeattrs.store import Saved, open_store

Check = Callable[..., tuple[int, str, str]]

FILES = {
    "roles/web.json": '{\n  "name": "www",\n  "run_list": ["recipe[nosuch]"],\n  "descripton": "x"\n}\n',
    "roles/app.py": 'raise RuntimeError("this ran")\n',
    "environments/prod.yaml": "name: prod\ndefault_attributes:\n  a: 1\n  a: 2\n",
    "hiera.yaml": "version: 5\ndefaults: {data_hash: yaml_data, datadir: data}\n"
    "hierarchy: [{name: Common, path: common.yaml}]\n",
    "data/common.yaml": "a: 1\na: 2\n80: http\n",
}
FOUND = ["NA0304", "NA0303", "NA0303", "NA0305", "NA0316", "NA0302"]
"""The codes of it, in the order of the places; beside a note about the role in Python."""


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Checks the repository above, from inside of it."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def checked(*words: str) -> tuple[int, str, str]:
        code = main(["check", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return checked


def codes_in(out: str) -> list[str]:
    return re.findall(r"\[(NA\d{4}) ", out)


class TestCheck:
    def test_it_says_what_is_wrong_with_a_repository_and_runs_no_code(self, check: Check):
        """
        Place, how bad, sentence, code and name; what it looked at; exit code 1.
        """
        code, out, err = check()

        assert (1, "") == (code, err)
        assert "roles/web.json:3:16: error: there is no cookbook nosuch [NA0316 missing-cookbook]\n" in out
        assert "data/common.yaml:2:1: warning: the key 'a' is written twice; the last one counts [NA0303" in out
        assert "roles/app.py: note: is Python, and was not run [NA0309 not-run]\n  --run-code runs it\n" in out
        assert "0 cookbooks, 2 roles, 1 environment, 0 nodes, 1 data file, 1 error, 5 warnings, 1 note\n" in out
        assert sorted([*FOUND, "NA0309"]) == sorted(codes_in(out))
        assert "this ran" in check("--run-code")[1]

    def test_a_sound_repository_has_no_findings_and_code_that_was_not_run_is_not_known(self, check: Check):
        """
        Exit codes 0 and 5; where there is nothing at all, 1.
        """
        for name in FILES:
            if name != "roles/app.py":
                Path(name).unlink()
        assert 5 == check()[0]
        assert 0 == check("--allow-unknown")[0]
        Path("roles/app.py").unlink()
        assert (1, "there was nothing to look at\n") == check()[::2]

    def test_where_there_is_nothing_the_repositories_below_are_named(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ):
        """
        People keep many projects of Ansible side by side, and modules of Puppet, which are none.
        """
        monkeypatch.chdir(tmp_path)
        for name in ("a/group_vars", "b/c/cookbooks", "b/c/d/cookbooks", "e/f/g/cookbooks", ".h/cookbooks", "m"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "s/all/app").mkdir(parents=True)
        for name in ("m/hiera.yaml", "m/metadata.json", "s/all/app/metadata.rb"):
            (tmp_path / name).touch()

        for words, named in (((), "a, b/c, s/all"), (("--repo", "b"), "b/c"), (("b",), "b/c")):
            assert 1 == main(["check", *words])
            said = f"there was nothing to look at\nrepositories lie in {named}: name one\n"
            assert said == capsys.readouterr().err

    def test_where_there_is_no_hiera_yaml_it_says_how_to_name_one(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ):
        """
        Of version 3 it lies on the server, or among the files of a module.
        """
        (tmp_path / "hieradata").mkdir()
        (tmp_path / "environment.conf").touch()

        assert 1 == main(["check", str(tmp_path)])
        assert "environment.conf is Puppet's, and there is no hiera.yaml that counts" in capsys.readouterr().err

    def test_a_hiera_yaml_without_data_is_not_said_to_be_absent(self, tmp_path, capsys):
        (tmp_path / "environment.conf").touch()
        (tmp_path / "hiera.yaml").write_text("version: 5\n", "utf-8")

        assert 1 == main(["check", str(tmp_path)])
        told = capsys.readouterr().err
        assert "hiera.yaml names no data file that is here" in told
        assert "no hiera.yaml" not in told

    def test_the_folder_is_named_as_linters_take_it(
        self, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """
        Or with --repo, as other commands take it; not both.
        """
        monkeypatch.chdir(tmp_path.parent)

        assert check(tmp_path.name) == check("--repo", tmp_path.name)
        code, _, err = check(tmp_path.name, "--repo", tmp_path.name)
        assert 2 == code
        assert "argument --repo: not allowed with argument DIR" in err

    def test_places_are_told_as_seen_from_here(self, check: Check, monkeypatch: pytest.MonkeyPatch):
        """
        So that an editor, or GitHub, finds the file.
        """
        here = Path.cwd()
        monkeypatch.chdir(here.parent)
        assert f"{here.name}/roles/web.json:3:16: error" in check("--repo", here.name)[1]

    def test_one_broken_file_hides_no_other(self, check: Check):
        """
        Of Hiera's data, too.
        """
        Path("data/aaa.yaml").write_text("a: [\n")
        code, out, _ = check()
        assert (1, [*sorted(["NA1004", "NA0309", *FOUND])]) == (code, sorted(codes_in(out)))

    @pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit", "json"])
    def test_every_check_has_every_form(self, check: Check, form: str, capsys: pytest.CaptureFixture[str]):
        """
        Of bindings, catalogs, user-data and stores, too; a warning is enough for exit code 1.
        """
        Path("bindings").mkdir()
        Path("bindings/default.pp").write_text("bindings default { bind 'a' to 5 in 'usres' }")
        Path("catalog.json").write_text('{"resources": [{"type": "File", "title": "/a", "before": ["File[/x]"]}]}')
        Path("user-data").write_text("#cloud-config\nmerge_how: list(append)\na: 1\n")
        open_store("kept.db").save(Saved("web1", {"name": "web1"}))
        connection = sqlite3.connect("kept.db")
        with connection:
            connection.execute("DELETE FROM text")
        connection.close()
        for words, code in {
            ("bindings", "check"): "NA1271",
            ("catalog", "check", "--from", "catalog.json"): "NA0602",
            ("cloud-config", "check", "user-data"): "NA1151",
            ("store", "check", "--store", "kept.db"): "NA0503",
        }.items():
            assert 1 == main([*words, "--format", form])
            assert code in capsys.readouterr().out, words
            assert 0 == main([*words, "--ignore", code, "--format", form]), words
            capsys.readouterr()


class TestPassingOver:
    def test_by_code_beginning_or_name(self, check: Check):
        """
        The closer word counts; unknown words are not understood.
        """
        assert ["NA0303", "NA0303"] == codes_in(check("--select", "repeated-key")[1])
        assert FOUND[-1:] == codes_in(check("--select", "NA0302")[1])
        assert ["NA0303", "NA0303"] == codes_in(check("--ignore", "NA03", "--select", "NA0303")[1])
        assert (0, ", 7 ignored\n") == (check("--ignore", "all")[0], check("--ignore", "all")[1][-12:])
        code, _, err = check("--ignore", "repeated-keys")
        assert (2, True) == (code, "did you mean repeated-key" in err)

    def test_nodeattrs_toml_passes_findings_over(self, check: Check):
        """
        `[check]`; a word that is none is a fault of the file.
        """
        Path("nodeattrs.toml").write_text('[check]\nignore = ["NA0305", "repeated-key"]\n')
        assert {"NA0316", "NA0302", "NA0304", "NA0309"} == set(codes_in(check()[1]))
        Path("nodeattrs.toml").write_text('[check]\nignore = ["NA9"]\n')
        assert "nodeattrs.toml:2:11: error: 'NA9' is no code" in check()[1]

    def test_a_comment_passes_findings_over(self, check: Check):
        """
        On the line, alone on the line before, or for the file; without a word all, with one only that.
        """
        data = Path("data/common.yaml")
        for text, left in {
            "a: 1\na: 2 # nodeattrs: ignore\n80: http\n": ["NA0304"],
            "a: 1\n# nodeattrs: ignore[repeated-key]\na: 2\n80: http\n": ["NA0304"],
            "a: 1\na: 2 # nodeattrs: ignore[NA0304]\n80: http\n": ["NA0303", "NA0304"],
            "# nodeattrs: ignore-file[NA0304, NA0303]\na: 1\na: 2\n80: http\n": [],
            "a: 1 # nodeattrs: ignore\na: 2\n80: http\n": ["NA0303", "NA0304"],
        }.items():
            data.write_text(text)
            found = json.loads(check("--format", "json")[1])["findings"]
            assert left == [one["code"] for one in found if one["file"] == "data/common.yaml"], text

    def test_by_a_baseline_that_outlives_moved_lines_and_knows_how_many(self, check: Check):
        """
        What was there is passed over, wherever it moves; one more of it is not.
        """
        assert (0, "", "7 findings written to known.json\n") == check("--write-baseline", "--baseline", "known.json")
        assert (0, []) == (check("--baseline", "known.json")[0], codes_in(check("--baseline", "known.json")[1]))
        data = Path("data/common.yaml")
        data.write_text("b: 1\n\n" + data.read_text())
        assert 0 == check("--baseline", "known.json")[0]
        data.write_text(data.read_text() + "a: 3\n")
        assert ["NA0303"] == codes_in(check("--baseline", "known.json")[1])
        Path("nodeattrs.toml").write_text('[check]\nbaseline = "known.json"\n')
        assert ["NA0303"] == codes_in(check()[1])
        Path("known.json").write_text("[]")
        assert (1, True) == (check()[0], "this is no baseline" in check()[2])


SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}, "minItems": 1},
    },
    "$defs": {
        "text": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}}
                            },
                        }
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "properties": {"shortDescription": {"$ref": "#/$defs/text"}, "help": {"$ref": "#/$defs/text"}},
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex", "level"],
            "properties": {
                "message": {"$ref": "#/$defs/text"},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {"properties": {"uri": {"pattern": "^[^\\\\ ]+$"}}},
                        "region": {
                            "required": ["startLine"],
                            "properties": {
                                name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn")
                            },
                        },
                    },
                }
            },
        },
    },
}
"""What SARIF 2.1.0 asks of the parts that we write."""

ODD = Findings(
    [
        Finding("NA0303", "error", "a\x1b<&>\"'%,:\nb", "a b%,:é.yaml", 3, 4, ("said ]]>",), "hint"),
        Finding("NA0303", "warning", "a\x1b<&>\"'%,:\nb", "a b%,:é.yaml", 7),
        Finding("NA1153", "note", "no place"),
        Finding("NA0303", "error", "a\x1b<&>\"'%,:\nb", "a b%,:é.yaml", 9),
    ]
)
"""Signs that each form has to write in a way of its own, one finding on two lines, and one without a place."""


class TestForms:
    def test_findings_in_sarif_conform_to_its_schema(self):
        """
        As its schema asks; each result names a rule that is there, and no two have one fingerprint.
        """
        data = json.loads(FORMS["sarif"](ODD, "1.2.3"))

        jsonschema.validate(data, SARIF)
        (run,) = data["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert ["NA0303", "NA1153"] == [rule["id"] for rule in rules]
        assert [one["ruleId"] for one in run["results"]] == [rules[one["ruleIndex"]]["id"] for one in run["results"]]
        assert 4 == len({one["partialFingerprints"]["nodeattrs/v1"] for one in run["results"]})
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert ("a%20b%25%2C%3A%C3%A9.yaml", {"startLine": 3, "startColumn": 4}) == (
            place["artifactLocation"]["uri"],
            place["region"],
        )
        assert "locations" not in run["results"][2]

    def test_a_file_whose_name_is_no_utf_8_is_named_by_its_bytes(self):
        found = Findings([Finding("NA0303", "error", "a", "b\udcff.yaml", 1)])
        assert "b%FF.yaml" in FORMS["sarif"](found, "")

    def test_findings_for_github_are_one_escaped_line_each(self):
        """
        One line each, with what would end a property or a line written as a percentage.
        """
        first, *others = FORMS["github"](ODD, "").splitlines()

        assert 3 == len(others)
        assert first.startswith("::error file=a b%25%2C%3Aé.yaml,line=3,col=4,title=NA0303 repeated-key::a")
        assert first.endswith("%25,:%0Ab%0Asaid ]]>%0Ahint")
        assert "::notice title=NA1153 default-replaces::no place" == others[1]

    def test_findings_for_gitlab_have_five_fields_and_fingerprints(self):
        """
        The five fields that it reads; fingerprints tell two lines apart.
        """
        rows = json.loads(FORMS["gitlab"](ODD, ""))

        assert {"description", "check_name", "fingerprint", "severity", "location"} == set(rows[0])
        assert ["major", "minor", "info", "major"] == [row["severity"] for row in rows]
        assert 4 == len({row["fingerprint"] for row in rows})
        assert {"path": "a b%,:é.yaml", "lines": {"begin": 3}} == rows[0]["location"]

    def test_findings_in_junit_are_valid_xml(self):
        """
        XML that a reader takes, whatever is in a message; nothing found is a case that passed.
        """
        (suite,) = xml.etree.ElementTree.fromstring(FORMS["junit"](ODD, "").encode("utf-8"))
        assert ("4", "3", 4) == (suite.get("tests"), suite.get("failures"), len(suite))
        assert "a b%,:é.yaml" == suite[0].get("file")
        assert "said ]]>" in (suite[0][0].text or "")
        assert ["failure", "failure", "system-out", "failure"] == [case[0].tag for case in suite]
        (suite,) = xml.etree.ElementTree.fromstring(FORMS["junit"](Findings([]), "").encode("utf-8"))
        assert ("1", "0") == (suite.get("tests"), suite.get("failures"))

    def test_all_of_them_come_from_every_check(self, check: Check):
        """
        By `--format`; the exit code is the same, and the order is that of the places.
        """
        order = [(one["file"], one["line"]) for one in json.loads(check("--format", "json")[1])["findings"]]
        assert order == sorted(order, key=lambda place: (place[0], place[1] or 0))
        for form in FORMS:
            code, out, _ = check("--format", form)
            assert (1, True) == (code, "NA0303" in out), form


class TestFinding:
    def test_an_error_becomes_one_without_saying_its_place_twice(self):
        """
        Of a document, or by its first origin with a file.
        """
        assert "a.json:3:4: no" == finding_of(DocumentError("no", file="a.json", line=3, column=4)).head()
        at = Origin("role", "web", "roles/web.json", 9)
        error = MergeConflict("no", origins=[Origin("caller"), at], details=[f"at {at}", "and more"], hint="mend it")
        assert "roles/web.json:9: no\n  and more\n  mend it" == finding_of(error).text()

    def test_the_same_finding_is_passed_over_as_often_as_it_was_known(self):
        """
        Twice known, three times found: one is left, the last.
        """
        found = [Finding("NA0303", "warning", "twice", "a.yaml", line) for line in (1, 5, 9)]
        left, passed = Selection(known={found[0].fingerprint: 2}).reported(found)
        assert ([9], 2) == ([one.line for one in left], passed)

    def test_a_fingerprint_does_not_know_lines(self):
        """
        Neither its own nor those in the sentence.
        """
        one = Finding("NA0303", "warning", "what line 3, column 1 says is lost, see b.yaml:7", "a.yaml", 5)
        other = Finding("NA0303", "error", "what line 4, column 2 says is lost, see b.yaml:8", "a.yaml", 6)
        assert one.fingerprint == other.fingerprint
        assert one.fingerprint != Finding("NA0303", "warning", "other", "a.yaml", 5).fingerprint
