"""The part of Puppet's type language that lookups use: `value_type` and `convert_to`.

Any, Data, Scalar, ScalarData, Numeric, Integer, Float, Boolean, String, Undef, Collection,
Array, Hash, Tuple, Struct, Optional, NotUndef, Enum, Pattern, Variant, Sensitive, with
their parameters. It knows no lookup.

    >>> parse_type("Array[Integer[1, 5]]").holds([1, 5]), parse_type("Optional[String]").holds(None)
    (True, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nodeattrs.adapters.hiera.errors import BadLookup
from nodeattrs.adapters.hiera.values import inspected
from nodeattrs.core.budget import too_long
from nodeattrs.core.sensitive import Encrypted, Sensitive
from nodeattrs.core.tree import meant
from nodeattrs.errors import TooDeep
from nodeattrs.puppet.regex import translated
from nodeattrs.texts.patterns import BadPattern, Expression


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its text, and whether a value is of it.

    name:   the word before the brackets
    """

    text: str
    name: str
    arguments: tuple[Any, ...]
    holds: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.text


_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Z]\w*(?:::[A-Z]\w*)*)|(?P<float>-?\d+\.\d+)|(?P<int>-?(?:0[xX][0-9a-fA-F]+|\d+))"
    r"|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|/(?P<regex>(?:[^/\\]|\\.)*)/"
    r"|(?P<word>default|undef|true|false|[a-z_]\w*)|(?P<mark>=>|[\[\]{},]))\s*",
    re.ASCII,
)

DEFAULT: Any = object()


@lru_cache(maxsize=256)
def parse_type(text: str) -> Type:
    """Read a type.

    raises: BadLookup "convert_bad_type", where the text is no type; "unknown_type", where we know none of that name
    """
    reader = _Reader(text)
    try:
        found = reader.value()
    except RecursionError:
        raise TooDeep(f"the type {text[:40]}… is nested too deep") from None
    if not isinstance(found, Type) or reader.at < len(text):
        raise reader.fault()
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fault(self) -> BadLookup:
        return BadLookup(
            f"{self.text[:80]!r} cannot be read as a type, at character {self.at + 1}",
            kind="convert_bad_type",
            hint="write it as in Puppet: Array[String], Optional[Integer[1, 5]]",
        )

    def token(self) -> re.Match[str]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise self.fault()
        self.at = found.end()
        return found

    def follows(self, mark: str) -> bool:
        found = _TOKEN.match(self.text, self.at)
        if found is not None and found["mark"] == mark:
            self.at = found.end()
            return True
        return False

    def value(self) -> Any:
        found = self.token()
        if found["name"] is not None:
            return self.type(found["name"])
        if found["mark"] == "{":
            return self.fields()
        if found["mark"] is not None:
            self.at = found.start()
            raise self.fault()
        if found["word"] is not None:
            words = {"default": DEFAULT, "undef": None, "true": True, "false": False}
            return words.get(found["word"], found["word"])
        if found["int"] is not None:
            return self.number(found["int"])
        if found["float"] is not None:
            return float(found["float"])
        if found["regex"] is not None:
            return _pattern(found["regex"])
        return found["single"] if found["single"] is not None else found["double"]

    def number(self, word: str) -> int:
        try:
            return int(word, 0 if "x" in word.lower() else 10)
        except ValueError:  # more digits than Python reads
            raise self.fault() from None

    def fields(self) -> dict[Any, Any]:
        fields: dict[Any, Any] = {}
        while not self.follows("}"):
            key = self.value()
            if not self.follows("=>"):
                raise self.fault()
            value = self.value()
            try:
                fields[key] = value
            except TypeError:
                raise self.fault() from None
            if not self.follows(","):
                if not self.follows("}"):
                    raise self.fault()
                break
        return fields

    def type(self, name: str) -> Type:
        start = self.at
        arguments: list[Any] = []
        if self.follows("["):
            while not self.follows("]"):
                arguments.append(self.value())
                if not self.follows(","):
                    if not self.follows("]"):
                        raise self.fault()
                    break
        maker = _MAKERS.get(name)
        if maker is None:
            raise BadLookup(
                f"the type {name} is not known here",
                kind="unknown_type",
                hint=meant(name, _MAKERS) or f"known are {', '.join(_MAKERS)}",
            )
        try:
            holds = maker(arguments)
        except (TypeError, ValueError, IndexError, AttributeError):
            raise self.fault() from None
        return Type(name + self.text[start : self.at].strip(), name, tuple(arguments), holds)


