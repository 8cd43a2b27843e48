"""The catalog of a run of the example repository: written below a scratch root, refreshed, and nothing else."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from nodeattrs.catalog import Outcome, Report
from nodeattrs.catalog.transaction import Change
from nodeattrs.cli import main
from nodeattrs.dialects.chef.run.applying import Journal, noted_report
from nodeattrs.store import open_store
from tests.on_disk import repository

ROOT = Path(__file__).parents[1]
NODE = ["--node", "web1", "--run-list", "role[web],recipe[apache2::files]"]
RUN = ["--repo", "cookbooks_example", "--facts", "cookbooks_example/facts", *NODE]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cookbooks_example").symlink_to(ROOT / "cookbooks_example")
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("desk")
class TestExample:
    def test_the_catalog_example_writes_an_apache_configuration_once(self, capsys):
        """
        The second run changes nothing; a file that was changed by hand comes back, and the server reads it again.
        """
        apply = ["catalog", "apply", "--root", "scratch", "--format", "json", *RUN]
        ports, reloads = Path("scratch/etc/apache2/ports.conf"), Path("scratch/var/run/apache2/reloads")
        counts = []
        for turn in range(3):
            if turn == 2:
                ports.write_text("Listen 1\n")
            assert main(apply) == 0
            counts.append((json.loads(capsys.readouterr().out)["counts"], reloads.read_text().count("\n")))

        assert [(9, 1, 1), (0, 0, 1), (2, 1, 2)] == [(one["changed"], one["refreshed"], done) for one, done in counts]
        assert "Listen 80\nListen 443\nListen 9443\nListen 8080\n" == ports.read_text()
        assert "../sites-available/shop.conf" == str(Path("scratch/etc/apache2/sites-enabled/shop.conf").readlink())

    def test_noop_writes_nothing(self, capsys):
        """
        And says what it would write.
        """
        assert main(["catalog", "apply", "--noop", "--root", "scratch", *RUN]) == 0
        assert "would be created" in capsys.readouterr().out
        assert [] == list(Path("scratch").iterdir())
        assert json.loads(Path(".nodeattrs/reports/web1.jsonl").read_text().splitlines()[0])["noop"]

    def test_a_file_leads_to_the_attributes_that_made_it(self, capsys):
        """
        With the line of the recipe.
        """
        assert main(["catalog", "order", "--format", "json", *RUN]) == 0
        rows = {row["resource"]: row for row in json.loads(capsys.readouterr().out)["order"]}
        ports = rows["File[/etc/apache2/ports.conf]"]

        assert "cookbooks/apache2/recipes/files.py" == ports["origin"]["file"]
        assert "apache2.listen_ports" in ports["reads"]

    def test_a_run_without_resources_has_an_empty_catalog(self, capsys):
        """
        Attributes alone declare nothing.
        """
        assert main(["catalog", "check", *RUN[:6], "--facts", "cookbooks_example/facts"]) == 0
        assert "0 resources" in capsys.readouterr().out

    def test_explain_goes_from_a_file_to_who_set_its_attributes(self, capsys):
        """
        File, line, attribute, winner.
        """
        assert main(["catalog", "explain", "File[/etc/apache2/ports.conf]", *RUN]) == 0
        said = capsys.readouterr().out

        assert "File[/etc/apache2/ports.conf]  cookbooks/apache2/recipes/files.py:" in said
        assert "apache2.listen_ports" in said
        assert "cookbooks/apache2/attributes/default.py:" in said
        assert "roles/web.json:" in said

    @pytest.mark.parametrize("form", ["text", "json"])
    def test_a_run_applies_what_its_recipes_declare(self, form, capsys):
        """
        With --apply; --noop only tells; without them attributes are all there is.
        """
        run = ["run", *RUN, "--store", "nodes.db", "--root", "scratch", "--format", form]
        assert main(run) == 0
        assert main([*run, "--noop"]) == 0
        assert [] == list(Path("scratch").iterdir())
        capsys.readouterr()
        assert main([*run, "--apply"]) == 0

        said = capsys.readouterr().out
        counts = json.loads(said)["runs"][0]["catalog"]["counts"] if form == "json" else None
        assert Path("scratch/etc/apache2/ports.conf").exists()
        assert counts is None or counts["changed"] == 9
        assert form == "json" or "web1: 9 resources, 9 changed, 1 refreshed" in said

    def test_a_run_that_changes_nothing_does_not_apply(self, capsys):
        """
        The two words contradict each other.
        """
        assert main(["run", *RUN, "--why-run", "--apply"]) == 2
        assert "use --noop" in capsys.readouterr().err


SECRET = "s3cret"
BROKEN = f"""
file("/motd", content="hello {SECRET}")
execute("false", command="echo {SECRET}; exit 3", before=File["/after"])
file("/after", content="never")
directory("/there")
"""


@pytest.fixture
def kitchen(desk: Path) -> Path:
    """A repository whose recipe declares four resources, of which one fails and one has to wait for it."""
    files = {
        "cookbooks/app/recipes/default.py": BROKEN,
        "nodes/web1.json": {"name": "web1", "run_list": ["recipe[app]"]},
        "facts.json": {"platform": "ubuntu", "fqdn": "web1.example.com"},
    }
    repository(desk / "repo", files)
    (desk / "scratch" / "there").mkdir()
    return desk


KITCHEN = ["run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json", "--root", "scratch"]


class TestTheRevision:
    """What applying did is part of the revision."""

    def test_a_run_whose_resources_failed_is_noted_as_failed(self, kitchen, capsys):
        """
        With what the run came to, and the resources that were not as they should be; with no text that may be secret.
        """
        assert 1 == main([*KITCHEN, "--apply"])
        saved = open_store(".nodeattrs/nodes.db").load("web1")
        report = saved.noted.report

        assert (False, "", 1) == (saved.noted.ok, saved.noted.error, saved.revision.number)
        assert "web1.example.com" == saved.document["automatic"]["fqdn"]
        assert {"changed": 1, "failed": 1, "skipped": 1, "visited": 4} == report["counts"]
        assert [
            ("File[/motd]", ["changed"], ["ensure"]),
            ("Execute[false]", ["failed"], ["run"]),
            ("File[/after]", ["skipped"], []),
        ] == [(one["resource"], one["status"], one["changes"]) for one in report["resources"]]
        assert SECRET not in json.dumps(report)

    def test_a_name_that_is_no_text_is_applied_reported_and_kept(self, kitchen, capsys):
        """
        File names need not be UTF-8, and a recipe may have found one in a directory.
        """
        recipe = "import os\nfile(os.fsdecode(b'/there/caf\\xe9'), content='x')\n"
        Path("repo/cookbooks/app/recipes/default.py").write_text(recipe)

        assert 0 == main([*KITCHEN, "--apply"])
        _, told, _ = map(json.loads, Path(".nodeattrs/reports/web1.jsonl").read_text().splitlines())
        (noted,) = open_store(".nodeattrs/nodes.db").load("web1").noted.report["resources"]
        assert ("File[/there/caf\udce9]", "File[/there/caf\\udce9]") == (told["resource"], noted["resource"])
        assert [b"caf\xe9"] == os.listdir(b"scratch/there")

    def test_the_report_is_for_its_owner_only(self, kitchen):
        """
        It quotes what commands print.
        """
        was = os.umask(0)
        try:
            main([*KITCHEN, "--apply", "--store", "elsewhere.db"])
        finally:
            os.umask(was)
        modes = [stat.S_IMODE(os.stat(f".nodeattrs/reports{part}").st_mode) for part in ("", "/web1.jsonl")]

        assert [0o700, 0o600] == modes

    @pytest.mark.parametrize("lines", [0, 2])
    def test_a_report_that_cannot_be_written_on_is_an_error_that_names_it(self, kitchen, capsys, monkeypatch, lines):
        """
        A full disk, for one: from the start, or after some lines.
        """
        noted = []
        real = Journal.note

        def note(journal, outcome):
            noted.append(outcome)
            if len(noted) > lines:
                os.dup2(os.open("/dev/full", os.O_WRONLY), journal._file.fileno())
            real(journal, outcome)

        monkeypatch.setattr(Journal, "note", note)

        assert 1 == main([*KITCHEN, "--apply", "--report", "report"])
        assert (
            "error: the report report cannot be written: No space left on device [NA0501]\n" == capsys.readouterr().err
        )
        assert "StoreError" == open_store(".nodeattrs/nodes.db").load("web1").noted.error

    def test_history_and_status_show_it(self, kitchen, capsys):
        """
        Briefly as text, and whole as data.
        """
        main([*KITCHEN, "--apply"])
        capsys.readouterr()
        main(["history", "web1"])
        assert "  failed (1 changed, 1 failed, 1 skipped)" in capsys.readouterr().out
        main(["status"])
        assert "revision 1  failed (1 changed, 1 failed, 1 skipped)\n1 node, 1 failed\n" in capsys.readouterr().out
        main(["history", "web1", "--format", "json"])
        (told,) = json.loads(capsys.readouterr().out)["revisions"]
        assert told["report"] == open_store(".nodeattrs/nodes.db").load("web1").noted.report

    def test_noop_is_kept_as_such_and_fails_no_run(self, kitchen, capsys):
        """
        What would be changed is no failure.
        """
        assert 0 == main([*KITCHEN, "--noop"])
        noted = open_store(".nodeattrs/nodes.db").load("web1").noted
        main(["history", "web1"])

        assert (True, True, 3) == (noted.ok, noted.report["noop"], noted.report["counts"]["would_change"])
        assert "  ok (3 would change)" in capsys.readouterr().out

    def test_a_catalog_that_cannot_be_applied_fails_the_run(self, kitchen, capsys):
        """
        Nothing is touched then, and the node is as it was before.
        """
        Path("repo/cookbooks/app/recipes/default.py").write_text("file('/a', require=File['/nosuch'])\n")

        assert 1 == main([*KITCHEN, "--apply"])
        saved = open_store(".nodeattrs/nodes.db").load("web1")
        sort = "ReferenceNotFound at cookbooks/app/recipes/default.py:1"
        assert (False, sort, None) == (saved.noted.ok, saved.noted.error, saved.noted.report)
        assert "Could not find resource" in capsys.readouterr().err

    def test_an_interrupted_apply_is_noted_in_the_revision(self, kitchen, capsys):
        """
        The other nodes do not begin.
        """
        Path("repo/cookbooks/app/recipes/default.py").write_text(
            "import os, signal\ndirectory('/one')\n"
            "execute('stop', command=f'kill -INT {os.getpid()}; sleep 5')\ndirectory('/two')\n"
        )
        assert 130 == main([*KITCHEN, "--apply", "--node", "web2"])
        store = open_store(".nodeattrs/nodes.db")
        noted = store.load("web1").noted

        assert (False, True, 1) == (noted.ok, noted.report["interrupted"], noted.report["not_visited"])
        assert ["web1"] == store.names()

    def test_an_unchanged_run_costs_next_to_nothing(self):
        """
        However many resources are as they should be.
        """
        report = Report({f"File[/{number}]": Outcome(f"File[/{number}]") for number in range(1_000)}, seconds=1.23456)

        assert {"counts": {"visited": 1_000}, "seconds": 1.235} == noted_report(report)

    def test_of_a_change_only_the_property_is_kept(self):
        """
        Errors, differences and what was told may quote a secret.
        """
        outcome = Outcome(
            "File[/a]", changed=True, failed=True, changes=(Change("content", SECRET, SECRET),), errors=(SECRET,)
        )

        told = noted_report(Report({"File[/a]": outcome}))
        assert [{"resource": "File[/a]", "status": ["changed", "failed"], "changes": ["content"]}] == told["resources"]
