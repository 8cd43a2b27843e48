"""Entry points of installed packages, and of what lies in the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nodeattrs import border
from nodeattrs.packages import entry_points


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path with the metadata of two packages that offer the same two points."""
    for name in ("first-1.dist-info", "second.egg-info"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry_points.txt").write_text("[house.points]\nz = a:b\na = c:d\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_points_come_once_each_and_sorted_by_name(package: Path) -> None:
    assert [(one.name, one.value) for one in entry_points("house.points")] == [("a", "c:d"), ("z", "a:b")]


def test_a_group_that_no_package_has_gives_an_empty_list() -> None:
    assert entry_points("house.no_such_points") == []


def test_a_package_that_lies_in_the_current_folder_does_not_count(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package)
    assert entry_points("house.points") == []


def test_an_egg_info_in_the_current_folder_is_no_reading_outside_of_a_repository(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package)
    repository = tmp_path / "repository"
    repository.mkdir()
    with border.held(border.Border([repository])):
        entry_points("house.points")
        assert border.refused() == ()
