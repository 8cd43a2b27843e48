"""The merged read: an immutable mapping that works wherever plain data does, and never changes."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from collections.abc import Mapping, Sequence
from functools import partial

import jinja2
import pytest
from hypothesis import given

from nodeattrs import Node, Sensitive, Symbol, json_default, lazy
from nodeattrs.chef import apply_expansion, reset_defaults_and_overrides
from nodeattrs.errors import AttributeIsReadOnly, NoSuchAttribute, ValueWithheld
from nodeattrs.node.running import walk
from nodeattrs.testing import values
from tests.ledgers import ledger_of
from tests.sane import contradictions_in

WHOLE = {
    "apache": {"port": 8080, "dir": "/etc/apache2", "modules": ["ssl", "status"], "vhosts": [{"name": "one"}]},
    "name": "web1",
    "nothing": None,
}


@pytest.fixture
def node():
    """Three levels speak about one map, so that every read is a merge."""
    node = Node("web1")
    node.default["apache"] = {"port": 80, "dir": "/etc/apache2", "modules": ["ssl"]}
    node.role_default["apache"]["modules"] = ["status"]
    node.normal["apache"]["vhosts"] = [{"name": "one"}]
    node.override["apache"]["port"] = 8080
    node.default["name"] = "web1"
    node.default["nothing"] = None
    return node


@pytest.fixture(params=["cold", "warm"])
def view(node, request):
    """The merged view, not read yet or read to its end: C code that looks at contents must see no difference."""
    view = ledger_of(node).view()
    if request.param == "warm":
        assert view.to_dict() == WHOLE
        assert [*view["apache"].items(), *view["apache"]["modules"], *view["apache"]["vhosts"][0].items()]
    return view


class TestAsPlainData:
    def test_views_are_a_mapping_and_a_sequence_but_no_dict_and_list(self, node):
        """And no dict and no list, which C code would read past our methods."""
        assert isinstance(node["apache"], Mapping)
        assert isinstance(node["apache"]["modules"], Sequence)
        assert not isinstance(node["apache"], dict)
        assert not isinstance(node["apache"]["modules"], list)

    def test_json_writes_it(self, view):
        """`json.dumps(default=...)` gets whole maps and lists, never half-filled ones."""
        assert json.loads(json.dumps(view, default=json_default)) == WHOLE
        assert json.dumps({"in": [view]}, default=json_default) == json.dumps({"in": [WHOLE]})

    def test_json_writes_every_sort_of_value(self, node):
        """Deferred ones computed, secrets as a marker, symbols and keys as text; the node itself too."""
        node.default["odd"] = {1: lazy(lambda: node["name"]), "s": Symbol("s"), "l": [lazy(lambda: (1,))]}
        node.default["odd"]["secret"] = Sensitive("hunter2")
        odd = {"1": "web1", "s": "s", "l": [[1]], "secret": {"$sensitive": "withheld"}}

        assert json.loads(json.dumps(node, default=json_default)) == {**WHOLE, "odd": odd}
        assert json.loads(json.dumps(node["odd"]["secret"], default=json_default)) == odd["secret"]
        assert json.loads(json.dumps(node.default["odd"], default=json_default)) == odd
        assert json.loads(json.dumps(node.to_dict(evaluate=False), default=json_default))["odd"] == odd
        with pytest.raises(TypeError, match="object"):
            json.dumps(object(), default=json_default)

    def test_json_refuses_it_without_a_default(self, view):
        """An error beats an empty object."""
        with pytest.raises(TypeError):
            json.dumps(view)

    def test_a_view_equals_plain_data_from_both_sides(self, view):
        """At every level, and other data is unequal."""
        assert view == WHOLE
        assert WHOLE == view
        assert view["apache"]["modules"] == ["ssl", "status"]
        assert ["ssl", "status"] == view["apache"]["modules"]
        assert {"in": view["apache"]} == {"in": WHOLE["apache"]}
        assert [view["apache"]["modules"]] == [["ssl", "status"]]
        assert view["apache"] == view["apache"]
        assert view != {**WHOLE, "name": "web2"}
        assert view["apache"]["modules"] != ["ssl"]
        assert view["apache"]["modules"] != "ssl"
        assert view["apache"] != view["apache"]["modules"]

    def test_a_view_is_not_hashable(self, view):
        """As dict and list, since it compares by content."""
        with pytest.raises(TypeError):
            hash(view)
        with pytest.raises(TypeError):
            hash(view["apache"]["modules"])

    def test_copy_gives_the_same_and_deepcopy_plain_data(self, view):
        """A copy of what cannot change is itself; a deep copy is the caller's own."""
        deep = copy.deepcopy(view)
        deep["apache"]["modules"].append("mine")

        assert copy.copy(view) is view
        assert type(deep) is dict
        assert type(deep["apache"]["vhosts"][0]) is dict
        assert copy.deepcopy({"in": view["apache"]["modules"]}) == {"in": ["ssl", "status"]}
        assert view == WHOLE

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_pickle_holds_plain_data_and_no_node(self, view, protocol):
        """So a reader needs no nodeattrs."""
        pickled = pickle.dumps(view, protocol)

        assert pickle.loads(pickled) == WHOLE
        assert type(pickle.loads(pickled)) is dict
        assert b"nodeattrs" not in pickled

    def test_a_node_is_neither_copied_nor_pickled(self, node):
        """The error shows what to do instead."""
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(ValueError, match="snapshot"):
                attempt(node)

    def test_stars_spread_it(self, view):
        """`{**view}`, a call with `**view`, `[*list]`."""

        def called(**keywords):
            return keywords

        assert {**view} == WHOLE
        assert called(**view["apache"]) == WHOLE["apache"]
        assert [*view["apache"]["modules"]] == ["ssl", "status"]
        assert [*view] == list(WHOLE)

    def test_dict_and_list_take_it(self, view):
        """The constructors, `dict.update`, `list.extend`, `sorted`, `set`, `",".join`."""
        updated = {"name": "old", "more": 1}
        updated.update(view)

        assert dict(view) == WHOLE
        assert list(view) == list(WHOLE)
        assert dict(view["apache"]) == WHOLE["apache"]
        assert updated == {**WHOLE, "more": 1}
        assert list(view["apache"]["modules"]) == ["ssl", "status"]
        assert tuple(reversed(view["apache"]["modules"])) == ("status", "ssl")
        assert sorted(view["apache"]) == sorted(WHOLE["apache"])
        assert ",".join(view["apache"]["modules"]) == "ssl,status"
        assert max(view["apache"]["modules"]) == "status"

    def test_patterns_match_it(self, view):
        """Mapping patterns, sequence patterns, and rests."""
        match view:
            case {"apache": {"port": int(port), "modules": [first, *others], "vhosts": [{"name": name}]}, **rest}:
                found = (port, first, others, name, rest)
            case _:
                found = None

        assert found == (8080, "ssl", ["status"], "one", {"name": "web1", "nothing": None})

    def test_a_list_is_no_mapping_pattern_and_text_no_sequence_pattern(self, view):
        """Patterns tell the kinds apart."""
        match view["apache"]["modules"]:
            case {}:
                kind = "map"
            case [_, _]:
                kind = "list of two"

        assert kind == "list of two"

    def test_a_jinja_template_reads_it(self, node, view):
        """By dots and by brackets, in loops and filters; what is absent is undefined."""
        text = (
            "{{ node.apache.port }} {{ node['apache']['dir'] }} {% for m in node.apache.modules %}{{ m }},{% endfor %}"
            "{{ node.apache.modules | join('+') }} {{ node.apache.vhosts[0].name }}"
            "{% for key, value in node.apache | dictsort %} {{ key }}{% endfor %} {{ node.apache.nope | default('-') }}"
        )
        expected = "8080 /etc/apache2 ssl,status,ssl+status one dir modules port vhosts -"

        assert jinja2.Template(text).render(node=view) == expected
        assert jinja2.Template(text).render(node=node) == expected
        assert jinja2.Template(text).render(node=WHOLE) == expected
        assert jinja2.Template("{{ port }}").render(view["apache"]) == "8080"

    def test_to_dict_and_to_list_give_plain_copies(self, view):
        """Exact dicts and lists, all the way down."""
        whole = view.to_dict()

        assert whole == WHOLE
        assert {type(whole), type(whole["apache"]), type(whole["apache"]["vhosts"][0])} == {dict}
        assert type(whole["apache"]["vhosts"]) is type(view["apache"]["modules"].to_list()) is list

    def test_merge_and_plus_give_plain_data(self, view):
        """For callers who want to go on from here."""
        assert view["apache"].merge({"port": 1, "new": 2}) == {**WHOLE["apache"], "port": 1, "new": 2}
        assert view["apache"]["modules"] + ["x"] == ["ssl", "status", "x"]
        assert ["x"] + view["apache"]["modules"] == ["x", "ssl", "status"]
        assert view == WHOLE

    def test_the_text_of_a_view_is_that_of_plain_data(self, view):
        """For people who print it."""
        assert str(view) == str(WHOLE)
        assert f"{view['apache']['modules']}" == "['ssl', 'status']"


