"""The targets, one module for each room."""

import pkgutil

from tests.fuzz.target import Target

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {
    target.name: target
    for room in pkgutil.iter_modules(__path__, f"{__name__}.")
    for target in pkgutil.resolve_name(room.name).TARGETS
}
