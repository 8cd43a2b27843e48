"""Search: the language, our own terms, what can be found, and that every engine gives one answer."""

import json
import random
import re
import subprocess
import sys
import tempfile
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.errors import BadArgument
from nodeattrs.store import Saved, open_store, saved_document
from nodeattrs.store.engines import index
from nodeattrs.store.engines.index import names_found
from nodeattrs.store.search import (
    QueryNotSupported,
    QueryNotUnderstood,
    fields_of,
    indexed,
    parse_query,
    read_tree,
)
from nodeattrs.store.search.doubts import no_such_path, unknown_names
from nodeattrs.store.search.fields import CHEF, NO_NUL, OWN, SearchEntry, index_parts, scalar_text, whole, within
from nodeattrs.store.search.query import Everything
from tests import postgresql_server
from tests.effort import examples
from tests.oracles import search_language

NODES = [
    {
        "name": "a",
        "default": {"app": {"port": 80, "tls": True, "title": "Web Front"}, "l": [1]},
        "override": {"l": [2]},
    },
    {"name": "b", "default": {"app": {"port": "80", "tls": False, "title": "web"}, "l": [10]}},
    {"name": "c", "default": {"app": {"port": 8080, "tls": None, "ports": {"80": "x"}, "hosts": [{"ip": "10.0.0.1"}]}}},
]


def found(query, nodes=NODES):
    names = names_found([(node["name"], node) for node in nodes], parse_query(query))
    return "".join(node["name"] for node in nodes if node["name"] in names)


NUMBERS = [0, 0.0, -0.0, 1, 1.0, -1, -3.5, 1e20, 10**20, 1e-7, 0.1, 2**53, 2**53 + 1, 5e-324]


class TestNumbers:
    @pytest.mark.parametrize("number", NUMBERS)
    def test_a_number_is_found_however_it_is_written(self, number):
        """
        The index is asked for the texts that it may have; the answer is that of comparing numbers.
        """
        nodes = [{"name": chr(97 + at), "default": {"n": one, "t": str(one)}} for at, one in enumerate(NUMBERS)]
        equal = "".join(node["name"] for node, one in zip(nodes, NUMBERS, strict=True) if float(one) == float(number))

        spelled = json.dumps(number).replace("+", "")  # in a query "+" is a sign
        assert equal == found(f"n={spelled}", nodes)
        assert "" == found(f"t={spelled}", nodes)


class TestOurOwnTerms:
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("app.port=80", "a"),
            ('app.port="80"', "b"),
            ("app.port=80.0", "a"),
            ("app.port>80", "c"),
            ("app.port > 80", "c"),
            ("NOT app.port  >=80 AND name:b", "b"),
            ('app.title ~ "^[Ww]eb$"', "b"),
            ("app.port>=80", "ac"),
            ("app.port<8080", "a"),
            ("app.port<=8080", "ac"),
            ('app.port>="8"', "b"),
            ("app.tls=true", "a"),
            ("app.tls=null", "c"),
            ("app.title=web", "b"),
            ('app.title="Web Front"', "a"),
            ('app.title~"^[Ww]eb$"', "b"),
            ('app.port~"^80"', "abc"),
            ('app.ports."80"=x', "c"),
            ("app.ports.80=x", "c"),
            ("app.hosts.ip=10.0.0.1", "c"),
            ("app=80", ""),
            ("port=80", ""),
            ("nosuch.path=1", ""),
            ("NOT app.port=80", "bc"),
            ("app.port=80 app.port=8080", "ac"),
            ("app.port>=80 AND -name:c", "a"),
            ("(app.port=80 OR name:b) AND app_tls:false", "b"),
        ],
    )
    def test_a_path_is_real_and_a_type_counts(self, query, names):
        assert names == found(query)

    def test_they_ask_what_the_node_reads_and_chefs_terms_what_chef_searches(self):
        """
        On a node the stronger level's list hides the weaker one's; in Chef's search both are there.
        """
        assert ("a", "", "a", "a") == (found("l=2"), found("l=1"), found("l:2"), found("l:1"))

    @pytest.mark.parametrize("query", ['a~"("', "a>true", 'a>"', 'a="\\q"', 'a~"a{99999999999}"'])
    def test_malformed_comparisons_in_a_query_are_refused(self, query):
        with pytest.raises(QueryNotUnderstood):
            parse_query(query)


