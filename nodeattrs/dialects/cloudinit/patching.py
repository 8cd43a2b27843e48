"""Parse JSON patches (RFC 6902) that are parts of user-data, and apply them to the config merged so far.

The library `jsonpatch`, which cloud-init uses too, computes the values. Each operation is one change of the folding. So
traces know what an operation set, and which later operation replaced it. A patch that cannot be applied changes
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.part import Part, entries, listed, remade, without
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.cloudinit.codes import PATCH_CONFLICT, PATCH_INVALID, PATCH_SYNTAX, TOO_DEEP
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.parts import value_count
from nodeattrs.errors import NodeattrsError, TooDeep, TooMuch, missing_extra

_INDEX = re.compile(r"\d{1,18}", re.ASCII)
_PREFIX = "#cloud-config-jsonp"

_REPLACED = "the operation replaces what was there"
_DONE = {"remove": "the operation removes it", "move": "the operation moves it away, or replaces it"}


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation of a patch, as a function from the config before it to the config after it.

    name:    the index of the operation in its patch, as text
    written: the operation as it is written
    effort:  counts the work of the whole patch
    is_last: whether it is the last one; then the depth of the result is checked
    """

    name: str
    written: Mapping[str, Any]
    effort: _PatchBudget
    is_last: bool = False

    @property
    def policy(self) -> Policy:
        """A policy that says in words what the operation does, for traces."""
        kind, path = self.written["op"], self.written["path"]
        where = f"{self.written['from']} to {path}" if kind in ("move", "copy") else path
        return Policy(f"JSON patch: {kind} {where}", Line(ANY, PRESENT, TAKE, _DONE.get(kind, _REPLACED)))

    def __call__(self, before: Part, given: Part) -> Part:
        """The config after the operation; *before* is not changed.

        given:  the values of the patch, from `patch_values`; without the value of this operation nothing is done
        raises: CloudConfigError of kind "patch-conflict", "patch-invalid", "too-deep" or "too-large"
        """
        if "value" in self.written and self.name not in given.value:
            return before
        own = given.at(self.name)
        operation = self.written if own.value is ABSENT else {**self.written, "value": own.value}
        if self.name == "0":
            self.effort.begin()
        value = _applied(operation, before.value, self.effort, self.is_last)
        made = _operated(before, operation, own)
        if made.value == value:
            return Part(value, made.origins)
        return remade(made, value, own.origins)  # a value that an alias shares has changed at its other places, too


class _PatchBudget:
    """Counts the work of a patch. For each explanation the patch is applied again, with a new budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = self._next = budget

    def begin(self) -> None:
        """Begin to apply the patch once more, with a new budget."""
        self.budget = self._next
        self._next = self.budget.renewed()

    def copied(self, tree: Any) -> None:
        """Count a copy of a tree, in which an alias is one object. raises: TooMuch"""
        level, known = [tree], {id(tree)}
        while level:
            self.budget.steps(_PER_COPIED * len(level))
            below = {id(inner): inner for one in level for inner in _containers(one) if id(inner) not in known}
            level = list(below.values())
            known |= below.keys()


_PER_COPIED = 5
"""The steps that are counted for a map or list that is copied."""


def _containers(part: Any) -> list[Any]:
    """The maps and lists in a map or list."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()
    return [one for one in inner if isinstance(one, (dict, list, tuple))]


def patch_changes(operations: list[Any], budget: Budget) -> Iterator[_Operation]:
    """Yield a function for each operation of a patch, for `Folding.change`. budget: for all of them together"""
    last, effort = len(operations) - 1, _PatchBudget(budget)
    return (_Operation(str(index), operation, effort, index == last) for index, operation in enumerate(operations))


def patch_values(operations: list[Any], number: int) -> Part:
    """A part with the values of a patch: index of the operation, as text -> its value. number: its origin

    Operations without a value, such as "remove", are left out.
    """
    values = {str(index): one["value"] for index, one in enumerate(operations) if "value" in one}
    return Part(values, SourcePath(number, ()))


def operations_of(text: str) -> list[Any]:
    """The operations in the text of a patch, in order; none is applied.

    text:   JSON; the first line may be `#cloud-config-jsonp`, in lower case
    raises: CloudConfigError of kind "patch-syntax", for a text that is not JSON; of kind "patch-invalid" or "too-deep";
            MissingExtra, without jsonpatch
    """
    try:
        return list(_library().JsonPatch.from_string(text.lstrip().removeprefix(_PREFIX)).patch)
    except NodeattrsError:
        raise
    except ValueError as error:
        raise CloudConfigError(PATCH_SYNTAX, f"the patch is no JSON: {error}") from error
    except RecursionError:
        raise CloudConfigError(TOO_DEEP, "the patch is nested too deep") from None
    except Exception as error:
        raise _invalid(error) from error


