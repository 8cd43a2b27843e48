"""Nobody's repository runs code by being looked at: a hostile one, and a package that says when it is loaded."""

from __future__ import annotations

import sys

import pytest

from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.core.code import held_back, may_run
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.cloudinit import custom
from nodeattrs.errors import UnknownLayer
from tests.on_disk import repository

RAN = 'import pathlib\npathlib.Path(__file__).with_suffix(".ran").write_text("")\n'
PACKAGE = f"""\
{RAN}
import dataclasses

def key(key, options):
    raise KeyError(key)

def sets(references, request):
    return []

class Merger:
    def __init__(self, root, options):
        pass

@dataclasses.dataclass
class Marker:
    title: str
"""
POINTS = """\
[nodeattrs.hiera]
vault = loaded_by_tests:key
[nodeattrs.bindings_providers]
vault = loaded_by_tests:sets
[nodeattrs.cloudinit_mergers]
ours = loaded_by_tests:Merger
[nodeattrs.resource_types]
Marker = loaded_by_tests:Marker
"""
HIERA = "version: 5\nhierarchy:\n- {name: vault, lookup_key: vault}\n- {name: common, path: common.yaml}\n"
SITE = "site: {layers: [{name: v, include: ['vault:/all']}, {name: low, include: ['confdir:/low']}]}\n"
FILES = {
    "packages/loaded_by_tests.py": PACKAGE,
    "packages/loaded_by_tests-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: loaded-by-tests\n",
    "packages/loaded_by_tests-1.0.dist-info/entry_points.txt": POINTS,
    "repo/nodeattrs.toml": 'hiera = "."\nbindings = "."\nstore = "kept.db"\n',
    "repo/hiera.yaml": HIERA,
    "repo/data/common.yaml": "k: 1\n",
    "repo/manifests/site.yaml": SITE,
    "repo/bindings/low.yaml": "name: low\nitems: [{kind: bind, name: k, to: {value: 1}}]\n",
    "repo/user-data": "#cloud-config\nmerge_how: [{name: ours, settings: []}]\na: 1\n",
    "repo/catalog.json": {"resources": [{"type": "Marker", "title": "x", "parameters": {}}]},
    "repo/roles/web.py": f'{RAN}name("web")\nrun_list("recipe[app]")\n',
    "repo/environments/production.py": f'{RAN}name("production")\n',
    "repo/cookbooks/app/attributes/default.py": RAN,
    "repo/cookbooks/app/recipes/default.py": f'{RAN}node.default["k"] = lookup("k")\n',
    "repo/nodes/web1.json": {"name": "web1", "chef_environment": "production", "run_list": ["role[web]"]},
    "facts.json": {"platform": "ubuntu"},
}


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """The files that have run since; the current directory is the repository."""
    repository(tmp_path, FILES)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.delitem(sys.modules, "loaded_by_tests", raising=False)
    custom._offered.cache_clear()  # what is installed is asked once a process

    def ran():
        return sorted(file.stem for file in tmp_path.rglob("*.ran"))

    yield ran
    sys.modules.pop("loaded_by_tests", None)
    custom._offered.cache_clear()


LOOKS = [
    "hiera lookup k",
    "hiera explain k",
    "hiera list",
    "hiera diff web1 web2",
    "hiera who-has k",
    "hiera unused",
    "bindings check",
    "bindings inject k",
    "bindings explain k",
    "bindings list",
    "bindings graph",
    "cloud-config merge user-data user-data",
    "cloud-config explain user-data user-data",
    "cloud-config check user-data user-data",
    "cloud-config pack user-data --merge-type ours()",
    "catalog check --from catalog.json",
    "catalog order --from catalog.json",
    "catalog explain Marker[x] --from catalog.json",
    "catalog graph --from catalog.json",
    "status",
    "show web1",
    "explain web1 k",
    "history web1",
    "diff web1",
    "search k:1",
    "store check",
    "node set web1 a 1",
    "facts --facts ../facts.json",
    "config",
    "completion bash",
    "complete explain web1 ",
    "complete hiera lookup ",
    "complete run --node ",
    "impact . . --no-run-code --facts ../facts.json --jobs 1",
    "what-if --set a=1 --no-run-code --facts ../facts.json --jobs 1",
]


