"""Who does the work of a fleet is a word, and what a fleet makes of workers that go away."""

import gc
import os
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.budget import in_force, limited
from nodeattrs.errors import BadArgument, FleetError, MissingExtra
from nodeattrs.runs import batches
from nodeattrs.runs.batches import each
from nodeattrs.runs.executors import Sizes, Workers, opened
from nodeattrs.runs.fleet import Fleet, sent_elsewhere
from tests.on_disk import repository


def doubled(number):
    return 2 * number


class TestWords:
    @pytest.mark.parametrize("word", ["process", "thread", "concurrent.futures:ThreadPoolExecutor"])
    def test_each_names_workers(self, word):
        with opened(word, 1 if word == "process" else None) as workers:
            assert [0, 2, 4] == sorted(each(doubled, range(3), executor=workers))

    def test_threads_are_as_many_as_were_asked_for(self):
        with opened("thread", 3) as workers:
            assert 3 == workers.executor._max_workers

    @pytest.mark.parametrize(
        ("word", "jobs", "message"),
        [
            ("", None, "'' is no executor"),
            ("threads", None, "'threads' is no executor"),
            ("dask:", None, "'dask:' is no executor"),
            ("nosuch.module:make", None, "nosuch.module:make makes no executor"),
            ("concurrent.futures:Nobody", None, "makes no executor"),
            ("builtins:dict", None, "builtins:dict makes no executor of concurrent.futures, but {}"),
            ("concurrent.futures:ThreadPoolExecutor", 2, "has its own number of workers"),
        ],
    )
    def test_a_slip_is_an_error(self, word, jobs, message):
        with pytest.raises(BadArgument, match=message), opened(word, jobs):
            pass

    def test_without_the_library_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)

        with pytest.raises(MissingExtra, match=r"nodeattrs\[dask\]"), opened("dask:tcp://127.0.0.1:1"):
            pass


COPIES = """\
import sys, threading
from nodeattrs.keep import Saved, open_store
from nodeattrs.runs.batches import each
from nodeattrs.runs.executors import Workers, opened
from tests.test_executors import is_a_copy

if __name__ == "__main__":  # a process that begins anew reads it, too
    sys.mark_of_the_parent = True
    if "thread" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    store = open_store("nodes.db")
    store.save(Saved("web1", {"name": "web1"}, {}))
    if "store" not in sys.argv:
        store.close()
    with opened("process", 2) as workers:
        print({*each(is_a_copy, range(4), executor=Workers(jobs=2) if "library" in sys.argv else workers)})
"""


def is_a_copy(_):
    return hasattr(sys, "mark_of_the_parent")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes begin anew")
class TestCopies:
    @pytest.mark.parametrize(
        ("what", "told"), [("command", "{True}"), ("library", "{False}"), ("thread", "{False}"), ("store", "{False}")]
    )
    def test_processes_are_copies_only_where_nothing_is_shared(self, tmp_path, what, told):
        """Who asks the library may have whatever open; of another thread a copy would have its locks and no more."""
        (tmp_path / "program.py").write_text(COPIES)
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "program.py", what]
        said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert said.stdout.strip() == told


class TestSizes:
    @pytest.mark.parametrize(
        ("seconds", "sizes"),
        [(0.0001, [16, 32, 64, 128, 256, 512, 512]), (0.025, [10] * 7), (0.2, [1] * 7), (9.0, [1] * 7)],
    )
    def test_a_batch_takes_a_quarter_of_a_second(self, seconds, sizes):
        """
        It grows step by step, however quick the first nodes were.
        """
        found, size = [], Sizes(8)
        for _ in sizes:
            size.learn(size.next, seconds * size.next)
            found.append(size.next)

        assert sizes == found

    def test_many_workers_are_given_longer_ones(self):
        """
        Whoever hands them out hands out so many in a second and no more.
        """
        sizes = Sizes(8, width=1_000)
        for _ in range(9):
            sizes.learn(100, 1.0)

        assert 500 == sizes.next

    def test_nothing_done_teaches_nothing(self):
        sizes = Sizes(8)
        sizes.learn(0, 1.0)

        assert 8 == sizes.next


class Answering(Executor):
    """Does the work at once, and makes of what came, or of its failure, something else."""

    def __init__(self, change):
        self._change = change

    def submit(self, work, *arguments):
        future = Future()
        try:
            future.set_result(self._change(work(*arguments)))
        except Exception as error:
            future.set_exception(error)
        return future


