"""What a YAML text says, to libyaml and to PyYAML's own parser: which of them is there makes no difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nodeattrs.cloudinit import load_config
from nodeattrs.core.budget import limited
from nodeattrs.dialects.hiera import ruby_yaml
from nodeattrs.errors import BadValue, DocumentError
from nodeattrs.formats import yaml_text
from nodeattrs.formats.places import Mark, Text
from nodeattrs.formats.yaml_events import tag_of
from nodeattrs.formats.yaml_writing import written
from tests.effort import examples

pytestmark = pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML is built without libyaml here")

Seen = tuple[Any, ...]
"""What a reader made of a text: the tree, where each part stands, and the warnings; or the complaint."""


def ours(text: str) -> Seen:
    """As nodes and their documents are read."""
    reading = yaml_text.read(Text("f.yaml", text))
    return repr(reading.tree), offsets(reading.marks()), [one.message for one in reading.warnings]


def psychs(text: str, marks: bool = False) -> Seen:
    """As Puppet's data files are read. marks: as hiera.yaml is read, which keeps where each part stands"""
    read = ruby_yaml.read(Text("f.yaml", text), marks=marks)
    reading = read.reading
    warnings = [one.message.partition(": ")[2] for one in reading.warnings]
    return repr(reading.tree), offsets(reading.marks()), warnings, sorted(read.unfit)


def offsets(mark: Mark) -> Seen:
    return mark.offset, sorted((repr(step), offsets(below)) for step, below in mark.parts.items())


def seen(read: Callable[[str], Seen], text: str, *, pure: bool) -> Seen:
    with pytest.MonkeyPatch.context() as patch:
        if pure:
            patch.delattr(yaml, "CSafeLoader")
        try:
            return read(text)
        except DocumentError as error:
            return ("refused", str(error))


readers = pytest.mark.parametrize("read", [ours, psychs])

# --- texts as people write them ----------------------------------------------------------------------------------

Lines = list[str]
"""A node of a text: what stands behind its key or dash, perhaps nothing, and the lines below that."""

