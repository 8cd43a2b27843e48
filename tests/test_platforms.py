"""Facts of platforms by name: what is shipped, and folders in fauxhai's shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.dialects.chef.facts.known import platform_file, platforms
from nodeattrs.errors import NotFound
from tests.platform_facts import STAND_INS


def tree(name: str, folder: Path | None = None):
    return load_facts(platform_file(name, folder)).tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, version in (("ubuntu", "20.04"), ("ubuntu", "22.04"), ("ubuntu", "9.10"), ("debian", "12")):
        file = tmp_path / "fauxhai" / "lib" / "fauxhai" / "platforms" / name / f"{version}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"platform": name, "platform_version": version}), encoding="utf-8")
    return tmp_path / "fauxhai"


@pytest.mark.parametrize("name", platforms())
def test_what_is_shipped_says_what_it_is_and_names_no_machine(name: str):
    said = tree(name)
    assert f"{said['platform']}-{said['platform_version'].partition('.')[0]}" == name
    assert {"kernel", "os", "lsb", "packages", "chef_packages"} <= said.keys()
    assert {key: said[key] for key in STAND_INS} == STAND_INS


def test_a_checkout_of_fauxhai_or_its_folder_of_platforms_goes_before_what_is_shipped(folder: Path):
    for place in (folder, folder / "lib" / "fauxhai" / "platforms"):
        assert tree("ubuntu-20.04", place) == {"platform": "ubuntu", "platform_version": "20.04"}
        assert "kernel" not in tree("debian-12", place)
        assert "kernel" in tree("debian-13", place)


@pytest.mark.parametrize(("name", "version"), [("ubuntu", "22.04"), ("ubuntu-20", "20.04"), ("ubuntu-9.10", "9.10")])
def test_part_of_a_version_is_the_newest_that_begins_so(folder: Path, name: str, version: str):
    assert tree(name, folder)["platform_version"] == version


@pytest.mark.parametrize("name", ["ubuntu-2", "../../etc/passwd", "", "ubuntu/20.04", "debian-12.json"])
def test_what_names_none_is_refused_and_never_a_path(folder: Path, name: str):
    with pytest.raises(NotFound, match="no facts of a platform"):
        platform_file(name, folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(NotFound, match="no folder"):
        platforms(tmp_path / "none")


def test_the_setting_names_the_folder(folder: Path, tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "nodeattrs.toml").write_text('[facts]\nfauxhai = "fauxhai"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Repository(tmp_path).platforms_folder == tmp_path / "fauxhai"
    assert main(["facts", "platform_version", "--platform", "ubuntu"]) == 0
    assert '"22.04"' in capsys.readouterr().out
    assert main(["run", "--node", "n", "--platform", "ubuntu", "--new", "--store", "s.db"]) == 0
    assert main(["explain", "n", "platform_version", "--store", "s.db"]) == 0
    assert "platforms/ubuntu/22.04.json" in capsys.readouterr().out


def test_a_platform_is_no_machine_so_a_run_asks_for_the_node(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--platform", "debian-12"]) == 2
    assert "--node NAME" in capsys.readouterr().err
    assert main(["run", "--platform", "debian-12", "--facts", "x.json", "--node", "n"]) == 2
    assert "not allowed with" in capsys.readouterr().err


def test_a_fleet_may_have_the_facts_of_a_platform(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "nodes").mkdir()
    for name in ("a", "b"):
        (tmp_path / "nodes" / f"{name}.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["fleet", "resolve", "--platform", "debian-12", "--jobs", "2", "--new"]) == 0
    capsys.readouterr()
    assert main(["show", "b", "platform"]) == 0
    assert "debian" in capsys.readouterr().out
