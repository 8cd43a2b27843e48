"""python -m tests.mutants [--count N] [--seed S] [--skip K] [--room ROOM] [--file TEXT] [--again] [--seconds T]

Draws N small changes in `nodeattrs/`, makes one after the other in a copy of the checkout, and runs the tests that
execute the changed line: the quickest first, for at most T seconds. Prints each survivor with its place, and figures by
folder; the last line is `N passed, M failed`: passed is what a test has noticed. Exit code 0 only if all were noticed.
Changes that mean the same are in equivalent.toml; they are told and count for neither side.
"""

from __future__ import annotations

import sys

from tests.mutants.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
