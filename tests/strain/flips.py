"""One bit that is another, or a file that is cut: every revision is right, or somebody says that it is not."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
from typing import Any

from nodeattrs.errors import NodeattrsError
from nodeattrs.store import Saved, Store, open_store

NAMES = ("web1", "db1")
REVISIONS = 5


def strain(folder: pathlib.Path, file: str, count: int, chance: random.Random) -> dict[str, Any]:
    """Damage *count* copies of a store, which *file* names in a folder.

    Harmless is what changed no answer; told is what load, history or check say.
    """
    good, copy = folder / "good", folder / "copy"
    good.mkdir()
    truth = _filled(open_store(str(good / file)))
    figures: dict[str, Any] = {"flips and cuts": count, "harmless": 0, "told": 0, "told by check alone": 0, "bad": []}
    for _ in range(count):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(good, copy)
        where = _damaged(copy, chance)
        try:
            figures[_judged(str(copy / file), truth)] += 1
        except Exception as error:  # a silent wrong answer, or an error that is none of the project's
            figures["bad"].append(f"{where}: {type(error).__name__}: {error}")
    return figures


def _filled(store: Store) -> dict[tuple[str, int], Saved]:
    truth = {}
    for number in range(1, REVISIONS + 1):
        for name in NAMES:
            own = number // 2 if name == "web1" else number  # one of them does not change every time
            pad = {f"k{key}": f"{name}{own if key % 4 == 0 else 0}-{key}" * 5 for key in range(40)}
            saved = Saved(name, {"name": name, "normal": {"number": own, "pad": pad}}, {"number": own, "pad": pad})
            truth[name, store.save(saved).number] = saved
    store.close()
    return truth


def _damaged(folder: pathlib.Path, chance: random.Random) -> str:
    """Flip a bit of a file, or cut it off; what was done."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.stat().st_size)
    (file,) = chance.choices(files, [file.stat().st_size for file in files])
    content = bytearray(file.read_bytes())
    at, bit = chance.randrange(len(content)), chance.randrange(10)
    if bit < 8:
        content[at] ^= 1 << bit
        file.write_bytes(bytes(content))
    else:
        os.truncate(file, at)
    return f"{'flip' if bit < 8 else 'cut'} at {at} of {file.relative_to(folder)}"


def _judged(place: str, truth: dict[tuple[str, int], Saved]) -> str:
    """How it was taken. raises: AssertionError, for a wrong answer of which nobody says anything"""
    told, wrong = False, ""
    store = None
    try:
        store = open_store(place)
        for name in NAMES:
            its_told, its_wrong = _asked(store, name, truth)
            told, wrong = told or its_told, wrong or its_wrong
        checked = bool(store.check())
    except NodeattrsError:
        told = checked = True
    finally:
        if store is not None:
            store.close()
    assert told or checked or not wrong, f"silent: {wrong}"
    return "told" if told else "told by check alone" if checked else "harmless"


def _asked(store: Store, name: str, truth: dict[tuple[str, int], Saved]) -> tuple[bool, str]:
    """Whether it is told that something is wrong with a node, and what is wrong though nothing was said there."""
    told, wrong = False, ""
    for number in (*range(1, REVISIONS + 1), None):
        try:
            found = store.load(name, number)
        except NodeattrsError:
            told = True
            continue
        wanted = truth[name, number or REVISIONS]
        if found is None or found.document != wanted.document or found.snapshot not in (None, wanted.snapshot):
            wrong = wrong or f"{name} {number} is {found and found.document}"
        told = told or bool(found and found.note)
    try:
        numbers = [revision.number for revision in store.history(name)]
        if numbers != list(range(REVISIONS, 0, -1)):
            wrong = wrong or f"{name} has the revisions {numbers}"
    except NodeattrsError:
        told = True
    return told, wrong
