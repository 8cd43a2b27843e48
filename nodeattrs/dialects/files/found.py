"""Find the folds of a folder that need no settings: files that a program merges by itself.

These are charts of Helm, releases that Argo CD, Flux or helmfile describe, Compose files, and files of Spring. This
module finds and names them. It reads the files of releases, and merges nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from nodeattrs import border
from nodeattrs.dialects.files import argo, flux, helmfile
from nodeattrs.dialects.files.charts import CHART
from nodeattrs.dialects.files.doubts import is_of_npm, is_of_spring, policy_of_repeated, profiles_of
from nodeattrs.dialects.files.extends import is_of_eslint, is_of_ruff, is_tsconfig
from nodeattrs.dialects.files.git_sources import GitSources
from nodeattrs.dialects.files.releases import Release, read_documents
from nodeattrs.errors import DocumentError
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import APPSETTINGS, COMPOSE, DEFAULT_POLICY, ESLINT, REPLACE, RUFF, SPRING, TSCONFIG
from nodeattrs.project.config import PlainFold

_VALUES = re.compile(r"values[-._](?!schema\.)[^/]+\.ya?ml|[^/]+[-._]values\.ya?ml")
"""Values files beside a chart's values.yaml: values-prod.yaml, prod-values.yaml."""
_APPSETTINGS = re.compile(r"appsettings(?:\..+)?\.json", re.IGNORECASE)
_FOR_TESTS = "ci"
"""The folder of a chart with values files for its tests."""
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_NAMED_COMPOSE = re.compile(r"(?:docker-)?compose(?:[-.].+)?\.ya?ml")
_SERVICES = re.compile(r"""(?:^|[{,]\s*)["']?(?:services|include)["']?[ \t]*:""", re.MULTILINE)
"""A key that each Compose file has. Another file of the same name may be data of Hiera, for a role."""
_ENDINGS = ("yaml", "yml", "properties")
"""Endings of Spring's files in one folder, the weakest first."""
_SPRING = re.compile(r"^[ \t]*[\"']?spring\b", re.MULTILINE)
"""A key of Spring itself. Other frameworks have files of the same names."""
_OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
_PASSED = frozenset(("node_modules", "templates", "charts", "__pycache__"))
"""Folders in which no chart and no Compose file is looked for; a chart has its subcharts in charts/."""
_DEPTH = 8
_MANIFEST = re.compile(rb"^(?:kind:[ \t]*[\"']?(HelmRelease|Application|ApplicationSet)\b|(releases):)", re.MULTILINE)
"""The line of a file that describes releases: of a manifest for Flux or Argo CD, or of a helmfile."""
_IN_BRACES = re.compile(
    rb"""\b(?:kind["']?\s*:\s*["']?(HelmRelease|Application|ApplicationSet)\b|(releases)["']?\s*:\s*\[)"""
)
"""What `_MANIFEST` finds, in a file that begins with a brace, such as JSON. A Go template begins with two braces."""
_BRACE = re.compile(rb"\s*\{(?!\{)")
_HELMFILE = re.compile(rb"""\bchart["']?\s*:|<<:|\binherit["']?\s*:""")
_LARGEST = 1_000_000
"""Bytes of a manifest; Kubernetes takes no larger one."""
_MOST = 5_000
"""Releases of one file."""
_MANIFESTS = (".yaml", ".yml", ".yaml.gotmpl")

FoundFold = PlainFold | Release
"""Files for one fold: of a chart or Compose file, or of a release."""


def found_folds(sources: GitSources) -> Mapping[str, FoundFold | None]:
    """Walk `sources.root`, eight levels deep: name -> fold of each chart, release, Compose file and profile of
    Spring; {} for none.

    The name of a chart is the path of its folder. A values file beside a chart, a Compose file and a file of Spring
    have their paths as names. A release of Helm has the name FILE#NAME, and is a `Release`; any other fold is a
    `PlainFold`. FILE -> None is a file of releases that cannot be read.
    source: Helm, "Values Files"; Compose Specification, "The Compose file"; Docker, "Merge Compose files"
    """
    found: dict[str, FoundFold | None] = {}
    root, manifests = sources.root, flux.Manifests(sources)
    for folder, folders, names in os.walk(root):
        steps = Path(folder).relative_to(root).parts
        is_chart = CHART in names
        inner = _PASSED if is_chart else _PASSED - {"charts"}
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in inner) if len(steps) < _DEPTH else []
        if is_chart:
            found |= _of_chart(Path(folder), steps, names)
        found |= _of_compose(root, "/".join(steps), names)
        found |= _of_spring(root, steps)
        for name in sorted(names):
            file = "/".join((*steps, name))
            try:
                found |= releases_in(file, manifests)
            except DocumentError:
                found[file] = None
    return found


