"""Vaults of Ansible: closed without a password, secrets with it, and a wrong one is named.

The texts were encrypted with the real ansible-vault, which tests/oracles/ansible_vault.py asks at random.
"""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Sensitive
from nodeattrs.ansible import AnsibleError, Inventory, Playbook, Vault, printed_inventory
from nodeattrs.cli import main
from nodeattrs.core.code import held_back
from nodeattrs.errors import MissingExtra, UnknownLayer
from tests.test_ansible import Tree, tree

__all__ = ["tree"]

WHOLE = """$ANSIBLE_VAULT;1.1;AES256
62636161633230313664383736373261366466323736313339326234333936373865366530396232
6532616365613631376631636130656166343162343364390a396234336336656463623034656364
63346362343834323037646266363732306133333366353432343637616462343032643166343666
6532623638363362620a616431316365393139333562353338646232376432333964623335396136
63633337333934636463633030646236353539646639353136396430356362353539393665343234
6133303764613032336139653364353864353031383238613738
"""
INLINE = """$ANSIBLE_VAULT;1.2;AES256;prod
31336331646664666638666362643137616632373633613035356435666532616164376564313937
6430616633343034633331663234616339383266346665620a346263306637386236323632626462
63653066313830616364653833363765373161623361636234306135373234396166613838663363
3634373831633638360a393738303837663435343738626231366637303364343661353639653539
6665
"""
PLAIN = "door: !vault |\n" + "".join(f"  {line}\n" for line in INLINE.splitlines()) + "said: '{{ door }}'\n"
FILES = {"group_vars/all.yml": WHOLE, "group_vars/web.yml": PLAIN, "first": "first\n", "second": " second \n"}
BOTH = ["first", "prod@second"]


class TestWithThePasswords:
    def test_a_whole_file_is_variables_each_leaf_a_secret(self, tree: Tree):
        """With the line of the clear text."""
        answer = tree(FILES, vault_passwords=BOTH).host("web1")
        assert isinstance(answer.vars["token"], Sensitive)
        assert answer.vars["token"].unwrap() == "s3cret"
        assert answer.vars["list"][1]["b"].unwrap() is None
        assert [(one.file, one.line) for one in answer.origins(("port",))] == [("group_vars/all.yml", 2)]
        assert "s3cret" not in answer.explain("token")

    def test_an_inline_text_is_a_secret(self, tree: Tree):
        """The vault's id says which password is tried first; without one all are."""
        for given in (BOTH, ["prod@second", "first"], ["second", "first"]):
            assert tree(FILES, vault_passwords=given).host("web1").vars["door"].unwrap() == "opens"

    def test_what_is_printed_holds_no_clear_text(self, tree: Tree):
        """Inline texts as ansible-inventory prints them, others as a marker."""
        inventory = tree(FILES, vault_passwords=BOTH)
        web1 = json.loads(printed_inventory(inventory))["_meta"]["hostvars"]["web1"]
        assert web1["door"] == {"__ansible_vault": INLINE}
        assert web1["token"] == {"$sensitive": "withheld"}
        texts = [printed_inventory(inventory, "yaml"), json.dumps(inventory.host("web1").to_dict())]
        assert not any(word in text for text in texts for word in ("s3cret", "opens"))

    def test_vars_of_an_encrypted_file_of_tasks_are_secrets(self, tree: Tree):
        """Without a password such a file may set anything."""
        play = "- {hosts: web1, gather_facts: false, tasks: [{import_tasks: more.yml}, {name: end, debug: }]}\n"
        inventory = tree({**FILES, "more.yml": WHOLE, "site.yml": play})
        end = Playbook(inventory, "site.yml").task("end", "web1")
        assert end is not None
        assert any(one.origin.at(()).file == "more.yml" for one in end.unknown("any"))

    def test_a_program_prints_the_password_where_code_may_run(self, tree: Tree, tmp_path: Path):
        """As for Ansible; a look at a repository runs nothing."""
        program = tmp_path / "ask"
        program.write_text("#!/bin/sh\necho first\n")
        program.chmod(0o755)
        assert tree(FILES, vault_passwords=["ask", "second"]).host("web1").vars["token"].unwrap() == "s3cret"
        with held_back(), pytest.raises(UnknownLayer):
            tree(FILES, vault_passwords=["ask"])