def test_a_value_inside_a_map_stands_behind_its_keys():
    """
    Texts are quoted, and nothing else is.
    """
    assert '{"ssl"=>{"port"=>443}}' == within(("ssl", "port"), "n", "443")
    assert ('{"a"=>"443"}', '"a b"', "true") == (
        within(("a",), "s", "443"),
        within((), "s", "a b"),
        within((), "b", "true"),
    )


class TestDoubts:
    """What of a query nobody has."""

    @pytest.fixture
    def store(self, tmp_path):
        store = open_store(f"{tmp_path}/nodes.db")
        for number, node in enumerate(({"nginx": {"port": 80}}, {"nginx": {"port": 81, "tls": True}})):
            store.save(Saved(f"n{number}", {"name": f"n{number}", "default": node}))
        return store

    @pytest.mark.parametrize(
        ("query", "doubted", "hint"),
        [
            ("nginx_port:80", [], ""),
            ("nginx.port=80", [], ""),
            ("nginx_prot:80", ["no node has the field nginx_prot"], "nginx_port"),
            ("zzz:1", ["no node has the field zzz"], "a field is a key, or keys joined by _: nginx_port"),
            ("nginx.prot=80", ["no node has a value at nginx.prot"], "nginx.port"),
            ("q.w.e.r=1", ["no node has a value at q.w.e.r"], "a path is spelled from the root: nginx.port"),
            ("port=80", ["no node has a value at port"], "port is a field of Chef's language: write port:value"),
            ("nginx_port:80 AND zzz:1", ["no node has the field zzz"], "a field is a key"),
            ("nginx_port:99", [], ""),
            ("zz*:1", [], ""),
        ],
    )
    def test_each_field_and_path_that_no_node_has(self, store, query, doubted, hint):
        """With near ones, or with how such a thing is written."""
        told = unknown_names(store, parse_query(query), False)

        assert doubted == [one.message for one in told]
        assert all(hint in str(one.hint) for one in told)

    def test_where_something_was_found_only_what_may_hide_is_doubted(self, store):
        """Beside OR and NOT; in an empty store nothing."""
        for query, many in ("zzz:1", 0), ("nginx_port:80 OR zzz:1", 1), ("NOT zzz:1", 1), ("name:n0", 0):
            assert many == len(unknown_names(store, parse_query(query), True))
        for name in store.names():
            store.delete(name)
        assert [] == unknown_names(store, parse_query("zzz:1"), False)

    def test_similar_names_are_those_of_the_time_that_was_searched(self, store):
        then = store.save(Saved("n9", {"name": "n9", "default": {"colour": 1}}, None)).at
        store.save(Saved("n9", {"name": "n9", "default": {"colours": 1}}, None))

        assert "did you mean colour?" == str(unknown_names(store, parse_query("color:1"), False, then)[0].hint)

    def test_a_path_that_was_asked_for_is_doubted_alike(self, store):
        documents = [store.load(name).document for name in store.names()]

        assert str(no_such_path(("nginx", "tsl"), documents).hint).startswith("did you mean nginx.tls")
        assert "no node has a value at nginx.0" == no_such_path(("nginx", 0), documents).message


