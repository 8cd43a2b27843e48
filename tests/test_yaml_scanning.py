"""The loader in Python says of every text what PyYAML's own says, and looks at each place of a key once."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from nodeattrs.formats.yaml_scanning import Loader


def said(text: str, loader: type[yaml.SafeLoader]) -> list[str]:
    """All tokens with their places, and the error that ends them."""
    found: list[str] = []
    try:
        for token in yaml.scan(text, Loader=loader):
            found.append(f"{token!r} {token.start_mark.index} {token.end_mark.index}")
    except yaml.YAMLError as error:
        found.append(f"{type(error).__name__}: {error}")
    return found


PIECES = [
    "a",
    ":",
    ": ",
    "- ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "\n",
    "  ",
    "'",
    '"',
    "&x ",
    "*x",
    "!t ",
    "|\n",
    "#",
    "\t",
    "b" * 1025,
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@example("[" * 40 + "a: b")
@example("a: b\nc" + "d" * 1025 + ": e")
@example("- a\nb\n: c")
@example("{a" + "b" * 1025 + ": c}")
def test_each_text_has_the_same_tokens_and_errors(text: str):
    """Keys that are too long, on another line or lack their colon too."""
    assert said(text, yaml.SafeLoader) == said(text, Loader)


class Places(dict):
    """Counts how often one of them is looked at."""

    looks = 0

    def __getitem__(self, level):
        self.looks += 1
        return super().__getitem__(level)

    def items(self):
        return map(self._looked, super().items())

    def values(self):
        return map(self._looked, super().values())

    def _looked(self, one):
        self.looks += 1
        return one


@pytest.mark.parametrize(("loader", "is_few"), [(Loader, True), (yaml.SafeLoader, False)])
def test_a_place_is_not_looked_at_for_each_token(loader, is_few):
    """However many brackets are open; PyYAML's own does."""
    text = "[" * 500 + "]" * 500
    reader = loader(text)
    places = reader.possible_simple_keys = Places()
    while reader.check_token():
        reader.get_token()

    assert (places.looks < 20 * len(text)) is is_few
