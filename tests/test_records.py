"""Data classes, named tuples and enums of our own beside those of the standard library: nobody sees a difference."""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import pickle
import sys
import typing
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nodeattrs import records

STANDARD: Any = SimpleNamespace(
    dataclass=dataclasses.dataclass,
    field=dataclasses.field,
    fields=dataclasses.fields,
    replace=dataclasses.replace,
    NamedTuple=typing.NamedTuple,
)


CLASSES = """
from __future__ import annotations
from typing import ClassVar

@way.dataclass(frozen=True, slots=True)
class Frozen:
    LIMIT: ClassVar[int] = 3
    name: str
    tags: list[str] = way.field(default_factory=list)
    note: str = way.field(default="", compare=False, repr=False)

    @property
    def loud(self) -> str:
        return self.name.upper()

@way.dataclass(frozen=True, slots=True)
class Below(Frozen):
    name: str = "below"
    more: int = way.field(default=0, kw_only=True)

@way.dataclass
class Open:
    one: int
    two: int = 2
    both: int = way.field(init=False, default=0)

    def __post_init__(self) -> None:
        self.both = self.one + self.two

@way.dataclass(frozen=True, order=True)
class Ordered:
    major: int
    minor: int = 0

@way.dataclass(kw_only=True, slots=True)
class Named:
    a: int
    b: int = 1

@way.dataclass(frozen=True, eq=False, repr=False)
class Bare:
    a: int

    def __repr__(self) -> str:
        return "bare"

@way.dataclass(frozen=True, slots=True)
class Own:
    a: float = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

@way.dataclass(frozen=True)
class Empty:
    pass

@way.dataclass(frozen=True, eq=False, repr=False)
class Quiet(Ordered):
    secret: str = "s"

class Pair(way.NamedTuple):
    left: int
    right: str = "r"

    def turned(self) -> tuple[str, int]:
        return self.right, self.left

class Wide(Pair):
    pass
"""


def classes(way: Any) -> ModuleType:
    """A module of classes, made in the one way or the other."""
    made = ModuleType("made_one_way_or_the_other")
    sys.modules[made.__name__] = made
    vars(made)["way"] = way
    exec(CLASSES, vars(made))
    return made


class Sides(typing.NamedTuple):
    """What a class statement of ours gives, and what the standard library's."""

    ours: ModuleType
    standard: ModuleType


@pytest.fixture(scope="module")
def sides() -> Sides:
    return Sides(classes(records), classes(STANDARD))


def listed(text: str) -> list[str]:
    return [one.strip() for line in text.strip().splitlines() for one in line.split(" | ")]


MADE = listed("""
    Frozen("a") | Frozen("a", ["t"], note="n") | Frozen(name="a") | Frozen() | Frozen("a", [], "", 1)
    Frozen("a", nome=1) | Frozen("a", name="b") | Below() | Below("a", more=2) | Below("a", [], "", 2) | Open(1)
    Open(1, 3) | Open(1, both=2) | Ordered(1) | Ordered(1, 2)
    Quiet(1, 0, "t") | Named(a=1) | Named(1) | Named(b=1) | Bare(1) | Own()
    Own(float("nan")) | Empty() | Empty(1) | Pair(1) | Pair(1, right="x") | Pair() | Pair(1, 2, 3)
    Pair(left=1, x=2) | Wide(1)
""")

ASKED = listed("""
    repr(x) | x == x | x == again | x != again | x < again | x >= again | hash(x) == hash(again) | {x: 1}[again]
    x.LIMIT | x.loud | x.turned() | copy.copy(x) | copy.deepcopy(x) == x | sent(x) | type(x).__match_args__
    type(x).__name__ | setattr(x, "name", 1) | setattr(x, "one", 5) | setattr(x, "b", 7) | delattr(x, "name")
    setattr(x, "other", 1) | hasattr(x, "__dict__") | dataclasses.is_dataclass(x)
    [(f.name, f.type, f.init, f.kw_only) for f in dataclasses.fields(x)] | dataclasses.replace(x, name="new")
    isinstance(x, tuple) or way.replace(x, one=7)
    isinstance(x, tuple) or way.replace(x, right=7)
    dataclasses.asdict(x) | dataclasses.astuple(x)
    isinstance(x, tuple) or [f.name for f in way.fields(x)]
    x._replace(right="s") | x._asdict() | type(x)._make([1, 2])
    type(x)._make([1]) | type(x)._fields | type(x)._field_defaults | [*x] | x[1] | x + (1,) | len(x)
    [(p.name, p.default, p.kind) for p in inspect.signature(type(x)).parameters.values()]
    isinstance(x, tuple) | type(x).two | matched(x, type(x))
    type(x).__hash__ is None | x == tuple(x) | inherited(x)
""")


