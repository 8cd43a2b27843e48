"""nodeattrs.toml: reads and checks the settings of a repository. An example with most of them:

    environment = "production"
    store = "nodes-saved"
    sensitive = ["db.password", ["users", "*", "token"]]

    [allowed]
    automatic = ["network/interfaces", ["filesystem", "/dev/sda1"]]

    [blocked]
    automatic = ["sysconf"]

    [check]
    ignore = ["NA0305", "unknown-type"]
    baseline = "nodeattrs-baseline.json"
    rules = [{path = "**.password", only = ["data_bags"]}]

    [schema]
    attributes = "schema/attributes.json"

    [facts]
    fauxhai = "../fauxhai"

    [merge]
    "apache2.modules" = "replace"
    "users.*.keys" = "append"
    "sites" = {merge_by = "name"}

    [fold.site]
    files = ["values.yaml", "env/*.yaml"]
    policy = "helm"

    [ansible.groups]
    web = "role:web AND chef_environment:production"

    [bindings]
    site = "bindings"
    classes = ["bindings/plugins.py:JsonReport"]
    providers = {inventory = "shop.inventory:provide"}

    [limits]
    values = 2000000

    [web]
    source_url = "https://forge.example/shop/blob/{commit}/{file}#L{line}"

    [chef]
    cookbook_paths = ["cookbooks", "~/.berkshelf/cookbooks"]
    missing_cookbooks = "warn"
    ruby = true

Chef's names for `allowed` and `blocked` work at the top level, too. Chef's own
configuration, `.chef/config.rb` or `.chef/knife.rb`, completes the settings. A
setting that leads out of the repository is refused until the user trusts it.
Values are checked here, and used elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.codes import Code, codes, known_codes
from nodeattrs.core.budget import NAMES, Limits
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.rules import PathRule, read_rules
from nodeattrs.core.tree import Path, near, parse
from nodeattrs.errors import BadArgument, BadUsage, DocumentError, MissingExtra, NotFound
from nodeattrs.formats.documents import SYNTAXES, Document, read
from nodeattrs.formats.nearest import SETTINGS_FILE
from nodeattrs.kinds import LIST_LOSES_VALUES, NOT_TRUSTED, OUTSIDE, RUBY, SET_TWICE
from nodeattrs.node.slot_names import DEFAULT_ENVIRONMENT
from nodeattrs.project.fields import LEVELS, Fields

_RULED_PLACES = ("roles", "environments", "nodes", "data_bags", "hiera")
"""The places that a rule of `[check] rules` may allow."""

_RULED_LEVELS = ("default", "normal", "override")


class CheckRule(NamedTuple):
    """A rule of `[check] rules`: in which places some attributes may be set.

    path:    the pattern of the attributes' paths; () means every path
    level:   the level that the rule is about; "" means every level
    only:    the allowed places: "roles", "environments", "nodes", "data_bags" or "hiera"; () allows none
    because: the reason, for the finding; "" for none
    place:   file and line of the rule

    `is_about` says whether the rule applies to a path at a level. A value without a level has the level "".
    """

    path: Path
    level: str
    only: tuple[str, ...]
    because: str
    place: str

    def is_about(self, path: Path, level: str) -> bool:
        """Whether the rule applies to a path that is set at a level. level: "" for a value without a level

        >>> rule = CheckRule(("**", "*password"), "", ("data_bags",), "", "")
        >>> rule.is_about(("app", "db", "password"), "default"), rule.is_about(("app", "port"), "default")
        (True, False)
        """
        return self.level in ("", level) and (not self.path or _fits(self.path, path))


def _fits(pattern: Path, path: Path) -> bool:
    """Whether a path fits a pattern; `**` fits any number of steps.

    cost: length of the pattern times that of the path
    """
    reached = {0}
    for step in path:
        reached = {
            at + (pattern[at] != "**")
            for at in _skipped(pattern, reached)
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(str(step), str(pattern[at])))
        }
    return len(pattern) in _skipped(pattern, reached)


def _skipped(pattern: Path, reached: set[int]) -> set[int]:
    """The reached positions of a pattern, and those behind each `**` there, which may fit no step."""
    found, left = set(reached), [*reached]
    while left:
        at = left.pop()
        if pattern[at : at + 1] == ("**",) and at + 1 not in found:
            found.add(at + 1)
            left.append(at + 1)
    return found


def _check_rules(fields: Fields) -> Iterator[CheckRule]:
    """Yield the rules of `[check] rules`; faults are noted in *fields*, and a rule with a bad path is left out."""
    for index in range(len(fields.items("check", "rules"))):
        at = ("check", "rules", index)
        fields.only(("path", "level", "only", "because"), *at)
        written, level = fields.text(*at, "path"), fields.text(*at, "level")
        only = tuple(fields.text(*at, "only", one) for one in range(len(fields.items(*at, "only"))))
        if not written and not level:
            fields.wrong(at, "a rule is about a path or a level", 'write path = "**.password", or level = "override"')
        if level and level not in _RULED_LEVELS:
            fields.wrong((*at, "level"), f"{level!r} is no level", f"levels are {', '.join(_RULED_LEVELS)}")
        for unknown in [one for one in only if one not in _RULED_PLACES]:
            fields.wrong((*at, "only"), f"{unknown!r} is no place", f"places are {', '.join(_RULED_PLACES)}")
        if not written or fields.parsed((*at, "path"), written, parse):
            place = fields.locator.at(at).place or ""
            yield CheckRule(parse(written) if written else (), level, only, fields.text(*at, "because"), place)


FILE = SETTINGS_FILE
SETTINGS: Mapping[str, Any] = {
    "repo": ".",
    "store": os.path.join(".nodeattrs", "nodes.db"),
    "environment": DEFAULT_ENVIRONMENT,
    "hiera": None,
    "puppet_version": None,
    "bindings": None,
    "sensitive": [],
    "allowed": {},
    "blocked": {},
    "merge": {},
    "fold": {},
    "limits": {},
    "check": {},
    "schema": {},
    "chef": {},
    "facts": {},
    "cloud-init": {},
    "ansible": {},
    "web": {},
}
"""Every setting and its default. "repo" is a setting of a call only, and is not read from the file.