def found_fold(sources: GitSources, name: str) -> FoundFold | None:
    """The fold that `found_folds` has under a name; None if it has none.

    Only the files of this name are read, and for a release of Flux the GitRepository manifests.

    raises: DocumentError, for a file of releases that cannot be read
    """
    root, manifests = sources.root, flux.Manifests(sources)
    file, sign, own = name.partition("#")
    if sign:
        kind = release_kind(root, file)
        environments = (own.rpartition("/")[0], None) if kind == "releases" else (None,)
        found = (_releases(manifests, file, kind, one).get(own) for one in environments) if kind else iter(())
        return next(filter(None, found), None)  # with another environment, a template may give the release another name
    if (root / name / CHART).is_file():
        return PlainFold((name,), "helm")
    folder, _, base = name.rpartition("/")
    if is_of_spring(base):
        folds = _of_spring(root, Path(folder.removesuffix("/config")).parts)
        if name in folds:
            return folds[name]
    names = os.listdir(root / folder) if (root / folder).is_dir() else []
    if base in _COMPOSE:
        return _of_compose(root, folder, names).get(name)
    above = folder.rpartition("/")[0] if folder.rpartition("/")[2] == _FOR_TESTS else folder
    for chart in dict.fromkeys((folder, above)):
        if (root / chart / CHART).is_file():
            return _of_chart(root / chart, Path(chart).parts, os.listdir(root / chart)).get(name)
    releases_in(name, manifests)  # raises DocumentError for a file of releases that cannot be read
    return None


