"""The parser of YAML for values of JSON, with the place of each key.

PyYAML reads the scalars (YAML 1.1: `yes` is true, `0644` is octal). Other values are errors: bytes, sets, Python
objects, NaN and infinity. Dates stay text, as they are written. Aliases and merge keys (`<<`) give separate copies.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from yaml.events import ScalarEvent

from nodeattrs.core.budget import Budget
from nodeattrs.core.tree import Path, copied
from nodeattrs.errors import DocumentError
from nodeattrs.formats.numbers import NoNumber
from nodeattrs.formats.places import ParsedText, Text
from nodeattrs.formats.tags import KEY, Tagged, Tags
from nodeattrs.formats.yaml_events import MERGE, YAML, Builder, Frame, tag_of
from nodeattrs.kinds import TAG_REFUSED

_TEXTS = {YAML + name for name in ("str", "timestamp", "value", "merge")}
_VALUES = {YAML + name for name in ("int", "float", "bool", "null")}
_KINDS = {"timestamp": "date", "bool": "boolean"}
_TAG_HINTS = {
    "binary": "write the bytes as text",
    "set": "write a list",
    "omap": "write a map; its order is kept",
    "pairs": "write a list of maps",
}


def read(text: Text, budget: Budget | None = None) -> ParsedText:
    """Parse a YAML text with one document; an empty text is null.

    Of a key written twice the last one counts, with a warning. Under `<<` the map's own keys count first, then those
    of the maps in their order.

    raises: DocumentError, also for a second document and an unknown tag; TooMuch
    """
    builder = _YamlBuilder(text, budget=budget)
    return ParsedText(builder.run(), lambda: builder.mark, tuple(builder.warnings))


def read_all(text: Text, budget: Budget, tags: Tags) -> list[ParsedText]:
    """Parse all documents of a YAML text: one `ParsedText` for each, at least one. The first has all warnings.

    budget: the limits for all documents together
    tags:   tag -> a function of the value under it. For YAML's own tags the function takes the text of a plain scalar,
            and None from it changes nothing. A value under another tag that is not YAML's own becomes a `Tagged`
    raises: DocumentError; TooMuch
    """
    builder = _TaggedYamlBuilder(text, budget=budget)
    builder.tags = tags
    builder.run()
    warnings = tuple(builder.warnings)
    documents = builder.documents or [(None, builder.mark)]
    return [
        ParsedText(tree, partial(mark.nearest, ()), () if number else warnings)
        for number, (tree, mark) in enumerate(documents)
    ]


class _YamlBuilder(Builder):
    def error(self, message: str, event: Any, **more: Any) -> DocumentError:
        return super().error(message, event, path=self._path(), **more)

    def _path(self) -> Path:
        """The steps to what comes next, or to the map whose key comes next."""
        steps = [frame.step for frame in self.open]
        return tuple("<<" if step is MERGE else step for step in steps if step is not None)

    def scalar(self, event: Any) -> Any:
        tag = tag_of(event)
        if tag in _TEXTS:
            return event.value
        if tag not in _VALUES:
            return self.tagged(event, event.value)
        value = self.constructed(tag, event)
        if type(value) is float and not math.isfinite(value):
            raise self.error(NoNumber(event.value).message, event, hint="write null, or quote it")
        return value

    def made(self, frame: Frame) -> Any:
        if frame.event.tag not in (None, "!", YAML + ("map" if frame.is_map else "seq")):
            return self.tagged(frame.event, frame.data)
        return frame.data

    def tagged(self, event: Any, value: Any) -> Any:
        """The value under a tag that is none of YAML's plain ones; here it raises an error."""
        raise self._unknown_tag(event)

    def aliased(self, value: Any, event: Any) -> Any:
        return copied(value)

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        if type(value) in (dict, list):
            raise self.error("a map or list cannot be a key", event, hint="quote it, if it is meant as text")
        name = tag_of(event).removeprefix(YAML) if type(event) is ScalarEvent else "str"
        if name == "merge":
            return MERGE
        value = self.key_of(value, name, event)
        again = frame.parts.get(value)
        if again is not None:
            here = event.start_mark.index
            self.warnings.append(self.text.repeated((*self._path(), value), again.offset, here))
        return value

    def key_of(self, value: Any, name: str, event: Any) -> Any:
        """The text or whole number that a scalar is as a key. name: of its tag. raises: DocumentError for others."""
        if name == "str" and type(value) is float:
            value = event.value  # only some readers take 1e3 for a number
        if name == "timestamp" or type(value) not in (str, int):
            written = event.value if type(event) is ScalarEvent else value
            kind = _KINDS.get(name, name)
            raise self.error(f"the key {written or 'without a text'} is a {kind}, not text", event, hint="quote it")
        return value

    def _unknown_tag(self, event: Any) -> DocumentError:
        # Only a tag of YAML's own is repeated: any other may be a password that begins with "!".
        name = str(event.tag).removeprefix(YAML)
        if name == event.tag:
            return self.error("a tag that is not known here", event, hint="quote a text that begins with !")
        if name.startswith("python/"):
            return self.error(f"!!{name} asks for a Python object", event, hint="a data file holds plain data only")
        return self.error(f"!!{name} cannot be kept here", event, hint=_TAG_HINTS.get(name))


class _TaggedYamlBuilder(_YamlBuilder):
    takes_all = True
    tags: Tags

    def scalar(self, event: Any) -> Any:
        tag = tag_of(event) if self.tags else ""
        of_tag = self.tags.get(tag) if tag in _VALUES or event.implicit[0] else None
        value = of_tag(event.value) if of_tag is not None else None
        return super().scalar(event) if value is None else value

    def key_of(self, value: Any, name: str, event: Any) -> Any:
        text = self.tags[KEY](value) if KEY in self.tags else None
        return super().key_of(value, name, event) if text is None else text

    def tagged(self, event: Any, value: Any) -> Any:
        tag = str(event.tag)
        if tag.startswith(YAML) and tag not in self.tags:
            return super().tagged(event, value)
        make = self.tags.get(tag)
        try:
            return Tagged(tag, value) if make is None else make(value)
        except (ValueError, TypeError, LookupError) as error:
            at, path = event.start_mark.index, self._path()
            raise self.text.error(f"{tag} cannot be read: {error}", at, path=path, kind=TAG_REFUSED) from error

    def aliased(self, value: Any, event: Any) -> Any:
        return copied(value, convert=lambda one: one)
