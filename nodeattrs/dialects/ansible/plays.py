"""Read the plays of playbooks: their hosts, and the layers of their `vars`, `vars_prompt` and `vars_files`.

Tasks are not read here: `tasks` walks through the lists in `Play.body`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import (
    MISSING,
    MISSING_KEY,
    NO_MATCH,
    NOT_PROMPTED,
    UNKNOWN_KEY,
    VARS_FILE_SKIPPED,
    WRONG_SHAPE,
    YAML,
    AnsibleError,
    error_at,
)
from nodeattrs.dialects.ansible.files import Plan, as_one_fold
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.keywords import PLAY
from nodeattrs.dialects.ansible.levels import REPLACE, title
from nodeattrs.dialects.ansible.rendering import evaluate
from nodeattrs.dialects.ansible.roles import checked_variables, collection_homes
from nodeattrs.dialects.ansible.templates import filled_in, is_template, names_in_templates
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin
from nodeattrs.formats.documents import Document

_NOT_FILLED_IN = "the name of this file cannot be filled in"


@dataclass(frozen=True, eq=False)
class Play:
    """A play of a playbook. `read` makes it, and has checked its body for unknown keys.

    number:   from 1, counted over all playbooks
    document: the parsed file of the play
    path:     the path of that file
    at:       the path of the play in the document
    body:     the map of the play
    over:     layers of the `vars` of import_playbook entries that led to the play, the strongest last. They replace
              variables of the play's own `vars`
    patterns: the patterns of its hosts; None if `hosts` has a template whose value is not known
    missing:  why the patterns are not known; "" if they are known

    `vars` gives the layers of level 12. `entries` gives the list under a key of the body: [] without the key or for
    null; it raises AnsibleError for another type. `error` returns an error with a line, for the caller to raise. `name`
    is its name, or else its hosts. `collections` has the collection that contains the file, as a tuple of one name, or
    is (); it is not the key `collections` of the body.
    """

    number: int
    document: Document
    at: Steps
    path: Path
    body: dict[Any, Any]
    over: tuple[Layer, ...]
    patterns: tuple[str, ...] | None = None
    missing: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its file."""
        return self.path.parent

    @property
    def collections(self) -> tuple[str, ...]:
        """The collection that its file belongs to, as a tuple of one name; () outside of collections."""
        parts = self.path.parts
        at = parts.index("ansible_collections") if "ansible_collections" in parts else len(parts)
        return (".".join(parts[at + 1 : at + 3]),) if at + 3 < len(parts) else ()

    @property
    def name(self) -> str:
        """The name of the play, else its hosts."""
        return str(self.body.get("name") or ",".join(self.patterns or [str(self.body.get("hosts"))]))

    def error(self, kind: Any, message: str, *at: Any) -> AnsibleError:
        """An error at a place of the play, for the caller to raise. at: steps below the play"""
        return error_at(self.document, (*self.at, *at), kind, message)

    def vars(self) -> list[Plan]:
        """The layers of level 12: its `vars`, then the `vars` of imports. A list of at most one plan: several layers
        are one fold. [] without variables. raises: AnsibleError
        """
        own = checked_variables(self.body, self.document, self.at)
        locator = self.document.locator("play", self.name, (*self.at, "vars"))
        return as_one_fold([*([Layer(own, locator, title(12))] if own else []), *self.over], REPLACE)

    def entries(self, key: str) -> list[Any]:
        """The list under a key; [] if it is missing or null. raises: AnsibleError, for anything else"""
        found = self.body.get(key)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self.error(WRONG_SHAPE, f"{key} is a list", key)
        return found


