"""Whole user-data: what it unpacks to, what becomes of each part, and what bad input does."""

from __future__ import annotations

import base64
import contextlib
import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.cloudinit import (
    MAX_BYTES,
    CloudConfigError,
    CloudPart,
    load_config,
    merge,
    pack,
    parse_definition,
    unpack,
)
from nodeattrs.core.budget import Budget, Limits, limited
from nodeattrs.dialects.cloudinit import parts
from nodeattrs.dialects.cloudinit.body_search import BodySearch
from nodeattrs.dialects.cloudinit.codes import EMPTY
from nodeattrs.errors import BadArgument, MissingExtra, TooDeep
from tests.vectors.cloudinit import canonical


def config(body: str) -> str:
    return f"#cloud-config\n{body}"


def message(*parts: str, head: str = "") -> str:
    """A MIME message of parts, each with its headers and a blank line."""
    body = "".join(f"--x\n{part}\n" for part in parts)
    return f'MIME-Version: 1.0\n{head}Content-Type: multipart/mixed; boundary="x"\n\n{body}--x--\n'


def packed(body: str, headers: str = "") -> str:
    content = base64.b64encode(gzip.compress(body.encode(), mtime=0)).decode()
    return f"Content-Type: application/gzip\nContent-Transfer-Encoding: base64\n{headers}\n{content}"


class TestPacking:
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)

    @given(st.lists(texts, min_size=1, max_size=3))
    def test_what_was_packed_unfolds_to_the_same(self, texts: list[str]):
        """Bodies, names and merge headers survive, whatever the bodies hold."""
        bodies = [f"#cloud-config\nFrom here\n--\n{text}" for text in texts]
        parts = [CloudPart(body, filename=f"{number}.cfg") for number, body in enumerate(bodies)]
        unpacked = unpack([pack(parts, parse_definition("list(append)+dict()"))])

        assert [(part.text, part.filename) for part in unpacked] == [(p.text, p.filename) for p in parts]
        assert {part.headers["Merge-Type"] for part in unpacked} == {"list(append)+dict()"}

    def test_a_part_that_asks_for_something_itself_gets_no_header(self):
        """Nor does one that is no cloud-config."""
        rows = [
            CloudPart(config("merge_how: dict()")),
            CloudPart("a: 1", headers={"X-Merge-Type": "str()"}),
            CloudPart("#!/bin/sh", "text/x-shellscript"),
            CloudPart("a: ["),
        ]
        headers = [dict(part.headers) for part in unpack([pack(rows, parse_definition("list()"))])]

        assert [one.get("Merge-Type") for one in headers] == [None, None, None, "list()"]
        assert headers[1]["X-Merge-Type"] == "str()"

    def test_nothing_to_pack_is_an_error(self):
        """An empty message means nothing."""
        with pytest.raises(BadArgument):
            pack([])

    @pytest.mark.parametrize("kind", ["text/cloud-config", "text/x-shellscript", "application/octet-stream"])
    def test_bytes_that_are_no_text_travel_too(self, kind: str):
        """A file of another program is packed as it is."""
        content = bytes(range(256))

        assert [content] == [
            part.text.encode("utf-8", "surrogateescape") for part in unpack([pack([CloudPart(content, kind)])])
        ]

    def test_the_boundary_is_in_no_part(self):
        """A message may hold a message."""
        inner = pack([CloudPart("a: 1")])

        assert [part.text for part in unpack([pack([CloudPart(inner, "text/x-odd")])])] == [inner]

    def test_a_boundary_that_a_part_has_is_counted_on(self):
        """What is packed twice is the same twice."""
        message = pack([CloudPart("# =-=nodeattrs-1=-=", "text/x-shellscript")])

        assert "boundary==-=nodeattrs-2=-=" in message.replace('"', "")
        assert "=-=nodeattrs-1=-=" in pack([CloudPart("a: 1")])


