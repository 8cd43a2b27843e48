"""Fill in the variables of Compose files: `${NAME:-default}` and the like, with the values of `.env` files.

Used by `compose`. The environment of this process is not read: a variable that no file sets is noted as unset.

source: Compose Specification, "Interpolation"; compose-go 2, packages template and dotenv
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Locator, Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, Path, dig, overlap
from nodeattrs.errors import DocumentError
from nodeattrs.formats.tags import Tagged

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = re.compile(rf"\$(?:(\$)|({_NAME})|\{{)")
_BRACED = re.compile(rf"({_NAME})(?:(:?[-+?])(.*))?", re.DOTALL)
_BRACE = re.compile(r"\{.?|\}", re.DOTALL)
_SINGLE, _DOUBLE = re.compile(r"""[^=]*=\s*'"""), re.compile(r"""[^=]*=\s*\"""")
_DEPTH = 100
"""Variables inside the default of another one."""
_LARGEST = 10_000_000
"""Characters of all texts that variables give in one project."""
_PASSED_ON = (("environment",), ("build", "args"))
"""Fields of a service in which a key alone takes the value of the variable with that name."""
_REASON = "is not set in a file that was read, and may come from the environment"


class FilledText(NamedTuple):
    """A text whose variables were filled in.

    text:  the text with the values of its variables; an unset variable without a default gives ""
    used:  the line of a `.env` file for each variable that such a file sets
    unset: the names of variables that no file sets
    """

    text: str
    used: tuple[Cause, ...] = ()
    unset: tuple[str, ...] = ()


class Variables:
    """The variables that `.env` files set. `with_files` adds further files; `fill` fills in a text.

    known: name -> the value, with the lines and unset variables that it depends on
    """

    def __init__(self, known: Mapping[str, FilledText]) -> None:
        self.known = known
        self._made = 0

    def with_files(self, layers: Iterable[Layer], texts: Iterable[str]) -> Variables:
        """New `Variables`: these, and below them what `.env` files set. A later file overrides an earlier one.

        layers: the layers of the files; an unknown one sets nothing
        texts:  the texts of the same files
        raises: DocumentError, for `${` without a name, and for texts that grow too large
        """
        found: dict[str, FilledText] = {}
        for layer, text in zip(layers, texts, strict=True):
            lines = text.split("\n")
            for name, value in layer.value.items() if isinstance(layer.value, dict) else ():
                at = layer.origin.at((name,))
                if isinstance(value, str):
                    inner = Variables({**found, **self.known})
                    one = _of_dotenv(inner, value, lines[(at.line or 1) - 1], at)
                    found[name] = one._replace(used=(Cause("is read", at, (name,)), *one.used))
        return Variables({**found, **self.known})

    def fill(self, text: str, at: Origin) -> FilledText:
        """A text with its variables filled in. A required variable that is not set stays as it is written.

        at:     the place of the text, for errors
        raises: DocumentError, for `${` without a name, and for texts that grow too large
        """
        try:
            found = self._filled(text, 0)
        except ValueError as error:
            hint = "write $$ for a dollar sign"
            raise DocumentError(str(error), file=at.file, line=at.line, column=at.column, hint=hint) from None
        self._made += len(found.text)
        if self._made > _LARGEST:
            raise DocumentError(f"variables give more than {_LARGEST:,} characters", file=at.file, line=at.line)
        return found

    def _filled(self, text: str, depth: int) -> FilledText:
        """raises: ValueError"""
        texts, used, unset, end = [], list[Cause](), list[str](), 0
        while (found := _VARIABLE.search(text, end)) is not None:
            texts.append(text[end : found.start()])
            end = found.end()
            if found[1]:
                texts.append("$")
                continue
            name, sign, word = found[2], "", ""
            if name is None:
                close = _closing(text, end)
                inner = _BRACED.fullmatch(text, end, close) if close > 0 else None
                if inner is None or depth > _DEPTH:
                    raise ValueError("${ is no variable here")  # without the text, which may be a secret
                name, sign, word = inner[1], inner[2] or "", inner[3] or ""
                end = close + 1
            one = self._value(name, sign, word, text[found.start() : end], depth)
            texts.append(one.text)
            used += one.used
            unset += one.unset
        return FilledText("".join([*texts, text[end:]]), tuple(dict.fromkeys(used)), tuple(dict.fromkeys(unset)))

    def _value(self, name: str, sign: str, word: str, written: str, depth: int) -> FilledText:
        """The text for `${NAME}`. sign: such as ":-", or ""; word: the text after the sign; raises: ValueError"""
        one = self.known.get(name, FilledText("", unset=(name,)))
        is_set = name in self.known and not (sign.startswith(":") and one.text == "")
        if sign.endswith("?") and not is_set:
            return FilledText(written, one.used, (*one.unset, name))
        if sign.endswith("+") != is_set or not sign.endswith(("-", "+")):
            return one
        inner = self._filled(word, depth + 1)
        return FilledText(inner.text, (*one.used, *inner.used), (*one.unset, *inner.unset))


def _closing(text: str, start: int) -> int:
    """The index of the brace that closes a variable; of the last brace if none does, and -1 without one.

    source: compose-go, which passes over the character behind each opening brace
    """
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] != "}" else -1
        if depth == 0:
            return brace.start()
    return text.rfind("}", start)


