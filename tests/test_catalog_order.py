"""The order of resources, what is missing, and cycles: each rule of the language page, and laws."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.catalog import (
    Catalog,
    DependencyCycle,
    DuplicateResource,
    FirstOf,
    ReferenceNotFound,
    Resource,
    catalog_from,
    ref_of,
)
from nodeattrs.catalog.cycles import first_lasso
from nodeattrs.catalog.questions import dot, impact_of, known_ref, mermaid, why_before
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, DocumentError
from tests.benchmarks import ordering


def resource(name: str, **said: object) -> Resource:
    line = said.pop("line", None)
    origin = Origin("recipe", "web", "cookbooks/web/recipes/default.py", line) if line else None
    relations = {
        key: tuple(value.split()) if isinstance(value, str) and key != "manages" else value
        for key, value in said.items()
    }
    return Resource(ref_of(name), origin=origin, **relations)  # type: ignore[arg-type]


def catalog_of(*resources: Resource) -> Catalog:
    catalog = Catalog()
    for one in resources:
        catalog.add(one)
    return catalog


def order(catalog: Catalog) -> str:
    return " ".join(ref.name for ref in catalog.plan().order())


class TestOrder:
    def test_unrelated_resources_come_as_written(self):
        """
        Nothing but their positions decides.
        """
        assert "c a b" == order(catalog_of(resource("File[c]"), resource("File[a]"), resource("File[b]")))

    @pytest.mark.parametrize("way", ["before", "require", "notify", "subscribe"])
    def test_each_metaparameter_orders(self, way):
        """
        `before` and `notify` are written on the earlier one, `require` and `subscribe` on the later one.
        """
        if way in ("before", "notify"):
            catalog = catalog_of(resource("File[late]"), resource("File[early]", **{way: "File[late]"}))
        else:
            catalog = catalog_of(resource("File[late]", **{way: "File[early]"}), resource("File[early]"))

        assert "early late" == order(catalog)

    def test_a_relationship_may_name_what_is_declared_later(self):
        """
        Relationships do not depend on the order of evaluation.
        """
        assert "b a" == order(catalog_of(resource("File[a]", require="File[b]"), resource("File[b]")))

    def test_what_was_written_first_runs_as_soon_as_it_is_free(self):
        """
        Not level by level: `a` waits for `z` only, and runs before `b`, which waited for nobody.
        """
        catalog = catalog_of(resource("File[a]", require="File[z]"), resource("File[z]"), resource("File[b]"))

        assert "z a b" == order(catalog)

    def test_everything_in_a_class_comes_before_what_requires_the_class(self):
        """
        Containers stand for all they contain.
        """
        catalog = catalog_of(
            resource("Service[s]", require="Class[Web]"),
            Resource(ref_of("Class[web]"), "class"),
            resource("File[a]", within=("Class[Web]",)),
            resource("File[b]", within=("Class[Web]",)),
        )

        assert "a b s" == order(catalog)

    def test_an_included_class_floats_and_a_contained_one_does_not(self):
        """
        Only containment makes it a part.
        """
        for contained, expected in ((False, "s inner"), (True, "inner s")):
            catalog = catalog_of(
                resource("Service[s]", require="Class[Outer]"),
                Resource(ref_of("Class[outer]"), "class"),
                Resource(ref_of("Class[inner]"), "class"),
                resource("File[inner]", within=("Class[Inner]",)),
            )
            if contained:
                catalog.contain("Class[Outer]", "Class[Inner]")

            assert expected == order(catalog)

    def test_automatic_relations_order_and_yield_to_explicit_ones(self):
        """
        A candidate that is not there is no fault; one that is related already, in either direction, is passed over.
        """
        auto = {"require": ("File[x]", "File[gone]")}

        assert "x a" == order(catalog_of(resource("File[a]", auto=auto), resource("File[x]")))
        assert "a x" == order(catalog_of(resource("File[a]", auto=auto), resource("File[x]", require="File[a]")))

    def test_of_several_candidates_the_first_that_is_there_counts(self):
        """
        The nearest directory, not each one above.
        """
        auto = {"require": (FirstOf(("File[/a/b]", "File[/a]", "File[/]")),)}
        catalog = catalog_of(resource("File[/a/b/c]", auto=auto), resource("File[/]"), resource("File[/a]"))

        assert "/ /a /a/b/c" == order(catalog)
        assert ["File[/a]"] == [catalog.plan().graph.spelled(edge.source) for edge in catalog.plan().graph.edges]


class TestMissing:
    @pytest.mark.parametrize(
        ("way", "word"),
        [("require", "dependency"), ("subscribe", "dependency"), ("before", "dependent"), ("notify", "dependent")],
    )
    def test_a_missing_reference_is_named_in_both_wordings(self, way, word):
        """
        Puppet's compiler and the applying side say it differently; both are there, with the line and a near miss.
        """
        catalog = catalog_of(resource("Service[a]", line=7, **{way: "Package[nginx]"}), resource("Package[nginz]"))
        with pytest.raises(ReferenceNotFound) as caught:
            catalog.plan().order()

        assert f"Could not find resource 'Package[nginx]' in parameter '{way}'" == caught.value.compile_message
        assert f"Could not find {word} Package[nginx] for Service[a]" == caught.value.apply_message
        assert f"Service[a] has it in {way} at cookbooks/web/recipes/default.py:7 (recipe web)" in str(caught.value)
        assert "did you mean Package[nginz]?" in str(caught.value)

    def test_all_of_them_are_found(self):
        """
        Not only the first; a cycle beside them too.
        """
        catalog = catalog_of(
            resource("File[a]", require="File[x] File[y]", before="File[b]"), resource("File[b]", before="File[a]")
        )
        catalog.relate("File['z'] -> File['a']")
        faults = catalog.plan().faults()

        assert ["File[z]", "File[x]", "File[y]"] == [fault.missing for fault in faults[:-1]]
        assert isinstance(faults[-1], DependencyCycle)

    def test_a_resource_is_declared_once(self):
        """
        Both lines are named.
        """
        with pytest.raises(DuplicateResource, match=r"(?s)File\[a\] is declared twice.*:3 .*:9 "):
            catalog_of(resource("File[a]", line=3), resource("File[a]", line=9))

    def test_two_resources_do_not_manage_one_place(self):
        """
        Whatever their types are.
        """
        with pytest.raises(DuplicateResource, match="both manage /a"):
            catalog_of(resource("File[/a]", manages="path:/a"), resource("Link[/a]", manages="path:/a"))


class TestCycles:
    def test_every_edge_on_the_path_says_why_it_is_there_and_where(self):
        """
        What Puppet's message never says.
        """
        catalog = catalog_of(
            resource("File[a]", line=1, before="Class[Web]"),
            Resource(ref_of("Class[web]"), "class", origin=Origin("recipe", "web", "web.py", 2)),
            resource("Service[s]", line=3, within=("Class[Web]",)),
        )
        catalog.relate("Service['s'] ~> File['a']", Origin("recipe", "web", "web.py", 4))
        with pytest.raises(DependencyCycle) as caught:
            catalog.plan().order()

        assert caught.value.message == "1 dependency cycle: File[a] => Class[Web] => Service[s] => File[a]"
        assert (
            "Found 1 dependency cycle:\n"
            "(File[a] => Class[Web] => Service[s] => File[a])\n"
            "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz"
        ) == caught.value.puppet_message
        assert caught.value.hint == (
            "remove one of: before of File[a] (cookbooks/web/recipes/default.py:1), "
            "the chain Service['s'] ~> File['a'] (web.py:4)"
        )
        assert (
            "File[a] => begin Class[Web]: before of File[a] at cookbooks/web/recipes/default.py:1 (recipe web)",
            "begin Class[Web] => Service[s]: Service[s] is in Class[Web] "
            "at cookbooks/web/recipes/default.py:3 (recipe web)",
            "Service[s] => File[a]: the chain Service['s'] ~> File['a'] at web.py:4 (recipe web)",
        ) == caught.value.details

    def test_the_ring_is_the_end_of_the_path(self):
        """
        Puppet's path may begin outside of the ring it shows.
        """
        catalog = catalog_of(
            resource("File[a]", before="File[b]"),
            resource("File[b]", before="File[c]"),
            resource("File[c]", before="File[b] File[d]"),
            resource("File[d]", before="File[a]"),
        )
        (cycle,) = catalog.plan().cycles

        assert "abcb" == "".join(cycle.graph.spelled(vertex)[5] for vertex in cycle.path)
        assert "bcb" == "".join(cycle.graph.spelled(vertex)[5] for vertex in cycle.ring)

    def test_the_ring_that_is_shown_is_the_shortest(self):
        """
        Puppet's path is the shortest walk from the first member, which may end in a longer ring.
        """
        catalog = catalog_of(
            resource("File[a]", before="File[b]"),
            resource("File[b]", before="File[c]"),
            resource("File[c]", before="File[d]"),
            resource("File[d]", before="File[a] File[e]"),
            resource("File[e]", before="File[f]"),
            resource("File[f]", before="File[e] File[a]"),
        )
        (cycle,) = catalog.plan().cycles

        assert "abcda" == "".join(cycle.graph.spelled(vertex)[5] for vertex in cycle.path)
        assert "efe" == "".join(cycle.graph.spelled(vertex)[5] for vertex in cycle.ring)
        assert "(File[a] => File[b] => File[c] => File[d] => File[a])" in catalog.plan().cycle_error().puppet_message

    def test_forty_diamonds_end(self):
        """
        The number of paths doubles with each one: a walk over paths would never come back.
        """
        catalog = Catalog()
        for number in range(40):
            following = f"File[m{(number + 1) % 40}]"
            catalog.add(resource(f"File[m{number}]", before=f"File[l{number}] File[r{number}]"))
            catalog.add(resource(f"File[l{number}]", before=following))
            catalog.add(resource(f"File[r{number}]", before=following))
        (cycle,) = catalog.plan().cycles

        assert 120 == len(cycle.members)
        assert 81 == len(cycle.path) == len(cycle.ring)

    def test_a_long_ring_is_found_without_recursion(self):
        """
        Twenty thousand resources in a circle.
        """
        count = 20_000
        catalog = catalog_of(*(resource(f"File[{n:05}]", before=f"File[{(n + 1) % count:05}]") for n in range(count)))
        (cycle,) = catalog.plan().cycles

        assert count + 1 == len(cycle.path)

    @pytest.mark.parametrize("count", [30, 41, 42, 5_000])
    def test_a_long_ring_is_told_with_both_its_ends_and_how_many_there_are(self, count):
        """Nobody reads all of it; what it says of Puppet's own message has the whole path."""
        catalog = Catalog()
        for at in range(count):
            catalog.add(Resource(ref_of(f"File[f{at}]"), before=(f"File[f{(at + 1) % count}]",)))

        text = str(error := catalog.plan().cycle_error())

        assert len(text) < 4_000
        first = error.message
        shown, left = first.count("File["), re.findall(r"([\d,]+) more \.\.\.", first)
        assert count + 1 == shown + sum(int(one.replace(",", "")) for one in left)
        assert first.endswith(f"File[f{count - 1}] => File[f0]")
        assert (f"and {count - 40:,} more edges of this ring" in text) == (count > 40)
        assert (f"({count:,} in all)" in text) == (count > 40)

    def test_what_comes_after_a_cycle_is_no_member(self):
        """
        Nor what comes before it.
        """
        catalog = catalog_of(
            resource("File[before]", before="File[a]"),
            resource("File[a]", before="File[b]"),
            resource("File[b]", before="File[a] File[after]"),
            resource("File[after]"),
        )

        assert [["File[a]", "File[b]"]] == [cycle.names for cycle in catalog.plan().cycles]


