"""Resource types that act: files, directories, links, commands; twice is once, whole or not at all, nothing secret."""

from __future__ import annotations

import os
import random
import signal
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.catalog import Catalog, Report, Resource, apply_plan, ref_of
from nodeattrs.catalog.types import Site, subject_of, type_named
from nodeattrs.catalog.types.commands import Execute, Log
from nodeattrs.catalog.types.files import Directory, File, Link
from nodeattrs.core.code import held_back
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.chef.run.applying import noted_report
from nodeattrs.errors import BadArgument, BadName, MissingExtra, UnknownLayer
from tests.effort import examples


@pytest.fixture
def site(tmp_path: Path) -> Site:
    root = tmp_path / "root"
    root.mkdir()
    return Site(root, tmp_path / "backups")


def run(site: Site, *subjects: Any, noop: bool = False) -> Report:
    catalog = Catalog(noop=noop)
    for number, subject in enumerate(subjects):
        catalog.add(Resource(ref_of(f"{type(subject).__name__}[{number}]"), subject=subject))
    return apply_plan(catalog.plan(), site)


def told(report: Report) -> list[str]:
    return [change.summary for outcome in report.outcomes.values() for change in outcome.changes]


def errors(report: Report) -> str:
    return "\n".join(text for outcome in report.outcomes.values() for text in outcome.errors)