Nodes are saved below the current directory: a repository is written to only where its own settings ask for it.
"""


Entry = str | list[str]
"""One line of an allow or block list: a text with slashes, or the keys one by one."""

_TABLES = {"allowed": "whitelist", "blocked": "blacklist"}
"""Name of a table -> the word that older Chef versions have for it."""


def _chef_names(table: str, level: str) -> tuple[str, str]:
    return f"{level}_attribute_{_TABLES[table]}", f"{table}_{level}_attributes"


_GROUPS_OF_ANSIBLE = ("all", "ungrouped", "_meta")
MOST_SECONDS = 86_400
_CHEF_TEXTS = ("policy", "policy_group", "secret_file", "config", "node_name")
CHEF_NAMES = [name for table in _TABLES for level in LEVELS for name in _chef_names(table, level)]
"""Chef's names for lists in the tables `allowed` and `blocked`."""

_KNOWN = [name for name in SETTINGS if name != "repo"]


class ChefConfig(NamedTuple):
    """The table [chef], with values from Chef's own configuration for what it does not set.

    cookbook_paths:    folders with cookbooks, in order; (): Chef's usual ones
    missing_cookbooks: what a missing cookbook means. "": a check reports it, and no run fails. "error": a run fails,
                       too. "warn": no check reports it. "own": as "warn", and the cookbook may have set only attributes
                       below its own name
    policy:            the policy of nodes that name none; "" for none
    policy_group:      the policy group of nodes that name none; "" for none
    secret_file:       the file with the secret of encrypted data bags, relative to the repository; "" for none
    config:            the file of Chef's own configuration; "": `.chef/config.rb` or `.chef/knife.rb`
    node_name:         the node to run if a command names none; "" for none
    ruby:              whether attribute files in Ruby are run, if code of the repository may run
    ruby_seconds:      the time limit for one such file
    """

    cookbook_paths: tuple[str, ...] = ()
    missing_cookbooks: str = ""
    policy: str = ""
    policy_group: str = ""
    secret_file: str = ""
    config: str = ""
    node_name: str = ""
    ruby: bool = False
    ruby_seconds: float = 60.0


