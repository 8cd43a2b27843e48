"""python -m tests.oracles.cloudinit [--source DIR] [--cloud-init V] [--count N] [--seed S] [--real DIR]

Asks the real cloud-init and us the same random questions, and compares the answers: values under random definitions,
rows of configs, whole user-data (plain, MIME, archives, gzip, patches, templates, odd bytes), conf.d folders, kernel
command lines, and whole machines with vendor-data and its switches. --real asks about files instead: all configs below
a folder, alone, in pairs and in threes. A difference that a rule of `cloudinit_rules` explains is counted by its name,
which has a row in docs/differences.md; any other one fails. Ends with `N passed, M failed`.

The real one is Debian's package, unpacked into a temporary folder with the Python packages it imports: nothing is
installed, no service is started. --source names a folder that holds another version instead.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

from nodeattrs.cloudinit import (
    InstanceData,
    Merged,
    config_of_cmdline,
    kind_of,
    merge,
    merge_layers,
    merge_many,
    merge_values,
    read_confd,
    release_of,
)
from nodeattrs.dialects.cloudinit.unpacking import type_of_text
from nodeattrs.errors import NodeattrsError
from tests.oracles.cloudinit_questions import INSTANCE_DATA, question
from tests.oracles.cloudinit_rules import Asked, explained

PACKAGES = (
    "cloud-init", "python3-requests", "python3-urllib3", "python3-certifi", "python3-chardet", "python3-idna",
    "python3-configobj", "python3-six", "python3-jsonpatch", "python3-json-pointer", "python3-jinja2",
    "python3-oauthlib", "python3-jsonschema", "python3-attr",
)  # fmt: skip
"""What is unpacked. What is compiled (markupsafe, yaml) is ours."""
_LONGEST = 60_000


def fetched(folder: Path) -> Path:
    """Debian's packages unpacked below *folder*; the folder to import from. raises: CalledProcessError, OSError"""
    subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True, capture_output=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "root"], cwd=folder, check=True)
    return folder / "root/usr/lib/python3/dist-packages"


