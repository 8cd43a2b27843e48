"""Many nodes at once: all of them are saved, failures are collected, and it goes on where it stopped."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from nodeattrs.cache import CACHE
from nodeattrs.cli import main
from nodeattrs.dialects.chef.fleet import Fleet, NodeOutcome, resolve, still_to_do
from nodeattrs.dialects.chef.reports.fleet import FleetReport
from nodeattrs.errors import BadArgument, NodeattrsError, RecipeFailed, StoreError
from nodeattrs.reports.screen import Screen
from nodeattrs.store import Store, open_store
from nodeattrs.store.saved_nodes import set_normal
from nodeattrs.workers import batches
from nodeattrs.workers.batches import jobs_for, processors, without_processes
from tests.effort import EFFORT
from tests.on_disk import repository

FEWER = 2 if EFFORT < 1 else 1
"""Of rows that start processes of their own `make test` takes every second, `make slow` each."""
needs_processes = pytest.mark.skipif(bool(without_processes()), reason="processes cannot share locks here")
NAMES = [f"web{number}" for number in range(12)]
FILES = {
    "cookbooks/app/attributes/default.py": 'default["app"]["name"] = node["fqdn"]\n',
    "cookbooks/app/recipes/default.py": "if node.name == 'web7':\n    raise ValueError('no')\n",
    **{f"nodes/{name}.json": {"name": name, "run_list": ["recipe[app]"]} for name in NAMES},
    **{f"facts/{name}.json": {"fqdn": f"{name}.example.com", "platform": "ubuntu"} for name in NAMES},
}


@pytest.fixture
def fleet(tmp_path, monkeypatch):
    repository(tmp_path / "repo", FILES)
    monkeypatch.chdir(tmp_path)
    return Fleet(str(tmp_path / "repo"), str(tmp_path / "nodes.db"), str(tmp_path / "repo" / "facts"))


def judged(fleet, outcomes):
    """What must hold whoever did the work."""
    outcomes = list(outcomes)
    assert sorted(NAMES) == sorted(outcome.name for outcome in outcomes)
    assert ["web7"] == [outcome.name for outcome in outcomes if outcome.error]
    store = open_store(fleet.store)
    assert sorted(NAMES) == store.names()
    assert ["web7"] == [name for name, latest in store.latest() if not latest.noted.ok]
    for name in set(NAMES) - {"web7"}:
        assert f"{name}.example.com" == store.load(name).document["default"]["app"]["name"]


class TestWhoDoesTheWork:
    def test_with_one_job_this_process_runs_all_nodes(self, fleet):
        judged(fleet, resolve(fleet, NAMES, jobs=1))

    def test_several_jobs_run_nodes_in_several_processes(self, fleet):
        judged(fleet, resolve(fleet, NAMES, jobs=2))

    def test_nodes_run_on_any_executor_of_concurrent_futures(self, fleet):
        with ThreadPoolExecutor(3) as executor:
            judged(fleet, resolve(fleet, NAMES, executor=executor))
            assert 4 == executor.submit(lambda: 4).result()

    def test_threads_give_what_one_process_gives(self, fleet):
        """
        Each thread has a node of its own; the files of the repository they share.
        """
        alone = replace(fleet, store=f"{fleet.store}.alone.db")
        list(resolve(alone, NAMES, jobs=1))
        with ThreadPoolExecutor(8) as executor:
            for _ in range(3):
                outcomes = list(resolve(fleet, NAMES, executor=executor))
                assert {"web7"} == {outcome.name for outcome in outcomes if outcome.error}, outcomes

        here, there = open_store(alone.store), open_store(fleet.store)
        for name in NAMES:
            assert here.load(name).document == there.load(name).document
            assert 3 == there.load(name).revision.number

    @needs_processes
    def test_processes_that_were_not_forked(self, fleet):
        """
        All that is sent can be pickled, and what comes back too.
        """
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
            judged(fleet, resolve(fleet, NAMES, executor=executor, collect=length_of_log))
            outcomes = list(resolve(fleet, ["web1", "web7"], executor=executor, collect=length_of_log))
        assert [("web1", 0), ("web7", "RecipeFailed")] == [(outcome.name, outcome.collected) for outcome in outcomes]

    def test_an_executor_that_stays_sees_what_has_changed(self, fleet, tmp_path):
        """
        Files are read once for a call, and not once for all.
        """
        with ThreadPoolExecutor(1) as executor:
            for name in ("one", "two"):
                attributes = tmp_path / "repo/cookbooks/app/attributes/default.py"
                attributes.write_text(f'default["app"]["name"] = "{name}"\n')
                (outcome,) = resolve(fleet, ["web1"], executor=executor)
                assert name == open_store(fleet.store).load("web1", outcome.revision).document["default"]["app"]["name"]

    def test_few_nodes_are_not_worth_processes(self, fleet, monkeypatch):
        monkeypatch.setattr(batches, "ProcessPoolExecutor", lambda *_: pytest.fail("a process was started"))

        few = 2 * batches.CHUNK - 1
        assert few == len(list(resolve(replace(fleet, save=False), ["web1"] * few)))
        assert (1, processors()) == (jobs_for(few), jobs_for(few + 1))

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_outcomes_of_workers_come_in_the_order_of_the_nodes(self, fleet, jobs):
        """
        However long each takes.
        """
        names = [*NAMES[::-1], *NAMES]

        assert names == [outcome.name for outcome in resolve(fleet, names, jobs=jobs, in_order=True)]

    def test_no_process_is_too_few(self, fleet):
        with pytest.raises(BadArgument):
            list(resolve(fleet, NAMES, jobs=0))


def length_of_log(name, came, log):
    return type(came).__name__ if isinstance(came, NodeattrsError) else len(log)


class Counting(Executor):
    """Does everything at once, and counts how much was asked for before anything was taken."""

    def __init__(self):
        self.given = 0

    def submit(self, work, *arguments):
        self.given += len(arguments[2])
        future = Future()
        future.set_result(batches._ChunkResult([NodeOutcome(name) for name in arguments[2]], "here", time.time()))
        return future


class TestHowMuchAtOnce:
    def test_nodes_stream_through(self, fleet):
        """
        Of a million names only so many are read before the first outcome is there.
        """
        executor = Counting()
        outcomes = resolve(fleet, (f"n{number}" for number in range(1_000_000)), executor=executor)
        next(outcomes)

        assert executor.given <= batches.CHUNK * batches.UNDER_WAY
        outcomes.close()

    def test_a_worker_that_died_is_said(self, fleet):
        class Broken(Executor):
            def submit(self, *_):
                future = Future()
                future.set_exception(BrokenProcessPool("gone"))
                return future

        with pytest.raises(NodeattrsError, match="has died"):
            list(resolve(fleet, NAMES, executor=Broken()))

    @needs_processes
    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell of other processes")
    def test_workers_do_not_outlive_a_fleet_that_was_killed(self, fleet, tmp_path):
        """
        Nobody would ever end them.
        """
        (tmp_path / "repo/cookbooks/app/recipes/default.py").write_text(SLEEPING)
        parent = started("fleet", "resolve", *words("--jobs", "2"))
        workers = workers_in(tmp_path)
        assert [True, True] == list(map(is_at_work, workers))
        parent.kill()
        parent.wait()

        wait_until(lambda: not any(map(is_at_work, workers)))


SLEEPING = """\
import os, pathlib, time
pathlib.Path(f"pid{os.getpid()}").touch()
time.sleep(60)
"""


def started(*command):
    """A command that runs beside the test, in a process group of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "nodeattrs", *command]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, process_group=0)


