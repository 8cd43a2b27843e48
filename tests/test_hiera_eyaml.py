"""eyaml: what is encrypted is a secret that says so, or is decrypted with keys that somebody names."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.hiera.eyaml import decrypted, keep_encrypted
from nodeattrs.hiera import BadData, Encrypted, Hiera, Pkcs7, encrypted_in
from tests import hiera_trees
from tests.hiera_trees import Site, written

site = hiera_trees.site

CONFIG = """\
version: 5
hierarchy:
- name: secret
  lookup_key: eyaml_lookup_key
  path: s.eyaml
  options: {pkcs7_private_key: keys/private.pem, pkcs7_public_key: keys/public.pem}
- {name: common, path: common.yaml}
"""
PLACEHOLDERS = {
    "hiera.yaml": CONFIG,
    "data/s.eyaml": "k: ENC[PKCS7,abcd]\nh:\n  l:\n    - ENC[GPG,d]\n    - plain ENC[x]\n  n: 1\n"
    "u: [a]\nc: ENC[PKCS7,1]\nlookup_options: {h: {merge: deep}, c: {convert_to: Integer}, u: {merge: unique}}\n",
    "data/common.yaml": "h: {l: [b], m: 2}\nu: [b]\nin: '<%{lookup(''k'')}>'\nas: \"%{alias('h.l')}\"\n"
    "plain: ENC[a]\nk: 0\n",
}


def lower(text: str) -> str:
    """What decrypts the placeholders."""
    return text[4:-1].lower()


class TestWithoutKeys:
    def test_a_value_is_a_secret_that_says_it_is_encrypted(self, site: Site):
        """
        At any depth, and in files of eyaml_lookup_key only.
        """
        scope = site(PLACEHOLDERS)

        assert "Sensitive(encrypted)" == str(scope.lookup("k"))
        assert "ENC[PKCS7,abcd]" == scope.lookup("k").unwrap()
        assert "{'l': ['b', Sensitive(encrypted), Sensitive(encrypted)], 'm': 2, 'n': 1}" == str(scope.lookup("h"))
        assert "ENC[a]" == scope.lookup("plain")

    def test_an_encrypted_value_stays_encrypted_through_merges_and_conversions(self, site: Site):
        """
        What it would be only its key can say; a type may still ask for a text.
        """
        scope = site(PLACEHOLDERS)

        assert ["Sensitive(encrypted)", "0"] == list(map(str, scope.lookup("k", merge="unique")))
        assert isinstance(scope.lookup("c"), Encrypted)
        assert scope.lookup("k", value_type="String[1]")
        assert [((1,), "decryption was not asked for"), ((2,), "decryption was not asked for")] == [
            (path, reason) for path, reason in encrypted_in(scope.lookup("as"))
        ]

    @pytest.mark.parametrize(
        ("text", "given"),
        [
            ("%{lookup('k')}", "ENC[x]"),
            ("<%{lookup('k')}>", "<ENC[x]>"),
            ("%{lookup('in')}!", "<ENC[x]>!"),
            ("%{lookup('list')}", '["a", Sensitive(encrypted)]'),
            ("%{lookup('c')}%{lookup('k')}", "clearENC[x]"),
        ],
    )
    def test_a_text_that_needs_it_is_encrypted_too_and_says_so(self, site: Site, text: str, given: str):
        """
        Alone, in the middle, through another text, inside a list.
        """
        data = "k: ENC[x]\nin: \"<%{lookup('k')}>\"\nlist: [a, 'ENC[x]']\nc: clear\n"
        scope = site({**PLACEHOLDERS, "data/s.eyaml": data, "data/common.yaml": f't: "{text}"\n'})
        value = scope.lookup("t")

        assert isinstance(value, Encrypted)
        assert given == value.unwrap()
        assert [((), "decryption was not asked for")] == [(path, why) for path, why, _ in scope.explain("t").encrypted]

    def test_the_entry_of_a_key_that_needs_it_is_encrypted(self, site: Site):
        """
        The key itself shows the mark.
        """
        files = {**PLACEHOLDERS, "data/s.eyaml": "k: ENC[x]\n", "data/common.yaml": "t: {\"%{lookup('k')}\": 1}\n"}
        (entry,) = site(files).lookup("t").values()

        assert isinstance(entry, Encrypted)

    def test_an_explanation_has_its_place_and_the_reason(self, site: Site):
        """
        As data, too.
        """
        explanation = site(PLACEHOLDERS).explain("k")

        assert [((), "decryption was not asked for", "data/s.eyaml:1")] == [
            (path, reason, str(where[0].place)) for path, reason, where in explanation.encrypted
        ]
        assert "Sensitive(encrypted)" == json.loads(json.dumps(explanation.to_dict()))["value"]
        assert "abcd" not in f"{explanation}{explanation.to_dict()}{explanation.trace().to_dict()}"
        assert [("l", 1), ("l", 2)] == [path for path, _, _ in site(PLACEHOLDERS).explain("h").encrypted]

    def test_convert_to_sensitive_keeps_an_encrypted_value_encrypted(self, site: Site):
        """
        A secret of the tree's own kind is made of what is clear only.
        """
        files = {**PLACEHOLDERS, "data/s.eyaml": "k: ENC[x]\nlookup_options: {k: {convert_to: Sensitive}}\n"}

        assert isinstance(site(files).lookup("k"), Encrypted)
        assert Sensitive("x") == site(files, decrypt=lambda text: "x").lookup("k")

    def test_a_text_that_begins_many_encrypted_texts_is_searched_to_its_end(self):
        many = "ENC[" * 200_000

        assert many == decrypted(many, keep_encrypted)
        assert isinstance(decrypted(f"{many}\nENC[PKCS7,abcd]", keep_encrypted), Encrypted)


class TestWhatDecrypts:
    def test_a_decrypt_function_gets_each_encrypted_part_of_a_text(self, site: Site):
        """
        With its scheme, PKCS7 where none is written; expressions are read after that.
        """
        files = {**PLACEHOLDERS, "data/s.eyaml": "t: 'a ENC[ab] ENC[GPG,C D]'\nx: ENC[X]\nodd: 'ENC[?] b'\nn: ENC[\n"}
        scope = site(files, decrypt=lambda text: "%{trusted.certname}\n" if text == "ENC[PKCS7,X]" else lower(text))

        assert ["a pkcs7,ab gpg,cd", "web1", "ENC[?] b", "ENC["] == [
            scope.lookup(key) for key in ("t", "x", "odd", "n")
        ]


@pytest.fixture
def keys(tmp_path: Path) -> Pkcs7:
    """A pair of keys as `eyaml createkeys` writes it, in the folder keys."""
    pytest.importorskip("cryptography")
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    name, now = x509.Name([]), datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.TraditionalOpenSSL
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.pem").write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
    (tmp_path / "keys/private.pem").write_bytes(key.private_bytes(pem, plain, serialization.NoEncryption()))
    return Pkcs7(tmp_path / "keys/private.pem", tmp_path / "keys/public.pem")


def encrypted(keys: Pkcs7, text: str) -> str:
    """A text as `eyaml encrypt` writes it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.ciphers import algorithms
    from cryptography.hazmat.primitives.serialization import pkcs7

    certificate = x509.load_pem_x509_certificate(keys.public_key.read_bytes())
    builder = pkcs7.PKCS7EnvelopeBuilder().set_data(text.encode()).add_recipient(certificate)
    builder = builder.set_content_encryption_algorithm(algorithms.AES256)
    der = builder.encrypt(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary])
    return f"ENC[PKCS7,{base64.b64encode(der).decode()}]"