class TestReading:
    def test_the_usual_questions(self, view):
        """`in`, `len`, `get`, `keys`, `values`, `items`, `index`, `count`, slices, negative indexes."""
        apache, modules = view["apache"], view["apache"]["modules"]

        assert "port" in apache
        assert "nope" not in apache
        assert (len(view), len(apache), len(modules)) == (3, 4, 2)
        assert (view.get("name"), view.get("nothing", 1), view.get("nope"), view.get("nope", 1)) == (
            "web1",
            None,
            None,
            1,
        )
        assert list(apache.keys()) == ["port", "dir", "modules", "vhosts"]
        assert next(iter(apache.items())) == ("port", 8080)
        assert list(apache.values())[1] == "/etc/apache2"
        assert (modules.index("status"), modules.count("ssl"), modules[-1], modules[:1]) == (1, 1, "status", ["ssl"])
        assert bool(view)
        assert not Node("empty")

    def test_keys_come_weaker_levels_first_and_new_keys_after(self, node):
        """The order does not depend on what was read or written first."""
        other = Node("other")
        other.override["m"] = {"z": 1, "b": 1}
        other.default["m"] = {"a": 1, "z": 1}
        other.role_default["m"] = {"c": 1, "b": 1}
        assert other["m"]["b"] == 1

        assert list(other["m"]) == ["a", "z", "c", "b"]
        assert list(other["m"].to_dict()) == ["a", "z", "c", "b"]
        assert list(other.to_dict()["m"]) == ["a", "z", "c", "b"]

    def test_an_absent_key_is_an_error_that_names_near_misses(self, node):
        """It is a KeyError, with the path."""
        with pytest.raises(KeyError, match=r"apache\.prot") as caught:
            node["apache"]["prot"]

        assert isinstance(caught.value, NoSuchAttribute)
        assert caught.value.path == ("apache", "prot")
        assert "did you mean port?" in str(caught.value)

    def test_where_nothing_is_near_the_error_shows_how_to_ask(self, node):
        """`.get(...)` and `node.read(...)` give None."""
        with pytest.raises(NoSuchAttribute, match=r"\.get\(") as caught:
            node["zzz"]

        assert caught.value.path == ("zzz",)

    def test_an_index_out_of_range_is_python_s_own_error(self, node):
        """Sequences end by IndexError."""
        with pytest.raises(IndexError):
            node["apache"]["modules"][2]

    def test_asking_does_not_create(self, node):
        """Neither the levels nor the answers grow by questions."""
        before = node.to_dict()
        for ask in (node.get, node.read, node.exist, partial(walk, node), node.has_attribute, node.trace, node.explain):
            ask("nope")
        with pytest.raises(NoSuchAttribute):
            node["nope"]

        assert node.to_dict() == before
        assert contradictions_in(node) == []

    def test_null_is_there_and_absent_is_not(self, node):
        """They are two answers."""
        assert node["nothing"] is None
        assert node.exist("nothing")
        assert node.read("nothing") is node.read("nope") is None
        assert not node.exist("nope")


