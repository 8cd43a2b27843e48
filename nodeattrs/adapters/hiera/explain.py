"""Why a lookup gives what it gives: every place searched, every leaf's file and line.

An explanation is data first; its text is its own printer. It asks a scope once, with a
recorder, and the core's trace for single paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from nodeattrs.adapters.hiera.answers import Answers, Asking
from nodeattrs.adapters.hiera.errors import HieraError
from nodeattrs.adapters.hiera.keys import dug, split_key
from nodeattrs.adapters.hiera.options import NAME
from nodeattrs.adapters.hiera.recorder import Recorder, Searched
from nodeattrs.adapters.hiera.strategies import FIRST
from nodeattrs.core.claim import Claim, Origin
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Trace, shown, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, copied, dig, parse, spell
from nodeattrs.core.walk import Setting, Walk
from nodeattrs.errors import NodeattrsError, TooDeep

__all__ = ["Block", "Explanation", "Knocked", "explained", "explained_options"]


Block = str | list[tuple[str, ...]]
"""A line with its indentation; or rows of cells that stand below each other."""


@dataclass(frozen=True, slots=True)
class Knocked:
    """A value that a marker removed, and who said each."""

    value: Any
    said: tuple[Origin, ...]
    marker: Any
    by: tuple[Origin, ...]


class Explanation:
    """The answer to "why is this the value of the key?".

    key:           as it was asked for
    value:         the answer, as `lookup` gives it; ABSENT where there is none
    error:         what `lookup` raises, or None
    found_in:      "data", "override", "default_values_hash", "default_value" or "otherwise"
    strategy:      the strategy, as it is written in lookup_options
    strategy_from: who chose it: "argument", "default", or the line of lookup_options
    option:        the name or expression in lookup_options, where that chose it
    searched:      each place asked, in order, with found, no_key or no_file
    shadowed:      where the key stands too, below the first place that has it
    knocked:       what knock-outs removed
    converted:     what `convert_to` asked for, where it was applied
    needed:        the keys that expressions in the value looked up
    """

    def __init__(self, key: str, value: Any, error: NodeattrsError | None, recorder: Recorder) -> None:
        self.key = key
        self.value = value
        self.error = error
        self.found_in = recorder.found_in
        self.strategy = recorder.how.to_data()
        self.strategy_from: str | Origin = recorder.chosen_by
        self.option = recorder.option
        self.searched: tuple[Searched, ...] = tuple(recorder.searched)
        self.shadowed: tuple[Origin, ...] = ()
        self.converted = recorder.converted
        self.needed = tuple(dict.fromkeys(recorder.needed))
        self._recorder = recorder
        self._steps = split_key(key)[1:] if error is None or recorder.searched else ()

    @property
    def found(self) -> bool:
        """Whether there is an answer, null included."""
        return self.value is not ABSENT

    @property
    def is_secret(self) -> bool:
        """Whether the value is shown to nobody."""
        return hasattr(self.value, "unwrap")

    @property
    def _from_data(self) -> bool:
        return self.error is None and self.found_in == "data" and self._recorder.part.value is not ABSENT

    @property
    def _merged(self) -> Any:
        """The value that origins speak of: before a conversion, below the steps of the key."""
        return dug(self._recorder.part.value, self._steps, self.key) if self._from_data else ABSENT

    def origins(self, path: str | Path = ()) -> tuple[Origin, ...]:
        """Everyone who said what stands at a path of the value, the strongest first."""
        steps = parse(path) if isinstance(path, str) and path else tuple(path)
        if not self._from_data or dig(self._merged, steps) is ABSENT:
            return ()
        below = (*self._steps, *steps)
        told = self._recorder.part.origins
        for step in below:
            told = origins_at(told, step)
        return tuple(found.origin(self._recorder.own_path(found, below)) for found in self._recorder.found(told))

    def leaves(self) -> Iterator[tuple[Path, Any, tuple[Origin, ...]]]:
        """Each leaf and list element of the value: its path, itself, and who said it.

        cost: one visit a leaf, and one look at each file's lines
        """
        if self._from_data and not self.is_secret:
            for path, value in _leaves(self._merged, ()):
                yield path, value, self.origins(path)

    @property
    def knocked(self) -> tuple[Knocked, ...]:
        """What knock-outs removed, in the order in which it happened."""
        return tuple(
            Knocked(removed.value, self._places(removed, marker), marker.value, self._places(marker, removed))
            for marker, removed in self._recorder.knocked
        )

    def _places(self, part: Part, other: Part) -> tuple[Origin, ...]:
        """Where the sources of a part say its value, in a list or under a key that the other's sources speak of."""
        others = {
            path[: len(path) - 1]
            for found in self._recorder.found(other.origins)
            for path in _paths_of(found.value, other.value)
        }
        origins = []
        for found in self._recorder.found(part.origins):
            paths = list(_paths_of(found.value, part.value))
            fitting = [path for path in paths if path[: len(path) - 1] in others] or paths or [()]
            origins += [found.origin(path) for path in fitting[:1]]
        return tuple(origins)

    def trace(self, path: str | Path = ()) -> Trace:
        """Everyone who spoke about a path of the value, the winner first, with the rule that beat each loser.

        cost: the depth of the path times the number of places
        """
        steps = (*self._steps, *(parse(path) if isinstance(path, str) and path else tuple(path)))
        root = (self._recorder.key,)
        found = {one.number: one for one in self._recorder.found()}
        titles = {number: f"{one.place.layer} / {one.place.entry}" for number, one in found.items()}

        def claim(said: Setting) -> Claim:
            one = found[said.source]
            value = Origin("secret") if self.is_secret else said.value
            return Claim((*root, *said.path), value, said.source, one.origin(said.own))

        walked = walk(self._folding(), steps) if found and self.error is None else Walk((), (), (), ABSENT, (), None)
        value = dig(self._recorder.part.value, steps) if self._from_data else ABSENT
        trace = traced(walked, steps, value, claim, titles)
        return replace(trace, path=(*root, *steps), value=self.value if self.is_secret else trace.value)

    def _folding(self) -> Folding:
        recorder = self._recorder
        policy = recorder.how.policy
        assert policy is not None
        found = {id(one.place): one for one in recorder.found()}
        layers = Folding(from_top=True)
        for levels in recorder.layers:
            entries = Folding(from_top=True)
            for places in levels:
                level = Folding(from_top=True)
                for place in places:
                    if id(place) in found:
                        level.remember(Part(found[id(place)].value, found[id(place)].number), policy)
                entries.remember(level, policy)
            layers.remember(entries, policy)
        return layers

    def to_dict(self) -> dict[str, Any]:
        """The explanation as data for JSON; secrets are masked."""
        where = self.strategy_from
        return {
            "version": 1,
            "key": self.key,
            "found": self.found,
            "found_in": self.found_in if self.found else None,
            "value": _plain(self.value) if self.found else None,
            "error": None if self.error is None else {"kind": _kind(self.error), "message": self.error.message},
            "strategy": self.strategy,
            "strategy_from": where if isinstance(where, str) else _origin(where),
            "option": self.option,
            "searched": [
                {
                    "layer": one.place.layer,
                    "entry": one.place.entry,
                    "declared": one.place.declared,
                    "file": one.place.file,
                    "outcome": one.outcome,
                }
                for one in self.searched
            ],
            "leaves": [
                {
                    "path": spell(path) if path else "",
                    "value": _plain(value),
                    "said_by": [_origin(one) for one in origins],
                }
                for path, value, origins in self.leaves()
            ],
            "knocked_out": []
            if self.is_secret
            else [
                {
                    "value": _plain(one.value),
                    "said_by": [_origin(origin) for origin in one.said],
                    "marker": _plain(one.marker),
                    "by": [_origin(origin) for origin in one.by],
                }
                for one in self.knocked
            ],
            "shadowed": [_origin(origin) for origin in self.shadowed],
            "converted": self.converted,
            "needed": list(self.needed),
        }

    def text(self, limit: int = 12) -> str:
        """The explanation for people; at most *limit* leaves are listed."""
        return "\n".join(line for block in self.blocks(limit) for line in _laid_out(block))

    def blocks(self, limit: int = 12) -> Iterator[Block]:
        """What the text is made of, for whoever lays it out on a screen."""
        return _blocks(self, limit)

    def __str__(self) -> str:
        return self.text()


