"""python -m tests.oracles.hiera odd [--lookups N] [--seed S]

Random trees with odd YAML and JSON (`hiera_odd_trees`), answered by us and by Puppet: values, and kinds of errors where
both refuse. A difference counts as explained where the rule of one row of docs/differences.md finds that row's cause in
it. Most rules are experiments: Puppet is asked about the same tree without the cause, and has to answer as we did.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera
from tests.oracles.hiera_control import Peer, encoded
from tests.oracles.hiera_odd_trees import FACTS, NODE, ROOT, OddTree, Tree
from tests.oracles.puppet import puppet_version
from tests.vectors.values import spelled

HOME = "environments/production"
DEEP = {"strategy": "deep", "knockout_prefix": "--"}
TREES_A_PROCESS = 200
"""Puppet's process keeps what it has seen of a tree, and grows."""

KINDS = (
    ("not_found", r"did not find a value for the name"),
    ("dig_type_mismatch", r"Data Provider type mismatch: Got"),
    ("undef_in_unique", r"element of the merge has wrong type, expects a value of type Scalar or Array, got Undef"),
    ("hash_in_unique", r"element of the merge has wrong type, (expects a value of type Scalar or Array|variant)"),
    ("not_a_hash", r"element of the merge has wrong type, (expects a Hash|entry)"),
    ("cannot_sort", r"comparison of \S+ with .* failed"),
    ("convert_bad_type", r"The convert_to lookup_option .* parameter 'type' expects a Type value"),
    ("convert_bad_type", r"Invalid data type in lookup_options"),
    ("convert_failed", r"The convert_to lookup_option"),
    ("lookup_options_not_a_hash", r"value of lookup_options must be a hash"),
    ("lookup_options_key_outside_module", r"all lookup_options keys must start with module name"),
    ("lookup_options_pattern_outside_module",
    r"all lookup_options patterns must match a key starting with module name"),
    ("recursive_lookup", r"Recursive lookup detected"),
    ("alias_not_entire_string", r"interpolation is only permitted if the expression is equal to the entire string"),
    ("unknown_interpolation_method", r"Unknown interpolation method"),
    ("method_not_allowed_here", r"Interpolation using method syntax is not allowed"),
    ("key_syntax", r"Syntax error in (key|string)"),
    ("bad_data_value", r"in hash returned from data_hash function"),
    ("data_parse_error", r"Unable to parse"),
    ("value_type_mismatch", r"(Found|Default) value has wrong type"),
    ("bad_option", r"The merge options has wrong type"),
    ("config_invalid", r"The Lookup Configuration at|Backend '.*' is defined more than once|No data provider is"),
    ("unsupported_version", r"hiera.yaml version \d+( cannot be used in the global layer)?"),
    ("duplicate_hierarchy_name", r"Hierarchy name '.*' defined more than once"),
    ("data_not_a_hash", r"has wrong type, expects a Hash value, got|does not contain a valid yaml hash"),
    ("unset_variable", r"Undefined variable '"),
    ("missing_strategy", r"must contain the name of a strategy"),
    ("unknown_strategy", r"Unknown merge strategy"),
    ("bad_arguments", r"The function 'lookup' was called with arguments it does not accept"),
    ("empty_knockout_prefix", r"knockout_prefix cannot be an empty string"),
    ("bad_pattern", r"RegexpError"),
    ("data_parse_error", r"SystemStackError"),  # of a map or list that holds itself
    ("dig_type_mismatch", r"NoMethodError: undefined method `include\?' for -?\d+:Integer"),
)  # fmt: skip
"""What a message of Puppet is called here; the first one that is found counts."""


def kind_of(message: str) -> str:
    return next((kind for kind, pattern in KINDS if re.search(pattern, message)), f"unnamed: {message}")


# --- answers


def task_of(root: Path, tree: Tree) -> dict[str, Any]:
    """Write a tree, and ask about it."""
    for name, text in tree.files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.replace(ROOT, str(root)).encode("utf-8", "surrogatepass"))
    return {"root": str(root), "environment": "production", "node": NODE, "facts": FACTS, "lookups": tree.lookups}


