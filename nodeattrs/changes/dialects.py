"""Who can be asked: a row for each dialect, with its subjects and how one of them answers.

A dialect that is to be asked about changes needs a row here and nothing else: what it reads is seen from outside
(`reading`), what its answers say is an `Answer` of the core. Here, and nowhere else in this room, dialects have names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from nodeattrs.catalog.resources import RELATIONS
from nodeattrs.changes.asking import AS_IT_IS, Answered, Ask, Part, WhatIf, lines_of
from nodeattrs.changes.reading import note_everything
from nodeattrs.changes.sides import Side
from nodeattrs.core.answer import Answer
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, checked_name, under
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import BadArgument, DocumentError, NotFound
from nodeattrs.keep import Store, open_store
from nodeattrs.runs.binding_sites import site_of
from nodeattrs.runs.causes import causes
from nodeattrs.runs.facts import Facts, load_facts
from nodeattrs.runs.folds import named_fold
from nodeattrs.runs.policies import Asked
from nodeattrs.runs.remembered import remembered
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import Run, run_node
from nodeattrs.runs.session import search_word
from nodeattrs.texts.documents import parse, read, text_of

if TYPE_CHECKING:
    from nodeattrs.adapters.bindings import Composition

_DATA = (".json", ".yaml", ".yml")
_PLAIN = (str, int, float, bool, list, dict, tuple, Sensitive)
_HIDDEN = ("content", "variables", "command", "environment", "unless", "only_if")
"""What a resource that is declared sensitive shows nobody."""

NO_FACTS = {"platform": "unknown", "platform_family": "unknown", "platform_version": "0"}
"""What a node has of which nobody knows any: a run needs to know where it is."""


class Dialect(Protocol):
    """One side, opened by a dialect. Nothing is read before it is asked for.

    What it has read it may keep for the next subject, so who wants to know what one answer read opens it anew.
    """

    side: Side

    def __init__(self, side: Side, ask: Ask, what_if: WhatIf = AS_IT_IS) -> None: ...

    @property
    def is_there(self) -> bool:
        """Whether the side has anything of this dialect."""
        ...

    def subjects(self) -> Iterable[str]:
        """The names of all who can be asked. raises: NodeattrsError"""
        ...

    def answer(self, name: str) -> Answered:
        """What one of them answers. raises: NodeattrsError"""
        ...


class _Opened:
    """What all of them are opened with."""

    def __init__(self, side: Side, ask: Ask, what_if: WhatIf = AS_IT_IS) -> None:
        self.side, self.ask, self.what_if = side, ask, what_if

    @cached_property
    def repository(self) -> Repository:
        found = Repository(self.side.root)
        found.also_sensitive = self.ask.sensitive
        return found

    def _has(self, *names: str) -> bool:
        return any((self.side.root / name).exists() for name in names)

    def _set(self, answer: Answer) -> Answer:
        """The answer, with what somebody would set over it."""
        given = [Layer(under(path, value), Origin("what-if", "--set")) for path, value in self.what_if.set]
        return fold([Layer(answer.value, Origin("answer")), *given], ACROSS) if given else answer


def _part(answer: Any) -> Part:
    """An answer of the core as a part."""
    value = answer.value
    causes = getattr(answer, "causes", lambda _: ())
    return Part(
        value if isinstance(value, Mapping) else {"": value},
        lambda path: lines_of(answer.trace(path)),
        answer.trace,
        lambda path: (cause.origin for cause in causes(path)),
    )


class _Who(_Opened):
    """Nodes, and what is known of each before it is asked."""

    @property
    def _facts_place(self) -> Path | None:
        place = self.ask.place(self.side, self.ask.facts) if self.ask.facts else self.side.root / "facts"
        return place if self.ask.facts or place.is_dir() else None

    @cached_property
    def enc(self) -> Mapping[str, Any]:
        """What a classifier says of each node. raises: DocumentError"""
        if not self.ask.enc:
            return {}
        document = read(self.ask.place(self.side, self.ask.enc), self.ask.enc)
        tree = {str(name): {} for name in document.tree} if isinstance(document.tree, list) else document.tree
        if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
            raise document.error("what a classifier says is a map of nodes", hint="web1: {environment: production}")
        return {name: one if isinstance(one, dict) else {} for name, one in tree.items()}

    @cached_property
    def store(self) -> Store | None:
        return open_store(self.ask.store) if self.ask.store else None

    def known(self) -> set[str]:
        """All who are known by name. raises: NodeattrsError"""
        names = {*self.enc, *(self.store.names() if self.store is not None else ())}
        place = self._facts_place
        if place is not None and place.is_dir():
            names |= {path.stem for path in place.iterdir() if path.suffix in _DATA and not path.name.startswith(".")}
        return names

    def facts_file(self, name: str) -> Path | None:
        place = self._facts_place
        if place is None or not place.is_dir() or not name or name.startswith("role["):
            return None if place is None or place.is_dir() else place
        files = (place / f"{checked_name(name, 'node')}{suffix}" for suffix in _DATA)
        return next((file for file in files if file.exists()), None)

    def plain_facts(self, name: str) -> dict[str, Any]:
        """Facts as Puppet's people keep them: a map. raises: DocumentError"""
        file = self.facts_file(name)
        tree = {} if file is None else read(file, self.repository.shown(file)).tree
        if not isinstance(tree, dict):
            raise DocumentError("facts are a map", file=str(file))
        return tree["values"] if isinstance(tree.get("values"), dict) and isinstance(tree.get("name"), str) else tree

    def environment_of(self, name: str) -> str | None:
        given = self.enc.get(name, {}).get("environment")
        return self.ask.environment or (given if isinstance(given, str) else None)


