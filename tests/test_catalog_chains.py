"""Chains: in Python, in Puppet's own text, and that both say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.catalog import Catalog, RefMaker, Refs, Resource, parsed_chain, parsed_query, ref_of, refs
from nodeattrs.catalog.questions import impact_of, why_before
from nodeattrs.catalog.resources import matches
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.puppet.references import query_text

Package, File, Service = RefMaker("Package"), RefMaker("File"), RefMaker("Service")


def catalog_of(*names: str, **parameters: dict[str, object]) -> Catalog:
    catalog = Catalog()
    for name in names:
        catalog.add(Resource(ref_of(name), parameters=parameters.get(name[-2], {})))
    return catalog


def edges(catalog: Catalog) -> list[tuple[str, str, str]]:
    graph = catalog.plan().graph
    return [
        (graph.spelled(edge.source), "~>" if edge.refresh else "->", graph.spelled(edge.target)) for edge in graph.edges
    ]


class TestArrows:
    def test_an_arrow_orders_and_one_with_a_tilde_notifies(self):
        """
        `>>` is Puppet's `->`, and `>> ~` is `~>`.
        """
        catalog = catalog_of("Package[ntp]", "File[/etc/ntp.conf]", "Service[ntpd]")
        catalog.relate(Package["ntp"] >> File["/etc/ntp.conf"] >> ~Service["ntpd"])

        assert [
            ("Package[ntp]", "->", "File[/etc/ntp.conf]"),
            ("File[/etc/ntp.conf]", "~>", "Service[ntpd]"),
        ] == edges(catalog)

    def test_reversed_arrows_put_the_right_side_first(self):
        """
        `a << b` is `a <- b`; `a << ~b` is `a <~ b`.
        """
        catalog = catalog_of("Package[a]", "Package[b]", "Package[c]")
        catalog.relate(Package["a"] << Package["b"] << ~Package["c"])

        assert [("Package[b]", "->", "Package[a]"), ("Package[c]", "~>", "Package[b]")] == edges(catalog)

    def test_lists_relate_each_with_each(self):
        """
        Two before two are four relationships, in the order in which they are written.
        """
        catalog = catalog_of("File[a]", "File[b]", "Service[c]", "Service[d]")
        catalog.relate(refs(File["a"], File["b"]) >> Service["d", "c"])

        assert [("File[a]", "Service[d]"), ("File[a]", "Service[c]"), ("File[b]", "Service[d]")] == [
            (source, target) for source, _, target in edges(catalog)
        ][:3]

    def test_a_plain_list_can_begin_a_chain(self):
        """
        Lists know no arrows; the reference at their right does.
        """
        assert "<Chain [File[a], File[b]] -> Service[c]>" == repr([File["a"], File["b"]] >> Service["c"])

    def test_an_operand_names_each_reference_once(self):
        """
        Duplicates inside one operand make no second edge.
        """
        assert Refs([ref_of("File[a]")]) == refs(File["a"], [File["a"], "File[a]"])

    def test_a_chain_goes_on_from_its_right_side(self):
        """
        What a chain is worth is its last operand, so it can be kept and continued twice.
        """
        catalog = catalog_of("File[a]", "File[b]", "File[c]", "File[d]")
        begun = File["a"] >> File["b"]
        catalog.relate(begun >> File["c"])
        catalog.relate((begun >> ~File["d"]).links[-1])

        assert {("File[a]", "->", "File[b]"), ("File[b]", "->", "File[c]"), ("File[b]", "~>", "File[d]")} == set(
            edges(catalog)
        )

    @pytest.mark.parametrize(
        ("wrong", "way_out"),
        [
            (lambda: ~File["a"] >> File["b"], "a >> ~b"),
            (lambda: File["a"] >> (File["b"] >> File["c"]), "leave the parentheses out"),
            (lambda: File["a"] >> 7, "such as File"),
            (lambda: File["a"] >> [File.where()], "an arrow of its own"),
            (lambda: ref_of("File"), "write Type[title]"),
        ],
    )
    def test_what_is_no_chain_says_what_to_write(self, wrong, way_out):
        """
        The mistake is named, and the line to write instead.
        """
        with pytest.raises(BadArgument) as caught:
            wrong()

        assert way_out in str(caught.value)


class TestCollectors:
    def test_a_collector_finds_what_is_declared_later(self):
        """
        Chains are resolved when everything is declared.
        """
        catalog = Catalog()
        catalog.relate("Package <| |> -> Service['s']")
        for name in ("Service[s]", "Package[p]"):
            catalog.add(Resource(ref_of(name)))

        assert [("Package[p]", "->", "Service[s]")] == edges(catalog)

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("provider == yum", ["p"]),
            ("provider != yum", ["q", "r"]),
            ("provider == YUM", ["p"]),
            ("title == q or title == r", ["q", "r"]),
            ("provider == apt and title == q", ["q"]),
            ("(title == p or title == q) and provider == apt", ["q"]),
            ("ports == 80", ["r"]),
            ("held == true", ["r"]),
            ("nothing == yum", []),
            ("tag == web", ["p"]),
        ],
    )
    def test_queries_see_what_was_written(self, query, found):
        """
        Text is compared without regard to case, a list by its elements, and what nobody wrote is not there.
        """
        catalog = Catalog()
        catalog.add(Resource(ref_of("Package[p]"), parameters={"provider": "yum"}, tags=frozenset({"web"})))
        catalog.add(Resource(ref_of("Package[q]"), parameters={"provider": "apt"}))
        catalog.add(Resource(ref_of("Package[r]"), parameters={"ports": [80, 443], "held": True}))

        assert found == [
            one.ref.name for one in catalog if one.ref.type == "Package" and matches(one, parsed_query(query))
        ]

    @pytest.mark.parametrize(
        "value", [None, True, 1, -1.5, 1e22, 1e-7, "", "a b", "it's", "a\\", "\\'", "$x", "undef", "a\nb"]
    )
    def test_a_query_is_shown_in_words_that_read_as_the_same(self, value):
        """
        Null, quotes, backslashes and dollars, too.
        """
        query = ("and", ("==", "a", value), ("or", ("!=", "b", value), ("==", "c", "d")))

        assert query == parsed_query(query_text(query))

    def test_a_virtual_resource_comes_when_a_collector_finds_it(self):
        """
        Others do not.
        """
        catalog = catalog_of("Service[s]")
        for name in "ab":
            catalog.add(Resource(ref_of(f"Package[{name}]"), virtual=True))
        catalog.relate(Package.where(title="a") >> Service["s"])

        assert ["Service[s]", "Package[a]"] == [ref for ref in catalog.plan().resources if "main" not in ref.lower()]

    @pytest.mark.parametrize("arrows", ["->", "<-", "~>", "<~"])
    def test_an_empty_collector_is_bridged_in_both_directions(self, arrows):
        """
        Puppet bridges forward chains, and makes a circle of reversed ones.
        """
        catalog = catalog_of("Package[a]", "Service[b]")
        catalog.relate(f"Package['a'] {arrows} Cfg <| |> {arrows} Service['b']")
        ends = ("Package[a]", "Service[b]") if ">" in arrows else ("Service[b]", "Package[a]")

        assert [(ends[0], "~>" if "~" in arrows else "->", ends[1])] == edges(catalog)

    @pytest.mark.parametrize("arrows", [("->", "<-"), ("<-", "->")])
    def test_arrows_that_do_not_go_on_bridge_nothing(self, arrows):
        """
        Two things before nothing, or after nothing, are not related.
        """
        catalog = catalog_of("Package[a]", "Service[b]")
        catalog.relate(f"Package['a'] {arrows[0]} Cfg <| |> {arrows[1]} Service['b']")

        assert [] == edges(catalog)

    def test_by_the_letter_an_empty_collector_breaks_the_chain(self):
        """
        The mode `documented`.
        """
        catalog = catalog_of("Package[a]", "Service[b]")
        catalog.relate("Package['a'] -> Cfg <| |> -> Service['b']")

        assert [] == catalog.plan(documented=True).graph.edges


class TestText:
    @pytest.mark.parametrize(
        ("text", "where", "said"),
        [
            ("File['a'] ->", ":1:13", "the text ends"),
            ("File['a']", ":1:10", "an arrow was expected"),
            ("File['a'] -> $x", ":1:14", "f-string"),
            ("File['a'] -> file { 'b': }", ":1:14", "declare it in Python"),
            ("File['a'] -> File <<| |>>", ":1:19", "no exported resources"),
            ("File['a'] -> File <| x |>", ":1:24", "== or !="),
            ("File['a'] -> File <| x == |>", ":1:27", "a value"),
            ("File['a'] -> X <| x == File['a', 'b'] |>", ":1:24", "one resource at most"),
            ("File['a'] ->\n  File[", ":2:8", "a title"),
            ("File['a'] -> File['']", ":1:21", "empty"),
            ("File['a'] -> [File['b'], X <| |>]", ":1:33", "cannot stand in a list"),
            ("File['a'] -> 'motd'", ":1:14", "is no reference"),
            ('File["a$b"] -> File["c"]', ":1:6", "f-string"),
            ("File['a'] § File['b']", ":1:11", "means nothing"),
            ("[" * 500, ":1:101", "levels of brackets, not '['"),
            ("X <| " + "(" * 101 + "a == 1", ":1:106", "levels of brackets, not '('"),
            (f"File['a'] -> File <| x == {'9' * 5_000} |>", ":1:27", "more than 100 signs"),
            ("", ":1:1", "the text ends"),
        ],
    )
    def test_what_cannot_be_read_is_named_with_line_and_column(self, text, where, said):
        """
        And the whole chain is quoted, since it stands in a recipe.
        """
        with pytest.raises(DocumentError) as caught:
            parsed_chain(text)

        assert where in str(caught.value)
        assert said in str(caught.value)

    def test_names_of_types_and_classes_are_capitalised(self):
        """
        `Class['apache::ssl']` and `apache::vhost` as references spell them; other titles are left alone.
        """
        chain = parsed_chain("Class['apache::ssl'] -> Apache::Vhost['a::b']")

        assert "<Chain Class[Apache::Ssl] -> Apache::Vhost[a::b]>" == repr(chain)


titles = st.sampled_from("abc")
operands = st.lists(titles, max_size=3) | st.just("all")
arrows = st.sampled_from(["->", "~>", "<-", "<~"])


@given(operands, st.lists(st.tuples(arrows, operands), min_size=1, max_size=4))
def test_text_and_python_say_the_same(first, rest):
    """A chain of references, lists and collectors makes the same edges in both spellings."""

    def operand(titles):
        return File.where() if titles == "all" else refs(*(File[title] for title in titles))

    def text(titles):
        named = ", ".join(f"File['{title}']" for title in titles)
        return "File <| |>" if titles == "all" else f"[{named}]"

    chain = operand(first)
    for arrow, right in rest:
        side = ~operand(right) if "~" in arrow else operand(right)
        chain = chain >> side if ">" in arrow else chain << side
    said, written = catalog_of("File[a]", "File[b]", "File[c]"), catalog_of("File[a]", "File[b]", "File[c]")
    said.relate(chain)
    written.relate(text(first) + "".join(f" {arrow} {text(right)}" for arrow, right in rest))

    assert edges(said) == edges(written)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("File[a] { mode => 1 }", "1:9"),
        ("File { 'b': }", "1:6"),
        ("File[a] -> {", "1:12"),
        ("File[a] -> x {", "1:12"),
        ("{ }", "1:1"),
    ],
)
def test_a_resource_in_a_chain_is_sent_to_python(text, place):
    """Also where only the sign after the unexpected one tells that it is one."""
    with pytest.raises(DocumentError, match="a resource is not declared in a chain") as caught:
        parsed_chain(text)
    assert str(caught.value).startswith(f"chain:{place}: ")


names = "abcde"
links = st.lists(
    st.tuples(st.sampled_from(names), st.booleans(), st.sampled_from(names)).filter(lambda link: link[0] < link[2]),
    max_size=7,
    unique_by=lambda link: (link[0], link[2]),
)


def reached(links, start, hears=names, refresh=False):
    """Who is reached from one, one step after another; how far away each is."""
    far = {start: 0}
    for distance in range(1, len(names)):
        for first, with_refresh, then in links:
            if far.get(first) == distance - 1 and then in hears and (with_refresh or not refresh):
                far.setdefault(then, distance)
    return far


@given(links, st.sets(st.sampled_from(names)))
def test_questions_are_answered_as_by_walking_all_ways(links, refreshable):
    """Who waits, who refreshes, and the shortest way from each to each."""
    catalog = catalog_of(*(f"File[{name}]" for name in names), **{name: {"refreshable": True} for name in refreshable})
    for first, with_refresh, then in links:
        catalog.relate(f"File[{first}] {'~>' if with_refresh else '->'} File[{then}]")
    plan = catalog.plan()

    for start in names:
        impact, waits = impact_of(plan, f"File[{start}]"), reached(links, start)
        assert f"File[{start}]" == impact.ref
        assert sorted(f"File[{name}]" for name in waits.keys() - start) == sorted(impact.after)
        refreshed = reached(links, start, refreshable, refresh=True).keys() - start
        assert sorted(f"File[{name}]" for name in refreshed) == sorted(impact.refreshed)
        for goal in waits.keys() - start:
            steps = why_before(plan, f"File[{start}]", f"File[{goal}]")
            assert waits[goal] == len(steps)
            assert [step.before for step in steps] == [f"File[{start}]", *(step.after for step in steps[:-1])]
            assert all((step.before[5], step.refresh, step.after[5]) in links for step in steps)
        for goal in set(names) - waits.keys():
            assert [] == why_before(plan, f"File[{start}]", f"File[{goal}]")
