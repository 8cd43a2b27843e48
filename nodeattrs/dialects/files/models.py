"""Load settings of a Python program: files, .env and the environment merged, as an object of a class.

pydantic makes the object of a dataclass or a pydantic model, and cattrs the object of an attrs class. An error names
the file and line, or the variable, of each wrong value; it prints no value.

A field is secret if its type has `get_secret_value`, as pydantic's SecretStr does, or if it is declared with
`repr=False`. If a type hint cannot be resolved, all fields of the class count as secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded, Layer
from nodeattrs.core.policy import Policy
from nodeattrs.core.sensitive import revealed, withheld
from nodeattrs.core.tree import ABSENT, Path, as_path, dig, spell, tree_with
from nodeattrs.errors import BadArgument, InvalidSettings, NoSuchAttribute, missing_extra
from nodeattrs.formats.layers import dotenv_layer, environment_layer, read_layer
from nodeattrs.policies import DEFAULT_POLICY, fold
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.screen import Screen

if TYPE_CHECKING:
    from pydantic import ValidationError

Model = TypeVar("Model")
_WIDTH = 100
_OF_PROGRAMS = ("value_error", "assertion_error", "union_tag_invalid")
"""Kinds of faults whose message may have the value: pydantic's name of each."""


class _Fault(NamedTuple):
    """A fault of a value, as the library of the model reports it.

    path:       steps in the model, with tags of unions
    is_missing: whether there is no value
    is_own:     whether a validator of the program wrote the message
    """

    path: Sequence[Any]
    message: str
    is_missing: bool = False
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Model]):
    """An object with settings, and the merged tree that its values came from; `load` returns it.

    value:  the object of the program's class
    folded: the merged tree; values of secret fields are withheld

    `explain` gives the layers that set a key, as text. It raises NoSuchAttribute if the key is not set.
    """

    value: Model
    folded: Folded

    def explain(self, key: str) -> str:
        """Why a key has its value, as text: the layer that sets it, then a line for each layer that was overridden.

        key:    a dotted path, such as "db.port"
        raises: NoSuchAttribute, where it is not set; BadArgument, for a path that is not spelled right
        """
        path = as_path(key)
        if dig(self.folded.value, path) is ABSENT:
            raise NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=way_to(self.folded.value, path))
        return "\n".join(NodeExplanation(self.folded.trace(path)).lines(Screen(_WIDTH)))


def load(
    model: type[Model],
    files: Iterable[str | os.PathLike[str]] = (),
    *,
    env: str = "",
    nested: str = "__",
    dotenv: str | os.PathLike[str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    policy: Policy | str = DEFAULT_POLICY,
    environ: Mapping[str, str] | None = None,
) -> Loaded[Model]:
    """Merge files, a .env file, variables and arguments, in this order, and make an object of *model*.

    Later sources override earlier ones. If the text of a variable is a JSON list or map, it is read as one.

    model:     a dataclass, an attrs class or a pydantic model
    files:     YAML, JSON, TOML, .ini or .properties, the weakest first
    dotenv:    a .env file; a file that does not exist sets nothing. It is not read without *env*
    env:       the beginning of the names of variables. With "APP_" the variable APP_DB__PORT sets db.port; "" reads
               none
    nested:    the text between two keys in the name of a variable. The keys are the name in lower case
    arguments: key -> value, as a command line gives them: {"db.port": 81}; None as a value sets nothing
    policy:    how values merge, or the name of a policy
    environ:   the variables; None: the variables of this process
    raises:    InvalidSettings, with the file and line of each wrong value; DocumentError; MissingExtra;
               UnknownLayer, for a file that is encrypted as a whole; BadArgument, for a variable below another one
    """
    if isinstance(files, str):
        raise BadArgument("files is a list of paths, and not a text", hint=f"write [{files!r}]")
    layers = [read_layer(os.fspath(file)) for file in files]
    if dotenv is not None and env and os.path.exists(dotenv):
        layers.append(dotenv_layer(read_layer(os.fspath(dotenv), syntax="env"), env, nested))
    if env:
        layers.append(environment_layer(os.environ if environ is None else environ, env, nested))
    for key, value in (arguments or {}).items():
        if value is not None:
            layers.append(Layer(tree_with(as_path(key), value), Origin("argument", key)))
    secrets = [*dict.fromkeys(path for layer in layers for path in _secrets(model, layer.value, (), set()))]
    hidden = [Layer(withheld(one.value, secrets), one.origin, one.title, one.policy) for one in layers]
    folded = fold(hidden or [Layer({})], policy, strict=True)
    structure = _by_cattrs if hasattr(model, "__attrs_attrs__") else _by_pydantic
    made = structure(model, revealed(folded.value))
    if isinstance(made, list):
        raise _error(model, [_without_secrets(one, secrets, folded) for one in made], folded, env, nested)
    return Loaded(made, folded)


def _by_pydantic(model: type[Model], value: Any) -> Model | list[_Fault]:
    """The object, or what is wrong. raises: MissingExtra"""
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError as error:
        raise missing_extra("pydantic", "settings", "settings as an object") from error
    try:
        return TypeAdapter(model).validate_python(value)
    except ValidationError as error:
        return _pydantic_faults(error)


def _pydantic_faults(error: ValidationError) -> list[_Fault]:
    """The faults that pydantic found, without the values."""
    from pydantic_core.core_schema import ErrorType

    known = {*get_args(ErrorType)}.difference(_OF_PROGRAMS)
    found = []
    for one in error.errors(include_url=False):
        kind = one["type"]
        is_own = kind not in known
        message = one["msg"].partition(":")[0] if kind == "import_error" else one["msg"]
        message = _without_values(message, one["input"]) if is_own else message
        found.append(_Fault(one["loc"], message, kind == "missing", is_own))
    return found


def _without_values(message: str, value: Any) -> str:
    """A message without the texts and numbers of a value, which may be secrets."""
    for text in sorted(_leaves(value), key=len, reverse=True):
        message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "(withheld)", message)
    return message