class Peer:
    """The real program in its own process."""

    def __init__(self, *roots: Path) -> None:
        script = Path(__file__).with_name("cloudinit_peer.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), *map(str, roots)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.version: str = pickle.load(self.process.stdout)

    def ask(self, sort: str, asked: dict[str, Any]) -> tuple[str, Any]:
        pickle.dump((sort, asked), self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


# --- our answers -----------------------------------------------------------------------------


class Ours:
    """The same questions, asked of nodeattrs under the rules of one release."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.kinds: set[str] = set()

    def ask(self, sort: str, asked: dict[str, Any]) -> tuple[str, Any]:
        """The answer; what was wrong with parts on the way is in `kinds`."""
        self.kinds = set()
        try:
            return "ok", getattr(self, sort)(**asked)
        except NodeattrsError as error:
            return "error", kind_of(error)

    def _rules(self, data: Any) -> dict[str, Any]:
        return {"cloud_init": self.release, "instance_data": InstanceData(data) if data else None}

    def _merged(self, merged: Merged) -> Merged:
        self.kinds |= {one.kind or one.status for one in merged.parts}
        return merged

    def values(self, how: Any, base: Any, update: Any) -> Any:
        return merge_values(base, update, how)

    def many(self, rows: Any, reverse: bool) -> Any:
        return merge_many(rows, reverse=reverse)

    def cmdline(self, cmdline: str) -> Any:
        return config_of_cmdline(cmdline, self.release)

    def userdata(self, blobs: Any, launch_index: Any, data: Any) -> Any:
        merged = self._merged(merge(blobs, launch_index=launch_index, **self._rules(data)))
        handled = [one for one in merged.parts if one.definition or one.error or one.status == "merged"]
        rows = [(one.filename, one.part.type, one.status) for one in handled if one.kind != "template"]
        merged.changes()
        for key in list(merged.value)[:2] if isinstance(merged.value, dict) else ():
            merged.explain((key,))
        return merged.config, rows, merged.text

    def confd(self, main: str | None, files: Any, data: Any) -> Any:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "cloud.cfg"
            if main is not None:
                path.write_bytes(main.encode("utf-8", "surrogatepass"))
            if files is not None:
                Path(f"{path}.d").mkdir()
            elif main is None:
                return {}
            for file, text in (files or {}).items():
                (Path(f"{path}.d") / file).write_bytes(text.encode("utf-8", "surrogatepass"))
            return self._merged(read_confd(path, **self._rules(data))).value

    def machine(self, data: Any, cmdline: str, **given: Any) -> Any:
        rules = self._rules(data)
        layers = {
            name: self._merged(merge([given[name]], **rules)) if name in given else None
            for name in ("user", "vendor", "vendor2")
        }
        layers |= {name: given.get(name) for name in ("env", "runtime", "datasource")}
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "cloud.cfg"
            path.write_bytes(given.get("main", "").encode("utf-8", "surrogatepass"))
            for file, text in given.get("files", {}).items():
                Path(f"{path}.d").mkdir(exist_ok=True)
                (Path(f"{path}.d") / file).write_bytes(text.encode("utf-8", "surrogatepass"))
            confd = self._merged(read_confd(path, **rules))
        command = config_of_cmdline(cmdline, self.release)
        whole = self._merged(
            merge_layers(confd=confd, builtin=release_of(self.release).builtin, cmdline=command, **layers, **rules)
        )
        return {key: value for key, value in whole.value.items() if key != "system_info"}


# --- comparison ------------------------------------------------------------------------------


def spelled(value: Any, ordered: bool = True, above: tuple[int, ...] = ()) -> str:
    """A value with the types of all its parts; sets have no order, and maps have none where it is not asked for."""
    if id(value) in above:
        return "itself"
    if isinstance(value, dict):
        inside = (*above, id(value))
        rows = [f"{spelled(key)}: {spelled(inner, ordered, inside)}" for key, inner in value.items()]
        return "{" + ", ".join(rows if ordered else sorted(rows)) + "}"
    if isinstance(value, (list, tuple)):
        inside = (*above, id(value))
        return type(value).__name__ + "[" + ", ".join(spelled(inner, ordered, inside) for inner in value) + "]"
    if isinstance(value, (set, frozenset)):
        return "set{" + ", ".join(sorted(spelled(inner) for inner in value)) + "}"
    return f"{type(value).__name__} {value!r}"


def agree(sort: str, theirs: tuple[str, Any], mine: tuple[str, Any], release: str) -> bool:
    """Whether two answers are the same; of errors it counts that there is one."""
    if theirs[0] != mine[0] or theirs[0] == "error":
        return theirs[0] == mine[0]
    ordered = sort != "machine"  # the merged files, sorted by key, are read again
    if sort == "userdata" and not release_of(release).notes:  # nothing tells the rejected parts from those that failed
        return spelled(_without_reasons(theirs[1])) == spelled(_without_reasons(mine[1]))
    return spelled(theirs[1], ordered) == spelled(mine[1], ordered)


def _without_reasons(answer: Any) -> Any:
    config, rows, text = answer
    return config, [(name, kind, status == "merged") for name, kind, status in rows], text


def compare(
    peer: Peer, release: str, questions: Iterable[tuple[str, dict[str, Any]]]
) -> tuple[Counter[str], list[Asked]]:
    """How many questions of each sort agree, and by which rules others are explained; and what is left."""
    count: Counter[str] = Counter()
    failed: list[Asked] = []
    ours = Ours(release)
    for sort, asked in questions:
        theirs = peer.ask(sort, asked)
        try:
            mine = ours.ask(sort, asked)
        except Exception as error:
            mine = ("crash", repr(error))
        if agree(sort, theirs, mine, release):
            count[sort] += 1
            continue
        one = Asked(sort, asked, theirs, mine, release, frozenset(ours.kinds))
        rule = explained(one)
        if rule is None:
            failed.append(one)
        else:
            count[f"explained: {rule}"] += 1
    return count, failed


def random_questions(seed: int, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    return (question(seed, number) for number in range(count))


_VARIANTS = (
    "alpine", "amazon", "arch", "azurelinux", "debian", "fedora", "freebsd", "gentoo", "mariner", "netbsd", "openbsd",
    "openEuler", "photon", "rhel", "suse", "ubuntu", "unknown",
)  # fmt: skip


def real_questions(folder: Path, seed: int, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """All texts with a first line that cloud-init knows, alone; then pairs and threes of them, drawn by the seed.

    A template of cloud.cfg is asked about for each distribution.
    """
    texts: list[str] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < _LONGEST):
        content = path.read_bytes().decode("utf-8", "replace")
        texts += _texts_in(path, content)
        if path.name == "cloud.cfg.tmpl":
            yield from (("confd", {"main": content, "files": None, "data": {"variant": one}}) for one in _VARIANTS)
    texts = [text for text in dict.fromkeys(texts) if type_of_text(text)]
    draw = Random(seed)
    rows = [[text] for text in texts]
    rows += [draw.choices(texts, k=draw.choice((2, 2, 3))) for _ in range(count if texts else 0)]
    for row in rows:
        blobs = [text.encode("utf-8", "replace") for text in row]
        yield "userdata", {"blobs": blobs, "launch_index": None, "data": INSTANCE_DATA}


def _texts_in(path: Path, text: str) -> Iterator[str]:
    """A file, and what is in it: the texts of a program, the examples of a page."""
    yield text
    if path.suffix == ".py":
        with contextlib.suppress(SyntaxError, ValueError):
            nodes = ast.walk(ast.parse(text))
            yield from (dedent(one.value) for one in nodes if isinstance(one, ast.Constant) and type(one.value) is str)
        return
    for found in re.finditer(r"^( +)(#cloud-config|## template: jinja)\b.*\n(?:\1.*\n|[ \t]*\n)*", text, re.MULTILINE):
        yield dedent(found[0])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--source", type=Path, help="a folder with a cloudinit package (default: Debian's, fetched)")
    parser.add_argument("--cloud-init", help="whose rules we follow (default: the release that fits the source)")
    parser.add_argument("--count", type=int, default=3_000, help="how many questions (default: 3000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--real", type=Path, help="ask about the configs in this folder; --count is how many of them in twos and threes"
    )
    parser.add_argument("--show", type=int, default=5, help="how many differences are printed (default: 5)")
    asked = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="cloudinit-"))
    try:
        try:
            debian = _installed() or fetched(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"cloud-init cannot be had here: {error}", file=sys.stderr)
            return 1
        peer = Peer(*([asked.source] if asked.source else []), debian)
        try:
            release = asked.cloud_init or ("22.4" if peer.version.startswith("22.") else "26.2")
            questions = (
                real_questions(asked.real, asked.seed, asked.count)
                if asked.real
                else random_questions(asked.seed, asked.count)
            )
            count, failed = compare(peer, release, questions)
        finally:
            peer.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for one in sorted(failed, key=lambda one: len(repr(one.asked)))[: asked.show]:
        print(one)
    for sort, number in sorted(count.items()):
        print(f"  {number:6,}  {sort}")
    print(f"cloud-init {peer.version}, our rules of {release}")
    print(f"{count.total():,} passed, {len(failed):,} failed")
    return 1 if failed or not count else 0


def _installed() -> Path | None:
    folder = Path("/usr/lib/python3/dist-packages")
    return folder if (folder / "cloudinit").is_dir() and (folder / "jsonpatch.py").is_file() else None


if __name__ == "__main__":
    sys.exit(main())