class PlainFold(NamedTuple):
    """A merge of plain files: the table [fold.NAME], checked.

    files:  paths, folders and patterns, the weakest first
    policy: the name of the merge policy
    rules:  other policies for some paths
    syntax: the syntax of all files; "": each file's name decides
    """

    files: tuple[str, ...]
    policy: str = ACROSS.name
    rules: tuple[PathRule, ...] = ()
    syntax: str = ""


class Config(NamedTuple):
    """The checked settings of a repository. `Config()` has the defaults. Paths are as written, not resolved.

    allowed:     level -> entries that are saved with a node; all entries of a level that is not in it are saved
    blocked:     level -> entries that are not saved
    sensitive:   paths whose values are never shown; a step "*" means any key
    store:       the place of saved nodes, or None
    environment: the environment of nodes that name none, or None
    hiera:       the hiera.yaml, or a folder with one, for lookups of recipes; or None
    bindings:    the folder with the bindings that recipes inject from (their site), or None
    binding_classes: classes that bindings may name, as "package.module:Name" or "folder/file.py:Name"
    binding_providers: scheme -> the provider of its sets, in the same form
    merge:       merge policies for some paths
    limits:      limits for one document, lookup, merge or query: see `core.budget.Limits`
    check_select: codes or names of findings to report; (): all
    check_ignore: codes or names of findings to leave out
    check_baseline: the file of known findings, relative to the repository, or None
    fauxhai:     a folder of platforms in fauxhai's form, for --platform, or None
    check_rules: rules about the places where attributes may be set
    schema:      the JSON Schema of the nodes' attributes, or None
    chef:        the table [chef]
    folds:       name -> a merge of plain files
    cloud_init:  name -> the files of a set of user-data, by kind: "files", "vendor", "confd"
    ansible_groups: name of an Ansible group -> the search that finds its hosts
    inventories: name -> the sources of an Ansible inventory
    source_url:  the pattern for links to lines on pages, or None
    keeps_causes: whether saved nodes keep the causes of their values
    puppet_version: the version whose rules a lookup in Hiera follows, 7 or 8; None: 8
    """

    allowed: Mapping[str, list[Entry]] = {}
    blocked: Mapping[str, list[Entry]] = {}
    sensitive: tuple[Path, ...] = ()
    store: str | None = None
    environment: str | None = None
    hiera: str | None = None
    bindings: str | None = None
    binding_classes: tuple[str, ...] = ()
    binding_providers: Mapping[str, str] = {}
    merge: tuple[PathRule, ...] = ()
    limits: Mapping[str, float] = {}
    check_select: tuple[str, ...] = ()
    check_ignore: tuple[str, ...] = ()
    check_baseline: str | None = None
    fauxhai: str | None = None
    check_rules: tuple[CheckRule, ...] = ()
    schema: str | None = None
    chef: ChefConfig = ChefConfig()
    folds: Mapping[str, PlainFold] = {}
    cloud_init: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    ansible_groups: Mapping[str, str] = {}
    inventories: Mapping[str, tuple[str, ...]] = {}
    source_url: str | None = None
    keeps_causes: bool = False
    puppet_version: int | None = None


