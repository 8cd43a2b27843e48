"""Who said it, and on which line: what a trace promises for every verb.

Cookbooks are written to real files here. A line that ends in a comment such as
`#: port` is where the test expects the claim `port` to have been made.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node, NodeattrsError, Sensitive, Symbol, lazy
from nodeattrs.chef import consume_external, consume_facts
from nodeattrs.core.claim import Origin, Verb
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.tree import ABSENT
from nodeattrs.formats.documents import parse
from nodeattrs.node.intake import Intake
from nodeattrs.node.ledger import HISTORY_BOUND
from nodeattrs.node.list_history import list_history_at
from nodeattrs.node.maps import set_by_at, setters_at
from nodeattrs.node.running import origin_here, setting_as
from nodeattrs.testing import programs
from tests.edits import leaves
from tests.effort import examples
from tests.ledgers import ledger_of
from tests.sane import contradictions_in


def continuation(ledger, slot, path):
    """The setters of the list at a path of a slot, or that the path leads into; None where no line changed it in
    place.
    """
    work = list_history_at(ledger, slot, path)
    return None if work is None else work.changes


NAMES = {"setting_as": setting_as, "origin_here": origin_here, "Sensitive": Sensitive, "Symbol": Symbol, "lazy": lazy}


class Said:
    """A node, the texts that spoke to it, and where each marked line stands."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.node = Node("web1", root=root, **options)
        self.at: dict[str, str] = {}

    def run(self, source: str, name: str, text: str, file: str = "") -> None:
        """Let a cookbook's file speak: it sees `node`."""
        file = file or f"cookbooks/{name.partition('::')[0]}/{source.split()[0]}s/{len(self.at)}.py"
        text = self._noted(text, file)
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        with setting_as(self.node, source, name):
            exec(compile(text, str(path), "exec"), {"node": self.node, **NAMES})

    def document(self, file: str, text: str) -> Any:
        """A data file, its lines noted as well."""
        return parse(self._noted(text, file), file, file.rpartition(".")[2])

    def _noted(self, text: str, file: str) -> str:
        text = textwrap.dedent(text).lstrip("\n")
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            code, _, names = line.partition("#:")
            for name in names.split():
                self.at[name] = f"{file}:{number}"
            lines.append(code.rstrip())
        return "\n".join(lines) + "\n"

    def winner(self, path: Any) -> str | None:
        """Where the value that is read was said."""
        stated = self.node.trace(path).winner
        return stated.claim.origin.place if stated else None

    def past(self, path: Any) -> list[tuple[str, Any, str | None, str | None]]:
        """What was said before, newest first: event, value, where it was said, where it was ended."""
        return [
            (past.event, past.claim.value, past.claim.origin.place, past.by and past.by.origin.place)
            for past in self.node.trace(path).history
        ]


@pytest.fixture
def said(tmp_path):
    return Said(tmp_path)


class TestTheClaim:
    def test_a_claim_names_slot_cookbook_file_and_line(self, said):
        """The file relative to the repository, the line counted from one."""
        said.run(
            "recipe", "apache2::default", "pass\n\nnode.default['apache']['port'] = 80  #: port\n", "cookbooks/a.py"
        )
        claim = said.node.trace("apache.port").winner.claim

        assert (claim.path, claim.value, claim.rank, claim.verb) == (("apache", "port"), 80, 2, Verb.SET)
        assert (claim.origin.kind, claim.origin.name) == ("recipe", "apache2::default")
        assert claim.origin.place == said.at["port"] == "cookbooks/a.py:3"

    @pytest.mark.parametrize("asked", ["origin_here(node)", "origin_here(node, column=False)"])
    def test_who_asks_where_it_stands_is_told_the_line_that_asks(self, said, asked):
        """And not the line that called for it."""
        said.run("recipe", "x", f"def ask():\n    return {asked}  #: asked\n\nnode.default['at'] = str(ask())\n")
        assert said.node["at"] == f"{said.at['asked']} (recipe x)"

    @pytest.mark.parametrize(
        ("source", "component", "slot"),
        [
            ("attribute file", "default", 1),
            ("recipe", "default", 2),
            ("environment", "env_default", 3),
            ("role", "role_default", 4),
            ("attribute file", "force_default", 5),
            ("recipe", "force_default", 6),
            ("attribute file", "normal", 7),
            ("recipe", "normal", 8),
            ("attribute file", "override", 9),
            ("recipe", "override", 10),
            ("role", "role_override", 11),
            ("environment", "env_override", 12),
            ("attribute file", "force_override", 13),
            ("recipe", "force_override", 14),
            ("facts", "automatic", 15),
        ],
    )
    def test_claims_of_all_fifteen_slots_name_their_setters(self, said, source, component, slot):
        """All fifteen, with who speaks in them."""
        said.run(source, "x", f"node.{component}['a']['b'] = 'said'  #: said")
        claim = said.node.trace("a.b").winner.claim

        assert (claim.rank, claim.origin.kind, claim.origin.place) == (slot, source, said.at["said"])
        assert said.node.slots[slot].origin("a.b").place == said.at["said"]

    def test_losers_follow_in_order_of_strength_with_the_rule_that_beat_them(self, said):
        """Whatever the order of writing."""
        said.run(
            "recipe",
            "x",
            """
            node.override['a'] = 'o'       #: o
            node.default['a'] = 'd'        #: d
            node.force_override['a'] = 'f' #: f
            node.normal['a'] = 'n'         #: n
        """,
        )
        stated = said.node.trace("a").claims

        assert [(one.claim.value, one.claim.origin.place) for one in stated] == [(k, said.at[k]) for k in "fond"]
        assert [one.outcome.value for one in stated] == ["wins", "loses", "loses", "loses"]
        assert [one.by for one in stated] == [(), (14,), (14,), (8,)]
        assert all(one.why for one in stated[1:])

    @pytest.mark.parametrize(
        "line",
        [
            "node.default['a']['b'] = 1",
            "node.default['a'].update({'b': 1})",
            "node.default['a'].update(b=1)",
            "node.default['a'].setdefault('b', 1)",
            "node.default = {'a': {'b': 1}}",
            "node.write('default', 'a', 'b', 1)",
            "node.write_strict('default', 'a', 'b', 1)",
            "node.default.write('a', 'b', 1)",
            "node.default_unless['a']['b'] = 1",
            "node.default_unless('a', 'b', 1)",
            "node.default_full['a']['b'] = 1",
            "node.default_full('a', 'b', 1)",
            "node.force_default_full('a', 'b', 1)",
            "(lambda: node.default['a'].__setitem__('b', 1))()",
        ],
    )
    def test_every_verb_that_stores(self, said, line):
        """The line of the call in the cookbook, never one inside the library."""
        said.run("recipe", "x", f"pass\n{line}  #: here")

        assert said.node["a"]["b"] == 1
        assert said.winner("a.b") == said.at["here"]

    def test_helpers_of_a_cookbook_speak_for_themselves(self, said):
        """The line is where the writer was used, also when that is a function called from elsewhere."""
        said.run(
            "recipe",
            "x",
            """
            def helper(value):
                node.default['a'] = value  #: helper
            helper(1)
            helper(2)
        """,
        )

        assert said.winner("a") == said.at["helper"]
        assert said.past("a") == [("overwritten", 1, said.at["helper"], said.at["helper"])]

    def test_a_step_that_makes_a_map_has_said_it(self, said):
        """An empty map in the node came from somewhere."""
        said.run("recipe", "x", "node.default['a']['b']  #: here")

        assert said.node["a"] == {"b": {}}
        assert said.winner("a.b") == said.at["here"]

    def test_code_without_a_file_is_named_as_python_names_it(self, said):
        """A session at a prompt has lines, and no file."""
        exec(compile("\nnode.default['a'] = 1", "<console>", "exec"), {"node": said.node})

        assert said.winner("a") == "<console>:2"


