"""Whose variables a task sees where roles are there more than once, import and include each other: as Ansible has it.

Each tree was a difference from the real ansible-core 2.19 once, and is small here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs.ansible import Inventory, Playbook

T = {"name": "t", "debug": {"msg": "x"}}


def tree(folder: Path, roles: dict[str, Any], play: dict[str, Any], config: str = "", **files: Any) -> Playbook:
    """A playbook of one play over one host.

    roles: by name what each depends on, and its tasks after a first one, `in NAME`; each sets `d` in its defaults and
           `v` in its vars
    """
    written: dict[str, Any] = {"site.yml": [{"hosts": "all", "gather_facts": False, **play}]}
    for name, (needs, tasks) in roles.items():
        home = f"roles/{name}"
        written |= {f"{home}/defaults/main.yml": {"d": name}, f"{home}/vars/main.yml": {"v": name}}
        written |= {f"{home}/tasks/main.yml": [{"name": f"in {name}", "debug": {}}, *tasks]}
        written |= {f"{home}/meta/main.yml": {"dependencies": needs}}
    for file, data in {**written, **files}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(yaml.safe_dump(data, sort_keys=False))
    (folder / "ansible.cfg").write_text(f"[defaults]\n{config}\n")
    return Playbook(Inventory("h1,", folder=folder, environment={}), "site.yml")


def importing(role: str, **how: Any) -> dict[str, Any]:
    return {"import_role": {"name": role, **how}}


def including(role: str, **own: Any) -> dict[str, Any]:
    return {"include_role": {"name": role}, "vars": own}


CLOSED = {"a": ([], [importing("b", public=False)]), "b": ([], [importing("c")]), "c": ([], [])}
OPEN = {"a": ([], [importing("b")]), "b": ([], [importing("c", public=True)]), "c": ([], [])}
AGAIN = {"a": (["b"], [importing("b")]), "b": ([], [importing("c")]), "c": ([], [])}
BLUE = {"role": "d", "tags": ["blue"]}


@pytest.mark.parametrize(
    ("roles", "play", "config", "task", "expected"),
    [
        (CLOSED, {"roles": ["a"]}, "", "t", {"d": "c", "v": "c"}),
        (OPEN, {"roles": ["a"]}, "private_role_vars = true", "t", {"d": "c", "v": "c"}),
        (AGAIN, {"roles": ["a", "b"]}, "", "t", {"d": "c", "v": "c"}),
        (AGAIN, {"roles": ["a"]}, "", "t", {"d": "b", "v": "b"}),
        (CLOSED, {"tasks": [T, including("b")]}, "", "in b", {"d": "b", "v": "b"}),
        (CLOSED, {"tasks": [including("b"), T]}, "", "t", {"d": "c", "v": "c"}),
        ({"b": (["c", "d"], []), "c": (["d"], []), "d": ([], [])}, {"roles": ["b"]}, "", "in b", {"v": "b", "d": "b"}),
    ],
    ids=["closed", "private", "again", "imported", "included", "after", "own"],
)
def test_what_joins_the_play_counts_in_the_order_of_joining(
    tmp_path: Path, roles: Any, play: Any, config: str, task: str, expected: dict[str, str]
):
    """A role that is imported closed closes itself only, and each entry of a play brings its imports once more."""
    answer = tree(tmp_path, roles, {"tasks": [T], **play}, config).task(task, "h1")

    assert answer is not None
    assert {name: answer.vars.get(name) for name in expected} == expected


@pytest.mark.parametrize(("first", "winner"), [("d", "c"), (BLUE, "d"), ({"role": "d", "when": "x"}, "d")])
def test_tags_and_conditions_make_another_instance(tmp_path: Path, first: Any, winner: str):
    """One that is there twice in the same way counts at its first place."""
    roles: dict[str, Any] = {"b": (["c", "d"], []), "c": ([first], []), "d": ([], [])}
    silent = {"roles/b/vars/main.yml": {}}
    answer = tree(tmp_path, roles, {"roles": ["b"], "tasks": [T]}, **silent).task("t", "h1")

    assert answer is not None
    assert answer.vars["v"] == winner


@pytest.mark.parametrize(
    ("tasks", "task", "expected"),
    [
        ([including("b", p="include")], "in b", "param"),
        ([including("c")], "in b", "inner"),
        ([importing("c")], "in b", "inner"),
    ],
)
def test_only_the_role_that_includes_lays_its_parameters_over(tmp_path: Path, tasks: Any, task: str, expected: str):
    """Those of a role further out lie under the variables of the include."""
    roles = {"a": ([], tasks), "b": ([], []), "c": ([], [including("b", p="inner")])}
    answer = tree(tmp_path, roles, {"roles": [{"role": "a", "p": "param"}]}).task(task, "h1")

    assert answer is not None
    assert answer.vars["p"] == expected


NEVER = {"role": "e", "when": False}
ONCE = {"c": (["e"], []), "d": (["e"], []), "e": ([], []), "n": ([NEVER], []), "m": (["n", "e"], [])}
ONCE |= {"f": ([], [{"block": [importing("e")]}]), "g": ([], [including("e")])}


@pytest.mark.parametrize(
    ("play", "ran"),
    [
        ({"tasks": [including("n")]}, ["n"]),
        ({"roles": ["m"]}, ["n", "e", "m"]),
        ({"roles": [{"role": "c", "when": False}, "e"]}, ["e"]),
        ({"roles": ["c"], "tasks": [including("d"), importing("c")]}, ["e", "c", "d", "c"]),
        ({"pre_tasks": [including("c", p=1)], "roles": ["e"]}, ["e", "c"]),
        ({"pre_tasks": [including("e")], "roles": ["e"]}, ["e", "e"]),
        ({"roles": ["f", "f"]}, ["f", "e", "e"]),
        ({"roles": ["g", "g"]}, ["g", "e"]),
    ],
    ids=["never", "elsewhere", "entry", "again", "before", "named", "imported", "included"],
)
def test_a_role_runs_once_in_a_play_unless_a_task_names_it(tmp_path: Path, play: dict[str, Any], ran: list[str]):
    """One whose condition is false runs neither itself nor what it needs, and did not run.

    Where one does not run again, the roles that its tasks import do.
    """
    assert [task.name for task in tree(tmp_path, ONCE, play).tasks("h1")] == [f"in {role}" for role in ran]


def test_parameters_are_one_before_they_meet_the_rest(tmp_path: Path):
    """Under `merge` a text of the role that needs another one is replaced by its map, and hides nothing weaker."""
    roles = {"a": ([{"role": "b", "x": {"b": 1}}], []), "b": ([], [])}
    play = {"roles": [{"role": "a", "x": "text"}]}
    files = {"roles/b/vars/main.yml": {"x": {"v": 1}}}
    answer = tree(tmp_path, roles, play, "hash_behaviour = merge", **files).task("in b", "h1")

    assert answer is not None
    assert answer.vars["x"] == {"v": 1, "b": 1}


def test_variables_of_an_include_replace_those_of_blocks_around_it(tmp_path: Path):
    """Under `merge`, too, where they would else meet them key by key, or not reach what a text hides."""
    files = {"host_vars/h1.yml": {"x": {"host": 1}, "y": {"host": 1}}, "more.yml": [T]}
    block = {"block": [{"include_tasks": "more.yml", "vars": {"x": {"i": 1}, "y": {"i": 1}}}]}
    play = {"tasks": [{**block, "vars": {"x": "text", "y": {"block": 1}}}]}
    answer = tree(tmp_path, {}, play, "hash_behaviour = merge", **files).task("t", "h1")

    assert answer is not None
    assert answer.vars["x"] == answer.vars["y"] == {"host": 1, "i": 1}


def test_handlers_see_what_their_role_was_entered_with_last(tmp_path: Path):
    """What is imported is entered before anything runs, and so before what is included."""
    play = {"tasks": [including("a", p="included"), {**importing("a"), "vars": {"p": "imported"}}]}
    handlers = {"roles/a/handlers/main.yml": [{"name": "restart", "debug": {}}]}
    playbook = tree(tmp_path, {"a": ([], [])}, play, **handlers)

    assert [task.name for task in playbook.tasks("h1")] == ["in a", "in a", "restart"]
    assert playbook.task("restart", "h1").vars["p"] == "included"  # type: ignore[union-attr]


def once(kind: str, role: str, *, own: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
    return {kind: {"name": role, "allow_duplicates": False, **how}, "vars": own or {}}


OFTEN = {"c": (["e"], []), "d": (["e"], []), "e": ([], [])}


@pytest.mark.parametrize(
    ("play", "allows", "ran"),
    [
        ({"roles": ["e", "e"]}, None, ["e"]),
        ({"roles": ["e", "e"]}, True, ["e", "e"]),
        ({"roles": ["c", "d"]}, True, ["e", "c", "e", "d"]),
        ({"tasks": [including("e"), importing("e")]}, False, ["e", "e"]),
        ({"tasks": [including("e"), once("import_role", "e"), once("include_role", "e", public=True)]}, True, ["e"]),
        ({"tasks": [once("include_role", "e"), including("e")]}, None, ["e", "e"]),
        ({"tasks": [once("include_role", "e", own={"p": 1}), once("import_role", "e")]}, None, ["e", "e"]),
        ({"tasks": [including("e"), once("include_role", "e", vars_from="x")]}, None, ["e", "e"]),
        ({"roles": ["e"], "tasks": [once("import_role", "e")]}, None, ["e", "e"]),
        ({"tasks": [{**once("import_role", "e"), "when": "x"}, once("import_role", "e")]}, None, ["e", "e"]),
    ],
)
def test_a_role_that_allows_duplicates_runs_again(tmp_path: Path, play: dict[str, Any], allows: Any, ran: list[str]):
    """Of entries the role itself says so, of includes each of them, and one that may not have run counts for nobody."""
    files: dict[str, Any] = {"roles/e/vars/x.yml": {}}
    files |= {} if allows is None else {"roles/e/meta/main.yml": {"allow_duplicates": allows}}

    assert [task.name for task in tree(tmp_path, OFTEN, play, **files).tasks("h1")] == [f"in {role}" for role in ran]


HANDLED = {"i": ([], [{**importing("e"), "vars": {"own": "import"}}]), "e": ([], [])}


@pytest.mark.parametrize(
    ("play", "expected"),
    [
        ({"tasks": [{"block": [including("i")], "vars": {"p": "block"}}]}, None),
        ({"tasks": [{"block": [importing("i")], "vars": {"p": "block"}}]}, None),
        ({"tasks": [{"include_tasks": "more.yml", "vars": {"p": "tasks"}}]}, None),
        ({"tasks": [including("i", p="role")]}, "role"),
        ({"tasks": [including("i", v="role")]}, None),
        ({"tasks": [{"block": [importing("e")], "vars": {"p": "block", "own": "import"}}]}, "block"),
    ],
)
def test_handlers_of_an_imported_role_do_not_see_what_surrounds_the_role_that_imports_it(
    tmp_path: Path, play: dict[str, Any], expected: str | None
):
    """But for `vars` of the task that brings that role, which count as those of a role entry."""
    files = {"roles/e/handlers/main.yml": [{"name": "restart", "debug": {}}], "more.yml": [including("i")]}
    answer = tree(tmp_path, HANDLED, play, **files).task("restart", "h1")

    assert answer is not None
    assert {name: answer.vars.get(name) for name in ("p", "own", "v")} == {"p": expected, "own": "import", "v": "e"}


NEEDED = {"role": "e", "vars": {"p": "needed"}}
IMPORTED = {**importing("e"), "vars": {"p": "imported"}}
TWICE = {
    "c": ([NEEDED], []),
    "e": ([], []),
    "i": ([NEEDED], [IMPORTED]),
    "n": ([NEEDED], [including("e", p="included")]),
}


@pytest.mark.parametrize(
    ("play", "last"),
    [
        ({"tasks": [including("i")]}, "needed"),
        ({"tasks": [importing("i")]}, "needed"),
        ({"roles": ["i"]}, "imported"),
        ({"tasks": [including("n")]}, "included"),
        ({"tasks": [including("c"), IMPORTED]}, "needed"),
        ({"pre_tasks": [IMPORTED], "roles": ["c"]}, "imported"),
    ],
)
def test_a_role_is_entered_by_imports_first_and_by_includes_when_they_run(tmp_path: Path, play: Any, last: str):
    """What tasks of an included or imported role import comes before what that role needs."""
    handlers = {"roles/e/handlers/main.yml": [{"name": "restart", "debug": {}}]}
    answer = tree(tmp_path, TWICE, play, **handlers).task("restart", "h1")

    assert answer is not None
    assert answer.vars["p"] == last


def test_of_alternatives_the_first_that_is_there_counts(tmp_path: Path):
    """A later name that cannot be filled in is not looked at."""
    play = {"vars_files": [["one.yml", "{{ nosuch }}.yml"], ["{{ nosuch }}.yml", "one.yml"]], "tasks": [T]}
    playbook = tree(tmp_path, {}, play, **{"one.yml": {"x": 1}})
    answer = playbook.task("t", "h1")

    assert answer is not None
    assert [str(origin.place) for origin in answer.origins("x")] == ["one.yml:1"]
    assert [one.kind for one in playbook.inventory.warnings] == ["vars-file-skipped"]


def test_a_name_with_the_groups_of_a_host_is_another_one_where_a_task_changes_them(tmp_path: Path):
    """The file of the new name is not there."""
    play = {"vars_files": ["{{ group_names[0] }}.yml"], "tasks": [T, {"group_by": {"key": "web"}}, {**T, "name": "u"}]}
    playbook = tree(tmp_path, {}, play, **{"ungrouped.yml": {"x": 1}})
    before, after = (playbook.task(name, "h1") for name in "tu")

    assert before is not None
    assert after is not None
    assert (before.vars.get("x"), after.vars.get("x")) == (1, None)
    assert not after.unknown("x")


def test_files_that_are_read_at_the_start_stand_in_the_inventory(tmp_path: Path):
    """With `run_vars_plugins = start` inline variables of groups override group_vars/all; a playbook has no files."""
    (tmp_path / "inv/group_vars").mkdir(parents=True)
    (tmp_path / "inv/hosts").write_text("[web]\nh1\n[web:vars]\nx=inline\n")
    (tmp_path / "inv/group_vars/all.yml").write_text("x: file\ny: file\n")
    files = {"group_vars/all.yml": {"y": "playbook"}}
    for config, expected in (("", ("file", "playbook")), ("run_vars_plugins = start", ("inline", "file"))):
        tree(tmp_path, {}, {"tasks": [T]}, config, **files)
        inventory = Inventory("inv/hosts", folder=tmp_path, environment={})
        answer = Playbook(inventory, "site.yml").task("t", "h1")

        assert answer is not None
        assert (answer.vars["x"], answer.vars["y"]) == expected


def test_of_files_that_are_read_at_the_start_those_of_a_host_meet_what_its_line_says_first(tmp_path: Path):
    """Under `merge` a map replaces the text of its line, and is then one with those of groups."""
    files = {"inv/hosts.yml": {"all": {"vars": {"x": {"group": 1}}, "hosts": {"h1": {"x": "text"}}}}}
    files["inv/host_vars/h1.yml"] = {"x": {"host": 1}}
    for config, expected in (("", {"host": 1}), ("run_vars_plugins = start", {"group": 1, "host": 1})):
        tree(tmp_path, {}, {"tasks": [T]}, f"hash_behaviour = merge\n{config}", **files)
        answer = Playbook(Inventory("inv/hosts.yml", folder=tmp_path, environment={}), "site.yml").task("t", "h1")

        assert answer is not None
        assert answer.vars["x"] == expected


def test_a_host_is_ungrouped_through_a_group_that_has_the_name_of_another_host(tmp_path: Path):
    """Unless a source has named it without a group, and the host of that name came before it."""
    (tmp_path / "more").write_text("b\n")
    for first, second, names in (("a", "b", ["a", "z"]), ("b", "a", ["a", "ungrouped", "z"])):
        groups = "{a: {hosts: {b: , c: }}, z: {hosts: {b: , c: }}}"
        (tmp_path / "hosts.yml").write_text(f"all: {{hosts: {{{first}: , {second}: , c: }}, children: {groups}}}\n")
        inventory = Inventory("hosts.yml", "more", folder=tmp_path, environment={})
        found = [inventory.host(name).magic["group_names"] for name in "abc"]

        assert found == [[], names, ["a", "ungrouped", "z"]]


def test_groups_of_a_source_that_ends_in_a_fault_have_nothing_above_them(tmp_path: Path):
    """So that one below them is no deeper than `ungrouped`, which comes later in the alphabet."""
    (tmp_path / "hosts").write_text("h1\n[g1]\nh1\n[g2:children]\ng1\n[g1:vars]\nx=1\n[ungrouped:vars]\nx=2\n")
    sound = Inventory("hosts", folder=tmp_path, environment={}).host("h1")
    with (tmp_path / "hosts").open("a") as file:
        file.write("[g2:nonsense]\n")
    broken = Inventory("hosts", folder=tmp_path, environment={}).host("h1")

    assert [(host.vars["x"], host.magic["group_names"]) for host in (sound, broken)] == [
        (1, ["g1", "g2"]),
        (2, ["g1", "g2", "ungrouped"]),
    ]


def test_a_host_that_has_the_name_of_a_group_knows_its_source(tmp_path: Path):
    """No group names it, so that its variables are the group's: that it was read somewhere is true all the same."""
    (tmp_path / "hosts.yml").write_text("all: {hosts: {web: {x: 1}}, children: {web: {hosts: {h1: }}}}\n")

    assert Inventory("hosts.yml", folder=tmp_path).host("web").magic["inventory_file"] == str(tmp_path / "hosts.yml")