class Nodes(_Who):
    """Nodes of a repository: each is run, and nothing is saved."""

    @property
    def is_there(self) -> bool:
        """A repository that describes nodes."""
        return self._has("nodes", "roles", "cookbooks", "policies", "site-cookbooks")

    def subjects(self) -> Iterable[str]:
        """Of nodes/, the store, the facts and the classifier; where there are none, a node for each role."""
        named = {*self.repository.nodes(), *self.known()}
        return named or {f"role[{name}]" for name in self.repository.roles()}

    def answer(self, name: str) -> Answered:
        """Its attributes, and the resources of its catalog."""
        run = self._run(name)

        def deciding(path: TreePath) -> Iterator[Origin]:
            found = causes(self.repository, run, lines_of(run.node.trace(path)))
            return (cause.origin for cause in found)

        node = run.node

        def written() -> Iterator[dict[Any, Any]]:
            return (slot.to_dict() for slot in node.slots.values() if slot.level != "automatic")

        attributes = Part(node.merged_shared(), lambda path: lines_of(node.trace(path)), node.trace, deciding, written)
        return {"attribute": attributes, "resource": _resources(run.catalog)}

    def _run(self, name: str) -> Run:
        ask = self.ask
        roles_only = ask.roles_only or not ask.run_code
        self.repository.asked = Asked(roles_only=roles_only, ruby=ask.ruby, without=self.what_if.without)
        if self.what_if.levels and self.repository.hiera is not None:
            self.repository.hiera.skip_levels = frozenset(self.what_if.levels)
        last = None if self.store is None else remembered(self.store, name, self.repository.config.sensitive)
        run_list = self.enc.get(name, {}).get("run_list")
        if name.startswith("role["):
            name, run_list = name[5:-1], [name]
        return run_node(
            self.repository,
            name,
            facts=self._facts(name, last),
            run_list=run_list if isinstance(run_list, list) else None,
            environment=self.environment_of(name),
            json_attributes=self._given(),
            saved=None if last is None else last.normal,
            words=None if self.store is None else {"search": self._search},
        )

    def _given(self) -> Any:
        if not self.what_if.set:
            return None
        tree = fold([under(path, value) for path, value in self.what_if.set], ACROSS).value
        return parse(json.dumps(tree), "--set", "json")

    def _loaded(self, file: Path) -> Facts:
        shown, status = self.repository.shown(file), os.stat(file)
        mark = self.side.mark(self.side.shown(str(file)) or "") or f"{status.st_mtime_ns} {status.st_size}"
        if (shown, mark) not in _LAST_FACTS or mark.startswith("link:"):
            _LAST_FACTS.clear()
            _LAST_FACTS[shown, mark] = load_facts(file, shown, settled=True)
        return _LAST_FACTS[shown, mark]

    def _search(self, *words: Any, **named: Any) -> Any:
        note_everything()  # other nodes decide, too
        assert self.store is not None
        return search_word(self.store)(*words, **named)

    def _facts(self, name: str, last: Any) -> Facts:
        file = self.facts_file(name)
        if file is not None:
            return self._loaded(file)
        tree = last.node.automatic.to_dict() if last is not None else NO_FACTS
        made = ("expanded_run_list", "recipes", "roles")
        return Facts({key: value for key, value in tree.items() if key not in made}, Origin("facts", "last run"))


