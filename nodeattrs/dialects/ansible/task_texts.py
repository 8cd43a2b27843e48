"""The roles and the files of tasks that a file of tasks names, found line by line in its text.

Used by `in_plays`, which looks at all roles of a repository: to parse their tasks would take too long for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.dialects.ansible.tasks import role_name_of, task_file_of
from nodeattrs.dialects.ansible.words import arguments_of, module_of

_KEYWORD = re.compile(r"\b(?:include|import)_(role|tasks)\b(?:[\"']?[ \t]*:|[ \t]+(?=\w+=))(.*)")
"""A task that brings others: as a key, or as words under `action`."""
_NAME = {
    "role": re.compile(r"\b(?:name|role)[\"']?[ \t]*[=:][ \t]*(\S.*)"),
    "tasks": re.compile(r"\bfile[\"']?[ \t]*[=:][ \t]*(\S.*)"),
}
_END = re.compile(r"[,}\s#]")
_NEAR = 8
"""A name is sought in this number of lines behind its keyword."""


class NameInTask(NamedTuple):
    """What a task names.

    kind: "role" or "tasks"
    name: the role or the file, perhaps with templates; "" where it was not found
    line: the line of the keyword; 0 where only the play is known
    """

    kind: str
    name: str
    line: int = 0


def names_in_task_text(text: str) -> Iterator[NameInTask]:
    """What the tasks in a text name, in the order of lines; nothing for a text without such tasks.

    cost: one look at each line, and at the eight behind a keyword
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = None if line.lstrip().startswith("#") else _KEYWORD.search(line)
        if found:
            kind, rest = found[1], found[2].strip()
            yield NameInTask(kind, _on_line(kind, rest) or _near(kind, lines, at), at + 1)


def names_in_tasks(tree: Any) -> Iterator[NameInTask]:
    """The same for tasks that are parsed, such as a play's, with all blocks in them."""
    ahead = [tree]
    while ahead:
        one = ahead.pop()
        ahead += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        module, given = module_of(one) if isinstance(one, dict) else ("", None)
        if module in ("include_role", "import_role"):
            yield NameInTask("role", role_name_of(arguments_of(one, given)))
        elif module in ("include_tasks", "import_tasks"):
            yield NameInTask("tasks", task_file_of(arguments_of(one, given)))


def _on_line(kind: str, rest: str) -> str:
    """The name behind a keyword, in a map, in words, or for a file alone; "" for none."""
    found = _NAME[kind].search(rest)
    is_alone = kind == "tasks" and rest[:1] not in ("", "{", "#", ">", "|")
    return _value(found[1]) if found else _value(rest) if is_alone else ""


def _near(kind: str, lines: Sequence[str], at: int) -> str:
    """The name in the map below a keyword; "" where the map ends without one."""
    depth = _depth(lines[at])
    for line in lines[at + 1 : at + 1 + _NEAR]:
        if line.strip() and _depth(line) <= depth:
            break
        found = None if line.lstrip().startswith("#") else _NAME[kind].search(line)
        if found:
            return _value(found[1])
    return ""


def _depth(line: str) -> int:
    """The column of the first key of a line."""
    return len(line) - len(line.lstrip(" \t-"))


def _value(text: str) -> str:
    """A text of YAML, in quotes or to its end. Without quotes all behind a template counts as part of it."""
    if text[0] in ("'", '"'):
        return text[1:].partition(text[0])[0]
    plain, is_filled, _ = text.partition("{{")
    return f"{plain}{{{{ }}}}" if is_filled else _END.split(text, maxsplit=1)[0]
