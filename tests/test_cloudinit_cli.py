"""`nodeattrs cloud-config`: what comes out, where, and with which exit code."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs.cli import main
from nodeattrs.cloudinit import WARNINGS, merge

ROOT = Path(__file__).parents[1]
FILES = {
    "base.yaml": "#cloud-config\nruncmd: [one]\nntp:\n  enabled: true\nmotd: |\n  hello\n  you\nday: 2024-01-02\n",
    "web.yaml": "#cloud-config\nmerge_how: list(append)+dict(recurse_list)\nruncmd:\n- two\nntp:\n  enabled: false\n",
    "careless.yaml": "#cloud-config\nruncmd: [three]\n",
    "broken.yaml": "#cloud-config\na: [\n",
    "vendor.yaml": "#cloud-config\nruncmd: [vendor]\nntp: {servers: [v]}\n",
    "cloud.cfg": "users: [default]\n",
    "cmdline": "ro cc: quiet: true end_cc",
}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in a folder with the files above."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def ran(*words: str) -> tuple[int, str, str]:
        code = main(["cloud-config", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return ran


class TestMerge:
    def test_the_config_comes_out_as_a_config(self, run: Run):
        """A cloud-config again, keys in order, long texts as blocks."""
        code, out, err = run("merge", "base.yaml", "web.yaml")

        assert (code, err) == (0, "")
        assert out.startswith("#cloud-config\nruncmd:\n- one\n- two\n")
        assert "motd: |\n  hello\n  you\n" in out
        assert merge([out]).config == merge([FILES["base.yaml"], FILES["web.yaml"]]).config

    def test_as_json_dates_are_text(self, run: Run):
        """JSON has no dates."""
        code, out, _ = run("merge", "base.yaml", "--format", "json")

        assert (code, json.loads(out)["day"]) == (0, "2024-01-02")

    def test_format_cloud_init_prints_the_bytes_that_cloud_init_writes(self, run: Run):
        """Byte for byte."""
        code, out, _ = run("merge", "base.yaml", "web.yaml", "--format", "cloud-init")

        assert (code, out) == (0, merge([FILES["base.yaml"], FILES["web.yaml"]]).text)

    def test_as_a_message_that_merges_to_the_same(self, run: Run):
        """With the definition that was asked for in each header."""
        _, out, _ = run("merge", "base.yaml", "careless.yaml", "--how", "append", "--format", "mime")
        config = merge([out]).config

        assert config is not None
        assert config["runcmd"] == ["one", "three"]

    def test_option_how_gives_every_part_a_definition(self, run: Run):
        """A definition for every part, without editing a file."""
        _, out, err = run("merge", "base.yaml", "careless.yaml", "--how", "append")

        assert yaml.safe_load(out)["runcmd"] == ["one", "three"]
        assert err == ""

    def test_warnings_go_aside_and_can_be_switched_off(self, run: Run):
        """One by one, or all."""
        words = ("merge", "base.yaml", "web.yaml", "careless.yaml", "--warn")

        code, out, err = run(*words)
        assert code == 0
        assert "NA1153" in err
        assert "warning" not in out
        assert "[default-replaces]" not in run(*words, "--ignore", "default-replaces")[2]
        assert run(*words, "--ignore", "all")[2] == ""

    def test_a_rejected_part_is_told_and_ends_with_1(self, run: Run):
        """The rest is merged; --allow-failed ends with 0, as cloud-init goes on."""
        code, out, err = run("merge", "base.yaml", "broken.yaml", "--format", "json")

        assert (code, json.loads(out)["runcmd"]) == (1, ["one"])
        assert "broken.yaml:3:1: rejected: broken YAML" in err
        assert run("merge", "base.yaml", "broken.yaml", "--allow-failed")[0] == 0

    def test_standard_input_is_one_of_the_files(self, run: Run, monkeypatch: pytest.MonkeyPatch):
        """Written as a dash."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES["careless.yaml"].encode())))

        assert yaml.safe_load(run("merge", "base.yaml", "-", "--ignore", "all")[1])["runcmd"] == ["three"]

    def test_layers_lie_below_user_data(self, run: Run):
        """vendor-data, conf.d, the kernel command line."""
        layers = ("--vendor", "vendor.yaml", "--confd", "cloud.cfg", "--cmdline", "cmdline")
        _, out, err = run("merge", "base.yaml", *layers)
        config = yaml.safe_load(out)

        assert err == ""
        assert config["runcmd"] == ["one"]
        assert config["ntp"] == {"enabled": True, "servers": ["v"]}
        assert (config["users"], config["quiet"]) == (["default"], True)

    def test_the_older_manual(self, run: Run):
        """By its name."""
        _, out, _ = run("merge", "web.yaml", "careless.yaml", "--mode", "documented")

        assert yaml.safe_load(out)["runcmd"] == ["two", "three"]


class TestExplain:
    def test_without_a_path_each_step_is_told(self, run: Run):
        """Which mergers, from where, and what they did."""
        code, out, _ = run("explain", "base.yaml", "web.yaml")

        assert code == 0
        assert "2 web.yaml   merged  list(append)+dict(recurse_list)" in out
        assert "(body merge_how, web.yaml:2)" in " ".join(out.split())
        assert '+ extended  runcmd: ["one"] -> ["one", "two"]' in out
        assert "! dropped   ntp.enabled: false, true stays" in out

    def test_with_a_path_the_speakers_are_told(self, run: Run):
        """Each with file and line, and the rule that beat the losers."""
        code, out, _ = run("explain", "base.yaml", "web.yaml", "--path", "ntp.enabled", "--path", "runcmd.1")

        assert code == 0
        assert "web.yaml:6" in out
        assert "1 over 2: dict(no_replace): the old value stays" in out
        assert 'runcmd.1 = "two"' in out
        assert "web.yaml:4" in out

    def test_cloud_config_explain_as_json_has_parts_traces_and_steps(self, run: Run):
        """Parts, traces and steps."""
        _, out, _ = run("explain", "base.yaml", "web.yaml", "--path", "runcmd", "--steps", "--format", "json")
        data = json.loads(out)

        assert data["version"] == 1
        assert [part["source"] for part in data["parts"]] == ["default", "body merge_how"]
        assert data["traces"][0]["elements"][1]["places"] == ["web.yaml:4 (part)"]
        assert [step["number"] for step in data["steps"]] == [1, 2]

    def test_a_path_about_which_nobody_speaks_is_an_error(self, run: Run):
        """With near misses."""
        code, out, err = run("explain", "base.yaml", "--path", "runcdm")

        assert (code, out) == (1, "")
        assert "did you mean runcmd?" in err


