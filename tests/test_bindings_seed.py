"""ARM-8 line by line: what the document shows and promises, from a file, each example as a question with its answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import pytest

from nodeattrs.bindings import (
    Asked,
    BindingError,
    Bindings,
    Composition,
    Injector,
    Layer,
    Objects,
    Producer,
    kinds_of,
    map_key,
    named,
    parameter_key,
    parse_items,
    parse_sets,
    parse_site,
    parse_type,
    variable_key,
)
from nodeattrs.formats.documents import read
from tests.bound_names import parameters_of, variables_of
from tests.vectors.bindings import inject_call

EXAMPLES = read(Path(__file__).parent / "samples" / "arm8.yaml").tree


class Lamp: ...


class BrightLamp(Lamp): ...


class Shed:
    def __init__(self, lamp: Lamp, size: Annotated[int, named("size")] = 3) -> None: ...


class Tickets(Producer):
    count = 0

    def produce(self) -> Any:
        Tickets.count = 1
        return f"t{Tickets.count}"


class MyProvider:
    def __call__(self, references: Iterable[str], request: object) -> list[Bindings]:
        return [Bindings.of_values("mine", {"from": "mine"})]


CLASSES = {one.__name__: one for one in (Lamp, BrightLamp, Shed, Tickets, MyProvider)}
OBJECTS = Objects(
    {"Web": ["dbuser", "dbhost", "port"], "Sql": ["user", "port"], "Rack": ["place"], "Shed": ["size"]},
    {
        "Sql[one]": {"user": "app", "port": 1}, "Sql[two]": {"user": "b", "port": 2}, "Rack[r1]": {"place": "r1"},
    },
)  # fmt: skip


def built(example: dict[str, Any], folder: Path) -> Injector:
    """The injector that an example is about."""
    if "files" in example:
        for name, text in example["files"].items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return Composition(
            folder,
            node=example.get("node", "fern"),
            facts=example.get("facts"),
            classifier=example.get("classifier"),
            classes=CLASSES,
            providers={"handed": lambda references, request: [Bindings.of_values("handed", {"from": "handed"})]},
        ).injector()
    layers = [
        Layer(f"layer {number}", (parse_items(text, f"set{number}"),)) for number, text in enumerate(example["items"])
    ]
    return Injector(layers, example.get("state", ()), classes=CLASSES, objects=OBJECTS)


def asked(key: str) -> Asked:
    """`TYPE|NAME`, or a name alone."""
    of, bar, name = key.rpartition("|")
    return Asked(parse_type(of) if bar else None, name or None)


def names_of(value: Any) -> Any:
    """The classes of objects, in the shape of their collection."""
    if isinstance(value, dict):
        return {key: names_of(one) for key, one in value.items()}
    return [names_of(one) for one in value] if isinstance(value, list) else type(value).__name__


def kind_of(ask: Any) -> frozenset[str]:
    try:
        ask()
    except BindingError as error:
        return kinds_of(error)
    return frozenset()


ANSWERS: dict[str, Any] = {
    "classes": lambda injector, _: sorted(injector.classes()),
    "variables": lambda injector, _: variables_of(injector),
    "dependencies": lambda injector, _: [list(one) for one in injector.dependencies()],
    "warns": lambda injector, _: len(injector.resolution.warnings),
    "parameters": lambda injector, wanted: {target: parameters_of(injector, target) for target in wanted},
    "inject": lambda injector, wanted: {key: injector.inject(asked(key)) for key in wanted},
    "none": lambda injector, wanted: [name for name in wanted if injector.get(name) is None],
    "made": lambda injector, wanted: {key: names_of(injector.inject(asked(key))) for key in wanted},
    "made_in": lambda injector, wanted: {key: names_of(injector.inject(asked(key))) for key in wanted},
    "asking": lambda injector, wanted: {key: "".join(kind_of(lambda: injector.inject(asked(key)))) for key in wanted},  # noqa: B023
}
KEYS = {"parameter": parameter_key, "map": map_key, "variable": variable_key}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one['at']} {one['about']}")
def test_examples_of_the_bindings_document_give_the_documented_answers(example: dict[str, Any], tmp_path: Path):
    """
    Of all of them none fails; whoever finds one that must gives it a line in docs/differences.md.
    """
    if "type" in example:
        assert str(parse_type(example["type"][0])) == example["type"][1]
    elif "key" in example:
        kind, *words, wanted = example["key"]
        assert KEYS[kind](*words) == wanted
    elif "site" in example:
        assert list(parse_site(example["site"]).to_dict()["site"]["environments"]) == example["environments"]
    elif "parsed" in example:
        assert len(parse_sets(example["parsed"])) == 1
    elif "parsed_call" in example:
        assert inject_call(example["parsed_call"]) == {
            "inject": {"type": "String", "name": "a"},
            "args": {"x": 1},
        }
    elif "faults" in example:
        with pytest.raises(BindingError) as caught:
            built(example, tmp_path)
        assert sorted(kinds_of(caught.value)) == example["faults"]
        assert str(caught.value).count("must be bound") >= example.get("count", 0)
        assert example.get("says", "") in str(caught.value)
    else:
        injector = built(example, tmp_path)
        questions = [word for word in ANSWERS if word in example]
        assert questions
        for word in questions:
            assert ANSWERS[word](injector, example[word]) == example[word]


def test_there_are_as_many_as_were_counted():
    """
    By a reader who went through the document: 110 examples, and sentences that state an outcome.
    """
    assert len(EXAMPLES) >= 110
