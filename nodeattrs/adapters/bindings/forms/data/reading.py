"""A document of bindings while it is read: its faults, each with its place, all of them together.

What the document means is for the shapes beside this module; here is how one is left that
cannot be understood, and how the next one is read all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nodeattrs.adapters.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.adapters.bindings.model.items import NOWHERE
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path, near

_Found = TypeVar("_Found")


class Malformed(Exception):
    """Leaves what is being read; the fault was noted."""


class Reading:
    """One document.

    place: (the name of a set, a path in the document) -> where that stands
    set:   the name of the set that is being read
    """

    def __init__(self, place: Callable[[str, Path], Origin]) -> None:
        self._place = place
        self.set = ""
        self._faults: list[BindingError] = []

    def guarded(self, read: Callable[[], _Found]) -> _Found | None:
        """What *read* gives. raises: BindingErrors, with everything that was noted on the way"""
        found = None
        try:
            found = read()
        except Malformed:
            pass
        except RecursionError:
            self._faults.append(BindingError("format", "the data is nested too deep", origins=(self._place("", ()),)))
        if self._faults:
            raise BindingErrors(self._faults)
        return found

    def each(self, read: Callable[[Any, Path], _Found], data: Iterable[Any], path: Path) -> list[_Found]:
        """What *read* gives for each entry; those that cannot be understood are left out, and noted."""
        found = []
        for index, entry in enumerate(data):
            try:
                found.append(read(entry, (*path, index)))
            except Malformed:
                continue
        return found

    def origin(self, path: Path) -> Origin:
        """Where a path of the document stands."""
        return self._place(self.set, path)

    def locator(self, path: Path) -> Locator:
        """Someone who knows where each entry of what stands at a path stands; nothing is looked up before."""
        return _Speaker(self._place, self.set, path)

    def map(self, data: Any, path: Path, what: str) -> dict[Any, Any]:
        """The data, which has to be a map."""
        if not isinstance(data, dict):
            raise self.stop(path, f"{what}, and this is {kind_in_words(data)}")
        return data

    def list(self, data: Any, path: Path, what: str) -> list[Any]:
        """The data, which has to be a list."""
        if not isinstance(data, (list, tuple)):
            raise self.stop(path, f"{what}, and this is {kind_in_words(data)}")
        return list(data)

    def known(self, whole: Mapping[Any, Any], words: Collection[str], path: Path, what: str, kind: str = "") -> None:
        """Note each field that is none of these words. kind: the word that said what it is"""
        for name in whole:
            if name != kind and name not in words:
                close = near(name, words)
                hint = f"did you mean {', '.join(close)}?" if close else f"it knows {', '.join(words)}"
                self.fault((*path, name), f"{what} has no field {name!r}", hint)

    def fault(self, path: Path, message: str, hint: str | None = None, kind: str = "format") -> None:
        """Note something that is wrong."""
        origin = self.origin(path)
        said = () if origin is NOWHERE else (f"at {origin}",)
        self._faults.append(BindingError(kind, message, origins=(origin,), said=said, hint=hint))

    def stop(self, path: Path, message: str, hint: str | None = None, kind: str = "format") -> Malformed:
        """Note something that is wrong; what it gives is to be raised."""
        self.fault(path, message, hint, kind)
        return Malformed()

    def tried(self, read: Callable[[str], _Found], text: str, path: Path) -> _Found:
        """What *read* makes of a text; its error is noted at this place."""
        try:
            return read(text)
        except BindingError as error:
            raise self.stop(path, error.message, error.hint, error.kind) from None


@dataclass(frozen=True, slots=True)
class _Speaker:
    place: Callable[[str, Path], Origin]
    set: str
    under: Path

    def at(self, path: Path) -> Origin:
        return self.place(self.set, (*self.under, *path))


def kind_in_words(value: Any) -> str:
    """What a value is: "a map", "nothing", "a number"."""
    if value is None:
        return "nothing"
    words = {dict: "a map", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return words.get(type(value), f"a {type(value).__name__}")
