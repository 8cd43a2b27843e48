"""python -m tests.hostile [--count N | --seconds N] [--seed S] [--command NAME] [--small] [--keep DIR]

Draws a tree and a command for each seed, runs the command in the tree, and prints a line for each seed that failed
with a command line that repeats it; `--small` prints a smallest tree as a shell script. The last line is
`N passed, M failed`. Exit code 0 only if nothing failed and something ran.
"""

from __future__ import annotations

import resource
import sys

from tests.hostile.runner import main

MOST_BYTES = 4 << 30
"""A tree that is a bomb for its judge ends this run, and not the machine."""

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.RLIM_INFINITY))
    sys.exit(main(sys.argv[1:]))
