"""The targets, one module for each room."""

from tests.fuzz.target import Target
from tests.fuzz.targets import bindings, catalog, chef_ruby, cloudinit, command, hiera, keep, runs, texts

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {
    target.name: target
    for room in (texts, runs, chef_ruby, keep, catalog, cloudinit, hiera, bindings, command)
    for target in room.TARGETS
}
