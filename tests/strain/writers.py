"""Many processes that count in one node, each save built on the one before: no count is lost, no reader sees half."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from nodeattrs.store import Saved, open_store

READERS = 2


def strain(place: str, writers: int, saves: int) -> dict[str, Any]:
    """So many *writers* save one node so many times each, and sometimes one of their own, while others look."""
    open_store(place).save(pair("shared", 0, {}))
    began = time.monotonic()
    children = [_forked(lambda who=who: _write(place, who, saves)) for who in range(writers)]
    children += [_forked(lambda: _look(place, writers * saves)) for _ in range(READERS)]
    bad = sum(os.waitpid(child, 0)[1] != 0 for child in children) * ["a process failed"]
    seconds = time.monotonic() - began
    store = open_store(place)
    saved, numbers = store.load("shared"), [revision.number for revision in store.history("shared")]
    assert saved is not None
    counts = saved.document["normal"]
    if counts["count"] != writers * saves or counts["who"] != {str(who): saves for who in range(writers)}:
        bad.append(f"counted were {counts['count']} of {writers * saves}: {counts['who']}")
    if numbers != list(range(writers * saves + 1, 0, -1)):
        bad.append(f"there are {len(numbers)} revisions, {numbers[:3]} and on")
    bad += store.check()
    store.close()
    return {
        "saves": writers * saves,
        "seconds": round(seconds, 1),
        "rate": round(writers * saves / seconds, 1),
        "bad": bad,
    }


def pair(name: str, count: int, who: dict[str, int]) -> Saved:
    """A document and a snapshot that say the same counts."""
    told = {"count": count, "who": who, "pad": {f"k{number}": f"{count}-{number}" for number in range(20)}}
    return Saved(name, {"name": name, "chef_environment": "_default", "normal": told}, told)


def _write(place: str, who: int, saves: int) -> None:
    store = open_store(place)

    def one_more(saved: Saved) -> Saved:
        told = saved.document["normal"]
        assert saved.snapshot == told, "half of a pair"
        counts = {**told["who"], str(who): told["who"].get(str(who), 0) + 1}
        return pair("shared", told["count"] + 1, counts)

    for number in range(saves):
        store.change("shared", one_more)
        if number % 5 == 0:
            store.save(pair(f"own{who}", number, {}))


def _look(place: str, last: int) -> None:
    store, seen, looks = open_store(place), -1, 0
    while seen < last:
        saved = store.load("shared")
        assert saved is not None
        told = saved.document["normal"]
        assert not saved.note, saved.note
        assert saved.snapshot == told, "half of a pair"
        assert told["count"] == sum(told["who"].values()) >= seen, f"{told['count']} after {seen}"
        seen, looks = told["count"], looks + 1
        if looks % 50 == 0:
            numbers = [revision.number for revision in store.history("shared")]
            assert numbers == list(range(numbers[0], 0, -1)), numbers
        time.sleep(0.02)


def _forked(task: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        task()
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
