"""Layers of every notation: what each file says, where each value stands, and what of it is encrypted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Layer, fold, read_layer
from nodeattrs.core.sensitive import Encrypted
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.files.text import text_of
from nodeattrs.errors import DocumentError, UnknownLayer
from nodeattrs.formats import go_scalars
from nodeattrs.formats.layers import LayerReader
from nodeattrs.formats.tags import Tagged
from tests.effort import examples

Written = Callable[[str, str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def lines_of(layer: Layer, *paths: tuple[Any, ...]) -> list[int | None]:
    return [layer.origin.at(path).line for path in paths]


def read_all(text: str, name: str = "a.yaml", **how: Any) -> list[Layer]:
    return LayerReader(**how).layers(text.encode(), name, "a")


class TestEnv:
    def test_keys_quotes_and_comments(self, written: Written):
        """
        As python-dotenv reads it, and nothing is filled in.
        """
        text = "# all\nA=1\nexport B='two # words'  # why\nC=\"a\\nb\"\nD=x # y\nE\nF=\nG=$HOME\n"
        layer = read_layer(written(".env.local", text))

        assert layer.value == {
            "A": "1", "B": "two # words", "C": "a\nb", "D": "x", "E": None, "F": "", "G": "$HOME",
        }  # fmt: skip
        assert [2, 3, 4, 8] == lines_of(layer, ("A",), ("B",), ("C",), ("G",))

    def test_a_value_may_go_on_over_lines_in_quotes(self, written: Written):
        layer = read_layer(written("a.env", 'KEY="one\ntwo"\nB=1\n'))

        assert {"KEY": "one\ntwo", "B": "1"} == layer.value
        assert [1, 3] == lines_of(layer, ("KEY",), ("B",))

    def test_a_key_twice_is_a_warning_and_the_last_one_counts(self, written: Written):
        with pytest.warns(UserWarning, match=r"a\.env:2:1: duplicate key A \(first at 1:1\)"):
            assert {"A": "2"} == read_layer(written("a.env", "A=1\nA=2\n")).value

    @pytest.mark.parametrize(
        ("text", "place"), [("A='1\n", ":1:3"), ("=1\n", ":1:1"), ("A=1\nB='x' y\n", ":2:6"), ("A B\n", ":1:3")]
    )
    def test_what_is_no_entry_is_refused_at_its_place(self, text: str, place: str):
        with pytest.raises(DocumentError) as refused:
            read_all(text, "a.env")

        assert str(refused.value).startswith(f"a.env{place}: ")


class TestIni:
    def test_sections_are_maps_of_texts(self):
        """
        As Python's configparser reads it, but for keys before the first section, which stand beside them.
        """
        (layer,) = read_all("top = 1\n; note\n[web]\nPort = 80\nlong = a\n  b\nbare\n[db]\nhost: x = y\n", "a.ini")

        assert {"top": "1", "web": {"Port": "80", "long": "a\nb", "bare": None}, "db": {"host": "x = y"}} == layer.value
        assert [1, 3, 4, 9] == lines_of(layer, ("top",), ("web",), ("web", "Port"), ("db", "host"))

    def test_a_section_that_comes_again_goes_on(self):
        (layer,) = read_all("[a]\nx = 1\n[b]\ny = 1\n[a]\nz = 2\n", "a.ini")

        assert {"a": {"x": "1", "z": "2"}, "b": {"y": "1"}} == layer.value

    def test_a_section_that_is_a_key_too_is_refused(self):
        with pytest.raises(DocumentError, match=r"a\.ini:2:1: a is a section and a key"):
            read_all("a = 1\n[a]\n", "a.ini")


class TestProperties:
    def test_separators_escapes_and_lines_that_go_on(self):
        text = "# c\n! c\na.b=1\nc : 2\nd 3\ne\\=f=\\u00e9\\t\ng = a, \\\n    b\nh\n"
        (layer,) = read_all(text, "a.properties")

        assert {"a.b": "1", "c": "2", "d": "3", "e=f": "é\t", "g": "a, b", "h": ""} == layer.value
        assert [3, 7, 9] == lines_of(layer, ("a.b",), ("g",), ("h",))

    def test_half_an_escape_is_refused(self):
        with pytest.raises(DocumentError, match=r"a\.properties:1:1: a \\u escape"):
            read_all("a=\\u12\n", "a.properties")

    @pytest.mark.parametrize("text", ["a=\\ud83d\n", "\\ud83d=\\ude00\n"])
    def test_half_a_pair_is_refused(self, text: str):
        with pytest.raises(DocumentError, match="half of a surrogate pair"):
            read_all(text, "a.properties")

    def test_both_halves_of_a_pair_are_one_letter(self):
        assert {"a": "\U0001f600"} == read_all("a=\\ud83d\\ude00\n", "a.properties")[0].value


class TestWhichSyntax:
    def test_a_file_without_an_ending_is_yaml(self, written: Written):
        assert {"port": 80} == read_layer(written("group_vars/all", "port: 80\n")).value

    def test_syntax_says_it_for_any_name(self, written: Written):
        assert {"port": "80"} == read_layer(written("a.yaml", "port = 80\n"), syntax="ini").value

    def test_an_error_in_a_text_that_was_judged_by_its_content_says_so(self):
        with pytest.raises(DocumentError, match="the content was judged: --syntax says it"):
            read_all("a: [", "site.conf")


class TestDocuments:
    TEXT = "a: &x {k: 1}\n---\nb: 2\n---\n"

    def test_each_is_a_layer_with_its_lines(self):
        layers = read_all(self.TEXT)

        assert [{"a": {"k": 1}}, {"b": 2}, {}] == [one.value for one in layers]
        assert [3] == lines_of(layers[1], ("b",))

    def test_one_may_be_chosen(self, written: Written):
        assert {"b": 2} == read_layer(written("a.yaml", self.TEXT), document=2).value

    def test_read_layer_wants_to_know_which(self, written: Written):
        with pytest.raises(DocumentError, match="it holds 3 documents") as refused:
            read_layer(written("a.yaml", self.TEXT))

        assert "NA0330" == refused.value.code

    def test_one_that_is_not_there_is_refused(self):
        with pytest.raises(DocumentError, match=r"there is no document 4: it holds 3") as refused:
            read_all(self.TEXT, document=4)

        assert "NA0331" == refused.value.code

    def test_an_anchor_names_nothing_in_the_next_one(self):
        with pytest.raises(DocumentError, match="alias"):
            read_all("a: &x 1\n---\nb: *x\n")


class TestTags:
    TEXT = "a: !Ref Vpc\nb: !override [1, {c: 2}]\nd: !Sub\n  e: 1\n"

    def test_a_tag_is_kept_with_its_value_and_line(self):
        (layer,) = read_all(self.TEXT)

        assert {
            "a": Tagged("!Ref", "Vpc"), "b": Tagged("!override", [1, {"c": 2}]), "d": Tagged("!Sub", {"e": 1}),
        } == layer.value  # fmt: skip
        assert [1, 2, 3] == lines_of(layer, ("a",), ("b",), ("d",))

    def test_tagged_yaml_is_written_and_read_again(self):
        value = fold(read_all(self.TEXT)).value

        assert value == read_all(text_of(value, "yaml"))[0].value

    def test_tags_makes_something_else_of_it(self):
        (layer,) = read_all(self.TEXT, tags={"!Ref": str.upper, "!override": len})

        assert ("VPC", 2) == (layer.value["a"], layer.value["b"])

    def test_what_cannot_be_made_is_refused_at_its_place(self):
        with pytest.raises(DocumentError, match=r"a\.yaml:1:4: !Ref cannot be read: invalid literal") as refused:
            read_all(self.TEXT, tags={"!Ref": int})

        assert "NA0332" == refused.value.code

    def test_an_alias_of_it_is_a_copy(self):
        (layer,) = read_all("a: &x {k: !Ref [1]}\nb: *x\n")

        assert layer.value["a"] == layer.value["b"]
        assert layer.value["a"] is not layer.value["b"]

    @pytest.mark.parametrize("tag", ["!!python/object:os.system", "!!set", "!!binary"])
    def test_what_yaml_itself_has_for_other_things_is_refused(self, tag: str):
        with pytest.raises(DocumentError):
            read_all(f"a: {tag} x\n")

    def test_nothing_meets_it(self):
        """
        It replaces a map, and a map replaces it.
        """
        assert Tagged("!Ref", "x") == fold([{"a": {"b": 1}}, *read_all("a: !Ref x\n")])["a"]
        assert {"b": 1} == fold([*read_all("a: !Ref x\n"), {"a": {"b": 1}}])["a"]


SOPS = """\
db:
  user: shop
  password: ENC[AES256_GCM,data:Tr7o=,iv:1=,tag:2=,type:str]
