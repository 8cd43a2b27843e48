"""For pytest: the fixture `converge` runs a node; a failing assertion explains the attributes that it read.

    def test_the_workers(converge):
        run = converge("role[web]", platform="debian-12", environment="production")
        assert run["app.workers"] == 30

The fixture `nodeattrs_injector` gives each test an injector of its own (docs/bindings.md). pytest loads this module
from the entry point `pytest11`; nothing else of the library is imported until a fixture is used. See docs/testing.md.
"""

from __future__ import annotations

import ast
import linecache
import pkgutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import pluggy
import pytest

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog
    from nodeattrs.core.claim import Origin
    from nodeattrs.core.trace import Trace
    from nodeattrs.core.tree import Path
    from nodeattrs.dialects.bindings.injector import Injector
    from nodeattrs.dialects.chef.facts import Facts
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.run import Run
    from nodeattrs.node.node import Node

__all__ = ["Converge", "Converged", "converge", "nodeattrs_repository"]

_MARKS = ("nodeattrs.toml", "cookbooks", "roles")
_MOST_FRAMES = 12
_WIDTH = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings nodeattrs_repo and nodeattrs_injector of pytest's configuration."""
    parser.addini("nodeattrs_repo", "the repository that `converge` runs (default: rootdir, or what is above it)")
    parser.addini(
        "nodeattrs_injector",
        "`package.module:name` of the injector that `nodeattrs_injector` gives, or of a function that makes it "
        "(default: the injector of the repository's bindings)",
    )


@pytest.fixture(scope="session")
def nodeattrs_repository(pytestconfig: pytest.Config) -> Repository:
    """The repository that `converge` runs: the one that the setting nodeattrs_repo names, relative to rootdir.

    Without the setting: the first folder from rootdir upwards with nodeattrs.toml, cookbooks or roles; else rootdir.
    raises: NotFound, where there is no such folder
    """
    from nodeattrs.dialects.chef.repository.repository import Repository

    root = pytestconfig.rootpath
    named = pytestconfig.getini("nodeattrs_repo")
    if named:
        return Repository(root / named)
    above = (folder for folder in (root, *root.parents) if any((folder / mark).exists() for mark in _MARKS))
    return Repository(next(above, root))


@pytest.fixture
def converge(nodeattrs_repository: Repository, request: pytest.FixtureRequest) -> Converge:
    """A `Converge` for one test: `converge("role[web]", platform="debian-12")` runs a node, and gives a `Converged`.

    Attributes that the test reads from it are explained in the report where the test fails.
    """
    reads: list[_Read] = []
    request.node.stash[_READS] = reads
    return Converge(nodeattrs_repository, reads)


@pytest.fixture
def nodeattrs_injector(request: pytest.FixtureRequest) -> Iterator[Injector]:
    """An injector for one test; objects that were made in it are closed after the test.

    It is a child of the injector that the setting nodeattrs_injector names. Without the setting, it is a child of an
    injector with the repository's bindings.
    `with nodeattrs_injector.override({Repo: FakeRepo()}) as injector: ...` replaces bindings within the block.
    raises: NotFound, where there are no bindings; BadArgument, where the setting names no injector
    """
    named = request.config.getini("nodeattrs_injector")
    injector = _named_injector(named) if named else _of_repository(request.getfixturevalue("nodeattrs_repository"))
    with injector.child() as child:
        yield child


def _named_injector(named: str) -> Injector:
    from nodeattrs.dialects.bindings.injector import Injector
    from nodeattrs.errors import wrong_argument

    try:
        found = pkgutil.resolve_name(named)
    except (ValueError, ImportError, AttributeError) as error:
        raise wrong_argument(
            "the setting nodeattrs_injector", f"an injector ({error})", named, "shop.wiring:injector"
        ) from None
    injector = found if isinstance(found, Injector) or not callable(found) else found()
    if not isinstance(injector, Injector):
        raise wrong_argument("the setting nodeattrs_injector", "an injector", injector, "shop.wiring:injector")
    return injector


def _of_repository(repository: Repository) -> Injector:
    from nodeattrs.dialects.bindings.injection import Injection
    from nodeattrs.errors import NotFound
    from nodeattrs.node.node import Node

    place = repository.config.bindings
    if place is None:
        raise NotFound(
            "there is nothing to inject from", hint='bindings = "FOLDER" in nodeattrs.toml, or nodeattrs_injector'
        )
    return Injection(repository, place, Node("test")).injector


