"""From the templates of a hierarchy to files: variables filled in, globs spread out.

A fact may choose among the files of a datadir, and never leaves it: what it puts into a
path is checked against the folder. It reads no file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from re import DOTALL, compile, escape
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.hiera.codes import BAD_GLOB, PATH_OUTSIDE
from nodeattrs.dialects.hiera.config import URIS, HieraConfig, HierarchyEntry
from nodeattrs.dialects.hiera.data import DataSource
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.expressions import Speech, names_in, text_plan, variable
from nodeattrs.dialects.hiera.old_versions import ended


class Location(NamedTuple):
    """A file that a hierarchy names, whether it is there or not, or a URI.

    declared: the template, as hiera.yaml has it
    path:     the file, or the URI
    folder:   the datadir, filled in; "" for a URI
    """

    declared: str
    path: str
    folder: str = ""


class DataLocation(NamedTuple):
    """One location of one entry, as this scope sees it.

    layer:    "global", "environment", "module" or "default_hierarchy"
    file:     its name in messages
    source:   what answers there; None where there is no such file
    config:   the hiera.yaml that has the entry, and the line of it
    folder:   the datadir, filled in; "" where there is none
    """

    layer: str
    entry: str
    declared: str
    file: str
    source: DataSource | None
    config: str | None = None
    line: int | None = None
    folder: str = ""

    @property
    def has_folder(self) -> bool:
        """Whether there is a folder in which the file could be; also where it needs none."""
        return not self.folder or os.path.isdir(self.folder)

    @property
    def origin(self) -> Origin:
        """Where hiera.yaml has the entry."""
        return Origin("level", self.entry, self.config, self.line)


class LocatedLevel(NamedTuple):
    """One entry of a hierarchy with its places; `located` is False for a function that needs no file."""

    places: tuple[DataLocation, ...]
    located: bool


def located(config: HieraConfig, entry: HierarchyEntry, speech: Speech, of_folder: Speech) -> list[Location] | None:
    """The files of an entry for one scope, in order; None for an entry without locations.

    speech:    fills in paths
    of_folder: fills in the datadir
    raises: BadLookup "path_outside", where a variable would lead out of the folder
    """
    if entry.location is None:
        return None
    if entry.location in URIS:
        return [Location(declared, str(text_plan(declared, False)(speech))) for declared in entry.declared]
    folder = _filled(str(config.folder), entry.datadir, of_folder)
    if entry.location in ("path", "paths"):
        return [
            Location(template, _filled(folder, declared, speech, entry.ending), folder)
            for declared, template in zip(entry.declared, entry.templates, strict=True)
        ]
    if entry.location in ("glob", "globs") and border.is_outside(folder):
        return [Location(declared, folder, folder) for declared in entry.declared]  # which is not listed
    if entry.location in ("glob", "globs"):
        return [
            Location(declared, path, folder)
            for declared in entry.declared
            for path in globbed(folder, _filled(folder, declared, speech), speech.budget)
        ]
    name, local, template = entry.declared
    values = variable(name, name, speech)
    if isinstance(values, dict):
        values = [[key, value] for key, value in values.items()]
    speech.budget.steps(_PER_FILE * len(values) if isinstance(values, list) else _PER_FILE)
    return [
        Location(template, _filled(folder, template, _Local(speech, local, value)), folder)
        for value in (values if isinstance(values, list) else [values] if values not in (None, "") else [])
    ]


class _Local:
    """A speech with one more variable, which hides others of its name."""

    def __init__(self, outer: Speech, name: str, value: Any) -> None:
        self._outer = outer
        self._name = name
        self._value = value
        self.untrusted = False

    def variable(self, name: Any, below: TreePath = ()) -> Any:
        return self._value if name == self._name else self._outer.variable(name, below)

    def missing(self, name: str) -> None:
        self._outer.missing(name)

    def lookup(self, key: str) -> tuple[Any, bool]:
        return self._outer.lookup(key)

    @property
    def budget(self) -> Budget:
        return self._outer.budget

    @property
    def node(self) -> object:
        return self._outer.node


def _filled(folder: str, declared: str, speech: Speech, ending: str = "") -> str:
    """A template filled in and joined to its folder; an ending is added once it is filled in.

    What the author wrote may climb (`../shared/common.yaml`); what a variable says may not. Where the variable that
    a template begins with is not set, Puppet takes the rest as an absolute path: nothing is read there, and the
    template stays as it is.
    """
    cut = declared.find("%{")
    if cut < 0:
        return os.path.join(folder, ended(declared, ending))
    filled = ended(text_plan(declared, False)(speech), ending)
    path = os.path.join(folder, filled)
    if ".." not in filled and "\0" not in filled and not filled.startswith("/"):
        return path  # nothing in it climbs
    first = _BEGINNING.match(declared)
    if first is not None and filled.startswith("/") and not text_plan(first[0], False)(speech):
        return os.path.join(folder, ended(declared, ending))
    fence = os.path.normpath(folder)
    written = os.path.normpath(os.path.join(folder, os.path.dirname(declared[:cut])))
    if not _inside(written, fence):
        fence = written
    if not _inside(os.path.normpath(path), fence) or "\0" in path:
        raise BadLookup(
            f"{declared!r} was filled in with a value that leads out of its folder",
            kind=PATH_OUTSIDE,
            hint="a fact that names a file must not have `..` or begin with a slash",
        )
    return path


_BEGINNING = re.compile(r"(?:%\{[^}]*\})+(?=/)")


def _inside(path: str, folder: str) -> bool:
    return path == folder or folder == "." or path.startswith(folder.rstrip("/") + "/")


_MOST_ALTERNATIVES = 1_000
_PER_FILE = 100
"""How many steps a file is that is looked for, as near as one can say."""


# --- Ruby's globs -------------------------------------------------------------------


def _is_file(path: str) -> bool:
    return not os.path.isdir(path)


def globbed(folder: str, pattern: str, budget: Budget, fits: Callable[[str], bool] = _is_file) -> Iterator[str]:
    """The files that match, each folder in the order of its names' bytes; no hidden ones, no folders.

    fits: others than files may be wanted, such as folders
    """
    base = folder.rstrip("/") + "/"
    below = pattern[len(base) :] if pattern.startswith(base) else None
    for count, one in enumerate(_spread(pattern if below is None else below, budget)):
        if count == _MOST_ALTERNATIVES:
            raise BadLookup(
                f"a glob with more than {_MOST_ALTERNATIVES:,} alternatives",
                kind=BAD_GLOB,
                hint="are there braces in a fact that it names?",
            )
        start = "/" if below is None and one.startswith("/") else "" if below is None else base
        steps = [step for step in one.split("/") if step]
        steps = [step for step, before in zip(steps, ("", *steps), strict=False) if step != "**" or before != "**"]
        found = set(_matching(start, steps, budget, set(), fits))
        yield from sorted(found, key=lambda path: os.fsencode(path).split(b"/"))


def _spread(pattern: str, budget: Budget) -> Iterator[str]:
    """The alternatives of `{a,b}`, in order; they may hold others."""
    budget.steps(len(pattern))
    start = pattern.find("{")
    depth, cuts = 0, [start]
    for at, sign in enumerate(pattern):
        if at < start or start < 0:
            continue
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 1:
            cuts.append(at)
        elif not depth:
            choices = [pattern[one + 1 : other] for one, other in pairwise([*cuts, at])]
            before, after = pattern[:start], pattern[at + 1 :]
            for choice in choices:
                yield from _spread(before + choice + after, budget)
            return
    yield pattern


def _matching(
    start: str, steps: list[str], budget: Budget, been: set[tuple[str, int]], fits: Callable[[str], bool]
) -> Iterator[str]:
    """The files below *start* that match the steps. cost: one look at each folder for each step"""
    if not steps or (start, len(steps)) in been:
        return
    been.add((start, len(steps)))
    step, rest = steps[0], steps[1:]
    if step in (".", ".."):
        yield from _matching(f"{start}{step}/", rest, budget, been, fits)
        return
    names = _names(start)
    is_deep = step == "**" and bool(rest)
    budget.steps(_PER_FILE * (1 + len(names) + (0 if is_deep else len(step))))
    if is_deep:
        yield from _matching(start, rest, budget, been, fits)
        for name in names:
            path = start + name
            if not name.startswith(".") and os.path.isdir(path) and not os.path.islink(path):
                yield from _matching(path + "/", steps, budget, been, fits)
        return
    match = compile(_segment(step), DOTALL).fullmatch
    for name in names:
        if match(name) and (not name.startswith(".") or step.startswith(".")):
            path = start + name
            if rest:
                yield from _matching(path + "/", rest, budget, been, fits)
            elif fits(path):
                yield path


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


_MARKS = re.compile(r"(?s)\\(.)|(\*+)|(\?)|\[([!^]?)([^\]]+)\]|(.)")


def _segment(step: str) -> str:
    """One step of a glob as a regular expression, which takes linear time.

    What stands between two stars is taken where it comes first, and that is final.
    """
    runs = [""]
    for escaped, star, question, negated, members, plain in _MARKS.findall(step):
        if star:
            runs.append("")
        elif question:
            runs[-1] += "[^/]"
        elif members:
            runs[-1] += _one_of(members, bool(negated))
        else:
            runs[-1] += escape(escaped or plain)
    if len(runs) == 1:
        return runs[0]
    first, *between, last = runs
    return first + "".join(f"(?>[^/]*?{run})" for run in between) + f"[^/]*{last}"


_MEMBER = re.compile(r"(?s)\\?(.)(?:-\\?(.))?")


def _one_of(members: str, negated: bool) -> str:
    """`[a-z]`, `[!a-z]`: a range that ends before it begins has nothing in it, as in Ruby."""
    ranges = [(low, high or low) for low, high in _MEMBER.findall(members) if low <= (high or low)]
    if not ranges:
        return "[^/]" if negated else "(?!)"
    inner = "".join(f"{escape(low)}-{escape(high)}" for low, high in ranges)
    return f"[^/{inner}]" if negated else f"[{inner}]"


def templates_of(entry: HierarchyEntry) -> Iterator[tuple[str, Iterable[str]]]:
    """What of a level is filled in, each text with the variables that it names: paths, URIs and options."""
    declared, own = entry.templates, ""
    if entry.location == "mapped_paths":
        source, own, template = declared
        declared = (template,)
        yield os.path.join(entry.datadir, template), (source,)
    for template in declared:
        whole = template if entry.location in URIS else os.path.join(entry.datadir, template)
        yield whole, [name for name in names_in(whole) if not own or name.partition(".")[0] != own]
    for template in _texts(entry.options):
        yield template, names_in(template)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