def _pattern(source: str) -> Expression:
    try:
        return translated(source)
    except BadPattern as error:
        raise BadLookup(f"/{source}/ cannot be used: {error.message}", kind="bad_pattern", hint=error.hint) from None


Holds = Callable[[Any], bool]


def _ranged(measure: Callable[[Any], Any], *kinds: type) -> Callable[[list[Any]], Holds]:
    """A type with a least and a greatest measure: Integer[1, 5], String[3]."""

    def make(arguments: list[Any]) -> Holds:
        return _between(arguments, measure, lambda value: type(value) in kinds)

    return make


def _between(arguments: list[Any], measure: Callable[[Any], Any], fits: Holds) -> Holds:
    if len(arguments) > 2 or any(one is not DEFAULT and type(one) not in (int, float) for one in arguments):
        raise TypeError
    least = arguments[0] if arguments and arguments[0] is not DEFAULT else float("-inf")
    most = arguments[1] if len(arguments) > 1 and arguments[1] is not DEFAULT else float("inf")
    return lambda value: fits(value) and least <= measure(value) <= most


def _itself(value: Any) -> Any:
    return value


def _of(arguments: list[Any], at: int) -> Holds:
    if at >= len(arguments) or not isinstance(arguments[at], Type):
        return lambda value: True
    return arguments[at].holds  # type: ignore[no-any-return]


def _array(arguments: list[Any]) -> Holds:
    inner = _of(arguments, 0)
    sizes = [one for one in arguments if not isinstance(one, Type)]
    return _between(sizes, len, lambda value: type(value) is list and all(inner(one) for one in value))


def _hash(arguments: list[Any]) -> Holds:
    keys, values = _of(arguments, 0), _of(arguments, 1)
    sizes = [one for one in arguments if not isinstance(one, Type)]
    if len(arguments) - len(sizes) == 1:
        raise TypeError
    return _between(
        sizes,
        len,
        lambda value: type(value) is dict and all(keys(key) and values(one) for key, one in value.items()),
    )


def _optional(arguments: list[Any]) -> Holds:
    if not arguments:
        return lambda value: True
    (inner,) = arguments
    if isinstance(inner, Type):
        return lambda value: value is None or inner.holds(value)
    return lambda value: value is None or (type(value) is str and value == inner)


def _not_undef(arguments: list[Any]) -> Holds:
    inner = _of(arguments, 0)
    return lambda value: value is not None and inner(value)


def _enum(arguments: list[Any]) -> Holds:
    texts = {one for one in arguments if type(one) is str}
    if arguments and arguments[-1] is True:
        folded = {text.lower() for text in texts}
        return lambda value: type(value) is str and value.lower() in folded
    return lambda value: type(value) is str and value in texts


def _matching(arguments: list[Any]) -> Holds:
    patterns = [one if isinstance(one, Expression) else _pattern(one) for one in arguments]
    return lambda value: type(value) is str and (not patterns or any(one.search(value) for one in patterns))


def _variant(arguments: list[Any]) -> Holds:
    if not all(isinstance(one, Type) for one in arguments):
        raise TypeError
    return lambda value: any(one.holds(value) for one in arguments)


def _tuple(arguments: list[Any]) -> Holds:
    types = [one for one in arguments if isinstance(one, Type)]
    sizes = [one for one in arguments if not isinstance(one, Type)] or [len(types), len(types)]

    def fits(value: Any) -> bool:
        return type(value) is list and all(
            types[min(at, len(types) - 1)].holds(one) for at, one in enumerate(value) if types
        )

    return _between(sizes, len, fits)