WRITES = {
    "assign": lambda view: view.__setitem__("port", 1),
    "delete": lambda view: view.__delitem__("port"),
    "delete()": lambda view: view.delete("port"),
    "pop": lambda view: view.pop("port"),
    "setdefault": lambda view: view.setdefault("port", 1),
    "update": lambda view: view.update(port=1),
    "clear": lambda view: view.clear(),
    "popitem": lambda view: view.popitem(),
}
LIST_WRITES = {
    "assign": lambda view: view.__setitem__(0, "x"),
    "delete": lambda view: view.__delitem__(0),
    "+=": lambda view: view.__iadd__(["x"]),
    "pop": lambda view: view.pop(),
    "sort": lambda view: view.sort(),
    "clear": lambda view: view.clear(),
    "reverse": lambda view: view.reverse(),
    **{
        name: lambda view, name=name: getattr(view, name)("x")
        for name in ("append", "push", "extend", "concat", "unshift", "remove", "delete", "replace")
    },
    "insert": lambda view: view.insert(0, "x"),
    "shift": lambda view: view.shift(),
    "uniq": lambda view: view.uniq(),
}


class TestWritingIsRefused:
    def test_the_error_shows_the_line_to_write(self, node):
        """With the whole path, ready to paste."""
        with pytest.raises(TypeError) as caught:
            node["apache"]["port"] = 1

        assert isinstance(caught.value, AttributeIsReadOnly)
        assert caught.value.path == ("apache", "port")
        assert "node.default['apache']['port'] = ..." in str(caught.value)
        exec(str(caught.value.hint).split(": ", 1)[1].split("...")[0] + "1", {"node": node})
        assert node.slots[2].to_dict()["apache"]["port"] == 1

    @pytest.mark.parametrize("write", WRITES)
    def test_every_way_to_change_a_map(self, node, view, write):
        """And nothing has changed."""
        with pytest.raises(AttributeIsReadOnly, match="apache"):
            WRITES[write](view["apache"])

        assert view == node.to_dict() == WHOLE

    @pytest.mark.parametrize("write", LIST_WRITES)
    def test_every_way_to_change_a_list(self, node, view, write):
        """And nothing has changed."""
        with pytest.raises(AttributeIsReadOnly, match=r"apache\.modules|\['apache'\]\['modules'\]"):
            LIST_WRITES[write](view["apache"]["modules"])

        assert view == node.to_dict() == WHOLE

    def test_the_node_itself_refuses_too(self, node):
        """`node["a"] = 1` was Chef's normal once; the error does not guess."""
        with pytest.raises(AttributeIsReadOnly, match=r"node\.default\['a'\]"):
            node["a"] = 1
        with pytest.raises(AttributeIsReadOnly):
            del node["apache"]

    def test_inside_a_list_the_path_has_the_index(self, node):
        """Of the element that was to change."""
        with pytest.raises(AttributeIsReadOnly) as caught:
            node["apache"]["vhosts"][0]["name"] = "two"

        assert caught.value.path == ("apache", "vhosts", 0, "name")

    def test_combined_levels_are_read_only_as_well(self, node):
        """They are the same sort of view."""
        with pytest.raises(AttributeIsReadOnly):
            node.combined_default["apache"]["port"] = 1


