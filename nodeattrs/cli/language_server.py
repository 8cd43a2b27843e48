"""The language server of `nodeattrs lsp`. Importing this module requires pygls.

`verbs.lines` and `cli.check` compute the answers. The server writes only messages of the protocol, and changes no file.
"""

from __future__ import annotations

import argparse
import contextvars
import difflib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from pygls.workspace import TextDocument

from nodeattrs._version import VERSION
from nodeattrs.border import Border, held
from nodeattrs.cli.border import border_of
from nodeattrs.cli.changing import request_of
from nodeattrs.cli.check import check_folder
from nodeattrs.core.code import held_back
from nodeattrs.core.tree import spell
from nodeattrs.core.unread import sentences
from nodeattrs.dialects import named
from nodeattrs.errors import NodeattrsError
from nodeattrs.project.config import Config, RepositorySettings
from nodeattrs.reports.findings import Finding, finding_of
from nodeattrs.reports.screen import first_of
from nodeattrs.reports.selection import Selection
from nodeattrs.verbs.hover import hover, summary
from nodeattrs.verbs.lines import MOST, Account, FileLine, FolderLines, LineEffect

_Made = TypeVar("_Made")

_SHOW = "nodeattrs.show"
"""The name of the command that opens a line. Its arguments are the fields of a FileLine."""

_LENSES, _ACTIONS = 200, 12
"""The most overridden lines that a file shows, and the most winning lines that a line offers."""


