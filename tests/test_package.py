"""The package as others get it: built, looked into, installed where nothing else is.

Nothing is fetched: the plain dependency is copied from this environment.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path, PurePosixPath

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.effort import EFFORT
from tests.tutorials import followed

ROOT = Path(__file__).parents[1]
PLAIN = ["pyyaml"]
"""All that a plain install may pull."""

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]
LOCKS = {
    "dev": [*PYPROJECT["build-system"]["requires"], *PYPROJECT["project"]["dependencies"], *EXTRAS["dev"]],
    **GROUPS,
}
"""What is required of each file .ci/NAME.lock."""

SESSION = """
from nodeattrs import Node
n = Node('web1')
n.default['apache']['port'] = 80
n.override['apache']['port'] = 8080
assert n['apache']['port'] == 8080
print(n.explain('apache.port'))
"""

POLICIES = ("across", "inside", "helm", "helm-4.1", "compose", "json-merge-patch", "hiera-deep", "replace")
FOLDS = """
import sys
from nodeattrs.cli import main
for policy in sys.argv[1:]:
    assert main(["fold", ".", "--policy", policy, "--blame"]) == 0, policy
"""

FACTS_WITHOUT_EXTRA = """
from nodeattrs.errors import MissingExtra
from nodeattrs.dialects.chef.facts import gather
try:
    gather()
except MissingExtra as error:
    print(error)
"""


def run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None, umask: int = -1) -> str:
    """What a command prints; where it fails, the test fails with all that it said."""
    words = list(map(str, command))
    done = subprocess.run(words, cwd=cwd, env=env, umask=umask, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Built:
    """The two files that a release consists of."""

    wheel: Path
    sdist: Path

    def in_wheel(self) -> list[str]:
        with zipfile.ZipFile(self.wheel) as wheel:
            return wheel.namelist()

    def in_sdist(self) -> list[str]:
        """The names without the folder that holds them all."""
        with tarfile.open(self.sdist) as sdist:
            return [name.partition("/")[2] for name in sdist.getnames()]

    def metadata(self) -> dict[str, list[str]]:
        with zipfile.ZipFile(self.wheel) as wheel:
            (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
            message = message_from_bytes(wheel.read(name))
        return {
            "Text": [str(message.get_payload())],
            **{key: [str(value) for value in message.get_all(key, [])] for key in message},
        }


def copied_to(base: Path) -> Path:
    """A copy of the checkout: building leaves folders behind that later builds would pick up."""
    left_out = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    return shutil.copytree(ROOT, base / "checkout", ignore=left_out)


def build(checkout: Path, outdir: Path, *options: str, umask: int = -1) -> None:
    """Build as `make dist` does, with one date for all files."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    line = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", outdir, checkout]
    run(*line, env=environment, umask=umask)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The two files, built from a copy of the checkout."""
    base = tmp_path_factory.mktemp("package")
    build(copied_to(base), base / "dist")
    (wheel,) = (base / "dist").glob("*.whl")
    (sdist,) = (base / "dist").glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def empty(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and its two plain dependencies only."""
    base = tmp_path_factory.mktemp("empty")
    venv.create(base, with_pip=False, symlinks=True)
    programs = base / "bin"
    take_plain_dependencies(programs)
    alone = ["--no-deps", "--no-index", "--no-compile"]
    run(sys.executable, "-m", "pip", "--python", programs / "python", "install", *alone, built.wheel)
    return programs


def take_plain_dependencies(programs: Path) -> None:
    """Copy the two plain dependencies from this environment into the one that *programs* belong to."""
    place = Path(run(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in PLAIN:
        for file in importlib.metadata.files(name) or pytest.fail(f"{name} has no list of files"):
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), place / file)