def matched(x: Any, kind: Any) -> object:
    match x:
        case kind(first, second):
            return first, second
    return None


def inherited(x: Any) -> str:
    """A data class of the standard library below it."""
    return repr(
        dataclasses.make_dataclass("Lower", [("z", int, 0)], bases=(type(x),), frozen=type(x).__hash__ is not None)(1)
    )


def sent(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


def answer(side: ModuleType, way: Any, made: str, asked: str) -> Any:
    """What a question about a thing gives, or the error with its words."""
    sys.modules[side.__name__] = side
    space = {**vars(side), "copy": copy, "dataclasses": dataclasses, "inspect": inspect, "way": way}
    space |= {"sent": sent, "matched": matched, "inherited": inherited}
    try:
        space |= {"x": eval(made, space), "again": eval(made, space)}
        return repr(eval(asked, space))
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("made", MADE)
def test_it_is_as_the_standard_librarys(made: str, sides: Sides):
    """
    Made, compared, printed, copied, sent to another process, asked for its fields, and wrongly used.
    """
    ours = {asked: answer(sides.ours, records, made, asked) for asked in ASKED}
    standard = {asked: answer(sides.standard, STANDARD, made, asked) for asked in ASKED}

    # an attribute that is no field: 3.11 asks a class for it that slots have replaced
    lost = {asked: ours[asked] for asked, found in standard.items() if "super(type, obj)" in str(found)}
    assert all(found[0] is dataclasses.FrozenInstanceError for found in lost.values())
    assert standard | lost == ours


def test_nothing_is_compiled_before_one_is_made(monkeypatch: pytest.MonkeyPatch):
    """
    And then once for each class.
    """
    compiled: list[str] = []
    real: Callable[..., Any] = records._method
    monkeypatch.setattr(records, "_method", lambda kind, name, *rest: compiled.append(name) or real(kind, name, *rest))

    made: Any = classes(records)
    assert [] == compiled
    for _ in range(2):
        made.Frozen("a"), made.Pair(1), made.Wide(2)

    assert ["__init__", "__new__"] == compiled


@pytest.mark.parametrize(
    "text", ["@way.dataclass\nclass A:\n one: int = 1\n two: int", "class A(way.NamedTuple):\n one: int = 1\n two: int"]
)
def test_a_field_without_a_default_stands_before_those_with_one(text: str):
    """
    Else there is an error when the first one is made.
    """
    space = {"way": records, "__name__": "made_one_way_or_the_other"}
    exec(f"from __future__ import annotations\n{text}", space)

    with pytest.raises(TypeError, match="non-default argument"):
        space["A"](1, 2)  # type: ignore[operator]


ENUMS = """
class Verb(way.Enum):
    SET = "set"
    GONE = "is gone"

    @property
    def loud(self) -> str:
        return self.value.upper()

class Odd(way.Enum):
    ONE = 1
"""

OF_ENUMS = listed("""
    Verb.SET | str(Verb.SET) | Verb("set") is Verb.SET | Verb["GONE"].value | Verb("no") | Verb([]) | Verb["NO"]
    [*Verb] | len(Verb) | [one.name for one in Verb] | Verb.SET == "set" | Verb.SET == Verb.SET | Verb.SET != Verb.GONE
    {Verb.SET: 1}[Verb("set")] | sent(Verb.GONE) is Verb.GONE | copy.deepcopy(Verb.SET) is Verb.SET | Verb.SET.loud
    isinstance(Verb.SET, Verb) | Verb.SET in [Verb.GONE] | Verb.SET < Verb.GONE | Verb.__name__ | list(Verb.__members__)
    Odd(1) | Odd.ONE == 1 | Odd.ONE == Verb.SET | f"{Verb.SET}" | type(Verb.SET).__name__ | bool(Verb.SET) | Verb.SET.no
""")


@pytest.mark.parametrize("asked", OF_ENUMS)
def test_an_enum_is_as_the_standard_librarys(asked: str):
    found = []
    for way in (records, enum):
        made = ModuleType("made_one_way_or_the_other")
        sys.modules[made.__name__] = made
        vars(made).update(way=way, copy=copy, sent=sent)
        exec(ENUMS, vars(made))
        try:
            found.append(repr(eval(asked, vars(made))))
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            found.append(f"{type(error).__name__}: {error}")

    assert found[0] == found[1]