class TestLiterals:
    def test_each_part_of_a_literal_over_many_lines_has_its_own_line(self, said):
        """Maps, lists, keyword arguments, maps inside lists; what is computed has the line of its key."""
        said.run(
            "attribute file",
            "x",
            """
            node.default['apache'] = {        #: apache
                'port': 80,                   #: port
                'modules': [                  #: modules
                    'ssl',                    #: m0
                    'status',                 #: m1
                ],
                'vhosts': {                   #: vhosts
                    'one': {'root': '/1',     #: one root
                            'log': '/l'},     #: log
                },
                'workers': 2 * 4,             #: workers
                'users': [
                    {'name': 'bob',           #: bob
                     'id': 7},                #: id
                ],
            }
            node.override['apache'].update(
                user='www',                   #: user
                group={'name':                #: group
                       'www-data'},           #: gname
            )
        """,
        )

        for path, name in {
            "apache.port": "port",
            "apache.modules.0": "m0",
            "apache.modules.1": "m1",
            "apache.modules": "modules",
            "apache.vhosts": "vhosts",
            "apache.vhosts.one": "one",
            "apache.vhosts.one.root": "root",
            "apache.vhosts.one.log": "log",
            "apache.workers": "workers",
            "apache.users.0.name": "bob",
            "apache.users.0.id": "id",
            "apache.user": "user",
            "apache.group": "group",
            "apache.group.name": "gname",
        }.items():
            assert (path, said.winner(path)) == (path, said.at[name])

    def test_the_same_statement_in_a_loop_has_the_same_lines(self, said):
        """Whichever turn said it."""
        said.run(
            "recipe",
            "x",
            """
            for name in ('one', 'two'):
                node.default['sites'][name] = {
                    'root': f'/srv/{name}',  #: root
                    'ports': [80,
                              443],          #: tls
                }
        """,
        )

        for name in ("one", "two"):
            assert said.winner(f"sites.{name}.root") == said.at["root"]
            assert said.winner(f"sites.{name}.ports.1") == said.at["tls"]

    @pytest.mark.parametrize(
        ("text", "places"),
        [
            (
                "node.default['c'], node.default['c2'] = {'k':\n 1}, {'k':\n 2}",
                {"c.k": (2, 2), "c2.k": (3, 2), "c": (1, 41), "c2": (1, 20)},
            ),
            (
                "node.default['c'] = {'k': 1}; node.default['c2'] = {'k': 1}",
                {"c.k": (1, 22), "c2.k": (1, 53), "c": (1, 21), "c2": (1, 52)},
            ),
            ("node.default['c'] = 1; node.default['c2'] = 1", {"c": (1, 21), "c2": (1, 45)}),
            ("node.default['c']['k'].push(*['a']) if 0 else node.default.write('c', {'k': ['a']})", {"c.k.0": (1, 78)}),
            (
                "node.default['l'] = []; node.default['l'].push('a'); node.default['l'] += ['a']",
                {"l.0": (1, 48), "l.1": (1, 76)},
            ),
        ],
    )
    def test_what_is_said_on_one_line_is_told_apart_by_its_column(self, said, text, places):
        """Two literals of one statement, two statements with a semicolon between, two calls."""
        said.run("recipe", "x", text)

        for path, place in places.items():
            trace = said.node.trace(path)
            origin = trace.winner.claim.origin
            assert (path, (origin.line, origin.column)) == (path, place)

    def test_columns_outlive_the_run(self, said):
        """A snapshot knows them."""
        said.run("recipe", "x", "node.default['c'] = {'k': 1}; node.default['c2'] = 1")
        again = Node.restore(json.loads(json.dumps(said.node.snapshot())))

        assert [again.trace(path).winner.claim.origin.column for path in ("c", "c.k", "c2")] == [21, 22, 52]


class TestDocuments:
    @pytest.fixture
    def roles(self, said):
        """Two roles that speak about the same map, as JSON files."""
        base = said.document(
            "roles/base.json",
            """
            {"default_attributes": {
              "ntp": {                          #: ntp
                "servers": ["a",                #: a
                            "b"],               #: b
                "port": 123}},                  #: base-port
             "override_attributes": {"x": 1}}   #: x
        """,
        )
        web = said.document(
            "roles/web.yaml",
            """
            default_attributes:
              ntp:
                servers:                        #: web-servers
                  - b                           #: b2
                  - c                           #: c
                port: 124                       #: web-port
        """,
        )
        Intake(said.node).set_roles(
            [
                (one.tree["default_attributes"], one.locator("role", name, ("default_attributes",)))
                for one, name in ((base, "base"), (web, "web"))
            ],
            [(base.tree["override_attributes"], base.locator("role", "base", ("override_attributes",)))],
        )
        return said

    def test_the_line_is_that_of_the_key(self, roles):
        """For JSON and for YAML."""
        assert roles.node["ntp"] == {"servers": ["a", "b", "c"], "port": 124}
        assert roles.winner("ntp.port") == roles.at["web-port"]
        assert roles.winner("x") == roles.at["x"]
        assert roles.node.trace("ntp.port").winner.claim.origin.who == "role web"

    def test_each_element_of_roles_that_united_has_its_own_line(self, roles):
        """The stored list is one; its elements are not of one file."""
        assert [roles.winner(("ntp", "servers", index)) for index in range(3)] == [
            roles.at["a"],
            roles.at["b"],
            roles.at["c"],
        ]
        elements = roles.node.trace("ntp.servers").elements

        assert [[claim.origin.place for claim in one.claims] for one in elements] == [
            [roles.at["a"]],
            [roles.at["b"], roles.at["b2"]],
            [roles.at["c"]],
        ]
        for line in ("a", "b", "c"):
            assert roles.at[line] in roles.node.explain("ntp.servers")

    def test_what_a_later_role_replaced_is_in_the_past(self, roles):
        """With the line of both."""
        assert roles.past("ntp.port") == [("overwritten", 123, roles.at["base-port"], roles.at["web-port"])]

    def test_an_empty_map_of_a_later_role_is_left_when_the_map_before_goes(self, said):
        """It changes nothing, and is in the past of the map."""
        base = said.document("roles/base.json", '{"e": {"t": 1}}')
        web = said.document("roles/web.yaml", "e: {}  #: empty")
        Intake(said.node).set_roles([(one.tree, one.locator("role", "", ())) for one in (base, web)], [])

        assert said.node["e"] == {"t": 1}
        assert ("overwritten", {}, said.at["empty"]) == said.past("e")[0][:3]

    def test_an_environment_speaks_with_its_name_and_line(self, said):
        """In slots 3 and 12; `_default` says nothing."""
        document = said.document(
            "environments/production.json",
            """
            {"name": "production",
             "default_attributes": {
               "a": 1},                #: a
             "override_attributes": {
               "b": 2}}                #: b
        """,
        )

        class Environment:
            name = "production"
            default_attributes = document.tree["default_attributes"]
            override_attributes = document.tree["override_attributes"]
            default_locator = document.locator("environment", "production", ("default_attributes",))
            override_locator = document.locator("environment", "production", ("override_attributes",))

        Intake(said.node).set_environment(Environment())

        assert (said.winner("a"), said.winner("b")) == (said.at["a"], said.at["b"])
        assert [said.node.trace(path).winner.claim.rank for path in "ab"] == [3, 12]
        assert said.node.trace("a").winner.claim.origin.who == "environment production"
        Intake(said.node).set_environment(None)
        assert said.winner("a") is None

    def test_json_attributes_stand_over_what_was_saved(self, said):
        """Both in slot 7, each with an origin of its own; united lists element by element."""
        saved = Node("web1")
        saved.normal["list"] = ["old"]
        saved.normal["a"] = 1
        said.node = Node.from_chef(saved.to_chef(), root=said.root)
        given = said.document(
            "given.json",
            """
            {"list": ["old",
                      "new"],  #: new
             "a": 2}           #: a
        """,
        )
        consume_external(
            said.node, {"platform": "ubuntu"}, given.tree, json_locator=given.locator("JSON attributes", "")
        )
        trace = said.node.trace("a")

        assert said.node["list"] == ["old", "new"]
        assert said.winner("a") == said.at["a"]
        assert trace.history[0].claim.origin.kind == "saved"
        assert "saved origin unknown" in said.node.explain("a")
        assert said.node.trace("list.0").winner.claim.origin.kind == "saved"
        assert said.winner("list.1") == said.at["new"]

    def test_facts_of_a_file_have_lines(self, said):
        """An Ohai document is a file like any other."""
        facts = said.document(
            "facts.json",
            """
            {"platform": "ubuntu",   #: platform
             "kernel": {
               "release": "5.4"}}    #: release
        """,
        )
        consume_facts(said.node, facts.tree, locator=facts.locator("facts", ""))

        assert said.winner("platform") == said.at["platform"]
        assert said.winner("kernel.release") == said.at["release"]

    def test_a_document_without_origins_says_so(self):
        """Nothing is invented."""
        node = Node.from_chef({"name": "web1", "normal": {"a": {"b": 1}}})

        assert node.trace("a.b").winner.claim.origin.place is None
        assert "saved origin unknown" in node.explain("a.b")