class TestUnfolding:
    def test_names_count_on_over_several_blobs(self):
        """As the parts of one message."""
        parts = unpack([config("a: 1"), message("Content-Type: text/cloud-config\n\nb: 1"), config("c: 1")])

        assert [part.filename for part in parts] == ["part-001", "part-002", "part-003"]

    def test_lines_are_those_of_the_file_where_the_part_stands_in_it(self):
        """A packed part counts its own."""
        text = message("Content-Type: text/cloud-config\n\na: 1\nb: 2", packed(config("c: 1")))
        merged = merge([text])

        assert [str(merged.origins(key)[0]) for key in "bc"] == ["part-001:8 (part)", "part-002:2 (part)"]

    def test_a_message_in_a_message_is_merged_twice(self):
        """As in cloud-init, where the outer part holds the inner one and both are walked."""
        inner = "Content-Type: text/cloud-config\nMerge-Type: list(append)+dict(recurse_list)\n\nl: [1]"
        merged = merge([message(f"Content-Type: message/rfc822\n\n{inner}")])

        assert merged.config == {"l": [1, 1]}

    def test_text_beyond_ascii_without_an_encoding_is_rejected(self):
        """Mail parsers spoil it; cloud-init rejects the part, and so do we."""
        merged = merge([message("Content-Type: text/cloud-config\n\na: 'Grüße'")])

        assert (merged.config, merged.parts[0].kind) == ({}, "empty")

    def test_an_empty_user_data_has_no_config(self):
        """Nothing at all, not an empty mapping."""
        assert merge([""]).config is None
        assert merge([]).config is None
        assert merge([""]).text == ""

    def test_what_is_no_user_data_is_an_error(self):
        """A loaded config has another door."""
        with pytest.raises(BadArgument, match="dict"):
            merge([{"a": 1}])

    @pytest.mark.parametrize("index", [0, "1", None, "odd"])
    def test_the_launch_index_lets_its_own_parts_through_and_those_without(self, index: Any):
        """A header that is not a number is not that of any index."""
        header = "" if index is None else f"Launch-Index: {index}\n"
        text = message(f"Content-Type: text/cloud-config\n{header}\na: 1")

        assert len(unpack([text], launch_index=0)) == (index in (0, None))
        assert len(unpack([text])) == 1

    @pytest.mark.parametrize("index", [None, 0])
    def test_bytes_beside_letters_in_an_entry_are_an_error_as_in_cloud_init(self, index: int | None):
        """Its type has a blank before it, so that it is no text to the library."""
        entry = r'- {type: " text/cloud-config", content: "a: \uDCFF \xFC"}'
        with pytest.raises(CloudConfigError) as caught:
            merge([f"#cloud-config-archive\n{entry}"], launch_index=index)
        assert caught.value.kind == "encoding"

    def test_a_header_with_bytes_beside_letters_is_kept(self):
        """The library cannot write it."""
        merged = merge(["#cloud-config-archive\n" r'- {content: "#cloud-config\na: 1", X-Note: "\uDCFF \xFC"}'])
        assert merged.config == {"a": 1}

    def test_a_merge_header_that_cannot_be_written_is_not_packed(self):
        """The library can read it, as in the test above."""
        parts = unpack(["#cloud-config-archive\n" r'- {content: "#cloud-config\na: 1", X-Merge-Type: "\uDCFF \xFC"}'])
        with pytest.raises(BadArgument, match="merge header"):
            pack(parts)

    def test_a_part_is_the_same_with_a_launch_index(self, tmp_path: Path):
        """Its lines, and the language of its template, too."""
        file = tmp_path / "user-data.tftpl"
        file.write_text("#cloud-config\nhostname: ${name}\n")
        assert unpack([file], launch_index=0) == unpack([file])


