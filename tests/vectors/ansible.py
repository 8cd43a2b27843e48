"""What Ansible makes of inventories, files of variables and playbooks: asked through the public names only."""

from __future__ import annotations

import datetime
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nodeattrs.ansible import (
    MAGIC,
    AnsibleError,
    Inventory,
    Playbook,
    Variables,
    Vault,
    as_json,
    as_json_text,
    as_yaml_text,
    graph,
    grouped,
    listing,
    nested_listing,
    printed_inventory,
    printed_variables,
)
from tests.vectors.cases import Case, Judge

_LEFT_OUT = {"vars-file-skipped"}
"""A kind of warning that a reader may leave out."""
_NOT_OURS = {"vault", "crash", "not-json"}
"""What is an error of the original only: there we answer, and say what we could not read."""


def inventories(case: Case) -> Iterator[str]:
    """An inventory, a playbook, or what ansible-inventory prints."""
    with _written(case) as root:
        try:
            yield from _ASKED[case["op"]](case, root)
        except AnsibleError as error:
            if case["expect"].get("error") not in (error.kind, "other"):
                yield f"refused: {error}"


def _inventory(case: Case, root: Path, **how: Any) -> Inventory:
    run = case["run"]
    return Inventory(
        *run.get("inventory", ()),
        folder=root,
        extra_vars=run.get("extra_vars", ()),
        environment=run.get("env", {}),
        **how,
    )


def _hosts(case: Case, root: Path) -> Iterator[str]:
    expect = case["expect"]
    arguments = (case.get("print") or [["--list"]])[0]
    inventory = _inventory(case, root, playbook_dir=_after("--playbook-dir", arguments))
    answers = {name: inventory.host(name) for name in inventory.hosts}
    got = {name: answer.vars for name, answer in answers.items()}
    if (wanted := expect.get("error")) is not None:
        holes = any(_holes(answer) for answer in answers.values())
        if wanted != "not-json" and not (wanted in _NOT_OURS and holes):
            yield f"expected the error {wanted}"
        return
    if "plugin" in case.get("tags", []) and any(one.file in case["files"] for one in inventory.not_run):
        return
    groups = grouped(inventory)
    if groups != expect["groups"]:
        yield f"groups: expected {expect['groups']}, got {groups}"
    for name, asked in expect["hosts"].items():
        if name not in got:
            yield f"{name}: is not there"
            continue
        yield from _judged(name, asked, answers[name], case, root)
    yield from (f"{name}: nobody asked for it" for name in got if name not in expect["hosts"])
    yield from _warned(expect, {warning.kind for warning in inventory.warnings})


def _tasks(case: Case, root: Path) -> Iterator[str]:
    expect = case["expect"]
    inventory = _inventory(case, root)
    playbook = Playbook(inventory, *case["run"]["playbook"].split())
    answers = [(asked, playbook.task(asked["at"], asked["host"])) for asked in case["ask"]]
    if (wanted := expect.get("error")) is not None:
        every = [answer for _, answer in answers if answer is not None and answer.vars is not None]
        if wanted not in _NOT_OURS or not any(_holes(answer) for answer in every):
            yield f"expected the error {wanted}"
        return
    for asked, answer in zip(expect["asked"], (answer for _, answer in answers), strict=True):
        where = f"{asked['host']} at {asked['at']}"
        if asked.get("never"):
            if answer is not None:
                yield f"{where}: no such task runs there"
        elif answer is None:
            if "dynamic" not in case.get("tags", []) or not playbook.unknown(asked["host"]):
                yield f"{where}: there is no such task"
        else:
            yield from _judged(where, asked, answer, case, root)
            yield from _magic(where, asked, answer, root)
    yield from _warned(expect, {warning.kind for warning in inventory.warnings})


def _judged(where: str, asked: Mapping[str, Any], answer: Variables, case: Case, root: Path) -> Iterator[str]:
    names = {next(iter(as_json({name: 0}))): name for name in answer.vars}
    got = {text: _encoded(answer.vars[name], root) for text, name in names.items() if text not in MAGIC}
    may_differ = {"dynamic", "prompt"} & set(case.get("tags", []))
    for name, value in asked["vars"].items():
        right = name in got and _same(got[name], value)
        if not right and not (may_differ and _names_a_place(answer, name, case)):
            yield f"{where}, {name}: expected {value!r}, got {got.get(name, 'nothing')!r}"
        elif right:
            yield from _placed(where, name, answer.trace((names[name],)), answer, asked, case)
    for name in got:
        if (
            name not in asked["vars"]
            and name not in asked.get("hidden", {})
            and not (may_differ and _names_a_place(answer, name, case))
        ):
            yield f"{where}, {name}: expected nothing, got {got[name]!r}"
    for name, file in asked.get("hidden", {}).items():
        if file not in _holes(answer, name):
            yield f"{where}, {name}: {file} may set it, and nothing says so"
        if name in got and any(one.file == file for one in answer.origins((name,))):
            yield f"{where}, {name}: a value from {file}"


