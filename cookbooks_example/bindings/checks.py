"""The checks of the shop: classes that bindings may name, as nodeattrs.toml says. Annotations say what they need."""

from typing import Annotated, Protocol

from nodeattrs.bindings import named


class Check(Protocol):
    """What every check can do."""

    def line(self) -> str: ...


class PageCheck:
    """The page answers."""

    def __init__(self, url: Annotated[str, named("shop::url")]) -> None:
        self.url = url

    def line(self) -> str:
        return f"GET {self.url} within 2 s"


class WorkerCheck:
    """All workers are there."""

    def __init__(self, workers: Annotated[int, named("shop::workers")]) -> None:
        self.workers = workers

    def line(self) -> str:
        return f"{self.workers} workers"
