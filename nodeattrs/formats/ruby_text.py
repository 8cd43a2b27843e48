"""Data in Ruby sources: literals, variables that hold them, and calls of words. Nothing is run.

A word is a method called without a receiver, such as `run_list "role[web]"`; the caller names the words that it wants.
tree-sitter-ruby parses. Some values only Ruby could compute: a method, a condition, the environment. Such a value is an
error with its line, raised when the value is used.
"""

from __future__ import annotations

import os.path
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.core.budget import MAX_DIGITS, WIDE, Budget, too_long
from nodeattrs.core.tree import copied
from nodeattrs.errors import DocumentError, missing_extra
from nodeattrs.formats.numbers import NoNumber, finite
from nodeattrs.formats.places import Mark, Text
from nodeattrs.kinds import NOT_LITERAL

if TYPE_CHECKING:
    from tree_sitter import Node

_HINT = "Ruby is read here, and not run: write the value out"

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "s": " ",
    "r": "\r",
    "0": "\0",
    "e": "\x1b",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F\s]+)\}|x([0-7][0-9a-fA-F]?)|([0-7]{1,3})|(\n)|([^uxcCM0-7]))", re.DOTALL
)
_OCTAL = re.compile(r"(-?)0[oO]?([0-7]+)")
_MARGIN = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_TAB = 8
_STEPS_A_NODE = 10
_SKIPPED = ("comment", "heredoc_body", "empty_statement", "uninterpreted")
_NAMES = ("identifier", "constant", "instance_variable", "global_variable")
_NAMED = ("call", "method", "singleton_method")
_CONSTANTS = {"true": True, "false": False, "nil": None}
_SAME = ("freeze", "dup", "clone")
_FILE_METHODS = ("join", "dirname", "expand_path")


class Literal(NamedTuple):
    """A value of a Ruby source, as plain data (a symbol is a text), and the mark of its place."""

    value: Any
    mark: Mark


class Call(NamedTuple):
    """A call of a word: `run_list "role[base]", "recipe[app]"`.

    word:      the word
    offset:    the offset of the word in the text
    arguments: returns the values of its arguments, [] for none (raises: DocumentError, if one is not a literal)
    result:    returns the value of its block, which has to be one expression (raises: DocumentError)
    """

    word: str
    offset: int
    arguments: Callable[[], list[Literal]]
    result: Callable[[], Literal]


