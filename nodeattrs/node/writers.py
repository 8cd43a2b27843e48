"""Writers: objects for `node.default["apache"]["dir"] = "/etc/apache2"`, with Chef's methods.

A writer is a component and a path. It translates Python's item syntax and Chef's method names into calls of
`ComponentTree`. It is live: it reads and changes the values at its path, until the map or list there, or one above it,
is replaced. From then on it keeps the old content to itself, as in Chef. The merged view is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.origins import Origins, SourcePath
from nodeattrs.core.tree import ABSENT, Path, hint_for, spell, strict_key
from nodeattrs.errors import BadArgument, NodeattrsError, NoSuchAttribute
from nodeattrs.node.component_tree import Change, ComponentTree, Place, step_down, steps_down, value_of
from nodeattrs.node.lists import Elements, in_order
from nodeattrs.node.values import TAKEN, Sensitive, Withheld, key_of, refuse_spelled, steps_in, steps_of, stored


class _Handle:
    """The base of map and list writers: a component and a path, live until the container there is replaced."""

    __slots__ = ("_born", "_known", "_path", "_tree")

    def __init__(self, tree: ComponentTree, path: Path = (), place: Place | None = None) -> None:
        self._tree = tree
        self._path = path
        self._born = tree.ledger.serial
        self._known = tree.root() if place is None else place

    def _place(self) -> Place:
        """The place of this writer now. After its container was replaced, it moves to the old content's own tree."""
        tree = self._tree
        if self._born != tree.ledger.serial:
            found = tree.detached_since(self._path, self._born)
            if found is not None:
                path, container = found
                tree, above = container.own_tree()
                self._tree, self._path = tree, (*above, *self._path[len(path) :])
            self._born = tree.ledger.serial
            self._known = tree.place(self._path)
        return self._known

    def _is_at(self, tree: ComponentTree, path: Path) -> bool:
        """Whether this is a live writer of exactly that place."""
        self._place()
        return self._tree is tree and self._path == path

    def to_plain(self, evaluate: bool = False) -> Any:
        """A plain copy of the content, nothing merged into it. evaluate: True computes deferred values"""
        return self._tree.plain_of(self._place(), evaluate, self._path)

    def __repr__(self) -> str:
        return f"<{self._tree.component.name} {spell(self._path)}: {self.to_plain()!r}>"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Handle):
            other = other.to_plain()
        return bool(self.to_plain() == other)

    def __reduce__(self) -> tuple[Any, ...]:
        data = self.to_plain(evaluate=True)
        return type(data), (data,)

    def _child(self, place: Place, step: Any) -> Any:
        """The value at a step, or at a tuple of steps: a writer for a map or list, a scalar as it is.

        Chef's level step: an absent key of a map becomes an empty map, which is stored.
        raises: NullInTheWay, TypeConflict
        """
        if type(step) is tuple and step:
            return self._writer_or_scalar(*self._tree.step_through(self._path, place, step))
        step = key_of(step, self._path)
        file, recipe = found = step_down(place, step)
        if recipe is ABSENT and file is ABSENT:
            found = self._tree.create_step(self._path, step)
        return self._writer_or_scalar((*self._path, step), found)

    def _writer_or_scalar(self, path: Path, found: Place) -> Any:
        file, recipe = found
        thing = file if recipe is ABSENT else recipe
        if not isinstance(thing, (dict, list)):
            return thing
        made = (Writer if isinstance(thing, dict) else ListWriter)(self._tree, path, found)
        made._born = self._born  # the place was looked up after that: a write of another thread makes it old
        return made

    def _holder(self, steps: tuple[Any, ...]) -> Any:
        """The writer of the map or list that has the last of several steps."""
        path, place = self._tree.step_through(self._path, self._place(), steps[:-1])
        holder = self._writer_or_scalar(path, place)
        if not isinstance(holder, _Handle):
            raise self._tree.step_error(holder, path, steps[-1])
        return holder

    def __setitem__(self, step: Any, value: Any) -> None:
        place = self._place()
        tree, above = self._tree, self._path
        if type(step) is tuple and step:
            above, place = tree.step_through(above, place, step[:-1])
            step = step[-1]
        path = (*above, key_of(step, above))
        if type(value) not in TAKEN:
            if isinstance(value, _Handle) and value._is_at(tree, path):
                return  # `writer[key] += [...]` has worked in place and stores the writer where it came from
            value = stored(value, path)
        tree.store(path, value, parent=place)


