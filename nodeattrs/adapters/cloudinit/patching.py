"""JSON patches (RFC 6902) applied to the result so far: all or nothing.

The operations are those of `jsonpatch`, which cloud-init uses too. What a patch did not
touch keeps its origin.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.loading import MAX_VALUES, measured
from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part, put, remade
from nodeattrs.core.tree import Path
from nodeattrs.errors import NodeattrsError, TooDeep, missing_extra

__all__ = ["Patch", "PatchSpeaker"]

_PREFIX = "#cloud-config-jsonp"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch as a change of a folding: gives the result with the patch applied; what it is given is not changed.

    text:   the body of the part; its first line may be the prefix, in lower case
    number: of the part, for what the patch sets
    """

    text: str
    number: int

    def __call__(self, before: Part) -> Part:
        """raises: CloudConfigError of kind "patch-syntax", "patch-conflict" or "patch-invalid"; MissingExtra"""
        return _patched(self.text, before, self.number)


class PatchSpeaker:
    """A patch as someone who sets values, each at the line of its operation.

    speaker: knows the lines of the text, as a list of operations
    """

    def __init__(self, text: str, speaker: Callable[[str], Speaker]) -> None:
        self._text = text
        start = len(text) - len(text.lstrip())
        prefix = text[start : start + len(_PREFIX)]
        plain = text if prefix.lower() != _PREFIX else text[:start] + " " * len(_PREFIX) + text[start + len(_PREFIX) :]
        self._speaker = speaker(plain)

    @cached_property
    def _operations(self) -> list[Any]:
        return json.loads(self._text.lstrip().removeprefix(_PREFIX))  # type: ignore[no-any-return]

    def at(self, path: Path) -> Origin:
        """Where the operation that a path begins with sets the rest of it, which counts from the config's root."""
        if not path:
            return self._speaker.at(())
        index, _, *rest = path
        pointer = self._operations[index].get("path", "")
        return self._speaker.at((index, "value", *rest[pointer.count("/") :]))


def _patched(text: str, before: Part, number: int) -> Part:
    try:
        import jsonpatch
    except ImportError:
        raise missing_extra("jsonpatch", "cloudinit", "applying a JSON patch part") from None

    try:
        patch = jsonpatch.JsonPatch.from_string(text.lstrip().removeprefix(_PREFIX))
        operations = list(patch.patch)
    except ValueError as error:
        raise CloudConfigError("patch-syntax", f"the patch is no JSON: {error}") from error
    except RecursionError:
        raise CloudConfigError("too-deep", "the patch is nested too deep") from None
    except Exception as error:
        raise _invalid(error) from error
    try:
        value, result = copy.deepcopy(before.value), before
        for index, operation in enumerate(operations):
            value = jsonpatch.JsonPatch([operation]).apply(value, in_place=True)
            result = _remade(result, copy.deepcopy(value), operation, At(number, (index, "value")))
            if operation.get("op") == "copy" and measured(value) > MAX_VALUES:
                raise CloudConfigError("too-large", f"the patch makes more than {MAX_VALUES:,} values")
        measured(value)
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
    return result


def _invalid(error: Exception) -> CloudConfigError:
    return CloudConfigError(
        "patch-invalid",
        f"no well-formed patch, or it points at something that is not there: {error}",
        hint="a patch is a list of operations, and sees only the parts before it",
    )


def _remade(before: Part, value: Any, operation: Any, source: At) -> Part:
    """The result of one operation: what it left keeps its origins, what it moved or copied takes them along."""
    after = remade(before, value, source)
    if operation.get("op") not in ("move", "copy"):
        return after
    origins = before
    for step in _steps(operation.get("from", ""), before.value):
        origins = origins.at(step)
    return put(after, _steps(operation.get("path", ""), value), origins)


def _steps(pointer: str, tree: Any) -> Path:
    """The steps of a JSON pointer in a tree; "-" is the last element of a list."""
    steps: Path = ()
    for text in pointer.split("/")[1:]:
        name = text.replace("~1", "/").replace("~0", "~")
        step: Any = name
        if isinstance(tree, list):
            step = len(tree) - 1 if name == "-" else int(name)
            tree = tree[step] if 0 <= step < len(tree) else None
        else:
            tree = tree.get(name) if isinstance(tree, dict) else None
        steps = (*steps, step)
    return steps
