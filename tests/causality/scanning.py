"""The scalars of files that people wrote, found by their text: quotes, colons and dashes, and Python's own tokens.

A generated file marks what sets a value; in an example everything does that is not a key and does not stand
on a line that decides.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path as Folder

from tests.causality.system import Files, Setting, setting

__all__ = ["scanned"]

SCALAR = r"""(?P<found>"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)"""
JSON = re.compile(rf"(?:(?<=[:\[,\s])|^){SCALAR}(?!\s*:)(?=\s*[,\]}}\n]|$)", re.MULTILINE)
YAML_LINE = re.compile(
    r"^(?P<head>\s*(?:- )*(?:(?:\"[^\"]*\"|'[^']*'|[^\s#'\"\[\]{},][^#\n]*?):(?:\s+|$))?)(?P<value>.*)$"
)
YAML_PLAIN = re.compile(
    r"""(?P<found>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,\[\]{}#"'][^,\[\]{}#\n]*?)(?=\s*(?:[,\]}]|\s#|$))(?!\s*:)"""
)
PP = re.compile(r"""(?:\bto|=>|,|\[)\s*(?P<found>'[^'\n]*'|-?\d+|true|false)(?!\s*(?:=>|to\b|\{))""")
COMMENT = re.compile(r"""(?:^|\s)#[^"']*$""")
BEFORE = ("=", ":", ",", "[", "(", "{")
DIGIT = re.compile(r"^(.*)(\d)(\D*)$", re.DOTALL)


def scanned(wanted: Callable[[str, str], bool]) -> Callable[[Files], list[Setting]]:
    """What finds the settings of files.

    wanted: file, and what stands before a scalar on its line -> whether it sets a value
    """

    def find(files: Files) -> list[Setting]:
        found = (one for file, text in files.items() for one in _scalars(file, text))
        return sorted(one for one in found if wanted(one.file, _before(files, one)))

    return find


def _before(files: Files, one: Setting) -> str:
    return files[one.file][one.start - one.column + 1 : one.start]


def _scalars(file: str, text: str) -> Iterator[Setting]:
    finders = {
        ".json": _of_json,
        ".toml": _of_json,
        ".py": _of_python,
        ".pp": _of_pp,
        ".yaml": _of_yaml,
        ".cfg": _of_yaml,
    }
    for start, end in finders.get(Folder(file).suffix, _of_nothing)(text):
        yield setting(file, text, start, end, other(text[start:end]))


def other(old: str) -> str:
    """Another scalar of the kind, as it is written."""
    if old in ("true", "false", "True", "False"):
        return {"true": "false", "false": "true", "True": "False", "False": "True"}[old]
    quote = old[0] if old[0] in "\"'" else ""
    inner = old[1:-1] if quote else old
    if not quote and re.fullmatch(r"-?\d+", inner):
        return str(int(inner) + 7001)
    if digits := DIGIT.match(inner):
        inner = f"{digits[1]}{(int(digits[2]) + 3) % 10}{digits[3]}"
    else:
        inner += "zq"
    return f"{quote}{inner}{quote}"


def _of_nothing(text: str) -> Iterator[tuple[int, int]]:
    return iter(())


def _of_json(text: str) -> Iterator[tuple[int, int]]:
    return (found.span("found") for found in JSON.finditer(text))


def _of_pp(text: str) -> Iterator[tuple[int, int]]:
    return (found.span("found") for found in PP.finditer(text))


def _of_yaml(text: str) -> Iterator[tuple[int, int]]:
    offset = 0
    for line in text.split("\n"):
        if not line.lstrip().startswith("#") and (parts := YAML_LINE.match(line)):
            start, value = offset + parts.start("value"), COMMENT.sub("", parts["value"])
            for found in YAML_PLAIN.finditer(value):
                if found["found"] in ("|", ">", "null", "~") or re.match(r"\s*:(\s|$)", value[found.end() :]):
                    continue
                key = re.match(r"""[^\s"']+:\s+""", found["found"])  # in brackets
                yield start + found.start("found") + (key.end() if key else 0), start + found.end("found")
        offset += len(line) + 1


def _of_python(text: str) -> Iterator[tuple[int, int]]:
    """Literals behind =, :, a comma or a bracket that is no subscript; no keys, no texts with expressions."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    tokens = [
        one
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
        if one.type not in (tokenize.NL, tokenize.COMMENT)
    ]
    brackets: list[bool] = []
    for before, one, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if one.string in "([{" and one.type == tokenize.OP:
            brackets.append(one.string == "[" and (before.type == tokenize.NAME or before.string in ("]", ")")))
        elif one.string in ")]}" and one.type == tokenize.OP and brackets:
            brackets.pop()
        elif _is_literal(one) and not any(brackets[-1:]) and before.string in BEFORE and after.string not in (":", "["):
            yield starts[one.start[0] - 1] + one.start[1], starts[one.end[0] - 1] + one.end[1]


def _is_literal(one: tokenize.TokenInfo) -> bool:
    if one.type == tokenize.STRING:
        return one.string[0] in "\"'" and not one.string.startswith('"""')
    return one.type == tokenize.NUMBER or one.string in ("True", "False")
