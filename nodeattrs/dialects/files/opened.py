"""One version of the files of named folds, and of charts and Compose files that are found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from nodeattrs.contract.answers import Answered, Setting, part_of
from nodeattrs.dialects.common import InRepository
from nodeattrs.dialects.files.extends import left_out
from nodeattrs.dialects.files.folds import Laid, fold_named, folded, laid_of
from nodeattrs.dialects.files.found import found_folds, policy_for
from nodeattrs.errors import NodeattrsError
from nodeattrs.policies import policy_named
from nodeattrs.policies.helm import ChartValues
from nodeattrs.project.config import PlainFold


class Folds(InRepository):
    """Plain folds that nodeattrs.toml names; where it names none, those that are found."""

    @cached_property
    def folds(self) -> Mapping[str, PlainFold]:
        """The folds by name: the files of the question, if it names some. raises: DocumentError, for the settings"""
        asked = self.request.options.get("folds", {})
        if asked.get("files"):
            files = tuple(os.path.relpath(file, self.side.root) for file in asked["files"])
            return {" + ".join(asked["files"]): PlainFold(files, asked["policy"] or policy_for(files, self.side.root))}
        return self.repository.config.folds or found_folds(self.side.root)

    @property
    def is_there(self) -> bool:
        """Whether the settings name a fold, or one was found."""
        return bool(self.folds)

    def subjects(self) -> Iterable[str]:
        """The names of the folds."""
        return self.folds

    def answer(self, name: str) -> Answered:
        """The merged tree of a fold. raises: FoldNotFound, DocumentError"""
        one = self.folds[name] if name in self.folds else fold_named(self.repository, name)
        laid = self._laid(one)
        policy = policy_named(one.policy)
        tree = folded(laid.layers, policy, one.rules, self.repository.config.sensitive, charts=laid.charts)
        self.unread = [*left_out(tree, one.policy)]
        return {"value": part_of(self.with_set(tree))}

    def settings(self, file: str) -> Iterator[Setting]:
        """The paths that a file sets; a subchart's values are below its key."""
        paths = self._subcharts.get(self.side.named(file), [()])
        for setting in super().settings(file):
            yield from (setting._replace(path=(*path, *setting.path)) for path in paths)

    def _laid(self, one: PlainFold) -> Laid:
        return laid_of(self.repository, one, policy_named(one.policy))

    def _charts(self, one: PlainFold) -> Sequence[ChartValues]:
        """The charts of a fold of a chart alone; none where it cannot be read, which its own answer says."""
        with suppress(NodeattrsError):
            return self._laid(one).charts if len(one.files) == 1 else ()
        return ()

    @cached_property
    def _subcharts(self) -> Mapping[str, list[Any]]:
        """The values file of a subchart -> the paths below which releases have its values."""
        found: dict[str, list[Any]] = {}
        try:
            folds = self.folds.values()
        except NodeattrsError:  # settings that cannot be read: the subjects say so
            return found
        for one in folds:
            for chart in self._charts(one):
                file = chart.layer.origin.at(()).file or ""
                if chart.path and chart.path not in found.setdefault(file, []):
                    found[file].append(chart.path)
        return found