SHAKE = {
    "a store": lambda node: node.default["apache"].__setitem__("dir", "x"),
    "a new key": lambda node: node.default["apache"].__setitem__("new", "x"),
    "a stronger slot joins": lambda node: node.force_override["apache"].__setitem__("port", 1),
    "a weaker slot joins": lambda node: node.env_default["apache"].__setitem__("first", 1),
    "the map is replaced": lambda node: node.default.__setitem__("apache", {"x": 1}),
    "the component is replaced": lambda node: setattr(node, "default", {"x": 1}),
    "a scalar takes its place": lambda node: node.force_override.__setitem__("apache", 5),
    "a key is deleted": lambda node: node.default["apache"].delete("dir"),
    "everything is removed": lambda node: node.rm("apache"),
    "a list grows": lambda node: node.default["apache"]["modules"].push("x"),
    "an element changes": lambda node: node.normal["apache"]["vhosts"][0].__setitem__("name", "two"),
    "a step makes a map": lambda node: node.override["apache"]["deep"]["deeper"],
    "a full assignment": lambda node: node.force_default_full("apache", "port", "x", 1),
    "roles": lambda node: apply_expansion(node, {"apache": {"dir": "x"}}, {"apache": {"port": 1}}),
    "reset": lambda node: reset_defaults_and_overrides(node),
}