def release_kind(root: Path, file: str) -> str:
    """The kind of a file of releases: "HelmRelease", "Application", "ApplicationSet", or "releases" for a helmfile.

    "" for any other file, also for a file that does not exist or is outside of the repository. The first line with such
    a kind decides; nothing is parsed.
    raises: DocumentError, for a file of releases that cannot be read, or is larger than 1,000,000 bytes
    """
    if not file.endswith(_MANIFESTS):
        return ""
    path = root / file
    if not path.is_file() or border.is_layer_outside(path):
        return ""
    try:
        with open(path, "rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file=file) from error
    found = (_IN_BRACES if _BRACE.match(content) else _MANIFEST).search(content)
    if found is None or (found[2] and not _HELMFILE.search(content)):
        return ""
    if len(content) > _LARGEST:
        raise DocumentError(f"is larger than {_LARGEST:,} bytes", file=file)
    return (found[1] or found[2]).decode()


def releases_in(file: str, manifests: flux.Manifests) -> dict[str, Release]:
    """FILE#NAME -> each release that a file describes; {} for a file that describes none. raises: DocumentError

    file: below `manifests.root`
    """
    kind = release_kind(manifests.root, file)
    found = _releases(manifests, file, kind, None) if kind else {}
    return {f"{file}#{name}": one for name, one in found.items()}


def _releases(manifests: flux.Manifests, file: str, kind: str, environment: str | None) -> dict[str, Release]:
    """Name -> release of a file; the second release with a name is NAME~2. raises: DocumentError

    environment: of a helmfile, the one environment whose releases are read; None: all
    """
    found: dict[str, Release] = {}
    for name, release in _each_release(manifests, file, kind, environment):
        if len(found) >= _MOST:
            raise DocumentError(f"describes more than {_MOST:,} releases", file=file)
        same = sum(one == name or one.startswith(f"{name}~") for one in found) if name in found else 0
        found[f"{name}~{same + 1}" if same else name] = release
    return found


def _each_release(
    manifests: flux.Manifests, file: str, kind: str, environment: str | None
) -> Iterator[tuple[str, Release]]:
    root = manifests.root
    if kind == "releases":
        yield from helmfile.releases(root, file, environment)
        return
    for document in read_documents(root, file):
        yield from flux.releases(document, manifests)
        yield from argo.releases(document, manifests.sources)


def is_of_terraform(file: str) -> bool:
    """Whether a file name is one of Terraform's variables. Terraform takes a variable whole from the last such file."""
    return file.endswith((".tfvars", ".tfvars.json"))


_BY_NAME: Sequence[tuple[int, Callable[[str], object], str]] = (
    (-1, is_tsconfig, TSCONFIG),
    (-1, is_of_ruff, RUFF),
    (-1, is_of_eslint, ESLINT),
    (-1, _APPSETTINGS.fullmatch, APPSETTINGS),
    (0, _NAMED_COMPOSE.fullmatch, COMPOSE),
    (-1, is_of_spring, SPRING),
    (-1, is_of_terraform, REPLACE),
    (-1, is_of_npm, REPLACE),
)
"""The file that decides (0: the first, -1: the last), a test of its name, and the policy. The first row that fits
counts.
"""


def policy_for(files: Sequence[str], folder: Path) -> str:
    """The name of the policy of the program that reads files with such names; else the name of the default policy.

    The first file decides about Helm and Compose, the last file about all other programs. A folder with a Chart.yaml as
    the first file means Helm.

    files: at least one, the weakest first, relative to *folder*
    """
    names = [os.path.basename(file) for file in files]
    if (folder / files[0] / CHART).is_file() or names[0] in ("values.yaml", "values.yml"):
        return "helm"
    for index, is_of_program, policy in _BY_NAME:
        if is_of_program(names[index]):
            return policy
    return policy_of_repeated((folder / files[-1]).absolute().as_posix()) or DEFAULT_POLICY


def _of_chart(folder: Path, steps: Sequence[str], names: Sequence[str]) -> dict[str, PlainFold]:
    chart = "/".join(steps) or "."
    found = {chart: PlainFold((chart,), "helm")}
    tests = folder / _FOR_TESTS
    is_read = tests.is_dir() and not border.is_layer_outside(tests)
    inner = [f"{_FOR_TESTS}/{name}" for name in os.listdir(tests)] if is_read else []
    for name in sorted([*names, *inner]):
        if _VALUES.fullmatch(name.removeprefix(f"{_FOR_TESTS}/")):
            file = "/".join((*steps, name))
            found[file] = PlainFold((chart, file), "helm")
    return found


def _of_compose(root: Path, folder: str, names: Sequence[str]) -> dict[str, PlainFold]:
    base = next((name for name in _COMPOSE if name in names), None)
    override = [name for name in _OVERRIDES if name in names][:1]
    if base is None or not (override or _may_have(root / folder / base, _SERVICES)):
        return {}
    named = _named_by_dotenv(root / folder / ".env") if ".env" in names else ()
    files = tuple(posixpath.join(folder, name) for name in (base, *(named or (base, *override))))
    return {files[0]: PlainFold(files[1:], COMPOSE)}


def _named_by_dotenv(path: Path) -> Sequence[str]:
    """The Compose files that the variable COMPOSE_FILE of a `.env` file names.

    () for none, for an encrypted one, and for a file that cannot be read.
    """
    try:
        variables = LayerReader("env").read(path)[0].value
    except DocumentError:
        return ()
    if not isinstance(variables, dict):
        return ()
    separator, named = variables.get("COMPOSE_PATH_SEPARATOR") or ":", variables.get("COMPOSE_FILE")
    if not (isinstance(separator, str) and isinstance(named, str)):
        return ()
    return [one for one in named.split(separator) if one]


def _of_spring(root: Path, steps: tuple[str, ...]) -> dict[str, PlainFold]:
    """The folds of Spring's files in a folder "resources" and in "config" below it: the strongest file -> its fold.

    There is one fold without a profile, and one for each profile. {} for another folder, and for files of other
    frameworks. Tests also read the files of the program, except those that a file of the same name hides.
    source: Spring Boot, "Externalized Configuration", External Application Properties
    """
    if steps[-1:] != ("resources",):
        return {}
    own = _names_of_spring(root, "/".join(steps))
    files = own
    if steps[-2:-1] == ("test",):
        files = _names_of_spring(root, "/".join((*steps[:-2], "main", "resources"))) | own
    if not any(_may_have(root / file, _SPRING) for file in files.values()):
        return {}
    ranked: dict[str | None, list[str]] = {}
    for name in sorted(files, key=lambda one: (one.startswith("config/"), _ENDINGS.index(one.rpartition(".")[2]))):
        ranked.setdefault(next(iter(profiles_of([name])), None), []).append(name)
    plain = ranked.pop(None, [])
    folds: dict[str, PlainFold] = {}
    for names in (plain, *ranked.values()):
        subject = [own[name] for name in names if name in own][-1:]
        chain = names if names is plain else [*plain, *names]
        folds |= {one: PlainFold(tuple(files[name] for name in chain), SPRING) for one in subject}
    return folds


def _names_of_spring(root: Path, folder: str) -> dict[str, str]:
    """The name of each file of Spring in a folder and in "config" below it -> its path; {} for no folder."""
    found: dict[str, str] = {}
    for below in ("", "config/"):
        place = root / folder / below
        names = os.listdir(place) if place.is_dir() and not border.is_layer_outside(place) else []
        found |= {f"{below}{name}": f"{folder}/{below}{name}" for name in names if is_of_spring(name)}
    return found


def _may_have(path: Path, pattern: re.Pattern[str]) -> bool:
    """Whether a text of the pattern is in a file. True for a file that cannot be read: its answer then says so.

    True also for a file outside of the border, and for a file of more than a megabyte, which is not searched.
    """
    if border.is_layer_outside(path):
        return True
    try:
        with open(path, "rb") as stream:
            content = stream.read(_LARGEST + 1)
        return len(content) > _LARGEST or pattern.search(content.decode("utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return True