class TestAll:
    @pytest.mark.parametrize(
        "made",
        [
            lambda: [File("/motd", content="hello\n", mode="0640")],
            lambda: [File("/empty", content="")],
            lambda: [File("/empty", ensure="present")],
            lambda: [File("/bytes", content=b"\x00\xff")],
            lambda: [Directory("/a/b/c", mode="0750")],
            lambda: [Directory("/d"), Link("/d/link", to="target")],
            lambda: [Execute("touch $NODEATTRS_ROOT/made", creates="/made")],
        ],
    )
    def test_done_twice_they_change_nothing_the_second_time(self, site, made):
        """
        And in no-op mode they change nothing the first time.
        """
        assert told(run(site, *made(), noop=True))
        assert [] == list(site.root.iterdir())

        first, second = run(site, *made()), run(site, *made())

        assert first.ok
        assert told(first)
        assert [] == told(second)

    @pytest.mark.parametrize("name", ["../etc/passwd", "/a/../../b", "relative", "/nul\0", ""])
    def test_a_name_from_outside_leads_nowhere_else(self, name):
        """
        Absolute, and without `..`.
        """
        with pytest.raises(BadName):
            File(name)

    def test_a_link_on_the_way_does_not_lead_out_of_the_root(self, site, tmp_path):
        """
        A scratch root is left by no path.
        """
        (tmp_path / "outside").mkdir()
        (site.root / "etc").symlink_to(tmp_path / "outside")
        report = run(site, File("/etc/motd", content="x"))

        assert "leads out of" in errors(report)
        assert [] == list((tmp_path / "outside").iterdir())

    def test_links_below_the_root_are_followed(self, site):
        """
        However they are written; one that leads up too far, or round, leads nowhere.
        """
        (site.root / "usr" / "etc").mkdir(parents=True)
        (site.root / "etc").symlink_to("usr/etc")
        (site.root / "usr" / "up").symlink_to("../etc")
        (site.root / "whole").symlink_to(site.root / "usr")
        (site.root / "round").symlink_to("round")
        (site.root / "above").symlink_to("usr/../../x")
        names = ["/etc/a", "/usr/up/b", "/whole/etc/c", "/round/d", "/above/e"]
        report = run(site, *(File(name, content="x") for name in names))

        assert {"a", "b", "c"} == {path.name for path in (site.root / "usr" / "etc").iterdir()}
        assert "Too many levels of symbolic links" in errors(report)
        assert "/above/e leads out of" in errors(report)

    def test_a_folder_that_is_swapped_for_a_link_does_not_lead_out_of_the_root(self, site, tmp_path):
        """
        Somebody does it all the while. What is made, removed, replaced or given rights is so below the root, or not.
        """
        outside, real, folder = tmp_path / "outside", site.root / "real", site.root / "d"
        for place in (outside, real):
            place.mkdir()
        (outside / "gone").write_text("theirs")
        (outside / "mode").write_text("theirs")
        child = os.fork()
        if not child:
            try:
                while True:
                    real.rename(folder)
                    time.sleep(0.0005)
                    folder.rename(real)
                    folder.symlink_to(outside)
                    time.sleep(0.0005)
                    folder.unlink()
            finally:
                os._exit(1)
        ends: set[bool] = set()
        try:
            for number in range(2_000):
                made = File("/d/made", content=str(number)), Link("/d/link", to=str(number))
                report = run(site, *made, File("/d/gone", ensure="absent"), File("/d/mode", mode="0666"))
                ends.add(report.ok)
                if number > 300 and len(ends) == 2:
                    break
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

        assert {"gone", "mode"} == {path.name for path in outside.iterdir()}
        assert stat.S_IMODE((outside / "mode").stat().st_mode) != 0o666
        assert {True, False} == ends, "some went in, some found a link"

    def test_a_root_that_is_not_there_is_made_for_a_directory_only(self, tmp_path):
        """
        As every folder above one is.
        """
        site = Site(tmp_path / "no" / "root")

        assert f"the folder {tmp_path}/no/root is missing" in errors(run(site, File("/a", content="x")))
        assert run(site, Directory("/d"), File("/d/a", content="x")).ok

    @pytest.mark.parametrize(
        "made",
        [
            lambda: File("/no/such/a", content="x"),
            lambda: File("/no/such/a", ensure="present"),
            lambda: Link("/no/such/a", to="x"),
        ],
    )
    def test_a_missing_folder_is_named_and_foreseen(self, site, made):
        """
        A failure is a failure: nothing is said to be done.
        """
        for noop in (True, False):
            report = run(site, made(), noop=noop)

            assert "Could not evaluate: the folder /no is missing" == errors(report)
            assert ([], False) == (told(report), report.ok)

    @pytest.mark.parametrize(
        "before",
        [
            lambda: Directory("/no/such"),
            lambda: Execute("mkdir -p $NODEATTRS_ROOT/no/such"),
            lambda: Link("/no", to="x"),
        ],
    )
    def test_a_folder_that_would_be_there_is_not_missed_in_no_op_mode(self, site, before):
        """
        Nobody knows what a command makes.
        """
        name = "/no/a" if isinstance(before(), Link) else "/no/such/a"

        assert run(site, before(), File(name, content="x"), noop=True).ok
        assert [] == list(site.root.iterdir())

    def test_what_could_not_be_changed_is_not_said_to_be(self, site, monkeypatch):
        """
        What could be, is.
        """
        (site.root / "a").write_text("x")

        def fails(*_: Any, **__: Any) -> None:
            raise PermissionError(1, "Operation not permitted", "a")

        monkeypatch.setattr(os, "chown", fails)
        report = run(site, File("/a", owner=12345, mode="0604"))
        outcome = report.outcomes["File[0]"]

        assert (["mode 0644 -> 0604"], ["owner"]) == (told(report), [change.what for change in outcome.unmade])
        assert "owner: Operation not permitted" == errors(report)
        assert ["mode", "owner"] == noted_report(report)["resources"][0]["changes"]

    def test_what_a_killed_run_left_goes_with_the_next_one(self, site):
        """
        Even where that changes nothing, and at once. What somebody is writing just now stays, and all in no-op mode.
        """
        with site.entry("/a") as entry:
            entry.replace(b"x", 0o644)
            name, _ = entry._temporary_file()
            os.symlink("x", site.root / f"{name}.link")
            dead, handle = entry._temporary_file()
            os.symlink("x", site.root / f"{dead}.link")
            os.close(handle)
        run(site, File("/a", content="x"), noop=True)
        assert (site.root / dead).exists()
        report = run(Site(site.root), File("/a", content="x"))

        assert [] == told(report)
        assert {"a", name, f"{name}.link"} == set(os.listdir(site.root))

    def test_an_unknown_parameter_is_named_with_near_misses(self):
        """
        A slip is no silent wish.
        """
        with pytest.raises(BadArgument, match=r"(?s)has no parameter 'contents'.*did you mean content\?"):
            subject_of("File", "/a", {"contents": "x"})

    @pytest.mark.parametrize(
        ("made", "said"),
        [
            (lambda: File("/a", mode="rw"), "no mode"),
            (lambda: File("/a", mode=0o77777), "no mode"),
            (lambda: File("/a", ensure="gone"), "present or absent"),
            (lambda: File("/a", content="x", source="/b"), "content and source cannot both"),
            (lambda: Link("/a"), "needs to="),
            (lambda: Execute("x", timeout=0), "not a number of seconds"),
            (lambda: Execute("x", timeout=float("nan")), "not a number of seconds"),
        ],
    )
    def test_what_means_nothing_is_refused_when_it_is_declared(self, made, said):
        """
        Before anything has been touched.
        """
        with pytest.raises(BadArgument, match=said):
            made()

    def test_an_installed_package_adds_types(self, monkeypatch):
        """
        By an entry point; it does not replace one of ours, and one that cannot be loaded says so.
        """
        from importlib import metadata

        from nodeattrs.errors import NodeattrsError

        def points(found: list[metadata.EntryPoint]) -> None:
            monkeypatch.setattr("nodeattrs.packages.entry_points", lambda group: found)

        group = "nodeattrs.resource_types"
        points([metadata.EntryPoint(name, "tests.test_catalog_types:Marker", group) for name in ("Marker", "File")])
        assert (Marker, File) == (type_named("Marker"), type_named("File"))
        with held_back(), pytest.raises(UnknownLayer, match=r"the resource type Marker .* was not run"):
            type_named("Marker")

        points([metadata.EntryPoint("Broken", "tests.no_such_module:X", group)])
        with pytest.raises(NodeattrsError, match=r"resource type Broken of .* cannot be loaded"):
            type_named("Broken")


