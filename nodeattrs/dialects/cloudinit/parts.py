"""The parts of user-data, and the reader for the YAML in them.

A text is read as cloud-init reads it: YAML 1.1, one document. Dates, bytes, sets and keys of any scalar type are kept,
and an alias is the same object as its anchor. `formats.documents` is stricter; that reader is for documents of a node.

PyYAML's C loader is about ten times as fast as its loader in Python, which cloud-init uses. The C loader reads a few
constructs in another way, so texts with one of these go to the loader in Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

import yaml

from nodeattrs.codes import Kind
from nodeattrs.core.borders import checked_args
from nodeattrs.core.budget import Budget, Limits
from nodeattrs.core.tree import MAX_DEPTH, NO_ENTRIES, strict_key
from nodeattrs.dialects.cloudinit.codes import EMPTY, TOO_DEEP, VALUE
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.other_templates import Language, filled_as_jinja, language_of
from nodeattrs.dialects.cloudinit.releases import Release
from nodeattrs.errors import BadValue, DocumentError, TooDeep, TooMuch
from nodeattrs.formats.places import Mark, Text
from nodeattrs.formats.yaml_events import PYTHON2, RepeatedKey, Safe
from nodeattrs.formats.yaml_scanning import Loader
from nodeattrs.formats.yaml_writing import written

CLOUD_CONFIG = "text/cloud-config"
JSONP = "text/cloud-config-jsonp"
JINJA = "text/jinja2"
ARCHIVE = "text/cloud-config-archive"
PART_HANDLER = "text/part-handler"
NODE_CONFIG = "application/node.eks.aws"
HANDLED_ELSEWHERE = {PART_HANDLER, NODE_CONFIG}
"""Types of parts that another program on the machine handles: part handlers, and the NodeConfig of Amazon EKS."""
INCLUDES = ("text/x-include-url", "text/x-include-once-url")
SCRIPTS = (
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
    "text/cloud-boothook",
)


class CloudPart(NamedTuple):
    """One part of user-data: a config, a script, a template, or a part of another type. `unpack` makes them.

    body:     the text or bytes after unpacking
    type:     the content type, such as "text/cloud-config"
    filename: the name; None: `merge` calls the part part-001, part-002, ... by position
    headers:  the headers as written. `Merge-Type` and `X-Merge-Type` have a merge definition; they count only in
              exactly this case
    file:     the file of the part, as messages show it; None for a text without one
    line:     the line of the file on which the body begins; None if the file has the body in another form (base64,
              gzip)
    indent:   the number of blanks before each line of the body in the file, as in an archive; None for a body that a
              platform makes from values in the file: it has no columns there
    packed:   "gzip" for a part that was packed; else ""
    lost:     names of merge headers that unpacking lost
    lines:    for a rendered template: the line of the template for each line of the body. For a body that a platform
              makes: the line of the file. () for any other part
    language: the language of a template that another program fills in, if the document names it; None otherwise

    `text` is the body as text. `at(line)` gives the line of the file for a line of the body. `filled_in_by` is the
    template language of a config that another program fills in first; else None.
    """

    body: str | bytes
    type: str = CLOUD_CONFIG
    filename: str | None = None
    headers: Mapping[str, Any] = NO_ENTRIES
    file: str | None = None
    line: int | None = 1
    packed: str = ""
    lost: tuple[str, ...] = ()
    indent: int | None = 0
    lines: tuple[int, ...] = ()
    language: Language | None = None

    @property
    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 are kept as lone surrogates."""
        return self.body if isinstance(self.body, str) else self.body.decode("utf-8", "surrogateescape")

    def at(self, line: int) -> int:
        """The line of the file for a line of the body; for a body that is not in the file as it is, a line of the part.

        In a rendered template it is the line of the template.
        """
        own = self.lines[min(line, len(self.lines)) - 1] if self.lines else line
        return own + (1 if self.line is None else self.line) - 1

    def column(self, column: int) -> int | None:
        """The column of the file for a column of the body; None for a body that a platform makes."""
        return None if self.indent is None else column + self.indent

    @property
    def filled_in_by(self) -> Language | None:
        """The template language of a config that another program has to fill in first; None for any other part."""
        language = self.language or language_of(self.text)
        is_template = self.type == CLOUD_CONFIG and language and filled_as_jinja(self.text, language) is not None
        return language if is_template else None


