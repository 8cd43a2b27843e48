"""Many nodes at once: all of them are saved, failures are collected, and it goes on where it stopped."""

import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.keep import open_store
from nodeattrs.runs import fleet as fleets
from nodeattrs.runs.fleet import Fleet, resolve, still_to_do
from tests.on_disk import repository

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
    fleets._repository.cache_clear()
    fleets._store.cache_clear()
    return Fleet(str(tmp_path / "repo"), str(tmp_path / "nodes.db"), str(tmp_path / "repo" / "facts"))


def judged(fleet, outcomes):
    """What must hold whoever did the work."""
    outcomes = list(outcomes)
    assert sorted(NAMES) == sorted(outcome.name for outcome in outcomes)
    assert ["web7"] == [outcome.name for outcome in outcomes if outcome.error]
    store = open_store(fleet.store)
    assert sorted(set(NAMES) - {"web7"}) == store.names()
    for name in store.names():
        assert f"{name}.example.com" == store.load(name).document["default"]["app"]["name"]


class TestWhoDoesTheWork:
    def test_this_process(self, fleet):
        judged(fleet, resolve(fleet, NAMES, jobs=1))

    def test_several_processes(self, fleet):
        judged(fleet, resolve(fleet, NAMES, jobs=2))

    def test_any_executor(self, fleet):
        with ThreadPoolExecutor(3) as executor:
            judged(fleet, resolve(fleet, NAMES, executor=executor))
            assert 4 == executor.submit(lambda: 4).result()

    def test_no_process_is_too_few(self, fleet):
        with pytest.raises(BadArgument):
            list(resolve(fleet, NAMES, jobs=0))


class Counting(Executor):
    """Does everything at once, and counts how much was asked for before anything was taken."""

    def __init__(self):
        self.given = 0

    def submit(self, work, *arguments):
        self.given += len(arguments[1])
        future = Future()
        future.set_result([fleets.Outcome(name) for name in arguments[1]])
        return future


class TestHowMuchAtOnce:
    def test_nodes_stream_through(self, fleet):
        """
        Of a million names only so many are read before the first outcome is there.
        """
        executor = Counting()
        outcomes = resolve(fleet, (f"n{number}" for number in range(1_000_000)), executor=executor)
        next(outcomes)

        assert executor.given <= fleets.HANDFUL * fleets.HANDFULS
        outcomes.close()

    def test_a_worker_that_died_is_said(self, fleet):
        class Broken(Executor):
            def submit(self, *_):
                future = Future()
                future.set_exception(BrokenProcessPool("gone"))
                return future

        with pytest.raises(NodeattrsError, match="has died"):
            list(resolve(fleet, NAMES, executor=Broken()))


class TestFacts:
    def test_a_node_without_a_file_has_the_facts_of_its_last_run(self, fleet, tmp_path):
        list(resolve(fleet, ["web1"], jobs=1))
        (tmp_path / "repo" / "facts" / "web1.json").unlink()

        (outcome,) = resolve(fleet, ["web1"], jobs=1)
        assert (2, "") == (outcome.revision, outcome.error)
        assert "web1.example.com" == open_store(fleet.store).load("web1").document["automatic"]["fqdn"]

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

    def test_a_search_says_which(self, fleet, capsys):
        main(("fleet", "resolve", "--repo", "repo", "--facts", "repo/facts", "--jobs", "1"))
        capsys.readouterr()

        assert 0 == main(("fleet", "resolve", "--repo", "repo", "--query", "name:web3", "--jobs", "1"))
        assert "1 node, 0 failed\n" == capsys.readouterr().out