def failing(error):
    def fail(_):
        raise error

    return fail


class OurDeath(Exception):
    pass


class OurEnd(Exception):
    pass


class TestWhatGoesWrong:
    @pytest.mark.parametrize(
        ("error", "kind", "message"),
        [
            (ModuleNotFoundError("No module named 'nodeattrs'"), "other-version", "cannot do it: No module named"),
            (OurDeath(), "worker-died", "over the same nodes"),
            (OurEnd(), "cluster-gone", "the cluster has gone"),
        ],
    )
    def test_what_an_executor_raises_is_said_in_our_words(self, error, kind, message):
        workers = Workers(Answering(failing(error)), deaths=(OurDeath,), ends=(OurEnd,))
        with pytest.raises(FleetError, match=message) as refused:
            list(each(doubled, range(3), executor=workers))

        assert (kind, error) == (refused.value.kind, refused.value.__cause__)

    def test_work_that_was_let_go_is_said(self):
        class Forgetting(Executor):
            def submit(self, *_):
                future = Future()
                future.cancel()
                return future

        with pytest.raises(FleetError, match="the cluster has gone, or let go of the work; what was saved is kept"):
            list(each(doubled, range(3), executor=Forgetting()))

    def test_a_fault_of_the_work_itself_is_not_hidden(self):
        with pytest.raises(ZeroDivisionError):
            list(each(failing(ZeroDivisionError()), range(3), executor=Answering(lambda came: came)))

    def test_a_cluster_without_workers_is_not_waited_for(self, monkeypatch):
        class Silent(Executor):
            def submit(self, *_):
                return Future()

        monkeypatch.setattr(batches, "PATIENCE_SECONDS", 0.3)
        with pytest.raises(FleetError, match="no worker any more"):
            list(each(doubled, range(3), executor=Workers(Silent(), width=lambda: 0)))

    @pytest.mark.parametrize("seconds", [-3600, 3600])
    def test_another_clock_is_refused_where_other_machines_work(self, seconds):
        """
        --since goes by the times of revisions.
        """
        wrong = Answering(lambda came: came._replace(at=came.at + seconds))
        with pytest.raises(FleetError, match=r"the clock of .* is another one: [+-]\d{4} seconds"):
            list(each(doubled, range(3), executor=Workers(wrong, elsewhere=True)))
        assert [0, 2, 4] == list(each(doubled, range(3), executor=Workers(wrong)))

    def test_another_version_is_refused(self, monkeypatch):
        def elsewhere(work, task, *arguments):
            monkeypatch.setattr(batches, "VERSION", "0.0.9")
            return work(task, *arguments)

        class Older(Executor):
            def submit(self, work, *arguments):
                return Answering(lambda came: came).submit(elsewhere, work, *arguments)

        with pytest.raises(FleetError, match=r"has nodeattrs 0\.0\.9, and here it is"):
            list(each(doubled, range(3), executor=Older()))


class TestAroundABatch:
    def test_the_collector_is_off_within_and_as_it_was_behind(self):
        """
        Of threads that come and go the last one turns it on again.
        """

        def look(_):
            time.sleep(0.001)
            return gc.isenabled()

        assert gc.isenabled()
        with ThreadPoolExecutor(4) as threads:
            assert {False} == set(each(look, range(100), executor=threads))
        assert gc.isenabled()

    def test_limits_travel_with_the_work(self):
        with ThreadPoolExecutor(1) as threads, limited(values=77):
            assert [77] == list(each(lambda _: in_force().values, [1], executor=threads))


class TestElsewhere:
    @pytest.mark.parametrize("store", [".nodeattrs/nodes.db", "kept", "sqlite:///srv/nodes.db"])
    def test_a_store_of_this_machine_is_refused(self, tmp_path, store):
        repository(tmp_path, {"roles/web.json": {"name": "web"}})

        with pytest.raises(BadArgument, match="is on this machine"):
            sent_elsewhere(Fleet(str(tmp_path), store))

    def test_nothing_is_shipped_to_ourselves(self, tmp_path, capsys):
        repository(tmp_path, {"nodes/web1.json": {"name": "web1"}})
        words = ["fleet", "resolve", "--repo", str(tmp_path), "--store", str(tmp_path / "nodes.db"), "--ship"]

        assert 2 == main(words)
        assert "--ship is about workers on other machines" in capsys.readouterr().err
