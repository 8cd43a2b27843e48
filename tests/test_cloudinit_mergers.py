"""Two values under a definition: laws, and the interface of custom mergers."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.cloudinit import (
    CloudConfigError,
    Definition,
    merge,
    merge_many,
    merge_values,
    register_merger,
    registered_mergers,
    unregister_merger,
)
from nodeattrs.errors import BadArgument, MergeConflict, NodeattrsError, TooDeep
from tests.vectors.cloudinit import canonical

# Few keys, few words, all kinds: meetings are the rule.
scalars = st.sampled_from(["x", "yz", 0, 1, True, None])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
configs = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
words = st.sampled_from(
    ["append", "prepend", "replace", "no_replace", "allow_delete", "recurse_list", "recurse_str", "recurse_dict"]
)
definitions = st.lists(
    st.tuples(st.sampled_from(["dict", "list", "str"]), st.lists(words, max_size=3)), min_size=1, max_size=3
).map(lambda pairs: "+".join(f"{name}({','.join(options)})" for name, options in pairs))
modes = st.sampled_from(["current", "documented"])


def containers(value: Any) -> Iterator[int]:
    if isinstance(value, (dict, list)):
        yield id(value)
        for entry in value.values() if isinstance(value, dict) else value:
            yield from containers(entry)


class TestLaws:
    @given(values, values, definitions, modes)
    def test_inputs_stay_and_the_result_shares_nothing(self, base: Any, update: Any, how: str, mode: Any):
        """Whatever the definition, and where it refuses too."""
        before = copy.deepcopy((base, update))
        try:
            merged = merge_values(base, update, how, mode=mode)
        except NodeattrsError:
            merged = None

        assert canonical([base, update]) == canonical(list(before))
        assert not set(containers(merged)) & {*containers(base), *containers(update)}

    @given(configs, definitions)
    def test_an_empty_mapping_changes_nothing(self, base: dict[str, Any], how: str):
        """It has nothing to say under any definition."""
        assert canonical(merge_values(base, {}, how)) == canonical(base)

    @given(configs, definitions)
    def test_with_a_dict_merger_the_first_part_comes_in_whole(self, update: dict[str, Any], how: str):
        """Every key is new, so no option is asked."""
        assert canonical(merge_values({}, update, f"{how}+dict()")) == canonical(update)

    @given(values, values)
    def test_without_mergers_the_old_value_stays(self, base: Any, update: Any):
        """An empty definition is valid."""
        assert canonical(merge_values(base, update, "")) == canonical(base)

    @given(st.lists(scalars), st.lists(scalars))
    def test_append_and_prepend_lose_nothing(self, base: list[Any], update: list[Any]):
        """One is the other with the sides exchanged."""
        appended = merge_values(base, update, "list(append)")

        assert canonical(appended) == canonical(base + update)
        assert canonical(merge_values(update, base, "list(prepend)")) == canonical(appended)

    @given(st.lists(scalars), st.lists(scalars))
    def test_by_position_the_length_is_that_of_the_old_list(self, base: list[Any], update: list[Any]):
        """New items beyond it are lost: fact 3 of the page."""
        common = min(len(base), len(update))

        assert canonical(merge_values(base, update, "list()")) == canonical(update[:common] + base[common:])

    @given(st.lists(configs, max_size=3))
    def test_a_row_reversed_is_the_reversed_row(self, rows: list[dict[str, Any]]):
        """`reverse` turns the row and nothing else."""
        assert canonical(merge_many(rows, reverse=True)) == canonical(merge_many(rows[::-1]))

    @given(configs, configs, definitions)
    def test_a_part_is_merged_like_its_config(self, first: Any, second: Any, how: str):
        """The whole way through texts gives what merging the values gives."""
        import yaml

        how = f"{how}+dict()"
        bodies = [yaml.safe_dump(first), yaml.safe_dump({**second, "merge_how": how})]
        merged = merge([f"#cloud-config\n{body}" for body in bodies])
        try:
            expected = merge_values(yaml.safe_load(bodies[0]), yaml.safe_load(yaml.safe_dump(second)), how)
        except MergeConflict:
            expected = yaml.safe_load(bodies[0])

        assert canonical(merged.config) == canonical(expected)


class TestOddInput:
    def test_subclasses_are_taken_for_what_they_are(self):
        """An OrderedDict is a mapping, and comes out as a plain one."""
        merged = merge_values(OrderedDict(a=OrderedDict(x=1)), {"a": OrderedDict(y=2)}, "dict()")

        assert merged == {"a": {"x": 1, "y": 2}}
        assert type(merged["a"]) is dict

    def test_tuples_stay_tuples_and_dates_stay_dates(self):
        """A tuple is merged like a list."""
        assert merge_values((1, 2), [3], "list(append)") == (1, 2, 3)
        assert merge_values({"d": date(2024, 1, 2)}, {}, "dict()") == {"d": date(2024, 1, 2)}

    def test_a_loop_is_an_error(self):
        """Not a full stack."""
        loop: dict[str, Any] = {}
        loop["a"] = loop

        with pytest.raises(TooDeep):
            merge_values(loop, {"a": {}}, "dict()")
        with pytest.raises(TooDeep):
            merge_values({"a": {}}, loop, "dict()")

    def test_five_hundred_levels_are_merged(self):
        """One more is refused."""
        deep: Any = {}
        for _ in range(498):
            deep = {"a": deep}

        assert merge_values(deep, {"a": deep}, "dict()")["a"]["a"]
        with pytest.raises(TooDeep):
            merge_values({"a": {"a": deep}}, {}, "dict()")

    def test_merging_objects_of_python_is_refused(self):
        """With the kind of the value."""
        with pytest.raises(NodeattrsError, match="object"):
            merge_values({"a": object()}, {"a": 1}, "dict()")

    def test_a_conflict_says_where(self):
        """The path, in keys and indexes."""
        with pytest.raises(MergeConflict, match=r"at a\.0\.t") as caught:
            merge_values({"a": [{"t": "x"}]}, {"a": [{"t": {}}]}, "dict(recurse_list)+list(recurse_dict)+str(append)")

        assert caught.value.path == ("a", 0, "t")

    @pytest.mark.parametrize("update", [None, 3, True, 1.5])
    @pytest.mark.parametrize("mode", ["append", "prepend", "no_replace"])
    def test_what_cannot_be_counted_does_not_join_a_list(self, mode: str, update: object):
        """Null and numbers have no items."""
        with pytest.raises(MergeConflict, match=rf"list\({mode}\)"):
            merge_values([1], update, f"list({mode})")


class Counting:
    """A merger for numbers and lists that asks the root about items."""

    def __init__(self, root: Any, options: list[str]) -> None:
        self.root = root
        self.options = options

    def _on_int(self, old: int, new: object) -> int:
        return old + 1

    def _on_list(self, old: list[Any], new: list[Any]) -> list[Any]:
        old.append("spoilt")
        return [self.root.merge(below, above) for below, above in zip(old, new, strict=False)]


class Failing:
    def __init__(self, root: Any, options: list[str]) -> None:
        if "early" in options:
            raise RuntimeError("not me")

    def _on_list(self, old: Any, new: Any) -> Any:
        raise RuntimeError("not this")


@pytest.fixture(autouse=True)
def _mergers() -> Iterator[None]:
    register_merger("counting", Counting)
    register_merger("failing", Failing)
    yield
    for name in registered_mergers():
        unregister_merger(name)


class TestCustomMergers:
    def test_they_are_asked_by_the_type_of_the_old_value(self):
        """And hand values on to the root."""
        base = {"l": [1, {"a": 1}]}

        assert merge_values(base, {"l": [0, {"b": 2}]}, "counting()+dict(recurse_list)") == {"l": [2, {"a": 1, "b": 2}]}
        assert base == {"l": [1, {"a": 1}]}

    def test_the_first_that_knows_a_type_is_used(self):
        """A built-in before it hides it."""
        assert merge_values([1], [5], "list(append)+counting()") == [1, 5]
        assert merge_values([1], [5], "counting()+list(append)") == [2]

    def test_results_of_a_custom_merger_have_the_origins_of_both_sides(self):
        """More cannot be known."""
        register_merger("both", type("Both", (Counting,), {"_on_list": lambda self, old, new: ["made"]}))
        merged = merge(["#cloud-config\nl: [1]", "#cloud-config\nmerge_how: both()+dict(recurse_list)\nl: [2]"])

        assert [origin.file for origin in merged.origins("l.0")] == ["part-001", "part-002"]

    @pytest.mark.parametrize(("how", "kind"), [("failing(early)", "definition"), ("failing()", "type")])
    def test_an_error_of_a_custom_merger_fails_its_part_only(self, how: str, kind: str):
        """With their own words in the error."""
        merged = merge(["#cloud-config\nl: [1]", f"#cloud-config\nmerge_how: {how}+dict(recurse_list)\nl: [2]"])

        assert (merged.config, merged.parts[1].status, merged.parts[1].kind) == ({"l": [1]}, "failed", kind)
        assert "not " in str(merged.parts[1].error)

    @pytest.mark.parametrize("name", ["dict", "list", "Odd", "1a", "a-b", ""])
    def test_a_name_that_no_definition_can_have_is_refused(self, name: str):
        """So is one that is taken."""
        with pytest.raises(BadArgument):
            register_merger(name, Counting)

    def test_one_that_is_not_known_is_an_error_that_names_the_known(self):
        """Even if nothing would use it."""
        with pytest.raises(CloudConfigError, match="counting") as caught:
            merge_values({}, {}, "dict()+odd()")

        assert caught.value.kind == "unknown-merger"

    def test_an_entry_point_offers_one(self, monkeypatch: pytest.MonkeyPatch):
        """By its name, loaded when a definition asks for it."""
        from nodeattrs.dialects.cloudinit import custom

        class Entry:
            name = "offered"

            def load(self) -> Any:
                return Counting

        monkeypatch.setattr(custom, "_offered", lambda: {"offered": Entry()})

        assert merge_values([1], [5], "offered()") == [2]


def test_a_mode_that_is_not_there_is_an_error():
    """The two are named."""
    with pytest.raises(BadArgument, match="odd"):
        merge_values({}, {}, Definition(), mode="odd")  # type: ignore[arg-type]