class Ruby:
    """A Ruby source and its variables. The constructor parses it, and nothing is run.

    `calls` goes through the statements, and yields the calls of some words in the order in which Ruby makes them.
    `anywhere` yields such calls at any depth. `value` gives the value of a syntax node. `refused` returns an error
    about a node, and does not raise it.

    text:     the source
    words:    called with the source of a word or expression that is not understood here; it returns its value, or None
              if it has none
    warnings: keys that a map has twice, found so far
    skipped:  the statements that `calls` has left out so far, each as an error with its line
    raises:   MissingExtra; DocumentError, for a syntax error
    """

    def __init__(self, text: Text, words: Callable[[str], Literal | None] = lambda name: None) -> None:
        self.text = text
        self.warnings: list[DocumentError] = []
        self.skipped: list[DocumentError] = []
        self._budget = Budget(text.file)
        self._names: dict[str, Literal | DocumentError] = {
            "__FILE__": Literal(text.file, Mark(0)),
            "__dir__": Literal(os.path.dirname(text.file), Mark(0)),
        }
        self._words = words
        self._wanted: list[int] = []
        self._root = parsed(text)
        self._heredocs = dict(_heredocs(self._root)) if "<<" in text.text else {}

    def calls(self, words: Collection[str], every: bool = True) -> Iterator[Call]:
        """Yield the calls of these words in the order in which Ruby makes them; a loop over a literal gives several.

        An assignment to an element, `default['a']['b'] = 1`, is a call, too: its arguments are the keys and the value.
        Assignments to variables are noted on the way. So use the arguments of a call before you take the next call.

        words:  the words
        every:  True: any other statement is an error. False: it is left out and added to `skipped`, unless it contains
                one of the words
        raises: DocumentError
        """
        calls = (node for node in _nodes(self._root) if node.type == "call" and self._word_of(node) in words)
        self._wanted = [] if every else [node.start_byte for node in calls]
        try:
            yield from self._block(self._root, words, every)
        except RecursionError:
            raise self.text.error("nested deeper than the caller's stack has room for") from None

    def anywhere(self, words: Collection[str]) -> Iterator[Call]:
        """Yield the calls of these words at any depth, in the order of the text. Ruby may not make all of them."""
        for node in _nodes(self._root):
            is_name = node.type != "call" and node.parent is not None and node.parent.type in _NAMED
            if not is_name and self._word_of(node) in words:
                yield self._called(node)

    def refused(self, node: Node, message: str = "is no literal") -> DocumentError:
        """Make, not raise, the error about a node, with its code and line."""
        shown = shown_code(self.text, node)
        return self.text.error(f"`{shown}` {message}", node.start_byte, hint=_HINT, kind=NOT_LITERAL)

    # Statements

    def _block(self, block: Node, words: Collection[str], every: bool) -> Iterator[Call]:
        for node in block.named_children:
            self._budget.steps()
            if node.type in _SKIPPED or self._word_of(node) in ("require", "require_relative"):
                continue
            stored = self._stored(node, words)
            if stored is not None:
                yield stored
            elif node.type == "assignment":
                self._assign(node, every)
            elif self._word_of(node) in words:
                yield self._called(node)
            elif every or self._mentions(node):
                yield from self._loop(node, words, every)
            else:
                self._doubt(node)
                self.skipped.append(self.refused(node, "is not read"))

    def _stored(self, node: Node, words: Collection[str]) -> Call | None:
        """An assignment to an element of one of the words; None for any other statement."""
        holder, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        keys: list[Node] = []
        while holder is not None and holder.type == "element_reference":
            keys[:0] = [one for one in holder.named_children[1:] if one.type not in _SKIPPED]
            holder = holder.child_by_field_name("object")
        if node.type != "assignment" or not keys or holder is None or value is None or self._slice(holder) not in words:
            return None
        return Call(
            self._slice(holder),
            node.start_byte,
            lambda: [self.value(one) for one in (*keys, value)],
            lambda: self.value(value),
        )

    def _called(self, node: Node) -> Call:
        return Call(self._word_of(node), node.start_byte, lambda: self._arguments(node), lambda: self._result(node))

    def _result(self, node: Node) -> Literal:
        block = node.child_by_field_name("block")
        body = block.child_by_field_name("body") if block is not None else None
        return self._inside(node if body is None else body, 0)

    def _word_of(self, node: Node) -> str:
        """The word of a call without a receiver, "" for any other statement."""
        if node.type == "identifier":
            return self._slice(node)
        method = node.child_by_field_name("method") if node.type == "call" else None
        return self._slice(method) if method is not None and node.child_by_field_name("receiver") is None else ""

    def _mentions(self, node: Node) -> bool:
        """Whether a statement contains one of the wanted calls."""
        first = bisect_left(self._wanted, node.start_byte)
        return first < len(self._wanted) and self._wanted[first] < node.end_byte

    def _assign(self, node: Node, every: bool) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in _NAMES:
            if every:
                raise self.refused(node)
            return
        try:
            self._names[self._slice(left)] = self.value(right)
        except DocumentError as error:
            self._doubt(right)
            self._names[self._slice(left)] = error  # raised where the name is used

    def _doubt(self, node: Node) -> None:
        """Mark the names that an unread statement may have changed: a later use of one is an error."""
        for one in _nodes(node):
            self._budget.steps(_STEPS_A_NODE)
            for field in ("receiver", "left"):
                touched = one.child_by_field_name(field)
                if touched is not None and self._slice(touched) in self._names:
                    self._names[self._slice(touched)] = self.refused(one)

    def _loop(self, node: Node, words: Collection[str], every: bool) -> Iterator[Call]:
        """Yield the calls of a loop, `[...].each do |name| ... end`, for each element. raises: DocumentError"""
        over, block = node.child_by_field_name("receiver"), node.child_by_field_name("block")
        method, names = node.child_by_field_name("method"), _block_names(block)
        if over is None or method is None or block is None or self._slice(method) != "each" or not names:
            raise self.refused(node)
        value, mark = self.value(over)
        entries = [[key, inner] for key, inner in value.items()] if isinstance(value, dict) else value
        if not isinstance(entries, list):
            raise self.refused(over, "is not a list")
        body = block.child_by_field_name("body")
        for entry, part in zip(entries, mark.parts.values(), strict=True):
            several = len(names) > 1 and isinstance(entry, list)
            values = [*(entry if several else [entry]), *[None] * len(names)]
            at = Mark(part.offset, {} if several else part.parts)
            self._names |= {self._slice(name): Literal(one, at) for name, one in zip(names, values, strict=False)}
            if body is not None:
                yield from self._block(body, words, every)

    def _arguments(self, node: Node) -> list[Literal]:
        """The arguments of a call; `a => 1` among them is a map of its own."""
        listed = node.child_by_field_name("arguments")
        if listed is None:
            return []
        values, mark = self._list(listed, 0)
        return [Literal(value, mark.parts[index]) for index, value in enumerate(values)]

    # Values

    def value(self, node: Node, depth: int = 0) -> Literal:
        """The value of an expression with its marks. It may use variables that `calls` has noted so far.

        node:   the expression in the syntax tree
        depth:  how many maps and lists the expression is in; TooMuch is raised beyond the limit
        raises: DocumentError, for an expression that only Ruby could compute; TooMuch
        """
        self._budget.values()
        self._budget.depth(depth)
        read = _READERS.get(node.type)
        known = self._words(self._slice(node)) if read is None or read is Ruby._call else None
        if known is not None:
            return known
        if read is None:
            raise self.refused(node)
        try:
            found = read(self, node, depth)
        except RecursionError:
            raise self.text.error("nested deeper than the caller's stack has room for", node.start_byte) from None
        return found if isinstance(found, Literal) else Literal(found, Mark(node.start_byte))

    def _list(self, node: Node, depth: int) -> Literal:
        values: list[Any] = []
        mark, pairs = Mark(node.start_byte), None
        for one in node.named_children:
            if one.type == "pair":
                if pairs is None:
                    pairs = Literal({}, Mark(one.start_byte))
                    mark.parts[len(values)] = pairs.mark
                    values.append(pairs.value)
                self._pair(one, pairs, depth + 1)
            elif one.type not in _SKIPPED:
                value, mark.parts[len(values)] = self.value(one, depth + 1)
                values.append(value)
        return Literal(values, mark)

    def _hash(self, node: Node, depth: int) -> Literal:
        literal = Literal({}, Mark(node.start_byte))
        for one in node.named_children:
            if one.type == "pair":
                self._pair(one, literal, depth + 1)
            elif one.type not in _SKIPPED:
                raise self.refused(one)
        return literal

    def _pair(self, node: Node, into: Literal, depth: int) -> None:
        first, last = node.child_by_field_name("key"), node.child_by_field_name("value")
        if first is None or last is None:  # `{name:}` is `{name: name}`
            raise self.refused(node)
        key = self._slice(first) if first.type == "hash_key_symbol" else self.value(first).value
        if type(key) not in (str, int):
            raise self.refused(first, "is no key that JSON could hold")
        key = str(key)
        value, mark = self.value(last, depth)
        at, below = first.start_byte, last.start_byte
        is_later = not isinstance(value, (dict, list)) and "\n" in self.text.text[at:below]
        if key in into.value:
            self.warnings.append(self.text.repeated((key,), into.mark.parts[key].offset, at))
        into.value[key] = value
        into.mark.parts[key] = Mark(below if is_later else at, mark.parts)

    def _words_in(self, node: Node, depth: int) -> Literal:
        """The list of `%w(a b)`, `%i(a b)`, `%W(a b)` or `%I(a b)`."""
        raw = self._slice(node.children[0])[1] in "wi"
        mark = Mark(node.start_byte, {index: Mark(one.start_byte) for index, one in enumerate(node.named_children)})
        texts = [
            re.sub(r"\\([\s\\\[\](){}<>|!/])", r"\1", self._slice(one)) if raw else self._joined(one, depth)
            for one in node.named_children
        ]
        return Literal([self._made(text) for text in texts], mark)

    def _string(self, node: Node, depth: int) -> str:
        quote = self._slice(node.children[0])
        if quote != "'" and not quote.startswith(("%q", "%s", ":'")):
            return self._joined(node, depth)
        inside = self.text.text[node.children[0].end_byte : node.children[-1].start_byte]
        ends = re.escape(quote[-1] + self._slice(node.children[-1]))
        return self._made(re.sub(rf"\\([\\{ends}])", r"\1", inside))

    def _chained(self, node: Node, depth: int) -> str:
        return self._made("".join(self.value(one, depth + 1).value for one in node.named_children))

    def _symbol(self, node: Node, depth: int) -> str:
        return self._made(self._slice(node)[1:])

    def _character(self, node: Node, depth: int) -> str:
        text = self._slice(node)[1:]
        return self._escaped(node, text) if text.startswith("\\") else text

    def _heredoc(self, node: Node, depth: int) -> str:
        body = self._heredocs.get(node.start_byte)
        if body is None:
            raise self.refused(node)
        begin = self._slice(node)
        raw, margin = "'" in begin, begin.startswith("<<~")
        pieces = [(one, self._slice(one)) for one in body.children if one.type != "heredoc_end"]
        if pieces and pieces[-1][0].type == "heredoc_content":
            pieces[-1] = (pieces[-1][0], pieces[-1][1].rstrip(" \t"))
        width = (
            _margin("".join(text if one.type == "heredoc_content" else "x" for one, text in pieces)) if margin else 0
        )
        return self._made("".join(self._piece(one, _dedented(text, width), raw, depth) for one, text in pieces)[1:])

    def _joined(self, node: Node, depth: int) -> str:
        """The value of a text with escapes and `#{...}`."""
        return self._made("".join(self._piece(one, self._slice(one), False, depth) for one in node.named_children))

    def _piece(self, node: Node, text: str, raw: bool, depth: int) -> str:
        if raw or node.type in ("string_content", "heredoc_content"):
            return text
        return self._escaped(node, text) if node.type == "escape_sequence" else self._shown(node, depth)

    def _escaped(self, node: Node, text: str) -> str:
        found = _ESCAPE.fullmatch(text)
        if found is None:
            raise self.refused(node, "is an escape that is not read here")
        four, several, byte, octal, newline, one = found.groups()
        if newline or one:
            return "" if newline else _ESCAPES.get(one, one)
        points = several.split() if several else [four or byte or octal]
        numbers = [int(point, 8 if octal else 16) for point in points]
        if any(number > 0x10FFFF or 0xD800 <= number <= 0xDFFF or (octal and number > 0x7F) for number in numbers):
            raise self.refused(node, "is no character")
        return "".join(map(chr, numbers))

    def _shown(self, node: Node, depth: int) -> str:
        """The text of a `#{...}`. raises: DocumentError, for a value other than text, integer, boolean or nil"""
        inside = [one for one in node.named_children if one.type not in _SKIPPED]
        value = self.value(inside[0], depth + 1).value if len(inside) == 1 else [None]
        if value is None or isinstance(value, (str, int)):
            return "" if value is None else str(value) if type(value) is not bool else str(value).lower()
        raise self.refused(node, "is not text")

    def _integer(self, node: Node, depth: int) -> int:
        text = self._slice(node).replace("_", "")
        octal = _OCTAL.fullmatch(text)
        try:
            number = int(octal[1] + octal[2], 8) if octal else int(text.lower().replace("0d", ""), 0)
        except ValueError:
            number = None
        if number is None or too_long(number):
            raise self.refused(node, f"is a number of more than {MAX_DIGITS} digits")
        if number.bit_length() >= WIDE:
            self._budget.integer(number)
        return number

    def _float(self, node: Node, depth: int) -> float:
        try:
            return finite(self._slice(node))
        except NoNumber as error:
            raise self.text.error(error.message, node.start_byte) from None

    def _unary(self, node: Node, depth: int) -> Any:
        operand = node.child_by_field_name("operand")
        value: Any = None if operand is None else self.value(operand, depth + 1).value
        if self._slice(node)[0] not in "+-" or type(value) not in (int, float):
            raise self.refused(node)
        return -value if self._slice(node)[0] == "-" else value

    def _binary(self, node: Node, depth: int) -> Literal:
        """The sum of two texts or two lists. raises: DocumentError, for any other operation"""
        left, sign, right = node.children if len(node.children) == 3 else (node, node, node)
        if self._slice(sign) != "+":
            raise self.refused(node)
        one, other = self.value(left, depth + 1), self.value(right, depth + 1)
        if type(one.value) is not type(other.value) or type(one.value) not in (str, list):
            raise self.refused(node)
        joined = one.value + other.value
        self._budget.tree(joined)
        parts = [*one.mark.parts.values(), *other.mark.parts.values()]
        return Literal(joined, Mark(node.start_byte, dict(enumerate(parts))))

    def _name(self, node: Node, depth: int) -> Literal:
        name = self._slice(node)
        literal = self._names.get(name) or self._words(name)
        if literal is None:
            raise self.refused(node)
        if isinstance(literal, DocumentError):
            raise literal
        self._budget.tree(literal.value)
        return Literal(copied(literal.value), literal.mark)

    def _call(self, node: Node, depth: int) -> Any:
        over, method = node.child_by_field_name("receiver"), node.child_by_field_name("method")
        if over is None or method is None or node.child_by_field_name("block") is not None:
            raise self.refused(node)
        name = self._slice(method)
        if self._slice(over) in ("File", "::File") and name in _FILE_METHODS:
            texts = [literal.value for literal in self._arguments(node)]
            if texts and all(isinstance(text, str) for text in texts):
                return self._made(_file_method(name, texts))
        elif name in _SAME and not self._arguments(node):
            return self.value(over, depth + 1)
        raise self.refused(node)

    def _inside(self, node: Node, depth: int) -> Literal:
        inside = [one for one in node.named_children if one.type not in _SKIPPED]
        if len(inside) != 1:
            raise self.refused(node)
        return self.value(inside[0], depth + 1)

    def _made(self, text: str) -> str:
        self._budget.bytes(len(text))
        return text

    def _slice(self, node: Node) -> str:
        return self.text.text[node.start_byte : node.end_byte]


