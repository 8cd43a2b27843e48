"""The causes of a value: calls that led to the line that set it, literals, attributes and documents that it came from.

Causes are found on demand. They come from the program text (`causes.flow`), from notes of the run (calls, documents
that were read), and from traces of attributes that were read. No value is computed. Only files of the repository count.
"""

from __future__ import annotations

import ast
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple

from nodeattrs.causes import flow
from nodeattrs.causes.file_names import file_of
from nodeattrs.causes.flow import Flow, Frame, SourceExpression
from nodeattrs.causes.scopes import EACH, SOME
from nodeattrs.core.claim import CALLED, READ, UNAVAILABLE, WRITTEN, Cause, Locator, Origin
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT, Path, dig, tree_with
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats import documents
from nodeattrs.formats.python import PythonText
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.restoring import SavedLocator
from nodeattrs.node.setters import Mark
from nodeattrs.node.sites import CodeLocator, ExpressionSite, is_inside, text_of
from nodeattrs.node.slots import PLAN
from nodeattrs.node.values import Deferred, Withheld

_MOST = 12
_DEEPEST = 6


Read = Callable[[Path], tuple[Origin, tuple[Cause, ...]] | None]
"""path of an attribute -> (origin, causes) of its value when it was read; None where it is not followed or not set."""


Then = Callable[[Ledger, SourcePath, Any, frozenset[Path], Path], Trace]
"""(ledger, mark and path that set a value, the value, paths on the way, path that was read) -> the trace of that
path.
"""


