"""Trees and paths: spelling, reading, comparing and copying them; and checks of names.

A tree is nested maps (exact dicts), lists (exact lists) and scalars. A path is the tuple of steps from the root: a key
of a map or an index of a list. The module knows nothing of layers or merging.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import Any

from nodeattrs.errors import BadArgument, BadKey, BadName, BadValue, Path, TooDeep, wrong_argument

__all__ = [
    "ABSENT",
    "LONGEST_NAME",
    "MAX_DEPTH",
    "NO_ENTRIES",
    "SCALARS",
    "Absent",
    "Path",
    "as_path",
    "checked_name",
    "copied",
    "dig",
    "is_json",
    "leaves",
    "left_without",
    "near",
    "parse",
    "spell",
    "strict_key",
]

MAX_DEPTH = 500
"""Levels of nesting that a tree may have; deeper input, and cycles, are an error."""


class Absent:
    """The type of ABSENT, which stands for a value that is not set. ABSENT is false, and differs from null.

    There is one instance, also after copying and pickling; compare with `is ABSENT`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Any = Absent()

NO_ENTRIES: dict[Any, Any] = {}
"""An empty map, for defaults: never put anything into it."""

_BARE = re.compile(r"[A-Za-z_@%/+*:<>=~^$-][^\s.\"']*|\d+[^\s.\"'\d][^\s.\"']*")
_LONG = 40
_INTEGER = re.compile(r"-?\d+")
_STEP = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^.\s"']+))\s*(\.|$)""")