@pytest.mark.parametrize("words", LOOKS)
def test_a_command_that_looks_runs_nothing(loaded, words, monkeypatch):
    """Whatever it has to say: from inside of the repository, and with its settings named."""
    monkeypatch.setenv("NODEATTRS_REPO", ".")
    main(words.split(" "))

    assert [] == loaded()


class TestWhatIsNotRun:
    def test_a_level_is_unknown_and_the_others_answer(self, loaded, capsys):
        """Exit code 5, and with --strict an error."""
        assert 5 == main(["hiera", "lookup", "k"])
        out, err = capsys.readouterr()
        assert (out, "loaded_by_tests:key is code, which was not run" in err) == ("1\n", True)
        assert 1 == main(["hiera", "lookup", "k", "--strict"])

    def test_a_provider_is_an_unknown_set(self, loaded, capsys):
        """Above the layer that binds the key."""
        assert 5 == main(["bindings", "inject", "k"])
        assert "its provider is code, which was not run" in capsys.readouterr().err

    def test_a_merger_fails_its_part(self, loaded, capsys):
        """And says how it would run."""
        assert 1 == main(["cloud-config", "check", "user-data", "user-data"])
        assert "the merger 'ours' (loaded_by_tests:Merger) is code, which was not run" in capsys.readouterr().out

    def test_a_resource_type_is_a_warning(self, loaded, capsys):
        """Its resources can be asked about all the same."""
        assert 0 == main(["catalog", "order", "--from", "catalog.json"])
        out, err = capsys.readouterr()
        assert "Marker[x]" in out
        assert "the resource type Marker (loaded_by_tests:Marker) is code, which was not run" in err

    @pytest.mark.parametrize(
        "words",
        [
            "hiera lookup k",
            "bindings check",
            "cloud-config check user-data user-data",
            "catalog check --from catalog.json",
        ],
    )
    def test_option_run_code_runs_repository_code(self, loaded, words):
        """With --run-code."""
        main([*words.split(), "--run-code"])

        assert ["loaded_by_tests"] == loaded()


@pytest.mark.parametrize(
    "words",
    [
        "run --node web1 --facts ../facts.json",
        "explain web1 k --repo . --facts ../facts.json",
        "show web1 --repo . --facts ../facts.json",
        "fleet resolve --facts ../facts.json --jobs 1",
        "catalog check --repo . --node web1 --facts ../facts.json",
        "impact . . --facts ../facts.json --dialect nodes --jobs 1",
        "what-if --set a=1 --facts ../facts.json --dialect nodes --jobs 1",
    ],
)
def test_a_command_that_is_asked_to_run_does(loaded, words):
    """Roles, environments, attribute files, recipes, and what their lookups name."""
    assert 0 == main(words.split())

    assert ["default", "default", "loaded_by_tests", "production", "web"] == loaded()


class TestTheGate:
    def test_every_script_of_a_repository_stands_behind_it(self, loaded):
        """A check reads documents, and names the rest."""
        with held_back():
            faults = checked(Repository("."), run_code=True).faults

        assert [] == loaded()
        told = [str(fault) for fault in faults if isinstance(fault, UnknownLayer)]
        assert any("the role web (roles/web.py) is code, which was not run" in one for one in told)
        assert any("the environment production (environments/production.py) is code" in one for one in told)

    def test_repository_code_may_run_in_programs_and_after_a_command(self, loaded):
        """What holds it back lets it go, also where it failed."""
        assert may_run()
        main(["hiera", "lookup", "nobody", "--strict"])
        assert may_run()


def test_no_setting_opens_it(loaded, capsys):
    """There is none that could: a file found somewhere decides nothing."""
    with open("nodeattrs.toml", "a", encoding="utf-8") as stream:
        stream.write("run_code = true\n")
    main(["hiera", "lookup", "k"])

    assert [] == loaded()
    assert "unknown field run_code" in capsys.readouterr().err
