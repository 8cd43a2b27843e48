"""What a start has loaded and made, remembered for the next one of the same command (docs/decisions/0025).

To find its modules, to read the bytecode of each and to compile small things anew is a third of what a command takes.
One file has it for all commands: beside the bytecode, trusted as that is, and written where that may be written.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader, cache_from_source

from nodeattrs import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from types import CodeType, ModuleType
    from typing import Any

    Stamp = tuple[int, int] | None

    Module = tuple[str, Stamp, str | None, str | None, str, CodeType | None]
    """Its file and the stamp of that, the file of its bytecode, the folder it is, where it is a package, and the one
    where it was looked for; and its code: a library in machine code has none."""

    Items = tuple[dict[str, Module], dict[str, CodeType], dict[tuple[Any, int], Any]]
    """Modules by name, code by the text that `records` compiled, parts of regular expressions as `lazily` asks."""

    Chunk = tuple[Iterable[str], Items]
    """Things, and the keys of all starts that need them; with `_SELDOM` behind it that of one which seldom does."""

_WITH_ACTIONS = frozenset({"ansible", "bindings", "catalog", "cloud-config", "environment", "hiera", "role"})
"""Commands whose actions load each its own."""

_LIBRARIES = frozenset({"nodeattrs", "yaml", "sortedcontainers", "orjson", "zstandard"}) | sys.stdlib_module_names
"""Whose modules are remembered; none of a repository's."""

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that holds the package."""

_SELDOM = " ?"
_MOST = 0.7
"""A start that went well, and needs so much of what those before it needed, shows what of it is seldom needed."""

_SIGN = b"start 3\n"
"""What the file begins with; then come the length of its table, the table, and the chunks."""


class Start:
    """Finds modules, as those in `sys.meta_path` do, among what earlier starts of the same command have left.

    It begins at once. A module counts while its file is as it was; all of it, while the places where Python looks are.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """words: of the command line"""
        self._key, self._around, self._there = _key(words), _around(), set(sys.modules)
        self._places = {place for place, _ in self._around[-1]} | {_HOME} if self._around else set()
        # `python -m` looks for modules in another folder first: it has a file of its own, so that both can be in use.
        kind = ".m" if os.path.basename(sys.argv[0]) == "__main__.py" else ""
        self._file = f"{os.path.splitext(cache_from_source(__file__))[0]}{kind}.kept"
        self._found: set[str] = set()
        self._path = [*sys.path]
        self._left = _read(self._file, self._around, self._key)
        chunks = [items for _, items in self._left or ()]
        self._modules = {name: module for modules, _, _ in chunks for name, module in modules.items()}
        self._always, self._seldom = {*self._modules}, self._left.seldom if self._left else set()
        sys.meta_path.insert(0, self)
        from nodeattrs import records  # now that what it needs is found here

        self._codes, self._patterns = records.codes, lazily.patterns
        for _, codes, patterns in chunks:
            self._codes.update(codes)
            self._patterns.update(patterns)
        self._known = {*self._codes, *self._patterns}

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """Where a module is, with a loader that has its code already."""
        if name in self._seldom:
            for _, (modules, _, _) in _read(self._file, self._around, self._key + _SELDOM, name) or ():
                self._modules |= modules
            self._seldom -= {name, *self._modules}
        module = self._modules.get(name)
        if module is None or name in self._found:
            return None
        file, stamp, cached, folder, place, code = module
        is_there = self._path == sys.path if path is None else place in path
        if not is_there or _stamp(file) != stamp:  # it may be another one that is meant now
            return None
        self._found.add(name)
        loader = ExtensionFileLoader(name, file) if code is None else _Loader(name, file, code)
        spec: Any = _SPEC(name, loader, origin=file, is_package=folder is not None)
        spec.has_location, spec.cached = True, cached
        if folder is not None:
            spec.submodule_search_locations.append(folder)
        return spec

    def keep(self, went_well: bool) -> None:
        """Leave what this one has loaded for the next one, unless it was all there."""
        if not self._around or sys.dont_write_bytecode or not os.access(os.path.dirname(self._file), os.W_OK):
            return
        if self._left is None:
            self._write([])  # what starts once and no more, as in a container, pays for nothing else
            return
        new: Items = (
            dict(self._loaded()),
            {text: code for text, code in self._codes.items() if text not in self._known},
            {(one[0], int(one[1])): _parts(*one) for one in self._patterns if one not in self._known},
        )
        idle = self._always - self._found - new[0].keys()
        if not went_well or len(idle) > (1 - _MOST) * len(self._always):
            idle = set()
        if any(new) or idle:
            key = self._key + _SELDOM if self._always else self._key
            chunks = [
                *(_read(self._file, self._around) or ()),
                ([key], (new[0], {}, {})),
                ([self._key], ({}, *new[1:])),
            ]
            self._write(chunks, idle)

    def end(self) -> None:
        """Of what it has loaded nothing need be taken down: the memory goes with the process.

        What a repository has loaded is, or its files would lose what was not written yet.
        """
        left: list[Any] = [sys.modules.pop(name) for name in self._found if name in sys.modules]
        left.append(left)  # nobody sees that it is gone
        gc.freeze()

    def _write(self, chunks: Iterable[Chunk], idle: Collection[str] = ()) -> None:
        """idle: modules that starts of this key seldom need"""
        from nodeattrs.disk import write_whole

        try:
            write_whole(self._file, _written(self._around, chunks, self._key, idle))
        except OSError:  # a full disk, say: the next one loads by itself, too
            return

    def _loaded(self) -> Iterator[tuple[str, Module]]:
        """Modules that nobody had remembered, of those that stand where every start looks."""
        for name, module in [*sys.modules.items()]:
            spec: Any = getattr(module, "__spec__", None)
            kind = type(spec and spec.loader)
            known = name in self._there or name in self._found or name.partition(".")[0] not in _LIBRARIES
            if known or spec is None or spec.name != name or kind not in (SourceFileLoader, ExtensionFileLoader):
                continue
            file, stamp, folder = spec.origin, _stamp(spec.origin), None
            place = os.path.dirname(file)
            if spec.submodule_search_locations is not None:
                folder, place = place, os.path.dirname(place)
            if _above(place, name.count(".")) not in self._places:
                continue
            try:
                code = None if kind is ExtensionFileLoader else SourceFileLoader(name, file).get_code(name)
            except (OSError, SyntaxError, ValueError):  # somebody edits it
                continue
            yield name, (file, stamp, spec.cached, folder, place, code)


