"""Run a role, an environment or a Policyfile in Ruby, and return the document that its JSON would be.

Used by `repository.Repository` where `--ruby` is given and a file is more than literals. A Ruby process is started for
each file, and ended after it.
"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Mapping
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.ruby.helper import Helper, Message
from nodeattrs.errors import RecipeFailed
from nodeattrs.formats.documents import Document, text_of
from nodeattrs.formats.places import Mark, ParsedText, Text

_NO_NODE: Mapping[str, Any] = {
    "name": "",
    "environment": "_default",
    "run_list": [],
    "policy_name": None,
    "policy_group": None,
}


def described(root: pathlib.Path, path: pathlib.Path, file: str, kind: str, seconds: float) -> Document:
    """Run a file in Ruby in a process of its own; returns a document of the fields that it sets.

    Each field has the line of the word that sets it. A file that needs a node or runs a command fails.
    root:    the folder of the repository, in which it runs
    path:    the file
    file:    its name in messages
    kind:    "role", "environment" or "policy"
    seconds: the time limit
    raises:  RecipeFailed, with the line, and for a timeout; NotFound, without Ruby; UnknownLayer, if no code may run
    """
    text = Text(file, text_of(path, file).removeprefix("\ufeff"))
    helper = Helper(root, seconds)
    try:
        until, budget = time.monotonic() + seconds, Budget(file)
        helper.begin(file, {"root": str(root.resolve()), **_NO_NODE}, until)
        helper.send("described", [str(path.resolve()), kind], False, until=until)
        message = helper.receive(budget, until)
        while message[0] not in ("done", "failed"):
            if message[0] == "ask":
                helper.refuse(f"{file} asks for what only a node has")
            if message[0] == "refused":
                helper.refuse(f"{file} asks for a command or another thing that is not done here")
            message = helper.receive(budget, until)
    finally:
        helper.close()
    if message[0] == "failed":
        raise _failed(message, file, kind)
    tree, lines = _judged(message, helper)
    return Document(text, ParsedText(tree, lambda: _marked(text, lines), ()))


def _failed(message: Message, file: str, kind: str) -> RecipeFailed:
    sort, message_text, _, line = (*message[1:5], None, None, None, None)[:4]
    origin = Origin(kind, "", file, line if type(line) is int and line > 0 else None)
    first, *rest = str(message_text).splitlines() or [""]
    return RecipeFailed(f"{origin.place}: {kind} failed: {sort}: {first}", origins=[origin], details=rest[:20])


def _judged(message: Message, helper: Helper) -> tuple[dict[str, Any], list[Any]]:
    """Returns (field -> value, [path, line] of each set path). raises: RecipeFailed, for a message of another shape"""
    found = message[1] if len(message) > 1 else None
    if type(found) is not list or len(found) != 2 or type(found[0]) is not dict or type(found[1]) is not list:
        helper.refuse("its message about the fields of a file has another shape")
    for one in found[1]:
        is_line = type(one) is list and len(one) == 2 and type(one[0]) is list and type(one[1]) is int
        if not is_line or not all(type(step) is str for step in one[0]):
            helper.refuse("its message about the lines of a file has another shape")
    return found[0], found[1]


def _marked(text: Text, lines: list[Any]) -> Mark:
    """The places of the fields. The last line that sets a path counts. lines: [path, line] of each set path"""
    begins = [0]
    for line in text.text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    root = Mark(0)
    for path, line in lines:
        offset = begins[min(max(line, 1), len(begins)) - 1]
        here = root
        for step in path[:-1]:
            here = here.parts.setdefault(step, Mark(offset))
        here.parts[path[-1]] = Mark(offset)
    return root
