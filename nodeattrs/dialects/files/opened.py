"""One version of the files of named folds, and of charts, releases and Compose files that are found."""

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
from nodeattrs.dialects.files.found import Found, found_folds, found_named, kind_of, policy_for, releases_in
from nodeattrs.dialects.files.releases import Release, laid_release, settings_of
from nodeattrs.errors import NodeattrsError
from nodeattrs.policies import policy_named
from nodeattrs.policies.helm import ChartValues
from nodeattrs.policies.named import NamedPolicy
from nodeattrs.project.config import PlainFold


class Folds(InRepository):
    """Plain folds that nodeattrs.toml names; where it names none, those that are found."""

    @cached_property
    def folds(self) -> Mapping[str, Found | None]:
        """The folds by name: the files of the question, if it names some. raises: DocumentError, for the settings"""
        return self._given or found_folds(self.side.root)

    @cached_property
    def _given(self) -> Mapping[str, PlainFold]:
        """The folds that the question or the settings name. raises: DocumentError, for the settings"""
        asked = self.request.options.get("folds", {})
        if asked.get("files"):
            files = tuple(os.path.relpath(file, self.side.root) for file in asked["files"])
            return {" + ".join(asked["files"]): PlainFold(files, asked["policy"] or policy_for(files, self.side.root))}
        return self.repository.config.folds

    @property
    def is_there(self) -> bool:
        """Whether the settings name a fold, or one was found."""
        return bool(self.folds)

    def subjects(self) -> Iterable[str]:
        """The names of the folds."""
        return self.folds

    def answer(self, name: str) -> Answered:
        """The merged tree of a fold; `unread` has what was left out. raises: FoldNotFound, DocumentError"""
        one = self._given.get(name) or (None if self._given else found_named(self.side.root, name))
        one = one or fold_named(self.repository, name)
        laid = self._laid(one)
        rules = one.rules if isinstance(one, PlainFold) else ()
        tree = folded(laid.layers, _policy_of(one), rules, self.repository.config.sensitive, charts=laid.charts)
        self.unread = [*left_out(tree, _policy_of(one).name)]
        return {"value": part_of(self.with_set(tree))}

    def settings(self, file: str) -> Iterator[Setting]:
        """The paths that a file sets; a subchart's values are below its key."""
        own = self.side.named(file)
        with suppress(NodeattrsError):  # a file that cannot be read sets nothing that is known
            if kind_of(self.side.root, own):
                yield from (each for one in releases_in(self.side.root, own).values() for each in settings_of(one))
                return
        paths = self._subcharts.get(own, [()])
        for setting in super().settings(file):
            yield from (setting._replace(path=(*path, *setting.path)) for path in paths)

    def _laid(self, one: Found) -> Laid:
        if isinstance(one, Release):
            return laid_release(self.repository, one, _policy_of(one))
        return laid_of(self.repository, one, _policy_of(one))

    def _charts(self, one: Found | None) -> Sequence[ChartValues]:
        """The charts of a fold of a chart alone; none where it cannot be read, which its own answer says."""
        with suppress(NodeattrsError):
            return self._laid(one).charts if isinstance(one, PlainFold) and len(one.files) == 1 else ()
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


def _policy_of(one: Found) -> NamedPolicy:
    return policy_named(one.policy if isinstance(one, PlainFold) else "helm")
