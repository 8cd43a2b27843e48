"""The tools for programs, asked by a client of the protocol's own library, beside the commands."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Node
from nodeattrs.cli import main
from nodeattrs.cli.mcp import tools
from nodeattrs.core.tree import spell
from nodeattrs.store import open_store
from tests.effort import EFFORT, examples
from tests.test_lsp import EXAMPLE, fleet, leaves

pytestmark = [
    pytest.mark.skipif(find_spec("mcp") is None, reason="there is no library mcp"),
]

Ask = Callable[..., Awaitable[Any]]
Talk = Callable[[Ask], Awaitable[None]]
Server = Callable[[Talk], None]


@contextlib.asynccontextmanager
async def serving(folder: Path, *words: str) -> AsyncIterator[Ask]:
    """A server that stands in a folder."""
    import mcp  # which takes a second

    line = ["-m", "nodeattrs", "mcp", *words]
    server = mcp.StdioServerParameters(command=sys.executable, args=line, cwd=str(folder), env=dict(os.environ))
    async with mcp.stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
        await session.initialize()

        async def ask(tool: str, **given: Any) -> Any:
            came = await session.call_tool(tool, {"format": "json", **given})
            text = "\n".join(getattr(one, "text", "") for one in came.content)
            return text if came.is_error or text else came.structured_content

        ask.session = session  # type: ignore[attr-defined]
        yield ask


@contextlib.contextmanager
def server(folder: Path, *words: str) -> Iterator[Server]:
    """One server for several talks: a call for each. Without the library mcp the test is skipped."""
    pytest.importorskip("mcp")
    from anyio import from_thread

    with (
        from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(folder, *words)) as ask,
    ):

        async def within_limits(talk: Talk) -> None:
            await asyncio.wait_for(talk(ask), 150)

        yield lambda talk: portal.call(within_limits, talk)


def asked(folder: Path, talk: Talk, *words: str) -> None:
    """Talk to a server that stands in a folder."""
    with server(folder, *words) as talk_with:
        talk_with(talk)


def command(folder: Path, *words: str) -> Any:
    """In a process of its own: this one may know sources of the example that the server does not have."""
    line = [sys.executable, "-m", "nodeattrs", *words, "--format", "json"]
    return json.loads(subprocess.run(line, cwd=folder, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which the nodes of the example are."""
    folder = tmp_path_factory.mktemp("shop")
    words = ["run", "--all", "--quiet", "--repo", str(EXAMPLE), "--facts", str(EXAMPLE / "facts")]
    assert main([*words, "--store", str(folder / "s.db")]) == 0
    gc.collect()  # closes the store, which writes its file
    return folder


@pytest.fixture(scope="module")
def with_shop(shop: Path) -> Iterator[Server]:
    """Talks to one server over that store, which only reads it."""
    with server(shop, "--store", "s.db") as talk_with:
        yield talk_with


@pytest.fixture(scope="module")
def with_example() -> Iterator[Server]:
    """Talks to one server over the example, without a store."""
    with server(EXAMPLE, "--run-code") as talk_with:
        yield talk_with


