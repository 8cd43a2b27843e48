"""JSON by orjson and by the library: one text, one value, one error, whoever reads or writes."""

from __future__ import annotations

import enum
import json
import random
import struct
import uuid
from collections import OrderedDict
from decimal import Decimal
from pathlib import PurePath
from typing import Any

import pytest

from nodeattrs.errors import NodeattrsError
from nodeattrs.runs.batches import BATCH, each
from nodeattrs.texts import documents, fast_json

pytest.importorskip("orjson")


class _Letter(enum.StrEnum):
    A = "a"


class _Word(str):
    __slots__ = ()


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch):
    """Lets this process choose: by("orjson"), by("the library")."""

    def choose(who: str) -> None:
        library = fast_json._imported() if who == "orjson" else False
        assert library or who != "orjson"
        monkeypatch.setattr(fast_json._Choice, "library", library)

    return choose


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

TEXTS = [
    "1",
    "-0",
    "-0.0",
    "1e400",
    "1e-400",
    "1E5",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1234567890123456789",
    '"12345678901234567890"',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    "NaN",
    "[Infinity]",
    '{"a":1,"b":2,"a":3}',
    '{"a":{"x":1},"a":2}',
    '{"":1,"":1}',
    '["\\"", "\\\\"]',
    '{"\\u0061":1,"a":2}',
    "",
    " ",
    "[1,]",
    "[1",
    "01",
    "\ufeff1",
    '"\x01"',
    '"\u2028"',
    "\xa01",
    "'a'",
    "nul",
    "0.1000000000000000055511151231257827",
    "1" * 5_000,
    '"\\x"',
    "[" * 254 + "]" * 254,
    "[" * 255 + "]" * 255,
    "[" * 600 + "]" * 600,
    '{"a": 1} x',
    '{"a":"0.0000"}',
    "[0.00001]",
]


class TestWhatIsWritten:
    @pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
    def test_is_the_same_to_the_byte_and_so_is_the_refusal(self, by, value: Any):
        by("the library")
        expected = _outcome(lambda: fast_json.encoded(value)[0])
        by("orjson")
        assert _outcome(lambda: fast_json.encoded(value)[0]) == expected

    def test_floats_of_all_magnitudes_are_spelled_as_python_spells_them(self, by):
        by("orjson")
        draw = random.Random(1)
        floats = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(3_000)]
        floats += [draw.random() * 10 ** draw.randint(-8, 20) for _ in range(3_000)]
        for one in floats:
            if one == one and abs(one) != float("inf"):
                assert fast_json.encoded(one)[0].decode() == repr(one)

    @pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
    def test_what_is_said_to_come_back_does(self, by, value: Any):
        by("orjson")
        try:
            text, comes_back = fast_json.encoded(value)
        except (TypeError, ValueError, RecursionError):
            return
        assert not comes_back or json.loads(text) == value


class TestWhatIsRead:
    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:30])
    def test_is_the_same_value_or_the_same_error(self, by, text: str):
        by("the library")
        expected = _outcome(fast_json.decoded, text), _outcome(fast_json.decoded, text.encode())
        by("orjson")
        assert (_outcome(fast_json.decoded, text), _outcome(fast_json.decoded, text.encode())) == expected

    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:30])
    def test_is_the_same_in_a_file_of_data_with_the_same_warnings(self, by, text: str):
        def read() -> Any:
            try:
                document = documents.parse(text, "a.json", "json")
            except NodeattrsError as error:
                return str(error)
            return repr(document.tree), list(map(str, document.warnings)), document.place(("a",))

        by("the library")
        expected = read()
        by("orjson")
        assert read() == expected

    def test_a_key_written_twice_is_found_at_any_depth(self, by):
        by("orjson")
        document = documents.parse('{"a": [{"b": "\\"", "c": {"d": 1, "d": 2}}]}', "a.json", "json")
        assert ["d" in str(warning) for warning in document.warnings] == [True]


class TestWhoReads:
    def test_a_process_that_reads_little_does_not_import_orjson(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(fast_json._Choice, "library", None)
        monkeypatch.setattr(fast_json._Choice, "passed", 0)
        fast_json.decoded("[1]")
        assert fast_json._Choice.library is None
        fast_json.decoded(" " * fast_json.WORTH + "1")
        assert fast_json._Choice.library

    @pytest.mark.parametrize(("count", "is_there"), [(BATCH // 2, False), (BATCH, True)])
    def test_who_is_given_many_things_imports_it_at_once(self, monkeypatch, count, is_there):
        monkeypatch.setattr(fast_json._Choice, "library", None)
        monkeypatch.setattr(fast_json._Choice, "passed", 0)
        there = list(each(lambda _: bool(fast_json._Choice.library), range(count), jobs=1))
        assert [is_there] * count == there

    def test_without_orjson_the_library_does_it(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setitem(__import__("sys").modules, "orjson", None)
        assert fast_json._imported() is False