class TestThePast:
    def test_the_history_of_a_slot_is_newest_first(self, said):
        """Newest first, with who ended it."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a'] = 1  #: one
            node.default['a'] = 2  #: two
            node.default['a'] = 3  #: three
        """,
        )

        assert said.winner("a") == said.at["three"]
        assert said.past("a") == [
            ("overwritten", 2, said.at["two"], said.at["three"]),
            ("overwritten", 1, said.at["one"], said.at["two"]),
        ]

    def test_what_another_slot_says_is_no_past(self, said):
        """It lost, and is still there."""
        said.run("recipe", "x", "node.default['a'] = 1\nnode.override['a'] = 2")

        assert said.past("a") == []
        assert len(said.node.trace("a").losers) == 1

    def test_claims_below_a_map_that_was_replaced_stay_findable(self, said):
        """At their own path, though it is gone; each with its own line."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['b']['x'] = 1  #: x
            node.default['a']['b']['y'] = {
                'z': 2,                      #: z
            }
            node.default['a'] = {'new': 1}   #: new
        """,
        )

        assert said.past("a.b.x") == [("overwritten", 1, said.at["x"], said.at["new"])]
        assert said.past("a.b.y.z") == [("overwritten", 2, said.at["z"], said.at["new"])]
        assert said.winner("a.b.x") is None

    @pytest.mark.parametrize(
        "line",
        [
            "node.rm('a', 'b')",
            "node.rm_default('a', 'b')",
            "node.default.unlink('a', 'b')",
            "node.unlink('default', 'a', 'b')",
            "node.unlink_strict('default', 'a', 'b')",
            "node.default['a'].delete('b')",
            "del node.default['a']['b']",
            "node.default['a'].pop('b')",
            "node.default['a'].clear()",
            "node.force_default_full('a', {'other': 1})",
        ],
    )
    def test_the_history_of_a_slot_has_every_erasure(self, said, line):
        """What was there, who had said it, and the line that took it away."""
        said.run("attribute file", "x", "node.default['a']['b'] = 1  #: b")
        said.run("recipe", "y", f"pass\n{line}  #: gone")

        assert said.node.read("a", "b") is None
        assert said.past("a.b") == [("erased", 1, said.at["b"], said.at["gone"])]
        assert "erased" in said.node.explain("a.b")
        assert said.at["gone"] in said.node.explain("a.b")

    def test_an_erasure_at_a_path_above_is_found_from_below(self, said):
        """And the other way round, an inner map tells of what was erased in it."""
        said.run(
            "recipe",
            "x",
            """
            node.normal['a']['b']['c'] = 1   #: c
            node.rm('a', 'b')                #: gone
            node.normal['a']['z'] = 1
        """,
        )

        assert said.past("a.b.c") == [("erased", 1, said.at["c"], said.at["gone"])]
        assert [past[0] for past in said.past("a")] == ["erased"]

    def test_an_unless_that_spoke_is_a_claim_like_any_other(self, said):
        """Nobody had said anything."""
        said.run("recipe", "x", "node.default_unless['a'] = 1  #: a")

        assert said.winner("a") == said.at["a"]
        assert said.past("a") == []

    @pytest.mark.parametrize("silent", ["node.default_unless['a'] = 2", "node.default.setdefault('a', 2)"])
    def test_an_unless_that_stayed_silent_is_told(self, said, silent):
        """What it would have said, and where; a `setdefault` is one, too."""
        said.run("recipe", "x", f"node.default['a'] = 1  #: a\n{silent}  #: silent")

        assert said.winner("a") == said.at["a"]
        assert said.past("a") == [("silent", 2, said.at["silent"], None)]
        assert said.node.trace("a").history[0].claim.verb is Verb.SILENT
        assert "silent" in said.node.explain("a")

    def test_what_a_whole_map_replaced_is_newer_than_what_that_had_replaced(self, said):
        """The line that goes last is the one that would be read without the map."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['b'] = 1      #: one
            node.default['a']['b'] = 2      #: two
            node.default['a'] = {'b': 3}    #: whole
        """,
        )

        assert said.past("a.b") == [
            ("overwritten", 2, said.at["two"], said.at["whole"]),
            ("overwritten", 1, said.at["one"], said.at["two"]),
        ]

    def test_a_full_assignment_tells_what_it_cleared(self, said):
        """In all components of its level for the force forms."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['b'] = 1             #: b
            node.role_default['a']['b'] = 2        #: role
            node.force_default_full['a']['b'] = 3  #: full
        """,
        )

        assert said.winner("a.b") == said.at["full"]
        assert sorted(said.past("a.b")) == [
            ("erased", 1, said.at["b"], said.at["full"]),
            ("erased", 2, said.at["role"], said.at["full"]),
        ]

    def test_a_replaced_component_is_the_past_of_all_its_paths(self, said):
        """The whole tree went at once."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['b'] = 1   #: b
            node.default = {'z': 1}      #: whole
        """,
        )

        assert said.past("a.b") == [("overwritten", 1, said.at["b"], said.at["whole"])]

    def test_what_was_in_the_way_of_a_write(self, said):
        """The scalar that became a map."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a'] = 5               #: scalar
            node.write('default', 'a', 'b', 1)  #: write
        """,
        )

        assert said.winner("a.b") == said.at["write"]
        assert ("overwritten", 5, said.at["scalar"], said.at["write"]) in said.past("a")


class TestHowItWasSet:
    def test_the_past_says_it_as_the_trace_did(self, said):
        """A full assignment was one, and a value inside of a map that was assigned was set along."""
        node = said.node
        node.default_full["full"]["k"] = 1
        node.default["map"] = {"k": {"x": 1}}
        node.default["plain"]["k"] = 1
        before = {path: node.trace(path).winner.claim.verb for path in ("full.k", "map", "map.k", "map.k.x", "plain.k")}
        for path in ("full", "map", "plain"):
            node.default[path]["k"] = 2
        node.default["map"] = {}

        assert [Verb.FULL, Verb.REPLACE, Verb.SET, Verb.SET, Verb.SET] == list(before.values())
        for path, verb in before.items():
            assert {verb} == {past.claim.verb for past in node.trace(path).history if ".".join(past.claim.path) == path}


