"""The language server, asked by a client of its own library, beside what `explain` says."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.contract.request import Request
from nodeattrs.core.tree import parse, spell
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.dialects.chef.reports.explain import explained
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.verbs.hover import hover, sentences
from nodeattrs.verbs.lines import FileLine, FolderLines
from tests.effort import examples

types = pytest.importorskip("lsprotocol.types")
client_module = pytest.importorskip("pygls.lsp.client")

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "cookbooks_example"


class Editor:
    """A client that waits until the server has looked at everything.

    is_forked: whether the server is a copy of this process, which has its modules already
    """

    def __init__(self, folder: Path, *words: str, is_forked: bool = True) -> None:
        self.folder, self.words, self.is_forked = folder, words, is_forked
        self.server: Any = None
        self.found: dict[str, list[Any]] = {}
        self.client = client_module.LanguageClient("test", "1")
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._publish))
        self.client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: None)
        self.shown: list[str] = []
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.shown.append(params.message))

    def _publish(self, params: Any) -> None:
        self.found[Path(params.uri).name] = params.diagnostics

    def uri(self, file: str) -> str:
        return (self.folder / file).as_uri()

    async def __aenter__(self) -> Editor:
        if self.is_forked:
            with socket.create_server(("127.0.0.1", 0)) as listening:
                self.server = get_context("fork").Process(target=serve, args=(listening, self.words))
                self.server.start()
                await self.client.start_tcp(*listening.getsockname())
        else:
            await self.client.start_io(sys.executable, "-m", "nodeattrs", "lsp", *self.words, cwd=str(ROOT))
        params = types.InitializeParams(types.ClientCapabilities(), root_uri=self.folder.as_uri())
        await self.client.initialize_async(params)
        self.client.initialized(types.InitializedParams())
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            (self.server or self.client._server).kill()
            return
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), 30)
        if self.server is not None:
            self.server.join(30)

    def open(self, file: str, text: str | None = None) -> None:
        text = (self.folder / file).read_text() if text is None else text
        item = types.TextDocumentItem(self.uri(file), "text", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def save(self, file: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(file))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def hover(self, file: str, line: int, column: int = 1) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(file)), types.Position(line - 1, column - 1))
        found = await self.client.text_document_hover_async(params)
        return "" if found is None else found.contents.value

    async def until_hover(self, file: str, line: int, says: str) -> str:
        for _ in range(300):
            text = await self.hover(file, line)
            if says in text:
                return text
            await asyncio.sleep(0.1)
        raise AssertionError(f"{file}:{line} never said {says!r}: {text!r}")

    async def until_found(self, name: str, fits: Callable[[list[Any]], bool]) -> list[Any]:
        for _ in range(300):
            if name in self.found and fits(self.found[name]):
                return self.found[name]
            await asyncio.sleep(0.1)
        raise AssertionError(f"never: {self.found}")

    async def lenses(self, file: str) -> dict[int, str]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(self.uri(file)))
        found = await self.client.text_document_code_lens_async(params)
        return {one.range.start.line + 1: one.command.title for one in found}

    async def actions(self, file: str, line: int, *only: str) -> list[Any]:
        at, context = types.Position(line - 1, 0), types.CodeActionContext([], [*only] or None)
        document = types.TextDocumentIdentifier(self.uri(file))
        params = types.CodeActionParams(document, types.Range(at, at), context)
        return list(await self.client.text_document_code_action_async(params))

    async def perform(self, command: Any) -> None:
        params = types.ExecuteCommandParams(command.command, command.arguments)
        await self.client.workspace_execute_command_async(params)

    async def places(self, kind: str, file: str, line: int, column: int = 1) -> set[str]:
        document, position = types.TextDocumentIdentifier(self.uri(file)), types.Position(line - 1, column - 1)
        if kind == "definition":
            found = await self.client.text_document_definition_async(types.DefinitionParams(document, position))
        else:
            context = types.ReferenceContext(include_declaration=True)
            asked = types.ReferenceParams(context, document, position)
            found = await self.client.text_document_references_async(asked)
        top = f"{self.folder.as_uri()}/"
        return {f"{one.uri.removeprefix(top)}:{one.range.start.line + 1}" for one in found}


def serve(listening: socket.socket, words: Sequence[str]) -> None:
    """What `nodeattrs lsp` does, for the first who connects."""
    with listening, listening.accept()[0] as connection:
        for number in (0, 1):
            os.dup2(connection.fileno(), number)
    os.chdir(ROOT)
    main(["lsp", *words])


def is_error(one: Any) -> bool:
    return bool(one.severity == types.DiagnosticSeverity.Error)


def asked(
    folder: Path, talk: Callable[[Editor], Awaitable[None]], *words: str, is_forked: bool = sys.platform == "linux"
) -> Editor:
    editor = Editor(folder, *words, is_forked=is_forked)

    async def whole() -> None:
        async with editor:
            await asyncio.wait_for(talk(editor), 100)

    asyncio.run(whole())
    return editor


def explanations(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `explain --format json` says of every path that anybody wrote, for each node."""
    repository = Repository(folder)
    for name in repository.nodes():
        run = run_node(repository, name, facts=load_facts(folder / "facts" / f"{name}.json"))
        for path in sorted({spell(p) for slot in list(run.node.slots.values())[:-1] for p in leaves(slot.to_dict())}):
            yield name, explained(run.node, parse(path), repository).to_dict()


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for step, value in tree.items():
        yield from leaves(value, (*path, step)) if isinstance(value, dict) and value else [(*path, step)]