class Marker(Log):
    """A type of another package."""


class TestFiles:
    def test_the_difference_is_shown(self, site):
        """
        As a unified diff.
        """
        (site.root / "motd").write_text("one\ntwo\n")
        (change,) = run(site, File("/motd", content="one\n2\n")).outcomes["File[0]"].changes

        assert "--- /motd\n+++ /motd\n@@ -1,2 +1,2 @@\n one\n-two\n+2" == change.diff

    def test_mode_and_content_are_two_changes(self, site):
        """
        An existing file keeps its mode where none is asked for.
        """
        path = site.root / "a"
        path.write_text("x")
        path.chmod(0o640)
        run(site, File("/a", content="y"))
        kept = stat.S_IMODE(path.stat().st_mode)
        report = run(site, File("/a", content="z", mode="0600"))

        assert 0o640 == kept
        assert ["mode 0640 -> 0600"] == [text for text in told(report) if text.startswith("mode")]
        assert (0o600, "z") == (stat.S_IMODE(path.stat().st_mode), path.read_text())

    def test_what_was_replaced_is_kept_where_backups_are(self, site):
        """
        Readable by its owner only.
        """
        (site.root / "a").write_text("old")
        run(site, File("/a", content="new"), File("/b", content="no backup of what was not there"))
        (kept,) = site.backups.iterdir()

        assert ("old", 0o600) == (kept.read_text(), stat.S_IMODE(kept.stat().st_mode))

    def test_a_link_in_its_place_is_replaced_and_not_followed(self, site):
        """
        What it led to stays as it is.
        """
        (site.root / "other").write_text("theirs")
        (site.root / "a").symlink_to("other")
        run(site, File("/a", content="ours"))

        assert ("theirs", "ours") == ((site.root / "other").read_text(), (site.root / "a").read_text())
        assert not (site.root / "a").is_symlink()

    @pytest.mark.parametrize("to", ["other", "nowhere", "/etc/passwd"])
    def test_without_content_a_link_in_its_place_is_left_alone(self, site, to):
        """
        And what it leads to: `file("/etc/x", mode=...)` destroys nothing. As Puppet 7.23 does.
        """
        (site.root / "other").write_text("theirs")
        (site.root / "other").chmod(0o600)
        (site.root / "a").symlink_to(to)
        for subject in (File("/a", mode="0644"), File("/a", ensure="present", mode="0644"), File("/a")):
            report = run(site, subject)

            assert (True, []) == (report.ok, told(report))
        assert to == os.readlink(site.root / "a")
        assert ("theirs", 0o600) == ((site.root / "other").read_text(), (site.root / "other").stat().st_mode & 0o777)

    def test_without_content_it_is_made_only_where_ensure_says_so(self, site):
        """
        As Puppet 7.23 does. What is there keeps its content, and has the mode.
        """
        (site.root / "there").write_text("theirs")
        report = run(site, File("/a", mode="0600"), File("/b", ensure="present"), File("/there", mode="0600"))

        assert ["created", "mode 0644 -> 0600"] == told(report)
        assert {"b": "", "there": "theirs"} == {path.name: path.read_text() for path in site.root.iterdir()}

    def test_absent_means_gone(self, site):
        """
        Once.
        """
        (site.root / "a").write_text("x")

        assert ["removed"] == told(run(site, File("/a", ensure="absent")))
        assert [] == told(run(site, File("/a", ensure="absent")))

    @pytest.mark.parametrize("made", [lambda: File("/d", content="x"), lambda: Link("/d", to="x")])
    def test_a_directory_is_never_replaced(self, site, made):
        """
        It may hold anything.
        """
        (site.root / "d").mkdir()

        assert not run(site, made()).ok
        assert (site.root / "d").is_dir()

    def test_an_unknown_owner_is_a_failure_of_this_file_alone(self, site):
        """
        Nothing is written by half.
        """
        report = run(site, File("/a", content="x", owner="nobody-has-this-name"), File("/b", content="y"))

        assert "there is no user nobody-has-this-name" in errors(report)
        assert (False, True) == ((site.root / "a").exists(), (site.root / "b").exists())

    def test_a_template_is_rendered_with_its_variables(self, site, tmp_path):
        """
        A name that is not given is a failure, and not an empty text.
        """
        template = tmp_path / "a.j2"
        template.write_text("port={{ port }}\n")
        run(site, File("/a", template=str(template), variables={"port": 80}))
        report = run(site, File("/b", template=str(template)))

        assert "port=80\n" == (site.root / "a").read_text()
        assert "the template a.j2 failed: 'port' is undefined" in errors(report)
        assert not (site.root / "b").exists()

    def test_a_template_reaches_nothing_but_its_variables(self, site, tmp_path):
        """
        It fills lists and maps that are its own.
        """
        template = tmp_path / "a.j2"
        template.write_text("{% set _ = ports.append(81) %}{{ ports }}")
        run(site, File("/a", template=str(template), variables={"ports": [80]}))
        assert "[80, 81]" == (site.root / "a").read_text()
        for odd in (
            "{{ ports.__class__.__mro__ }}",
            "{{ ''.__class__.__base__.__subclasses__() }}",
            "{{ lipsum.__globals__ }}",
        ):
            template.write_text(odd)
            assert "unsafe" in errors(run(site, File("/b", template=str(template), variables={"ports": [80]})))

    def test_templates_need_an_extra(self, site, tmp_path, monkeypatch):
        """
        The error names it.
        """
        monkeypatch.setitem(sys.modules, "jinja2", None)
        with pytest.raises(MissingExtra, match=r"nodeattrs\[templates\]"):
            File("/a", template=str(tmp_path / "x")).check(site)

    def test_nothing_is_left_beside_a_file(self, site, monkeypatch):
        """
        Not when it works, not when the disk is full, and what a killed run left goes in time.
        """
        stale = site.root / ".a.nodeattrs-0123456789ab"
        stale.write_text("half")
        os.utime(stale, (1, 1))
        run(site, File("/a", content="x"))
        assert ["a"] == sorted(path.name for path in site.root.iterdir())

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        assert "No space left" in errors(run(site, File("/a", content="longer")))
        assert ["a"] == sorted(path.name for path in site.root.iterdir())
        assert "x" == (site.root / "a").read_text()

    def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(self, site):
        """
        Never half of one, never none.
        """
        path = site.root / "a"
        contents = {text * 20_000 for text in ("one\n", "two\n")}
        File("/a", content="one\n" * 20_000).apply(File("/a", content="").check(site)[0], site)
        path.write_text("one\n" * 20_000)
        chance = random.Random(7)
        for _ in range(examples(200, fewest=50)):
            child = os.fork()
            if not child:
                try:
                    while True:
                        for content in contents:
                            file = File("/a", content=content, backup=False)
                            for change in file.check(site):
                                file.apply(change, site)
                finally:
                    os._exit(1)
            time.sleep(chance.uniform(0.0, 0.01))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert path.read_text() in contents


