"""Values that only Ansible has: texts that are encrypted, and texts that are no templates; and how its YAML holds them.

A value that is encrypted stays closed here; `vault` opens it.
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
from nodeattrs.dialects.ansible.codes import DUPLICATE_KEY, YAML
from nodeattrs.dialects.ansible.faults import AnsibleError, warned
from nodeattrs.errors import DocumentError, TooMuch
from nodeattrs.formats import json_text
from nodeattrs.formats.documents import Document
from nodeattrs.formats.places import Mark, ParsedText, Text
from nodeattrs.formats.yaml_events import Frame, Safe

VAULT_HEADER = "$ANSIBLE_VAULT"
"""What the first line of an encrypted file begins with."""


@dataclass(frozen=True, slots=True)
class Vault:
    """A value that is encrypted where it stands.

    text: the cipher text

    >>> Vault("$ANSIBLE_VAULT;1.1;AES256 3763...")
    (vault)
    """

    text: str
    not_decrypted: ClassVar[str] = "Ansible Vault was not decrypted"

    def __repr__(self) -> str:
        return "(vault)"

    __str__ = __repr__


class Decrypted(Sensitive):
    """A value that was encrypted where it stands: a secret. text: the cipher text"""

    __slots__ = ("text",)

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(value)
        self.text = text


class OpenedDocument(Document):
    """A file that was encrypted as a whole; its lines are those of the clear text, and its values are secrets."""


class Unsafe(str):
    """A text that is never read as a template."""

    __slots__ = ()


def with_leaves(
    value: Any,
    leaf: Callable[[Any], Any],
    key: Callable[[Any], Any] | None = None,
    marked: Callable[[Any], Any] | None = None,
) -> Any:
    """A tree of its own, with other leaves and keys; a tuple or a set is a leaf.

    marked: gives what a map stands for; ABSENT for one that stands for itself
    cost:   one visit a value, one frame a level, since a tree may be as deep as a file can be
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
    """A value whose texts are no templates."""
    return with_leaves(value, lambda one: Unsafe(one) if isinstance(one, str) else one)


_VAULTS = ("!vault", "!vault-encrypted")


MERGED = "`<<`"
"""What a warning names where a key stands beside a merge, which Ansible calls a duplicate."""


class _Ansible(Safe):
    """PyYAML's safe loader with three tags more; a key that is written twice is warned of.

    What an alias brings has the line of its anchor.
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
        self.warnings.append(warned(DUPLICATE_KEY, message, self.text.file, line))


def parsed(text: Text, kind: type[Document] = Document) -> Document:
    """A file of variables, a playbook or a YAML inventory: JSON where it is JSON, else YAML.

    kind:   what is made of it
    cost:   one event a key and value; lines a second reading, when they are asked for
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
    """A value that a node can hold: keys are texts, and what is encrypted is a secret."""

    def leaf(one: Any) -> Any:
        if isinstance(one, Vault):
            return Encrypted(one.text, one.not_decrypted)
        return one if isinstance(one, Sensitive) else as_json(one)

    return with_leaves(value, leaf, str)


def as_json(value: Any, *, marked: bool = False, withheld: bool = False) -> Any:
    """A value as data for JSON: keys are texts, dates ISO texts, sets and tuples lists.

    marked: whether a text that is no template is marked as `ansible-inventory --list` does
    withheld: whether what is encrypted is withheld, as a secret is, instead of given as it stands in the file

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
    return (
        key
        if isinstance(key, str)
        else "null"
        if key is None
        else str(key).lower()
        if isinstance(key, bool)
        else str(key)
    )


@dataclass(frozen=True, slots=True)
class VariableLines:
    """A locator of variables that each stand on a line: those of an INI inventory.

    by_name: variable -> line
    """

    kind: str
    name: str
    file: str
    by_name: dict[str, int]

    def at(self, path: Path) -> Origin:
        return Origin(self.kind, self.name, self.file, self.by_name.get(path[0]) if path else None)


@dataclass(frozen=True, slots=True)
class MaySet:
    """A locator of what cannot be read, which may set some variables only.

    names:    which; None where it may be any
    prefixes: what the names of others begin with
    """

    origin: Locator
    names: frozenset[str] | None = None
    prefixes: tuple[str, ...] = ()

    def at(self, path: Path) -> Origin:
        return self.origin.at(())

    @property
    def written(self) -> frozenset[str] | None:
        """The names as messages have them; None where it may be any."""
        return None if self.names is None else self.names.union(f"{prefix}*" for prefix in self.prefixes)

    def may_set(self, name: Any) -> bool:
        return self.names is None or name in self.names or str(name).startswith(self.prefixes)
