"""Type checkers know what is injected: a class gives its object, also where it is a Protocol. pyright says the same."""

from typing import Protocol, assert_type

from nodeattrs.bindings import Injector


class Plugin: ...


class Repo(Protocol):
    def get(self) -> str: ...


injector = Injector()
assert_type(injector.inject(Plugin), Plugin)
assert_type(injector[Plugin], Plugin)
assert_type(injector.inject(Repo), Repo)
assert_type(injector.inject("port", int), int)
assert_type(injector.inject(list[Plugin]), list[Plugin])