def _constant(value: Any, ruby: Ruby, node: Any, depth: int) -> Any:
    return value


_Read = Callable[[Ruby, Any, int], Any]
_READERS: dict[str, _Read] = {
    **{name: partial(_constant, value) for name, value in _CONSTANTS.items()},
    **dict.fromkeys(("string", "delimited_symbol"), Ruby._string),
    **dict.fromkeys(_NAMES, Ruby._name),
    **dict.fromkeys(("string_array", "symbol_array"), Ruby._words_in),
    "array": Ruby._list,
    "binary": Ruby._binary,
    "call": Ruby._call,
    "chained_string": Ruby._chained,
    "character": Ruby._character,
    "float": Ruby._float,
    "hash": Ruby._hash,
    "heredoc_beginning": Ruby._heredoc,
    "integer": Ruby._integer,
    "parenthesized_statements": Ruby._inside,
    "simple_symbol": Ruby._symbol,
    "unary": Ruby._unary,
}
"""By the type of a node of the grammar: what reads it."""


def _file_method(name: str, texts: list[str]) -> str:
    """File.join, File.dirname and File.expand_path("x", "below"), on names as text."""
    if name == "dirname":
        return os.path.dirname(texts[0]) or "."
    if name == "join":
        return re.sub("/+", "/", "/".join(texts))
    return os.path.normpath(os.path.join(*reversed(texts[:2])))