def _struct(arguments: list[Any]) -> Holds:
    fields: dict[str, tuple[bool, Type]] = {}
    for key, inner in (arguments[0] if arguments else {}).items():
        name, optional = key, inner.holds(None)
        if isinstance(key, Type):
            name, optional = key.arguments[0], key.name == "Optional"
        fields[name] = (optional, inner)

    def holds(value: Any) -> bool:
        return (
            type(value) is dict
            and value.keys() <= fields.keys()
            and all(
                inner.holds(value[name]) if name in value else optional for name, (optional, inner) in fields.items()
            )
        )

    return holds


def _boolean(arguments: list[Any]) -> Holds:
    return lambda value: type(value) is bool and (not arguments or value is arguments[0])


def _sensitive(arguments: list[Any]) -> Holds:
    inner = _of(arguments, 0)
    return lambda value: hasattr(value, "unwrap") and inner(value.unwrap())


def _is(*kinds: type) -> Callable[[list[Any]], Holds]:
    return lambda arguments: lambda value: type(value) in kinds


def _data(value: Any) -> bool:
    if type(value) is list:
        return all(_data(one) for one in value)
    if type(value) is dict:
        return all(type(key) is str and _data(one) for key, one in value.items())
    return type(value) in (str, int, float, bool, type(None))


_MAKERS: dict[str, Callable[[list[Any]], Holds]] = {
    "Any": lambda arguments: lambda value: True,
    "Data": lambda arguments: _data,
    "Scalar": _is(str, int, float, bool),
    "ScalarData": _is(str, int, float, bool),
    "Numeric": _is(int, float),
    "Integer": _ranged(_itself, int),
    "Float": _ranged(_itself, float),
    "Boolean": _boolean,
    "String": _ranged(len, str),
    "Undef": _is(type(None)),
    "Collection": _ranged(len, list, dict),
    "Array": _array,
    "Hash": _hash,
    "Tuple": _tuple,
    "Struct": _struct,
    "Optional": _optional,
    "NotUndef": _not_undef,
    "Enum": _enum,
    "Pattern": _matching,
    "Variant": _variant,
    "Sensitive": _sensitive,
}


# --- convert_to ---------------------------------------------------------------------

