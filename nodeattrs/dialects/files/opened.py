"""The folds in one version of the files, for the verbs: the merged values of each, with their lines.

`folds` and `found` decide which files a fold has; this module chooses the fold and merges it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from nodeattrs.contract.answers import Answered, Setting, part_of
from nodeattrs.contract.argument_values import nested_of
from nodeattrs.contract.folder import Folder
from nodeattrs.contract.reading import note_read
from nodeattrs.dialects.common import InRepository
from nodeattrs.dialects.files.charts import CHART
from nodeattrs.dialects.files.compose_variables import uses_of_variables
from nodeattrs.dialects.files.flux import Manifests
from nodeattrs.dialects.files.folds import FoldLayers, fold_named, folded, layers_of_fold
from nodeattrs.dialects.files.found import FoundFold, found_fold, found_folds, policy_for, release_kind, releases_in
from nodeattrs.dialects.files.git_sources import GitSources
from nodeattrs.dialects.files.releases import Release, layers_of_release, settings_of
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import syntax_of
from nodeattrs.formats.layers import with_variables
from nodeattrs.policies import COMPOSE, policy_named
from nodeattrs.policies.helm import ChartValues
from nodeattrs.policies.named import NamedPolicy
from nodeattrs.project.config import FILE, PlainFold, RepositorySettings


class Folds(InRepository):
    """The folds of one version of a folder, and their merged trees.

    If the question names files, they are the only fold. If not, the folds are those in nodeattrs.toml; if it has none,
    they are found in the folder. `subjects` gives their names, and `is_there` says whether there is one. `answer` reads
    and merges the files of a fold, at each call. `settings` yields the paths that a file sets, with their lines.
    `repository` is the folder with its settings. The constructor reads nothing. The folds are looked for once.
    """

    @cached_property
    def _folds(self) -> Mapping[str, FoundFold | None]:
        """All folds by name. Those that are found are kept with the side. raises: DocumentError, for the settings"""
        if self._given:
            return self._given
        if "folds" not in self.side.kept:
            self.side.kept["folds"] = found_folds(self._sources)
        found: Mapping[str, FoundFold | None] = self.side.kept["folds"]
        return found

    @cached_property
    def repository(self) -> Folder:
        """The folder of the side, with the paths that the request calls sensitive.

        Its settings are read at the first use, and kept with the side for all objects.
        """
        note_read(os.path.join(self.side.root, FILE))
        settings = self.side.kept.setdefault("settings", RepositorySettings(self.side.root))
        found = Folder(self.side.root, settings=settings)
        found.also_sensitive = self.request.sensitive
        return found

    @property
    def _sources(self) -> GitSources:
        """The sources of Flux in these files, which all answers share."""
        found: GitSources = self.side.kept.setdefault("git sources", GitSources(self.side.root, self.side.remotes))
        return found

    @cached_property
    def _given(self) -> Mapping[str, PlainFold]:
        """The folds that the question or the settings name; {} for none. raises: DocumentError, for the settings"""
        asked = self.request.options.get("folds", {})
        if asked.get("files"):
            files = tuple(os.path.relpath(file, self.side.root) for file in asked["files"])
            return {" + ".join(asked["files"]): PlainFold(files, asked["policy"] or policy_for(files, self.side.root))}
        return self.repository.config.folds

    @property
    def is_there(self) -> bool:
        """Whether there is a fold. raises: DocumentError, for the settings"""
        return bool(self._folds)

    def subjects(self) -> Iterable[str]:
        """The names of the folds. raises: DocumentError, for the settings"""
        return self._folds

    def answer(self, name: str) -> Answered:
        """Read the files of a fold and merge them: {"value": the tree}.

        raises: FoldNotFound, NoFileFits, DocumentError, MergeConflict
        """
        one = self._given.get(name) or (None if self._given else found_fold(self._sources, name))
        one = one or fold_named(self.repository, name)
        laid = self._laid(one)
        rules = one.rules if isinstance(one, PlainFold) else ()
        tree = folded(laid.layers, _policy_of(one), rules, self.repository.config.sensitive, charts=laid.charts)
        return {"value": part_of(self.with_set(tree))}

    def settings(self, file: str) -> Iterator[Setting]:
        """Yield the paths that a file sets, with their lines; nothing for a file that cannot be read.

        Values of a subchart are below its key. A file of releases yields the values that are written in it. A `.env`
        file also yields the values of Compose projects that depend on it.
        """
        own = self.side.named(file)
        with suppress(NodeattrsError):  # a file that cannot be read sets nothing that is known
            if release_kind(self.side.root, own):
                for one in releases_in(own, Manifests(self._sources)).values():
                    yield from settings_of(one)
                return
        with suppress(NodeattrsError):
            yield from self._uses_of_variables(own) if syntax_of(own) == "env" else ()
        is_of_chart = (self.side.root / own).with_name(CHART).is_file()
        paths = self._subcharts.get(own, [()]) if is_of_chart else [()]
        for setting in super().settings(file):
            yield from (setting._replace(path=(*path, *setting.path)) for path in paths)

    def _uses_of_variables(self, file: str) -> Iterator[Setting]:
        """The values of Compose projects that depend on a `.env` file, with its lines; a note names the value's line.

        Nothing for a project that cannot be read, which its own answer says.
        """
        for one in self._folds.values():
            with suppress(NodeattrsError):
                layers = self._laid(one).layers if isinstance(one, PlainFold) and one.policy == COMPOSE else ()
                for layer in layers:
                    for path, fill in uses_of_variables(layer):
                        note = f"is a variable in {layer.origin.at(path).place}"
                        lines = (cause.origin.line or 1 for cause in fill.used if cause.origin.file == file)
                        yield from (Setting(path, line, note) for line in lines)

    def _laid(self, one: FoundFold) -> FoldLayers:
        if isinstance(one, Release):
            laid = layers_of_release(self.repository, one)
        else:
            laid = layers_of_fold(self.repository, one, _policy_of(one))
        asked = self.request.options.get("folds", {})
        if asked.get("env_prefix"):
            return laid._replace(layers=with_variables(laid.layers, asked["env_prefix"], nested_of(asked)))
        return laid

    def _charts(self, one: FoundFold | None) -> Sequence[ChartValues]:
        """The charts of a fold of a chart alone; none where it cannot be read, which its own answer says."""
        with suppress(NodeattrsError):
            return self._laid(one).charts if isinstance(one, PlainFold) and len(one.files) == 1 else ()
        return ()

    @cached_property
    def _subcharts(self) -> Mapping[str, list[Any]]:
        """The values file of a subchart -> the paths below which releases have its values."""
        found: dict[str, list[Any]] = {}
        try:
            folds = self._folds.values()
        except NodeattrsError:  # settings that cannot be read: the subjects say so
            return found
        for one in folds:
            for chart in self._charts(one):
                file = chart.layer.origin.at(()).file or ""
                if chart.path and chart.path not in found.setdefault(file, []):
                    found[file].append(chart.path)
        return found


def _policy_of(one: FoundFold) -> NamedPolicy:
    return policy_named(one.policy if isinstance(one, PlainFold) else "helm")
