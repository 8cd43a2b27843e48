"""Node attributes in layers, and where each value came from.

>>> from nodeattrs import Node
>>> node = Node("web1")
>>> node.default["apache"]["port"] = 80
>>> node.override["apache"]["port"] = 8080
>>> node["apache"]["port"]
8080
>>> [claim.value for claim in node.trace("apache.port").claims]
[8080, 80]
"""

from __future__ import annotations

import sys

if [word.rpartition("/")[2] for word in sys.orig_argv[-len(getattr(sys, "argv", ())) :][:1]] == ["nodeattrs"]:
    # We are the program, and not a library of one: Ctrl-C is ours from now on.
    try:
        from nodeattrs.cli.interrupts import end_at_once

        end_at_once()
    except KeyboardInterrupt:
        sys.exit(130)

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs._version import VERSION

if TYPE_CHECKING:
    from nodeattrs.core.claim import Origin
    from nodeattrs.core.fold import Fold, Folded, Layer
    from nodeattrs.core.part import Part, concat, listed, made, unite
    from nodeattrs.core.policy import (
        ACROSS,
        ANY,
        DROP,
        INSIDE,
        KEEP,
        LIST,
        MAP,
        MEET,
        NULL,
        PRESENT,
        SCALAR,
        TAKE,
        TEXT,
        Line,
        Meet,
        Policy,
    )
    from nodeattrs.core.sensitive import Sensitive
    from nodeattrs.core.trace import Trace
    from nodeattrs.errors import NodeattrsError
    from nodeattrs.formats.layers import read_layer
    from nodeattrs.formats.tags import Tagged
    from nodeattrs.node.documents import json_default
    from nodeattrs.node.public import Node
    from nodeattrs.node.values import Deferred, Symbol, lazy
    from nodeattrs.policies import fold

__version__ = VERSION

_HOMES = {
    "ACROSS": "core.policy",
    "ANY": "core.policy",
    "DROP": "core.policy",
    "Deferred": "node.values",
    "Fold": "core.fold",
    "Folded": "core.fold",
    "INSIDE": "core.policy",
    "KEEP": "core.policy",
    "LIST": "core.policy",
    "Layer": "core.fold",
    "Line": "core.policy",
    "MAP": "core.policy",
    "MEET": "core.policy",
    "Meet": "core.policy",
    "NULL": "core.policy",
    "Node": "node.public",
    "NodeattrsError": "errors",
    "Origin": "core.claim",
    "Part": "core.part",
    "Policy": "core.policy",
    "PRESENT": "core.policy",
    "SCALAR": "core.policy",
    "Sensitive": "core.sensitive",
    "Symbol": "node.values",
    "TAKE": "core.policy",
    "TEXT": "core.policy",
    "Tagged": "formats.tags",
    "Trace": "core.trace",
    "concat": "core.part",
    "fold": "policies",
    "json_default": "node.documents",
    "lazy": "node.values",
    "listed": "core.part",
    "made": "core.part",
    "read_layer": "formats.layers",
    "unite": "core.part",
}

__all__ = [
    "ACROSS",
    "ANY",
    "DROP",
    "INSIDE",
    "KEEP",
    "LIST",
    "MAP",
    "MEET",
    "NULL",
    "PRESENT",
    "SCALAR",
    "TAKE",
    "TEXT",
    "Deferred",
    "Fold",
    "Folded",
    "Layer",
    "Line",
    "Meet",
    "Node",
    "NodeattrsError",
    "Origin",
    "Part",
    "Policy",
    "Sensitive",
    "Symbol",
    "Tagged",
    "Trace",
    "concat",
    "fold",
    "json_default",
    "lazy",
    "listed",
    "made",
    "read_layer",
    "unite",
]


__getattr__ = imported(__name__, _HOMES)  # the face is imported by every tool's start


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
