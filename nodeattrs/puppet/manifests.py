"""The classes that a Puppet manifest declares, and the keys that it looks up, found by searching its text.

It looks at punctuation, strings and brackets and has no parser of Puppet's language. A key with variables in it is
given as its constant parts. It knows no hierarchy.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST = 5_000
"""Signs of a string or a remark: what is longer is not seen as one, and costs no more than that."""

_NAME = r"[a-z]\w*(?:::[a-z]\w*)*"
_TOKENS = re.compile(
    rf"""(?P<skip>\#[^\n]*|/\*.{{0,{_LONGEST}}}?\*/|\\.)
      | (?P<heredoc>@\(\s*"?(?P<tag>[^):/"\n]{{1,255}}+)"?[^)\n]{{0,255}}+\)
          .{{0,{_LONGEST}}}?^[ \t]*(?:\|[ -]*|-[ ]*)?(?P=tag)[ \t]*$)
      | (?P<text>'(?:[^'\\]|\\.){{0,{_LONGEST}}}+'|"(?:[^"\\]|\\.){{0,{_LONGEST}}}+")
      | (?P<regex>(?<=[\[(,~])\s*/(?:[^/\\\n]|\\.)+/)
      | \bclass\s+(?:::)?(?P<class>{_NAME})
      | (?P<variable>\$(?:::)?\w[\w:]*)
      | (?P<open>[(\[{{])
      | (?P<close>[)\]}}])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r"""'((?:[^'\\\n]|\\.)*+)'|"((?:[^"\\\n]|\\.)*+)"|\\.""")
"""A backslash outside of quotes takes the sign behind it too, as in quotes: no text is searched twice for its end."""
_COMPUTED = re.compile(r"[$#%]\{[^}\n]{0,255}+\}|\$[\w:]+")
_LOOKUP = re.compile(
    r"""\b(?P<word>lookup|hiera(?:_array|_hash|_include)?)\b\s*(?:\(\s*)?(?:\{\s*)?
        (?:['"]?name['"]?\s*=>\s*)?(?P<quote>['"])(?P<key>[\w:.-]+)(?P=quote)""",
    re.VERBOSE,
)
_ALONE = re.compile(r"[^\S\n]*(?:\)|,[^\S\n]*[A-Z]\w*[^\S\n]*\)|$)", re.MULTILINE)


class PuppetClass(NamedTuple):
    """A class that a manifest declares.

    name:       its name, with "::"
    line:       the line where it begins
    parameters: parameter -> the line that declares it
    """

    name: str
    line: int
    parameters: dict[str, int]


def classes_in(text: str) -> Iterator[PuppetClass]:
    """Yield the classes that a manifest defines, in order; nothing where there are none.

    A nested class comes after the outer one, with its name as written. A resource `class { "x" }` defines no class. A
    broken text raises nothing: the classes that were found are yielded.
    cost: one pass over the text

    >>> [one.parameters for one in classes_in("class a::b (String $x = ')', Array[Integer] $y) { $z = 1 }")]
    [{'x': 1, 'y': 1}]
    """
    found: PuppetClass | None = None
    depth = 0
    breaks = [one.start() for one in re.finditer("\n", text)]
    for token in _TOKENS.finditer(text):
        kind = token.lastgroup if token.lastgroup != "tag" else "heredoc"
        if kind == "class":
            if found is not None:
                yield found
            found, depth = PuppetClass(token["class"], bisect(breaks, token.start("class")) + 1, {}), 0
        elif found is None:
            continue
        elif kind == "variable" and depth == 1:
            found.parameters.setdefault(token["variable"].lstrip("$:"), bisect(breaks, token.start()) + 1)
        elif kind == "open" and depth == 0 and token["open"] != "(":
            yield found  # the body begins: no parameters follow
            found = None
        elif kind in ("open", "close"):
            depth += 1 if kind == "open" else -1
            if depth == 0:
                yield found
                found = None
    if found is not None:
        yield found


class ManifestLookup(NamedTuple):
    """A key that a manifest looks up. merged: whether values of all levels count, or that cannot be excluded"""

    key: str
    merged: bool


def lookups_in(text: str) -> Iterator[ManifestLookup]:
    """Yield the keys that calls of lookup functions in a text name as plain strings.

    >>> [*lookups_in("lookup('a::b') hiera_hash('c')")]
    [ManifestLookup(key='a::b', merged=False), ManifestLookup(key='c', merged=True)]
    """
    for found in _LOOKUP.finditer(text):
        alone = found["word"] in ("lookup", "hiera") and _ALONE.match(text, found.end())
        yield ManifestLookup(found["key"], not alone)


def computed_keys_in(text: str) -> Iterator[list[str]]:
    """Yield the constant parts of each double-quoted string that may be a key with variables.

    It may be one if it has "::", a variable, and a constant part with characters of keys. The parts before, between
    and after the variables are given; "" for an empty one.

    >>> [*computed_keys_in('lookup("profile::${name}::port")')]
    [['profile::', '::port']]
    """
    for found in _QUOTED.finditer(text):
        written = found[2] or ""
        if "::" in written and _COMPUTED.search(written):
            parts = _COMPUTED.split(written)
            if any(re.fullmatch(r"[\w:.-]+", part) and part.strip(":") for part in parts):
                yield parts
