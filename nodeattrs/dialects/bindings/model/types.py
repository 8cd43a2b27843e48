"""Types of values, classes of Python that types name, and the keys that are bound.

The types are those of the table in docs/bindings.md, such as `Array[Integer]` and `Sql[one]`. `Type[X]` names a class
of Python; a `Classes` register finds the class. A *key* is the kind of a type and a name. Names that begin with a slash
belong to the library (`/param/...`, `/var/...`, `/map/...`, `/classes`). The module knows no bindings.
"""

from __future__ import annotations

import re
import types as python_types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, Union, get_args, get_origin, runtime_checkable

from nodeattrs.core.borders import checked_args
from nodeattrs.core.code import may_run, require_may_run
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.bindings.codes import AMBIGUOUS_CLASS, BAD_TYPE
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.puppet.references import Reference, unquoted

_SCALARS: dict[str, tuple[type, ...]] = {
    "Integer": (int,), "Float": (float,), "Number": (int, float), "String": (str,), "Boolean": (bool,),
    "Literal": (str, int, float, bool),
}  # fmt: skip
_PLAIN = {*_SCALARS, "Data", "Any", "Pattern"}
_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:(?:::|\.)\w+)*")
_WORD = re.compile(r"[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*")

_NARROWER: dict[str, frozenset[str]] = {
    "Number": frozenset({"Integer", "Float"}),
    "Literal": frozenset({"Integer", "Float", "Number", "String", "Boolean"}),
    "Data": frozenset({"Integer", "Float", "Number", "String", "Boolean", "Literal"}),
}


@dataclass(frozen=True)
class Type:
    """A type of values, as `parse_type` reads it. Its text is canonical: equal types have equal texts.

    `holds` says whether a value conforms to the type. `accepts` says whether each value of another type conforms, and
    `excludes` whether certainly no value of it does. `kind` is the first half of a key. `element` and `key` are
    the types inside an Array or a Hash, and `title` is the text in the brackets of other types. `is_instance` is True
    for a type that names one instance, and `is_data` if all values of the type are data.
    name: the word before the brackets: "Array", "Type", "Sql", ...
    args: for Array and Hash, types; for other types one text: a title, the name of a class, or a pattern. (): no
          brackets
    """

    name: str
    args: tuple[Type | str, ...] = ()

    @property
    def element(self) -> Type:
        """The type of the elements of an Array, or of the values of a Hash; Data unless given."""
        return self.args[-1] if self.args and isinstance(self.args[-1], Type) else DATA

    @property
    def key(self) -> Type:
        """The type of the keys of a Hash; Literal unless given."""
        return self.args[0] if len(self.args) == 2 and isinstance(self.args[0], Type) else LITERAL

    @property
    def title(self) -> str:
        """The text in the brackets of `Type[X]`, `Class[x]` or a reference; "" without brackets."""
        return str(self.args[0]) if self.args else ""

    @property
    def is_instance(self) -> bool:
        """Whether the type names one instance: `Sql[one]`."""
        return bool(self.args) and self.name not in ("Array", "Hash", "Type", "Class", "Pattern")

    @property
    def is_data(self) -> bool:
        """Whether every value of the type is data; all such types share one space of names."""
        if self.name in ("Array", "Hash"):
            return self.element.is_data and (self.name == "Array" or self.key.is_data)
        return self.name == "Data" or self.name in _SCALARS

    @property
    def kind(self) -> str:
        """The first half of a key: "Data" for all types of data, else the text of the type.

        A Hash of Literal keys has the kind of its values in its brackets: `Hash[Literal,X]` and `Hash[X]` are one kind.
        """
        if self.is_data:
            return "Data"
        if self.name == "Hash" and self.key == LITERAL:
            return f"Hash[{self.element.kind}]"  # so that Hash[Literal,X] and Hash[X] are one kind
        return str(self)

    def accepts(self, other: Type, classes: Classes) -> bool:
        """Whether each value of *other* conforms to this type: the same type, or a narrower one.

        Classes are compared by inheritance; an unknown class accepts its own name alone.
        """
        if self == other or self.name == "Any":
            return True
        if self.name in ("Array", "Hash"):
            return (
                other.name == self.name
                and self.element.accepts(other.element, classes)
                and (self.name == "Array" or self.key.accepts(other.key, classes))
            )
        if self.name == "Data" and other.name in ("Array", "Hash"):
            return other.is_data
        if self.name == "Type" and other.name == "Type":
            return classes.is_subclass(other.title, self.title)
        if self.name == "Pattern" and not self.args:
            return other.name == "Pattern"
        if self.name == "Class" and not self.args:
            return other.name == "Class"
        return other.name in _NARROWER.get(self.name, ())

    def excludes(self, other: Type, classes: Classes) -> bool:
        """Whether it is certain that no value of *other* conforms to this type.

        False for an unknown or abstract class, for two Arrays or two Hashes, and for Any, references and patterns.
        """
        if self.accepts(other, classes) or other.accepts(self, classes):
            return False
        if self.name == other.name == "Type":
            both = [classes.find(one.title) for one in (self, other)]
            return not any(one is None or is_abstract(one) for one in both)
        names = {self.name, other.name}
        return (
            len(names) == 2
            and names <= {*_SCALARS, "Array", "Hash", "Data", "Type"}
            and not ("Data" in names and names & {"Array", "Hash"})
        )

    def holds(self, value: Any, classes: Classes) -> bool:
        """Whether *value* conforms to the type.

        Null conforms to Any alone; inside an Array or Hash, it conforms to Data, too. A secret conforms to Data, but
        not to a type of texts or numbers.
        cost: one visit to each value inside, except for Any and Type[X]
        """
        name = self.name
        if name == "Any":
            return True
        if value is None:
            return False
        if name == "Data":
            return _is_data(value)
        if name == "Array":
            return isinstance(value, list) and all(_inside(self.element, entry, classes) for entry in value)
        if name == "Hash":
            return isinstance(value, dict) and all(
                self.key.holds(key, classes) and _inside(self.element, entry, classes) for key, entry in value.items()
            )
        if name == "Type":
            return classes.is_instance(value, self.title)
        if name == "Pattern":
            return isinstance(value, re.Pattern) and (not self.args or value.pattern == self.title)
        return _holds_scalar(name, value) if name in _SCALARS else _holds_reference(self, value)

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(_spelled, self.args))}]" if self.args else self.name

    def __repr__(self) -> str:
        return f"<{self}>"