class TestOddValues:
    @pytest.mark.parametrize("form", ["yaml", "json"])
    @pytest.mark.parametrize("action", ["merge", "explain"])
    def test_what_json_does_not_have_comes_out_as_text(self, run: Run, tmp_path: Path, action: str, form: str):
        """Dates and nulls as keys, infinity, sets, bytes."""
        odd = "2024-01-02: {2024-01-03: x, ~: .inf, true: !!set {q}, 5: !!binary AAEC}"
        (tmp_path / "odd.yaml").write_text(f"#cloud-config\n{odd}\na: {{{odd[0:10]}: 1}}\n")
        paths = ("--path", "a") if action == "explain" else ()
        code, out, err = run(action, "odd.yaml", *paths, "--format", form)

        assert (code, err) == (0, "")
        assert "2024-01-02" in out

    def test_a_name_cannot_move_the_cursor(self, run: Run, tmp_path: Path):
        """It comes out written, not done."""
        archive = '#cloud-config-archive\n- {filename: "x\\e[31m", content: "a: ["}\n'
        (tmp_path / "odd.yaml").write_text(archive)
        _, out, err = run("explain", "odd.yaml")

        assert "\x1b" not in out + err
        assert "x\\x1b[31m" in out


class TestCheck:
    def test_nothing_to_say_is_0(self, run: Run):
        """And one line."""
        assert run("check", "--together", "base.yaml", "web.yaml") == (0, "2 parts, 0 errors, 0 warnings\n", "")

    def test_anything_to_say_is_1(self, run: Run):
        """A warning as well as a fault."""
        code, out, _ = run("check", "base.yaml", "careless.yaml")
        assert code == 1
        assert "NA1153" in out

        code, out, _ = run("check", "broken.yaml")
        assert code == 1
        assert "broken.yaml:3:1" in out

    def test_ignored_findings_of_user_data_do_not_fail(self, run: Run):
        """For CI and pre-commit."""
        assert run("check", "base.yaml", "careless.yaml", "--ignore", "default-replaces")[0] == 0

    def test_cloud_config_check_as_json_names_the_findings(self, run: Run):
        """With the names."""
        data = json.loads(run("check", "base.yaml", "careless.yaml", "broken.yaml", "--format", "json")[1])

        assert data["ok"] is False
        assert [(one["name"], one["file"], one["line"]) for one in data["findings"]] == [
            ("empty", "broken.yaml", 3),
            ("default-replaces", "careless.yaml", 2),
        ]


class TestPack:
    def test_a_message_with_a_header_on_each_part(self, run: Run):
        """Named like the files, and merged as asked."""
        code, out, _ = run("pack", "base.yaml", "careless.yaml", "--merge-type", "append")
        merged = merge([out])

        assert code == 0
        assert [part.filename for part in merged.parts] == ["base.yaml", "careless.yaml"]
        assert merged.config is not None
        assert merged.config["runcmd"] == ["one", "three"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["merge", "nope.yaml"], "nope.yaml: cannot be read"),
            (["merge", "base.yaml", "--env", "."], "is not a regular file"),
            (["merge", "base.yaml", "--how", "odd"], "'odd' is no merger"),
            (["merge", "base.yaml", "--how", "odd()"], "there is no merger 'odd'"),
            (["pack", "base.yaml", "--merge-type", "list"], "list()"),
            (["merge", "base.yaml", "--confd", "nope"], "nope"),
            (["merge", "base.yaml", "--env", "base.yaml", "--env", "web.yaml"], "--env is one file"),
            (["explain", "base.yaml", "--path", '"open'], "cannot read the path"),
        ],
    )
    def test_what_cannot_be_done_ends_with_1_and_a_sentence(self, run: Run, words: list[str], said: str):
        """No traceback, nothing on stdout but what was merged."""
        code, _, err = run(*words)

        assert code == 1
        assert said in err
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["merge"],
            ["odd"],
            ["merge", "a", "--mode", "odd"],
            ["merge", "a", "--ignore", "odd"],
            ["check", "a", "--launch-index", "x"],
        ],
    )
    def test_what_is_not_understood_ends_with_2(self, run: Run, words: list[str]):
        """argparse says why."""
        assert run(*words)[0] == 2

    def test_every_warning_can_be_named(self, run: Run):
        """After --ignore."""
        assert run("check", "base.yaml", *(word for name in WARNINGS for word in ("--ignore", name)))[0] == 0


def test_the_example_merges_and_shows_its_mistake(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """The commands of cookbooks_example/cloud-init/README.md."""
    monkeypatch.chdir(ROOT / "cookbooks_example/cloud-init")
    lines = [
        line for line in Path("README.md").read_text(encoding="utf-8").splitlines() if line.startswith("nodeattrs ")
    ]
    codes: list[Any] = [main(line.partition(" > ")[0].split()[1:]) for line in lines]

    assert codes == [0, 0, 1, 0, 0]