@pytest.fixture
def tree(tmp_path: Path, keys: Pkcs7) -> Path:
    """A tree with two passwords, beside its keys."""
    secret = f"db: {encrypted(keys, 's3cret-ü')}\nurl: 'pg://a:{encrypted(keys, 's3cret')}@b'\n"
    secret += f"num: {encrypted(keys, '7x')}\n"
    options = "lookup_options: {num: {convert_to: Integer}}\n"
    return written(tmp_path, {"hiera.yaml": CONFIG, "data/s.eyaml": secret + options, "data/common.yaml": "k: 1\n"})


class TestKeys:
    def test_those_that_hiera_yaml_names_or_those_that_somebody_names(self, tree: Path, keys: Pkcs7, monkeypatch):
        """
        The same text; a relative path is beside hiera.yaml where it is not in the working directory.
        """
        monkeypatch.chdir(tree.parent)
        for decrypt in (True, keys):
            scope = Hiera(tree, root=tree, decrypt=decrypt).scope()
            assert ("s3cret-ü", "pg://a:s3cret@b") == (scope.lookup("db"), scope.lookup("url"))
        assert isinstance(Hiera(tree).scope().lookup("db"), Encrypted)

    def test_a_key_that_is_not_here_leaves_it_encrypted(self, tree: Path):
        """
        And the reason names the file.
        """
        (tree / "keys/private.pem").unlink()
        value = Hiera(tree, decrypt=True).scope().lookup("db")

        assert value.reason.endswith("private.pem cannot be read: No such file or directory")

    def test_another_key_is_an_error_that_shows_nothing(self, tree: Path, keys: Pkcs7):
        """
        With the place of the value.
        """
        text = (tree / "data/s.eyaml").read_text()
        (tree / "data/s.eyaml").write_text(text.replace("MII", "MIJ", 1) + "bad: ENC[PKCS7,AAAA]\n")
        with pytest.raises(
            BadData, match=r"s\.eyaml:\d+:1: '\w+' cannot be decrypted: .*private.pem does not"
        ) as caught:
            Hiera(tree, decrypt=True).scope().lookup("bad")
        assert ("cannot_decrypt", None, None) == (
            caught.value.kind, caught.value.__cause__, caught.value.__context__ and caught.value.__context__.__context__
        )  # fmt: skip
        keys.private_key.write_text("no key")
        with pytest.raises(BadData, match="are no keys in PEM"):
            Hiera(tree, decrypt=True).scope().lookup("db")

    def test_other_schemes_are_named(self, tree: Path):
        """
        They stay as they are.
        """
        (tree / "data/s.eyaml").write_text("g: ENC[GPG,aGVsbG8=]\n")

        assert "GPG is not decrypted here" == Hiera(tree, decrypt=True).scope().lookup("g").reason


