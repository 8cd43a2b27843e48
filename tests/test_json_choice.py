"""orjson and `json` give the same values, bytes and errors."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
import uuid
from collections import OrderedDict
from decimal import Decimal
from pathlib import PurePath
from typing import Any

import pytest

from nodeattrs.core.budget import in_force, limited
from nodeattrs.errors import NodeattrsError, TooMuch
from nodeattrs.formats import documents, json_choice

orjson = pytest.importorskip("orjson")


class _Letter(enum.StrEnum):
    A = "a"


class _Word(str):
    __slots__ = ()


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch):
    """Chooses the parser of this process: by("orjson"), by("json")."""

    def choose(parser: str) -> None:
        library = None if parser == "json" else orjson
        monkeypatch.setattr(json_choice, "LARGE", 0)
        monkeypatch.setattr(json_choice, "_orjson", lambda: library)

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


class TestWriting:
    @pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
    def test_a_value_is_written_as_json_writes_it(self, value: Any):
        def plainly(value: Any) -> bytes:
            return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

        assert _outcome(json_choice.encoded, value) == _outcome(plainly, value)

    def test_a_value_that_holds_itself_is_nested_too_deeply(self):
        value: list[Any] = []
        value.append(value)
        with pytest.raises(RecursionError):
            json_choice.encoded(value)


class TestReading:
    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:30])
    def test_both_parsers_give_one_value_or_one_error(self, by, text: str):
        by("json")
        expected = _outcome(json_choice.decoded, text.encode())
        by("orjson")
        assert _outcome(json_choice.decoded, text.encode()) == expected == _outcome(json.loads, text.encode())

    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:30])
    def test_both_parsers_give_one_document_with_the_same_warnings_and_lines(self, by, text: str):
        def read() -> Any:
            try:
                document = documents.parse(text, "a.json", "json")
            except NodeattrsError as error:
                return str(error)
            return repr(document.tree), list(map(str, document.warnings)), document.levels, document.place(("a",))

        by("json")
        expected = read()
        by("orjson")
        assert read() == expected

    @pytest.mark.parametrize("parser", ["json", "orjson"])
    def test_a_key_written_twice_is_found_at_any_depth(self, by, parser: str):
        by(parser)
        document = documents.parse('{"a": [{"b": "\\"", "c": {"d": 1, "d": 2}}]}', "a.json", "json")
        assert ["d" in str(warning) for warning in document.warnings] == [True]

    @pytest.mark.parametrize(
        ("limits", "text"),
        [
            ({"depth": 3}, "[[[[]]]]"),
            ({"steps": 2_000}, str([1 + n * (2**61 - 1) for n in range(4)] * 20)),
        ],
    )
    def test_both_parsers_keep_the_limits(self, by, limits: dict[str, int], text: str):
        for parser in ("json", "orjson"):
            by(parser)
            with limited(in_force().replaced(**limits)), pytest.raises(TooMuch):
                documents.parse(text, "a.json", "json")


class TestWhichParserReads:
    @pytest.mark.parametrize(("size", "is_imported"), [(json_choice.LARGE - 1, False), (json_choice.LARGE, True)])
    def test_orjson_is_imported_for_a_large_text(self, size: int, is_imported: bool):
        program = (
            f"from nodeattrs.formats.json_choice import decoded; decoded(b'1'.ljust({size})); "
            "import sys; print('orjson' in sys.modules)"
        )
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert said.stdout == f"{is_imported}\n"

    def test_without_orjson_json_reads(self):
        program = (
            "import sys; sys.modules['orjson'] = None; from nodeattrs.formats.json_choice import decoded; "
            f"print(decoded(b'[2]'.ljust({json_choice.LARGE})))"
        )
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert said.stdout == "[2]\n"