@dataclass(frozen=True, slots=True)
class _Read:
    """One attribute that a test read.

    of:   the run that it was read from
    path: as the test spells it
    at:   code of each caller -> (line, number of the instruction) of the call
    """

    of: Converged
    path: str
    at: Mapping[CodeType, tuple[int, int]]


@dataclass(frozen=True)
class Converge:
    """The value of the fixture `converge`. A call runs one node and returns a `Converged`.

    repository: the repository whose nodes and cookbooks are used. The code of its cookbooks runs

    `converge("role[web]", platform="debian-12")` runs the node "test" with this run-list. `matrix` runs the same node
    on several platforms, and returns platform -> its `Converged`. Nothing is saved. The errors of a run are raised.
    """

    repository: Repository = field(repr=False)
    _reads: list[_Read] = field(default_factory=list, repr=False)

    def __call__(
        self,
        *run_list: str,
        node: str = "test",
        platform: str | None = None,
        facts: Mapping[str, Any] | None = None,
        environment: str | None = None,
        normal: Mapping[str, Any] | None = None,
        search: Callable[..., Any] | None = None,
    ) -> Converged:
        """Run a node anew; nothing is saved.

        run_list:    items such as "role[web]"; none: the run-list of nodes/NODE
        platform:    the node has its facts: "debian-12", or a name from `[facts] fauxhai` in nodeattrs.toml;
                     None: no facts but *facts*
        facts:       merged deep over the facts of the platform
        environment: None: that of nodes/NODE, else of nodeattrs.toml
        normal:      normal attributes, as an earlier run leaves them
        search:      called for the word `search` of recipes
        raises:      NotFound, for an unknown platform; RecipeFailed and other errors of the run
        """
        from nodeattrs.dialects.chef.run.run import run_node

        run = run_node(
            self.repository,
            node,
            facts=_facts(self.repository, platform, facts or {}),
            run_list=run_list or None,
            environment=environment,
            saved=_left(node, normal) if normal else None,
            words=None if search is None else {"search": search},
        )
        return Converged(run, self.repository, self._reads)

    def matrix(self, *run_list: str, platforms: Iterable[str], **more: Any) -> dict[str, Converged]:
        """Run the same node on each platform: platform -> its `Converged`. more: as for a call"""
        return {platform: self(*run_list, platform=platform, **more) for platform in platforms}


def _facts(repository: Repository, platform: str | None, more: Mapping[str, Any]) -> Facts:
    from nodeattrs.core.claim import Origin
    from nodeattrs.dialects.chef.facts import Facts, load_facts, merged_over
    from nodeattrs.dialects.chef.facts.known import platform_file

    known = Facts({}, Origin("facts", "no platform"))
    if platform is not None:
        known = load_facts(platform_file(platform, repository.platforms_folder))
    return merged_over(known, more, _test()) if more else known


def _test() -> Origin:
    """The line of the test that runs a node."""
    from nodeattrs.core.claim import Origin
    from nodeattrs.core.frames import frame_above, frame_outside

    frame = frame_outside(__file__, frame_above(1))
    return Origin("facts", "of the test", frame.f_code.co_filename, frame.f_lineno)


def _left(name: str, normal: Mapping[str, Any]) -> Node:
    from nodeattrs.node.node import Node

    node = Node(name)
    for key, value in normal.items():
        node.normal[key] = value
    return node


