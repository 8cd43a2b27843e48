"""python -m tests.oracles.catalog [--count N] [--seed N] | modules [DIR] [--repeat N]

Asks the real Puppet and us the same random catalogs and compares the answers: order, status of
each resource, number of refreshes, the message for cycles with its path, and the first missing
reference; then the same of the catalog that Puppet compiled, which we read. Manifests have classes,
instances of a defined type, the four metaparameters, chains of references, lists and collectors,
no-op, failures of three sorts.

Puppet is the installed one. Where there is none, Debian's packages are unpacked into a temporary
folder; nothing is installed and no service is started. Prints the number of comparisons; exit code
1 on a difference, or if there was none.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from nodeattrs.catalog import DependencyCycle, ReferenceNotFound, apply_plan, catalog_from
from nodeattrs.catalog.compiled import compiled_catalog
from tests.oracles.catalog_modules import MODULES, modules
from tests.oracles.puppet import ruby_with_puppet
from tests.vectors.ordering import Flagged

SCRIPT = Path(__file__).resolve().with_name("catalog_puppet.rb")
FLAGS = ("changes", "fails", "check_fails", "refreshable", "refresh_fails")
ODDS = {"changes": 0.5, "fails": 0.12, "check_fails": 0.04, "refreshable": 0.5, "refresh_fails": 0.08}
MOST_SECONDS = 600
"""Its walk over the paths of a large cycle is exponential."""
RELATIONS = ("before", "require", "notify", "subscribe")


class Random:
    """One random catalog, as a manifest and as the flat data that it compiles to."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._titles = 0
        self.noop = chance.random() < 0.1
        self.chains: list[str] = []
        classes = [f"k{number}" for number in range(chance.randrange(4))]
        apps = [f"x{number}" for number in range(chance.randrange(3))]
        bodies = {name: self._resources(chance.randrange(4)) for name in (*classes, *apps)}
        top: list[Any] = [*self._resources(chance.randint(2, 7)), *classes, *apps]
        chance.shuffle(top)
        self._everything = [
            *(f"{one['type']}['{one['title']}']" for body in (top, *bodies.values()) for one in body if _is_entry(one)),
            *(f"Class['{name}']" for name in classes),
            *(f"App['{name}']" for name in apps),
        ]
        self.entries: list[dict[str, Any]] = []
        for one in top:
            if _is_entry(one):
                self.entries.append(one)
            elif one in classes:
                self.entries.append({"type": "Class", "title": one, "kind": "class"})
                self.entries += [{**entry, "in": [f"Class[{one.capitalize()}]"]} for entry in bodies[one]]
            else:
                self.entries.append({"type": "App", "title": one, "kind": "define", **self._noop()})
        # The body of a defined type is evaluated when all else has been, instance by instance.
        for one in top:
            if not _is_entry(one) and one in apps:
                self.entries += [{**entry, "in": [f"App[{one}]"]} for entry in bodies[one]]
        self._relate()
        self.chains = [self._chain() for _ in range(chance.randrange(4))]
        self.manifest = self._manifest(top, classes, apps)

    def _resources(self, count: int) -> list[dict[str, Any]]:
        found = []
        for _ in range(count):
            self._titles += 1
            entry: dict[str, Any] = {
                "type": self._chance.choice(["Pkg", "Cfg", "Svc", "Job"]),
                "title": f"r{self._titles}",
                **{flag: True for flag in FLAGS if self._chance.random() < ODDS[flag]},
            }
            if self._chance.random() < 0.3:
                entry["note"] = self._chance.choice(["red", "blue"])
            found.append({**entry, **self._noop()})
        return found

    def _noop(self) -> dict[str, bool]:
        return {"noop": self._chance.random() < 0.7} if self._chance.random() < 0.12 else {}

    def _relate(self) -> None:
        """Mostly forward, so that there is an order more often than a cycle; sometimes to what is not there."""
        ordinary = [index for index, entry in enumerate(self.entries) if "kind" not in entry]
        for index in ordinary:
            for relation in RELATIONS:
                if self._chance.random() > 0.2:
                    continue
                forward = relation in ("before", "notify")
                usual = [one for one in ordinary if (one > index if forward else one < index)]
                chosen = self._chance.choice(usual) if usual and self._chance.random() < 0.97 else None
                refs = [self._ref(chosen) if chosen is not None else self._chance.choice(self._everything)]
                if self._chance.random() < 0.01:
                    refs.append("Pkg['ghost']")
                self.entries[index][relation] = [_plain(ref) for ref in refs]

    def _ref(self, index: int) -> str:
        return f"{self.entries[index]['type']}['{self.entries[index]['title']}']"

    def _chain(self) -> str:
        # Mostly in the order of the catalog, for the same reason.
        places = {f"{entry['type']}[{entry['title']}]": place for place, entry in enumerate(self.entries)}
        operands = [self._operand() for _ in range(self._chance.randint(2, 4))]
        if self._chance.random() < 0.9:
            operands.sort(key=lambda text: places.get(_plain(text).replace("Class[K", "Class[k"), -1))
        collects = any("<|" in operand for operand in operands)
        arrows = ["->", "~>"] if collects or self._chance.random() < 0.7 else ["<-", "<~"]
        if arrows[0] == "<-":
            operands.reverse()
        text = operands[0]
        for operand in operands[1:]:
            text += f" {self._chance.choice(arrows)} {operand}"
        return text

    def _operand(self) -> str:
        roll = self._chance.random()
        if roll < 0.8:
            return self._chance.choice(self._everything)
        if roll < 0.9:
            return f"[{', '.join(self._chance.choice(self._everything) for _ in range(self._chance.randrange(4)))}]"
        query = self._chance.choice(
            ["", "note == 'Red'", "title == 'R2'", "note != red and title != r1", "note == none"]
        )
        return f"{self._chance.choice(['Pkg', 'Cfg'])} <| {query} |>"

    def _manifest(self, top: list[Any], classes: list[str], apps: list[str]) -> str:
        declared = {entry["title"]: entry for entry in self.entries}
        inside: dict[str, list[str]] = {name: [] for name in (*classes, *apps)}
        for entry in self.entries:
            for container in entry.get("in", ()):
                inside[container.partition("[")[2][:-1].lower()].append(_declaration(entry))
        lines = [f"class {name} {{ {' '.join(inside[name])} }}" for name in classes]
        bodies = " ".join(f"if $title == '{name}' {{ {' '.join(inside[name])} }}" for name in apps if inside[name])
        lines.append(f"define app() {{ {bodies} }}")
        for one in top:
            if _is_entry(one):
                lines.append(_declaration(declared[one["title"]]))
            elif one in classes:
                lines.append(f"include {one}")
            else:
                lines.append(_declaration(declared[one]))
        return "\n".join([*lines, *self.chains])

    def data(self) -> dict[str, Any]:
        return {"settings": {"noop": self.noop}, "resources": self.entries, "chains": self.chains}


