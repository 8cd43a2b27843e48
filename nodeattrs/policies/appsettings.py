"""The policy "appsettings", for the JSON settings of .NET.

source: .NET, "Configuration providers", JSON configuration provider
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from nodeattrs.core.claim import Locator
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, by_position, handler, listed
from nodeattrs.core.policy import ANY, KEEP, LIST, MAP, MEET, NULL, PRESENT, SCALAR, TAKE, TEXT, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import DocumentError, MergeConflict
from nodeattrs.policies.named import INDEX, MovedKeys, NamedPolicy


@handler()
def _by_index(lower: Part, upper: Part) -> Part:
    return by_position(lower, upper, partial(meet, _APPSETTINGS))


def _by_number(lower: Part, upper: Part) -> Part:
    """A list and a map whose keys are numbers, as variables give them."""
    keys = {int(key): key for key in upper.value if isinstance(key, str) and INDEX.fullmatch(key)}
    if len(keys) != len(upper.value) or not keys:
        return _refused(lower, upper)
    row = (upper.at(keys[index]) if index in keys else Part(ABSENT, ()) for index in range(max(keys) + 1))
    return _by_index(lower, listed(row, upper))


def _refused(lower: Part, upper: Part) -> Part:
    raise MergeConflict(".NET keeps both here: the value, and what is below the key", hint="give one another key")


_APPSETTINGS = Policy(
    "appsettings",
    Line(MAP, MAP, MEET, "two maps meet key by key, in capitals or not"),
    Line(LIST, LIST, _by_index, "two lists meet element by element"),
    Line((MAP, LIST), NULL, KEEP, "null leaves what is below the key"),
    Line(LIST, MAP, _by_number, "keys that are numbers are indexes of the list"),
    Line((MAP, LIST), PRESENT, _refused, "a map or list meets its like only"),
    Line((TEXT, SCALAR), (MAP, LIST), _refused, "a map or list meets its like only"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


class _Settings:
    """Writes the settings of a file with the keys that .NET takes as equal: capitals do not count, and "A:B" is B in A.

    names: (path, key in small letters) -> the key as the first file writes it
    """

    def __init__(self, origin: Locator, names: dict[tuple[Path, str], str]) -> None:
        self.origin, self._names = origin, names
        self.places: dict[Path, Path] = {}

    def relaid(self, value: Any, written: Path, path: Path) -> Any:
        """A copy of a value. raises: DocumentError, for two keys that are one for .NET"""
        if isinstance(value, list):
            return [self.relaid(entry, (*written, index), (*path, index)) for index, entry in enumerate(value)]
        if not isinstance(value, dict):
            return value
        made: dict[str, Any] = {}
        self._lay(value, written, path, made)
        return made

    def _lay(self, value: dict[Any, Any], written: Path, path: Path, into: dict[str, Any]) -> None:
        for key, entry in value.items():
            here, at, own = into, path, (*written, key)
            *above, last = str(key).split(":")
            for step in above:
                at = self._known(at, step, own)
                here = here.setdefault(at[-1], {})
                self._require_map(here, at, own)
            at = self._known(at, last, own)
            if isinstance(entry, dict):
                inner = here.setdefault(at[-1], {})
                self._require_map(inner, at, own)
                self._lay(entry, own, at, inner)
            else:
                self._require_map({} if at[-1] not in here else None, at, own)
                here[at[-1]] = self.relaid(entry, own, at)

    def _known(self, path: Path, step: str, written: Path) -> Path:
        at = (*path, self._names.setdefault((path, step.lower()), step))
        self.places.setdefault(at, written)
        return at

    def _require_map(self, value: Any, path: Path, written: Path) -> None:
        if not isinstance(value, dict):
            place, other = self.origin.at(written), self.origin.at(self.places[path])
            what = f"{spell(written)} and {spell(self.places[path])} in line {other.line} are one key for .NET"
            raise DocumentError(what, file=place.file, line=place.line, hint="leave one of them out")


def _respelled(layers: Iterable[Layer]) -> Iterator[Layer]:
    """Yield the layers with one spelling for keys that differ only in capitals. The first layer that has a key decides.

    raises: DocumentError, as `_Settings.relaid`
    """
    known: dict[tuple[Path, str], str] = {}
    for one in layers:
        if isinstance(one.value, dict):
            settings = _Settings(one.origin, known)
            tree = settings.relaid(one.value, (), ())
            one = Layer(tree, MovedKeys(one.origin, settings.places), one.title, one.policy)
        yield one


POLICIES = (
    NamedPolicy(
        "appsettings",
        "maps merge, keys without case; lists merge element by element; null leaves maps and lists",
        ".NET, Configuration, JSON configuration provider",
        _APPSETTINGS,
        prepare=_respelled,
        uniform=str.lower,
    ),
)
