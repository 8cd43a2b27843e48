"""Inventories at the usual places of a repository, which are found without settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ROLE = {"roles/app/tasks/main.yml": "- debug:\n    msg: x\n"}
InFolder = Callable[..., tuple[int, str, str]]


def subjects(in_folder: InFolder, files: dict[str, str]) -> list[str]:
    code, out, _ = in_folder(files, "list", "subjects")
    return out.split("\n")[:-1] if code == 0 else []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**ROLE, "hosts": "[web]\nw1\n"}, ["ansible w1"]),
        ({**ROLE, "inventory/hosts": "[web]\nw1\n", "inventory/group_vars/web.yml": "a: 1\n"}, ["ansible w1"]),
        (
            {**ROLE, "inventories/prod/hosts.yml": "all: {hosts: {w1: }}\n", "inventories/test/hosts": "w1\n"},
            ["ansible inventories/prod:w1", "ansible inventories/test:w1"],
        ),
        ({**ROLE, "ansible.cfg": "[defaults]\n", "inventory/one/inventory.ini": "w1\n"}, ["ansible w1"]),
        ({**ROLE, "ansible.cfg": "[defaults]\ninventory = own\n", "own": "w9\n", "hosts": "w1\n"}, ["ansible w9"]),
        (
            {**ROLE, "nodeattrs.toml": "[ansible.site]\ninventory = ['own']\n", "own": "w9\n", "hosts": "w1\n"},
            ["ansible w9"],
        ),
        ({"environments/production/README": "of Puppet\n", "hosts": "127.0.0.1 localhost\n"}, []),
        ({**ROLE, "environments/production/README": "nothing\n"}, []),
    ],
    ids=[
        "a file",
        "a folder with variables",
        "a folder for each stage",
        "an ansible.cfg that names none",
        "an ansible.cfg that names one",
        "settings that name one",
        "no play and no role",
        "folders without an inventory",
    ],
)
def test_inventories_at_the_usual_places_are_found(
    in_folder: InFolder, files: dict[str, str], expected: list[str]
) -> None:
    assert subjects(in_folder, files) == expected


def test_a_file_is_the_source_though_folders_pass_over_its_ending(in_folder: InFolder) -> None:
    files = {
        **ROLE,
        "ansible.cfg": "[defaults]\ninventory_ignore_extensions = .ini\n",
        "inventory/local/hosts.ini": "w1\n",
        "inventory/local/group_vars/all.yml": "port: 80\n",
    }
    code, out, _ = in_folder(files, "why", "port")
    assert (code, "80  inventory/local/group_vars/all.yml:1" in out) == (0, True)


def test_each_source_that_the_caller_names_counts(in_folder: InFolder) -> None:
    files = {**ROLE, "one": "[web]\nw1\n", "two/hosts": "w1 port=81\n", "two/group_vars/web.yml": "name: w\n"}
    code, out, _ = in_folder(files, "why", "name", "--on", "w1", "-i", "one", "-i", "two/hosts")
    assert (code, "two/group_vars/web.yml:1" in out) == (0, True)


def test_a_variable_that_plays_alone_set_is_named_with_its_line(in_folder: InFolder) -> None:
    files = {
        **ROLE,
        "hosts": "[web]\nw1\n",
        "roles/app/defaults/main.yml": "port: 80\n",
        "site.yml": "- hosts: web\n  roles: [app]\n",
    }
    code, _, errors = in_folder(files, "why", "port")
    assert (code, "port is not set" in errors) == (1, True)
    assert "roles/app/defaults/main.yml:1 sets it in site.yml play 1" in errors


def test_a_play_that_cannot_be_read_leaves_the_answer_open(in_folder: InFolder) -> None:
    files = {
        **ROLE,
        "hosts": "[web]\nw1\n",
        "roles/app/defaults/main.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
        "site.yml": "- hosts: web\n  roles: [app]\n",
    }
    code, _, errors = in_folder(files, "why", "port")
    assert (code, "roles/app/defaults/main.yml" in errors) == (5, True)


@pytest.mark.parametrize("words", [("list", "subjects"), ("why", "x"), ("matrix", "x"), ("blame",)], ids=" ".join)
def test_a_broken_inventory_is_named_where_no_host_is_known(in_folder, words: tuple[str, ...]) -> None:
    files = {"ansible.cfg": "[defaults]\ninventory = hosts.yml\n", "hosts.yml": "all:\n  hosts: [a"}
    code, _, errors = in_folder(files, *words)
    assert (code, "hosts.yml:1 (inventory) is no inventory" in errors) == (5, True)


def test_a_list_of_subjects_names_a_source_that_may_have_more(in_folder) -> None:
    files = {
        "ansible.cfg": "[defaults]\ninventory = inv\n",
        "inv/a": "web1\n",
        "inv/b.yml": "plugin: amazon.aws.aws_ec2\n",
    }
    code, out, errors = in_folder(files, "list", "subjects")
    assert (code, out, "inv/b.yml" in errors) == (5, "ansible web1\n", True)
    assert in_folder({"inv/b.yml": "all:\n  hosts: [a"}, "list", "subjects")[:2] == (0, "ansible web1\n")
