"""Ansible's inventories and playbooks: answers, their traces, what cannot be known, and the command.

What Ansible itself answered is in tests/vectors/ansible.jsonl; here is what it has no answer for.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.ansible import AnsibleError, Inventory, Playbook, Vault, as_json, group_of, level_of, mentions, reasons
from nodeattrs.ansible import Variables as Answered
from nodeattrs.cli import main
from nodeattrs.core.fold import Layer
from nodeattrs.core.trace import Outcome
from nodeattrs.dialects.ansible.ini import expanded_ranges, hosts_of
from nodeattrs.dialects.ansible.levels import MERGE
from nodeattrs.dialects.ansible.printing import graph, printed_inventory
from nodeattrs.dialects.ansible.templates import names_in_templates
from nodeattrs.dialects.ansible.values import as_attribute
from nodeattrs.dialects.ansible.vault import sealed
from nodeattrs.errors import BadArgument, NodeattrsError
from tests.test_answer import UNKNOWN, VAULT, AnswerExam, Ask

HOSTS = "[site:children]\nweb\ndb\n[web]\nweb1\nweb2\n[db]\ndb1\n[web:vars]\nport=80\n[site:vars]\nport=70\nonly=1\n"
VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n3766\n"
Tree = Callable[..., Inventory]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Writes files and reads the inventory `hosts` among them: `tree({"group_vars/all.yml": "a: 1"})`."""

    def made(files: dict[str, str], **how: Any) -> Inventory:
        for name, text in {"hosts": HOSTS, **files}.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return Inventory("hosts", **how)

    return made


class TestAsEverySystem(AnswerExam):
    @pytest.fixture
    def ask(self) -> Ask:
        def asked(folder: Path, *trees: Any) -> Answered:
            layers = [VAULT if one is UNKNOWN else Layer(one) for one in trees]
            return Answered("web1", "the inventory", lambda: list(layers), MERGE, dict)

        return asked