@pytest.mark.parametrize(
    ("config", "expected"),
    [("", {"own": 1, "file": 1, "more": 1}), ("hash_behaviour = merge", {"play2": 1, "file": 1, "more": 1})],
)
def test_an_include_that_merges_keeps_what_its_task_had(tmp_path: Path, config: str, expected: dict[str, int]):
    """Where all maps are merged anyway it lies over what a later task has, as others do."""
    files = {"one.yml": {"x": {"file": 1}}, "two.yml": {"x": {"more": 1}}}
    tasks = [{"include_vars": {"file": name, "hash_behaviour": "merge"}} for name in ("one.yml", "two.yml")]
    later = {"hosts": "all", "gather_facts": False, "vars": {"x": {"play2": 1}}, "tasks": [T]}
    play = {"vars": {"x": {"play": 1}}, "tasks": [{**tasks[0], "vars": {"x": {"own": 1}}}, tasks[1]]}
    tree(tmp_path, {}, play, config, **files, **{"later.yml": [later]})
    answer = Playbook(Inventory("h1,", folder=tmp_path, environment={}), "site.yml", "later.yml").task("t", "h1")

    assert answer is not None
    assert answer.vars["x"] == expected
    assert {str(origin.place) for origin in answer.origins("x.file")} == {"one.yml:2"}
