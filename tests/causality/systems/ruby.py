"""The same runs with attribute files in Ruby: literals in every form that sets them, over several lines and on one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path as Folder

from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.dialects.chef.ruby.helper import Helper
from nodeattrs.dialects.chef.run import ruby_files as ruby
from tests.causality.system import Input
from tests.causality.systems.node import Making, NodeRuns

__all__ = ["RubyRuns"]

_WORDS = {"None": "nil", "True": "true", "False": "false"}


class RubyRuns(NodeRuns):
    """One Ruby for all that is asked."""

    name = "ruby"

    def __init__(self) -> None:
        super().__init__()
        self._helper: Helper | None = None

    def make(self, random: random.Random) -> Input:
        """A repository whose attribute files are Ruby, but for some."""
        return _RubyMaking(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """None: people's cookbooks are no part of this project."""
        return iter(())

    def repository(self, folder: Folder) -> Repository:
        """With the Ruby that was there before."""
        repository = Repository(folder, options=RepositoryOptions(ruby=True))
        if self._helper is None or not self._helper.alive:
            self._helper = Helper(folder)
        ruby.HELPERS.of_folder[repository.root, repository.config.chef.ruby_seconds] = self._helper
        return repository


class _RubyMaking(Making):
    def cookbook(self, name: str, depends: dict[str, str]) -> dict[str, str]:
        files = super().cookbook(name, depends)
        folder = f"cookbooks/{name}/attributes"
        self.lists = []  # those of files that are replaced
        for file in ("default", "more") if self.make.chance(0.7) else ("default",):
            include = files.pop(f"{folder}/{file}.py").find("include_attribute") >= 0
            lines = [self.in_ruby() for _ in range(self.random.randint(1, 4))]
            lines += [f"include_attribute '{name}::more'"] if include else []
            files[f"{folder}/{file}.rb"] = "".join(f"{line}\n" for line in lines)
        return files

    def in_ruby(self) -> str:
        """A statement as Python has it, with Ruby's signs."""
        forms = [self.assignment, self.assignment, self.unless, self.full, self.update, self.removal, self.written]
        made = self.random.choice([*forms, *([self.in_place] * 3 if self.lists else [])])("", self.level())
        return _ruby(made)

    def level(self) -> str:
        return self.random.choice(("default", "default", "force_default", "normal", "override"))

    def update(self, who: str, level: str) -> str:
        made = super().update(who, level)
        return made if who else re.sub(r"\.update\((?!{)(.*)\)", r".update({\1})", made).replace(".update(", ".merge!(")


def _ruby(text: str) -> str:
    text = re.sub(r'("[^"]*"): ', r"\1 => ", text)
    text = re.sub(r"\b([a-z])=(?=[\"w\d])", r'"\1" => ', text)
    text = re.sub(r"\b(None|True|False)\b", lambda found: _WORDS[found[0]], text)
    return re.sub(r"_full\[", "![", text).replace(".append(", ".push(")