def _is_entry(one: Any) -> bool:
    return isinstance(one, dict)


def _plain(ref: str) -> str:
    kind, _, title = ref.partition("['")
    title = title.removesuffix("']")
    return f"{kind}[{title.capitalize() if kind == 'Class' else title}]"


def _declaration(entry: dict[str, Any]) -> str:
    said = [f"{flag} => {str(entry[flag]).lower()}" for flag in (*FLAGS, "noop") if flag in entry]
    if "note" in entry:
        said.append(f"note => '{entry['note']}'")
    for relation in (name for name in entry if name in RELATIONS):
        quoted = ", ".join(f"{ref.partition('[')[0]}['{ref.partition('[')[2][:-1]}']" for ref in entry[relation])
        said.append(f"{relation} => [{quoted}]")
    return f"{entry['type'].lower()} {{ '{entry['title']}': {', '.join(said)} }}"


def ours(data: dict[str, Any]) -> dict[str, Any]:
    """Our answer in the words of Puppet's."""
    catalog = catalog_from(data, Flagged)
    try:
        report = apply_plan(catalog.plan())
    except ReferenceNotFound as error:
        return {"error": error.compile_message or error.apply_message}
    except DependencyCycle as error:
        return {"cycle": error.puppet_message}
    subjects = {str(ref): catalog[ref].subject for ref in report.outcomes}
    return {
        "order": [str(ref) for ref in report.outcomes],
        "status": {str(ref): sorted(outcome.status) for ref, outcome in report.outcomes.items()},
        "refreshed": {ref: one.refreshed for ref, one in subjects.items() if one.refreshed},
    }


