"""A repository is known by its content, and can be sent: nothing of what was sent leads out of its folder."""

import hashlib
import io
import lzma
import os
import stat
import tarfile
import tempfile
from pathlib import Path

import pytest

from nodeattrs import border
from nodeattrs.errors import FleetError
from nodeattrs.workers import shipping
from nodeattrs.workers.shipping import (
    FACTS,
    REPOSITORY,
    PackedRepository,
    UnpackedFolder,
    digest_of,
    pack_repository,
    unpack_once,
    unpacked_folder,
)
from tests.on_disk import repository

FILES = {"roles/web.json": {"name": "web"}, "cookbooks/app/recipes/default.py": "pass\n", "empty.txt": ""}


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch):
    monkeypatch.setattr(shipping, "HELD", {})


def tree_of(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(Path(root).rglob("*")) if path.is_file()}


class TestContent:
    def test_the_same_files_are_the_same_repository_wherever_they_lie(self, tmp_path):
        """
        Version control, caches and the store of a checkout are none of it.
        """
        repository(tmp_path / "a", FILES)
        repository(tmp_path / "b", {**FILES, ".git/HEAD": "x", "cookbooks/__pycache__/a.pyc": "x", ".nodeattrs/n": "x"})

        assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")

    @pytest.mark.parametrize(
        "other",
        [
            {"roles/web.json": {"name": "wbe"}},
            {"roles/db.json": {"name": "db"}},
            {"roles/web.json": None, "roles/wee.json": {"name": "web"}},
            {"empty.txt": None},
            {"empty.txt": None, "empty.tx": "", "t": ""},
        ],
    )
    def test_any_other_byte_or_path_is_another_one(self, tmp_path, other):
        files = {name: content for name, content in {**FILES, **other}.items() if content is not None}
        repository(tmp_path / "a", FILES)
        repository(tmp_path / "b", files)

        assert digest_of(tmp_path / "a") != digest_of(tmp_path / "b")

    def test_what_is_left_out_does_not_count(self, tmp_path):
        repository(tmp_path / "a", FILES)
        before = digest_of(tmp_path / "a")
        repository(tmp_path / "a", {"facts/web1.json": {}})

        assert before != digest_of(tmp_path / "a")
        assert before == digest_of(tmp_path / "a", [str(tmp_path / "a" / "facts")])

    def test_a_link_counts_as_what_it_leads_to_and_one_that_leads_back_as_nothing(self, tmp_path):
        repository(tmp_path / "a", FILES)
        before = digest_of(tmp_path / "a")
        (tmp_path / "a" / "roles" / "back").symlink_to(tmp_path / "a")
        assert before == digest_of(tmp_path / "a")

        (tmp_path / "a" / "more").symlink_to(tmp_path / "a" / "roles")
        repository(tmp_path / "b", {**FILES, "more/web.json": FILES["roles/web.json"]})
        assert digest_of(tmp_path / "b") == digest_of(tmp_path / "a")