_LAST_FACTS: dict[tuple[str, str], Facts] = {}
"""By name and content: the facts that both sides have are read once, one node after the other."""


def _resources(catalog: Any) -> Part:
    """A catalog as values: reference -> parameter -> value, with the relations as parameters."""
    found = {str(one.ref): one for one in catalog}

    def places(path: TreePath) -> Iterator[Origin]:
        one = found.get(str(path[0])) if path else None
        if one is not None and one.origin is not None:
            yield one.origin

    return Part({ref: dict(_written(one)) for ref, one in found.items()}, places)


def _written(one: Any) -> Iterator[tuple[str, Any]]:
    """What is written on a resource: parameters, what it does, relations."""
    yield from one.parameters.items()
    if one.subject is not None:
        for field in fields(one.subject):
            value = getattr(one.subject, field.name)
            if isinstance(value, _PLAIN) and value != field.default:
                is_secret = field.name in _HIDDEN and getattr(one.subject, "sensitive", False)
                yield field.name, Sensitive(value) if is_secret else value
    for name in RELATIONS:
        if getattr(one, name):
            yield name, sorted(getattr(one, name))


_NAME_IN = re.compile(
    r"%\{(?:::)?(?:trusted\.(?:certname|hostname)|facts\.(?:fqdn|networking\.fqdn|hostname)|fqdn|clientcert|certname)\}"
)


def _named(folder: Path, template: str) -> Iterator[str]:
    """The names for which a folder has the file of a template that asks for nothing but the name."""
    parts = _NAME_IN.split(template)
    if len(parts) != 2 or "%" in "".join(parts):
        return
    place = folder / os.path.dirname(parts[0])
    pattern = re.compile(re.escape(os.path.basename(parts[0])) + "(.+)" + re.escape(parts[1]))
    for path in place.iterdir() if place.is_dir() else ():
        if found := pattern.fullmatch(path.name):
            yield found[1]


class HieraKeys(_Who):
    """Every key of a Hiera tree, as each node sees it."""

    @cached_property
    def place(self) -> Path | None:
        """The hiera.yaml, or its folder; None where there is none. raises: DocumentError"""
        named = self.ask.named(self.side, "hiera", self.repository.config.hiera)
        if named is not None:
            return named if named.exists() else None
        return self.side.root if (self.side.root / "hiera.yaml").is_file() else None

    @property
    def is_there(self) -> bool:
        """A hiera.yaml, or one that the settings name."""
        return self.place is not None

    def subjects(self) -> Iterable[str]:
        """The nodes that are known; else those with data of their own; else one without a name."""
        return self.known() or self._with_data() or {""}

    def _with_data(self) -> set[str]:
        """Nodes after which a file is called that the hierarchy names by the node's name."""
        config = self.hiera.environment_layer(self.ask.environment or "production")
        entries = [one for one in config.entries if one.location in ("path", "paths")] if config is not None else []
        return {
            name for entry in entries for text in entry.declared for name in _named(config.folder / entry.datadir, text)
        }

    @cached_property
    def hiera(self) -> Any:
        """The tree. raises: NodeattrsError"""
        from nodeattrs.adapters.hiera import Hiera, has_environments

        place = self.place
        if place is None:
            raise NotFound("there is no hiera.yaml", hint="name one: --hiera PLACE")
        if place.is_dir() and not has_environments(place):
            place = place / "hiera.yaml" if (place / "hiera.yaml").is_file() else place
        paths = self.repository.config.sensitive
        return Hiera(place, root=self.side.root, skip_levels=self.what_if.levels, sensitive_paths=paths)

    def answer(self, name: str) -> Answered:
        """Its keys."""
        from nodeattrs.adapters.hiera import as_asked, view

        facts, given = self.plain_facts(name), self.enc.get(name, {}).get("parameters")
        trusted = facts.get("trusted") if isinstance(facts.get("trusted"), dict) else None
        scope = self.hiera.scope(
            facts,
            node=name or str(facts.get("clientcert") or facts.get("fqdn") or ""),
            environment=self.environment_of(name) or "production",
            trusted=trusted,
            variables=given if isinstance(given, dict) else {},
        )
        return {"key": _keyed(view(scope), lambda key: scope.explain(as_asked(key)), self)}


