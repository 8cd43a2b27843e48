"""Paths are spelled and read back, copies are independent, and what no tree can hold is refused by its path."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.core.tree import ABSENT, MAX_DEPTH, copied, dig, is_json, near, parse, spell, strict_key
from nodeattrs.errors import BadArgument, BadKey, BadValue, NodeattrsError, TooDeep
from nodeattrs.testing import trees, values
from tests.edits import changed
from tests.effort import examples
from tests.laws import exact, places, same

# Digits and dots make numbers, quotes and blanks make trouble: few characters, short texts.
texts = st.text(alphabet="1-", max_size=2) | st.text(alphabet="1.a\"'\\ \né", max_size=3) | st.just("(root)")
steps = st.lists(texts | st.integers(-2, 2), max_size=3).map(tuple)


def nested(depth: int, container: type = dict, leaf: Any = "leaf") -> Any:
    """Containers in one another, *depth* of them, and a leaf in the last."""
    value = leaf
    for _ in range(depth):
        value = {"k": value} if container is dict else [value]
    return value


class TestPaths:
    @pytest.mark.parametrize(
        ("path", "text"),
        [
            # as people write it
            (("apache",),                            "apache"),
            (("apache", "listen_ports", 0),          "apache.listen_ports.0"),
            (("apache", -1),                         "apache.-1"),
            ((),                                     "(root)"),
            (("kernel", "x86_64-linux"),             "kernel.x86_64-linux"),
            (("interfaces", "eth0:1"),               "interfaces.eth0:1"),
            # a number is an index or a key; the same digits in quotes are text
            ((1,),                                   "1"),
            (("1",),                                 '"1"'),
            (("-1",),                                '"-1"'),
            (("4.19",),                              '"4.19"'),
            (("3com",),                              "3com"),
            # what would be read otherwise is quoted
            (("a.b", "c"),                           '"a.b".c'),
            (("", "a"),                              '"".a'),
            (("/dev/sda 1",),                        '"/dev/sda 1"'),
            (("/dev/sda1",),                         "/dev/sda1"),
            (('say "x"',),                           '"say \\"x\\""'),
            (("line\nbreak",),                       '"line\\nbreak"'),
        ],
    )  # fmt: skip
    def test_a_path_is_spelled_as_people_write_it(self, path, text):
        """
        And the spelling is read as that path again.
        """
        assert text == spell(path)
        assert path == parse(text)

    @settings(max_examples=examples(300))
    @given(steps)
    def test_every_spelling_is_read_back(self, path):
        """
        Types included: `1` and `"1"` stay apart.
        """
        back = parse(spell(path))

        assert path == back
        assert [*map(type, path)] == [*map(type, back)]

    @pytest.mark.parametrize("text", ["", "  ", "(root)"])
    def test_the_root_has_three_spellings(self, text):
        """
        Nothing at all is the whole tree.
        """
        assert () == parse(text)

    def test_single_quotes_and_spaces_around_dots_are_read(self):
        """
        For shells, in which double quotes are dear.
        """
        assert ("a b", "c", 0) == parse("'a b' . c . 0")

    @pytest.mark.parametrize("text", ["a..b", ".a", "a.", 'a."b', "a.'b", "a b", '"a"b'])
    def test_what_is_no_path_is_refused_with_a_way_out(self, text):
        """
        The message has the text and the place; the hint shows how odd keys are quoted.
        """
        with pytest.raises(BadArgument) as caught:
            parse(text)

        assert repr(text) in caught.value.message
        assert "quote" in (caught.value.hint or "")

    @given(texts)
    def test_no_text_makes_the_reader_stumble(self, text):
        """
        Either a path, or an error of ours.
        """
        try:
            path = parse(text)
        except NodeattrsError:
            return
        assert all(type(step) in (int, str) for step in path)


class TestNear:
    def test_near_names_are_offered(self):
        """
        At most three, nearest first, spelled as steps.
        """
        assert ["listen_ports"] == near("listen_port", ["listen_ports", "docroot", "user"])
        assert ['"volume 1"'] == near("volume 2", ["volume 1"])
        assert 3 == len(near("key", ["key1", "key2", "key3", "key4"]))

    def test_nothing_is_offered_where_nothing_looks_alike(self):
        """
        Numbers are names too.
        """
        assert [] == near("port", ["docroot", "user"])
        assert ["8080"] == near("808", [8080, "user"])


class TestIsJson:
    @pytest.mark.parametrize(("depth", "fits"), [(1, True), (3, True), (4, True), (5, False), (9, False)])
    def test_is_json_limits_the_levels_of_a_value(self, depth, fits):
        """Side by side as many as one likes."""
        assert fits == is_json(nested(depth), 4)
        assert fits == is_json([nested(depth - 1, list), *[[1]] * 9], 4)

    def test_what_holds_itself_has_more_than_any(self):
        ring: list[Any] = []
        ring.append(ring)

        assert not is_json(ring, 4)


class TestLongPaths:
    @pytest.mark.parametrize(("length", "cut"), [(40, None), (41, 21), (42, 22), (60, 40)])
    def test_a_very_long_one_is_cut_in_the_middle(self, length, cut):
        """Twenty steps on each side stay."""
        steps = [str(number) for number in range(length)]

        assert spell(tuple(range(length))) == ".".join(steps if cut is None else [*steps[:20], "…", *steps[cut:]])


class TestDig:
    TREE: Any = {"a": {1: "one", "1": "text"}, "l": ["first", {"k": None}]}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ((),                 TREE),
            (("a", 1),           "one"),
            (("a", "1"),         "text"),
            (("l", 0),           "first"),
            (("l", -1, "k"),     None),
            (("l", 2),           ABSENT),
            (("l", "0"),         ABSENT),
            (("l", True),        ABSENT),
            (("l", 0, 0),        ABSENT),
            (("a", 1, "x"),      ABSENT),
            (("nothing", "x"),   ABSENT),
        ],
    )  # fmt: skip
    def test_maps_go_by_key_and_lists_by_index(self, path, value):
        """
        What is not there is ABSENT, and null is there.
        """
        assert value is dig(self.TREE, path)

    def test_absent_is_one_thing_and_false(self):
        """
        Also after a copy and a pickle; it is not null.
        """
        assert not ABSENT
        assert ABSENT is not None
        assert ABSENT is copy.deepcopy(ABSENT) is pickle.loads(pickle.dumps(ABSENT))
        assert "ABSENT" == repr(ABSENT)


class Loud(StrEnum):
    A = "a"


class Two(IntEnum):
    TWO = 2


class TestCopies:
    @given(trees())
    def test_a_copy_is_equal_and_independent(self, tree):
        """
        Types and key order included; no map or list is shared.
        """
        twin = copied(tree)

        assert exact(tree) == exact(twin)
        mine = {id(value) for _, value in places(tree) if isinstance(value, (dict, list))}
        assert not mine & {id(value) for _, value in places(twin) if isinstance(value, (dict, list))}

    def test_copies_of_a_tree_share_no_parts(self):
        """
        Anchors of YAML make webs; a tree has every part once.
        """
        shared = ["x"]
        twin = copied({"a": shared, "b": [shared, shared]})

        twin["a"].append("y")

        assert {"a": ["x", "y"], "b": [["x"], ["x"]]} == twin

    @pytest.mark.parametrize("value", [None, True, 0, 1.5, "text", [], {}])
    def test_values_alone_are_copied_too(self, value):
        """
        A tree need not be a map.
        """
        assert exact(value) == exact(copied(value))

    @pytest.mark.parametrize(
        ("tree", "path", "kind"),
        [
            ({"a": {1.5: "x"}},             ("a",),        BadKey),
            ({"a": [{True: "x"}]},          ("a", 0),      BadKey),
            ({None: 1},                     (),            BadKey),
            ({("a", "b"): 1},               (),            BadKey),
            ({"a": {"b": {1, 2}}},          ("a", "b"),    BadValue),
            ({"a": ["x", ("t",)]},          ("a", 1),      BadValue),
            ([[object()]],                  (0, 0),        BadValue),
            ({"a": {2: datetime.date.max}}, ("a", 2),      BadValue),
            (OrderedDict(a=1),              (),            BadValue),
        ],
    )  # fmt: skip
    def test_what_no_tree_can_hold_is_refused_by_its_path(self, tree, path, kind):
        """
        A key that is neither text nor an integer, a value of another type.
        """
        with pytest.raises(kind) as caught:
            copied(tree)

        assert path == caught.value.path

    def test_keys_that_are_texts_by_another_name_become_texts(self):
        """
        And integers have to be exact: an enumeration of numbers is refused, for it would print by name.
        """
        twin = copied({Loud.A: {Loud.A: 1}})

        assert exact({"a": {"a": 1}}) == exact(twin)
        with pytest.raises(BadKey):
            copied({Two.TWO: 1})

    def test_a_converter_is_asked_for_anything_else(self):
        """
        What it gives is copied in its place, at any depth.
        """

        def convert(value: Any) -> Any:
            if isinstance(value, tuple):
                return list(value)
            return value.isoformat() if isinstance(value, datetime.date) else value

        twin = copied({"a": (1, ({"d": datetime.date(2020, 2, 29)},))}, convert=convert)

        assert {"a": [1, [{"d": "2020-02-29"}]]} == twin

    @pytest.mark.parametrize("kind", [OrderedDict, type("Items", (list,), {})])
    def test_a_converter_cannot_wave_a_foreign_map_or_list_through(self, kind):
        """
        A scalar that it gives back is taken as it is; a container has to be an exact one.
        """
        assert {"a": [b"x"]} == copied({"a": [b"x"]}, convert=lambda value: value)
        with pytest.raises(BadValue) as caught:
            copied({"a": [kind()]}, convert=lambda value: value)

        assert ("a", 0) == caught.value.path

    def test_further_scalars_are_taken_as_they_are(self):
        """
        Kinds of values are open.
        """
        today = datetime.date(2020, 2, 29)

        assert copied({"d": today}, frozenset({datetime.date}))["d"] is today


@pytest.mark.parametrize("container", [dict, list])
class TestDepth:
    def test_five_hundred_levels_are_copied(self, container):
        """
        Also on the stack that pytest has left.
        """
        twin = copied(nested(MAX_DEPTH, container))

        for _ in range(MAX_DEPTH):
            twin = twin["k"] if container is dict else twin[0]
        assert "leaf" == twin

    def test_room_may_be_less(self, container):
        """
        For a value that is put below the root.
        """
        assert copied(nested(3, container), room=3)
        with pytest.raises(TooDeep):
            copied(nested(3, container), room=2)

    def test_one_more_is_too_deep(self, container):
        """
        The message says how deep a tree may be.
        """
        with pytest.raises(TooDeep, match="500 levels"):
            copied(nested(MAX_DEPTH + 1, container))

    def test_a_cycle_is_too_deep(self, container):
        """
        However long it is.
        """
        ring = nested(3, container, [])
        inner = ring
        for _ in range(3):
            inner = inner["k"] if container is dict else inner[0]
        inner.append(ring)

        with pytest.raises(TooDeep):
            copied(ring)

    def test_deep_values_are_told_apart(self, container):
        """
        Equal ones have equal keys, and a change at the bottom is seen; hashing and comparing do not overflow.
        """
        one, two = (strict_key(nested(MAX_DEPTH, container)) for _ in range(2))

        assert one == two
        assert hash(one) == hash(two)
        assert one != strict_key(nested(MAX_DEPTH, container, "other"))


class TestStrictKey:
    @given(values(), values())
    def test_keys_are_equal_where_values_are(self, one, two):
        """
        Types included, key order not: the oracle compares them part by part.
        """
        assert same(one, two) == (strict_key(one) == strict_key(two))

    @given(values())
    def test_a_key_can_be_hashed_and_survives_a_copy(self, value):
        """
        Nothing about a value but its content counts.
        """
        assert hash(strict_key(value)) == hash(strict_key(copied(value)))

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            (1, 1.0),
            (1, True),
            (0, False),
            (None, False),
            ("1", 1),
            ([1], [True]),
            ([], {}),
            ([[]], []),
            ([1, 2], [2, 1]),
            ([["a"], "b"], [["a", "b"]]),
            ({"a": 1}, {"a": 1.0}),
            ({1: "x"}, {"1": "x"}),
            ({"a": {}}, {"a": []}),
            ([{"a": 1}, "b"], [{"a": 1, "b": 1}]),
        ],
    )
    def test_what_python_may_take_for_the_same_is_not(self, one, two):
        """
        Each pair is two elements of a united list.
        """
        assert strict_key(one) != strict_key(two)

    def test_the_order_of_keys_does_not_count(self):
        """
        Two maps with the same entries are one element.
        """
        assert strict_key({"a": 1, "b": [2]}) == strict_key({"b": [2], "a": 1})


@given(trees(), st.data())
def test_what_was_put_at_a_path_is_dug_out_there(tree, data):
    """`dig` finds what stands at any path of a tree."""
    path, value = data.draw(st.sampled_from(list(places(tree))))

    assert value is dig(tree, path)
    assert "new" == dig(changed(tree, path, "new"), path)