def questions(folder: Path, count: int, seed: int) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """So many claims that stand in a file: the node, the explanation, the claim."""
    claims = [
        (node, one, claim)
        for node, one in explanations(folder)
        for claim in one["claims"]
        if claim["file"] and claim["line"] and not claim["file"].startswith("facts/")
    ]
    return random.Random(seed).sample(claims, min(count, len(claims)))


KEYS = ("a", "b", "c", "port")


def fleet(folder: Path, seed: int, nodes: int = 8) -> Path:
    """A repository of roles, environments and nodes that set the same few paths."""
    draw = random.Random(seed)

    def tree(depth: int = 3) -> Any:
        some = draw.sample(KEYS, draw.randint(1, 3))
        return {key: tree(depth - 1) if depth > 1 and draw.random() < 0.5 else draw.randint(1, 99) for key in some}

    def put(place: str, data: Any) -> None:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=draw.choice([1, 2, None])))

    for name in ("r1", "r2", "r3"):
        put(f"roles/{name}.json", {"name": name, "default_attributes": tree(), "override_attributes": tree(2)})
    for name in ("prod", "test"):
        put(f"environments/{name}.json", {"name": name, "default_attributes": tree(), "override_attributes": tree(1)})
    for number in range(nodes):
        roles = [f"role[{name}]" for name in draw.sample(("r1", "r2", "r3"), draw.randint(1, 3))]
        environment = draw.choice(("prod", "test"))
        put(f"nodes/n{number}.json", {"chef_environment": environment, "run_list": roles, "normal": tree(1)})
        put(f"facts/n{number}.json", {"platform": "debian", "platform_family": "debian", "platform_version": "12"})
    return folder


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder)
    return folder


class TestALineBesideExplain:
    """Of any line that `explain` names, the server says the same."""

    def agrees(self, folder: Path, seed: int) -> None:
        drawn = questions(folder, examples(50), seed)
        assert len(drawn) == examples(50)

        async def talk(editor: Editor) -> None:
            first = drawn[0][2]
            await editor.until_hover(first["file"], first["line"], "on")
            for node, explanation, claim in drawn:
                place = claim["file"], claim["line"], claim["column"] or 1
                text = await editor.hover(*place)
                blocks = [block for block in text.split("\n\n") if f"**`{explanation['path']}`**" in block]
                assert blocks, (node, explanation["path"], claim, text)
                (about,) = blocks
                winner = next((one for one in explanation["claims"] if one["outcome"] in ("wins", "joins")), None)
                is_read = claim["outcome"] in ("wins", "joins")
                lines = [line for line in about.splitlines() if re.search(rf": .*\b{node}\b", line)]
                assert lines, (node, about)
                if is_read:
                    assert any(line.startswith(("wins on", "joins on")) for line in lines), (node, about)
                elif claim["outcome"] == "loses" and winner:
                    by = f"{winner['file']}:{winner['line']}" if winner["file"] else winner["kind"]
                    assert any(line.startswith(f"overridden by {by} ({winner['rank']} ") for line in lines), about
                if winner and winner["file"]:
                    at = f"{winner['file']}:{winner['line']}"
                    assert at in await editor.places("definition", *place)
                setters = {f"{one['file']}:{one['line']}" for one in explanation["claims"] if one["file"]}
                assert setters <= await editor.places("references", *place)

        asked(folder, talk, "--run-code")

    def test_on_lines_of_the_example(self, example: Path) -> None:
        self.agrees(example, 1)

    def test_on_lines_of_a_made_up_fleet(self, tmp_path: Path) -> None:
        self.agrees(fleet(tmp_path / "fleet", 7), 2)