class TestWithoutThem:
    def test_nothing_is_opened(self, tree: Tree):
        """The file is an unknown layer, the text a vault."""
        answer = tree(FILES).host("web1")
        assert isinstance(answer.vars["door"], Vault)
        assert [one.origin.at(()).file for one in answer.unknown("token")] == ["group_vars/all.yml"]

    def test_a_wrong_password_is_an_error_for_a_file_and_a_warning_for_a_text(self, tree: Tree):
        """With file and line; the text stays closed."""
        inventory = tree(FILES, vault_passwords=["second"], lenient=True)
        answer = inventory.host("web1")
        assert answer.vars["door"].unwrap() == "opens"
        assert "token" not in answer.vars
        with pytest.raises(AnsibleError, match="no password opens this vault") as caught:
            _ = tree(FILES, vault_passwords=["second"]).host("web1").vars
        assert (caught.value.kind, caught.value.file, caught.value.line) == ("vault", "group_vars/all.yml", 1)
        left = tree(FILES, vault_passwords=["first"])
        assert isinstance(left.host("web1").vars["door"], Vault)
        (warning,) = [one for one in left.warnings if one.kind == "vault"]
        assert (warning.file, warning.line) == ("group_vars/web.yml", 1)
        assert "vault id prod" in warning.reason

    def test_another_format_is_named(self, tree: Tree):
        """1.0 and other ciphers are not opened."""
        files = {"group_vars/all.yml": "$ANSIBLE_VAULT;1.0;AES\n3333\n", "first": "x"}
        with pytest.raises(AnsibleError, match=r"no vault of format 1\.1 or 1\.2"):
            _ = tree(files, vault_passwords=["first"]).host("web1").vars

    def test_a_password_that_cannot_be_read_is_an_error_at_once(self, tree: Tree):
        """Before anybody is asked."""
        for name, sentence in (("nosuch", "cannot be read"), ("empty", "is empty")):
            with pytest.raises(AnsibleError, match=sentence):
                tree({"empty": " \n"}, vault_passwords=[name])

    def test_without_the_library_and_the_program_the_extra_is_named(self, tree: Tree, monkeypatch: Any):
        """`nodeattrs[ansible]`."""
        real = builtins.__import__

        def refused(name: str, *rest: Any, **how: Any) -> Any:
            if name.startswith("cryptography"):
                raise ImportError(name)
            return real(name, *rest, **how)

        inventory = tree(FILES, vault_passwords=BOTH)
        monkeypatch.setattr(builtins, "__import__", refused)
        monkeypatch.setenv("PATH", "")
        with pytest.raises(MissingExtra, match="cryptography"):
            _ = inventory.host("web1").vars


def test_the_command_takes_passwords(tree: Tree, capsys: pytest.CaptureFixture[str]):
    """And shows nothing of what they open."""
    tree(FILES)
    words = ["-i", "hosts", "--vault-password-file", "first", "--vault-id", "prod@second"]
    assert main(["ansible", "explain", "web1", "token", *words]) == 0
    out = capsys.readouterr().out
    assert "group_vars/all.yml:1" in out
    assert "s3cret" not in out


def test_a_name_of_a_file_is_no_secret_s_text(tree: Tree):
    """A template of a name that mentions a secret cannot be filled in."""
    play = "- {hosts: web1, gather_facts: false, vars_files: ['{{ door }}.yml'], tasks: [{name: t, debug: }]}\n"
    inventory: Inventory = tree({**FILES, "site.yml": play}, vault_passwords=BOTH)
    task = Playbook(inventory, "site.yml").task("t", "web1")
    assert task is not None
    assert task.unknown("any")