def parsed(text: Text) -> Node:
    """Parse a Ruby source: the root of its syntax tree, whose offsets count characters of the text.

    raises: MissingExtra; DocumentError, for a syntax error; TooMuch, where parsing takes too long
    """
    try:
        from tree_sitter import Language, Parser
        from tree_sitter_ruby import language
    except ImportError as error:
        raise missing_extra(error.name or "tree-sitter-ruby", "chef", "reading Ruby") from None
    budget = Budget(text.file)
    # One byte a character, so that offsets are those of the text; what is not ASCII is a letter to Ruby.
    source = re.sub(r"[^\x00-\x7f]", "x", text.text).encode("ascii")
    begun = time.thread_time()
    try:
        tree = Parser(Language(language())).parse(
            lambda offset, _: source[offset : offset + 65536],
            progress_callback=lambda *_: time.thread_time() - begun > budget.limits.seconds,
        )
    except ValueError:
        raise budget.exceeded("seconds") from None
    if tree.root_node.has_error:
        wrong = [node for node in _nodes(tree.root_node) if node.has_error]
        first = next((node for node in wrong if node.is_error or node.is_missing), wrong[-1])
        raise text.error("Ruby syntax error", first.start_byte, kind="")
    return tree.root_node


def shown_code(text: Text, node: Node) -> str:
    """The code of a node for a message: on one line, and at most 60 characters of it.

    A text in it may be a secret: "..." is shown instead, unless it is a key of a map, or between [ and ].
    """
    shown, at = "", node.start_byte
    for one in _nodes(node):
        if len(shown) > _MOST_SHOWN or one.start_byte >= node.end_byte:  # the text of a heredoc is behind the node
            break
        if one.type in _TEXTS and not _is_key(one):
            shown += text.text[at : one.start_byte] + _LEFT_OUT * (not shown.endswith(_LEFT_OUT) or at < one.start_byte)
            at = one.end_byte
    shown = " ".join(f"{shown}{text.text[at : node.end_byte]}".split())
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:57]}..."