def as_compiled(tree: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """What we say of the catalog that Puppet compiled, in the words of its answer; what no plan knows is taken over."""
    plan = compiled_catalog(tree).plan()
    if plan.missing:
        return {"error": plan.missing[0].compile_message or plan.missing[0].apply_message}
    if plan.cycles:
        return {"cycle": plan.cycle_error().puppet_message}
    return {**wanted, "order": [str(ref) for ref in plan.order()]}


def theirs(answer: dict[str, Any]) -> dict[str, Any]:
    """Puppet's answer, without what follows from the rest of it."""
    if answer.get("cycle"):
        return {"cycle": answer["cycle"].replace("\\n", "\n")}
    if "error" in answer:
        return {"error": answer["error"]}
    return answer


def agree(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if "error" in one and "error" in other:
        return str(other["error"]).startswith(str(one["error"]))  # Puppet adds the place in the manifest
    return one == other


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.catalog")
    parser.add_argument("what", nargs="?", choices=("random", "modules"), default="random", help="(default: random)")
    parser.add_argument("folder", nargs="?", type=Path, default=MODULES, help=f"for modules: (default: {MODULES})")
    parser.add_argument("--repeat", type=int, default=3, help="for modules: how often each is timed (default: 3)")
    parser.add_argument("--count", type=int, default=400, help="how many catalogs (default: 400)")
    parser.add_argument("--seed", type=int, default=2026)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="catalog-"))
    if asked.what == "modules":
        try:
            return modules(asked.folder, asked.repeat, folder / "home", *ruby_with_puppet(folder / "puppet"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    try:
        cases = [Random(random.Random(f"{asked.seed} {number}")) for number in range(asked.count)]
        ruby, environment = ruby_with_puppet(folder / "puppet")
        lines = "".join(json.dumps({"manifest": case.manifest, "noop": case.noop}) + "\n" for case in cases)
        told = subprocess.run(
            [ruby, str(SCRIPT), str(folder)],
            input=lines, capture_output=True, text=True, env=environment, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        print(f"Puppet did not answer within {MOST_SECONDS} s: try another seed, or fewer catalogs", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    if len(answers) != len(cases):
        print(f"Puppet answered {len(answers)} of {len(cases)}: {told.stderr[-2000:]}", file=sys.stderr)
        return 1
    sorts: Counter[str] = Counter()
    different = compiled = 0
    for case, answer in zip(cases, answers, strict=True):
        tree = answer.pop("catalog")
        compiled += tree is not None
        got, wanted = ours(case.data()), theirs(answer)
        sorts["a cycle" if "cycle" in wanted else "a missing reference" if "error" in wanted else "a run"] += 1
        if tree is not None and not agree(read := as_compiled(tree, wanted), wanted):
            different += 1
            print(
                f"--- its compiled catalog:\n{case.manifest}\nPuppet: {json.dumps(wanted)}\nours:   {json.dumps(read)}"
            )
        if not agree(got, wanted):
            different += 1
            print(f"--- different:\n{case.manifest}\nPuppet: {json.dumps(wanted)}\nours:   {json.dumps(got)}")
    kinds = ", ".join(f"{count} with {sort}" for sort, count in sorted(sorts.items()))
    count = f"{sum(sorts.values())} comparisons with Puppet ({kinds}), {compiled} compiled ones read"
    print(f"catalog: {count}, {different} different")
    return 1 if different or not sorts else 0


if __name__ == "__main__":
    sys.exit(main())