_INTEGER = re.compile(r"([+-]?)\s*(0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9]\d*)", re.ASCII)
_FLOAT = re.compile(r"[+-]?\s*\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_COUNTED = 100_000
_WORDS: dict[str, bool] = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def convert(value: Any, to: Any, sensitive: Callable[[Any], Any] = Sensitive) -> Any:
    """What `convert_to` makes of a value.

    to:        the text of a type, or a list of that text and arguments
    sensitive: makes a secret
    raises:    BadLookup: "convert_bad_type", where there is no such type; "convert_failed"

    >>> convert("0x1F", "Integer"), convert("101", ["Integer", 2]), convert({"a": 1}, "Array")
    (31, 5, [['a', 1]])
    """
    if isinstance(value, Encrypted):
        return value  # what it would be only its key can say
    name, *arguments = to if isinstance(to, list) and to else [to]
    if not isinstance(name, str):
        raise BadLookup(f"convert_to names no type: {to!r}", kind="convert_bad_type", hint="write convert_to: Integer")
    try:
        target = parse_type(name)
        maker = _CONVERSIONS.get(target.name)
        if maker is None:
            raise ValueError(f"there is no conversion to {target}")
        result = sensitive(value) if target.name == "Sensitive" else maker(value, *arguments)
    except BadLookup as error:
        if error.kind != "unknown_type":
            raise
        raise BadLookup(error.message, kind="convert_failed", hint=error.hint) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise BadLookup(f"convert_to {name} failed: {_reason(error, value, name)}", kind="convert_failed") from None
    if not target.holds(result):
        raise BadLookup(f"what convert_to made is no {target}", kind="convert_failed")
    return result


def _reason(error: Exception, value: Any, name: str) -> str:
    kind = {dict: "map", list: "list", str: "text", type(None): "null"}.get(type(value), type(value).__name__)
    return str(error) if str(error).startswith(("there is", "a ")) else f"this {kind} is no {name}"


def _to_integer(value: Any, radix: Any = 10, absolute: bool = False) -> int:
    number = _as_integer(value, 10 if radix is DEFAULT or radix == "default" else radix)
    if too_long(number):
        raise ValueError
    return abs(number) if absolute else number


def _as_integer(value: Any, radix: int) -> int:
    if type(value) is bool:
        return int(value)
    if type(value) in (int, float):
        return int(value)
    if type(value) is not str or radix not in (2, 8, 10, 16):
        raise ValueError
    text = value.strip()
    found = _INTEGER.fullmatch(text)
    if found is not None and radix != 10:
        prefix = {2: "0b", 8: "0", 16: "0x"}[radix]
        return int(re.sub(rf"^([+-]?){prefix}(?=.)", r"\1", text, flags=re.IGNORECASE), radix)
    if found is None:
        return int(_to_float(value))
    sign, digits = found.groups()
    base = 16 if digits[:2].lower() == "0x" else 2 if digits[:2].lower() == "0b" else 8 if digits[0] == "0" else 10
    return int(sign + digits, base)


def _to_float(value: Any, absolute: bool = False) -> float:
    if type(value) in (bool, int, float):
        number = float(value)
    elif type(value) is str and _FLOAT.fullmatch(value.strip()):
        number = float(value.replace(" ", ""))
    elif type(value) is str and _INTEGER.fullmatch(value.strip()):
        number = float(_as_integer(value, 10))
    else:
        raise ValueError
    return abs(number) if absolute else number


def _to_numeric(value: Any, absolute: bool = False) -> int | float:
    if type(value) is float or (type(value) is str and _FLOAT.fullmatch(value.strip()) and not value.strip().isdigit()):
        return _to_float(value, absolute)
    return _to_integer(value, 10, absolute)


def _to_boolean(value: Any) -> bool:
    if type(value) in (int, float, bool):
        return bool(value != 0)
    if type(value) is str and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError


def _to_string(value: Any) -> str:
    if value is None:
        return ""
    if type(value) is float:  # Puppet's %f; inside of a list it is written in full
        return f"{value:f}" if math.isfinite(value) else {"inf": "Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    return value if type(value) is str else _puppet_text(value)


def _puppet_text(value: Any) -> str:
    """A list or map as Puppet writes it: texts in single quotes, blanks around the arrows."""
    if type(value) is str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if value is None:
        return "undef"
    if type(value) is list:
        return "[" + ", ".join(_puppet_text(one) for one in value) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{_puppet_text(key)} => {_puppet_text(one)}" for key, one in value.items()) + "}"
    return inspected(value)


def _to_array(value: Any, wrap: bool = False) -> list[Any]:
    if type(value) is list:
        return value
    if wrap is True:
        return [value]
    if type(value) is dict:
        return [[key, one] for key, one in value.items()]
    if type(value) is str:
        return list(value)
    if type(value) is int and 0 <= value <= _MOST_COUNTED:
        return list(range(value))
    raise ValueError


def _to_hash(value: Any) -> dict[Any, Any]:
    if type(value) is dict:
        return value
    if type(value) is not list:
        raise ValueError
    if all(type(one) is list and len(one) == 2 for one in value):
        return dict(value)
    if len(value) % 2 or any(type(key) not in (str, int) for key in value[::2]):
        raise ValueError
    return dict(zip(value[::2], value[1::2], strict=True))


_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "Integer": _to_integer,
    "Float": _to_float,
    "Numeric": _to_numeric,
    "Boolean": _to_boolean,
    "String": _to_string,
    "Array": _to_array,
    "Hash": _to_hash,
    "Sensitive": lambda value: value,
}
