"""Read inventories in INI: sections of hosts `[web]`, of children `[web:children]` and of variables `[web:vars]`.

The line of a host is split as a shell does it. A value that is a Python literal becomes that value. The module knows
nothing of folders, and of other notations.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from typing import Any

from nodeattrs.core.budget import MAX_DIGITS, WIDE, Budget, too_long
from nodeattrs.dialects.ansible.faults import INVENTORY, AnsibleError
from nodeattrs.dialects.ansible.groups import PRIORITY, InventoryTree
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.values import VariableLines
from nodeattrs.errors import TooMuch
from nodeattrs.formats.places import Text

_HEADER = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_LIKE_HEADER = re.compile(r"\[[^\]]*\]\s*(?:#.*)?$")
_RANGE = re.compile(r"\[([^\[\]:]*:[^\[\]]*)\]")
_PORT = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<name>[^:]*|[^:\[]*(?:\[[^\]]*\][^:\[]*)*)):(?P<port>\d+)")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NO_LITERAL = re.compile(r"(?!(?:True|False|None)$)[A-Za-z_][\w./:@-]*|\d+(?:\.\d+){2,}", re.ASCII)
"""Words and addresses: no literals at a glance, for Python's parser takes long to refuse one."""
_NUMBER = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_NAME = re.compile(r"(?!---$)[\w.-]+", re.ASCII)
"""A line with the name of a host, and nothing else: most lines of a large inventory."""
_TO_SPLIT = re.compile(r"""['"\\#]""")
_SQUARES_A_STEP = 10_000
MOST_NAMES = 100_000
"""The most names that a range may make."""
_MOST_RANGES = 100


