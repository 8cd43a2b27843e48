"""Documents: what is read, where it stands, and what is refused."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.core.budget import Limits, limited
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats import documents, json_text
from nodeattrs.formats.documents import parse, read
from nodeattrs.testing import values
from tests.edits import changed, leaves

ODD_KEYS = ("a", "é", 'q"', "a: b", "\\n", "yes", "1")
# Every value is one line in every syntax, and several are easily taken for something else.
LINE_SCALARS = (None, True, 0, 1.5, "x", "no", "12", "a: b", "#", "é 😀", "")
PURE_AND_C = pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])


def refusal(text: str, syntax: str = "json") -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        parse(text, f"f.{syntax}", syntax)  # type: ignore[arg-type]
    return caught.value


def ending_replaced(text: str, line: int, old: str, new: str) -> str:
    """*text* with the value that ends *line* replaced; a comma may follow it."""
    lines = text.split("\n")
    before, comma = lines[line - 1].removesuffix(","), lines[line - 1].endswith(",")
    assert before.endswith(old), f"{old} does not end line {line}: {before}"
    lines[line - 1] = before.removesuffix(old) + new + "," * comma
    return "\n".join(lines)


class TestLocator:
    TEXT = '{\n  "name": "web",\n  "default_attributes": {\n    "apache": {"port": 80}\n  }\n}\n'

    def test_it_gives_the_line_of_the_key_counted_from_where_it_speaks(self):
        """
        A role's paths begin below the field that holds its attributes.
        """
        locator = parse(self.TEXT, "roles/web.json", "json").locator("role", "web", ("default_attributes",))

        assert Origin("role", "web", "roles/web.json", 4, 16) == locator.at(("apache", "port"))

    def test_a_path_that_is_not_written_stands_where_its_parent_stands(self):
        """
        Nobody wrote apache.host, but line 4 says apache.
        """
        document = parse(self.TEXT, "roles/web.json", "json")

        assert (4, 5) == document.place(("default_attributes", "apache", "host", 0))

    def test_lines_are_looked_up_once_and_only_when_asked(self, monkeypatch):
        """
        Reading pays for no marks; the first question pays for all.
        """
        asked, marked = [], json_text._marked
        monkeypatch.setattr(json_text, "_marked", lambda text: asked.append(text) or marked(text))

        document = parse(self.TEXT, "roles/web.json", "json")
        assert asked == []

        document.place(("name",))
        document.place(("default_attributes", "apache2"))
        assert asked == [self.TEXT]

    def test_an_error_about_a_path_stands_at_its_line(self):
        """
        Whoever knows what the document should say need not know where it says it.
        """
        error = parse(self.TEXT, "roles/web.json", "json").error("must be a map", ("name",), hint="write {}")

        assert "roles/web.json:2:3: must be a map\n  write {}" == str(error)
        assert ("name",) == error.path


class TestPlaces:
    @pytest.mark.parametrize(
        ("syntax", "text", "path", "place"),
        [
            ("json", '{"a":\n  1}', ("a",), (2, 3)),  # a scalar on a later line than its key
            ("json", '{"a":\n  [\n1]}', ("a",), (1, 2)),  # a map or list stands where its key stands
            ("json", '{"a":\n  [\n1]}', ("a", 0), (3, 1)),
            ("json", '{"\\u00e9": {"b": 1}}', ("é", "b"), (1, 13)),
            ("json", '{"😀": 0, "b": 1}', ("b",), (1, 10)),  # columns count characters
            ("json", '{"a": 1,\r\n"b": 2}', ("b",), (2, 1)),
            ("json", '\ufeff{"a": 1}', ("a",), (1, 2)),
            ("json", '{"a": [1], "b": "]"}', ("b",), (1, 12)),
            ("json", "\n 1", (), (2, 2)),
            ("yaml", "a:\n  1", ("a",), (2, 3)),
            ("yaml", "a:\nb: 1", ("a",), (1, 1)),  # null, since nothing is there
            ("yaml", "a: |\n  x\n", ("a",), (1, 1)),
            ("yaml", "a:\n  - b: 1\n    c: 2\n", ("a", 0, "c"), (3, 5)),
            ("yaml", "a:\n  - - x\n    - y\n", ("a", 0, 1), (3, 7)),
            ("yaml", "😀: 0\nb: {é: 0, c: 1}", ("b", "c"), (2, 11)),
            ("yaml", "1: a\n'1': b", (1,), (1, 1)),
            ("yaml", "1: a\n'1': b", ("1",), (2, 1)),
            ("yaml", "x: &x {k: 1}\ny: *x", ("y",), (2, 1)),  # this line says y
            ("yaml", "x: &x {k: 1}\ny: *x", ("y", "k"), (1, 8)),  # and this one what is in it
            ("yaml", "x: &x 1\ny: *x", ("y",), (2, 1)),
            ("yaml", "x: &x 1\ny: [0, *x]", ("y", 1), (2, 8)),
            ("yaml", "x: &x\n  k: 1\ny:\n  <<: *x\n  l: 2", ("y", "k"), (2, 3)),
            ("yaml", "x: &x\n  k: 1\ny:\n  <<: *x\n  k: 2", ("y", "k"), (5, 3)),
            ("yaml", "y:\n  <<:\n  - k: 1\n  - k: 2\n    l: 3", ("y", "k"), (3, 5)),
            ("yaml", "y:\n  <<:\n  - k: 1\n  - k: 2\n    l: 3", ("y", "l"), (5, 5)),
            ("yaml", "", ("a",), (1, 1)),
            ("toml", "a = 1\nb.'c.d' = 2", ("b", "c.d"), (2, 1)),
            ("toml", "[t]\n  a = [\n 'x = 1', # b = 2\n]\nb = 3", ("t", "a", 0), (3, 2)),
            ("toml", "a = [\n{b = [1, # 2\n [2, 'x,]'], 3,\n]}, ]", ("a", 0, "b", 1, 1), (3, 6)),
            ("toml", "a = [\n{b = [1, # 2\n [2, 'x,]'], 3,\n]}, ]", ("a", 0, "b", 2), (3, 14)),
            ("toml", 'a = { b . "c d" = 1, e = { f = 07:32:00, g = {} } }', ("a", "b", "c d"), (1, 7)),
            ("toml", 'a = { b . "c d" = 1, e = { f = 07:32:00, g = {} } }', ("a", "e", "g"), (1, 42)),
            ("toml", 'a.b = [\'x\',\n"""y\n,""", 1]\nc = 1', ("a", "b", 2), (3, 7)),
            ("toml", "a = []\nb = 1", ("b",), (2, 1)),
            pytest.param("toml", f"{' ' * 200_000}\nb = 1", ("b",), (2, 1), id="behind a line of many blanks"),
            ("toml", "[t]\n  a = [\n 'b = 1', # b = 2\n]\nb = 3", ("t", "b"), (5, 1)),
            ("toml", 'a = """\nb = 1\n"""\nb = 2', ("b",), (4, 1)),
            ("toml", "[[t]]\na = 1\n[t.u]\nb = 1\n[[t]]\na = 2", ("t", 0, "u", "b"), (4, 1)),
            ("toml", "[[t]]\na = 1\n[t.u]\nb = 1\n[[t]]\na = 2", ("t", 1, "a"), (6, 1)),
            ("toml", "[ t . u ]\na = 1", ("t", "u"), (1, 3)),
        ],
    )
    def test_each_part_stands_where_a_person_would_edit_it(self, syntax, text, path, place):
        """
        The key's line; the value's, where it is a scalar on a later line; the real one, where it is repeated.
        """
        assert place == parse(text, "f", syntax).place(path)

    @given(values(ODD_KEYS, LINE_SCALARS), st.data())
    def test_editing_the_line_of_a_json_leaf_changes_that_leaf_only(self, tree, data):
        """
        The oracle is the parser: after the edit it reads what was meant.
        """
        text = json.dumps(tree, indent=2)
        path, leaf = data.draw(st.sampled_from(leaves(tree)))

        line, _ = parse(text, "f.json", "json").place(path)

        assert changed(tree, path, "new") == json.loads(ending_replaced(text, line, json.dumps(leaf), '"new"'))

    @given(values((*ODD_KEYS, 0, 1), LINE_SCALARS), st.data())
    def test_editing_the_line_of_a_yaml_leaf_changes_that_leaf_only(self, tree, data):
        """
        The same for YAML, where whole numbers are keys too.
        """
        text = dumped(tree)
        path, leaf = data.draw(st.sampled_from(leaves(tree)))

        line, _ = parse(text, "f.yaml", "yaml").place(path)

        old = dumped(leaf).split("\n")[0]
        assert changed(tree, path, "new") == yaml.safe_load(ending_replaced(text, line, old, "new"))

    @given(
        values(ODD_KEYS, LINE_SCALARS),
        st.sampled_from([",", " ,\r\n", ",\n\n\t"]),
        st.sampled_from([":", " : ", " \n:", ":\n"]),
    )
    def test_json_columns_point_at_the_key_the_element_or_the_later_scalar(self, tree, comma, colon):
        """
        Whatever the layout.
        """
        text = json.dumps(tree, separators=(comma, colon))
        document = parse(text, "f.json", "json")

        for path, leaf in leaves(tree):
            line, column = document.place(path)
            at_value = not path or isinstance(path[-1], int) or ("\n" in colon and not isinstance(leaf, (dict, list)))
            assert text.split("\n")[line - 1][column - 1 :].startswith(json.dumps(leaf if at_value else path[-1]))


def dumped(tree: Any) -> str:
    return str(yaml.safe_dump(tree, width=10**9, sort_keys=False, default_flow_style=False, allow_unicode=True))


class TestYaml:
    @PURE_AND_C
    @given(tree=values((*ODD_KEYS, 0, 1), LINE_SCALARS), flow=st.booleans())
    def test_a_tree_that_was_dumped_is_read_back(self, loader, tree, flow):
        """
        In both styles and with both parsers.
        """
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml, "CSafeLoader", loader, raising=False)
            seen = parse(yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False), "f.yaml", "yaml").tree

        assert repr(tree) == repr(seen)

    @pytest.mark.parametrize(
        "text",
        [
            "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3, z: 4}",
            "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {z: 1, <<: [*b, *a]}",
            "a: &a {x: 1}\nb: &b {<<: *a, y: 1}\nc: {<<: *b}",
            "a: &a {x: 1}\nb: {<<: *a, <<: {x: 2}}",
            "a: &a [1, &b {c: 2}]\nd: *b\ne: [*a, *a]",
            "'<<': {a: 1}",
            "&k a: *k",
            "a: 0o7\nb: 0644\nc: 1_000\nd: 1:30\ne: yes\nf: ~\ng: .5\nh: 1e3",
            "a: !!str 1\nb: !!int '1'\nc: !!float 1\nd: ! 1",
        ],
    )
    def test_anchors_merge_keys_and_scalars_mean_what_they_mean_to_pyyaml(self, text):
        """
        The oracle is its own safe loader, key order included.
        """
        seen = parse(text, "f.yaml", "yaml").tree

        assert json.dumps(yaml.safe_load(text)) == json.dumps(seen)

    def test_of_several_maps_in_one_merge_key_the_first_wins_whatever_pyyaml_is_there(self):
        """PyYAML 6.0.4 takes the last, for keys of more than one letter; YAML says otherwise, and so did all before."""
        text = "a: &a {port: 1, p: 1}\nb: &b {port: 2, p: 2}\nc: {<<: [*a, *b]}\nd: {<<: *a, <<: *b}"
        tree = parse(text, "f.yaml", "yaml").tree
        assert (tree["c"], tree["d"]) == ({"port": 1, "p": 1}, {"port": 2, "p": 2})

    def test_what_an_alias_repeats_is_separate_data(self):
        """
        Changing one place does not change the other.
        """
        tree = parse("a: &a {x: [1]}\nb: *a\nc: {<<: *a}", "f.yaml", "yaml").tree

        tree["a"]["x"].append(2)

        assert {"a": {"x": [1, 2]}, "b": {"x": [1]}, "c": {"x": [1]}} == tree

    def test_dates_stay_the_text_they_are_written_as(self):
        """
        Nothing is shifted to another zone, and nothing is rounded.
        """
        assert {"d": "2001-01-01 10:00:00.5 +2"} == parse("d: 2001-01-01 10:00:00.5 +2", "f.yaml", "yaml").tree

    def test_the_limit_itself_is_inside_and_one_more_value_is_not(self):
        """
        The root, a list of ten, ten of those, and all of it once more: 234 values.
        """
        ten = "- &ten [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
        hundred = f"- &hundred [{', '.join(['*ten'] * 10)}]\n"
        text = f"{ten}{hundred}- *hundred\n"

        with limited(values=234):
            assert 234 == len(flattened(parse(text, "f.yaml", "yaml").tree))
            assert "holds more than 234 values" in str(refusal(text + "- x\n", "yaml"))

    def test_a_bomb_is_refused_where_it_passes_the_limit(self):
        """
        Ten thousand million values, and a message at once.
        """
        lines = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)]

        error = refusal("\n".join(["l0: &l0 [x, x, x, x, x, x, x, x, x, x]", *lines]), "yaml")

        assert error.line == 6
        assert "aliases are counted as often as they are used" in str(error)


QUOTED = st.sampled_from(["a", "", '"', "\\", '\\"', '":', ":", "::1", '"a" :', "\\\\", "{[,", "\n", "é"]).flatmap(
    lambda text: st.sampled_from([json.dumps(text), json.dumps(text, ensure_ascii=False)])
)


def json_texts() -> st.SearchStrategy[str]:
    """Texts of JSON, maps with keys said twice among them, blanks anywhere."""
    blank = st.sampled_from(["", " ", "\n\t"])

    def holders(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        spaced = st.tuples(blank, inner, blank).map("".join)
        pairs = st.tuples(QUOTED, blank, st.just(":"), spaced).map("".join)
        lists = st.lists(spaced, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        return lists | st.lists(pairs, max_size=3).map(lambda parts: f"{{{','.join(parts)}}}")

    return st.recursive(QUOTED | st.sampled_from(["1", "null", "1.5e3"]), holders, max_leaves=8)


def flattened(tree: Any) -> list[Any]:
    found = [tree]
    for part in found:
        if isinstance(part, (dict, list)):
            found += part.values() if isinstance(part, dict) else part
    return found


class TestKeysWrittenTwice:
    @pytest.mark.parametrize(
        ("syntax", "text"),
        [
            ("json", '{"b": [{"a": {"x": 1},\n "c": 0,\n "a": 2}]}'),
            ("yaml", "b:\n- {a: {x: 1},\n   c: 0,\n   a: 2}"),
            ("yaml", "b:\n- a: {x: 1}\n  c: 0\n  a: 2"),
        ],
    )
    def test_the_last_one_counts_and_a_warning_names_both_lines(self, syntax, text):
        """
        As Chef reads it; but not silently.
        """
        document = parse(text, "f", syntax)

        (warning,) = document.warnings
        lines = [number for number, line in enumerate(text.split("\n"), 1) if "a" in line]
        assert {"b": [{"a": 2, "c": 0}]} == document.tree
        assert lines[-1] == warning.line == document.place(("b", 0, "a"))[0]
        assert f"duplicate key b.0.a (first at {lines[0]}:" in str(warning)
        assert ("b", 0, "a") == warning.path

    @given(st.data())
    def test_none_escapes_however_the_text_is_written(self, data):
        """
        Quotes, backslashes, colons and blanks in odd places; the library, watched at each map, is the oracle.
        """
        text = data.draw(json_texts())
        repeats = []

        def watched(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            repeats.extend([key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at])])
            return dict(pairs)

        tree = json.loads(text, object_pairs_hook=watched)

        document = parse(text, "f.json", "json")
        assert tree == document.tree
        assert sorted(repeats) == sorted(warning.path[-1] for warning in document.warnings)

    def test_keys_of_different_kinds_are_different_keys(self):
        """
        1 and "1" stay apart, and one map's key is not another's.
        """
        assert () == parse("1: a\n'1': b\nc: {1: d}", "f.yaml", "yaml").warnings

    def test_overruling_a_merged_key_is_what_merge_keys_are_for(self):
        """
        So there is nothing to warn of.
        """
        assert () == parse("a: &a {x: 1}\nb: {<<: *a, x: 2}", "f.yaml", "yaml").warnings


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "place", "message"),
        [
            ("", (1, 1), "nothing in this document"),
            ('{"a": 1', (1, 8), "the text ends here"),
            ('{"a": 1\n "b": 2}', (2, 2), "expected a comma"),
            ('{"a" 1}', (1, 6), "expected a colon"),
            ('{"a": 1,\n}', (1, 8), "a comma with nothing after it"),
            ("[1, ]", (1, 3), "a comma with nothing after it"),
            ("{'a': 1}", (1, 2), "double quotes only"),
            ("{\n// c\n}", (2, 1), "JSON has no comments"),
            ("{} {}", (1, 4), "nothing more"),
            ('["a', (1, 2), "never closed"),
            ('["a\nb"]', (1, 4), "write \\n for a line break"),
            ('["\\d"]', (1, 3), "unknown escape"),
            ('["\\ud800"]', (1, 2), "half of a surrogate pair"),
            ("[NaN]", (1, 2), "NaN is not a number"),
            ('{"NaN": -Infinity}', (1, 9), "-Infinity is not a number"),
            ("[1e999]", (1, 2), "1e999 is not a number"),
            ("[NaNo]", (1, 2), "NaN is not a number"),
            ("[" + "1" * 4301 + "]", (1, 2), "more than 4300 digits"),
            ("[\n" * 501 + "]" * 501, (501, 1), "deeper than 500 levels"),
            ('{"a":\n' * 501 + "1" + "}" * 501, (501, 1), "deeper than 500 levels"),
            ("[\n" * 100_000, (501, 1), "deeper than 500 levels"),
        ],
    )
    def test_malformed_json_is_told_in_plain_words(self, text, place, message):
        """
        With the line and column that a person should look at.
        """
        error = refusal(text)

        assert message in str(error)
        assert place == (error.line, error.column)
        assert str(error).startswith("f.json:")

    @PURE_AND_C
    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("a: [1\nb: 2", 2, "f.yaml:2:"),
            ("a:\n\t- b", 2, "indent with spaces"),
            ("a: b: c", 1, "quote a text that has a colon"),
            ("a: @b", 1, "quote a text that begins with a special character"),
            ("a: \x07", 1, "a character that YAML does not allow"),
            ("a: 1\n---\nb: 2", 2, "a second document begins here"),
            ("a: !!python/object/apply:os.getcwd []", 1, "asks for a Python object"),
            ("a: !!python/name:os.getcwd x", 1, "asks for a Python object"),
            ("a: !!binary eA==", 1, "write the bytes as text"),
            ("a: !!set {b}", 1, "write a list"),
            ("a: !!omap [b: 1]", 1, "!!omap cannot be kept here"),
            ("a: !ours b", 1, "a tag that is not known here"),
            ("a: !!int b", 1, "is not a YAML int"),
            ("a: !!int ''", 1, "is not a YAML int"),
            ("a: !!bool b", 1, "is not a YAML bool"),
            ("a: .nan", 1, "not a number that can be kept"),
            ("a: -.inf", 1, "not a number that can be kept"),
            ("a: " + "1:" * 3000 + "1", 1, "more than 4300 digits"),
            ("a: 1\ntrue: 2", 2, "the key true is a boolean, not text\n  quote it"),
            ("a: {~: 2}", 1, "the key ~ is a null"),
            ("1.5: 2", 1, "the key 1.5 is a float"),
            ("2001-01-01: 2", 1, "the key 2001-01-01 is a date"),
            ("? [a]\n: 1", 1, "a map or list cannot be a key"),
            ("a: &a [1]\n*a : 1", 2, "a map or list cannot be a key"),
            ("a: *b", 1, "quote a text that begins with *"),
            ("a: &a\n  b: *a", 2, "an alias inside what it names"),
            ("a:\n  <<: 1", 2, "<< takes a map"),
            ("a:\n  <<: [{}, 1]", 2, "<< takes a map"),
            ("[\n" * 501 + "]" * 501, 501, "deeper than 500 levels"),
            ("[\n" * 100_000, 501, "deeper than 500 levels"),
            ("- &a " + "[" * 400 + "]" * 400 + "\n- " + "[" * 100 + "*a" + "]" * 100, 2, "deeper than 500 levels"),
            ('"\\ud800"', 1, ""),
            ('"\\U7fffffff"', None, ""),
            ("!%ED%A0%80 x", None, ""),
        ],
    )
    def test_malformed_yaml_is_told_with_its_line(self, loader, text, line, message, monkeypatch):
        """
        Whichever of PyYAML's parsers is there.
        """
        monkeypatch.setattr(yaml, "CSafeLoader", loader, raising=False)

        error = refusal(text, "yaml")

        assert message in str(error)
        assert line is None or line == error.line

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("a = 1\nb", 2, "expected '='"),
            ("a = b", 1, "quote the text"),
            ("a = 1\na = 2", 2, "cannot overwrite a value"),
            ('a = "b', 1, "f.toml:1:7: "),
            ("a = 1\nb = [1, nan]", 2, "nan is not a number"),
            ("a = " + "1" * 5000, None, "more than 4300 digits"),
            ("a = " + "[" * 501 + "]" * 501, None, "deeper than 500 levels"),
            (".".join("a" * 501) + " = 1", None, "deeper than 500 levels"),
        ],
    )
    def test_malformed_toml_is_told_with_its_line(self, text, line, message):
        """
        In the words of the standard library, but in one form with the others.
        """
        error = refusal(text, "toml")

        assert message in str(error)
        assert line == error.line

    @pytest.mark.parametrize("syntax", ["json", "yaml"])
    def test_five_hundred_levels_are_read(self, syntax):
        """
        The limit itself is inside.
        """
        document = parse("[" * 500 + "]" * 500, "f", syntax)  # type: ignore[arg-type]

        assert (1, 500) == document.place((0,) * 499)

    def test_a_value_that_is_refused_is_not_repeated(self):
        """
        It may be a password that nobody quoted.
        """
        for secret in ("!hunter2", "*hunter2", "!!int hunter2"):
            assert "hunter2" not in str(refusal(f"password: {secret}", "yaml"))

    def test_a_syntax_that_is_none_is_the_callers_mistake(self):
        """
        No document is to blame.
        """
        with pytest.raises(BadArgument, match="no such syntax"):
            parse("", "f", "xml")  # type: ignore[arg-type]


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.json", b'\xef\xbb\xbf{"a": "\xc3\xa9"}'),
            ("a.YML", b"a: \xc3\xa9"),
            ("a.yaml", b"a: \xc3\xa9"),
            ("a.toml", b"a = '\xc3\xa9'"),
        ],
    )
    def test_the_suffix_says_the_syntax(self, tmp_path, name, content):
        """
        And the file's name in messages may be shorter than its path.
        """
        (tmp_path / name).write_bytes(content)

        document = read(tmp_path / name, f"roles/{name}")

        assert {"a": "é"} == document.tree
        assert f"roles/{name}" == document.file

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.txt", b"{}", "this kind of file is not known"),
            ("a.json", b'{\n "\xff": 1}', "shown/a.json:2:3: this byte is not UTF-8 text\n  save the file as UTF-8"),
            ("a.json", None, "shown/a.json: cannot be read: No such file or directory"),
            ("a.yaml", b"#" * (Limits().bytes + 1), "shown/a.yaml: is larger than 10 MB"),
            ("a.yaml", b"a: \x00", "shown/a.yaml:1:4: a character that YAML does not allow"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_a_document_error(self, tmp_path, name, content, message):
        """
        With the name that the caller gave it.
        """
        if content is not None:
            (tmp_path / name).write_bytes(content)

        with pytest.raises(DocumentError) as caught:
            read(tmp_path / name, f"shown/{name}")

        assert str(caught.value).startswith(message) or message in str(caught.value)

    def test_a_folder_and_an_impossible_name_are_document_errors_too(self, tmp_path):
        """
        Whatever stands in the way of the bytes.
        """
        (tmp_path / "a.json").mkdir()
        for path in (tmp_path / "a.json", pathlib.Path("\0.json")):
            with pytest.raises(DocumentError):
                read(path)


# Few characters, all of them meaning something: most texts are nearly right.
NEARLY = st.text(st.sampled_from("{}[]:,\"'\\ \n\t-&*!<|>?#%@~=.a1e+u0"), max_size=30)
WHOLE = {
    "json": '{"a": [1, -2.5e3, "\\u00e9", null], "b": {"c": true, "a": {}}}',
    "yaml": "a: &a [1, {b: ~}]\nc:\n  <<: {d: !!str 1}\n  e: *a\n'f': |\n  x\n? g\n: - 2001-01-01\n",
    "toml": 'a.b = [1, {c = \'d\'}]\n[e.\'f\']\ng = 1979-05-27\n[[h]]\ni = """\nx"""\n',
}


@pytest.mark.parametrize("syntax", WHOLE)
class TestAnyText:
    @given(st.data())
    def test_any_text_is_read_or_refused_with_an_error_of_the_project(self, syntax, data):
        """
        Random texts, whole documents cut short, and documents with something thrown in.
        """
        whole = WHOLE[syntax]
        begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
        text = data.draw(st.sampled_from([whole[:begin], whole[:begin] + whole[end:], ""])) + data.draw(NEARLY)

        assert_read_or_refused(lambda: parse(text, "f", syntax), text)

    @given(content=st.binary(max_size=30))
    def test_any_bytes_are_read_or_refused(self, syntax, content, tmp_path_factory):
        """
        The same for what is not text at all.
        """
        path = tmp_path_factory.getbasetemp() / f"any.{syntax}"
        path.write_bytes(content)

        assert_read_or_refused(lambda: read(path, "f"), content.decode("utf-8", "replace"))


def assert_read_or_refused(reading: Callable[[], documents.Document], text: str) -> None:
    """Either the error names the file, or every place lies inside the text."""
    try:
        document = reading()
    except DocumentError as refused:
        file = refused.file
        document = None
    else:
        file = document.file
    assert file == "f"
    lines = text.split("\n")
    for path, _ in leaves(document.tree) if document else ():
        line, column = document.place(path)
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
