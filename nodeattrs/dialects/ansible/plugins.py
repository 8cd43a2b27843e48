"""Read files of the inventory plugins `constructed` and `generator`, which are evaluated here. Used by `sources`.

`constructed` adds variables and groups to hosts of the earlier sources. Its expressions are evaluated as templates,
with the variables of each host. An expression that only Ansible can evaluate raises `SourceNotRun`, and the source
stays unread. `generator` defines a host for each combination of values, and its groups. Its templates see only these
values. The module knows no playbooks.

source: Ansible's documentation of the plugins, and answers of ansible-inventory
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import INVENTORY, AnsibleError, error_at
from nodeattrs.dialects.ansible.files import Plan
from nodeattrs.dialects.ansible.groups import Host, InventoryTree
from nodeattrs.dialects.ansible.keywords import is_yes
from nodeattrs.dialects.ansible.levels import MAGIC, REPLACE, title
from nodeattrs.dialects.ansible.rendering import Rendering, evaluate
from nodeattrs.dialects.ansible.values import Unsafe
from nodeattrs.formats.documents import Document

_OMITTED = "__omit__"
"""The value of `omit` in expressions of this plugin: a variable with this value is not set."""
_ODD = re.compile(r"^[\d\W]|\W")


class SourceNotRun(Exception):
    """Raised for a source that cannot be read without running it. `InventorySources.not_run` lists these exceptions.

    unknown:    the kind of the source, and the reason for messages
    file, line: the place, which is then the attribute `origin`
    """

    def __init__(self, unknown: Unknown, file: str, line: int | None = 1) -> None:
        super().__init__(unknown.reason)
        self.unknown, self.origin = unknown, Origin("inventory", unknown.name, file, line)


class ConstructedFile:
    """One file of the plugin `constructed`, which adds to an inventory tree. The constructor reads nothing. Call `read`
    once.

    document: the parsed file, a map of the plugin's options
    tree:     the hosts and groups of the sources before it; `read` changes the tree
    given:    called with (host, True or False), returns the variables that the host has so far. True: extra variables
              count

    `read` raises AnsibleError, SourceNotRun, MissingExtra or TooMuch, and may have changed the tree before.
    """

    def __init__(self, document: Document, tree: InventoryTree, given: Callable[[Host, bool], Variables]) -> None:
        self.document, self.tree, self._given = document, tree, given
        self._options = document.tree
        self._is_strict = is_yes(self._options.get("strict", False))

    def read(self) -> None:
        """Add the variables of `compose` and the groups of `groups` and `keyed_groups`, host by host.

        An expression that fails is skipped; with the option `strict` it is an error. After an error, what was added
        before stays in the tree.

        raises: AnsibleError; SourceNotRun, for an expression that needs Ansible; MissingExtra, without Jinja2; TooMuch
        """
        for host in [*self.tree.hosts.values()]:
            sees_extra = is_yes(self._options.get("use_extra_vars", False))
            self._compose(host, _Expressions(self._given(host, sees_extra)))
            expressions = _Expressions(self._given(host, sees_extra))  # before conditions add groups to the host
            self._conditions(host, _Expressions(self._given(host, False)))
            for index, entry in enumerate(self._option("keyed_groups", list)):
                self._keyed(host, expressions, entry, ("keyed_groups", index))

    def _option(self, name: str, kind: type) -> Any:
        found = self._options.get(name) or kind()
        if not isinstance(found, kind):
            raise self._error(f"{name} is a {'map' if kind is dict else 'list'}", (name,))
        return found

    def _compose(self, host: Host, expressions: _Expressions) -> None:
        for name, text in self._option("compose", dict).items():
            at = ("compose", name)
            value = self._evaluated(expressions, text, at)
            if value == _OMITTED and self._is_strict:
                raise self._error("this value is omitted", at)
            if value is not ABSENT and value != _OMITTED:
                locator = self.document.locator("constructed", host.name, ("compose",))
                self.tree.set_variables(host, {name: value}, locator, title(8))

    def _conditions(self, host: Host, expressions: _Expressions) -> None:
        for name, text in self._option("groups", dict).items():
            at = ("groups", name)
            found = text if isinstance(text, bool) else self._evaluated(expressions, text, at)
            if not isinstance(found, bool) and found is not ABSENT and self._is_strict:
                raise self._error(f"{text!r} is {found!r}, and neither true nor false", at)
            group = self._group(str(name), at) if found is True else ""
            if group and host.name in self.tree.groups:  # Ansible finds the group of that name first
                self.tree.nest(group, host.name, self.document.file, self._line(at))
            elif group:
                self.tree.host(host.name, group)

    # --- groups that values name

    def _keyed(self, host: Host, expressions: _Expressions, entry: Any, at: Path) -> None:
        if not isinstance(entry, dict):
            raise self._error("an entry of keyed_groups is a map", at)
        if "default_value" in entry and not entry.get("trailing_separator", True):
            raise self._error("default_value and trailing_separator exclude each other", at)
        value = self._evaluated(expressions, entry.get("key"), (*at, "key"))
        if value is ABSENT:
            return
        names = list(self._names(entry, value, at))
        parent = entry.get("parent_group")
        if names and parent:
            parent = self._filled(expressions, str(parent), (*at, "parent_group"))
            if parent is ABSENT:
                return
        for name in names:
            prefix, separator = str(entry.get("prefix", "")), str(entry.get("separator", "_"))
            if prefix or is_yes(self._options.get("leading_separator", True)):
                name = prefix + separator + name
            group = self._group(name, at)
            self.tree.host(host.name, group)
            if parent:
                self.tree.nest(self._group(str(parent), at), group, self.document.file, self._line(at))

    def _names(self, entry: dict[str, Any], value: Any, at: Path) -> Iterator[str]:
        """Yield the part of a group's name that each element of a value gives."""
        default = entry.get("default_value")
        if isinstance(value, dict):
            separator = str(entry.get("separator", "_"))
            is_short = not entry.get("trailing_separator", True)
            for name, one in value.items():
                one = default if one in ("", None) and default is not None else one
                yield str(name) if one == "" and is_short else f"{name}{separator}{one}"
        elif isinstance(value, list):
            for one in value:
                yield str(default if one in ("", None) and default is not None else one)
        elif isinstance(value, str) and value:
            yield value
        elif not value and default is not None:
            yield str(default)
        elif value:
            raise self._error(f"a group is named by a text, a list or a map, not by {value!r}", at)
        elif self._is_strict:
            raise self._error("this key is empty", at)

    def _group(self, name: str, at: Path) -> str:
        return self.tree.group(_ODD.sub("_", name), self.document.file, self._line(at)).name

    # --- expressions

    def _evaluated(self, expressions: _Expressions, text: Any, at: Path) -> Any:
        """The value of an expression; ABSENT where it fails and the file is not strict."""
        if isinstance(text, str):
            return self._filled(expressions, f"{{{{ {text} }}}}", at)
        if self._is_strict:
            raise self._error(f"an expression is a text, not {text!r}", at)
        return ABSENT

    def _filled(self, expressions: _Expressions, text: str, at: Path) -> Any:
        value, reason, needs_ansible = expressions.outcome(text)
        if not reason:
            return value
        if needs_ansible:
            raise SourceNotRun(Unknown("constructed", reason), self.document.file, self._line(at))
        if self._is_strict:
            raise self._error(reason, at)
        return ABSENT

    def _line(self, at: Path) -> int:
        return self.document.place(at)[0]

    def _error(self, message: str, at: Path) -> AnsibleError:
        return error_at(self.document, at, INVENTORY, message)


