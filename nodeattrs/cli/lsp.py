"""`nodeattrs lsp`: a language server, which shows the answers of `where` and `check` in an editor.

The library pygls implements the protocol, and `verbs.lines` and `cli.check` compute the answers. An editor starts the
server. The server writes only messages of the protocol, and changes no file.
"""

from __future__ import annotations

import argparse
import contextvars
import difflib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from nodeattrs._version import VERSION
from nodeattrs.border import Border, held
from nodeattrs.cli.border import border_of
from nodeattrs.cli.changing import asking, request_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import ALLOWED_PATHS, RUBY

if TYPE_CHECKING:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

    from nodeattrs.reports.findings import Finding
    from nodeattrs.verbs.lines import Effect, FileLine, FolderLines

DESCRIPTION = """\
A language server over standard input and output: an editor starts it. Hover over a key in a role, an
environment, a node, a data file, a variable file or user-data to see where the line wins, and what overrides it.
"Go to definition" opens the line that wins, "find references" lists all lines that set the key. Findings of `check`
are diagnostics. No code of the repository runs without --run-code: cookbooks are then left out."""
EXAMPLES = """\
examples:
  nodeattrs lsp
  nodeattrs lsp --run-code --facts facts/
  nodeattrs lsp --repo site/ --most 50

docs/editor.md has the lines for each editor
"""

_Made = TypeVar("_Made")


