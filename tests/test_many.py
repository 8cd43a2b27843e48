"""Long tasks on a terminal: a bar, Ctrl-C, and the command line that goes on."""

import argparse
import io
import json
import os
import shlex
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nodeattrs.cli import terminal as terminals
from nodeattrs.cli.many import go_through, stoppable
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.command import Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.dialects.chef.commands.many import began_now, since_of, this_command
from nodeattrs.dialects.chef.fleet import NodeOutcome
from nodeattrs.dialects.chef.reports.fleet import FleetReport
from nodeattrs.reports import Screen as Laid
from nodeattrs.reports.failure import traceback_lines
from nodeattrs.reports.history import History
from nodeattrs.store import Noted, Revision


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def show_bars_at_once(monkeypatch):
    monkeypatch.setattr(terminals, "QUIET_SECONDS", 0)


@pytest.fixture
def see(monkeypatch):
    """Makes a terminal of stderr; called in the test itself, since what captures changes it in between."""

    def seen(stream=None):
        stream = stream or Screen()
        monkeypatch.setattr(sys, "stderr", stream)
        show_bars_at_once(monkeypatch)
        return stream

    return seen


class TestCounting:
    def test_a_bar_tells_the_rate_and_the_time_that_is_left(self, see):
        """
        And is gone in the end.
        """
        pytest.importorskip("tqdm")
        screen = see()
        with Terminal().counting(3, "node") as tick:
            tick("web1")

        assert "0/3 [" in screen.getvalue()
        assert "node/s" in screen.getvalue()
        assert "" == screen.getvalue().rpartition("\r")[2]

    def test_without_the_library_there_are_numbers(self, see, monkeypatch):
        screen = see()
        monkeypatch.setitem(sys.modules, "tqdm", None)
        with Terminal().counting(3) as tick:
            tick("web1")
            tick("")

        assert "1 of 3: web1\r            \r2 of 3\r      \r" == screen.getvalue()

    def test_a_warning_does_not_stand_behind_the_bar(self, see):
        pytest.importorskip("tqdm")
        screen = see()
        terminal = Terminal(colour="never")
        with terminal.counting(3) as tick:
            tick("web1")
            terminal.warn(["it rains"])

        before, warning, _ = screen.getvalue().partition("warning: it rains [NA0001]\n")
        assert warning
        assert "" == before.rpartition("\r")[2]

    def test_no_line_is_wider_than_the_terminal(self, see, monkeypatch):
        screen = see()
        monkeypatch.setenv("COLUMNS", "20")
        Terminal().progress("File[/a/very/long/path\x1b[2J]" * 3)

        assert 19 == len(screen.getvalue())
        assert "\x1b" not in screen.getvalue()

    def test_progress_is_printed_on_terminals_only(self, see):
        stream = see(io.StringIO())
        with Terminal().counting(3) as tick:
            tick("web1")

        assert "" == stream.getvalue()


class TestWhatCommandsATerminal:
    """A value may hold anything; no sign of it reaches a terminal that could move the cursor or colour a word."""

    def test_data_has_other_spellings_of_such_signs(self, monkeypatch):
        """
        To JSON they are the same. In a file or a pipe all signs are as they were.
        """
        text = '{"a": "\x9b31m\x7f"}\n'
        for stream, told in ((Screen(), '{"a": "\\u009b31m\\u007f"}\n'), (io.StringIO(), text)):
            monkeypatch.setattr(sys, "stdout", stream)
            Terminal().text(text)

            assert told == stream.getvalue()
            assert json.loads(text) == json.loads(told)

    def test_a_traceback_has_them_written_out(self):
        try:
            raise ValueError("a\x1b[31m")
        except ValueError as error:
            lines = list(traceback_lines(error))

        assert "ValueError: a\\x1b[31m" == lines[-1]

    def test_nor_do_names_and_notes_that_somebody_imported(self):
        """
        A node of a fleet is called as somebody called it, and a commit is what a store says.
        """
        noted = Noted(repository="\x1b[31m", error="\x1b[32m", ok=False)
        history = History("a", [Revision(1, datetime.now(UTC), noted)])
        reports = [FleetReport([NodeOutcome("\x1b[33m", "no")], 1, 1.0), history]
        lines = "".join(line for report in reports for line in report.lines(Laid()))

        assert "\x1b" not in lines


class TestStoppable:
    def test_the_first_time_it_asks_and_the_second_time_it_stops(self):
        before = signal.getsignal(signal.SIGINT)
        with stoppable() as stopping:
            assert not stopping()
            os.kill(os.getpid(), signal.SIGINT)
            assert stopping()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)

        assert before is signal.getsignal(signal.SIGINT)

    def test_a_process_that_ignores_ctrl_c_goes_on_ignoring_it(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with stoppable() as stopping:
                os.kill(os.getpid(), signal.SIGINT)
                assert not stopping()
        finally:
            signal.signal(signal.SIGINT, before)

    def test_another_thread_leaves_signals_alone(self):
        seen = []

        def work():
            with stoppable() as stopping:
                seen.append(stopping())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert [False] == seen

    def test_what_was_taken_before_the_second_one_counts(self):
        """
        Whoever is in a hurry is told of it, too.
        """

        def outcomes(stopping):
            yield argparse.Namespace(name="web1")
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            yield argparse.Namespace(name="web2")

        taken = []
        assert 1 == go_through(Terminal(), 3, outcomes, taken.append)
        assert ["web1"] == [outcome.name for outcome in taken]


class TestTheWayOn:
    @pytest.mark.parametrize(
        "place",
        [
            "postgresql://me:s3cret@db:5432/nodes",
            "--store=postgresql://me:s3@cr?et@db/nodes?connect_timeout=3",
            "postgresql://db/nodes?user=me&password=s3cret&connect_timeout=3",
            "postgresql://db/nodes?sslpassword=s3cret",
        ],
    )
    def test_the_command_to_continue_has_no_password(self, place):
        options = argparse.Namespace(words=["fleet", "resolve", "--store", place], since=None)
        told = this_command(vars(options), began_now())

        assert "s3" not in told
        assert "//me@db" in told or "//db/nodes" in told

    def test_a_place_without_a_password_is_as_it_was(self):
        command = ["run", "--all", "--store", "postgresql://me@db:5432/n?a=1", "--repo", "a b", "--since", "2030-01-31"]
        options = argparse.Namespace(words=command, since="2030-01-31")

        assert ["nodeattrs", *command] == shlex.split(this_command(vars(options), began_now()))

    def test_the_time_is_one_that_since_takes(self):
        side = Side("", Path(), Path(), {})
        question = Question(side, Request(), {"since": began_now(), "jobs": None})

        assert since_of(question).tzinfo is not None


@pytest.mark.skipif(sys.platform != "linux", reason="a terminal is made as Linux makes one")
def test_a_terminal_that_does_not_say_how_big_it_is_shows_a_bar_too(monkeypatch):
    """As some have it that run a command for somebody else."""
    pytest.importorskip("tqdm")
    master, slave = os.openpty()
    show_bars_at_once(monkeypatch)
    with os.fdopen(slave, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with Terminal().counting(3, "node") as tick:
            tick("web1")
    with os.fdopen(master, "rb", buffering=0) as screen:
        assert b"0/3 [" in screen.read(4096)
