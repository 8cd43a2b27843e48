"""Many inputs examined, what failed made small, and the figures."""

from __future__ import annotations

import argparse
import pkgutil
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path as Folder

from tests.causality import causes, systems
from tests.causality.judge import Failure, Findings, examine
from tests.causality.shrinking import shrunk
from tests.causality.system import Input, Refused, System

__all__ = ["SYSTEMS", "Report", "main", "run"]

SYSTEMS: dict[str, Callable[[], System]] = {
    one.name: one
    for module in pkgutil.iter_modules(systems.__path__, f"{systems.__name__}.")
    for one in vars(pkgutil.resolve_name(module.name)).values()
    if isinstance(one, type) and one.__module__ == module.name and hasattr(one, "decides")
}
"""Every class of `systems/` that can be asked."""
MOST_ASIDE = 0.02
"""The share of settings of which something may be left unasked."""
FEW_ASIDE = 5
"""So many may be left unasked in a run with few lines, where a share says little."""


@dataclass
class Report:
    """What a run of one system came to.

    failed: kind of failure -> how many
    lines:  each input that failed, once for each kind of failure
    """

    system: str
    passed: Counter[str] = field(default_factory=Counter)
    figures: Counter[str] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    @property
    def aside(self) -> float:
        """How many settings were set aside, as a share of the lines."""
        return self.figures["set aside"] / max(1, self.figures["lines"])

    def __str__(self) -> str:
        figures = self.figures
        asked = ", ".join(f"{law} {count + self._failed(law)}" for law, count in sorted(self.passed.items()))
        lines = [
            f"{self.system}: {figures['inputs']} inputs, {figures['refused']} refused; {figures['leaves']} leaves, "
            f"{figures['edits']} edits; asked: {asked}",
            f"  {figures['lines']} lines, {figures['lines that decide']} of them decide; "
            f"{figures['settings']} settings, {figures['set aside']} set aside ({self.aside:.1%} of the lines)",
            *(f"  {count} times ({law}) {cause}" for (law, cause), count in self.failed.most_common()),
        ]
        return "\n".join(lines)

    def _failed(self, law: str) -> int:
        return sum(count for (of, _), count in self.failed.items() if of == law)


def run(
    system: System,
    seeds: Sequence[int],
    *,
    examples: bool = False,
    each: int = 0,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Examine an input for each seed.

    examples: people's inputs, too
    each:     how many failures of a kind are made small
    tell:     called with the line of each failure
    """
    report = Report(system.name)
    for name, input in _inputs(system, seeds, examples):
        found = _examined(system, input)
        if found is None:
            report.figures["refused"] += 1
            continue
        report.figures += found.figures
        report.figures.update({"inputs": 1, "set aside": len(found.aside)})
        report.passed += found.passed
        for failure in {one.kind: one for one in reversed(found.failures)}.values():
            is_new = sum(f" {_head(failure)}" in line for line in report.lines) < each
            report.lines.append(f"FAILED {system.name} {name} {_told(system, input, failure, is_new)}")
            tell(report.lines[-1])
        report.failed.update(one.kind for one in found.failures)
    return report


def _inputs(system: System, seeds: Sequence[int], examples: bool) -> Iterator[tuple[str, Input]]:
    if examples:
        yield from ((f"example {name}", one) for name, one in system.examples())
    for seed in seeds:
        yield f"seed {seed}", system.make(random.Random(f"{system.name} {seed}"))


def _examined(system: System, input: Input) -> Findings | None:
    with tempfile.TemporaryDirectory(prefix="causality") as folder:
        try:
            return examine(system, input, Folder(folder))
        except Refused:
            return None


def _head(failure: Failure) -> str:
    return f"({failure.law}) {failure.cause}:"


def _told(system: System, input: Input, failure: Failure, is_new: bool) -> str:
    """The failure on one line, with the files where they were made small."""
    if not is_new:
        return str(failure)
    small, one = shrunk(system, input, failure)
    files = " | ".join(f"{file}: {text.strip()!r}" for file, text in small.files.items())
    return f"{one} | {files}" if len(files) < 4_000 else str(one)


def main(words: Sequence[str] | None = None) -> int:
    """The command line. return: 0 if all held, and something was asked"""
    parser = argparse.ArgumentParser(prog="python -m tests.causality", description="Does explain tell the truth?")
    parser.add_argument("system", nargs="?", choices=sorted(SYSTEMS), help="one of them (default: all)")
    parser.add_argument("--count", type=int, default=100, help="random inputs for each system (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the first input (default: 1)")
    parser.add_argument("--each", type=int, default=3, help="failures of a kind that are made small (default: 3)")
    parser.add_argument("--causes", action="store_true", help="of node: edit the lines that values come from")
    options = parser.parse_args(words)
    if options.causes:
        if options.system != "node":
            parser.error("--causes is about node")
        return causes.main(range(options.seed, options.seed + options.count))
    seeds = range(options.seed, options.seed + options.count)
    passed = failed = 0
    for name in [options.system] if options.system else list(SYSTEMS):
        report = run(SYSTEMS[name](), seeds, examples=True, each=options.each, tell=_print)
        _print(str(report))
        passed += report.passed.total()
        failed += report.failed.total()
        if report.aside > MOST_ASIDE and report.figures["set aside"] > FEW_ASIDE:
            _print(f"FAILED {name}: more than {MOST_ASIDE:.0%} of the lines were set aside")
            failed += 1
    _print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _print(line: str) -> None:
    print(line, flush=True)