ARGUMENTS = (
    Argument(("--repo",), "the repository (default: the folder that the editor has open)", {"metavar": "DIR"}),
    Argument(("--run-code",), "run code of the repository: cookbooks, Python roles", {"action": "store_true"}),
    Argument(("--most",), "look at the first N subjects of each dialect (default: 200)", {"type": int, "metavar": "N"}),
    *RUBY,
    *ALLOWED_PATHS,
    *asking(without=("--dialect", "--sample")),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the language server protocol on standard input and output, until the editor leaves.

    Wrong options end the program before, with exit code 2. raises: MissingExtra, without pygls
    """
    try:
        from pygls.lsp.server import LanguageServer
    except ImportError:
        from nodeattrs.errors import missing_extra

        raise missing_extra("pygls", "lsp", "a language server") from None
    if options.most is not None and options.most < 1:
        options.refuse("--most is at least 1")
    from lsprotocol.types import TextDocumentSyncKind

    request_of(options, "", options.run_code)  # refuses wrong options before an editor waits
    server = LanguageServer("nodeattrs", VERSION, text_document_sync_kind=TextDocumentSyncKind.Incremental)
    _Service(server, options).register()
    with _own_streams() as (source, target):
        server.start_io(source, target)
    return 0


@contextmanager
def _own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A context manager that gives (standard input, standard output) as binary files, for a protocol alone.

    Within the block, other output of this process and its children goes to standard error, and other reads of standard
    input find its end. Afterwards both are as before.
    """
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        with open(kept[0], "rb", closefd=False) as source, open(kept[1], "wb", closefd=False) as target:
            yield source, target
    finally:
        for fd, number in zip(kept, (0, 1), strict=True):
            os.dup2(fd, number)
            os.close(fd)
        os.close(nothing)


class _Service:
    """The answers to one editor, about one folder.

    The editor's first message makes `_lines` look at the folder, in a thread; hovers are empty until this has finished.
    Saved and changed files make it look again, and the findings of `check` are published each time.
    """

    def __init__(self, server: LanguageServer, options: argparse.Namespace) -> None:
        self._server, self._options = server, options
        self._context = contextvars.copy_context()  # limits that are in force; threads begin without
        self._looking = threading.Lock()
        self._reported: set[str] = set()
        self._lines: FolderLines | None = None
        self._root = ""
        self._border: Border | None = None

    def register(self) -> None:
        """Register a method of this object for each message of the editor."""
        from lsprotocol import types

        answers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZED: self._begin,
            types.TEXT_DOCUMENT_DID_SAVE: self._update,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._update,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_DEFINITION: self._winners,
            types.TEXT_DOCUMENT_REFERENCES: self._setters,
        }
        self._server.feature(types.EXIT)(partial(self._leave))
        for feature, answer in answers.items():
            self._server.feature(feature)(self._server.thread()(partial(answer)))  # a method takes no marks of pygls

    def _leave(self, _: Any) -> None:
        """End at once: a thread may wait for input that never comes, and nothing is half written."""
        os._exit(0 if self._server.protocol._shutdown else 1)

    # --- looking

    def _begin(self, params: Any) -> None:
        from nodeattrs.verbs.lines import MOST, FolderLines

        root = self._options.repo or self._server.workspace.root_path or "."
        self._root = os.path.realpath(root)
        options = argparse.Namespace(**{**vars(self._options), "repo": self._root})
        self._border = border_of(options, is_closed=not self._options.run_code)
        request = request_of(self._options, self._root, self._options.run_code)
        self._lines = FolderLines(Path(self._root), request, self._options.most or MOST)
        self._update(params)

    def _update(self, _: Any) -> None:
        """Compute the subjects again whose files have changed, then check, and publish the findings."""
        with self._looking:  # a call that waits here sees all changes until then
            self._in_context(self._look)
            self._in_context(self._check)

    def _in_context(self, function: Callable[[], _Made]) -> _Made:
        def within() -> _Made:
            with held(self._border):
                return function()

        return self._context.copy().run(within)

    def _look(self) -> None:
        from nodeattrs.errors import NodeattrsError

        assert self._lines is not None
        with _Progress(self._server) as progress:
            try:
                self._lines.look(progress)
            except NodeattrsError as error:
                self._log(str(error))
        for name, why in self._lines.failed():
            self._log(f"{name} could not be asked: {why}")

    def _log(self, text: str) -> None:
        from lsprotocol import types

        self._server.window_log_message(types.LogMessageParams(types.MessageType.Warning, text))

    def _check(self) -> None:
        from lsprotocol import types

        from nodeattrs.core.code import held_back

        with held_back(not self._options.run_code):
            found = list(self._findings())
        by_file: dict[str, list[Finding]] = {file: [] for file in self._reported}
        for one in found:
            if one.file is not None:
                by_file.setdefault(one.file, []).append(one)
        self._reported = {file for file, some in by_file.items() if some}
        for file, some in by_file.items():
            diagnostics = [self._diagnostic(one) for one in some]
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(self._uri(file), diagnostics))

    def _findings(self) -> Iterator[Finding]:
        from nodeattrs.cli.check import check_folder
        from nodeattrs.errors import NodeattrsError
        from nodeattrs.project.config import Config, RepositorySettings
        from nodeattrs.reports.findings import Selection, finding_of

        repository = RepositorySettings(self._root)
        try:
            result = check_folder(repository)
        except NodeattrsError as error:
            yield finding_of(error)
            return
        settings = repository.config if result.has_readable_settings else Config()
        yield from Selection(settings.check_select, settings.check_ignore, {}, self._root).reported(result.found)[0]

    def _diagnostic(self, one: Finding) -> Any:
        from lsprotocol import types

        severities = types.DiagnosticSeverity
        line = (one.line or 1) - 1
        text = self._line_of(one.file or "", line)
        start = min((one.column or 1) - 1, len(text))
        range_ = types.Range(types.Position(line, _units(text[:start])), types.Position(line, _units(text)))
        severity = {"error": severities.Error, "warning": severities.Warning}.get(one.severity, severities.Information)
        message = "\n".join([one.message, *one.more()])
        return types.Diagnostic(range_, message, severity, one.code, source="nodeattrs")

    def _line_of(self, file: str, line: int) -> str:
        lines = _saved(os.path.join(self._root, file))
        return lines[line] if line < len(lines) else ""

    # --- answering

    def _hover(self, params: types.HoverParams) -> types.Hover | None:
        """The effects of the line under the cursor; None where it has none, and before the first look."""
        from lsprotocol import types

        from nodeattrs.core.unread import sentences
        from nodeattrs.dialects import named
        from nodeattrs.verbs.hover import hover

        if self._lines is None:
            return None
        effects = self._effects(params)
        if not effects:
            return None
        dialects = {one.dialect for one in effects}
        notes = [
            f"of the first {asked} of {known} {named(name).noun}s (--most)"
            for name, (asked, known) in self._lines.count.items()
            if name in dialects and asked < known
        ]
        if "nodes" in dialects and not self._options.run_code:
            notes.append("cookbooks did not run (--run-code)")
        notes += sentences(self._lines.unread_of(effects, []))
        text = hover(effects, self._lines.count, notes)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    def _winners(self, params: types.DefinitionParams) -> list[types.Location]:
        accounts = (account for effect in self._effects(params) for account in effect.accounts)
        winners = (next((one for one in account.setters if one.is_read), None) for account in accounts)
        return self._locations(one.place for one in winners if one is not None)

    def _setters(self, params: types.ReferenceParams) -> list[types.Location]:
        effects = self._effects(params)
        places = [one.place for effect in effects for account in effect.accounts for one in account.setters]
        own = {effect.place for effect in effects}
        return self._locations(place for place in places if params.context.include_declaration or place not in own)

    def _effects(self, params: Any) -> list[Effect]:
        """The effects of the line under the cursor, as it was saved; [] for a line that is not saved."""
        from nodeattrs.verbs.lines import FileLine

        document = self._server.workspace.get_text_document(params.text_document.uri)
        file = os.path.relpath(os.path.realpath(document.path), self._root).replace(os.sep, "/")
        codec = document.position_codec
        at = codec.position_from_client_units(document.lines, params.position)
        line = _line_as_saved(document.lines, _saved(document.path), at.line)
        if self._lines is None or line is None:
            return []
        return self._lines.around(FileLine(file, line + 1, at.character + 1))

    def _locations(self, places: Iterable[FileLine | None]) -> list[types.Location]:
        from lsprotocol import types

        found = dict.fromkeys(place for place in places if place is not None)
        return [
            types.Location(
                self._uri(place.file),
                types.Range(
                    types.Position(place.line - 1, _units(line[: (place.column or 1) - 1])),
                    types.Position(place.line - 1, _units(line)),
                ),
            )
            for place, line in ((one, self._line_of(one.file, one.line - 1)) for one in found)
        ]

    def _uri(self, file: str) -> str:
        from pygls.uris import from_fs_path

        return str(from_fs_path(os.path.normpath(os.path.join(self._root, file))))


