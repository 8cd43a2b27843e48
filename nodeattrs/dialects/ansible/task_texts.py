"""Find the roles and files of tasks that a file of tasks names, line by line in its text.

Used by `reached`, which looks at all roles of a repository: parsing all tasks would take too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.dialects.ansible.keywords import arguments_of, module_of
from nodeattrs.dialects.ansible.tasks import role_name_of, task_file_of

_KEYWORD = re.compile(r"\b(?:include|import)_(role|tasks)\b(?:[\"']?[ \t]*:|[ \t]+(?=\w+=))(.*)")
"""A task that includes or imports others: as a key, or as words under `action`."""
_NAME = {
    "role": re.compile(r"\b(?:name|role)[\"']?[ \t]*[=:][ \t]*(\S.*)"),
    "tasks": re.compile(r"\bfile[\"']?[ \t]*[=:][ \t]*(\S.*)"),
}
_END = re.compile(r"[,}\s#]")
_NEAR = 8
"""A name is sought in this number of lines behind its keyword."""


class NameInTask(NamedTuple):
    """A role or a file of tasks that a task names.

    kind: "role" or "tasks"
    name: perhaps with templates; "" where it was not found
    line: the line of the keyword; 0 where only the play is known
    """

    kind: str
    name: str
    line: int = 0


def names_in_task_text(text: str) -> Iterator[NameInTask]:
    """Yield the roles and files of tasks that include or import statements in a text name, in the order of lines.

    Lines that are comments are left out. A name that is not found near its keyword is "". Nothing is raised.

    cost: looks at each line, and at eight more below each keyword
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = None if line.lstrip().startswith("#") else _KEYWORD.search(line)
        if found:
            kind, rest = found[1], found[2].strip()
            yield NameInTask(kind, _on_line(kind, rest) or _near(kind, lines, at), at + 1)


def names_in_tasks(tree: Any) -> Iterator[NameInTask]:
    """Yield the roles and files of tasks that parsed tasks include or import, also in blocks, in no particular order.

    tree:   the list of tasks; anything without tasks yields nothing
    raises: AnsibleError, for arguments with a quote that is not closed
    """
    ahead = [tree]
    while ahead:
        one = ahead.pop()
        if isinstance(one, list):
            ahead += one
        if not isinstance(one, dict):
            continue
        ahead += one.values()
        module, given = module_of(one)
        if module in ("include_role", "import_role"):
            yield NameInTask("role", role_name_of(arguments_of(one, given)))
        elif module in ("include_tasks", "import_tasks"):
            yield NameInTask("tasks", task_file_of(arguments_of(one, given)))


def _on_line(kind: str, rest: str) -> str:
    """The name on the line of a keyword; "" where it is not there."""
    found = _NAME[kind].search(rest)
    if found:
        return _value(found[1])
    is_alone = kind == "tasks" and rest[:1] not in ("", "{", "#", ">", "|")
    return _value(rest) if is_alone else ""


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
    """The column of the first key of a line, behind dashes."""
    return len(line) - len(line.lstrip(" \t-"))


def _value(text: str) -> str:
    """A text of YAML: within its quotes, or up to a separator. A template becomes `{{ }}` and ends the text."""
    if text[0] in ("'", '"'):
        return text[1:].partition(text[0])[0]
    plain, is_filled, _ = text.partition("{{")
    return f"{plain}{{{{ }}}}" if is_filled else _END.split(text, maxsplit=1)[0]