class TestSecrets:
    SECRET = "hunter2"

    @pytest.mark.parametrize(
        "made",
        [
            lambda: File("/a", content=Sensitive("hunter2")),
            lambda: File("/a", content="hunter2", sensitive=True),
            lambda: Execute("e", command=Sensitive("echo hunter2; exit 1")),
            lambda: Execute("e", command=["sh", "-c", "echo $P; exit 1"], environment={"P": Sensitive("hunter2")}),
            lambda: Execute("e", command=["/no/such/program", Sensitive("hunter2")]),
            lambda: Log("l", message=Sensitive("hunter2")),
        ],
    )
    def test_a_secret_is_in_no_report(self, site, made):
        """
        Neither in changes and diffs nor in errors, nor in what the resource prints as.
        """
        subject = made()
        report = run(site, subject)

        assert self.SECRET not in repr(report) + repr(subject) + errors(report)
        assert told(report) or errors(report)

    def test_it_is_written_all_the_same_and_nobody_else_may_read_it(self, site):
        """
        A new file with a secret is its owner's alone.
        """
        run(site, File("/a", content=Sensitive("hunter2")))

        assert ("hunter2", 0o600) == ((site.root / "a").read_text(), stat.S_IMODE((site.root / "a").stat().st_mode))

    def test_a_text_made_of_one_is_refused(self, site):
        """
        It would be written as "Sensitive(withheld)"; `map` makes another secret of it.
        """
        secret = Sensitive("hunter2")
        with pytest.raises(BadArgument, match=r"secret\.map"):
            File("/a", content=f"password={secret}")
        run(site, File("/a", content=secret.map(lambda it: f"password={it}")))

        assert "password=hunter2" == (site.root / "a").read_text()

    def test_a_template_that_fails_does_not_quote_it(self, site, tmp_path):
        """
        Only the kind of the error is said.
        """
        template = tmp_path / "a.j2"
        template.write_text("{{ password + 1 }}{{ password.nope() }}")
        report = run(site, File("/a", template=str(template), variables={"password": Sensitive("hunter2")}))

        assert "failed: TypeError" in errors(report)
        assert self.SECRET not in errors(report)