class Writer(_Handle):
    """A map of one component, read and changed in place; no other component is read.

    A subscript gives a writer for a map or list, and a scalar as it is. Stepping to an absent key stores an empty map
    there, as Chef does. Several steps may be taken in one subscript: `default["a", "b"] = 1` is `default["a"]["b"] =
    1`. Assigning stores a copy. Once its map was replaced, the writer keeps the old content to itself.

    keys, values, items: new lists of the map's keys and values; `to_dict` is a plain copy of the content
    update, clear:  store each entry; remove all keys. Both return this writer
    get, read:      a copy of a value, None if it is absent; like `exist` and `in`, they create nothing
    write:          stores a value; makes maps on its way, and replaces scalars and lists there
    delete, unlink: remove a value; return a copy of it, or None
    pop:            removes a value and returns a copy. For an absent key it returns the default, or raises
                    NoSuchAttribute (a KeyError) without one
    read_strict, unlink_strict: raise an error for an absent value
    write_strict:   raises an error for a scalar or list in the way
    setdefault:     stores a value if the key is absent; returns what is there then

    >>> from nodeattrs import Node
    >>> node = Node("web1")
    >>> node.default["apache", "ports"] = [80]
    >>> node.default["apache", "ports"] += [443]
    >>> node["apache", "ports", 1], ("apache", "user") in node.default
    (443, False)

    cost: a step or a store takes time with the depth of the path, not with the size of the tree
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return self._child(self._place(), key)

    def __delitem__(self, key: Any) -> None:
        if type(key) is tuple and key[1:]:
            del self._holder(key)[key[-1]]
            return
        (key,) = steps_in(key)
        if value_of(step_down(self._place(), key_of(key, self._path))) is ABSENT:
            raise self._absent((key_of(key, self._path),))
        self.delete(key)

    def __contains__(self, key: object) -> bool:
        return self._has(steps_in(key))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[Any]:
        """The keys as a new list, in order: the attribute file's first, then new ones of the recipe."""
        file, recipe = (part if isinstance(part, dict) else {} for part in self._place())
        return list(dict.fromkeys([*file, *recipe]))

    def items(self) -> list[tuple[Any, Any]]:
        """(key, value) for each key: a writer for a map or list, a scalar as it is."""
        return [(key, self[key]) for key in self.keys()]

    def values(self) -> list[Any]:
        """The values as a list: a writer for a map or list, a scalar as it is."""
        return [self[key] for key in self.keys()]

    def to_dict(self, evaluate: bool = False) -> dict[Any, Any]:
        """A plain copy of this component's content, nothing merged into it. evaluate: True computes deferred values"""
        plain: dict[Any, Any] = self.to_plain(evaluate)
        return plain

    def get(self, key: Any, default: Any = None) -> Any:
        """A plain copy of the value of *key* in this component; *default* where it is absent. Creates nothing.

        Deferred values stay deferred, as in a step.
        raises: ValueWithheld, for a secret that a document left out
        """
        value = self._at((key,))
        return default if value is ABSENT else value

    def delete(self, key: Any) -> Any:
        """Remove *key*, and return a plain copy of its value; None where it is absent.

        A recipe removes it from the attribute file's values, too.
        """
        self._place()
        return self._tree.delete((*self._path, key_of(key, self._path)))

    def pop(self, key: Any, default: Any = ABSENT, /) -> Any:
        """Remove *key*, and return a plain copy of its value. If it is absent, return *default*, None included.

        raises: NoSuchAttribute (a KeyError), if it is absent and no *default* is given
        """
        step = key_of(key, self._path)
        if value_of(step_down(self._place(), step)) is not ABSENT:
            return self.delete(step)
        if default is ABSENT:
            raise self._absent((step,))
        return default

    def update(self, *entries: Any, **more: Any) -> Writer:
        """Store each entry, replacing the old value of its key; returns this writer. No arguments: nothing changes.

        entries: one map, or one iterable of (key, value) pairs, as `dict` takes them
        more:    keywords are entries, too
        raises:  BadArgument, for any other argument, and for two; nothing is stored then
        """
        try:
            given = dict(*entries, **more)
        except NodeattrsError:
            raise
        except (TypeError, ValueError) as error:
            what = f"a map is updated with one map, or with (key, value) pairs: {error}"
            raise BadArgument(what, hint='update({"port": 80})') from error
        for key, value in given.items():
            place = self._place()  # first, since it may change the path
            path = (*self._path, key_of(key, self._path))
            self._tree.store(path, stored(value, path), parent=place, depth=len(self._path))
        return self

    def clear(self) -> Writer:
        """Remove all keys; returns this writer."""
        for key in self.keys():
            self.delete(key)
        return self

    def setdefault(self, key: Any, value: Any = None) -> Any:
        """Store *value* if the key is absent in this component; return what is there then: a writer for a map or list.

        A key with null is not absent. If the key has a value, the history notes *value* as not set.
        """
        if key not in self:
            self[key] = value
        else:
            path = (*self._path, key_of(key, self._path))
            self._tree.note_silent(path, stored(value, path))
        return self[key]

    # Chef's path methods. They count from here.

    def read(self, *path: Any) -> Any:
        """A plain copy of the value at *path* in this component; None if it is absent. Creates nothing.

        Deferred values are not computed: a level gives the stored value, as Chef's does.
        raises: ValueWithheld, for a secret that a document left out; BadArgument, for `read("a.b")`, if there is no key
                "a.b", but a value at "a", "b"
        """
        value = self._at(path)
        if value is not ABSENT:
            return value
        refuse_spelled(path, self._has)
        return None

    def read_strict(self, *path: Any) -> Any:
        """A plain copy of the value at *path* in this component (Ruby's `read!`). Deferred values are not computed.

        raises: NoSuchAttribute, if it is absent; ValueWithheld, for a secret that a document left out
        """
        value = self._at(path)
        if value is ABSENT:
            raise self._absent(steps_of(path))
        return value

    def exist(self, *path: Any) -> bool:
        """Whether this component has a value at *path*, null included (Ruby's `exist?`). Creates nothing.

        raises: BadArgument, for `exist("a.b")`, if there is no key "a.b", but a value at "a", "b"
        """
        found = self._has(path)
        if not found:
            refuse_spelled(path, self._has)
        return found

    def _has(self, path: Path) -> bool:
        return value_of(self._place_below(path)) is not ABSENT

    def write(self, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it, and return it. Scalars and lists in the way become maps.

        raises: BadArgument, without a path
        """
        return self._write(path_and_value)

    def write_strict(self, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it, and return it (Ruby's `write!`).

        raises: BadArgument, without a path; TypeConflict, where a scalar or list is in the way
        """
        return self._write(path_and_value, strict=True)

    def unlink(self, *path: Any) -> Any:
        """Remove the value at *path*, and return a plain copy; None where it is absent.

        Where the parent is a list, all elements that equal the last step are removed, as in Chef.
        raises: BadArgument, without a path, or where *path* is one text with dots that spells another path
        """
        refuse_spelled(path, self._has)
        self._place()
        return self._tree.unlink((*self._path, *steps_of(path, self._path)))

    def unlink_strict(self, *path: Any) -> Any:
        """Remove the value at *path*, and return a plain copy (Ruby's `unlink!`).

        raises: NoSuchAttribute, where it is absent
        """
        if not self.exist(*path):
            raise self._absent(steps_of(path))
        return self.unlink(*path)

    def _place_below(self, path: Iterable[Any]) -> Place:
        return steps_down(self._place(), steps_of(path, self._path))

    def _at(self, path: Iterable[Any]) -> Any:
        value = self._tree.plain_of(self._place_below(path), path=self._path)
        return value.read((*self._path, *path)) if type(value) is Withheld else value

    def _write(self, path_and_value: tuple[Any, ...], full: bool = False, strict: bool = False) -> Any:
        if len(path_and_value) < 2:
            raise BadArgument("write needs a path and a value", hint="write('apache', 'port', 80)")
        self._place()
        path = (*self._path, *steps_of(path_and_value[:-1], self._path))
        self._tree.write(path, stored(path_and_value[-1], path), full, strict)
        return path_and_value[-1]

    def _absent(self, steps: Path) -> NoSuchAttribute:
        path = (*self._path, *steps)
        known = self.keys() if len(steps) == 1 else ()
        return NoSuchAttribute(
            f"no attribute {spell(path)} in {self._tree.component.name}",
            path=path,
            hint=hint_for(steps[-1], known) if steps else None,
        )


class WholeComponentWriter(Writer):
    """The writer of a whole component that stays live when the component is replaced: a word of attribute files.

    Other writers keep the old content then.
    """

    __slots__ = ()

    def _place(self) -> Place:
        return self._tree.root()


class ListWriter(_Handle):
    """A list of one component, read and changed in place, with Ruby's and Python's methods.

    An index gives a writer for a map or list, and a scalar as it is; a slice gives a plain list. Each change stores a
    new list in the slot of the current setter. All methods that are not named here return this writer. Once its list
    was replaced, the writer keeps the old content to itself.

    pop, shift, delete_at: remove one element, and return it; None for an index out of range
    delete:  removes all equal elements; returns the value, or None if there was none
    uniq:    removes duplicates; returns None if there were none
    to_list: a plain copy of the list

    cost: each change copies the list
    """

    __slots__ = ()

    def _list(self) -> list[Any]:
        values: list[Any] = value_of(self._place())
        return values

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.to_list()[index]
        return self._child(self._place(), index)

    def __delitem__(self, index: Any) -> None:
        if type(index) is tuple and index[1:]:
            del self._holder(index)[index[-1]]
            return
        (index,) = steps_in(index)
        self._list()[index]
        self.delete_at(index)

    def __len__(self) -> int:
        return len(self._list())

    def __iter__(self) -> Iterator[Any]:
        return iter([self[index] for index in range(len(self))])

    def __contains__(self, value: object) -> bool:
        return value in self.to_list()

    def to_list(self, evaluate: bool = False) -> list[Any]:
        """A plain copy of the list. evaluate: True computes deferred values"""
        plain: list[Any] = self.to_plain(evaluate)
        return plain

    def _change(self, change: Change, replaces: bool = False) -> Any:
        self._list()
        return self._tree.change_list(self._path, change, replaces)

    def _stored(self, values: Iterable[Any]) -> list[Any]:
        return [stored(value, self._path) for value in values]

    def _new_origins(self, mark: int, count: int, listed: bool) -> list[Origins]:
        """The origins of new elements. listed: whether they came as one list, so that each has a line of its own"""
        path = self._path
        return [SourcePath(mark, (*path, index) if listed else path) for index in range(count)]

    def append(self, value: Any) -> ListWriter:
        """Add one element at the end; returns this writer."""
        return self.push(value)

    def push(self, *values: Any) -> ListWriter:
        """Add elements at the end; returns this writer."""
        return self._add(None, values)

    @checked_args(values=ListLike)
    def concat(self, values: Iterable[Any]) -> ListWriter:
        """Add the elements of a list at the end; returns this writer."""
        return self._add(None, values, listed=True)

    extend = concat

    @checked_args(values=ListLike)
    def __iadd__(self, values: Iterable[Any]) -> ListWriter:
        return self._add(None, values, listed=True)

    def unshift(self, *values: Any) -> ListWriter:
        """Add elements at the front; returns this writer."""
        return self._add(0, values)

    @checked_args(index=int)
    def insert(self, index: int, *values: Any) -> ListWriter:
        """Add elements before *index*, in their order; returns this writer.

        -1 is the end, as in Ruby; for an index beyond the end, nulls are added first.
        raises: BadArgument, for an index before the start
        """
        return self._add(index, values)

    def _add(self, index: int | None, values: Iterable[Any], listed: bool = False) -> ListWriter:
        new = self._stored(values)

        def change(own: Elements, mark: int) -> None:
            length = len(own.values)
            at = length if index is None else index
            if at < 0:
                at += length + 1
            if at < 0:
                raise BadArgument(f"index {index} lies before the start of a list of {length}", path=self._path)
            own.extend_to(at, mark)
            own.insert(at, new, self._new_origins(mark, len(new), listed))

        self._change(change)
        return self

    @checked_args(values=ListLike)
    def replace(self, values: Iterable[Any]) -> ListWriter:
        """Make *values* the whole content of the list; returns this writer.

        EarlierValue setters are no longer named for it.
        """
        new = self._stored(values)

        def change(own: Elements, mark: int) -> None:
            own.values, own.origins = new, self._new_origins(mark, len(new), listed=True)

        self._change(change, replaces=True)
        return self

    def sort(self) -> ListWriter:
        """Sort in place: numbers by size, text by code point, lists by their first elements that differ. Returns this
        writer.

        raises: BadArgument, for two elements without a common order, such as null and a number; nothing changes then
        """

        def change(own: Elements, mark: int) -> None:
            own.keep(sorted(range(len(own.values)), key=lambda at: in_order(own.values[at])))

        self._change(change)
        return self

    def reverse(self) -> ListWriter:
        """Reverse the order in place; returns this writer."""
        self._change(lambda own, mark: own.keep(range(len(own.values) - 1, -1, -1)))
        return self

    def clear(self) -> ListWriter:
        """Remove all elements; returns this writer."""
        return self.replace(())

    def pop(self, index: int = -1) -> Any:
        """Remove the element at *index*, the last one by default, and return it; None for an index out of range."""
        return self.delete_at(index)

    def shift(self) -> Any:
        """Remove the first element, and return it; None for an empty list."""
        return self.delete_at(0)

    @checked_args(index=int)
    def delete_at(self, index: int) -> Any:
        """Remove the element at *index*, and return it; None for an index out of range."""
        if not -len(self) <= index < len(self):
            return None
        return self._change(lambda own, mark: own.pop(index))

    def delete(self, value: Any) -> Any:
        """Remove all elements that equal *value*, types included; returns *value*, or None where no element did."""
        wanted = stored(value, self._path)
        return self._change(lambda own, mark: own.remove(wanted))

    def uniq(self) -> ListWriter | None:
        """Remove later duplicates in place; 1 and "1" differ. Returns this writer, or None if there were no
        duplicates, as in Ruby.

        A new list is stored in both cases.
        """

        def change(own: Elements, mark: int) -> bool:
            first: dict[Any, int] = {}
            for at, value in enumerate(own.values):
                first.setdefault(strict_key(value), at)
            changed = len(first) < len(own.values)
            own.keep(first.values())
            return changed

        return self if self._change(change) else None


Sequence.register(ListWriter)


# --- by a whole path ----------------------------------------------------------------


class _PathWriter:
    """The base of unless and full writers: a component and a path that grows with each subscript, until a value
    comes.
    """

    __slots__ = ("_before", "_path", "_tree")
    _called: ClassVar[str]
    _example: ClassVar[str]

    def __init__(self, tree: ComponentTree, path: Path = (), before: Callable[[Path], Any] | None = None) -> None:
        self._tree = tree
        self._path = path
        self._before = before

    def __getitem__(self, step: Any) -> Self:
        return type(self)(self._tree, (*self._path, *steps_of(steps_in(step), self._path)), self._before)

    def __setitem__(self, step: Any, value: Any) -> None:
        self(*steps_in(step), value)

    def __call__(self, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it, and return it; None where it was not stored.

        raises: BadArgument, without a path
        """
        if len(path_and_value) < 2:
            raise BadArgument(f"{self._called} needs a path and a value", hint=f"{self._example}('apache', 'port', 80)")
        path = (*self._path, *steps_of(path_and_value[:-1], self._path))
        return path_and_value[-1] if self._store(path, stored(path_and_value[-1], path)) else None

    def _store(self, path: Path, value: Any) -> bool:
        """Store a value, or decide not to; returns whether it was stored."""
        raise NotImplementedError


class UnlessWriter(_PathWriter):
    """`node.default_unless["a"]["b"] = 1` stores a value only where this component has none at the path.

    Null counts as no value; values of other components do not count. A value that is there stays, and the history notes
    the new one as not set. Also callable: `node.default_unless("a", "b", 1)` returns the value it stored, or None where
    it stored nothing. A subscript creates nothing; a store makes the maps on the way.
    raises: BadArgument, without a path
    source: Chef's `default_unless`
    """

    __slots__ = ()
    _called, _example = "an unless", "default_unless"

    def _store(self, path: Path, value: Any) -> bool:
        if not _is_none(value_of(self._tree.place(path))):
            self._tree.note_silent(path, value)
            return False
        self._tree.write(path, value)
        return True


def _is_none(value: Any) -> bool:
    """Whether a value counts as none: ABSENT, null, a secret that is null, or a secret that was not stored.

    A deferred value counts as a value: it is not computed, as in Chef.
    """
    return value is ABSENT or value is None or isinstance(value, Withheld) or value == Sensitive(None)


class FullWriter(_PathWriter):
    """`node.default_full["a"]["b"] = 1` is the full assignment, Ruby's `default!`: it always stores.

    Scalars and lists in the way are replaced by maps. Also callable: `node.default_full("a", "b", 1)` stores the last
    argument and returns it. A subscript creates nothing.

    before: called with the path before the store; None: nothing is called. In `force_default_full` and
            `force_override_full` this function removes the path from all components of the level
    raises: BadArgument, without a path
    """

    __slots__ = ()
    _called, _example = "a full assignment", "default_full"

    def _store(self, path: Path, value: Any) -> bool:
        if self._before is not None:
            self._before(path)
        self._tree.write(path, value, full=True)
        return True
