"""One version of a Hiera tree for the verbs: its nodes, and the keys of each node.

Commands of the dialect that are verbs pass their arguments in `request.options`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePath
from typing import Any

from nodeattrs.contract.answers import Answered, Unread
from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.common import WithFacts, part_of_keys
from nodeattrs.dialects.hiera.arguments import (
    USUAL_ENVIRONMENT,
    check_arguments,
    lookup_arguments,
    named_nodes,
    scope_from_arguments,
    scope_of,
    tree_of,
    warnings_of,
)
from nodeattrs.dialects.hiera.census import as_asked, undecided
from nodeattrs.dialects.hiera.config import HieraConfig
from nodeattrs.dialects.hiera.explain import Explanation
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION, ENDINGS, fixed_folder
from nodeattrs.dialects.hiera.possible_files import FileCache, possible_files, unset_variables, with_needed_keys
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.variables import NAMES
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.puppet.facts import NodeFacts

_VARIABLE = re.compile(r"%\{(?:::)?([\w.]+)\}")
_OF_FILES = ("path", "paths", "glob", "globs")
"""The ways of a level to name files. A glob may be a plain path; one with a wildcard gives no names of nodes."""


def _found(folder: Path, template: str, named: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (variable, value) for each file in a folder that a path with one variable may name.

    Nothing for a path with no or several variables, or with steps after the variable.
    named: paths that other levels name; they belong to no value
    """
    parts = _VARIABLE.split(template)
    if len(parts) != 3 or "%" in parts[0] + parts[2] or "/" in parts[2].lstrip("/").removesuffix("/"):
        return
    place = folder / os.path.dirname(parts[0])
    pattern = re.compile(re.escape(os.path.basename(parts[0])) + "(.+)" + re.escape(parts[2]))
    for path in place.iterdir() if place.is_dir() else ():
        found = pattern.fullmatch(path.name)
        if found and f"{parts[0]}{found[1]}{parts[2]}" not in named:
            yield parts[1].removeprefix("facts."), found[1]