class TestAttributeFileAndRecipe:
    def test_a_map_that_a_recipe_assigned_hides_the_attribute_files(self, said):
        """The hidden claims lose by that rule, at every path below."""
        said.run("attribute file", "x", "node.default['a'] = {'k': 'file', 'only': 1}  #: file")
        said.run("recipe", "x", "node.default['a'] = {'k': 'recipe'}  #: recipe")
        trace = said.node.trace("a.only")

        assert said.node["a"] == {"k": "recipe"}
        assert not trace.found
        assert [(one.claim.value, one.claim.origin.place, one.outcome.value) for one in trace.claims] == [
            ({"k": "recipe"}, said.at["recipe"], "holds"),
            (1, said.at["file"], "loses"),
        ]
        assert said.node.trace("a").winner.claim.verb is Verb.REPLACE
        assert "replaces" in said.node.explain("a")
        assert [one.claim.origin.place for one in said.node.trace("a.k").claims] == [said.at["recipe"], said.at["file"]]

    def test_walking_in_joins(self, said):
        """Both stand, and both are named for the map."""
        said.run("attribute file", "x", "node.default['a'] = {'f': 1}  #: f")
        said.run("recipe", "x", "node.default['a']['r'] = 2  #: r")
        trace = said.node.trace("a")

        assert said.node["a"] == {"f": 1, "r": 2}
        assert [one.outcome.value for one in trace.claims] == ["joins", "joins"]
        assert (said.winner("a.f"), said.winner("a.r")) == (said.at["f"], said.at["r"])

    def test_the_recipe_wins_though_the_attribute_file_came_late(self, said):
        """Rule 2b: the slots decide, not the clock."""
        said.run("recipe", "x", "node.default['a'] = 'recipe'  #: recipe")
        said.run("attribute file", "x", "node.default['a'] = 'late'  #: late")

        assert said.winner("a") == said.at["recipe"]
        assert said.node.trace("a").losers[0].claim.origin.place == said.at["late"]

    def test_an_erasure_by_a_recipe_is_told_in_both_slots(self, said):
        """Each with who had said it."""
        said.run("attribute file", "x", "node.default['a'] = {'f': 1}  #: f")
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['f'] = 2       #: r
            node.default['a'].delete('f')    #: gone
        """,
        )

        assert sorted(said.past("a.f"), key=str) == sorted(
            [("erased", 1, said.at["f"], said.at["gone"]), ("erased", 2, said.at["r"], said.at["gone"])], key=str
        )


class TestLists:
    def test_in_place_work_keeps_who_said_each_element(self, said):
        """Whatever moves them about; new ones have the line that added them."""
        said.run(
            "attribute file",
            "x",
            """
            node.default['l'] = [
                'd',                    #: d
                'a',                    #: a
                'c',                    #: c
            ]
        """,
        )
        said.run(
            "recipe",
            "x",
            """
            node.default['l'].push('p')         #: p
            node.default['l'].unshift('u')      #: u
            node.default['l'].insert(2, 'i')    #: i
            node.default['l'].sort()
            node.default['l'].reverse()
            node.default['l'].push('a')
            node.default['l'].uniq()
            node.default['l'].delete('c')
            node.default['l'].shift()
            node.default['l'] += ['e']          #: e
            node.default['l'].concat([
                'f',                            #: f
                'g',                            #: g
            ])
            node.default['l'][0] = 'z'          #: z
            node.default['l'].pop(1)
        """,
        )

        assert said.node["l"] == ["z", "d", "a", "e", "f", "g"]
        assert [said.winner(("l", index)) for index in range(6)] == [said.at[name] for name in "zdaefg"]
        assert [one.claims[0].origin.place for one in said.node.trace("l").elements] == [said.at[k] for k in "zdaefg"]
        assert "continued by cookbooks/x/recipes/" in said.node.explain("l")

    @pytest.mark.parametrize("method", ["replace", "concat", "extend"])
    def test_elements_of_a_literal_keep_their_lines_when_they_move(self, said, method):
        """Their place in the list is not their place in the literal."""
        said.run(
            "recipe",
            "x",
            f"""
            node.default['l'] = ['x', 'y']
            node.default['l'].{method}([
                'a',                    #: a
                'b',                    #: b
                {{'k': 1,               #: k
                  'j': 2}},             #: j
            ])
            node.default['l'].unshift('first')
            node.default['l'].delete('a')
        """,
        )
        index = said.node["l"].index("b")

        assert said.winner(("l", index)) == said.at["b"]
        assert said.winner(("l", index + 1, "k")) == said.at["k"]
        assert said.winner(("l", index + 1, "j")) == said.at["j"]

    def test_work_inside_an_element_names_who_did_it(self, said):
        """At the leaf that was written; what lies beside it keeps its line."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = [
                {'k': 1,                          #: k
                 'j': 2},                         #: j
            ]
            node.default['l'][0]['k'] = 5         #: five
        """,
        )

        assert said.winner("l.0.k") == said.at["five"]
        assert said.winner("l.0.j") == said.at["j"]

    def test_a_united_list_says_which_element_came_from_whom(self, said):
        """Everyone who said an element, the first to say it first, each with his line."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = ['a', 'b']       #: d
            node.role_default['l'] = [
                'b',                             #: rb
                'c',                             #: rc
            ]
            node.force_default['l'] = ['c', 'd'] #: f
            node.normal['other'] = 1
        """,
        )
        elements = said.node.trace("l").elements

        assert [(one.value, one.ranks) for one in elements] == [
            ("a", (2,)),
            ("b", (2, 4)),
            ("c", (4, 6)),
            ("d", (6,)),
        ]
        assert [[claim.origin.place for claim in one.claims] for one in elements] == [
            [said.at["d"]],
            [said.at["d"], said.at["rb"]],
            [said.at["rc"], said.at["f"]],
            [said.at["f"]],
        ]
        assert {one.outcome.value for one in said.node.trace("l").claims} == {"joins"}
        for name in ("d", "rb", "rc", "f"):
            assert said.at[name] in said.node.explain("l")

    def test_a_list_that_a_stronger_level_replaced_lost_as_a_whole(self, said):
        """Across levels lists do not unite."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = ['a']   #: d
            node.override['l'] = ['b']  #: o
        """,
        )

        assert said.winner("l.0") == said.at["o"]
        assert said.node.trace("l").losers[0].claim.origin.place == said.at["d"]

    def test_a_removed_element_is_in_what_was_set(self, said):
        """The list as it was, and who went on with it."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = ['a', 'b']  #: l
            node.default['l'].delete('a')   #: gone
        """,
        )

        winner = said.node.trace("l").winner
        assert (["a", "b"], said.at["l"]) == (winner.claim.value, winner.claim.origin.place)
        assert [said.at["gone"]] == [one.origin.place for one in winner.then]
        assert [] == said.past("l")


class TestListsThatSeveralWorkedOn:
    """What a list worked on in place began with lives on in it: nobody has overridden that."""

    @pytest.fixture
    def listed(self, said):
        """An attribute file's list that it works on itself, and then a recipe."""
        said.run(
            "attribute file",
            "web",
            """
            node.default['l'] = ['a',        #: set
                                 'b']        #: b
            node.default['l'].append('c')    #: c
        """,
        )
        said.run(
            "recipe",
            "web",
            """
            node.default['l'].push('d')      #: d
            node.default['l'].delete('b')    #: delete
            for _ in range(9):
                node.default['l'].unshift('e')   #: e
        """,
        )
        return said

    def continued(self, said, path, slot=2):
        """Slot, those who began and those who went on: value and place each."""
        found = continuation(ledger_of(said.node), slot, path)
        return found and (
            found.slot,
            [(one.rank, one.value, one.origin.place) for one in found.first],
            [(one.rank, one.origin.place) for one in found.later],
        )

    def test_the_list_names_who_set_it_and_who_went_on(self, listed):
        """In order, each line once, in the slot in which it spoke; a loop is one line."""
        at = listed.at

        assert self.continued(listed, ("l",)) == (
            1,
            [(1, ["a", "b"], at["set"])],
            [(1, at["c"]), (2, at["d"]), (2, at["delete"]), (2, at["e"])],
        )

    def test_the_weaker_slot_has_its_own_part_of_it(self, listed):
        """What the attribute file itself made of its list."""
        at = listed.at

        assert self.continued(listed, ("l",), slot=1) == (None, [(1, ["a", "b"], at["set"])], [(1, at["c"])])

    @pytest.mark.parametrize(
        ("index", "slot", "rank", "value", "line", "since"),
        [
            (-4, None, 2, "e", "e", None),
            (-3, 1, 1, "a", "set", ["c", "d", "delete", "e"]),
            (-2, 1, 1, "c", "c", ["d", "delete", "e"]),
            (-1, None, 2, "d", "d", ["delete", "e"]),
        ],
    )
    def test_an_element_names_who_said_it_and_who_worked_on_the_list_since(
        self, listed, index, slot, rank, value, line, since
    ):
        """Wherever it stands by now; nobody, where the last one to work on the list said it."""
        path = ("l", len(listed.node["l"]) + index)
        found = self.continued(listed, path)

        assert listed.node["l"][path[1]] == value
        if since is None:
            assert found is None
        else:
            assert found[:2] == (slot, [(rank, value, listed.at[line])])
            assert [place for _, place in found[2]] == [listed.at[one] for one in since]

    def test_all_its_history_is_no_more_than_that(self, listed):
        """Nothing was overwritten that does not live on."""
        ledger = ledger_of(listed.node)
        events = {id(event) for one in ledger.history["l",].values() for event in one.events}

        assert {id(event) for event in list_history_at(ledger, 2, ("l",)).events} == events

    def test_a_newly_assigned_list_overwrites_the_grown_list(self, said):
        """The list before it is history; what was done to that is no part of the new one."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = ['a']
            node.default['l'].push('b')
            node.default['l'] = ['c']        #: set
            node.default['l'].push('d')      #: d
        """,
        )
        found = list_history_at(ledger_of(said.node), 2, ("l",))

        assert self.continued(said, ("l",)) == (None, [(2, ["c"], said.at["set"])], [(2, said.at["d"])])
        assert [event.value for event in found.events] == [["c"]]

    @pytest.mark.parametrize("work", ["clear()", "replace(['x'])"])
    def test_work_that_leaves_nothing_of_the_list_begins_it_anew(self, said, work):
        """What the attribute file said is really overridden."""
        said.run("attribute file", "x", "node.default['l'] = ['a']")
        said.run("recipe", "x", f"node.default['l'].{work}  #: anew")

        assert continuation(ledger_of(said.node), 2, ("l",)) is None
        assert said.winner("l") == said.at["anew"]
        said.run("recipe", "x", "node.default['l'].push('y')  #: on")
        begun = [] if work == "clear()" else ["x"]
        assert self.continued(said, ("l",)) == (None, [(2, begun, said.at["anew"])], [(2, said.at["on"])])

    def test_a_list_that_was_emptied_bit_by_bit_still_says_who_set_it(self, said):
        """And who took the last one away."""
        said.run("attribute file", "x", "node.default['l'] = ['a']  #: set")
        said.run("recipe", "x", "node.default['l'].pop()  #: pop")

        assert self.continued(said, ("l",)) == (1, [(1, ["a"], said.at["set"])], [(2, said.at["pop"])])
        assert said.winner("l") == said.at["pop"]

    def test_an_empty_list_that_a_recipe_fills_lives_on(self, said):
        """Though none of its elements does."""
        said.run("attribute file", "x", "node.default['l'] = []  #: set")
        said.run("recipe", "x", "node.default['l'].push('a')  #: push")

        assert self.continued(said, ("l",)) == (1, [(1, [], said.at["set"])], [(2, said.at["push"])])

    def test_work_inside_an_element_is_work_on_the_list(self, said):
        """The rest of the element lives on, what was written does not."""
        said.run("attribute file", "x", "node.default['l'] = [{'k': 1, 'm': 2}]  #: set")
        said.run("recipe", "x", "node.default['l'][0]['k'] = 3  #: k")

        assert self.continued(said, ("l",))[2] == [(2, said.at["k"])]
        assert self.continued(said, ("l", 0, "m")) == (1, [(1, 2, said.at["set"])], [(2, said.at["k"])])
        assert self.continued(said, ("l", 0, "k")) is None

    def test_work_in_a_list_in_a_list_keeps_who_set_each_element(self, said):
        """What only moved is whose it was: in a map of the list, by an index from the end, once it was saved, too."""
        said.run(
            "attribute file", "x", "node.default['l'] = [\n    ['a'],  #: a\n    {'k': ['b',  #: b\n    'c']}]  #: c"
        )
        said.run(
            "recipe",
            "x",
            """
            node.default['l'][0].insert(0, 'i')        #: i
            node.default['l'][-1]['k'].unshift('u')    #: u
            node.default['l'][1]['k'][-1] = 'p'        #: p
            node.default['l'][0].delete('no')          #: no
            """,
        )

        for node in (said.node, Node.restore(json.loads(json.dumps(said.node.snapshot())))):
            set_at = {path: node.trace(path).winner.claim.origin.place for path in ("l.0.0", "l.0.1", "l.1.k.0")}
            assert set_at == {"l.0.0": said.at["i"], "l.0.1": said.at["a"], "l.1.k.0": said.at["u"]}
            assert [one.origin.place for one in node.trace("l.1.k").standing] == [said.at[k] for k in "ubp"]
            assert node.trace("l.0.1").history == ()
        assert self.continued(said, ("l", 0, 1))[2] == [(2, said.at[name]) for name in ("i", "u", "p", "no")]

    def test_an_attribute_file_that_speaks_late_is_not_gone_on_with(self, said):
        """What it says then is overridden by the recipe's list, which began with what it had said before."""
        said.run("attribute file", "x", "node.default['l'] = ['a']  #: set")
        said.run("recipe", "x", "node.default['l'].push('b')  #: push")
        said.run("attribute file", "x", "node.default['l'] = ['c']")
        found = list_history_at(ledger_of(said.node), 2, ("l",))

        assert self.continued(said, ("l",)) == (None, [(1, ["a"], said.at["set"])], [(2, said.at["push"])])
        assert [event.value for event in found.events] == [["a"]]
        assert self.continued(said, ("l", 0)) == (None, [(2, "a", said.at["set"])], [(2, said.at["push"])])

    def test_lists_that_united_were_begun_by_all(self, said):
        """A line that works on the list of two roles."""
        roles = [
            ({"l": ["a"]}, Origin("role", "base", "base.json", 1)),
            ({"l": ["b"]}, Origin("role", "web", "w.json", 2)),
        ]
        Intake(said.node).set_roles(roles, [])
        said.run("role", "x", "node.role_default['l'].push('z')  #: push")
        found = continuation(ledger_of(said.node), 4, ("l",))

        assert [one.origin.place for one in found.first] == ["base.json:1", "w.json:2"]
        assert [one.origin.place for one in found.later] == [said.at["push"]]

    def test_origins_of_a_grown_list_outlive_the_run(self, listed):
        """In a snapshot, and in normal attributes that the next run takes over."""
        there = self.continued(listed, ("l",))
        again = Node.restore(json.loads(json.dumps(listed.node.snapshot())))
        listed.node = again
        assert self.continued(listed, ("l",)) == there

    def test_saved_normal_attributes_remember_it(self, said):
        """As set by those who were saved."""
        said.run("recipe", "x", "node.normal['l'] = ['a']  #: set\nnode.normal['l'].push('b')  #: push")
        later = Said(said.root)
        Intake(later.node).keep_saved(said.node)
        found = continuation(ledger_of(later.node), 7, ("l",))

        assert [str(one.origin) for one in (*found.first, *found.later)] == [
            f"{said.at['set']} (saved recipe x)",
            f"{said.at['push']} (saved recipe x)",
        ]

    def test_each_element_has_its_setters_where_more_unite_with_it(self, said):
        """JSON attributes of the next run over the list that a recipe worked on."""
        said.run("recipe", "x", "node.normal['l'] = ['a']  #: set\nnode.normal['l'].push('b')  #: push")
        later = Said(said.root)
        Intake(later.node).keep_saved(said.node)
        Intake(later.node).merge_json({"l": ["b", "c"]})
        elements = later.node.trace("l").elements

        assert ["a", "b", "c"] == list(later.node["l"])
        assert [["saved recipe"], ["saved recipe", "JSON attributes"], ["JSON attributes"]] == [
            [claim.origin.kind for claim in one.claims] for one in elements
        ]

    @pytest.mark.parametrize("line", ["node.default['l'] = ['a']", "node.default['l'] = {'k': ['a']}", "pass"])
    def test_nothing_is_said_of_what_nobody_worked_on(self, said, line):
        """A list that was set, a map, nothing."""
        said.run("recipe", "x", line)

        assert [
            continuation(ledger_of(said.node), 2, path) for path in [(), ("l",), ("l", 0), ("l", "k"), ("x", "y")]
        ] == [None] * 5

    def test_nothing_is_known_without_provenance(self, tmp_path):
        """And nothing fails."""
        said = Said(tmp_path, provenance=False)
        said.run("recipe", "x", "node.default['l'] = ['a']\nnode.default['l'].push('b')\nnode.default['l'].pop()")

        assert said.node["l"] == ["a"]
        assert continuation(ledger_of(said.node), 2, ("l",)) is None


