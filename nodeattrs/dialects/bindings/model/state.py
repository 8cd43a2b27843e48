"""The request that bindings are resolved for: its categories and their values, its variables, its objects.

A *category* such as `node` or `environment` has one value. Categories are ranked, the first one highest; `common` is
below all, and always holds. A *mask* is a set of categories as a number, with one bit for each; the highest category
has the highest bit. Of two masks, the greater number ranks higher. So a set ranks above its subsets. *Looks*
(`core.looks`) are the facts of a node that were read: nodes with equal looks share an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import IS, NAME, NAMED, SORT, TREE, Looks
from nodeattrs.dialects.bindings.codes import (
    BAD_MODE,
    CATEGORY_COMMON,
    CATEGORY_ENVIRONMENT_VALUE,
    CATEGORY_ORDER,
    CATEGORY_TWICE,
    CATEGORY_VALUE,
)
from nodeattrs.dialects.bindings.model.faults import BindingError

Mode = str
"""How a conjunction ranks: "tuple" (all its categories count) or "documented" (its highest alone)."""

LookedAt = Callable[[str, str | None], object]
"""A function (category, text): called when the category's value is compared with the text. None: the value is read."""


def _not_noted(category: str, text: str | None) -> None:
    """The `LookedAt` of a state whose reads are not noted."""


