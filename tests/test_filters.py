"""Allow and block lists: Chef's recorded cases, and what must hold beside them."""

import copy
import json
import pathlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodeattrs import Node, Sensitive, lazy
from nodeattrs.errors import BadArgument, TypeConflict
from nodeattrs.node.running import setting_as
from nodeattrs.store import allowed, blocked, filtered_snapshot, saved_document

CASES = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parent / "vectors" / "chef-allowlist.jsonl").read_text("utf-8").splitlines()
]

FACTS = {
    "fqdn": "web1.example.com",
    "network": {"interfaces": {"eth0": {"mtu": 1500}, "eth1": {"mtu": 9000}}},
    "filesystem": {"/dev/sda1": {"size": "10mb"}},
    "uptime": 86400,
}


def filtered(tree, allow, block):
    if allow is not None:
        tree = allowed(tree, allow)
    return tree if block is None else blocked(tree, block)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_chef_saves_is_what_is_saved(case):
    """Types and key order included; and what was given stays as it was."""
    data = copy.deepcopy(case["data"])

    if "error" in case["expect"]:
        with pytest.raises(TypeConflict):
            filtered(data, case["allow"], case["block"])
    else:
        saved = filtered(data, case["allow"], case["block"])
        assert json.dumps(case["expect"]["saved"]) == json.dumps(saved)
    assert json.dumps(case["data"]) == json.dumps(data)


class TestBlockingThroughText:
    """Chef's rule, where Ruby looks for one text inside another."""

    def test_a_key_that_the_text_lacks_ends_the_entry(self):
        assert {"a": "text"} == blocked({"a": "text"}, ["a/zz/b"])

    @pytest.mark.parametrize("entry", ["a/b", "a/ex/b"])
    def test_text_has_no_keys_to_delete(self, entry):
        with pytest.raises(TypeConflict):
            blocked({"a": "text"}, [entry])

    def test_the_piece_found_is_what_the_next_key_is_looked_for_in(self):
        assert {"a": "text"} == blocked({"a": "text"}, ["a/ex/t/b"])


class TestAnEntryThatCannotBeFollowed:
    def test_the_error_names_the_path_and_the_entry_but_not_the_value(self):
        with pytest.raises(TypeConflict) as caught:
            allowed(FACTS, ["fqdn", "uptime/seconds"])

        assert ("uptime",) == caught.value.path
        assert "'uptime/seconds'" in str(caught.value)
        assert "86400" not in str(caught.value)

    @pytest.mark.parametrize("entries", ["network", {"network": True}, None, 7])
    @pytest.mark.parametrize("of", [allowed, blocked])
    def test_a_list_must_be_a_list(self, of, entries):
        with pytest.raises(BadArgument, match="is not a list of entries"):
            of(FACTS, entries)

    @pytest.mark.parametrize("entry", [None, 7, {"network": True}, ["network", None], ["network", True], ["a", 1.0]])
    @pytest.mark.parametrize("of", [allowed, blocked])
    def test_an_entry_must_be_text_or_keys(self, of, entry):
        with pytest.raises(BadArgument, match="has an entry that is neither"):
            of(FACTS, [entry])

    @pytest.mark.parametrize("lists", [["a"], "automatic", 1, 1.5])
    def test_lists_that_are_no_map_of_levels_are_refused(self, lists):
        for allow, block in ((lists, None), (None, lists)):
            with pytest.raises(BadArgument, match="is a map or None, and not"):
                saved_document(Node("web1"), allow, block)


keys = st.sampled_from(["a", "b", "/c"])
trees = st.dictionaries(
    keys,
    st.recursive(st.sampled_from([1, None, "a"]), lambda inner: st.dictionaries(keys, inner, max_size=3)),
    max_size=3,
)
entries = st.lists(st.lists(keys, min_size=1, max_size=3) | st.sampled_from(["a", "a/b", "b/a/"]), max_size=3)


