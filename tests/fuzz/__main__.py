"""python -m tests.fuzz [TARGET...] [--seconds N | --count N] [--seed S]

Gives every reader and evaluator inputs grown from its grammar, for so many seconds in all or so many inputs each.
Prints for each target how many there were and how many its parser accepted, for each fault a smallest input, and all
seeds that failed: `python -m tests.fuzz TARGET --seed S --count 1` repeats one. The last line is `N passed, M failed`.
Exit code 0 only if nothing failed and something was read.
"""

from __future__ import annotations

import sys

from tests.fuzz.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
