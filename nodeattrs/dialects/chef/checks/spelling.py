"""Find keys of attributes in documents that no cookbook names. Some of them are misspelt: a named key is similar.

Chains of keys (`node['app']['port']`) are searched in the texts of Ruby, Python and templates; nothing is parsed or
run. A key is checked only if cookbooks name other keys of its map. It is not checked if they read the map as a whole or
by a computed key. A key is *misspelt* if a named key is similar, and *unused* otherwise. Facts in conditions of
attribute files are compared with the facts of known platforms and of the repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, Path, dig, is_near, shape_of, spell
from nodeattrs.dialects.chef.checks.overrides import kind_in_words, layer_warning
from nodeattrs.dialects.chef.checks.stacks import StackLayer, leaves_of, texts_of
from nodeattrs.dialects.chef.facts.known import platforms
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES, AttributeData
from nodeattrs.dialects.chef.repository.repository import Repository, readable
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats import documents
from nodeattrs.kinds import MISSPELT, TYPE_CHANGE, UNUSED_ATTRIBUTE

_MOST_FACTS = 8
_NOTED = ("name", "chef_environment", "cookbooks", "roles", "recipes", "expanded_run_list")
_OF_POLICY = ("policy_name", "policy_group", "policy_revision")


def data_files(repository: Repository) -> list[AttributeData]:
    """The attribute files in YAML, JSON and TOML of all cookbooks, read; [] if there are none.

    A file that cannot be read is skipped, and so is a cookbook whose metadata cannot be read.
    """
    found: list[AttributeData] = []
    for cookbook in readable(repository.cookbooks(), repository.cookbook):
        with suppress(NodeattrsError):
            files = (file for file in cookbook.attribute_paths if file.endswith(SUFFIXES))
            found += readable(files, cookbook.attribute_data)
    return found


def layers_of_data(files: Iterable[AttributeData]) -> Iterator[StackLayer]:
    """Yield a layer for each level of each block of these attribute files; its kind is "attributes LEVEL"."""
    for data in files:
        for block in data.blocks:
            for one in block.levels:
                yield StackLayer(f"attributes {one.level}", data.name, one.tree, one.locator, leaves_of(one.tree))


def misspelt_facts(repository: Repository, files: Iterable[AttributeData]) -> Iterator[DocumentError]:
    """Yield a warning for each condition on an unknown fact whose name is similar to the name of a known fact.

    A fact that is known, or similar to none, gives nothing. Files of facts are read only where there are conditions.
    """
    asked = [(data, *one) for data in files for block in data.blocks for when in block.when for one in when.facts]
    known = list(_facts(repository)) if asked else []
    seen: set[tuple[str, Path]] = set()  # the condition of a file is that of each of its blocks, too
    for data, fact, at in asked:
        near = _near(fact, known)
        if near is not None and (data.name, at) not in seen:
            seen.add((data.name, at))
            error = data.document.error(f"no facts have {spell(fact)}; did you mean {spell(near)}?", at)
            error.kind = MISSPELT
            yield error


def _near(fact: Path, known: list[Any]) -> Path | None:
    """A known fact with a name similar to *fact*; None if *fact* itself is known, or none is similar."""
    if any(dig(facts, fact) is not ABSENT for facts in known):
        return None
    for depth in range(len(fact)):
        key, maps = fact[depth], [dig(facts, fact[:depth]) for facts in known]
        beside = {one for facts in maps if isinstance(facts, dict) for one in facts}
        if key not in beside:
            found = sorted(one for one in beside if isinstance(key, str) and is_near(key, str(one)))
            return (*fact[:depth], found[0], *fact[depth + 1 :]) if found else None
    return None


def _facts(repository: Repository) -> Iterator[Any]:
    own = repository.root / "facts"
    files = sorted(file for file in own.iterdir() if file.suffix in SUFFIXES) if own.is_dir() else []
    yield dict.fromkeys((*_NOTED, *_OF_POLICY))
    for file in (*platforms().values(), *islice(files, _MOST_FACTS)):
        with suppress(NodeattrsError):
            yield documents.read(file).tree


_STEP = r"""\[\s*(?::(\w+)|'([^'\n\[\]]*)'|"([^"\n\[\]#]*)")\s*\]"""
_CHAIN = re.compile(rf"(?:{_STEP})+")
_ONE = re.compile(_STEP)
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SET = re.compile(r"\s*(?:\|\||<<)?=(?![=~>])")
_LEVEL = re.compile(r"\b(?:default|force_default|normal|set|override|force_override)(?:_unless)?\s*$")
_CODE = (".rb", ".py", ".erb", ".j2")


class _PathUse(NamedTuple):
    """A line of code that names a path. sets: whether the line sets it"""

    file: str
    line: int
    sets: bool