class NodeVariables(Mapping[str, Any]):
    """The variables of a site for one node, as a map: name -> value. Each read of a fact is noted in *looks*.

    The value of a name is the one in *given*, else the fact of that name. The name `fqdn` without either is the name of
    the node; any other name raises KeyError. `with_given` makes a copy with other *given* names.
    A caller that only compares a value reads it from `unnoted`. It notes the comparison with `compare`, or with
    `compare_name` for the name of the node.
    facts:  the facts of the node
    node:   the name of the node
    given:  variables that are not facts of the node
    hidden: names of facts that cannot be read
    looks:  where reads of facts and of the node's name are noted; None: they are not kept
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        node: str,
        given: Mapping[str, Any],
        hidden: Iterable[str] = (),
        looks: Looks | None = None,
    ) -> None:
        self._facts, self._node = facts, node
        self._given = dict(given)
        self._hidden = frozenset(hidden)
        self._looks = looks or Looks()

    def __getitem__(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        if name in self._hidden:
            raise KeyError(name)
        self._looks.insist(TREE, (name,))
        if name in self._facts:
            return self._facts[name]
        if name != "fqdn":
            raise KeyError(name)
        self._looks.insist(*NAME)
        return self._node

    def __iter__(self) -> Iterator[str]:
        self._looks.insist(TREE, ())
        names = [name for name in self._facts if name not in self._hidden]
        return iter(dict.fromkeys([*self._given, *names, "fqdn"]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def with_given(self, given: Mapping[str, Any], hidden: Iterable[str]) -> NodeVariables:
        """Variables with the same facts and looks, and with other *given* and *hidden* names."""
        return NodeVariables(self._facts, self._node, given, hidden, self._looks)

    def unnoted(self) -> NodeVariables:
        """The same variables, whose reads are not noted; the caller notes with `compare` what it compares."""
        return NodeVariables(self._facts, self._node, self._given, self._hidden)

    def compare(self, name: str, text: str | None) -> None:
        """Note that the answer depends on the type of a variable, and on whether its value is *text*.

        It compares nothing itself. For a variable in *given* it notes nothing.
        text: in lower case; None: the answer depends on the whole value
        """
        if name in self._given:
            return
        if text is None:
            self.get(name)
            return
        self._looks.insist(SORT, (name,))
        self._looks.insist(IS, (name,), text)
        if name == "fqdn" and name not in self._facts:
            self.compare_name(text)

    def compare_name(self, text: str | None) -> None:
        """Note that the answer depends on whether the node's name is *text*.

        text: in lower case; None: the answer depends on the name itself
        """
        self._looks.insist(*NAME if text is None else (NAMED, text))


class State:
    """The categories of a request with their values, and its variables. It says which conditions are true.

    `mask` tests a condition, and returns its categories as a number, or None if the condition does not hold. `ranked`
    gives the rank of the number: the greater rank wins. `title` puts it in words: "node kermit". `value` and `is_open`
    return None and False for a category that is not listed. `names` lists the categories.
    categories: (name, value) pairs, the highest first. Values are turned into lower case. A category with the value
                None has no value, and no condition on it is true. `common` is left out
    variables:  what `$name` means in the text language, such as facts
    mode:       how a condition on several categories is ranked. "tuple": by all of them; "documented": by the highest
                one
    listed_at:  category -> the line of the site that lists it
    looked_at:  a function (category, text) that is called when the value of a category is compared with a text. The
                text is None when the value itself is read
    raises:     BindingError ("bad-mode", "category-twice", "category-value")

    >>> State([("node", "Kermit"), ("environment", "production")]).mask([("node", "kermit")])
    2
    """

    @checked_args(categories=ListLike)
    def __init__(
        self,
        categories: Iterable[Sequence[Any]] = (),
        variables: Mapping[str, Any] | None = None,
        *,
        mode: Mode = "tuple",
        listed_at: Mapping[str, Origin] | None = None,
        looked_at: LookedAt = _not_noted,
    ) -> None:
        if mode not in ("tuple", "documented"):
            raise BindingError(BAD_MODE, f"no mode {mode!r}", hint="modes are tuple and documented")
        self.mode = mode
        self.variables = variables if isinstance(variables, NodeVariables) else dict(variables or {})
        self._looked_at = looked_at
        self.listed_at = dict(listed_at or {})
        self._values = _listed(categories)
        self.categories = tuple(self._values.items())
        self._bits = {name: 1 << len(self._values) - 1 - index for index, name in enumerate(self._values)}

    def mask(self, conjunction: Iterable[tuple[str, str]]) -> int | None:
        """The categories of a conjunction as a mask, 0 for common alone; None where the conjunction does not hold.

        conjunction: (category, value) pairs that must all hold; a pair with an unlisted category never holds
        """
        mask = 0
        for name, value in conjunction:
            if name == "common":
                continue
            wanted = str(value).lower()
            self._looked_at(name, wanted)
            if self._values.get(name) != wanted:
                return None
            mask |= self._bits[name]
        return mask

    def ranked(self, mask: int) -> int:
        """The rank of a mask: itself; in the mode "documented" its highest bit alone. The greater rank wins."""
        return mask if self.mode == "tuple" or not mask else 1 << mask.bit_length() - 1

    def title(self, mask: int) -> str:
        """The categories of a mask in words: "node kermit + virtual true"."""
        held = [f"{name} {value}" for name, value in self.categories if self._bits[name] & mask]
        return " + ".join(held) or "common"

    def value(self, name: str) -> str | None:
        """The value of a category in lower case; None where the category is not listed or has no value."""
        self._looked_at(name, None)
        return self._values.get(name)

    def is_open(self, name: str) -> bool:
        """Whether a category is listed and has no value; False for a category that is not listed."""
        self._looked_at(name, "")
        return name in self._values and self._values[name] is None

    def names(self) -> list[str]:
        """The categories, the highest first."""
        return [name for name, _ in self.categories]


def _listed(pairs: Iterable[Sequence[Any]]) -> dict[str, str | None]:
    """The categories and their values as text, the highest first, without common. raises: BindingError"""
    found: dict[str, str | None] = {}
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise BindingError(CATEGORY_VALUE, f"{pair!r} is no pair of a category and its value")
        name, value = pair
        if name == "common":
            continue
        if name in found:
            raise BindingError(CATEGORY_TWICE, f"the category {name} is listed twice")
        found[str(name)] = _category_text(name, value)
    return found


def _category_text(name: str, value: Any) -> str | None:
    """The value of a category for comparisons: text in lower case; None for null and for an empty text.

    raises: BindingError ("category-value"), for a list or hash
    """
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == "":
        return None
    if not isinstance(value, (str, int, float)):
        raise BindingError(CATEGORY_VALUE, f"the value of category {name} is a {type(value).__name__}")
    return str(value).lower()


@checked_args(listed=ListLike | None)
def effective_categories(
    listed: Iterable[Sequence[Any]] | None, *, fqdn: str, environment: str
) -> list[tuple[str, str | None]]:
    """The (category, value) pairs in effect, the highest first: those that a site lists, with `node` and `environment`.

    If the site does not list them, `node` is added as the highest category, and `environment` as the lowest. Values are
    in lower case; None for a category without a value. `common` is not among the pairs.
    listed:      evaluated (category, value) pairs; None: the site lists none. The value of `environment` must be True
    fqdn:        the value of `node`, unless the site lists `node` with another value
    environment: the value of `environment`
    raises: BindingError: "category-common", "category-environment-value", "category-order",
            "category-value", "category-twice"

    >>> effective_categories([("rack", 12)], fqdn="Kermit", environment="production")
    [('node', 'kermit'), ('rack', '12'), ('environment', 'production')]
    """
    pairs = []
    for name, value in listed or ():
        if name == "common":
            raise BindingError(
                CATEGORY_COMMON, "the category common is always there, and last", hint="leave it out of the list"
            )
        if name == "environment" and value is not True:
            raise BindingError(
                CATEGORY_ENVIRONMENT_VALUE, f"the category environment has the value {value!r}",
                hint="only its place can be chosen: write environment => true",
            )  # fmt: skip
        pairs.append((name, environment if name == "environment" else value))
    effective = _listed(pairs)
    if "node" not in effective:
        effective = {"node": _category_text("node", fqdn), **effective}
    effective.setdefault("environment", _category_text("environment", environment))
    names = list(effective)
    if names.index("node") > names.index("environment"):
        raise BindingError(CATEGORY_ORDER, "the category node is below environment", hint="put node above environment")
    return list(effective.items())


class Objects:
    """The instances that queries and parameters read, and the parameter names of their types. Both may be absent.

    `instance` returns the parameters of one instance, or None for an unknown reference. `parameters` returns the
    parameter names of a type: those in *types*, or the names that its instances have, or None. `of_type` yields
    (reference, parameters) of each instance of a type; nothing for an unknown type.
    is_there:  False in a subclass that cannot look up instances, since it has no store. A query then produces None in
               place of []
    types:     the name of a type -> the names of its parameters
    instances: a reference such as "Sql[one]" -> the parameters of that instance, name -> value

    >>> objects = Objects({"Sql": ["user"]}, {"Sql[one]": {"user": "app"}})
    >>> objects.instance("Sql[one]"), objects.parameters("Sql"), objects.parameters("Web")
    ({'user': 'app'}, ['user'], None)
    """

    is_there = True

    def __init__(
        self,
        types: Mapping[str, list[str]] | None = None,
        instances: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._types = {name: list(names) for name, names in (types or {}).items()}
        self._instances = dict(instances or {})

    def instance(self, reference: str) -> Mapping[str, Any] | None:
        """The parameters of an instance, or None where there is none."""
        return self._instances.get(reference)

    def of_type(self, name: str, where: Iterable[Any] = ()) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield (reference, parameters) of each instance of a type, in the order in which they were given.

        where: conditions of a query; a subclass may use them to read fewer instances, and the caller tests them again
        """
        for reference, parameters in self._instances.items():
            if reference.partition("[")[0] == name:
                yield reference, parameters

    def parameters(self, name: str) -> list[str] | None:
        """The parameter names of a type: the declared ones, else those that its instances have; None for neither."""
        if name in self._types:
            return self._types[name]
        seen = dict.fromkeys(name for _, parameters in self.of_type(name) for name in parameters)
        return list(seen) or None