def workers_in(folder):
    """The numbers of two processes that run `SLEEPING`, once they do."""
    wait_until(lambda: len(list(folder.glob("pid*"))) == 2)
    return [int(file.name[3:]) for file in folder.glob("pid*")]


def is_at_work(pid):
    """Whether a process is there, and not only waiting for somebody to take note of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(is_so, seconds=20):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.05)


class TestStopping:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_no_other_node_is_begun(self, fleet, jobs):
        """
        What has begun comes to its end and is given, in order.
        """
        names = [f"new{number:03}" for number in range(500)]
        unsaved = replace(fleet, save=False, facts=f"{fleet.facts}/web1.json")
        taken = []
        for outcome in resolve(unsaved, names, jobs=jobs, stopping=lambda: len(taken) >= 3, in_order=True):
            taken.append(outcome.name)

        assert names[:3] == taken[:3]
        assert sorted(taken) == taken
        assert len(taken) < len(names)

    def test_a_node_that_waits_to_be_saved_does_not_keep_the_fleet_running(self, fleet):
        """
        Nodes are saved a chunk at a time, and stopped one at a time.
        """
        asked = iter([False, False, False, True])

        assert NAMES[:3] == [one.name for one in resolve(fleet, NAMES, jobs=1, stopping=lambda: next(asked))]
        assert NAMES[:3] == open_store(fleet.store).names()

    def test_any_executor_is_left_open(self, fleet):
        """
        Handfuls that have not begun are called back.
        """
        gate = threading.Event()
        with ThreadPoolExecutor(1) as executor:
            executor.submit(gate.wait)
            asked = iter([False, True, True, True])
            outcomes = resolve(fleet, NAMES, executor=executor, stopping=lambda: next(asked))
            assert [] == list(outcomes)
            gate.set()
            assert 4 == executor.submit(lambda: 4).result()
        assert [] == open_store(fleet.store).names()


class TestSavedTogether:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_every_reported_node_of_a_fleet_is_saved(self, fleet, jobs, monkeypatch):
        """
        Whoever is stopped at any moment loses only what nobody was shown, and that is done by the next call.
        """
        monkeypatch.setattr("nodeattrs.dialects.chef.fleet.CHUNK", 4)
        began, store = datetime.now(UTC), open_store(fleet.store)
        names = [name for name in NAMES if name != "web7"]
        for outcome in resolve(fleet, names, jobs=jobs):
            assert outcome.revision == store.load(outcome.name).revision.number
            if jobs == 1:
                break

        left = still_to_do(store, names, began)
        assert 2 == jobs or 0 < len(left) < len(names)
        assert all(outcome.revision == 1 for outcome in resolve(fleet, left, jobs=1))
        assert [] == still_to_do(store, names, began)

    def test_nodes_with_a_collected_report_are_saved_in_one_transaction(self, fleet, monkeypatch):
        sizes = []
        save_all = Store.save_all

        def counted(store, saves):
            sizes.append(len(saves))
            return save_all(store, saves)

        monkeypatch.setattr(Store, "save_all", counted)
        names = [name for name in NAMES if name != "web7"][:6]

        list(resolve(fleet, names, jobs=1, collect=length_of_log))

        assert [6] == sizes

    def test_a_search_finds_the_nodes_before(self, fleet, tmp_path):
        recipe = tmp_path / "repo/cookbooks/app/recipes/default.py"
        recipe.write_text("node.normal['seen'] = [one['name'] for one in search('node', 'name:*', {'name': 'fqdn'})]\n")

        list(resolve(fleet, NAMES[:3], jobs=1))

        seen = [open_store(fleet.store).load(name).document["normal"]["seen"] for name in NAMES[:3]]
        assert [[], ["web0.example.com"], ["web0.example.com", "web1.example.com"]] == seen

    def test_one_that_somebody_else_saves_meanwhile_fails_alone(self, fleet, tmp_path):
        recipe = tmp_path / "repo/cookbooks/app/recipes/default.py"
        recipe.write_text(
            "from nodeattrs.store import Saved, open_store\n"
            f"if node.name == 'web1':\n    open_store({fleet.store!r}).save(Saved('web1', {{'name': 'web1'}}))\n"
        )

        outcomes = list(resolve(fleet, NAMES[:4], jobs=1))

        assert NAMES[:4] == [outcome.name for outcome in outcomes]
        assert [1, None, 1, 1] == [outcome.revision for outcome in outcomes]
        assert "another process has saved the node 'web1'" in outcomes[1].error
        assert 1 == open_store(fleet.store).load("web1").revision.number

    def test_a_chunk_that_two_workers_run_has_the_failures_that_the_first_one_saved(self, fleet):
        """With their codes, as far as the notes of the revision tell them."""

        class Twice(Executor):
            def submit(self, call, /, *arguments, **more):
                call(*arguments, **more)
                future = Future()
                future.set_result(call(*arguments, **more))
                return future

        [failed] = resolve(fleet, ["web7"], executor=Twice())
        lines = list(FleetReport([failed], 1, 1.0).lines(Screen()))

        assert (failed.error.partition(" ")[0], failed.revision) == ("RecipeFailed", 1)
        assert lines[0].endswith(f" [{RecipeFailed.entry.code}]")
        assert not any("[]" in line for line in FleetReport([replace(failed, code="")], 1, 1.0).lines(Screen()))

    def test_a_node_that_is_named_twice_goes_on_from_what_it_left(self, fleet):
        assert [1, 1, 2] == [one.revision for one in resolve(fleet, ["web1", "web2", "web1"], jobs=1)]

    def test_a_store_that_has_gone_is_the_error_of_each(self, fleet, monkeypatch):
        def gone(self, saves):
            raise StoreError("the disk is full")

        monkeypatch.setattr("nodeattrs.store.engines.sqlite.SqliteStore.save_all", gone)

        outcomes = list(resolve(fleet, NAMES[:3], jobs=1))

        assert [(name, "the disk is full", None) for name in NAMES[:3]] == [
            (one.name, one.error, one.revision) for one in outcomes
        ]


LAYERED = {
    **FILES,
    "nodeattrs.toml": 'hiera = "hiera"\n',
    "roles/web.json": {"name": "web", "run_list": ["recipe[app]"], "override_attributes": {"app": {"port": 80}}},
    "environments/testing.yaml": "name: testing\ndefault_attributes: {app: {port: 1, debug: true}}\n",
    "data_bags/users/ann.json": {"id": "ann", "uid": 7},
    "cookbooks/app/attributes/data.yaml": "default: {app: {list: [1]}}\n",
    "cookbooks/app/recipes/default.py": (
        "node.default['app']['keys'] = lookup('keys')\n"
        "node.default['app']['motd'] = lookup('motd')\n"
        "node.override['app']['uid'] = data_bag_item('users', 'ann')['uid']\n"
        "if node.name == 'web7':\n    lookup('nowhere')\n"
    ),
    "hiera/hiera.yaml": (
        "version: 5\nhierarchy:\n- {name: node, path: 'nodes/%{trusted.certname}.yaml'}\n"
        "- {name: environment, path: '%{environment}.yaml'}\n- {name: common, path: common.yaml}\n"
    ),
    "hiera/data/nodes/web1.yaml": "keys: {a: [1], c: {d: 1}}\n",
    "hiera/data/testing.yaml": "keys: {a: [2], b: 2}\nmotd: testing\n",
    "hiera/data/common.yaml": "keys: {a: [3], c: {e: 3}}\nmotd: '%{fqdn}'\nlookup_options: {keys: {merge: deep}}\n",
    **{
        f"nodes/{name}.json": {
            "name": name,
            "run_list": ["role[web]"],
            "chef_environment": "testing" if name < "web3" else "_default",
        }
        for name in NAMES
    },
}


class TestTheCacheOfAProcess:
    @pytest.mark.parametrize("workers", ["one process", "threads"])
    def test_the_cache_of_a_process_changes_no_saved_byte(self, tmp_path, monkeypatch, workers):
        """
        Of a first run, of one in which nothing has changed, and of one after a change of data.
        """
        repository(tmp_path / "repo", LAYERED)
        monkeypatch.chdir(tmp_path)
        data = tmp_path / "repo/hiera/data/common.yaml"
        before = data.read_text()
        saved = {}
        without_cache = partial(mock.patch.object, CACHE, "get", lambda key, make: make())
        for name, switched in {"on": nullcontext, "off": without_cache}.items():
            data.write_text(before)
            fleet = Fleet(str(tmp_path / "repo"), str(tmp_path / f"{name}.db"), str(tmp_path / "repo" / "facts"))
            with switched():
                saved[name] = [bytes_of(fleet, workers), bytes_of(fleet, workers)]
                data.write_text(before.replace("[3]", "[4]"))
                saved[name] += [bytes_of(fleet, workers)]

        assert saved["on"] == saved["off"]
        assert saved["on"][1] != saved["on"][2]


def bytes_of(fleet, workers):
    """Runs all nodes, and gives what came of each: the error, the document and the snapshot."""
    with ThreadPoolExecutor(3) as threads:
        how = {"executor": threads} if workers == "threads" else {"jobs": 1}
        errors = {outcome.name: outcome.error for outcome in resolve(fleet, NAMES, **how)}
    assert ["web7"] == [name for name, error in errors.items() if error]
    store = open_store(fleet.store)
    return [
        json.dumps([name, errors[name], saved.document, saved.snapshot]).encode()
        for name in NAMES
        for saved in [store.load(name)]
    ]


class TestFacts:
    def test_a_node_without_a_file_has_the_facts_of_its_last_run(self, fleet, tmp_path):
        list(resolve(fleet, ["web1"], jobs=1))
        (tmp_path / "repo" / "facts" / "web1.json").unlink()

        (outcome,) = resolve(fleet, ["web1"], jobs=1)
        assert (2, "") == (outcome.revision, outcome.error)
        assert "web1.example.com" == open_store(fleet.store).load("web1").document["automatic"]["fqdn"]

    def test_a_first_run_that_failed_left_no_facts(self, fleet, tmp_path):
        list(resolve(fleet, ["web7"], jobs=1))
        (tmp_path / "repo" / "facts" / "web7.json").unlink()

        (outcome,) = resolve(fleet, ["web7"], jobs=1)
        assert "no facts are known of the node web7" in outcome.error

    def test_a_slip_in_the_place_of_the_facts_is_told(self, fleet):
        (outcome,) = resolve(replace(fleet, facts="nosuch"), ["web1"], jobs=1)

        assert outcome.error.startswith("nosuch: ")

    def test_a_node_of_which_nothing_is_known_fails_by_itself(self, fleet):
        first, second = resolve(fleet, ["db9", "web1"], jobs=1)

        assert "no facts are known of the node db9" in first.error
        assert "" == second.error


class TestGoingOn:
    def test_what_was_done_since_then_is_not_done_again(self, fleet):
        began = datetime.now(UTC)
        list(resolve(fleet, NAMES[:5], jobs=1))

        assert NAMES[5:] == still_to_do(open_store(fleet.store), NAMES, began)
        assert NAMES == still_to_do(open_store(fleet.store), NAMES, datetime.now(UTC))

    def test_resuming_a_fleet_counts_runs_and_no_other_revisions(self, fleet):
        """
        Who sets an attribute of a node has not run it, and does not hide that it ran.
        """
        list(resolve(fleet, ["web1", "web7"], jobs=1))
        store, since = open_store(fleet.store), datetime.now(UTC)
        for name in ("web1", "web7"):
            set_normal(store, name, ("tier",), "gold")

        assert ["web1", "web7"] == still_to_do(store, ["web1", "web7"], since)
        assert ["web7"] == still_to_do(store, ["web1", "web7"], datetime.fromtimestamp(0, UTC))


class TestTheCommand:
    def test_failures_are_told_at_the_end(self, fleet, capsys):
        began = datetime.now(UTC).isoformat()
        words = ("fleet", "resolve", "--repo", "repo", "--facts", "repo/facts", "--jobs", "1")

        assert 1 == main(words)
        out = capsys.readouterr().out
        assert out.startswith("web7: cookbooks/app/recipes/default.py:2: recipe app::default failed")
        assert out.splitlines()[-1].startswith("12 nodes")
        assert 1 == main([*words, "--since", began, "--format", "json"])
        told = json.loads(capsys.readouterr().out)
        assert (["web7"], 11) == ([node["name"] for node in told["nodes"]], told["skipped"])

    def test_a_slip_in_the_place_of_the_facts_is_told_once(self, fleet, capsys):
        for command in (("fleet", "resolve"), ("run", "--all")):
            assert 1 == main((*command, "--repo", "repo", "--facts", "repo/fatcs"))
            assert capsys.readouterr().err.startswith(
                "error: repo/fatcs: cannot be read: no such file or directory [NA0405]\n"
            )

    def test_a_search_says_which(self, fleet, capsys):
        main(("fleet", "resolve", "--repo", "repo", "--facts", "repo/facts", "--jobs", "1"))
        capsys.readouterr()

        assert 0 == main(("fleet", "resolve", "--repo", "repo", "--query", "name:web3", "--jobs", "1"))
        assert re.fullmatch(r"1 node(, \d+ a second)?, 0 failed\n", capsys.readouterr().out)


INTERRUPTING = """\
import os, signal, time
who = {"here": os.getpid, "above": os.getppid}.get(os.environ.get("INTERRUPT"))
if who and node.name == "web0":
    os.kill(who(), signal.SIGINT)