def _of_dotenv(variables: Variables, value: str, line: str, at: Origin) -> FilledText:
    """The value of a variable in a `.env` file. line: as it is written; nothing in single quotes is filled in"""
    if _SINGLE.match(line):
        return FilledText(value)
    return variables.fill(value.replace("\\$", "$$") if _DOUBLE.match(line) else value, at)


# --- trees with variables


class FilledLocator(NamedTuple):
    """The locator of a document whose variables were filled in, or of a part of it at another path.

    locator: the locator of the document
    fills:   path in the document -> the text there
    target:  the path where the part is now
    source:  the path of the part in the document

    `at` gives the line in the document. `causes` gives the lines of `.env` files that a value depends on. `unset` gives
    the names of its variables that no file sets. `uses` gives the texts of a tree that have variables. `moved` returns
    the locator for a part of the tree at another path, and `filling` one with further texts.
    """

    locator: Locator
    fills: Mapping[Path, FilledText]
    target: Path = ()
    source: Path = ()

    def at(self, path: Path) -> Origin:
        return self.locator.at(self._inner(path))

    def causes(self, path: Path) -> tuple[Cause, ...]:
        """The lines of `.env` files that the value at a path, or one below it, depends on; () without variables."""
        return tuple(dict.fromkeys(cause for one in self._fills(path) for cause in one.used))

    def unset(self, path: Path) -> tuple[str, ...]:
        """The names of the variables of the value at a path, or below it, that no file sets; () for none."""
        return tuple(dict.fromkeys(name for one in self._fills(path) for name in one.unset))

    def moved(self, source: Path, target: Path) -> FilledLocator:
        """The locator for a tree that has the value of the path *source* at the path *target*."""
        return self._replace(target=target, source=self._inner(source))

    def filling(self, fills: Mapping[Path, FilledText]) -> FilledLocator:
        """The locator for the same tree with further texts filled in. fills: path in the tree -> the text there"""
        return self._replace(fills={**self.fills, **{self._inner(path): one for path, one in fills.items()}})

    def uses(self, value: Any) -> Iterator[tuple[Path, FilledText]]:
        """Yield each path of a tree whose text has variables; for an element of a list, the path of the list.

        value: the tree; paths that it does not have are left out
        """
        depth = len(self.source)
        for at, fill in self.fills.items():
            path = (*self.target, *at[depth:])
            if at[:depth] == self.source and dig(value, path) is not ABSENT:
                yield tuple(takewhile(lambda step: type(step) is not int, path)), fill

    def _inner(self, path: Path) -> Path:
        return (*self.source, *path[len(self.target) :])

    def _fills(self, path: Path) -> Iterator[FilledText]:
        inner = self._inner(path)
        return (fill for at, fill in self.fills.items() if overlap(at, inner))


def filled(layer: Layer, variables: Variables, of_project: Variables) -> Layer:
    """A copy of a layer with the variables of its texts filled in, and a `FilledLocator` as its locator.

    Keys stay as they are written. A layer without a map is returned unchanged.

    of_project: counts for keys alone in maps and build arguments: Docker Compose fills these in after the merge
    raises:     DocumentError, at the line of a `${` without a name, and for texts that grow too large
    """
    fills: dict[Path, FilledText] = {}

    def walk(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {key: walk(one, (*path, key)) for key, one in value.items()}
        if isinstance(value, list):
            return [walk(one, (*path, index)) for index, one in enumerate(value)]
        if isinstance(value, Tagged):
            return Tagged(value.tag, walk(value.value, path))
        if isinstance(value, str) and "$" in value:
            fills[path] = variables.fill(value, layer.origin.at(path))
            value = fills[path].text
        if not (name := _passed_on(value, path)):
            return value
        known = (of_project if value is None or path[2] == "build" else variables).known
        fills[path] = known.get(name, FilledText("", unset=(name,)))
        if name not in known:
            return value
        return fills[path].text if value is None else f"{name}={fills[path].text}"

    if not isinstance(layer.value, dict):
        return layer
    return Layer(walk(layer.value, ()), FilledLocator(layer.origin, fills), layer.title, layer.policy)


def _passed_on(value: Any, path: Path) -> str:
    """The variable whose value a key alone takes, such as FOO in `environment: [FOO]`; "" for any other value."""
    if path[:1] != ("services",) or path[2:-1] not in _PASSED_ON:
        return ""
    if value is None:
        return str(path[-1])
    return value if isinstance(value, str) and type(path[-1]) is int and "=" not in value else ""


def uses_of_variables(layer: Layer) -> Iterator[tuple[Path, FilledText]]:
    """Yield the paths of a layer whose texts have variables; nothing for a layer that is not from `filled`."""
    if isinstance(layer.origin, FilledLocator):
        yield from layer.origin.uses(layer.value)


def with_environment(layer: Layer) -> Iterator[Layer]:
    """Yield a layer, and after it an unknown layer for each variable of its texts that no file sets.

    layer: a layer with a `FilledLocator` as its locator; any other layer is yielded alone
    """
    yield layer
    lines: dict[str, dict[Path, int]] = {}
    for path, fill in uses_of_variables(layer):
        for name in fill.unset:
            lines.setdefault(name, {})[path] = layer.origin.at(path).line or 1
    for name, paths in reversed(lines.items()):
        yield of_environment(name, layer.origin.at(()).file, paths)


def of_environment(name: str, file: str | None, lines: Mapping[Path, int]) -> Layer:
    """The unknown layer for a variable that no file sets. lines: each path whose value depends on it -> its line"""
    return Layer.unknown(name, Origin("variable", name, file), _REASON, lines)