def _keyed(values: Mapping[str, Any], explain: Callable[[str], Any], opened: _Opened) -> Part:
    """Answers of many keys as one part: the first step of a path is the key."""
    values = dict(values)
    for path, value in opened.what_if.set:
        kept = values.get(path[0], ABSENT)
        over = [under(path[1:], value)] if len(path) > 1 else []
        base = [kept] if isinstance(kept, dict) else []
        values[str(path[0])] = fold([*base, *over], ACROSS).value if over else value

    return Part(
        values,
        lambda path: lines_of(explain(path[0]).trace(path[1:])),
        lambda path: explain(path[0]).trace(path[1:]),
        lambda path: (cause.origin for cause in explain(path[0]).causes(path[1:])),
    )


class BindingKeys(_Who):
    """Every key of a site of bindings, as each node gets it."""

    @property
    def place(self) -> Path:
        """The folder of the site. raises: DocumentError"""
        return self.ask.named(self.side, "bindings", self.repository.config.bindings or ".") or self.side.root

    @property
    def is_there(self) -> bool:
        """A site that somebody names, or modules with bindings."""
        named = self.ask.named(self.side, "bindings", self.repository.config.bindings)
        return named is not None or any(self.place.glob("modules/*/bindings"))

    def subjects(self) -> Iterable[str]:
        """The nodes that are known; else one without a name."""
        return {*self.known(), *self.repository.nodes()} or {""}

    def site(self, name: str, mode: str = "tuple") -> Composition:
        """The site as a node has it: by its facts, else by those of its last run. raises: NodeattrsError"""
        facts = self.plain_facts(name)
        if not facts and name and self.store is not None and self.facts_file(name) is None:
            last = remembered(self.store, name, self.repository.config.sensitive)
            facts = {} if last is None else last.node.automatic.to_dict()
        return site_of(
            self.repository,
            self.place,
            node=name,
            facts=facts,
            environment=self.environment_of(name),
            search=None if self.store is None else search_word(self.store),
            classifier=self.enc.get(name) or None,
            shown_from=self.side.root,
            without=self.what_if.levels,
            mode=mode,
        )

    def answer(self, name: str) -> Answered:
        """Its keys."""
        from nodeattrs.adapters.bindings import BindingError
        from nodeattrs.adapters.bindings.tracing import plain

        injector = self.site(name).injector(lenient=bool(self.what_if.levels))
        values: dict[str, Any] = {error.key[1]: error for error in injector.faults if error.key is not None}
        for key in (name for kind, name in sorted(injector.resolution.winners) if kind == "Data"):
            try:
                values[key] = plain(injector.inject(key))
            except BindingError as error:
                values[key] = error
        return {"key": _keyed(values, injector.explain, self)}


class Folds(_Opened):
    """Plain folds that nodeattrs.toml names."""

    @property
    def is_there(self) -> bool:
        """Any fold at all."""
        return bool(self.repository.config.folds)

    def subjects(self) -> Iterable[str]:
        """The folds."""
        return self.repository.config.folds

    def answer(self, name: str) -> Answered:
        """The merged tree."""

        return {"value": _part(self._set(named_fold(self.repository, name)))}


