"""Convert values for `convert_to` of lookup_options, as `new` of a type does in Puppet.

A function gets a value and the text of a type, and returns a value; no lookup is made.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from nodeattrs.core.budget import too_long
from nodeattrs.core.sensitive import Encrypted, MarkedSecret, Sensitive, encrypted_in, revealed, withheld
from nodeattrs.dialects.hiera.codes import CONVERT_BAD_TYPE, CONVERT_FAILED, UNKNOWN_TYPE
from nodeattrs.dialects.hiera.errors import BadLookup
from nodeattrs.dialects.hiera.types import Type, parse_type
from nodeattrs.dialects.hiera.values import ruby_notation

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

    A value that has the type already is returned as it is, unless there are arguments. An `Encrypted` stays one. A
    secret inside of the value makes the result, or its part, a secret.
    to:        the text of a type, or a list of that text and arguments of its `new`
    sensitive: makes a secret, for the type Sensitive
    raises:    BadLookup: "convert_bad_type", where *to* names no type; "convert_failed"

    >>> convert("0x1F", "Integer"), convert("101", ["Integer", 2]), convert({"a": 1}, "Array")
    (31, 5, [['a', 1]])
    """
    if isinstance(value, Encrypted):
        return value  # what it would be only its key can say
    clear = revealed(value)
    if clear is not value:
        result = convert(clear, to, sensitive)
        has_new_keys = type(result) is dict and type(value) is not dict
        return MarkedSecret(result) if has_new_keys else withheld(result, [()])
    name, *arguments = to if isinstance(to, list) and to else [to]
    if not isinstance(name, str):
        raise BadLookup(f"convert_to names no type: {to!r}", kind=CONVERT_BAD_TYPE, hint="write convert_to: Integer")
    try:
        target = parse_type(name)
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
        raise BadLookup(f"convert_to {name} failed: {_reason(error, value, name)}", kind=CONVERT_FAILED) from None
    if not target.holds(result):
        raise BadLookup(f"what convert_to made is no {target}", kind=CONVERT_FAILED)
    return result


def makes_secret(to: Any) -> bool:
    """Whether `convert_to` makes a secret: Sensitive, perhaps inside of Optional or NotUndef. False for no type."""
    name = to[0] if isinstance(to, list) and to else to
    try:
        return isinstance(name, str) and _inner(parse_type(name)).name == "Sensitive"
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
    """Ruby's: a zero in front makes an octal number."""
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
        if type(value) is str and _ZERO.fullmatch(value):  # Puppet takes it for none
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
