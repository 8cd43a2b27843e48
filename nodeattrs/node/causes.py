"""Where a value that code set comes from: the calls that led there, the literals, what was read.

It brings together what a source says (`texts.flow`), what a node noted while it ran (which calls
led to a line, which documents a call read) and the traces of attributes that were read.
"""

from __future__ import annotations

import ast
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, pairwise
from types import CodeType
from typing import Any

from nodeattrs.core.claim import CALLED, READ, WRITTEN, Cause, Locator, Origin
from nodeattrs.core.origins import At
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, dig, under
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.setters import CodeLocator, span_of, spot_of, text_of
from nodeattrs.node.slots import PLAN
from nodeattrs.node.values import Deferred
from nodeattrs.texts import documents
from nodeattrs.texts.file_names import file_of
from nodeattrs.texts.flow import Code, Flow, Found, Frame
from nodeattrs.texts.following import written_out
from nodeattrs.texts.scopes import EACH, SOME

_MOST = 12
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


Read = Callable[[Path], tuple[Origin, tuple[Cause, ...]] | None]
"""Who set an attribute that was read, and the causes of that; None for one that led here, or is not set."""


def causes_at(ledger: Ledger, by: At, value: Any, read: Read) -> tuple[Cause, ...]:
    """Where a value comes from. by: the mark that set it, and the path in its slot"""
    mark, asked = ledger.marks[by.source], Asked(ledger, by.path, read, isinstance(value, Sensitive))
    value = value.unwrap() if isinstance(value, Sensitive) else ABSENT if type(value) is Deferred else value
    if isinstance(mark.locator, CodeLocator):
        # A map above the path that was written holds what was written, and more: no expression stands for it.
        return of_code(mark.locator, by.path[mark.depth :] if len(by.path) >= mark.depth else None, value, asked)
    give = getattr(mark.locator, "causes", None)
    return () if give is None else tuple(give(by.path[mark.depth :], value, asked))


def of_code(locator: CodeLocator, path: Path | None, value: Any, asked: Asked) -> tuple[Cause, ...]:
    """Where a value that a line of code set comes from: first the calls, innermost first.

    cost: what was found in sources is kept, so that the same files are followed once for all nodes that run them
    """
    known = _once(locator.key, path, value, asked, lambda: _followed(locator, path, value, asked))
    return _all(known, asked, lambda: _composed(locator, asked, known.found, value, locator.at(path or ())))


def _once(of: Any, path: Path | None, value: Any, asked: Asked, follow: Callable[[], _Followed]) -> _Followed:
    key = _key(of, path, value, asked.is_secret)
    known = _kept.get(key)
    if known is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        known = _kept[key] = follow()
    return known


def _key(of: Any, path: Path | None, value: Any, is_secret: bool = False) -> Any:
    """What is the same where sources say the same of a value; of a secret nothing that gives it away.

    of: what is the same for one line that sets
    """
    text = repr(type(value) if isinstance(value, (dict, list)) else value)
    return of, path, _sealed(text) if is_secret else text


def _sealed(text: str) -> bytes:
    """A hash that nobody can try texts against, since its key never leaves this process."""
    digest: bytes = blake2b(text.encode("utf-8", "surrogatepass"), key=_seal(), digest_size=32).digest()
    return digest


@lru_cache(maxsize=1)
def _seal() -> bytes:
    return os.urandom(32)


def known_for_all(of: Any, path: Path | None, value: Any, read: Noted, is_secret: bool = False) -> Known | None:
    """What is remembered of a value: what is the same for every node, or for all that have read the same documents.

    of:   what is the same for one line that sets
    read: what the node has read
    """
    known = _kept.get(_key(of, path, value, is_secret))
    if known is None or not known.found:
        return known
    documents = read.by(known.found)
    return None if documents is None else known.read.get(tuple(map(id, documents)))


class Known:
    """The causes of a value, remembered.

    owner:  has the identities in the key under which this is kept, so that nobody else gets them
    packed: all causes as data, where somebody has made that of them
    """

    __slots__ = ("causes", "owner", "packed")

    def __init__(self, owner: Any, causes: tuple[Cause, ...]) -> None:
        self.owner, self.causes = owner, causes
        self.packed: list[Any] | None = None