_MOST_SHOWN = 60
_LEFT_OUT = "..."
_TEXTS = ("string_content", "escape_sequence", "heredoc_content")


def _is_key(content: Node) -> bool:
    """Whether a part of a text belongs to a key of a map, or is between [ and ]."""
    string = content.parent
    holder = None if string is None else string.parent
    if string is None or holder is None:
        return False
    if holder.type == "pair":
        return holder.child_by_field_name("key") == string
    return holder.type == "element_reference" and holder.child_by_field_name("object") != string


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes, in the order of the text."""
    ahead = [root]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += reversed(node.children)


def _heredocs(root: Node) -> Iterator[tuple[int, Node]]:
    """Yield (offset of its beginning, its body) for each heredoc."""
    begun = []
    for node in _nodes(root):
        if node.type == "heredoc_beginning":
            begun.append(node.start_byte)
        elif node.type == "heredoc_body" and begun:
            yield begun.pop(0), node


def _block_names(block: Node | None) -> list[Node]:
    names = block.child_by_field_name("parameters") if block is not None else None
    return [one for one in names.named_children if one.type == "identifier"] if names is not None else []


def _margin(text: str) -> int:
    """The smallest indentation of the lines of a `<<~`, in columns; lines of blanks do not count."""
    return min((_width(line) for line in _MARGIN.findall(text)), default=0)


def _width(blanks: str) -> int:
    width = 0
    for one in blanks:
        width = width + 1 if one == " " else (width // _TAB + 1) * _TAB
    return width


def _dedented(text: str, width: int) -> str:
    """A text without the first *width* columns of blanks of each line; it begins in the middle of one."""
    first, *lines = text.split("\n")
    return "\n".join([first, *(_without(line, width) for line in lines)])


def _without(line: str, width: int) -> str:
    at = 0
    while at < len(line) and line[at] in " \t" and _width(line[: at + 1]) <= width:
        at += 1
    return line[at:]