class TestATrace:
    def test_a_trace_of_a_variable_has_each_place_with_its_level(self, tree: Tree):
        """The winner first; a variable of a group in the inventory counts less than any file."""
        trace = tree({"group_vars/all.yml": "# first\nport: 8080\n"}).host("web1").trace("port")

        assert [(one.outcome, one.value, str(one.origin.place), level_of(trace, one)) for one in trace.claims] == [
            (Outcome.WINS, 8080, "group_vars/all.yml:2", 4),
            (Outcome.LOSES, 80, "hosts:10", 3),
            (Outcome.LOSES, 70, "hosts:12", 3),
        ]

    def test_each_leaf_of_a_merged_map_has_its_own_line(self, tree: Tree):
        """Lists are replaced as wholes."""
        files = {
            "ansible.cfg": "[defaults]\nhash_behaviour = merge\n",
            "group_vars/all.yml": "m:\n  a: 1\n  b: [1, 2]\n",
            "host_vars/web1.yml": "m:\n  b:\n  - 3\n  c: 4\n",
        }
        host = tree(files).host("web1")

        assert host.vars["m"] == {"a": 1, "b": [3], "c": 4}
        assert [str(host.origins(f"m.{path}")[0].place) for path in ("a", "b", "b.0", "c")] == [
            "group_vars/all.yml:2",
            "host_vars/web1.yml:2",
            "host_vars/web1.yml:3",
            "host_vars/web1.yml:4",
        ]

    def test_a_folder_that_is_beside_both_is_one_source(self, tree: Tree):
        """Inventory and playbook lie in one folder: its files count once."""
        trace = tree({"group_vars/all.yml": "only: 2\n"}).host("web1").trace("only")

        assert [one.outcome for one in trace.claims] == [Outcome.WINS, Outcome.LOSES]

    @pytest.mark.parametrize(
        ("files", "sentence"),
        [
            ({"group_vars/all.yml": "port: 1\n"}, "files in group_vars count more than the variables of any group"),
            ({}, "the group web is deeper than site"),
            (
                {"hosts": "[aa]\nweb1\n[bb]\nweb1\n[aa:vars]\nport=1\n[bb:vars]\nport=2\n"},
                "the group bb comes later in the alphabet than aa, and both are equally deep",
            ),
            (
                {"hosts": "[aa]\nweb1\n[bb]\nweb1\n[aa:vars]\nport=1\nansible_group_priority=5\n[bb:vars]\nport=2\n"},
                "the group aa has the priority 5, bb has 1",
            ),
            (
                {"host_vars/web1/a.yml": "port: 1\n", "host_vars/web1/b.yml": "port: 2\n"},
                "host_vars/web1/b.yml is read after host_vars/web1/a.yml",
            ),
            ({"hosts": "[web]\nweb1 port=1\n[db]\nweb1 port=2\n"}, "line 4 is read after line 2"),
        ],
    )
    def test_a_trace_of_a_variable_names_level_group_priority_and_line(
        self, tree: Tree, files: dict[str, str], sentence: str
    ):
        """By level, group, priority, alphabet, file and line."""
        inventory = tree(files)

        assert any(sentence in one for one in reasons(inventory, inventory.host("web1").trace("port")))

    def test_a_template_stays_a_text_and_names_what_it_mentions(self, tree: Tree):
        """One step on; quoted texts and filters are no names."""
        files = {"group_vars/all.yml": "url: \"{{ proto }}:{{ port | default('x') }}\"\nproto: https\n"}
        host = tree(files).host("web1")

        found = {
            one.name: (one.value, [str(by.place) for by in one.origins]) for one in mentions(host, host.vars["url"])
        }
        assert found == {"proto": ("https", ["group_vars/all.yml:2"]), "port": (80, ["hosts:10"])}

    def test_the_group_of_an_origin_is_known(self, tree: Tree):
        """Of files and of inventories in both notations."""
        inventory = tree({"group_vars/web.yml": "a: 1\n"})
        host = inventory.host("web1")

        assert [group_of(host.origins(name)[0]) for name in ("a", "port")] == ["web", "web"]