def explained(answers: Answers, key: str, ask: Callable[[Recorder], Any]) -> Explanation:
    """Ask with a recorder, and note what else there is to say."""
    recorder = Recorder()
    value: Any = ABSENT
    error: NodeattrsError | None = None
    try:
        recorder.key = str(split_key(key)[0])
        value = copied_answer(ask(recorder))
    except NodeattrsError as fault:
        error = fault
    except RecursionError:
        error = TooDeep("the keys that need each other, or a value, are nested too deep")
    found = Explanation(key, value, error, recorder)
    if recorder.option is not None:
        found.strategy_from = _option_origin(answers, recorder) or NAME
    if recorder.how is FIRST and recorder.part.value is not ABSENT:
        found.shadowed = _shadowed(answers, recorder)
    return found


def explained_options(answers: Answers, key: str) -> Explanation:
    """How lookup_options came to be for a key: the merged map, each entry with its file and line."""
    recorder = Recorder(NAME)
    recorder.chosen_by = "a rule of its own"
    error: NodeattrsError | None = None
    value: Any = ABSENT
    try:
        recorder.part = answers.options_part(answers.module_with_data(str(split_key(key)[0])), recorder)
        value = copied_answer(recorder.part.value)
    except NodeattrsError as fault:
        error = fault
    return Explanation(NAME, value, error, recorder)


