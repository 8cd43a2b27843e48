"""A fleet on a cluster of Dask, with PostgreSQL: whatever goes away meanwhile, each node is saved once."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.dialects.chef.fleet import Fleet, compared, resolve, shipped, still_to_do
from nodeattrs.errors import FleetError
from nodeattrs.store import open_store
from nodeattrs.workers.batches import open_workers
from tests import dask_programs, postgresql_server
from tests.on_disk import repository

NAMES = [f"web{number:02}" for number in range(40)]
FILES = {
    "cookbooks/app/attributes/default.py": 'default["app"]["name"] = node["fqdn"]\n',
    "cookbooks/app/recipes/default.py": "if node.name == 'web07':\n    raise ValueError('no')\n",
    **{f"nodes/{name}.json": {"name": name, "run_list": ["recipe[app]"]} for name in NAMES},
    **{f"facts/{name}.json": {"fqdn": f"{name}.example.com", "platform": "ubuntu"} for name in NAMES},
}
DYING = """\
import os, pathlib, signal
if node.name == "web05":
    try:
        pathlib.Path({file!r}).touch(exist_ok={always})
    except FileExistsError:
        pass
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""
HALFWAY = """\
import os, pathlib, time
if node.name >= "web20":
    pathlib.Path({go!r}).touch()
    while not pathlib.Path({gone!r}).exists():
        time.sleep(0.01)
    os._exit(1)
"""
SLOW = "import time\ntime.sleep(0.25)\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr("nodeattrs.workers.batches.PATIENCE_SECONDS", 120.0)


@pytest.fixture(scope="module", autouse=True)
def server():
    if reason := postgresql_server.why_not():
        if os.environ.get(postgresql_server.VARIABLE) == "required":
            pytest.fail(f"PostgreSQL is required here, but {reason}")
        pytest.skip(reason)


def cluster():
    """The address of a real one with two workers, that gives up at the second death over the same nodes."""
    import dask
    from distributed import LocalCluster

    given_up = dask.config.set(
        {
            "distributed.scheduler.allowed-failures": 1,
            "distributed.worker.profile.enabled": False,
            "distributed.admin.tick.interval": "1s",
        }
    )
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with given_up, LocalCluster(**how) as cluster:
        yield cluster.scheduler_address


address = pytest.fixture(cluster, scope="module", name="address")
doomed = pytest.fixture(cluster, scope="class", name="doomed")
"""One whose workers are killed."""


@pytest.fixture
def fleet(tmp_path):
    repository(tmp_path / "repo", FILES)
    return Fleet(str(tmp_path / "repo"), postgresql_server.fresh(), str(tmp_path / "repo" / "facts"))


def on_cluster(fleet, address, names=NAMES, ship=False):
    with open_workers(f"dask:{address}") as workers:
        ready, pack = shipped(fleet, names) if ship else (compared(fleet), None)
        yield from resolve(ready, names, executor=workers, pack=pack)


def recipe(fleet, text):
    Path(fleet.repository, "cookbooks/app/recipes/default.py").write_text(text)


def revisions(fleet):
    """How often each node was saved."""
    store = open_store(fleet.store)
    return {name: [one.number for one in store.history(name)] for name in store.names()}


ONCE = {name: [1] for name in NAMES}


class TestTwoWorkers:
    @pytest.mark.parametrize("ship", [False, True])
    def test_two_dask_workers_save_what_one_process_saves(self, fleet, address, ship):
        alone = replace(fleet, store=postgresql_server.fresh())
        list(resolve(alone, NAMES, jobs=1))
        outcomes = list(on_cluster(fleet, address, ship=ship))

        assert sorted(NAMES) == sorted(one.name for one in outcomes)
        assert ["web07"] == [one.name for one in outcomes if one.error]
        assert ONCE == revisions(fleet)
        here, there = open_store(alone.store), open_store(fleet.store)
        for name in NAMES:
            assert here.load(name).document == there.load(name).document
            assert here.load(name).snapshot == there.load(name).snapshot


class TestAWorkerThatDies:
    def test_nothing_is_lost_and_nothing_saved_twice(self, fleet, doomed, tmp_path):
        """
        Its batch goes to another one, which passes over what was saved before the end.
        """
        recipe(fleet, DYING.format(file=str(tmp_path / "died"), always=False))
        outcomes = list(on_cluster(fleet, doomed))

        assert (tmp_path / "died").exists()
        assert sorted(NAMES) == sorted(one.name for one in outcomes)
        assert [] == [one.error for one in outcomes if one.error]
        assert ONCE == revisions(fleet)

    def test_a_node_that_kills_whoever_runs_it_ends_the_fleet_and_is_named_in_no_revision(
        self, fleet, doomed, tmp_path
    ):
        recipe(fleet, DYING.format(file=str(tmp_path / "died"), always=True))
        with pytest.raises(FleetError, match="workers have died over the same nodes; what was saved is kept"):
            list(on_cluster(fleet, doomed))

        assert {name: [1] for name in NAMES if name in revisions(fleet)} == revisions(fleet)
        recipe(fleet, "")
        left = still_to_do(open_store(fleet.store), NAMES, datetime.fromtimestamp(0, UTC))
        assert "web05" in left
        list(resolve(fleet, left, jobs=1))
        assert ONCE == revisions(fleet)


