"""Values that a run brings into a node: saved attributes, JSON attributes, facts, environment and roles.

Each is merged over the content of one slot by Chef's deep merge: maps merge, lists unite, anything else is replaced. A
replaced value goes into the history, so that a trace also names a role that lost to another role. A run gives plain
data and locators; files and run-lists are not read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import merged_places
from nodeattrs.core.looks import quietly
from nodeattrs.core.origins import Origins, SourcePath
from nodeattrs.core.part import Join, Part, unite
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import AmbiguousRunList, BadArgument
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.component_tree import ComponentTree, joined_place, value_of
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import (
    ChangedListOrigins,
    OwnedMap,
    element_origins,
    last_mark,
    renumbered_marks,
    set_by_at,
    setters_in_element,
)
from nodeattrs.node.restoring import SavedLocator, restore_ledger
from nodeattrs.node.running import SetterBlock
from nodeattrs.node.setters import RUN, Mark, Setter
from nodeattrs.node.slots import DEFAULT_ENVIRONMENT, DEFAULT_GROUP, SLOTS, component
from nodeattrs.node.snapshots import snapshot_ledger
from nodeattrs.node.values import stored

JSON, FACTS, ROLES, RUN_ITSELF = Origin("JSON attributes"), Origin("facts"), Origin("role"), Origin(RUN)
_RUN = Setter(RUN, "", RUN_ITSELF)


class EnvironmentLike(Protocol):
    """An environment: its `name`, and the trees that it sets: `default_attributes` and `override_attributes`.

    It may also have `default_locator` and `override_locator`, which give the place of each value. Without them the
    origin of each value has the environment's name and no place.
    """

    @property
    def name(self) -> str: ...
    @property
    def default_attributes(self) -> Mapping[Any, Any]: ...
    @property
    def override_attributes(self) -> Mapping[Any, Any]: ...


class Intake:
    """Fills the slots of one node at the start of a run.

    A run calls `keep_saved`, `merge_normal`, `merge_json` and `merge_facts` in this order, then `set_environment` and
    `set_roles`. A method for which the run has no values is not called. Data is copied, with the origins that a locator
    gives. `keep_saved`, `set_environment`, `set_roles` and, by default, `merge_facts` replace the content of their
    slots; the other methods add to the content. `merge_facts` raises BadArgument for facts without `platform`.
    `empty_levels` empties default and override first. `ensure_tags` makes normal `tags` a list, as `merge_json` does.
    `set_automatic` sets facts that the run itself knows, and `merge_automatic` deep merges facts.
    source: docs/merging.md, "A run"
    """

    def __init__(self, node: Attributes) -> None:
        self._node = node
        self._ledger = node._ledger
        self._trees = node._trees

    # Environment and roles

    def empty_levels(self) -> None:
        """Empty the components default and override, without history, as at the start of a run."""
        for name in ("default", "override"):
            self._trees[name].empty()

    def set_environment(self, environment: EnvironmentLike | None) -> None:
        """Replace the content of the environment's slots (3 and 12) by the attributes of an environment.

        None, and the environment "_default", leave both slots empty.
        """
        silent = environment is None or environment.name == DEFAULT_ENVIRONMENT
        for level in ("default", "override"):
            given = {} if silent else getattr(environment, f"{level}_attributes")
            named = Origin("environment", getattr(environment, "name", ""))
            replace_slot(self._trees[f"env_{level}"], given, getattr(environment, f"{level}_locator", named))

    def set_roles(
        self,
        defaults: Iterable[tuple[Mapping[Any, Any], Locator]],
        overrides: Iterable[tuple[Mapping[Any, Any], Locator]],
    ) -> None:
        """Replace the content of the roles' slots (4 and 11) by attributes of roles, each role deep merged over the
        roles before.

        defaults, overrides: (tree, locator) of each role, the weakest first; [] leaves the slot empty
        """
        for name, layers in (("role_default", defaults), ("role_override", overrides)):
            replace_slot(self._trees[name], {}, ROLES)
            for tree, locator in layers:
                _lay_over(self._trees[name], tree, locator)

    # Normal attributes

    def keep_saved(self, node: Attributes) -> None:
        """Set the saved normal attributes (slot 7) to a copy of the normal attributes of *node*, as an earlier run left
        them; what its recipes have set is included.

        Their origins are marked as saved. Values that the node's own document had set are left out,
        since `merge_normal` merges them again in each run. *node* is not changed.
        """
        with node._ledger.lock:
            other = _as_saved(node._ledger)
        _moved_down(ComponentTree(other, component("normal")))
        _take_over(self._trees["normal"], other)

    def merge_normal(self, attributes: Mapping[Any, Any], locator: Locator) -> None:
        """Deep merge the normal attributes of the node's own document over the saved ones in slot 7.

        Lists unite with the document's elements first, so a list to which recipes add has the same order in each run.
        """
        _lay_over(self._trees["normal"], attributes, locator, _upper_first)

    def merge_json(self, attributes: Mapping[Any, Any], locator: Locator = JSON) -> None:
        """Deep merge JSON attributes over the saved normal ones in slot 7, then make normal `tags` a list.

        First the recipes' values in normal (slot 8) are moved to slot 7.
        attributes: without node fields such as run_list, which `split_node_fields` takes out; {} merges nothing
        """
        _moved_down(self._trees["normal"])
        if attributes:
            _lay_over(self._trees["normal"], attributes, locator)
        self.ensure_tags()

    def ensure_tags(self) -> None:
        """Make normal `tags` a list, with the run as its setter: [] where it is absent or null, [tag] for a scalar."""
        if not isinstance(_tags(self._node), list):
            with SetterBlock(self._node, _RUN):
                ensured_tags(self._node)

    # Automatic attributes

    def merge_facts(
        self,
        facts: Mapping[Any, Any],
        locator: Locator = FACTS,
        *,
        guid: str | None = None,
        settled: bool = False,
        replace: bool = True,
    ) -> None:
        """Make facts the automatic attributes (slot 15), and set `name` and `chef_environment` there.

        guid:    Chef's GUID, which becomes the automatic attribute `chef_guid`; None sets none
        settled: True: the facts are JSON data of at most 499 levels that never changes, so they are not copied
        replace: True: the facts replace all automatic attributes; False: they are deep merged over them
        raises:  BadArgument, where the facts have no `platform`
        """
        if "platform" not in facts:
            raise BadArgument("these facts name no platform", hint="an Ohai or Facter document has one")
        automatic = self._trees["automatic"]
        if replace and (self._ledger.trees[automatic.lower] or automatic.lower in self._ledger.unknown):
            replace_slot(automatic, {}, locator)
        if settled and not self._ledger.trees[automatic.lower]:
            self._ledger.settled = _settle(automatic, facts, locator)
        else:
            _lay_over(automatic, facts, locator)
        run = {"chef_guid": guid} if guid is not None else {}
        self.set_automatic({**run, "name": self._node.name, "chef_environment": self._node.environment})

    def set_automatic(self, facts: Mapping[Any, Any]) -> None:
        """Set automatic attributes that the run itself knows, such as `recipes` and `roles`. No value may be a map."""
        with SetterBlock(self._node, _RUN), quietly(self._ledger.looks):
            for key, value in stored(facts, ()).items():
                self._trees["automatic"].store((key,), value, depth=0)

    def merge_automatic(self, attributes: Mapping[Any, Any], locator: Locator) -> None:
        """Deep merge attributes over automatic; two lists become their union. locator: gives their places"""
        with quietly(self._ledger.looks):
            _lay_over(self._trees["automatic"], attributes, locator)


def facts_of(node: Attributes) -> dict[Any, Any]:
    """The current automatic attributes as plain data that the caller must not change; deferred values are computed.

    The call itself is not noted as a look (`core.looks`): the caller notes the facts that it reads. What a deferred
    value reads while it is computed is noted.
    cost: a copy of all facts that are not in `Ledger.settled`
    """
    ledger = node._ledger
    with ledger.lock, quietly(ledger.looks):
        tree, copied_keys = dict(ledger.trees[15]), ledger.unsettled_keys()
    for key in copied_keys:
        tree[key] = ledger.plain_copy(tree[key], True, (key,))
    return tree


def ensured_tags(node: Attributes) -> list[Any]:
    """The list in normal `tags`, as it is stored: the caller must not change it.

    If `tags` is not a list, one is stored first, by the current setter: [] if it is absent or null, [tag] for a scalar.
    """
    value = _tags(node)
    if not isinstance(value, list):
        node.normal["tags"] = [] if value is ABSENT or value is None else [value]
        value = _tags(node)
    tags: list[Any] = value
    return tags


def _tags(node: Attributes) -> Any:
    return value_of(node._trees["normal"].place(("tags",)))


class NodeFields(NamedTuple):
    """JSON attributes split by `split_node_fields`.

    attributes:            the attributes alone
    run_list, environment: the node's fields as they are written; each is None if it is not given
    """

    attributes: dict[Any, Any]
    run_list: Any
    environment: Any


def split_node_fields(json_attributes: Mapping[Any, Any], locator: Locator = JSON) -> NodeFields:
    """Split JSON attributes into attributes and fields of the node.

    The fields are `run_list` (or `recipes`, its old name) and `chef_environment`; each is None if it is not there. They
    are not checked. The argument is not changed.
    locator: gives the line of `recipes` for the error
    raises: AmbiguousRunList, for both names of the run-list
    """
    attributes = dict(json_attributes)
    if "run_list" in attributes and "recipes" in attributes:
        raise AmbiguousRunList(
            "JSON attributes with both run_list and recipes",
            origins=[locator.at(("recipes",))],
            hint="keep run_list; recipes is its old name",
        )
    items = attributes.pop("recipes" if "recipes" in attributes else "run_list", None)
    return NodeFields(attributes, items, attributes.pop("chef_environment", None))


def replace_slot(component: ComponentTree, tree: Any, locator: Locator) -> None:
    """Replace the content of a slot by a copy of *tree*. The old values do not come into the history.

    Unknown layers of the slot are forgotten. Earlier writers of the slot, such as `node.default["a"]`, go on with a
    copy of the old content. Their writes no longer reach the node.
    component: the component with the slot. If it has two slots, the attribute file's slot is replaced
    locator:   gives the origin of each value
    raises:    BadKey, BadValue, TooDeep, for a tree that no slot can hold; then the slot is not changed
    """
    ledger = component.ledger
    with ledger.lock:
        new = stored(tree, ())
        component.detach()
        ledger.replace(component.lower, new, _mark(component, locator), remember=False)


def _settle(component: ComponentTree, tree: Mapping[Any, Any], locator: Locator) -> Mapping[Any, Any]:
    """Make *tree*, JSON data that never changes, the content of a slot without a copy. Returns the entries not copied.

    Where there may be secrets in it, it is copied after all, and {} returned.
    """
    ledger = component.ledger
    if ledger.secrets.may_be_in(tree):
        replace_slot(component, tree, locator)
        return {}
    with ledger.lock:
        component.detach()
        ledger.replace(component.lower, dict(tree), _mark(component, locator), remember=False)
        return dict(tree)


def _mark(component: ComponentTree, locator: Locator) -> int:
    ledger = component.ledger
    is_facts = SLOTS[component.lower - 1].source == "facts" and not isinstance(locator, Origin)
    return ledger.marks.add(Mark(locator, is_facts=is_facts)) if ledger.provenance else 0


def _upper_first(lower: Part, upper: Part) -> Part:
    """The union of two lists, with the elements of the upper one first."""
    return unite(upper, lower)


def _lay_over(component: ComponentTree, tree: Any, locator: Locator, unite_lists: Join = unite) -> None:
    """Deep merge *tree* over the content of the (lower) slot of a component.

    raises: BadKey, BadValue, TooDeep
    """
    if not (component.ledger.trees[component.lower] or component.lower in component.ledger.unknown):
        replace_slot(component, tree, locator)
        return
    ledger, slot = component.ledger, component.lower
    mark = _mark(component, locator)

    def known(path: Path) -> list[Origins]:
        set_by, below = set_by_at(ledger.trees[slot], path)
        return set_by if type(set_by) is list else list(element_origins(set_by, path, len(below)))

    inside, laid = ledger.plan(DEFAULT_GROUP).policy, Part(stored(tree, ()), SourcePath(mark, ()))
    empty = [path for path in _empty_maps(laid.value, ()) if isinstance(dig(ledger.trees[slot], path), dict)]
    for place, part in merged_places(inside, ledger.trees[slot], laid, known, unite_lists):
        path = place.path
        if part is None:
            ledger.note_kept_out(slot, path, place.upper.value, mark)
            continue
        if isinstance(place.lower.value, (dict, list)):
            component.detach(path)
        set_by = part.origins if ledger.provenance and isinstance(part.origins, list) else None
        with ledger.lock:
            ledger.put(slot, path, part.value, mark, set_by)
    for path in empty:
        ledger.note_empty_map(slot, path, mark)


def _empty_maps(tree: Any, path: Path) -> Iterator[Path]:
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if value == {}:
            yield (*path, key)
        yield from _empty_maps(value, (*path, key))


def _moved_down(component: ComponentTree) -> None:
    """Move the content of a component's recipe slot into its attribute file's slot, with its origins.

    Values that recipes set in normal are the saved values of the next run, whose slot is the lower one.
    """
    ledger, lower, upper = component.ledger, component.lower, component.upper
    tree, unknown = ledger.trees[upper], ledger.unknown.get(upper, ())
    if not tree and type(tree) is OwnedMap and not (tree.origin or unknown):
        return
    with ledger.lock:
        if joined_place(ledger.trees[lower], tree)[0] is ABSENT:
            ledger.replace(lower, {}, remember=False)
        _moved(ledger, lower, tree, ())
        ledger.replace(upper, {}, remember=False)
        ledger.add_unknown(lower, unknown)


def _moved(ledger: Ledger, lower: int, tree: OwnedMap, path: Path) -> None:
    for key, value in tree.items():
        at, set_by = (*path, key), tree.origins.get(key, tree.origin)
        meets = joined_place(dig(ledger.trees[lower], at), value)[0] is not ABSENT
        if isinstance(value, OwnedMap):
            if not meets:
                ledger.put(lower, at, OwnedMap((), value.origin), value.origin)
            _moved(ledger, lower, value, at)
        elif meets:
            _moved(ledger, lower, OwnedMap(value, last_mark(set_by)), at)
        elif isinstance(set_by, list):
            ledger.put(lower, at, value, 0, set_by)
        else:
            ledger.put(lower, at, value, set_by)


def _as_saved(ledger: Ledger) -> Ledger:
    """A ledger with the normal attributes of another as a snapshot keeps them: sensitive values are left out.

    A node that was not saved has locators of code and documents; a snapshot has the line of each value.
    """
    other, run = Ledger(provenance=True, root=str), ledger.marks.saved_run
    restore_ledger(snapshot_ledger(ledger, numbers=_NORMAL), other, None if run is None else run.versions)
    return other


_NORMAL = (7, 8)


def _take_over(component: ComponentTree, saved: Ledger) -> None:
    """Make the content of a component's (lower) slot a copy of the same slot of another ledger, with its marks.

    Values that the node's own document had set are left out.
    """
    tree = _TreeCopier(component.ledger, saved).tree(saved.trees[component.lower])
    component.detach()
    component.ledger.replace(component.lower, tree, tree.origin, remember=False)
    unknown = saved.unknown.get(component.lower, ())
    component.ledger.add_unknown(
        component.lower,
        (Layer(layer.value, _saved(layer.origin).at(()), layer.title, layer.policy) for layer in unknown),
    )


def _saved(locator: Locator) -> Locator:
    """The locator of what an earlier run set."""
    if isinstance(locator, SavedLocator):
        return locator.for_next_run()
    return locator.at(()).saved()


class _TreeCopier:
    """Copies a tree from another ledger, and each mark that the tree refers to, but no other marks.

    Values that the node's own document had set are left out.
    """

    def __init__(self, ledger: Ledger, saved: Ledger) -> None:
        self._ledger, self._saved = ledger, saved
        self._numbers: dict[int, int] = {0: 0}

    def tree(self, tree: OwnedMap) -> OwnedMap:
        copy = OwnedMap((), self._number(tree.origin))
        for key, value in tree.items():
            set_by = tree.origins.get(key, tree.origin)
            if isinstance(set_by, list):
                kept = [pair for pair in zip(value, set_by, strict=True) if not self._only_by_left_out(pair[1])]
                if kept or not value:
                    copy[key] = [entry for entry, _ in kept]
                    copy.origins[key] = self._elements(set_by, [who for _, who in kept])
                continue
            inner = self.tree(value) if isinstance(value, OwnedMap) else value
            if not self._is_left_out(set_by) or (inner and isinstance(inner, OwnedMap)):
                copy[key] = inner
                copy.origins[key] = renumbered_marks(set_by, self._number)
        return copy

    def _elements(self, set_by: list[Origins], kept: list[Origins]) -> list[Origins]:
        elements: list[Origins] = renumbered_marks(kept, self._number)
        if not isinstance(set_by, ChangedListOrigins):
            return elements
        first = [self._number(one) for one in set_by.first if not self._is_left_out(one)]
        later = [self._number(one) for one in set_by.later if not self._is_left_out(one)]
        return ChangedListOrigins(elements, tuple(first), tuple(later))

    def _number(self, old: int) -> int:
        new = self._numbers.get(old)
        if new is None:
            mark = self._saved.marks[old]
            new = self._numbers[old] = self._ledger.marks.add(mark._replace(locator=_saved(mark.locator)))
        return new

    def _is_left_out(self, number: int) -> bool:
        return self._saved.marks[number].locator.at(()).kind in ("node", "saved node")

    def _only_by_left_out(self, set_by: Origins) -> bool:
        return all(self._is_left_out(setter.source) for setter in setters_in_element(set_by, ()))