def read(inventory: Inventory, names: tuple[str, ...]) -> list[Play]:
    """The plays of playbooks in the order in which they run. Plays of an imported playbook come where its import is.

    A play whose hosts are not known gives a warning in *inventory*.

    inventory: reads the files, takes the warnings, and has the variables in patterns of hosts
    names:     the playbooks, relative to the inventory's folder
    raises:    AnsibleError, for a file that is not there, is encrypted or is not a list of plays; for an unknown key of
               a play; for playbooks that import each other
    """
    plays: list[Play] = []
    for name in names:
        path = _playbook(inventory, inventory.folder, name)
        for document, at, body, over in _entries(inventory, path, (), ()):
            play = Play(len(plays) + 1, document, at, inventory.folder / document.file, body, over)
            _check(play)
            patterns, missing = _patterns(play, inventory)
            plays.append(replace(play, patterns=patterns, missing=missing))
    return plays


def _entries(inventory: Inventory, path: Path, over: tuple[Layer, ...], above: tuple[Path, ...]) -> Iterator[Any]:
    document = inventory.files.document(path)
    if document is None:
        raise AnsibleError(YAML, "this playbook is encrypted", file=inventory.files.shown(path))
    if not isinstance(document.tree, list) or path in above:
        what = "imports itself" if path in above else "is a list of plays"
        raise AnsibleError(WRONG_SHAPE, f"a playbook {what}", file=document.file, line=1)
    for index, entry in enumerate(document.tree):
        at = (index,)
        if not isinstance(entry, dict):
            raise error_at(document, at, WRONG_SHAPE, "a play is a map")
        name = entry.get("import_playbook", entry.get("ansible.builtin.import_playbook"))
        if name is None:
            yield document, at, entry, over
            continue
        own = checked_variables(entry, document, at)
        layer = Layer(own, document.locator("import_playbook", str(name), (*at, "vars")), title(12))
        imported = _playbook(inventory, path.parent, str(name))
        yield from _entries(inventory, imported, (layer, *over) if own else over, (*above, path))


def _playbook(inventory: Inventory, folder: Path, name: str) -> Path:
    """The file of a playbook: a path relative to *folder*, or a playbook of a collection by its full name."""
    space, _, rest = name.partition(".")
    collection, _, stem = rest.partition(".")
    if stem and "/" not in name and not (folder / name).exists():
        for home in collection_homes(folder, inventory.folder, inventory.config.collections_path):
            for suffix in ("", ".yml", ".yaml"):
                path = home / space / collection / "playbooks" / (stem + suffix)
                if path.is_file():
                    return path
    return folder / name


def _check(play: Play) -> None:
    for key in play.body:
        if key not in PLAY:
            raise play.error(UNKNOWN_KEY, f"a play has no {key!r}", key)
    if "hosts" not in play.body:
        raise play.error(MISSING_KEY, "a play has `hosts`")
    checked_variables(play.body, play.document, play.at)


def variables_before_hosts(
    play: Play, inventory: Inventory, own: dict[Any, Any], more: Sequence[Plan] = ()
) -> Variables:
    """The variables that Ansible has before it looks at a host: those of the play, *more*, *own* and `-e`.

    own:  the variables of a task
    more: layers above those of the play
    """
    plan = [*play.vars(), *more, Layer(own, Origin("task")), *inventory.extra]
    magic = {"groups": inventory.hosts_of_groups()}
    return Variables("", "the play", lambda: plan, REPLACE, lambda: magic, inventory.sensitive_paths)


def _patterns(play: Play, inventory: Inventory) -> tuple[tuple[str, ...] | None, str]:
    """(The patterns of a play's hosts, ""). If a template in them is not known: (None, the reason), and a warning."""
    hosts = play.body["hosts"]
    if is_template(str(hosts)):
        found = layers_of_vars_files(play, inventory, variables_before_hosts(play, inventory, {}).known)
        filled = [one for one in found if one.value != Unknown(one.title, _NOT_FILLED_IN)]
        known = variables_before_hosts(play, inventory, {}, filled)
        unset = [f"`{name}` has no value" for name in names_in_templates(hosts) if known.known(name) is ABSENT]
        hosts = evaluate(hosts, known)
        if hosts is ABSENT:
            reason = f"the play's hosts are not known: {', '.join(unset) or play.body['hosts']}"
            inventory.warn(NO_MATCH, reason, play.document.file, play.document.place((*play.at, "hosts"))[0])
            return None, reason
    return tuple(map(str, hosts if isinstance(hosts, list) else [hosts])), ""


