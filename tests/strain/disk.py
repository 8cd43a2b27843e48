"""A disk without room: what was promised stays, the error says why, and with room again it goes on."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import subprocess
from collections.abc import Iterator
from typing import Any

from nodeattrs.errors import StoreError
from nodeattrs.store import open_store
from tests.strain.kill import pair

ROOM = 600
"""Kibibytes of the disk."""


def strain(folder: pathlib.Path, file: str, count: int, chance: random.Random) -> dict[str, Any]:
    """Fill a small disk *count* times, each time with other leftovers in the way."""
    bad: list[str] = []
    saves = refused = 0
    for number in range(count):
        with _small_disk(folder / "disk") as disk:
            (disk / "filler").write_bytes(b"x" * chance.randrange(ROOM * 512))
            made, said = _filled(str(disk / file))
            (disk / "filler").unlink()
            saves, refused = saves + made, refused + 1
            store = open_store(str(disk / file))
            if "No space left" not in said and "full" not in said:
                bad.append(f"round {number}: {said}")
            saved = store.load("web1")
            mark = saved.document["normal"]["mark"] if saved else 0
            if mark != made or (saved and saved.snapshot != {**saved.document["normal"]}) or store.check():
                bad.append(f"round {number}: promised was {made}, there is {mark}; {store.check()}")
            store.close()
    return {"disks": count, "promised": saves, "refused": refused, "bad": bad}


def _filled(place: str) -> tuple[int, str]:
    """Save until there is no room; how often, and what was said then."""
    store = open_store(place)
    try:
        for mark in range(1, 10_000):
            try:
                store.save(pair("web1", mark))
            except StoreError as error:
                return mark - 1, str(error)
    finally:
        store.close()
    raise AssertionError("there is always room")


@contextlib.contextmanager
def _small_disk(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    folder.mkdir(exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}k", "tmpfs", str(folder)], check=True, capture_output=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def is_possible() -> bool:
    """Whether we may mount a disk here."""
    return os.geteuid() == 0
