"""How much is tried of what is random: in `make test` a part of it, in `make slow` many times that.

NODEATTRS_EFFORT is what all counts are multiplied with.
"""

import os

EFFORT = float(os.environ.get("NODEATTRS_EFFORT", "0.5"))
_FEWEST = 20


def examples(count: int = 100) -> int:
    """How many examples of Hypothesis a test is given whose own number is *count*."""
    return max(min(count, _FEWEST), round(count * EFFORT))
