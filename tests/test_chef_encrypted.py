"""Encrypted data bags: what Chef's own classes encrypted, opened as secrets; a wrong secret says nothing."""

from __future__ import annotations

import base64
import copy
import json
import sys
import traceback
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.chef import decrypted, is_encrypted
from nodeattrs.cli import main
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.errors import CannotDecrypt, MissingExtra
from tests.effort import examples
from tests.on_disk import repository

SECRET = "open sesame"
PLAIN = {
    "password": "s3cret é😀",
    "port": 5432,
    "hosts": ["a", {"b": None}],
    "on": True,
    "pi": 1.5,
    "none": None,
    "empty": "",
}

# Made by Chef Infra's Encryptor::Version1Encryptor to Version3Encryptor.
ENCRYPTED: list[dict[str, Any]] = json.loads(r"""
[{"id": "db",
  "password": {"encrypted_data": "/QYM56OBKrZULArjFSsAthRMRGTX9n8+hizVH0zSF4FfyxVNvrqLg/QTJ60D\nn7f5\n",
    "iv": "CsKJ9RkEqG/bQlD2JXExQQ==\n", "version": 1, "cipher": "aes-256-cbc"},
  "port": {"encrypted_data": "yXL+hUaVzLqNRC8fTmZsh9p5DwgKUvGYUL97tEnU+Zg=\n", "iv": "GN2OyE6999B7n/+QirdQMw==\n",
    "version": 1, "cipher": "aes-256-cbc"},
  "hosts": {"encrypted_data": "ZIrFLWxU9uicYXrPfh/+/S+LPP/poMGJjbnHAQOyr6aaIMLFUu2Anmg1CZX/\nV5nd\n",
    "iv": "Ay6QBUaBWpUhIXr8xNqogw==\n", "version": 1, "cipher": "aes-256-cbc"},
  "on": {"encrypted_data": "WUDD+fw61eZ94HtoyRi8Zw9L2cfJFbodfaJ1zSj+v+o=\n", "iv": "AKXuaeF7gitFHqX0IrloOw==\n",
    "version": 1, "cipher": "aes-256-cbc"},
  "pi": {"encrypted_data": "khbUwt+iigGPVF86iy7NyJ3ev1g2u6a15e7L7EyJqw4=\n", "iv": "O4vOCAbxsDM2bXghYNDJUQ==\n",
    "version": 1, "cipher": "aes-256-cbc"},
  "none": {"encrypted_data": "FHaDTKMDYVrhnzdq5DwQ/dtnSzjRPQ8xfSHHLgaY+IQ=\n", "iv": "Vq3nWZtMp+ee2d9aKwzs1A==\n",
    "version": 1, "cipher": "aes-256-cbc"},
  "empty": {"encrypted_data": "e0TDzvoCU5K0MnId17oPCqB0LaEXm4pcpjX1UzPoV7s=\n", "iv": "SRBKrKuae5IbuA1UWtmyHg==\n",
    "version": 1, "cipher": "aes-256-cbc"}},
 {"id": "db",
  "password": {"encrypted_data": "Y64CKDuggC3GDG58ifUJBb3Uvl2m5njcEHcouY1k+zAZG11Jdg5X+OJ9eSsi\nXev8\n",
    "hmac": "d9NNxQ752lzB0QvQtEXUjwHdhdwFhmypqdMLi7cdfD4=\n", "iv": "1vGAsMZU/HPAws1qOgZrgg==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "port": {"encrypted_data": "jTuS8JK0tVNnWZCM8Wux7cUCSDbB1G2v4BiQMnNyTfc=\n",
    "hmac": "Pa2l0nOkfC4RTq7BBky7bRIdxhCmNzK+nf/PKFpS6TU=\n", "iv": "pnomA6j8ygUUrm3KzqDPAA==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "hosts": {"encrypted_data": "maottqC8Lsa0gMitLhEtxvG1eS6D0lBRs+uCfImMNhsqFpEwooFCt7wOhPkt\ns5kE\n",
    "hmac": "fIno1lSNwbKHBVjyEtc8j4TUQsQ0B15P347/hiuohnE=\n", "iv": "Zp10tlhCFT/zqA4Vx+w9Jg==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "on": {"encrypted_data": "7TusnU8UtakgxaJENhyaFYlcXzouIMbDm95FhcPXrV8=\n",
    "hmac": "y51riDtQoV4JJHC5HfmnglRFdqZCERqP0u71hntxueQ=\n", "iv": "kYTQLUG6gZR4MKyM1OslXQ==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "pi": {"encrypted_data": "djNlFU9eY20DxXk4VsiuIQ7cDH64+BV1Yq9IoEzzgas=\n",
    "hmac": "BoZPM36Ol1wPYjiXQcbBUHCqjKVFsHRyKLFVGokYlAw=\n", "iv": "xtvP5OK74i5Pq1bG4cwQow==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "none": {"encrypted_data": "3WexHwRCme9Y80JgZj5X/6raAMb9PR5L6AAGPqGtTIc=\n",
    "hmac": "NSMdWw3F87N9KdmE/RoxvLmyHX25VayUHuclUtPNFeQ=\n", "iv": "WuK93t1ZazkiCt84AkyRfA==\n", "version": 2,
    "cipher": "aes-256-cbc"},
  "empty": {"encrypted_data": "u4rWPytGbrs0oCytzcL+G1BMUNNNuU6DmrjBB5O7Kw4=\n",
    "hmac": "WosIEyV87D1B/ajGzfVkRl/qXdrKeS85VrQbGjxw8ds=\n", "iv": "XXQmo5/CazWsUglzRKQftA==\n", "version": 2,
    "cipher": "aes-256-cbc"}},
 {"id": "db",
  "password": {"encrypted_data": "OSVXL/uAZP99QUK/ymuRuo1DLVsmWmQbvieLxRosctk=\n", "iv": "qul0id/Y/jM/aW9J\n",
    "auth_tag": "LjOve2BUO2ss6KN/DK7tCw==\n", "version": 3, "cipher": "aes-256-gcm"},
  "port": {"encrypted_data": "ZBZtBM8SWRvMVVPjmDAPHD9z7MBW\n", "iv": "BeONR7Xx5HJnSpL4\n",
    "auth_tag": "glehHcOvgBQNJrrBPYmylg==\n", "version": 3, "cipher": "aes-256-gcm"},
  "hosts": {"encrypted_data": "x4Q2dl85R90x3sjmwUatgKzCjdh1fwnQbev9+nRXcwWV\n", "iv": "wbpY8OCHJ9Ld/lG7\n",
    "auth_tag": "NKUdrkt/ZS+LEJGempTvzg==\n", "version": 3, "cipher": "aes-256-gcm"},
  "on": {"encrypted_data": "QwP150Vv7in+D9mQPhvOTJHeVG/P\n", "iv": "9wzIRUE2a40mmEhv\n",
    "auth_tag": "4xu7ZM++7EdEbCPWLoTPOA==\n", "version": 3, "cipher": "aes-256-gcm"},
  "pi": {"encrypted_data": "/1NcFN55Maf2BBt0b89b6mi6Ht0=\n", "iv": "ILmea7tbIsLDXgTp\n",
    "auth_tag": "wMGmjVQD2as5CioBE+I4HQ==\n", "version": 3, "cipher": "aes-256-gcm"},
  "none": {"encrypted_data": "zOJKipWX8HLCOtSlJr9bIaM6rJcI\n", "iv": "7gwdWX5DoQ8aLKfP\n",
    "auth_tag": "iPwsZFLdsFvP5mlnMnaaSg==\n", "version": 3, "cipher": "aes-256-gcm"},
  "empty": {"encrypted_data": "okV5uVIB3TenS1O4HakI/xSUDA==\n", "iv": "LMpaa8/x4vlPp5yW\n",
    "auth_tag": "3BlNzwvrmFdrynzbQuxYGg==\n", "version": 3, "cipher": "aes-256-gcm"}}]
""")