class TestElementsThatMoved:
    """An element is itself wherever its list has it by now."""

    def rows(self, said, path):
        """Outcome, rank, value and place of each claim, and of what was set before."""
        trace = said.node.trace(path)
        stated = [(one.outcome.value, one.claim.rank, one.claim.value, one.claim.origin.place) for one in trace.claims]
        return stated + [(one.event, one.claim.rank, one.claim.value, one.claim.origin.place) for one in trace.history]

    def test_an_element_that_moved_up_was_never_overwritten(self, said):
        """By whoever put another one before it: one row, and those who went on."""
        said.run("attribute file", "x", "node.default['l'] = []  #: set")
        said.run("recipe", "x", "node.default['l'].push('a')  #: a\nnode.default['l'].unshift('b')  #: b")

        assert self.rows(said, "l.1") == [("wins", 2, "a", said.at["a"])]
        assert [one.origin.place for one in said.node.trace("l.1").winner.then] == [said.at["b"]]
        assert self.rows(said, "l") == [("wins", 2, [], said.at["set"])]

    def test_what_an_attribute_file_put_into_its_list_lives_on_in_the_recipes(self, said):
        """Though nothing is left of what the list began with."""
        said.run("attribute file", "x", "node.default['l'] = []\nnode.default['l'].insert(0, 'a')  #: a")
        said.run("recipe", "x", "node.default['l'].push('b')")

        assert self.rows(said, "l.0") == [("wins", 2, "a", said.at["a"])]

    def test_what_was_no_list_before_is_overwritten(self, said):
        """Another kind of value lives on in no element."""
        said.run(
            "recipe",
            "x",
            "node.default['l'] = 5  #: five\nnode.default['l'] = ['a']  #: a\nnode.default['l'].push('b')",
        )

        assert self.rows(said, "l.0") == [("wins", 2, "a", said.at["a"]), ("overwritten", 2, 5, said.at["five"])]

    def test_an_element_that_was_taken_out_is_overridden(self, said):
        """Where it has stood, by the one that stands there now."""
        said.run("attribute file", "x", "node.default['l'] = ['a',  #: a\n 'b']  #: b")
        said.run("recipe", "x", "node.default['l'].delete('a')")

        assert self.rows(said, "l.0") == [("wins", 2, "b", said.at["b"]), ("loses", 1, "a", said.at["a"])]

    def test_of_several_on_one_line_it_is_the_one_that_is_read(self, said):
        """Nobody keeps a column for each of them, but the value is known."""
        said.run("attribute file", "x", "node.default['l'] = ['a']\nnode.default['l'].push('b', 'c')  #: bc")
        said.run("recipe", "x", "node.default['l'].unshift('d')")

        assert [row[2:] for row in self.rows(said, "l.3")] == [("c", said.at["bc"])]

    def test_an_element_of_a_stronger_slot_is_looked_up_where_that_slot_has_it(self, said):
        """Its place in the whole list is another one."""
        said.run("recipe", "x", "node.override['l'] = ['a']\nnode.force_override['l'] = ['b']  #: b")
        said.run("recipe", "y", "node.force_override['l'].push('c')  #: c")

        assert said.node["l"] == ["a", "b", "c"]
        assert self.rows(said, "l.1") == [("wins", 14, "b", said.at["b"])]
        assert self.rows(said, "l.2") == [("wins", 14, "c", said.at["c"])]

    def test_lists_that_united_in_one_slot_have_overwritten_nothing(self, said):
        """And who said an equal element is named beside the first one."""
        roles = [
            ({"l": ["a"]}, Origin("role", "one", "one.json", 1)),
            ({"l": ["b", "a"]}, Origin("role", "two", "two.json", 1)),
        ]
        Intake(said.node).set_roles(roles, [])

        assert self.rows(said, "l.0") == [("joins", 4, "a", "one.json:1"), ("joins", 4, "a", "two.json:1")]
        assert self.rows(said, "l.1") == [("wins", 4, "b", "two.json:1")]
        assert self.rows(said, "l") == [("wins", 4, ["a", "b"], "two.json:1")]