class _Followed(Known):
    """What sources say of a value.

    causes: the same for every node: all of them, or the calls that led there
    found:  what is to be asked of a node beside them: nothing, or all that was found
    read:   all causes by the documents that a node has read there
    """

    __slots__ = ("found", "read")

    def __init__(
        self, owner: Any, led: Iterable[Cause], found: list[Found], composed: Callable[[], Iterable[Cause]]
    ) -> None:
        is_known = all(one.what == "literal" for one in found)
        super().__init__(owner, _ordered(led, composed() if is_known else ()))
        self.found = [] if is_known else found
        self.read: dict[tuple[int, ...], Known] = {}


_kept: dict[Any, _Followed] = {}
_MOST_KEPT, _MOST_READ = 20_000, 8


def _followed(locator: CodeLocator, path: Path | None, value: Any, asked: Asked) -> _Followed:
    """The calls that led to a line, and what the value on it comes from."""
    setting = locator.spot.setting
    led = [Cause(CALLED, origin) for one in locator.calls if (origin := _placed(locator, *one)) is not None]
    if setting is None or setting[1] is None or path is None:
        return _Followed(locator, led, [], tuple)
    written = None if locator.calls else written_out(setting[1], path, value)
    if written is not None and written.lineno == locator.spot.place(path)[0]:
        return _Followed(locator, led, [], tuple)  # it stands where it is set: nothing is to be said of that
    code = _code(locator.spot.text)
    calls = [_site(code, setting[0]), *(_called(*one) for one in locator.calls)] if locator.calls else []
    flow = Flow(value, asked.imported(locator))
    found = flow.sources(code, setting[1], path, tuple(_frames(calls)), isinstance(setting[0], (ast.Call, ast.Expr)))
    return _Followed(locator, led, found, lambda: _composed(locator, asked, found, value, locator.at(path)))


def _all(known: _Followed, asked: Asked, composed: Callable[[], Iterable[Cause]]) -> tuple[Cause, ...]:
    """The causes for one node: remembered too, where they hang on nothing but documents, which nodes share."""
    if not known.found:
        return known.causes
    documents = asked.noted.by(known.found)
    if documents is None:
        return _ordered(known.causes, composed())
    key = tuple(map(id, documents))
    made = known.read.get(key)
    if made is None:
        if len(known.read) >= _MOST_READ:
            known.read.clear()
        made = known.read[key] = Known(documents, _ordered(known.causes, composed()))
    return made.causes


def _ordered(led: Iterable[Cause], more: Iterable[Cause] = ()) -> tuple[Cause, ...]:
    """Each once: first the calls, then some of what is further away."""
    return tuple(dict.fromkeys((*led, *islice(more, _MOST))))


def of_text(locator: Any, text: Any, line: int, path: Path, value: Any, asked: Asked) -> tuple[Cause, ...]:
    """The same for a statement of a script that ran by itself, such as a role. locator: has `placed` and `at`"""

    def follow() -> _Followed:
        setting, found = text.setting(line), []
        if setting is not None and setting[1] is not None:
            stores = isinstance(setting[0], (ast.Call, ast.Expr))
            found = Flow(value).sources(_code(text), setting[1], path, stores=stores)
        return _Followed(locator, (), found, lambda: composed(found))

    def composed(found: list[Found]) -> Iterator[Cause]:
        return _composed(locator, asked, found, value, locator.placed(text.file, line))

    known = _once((id(locator), line), path, value, asked, follow)
    return _all(known, asked, lambda: composed(known.found))


_Site = tuple[Code, ast.AST | None, Any]
"""An expression that ran, where it is known, and the function around it."""


def _site(code: Code, node: ast.AST | None) -> _Site:
    return code, node, None if node is None else code.scopes.function_of(node)


def _called(caller: CodeType, offset: int, ran: Any) -> _Site:
    spot = spot_of(caller, offset, ran)
    return _site(_code(spot.text), spot.setting[0] if spot.setting else None)


def _frames(sites: list[_Site]) -> Iterator[Frame]:
    """Who called whom, as far as calls are written out in sources."""
    for (_, _, function), (code, node, _) in pairwise(sites):
        if function is not None:
            yield Frame(function, code, node if isinstance(node, ast.Call) else None)


def _placed(locator: CodeLocator, caller: CodeType, offset: int, ran: Any) -> Origin | None:
    """Where a call stands; None outside of the repository."""
    span = spot_of(caller, offset, ran).span
    origin = locator.placed(caller.co_filename, None if span is None else span[0])
    if origin.file is None or os.path.isabs(origin.file) or origin.file.startswith("<"):
        return None
    return None if caller.co_name in _COMPREHENSIONS else origin