def _spelled(argument: Type | str) -> str:
    """An argument of a type as text, in quotes unless it is a word or a name."""
    if isinstance(argument, Type) or _WORD.fullmatch(argument) or _NAME.fullmatch(argument):
        return str(argument)
    escaped = argument.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _inside(element: Type, value: Any, classes: Classes) -> bool:
    return element.holds(value, classes) or (value is None and element.name == "Data")


def _is_data(value: Any) -> bool:
    """Whether a value is data at all levels; null counts inside of a collection."""
    waiting = [value]  # no recursion: a value may be as deep as a tree
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not all(map(_is_literal, one)):
                return False
            waiting.extend(entry for entry in one.values() if entry is not None)
        elif isinstance(one, list):
            waiting.extend(entry for entry in one if entry is not None)
        elif not isinstance(one, Sensitive) and not _is_literal(one):
            return False
    return True


def _is_literal(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _holds_scalar(name: str, value: Any) -> bool:
    if isinstance(value, bool):  # which is an int in Python
        return bool in _SCALARS[name]
    return isinstance(value, _SCALARS[name])


def _holds_reference(declared: Type, value: Any) -> bool:
    """Whether a value is a reference to a class where a class is declared, else to a resource."""
    return isinstance(value, Reference) and (value.type == "Class") == (declared.name == "Class")


def _is_protocol(of: type) -> bool:
    """Whether a class is declared as a Protocol, of `typing` or of `typing_extensions`."""
    named = ((base.__module__, base.__name__) for base in of.__bases__)
    return any(one in (("typing", "Protocol"), ("typing_extensions", "Protocol")) for one in named)


def is_abstract(of: type) -> bool:
    """Whether a class is abstract or a Protocol, so that no object can be made of it."""
    return bool(getattr(of, "__abstractmethods__", ())) or _is_protocol(of)


def follows(kind: type, protocol: type) -> bool:
    """Whether a class follows a Protocol: it inherits from it, or has all of its methods."""
    return protocol in kind.__mro__ or all(hasattr(kind, name) for name in _members(protocol))


@lru_cache(maxsize=1024)
def _members(protocol: type) -> frozenset[str]:
    """The methods of a Protocol; its plain attributes, which a constructor may set, are not checked."""
    bases = [base for base in protocol.__mro__ if _is_protocol(base)]
    return frozenset(name for base in bases for name in vars(base)) - _OF_EVERY_PROTOCOL


@runtime_checkable
class _Empty(Protocol):
    pass


_OF_EVERY_PROTOCOL = frozenset(
    {
        *vars(_Empty),
        *("__annotations__", "__slots__", "__static_attributes__", "__firstlineno__"),
        *("__protocol_attrs__", "__non_callable_proto_members__"),  # of typing_extensions, and of Python 3.12
    }
)


@checked_args(known=Mapping | None)
class Classes:
    """A register of the classes of Python that `Type[X]` may name: name -> class.

    `add` registers a class and returns its name. `include` adds the classes of another register. `offer` registers a
    function that loads a class later; it is called only if code of the repository may run. `find` and `require` return
    a class, or None for an unknown name. If an offered class may not be loaded, `find` returns None, and `require`
    raises UnknownLayer. `names` lists all names. `is_subclass` and `is_instance` take the names of classes.
    known:  the first classes, by name; None: there are none
    raises: BindingError ("ambiguous-class"), for two classes of one name

    >>> Classes({"Path": str}).find("Path")
    <class 'str'>
    """

    def __init__(self, known: Mapping[str, type] | None = None) -> None:
        self._known: dict[str, type] = {}
        self._offered: dict[str, Callable[[], type]] = {}
        for name, one in (known or {}).items():
            self.add(one, name)

    def add(self, one: type, name: str = "") -> str:
        """Register a class, and return the name. To add the same class again does nothing.

        name: the name; "": the name of the class
        raises: BindingError ("ambiguous-class"), if another class has the name
        """
        name = name or one.__name__
        known = self._known.setdefault(name, one)
        if known is not one:
            raise BindingError(
                AMBIGUOUS_CLASS,
                f"two classes are called {name}: {known.__module__}.{name} and {one.__module__}.{one.__qualname__}",
                hint="name one of them with classes={'OtherName': ...}",
            )
        return name

    def find(self, name: str) -> type | None:
        """The class of a name, with or without brackets; None for an unknown one, and where its code may not run."""
        plain = _class_name(name)
        if plain not in self._known and plain in self._offered and may_run():
            self.add(self._offered[plain](), plain)
        return self._known.get(plain)

    def require(self, name: str) -> type | None:
        """The class of a name, or None for an unknown name. raises: UnknownLayer, if its code may not run"""
        plain = _class_name(name)
        if plain not in self._known and plain in self._offered:
            require_may_run(f"the class {plain}")
        return self.find(plain)

    def offer(self, name: str, load: Callable[[], type]) -> None:
        """Register a class that *load* gives when the class is needed; a later offer of the name replaces this one."""
        self._offered[name] = load

    def include(self, other: Classes) -> None:
        """Register the classes and the offers of another register, too. raises: BindingError, for two of one name"""
        self._offered.update(other._offered)
        for name, one in other._known.items():
            self.add(one, name)

    def names(self) -> list[str]:
        """The names of all classes, also of those that are only offered, in order."""
        return sorted({*self._known, *self._offered})

    def is_subclass(self, name: str, of: str) -> bool:
        """Whether the class *name* is the class *of* or inherits from it. Of unknown names: whether they are equal."""
        one, base = self.find(name), self.find(of)
        return name == of or (one is not None and base is not None and issubclass(one, base))

    def is_instance(self, value: Any, name: str) -> bool:
        """Whether *value* is an instance of the class of that name, or follows the Protocol of that name.

        For an unknown name: whether the class of the value, or a class that it inherits from, has the name.
        """
        known = self.find(name)
        if known is None:
            plain = name.partition("[")[0]
            return any(base.__name__ == plain for base in type(value).__mro__)
        return follows(type(value), known) if _is_protocol(known) else isinstance(value, known)


def _class_name(text: str) -> str:
    return text.removeprefix("::").partition("[")[0]


@lru_cache(maxsize=4096)
@checked_args(text=str)
def parse_type(text: str) -> Type:
    """The type that a text spells: `Array[Integer]`, `class ntp`, `File['/etc/hosts']`, `Type[Logger]`.

    cost:   one scan; the types of 4,096 texts are cached
    raises: BindingError ("bad-type")

    >>> str(parse_type("Hash[ String , Array[Integer] ]")), str(parse_type("class ntp")), str(parse_type("Web['one']"))
    ('Hash[String,Array[Integer]]', 'Class[ntp]', 'Web[one]')
    """
    stripped = text.strip()
    try:
        found, rest = _parsed(stripped, stripped)
    except RecursionError:
        raise _bad(text[:40] + "…", "is nested too deep") from None
    if rest.strip():
        raise _bad(text, f"has {rest.strip()!r} after its end")
    return found


def _parsed(text: str, whole: str) -> tuple[Type, str]:
    """(type, rest of the text) at the start of a text. raises: BindingError ("bad-type")"""
    text = text.lstrip()
    if text.startswith("class "):
        named = _NAME.match(text, 6)
        if named is None:
            raise _bad(whole, "names no class")
        return Type("Class", (named[0],)), text[named.end() :]
    match = _NAME.match(text)
    if match is None:
        raise _bad(whole, "is no type" if text == whole else "lacks a type inside its brackets")
    name, rest = match[0].removeprefix("::"), text[match.end() :].lstrip()
    args: list[Type | str] = []
    if rest.startswith("["):
        rest = rest[1:]
        while True:
            argument, rest = _argument(name, rest.lstrip(), whole)
            args.append(argument)
            rest = rest.lstrip()
            if rest.startswith(","):
                rest = rest[1:]
            elif rest.startswith("]"):
                return _checked(name, tuple(args), whole), rest[1:]
            else:
                raise _bad(whole, "has a bracket that is not closed")
    return _checked(name, (), whole), rest


_TITLE = re.compile(r"[^\[\],'\"]+")
_QUOTED = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"|/((?:\\.|[^/\\\n])+)/", re.DOTALL)