class _Loader(SourceFileLoader):
    """The standard library's, of a module whose code is there: it need not be read."""

    def __init__(self, name: str, file: str, code: CodeType) -> None:
        super().__init__(name, file)
        self._code = code

    def create_module(self, spec: Any) -> ModuleType:
        """With what every module says of itself: the machinery looks for each, and is slow where it finds none."""
        made = _MODULE(spec.name)
        has = made.__dict__
        has["__loader__"], has["__package__"], has["__spec__"] = self, spec.parent, spec
        has["__file__"], has["__cached__"] = self.path, spec.cached
        if spec.submodule_search_locations is not None:
            has["__path__"] = spec.submodule_search_locations
        return made

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        return self._code


_SPEC: Any = type(__spec__)
_MODULE = type(sys)


def _above(folder: str, steps: int) -> str:
    for _ in range(steps):
        folder = os.path.dirname(folder)
    return folder


def _key(words: Sequence[str]) -> str:
    """What is asked for: starts with the same one load the same, by and large. It has no word that is not ours."""
    asked = [*words[:1], *(word for word in words[1:2] if words[0] in _WITH_ACTIONS and word[0:1] != "-")]
    return " ".join([*asked, *(["--help"] if "-h" in words or "--help" in words else [])])


def _around() -> tuple[Any, ...]:
    """What it hangs on where a module is found, beside its file; empty where that is not known.

    Of the folder we are in, where files come and go, and of the one that holds the package: which names they have that
    could be meant. Of others: when they last changed.
    """
    try:
        here = os.getcwd()
        places = [
            ("" if place == here != _HOME else place, _names(place) if place in (here, _HOME) else _stamp(place))
            for place in (one or here for one in sys.path)
        ]
    except OSError:
        return ()
    return sys.version, sys.flags.optimize, tuple(places)


