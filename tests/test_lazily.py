"""Data classes whose methods are made late, beside those of the standard module; expressions; words of `typing`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import operator
import pickle
import re
import typing
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest

from nodeattrs import lazily, typed
from nodeattrs.core.borders import taking
from nodeattrs.errors import BadArgument

OPTIONS = [
    dict(zip(("frozen", "eq", "slots", "repr", "kw_only"), given, strict=True))
    for given in itertools.product((False, True), repeat=5)
]


def pair_of(dataclass: Any, field: Any, **options: bool) -> tuple[type, type]:
    """A class and one below it, by one of the two decorators."""

    @dataclass(**options)
    class Above:
        kind: ClassVar[str] = "above"
        a: int
        b: list[int] = field(default_factory=list)
        c: int = field(default=3, compare=False, repr=False)

    @dataclass(**options)
    class Below(Above):
        b: int = 4  # type: ignore[assignment]
        d: int = 5
        e: int = field(default=6, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "d", self.d + 1)

    return Above, Below


def answer(question: Callable[[], Any]) -> Any:
    """What comes of it: a value, or the error with its words."""
    try:
        return question()
    except Exception as error:
        return type(error), str(error)


def answers(kind: type) -> list[Any]:
    """What a class does when it is called, compared, printed, copied, changed and looked at."""
    calls: list[tuple[tuple[int, ...], dict[str, int]]] = [
        ((), {}),
        ((1,), {}),
        ((), {"a": 1}),
        ((), {"a": 1, "c": 9, "b": 2}),
        ((1, 2, 3), {}),
        ((1,), {"a": 2}),
        ((1,), {"z": 2}),
        ((1,), {"e": 2}),
    ]
    made = [answer(partial(kind, *args, **named)) for args, named in calls]
    good = [one for one in made if isinstance(one, kind)]
    one = good[0]
    # Of a frozen class with slots some versions of the standard module mistake names that are no fields of it.
    words = ("a",) if hasattr(kind, "__slots__") else ("a", "other")
    state = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}  # type: ignore[arg-type]
    return [
        [repr(one) if kind.__repr__ is not object.__repr__ else isinstance(one, kind) for one in made],
        [[first == second for first in good] for second in good],
        [answer(partial(hash, one)) for one in good if kind.__hash__ is not object.__hash__],
        [answer(partial(operator.lt, one, one)) for one in good],
        [answer(partial(setattr, copy.copy(one), word, 1)) for word in words],
        [answer(partial(delattr, copy.copy(one), word)) for word in words],
        {name: getattr(copy.deepcopy(one), name) for name in state} == state,
        kind.__match_args__,  # type: ignore[attr-defined]
        getattr(kind, "__slots__", None),
        str(inspect.signature(kind)),
        [(field.name, field.type, field.init, field.compare) for field in dataclasses.fields(kind)],  # type: ignore[arg-type]
        answer(lambda: dataclasses.asdict(dataclasses.replace(one, a=7))),  # type: ignore[type-var]
        kind.kind,  # type: ignore[attr-defined]
    ]


class TestDataClasses:
    @pytest.mark.parametrize("options", OPTIONS, ids=lambda given: " ".join(name for name in given if given[name]))
    def test_they_do_what_those_of_the_standard_module_do(self, options: dict[str, bool]):
        """
        For every set of options, and for a class below another: the same values, and the same words of the errors.
        """
        ours = [answers(kind) for kind in pair_of(lazily.dataclass, lazily.field, **options)]
        theirs = [answers(kind) for kind in pair_of(dataclasses.dataclass, dataclasses.field, **options)]

        assert theirs == ours

    def test_they_can_be_ordered(self):
        @lazily.dataclass(frozen=True, order=True)
        class One:
            a: int
            b: int = lazily.field(default=0, compare=False)

        assert (True, True, False) == (One(1) < One(2), One(1, 2) <= One(1, 1), One(1) > One(1))

    def test_one_can_be_below_ours_by_the_standard_module(self):
        @lazily.dataclass(frozen=True)
        class Ours:
            a: int

        @dataclasses.dataclass(frozen=True)
        class Theirs(Ours):
            b: int = 2

        assert "Theirs(a=1, b=2)" == repr(Theirs(1)).rpartition(".")[2]

    def test_one_that_contains_itself_is_printed(self):
        @lazily.dataclass
        class Ring:
            next: Any = None

        ring = Ring()
        ring.next = ring

        assert repr(ring).endswith("Ring(next=...)")

    def test_frozen_ones_with_slots_are_pickled(self):
        from nodeattrs.core.claim import Origin

        assert Origin("role", "web") == pickle.loads(pickle.dumps(Origin("role", "web")))

    def test_replace_makes_another(self):
        Above, _ = pair_of(lazily.dataclass, lazily.field)

        assert "Above(a=2, b=[])" == repr(lazily.replace(Above(1), a=2)).rpartition(".")[2]
        assert ("a", "b", "c") == lazily.field_names(Above)

    def test_what_a_class_takes_is_asked_of_it_too(self):
        """
        Before its `__init__` is made, and after.
        """

        @taking(a=int)
        @lazily.dataclass
        class Taking:
            a: int

        for _ in range(2):
            with pytest.raises(BadArgument, match=r"`a` of .*Taking is a whole number, and not the text"):
                Taking("x")  # type: ignore[arg-type]
            assert 1 == Taking(1).a


class TestRegexp:
    def test_it_is_the_compiled_one_from_the_first_call_on(self):
        expression = lazily.regexp(r"(\d)x", re.IGNORECASE)

        assert "1" == expression.fullmatch("1X")[1]  # type: ignore[index]
        assert (r"(\d)x", ["1", "2"]) == (expression.pattern, expression.findall("1x 2X"))

    def test_a_name_that_no_pattern_has_is_an_error(self):
        with pytest.raises(AttributeError, match="fits"):
            lazily.regexp("a").fits  # type: ignore[attr-defined]  # noqa: B018


class TestTyped:
    def test_a_named_tuple_is_one_of_typing(self):
        """
        Fields, defaults, methods and words of errors.
        """

        def made(NamedTuple: Any) -> Any:
            class Pair(NamedTuple):
                """Two."""

                a: int
                b: list[int] | None = None

                def both(self) -> tuple[Any, ...]:
                    return tuple(self)

                @property
                def sum(self) -> int:
                    return self.a + 1

            return Pair

        ours, theirs = made(typed.NamedTuple), made(typing.NamedTuple)
        for kind in (ours, theirs):
            assert ("Two.", ("a", "b"), {"b": None}) == (kind.__doc__, kind._fields, kind._field_defaults)
            assert ((1, 2), 2, "Pair(a=1, b=2)") == (kind(1, 2).both(), kind(1, b=2).sum, repr(kind(1, 2)))
            assert kind.__module__ == __name__
        assert answer(ours) == answer(theirs)

    def test_literals_are_their_values(self):
        assert ("a", "b") == typed.get_args(typed.Literal["a", "b"])
        assert ("a",) == typed.get_args(typed.Literal["a"])