class TestQuestions:
    def asked(self) -> Catalog:
        return catalog_of(
            resource("Package[ntp]", line=1),
            resource("File[/etc/ntp.conf]", line=2, require="Package[ntp]", notify="Service[ntpd]"),
            Resource(ref_of("Service[ntpd]"), parameters={"refreshable": True}),
            resource("File[/etc/motd]", line=4),
        )

    def test_why_names_the_edges_between_two_resources(self):
        """
        With the relation and the line that make each one.
        """
        steps = why_before(self.asked().plan(), "Package[ntp]", "Service[ntpd]")

        assert ["require of File[/etc/ntp.conf]", "notify of File[/etc/ntp.conf]"] == [step.reason for step in steps]
        assert [2, 2] == [step.origin.line for step in steps if step.origin]

    def test_why_is_empty_where_only_positions_decide(self):
        """
        Unrelated resources have no reason.
        """
        assert [] == why_before(self.asked().plan(), "Package[ntp]", "File[/etc/motd]")

    def test_impact_tells_refreshes_from_waiting(self):
        """
        The package's change refreshes nobody, but both others wait for it.
        """
        plan = self.asked().plan()
        package, conf = impact_of(plan, "Package[ntp]"), impact_of(plan, "File[/etc/ntp.conf]")

        assert ([], ["File[/etc/ntp.conf]", "Service[ntpd]"]) == (package.refreshed, package.after)
        assert ["Service[ntpd]"] == conf.refreshed

    def test_a_way_through_containers_names_their_ends(self):
        """
        What stands in one comes before its end; an empty one is two ends beside each other.
        """
        plan = self.with_containers().plan()

        assert [(str(one.before), str(one.after), one.reason) for one in why_before(plan, "File[a]", "File[c]")] == [
            ("File[a]", "end Class[Web]", "File[a] is in Class[Web]"),
            ("end Class[Web]", "begin Class[E]", "the chain Class['web'] -> Class['e']"),
            ("begin Class[E]", "end Class[E]", "Class[E] is empty"),
            ("end Class[E]", "File[c]", "require of File[c]"),
        ]
        lines = [one.origin and one.origin.line for one in why_before(plan, "File[a]", "File[c]")]
        assert [2, None, 9, 5] == lines
        assert [True, False] == [
            why_before(plan, "File[b]", "Service[s]")[0].refresh,
            bool(why_before(plan, "File[c]", "File[a]")),
        ]

    def test_drawings_have_each_resource_and_each_edge_once(self):
        """
        Solid where it refreshes, broken where it only orders, dotted for what stands inside; red on a cycle.
        """
        plan = self.with_containers().plan()

        assert dot(plan).splitlines()[2:-1] == [
            *(f'  "{ref}";' for ref in ("Class[Web]", "File[a]", "File[b]", "Service[s]", "Class[E]", "File[c]")),
            '  "Class[Web]" -> "File[a]" [style=dotted, arrowhead=none];',
            '  "Class[Web]" -> "Class[E]" [style=dashed];',
            '  "File[a]" -> "File[b]" [style=dashed];',
            '  "File[b]" -> "Service[s]";',
            '  "Class[E]" -> "File[c]" [style=dashed];',
        ]
        assert mermaid(plan).splitlines()[7:] == [
            "  r2 --- r3", "  r2 -.-> r6", "  r3 -.-> r4", "  r4 --> r5", "  r6 -.-> r7",
        ]  # fmt: skip
        ring = catalog_of(
            resource("File[a]", require="File[b]"),
            resource("File[b]", require="File[a]"),
            resource("File[x]", require="File[b]"),
        )
        assert [line for line in dot(ring.plan()).splitlines() if "red" in line] == [
            '  "File[b]" -> "File[a]" [style=dashed, color=red];',
            '  "File[a]" -> "File[b]" [style=dashed, color=red];',
        ]

    def with_containers(self) -> Catalog:
        catalog = catalog_of(
            Resource(ref_of("Class[web]"), "class", origin=Origin("recipe", "web", "w.py", 1)),
            resource("File[a]", line=2, within="Class[Web]"),
            resource("File[b]", line=3, require="File[a]"),
            resource("Service[s]", line=4),
            Resource(ref_of("Class[e]"), "class", origin=Origin("recipe", "e", "e.py", 9)),
            resource("File[c]", line=5, require="Class[E]"),
        )
        catalog.relate("File['b'] ~> Service['s']")
        catalog.relate("Class['web'] -> Class['e']")
        return catalog

    def test_a_name_that_is_not_there_says_what_is_near(self):
        """
        As everywhere.
        """
        with pytest.raises(BadArgument, match=r"did you mean .*Service\[ntpd\]"):
            known_ref(self.asked().plan(), "service[ntp]")

    def test_drawings_quote_what_titles_hold(self):
        """
        A title is any text.
        """
        catalog = catalog_of(resource('File[a"b\\c]', notify="File[<d>]"), resource("File[<d>]"))

        assert '  "File[a\\"b\\\\c]" -> "File[<d>]";' in dot(catalog.plan())
        assert 'r2["File[a&quot;b\\c]"]' in mermaid(catalog.plan())
        assert "  r2 --> r3" in mermaid(catalog.plan())