class CloudInit(_Opened):
    """Sets of user-data: of the settings, and folders with `user-data` as a data source has them."""

    @cached_property
    def _sets(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Name -> its files, by what they are. raises: DocumentError"""
        found = dict(self.repository.config.cloud_init)
        for place in sorted(self.side.files):
            folder, _, file = self.side.named(place).rpartition("/")
            if file == "user-data" and not folder.startswith(os.pardir):
                vendor = f"{folder}/vendor-data".lstrip("/")
                given = {"vendor": (vendor,)} if (self.side.root / vendor).exists() else {}
                found.setdefault(folder or ".", {"files": (f"{folder}/user-data".lstrip("/"),), **given})
        return found

    @property
    def is_there(self) -> bool:
        """Any set at all."""
        return bool(self._sets)

    def subjects(self) -> Iterable[str]:
        """The sets."""
        return self._sets

    def answer(self, name: str) -> Answered:
        """The merged config."""
        from nodeattrs.adapters.cloudinit import blob_of, guarded, masked, merge, merge_layers, read_confd, unpack

        if name not in self._sets:
            raise BadArgument(
                f"there is no set {name}", hint=f"[cloud-init.{name}] with files = [...] in nodeattrs.toml"
            )
        files = {word: [self.side.root / one for one in some] for word, some in self._sets[name].items()}
        given: dict[str, Any] = {}
        if files.get("vendor"):
            given["vendor"] = merge(list(map(blob_of, files["vendor"])))
        if files.get("confd"):
            given["confd"] = read_confd(files["confd"][0])
        merged = merge(unpack(list(map(blob_of, files.get("files", ())))))
        whole = merge_layers(user=merged, **given) if given else merged
        paths = self.repository.config.sensitive
        values = guarded((), _part(self._set(whole)).tree, Sensitive, paths)
        return {"value": _part(self._set(masked(whole, paths)))._replace(tree=values)}


class AnsibleHosts(_Opened):
    """Hosts of an inventory of Ansible, and the variables of each; templates are not filled in."""

    @cached_property
    def place(self) -> Path | None:
        """The inventory that somebody names; None leaves it to ansible.cfg."""
        return self.ask.named(self.side, "ansible", None)

    @property
    def is_there(self) -> bool:
        """An inventory that somebody names, or an ansible.cfg."""
        return self.place.exists() if self.place is not None else (self.side.root / "ansible.cfg").is_file()

    @cached_property
    def inventory(self) -> Any:
        """The inventory. raises: NodeattrsError"""
        from nodeattrs.adapters.ansible import Inventory

        paths = self.repository.config.sensitive
        return Inventory(*filter(None, [self.place]), folder=self.side.root, sensitive_paths=paths)

    def subjects(self) -> Iterable[str]:
        """The hosts."""
        return list(self.inventory.hosts)

    def answer(self, name: str) -> Answered:
        """Its variables."""
        return {"variable": _part(self._set(self.inventory.host(name)))}


class Catalogs(_Opened):
    """Catalogs that Puppet compiled, as files."""

    @property
    def place(self) -> Path:
        """Their folder."""
        return self.ask.named(self.side, "catalogs", "catalogs") or self.side.root

    @property
    def is_there(self) -> bool:
        """A folder with at least one."""
        return self.place.is_dir() and any(self.subjects())

    def subjects(self) -> Iterable[str]:
        """The names of the files."""
        return sorted(path.stem for path in self.place.glob("*.json"))

    def answer(self, name: str) -> Answered:
        """Its resources."""
        from nodeattrs.catalog.compiled import compiled_catalog, without_notices

        file = self.place / f"{name}.json"
        shown = self.repository.shown(file)
        document = parse(without_notices(text_of(file, shown)), shown, "json")
        return {"resource": _resources(compiled_catalog(document.tree, document.locator("catalog", ""), shown))}


DIALECTS: Mapping[str, Callable[..., Dialect]] = {
    "nodes": Nodes,
    "hiera": HieraKeys,
    "cloud-init": CloudInit,
    "folds": Folds,
    "bindings": BindingKeys,
    "ansible": AnsibleHosts,
    "catalogs": Catalogs,
}
"""Name -> what opens a side with it, in the order in which they are reported."""


def levels_of(side: Side, ask: Ask) -> list[str]:
    """The names of the levels of Hiera that a side has, and of the layers of its site of bindings."""
    return [*_levels_of_hiera(side, ask), *layers_of(side, ask)]


def layers_of(side: Side, ask: Ask) -> list[str]:
    """The layers of bindings of a side, the highest first."""
    opened = BindingKeys(side, ask)
    return [layer.name for layer in opened.site("").layers] if opened.is_there else []


def _levels_of_hiera(side: Side, ask: Ask) -> list[str]:
    opened = HieraKeys(side, ask)
    if not opened.is_there:
        return []
    environment = ask.environment or "production"
    modules = (opened.hiera.module_layer(environment, name) for name in opened.hiera.modules(environment))
    layers = (opened.hiera.environment_layer(environment), *modules)
    return [*dict.fromkeys(entry.name for layer in layers if layer is not None for entry in layer.entries)]
