"""What all tests share: no property test is failed for being slow.

On CI Hypothesis starts from its own profile there (the same examples each time);
this one only takes the clock away.
"""

import sys

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture
def without_regex(monkeypatch: pytest.MonkeyPatch):
    """As if the package `regex` were not installed; nothing that was made with it is remembered, here or after."""
    from nodeattrs.adapters.hiera import deep, types
    from nodeattrs.puppet import regex
    from nodeattrs.texts import patterns

    kept = (patterns.expression, regex.translated, types.parse_type, deep._prefix_pattern)
    monkeypatch.setitem(sys.modules, "regex", None)
    for one in kept:
        one.cache_clear()
    yield
    for one in kept:
        one.cache_clear()
