"""The random trees beside ansible-core: they are the same for a seed, and without Ansible nothing is asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nodeattrs.ansible import Inventory, Playbook
from tests.oracles.ansible import environment_of, main, written
from tests.oracles.ansible_trees import tree


def test_without_an_environment_a_sentence_says_so(monkeypatch, capsys):
    """And nothing has failed."""
    monkeypatch.delenv("ANSIBLE_VENV", raising=False)

    assert main(["--count", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ansible: no environment with ansible-core is named (--venv, ANSIBLE_VENV): nothing was compared",
        "0 passed, 0 failed",
    ]


def test_a_seed_always_gives_the_same_tree():
    """And another one another."""
    assert tree("1-1", 5).files == tree("1-1", 5).files != tree("1-2", 5).files


def test_few_trees_have_every_construct(monkeypatch):
    """So the table of a run misses nothing for good. Only what is counted is looked at, so no YAML is written."""
    monkeypatch.setattr("yaml.dump", lambda *_, **how: "")
    used = Counter(what for number in range(400) for what in tree(f"x-{number}", 3).used)

    assert len(used) > 110
    assert min(used.values()) > 1


def test_what_a_value_comes_from_is_its_file_and_line(tmp_path: Path):
    """Each value of a tree is there once, so its line is known without asking anybody."""
    for number in range(3):
        made, folder = tree(f"y-{number}", 4), tmp_path / str(number)
        written(folder, made)
        how = {"environment": environment_of(made, folder), "run_inventory": made.scripts}
        inventory = Inventory(*made.sources, folder=folder, extra_vars=made.extra, **how)
        playbook = Playbook(inventory, made.playbook) if made.playbook else None
        for host in inventory.hosts:
            answers = [playbook.within(one, host) for one in playbook.tasks(host)[:2]] if playbook else []
            for answer in (inventory.host(host), *answers):
                for path, value, (origin,) in answer.folded().leaves():
                    if isinstance(value, str) and origin.file not in made.scripts and len(path) == 1:
                        lines = made.files[str(origin.file)].split("\n") if origin.file else made.extra
                        assert value in (lines[origin.line - 1] if origin.file and origin.line else "".join(lines))
