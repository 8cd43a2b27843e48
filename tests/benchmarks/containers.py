"""Twelve tasks in five containers of Python, side by side: python -m tests.benchmarks.containers

Each is written as the library's own documentation writes it, then in ours. What a task needs stands in its function,
classes that all can share above; lines are counted of the functions, as Python itself would write them.
"""

import ast
import asyncio
import inspect
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, NewType

from nodeattrs.bindings import BindingError, Bindings, Injector, named


class Db:
    def __init__(self, name: str = "real") -> None:
        self.name = name


class Repo:
    def __init__(self, db: Db) -> None:
        self.db = db


class Service:
    def __init__(self, repo: Repo) -> None:
        self.repo = repo


class Mail:
    def __init__(self, host: Annotated[str, named("host")]) -> None:
        self.host = host


class Plugin: ...


class Xml(Plugin): ...


class Json(Plugin): ...


class Newsletter:
    def __init__(self, mail: Mail | None = None) -> None:
        self.mail = mail


class Left:
    def __init__(self, right: "Right") -> None: ...


class Right:
    def __init__(self, left: Left) -> None: ...


LOG: list[str] = []


class Connection: ...


def connect() -> Iterator[Connection]:
    yield Connection()
    LOG.append("closed")


async def aconnect() -> AsyncIterator[Connection]:
    yield Connection()
    LOG.append("closed")


def make_db() -> Db:
    return Db("made")


def told(ask: Callable[[], Any]) -> str:
    """What an error says."""
    try:
        ask()
    except RecursionError as error:
        return "" if type(error) is RecursionError else str(error)
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return ""


# --- injector ---------------------------------------------------------------------------------


class InInjector:
    """https://injector.readthedocs.io: `@inject` on constructors, modules that configure a binder."""

    def constructor(self) -> bool:
        from injector import Injector, inject

        class MyRepo(Repo):
            @inject
            def __init__(self, db: Db) -> None:
                self.db = db

        class MyService:
            @inject
            def __init__(self, repo: MyRepo) -> None:
                self.repo = repo

        return Injector().get(MyService).repo.db.name == "real"

    def named_value(self) -> bool:
        from injector import Injector, inject

        Host = NewType("Host", str)

        class MyMail:
            @inject
            def __init__(self, host: Host) -> None:
                self.host = host

        def configure(binder: Any) -> None:
            binder.bind(Host, to=Host("mx"))

        return Injector(configure).get(MyMail).host == "mx"

    def factory(self) -> bool:
        from injector import Injector, Module, provider

        class DbModule(Module):
            @provider
            def db(self) -> Db:
                return make_db()

        return Injector(DbModule()).get(Db).name == "made"

    def plugins(self) -> bool:
        from injector import Injector

        def configure(binder: Any) -> None:
            binder.multibind(list[Plugin], to=[Xml()])
            binder.multibind(list[Plugin], to=[Json()])

        return len(Injector(configure).get(list[Plugin])) == 2

    def optional(self) -> bool:
        from injector import Injector

        return Injector().get(Newsletter).mail is None

    def override(self) -> bool:
        from injector import Injector

        def configure(binder: Any) -> None:
            binder.bind(Db, to=Db("real"))

        def for_tests(binder: Any) -> None:
            binder.bind(Db, to=Db("fake"))

        return Injector([configure, for_tests]).get(Db).name == "fake"

    def cycle(self) -> bool:
        from injector import Injector, inject

        class MyLeft:
            @inject
            def __init__(self, right: "MyRight") -> None: ...

        class MyRight:
            @inject
            def __init__(self, left: MyLeft) -> None: ...

        globals().update(MyLeft=MyLeft, MyRight=MyRight)
        return "MyLeft" in told(lambda: Injector().get(MyLeft))

    def wrong_type(self) -> bool:
        from injector import Injector

        def configure(binder: Any) -> None:
            binder.bind(Db, to=3)

        return told(lambda: Injector(configure).get(Db)) != ""

    def missing(self) -> bool:
        from injector import Injector, inject

        class MyMail:
            @inject
            def __init__(self, host: Repo) -> None: ...

        return "MyMail" in told(lambda: Injector(auto_bind=False).get(MyMail))


# --- punq -------------------------------------------------------------------------------------