def clear(item: dict[str, Any]) -> dict[str, Any]:
    """The secrets of an item, unwrapped."""
    return {key: value.unwrap() for key, value in item.items() if key != "id"}


@pytest.mark.parametrize("item", ENCRYPTED, ids=["version 1", "version 2", "version 3"])
class TestFormats:
    def test_items_that_chef_encrypted_are_decrypted(self, item):
        """All kinds of values, each a secret; the id is none."""
        opened = decrypted(item, SECRET.encode(), "db")

        assert is_encrypted(item)
        assert (PLAIN, "db") == (clear(opened), opened["id"])
        assert all(isinstance(value, Sensitive) for key, value in opened.items() if key != "id")

    def test_a_wrong_secret_says_nothing(self, item):
        """Not in the message, and not in what stands behind it."""
        for wrong in (f"{number}" for number in range(300)):  # of 256 wrong ones, one gives a padding by chance
            with pytest.raises(CannotDecrypt) as caught:
                decrypted(item, wrong.encode(), "item db of data bag app")

            assert caught.value.message == "password of item db of data bag app cannot be decrypted"
            assert (None, None) == (caught.value.__cause__, caught.value.__context__)

    @pytest.mark.parametrize("field", ["encrypted_data", "iv", "hmac", "auth_tag", "cipher"])
    @pytest.mark.parametrize("value", ["", "AAAA", "é", None, 7, [], "x" * 17])
    def test_a_changed_encrypted_item_is_refused(self, item, field, value):
        """With one error, whatever it is."""
        changed = copy.deepcopy(item)
        if field not in changed["password"]:
            return
        changed["password"][field] = value
        with pytest.raises(CannotDecrypt):
            decrypted(changed, SECRET.encode(), "db")

    def test_without_the_library_the_extra_is_named(self, item, monkeypatch):
        """It is an extra."""
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
        with pytest.raises(MissingExtra, match=r"nodeattrs\[chef\]"):
            decrypted(item, SECRET.encode(), "db")


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(ENCRYPTED), st.data())
def test_a_bit_that_flipped_is_noticed_in_the_formats_with_a_check(item, data):
    """Format 1 has none: there another value may come out, and never an error of another sort."""
    changed = copy.deepcopy(item)
    raw = bytearray(base64.b64decode(changed["hosts"]["encrypted_data"]))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    changed["hosts"]["encrypted_data"] = base64.b64encode(raw).decode()
    try:
        decrypted(changed, SECRET.encode(), "db")
    except CannotDecrypt:
        return
    assert item["password"]["version"] == 1