class TestSending:
    def test_what_arrives_is_what_was_packed_in_a_private_folder(self, tmp_path):
        """
        With the commit, which revisions note; once a process, however often it is sent.
        """
        repository(tmp_path / "a", FILES)
        sent = pack_repository(tmp_path / "a", "c" * 40)
        unpack_once(sent)
        folder = unpacked_folder(sent.digest)
        unpack_once(PackedRepository(sent.digest, bytes(sent.body)))

        place = Path(folder.name, REPOSITORY)
        assert {**tree_of(tmp_path / "a"), ".git/HEAD": b"c" * 40} == tree_of(place)
        assert digest_of(place) == digest_of(tmp_path / "a")
        assert 0o700 == stat.S_IMODE(os.stat(folder.name).st_mode)
        assert folder is unpacked_folder(sent.digest)
        folder.cleanup()

    @pytest.mark.parametrize("place", ["a/facts", "facts"], ids=["in the repository", "beside it"])
    def test_facts_of_the_nodes_that_run_are_in_the_same_pack(self, tmp_path, place):
        repository(tmp_path / "a", FILES)
        before = tree_of(tmp_path / "a")
        repository(tmp_path / place, {f"{name}.json": {"fqdn": name} for name in ("web1", "web2", "db1")})
        sent = pack_repository(tmp_path / "a", facts=tmp_path / place, nodes=["web1", "db1", "new1"])
        unpack_once(sent)

        found = tree_of(unpacked_folder(sent.digest).name)
        facts = {f"{FACTS}/{name}.json": (tmp_path / place / f"{name}.json").read_bytes() for name in ("db1", "web1")}
        files = {f"{REPOSITORY}/{name}": content for name, content in {**before, ".git/HEAD": b""}.items()}
        assert {**files, **facts} == found

    def test_it_goes_when_others_have_come_and_nobody_works_in_it(self, tmp_path):
        folders = []
        most = shipping.MOST_HELD
        for number in range(most + 1):
            repository(tmp_path / "a", {"number.txt": str(number)})
            sent = pack_repository(tmp_path / "a")
            unpack_once(sent)
            folders.append(unpacked_folder(sent.digest).name)

        assert [False, *[True] * most] == [os.path.isdir(folder) for folder in folders]

    def test_the_same_content_is_packed_into_the_same_bytes(self, tmp_path):
        for name in "ab":
            repository(tmp_path / name, FILES)

        assert pack_repository(tmp_path / "a") == pack_repository(tmp_path / "b")

    @pytest.mark.parametrize("target", ["secret.txt", "folder"])
    def test_a_link_that_leads_out_is_refused(self, tmp_path, target):
        """
        A user who sends a repository does not mean to send a key that lies elsewhere.
        """
        repository(tmp_path, {"secret.txt": "x", "folder/secret.txt": "x", "a/roles/web.json": {"name": "web"}})
        (tmp_path / "a" / "roles" / "out").symlink_to(tmp_path / target)

        with pytest.raises(FleetError, match=r"roles/out.* leads out of "):
            pack_repository(tmp_path / "a")

    def test_a_link_that_leads_out_of_the_facts_is_refused(self, tmp_path):
        repository(tmp_path, {"secret.json": {}, "a/roles/web.json": {"name": "web"}, "facts/web1.json": {}})
        (tmp_path / "facts" / "web2.json").symlink_to(tmp_path / "secret.json")

        pack_repository(tmp_path / "a", facts=tmp_path / "facts", nodes=["web1"])
        with pytest.raises(FleetError, match=r"web2.json leads out of "):
            pack_repository(tmp_path / "a", facts=tmp_path / "facts", nodes=["web1", "web2"])


def pack(*members):
    """A pack with these members, whatever they are, under its own digest."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return named(lzma.compress(body.getvalue()))


def named(body):
    return PackedRepository(hashlib.sha256(body).hexdigest(), body)


def member(name, type=tarfile.REGTYPE, linkname=""):
    one = tarfile.TarInfo(name)
    one.type, one.linkname = type, linkname
    return one


class TestWhatMustNotArrive:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        """The folder of temporary folders, which is empty again after a pack was refused."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir()
        yield
        assert [tmp_path / "temporary"] == list(tmp_path.iterdir())
        assert [] == list((tmp_path / "temporary").iterdir())

    @pytest.mark.parametrize(
        "one",
        [
            member("../outside"),
            member("/tmp/nodeattrs-outside"),
            member("roles/../../outside"),
            member("roles//web.json"),
            member("./roles/web.json"),
            member("roles", tarfile.SYMTYPE, "/tmp"),
            member("roles", tarfile.LNKTYPE, "/etc/passwd"),
            member("roles", tarfile.DIRTYPE),
            member("pipe", tarfile.FIFOTYPE),
            member("device", tarfile.CHRTYPE),
        ],
        ids=lambda one: f"{one.name} {one.type!r}",
    )
    def test_a_pack_with_an_odd_member_leaves_nothing(self, one):
        with pytest.raises(FleetError, match="no file of a repository"):
            unpack_once(pack((member("first"), b"x"), (one, b"")))
        assert not os.path.exists("/tmp/nodeattrs-outside")

    @pytest.mark.parametrize("other", ["a/b", "a"], ids=["a folder too", "twice"])
    def test_a_file_that_is_in_it_a_second_time_is_an_error(self, other):
        with pytest.raises(FleetError, match="cannot be unpacked"):
            unpack_once(pack((member("a"), b"x"), (member(other), b"y")))

    def test_other_bytes_than_those_of_the_digest_are_refused(self):
        good = pack((member("a"), b"x"))

        for bad in (
            PackedRepository("0" * 64, good.body),
            PackedRepository(good.digest, good.body[:-1]),
            PackedRepository(good.digest, b"no"),
        ):
            with pytest.raises(FleetError, match="not the one that was packed"):
                unpack_once(bad)

    @pytest.mark.parametrize("body", [b"", b"no", lzma.compress(b"no"), lzma.compress(b"x" * 2000)[:-40]])
    def test_what_is_no_tar_is_an_error(self, body):
        with pytest.raises(FleetError, match="no packed repository"):
            unpack_once(named(body))


def test_a_folder_that_is_dropped_during_another_answer_is_no_file_outside_of_its_repository(tmp_path):
    """Garbage collection may remove it at any time."""
    folder = UnpackedFolder()
    name = folder.name
    with border.held(border.Border((tmp_path,), is_closed=True)):
        del folder
        refused = border.refused()

    assert (refused, os.path.exists(name)) == ((), False)