class TestTheSameRepository:
    def test_another_one_on_a_worker_ends_the_fleet(self, fleet, address):
        """
        And is not reported once for each node. Sent along, it does not matter what lies there.
        """
        other = replace(fleet, content="0" * 64)
        with open_workers(f"dask:{address}") as workers, pytest.raises(FleetError) as refused:
            list(resolve(other, NAMES, executor=workers))
        assert f"{socket.gethostname()} has another repository at {fleet.repository}" in str(refused.value)
        assert "--ship" in refused.value.hint

        nowhere = replace(other, repository="/nowhere")
        with (
            open_workers(f"dask:{address}") as workers,
            pytest.raises(FleetError, match="there is no repository at /nowhere"),
        ):
            list(resolve(nowhere, NAMES, executor=workers))

    def test_what_is_sent_is_unpacked_once_a_worker_however_many_batches(self, fleet, address):
        list(on_cluster(fleet, address, ship=True))
        with open_workers(f"dask:{address}") as workers:
            before = workers.executor._client.run(folders)
        list(on_cluster(fleet, address, ship=True))
        with open_workers(f"dask:{address}") as workers:
            assert before == workers.executor._client.run(folders)
        assert 2 == len({tuple(one) for one in before.values()})


def folders():
    from nodeattrs.workers import shipping

    return sorted(folder.name for folder in shipping.HELD.values())


class TestAStoreThatGoesAway:
    def test_it_is_said_once_and_what_is_left_is_done_when_it_is_back(self, fleet, address):
        began = datetime.now(UTC)
        recipe(fleet, SLOW)
        with postgresql_server.server() as url:
            fleet = replace(fleet, store=url)
            outcomes = on_cluster(fleet, address)
            seen = [next(outcomes)]
            refused = pytest.raises(FleetError, match="16 nodes in a row could not be loaded or saved")
            with postgresql_server.away(url), refused as gone:
                seen.extend(outcomes)
            assert "NA1404" == gone.value.code
            left = still_to_do(open_store(url), NAMES, began)
            assert {one.name for one in seen if one.error} <= set(left)
            assert {one.name for one in seen if not one.error}.isdisjoint(left)
            assert 0 < len(left) < len(NAMES)
            recipe(fleet, "")
            assert {""} == {one.error for one in on_cluster(fleet, address, left)}
            assert ONCE == revisions(fleet)


class TestASchedulerThatGoesAway:
    def test_the_command_says_so_and_how_to_go_on(self, fleet, address, tmp_path, capsys):
        """
        What was saved until then is passed over by the command that it prints.
        """
        words = ["fleet", "resolve", "--repo", fleet.repository, "--facts", fleet.facts, "--store", fleet.store]
        recipe(fleet, HALFWAY.format(go=str(tmp_path / "go"), gone=str(tmp_path / "gone")))
        with dask_programs.running(tmp_path, again=False, workers=1) as (gone, scheduler):
            killer = subprocess.Popen([sys.executable, "-c", KILLER, str(tmp_path), str(scheduler.pid)])
            assert 1 == main([*words, "--executor", f"dask:{gone}"])
            killer.wait(10)
        said = capsys.readouterr().err
        assert "the cluster does not answer, or has dropped the work; what was saved is kept [NA1403]" in said
        since = said[said.index("--since") :].split()[1]
        saved = revisions(fleet)
        assert 0 < len(saved) < len(NAMES)

        recipe(fleet, "")
        assert 0 == main([*words, "--executor", f"dask:{address}", "--since", since, "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        assert ONCE == revisions(fleet)
        assert set(saved).isdisjoint(node["name"] for node in report["nodes"])

    def test_one_that_is_not_there_is_an_error_at_once(self, fleet, monkeypatch):
        monkeypatch.setattr("nodeattrs.workers.batches.PATIENCE_SECONDS", 0.5)

        with pytest.raises(FleetError, match="no Dask scheduler answers at tcp://"):
            list(on_cluster(fleet, f"tcp://127.0.0.1:{dask_programs.free_port()}"))


KILLER = """\
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
while not (folder / "go").exists():
    time.sleep(0.01)
os.kill(int(sys.argv[2]), signal.SIGKILL)
(folder / "gone").touch()
"""
