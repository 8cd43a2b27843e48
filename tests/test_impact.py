"""What a change changes: sides out of git and of folders, who is asked again, which lines are named, what comes out."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main as nodeattrs
from nodeattrs.cli.program import run
from nodeattrs.contract.reading import watched
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.contract.written_sides import sides_of
from nodeattrs.core.changed import changes
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.chef.opened import Nodes
from nodeattrs.errors import BadName, DocumentError, NoRevision, NotFound
from nodeattrs.git import Git
from nodeattrs.node.running import merged_shared
from nodeattrs.reports.screen import Screen
from nodeattrs.verbs.comparing import Part, differences
from nodeattrs.verbs.hunks import Hunks, Line
from nodeattrs.verbs.impact import ChangeGroup, Impact, ImpactOptions, LineWithoutEffect, impact
from nodeattrs.verbs.impact_report import MOST, ImpactReport, Pattern
from tests.effort import EFFORT, examples
from tests.oracles import impact as oracle

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"

WEB = """\
{"name": "web",
 "run_list": [],
 "default_attributes": {
  "port": 80,
  "dir": "/srv"
 }
}
"""
LOUD = """\
{"name": "loud",
 "run_list": ["role[web]"],
 "override_attributes": {
  "port": 99
 }
}
"""
TREE = """\
version: 5
hierarchy:
- {name: n, path: 'nodes/%{trusted.certname}.yaml'}
- {name: c, path: c.yaml}
"""
ROLES = {
    "roles/web.json": WEB,
    "roles/loud.json": LOUD,
    "nodes/a.json": '{"name": "a", "run_list": ["role[web]"]}\n',
    "nodes/b.json": '{"name": "b", "run_list": ["role[web]"]}\n',
    "nodes/c.json": '{"name": "c", "run_list": ["role[loud]"]}\n',
    "nodes/d.json": '{"name": "d", "run_list": []}\n',
}

Files = dict[str, str]


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def commit(folder: Path, files: Files | None = None) -> None:
    oracle.written(files or {}, folder)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository of git with one commit: three nodes with a role, and one without."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, ROLES)
    return folder


def edit(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


Compare = Callable[..., Impact]


WITH_SHARED_ANSWERS = [True, False] if EFFORT >= 1 else [True]


@pytest.fixture(params=WITH_SHARED_ANSWERS, ids=lambda sharing: "sharing" if sharing else "each")
def compare(tmp_path: Path, request: pytest.FixtureRequest) -> Compare:
    """Compares two sets of files, or the sides of a range: `compare(before, after)`, `compare("HEAD", folder)`.

    With shared answers, and if there is time also with each subject by itself. That both are the same is asked by
    tests/test_sharing.py.
    """
    count, sharing = iter(range(99)), request.param

    def made(before: Files | str, after: Files | Path, request: Request | None = None, **how: Any) -> Impact:
        private = tmp_path / f"private{next(count)}"
        private.mkdir()
        if isinstance(before, str) and isinstance(after, Path):
            sides = sides_of(before, None, after, private)
        else:
            assert isinstance(before, dict)
            assert isinstance(after, dict)
            sides = tuple(
                folder_side(oracle.written(files, private / name)) for name, files in (("b", before), ("a", after))
            )
        return impact(*sides, request or Request(), ImpactOptions(private, jobs=1, sharing=sharing, **how))

    return made


def shown(found: Impact) -> list[str]:
    return [
        f"{','.join(one.subjects)}: {one.spelled} {one.before.data} -> {one.after.data} "
        f"because of {', '.join(map(str, one.lines))}"
        for one in found.groups
    ]


class TestWhatChanges:
    def test_each_role_stands_for_a_node_where_a_repository_describes_none(self, compare):
        before = {file: text for file, text in ROLES.items() if file.startswith("roles/")}
        found = compare(before, {**before, "roles/web.json": WEB.replace("80", "81")})

        assert ["role[web]: port 80 -> 81 because of roles/web.json:4"] == shown(found)
        assert {} == found.dialects[0].unanswered

    def test_an_equal_change_of_suites_whose_platform_is_not_known_is_one_group(self, compare):
        """Each suite has its own unread place, the facts of its platform; the group has the places of all suites."""
        suites = "platforms: [{name: nowhere-1}]\nsuites:\n"
        suites += "".join(f"- {{name: s{n}, run_list: ['role[web]']}}\n" for n in (1, 2))
        before = {"kitchen.yml": suites, "roles/web.json": WEB}
        found = compare(before, {**before, "roles/web.json": WEB.replace("80", "81")})

        (group,) = found.doubtful
        assert group.subjects == ("s1-nowhere-1", "s2-nowhere-1")
        assert all(any(name in place for place in group.unread) for name in group.subjects)

    def test_the_text_tells_a_change_that_is_not_certain_from_the_same_change_of_other_subjects(self, compare):
        suites = "platforms: [{name: nowhere-1}]\nsuites:\n- {name: s, run_list: ['role[web]']}\n"
        before = {**ROLES, "kitchen.yml": suites}
        found = compare(before, {**before, "roles/web.json": WEB.replace("80", "81")})

        lines = [*ImpactReport(found).lines(Screen())]
        after = {line.strip(): next_one.strip() for line, next_one in itertools.pairwise(lines)}
        assert after["s-nowhere-1"] == "not certain: what was not read may set it"
        assert after["a, b"] == ""

    def test_suites_of_test_kitchen_with_folders_of_their_own_are_resolved(self, compare):
        suites = "platforms: [{name: debian-12}]\nsuites:\n"
        suites += "".join(f"- {{name: s{n}, run_list: ['role[web]'], roles_path: test/roles}}\n" for n in (1, 2))
        before = {"kitchen.yml": suites, "test/roles/web.json": WEB, "roles/web.json": WEB}
        found = compare(before, {**before, "test/roles/web.json": WEB.replace("80", "81")})

        assert ["s1-debian-12,s2-debian-12: port 80 -> 81 because of test/roles/web.json:4"] == shown(found)

    def test_equal_changes_are_one_group_with_the_line(self, repo, compare):
        """
        Two nodes read the role's port, one overrides it, one has no role.
        """
        edit(repo, "roles/web.json", "80", "8080")
        commit(repo)

        found = compare("HEAD~1..HEAD", repo)

        assert shown(found) == ["a,b: port 80 -> 8080 because of roles/web.json:4"]

    def test_lists_that_differ_alike_are_one_group(self, compare):
        """
        Each node has further elements of its own.
        """
        role = '{"name": "web",\n "default_attributes": {\n  "l": [\n   1\n  ]\n }\n}\n'
        before = {"roles/web.json": role}
        for name in "ab":
            normal = json.dumps({"l": [name]})
            before[f"nodes/{name}.json"] = f'{{"name": "{name}", "run_list": ["role[web]"], "default": {normal}}}'

        (group,) = compare(before, {**before, "roles/web.json": role.replace("1\n", "2\n")}).groups

        assert (group.subjects, group.elements) == (("a", "b"), None)

        before["cookbooks/x/attributes/default.py"] = "default['l'] = [node['name']]\n"
        before["roles/web.json"] = role.replace(
            '"default_attributes"', '"run_list": ["recipe[x]"],\n "default_attributes"'
        )
        before["cookbooks/x/recipes/default.py"] = ""
        after = {**before, "roles/web.json": before["roles/web.json"].replace("1\n", "2\n")}

        report = ImpactReport(compare(before, after))

        (group,) = report.found.groups
        assert (group.subjects, group.elements) == (("a", "b"), ([1], [2]))
        assert "    lists without 1, with 2" in [*report.lines(Screen())]
        assert report.to_dict()["changes"][0]["added"] == [2]

    @pytest.mark.parametrize(("file", "sides"), [("roles/quiet.json", {"b"}), ("roles/loud.json", {"a", "b"})])
    def test_the_second_side_is_computed_only_if_a_changed_file_was_read(self, compare, file, sides, monkeypatch):
        asked: list[str] = []
        answer = Nodes.answer
        monkeypatch.setattr(Nodes, "answer", lambda self, name: asked.append(self.side.root.name) or answer(self, name))

        compare({**ROLES, "roles/quiet.json": "{}"}, {**ROLES, "roles/quiet.json": "{}", file: LOUD.replace("99", "9")})

        assert sides == {*asked}

    @pytest.mark.parametrize(
        ("recipe", "path"),
        [
            ("node.default['x'] = lazy(lambda: data_bag_item('b', 'i')['v'])", "x"),
            ("define(site)('w', port=lazy(lambda: data_bag_item('b', 'i')['v']))", "Site[w].port"),
        ],
        ids=["an attribute", "a parameter of a resource"],
    )
    def test_a_file_that_only_a_deferred_value_reads_is_read(self, compare, recipe, path):
        words = "from nodeattrs.recipe import data_bag_item, define, lazy, node\ndef site(name, port): pass\n"
        before = {
            "cookbooks/a/recipes/default.py": f"{words}{recipe}\n",
            "cookbooks/a/metadata.yaml": "{name: a, version: 1.0.0}\n",
            "nodes/a.json": '{"name": "a", "run_list": ["a"]}\n',
            "data_bags/b/i.json": '{"id": "i", "v": 1}\n',
        }

        found = compare(before, {**before, "data_bags/b/i.json": '{"id": "i", "v": 2}\n'})

        assert shown(found) == [f"a: {path} 1 -> 2 because of data_bags/b/i.json:1"]

    def test_a_line_that_is_gone_is_named_as_it_was(self, compare):
        """
        There is no such line on the side after.
        """
        after = {**ROLES, "roles/loud.json": ROLES["roles/loud.json"].replace('  "port": 99\n', "")}

        assert shown(compare(ROLES, after)) == ["c: port 99 -> 80 because of roles/loud.json:4 (gone)"]

    def test_a_file_that_is_looked_for_and_comes_is_seen(self, compare):
        """
        Nobody has read data/nodes/a.yaml before, but it was looked for.
        """
        before = {
            "hiera.yaml": TREE,
            "data/c.yaml": "port: 80\n",
            "facts/a.json": "{}",
            "facts/b.json": "{}",
        }

        found = compare(before, {**before, "data/nodes/a.yaml": "port: 81\n"})

        assert shown(found) == ["a: port 80 -> 81 because of data/nodes/a.yaml:1"]

    def test_of_two_places_the_one_that_counts_is_named(self, compare):
        """
        The other one is in a trace too, and changes nothing.
        """
        after = {
            **ROLES,
            "roles/web.json": ROLES["roles/web.json"].replace("80", "81"),
            "roles/loud.json": ROLES["roles/loud.json"].replace("99", "98"),
        }

        assert "c: port 99 -> 98 because of roles/loud.json:4" in shown(compare(ROLES, after))

    def test_what_decides_is_named_where_no_value_was_edited(self, compare):
        """
        The node goes to another role; both roles are as they were.
        """
        after = {**ROLES, "nodes/b.json": '{"name": "b", "run_list": ["role[loud]"]}\n'}

        found = compare(ROLES, after, dialects=["nodes"])

        assert "b: port 80 -> 99 because of nodes/b.json:1" in shown(found)

    def test_a_change_that_nobody_has_is_named_with_who_overrides_it(self, compare):
        """
        All who read the line have another value, all of one line.
        """
        before = {**ROLES, "nodes/a.json": ROLES["nodes/c.json"].replace('"c"', '"a"'), "nodes/b.json": "{}"}
        after = {**before, "roles/web.json": before["roles/web.json"].replace("80", "81")}

        found = compare(before, after)

        assert not found.groups
        assert [(str(one.line), one.path, one.overridden_by, one.subject_count) for one in found.silent] == [
            ("roles/web.json:4", ("default_attributes", "port")[1:], ("roles/loud.json:4",), 2)
        ]

    def test_a_node_that_can_no_longer_be_resolved_says_why(self, compare):
        """
        With the line that broke it, and the others go on.
        """
        after = {**ROLES, "nodes/a.json": '{"name": "a", "run_list": ["role[wbe]"]}\n'}

        (group,) = compare(ROLES, after).groups

        assert (group.sign, group.subjects) == ("broken", ("a",))
        assert "there is no role wbe" in str(group.after.data)
        assert [str(line) for line in group.lines] == ["nodes/a.json:1"]

    def test_nodes_that_come_and_go_are_named(self, compare):
        """
        They have nothing to be compared with.
        """
        after = {**{file: text for file, text in ROLES.items() if file != "nodes/a.json"}, "nodes/e.json": "{}"}

        found = compare(ROLES, after)

        assert [(one.added, one.removed) for one in found.dialects] == [(("e",), ("a",))]
        assert not found.groups

    def test_a_change_of_type_is_one(self, compare):
        """
        1 and true are equal in Python, and two values.
        """
        before = {**ROLES, "roles/web.json": ROLES["roles/web.json"].replace("80", "1")}
        after = {**ROLES, "roles/web.json": ROLES["roles/web.json"].replace("80", "true")}

        assert [(one.before.data, one.after.data) for one in compare(before, after).groups] == [(1, True)]

    def test_the_order_of_keys_is_none(self, compare):
        """
        And neither is white space.
        """
        after = {**ROLES, "roles/web.json": json.dumps(json.loads(ROLES["roles/web.json"]), sort_keys=True)}

        assert not compare(ROLES, after).groups

    def test_a_secret_is_named_and_not_shown(self, compare, capsys):
        """
        That it is another one is all that comes out.
        """
        before = {**ROLES, "nodeattrs.toml": 'sensitive = ["dir"]\n'}
        after = {**before, "roles/web.json": before["roles/web.json"].replace("/srv", "/s3cret")}

        found = compare(before, after)

        report = ImpactReport(found)
        whole = json.dumps(report.to_dict()) + report.markdown() + "\n".join(report.lines(Screen()))
        assert [(one.spelled, one.after.is_secret) for one in found.groups] == [("dir", True)]
        assert "(a secret) -> (a secret)" in whole
        assert "s3cret" not in whole
        assert "/srv" not in whole

    def test_the_folders_of_the_sides_are_no_difference(self, compare):
        """
        A cookbook that says where it lies says so of both.
        """
        before = {
            "cookbooks/x/recipes/default.py": "node.default['here'] = __file__\nnode.default['a'] = 1\n",
            "nodes/a.json": '{"name": "a", "run_list": ["recipe[x]"]}',
        }
        after = {**before, "cookbooks/x/recipes/default.py": before["cookbooks/x/recipes/default.py"].replace("1", "2")}

        assert [one.spelled for one in compare(before, after).groups] == ["a"]

    @pytest.mark.parametrize(
        ("recipe", "file", "not_run"),
        [
            ("include_recipe \"y::#{node['a']}\"\n", "cookbooks/y/recipes/b.rb", True),
            ("helper(node)\n", "cookbooks/y/libraries/b.rb", True),
            ("include_recipe \"y::#{node['a']}\"\n", "cookbooks/y/templates/b.erb", False),
            ("node.default['b'] = 1\n", "cookbooks/y/recipes/b.rb", False),
        ],
    )
    def test_code_that_a_recipe_may_reach_by_a_computed_name_is_not_known(
        self, compare, recipe: str, file: str, not_run: bool
    ):
        """Attribute files run in Ruby; recipes are looked at as texts."""
        before = {
            "cookbooks/x/metadata.rb": "name 'x'\ndepends 'y'\n",
            "cookbooks/x/recipes/default.rb": recipe,
            "cookbooks/y/metadata.rb": "name 'y'\n",
            file: "node.default['c'] = 1\n",
            "nodes/a.json": '{"name": "a", "run_list": ["recipe[x]"]}',
        }
        found = compare(before, {**before, file: "node.default['c'] = 2\n"}, Request(nodes=("a",)))

        assert (found.groups, found.not_run) == ([], [file] if not_run else [])

    def test_a_module_beside_a_recipe_is_that_of_its_side(self, compare):
        """
        Python would keep the first one; and who imports it has looked at it.
        """
        recipe = (
            "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport ours\nnode.default['a'] = ours.A\n"
        )
        before = {"cookbooks/x/recipes/default.py": recipe, "cookbooks/x/recipes/ours.py": "A = 1\n"}
        for name in "ab":
            before[f"nodes/{name}.json"] = f'{{"name": "{name}", "run_list": ["recipe[x]"]}}'

        found = compare(before, {**before, "cookbooks/x/recipes/ours.py": "A = 2\n"})

        assert shown(found) == ["a,b: a 1 -> 2 because of cookbooks/x/recipes/ours.py:1"]

    def test_an_answer_that_is_another_each_time_is_called_so(self, compare):
        """
        No line of the change is to blame.
        """
        code = "import itertools, os\nnode.default['a'] = os.urandom(8).hex()\n"
        before = {
            "cookbooks/x/recipes/default.py": code,
            "nodes/a.json": '{"name": "a", "run_list": ["recipe[x]"]}',
        }
        after = {**before, "cookbooks/x/recipes/default.py": f"{code}# more\n\n", "cookbooks/x/README": "x"}

        (group,) = compare(before, after).groups

        assert group.unsteady
        assert not group.lines

    def test_an_answer_that_is_another_each_time_is_not_blamed_on_the_only_changed_line(self, compare):
        code = "import os\nnode.default['a'] = os.urandom(8).hex()\n"
        before = {
            "cookbooks/x/recipes/default.py": code,
            "nodes/a.json": '{"name": "a", "run_list": ["recipe[x]"]}',
        }

        (group,) = compare(before, {**before, "cookbooks/x/recipes/default.py": f"{code}# more\n"}).groups

        assert (group.lines, group.tried, group.unsteady) == ((), False, True)

    def test_resources_of_a_catalog_change(self, compare):
        """
        Those that recipes declare, by reference and parameter.
        """
        before = {
            "cookbooks/x/recipes/default.py": "file('/etc/motd', content='one')\n",
            "nodes/a.json": '{"name": "a", "run_list": ["recipe[x]"]}',
        }
        after = {**before, "cookbooks/x/recipes/default.py": "file('/etc/motd', content='two')\nfile('/etc/x')\n"}

        found = [(one.kind, one.spelled, one.sign) for one in compare(before, after).groups]

        assert ("resource", "File[/etc/motd].content", "changed") in found
        assert ("resource", "File[/etc/x]", "added") in found


class TestDialects:
    def test_impact_of_a_change_of_a_named_fold(self, compare):
        before = {
            "nodeattrs.toml": '[fold.web]\nfiles = ["a.yaml", "b.yaml"]\n',
            "a.yaml": "x: 1\ny: 1\n",
            "b.yaml": "x: 2\n",
        }

        found = compare(before, {**before, "a.yaml": "x: 3\ny: 4\n"})

        assert shown(found) == ["web: y 1 -> 4 because of a.yaml:2"]
        assert [(str(one.line), one.overridden_by) for one in found.silent] == [("a.yaml:1", ("b.yaml:1",))]

    def test_plain_named_have_policies_and_patterns(self, compare):
        """
        A file that a pattern fits on one side only is a layer there.
        """
        before = {
            "nodeattrs.toml": '[fold.web]\nfiles = ["values.yaml", "env/*.yaml"]\npolicy = "helm"\n',
            "values.yaml": "x: {a: 1, b: 2}\n",
            "env/1.yaml": "y: 1\n",
        }

        found = compare(before, {**before, "env/2.yaml": "x: {a: null}\n"})

        assert ["x.a"] == [one.spelled for one in found.groups]

    def test_sets_of_user_data(self, compare):
        """
        Those of the settings, and a folder as a data source has it.
        """
        table = '[cloud-init.web]\nfiles = ["base.yaml", "web.yaml"]\n'
        before = {
            "nodeattrs.toml": table,
            "base.yaml": "#cloud-config\nruncmd: [a]\n",
            "web.yaml": "#cloud-config\na: 1\n",
        }
        before["seed/user-data"] = "#cloud-config\nb: 1\n"
        after = {**before, "base.yaml": "#cloud-config\nruncmd: [b]\n", "seed/user-data": "#cloud-config\nb: 2\n"}

        assert sorted(shown(compare(before, after))) == [
            "seed: b 1 -> 2 because of seed/user-data:2",
            "web: runcmd ['a'] -> ['b'] because of base.yaml:2",
        ]

    def test_impact_of_a_change_of_bindings(self, compare):
        files = {
            path.relative_to(EXAMPLE / "bindings").as_posix(): path.read_text()
            for path in (EXAMPLE / "bindings").rglob("*")
            if path.suffix in (".pp", ".yaml")
        }
        after = {file: text.replace("authorised users only", "nobody") for file, text in files.items()}
        assert after != files

        found = compare(files, after, Request(places=(("bindings", "."),)), dialects=["bindings"])

        assert [one.path for one in found.groups] == [("ssh::banner",)]
        assert str(found.groups[0].lines[0]).startswith("bindings/default.pp:")

    def test_hosts_of_an_inventory(self, compare):
        before = {
            "ansible.cfg": "[defaults]\ninventory = hosts\n",
            "hosts": "[web]\nw1\nw2\n[db]\nd1\n",
            "group_vars/web.yml": "port: 80\n",
            "group_vars/all.yml": "port: 1\nproto: http\n",
        }

        found = compare(before, {**before, "group_vars/web.yml": "port: 81\n", "host_vars/w2.yml": "port: 82\n"})

        assert shown(found) == [
            "w1: port 80 -> 81 because of group_vars/web.yml:1",
            "w2: port 80 -> 82 because of host_vars/w2.yml:1",
        ]

    def test_hosts_of_two_inventories_that_the_caller_names(self, compare):
        before = {"site.yml": "- hosts: all\n", "one": "w1\n", "two": "w1\nw2\n", "group_vars/all.yml": "port: 1\n"}

        found = compare(
            {**before, "one": "w1 port=80\n"},
            {**before, "one": "w1 port=81\n", "group_vars/all.yml": "port: 2\n"},
            Request(places=(("ansible", "one"), ("ansible", "two"))),
        )

        assert shown(found) == [
            "w1: port 80 -> 81 because of one:1",
            "w2: port 1 -> 2 because of group_vars/all.yml:1",
        ]

    def test_impact_of_a_change_of_compiled_catalogs(self, compare):
        def catalog(mode: str) -> str:
            row = {"type": "File", "title": "/a", "file": "/x.pp", "line": 3, "parameters": {"mode": mode}}
            return json.dumps({"name": "a", "resources": [row], "edges": []}, indent=1)

        found = compare({"catalogs/a.json": catalog("0644")}, {"catalogs/a.json": catalog("0600")})

        assert [(one.spelled, one.before.data, one.after.data) for one in found.groups] == [
            ("File[/a].mode", "0644", "0600")
        ]

    def test_nodes_of_a_tree_without_facts_are_those_with_data(self, compare):
        before = {
            "hiera.yaml": TREE,
            "data/c.yaml": "port: 80\n",
            "data/nodes/web.yaml": "port: 81\n",
            "data/nodes/db.yaml": "x: 1\n",
        }

        found = compare(before, {**before, "data/c.yaml": "port: 82\n"})

        assert shown(found) == ["db: port 80 -> 82 because of data/c.yaml:1"]

    @pytest.mark.parametrize("change", ["HEAD", "HEAD~1..HEAD"])
    def test_facts_inside_the_repository_need_not_be_committed(self, repo, compare, change):
        levels = "version: 5\nhierarchy:\n- {name: r, path: 'role/%{role}.yaml'}\n"
        commit(repo, {"hiera.yaml": levels, "data/role/web.yaml": "port: 80\n"})
        commit(repo, {"data/role/web.yaml": "port: 81\n"})
        oracle.written({"told/w1.json": '{"role": "web"}', "data/role/web.yaml": "port: 82\n"}, repo)

        found = compare(change, repo, Request(os.path.realpath(repo), facts=str(repo / "told"), nodes=("w1",)))

        assert [(one.subjects, one.spelled) for one in found.groups] == [(("w1",), "port")]

    def test_who_asks_may_be_a_list_of_a_classifier(self, compare):
        before = {
            "hiera.yaml": "version: 5\nhierarchy:\n- {name: r, path: 'role/%{role}.yaml'}\n",
            "data/role/web.yaml": "port: 80\n",
            "enc.yaml": "w1: {parameters: {role: web}}\nd1: {parameters: {role: db}}\n",
        }

        found = compare(before, {**before, "data/role/web.yaml": "port: 81\n"}, Request(enc="enc.yaml"))

        assert [one.subjects for one in found.groups] == [("w1",)]

    def test_an_entry_of_a_classifier_is_a_map_or_null(self, compare):
        before = {"hiera.yaml": "version: 5\n", "data/common.yaml": "port: 80\n", "enc.yaml": "w1: production\n"}

        with pytest.raises(DocumentError, match="the classifier's entry for w1 is a map"):
            compare(before, {**before, "data/common.yaml": "port: 81\n"}, Request(enc="enc.yaml"))

        before["enc.yaml"] = "w1:\n"
        found = compare(before, {**before, "data/common.yaml": "port: 81\n"}, Request(enc="enc.yaml"))
        assert [one.subjects for one in found.groups] == [("w1",)]

    def test_nobody_to_ask_is_said(self, compare):
        with pytest.raises(NotFound, match="there are no nodes and no data"):
            compare({"a.txt": "1"}, {"a.txt": "2"})

    @pytest.mark.parametrize("file", ["roles/web/tasks/main.yml", "nodes/README.md"])
    def test_a_folder_that_only_looks_like_chef_has_nobody_to_ask(self, compare, file):
        """Roles of Ansible are folders, and a README describes no node."""
        with pytest.raises(NotFound, match="there are no nodes and no data"):
            compare({file: "- debug:\n"}, {file: "- debug: {}\n"})

    def test_a_dialect_without_subjects_is_not_among_those_that_were_asked(self, compare):
        files = {"hosts": "web1\n", "group_vars/all.yml": "port: 80\n", "roles/web/tasks/main.yml": "- debug:\n"}
        found = compare(files, {**files, "group_vars/all.yml": "port: 81\n"})

        assert [one.dialect for one in found.dialects] == ["ansible"]

    def test_a_file_of_a_role_is_not_known_for_a_single_host_either(self, compare):
        files = {"hosts": "web1\n", "group_vars/all.yml": "a: 1\n", "roles/web/defaults/main.yml": "port: 80\n"}
        found = compare(files, {**files, "roles/web/defaults/main.yml": "port: 81\n"}, Request(nodes=("web1",)))

        assert (found.is_certain, found.unseen) == (False, ["roles/web/defaults/main.yml"])

    def test_a_name_that_nobody_has_is_refused(self, compare):
        files = {"nodes/web1.json": '{"normal": {"a": 1}}'}

        with pytest.raises(NotFound, match="there is no subject wbe1"):
            compare(files, files, Request(nodes=("web1", "wbe1")))


class TestWhatWasRead:
    def test_everything_that_is_looked_at_is_noted(self, tmp_path):
        """
        Opened, looked for, listed, and the links on the way.
        """
        side = folder_side(oracle.written({"a/x": "1", "b/y": "2"}, tmp_path / "s"))
        os.symlink("a", side.top / "link")
        side = folder_side(side.top)

        with watched(side) as keys:
            (side.top / "link" / "x").read_text()
            os.path.exists(side.top / "none")
            list(os.scandir(side.top / "b"))
            Path(tmp_path / "elsewhere").exists()

        assert keys() == {"link", "a/x", "none", "b/"}

    def test_who_starts_a_program_may_have_read_anything(self, tmp_path):
        side = folder_side(oracle.written({"x": "1"}, tmp_path / "s"))

        with watched(side) as keys:
            subprocess.run(["true"], check=True)

        assert "*" in keys()


class TestSides:
    def test_one_revision_is_compared_with_the_work_tree(self, repo, compare):
        edit(repo, "roles/web.json", "80", "8080")

        found = compare("HEAD", repo)

        assert found.after == "the work tree"
        assert shown(found) == ["a,b: port 80 -> 8080 because of roles/web.json:4"]

    def test_three_dots_are_where_they_branched_off(self, repo, compare):
        git(repo, "checkout", "-q", "-b", "topic")
        edit(repo, "roles/web.json", "/srv", "/data")
        commit(repo)
        git(repo, "checkout", "-q", "main")
        edit(repo, "roles/web.json", "80", "81")
        commit(repo)

        assert [one.spelled for one in compare("main...topic", repo).groups] == ["dir"]
        assert [one.spelled for one in compare("main..topic", repo).groups] == ["dir", "port"]

    def test_the_work_tree_is_not_touched(self, repo, compare):
        edit(repo, "roles/web.json", "80", "81")
        commit(repo)
        edit(repo, "roles/web.json", "81", "82")
        before = git(repo, "status", "--porcelain"), (repo / ".git" / "index").read_bytes()

        compare("HEAD~1..HEAD", repo)

        assert before == (git(repo, "status", "--porcelain"), (repo / ".git" / "index").read_bytes())

    def test_a_repository_may_be_a_folder_of_a_larger_one(self, tmp_path, compare):
        folder = tmp_path / "mono"
        folder.mkdir()
        git(folder, "init", "-q")
        commit(folder, {f"chef/{file}": text for file, text in ROLES.items()} | {"other": "1"})
        edit(folder / "chef", "roles/web.json", "80", "81")
        commit(folder, {"other": "2"})

        found = compare("HEAD~1..HEAD", folder / "chef")

        assert [one.spelled for one in found.groups] == ["port"]
        assert set(found.files) == {"roles/web.json"}  # a file beside the folder is no change of it

    def test_a_folder_that_was_not_there_is_a_note(self, tmp_path, compare):
        folder = tmp_path / "mono"
        folder.mkdir()
        git(folder, "init", "-q")
        commit(folder, {"other": "1"})
        commit(folder, {f"chef/{file}": text for file, text in ROLES.items()})

        found = compare("HEAD~1..HEAD", folder / "chef")

        assert [one.added for one in found.dialects] == [("a", "b", "c", "d")]
        assert "HEAD~1 has no folder chef" in found.notes

    def test_links_lead_nowhere_else_and_submodules_are_named(self, repo, compare):
        os.symlink("/etc", repo / "out")
        os.symlink("../../..", repo / "roles" / "up")
        os.symlink("web.json", repo / "roles" / "www.json")
        commit(repo)
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(repo, 'rev-parse', 'HEAD').strip()},sub")
        git(repo, "commit", "-q", "-m", "sub")
        edit(repo, "roles/web.json", "80", "81")
        git(repo, "commit", "-q", "-am", "port")

        found = compare("HEAD~1..HEAD", repo)

        assert set(found.notes) == {
            "out is a link that leads out of the repository, and was not read",
            "roles/up is a link that leads out of the repository, and was not read",
            "sub is a submodule, and was not read",
        }

    @pytest.mark.parametrize("path", ["../x", "a/../../x", ".git/hooks/x", "a//b"])
    def test_a_name_that_leads_out_is_refused(self, repo, tmp_path, path):
        """
        git itself would not write such a tree; somebody else may.
        """
        mark = git(repo, "hash-object", "-w", "roles/web.json").strip()
        blob = f"100644 {path}\0".encode() + bytes.fromhex(mark)
        (tmp_path / "tree").write_bytes(blob)
        tree = git(repo, "hash-object", "-w", "-t", "tree", "--literally", str(tmp_path / "tree")).strip()
        made = git(repo, "commit-tree", tree, "-m", "odd").strip()

        with pytest.raises(BadName, match="leads out of the repository"):
            sides_of(f"{made}..HEAD", None, repo, tmp_path / "private")

    def test_binary_and_gone_files_are_one_place(self, repo, tmp_path):
        (repo / "blob").write_bytes(b"\0\1\2")
        commit(repo)
        (repo / "blob").write_bytes(b"\0\1\3")
        (repo / "roles" / "loud.json").unlink()
        commit(repo)

        hunks = Hunks(*sides_of("HEAD~1..HEAD", None, repo, tmp_path / "private"))

        assert {file: [hunk.whole for hunk in some] for file, some in hunks.all.items()} == {
            "blob": [True],
            "roles/loud.json": [True],
        }

    @pytest.mark.parametrize(
        ("made", "word", "error", "way_out"),
        [
            ("none", "HEAD", "git knows no repository", "name two folders"),
            ("empty", "HEAD", "git knows no commit 'HEAD'", "has no commit yet"),
            ("whole", "nope..HEAD", "git knows no commit 'nope'", "git log"),
            ("shallow", "HEAD~1..HEAD", "git knows no commit 'HEAD~1'", "shallow"),
            ("bare", "HEAD", "no work tree to compare with", "HEAD..HEAD"),
        ],
    )
    def test_what_git_does_not_have_is_said_with_the_way_out(self, repo, tmp_path, made, word, error, way_out):
        folder = tmp_path / made
        if made == "none":
            folder.mkdir()
        elif made == "empty":
            git(tmp_path, "init", "-q", made)
        else:
            commit(repo)
            options = {"shallow": ["--depth", "1"], "bare": ["--bare"]}.get(made, [])
            git(tmp_path, "clone", "-q", *options, f"file://{repo}", made)

        with pytest.raises(NotFound, match=error) as failed:
            sides_of(word, None, folder, tmp_path / "private")

        assert way_out in str(failed.value.hint)

    def test_options_are_no_revisions(self, repo, tmp_path):
        with pytest.raises(NoRevision):
            sides_of("--output=x..HEAD", None, repo, tmp_path / "private")

    def test_a_folder_that_is_none_is_said(self, tmp_path):
        with pytest.raises(NotFound, match="there is no folder"):
            sides_of(str(tmp_path / "old"), str(tmp_path), tmp_path, tmp_path / "private")

    def test_no_program_that_a_repository_names_is_started(self, repo, tmp_path):
        """
        Neither filters nor monitors nor text conversions.
        """
        flag = tmp_path / "started"
        for setting in ("filter.x.smudge", "filter.x.clean", "diff.x.textconv", "core.fsmonitor"):
            git(repo, "config", setting, f"touch {flag}; cat")
        oracle.written({".gitattributes": "*.json filter=x diff=x\n"}, repo)
        git(repo, "-c", "core.fsmonitor=false", "-c", "filter.x.clean=cat", "commit", "-qam", "x", "--allow-empty")
        flag.unlink(missing_ok=True)

        sides_of("HEAD~1..HEAD", None, repo, tmp_path / "private")

        assert not flag.exists()


def ended(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run(words)
    return code, capsys.readouterr().out


class TestOnTheCommandLine:
    @pytest.fixture(autouse=True)
    def _changed(self, repo, monkeypatch):
        edit(repo, "roles/web.json", "80", "8080")
        commit(repo)
        monkeypatch.chdir(repo)

    def test_impact_prints_groups_of_changes_and_counts(self, capsys):
        code, text = ended(["impact", "HEAD~1..HEAD"], capsys)

        assert code == 0
        assert "HEAD~1 -> HEAD: 1 file differs, 2 of 4 nodes change (nodes)" in text
        assert "~ 2 nodes: port  roles/web.json:4\n    80 -> 8080\n    a, b\n" in text
        assert "\n  nodes: 4 nodes\n" in text

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            ([], 0),
            (["--exit-code"], 1),
            (["--forbid", "port"], 1),
            (["--forbid", "**"], 1),
            (["--forbid", "dir.**"], 0),
            (["--ignore-path", "po*", "--exit-code"], 0),
            (["--max-nodes", "1"], 1),
            (["--max-nodes", "2"], 0),
            (["--node", "d", "--exit-code"], 0),
            (["--sample", "0"], 2),
        ],
    )
    def test_the_exit_code_says_whether_it_may(self, words, code, capsys):
        assert ended(["impact", "HEAD~1..HEAD", *words], capsys)[0] == code

    def test_a_node_that_is_broken_fails(self, repo, capsys):
        edit(repo, "nodes/a.json", "role[web]", "role[wbe]")

        assert ended(["impact", "HEAD"], capsys)[0] == 1

    def test_json_has_all_of_it(self, capsys):
        _, text = ended(["impact", "HEAD~1..HEAD", "--format", "json"], capsys)

        (change,) = json.loads(text)["changes"]
        assert change["because"] == [{"file": "roles/web.json", "line": 4, "gone": False}]
        assert (change["before"]["value"], change["after"]["value"]) == (80, 8080)
        assert change["subjects"] == ["a", "b"]

    def test_sarif_has_the_line(self, capsys):
        _, text = ended(["impact", "HEAD~1..HEAD", "--format", "sarif", "--forbid", "port"], capsys)

        (result,) = json.loads(text)["runs"][0]["results"]
        assert (result["ruleId"], result["level"]) == ("NA0461", "error")
        assert result["message"]["text"].startswith("2 nodes: port: 80 -> 8080")
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4

    def test_sarif_says_why_a_node_is_broken(self, repo, capsys):
        edit(repo, "nodes/a.json", "role[web]", "role[wbe]")
        _, text = ended(["impact", "HEAD", "--format", "sarif"], capsys)

        (result,) = json.loads(text)["runs"][0]["results"]
        assert result["message"]["text"].startswith("1 node: can no longer be resolved: there is no role wbe")

    def test_markdown_is_the_same_each_time(self, capsys):
        texts = {ended(["impact", "HEAD~1..HEAD", "--format", "markdown"], capsys)[1] for _ in range(2)}

        assert len(texts) == 1
        assert all("<details><summary>2 nodes: port: 80 → 8080</summary>" in text for text in texts)

    def test_without_code_cookbooks_are_left_out(self, repo, capsys, monkeypatch):
        oracle.written({"cookbooks/x/recipes/default.py": "raise SystemExit('ran')\n"}, repo)
        edit(repo, "nodes/d.json", "[]", '["recipe[x]"]')
        commit(repo)

        code, _ = ended(["impact", "HEAD~1..HEAD", "--no-run-code", "--forbid", "**"], capsys)

        assert code == 1  # its run-list is another one

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (["--without", "role[loud]"], "- 1 node: port"),
            (["--without", "roles/loud.json:4"], "~ 1 node: port  roles/loud.json:4 (gone)"),
            (["--without", "roles/loud.json"], "! 1 node: can no longer be resolved"),
            (["--set", "port=1"], "~ 2 nodes: port"),
            (["--set", "deep.er=[1]"], "+ 4 nodes: deep.er"),
        ],
    )
    def test_what_if_prints_groups_of_changed_nodes(self, words, expected, capsys):
        """
        On c the override wins over a normal attribute.
        """
        assert expected in ended(["what-if", *words], capsys)[1]

    def test_nodes_start_from_their_last_run(self, repo, tmp_path, capsys):
        """
        A node that the store alone knows, with the facts that it had; a normal attribute stays.
        """
        (tmp_path / "facts.json").write_text('{"platform": "debian", "fqdn": "kept"}')
        run(["run", "--node", "kept", "--run-list", "role[web]", "--facts", str(tmp_path / "facts.json"), "--new"])
        edit(repo, "roles/web.json", "8080", "8081")
        capsys.readouterr()

        words = ["impact", "HEAD", "--from-store", ".nodeattrs/nodes.db", "--node", "kept"]
        text = ended(words, capsys)[1]

        assert "~ 1 node: port  roles/web.json:4" in text
        assert "no facts are known" not in text

    def test_processes_give_the_same(self, capsys):
        """
        Two of them.
        """
        texts = {
            ended(["impact", "HEAD~1..HEAD", "--jobs", jobs], capsys)[1].partition("\n\n  nodes:")[0] for jobs in "12"
        }

        assert len(texts) == 1

    def test_what_if_of_nothing_that_is_there_names_what_is(self, capsys):
        assert run(["what-if", "--without", "roles/lod.json"]) == 1
        assert "roles/loud.json" in capsys.readouterr().err


class TestMarkdown:
    def test_markdown_of_impact_fits_into_a_comment(self):
        """
        The rest is counted.
        """
        value = [{"data": "x" * 900, "is_there": True}]
        made = compare_many(400, value)

        text = ImpactReport(made).markdown()

        assert len(text) < MOST + 1_000
        assert re.search(r"\.\.\. and \d+ changes more, too many for a comment", text)

    def test_lines_without_effect_and_notes_beyond_forty_are_counted(self):
        line = LineWithoutEffect("nodes", Line("a.json", 1), ("a",), ("b" * 500,), 1)
        made = Impact("one", "two", silent=[line] * 43, notes=[f"note {n}" for n in range(41)])

        text = ImpactReport(made).markdown()

        assert text.count("\n- `a.json:1") == 40
        assert "\n- and 3 lines more\n" in text
        assert text.count("…") == 40
        assert "note 39" in text
        assert "<sub>and 1 note more</sub>" in text

    def test_markdown_of_impact_has_room_for_its_end(self):
        made = compare_many(400, [{"data": "x" * 900, "is_there": True}])
        made.notes += ["x" * 1_000] * 40

        assert len(ImpactReport(made).markdown()) <= MOST

    def test_nothing_in_it_is_markup_of_somebody_else(self):
        made = compare_many(1, [{"data": "</details><script>|`*", "is_there": True}], name="<b>_x_")

        text = ImpactReport(made).markdown()

        outside = "".join(text.split("`")[::2])  # what stands in backquotes is left alone
        assert "<script>" not in outside
        assert "<b>" not in outside


def compare_many(count: int, values: list[dict[str, Any]], name: str = "n") -> Impact:
    from nodeattrs.verbs.comparing import Value
    from nodeattrs.verbs.impact import DialectAnswers

    before, after = Value(json.dumps(values)), Value(values[0]["data"])
    groups = [ChangeGroup("nodes", "attribute", (f"a{at}",), before, after, (), (name,)) for at in range(count)]
    return Impact("one", "two", (), [DialectAnswers("nodes", 1)], groups)


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "path", "fits"),
        [
            ("apache2.**", ("apache2", "port"), True),
            ("apache2.**", ("apache2",), True),
            ("apache2.**", ("apache", "port"), False),
            ("**.password", ("a", "b", "password"), True),
            ("*.port", ("a", "port"), True),
            ("*.port", ("a", "b", "port"), False),
            ("profile::*", ("profile::web", "port"), False),
            ("profile::*.**", ("profile::web", "port"), True),
            ("File[/etc/*].content", ("File[/etc/a.b]", "content"), True),
            ("File[/etc/*].content", ("File[/var/a]", "content"), False),
        ],
    )
    def test_a_pattern_means_paths(self, pattern, path, fits):
        assert Pattern(pattern).fits(path) is fits


class TestSecretsInTrees:
    def test_another_secret_is_a_change(self):
        assert [one.path for one in changes({"a": Sensitive("x")}, {"a": Sensitive("y")})] == [("a",)]
        assert not changes({"a": Sensitive("x")}, {"a": Sensitive("x")})


class TestDepth:
    def test_what_is_nested_too_deep_to_compare_differs_as_a_whole(self):
        """Whatever stands beside it is compared as ever."""
        deep: list[object] = []
        for _ in range(1_500):
            deep = [deep]
        sides = ({"attribute": Part(tree, lambda _: ())} for tree in ({"a": 1, "b": 1}, {"a": deep, "b": 2}))

        a, b = differences(*sides, ("/x", "/y"))

        assert (("a",), "nested too deep to compare") == (a.path, a.after.data)
        assert (("b",), 1, 2) == (b.path, b.before.data, b.after.data)


class TestSharedFacts:
    def test_a_tree_that_shares_them_is_the_same(self):
        """
        What is compared, of each node of the example.
        """
        from nodeattrs.dialects.chef.facts import load_facts
        from nodeattrs.dialects.chef.repository.repository import Repository
        from nodeattrs.dialects.chef.run.run import run_node

        repository = Repository(EXAMPLE)
        for name in repository.nodes():
            node = run_node(repository, name, facts=load_facts(EXAMPLE / f"facts/{name}.json")).node
            assert merged_shared(node) == node.to_dict(evaluate=False)


class TestAgainstBruteForce:
    @pytest.mark.parametrize("number", range(examples(24, fewest=8)))
    def test_nothing_is_missed_or_invented_and_lines_are_causes(self, number):
        """
        The long runs are python -m tests.oracles.impact.
        """
        assert oracle.one(number, seed=7) == []

    def test_the_runner_counts(self, capsys):
        assert oracle.main(["--count", "2", "--seed", "3"]) == 0
        assert capsys.readouterr().out.endswith("2 passed, 0 failed\n")


def test_a_git_that_is_not_there_is_said(repo, monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(NotFound, match="git is not installed"):
        Git(repo)


def test_a_side_knows_what_it_holds(tmp_path):
    """
    Files, folders and the names in them have marks; what is not there has none.
    """
    side: Side = folder_side(oracle.written({"a/b": "1"}, tmp_path / "s"))

    assert side.mark("a") == "folder"
    assert all(map(side.mark, ("a/b", "a/")))
    assert not any(map(side.mark, ("a/c", "b/")))


class TestWhatIsNotKnown:
    """`impact` says "nothing changes" only where every subject was resolved and every changed file was read."""

    def answer(self, folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
        code, text = ended(["impact", "HEAD", "--repo", str(folder), *words], capsys)
        _, data = ended(["impact", "HEAD", "--repo", str(folder), *words, "--format", "json"], capsys)
        return code, json.loads(data), text.splitlines()[0]

    def test_a_node_that_cannot_be_resolved_on_either_side(self, repo, capsys):
        commit(repo, {"nodes/a.json": '{"name": "a", "run_list": ["role[web]", "role[gone]"]}\n'})
        edit(repo, "roles/web.json", "80", "81")

        code, data, head = self.answer(repo, capsys, "--node", "a")

        assert (code, data["certain"]) == (5, False)
        assert head.endswith("1 file differs, no change was found; not known: 1 of 1 node (nodes)")
        assert "1 of 4 nodes (nodes)" in self.answer(repo, capsys)[2]

    def test_a_deferred_value_that_cannot_be_computed_on_either_side(self, repo, capsys):
        recipe = "from nodeattrs.recipe import lazy, node\nnode.default['x'] = lazy(lambda: 1 / 0)\n"
        commit(
            repo,
            {
                "cookbooks/a/recipes/default.py": recipe,
                "cookbooks/a/metadata.yaml": "{name: a, version: 1.0.0}\n",
                "nodes/a.json": '{"name": "a", "run_list": ["role[web]", "a"]}\n',
            },
        )
        edit(repo, "cookbooks/a/recipes/default.py", "1 / 0", "2 / 0")

        code, data, head = self.answer(repo, capsys, "--node", "a")

        assert (code, data["certain"]) == (5, False)
        assert head.endswith("1 file differs, no change was found; not known: 1 of 1 node (nodes)")

    def test_such_a_node_does_not_matter_where_no_file_of_a_dialect_changes(self, repo, capsys):
        commit(repo, {"nodes/a.json": '{"name": "a", "run_list": ["role[gone]"]}\n', "docs/notes.md": "one"})
        edit(repo, "docs/notes.md", "one", "two")

        code, data, head = self.answer(repo, capsys)

        assert (code, data["certain"]) == (0, True)
        assert head.endswith("1 file differs, nothing changes")
        assert data["outcomes"] == [{"file": "docs/notes.md", "outcome": "is read by no dialect"}]

    @pytest.mark.parametrize("file", ["recipes/default.rb", "attributes/default.rb"])
    def test_code_in_ruby_that_was_not_run(self, repo, capsys, file):
        cookbook = {"cookbooks/app/metadata.rb": "name 'app'\n", f"cookbooks/app/{file}": "node.override['p'] = 1\n"}
        cookbook = {"cookbooks/app/recipes/default.rb": "# nothing\n"} | cookbook
        commit(repo, cookbook | {"nodes/a.json": '{"name": "a", "run_list": ["recipe[app]"]}\n'})
        edit(repo, f"cookbooks/app/{file}", "= 1", "= 2")

        code, data, head = self.answer(repo, capsys)

        assert (code, data["certain"]) == (5, False)
        assert "not known: 1 file not run, or naming what was not read" in head
        assert data["unread"][0]["place"] == f"cookbooks/app/{file}"

    @pytest.mark.parametrize(("file", "code"), [("environments/prod.json", 5), ("docs/prod.json", 0)])
    @pytest.mark.parametrize("is_known", [False, True])
    def test_an_environment_counts_where_roles_stand_for_nodes(self, repo, capsys, file, code, is_known):
        git(repo, "rm", "-q", "-r", "nodes")
        node = {"nodes/a.json": '{"name": "a", "run_list": ["role[web]"]}\n'} if is_known else {}
        commit(repo, node | {file: '{"name": "prod", "override_attributes": {"a": 1}}\n'})
        edit(repo, file, "1", "2")

        assert self.answer(repo, capsys)[0] == (0 if is_known else code)

    @pytest.mark.parametrize(
        ("file", "name", "outcome"),
        [
            ("Berksfile.lock", "gone", "was not run, or names what was not read"),
            ("Berksfile.lock", "app", "is read by no dialect"),
            ("policyfiles/web.lock.json", "gone", "was not run, or names what was not read"),
            ("policyfiles/web.lock.json", "app", "is read by no subject"),
            ("web.lock.json", "gone", "was not run, or names what was not read"),
        ],
    )
    def test_a_lock_of_cookbooks_counts_where_a_cookbook_is_not_there(self, repo, capsys, file, name, outcome):
        cookbook = {"cookbooks/app/metadata.json": '{"name": "app"}', "cookbooks/app/recipes/default.py": "x = 1\n"}
        node = {"nodes/a.json": f'{{"name": "a", "run_list": ["recipe[{name}]"]}}\n'}
        commit(repo, cookbook | node | {file: '{"gone": "1.0.0"}\n'})
        edit(repo, file, "1.0.0", "2.0.0")

        code, data, _ = self.answer(repo, capsys)

        assert data["outcomes"] == [{"file": file, "outcome": outcome}]
        assert (code, data["certain"]) == ((0, True) if name == "app" else (5, False))

    @pytest.mark.parametrize("is_installed", [False, True])
    def test_a_puppetfile_counts_where_a_module_is_not_installed(self, repo, capsys, is_installed):
        site = {"hiera.yaml": "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n", "data/c.yaml": "ntp::k: 1\n"}
        module = {"modules/ntp/manifests/init.pp": "class ntp { }\n"} if is_installed else {}
        commit(repo, site | module | {"Puppetfile": "mod 'puppetlabs-ntp', '1.0.0'\n"})
        edit(repo, "Puppetfile", "1.0.0", "2.0.0")

        code, data, _ = self.answer(repo, capsys, "--dialect", "hiera")

        assert (code, data["certain"]) == ((0, True) if is_installed else (5, False))
        assert [one["place"] for one in data["unread"]] == ([] if is_installed else ["Puppetfile"])

    def test_another_commit_of_a_submodule_with_a_cookbook_may_change_its_nodes(self, repo, capsys):
        node = '{"name": "a", "run_list": ["recipe[web]"]}\n'
        settings = '[chef]\nmissing_cookbooks = "warn"\n'
        commit(repo, {"nodes/a.json": node, "nodeattrs.toml": settings, ".gitmodules": "\tpath = cookbooks/web\n"})
        for number in "12":
            git(repo, "update-index", "--add", "--cacheinfo", f"160000,{number * 40},cookbooks/web")
            git(repo, "commit", "-q", "-m", number)

        words = ["impact", "HEAD~1..HEAD", "--repo", str(repo), "--format", "json", "--dialect", "nodes"]
        code, text = ended(words, capsys)

        assert (code, json.loads(text)["certain"]) == (5, False)

    def test_another_commit_of_a_submodule_with_data_may_change_anything(self, repo, capsys):
        level = "{name: c, datadir: hieradata, path: c.yaml}"
        commit(repo, {"hiera.yaml": f"version: 5\nhierarchy: [{level}]\n", ".gitmodules": "\tpath = hieradata\n"})
        for number in "12":
            git(repo, "update-index", "--add", "--cacheinfo", f"160000,{number * 40},hieradata")
            git(repo, "commit", "-q", "-m", number)

        words = ["impact", "HEAD~1..HEAD", "--repo", str(repo), "--format", "json", "--dialect", "hiera"]
        code, text = ended(words, capsys)
        data = json.loads(text)

        assert (code, data["certain"]) == (5, False)
        assert [one["place"] for one in data["unread"]] == ["hieradata"]

    def test_cookbooks_that_are_left_out(self, repo, capsys):
        cookbook = {"cookbooks/app/metadata.json": '{"name": "app"}', "cookbooks/app/recipes/default.py": "x = 1\n"}
        commit(repo, cookbook | {"nodes/a.json": '{"name": "a", "run_list": ["recipe[app]"]}\n'})
        edit(repo, "cookbooks/app/recipes/default.py", "1", "2")

        assert self.answer(repo, capsys, "--no-run-code")[0] == 5
        assert self.answer(repo, capsys)[0] == 0
        assert self.answer(repo, capsys, "--no-run-code", "--allow-unknown")[0] == 0

    def test_a_role_that_no_node_has_is_named_and_certain(self, repo, capsys):
        commit(repo, {"roles/spare.json": '{"name": "spare", "default_attributes": {"a": 1}}\n'})
        edit(repo, "roles/spare.json", "1", "2")

        code, data, _ = self.answer(repo, capsys)

        assert (code, data["certain"]) == (0, True)
        assert data["outcomes"] == [{"file": "roles/spare.json", "outcome": "is read by no subject"}]

    def test_an_encrypted_file_that_is_another_one(self, repo, capsys):
        vault = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
        inventory = {"ansible.cfg": "[defaults]\ninventory = hosts\n", "hosts": "[web]\nweb1\n"}
        commit(repo, inventory | {"group_vars/all.yml": vault})
        edit(repo, "group_vars/all.yml", "6162", "6163")

        code, data, _ = self.answer(repo, capsys, "--dialect", "ansible")

        assert (code, data["certain"]) == (5, False)
        assert [one["place"] for one in data["unread"]] == ["group_vars/all.yml"]

    def test_after_an_interrupt_no_further_subject_of_any_dialect_is_compared(self, compare):
        asked = []

        def interrupted(count: int, outcomes: Callable[..., Any], take: Callable[..., Any]) -> int:
            asked.append(count)
            take(next(iter(outcomes(lambda: False))))
            return 1

        files = ROLES | hiera("nodes/%{trusted.certname}.yaml")
        found = compare(files, {**files, "roles/web.json": WEB.replace("80", "81")}, through=interrupted)
        hiera_nodes = next(one for one in found.dialects if one.dialect == "hiera")

        assert [4] == asked
        assert found.left == 3 + hiera_nodes.known
        assert not found.is_certain
        text = [*ImpactReport(found).lines(Screen(80))]
        assert f"not known: {found.left} subjects not computed" in text[0]
        assert not any("read no changed file" in line for line in text)

    def test_a_sample_says_so_where_it_has_no_change(self, repo, capsys):
        edit(repo, "roles/loud.json", "99", "98")
        heads = {self.answer(repo, capsys, "--dialect", "nodes", "--sample", str(count))[2] for count in (1, 2, 3)}

        assert any(head.endswith("no change was found in the sample") for head in heads)
        assert not any("nothing changes" in head for head in heads)

    def test_files_that_git_ignores_are_no_change(self, repo, capsys):
        commit(repo, {".gitignore": "*.log\nbuild/\n"})
        (repo / "build").mkdir()
        for file in ("tmp.log", "build/x.json"):
            (repo / file).write_text("1")

        code, data, _ = self.answer(repo, capsys)

        assert (code, data["files"]) == (0, [])

    @pytest.mark.parametrize("form", ["github", "sarif", "gitlab", "junit", "markdown"])
    def test_each_form_says_it(self, repo, capsys, form):
        commit(repo, {"nodes/a.json": '{"name": "a", "run_list": ["role[web]", "role[gone]"]}\n'})
        edit(repo, "roles/web.json", "80", "81")

        code, text = ended(["impact", "HEAD", "--repo", str(repo), "--node", "a", "--format", form], capsys)

        assert code == 5
        assert "not known: 1 of 1 node (nodes)" in text


def hiera(path: str) -> Files:
    return {
        "hiera.yaml": f"version: 5\nhierarchy:\n- name: own\n  path: '{path}'\n- name: all\n  path: common.yaml\n",
        "data/common.yaml": "k: 1\n",
    }


class TestNodesOfHieraWithoutFacts:
    """Nodes are found by the files that a path names after them."""

    @pytest.mark.parametrize(
        "variable",
        [
            "trusted.certname",
            "trusted.hostname",
            "facts.clientcert",
            "clientcert",
            "::clientcert",
            "facts.networking.fqdn",
            "networking.fqdn",
            "facts.networking.hostname",
            "facts.fqdn",
            "::fqdn",
            "facts.hostname",
            "::hostname",
        ],
    )
    def test_a_file_after_a_name_is_a_node(self, compare, variable):
        files = hiera(f"nodes/%{{{variable}}}.yaml") | {"data/nodes/web1.yaml": "k: 2\n"}

        found = compare(files, files | {"data/nodes/web1.yaml": "k: 3\n"})

        assert [(one.spelled, one.subjects) for one in found.groups] == [("k", ("web1",))]

    def test_a_file_that_a_glob_without_wildcards_names_is_a_node(self, compare):
        """A glob with a wildcard gives none."""
        levels = "globs: ['nodes/%{trusted.certname}.yaml', 'all/*.yaml', 'site/%{site}/*.yaml']"
        files = {"hiera.yaml": f"version: 5\nhierarchy:\n- {{name: n, {levels}}}\n", "data/nodes/web1.yaml": "k: 2\n"}
        files |= {"data/all/c.yaml": "l: 1\n", "data/site/x/c.yaml": "m: 1\n"}

        found = compare(files, files | {"data/nodes/web1.yaml": "k: 3\n", "data/all/c.yaml": "l: 2\n"})

        assert [(one.spelled, one.subjects) for one in found.groups] == [("k", ("web1",)), ("l", ("web1",))]

    def test_a_file_after_a_role_is_a_subject_of_that_role(self, compare):
        files = hiera("role/%{facts.role}.yaml") | {"data/role/web.yaml": "k: 2\n"}

        found = compare(files, files | {"data/role/web.yaml": "k: 3\n"})

        assert [(one.spelled, one.subjects) for one in found.groups] == [("k", ("role=web",))]

    @pytest.mark.parametrize("variable", ["trusted.certname", "facts.role"])
    def test_without_the_level_of_its_file_a_subject_loses_values_and_is_not_removed(self, compare, variable):
        files = hiera(f"own/%{{{variable}}}.yaml") | {"data/own/web.yaml": "l: 2\n"}
        without = hiera("nosuch.yaml")["hiera.yaml"]

        found = compare(files, files | {"hiera.yaml": without})

        name = "web" if variable == "trusted.certname" else "role=web"
        assert (found.dialects[0].added, found.dialects[0].removed) == ((), ())
        assert [(one.spelled, one.sign, one.subjects) for one in found.groups if name in one.subjects] == [
            ("l", "removed", (name,))
        ]

    def test_a_node_whose_file_is_gone_from_the_data_is_removed(self, compare):
        files = hiera("nodes/%{trusted.certname}.yaml") | {"data/nodes/web1.yaml": "", "data/nodes/web2.yaml": ""}

        assert compare(files, {**files, "data/nodes/web1.yaml": "k: 2\n"}).dialects[0].removed == ()
        del (after := {**files})["data/nodes/web1.yaml"]
        assert compare(files, after).dialects[0].removed == ("web1",)

    def test_the_effect_of_a_level_is_not_known_where_facts_that_are_not_here_choose_its_file(self, compare):
        files = hiera("x/%{facts.site}/%{facts.role}.yaml") | {"data/x/berlin/web.yaml": "l: 2\n"}

        found = compare(files, files | {"hiera.yaml": hiera("nosuch.yaml")["hiera.yaml"]})

        assert (found.groups, found.is_certain, found.not_run) == ([], False, ["hiera.yaml"])

    def test_a_file_that_another_level_names_is_no_role(self, compare):
        files = hiera("%{facts.role}.yaml") | {"data/web.yaml": "k: 2\n"}

        found = compare(files, files | {"data/common.yaml": "k: 3\n", "data/web.yaml": "k: 4\n"})

        assert [one.subjects for one in found.groups] == [("role=web",)]

    def test_a_file_of_two_variables_that_are_not_set_is_not_known(self, compare):
        files = hiera("%{facts.site}/%{facts.role}.yaml") | {"data/berlin/web.yaml": "k: 2\n"}

        found = compare(files, files | {"data/berlin/web.yaml": "k: 3\n"})

        assert (found.groups, found.is_certain, found.not_run) == ([], False, ["data/berlin/web.yaml"])

    @pytest.mark.parametrize("path", ["/{outside}/%{facts.role}.yaml", "../%{facts.role}.yaml"])
    def test_a_path_that_leads_out_is_not_looked_for_and_not_known(self, compare, path):
        found = compare(hiera(path), hiera(path) | {"data/common.yaml": "k: 3\n"})

        assert [one.spelled for one in found.groups] == ["k"]

    @pytest.mark.parametrize(
        ("config", "datadir", "file"),
        [
            ("environments/production/hiera.yaml", "data", "environments/staging/data/c.yaml"),
            ("hiera.yaml", "data/%{environment}", "data/staging/c.yaml"),
            ("hiera.yaml", "%{environment}", "staging/c.yaml"),
            ("hiera.yaml", ".", "c.staging.yaml"),
            ("site/app/hiera.yaml", "own", "site/app/own/staging.yaml"),
        ],
    )
    def test_data_of_another_environment_are_not_known(self, compare, config, datadir, file):
        text = f"version: 5\nhierarchy: [{{name: c, path: c.yaml, datadir: '{datadir}'}}]\n"
        files = {config: text, config.replace("production", "staging"): text, file: "k: 1\n"}
        if config.startswith("site"):
            files |= {"hiera.yaml": "version: 5\n", "environment.conf": "modulepath = site\n"}

        found = compare(files, files | {file: "k: 2\n"}, Request(places=(("hiera", "."),)))

        assert (found.groups, found.is_certain, found.unseen) == ([], False, [file])

    def test_a_file_that_may_count_and_cannot_be_read_may_set_anything(self, compare):
        files = hiera("%{facts.site}/%{facts.role}.yaml") | {"data/berlin/web.yaml": "k: [\n"}

        found = compare(files, files | {"data/berlin/web.yaml": "k: [[\n"})

        assert (found.is_certain, found.not_run) == (False, ["data/berlin/web.yaml"])

    def test_no_node_at_all_that_can_be_resolved(self, compare):
        files = hiera("own.yaml") | {"data/own.yaml": "a: [\n"}

        found = compare(files, files | {"data/common.yaml": "k: 3\n"})

        assert not found.is_certain


class TestWhatIsNotRead:
    """A change beside what was not read is told as one that may be another."""

    def test_a_change_below_an_encrypted_file_names_the_file(self, repo, capsys):
        commit(
            repo,
            {
                "nodeattrs.toml": '[fold.site]\nfiles = ["a.yaml", "b.yaml"]\n',
                "a.yaml": "k: 1\n",
                "b.yaml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
            },
        )
        edit(repo, "a.yaml", "1", "2")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--jobs", "1"]) == 5
        head = capsys.readouterr().out.splitlines()[0]
        assert "1 of 1 fold changes (folds)" in head
        assert "not known: the values of 1 change: b.yaml:1" in head

    def test_a_change_above_it_is_certain(self, repo, capsys):
        commit(
            repo,
            {
                "nodeattrs.toml": '[fold.site]\nfiles = ["b.yaml", "a.yaml"]\n',
                "a.yaml": "k: 1\n",
                "b.yaml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
            },
        )
        edit(repo, "a.yaml", "1", "2")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--jobs", "1"]) == 1
        assert "not known" not in capsys.readouterr().out

    def test_recipes_without_any_node_are_read_by_nobody(self, repo, capsys):
        git(repo, "rm", "-q", "-r", ".")
        recipe = "cookbooks/app/recipes/default.rb"
        commit(repo, {"cookbooks/app/metadata.json": '{"name": "app"}', recipe: "node.default['k'] = 1\n"})
        edit(repo, recipe, "1", "2")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--jobs", "1", "--no-run-code"]) == 5
        assert "not known: 1 file read by no subject" in capsys.readouterr().out

    def test_a_new_subject_of_another_dialect_reads_no_recipes(self, repo, capsys):
        git(repo, "rm", "-q", "-r", ".")
        recipe = "cookbooks/app/recipes/default.rb"
        commit(repo, {"cookbooks/app/metadata.json": '{"name": "app"}', recipe: "node.default['k'] = 1\n"})
        edit(repo, recipe, "1", "2")
        (repo / "web.yaml").write_text("#cloud-config\nhostname: a\n")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--jobs", "1", "--no-run-code"]) == 5
        out = capsys.readouterr().out
        assert "1 set added" in out
        assert "not known: 1 file read by no subject" in out

    def test_a_new_host_does_not_hide_what_plays_read(self, repo, capsys):
        files = {"ansible.cfg": "[defaults]\ninventory = hosts\n", "hosts": "web1\n"}
        commit(repo, files | {"roles/app/defaults/main.yml": "k: 1\n"})
        edit(repo, "hosts", "web1", "web1\nweb2")
        (repo / "host_vars").mkdir()
        (repo / "host_vars/web2.yml").write_text("k: 2\n")
        words = ["impact", "HEAD", "--repo", str(repo), "--dialect", "ansible"]

        assert nodeattrs(words) == 0
        edit(repo, "roles/app/defaults/main.yml", "1", "2")
        assert nodeattrs(words) == 5
        assert "not known: 1 file read by no subject" in capsys.readouterr().out

    def test_a_page_beside_roles_sets_nothing(self, repo, capsys):
        git(repo, "rm", "-q", "-r", ".")
        commit(repo, {"nodes/web1.json": "{}", "environments/README.md": "one\n"})
        edit(repo, "environments/README.md", "one", "two")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--no-run-code"]) == 0
        assert "nothing changes" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("named", "place", "code"),
        [
            ("inventories/a", None, 5),
            ("inventories", None, 0),
            ("inventories/b/hosts", None, 0),
            ("inventories/a", "inventories/a", 0),
        ],
    )
    def test_an_inventory_that_ansible_cfg_passes_over_is_not_known(self, repo, capsys, named, place, code):
        cfg = {"ansible.cfg": f"[defaults]\ninventory = {named}\n", "group_vars/all.yml": "k: 1\n"}
        commit(repo, cfg | {"inventories/a/hosts": "a1 port=1\n", "inventories/b/hosts": "b1 port=1\n"})
        edit(repo, "inventories/b/hosts", "=1", "=2")

        words = [] if place is None else ["-i", str(repo / place)]
        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--dialect", "ansible", *words]) == code
        assert ("b1" in capsys.readouterr().out) is (named in ("inventories", "inventories/b/hosts"))

    @pytest.mark.parametrize(
        ("file", "code"),
        [
            ("roles/app/defaults/main.yml", 5),
            ("requirements.yml", 5),
            ("group_vars/nobody.yml", 0),
            ("README.md", 0),
            (".github/ci.yml", 0),
        ],
    )
    def test_impact_is_uncertain_where_a_file_of_plays_changes(self, repo, capsys, file: str, code: int):
        """The inventory alone is asked; variables of a group that is not there concern nobody."""
        commit(repo, {"ansible.cfg": "[defaults]\ninventory = hosts\n", "hosts": "web1\n", file: "k: 1\n"})
        edit(repo, file, "1", "2")

        assert nodeattrs(["impact", "HEAD", "--repo", str(repo), "--exit-code", "--jobs", "1"]) == code
        assert ("nothing changes" in capsys.readouterr().out) == (file == "README.md")
