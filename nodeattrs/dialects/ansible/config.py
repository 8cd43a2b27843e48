"""Read ansible.cfg: the settings that change which variables count, each with its environment variable.

At most one file is read: the file that ANSIBLE_CONFIG names, else the one in the working folder. A variable of the
given environment overrides the file. The module knows nothing of inventories.
"""

from __future__ import annotations

import configparser
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.dialects.ansible.faults import SETTING, AnsibleError
from nodeattrs.dialects.ansible.levels import PRECEDENCE
from nodeattrs.formats.patterns import expression

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_IGNORED = (".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".orig", ".cfg", ".retry")


@dataclass(frozen=True, slots=True)
class AnsibleConfig:
    """The settings of ansible.cfg and of the environment. A setting that neither names has Ansible's default.

    file:   the ansible.cfg that was read; None without one
    places: name of a setting that was set -> its place, "ansible.cfg:3" or the environment variable
    unread: names of settings in `places` that are not followed; answers name them as unread
    passed_over: an ansible.cfg that is ignored, since every user may write into its folder; None for none

    The other fields have the names of the settings. Relative paths are resolved; lists are tuples.
    """

    file: Path | None = None
    unread: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    passed_over: Path | None = None
    playbook_dir: str = ""
    inventory: tuple[str, ...] = ("/etc/ansible/hosts",)
    roles_path: tuple[str, ...] = ()
    collections_path: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    hash_behaviour: str = "replace"
    precedence: tuple[str, ...] = PRECEDENCE
    private_role_vars: bool = False
    inject_facts_as_vars: bool = True
    fact_caching: str = "memory"
    fact_caching_connection: str = ""
    fact_caching_prefix: str = ""
    force_valid_group_names: str = "never"
    inventory_ignore_extensions: tuple[str, ...] = _IGNORED
    inventory_ignore_patterns: tuple[str, ...] = ()
    yaml_valid_extensions: tuple[str, ...] = (".yml", ".yaml", ".json")
    yaml_inventory_extensions: tuple[str, ...] = ()
    run_vars_plugins: str = "demand"
    vars_plugins: tuple[str, ...] = ()
    vars_plugins_enabled: tuple[str, ...] = ("host_group_vars",)
    enable_plugins: tuple[str, ...] = ("host_list", "script", "auto", "yaml", "ini", "toml")
    vault_password_file: str = ""
    vault_identity_list: tuple[str, ...] = ()
    unparsed_is_failed: bool = False
    any_unparsed_is_failed: bool = False
    export: bool = False


_BOOLEANS = {
    **dict.fromkeys(("yes", "true", "on", "1", "t", "y"), True),
    **dict.fromkeys(("no", "false", "off", "0", "f", "n"), False),
}


def _boolean(text: str, folder: Path) -> bool:
    return _BOOLEANS[text.strip().lower()]


def _list(text: str, folder: Path) -> tuple[str, ...]:
    return tuple(part for part in (one.strip() for one in text.split(",")) if part)


def _text(text: str, folder: Path) -> str:
    return text.strip()


def _path(text: str, folder: Path) -> str:
    return str(folder / Path(text.strip()).expanduser())


def _paths(text: str, folder: Path) -> tuple[str, ...]:
    return tuple(_path(one, folder) for one in text.split(":") if one.strip())


def _identities(text: str, folder: Path) -> tuple[str, ...]:
    named = (one.rpartition("@") for one in _list(text, folder))
    return tuple(f"{name}{at}{_path(file, folder)}" for name, at, file in named)


def _sources(text: str, folder: Path) -> tuple[str, ...]:
    is_list = "," in text
    return tuple(_path(one, folder) for one in _list(text, folder)) if is_list else (_path(text, folder),)


def _patterns(text: str, folder: Path) -> tuple[str, ...]:
    for pattern in _list(text, folder):
        expression(pattern)
    return _list(text, folder)


_KEYS: dict[str, tuple[str, str, Callable[[str, Path], Any]]] = {
    "inventory": ("defaults", "ANSIBLE_INVENTORY", _sources),
    "playbook_dir": ("defaults", "ANSIBLE_PLAYBOOK_DIR", _path),
    "roles_path": ("defaults", "ANSIBLE_ROLES_PATH", _paths),
    "collections_path": ("defaults", "ANSIBLE_COLLECTIONS_PATH", _paths),
    "library": ("defaults", "ANSIBLE_LIBRARY", _paths),
    "hash_behaviour": ("defaults", "ANSIBLE_HASH_BEHAVIOUR", _text),
    "precedence": ("defaults", "ANSIBLE_PRECEDENCE", _list),
    "private_role_vars": ("defaults", "ANSIBLE_PRIVATE_ROLE_VARS", _boolean),
    "inject_facts_as_vars": ("defaults", "ANSIBLE_INJECT_FACT_VARS", _boolean),
    "fact_caching": ("defaults", "ANSIBLE_CACHE_PLUGIN", _text),
    "fact_caching_connection": ("defaults", "ANSIBLE_CACHE_PLUGIN_CONNECTION", _path),
    "fact_caching_prefix": ("defaults", "ANSIBLE_CACHE_PLUGIN_PREFIX", _text),
    "force_valid_group_names": ("defaults", "ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS", _text),
    "inventory_ignore_extensions": ("defaults", "ANSIBLE_INVENTORY_IGNORE", _list),
    "inventory_ignore_patterns": ("defaults", "ANSIBLE_INVENTORY_IGNORE_REGEX", _patterns),
    "yaml_valid_extensions": ("defaults", "ANSIBLE_YAML_FILENAME_EXT", _list),
    "yaml_inventory_extensions": ("inventory_plugin_yaml", "ANSIBLE_INVENTORY_PLUGIN_EXTS", _list),
    "run_vars_plugins": ("defaults", "ANSIBLE_RUN_VARS_PLUGINS", _text),
    "vault_password_file": ("defaults", "ANSIBLE_VAULT_PASSWORD_FILE", _path),
    "vault_identity_list": ("defaults", "ANSIBLE_VAULT_IDENTITY_LIST", _identities),
    "vars_plugins": ("defaults", "ANSIBLE_VARS_PLUGINS", _paths),
    "vars_plugins_enabled": ("defaults", "ANSIBLE_VARS_ENABLED", _list),
    "enable_plugins": ("inventory", "ANSIBLE_INVENTORY_ENABLED", _list),
    "unparsed_is_failed": ("inventory", "ANSIBLE_INVENTORY_UNPARSED_FAILED", _boolean),
    "any_unparsed_is_failed": ("inventory", "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", _boolean),
    "export": ("inventory", "ANSIBLE_INVENTORY_EXPORT", _boolean),
}
"""Each key: its section, its environment variable, and what makes a value of its text."""


_ALSO = {
    ("inventory", "ignore_extensions"): ("defaults", "inventory_ignore_extensions"),
    ("inventory", "ignore_patterns"): ("defaults", "inventory_ignore_patterns"),
    ("inventory_plugin_yaml", "yaml_valid_extensions"): ("inventory_plugin_yaml", "yaml_inventory_extensions"),
}
"""A second section and name of a key, which counts more than the first one."""

TAGS = ("tags.run", "tags.skip")
_UNREAD = {
    "defaults.playbook_vars_root": "ANSIBLE_PLAYBOOK_VARS_ROOT",
    "vars_host_group_vars.stage": "ANSIBLE_VARS_PLUGIN_STAGE",
    **dict(zip(TAGS, ("ANSIBLE_RUN_TAGS", "ANSIBLE_SKIP_TAGS"), strict=True)),
}
"""Settings that are not followed, each with its environment variable."""


def config_of(folder: Path, environment: Mapping[str, str]) -> AnsibleConfig:
    """The configuration that counts in a working folder; the defaults if there is no ansible.cfg.

    The file is the one that ANSIBLE_CONFIG names, or else ansible.cfg of the folder. The latter is ignored if every
    user may write into the folder. No file of the home folder or of /etc is read.

    environment: the variables that may override the file; {} for none
    raises:      AnsibleError, for a file that is no INI, or a value that cannot be read
    """
    named = environment.get("ANSIBLE_CONFIG")
    if named:
        border.admit(folder / named)
    file = folder / (named or "ansible.cfg")
    file = file / "ansible.cfg" if file.is_dir() else file
    is_passed_over = not named and file.is_file() and bool(os.stat(folder).st_mode & stat.S_IWOTH)
    is_read = file.is_file() and not is_passed_over
    found = _read(file) if is_read else {}
    names = [name for name, variable in _UNREAD.items() if variable in environment or (*name.split("."),) in found]
    config = AnsibleConfig(
        file if is_read else None,
        tuple(names),
        _places(file, found, environment),
        passed_over=file if is_passed_over else None,
    )
    found |= {key: found[also] for also, key in _ALSO.items() if also in found}
    changes: dict[str, Any] = {}
    folders = {**environment, "PWD": str(folder), "HOME": str(Path.home())}
    for key, (section, variable, made) in _KEYS.items():
        if made in (_path, _paths, _sources) and (section, key) in found:
            text = found[section, key].replace("{{CWD}}", str(folder))
            found[section, key] = _VARIABLE.sub(lambda name: folders.get(name[1], name[0]), text)
        if variable in environment:
            changes[key] = _made(made, environment[variable], folder, variable)
            if made in (_path, _paths, _sources):
                border.admit(*([changes[key]] if made is _path else changes[key]))
        elif (section, key) in found:
            changes[key] = _made(made, found[section, key], file.parent, f"{file.name}, {key}")
    if "inventory" not in changes:
        border.admit_of_machine(*(os.path.dirname(one) for one in config.inventory))
    return replace(config, **changes)


def _places(file: Path, found: Mapping[tuple[str, str], str], environment: Mapping[str, str]) -> dict[str, str]:
    """Name of a setting that is set -> its place: `ansible.cfg:3`, or the variable of the environment."""
    lines = _lines(file) if found else {}
    named: dict[tuple[str, ...], str] = {(section, key): key for key, (section, _, _) in _KEYS.items()}
    named |= {tuple(name.split(".")): name for name in _UNREAD}
    named |= {also: key for also, (_, key) in _ALSO.items()}
    known: set[tuple[str, ...]] = {*found}
    places = {name: f"{file.name}:{lines.get(at, 1)}" for at, name in named.items() if at in known}
    variables = {**{key: variable for key, (_, variable, _) in _KEYS.items()}, **_UNREAD}
    return places | {name: variable for name, variable in variables.items() if variable in environment}


def _lines(file: Path) -> dict[tuple[str, ...], int]:
    """(section, key) -> the first line that sets the key."""
    found: dict[tuple[str, ...], int] = {}
    section = ""
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="surrogateescape").splitlines(), 1):
        head = re.match(r"\[(.+)\]", line)
        section = head[1] if head else section
        key = re.match(r"([^#;\s\[][^=:]*)[=:]", line)
        if key:
            found.setdefault((section, key[1].rstrip().lower()), number)
    return found


