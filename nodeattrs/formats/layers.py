"""Files and variables as layers of a fold, each value with its line.

An encrypted value becomes a secret, and a file that is encrypted as a whole an unknown layer. A value under a YAML tag
that is not YAML's own is a `Tagged`.
"""

from __future__ import annotations

import os
import pathlib
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import Path, json_or_text
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats.documents import (
    Document,
    Syntax,
    content_of,
    decoded,
    git_parts,
    parse_all,
    syntax_in,
    syntax_of,
)
from nodeattrs.formats.encrypted import encrypted_whole, marked, may_be_encrypted
from nodeattrs.kinds import NO_DOCUMENT, SEVERAL_DOCUMENTS


@dataclass(frozen=True, slots=True)
class LayerReader:
    """Reads files as layers, with the same options for all. It reads a file again each time.

    syntax:   the syntax of all files; None: it follows from the name, and without that from the content
    tags:     tag, such as "!Ref" -> a function from the value under it to the value of the layer. A value under another
              tag becomes a `Tagged`
    document: the number of one document to take from each file, counted from 1; None: all documents
    kind:     the `kind` of the origins of the layers
    warnings: warnings about all files that were read so far, such as keys written twice
    pipes:    whether a path may be a pipe; True only for paths that the caller named, not a repository
    comments: whether JSON of any name may have comments; False: the name decides

    `read` takes a path, and `layers` the content of a file that was read already. Both return one layer for each
    document. A config of Git is split behind each line that includes another file; each part is a layer.
    A file that is encrypted as a whole, or lies outside of the border, is one unknown layer. DocumentError is raised
    for a missing file, for a document other than a map, and for a number in `document` that is too high.
    """

    syntax: Syntax | None = None
    tags: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    document: int | None = None
    kind: str = "file"
    warnings: list[DocumentError] = field(default_factory=list)
    pipes: bool = False
    comments: bool = False

    def read(
        self, path: pathlib.Path, file: str | None = None, name: str = "", budget: Budget | None = None
    ) -> list[Layer]:
        """Read a file: one layer, or one for each document in it. An empty file is {}, except in JSON.

        One unknown layer for a file outside of the repository, and for one that is encrypted as a whole.

        file:   its name in messages (default: *path*)
        name:   of its origins (default: the file's name without its suffix); of several documents "NAME 1", "NAME 2"
        budget: the limits; None: the usual ones
        raises: DocumentError, with file and line, also for a document that is not a map; TooMuch
        """
        shown = path.as_posix() if file is None else file
        if border.is_layer_outside(path):
            return [Layer.unknown(name or path.stem, Origin(self.kind, name or path.stem, shown), border.REASON)]
        budget = budget or Budget(shown)
        return self.layers(content_of(path, shown, budget, self.pipes), shown, name or path.stem, budget)

    def layers(self, content: bytes, file: str, name: str, budget: Budget | None = None) -> list[Layer]:
        """The layers of a file whose content was read already: one, or one for each document in it.

        file:   the name in messages, which may also decide the syntax
        name:   the name of their origins; for several documents "NAME 1", "NAME 2"
        budget: the limits; None: the usual ones
        raises: DocumentError, also for a document that is not a map; TooMuch
        """
        text = decoded(content, file)
        reason = encrypted_whole(text)
        if reason is not None:
            return [Layer.unknown(name, Origin(self.kind, name, file, 1), reason)]
        documents = self._documents(text, file, budget or Budget(file))
        for one in documents:
            self.warnings.extend(one.warnings)
        names = (
            [name] * len(documents)
            if len(documents) == 1 or self.syntax == "git"
            else [f"{name} {number}" for number in range(1, len(documents) + 1)]
        )
        has_secrets = may_be_encrypted(text)
        layers = [self._layer(one, of, has_secrets) for one, of in zip(documents, names, strict=True)]
        return layers if self.document is None else [_chosen(layers, self.document, file)]

    def _documents(self, text: str, file: str, budget: Budget) -> list[Document]:
        judged = without_comments(text) if self.comments else text
        syntax = self.syntax or syntax_of(file) or syntax_in(judged, file)
        has_comments = syntax == "json" and (self.comments or may_have_comments(file))
        text = without_comments(text) if has_comments else text
        try:
            if syntax == "git":
                return git_parts(text, file, budget)
            return parse_all(text, file, syntax, budget, self.tags)
        except DocumentError as error:
            error.hint = "; ".join(filter(None, [error.hint, self._way_out(file)])) or None
            raise

    def _way_out(self, file: str) -> str | None:
        if self.syntax or syntax_of(file):
            return None
        return "the name does not say the syntax, so the content was judged: --syntax says it (in Python: syntax=)"

    def _layer(self, document: Document, name: str, has_secrets: bool) -> Layer:
        tree = {} if document.tree is None else document.tree
        tree = marked(tree) if has_secrets else tree
        if not isinstance(tree, dict):
            what = f"a layer is a map, and this is a {type(tree).__name__}"
            raise document.error(what, hint=self._way_out(document.file))
        return Layer(tree, document.locator(self.kind, name))


