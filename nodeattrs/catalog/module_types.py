"""The automatic relations of types in Puppet modules, such as `autorequire(:file) { self[:path] }` in their Ruby.

The Ruby is read and not run. A compiled catalog does not contain these relations: the agent adds them. Plain values,
parameters and a few expressions with paths are understood. A type with other code is named in a warning.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs.catalog.errors import MoreRelations
from nodeattrs.core.tree import flat
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import text_of
from nodeattrs.formats.places import Mark, Text
from nodeattrs.formats.ruby_text import Call, Literal, Ruby

_RELATIONS = {f"auto{relation}": relation for relation in ("require", "subscribe", "before", "notify")}
_FIELDS = ("newparam", "newproperty")
_OF_A_FIELD = ("munge", "defaultto", "isnamevar")

_SELF = r"(?:self\[:(\w+)\]|value\(:(\w+)\)|(?:self\.)?(name|title))"
_REFRESH = re.compile(r"^[^\S\n]*def refresh\b", re.MULTILINE)
_CONSTANT = re.compile(r"(?:::)?[A-Z]\w*(?:::[A-Z]\w*)+")
_EXPRESSIONS = tuple(
    (re.compile(pattern.replace("SELF", _SELF)), answer)
    for pattern, answer in (
        (r"(?P<of>SELF)", lambda text, _: text),
        (
            r"Pathname\.new\((?P<of>SELF)\)\.(?:parent|dirname)(?:\.to_s)?",
            lambda text, _: posixpath.dirname(text) or ".",
        ),
        (
            r"(?P<of>SELF)\.split\((?P<quote>['\"])(?P<by>.)(?P=quote)\)\[(?P<at>-?\d)\]",
            lambda text, found: _part(text, found),
        ),
        (
            r"if (?P<of>SELF) && Pathname\.new\((?P=of)\)\.absolute\?\s+(?P=of)\s+end",
            lambda text, _: text if text.startswith("/") else None,
        ),
    )
)
"""Expressions that are understood beside plain values: a pattern, and a function of the parameter's text and the match.