@dataclass(frozen=True, eq=False)
class Converged:
    """The result of one run of a node, for assertions. Nothing was applied or saved.

    run:        the run itself, with all of its data
    repository: the repository of the node

    run["app.workers"] is the merged value, as plain data; an unset path raises NoSuchAttribute. `get` returns a default
    instead. Each path that a test reads is noted. If an assertion fails, the report explains the paths that its
    statement read. `trace` and `explain` are about one path. `node`, `catalog` and `log` are the node after the run,
    the declared resources and the lines that cookbooks logged.
    """

    run: Run = field(repr=False)
    repository: Repository = field(repr=False)
    _reads: list[_Read] = field(default_factory=list, repr=False)

    @property
    def node(self) -> Node:
        """The node after the run."""
        return self.run.node

    @property
    def catalog(self) -> Catalog:
        """The resources that recipes declared; nothing has been applied."""
        return self.run.catalog

    @property
    def log(self) -> list[str]:
        """The lines that cookbook files logged, in their order."""
        return [str(line) for line in self.run.log]

    def __getitem__(self, path: str) -> Any:
        """The merged value at a path such as "app.workers". raises: NoSuchAttribute"""
        __tracebackhide__ = True
        from nodeattrs.errors import NoSuchAttribute

        steps = self._noted(path)
        try:
            return _plain(self.node.read_strict(*steps))
        except NoSuchAttribute as error:  # the test's line is what counts, and not the way to the error
            raise error.with_traceback(None) from None

    def get(self, path: str, default: Any = None) -> Any:
        """The merged value at a path such as "app.workers", as plain data; *default* where it is not set."""
        steps = self._noted(path)
        return _plain(self.node.read(*steps)) if self.node.exist(*steps) else default

    def __contains__(self, path: object) -> bool:
        return self.node.exist(*self._noted(str(path)))

    def trace(self, path: str) -> Trace:
        """The trace of a path: the line that set it, and what was overridden. It has no claims where it is not set."""
        return self.node.trace(path)

    def explain(self, path: str) -> str:
        """The text that `nodeattrs explain` prints for a path. The path is not noted as read.

        For an unset path: a sentence, and the lines of the repository that could set it.
        """
        from nodeattrs.core.tree import parse
        from nodeattrs.dialects.chef.causes import setters_in_repository
        from nodeattrs.dialects.chef.reports.explain import explained
        from nodeattrs.reports import Screen

        found = explained(self.node, parse(path), self.repository, search=self.run.search)
        if found.has_claims:
            return "\n".join(found.lines(Screen(_WIDTH)))
        elsewhere = setters_in_repository(self.repository, self.node, parse(path))
        hint = [found.hint] if found.hint else []
        return "\n".join([f"{path} is not set", *(f"  {one}" for one in [*elsewhere, *hint])])

    def _noted(self, path: str) -> Path:
        """The steps of a path that the test reads now; notes that it does."""
        from nodeattrs.core.tree import parse

        steps = parse(path)
        self._reads.append(_Read(self, path, dict(_callers())))
        return steps


def _plain(value: Any) -> Any:
    return value.to_plain() if hasattr(value, "to_plain") else value


def _callers() -> Iterator[tuple[CodeType, tuple[int, int]]]:
    """The code that reads, the nearest first, each with its line and the instruction that it is at."""
    from nodeattrs.core.frames import frame_above

    frame = frame_above(3)
    for _ in range(_MOST_FRAMES):
        yield frame.f_code, (frame.f_lineno, frame.f_lasti)
        if frame.f_back is None:
            return
        frame = frame.f_back


# --- what a failure says

_READS = pytest.StashKey[list[_Read]]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Add to the report of a failed test a section for each path that the failing statement read.

    pytest calls it after each phase of a test. A test that read no path, or did not fail, gets no section.
    """
    outcome = yield
    reads = item.stash.get(_READS, [])
    if not reads or call.excinfo is None:
        return
    report = outcome.get_result()
    for entry in reversed(call.excinfo.traceback):
        found = _read_in(reads, entry.frame.code.raw, entry.lineno + 1)
        for read in found:
            report.sections.append((f"nodeattrs explain {read.of.node.name} {read.path}", read.of.explain(read.path)))
        if found:
            return


def _read_in(reads: list[_Read], code: CodeType, line: int) -> list[_Read]:
    """What the statement at a line read when it ran last, in that order, each path once."""
    lines = _statement(code.co_filename, line)
    found: dict[tuple[int, str], _Read] = {}
    before = sys.maxsize
    for read in reversed(reads):
        its_line, instruction = read.at.get(code, (0, 0))
        if its_line not in lines or instruction >= before:  # of another statement, or of its last time in a loop
            break
        before = instruction
        found.setdefault((id(read.of), read.path), read)
    return [*found.values()][::-1]


@lru_cache(maxsize=64)
def _statement(file: str, line: int) -> range:
    """The lines of the innermost statement at a line."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return range(line, line + 1)
    around = [
        one for one in ast.walk(tree) if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or 0)
    ]
    inner = max(around, key=lambda one: one.lineno, default=None)
    return range(line, line + 1) if inner is None else range(inner.lineno, (inner.end_lineno or line) + 1)
