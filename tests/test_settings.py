"""The settings of a call: where they are looked for, who overrides whom, and what is told of them."""

from __future__ import annotations

import json
import os

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import UnknownField
from nodeattrs.formats import nearest as finding
from nodeattrs.project.config import SETTINGS
from nodeattrs.project.settings import Settings
from nodeattrs.store import open_store
from tests.on_disk import repository

STORE = 'environment = "production"\nstore = "kept.db"\n'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A repository with settings, and a folder in it to call from."""
    for name in ("NODEATTRS_REPO", "NODEATTRS_STORE"):
        monkeypatch.delenv(name, raising=False)
    files = {"nodes/web1.json": {"name": "web1"}, "environments/production.json": {"name": "production"}}
    repository(tmp_path / "site", {"nodeattrs.toml": STORE, "facts.json": {"platform": "ubuntu"}, **files})
    (tmp_path / "site" / "docs" / "old").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "site" / "docs" / "old")
    return tmp_path / "site"


def who(settings, name):
    """Who set it, and whom that overrode."""
    return [claim.origin.name or claim.origin.kind for claim in settings.folded.trace((name,)).claims]


class TestWhoOverridesWhom:
    def test_options_over_variables_over_the_file_over_the_default(self, site):
        """One fold, so that all of them are told."""
        settings = Settings({"store": "by-option"}, {"NODEATTRS_STORE": "by-variable"})

        assert settings.store == "by-option"
        assert who(settings, "store") == ["--store", "NODEATTRS_STORE", "settings", "default"]

    @pytest.mark.parametrize(
        ("options", "variables", "store"),
        [
            ({}, {}, "../../kept.db"),
            ({}, {"NODEATTRS_STORE": "mine.db"}, "mine.db"),
            ({}, {"NODEATTRS_STORE": ""}, "../../kept.db"),
            ({"store": "x.db", "repo": None}, {}, "x.db"),
            ({"repo": "../.."}, {}, "../../kept.db"),
            ({"repo": ".."}, {"NODEATTRS_REPO": "../.."}, ".nodeattrs/nodes.db"),
        ],
    )
    def test_a_path_counts_from_where_it_was_written(self, site, options, variables, store):
        """In the file from its repository, elsewhere from here."""
        assert Settings(options, variables).store == store

    def test_every_setting_has_a_default(self, site, monkeypatch, tmp_path):
        """And one trace, also where there is no file."""
        monkeypatch.chdir(tmp_path)
        settings = Settings({}, {})

        assert settings.repository is None
        assert {(name,): value for name, value in SETTINGS.items()} == {
            one.path: one.value for one in settings.traces()
        }


class TestLookingUpwards:
    def test_the_nearest_one_counts(self, site):
        """One further down hides those above, whole."""
        (site / "docs" / "nodeattrs.toml").write_text('environment = "docs"\n')
        settings = Settings({}, {})

        assert settings.folded["repo"] == ".."
        assert settings.folded["environment"] == "docs"
        assert settings.store == os.path.join("..", ".nodeattrs", "nodes.db")

    @pytest.mark.parametrize("sign", [".git", "cookbooks", "roles"])
    def test_nobody_looks_beyond_the_root_of_a_repository(self, site, sign):
        """What is above it belongs to another one."""
        (site / "docs" / sign).mkdir()

        assert Settings({}, {}).repository is None

    def test_somebody_elses_above_does_not_count(self, site, monkeypatch):
        """It is told; it counts for who stands beside it, or names it."""
        monkeypatch.setattr(finding.os, "geteuid", lambda: os.lstat(site).st_uid + 1)
        if os.lstat(site).st_uid == 0:
            os.chown(site / "nodeattrs.toml", 4711, -1)
        settings = Settings({}, {})

        assert settings.repository is None
        assert "belongs to another user" in str(settings.warnings[0])
        monkeypatch.chdir(site)
        assert Settings({}, {}).repository is not None

    def test_a_run_from_below_is_a_run_of_the_repository(self, site, capsys):
        """And all commands mean one store."""
        assert 0 == main(["run", "-q", "--all", "--facts", str(site / "facts.json")])
        assert open_store(site / "kept.db").names()
        assert 0 == main(["status"])
        assert "web1" in capsys.readouterr().out


class TestEveryCommandJudgesThem:
    @pytest.mark.parametrize(
        "words",
        [
            "status",
            "show web1",
            "explain web1 a",
            "history web1",
            "search a:b",
            "store check",
            "facts --facts ../../facts.json",
            "hiera lookup k",
            "bindings check",
            "cloud-config check x",
            "catalog check --from x.json",
            "config",
            "node rm web1 a",
            "fleet resolve",
            "run --all --facts ../../facts.json",
        ],
    )
    def test_what_is_misspelt_or_misplaced_is_told(self, site, capsys, words):
        """Each with its line, whatever else the command has to say."""
        (site / "nodeattrs.toml").write_text('stoer = "x"\n[allowed]\nstore = "y"\n')
        main(words.split())
        told = capsys.readouterr().err

        assert (
            "nodeattrs.toml:1:1: unknown field stoer in the settings; it is ignored [NA0302]\n  did you mean store?"
            in told
        )
        assert "nodeattrs.toml:3:1: unknown field allowed['store']" in told
        assert "write store above the first [table]" in told

    def test_a_setting_among_the_rules_of_paths_is_an_error_that_says_so(self, site, capsys):
        """No policy is called like a place."""
        (site / "nodeattrs.toml").write_text('[merge]\n"a.b" = "append"\nstore = "kept.db"\n')

        assert 1 == main(["status"])
        assert "if the setting store is meant, write it above the first [table]" in capsys.readouterr().err

    def test_unknown_settings_are_warned_of_and_ignored(self, site):
        """It is warned of, and has no trace."""
        (site / "nodeattrs.toml").write_text('stoer = "x"\n[allowed]\nstore = "y"\nautomatic = []\n')
        settings = Settings({}, {})

        names = {one.path for one in settings.traces()}
        assert ("allowed", "automatic") in names
        assert not names & {("stoer",), ("allowed", "store")}
        assert all(isinstance(one, UnknownField) for one in settings.warnings)


class TestTheCommand:
    def test_the_config_command_prints_each_setting_with_its_line(self, site, capsys, monkeypatch):
        """What it overrode stands below; a default that was overridden goes without saying."""
        monkeypatch.setenv("NODEATTRS_STORE", "mine")
        assert 0 == main(["config"])
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]

        assert ["environment", "nodeattrs.toml:1", '"production"'] in rows
        assert ["store", "variable", "NODEATTRS_STORE", '"mine"'] in rows
        assert ["nodeattrs.toml:2,", "overridden", '"kept.db"'] in rows

    def test_a_password_is_not_shown(self, site, capsys):
        """Of no one who set it."""
        (site / "nodeattrs.toml").write_text('store = "postgresql://me:secret@db/nodes"\n')
        for form in ("text", "json"):
            assert 0 == main(["config", "--format", form, "--store", "postgresql://me:secret@other/nodes"])
            out = capsys.readouterr().out
            assert "postgresql://me@other/nodes" in out
            assert "secret" not in out
        (store,) = (one for one in json.loads(out)["settings"] if one["name"] == "store")
        assert [claim["outcome"] for claim in store["claims"]] == ["wins", "loses", "loses"]


def test_a_repository_that_is_named_is_judged_and_limits_too(site, capsys, tmp_path):
    """Also by a command that keeps no nodes; that of the current directory is not looked at then."""
    repository(tmp_path / "other", {"nodeattrs.toml": "stoer = 1\n[limits]\nvalues = 1\nstore = 2\n"})

    main(["catalog", "check", "--repo", str(tmp_path / "other"), "--node", "web1", "--facts", str(site / "facts.json")])

    told = capsys.readouterr().err
    assert "unknown field stoer" in told
    assert "nodeattrs.toml:4:1: unknown field limits['store'] in the settings; it is ignored" in told
    assert "write store above the first [table]" in told
