"""The cache of a process: one value for each key, a bound, and threads that share it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nodeattrs.cache import Cache


def test_a_value_is_made_once():
    cache, made = Cache(most=2), []

    assert [1, 1] == [cache.get("a", lambda: made.append("a") or 1) for _ in range(2)]
    assert ["a"] == made


def test_the_entry_that_was_used_longest_ago_is_dropped():
    cache, made = Cache(most=2), []
    for key in "abacab":
        cache.get(key, lambda key=key: made.append(key))

    assert ["a", "b", "c", "b"] == made
    assert 2 == len(cache)


def test_none_is_a_value():
    cache, made = Cache(most=2), []
    for _ in range(2):
        cache.get("a", lambda: made.append(1))

    assert [1] == made


def test_an_error_is_not_kept():
    cache = Cache(most=2)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 / 0)

    assert 1 == cache.get("a", lambda: 1)


def test_a_value_may_be_made_of_others():
    cache = Cache(most=1)

    assert 2 == cache.get("a", lambda: cache.get("b", lambda: 1) + 1)


def test_the_cache_can_be_cleared():
    cache = Cache(most=2)
    cache.get("a", lambda: 1)
    cache.clear()

    assert 2 == cache.get("a", lambda: 2)


def test_threads_that_make_a_value_at_once_get_the_same_one():
    cache, gate = Cache(most=8), threading.Barrier(8)

    def make() -> object:
        gate.wait()
        return object()

    with ThreadPoolExecutor(8) as threads:
        found = [one.result() for one in [threads.submit(cache.get, "a", make) for _ in range(8)]]

    assert 1 == len(set(map(id, found)))
