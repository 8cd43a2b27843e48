"""python -m tests.oracles.cloudinit [--root DIR] [--examples N]

Asks the real cloud-init and us the same random questions, and compares the answers: values
under random definitions, rows of configs, and whole user-data (plain, MIME, archives, gzip,
patches). Prints the number of comparisons; exit code 1 on a difference, or if there was none.

The real one is Debian's package, unpacked into a temporary folder with the Python packages it
imports: nothing is installed, no service is started. --root names a folder that holds
another version instead. Debian's is older than the one the vectors were made with; where the
two differ the vectors win, and `OLDER` says what is left out for that reason.
"""

from __future__ import annotations

import argparse
import gzip
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from nodeattrs.adapters.cloudinit import CloudPart, kind_of, merge, merge_many, merge_values, pack, parse_definition
from nodeattrs.errors import NodeattrsError
from tests.vectors.cloudinit import canonical
from tests.vectors.values import spelled

PACKAGES = (
    "cloud-init", "python3-requests", "python3-urllib3", "python3-certifi", "python3-chardet", "python3-idna",
    "python3-configobj", "python3-six", "python3-jsonpatch", "python3-json-pointer", "python3-jinja2",
    "python3-oauthlib", "python3-jsonschema", "python3-attr",
)  # fmt: skip
"""What is unpacked. What is compiled (markupsafe, yaml) is ours."""

OLDER = (
    "before 23.1 the merged file has no notes on rejected parts: the texts are compared without them",
    "jsonpatch before 1.33 takes a patch that is an empty map for one without operations: none is asked for",
)
"""Where Debian's version differs from the vectors."""

SEED = 4_2026


def fetched(folder: Path) -> Path:
    """Debian's packages unpacked below *folder*; the folder to import from. raises: CalledProcessError, OSError"""
    subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True, capture_output=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "root"], cwd=folder, check=True)
    return folder / "root/usr/lib/python3/dist-packages"