class TestDocuments:
    @pytest.mark.parametrize(
        ("tree", "said"),
        [
            ([], "a map was expected"),
            ({"resources": {}}, "a list was expected"),
            ({"resources": [1]}, "a map was expected"),
            ({"resources": [{"type": "File"}]}, "needs its title"),
            ({"resources": [{"type": "File", "title": "a", "require": ["File"]}]}, "is no reference"),
            ({"resources": [{"type": "File", "title": "a", "require": 7}]}, "a list was expected"),
            ({"resources": [{"type": "File", "title": "a", "kind": "box"}]}, "no kind 'box'"),
            ({"resources": [{"type": "File", "title": "a", "noop": "yes"}]}, "true or false"),
            ({"resources": [{"type": "File", "title": "a", "auto": {"after": []}}]}, "auto knows"),
            ({"chains": [7]}, "a chain must be a text"),
            ({"chains": ["File['a'] -> "]}, "the text ends"),
        ],
    )
    def test_a_malformed_catalog_document_is_an_error_with_a_place(self, tree, said):
        """
        Never a traceback.
        """
        with pytest.raises(DocumentError, match=said):
            catalog_from(tree)


def test_ten_thousand_resources_come_as_puppet_had_them():
    """Order, outcomes, and the path and members of a large cycle, compared with what is stored beside the input."""
    edge = ordering.given()["long_cycle_edge"]["edge"]

    ordering.check(ordering.catalog(), ordering.catalog([edge]))


