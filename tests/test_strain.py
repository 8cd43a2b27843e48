"""The strain programs in small: they find nothing here, and would find what they look for."""

import os
import random

import pytest

from nodeattrs.store import Store, open_store
from tests.strain import carry, flips, kill, writers
from tests.strain.__main__ import COUNTS, main, strained


@pytest.mark.parametrize(("kind", "count"), [("kill", 5), ("writers", 4), ("first", 2), ("flips", 40), ("apply", 10)])
def test_no_strain_finds_anything(tmp_path, kind, count):
    assert kind in COUNTS
    assert [] == strained(kind, "sqlite", count, 7, tmp_path)["bad"]


def test_a_history_that_lost_something_on_its_way_is_found(tmp_path, monkeypatch):
    places = [str(tmp_path / name) for name in ("a.db", "b.db", "c.db")]
    assert [] == carry.strain(places, 1, random.Random(7))["bad"]

    monkeypatch.setattr(carry, "copy_store", lambda source, target, on_node=None: target.save(source.load("n0")))
    places = [str(tmp_path / name) for name in ("d.db", "e.db")]
    assert any("is not what went" in fault for fault in carry.strain(places, 1, random.Random(7))["bad"])


def test_a_lost_save_is_found(tmp_path):
    store = open_store(tmp_path / "nodes.db")
    store.save(kill.pair("web1", 1))

    assert (["[3, 3] is gone"], ["promised was [3, 3], there is [1, 1]"]) == (
        kill._found(store, "web2", [3, 3])[1],
        kill._found(store, "web1", [3, 3])[1],
    )


def test_a_lost_count_is_found(tmp_path, monkeypatch):
    """One who overwrites what others have counted."""
    monkeypatch.setattr(writers, "_look", lambda *_: None)
    monkeypatch.setattr(Store, "change", lambda store, name, change: store.save(writers.pair(name, 1, {"0": 1})))

    assert any("counted were 1 of 4" in fault for fault in writers.strain(str(tmp_path / "nodes.db"), 2, 2)["bad"])


def test_a_silent_damage_is_found(tmp_path, monkeypatch):
    """One that makes another whole document of a whole one."""

    def forged(folder, chance):
        open_store(str(folder / "nodes.db")).save(kill.pair("web1", 9))
        return "forged"

    monkeypatch.setattr(flips, "_damaged", forged)

    assert "silent: web1 None" in flips.strain(tmp_path, "nodes.db", 1, None)["bad"][0]


@pytest.mark.skipif(os.geteuid() == 0, reason="only where no disk can be mounted")
def test_what_cannot_be_done_here_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["disk"])


@pytest.mark.parametrize("words", [["flips", "--store", "postgresql"], ["kill", "--store", "tape"], ["nothing"]])
def test_the_strain_command_refuses_unknown_arguments(capsys, words):
    with pytest.raises(SystemExit):
        main(words)
