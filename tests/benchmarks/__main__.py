"""python -m tests.benchmarks KIND [--json | --markdown] [--rounds N]

Prints a table of figures; docs/performance.md has those of `--markdown`. Exit code 0 if every bar holds, 1 if one is
missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterable, Iterator

from tests.benchmarks.bindings import bindings_figures
from tests.benchmarks.cloudinit import cloudinit_figures
from tests.benchmarks.cluster import cluster_figures
from tests.benchmarks.data import data_figures
from tests.benchmarks.figures import Figure, node_figures
from tests.benchmarks.fold import fold_figures
from tests.benchmarks.growth import growth_figures
from tests.benchmarks.hiera import hiera_figures
from tests.benchmarks.ordering import catalog_figures
from tests.benchmarks.search import keep_figures
from tests.benchmarks.starts import start_figures

KINDS = {
    "bindings": bindings_figures,
    "catalog": catalog_figures,
    "cloudinit": cloudinit_figures,
    "cluster": cluster_figures,
    "data": data_figures,
    "fold": fold_figures,
    "growth": growth_figures,
    "hiera": hiera_figures,
    "keep": keep_figures,
    "node": node_figures,
    "starts": start_figures,
}


def table(figures: Iterable[Figure]) -> Iterator[str]:
    """One line a figure, the columns aligned."""
    rows = [("figure", "measured", "bar", "", "Chef", "in relation to"), *map(_row, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(figures: Iterable[Figure]) -> Iterator[str]:
    """The same as a table of Markdown. A figure without a bar has an empty cell there."""
    yield "| figure | measured | bar | in relation to | Chef |"
    yield "| --- | ---: | ---: | --- | ---: |"
    for figure in figures:
        name, measured, bar, judged, chef, of = _row(figure)
        yield f"| {name} | {measured}{' (missed)' if judged == 'MISSED' else ''} | {bar} | {of} | {chef} |"


def _row(figure: Figure) -> tuple[str, ...]:
    judged = "" if figure.bar is None else "MISSED" if figure.missed else "ok"
    bar = "" if figure.bar is None else f"{figure.bar:g}"
    return figure.name, f"{figure.value:,.2f} {figure.unit}", bar, judged, figure.chef, figure.of


def _as_they_come(figures: Iterable[Figure]) -> Iterator[Figure]:
    """The same, each named on standard error once it is there: a table takes long."""
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.2f} {figure.unit} ({figure.of})", file=sys.stderr, flush=True)
        yield figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure, and judge by the bars.")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--markdown", action="store_true", help="the figures as a table of Markdown")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds to take the best of (default: 7)")
    parser.add_argument("--only", default="", metavar="WORDS", help="of growth: the rows whose name has these words")
    asked = parser.parse_args(arguments)
    if asked.rounds < 1:
        parser.error("at least one round is needed")

    measuring = growth_figures(asked.rounds, asked.only) if asked.only else KINDS[asked.kind](asked.rounds)
    figures = list(_as_they_come(measuring))
    missed = [figure for figure in figures if figure.missed]
    if asked.json:
        told = {"python": platform.python_version(), "figures": [figure.to_dict() for figure in figures]}
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif asked.markdown:
        print("\n".join(markdown(figures)))
    else:
        print("\n".join(table(figures)))
        bars = sum(figure.bar is not None for figure in figures)
        print(f"\nCPython {platform.python_version()}: {bars - len(missed)} bars hold, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
