"""The catalog of a run of the example repository: written below a scratch root, refreshed, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.runs.applying import read_journal

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
    def test_it_writes_an_apache_configuration_once(self, capsys):
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
        assert read_journal(Path(".nodeattrs/reports/web1.jsonl")).head["noop"]

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
        assert "web1: 0 resources" in capsys.readouterr().out

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
        run = ["run", *RUN, "--store", "nodes", "--root", "scratch", "--format", form]
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