class TestWheel:
    def test_the_wheel_has_every_module_and_no_tests(self, built: Built):
        """
        What is in the package folder is in the wheel: no module forgotten, no test taken along.
        """
        kinds = (".py", ".rb", ".lark", ".json", ".txt", ".html", ".css", ".js", ".svg")
        ours = {file.relative_to(ROOT).as_posix() for file in (ROOT / "nodeattrs").rglob("*") if file.suffix in kinds}

        assert ours | {"nodeattrs/py.typed"} == {name for name in built.in_wheel() if ".dist-info/" not in name}

    def test_the_wheel_has_the_licence(self, built: Built):
        """
        The full text travels with the code.
        """
        (name,) = [name for name in built.in_wheel() if PurePosixPath(name).name == "LICENSE"]
        with zipfile.ZipFile(built.wheel) as wheel:
            assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()

    def test_a_plain_install_pulls_two_libraries(self, built: Built):
        """
        Everything else is an extra.
        """
        plain = [need for need in built.metadata()["Requires-Dist"] if "extra ==" not in need]

        assert PLAIN == sorted(re.split(r"[^A-Za-z0-9._-]", need)[0].lower() for need in plain)

    def test_links_of_the_package_page_lead_to_the_repository(self, built: Built):
        """
        An index shows the README where no file of ours lies beside it: links to files are addresses there.
        """
        metadata = built.metadata()
        (source,) = [one.partition(", ")[2] for one in metadata["Project-URL"] if one.startswith("Source, ")]
        (text,) = metadata["Text"]
        links = re.findall(r"\]\(([^)#]+)", text)

        assert len(links) == len(re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text("utf-8")))
        assert [] == [link for link in links if not link.startswith("https://")]
        inside = [link.split("/main/")[1] for link in links if link.startswith(f"{source}/")]
        assert 20 < len(inside)
        assert [] == [path for path in inside if not (ROOT / path).exists()]

    def test_a_second_build_gives_the_same_bytes(self, built: Built, tmp_path: Path):
        """
        Of the tree instead of the source archive, in another folder, from files with other modes and times, by a user
        whose new files are private.
        """
        checkout = copied_to(tmp_path)
        for file in checkout.rglob("*"):
            if file.is_file():
                file.chmod(0o700)
                os.utime(file, (1_000_000_000, 1_000_000_000))
        build(checkout, tmp_path / "dist", "--wheel", umask=0o077)
        (wheel,) = (tmp_path / "dist").iterdir()

        assert wheel.name == built.wheel.name
        assert hashlib.sha256(wheel.read_bytes()).digest() == hashlib.sha256(built.wheel.read_bytes()).digest()

    def test_the_extras_are_there(self, built: Built):
        """
        An error that names an extra names one that exists.
        """
        assert {"all", "dev", "facts", "templates"} <= set(built.metadata()["Provides-Extra"])


class TestSdist:
    def test_the_source_archive_has_all_files_of_a_build(self, built: Built):
        """
        The wheel above was made from it; the rest is for people.
        """
        assert {"LICENSE", "README.md", "pyproject.toml", "nodeattrs/py.typed"} <= set(built.in_sdist())

    def test_the_source_archive_has_pages_example_and_tests(self, built: Built):
        """
        Pages, example, tests with their vectors, and the changelog.
        """
        needed = {"CHANGELOG.md", "docs/cli.md", "mkdocs.yml", "tests/test_tree.py"}
        needed |= {"tests/vectors/chef-attributes.jsonl"}
        assert needed <= set(built.in_sdist())
        assert any(name.startswith("cookbooks_example/roles/") for name in built.in_sdist())

    def test_tests_of_the_source_archive_run_from_it(self, built: Built, tmp_path: Path):
        """
        Some that need modules, a page and the example. None of them draws random values: Hypothesis would first parse
        every module.
        """
        with tarfile.open(built.sdist) as sdist:
            sdist.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer have filters
            sdist.extractall(tmp_path)
        (root,) = tmp_path.iterdir()
        files = [f"tests/test_{name}.py" for name in ("hiera_odd", "shop")]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
        done = subprocess.run(line, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


class TestInstalled:
    def test_a_first_session(self, empty: Path, tmp_path: Path):
        """
        Two levels, one winner, and the explanation names both values.
        """
        said = run(empty / "python", "-c", SESSION, cwd=tmp_path)

        assert "apache.port = 8080" in said
        assert "80" in said.replace("8080", "")

    def test_the_command_is_there(self, empty: Path, tmp_path: Path):
        """
        `nodeattrs --help` answers without any extra.
        """
        assert "explain" in run(empty / "nodeattrs", "--help", cwd=tmp_path)

    def test_files_are_folded_under_every_policy(self, empty: Path, tmp_path: Path):
        """
        No notation and no policy needs an extra.
        """
        texts = {"a.yaml": "k: {x: 1}", "b.json": '{"k": {"y": 2}}', "c.toml": "k.z = 3", "d.env": "E=1"}
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "netplan").mkdir()
        (tmp_path / "netplan" / "a.yaml").write_text("network: {version: 2}\n")
        assert "a.yaml:1" in run(empty / "nodeattrs", "fold", "netplan", "--policy", "netplan", "--blame", cwd=tmp_path)
        printed = run(empty / "python", "-c", FOLDS, *POLICIES, cwd=tmp_path)
        assert printed.count("c.toml:1") == len(POLICIES)
        assert printed.count("d.env:1") == len(POLICIES)

    @pytest.mark.parametrize("name", ["cloud-init", "python", "puppet"][: 3 if EFFORT >= 1 else 1])
    def test_a_tutorial_is_followed_without_an_extra(self, empty: Path, tmp_path: Path, name: str):
        """
        Whoever installed nothing else gets what the page shows.
        """
        page = ROOT / f"docs/tutorials/{name}.md"
        assert page.read_text("utf-8") == followed(page, tmp_path, empty)

    def test_an_absent_extra_is_named(self, empty: Path, tmp_path: Path):
        """
        Facts of this machine need psutil: the error says what to install.
        """
        assert "pip install 'nodeattrs[facts]'" in run(empty / "python", "-c", FACTS_WITHOUT_EXTRA, cwd=tmp_path)


