"""Parse types of Puppet, such as `Array[String]`, check values against them, and convert values to them.

`value_type` of a lookup and `convert_to` of lookup_options name types. These types are known, with their parameters:
Any, Data, Scalar, ScalarData, Numeric, Integer, Float, Boolean, String, Undef, Collection, Array, Hash, Tuple, Struct,
Optional, NotUndef, Enum, Pattern, Variant and Sensitive. `convert` does what `new` of a type does in Puppet.

    >>> parse_type("Array[Integer[1, 5]]").holds([1, 5]), parse_type("Optional[String]").holds(None)
    (True, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nodeattrs.core.budget import too_long
from nodeattrs.core.sensitive import Encrypted, MarkedSecret, Sensitive, encrypted_in, revealed, withheld
from nodeattrs.core.tree import hint_for
from nodeattrs.dialects.hiera.codes import BAD_PATTERN, CONVERT_BAD_TYPE, CONVERT_FAILED, UNKNOWN_TYPE
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.values import ruby_notation
from nodeattrs.errors import TooDeep
from nodeattrs.formats.patterns import BadPattern, Expression
from nodeattrs.puppet.regex import translated


@dataclass(frozen=True, slots=True)
class Type:
    """A parsed type. `parse_type` makes it; `str()` gives its text.

    text:      the type as it was written, without spaces around it
    name:      the word before the brackets
    arguments: the parsed arguments in the brackets: types, numbers, texts, expressions, maps
    holds:     called with a value, it returns whether the value has this type
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
    """The type that a text spells; cached.

    raises: BadLookup "convert_bad_type", where the text is no type; "unknown_type", for a name that is not known here;
            "bad_pattern"; TooDeep
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
            kind=CONVERT_BAD_TYPE,
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

    def before(self, end: str) -> Iterator[None]:
        """Yield once before each element of a list; commas stand between the elements, and *end* after the last one."""
        while not self.follows(end):
            yield
            if not self.follows(","):
                self.expect(end)
                return

    def expect(self, mark: str) -> None:
        if not self.follows(mark):
            raise self.fault()

    def fields(self, end: str = "}") -> dict[Any, Any]:
        fields: dict[Any, Any] = {}
        for _ in self.before(end):
            key = self.value()
            self.expect("=>")
            value = self.value()
            try:
                fields[key] = value
            except TypeError:
                raise self.fault() from None
        return fields

    def type(self, name: str) -> Type:
        start = self.at
        arguments: list[Any] = []
        for _ in self.before("]") if self.follows("[") else ():
            at = self.at
            arguments.append(self.value())
            if self.follows("=>"):  # the braces of Struct[{a => Integer}] may be left out
                self.at = at
                arguments[-1] = self.fields("]")
                break
        maker = _MAKERS.get(name)
        if maker is None:
            raise BadLookup(
                f"the type {name} is not known here",
                kind=UNKNOWN_TYPE,
                hint=hint_for(name, _MAKERS) or f"known are {', '.join(_MAKERS)}",
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
        raise BadLookup(f"/{source}/ cannot be used: {error.message}", kind=BAD_PATTERN, hint=error.hint) from None


Holds = Callable[[Any], bool]


def _ranged(measure: Callable[[Any], Any], *kinds: type) -> Callable[[list[Any]], Holds]:
    """A maker for types with a least and a greatest measure: Integer[1, 5], String[3]."""
    return lambda arguments: _measure_between(arguments, measure, lambda value: type(value) in kinds)


def _measure_between(arguments: list[Any], measure: Callable[[Any], Any], fits: Holds) -> Holds:
    if len(arguments) > 2 or any(one is not DEFAULT and type(one) not in (int, float) for one in arguments):
        raise TypeError
    least = arguments[0] if arguments and arguments[0] is not DEFAULT else float("-inf")
    most = arguments[1] if len(arguments) > 1 and arguments[1] is not DEFAULT else float("inf")
    return lambda value: fits(value) and least <= measure(value) <= most


def _type_argument(arguments: list[Any], at: int) -> Holds:
    inner = arguments[at] if at < len(arguments) else None
    return inner.holds if isinstance(inner, Type) else lambda value: True


def _array(arguments: list[Any]) -> Holds:
    inner = _type_argument(arguments, 0)
    sizes = [one for one in arguments if not isinstance(one, Type)]
    return _measure_between(sizes, len, lambda value: type(value) is list and all(inner(one) for one in value))


def _hash(arguments: list[Any]) -> Holds:
    keys, values = _type_argument(arguments, 0), _type_argument(arguments, 1)
    sizes = [one for one in arguments if not isinstance(one, Type)]
    if len(arguments) - len(sizes) == 1:
        raise TypeError
    return _measure_between(
        sizes,
        len,
        lambda value: type(value) is dict and all(keys(key) and values(one) for key, one in value.items()),
    )


def _optional(arguments: list[Any]) -> Holds:
    if not arguments:
        return lambda value: value is None
    (inner,) = arguments
    if isinstance(inner, Type):
        return lambda value: value is None or inner.holds(value)
    return lambda value: value is None or (type(value) is str and value == inner)


def _not_undef(arguments: list[Any]) -> Holds:
    inner = _type_argument(arguments, 0)
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
    sizes = [one for one in arguments if not isinstance(one, Type)] or [len(types), len(types) or DEFAULT]

    def fits(value: Any) -> bool:
        return type(value) is list and all(
            types[min(at, len(types) - 1)].holds(one) for at, one in enumerate(value) if types
        )

    return _measure_between(sizes, len, fits)


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
    inner = _type_argument(arguments, 0)
    return lambda value: hasattr(value, "unwrap") and inner(value.unwrap())


def _is_instance(*kinds: type) -> Callable[[list[Any]], Holds]:
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
    "Scalar": _is_instance(str, int, float, bool),
    "ScalarData": _is_instance(str, int, float, bool),
    "Numeric": _is_instance(int, float),
    "Integer": _ranged(lambda number: number, int),
    "Float": _ranged(lambda number: number, float),
    "Boolean": _boolean,
    "String": _ranged(len, str),
    "Undef": _is_instance(type(None)),
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


_WHOLE = r"0[xX][0-9A-Fa-f]+|0[bB][01]+|"
_INTEGER = re.compile(rf"(?:([+-])[ \t]*|\s*)({_WHOLE}\d+)", re.ASCII)
_FLOAT = re.compile(rf"(?:([+-])[ \t]*|\s*)({_WHOLE}0[0-7]+|(?:0|[1-9]\d*)((?:\.\d+)?(?:[eE]-?\d+)?))", re.ASCII)
_ZERO = re.compile(r"[+-]?\s*0\.?0*[eE].*")
_MOST_COUNTED = 100_000
_KEEPING: dict[type, tuple[str, ...]] = {list: ("Array", "Tuple"), dict: ("Hash", "Struct")}
"""The types that lists and maps have already."""
_WORDS: dict[str, bool] = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def convert(value: Any, to: Any, sensitive: Callable[[Any], Any] = Sensitive) -> Any:
    """The value converted to a type.

    A value that has the type already is returned as it is, unless there are arguments. An `Encrypted` is returned as it
    is. If the value is or contains a secret, the result or a part of it is a secret.
    to:        the text of a type, or a list of that text and arguments of its `new`
    sensitive: makes a secret, for the type Sensitive
    raises:    BadLookup: "convert_bad_type", where *to* names no type; "convert_failed"

    >>> convert("0x1F", "Integer"), convert("101", ["Integer", 2]), convert({"a": 1}, "Array")
    (31, 5, [['a', 1]])
    """
    if isinstance(value, Encrypted):
        return value  # its value is not known without the key
    clear = revealed(value)
    if clear is not value:
        result = convert(clear, to, sensitive)
        has_new_keys = type(result) is dict and type(value) is not dict
        return MarkedSecret(result) if has_new_keys else withheld(result, [()])
    arguments = to[1:] if isinstance(to, list) else []
    try:
        target = named_type(to)
        if not arguments and target.holds(value):
            return value
        inner, kept = _inner(target), encrypted_in(value)
        if kept and inner.name not in ("Sensitive", *_KEEPING.get(type(value), ())):
            return Encrypted(value, kept[0][1])
        maker = sensitive if inner.name == "Sensitive" else _CONVERSIONS.get(inner.name)
        if maker is None:
            raise ValueError(f"there is no conversion to {target}")
        result = maker(value, *arguments)
    except BadLookup as error:
        if error.kind != UNKNOWN_TYPE:
            raise
        raise BadLookup(error.message, kind=CONVERT_FAILED, hint=error.hint) from None
    except (TypeError, ValueError, OverflowError) as error:
        reason = _reason(error, value, str(target))
        raise BadLookup(f"convert_to {target} failed: {reason}", kind=CONVERT_FAILED) from None
    if not target.holds(result):
        raise BadLookup(f"what convert_to made is no {target}", kind=CONVERT_FAILED)
    return result


def named_type(to: Any) -> Type:
    """The type that `convert_to` names, alone or in a list with arguments of its `new`. raises: BadLookup"""
    name = to[0] if isinstance(to, list) and to else to
    if not isinstance(name, str):
        raise BadLookup(f"convert_to names no type: {to!r}", kind=CONVERT_BAD_TYPE, hint="write convert_to: Integer")
    return parse_type(name)


def makes_secret(to: Any) -> bool:
    """Whether `convert_to` makes a secret: Sensitive, perhaps inside of Optional or NotUndef. False for no type."""
    try:
        return _inner(named_type(to)).name == "Sensitive"
    except BadLookup:
        return False


def _reason(error: Exception, value: Any, name: str) -> str:
    kind = {dict: "map", list: "list", str: "text", type(None): "null"}.get(type(value), type(value).__name__)
    return str(error) if str(error).startswith(("there is", "a ")) else f"this {kind} is no {name}"


def _inner(target: Type) -> Type:
    """The type without Optional and NotUndef around it: `Integer` for `Optional[Integer]`."""
    while target.name in ("Optional", "NotUndef") and isinstance(inner := next(iter(target.arguments), None), Type):
        target = inner
    return target


def _number_in(pattern: re.Pattern[str], value: Any) -> re.Match[str]:
    found = pattern.fullmatch(value) if type(value) is str else None
    if found is None:
        raise ValueError
    return found


def _to_integer(value: Any, radix: int | None = None, absolute: bool = False) -> int:
    if (radix is not None and (type(radix) is not int or radix not in (2, 8, 10, 16))) or type(absolute) is not bool:
        raise ValueError
    if type(value) in (bool, int, float):
        number = int(value)
    else:
        sign, digits = _number_in(_INTEGER, value).groups()
        number = int((sign or "") + digits, radix or _base(digits))
    if too_long(number):
        raise ValueError
    return abs(number) if absolute else number


def _base(digits: str) -> int:
    """The base of the digits of a number, as Ruby reads them: a zero in front makes an octal number."""
    return {"0x": 16, "0b": 2}.get(digits[:2].lower(), 8 if digits.startswith("0") else 10)


def _to_float(value: Any, absolute: bool = False) -> float:
    if type(absolute) is not bool:
        raise ValueError
    if type(value) in (bool, int, float):
        number = float(value)
    else:
        sign, digits, _ = _number_in(_FLOAT, value).groups()
        is_binary = digits[:2].lower() == "0b"
        if value == "0" or (is_binary and sign):  # Puppet takes neither
            raise ValueError
        number = float(int(digits, 0)) if is_binary or digits[:2].lower() == "0x" else float(digits)
        number = -number if sign == "-" else number
    return abs(number) if absolute else number


def _to_numeric(value: Any, absolute: bool = False) -> int | float:
    if type(value) is float or (type(value) is str and _number_in(_FLOAT, value)[3]):
        if type(value) is str and _ZERO.fullmatch(value):  # no number for Puppet
            raise ValueError
        return _to_float(value, absolute)
    return _to_integer(value, None, absolute)


def _to_boolean(value: Any) -> bool:
    if type(value) in (int, float) and value == value:
        return bool(value != 0)
    if type(value) is str and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError


def _to_string(value: Any, formats: Any = None) -> str:
    if formats is not None:
        raise ValueError("there is no format of texts here")
    if value is None:
        return ""
    if type(value) is float:  # Puppet's %f; inside of a list it is written in full
        return f"{value:f}" if math.isfinite(value) else {"inf": "Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    return value if type(value) is str else _puppet_text(value)


def _puppet_text(value: Any) -> str:
    """A list or map as Puppet writes it: texts in single quotes, blanks around the arrows."""
    if type(value) is str:
        return _quoted(value)
    if value is None:
        return "undef"
    parts: list[str] = []  # by loops: one call a level, since documents may have five hundred
    if type(value) is list:
        for one in value:
            parts.append(_puppet_text(one))
        return f"[{', '.join(parts)}]"
    if type(value) is dict:
        for key, one in value.items():
            parts.append(f"{_puppet_text(key)} => {_puppet_text(one)}")
        return f"{{{', '.join(parts)}}}"
    return ruby_notation(value)


_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "$": "\\$", "\\": "\\\\"}


def _quoted(text: str) -> str:
    """A text in single quotes; in double quotes if it has control characters. Escaped characters stay as they are."""
    if all(sign >= " " for sign in text):
        return "'" + re.sub(r"\\.|'", lambda found: "\\'" if found[0] == "'" else found[0], text) + "'"
    return '"' + "".join(_ESCAPES.get(sign, sign if sign >= " " else f"\\u{{{ord(sign):X}}}") for sign in text) + '"'


def _to_array(value: Any, wrap: bool = False) -> list[Any]:
    if type(wrap) is not bool:
        raise ValueError
    if type(value) is list:
        return value
    if wrap:
        return [value]
    if type(value) is dict:
        return [[key, one] for key, one in value.items()]
    if type(value) is str:
        return list(value)
    if type(value) is int and 0 <= value <= _MOST_COUNTED:
        return list(range(value))
    raise ValueError


def _to_hash(value: Any, how: Any = None) -> dict[Any, Any]:
    if how is not None:
        raise ValueError("a map cannot be made from paths here")
    if type(value) is dict:
        return value
    flat = _to_array(value)
    if flat and type(value) is list and all(type(one) is list and len(one) == 2 for one in value):
        flat = [part for pair in value for part in pair]
    if len(flat) % 2:
        raise ValueError
    if any(type(key) not in (str, int) for key in flat[::2]):
        raise ValueError("a key of a map is neither text nor integer")
    return dict(zip(flat[::2], flat[1::2], strict=True))


_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "Integer": _to_integer,
    "Float": _to_float,
    "Numeric": _to_numeric,
    "Boolean": _to_boolean,
    "String": _to_string,
    "Array": _to_array,
    "Tuple": _to_array,
    "Hash": _to_hash,
    "Struct": _to_hash,
}