class _Expressions(Rendering):
    """Evaluates expressions with the variables of one host.

    One of Ansible's own variables counts as absent if its value is not known here.
    """

    def value_of_name(self, name: str) -> Any:
        if name == "omit":
            return Unsafe(_OMITTED)
        known = self._answer.vars.keys() | self._answer.magic.keys()
        return ABSENT if name in MAGIC and name not in known else super().value_of_name(name)


_PER_HOST = 100
"""Budget steps for each combination of values."""
_KINDS: dict[type, str] = {dict: "map", list: "list", str: "text"}


class GeneratorFile:
    """One file of the plugin `generator`, which adds hosts to an inventory tree. The constructor reads nothing. Call
    `read` once.

    document: the parsed file, a map of the plugin's options
    tree:     the hosts and groups of the sources before it; `read` changes the tree

    `read` raises AnsibleError or TooMuch. Hosts that it added before an error stay in the tree.
    """

    def __init__(self, document: Document, tree: InventoryTree) -> None:
        self.document, self.tree = document, tree
        self._values: dict[str, Any] = {}

    def read(self) -> None:
        """Add a host for each combination of values in `layers`, with its groups and their variables.

        The groups are those that the option `hosts` names as parents.
        raises: AnsibleError, also if a template cannot be evaluated; TooMuch. Hosts added before an error stay in the
                tree.
        """
        layers = self._of(self.document.tree.get("layers"), dict, ("layers",))
        values = [self._of(one, list, ("layers", name)) for name, one in layers.items()]
        hosts = self._of(self.document.tree.get("hosts"), dict, ("hosts",))
        budget = Budget(self.document.file)
        for combination in itertools.product(*values):
            budget.steps(_PER_HOST)
            self._values = dict(zip(layers, combination, strict=True))
            name = self._name(hosts, ("hosts",))
            self.tree.host(name, "ungrouped")
            self._join(hosts, ("hosts",), partial(self.tree.host, name))

    def _join(self, entry: dict[str, Any], at: Path, join: Callable[[str], object]) -> None:
        """Put a host or a group into its `parents`, and these into theirs. join: puts it into the group of a name"""
        for index, parent in enumerate(self._of(entry.get("parents") or [], list, (*at, "parents"))):
            here = (*at, "parents", index)
            line = self.document.place(here)[0]
            group = self.tree.group(self._name(parent, here), self.document.file, line)
            given = self._of(parent.get("vars") or {}, dict, (*here, "vars"))
            own = {key: self._filled(one, (*here, "vars", key)) for key, one in given.items()}
            self.tree.set_variables(
                group, own, self.document.locator("generator", group.name, (*here, "vars")), title(3)
            )
            join(group.name)
            self._join(parent, here, partial(self.tree.nest, child=group.name, file=self.document.file))

    def _name(self, entry: Any, at: Path) -> str:
        name = self._of(entry, dict, at).get("name")
        return str(self._filled(self._of(name, str, (*at, "name")), (*at, "name")))

    def _filled(self, text: Any, at: Path) -> Any:
        """A text with its templates evaluated; any other value unchanged. raises: AnsibleError"""
        if not isinstance(text, str):
            return text
        plan: list[Plan] = [Layer(self._values, Origin("generator"))]
        found = evaluate(text, Variables("", "the layers", lambda: plan, REPLACE, dict))
        if found is ABSENT:
            raise error_at(self.document, at, INVENTORY, f"this template cannot be evaluated: {text!r}")
        return found

    def _of(self, value: Any, kind: type, at: Path) -> Any:
        if isinstance(value, kind):
            return value
        raise error_at(self.document, at, INVENTORY, f"{at[-1]} is a {_KINDS[kind]}")
