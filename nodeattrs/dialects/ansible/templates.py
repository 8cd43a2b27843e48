"""Read templates without Jinja: the names that they mention, and names of files filled in or matched.

Only `{{ name }}`, with attributes and items, is filled in; anything else gives ABSENT. No expression is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from glob import escape
from typing import Any

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.ansible.values import Unsafe, Vault

_MARKS = re.compile(r"\{\{|\{%|\{#")
_PLAIN = re.compile(r"\{\{\s*([A-Za-z_]\w*)((?:\.\w+|\[\s*(?:'[^']*'|\"[^\"]*\"|\d+)\s*\])*)\s*\}\}")
_STEP = re.compile(r"\.(\w+)|\[\s*(?:'([^']*)'|\"([^\"]*)\"|(\d+))\s*\]")
_BEGIN, _END = re.compile(r"\{[{%]"), re.compile(r"[%}]\}")
_TEXTS = re.compile(r"'(?:\\.|[^'\\])*+(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z)", re.DOTALL)
_NAME = re.compile(r"(?<![\w.|])(?<!\|\s)[A-Za-z_]\w*+(?!\s*[(=](?!=))")
_WORDS_TEXT = """
    and or not in is if else elif for endfor endif set endset true false none True False None defined undefined
    recursive loop block endblock filter endfilter macro endmacro raw endraw import from as with without
    context do ignore missing scoped call endcall include extends"""
_WORDS = frozenset(_WORDS_TEXT.split())
MOST_STEPS = 20
GAP = "\0"
"""A sign that replaces a template in a name: it may be any text."""


def is_template(value: Any) -> bool:
    """Whether a value is a text with `{{`, `{%` or `{#` that Ansible would evaluate; an `Unsafe` text is not."""
    return isinstance(value, str) and not isinstance(value, Unsafe) and _MARKS.search(value) is not None


def names_in_templates(value: Any) -> list[str]:
    """The names in the templates of a value, also in its maps and lists, each once, in their order; [] for none.

    Filters, attributes, and words of Jinja are left out. Names that expressions compose are not found.

    >>> names_in_templates({"a": "{{ proto }}://{{ hosts[0].name | default('x') }}"})
    ['proto', 'hosts']
    """
    found: dict[str, None] = {}
    ahead = [value]  # no recursion: a value may be as deep as a tree
    while ahead:
        one = ahead.pop()
        if isinstance(one, (dict, list)):
            ahead += reversed(list(one.values() if isinstance(one, dict) else one))
        elif is_template(one):
            bodies = (_TEXTS.sub("''", body) for body in _bodies(one))
            found |= dict.fromkeys(name for body in bodies for name in _NAME.findall(body) if name not in _WORDS)
    return [*found]


def _bodies(text: str) -> Iterator[str]:
    """Yield the text between `{{` or `{%` and the next `}}` or `%}`. cost: linear, also where no template ends"""
    at = 0
    while (begin := _BEGIN.search(text, at)) and (end := _END.search(text, begin.end())):
        yield text[begin.end() : end.start()]
        at = end.end()


def with_gaps(text: str) -> Any:
    """A text in which `GAP` replaces each template. ABSENT if a template is not closed, is a comment, or is nested.

    All from the first statement `{%` to the last one is a single gap. ABSENT if there is a `/` between them.

    >>> with_gaps("os-{{ family }}.yml").replace(GAP, "*")
    'os-*.yml'
    """
    before, _, rest = text.partition("{%")
    inside, closed, after = rest.rpartition("%}")
    if closed and "/" not in inside:
        text = f"{before}{GAP}{after}"
    first, *rest_of = text.split("{{")
    parts = [first]
    for one in rest_of:
        _, closed, after = one.partition("}}")
        parts += [GAP, after] if closed and "}}" not in after else ["{#"]
    found = "".join(parts)
    return ABSENT if is_template(found) else found


def fits_gaps(name: str, gapped: str) -> bool:
    """Whether a name is *gapped* with some text, perhaps "", in place of each `GAP`."""
    return fnmatchcase(name, "*".join(map(escape, gapped.split(GAP))))


def filled_in(text: str, look_up: Callable[[str], Any], depth: int = 0) -> Any:
    """A text in which each template that is a name, perhaps with keys, is replaced by its value.

    ABSENT if a name has no value, or its value is a map, a list or a secret. ABSENT also if the text has another kind
    of template. A value that is itself a template is filled in, too. A text without templates is returned as it is.

    look_up: called with a name, returns its value; ABSENT or None for no value
    depth:   how many values this text is within; callers leave it at 0

    >>> filled_in("os-{{ family }}.yml", {"family": "deb"}.get)
    'os-deb.yml'
    """
    if not is_template(text):
        return text
    parts: list[Any] = []
    at = 0
    for match in _PLAIN.finditer(text):
        found = _found(match, look_up, depth)
        if found is ABSENT or isinstance(found, (dict, list, type(None), Vault, Sensitive)):
            return ABSENT
        parts += [text[at : match.start()], str(found)]
        at = match.end()
    rest = "".join(parts) + text[at:]
    return ABSENT if any(_MARKS.search(part) for part in (text[at:], *parts[::2])) else rest


def _found(match: re.Match[str], look_up: Callable[[str], Any], depth: int) -> Any:
    value = look_up(match[1])
    steps: Path = tuple(
        int(number) if number else name or single or double for name, single, double, number in _STEP.findall(match[2])
    )
    value = ABSENT if value is None else dig(value, steps)
    if is_template(value):
        return filled_in(value, look_up, depth + 1) if depth < MOST_STEPS else ABSENT
    return value
