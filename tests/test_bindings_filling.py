"""Constructors, factories and functions are filled by their annotations; scopes keep, and close what was opened."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any, Protocol

import pytest

from nodeattrs import bindings, inject
from nodeattrs.bindings import (
    BindingError,
    BindingErrors,
    Bindings,
    Classes,
    Injector,
    LookupLoop,
    NotBound,
    Producer,
    kinds_of,
    named,
)
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.bindings.production import filling


class Repo(Protocol):
    def get(self) -> str: ...


class SqlRepo:
    def __init__(self, url: Annotated[str, named("db_url")]) -> None:
        self.url = url

    def get(self) -> str:
        return self.url


class Plugin: ...


class Xml(Plugin): ...


class Json(Plugin):
    def __init__(self, repo: Repo) -> None:
        self.repo = repo


@dataclass
class Web:
    repo: Repo
    port: Annotated[int, named("port")] = 80


class Left:
    def __init__(self, right: "Right") -> None: ...


class Right:
    def __init__(self, left: Left) -> None: ...


class Plain:
    def __init__(self, size: int) -> None: ...


class OfPlain:
    def __init__(self, plain: Plain) -> None: ...


class Broken:
    def __init__(self, repo: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821


def app(**values: Any) -> Bindings:
    one = Bindings("app")
    for name, value in {"db_url": "pg://", **values}.items():
        one.bind(name).to(value)
    one.bind(Repo).to_class(SqlRepo)
    return one


class TestFilling:
    def test_a_class_that_nobody_binds_is_made_of_what_is_bound(self):
        """
        A dataclass, through a Protocol, to a value by its name; its own default stays where nothing is bound.
        """
        web = Injector([[app()]]).inject(Web)

        assert (web.repo.get(), web.port) == ("pg://", 80)
        assert Injector([[app(port=8080)]]).inject(Web).port == 8080

    def test_a_factory_is_filled_as_a_constructor_is(self):
        """
        A function, a method, a partial, and an object that can be called.
        """

        def make(repo: Repo, /, *, url: Annotated[str, named("db_url")]) -> str:
            return f"{repo.get()}+{url}"

        class Maker:
            def __call__(self, repo: Repo) -> str:
                return repo.get()

            def method(self, repo: Repo) -> str:
                return repo.get()

        for factory, given in [
            (make, "pg://+pg://"), (Maker(), "pg://"), (Maker().method, "pg://"), (partial(make, url="x"), "pg://+x"),
        ]:  # fmt: skip
            one = app()
            one.bind("made", str).to_factory(factory)
            assert Injector([[one]]).inject("made") == given

    def test_plugins_come_as_a_list_and_by_name(self):
        """
        A multibind of a type is required by that type; its fragments need none of their own.
        """
        one = app()
        one.multibind(list[Plugin])
        one.fragment(list[Plugin]).to_class(Xml)
        one.fragment(list[Plugin]).to_class(Json)
        one.multibind("by name", dict[str, Plugin])
        one.fragment("by name", "xml").to_class(Xml)

        class Host:
            def __init__(self, several: list[Plugin], one: Annotated[dict[str, Plugin], named("by name")]) -> None:
                self.names = [type(plugin).__name__ for plugin in several], list(one)

        assert Injector([[one]]).inject(Host).names == (["Xml", "Json"], ["xml"])

    def test_a_fragment_that_is_no_element_is_refused(self):
        """
        Its type is that of the multibind.
        """
        one = app()
        one.multibind(list[Plugin])
        one.fragment(list[Plugin]).to_class(SqlRepo)

        with pytest.raises(BindingError, match=r"is no Type\[Plugin\]"):
            Injector([[one]]).inject(list[Plugin])

    @pytest.mark.parametrize("hint", [Repo | None, Annotated[Repo | None, named("other")]])
    def test_what_may_be_none_is_none_where_nothing_is_bound(self, hint):
        def make(repo: hint) -> list[Any]:
            return [repo]

        one = Bindings("x")
        one.bind("made").to_factory(make)

        assert Injector([[one]]).inject("made", list) == [None]

    def test_arguments_of_the_binding_and_of_who_asks_come_first(self):
        one = app()
        one.bind("web", Web).to_class(Web, port=1)
        injector = Injector([[one]])

        assert injector.inject("web", Web).port == 1
        assert injector.inject("web", Web, port=2).port == 2

    def test_the_injector_fills_itself_in(self):
        def make(own: Injector) -> list[Any]:
            return [own]

        one = Bindings("x")
        one.bind("made", list[object]).to_factory(make)
        injector = Injector([[one]])

        assert injector.inject("made", list[object])[0] is injector

    def test_an_object_is_bound_as_it_is(self):
        """
        `to_instance` of a text is a reference, of anything else the object.
        """
        repo, one = SqlRepo("x"), Bindings("x")
        one.bind(Repo).to_instance(repo)

        assert Injector([[one]]).inject(Repo) is repo

    def test_an_asynchronous_function_is_wired_too(self):
        one = app()

        @Injector([[one]]).wire
        async def handle(path: str, repo: Repo) -> str:
            return path + repo.get()

        assert asyncio.run(handle("/")) == "/pg://"


class TestMissing:
    def told(self, ask: Any) -> str:
        with pytest.raises(BindingError) as caught:
            ask()
        return str(caught.value)

    def test_the_chain_is_named_with_places_and_a_near_miss(self):
        one = Bindings("site")
        one.bind(Repo).to_class(SqlRepo)
        one.bind("dburl").to("x")
        lines = self.told(lambda: Injector([[one]]).inject(Web)).splitlines()

        assert lines[0].startswith("Web needs Repo needs db_url: not bound; nearest: dburl (")
        assert "test_bindings_filling.py:" in lines[0]
        assert [line.split(":")[0].strip() for line in lines[1:]] == ["new SqlRepo()", "Web"]

    @pytest.mark.parametrize(
        ("ask", "said"),
        [
            (Plain, "Plain needs size: int: its annotation says no key"),
            (OfPlain, "OfPlain needs Plain needs size: int: its annotation says no key"),
            (Broken, "Broken needs repo: Nowhere: its annotation says no key"),
            (Repo, "nothing is bound to Type[Repo]\n  bind it to a class that has all of its methods"),
        ],
    )
    def test_an_object_that_cannot_be_built_has_a_reason(self, ask, said):
        assert self.told(lambda: Injector([]).inject(ask)).startswith(said)

    def test_a_name_that_is_bound_as_another_type_is_no_near_miss_of_itself(self):
        one = Bindings("x")
        one.bind("log", Xml).to_class(Xml)
        one.variables({"must_be_set": 1})

        assert "it is bound as Type[Xml], at " in self.told(lambda: Injector([[one]]).inject("log", str))
        assert "it is a variable, bound at " in self.told(lambda: Injector([[one]]).inject("must_be_set"))
        assert "/var" not in self.told(lambda: Injector([[one]]).inject("must_be"))

    def test_a_missing_type_names_the_binding_under_a_name(self):
        """
        For whom asks by the type alone.
        """
        one = app()
        one.multibind("plugins", list[Plugin])

        class Host:
            def __init__(self, several: list[Plugin]) -> None:
                """Nothing."""

        told = self.told(lambda: Injector([[one]]).inject(Host))
        assert "Host needs Array[Type[Plugin]]: not bound; nearest: plugins (" in told
        assert "Annotated[..., named('plugins')]" in told

    def test_a_wrong_value_is_told_with_who_asked_for_it(self):
        one = Bindings("app")
        one.bind("db_url").to(5)

        assert "asked for by Type[SqlRepo]" in self.told(lambda: Injector([[one]]).inject(SqlRepo))

    def test_a_fragment_of_nothing_and_a_function_are_told_what_they_lack(self):
        one = Bindings("app")
        one.multibind("plugins", list[Plugin])
        one.fragment("plugins")

        assert "a fragment of 'plugins' is bound to nothing" in self.told(
            lambda: Injector([[one]]).inject("plugins", list[Plugin])
        )
        assert "wire(f)()" in self.told(lambda: Injector([[]]).inject(lambda: 1))

    def test_a_ring_is_told_as_a_ring(self):
        with pytest.raises(LookupLoop, match=r"Type\[Left\] -> Type\[Right\] -> Type\[Left\]"):
            Injector([]).inject(Left)

    def test_what_can_never_be_made_is_found_when_the_injector_is_built(self):
        """
        A Protocol as the class; a factory whose parameter says no key; a factory, a producer of another type.
        """

        def numbers() -> Iterator[int]:
            yield 1

        class Ticket(Producer):
            def produce(self) -> int:
                return 1

        one = Bindings("x")
        one.bind(Repo).to_class(Repo)
        one.bind("a").to_factory(lambda url: url)
        one.bind("b", str).to_factory(numbers)
        one.bind("c", str).to_producer(Ticket)
        one.bind("d", Xml).to_factory(partial(Json, repo=None))
        one.bind("fine", int).to_factory(numbers)
        one.bind("later").to_factory(_later)

        with pytest.raises(BindingError) as caught:
            Injector([[one]])
        assert kinds_of(caught.value) == {"abstract-class", "unfilled", "type-mismatch"}
        assert str(caught.value).count("gives Integer") == 2
        assert "later" not in str(caught.value)
        assert caught.value.errors[0].place

    def test_check_finds_what_a_constructor_lacks(self):
        one = Bindings("x")
        one.bind(Repo).to_class(SqlRepo)

        assert [error.kind for error in Injector([[one]]).check()] == ["missing"]
        assert Injector([[app()]]).check() == []


def _later(*, size: int) -> int:
    return size


class TestScopes:
    def test_a_request_keeps_its_own_and_shares_the_rest(self):
        one = app()
        one.bind(Json).to_class(Json).scope("request")
        one.bind(Xml).to_class(Xml).scope("none")
        injector = Injector([[one]])

        with injector.scope() as first, injector.scope() as second:
            assert first.inject(Json) is first.inject(Json) is not second.inject(Json)
            assert first.inject(Json).repo is second.inject(Json).repo is injector.inject(Repo)
            assert first.inject(Xml) is not first.inject(Xml)

    def test_without_one_the_error_names_who_needs_it(self):
        one = app()
        one.bind("session").to_factory(object).scope("request")
        one.bind("page").to_factory(_page)

        with pytest.raises(
            BindingError, match=r"page needs session, which lives in the scope request, and none is open"
        ):
            Injector([[one]]).inject("page")

    def test_scopes_nest_and_are_opened_with_values(self):
        """
        A job inside a run; the user is known inside the request alone.
        """
        one = Bindings("x")
        one.bind("job", list).to_factory(_list).scope("run")
        one.bind("user's", list).to_factory(_users).scope("request")
        run = Injector([[one]]).scope("run")

        with run.scope("request", {"user": "ann"}) as inner:
            assert inner.inject("job") is run.inject("job")
            assert inner.inject("user's", list) == ["ann"]
        with run.scope("request", {"user": "bob"}) as inner:
            assert inner.inject("user's", list) == ["bob"]
            assert inner.inject("user") == "bob"
        with pytest.raises(NotBound):
            run.inject("user")

    def test_what_was_opened_is_closed_in_reverse_order(self):
        """
        Functions that yield, those of contextlib, and classes that are said to close; also after an error.
        """
        log: list[str] = []

        def first() -> Iterator[str]:
            log.append("open first")
            yield "first"
            log.append("close first")

        @contextmanager
        def second(one: Annotated[str, named("first")]) -> Iterator[str]:
            yield f"{one} second"
            log.append("close second")
            raise ValueError("at the end")

        class Third:
            def __enter__(self) -> "Third":
                return self

            def __exit__(self, *_: object) -> None:
                log.append("close third")

        one = Bindings("x")
        one.bind("first").to_factory(first)
        one.bind("second").to_factory(second).scope("request")
        one.bind(Third).to_class(Third).scope("request").closing()
        injector = Injector([[one]])
        request = injector.scope()
        assert request.inject("second") == "first second"
        request.inject(Third)
        with pytest.raises(ValueError, match="at the end"):
            request.close()
        assert log == ["open first", "close third", "close second"]
        injector.close()
        assert log[-1] == "close first"
        assert injector.inject("first") == "first"
        assert log[-1] == "open first"

    def test_the_same_graph_is_made_again_and_again(self):
        """
        From the second time on by a plan: with values of the scope, keywords, optional ones and errors as before.
        """

        class Leaf:
            def __init__(self, *, user: Annotated[str, named("user")], port: Annotated[int, named("port")] = 5) -> None:
                self.told = user, port

        class Tree:
            def __init__(self, one: Leaf, two: Xml, three: Repo, four: Xml) -> None:
                self.parts = one, two, three, four

        one = app()
        one.bind(Xml).to_class(Xml).scope("none")
        for kind in (Leaf, Tree):
            one.bind(kind).to_class(kind).scope("request")
        injector = Injector([[one]])
        for user in ("ann", "bob", "cid"):
            with injector.scope("request", {"user": user}) as request:
                trees = [request.inject(Tree), request.inject(Tree)]
                assert trees[0] is trees[1]
                leaf, left, repo, right = trees[0].parts
                assert (leaf.told, left is right, repo) == ((user, 5), False, injector.inject(Repo))
        for _ in range(3):
            with injector.scope() as request, pytest.raises(NotBound, match="Tree needs Leaf needs user: not bound"):
                request.inject(Tree)

    def test_a_plan_does_not_outlive_what_it_holds(self):
        """
        Closed, the injector makes new singletons, also for scopes.
        """
        one = app()
        one.bind(Json).to_class(Json).scope("request")
        injector = Injector([[one]])
        before = [injector.scope().inject(Json).repo for _ in range(3)]
        injector.close()

        assert injector.scope().inject(Json).repo is not before[-1]
        assert before[0] is before[-1]

    def test_threads_share_a_request(self):
        one = app()
        one.bind(Json).to_class(Json).scope("request")
        request = Injector([[one]]).scope()
        found: list[Any] = []
        threads = [threading.Thread(target=lambda: found.append(request.inject(Json))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(found) == 8
        assert len(set(map(id, found))) == 1


def _page(session: Annotated[object, named("session")]) -> object:
    return session


def _list() -> list[Any]:
    return []


def _users(user: Annotated[str, named("user")]) -> list[str]:
    return [user]


class TestAsync:
    def bound(self, log: list[str]) -> Bindings:
        async def connect(url: Annotated[str, named("db_url")]) -> AsyncIterator[str]:
            log.append("open")
            await asyncio.sleep(0)
            yield f"{url}connected"
            log.append("close")

        async def count(connection: Annotated[str, named("connection")]) -> int:
            await asyncio.sleep(0)
            log.append("count")
            return len(connection)

        def both(count: Annotated[int, named("count")], again: Annotated[int, named("count")]) -> list[int]:
            return [count, again]

        one = app()
        one.bind("connection").to_factory(connect).scope("request")
        one.bind("count").to_factory(count).scope("none")
        one.bind("both").to_factory(both).scope("request")
        return one

    def test_asynchronous_factories_are_awaited_where_they_are_needed(self):
        """
        Each time they have to be made, and not once more; what they opened is closed.
        """
        log: list[str] = []

        async def main() -> Any:
            async with Injector([[self.bound(log)]]).scope() as request:
                return await request.ainject("both")

        assert asyncio.run(main()) == [14, 14]
        assert log == ["open", "count", "count", "close"]

    def test_many_wait_for_one_product(self):
        log: list[str] = []

        async def main() -> None:
            async with Injector([[self.bound(log)]]).scope() as request:
                await asyncio.gather(*(request.ainject("connection") for _ in range(5)))

        asyncio.run(main())
        assert log == ["open", "close"]

    def test_inject_says_what_has_to_be_awaited(self):
        request = Injector([[self.bound([])]]).scope()

        with pytest.raises(BindingError, match="connection has to be awaited") as caught:
            request.inject("connection")
        assert caught.value.kind == "needs-await"

    def test_one_that_fails_is_tried_again(self):
        tries: list[int] = []

        async def flaky() -> str:
            tries.append(1)
            if len(tries) == 1:
                raise OSError("not yet")
            return "now"

        one = Bindings("x")
        one.bind("flaky").to_factory(flaky)

        async def main() -> str:
            injector = Injector([[one]])
            with pytest.raises(OSError, match="not yet"):
                await injector.ainject("flaky")
            return str(await injector.ainject("flaky"))

        assert asyncio.run(main()) == "now"

    def test_closing_what_was_opened_asynchronously_needs_a_loop(self):
        log: list[str] = []

        async def main() -> None:
            request = Injector([[self.bound(log)]]).scope()
            await request.ainject("connection")
            with pytest.raises(BindingError, match="aclose"):
                request.close()
            await request.aclose()

        asyncio.run(main())
        assert log == ["open", "close"]


class _Positional:
    def __init__(self, a: int, /, b: "str", *rest: int, c: int = 1, d, **more: int) -> None: ...


class _Calls(type):
    def __call__(cls, way: int) -> Any:
        return super().__call__()


class _Called(metaclass=_Calls):
    def __init__(self) -> None: ...


class _New:
    def __new__(cls, made: str = "x") -> Any:
        return super().__new__(cls)


class _Told:
    __signature__ = signature(lambda told: None)

    def __init__(self, other: int) -> None: ...


class _Rest:
    def __init__(*everything: Any) -> None: ...


def _plain(a, b: "int" = 2, /, c=None, *, d: str, e=3) -> None: ...


@wraps(_plain)
def _wrapping(*given: Any) -> None: ...


class _Answers:
    def __call__(self, asked: int, again: int = 0) -> None: ...

    def method(self, one: int) -> None: ...


@pytest.mark.parametrize(
    "call",
    [_plain, _wrapping, _Positional, _Called, _New, _Told, _Rest, Web, Xml, Json, Repo, SqlRepo, _Answers(),
     _Answers().method, partial(_plain, 1), lambda: None, dict.get, int, len, object],
    ids=lambda call: type(call).__name__,
)  # fmt: skip
def test_the_slots_of_a_callable_are_the_parameters_of_its_signature(call: Any):
    """Whatever is called: a function, a wrapped one, a class, a method, a part of a function, an object."""
    ways = {0: "by position", 1: "either way", 3: "by name"}
    try:
        expected = [one for one in signature(call).parameters.values() if int(one.kind) in ways]
    except ValueError:
        expected = []

    assert [
        (one.name, ways[int(one.kind)], ABSENT if one.default is one.empty else one.default) for one in expected
    ] == [(slot.name, slot.way, slot.default) for slot in filling.slots_of(call, Classes())]


@pytest.mark.parametrize(("key", "given"), [(Plugin, Xml), (Repo, SqlRepo)])
def test_the_error_for_a_class_bound_as_a_value_names_to_class(key, given):
    """`.to(CLASS)` binds the class itself, which is no object of the class."""
    one = Bindings("app")
    one.bind(key).to(given)

    with pytest.raises(BindingErrors) as caught:
        Injector([[one]])
    assert caught.value.errors[0].hint == f"an object of the class is made by .to_class({given.__name__})"


def test_injection_and_its_injector_have_at_most_twenty_public_names():
    assert len(inject.__all__) <= 20
    assert len([name for name in dir(Injector()) if not name.startswith("_")]) <= 20


@pytest.mark.parametrize("name", inject.__all__)
def test_the_names_of_injection_are_those_of_bindings(name):
    assert getattr(inject, name) is getattr(bindings, name)
