"""The kinds of vectors about bindings: injection, types, keys, layers, categories, environments, and the language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from nodeattrs.bindings import (
    BindingError,
    Classes,
    Injector,
    Inventory,
    Layer,
    NotBound,
    Objects,
    Producer,
    Reference,
    State,
    effective_categories,
    environment_of,
    kinds_of,
    layer_references,
    map_key,
    parameter_key,
    parse_expression,
    parse_items,
    parse_sets,
    parse_site,
    parse_type,
    sets_from_data,
    to_data,
    variable_key,
)
from tests.vectors.cases import Case, Judge
from tests.vectors.values import spelled

# --- the fixture classes and functions of the page -------------------------------------


class Logger:
    def __init__(self) -> None:
        self.args: list[Any] = []


class FancyLogger(Logger):
    pass


class Plain:
    def __init__(self) -> None:
        self.args: list[Any] = []


class Greeter:
    def __init__(self, who: Any) -> None:
        self.args = [who]


class Wired:
    def __init__(self, value: Any) -> None:
        self.args = [value]

    @classmethod
    def __inject__(cls, injector: Injector) -> Wired:
        return cls(injector.inject("wired-value"))


class Counter(Producer):
    def __init__(self, start: int = 0, step: int = 1) -> None:
        self.args = [start, step]
        self.last, self.step = start, step

    def produce(self) -> Any:
        self.last += self.step
        return self.last


FIXTURES: dict[str, type] = {one.__name__: one for one in (Logger, FancyLogger, Plain, Greeter, Wired, Counter)}


def _sum(key: str, current: Any, new: Any) -> Any:
    return new if current is None else current + new


def _flat(value: Any) -> list[Any]:
    return [inner for entry in value for inner in _flat(entry)] if isinstance(value, list) else [value]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "double": lambda value: value * 2,
    "upcase": lambda value: value.upper(),
    "stringify": str,
    "sort": sorted,
    "default-0": lambda value: 0 if value is None else value,
    "concat-flattened": lambda memo, new: memo + _flat(new),
    "concat-lists": _sum,
    "sum": _sum,
    "last-by-title": lambda found: sorted(found)[-1],
}


# --- injection -----------------------------------------------------------------------------


def _inject(case: Case) -> Iterator[str]:
    expected = case["expect"]
    try:
        injector = _injector(case)
    except BindingError as error:
        yield from _judged_build(case, error)
        return
    if "results" not in expected:
        yield f"expected the error {expected.get('error') or expected['error_any']}, and the injector was built"
        return
    given: list[Any] = []
    for number, (request, result) in enumerate(zip(case["inject"], expected["results"], strict=True)):
        got = _answer(injector, request, given)
        if not _same(result, got, case.get("unordered", False)):
            yield f"request {number}: expected {spelled(result)}, got {spelled(got)}"


def _injector(case: Case) -> Injector:
    layers = []
    for layer in case["layers"]:
        sets = [sets_from_data(one)[0] for one in layer["bindings"]]
        layers.append(Layer(layer["name"], tuple(sets)))
    state = State([(name, value) for name, value in case.get("categories", [])])
    objects = Objects(**case.get("world", {}))
    return Injector(layers, state, classes=FIXTURES, functions=FUNCTIONS, objects=objects)


def _judged_build(case: Case, error: BindingError) -> Iterator[str]:
    expected = case["expect"]
    kinds = kinds_of(error)
    wanted = expected.get("error_any") or ([expected["error"]] if "error" in expected else [])
    if case.get("early_ok"):
        wanted = [*wanted, *(result["error"] for result in expected.get("results", []) if "error" in result)]
    if not kinds & set(wanted):
        yield f"expected {spelled(expected)}, got {sorted(kinds)}: {error}"


def _answer(injector: Injector, request: dict[str, Any], given: list[Any]) -> dict[str, Any]:
    key: list[Any] = [request["name"]] if "name" in request else []
    if "type" in request:
        key.append(parse_type(request["type"]))
    try:
        if "produce" in request:
            producer = injector.producer(*key)
            values = [producer.produce() for _ in range(request["produce"])]
            given.append(values)
            return {"values": [_shown(value) for value in values]}
        value = injector.get(*key, default=request["default"]) if "default" in request else injector.inject(*key)
    except NotBound:
        given.append(None)
        return {"missing": True}
    except BindingError as error:
        given.append(None)
        return {"error": error.kind}
    given.append(value)
    same = {"same": value is given[request["same_as"]]} if "same_as" in request else {}
    return {"value": _shown(value), **same}


def _shown(value: Any) -> Any:
    if type(value) in FIXTURES.values():
        return {"instance": type(value).__name__, "args": value.args}
    if isinstance(value, dict):
        return {key: _shown(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_shown(entry) for entry in value]
    return str(value) if isinstance(value, str) else value


def _same(expected: dict[str, Any], got: dict[str, Any], unordered: bool) -> bool:
    if unordered and isinstance(expected.get("value"), list) and isinstance(got.get("value"), list):
        expected = {**expected, "value": sorted(map(spelled, expected["value"]))}
        got = {**got, "value": sorted(map(spelled, got["value"]))}
    return spelled(expected) == spelled(got)


# --- the small pure functions ------------------------------------------------------------------


def _instance_of(case: Case) -> dict[str, Any]:
    return {"value": parse_type(case["type"]).holds(case["value"], Classes(FIXTURES))}


def _assignable(case: Case) -> dict[str, Any]:
    return {"value": parse_type(case["type"]).accepts(parse_type(case["from"]), Classes(FIXTURES))}


def _layers(case: Case) -> dict[str, Any]:
    inventory = Inventory(**case["inventory"])
    return {"layers": [{"name": name, "refs": refs} for name, refs in layer_references(case["config"], inventory)]}


def _categories(case: Case) -> dict[str, Any]:
    effective = effective_categories(case["site"], **case["vars"])
    return {"effective": [list(pair) for pair in effective]}


def _environment(case: Case) -> dict[str, Any]:
    exists = {path.rstrip("/") for path in case["dirs"]}.__contains__
    found = environment_of(case["site"], case["selected"], confdir=case["confdir"], is_directory=exists)
    return {"environment": {**asdict(found), "modulepath": list(found.modulepath)}}


def _key(case: Case) -> dict[str, Any]:
    match case["of"]:
        case {"kind": "param", "target": target, "name": name}:
            return {"key": parameter_key(target, name)}
        case {"kind": "map", "lhs": lhs, "rhs": rhs}:
            return {"key": map_key(lhs, rhs)}
        case {"kind": "var", "name": name}:
            return {"key": variable_key(name)}
    raise ValueError(f"no such key: {case['of']}")


def _parse(case: Case) -> dict[str, Any]:
    text = case["text"]
    match case["start"]:
        case "items":
            return {"items": _without_sources(to_data(parse_items(text))["items"])}
        case "bindings_file":
            return {"sets": _without_sources([to_data(one) for one in parse_sets(text)])}
        case "site_file":
            return dict(_without_sources(parse_site(text).to_dict()))
        case "inject_call":
            return inject_call(text)
    raise ValueError(f"no such start: {case['start']}")


def inject_call(text: str) -> dict[str, Any]:
    """The key and the arguments of a call `inject(String, 'main url', { size => 3 })`."""
    *key, last = parse_expression(text).evaluate(lambda name: None, {"inject": lambda *given: given})
    given = {"args": last} if isinstance(last, dict) else {}
    words = key if given else [*key, last]
    return {"inject": {"type" if isinstance(one, Reference) else "name": str(one) for one in words}, **given}


def _without_sources(data: Any) -> Any:
    """The page shows lambdas by their parameters only."""
    if isinstance(data, dict):
        return {
            key: _without_sources(value) for key, value in data.items() if not (key == "source" and "lambda" in data)
        }
    return [_without_sources(value) for value in data] if isinstance(data, list) else data


_PURE: dict[str, Callable[[Case], dict[str, Any]]] = {
    "instance_of": _instance_of,
    "assignable": _assignable,
    "layers": _layers,
    "categories": _categories,
    "environment": _environment,
    "key": _key,
    "parse": _parse,
}


def bindings(case: Case) -> Iterator[str]:
    """One case, whatever its op."""
    if case["op"] == "inject":
        yield from _inject(case)
        return
    try:
        got = _PURE[case["op"]](case)
    except BindingError as error:
        got = {"error": error.kind}
    if _ordered(got) != _ordered(case["expect"]):
        yield f"expected {spelled(case['expect'])}, got {spelled(got)}"


def _ordered(value: Any) -> str:
    """One text for one value, in which the order of fields does not count."""
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{spelled(key)}:{_ordered(entry)}' for key, entry in value.items()))}}}"
    return f"[{','.join(map(_ordered, value))}]" if isinstance(value, (list, tuple)) else spelled(value)


KINDS: dict[str, dict[str, Judge]] = {"bindings": {"whole": bindings}}
