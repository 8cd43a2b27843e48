"""JSON with comments and trailing commas, as TypeScript, Visual Studio Code and .NET read some of their files.

Comments and trailing commas become blanks, so that every other character keeps its line and column.
"""

from __future__ import annotations

import os
import re

_NAMES = re.compile(
    r"(?i)(?:tsconfig|jsconfig|appsettings)(?:\..+)?\.json|\.?devcontainer\.json|.+\.(?:jsonc|code-workspace)"
)
_STRING = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPARE = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_SIGN = re.compile(r"[^\n]")


def may_have_comments(file: str) -> bool:
    """Whether a file name is one that a program reads as JSON with comments. The content is not looked at.

    >>> [may_have_comments(one) for one in ("web/tsconfig.base.json", ".vscode/settings.json", "a.json")]
    [True, True, False]
    """
    folder, name = os.path.split(file.replace(os.sep, "/"))
    is_editors = os.path.basename(folder) == ".vscode" and name.endswith(".json")
    return is_editors or _NAMES.fullmatch(name) is not None


def without_comments(text: str) -> str:
    """The text with blanks for comments, and for commas behind a last entry. An open comment ends with the text.

    >>> without_comments('{"a": "//", // b' + chr(10) + '"l": [1,], /* c */}')
    '{"a": "//",     \\n"l": [1 ]         }'
    """
    return _SPARE.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else _SIGN.sub(" ", found[0])