sops:
  mac: ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ==,type:str]
  version: 3.9.0
"""


class TestWhatIsEncrypted:
    def test_a_value_of_sops_is_a_secret_and_its_notes_are_none(self):
        (layer,) = read_all(SOPS)

        assert ["db"] == list(layer.value)
        assert type(layer.value["db"]["password"]) is Encrypted
        assert "AES256" not in str(fold([layer]).trace("db.password"))
        assert "AES256" not in text_of(layer.value, "yaml")

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            (
                "a.env",
                "A=ENC[AES256_GCM,data:x]\nsops_mac=ENC[AES256_GCM,data:m]\nsops_version=3\n",
            ),
            ("a.ini", "[s]\nA = ENC[AES256_GCM,data:x]\n[sops]\nmac = ENC[AES256_GCM,data:m]\nversion = 3\n"),
            ("a.json", '{"A": "ENC[AES256_GCM,data:x]", "sops": {"mac": "ENC[AES256_GCM,data:m]"}}'),
        ],
    )
    def test_encrypted_files_are_recognised_in_every_notation(self, name: str, text: str):
        (layer,) = read_all(text, name)

        found = layer.value.get("s", layer.value)
        assert [Encrypted] == [type(one) for one in found.values()]
        assert "sops" not in str(layer.value)

    @pytest.mark.parametrize(
        "text",
        [
            "a: ENC[PKCS7,MIIBeQ==]\n",
            "a: >\n  ENC[PKCS7,MII\n  BeQ==]\n",
            "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3139\n",
            "a: |\n  $ANSIBLE_VAULT;1.1;AES256\n  3139\n",
        ],
    )
    def test_eyaml_and_ansible_are_secrets_too(self, text: str):
        (layer,) = read_all(text)

        assert type(layer.value["a"]) is Encrypted

    def test_a_file_that_is_encrypted_whole_is_an_unknown_layer(self):
        (layer,) = read_all("$ANSIBLE_VAULT;1.1;AES256\n3139\n", "vault.yml")

        assert type(layer.value) is Unknown
        assert "vault.yml:1" in fold([{"a": 1}, layer]).explain("a")
        with pytest.raises(UnknownLayer):
            fold([{"a": 1}, layer], strict=True)

    @pytest.mark.parametrize("text", ["a: ENC\n", "a: sops\nb: encrypted\n", "sops: {port: 80}\n", "a: 'ENC[x]'\n"])
    def test_values_that_only_look_encrypted_stay_values(self, text: str):
        (layer,) = read_all(text)

        assert layer.value == fold([layer]).value
        assert "sops" not in text or "sops" in str(layer.value)


# --- laws

KEYS = st.sampled_from(["a", "b", "c d", "e.f", "'g", "h:i", "#j", "k=l"])
LETTERS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=6)
TEXTS = LETTERS | st.sampled_from(["a\nb", " x ", "'", '"'])
SCALARS = TEXTS | st.integers(-9, 9) | st.booleans()
TAGS = st.builds(Tagged, st.sampled_from(["!x", "!y"]), st.sampled_from("ab"))


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    )
    return st.dictionaries(KEYS, values, max_size=4)


class TestLaws:
    @settings(deadline=None, max_examples=examples(60))
    @given(trees(SCALARS | TAGS))
    def test_what_is_written_as_yaml_reads_back(self, tree: dict[str, Any]):
        """
        Tags included.
        """
        assert tree == read_all(text_of(tree, "yaml"))[0].value

    @settings(deadline=None, max_examples=examples(60))
    @given(trees(SCALARS))
    def test_what_is_written_as_toml_reads_back(self, tree: dict[str, Any]):
        assert tree == read_all(text_of(tree, "toml"), "a.toml")[0].value

    @settings(deadline=None, max_examples=examples(60))
    @given(st.dictionaries(st.from_regex("[A-Z][A-Z_]{0,3}", fullmatch=True), TEXTS, max_size=4))
    def test_what_is_written_as_env_reads_back(self, tree: dict[str, str]):
        assert tree == read_all(text_of(tree, "env"), ".env")[0].value

    @settings(deadline=None, max_examples=examples(40))
    @given(st.lists(trees(SCALARS | TAGS), min_size=1, max_size=4))
    def test_each_leaf_names_who_a_trace_names(self, layers: list[dict[str, Any]]):
        """
        The whole tree at once, and path by path.
        """
        folded = fold(layers)

        for path, value, origins in folded.leaves():
            assert set(origins) == set(folded.origins(path)), (path, value)


class TestScalarsOfGo:
    """Helm, Docker Compose and netplan read scalars in another way than PyYAML. The programs gave the answers."""

    SCALARS = "{a: 2222:22, b: 1e3, c: 0o17, d: 017, e: 0888, f: 1_000, g: off, h: 'off', i: '1e3', j: 1.5, 1e3: k}"
    NUMBERS: ClassVar[dict[str, Any]] = {"a": "2222:22", "b": 1000, "c": 15, "d": 15, "e": 888, "f": 1000}
    OTHERS: ClassVar[dict[str, Any]] = {"h": "off", "i": "1e3", "j": 1.5, "1e3": "k"}

    def test_helm_reads_scalars_as_its_yaml_library_does(self, in_folder: Callable[..., tuple[int, str, str]]):
        chart = {"c/Chart.yaml": "name: c", "c/values.yaml": self.SCALARS, "v.yaml": f"below: {self.SCALARS}"}
        _, out, _ = in_folder(chart, "fold", "c", "v.yaml", "--policy", "helm", "--format", "json")
        expected = self.NUMBERS | {"g": False} | self.OTHERS
        expected["1000"] = expected.pop("1e3")
        assert json.loads(out) == expected | {"below": expected}

    @pytest.mark.parametrize(
        ("written", "key"),
        [
            *[(word, "true") for word in ("y", "Y", "yes", "on", "True")],
            *[(word, "false") for word in ("n", "N", "no", "off", "FALSE")],
            *[("0.5", "0.5"), ("80", "80"), ("0x10", "16"), ("1.0", "1"), ("-0.0", "-0"), ("2020-01-01", "2020-01-01")],
            *[("1000000.0", "1e+06"), ("123456789.5", "1.2345679e+08"), ("0.00001", "1e-05"), ("0.0001", "0.0001")],
            *[("1.5e+300", ".inf"), ("-1.5e300", "-.inf"), ("0.1234567890123", "0.12345679")],
            *[("25988484823490837718", "2.5988486e+19"), ("'y'", "y"), ('"0.5"', "0.5")],
        ],
    )
    def test_a_key_that_is_a_number_a_boolean_or_a_date_is_the_text_that_helm_makes_of_it(self, written: str, key: str):
        (layer,) = LayerReader("yaml", go_scalars.HELM).layers(f"x: {{{written}: 1}}".encode(), "a", "a")
        assert json.dumps(layer.value) == json.dumps({"x": {key: 1}})

    def test_the_last_of_two_keys_that_are_one_for_helm_counts_with_a_warning(
        self, in_folder: Callable[..., tuple[int, str, str]]
    ):
        chart = {"c/Chart.yaml": "name: c", "c/values.yaml": "on: 1\ny: 2\n"}
        _, out, err = in_folder(chart, "fold", "c/values.yaml", "--policy", "helm", "--format", "json")
        assert (json.loads(out), "c/values.yaml:2:1: duplicate key true" in err) == ({"true": 2}, True)

    @pytest.mark.parametrize("word", ["y", "Y", "n", "N"])
    def test_a_plain_y_or_n_is_a_boolean_for_helm_and_a_text_for_docker_compose_and_netplan(self, word: str):
        read = {
            name: LayerReader("yaml", tags).layers(f"k: {word}".encode(), "a", "a")[0].value["k"]
            for name, tags in (("helm", go_scalars.HELM), ("compose", go_scalars.COMPOSE), ("netplan", go_scalars.GO))
        }
        assert read == {"helm": word in "yY", "compose": word, "netplan": word}

    def test_a_null_is_no_key_for_helm(self):
        with pytest.raises(DocumentError, match="the key ~ is a null, not text"):
            LayerReader("yaml", go_scalars.HELM).layers(b"~: 1", "a", "a")

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            *[(text, text) for text in ("0o", "0x_", "+0b_", "_1", ".1_", "._7", "1e400", "1:30", "0x", "1e")],
            *[("0_", 0), ("0o_7", 7), ("-0o7", -7), ("0XfF", 255), ("0b1", 1), ("+_1", 1), (".1_1", 0.11), ("5.", 5)],
        ],
    )
    def test_numbers_at_the_edge_are_those_of_helm(self, written: str, value: object):
        (layer,) = LayerReader("yaml", go_scalars.HELM).layers(f"k: {written}".encode(), "a", "a")
        assert layer.value == {"k": value}
        assert isinstance(layer.value["k"], str) is isinstance(value, str)

    def test_values_in_a_manifest_and_in_a_text_of_it(self, in_folder: Callable[..., tuple[int, str, str]]):
        spec = {"source": {"repoURL": "x", "chart": "c", "helm": {"values": "a: 22:22\nb: 22:22"}}}
        text = f"kind: Application\nmetadata: {{name: m}}\nspec: {json.dumps(spec)}\n"
        for file in ({"m.yaml": text}, {"m.yaml": text.replace('"a: 22:22\\nb: 22:22"', "{a: 22:22, b: 1}")}):
            _, out, _ = in_folder(file, "why", "a", "--format", "json")
            assert json.loads(out)["answers"][0]["value"] == "22:22"

    def test_docker_compose_reads_scalars_as_its_yaml_library_does(
        self, in_folder: Callable[..., tuple[int, str, str]]
    ):
        part = f"services: {{b: {{image: x, environment: {self.SCALARS}}}}}"
        files = {"compose.yaml": f"include: [part.yaml]\n{part.replace('b:', 'a:', 1)}", "part.yaml": part}
        _, out, _ = in_folder(files, "fold", "compose.yaml", "--policy", "compose", "--format", "json")
        expected = self.NUMBERS | {"g": "off"} | self.OTHERS
        assert {name: one["environment"] for name, one in json.loads(out)["services"].items()} == {
            "a": expected,
            "b": expected,
        }

    def test_netplan_takes_an_address_of_digits_for_a_text(self, in_folder: Callable[..., tuple[int, str, str]]):
        file = {"n/a.yaml": "network: {ethernets: {e: {macaddress: 52:54:00:12:34:56, dhcp4: yes}}}"}
        _, out, _ = in_folder(file, "fold", "n", "--policy", "netplan", "--format", "json")
        assert json.loads(out)["network"]["ethernets"]["e"] == {"macaddress": "52:54:00:12:34:56", "dhcp4": True}

    def test_other_files_are_read_as_by_pyyaml(self, in_folder: Callable[..., tuple[int, str, str]]):
        _, out, _ = in_folder({"a.yaml": self.SCALARS}, "fold", "a.yaml", "--format", "json")
        assert json.loads(out) == {
            **{"a": 133342, "b": "1e3", "c": "0o17", "d": 15, "e": "0888", "f": 1000, "g": False},
            **self.OTHERS,
        }

    @pytest.mark.parametrize("text", ["1e3", "+.5e3", "0o17", "0888", "22:22", "off", "1_0", "y", "N"])
    def test_a_text_is_written_so_that_each_of_them_reads_it_as_one(self, text: str):
        for tags in ({}, go_scalars.HELM, go_scalars.COMPOSE):
            (layer,) = LayerReader("yaml", tags).layers(text_of({text: text}, "yaml").encode(), "a", "a")
            assert layer.value == {text: text}
        assert text_of({text: text}, "yaml") == f"'{text}': '{text}'\n"