elif who:
    time.sleep(0.3)
"""


def words(*more):
    return ("--repo", "repo", "--facts", "repo/facts", "--store", "nodes.db", *more)


def process(command, **environment):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment}
    command = [sys.executable, "-m", "nodeattrs", *command]
    return subprocess.run(command, env=environment, text=True, timeout=60, capture_output=True)


def called(command, capsys):
    """What `process` gives, of a command that runs in this process."""
    capsys.readouterr()
    code = main(command)
    return subprocess.CompletedProcess(command, code, *capsys.readouterr())


NO_LOCKS = """\
import _multiprocessing

class SemLock(_multiprocessing.SemLock):
    def __new__(cls, *_):
        raise PermissionError(13, "Permission denied")

_multiprocessing.SemLock = SemLock
"""


@needs_processes
class TestWithoutSharedMemory:
    """A container in which /dev/shm cannot be written to; Python loads `sitecustomize` before all else."""

    @pytest.mark.parametrize(
        "command",
        [
            ("run", "--all", "--why-run", *words("--jobs", "2")),
            ("fleet", "resolve", "--why-run", *words("--jobs", "2", "--format", "json")),
            ("what-if", "--without", "recipe[app]", "--repo", "repo", "--jobs", "2"),
        ],
        ids=["run", "fleet", "what-if"],
    )
    def test_one_process_does_the_work_and_says_so(self, fleet, tmp_path, capsys, command):
        (tmp_path / "first").mkdir()
        (tmp_path / "first/sitecustomize.py").write_text(NO_LOCKS)
        usual = called(command, capsys)
        path = f"{tmp_path / 'first'}{os.pathsep}{Path(__file__).parents[1]}"
        refused = process(command, PYTHONPATH=path)

        assert (usual.returncode, usual.stdout) == (refused.returncode, refused.stdout)
        assert "" != usual.stdout
        said = (
            "warning: several processes cannot share locks here (Permission denied): this process does all the work"
            " [NA0001]\n"
        )
        assert usual.stderr == refused.stderr.replace(said, "")
        assert 1 == refused.stderr.count(said)

    def test_a_few_nodes_need_no_processes(self, fleet, tmp_path):
        (tmp_path / "sitecustomize.py").write_text(NO_LOCKS)
        path = f"{tmp_path}{os.pathsep}{Path(__file__).parents[1]}"
        said = process(("run", "--node", "web1", *words()), PYTHONPATH=path)

        assert (0, "") == (said.returncode, said.stderr)


class TestRunAll:
    @needs_processes
    @pytest.mark.parametrize("form", ["text", "yaml", "json"][::FEWER])
    def test_what_is_seen_does_not_depend_on_who_did_the_work(self, fleet, capsys, tmp_path, form):
        """
        Reports in the order of the nodes, warnings once, what was logged before a failure, and the exit code.
        """
        (tmp_path / "repo/roles").mkdir()
        (tmp_path / "repo/roles/web.json").write_text('{"name": "web", "descripton": "x", "run_list": ["app"]}')
        recipe = "log(f'{node.name} is here')\nif node.name == 'web7':\n    raise ValueError('no')\n"
        (tmp_path / "repo/cookbooks/app/recipes/default.py").write_text(recipe)
        command = ("run", "--all", *words("--run-list", "role[web]", "--format", form))
        said = []
        for jobs in ("1", "3"):
            assert 1 == main((*command, "--why-run", "--jobs", jobs))
            said.append(capsys.readouterr())

        assert said[0] == said[1]
        assert 1 == said[0].err.count("did you mean description?")
        assert "info: web7 is here" in said[0].err
        assert "the run of web7 failed\nerror: cookbooks/app/recipes/default.py:3: " in said[0].err
        assert "  cookbooks/app/recipes/default.py:3: raise ValueError('no')" in said[0].err
        if form == "json":
            assert sorted(set(NAMES) - {"web7"}) == [run["node"] for run in json.loads(said[0].out)["runs"]]
        if form == "text":
            assert said[0].out.index("web10 in _default") < said[0].out.index("web2 in _default")

    def test_run_of_all_nodes_saves_and_reports_changes(self, fleet, capsys):
        """
        As one process does: the second run is compared with the first.
        """
        for _ in range(2):
            main(("run", "--all", *words("--jobs", "2", "--format", "json", "-E", "_default")))
            out = capsys.readouterr().out
        assert {0} == {len(run["changes"]) for run in json.loads(out)["runs"]}
        assert {2} == {latest.number for _, latest in open_store("nodes.db").latest()}

    def test_facts_and_attributes_from_files(self, fleet, capsys):
        """
        Each process reads them for itself.
        """
        Path("attributes.json").write_text('{"tier": "gold"}')
        command = ("run", "--all", "--repo", "repo", "--store", "nodes.db", "-j", "attributes.json", "--jobs", "2")
        assert 1 == main((*command, "--facts", "repo/facts/web3.json", "--format", "json"))
        document = open_store("nodes.db").load("web5").document

        assert ("gold", "web3.example.com") == (document["normal"]["tier"], document["automatic"]["fqdn"])

    def test_only_what_is_left(self, fleet, capsys, tmp_path):
        """
        --since skips what a good run has done.
        """
        began = datetime.now(UTC).isoformat()
        main(("run", "--all", *words()))
        capsys.readouterr()
        command = ("run", "--all", *words("--since", began, "--format", "json"))
        assert 1 == main(command)
        said = capsys.readouterr()
        told = json.loads(said.out)
        assert ([], ["web7"]) == (told["runs"], [one["node"] for one in told["failed"]])
        assert told["failed"][0]["error"].startswith("cookbooks/app/recipes/default.py:2: recipe app::default failed")
        assert said.err.startswith("11 of 12 nodes are done already\nerror: cookbooks/app/recipes/default.py:2: ")
        (tmp_path / "repo/cookbooks/app/recipes/default.py").write_text("")

        assert 0 == main(command)
        assert ["web7"] == [run["node"] for run in json.loads(capsys.readouterr().out)["runs"]]
        assert 0 == main(command)
        assert [] == json.loads(capsys.readouterr().out)["runs"]

    def test_since_is_about_all(self, fleet, capsys):
        assert 2 == main(("run", "--node", "web1", "--since", "2030-01-31", *words()))


class TestCtrlC:
    @pytest.mark.parametrize(
        ("jobs", "whom", "command"),
        [
            ("2", "above", ("fleet", "resolve")),
            ("2", "above", ("run", "--all")),
            ("1", "here", ("run", "--all")),
            ("1", "here", ("fleet", "resolve")),
        ][::FEWER],
    )
    def test_it_tells_what_was_done_and_how_to_go_on(self, fleet, tmp_path, capsys, command, jobs, whom):
        """
        Nodes that are running come to their end, and no other is begun; the command that is printed does the rest.
        """
        (tmp_path / "repo/cookbooks/app/recipes/default.py").write_text(INTERRUPTING)
        command = (*command, *words("--jobs", jobs, "--format", "json"))
        said = process(command, INTERRUPT=whom)
        done = open_store("nodes.db").names()
        told = json.loads(said.stdout)
        first, way_on = said.stderr.splitlines()

        assert (130, "interrupted; go on with:") == (said.returncode, first)
        assert 1 <= len(done) < 12
        assert done == sorted(one.get("name") or one["node"] for one in told.get("nodes") or told["runs"])
        assert way_on.startswith(f"  nodeattrs {' '.join(command)} --since 20")
        again = called(way_on.split()[1:], capsys)
        assert (0, "") == (again.returncode, again.stderr.partition("are done already\n")[2])
        assert {1} == {latest.number for _, latest in open_store("nodes.db").latest()}
        assert NAMES == sorted(open_store("nodes.db").names(), key=NAMES.index)

    @needs_processes
    @pytest.mark.parametrize("command", [("fleet", "resolve"), ("run", "--all")][::FEWER])
    def test_a_second_one_ends_the_fleet_and_its_workers_at_once(self, fleet, tmp_path, command):
        """
        Ctrl-C reaches every process of a terminal. No worker writes a traceback.
        """
        (tmp_path / "repo/cookbooks/app/recipes/default.py").write_text(SLEEPING)
        began = time.monotonic()
        with started(*command, *words("--jobs", "2")) as parent:
            workers = workers_in(tmp_path)
            os.killpg(parent.pid, signal.SIGINT)
            time.sleep(0.5)
            assert parent.poll() is None
            assert [True, True] == list(map(is_at_work, workers))
            os.killpg(parent.pid, signal.SIGINT)
            assert 130 == parent.wait(30)
            told = parent.stderr.read()

        assert time.monotonic() - began < 50
        assert not any(map(is_at_work, workers))
        assert "interrupted; go on with:" == told.splitlines()[0]
        assert 2 == len(told.splitlines())

    def test_failures_end_with_the_same_hint(self, fleet, capsys):
        """
        It keeps the time of the first call, so that what was good before is skipped as well.
        """
        said = called(("fleet", "resolve", *words()), capsys)
        way_on = said.stderr.splitlines()[-1]
        assert (1, "to run only those again that failed:") == (said.returncode, said.stderr.splitlines()[-2])

        again = called(way_on.split()[1:], capsys)
        assert again.stdout.endswith("1 node, 1 failed, 11 skipped\n")
        assert way_on == again.stderr.splitlines()[-1]

    def test_nothing_is_to_go_on_with_where_nothing_is_saved(self, fleet, capsys):
        assert "" == called(("fleet", "resolve", *words("--why-run")), capsys).stderr