class PatchLocator:
    """Finds the line of a JSON patch that sets a value. A patch is a part of user-data with a list of operations.

    text:    the text of the part, which may begin with the word `#cloud-config-jsonp`
    locator: called once with the text, and returns a Locator of the JSON. Blanks replace the word at the beginning, so
             that positions do not change

    `at(path)` gives the place; for an empty path it is the place of the part. The first step of the path is the index
    of an operation; the rest is the path in its value.
    """

    def __init__(self, text: str, locator: Callable[[str], Locator]) -> None:
        start = len(text) - len(text.lstrip())
        prefix = text[start : start + len(_PREFIX)]
        plain = text if prefix.lower() != _PREFIX else text[:start] + " " * len(_PREFIX) + text[start + len(_PREFIX) :]
        self._locator = locator(plain)

    def at(self, path: Path) -> Origin:
        """The place of a value: path[0] is the index of the operation, the rest is in its value; () is the part."""
        index, *inside = path or (None,)
        return self._locator.at(() if index is None else (int(index), "value", *inside))


def _library() -> Any:
    try:
        import jsonpatch
    except ImportError:
        raise missing_extra("jsonpatch", "cloudinit", "applying a JSON patch part") from None
    return jsonpatch


def _applied(operation: Any, before: Any, effort: _PatchBudget, is_last: bool) -> Any:
    """The value after an operation; *before* is not changed."""
    jsonpatch = _library()
    try:
        if operation.get("op") == "copy":
            effort.budget.values(value_count(dig(before, _steps(operation["from"], before))))
        effort.copied(before)
        value = jsonpatch.JsonPatch([operation]).apply(before)
        if is_last:
            effort.budget.steps(value_count(value))
        return value
    except TooMuch as error:
        raise past_a_limit(error, "the patch") from None
    except TooDeep:
        raise CloudConfigError(TOO_DEEP, "the patch makes a value nested deeper than 500 levels") from None
    except (jsonpatch.JsonPatchConflict, jsonpatch.JsonPatchTestFailed) as error:
        raise CloudConfigError(
            PATCH_CONFLICT, f"the patch does not apply: {_why(error)}", hint="it sees only the parts before it"
        ) from error
    except RecursionError:
        raise CloudConfigError(TOO_DEEP, "the result is nested too deep to be patched") from None
    except Exception as error:
        raise _invalid(error) from error


def _why(error: Exception) -> str:
    """The message of the library without the values in it, which may be secrets."""
    text = str(error)
    if " is not equal to tested value " in text:
        return "its test is false"
    return re.sub(r"( not found) in .*", r"\1", text, flags=re.S)


def _invalid(error: Exception) -> CloudConfigError:
    return CloudConfigError(
        PATCH_INVALID,
        f"no well-formed patch, or it points at something that is not there: {_why(error)}",
        hint="a patch is a list of operations, and sees only the parts before it",
    )


# --- the origins after an operation


def _operated(before: Part, operation: Mapping[str, Any], own: Part) -> Part:
    """The result of an operation, with origins: moved and copied values keep theirs, new ones have those of *own*."""
    kind, to = operation.get("op"), operation.get("path", "")
    if kind in ("add", "replace"):
        return _at(before, _steps(to, before.value), own, _added if kind == "add" else _replaced)
    if kind == "remove":
        return _at(before, _steps(to, before.value), before, _removed)
    if kind not in ("move", "copy") or operation["from"] == to:
        return before
    source = _steps(operation["from"], before.value)
    entry = before
    for step in source:
        entry = entry.at(step)
    left = before if kind == "copy" else _at(before, source, before, _removed)
    return _at(left, _steps(to, left.value), entry, _added)


def _at(part: Part, path: Path, entry: Part, change: Callable[[Part, Any, Part], Part]) -> Part:
    """A copy of *part* in which `change` replaces one container; *entry* itself for an empty path.

    change: called with (the container, the last step of *path*, *entry*)
    """
    if not path:
        return entry
    step, *rest = path
    return _replaced(part, step, _at(part.at(step), tuple(rest), entry, change)) if rest else change(part, step, entry)


def _replaced(holder: Part, step: Any, entry: Part) -> Part:
    if isinstance(holder.value, dict):
        return entries({**{key: holder.at(key) for key in holder.value}, step: entry})
    elements = list(holder.elements())
    elements[step] = entry
    return listed(elements)


def _added(holder: Part, step: Any, entry: Part) -> Part:
    if isinstance(holder.value, dict):
        return _replaced(holder, step, entry)
    elements = list(holder.elements())
    elements.insert(step, entry)
    return listed(elements)


def _removed(holder: Part, step: Any, _: Part) -> Part:
    if isinstance(holder.value, dict):
        return without(holder, [step])
    elements = list(holder.elements())
    del elements[step]
    return listed(elements, holder)


def _steps(pointer: str, tree: Any) -> Path:
    """The steps of a JSON pointer in a tree; "-" is the place behind the last element of a list."""
    steps: list[Any] = []
    for text in pointer.split("/")[1:]:
        steps.append(_step(text, tree))
        tree = dig(tree, (steps[-1],))
    return tuple(steps)


def _step(text: str, tree: Any) -> Any:
    text = text.replace("~1", "/").replace("~0", "~")
    if not isinstance(tree, list):
        return text
    return int(text) if _INDEX.fullmatch(text) else len(tree)
