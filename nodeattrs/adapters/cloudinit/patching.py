"""JSON patches (RFC 6902) applied to the result so far: all or nothing.

The operations are those of `jsonpatch`, which cloud-init uses too; it makes the values. Each is a
change of the folding by itself, so that what one operation set and a later one replaced is known.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.loading import MAX_VALUES, measured
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part, entries, listed, remade, without
from nodeattrs.core.policy import ANY, SAID, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import NodeattrsError, TooDeep, missing_extra

_PREFIX = "#cloud-config-jsonp"

_REPLACED = "the operation replaces what was there"
_DONE = {"remove": "the operation removes it", "move": "the operation moves it away, or replaces it"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a patch, as a change of a folding: gives the result with it applied; what it is given stays.

    name:    of the value among those of the patch, which stand under their operations' indexes, as text
    written: as it is written
    is_last: whether the result is to be a config, no deeper than 500 levels
    """

    name: str
    written: Mapping[str, Any]
    is_last: bool = False

    @property
    def policy(self) -> Policy:
        """What it does to what was there, in words."""
        kind, path = self.written["op"], self.written["path"]
        where = f"{self.written['from']} to {path}" if kind in ("move", "copy") else path
        return Policy(f"JSON patch: {kind} {where}", Line(ANY, SAID, TAKE, _DONE.get(kind, _REPLACED)))

    def __call__(self, before: Part, said: Part) -> Part:
        """
        said:   the values of the patch, as `said_in` gives them; nothing is done without that of this operation
        raises: CloudConfigError of kind "patch-conflict", "patch-invalid", "too-deep" or "too-large"
        """
        if "value" in self.written and self.name not in said.value:
            return before
        own = said.at(self.name)
        operation = self.written if own.value is ABSENT else {**self.written, "value": own.value}
        value = _applied(operation, before.value, self.is_last)
        made = _operated(before, operation, own)
        if made.value == value:
            return Part(value, made.origins)
        return remade(made, value, own.origins)  # what an alias shares with a changed place has changed along


def changes_in(operations: list[Any]) -> Iterator[Operation]:
    """The changes that a patch makes, one for each operation."""
    last = len(operations) - 1
    return (Operation(str(index), operation, index == last) for index, operation in enumerate(operations))


def said_in(operations: list[Any], number: int) -> Part:
    """What a patch sets, as the part of that number has it: each value under the index of its operation, as text."""
    values = {str(index): one["value"] for index, one in enumerate(operations) if "value" in one}
    return Part(values, At(number, ()))


def operations_of(text: str) -> list[Any]:
    """The operations of a patch.

    text:   the body of the part; its first line may be the prefix, in lower case
    raises: CloudConfigError of kind "patch-syntax" or "patch-invalid"; MissingExtra
    """
    try:
        return list(_library().JsonPatch.from_string(text.lstrip().removeprefix(_PREFIX)).patch)
    except NodeattrsError:
        raise
    except ValueError as error:
        raise CloudConfigError("patch-syntax", f"the patch is no JSON: {error}") from error
    except RecursionError:
        raise CloudConfigError("too-deep", "the patch is nested too deep") from None
    except Exception as error:
        raise _invalid(error) from error


class PatchLocator:
    """Knows where a patch sets each value: at the line of its operation.

    locator: knows the lines of the text, as a list of operations
    """

    def __init__(self, text: str, locator: Callable[[str], Locator]) -> None:
        start = len(text) - len(text.lstrip())
        prefix = text[start : start + len(_PREFIX)]
        plain = text if prefix.lower() != _PREFIX else text[:start] + " " * len(_PREFIX) + text[start + len(_PREFIX) :]
        self._locator = locator(plain)

    def at(self, path: Path) -> Origin:
        """Where an operation sets something: its index, and the steps inside of its value."""
        index, *inside = path or (None,)
        return self._locator.at(() if index is None else (int(index), "value", *inside))


def _library() -> Any:
    try:
        import jsonpatch
    except ImportError:
        raise missing_extra("jsonpatch", "cloudinit", "applying a JSON patch part") from None
    return jsonpatch


def _applied(operation: Any, before: Any, is_last: bool) -> Any:
    """What an operation makes of a value, which stays as it is."""
    jsonpatch = _library()
    try:
        value = jsonpatch.JsonPatch([operation]).apply(copy.deepcopy(before), in_place=True)
        is_copy = operation.get("op") == "copy"
        if (is_last or is_copy) and measured(value) > MAX_VALUES and is_copy:
            raise CloudConfigError("too-large", f"the patch makes more than {MAX_VALUES:,} values")
        return value
    except NodeattrsError as error:
        if isinstance(error, TooDeep):
            raise CloudConfigError("too-deep", "the patch makes a value nested deeper than 500 levels") from None
        raise
    except (jsonpatch.JsonPatchConflict, jsonpatch.JsonPatchTestFailed) as error:
        raise CloudConfigError(
            "patch-conflict", f"the patch does not apply: {error}", hint="it sees only the parts before it"
        ) from error
    except RecursionError:
        raise CloudConfigError("too-deep", "the result is nested too deep to be patched") from None
    except Exception as error:
        raise _invalid(error) from error


def _invalid(error: Exception) -> CloudConfigError:
    return CloudConfigError(
        "patch-invalid",
        f"no well-formed patch, or it points at something that is not there: {error}",
        hint="a patch is a list of operations, and sees only the parts before it",
    )


# --- who has set what an operation leaves, moves and adds


def _operated(before: Part, operation: Mapping[str, Any], own: Part) -> Part:
    """The result of an operation that applies: what it moves or copies takes its origins along."""
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
    """The same, but for the change of what holds the end of a path; in place of all there is only the entry itself."""
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
    steps: Path = ()
    for text in pointer.split("/")[1:]:
        step: Any = text.replace("~1", "/").replace("~0", "~")
        if isinstance(tree, list):
            step = len(tree) if step == "-" else int(step)
        tree = dig(tree, (step,))
        steps = (*steps, step)
    return steps