class Peer:
    """The real program in its own process."""

    def __init__(self, root: Path) -> None:
        script = Path(__file__).with_name("cloudinit_peer.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.version: str = self._answer()

    def ask(self, op: str, *arguments: Any) -> tuple[str, Any]:
        pickle.dump((op, arguments), self.process.stdin)
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        return pickle.load(self.process.stdout)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


# --- what is asked ------------------------------------------------------------------------

# Few keys, few words, all kinds: meetings are the rule.
KEYS = st.sampled_from(["a", "b", "c", 1, True, None])
SCALARS = st.sampled_from(["x", "yz", "", 0, 1, True, False, None, 1.5])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
CONFIGS = st.dictionaries(KEYS, VALUES, max_size=4)

OPTIONS = st.sampled_from(
    ["append", "prepend", "replace", "no_replace", "no-replace", "allow_delete", "recurse_list", "recurse_array",
     "recurse_str", "recurse_dict", "unique", " Append "]
)  # fmt: skip
NAMES = st.sampled_from(["dict", "list", "str", "m_dict", "Dict", "set", " list "])
LIKELY = st.sampled_from(["dict", "list", "str"])


@st.composite
def strings(draw: st.DrawFn) -> str:
    """A merge string, usually one that works."""
    pieces = draw(st.lists(st.tuples(LIKELY | LIKELY | NAMES, st.lists(OPTIONS, max_size=3)), max_size=3))
    text = "+".join(f"{name}({','.join(options)})" for name, options in pieces)
    return draw(st.sampled_from([text, text, text, text, f"dict(recurse_list)+{text}", text.replace(")", "", 1)]))


ENTRIES = st.one_of(
    st.fixed_dictionaries(
        {"name": LIKELY | NAMES, "settings": st.lists(OPTIONS, max_size=3) | st.sampled_from(["append"])}
    ),
    st.lists(LIKELY | OPTIONS, min_size=1, max_size=3),
    st.sampled_from(["list", {"name": "list"}, {"settings": []}, 5, None]),
)
DEFINITIONS = strings() | st.lists(ENTRIES, max_size=3) | st.none()


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """The text of a cloud-config part, now and then a broken or an empty one."""
    config = dict(draw(CONFIGS))
    for key in draw(
        st.sampled_from([(), ("merge_how",), ("merge_how",), ("merge_type",), ("merge_how", "merge_type")])
    ):
        config[key] = draw(DEFINITIONS)
    if draw(st.booleans()):
        config["a"] = config["b"] = draw(VALUES)  # written as an anchor and an alias, if it is a map or a list
    text = yaml.safe_dump(config, sort_keys=False)
    return draw(st.sampled_from([text] * 8 + ["", "a: [", "- x\n", f"{text}---\nb: 1\n"]))


PATCHES = st.sampled_from(
    [
        '[{"op": "add", "path": "/a", "value": [1]}]', '[{"op": "remove", "path": "/a"}]',
        '[{"op": "add", "path": "/a/-", "value": "p"}]', '[{"op": "test", "path": "/b", "value": 1}]',
        '[{"op": "replace", "path": "/b", "value": {"c": 1}}, {"op": "copy", "from": "/b", "path": "/c"}]',
        "[", '{"op": "add"}', '[{"op": "odd", "path": "/a"}]',
    ]
)  # fmt: skip


@st.composite
def parts(draw: st.DrawFn) -> CloudPart:
    if draw(st.integers(0, 7)) == 0:
        return CloudPart("#cloud-config-jsonp\n" + draw(PATCHES), "text/cloud-config-jsonp")
    header = draw(st.sampled_from(["Merge-Type", "X-Merge-Type", "merge-type", ""]))
    headers = {header: draw(strings())} if header else {}
    kind = draw(st.sampled_from(["text/cloud-config"] * 5 + ["text/plain", "text/x-shellscript", "text/x-odd"]))
    return CloudPart("#cloud-config\n" + draw(bodies()), kind, headers=headers)


def mime(rows: list[CloudPart]) -> str:
    """A message of parts with any header, in any case."""
    text = pack(rows)
    for number, row in enumerate(rows, 1):
        for header, value in row.headers.items():
            mark = f'filename="part-{number:03d}"\n'
            if value and header not in text.partition(mark)[2].partition("\n\n")[0]:
                text = text.replace(mark, f"{mark}{header}: {value}\n")
    return text


def archive(rows: list[CloudPart]) -> str:
    entries = [
        {"content": row.text, "type": row.type, **{key: value for key, value in row.headers.items() if value}}
        for row in rows
    ]
    return "#cloud-config-archive\n" + yaml.safe_dump(entries, sort_keys=False)


@st.composite
def blobs(draw: st.DrawFn) -> list[str | bytes]:
    rows = draw(st.lists(parts(), min_size=1, max_size=4))
    form = draw(st.sampled_from(["plain", "mime", "mime", "archive", "packed"]))
    if form == "plain":
        return [row.text for row in rows]
    text = archive(rows) if form == "archive" else mime(rows)
    return [gzip.compress(text.encode(), mtime=0) if form == "packed" else text]


# --- what is compared ----------------------------------------------------------------------


class Differences(AssertionError):
    pass


def ours(answer: Any) -> tuple[str, str]:
    """Our answer as text, or the kind of error."""
    try:
        return "ok", answer()
    except NodeattrsError as error:
        return "error", kind_of(error)


def agree(question: Any, theirs: tuple[str, Any], mine: tuple[str, str]) -> None:
    kinds = {"ValueError": "format", "ImportError": "unknown-merger"}
    if theirs[0] == "ok":
        same = mine == ("ok", theirs[1])
    else:
        same = mine[0] == "error" and kinds.get(theirs[1], mine[1]) == mine[1]
    if not same:
        raise Differences(f"\n  asked:      {question!r}\n  cloud-init: {theirs}\n  ours:       {mine}")


def without_notes(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if not line.startswith("# Cloud-config part ignored"))


def compare(peer: Peer, examples: int) -> Counter[str]:
    """Ask everything; the number of comparisons by sort. raises: Differences"""
    count: Counter[str] = Counter()
    has_notes = not peer.version.startswith("22.")

    def asked(number: int) -> Any:
        quick = settings(max_examples=number, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        return lambda test: seed(SEED)(quick(test))

    @asked(examples)
    @given(DEFINITIONS, VALUES | CONFIGS, VALUES | CONFIGS)
    def values(how: Any, base: Any, update: Any) -> None:
        kind, answer = peer.ask("values", how, base, update)
        mine = ours(lambda: canonical(merge_values(base, update, how)))
        agree((how, base, update), (kind, canonical(answer) if kind == "ok" else answer), mine)
        count["values"] += 1

    @asked(examples // 2)
    @given(st.lists(st.tuples(CONFIGS, DEFINITIONS), max_size=4), st.booleans())
    def many(rows: Any, reverse: bool) -> None:
        sources = [{**config, "merge_how": how} if how is not None else config for config, how in rows]
        kind, answer = peer.ask("many", sources, reverse)
        mine = ours(lambda: canonical(merge_many(sources, reverse=reverse)))
        agree((sources, reverse), (kind, canonical(answer) if kind == "ok" else answer), mine)
        count["rows of configs"] += 1

    @asked(examples // 2)
    @given(blobs())
    def userdata(given_blobs: list[str | bytes]) -> None:
        kind, answer = peer.ask("userdata", given_blobs, None)
        if kind == "ok":
            config, names, text = answer
            answer = spelled([canonical(config), names, text if has_notes else without_notes(text)])
        agree(given_blobs, (kind, answer), ours(lambda: _userdata(given_blobs, has_notes)))
        count["user-data"] += 1

    for test in (values, many, userdata):
        test()
    return count


def _userdata(given_blobs: list[str | bytes], has_notes: bool) -> str:
    merged = merge(given_blobs)
    names = [step.filename.strip() for step in merged.steps]
    return spelled([canonical(merged.config), names, merged.text if has_notes else without_notes(merged.text)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--root", type=Path, help="a folder with a cloudinit package (default: Debian's, fetched)")
    parser.add_argument("--examples", type=int, default=3_000, help="random questions of the first sort")
    asked = parser.parse_args(arguments)
    parse_definition("dict()")
    folder = Path(tempfile.mkdtemp(prefix="cloudinit-"))
    try:
        try:
            root = asked.root or fetched(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"cloud-init cannot be had here: {error}", file=sys.stderr)
            return 1
        peer = Peer(root)
        try:
            count = compare(peer, asked.examples)
        except Differences as difference:
            print(f"cloud-init {peer.version} and we differ:{difference}")
            return 1
        finally:
            peer.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for sort, number in count.items():
        print(f"  {number:6,}  {sort}")
    for sentence in OLDER if peer.version.startswith("22.") else ():
        print(f"  left out: {sentence}")
    print(f"{count.total():,} comparisons with cloud-init {peer.version}, no difference")
    return 0 if count.total() else 1


if __name__ == "__main__":
    sys.exit(main())