class InPunq:
    """https://punq.readthedocs.io: a container in which everything is registered."""

    def constructor(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Db)
        container.register(Repo)
        container.register(Service)
        return container.resolve(Service).repo.db.name == "real"

    def named_value(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Mail, host="mx")
        return container.resolve(Mail).host == "mx"

    def factory(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Db, factory=make_db)
        return container.resolve(Db).name == "made"

    def plugins(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Plugin, Xml)
        container.register(Plugin, Json)
        return len(container.resolve_all(Plugin)) == 2

    def optional(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Newsletter)
        return container.resolve(Newsletter).mail is None

    def override(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Db)
        container.register(Db, instance=Db("fake"))
        return container.resolve(Db).name == "fake"

    def wrong_type(self) -> bool:
        from punq import Container

        container = Container()
        return told(lambda: container.register(Db, instance=3)) != ""

    def missing(self) -> bool:
        from punq import Container

        container = Container()
        container.register(Service)
        return "Repo" in told(lambda: container.resolve(Service))


# --- lagom ------------------------------------------------------------------------------------


class InLagom:
    """https://lagom-di.readthedocs.io: a container as a map from types to how they are made."""

    def constructor(self) -> bool:
        from lagom import Container

        container = Container()
        return container[Service].repo.db.name == "real"

    def named_value(self) -> bool:
        from lagom import Container

        container = Container()
        container[Mail] = lambda: Mail("mx")
        return container[Mail].host == "mx"

    def factory(self) -> bool:
        from lagom import Container

        container = Container()
        container[Db] = make_db
        return container[Db].name == "made"

    def plugins(self) -> bool:
        from lagom import Container

        container = Container()
        container[list[Plugin]] = lambda: [Xml(), Json()]
        return len(container[list[Plugin]]) == 2

    def optional(self) -> bool:
        from lagom import Container

        container = Container()
        return container[Newsletter].mail is None

    def override(self) -> bool:
        from lagom import Container

        container = Container()
        container[Db] = Db("real")
        for_tests = container.clone()
        for_tests[Db] = Db("fake")
        return for_tests[Db].name == "fake"

    def scope(self) -> bool:
        from lagom import Container, ContextContainer, context_dependency_definition

        container = Container()
        context_dependency_definition(container)(connect)
        with ContextContainer(container, context_types=[], context_singletons=[Connection]) as request:
            same = request[Connection] is request[Connection]
        return same and LOG.pop() == "closed"

    def asynchronous(self) -> bool:
        import typing

        from lagom import Container, dependency_definition

        container = Container()

        @dependency_definition(container)
        async def connection() -> Connection:
            return Connection()

        async def main() -> Any:
            return await container[typing.Awaitable[Connection]]

        return type(asyncio.run(main())) is Connection

    def cycle(self) -> bool:
        from lagom import Container

        return "Left" in told(lambda: Container()[Left])

    def missing(self) -> bool:
        from lagom import Container

        return "host" in told(lambda: Container()[Mail]) or "str" in told(lambda: Container()[Mail])


# --- dishka -----------------------------------------------------------------------------------