class TestPartsThatDoNotJoin:
    @pytest.mark.parametrize(
        ("body", "status", "kind", "words"),
        [
            ("a: [", "rejected", "empty", "broken YAML"),
            ("", "rejected", "empty", "says nothing"),
            ("- x", "rejected", "empty", "a list"),
            ("just words", "rejected", "empty", "a text"),
            ("a: 1\n---\nb: 1", "rejected", "empty", "broken YAML"),
            ("a: !odd 1", "rejected", "empty", "broken YAML"),
            ("a: !!python/object:os.system {}", "rejected", "empty", "Python object"),
            ("a: 2024-99-99", "rejected", "empty", "month"),
            ("merge_how: append\na: 1", "rejected", "format", "'append'"),
            ("merge_how: set()\na: 1", "failed", "unknown-merger", "'set'"),
            ("merge_how: 5\na: 1", "failed", "definition", "a number"),
            ("merge_how: [{name: dict, settings: 5}]\na: 1", "failed", "definition", "int"),
            ("merge_how: dict(recurse_str)+str(append)\nold: {}", "failed", "type", "at old"),
            ("&a [*a]", "rejected", "empty", ""),
            ("a: &a [*a]", "failed", "too-deep", "inside what it names"),
            (f"a: {'[' * 600}{']' * 600}", "failed", "too-deep", "500"),
        ],
    )
    def test_the_rest_goes_on_and_the_report_says_why(self, body: str, status: str, kind: str, words: str):
        """The result is as before the part; the error names the part."""
        merged = merge([config("old: text"), config(body), config("new: 1")])

        report = merged.parts[1]
        assert merged.config == {"old": "text", "new": 1}
        if body.startswith("&a"):
            assert not report.ok
        else:
            assert (report.status, report.kind) == (status, kind)
        assert words in str(report.error)
        assert merged.ok is False

    def test_the_error_has_the_line_of_the_file(self, tmp_path: Path):
        """Also inside a message."""
        file = tmp_path / "user.mime"
        file.write_text(message("Content-Type: text/cloud-config\n\na: 1\nb: c: d"))
        error = merge([file]).parts[0].error

        assert isinstance(error, CloudConfigError)
        assert (error.line, error.file) == (8, f"{file.as_posix()} part-001")

    def test_a_conflict_has_the_line_and_says_who_was_there(self, tmp_path: Path):
        """The part that failed, and the one whose value stays."""
        file = tmp_path / "b.yaml"
        file.write_text(config("merge_how: dict(recurse_str)+str(append)\nb: 1\na:\n  t: {x: 1}\nc: 1"))
        error = merge([config("a: {t: text}"), file]).parts[1].error

        assert str(error) == (
            f"{file.as_posix()}:5: str(append) cannot add a mapping to a text at a.t\n"
            "  what was there is set by part-001\n"
            "  write the value as text"
        )

    @pytest.mark.parametrize("kind", ["odd", "odd()", "[{name: dict}]"])
    def test_a_bad_definition_has_the_line_of_its_key(self, kind: str):
        """Where it is to be mended."""
        error = merge([config(f"a: 1\nmerge_how: {kind}")]).parts[0].error

        assert isinstance(error, CloudConfigError)
        assert (error.file, error.line) == ("part-001", 3)

    def test_a_place_is_given_once(self):
        """What the error has already stays."""
        bare, lined = CloudConfigError(EMPTY, "x"), CloudConfigError(EMPTY, "x", line=3, column=4)

        assert [(one.file, one.line, one.column) for one in (bare.located("f", 1, 2), lined.located("f", 1, 2))] == [
            ("f", 1, 2),
            ("f", 3, 4),
        ]
        assert lined.located("f").line == 3
        assert bare.located("f").located("g", 7).file == "f"
        assert bare.located("f").located("g", 7).line is None

    def test_a_report_says_with_which_mergers(self):
        """As text and as data; nothing where the part asked for none."""
        parts = merge([config("a: 1"), config("b: 1\nmerge_how: list(append)"), config("- x")]).parts
        data = [part.to_dict() for part in parts]

        assert [one["mergers"] for one in data] == [
            [["dict", ["replace"]], ["list", []], ["str", []]],
            [["list", ["append"]]],
            None,
        ]
        assert [one["definition"] for one in data] == ["dict(replace)+list()+str()", "list(append)", None]
        assert [(one["source"], one["kind"], one["code"]) for one in data] == [
            ("default", None, None),
            ("body merge_how", None, None),
            (None, "empty", "NA1106"),
        ]

    def test_a_bomb_of_aliases_fails_its_part(self):
        """It is counted before it is written out."""
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
        merged = merge([config("ok: 1"), config("\n".join(lines))])

        assert (merged.config, merged.parts[1].kind) == ({"ok": 1}, "too-large")

    def test_what_is_shared_is_as_high_wherever_it_stands(self):
        """Five hundred levels are read, and one more is not."""

        def inside(value: Any, levels: int) -> Any:
            for _ in range(levels):
                value = [value]
            return value

        shared = inside(1, 100)
        assert parts.value_count({"a": shared, "b": inside(shared, 399)}) == 1 + 101 + 399 + 101
        with pytest.raises(TooDeep):
            parts.value_count({"a": shared, "b": inside(shared, 400)})
        with pytest.raises(TooDeep):
            parts.value_count(inside(1, 501))

    def test_a_text_past_the_limit_is_refused_before_it_is_read(self):
        """By its length alone."""
        for text, kind in (("a" * MAX_BYTES, "empty"), ("[" + "a" * MAX_BYTES, "too-large")):
            with pytest.raises(CloudConfigError) as caught:
                load_config(text)
            assert caught.value.kind == kind

    @pytest.mark.parametrize("text", ["a:\tb", "a: {b:[1]}", "a: [!, b]", "a: {b:}", "{a:,b}", "%FOO\n---\na: 1"])
    def test_where_the_two_parsers_of_yaml_differ_pythons_is_asked(self, text: str):
        """As cloud-init's own is."""
        try:
            wanted: Any = yaml.safe_load(text)
        except yaml.YAMLError:
            wanted = "refused"
        try:
            read: Any = load_config(text)
        except CloudConfigError:
            read = "refused"

        assert read == wanted

    def test_an_unreadable_header_fails_the_part(self):
        """Header fields beyond ASCII are no plain text."""
        merged = merge([CloudPart("a: 1", headers={"Merge-Type": object()})])

        assert merged.parts[0].kind == "definition"