class RepositorySettings:
    """The settings of one repository. The constructor reads nothing. `config` reads and checks them once and keeps
    them.

    `config` has the defaults if there is no nodeattrs.toml; `document` is None then. `config` raises DocumentError for
    a wrong setting. `shown` makes a path relative to the folder.
    root:     the folder of the repository; as an attribute absolute
    warnings: warnings about settings that are probably not meant; complete after `config` was read
    raises:   NotFound from the constructor, if there is no such folder
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = FilePath(root).absolute()
        self.warnings: list[DocumentError] = []
        if not os.path.isdir(self.root):
            raise NotFound(f"there is no repository at {root}", hint="name a directory that holds cookbooks/ or roles/")

    @cached_property
    def document(self) -> Document | None:
        """The parsed nodeattrs.toml, kept; None where there is no such file. raises: DocumentError"""
        path = self.root / FILE
        return read(path, FILE) if os.path.lexists(path) else None

    @cached_property
    def config(self) -> Config:
        """The checked settings of nodeattrs.toml, or the defaults without one; Chef's own configuration completes them.

        Chef's configuration that cannot be read is a warning. raises: DocumentError, with all faults of nodeattrs.toml
        """
        if self.document is None:
            return self._with_chefs(Config())
        config, warnings = judged(self.document, self.root)
        self.warnings += warnings
        return self._with_chefs(config)

    def _with_chefs(self, config: Config) -> Config:
        """*config* completed by Chef's own configuration; unchanged without one. An unreadable one is a warning."""
        names = [config.chef.config] if config.chef.config else [".chef/config.rb", ".chef/knife.rb"]
        path = next((path for path in map(self.root.joinpath, names) if os.path.isfile(path)), None)
        if path is None:
            return config
        file, kind = self.shown(path), "knife" if path.name == "knife.rb" else "settings"
        try:
            document = _read_ruby(path, file, kind) if path.suffix == ".rb" else read(path, file)
            fields = Fields(document.tree, document.locator(kind, ""), f"{kind} ")
            config = _completed_by_chef(config, fields)
        except MissingExtra as error:
            self.warnings.append(DocumentError("is Ruby, which was not read", file=file, hint=error.hint, kind=RUBY))
        except DocumentError as error:
            self.warnings.append(error)
        else:
            self.warnings += [*document.warnings, *fields.warnings]
        return config

    def shown(self, path: FilePath) -> str:
        """The name of a file in messages: relative to the root; as given for a file outside."""
        whole, start = os.path.normpath(path), os.path.join(self.root, "")
        inside = whole[len(start) :] if whole.startswith(start) else os.path.relpath(path, self.root)
        return str(path) if inside.startswith(os.pardir) else inside


def _read_ruby(path: FilePath, file: str, kind: str) -> Document:
    from nodeattrs.formats.chef_words import ruby_document  # needs the extra `ruby`

    return ruby_document(path, file, kind)


def judged(document: Document, root: FilePath) -> tuple[Config, list[DocumentError]]:
    """The settings of a parsed nodeattrs.toml, and warnings about it. Chef's own configuration is not read.

    root:   the folder of the repository
    raises: DocumentError, with all faults
    """
    fields = Fields(document.tree, document.locator("settings", ""), "the settings")
    return _read_config(fields, root), [*document.warnings, *fields.warnings]


def _read_config(fields: Fields, root: FilePath) -> Config:
    """The settings in the fields of a nodeattrs.toml; unknown fields and doubtful values become warnings of *fields*.

    root:   the folder of the repository; in one that is not trusted, a path that leads out is a fault
    raises: DocumentError, with all faults
    """
    _note_paths_outside(fields, root)
    fields.only(_KNOWN, ignore=CHEF_NAMES)
    fields.only(("select", "ignore", "baseline", "rules"), "check", above=_KNOWN)
    fields.only(("fauxhai",), "facts", above=_KNOWN)
    fields.only(("attributes",), "schema", above=_KNOWN)
    fields.only(("source_url",), "web", above=_KNOWN)
    has_table = isinstance(fields.tree.get("store"), dict)
    if has_table:
        fields.only(("place", "causes"), "store", above=_KNOWN)
    config = Config(
        _lists(fields, "allowed"),
        _lists(fields, "blocked"),
        tuple(_path(fields, index, entry) for index, entry in enumerate(fields.items("sensitive"))),
        fields.text(*(("store", "place") if has_table else ("store",))) or None,
        fields.text("environment") or None,
        fields.text("hiera") or None,
        *_bindings(fields),
        tuple(_merge_rules(fields, "merge")),
        _tightened(_limits(fields), fields, root),
        tuple(_codes(fields, "select")),
        tuple(_codes(fields, "ignore")),
        fields.text("check", "baseline") or None,
        fields.text("facts", "fauxhai") or None,
        tuple(_check_rules(fields)),
        fields.text("schema", "attributes") or None,
        _chef(fields),
        cloud_init={str(name): _set_of(fields, name) for name in fields.map("cloud-init")},
        folds={str(name): read_fold(fields, "fold", name) for name in fields.map("fold")},
        ansible_groups=dict(_ansible_groups(fields)),
        inventories={str(name): _inventory(fields, name) for name in fields.map("ansible") if name != "groups"},
        source_url=fields.text("web", "source_url") or None,
        keeps_causes=has_table and fields.flag("store", "causes"),
        puppet_version=_puppet_version(fields),
    )
    fields.finish()
    return config