class _NodeKeys(Mapping[str, Any]):
    """A map of the keys of a node to their values. A key is looked up when it is first read, and its result is kept.

    If a lookup fails, its error is the value in the map. A key without a value is not in the map (raises: KeyError).
    Iteration and `len()` look up all keys. The constructor reads the data files for the list of keys.
    scope:  the node
    how:    further arguments for each `Scope.lookup`, such as merge
    raises: NodeattrsError, if a data file cannot be read
    """

    def __init__(self, scope: Scope, how: Mapping[str, Any]) -> None:
        self._scope, self._how = scope, how
        self._known = scope.known_keys()
        self._found: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        key = str(key)  # a path may have a number as its first step
        if key not in self._found:
            try:
                self._found[key] = self._scope.lookup(as_asked(key), **{"default_value": ABSENT, **self._how})
            except NodeattrsError as error:
                is_there = error.kind != "not_found" or self._scope.explain(as_asked(key), **self._how).trace().claims
                self._found[key] = error if is_there else ABSENT
        if self._found[key] is ABSENT:
            raise KeyError(key)
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return (key for key in self._known if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class HieraKeys(WithFacts):
    """A Hiera tree in one version of the files. Its subjects are nodes, and an answer has the keys of one node.

    For a command of the dialect, the arguments in `request.options` choose the tree and the nodes. For other verbs the
    settings of the repository choose them. The constructor reads nothing.
    unread: what may change the last answer and is not known: data files, levels of merge rules, unset variables

    `place` is the hiera.yaml or its folder; None if it does not exist. `hiera` is the tree; without a hiera.yaml it
    raises NotFound. `subjects` is never empty. `covers` says whether a file may belong to the tree. `lines_of` gives
    the lines of all data files that set a key; [] for none. `levels` names the levels of the environment. `is_there`,
    `warnings`, `notes_looks` and `values_of` are declared by `contract.dialect.Opened`.
    """

    @cached_property
    def place(self) -> Path | None:
        """The hiera.yaml or its folder, as the request or the settings name it; None if that place does not exist.

        Without a name it is the root folder of the side; None if there is no hiera.yaml. raises: DocumentError
        """
        named = self.request.named(self.side, "hiera", self.repository.config.hiera)
        if named is not None:
            return named if named.exists() else None
        return self.side.root if (self.side.root / "hiera.yaml").is_file() else None

    @cached_property
    def _arguments(self) -> Mapping[str, Any] | None:
        """The arguments of a command of the dialect; None for a verb over all dialects."""
        return self.request.options.get("hiera")

    @cached_property
    def _names(self) -> Mapping[str, Path | NodeFacts]:
        """The nodes that the arguments name, each with its facts, or the file that has them."""
        return {} if self._arguments is None else named_nodes(self._arguments, self._arguments.get("node"))

    @property
    def is_there(self) -> bool:
        """Whether there is a tree: a hiera.yaml, or the tree that the settings name.

        For a command of the dialect, True. raises: the errors of `hiera`, for a command whose tree does not exist
        """
        return self.place is not None if self._arguments is None else bool(self.hiera)

    @property
    def warnings(self) -> Sequence[object]:
        """The warnings of the tree, and of --without levels that the tree does not have."""
        return warnings_of(self.hiera) if self.is_there else ()

    def subjects(self) -> Iterable[str]:
        """The nodes that the arguments name, or all nodes that are known.

        If none is known: the names for which there is a data file, such as "web1" or "role=web". Without such files:
        the single name "".
        """
        if self._arguments is not None:
            return self._names
        return self.known() or self._with_data() or {""}

    def _with_data(self) -> set[str]:
        """Names of nodes with a data file of their own, and "role=web" for a file of another variable."""
        config = self._layer
        entries = [] if config is None else [one for one in config.entries if one.location in _OF_FILES]
        texts = [(self._root / entry.datadir, text) for entry in entries for text in entry.templates]
        named = {text for _, text in texts}  # common.yaml is no role beside %{facts.role}.yaml
        found = {one for folder, text in texts for one in _found(folder, text, named)}
        return {value if variable in NAMES else f"{variable}={value}" for variable, value in found}

    def may_have(self, name: str) -> bool:
        """Whether a subject may be there though no level names its file: only the levels say which nodes are known.

        True for "role=web", and for a name that a data file still has. False where the nodes are known without levels.
        """
        if self._arguments is not None or self.known() or not self.is_there:
            return False
        return self._is_kind(name) or any(PurePath(file).stem == name for file in self.side.files)

    def covers(self, file: str) -> bool:
        """Whether a file may belong to the tree: hiera.yaml, settings, data of modules, or below a data folder.

        The name decides; the file need not exist. If the root of the side is a data folder, only files with a usual
        ending of data count there.
        """
        steps = self.side.named(file).split("/")
        if steps[-1] in ("hiera.yaml", "nodeattrs.toml") or ("modules" in steps and "data" in steps):
            return True
        root, whole = str(self.side.root), f"{self.side.root}/{self.side.named(file)}"
        return any(whole.startswith(f"{one}/") and (one != root or whole.endswith(ENDINGS)) for one in self._folders)

    def fetches(self, file: str) -> bool:
        """Whether a file is a Puppetfile, and an environment lacks a module of it; or a submodule that is not here."""
        whole = os.path.abspath(self.side.root / self.side.named(file))
        is_puppetfile = os.path.basename(file) == "Puppetfile"
        if not is_puppetfile and os.path.isfile(whole):
            return False
        try:
            lacks = self.hiera.lacks_modules if is_puppetfile else partial(self.hiera.lacks_submodule, whole)
            return any(map(lacks, self._environments))
        except NodeattrsError:  # of environment.conf; the answer has it, too
            return False

    @property
    def _environments(self) -> Sequence[str]:
        return self.hiera.environments() or [USUAL_ENVIRONMENT]

    @cached_property
    def _folders(self) -> set[str]:
        """The data folders of all layers; of one with variables the last folder before the first of them."""
        layers = [layer for name in self._environments for layer in self.hiera.configs(name)] if self.is_there else []
        return {fixed_folder(layer, entry) for layer in layers for entry in (*layer.entries, *(layer.defaults or ()))}

    def _is_kind(self, name: str) -> bool:
        """Whether a name such as "role=web" names all nodes with this value, and is no certname."""
        return "=" in name and name not in self.known()

    def _facts(self, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        """The facts of a node; without any, those that follow from its name, or from "role=web"."""
        if facts or not name or name in self.known():
            return facts
        variable, _, value = name.partition("=")
        if not self._is_kind(name):
            host = name.partition(".")[0]
            named = {"fqdn": name, "hostname": host}
            return {**named, "clientcert": name, "networking": named}
        for step in reversed(variable.split(".")):
            facts = {step: facts or value}
        return facts

    @cached_property
    def hiera(self) -> Hiera:
        """The tree, as the arguments or the settings describe it; made at the first use.

        raises: NotFound, where there is no hiera.yaml; BadArgument; BadUsage, for arguments that do not go together
        """
        if self._arguments is not None:
            check_arguments(self._arguments)
            return tree_of(self._arguments, dict(self.request.places).get("hiera", self._arguments["hiera"]))
        place = self.place
        if place is None:
            raise NotFound("there is no hiera.yaml", hint="name one: --hiera PLACE")
        config = self.repository.config
        return Hiera(
            place,
            root=self.side.root,
            skip_levels=self.request.what_if.levels,
            sensitive_paths=config.sensitive,
            puppet_version=config.puppet_version or DEFAULT_VERSION,
            ruby=self.request.ruby and self.request.run_code,
        )

    @cached_property
    def _looks(self) -> FileCache:
        """The cache of data files that are read for unread places, for all nodes."""
        return FileCache(self.repository.shown if self._arguments is None else os.path.relpath)

    @cached_property
    def _layer(self) -> HieraConfig | None:
        """The layer of the environment; None where it has no hiera.yaml. raises: NodeattrsError"""
        return self.hiera.environment_layer(self.request.environment or USUAL_ENVIRONMENT)

    def answer(self, name: str) -> Answered:
        """Returns {"key": part}. The part maps each key of the node to its value, or to the error of its lookup.

        A key is looked up when it is first read. Also sets `unread` to the data files that might be read if more facts
        were given. With `request.about`, they are only the files that may change these keys. Any *name* is accepted: an
        unknown node has no facts.
        """
        arguments = self._arguments
        if self.looks is not None:
            self.looks.note("known")
        scope = self._scope(name, self.looks)
        is_node = not self._is_kind(name) if arguments is None else bool(name)
        merge = None if arguments is None else lookup_arguments(arguments).get("merge")
        about = self.request.about
        wanted = with_needed_keys(scope, map(as_asked, about), merge) if about else None
        self.unread = files = [*possible_files(scope, self._looks, wanted, is_node=is_node, merge=merge)]
        how = {} if arguments is None else lookup_arguments(arguments)
        keys_of_files = [(one, {path[0] for path in one.paths}) for one in files if one.paths]

        @lru_cache(maxsize=1)  # an explanation is large, and the answers of all nodes are kept
        def explain(key: str) -> Explanation:
            return scope.explain(as_asked(key), **how)

        def unread(path: TreePath) -> list[Unread]:
            key = str(path[0])
            found = [level.unread for level in explain(key).unknown]
            others = with_needed_keys(scope, [as_asked(key)], merge) - {key} if files else set()
            found += [one for one, keys_of in keys_of_files if not keys_of.isdisjoint(others)]
            unset = {variable: [key] for variable, keys in scope.missing.items() if key in keys}
            return [*found, *unset_variables(unset, scope.knows_facts)]

        keys = _NodeKeys(scope, how)

        def read_all() -> None:
            for _ in keys:
                pass
            merges = [level.unread for levels in undecided(scope).values() for level in levels if level.is_merge]
            self.unread = [*files, *unset_variables(scope.missing, scope.knows_facts), *merges]

        return {"key": part_of_keys(keys, explain, self)._replace(unread=unread, read_all=read_all)}

    def _scope(self, name: str, looks: Looks | None = None) -> Scope:
        """The scope of a node, with facts and the answer of a classifier. looks: notes what the scope looks at"""
        if self._arguments is not None:
            names = self._names if name in self._names else named_nodes(self._arguments, [name])
            return scope_from_arguments(self._arguments, self.hiera, name, names[name], looks)
        given = self.enc.get(name, {}).get("parameters")
        found = self.node_facts(name)
        variables = {**found.variables, **(given if isinstance(given, dict) else {})}
        known = bool(found.facts)
        facts, environment = self._facts(name, found.facts), self.environment_of(name) or found.environment
        node = "" if self._is_kind(name) else name
        return scope_of(self.hiera, node, facts, environment, variables, knows_facts=known, looks=looks)

    # --- what answers look at

    @property
    def notes_looks(self) -> bool:
        """Whether everything that an answer reads of a node is noted. False with a store, --ruby, or `hiera --enc`."""
        has_program = self._arguments is not None and self._arguments["enc"] is not None
        return not (has_program or self.request.store or self.request.ruby)

    def values_of(self, name: str) -> Callable[[Look], Any]:
        """A function that returns the result of a look for the node, as `BaseScope.look` does.

        For the look ("known",): (whether facts of the node are known, its environment).
        """
        scope = self._scope(name)
        return lambda look: (scope.knows_facts, scope.environment) if look == ("known",) else scope.look(look)

    def lines_of(self, path: TreePath) -> Iterable[tuple[Origin, str]]:
        """The lines of all data files that set a key, or a path in its value."""
        environment = self.request.environment if self._arguments is None else self._arguments["environment"]
        found = self.hiera.who_has(str(path[0]), environment or USUAL_ENVIRONMENT, path[1:])
        return [(origin, "") for origin in found]

    @cached_property
    def _root(self) -> Path:
        """The folder that data folders are relative to."""
        return self.side.root if self._layer is None else self._layer.folder

    def levels(self) -> Iterable[str]:
        """The names of the levels of all layers of the environment, each once; () without a tree."""
        if not self.is_there:
            return ()
        layers = self.hiera.configs(self.request.environment or USUAL_ENVIRONMENT)
        return dict.fromkeys(entry.name for layer in layers for entry in layer.entries)
