"""Merge definitions: both forms, as values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.cloudinit import (
    CONFIG_DEFAULT,
    PART_DEFAULT,
    WORDS,
    CloudConfigError,
    definition_of,
    parse_definition,
    take_definition,
    word_or_definition,
)

names = st.sampled_from(["dict", "list", "str", "my_own", "m_dict"])
options = st.lists(st.sampled_from(["append", "replace", "recurse_list", "odd"]), max_size=3)
strings = st.lists(st.tuples(names, options), max_size=3).map(
    lambda pairs: "+".join(f"{name}({','.join(words)})" for name, words in pairs)
)


class TestTheStringForm:
    @given(strings)
    def test_a_printed_merge_definition_is_read_back(self, text: str):
        """A definition prints as a text that means the same."""
        definition = parse_definition(text)

        assert definition == (parse_definition(str(definition)) if definition else definition)

    @given(strings)
    def test_case_blanks_and_hyphens_do_not_matter(self, text: str):
        """The text is folded before it is read."""
        dressed = " + ".join(f"  {piece.upper().replace('_', '-')} " for piece in text.split("+"))

        assert parse_definition(dressed) == parse_definition(text)

    @pytest.mark.parametrize("text", ["", "   ", "+", " + +"])
    def test_nothing_means_no_mergers_and_is_no_error(self, text: str):
        """An empty text is a definition without mergers."""
        assert not parse_definition(text)

    @pytest.mark.parametrize(
        ("text", "hint"),
        [
            ("append", "list(append)"),
            ("list", "list()"),
            ("list:append", "brackets"),
            ("list(append", "name(option"),
            ("list (append)", "name(option"),
            ("dict(replace+recurse_list)", "name(option"),
            ("list(a\nb)", "name(option"),
        ],
    )
    def test_what_is_malformed_is_an_error_with_a_way_out(self, text: str, hint: str):
        """The error names the piece, and shows how to write it."""
        with pytest.raises(CloudConfigError) as caught:
            parse_definition(text)

        assert caught.value.kind == "format"
        assert hint in (caught.value.hint or "")

    def test_a_comma_for_a_plus_is_one_merger_with_odd_options(self):
        """Whatever stands between the first bracket and the last is options."""
        assert parse_definition("list(append),dict()").to_list() == [["list", ["append)", "dict("]]]


class TestTheStructuredForm:
    @pytest.mark.parametrize("value", [5, True, 1.5])
    def test_a_number_or_boolean_is_no_definition(self, value: object):
        """The error says what it is instead."""
        with pytest.raises(CloudConfigError) as caught:
            definition_of(value)

        assert caught.value.kind == "definition"

    @pytest.mark.parametrize(
        "entry", [{"name": "list"}, {"settings": []}, {"name": 5, "settings": []}, [], "", 5, None]
    )
    def test_an_entry_without_name_or_settings_is_an_error(self, entry: object):
        """Nothing is guessed."""
        with pytest.raises(CloudConfigError) as caught:
            definition_of([entry])

        assert caught.value.kind == "definition"

    @pytest.mark.parametrize("value", [None, [], {}, ()])
    def test_null_and_empty_mean_no_mergers(self, value: object):
        """As in cloud-init."""
        assert not definition_of(value)

    def test_a_bare_text_gives_its_first_letter(self):
        """An entry that is no mapping is indexed, texts too."""
        assert definition_of(["list(append)"]).to_list() == [["l", "ist(append)"]]


class TestTaking:
    @given(st.dictionaries(st.sampled_from(["a", "merge_how", "merge_type"]), strings | st.none()))
    def test_the_config_is_left_as_it_was(self, config: dict[str, object]):
        """A definition is taken out of a copy."""
        before = dict(config)
        take_definition(config)

        assert config == before

    def test_merge_type_waits_until_merge_how_is_absent_or_null(self):
        """It stays behind as data otherwise."""
        how, kind = "list(append)", "dict()"

        assert take_definition({"merge_how": how, "merge_type": kind})[1:] == ({"merge_type": kind}, "merge_how")
        assert take_definition({"merge_how": None, "merge_type": kind})[1:] == ({}, "merge_type")
        assert take_definition({"merge_how": "", "merge_type": kind})[1:] == ({"merge_type": kind}, "merge_how")

    @pytest.mark.parametrize("key", ["merge-how", "Merge_How", "MERGE_HOW"])
    def test_other_spellings_are_data(self, key: str):
        """Only the exact keys count."""
        assert take_definition({key: "dict()"}) == (definition_of(None), {key: "dict()"}, None)


def test_the_two_defaults_are_what_the_page_says():
    """docs/cloudinit.md, fact 2."""
    assert (str(PART_DEFAULT), str(CONFIG_DEFAULT)) == ("dict(replace)+list()+str()", "list()+dict()+str()")


@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_word_is_a_definition_with_a_dict_merger(word: str):
    """None of the words drops a part."""
    assert "dict" in word_or_definition(word).names()
