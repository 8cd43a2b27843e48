"""The settings of one call: defaults, nodeattrs.toml, environment variables and options, merged like attributes.

The module finds the repository whose settings count, and keeps the origin of each setting. `project.config` checks the
values.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from nodeattrs import border
from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.sensitive import without_password
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, UnknownField
from nodeattrs.formats.documents import read
from nodeattrs.formats.nearest import is_ours, nearest
from nodeattrs.git import is_tracked
from nodeattrs.project.config import FILE, SETTINGS, Config, RepositorySettings, judged, leads_out, way_out

_VARIABLES = {"repo": "NODEATTRS_REPO", "store": "NODEATTRS_STORE"}
"""Setting of a call -> the environment variable for it; each is also an option of that name."""


@checked_args(options=Mapping, environ=Mapping)
class Settings:
    """The settings of one call, merged from defaults, nodeattrs.toml, environment variables and options.

    An option is the strongest. The constructor finds the repository and reads no file. `folded` reads and merges the
    settings once and keeps them; it raises DocumentError for a wrong one. `traces` yields a trace for each setting.
    `store` is the path or URL of the saved nodes, by default the usual place.
    options:    name -> the value given; None for an option that is not given
    environ:    the environment variables
    repository: the settings of the named repository, else of the nearest one at or above the current folder; None for
                neither
    warnings:   about settings that are probably not meant; complete after `folded` was read
    raises:     NotFound from the constructor, if the named repository does not exist

    A nodeattrs.toml above the current folder that belongs to another user is not used; there is a warning then.
    """

    def __init__(self, options: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._given = [
            ({name: environ[variable] for name, variable in _VARIABLES.items() if environ.get(variable)}, "variable"),
            ({name: options[name] for name in _VARIABLES if options.get(name) is not None}, "option"),
        ]
        self._own_warnings: list[DocumentError] = []
        named = next((given["repo"] for given, _ in reversed(self._given) if "repo" in given), None)
        self._found = None if named is not None else self._upwards(os.getcwd())
        place = self._found if named is None else named
        self.repository = None if place is None else RepositorySettings(place)

    def _upwards(self, start: str) -> str | None:
        folder = nearest(FILE, start)
        if folder is None or folder == start or is_ours(os.path.join(folder, FILE)):
            return None if folder is None else os.path.relpath(folder, start)
        message = "belongs to another user, so it does not count here"
        hint = "name the repository if it is meant: --repo DIR"
        self._own_warnings.append(DocumentError(message, file=os.path.join(folder, FILE), hint=hint))
        return None

    @property
    def warnings(self) -> list[DocumentError]:
        return [*self._own_warnings, *(self.repository.warnings if self.repository else ())]

    @cached_property
    def folded(self) -> Folded:
        """The merged settings with their origins, an option the strongest; kept.

        raises: DocumentError, for a wrong setting
        """
        layers = [Layer({**SETTINGS, "store": self._usual_store}, Origin("default"), "default")]
        if self._found is not None:
            file = os.path.join(self._found, FILE).removeprefix("./")
            layers.append(Layer({"repo": self._found}, Origin("file", FILE, file), "found upwards"))
        if self.repository is not None and (document := self.repository.document) is not None:
            self.repository.config  # noqa: B018  whatever is wrong in it is found
            layers.append(Layer(document.tree, document.locator("settings", ""), FILE))
        for given, kind in self._given:
            names = _VARIABLES if kind == "variable" else {name: f"--{name}" for name in given}
            layers += [Layer({name: value}, Origin(kind, names[name]), kind) for name, value in given.items()]
        return fold(layers, ACROSS)

    @property
    def _usual_store(self) -> str:
        return os.path.normpath(os.path.join(self._found or "", SETTINGS["store"]))

    @property
    def store(self) -> str:
        """The path or URL of the saved nodes: from an option, a variable or nodeattrs.toml, else the usual place.

        A path in nodeattrs.toml counts from its repository.
        raises: DocumentError, for a repository that is not trusted, if it names a server or a place outside of it. Also
                if the store at the usual place came with the repository
        """
        given = [given["store"] for given, _ in self._given if "store" in given]
        if given:
            return str(given[-1])
        named = None if self.repository is None else self.repository.config.store
        place = named or self._usual_store
        if self.repository is None or not named or self.folded.origins("store")[0].kind != "settings":
            self._require_own(place)
            return place
        root = self.repository.root
        if border.in_force() is not None and leads_out(root, place):
            origin = self.folded.origins("store")[0]
            shown, hint = without_password(place), f"--store {place}; {way_out(root)}"
            message = f"store is {shown}, and a repository may name a store inside itself only"
            raise DocumentError(message, file=origin.file, line=origin.line, hint=without_password(hint))
        return place if "://" in place else os.path.join(os.path.relpath(root), place)

    def _require_own(self, place: str) -> None:
        """raises: DocumentError, where the usual store came with the repository, or a link leads out of the
        repository
        """
        if border.in_force() is None:
            return
        hint = f"name it if it is meant: --store {place}"
        if leads_out(pathlib.Path(self._found or os.curdir), os.path.abspath(place)):
            raise DocumentError("a link leads out of the repository, so no store is used there", file=place, hint=hint)
        if os.path.lexists(place) and is_tracked(place):
            message = "is tracked by Git, so it came with the repository and is not read"
            raise DocumentError(message, file=place, hint=hint)

    def traces(self) -> Iterator[Trace]:
        """Yield a trace for each setting, and for each entry of a table; unknown fields are left out.

        raises: DocumentError
        """
        tree = self.folded.value
        ignored = {one.path for one in self.warnings if isinstance(one, UnknownField)}
        for name, value in tree.items():
            for path in [(name, key) for key in value] if isinstance(value, dict) and value else [(name,)]:
                if not ignored & {path, path[:1]}:
                    yield self.folded.trace(path)


def settings_in(file: str, shown: str) -> tuple[Config, Sequence[DocumentError]]:
    """The settings of one nodeattrs.toml, and warnings about it. Chef's own configuration is not read.

    shown:  the name of the file in messages
    raises: DocumentError, also where the file cannot be read
    """
    return judged(read(pathlib.Path(file), shown), pathlib.Path(os.path.dirname(file) or os.curdir))


def sensitive_beside(named: str | None, *places: str | None) -> list[Path]:
    """The sensitive paths in all settings that `settings_beside` finds for the same arguments; [] for none.

    raises: DocumentError
    """
    return [path for one in settings_beside(named, *places) for path in one.sensitive]


def settings_beside(named: str | None, *places: str | None) -> list[Config]:
    """The settings for a command that reads no repository of Chef: one `Config` a nodeattrs.toml, sorted by folder.

    A nodeattrs.toml is looked for in the repository, and at or above the current folder and each place. A file above
    the current folder or a place counts only if the user or root owns it. [] for none.

    named:  the folder of the repository; None: NODEATTRS_REPO
    places: the files and folders that the command reads; None is ignored
    raises: DocumentError
    """
    named = named or os.environ.get("NODEATTRS_REPO")
    folders = {os.path.abspath(named)} if named else set()
    for place in filter(None, (os.curdir, *places)):
        folder = nearest(FILE, place)
        if folder is not None and (folder == os.path.abspath(place) or is_ours(os.path.join(folder, FILE))):
            folders.add(folder)
    files = [os.path.relpath(os.path.join(folder, FILE)) for folder in sorted(folders)]
    return [settings_in(file, file)[0] for file in files if os.path.lexists(file)]
