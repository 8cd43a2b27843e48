"""Who does the work of a fleet is a word, and what a fleet makes of workers that go away."""

import os
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from nodeattrs.cli import main
from nodeattrs.core.budget import in_force, limited
from nodeattrs.dialects.chef.fleet import Fleet, compared, shipped
from nodeattrs.errors import BadArgument, FleetError, MissingExtra
from nodeattrs.workers import batches
from nodeattrs.workers.batches import Workers, each, open_workers
from tests.on_disk import repository


def doubled(number):
    return 2 * number


def process_of(number):
    return os.getpid()


def first_chunk_or_sleep(number):
    return number if number < batches.CHUNK else time.sleep(120)


class TestWords:
    @pytest.mark.parametrize("word", ["process", "thread", "concurrent.futures:ThreadPoolExecutor"])
    def test_each_names_workers(self, word):
        with open_workers(word, 1 if word == "process" else None) as workers:
            assert [0, 2, 4] == sorted(each(doubled, range(3), executor=workers))

    def test_threads_are_as_many_as_were_asked_for(self):
        with open_workers("thread", 3) as workers:
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
        with pytest.raises(BadArgument, match=message), open_workers(word, jobs):
            pass

    def test_without_the_library_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)

        with pytest.raises(MissingExtra, match=r"nodeattrs\[dask\]"), open_workers("dask:tcp://127.0.0.1:1"):
            pass


@pytest.mark.skipif(bool(batches.without_processes()), reason="processes cannot share locks here")
class TestProcessesOfSeveralCalls:
    def test_all_calls_have_the_same_processes(self):
        with open_workers("process", 2) as workers:
            one, other = (set(each(process_of, range(64), executor=workers)) for _ in range(2))

        assert 1 <= len(one | other) <= 2
        assert os.getpid() not in one | other

    def test_few_names_start_no_process(self):
        with open_workers("process") as workers:
            assert {os.getpid()} == set(each(process_of, range(3), executor=workers))

    @pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
    def test_an_interrupt_ends_them_at_once(self):
        began = time.monotonic()
        with open_workers("process", 2) as workers:
            results = each(first_chunk_or_sleep, range(64), executor=workers)
            assert 0 == next(results)
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt)
            time.sleep(1)  # for an error in the pool's own thread

        assert time.monotonic() - began < 60


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
            (OurEnd(), "cluster-gone", "the cluster does not answer"),
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

        with pytest.raises(
            FleetError, match="the cluster does not answer, or has dropped the work; what was saved is kept"
        ):
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
    def test_limits_travel_with_the_work(self):
        with ThreadPoolExecutor(1) as threads, limited(values=77):
            assert [77] == list(each(lambda _: in_force().values, [1], executor=threads))


class TestElsewhere:
    @pytest.mark.parametrize("store", [".nodeattrs/nodes.db", "kept", "sqlite:///srv/nodes.db"])
    def test_a_store_of_this_machine_is_refused(self, tmp_path, store):
        repository(tmp_path, {"roles/web.json": {"name": "web"}})

        fleet = Fleet(str(tmp_path), store)
        with pytest.raises(BadArgument, match="is on this machine"):
            compared(fleet)
        with pytest.raises(BadArgument, match="is on this machine"):
            shipped(fleet, [])

    def test_nothing_is_shipped_to_ourselves(self, tmp_path, capsys):
        repository(tmp_path, {"nodes/web1.json": {"name": "web1"}})
        words = ["fleet", "resolve", "--repo", str(tmp_path), "--store", str(tmp_path / "nodes.db"), "--ship"]

        assert 2 == main(words)
        assert "--ship is about workers on other machines" in capsys.readouterr().err
