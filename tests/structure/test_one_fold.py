"""Every merge of two containers happens below a frame of the one fold, or of the one named exception.

All public vectors run under a counter that looks at the call stack of each meeting (docs/decisions/0014).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import nodeattrs
import nodeattrs.core.folding
import nodeattrs.core.part
import nodeattrs.dialects.bindings.explain
import nodeattrs.dialects.cloudinit.mergers
import nodeattrs.dialects.hiera.strategies
import nodeattrs.node.intake
import nodeattrs.node.joined
import nodeattrs.node.view
from nodeattrs.core.part import Part, unite
from nodeattrs.core.policy import INSIDE

ROOT = Path(nodeattrs.__file__).parent
FOLDING, VIEWS = str(ROOT / "core" / "folding.py"), {str(ROOT / "node" / file) for file in ("view.py", "joined.py")}
MERGING = {
    nodeattrs.core.folding: ("meet", "_met"),
    nodeattrs.core.part: ("unite", "concat", "by_position", "by_field"),
    nodeattrs.node.joined: ("_joined_pair", "_merge_into"),
}
"""The functions in which two containers become one."""


def on_the_road(frame: FrameType | None) -> bool:
    """Whether one of the frames is the fold's, or the view's."""
    while frame is not None:
        code = frame.f_code
        laid = code.co_filename == FOLDING and code.co_qualname.startswith(("Folding.", "replay_step", "merged_places"))
        if laid or code.co_filename in VIEWS:
            return True
        frame = frame.f_back
    return False


def who(frame: FrameType | None) -> str:
    """The function of ours that is about to merge, outside of the core."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(str(ROOT)) and not file.startswith(str(ROOT / "core")):
            return f"{file.removeprefix(str(ROOT))}:{frame.f_code.co_qualname}"
        frame = frame.f_back
    return "nobody of ours"


def holds_containers(arguments: tuple[Any, ...]) -> bool:
    values = [one.value if isinstance(one, Part) else one for one in arguments]
    return sum(isinstance(value, (dict, list)) for value in values) > 1


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """The merges that happen within the block: "on the road", or who went beside it."""
    seen: Counter[str] = Counter()
    undo: list[Callable[[], None]] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*arguments: Any, **options: Any) -> Any:
            if holds_containers(arguments):
                frame = sys._getframe(1)
                seen["on the road" if on_the_road(frame) else who(frame)] += 1
            return function(*arguments, **options)

        watching.__dict__.update(function.__dict__)
        return watching

    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "nodeattrs"]
    for home, names in MERGING.items():
        for name in names:
            original = getattr(home, name)
            for module in ours:
                if getattr(module, name, None) is original:
                    setattr(module, name, watched(original))
                    undo.append(lambda module=module, name=name, original=original: setattr(module, name, original))
    try:
        yield seen
    finally:
        for step in undo:
            step()


def test_who_goes_beside_the_road_is_named():
    """
    The counter's own alarm.
    """
    with counted() as seen:
        nodeattrs.core.folding.meet(INSIDE, Part({"a": [1]}, 1), Part({"a": [2]}, 2))
        nodeattrs.core.part.unite(Part([1], 1), Part([2], 2))

    assert 0 == seen["on the road"]
    assert seen.total() >= 2
    assert nodeattrs.core.part.unite is unite