class TestLaws:
    @given(trees, entries, st.sampled_from([allowed, blocked]))
    def test_the_result_is_independent_and_the_input_unchanged(self, tree, entries, of):
        before = copy.deepcopy(tree)
        try:
            result = of(tree, entries)
        except TypeConflict:
            pass
        else:
            for part in maps_in(result):
                part["mark"] = "mine"
        assert before == tree

    @given(trees, entries)
    def test_a_list_applied_twice_changes_nothing_more(self, tree, entries):
        for of in (allowed, blocked):
            try:
                once = of(tree, entries)
            except TypeConflict:
                continue
            assert once == of(once, entries)

    @given(trees, st.lists(keys, min_size=1, max_size=3))
    def test_what_is_allowed_and_what_is_blocked_are_two_halves(self, tree, entry):
        """Of one entry: what the one keeps at the path, the other has not."""
        try:
            kept, rest = allowed(tree, [entry]), blocked(tree, [entry])
        except TypeConflict:
            return
        assert value_at(tree, entry) == value_at(kept, entry)
        assert value_at(rest, entry) is ...


def maps_in(tree):
    if isinstance(tree, dict):
        for part in list(tree.values()):
            yield from maps_in(part)
        yield tree


def value_at(tree, path):
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return ...
        tree = tree[key]
    return tree


class NodeThat:
    """Stands in for a node: what matters here is the document it gives."""

    def __init__(self, **levels):
        self.levels = levels

    def to_chef(self, *, shared=False):
        document = {"name": "web1", "chef_environment": "_default", "json_class": "Chef::Node"}
        document |= {"automatic": {}, "normal": {}, "chef_type": "node", "default": {}, "override": {}, "run_list": []}
        return document | copy.deepcopy(self.levels)


class TestSavedDocument:
    def test_each_level_has_lists_of_its_own(self):
        node = NodeThat(automatic=FACTS, normal={"a": 1, "b": 2}, default={"a": 1, "b": 2})

        document = saved_document(node, allow={"automatic": ["fqdn"], "normal": ["a"]}, block={"default": ["a"]})

        assert ({"fqdn": "web1.example.com"}, {"a": 1}, {"b": 2}) == (
            document["automatic"],
            document["normal"],
            document["default"],
        )

    def test_allow_comes_first_and_the_document_keeps_its_order(self):
        node = NodeThat(automatic=FACTS)

        document = saved_document(node, {"automatic": ["network"]}, {"automatic": ["network/interfaces/eth0", "fqdn"]})

        assert {"network": {"interfaces": {"eth1": {"mtu": 9000}}}} == document["automatic"]
        assert list(node.to_chef()) == list(document)

    def test_no_list_is_not_an_empty_list(self):
        node = NodeThat(normal={"a": 1})

        assert {"a": 1} == saved_document(node, {"normal": None})["normal"]
        assert {} == saved_document(node, {"normal": []})["normal"]

    def test_a_level_that_has_no_lists_is_an_error_with_near_misses(self):
        with pytest.raises(BadArgument, match="did you mean automatic"):
            saved_document(NodeThat(), allow={"automatc": []})
        with pytest.raises(BadArgument, match="levels with lists: automatic, default, normal, override"):
            saved_document(NodeThat(), block={"facts": []})

    def test_a_conflict_says_which_list_asked(self):
        with pytest.raises(TypeConflict, match="block list of the automatic attributes names 'uptime/seconds'"):
            saved_document(NodeThat(automatic=FACTS), block={"automatic": ["uptime/seconds"]})


class TestTheLiveNode:
    """Chef's block lists delete from the node that is being saved; see `quirk-save-block-mutates-node`."""

    def test_saving_leaves_it_alone(self):
        node = Node("web1")
        node.automatic["a"] = {"x": 1, "y": 2}
        node.normal["n"] = {"x": 1, "y": 2}

        document = saved_document(node, block={"automatic": ["a/x"], "normal": ["n/x", "m/x"]})

        assert ({"a": {"y": 2}}, {"n": {"y": 2}}) == (document["automatic"], document["normal"])
        assert {"n": {"x": 1, "y": 2}, "a": {"x": 1, "y": 2}} == node.to_dict()


