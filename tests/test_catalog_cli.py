"""`nodeattrs catalog` on a catalog in a file, its reports, and the report that a run leaves behind."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs.catalog import Catalog, Resource, ref_of
from nodeattrs.catalog.types import Site
from nodeattrs.catalog.types.files import File
from nodeattrs.cli import main
from nodeattrs.dialects.chef.run.applying import apply_catalog, report_place
from nodeattrs.errors import BadName, StoreError

NTP = {
    "resources": [
        {"type": "Service", "title": "ntpd", "refreshable": True},
        {"type": "File", "title": "/etc/ntp.conf", "require": ["Package[ntp]"], "notify": ["Service[ntpd]"]},
        {"type": "Package", "title": "ntp"},
    ]
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(tree: Any, name: str = "catalog.json") -> str:
    Path(name).write_text(json.dumps(tree, indent=1))
    return name


def lines_of(report: Path) -> list[dict[str, Any]]:
    """What the lines of a report say: its head, the outcomes, and its end where the run was not cut off."""
    return [json.loads(line) for line in report.read_text().splitlines()]


@pytest.mark.usefixtures("desk")
class TestCommand:
    def test_order_lists_the_resources(self, capsys):
        """
        With the line of each declaration.
        """
        assert main(["catalog", "order", "--from", write(NTP)]) == 0
        assert (
            "1  Package[ntp]  catalog.json:18\n2  File[/etc/ntp.conf]  catalog.json:8\n"
            "3  Service[ntpd]  catalog.json:3\n"
        ) == capsys.readouterr().out

    def test_check_is_quiet_about_a_sound_catalog(self, capsys):
        """
        And ends with 0.
        """
        assert main(["catalog", "check", "--from", write(NTP)]) == 0
        assert ("3 resources, 2 containers, 2 relationships, 0 errors, 0 warnings\n") == capsys.readouterr().out

    def test_check_names_every_fault_and_ends_with_1(self, capsys):
        """
        What is missing, and the cycle with the reason of each edge.
        """
        tree = {
            "resources": [
                {"type": "File", "title": "/a", "before": ["File[/b]", "File[/x]"]},
                {"type": "File", "title": "/b"},
            ],
            "chains": ["File['/b'] ~> File['/a']"],
        }

        assert main(["catalog", "check", "--from", write(tree)]) == 1
        said = capsys.readouterr().out
        assert "Could not find resource 'File[/x]' in parameter 'before'" in said
        assert "1 dependency cycle: File[/a] => File[/b] => File[/a]" in said
        assert "  File[/a] => File[/b]: before of File[/a] at catalog.json:3 (catalog)" in said
        assert "  File[/b] => File[/a]: the chain File['/b'] ~> File['/a'] at catalog.json:" in said

        assert main(["catalog", "check", "--format", "json", "--from", "catalog.json"]) == 1
        missing, cycle = json.loads(capsys.readouterr().out)["findings"]
        assert ("NA0602", "catalog.json", 3) == (missing["code"], missing["file"], missing["line"])
        assert ("NA0603", "catalog.json", 3) == (cycle["code"], cycle["file"], cycle["line"])
        assert ["before of File[/a]", "the chain File['/b'] ~> File['/a']"] == [
            edge.partition(": ")[2].partition(" at ")[0] for edge in cycle["details"]
        ]

    @pytest.mark.parametrize("turned", [False, True])
    def test_why_says_what_lies_between(self, turned, capsys):
        """
        Whichever is named first.
        """
        pair = ["package[ntp]", "Service[ntpd]"][:: -1 if turned else 1]

        assert main(["catalog", "why", *pair, "--from", write(NTP)]) == 0
        said = capsys.readouterr().out
        assert said.startswith("Package[ntp] comes before Service[ntpd]\n  Package[ntp] -> File[/etc/ntp.conf]\n")
        notify = "  File[/etc/ntp.conf] ~> Service[ntpd]\n      notify of File[/etc/ntp.conf]  catalog.json:8\n"
        assert notify in said

    def test_impact_and_graph(self, capsys):
        """
        What refreshes, and two sorts of drawing.
        """
        write(NTP)
        assert main(["catalog", "impact", "File[/etc/ntp.conf]", "--from", "catalog.json"]) == 0
        assert "if it changes, these refresh: 1\n    Service[ntpd]" in capsys.readouterr().out
        assert main(["catalog", "graph", "--from", "catalog.json"]) == 0
        assert '"File[/etc/ntp.conf]" -> "Service[ntpd]";' in capsys.readouterr().out
        assert main(["catalog", "graph", "--as", "mermaid", "--from", "catalog.json"]) == 0
        assert capsys.readouterr().out.startswith("flowchart LR\n")

    @pytest.mark.parametrize("words", ["check", "order", "graph", "explain Package[ntp]", "impact Package[ntp]"])
    def test_yaml_says_what_json_says(self, words, capsys):
        """Of references, too, which are texts of a kind of their own."""
        write(NTP)
        said = []
        for form in ("json", "yaml"):
            assert main(["catalog", *words.split(), "--from", "catalog.json", "--format", form]) == 0
            said.append(capsys.readouterr().out)

        assert json.loads(said[0]) == yaml.safe_load(said[1])

    def test_apply_writes_below_the_root_and_keeps_a_report(self, capsys):
        """
        In no-op mode it says what it would do.
        """
        Path("scratch").mkdir()
        tree = {"resources": [{"type": "File", "title": "/motd", "parameters": {"content": "hello\n"}}]}
        words = ["catalog", "apply", "--root", "scratch", "--report", "report.jsonl", "--from", write(tree)]

        assert main([*words, "--noop"]) == 0
        assert "? File[/motd]  catalog.json:3\n    would be created\n" in capsys.readouterr().out
        assert not Path("scratch/motd").exists()
        assert main(words) == 0
        assert "catalog.json: 1 resources, 1 changed" in capsys.readouterr().out
        assert "hello\n" == Path("scratch/motd").read_text()
        assert [["changed"]] == [outcome["status"] for outcome in lines_of(Path("report.jsonl"))[1:-1]]

    def test_a_failure_ends_with_1(self, capsys):
        """
        And says which resources were skipped for it.
        """
        Path("scratch").mkdir()
        rows = [
            {"type": "Execute", "title": "exit 3", "parameters": {}, "before": ["Execute[true]"]},
            {"type": "Execute", "title": "true", "parameters": {}},
        ]

        assert main(["catalog", "apply", "--root", "scratch", "--from", write({"resources": rows})]) == 1
        said = capsys.readouterr().out
        assert "failed: run: exit 3 ended with 3" in said
        assert "ran exit 3" not in said
        assert "skipped because of Execute[exit 3]" in said

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "catalog.json:1"),
            ("[]", "a map was expected"),
            ('{"resources": [{"type": "File"}]}', "needs its title"),
            ('{"resources": [\n{"type": "File", "title": "a", "notify": "b"}]}', "catalog.json:2"),
            ('{"chains": ["File"]}', "chain:1:5"),
            ('{"resources": [{"type": "Nope", "title": "a", "parameters": {}}]}', "no resource type Nope"),
        ],
    )
    def test_a_file_that_is_no_catalog_is_an_error_with_its_line(self, text, said, capsys):
        """
        No traceback, exit code 1.
        """
        Path("catalog.json").write_text(text)

        assert main(["catalog", "check", "--from", "catalog.json"]) == 1
        assert said in capsys.readouterr().err

    @pytest.mark.parametrize(
        "words",
        [["check"], ["check", "--repo", "."], ["check", "--from", "x", "--node", "n"], ["why", "A"], ["nothing"]],
    )
    def test_what_is_not_understood_ends_with_2(self, words, capsys):
        """
        As everywhere.
        """
        assert main(["catalog", *words]) == 2


class TestJournal:
    def catalog(self) -> Catalog:
        catalog = Catalog()
        for name in ("/a", "/b"):
            catalog.add(Resource(ref_of(f"File[{name}]"), subject=File(name, content="x")))
        return catalog

    def test_a_report_has_a_head_a_line_for_each_resource_and_an_end(self, tmp_path):
        apply_catalog(self.catalog(), Site(tmp_path), node="web1", journal=tmp_path / "r" / "web1.jsonl")
        head, *outcomes, end = lines_of(tmp_path / "r" / "web1.jsonl")

        assert (1, "web1", False) == (head["version"], head["node"], end["interrupted"])
        assert ["File[/a]", "File[/b]"] == [outcome["resource"] for outcome in outcomes]

    def test_a_run_that_is_killed_leaves_a_truthful_report(self, tmp_path):
        """
        What was done is in it, what was not is not.
        """
        script = (
            "import sys\nfrom pathlib import Path\nfrom nodeattrs.catalog import Catalog, Resource, ref_of\n"
            "from nodeattrs.catalog.types import Site\nfrom nodeattrs.catalog.types.commands import Execute\n"
            "from nodeattrs.dialects.chef.run.applying import apply_catalog\ncatalog = Catalog()\n"
            "for command in ('touch $NODEATTRS_ROOT/begun', 'sleep 60', 'true'):\n"
            "    catalog.add(Resource(ref_of(f'Execute[{command}]'), subject=Execute(command)))\n"
            "root = Path(sys.argv[1])\napply_catalog(catalog, Site(root), journal=root / 'r.jsonl')\n"
        )
        child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], start_new_session=True)
        while not ((tmp_path / "r.jsonl").exists() and (tmp_path / "r.jsonl").read_text().count("\n") == 2):
            assert child.poll() is None
            time.sleep(0.02)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        for name in filter(str.isdigit, os.listdir("/proc")) if sys.platform == "linux" else ():
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
            if f"NODEATTRS_ROOT={tmp_path}".encode() in environment.split(b"\0"):
                os.kill(int(name), signal.SIGKILL)
        _, *outcomes = lines_of(tmp_path / "r.jsonl")

        assert [["changed"]] == [outcome["status"] for outcome in outcomes]

    def test_the_name_of_a_report_is_that_of_a_node(self):
        with pytest.raises(BadName):
            report_place("../x")

    @pytest.mark.parametrize("content", ["theirs", None])
    def test_a_link_in_its_place_is_not_followed(self, tmp_path, content):
        """
        Whoever put it there: nothing is written to where it leads, and nothing is applied.
        """
        victim, file = tmp_path / "victim", tmp_path / "r.jsonl"
        if content:
            victim.write_text(content)
        file.symlink_to(victim)
        with pytest.raises(StoreError, match=r"r\.jsonl is a symbolic link, and nothing is written to where it leads"):
            apply_catalog(self.catalog(), Site(tmp_path), journal=file)

        assert content == (victim.read_text() if victim.exists() else None)
        assert not (tmp_path / "a").exists()

    def test_a_new_report_takes_the_place_of_the_old_one(self, tmp_path):
        """
        Readable by its owner only, whatever the old one was; another name of that one keeps what it had.
        """
        other, file = tmp_path / "other", tmp_path / "r.jsonl"
        file.write_text("old")
        file.chmod(0o666)
        os.link(file, other)
        apply_catalog(self.catalog(), Site(tmp_path), journal=file)

        assert "ended" in lines_of(file)[-1]
        assert ("old", 0o600) == (other.read_text(), stat.S_IMODE(file.stat().st_mode))
        assert {"a", "b", "other", "r.jsonl"} == {path.name for path in tmp_path.iterdir()}

    def test_a_device_can_take_it(self, tmp_path):
        """
        It stays what it is.
        """
        apply_catalog(self.catalog(), Site(tmp_path), journal=Path(os.devnull))

        assert stat.S_ISCHR(os.stat(os.devnull).st_mode)

    def test_a_report_that_cannot_be_written_stops_the_run_before_it_begins(self, tmp_path):
        """
        Nothing is changed that nobody could tell of.
        """
        (tmp_path / "file").touch()
        with pytest.raises(StoreError):
            apply_catalog(self.catalog(), Site(tmp_path), journal=tmp_path / "file" / "r.jsonl")

        assert not (tmp_path / "a").exists()
