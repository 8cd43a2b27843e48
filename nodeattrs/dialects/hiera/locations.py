"""The files and URIs that the templates of a hierarchy name: variables filled in, globs expanded.

A fact may choose among the files of a datadir, and never leads out of it. The text that a fact puts into a path is
checked against the folder. No file is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from re import DOTALL, compile, escape
from typing import NamedTuple

from nodeattrs import border
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.hiera.codes import BAD_GLOB, PATH_OUTSIDE
from nodeattrs.dialects.hiera.config import URIS, HieraConfig, HierarchyEntry, with_ending
from nodeattrs.dialects.hiera.data import DataSource
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.expressions import Resolver, text_plan, variable_value, variables_in
from nodeattrs.dialects.hiera.values import texts_in


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
    """A place that a lookup searches: one location of one level, with its variables filled in for one scope.

    layer:    "global", "environment", "module" or "default_hierarchy"
    entry:    the name of the level
    declared: the template, as hiera.yaml has it
    file:     the filled-in path or URI, as messages show it; for a data function its name
    source:   the data there; None if there is no such file
    config:   the hiera.yaml that has the level; None for a built-in level
    line:     the line of the level; None for a built-in level
    folder:   the filled-in datadir; "" for a location without one
    has_folder: whether the datadir exists; True without one

    `origin` is the line of the level.
    """

    layer: str
    entry: str
    declared: str
    file: str
    source: DataSource | None
    config: str | None = None
    line: int | None = None
    folder: str = ""
    has_folder: bool = True

    @property
    def origin(self) -> Origin:
        """The line of the level in hiera.yaml, as an origin that names the level."""
        return Origin("level", self.entry, self.config, self.line)


class LocatedLevel(NamedTuple):
    """One entry of a hierarchy with its places, in order.

    located: False for a data function without locations, which is one place
    """

    places: tuple[DataLocation, ...]
    located: bool


def located(
    config: HieraConfig, entry: HierarchyEntry, resolver: Resolver, of_folder: Resolver
) -> list[Location] | None:
    """The files or URIs of an entry for one scope, in order; None for an entry without locations.

    A path is given whether its file exists or not; a glob gives the files that match, so it may give [].
    resolver:  fills in paths
    of_folder: fills in the datadir
    raises:    BadLookup "path_outside", where a variable would lead out of the folder; "bad_glob"; TooMuch
    """
    if entry.location is None:
        return None
    if entry.location in URIS:
        return [Location(declared, str(text_plan(declared, False)(resolver))) for declared in entry.declared]
    folder = _filled(str(config.folder), entry.datadir, of_folder)
    if entry.location in ("path", "paths"):
        return [
            Location(template, _filled(folder, declared, resolver, entry.ending), folder)
            for declared, template in zip(entry.declared, entry.templates, strict=True)
        ]
    if entry.location in ("glob", "globs") and border.is_outside(folder):
        return [Location(declared, folder, folder) for declared in entry.declared]  # not listed, since it is outside
    if entry.location in ("glob", "globs"):
        return [
            Location(declared, path, folder)
            for declared in entry.declared
            for path in globbed(folder, _filled(folder, declared, resolver), resolver.budget)
        ]
    name, local, template = entry.declared
    values = variable_value(name, name, resolver)
    if isinstance(values, dict):
        values = [[key, value] for key, value in values.items()]
    resolver.budget.steps(_PER_FILE * len(values) if isinstance(values, list) else _PER_FILE)
    return [
        Location(template, _filled(folder, template, resolver.with_variable(local, value)), folder)
        for value in (values if isinstance(values, list) else [values] if values not in (None, "") else [])
    ]


def _filled(folder: str, declared: str, resolver: Resolver, ending: str = "") -> str:
    """A template filled in and joined to its folder; an ending is added once it is filled in.

    `..` in the template is allowed (`../shared/common.yaml`), and refused in the value of a variable. If a template
    begins with a variable that is not set, Puppet takes the rest as an absolute path. Here nothing is read then, and
    the template stays as it is.
    """
    cut = declared.find("%{")
    if cut < 0:
        return os.path.join(folder, with_ending(declared, ending))
    filled = with_ending(text_plan(declared, False)(resolver), ending)
    path = os.path.join(folder, filled)
    if ".." not in filled and "\0" not in filled and not filled.startswith("/"):
        return path  # it cannot leave the folder
    first = _BEGINNING.match(declared)
    if first is not None and filled.startswith("/") and not text_plan(first[0], False)(resolver):
        return os.path.join(folder, with_ending(declared, ending))
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
"""The steps of a budget that looking for a file costs: an estimate."""


# --- Ruby's globs -------------------------------------------------------------------


def globbed(folder: str, pattern: str, budget: Budget, folders: bool = False) -> Iterator[str]:
    """Yield the paths that match a glob of Ruby, sorted by the bytes of their names; hidden ones are left out.

    folder:  if the pattern begins with this folder, the folder's own characters are not read as a glob
    pattern: may have `{a,b}`, `*`, `**/`, `?` and `[..]`; a pattern without them gives an existing path
    budget:  counts the names that are compared
    folders: True: only folders count; False: folders do not count
    raises:  BadLookup "bad_glob", for too many alternatives; TooMuch
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
        found = set(_matching(start, steps, budget, set(), folders))
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