components = st.sampled_from(["default", "role_default", "force_default", "normal", "override", "env_override"])
setters = st.sampled_from(["attribute file", "recipe"])
said = st.sampled_from([1, None, False, "ab", [1], [{"a": 2}], {}]) | trees
writes = st.lists(st.tuples(setters, components, st.lists(keys, min_size=1, max_size=2), said), max_size=6)
levels = st.dictionaries(st.sampled_from(["default", "normal", "override"]), entries, max_size=2)


def node_of(writes):
    node = Node("web1")
    for setter, component, path, value in writes:
        with setting_as(node, setter, "cookbook"):
            getattr(node, component).write(*path, value)
    return node


class TestFilteredSnapshot:
    @given(writes, levels, levels)
    def test_slots_of_a_filtered_snapshot_fold_to_the_saved_document(self, writes, allow, block):
        node = node_of(writes)
        try:
            document = saved_document(node, allow, block)
        except TypeConflict:
            assume(False)

        assert document == Node.restore(filtered_snapshot(node.snapshot(), allow, block)).to_chef()

    @given(writes, levels, levels)
    def test_the_snapshot_given_stays_as_it_was(self, writes, allow, block):
        snapshot = node_of(writes).snapshot()
        before = copy.deepcopy(snapshot)
        filtered_snapshot(snapshot, allow, block)

        assert before == snapshot

    def test_a_blocked_value_is_left_nowhere(self):
        """Neither in a slot, nor in the history, nor as a key beside a line."""
        node = Node("web1")
        node.default["db"] = {"port": 1, "phrase": "first secret", "more": {"phrase": ["second secret"]}}
        node.default["db"]["phrase"] = "third secret"
        node.default["db"]["more"]["phrase"].append("fourth secret")
        node.default_unless["db"]["phrase"] = "fifth secret"
        node.force_default["db"] = {"phrase": "sixth secret"}
        del node.force_default["db"]

        snapshot = filtered_snapshot(node.snapshot(), block={"default": ["db/phrase", "db/more/phrase"]})

        assert "secret" not in json.dumps(snapshot)
        assert "phrase" not in json.dumps(snapshot)
        assert {"db": {"port": 1, "more": {}}} == Node.restore(snapshot).to_dict()

    def test_only_what_is_allowed_is_left(self):
        node = Node("web1")
        node.automatic["fqdn"] = "web1.example.com"
        node.automatic["users"] = {"ann": {"shell": "secret"}}
        node.automatic["users"]["ann"]["shell"] = "another secret"
        node.normal["users"] = "of another level"

        snapshot = filtered_snapshot(node.snapshot(), allow={"automatic": ["fqdn"]})

        assert "secret" not in json.dumps(snapshot)
        assert {"users": "of another level", "fqdn": "web1.example.com"} == Node.restore(snapshot).to_dict()

    def test_values_of_a_filtered_snapshot_keep_their_explanation(self):
        node = Node("web1")
        with setting_as(node, "attribute file", "apache2"):
            node.default["apache"] = {"port": 80, "dir": "/srv", "mods": ["ssl"]}
        with setting_as(node, "recipe", "site"):
            node.default["apache"]["port"] = 8080
            node.override["apache"]["mods"] = ["ssl", "php"]

        lists = {"default": ["apache/port"], "override": ["apache"]}
        restored = Node.restore(filtered_snapshot(node.snapshot(), allow=lists))

        assert node.explain("apache.port") == restored.explain("apache.port")
        assert {"apache": {"port": 8080, "mods": ["ssl", "php"]}} == restored.to_dict()

    def test_lists_of_a_filtered_snapshot_keep_their_explanation(self):
        node = Node("web1")
        with setting_as(node, "attribute file", "apache2"):
            node.default["users"] = [{"name": "ann", "keys": [["a"]]}, {"name": "bob"}]
        with setting_as(node, "recipe", "site"):
            node.default["users"][0]["shell"] = "sh"
            node.default["users"].append({"name": "cid", "keys": {"k": "v"}})
            node.default["other"] = 1

        restored = Node.restore(filtered_snapshot(node.snapshot(), allow={"default": ["users"]}))

        for path in ("users", "users.0.name", "users.0.shell", "users.0.keys.0", "users.2.keys.k"):
            assert node.explain(path) == restored.explain(path)
        assert "other" not in json.dumps(filtered_snapshot(node.snapshot(), allow={"default": ["users"]}))

    def test_a_value_in_the_way_of_an_allowed_path_is_not_kept_but_still_hides(self):
        node = Node("web1")
        node.default["a"] = {"b": "hidden"}
        node.role_default["a"] = "not allowed"
        node.force_default["a"] = {"c": 1}

        snapshot = filtered_snapshot(node.snapshot(), allow={"default": ["a/b", "a/c"]})

        assert "not allowed" not in json.dumps(snapshot)
        assert {"a": {"c": 1}} == Node.restore(snapshot).to_dict()

    def test_nobody_is_invented_for_a_list_that_is_not_kept(self):
        node = Node("web1")
        with setting_as(node, "recipe", "site"):
            node.default["a"] = ["x"]
            node.default["a"].append("y")

        restored = Node.restore(filtered_snapshot(node.snapshot(), allow={"default": ["a/b"]}))

        assert ["unknown"] == [stated.claim.origin.who for stated in restored.trace("a").claims]

    def test_who_said_only_what_is_blocked_is_not_mentioned(self):
        node = Node("web1")
        with setting_as(node, "recipe", "site"):
            node.default["a"] = 1
        with setting_as(node, "recipe", "vault"):
            node.default["b"] = 2

        told = json.dumps(filtered_snapshot(node.snapshot(), block={"default": ["b"]}))

        assert ("site" in told, "vault" in told) == (True, False)

    def test_numbers_as_keys_are_named_as_the_document_spells_them(self):
        node = Node("web1")
        node.default["ports"] = {80: "http", "443": "https", 22: "ssh"}
        lists = {"default": ["ports/80", "ports/443"]}

        restored = Node.restore(filtered_snapshot(node.snapshot(), allow=lists))

        assert {"80": "http", "443": "https"} == saved_document(node, allow=lists)["default"]["ports"]
        assert {80: "http", "443": "https"} == restored.to_dict()["ports"]

    def test_lists_look_into_what_a_deferred_value_gave(self):
        node = Node("web1")
        node.default["a"] = lazy(lambda: {"b": 1, "c": "secret"})
        lists = {"default": ["a/b"]}

        assert {"a": {"b": 1}} == saved_document(node, allow=lists)["default"]
        assert {"a": {"b": 1}} == Node.restore(filtered_snapshot(node.snapshot(), allow=lists)).to_dict()

    def test_without_lists_nothing_is_lost(self):
        snapshot = node_of([("recipe", "default", ["a"], {"b": 1})]).snapshot()

        assert snapshot == filtered_snapshot(snapshot)

    def test_a_level_that_has_no_lists_is_an_error(self):
        with pytest.raises(BadArgument, match="did you mean default"):
            filtered_snapshot(Node("web1").snapshot(), allow={"defaults": []})


def test_no_secret_is_in_what_is_saved():
    """Filtered or not, with the value there, overwritten or only proposed."""
    node = Node("web1", sensitive=["db.password"])
    node.default["db"] = {"password": "clear text", "port": 5432}
    node.default["db"]["password"] = "clear text"
    node.normal["key"] = Sensitive("clear text")
    node.normal["key"] = Sensitive("clear text too")
    node.normal_unless["key"] = Sensitive("clear text")
    node.override["list"] = [Sensitive("clear text")]

    for lists in ({}, {"normal": ["key"], "default": ["db"]}):
        assert "clear text" not in json.dumps(saved_document(node, allow=lists))
        assert "clear text" not in json.dumps(filtered_snapshot(node.snapshot(), allow=lists))
    assert {"$sensitive": "withheld"} == saved_document(node)["normal"]["key"]