def _chosen(layers: list[Layer], number: int, file: str) -> Layer:
    if not 0 < number <= len(layers):
        held = "1 document" if len(layers) == 1 else f"{len(layers)} documents"
        raise DocumentError(f"there is no document {number}: it holds {held}", file=file, kind=NO_DOCUMENT)
    return layers[number - 1]


@checked_args(
    path=A_PATH,
    name=str,
    kind=str,
    budget=Budget | None,
    syntax=str | None,
    tags=Mapping | None,
    document=int | None,
)
def read_layer(
    path: str | pathlib.Path,
    name: str = "",
    kind: str = "file",
    *,
    budget: Budget | None = None,
    syntax: Syntax | None = None,
    tags: Mapping[str, Callable[[Any], Any]] | None = None,
    document: int | None = None,
) -> Layer:
    """Read a file as one layer: JSON, YAML, TOML, .env, .ini or .properties. An empty file is {}, except in JSON.

    name:     of its origins (default: the file's name without its suffix)
    kind:     of its origins
    budget:   limits that other files may share (default: its own)
    syntax:   "json", "yaml", "toml", "env", "ini" or "properties" (default: by the name, else by the content)
    tags:     tag of YAML, such as "!Ref" -> a function of the value under it; a value under another tag becomes a
              `Tagged`
    document: the number of the document, from 1, where a YAML file has several
    raises:   DocumentError, with file and line, also for several documents, and for a value that is not a map
    warns:    UserWarning, for a key that one map has twice
    """
    reader = LayerReader(syntax, tags or {}, document, kind)
    layers = reader.read(pathlib.Path(path), name=name, budget=budget)
    for warning in reader.warnings:
        warnings.warn(str(warning), stacklevel=3)
    if len(layers) > 1:
        hint = "say which one: document=1"
        raise DocumentError(f"it holds {len(layers)} documents", file=str(path), hint=hint, kind=SEVERAL_DOCUMENTS)
    return layers[0]


# --- variables


class _Variables(NamedTuple):
    """The places of values that are variables: path -> the origin of its variable."""

    origins: Mapping[Path, Origin]
    whole: Origin

    def at(self, path: Path) -> Origin:
        """The origin of the path, or of the nearest path above it."""
        steps = (path[:end] for end in range(len(path), -1, -1))
        return next((self.origins[one] for one in steps if one in self.origins), self.whole)