# --- what a text says -------------------------------------------------------------------

MAX_BYTES = Limits().bytes
"""The default limit of bytes: for a text that is read, and for all that one call unpacks."""

# Tabs, byte order marks, "?" and "x:," in flow collections, lone tags, directives, escapes of half a surrogate pair.
_READ_DIFFERENTLY = re.compile(
    r"(?m)[\t\ufeff?]|:[,\[\]{}]|(?:^|[\s,\[{])!(?=[\s,\[\]{}]|$)|^%|\\(?:u|U0000)[dD][89a-fA-F]"
)
_SIGNS = ("\t", "\ufeff", "?", "!", "%", "\\", ":,", ":[", ":]", ":{", ":}")
"""Each such construct has one of these. Most texts have none, and the expression is not used for them."""


def _is_read_differently(text: str) -> bool:
    return any(sign in text for sign in _SIGNS) and _READ_DIFFERENTLY.search(text) is not None


class _CloudInit(Safe):
    anchors_once = True
    half_pairs = True
    values_stand = False
    texts = Safe.texts - {PYTHON2}

    def fault(
        self, message: str, offset: int | None, *, too_deep: bool = False, hint: str | None = None, **more: Any
    ) -> DocumentError:
        line, column = (None, None) if offset is None else self.text.place(offset)
        fault = TOO_DEEP if too_deep else EMPTY
        return CloudConfigError(fault, f"broken YAML: {message}", line=line, column=column, hint=hint)


_SHORT, _LONG, _FEW = 2_000, 100_000, 2


class _Python2(Loader):
    """The loader of PyYAML with the tag !!python/unicode, as in releases until 24.1."""


def _text_of(loader: _Python2, node: yaml.ScalarNode) -> Any:
    return loader.construct_scalar(node)


_Python2.add_constructor(PYTHON2, _text_of)


def _kind_of_fault(text: str, loader: type[Loader]) -> Kind:
    """The kind of an error in a text with tags: EMPTY if cloud-init takes it for broken YAML, VALUE if it fails itself.

    The first error counts. EMPTY for a text whose loading may take long.
    """
    if len(text) > _LONG or ("<<" in text and (len(text) > _SHORT or text.count("<<") > _FEW)):
        return EMPTY  # loading it may take long, since PyYAML writes out merge keys
    try:
        yaml.load(text, loader)
    except (yaml.YAMLError, TypeError, ValueError):
        return EMPTY
    except Exception:
        return VALUE
    return EMPTY


def load_yaml(
    text: str,
    budget: Budget | None = None,
    release: Release | None = None,
    repeated: list[RepeatedKey] | None = None,
) -> Any:
    """The value of a YAML text; None for an empty one. An alias is the same object as its anchor.

    budget:   limits the reading; None: a new one for this text
    release:  the rules to read by; None: the newest
    repeated: a list to which keys that are written twice in one map are appended; None: they are not looked for
    raises:   CloudConfigError of kind "empty", for broken YAML, with its line; of kind "value", for a scalar that
              makes cloud-init itself fail; of kind "too-large" or "too-deep", past a limit
    """
    is_python2 = release is not None and release.python2
    try:
        budget = budget or Budget("")
        budget.bytes(len(text))
        is_pure = _is_read_differently(text)
        builder = _CloudInit(Text("", text), marks=False, budget=budget)
        builder.pure = is_pure
        builder.repeated = repeated
        if is_python2:
            builder.texts = Safe.texts
        return builder.run()
    except CloudConfigError as error:
        if error.kind == EMPTY and "!" in text:
            error.kind = _kind_of_fault(text, _Python2 if is_python2 else Loader)
        raise
    except TooMuch as error:
        raise past_a_limit(error, "the text") from None


def marks_of(text: str) -> Mark:
    """The tree of marks of a YAML text. A mark is the offset of a key or element, found by the steps of its path.

    The text may use the YAML of any release of cloud-init. raises: DocumentError, for broken YAML
    """
    builder = _CloudInit(Text("", text))
    builder.pure = _is_read_differently(text)
    builder.texts = Safe.texts  # with the tags of all releases
    builder.run()
    return builder.mark