class TestWhatWasHandedOutNeverChanges:
    @pytest.mark.parametrize("read", [False, True], ids=["unread", "read"])
    @pytest.mark.parametrize("shake", SHAKE)
    def test_whatever_is_written(self, node, shake, read):
        """Views of the root's entries, of the depth, of lists; looked at before or not."""
        apache, modules, vhost = node["apache"], node["apache"]["modules"], node["apache"]["vhosts"][0]
        combined = node.combined_default
        before = copy.deepcopy(combined) if read else {"apache": {"port": 80, "dir": "/etc/apache2",
                  "modules": ["ssl", "status"]}, "name": "web1", "nothing": None}  # fmt: skip
        if read:
            assert apache == WHOLE["apache"]
        SHAKE[shake](node)
        SHAKE[shake](node)

        assert apache == WHOLE["apache"]
        assert list(apache) == list(WHOLE["apache"])
        assert modules == ["ssl", "status"]
        assert vhost == {"name": "one"}
        assert combined == before
        assert contradictions_in(node) == []

    def test_an_iteration_goes_on_over_what_it_began_with(self, node):
        """Keys, items and values, while the loop writes."""
        seen = []
        for key in node["apache"]:
            node.default["apache"][f"new {key}"] = 1
            node.default["apache"].delete("dir")
            seen.append(key)

        assert seen == list(WHOLE["apache"])

    @pytest.mark.parametrize("part", ["node", "map"])
    @pytest.mark.parametrize("what", ["keys", "values", "items"])
    def test_keys_values_and_items_stay_too(self, part, what):
        """Of a map and of the node itself, though the loop removes what comes next."""
        node = Node("web1")
        for key in "abc":
            node.default[key] = node.default["map"][key] = key.upper()
        whole = node if part == "node" else node["map"]
        expected = list(getattr(whole.to_dict(), what)())
        handed_out = getattr(whole, what)()

        seen = []
        for one in handed_out:
            node.rm("b")
            node.rm("map", "b")
            node.default["d"] = node.default["map"]["d"] = 1
            seen.append(one)

        assert seen == expected
        assert len(handed_out) == len(expected)
        assert list(handed_out) == expected

    def test_the_next_read_sees_the_write(self, node):
        """Nothing is stale: neither values, nor keys, nor lengths."""
        assert (len(node["apache"]), len(node)) == (4, 3)
        node.default["apache"]["user"] = "www"
        node.default["more"] = 1
        node.override["apache"]["port"] = 1

        assert (len(node["apache"]), len(node)) == (5, 4)
        assert "user" in node["apache"]
        assert list(node) == ["apache", "name", "nothing", "more"]
        assert node["apache"]["port"] == 1
        assert contradictions_in(node) == []


class TestCopies:
    @given(values(("a", "b", 1), (None, 1, "x", 1.5)))
    def test_nothing_of_a_copy_is_shared(self, tree):
        node = Node("web1")
        node.automatic["k"] = [tree, {"inside": tree}]

        copy, other = node.to_dict()["k"], node.to_dict()["k"]

        assert [tree, {"inside": tree}] == copy == other
        assert not {id(one) for one in holders(copy)} & {id(one) for one in holders(other)}

    def test_values_that_are_not_ready_are_found_in_the_smallest_map(self):
        """
        A deferred one is computed, and one that was not stored is missed, though they stand beside scalars only.
        """
        node = Node("web1", sensitive=["db.password"])
        node.automatic["k"] = {"l": {"scalar": 1, "computed": lazy(lambda: 2)}}
        node.automatic["db"] = {"host": "h", "password": "hunter2"}
        saved = Node.restore(node.snapshot())
        gc.collect()

        assert {"l": {"scalar": 1, "computed": 2}} == node.to_dict()["k"]
        with pytest.raises(ValueWithheld, match=r"db\.password"):
            saved.to_dict()


def holders(tree):
    """The maps and lists of a tree."""
    found = [tree] if isinstance(tree, (dict, list)) else []
    for one in found:
        inside = one.values() if isinstance(one, dict) else one
        found += [inner for inner in inside if isinstance(inner, (dict, list))]
    return found