def settings(config: AnsibleConfig) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, value, place) of each setting that the file or the environment has, sorted by name.

    The value is None for a setting that is not followed.
    """
    for name, place in sorted(config.places.items()):
        yield name, None if name in config.unread else getattr(config, name), place


def _made(made: Callable[[str, Path], Any], text: str, folder: Path, where: str) -> Any:
    try:
        return made(text, folder)
    except (KeyError, ValueError):
        raise AnsibleError(
            SETTING, f"{where}: {text!r} cannot be read", hint="docs/ansible.md lists the keys"
        ) from None


class _Parser(configparser.RawConfigParser):
    """Python's parser, with a pattern for `key = value` that needs linear time for a key with many spaces."""

    OPTCRE = re.compile(r"(?P<option>[^=:]*)(?P<vi>[=:])\s*(?P<value>.*)$")


def _read(file: Path) -> dict[tuple[str, str], str]:
    parser = _Parser(inline_comment_prefixes=(";",))
    try:
        parser.read_string(file.read_text(encoding="utf-8", errors="surrogateescape"), file.name)
    except OSError as error:
        raise AnsibleError(SETTING, f"cannot be read: {error}", file=file.name) from None
    except configparser.Error as error:
        lines = [getattr(error, "lineno", None), *(line for line, _ in getattr(error, "errors", ()))]
        line = next((line for line in lines if line is not None), None)
        what = "a line that is no `key = value` in a [section]"
        if isinstance(error, configparser.DuplicateOptionError):
            what = f"the key {error.option} is written twice"
        elif isinstance(error, configparser.DuplicateSectionError):
            what = f"the section [{error.section}] is written twice"
        hint = "Ansible, too, refuses such a file"
        raise AnsibleError(SETTING, what, file=file.name, line=line, hint=hint) from None
    return {(name, key): value for name in parser.sections() for key, value in parser.items(name)}
