"""Answers that subjects share: what is noted, who shares, and that sharing changes nothing of what is said."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nodeattrs.causes.plain_texts import with_waiting_messages
from nodeattrs.causes.unnoted import unnoted
from nodeattrs.cli import main
from nodeattrs.contract.request import Request
from nodeattrs.contract.sharing import LookTree, drawn
from nodeattrs.contract.sides import folder_side
from nodeattrs.core.looks import Looks
from nodeattrs.dialects import named
from nodeattrs.dialects.ansible.opened import AnsibleHosts
from nodeattrs.dialects.chef.opened import Nodes
from nodeattrs.node.maps import WatchedMap
from nodeattrs.verbs.impact import Impact, ImpactOptions, impact
from nodeattrs.verbs.lines import FolderLines
from tests.effort import examples
from tests.oracles import sharing as oracle
from tests.oracles.impact import written

FACTS = '{"platform": "debian", "cpu": {"total": 2}, "net": {"mac": "%s"}, "tags_of": ["a"], "site": "%s"}'


def files(recipe: str, count: int = 3, attributes: str = "") -> dict[str, str]:
    made = {
        "roles/web.json": '{"name": "web",\n "run_list": ["recipe[app]"],\n "default_attributes": {\n  "port": 80}}\n',
        "cookbooks/app/metadata.json": '{"name": "app", "version": "1.0.0"}',
        "cookbooks/app/attributes/default.py": attributes,
        "cookbooks/app/recipes/default.py": recipe,
    }
    for number in range(count):
        name = f"node-{number:02d}"
        made[f"nodes/{name}.json"] = f'{{"name": "{name}", "run_list": ["role[web]"]}}'
        made[f"facts/{name}.json"] = FACTS % (number, "main")
    return made


def looked_at(tmp_path: Path, made: dict[str, str], name: str = "node-00") -> tuple[Looks, list[bool]]:
    """The looks of one node, and of each whether the next node has the same there."""
    opened = named("nodes").open(folder_side(written(made, tmp_path / "r")), Request())
    opened.looks = looks = Looks()
    opened.answer(name)
    other = f"node-{int(name[-2:]) + 1:02d}"
    one, two = opened.values_of(name), opened.values_of(other)
    return looks, [one(look) == two(look) for look in looks.made]


def compared(tmp_path: Path, made: dict[str, str], old: str = '"port": 80', new: str = '"port": 81') -> Impact:
    after = {name: text.replace(old, new) for name, text in made.items()}
    sides = [folder_side(written(one, tmp_path / name)) for one, name in ((made, "old"), (after, "new"))]
    (private := tmp_path / "private").mkdir()
    return impact(*sides, Request(), ImpactOptions(private, ["nodes"], jobs=1))


@pytest.mark.parametrize(
    "reads",
    [
        *("node['net']['mac']", "node['net', 'mac']", "node.read('net', 'mac')", "node.dig('net', 'mac')"),
        *("node.read_strict('net', 'mac')", "node['net'].get('mac')", "node['net'].to_dict()", "dict(node['net'])"),
        *("str(node['net'])", "[*node['net'].values()]", "node['net'] == {}", "node.to_dict()['net']['mac']"),
        *("node.merged('net', 'mac')", "node.automatic['net']['mac']", "node.debug_value('net', 'mac')[0][0]"),
        *(
            "str(node.trace('net.mac').value)",
            "node.explain('net.mac')",
            "node.to_chef_json()",
            "node.to_hash()['net']",
        ),
        *("node.name", "node['name']", "repr(node)", "node.snapshot()['name']", "str({**node['net']})"),
    ],
)
def test_every_way_to_read_a_fact_or_the_name_is_noted(tmp_path: Path, reads: str) -> None:
    """
    The next node differs in its name and in net.mac alone.
    """
    looks, same = looked_at(tmp_path, files(f"node.default['x'] = {reads}\n"))

    assert not all(same) or looks.unshared


@pytest.mark.parametrize(
    "reads",
    [
        *("node['platform']", "node['cpu']['total']", "[*node['cpu']]", "len(node['net'])", "'mac' in node['net']"),
        *("[*node['net']]", "node.exist('net', 'mac')", "has_role('web')", "node['tags_of'][0]", "node['port']", "1"),
    ],
)
def test_nodes_that_read_equal_values_share_an_answer(tmp_path: Path, reads: str) -> None:
    looks, same = looked_at(tmp_path, files(f"node.default['x'] = {reads}\n"))

    assert (all(same), looks.unshared) == (True, "")


def with_bindings(
    recipe: str, *, site: str = "", bound: str = "", settings: str = "", more: dict[str, str] | None = None
) -> dict[str, str]:
    """A repository of nodes that differ in their names and in net.mac, with a site of bindings.

    site: what stands in `categories`; bound: what the set of the site says beside `x` and `y`
    """
    return {
        **files(recipe),
        "nodeattrs.toml": f'[bindings]\nsite = "b"\n{settings}',
        "b/manifests/site.pp": f"site {{\n  categories {{\n{site}\n    environment => true,\n  }}\n"
        "  bindings => [\n    layer { 'site': include => 'confdir:/default' },\n"
        "    layer { 'low': include => 'confdir:/low' },\n  ]\n}\n",
        "b/bindings/default.pp": f"bindings default {{\n{bound}\n}}\n",
        "b/bindings/low.pp": "bindings low { bind 'x' to 1\n  bind 'y' to \"$net\"\n }\n",
        **(more or {}),
    }


_PORT = "node.default['port'] = inject('x')\n"


@pytest.mark.parametrize(
    ("site", "bound"),
    [
        ("", ""),
        ("", "when node 'node-07' { bind override 'x' to 2 }"),
        ("node => $fqdn,", "when node 'node-07' { bind override 'x' to 2 }"),
        ("node => $hostname,", "when node 'other' { bind override 'x' to 2 }"),
        ("site => $site,", "when site main { bind override 'x' to 2 }"),
        ("site => $site,", "when site spare { bind override 'x' to 2 }"),
        ("rack => $rack,", "when rack r7 { bind override 'x' to 2 }"),
        ('kind => "$site-$platform",', "when kind 'main-debian' { bind override 'x' to 2 }"),
        ("role => $role,", "when role web { bind override 'x' to 2 }"),
        ("", "bind override 'x' to \"$site\""),
    ],
)
def test_bindings_that_read_what_is_the_same_are_shared(tmp_path: Path, site: str, bound: str) -> None:
    looks, same = looked_at(tmp_path, with_bindings(_PORT, site=site, bound=bound))

    assert (all(same), looks.unshared) == (True, "")


@pytest.mark.parametrize(
    ("recipe", "site", "bound"),
    [
        (_PORT, "", "when node 'node-00' { bind override 'x' to 2 }"),
        (_PORT, "", "when node 'NODE-01' { bind override 'x' to 2 }"),
        (_PORT, "node => $fqdn,", "when node 'node-00' { bind override 'x' to 2 }"),
        (_PORT, "net => $net['mac'],", ""),
        (_PORT, 'kind => "$fqdn",', ""),
        (_PORT, "", "bind override 'x' to \"$fqdn\""),
        (_PORT, "", "bind override 'x' to \"$net\""),
        ("inject('y')\n", "", ""),
        ("node.default['z'] = lazy(lambda: inject('y'))\nnode['z']\n", "", ""),
    ],
)
def test_bindings_that_read_what_differs_are_not_shared(tmp_path: Path, recipe: str, site: str, bound: str) -> None:
    """
    The next node differs in its name and in net.mac alone.
    """
    looks, same = looked_at(tmp_path, with_bindings(recipe, site=site, bound=bound))

    assert looks.unshared or not all(same)


@pytest.mark.parametrize(
    ("settings", "program", "why"),
    [
        ('classes = ["b/own.py:Own"]\n', "class Own:\n    pass\n", ""),
        ('classes = ["b/own.py:Own"]\n', "import time\nclass Own:\n    pass\n", "own.py uses time"),
        (
            'classes = ["b/own.py:Own"]\n',
            "from nodeattrs.bindings import named, Composition\nclass Own:\n    pass\n",
            "own.py uses nodeattrs.bindings",
        ),
        (
            '[bindings.providers]\nown = "b/own.py:own"\n',
            "def own(references, request):\n    return []\n",
            "a provider of bindings may look at anything",
        ),
    ],
)
def test_code_of_a_site_of_bindings_is_shared_only_where_it_is_known_to_read_the_node(
    tmp_path: Path, settings: str, program: str, why: str
) -> None:
    has_class = "classes" in settings
    made = with_bindings(
        "inject('own', 'Type[Own]')\n" if has_class else "inject('x')\n",
        bound="bind Type[Own], 'own' to Type[Own]" if has_class else "",
        settings=settings,
        more={"b/own.py": program},
    )
    if not has_class:
        made["b/manifests/site.pp"] = made["b/manifests/site.pp"].replace("confdir:/default", "own:/any")
    looks, _ = looked_at(tmp_path, made)

    assert looks.unshared == why


def test_a_deferred_value_of_bindings_that_changes_is_of_each_node(tmp_path: Path) -> None:
    made = with_bindings("node.default['z'] = lazy(lambda: f\"{inject('y')} {node['port']}\")\n")
    found = compared(tmp_path, made)

    values = [one.after.data for one in found.groups if one.spelled == "z"]
    assert sorted(values) == [f"{{'mac': '{number}'}} 81" for number in range(3)]


def test_what_bindings_look_up_in_hiera_is_a_look(tmp_path: Path) -> None:
    hiera = {
        "hiera.yaml": "version: 5\nhierarchy:\n- {name: n, path: 'nodes/%{trusted.certname}.yaml'}\n"
        "- {name: c, path: c.yaml}\n",
        "data/c.yaml": "x: 5\n",
    }
    made = with_bindings(_PORT, more=hiera)
    made["b/manifests/site.pp"] = made["b/manifests/site.pp"].replace("confdir:/default", "hiera:/*")
    _, same = looked_at(tmp_path / "one", made)
    _, same_with_own_file = looked_at(tmp_path / "two", {**made, "data/nodes/node-00.yaml": "x: 6\n"})

    assert (all(same), all(same_with_own_file)) == (True, False)


def test_keys_of_bindings_are_shared_by_nodes_that_no_condition_names(tmp_path: Path) -> None:
    made = with_bindings("", bound="when node 'node-01' { bind override 'x' to 2 }")
    made["b/bindings/low.pp"] = "bindings low { bind 'x' to 1 }\n"
    after = {name: text.replace("bind 'x' to 1", "bind 'x' to 3") for name, text in made.items()}
    sides = [folder_side(written(one, tmp_path / name)) for one, name in ((made, "old"), (after, "new"))]
    (private := tmp_path / "private").mkdir()
    found = impact(*sides, Request(), ImpactOptions(private, ["bindings"], jobs=1))

    assert [(one.spelled, one.subjects) for one in found.groups] == [("x", ("node-00", "node-02"))]
    assert [one.shared for one in found.dialects] == [1]


@pytest.mark.parametrize(
    "read",
    [
        len, list, dict, str, repr, reversed, dict.copy, dict.keys, dict.values, dict.items,
        lambda facts: facts == {},
        lambda facts: facts != {},
        lambda facts: {} | facts,
        lambda facts: facts | {},
        lambda facts: {**facts},
        lambda facts: facts["a"],
        lambda facts: facts.get("a"),
        lambda facts: "a" in facts,
    ],
)  # fmt: skip
def test_each_read_of_the_map_of_facts_is_noted(read: Any) -> None:
    looks = Looks()
    name = getattr(read, "__name__", "")
    facts = WatchedMap({"a": 1}, looks=looks)
    (getattr(facts, name) if name in ("copy", "keys", "values", "items") else lambda: read(facts))()
    assert looks.made


def test_a_message_and_a_deferred_text_are_no_looks_at_what_they_name(tmp_path: Path) -> None:
    attributes = "default['motd'] = lazy(lambda: f\"{node['net']['mac']}\")\n"
    found = compared(tmp_path, files("log(f\"{node['net']['mac']}\")\n", 3, attributes))

    assert [one.shared for one in found.dialects] == [2]


@pytest.mark.parametrize("program", ["def log(text):\n    node.default['x'] = text.upper()\n", "log = str.upper\n"])
def test_a_program_with_a_log_of_its_own_gets_the_text(tmp_path: Path, program: str) -> None:
    found = compared(tmp_path, files(f"{program}log(f\"{{node['net']['mac']}}\")\n"))

    assert [one.unanswered for one in found.dialects] == [{}]


@pytest.mark.parametrize(
    "binding",
    ["def len(x): ...", "from a import b as len", "import len.x", "def f(len): ...", "len = 1", "class log: ..."],
)
def test_messages_of_a_program_that_binds_their_words_do_not_wait(binding: str) -> None:
    message = "log(f\"{len(node['a'])}\")\n"

    assert with_waiting_messages(message) is not None
    assert with_waiting_messages(f"{binding}\n{message}") is None


def test_a_deferred_text_that_changes_is_one(tmp_path: Path) -> None:
    attributes = "default['motd'] = lazy(lambda: f\"{node['net']['mac']} {node['port']}\")\n"
    found = compared(tmp_path, files("", 3, attributes))

    values = [one.after.data for one in found.groups if one.spelled == "motd"]
    assert sorted(values) == ["0 81", "1 81", "2 81"]


def test_a_file_of_its_own_that_changes_is_shared_by_nobody(tmp_path: Path) -> None:
    made = files("node.default['x'] = node['site']\n", 4)
    made["facts/node-02.json"] = FACTS % (2, "other")
    found = compared(tmp_path, made, '"other"', '"next"')

    assert [(one.spelled, one.subjects) for one in found.groups] == [("site", ("node-02",)), ("x", ("node-02",))]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import time\n", "time"),
        ("from datetime import datetime\n", "datetime"),
        ("x = open('/etc/hosts')\n", "open"),
        ("node._ledger\n", "_ledger"),
        ("from .other import x\n", "other"),
        ("def f():\n    global x\n", "global"),
        ("import json, re\nfrom nodeattrs.recipe import node\nx = sorted([1])\n", ""),
        ("this is no program", ""),
    ],
)
def test_programs_that_may_use_what_is_not_noted_are_named(tmp_path: Path, program: str, why: str) -> None:
    (tmp_path / "x.py").write_text(program)

    assert unnoted(tmp_path) == (f"x.py uses {why}" if why else "")


def test_a_program_with_random_numbers_is_computed_for_each(tmp_path: Path) -> None:
    found = compared(tmp_path, files("import random\nnode.default['x'] = random.random() < 2\n"))

    assert [one.shared for one in found.dialects] == [0]


def test_members_of_a_large_group_are_computed_as_well_and_a_difference_is_said(tmp_path, monkeypatch) -> None:
    """
    A program that nothing finds: then each member of its group is computed.
    """
    monkeypatch.setattr("nodeattrs.dialects.chef.opened.unnoted", lambda folder: "")
    made = files("import random\nnode.default['x'] = random.random()\n", 30)

    (asked,) = compared(tmp_path, made).dialects

    assert (asked.checked, asked.one_by_one, asked.shared) == (2, 29, 0)


def test_samples_are_the_same_for_the_same_seed() -> None:
    groups = {"a": [f"n{number}" for number in range(300)], "b": ["x"] * 5}

    assert [*drawn(groups, 1)] == [*drawn(groups, 1)]
    assert len([*drawn(groups, 1)]) == 3


class TestTheTree:
    """Looks are the names of facts, and facts are maps."""

    def found(self, shared: LookTree, facts: dict[str, int]) -> str | None:
        return shared.find(lambda look: facts.get(look[0], 0))

    def test_equal_values_lead_to_the_answer_and_others_to_none(self) -> None:
        shared: LookTree = LookTree()
        for answer, looks, facts in (
            ("one", "ab", {"a": 1}),
            ("two", "ac", {"a": 2, "c": 1}),
            ("three", "ac", {"a": 2}),
        ):
            assert shared.add([(one,) for one in looks], lambda look, its=facts: its.get(look[0], 0), answer)

        assert [self.found(shared, {"a": 1, "c": 9}), self.found(shared, {"a": 2, "b": 9})] == ["one", "three"]
        assert [self.found(shared, {"a": 3}), self.found(shared, {"a": 1, "b": 1})] == [None, None]

    def test_another_look_after_equal_values_is_not_kept(self) -> None:
        shared: LookTree = LookTree()
        shared.add([("a",)], lambda look: 0, "one")

        assert not shared.add([("b",)], lambda look: 0, "two")
        assert not shared.add([("a",), ("b",)], lambda look: 0, "three")


HIERA = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: site, path: '%{facts.site}.yaml'}\n- {name: all, path: all.yaml}\n",
    "data/main.yaml": "port: 80\n",
    "data/all.yaml": "motd: at %{environment}\nrack: of %{rack}\n",
}


def of_hiera(tmp_path: Path, made: dict[str, str], request: Request, new: str = "port: 81") -> list[Impact]:
    """What a change of data/main.yaml changes: with sharing, and without."""
    after = {name: text.replace("port: 80", new) for name, text in made.items()}
    sides = [folder_side(written(one, tmp_path / name)) for one, name in ((made, "old"), (after, "new"))]
    found = []
    for sharing in (True, False):
        (private := tmp_path / f"private{sharing}").mkdir()
        found.append(impact(*sides, request, ImpactOptions(private, ["hiera"], sharing=sharing, jobs=1)))
    assert oracle.said(found[0]) == oracle.said(found[1])
    return found


def test_nodes_whose_facts_stand_in_one_file_share(tmp_path: Path) -> None:
    rows = [
        {"certname": f"n{number}", "environment": environment, "facts": {"site": site, "uptime": number}}
        for number, (environment, site) in enumerate([("a", "main"), ("a", "main"), ("b", "main"), ("a", "spare")])
    ]
    made = {**HIERA, "inventory.json": json.dumps(rows)}

    found = of_hiera(tmp_path, made, Request(facts="inventory.json"))[0]

    assert [(one.spelled, one.subjects) for one in found.groups] == [("port", ("n0", "n1", "n2"))]
    assert [one.shared for one in found.dialects] == [1]


def test_a_node_whose_row_in_the_file_of_all_facts_changes_shares_nothing(tmp_path: Path) -> None:
    rows = [{"certname": f"n{number}", "facts": {"site": "main", "port: 80": number}} for number in range(3)]
    made = {**HIERA, "inventory.json": json.dumps(rows).replace('"port: 80": 1', '"site": "spare", "port: 80": 1')}

    found = of_hiera(tmp_path, made, Request(facts="inventory.json"))[0]

    assert [one.shared for one in found.dialects] == [0]


def test_what_a_classifier_says_is_a_look(tmp_path: Path) -> None:
    enc = {f"n{number}": {"parameters": {"rack": "r1" if number < 2 else "r2"}} for number in range(4)}
    facts = {f"facts/{name}.json": '{"site": "main"}' for name in enc}

    found = of_hiera(tmp_path, {**HIERA, **facts, "enc.json": json.dumps(enc)}, Request(enc="enc.json"))[0]

    assert [one.shared for one in found.dialects] == [2]


def test_a_classifier_may_give_nodes_other_run_lists(tmp_path: Path) -> None:
    made = files("node.default['x'] = node['port']\n", 4)
    made["enc.json"] = json.dumps({name: {"run_list": []} for name in ("node-01", "node-03")})
    after = {name: text.replace('"port": 80', '"port": 81') for name, text in made.items()}
    sides = [folder_side(written(one, tmp_path / name)) for one, name in ((made, "old"), (after, "new"))]
    (private := tmp_path / "private").mkdir()

    found = impact(*sides, Request(enc="enc.json"), ImpactOptions(private, ["nodes"], jobs=1))

    assert {one.spelled: one.subjects for one in found.groups} == dict.fromkeys(("port", "x"), ("node-00", "node-02"))
    assert [one.shared for one in found.dialects] == [2]


def test_a_file_of_facts_that_is_a_link_to_one_that_changes_is_shared_by_nobody(tmp_path: Path) -> None:
    made = {**files("node.default['x'] = node['site']\n", 3), "machines/a.json": FACTS % (0, "main")}
    del made["facts/node-00.json"]
    after = {**made, "machines/a.json": FACTS % (0, "other")}
    for one, name in ((made, "old"), (after, "new")):
        written(one, tmp_path / name)
        (tmp_path / name / "facts/node-00.json").symlink_to("../machines/a.json")
    sides = [folder_side(tmp_path / name) for name in ("old", "new")]
    (private := tmp_path / "private").mkdir()

    found = impact(*sides, Request(), ImpactOptions(private, ["nodes"], jobs=1))

    assert {one.spelled: one.subjects for one in found.groups} == dict.fromkeys(("site", "x"), ("node-00",))


@pytest.fixture(scope="module")
def forty_nodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = "node.default['x'] = node['site']\nif node['site'] == 'main':\n    node.default['y'] = node['port']\n"
    made = files(recipe, 40, "default['motd'] = lazy(lambda: f\"{node['net']['mac']}\")\n")
    spare = FACTS.replace("{", '{"gpu": true, ', 1)
    made |= {f"facts/node-{number:02d}.json": spare % (number, "spare") for number in (3, 5, 30)}
    return written(made, tmp_path_factory.mktemp("forty") / "r")


@pytest.mark.parametrize(
    "path", ["x", "y", "net.mac", "net", "site", "port", "nothing", "net.nothing", "motd", "cpu.total", "name", "gpu"]
)
def test_a_matrix_of_nodes_that_share_is_the_one_of_nodes_that_do_not(
    path: str, forty_nodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["matrix", path, "--repo", str(forty_nodes), "--format", "json", "--jobs", "1"]

    found = main(words), capsys.readouterr()

    assert "question" in found[1].out
    assert found == (main([*words, "--no-sharing"]), capsys.readouterr())


@pytest.mark.parametrize("words", [["--key", "x"], ["--key", "port"], ["cookbooks/app/recipes/default.py"]])
def test_lines_of_nodes_that_share_are_those_of_nodes_that_do_not(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = files("node.default['x'] = node['site']\nif node['site'] == 'main':\n    node.default['port'] = 1\n", 30)
    made |= {f"facts/node-{number:02d}.json": FACTS % (number, "spare") for number in (3, 5)}
    folder = written(made, tmp_path / "r")
    asked = ["where", *words, "--repo", str(folder), "--run-code", "--format", "json"]

    found = main(asked), capsys.readouterr()

    assert found == (main([*asked, "--no-sharing"]), capsys.readouterr())


def test_nodes_that_look_at_the_same_are_run_once_for_the_lines_of_a_key(tmp_path: Path) -> None:
    folder = written(files("node.default['x'] = node['site']\n", 20), tmp_path / "r")
    lines = FolderLines(folder, Request(), dialects=["nodes"], side=folder_side(folder))
    with patch.object(Nodes, "answer", autospec=True, side_effect=Nodes.answer) as answer:
        lines.look()

    assert (answer.call_count, [len(one.wins) for one in lines.all() if one.path == ("x",)]) == (1, [20])


@pytest.mark.parametrize(("program", "count"), [("raise ValueError\n", 1), ("import random\nraise ValueError\n", 3)])
def test_nodes_whose_program_fails_share_the_error_unless_it_may_look_at_anything(
    program: str, count: int, tmp_path: Path
) -> None:
    folder = written(files(program, 3), tmp_path / "r")
    lines = FolderLines(folder, Request(), dialects=["nodes"], side=folder_side(folder))
    with patch.object(Nodes, "answer", autospec=True, side_effect=Nodes.answer) as answer:
        lines.look()

    assert (answer.call_count, len(lines.failed())) == (count, 3)


def test_a_matrix_of_hiera_is_the_same_with_and_without_sharing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {f"facts/n{number}.json": json.dumps({"site": "main" if number % 2 else "spare"}) for number in range(30)}
    folder = written({**HIERA, **facts}, tmp_path / "r")
    words = ["hiera", "matrix", "port", "--hiera", str(folder), "--facts", str(folder / "facts"), "--format", "json"]

    found = main(words), capsys.readouterr()

    assert "question" in found[1].out
    assert found == (main([*words, "--no-sharing"]), capsys.readouterr())


def test_a_program_that_only_the_search_for_unnoted_code_reads_is_read_by_no_node(tmp_path: Path) -> None:
    """Each node fails in its attribute file, before the recipe that changed."""
    found = compared(tmp_path, files("node.default['x'] = 1\n", attributes="raise ValueError\n"), "= 1", "= 2")

    assert ("cookbooks/app/recipes/default.py",) == found.dialects[0].unseen


@pytest.mark.parametrize("seed", range(examples(4, fewest=1)))
def test_sharing_changes_nothing_of_what_is_said(seed: int) -> None:
    """
    More of it: python -m tests.oracles.sharing
    """
    assert oracle.case(random.Random(seed), 24)[0] == []


HOSTS = {
    "ansible.cfg": "[defaults]\ninventory = hosts.ini\n",
    "hosts.ini": "alone\n[web]\nw[00:39]\n[db]\nd[00:29]\n[site:children]\nweb\n",
    "group_vars/all.yml": "port: 1\nvia: '{{ inventory_hostname }}'\n",
    "group_vars/web.yml": "port: 2\n",
    "group_vars/site.yml": "port: 3\ngroup_names: [mine]\n",
    "host_vars/w03.yml": "port: 4\n",
    "host_vars/d05/own.yml": "port: 5\n",
}


@pytest.mark.parametrize("path", ["port", "via", "group_names", "inventory_hostname", "groups", "nothing"])
def test_a_matrix_of_hosts_that_share_is_the_one_of_hosts_that_do_not(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["matrix", path, "--repo", str(written(HOSTS, tmp_path / "r")), "--format", "json", "--all-names"]

    found = main(words), capsys.readouterr()

    assert "question" in found[1].out
    assert found == (main([*words, "--no-sharing"]), capsys.readouterr())


def test_hosts_with_equal_groups_and_no_variables_of_their_own_are_computed_once(tmp_path: Path) -> None:
    made = {name: text for name, text in HOSTS.items() if "site" not in name}
    folder = written(made, tmp_path / "r")
    lines = FolderLines(folder, Request(), dialects=["ansible"], side=folder_side(folder))
    with patch.object(AnsibleHosts, "answer", autospec=True, side_effect=AnsibleHosts.answer) as answer:
        lines.look()

    computed = [call.args[1] for call in answer.call_args_list]
    samples = 2 * 2  # of each group of more than 20
    assert (computed[:5], len(computed)) == (["alone", "d00", "d05", "w00", "w03"], 5 + samples)


@pytest.mark.parametrize("seed", range(examples(4, fewest=1)))
def test_sharing_changes_nothing_of_what_is_said_of_hosts(seed: int) -> None:
    """
    More of it: python -m tests.oracles.sharing --hosts
    """
    assert oracle.case_of_hosts(random.Random(seed), 30)[0] == []
