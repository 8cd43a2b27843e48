"""Find what Ruby code of a cookbook may set on the node, from its text, without running it.

Used by `run.ruby_files`. A write with a constant level and constant keys may set its path. Code that computes the
level, evaluates text, or hands the node to other code may set any attribute: it is *hidden*. One text is read at a
time. `run.ruby_files.UnrunCodeFinder` follows calls into other files.

source: Chef's `Chef::Node`, `Chef::Node::Attribute` and its resources that write attributes (Chef Infra 19)
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.formats.documents import content_of
from nodeattrs.formats.places import Text
from nodeattrs.formats.ruby_text import parsed, shown_code
from nodeattrs.node.slot_names import LEVELS

if TYPE_CHECKING:
    from tree_sitter import Node

_OWN = ("force_default", "force_override", "role_default", "role_override", "env_default", "env_override")
_DEFAULTS, _OVERRIDES = ("default", "force_default"), ("override", "force_override")
_LEVELS: Mapping[str, tuple[str, ...]] = {
    **{word: (word,) for word in _OWN},
    **dict.fromkeys(("default", "default_unless", "default_attrs"), ("default",)),
    **dict.fromkeys(("normal", "normal_unless", "normal_attrs", "set", "set_unless", "normal!"), ("normal",)),
    **dict.fromkeys(("override", "override_unless", "override_attrs"), ("override",)),
    **dict.fromkeys(("automatic", "automatic_attrs"), ("automatic",)),
    **dict.fromkeys(("default!", "force_default!"), _DEFAULTS),
    **dict.fromkeys(("override!", "force_override!"), _OVERRIDES),
}
"""Method of the node -> the levels that it writes. Methods with `!` also clear other levels."""

_REMOVING: Mapping[str, tuple[str, ...]] = {
    "rm": LEVELS[:-1],
    "rm_default": _DEFAULTS,
    "rm_normal": ("normal",),
    "rm_override": _OVERRIDES,
}
"""Method that removes a path -> the levels. The levels of roles and environments are covered by stronger ones."""

_BY_LEVEL = {"write": -1, "write!": -1, "unlink": None, "unlink!": None}
"""Method whose first argument names the level -> the end of the slice of the arguments that are keys."""

_WRITING = frozenset((*_LEVELS, *_REMOVING, *_BY_LEVEL, "tap", "then", "yield_self"))
"""Methods that write to the node, or hand it to a block."""


_TAGS = ("tag", "tags", "untag")
CHANGING: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(_TAGS, ("normal", ("tags",))),
    "hostname": ("automatic", ("domain", "fqdn", "hostname", "machinename")),
    "ohai": ("automatic", ("",)),
    "windows_feature": ("override", ("dism_features_cache", "powershell_features_cache")),
    "windows_feature_dism": ("override", ("dism_features_cache",)),
    "windows_feature_powershell": ("override", ("powershell_features_cache",)),
}
"""Words of Chef that change attributes -> the level, and the keys below which they do; "" for all."""

_HANDING = frozenset(
    (
        *("apply_expansion_attributes", "attributes=", "call", "clone", "consume_external_attrs", "consume_ohai_data"),
        *("define_singleton_method", "destroy", "dup", "expand!", "extend", "freeze", "include_attribute"),
        *("public_method", "reset_defaults_and_overrides", "singleton_class", "singleton_method", "tap", "then"),
        *("to_enum", "update_from!", "yield_self"),
    )
)
"""Methods of the node that may set attributes which the text does not show, or that give the node to other code."""

_OF_CHEF = frozenset(("Chef", "DSL", "Mixin", "Node", "Provider", "Recipe", "Resource"))
"""Classes and modules of Chef that a library opens to add methods. Such methods are called by their own names."""

_BARE = ("argument_list", "identifier", "instance_variable", "self")
_NAMES_OF_NODE = ("node", "@node")
_ASSIGNING = ("assignment", "operator_assignment")
_GIVING_NO_NODE = ("initialize", "node")
"""Methods in which `@node = ...` gives the node no name but `node` and `@node`."""

_ASKING = ("all?", "any?", "count", "find", "none?", "one?", "partition", "reject", "select")
"""Methods that use the value of their block only as true or false."""

_ITSELF = ("attribute", "attributes", "construct_attributes", "itself")
_SENDING = ("__send__", "instance_variable_get", "method", "public_send", "send", "try", "try!")
"""Methods whose first argument names the method, or the instance variable, that gives the value."""

_EVALUATING = ("class_eval", "class_exec", "instance_eval", "instance_exec", "module_eval", "module_exec")
_HIDING = ("binding", "consume_attributes", "eval", "from_file", "recipe_eval")
_HIDING_ALONE = ("load", "require_relative")
_INCLUDING = ("include_recipe", "load_recipe")
_DEFINING = ("alias_method", "define", "define_method", "provides", "resource_name")
_CLASSES = ("class", "module")
_DEFINITIONS = (*_CLASSES, "alias", "method", "singleton_method")
_NAMING = ("bare_string", "bare_symbol", "constant", "simple_symbol", "string_content")
_SHORT = {"block_argument": ("&:node",), "constant": ("ObjectSpace",), "pair": ("node:",)}
_PARAMETERS = ("block_parameters", "lambda_parameters", "method_parameters")
_SCOPES = ("block", "do_block", "lambda", "method", "singleton_method")
_EXPRESSIONS = ("call", "element_reference", "identifier", "instance_variable", "self")
_WORD = re.compile(r"\w+[?!=]?")


@dataclass
class UnrunCode:
    """What a Ruby text may do to a node, as read without running it. All fields are empty for code that does nothing.

    lines:      level -> path -> the first line that may set the path. A path ends before its first computed key
    hidden:     (the first line that may set any attribute, its code or ""); None if there is no such line
    recipes:    name of a recipe that the text includes -> line
    attribute_files: name of an attribute file that the text includes -> line
    words:      the names that the text uses; each may be a method or resource that other code defines
    names:      the names that other code can use to call this code
    is_reached: whether Chef may call this code itself, without a call by one of *names*
    givers:     an UnrunCode for each method of a library that only returns the node. Other code that uses its name may
                set any attribute; in this code the name counts as `node`
    """

    lines: dict[str, dict[Path, int]] = field(default_factory=dict)
    hidden: tuple[int, str] | None = None
    recipes: dict[str, int] = field(default_factory=dict)
    attribute_files: dict[str, int] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    is_reached: bool = False
    givers: list[UnrunCode] = field(default_factory=list)


def resource_code(types: Mapping[str, int]) -> UnrunCode:
    """Returns the attributes that resources of Chef's own types, such as `hostname`, set when they converge.

    types: type of a resource -> the line that declares one. All types become `words` of the result; a type of a
           cookbook adds nothing else
    """
    found = UnrunCode(words={*types})
    for type_, line in types.items():
        level, keys = CHANGING.get(type_, ("", ())) if type_ not in _TAGS else ("", ())
        for key in keys:
            found.lines.setdefault(level, {})[(key,) if key else ()] = line
    return found


def unrun_code(path: pathlib.Path, file: str, part: str, names: tuple[str, ...]) -> UnrunCode:
    """What a Ruby file may set. A file that cannot be parsed may set any attribute.

    file:   its name in messages
    part:   its folder in the cookbook: "attributes", "recipes", "libraries", ...
    names:  further names that other code can use to call it, such as the name of a resource
    raises: DocumentError, if it cannot be opened; MissingExtra, without tree-sitter
    cost:   a walk over the parsed text, once for each content in a process
    """
    content = content_of(path, file)
    key = ("unrun", file, part, names, in_force(), sha256(content).digest())
    return CACHE.get(key, lambda: _read(Text(file, content.decode("utf-8", "replace")), part, names))


def _read(text: Text, part: str, names: tuple[str, ...]) -> UnrunCode:
    reader = CodeReader(text, part)
    reader.code.names.update(names)
    try:
        root = parsed(text)
        if part == "libraries":
            reader.find_givers(root)
        reader.visit(root)
    except MissingExtra:
        raise
    except (DocumentError, RecursionError):
        reader.code.hidden, reader.code.is_reached = (1, ""), True
    return reader.code


class _Place(NamedTuple):
    """What an expression gives: the node (`levels` is None), or the path *path* in some levels of the node.

    is_open: whether more keys may follow. The first computed key ends the path
    """

    levels: tuple[str, ...] | None = None
    path: Path = ()
    is_open: bool = True


_NODE = _Place()


@dataclass(frozen=True)
class _Surroundings:
    """The definitions and blocks around a statement.

    is_node:        whether `self` is the node: in attribute files, and in methods that a library adds to the node
    is_shadowed:    whether `node` is a parameter. The call that passes the node is noted itself
    has_superclass: whether this is in a class with a superclass. Its methods are called through the name of the class
    is_in_module:   whether this is in a module that the text itself makes
    is_own_class:   whether this is in a class of such a module
    depth:          the number of definitions around the statement
    """

    is_node: bool
    is_shadowed: bool = False
    has_superclass: bool = False
    is_in_module: bool = False
    is_own_class: bool = False
    depth: int = 0


class CodeReader:
    """Collects in `code` what one Ruby text may do to the node. Nothing is run.

    Call `visit` with the root of the text's syntax tree, or with parts of it; each call adds to `code`. For a library
    call `find_givers` first: it notes the methods that only return the node. `leading_keys` gives the constant keys at
    the beginning of a list of expressions.

    text: the source that the tree was parsed from
    part: the folder of the text in its cookbook: "attributes", "recipes", "libraries", ...
    code: what was found so far
    """

    def __init__(self, text: Text, part: str) -> None:
        self.code = UnrunCode()
        self._text = text
        self._part = part
        self._around = _Surroundings(is_node=part == "attributes")
        self._givers: set[str] = set()
        self._computed: set[str] = set()

    def find_givers(self, node: Node) -> None:
        """Note the methods below *node* that only return the node: `def its_node; run_context.node; end`.

        A later `visit` takes the name of such a method for the node. A method with the name `node` needs no note.
        """
        body = node.child_by_field_name("body") if node.type == "method" else None
        inside = body.named_children if body is not None else []
        name = self._defined(node)[1] if len(inside) == 1 and node.child_by_field_name("parameters") is None else "node"
        if name != "node" and self._ends_in_node(inside[0]):
            self._givers.add(name)
            hidden = inside[0].start_point.row + 1, self._shown(inside[0])
            self.code.givers.append(UnrunCode(hidden=hidden, names={name}))
        for child in node.named_children:
            self.find_givers(child)

    def _ends_in_node(self, node: Node) -> bool:
        """Whether the last name of an expression is `node` or `@node`, without arguments."""
        named = node.child_by_field_name("method") if node.type == "call" else node
        is_bare = all(node.child_by_field_name(one) is None for one in ("arguments", "block"))
        return named is not None and is_bare and self._slice(named) in _NAMES_OF_NODE

    def _note_hidden(self, node: Node) -> None:
        """Note an expression that may set any attribute."""
        self._note_reach()
        while node.type in _BARE and node.parent is not None:
            node = node.parent
        self.code.hidden = self.code.hidden or (node.start_point.row + 1, self._shown(node))

    def _shown(self, node: Node) -> str:
        """The code of an expression on one line, shortened."""
        return shown_code(self._text, node)

    def _slice(self, node: Node) -> str:
        """The text of an expression."""
        return self._text.text[node.start_byte : node.end_byte]

    def visit(self, node: Node) -> None:
        """Read a statement or expression and all that is in it, and add to `code` what it may do."""
        if node.type in _EXPRESSIONS:
            place = self._place(node)
            if place is not None and not (place is _NODE and self._is_named_node(node)):
                self._use(place, node)
            return
        if node.type in _PARAMETERS:
            self._visit_all(one.child_by_field_name("value") for one in node.named_children)
            return
        if node.type in _NAMING:
            self._mention(node)
        if self._hands_node(node):
            self._note_hidden(node)
        around, self._around = self._around, self._within(node)
        if node.type in _DEFINITIONS:
            self._define(node)
        if node.type != "interpolation" or self._slice(node) != "#{node}":
            self._visit_all(self._inside(node))
        self._around = around

    def _hands_node(self, node: Node) -> bool:
        """Whether a short form gives the node to other code: `&:node`, `node:`, or a method of `find_givers`."""
        is_name = node.type in (*_NAMING, "pair") and self._slice(node).strip(":") in self._givers
        return is_name or (node.type in _SHORT and self._slice(node) in _SHORT[node.type])

    def _within(self, node: Node) -> _Surroundings:
        """The surroundings of the parts of *node*."""
        around = self._around
        if node.type in _SCOPES and self._takes_node(node):
            around = replace(around, is_shadowed=True)
        if node.type in _CLASSES:
            above, name = self._defined(node)
            is_own_module = node.type == "module" and not around.depth and not above and name not in _OF_CHEF
            around = replace(
                around,
                is_node=around.is_node or name == "Node",
                has_superclass=node.child_by_field_name("superclass") is not None,
                is_in_module=around.is_in_module or is_own_module,
                is_own_class=node.type == "class" and around.is_in_module and not above,
            )
        return replace(around, depth=around.depth + 1) if node.type in _DEFINITIONS else around

    def _defined(self, node: Node) -> tuple[str, str]:
        """Returns (module before the name of a definition, name): `class A::B` gives ("A", "B"); "" for none."""
        named = node.child_by_field_name("name")
        above, _, name = self._slice(named).rpartition("::") if named is not None else ("", "", "")
        return above, name

    def _inside(self, node: Node) -> Iterator[Node | None]:
        """The parts of a statement, without the name that it defines or assigns."""
        skipped = node.child_by_field_name("name") if node.type in _DEFINITIONS else None
        left = node.child_by_field_name("left") if node.type in _ASSIGNING else None
        if left is not None and self._is_computed(node.child_by_field_name("right")):
            self._computed.add(self._slice(left))
        is_name = left is not None and node.type == "assignment" and left.type in ("constant", "identifier")
        if left is not None and (is_name or self._slice(left) in _NAMES_OF_NODE):
            skipped = left
            self.code.names.update([self._slice(left)] if left.type == "constant" else [])
        return (child for child in node.named_children if child != skipped)

    def _is_named_node(self, node: Node) -> bool:
        """Whether an expression only gives the node a known name: `@node = x.node`, or the value of a method `node`.

        Also the value of a method that `find_givers` noted. Code that uses such a name is read as code of the node.
        """
        above = node.parent
        left = above.child_by_field_name("left") if above is not None and above.type in _ASSIGNING else None
        is_assigned = left is not None and self._slice(left) in _NAMES_OF_NODE
        body = above.parent if is_assigned and above is not None else above
        if body is None or body.parent is None or body.type != "body_statement" or body.parent.type != "method":
            return is_assigned and body is not None and body.type == "program"
        name = self._defined(body.parent)[1]
        return name in _GIVING_NO_NODE if is_assigned else name == "node" or name in self._givers

    def _visit_all(self, nodes: Iterator[Node | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _mention(self, node: Node) -> None:
        text = self._slice(node).removeprefix(":")
        if _WORD.fullmatch(text):
            self.code.words.add(text)

    def _takes_node(self, scope: Node) -> bool:
        parameters = scope.child_by_field_name("parameters")
        given = parameters.named_children if parameters is not None else ()
        return any(self._slice(one.child_by_field_name("name") or one) == "node" for one in given)

    def _define(self, node: Node) -> None:
        """Note the names that other code uses to reach a definition."""
        _, name = self._defined(node)
        if node.type in _CLASSES:
            resource = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            self.code.names |= {name, resource} if self._around.has_superclass else {name} - _OF_CHEF
        elif self._part == "libraries" and not self._around.has_superclass:
            self.code.names.update(map(self._slice, node.named_children) if node.type == "alias" else [name])
            is_reached = name == "method_missing" and not self._around.is_own_class
            self.code.is_reached |= is_reached or (node.type != "alias" and not _WORD.fullmatch(name))

    # Expressions

    def _place(self, node: Node) -> _Place | None:
        """The part of the node that an expression gives, or None. Reads its arguments and blocks, too."""
        if node.type == "element_reference":
            return self._element(node)
        if node.type == "call":
            return self._call(node)
        word = self._slice(node)
        self._mention(node)
        if word == "binding":
            self._note_hidden(node)
        if word == "@node" or (word == "node" and not self._around.is_shadowed) or word in self._givers:
            return _NODE
        if not self._around.is_node:
            return None
        if word == "self":
            return _NODE
        return _Place(_LEVELS[word]) if word in _LEVELS else None

    def _element(self, node: Node) -> _Place | None:
        holder, *keys = node.named_children
        place = self._receiver(holder)
        self._visit_all(iter(keys))
        word = self._slice(holder).removeprefix("self.")
        if place is None and word in _LEVELS:  # in a method of the node, which a library may define
            place = _Place(_LEVELS[word])
        if place is None or place.levels is None:
            return None
        path = self.leading_keys(keys) if place.is_open else ()
        return _Place(place.levels, (*place.path, *path), place.is_open and len(path) == len(keys) == 1)

    def _receiver(self, node: Node) -> _Place | None:
        """The part of the node that an expression before a `.` or `[` gives, or None."""
        if node.type == "parenthesized_statements" and len(node.named_children) == 1:
            return self._receiver(node.named_children[0])
        if node.type in _EXPRESSIONS:
            return self._place(node)
        self.visit(node)
        return None

    def _call(self, node: Node) -> _Place | None:
        receiver, named = node.child_by_field_name("receiver"), node.child_by_field_name("method")
        listed = node.child_by_field_name("arguments")
        given = [one for one in listed.named_children if one.type != "comment"] if listed is not None else []
        method = self._slice(named) if named is not None else "call"
        partial = self._slice(given[0]).strip("'\"") if method == "use" and given else ""  # 'partial/_name'
        self.code.words |= {method, partial.rpartition("/")[2].removesuffix(".rb")} - {""}
        place = self._receiver(receiver) if receiver is not None else None
        is_own = receiver is None or self._slice(receiver) == "self"
        if is_own and self._around.is_node:
            place = _NODE
        self._visit_all(iter((*given, node.child_by_field_name("block"))))
        if method in _SENDING:
            method, given = "".join(map(str, self.leading_keys(given[:1]))), given[1:]
        if self._is_hidden(node, method, given, is_own, place):
            self._note_hidden(node)
        elif method in (*_NAMES_OF_NODE, *self._givers) and not given:
            return _NODE
        elif place is not None and place.levels is not None:
            self._use(place, node)
        elif not self._take_word(node, method, given, is_own) and (place is _NODE or (is_own and method.endswith("!"))):
            return self._take_method(node, method, given, is_own)
        return None

    def _is_hidden(self, node: Node, method: str, given: list[Node], is_own: bool, place: _Place | None) -> bool:
        """Whether a call may set any attribute: it runs code that the text lacks, or writes to an unknown object.

        method: the name of the method; "" for a computed name
        """
        if method in _WRITING and self._is_computed(node.child_by_field_name("receiver")):
            return True
        if not method:
            is_decision = not given and self._around.is_own_class and self._only_decides(node)
            return place is _NODE or (is_own and not is_decision)
        if method in _EVALUATING:
            receiver = node.child_by_field_name("receiver")
            is_text = bool(given) and not method.endswith("exec")
            is_of_node = receiver is not None and (place is _NODE or self._slice(receiver).endswith("Node"))
            return is_text or (is_of_node and not is_own)
        if method.startswith("def_delegator"):
            return self.leading_keys(given[:1]) in (("node",), ("@node",))
        return method in _HIDING or (method in _HIDING_ALONE and is_own and self._part != "libraries")

    def _is_computed(self, node: Node | None) -> bool:
        """Whether an expression gives an unknown object: `one.send(name)`, or a variable with such a value."""
        if node is not None and self._slice(node) in self._computed:
            return True
        if node is not None and node.type == "parenthesized_statements" and len(node.named_children) == 1:
            return self._is_computed(node.named_children[0])
        named = node.child_by_field_name("method") if node is not None and node.type == "call" else None
        listed = node.child_by_field_name("arguments") if node is not None else None
        if named is None or listed is None or self._slice(named) not in _SENDING:
            return False
        return not self.leading_keys(listed.named_children[:1])

    def _only_decides(self, node: Node) -> bool:
        """Whether the value of an expression is only used as true or false, or compared."""
        above = node.parent
        if above is None or above.child_by_field_name("condition") == node:
            return above is not None
        sign = above.child_by_field_name("operator")
        if sign is not None and above.type in ("binary", "unary"):
            is_first = above.child_by_field_name("left") == node and self._slice(sign) in ("&&", "and")
            return is_first or self._slice(sign) in ("!", "not", "==", "!=") or self._only_decides(above)
        if above.type == "parenthesized_statements":
            return self._only_decides(above)
        asked = above.parent.parent if above.type in ("block_body", "body_statement") and above.parent else None
        named = asked.child_by_field_name("method") if asked is not None else None
        return named is not None and self._slice(named) in _ASKING

    def _take_word(self, node: Node, method: str, given: list[Node], is_own: bool) -> bool:
        """Note what a word of recipes, attribute files or libraries does. Returns False for another call."""
        if method in _INCLUDING:
            self._include(node, given, self.code.recipes)
        elif not is_own:
            return False
        elif method == "include_attribute":
            self._include(node, given, self.code.attribute_files)
        elif method in CHANGING and given:
            self._change(node, method)
        elif method in _DEFINING:
            names = self.leading_keys(given)
            self.code.names.update(map(str, names))
            self.code.is_reached |= not names
        else:
            return False
        return True

    def _take_method(self, node: Node, method: str, given: list[Node], is_own: bool) -> _Place | None:
        """Note what a method of the node writes. Returns the part of the node that it gives; None for none."""
        if method in _ITSELF and not given:
            return _NODE
        if method in _LEVELS:
            if not given:
                return _Place(_LEVELS[method])
            self._use(_Place(_LEVELS[method], self.leading_keys(given[:-1])), node)
        elif method in _REMOVING:
            self._use(_Place(_REMOVING[method], self.leading_keys(given)), node)
        elif method in _BY_LEVEL:
            levels = _LEVELS.get("".join(map(str, self.leading_keys(given[:1]))))
            self._use(_Place(levels, self.leading_keys(given[1 : _BY_LEVEL[method]])), node)
        elif method in _TAGS:
            self._change(node, method)
        elif method in _HANDING and not is_own:
            self._note_hidden(node)
        return None

    def _change(self, node: Node, method: str) -> None:
        level, keys = CHANGING[method]
        for key in keys:
            self._use(_Place((level,), (key,) if key else ()), node)

    def _include(self, node: Node, given: list[Node], into: dict[str, int]) -> None:
        names = self.leading_keys(given)
        into.update((str(name), node.start_point.row + 1) for name in names)
        self._note_reach()
        if len(names) < len(given) or not given:
            self._note_hidden(node)

    def _use(self, place: _Place, node: Node) -> None:
        """Note that an expression may set a place. If the place is the whole node, any attribute may be set."""
        if place.levels is None:
            self._note_hidden(node)
            return
        self._note_reach()
        for level in place.levels:
            self.code.lines.setdefault(level, {}).setdefault(place.path, node.start_point.row + 1)

    def _note_reach(self) -> None:
        self.code.is_reached |= self._around.depth == 0 and self._part == "libraries"

    def leading_keys(self, given: list[Node]) -> Path:
        """The constant texts and symbols at the beginning of a list of expressions, as a path.

        () if the first is not constant.
        """
        found: list[str] = []
        for one in given:
            inside, escaped = one.named_children, "\\" in self._slice(one)
            if one.type == "simple_symbol":
                found.append(self._slice(one)[1:])
            elif one.type == "string" and len(inside) == 1 and inside[0].type == "string_content" and not escaped:
                found.append(self._slice(inside[0]))
            else:
                break
        return tuple(found)