@pytest.mark.parametrize(
    "item",
    [
        {"id": "x"},
        {"id": "x", "a": 1},
        {**ENCRYPTED[0], "plain": 1},
        {"id": "x", "a": {"version": 4}},
        {"id": "x", "a": {"version": True}},
    ],
)
def test_what_is_not_encrypted_whole_is_not_encrypted(item):
    """As Chef decides it."""
    assert not is_encrypted(item)


FILES = {
    "data_bags/app/db.json": ENCRYPTED[2],
    "data_bags/app/plain.json": {"id": "plain", "a": 1},
    "secret": f"{SECRET}\n",
}
SETTINGS = {"nodeattrs.toml": '[chef]\nsecret_file = "secret"\n'}


class TestInARepository:
    def test_the_settings_name_the_secret(self, tmp_path):
        """Relative to the repository; blanks around it do not count, as in Chef."""
        repo = repository(tmp_path, {**FILES, **SETTINGS})

        assert PLAIN == clear(repo.data_bag_item("app", "db"))
        assert repo.data_bag_item("app", "plain") == {"id": "plain", "a": 1}

    def test_data_bag_item_decrypts_with_a_given_secret_or_secret_file(self, tmp_path, monkeypatch):
        """A file, from where it is called, or the secret itself."""
        repo = repository(tmp_path, FILES)
        assert PLAIN == clear(repo.data_bag_item("app", "db", SECRET))

        monkeypatch.chdir(tmp_path)
        repo.options = RepositoryOptions(secret_file="secret")
        assert PLAIN == clear(repo.data_bag_item("app", "db"))

    def test_an_encrypted_item_without_a_secret_is_an_error(self, tmp_path):
        """That says how to name it; a check needs none."""
        repo = repository(tmp_path, FILES)
        with pytest.raises(CannotDecrypt, match=r"item db of data bag app is encrypted\n.*--secret-file"):
            repo.data_bag_item("app", "db")
        assert [] == checked(repo, run_code=True).faults

    def test_an_item_of_chef_vault_is_named_as_one(self, tmp_path):
        """Its key is encrypted for clients, which nobody here is."""
        files = {**FILES, **SETTINGS, "data_bags/app/db_keys.json": {"id": "db_keys", "admins": [], "clients": []}}
        with pytest.raises(CannotDecrypt, match="is an item of chef-vault"):
            repository(tmp_path, files).data_bag_item("app", "db")

    def test_a_run_never_shows_it(self, tmp_path, capsys):
        """Neither the value nor the secret: not in what it prints, explains or keeps."""
        recipe = (
            "item = data_bag_item('app', 'db')\nnode.default['db']['password'] = item['password']\nlog(str(item))\n"
        )
        facts = {"platform": "ubuntu", "fqdn": "web1"}
        files = {**FILES, **SETTINGS, "cookbooks/app/recipes/default.py": recipe, "facts.json": facts}
        repository(tmp_path / "r", files)
        words = ["--repo", str(tmp_path / "r"), "--facts", str(tmp_path / "r/facts.json"), "--run-list", "app"]
        store = ["--store", str(tmp_path / "kept.db")]

        assert main(["run", *words, *store]) == 0
        assert main(["explain", "web1", "db.password", *words, *store]) == 0
        shown = "".join(capsys.readouterr()) + "".join(
            path.read_text("utf-8", "replace") for path in (tmp_path / "kept").rglob("*") if path.is_file()
        )
        assert "withheld" in shown
        assert "s3cret" not in shown
        assert SECRET not in shown

    def test_a_wrong_secret_in_a_run_says_nothing(self, tmp_path):
        """Not in the whole way to the error either."""
        files = {**FILES, **SETTINGS, "secret": "another"}
        try:
            repository(tmp_path, files).data_bag_item("app", "db")
        except CannotDecrypt as error:
            shown = "".join(traceback.format_exception(error))
        assert "another" not in shown
        assert "cannot be decrypted" in shown
