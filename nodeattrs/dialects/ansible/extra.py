"""Read the extra variables of the command line (`-e`), level 22: words `name=value`, a map, or `@` and a file.

The map is YAML or JSON. `keywords` uses `parsed_words` for the arguments of a task in one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.dialects.ansible.faults import EXTRA_VARS, AnsibleError
from nodeattrs.dialects.ansible.files import VariableFiles
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.values import parsed
from nodeattrs.formats.places import Text

_COMMAND_LINE = Origin("-e")
_WORD = re.compile(r"""(?:\{\{.*?\}\}|\{%.*?%\}|\{\#.*?\#\}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s'"])+""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\\'\"abfnrtv])")


def parsed_words(text: str) -> dict[str, Any]:
    """The map of `name=value` words. Values are texts without their quotes, with escapes such as \\n replaced.

    Words without `=`, or with a template in the name, are joined under the key `_raw_params`. An empty text gives {}.
    raises: AnsibleError, for a quote that is not closed

    >>> parsed_words(r"a=1 b='x y' c={{ d }} e=a\\nb")
    {'a': '1', 'b': 'x y', 'c': '{{ d }}', 'e': 'a\\nb'}
    """
    found: dict[str, Any] = {}
    free, at = [], 0
    for match in _WORD.finditer(_closed(text)):
        if text[at : match.start()].strip():
            break
        at = match.end()
        word = text[match.start() : at]
        name, equals, value = word.partition("=")
        if equals and name and "{{" not in name:
            found[name] = _unquoted(_ESCAPE.sub(_character, value).strip())
        else:
            free.append(word)
    if text[at:].strip():
        raise AnsibleError(EXTRA_VARS, f"a quote stays open in {text!r}", file="-e", hint="close the quote")
    return {**found, "_raw_params": " ".join(free)} if free else found


def _closed(text: str) -> str:
    """The text in which a template that is not closed has ".." for its marks, so that the search stays linear."""
    for opening, closing in (("{{", "}}"), ("{%", "%}"), ("{#", "#}")):
        at = text.rfind(closing) + 2 if closing in text else 0
        text = text[:at] + text[at:].replace(opening, "..")
    return text


def _character(match: re.Match[str]) -> str:
    text = match[0]
    return chr(int(text[1:], 8)) if text[1] in "01234567" else text.encode("latin-1").decode("unicode_escape")


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def extra_layers(given: Iterable[str], files: VariableFiles) -> list[Layer]:
    """A layer for each text that `-e` gave, the weakest first. A text that sets nothing gives no layer.

    given:  each a map in YAML or JSON, `name=value` words, or `@FILE`. An encrypted file is an unknown layer
    files:  reads the files and keeps them
    raises: AnsibleError, for a file that is not there and for a text that is not a map
    """
    found = []
    for text in given:
        layer = _file(text[1:], files) if text.startswith("@") else Layer(_inline(text), _COMMAND_LINE, title(22))
        found += [layer] if layer.value else []
    return found


def _file(name: str, files: VariableFiles) -> Layer:
    document = files.document(files.folder / name)
    if document is None:
        return Layer.unknown(title(22), Origin("-e", "", name, 1), "is encrypted")
    return Layer(_map(document.tree, f"@{name}"), document.locator("-e", ""), title(22))


def _inline(text: str) -> dict[Any, Any]:
    if text[:1] in ("{", "["):
        return _map(parsed(Text("-e", text)).tree, text)
    return parsed_words(text)


def _map(tree: Any, text: str) -> dict[Any, Any]:
    if not isinstance(tree, dict):
        raise AnsibleError(EXTRA_VARS, f"{text!r} is not a map of variables", file="-e", hint="write {name: value}")
    return tree