class CodeWords:
    """The words and paths of attributes in the code of all cookbooks of a repository.

    The constructor reads the files. A cookbook that cannot be read is left out. `add_layers` adds what attribute files
    in YAML, JSON or TOML set.

    words:     every word in the code
    chains:    path -> a line that names it or a path below it. A line that sets exactly this path is preferred
    below:     path -> the keys that code names directly below it
    whole:     paths that code reads as a whole, without a further constant key
    cookbooks: the names of the cookbooks, in lower case and without `-` and `_`
    """

    def __init__(self, repository: Repository) -> None:
        self.words: set[str] = set()
        self.chains: dict[Path, _PathUse] = {}
        self.below: dict[Path, set[str]] = {}
        self.whole: set[Path] = set()
        self.cookbooks = {shape_of(name) for name in repository.cookbooks()}
        for cookbook in readable(repository.cookbooks(), repository.cookbook):
            for file, text in texts_of(cookbook, _CODE).items():
                self._take(file, text)

    def add_layers(self, layers: Iterable[StackLayer]) -> None:
        """Add the paths of layers of attribute files to `chains` and `below`, and their keys to `words`."""
        for layer in layers:
            for path in layer.leaves:
                at = layer.locator.at(path)
                self.words.update(str(step) for step in path)
                self._name(path, _PathUse(str(at.file), at.line or 1, sets=True))

    def _take(self, file: str, text: str) -> None:
        self.words.update(_WORD.findall(text))
        for found in _CHAIN.finditer(text):
            steps = tuple(next(filter(None, one.groups()), "") for one in _ONE.finditer(found[0]))
            before = text[max(0, found.start() - 40) : found.start()]
            if not re.search(r"\b(?:node|default|normal|override|set|\w+_unless|force_\w+)\s*$", before):
                continue
            sets = bool(_LEVEL.search(before) and _SET.match(text, found.end()))
            if not sets:
                self.whole.add(steps)
            self._name(steps, _PathUse(file, text.count("\n", 0, found.start()) + 1, sets))

    def _name(self, steps: Path, place: _PathUse) -> None:
        for depth in range(1, len(steps) + 1):
            self.below.setdefault(steps[: depth - 1], set()).add(steps[depth - 1])
            if depth == len(steps) and (place.sets or steps not in self.chains):
                self.chains[steps] = place
            self.chains.setdefault(steps[:depth], place._replace(sets=False))


def misspelt_keys(layers: Iterable[StackLayer], words: CodeWords) -> Iterator[DocumentError]:
    """Yield a warning for each key of a layer that no code names: misspelt, or unused. A place is reported once.

    A key is judged only if code names another key of the same map, and does not read the map as a whole.
    """
    seen: set[tuple[int, Path]] = set()
    for layer in layers:
        for leaf in layer.leaves:
            for depth in range(1, len(leaf) + 1):
                path = leaf[:depth]
                if (id(layer.tree), path) not in seen:
                    seen.add((id(layer.tree), path))
                    yield from _judged(layer, path, words)


def _judged(layer: StackLayer, path: Path, words: CodeWords) -> Iterator[DocumentError]:
    *above, key = path
    parent = tuple(above)
    if not isinstance(key, str) or key in words.words or parent not in words.below:
        return
    if any(path[:depth] in words.whole for depth in range(1, len(path))):
        return
    beside = layer.value_at(parent)
    near = [one for one in sorted(words.below[parent]) if is_near(key, one) and one not in beside]
    if near:
        place = words.chains[(*parent, near[0])]
        message = f"no cookbook names {spell(path)}; did you mean {near[0]}?"
        detail = f"{place.file}:{place.line} {'sets' if place.sets else 'names'} {spell((*parent, near[0]))}"
        yield layer_warning(MISSPELT, layer, path, message, details=[detail])
    elif shape_of(str(path[0])) in words.cookbooks and parent and re.fullmatch(r"\w+", key) and not key.isdigit():
        one = min(words.below[parent])
        place = words.chains[(*parent, one)]
        detail = f"beside it, {place.file}:{place.line} names {spell((*parent, one))}"
        yield layer_warning(UNUSED_ATTRIBUTE, layer, path, f"no cookbook names {spell(path)}", details=[detail])


def shadowed_maps(layers: Iterable[StackLayer], words: CodeWords) -> Iterator[DocumentError]:
    """Yield a warning for each value in a layer that is not a map, if code sets keys below its path."""
    for layer in layers:
        for path, value in layer.leaves.items():
            below = (words.chains[(*path, key)] for key in sorted(words.below.get(path, ())))
            place = next((one for one in below if one.sets), None)
            if place is not None and not isinstance(value, Mapping):
                message = f"{spell(path)} is {kind_in_words(value)} here, and a map where a cookbook sets it"
                yield layer_warning(TYPE_CHANGE, layer, path, message, details=[f"{place.file}:{place.line}"])