def _matching(start: str, steps: list[str], budget: Budget, been: set[tuple[str, int]], folders: bool) -> Iterator[str]:
    """The files below *start* that match the steps. cost: one look at each folder for each step"""
    if not steps or (start, len(steps)) in been:
        return
    been.add((start, len(steps)))
    step, rest = steps[0], steps[1:]
    if step in (".", ".."):
        yield from _matching(f"{start}{step}/", rest, budget, been, folders)
        return
    names = _names(start)
    is_deep = step == "**" and bool(rest)
    budget.steps(_PER_FILE * (1 + len(names) + (0 if is_deep else len(step))))
    if is_deep:
        yield from _matching(start, rest, budget, been, folders)
        for name in names:
            path = start + name
            if not name.startswith(".") and os.path.isdir(path) and not os.path.islink(path):
                yield from _matching(path + "/", steps, budget, been, folders)
        return
    match = compile(_segment(step), DOTALL).fullmatch
    for name in names:
        if match(name) and (not name.startswith(".") or step.startswith(".")):
            path = start + name
            if rest:
                yield from _matching(path + "/", rest, budget, been, folders)
            elif os.path.isdir(path) == folders:
                yield path


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


_MARKS = re.compile(r"(?s)\\(.)|(\*+)|(\?)|\[([!^]?)([^\]]{1,999})\]|(.)")


def _segment(step: str) -> str:
    """One step of a glob as a regular expression that takes linear time.

    The text between two stars is matched at its first place, and no other place is tried.
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
    """The regular expression for `[a-z]` or `[!a-z]`. As in Ruby, a range that ends before it begins is empty."""
    ranges = [(low, high or low) for low, high in _MEMBER.findall(members) if low <= (high or low)]
    if not ranges:
        return "[^/]" if negated else "(?!)"
    inner = "".join(f"{escape(low)}-{escape(high)}" for low, high in ranges)
    return f"[^/{inner}]" if negated else f"[{inner}]"


def templates_of(entry: HierarchyEntry) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (text, the variables that it names) for each text of a level that is filled in: paths, URIs, options.

    A path comes with its datadir. For mapped_paths the variable with the map is named, and not the local variable.
    """
    declared, own = entry.templates, ""
    if entry.location == "mapped_paths":
        source, own, template = declared
        declared = (template,)
        yield os.path.join(entry.datadir, template), (source,)
    for template in declared:
        whole = template if entry.location in URIS else os.path.join(entry.datadir, template)
        yield whole, [name for name in variables_in(whole) if not own or name.partition(".")[0] != own]
    for _, template in texts_in(entry.options):
        yield template, variables_in(template)
