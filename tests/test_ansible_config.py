"""ansible.cfg: which settings count, from where, and what is passed over, as ansible-core 2.19.14 has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.ansible import Inventory
from nodeattrs.cli import main
from nodeattrs.core.sensitive import Sensitive

pytest.importorskip("cryptography")

SEALED = """$ANSIBLE_VAULT;1.1;AES256
38636237326662366163396562633835393366666461333739353062383661643365623432616239
6365306465666636656565336166373065666630636534640a346431633130653735633936316232
64626239383263326633333734383463336265353361666336373635663963653530373633396665
6536623336383162370a386366346262306535363736653762303563366235333237356435323731
3731
"""


def written(folder: Path, config: str, **files: str) -> Path:
    for name, text in {"ansible.cfg": config, "hosts": "web1\n", "group_vars/all.yml": SEALED, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def asked(words: str, config: str, **files: str) -> tuple[int, str, str]:
        monkeypatch.chdir(written(tmp_path, config, **files))
        code = main(["ansible", *words.split()])
        out, err = capsys.readouterr()
        return code, out, err

    return asked


@pytest.mark.parametrize("setting", ["vault_password_file = pw.txt", "vault_identity_list = dev@pw.txt"])
def test_a_password_file_of_ansible_cfg_opens_vaults(tmp_path: Path, setting: str):
    inventory = Inventory("hosts", folder=written(tmp_path, f"[defaults]\n{setting}\n", **{"pw.txt": "pw\n"}))

    assert inventory.host("web1").vars == {"whole": Sensitive("hidden")}
    assert not inventory.warnings


@pytest.mark.parametrize(
    ("name", "files", "reason"),
    [
        ("../pw.txt", {"../pw.txt": "pw\n"}, "the password file pw.txt lies outside of the folder"),
        ("pw.txt", {}, "the password file pw.txt is not there"),
        ("pw.sh", {"pw.sh": "#!/bin/sh\ntouch ran; echo pw\n"}, "the password file pw.sh is a program"),
    ],
)
def test_another_password_file_is_not_read_and_never_run(tmp_path: Path, name: str, files: dict[str, str], reason: str):
    """The vault stays unread then, and the message names the option."""
    root = written(tmp_path / "root", f"[defaults]\n\nvault_password_file = {name}\n", **files)
    if name == "pw.sh":
        (root / name).chmod(0o755)
    inventory = Inventory("hosts", folder=root)

    assert [one.value.reason for one in inventory.host("web1").unknown()] == ["is encrypted"]
    (warning,) = inventory.warnings
    assert str(warning).startswith(f"ansible.cfg:3: {reason}, and was not read; --vault-password-file names one")
    assert not (root / "ran").exists()


def test_a_password_file_outside_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It may lie in a folder of another user, where a look is an error."""
    root = written(tmp_path / "root", "[defaults]\nvault_password_file = ../pw.txt\n")
    is_file = Path.is_file

    def refused(path: Path) -> bool:
        if path.name == "pw.txt":
            raise PermissionError(13, "Permission denied")
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refused)
    (warning,) = Inventory("hosts", folder=root).warnings
    assert "the password file pw.txt lies outside of the folder" in str(warning)


def test_an_ansible_cfg_in_a_folder_of_everyone_does_not_count(tmp_path: Path):
    """As for Ansible, which warns."""
    root = written(tmp_path, "[defaults]\nhash_behaviour = merge\n")
    tmp_path.chmod(0o777)
    inventory = Inventory("hosts", folder=root)

    assert inventory.config.hash_behaviour == "replace"
    assert [str(one) for one in inventory.warnings] == [
        "ansible.cfg: it does not count: every user may write into its folder"
    ]


CONFIG = (
    "[defaults]\n# a comment\nhash_behaviour: merge\nforks=5\n\n[tags]\nskip = x\n[inventory]\nenable_plugins=ini\n"
)


def test_the_settings_that_count_have_their_places(run: Callable[..., Any]):
    """Others than those about variables are left out."""
    code, out, _ = run("config", CONFIG)

    assert (code, out.splitlines()) == (
        0,
        [
            'ansible.cfg:9  enable_plugins = ["ini"]',
            'ansible.cfg:3  hash_behaviour = "merge"',
            "ansible.cfg:7  tags.skip = (not followed)",
        ],
    )


def test_a_variable_of_the_environment_is_a_place_where_it_counts(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANSIBLE_HASH_BEHAVIOUR", "replace")
    _, out, _ = run("config --environ --format json", CONFIG)
    rows = {one["name"]: (one["value"], one["place"]) for one in json.loads(out)["settings"]}

    assert rows["hash_behaviour"] == ("replace", "ANSIBLE_HASH_BEHAVIOUR")
    assert rows["tags.skip"] == (None, "ansible.cfg:7")


@pytest.mark.parametrize("line", [f"x{' ' * 50_000}y = 1", f"x{' ' * 50_000}= 1", f"x = {'[ ' * 25_000}"])
def test_a_long_line_costs_no_other_its_place(run: Callable[..., Any], line: str):
    """The suite ends what takes too long."""
    code, out, _ = run("config", f"[defaults]\n{line}\nhash_behaviour = merge\n")

    assert (code, out) == (0, 'ansible.cfg:3  hash_behaviour = "merge"\n')


@pytest.mark.parametrize(("section", "expected"), [("defaults", {}), ("inventory_plugin_yaml", {"g": 1})])
def test_endings_of_the_inventory_plugin_yaml_are_not_those_of_variables(tmp_path: Path, section: str, expected: Any):
    files = {"hosts.foo": "all: {hosts: {web1: }}\n", "group_vars/all.yml": "g: 1\n"}
    config = f"[{section}]\nyaml_valid_extensions = .foo\n"

    assert Inventory("hosts.foo", folder=written(tmp_path, config, **files)).host("web1").vars == expected