def _argument(name: str, text: str, whole: str) -> tuple[Type | str, str]:
    """(argument, rest of the text) of a type with that name. raises: BindingError ("bad-type")"""
    if quoted := _QUOTED.match(text):
        return unquoted(quoted[0]), text[quoted.end() :]
    if name in ("Array", "Hash"):
        return _parsed(text, whole)
    if text[:1].isupper() and name == "Type":
        inner, rest = _parsed(text, whole)
        return inner if inner.args else inner.name, rest
    title = _TITLE.match(text)
    if title is None:
        raise _bad(whole, "has an empty bracket")
    return title[0].strip(), text[title.end() :]


def _checked(name: str, args: tuple[Type | str, ...], whole: str) -> Type:
    """The type, if it may have these arguments. raises: BindingError ("bad-type")"""
    most = {"Array": 1, "Hash": 2}.get(name, 0 if name in _PLAIN - {"Pattern"} else 1)
    if len(args) > most:
        raise _bad(whole, f"gives {name} {len(args)} arguments; it takes {most or 'none'}")
    if name in ("Array", "Hash") and not all(isinstance(argument, Type) for argument in args):
        raise _bad(whole, f"gives {name} an argument that is no type")
    if name == "Type" and not args:
        raise _bad(whole, "names no class")
    if not name[:1].isupper():
        raise _bad(whole, "does not begin with a capital letter")
    return Type(name, args)


