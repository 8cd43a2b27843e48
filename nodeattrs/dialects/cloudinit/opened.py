"""The sets of user-data in one version of the files, for the verbs. A set is the user-data of one kind of machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.contract.answers import Answered, part_of
from nodeattrs.contract.reading import unnoted
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.cloudinit.checking import configs_in
from nodeattrs.dialects.cloudinit.inputs import choose_machine, given_in, joined_profiles, seed_data
from nodeattrs.dialects.cloudinit.layers import merge_layers, read_confd
from nodeattrs.dialects.cloudinit.merged import masked
from nodeattrs.dialects.cloudinit.reports import faults_of
from nodeattrs.dialects.cloudinit.secrets import guarded
from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of, unpack
from nodeattrs.dialects.cloudinit.userdata import merge
from nodeattrs.dialects.common import InRepository
from nodeattrs.errors import BadArgument
from nodeattrs.reports.findings import Finding


class UserData(InRepository):
    """The sets of user-data in one version of a repository. A set is a section of its settings, or a folder with a file
    `user-data`. Without sections, each other file that begins with `#cloud-config` is a set, too.

    A set of a folder has the name of the folder, "." for the root. A section of the same name replaces the set. A set
    of one file has its path as name. A template of another program is no set.
    The constructor reads nothing. `subjects` lists the names; they are looked up once. `is_there` says whether there is
    a set. `answer` reads and merges the files of one set, at each call; it raises BadArgument for an unknown name.
    `warnings` has the failed parts of the sets that were answered. `leaves_out` says whether a file is a template of
    another program.
    """

    @cached_property
    def _sets(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Name of a set -> "files", "vendor" or "confd" -> its files. raises: DocumentError"""
        found = dict(self.repository.config.cloud_init)
        for place in sorted(one for one in self.side.files if one.endswith("user-data")):
            folder, _, file = self.side.named(place).rpartition("/")
            if file == "user-data" and not folder.startswith(os.pardir):
                vendor = f"{folder}/vendor-data".lstrip("/")
                given = {"vendor": (vendor,)} if (self.side.root / vendor).exists() else {}
                found.setdefault(folder or ".", {"files": (f"{folder}/user-data".lstrip("/"),), **given})
        taken = {file for one in found.values() for some in one.values() for file in some}
        return found | {
            file: {"files": (file,)} for file, is_read in self._configs.items() if is_read and file not in taken
        }

    @cached_property
    def _configs(self) -> Mapping[str, bool]:
        """The files that begin with `#cloud-config`, as `configs_in` gives them; {} if the settings name sets.

        The search is not noted as read: an answer does not depend on the files that it only looks at.
        """
        if self.repository.config.cloud_init:
            return {}
        with unnoted():
            found = configs_in(self.side.root)
        return {file: is_read for file, is_read in found.items() if self.side.shown(file) in self.side.files}

    def leaves_out(self, file: str) -> bool:
        """Whether a file is user-data as a template of another program; False where the settings name sets."""
        return self._configs.get(self.side.named(file)) is False

    @property
    def is_there(self) -> bool:
        """Whether the repository has a set of user-data."""
        return bool(self._sets)

    def subjects(self) -> Iterable[str]:
        """The names of the sets of user-data."""
        return self._sets

    def answer(self, name: str) -> Answered:
        """Read and merge the files of a set: {"value": the config with its traces}, with secrets withheld.

        A file outside of the repository is an unknown layer. If the set is a folder with `user-data`, the meta-data in
        the folder are the variables of templates.

        raises: BadArgument, for an unknown name; CloudConfigError, for a file that cannot be read or unpacked
        """
        if name not in self._sets:
            raise BadArgument(
                f"there is no set {name}", hint=f"[cloud-init.{name}] with files = [...] in nodeattrs.toml"
            )
        files = {word: [self.side.root / one for one in some] for word, some in self._sets[name].items()}
        user = files.get("files", [])
        data = seed_data(user[0].parent) if [one.name for one in user] == ["user-data"] else None
        given: dict[str, Any] = {}
        if files.get("vendor"):
            given["vendor"] = merge(list(map(self._blob, files["vendor"])), instance_data=data)
        if files.get("confd"):
            given["confd"] = read_confd(files["confd"][0])
        merged = merge(unpack(self._given(user)), instance_data=data)
        self.warnings += [fault for one in (given.get("vendor"), merged) if one is not None for fault in faults_of(one)]
        whole = merge_layers(user=merged, **given) if given else merged
        paths = self.repository.config.sensitive
        values = guarded((), part_of(self.with_set(whole)).tree, Sensitive, paths)
        return {"value": part_of(self.with_set(masked(whole, paths)))._replace(tree=values)}

    @cached_property
    def warnings(self) -> list[Finding]:
        """A finding for each part that was rejected or failed, in the sets that were answered so far."""
        return []

    def _given(self, files: Iterable[Path]) -> list[Blob | Layer]:
        """The blobs of user-data in files; an unknown layer for a file that cannot be read. raises: CloudConfigError"""
        given: list[Blob | Layer] = []
        for is_outside, some in groupby(files, border.is_layer_outside):
            if is_outside:
                given += map(self._outside, some)
                continue
            for one in joined_profiles(choose_machine(given_in(self._blob(file))) for file in some):
                given += one.sources
        return given

    def _outside(self, file: Path) -> Layer:
        shown = self.repository.shown(file)
        return Layer.unknown(shown, Origin("file", "", shown), border.REASON)

    def _blob(self, file: Path) -> Blob:
        """A file as a Blob, with its path as it is shown."""
        blob = blob_of(file)
        blob.file = self.repository.shown(file)
        return blob
