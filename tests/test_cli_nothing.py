"""Commands that saw nothing say so, and end with 1."""

from __future__ import annotations

import json

import pytest

from nodeattrs.cli import main
from nodeattrs.store import Saved, open_store
from tests.on_disk import repository

FACTS = {"platform": "ubuntu", "fqdn": "web1.example.com", "hostname": "web1"}


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Runs one command line in a small repository: its exit code, and what it wrote."""
    repository(
        tmp_path,
        {
            "nodes/web1.json": {"name": "web1"},
            "roles/web.json": {"name": "web", "json_class": "Chef::Role", "chef_type": "role", "run_list": []},
            "facts.json": FACTS,
            "facts/web9.json": FACTS,
            "empty.json": {},
        },
    )
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = main(words)
        return code, *capsys.readouterr()

    return run


class TestPlacesThatAreNone:
    @pytest.mark.parametrize("words", ["store check", "store export", "store prune --keep 1", "status", "search *:*"])
    @pytest.mark.parametrize("place", ["typo.db", "facts.json.db"])
    def test_a_command_that_reads_a_missing_store_creates_no_file(self, say, tmp_path, words, place):
        """None is made."""
        code, out, err = say(*words.split(), "--store", place)

        assert (1, "") == (code, out)
        assert "there is no store at" in err
        assert not (tmp_path / "typo.db").exists()

    def test_the_default_place_is_no_store_before_the_first_run(self, say):
        """With the way out."""
        assert (1, "") == (status := say("status"))[:2]
        assert "nodeattrs run" in status[2]

    def test_a_store_whose_nodes_are_gone_is_one_and_has_nothing_to_check(self, say):
        """It was seen, and there was nothing in it."""
        store = open_store("a.db")
        store.save(Saved("web1", {"name": "web1"}))
        store.delete("web1")
        store.close()

        assert 0 == say("status", "--store", "a.db")[0]
        assert (1, "0 nodes, 0 errors, 0 warnings\n", "there was nothing to look at\n") == say(
            "store", "check", "--store", "a.db"
        )

    def test_a_folder_without_bindings(self, say):
        """Whatever is asked of it."""
        for words in (("check",), ("list",), ("graph",), ("inject", "k")):
            code, _, err = say("bindings", *words, "--site", "roles")
            assert code == 1
            assert "there are no bindings in roles" in err

    @pytest.mark.parametrize("file", ["roles/web.json", "nodes/web1.json", "empty.json"])
    def test_a_file_without_facts(self, say, tmp_path, file):
        """Roles and nodes are told by fields that no fact has."""
        (tmp_path / "nodes/web1.json").write_text(json.dumps({"name": "web1", "run_list": []}))

        code, out, err = say("facts", "--facts", file)

        assert (1, "") == (code, out)
        assert "no facts" in err


class TestNodesThatNobodyKnows:
    def test_one_is_refused_before_anything_runs(self, say):
        """With those that are near, and with the way to mean it."""
        code, out, err = say("run", "--node", "wbe1", "--facts", "facts.json")

        assert (1, "") == (code, out)
        assert "node wbe1 does not exist" in err
        assert "did you mean web1? --new makes a node of that name" in err
        assert 1 == say("status")[0]

    @pytest.mark.parametrize(
        "words",
        [
            ("--node", "web1", "--facts", "facts.json"),  # nodes/ describes it
            ("--node", "web9", "--facts", "facts/web9.json"),  # a facts file of that name
            ("--node", "web9", "--facts", "facts"),
            ("--node", "web1.example.com", "--facts", "facts.json"),  # the facts say so
            ("--facts", "facts.json"),  # what this machine calls itself
            ("--node", "wbe1", "--facts", "facts.json", "--new"),
        ],
    )
    def test_known_nodes_are_run_and_saved(self, say, words):
        """And saved."""
        assert 0 == say("run", "-q", *words)[0]
        assert 0 == say("status")[0]

    def test_a_node_that_was_saved_with_new_is_known(self, say):
        """To the store."""
        assert 0 == say("run", "-q", "--node", "new", "--facts", "facts.json", "--new")[0]
        assert 0 == say("run", "-q", "--node", "new", "--facts", "facts.json")[0]

    def test_a_look_saves_nothing_and_refuses_nobody(self, say):
        """It warns, as an explanation does."""
        code, _, err = say("run", "--why-run", "--node", "wbe1", "--facts", "facts.json")

        assert code == 0
        assert "did you mean web1?" in err

    def test_a_fleet_is_no_way_around(self, say):
        """Unless --new is said there, too."""
        words = ("fleet", "resolve", "--node", "wbe1", "--facts", "facts.json")

        assert 1 == say(*words)[0]
        assert 0 == say(*words, "--new")[0]


class TestSearchesOfWhatNobodyHas:
    @pytest.fixture(autouse=True)
    def store(self, say):
        store = open_store(".nodeattrs/nodes.db")
        for name, port in (("web1", 80), ("web2", 443)):
            store.save(Saved(name, {"name": name, "run_list": ["role[web]"], "default": {"app": {"port": port}}}))
        store.close()

    @pytest.mark.parametrize(
        ("query", "hint"),
        [
            ("rol:web", "no node has the field rol [NA0405]\n  did you mean role"),
            (
                "role=web",
                "no node has a value at role [NA0405]\n  role is a field of Chef's language: write role:value",
            ),
            ("app.prot>3", "no node has a value at app.prot [NA0405]\n  did you mean app.port?"),
            ("name:web1 AND zork:1", "no node has the field zork [NA0405]\n"),
        ],
    )
    def test_an_unknown_field_is_told(self, say, query, hint):
        """Nothing was found, and that is the reason."""
        code, out, err = say("search", query)

        assert (1, "no node was found\n") == (code, out)
        assert hint in err

    @pytest.mark.parametrize(("query", "code"), [("role:db", 0), ("app.port>500", 0), ("*:*", 0), ("app_port:*", 0)])
    def test_a_known_field_that_nobody_has_so_is_an_answer(self, say, query, code):
        """An empty one."""
        assert (code, "") == say("search", query)[::2]

    @pytest.mark.parametrize("query", ["NOT rol:web", "name:web1 OR rol:web"])
    def test_what_is_found_all_the_same_is_given_with_a_warning(self, say, query):
        """The exit code is that of what was found."""
        code, out, err = say("search", query)

        assert code == 0
        assert "web1" in out
        assert "no node has the field rol" in err

    def test_nobody_has_what_is_sorted_by(self, say):
        """The order would be another one."""
        code, out, err = say("search", "*:*", "--sort", "app.prot")

        assert (1, "") == (code, out)
        assert "did you mean app.port?" in err
        assert "web2\nweb1\n" == say("search", "*:*", "--sort", "app.port", "--reverse")[1]


class TestWhyThereIsNothing:
    def test_a_tree_without_data_files_says_so(self, in_folder):
        files = {"hiera.yaml": "version: 5\nhierarchy:\n- {name: all, path: all.yaml}\n"}
        code, out, errors = in_folder(files, "blame")
        assert (code, out) == (0, "# facts: none\n{}\n")
        assert "hiera.yaml: not one file of its hierarchy is there [NA1044]" in errors

    def test_user_data_that_is_rejected_is_named(self, in_folder):
        code, out, errors = in_folder({"user-data": "#cloud-config\na: 1\n{{- if .b }}\nc: 2\n"}, "blame")
        assert (code, out) == (0, "{}\n")
        assert "user-data:4:1: rejected: broken YAML" in errors

    @pytest.mark.parametrize("words", [("list", "subjects"), ("impact", ".", ".")])
    def test_a_folder_of_ansible_without_an_inventory_is_told_how_to_name_one(self, in_folder, words):
        code, out, errors = in_folder({"site.yml": "- hosts: all\n  roles: [web]\n"}, *words)
        assert (code, out, "an inventory, -i SOURCE" in errors) == (1, "", True)

    def test_an_odd_name_of_a_group_is_warned_of_once_at_its_first_place(self, in_folder):
        files = {"hosts": "[web]\n[web:children]\na-b\n[a-b]\nh1\n[a-b:vars]\nx=1\n"}
        _, _, errors = in_folder(files, "ansible", "list", "-i", "hosts")
        assert errors.count("NA1319]") == 1
        assert "hosts:3: the group name 'a-b' has signs" in errors

    def test_many_warnings_of_one_code_are_counted(self, in_folder):
        groups = "".join(f"[a-{number}]\nweb1\n" for number in range(9))
        code, _, errors = in_folder({"hosts.ini": groups, "group_vars/all.yml": "port: 1\n"}, "why", "port")
        assert (code, errors.count("NA1319]")) == (0, 3)
        assert "more warnings like these, of code NA1319" in errors
