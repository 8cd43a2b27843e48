"""Load the layers of a Hiera tree on disk: find hiera.yaml files, modules and data files, and read each once.

A *layer* is a hiera.yaml: of the global layer, of an environment, or of a module. A loaded tree belongs to no node and
looks up nothing. A file is read when it is first needed; its content, or that it is absent, is kept until `forget()`.
Threads may share a tree.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, TypeVar

from nodeattrs import border, packages
from nodeattrs.core.borders import A_PATH, ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import NOT_RUN, may_run
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, copied, dig, hint_for, is_word
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera import control, eyaml
from nodeattrs.dialects.hiera.codes import DATA_FUNCTION_FAILED, NO_DATA_FILES, UNKNOWN_DATA_FUNCTION
from nodeattrs.dialects.hiera.config import BUILT_IN, NOT_INSTALLED, URIS, HieraConfig, HierarchyEntry, read_config
from nodeattrs.dialects.hiera.data import SKIPPED, DataFile, DataSource, FunctionData, file_source, unread_source
from nodeattrs.dialects.hiera.errors import BadData
from nodeattrs.dialects.hiera.ruby_functions import RubyData, RubyFunctions
from nodeattrs.errors import BadArgument, BadName, DocumentError, EnvironmentNotFound, NodeattrsError
from nodeattrs.formats.nearest import absent_submodules, nearest

_NAME = re.compile("[A-Za-z0-9_]+")
_MARK = re.compile(r"[*?\[{%]")
"""The first sign of a wildcard or an expression."""
_SYNTAX: dict[str, Literal["yaml", "json"]] = {
    "yaml_data": "yaml",
    "json_data": "json",
    "eyaml_lookup_key": "yaml",
}
PUPPET_VERSIONS = (7, 8)
"""The versions of Puppet whose rules are known; OpenVox 8 and 9 follow Puppet 8."""
DEFAULT_VERSION = 8
_UNREAD: Any = object()
_Read = TypeVar("_Read")

ENDINGS = (".yaml", ".yml", ".json", ".eyaml")
"""The usual endings of data files."""


class LoadedTree:
    """The base of `Hiera`: finds the hiera.yaml files and data files of a tree, and keeps what was read.

    `Hiera` describes the arguments of the constructor, which reads only puppet.conf. Each method reads the files that
    it needs, once; `forget` drops them.
    `global_layer`, `environment_layer` and `module_layer` return a HieraConfig, or None without a hiera.yaml. `configs`
    lists the layers of an environment. `environments` and `modules` list names of folders; [] for none. `modulepath`
    lists the folders of modules; `module_folder` returns one, or None. `source` returns the data at one location, or
    None for an absent file. `data_entries` finds all data files of an environment, and `data_files` reads them.
    `who_has` returns the line of a key in each data file. `check` reads all data files, each once, and returns (their
    number, the errors).
    sensitive:      a function that makes a secret of a value, for `convert_to: Sensitive`
    documented:     False: strategies do what Puppet does. True: they do what its documentation says; the two differ in
                    a few cases
    is_strict:      whether warnings and levels that cannot be read are errors
    puppet_version: 7 or 8
    runs_ruby:      whether data functions in Ruby are run
    skip_levels:    the names of levels to leave out
    skipped:        those names in skip_levels for which a level was found so far
    lacking:        (file, line) of a level whose data function does not exist here -> the error for it
    shapes, named:  caches of `BaseScope.look`
    """

    @checked_args(
        config=A_PATH | None,
        environmentpath=A_PATH | None,
        global_config=A_PATH | None,
        modulepath=ListLike,
        basemodulepath=ListLike,
        puppet_conf=A_PATH | None,
        skip_levels=ListLike,
        sensitive_paths=ListLike,
    )
    def __init__(
        self,
        config: str | os.PathLike[str] | None = None,
        *,
        environmentpath: str | os.PathLike[str] | None = None,
        global_config: str | os.PathLike[str] | None = None,
        modulepath: Iterable[str | os.PathLike[str]] = (),
        basemodulepath: Iterable[str | os.PathLike[str]] = (),
        puppet_conf: str | os.PathLike[str] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        decrypt: Callable[[str], str] | bool = False,
        root: str | os.PathLike[str] | None = None,
        sensitive: Callable[[Any], Any] = Sensitive,
        documented: bool = False,
        strict: bool = False,
        skip_levels: Iterable[str] = (),
        sensitive_paths: Iterable[Path] = (),
        puppet_version: int = DEFAULT_VERSION,
        ruby: bool = False,
    ) -> None:
        if puppet_version not in PUPPET_VERSIONS:
            raise BadArgument(f"{puppet_version!r} is no version of Puppet that is known here", hint="it is 7 or 8")
        if config is not None and environmentpath is not None:
            raise BadArgument("both config and environmentpath", hint="an environment layer comes from one of them")
        self._basemodulepath = [pathlib.Path(path) for path in basemodulepath]
        self._settings: Mapping[str, str] = {}
        if puppet_conf is not None:
            conf = control.puppet_conf(pathlib.Path(puppet_conf))
            environmentpath = environmentpath or (None if config else conf.environmentpath)
            global_config = global_config or conf.hiera_config
            self._basemodulepath = self._basemodulepath or [*conf.basemodulepath]
            self._settings = conf.known
        if config is None and environmentpath is None and global_config is None:
            raise BadArgument("no hiera.yaml is named", hint="pass config='hiera.yaml', or environmentpath")
        self._config, environmentpath = _environment_layer(config, environmentpath)
        self._environments = [pathlib.Path(path) for path in os.fspath(environmentpath or "").split(os.pathsep) if path]
        self._global = None if global_config is None else pathlib.Path(global_config)
        self._modulepath = [pathlib.Path(path) for path in modulepath]
        self._functions = dict(functions or {})
        self._decrypt = decrypt
        self._root = None if root is None else os.path.normpath(root)
        self.sensitive = sensitive
        self.documented = documented
        self.is_strict = strict
        self.puppet_version = puppet_version
        self.runs_ruby = ruby
        self.skip_levels = frozenset(skip_levels)
        self._sensitive_paths = tuple(sensitive_paths)
        self.forget()

    def forget(self) -> None:
        """Forget all files that were read, and the warnings about them; scopes made before keep what they resolved."""
        self._read: dict[tuple[str, ...], Any] = {}
        self._sources: dict[tuple[str, str, str], DataSource | None] = {}
        self.shapes: dict[Hashable, tuple[int, ...]] = {}
        self.named: dict[tuple[int, int], tuple[HieraConfig, HierarchyEntry, list[Path]]] = {}
        self._warnings: dict[str, DocumentError] = {}
        self.skipped: set[str] = set()
        self.lacking: dict[tuple[str | None, int | None], BadData] = {}
        strict = "error" if self.puppet_version >= DEFAULT_VERSION else "warning"
        self._ruby = RubyFunctions(pathlib.Path(self._root or "."), strict)

    def _read_once(self, key: tuple[str, ...], read: Callable[[], _Read]) -> _Read:
        """The result of *read* at the first call with a key, kept until `forget()`."""
        found: _Read = self._read.get(key, _UNREAD)
        return self._read.setdefault(key, read()) if found is _UNREAD else found

    @property
    def warnings(self) -> list[DocumentError]:
        """The warnings about all files that were read so far, each once; [] for none. A new list for each call."""
        files = [source for source in self._sources.values() if isinstance(source, DataFile)]
        return [*self._warnings.values(), *(warning for file in files for warning in file.warnings)]

    # --- layers

    def global_layer(self) -> HieraConfig | None:
        """The global layer; None if no file was named. A file that does not exist gives a built-in layer."""
        return self._read_once(("global",), self._read_global)

    def environment_layer(self, environment: str) -> HieraConfig | None:
        """The layer of an environment; None where it has no hiera.yaml.

        raises: EnvironmentNotFound, BadName, BadData
        """
        return self._read_once(("environment", environment), partial(self._read_environment, environment))

    def module_layer(self, environment: str, module: str) -> HieraConfig | None:
        """The layer of a module; None if there is no such module, or if it has no hiera.yaml.

        A module that is not here, and that the Puppetfile or .gitmodules names, gives a layer with one level, which
        cannot be read.
        """
        return self._read_once(("module", environment, module), partial(self._read_module, environment, module))

    def _read_global(self) -> HieraConfig | None:
        if self._global is None:
            return None
        return self._read_config(self._global, "global") or HieraConfig(
            None, self._global.parent, BUILT_IN, built_in=True
        )

    def _folder(self, environment: str) -> pathlib.Path | None:
        if self._config is not None:
            return self._config.parent
        if not self._environments:
            return None
        if not (is_word(environment) or _NAME.fullmatch(environment)):
            raise BadName(f"{environment!r} is not a name of an environment", hint="letters, digits and _ only")
        for folder in self._environments:
            if os.path.isdir(folder / environment):
                return folder / environment
        names = self.environments()
        if not names:
            searched = ", ".join(self.shown(str(one)) for one in self._environments)
            raise EnvironmentNotFound(f"there is no hiera.yaml, and {searched} has no folder of an environment",
                                      hint="name a hiera.yaml, or a folder with one: --hiera PLACE")  # fmt: skip
        hint = hint_for(environment, names) or f"there are: {', '.join(names) or 'none'}"
        raise EnvironmentNotFound(f"there is no environment {environment!r}", hint=hint)

    def environments(self) -> list[str]:
        """The names of the folders in environmentpath, sorted; [] where one hiera.yaml serves all environments."""
        return sorted(_folders_in(self._environments))

    def _read_environment(self, environment: str) -> HieraConfig | None:
        folder = self._folder(environment)
        if folder is None:
            return None
        file = self._config or folder / "hiera.yaml"
        found = self._read_config(file, "environment")
        if found is None and self._config is not None and not file.exists():
            hint = "modules, and a global layer, may have some"
            self._warn(BadData("is not there: the environment layer has no data", kind=NO_DATA_FILES,
                              file=self.shown(str(file)), hint=hint))  # fmt: skip
        return found

    def _read_module(self, environment: str, module: str) -> HieraConfig | None:
        folder = self.module_folder(environment, module)
        found = None if folder is None else self._read_config(folder / "hiera.yaml", "module")
        return found or self._not_installed(environment, module)

    def _not_installed(self, environment: str, module: str) -> HieraConfig | None:
        """A layer of one level that cannot be read, for a module that is not here; None for other modules.

        The Puppetfile names it, or a submodule of Git has its folder.
        """
        folder = self._folder(environment)
        if folder is None:
            return None
        places = (self._fetched_from(one / module, environment) for one in self.modulepath(environment))
        place = next(filter(None, places), None)
        if place is None:
            return None
        entry = HierarchyEntry(f"module {module}", NOT_INSTALLED, module, None, (), "", line=place.line)
        return HieraConfig(place.file, folder, (entry,))

    def _submodules(self, environment: str) -> Mapping[str, Origin]:
        """Absolute folder -> its line in .gitmodules, for each submodule of Git that is not checked out."""
        return self._read_once(("submodules", environment), partial(self._read_submodules, environment))

    def _read_submodules(self, environment: str) -> dict[str, Origin]:
        folder = self._folder(environment)
        above = None if folder is None else nearest(".gitmodules", folder)
        if folder is None or above is None or border.is_layer_outside(os.path.join(above, ".gitmodules")):
            return {}
        shown = self.shown(os.path.join(folder, os.path.relpath(above, folder), ".gitmodules"))
        found = absent_submodules(pathlib.Path(above))
        return {os.path.join(above, one): Origin("submodule", one, shown, line) for one, line in found.items()}

    def _fetched_from(self, path: str | os.PathLike[str], environment: str) -> Origin | None:
        """The line that says what brings a file or folder, if that is not here; None for any other path.

        It is in the Puppetfile, for a module that is not installed, or in .gitmodules.
        """
        whole = os.path.abspath(path)
        for folder, origin in self._submodules(environment).items():
            if whole == folder or whole.startswith(folder + os.sep):
                return origin
        named = self._named_modules(environment)
        for above in self.modulepath(environment) if named else ():
            module = os.path.relpath(whole, above).split(os.sep)[0]
            if module in named and self.module_folder(environment, module) is None:
                file = (self._folder(environment) or above) / "Puppetfile"
                return Origin("module", module, self.shown(str(file)), named[module])
        return None

    def _named_modules(self, environment: str) -> Mapping[str, int]:
        """Module -> its line in the Puppetfile; {} without one, or without a folder of the environment."""
        folder = self._folder(environment)
        if folder is None:
            return {}
        file = folder / "Puppetfile"
        read = partial(control.named_modules, file, self.shown(str(file)), self._warn)
        return self._read_once(("Puppetfile", environment), read)

    def lacks_modules(self, environment: str) -> bool:
        """Whether the Puppetfile of an environment names a module that is not installed."""
        return any(self.module_folder(environment, one) is None for one in self._named_modules(environment))

    def lacks_submodule(self, folder: str, environment: str) -> bool:
        """Whether an absolute path is the folder of a submodule of Git that is not checked out."""
        return folder in self._submodules(environment)

    def modulepath(self, environment: str) -> list[pathlib.Path]:
        """The folders with the modules of an environment, whether they are there or not. raises: BadData"""
        return self._read_once(("modulepath", environment), partial(self._read_modulepath, environment))

    def _read_modulepath(self, environment: str) -> list[pathlib.Path]:
        found, folder = self._basemodulepath, self._folder(environment)
        if folder is not None:
            name = self.shown(str(folder / control.ENVIRONMENT_CONF))
            known = {**self._settings, "environment": environment}
            found = control.modulepath(folder, name, found, known, self._warn)
        return [*found, *self._modulepath]

    def module_folder(self, environment: str, module: str) -> pathlib.Path | None:
        """The first folder of a module on the modulepath; None if there is none, or if *module* cannot be a name.

        raises: BadData, for a faulty environment.conf; EnvironmentNotFound
        """
        if not (is_word(module) or _NAME.fullmatch(module)):
            return None
        for folder in self.modulepath(environment):
            if os.path.isdir(folder / module):
                return folder / module
        return None

    def modules(self, environment: str) -> list[str]:
        """The names of the folders on the modulepath of an environment, sorted; [] for none.

        raises: BadData, for a faulty environment.conf; EnvironmentNotFound
        """
        return sorted(_folders_in(self.modulepath(environment)))

    def _read_config(self, path: pathlib.Path, layer: str) -> HieraConfig | None:
        try:
            codedir = self._settings.get("codedir")
            return read_config(path, self.shown(str(path)), layer, self._warn, self._refuse, codedir)
        except FileNotFoundError:
            return None

    # --- sources

    def _warn(self, warning: DocumentError) -> None:
        """Keep a warning; in strict mode raise it."""
        if self.is_strict:
            raise warning
        self._warnings.setdefault(str(warning), warning)

    def _refuse(self, fault: DocumentError) -> None:
        """Raise a fault for which Puppet 8 ends every lookup; under version 7 keep it as a warning."""
        if self.puppet_version >= DEFAULT_VERSION:
            fault.details = (*fault.details, "Puppet 8 ends every lookup here; --puppet-version 7 goes on")
            raise fault
        self._warn(fault)

    def warn_of_no_files(self, config: HieraConfig) -> None:
        """Warn that no file of a hierarchy exists, with the datadirs that are missing. raises: BadData, if strict"""
        folders = dict.fromkeys(fixed_folder(config, entry) for entry in config.entries if entry.location not in URIS)
        details = [f"there is no folder {self.shown(folder)}" for folder in folders if not os.path.isdir(folder)]
        hint = "`nodeattrs hiera variables` says what its paths need"
        self._warn(BadData("not one file of its hierarchy is there", kind=NO_DATA_FILES, file=config.file,
                          hint=hint, details=details))  # fmt: skip

    def shown(self, path: str) -> str:
        """A path as messages show it: normalized, with forward slashes. The file need not exist.

        A path below the constructor's *root* becomes relative to it. Any other path, *root* itself too, stays whole.
        """
        path = os.path.normpath(path)
        if self._root is not None and path.startswith(self._root + os.sep):
            path = path[len(self._root) + 1 :]
        return path.replace(os.sep, "/")

    def source(
        self,
        entry: HierarchyEntry,
        path: str | None,
        options: Mapping[str, Any],
        file: str | None,
        environment: str = "",
    ) -> DataSource | None:
        """The data source for one location of an entry, read at the first call; None where there is no such file.

        A skipped level gives SKIPPED; a level that cannot be read gives a source whose values are `Unknown`.
        path:        the file or URI; None for a data function without locations
        options:     of the entry, filled in
        file:        the hiera.yaml, for messages
        environment: where a data function of the control repository is looked for
        raises:      BadData, for a file that cannot be read as data, or a misspelt data function
        """
        if entry.name in self.skip_levels:
            self.skipped.add(entry.name)
            return SKIPPED
        is_file = path is not None and entry.location not in URIS
        path = os.path.normpath(path) if path is not None and is_file else path
        syntax = _SYNTAX.get(entry.function) if entry.function not in self._functions else None
        keys = options if syntax is not None and entry.function == "eyaml_lookup_key" else None
        used = ""  # what the data depends on beside its path
        if keys:
            used = repr((options, file))
        elif syntax is None:
            used = repr((options, entry.kind, entry.name, file, environment))
        key = (path or "", entry.function, used)
        found: DataSource | None = self._sources.get(key, _UNREAD)
        if found is not _UNREAD:
            return found
        made: DataSource | None
        if entry.kind == NOT_INSTALLED:
            made = unread_source(entry.name, "it is named there and not installed")
        elif is_file and path is not None and border.is_layer_outside(path):
            made = unread_source(entry.name, f"{self.shown(path)} {border.REASON}")
        elif syntax is not None and is_file and path is not None:
            decrypt = None if keys is None else self._decryption(keys, file)
            made = file_source(
                pathlib.Path(path), self.shown(path), syntax, decrypt, self._refuse, self._sensitive_paths
            )
        else:
            given = {} if path is None else {"path" if is_file else "uri": path}
            made = self._function_source(entry, {**options, **given}, file, environment)
        if made is None and is_file and path is not None:
            made = self.fetched_source(entry.name, path, environment)
        return self._sources.setdefault(key, made)

    def absent_folder(self, level: str, folder: str) -> FunctionData:
        """The source of a level whose datadir lies outside of the repository and does not exist on this machine."""
        reason = f"there is no folder {self.shown(folder)} here, and it {border.REASON}"
        return self._read_once(("absent", level, folder), partial(unread_source, level, reason))

    def fetched_source(self, level: str, path: str, environment: str) -> FunctionData | None:
        """The source of a level whose file or folder a module or submodule brings that is not here; else None."""
        origin = self._fetched_from(path, environment) if environment else None
        if origin is None:
            return None
        reason = f"{self.shown(path)} is of the {origin.who}, which is not here ({origin.place})"
        return self._read_once(("fetched", level, path), partial(unread_source, level, reason))

    def fetched_globs(self, config: HieraConfig, entry: HierarchyEntry, environment: str) -> FunctionData | None:
        """The source of `fetched_source` for a level of globs that match no file; None for any other level."""
        if entry.location not in ("glob", "globs"):
            return None
        whole = (os.path.join(config.folder, entry.datadir, one) for one in entry.templates)
        folders = (os.path.dirname(_MARK.split(one, maxsplit=1)[0]) for one in whole)
        return next(filter(None, (self.fetched_source(entry.name, one, environment) for one in folders)), None)

    def _decryption(self, options: Mapping[str, Any], file: str | None) -> Callable[[Any], Any]:
        """The function that decrypts the values of a level: with the given keys, or those that its options name.

        Without any it leaves the values `Encrypted`.
        """
        decrypt: Callable[[str], str] = eyaml.keep_encrypted
        if callable(self._decrypt):
            decrypt = self._decrypt
        elif self._decrypt:
            decrypt = eyaml.pkcs7_of(options, pathlib.Path(self._root or "", file or "").parent)
        return partial(eyaml.decrypted, decrypt=decrypt)

    def _own_function(self, name: str, environment: str) -> pathlib.Path | None:
        """The file of a data function in Ruby in a module or the environment; None where it has none."""
        steps = name.split("::")
        if not environment or not all(_NAME.fullmatch(step) for step in steps):
            return None
        is_of_module = len(steps) > 1 and steps[0] != "environment"
        folder = self.module_folder(environment, steps[0]) if is_of_module else self._folder(environment)
        file = None if folder is None else folder.joinpath("lib", "puppet", "functions", *steps).with_suffix(".rb")
        return file if file is not None and file.is_file() and not border.is_outside(str(file)) else None

    def _function_source(
        self, entry: HierarchyEntry, options: dict[str, Any], file: str | None, environment: str
    ) -> DataSource | None:
        failed = partial(_failed, entry, file)
        try:
            function = self._functions.get(entry.function) or _installed(entry.function)
        except Exception as error:
            raise failed(error, "cannot be loaded") from error
        is_foreign = function is None and entry.kind in _CALLS
        own = self._own_function(entry.function, environment) if is_foreign else None
        is_run = own is not None and self.runs_ruby
        stand_in = self._unread(entry, file, own) if function is None and not is_run else None
        if "path" in options and not os.path.exists(options["path"]):
            return None
        if own is not None and is_run:
            return RubyData(self._ruby, entry, own, environment, options, failed, self._sensitive_paths)
        if function is None:
            return stand_in
        if entry.kind == "data_hash":
            try:
                data = _data_hash_reader(function(options))
            except NodeattrsError:
                raise
            except Exception as error:
                raise failed(error) from error
            return FunctionData(entry.function, data, self._sensitive_paths)

        def ask(key: str) -> Any:
            try:
                return _known(function([key] if entry.kind == "data_dig" else key, options))
            except (KeyError, RecursionError, NodeattrsError):
                raise
            except Exception as error:
                raise failed(error, key=key) from error

        return FunctionData(entry.function, ask, self._sensitive_paths)

    def _unread(self, entry: HierarchyEntry, file: str | None, own: pathlib.Path | None) -> FunctionData:
        """The source of a level whose data function cannot be called here; also noted in `lacking`.

        own:    the file of the function, if it is Ruby of the control repository; None for other functions
        raises: BadData, if the name of the function is nearly the name of a known one
        """
        fault = BadData(
            f"the entry {entry.name!r} names the data function {entry.function!r}, which does not exist here",
            kind=UNKNOWN_DATA_FUNCTION,
            file=file,
            line=entry.line,
            hint=_NOT_READ.get(entry.function if entry.function in _NOT_READ else entry.kind, _OFFER),
        )
        if own is not None:
            reason = f"its data function is {self.shown(str(own))}, which was not run"
            fault.message = f"the entry {entry.name!r} cannot be read: {reason}"
            fault.hint = "--ruby runs it"
            self.lacking[file, entry.line] = fault
            return unread_source(entry.name, reason)
        close = get_close_matches(entry.function, [*_SYNTAX, *self._functions], 1, 0.85)
        if close and entry.kind in _CALLS:
            fault.hint = f"did you mean {close[0]}?"
            raise fault
        self.lacking[file, entry.line] = fault
        return unread_source(entry.name, f"its data function {entry.function!r} does not exist here")

    # --- the tree as a whole

    def data_files(self, environment: str) -> Iterator[DataFile]:
        """Yield every data file below the datadirs of an environment, of its modules and of the global layer.

        Each is read, whether a node needs it or not: *.yaml, *.yml, *.json, *.eyaml. A datadir with variables is
        searched from its last folder without one. raises: BadData
        """
        found = (self.source(entry, entry.name, {}, None) for entry in self.data_entries(environment))
        yield from (source for source in found if isinstance(source, DataFile))

    def check(self) -> tuple[int, list[NodeattrsError]]:
        """Read every data file of every environment. Returns (the number of files, the errors); (0, []) for no files.

        A file that several environments share is read and counted once. Without folders of environments, the
        environment is "production". An environment whose files cannot be listed gives one error, and its files are not
        counted. Faults that do not stop reading are in `warnings` afterwards.
        """
        files: set[str] = set()
        faults: list[NodeattrsError] = []
        for environment in self.environments() or ["production"]:
            try:
                entries = [one for one in self.data_entries(environment) if one.name not in files]
            except NodeattrsError as error:
                faults.append(error)
                continue
            files.update(entry.name for entry in entries)
            for entry in entries:
                try:
                    self.source(entry, entry.name, {}, None)
                except NodeattrsError as error:
                    faults.append(error)
        return len(files), faults

    def data_entries(self, environment: str) -> Iterator[HierarchyEntry]:
        """Yield an entry for each data file below the datadirs of an environment; no data file is opened.

        A file below two datadirs comes once. The name and the only path of an entry are the path of the file.
        """
        seen: set[str] = set()
        for config in self.configs(environment):
            for folder in dict.fromkeys(
                fixed_folder(config, entry) for entry in (*config.entries, *(config.defaults or ()))
            ):
                for path in sorted(_files_below(folder)):
                    if path not in seen:
                        seen.add(path)
                        function = "json_data" if path.endswith(".json") else "yaml_data"
                        yield HierarchyEntry(path, "data_hash", function, "path", (path,), "")

    def configs(self, environment: str) -> list[HieraConfig]:
        """The layers of an environment: global, environment, and each of its modules with a hiera.yaml; [] for none.

        raises: EnvironmentNotFound, BadName, BadData
        """
        found = [self.global_layer(), self.environment_layer(environment)]
        found += [self.module_layer(environment, module) for module in self.modules(environment)]
        return [one for one in found if one is not None and not any(e.kind == NOT_INSTALLED for e in one.entries)]

    def who_has(self, key: str, environment: str = "production", below: Path = ()) -> list[Origin]:
        """The line of *key* in each data file that has it, whether a node reads that file or not; [] for none.

        below: a path in its value, which a file must have
        cost:  reads all files
        """
        return [
            file.locator(key, "").at(below)
            for file in self.data_files(environment)
            if dig(file.tree.get(key, ABSENT), below) is not ABSENT
        ]


def _environment_layer(
    config: str | os.PathLike[str] | None, environmentpath: str | os.PathLike[str] | None
) -> tuple[pathlib.Path | None, str | os.PathLike[str] | None]:
    """The hiera.yaml of all environments, or the path of folders with environments. raises: BadArgument"""
    if config is None:
        return None, environmentpath
    place = pathlib.Path(config)
    if has_environments(place):
        return None, place / "environments"
    if not place.is_dir() and not place.is_file():
        raise BadArgument(f"there is no {place}", hint="name a hiera.yaml, or a folder with one")
    return (place / "hiera.yaml" if place.is_dir() else place), None


def has_environments(folder: pathlib.Path) -> bool:
    """Whether a folder has a folder `environments`, and neither hiera.yaml nor environment.conf beside it."""
    is_one = any((folder / name).exists() for name in ("hiera.yaml", "environment.conf"))
    return not is_one and (folder / "environments").is_dir()


def _folders_in(folders: Iterable[pathlib.Path]) -> set[str]:
    """The names of the folders in some folders; a folder that cannot be read has none."""
    found: set[str] = set()
    for folder in folders:
        with suppress(OSError):
            found |= {one.name for one in folder.iterdir() if one.is_dir() and _NAME.fullmatch(one.name)}
    return found


def _data_hash_reader(data: Any) -> Callable[[str], Any]:
    """A function from a key to its value in a data_hash. If *data* is an Unknown, it returns that for each key."""
    if type(data) is Unknown:
        return lambda key: data
    entries = dict(data)
    unknown = {key: entry for key, entry in entries.items() if type(entry) is Unknown}
    return {**copied({key: entry for key, entry in entries.items() if key not in unknown}), **unknown}.__getitem__


def _known(value: Any) -> Any:
    return value if type(value) is Unknown else copied(value)


def _installed(name: str) -> Callable[..., Any] | None:
    point = next((point for point in packages.entry_points("nodeattrs.hiera") if point.name == name), None)
    if point is None:
        return None
    if not may_run():
        unknown = Unknown(name, f"{point.value} {NOT_RUN}")
        return lambda *_: unknown
    function: Callable[..., Any] = point.load()
    return function


_OFFER = (
    "a package may offer it (entry point nodeattrs.hiera), or functions={'name': callable} in Python; "
    "or leave the level out (--skip-level, skip_levels)"
)
_NOT_READ = {
    "hocon_data": "HOCON is not read here; write the data as YAML or JSON",
    "hiera3_backend": "backends of version 3 need Ruby; write the data as YAML, or a data function of your own",
    "v4_data_hash": "write data_hash with a data function",
}

_CALLS = {
    "data_hash": "a data_hash gets the options and gives a map",
    "lookup_key": "a lookup_key gets a key and the options, and raises KeyError where it has none",
    "data_dig": "a data_dig gets a list with a key and the options, and raises KeyError where it has none",
}


def _failed(
    entry: HierarchyEntry, file: str | None, error: Exception | str, what: str = "has failed", key: str | None = None
) -> BadData:
    why = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    asked = "" if key is None else f" for the key {key!r}"
    who = f"the data function {entry.function!r} of the entry {entry.name!r}"
    return BadData(
        f"{who} {what}{asked}: {why}",
        kind=DATA_FUNCTION_FAILED,
        file=file,
        line=entry.line,
        hint=_CALLS[entry.kind],
    )


def fixed_folder(config: HieraConfig, entry: HierarchyEntry) -> str:
    """The datadir of an entry as a path; for a datadir with variables the last folder before the first variable."""
    datadir = entry.datadir.partition("%{")[0]
    if datadir != entry.datadir:
        datadir = os.path.dirname(datadir)
    return os.path.normpath(os.path.join(config.folder, datadir))


def _files_below(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(ENDINGS) and not name.startswith("."):
                yield os.path.join(where, name)