def copied_answer(value: Any) -> Any:
    return copied(value) if type(value) in (dict, list) else value


def _shadowed(answers: Answers, recorder: Recorder) -> tuple[Origin, ...]:
    asked = {id(one.place) for one in recorder.searched}
    origins = []
    for place in (place for levels in recorder.layers for level in levels for place in level):
        if id(place) in asked or place.source is None:
            continue
        try:
            value = place.source.value(recorder.key, Asking(answers, None, None, (recorder.key,)))
        except NodeattrsError:
            continue
        if value is not ABSENT:
            recorder.add(place, value)
            origins.append(place.source.speaker(recorder.key, place.entry).at(()))
    return tuple(origins)


def _option_origin(answers: Answers, recorder: Recorder) -> Origin | None:
    options = Recorder(NAME)
    layer = recorder.layers and recorder.layers[0] and recorder.layers[0][0]
    try:
        if layer and layer[0].layer == "default_hierarchy":
            return None
        part = answers.options_part(answers.module_with_data(recorder.key), options)
    except HieraError:
        return None
    told = origins_at(part.origins, recorder.option)
    numbers = sources(told)
    for found in options.found():
        if found.number in numbers and type(found.value) is dict and recorder.option in found.value:
            return found.origin((recorder.option, "merge"))
    return None


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if type(value) is dict and value:
        for key, entry in value.items():
            yield from _leaves(entry, (*path, key))
    elif type(value) is list and value:
        for at, entry in enumerate(value):
            yield from _leaves(entry, (*path, at))
    else:
        yield path, value


def _paths_of(tree: Any, value: Any, path: Path = ()) -> Iterator[Path]:
    if type(tree) is type(value) and tree == value:
        yield path
    if type(tree) is dict:
        for key, entry in tree.items():
            if key == value and type(key) is type(value):
                yield (*path, key)
            yield from _paths_of(entry, value, (*path, key))
    elif type(tree) is list:
        for at, entry in enumerate(tree):
            yield from _paths_of(entry, value, (*path, at))


def _plain(value: Any) -> Any:
    if hasattr(value, "unwrap"):
        return str(value)
    return value


def _kind(error: NodeattrsError) -> str:
    return str(getattr(error, "kind", type(error).__name__))


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "kind": origin.kind,
        "name": origin.name,
        "file": origin.file,
        "line": origin.line,
        "column": origin.column,
    }


_OUTCOMES = {"found": "found", "no_key": "no such key", "no_file": "no such file"}


def _blocks(one: Explanation, limit: int) -> Iterator[Block]:
    yield f"{one.key} = {shown(one.value)}" if one.found else f"{one.key}: no answer"
    if one.error is not None:
        yield from (f"  {line}" for line in str(one.error).splitlines())
    if one.found and one.found_in != "data":
        yield f"  given by {one.found_in} of the call"
    origin = one.strategy_from
    named = f" for {one.option!r}" if one.option is not None and one.option != one._recorder.key else ""
    by = origin if isinstance(origin, str) else f"{NAME}{named}, {origin.place}"
    yield f"  strategy   {one._recorder.how}, from {by}"
    if one.converted is not None:
        yield f"  converted  to {shown(one.converted)}"
    if one.searched:
        yield "  searched"
        yield [(item.place.layer, item.place.entry, item.place.file, _OUTCOMES[item.outcome]) for item in one.searched]
    leaves = list(one.leaves())
    if leaves:
        yield "  said by"
        yield [
            (spell(path) if path else one.key, shown(value, 40), ", ".join(str(by.place or by) for by in origins))
            for path, value, origins in leaves[:limit]
        ]
        if len(leaves) > limit:
            yield f"    and {len(leaves) - limit} more"
    if not one.is_secret and one.knocked:
        yield "  knocked out"
        for knocked in one.knocked:
            said = ", ".join(str(by.place or by) for by in knocked.said)
            yield f"    {shown(knocked.value, 40)} of {said} by {shown(knocked.marker, 40)}, " + ", ".join(
                str(by.place or by) for by in knocked.by
            )
    if one.shadowed:
        yield "  shadowed"
        yield from (f"    {origin.place or origin}" for origin in one.shadowed)
    if one.needed:
        yield "  looked up on the way"
        yield f"    {', '.join(one.needed)}"


def _laid_out(block: Block) -> Iterator[str]:
    if isinstance(block, str):
        yield block
        return
    widths = [max(map(len, column)) for column in zip(*block, strict=True)]
    for row in block:
        yield "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