def ours(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    root = Path(task["root"])
    hiera = Hiera(
        environmentpath=root / "environments",
        global_config=root / "global" / "hiera.yaml",
        root=root,
        puppet_version=puppet_version(),
    )
    scope = hiera.scope(FACTS, node=NODE)
    for call in task["lookups"]:
        name, options = call["name"], {option: value for option, value in call.items() if option != "name"}
        explained = scope.explain(name, **options)
        try:
            value = encoded(scope.lookup(name, **options))
        except NodeattrsError as error:
            assert explained.error is not None, f"{call}: refused, and explained all the same"
            yield {"error": error.kind, "text": str(error)}
        else:
            assert explained.error is None, f"{call}: answered, and not explained"
            assert spelled(encoded(explained.value)) == spelled(value), f"{call}: explained otherwise"
            yield {"value": value}


def agree(got: dict[str, Any], peer: dict[str, Any]) -> bool:
    """Whether two answers are equal: a value in each of its types, an error in its kind."""
    if "error" in got or "error" in peer:
        return "error" in got and "error" in peer and got["error"] == kind_of(peer["error"])
    return spelled(got["value"]) == spelled(peer["value"])


@dataclass
class Case:
    """One lookup whose answers differ.

    ask, answer: what Puppet, and we, answer to the same lookup in another tree
    """

    tree: Tree
    call: dict[str, Any]
    got: dict[str, Any]
    peer: dict[str, Any]
    ask: Callable[[Tree], dict[str, Any]]
    answer: Callable[[Tree], dict[str, Any]]

    def without(self, change: Callable[[dict[str, str]], dict[str, str]]) -> bool:
        """Whether Puppet agrees once the files are changed, or what is left has a cause that its words show."""
        files = change(self.tree.files)
        if files == self.tree.files:
            return False
        tree = Tree(files, [self.call])
        answer = self.ask(tree)
        left = replace(self, tree=tree, peer=dict.fromkeys(self.peer, answer))
        return agree(self.got, answer) or any(row.rule(left) for row in BY_WORDS)

    def settled(self, change: Callable[[dict[str, str]], dict[str, str]]) -> bool:
        """Whether both agree once the files are changed."""
        files = change(self.tree.files)
        tree = Tree(files, [self.call])
        return files != self.tree.files and agree(self.answer(tree), self.ask(tree))


# --- rules


class Row(NamedTuple):
    """A row of docs/differences.md.

    name:  how its first cell begins
    rule:  when it explains a difference
    files: the smallest tree that shows it; a text is data/common.yaml of the environment
    call:  the lookup in it
    ours:  what we answer: a value, or the kind of an error in a tuple
    """

    name: str
    rule: Callable[[Case], bool]
    files: str | dict[str, str]
    call: dict[str, Any]
    ours: Any

    @property
    def tree(self) -> Tree:
        files = {f"{HOME}/data/common.yaml": self.files} if isinstance(self.files, str) else self.files
        return Tree({f"{HOME}/hiera.yaml": "version: 5\n"} | files, [self.call])


def _merges_itself(case: Case) -> bool:
    """Not so where a merge lays copies."""
    return agree(case.got, case.peer["copy_first"])


def _emptied(case: Case) -> bool:
    """Not so where it lays them on copies, too."""
    return agree(case.got, case.peer["copy_both"])


def _mark(case: Case) -> bool:
    return case.without(lambda files: {name: text.removeprefix("\ufeff") for name, text in files.items()})


def _read_twice(case: Case) -> bool:
    """Not so where `json_data` reads copies in a folder of its own."""
    return case.without(lambda files: dict(_apart(files)))


def _apart(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in files.items():
        if name.endswith("hiera.yaml"):
            config = json.loads(text)
            for entry in config["hierarchy"] if config.get("version") == 5 else ():
                if entry.get("data_hash") == "json_data":
                    entry["datadir"] = "of_json"
            yield name, json.dumps(config)
        else:
            yield name, text
            yield name.replace("/data/", "/of_json/"), text


def _no_number(case: Case) -> bool:
    return case.settled(lambda files: {name: text.replace(".nan", "7.5") for name, text in files.items()})


def _two_faults(case: Case) -> bool:
    """Not so without the files that we name, one after the other."""
    files, got = case.tree.files, case.got
    for _ in range(len(files)):
        named = {name: "version: 5\n" if name.endswith("hiera.yaml") else "{}"
                 for name in files if name in got.get("text", "")}  # fmt: skip
        tree = Tree({**files, **named}, [case.call])
        if tree.files == files or "error" not in case.peer["as_is"]:
            return False
        files, got = tree.files, case.answer(tree)
        if agree(got, case.ask(tree)):
            return True
    return False


def _refused(kind: str, pattern: str) -> Callable[[Case], bool]:
    """We refuse, in these words."""
    return lambda case: (
        bool(re.fullmatch(kind, case.got.get("error", ""))) and bool(re.search(pattern, case.got["text"]))
    )


def _crash(pattern: str) -> Callable[[Case], bool]:
    """Puppet ends in an error of Ruby."""
    return lambda case: bool(re.match(pattern, case.peer["as_is"].get("error", "")))


def _levels(files: dict[str, str], *entries: dict[str, Any]) -> dict[str, str]:
    """A tree whose levels are these."""
    levels = [{"name": f"l{at}", **entry} for at, entry in enumerate(entries)]
    config = {f"{HOME}/hiera.yaml": json.dumps({"version": 5, "hierarchy": levels})}
    return config | {f"{HOME}/data/{name}": text for name, text in files.items()}


_ONE, _TWO = {"path": "a.yaml"}, {"path": "b.yaml"}
_JSON = {"path": "a.json", "data_hash": "json_data"}
_IN_A_MODULE = {
    "environments/production/modules/m/hiera.yaml": "version: 5\n",
    "environments/production/modules/m/data/common.yaml": "~: x\nm::k: 1\n",
}
BY_WORDS: list[Row] = [
    Row("Keys below the root that are neither text nor integer",
        _refused("bad_data_value|convert_failed", "neither text nor integer"), "k: {1.5: a}\n", {"name": "k"},
        ("bad_data_value",)),
    Row("JSON with an escape that does not exist", _refused("data_parse_error", r"\.json:.*escape"),
        _levels({"a.json": '{"k": "\\x"}'}, _JSON), {"name": "k"}, ("data_parse_error",)),
    Row("Binary data (`!!binary /w==`)", _refused("data_parse_error", "binary data that are no text"),
        "k: !!binary /w==\n", {"name": "k"}, ("data_parse_error",)),
    Row("Ruby's expressions", _refused("bad_pattern", ""), 'k: 1\nlookup_options: {"^(?~x)": {merge: deep}}\n',
        {"name": "k"}, ("bad_pattern",)),
    Row("`lookup_options` with an expression that is none", _crash("RegexpError"),
        'k: 1\nlookup_options: {"^l(": {merge: deep}}\n', {"name": "k"}, 1),
    Row("Types: the whole language", _refused("unknown_type|convert_failed", "is not known here|there is no"),
        "k: 1\nlookup_options: {k: {convert_to: RichData}}\n", {"name": "k"}, ("convert_failed",)),
    Row("`lookup_options` entries that are a list crash",
    _crash("TypeError: no implicit conversion of String into Integer"),
        "k: 1\nlookup_options: {k: []}\n", {"name": "k"}, 1),
    Row("A key that is not text at the root of a file", _crash("NoMethodError: undefined method `start_with\\?'"),
        _IN_A_MODULE, {"name": "m::k"}, 1),
]  # fmt: skip
"""Of these one answer shows the cause."""
ROWS: list[Row] = [
    *BY_WORDS,
    Row("A value that meets itself inside `deep`", _merges_itself,
        _levels({"a.yaml": 'k: {a: {x: ["--a", "b", "--b"]}}\n', "b.yaml": "k: {}\n"}, _ONE, _TWO),
        {"name": "k", "merge": DEEP}, {"a": {"x": ["b"]}}),
    Row("A text emptied by a bare marker", _emptied,
        _levels({"a.yaml": "k: text\n", "b.yaml": 'k: ["--"]\n'}, _ONE, {"paths": ["b.yaml", "a.yaml"]}),
        {"name": "k", "merge": DEEP}, "text"),
    Row("A byte order mark hides all keys", _mark, "\ufeffk: 1\nl: 2\n", {"name": "l"}, 2),
    Row("A file that two data functions read", _read_twice,
        _levels({"a.json": '{"k": 1,}'}, {"path": "a.json"}, _JSON), {"name": "l"}, ("data_parse_error",)),
    Row("`.nan` in a deep merge", _no_number, _levels({"a.yaml": "k: .nan\n", "b.yaml": "k: 1\n"}, _ONE, _TWO),
        {"name": "k", "merge": DEEP}, {"$float": "NaN"}),
    Row("Of two errors that which its code meets first", _two_faults,
        _levels({"a.yaml": "[\n"}, _ONE, {"path": "%{lookup('k')}.yaml"}), {"name": "k"}, ("data_parse_error",)),
]  # fmt: skip


# --- the count


class Count:
    """What became of the lookups so far."""

    def __init__(self) -> None:
        self.same: Counter[str] = Counter()
        self.explained: Counter[str] = Counter()
        self.others: list[str] = []

    @property
    def all(self) -> int:
        return sum(self.same.values()) + sum(self.explained.values()) + len(self.others)


def _batch(seeds: list[str], place: Path, script: list[str], environment: dict[str, str], count: Count) -> None:
    """Compare some trees with one process of Puppet."""
    (place / "home").mkdir(parents=True)
    peer = Peer([*script, str(place / "home")], environment)
    asked = 0

    def asks(tree: Tree) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return task_of(place / f"again-{asked}", tree)

    def ask(tree: Tree) -> dict[str, Any]:
        (answer,) = peer.ask(asks(tree))
        return dict(answer["as_is"])

    def answer_of(tree: Tree) -> dict[str, Any]:
        return next(ours(asks(tree)))

    for at, seed in enumerate(seeds):
        tree = OddTree(seed).tree()
        task = task_of(place / str(at), tree)
        found = zip(tree.lookups, ours(task), _asked(peer, {**task, "fast": True}, seed), strict=True)
        differing = []
        for call, got, answer in found:
            if agree(got, answer):
                count.same[got.get("error", "")] += 1
            else:
                differing.append((call, got))
        again = _asked(peer, {**task, "lookups": [call for call, _ in differing]}, seed) if differing else []
        for (call, got), answer in zip(differing, again, strict=True):
            if agree(got, answer["as_is"]):  # Puppet's own state had leaked from another lookup
                count.same[got.get("error", "")] += 1
            else:
                _judge(Case(tree, call, got, answer, ask, answer_of), seed, count)
    peer.close()


def _judge(case: Case, seed: str, count: Count) -> None:
    row = next((row for row in ROWS if row.rule(case)), None)
    if row is not None:
        count.explained[row.name] += 1
        return
    said = json.dumps(case.peer["as_is"])[:400]
    count.others.append(
        f"tree {seed!r} {json.dumps(case.call)}\n  Puppet {said}\n  we     {json.dumps(case.got)[:400]}"
    )
    print(count.others[-1], flush=True)


def smallest(row: Row) -> Any:
    """What we answer to the smallest input of a row, as `Row.ours` has it."""
    with tempfile.TemporaryDirectory() as place:
        got = next(ours(task_of(Path(place), row.tree)))
    return (got["error"],) if "error" in got else got["value"]


def _rows(peer: Peer, place: Path) -> list[str]:
    """The rows whose smallest input does not show them: on which Puppet agrees, or by whose rule it does not differ."""
    found = []
    for at, row in enumerate(ROWS):

        def task(tree: Tree, at: int = at) -> dict[str, Any]:
            return task_of(Path(tempfile.mkdtemp(dir=place, prefix=f"row-{at}-")), tree)

        got = next(ours(task(row.tree)))
        answer = peer.ask(task(row.tree))[0]
        case = Case(
            row.tree,
            row.call,
            got,
            answer,
            lambda tree: peer.ask(task(tree))[0]["as_is"],
            lambda tree: next(ours(task(tree))),
        )
        if agree(got, answer["as_is"]) or not row.rule(case):
            found.append(f"the row {row.name!r} is not shown by its input: Puppet {answer['as_is']}, we {got}")
    return found


def _asked(peer: Peer, task: dict[str, Any], seed: str) -> Any:
    try:
        return peer.ask(task)
    except RuntimeError as error:
        raise RuntimeError(f"tree {seed!r}: {error}") from None


def odd(lookups: int, seed: int, ruby: str, environment: dict[str, str]) -> int:
    """How many lookups differ without a row that explains it; 0 where none does."""
    count, at = Count(), 0
    script = [ruby, str(Path(__file__).with_name("hiera_puppet.rb"))]
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "home").mkdir()
        peer = Peer([*script, f"{place}/home"], environment)
        count.others += _rows(peer, Path(place))
        peer.close()
    for other in count.others:
        print(other, flush=True)
    while count.all < lookups:
        trees = min(TREES_A_PROCESS, -(-(lookups - count.all) // 14))
        place = Path(tempfile.mkdtemp(prefix="odd-"))
        try:
            _batch([f"{seed} {at + one}" for one in range(trees)], place, script, environment, count)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        at += trees
    refused = ", ".join(f"{number} {kind}" for kind, number in count.same.most_common() if kind)
    print(f"{count.all} lookups in {at} odd trees: {count.same['']} equal values, equal errors: {refused}")
    print(f"{sum(count.explained.values()) + len(count.others)} differ, of these")
    for name, number in count.explained.most_common():
        print(f"  {number:5} by the row {name!r}")
    print(f"{count.all - len(count.others)} passed, {len(count.others)} failed")
    return 1 if count.others or not count.all else 0