class TestTheLanguage:
    @pytest.mark.parametrize(
        ("query", "kind", "words"),
        [
            ("", QueryNotUnderstood, "the query is empty"),
            ("a:b)", QueryNotUnderstood, r"cannot be read at sign 4, '\)'"),
            ("(a:b", QueryNotUnderstood, "ends too early"),
            ('a:"b', QueryNotUnderstood, "cannot be read at sign 3"),
            ("a:b^x", QueryNotUnderstood, "a boost is a number"),
            ("a:[b TO c", QueryNotUnderstood, "ends too early"),
            ("a:b:c", QueryNotSupported, "a second colon"),
            ("+a:b", QueryNotSupported, "join with AND"),
            ("a:b~", QueryNotSupported, "is not supported"),
            ("a:b\\", QueryNotSupported, "ends with a backslash"),
            ("x" * 10_001, QueryNotUnderstood, "10001 characters"),
            ('a:""', QueryNotUnderstood, "a phrase has no words"),
            ("a:[-9 TO -1]", QueryNotUnderstood, "cannot be read at sign 4, '-'"),
            ("a:[10:00 TO 11:00]", QueryNotUnderstood, "cannot be read at sign 6, ':'"),
            ("a:b:c OR", QueryNotUnderstood, "ends too early"),
            ("(" * 200 + "a:b" + ")" * 200, QueryNotUnderstood, "nested more than 100 deep"),
            ("NOT " * 200 + "a:b", QueryNotUnderstood, "nested more than 100 deep"),
            (None, QueryNotUnderstood, "a query is text"),
            ("a:\ud800", QueryNotUnderstood, r"sign 3 of 'a:\\ud800' is no character"),
            ('a="\\ud800"', QueryNotUnderstood, "is no character"),
        ],
    )
    def test_an_error_says_what_is_wrong_and_where(self, query, kind, words):
        with pytest.raises(kind, match=words):
            parse_query(query)

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("web", "b"),
            ('"web front"', "b"),
            ("[a TO c]", "a"),
            ("NOT web", "ac"),
            ("web^.5", "b"),
            ("b OR web^2.", "ab"),
        ],
    )
    def test_what_has_no_field_looks_at_the_field_text(self, query, names):
        nodes = [
            {"name": "a", "default": {"text": "b", "x": "web"}},
            {"name": "b", "default": {"text": "The Web front"}},
            {"name": "c"},
        ]

        assert names == found(query, nodes)

    @pytest.mark.parametrize("query", ['"log file":x', '"Log File":x', r"log\ file:x", "log*:x", "*file:x", "?og:x"])
    def test_a_name_with_spaces_can_be_quoted_and_a_wildcard_finds_one_word_of_it(self, query):
        assert "a" == found(
            query, [{"name": "a", "default": {"log file": "x"}}, {"name": "b", "default": {"file": "y"}}]
        )

    def test_a_name_without_wildcard_is_meant_as_it_is(self):
        nodes = [{"name": "a", "default": {"log file": "x"}}]

        assert ("", "", "") == (found("file:x", nodes), found(r"Log\ file:x", nodes), found("fil?:y", nodes))

    def test_only_ascii_spaces_separate_words_of_a_query(self):
        """
        A space of another script belongs to the word that it stands in.
        """
        nodes = [{"name": "a", "default": {"k": "x\u3000y"}}]

        assert ("a", "", "a") == (found("k:x\u3000y", nodes), found("k:y\u3000x", nodes), found('k:"x\u3000y"', nodes))

    @settings(max_examples=examples(300))
    @given(st.text(alphabet='ab:*?"()[]{} ANDORT^~+-!\\=<>|&.0', max_size=14))
    def test_any_text_is_a_query_or_a_clear_error(self, text):
        """
        And never a raw traceback.
        """
        try:
            query = parse_query(text)
        except (QueryNotUnderstood, QueryNotSupported):
            return
        assert set(names_found([(node["name"], node) for node in NODES], query)) <= {"a", "b", "c"}

    def test_a_long_chain_is_neither_deep_nor_slow(self):
        assert "a" == found(" OR ".join(["app_port:nothing"] * 400 + ["app_title:front"]))

    def test_no_number_of_stars_makes_it_slow(self):
        """
        One that goes back to try again would not come to an end here.
        """
        nodes = [{"name": "a", "default": {"k": "ab" * 5_000}}]
        began = time.process_time()

        assert "" == found("k:" + "*a" * 60 + "c", nodes)
        assert "a" == found("k:" + "*a" * 60 + "*", nodes)
        assert time.process_time() - began < 5

    @pytest.mark.parametrize(
        ("value", "query", "is_found"),
        [
            ("Straße", "k:STRASSE", True),
            ("STRASSE", "k:straße", True),
            ("İ", "k:i̇", True),
            ("a\nb", "k:b", True),
            ("ab", "k:a?", True),
            ("a b", "k:a?b", False),
            ("a-b", "k:b", False),
            ("a b c", 'k:"b c"', True),
            ("a b c", 'k:"a c"', False),
            ("a/b", "k:*/b", True),
            ("Zürich", "k:zÜrich", True),
            ("Zürich", "k:z*", True),
            ("Zürich", "k:z?rich", False),
        ],
    )
    def test_texts_match_by_whole_words_without_regard_to_case(self, value, query, is_found):
        assert is_found == bool(found(query, [{"name": "a", "default": {"k": value}}]))

    def test_every_query_is_read_as_its_grammar_reads_it(self):
        """
        Where it asks the same, and where it breaks the rules at the same sign; a value that cannot be may come first.
        """
        chance = random.Random(7)
        signs = [*"()[]{}:^-!+*=~a2", "b*", "NOT", "AND", "OR", "&&", "||", "TO", '"a b"', '""', "x=1", 'f~"^a"', "f:"]
        read = 0
        for _ in range(3_000):
            glue = chance.choice(("", " "))
            text = glue.join(chance.choice(signs) for _ in range(chance.choice((1, 2, 3, 4, 5, 6, 8))))
            theirs, ours = search_language.asked(text), outcome(text)
            if theirs != ours and not re.search(r":\s*\(", text):
                assert "error" == ours, f"{text!r}: {theirs}, {ours}"
                assert theirs.startswith(("sign", "end", "error")), text
            read += not theirs.startswith(("sign", "end", "error"))

        assert read > 200

    def test_a_sign_that_compares_is_part_of_a_word_wherever_a_field_has_its_value(self):
        assert 1 == len({outcome(f"f:({text})") for text in ("a b=1", "a OR b=1")})
        assert "('f':'b=1' or 'f':'a')" == outcome("f:(b=1 a)")