def _puppet_version(fields: Fields) -> int | None:
    """7 or 8; None where it is not set, or a fault is noted."""
    given = fields.tree.get("puppet_version")
    if given in (None, 7, 8):
        return given
    fields.wrong(("puppet_version",), f"{given!r} is no version of Puppet that is known here", "write 7 or 8")
    return None


def read_fold(fields: Fields, *under: Any) -> PlainFold:
    """The merge of plain files in a map of settings, such as [fold.NAME]. A missing field has its default.

    Faults and unknown fields are noted in *fields*.
    under: the path of the map; () for the root of a document
    """
    fields.only(("files", "policy", "merge", "syntax"), *under, above=_KNOWN if under else ())
    files = tuple(fields.text(*under, "files", index) for index in range(len(fields.items(*under, "files"))))
    syntax = fields.text(*under, "syntax")
    if syntax and syntax not in SYNTAXES:
        fields.wrong((*under, "syntax"), f"there is no syntax {syntax!r}", f"it is one of {', '.join(SYNTAXES)}")
    policy = fields.text(*under, "policy") or ACROSS.name
    return PlainFold(files, policy, tuple(_merge_rules(fields, *under, "merge")), syntax)


def _set_of(fields: Fields, name: Any) -> dict[str, tuple[str, ...]]:
    """The files of a set of user-data by kind: one file as a text, several in a list."""
    under = ("cloud-init", name)
    fields.only(("files", "vendor", "confd"), *under, above=_KNOWN)
    return {str(word): _files(fields, "base.yaml", *under, word) for word in fields.map(*under)}


def _inventory(fields: Fields, name: Any) -> tuple[str, ...]:
    fields.only(("inventory",), "ansible", name, above=_KNOWN)
    return _files(fields, "hosts.ini", "ansible", name, "inventory")


def _files(fields: Fields, such: str, *under: Any) -> tuple[str, ...]:
    """The texts of a field: one text, or several in a list. such: an example for the hint of a fault"""
    given = fields.map(*under[:-1]).get(under[-1], ())
    several = [given] if isinstance(given, str) else fields.items(*under)
    found = tuple(one for one in several if isinstance(one, str))
    if len(found) < len(several):
        fields.wrong(under, "files are named by texts", f'{under[-1]} = ["{such}"]')
    return found


def _ansible_groups(fields: Fields) -> Iterator[tuple[str, str]]:
    for name, given in fields.map("ansible", "groups").items():
        path = ("ansible", "groups", name)
        if given == "":
            fields.wrong(path, "a group needs the search that finds its hosts", f'{name} = "role:web"')
        if name in _GROUPS_OF_ANSIBLE:
            fields.wrong(path, f"{name} is a group that Ansible makes itself", "choose another name")
        yield name, fields.text(*path)


def known_code(word: object) -> str:
    """Check a word of --select or --ignore, and return it as text.

    The word is a code, the name of one, the first characters of one, or "all".
    raises: BadArgument, with near names, for "" and any other word
    cost:   if no imported module has such a code, all dialects are imported

    >>> known_code("NA12"), known_code("default-replaces")
    ('NA12', 'default-replaces')
    """
    text = str(word)
    if text == "all" or _means_one(text, known_codes()) or _means_one(text, codes()):
        return text
    close = near(text, [name for code, one in codes().items() for name in (code, *one.names)])
    hint = f"did you mean {' or '.join(close)}?" if close else "`nodeattrs codes` lists them"
    raise BadArgument(f"{text!r} is no code and no name of one", hint=hint)