def serve(options: argparse.Namespace) -> None:
    """Serve the language server protocol on standard input and output, until the editor leaves."""
    server = LanguageServer("nodeattrs", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
    _Service(server, options).register()
    with _own_streams() as (source, target):
        server.start_io(source, target)


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

    The editor's first message makes `_lines` look at the folder, in a thread; questions wait until this has finished.
    Saved and changed files make it look again, and the findings of `check` are published each time.
    """

    def __init__(self, server: LanguageServer, options: argparse.Namespace) -> None:
        self._server, self._options = server, options
        self._context = contextvars.copy_context()  # limits that are in force; threads begin without
        self._looking, self._has_looked = threading.Lock(), threading.Event()
        self._reported: set[str] = set()
        self._lines: FolderLines | None = None
        self._root = ""
        self._border: Border | None = None
        self._may_exit = False

    def register(self) -> None:
        """Register a method of this object for each message of the editor."""
        answers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZED: self._begin,
            types.TEXT_DOCUMENT_DID_SAVE: self._update,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._update,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_DEFINITION: self._winners,
            types.TEXT_DOCUMENT_REFERENCES: self._setters,
            types.TEXT_DOCUMENT_CODE_LENS: self._lenses,
            types.TEXT_DOCUMENT_CODE_ACTION: self._code_actions,
        }
        self._server.command(_SHOW)(self._server.thread()(partial(self._show)))
        self._server.feature(types.SHUTDOWN)(partial(self._stop))
        self._server.feature(types.EXIT)(partial(self._leave))
        for feature, answer in answers.items():
            self._server.feature(feature)(self._server.thread()(partial(answer)))  # a method takes no marks of pygls

    def _stop(self, _: Any) -> None:
        """Note that the editor has announced its exit."""
        self._may_exit = True

    def _leave(self, _: Any) -> None:
        """End at once: a thread may wait for input that never comes, and nothing is half written.

        The exit code is 1 for an editor that has not sent `shutdown` before.
        """
        os._exit(0 if self._may_exit else 1)

    # --- looking

    def _begin(self, params: Any) -> None:
        root = self._options.repo or self._server.workspace.root_path or "."
        self._root = os.path.realpath(root)
        options = argparse.Namespace(**{**vars(self._options), "repo": self._root})
        self._border = border_of(options, is_closed=not self._options.run_code)
        request = request_of(self._options, self._root, self._options.run_code)
        self._lines = FolderLines(Path(self._root), request, self._options.most or MOST)
        self._update(params)

    def _update(self, _: Any) -> None:
        """Compute the subjects again whose files have changed, ask for new lenses, check, and publish the findings."""
        with self._looking:  # a call that waits here sees all changes until then
            try:
                self._in_context(self._look)
            finally:
                self._has_looked.set()
            workspace = self._server.client_capabilities.workspace
            if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
                self._server.workspace_code_lens_refresh(None)
            self._in_context(self._check)

    def _in_context(self, function: Callable[[], _Made]) -> _Made:
        def within() -> _Made:
            with held(self._border):
                return function()

        return self._context.copy().run(within)

    def _look(self) -> None:
        assert self._lines is not None
        with _Progress(self._server) as progress:
            try:
                self._lines.look(progress)
            except NodeattrsError as error:
                self._log(str(error))
        for name, why in self._lines.failed():
            self._log(f"{name} could not be asked: {why}")

    def _log(self, text: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Warning, text))

    def _check(self) -> None:
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
        repository = RepositorySettings(self._root)
        try:
            result = check_folder(repository)
        except NodeattrsError as error:
            yield finding_of(error)
            return
        settings = repository.config if result.has_readable_settings else Config()
        yield from Selection(settings.check_select, settings.check_ignore, {}, self._root).reported(result.found)[0]

    def _diagnostic(self, one: Finding) -> Any:
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
        """The effects of the line under the cursor; None where it has none."""
        effects = self._effects(params.text_document.uri, params.position)
        if not effects:
            return None
        text = hover(effects, self._looked.count, self._notes(effects))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    def _notes(self, effects: Sequence[LineEffect]) -> list[str]:
        """Sentences about what was not computed and not read for some effects; [] where everything was."""
        dialects = {one.dialect for one in effects}
        notes = [
            f"of the first {asked} of {known} {named(name).noun}s (--most)"
            for name, (asked, known) in self._looked.count.items()
            if name in dialects and asked < known
        ]
        unread = self._looked.unread_of(effects, [])
        if unread and "nodes" in dialects and not self._options.run_code:
            notes.append("cookbooks did not run (--run-code)")
        return [*notes, *sentences(unread)]

    def _lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """A lens for each line of a file that is overridden on some subjects, and one that names what was not read."""
        document = self._server.workspace.get_text_document(params.text_document.uri)
        places = {saved: types.Position(line, 0) for line, saved in _saved_lines(document).items()}
        places.setdefault(0, types.Position(0, 0))
        commands = self._lens_commands(self._looked.in_file(self._file(document)))
        return [types.CodeLens(types.Range(places[at], places[at]), one) for at, one in commands if at in places]

    def _lens_commands(self, effects: Sequence[LineEffect]) -> Iterator[tuple[int, types.Command]]:
        """Yield (line from 0, command) for each lens of a file: what was not read, then 200 overridden lines."""
        notes = self._notes(effects) if effects else []
        if notes:
            yield 0, _showing(f"incomplete: {first_of(notes, 3)}")
        paths = Counter(effect.place.line for effect in effects)
        overridden = [effect for effect in effects if effect.overridden]
        for effect in overridden[:_LENSES]:
            name = f"{spell(effect.path)} " if paths[effect.place.line] > 1 else ""
            title = f"{name}{summary(effect, self._looked.count)}{' (incomplete: see line 1)' if notes else ''}"
            winners = _winning(effect.overridden)
            yield effect.place.line - 1, _showing(title, winners[0] if winners else None)
        for effect in overridden[_LENSES : _LENSES + 1]:
            more = len(overridden) - _LENSES
            yield effect.place.line - 1, _showing(f"{more} more lines are overridden, here and below")

    def _code_actions(self, params: types.CodeActionParams) -> list[types.Command]:
        if params.context.only:  # the editor wants fixes
            return []
        effects = self._effects(params.text_document.uri, params.range.start)
        places = _winning(account for effect in effects for account in effect.overridden)
        return [_showing(f"go to the winning line: {one}", one) for one in places[:_ACTIONS]]

    def _show(self, *place: Any) -> None:
        """Open a line in the editor; in an editor that cannot open it for a server, a message names it.

        place: the fields of a FileLine
        """
        line = FileLine(*place)
        (location,) = self._locations([line])
        params = types.ShowDocumentParams(location.uri, take_focus=True, selection=location.range)
        try:
            is_shown = self._server.window_show_document(params).result(timeout=10).success
        except (JsonRpcException, TimeoutError):
            is_shown = False
        if not is_shown:
            text = f'{line} wins. This editor opens no line for a server: "go to definition" goes there'
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))

    def _winners(self, params: types.DefinitionParams) -> list[types.Location]:
        effects = self._effects(params.text_document.uri, params.position)
        return self._locations(_winning(account for effect in effects for account in effect.accounts))

    def _setters(self, params: types.ReferenceParams) -> list[types.Location]:
        effects = self._effects(params.text_document.uri, params.position)
        places = [one.place for effect in effects for account in effect.accounts for one in account.setters]
        own = {effect.place for effect in effects}
        return self._locations(place for place in places if params.context.include_declaration or place not in own)

    @property
    def _looked(self) -> FolderLines:
        """The effects of the lines of the folder; it waits until the first look has finished."""
        self._has_looked.wait()
        assert self._lines is not None
        return self._lines

    def _effects(self, uri: str, position: types.Position) -> list[LineEffect]:
        """The effects of the line under the cursor, as it was saved; [] for a line that is not saved."""
        document = self._server.workspace.get_text_document(uri)
        at = document.position_codec.position_from_client_units(document.lines, position)
        line = _saved_lines(document).get(at.line)
        if line is None:
            return []
        return self._looked.around(FileLine(self._file(document), line + 1, at.character + 1))

    def _file(self, document: TextDocument) -> str:
        return os.path.relpath(os.path.realpath(document.path), self._root).replace(os.sep, "/")

    def _locations(self, places: Iterable[FileLine | None]) -> list[types.Location]:
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
        return str(from_fs_path(os.path.normpath(os.path.join(self._root, file))))


def _units(text: str) -> int:
    """The length of a text as editors count: in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _saved(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as stream:
            return stream.read(10_000_000).splitlines()
    except OSError:
        return []


def _saved_lines(document: TextDocument) -> dict[int, int]:
    """The number of each line of the editor -> its number in the saved file, both from 0; new lines are left out."""
    now = [one.rstrip("\r\n") for one in document.lines]  # the ends may differ from those in the file
    saved = _saved(document.path)
    begin = _equal(now, saved)
    end = _equal(now[begin:][::-1], saved[begin:][::-1])
    found = {number: number for number in range(begin)}
    found |= {len(now) - number: len(saved) - number for number in range(1, end + 1)}
    between = now[begin : len(now) - end], saved[begin : len(saved) - end]
    for block in difflib.SequenceMatcher(None, *between, autojunk=False).get_matching_blocks():
        found |= {begin + block.a + number: begin + block.b + number for number in range(block.size)}
    return found


def _equal(lines: Iterable[str], others: Iterable[str]) -> int:
    """The number of lines that are equal in both, from the first one on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, others, strict=False)))


def _showing(title: str, place: FileLine | None = None) -> types.Command:
    """The command of the server that opens a line in the editor; without a line, a title that does nothing."""
    return types.Command(title, "") if place is None else types.Command(title, _SHOW, arguments=[*place])


def _winning(accounts: Iterable[Account]) -> list[FileLine]:
    """The lines that win, each once; winners that stand in no file are left out."""
    winners = (account.winner for account in accounts)
    return [*dict.fromkeys(one.place for one in winners if one is not None and one.place is not None)]


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
        progress = self._server.work_done_progress
        if not self._has_begun:
            progress.create(self._token).result(timeout=10)
            progress.begin(self._token, types.WorkDoneProgressBegin("nodeattrs", percentage=0))
            self._has_begun = True
        progress.report(self._token, types.WorkDoneProgressReport(message=name, percentage=100 * done // max(of, 1)))

    def __exit__(self, *_: object) -> None:
        if self._has_begun:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
