"""Processes that save in one store at once, or are killed while they do; the exam of stores starts and judges them.

`python -m tests.store_writers writer|counter|victim|first PLACE ...` is such a process. It loads neither pytest nor
Hypothesis, which would take longer than its work.
"""

import itertools
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from nodeattrs.store import Saved, open_store

ROOT = pathlib.Path(__file__).parent.parent


def pair(mark, name="web1", size=2_000):
    """A document and a snapshot that say the same mark, so that a mixture of two pairs shows."""
    document = {"name": name, "chef_environment": "_default", "normal": {"mark": mark, "padding": "d" * size}}
    return Saved(name, document, {"format": "nodeattrs-snapshot", "mark": mark, "padding": "s" * size})


def mark_of(saved):
    """The mark of a whole pair; anything else fails the test."""
    assert saved is not None
    assert saved.snapshot is not None, saved.note
    assert saved.document["normal"]["mark"] == saved.snapshot["mark"]
    assert saved.note == ""
    return saved.snapshot["mark"]


def other_process(*arguments):
    command = [sys.executable, "-m", "tests.store_writers", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write(store, who, count):
    for number in range(count):
        store.save(pair([who, number], size=2_000 + 37 * number))


def count_up(store, times):
    for _ in range(times):
        assert store.change("web1", one_more).number


def one_more(saved):
    saved.document["normal"]["count"] += 1
    return saved


def first(places, count=4):
    """Several processes at once save in each of the *places*, where nothing was saved before, and see what is there.

    Each saves a node of its own and one that all of them save.
    """
    processes = multiprocessing.get_context("fork")
    start = processes.Barrier(count)
    savers = [processes.Process(target=save_first, args=(who, places, start)) for who in range(count)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert [0] * count == [saver.exitcode for saver in savers]
    for place in places:
        store = open_store(place)
        assert ["all", *(f"own{who}" for who in range(count))] == store.names()
        assert list(range(count)) == [mark_of(store.load(f"own{who}")) for who in range(count)]
        assert list(range(count, 0, -1)) == [revision.number for revision in store.history("all")]
        assert set(range(count)) == {mark_of(store.load("all", number + 1)) for number in range(count)}
        assert [] == store.check()
        store.close()
    print(f"{len(places)} begun, none lost")


def save_first(who, places, start):
    try:
        for place in places:
            start.wait()
            store = open_store(place)
            store.save(pair(who, f"own{who}"))
            store.save(pair(who, "all"))
            store.close()
    except BaseException:
        start.abort()  # the others would wait for ever
        raise


def victim(place, rounds):
    """Fork a child that saves in a loop, kill it, and see what it left; *rounds* times.

    The child acknowledges each save on a pipe, so what may be found is known: what was
    acknowledged last, or the one after it. Each death falls within its first few saves.
    """
    store, chance = open_store(place), random.Random(rounds)
    began = time.monotonic()
    store.save(pair(0, size=20_000))
    pace = time.monotonic() - began
    last = 0
    for count in range(rounds):
        inlet, outlet = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(outlet, b"%d\n" % last)
            for number in itertools.count(last + 1):
                store.save(pair(number, size=20_000))
                os.write(outlet, b"%d\n" % number)
        os.close(outlet)
        with open(inlet, "rb") as acknowledged:
            acknowledged.readline()  # it lives, and saves from here on
            time.sleep(chance.uniform(0, 4 * pace))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            last = max([last, *map(int, acknowledged)])
        settle(store)
        newest = whole(store, itertools.islice(store.history("web1"), 5)) - 1
        found = mark_of(store.load("web1"))
        assert last <= newest == found <= last + 1, f"acknowledged {last}, found {newest} and {found}"
        last = found
        assert count % 10 or [] == store.check()
    assert [] == store.check()
    assert last + 1 == len(store.history("web1")) == whole(store, store.history("web1"))
    print(f"{rounds} killed, none lost")


def settle(store):
    """Wait until a server has ended what the dead have sent it: a save that comes later would be one more."""
    store.delete("nobody")  # alone, and so after all that save


def whole(store, revisions):
    """Load revisions of the victim, whose marks are one less than their numbers; the greatest number."""
    numbers = [revision.number for revision in revisions]
    assert [number - 1 for number in numbers] == [mark_of(store.load("web1", number)) for number in numbers]
    return max(numbers)


if __name__ == "__main__":
    task, where, *rest = sys.argv[1:]
    if task == "writer":
        write(open_store(where), rest[0], int(rest[1]))
    elif task == "counter":
        count_up(open_store(where), int(rest[0]))
    elif task == "first":
        first([where, *rest])
    else:
        victim(where, int(rest[0]))
