"""The inventory plugin `generator`: evaluated here, without a run.

Expected values are those of ansible-inventory 2.19.14.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeattrs.ansible import Inventory

HOSTS = """plugin: ansible.builtin.generator
hosts:
  name: "{{ op }}-{{ app }}"
  parents:
    - name: "{{ op }}_{{ app }}"
      vars: {both: "{{ op }} and {{ app }}", n: 1, l: ["{{ app }}"]}
      parents:
        - name: "{{ op }}"
          vars:
            op: "{{ op }}"
    - name: runner
layers: {op: [build, launch], app: [web, 2]}
"""


def tree(folder: Path, text: str) -> Inventory:
    (folder / "made.yml").write_text(text)
    return Inventory("made.yml", folder=folder)


def test_each_combination_is_a_host_with_its_groups(tmp_path: Path):
    """Texts are filled in, and lists are not."""
    inventory = tree(tmp_path, HOSTS)
    found = inventory.host("build-2")

    assert list(inventory.hosts) == ["build-web", "build-2", "launch-web", "launch-2"]
    assert found.vars == {"op": "build", "both": "build and 2", "n": 1, "l": ["{{ app }}"]}
    assert found.magic["group_names"] == ["build", "build_2", "runner"]
    assert [(one.file, one.line) for one in found.origins("op")] == [("made.yml", 10)]
    assert not inventory.not_run


def test_a_host_without_parents_is_in_no_group(tmp_path: Path):
    inventory = tree(tmp_path, "plugin: generator\nhosts: {name: 'h{{ a }}'}\nlayers: {a: [1, 2]}\n")
    assert list(inventory.groups["ungrouped"].hosts) == ["h1", "h2"]


@pytest.mark.parametrize(
    "rest",
    ["hosts: {name: '{{ nosuch }}'}\nlayers: {a: [1]}\n", "hosts: {name: x}\nlayers: {a: 1}\n", "hosts: [x]\n", ""],
)
def test_what_cannot_be_read_is_no_inventory(tmp_path: Path, rest: str):
    (warning, *_) = tree(tmp_path, f"plugin: generator\n{rest}").warnings
    assert (warning.kind, warning.file) == ("unparsed", "made.yml")