class TestPatches:
    def patch(self, text: str) -> Any:
        return merge([config("a: 1\nl: [x]"), f"#cloud-config-jsonp\n{text}"])

    @pytest.mark.parametrize(
        ("patch", "status", "kind"),
        [
            ("[", "rejected", "patch-syntax"),
            ("5", "failed", "patch-invalid"),
            ('[{"op": "odd", "path": "/a"}]', "failed", "patch-invalid"),
            ('[{"op": "remove", "path": "/nope"}]', "failed", "patch-conflict"),
            (
                '[{"op": "add", "path": "/b", "value": 1}, {"op": "test", "path": "/a", "value": 2}]',
                "failed",
                "patch-conflict",
            ),
            (f'[{{"op": "add", "path": "/b", "value": {"[" * 600}{"]" * 600}}}]', "failed", "too-deep"),
            (f'[{{"op": "add", "path": "/b", "value": {"[" * 500}{"]" * 500}}}]', "failed", "too-deep"),
        ],
    )
    def test_all_or_nothing(self, patch: str, status: str, kind: str):
        """A patch that fails leaves the result as it was."""
        merged = self.patch(patch)

        assert merged.config == {"a": 1, "l": ["x"]}
        assert (merged.parts[1].status, merged.parts[1].kind) == (status, kind)

    def test_copies_of_copies_are_bounded(self):
        """Each operation may double the result."""
        doubled = '{"op": "copy", "from": "/l", "path": "/l/-"}'

        with limited(steps=100_000):
            assert self.patch(f"[{', '.join([doubled] * 40)}]").parts[1].kind == "too-large"

    def test_values_that_a_patch_leaves_alone_keep_their_origin(self):
        """Only what it set is set by the patch."""
        merged = self.patch(
            '[{"op": "add", "path": "/l/0", "value": "w"}, {"op": "add", "path": "/n", "value": {"k": 1}}]'
        )

        assert merged.config == {"a": 1, "l": ["w", "x"], "n": {"k": 1}}
        said = {path: [origin.who for origin in merged.origins(path)] for path in ("a", "l.0", "l.1", "n.k")}
        assert said == {"a": ["part"], "l.0": ["patch"], "l.1": ["part"], "n.k": ["patch"]}

    def test_the_whole_config_may_be_replaced(self):
        """By a list, or by null, after which cloud-init begins anew."""
        whole = '[{"op": "replace", "path": "", "value": %s}]'

        assert self.patch(whole % "[1]").config == [1]
        assert merge([config("a: 1"), f"#cloud-config-jsonp\n{whole % 'null'}", config("b: 1")]).config == {"b": 1}

    def test_without_the_library_the_error_names_the_extra(self, monkeypatch: pytest.MonkeyPatch):
        """It is an optional one."""
        import sys

        monkeypatch.setitem(sys.modules, "jsonpatch", None)
        with pytest.raises(MissingExtra, match="cloudinit"):
            self.patch("[]")


