"""JSON patches (RFC 6902) applied to the result so far: all or nothing.

The operations are those of `jsonpatch`, which cloud-init uses too; it makes the values. Each is a
change of the folding by itself, so that what one operation set and a later one replaced is known.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part, entries, listed, remade, without
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.cloudinit.codes import PATCH_CONFLICT, PATCH_INVALID, PATCH_SYNTAX, TOO_DEEP
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.parts import measured
from nodeattrs.errors import NodeattrsError, TooDeep, TooMuch, missing_extra

_INDEX = re.compile(r"\d{1,18}", re.ASCII)
_PREFIX = "#cloud-config-jsonp"

_REPLACED = "the operation replaces what was there"
_DONE = {"remove": "the operation removes it", "move": "the operation moves it away, or replaces it"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a patch, as a change of a folding: gives the result with it applied; what it is given stays.

    name:    of the value among those of the patch, which stand under their operations' indexes, as text
    written: as it is written
    effort:  what the patch has taken so far
    is_last: whether the result is to be a config, no deeper than 500 levels
    """

    name: str
    written: Mapping[str, Any]
    effort: _Effort
    is_last: bool = False

    @property
    def policy(self) -> Policy:
        """What it does to what was there, in words."""
        kind, path = self.written["op"], self.written["path"]
        where = f"{self.written['from']} to {path}" if kind in ("move", "copy") else path
        return Policy(f"JSON patch: {kind} {where}", Line(ANY, PRESENT, TAKE, _DONE.get(kind, _REPLACED)))

    def __call__(self, before: Part, given: Part) -> Part:
        """
        given:  the values of the patch, as `given_in` gives them; nothing is done without that of this operation
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
        return remade(made, value, own.origins)  # what an alias shares with a changed place has changed along


class _Effort:
    """What a patch takes, each time it is applied: again for each question that is asked later.

    What an operation leaves as it is is shared by the results before and after it, unless an alias has made two
    places of the config one: then both change, and the whole config is copied first.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = self._next = budget
        self._known: Any = None
        self._aliased = 0

    def begin(self) -> None:
        self.budget = self._next
        self._next = self.budget.renewed()

    def opened(self, tree: Any, pointers: Iterable[str]) -> Any:
        """A tree that may be changed at some pointers; the one it is made of stays. raises: TooMuch"""
        if tree is not self._known:
            self._aliased = _aliased(tree)
        self.budget.steps(_PER_ENTRY * len(tree) if isinstance(tree, (dict, list)) else 1)
        if self._aliased:
            self.budget.steps(_PER_COPIED * self._aliased)
            return copy.deepcopy(tree)
        for pointer in pointers:
            tree = self._copied(tree, pointer.split("/")[1:-1])
        return tree

    def _copied(self, tree: Any, texts: list[str]) -> Any:
        """The same with the containers on the way copied, as far as there is one."""
        root = at = copy.copy(tree)
        for text in texts:
            step = _step(text, at)
            inner = dig(at, (step,))
            if not isinstance(inner, (dict, list)):
                break
            self.budget.steps(_PER_ENTRY * (len(at) + len(inner)))
            at[step] = at = copy.copy(inner)
        return root

    def made(self, tree: Any) -> None:
        self._known = tree


_PER_COPIED, _PER_ENTRY = 5, 3
"""How many steps an entry is that is copied with all below it, or moved to a new list."""


def _aliased(tree: Any) -> int:
    """How many maps and lists a tree has, if one of them stands in two places; else 0. cost: one visit each"""
    known: set[int] = set()
    level, is_aliased = [tree], False
    while level:
        below = []
        for part in level:
            for inner in part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ():
                if isinstance(inner, (dict, list, tuple)):
                    is_aliased = is_aliased or id(inner) in known
                    if id(inner) not in known:
                        known.add(id(inner))
                        below.append(inner)
        level = below
    return len(known) + 1 if is_aliased else 0


def changes_in(operations: list[Any], budget: Budget) -> Iterator[Operation]:
    """The changes that a patch makes, one for each operation; the budget is for them all."""
    last, effort = len(operations) - 1, _Effort(budget)
    return (Operation(str(index), operation, effort, index == last) for index, operation in enumerate(operations))


def given_in(operations: list[Any], number: int) -> Part:
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
        raise CloudConfigError(PATCH_SYNTAX, f"the patch is no JSON: {error}") from error
    except RecursionError:
        raise CloudConfigError(TOO_DEEP, "the patch is nested too deep") from None
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


def _applied(operation: Any, before: Any, effort: _Effort, is_last: bool) -> Any:
    """What an operation makes of a value, which stays as it is."""
    jsonpatch = _library()
    try:
        pointers = [operation[name] for name in ("from", "path") if type(operation.get(name)) is str]
        if operation.get("op") == "copy":
            effort.budget.values(measured(dig(before, _steps(operation["from"], before))))
        opened = before if operation.get("op") == "test" else effort.opened(before, pointers)
        value = jsonpatch.JsonPatch([operation]).apply(opened, in_place=True)
        if is_last:
            effort.budget.steps(measured(value))
        effort.made(value)
        return value
    except TooMuch as error:
        raise past_a_limit(error, "the patch") from None
    except NodeattrsError as error:
        if isinstance(error, TooDeep):
            raise CloudConfigError(TOO_DEEP, "the patch makes a value nested deeper than 500 levels") from None
        raise
    except (jsonpatch.JsonPatchConflict, jsonpatch.JsonPatchTestFailed) as error:
        raise CloudConfigError(
            PATCH_CONFLICT, f"the patch does not apply: {_why(error)}", hint="it sees only the parts before it"
        ) from error
    except RecursionError:
        raise CloudConfigError(TOO_DEEP, "the result is nested too deep to be patched") from None
    except Exception as error:
        raise _invalid(error) from error


def _why(error: Exception) -> str:
    """What the library says, without the values that it repeats: they may be secrets."""
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
