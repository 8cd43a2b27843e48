"""Unread places: files and programs that were not read and may change an answer, as data and in sentences.

Every command, page, hover and tool takes its words about unread places from here. Nothing is read here, and the exit
code is made in `cli.exits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import encrypted_in
from nodeattrs.core.trace import Trace, TraceClaim
from nodeattrs.core.tree import Path, overlap, spell
from nodeattrs.core.unknown import Unknown

_NAMED = 3
"""How many places or paths a line names."""

_PLURALS = {"is": "are", "was": "were", "has": "have", "needs": "need", "lies": "lie", "cannot": "cannot", "may": "may"}
"""The verb that a reason begins with -> the verb for several places."""

_AT_LINE = re.compile(r":\d+$")


class Unread(NamedTuple):
    """A file or program that was not read, or must not be run, and may change an answer. It prints as layer and reason.

    `layer` is the place, with kind and name unless the place contains them. `file` is the place without a line.
    `is_encrypted` says whether the place is a value that was not decrypted, and `is_uncomputed` whether it is a
    deferred value that cannot be computed. `may_set` says whether the place may change
    the value at a path. `to_dict` returns place, layer, reason and paths as data for JSON.

    place:  a file, perhaps with a line; a folder or a program
    reason: why, as the end of a sentence: "was not run (--run-code)"; or a whole sentence
    paths:  the paths that the place may set; (): any path. `may_set` also counts the paths above and below them
    kind:   a noun: "recipe"; "" where no word is known
    name:   the dialect's name for the place: "app::default"; "" without a name
    is_warned: whether a warning has named the place already; `cli.exits` warns of each other place
    """

    place: str
    reason: str
    paths: tuple[Path, ...] = ()
    kind: str = ""
    name: str = ""
    is_warned: bool = False

    def may_set(self, path: Path) -> bool:
        """Whether it may change the value at *path*: the path itself, one above it or one below it."""
        return not self.paths or any(overlap(one, path) for one in self.paths)

    def _is_same(self, other: Unread) -> bool:
        """Whether both have the same file, kind and name. Lines and paths depend on the question, and may differ."""
        return (self.file, self.kind, self.name) == (other.file, other.kind, other.name)

    @property
    def file(self) -> str:
        """The place without a line."""
        return _AT_LINE.sub("", self.place)

    @property
    def is_encrypted(self) -> bool:
        """Whether it is a value that was read and not decrypted."""
        return self.reason.startswith(_ENCRYPTED)

    @property
    def is_uncomputed(self) -> bool:
        """Whether it is a deferred value that cannot be computed."""
        return self.reason.startswith(_UNCOMPUTED)

    @property
    def _is_own_sentence(self) -> bool:
        """Whether the reason is a whole sentence, and not the end of a sentence: "was not run", "needs a key"."""
        return self.reason.partition(" ")[0] not in _PLURALS

    def to_dict(self) -> dict[str, Any]:
        """The fields `place`, `layer` (kind and name), `reason` and `paths`, as data for JSON."""
        paths = [list(path) for path in self.paths]
        return {"place": self.place, "layer": f"{self.kind} {self.name}".strip(), "reason": self.reason, "paths": paths}

    @property
    def layer(self) -> str:
        """The place, followed by kind and name in brackets unless the place contains them."""
        named = self.name if self.name not in self.place else ""
        words = f"{self.kind} {named}".strip()
        return f"{self.place} ({words})" if words and words not in self.place else self.place

    def __str__(self) -> str:
        return f"{self.layer} {self.reason}"


def unread_layer(value: Unknown, origin: Origin, path: Path = ()) -> Unread:
    """The Unread for an unknown layer.

    path: the path of the question; paths of the layer that are neither above nor below it are left out
    """
    paths = tuple(one for one in value.lines or () if overlap(one, path))
    return Unread(origin.place or origin.who, value.reason, paths, origin.kind, origin.name)


def unread_in(claims: Iterable[TraceClaim], path: Path = ()) -> list[Unread]:
    """The Unread for each of some claims of unknown layers, each once; [] without claims.

    claims: claims of unknown layers, such as `Trace.unknown`; no others
    path:   the path that the caller asks about
    """
    return [*dict.fromkeys(unread_layer(one.claim.value, one.claim.origin, path) for one in claims)]


_ENCRYPTED = "is encrypted, and may be anything"


def encrypted(path: Path, reason: str, place: str) -> Unread:
    """An encrypted value as an unread place. reason: why it is not decrypted"""
    return Unread(place, f"{_ENCRYPTED}: {reason}", (path,), "value", spell(path))


_UNCOMPUTED = "cannot be computed: "


def uncomputed(path: Path, reason: str, place: str) -> Unread:
    """A deferred value that cannot be computed, as an unread place. reason: the error in words"""
    return Unread(place, f"{_UNCOMPUTED}{reason}", (path,), "value", spell(path))


def encrypted_at(value: Any, path: Path, places: Callable[[Path], Iterable[Origin]]) -> Iterator[Unread]:
    """Yield an Unread for each encrypted value in *value*; nothing where nothing is encrypted.

    path:   the path of *value*
    places: a function from a path to the origins that set it, the winner first; without an origin the path is the place
    """
    for below, reason in encrypted_in(value):
        whole = (*path, *below)
        origin = next(iter(places(whole)), None)
        yield encrypted(whole, reason, spell(whole) if origin is None else origin.place or origin.who)


def unresolved(subject: str, why: str, noun: str = "") -> Unread:
    """The Unread for a subject that cannot be resolved, such as a node; it may set any path.

    why:  the error in words
    noun: the word for the subject: "host"
    """
    return Unread(subject, f"cannot be resolved, and may have any value: {why}", (), noun)


def unread_below(trace: Callable[[Path], Trace], path: Path) -> list[Unread]:
    """An Unread for each unknown layer that may change the value at a path, or a value below it; [] for none.

    A layer with known paths is left out where stronger layers override all of these paths.
    trace: a function from a path to its Trace
    cost:  one trace for the path, and one for each known path below
    """
    found = []
    for one in unread_in(trace(path).unknown, path):
        below = [at for at in one.paths if len(at) > len(path)]
        overridden = {at for at in below if not any(map(one._is_same, unread_in(trace(at).unknown, at)))}
        paths = tuple(at for at in one.paths if at not in overridden)
        if paths or not one.paths:
            found.append(one._replace(paths=paths))
    return found


def certainty(found: Iterable[Unread]) -> dict[str, Any]:
    """The fields `certain` and `unread` of every answer, as data; `certain` is True where nothing was found."""
    unread = [one.to_dict() for one in dict.fromkeys(found)]
    return {"certain": not unread, "unread": unread}


def sentences(found: Iterable[Unread], whole: bool = False) -> Iterator[str]:
    """Yield a sentence for each group of unread places of the same kind and reason; nothing for no places.

    Places with known paths are another group than places that may set anything. If a group has several files, the
    sentence has their number, and the first place in each of the first three. If all places are in one file, it has the
    names of the first three, or only the first place if they have no different names. Reasons are cut at ": ".
    whole: True: a sentence for each place instead, with its full reason

    >>> [*sentences([Unread("a.rb:3", "was not run", kind="recipe"), Unread("b.rb", "was not run", kind="recipe")])]
    ['2 recipes were not run, and may set anything: a.rb:3, b.rb']
    """
    kinds: dict[tuple[str, str, bool, str], dict[str, list[Unread]]] = {}
    for one in dict.fromkeys(found):
        reason = "" if one._is_own_sentence else one.reason
        reason, place = (reason, one.place) if whole else (reason.partition(": ")[0], "")
        kinds.setdefault((one.kind, reason, not one.paths, place), {}).setdefault(one.file, []).append(one)
    for (noun, reason, sets_any, _), files in kinds.items():
        every = [one for some in files.values() for one in some]
        paths = dict.fromkeys(spell(path) for one in every for path in one.paths)
        what = "anything" if sets_any else _first_words([*paths])
        verb, _, rest = reason.partition(" ")
        if len(files) == 1:
            first, names = every[0], [*dict.fromkeys(one.name for one in every)]
            if len(names) > 1 and reason:
                place = first.place if len({one.place for one in every}) == 1 else first.file
                who = f"{place} ({_plural(noun or 'place')} {_first_words(names)})"
                yield _sentence(who, f"{_PLURALS[verb]} {rest}", what)
                continue
            free = f"{first.layer} may set {what}: {first.reason}"
            yield free if first._is_own_sentence else _sentence(first.layer, first.reason, what)
            continue
        places = _first_words([some[0].place for some in files.values()])
        who = f"{len(files)} {_plural(noun or 'place')}"
        if reason:
            yield f"{_sentence(who, f'{_PLURALS[verb]} {rest}', what)}: {places}"
        else:
            same = {one.reason for one in every}
            yield f"{who} may set {what}: {f'{same.pop()}: ' if len(same) == 1 else ''}{places}"


def _sentence(who: str, reason: str, what: str) -> str:
    return f"{who} {reason}" + ("" if " may " in reason else f", and may set {what}")


def _plural(noun: str) -> str:
    if noun.endswith(")"):  # a level of Ansible: "vars_files (14 of 22)"
        return f"places of {noun}"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _first_words(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
