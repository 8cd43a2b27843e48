"""python -m tests.causality [SYSTEM] [--count N] [--seed S] [--causes]

Edits the lines that explanations name, on N random inputs of each system and on the examples, asks anew,
and looks whether the explanation told the truth. Prints each question that did not hold with a smallest input,
and figures; the last line is `N passed, M failed`. Exit code 0 only if nothing failed and something was asked.

`node --causes` edits the lines that values are said to come from instead: literals, data bags, files that were read.
"""

from __future__ import annotations

import sys

from tests.causality.runner import main

if __name__ == "__main__":
    sys.exit(main())