The first pattern stands for the parameter itself, of any type.
"""


def _part(text: str, found: re.Match[str]) -> str | None:
    parts, at = text.split(found["by"]), int(found["at"])
    return parts[at] if -len(parts) <= at < len(parts) else None


@dataclass(slots=True)
class _Field:
    """A parameter of a type: whether it names the resource, whether Ruby alters its value, and its default."""

    is_name: bool = False
    is_altered: bool = False
    default: Call | None = None


@dataclass(slots=True)
class _ModuleType:
    """A resource type of a module: its parameters and the blocks of its automatic relations, read from its Ruby.

    ruby:     the parsed source
    fields:   parameter -> its default and whether its value is altered
    blocks:   (relation, other type) -> the block that computes references
    resource: title and parameters of the resource that is looked at; set before a block is read
    is_whole: whether the file declares all types and parameters by plain names
    """

    ruby: Ruby
    fields: dict[str, _Field] = field(default_factory=dict)
    blocks: dict[tuple[str, str], Call] = field(default_factory=dict)
    resource: tuple[str, Mapping[str, Any]] = ("", {})
    is_whole: bool = True

    def literal(self, text: str) -> Literal | None:
        """The value of a Ruby expression for the current resource; None if the expression is not understood.

        The value in the literal is None (nil) for a parameter that is not set.
        """
        for pattern, answer in _EXPRESSIONS:
            found = pattern.fullmatch(text)
            if found is None:
                continue
            value = self._parameter(next(filter(None, found.groups()[1:4])))
            if isinstance(value, str):
                value = answer(value, found)
            elif value is not None and pattern is not _EXPRESSIONS[0][0]:
                return None
            return Literal(value, Mark(0))
        return Literal(text, Mark(0)) if _CONSTANT.fullmatch(text) else None

    def _parameter(self, name: str) -> Any:
        title, parameters = self.resource
        one = self.fields.get(name, _Field(is_altered=name != "ensure" and not self.is_whole))
        if name == "title":
            return title
        if name in parameters:
            if one.is_altered:
                raise DocumentError(f"what {name} becomes only Ruby could say", file=self.ruby.text.file)
            return parameters[name]
        if one.is_name or name == "name":
            if "title_patterns" in self.ruby.text.text:
                raise DocumentError(f"what {name} is of a title only Ruby could say", file=self.ruby.text.file)
            return title
        if one.default is None:
            return None
        given = one.default.arguments()
        return (given[0] if given else one.default.result()).value


class ModuleTypes:
    """The resource types that the Puppet modules in some folders define, read from their Ruby files.

    folders: the folders that contain modules. If two files define one type, the first file counts

    The constructor lists the files `*/lib/puppet/type/*.rb`. A file is read when its type is first asked for.
    `relations` gives the automatic relations of a resource: "require" -> references. `can_refresh` says whether a type
    reacts to a refresh. For an unknown type they give {} and False. `warnings` names the types that no folder has, and
    those that `relations` could read only in part; call it after `relations`.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._files: dict[str, Path] = {}
        for folder in folders:
            for file in sorted(folder.glob("*/lib/puppet/type/*.rb")):
                self._files.setdefault(file.stem, file)
        self._types: dict[str, _ModuleType] = {}
        self._unread: dict[str, str] = {}

    def relations(self, kind: str, title: str, parameters: Mapping[str, Any]) -> dict[str, list[str]]:
        """The automatic relations of a resource: "require", "before", ... -> references, which need not exist.

        kind:       the type of the resource; its case does not count
        title:      the title of the resource
        parameters: the parameters of the resource

        {} for a type that no folder has, or whose file cannot be read. A block that cannot be read adds nothing.
        """
        found: dict[str, list[str]] = {}
        resource_type = self._type(kind.lower())
        if resource_type is None:
            return found
        resource_type.resource = title, parameters
        for (relation, other), block in resource_type.blocks.items():
            for name in self._related(kind.lower(), block):
                found.setdefault(relation, []).append(f"{other}[{name}]")
        return found

    def can_refresh(self, kind: str) -> bool:
        """Whether a type reacts to a refresh; False for a type that no folder has, or whose file cannot be read."""
        one = self._type(kind.lower())
        return one is not None and _REFRESH.search(one.ruby.text.text) is not None

    def warnings(self, kinds: Iterable[str]) -> Iterator[MoreRelations]:
        """Yield warnings about types: one for all that no folder has, and one for each that was read only in part.

        Call it after `relations`, which finds the parts that cannot be read.
        kinds: the types of the resources in the catalog; no warning is about another type
        """
        names = sorted(kind.lower() for kind in kinds)
        absent = [name for name in names if name not in self._files]
        if absent:
            hint = "name the folder that has their modules: --modulepath DIR"
            message = f"types of modules may relate or refresh more than is known here: {', '.join(absent)}"
            yield MoreRelations(message, hint=hint)
        for name in names:
            if name in self._unread:
                module = self._files[name].parents[3].name
                message = f"the type {name} of module {module} may relate or refresh more than is known here"
                yield MoreRelations(message, details=[self._unread[name]])

    def _related(self, kind: str, block: Call) -> list[str]:
        """The names that a block computes for the current resource; [] and a note in `_unread` if only Ruby could."""
        try:
            return [name for name in flat([block.result().value]) if isinstance(name, str)]
        except DocumentError as error:
            self._unread.setdefault(kind, _reason(error))
            return []

    def _type(self, name: str) -> _ModuleType | None:
        if name not in self._types and name in self._files and name not in self._unread:
            file = self._files[name]
            try:
                self._types[name] = _type_in(Text(file.as_posix(), text_of(file, file.as_posix())))
            except DocumentError as error:
                self._unread[name] = _reason(error)
        return self._types.get(name)


def _reason(error: DocumentError) -> str:
    return str(error).partition("\n")[0]


def _type_in(text: Text) -> _ModuleType:
    """The resource type that a Ruby file declares. raises: MissingExtra; DocumentError, where the text is no Ruby"""
    one = _ModuleType(Ruby(text, lambda expression: one.literal(expression)))
    last = _Field()
    for call in one.ruby.anywhere((*_RELATIONS, *_FIELDS, *_OF_A_FIELD)):
        if call.word in _RELATIONS or call.word in _FIELDS:
            name, how = _named(call)
            if name is None:  # in a loop over names
                one.is_whole = False
            if call.word in _FIELDS:
                last = _Field(name == "name" or bool(how.get("namevar")), "parent" in how)
                one.fields[name or ""] = last
            elif name not in (None, "class"):  # an agent knows no type of that name
                one.blocks[_RELATIONS[call.word], str(name).capitalize()] = call
        elif call.word == "defaultto":
            last.default = call
        else:
            last.is_altered |= call.word == "munge"
            last.is_name |= call.word == "isnamevar"
    return one


def _named(call: Call) -> tuple[str | None, dict[str, Any]]:
    """(first argument, options) of a call; None for a first argument other than text, or if only Ruby knows it."""
    try:
        first, *others = [literal.value for literal in call.arguments()] or [None]
    except DocumentError:
        return None, {}
    options = others[-1] if others and isinstance(others[-1], dict) else {}
    return (first if isinstance(first, str) else None), options