class TestWhatStopsEverything:
    @pytest.mark.parametrize(
        ("blob", "kind"),
        [
            (message("Content-Type: application/gzip\n\nnot gzip"), "decompress"),
            ("#cloud-config-archive\n- {type: odd, content: x}", "archive"),
            ("#cloud-config-archive\n- {content: 5}", "archive"),
            ("#cloud-config-archive\n- {content: x, 5: y}", "archive"),
            (b"MIME-Version: 1.0\n\n\xff", "encoding"),
        ],
    )
    def test_the_error_says_what(self, blob: str | bytes, kind: str):
        """As cloud-init stops, too."""
        with pytest.raises(CloudConfigError) as caught:
            merge([config("a: 1"), blob])

        assert caught.value.kind == kind

    def test_a_gzip_bomb_is_cut_off(self):
        """A few kilobytes that unpack to more than the limit; in one piece, in a part, or in many parts."""
        bomb = gzip.compress(b"#" * (MAX_BYTES + 1))
        half = gzip.compress(b"#" * (MAX_BYTES // 2 + 1))
        inside = (
            f"Content-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n{base64.b64encode(bomb).decode()}"
        )

        for blobs in ([bomb], [message(inside)], [half, half]):
            with pytest.raises(CloudConfigError) as caught:
                merge(blobs)
            assert caught.value.kind == "too-large"

    @pytest.mark.parametrize(
        ("first", "second", "fits"), [(100, 0, True), (101, 0, False), (60, 40, True), (60, 41, False)]
    )
    def test_unpacked_bytes_of_all_blobs_are_limited(self, first: int, second: int, fits: bool):
        """All blobs count together."""
        blobs = [gzip.compress(b"#" * size) for size in (first, second) if size]

        with limited(bytes=100), contextlib.nullcontext() if fits else pytest.raises(CloudConfigError, match="100"):
            merge(blobs)

    def test_bodies_that_begin_alike_are_looked_for_in_few_steps(self):
        """Their rarest line decides which rows are tried."""
        search = BodySearch("- content: |\n" + "    #!/bin/sh\n" * 200, Budget("archive", Limits(steps=2_000)))

        assert {(None, 0)} == {search.find_block(f"#!/bin/sh\n#!/bin/sh\necho {number}\n") for number in range(200)}
        assert (2, 4) == search.find_block("#!/bin/sh\n" * 200)

    def test_broken_gzip_is_kept_as_it_is(self):
        """What only begins like gzip is a part nobody knows."""
        whole = gzip.compress(config("a: 1").encode())

        for blob in (b"\x1f\x8bodd", whole[:-9], whole[:20]):
            merged = merge([blob])
            assert (merged.config, merged.parts[0].status) == (None, "ignored")

    @pytest.mark.parametrize("name", ["nope.yaml", "."])
    def test_a_file_that_cannot_be_read_is_an_error_with_its_name(self, name: str, tmp_path: Path):
        """Absent, or no file."""
        with pytest.raises(CloudConfigError, match=str(tmp_path)):
            merge([tmp_path / name])

    def test_a_file_past_the_limit_is_not_read(self, tmp_path: Path):
        """The limit is stated in the error."""
        file = tmp_path / "big.yaml"
        file.write_bytes(b"#" * (MAX_BYTES + 1))

        with pytest.raises(CloudConfigError, match="10 MB"):
            merge([file])

    heads = st.sampled_from(
        [
            b"",
            b"\x1f\x8b",
            b"MIME-Version: 1.0\n",
            b"#cloud-config\n",
            b"#cloud-config-archive\n",
            b"#cloud-config-jsonp\n",
            b"#include\n",
            b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n",
        ]
    )

    @given(st.builds(bytes.__add__, heads, st.binary(max_size=60)))
    def test_any_bytes_are_merged_or_refused_in_our_own_words(self, blob: bytes):
        """Nothing else ever comes out."""
        try:
            merged = merge([blob])
        except CloudConfigError:
            return
        assert merged.config is None or isinstance(merged.text, str)


class TestIncludes:
    def test_includes_without_a_folder_are_listed_and_not_fetched(self):
        """And nothing is fetched."""
        merged = merge(["#include\nhttps://example.org/a.yaml\n\n# remark\n", config("a: 1")])

        assert [(part.status, part.part.body) for part in merged.parts] == [
            ("include", "https://example.org/a.yaml"),
            ("merged", config("a: 1")),
        ]
        assert merged.config == {"a": 1}

    def test_with_a_folder_the_files_in_it_are_read(self, tmp_path: Path):
        """By host and path, as file URL, or as a path; includes in includes too."""
        (tmp_path / "example.org").mkdir()
        (tmp_path / "example.org/a.yaml").write_text(config("a: 1"))
        (tmp_path / "b.yaml").write_text("#include\nc.yaml")
        (tmp_path / "c.yaml").write_text(config("c: 1"))
        text = "#include https://example.org/a.yaml\nfile:///b.yaml"

        assert merge([text], include_root=tmp_path).config == {"a": 1, "c": 1}

    @pytest.mark.parametrize(
        "url", ["../secret.yaml", "file:///../secret.yaml", "link.yaml", "nope.yaml", "http://[", "\0"]
    )
    def test_nothing_outside_of_it_is_read(self, url: str, tmp_path: Path):
        """Neither by steps upward nor through a link."""
        (tmp_path / "secret.yaml").write_text(config("secret: 1"))
        root = tmp_path / "root"
        root.mkdir()
        (root / "link.yaml").symlink_to(tmp_path / "secret.yaml")
        merged = merge([f"#include\n{url}"], include_root=root)

        assert merged.config is None
        assert [part.status for part in merged.parts] == ["include"]

    def test_a_file_that_includes_itself_is_listed_the_second_time(self, tmp_path: Path):
        """No loop."""
        (tmp_path / "a.yaml").write_text("#include\na.yaml")

        assert [part.status for part in merge(["#include\na.yaml"], include_root=tmp_path).parts] == ["include"]


class TestTheMergedFile:
    @given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers()) | st.text(max_size=3), min_size=1))
    def test_the_merged_file_has_the_values_of_the_config(self, tree: dict[str, Any]):
        """Sorted, but the same."""
        merged = merge([CloudPart(yaml.safe_dump(tree))])

        assert yaml.safe_load(merged.text) == merged.config == tree

    def test_a_name_with_line_breaks_stays_on_its_line(self):
        """Names come from outside."""
        text = merge([CloudPart("a: 1", filename="x\ny: 1"), CloudPart("", filename="x\nz: 1")]).text

        assert yaml.safe_load(text) == {"a": 1}

    def test_the_config_is_the_callers_own(self):
        """Changing it changes nothing else."""
        merged = merge([config("one: &l [a]\ntwo: *l")])
        assert merged.config is not None
        merged.config["one"].append("b")

        assert merged.config["two"] == ["a"]
        assert "&id001\n- a\n" in merged.text