def environment_layer(variables: Mapping[str, str], prefix: str, nested: str) -> Layer:
    """The layer of the variables whose names begin with a prefix: with "APP_" and "__", APP_DB__PORT sets db.port.

    A text that is a JSON list or map is read as such; any other text stays a text.

    nested: the text between two keys in a name; the keys are the name in lower case. "": a name is one key
    raises: BadArgument, if two variables set the same path, or one of them a path below the path of the other
    """
    entries = ((name, variables[name], Origin("variable", name)) for name in sorted(variables))
    return _variables(entries, prefix, nested, Origin("environment"))


def with_variables(layers: Iterable[Layer], prefix: str, nested: str) -> list[Layer]:
    """The layers, with each .env file read as variables; then one more layer, of the variables of this process.

    prefix: only variables whose names begin with it count
    nested: the text between two keys in a name; "": a name is one key
    raises: BadArgument, if two variables set the same path, or one of them a path below the path of the other
    """
    found = [
        dotenv_layer(one, prefix, nested) if syntax_of(one.origin.at(()).file or "") == "env" else one for one in layers
    ]
    return [*found, environment_layer(os.environ, prefix, nested)]


def dotenv_layer(layer: Layer, prefix: str, nested: str) -> Layer:
    """The layer of a .env file, with its names read as by `environment_layer`. An unknown layer is returned unchanged.

    A name without a value (None) is left out.

    prefix: only names that begin with it count; "": all
    nested: the text between two keys in a name; "": a name is one key
    raises: BadArgument, if two names give the same path, or one of them a path below the path of the other
    """
    if not isinstance(layer.value, dict):
        return layer
    entries = ((name, text, layer.origin.at((name,))) for name, text in layer.value.items() if text is not None)
    return _variables(entries, prefix, nested, layer.origin.at(()))


def _variables(entries: Iterable[tuple[str, Any, Origin]], prefix: str, nested: str, whole: Origin) -> Layer:
    tree: dict[str, Any] = {}
    names: dict[Path, str] = {}
    origins: dict[Path, Origin] = {}
    for name, text, origin in entries:
        if not name.startswith(prefix) or name == prefix:
            continue
        rest = name.removeprefix(prefix).lower()
        path = tuple(rest.split(nested.lower())) if nested else (rest,)
        *above, last = path
        holder: Any = tree
        for step in above:
            holder = holder.setdefault(step, {}) if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or last in holder:
            other = next(one for at, one in names.items() if at[: len(path)] == path or path[: len(at)] == at)
            what = "set the same key" if names.get(path) == other else "set a value and one below it"
            raise BadArgument(f"{name} and {other} {what}", hint="unset one of them")
        is_json = isinstance(text, str) and text[:1] in ("[", "{")
        holder[last], origins[path], names[path] = json_or_text(text) if is_json else text, origin, name
    return Layer(tree, _Variables(origins, whole))


# --- JSON with comments and trailing commas, as TypeScript, Visual Studio Code and .NET read some of their files

_NAMES = re.compile(
    r"(?i)(?:tsconfig|jsconfig|appsettings)(?:\..+)?\.json|\.?devcontainer\.json|.+\.(?:jsonc|code-workspace)"
)
_STRING = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPARE = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_SIGN = re.compile(r"[^\n]")


def may_have_comments(file: str) -> bool:
    """Whether a file name is one that a program reads as JSON with comments. The content is not looked at.

    >>> [may_have_comments(one) for one in ("web/tsconfig.base.json", ".vscode/settings.json", "a.json")]
    [True, True, False]
    """
    folder, name = os.path.split(file)
    is_editors = os.path.basename(folder) == ".vscode" and name.endswith(".json")
    return is_editors or _NAMES.fullmatch(name) is not None


def without_comments(text: str) -> str:
    """The text with blanks in place of comments, and of a comma before a closing bracket. Offsets and lines stay.

    A comment that is not closed ends with the text.

    >>> without_comments('{"a": "//", // b' + chr(10) + '"l": [1,], /* c */}')
    '{"a": "//",     \\n"l": [1 ]         }'
    """
    return _SPARE.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else _SIGN.sub(" ", found[0])