def outcome(text: str) -> str:
    """What is asked, or what is wrong: the sign that cannot be read, or a value."""
    try:
        return search_language.spelled(parse_query(text).condition)
    except BadArgument as error:
        place = re.search(r"at sign (\d+)", str(error))
        if place:
            return f"sign {place[1]}"
        return "end" if re.search("ends too early|is empty", str(error)) else "error"


alike = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, "1", "true", "", "a\0b", "b" * 300, 10**30]),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("ab"), part, max_size=2),
    max_leaves=8,
)


def spelled_out(value, steps, in_list=False):
    """The entries of a value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from spelled_out(inner, (*steps, key))
    elif isinstance(value, dict):
        yield from () if in_list else [SearchEntry(steps, "w", "{}")]
    elif isinstance(value, list):
        yield from () if in_list else [SearchEntry(steps, "w", whole(value).replace("\0", NO_NUL))]
        for inner in value:
            yield from spelled_out(inner, steps, in_list=True)
    else:
        yield SearchEntry(steps, *scalar_text(value))


class TestWhatCanBeFound:
    @settings(max_examples=examples(150), deadline=None)
    @given(st.lists(st.dictionaries(st.sampled_from("ab"), alike, max_size=2), max_size=4))
    def test_the_parts_of_a_document_say_all_of_both_trees(self, values):
        """
        Numbers that are equal are not one text, nor are lists of them.
        """
        for value in values:
            document = {"name": "n", "default": {"a": {"b": value}}, "override": value}
            tree, expected = {**indexed(document), "X_CHEF_id_CHEF_X": "n"}, {}
            for flat, view in ((tree, CHEF), (read_tree(document), OWN)):
                for entry in spelled_out(flat, ()):
                    expected[entry] = expected.get(entry, 0) | view
            came = {}
            for part in index_parts(document):
                for entry, view in part.entries().items():
                    came[entry] = came.get(entry, 0) | view
            assert expected == came

    def test_a_map_is_found_by_what_is_in_it(self):
        """
        By its keys and its values, as Chef finds it by its text.
        """
        assert "c" == found("app:ports")
        assert "ab" == found("app:web")
        assert "c" == found("hosts:10.0.0.1")

    def test_keys_joined_find_values_and_no_whole_map(self):
        assert ("c", "c") == (found("app_hosts_ip:10.0.0.1"), found("app_ports_80:x"))
        assert ("", "", "") == (found("app_hosts:10.0.0.1"), found("app_ports:*"), found("app_ports:80"))

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ('k:"b c"', "l"),
            ('k:"a b c"', "l"),
            ('k:"a c"', ""),
            ('k:"c x 1"', "l"),
            ('m:"port 80"', "m"),
            ('m:"tls port 80"', "m"),
            ('m:"port 8"', ""),
            ('m_tls:"port 80"', ""),
        ],
    )
    def test_a_phrase_goes_from_one_member_of_a_list_to_the_next_and_from_a_key_to_its_value(self, query, names):
        nodes = [
            {"name": "l", "default": {"k": ["a", ["b"], "c", {"x": 1}]}},
            {"name": "m", "default": {"m": {"tls": {"port": 80}}}},
        ]

        assert names == found(query, nodes)

    def test_roles_and_recipes_of_the_run_list_are_always_there(self):
        """
        They are lists, maybe empty ones, and nothing but the run-list fills them.
        """
        nodes = [
            {"name": "a", "default": {"role": "x", "recipe": {"y": 1}}},
            {"name": "b", "run_list": ["role[x]", "nginx", "recipe[a::b@1.2]", "recipe[nginx]"]},
        ]

        assert ("ab", "ab", "") == (found("role:*", nodes), found("recipe:*", nodes), found("-role:*", nodes))
        assert ("b", "b", "") == (found("role:x", nodes), found("recipe:nginx", nodes), found("recipe_y:1", nodes))
        assert [["nginx", "a::b@1.2"], ["x"]] == [indexed(nodes[1])["recipe"], indexed(nodes[1])["role"]]
        assert ["role[x]", "recipe[nginx]", "recipe[a::b@1.2]"] == indexed(nodes[1])["run_list"]

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("k:[* TO *]", "lmve"),
            ("k:[a TO b]", "lv"),
            ("k:[A TO a]", "lve"),
            ("k:[a TO *]", "lmv"),
            ("k_x:[a TO b]", "m"),
            ("k_x:[* TO *]", "m"),
            ("*:[c TO d]", "m"),
        ],
    )
    def test_a_range_compares_values_and_how_a_whole_map_or_list_is_written(self, query, names):
        """
        A list begins with "[", a map with "{"; in the order of signs these stand before and after the letters.
        """
        nodes = [
            {"name": "l", "default": {"k": ["a"]}},
            {"name": "m", "default": {"k": {"x": "b", "y": "cc"}}},
            {"name": "v", "default": {"k": "a"}},
            {"name": "e", "default": {"k": []}},
        ]
        assert names == found(query, nodes)

    def test_numbers_are_found_as_chef_writes_them(self):
        nodes = [{"name": "a", "default": {"k": [1e20, 1.5e-7, 10.0, 12345678901234567890]}}]

        assert ["1.0e+20", "1.5e-07", "10.0", "12345678901234567890"] == fields_of(nodes[0])["k"]
        assert ("a", "a") == (found(r"k:1.0e\+20", nodes), found("k=1e20", nodes))

    @pytest.mark.parametrize(
        ("weaker", "stronger", "left"),
        [
            ("x", {}, "x"),
            (0, {}, 0),
            ([1], {}, [1]),
            (None, {}, {}),
            (False, {}, {}),
            ("x", {"a": 1}, {"a": 1}),
            ({"a": 1}, {}, {"a": 1}),
            ({"a": 1}, [], []),
            ("x", [], []),
            ("x", None, "x"),
            ([1, 2], [2, 1.0], [1, 2, 1.0]),
        ],
    )
    def test_levels_meet_as_chefs_search_has_them(self, weaker, stronger, left):
        assert left == indexed({"name": "a", "default": {"k": weaker}, "automatic": {"k": stronger}})["k"]

    def test_the_fields_of_a_document_come_in_chefs_order_each_value_once(self):
        document = {
            "name": "a",
            "run_list": ["role[web]", "recipe[nginx]"],
            "default": {"l": ["x", ["x", {"k": None}]], "m": {"l": ["y"], "k": "z", "e": {}}},
        }

        assert {
            "l": ["x"],
            "k": ["", "z"],
            "l_k": [""],
            "m_l": ["y"],
            "m_k": ["z"],
            "recipe": ["nginx"],
            "role": ["web"],
            "name": ["a"],
            "run_list": ["role[web]", "recipe[nginx]"],
            "json_class": ["Chef::Node"],
            "chef_type": ["node"],
            "chef_environment": ["_default"],
        } == fields_of(document)
        assert ["l", "k", "l_k", "m_l", "m_k", "recipe", "role", "name"] == list(fields_of(document))[:8]

    def test_an_empty_list_is_something(self):
        nodes = [{"name": "a", "default": {"tags": []}}, {"name": "b"}]

        assert "a" == found("tags:*", nodes)
        assert [] == [field for field in fields_of(nodes[0]) if field == "tags"]

    def test_the_trees_belong_to_nobody_else(self):
        document = {"name": "a", "default": {"l": [1]}, "override": {"l": [2]}}
        before = json.dumps(document)
        indexed(document)["l"].append(3)
        read_tree(document)["x"] = 1

        assert before == json.dumps(document)

    def test_our_tree_is_what_the_node_reads(self):
        node = Node("a")
        node.default = {"a": {"x": 1, "y": [1]}, "n": 1}
        node.normal = {"a": {"y": [2]}, "s": {"t": 1}}
        node.override = {"n": None, "s": 5}
        node.automatic = {"a": {"z": True}}

        assert node.to_dict() == read_tree(saved_document(node))

    def test_a_secret_cannot_be_found(self):
        node = Node("a", sensitive=["db.password"])
        node.default["db"]["password"] = "s3cret"

        assert "" == found("*:s3cret", [saved_document(node)])


keys = st.sampled_from(["k", "l", "k_l", "K"])
values = st.sampled_from(["a", "b", "A b", "a-b", "", 1, 10, 1.5, True, None, "ß", "10", [], {}])
trees = st.recursive(
    values, lambda part: st.lists(part, max_size=2) | st.dictionaries(keys, part, max_size=2), max_leaves=4
)
levels = st.dictionaries(keys, trees, max_size=3)
documents = st.fixed_dictionaries({"default": levels, "override": levels, "run_list": st.just(["role[a]"])})
fields = st.sampled_from(["k", "l", "k_l", "K", "*", "k*", "?", "name"])
wanted = st.sampled_from(
    [
        "a",
        "b",
        "*",
        "?",
        "1*",
        "10",
        '"A b"',
        '"b a"',
        '"k *"',
        "[1 TO b]",
        "{a TO *]",
        "[* TO a]",
        "(a OR NOT b)",
        "n1",
        "SS",
    ]
)
own = st.sampled_from(["k=1", "l>=1", "k.l=a", 'k~"^a"', "l=null", "k=true", 'l="10"'])
terms = st.builds("{}:{}".format, fields, wanted) | own
queries = st.recursive(
    terms,
    lambda part: (
        st.builds("({} AND {})".format, part, part)
        | st.builds("NOT {}".format, part)
        | st.builds("({} {})".format, part, part)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def stores():
    """One of each sort that there is here."""
    with tempfile.TemporaryDirectory() as folder:
        places = [f"{folder}/nodes.db"]
        if not postgresql_server.why_not():
            places.append(postgresql_server.fresh())
        stores = [open_store(place) for place in places]
        yield stores
        for store in stores:
            store.close()


@settings(max_examples=examples(25, fewest=10), suppress_health_check=[HealthCheck.too_slow])
@given(nodes=st.lists(documents, min_size=1, max_size=3), asked=st.lists(queries, min_size=1, max_size=4))
def test_every_engine_gives_one_answer(stores, nodes, asked):
    """
    Whatever the nodes and the query, also after nodes were saved again, changed, and forgotten.
    """
    for store in stores:
        for name in store.names():
            store.delete(name)
        for number in [*range(len(nodes)), 0]:
            for document in (nodes[-1 - number], nodes[number]):
                store.save(Saved(f"n{number}", {"name": f"n{number}", **document}))
        assert [] == store.check()
    for query in map(parse_query, asked):
        answers = {store.describe(): store.search(query) for store in stores}
        assert 1 == len(set(map(tuple, answers.values()))), (query.text, answers)


@pytest.mark.parametrize(
    ("query", "names"),
    [("k:a\0b", ["n"]), ('k="a\\u0000b"', ["n"]), ("k:[a\0 TO b]", ["n"]), (f"k={'9' * 400}", []), ("k<1", [])],
)
def test_signs_that_no_database_has_and_numbers_that_no_float_holds(stores, query, names):
    """
    Each engine answers, and all of them the same.
    """
    for store in stores:
        for name in store.names():
            store.delete(name)
        store.save(Saved("n", {"name": "n", "normal": {"k": "a\0b"}}))

        assert names == store.search(parse_query(query)), store.describe()


def test_looking_back_needs_memory_for_some_nodes_and_not_for_all(monkeypatch):
    """
    What is asked of one node depends on no other, so a few of them are held at a time.
    """
    monkeypatch.setattr(index, "NODES_IN_MEMORY", 2)
    held = []
    real = index.Index.set_parts
    monkeypatch.setattr(
        index.Index, "set_parts", lambda one, node, *words: (held.append(node), real(one, node, *words))
    )
    documents = ((f"n{number}", {"name": f"n{number}", "normal": {"k": number % 3}}) for number in range(7))

    assert ["n0", "n3", "n6"] == names_found(documents, parse_query("NOT k:(1 OR 2)"))
    assert [0, 1, 0, 1, 0, 1, 0] == held


def test_importing_the_package_does_not_import_the_search():
    code = "import sys, nodeattrs.store; sys.exit('lark' in sys.modules)"

    assert 0 == subprocess.run([sys.executable, "-c", code]).returncode


@pytest.mark.parametrize(
    ("text", "anything"), [("*:*", True), ("**:**", True), ("*", False), ("a:*", False), ("*:?", False)]
)
def test_who_asks_for_anything_asks_for_all(text, anything):
    """No index is asked then."""
    assert anything == isinstance(parse_query(text).condition, Everything)


@pytest.mark.parametrize("field", ["role", "_a", "AND", "OR", "NOT", "TO", "not", "é", "a-b", "1a", "*", ""])
@pytest.mark.parametrize("value", ["web", "_1", "AND", "OR", "NOT", "TO", "straße", "w.x", "8", "w?b", ""])
def test_one_field_with_one_value_needs_no_parentheses(field, value):
    """
    Two names are read without the language; in parentheses they are not.
    """

    def read(text):
        try:
            return search_language.spelled(parse_query(text).condition)
        except BadArgument as error:
            return type(error)

    assert read(f"({field}:{value})") == read(f"{field}:{value}")
