"""How much is tried of what is random: in `make test` a part of it, in `make slow` many times that.

NODEATTRS_EFFORT is what all counts are multiplied with.
"""

import os

EFFORT = float(os.environ.get("NODEATTRS_EFFORT", "0.1"))
_FEWEST = 20


def examples(count: int = 100, fewest: int = _FEWEST) -> int:
    """How often something is tried whose own number is *count*, such as the examples of Hypothesis."""
    return max(min(count, fewest), round(count * EFFORT))