def _without_secrets(fault: _Fault, secrets: Sequence[Path], folded: Folded) -> _Fault:
    """A fault without secrets. The message is replaced if it has a secret, or if a validator wrote it for a secret."""
    path = _path(fault, folded)
    tree = revealed(folded.value)
    texts = {text for secret in secrets for text in _leaves(dig(tree, secret))}
    is_at_secret = any(path[: len(secret)] == secret for secret in secrets)
    if (fault.is_own and is_at_secret) or any(text in fault.message for text in texts):
        return fault._replace(message="the value does not fit; the message may have a secret, and is withheld")
    return fault


def _leaves(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, as texts; empty ones are left out."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    elif isinstance(value, (str, int, float)) and value != "":
        yield str(value)


def _by_cattrs(model: type[Model], value: Any) -> Model | list[_Fault]:
    """The object, or its faults. pydantic reads types without attrs classes: cattrs would read "false" as true.

    raises: MissingExtra
    """
    try:
        from cattrs import BaseValidationError, Converter
    except ImportError as error:
        raise missing_extra("cattrs", "settings", "settings as an object of an attrs class") from error
    converter = Converter(forbid_extra_keys=False)
    converter.register_structure_hook_func(_is_plain, _plain)
    for kind in (bool, int, float, str, bytes):  # hooks of cattrs for these come first
        converter.register_structure_hook(kind, _plain)
    try:
        return converter.structure(value, model)
    except BaseValidationError as error:
        return [*_attrs_faults(error, ())]


def _plain(value: Any, kind: Any) -> Any:
    """A value as pydantic reads it. raises: ValidationError, of pydantic"""
    from pydantic import TypeAdapter

    return TypeAdapter(kind).validate_python(value)


def _is_plain(kind: Any) -> bool:
    """Whether no part of a type is an attrs class."""
    return not hasattr(kind, "__attrs_attrs__") and all(_is_plain(one) for one in get_args(kind))


def _attrs_faults(error: Exception, path: Path) -> Iterator[_Fault]:
    from cattrs import AttributeValidationNote, BaseValidationError, ClassValidationError, IterableValidationError
    from pydantic import ValidationError

    if isinstance(error, (ClassValidationError, IterableValidationError)):
        noted, others = error.group_exceptions()
        for one, note in noted:
            step = note.name if isinstance(note, AttributeValidationNote) else note.index
            yield from _attrs_faults(one, (*path, step))
        for other in others:
            yield from _attrs_faults(other, path)
    elif isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from _attrs_faults(inner, path)
    elif isinstance(error, ValidationError):
        for fault in _pydantic_faults(error):
            yield fault._replace(path=(*path, *fault.path))
    elif isinstance(error, KeyError):
        yield _Fault(path, "Field required", is_missing=True)
    else:
        yield _Fault(path, f"{type(error).__name__}: the value does not fit")


def _error(model: type[Any], faults: Sequence[_Fault], folded: Folded, env: str, nested: str) -> InvalidSettings:
    """The error for all faults: the first one is the message, the lines of the others are details."""
    message, *details = [line for one in faults for line in _text(one, folded, env, nested)]
    hint = f"correct it, or the class {model.__name__}"
    return InvalidSettings(message, details=details, path=_path(faults[0], folded), hint=hint)


def _path(fault: _Fault, folded: Folded) -> Path:
    """The path of a fault in the tree: its steps, except for steps that the tree does not have."""
    path: Path = ()
    for step in fault.path:
        if dig(folded.value, (*path, step)) is not ABSENT:
            path = (*path, step)
    return path


def _text(fault: _Fault, folded: Folded, env: str, nested: str) -> list[str]:
    """A fault as lines: place, key and message; then what the value overrode. No value is named: it may be a secret."""
    path = _path(fault, folded)
    name = ".".join(map(str, fault.path)) or "the settings"
    origins = folded.origins(path) if path else ()
    if fault.is_missing and not any(isinstance(step, int) for step in path):
        return [f"{name}: {fault.message}", *_unset(fault, path, env, nested)]
    if not origins:
        return [f"{name}: {fault.message}"]
    trace = folded.trace(path)
    return [
        f"{origins[0].place or origins[0].who}: {name}: {fault.message}",
        *(f"it overrides {one.claim.origin}" for one in trace.losers),
    ]


def _unset(fault: _Fault, path: Path, env: str, nested: str) -> Iterator[str]:
    """The variable that would set a missing value; nothing where no variable has its path."""
    steps = [str(step) for step in fault.path]
    if env and path == tuple(steps[:-1]) and all(step == step.lower() for step in steps):
        yield f"no file sets it, and {env}{nested.join(steps).upper()} is not set"


# --- the secrets that the fields of a class declare


class _Field(NamedTuple):
    """A field of a class.

    paths:     where its value may be in the data of an object: under its name, and under each alias
    kind:      its type
    is_hidden: whether it is declared with repr=False, or its type has a name that is not defined
    """

    paths: list[Path]
    kind: Any
    is_hidden: bool


def _secrets(kind: Any, value: Any, path: Path, seen: set[tuple[int, Path]]) -> Iterator[Path]:
    """Yield the paths in a value that are secret by the fields of its type; a path may come twice.

    A list or map of secrets is secret as a whole. So is a text instead of a map, if the map may have a secret. A value
    that a validator of the model moves to another key is not followed.

    kind: the type: a dataclass, an attrs class, a pydantic model, or the type of a field
    path: the path of *value*
    seen: types by their id, with the paths where they were compared, since a type may contain itself
    """
    if (id(kind), path) in seen or value is ABSENT:
        return
    seen.add((id(kind), path))
    if hasattr(get_origin(kind) or kind, "get_secret_value"):
        yield path
        return
    for field in _fields(kind):
        for below in field.paths if isinstance(value, dict) else [()]:
            found = dig(value, below)
            if not field.is_hidden:
                yield from _secrets(field.kind, found, (*path, *below), seen)
            elif found is not ABSENT:
                yield (*path, *below)
    aliased = (getattr(kind, name, None) for name in ("__supertype__", "__value__"))  # of a NewType, of `type X = Y`
    for inner in (*get_args(kind), *aliased):
        yield from _secrets(inner, value, path, seen)
        for step in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from _secrets(inner, value[step], (*path, step), seen)


def _fields(kind: Any) -> Iterator[_Field]:
    """The fields of a class; nothing for a type that is no class."""
    if not isinstance(kind, type):
        return
    described = getattr(kind, "__pydantic_fields__", {})
    declared = getattr(kind, "__dataclass_fields__", {})
    of_attrs = {one.name: one for one in getattr(kind, "__attrs_attrs__", ())}
    hints: dict[str, Any] = dict.fromkeys((*declared, *of_attrs))
    try:
        hints |= get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):  # a type has an undefined name; pydantic may know it
        is_hidden = not described
    else:
        is_hidden = False
    for name in dict.fromkeys((*hints, *described)):
        hint, own, about = hints.get(name), declared.get(name), described.get(name)
        notes = [own, getattr(own, "default", None), of_attrs.get(name), about, *get_args(hint)[1:]]
        paths = [(name,), *(path for note in notes for path in _aliases(note))]
        is_quiet = any(getattr(note, "repr", True) is False for note in notes)
        yield _Field(paths, getattr(about, "annotation", hint), is_hidden or is_quiet)


def _aliases(note: Any) -> Iterator[Path]:
    """The paths of the aliases that pydantic's description of a field has."""
    for name in ("alias", "validation_alias"):
        alias = getattr(note, name, None)
        if isinstance(alias, str):
            yield (alias,)
        elif alias is not None and hasattr(alias, "convert_to_aliases"):
            found = alias.convert_to_aliases()
            yield from map(tuple, found if isinstance(found[0], list) else [found])