def listed_codes(option: str, texts: Iterable[str]) -> list[str]:
    """The words in the values of an option, split at commas and checked by `known_code`; [] for no values.

    option: its name in messages
    raises: BadUsage, where a word is no code
    """
    try:
        return [known_code(word.strip()) for text in texts for word in text.split(",")]
    except BadArgument as error:
        raise BadUsage(f"--{option}: {error}") from error


def _means_one(word: str, among: Mapping[str, Code]) -> bool:
    return word != "" and any(code.startswith(word) or word in one.names for code, one in among.items())


def _codes(fields: Fields, name: str) -> Iterator[str]:
    for index, word in enumerate(fields.items("check", name)):
        if fields.parsed(("check", name, index), word, known_code):
            yield word


def _merge_rules(fields: Fields, *under: Any) -> Iterator[PathRule]:
    for key, given in fields.map(*under).items():
        try:
            (rule,) = read_rules({key: given})
        except BadArgument as error:
            is_setting = key in _KNOWN
            hint = f"if the setting {key} is meant, write it above the first [table]" if is_setting else error.hint
            fields.wrong((*under, key), error.message, hint)
        else:
            yield rule._replace(place=fields.locator.at((*under, key)).place or FILE)


def _limit(name: str, most: Any) -> Limits:
    return Limits().replaced(**{name: most})


def _limits(fields: Fields) -> dict[str, float]:
    fields.only(NAMES, "limits", above=_KNOWN)
    given = {name: most for name, most in fields.map("limits").items() if name in NAMES}
    return {name: most for name, most in given.items() if fields.parsed(("limits", name), most, partial(_limit, name))}


def _chef(fields: Fields) -> ChefConfig:
    fields.only(ChefConfig.__match_args__, "chef", above=_KNOWN)
    paths = [
        fields.text("chef", "cookbook_paths", index) for index in range(len(fields.items("chef", "cookbook_paths")))
    ]
    missing = fields.text("chef", "missing_cookbooks")
    if missing not in ("", "error", "warn", "own"):
        way_out = 'write "error", "warn" or "own"'
        fields.wrong(("chef", "missing_cookbooks"), f"missing_cookbooks is no {missing!r}", way_out)
    ruby, seconds = (fields.map("chef").get(name, known) for name, known in (("ruby", False), ("ruby_seconds", 60.0)))
    if type(ruby) is not bool:
        fields.wrong(("chef", "ruby"), f"ruby is true or false, and not {ruby!r}")
    most = MOST_SECONDS if border.in_force() is None else ChefConfig().ruby_seconds
    hint = None if most == MOST_SECONDS else "a repository of your own may set more: nodeattrs trust DIR"
    if type(seconds) not in (int, float) or not 0 < seconds <= most:
        fields.wrong(("chef", "ruby_seconds"), f"ruby_seconds is a number up to {most:g}, and not {seconds!r}", hint)
    texts = {name: fields.text("chef", name) for name in _CHEF_TEXTS}
    return ChefConfig(tuple(paths), missing, **texts, ruby=ruby is True, ruby_seconds=seconds)


def _completed_by_chef(config: Config, fields: Fields) -> Config:
    """*config* with cookbook paths, policy, secret file and lists of Chef's configuration, where it sets none itself.

    raises: DocumentError
    """
    paths: list[Path] = [("cookbook_path",)]
    if isinstance(fields.tree.get("cookbook_path"), list):
        paths = [("cookbook_path", index) for index in range(len(fields.items("cookbook_path")))]
    given: dict[str, Any] = {
        "cookbook_paths": tuple(path for path in (_inside(fields, one) for one in paths) if path),
        "policy": fields.text("policy_name"),
        "policy_group": fields.text("policy_group"),
        "secret_file": _inside(fields, ("encrypted_data_bag_secret",)),
        "node_name": fields.text("node_name"),
    }
    allowed, blocked, environment = _lists(fields, "allowed"), _lists(fields, "blocked"), fields.text("environment")
    fields.finish()
    return config._replace(
        allowed={**allowed, **config.allowed},
        blocked={**blocked, **config.blocked},
        environment=config.environment or environment or None,
        chef=config.chef._replace(**{name: one for name, one in given.items() if not getattr(config.chef, name)}),
    )