def _units(text: str) -> int:
    """The length of a text as editors count: in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _saved(path: str) -> Sequence[str]:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as stream:
            return stream.read(10_000_000).splitlines()
    except OSError:
        return ()


def _line_as_saved(now: Sequence[str], saved: Sequence[str], line: int) -> int | None:
    """The number of the saved line that is now line *line* of the editor, from 0; None for a new line.

    now: each line with its end, which may differ from the end in the file
    """
    now = [one.rstrip("\r\n") for one in now]
    if line < len(saved) and now[: line + 1] == list(saved[: line + 1]):
        return line
    for block in difflib.SequenceMatcher(None, now, saved, autojunk=False).get_matching_blocks():
        if block.a <= line < block.a + block.size:
            return block.b + line - block.a
    return None


class _Progress:
    """A context manager that gives a function (name, done, of), which shows progress where the editor can show it."""

    def __init__(self, server: LanguageServer) -> None:
        window = server.client_capabilities.window
        self._is_shown = bool(window is not None and window.work_done_progress)
        self._server, self._has_begun = server, False
        self._token = f"nodeattrs-{os.getpid()}-{id(self)}"

    def __enter__(self) -> Callable[[str, int, int], None]:
        return self._report if self._is_shown else lambda name, done, of: None

    def _report(self, name: str, done: int, of: int) -> None:
        from lsprotocol import types

        progress = self._server.work_done_progress
        if not self._has_begun:
            progress.create(self._token).result(timeout=10)
            progress.begin(self._token, types.WorkDoneProgressBegin("nodeattrs", percentage=0))
            self._has_begun = True
        progress.report(self._token, types.WorkDoneProgressReport(message=name, percentage=100 * done // max(of, 1)))

    def __exit__(self, *_: object) -> None:
        from lsprotocol import types

        if self._has_begun:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