def spell(path: Path) -> str:
    """A path as text: steps joined by dots. `parse` reads it. Odd keys are quoted, so that `1` and `"1"` differ.

    "(root)" for the empty path. A path of more than 40 steps is cut in the middle, and cannot be read back.

    >>> spell(("apache", "listen_ports", 0)), spell(("1", "a.b"))
    ('apache.listen_ports.0', '"1"."a.b"')
    """
    steps = [_spelled(step) for step in path]
    if len(steps) > _LONG:
        steps[_LONG // 2 : -_LONG // 2] = ["…"]
    return ".".join(steps) or "(root)"


def _spelled(step: object) -> str:
    if isinstance(step, int):
        return str(step)
    text = str(step)
    if is_word(text) or (_BARE.fullmatch(text) and not _INTEGER.fullmatch(text)):
        return text
    return json.dumps(text, ensure_ascii=False)


def is_word(text: str) -> bool:
    """Whether a text is an ASCII identifier, as most keys and names are; such a step needs no quotes."""
    return text.isascii() and text.isidentifier()


def parse(text: str) -> Path:
    """The path that a text spells; the reverse of `spell`. A bare whole number is an integer; () for "" and "(root)".

    raises: BadArgument, for an open quote, an empty step, or a number of too many digits

    >>> parse('apache.listen_ports.0'), parse('"1"."a.b"')
    (('apache', 'listen_ports', 0), ('1', 'a.b'))
    """
    if text.strip() in ("", "(root)"):
        return ()
    steps: list[str | int] = []
    at = 0
    while True:
        found = _STEP.match(text, at)
        if found is None:
            raise BadArgument(
                f"cannot read the path {text!r} at character {at + 1}",
                hint='steps are joined by dots; quote odd keys: filesystem."/dev/sda1".size',
            )
        double, single, bare, dot = found.groups()
        if double is not None:
            steps.append(_unquoted(double, text))
        elif single is not None:
            steps.append(single)
        else:
            try:
                steps.append(int(bare) if _INTEGER.fullmatch(bare) else bare)
            except ValueError:
                raise BadArgument(f"a step of {len(bare)} digits", hint="quote it, if it is a key") from None
        at = found.end()
        if not dot:
            return tuple(steps)


def _unquoted(word: str, text: str) -> str:
    try:
        step = json.loads(f'"{word}"', strict=False)
        step.encode()  # half of a surrogate pair is not text
    except ValueError:
        raise BadArgument(
            f"cannot read the path {text!r}: {word[:40]!r} is not text as JSON writes it",
            hint="a backslash itself is written \\\\ inside of double quotes; single quotes need none",
        ) from None
    return str(step)


def json_or_text(value: str) -> Any:
    """The value that a word of a command line or a variable spells: JSON; what is no JSON is text, such as NaN.

    >>> json_or_text("8080"), json_or_text("web"), json_or_text("[NaN]")
    (8080, 'web', '[NaN]')
    """
    try:
        return json.loads(value, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return value


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"JSON has no {word}")
    return number


def as_path(path: str | Iterable[Any]) -> Path:
    """A path as a tuple: a text is parsed (`parse`), any other iterable of steps is taken as it is.

    raises: BadArgument, for a text that is not spelled right, and for anything else

    >>> as_path("a.0"), as_path(("a", 0))
    (('a', 0), ('a', 0))
    """
    if isinstance(path, str):
        return parse(path)
    try:
        return tuple(path)
    except TypeError:
        raise wrong_argument("a path", "text, or a list of steps", path, 'write "a.b.0", or ("a", "b", 0)') from None


def near(step: object, known: Iterable[object], likeness: float = 0.7) -> list[str]:
    """Up to three of the *known* names that look like *step*, the most similar first; [] where none does.

    The names are spelled as steps of a path; *step* itself is never among them.
    likeness: from 0 to 1, how similar a name must be
    """
    names = {str(name): name for name in known if name != step}
    return [_spelled(names[close]) for close in difflib.get_close_matches(str(step), names, 3, likeness)]


def hint_for(step: object, known: Iterable[object]) -> str | None:
    """A hint that names similar words of *known*; None where none is similar.

    >>> hint_for("prot", ["port", "host"])
    'did you mean port?'
    """
    close = near(step, known)
    return f"did you mean {' or '.join(close)}?" if close else None


_DIGITS = re.compile(r"\d+")
_WITHOUT_JOINTS = str.maketrans("", "", "-_")


def is_near(key: str, other: str) -> bool:
    """Whether two keys look like one misspelled key. Equal keys give False, and so do keys with different numbers.

    Keys are near if they differ only in case, in `-` and `_`, or by one letter. The letter is another one, is missing,
    or is swapped with its neighbour. Keys of fewer than five letters must have the same letters.

    >>> is_near("listen_prot", "listen_port"), is_near("eth0", "eth1"), is_near("worker-count", "worker_count")
    (True, False, True)
    """
    if key == other:
        return False
    if shape_of(key) == shape_of(other):
        return True
    if _DIGITS.findall(key) != _DIGITS.findall(other):
        return False
    short = min(len(key), len(other)) < _SHORTEST
    return _is_one_apart(key.lower(), other.lower()) and not (short and sorted(key) != sorted(other))


def shape_of(key: str) -> str:
    """The key in lower case, without `-` and `_`: equal for keys that differ only in case, `-` and `_`."""
    return key.translate(_WITHOUT_JOINTS).lower()


def _is_one_apart(one: str, other: str) -> bool:
    """Whether two different texts are equal but for one letter: another one, a missing one, or two that are swapped."""
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    if len(one) == len(other):
        return one[1:] == other[1:] or (one[:2] == other[:2][::-1] and one[2:] == other[2:])
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[1:] == shorter


def dig(tree: Any, path: Path) -> Any:
    """The value at *path* in a tree; ABSENT if it is not set, also below a scalar. The steps must be hashable.

    Maps go by key, lists by index; a negative index counts from the end. The empty path gives the tree itself.
    """
    for step in path:
        if isinstance(tree, dict):
            tree = tree.get(step, ABSENT)
        elif isinstance(tree, list) and type(step) is int and -len(tree) <= step < len(tree):
            tree = tree[step]
        else:
            return ABSENT
    return tree


def overlap(one: Path, other: Path) -> bool:
    """Whether two paths are equal, or one leads to the other; the empty path leads to all.

    >>> overlap(("a",), ("a", "b")), overlap(("a", "b"), ("a", "c"))
    (True, False)
    """
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def tree_with(path: Path, value: Any) -> Any:
    """A new tree of maps that has only *value*, at *path*; *value* itself for the empty path.

    >>> tree_with(("a", "b"), 1)
    {'a': {'b': 1}}
    """
    for step in reversed(path):
        value = {step: value}
    return value


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of each value that is not a map with entries. A list is one value, and so is an empty map.

    A *tree* that is not a map with entries is the only value, at *path*.

    >>> [*leaves({"a": {"b": [1]}, "c": {}})]
    [(('a', 'b'), [1]), (('c',), {})]
    """
    if isinstance(tree, Mapping) and tree:
        for step, entry in tree.items():
            yield from leaves(entry, (*path, step))
    else:
        yield path, tree


def left_without(tree: Any, path: Path) -> Any:
    """The tree without the value at *path*: ABSENT for the empty path, the same object where nothing is at *path*.

    Maps and lists on the way are copied and keep their type; they stay where they become empty. The elements behind a
    removed one move up.

    >>> left_without({"a": {"b": 1}, "l": [1, 2]}, ("l", 0))
    {'a': {'b': 1}, 'l': [2]}
    """
    if not path:
        return ABSENT
    if dig(tree, path) is ABSENT:
        return tree
    out, step = copy(tree), path[0]
    if len(path) > 1:
        out[step] = left_without(out[step], path[1:])
    else:
        del out[step]
    return out


def flat(entries: Iterable[Any]) -> Iterator[Any]:
    """Yield the entries one by one; for a list among them its entries, at any depth. Tuples and maps are yielded whole.

    >>> list(flat([1, [2, [3]], 4]))
    [1, 2, 3, 4]
    """
    waiting = [iter(entries)]
    while waiting:
        for one in waiting[-1]:
            if type(one) is list:
                waiting.append(iter(one))
                break
            yield one
        else:
            waiting.pop()


_SHORTEST = 5

SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})


_JSON = SCALARS | {dict, list}
_PLAIN = frozenset({str, bool, type(None)})
_TEXT = frozenset({str})
_KEYS = frozenset({str, int})
_BIGGEST = 10**4_000  # Python reads no number of more digits than 4,300


def is_json(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether a map or list has only what JSON has: exact dicts with text keys, exact lists, and JSON scalars.

    So it is equal after a round trip. False for NaN, infinity and numbers of more than 4,000 digits.
    value:  a map or a list; not for a scalar
    levels: the most levels of nesting; deeper values, and ones that contain themselves, give False
    cost:   a look at each map and list, which is a fraction of writing it

    >>> is_json({"a": [1, {"b": None}]}), is_json({"a": {1: 2}}), is_json([float("nan")]), is_json([(1, 2)])
    (True, False, False, False)
    """
    level = [value]
    while level:
        if levels == 0:
            return False
        levels -= 1
        below: list[Any] = []
        for part in level:
            if type(part) is dict:
                if not _TEXT.issuperset(map(type, part)):
                    return False
                part = part.values()
            kinds = {*map(type, part)}
            if kinds <= _PLAIN:
                continue
            if not kinds <= _JSON:
                return False
            for inner in part:
                kind = type(inner)
                if kind is dict or kind is list:
                    below.append(inner)
                elif (kind is int or kind is float) and not -_BIGGEST < inner < _BIGGEST:
                    return False
        level = below
    return True


def copied(
    value: Any,
    scalars: frozenset[type] = SCALARS,
    convert: Callable[[Any], Any] | None = None,
    room: int = MAX_DEPTH,
) -> Any:
    """An independent copy of *value*, made of exact dicts, exact lists and *scalars*. A scalar is returned itself.

    scalars: the exact types that are taken as they are
    convert: called for any other value: value -> a map or list, which is copied, or a scalar; it may raise. None: any
             other value is refused
    room:    the most levels of nesting
    cost:    one visit for each map and list, one look for each scalar
    raises:  BadKey, for a key that is neither text nor integer; BadValue; TooDeep; each with the path from *value*

    >>> copied({"a": [1, {"b": None}]})
    {'a': [1, {'b': None}]}
    """
    kind = type(value)
    if kind in scalars:
        return value
    if kind is dict or kind is list:
        return _copied_container(value, scalars, convert, room)
    return _converted(value, scalars, convert, room)


def _copied_container(value: Any, scalars: frozenset[type], convert: Any, room: int) -> Any:
    if not room:
        raise TooDeep(f"nested deeper than {MAX_DEPTH} levels, or inside itself", path=())
    is_map = type(value) is dict
    if is_map and not _KEYS.issuperset(map(type, value)):
        value = dict(map(_plain_entry, value.items()))
    out = value.copy()
    for step, entry in value.items() if is_map else enumerate(value):
        kind = type(entry)
        if kind in scalars:
            continue
        try:
            if kind is dict or kind is list:  # a level may take one frame only
                out[step] = _copied_container(entry, scalars, convert, room - 1)
            else:
                out[step] = _converted(entry, scalars, convert, room - 1)
        except (BadKey, BadValue) as error:
            error.path = (step, *(error.path or ()))
            raise
    return out


def _plain_entry(entry: tuple[Any, Any]) -> tuple[Any, Any]:
    key, value = entry
    if isinstance(key, str):
        return str.__str__(key), value
    if type(key) is not int:
        raise BadKey(f"a key must be text or an integer, not {type(key).__name__}: {key!r}", path=())
    return entry


def _converted(value: Any, scalars: frozenset[type], convert: Any, room: int) -> Any:
    plain = value if convert is None else convert(value)
    kind = type(plain)
    if kind in scalars:
        return plain
    if plain is not value and (kind is dict or kind is list):
        return _copied_container(plain, scalars, convert, room)
    if convert is not None and not isinstance(plain, (dict, list)):
        return plain
    raise BadValue(f"a tree cannot hold a {kind.__name__}", path=())


def strict_key(value: Any) -> Any:
    """A hashable key for a value: two keys are equal if the values are equal and have equal types, at every level.

    `1`, `1.0`, `True` and `"1"` have four different keys; the order of a map's keys does not matter. A text is its own
    key. An object that cannot be hashed equals only itself.
    """
    kind = type(value)
    if kind is str:
        return value
    tokens: list[Any] = []
    _tokens(value, tokens)
    return tuple(tokens)


def _tokens(value: Any, tokens: list[Any]) -> None:
    # One flat list: nested tuples would run out of stack long before a tree is at its limit.
    kind = type(value)
    if isinstance(value, dict):
        tokens += (dict, len(value))
        for key in sorted(value, key=lambda key: (type(key).__name__, key)):
            tokens += (type(key), key)
            _tokens(value[key], tokens)
    elif isinstance(value, (list, tuple)):
        tokens += (list if isinstance(value, list) else tuple, len(value))
        for entry in value:
            _tokens(entry, tokens)
    elif isinstance(value, (set, frozenset)):
        tokens += (kind, frozenset(map(strict_key, value)))
    else:
        try:
            hash(value)
        except TypeError:
            value = id(value)
        tokens += (kind, value)


# Names of nodes, roles, cookbooks: they come from outside, and none may point out of its directory.

LONGEST_NAME = 200
"""Characters of a name. A file name has 255; a store adds its own marks to it."""

# Chef's own alphabet. Without "@", "~" and "%", which are left for marks that no name can imitate.
_NAME = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9_.:-]*")


def checked_name(name: object, what: str) -> str:
    """*name* itself, where it may be a file name: letters, digits, `_`, `-`, `:` and `.`, with no `.` in front.

    what:   the sort of thing named, for the message: "node", "role"
    raises: BadName, for any other name, for "", and for one of more than 200 characters

    >>> checked_name("web1.example.com", "node")
    'web1.example.com'
    """
    if isinstance(name, str) and len(name) <= LONGEST_NAME and (is_word(name) or _NAME.fullmatch(name)):
        return name
    shown = repr(name) if len(repr(name)) <= 80 else f"{repr(name)[:77]}..."
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        reason = f"it has {len(name)} characters, {LONGEST_NAME} is the most"
    else:
        reason = "letters, digits, '_', '-', ':' and '.' make a name, and it does not begin with '.'"
    raise BadName(f"no {what} can be called {shown}", hint=reason)