class TestExecute:
    @pytest.mark.parametrize(
        ("conditions", "runs"),
        [
            ({}, True),
            ({"unless": "true"}, False),
            ({"unless": "false"}, True),
            ({"only_if": ["true"]}, True),
            ({"only_if": ["false"]}, False),
            ({"creates": "/there"}, False),
            ({"creates": "/elsewhere"}, True),
            ({"refresh_only": True}, False),
        ],
    )
    def test_conditions_decide_whether_it_runs(self, site, conditions, runs):
        """
        All of them have to agree.
        """
        (site.root / "there").touch()

        assert runs == bool(told(run(site, Execute("true", **conditions))))

    def test_a_refresh_runs_it_where_its_conditions_allow(self, site):
        """
        As Puppet has it.
        """
        for condition, expected in (("true", True), ("false", False)):
            made = site.root / condition
            Execute(f"touch {made}", refresh_only=True, only_if=condition).refresh(site)

            assert expected == made.exists()

    def test_a_failure_quotes_the_end_of_the_output(self, site):
        """
        And the exit code; another one can be declared fine.
        """
        report = run(site, Execute("echo out; echo err >&2; exit 3"), Execute("exit 3", returns=[0, 3]))

        assert "echo out; echo err >&2; exit 3 ended with 3: out / err" in errors(report)
        assert not report.outcomes["Execute[1]"].failed

    def test_a_program_that_is_not_there_is_a_failure(self, site):
        """
        With its name.
        """
        assert "/no/such/program: No such file" in errors(run(site, Execute("x", command=["/no/such/program"])))

    @pytest.mark.parametrize(
        "command",
        [
            "sleep 61.5",
            "sleep 61.5 & sleep 61.5",
            "(setsid sleep 61.5 &) ; sleep 61.5",
            "trap '' TERM INT; sleep 61.5",
        ],
    )
    @pytest.mark.skipif(sys.platform != "linux", reason="children that leave their group are found through /proc")
    def test_a_timeout_leaves_no_child_behind(self, site, command):
        """
        Neither in its group nor in a session of its own.
        """
        mark = f"catalog-timeout-{os.getpid()}"
        report = run(site, Execute("slow", command=f": {mark}; {command}", timeout=0.3, environment={"WHOSE": mark}))

        assert "was ended after 0.3 seconds" in errors(report)
        assert [] == _with_environment(f"WHOSE={mark}")

    def test_an_open_output_does_not_keep_the_run_waiting(self, site):
        """
        A daemon that a command starts may go on.
        """
        mark = f"catalog-daemon-{os.getpid()}"
        report = run(site, Execute("sleep 61.5 & true", timeout=30, environment={"WHOSE": mark}))
        for one in _with_environment(f"WHOSE={mark}"):
            os.kill(one, signal.SIGKILL)

        assert report.ok


def _with_environment(entry: str) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if entry.encode() in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found
