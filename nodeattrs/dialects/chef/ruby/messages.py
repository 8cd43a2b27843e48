"""The messages of a Ruby file to its node: the parts of each message, and the method that carries it out.

A message is a word, its parts, a file and a line. The tables `COMMANDS` and `QUESTIONS` have a `MessageKind` for each
word. The Ruby process is not trusted. `session.RubySession` checks each message, and ends the process at the first
message that is not in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, MAX_DEPTH, Path, dig
from nodeattrs.dialects.chef.ruby.places import RubyPlace
from nodeattrs.dialects.chef.ruby.seen import DeclaredResource, RecipeNotes
from nodeattrs.dialects.chef.ruby.values import RubyValues
from nodeattrs.errors import BadArgument
from nodeattrs.node.node import Node
from nodeattrs.node.setters import ATTRIBUTE_FILE
from nodeattrs.node.slots import COMPONENTS
from nodeattrs.node.writers import ListWriter, Writer

Refuse = Callable[[str], NoReturn]
"""Ends the Ruby process with a reason. raises: RecipeFailed"""

_COMPONENTS = tuple(one.name for one in COMPONENTS)
_MOST_SHOWN = 80
"""The most characters of a call that is not done here, in a message."""
_LIST_METHODS = ("push", "concat", "unshift", "insert", "delete", "delete_at", "clear", "pop", "shift", "replace")


@dataclass(frozen=True)
class RunServices:
    """The functions and data of a run that files in Ruby may use. Only `include` has no default.

    include:   loads an attribute file: (name, including cookbook, function that returns the line)
    words:     the functions `data_bag`, `data_bag_item`, `data_bags` and `search`, by name. A file that calls a missing
        one gets BadArgument
    log:       called with a message, its level and its line
    warn:      called with a warning and its line
    recipe:    runs a recipe: (name, including cookbook, function that returns the line); returns whether it ran now
    cookbooks: name -> version of the cookbooks in use
    run_list:  the run-list of this run; an option may have replaced the node's own
    seen:      keeps the resources of recipes and the code that does not run; by default nothing is kept
    """

    include: Callable[[str, str, Callable[[], Origin]], None]
    words: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    log: Callable[[str, str, Origin], None] = lambda *_: None
    warn: Callable[[str, Origin], None] = lambda *_: None
    recipe: Callable[[str, str, Callable[[], Origin]], bool] = lambda *_: False
    cookbooks: Mapping[str, str] = field(default_factory=dict)
    run_list: Sequence[str] = ()
    seen: RecipeNotes = field(default_factory=RecipeNotes)

    def _word(self, name: str) -> Callable[..., Any]:
        """The function of a word. raises: BadArgument, where this run does not have it"""
        if name not in self.words:
            raise BadArgument(f"{name} is not known in this run")
        return self.words[name]


class RunningFile(NamedTuple):
    """The Ruby file that runs at the moment, with its names for origins and messages.

    name:     of the file in origins, "app::default"
    shown:    the file in messages, relative to the repository
    cookbook: the name of its cookbook
    kind:     what an origin calls the file: "attribute file" or "recipe"
    """

    name: str
    shown: str
    cookbook: str
    kind: str = ATTRIBUTE_FILE


class NodeMessages:
    """Carries out the messages of one Ruby process on one node: a method for each kind of message, and one helper.

    Each method is called with the place (the line in Ruby) and the checked parts of a message. Methods in `COMMANDS`
    change the node, or give something to `services`; Ruby gets no answer. Methods in `QUESTIONS` return the answer,
    packed for Ruby; the answer for an attribute that is not set is null. Before each call, the caller makes the place
    the origin of what is set. Errors of the node are not caught.

    node:     is read and changed
    services: the functions of the run
    values:   converts values between the node and Ruby
    current:  a function that returns the file that runs now
    refuse:   called with a reason if the parts of a message do not fit this node; ends the process and raises
        RecipeFailed
    """

    def __init__(
        self,
        node: Node,
        services: RunServices,
        values: RubyValues,
        current: Callable[[], RunningFile],
        refuse: Refuse,
    ) -> None:
        self._node = node
        self._services = services
        self._values = values
        self._current = current
        self._refuse = refuse

    # Commands: Ruby does not wait for them

    def set(self, place: RubyPlace, level: str, path: Path, value: Any) -> None:
        """Set a value at a path of a level."""
        self._node.write(level, *path, value)

    def set_full(self, place: RubyPlace, level: str, path: Path, value: Any) -> None:
        """Replace the value at a path of a level, without a merge: `default_full`, `force_override!` and the like."""
        getattr(self._node, f"{level}_full")(*path, value)

    def set_unless(self, place: RubyPlace, level: str, path: Path, value: Any) -> None:
        """Set a value where the level has none at that path."""
        getattr(self._node, f"{level}_unless")(*path, value)

    def replace(self, place: RubyPlace, level: str, value: Any) -> None:
        """Replace the whole tree of a level."""
        setattr(self._node, level, value)

    def step(self, place: RubyPlace, level: str, path: Sequence[Any]) -> Any:
        """Returns what a level has at a path: a writer of the map or list, or a scalar. Missing maps are made.

        No message: `update` and `change_list` call it. A path that leads through a scalar ends the process.
        """
        writer = getattr(self._node, level)
        for step in path:
            try:
                writer = writer[step]
            except TypeError:
                self._refuse(f"it goes below a {type(writer).__name__} of {level}")
        return writer

    def update(self, place: RubyPlace, level: str, path: Sequence[Any], value: Any) -> None:
        """Add the keys of *value* to the map at a path of a level. Missing maps are made.

        The process is ended if the path has another value, or *value* is not a map.
        """
        writer = self.step(place, level, path)
        if not isinstance(writer, Writer) or not isinstance(value, dict):
            self._refuse("there is no map to update")
        writer.update(value)

    def delete(self, place: RubyPlace, level: str, path: Sequence[Any]) -> None:
        """Remove a path from a level; a path that is not set does nothing."""
        self._node.unlink(level, *path)

    def change_list(self, place: RubyPlace, level: str, path: Sequence[Any], method: str, arguments: Any) -> None:
        """Change the list at a path of a level by one of the methods of `ListWriter`.

        The process is ended for another value, another method, and wrong arguments.
        method:    the name of the method
        arguments: the list of its arguments
        """
        writer = self.step(place, level, path)
        if not isinstance(writer, ListWriter) or method not in _LIST_METHODS or not isinstance(arguments, list):
            self._refuse(f"there is no list to {method[:40]}")
        try:
            getattr(writer, method)(*arguments)
        except TypeError:
            self._refuse(f"it says {method} of a list in another shape")

    def log(self, place: RubyPlace, level: str, message: str) -> None:
        """Log a message with the place of its line; known secrets in it are withheld."""
        self._services.log(self._values.without_secrets(message), level, place.at(()))

    def warn_of_text(self, place: RubyPlace, ruby_class: str) -> None:
        """Warn that an object that is no attribute value was kept as its text."""
        self._services.warn(f"a {ruby_class} of Ruby is kept as the text of it", place.at(()))

    def declare(self, place: RubyPlace, number: int | str, kind: str, title: str, properties: Any) -> None:
        """Keep a declared resource, or the changed properties of the resource of that number.

        Known secrets in its title are withheld, since a title is printed and stored.
        """
        if not isinstance(properties, dict):
            self._refuse(f"the properties of {kind[:40]} have another shape")
        shown = self._values.without_secrets(title)
        self._services.seen.add_resource(number, DeclaredResource(kind, shown, properties, place.origin))

    def forget_resource(self, place: RubyPlace, number: int | str) -> None:
        """Forget a resource that the recipe deleted."""
        self._services.seen.remove_resource(number)

    def note_later_block(self, place: RubyPlace) -> None:
        """Note a block that runs when resources converge."""
        self._services.seen.add_later_block(place.origin)

    def note_undefined(self, place: RubyPlace, kind: str) -> None:
        """Note a resource of a type that no cookbook defines."""
        self._services.seen.add_undefined_resource(kind, place.at(()))

    def note_hidden(self, place: RubyPlace, reason: str) -> None:
        """Note a line after which any attribute may be set."""
        self._services.seen.add_hidden_place(reason, place.at(()))

    def note_refused(self, place: RubyPlace, call: str) -> None:
        """Note a line that calls what is not done here; any attribute may be set after it."""
        shown = self._values.without_secrets(call)[:_MOST_SHOWN]
        self.note_hidden(place, f"it asks for {shown}; that is not done here")

    # Questions: Ruby waits for the answer

    def get(self, place: RubyPlace, key: int | str) -> Any:
        """The merged value of a key; null where it is not set."""
        return self._values.pack(self._node.merged(key), (key,))

    def has(self, place: RubyPlace, key: int | str) -> bool:
        """Whether the node has a key at any level."""
        return self._node.has_attribute(key)

    def level(self, place: RubyPlace, level: str) -> Any:
        """The whole tree of one level."""
        return self._values.pack(getattr(self._node, level).to_dict(), (level,))

    def node_value(self, place: RubyPlace, method: str, path: Path) -> Any:
        """The value at a path by a method of the node that reads; null where it is not set."""
        return self._values.pack(getattr(self._node, method)(*path), tuple(path))

    def remove(self, place: RubyPlace, method: str, path: Path) -> Any:
        """Remove a path by a method of the node (`rm`, `rm_default`, ...); returns the value that it had."""
        return self._values.pack(getattr(self._node, method)(*path))

    def include(self, place: RubyPlace, name: str) -> None:
        """Load an attribute file, unless it is loaded."""
        self._services.include(name, self._current().cookbook, lambda: place.at(()))

    def recipe(self, place: RubyPlace, name: str) -> bool:
        """Run a recipe, unless it has run; returns whether it ran now."""
        return self._services.recipe(name, self._current().cookbook, lambda: place.at(()))

    def is_harmless(self, place: RubyPlace, kind: str) -> bool:
        """Whether the actions of a resource can set no attribute."""
        return self._services.seen.is_harmless(kind, place.origin if place.origin.line else None)

    def data_from_bags(self, place: RubyPlace, word: str, *names: str) -> Any:
        """The result of a function of the run: `data_bags()`, `data_bag(bag)` or `data_bag_item(bag, item)`."""
        return self._values.pack(self._services._word(word)(*names))

    def search(self, place: RubyPlace, index: str, query: str, selection: Any) -> Any:
        """The nodes or items that a search finds, as a list, packed for Ruby.

        index:     "node", or the name of a data bag of the repository
        selection: title -> path. Each result is then a map: title -> the value at the path, or null. None: whole nodes
                   or items
        raises: NotFound, for another index, and for "node" without a store; BadArgument, for a bad query
        """
        found = self._services._word("search")(index, query)
        if selection is not None:
            found = [{title: _dug(one, path) for title, path in selection.items()} for one in found]
        return self._values.pack(found)


def _dug(tree: Any, path: Path) -> Any:
    found = dig(tree, tuple(path))
    return None if found is ABSENT else found


# The parts of messages


def _is_component(given: Any) -> bool:
    return given in _COMPONENTS


def _is_level(given: Any) -> bool:
    return given in ("default", "normal", "override")


def _is_forced_level(given: Any) -> bool:
    return given in ("force_default", "force_override")


def _is_path(given: Any) -> bool:
    return type(given) is list and len(given) <= MAX_DEPTH and {str, int}.issuperset(map(type, given))


def _is_path_with_steps(given: Any) -> bool:
    return _is_path(given) and bool(given)


def _is_key(given: Any) -> bool:
    return type(given) in (str, int)


def _is_text(given: Any) -> bool:
    return type(given) is str


def _is_selection(given: Any) -> bool:
    return given is None or (type(given) is dict and all(_is_path(path) for path in given.values()))


def _is_value(given: Any) -> bool:
    """Anything: the conversion refuses what no attribute can hold."""
    return True


class MessageKind(NamedTuple):
    """The shape of a message that Ruby may send, and the method for it. `fits` checks a message, `values` converts it.

    carry_out: the method of `NodeMessages`, called with the object, the place and the converted parts
    parts:     for each part a function that says whether the part is valid. `values` converts the parts that may be any
               attribute value
    """

    carry_out: Callable[..., Any]
    parts: tuple[Callable[[Any], bool], ...] = ()

    def fits(self, given: Sequence[Any]) -> bool:
        """Whether there is the right number of parts, and each passes its check.

        given: the parts, then a file and a line; each of these two may be None
        """
        if len(given) != len(self.parts) + 2:
            return False
        *parts, file, line = given
        is_placed = type(file) in (str, type(None)) and type(line) in (int, type(None))
        return is_placed and all(is_right(part) for is_right, part in zip(self.parts, parts, strict=True))

    def values(self, given: Sequence[Any], unpack: Callable[[Any], Any]) -> list[Any]:
        """The parts of a message that fits, without file and line; attribute values are converted by *unpack*.

        raises: BadValue, TooDeep
        """
        return [
            unpack(part) if check is _is_value else part for check, part in zip(self.parts, given[:-2], strict=True)
        ]


_MERGED = ("merged", "combined_default", "combined_override")
_REMOVING = ("rm", "rm_default", "rm_normal", "rm_override")


def _node_message(word: str, carry_out: Callable[..., Any]) -> Callable[..., Any]:
    """A function for a MessageKind: calls a method of NodeMessages with *word* before the parts of the message."""
    return lambda messages, place, *parts: carry_out(messages, place, word, *parts)


COMMANDS: dict[str, MessageKind] = {
    "set": MessageKind(NodeMessages.set, (_is_component, _is_path_with_steps, _is_value)),
    "full": MessageKind(NodeMessages.set_full, (_is_level, _is_path_with_steps, _is_value)),
    "unless": MessageKind(NodeMessages.set_unless, (_is_level, _is_path_with_steps, _is_value)),
    "replace": MessageKind(NodeMessages.replace, (_is_component, _is_value)),
    "step": MessageKind(NodeMessages.step, (_is_component, _is_path_with_steps)),
    "update": MessageKind(NodeMessages.update, (_is_component, _is_path, _is_value)),
    "delete": MessageKind(NodeMessages.delete, (_is_component, _is_path_with_steps)),
    "list": MessageKind(NodeMessages.change_list, (_is_component, _is_path_with_steps, _is_text, _is_value)),
    "log": MessageKind(NodeMessages.log, (_is_text, _is_text)),
    "odd": MessageKind(NodeMessages.warn_of_text, (_is_text,)),
    "resource": MessageKind(NodeMessages.declare, (_is_key, _is_text, _is_text, _is_value)),
    "gone": MessageKind(NodeMessages.forget_resource, (_is_key,)),
    "later": MessageKind(NodeMessages.note_later_block),
    "undefined": MessageKind(NodeMessages.note_undefined, (_is_text,)),
    "hides": MessageKind(NodeMessages.note_hidden, (_is_text,)),
    "refused": MessageKind(NodeMessages.note_refused, (_is_text,)),
}
"""Word -> the kind of a message that Ruby sends without waiting."""

QUESTIONS: dict[str, MessageKind] = {
    "get": MessageKind(NodeMessages.get, (_is_key,)),
    "has": MessageKind(NodeMessages.has, (_is_key,)),
    "level": MessageKind(NodeMessages.level, (_is_component,)),
    "read": MessageKind(_node_message("read", NodeMessages.node_value), (_is_path_with_steps,)),
    **{name: MessageKind(_node_message(name, NodeMessages.node_value), (_is_path,)) for name in _MERGED},
    **{name: MessageKind(_node_message(name, NodeMessages.remove), (_is_path_with_steps,)) for name in _REMOVING},
    "force": MessageKind(NodeMessages.set_full, (_is_forced_level, _is_path_with_steps, _is_value)),
    "include": MessageKind(NodeMessages.include, (_is_text,)),
    "recipe": MessageKind(NodeMessages.recipe, (_is_text,)),
    "harmless": MessageKind(NodeMessages.is_harmless, (_is_text,)),
    "data_bags": MessageKind(_node_message("data_bags", NodeMessages.data_from_bags)),
    "data_bag": MessageKind(_node_message("data_bag", NodeMessages.data_from_bags), (_is_text,)),
    "data_bag_item": MessageKind(_node_message("data_bag_item", NodeMessages.data_from_bags), (_is_text, _is_text)),
    "search": MessageKind(NodeMessages.search, (_is_text, _is_text, _is_selection)),
}
"""Word -> the kind of a message whose answer Ruby waits for."""