def _composed(locator: Any, asked: Asked, found: list[Found], value: Any, here: Origin) -> Iterator[Cause]:
    """Each thing that was found, as a line."""
    likely = [one for one in found if asked.is_likely(one, value)]
    for one in likely or found:
        at = locator.placed(one.code.file, *_start(one))
        for cause in asked.of(one, value if one.exact else ABSENT, at):
            is_here = (cause.origin.file, cause.origin.line) == (here.file, here.line) and cause.what == WRITTEN
            if not is_here or cause.path is not None:
                yield cause


def _start(found: Found) -> tuple[int, int]:
    """Line and column; looked up once for all nodes."""
    node, notes = found.node, vars(found.node)
    if "_start" not in notes:
        notes["_start"] = node.lineno, found.code.text.column(node.lineno, node.col_offset)
    known: tuple[int, int] = notes["_start"]
    return known


class Asked:
    """What a question can ask of a node: its attributes, the documents that its cookbooks read, their sources.

    path:      what is asked about, in its slot
    is_secret: of what stands there nothing is remembered that gives it away
    """

    def __init__(self, ledger: Ledger, path: Path, read: Read, is_secret: bool) -> None:
        self.is_secret = is_secret
        self._ledger = ledger
        self.path = path
        self._read = read
        self.noted = Noted(ledger)

    def imported(self, locator: CodeLocator) -> Any:
        """What gives the source of a module that a file imports; None for one outside of the repository."""
        root = _real(locator.root())

        def imported(name: str, file: str) -> Code | None:
            path = _module(name, file, root)
            return None if path is None else _code(text_of(path))

        return imported

    def is_likely(self, found: Found, value: Any) -> bool:
        """Whether it still is that value: of an attribute that was set again since, nobody knows."""
        if found.what != "attribute" or not found.exact or value is ABSENT or _known(found.path) != found.path:
            return True
        self._ledger.marks.looked.at(found.path)
        return _same(self._ledger.standing(PLAN, found.path, compute=False), value)

    def of(self, found: Found, wanted: Any, at: Origin) -> Iterator[Cause]:
        """The lines of one thing that was found. wanted: what stands there; ABSENT where that is not known"""
        if found.what == "literal":
            yield Cause(WRITTEN, at)
        elif found.what == "attribute":
            known = _known(found.path) == found.path
            for path in [found.path] if known else _every(self._standing(found.path), found.path, wanted):
                yield from self._attribute(path, at)
        else:
            for document, locator in self._documents(found):
                for path in _every(document, found.path, wanted):
                    yield Cause(READ, locator.at(path), None, at)

    def _standing(self, path: tuple[Any, ...]) -> Any:
        """What stands at the steps of a path that are known, as a tree from the root."""
        known = _known(path)
        self._ledger.marks.looked.at(known)
        value = self._ledger.standing(PLAN, known)
        plain = self._ledger.folded(value, False) if value is not ABSENT and not _is_scalar(value) else value
        return under(known, plain)

    def _attribute(self, path: Path, at: Origin) -> Iterator[Cause]:
        if (found := self._read(path)) is not None:
            origin, causes = found
            yield Cause(WRITTEN, origin, path, at)
            yield from (cause for cause in causes if cause.what != CALLED)

    def _documents(self, found: Found) -> Iterator[tuple[Any, Locator]]:
        """What a call has read, as it was noted; else the file that it names, where that is in the repository."""
        noted = self.noted.at(found)
        yield from noted
        if not noted and (files := _files(found)):
            self._ledger.marks.looked.more = True
            yield from self._read_again(files)

    def _read_again(self, files: Iterable[str]) -> Iterator[tuple[Any, Locator]]:
        root = _real(self._ledger.marks.root())
        for path in map(os.path.realpath, files):
            if path.startswith(root + os.sep):
                try:
                    document = documents.read(pathlib.Path(path), os.path.relpath(path, root).replace(os.sep, "/"))
                except NodeattrsError:
                    continue
                yield document.tree, document.locator("file", "")