class InDishka:
    """https://dishka.readthedocs.io: providers with scopes, from which a container is made."""

    def constructor(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide(lambda: Db(), provides=Db)
        provider.provide_all(Repo, Service)
        return make_container(provider).get(Service).repo.db.name == "real"

    def named_value(self) -> bool:
        from dishka import Provider, Scope, make_container

        Host = NewType("Host", str)
        provider = Provider(scope=Scope.APP)
        provider.provide(lambda: "mx", provides=Host)
        return make_container(provider).get(Host) == "mx"

    def factory(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide(make_db)
        return make_container(provider).get(Db).name == "made"

    def plugins(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide(lambda: [Xml(), Json()], provides=list[Plugin])
        return len(make_container(provider).get(list[Plugin])) == 2

    def override(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide(make_db)
        for_tests = Provider(scope=Scope.APP)
        for_tests.provide(lambda: Db("fake"), provides=Db, override=True)
        return make_container(provider, for_tests).get(Db).name == "fake"

    def scope(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.REQUEST)
        provider.provide(connect)
        with make_container(provider)() as request:
            same = request.get(Connection) is request.get(Connection)
        return same and LOG.pop() == "closed"

    def asynchronous(self) -> bool:
        from dishka import Provider, Scope, make_async_container

        provider = Provider(scope=Scope.REQUEST)
        provider.provide(aconnect)

        async def main() -> bool:
            async with make_async_container(provider)() as request:
                same = await request.get(Connection) is await request.get(Connection)
            return same and LOG.pop() == "closed"

        return asyncio.run(main())

    def cycle(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide_all(Left, Right)
        return "Left" in told(lambda: make_container(provider))

    def missing(self) -> bool:
        from dishka import Provider, Scope, make_container

        provider = Provider(scope=Scope.APP)
        provider.provide(Service)
        return "Repo" in told(lambda: make_container(provider))

    def explain(self) -> bool:
        from dishka import Provider, Scope, make_container
        from dishka.plotter import render_mermaid

        provider = Provider(scope=Scope.APP)
        provider.provide(make_db)
        return "make_db" in render_mermaid(make_container(provider))


# --- ours -------------------------------------------------------------------------------------


class InOurs:
    """docs/bindings.md."""

    def constructor(self) -> bool:
        return Injector().inject(Service).repo.db.name == "real"

    def named_value(self) -> bool:
        app = Bindings("app")
        app.bind("host").to("mx")
        return Injector([[app]]).inject(Mail).host == "mx"

    def factory(self) -> bool:
        app = Bindings("app")
        app.bind(Db).to_factory(make_db)
        return Injector([[app]]).inject(Db).name == "made"

    def plugins(self) -> bool:
        app = Bindings("app")
        app.multibind(list[Plugin]).collect(Xml, Json)
        return len(Injector([[app]]).inject(list[Plugin])) == 2

    def optional(self) -> bool:
        return Injector().inject(Newsletter).mail is None

    def override(self) -> bool:
        app = Bindings("app")
        app.bind(Db).to_factory(make_db)
        return Injector([[app]]).override({Db: Db("fake")}).inject(Db).name == "fake"

    def scope(self) -> bool:
        app = Bindings("app")
        app.bind(Connection).to_factory(connect).scope("request")
        with Injector([[app]]).scope("request") as request:
            same = request.inject(Connection) is request.inject(Connection)
        return same and LOG.pop() == "closed"

    def asynchronous(self) -> bool:
        app = Bindings("app")
        app.bind(Connection).to_factory(aconnect)

        async def main() -> bool:
            async with Injector([[app]]) as injector:
                same = await injector.ainject(Connection) is await injector.ainject(Connection)
            return same and LOG.pop() == "closed"

        return asyncio.run(main())

    def cycle(self) -> bool:
        return "Left] -> Type[Right] -> Type[Left" in told(lambda: Injector().inject(Left))

    def missing(self) -> bool:
        return "Mail needs host: not bound" in told(lambda: Injector().inject(Mail))

    def wrong_type(self) -> bool:
        app = Bindings("app")
        app.bind(Db).to_instance(3)
        return isinstance(raised(lambda: Injector([[app]])), BindingError)

    def explain(self) -> bool:
        app = Bindings("app")
        app.bind(Db).to_factory(make_db)
        return "containers.py" in str(Injector([[app]]).explain(Db))


def raised(ask: Callable[[], Any]) -> Exception | None:
    """The error that somebody raises."""
    try:
        ask()
    except Exception as error:
        return error
    return None


TASKS = (
    "constructor", "named_value", "factory", "plugins", "optional", "override", "scope", "asynchronous", "cycle",
    "missing", "wrong_type", "explain",
)  # fmt: skip
LIBRARIES = {"injector": InInjector, "punq": InPunq, "lagom": InLagom, "dishka": InDishka, "nodeattrs": InOurs}


def lines_of(task: Callable[..., bool]) -> int:
    """How many lines a task takes, imports left out."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(task))).body
    assert isinstance(function, ast.FunctionDef)
    body = [one for one in function.body if not isinstance(one, (ast.Import, ast.ImportFrom))]
    return sum(len(ast.unparse(one).splitlines()) for one in body)


def compared() -> dict[str, dict[str, int | None]]:
    """Task -> library -> its lines; None where it does not do it. A library that is not installed is left out."""
    found: dict[str, dict[str, int | None]] = {task: {} for task in TASKS}
    for name, library in LIBRARIES.items():
        try:
            __import__(name)
        except ImportError:
            continue
        for task in TASKS:
            one = getattr(library(), task, None)
            works = one is not None and raised(one) is None and one()
            found[task][name] = lines_of(one) if works and one is not None else None
    return found


def main() -> int:
    rows = compared()
    names = list(rows[TASKS[0]])
    print("task".ljust(14) + "".join(name.rjust(11) for name in names))
    for task, lines in rows.items():
        print(task.ljust(14) + "".join(str(lines[name] or "-").rjust(11) for name in names))
    more = [
        task
        for task, lines in rows.items()
        if (least := least_of(lines)) is not None and (lines["nodeattrs"] or 99) > least
    ]
    print(f"\nlines of each task; - is not there. Ours takes more lines in {len(more)}: {', '.join(more) or 'none'}")
    return 1 if more or None in [lines["nodeattrs"] for lines in rows.values()] else 0


def least_of(lines: dict[str, int | None]) -> int:
    """The fewest lines of the others; many where none of them does it."""
    return min((count for name, count in lines.items() if count and name != "nodeattrs"), default=99)


if __name__ == "__main__":
    sys.exit(main())