def causes_of(ledger: Ledger, by: SourcePath, value: Any, seen: frozenset[Path], then: Then) -> tuple[Cause, ...]:
    """The causes of a value in a slot: first calls, innermost first, then the lines that it comes from; () for none.

    Where a snapshot has the causes, they are taken from there.
    by:    the mark that set the value, and the path in its slot
    value: the value that was set. Only places with an equal value count; a deferred value is not compared
    seen:  the attributes whose causes led here; they are not followed again, and a chain ends after six attributes
    then:  traces an attribute that was read
    """
    mark = ledger.marks[by.source]
    saved = mark.locator if isinstance(mark.locator, SavedLocator) else None
    if saved is not None and saved.kept_causes is not None:
        return saved.kept_causes.get(by.path, ())
    is_earlier = saved is not None and saved.is_earlier
    known: dict[Path, tuple[Origin, tuple[Cause, ...]] | None] = {}

    def read(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        # What an earlier run read is not in the history of this one.
        if is_earlier or of in seen or len(seen) > _DEEPEST:
            return None
        if of not in known:  # one expression may read it several times
            winner = then(ledger, by, value, seen | {of}, of).winner
            known[of] = None if winner is None else (winner.claim.origin, winner.claim.causes)
        return known[of]

    with ledger.lock:
        return _causes_at(mark, by.path, value, CauseFinder(ledger, by.path, read))


def _causes_at(mark: Mark, path: Path, value: Any, finder: CauseFinder) -> tuple[Cause, ...]:
    if isinstance(value, Sensitive):
        value = value.unwrap()
    elif mark.is_late or type(value) in (Deferred, Withheld):
        value = ABSENT
    if isinstance(mark.locator, (CodeLocator, SavedLocator)) and mark.locator.site is not None:
        # A map above the path that was written has other values, too: no expression stands for it.
        inside = path[mark.depth :] if len(path) >= mark.depth else None
        return _causes_of_code(mark.locator, mark.locator.site, inside, value, finder)
    give = getattr(mark.locator, "causes", None)
    return () if give is None else tuple(give(path[mark.depth :], value, finder))


def _causes_of_code(
    locator: CodeLocator | SavedLocator, site: ExpressionSite, path: Path | None, value: Any, finder: CauseFinder
) -> tuple[Cause, ...]:
    """The causes of a value that a line of code set: first the calls, the innermost first."""
    calls = locator.calls
    origins = [_origin_of_call(locator, call) for call in calls]
    led = [Cause(CALLED, origin) for origin in origins if origin is not None]
    if site.text is None:
        return (*led, Cause(UNAVAILABLE, locator.at(path or ())))
    setting = site.setting
    if setting is None or setting[1] is None or path is None:
        return tuple(led)
    here = locator.placed(site.file, site.span[0]) if site.whole_line and site.span else locator.at(path)
    code = _code(site.text)
    frames = tuple(_frames([_expression(site), *map(_expression, calls)])) if calls else ()
    is_statement = isinstance(setting[0], (ast.Call, ast.Expr))
    found = Flow(value, finder._module_finder(locator)).sources(code, setting[1], path, frames, is_statement)
    composed = [*islice(_composed(locator, finder, found, value, here), _MOST)]
    missing = [Cause(UNAVAILABLE, locator.placed(path)) for path in finder.unavailable]
    return tuple(dict.fromkeys((*led, *composed, *missing)))


def causes_of_line(
    locator: Any, text: PythonText, line: int, path: Path, value: Any, finder: CauseFinder
) -> tuple[Cause, ...]:
    """The causes of a value that a statement of a script set, such as a role file in Python; at most twelve, () for
    none.

    locator: an object with `placed`, for origins
    text:    the script itself
    line:    the line of the statement
    path:    the path inside the value that the statement sets
    value:   the value at *path*; only places with an equal value are causes
    finder:  finds the causes of the expressions that the value comes from
    """
    setting = text.setting(line)
    if setting is None or setting[1] is None:
        return ()
    is_statement = isinstance(setting[0], (ast.Call, ast.Expr))
    found = Flow(value).sources(_code(text), setting[1], path, stores=is_statement)
    composed = _composed(locator, finder, found, value, locator.placed(text.file, line))
    return tuple(dict.fromkeys(islice(composed, _MOST)))


class _Expression(NamedTuple):
    """An expression that ran: its source, its syntax tree or None, and the function around it or None."""

    code: flow.ParsedCode
    node: ast.AST | None
    function: Any


def _expression(site: ExpressionSite) -> _Expression:
    code = _code(site.text or PythonText(site.file, ""))
    node = site.setting[0] if site.setting else None
    return _Expression(code, node, None if node is None else code.scopes.function_of(node))


def _frames(expressions: list[_Expression]) -> Iterator[Frame]:
    """A frame for each function and the call that led into it, the innermost first; without unknown functions."""
    for (_, _, function), (code, node, _) in pairwise(expressions):
        if function is not None:
            yield Frame(function, code, node if isinstance(node, ast.Call) else None)


def _origin_of_call(locator: CodeLocator | SavedLocator, call: ExpressionSite) -> Origin | None:
    """The origin of a call; None outside of the repository, and for a comprehension."""
    origin = locator.placed(call.file, None if call.span is None else call.span[0])
    return origin if is_inside(origin.file) and not call.in_comprehension else None


def _composed(
    locator: Any, finder: CauseFinder, found: list[SourceExpression], value: Any, here: Origin
) -> Iterator[Cause]:
    """Yield a cause for each expression that was found, without the one at *here*, which sets the value itself."""
    likely = [one for one in found if finder._is_likely(one, value)]
    for one in likely or found:
        column = one.code.text.column(one.node.lineno, one.node.col_offset)
        at = locator.placed(one.code.file, one.node.lineno, column)
        for cause in finder._causes_from(one, value if one.exact else ABSENT, at):
            is_here = (cause.origin.file, cause.origin.line) == (here.file, here.line) and cause.what == WRITTEN
            if not is_here or cause.path is not None:
                yield cause


class CauseFinder:
    """Turns the expressions that one value comes from into causes. Made for each value; the constructor reads nothing.

    The functions of this module use it: for attributes of the node, documents that calls have read, and files of the
    repository. Other modules only pass it on.

    path:        the path of the value in its slot
    read:        a function from the path of an attribute to its origin and causes; it returns None if it has no origin
    unavailable: the names of source files that the value may come from, but whose version is not available. The finder
                 adds to it
    """

    def __init__(self, ledger: Ledger, path: Path, read: Read) -> None:
        self._ledger = ledger
        self.path = path
        self._read = read
        self.unavailable: dict[str, None] = {}

    def _module_finder(self, locator: CodeLocator | SavedLocator) -> Any:
        """A function (module name, importing file) -> `flow.ParsedCode` of the module, for `flow.Flow`.

        It returns None for a module outside of the repository, and for one whose version is not available; the latter
        is added to `unavailable`.
        """
        root = _real(locator.root())

        def imported(name: str, file: str) -> flow.ParsedCode | None:
            path = _module(name, file, root)
            text = None if path is None else locator.source(path)
            if path is not None and text is None:
                self.unavailable[path] = None
            return None if text is None else _code(text)

        return imported

    def _is_likely(self, found: SourceExpression, value: Any) -> bool:
        """False for an attribute whose value now differs from *value*; True for all else, and where it is not known."""
        if found.what != "attribute" or not found.exact or value is ABSENT or _known(found.path) != found.path:
            return True
        return _same(self._ledger.part_at(PLAN, found.path, compute=False), value)

    def _causes_from(self, found: SourceExpression, wanted: Any, at: Origin) -> Iterator[Cause]:
        """Yield the causes for one expression. Nothing if no place that it reads has the value.

        A literal is its own cause. An attribute gives the line that set it, and the causes of that line. A call gives
        each document that it has read.
        wanted: the value. Only places in attributes and documents with an equal value are causes; ABSENT: all places
                are
        at:     the origin of the expression
        """
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
        """The merged value at the known steps of a path, as a tree from the root."""
        known = _known(path)
        return tree_with(known, self._ledger.plain_copy(self._ledger.part_at(PLAN, known), False))

    def _attribute(self, path: Path, at: Origin) -> Iterator[Cause]:
        found = self._read(path)
        if found is not None:
            origin, causes = found
            yield Cause(WRITTEN, origin, path, at)
            yield from (cause for cause in causes if cause.what != CALLED)

    def _documents(self, found: SourceExpression) -> Iterator[tuple[Any, Locator]]:
        """The documents that a call has read, as noted in the run; else the files that it names, in the repository."""
        noted = [pair for documents in self._noted_documents(found) for pair in documents]
        yield from noted or self._documents_in(_files(found))

    def _noted_documents(self, found: SourceExpression) -> Iterator[Iterable[tuple[Any, Locator]]]:
        for site, read in self._ledger.marks.documents_read():
            if site.file == found.code.file and site.span is not None:
                setting = found.code.text.setting(site.span[0], site.span)
                if setting is not None and setting[0] is found.node:
                    yield read

    def _documents_in(self, files: Iterable[str]) -> Iterator[tuple[Any, Locator]]:
        root = _real(self._ledger.marks.root())
        for path in map(os.path.realpath, files):
            if path.startswith(root + os.sep):
                try:
                    document = documents.read(pathlib.Path(path), os.path.relpath(path, root).replace(os.sep, "/"))
                except NodeattrsError:
                    continue
                yield document.tree, document.locator("file", "")


def _files(found: SourceExpression) -> list[str]:
    """The absolute file names among the arguments of a call, as far as its source says; [] for no call."""
    node = found.node
    words = [*node.args, *(word.value for word in node.keywords)] if isinstance(node, ast.Call) else []
    names = [file_of(found.code, one) for one in words]
    return [name for name in names if name is not None and os.path.isabs(name)]


_code = lru_cache(maxsize=256)(flow.ParsedCode)
"""The parsed code of a source; cached, since many values of a run come from one file."""
_real = lru_cache(maxsize=256)(os.path.realpath)


_INSTALLED = {"site-packages", "dist-packages"}
"""The names of folders in which libraries are installed."""


@lru_cache(maxsize=2048)
def _module(name: str, file: str, root: str) -> str | None:
    """The file of a module in the repository: the imported one, else one where imports look. None outside of it.

    A library that is installed in an environment below the repository does not count.
    """
    if name.partition(".")[0] in sys.stdlib_module_names or name.startswith("nodeattrs."):
        return None
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded and not _INSTALLED.isdisjoint(loaded.split(os.sep)):
        return None
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


@lru_cache(maxsize=256)
def imported_sources(text: PythonText, root: str) -> tuple[PythonText, ...]:
    """The sources of the repository that a source imports, directly or through others; each once, () for none.

    Each file is read at the first call; later changes of it do not count. root: the folder of the repository
    """
    found: dict[str, PythonText] = {}
    waiting = [text]
    while waiting:
        one = waiting.pop()
        for name in _imports(one.tree):
            path = _module(name, one.file, _real(root))
            if path is not None and path not in found:
                found[path] = text_of(path)
                waiting.append(found[path])
    return tuple(found.values())


def _imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a source may import, as its statements name them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            yield from (f"{module}.{alias.name}" if node.module else f"{module}{alias.name}" for alias in node.names)


def _known(path: tuple[Any, ...]) -> Path:
    """The steps up to the first one that is computed."""
    for at, step in enumerate(path):
        if step is SOME or step is EACH:
            return path[:at]
    return path


def _every(tree: Any, path: tuple[Any, ...], wanted: Any, way: Path = ()) -> Iterator[Path]:
    """Yield each path in a tree that *path* may mean, with SOME and EACH for any step, and whose value equals *wanted*.

    wanted: ABSENT: any value is good
    """
    if not path:
        if wanted is ABSENT or _same(tree, wanted):
            yield way
        return
    step, rest = path[0], path[1:]
    if isinstance(tree, dict) and step is EACH and not rest:
        yield from ((*way, key) for key in tree if wanted is ABSENT or _same(key, wanted))
        return
    for one in _own_steps(tree) if step is SOME or step is EACH else (step,):
        below = dig(tree, (one,))
        if below is not ABSENT:
            yield from _every(below, rest, wanted, (*way, one))


def _own_steps(tree: Any) -> Iterable[Any]:
    if isinstance(tree, dict):
        return list(tree)
    return range(len(tree)) if isinstance(tree, list) else ()


def _same(one: Any, two: Any) -> bool:
    one = one.unwrap() if isinstance(one, Sensitive) else one
    return str(one) == str(two) or (isinstance(one, (dict, list)) and isinstance(two, (dict, list)))