def _inside(fields: Fields, path: Path) -> str:
    """The path in a field, relative to the repository; "" and a warning where it leads out of the repository."""
    text = fields.text(*path)
    named = os.path.normpath(text) if text else ""
    if os.path.isabs(named) or named.startswith((os.pardir, "~")):
        hint = "name it in nodeattrs.toml, under [chef], if it is meant"
        fields.warn(path, f"{text} leads out of the repository, and is not followed", hint, OUTSIDE)
        return ""
    return named


_CODE = re.compile(r"[\w./-]+:\w+(\.\w+)*")


def _bindings(fields: Fields) -> tuple[str | None, tuple[str, ...], dict[str, str]]:
    """The site of bindings, its classes and its providers; `bindings` is a text, or a table with all three."""
    if not isinstance(fields.tree.get("bindings"), dict):
        return fields.text("bindings") or None, (), {}
    fields.only(("site", "classes", "providers"), "bindings", above=_KNOWN)
    classes = [fields.text("bindings", "classes", index) for index in range(len(fields.items("bindings", "classes")))]
    providers = {name: fields.text("bindings", "providers", name) for name in fields.map("bindings", "providers")}
    named = {("classes", index): text for index, text in enumerate(classes)}
    for path, text in {**named, **{("providers", name): text for name, text in providers.items()}}.items():
        if not _CODE.fullmatch(text):
            fields.wrong(("bindings", *path), f"{text!r} names no code", "package.module:Name, or folder/file.py:Name")
    return fields.text("bindings", "site") or None, tuple(classes), providers


def _lists(fields: Fields, table: str) -> dict[str, list[Entry]]:
    levels = fields.map(table)
    fields.only(LEVELS, table, above=_KNOWN)
    found: dict[str, list[Entry]] = {}
    for level in LEVELS:
        spellings: list[Path] = [(name,) for name in _chef_names(table, level) if name in fields.tree]
        spellings += [(table, level)] if level in levels else []
        if not spellings:
            continue
        first, *others = spellings
        for path in others:
            fields.warn(
                path, f"is ignored, because {'.'.join(first)} says the same thing", "keep one of them", SET_TWICE
            )
        if level != "automatic":
            fields.warn(
                first,
                f"a list for {level} attributes loses what cookbooks and people have set",
                "only automatic attributes should be kept from being saved",
                LIST_LOSES_VALUES,
            )
        found[level] = _entries(fields, first)
    return found


def _entries(fields: Fields, path: Path) -> list[Entry]:
    entries: list[Entry] = []
    for index, entry in enumerate(fields.items(*path)):
        if isinstance(entry, str) or _is_keys(entry):
            entries.append(entry)
        else:
            hint = 'write "network/interfaces" or ["network", "interfaces"]'
            fields.wrong((*path, index), f"{entry!r} names no attribute", hint)
    return entries


def _path(fields: Fields, index: int, entry: Any) -> Path:
    if _is_keys(entry):
        return tuple(entry)
    if not isinstance(entry, str) or not entry.strip():
        fields.wrong(("sensitive", index), f"{entry!r} is no path", 'write "db.password" or ["db", "password"]')
    elif fields.parsed(("sensitive", index), entry, parse):
        return parse(entry)
    return ()


def _is_keys(entry: object) -> bool:
    return isinstance(entry, list) and bool(entry) and all(isinstance(key, str) for key in entry)


FREE = "free"
INSIDE = "a path inside the repository is free; one outside, or a URL, only by the caller"
TIGHTER = "only tighter than the default"