def _files(found: Found) -> list[str]:
    """The files that a call names, as its source says; looked up once for all nodes."""
    node, notes = found.node, vars(found.node)
    if "_files" not in notes:
        words = [*node.args, *(word.value for word in node.keywords)] if isinstance(node, ast.Call) else []
        names = [file_of(found.code, one) for one in words]
        notes["_files"] = [name for name in names if name is not None and os.path.isabs(name)]
    known: list[str] = notes["_files"]
    return known


class Noted:
    """The documents that the calls of a node's cookbooks have read; each call is looked for once."""

    def __init__(self, ledger: Ledger) -> None:
        self._reads = ledger.marks.reads
        self._found: dict[ast.AST, list[tuple[Any, Locator]]] = {}

    def at(self, found: Found) -> list[tuple[Any, Locator]]:
        """What a call has read, as it was noted."""
        known = self._found.get(found.node)
        if known is None:
            known = self._found[found.node] = [pair for read in self._by(found) for pair in read.values()]
        return known

    def _by(self, found: Found) -> Iterator[dict[int, tuple[Any, Locator]]]:
        for (code, offset), read in self._reads.items():
            if code.co_filename == found.code.file:
                span = span_of(code, offset)
                setting = None if span is None else found.code.text.setting(span[0], span)
                if setting is not None and setting[0] is found.node:
                    yield read

    def by(self, found: list[Found]) -> list[Any] | None:
        """The documents that calls have read, and their locators; None where there is more to ask than these.

        Of a call that has read none, and names no file, there is nothing to ask.
        """
        documents: list[Any] = []
        for one in found:
            noted = [] if one.what == "attribute" else self.at(one)
            if not noted and (one.what == "attribute" or _files(one)):
                return None
            for pair in noted:
                documents += pair
            documents.append(None)  # so that nobody takes those of one call for those of another
        return documents


_codes: dict[int, Code] = {}
_MOST_CODES = 256


def _code(text: Any) -> Code:
    known = _codes.get(id(text))
    if known is None or known.text is not text:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        known = _codes[id(text)] = Code(text)
    return known


_real = lru_cache(maxsize=256)(os.path.realpath)


@lru_cache(maxsize=2048)
def _module(name: str, file: str, root: str) -> str | None:
    """The file of a module in the repository: the one that was imported, or that lies where imports look."""
    if name.partition(".")[0] in sys.stdlib_module_names or name.startswith("nodeattrs."):
        return None
    loaded = getattr(sys.modules.get(name), "__file__", None)
    folder = os.path.dirname(file)
    for _ in range(len(name) - len(name.lstrip(".")) - 1):
        folder = os.path.dirname(folder)
    steps = name.lstrip(".").replace(".", os.sep)
    above = [folder]
    while not name.startswith(".") and len(above[-1]) > len(root):
        above.append(os.path.dirname(above[-1]))
    places = [os.path.join(one, where, f"{steps}{end}") for one in above for where in ("", "libraries")
              for end in (".py", f"{os.sep}__init__.py")]  # fmt: skip
    for path in (loaded, *places):
        if path and os.path.realpath(path).startswith(root + os.sep) and os.path.isfile(path):
            return str(path)
    return None


def _known(path: tuple[Any, ...]) -> Path:
    """The steps up to the first one that is computed."""
    for at, step in enumerate(path):
        if step is SOME or step is EACH:
            return path[:at]
    return path


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, Sensitive, Deferred))


def _every(tree: Any, path: tuple[Any, ...], wanted: Any, way: Path = ()) -> Iterator[Path]:
    """The paths in a tree that *path* may mean: those at which *wanted* stands, where that is known."""
    if not path:
        if wanted is ABSENT or _same(tree, wanted):
            yield way
        return
    step, rest = path[0], path[1:]
    if isinstance(tree, dict) and step is EACH and not rest:
        yield from ((*way, key) for key in tree if wanted is ABSENT or _same(key, wanted))
        return
    for one in _steps_of(tree) if step is SOME or step is EACH else (step,):
        if (below := dig(tree, (one,))) is not ABSENT:
            yield from _every(below, rest, wanted, (*way, one))


def _steps_of(tree: Any) -> Iterable[Any]:
    if isinstance(tree, dict):
        return list(tree)
    return range(len(tree)) if isinstance(tree, list) else ()


def _same(one: Any, two: Any) -> bool:
    one = one.unwrap() if isinstance(one, Sensitive) else one
    return str(one) == str(two) or (isinstance(one, (dict, list)) and isinstance(two, (dict, list)))
