"""The values that only Ansible has, encrypted and unsafe texts, and the parser of its YAML.

Encrypted values stay encrypted here; `vault` decrypts them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.sensitive import Encrypted, Sensitive
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.ansible.faults import DUPLICATE_KEY, YAML, AnsibleError, new_warning
from nodeattrs.errors import DocumentError, TooMuch
from nodeattrs.formats import json_text
from nodeattrs.formats.documents import Document
from nodeattrs.formats.places import Mark, ParsedText, Text
from nodeattrs.formats.yaml_events import Frame, Safe

VAULT_HEADER = "$ANSIBLE_VAULT"
"""The beginning of an encrypted file."""


@dataclass(frozen=True, slots=True)
class Vault:
    """An encrypted value in a YAML file that was not decrypted.

    text:          the encrypted text, with its header
    not_decrypted: the reason that messages give

    It prints as "(vault)", also with `str`.

    >>> Vault("$ANSIBLE_VAULT;1.1;AES256 3763...")
    (vault)
    """

    text: str
    not_decrypted: ClassVar[str] = "Ansible Vault was not decrypted"

    def __repr__(self) -> str:
        return "(vault)"

    __str__ = __repr__


class Decrypted(Sensitive):
    """The decrypted value of a `Vault`, as a secret.

    value: the decrypted value
    text:  the encrypted text, which ansible-inventory prints in place of the value
    """

    __slots__ = ("text",)

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(value)
        self.text = text


class OpenedDocument(Document):
    """A document whose file was encrypted as a whole.

    Its lines are those of the clear text, and its values become secrets.
    """


class Unsafe(str):
    """A text that is never read as a template, as the tag !unsafe says."""

    __slots__ = ()


def with_leaves(
    value: Any,
    leaf: Callable[[Any], Any],
    key: Callable[[Any], Any] | None = None,
    marked: Callable[[Any], Any] | None = None,
) -> Any:
    """A copy of a tree with other leaves and keys. Maps and lists are copied. Any other value is a leaf, also a tuple
    or a set.

    leaf:   called with each leaf, returns the value that replaces it
    key:    called with each key, returns the key that replaces it; None: keys stay
    marked: called with each map, returns the value that replaces the map, or ABSENT to copy the map as usual. None:
            every map is copied as usual
    cost:   one visit for each value and one Python frame for each level
    """
    if isinstance(value, dict):
        if marked is not None and (meant := marked(value)) is not ABSENT:
            return meant
        made = {}
        for step, entry in value.items():
            made[step if key is None else key(step)] = with_leaves(entry, leaf, key, marked)
        return made
    if not isinstance(value, list):
        return leaf(value)
    entries = []
    for entry in value:
        entries.append(with_leaves(entry, leaf, key, marked))
    return entries


def unsafe(value: Any) -> Any:
    """A copy of a tree whose texts are `Unsafe`."""
    return with_leaves(value, lambda one: Unsafe(one) if isinstance(one, str) else one)


_VAULTS = ("!vault", "!vault-encrypted")


MERGED = "`<<`"
"""A text in the warning about a key that a map has itself and also gets by a merge. Ansible calls it a duplicate."""


class _Ansible(Safe):
    """The YAML loader of the project with the tags !vault, !vault-encrypted and !unsafe.

    A key that is written twice is a warning. A value of an alias has the line of its anchor.
    """

    def __init__(self, text: Text, *, marks: bool = True, budget: Budget | None = None) -> None:
        super().__init__(text, marks=marks, budget=budget)
        self._anchors: dict[str, int] = {}

    def _name(self, event: Any, named: Any) -> None:
        super()._name(event, named)
        self._anchors[event.anchor] = event.start_mark.index

    def _alias(self, event: Any) -> None:
        frame = self.open[-1] if self.open else None
        key = None if frame is None else frame.step
        super()._alias(event)
        mark = None if frame is None else frame.parts.get(key)
        if frame is not None and mark is not None and key is not None:
            frame.parts[key] = Mark(self._anchors[event.anchor], mark.parts, mark.before)

    def scalar(self, event: Any) -> Any:
        if event.tag in _VAULTS:
            return Vault(event.value)
        if event.tag == "!unsafe":
            return Unsafe(event.value)
        return super().scalar(event)

    def made(self, frame: Frame) -> Any:
        if frame.event.tag == "!unsafe":
            return unsafe(frame.data)
        return super().made(frame)

    def aliased(self, value: Any, event: Any) -> Any:
        return with_leaves(value, lambda one: one)

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        value = super().key(frame, value, event)
        if value in frame.data:
            self._twice(f"the key {value!r} is written twice; the last one counts", event)
        elif frame.under is not None and value in frame.under[0]:
            self._merged(value, event)
        return value

    def _merge(self, frame: Frame, value: Any, event: Any, parts: dict[Any, Mark]) -> Any:
        key = super()._merge(frame, value, event, parts)
        for name in frame.data.keys() & (frame.under[0] if frame.under else {}).keys():
            self._merged(name, event)
        return key

    def merged(self, frame: Frame, entry: dict[Any, Any], event: Any) -> None:
        under = frame.under[0] if frame.under else {}
        for key in (one for one in entry if one in under and under[one] != entry[one]):
            message = f"two merged maps have the key {key!r}; which one counts depends on the version of PyYAML"
            self._twice(message, event)

    def _merged(self, key: Any, event: Any) -> None:
        self._twice(f"the key {key!r} is in what {MERGED} brings, too; the one beside it counts", event)

    def _twice(self, message: str, event: Any) -> None:
        line, _ = self.text.place(event.start_mark.index)
        self.warnings.append(new_warning(DUPLICATE_KEY, message, self.text.file, line))


def parsed(text: Text, kind: type[Document] = Document) -> Document:
    """The document of a text. It is read as JSON, and as YAML if it is no JSON. The data of an empty text is None.

    kind:   the class of the document
    cost:   lines are worked out by a second reading, when they are first needed
    raises: AnsibleError of kind "yaml" with the line; TooMuch
    """
    budget = Budget(text.file)
    try:
        budget.bytes(len(text.text))
        return kind(text, _json(text, budget) or _yaml(text, budget))
    except TooMuch:
        raise
    except DocumentError as error:
        raise AnsibleError(YAML, error.reason, file=text.file, line=error.line, column=error.column) from error


def _json(text: Text, budget: Budget) -> ParsedText | None:
    if text.text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json_text.read(text, budget)
    except DocumentError:
        return None


def _yaml(text: Text, budget: Budget) -> ParsedText:
    builder = _Ansible(text, marks=False, budget=budget)
    return ParsedText(builder.run(), lambda: _marked(text), tuple(builder.warnings))


def _marked(text: Text) -> Mark:
    builder = _Ansible(text)
    builder.run()
    return builder.mark


def as_attribute(value: Any) -> Any:
    """A copy of a value that a node can hold: keys are texts, encrypted values are secrets, dates are texts.

    Tuples and sets become lists. Decrypted values stay secrets.
    """

    def leaf(one: Any) -> Any:
        if isinstance(one, Vault):
            return Encrypted(one.text, one.not_decrypted)
        return one if isinstance(one, Sensitive) else as_json(one)

    return with_leaves(value, leaf, str)


def as_json(value: Any, *, marked: bool = False, withheld: bool = False) -> Any:
    """A copy of a value as data for JSON: keys are texts, dates ISO texts, sets and tuples lists.

    marked:   True: an `Unsafe` text becomes {"__ansible_unsafe": text}, as `ansible-inventory --list` writes it; False:
              it stays a text
    withheld: True: encrypted values are withheld like secrets; False: their encrypted text is given

    >>> as_json({None: Vault("x"), 1: (2,)})
    {'null': {'__ansible_vault': 'x'}, '1': [2]}
    """

    def leaf(one: Any) -> Any:
        if isinstance(one, (tuple, set, frozenset)):
            return with_leaves([*one], leaf, _json_key)
        if isinstance(one, (Vault, Decrypted)) and not withheld:
            return {"__ansible_vault": one.text}
        if isinstance(one, (Sensitive, Vault)):
            return {"$sensitive": "withheld"}
        if isinstance(one, Unsafe):
            return {"__ansible_unsafe": str(one)} if marked else str(one)
        if isinstance(one, (datetime.date, datetime.datetime)):
            return one.isoformat()
        return one.decode("utf-8", "replace") if isinstance(one, bytes) else one

    return with_leaves(value, leaf, _json_key)


def _json_key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


@dataclass(frozen=True, slots=True)
class VariableLines:
    """A locator for variables that each have their own line, as in an INI inventory.

    kind, name, file: of all origins that `at` returns
    by_name:          variable -> line

    `at(path)` gives the line of the variable that is the first step. The line is None for an unknown variable, and for
    an empty path.
    """

    kind: str
    name: str
    file: str
    by_name: dict[str, int]

    def at(self, path: Path) -> Origin:
        """The origin of a path: the line of its variable, or no line."""
        return Origin(self.kind, self.name, self.file, self.by_name.get(path[0]) if path else None)


@dataclass(frozen=True, slots=True)
class UnknownLayerOrigin:
    """The origin of an unknown layer, with the variables that the layer may set. `at` gives *origin* for every path.

    origin:   the place of the layer
    names:    the variables that the layer may set; None: any variable
    prefixes: the layer may also set variables whose names begin with one of these; without effect if `names` is None

    `may_set(name)` is True if the layer may set a variable. `written` is `names` with the prefixes, for messages.
    """

    origin: Locator
    names: frozenset[str] | None = None
    prefixes: tuple[str, ...] = ()

    def at(self, path: Path) -> Origin:
        """The place of the layer, for every path."""
        return self.origin.at(())

    @property
    def written(self) -> frozenset[str] | None:
        """The names for messages, prefixes as "ansible_*"; None for any variable."""
        return None if self.names is None else self.names.union(f"{prefix}*" for prefix in self.prefixes)

    def may_set(self, name: Any) -> bool:
        """Whether the layer may set the variable of this name."""
        return self.names is None or name in self.names or str(name).startswith(self.prefixes)
