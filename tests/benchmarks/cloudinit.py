"""The figures of cloud-init's merging, beside the real cloud-init in the same run where it is there.

The real one is looked for in the folder that CLOUDINIT_ROOT names, and else Debian's package
is unpacked into a temporary folder (tests/oracles/cloudinit.py). Without it the bars, which
are ratios to it, cannot be judged, and only our own times are told.
"""

from __future__ import annotations

import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.cloudinit import CONFIG_DEFAULT, merge, merge_values, parse_definition
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part
from nodeattrs.dialects.cloudinit.mergers import policy_of
from nodeattrs.dialects.cloudinit.parts import independent
from tests.benchmarks.clock import once, seconds_each, seconds_of_python
from tests.benchmarks.figures import Figure
from tests.benchmarks.starts import PARTS, installed
from tests.oracles.cloudinit import fetched

INPUTS = Path(__file__).with_name("inputs") / "cloudinit"
APPEND = "list(append)+dict(recurse_list,recurse_str)+str(append)"

Call = Callable[[], object]


def cloudinit_figures(rounds: int) -> Iterator[Figure]:
    """Merging of trees and lists, a whole message, a whole process."""
    folder = Path(tempfile.mkdtemp(prefix="cloudinit-"))
    logging.disable(logging.CRITICAL)
    try:
        peer = _Peer(_root(folder), folder)
        yield from merging(rounds, peer)
        yield from messages(rounds, peer)
        yield from processes(rounds, peer, folder)
        yield from thousands(folder)
    finally:
        logging.disable(logging.NOTSET)
        shutil.rmtree(folder, ignore_errors=True)


def _root(folder: Path) -> Path | None:
    if "CLOUDINIT_ROOT" in os.environ:
        return Path(os.environ["CLOUDINIT_ROOT"])
    try:
        return fetched(folder)
    except (OSError, subprocess.CalledProcessError):
        return None


class _Peer:
    """The real program in this process; its parts are None where it is not there."""

    def __init__(self, root: Path | None, folder: Path) -> None:
        self.root = root
        self.folder = folder
        if root is not None:
            sys.path.append(str(root))

    def merger(self, definition: str) -> Any:
        if self.root is None:
            return None
        from cloudinit import mergers

        return mergers.construct(mergers.string_extract_mergers(definition)).merge

    def message(self, text: str) -> Call | None:
        """From the text of a message to the merged config, its file written to nowhere."""
        if self.root is None:
            return None
        from cloudinit import handlers, helpers, util
        from cloudinit.handlers import cloud_config
        from cloudinit.user_data import UserDataProcessor

        util.write_file = lambda *rest, **more: None
        paths = helpers.Paths({"cloud_dir": str(self.folder), "run_dir": str(self.folder)})

        def handled() -> None:
            message = UserDataProcessor(paths).process(text)
            handler = cloud_config.CloudConfigPartHandler(paths)
            handler._write_cloud_config = lambda *rest: None
            data = {"handlers": dict.fromkeys(handler.list_types(), handler), "data": None, "frequency": None}
            handlers.call_begin(handler, None, None)
            handlers.walk(message, handlers.walker_callback, {**data, "excluded": []})

        return handled


def _beside(name: str, ours: Call, peer: Call | None, bar: float, of: str, rounds: int) -> Iterator[Figure]:
    """Our time, and in relation to the peer's where there is one."""
    works = [once(ours), *([once(peer)] if peer is not None else [])]
    mine, *theirs = seconds_each(*works, rounds=rounds)
    yield Figure(name, mine * 1000, "ms")
    for seconds in theirs:
        yield Figure(name, mine / seconds, "times", bar, f"{of}: {seconds * 1000:,.2f} ms")


def merging(rounds: int, peer: _Peer) -> Iterator[Figure]:
    first, second = (_loaded(name) for name in ("tree-a.yaml", "tree-b.yaml"))
    policy = policy_of(CONFIG_DEFAULT)

    def met(rules: Any = policy) -> Any:
        return meet(rules, Part(first, 1), Part(second, 2)).value

    theirs = peer.merger(str(CONFIG_DEFAULT))
    call = partial(theirs, first, second) if theirs else None
    yield from _beside(
        "two trees of 1,000 leaves, conf.d rules, copied", lambda: independent(met()), call, 2.0, "cloud-init", rounds
    )
    yield from _beside("the same before the copy", met, call, 1.0, "cloud-init", rounds)
    with_append = policy_of(parse_definition(APPEND))
    (seconds,) = seconds_each(once(partial(met, with_append)), rounds=rounds)
    yield Figure("the same with append options, before the copy", seconds * 1000, "ms")
    lists = [_loaded(name) for name in ("list-a.yaml", "list-b.yaml")]
    for how in ("list(append)+dict(recurse_list)", "list()+dict(recurse_list)"):
        (seconds,) = seconds_each(once(partial(merge_values, *lists, how)), rounds=rounds)
        yield Figure(f"1,000 + 1,000 items, {how}", seconds * 1000, "ms")


def messages(rounds: int, peer: _Peer) -> Iterator[Figure]:
    text = (INPUTS / "parts-20.mime").read_text(encoding="utf-8")
    name = "a message of 20 parts, from text to config"
    yield from _beside(name, lambda: merge([text]).config, peer.message(text), 1 / 5, "cloud-init", rounds)


def processes(rounds: int, peer: _Peer, folder: Path) -> Iterator[Figure]:
    files = []
    for number, text in enumerate(PARTS):
        file = folder / f"{number}.yaml"
        file.write_text(f"#cloud-config\n{text}", encoding="utf-8")
        files.append(str(file))
    python, script = installed(folder / "installed")
    ours = [script, "cloud-config", "merge", *files]
    if peer.root is None:
        (mine,) = seconds_of_python(ours, rounds=rounds, python=python)
        yield Figure("a process that merges three parts", mine * 1000, "ms")
        return
    schema = (
        f"import sys; sys.path.append({str(peer.root)!r}); sys.argv = ['cloud-init', 'schema', '-c', {files[0]!r}]; "
        "from cloudinit.cmd.main import main; main()"
    )
    mine, theirs = seconds_of_python(ours, ["-c", schema], rounds=rounds, python=python)
    yield Figure("a process that merges three parts", mine * 1000, "ms")
    yield Figure(
        "a process that merges three parts",
        mine / theirs,
        "times",
        1 / 4,
        f"cloud-init schema: {theirs * 1000:,.0f} ms",
    )


def thousands(folder: Path) -> Iterator[Figure]:
    """Many parts that append: neither time nor memory may grow with what each of them leaves."""
    many = folder / "many"
    many.mkdir()
    for number in range(3_000):
        items = "".join(f"- run {number} {item}\n" for item in range(50))
        text = f"#cloud-config\nmerge_how: list(append)+dict(recurse_list)\nruncmd:\n{items}"
        (many / f"{number:04d}.yaml").write_text(text, encoding="utf-8")
    (mine,) = seconds_of_python(["-m", "nodeattrs", "cloud-config", "merge", str(many)], rounds=2)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield Figure("a process that merges 3,000 parts of 50 items", mine, "s", 3)
    yield Figure("the same, and every process before it, at most", most, "MiB", 300)


def _loaded(name: str) -> Any:
    return yaml.load((INPUTS / name).read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