def _placed(
    where: str, name: str, trace: Any, answer: Variables, asked: Mapping[str, Any], case: Case
) -> Iterator[str]:
    wanted = asked.get("origins", {}).get(name)
    if wanted and not any(_is_at(wanted, one.file or one.kind, one.line, case) for one in trace.origins):
        yield f"{where}, {name}: expected {wanted}, set by {', '.join(map(str, trace.origins))}"
    for pointer, place in asked.get("leaves", {}).items():
        if pointer.split("/")[1] != name:
            continue
        path = _path(pointer, answer.vars)
        origins = answer.origins(path)
        if [[one.file or one.kind, one.line] for one in origins] != [place]:
            yield f"{where}, {pointer}: expected {place}, set by {', '.join(map(str, origins))}"


def _path(pointer: str, value: Any) -> tuple[Any, ...]:
    path: tuple[Any, ...] = ()
    for step in pointer.split("/")[1:]:
        path = (*path, int(step) if isinstance(value, list) else step)
        value = value[path[-1]]
    return path


def _is_at(wanted: list[Any], file: str, line: int | None, case: Case) -> bool:
    """The same file, and the same line or that of the key above it."""
    if wanted[0] != file or wanted[1] is None or line is None:
        return wanted[0] == file
    lines = case["files"][file].split("\n")[line : wanted[1] - 1]
    return line <= wanted[1] and all(not one.strip() or one.lstrip().startswith("#") for one in lines)


def _holes(answer: Variables, name: str | None = None) -> set[str | None]:
    return {layer.origin.at(()).file for layer in answer.unknown(name)}


def _names_a_place(answer: Variables, name: str, case: Case) -> bool:
    return any(one.origin.file in case["files"] for one in answer.trace((name,)).unknown)


def _magic(where: str, asked: Mapping[str, Any], answer: Variables, root: Path) -> Iterator[str]:
    for name, value in asked.get("magic", {}).items():
        shown = _encoded(answer.magic[name], root) if name in answer.magic else {"$absent": True}
        if not _same(shown, value):
            yield f"{where}, {name}: expected {value!r}, got {shown!r}"


def _printed(case: Case, root: Path) -> Iterator[str]:
    for wanted in case["expect"]["print"]:
        try:
            got = {
                "stdout": _print(
                    _inventory(case, root, playbook_dir=_after("--playbook-dir", wanted["args"])), wanted["args"]
                )
            }
        except AnsibleError as error:
            got = {"error": error.kind}
        expected = wanted.get("stdout", "").replace("$ROOT", str(root)).replace("$PYTHON", sys.executable)
        if wanted.get("error") == "vault" and "error" not in got:
            continue
        if got != ({"stdout": expected} if "stdout" in wanted else {"error": wanted["error"]}):
            yield f"{wanted['args']}: expected {wanted}, got {got}"


def _print(inventory: Inventory, arguments: list[str]) -> str:
    """What the command with these arguments prints; as it was recorded, YAML and TOML have one line end more."""
    limit, host = _after("--limit", arguments), _after("--host", arguments)
    if "--graph" in arguments:
        named = [one for one in arguments if not one.startswith("-") and one != limit]
        return graph(inventory, *named, with_variables="--vars" in arguments)
    if host is not None:
        return as_json_text(printed_variables(inventory.host(host)), marked=False) + "\n"
    how: dict[str, Any] = {"export": "--export" in arguments, "limit": limit}
    if "--toml" in arguments:
        return printed_inventory(inventory, "toml", **how) + "\n"
    if "-y" in arguments:
        return as_yaml_text(nested_listing(inventory, **how)) + "\n"
    return as_json_text(listing(inventory, **how)) + "\n"


def _after(word: str, arguments: list[str]) -> str | None:
    return arguments[arguments.index(word) + 1] if word in arguments else None


def _warned(expect: Mapping[str, Any], got: set[str]) -> Iterator[str]:
    for kind in expect.get("warnings", []):
        if kind not in got and kind not in _LEFT_OUT:
            yield f"nobody warned of {kind}"


def _same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right


def _encoded(value: Any, root: Path) -> Any:
    """A value in the notation of the vectors."""
    if isinstance(value, Vault):
        return {"$vault": True}
    if isinstance(value, str):
        return str(value).replace(str(root), "$ROOT").replace(sys.executable, "$PYTHON")
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, datetime.datetime):
        return {"$datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"$date": value.isoformat()}
    if isinstance(value, dict):
        pairs = [[_encoded(key, root), _encoded(entry, root)] for key, entry in value.items()]
        return {"$map": pairs} if any(not isinstance(key, str) for key in value) else dict(pairs)
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((_encoded(entry, root) for entry in value), key=str)}
    if isinstance(value, tuple):
        return {"$tuple": [_encoded(entry, root) for entry in value]}
    return [_encoded(entry, root) for entry in value] if isinstance(value, list) else value


@contextmanager
def _written(case: Case) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in case["files"].items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        yield root


_ASKED = {"inventory": _hosts, "vars": _tasks, "print": _printed}

KINDS: dict[str, dict[str, Judge]] = {"ansible": {"whole": inventories}}