class TestTheTools:
    def test_mcp_tools_are_marked_as_read_only(self, with_shop: Server) -> None:
        async def talk(ask: Any) -> None:
            tools = (await ask.session.list_tools()).tools
            names = [one.name for one in tools]
            assert names == ["list", "matrix", "why", "where", "impact", "check", "diff", "explain", "search"]
            assert all(one.annotations.read_only_hint for one in tools)
            assert all(one.description for one in tools)

        with_shop(talk)

    def test_those_of_a_store_are_there_where_one_is_named(self, with_example: Server) -> None:
        async def talk(ask: Any) -> None:
            tools = (await ask.session.list_tools()).tools
            assert [one.name for one in tools] == ["list", "matrix", "why", "where", "impact", "check", "diff"]

        with_example(talk)

    def test_explain_gives_what_the_command_gives(self, shop: Path, with_shop: Server) -> None:
        store = open_store(str(shop / "s.db"))
        every = [
            (name, spell(path).removesuffix(".$sensitive"))
            for name in store.names()
            for level in ("default", "normal", "override", "automatic")
            for path in leaves(store.load(name).document[level])
        ]
        drawn = random.Random(3).sample(every, examples(50))

        async def talk(ask: Ask) -> None:
            answers = await asyncio.gather(*(ask("explain", node=name, path=path) for name, path in drawn))
            for (name, path), came in zip(drawn, answers, strict=True):
                claims = came["data"]["claims"]
                assert (claims[0]["file"], claims[0]["line"]) == place_of(node_of(store, name), path)
                assert came["exit_code"] in (0, 5)
            for name, path in drawn[:2]:  # a process each
                assert (await ask("explain", node=name, path=path))["data"] == command(
                    shop, "explain", name, path, "--store", "s.db"
                )

        with_shop(talk)

    def test_search_and_diff_give_what_the_commands_give(self, shop: Path, with_shop: Server) -> None:
        async def talk(ask: Ask) -> None:
            came = await ask("search", query="role:web", attribute=["app.workers"])
            assert came["data"] == command(shop, "search", "role:web", "-a", "app.workers", "--store", "s.db")
            came = await ask("diff", before="web1", after="web2", path="apache2")
            assert came["data"] == command(shop, "diff", "web1", "web2", "--path", "apache2", "--store", "s.db")

        with_shop(talk)

    def test_check_and_impact_look_at_the_repository_that_was_named(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 4)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], cwd=folder, check=True)
        role = json.loads((folder / "roles/r1.json").read_text())
        role["override_attributes"] = {"new": 4711}
        (folder / "roles/r1.json").write_text(json.dumps(role))

        options = argparse.Namespace(repo=str(folder), facts=None, run_code=False, store=None)
        named = {tool.__name__: tool for tool in tools(options)}
        came = asyncio.run(named["check"](format="json")).structured_content
        assert came["data"] == command(folder, "check", "--repo", str(folder))
        came = asyncio.run(named["impact"]("HEAD", format="json")).structured_content
        assert "4711" in json.dumps(came["data"])
        assert came["exit_code"] == 0


class TestAnswersAsText:
    """The lines of the command, once, and without the data."""

    @pytest.fixture(scope="class")
    @classmethod
    def answers(cls, with_example: Server) -> dict[str, str]:
        found: dict[str, str] = {}

        async def talk(ask: Ask) -> None:
            found["list"] = await ask("list", format="text")
            found["why"] = await ask("why", key="app.workers", on=["web1"], dialect="nodes", format="text")
            found["matrix"] = await ask("matrix", key="app.workers", dialect="nodes", format="text")
            found["where"] = await ask("where", file="roles/web.json:38", format="text")

        with_example(talk)
        return found

    def test_the_subjects_of_every_dialect_are_listed(self, answers: dict[str, str]) -> None:
        assert {"nodes web1", "hiera web1", "ansible web1"} <= {*answers["list"].splitlines()}

    def test_five_claims_are_under_900_characters(self, answers: dict[str, str]) -> None:
        assert sum(line.startswith(("  wins", "  loses")) for line in answers["why"].splitlines()) == 5
        assert "environments/production.yaml:29" in answers["why"]
        assert len(answers["why"]) < 900

    def test_a_matrix_has_a_line_for_each_value(self, answers: dict[str, str]) -> None:
        assert answers["matrix"].splitlines() == [
            "30  environments/production.yaml:29  nodes: db1, web1",
            "8  roles/web.json:38  nodes: web2",
        ]

    def test_where_names_what_overrides_a_line(self, answers: dict[str, str]) -> None:
        assert "overridden by environments/production.yaml:29" in answers["where"]