# Laws. Few names, so that edges meet.
NAMES = "abcdef"
pairs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)
forward = st.lists(
    st.tuples(st.sampled_from(range(6)), st.sampled_from(range(6))).filter(lambda pair: pair[0] != pair[1]), max_size=9
)
shuffles = st.permutations(range(6))


def related(shuffle: list[int], edges: list[tuple[int, int]]) -> Catalog:
    """An acyclic catalog: the edges go forward in a hidden order that is not the written one."""
    before: dict[int, list[str]] = {}
    for a, b in edges:
        first, then = sorted((a, b))
        before.setdefault(shuffle[first], []).append(f"File[{shuffle[then]}]")
    return catalog_of(*(Resource(ref_of(f"File[{n}]"), before=tuple(before.get(n, ()))) for n in range(6)))


@given(shuffles, forward)
def test_the_order_is_topological_and_the_smallest(shuffle, edges):
    """At each step the first resource, as written, whose predecessors are all done."""
    pairs = {(shuffle[min(edge)], shuffle[max(edge)]) for edge in edges}
    expected: list[int] = []
    while len(expected) < 6:
        free = [n for n in range(6) if n not in expected and all(a in expected for a, b in pairs if b == n)]
        expected.append(min(free))

    assert " ".join(map(str, expected)) == order(related(shuffle, edges))


