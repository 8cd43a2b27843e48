"""What parts of trees and command lines draw from: chance, a tree, and ways to name a place outside of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.hostile.entries import TOP, Link, Tree
from tests.hostile.surroundings import PLACES

__all__ = ["KEYS", "ODD_NAMES", "Draw"]

KEYS = ("k", "k", "a", "a.b", "secret", "users", "app.workers", "profile::port")
"""Keys that the repository and the files around it have."""

ODD_NAMES = (
    "a\nb",
    "x\x1b[31mred",
    "x\x9b31m",
    "\u202egnp.x",
    "'; touch x; '",
    '"quoted"',
    "-rf",
    "--help",
    "%2e%2e",
    "..%2fouter",
    "$(touch x)",
    "`touch x`",
    "n\udcff\udcfe",
    "é" * 100,
    "x" * 240,
    " ",
    "~",
    "$HOME",
    "con\\..\\..\\x",
    "@here",
    "a|b <script>alert(1)</script>",
    "*",
    "[!a]",
    "{a,b}",
    "__init__",
)
"""Names of files, without an ending."""

_OF_THE_MACHINE = ("/proc/self/environ", "/etc/passwd", "/dev/zero", "/proc/self/cwd/../outer/data.yaml", "/dev/stdin")


@dataclass
class Draw:
    """The parts of a tree are drawn one after the other; each may add entries."""

    chance: random.Random
    tree: Tree

    def outside(self, kind: str, up: int = 1) -> str:
        """A way to name a file or folder outside of the repository.

        kind: one of `PLACES`
        up:   how many folders above the one that relative paths count from `outer` lies
        """
        chance = self.chance
        place = chance.choice(PLACES[kind])
        form = chance.randrange(10)
        if form < 3:
            return f"{TOP}/outer/{place}"
        if form < 5:
            return f"{'../' * up}outer/{place}"
        if form == 5:
            return "./" * 3 + "x/../" + f"{'../' * up}outer/{place}"
        if form == 6:
            return chance.choice(["~/data.yaml", "$HOME/data.yaml", "${HOME}/data.yaml", "~root/../etc/passwd"])
        if form == 7:
            return f"file://{TOP}/outer/{place}"
        if form == 8:
            return chance.choice(_OF_THE_MACHINE)
        return "../" * (up - 1) + self.link(place)

    def link(self, place: str) -> str:
        """A link in the repository to a place of `outer`; its path."""
        chance = self.chance
        name = (
            f"link{chance.randrange(1000)}{place.rpartition('.')[1]}{place.rpartition('.')[2] if '.' in place else ''}"
        )
        target = chance.choice([f"{TOP}/outer/{place}", f"../outer/{place}"])
        if chance.random() < 0.3:
            self.tree.put(f"{name}.next", Link(target))
            target = f"{name}.next"
        self.tree.put(name, Link(target))
        return name

    def target(self, kind: str, up: int) -> str:
        """What a link in a folder may lead to: as `outside`, a loop, nothing."""
        chance = self.chance
        place = chance.choice(PLACES[kind])
        return chance.choice(
            [
                f"{TOP}/outer/{place}",
                f"{'../' * up}outer/{place}",
                f"{TOP}/home/data.yaml",
                *_OF_THE_MACHINE,
                "/proc/self/fd/0",
                "/proc/self/cwd",
                "..",
                "nowhere",
                "/",
            ]
        )

    def key(self) -> str:
        """A key to ask for."""
        return self.chance.choice(KEYS)