def literal(text: str, budget: Budget | None = None) -> Any:
    """The value of a text that is a Python literal. Any other text is returned unchanged.

    Tuples and sets become lists. Bytes and complex numbers become texts.

    budget: limits the digits of its integers; None: a new budget
    raises: TooMuch

    >>> literal("0x10"), literal("(1, 2)"), literal("yes"), literal("1 # one")
    (16, [1, 2], 'yes', 1)
    """
    if _NUMBER.fullmatch(text):
        return int(text)
    if _NO_LITERAL.fullmatch(text):
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text.lstrip(" \t"), mode="eval")
            for node in ast.walk(tree):  # the budget counts them before Python evaluates them
                if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() >= WIDE:
                    (budget or Budget("inventory")).integer(node.value)
            return _plain(ast.literal_eval(tree))
    except TooMuch:
        raise
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return [_plain(entry) for entry in sorted(value, key=repr)]
    if isinstance(value, dict):
        return {_plain_key(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if value is ... or (type(value) is int and too_long(value)):  # Python, too, refuses such a long integer
        raise ValueError("no value")
    return str(value) if isinstance(value, complex) else value


def _plain_key(key: Any) -> Any:
    return _plain(key) if isinstance(key, (str, int, float, type(None))) else str(key)


def expanded_ranges(pattern: str, file: str | None = None, line: int | None = None) -> Iterator[str]:
    """Yield the host names of a pattern with ranges; the leftmost range changes slowest. A name without ranges is
    yielded as it is.

    file, line: for errors
    raises:     AnsibleError, for a bracket that is no range, a bad range, too many ranges, or more than `MOST_NAMES`
                names

    >>> list(expanded_ranges("r[1:2]-h[a:b]"))
    ['r1-ha', 'r1-hb', 'r2-ha', 'r2-hb']
    """
    if pattern.count("[") > _MOST_RANGES:
        raise AnsibleError(INVENTORY, f"a name of more than {_MOST_RANGES} ranges", file=file, line=line)
    found = _RANGE.search(pattern)
    if found is None:
        if "[" in pattern or "]" in pattern:
            raise AnsibleError(INVENTORY, f"{pattern} has a bracket that is no range", file=file, line=line)
        yield pattern
        return
    before, after = pattern[: found.start()], pattern[found.end() :]
    try:
        names = _range(found[1])
    except ValueError as error:
        raise AnsibleError(INVENTORY, f"the range [{found[1]}]: {error}", file=file, line=line) from None
    rest = list(expanded_ranges(after, file, line))
    if len(names) * len(rest) > MOST_NAMES:
        raise AnsibleError(INVENTORY, f"more than {MOST_NAMES:,} names in {pattern}", file=file, line=line)
    for name in names:
        yield from (f"{before}{name}{end}" for end in rest)


def _range(text: str) -> list[str]:
    parts = text.split(":")
    if len(parts) not in (2, 3) or not parts[1]:
        raise ValueError("it has a start, an end and perhaps a step")
    first, last, step = parts[0] or "0", parts[1], int(parts[2]) if len(parts) == 3 else 1
    if first in _LETTERS and last in _LETTERS:
        begin, end = _LETTERS.index(first), _LETTERS.index(last)
        if begin > end:
            raise ValueError("its end comes before its start")
        return list(_LETTERS[begin : end + 1 : step])
    width = len(first) if first.startswith("0") and len(first) > 1 else 0
    if width and width != len(last):
        raise ValueError("its start has leading zeros and another width than its end")
    numbers = range(int(first), int(last) + 1, step)
    if numbers[MOST_NAMES:]:
        raise ValueError(f"it makes more than {MOST_NAMES:,} names")
    return [str(number).zfill(width) for number in numbers]


def port_in(digits: str, file: str | None = None, line: int | None = None) -> int:
    """The port that digits behind a name give. raises: AnsibleError, for too many digits"""
    if len(digits) > MAX_DIGITS:
        raise AnsibleError(INVENTORY, f"a port of more than {MAX_DIGITS} digits", file=file, line=line)
    return int(digits)


def hosts_of(word: str, file: str | None = None, line: int | None = None) -> tuple[list[str], int | None]:
    """The host names that a word such as `web[1:3]:2222` means, and their port. The port is None if the word has none.

    A name in brackets before the port, such as `[::1]:22`, is an address and not a range.

    file, line: the place for errors
    raises:     AnsibleError, for a bad range, or too many names
    """
    found = _PORT.fullmatch(word)
    port = None
    if found and (found["address"] is not None or word.count(":") == 1 or _RANGE.search(word)):
        word, port = found["address"] or found["name"], port_in(found["port"], file, line)
        if found["address"] is not None:
            return [word], port
    return list(expanded_ranges(word, file, line)), port


def read(text: Text, tree: InventoryTree) -> None:
    """Read an inventory in INI into *tree*.

    raises: AnsibleError, with file and line; hosts and variables above that line stay in the tree
    """
    _Ini(text, tree).run()


class _Ini:
    """Reads one text, line by line.

    declared: groups with a section; waiting: child -> the parents that name it before
    """

    def __init__(self, text: Text, tree: InventoryTree) -> None:
        self.file, self.tree, self.text = text.file, tree, text.text
        self.budget = Budget(text.file, where=lambda: (self.line, None))
        self.group, self.kind = "ungrouped", "hosts"
        self.line = 0
        self.declared: set[str] = set(tree.groups)
        self.waiting: dict[str, list[tuple[str, int]]] = {}
        self.section: dict[str, Any] | None = None
        self.lines: dict[str, int] = {}

    def run(self) -> None:
        for number, written in enumerate(self.text.split("\n"), 1):
            self.line, line = number, written.strip()
            if not line or line[0] in "#;":
                continue
            header = _HEADER.fullmatch(line)
            if header is not None:
                self._header(header)
            elif _LIKE_HEADER.match(line):
                raise self._error(f"no header of a section: {line}", "write [group], [group:vars] or [group:children]")
            else:
                getattr(self, f"_{self.kind}")(line)
        self._require_sections()

    def _header(self, found: re.Match[str]) -> None:
        kind = found[2] or "hosts"
        if kind not in ("hosts", "vars", "children"):
            raise self._error(f"sections of the kind {kind} are not known", "known are hosts, vars and children")
        self.group, self.kind, self.section = self.tree.group_name(found[1], self.file, self.line), kind, None
        if kind == "vars":
            if self.group not in self.declared:
                self.waiting.setdefault(self.group, []).append(("", self.line))
            self.tree.group(self.group)
            return
        self.tree.group(self.group)
        self.declared.add(self.group)
        for parent, line_number in self.waiting.pop(self.group, []):
            if parent:
                self.tree.nest(parent, self.group, self.file, line_number)

    def _hosts(self, line: str) -> None:
        if _NAME.fullmatch(line):
            self.tree.host(line, self.group)
            return
        has_quotes = _TO_SPLIT.search(line) is not None
        if has_quotes:  # shlex copies a word for each character of it
            self.budget.steps(len(line) ** 2 // _SQUARES_A_STEP)
        try:
            word, *words = (shlex.split(line, comments=True) if has_quotes else line.split()) or [""]
        except ValueError as error:
            raise self._error(f"the quotes of this line: {error}", "close the quote") from None
        if not word:
            return
        if word.endswith(":") or word == "---":
            raise self._error(f"{word!r} is no host; is this file YAML?", "name it .yml")
        names, port = hosts_of(word, self.file, self.line)
        values: dict[str, Any] = {}
        for one in words:
            name, equals, value = one.partition("=")
            if not equals:
                raise self._error("a word behind the host has no =", "write name=value, without blanks around the =")
            values[name] = literal(value, self.budget)
        locator = VariableLines("inventory", word, self.file, dict.fromkeys(("ansible_port", *values), self.line))
        for name in names:
            own = {**self.tree.port_of(name, port), **values}
            self.tree.set_variables(self.tree.host(name, self.group), own, locator, title(8))

    def _children(self, line: str) -> None:
        words = line.split("#")[0].split()
        if len(words) != 1:
            raise self._error(f"a child is one name, and this is {line!r}", "variables belong into [group:vars]")
        child = words[0]
        self.tree.group_name(child, self.file, self.line)  # only warns: as in Ansible, the child is not renamed
        if child == self.group:
            raise self._error(f"{child} would be its own child")
        if child in self.declared:
            self.tree.nest(self.group, child, self.file, self.line)
        else:
            self.waiting.setdefault(child, []).append((self.group, self.line))

    def _vars(self, line: str) -> None:
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            raise self._error("no name=value", "write name = value")
        group, values = self.tree.groups[self.group], {name: literal(value, self.budget)}
        locator = VariableLines("inventory", f"[{group.name}:vars]", self.file, {name: self.line})
        if name == PRIORITY:
            self.tree.set_variables(group, values, locator, title(3))
            return
        if self.section is None or name in self.section:
            self.tree.set_variables(group, values, locator, title(3))
            self.section, self.lines = group.layers[-1].value, locator.by_name
        self.section.update(values)
        self.lines[name] = self.line

    def _require_sections(self) -> None:
        """Check that each named group has a section. raises: AnsibleError"""
        for name, asked in self.waiting.items():
            parent, self.line = asked[0]
            what = f"the group {name}, a child of {parent}" if parent else f"the group {name} of [{name}:vars]"
            raise self._error(f"{what}, has no section in this file", f"write an empty [{name}]")

    def _error(self, message: str, hint: str | None = None) -> AnsibleError:
        return AnsibleError(INVENTORY, message, file=self.file, line=self.line, hint=hint)