RIGHTS: Mapping[tuple[str, ...], str] = {
    ("store",): INSIDE,
    ("store", "place"): INSIDE,
    ("store", "causes"): FREE,
    ("environment",): FREE,
    ("hiera",): INSIDE,
    ("puppet_version",): FREE,
    ("bindings",): INSIDE,
    ("bindings", "site"): INSIDE,
    ("bindings", "classes"): FREE,
    ("bindings", "providers"): FREE,
    ("sensitive",): FREE,
    ("allowed",): FREE,
    ("blocked",): FREE,
    ("merge",): FREE,
    ("fold", "*", "files"): INSIDE,
    ("fold", "*", "policy"): FREE,
    ("fold", "*", "merge"): FREE,
    ("fold", "*", "syntax"): FREE,
    ("limits",): TIGHTER,
    ("check", "baseline"): INSIDE,
    ("check", "select"): FREE,
    ("check", "ignore"): FREE,
    ("check", "rules"): FREE,
    ("schema", "attributes"): INSIDE,
    ("chef", "cookbook_paths"): INSIDE,
    ("chef", "secret_file"): INSIDE,
    ("chef", "config"): INSIDE,
    ("chef", "ruby_seconds"): TIGHTER,
    ("chef", "missing_cookbooks"): FREE,
    ("chef", "policy"): FREE,
    ("chef", "policy_group"): FREE,
    ("chef", "node_name"): FREE,
    ("chef", "ruby"): FREE,  # it runs nothing in a command that runs no code
    ("facts", "fauxhai"): INSIDE,
    ("cloud-init", "*", "files"): INSIDE,
    ("cloud-init", "*", "vendor"): INSIDE,
    ("cloud-init", "*", "confd"): INSIDE,
    ("ansible", "*", "inventory"): INSIDE,
    ("ansible", "groups"): FREE,
    ("web", "source_url"): FREE,
}
"""Path of a setting -> what a repository that is not trusted may set there. "*" is any name."""

_LATER = (("store",), ("store", "place"))
"""Settings that are checked only when they are used, since an option of the caller may replace them."""


_READ_AS_LAYERS = ("fold", "cloud-init")
"""Settings whose files are layers: a link that leads out is an unknown layer and no fault."""


def _is_below(root: FilePath, text: str) -> bool:
    """Whether a path is below the root as it is written; links are not followed."""
    return FilePath(os.path.normpath(root / os.path.expanduser(text))).is_relative_to(os.path.normpath(root))


def _note_paths_outside(fields: Fields, root: FilePath) -> None:
    """Note a fault for each path that leads out of a repository that is not trusted."""
    if border.in_force() is None:
        return
    for rule, right in RIGHTS.items():
        if right == INSIDE and rule not in _LATER:
            for path, text in _texts(fields.tree, rule):
                is_layer = rule[0] in _READ_AS_LAYERS and _is_below(root, text)
                if not is_layer and leads_out(root, text):
                    name = ".".join(map(str, rule if "*" not in rule else path))
                    fields.wrong(path, f"{name} leads out of the repository: {text}", way_out(root))


def leads_out(root: FilePath, text: str) -> bool:
    """Whether a setting is a URL, or a path outside of both the repository and the border in force.

    Links are followed. Without a border, only a URL leads out.
    """
    path = root / os.path.expanduser(text)
    is_inside = FilePath(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    return "://" in text or (not is_inside and border.is_outside(path))


def way_out(root: FilePath) -> str:
    """The hint for a setting that is refused: how to trust the repository."""
    return f"if this repository is your own: nodeattrs trust {root}"


def _tightened(given: Mapping[str, float], fields: Fields, root: FilePath) -> dict[str, float]:
    """The limits of a repository.

    In one that is not trusted, a limit above the default becomes the default, with a warning.
    """
    usual = Limits()._asdict()
    found = {}
    for name, most in given.items():
        if border.in_force() is not None and most > usual[name]:
            message = f"limits.{name} is above the default, {usual[name]:,}, which counts instead"
            fields.warn(("limits", name), message, f"--budget {name}={most}, or {way_out(root)}", NOT_TRUSTED)
            most = usual[name]
        found[name] = most
    return found


def _texts(value: Any, rule: tuple[str, ...], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield path and text of each text at the paths that a rule names; in a list each element."""
    if rule and isinstance(value, dict):
        for key in value if rule[0] == "*" else {rule[0]} & value.keys():
            yield from _texts(value[key], rule[1:], (*path, key))
    elif not rule and isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, (), (*path, index))
    elif not rule and isinstance(value, str):
        yield path, value