class TestWhatCannotBeKnown:
    def test_an_encrypted_file_may_set_any_variable_of_its_level(self, tree: Tree):
        """What is stronger is certain."""
        files = {
            "group_vars/web/vault.yml": VAULTED,
            "group_vars/all.yml": "only: 2\n",
            "host_vars/web1.yml": "port: 1\n",
        }
        host = tree(files).host("web1")

        assert [one.origin.file for one in host.trace("only").unknown] == ["group_vars/web/vault.yml"]
        assert host.trace("port").unknown == ()
        assert host.vars == {"only": 2, "port": 1}

    def test_an_encrypted_text_is_a_value_that_stays_closed(self, tree: Tree):
        """As data it is what ansible-inventory prints."""
        host = tree({"host_vars/web1.yml": "secret: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3766\n"}).host("web1")

        assert isinstance(host.vars["secret"], Vault)
        assert "3766" not in str(host.trace("secret"))
        assert list(as_json(host.vars["secret"])) == ["__ansible_vault"]

    def test_a_script_is_not_run(self, tree: Tree, tmp_path: Path):
        """It may define anything, and says so at each host."""
        (tmp_path / "inv").mkdir()
        (tmp_path / "inv" / "a.sh").write_text("#!/bin/sh\ntouch ran\n")
        (tmp_path / "inv" / "a.sh").chmod(0o755)
        (tmp_path / "inv" / "b").write_text("[web]\nweb1\n")
        inventory = Inventory("inv", folder=tmp_path)

        assert not (tmp_path / "ran").exists()
        assert [one.file for one in inventory.not_run] == ["inv/a.sh"]
        assert {one.origin.file for one in inventory.host("web1").trace("port").unknown} == {"inv/a.sh"}

    def test_a_fact_is_unknown_for_its_name_and_for_tasks_after_it(self, tree: Tree):
        """Its task is named; parameters of roles are stronger."""
        site = (
            "- hosts: all\n  gather_facts: false\n  tasks:\n  - name: first\n    debug:\n"
            "  - set_fact: {port: 1}\n    when: nosuch\n  - name: last\n    debug:\n"
        )
        playbook = Playbook(tree({"site.yml": site}), "site.yml")
        first, last = playbook.task("first", "web1"), playbook.task("last", "web1")

        assert first is not None
        assert last is not None
        assert first.trace("port").unknown == ()
        assert [str(one.origin.place) for one in last.trace("port").unknown] == ["site.yml:6"]
        assert last.trace("only").unknown == ()
        assert "set_fact sets it to 1 when the task has run" in str(last.trace("port"))

    def test_gathered_facts_may_set_what_begins_so(self, tree: Tree):
        """And nothing else."""
        playbook = Playbook(tree({"site.yml": "- hosts: all\n  tasks:\n  - name: t\n    debug:\n"}), "site.yml")
        task = playbook.task("t", "web1")

        assert task is not None
        assert [len(task.unknown(name)) for name in ("ansible_os_family", "port")] == [1, 0]

    def test_facts_that_become_no_variables_set_only_ansible_local(self, tree: Tree):
        """As ansible-core 2.19 does, for gathered facts and for those of other modules."""
        files = {
            "ansible.cfg": "[defaults]\ninject_facts_as_vars = False\n",
            "site.yml": "- hosts: all\n  tasks:\n  - service_facts:\n  - name: t\n    debug:\n",
        }
        task = Playbook(tree(files), "site.yml").task("t", "web1")

        assert task is not None
        names = ("ansible_os_family", "services", "ansible_local")
        assert [len(task.unknown(name)) for name in names] == [0, 0, 2]

    def test_a_rescue_knows_that_something_has_failed(self, tree: Tree):
        """Not what."""
        site = (
            "- hosts: all\n  gather_facts: false\n  tasks:\n  - block:\n    - name: first\n      debug:\n"
            "    rescue:\n    - name: last\n      debug:\n"
        )
        playbook = Playbook(tree({"site.yml": site}), "site.yml")
        found = [playbook.within(task, "web1").unknown("ansible_failed_task") for task in playbook.tasks("web1")]

        assert [[one.origin.at(()).line for one in unknown] for unknown in found] == [[], [7]]


class TestFaults:
    def test_a_broken_file_is_an_error_with_its_line(self, tree: Tree):
        """Only where a host of its group is asked."""
        inventory = tree({"group_vars/web.yml": "a: 1\nb: [\n"})

        assert inventory.host("db1").vars == {"only": 1, "port": 70}
        with pytest.raises(AnsibleError, match=r"group_vars/web.yml:3") as raised:
            _ = inventory.host("web1").vars
        assert (raised.value.kind, raised.value.code) == ("yaml", "NA1302")

    def test_where_that_is_borne_it_costs_its_own_variables(self, tree: Tree):
        """It is an unknown layer, and warned of."""
        inventory = tree({"group_vars/web.yml": "a: 1\nb: [\n"}, lenient=True)

        assert inventory.host("web1").vars == {"only": 1, "port": 80}
        assert [one.origin.file for one in inventory.host("web1").trace("port").unknown] == ["group_vars/web.yml"]
        assert [one.kind for one in inventory.warnings] == ["broken"]

    def test_a_host_that_is_not_there_has_near_ones(self, tree: Tree):
        """So has a group."""
        with pytest.raises(AnsibleError, match="did you mean web1"):
            tree({}).host("wbe1")
        with pytest.raises(AnsibleError, match="did you mean site"):
            tree({}).of_group("sit")

    def test_an_inventory_refuses_extra_vars_as_a_text(self):
        """By the border of the call."""
        with pytest.raises(BadArgument):
            Inventory("web1,", extra_vars="a=1")