def layers_of_prompts(play: Play, inventory: Inventory) -> list[Layer]:
    """The layers of level 13: one unknown layer for each variable of `vars_prompt` that `-e` does not set. [] for none.

    Each gives a warning in *inventory*. The reason names the default, which Ansible uses without a terminal. A map in
    place of the list is one entry. An entry without a name is skipped.

    raises: AnsibleError, if `vars_prompt` is neither a list nor a map, or a name is a map or a list
    """
    given = {name for layer in inventory.extra if isinstance(layer.value, dict) for name in layer.value}
    found = []
    alone = play.body.get("vars_prompt")
    is_map = isinstance(alone, dict)
    for index, entry in enumerate([alone] if is_map else play.entries("vars_prompt")):
        name = entry.get("name") if isinstance(entry, dict) else None
        at: Steps = ("vars_prompt",) if is_map else ("vars_prompt", index)
        if isinstance(name, (dict, list)):
            raise play.error(WRONG_SHAPE, f"`name` is a text, and not {name!r}", *at)
        if name is None or name in given:
            continue
        origin = play.document.locator("vars_prompt", str(name), (*play.at, *at)).at(())
        default = f"; without a terminal it is {entry.get('default')!r}" if "default" in entry else ""
        inventory.warn(NOT_PROMPTED, f"{name} has no value: Ansible prompts for it{default}", origin.file, origin.line)
        names = frozenset((name,))
        found.append(Layer.unknown(title(13), UnknownLayerOrigin(origin, names), f"it is asked on a terminal{default}"))
    return found


def layers_of_vars_files(play: Play, inventory: Inventory, look_up: Callable[[str], Any]) -> list[Layer]:
    """The layers of level 14: one for each entry of `vars_files` whose file exists and is not empty. [] for none.

    An entry whose name has a template without a known value gives an unknown layer and a warning. A file that does not
    exist gives only a warning. Of an entry that is a list, the first file that exists counts. A text in place of the
    list is one entry.

    look_up: called with the name of a variable, returns its value for a file's name; ABSENT if it has none
    raises:  AnsibleError, for a file that is broken
    """
    found: list[Layer] = []
    given = play.body.get("vars_files")
    is_text = isinstance(given, str)
    for index, entry in enumerate([given] if is_text else play.entries("vars_files")):
        at = (*play.at, "vars_files") if is_text else (*play.at, "vars_files", index)
        origin = play.document.locator("vars_files", "", at).at(())
        names = entry if isinstance(entry, list) else [entry]
        path = _first_of(play, names, look_up)
        if path is ABSENT:
            message = f"a name in vars_files cannot be filled in: {entry!r}"
            inventory.warn(VARS_FILE_SKIPPED, message, origin.file, origin.line)
            found.append(Layer.unknown(title(14), origin, _NOT_FILLED_IN))
            continue
        if path is None:
            message = f"{', '.join(map(str, names))}: named in vars_files, and not there"
            inventory.warn(MISSING, message, origin.file, origin.line)
            continue
        found += inventory.files.layers_of_files([path], "vars_files", path.name, title(14))
    return found


def _first_of(play: Play, names: list[Any], look_up: Callable[[str], Any]) -> Any:
    """The first existing file of some names. None if none exists; ABSENT if a name before it cannot be filled in."""
    for one in names:
        name = filled_in(str(one), look_up)
        if name is ABSENT:
            return ABSENT
        path = next((path for path in (play.folder / "vars" / name, play.folder / name) if os.path.isfile(path)), None)
        if path is not None:
            return path
    return None
