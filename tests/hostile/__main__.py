"""python -m tests.hostile [--count N | --seconds N] [--seed S] [--command NAME] [--small] [--keep DIR]

Draws a tree and a command for each seed, runs the command in the tree, and prints a line for each seed that failed
with a command line that repeats it; `--small` prints a smallest tree as a shell script. The last line is
`N passed, M failed`. Exit code 0 only if nothing failed and something ran.
"""

from __future__ import annotations

import sys

from tests.hostile.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