class TestNextInLine:
    def test_a_map_that_a_line_only_stepped_into_goes_with_it(self, said):
        """So a list that this map has overridden is next, and not what lies below another one."""
        said.run("attribute file", "x", "node.default['e']['n'] = 'd'  #: d")
        said.run("role", "x", "node.role_override['e'] = []  #: list")
        said.run("recipe", "x", "node.force_override['e']['n'] = 'w'")

        assert [one.claim.origin.place for one in said.node.trace("e.n").losers] == [said.at["list"], said.at["d"]]

    def test_a_map_that_a_recipe_assigned_hides_the_attribute_files_without_the_entry_too(self, said):
        """What is next lies in another level."""
        said.run(
            "attribute file",
            "x",
            "node.override['d'] = {'n': 'hidden'}  #: hidden\nnode.default['d'] = {'n': 'next'}  #: next",
        )
        said.run("recipe", "x", "node.override['d'] = {'n': 'w'}")

        assert next(one.claim.origin.place for one in said.node.trace("d.n").losers) == said.at["next"]

    def test_a_map_that_a_full_assignment_erased_is_named_where_it_would_hold_again(self, said):
        """Without that line it would hide the number below, though it has nothing at the path itself."""
        said.run("environment", "x", "node.env_default['d'] = 5\nnode.env_override['d'] = {'e': 1}  #: map")
        said.run("recipe", "x", "node.force_override_full['d'] = {'d': 'w'}  #: full")
        (past,) = said.node.trace("d.d").history

        assert (past.event, past.claim.path, past.claim.value) == ("erased", ("d",), {"e": 1})
        assert (past.claim.origin.place, past.by.origin.place) == (said.at["map"], said.at["full"])
        assert said.node.trace("d.d").losers[0].claim.value == 5

    def test_such_a_map_may_hold_a_whole_map_that_was_assigned(self, said):
        """It stays without that, too."""
        said.run("attribute file", "x", "node.normal['d'] = {'d': {'n': 'hidden'}}")
        said.run("recipe", "x", "node.normal['d'] = {}  #: map\nnode.normal['d']['d'] = {\n  'n': 'w'}")
        holds, loses = said.node.trace("d.d.n").claims[1:]

        assert (holds.outcome.value, holds.claim.origin.place, loses.by) == ("holds", said.at["map"], (8, 7))

    @pytest.mark.parametrize("entry", ["['e']['n'] = 'w'", "['e'].update(n='w')", "['e'].update({\n  'n': 'w'})"])
    def test_a_map_that_another_line_assigned_stays_and_holds(self, said, entry):
        """Nobody is next: without the entry the map is still there. It is named, with what it overrides."""
        said.run("attribute file", "x", "node.override['e'] = {'n': 'hidden'}  #: hidden")
        said.run("recipe", "x", f"node.override['e'] = {{}}  #: map\nnode.override{entry}")
        trace = said.node.trace("e.n")

        assert [(one.outcome.value, one.claim.origin.place, one.by) for one in trace.claims[1:]] == [
            ("holds", said.at["map"], ()),
            ("loses", said.at["hidden"], (10, 9)),
        ]
        assert "overridden by 10: a recipe" in str(trace)

    def test_of_two_maps_that_stay_in_the_way_both_are_named(self, said):
        """
        Without one of them the other one is still there: nobody is next.
        """
        said.run("recipe", "x", "node.default['e'] = 5\nnode.force_default['e']['k'] = 1")
        said.run("recipe", "x", "node.force_default['e']['t'] = 'w'\nnode.override['e']['l'] = 2")

        assert [(5, (10, 6))] == [(one.claim.value, one.by) for one in said.node.trace("e.t").claims[1:]]

    @pytest.mark.parametrize("entry", ["['e'].update(n='w')", "['e'].update({\n  'n': 'w'})"])
    def test_a_map_that_an_update_stepped_into_goes_with_it(self, said, entry):
        """Also where its entries stand on other lines, and after it was saved."""
        said.run("role", "x", "node.role_default['e'] = 5  #: five")
        said.run("recipe", "x", f"node.override{entry}")

        for node in (said.node, Node.restore(json.loads(json.dumps(said.node.snapshot())))):
            assert [(one.outcome.value, one.claim.origin.place, one.by) for one in node.trace("e.n").claims[1:]] == [
                ("loses", said.at["five"], (10,))
            ]

    def test_what_stood_in_the_way_before_is_named_with_the_place_where_it_was_overwritten(self, said):
        """A scalar where the map is now."""
        said.run("recipe", "x", "node.default['d'] = {'k': 5}  #: five\nnode.default['d'] = {'k': {'n': 1}}  #: map")
        (past,) = said.node.trace("d.k.n").history

        assert (past.claim.path, past.claim.value, past.claim.origin.place) == (("d", "k"), 5, said.at["five"])
        assert (past.at, past.by.origin.place) == (("d",), said.at["map"])
        assert said.node.trace("d.k.n").to_dict()["history"][0]["at"] == "d"


@pytest.mark.parametrize(("path", "value", "at"), [("t.k", 5, "t"), ("t.l.1", 7, "t"), ("t.no", ABSENT, None)])
def test_what_a_deferred_value_comes_to_is_there_and_its_line_is_named(said, path, value, at):
    """
    It is read as the map that it is; where that has nothing, it stands in the way.
    """
    said.run("role", "x", "node.role_default['t'] = {'no': 1}")
    said.run("recipe", "x", "node.override['t'] = lazy(lambda: {'k': 5, 'l': [6, 7]})  #: lazy")
    trace = said.node.trace(path)

    assert (trace.value, trace.winner.claim.origin.place) == (value, said.at["lazy"])
    assert (trace.cover, f"set at {at}" in str(trace)) == ((None, True) if at else (("t",), False))
    assert [one.claims[0].origin.place for one in said.node.trace("t.l").elements] == [said.at["lazy"]] * 2


