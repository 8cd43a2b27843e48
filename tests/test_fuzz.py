"""The fuzzing program in small: it finds nothing here, and would find what it looks for."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import lark
import pytest

from nodeattrs.errors import BadArgument, InternalError
from tests.fuzz.grammar import Grammar
from tests.fuzz.judging import Failed, judged, over, shrunk
from tests.fuzz.mutation import mutated
from tests.fuzz.runner import Figures, made, main, run
from tests.fuzz.shapes import ODD, as_json, grown, spoiled
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS


def target(read: Callable[[str], Any], use: Callable[[Any], Any] = len) -> Target:
    """One whose inputs are the digits of a number below ten."""
    return Target("digits", lambda chance: str(chance.randrange(10)), read, use)


def few(read: Callable[[str], Any], count: int = 20) -> Figures:
    """The figures of some inputs."""
    return run(target(read), 1, lambda inputs: inputs < count)


def refused(text: str) -> str:
    if text in "01234":
        raise BadArgument(f"{text} is too little")
    return text


@pytest.mark.parametrize("name", TARGETS)
def test_every_parser_accepts_some_inputs_and_none_fails(name):
    figures = run(TARGETS[name], 40, lambda inputs: inputs < 12)

    assert ([], 12, True) == (list(figures.lines()), figures.inputs, figures.accepted > 0)


class TestARun:
    def test_a_fuzz_run_counts_accepted_inputs(self):
        """
        An error of the project is an answer, and no acceptance.
        """
        figures = few(refused)
        accepted = sum(made(target(refused), seed) not in "01234" for seed in range(1, 21))

        assert (20, accepted, 0) == (figures.inputs, figures.accepted, figures.failures)

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (KeyError("x"), "KeyError"),
            (SystemExit(1), "SystemExit"),
            (InternalError("a fault in nodeattrs itself"), "InternalError"),
            (MemoryError(), "MemoryError"),
            (FutureWarning("it will be otherwise"), "FutureWarning"),
        ],
    )
    def test_whatever_else_is_raised_fails(self, fault, kind):
        """
        With every seed, and a smallest input once.
        """

        def read(text: str) -> str:
            if text in "789":
                raise fault
            return text

        figures = few(read)
        seeds = [seed for seed in range(1, 21) if made(target(read), seed) in "789"]

        assert ([seeds], 20 - len(seeds)) == (list(figures.failed.values()), figures.accepted)
        assert all(line.startswith(f"FAILED digits seed {seeds[0]}, ") and kind in line for line in figures.lines())

    def test_a_failure_in_use_was_accepted(self):
        """
        The parser did its part.
        """
        figures = run(target(refused, lambda text: {}["x"]), 1, lambda inputs: inputs < 20)

        assert figures.accepted == figures.failures > 0

    def test_a_seed_repeats_its_input(self):
        """
        Alone, and whatever came before.
        """
        for name, one in TARGETS.items():
            first = made(one, 7)
            made(one, 8)
            assert first == made(one, 7), name

    def test_a_fuzz_run_goes_on_after_a_dead_process(self):
        """
        The seed at which it died is named; all others are read.
        """

        def read(text: str) -> str:
            if text == "3":
                os.kill(os.getpid(), signal.SIGKILL)
            return text

        figures = few(read, 30)
        died = [seed for seed in range(1, 31) if made(target(read), seed) == "3"]

        assert {"the process ended with SIGKILL": died} == figures.failed
        assert (30, 30 - len(died)) == (figures.inputs, figures.accepted)

    @pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="only Linux tells how much memory there is")
    def test_more_than_a_gigabyte_fails(self):
        """
        Whatever the machine has.
        """
        (line,) = few(lambda text: bytearray(3 << 29), 1).lines()

        assert "MemoryError" in line

    def test_the_command_line_names_what_failed(self, capsys, monkeypatch):
        """
        Figures, faults with their seeds, and a last line; the exit code is that of a check.
        """
        monkeypatch.setitem(TARGETS, "digits", target(lambda text: text if text != "3" else {}[text]))

        assert (1, 0) == (main(["digits", "--count", "20"]), main(["json", "--count", "5"]))
        told = capsys.readouterr().out
        assert re.search(r"digits +20 inputs +\d+ accepted +\d+\.\d%\nFAILED digits seed .*\"3\"\n\d+ passed, ", told)
        assert told.endswith("5 passed, 0 failed\n")

    def test_a_target_gets_its_least_inputs_when_the_time_is_over(self, capsys):
        """
        The time is divided among the targets, and the first one is slow.
        """
        assert 0 == main(["run-list", "version", "--seconds", "0.000001"])
        rows = re.findall(r"(\d+) inputs", capsys.readouterr().out)
        assert ["20", "20"] == rows

    def test_with_seconds_a_count_is_the_least(self, capsys):
        assert 0 == main(["run-list", "version", "--seconds", "0.000001", "--count", "30"])
        assert ["30", "30"] == re.findall(r"(\d+) inputs", capsys.readouterr().out)

    def test_a_target_that_is_none_is_refused(self, capsys):
        """
        With the names of those that are there.
        """
        with pytest.raises(SystemExit):
            main(["yml"])
        assert re.search("there is no target yml; there are .*, yaml, ", capsys.readouterr().err)


class TestAnInput:
    def test_one_that_takes_too_long_fails(self):
        """
        By the CPU that it took, whoever catches errors on the way.
        """

        def read(text: str) -> str:
            until = time.process_time() + 10
            while time.process_time() < until:
                try:
                    sum(range(1000))
                except Exception:
                    continue
            return text

        before = signal.signal(signal.SIGPROF, over)
        try:
            with pytest.raises(Failed, match="TookTooLong"):
                judged(target(read), "x", 0.05)
        finally:
            signal.signal(signal.SIGPROF, before)

    def test_whoever_asks_keeps_their_own_limits(self):
        """
        A process that judges one input may live on.
        """
        judged(target(str), "x")

        assert [(0.0, 0.0)] * 2 == [signal.getitimer(which) for which in (signal.ITIMER_PROF, signal.ITIMER_VIRTUAL)]

    def test_a_smaller_one_fails_in_the_same_way(self):
        """
        What it fails with stays; all else goes.
        """

        def read(text: str) -> str:
            return text if "b" not in text or "d" not in text else {}[text]

        with pytest.raises(Failed) as failed:
            judged(target(read), "aabcccdee")

        assert "bd" == shrunk(target(read), "aabcccdee", failed.value.kind)


class TestWhatIsGrown:
    RULES = 'start: item+\nitem: WORD | "(" start ")" | "(" ")"\n%ignore " "'

    def test_every_text_of_a_grammar_is_in_its_language(self):
        """
        Long ones, too: they end the shortest way.
        """
        grammar = Grammar(self.RULES, {"WORD": ("a", "b")})
        parser = lark.Lark(self.RULES + "\nWORD: /[ab]/", parser="earley")
        texts = {grammar.grown(random.Random(seed)) for seed in range(200)}

        assert len(texts) > 50
        for text in texts:
            parser.parse(text)

    def test_a_terminal_without_words_is_named(self):
        """
        Nobody grows a text from any regular expression.
        """
        with pytest.raises(ValueError, match="words are needed for WORD"):
            Grammar("start: WORD\nWORD: /[ab]+/", {}).grown(random.Random(1))

    def test_a_mutation_changes_a_text(self):
        """
        Mostly: a word put in the place of itself is no change.
        """
        changed = [mutated("one two", random.Random(seed), ("x",)) != "one two" for seed in range(200)]

        assert sum(changed) > 150

    def test_spoiling_leaves_what_it_draws_from_alone(self):
        """
        One input says nothing of the next.
        """
        before = repr(ODD)
        shape = {"a": ([1, 2], {"b": ("c", [None])}), "d": [{"e": 1}]}
        for seed in range(300):
            chance = random.Random(seed)
            tree = grown(shape, chance)
            for _ in range(4):
                tree = spoiled(tree, chance)
            as_json(tree, chance)

        assert (before, {"a": ([1, 2], {"b": ("c", [None])}), "d": [{"e": 1}]}) == (repr(ODD), shape)
