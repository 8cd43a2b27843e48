"""Check a merged config by cloud-init's own JSON schema: values that it does not allow, and keys that are deprecated.

The user gives the file of the schema; none is part of nodeattrs. If the schema has alternatives for a value, the
message is about the alternative that fits best. Warnings have paths; `Merged.place_of` finds their lines.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from nodeattrs import border
from nodeattrs.core.borders import checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import Path, dig, hint_for, spell
from nodeattrs.dialects.cloudinit.codes import SCHEMA, SCHEMA_DEPRECATED
from nodeattrs.dialects.cloudinit.config_text import path_with_own_keys, with_text_keys
from nodeattrs.dialects.cloudinit.lints.texts import markup_in
from nodeattrs.dialects.cloudinit.lints.values import foreign_key
from nodeattrs.dialects.cloudinit.lints.warned import Severity, Warned
from nodeattrs.dialects.cloudinit.parts import kind_of, value_count
from nodeattrs.dialects.cloudinit.secrets import WITHHELD, guarded
from nodeattrs.errors import BadArgument, missing_extra
from nodeattrs.formats.documents import read
from nodeattrs.reports.screen import counted

if TYPE_CHECKING:
    from jsonschema import ValidationError

_NAME = "schema-cloud-config-v1.json"
_BELOW = ("", "cloudinit/config/schemas", "config/schemas", "schemas")
_WAY = f"name {_NAME} of a cloud-init, or the folder of its source"
_INSTALLED = "/usr/lib/python3/dist-packages/cloudinit", "/usr/lib/python3*/site-packages/cloudinit"
"""Where packages of distributions put cloud-init."""

_STEPS_A_VALUE = 100
"""Steps of the budget for each value of a config."""

_TYPES = {
    "string": "a text", "array": "a list", "object": "a mapping", "boolean": "true or false", "integer": "a number",
    "number": "a number", "null": "null",
}  # fmt: skip


@checked_args(place=str)
def schema_file(place: str) -> File:
    """The path of the schema at a place: a file, a folder of a cloud-init, or "installed" for the schema of the system.

    The file is not read. raises: BadArgument, where no schema is there
    """
    places = [File(place)]
    if place == "installed":
        border.admit(*(os.path.dirname(pattern.partition("*")[0]) for pattern in _INSTALLED))
        places = [File(found) for pattern in _INSTALLED for found in sorted(glob.glob(pattern))]
    for one in places:
        for file in [one] if one.is_file() else [one / below / _NAME for below in _BELOW]:
            if file.is_file():
                return file
    what = "no cloud-init is installed here" if place == "installed" else f"{place}: no {_NAME} is there"
    raise BadArgument(what, hint=_WAY)


class Schema:
    """A JSON schema of cloud-init. The constructor reads and checks the file; `warnings` checks a config by it.

    file:      from `schema_file`
    sensitive: further paths whose values no message may show
    raises:    DocumentError, for a file that is not JSON; BadArgument, if the JSON is not a schema; MissingExtra,
               without jsonschema

    `warnings(config)` yields nothing for a valid config.
    """

    def __init__(self, file: File, sensitive: Iterable[Path] = ()) -> None:
        try:
            self._validator = _validator_of(read(file, budget=Budget(str(file))).tree)
        except ImportError as error:
            raise missing_extra("jsonschema", "schema", "a check by the schema") from error
        self._sensitive = tuple(sensitive)

    def warnings(self, config: Any) -> Iterator[Warned]:
        """Yield an error for each value that the schema does not allow, and a note for each deprecated key.

        Nothing for a valid config, and nothing for a config for another program. Each path and message comes once.
        raises: TooMuch; BadArgument, where a reference of the schema leads nowhere
        """
        if foreign_key(config):
            return
        Budget("the check by the schema").steps(_STEPS_A_VALUE * value_count(config))
        tree = with_text_keys(config, lambda value: value)
        without_secrets = guarded((), tree, sensitive=self._sensitive)
        found: dict[tuple[Path, str], tuple[str, bool]] = {}
        for error in self._errors(tree):
            for path, message, hint, is_note in _faults(error, without_secrets):
                found.setdefault((path, message), (hint or _about_markup(dig(tree, path)), is_note))
        for (path, message), (hint, is_note) in found.items():
            own = path_with_own_keys(config, path)
            name = SCHEMA_DEPRECATED if is_note else SCHEMA
            severity: Severity = "note" if is_note else "error"
            sentence = f"{spell(own)} {message}" if own else f"the config {message}"
            yield Warned(name, sentence, 0, "", own, hint, severity, is_about_key=message == _NO_KEY)

    def _errors(self, tree: Any) -> Iterator[ValidationError]:
        from referencing.exceptions import Unresolvable

        try:
            yield from self._validator.iter_errors(tree)
        except Unresolvable as error:
            raise BadArgument(f"a reference of the schema leads nowhere: {error.ref}", hint=_WAY) from error
        except RecursionError:
            raise BadArgument("the schema leads back to itself", hint=_WAY) from None


def _about_markup(value: Any) -> str:
    """The hint about a value that another program has still to fill in."""
    markup = markup_in(value) if isinstance(value, str) else None
    return "" if markup is None else f"cloud-init does not fill in {markup}: check the text that a machine is given"


# --- the validator -----------------------------------------------------------------------

_NOTES = ("deprecated", "changed")


def _is_note(error: ValidationError) -> bool:
    return error.validator in _NOTES


def _validator_of(schema: Any) -> Any:
    """A validator of draft 4. In it, bytes are a text, and a deprecated value is valid."""
    from jsonschema import Draft4Validator, FormatChecker
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import create
    from referencing import Registry

    checker = Draft4Validator.TYPE_CHECKER.redefine("string", lambda _, value: isinstance(value, (str, bytes)))
    words: Any = {"deprecated": _noted, "changed": _noted, "oneOf": _one_of, "anyOf": _any_of}
    # Not `extend`: draft 4 ignores the keywords beside a $ref, and cloud-init does not.
    made: Any = create(Draft4Validator.META_SCHEMA, {**Draft4Validator.VALIDATORS, **words}, type_checker=checker)
    made.is_valid = _is_valid
    try:
        made.check_schema(schema)
    except SchemaError as error:
        raise BadArgument(f"this is no JSON schema: {error.message}", hint=_WAY) from error
    formats = FormatChecker()
    formats.checks("uri")(_is_uri)
    # Nothing is fetched: a reference leads to the schema itself, or nowhere.
    return made(schema, format_checker=formats, registry=Registry())


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*(?:#[^#\s]*)?", re.ASCII)
"""RFC 3986: jsonschema alone looks at no URI."""


def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or _URI.fullmatch(value) is not None


def _is_valid(validator: Any, value: Any, schema: Any = None) -> bool:
    looking = validator if schema is None else validator.evolve(schema=schema)
    return all(_is_note(error) for error in looking.iter_errors(value))


def _noted(validator: Any, is_so: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if is_so:
        yield ValidationError("")


def _any_of(validator: Any, branches: Any, value: Any, schema: Any, *, only: bool = False) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    errors: list[ValidationError] = []
    for index, branch in enumerate(branches):
        found = list(validator.descend(value, branch, schema_path=index))
        if all(map(_is_note, found)):
            if only and any(_is_valid(validator, value, other) for other in branches[index + 1 :]):
                yield ValidationError("")
            yield from found
            return
        errors += [error for error in found if not _is_note(error)]
    yield ValidationError("", context=errors)


def _one_of(validator: Any, branches: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    return _any_of(validator, branches, value, schema, only=True)


# --- its errors in words -----------------------------------------------------------------

_Fault = tuple[Path, str, str, bool]
"""The path, the message, a hint or "", and whether it is only a note."""


def _faults(error: ValidationError, tree: Any) -> Iterator[_Fault]:
    path = tuple(error.absolute_path)
    if error.context:
        yield from _of_the_nearest(error, tree)
    elif _is_note(error):
        yield path, *_in_note(error), True
    else:
        make = _WORDS.get(str(error.validator), _in_general)
        for step, message, hint in make(error, dig(tree, path)):
            yield (*path, *step), message, hint, False


def _of_the_nearest(error: ValidationError, tree: Any) -> Iterator[_Fault]:
    """Yield the faults by the alternative that fits best: it is for the value's type, and has the deepest error."""
    path = tuple(error.absolute_path)
    branches: dict[Any, list[ValidationError]] = {}
    for one in error.context or ():
        branches.setdefault(one.relative_schema_path[0], []).append(one)
    near = [found for found in branches.values() if not any(_is_of_another_kind(one, path) for one in found)]
    if not near:
        yield path, f"is {kind_of(error.instance)}, and has to be {_wanted(error.context or (), path)}", "", False
        return
    deepest = max(len(one.absolute_path) for found in near for one in found)
    left = [found for found in near if any(len(one.absolute_path) == deepest for one in found)]
    errors = [one for found in left for one in found]
    if len(left) > 1 and all(tuple(one.absolute_path) == path for one in errors) and (wanted := _wanted(errors, path)):
        value = dig(tree, path)
        hidden = value == WITHHELD or isinstance(value, (dict, list))
        given = kind_of(error.instance) if hidden else shown(value, 40)
        yield path, f"is {given}, and has to be {wanted}", "", False
        return
    if len(left) > 1 and all(one.validator == "required" and tuple(one.absolute_path) == path for one in errors):
        keys = dict.fromkeys(key for one in errors for key in one.validator_value if key not in one.instance)
        yield path, f"needs one of the keys {', '.join(keys)}", "", False
        return
    for one in errors:
        yield from _faults(one, tree)