class TestReadingYaml:
    pieces = st.sampled_from(
        [
            *("a: 1\n", "b: [x, y]\n", "c: {d: e}\n", "- f\n", "  ", "'", '"', ":", "? ", "!", "&x ", "*x", "<<: *x\n"),
            *("#", "|\n  t\n", "\t", "%", "yes", "0644", "2024-01-02", "!!set {a, b}", "!!binary AAEC", "\ufeff"),
            *("~", ",", "]", "}", "k: &x {m: 1}\n", ">-\n"),
        ]
    )

    @given(st.lists(pieces, max_size=8).map("".join))
    def test_the_fast_way_reads_what_cloud_init_reads(self, text: str):
        """The C parser and our builder against PyYAML's own loader."""
        try:
            expected = ("says", canonical(yaml.load(text, Loader=yaml.SafeLoader)))
        except (yaml.YAMLError, ValueError, RecursionError):
            expected = ("refused", "")
        try:
            got = ("says", canonical(parts.load_yaml(text)))
        except CloudConfigError:
            got = ("refused", "")

        assert got == expected

    def test_an_empty_name_is_a_question_mark_in_the_merged_file(self):
        """A part without one is called by its number."""
        assert "\n# ?\n# part-002\n" in merge([CloudPart("a: 1", filename=""), CloudPart("b: 1")]).text

    def test_an_include_in_an_archive_is_ignored(self):
        """Nobody follows it, with a folder or without."""
        merged = merge(["#cloud-config-archive\n- {content: 'http://a/b', type: text/x-include-url}"])
        assert [part.status for part in merged.parts] == ["ignored"]

    def test_half_of_a_surrogate_pair_is_no_text(self):
        """As cloud-init, which cannot encode it."""
        with pytest.raises(CloudConfigError) as caught:
            merge(["#cloud-config\na: \ud800"])
        assert caught.value.kind == "encoding"

    def test_the_tag_of_python_2_is_read_as_text_until_24_1(self):
        old, new = (merge(["#cloud-config\na: !!python/unicode x"], cloud_init=release) for release in ("24.1", "26.2"))
        assert (old.config, new.config, new.parts[0].status) == ({"a": "x"}, {}, "rejected")