def test_an_element_that_nobody_has_set_is_nobodys():
    """
    Beyond the list, and where a name stands for a place.
    """
    told = [SourcePath(3, ("l", 0)), SourcePath(4, ("l", 1))]

    assert [4, 0, 0, 0] == [setters_at([], told, (step,), ("l",))[0].source for step in (1, 2, -1, "x")]


class TestAskingAnything:
    def test_an_absent_path_says_that_nothing_is_there(self, said):
        """And nobody has spoken."""
        said.run("recipe", "x", "node.default['a']['b'] = 1")
        for path in ("nope", "a.nope", "nope.deeper.still"):
            trace = said.node.trace(path)

            assert not trace.found
            assert trace.winner is None
            assert "is not set" in said.node.explain(path)

    def test_a_path_below_a_scalar_or_list_says_what_covers_it(self, said):
        """It is the answer to "why is there nothing?"."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['b'] = 1    #: below
            node.override['a'] = 'scalar' #: cover
        """,
        )
        trace = said.node.trace("a.b")

        assert not trace.found
        assert trace.cover == ("a",)
        assert said.at["cover"] in said.node.explain("a.b")
        assert said.at["below"] in said.node.explain("a.b")

    def test_an_inner_map_names_everyone_who_is_part_of_it(self, said):
        """All of them join."""
        said.run("recipe", "x", "node.default['a']['d'] = 1\nnode.normal['a']['n'] = 1\nnode.override['a']['o'] = 1")
        trace = said.node.trace("a")

        assert [(one.claim.rank, one.outcome.value) for one in trace.claims] == [
            (10, "joins"),
            (8, "joins"),
            (2, "joins"),
        ]
        assert trace.value == {"d": 1, "n": 1, "o": 1}

    def test_the_root_can_be_asked(self, said):
        """It is the map of everything."""
        said.run("recipe", "x", "node.default['a'] = 1")

        assert said.node.trace("").value == said.node.trace(()).value == {"a": 1}
        assert said.node.explain("(root)").startswith("(root) = ")

    def test_paths_are_steps_or_their_spelling(self, said):
        """`1` and `"1"` stay apart."""
        said.run("recipe", "x", "node.default[1] = 'number'  #: n\nnode.default['1'] = 'text'  #: t")

        assert (said.winner("1"), said.winner((1,))) == (said.at["n"], said.at["n"])
        assert (said.winner('"1"'), said.winner(("1",))) == (said.at["t"], said.at["t"])

    def test_asking_changes_nothing(self, said):
        """Neither the tree nor what is said about it."""
        said.run("recipe", "x", "node.default['a']['l'] = [1]\nnode.override['a']['l'] = [2]")
        before = said.node.snapshot()
        for path in ("a", "a.l", "a.l.0", "a.l.7", "nope", ""):
            said.node.trace(path)
            said.node.explain(path)

        assert said.node.snapshot() == before
        assert contradictions_in(said.node) == []

    def test_one_leaf_fits_one_screen(self, said):
        """All fifteen slots spoke, each often, with long values."""
        for source, component in (("attribute file", "default"), ("recipe", "default"), ("role", "role_default"),
                                  ("recipe", "normal"), ("recipe", "override"), ("facts", "automatic")):  # fmt: skip
            said.run(source, "x", f"for n in range(20): node.{component}['a']['b'] = f'{{n}}' * 500")
        lines = said.node.explain("a.b").splitlines()

        assert max(map(len, lines)) < 250
        assert len(lines) < 60

    def test_the_data_is_json_and_says_what_the_text_says(self, said):
        """For programs that read it."""
        said.run(
            "recipe",
            "x",
            """
            node.default['a'] = 1  #: d
            node.normal['a'] = 2   #: n
            node.normal['a'] = 3   #: n2
        """,
        )
        data = json.loads(json.dumps(said.node.trace("a").to_dict()))

        assert (data["path"], data["steps"], data["found"], data["value"]) == ("a", ["a"], True, 3)
        assert [(one["value"], one["rank"], one["slot"], one["outcome"]) for one in data["claims"]] == [
            (3, 8, "normal / recipe", "wins"),
            (1, 2, "default / recipe", "loses"),
        ]
        assert [f"{one['file']}:{one['line']}" for one in data["claims"]] == [said.at["n2"], said.at["d"]]
        assert data["history"][0]["event"] == "overwritten"
        assert f"{data['history'][0]['by']['file']}:{data['history'][0]['by']['line']}" == said.at["n2"]


class TestDebugValue:
    def test_debug_value_lists_ten_components_weakest_first(self, said):
        """With "not_present" where one says nothing; null is a value."""
        said.run("recipe", "x", "node.default['a']['b'] = 1\nnode.force_override['a']['b'] = None")

        assert said.node.debug_value("a", "b") == [
            ("default", 1),
            ("env_default", "not_present"),
            ("role_default", "not_present"),
            ("force_default", "not_present"),
            ("normal", "not_present"),
            ("override", "not_present"),
            ("role_override", "not_present"),
            ("env_override", "not_present"),
            ("force_override", None),
            ("automatic", "not_present"),
        ]

    def test_a_component_is_attribute_file_and_recipe_together(self, said):
        """As Chef, which keeps both in one tree."""
        said.run("attribute file", "x", "node.default['a'] = {'f': 1}")
        said.run("recipe", "x", "node.default['a']['r'] = 2")

        assert said.node.debug_value("a")[0] == ("default", {"f": 1, "r": 2})


class TestMemory:
    @pytest.mark.parametrize(
        ("line", "event"), [("node.default['a'] = n", "overwritten"), ("node.default_unless['a'] = n", "silent")]
    )
    def test_a_loop_does_not_fill_it(self, said, line, event):
        """The first and the last few are kept, and the trace says how many were dropped."""
        said.run("recipe", "x", f"node.default['a'] = 'first'\nfor n in range(10_000): {line}")
        past = said.node.trace("a").history
        forgotten = [one for one in past if one.event == "forgotten"]

        assert len(past) == HISTORY_BOUND + 1
        assert sum(one.times for one in past) == 10_000
        assert [one.times for one in forgotten] == [10_000 - HISTORY_BOUND]
        assert past[0].event == past[-1].event == event
        assert (past[-1].claim.value, past[0].claim.value) in {("first", 9998), (0, 9999)}
        assert f"{10_000 - HISTORY_BOUND} more like it" in said.node.explain("a")
        assert contradictions_in(said.node) == []

    def test_nor_does_in_place_work_on_a_list(self, said):
        """Each change is one event of the one path."""
        said.run(
            "recipe",
            "x",
            """
            node.default['l'] = []
            for n in range(1000):
                node.default['l'].push(n)
                node.default['l'].shift()
        """,
        )

        (chronicle,) = ledger_of(said.node).history["l",].values()

        assert len(chronicle.events) == HISTORY_BOUND
        assert [past.times for past in said.node.trace("l").history] == [2000 - HISTORY_BOUND]

    def test_nor_does_a_block_that_is_entered_often(self, said):
        """The same line of the same locator is one mark, however often he takes the floor."""
        said.run(
            "recipe",
            "x",
            """
            for n in range(1000):
                with setting_as(node, 'recipe', 'y'):
                    node.default['a'] = n
        """,
        )

        assert len(said.node.snapshot()["marks"]) < 10

    def test_an_inner_map_does_not_list_thousands(self, said):
        """The past below it is cut; the leaf itself tells all of its own."""
        said.run(
            "recipe",
            "x",
            """
            for n in range(1000):
                node.default['a'][f'k{n}'] = n
                node.default['a'].delete(f'k{n}')
        """,
        )

        assert len(said.node.trace("a").history) < 50
        assert said.past("a.k7")[0][:2] == ("erased", 7)

    @given(st.lists(st.lists(st.sampled_from([0, 1, "a", True, [1]]), max_size=5), min_size=2, max_size=9))
    def test_of_lists_that_roles_unite_it_is_known_what_each_was(self, lists):
        """As after so many roles and no more: values and who set them, of elements that several set, too."""

        def after(count):
            node = Node("web1")
            layers = [({"a": {"l": one}}, Origin("role", f"r{at}")) for at, one in enumerate(lists[:count])]
            Intake(node).set_roles(layers, [])
            return ledger_of(node)

        chronicle = after(len(lists)).history["a", "l"][4, False]
        counts = [1, *range(len(lists) + 1 - len(chronicle.events), len(lists))]
        stood = [(*set_by_at(after(count).trees[4], ("a", "l")), count + 2) for count in counts]
        assert repr(stood) == repr([(one.set_by, one.value, one.by) for one in chronicle.events])