@given(shuffles, forward, st.data())
def test_an_edge_that_agrees_with_the_order_changes_nothing(shuffle, edges, data):
    """Relationships that hold anyway may be written down."""
    catalog = related(shuffle, edges)
    found = catalog.plan().order()
    first = data.draw(st.integers(0, 4))
    then = data.draw(st.integers(first + 1, 5))
    catalog.depend(found[then], found[first])

    assert found == catalog.plan().order()


@given(pairs)
def test_cycles_are_exactly_what_cannot_be_put_in_an_order(edges):
    """A cycle's members reach each other; without cycles everything has its turn."""
    before: dict[str, list[str]] = {}
    for a, b in edges:
        before.setdefault(a, []).append(f"File[{b}]")
    plan = catalog_of(*(Resource(ref_of(f"File[{n}]"), before=tuple(before.get(n, ()))) for n in NAMES)).plan()
    reach = {a: {b for x, b in edges if x == a} for a in NAMES}
    for _ in NAMES:
        reach = {a: seen.union(*(reach[b] for b in seen)) for a, seen in reach.items()}
    expected = {frozenset(b for b in NAMES if b in reach[a] and a in reach[b]) for a in NAMES if a in reach[a]}

    assert expected == {frozenset(name[5] for name in cycle.names) for cycle in plan.cycles}


@given(st.integers(1, 6), st.data())
def test_the_path_is_the_one_that_a_walk_over_all_paths_finds(size, data):
    """Puppet's search, breadth first over paths, is the oracle; the graphs are strongly connected."""
    neighbours = {
        n: list(dict.fromkeys([*data.draw(st.lists(st.integers(0, size - 1), max_size=3)), (n + 1) % size]))
        for n in range(size)
    }
    neighbours = {n: data.draw(st.permutations(nexts)) for n, nexts in neighbours.items()}
    paths = [[0]]
    while True:
        path = paths.pop(0)
        if path[-1] in path[:-1]:
            break
        paths.extend([*path, one] for one in neighbours[path[-1]])

    assert path == first_lasso(neighbours, 0)