words = st.sampled_from(
    [
        "a",
        "yes",
        "1:30",
        "0x1F",
        "~",
        "08",
        "1.5",
        "x y",
        "é",
        "😀 b",
        "=",
        "-a",
        "a#b",
        "http://x/y",
        "2024-01-02",
        ":s",
    ]
)
quoted = st.sampled_from(["''", "'it''s'", '"\\n\\x41"', '"\\u263A"', '"\\ud83d"', "'a\\nb'", '"a: b"', "'<<'", '"#"'])
marked = st.builds(
    "{} {}".format, st.sampled_from(["&x", "&y", "!", "!!str", "!!int", "!!binary", "!odd", "&x !!str"]), words | quoted
)
scalars = words | quoted | marked | st.sampled_from(["*x", "*y", "", "!", "1,000", "a, b"])
flows = st.recursive(
    words | quoted | st.sampled_from(["*x ", "&x a"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
        | st.lists(st.tuples(st.sampled_from(["k", "l", "'k'", "<<", "1"]), inner), max_size=2).map(
            lambda pairs: "{" + ", ".join(f"{key}: {part}" for key, part in pairs) + "}"
        )
    ),
    max_leaves=4,
)
inline = (scalars | flows | flows.map("&y {}".format)).map(lambda text: [text])
blocks = st.builds(
    lambda header, lines: [header, *lines],
    st.sampled_from(["|", ">", "|-", ">+", "|2", "&x |", "> # folded"]),
    st.lists(st.sampled_from(["  a", "  b: c", "    d", "", "  # no comment", "  é"]), max_size=3),
)
comments = st.sampled_from(["", "", "", " # why", "  #"])
keys = st.sampled_from(["k", "l", "k", "l", "'k'", "<<", "1", ":k", "? k\n", "&y k", "*y "])


def below(head: str, node: Lines, comment: str, indent: int) -> Lines:
    """A key or a dash, and the node behind it or below it."""
    first, *rest = node
    plain = comment if not first.startswith(("|", ">")) else ""
    return [f"{head} {first}{plain}".rstrip(" ") if first else head + comment, *(" " * indent + line for line in rest)]


def pairs(inner: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    """The lines of a map."""
    entry = st.builds(
        lambda key, node, comment, indent: below(
            "? k\n:" if key.startswith("?") else f"{key}:", node, comment, indent
        ),
        keys, inner, comments, st.integers(1, 3),
    )  # fmt: skip
    return st.lists(entry, min_size=1, max_size=3).map(
        lambda entries: ["", *(part for one in entries for line in one for part in line.split("\n"))]
    )


def dashes(inner: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    """The lines of a list."""
    entry = st.builds(
        lambda node, comment, indent: below("-", node, comment, indent), inner, comments, st.integers(1, 3)
    )
    return st.lists(entry, min_size=1, max_size=3).map(lambda entries: ["", *(line for one in entries for line in one)])


nodes = st.recursive(inline | blocks, lambda inner: pairs(inner) | dashes(inner), max_leaves=6)
texts = st.builds(
    lambda start, node, end, newline: "\n".join([*start, *node[node[0] == "" :], *end]).replace("\n", newline),
    st.sampled_from([[], ["---"], ["# first", ""], ["%YAML 1.1", "---"]]),
    nodes | pairs(nodes).map(lambda node: ["x: &x {a: 1, k: 2}", "y: &y b", *node[1:]]),
    st.sampled_from([[""], [""], [], ["..."], ["---", "k: 2", ""]]),
    st.sampled_from(["\n", "\n", "\r\n"]),
)


@readers
@settings(max_examples=examples(200))
@given(text=texts)
@example(text="k: !\n")
@example(text='k: "\\ud83d"\n')
@example(text='k: "\\ud83d\\ude00"\n')
def test_texts_as_people_write_them_say_the_same_to_both(read, text):
    """
    Tree, places and warnings; and what is refused is refused by both.
    """
    fast, slow = (seen(read, text, pure=pure) for pure in (False, True))

    assert fast == slow or fast[0] == slow[0] == "refused"


# --- texts as nobody writes them ---------------------------------------------------------------------------------

scraps = st.sampled_from(
    ["a", "k", "1", "yes", "-", "- ", "-\n", ":", ": ", "? ", ",", "[", "]", "{", "}", "#", " #", "&x ", "*x", "!",
     "!!str ", "!t ", "|", "|\n", ">", "|-\n", ">+\n", "|2\n", "'", '"', "%", "@", "`", "\n", "\n", "\n  ", "\n ", "  ",
     " ", "\t", "---", "---\n", "...\n", "<<: ", "\\n", "\\x41", "é", "😀", "\r\n", "\r", "\u2028", "\x85", "\\",
     "a: b",
 "b:\n  - x\n", "1:30", "2024-01-02", "!<tag:yaml.org,2002:str> ", "%YAML 1.1\n", "%TAG ! !x\n",
     "\\ud83d", "''"]
)  # fmt: skip


@settings(max_examples=examples(200))
@given(text=texts)
@example(text="a: &x {b: 1}\nc: {b: 2, <<: *x}\nb: 1\nb: 2\n")
def test_a_reading_that_keeps_places_says_the_same_as_two_readings(text):
    once = seen(partial(psychs, marks=True), text, pure=False)

    assert seen(psychs, text, pure=False) == once


@readers
@settings(max_examples=examples(300))
@given(text=st.lists(scraps, max_size=10).map("".join))
def test_no_text_says_one_thing_to_one_and_another_to_the_other(read, text):
    """
    One may refuse what the other reads: tabs between words, `?` in brackets. Neither reads something else.
    """
    fast, slow = (seen(read, text, pure=pure) for pure in (False, True))

    assert fast == slow or "refused" in (fast[0], slow[0])


@given(st.text("0189.:-+_exXyYnNoOtTfFaslruULI~/ é²", max_size=7))
@example("False")
@example("NULL")
@example("10.0.0.1")
@example("2024-01-02 03:04:05.6")
def test_a_plain_scalar_is_of_the_kind_that_pyyaml_takes_it_for(text):
    """
    Most are known without the expressions that PyYAML has for them.
    """
    event = yaml.ScalarEvent(None, None, (True, False), text)

    assert yaml.resolver.Resolver().resolve(yaml.ScalarNode, text, (True, False)) == tag_of(event)


# --- and what is written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"width": 1_000}, {"blocks": True}, {"explicit_end": True}])
def test_what_is_nested_too_deeply_to_be_written_is_refused_in_our_words(how):
    """
    PyYAML recurses; a document of 500 levels can be read.
    """
    tree = yaml_text.read(Text("f.yaml", "[" * 498 + "]" * 498)).tree

    with pytest.raises(BadValue, match="nested too deeply to be written as YAML"):
        written(tree, **how)


@given(texts)
def test_what_is_written_says_the_same_again(text):
    """
    In every manner of writing.
    """
    try:
        tree = yaml_text.read(Text("f.yaml", text)).tree
    except DocumentError:
        return

    for how in ({}, {"blocks": True}, {"explicit_start": True, "explicit_end": True}):
        assert tree == yaml_text.read(Text("f.yaml", written(tree, **how))).tree


# --- texts that would use up the machine -------------------------------------------------------------------------


def clouds(text: str) -> Seen:
    """As cloud-init's configs are read."""
    return (load_config(text),)


def nine(of: str) -> str:
    """Nine levels, each of which repeats the one before nine times."""
    lines = [
        f"{to}: &{to} {of.format(', '.join([f'*{one}'] * 9))}" for one, to in zip("abcdefghi", "bcdefghij", strict=True)
    ]
    return "\n".join(["a: &a {x: 1}", *lines])


@pytest.mark.parametrize("read", [ours, psychs, clouds])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (nine("{{<<: [{0}]}}"), "holds more than 1,000,000 values"),
        (nine("[{0}]"), "holds more than 1,000,000 values"),
        ("k: " + "[" * 600 + "]" * 600, "nested deeper than 500 levels"),
        ("k: 0x" + "f" * 3_600, "a number of more than 4,?300 digits"),
        ("k: 0b" + "1" * 16_000, "a number of more than 4,?300 digits"),
        ("k: " + "9" * 4_301, "a number of more than 4,?300 digits"),
    ],
)
def test_what_would_grow_is_refused_while_it_is_read(read, text, words):
    """
    By all three readers, before the memory is spent, with the line.
    """
    with pytest.raises(DocumentError, match=words) as caught:
        read(text)

    assert caught.value.line is not None


@pytest.mark.parametrize(
    "text", ["k: !!timestamp x", "k: !!bool maybe", "k: !!int x", "k: !!float x", "k: 1" + ":1" * 9_000]
)
@pytest.mark.parametrize("read", [ours, psychs, clouds])
def test_what_is_no_value_of_its_tag_is_text_or_an_error_of_ours(read, text):
    """
    Never one of the library.
    """
    got = seen(read, text, pure=False)

    assert got[0] != "refused" or "1:4" in got[1]


@pytest.mark.parametrize("read", [ours, psychs, clouds])
def test_a_limit_can_be_raised(read):
    """
    For a block, as everywhere.
    """
    with limited(values=2), pytest.raises(DocumentError, match="holds more than 2 values"):
        read("k: [1, 2]")
    with limited(values=5):
        read("k: [1, 2]")
