"""Salt's pillar as a dialect of nodeattrs: top.sls without Jinja, pillar files, pillarenv, merges of maps and lists.

    pillar/top.sls          base: {'*': [common], 'web*': [web]}
    pillar/common.sls       values, or `include: [other]` with values
    pillar/web/init.sls
    grains/web1.yaml        what is known of a minion, for `match: grain` (or --facts DIR)
    minion                  pillarenv: dev, pillar_merge_lists: true

The rules are those of `pillar_source_merging_strategy: smart`: later files of the top file are stronger, maps merge,
lists are replaced, or joined with `pillar_merge_lists`. Files with Jinja are not rendered: they are unknown layers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs import ACROSS, INSIDE, Layer, Origin, fold
from nodeattrs.contract.answers import Answered, Setting, Unread, part_of
from nodeattrs.contract.command import Argument, Command, Output, PlainReport, Question
from nodeattrs.contract.dialect import CheckedFiles, Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import tree_with
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import parse, text_of
from nodeattrs.formats.layers import LayerReader
from nodeattrs.reports.findings import finding_of

_JINJA = re.compile(r"\{\{|\{%|^#!(?!\s*yaml\s*$)", re.MULTILINE)
_NOT_RENDERED = "is a template, which was not rendered"
_MATCHERS = ("glob", "list", "grain", "pcre")


class Pillar(Opened):
    """One version of a pillar."""

    @property
    def top(self) -> Path:
        """The top file."""
        return self.side.root / "pillar/top.sls"

    @property
    def is_there(self) -> bool:
        """A top file."""
        return self.top.is_file()

    @cached_property
    def minion(self) -> dict[str, Any]:
        """The settings of the minion. raises: DocumentError"""
        file = self.side.root / "minion"
        return self._map(file) if file.is_file() else {}

    @property
    def environment(self) -> str:
        """The pillarenv: of the option, of the caller, or of the minion."""
        given = self.request.options.get("salt", {}).get("pillarenv") or self.request.environment
        return given or str(self.minion.get("pillarenv") or "base")

    @cached_property
    def targets(self) -> dict[str, list[Any]]:
        """Target -> files and matchers, of the environment. raises: DocumentError"""
        text = text_of(self.top, self._shown(self.top))
        if _JINJA.search(text):
            raise DocumentError(_NOT_RENDERED, file=self._shown(self.top), hint="write the top file as plain YAML")
        document = parse(text, self._shown(self.top), "yaml")
        found = document.tree.get(self.environment) if isinstance(document.tree, dict) else None
        if found is None:
            raise document.error(f"the top file has no environment {self.environment}", hint="pillarenv names another")
        if not isinstance(found, dict) or not all(isinstance(one, list) for one in found.values()):
            raise document.error("an environment is a map of targets, each with a list", (self.environment,))
        return found

    def subjects(self) -> Iterable[str]:
        """Minions with grains, and those that the top file names."""
        folder = self._grains
        known = {one.stem for one in folder.glob("*.yaml")} if folder.is_dir() else set()
        for target, some in self.targets.items():
            matcher = self._matcher(some)
            if matcher == "list":
                known |= {name.strip() for name in target.split(",")}
            elif matcher == "glob" and not re.search(r"[*?\[]", target):
                known.add(target)
        return known

    def answer(self, name: str) -> Answered:
        """The pillar of a minion."""
        self.unread: list[Unread] = []
        layers: list[Layer] = []
        for target, some in self.targets.items():
            named = [layer for word in some if isinstance(word, str) for layer in self._layers(word, ())]
            fits = self._fits(name, target, self._matcher(some))
            if fits is None:
                paths = tuple(path for layer in named for path in _leaves(layer.value))
                reason = f"is not there, and {target} asks for it"
                self.unread.append(Unread(f"grains/{name}.yaml", reason, paths))
            layers += named if fits else []
        layers += [
            Layer(tree_with(path, value), Origin("what-if", "--set")) for path, value in self.request.what_if.set
        ]
        return {"pillar": part_of(fold(layers, self._policy))}

    def facts_file(self, name: str) -> Path | None:
        """The grains of a minion, or None."""
        file = self._grains / f"{name}.yaml"
        return file if "/" not in name and file.is_file() else None

    def settings(self, file: str) -> Iterator[Setting]:
        """The keys of a pillar file; the top file sets none."""
        if file.endswith(".sls") and not file.endswith("top.sls"):
            for layer in self._read(self.side.top / file) if (self.side.top / file).is_file() else ():
                for path in _leaves(layer.value):
                    yield Setting(path, layer.origin.at(path).line or 1)

    # --- how the top file is read

    @property
    def _grains(self) -> Path:
        return self.request.place(self.side, self.request.facts) if self.request.facts else self.side.root / "grains"

    @property
    def _policy(self) -> Any:
        return INSIDE if self.minion.get("pillar_merge_lists") else ACROSS

    def _matcher(self, some: list[Any]) -> str:
        given = next((one["match"] for one in some if isinstance(one, dict) and "match" in one), "glob")
        if given not in _MATCHERS:
            raise DocumentError(f"the matcher {given} is not known", file=self._shown(self.top))
        return str(given)

    def _fits(self, name: str, target: str, matcher: str) -> bool | None:
        """Whether a target names a minion; None where its grains decide and are not there."""
        if matcher == "list":
            return name in [one.strip() for one in target.split(",")]
        if matcher == "pcre":
            return re.match(target, name) is not None
        if matcher == "glob":
            return fnmatchcase(name, target)
        key, _, pattern = target.partition(":")
        file = self.facts_file(name)
        if file is None:
            return None
        return fnmatchcase(str(self._map(file).get(key)), pattern)

    def _layers(self, word: str, within: tuple[str, ...]) -> list[Layer]:
        """A pillar file with what it includes, the weakest first."""
        steps = Path(*word.split("."))
        folder = self.top.parent
        file = next((one for one in (folder / f"{steps}.sls", folder / steps / "init.sls") if one.is_file()), None)
        if file is None:
            place = self._shown(folder / f"{steps}.sls")
            raise DocumentError(f"there is no pillar file {word}", file=self._shown(self.top), hint=f"write {place}")
        if word in within:
            return []
        found: list[Layer] = []
        for layer in self._read(file):
            included = layer.value.get("include", ()) if isinstance(layer.value, dict) else ()
            for other in included if isinstance(included, list) else ():
                found += self._layers(str(other), (*within, word))
            if isinstance(layer.value, dict):
                values = {key: value for key, value in layer.value.items() if key != "include"}
                layer = Layer(values, layer.origin, layer.title)
            found.append(layer)
        return found

    def _read(self, file: Path) -> list[Layer]:
        shown = self._shown(file)
        if _JINJA.search(text_of(file, shown)):
            return [Layer.unknown(shown, Origin("pillar", file.stem, shown), _NOT_RENDERED)]
        return LayerReader("yaml", kind="pillar").read(file, shown)

    def _map(self, file: Path) -> dict[str, Any]:
        document = parse(text_of(file, self._shown(file)), self._shown(file), "yaml")
        if not isinstance(document.tree, dict):
            raise document.error("a map is expected")
        return document.tree

    def _shown(self, file: Path) -> str:
        return (
            self.side.named(str(file.relative_to(self.side.top))) if file.is_relative_to(self.side.top) else str(file)
        )


class Salt(Dialect):
    """Salt's pillar: pillar/top.sls and the files that it names."""

    name = "salt"
    noun = "minion"

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the pillar."""
        return Pillar(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Pillar files that cannot be read, or that the top file does not find."""
        opened = Pillar(Side("", folder, folder, {}), Request())
        if not opened.is_there:
            return
        found: list[NodeattrsError] = []
        files = sorted(opened.top.parent.rglob("*.sls"))
        for file in files:
            count(str(file))
        try:
            for some in opened.targets.values():
                for word in (one for one in some if isinstance(one, str)):
                    opened._layers(word, ())
        except NodeattrsError as error:
            found.append(error)
        yield CheckedFiles("pillar file", len(files), [*map(finding_of, found)])

    def options(self) -> list[Argument]:
        """What its verbs take."""
        return [Argument(("--pillarenv",), "the environment of the top file", {"metavar": "NAME"})]

    def commands(self) -> dict[str, Command]:
        """`nodeattrs salt top MINION`."""
        words = [Argument(("minion",), "a minion", {"metavar": "MINION"})]
        return {
            "top": Command("name the pillar files of a minion", "Name them in order.", words, ["top web1"], {}, _top)
        }


def _top(question: Question) -> Output:
    opened, name = Pillar(question.side, question.request), question.arguments["minion"]
    files = [one for target, some in opened.targets.items() if opened._fits(name, target, opened._matcher(some))
             for one in some if isinstance(one, str)]  # fmt: skip
    return Output(PlainReport(files, {"version": 1, "files": files}))


def _leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from _leaves(value, (*path, key))
    elif path:
        yield path
