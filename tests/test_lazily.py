"""What is made at its first use."""

from __future__ import annotations

import re

import pytest

from nodeattrs import lazily


class TestRegexp:
    def test_it_is_the_compiled_one_from_the_first_call_on(self):
        expression = lazily.regexp(r"(\d)x", re.IGNORECASE)

        assert "1" == expression.fullmatch("1X")[1]  # type: ignore[index]
        assert (r"(\d)x", ["1", "2"]) == (expression.pattern, expression.findall("1x 2X"))

    def test_a_name_that_no_pattern_has_is_an_error(self):
        with pytest.raises(AttributeError, match="fits"):
            lazily.regexp("a").fits  # type: ignore[attr-defined]  # noqa: B018
