"""Settings of a Python program: one object, each value with its line, each error with the line to edit."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from nodeattrs.errors import BadArgument, InvalidSettings, NoSuchAttribute, UnknownLayer
from nodeattrs.settings import load
from tests.effort import examples

attrs = pytest.importorskip("attrs")
pydantic = pytest.importorskip("pydantic")


@dataclasses.dataclass
class Database:
    host: str
    port: int = 5432


@dataclasses.dataclass
class Settings:
    db: Database
    debug: bool = False
    hosts: list[str] = dataclasses.field(default_factory=list)


class DatabaseModel(pydantic.BaseModel):
    host: str
    port: int = 5432


class SettingsModel(pydantic.BaseModel):
    db: DatabaseModel
    debug: bool = False
    hosts: list[str] = pydantic.Field(default_factory=list)


@attrs.define
class DatabaseAttrs:
    host: str
    port: int = 5432


@attrs.define
class SettingsAttrs:
    db: DatabaseAttrs
    debug: bool = False
    hosts: list[str] = attrs.Factory(list)


@dataclasses.dataclass
class Words:
    word: str


@dataclasses.dataclass
class Either:
    one: int | bool


@dataclasses.dataclass
class Many:
    all: list[Database]


class Aliased(pydantic.BaseModel):
    word: str = pydantic.Field(alias="oneWord")


def refuse(text: str) -> str:
    raise ValueError(f"{text} is no word")


class Refusing(pydantic.BaseModel):
    kind: Literal["a"]
    word: Annotated[str, pydantic.AfterValidator(refuse)]


class Numbered(pydantic.BaseModel):
    kind: Literal["b"]
    n: pydantic.ImportString[Any]


class Tagged(pydantic.BaseModel):
    one: Refusing | Numbered = pydantic.Field(discriminator="kind")


MODELS: Any = (Settings, SettingsModel, SettingsAttrs)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A base and a production file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text("db:\n  host: localhost\n  port: 5432\nhosts: [a]\n")
    Path("prod.yaml").write_text("db:\n  host: db.example\n")
    return ["base.yaml", "prod.yaml"]


@pytest.mark.parametrize("model", MODELS)
class TestEveryKindOfClass:
    def test_later_files_and_variables_override_earlier_ones(self, files: list[str], model: Any) -> None:
        Path(".env").write_text('APP_DB__PORT=6000\nOTHER=1\nAPP_HOSTS=\'["b", "c"]\'\n')
        found = load(model, files, env="APP_", dotenv=".env", environ={"APP_DB__PORT": "7000", "PATH": "/bin"}).value
        assert (found.db.host, found.db.port, found.hosts) == ("db.example", 7000, ["b", "c"])

    def test_an_argument_overrides_all_and_none_sets_nothing(self, files: list[str], model: Any) -> None:
        given = {"db.port": 1, "debug": None}
        found = load(model, files, env="APP_", environ={"APP_DB__PORT": "7000"}, arguments=given).value
        assert (found.db.port, found.debug) == (1, False)

    def test_a_wrong_value_is_named_with_its_line(self, files: list[str], model: Any) -> None:
        Path("prod.yaml").write_text("debug: false\ndb:\n  port: eighty\n")
        with pytest.raises(InvalidSettings) as caught:
            load(model, files)
        assert str(caught.value).startswith("prod.yaml:3: db.port: ")
        assert "it overrides base.yaml:3 (file base)" in str(caught.value)

    def test_a_wrong_variable_is_named(self, files: list[str], model: Any) -> None:
        with pytest.raises(InvalidSettings, match=r"^variable APP_DB__PORT: db\.port: "):
            load(model, files, env="APP_", environ={"APP_DB__PORT": "eighty"})

    def test_a_missing_field_is_named_with_its_environment_variable(self, files: list[str], model: Any) -> None:
        Path("base.yaml").write_text("db:\n  port: 1\n")
        with pytest.raises(InvalidSettings, match=r"^db\.host: Field required") as caught:
            load(model, ["base.yaml"], env="APP_", environ={})
        assert "no file sets it, and APP_DB__HOST is not set" in caught.value.details

    def test_the_text_false_is_false(self, files: list[str], model: Any) -> None:
        assert load(model, files, env="APP_", environ={"APP_DEBUG": "false"}).value.debug is False

    @pytest.mark.parametrize(("key", "value"), [("DEBUG", "perhaps"), ("HOSTS", "abc"), ("DB__PORT", "[8.5]")])
    def test_a_value_of_another_type_is_no_guess(self, files: list[str], model: Any, key: str, value: str) -> None:
        with pytest.raises(InvalidSettings, match=f"^variable APP_{key}: "):
            load(model, files, env="APP_", environ={f"APP_{key}": value})

    def test_all_faults_are_named_at_once(self, files: list[str], model: Any) -> None:
        Path("prod.yaml").write_text("debug: [1]\ndb:\n  port: [2]\nhosts: {}\n")
        with pytest.raises(InvalidSettings) as caught:
            load(model, files)
        places = [f"prod.yaml:{line}: {key}" for line, key in ((3, "db.port"),)]
        assert [one for one in places if one not in str(caught.value)] == []


class TestExplanations:
    def test_a_key_has_its_line_and_what_it_overrode(self, files: list[str]) -> None:
        text = load(Settings, files).explain("db.host")
        assert 'db.host = "db.example"' in text
        assert "wins   2" in text
        assert "base.yaml:2 (file base)" in text

    def test_a_key_that_nothing_sets_is_an_error_with_near_misses(self, files: list[str]) -> None:
        with pytest.raises(NoSuchAttribute, match=r"db\.hots is not set") as caught:
            load(Settings, files).explain("db.hots")
        assert "host" in str(caught.value.hint)


class TestSources:
    def test_a_line_of_an_env_file_is_named(self, files: list[str]) -> None:
        Path(".env").write_text("# ours\nAPP_DB__PORT=x\n")
        with pytest.raises(InvalidSettings, match=r"^\.env:2: db\.port"):
            load(Settings, files, env="APP_", dotenv=".env", environ={})

    def test_an_env_file_that_is_not_there_sets_nothing(self, files: list[str]) -> None:
        assert load(Settings, files, env="APP_", dotenv="nosuch.env", environ={}).value.db.port == 5432

    @pytest.mark.parametrize("names", [("APP_DB", "APP_DB__PORT"), ("APP_DB__PORT", "APP_DB__PORT__X")])
    def test_a_variable_below_another_one_is_an_error(self, names: tuple[str, str]) -> None:
        with pytest.raises(BadArgument, match=f"{names[1]} and {names[0]}"):
            load(Settings, env="APP_", environ=dict.fromkeys(names, "1"))

    def test_without_a_prefix_no_variable_is_read(self, files: list[str]) -> None:
        assert load(Settings, files, environ={"DB__PORT": "1"}).value.db.port == 5432

    def test_a_policy_by_name_decides_what_null_means(self, files: list[str]) -> None:
        Path("prod.yaml").write_text("hosts: null\n")
        assert load(Settings, files, policy="json-merge-patch").value.hosts == []

    def test_a_file_that_is_encrypted_is_an_error(self, files: list[str]) -> None:
        Path("secret.yaml").write_text("$ANSIBLE_VAULT;1.1;AES256\n6162\n")
        with pytest.raises(UnknownLayer):
            load(Settings, [*files, "secret.yaml"])

    def test_no_error_has_the_value(self, files: list[str]) -> None:
        with pytest.raises(InvalidSettings) as caught:
            load(Settings, files, env="APP_", environ={"APP_DB__PORT": "s3cret"})
        assert "s3cret" not in str(caught.value)

    @pytest.mark.parametrize(
        "given", [{"kind": "a", "word": "s3cret"}, {"kind": "s3cret"}, {"kind": "b", "n": "s3cret"}]
    )
    def test_no_message_of_a_program_has_the_value(self, given: dict[str, str]) -> None:
        with pytest.raises(InvalidSettings, match="argument one: one") as caught:
            load(Tagged, arguments={"one": given})
        assert "s3cret" not in str(caught.value)

    def test_a_text_that_is_no_json_stays_a_text(self) -> None:
        assert load(Words, env="APP_", environ={"APP_WORD": "[" * 100_000}).value.word[:1] == "["

    def test_two_variables_of_one_key_are_an_error(self) -> None:
        with pytest.raises(BadArgument, match="APP_word and APP_WORD set the same key"):
            load(Words, env="APP_", environ={"APP_WORD": "a", "APP_word": "b"})

    def test_one_file_as_text_is_an_error(self) -> None:
        with pytest.raises(BadArgument, match="files is a list of paths"):
            load(Words, "base.yaml")


class TestPlaces:
    def test_what_an_entry_of_a_list_lacks_has_the_line_of_the_entry(self, files: list[str]) -> None:
        Path("base.yaml").write_text("all:\n- host: a\n- port: 1\n")
        with pytest.raises(InvalidSettings, match=r"^base\.yaml:3: all\.1\.host: Field required") as caught:
            load(Many, ["base.yaml"], env="APP_", environ={})
        assert "is not set" not in str(caught.value)

    def test_each_type_of_a_union_has_the_place_of_the_value(self) -> None:
        with pytest.raises(InvalidSettings) as caught:
            load(Either, env="APP_", environ={"APP_ONE": "x"})
        assert [line[:24] for line in (caught.value.message, *caught.value.details)] == [
            "variable APP_ONE: one.in",
            "variable APP_ONE: one.bo",
        ]

    def test_a_prefix_in_small_letters_stays_small(self) -> None:
        with pytest.raises(InvalidSettings, match="and app_WORD is not set"):
            load(Words, env="app_", environ={})

    def test_a_key_that_no_variable_sets_has_no_variable(self) -> None:
        with pytest.raises(InvalidSettings, match="oneWord: Field required") as caught:
            load(Aliased, env="APP_", environ={})
        assert "is not set" not in str(caught.value)


def test_one_wrong_value_in_a_random_model_is_named_with_its_line(tmp_path: Path) -> None:
    for number in range(examples(200)):
        chance = random.Random(number)
        model, tree = _drawn(chance, 0)
        path = chance.choice(_leaves(tree))
        holder = tree
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = {"wrong": 1}
        file = tmp_path / "a.json"
        file.write_text(json.dumps(tree, indent=1))
        line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if '"wrong"' in text) - 1
        with pytest.raises(InvalidSettings) as caught:
            load(model, [file])
        assert str(caught.value).startswith(f"{file}:{line}: {'.'.join(path)}: "), number


def _drawn(chance: random.Random, depth: int) -> tuple[Any, dict[str, Any]]:
    """A model with some fields, and a tree that fits it."""
    fields: dict[str, Any] = {}
    tree: dict[str, Any] = {}
    for number in range(chance.randint(1, 4)):
        name, kind = f"f{depth}{number}", chance.choice((int, str, bool, "model" if depth < 3 else int))
        if kind == "model":
            inner, below = _drawn(chance, depth + 1)
            fields[name], tree[name] = (inner, ...), below
        else:
            fields[name], tree[name] = (kind, ...), {int: 1, str: "x", bool: True}[kind]
    return pydantic.create_model("Drawn", **fields), tree


def _leaves(tree: dict[str, Any]) -> list[tuple[str, ...]]:
    found = []
    for key, value in tree.items():
        found += [(key, *path) for path in _leaves(value)] if isinstance(value, dict) else [(key,)]
    return found