def _names(folder: str) -> tuple[str, ...]:
    """Of what we remember, what stands in a folder. raises: OSError"""
    return tuple(sorted(_LIBRARIES.intersection([name.partition(".")[0] for name in os.listdir(folder)])))


def _stamp(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class _Chunks(list["Chunk"]):
    """Chunks of a file. seldom: the modules that starts of the key seldom need"""

    def __init__(self) -> None:
        self.seldom: set[str] = set()


def _read(file: str, around: tuple[Any, ...], key: str | None = None, name: str = "") -> _Chunks | None:
    """The chunks of a file, of one key or all; None where it is of another Python or of other folders, or damaged.

    name: a module that is seldom needed: only the chunk that has it
    """
    start = len(_SIGN) + 8
    try:
        with open(file, "rb", buffering=0) as content:
            head = content.read(start)
            length = int.from_bytes(head[len(_SIGN) :], "little")
            was, table = marshal.loads(content.read(length)) if head.startswith(_SIGN) else ((), ())
            if not around or was != around:
                return None
            found = _Chunks()
            for keys, place, size, seldom in table:
                if key is None or (key in keys and (not name or name in seldom)):
                    content.seek(start + length + place)
                    found.append((keys, marshal.loads(content.read(size))))
                elif key + _SELDOM in keys:
                    found.seldom.update(seldom)
            return found
    except (OSError, EOFError, ValueError, TypeError):
        return None


def _written(around: tuple[Any, ...], chunks: Iterable[Chunk], key: str, idle: Collection[str]) -> bytes:
    """A file: what the same keys need is one chunk, in which a name is written once. What has changed is left out.

    idle: modules that starts of the key seldom need
    """
    needed: dict[tuple[int, Any], tuple[Any, set[str]]] = {}
    for keys, items in chunks:
        for kind, some in enumerate(items):
            for name, one in some.items():  # type: ignore[attr-defined]
                needed[kind, name] = one, needed.get((kind, name), (None, set()))[1] | {*keys}
    groups: dict[tuple[tuple[str, ...], str], Items] = {}
    for (kind, name), (one, keys_of) in needed.items():
        if not kind and name in idle:
            keys_of = keys_of - {key} | {key + _SELDOM}
        keys_of = keys_of - {its + _SELDOM for its in keys_of}
        if kind or _stamp(one[0]) == one[1]:
            is_seldom = any(its.endswith(_SELDOM) for its in keys_of)
            group = tuple(sorted(keys_of)), _family(name) if is_seldom else ""
            groups.setdefault(group, ({}, {}, {}))[kind][name] = one
    content = [marshal.dumps(of_group) for of_group in groups.values()]
    sizes = [len(chunk) for chunk in content]
    seldom = [[*modules] if family else [] for (_, family), (modules, *_) in groups.items()]
    table = [(of, sum(sizes[:at]), sizes[at], seldom[at]) for at, (of, _) in enumerate(groups)]
    head = marshal.dumps((around, table))
    return b"".join((_SIGN, len(head).to_bytes(8, "little"), head, *content))


def _family(name: str) -> str:
    """What is needed together: a library, or a room of ours."""
    steps = name.split(".")
    return ".".join(steps[: 1 + (steps[0] == "nodeattrs") + (steps[1:2] == ["adapters"])])


def _parts(text: Any, flags: int) -> tuple[Any, ...]:
    """What a regular expression is made of, once it is compiled."""
    import _sre  # type: ignore[import-not-found]
    from re import _compiler  # type: ignore[attr-defined]
    from types import SimpleNamespace

    parts: list[tuple[Any, ...]] = []
    _compiler._sre = SimpleNamespace(**vars(_sre) | {"compile": lambda *given: parts.append(given)})
    try:
        _compiler.compile(text, flags)
    finally:
        _compiler._sre = _sre
    text, flags, code, *rest = parts[0]
    return text, int(flags), [*map(int, code)], *rest