class TestWhileOneWrites:
    def test_a_line_is_known_still_if_it_moved_since_it_was_saved_or_the_editor_ends_lines_otherwise(
        self, tmp_path: Path
    ) -> None:
        folder = fleet(tmp_path / "fleet", 3)
        text = '{"name": "r1",\n "default_attributes": {\n  "port": 1,\n  "a": 2}}\n'
        (folder / "roles/r1.json").write_text(text)
        of_windows = text.replace("r1", "r2")
        (folder / "roles/r2.json").write_bytes(of_windows.replace("\n", "\r\n").encode())

        async def talk(editor: Editor) -> None:
            before = await editor.until_hover("roles/r1.json", 3, "`port`")
            editor.open("roles/r1.json", '{"name": "r1",\n\n "run_list": [],\n "default_attributes": {\n  "port": 1,\n')
            assert await editor.hover("roles/r1.json", 5) == before
            assert await editor.hover("roles/r1.json", 3) == ""
            editor.open("roles/r2.json", of_windows)
            assert "wins on" in await editor.until_hover("roles/r2.json", 3, "`port`")

        asked(folder, talk)

    def test_what_is_saved_is_asked_anew_and_checked_anew(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 3)

        async def talk(editor: Editor) -> None:
            role = {"name": "r1", "default_attributes": {"port": 4242}}
            (folder / "roles/r1.json").write_text(json.dumps(role, indent=1))
            await editor.until_hover("environments/prod.json", 1, "")
            editor.save("roles/r1.json")
            assert "4242" in await editor.until_hover("roles/r1.json", 4, "`port`")
            (folder / "roles/r1.json").write_text("{]")
            editor.save("roles/r1.json")
            at = types.Position(0, 1)  # a question of before may find the file while it is written, and empty
            (one,) = await editor.until_found("r1.json", lambda found: [at] == [one.range.start for one in found])
            assert is_error(one)
            assert one.source == "nodeattrs"
            (folder / "roles/r1.json").write_text(json.dumps(role))
            editor.save("roles/r1.json")
            await editor.until_found("r1.json", lambda found: not any(map(is_error, found)))

        asked(folder, talk)


def site(folder: Path, ports: int = 1) -> Path:
    """Two nodes with a role; the environment of one overrides all ports of the role, and leaves its workers."""
    texts = {
        "roles/web.json": {"name": "web", "default_attributes": {**dict.fromkeys(names(ports), 80), "workers": 4}},
        "environments/prod.json": {"name": "prod", "override_attributes": dict.fromkeys(names(ports), 443)},
        "nodes/n1.json": {"name": "n1", "chef_environment": "prod", "run_list": ["role[web]"]},
        "nodes/n2.json": {"name": "n2", "run_list": ["role[web]"]},
        "roles/old.json": {"name": "old", "run_list": ["role[gone]"]},
    }
    for name, data in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(data, indent=2) + "\n")
    return folder


def names(count: int) -> list[str]:
    return [f"port{number}" for number in range(1, count + 1)]


