"""Find entries of `lookup_options` that have no effect, or make lookups fail, without facts of a node.

One data file is checked at a time. The caller says which keys exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nodeattrs.core.tree import Path, meant
from nodeattrs.dialects.hiera.codes import BAD_PATTERN, CONVERT_BAD_TYPE, UNKNOWN_TYPE, USELESS_OPTION
from nodeattrs.dialects.hiera.data import DataFile
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, bad_data
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, checked_options
from nodeattrs.dialects.hiera.strategies import DEEP_OPTIONS, strategy_of
from nodeattrs.dialects.hiera.types import parse_type
from nodeattrs.formats.patterns import BadPattern
from nodeattrs.puppet.regex import translated

_OPTIONS = ("merge", "convert_to")
_OF_MERGE = ("strategy", *DEEP_OPTIONS)
_FAILS = "every lookup of its keys fails"


def doubtful_options(file: DataFile, module: str | None, is_key: Callable[[str], bool | None]) -> Iterator[BadData]:
    """Yield a finding with its line for each fault in the `lookup_options` of a data file; nothing without any.

    module: the module whose file it is; None for a file of the environment
    is_key: a function of a name or expression: whether it fits a key of some data; None where that is not known
    """
    written = file.tree.get(LOOKUP_OPTIONS)
    try:
        entries = checked_options(written, module) or {}
    except BadLookup as error:
        yield bad_data(file.document, error.kind, f"every lookup fails: {error.message}", (LOOKUP_OPTIONS,), error.hint)
        return
    for name, entry in entries.items():
        path = (LOOKUP_OPTIONS, name)
        if isinstance(entry, Mapping):
            yield from _of_entry(file, path, entry)
        elif entry is not None:
            yield bad_data(
                file.document, USELESS_OPTION, "says nothing: it has to be a map", path, "write `merge:` below the key"
            )
        yield from _of_name(file, path, str(name), is_key)


def _of_name(file: DataFile, path: Path, name: str, is_key: Callable[[str], bool | None]) -> Iterator[BadData]:
    try:
        if name.startswith("^"):
            translated(name)
    except BadPattern as error:
        message = f"lookups may fail: the expression cannot be used: {error.message}"
        yield bad_data(file.document, BAD_PATTERN, message, path, error.hint)
        return
    if is_key(name) is not False:
        return
    hint = None
    if not name.startswith("^") and any(sign in name for sign in "*+(|[\\$"):
        hint = "an expression begins with ^"
    elif "." in name and not name.startswith("^"):
        hint = f"it holds for whole keys: write {name.partition('.')[0]}"
    yield bad_data(
        file.document, USELESS_OPTION, f"no data has a key for {name!r}: the entry counts for nothing", path, hint
    )


def _of_entry(file: DataFile, path: Path, entry: Mapping[Any, Any]) -> Iterator[BadData]:
    for option in entry:
        if option not in _OPTIONS:
            hint = meant(str(option), _OPTIONS) or f"there are {' and '.join(_OPTIONS)}"
            if option in _OF_MERGE:
                hint = f"it counts inside merge: {_moved(entry)}"
            yield bad_data(
                file.document, USELESS_OPTION, f"the option {option} counts for nothing", (*path, option), hint
            )
    try:
        strategy_of(entry.get("merge"))
    except BadLookup as error:
        yield bad_data(file.document, error.kind, f"{error.message}: {_FAILS}", (*path, "merge"), error.hint)
    yield from _of_type(file, path, entry.get("convert_to"))


def _of_type(file: DataFile, path: Path, wanted: Any) -> Iterator[BadData]:
    name = wanted[0] if isinstance(wanted, list) and wanted else wanted
    if name is None:
        return
    try:
        if not isinstance(name, str):
            raise BadLookup(f"convert_to names no type: {name!r}", kind=CONVERT_BAD_TYPE,
                            hint="write convert_to: Integer")  # fmt: skip
        parse_type(name)
    except BadLookup as error:
        if error.kind == UNKNOWN_TYPE and "::" in name:  # a module may have it
            return
        yield bad_data(file.document, error.kind, f"{error.message}: {_FAILS}", (*path, "convert_to"), error.hint)


def _moved(entry: Mapping[Any, Any]) -> str:
    """An entry whose options of a merge stand where they count, as one writes it."""
    merge = entry.get("merge")
    given = {**merge} if isinstance(merge, Mapping) else {"strategy": merge or "deep"}
    given |= {option: value for option, value in entry.items() if option in _OF_MERGE}
    return f"merge: {{{', '.join(f'{key}: {_shown(value)}' for key, value in given.items())}}}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else value if str(value).isalpha() else repr(value)