class TestTheCommand:
    @pytest.fixture
    def run(self, tree: Tree, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
        def asked(*words: str, **files: str) -> tuple[int, str, str]:
            tree({name.replace("__", "/") + ".yml": text for name, text in files.items()})
            code = main(["ansible", *words, "-i", "hosts"])
            captured = capsys.readouterr()
            return code, captured.out, captured.err

        return asked

    def test_variables_are_printed_as_ansible_prints_them(self, run):
        """JSON or YAML."""
        assert run("vars", "web1") == (0, '{\n    "only": 1,\n    "port": 80\n}\n', "")
        assert run("vars", "db1", "-y") == (0, "only: 1\nport: 70\n", "")

    def test_the_graph_and_the_list_have_every_group(self, run):
        """In the order of the inventory."""
        assert run("graph", "site")[1] == "@site:\n  |--@web:\n  |  |--web1\n  |  |--web2\n  |--@db:\n  |  |--db1\n"
        assert json.loads(run("list", "--limit", "db")[1])["_meta"]["hostvars"] == {"db1": {"only": 1, "port": 70}}

    def test_an_explanation_has_winner_losers_and_reasons(self, run):
        """Exit code 1 where nobody sets it."""
        code, out, _ = run("explain", "web1", "port", group_vars__all="port: 8080\n")

        assert code == 0
        assert out.startswith("web1 in the inventory: port = 8080\n")
        assert "inventory group_vars/all (4) over inventory file or script group vars (3)" in " ".join(out.split())
        assert run("explain", "web1", "prt")[0] == 1

    def test_in_a_task_what_may_have_been_set_is_named(self, run):
        """Exit code 5; --strict refuses."""
        site = "- hosts: all\n  tasks:\n  - set_fact: {port: 1}\n    when: nosuch\n  - name: t\n    debug:\n"
        code, out, _ = run("explain", "web1", "port", "--playbook", "site.yml", "--task", "t", site=site)

        assert (code, "site.yml:3" in out) == (5, True)
        assert run("explain", "web1", "port", "--playbook", "site.yml", "--strict")[0] == 1
        code, _, err = run("vars", "web1", "--playbook", "site.yml", "--task", "nosuch")
        assert (code, "it meets: set_fact, t" in err) == (1, True)

    def test_of_a_task_that_is_not_met_six_names_are_given_and_the_number_of_the_others(self, run):
        site = "- hosts: all\n  tasks:\n" + "".join(f"  - {{name: t{n}, debug: }}\n" for n in range(1, 9))
        code, _, err = run("vars", "web1", "--playbook", "site.yml", "--task", "nosuch", site=site)

        assert (code, "it meets: t1, t2, t3, t4, t5, t6 and 2 more\n" in err) == (1, True)

    def test_who_has_counts_the_hosts_on_which_each_place_wins(self, run):
        """Also of a place that counts nowhere."""
        code, out, _ = run("who-has", "port", group_vars__all="port: 8080\n")

        assert code == 0
        lines = [(block.split("  ")[0], block.splitlines()[1].strip()) for block in out.split("\n\n")]
        assert [one for one in lines if one[0] != "hosts:10"] == [
            ("group_vars/all.yml:1", "wins on 3 of 3 hosts: db1, web1, web2"),
            ("hosts:12", "wins on 0 of 3 hosts"),
        ]
        assert ("hosts:10", "wins on 0 of 2, set on 2 of 3 hosts") in lines
        by = "overridden by group_vars/all.yml:1 (3 inventory group_vars/all (4 of 22) = 8080) on 2: web1, web2"
        assert by in " ".join(out.split())
        assert run("who-has", "prt")[:2] == (1, "prt: no line that was read sets it\n")
        assert "name a key" in run("who-has", "")[2]

    def test_hosts_are_compared(self, run):
        """All in a matrix, two in a difference."""
        assert "port: 2 values on 3 nodes" in run("matrix", "port")[1]
        assert run("diff", "web1", "db1")[1] == "web1 -> db1\n~ port\n    web1: 80  hosts:10\n    db1: 70  hosts:12\n"

    def test_hosts_that_differ_in_what_is_encrypted_are_told_so_and_nothing_of_it(self, run):
        vault = "pw: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3763\n"
        out = run("diff", "web1", "db1", host_vars__web1=vault)[1]

        assert '- pw\n    web1: {"$secret": "withheld"}  host_vars/web1.yml:1\n' in out
        assert "3763" not in out


class TestInventoriesThatTheSettingsName:
    def test_every_verb_asks_hosts_of_the_inventories_in_the_settings(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """One inventory has plain hosts; of several each host has the name of its inventory before it."""
        (tmp_path / "a.ini").write_text("web1 port=1\n")
        (tmp_path / "nodeattrs.toml").write_text('[ansible.one]\ninventory = "a.ini"\n')

        assert main(["why", "port", "--repo", str(tmp_path)]) == 0
        assert "ansible: web1\nport = 1" in capsys.readouterr().out

        (tmp_path / "b.ini").write_text("web1 port=2\n")
        with (tmp_path / "nodeattrs.toml").open("a") as settings:
            settings.write('[ansible.two]\ninventory = "b.ini"\n')
        assert main(["list", "subjects", "--repo", str(tmp_path)]) == 0
        assert capsys.readouterr().out == "ansible one:web1\nansible two:web1\n"
        assert main(["where", "b.ini:1", "--repo", str(tmp_path)]) == 0
        assert "wins on 1 of 1, set on 1 of 2 hosts: two:web1" in capsys.readouterr().out

    def test_a_host_of_no_inventory_is_not_there(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "a.ini").write_text("web1 port=1\n")
        (tmp_path / "nodeattrs.toml").write_text('[ansible.one]\ninventory = "a.ini"\n')

        assert main(["blame", "nobody", "--repo", str(tmp_path)]) == 1
        assert "there is no subject nobody" in capsys.readouterr().err


def test_a_pattern_that_python_may_read_as_a_set_of_sets_some_day_is_one():
    """
    No warning of Python's comes of what somebody has typed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Inventory("web1,").matching("~[[w]eb") == ["web1"]

    def test_a_pattern_with_many_open_brackets_is_read_to_its_end(self):
        assert Inventory("web1,web2,").matching(f"web1{'[ ' * 200_000}web2") == ["web1", "web2"]


def test_an_inventory_may_be_toml(tmp_path: Path):
    (tmp_path / "hosts.toml").write_text("[web.hosts]\nweb1 = {port = 80}\n[web.vars]\nsize = 2\n")
    found = Inventory(tmp_path / "hosts.toml")

    assert ["web1"] == found.matching("web")
    assert (80, 2) == (found.host("web1").vars["port"], found.host("web1").vars["size"])


def test_localhost_is_a_host_that_needs_no_inventory():
    found = Inventory("web1,")

    assert ["localhost"] == found.matching("localhost")
    assert [] == found.matching("other")
    assert ["no host matches 'other'"] == [one.reason for one in found.warnings]


@pytest.mark.parametrize(("pattern", "expected"), [("~h[12]", "h1 h2"), ("~h[1]", "h1"), ("all:!~h[1]", "h2")])
def test_brackets_of_a_regular_expression_name_no_places(pattern: str, expected: str):
    """As in a real run."""
    assert Inventory("h1,h2,").matching(pattern) == expected.split()


PLACES = """
    -1 e | -5 a | -6 | 4 e | 5 | 0: a b c d e | 1:2 b c | 1-2 b c | 01:02 b c | 2:1 | 0:9 a b c d e | 9:9
    0:0 a | 1:0 b | 4:0 e | : | :1 | 0:-1 | -1: | - | -: | -- | 9{} | -9{} | 3:9{} d e | 9{}:1 | 9{}:0 | 9{}:
"""


@pytest.mark.parametrize("case", [one.strip() for line in PLACES.strip().splitlines() for one in line.split("|")])
def test_hosts_of_a_pattern_at_places_of_it(case: str):
    """What is no place belongs to the name, which no host has. Here {} is 5,000 digits more, more than Python reads."""
    place, *expected = case.replace("{}", "9" * 5000).split()
    assert Inventory("a,b,c,d,e,").matching(f"all[{place}]") == expected


ODD = {
    "a pattern of many brackets": ({}, lambda read: read.matching(f"~{'(' * 5_000}"), "is no regular expression"),
    "a range beyond all names": (
        {},
        lambda _: list(expanded_ranges("w[:9999999999999999999]")),
        "more than 100,000 names",
    ),
    "a key without a value in ansible.cfg": ({"ansible.cfg": "[s]\np\n f"}, None, "a line that is no `key = value`"),
    "a key twice in ansible.cfg": ({"ansible.cfg": "[s]\np=1\np=2"}, None, "ansible.cfg:3: the key p is written twice"),
    "a port of too many digits": ({}, lambda _: hosts_of(f"w:{'9' * 5_000}"), "a port of more than 4300 digits"),
    "the same in a list of hosts": ({}, lambda _: Inventory(f"w:{'9' * 5_000},"), "a port of more than 4300 digits"),
    "a list to ask for": (
        {"p.yml": "- hosts: all\n  vars_prompt: [{name: [a]}]\n  tasks: [{name: t, debug: }]\n"},
        lambda read: Playbook(read, "p.yml").task("t", "web1").vars,
        "is a text, and not ['a']",
    ),
    **{
        f"no list of roles, but {given}": (
            {"p.yml": f"- hosts: all\n  roles: {given}\n"},
            lambda read: Playbook(read, "p.yml").tasks("web1"),
            "roles is a list",
        )
        for given in ("false", "0", '""', "{}")
    },
    "dependencies that are one role": (
        {"p.yml": "- hosts: all\n  roles: [r]\n", "roles/r/meta/main.yml": "dependencies: {role: s}\n"},
        lambda read: Playbook(read, "p.yml").tasks("web1"),
        "dependencies is a list",
    ),
    **{
        f"a playbook with {given}": (
            {"p.yml": f"- hosts: all\n  roles: [r]\n  {given}\n", "roles/r/tasks/main.yml": "[]", "t.yml": "a: 1\n"},
            lambda read: Playbook(read, "p.yml").tasks("web1"),
            shown,
        )
        for given, shown in (
            ("tasks: [text]", "p.yml:3: a task is a map"),
            ("tasks: [{import_tasks: t.yml}]", "t.yml:1: a file of tasks is a list"),
            ("tasks: [{import_role: {name: r}, vars: text}]", "p.yml:3: vars is a map of variables"),
            ("tasks: []\n- text", "p.yml:4: a play is a map"),
        )
    },
    "a role with a name that no disk has": (
        {"p.yml": f"- hosts: all\n  roles: [{'a' * 300}]\n"},
        lambda read: Playbook(read, "p.yml").tasks("web1"),
        "no role aaa",
    ),
}


@pytest.mark.parametrize(("files", "ask", "shown"), ODD.values(), ids=ODD)
def test_what_is_odd_is_an_error_that_says_so(tree: Tree, files: dict[str, str], ask: Any, shown: str):
    def answer() -> Any:
        return (ask or (lambda read: read.host("web1")))(tree(files))

    with pytest.raises(AnsibleError) as caught:
        answer()

    assert shown in str(caught.value)


CACHE = "[defaults]\nfact_caching = jsonfile\nfact_caching_connection = cache\n"
OLD = {"cache/web1": '{"ansible_os": "a"}'}
NEW = {"cache/s1_web1": json.dumps({"__payload__": json.dumps({"ansible_os": "b"})})}


class TestCachedFacts:
    @pytest.mark.parametrize(
        ("config", "files", "value"),
        [
            (CACHE, OLD, "a"),
            (CACHE, NEW, "b"),
            (CACHE, {**OLD, **NEW}, "b"),
            (CACHE, {"cache/other": '{"ansible_os": "a"}'}, None),
            (f"{CACHE}fact_caching_prefix = p_\n", {"cache/p_web1": '{"ansible_os": "a"}'}, "a"),
            (CACHE.replace("jsonfile", "memory"), OLD, None),
        ],
    )
    def test_the_newest_file_of_a_host_sets_its_variables(
        self, tree: Tree, config: str, files: dict[str, str], value: Any
    ):
        assert value == tree({"ansible.cfg": config, **files}).host("web1").vars.get("ansible_os")

    def test_a_folder_that_is_named_counts_and_says_the_file(self, tree: Tree):
        found = tree({"ansible.cfg": CACHE, **OLD, "more/web1": '{"ansible_os": "m"}'}, facts="more").host("web1")
        assert ("m", "more/web1") == (found.vars["ansible_os"], found.origins("ansible_os")[0].file)

    def test_facts_that_would_change_the_connection_set_nothing_and_templates_are_texts(self, tree: Tree):
        facts = {"ansible_host": "h", "ansible_python_interpreter": "p", "ansible_os": "{{ nope }}"}
        found = tree({"ansible.cfg": CACHE, "cache/web1": json.dumps(facts)}).host("web1")
        assert {"ansible_os": "{{ nope }}"} == {name: found.vars[name] for name in facts if name in found.vars}

    def test_without_injection_only_local_facts_are_variables(self, tree: Tree):
        facts = {"ansible_os": "a", "ansible_local": {"x": 1}}
        config = f"{CACHE}inject_facts_as_vars = no\n"
        found = tree({"ansible.cfg": config, "cache/web1": json.dumps(facts)}).host("web1").vars
        assert (None, {"x": 1}) == (found.get("ansible_os"), found["ansible_local"])

    @pytest.mark.parametrize("text", ["{", '{"__payload__": "{"}', '{"__payload__": 3}'])
    def test_a_file_that_is_broken_is_an_error_that_names_it(self, tree: Tree, text: str):
        with pytest.raises(AnsibleError, match=r"cache/web1.*these facts cannot be read"):
            tree({"ansible.cfg": CACHE, "cache/web1": text}).host("web1").vars.get("ansible_os")


def test_a_map_under_vars_prompt_is_one_prompt(tree: Tree):
    """As a list of this one map, in ansible-core 2.19, too."""
    read = tree({"p.yml": "- hosts: all\n  vars_prompt: {name: a, default: b}\n  tasks: [{name: t, debug: }]\n"})

    unread = Playbook(read, "p.yml").task("t", "web1").trace("a").unknown

    assert ["it is asked on a terminal; without a terminal it is 'b'"] == [one.claim.value.reason for one in unread]
    assert any("p.yml:2" in str(one) and "a has no value" in str(one) for one in read.warnings)


def test_bytes_that_are_no_text_in_a_configuration_harm_no_other_key(tree: Tree, tmp_path: Path):
    (tmp_path / "ansible.cfg").write_bytes(b"[defaults]\n# caf\xe9\nx=\xe9\nhash_behaviour=merge\n")

    assert "merge" == tree({}).config.hash_behaviour


@pytest.mark.filterwarnings("error")
def test_an_octal_escape_is_a_letter_however_large(tree: Tree):
    assert "ĉ" == tree({}, extra_vars=["b=\\411"]).host("web1").vars["b"]


@pytest.mark.filterwarnings("error")
def test_of_a_pattern_to_ignore_nobody_is_warned(tree: Tree):
    tree({"ansible.cfg": "[defaults]\ninventory_ignore_patterns=[[x]\n"})


def test_variables_may_be_as_deep_as_a_file():
    deep: Any = Vault("x")
    for _ in range(700):
        deep = {1: deep}

    found = as_json(deep)
    for _ in range(700):
        found = found["1"]

    assert {"__ansible_vault": "x"} == found


def test_an_alias_of_pairs_or_of_a_set_is_what_it_stands_for(tree: Tree):
    """
    As JSON all of them are lists.
    """
    text = "a: &a !!pairs [k: v]\nb: *a\nc: &c !!set {p}\nd: *c\n"
    found = tree({"group_vars/all.yml": text}).host("web1").vars

    assert ([("k", "v")], {"p"}) == (found["a"], found["c"]) == (found["b"], found["d"])
    assert {"a": [["k", "v"]], "b": [["k", "v"]], "c": ["p"], "d": ["p"]} == as_json(
        {key: found[key] for key in "abcd"}
    )


def test_names_are_found_however_deep_a_value_is():
    deep: Any = "{{ a }}"
    for _ in range(5_000):
        deep = [deep]

    assert ["a"] == names_in_templates(deep)


def test_a_number_that_is_too_long_to_be_shown_is_a_text(tree: Tree):
    """In hexadecimal digits as in decimal ones, which Python reads as none."""
    for number in (f"0x{'f' * 4_000}", "9" * 5_000):
        assert number == tree({"hosts": f"web1 a={number}\n"}).host("web1").vars["a"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda read: printed_inventory(read),
        lambda read: printed_inventory(read, "yaml"),
        lambda read: printed_inventory(read, "toml"),
        lambda read: graph(read, with_variables=True),
        lambda read: read.host("web1").trace("a"),
        lambda read: as_attribute(read.host("web1").vars),
        lambda read: sealed(read.host("web1").vars),
    ],
)
def test_variables_that_are_as_deep_as_a_file_can_be_are_given_or_refused(tree: Tree, ask: Any):
    """
    No traceback, whoever is asked.
    """
    read = tree({"host_vars/web1.json": f'{{"a":{"[" * 480}1{"]" * 480}}}'})
    with contextlib.suppress(NodeattrsError):
        ask(read)


def test_a_group_without_hosts_is_printed_in_yaml_where_it_is_met_again(tmp_path: Path):
    """Real ansible-inventory leaves it out at its first place, and prints it at the others."""
    source = "all: {children: {a: {children: {b: {hosts: {h2: }, children: {e: }}, e: }}, c: {children: {e: }}}}"
    (tmp_path / "hosts.yml").write_text(source, encoding="utf-8")

    assert printed_inventory(Inventory("hosts.yml", folder=tmp_path), "yaml") == (
        "all:\n"
        "  children:\n"
        "    a:\n"
        "      children:\n"
        "        b:\n"
        "          hosts:\n"
        "            h2: {}\n"
        "        e: {}\n"
        "    c:\n"
        "      children:\n"
        "        e: {}\n"
    )


def test_a_configuration_that_exports_leaves_the_variables_of_groups_with_the_groups(tmp_path: Path):
    """As the option --export does; the graph has them there, too."""
    (tmp_path / "ansible.cfg").write_text("[inventory]\nexport = true\n", encoding="utf-8")
    (tmp_path / "hosts").write_text("[g]\nh1 a=1\n[g:vars]\nb=2\n", encoding="utf-8")
    inventory = Inventory("hosts", folder=tmp_path)

    assert "all:\n  children:\n    g:\n      hosts:\n        h1:\n          a: 1\n      vars:\n        b: 2\n" == (
        printed_inventory(inventory, "yaml")
    )
    assert "  |  |--h1\n  |  |  |--{a = 1}\n  |  |--{b = 2}\n" in graph(inventory, with_variables=True)


def test_all_variables_of_a_host_are_explained_as_one_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "hosts").write_text("web1 port=80\n")

    assert main(["ansible", "explain", "web1", "(root)", "-i", str(tmp_path / "hosts")]) == 0
    assert '(root) = {"port": 80}' in capsys.readouterr().out