class TestALineThatIsOverridden:
    def test_has_a_lens_with_the_words_of_where_and_other_lines_have_none(self, tmp_path: Path) -> None:
        folder = site(tmp_path)

        async def talk(editor: Editor) -> None:
            assert await editor.lenses("roles/web.json") == {4: "wins on 1 of 2 nodes"}
            assert await editor.lenses("environments/prod.json") == {}
            assert await editor.lenses("roles/old.json") == {}

        asked(folder, talk)
        lines = FolderLines(folder, Request(str(folder)))
        lines.look()
        assert [*sentences(*lines.at(FileLine("roles/web.json", 4)), lines.count)][1] == "wins on 1 of 2 nodes: n2"

    def test_keeps_its_lens_while_other_lines_are_written_and_has_one_of_now_after_a_file_is_saved(
        self, tmp_path: Path
    ) -> None:
        folder = site(tmp_path)
        text = (folder / "roles/web.json").read_text()

        async def talk(editor: Editor) -> None:
            editor.open("roles/web.json", text.replace('  "default', '\n\n  "default').replace('"workers"', '"people"'))
            assert await editor.lenses("roles/web.json") == {6: "wins on 1 of 2 nodes"}
            (folder / "environments/prod.json").write_text('{"name": "prod"}')
            editor.save("environments/prod.json")
            for _ in range(300):
                if not await editor.lenses("roles/web.json"):
                    return
                await asyncio.sleep(0.1)
            raise AssertionError("the lens of before is still there")

        asked(folder, talk)

    def test_says_that_something_was_not_read(self, tmp_path: Path) -> None:
        folder = site(tmp_path)
        (folder / "nodes/n3.json").write_text('{"name": "n3", "run_list": ["role[wbe]"]}')

        async def talk(editor: Editor) -> None:
            found = await editor.lenses("roles/web.json")
            assert found[1].startswith("incomplete: ")
            assert "n3 (subject) cannot be resolved" in found[1]
            assert found[4] == "wins on 1 of 2, set on 2 of 3 nodes (incomplete: see line 1)"
            assert "n3 (subject) cannot be resolved" in await editor.hover("roles/web.json", 4)

        asked(folder, talk)

    def test_says_of_how_many_subjects_it_speaks_as_a_hover_does(self, tmp_path: Path) -> None:
        async def talk(editor: Editor) -> None:
            assert await editor.lenses("roles/web.json") == {
                1: "incomplete: of the first 1 of 2 nodes (--most)",
                4: "wins on 0 of 1 node (incomplete: see line 1)",
            }
            assert "*of the first 1 of 2 nodes" in await editor.until_hover("roles/web.json", 4, "`port1`")

        asked(site(tmp_path), talk, "--most", "1")

    def test_beyond_200_of_a_file_is_counted(self, tmp_path: Path) -> None:
        async def talk(editor: Editor) -> None:
            found = await editor.lenses("roles/web.json")
            assert [*found] == [*range(4, 205)]
            assert found[204] == "5 more lines are overridden, here and below"

        asked(site(tmp_path, 205), talk)

    def test_is_named_by_its_path_where_a_line_sets_several(self, tmp_path: Path) -> None:
        folder = site(tmp_path, 2)
        role = folder / "roles/web.json"
        role.write_text(json.dumps(json.loads(role.read_text())))

        async def talk(editor: Editor) -> None:
            document = types.CodeLensParams(types.TextDocumentIdentifier(editor.uri("roles/web.json")))
            found = await editor.client.text_document_code_lens_async(document)
            titles = [one.command.title for one in found]
            assert titles == ["port1 wins on 1 of 2 nodes", "port2 wins on 1 of 2 nodes"]

        asked(folder, talk)

    def test_offers_to_open_the_line_that_wins_and_names_it_to_an_editor_that_opens_no_lines(
        self, tmp_path: Path
    ) -> None:
        opened: list[tuple[str, int]] = []

        def show(params: Any) -> Any:
            opened.append((Path(params.uri).name, params.selection.start.line + 1))
            return types.ShowDocumentResult(success=True)

        async def talk(editor: Editor) -> None:
            (action,) = await editor.actions("roles/web.json", 4)
            assert action.title == "go to the winning line: environments/prod.json:4"
            await editor.perform(action)
            (text,) = editor.shown
            assert text.startswith("environments/prod.json:4 wins. ")
            editor.client.feature(types.WINDOW_SHOW_DOCUMENT)(show)
            await editor.perform(action)
            assert opened == [("prod.json", 4)]
            assert await editor.actions("roles/web.json", 5) == []
            assert await editor.actions("roles/web.json", 4, "source.fixAll") == []

        assert len(asked(site(tmp_path), talk).shown) == 1


class TestWhatRuns:
    def test_code_of_a_repository_runs_only_where_somebody_asked(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 5)
        (folder / "roles/r1.json").unlink()
        (folder / "roles/r1.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nname('r1')\n")

        async def talk(editor: Editor) -> None:
            await editor.until_found("r1.py", lambda found: any("was not run" in one.message for one in found))

        asked(folder, talk, is_forked=False)
        assert not (tmp_path / "ran").exists()

    def test_output_of_repository_code_is_no_answer_of_the_language_server(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 5)
        (folder / "roles/r1.json").unlink()
        words = "import os\nprint('hello')\nos.system('echo hello')\nname('r1')\ndefault_attributes({'port': 4711})\n"
        (folder / "roles/r1.py").write_text(words)

        async def talk(editor: Editor) -> None:
            assert "4711" in await editor.until_hover("roles/r1.py", 5, "`port`")

        asked(folder, talk, "--run-code", is_forked=False)


class TestTheWords:
    def test_secrets_are_withheld(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 5)
        (folder / "nodeattrs.toml").write_text('sensitive = ["port"]\n')
        role = {"name": "r1", "default_attributes": {"port": "hunter2"}}
        (folder / "roles/r1.json").write_text(json.dumps(role, indent=1))
        lines = FolderLines(folder, Request(str(folder), run_code=False))
        lines.look()
        text = hover(lines.at(FileLine("roles/r1.json", 4)), lines.count)
        assert "`port`" in text
        assert "hunter2" not in text

    def test_the_page_shows_what_comes(self) -> None:
        lines = FolderLines(EXAMPLE, Request(str(EXAMPLE)))
        lines.look()
        text = hover(lines.at(FileLine("roles/web.json", 38)), lines.count)
        plain = re.sub(r"\*\*|[`\\]|  $", "", text, flags=re.MULTILINE)
        assert f"```text\n{plain}\n```" in (ROOT / "docs/editor.md").read_text("utf-8")

    def test_lines_count_the_subjects_that_are_not_asked(self, tmp_path: Path) -> None:
        folder = fleet(tmp_path / "fleet", 5)
        lines = FolderLines(folder, Request(str(folder), run_code=False), most=3)
        lines.look()
        assert lines.count["nodes"] == (3, 8)