class TestProvenanceOff:
    @pytest.fixture
    def off(self, tmp_path):
        said = Said(tmp_path, provenance=False)
        said.run("attribute file", "x", "node.default['a'] = {'f': 1, 'l': [1]}")
        said.run(
            "recipe",
            "x",
            """
            node.default['a']['r'] = 2
            node.default['a']['r'] = 3
            node.default_unless['a']['r'] = 4
            node.default['a']['l'].push(2)
            node.role_default['a']['l'] = [2, 3]
            node.override['a']['f'] = 5
            node.normal['gone'] = 1
            node.rm('gone')
        """,
        )
        return said.node

    def test_values_are_the_same(self, off):
        """Only the why is missing."""
        assert off.to_dict() == {"a": {"f": 5, "l": [1, 2, 3], "r": 3}}
        assert contradictions_in(off) == []

    def test_the_trace_still_knows_the_slots_and_invents_nothing(self, off):
        """Who won is in the trees; who said it is not."""
        trace = off.trace("a.f")

        assert [(one.claim.rank, one.claim.value) for one in trace.claims] == [(10, 5), (1, 1)]
        assert {one.claim.origin.place for one in trace.claims} == {None}
        assert trace.history == ()
        assert "unknown" in off.explain("a.f")
        assert [one.ranks for one in off.trace("a.l").elements] == [(2,), (2, 4), (4,)]

    def test_a_snapshot_of_it_is_restored(self, off):
        """With what there is."""
        again = Node.restore(json.loads(json.dumps(off.snapshot())))

        assert again.to_dict() == off.to_dict()
        assert again.trace("a.f").to_dict() == off.trace("a.f").to_dict()


def numbered(value: Any, numbers: Any) -> Any:
    """The same shape with a scalar of its own at every leaf: a value that says which one it is."""
    if isinstance(value, dict):
        return {key: numbered(inner, numbers) for key, inner in value.items()}
    if isinstance(value, list):
        return [numbered(inner, numbers) for inner in value]
    return f"v{next(numbers)}"


def written(value: Any, indent: str) -> str:
    """A literal with each entry on a line of its own."""
    if isinstance(value, dict) and value:
        return (
            "{\n" + "".join(f"{indent} {k!r}: {written(v, indent + ' ')},\n" for k, v in value.items()) + indent + "}"
        )
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"{indent} {written(v, indent + ' ')},\n" for v in value) + indent + "]"
    return repr(value)


def suppressed(call: Callable[[], Any]) -> None:
    """Call it; what it raises does not matter."""
    with contextlib.suppress(NodeattrsError, TypeError, AttributeError, IndexError):
        call()


STORES = ("set", "set_unless", "assign", "write", "hash", "array", "replace_slot", "delete", "rm", "unlink")


def cookbook(program: list[dict[str, Any]], calls: bool = False) -> list[tuple[str, str]]:
    """A random program as cookbook texts: pairs of locator and statement, every leaf with a value of its own.

    calls: each is one call, on one line
    """
    literal = repr if calls else functools.partial(written, indent="")
    numbers = iter(range(100_000))
    statements = []
    for step in program:
        path, value = step.get("path", ()), literal(numbered(step.get("value"), numbers))
        steps, parent = "".join(f"[{key!r}]" for key in path), "".join(f"[{key!r}]" for key in path[:-1])
        spelled = "".join(f"{key!r}, " for key in path)
        match step["op"]:
            case "set" if calls:
                line = f"node.{step['slot']}{parent}.__setitem__({path[-1]!r}, {value})"
            case "replace_slot" if calls:
                line = f"setattr(node, {step['slot']!r}, {value})"
            case "set":
                line = f"node.{step['slot']}{steps} = {value}"
            case "set_unless":
                line = f"node.{step['level']}_unless({spelled}{value})"
            case "assign":
                line = f"node.{step['level']}_full({spelled}{value})"
            case "write":
                line = f"node.write({step['level']!r}, {spelled}{value})"
            case "replace_slot":
                line = f"node.{step['slot']} = {value}"
            case "delete":
                line = f"node.{step['slot']}{parent}.delete({path[-1]!r})"
            case "unlink":
                line = f"node.unlink({step['level']!r}, {spelled})"
            case "rm":
                line = f"node.rm({spelled})"
            case "hash" | "array":
                arguments = step["args"]
                if step["method"] not in ("delete", "delete_at"):
                    at = 1 if step["method"] == "insert" else 0
                    arguments = arguments[:at] + [numbered(one, numbers) for one in arguments[at:]]
                line = f"node.{step['slot']}{steps}.{step['method']}({', '.join(map(literal, arguments))})"
            case other:
                raise ValueError(other)
        statements.append((step["speaker"], line))
    return statements


def performed(node: Node, statements: list[tuple[str, str]], root: Path) -> list[str]:
    """Run the statements as lines of one file, those that raise left out; the lines of the file."""
    text = "".join(line + "\n" for _, line in statements)
    path = root / f"{len(list(root.iterdir()))}.py"  # a new name each time: Python remembers the lines of a file
    path.write_text(text, "utf-8")
    first = 0
    for locator, line in statements:
        refused = contextlib.suppress(NodeattrsError, TypeError, AttributeError, IndexError)  # as Chef would
        with setting_as(node, locator, "x"), refused:
            exec(compile("\n" * first + line, str(path), "exec"), {"node": node})
        first += line.count("\n") + 1
    return text.splitlines()


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("cookbooks")


# No null: an `unless` over null and `sort` of nulls say nothing about lines.
PROGRAMS = programs(max_size=10, keys=("a", "b", 0), scalars=(1, "x"), verbs=STORES, interleaved=True)


class TestOriginsAreTrue:
    @settings(max_examples=examples(150))
    @given(program=PROGRAMS)
    def test_the_line_that_is_named_is_the_line_that_says_the_value(self, desk, program):
        """
        Every value in a random program is said once, on a line of its own. For each leaf that is read,
        for each claim that lost and for each that is past, the named line is the one that says it.
        """
        node = Node("web1", root=desk)
        lines = performed(node, cookbook(program), desk)

        for path, value in leaves(node.to_dict()):
            if not isinstance(value, str):
                continue
            trace = node.trace(path)
            assert trace.value == value
            for claim in [one.claim for one in trace.claims] + [past.claim for past in trace.history]:
                if isinstance(claim.value, str):
                    said_on = lines[claim.origin.line - 1]
                    assert claim.value in said_on.replace("'", " ").split(), (path, claim.value, said_on)

    @settings(max_examples=examples(100))
    @given(program=PROGRAMS)
    def test_on_one_line_the_column_is_that_of_the_value(self, desk, program):
        """
        The same programs, all calls in one expression on one line: at the column stand the key and the value, or
        the value, or the call where it takes several.
        """
        node = Node("web1", root=desk)
        line = " or ".join(f"said(lambda: {call})" for _, call in cookbook(program, calls=True)) or "0"
        path = desk / f"{len(list(desk.iterdir()))}.py"
        path.write_text(line, "utf-8")
        with setting_as(node, "recipe", "x"):
            exec(compile(line, str(path), "exec"), {"node": node, "said": suppressed})

        for path, _ in leaves(node.to_dict()):
            for claim in [stated.claim for stated in node.trace(path).claims]:
                if isinstance(claim.value, str):
                    after = line[claim.origin.column - 1 :]
                    assert re.match(rf"(['\w]+: )?'{claim.value}'|node\.[^:]*'{claim.value}'", after), (claim, after)

    @settings(max_examples=examples(80))
    @given(program=PROGRAMS)
    def test_everything_that_is_read_has_an_origin(self, desk, program):
        """No leaf, no map and no element without somebody who said it, in the file that ran."""
        node = Node("web1", root=desk)
        performed(node, cookbook(program), desk)

        for path, _ in leaves(node.to_dict()):
            for depth in range(1, len(path) + 1):
                winner = node.trace(path[:depth]).winner
                assert winner is not None, path[:depth]
                assert winner.claim.origin.file.endswith(".py"), path[:depth]
                assert winner.claim.origin.line is not None
        assert contradictions_in(node) == []
