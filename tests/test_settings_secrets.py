"""Settings of a Python program: the value of a secret field is in no text."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any, NewType

import pytest

from nodeattrs.errors import InvalidSettings
from nodeattrs.settings import load

attrs = pytest.importorskip("attrs")
pydantic = pytest.importorskip("pydantic")
pydantic_core = pytest.importorskip("pydantic_core")

MARKER = "s3cret"
Secret = pydantic.SecretStr
Token = NewType("Token", Secret)


class Inner(pydantic.BaseModel):
    word: Secret = Secret("")


class Tree(pydantic.BaseModel):
    word: Secret | None = None
    below: list[Tree] = pydantic.Field(default_factory=list)


@dataclasses.dataclass
class Plain:
    word: Secret


@dataclasses.dataclass
class Quiet:
    word: str = dataclasses.field(repr=False)


@dataclasses.dataclass
class Noted:
    word: Annotated[str, pydantic.Field(repr=False, alias="key")]


@attrs.define
class OfAttrs:
    word: Secret


@attrs.define
class QuietAttrs:
    word: str = attrs.field(repr=False)


class Model(pydantic.BaseModel):
    word: Secret
    raw: pydantic.SecretBytes | None = None


class Aliased(pydantic.BaseModel):
    word: Secret = pydantic.Field(validation_alias=pydantic.AliasChoices("key", pydantic.AliasPath("keys", 0)))


class Many(pydantic.BaseModel):
    all: dict[str, Inner | list[Secret]]
    one: Token | None = None


class Generic(pydantic.BaseModel):
    number: pydantic.Secret[int]


def refuse(text: Any) -> Any:
    shown = text.get_secret_value() if hasattr(text, "get_secret_value") else text
    raise ValueError(f"x{shown}x is wrong")


def refuse_with_own_kind(text: Any) -> Any:
    raise pydantic_core.PydanticCustomError("mine", "no {text}", {"text": text.get_secret_value()})


class Refusing(pydantic.BaseModel):
    word: Annotated[Secret, pydantic.AfterValidator(refuse)]


class OwnKind(pydantic.BaseModel):
    word: Annotated[Secret, pydantic.AfterValidator(refuse_with_own_kind)]


class Whole(pydantic.BaseModel):
    word: Secret

    @pydantic.model_validator(mode="after")
    def refused(self) -> Whole:
        return refuse(self.word)


class Short(pydantic.BaseModel):
    word: Secret = pydantic.Field(max_length=3)


class Wrong(pydantic.BaseModel):
    word: pydantic.SecretStr
    other: int


SHOWN: list[tuple[Any, Any, Any, str]] = [
    (Model, {"word": "s3cret1"}, {"word": "s3cret2"}, "word"),
    (Model, {"word": "s3cret1", "raw": "s3cret"}, {"word": "s3cret2"}, "raw"),
    (Model, {"word": {"x": "s3cret1"}}, {"word": "s3cret2"}, "word"),
    (Plain, {"word": "s3cret1"}, {"word": "s3cret2"}, "word"),
    (Quiet, {"word": "s3cret1"}, {"word": "s3cret2"}, "word"),
    (Noted, {"key": "s3cret1"}, {"key": "s3cret2"}, "key"),
    (OfAttrs, {"word": "s3cret1"}, {"word": "s3cret2"}, "word"),
    (QuietAttrs, {"word": "s3cret1"}, {"word": "s3cret2"}, "word"),
    (Aliased, {"key": "s3cret1"}, {"key": "s3cret2"}, "key"),
    (Aliased, {"keys": ["s3cret1"]}, {"keys": ["s3cret2"]}, "keys"),
    (Many, {"all": {"a": {"word": "s3cret1"}}}, {"all": {"a": {"word": "s3cret2"}}}, "all.a"),
    (Many, {"all": {"a": "s3cret1"}}, {"all": {"a": {"word": "s3cret2"}}}, "all.a"),
    (Many, {"all": {"a": ["s3cret1"]}}, {"all": {"a": ["s3cret2", "s3cret3"]}}, "all.a"),
    (Many, {"all": {}, "one": "s3cret1"}, {"one": "s3cret2"}, "one"),
    (Generic, {"number": 3141592}, {"number": "2718281"}, "number"),
    (Tree, {"below": [{"below": [{"word": "s3cret1"}]}]}, {}, "below"),
]


def in_files(*trees: Any) -> list[str]:
    for number, tree in enumerate(trees):
        Path(f"{number}.json").write_text(json.dumps(tree))
    return [f"{number}.json" for number in range(len(trees))]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("model", "base", "over", "key"), SHOWN)
def test_an_explanation_withholds_secret_values(model: Any, base: Any, over: Any, key: str) -> None:
    found = load(model, in_files(base, over))
    texts = [found.explain(key), repr(found.folded), str(found.folded.trace(key)), repr(found.folded.value)]
    texts.append(json.dumps(found.folded.trace(key).to_dict()))
    assert [text for text in texts for marker in (MARKER, "3141592", "2718281") if marker in text] == []
    assert "withheld" in found.explain(key)


def test_the_object_has_the_secret() -> None:
    assert load(Model, in_files({"word": MARKER})).value.word.get_secret_value() == MARKER
    assert load(Quiet, in_files({"word": MARKER})).value.word == MARKER


def test_a_secret_of_a_variable_is_withheld() -> None:
    found = load(Model, in_files({"word": "s3cret1"}), env="A_", environ={"A_WORD": "s3cret2"})
    assert MARKER not in found.explain("word")
    assert "variable A_WORD" in found.explain("word")


def test_another_field_is_shown() -> None:
    found = load(Wrong, in_files({"word": MARKER, "other": 5}))
    assert "other = 5" in found.explain("other")


@pytest.mark.parametrize("model", [Refusing, OwnKind, Whole, Short, Wrong, Generic])
@pytest.mark.parametrize("value", [MARKER, [MARKER], {"a": MARKER}])
def test_an_error_has_no_secret(model: Any, value: Any) -> None:
    tree = {"word": value, "number": value, "other": "x"}
    with pytest.raises(InvalidSettings) as found:
        load(model, in_files(tree, tree))
    error = found.value
    texts = [str(error), repr(error), *error.details, str(error.__context__), str(error.__cause__)]
    assert [text for text in texts if MARKER in text] == []
    assert "1.json:1" in str(error) or str(error).startswith("the settings: ")