def test_a_matrix_tells_null_from_nothing_and_from_what_was_not_read(tmp_path: Path) -> None:
    files = {"null.yaml": "x: null\n", "none.yaml": "y: 1\n", "mkdocs.yml": "INHERIT: other.yml\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    folds = "".join(f'[fold."{name}"]\nfiles = ["{name}"]\n' for name in files)
    (tmp_path / "nodeattrs.toml").write_text(folds)
    options = argparse.Namespace(repo=str(tmp_path), facts=None, run_code=False, store=None)
    matrix = next(tool for tool in tools(options) if tool.__name__ == "matrix")
    lines = asyncio.run(matrix("x")).content[0].text.splitlines()
    assert lines[:2] == [
        "(not set), or what was not read  (no line)  folds: mkdocs.yml",
        "null  null.yaml:1  folds: null.yaml",
    ]
    assert [line.startswith("warning: mkdocs.yml:1") for line in lines[2:]] == [True]


def _why(key: str, on: str, dialect: str, *words: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    return "why", {"key": key, "on": [on], "dialect": dialect}, words


def _where(file: str, *words: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    return "where", {"file": file}, words


def _matrix(key: str, dialect: str, *words: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    return "matrix", {"key": key, "dialect": dialect}, words


ASKED = {
    "nodes": [
        ("list", {}, ("nodes db1", "nodes web2")),
        _why("app.workers", "web1", "nodes", "wins", "environments/production.yaml:29"),
        _why("app.workers", "web2", "nodes", "roles/web.json:38"),
        _where("roles/web.json:38", "overridden by environments/production.yaml:29"),
        _where("environments/production.yaml:29", "wins on 2"),
        _matrix("app.workers", "nodes", "30", "web2"),
        ("list", {"kind": "roles"}, ("web", "db")),
        ("list", {"kind": "environments"}, ("production", "staging")),
    ],
    "hiera": [
        ("list", {}, ("hiera web1",)),
        _why("profile::packages", "db1", "hiera", "hiera/data/common.yaml"),
        _why("profile::users", "web1", "hiera", "alice", "2001", "hiera/data/nodes/web1.yaml"),
        _why("ntp::servers", "db1", "hiera", "hiera/modules/ntp/data/common.yaml"),
        _where("hiera/data/common.yaml:13", "profile::users.alice.uid = 2001"),
        _where("hiera/data/common.yaml:17", "profile::users.bob.uid = 2002"),
        _matrix("profile::users.alice.uid", "hiera", "2001", "web1"),
        ("check", {}, ("storage.toml:5",)),
    ],
    "ansible": [
        ("list", {}, ("ansible web2",)),
        _why("http_port", "web1", "ansible", "8080", "hosts.ini:2", "group_vars/web.yml:1"),
        _why("http_port", "db1", "ansible", "80", "group_vars/all.yml:1"),
        _why("workers", "web2", "ansible", "4", "group_vars/web.yml:2"),
        _where("ansible/group_vars/web.yml:1", "wins on 1 of 2", "ansible/hosts.ini:2"),
        _where("ansible/group_vars/all.yml:1", "wins on 1 of 3", "ansible/group_vars/web.yml:1"),
        _where("ansible/hosts.ini:2", "http_port", "wins on 1"),
        _matrix("http_port", "ansible", "8080", "8000", "db1"),
    ],
    "cloud-init": [
        ("list", {}, ("cloud-init web",)),
        _why("ntp.servers", "web", "cloud-init", "ntp.shop.example", "cloud-init/web.yaml:10"),
        _why("ntp.enabled", "web", "cloud-init", "true", "cloud-init/base.yaml:9"),
        _why("packages", "web", "cloud-init", "unattended-upgrades", "apache2"),
        _why("runcmd", "web", "cloud-init", "cloud-init/base.yaml:7", "cloud-init/web.yaml:8"),
        _where("cloud-init/web.yaml:10", "ntp.servers"),
        _where("cloud-init/base.yaml:9", "ntp.enabled", "wins on 1 of 1 set"),
        _matrix("ntp.enabled", "cloud-init", "true", "web"),
    ],
    "folds": [
        ("list", {}, ("folds shop",)),
        _why("http.port", "shop", "folds", "8443", "fold/team.yaml:3", "fold/base.yaml:3"),
        _why("http.tls", "shop", "folds", "true", "fold/team.yaml:4"),
        _why("http.hosts", "shop", "folds", "shop.example.com", "shop.example.org"),
        _where("fold/base.yaml:3", "overridden by fold/team.yaml:3"),
        _where("fold/prod.yaml:5", "log.level", "wins on 1 of 1 fold"),
        _matrix("log.level", "folds", "warning", "shop"),
        ("diff", {"before": "shop", "after": "web"}, ("http.port",)),
    ],
}


def test_40_questions_are_answered_by_the_tools_alone(with_example: Server) -> None:
    """In `make test` every third of them."""
    questions = [one for some in ASKED.values() for one in some][:: 1 if EFFORT >= 1 else 3]
    assert [len(some) for some in ASKED.values()] == [8] * 5

    async def talk(ask: Ask) -> None:
        missing = []
        for tool, given, words in questions:
            text = await ask(tool, **given, format="text")
            missing += [(tool, given, word, text) for word in words if word not in text]
        assert missing == []

    with_example(talk)


class TestWhatIsRefused:
    def test_a_word_is_never_an_option(self, with_shop: Server) -> None:
        async def talk(ask: Ask) -> None:
            came = await ask("explain", node="--store=/etc/passwd", path="--all")
            assert "no node can be called '--store=/etc/passwd'" in came
            came = await ask("impact", range="--format=text")
            assert "git knows no repository" in came
            assert not came.startswith("{")
            assert "the query ends too early" in await ask("search", query="((", limit=1)

        with_shop(talk)

    def test_an_argument_that_a_tool_does_not_have_is_refused_and_named_are_those_that_it_has(
        self, with_shop: Server
    ) -> None:
        async def talk(ask: Ask) -> None:
            text = await ask("impact", ranges="HEAD~1..HEAD")
            assert "impact has no argument ranges; did you mean range?" in text
            assert "its arguments are range, ignore_path, format" in text
            assert "its arguments are node, path, at, format" in await ask(
                "explain", node="web1", path="a", revision="1"
            )
            assert "explain needs the argument path" in await ask("explain", node="web1")

        with_shop(talk)

    def test_no_tool_takes_an_argument_that_it_does_not_have(self, with_shop: Server) -> None:
        async def talk(ask: Any) -> None:
            for tool in (await ask.session.list_tools()).tools:
                for name in ("ranges", "revision", "repo", "--store", "facts"):
                    assert f"{tool.name} has no argument {name}" in await ask(tool.name, **{name: "1"})

        with_shop(talk)

    def test_a_fault_is_an_answer_with_its_way_out(self, with_shop: Server) -> None:
        async def talk(ask: Ask) -> None:
            came = await ask("explain", node="web9", path="app")
            assert "web9" in came
            assert "NA0411" in came
            assert (await ask("search", query="role:web"))["exit_code"] == 0  # and it goes on

        with_shop(talk)

    def test_nothing_is_written(self, shop: Path, with_shop: Server) -> None:
        before = (shop / "s.db").read_bytes()

        async def talk(ask: Ask) -> None:
            await ask("search", query="*:*")
            await ask("explain", node="web1", path="app.workers")

        with_shop(talk)
        assert (shop / "s.db").read_bytes() == before


def place_of(node: Any, path: str) -> tuple[str | None, int | None]:
    origin = node.trace(path).claims[0].origin
    return origin.file, origin.line


def node_of(store: Any, name: str) -> Node:
    return Node.restore(store.load(name).snapshot)