class TestOnTheCommandLine:
    @pytest.fixture
    def said(self, tree: Path, monkeypatch, capsys):
        """Runs `nodeattrs hiera` there: exit code, what was printed, what was complained of."""
        monkeypatch.chdir(tree)

        def run(*words: str) -> tuple[int, str, str]:
            code = main(["hiera", *words])
            out, err = capsys.readouterr()
            return code, out, " ".join(err.split())

        return run

    def test_without_keys_it_says_what_is_encrypted_and_where(self, said):
        """
        With the exit code of what cannot be read.
        """
        code, out, err = said("lookup", "db")

        assert (5, "Sensitive(encrypted)\n") == (code, out)
        assert (
            "data/s.eyaml:1 (value db) is encrypted, and may be anything: decryption was not asked for [NA0205]" in err
        )
        code, out, err = said("list", "--render-as", "json")
        assert (5, "Sensitive(encrypted)") == (code, json.loads(out)["url"])
        assert "ENC[" not in out + err
        assert "data/s.eyaml:2" in said("explain", "url")[1]

    def test_hiera_lookup_with_keys_prints_the_decrypted_value(self, said):
        """
        Those of hiera.yaml, or a pair that is named.
        """
        pair = ["--eyaml-private-key", "keys/private.pem", "--eyaml-public-key", "keys/public.pem"]

        assert (0, "s3cret-ü\n", "") == said("lookup", "db", "--decrypt") == said("lookup", "db", *pair)
        assert 2 == said("lookup", "db", *pair[:2])[0]
        assert "pg://a:s3cret@b" in said("list", *pair)[1]

    def test_an_error_shows_nothing_of_it(self, said):
        """
        It is the error that comes without keys, or one that says no more.
        """
        for words in (["lookup", "num"], ["list"]):
            _, out, err = said(*words, "--decrypt")
            assert "the lookup failed over what was decrypted" in out + err
            assert "7x" not in out + err
        assert "nope is not set" in said("lookup", "nope", "--decrypt")[2]
