"""JSON is written and read as `json` does it; a document has its warnings and limits at any depth."""

from __future__ import annotations

import enum
import json
import uuid
from collections import OrderedDict
from decimal import Decimal
from pathlib import PurePath
from typing import Any

import pytest

from nodeattrs.core.budget import in_force, limited
from nodeattrs.errors import TooMuch
from nodeattrs.formats import compact_json, documents


class _Letter(enum.StrEnum):
    A = "a"


class _Word(str):
    __slots__ = ()


def _outcome(work: Any, *given: Any) -> Any:
    try:
        return repr(work(*given))
    except (TypeError, ValueError, RecursionError) as error:
        return type(error), str(error)


def _nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


VALUES = [
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    -(2**63) - 1,
    10**30,
    float("nan"),
    float("inf"),
    -0.0,
    0.0,
    1e-5,
    4.59e-05,
    1e-7,
    -3.5e-09,
    1e-10,
    [1e-6],
    0.0001,
    1e15,
    1e16,
    1e22,
    5e-324,
    1.7976931348623157e308,
    None,
    True,
    False,
    "",
    '\x7f\x1f\u2028é😀\\"/',
    "\ud800",
    "0.0000",
    (1, 2),
    [(1,)],
    {1: 2},
    {None: 1},
    {True: 1},
    {"a": {1.5: 2}},
    b"x",
    {1, 2},
    Decimal("1.5"),
    uuid.UUID(int=1),
    PurePath("a"),
    _Letter.A,
    {_Letter.A: 1},
    _Word("x"),
    {_Word("x"): 1},
    OrderedDict(a=1),
    {"a": [1, {"b": None}], "c": {}},
    [None, float("nan")],
    _nested(254),
    _nested(255),
    _nested(300),
]


class TestWriting:
    @pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
    def test_a_value_is_written_as_json_writes_it(self, value: Any):
        def plainly(value: Any) -> bytes:
            return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

        assert _outcome(compact_json.encoded, value) == _outcome(plainly, value)

    def test_a_value_that_holds_itself_is_nested_too_deeply(self):
        value: list[Any] = []
        value.append(value)
        with pytest.raises(RecursionError):
            compact_json.encoded(value)


class TestReading:
    def test_a_key_written_twice_is_found_at_any_depth(self):
        document = documents.parse('{"a": [{"b": "\\"", "c": {"d": 1, "d": 2}}]}', "a.json", "json")
        assert ["d" in str(warning) for warning in document.warnings] == [True]

    @pytest.mark.parametrize(
        ("limits", "text"),
        [
            ({"depth": 3}, "[[[[]]]]"),
            ({"steps": 2_000}, str([1 + n * (2**61 - 1) for n in range(4)] * 20)),
        ],
    )
    def test_limits_are_kept(self, limits: dict[str, int], text: str):
        with limited(in_force().replaced(**limits)), pytest.raises(TooMuch):
            documents.parse(text, "a.json", "json")
