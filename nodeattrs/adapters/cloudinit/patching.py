"""JSON patches (RFC 6902) applied to the result so far: all or nothing.

The operations are those of `jsonpatch`, which cloud-init uses too. What a patch did not
touch keeps its origin.
"""

from __future__ import annotations

import copy
from typing import Any

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.trees import MAX_VALUES, measured
from nodeattrs.core.origins import Origins, origins_at
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NodeattrsError, TooDeep, missing_extra

__all__ = ["patched"]

_PREFIX = "#cloud-config-jsonp"


def patched(text: str, before: Part, number: int) -> Part:
    """The result with a patch applied; *before* is not changed.

    text:   the body of the part; its first line may be the prefix, in lower case
    number: who speaks, for what the patch sets
    raises: CloudConfigError of kind "patch-syntax", "patch-conflict" or "patch-invalid";
            MissingExtra
    """
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
        value = copy.deepcopy(before.value)
        for operation in operations:
            value = jsonpatch.JsonPatch([operation]).apply(value, in_place=True)
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
    return Part(value, _retold(before, value, number))


def _invalid(error: Exception) -> CloudConfigError:
    return CloudConfigError(
        "patch-invalid",
        f"no well-formed patch, or it points at something that is not there: {error}",
        hint="a patch is a list of operations, and sees only the parts before it",
    )


def _retold(before: Part, value: Any, number: int) -> Origins:
    """Who says what after a patch: what is equal to what stood there keeps its origin."""
    old, told = before.value, before.origins
    if type(old) is not type(value):
        return number
    if type(value) is dict:
        if not value:
            return told if not old else number
        return {key: _retold(before.at(key), entry, number) if key in old else number for key, entry in value.items()}
    if type(value) is list:
        if value == old:
            return told
        if len(value) == len(old):
            return [_retold(before.at(index), entry, number) for index, entry in enumerate(value)]
        left = list(enumerate(old))
        listed: list[Origins] = []
        for entry in value:
            match = next((pair for pair in left if type(pair[1]) is type(entry) and pair[1] == entry), None)
            if match is None:
                listed.append(number)
            else:
                left.remove(match)
                listed.append(origins_at(told, match[0]))
        return listed
    return told if old is not ABSENT and old == value else number
