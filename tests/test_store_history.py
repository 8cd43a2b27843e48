"""The file of a node's revisions: plain lists of texts are the judge."""

import contextlib
import decimal
import functools
import zlib
from datetime import UTC, datetime
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.errors import BadValue, DocumentError
from nodeattrs.keep import Noted, Revision
from nodeattrs.keep.stores import pieces
from nodeattrs.keep.stores.history import Head, History, named

# Every "]," is the end of a piece here, so that small texts have many pieces; few of them, so that they are shared.
finely_cut = mock.patch.multiple(pieces, _SMALLEST=2, _SELDOM=1)
texts = st.lists(st.sampled_from([b"[a],", b"[bb],", b"[a],[bb],", b"c"]), max_size=6).map(b"".join)
steps = st.tuples(texts, texts) | st.integers(1, 3) | st.just("again")


def head(number, both):
    revision = Revision(number, datetime(2030, 1, 1, 0, 0, number % 60, tzinfo=UTC), Noted(version=str(number)))
    return Head(revision, (named(both[0]), named(both[1])), f"form {number}")


def told(history):
    return {kept.number: history.texts(kept) for kept in history.kept}


def file_of(*revisions):
    history = History("web1", "web1.log")
    return b"".join(history.add(head(number, both), both) for number, both in enumerate(revisions, 1))


words = st.sampled_from([b"],", b"},", b"}", b"]", b",", b'{"kind":"recipe"', b"1" * 50, b"[]" * 200])


@given(st.lists(st.lists(words, max_size=60).map(b"".join), min_size=1, max_size=8), st.lists(st.integers(0, 7)))
def test_where_a_text_is_cut_hangs_on_what_follows_alone(runs, order):
    """Whatever was cut before: a map or list has ended there, and a checksum of 32 bytes says so."""
    for text in (b"".join(runs), b"".join(runs[at % len(runs)] for at in order), b"".join(reversed(runs))):
        judge, start = [], 0
        for at in range(2, len(text) + 1):
            is_end = text[at - 2 : at] in (b"],", b"},") and zlib.crc32(text[at : at + 32]) % 64 == 0
            if at - start >= 256 and (is_end or at == len(text)):
                judge.append(text[start:at])
                start = at
        rest = text[start:]
        assert [*judge, *[rest] * (rest != b"" or not text)] == pieces.pieces_of(text)


@finely_cut
@given(st.lists(steps, max_size=12))
def test_what_was_added_is_there_until_it_is_pruned(steps):
    """And the file as it is written says the same as the one that wrote it."""
    content, history, judge, last = b"", History("web1", "web1.log"), {}, 0
    for step in steps:
        match step:
            case int(keep):
                content = history.only(history.kept[-keep:])
                history = History("web1", "web1.log", content)
                judge = {number: judge[number] for number in sorted(judge)[-keep:]}
            case "again":
                history = History("web1", "web1.log", content)
            case both:
                last += 1
                content += history.add(head(last, both), both)
                judge[last] = both
        assert judge == told(history) == told(History("web1", "web1.log", content))
        assert last == history.last == History("web1", "web1.log", content).last
    assert [] == list(history.faults())
    assert [head(number, both) for number, both in judge.items()] == [
        Head(kept.revision, kept.texts, kept.form) for kept in history.kept
    ]


@finely_cut
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.data())
def test_wherever_it_ends_what_is_whole_is_there(revisions, data):
    """A save that was killed may have written any part of its line."""
    content, judge = file_of(*revisions), dict(enumerate(revisions, 1))
    end = data.draw(st.integers(0, len(content)))
    history = History("web1", "web1.log", content[:end])

    assert {number: judge[number] for number in judge if number <= history.last} == told(history)
    assert end == len(content) or history.last < len(revisions)
    assert told(history) == told(History("web1", "web1.log", content[: history.end]))


@finely_cut
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.data())
def test_a_byte_that_changed_is_noticed_wherever_it_is(revisions, data):
    content, judge = bytearray(file_of(*revisions)), dict(enumerate(revisions, 1))
    content[data.draw(st.integers(0, len(content) - 2))] ^= 1 << data.draw(st.integers(0, 7))
    history = History("web1", "web1.log", bytes(content))

    whole = {}
    for kept in history.kept:
        with contextlib.suppress(DocumentError):
            whole[kept.number] = history.texts(kept)
    assert whole.items() <= judge.items()
    assert [*history.faults()] or whole == judge


def test_what_stands_there_is_not_written_again():
    with finely_cut:
        content = file_of((b"[a],[bb],c", b"[a],"), (b"[a],[new],[bb],c", b"[a],"), (b"[a],[bb],c", b"[a],[a],"))
    brought = [kept.spans for kept in History("web1", "web1.log", content).kept]

    assert {named(b"[a],[bb],c"): [(1, 0, 10)], named(b"[a],"): [(1, 10, 4)]} == brought[0]
    assert {named(b"[a],[new],[bb],c"): [(1, 0, 4), (2, 0, 6), (1, 4, 6)]} == brought[1]
    assert {named(b"[a],[a],"): [(1, 10, 4), (1, 10, 4)]} == brought[2]


@pytest.mark.parametrize(
    ("levels", "words"),
    [(1_999, None), (2_000, "cannot be kept"), (2_600, "nested too deeply"), (10_000, "nested too deeply")],
)
def test_what_is_too_deep_to_be_read_back_is_refused(levels, words):
    """At the same depth by every Python; what is not too deep is believed to be what it is."""
    value = functools.reduce(lambda inner, _: [inner] if levels % 3 else {"k": inner}, range(levels), [])
    text = "[" * levels + "]" * levels
    with pytest.raises(BadValue, match=words) if words else contextlib.nullcontext():
        pieces.check_readable(text, value if words else value[0], "it")


def test_what_reads_back_as_something_else_is_refused():
    for value in ({1: 2}, [decimal.Decimal(1)]):
        with pytest.raises(BadValue, match="it is not JSON: reading it back gives something else"):
            pieces.check_readable("[[1]]", value, "it")


@finely_cut
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.integers(1, 4))
def test_a_number_that_cannot_be_read_is_not_given_again(revisions, damaged):
    """Of so many lines at the end nobody can say what numbers they were."""
    *lines, rest = file_of(*revisions).split(b"\n")
    kept = max(1, len(lines) - damaged)
    content = b"\n".join([*lines[:kept], *(b"?" * len(line) for line in lines[kept:]), rest])

    assert len(revisions) <= History("web1", "web1.log", content).last
