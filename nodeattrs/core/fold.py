"""Merge layers to one tree that can say where each part of it came from.

A `Layer` is a tree and the source that set it. A `Fold` is a plan: layers and further folds, with a policy and a
direction. `fold` merges them with a `Folding`, whose steps answer later questions about origins, and returns a
`Folded`: a copy that shares nothing with the layers. This module knows no dialect: dialects bring layers and policies.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Claim, Locator, Origin
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, places, sources
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Policy
from nodeattrs.core.rules import PathRule, read_rules, ruled
from nodeattrs.core.sensitive import without_password
from nodeattrs.core.trace import Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, as_path, copied, dig, hint_for, spell
from nodeattrs.core.unknown import Unknown, unknown_layer
from nodeattrs.core.walk import SetValue
from nodeattrs.errors import BadArgument, MergeConflict, NoSuchAttribute, TooDeep, TypeConflict, wrong_argument

_NOBODY = Origin("caller")


class Layer:
    """A tree, and the source that set it: one input of `fold`. Two layers are equal if all four fields are equal; the
    hash uses origin and title.

    `Layer.unknown` makes a layer that could not be read. Its value is an `Unknown` instead of a tree. `place` gives the
    source and line that may set a path in such a layer; for any other layer it raises AttributeError. The constructor
    raises BadArgument for a wrong origin or policy.
    value:  maps, lists and scalars; it is neither copied nor checked here, and a fold never changes it
    origin: an `Origin`, or another locator (an object with a method `at`), which knows where each path was set;
            Origin("caller") by default
    title:  the layer's name in a trace, in addition to its number and origin; "" for none
    policy: the policy for merging this layer with the layers before it; None: the policy of the fold
    """

    __slots__ = ("origin", "policy", "title", "value")

    def __init__(self, value: Any, origin: Locator = _NOBODY, title: str = "", policy: Policy | None = None) -> None:
        if not hasattr(origin, "at"):
            hint = f'Layer({{...}}, Origin("file", {origin!r}))' if isinstance(origin, str) else None
            raise wrong_argument("the origin of a layer", "an Origin, or another locator", origin, hint)
        if policy is not None:
            _require_policy(policy, "of a layer")
        self.value, self.origin, self.title, self.policy = value, origin, title, policy

    def __eq__(self, other: object) -> bool:
        return type(other) is Layer and all(getattr(self, one) == getattr(other, one) for one in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.origin, self.title))

    def place(self, path: Path) -> Origin:
        """The source that may set *path* in an unknown layer, with the line where that is known.

        raises: AttributeError, for a layer that was read
        """
        line = self.value.line(path)
        origin = self.origin.at(path)
        return origin if line is None else origin.moved(line)

    @classmethod
    @checked_args(name=str, reason=str)
    def unknown(cls, name: str, origin: Locator, reason: str, lines: Mapping[Path, int] | None = None) -> Layer:
        """A layer that exists and cannot be read, or must not be run.

        It sets nothing. A trace names it wherever it might decide the value. The password of a URL in its names and
        in the reason is left out.
        name:   what the layer is called
        reason: why it is unknown, as the end of a sentence: "is Ruby, which was not run"
        lines:  path -> line, for the paths that the layer may set; None: any path; {}: none

        >>> from nodeattrs.core.policy import ACROSS
        >>> vault = Layer.unknown("vault", Origin("level", "vault", "hiera.yaml", 7), "needs a server")
        >>> print(fold([{"port": 80}, vault], ACROSS).explain("port"))
        port = 80
          wins     1        80         layer 1
          unknown  2 vault  (unknown)  hiera.yaml:7 (level vault)  may override it: needs a server
        """
        shown = without_password(name)
        if isinstance(origin, Origin):
            origin = origin._replace(name=without_password(origin.name))
        return cls(Unknown(shown, without_password(reason), lines), origin, shown)


class Fold:
    """A plan of a merge: layers and inner folds, under one policy. Nothing is merged before the plan is passed to
    `fold`.

    Each inner fold is merged first, and its result is then merged like a layer. A fold may have no children.
    The constructor raises BadArgument for a child that is neither a Layer nor a Fold, and for a wrong policy.
    children: layers and inner folds, in the order in which they are merged
    policy:   decides each place where two children have a value; a layer's own policy replaces it for that layer
    from_top: False: each child is the upper side, and the result so far is the lower side. True: each child is the
              lower side
    opening:  a policy for the first child, which is then merged over nothing; None: the first child is taken unchanged

    `layers` yields all layers, also of inner folds, in the order in which they are merged.
    """

    __slots__ = ("children", "from_top", "opening", "policy")

    def __init__(
        self,
        children: tuple[Layer | Fold, ...],
        policy: Policy,
        from_top: bool = False,
        opening: Policy | None = None,
    ) -> None:
        _require_policy(policy, "of a fold")
        if opening is not None:
            _require_policy(opening, "of the first child of a fold")
        for child in _entries(children):
            if not isinstance(child, (Layer, Fold)):
                raise wrong_argument("each child of a Fold", "a Layer or a Fold", child, "Layer({...})")
        self.children, self.policy, self.from_top, self.opening = children, policy, from_top, opening

    def layers(self) -> Iterator[Layer]:
        """Yield all layers, also of inner folds, in the order in which they are merged. A trace numbers them so, from
        1.
        """
        for child in self.children:
            if isinstance(child, Layer):
                yield child
            else:
                yield from child.layers()


class Folded:
    """The result of `fold`: one tree that can say where each part of it came from. `fold` makes it; do not construct
    it.

    `origins` gives the origins of a path, () if it is not set. `leaves` yields (path, value, origins) for each scalar
    and each empty map or list. `explain` is the trace as text. These methods merge parts of the layers again at each
    call, and keep nothing. `to_dict` copies the tree.
    `folded["a"]` is `folded.value["a"]`, but raises NoSuchAttribute if "a" is not set, and TypeConflict if the value
    is neither a map nor a list.
    folding: the folding that merged the layers
    layers:  all layers; a source with the number n is layers[n - 1]
    value:   the tree, which shares nothing with the layers; {} if no layer set anything

    >>> from nodeattrs.core.policy import ACROSS
    >>> common, web1 = Layer({"port": 80}, Origin("file", "common")), Layer({"port": 8080}, Origin("file", "web1"))
    >>> site = fold([common, web1], ACROSS)
    >>> site["port"], site.origins("port")
    (8080, (Origin(kind='file', name='web1', file=None, line=None, column=None),))
    """

    __slots__ = ("_folding", "_layers", "value")

    def __init__(self, folding: Folding, layers: Sequence[Layer], value: Any) -> None:
        self.value = value
        self._folding = folding
        self._layers = layers

    def __getitem__(self, step: Any) -> Any:
        try:
            return self.value[step]
        except LookupError:
            raise self._absent(step) from None
        except TypeError as error:
            raise TypeConflict(f"cannot step to {step!r}: {error}", path=(step,)) from None

    def _absent(self, step: Any) -> NoSuchAttribute:
        known = self.value if isinstance(self.value, dict) else ()
        hint = hint_for(step, known) or "`in folded.value` shows what is there"
        if isinstance(step, str) and "." in step:
            hint = "a step at a time: folded['a']['b']"
        return NoSuchAttribute(f"{step!r} is not set", path=(step,), hint=hint)

    def __repr__(self) -> str:
        return f"<Folded {len(self._layers)} layers: {reprlib.repr(self.value)}>"

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """The origins of the value at *path*, each once; () where the path is not set.

        More than one for a list whose elements came from several layers, for a map, and for joined texts.
        path:   steps, or their spelling: `"apache.listen_ports.0"`
        raises: BadArgument, for a path that is not spelled right
        """
        steps = as_path(path)
        if dig(self.value, steps) is ABSENT:
            return ()
        found = walk(self._folding, steps)
        order = {number: index for index, number in enumerate(sources(found.origins))}
        standing = sorted(found.standing, key=lambda setting: order.get(setting.source, -1))
        return tuple(dict.fromkeys(self._claim(setting).origin for setting in standing))

    def leaves(self) -> Iterator[tuple[Path, Any, tuple[Origin, ...]]]:
        """Yield (path, value, origins) for each scalar and each empty map or list; nothing where no layer set anything.

        cost: that of the fold, and one look at each leaf
        """
        part = self._folding.located()
        if part.value is not ABSENT:
            yield from self._leaves(part.value, part.origins, ())

    def _leaves(self, value: Any, origins: Any, path: Path) -> Iterator[tuple[Path, Any, tuple[Origin, ...]]]:
        if value and isinstance(value, (dict, list)):
            for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
                yield from self._leaves(entry, origins_at(origins, step), (*path, step))
            return
        found = [self._layers[at.source - 1].origin.at(at.path) for _, at in places(origins, path)]
        yield path, value, tuple(dict.fromkeys(found))

    def trace(self, path: str | Path) -> Trace:
        """The claims about *path*, the winner first, each other claim with the rule that overrode it. Works for any
        path.

        path: steps, or their spelling: `"apache.listen_ports.0"`
        cost: the depth of the path times the number of layers
        """
        steps = as_path(path)
        titles = {number: layer.title for number, layer in enumerate(self._layers, 1)}
        return traced(walk(self._folding, steps), steps, dig(self.value, steps), self._claim, titles)

    def _claim(self, setting: SetValue) -> Claim:
        layer = self._layers[setting.source - 1]
        if type(layer.value) is Unknown:
            return Claim(setting.path, layer.value, setting.source, layer.place(setting.path))
        causes = getattr(layer.origin, "causes", None)
        why = None if causes is None else partial(causes, setting.own)
        return Claim(setting.path, setting.value, setting.source, layer.origin.at(setting.own), why=why)

    def to_dict(self) -> Any:
        """A copy of the tree, independent of this one."""
        return copied(self.value, convert=_exact)

    def explain(self, path: str | Path) -> str:
        """The trace of *path* as text; says so where nothing sets the path."""
        return str(self.trace(path))


def fold(
    layers: Iterable[Layer | Fold | Any],
    policy: Policy,
    *,
    from_top: bool = False,
    rules: Mapping[Any, Any] | None = None,
    strict: bool = False,
) -> Folded:
    """Merge layers into one tree under a policy; see `nodeattrs.fold`, which also takes the name of a policy.

    layers:   the weakest first; a plain map becomes a layer whose origin is its number
    from_top: True: the result so far lies over each further layer, so that the first layer is the strongest
    rules:    path or pattern -> a rule that replaces the policy there; see `read_rules`
    strict:   raise UnknownLayer for a layer that could not be read (`Layer.unknown`)
    raises:   BadArgument, for a wrong layer, and where there are no layers; MergeConflict, with the path, where a
              handler refuses; TooDeep
    """
    children = children_of(layers)
    if not children:
        raise BadArgument("there is nothing to fold", hint="pass at least one layer; an empty one is {}")
    plan = Fold(children, policy, from_top)
    if rules is not None:
        plan = _with_rules(plan, read_rules(rules))
    flat = list(plan.layers())
    if strict:
        refuse_unknown(flat)
    try:
        folding = _folded(plan, iter(range(1, len(flat) + 1)), flat)
        value = folding.result.value
        return Folded(folding, flat, copied(value if value is not ABSENT else {}, convert=_exact))
    except RecursionError:
        raise TooDeep("a layer is nested too deep, or inside itself") from None


def children_of(layers: Iterable[Layer | Fold | Any]) -> tuple[Layer | Fold, ...]:
    """The entries of *layers* as a tuple of Layer and Fold; each plain map becomes a Layer. () for an empty list.

    raises: BadArgument, for anything else
    """
    return tuple(_child_of(entry, number) for number, entry in enumerate(_entries(layers), 1))


def _entries(layers: Any) -> Iterable[Any]:
    if isinstance(layers, (str, bytes, Mapping, Layer, Fold)) or not isinstance(layers, Iterable):
        raise wrong_argument(
            "what is folded", "a list of layers", layers, "write fold([{...}, {...}]), the weakest first"
        )
    return layers


def _child_of(entry: Any, number: int) -> Layer | Fold:
    """The Layer or Fold for an entry of *layers*. raises: BadArgument"""
    if isinstance(entry, (Layer, Fold)):
        return entry
    if isinstance(entry, dict):
        return Layer(entry, Origin("layer", str(number)))
    if isinstance(entry, Mapping):
        return Layer(getattr(entry, "to_plain", partial(dict, entry))(), Origin("layer", str(number)))
    if isinstance(entry, (str, os.PathLike)):
        hint = f"read_layer({os.fspath(entry)!r}) reads a file"
    else:
        hint = "an empty one is {}" if entry is None else "Layer(...) makes a layer of anything"
    raise wrong_argument(f"layer {number}", "a map, a Layer or a Fold", entry, hint)


def _require_policy(policy: Any, of: str) -> None:
    if not isinstance(policy, Policy):
        raise wrong_argument(f"the policy {of}", "a Policy", policy, "write ACROSS, INSIDE, or Policy(...) of your own")


def _with_rules(plan: Fold, rules: Sequence[PathRule]) -> Fold:
    """A copy of the plan in which *rules* change each policy."""
    children: list[Layer | Fold] = []
    for child in plan.children:
        if isinstance(child, Fold):
            children.append(_with_rules(child, rules))
        else:
            policy = child.policy and ruled(child.policy, rules)
            children.append(Layer(child.value, child.origin, child.title, policy))
    return Fold(tuple(children), ruled(plan.policy, rules), plan.from_top, plan.opening)


def refuse_unknown(layers: Iterable[Layer]) -> None:
    """Raise UnknownLayer for the first layer that could not be read (`Layer.unknown`); else do nothing."""
    for layer in layers:
        if type(layer.value) is Unknown:
            raise unknown_layer(layer.value, layer.origin.at(()))


def _exact(value: Any) -> Any:
    """A value that can be changed in place, as a dict, a list or a copy of its own type; any other value itself."""
    for kind in (dict, list):
        if isinstance(value, kind):
            return kind(value)
    return value.copy() if isinstance(value, (set, bytearray)) else value


def _folded(plan: Fold, numbers: Iterator[int], layers: list[Layer]) -> Folding:
    folding = Folding(from_top=plan.from_top, opening=plan.opening, growing=not plan.from_top)
    for child in plan.children:
        policy = plan.policy
        part: Part | Folding
        if isinstance(child, Layer):
            part, policy = Part(child.value, next(numbers)), child.policy or policy
        else:
            part = _folded(child, numbers, layers)
        try:
            folding.lay(part, policy)
        except MergeConflict as conflict:
            upper = part.result if isinstance(part, Folding) else part
            raise _with_origins(conflict, folding.result, upper, layers) from None
    return folding


def _with_origins(conflict: MergeConflict, result: Part, part: Part, layers: list[Layer]) -> MergeConflict:
    """The same conflict, with the layers that set the two values."""
    path = tuple(conflict.path or ())
    details = list(conflict.details)
    found = []
    for side in (part, result):
        origins, value = side.origins, dig(side.value, path)
        if value is ABSENT:
            continue
        for step in path:
            origins = origins_at(origins, step)
        for number in dict.fromkeys(at.source for _, at in places(origins, path)):
            found.append(layers[number - 1].origin.at(path))
            details.append(f"{value!r} was set by {found[-1]}")
    return MergeConflict(
        f"{conflict.message} at {spell(path)}", path=path, origins=found, details=details, hint=conflict.hint
    )