def _wanted(errors: Iterable[ValidationError], path: Path) -> str:
    """The types, words and patterns that errors ask for at a path, joined by "or"; "" for none."""
    words = [*dict.fromkeys(word for one in errors for word in _wanted_of(one, path))]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


def _is_of_another_kind(error: ValidationError, path: Path) -> bool:
    """Whether an error shows that its alternative is for another type, or for entries with another `type` key."""
    here = tuple(error.absolute_path)
    return (here == path and error.validator == "type") or (here == (*path, "type") and error.validator == "enum")


def _wanted_of(error: ValidationError, path: Path) -> Iterator[str]:
    if tuple(error.absolute_path) != path:
        return
    if error.validator == "type":
        kinds = error.validator_value
        yield from (_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    elif error.validator == "enum":
        yield from map(str, error.validator_value)
    elif error.validator in ("pattern", "format"):
        yield f"what looks like {error.validator_value}"
    for one in error.context or ():
        yield from _wanted_of(one, path)


_Words = Iterable[tuple[Path, str, str]]
"""For each fault: the steps below the value, the message, and a hint or ""."""


def _in_note(error: ValidationError) -> tuple[str, str]:
    word, schema = str(error.validator), error.schema
    get: Callable[..., Any] = schema.get if isinstance(schema, dict) else {}.get
    return f"is {word} since {get(f'{word}_version', 'some version')}", str(get(f"{word}_description", "")).strip()


def _of_kind(error: ValidationError, value: Any) -> _Words:
    kinds = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    wanted = " or ".join(dict.fromkeys(_TYPES.get(kind, kind) for kind in kinds))
    return [((), f"is {kind_of(error.instance)}, and has to be {wanted}", "")]


def _one_of_words(error: ValidationError, value: Any) -> _Words:
    words = [str(one) for one in error.validator_value]
    given = kind_of(error.instance) if value == WITHHELD else shown(value, 40)
    return [((), f"is {given}, and has to be one of {', '.join(words)}", hint_for(value, words) or "")]


_NO_KEY = "is a key that is not known there"


def _unknown_keys(error: ValidationError, value: Any) -> _Words:
    schema: Any = error.schema
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key in error.instance:
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            listed = f"known are {', '.join(sorted(known))}" if 0 < len(known) < 20 else ""
            yield (key,), _NO_KEY, hint_for(key, known) or listed


def _missing_keys(error: ValidationError, value: Any) -> _Words:
    missing = [key for key in error.validator_value if key not in error.instance]
    return [((), f"has no {' and no '.join(missing)}", "")]


def _limit(words: str, noun: str = "") -> Callable[[ValidationError, Any], _Words]:
    """A function for errors of one word. words: the message, with {} for the limit; noun: what the limit counts"""

    def words_of(error: ValidationError, value: Any) -> _Words:
        limit = counted(error.validator_value, noun) if noun else error.validator_value
        return [((), words.format(limit), "")]

    return words_of


def _in_general(error: ValidationError, value: Any) -> _Words:
    return [((), f"is not allowed by the schema ({error.validator})", "")]


_WORDS: dict[str, Callable[[ValidationError, Any], _Words]] = {
    "type": _of_kind,
    "enum": _one_of_words,
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "minItems": _limit("needs {} at least", "item"),
    "maxItems": _limit("may have {} at most", "item"),
    "minProperties": _limit("needs {} at least", "key"),
    "minimum": _limit("has to be {} at least"),
    "maximum": _limit("has to be {} at most"),
    "uniqueItems": _limit("has an item twice"),
    "pattern": _limit("does not look like {}"),
    "format": _limit("is no {}"),
    "additionalItems": _limit("has more items than are known there"),
    "oneOf": _limit("fits more than one of the alternatives"),
    "not": _limit("is one of what may not stand there together"),
}
"""A keyword of the schema -> the function that words an error by it."""