@checked_args(text=str, budget=Budget | None)
def load_config(
    text: str,
    budget: Budget | None = None,
    release: Release | None = None,
    repeated: list[RepeatedKey] | None = None,
) -> dict[Any, Any]:
    """The map in the text of a cloud-config; the first line is not looked at.

    budget:   limits the reading; None: a new one for this text
    release:  the rules to read by; None: the newest
    repeated: a list to which keys that are written twice in one map are appended
    raises:   CloudConfigError, as `load_yaml` does. An empty text, and a text that is not a map, both have the kind
              "empty"
    """
    tree = load_yaml(text, budget, release, repeated)
    if isinstance(tree, dict):
        return tree
    if tree is None:
        raise CloudConfigError(EMPTY, "the part says nothing", hint="write key: value, or leave the part out")
    raise CloudConfigError(EMPTY, f"a cloud-config is a mapping, and this is {kind_of(tree)}", hint="write key: value")


_KINDS: dict[type, str] = {
    str: "a text", dict: "a mapping", list: "a list", bool: "true or false", int: "a number", float: "a number",
    type(None): "null", bytes: "bytes", set: "a set", tuple: "a list of pairs", date: "a date", datetime: "a date",
}  # fmt: skip


def kind_of(value: Any) -> str:
    """The type of a value in words, with an article: "a text", "a list". Another type gives its name."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def dumped(tree: Any) -> str:
    """The YAML text that cloud-init writes for a tree: sorted keys, an indent of four, `---` and `...`."""
    return written(tree, indent=4, explicit_start=True, explicit_end=True, sort_keys=True, allow_unicode=False)


# --- the trees that it makes ------------------------------------------------------------

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None), date, datetime, bytes})


def independent(value: Any) -> Any:
    """A copy of *value* that shares no map or list with it; subclasses of dict and list become plain ones.

    Tuples and sets stay tuples and sets. What an alias made one object is copied each time.
    raises: TooDeep, past 500 levels or for a value in itself; BadValue, for a type that YAML does not have

    >>> independent({None: [1, (2, [3])]})
    {None: [1, (2, [3])]}
    """
    return value if type(value) in _SCALARS else _copied(value, MAX_DEPTH)


def _copied(value: Any, room: int) -> Any:
    if not room:
        raise _too_deep()
    # Loops and no comprehensions: those would take a second frame a level.
    if isinstance(value, dict):
        keyed = dict(value)
        for key, entry in value.items():
            if type(entry) not in _SCALARS:
                keyed[key] = _copied(entry, room - 1)
        return keyed
    if isinstance(value, (list, tuple)):
        listed = list(value)
        for index, entry in enumerate(value):
            if type(entry) not in _SCALARS:
                listed[index] = _copied(entry, room - 1)
        return listed if isinstance(value, list) else tuple(listed)
    if isinstance(value, (set, frozenset)):
        return type(value)(value)
    for plain in (str, bool, int, float, bytes, datetime, date):
        if isinstance(value, plain):
            return value
    raise BadValue(f"a cloud-config cannot hold a {type(value).__name__}", path=())


def _too_deep() -> TooDeep:
    return TooDeep(f"nested deeper than {MAX_DEPTH} levels, or inside itself", path=())


def value_count(value: Any) -> int:
    """The number of values in a tree; an object that is in it several times counts each time.

    cost:   one visit for each object, even if it is there often
    raises: TooDeep, past 500 levels, or for a tree in itself
    """
    return _sized(value, {}, set(), MAX_DEPTH)[0]


def _sized(value: Any, known: dict[int, tuple[int, int]], open_: set[int], room: int) -> tuple[int, int]:
    """The number of values, and the height."""
    if not isinstance(value, (dict, list, tuple)):
        return 1, 0
    identity = id(value)
    size = known.get(identity)
    if size is None:
        if identity in open_ or not room:
            raise _too_deep()
        open_.add(identity)
        total, height = 1, 0
        for entry in value.values() if isinstance(value, dict) else value:
            if isinstance(entry, (dict, list, tuple)):
                more, below = _sized(entry, known, open_, room - 1)
                total, height = total + more, max(height, below)
            else:
                total += 1
        open_.discard(identity)
        size = known[identity] = total, height + 1
    if size[1] > room:
        raise _too_deep()
    return size


def strictly_equal(left: Any, right: Any) -> bool:
    """Whether two trees are equal and all their values have the same types: 1 is neither 1.0 nor True.

    The order of keys is ignored.
    """
    return bool(left == right and strict_key(left) == strict_key(right))
