"""What is made at its first use."""

from __future__ import annotations

import re
import subprocess
import sys

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


_LATE = """
import re, sys
from nodeattrs.cli import LateExpressions
sys.meta_path.insert(0, LateExpressions("yaml"))
before = re.compile
import yaml
late = type(yaml.reader.Reader.NON_PRINTABLE).__name__
for loader in (yaml.SafeLoader, yaml.CSafeLoader):
    print(late, yaml.load("{a: [1, 2001-01-01, yes, 0x10, ~, 1.5], b: x}", loader))
print(re.compile is before, isinstance(re.compile("a"), re.Pattern), [type(one).__name__ for one in sys.meta_path][:1])
"""


def test_a_library_that_a_command_loads_compiles_nothing_before_it_is_used():
    """
    And reads the same then; `re` and the ways to find modules are as they were.
    """
    done = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True, check=True)

    first, second, after = done.stdout.splitlines()
    assert first == second
    assert first.startswith("_Regexp {'a': [1, datetime.date(2001, 1, 1), True, 16, None, 1.5], 'b': 'x'}")
    assert after.startswith("True True ")
    assert "LateExpressions" not in after