class TestAction:
    @pytest.mark.parametrize("is_installed", [True, False][: 2 if EFFORT >= 1 else 1])
    def test_a_workspace_full_of_modules_runs_nothing(
        self, built: Built, empty: Path, tmp_path: Path, is_installed: bool
    ):
        """
        The two steps of action.yml, in the folder of a stranger: there is a file for each module that Python, pip or
        nodeattrs may import, and each would leave a mark. Nothing is fetched: the dependencies are copied.

        is_installed: the first step was done before, as it takes many seconds; `make slow` runs both
        """
        workspace, temporary, programs = (tmp_path / name for name in ("workspace", "temporary", "programs"))
        for folder in (workspace, temporary, programs):
            folder.mkdir()
        (programs / "python").symlink_to(sys.executable)
        for name in {*sys.stdlib_module_names, "nodeattrs", "pip", "setuptools", "yaml"}:
            (workspace / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write('{name} ')\n")
        (workspace / "roles").mkdir()
        (workspace / "roles/web.json").write_text('{"name": "web", "run_list": ["role[wbe]"]}\n')
        environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(temporary),
            "GITHUB_ACTION_PATH": str(built.wheel),
            "EXTRAS": "search",
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_COMPILE": "1",
            "REPO": ".",
            "ARGUMENTS": "",
        }
        steps = {
            step.get("name"): step for step in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
        }
        if is_installed:
            (temporary / "nodeattrs").symlink_to(empty.parent)
        else:
            run("bash", "-e", "-c", steps["Install"]["run"], cwd=workspace, env=environment)
            take_plain_dependencies(temporary / "nodeattrs/bin")
        checked = ["bash", "-e", "-c", steps["Check"]["run"]]
        done = subprocess.run(checked, cwd=workspace, env=environment, capture_output=True, text=True, check=False)

        assert not (tmp_path / "mark").exists(), (tmp_path / "mark").read_text()
        assert 1 == done.returncode, done.stderr
        assert "NA0435" in done.stdout


def unfolded(needs: list[str]) -> Iterator[Requirement]:
    """The requirements, with those of an extra of ours in place of its name."""
    for need in map(Requirement, needs):
        if need.name == "nodeattrs":
            for extra in sorted(need.extras):
                yield from unfolded(EXTRAS[extra])
        else:
            yield need


class TestLocks:
    @pytest.mark.parametrize("name", LOCKS)
    def test_a_lock_has_every_requirement_in_an_allowed_version(self, name: str):
        """
        Run `make lock` where this fails: pyproject.toml asks for what the file has not.
        """
        text = (ROOT / f".ci/{name}.lock").read_text("utf-8")
        versions = {found[1]: found[2] for found in re.finditer(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}
        needs = list(unfolded(LOCKS[name]))

        assert needs
        assert [] == [
            str(need) for need in needs if not need.specifier.contains(versions.get(canonicalize_name(need.name), "0"))
        ]

    @pytest.mark.parametrize("name", LOCKS)
    def test_every_entry_of_a_lock_has_a_hash_and_no_address(self, name: str):
        """
        An entry begins at the margin; its hashes are indented below it.
        """
        text = (ROOT / f".ci/{name}.lock").read_text("utf-8")
        entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]

        assert entries
        assert [] == [
            entry for entry in entries if not re.match(r"[\w.-]+==\S.* \\\n +--hash=sha256:[0-9a-f]{64}\b", entry)
        ]
        assert "://" not in text

    def test_ci_installs_nothing_without_hashes(self):
        """
        In `.ci/run` and the workflows: pip is given hashes, make the lock; `make dist` has a lock of its own.
        """
        files = [ROOT / ".ci/run", *sorted((ROOT / ".github/workflows").glob("*.yml"))]
        text = "\n".join(file.read_text("utf-8") for file in files)

        assert [] == [line for line in re.findall(r".*\bpip\b.* install .*", text) if "--require-hashes" not in line]
        made = re.findall(r"\brun: make (?!dist\b)(.*)", text)
        assert made
        assert [] == [line for line in made if "LOCK=.ci/dev.lock" not in line]

    def test_the_sbom_has_the_requirements_of_every_extra_but_the_developers(self):
        """
        `make sbom` names the extras that it installs beside the wheel.
        """
        (extras,) = re.findall(r"dist/\*\.whl\)\[([\w,]+)\]", (ROOT / "Makefile").read_text("utf-8"))
        listed = {str(need) for need in unfolded([f"nodeattrs[{extras}]"])}

        assert listed == {str(need) for name in EXTRAS.keys() - {"dev", "docs"} for need in unfolded(EXTRAS[name])}