def _bad(text: str, what: str) -> BindingError:
    return BindingError(BAD_TYPE, f"the type {text!r} {what}")


DATA = Type("Data")
LITERAL = Type("Literal")
ANY = Type("Any")
ARRAY = Type("Array")
HASH = Type("Hash")

_OF_HINT: dict[Any, Type] = {
    int: Type("Integer"), float: Type("Float"), str: Type("String"), bool: Type("Boolean"), list: ARRAY,
    dict: HASH, Any: ANY, object: ANY, re.Pattern: Type("Pattern"),
}  # fmt: skip
_UNIONS: dict[frozenset[Any], Type] = {
    frozenset({int, float}): Type("Number"),
    frozenset({int, float, str, bool}): LITERAL,
}


def type_of_hint(hint: Any, classes: Classes) -> Type:
    """The type of a type of Python, or of its text; a `Type` is returned as it is. Classes are added to *classes*.

    raises: BindingError ("bad-type", "ambiguous-class")

    >>> type_of_hint(dict[str, list[int]], Classes()), type_of_hint("Array", Classes())
    (<Hash[String,Array[Integer]]>, <Array>)
    """
    if isinstance(hint, Type):
        return hint
    if isinstance(hint, str):
        return parse_type(hint)
    if hint in _OF_HINT:
        return _OF_HINT[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is list:
        return Type("Array", (type_of_hint(args[0], classes),))
    if origin is dict:
        return _checked("Hash", tuple(type_of_hint(one, classes) for one in args), str(hint))
    if origin in (Union, python_types.UnionType) and frozenset(args) in _UNIONS:
        return _UNIONS[frozenset(args)]
    if isinstance(origin, type) and origin is not python_types.UnionType:
        return type_of_hint(origin, classes)
    if isinstance(hint, type):
        return Type("Type", (classes.add(hint),))
    way = (
        "a function is filled when it is called: wire(f)()" if callable(hint) else "pass a class, or a text like 'Data'"
    )
    raise BindingError(BAD_TYPE, f"{hint!r} is no type that can be bound", hint=way)


Key = tuple[str, str]
"""The kind of a type ("Data" for all data), and a name."""


@dataclass(frozen=True)
class Asked:
    """A key as a caller writes it: a type, a name, or both. The injected value must conform to the type.

    type: None means Data
    name: None means the type alone: a binding without a name

    `key` is the pair (kind of the type, name or "") of the declarations. `label` is the name or the type, for messages.
    """

    type: Type | None = None
    name: str | None = None

    @property
    def key(self) -> Key:
        """(kind of the type, name or ""): the key under which declarations are found."""
        return (self.type.kind if self.type else "Data"), self.name or ""

    @property
    def label(self) -> str:
        """The key in one word for messages: its name, else its class or type; "" for neither."""
        if self.name or self.type is None:
            return self.name or ""
        return self.type.title if self.type.name == "Type" else str(self.type)

    def __str__(self) -> str:
        if self.type is None:
            return repr(self.name or "")
        return str(self.type) if self.name is None else f"{self.type}, {self.name!r}"


def spelled_key(key: Key) -> str:
    """The text of a key in messages.

    >>> spelled_key(("Data", "ssh::port")), spelled_key(("Type[Logger]", ""))
    ("Data, 'ssh::port'", 'Type[Logger]')
    """
    kind, name = key
    return f"{kind}, {name!r}" if name else kind


CLASSES = "/classes"

_ESCAPES = {"%": "%25", "/": "%2F", "[": "%5B", "]": "%5D"}


def target_of(text: str) -> Type:
    """The type that parameters are for. A name that begins with a lower case letter or `_` is a class of Puppet.

    raises: BindingError ("bad-type")

    >>> target_of("ntp"), target_of("class ntp"), target_of("Web[one]")
    (<Class[ntp]>, <Class[ntp]>, <Web[one]>)
    """
    stripped = text.strip()
    bare = stripped.removeprefix("::")[:1]
    if not stripped.startswith("class ") and (bare.islower() or bare == "_"):
        return parse_type(f"class {stripped}")
    return parse_type(stripped)


def _target(of: Type) -> str:
    escaped = "".join(_ESCAPES.get(sign, sign) for sign in of.title)
    return f"{of.name}[{escaped}]" if of.args else of.name


@checked_args(target=str | Type, name=str)
def parameter_key(target: str | Type, name: str) -> str:
    """The name under which a parameter of a class, type or instance is bound. raises: BindingError ("bad-type")

    >>> parameter_key("File['foo/bar[x]']", "mode")
    '/param/File[foo%2Fbar%5Bx%5D]/mode'
    """
    return f"/param/{_target(target_of(target) if isinstance(target, str) else target)}/{name}"


@checked_args(lhs=str | Type, rhs=str | Type)
def map_key(lhs: str | Type, rhs: str | Type) -> str:
    """The name under which the parameter map of two types is bound. raises: BindingError ("bad-type")

    >>> map_key("Web", "Sql")
    '/map/Web/Sql'
    """
    sides = (target_of(side) if isinstance(side, str) else side for side in (lhs, rhs))
    return f"/map/{'/'.join(map(_target, sides))}"


@checked_args(name=str)
def variable_key(name: str) -> str:
    """The name under which a top scope variable is bound; a leading `::` of the variable is left out."""
    return f"/var/{name.removeprefix('::')}"
